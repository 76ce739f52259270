// The rewrite databases. optdb is a sequence of phases at positions; a phase is a set of rules that are applied until a
// fixed point, or one function over the graph. A query selects phases and rules by tags; the resulting plan is prepared
// once and memoized.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "bitale/rewriting/rewriting.hpp"
#include "bitale/rewriting/rules.hpp"
#include "rewriting/rule_index.hpp"

namespace bitale::rewriting {

using Tags = std::vector<std::string>;
using GraphPass = std::function<void(FunctionGraph&)>;

// Whether something with these tags is selected.
bool selects(const RewriteQuery& query, const Tags& tags);

// A set of rules, each with its tags in this database.
class EquilibriumDB {
 public:
  void add(const Rule& rule, Tags tags);
  void remove(const Rule& rule);
  // By priority, then in order of registration.
  std::vector<const Rule*> query(const RewriteQuery& query) const;
  void collect_tags(std::vector<std::string>& into) const;

 private:
  struct Entry {
    const Rule* rule;
    Tags tags;
  };
  std::vector<Entry> entries_;
};

// A selected phase, ready to run.
struct Stage {
  std::string name;
  double position;
  RuleIndex rules;
  GraphPass pass;  // instead of rules
};
using Plan = std::vector<std::unique_ptr<const Stage>>;

// Phases in order of position, then name.
class SequenceDB {
 public:
  // InternalError if the name is already used.
  EquilibriumDB& add_phase(std::string name, double position, Tags tags);
  void add_pass(std::string name, double position, Tags tags, GraphPass pass);
  EquilibriumDB* phase(std::string_view name);
  // ValueError with a suggestion for a tag that nothing has.
  Plan query(const RewriteQuery& query) const;
  void collect_tags(std::vector<std::string>& into) const;

 private:
  struct Entry {
    std::string name;
    double position;
    Tags tags;
    std::unique_ptr<EquilibriumDB> rules;
    GraphPass pass;
  };
  void insert(Entry entry);
  std::vector<Entry> entries_;
};

// The process's database: all registered rules, and the plans of queries made so far. Thread-safe.
class OptDB {
 public:
  static OptDB& instance();
  std::shared_ptr<const Plan> plan(const RewriteQuery& query);
  // Adds rules to the phases that their tags name.
  void add(std::vector<std::unique_ptr<Rule>> rules, bool overwrite);
  // Keeps a rule that is in no phase alive, since nodes may refer to its name.
  void keep(std::shared_ptr<const Rule> rule);
  // All rules ever added that were not overwritten, by name.
  std::vector<const Rule*> rules();
  const Rule& rule(std::string_view name);  // KeyError with a suggestion
  std::vector<std::string> phases_of(const Rule& rule) const;
  std::string topic_of(const Rule& rule) const;  // "" for rules added at run time

 private:
  OptDB();
  void add_locked(std::unique_ptr<Rule> rule, bool overwrite);

  std::mutex mutex_;
  SequenceDB sequence_;
  std::vector<std::shared_ptr<const Rule>> storage_;  // plans in use may refer to overwritten rules, so all are kept
  std::unordered_map<std::string, const Rule*> by_name_;
  std::unordered_map<const Rule*, const char*> topics_;
  std::unordered_map<std::string, std::shared_ptr<const Plan>> plans_;
};

}  // namespace bitale::rewriting

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
#include "rewriting/stage.hpp"

namespace bitale::rewriting {

using Tags = std::vector<std::string>;

// Whether something with these tags is selected.
bool selects(const RewriteQuery& query, const Tags& tags);

// A rewrite as databases keep it: a rule, or a function of the whole graph; neither where there is nothing to do.
struct Rewrite {
  std::shared_ptr<const Rule> rule = {};
  GraphPass pass = {};
};
// A rewrite that depends on the query: that of a database inside this one, which may be the host's.
using RewriteSource = std::function<Rewrite(const RewriteQuery&)>;

// A member of a database: one of the two.
struct Member {
  Rewrite rewrite = {};
  RewriteSource source = {};
};

// When a function of the whole graph runs that is part of a phase: in each round before the rules, or after them.
enum class Role : std::uint8_t { first, last };

// A stage that is being put together. Sources are asked for their rewrites when no lock is held: they may call the
// host.
struct Draft {
  struct Pending {
    std::string name;
    RewriteSource source;
    Role role = Role::first;
  };
  Stage stage;
  SharedRules rules = {};
  std::vector<Pending> pending = {};
  bool is_pass = false;
  RewriteQuery query = {};  // for the sources
  // Asks the sources. Null where there is nothing to do.
  std::shared_ptr<const Stage> finished();
};

// A set of rules and functions, each with its tags in this database.
class EquilibriumDB {
 public:
  struct Entry {
    std::string name;
    Tags tags;
    Member member;
    Role role = Role::first;
  };
  void add(Entry entry) { entries_.push_back(std::move(entry)); }
  // What is removed is given back, so that its destructor runs when no lock is held.
  std::vector<Entry> remove(std::string_view name);
  bool contains(std::string_view name) const;
  Tags* tags_of(std::string_view name);  // null where there is no such entry
  const std::vector<Entry>& entries() const { return entries_; }
  // Puts what the query selects into the draft: rules by priority, then in order of registration.
  void query(const RewriteQuery& query, Draft& into) const;
  void collect_tags(std::vector<std::string>& into) const;

 private:
  std::vector<Entry> entries_;
};

// Shared, since plans outlive changes of the database.
using Plan = std::vector<std::shared_ptr<const Stage>>;

// Phases in order of position, then name.
class SequenceDB {
 public:
  struct Entry {
    std::string name;
    double position;
    Tags tags;
    std::unique_ptr<EquilibriumDB> rules;
    Member member;  // where there are no rules
  };
  // ValueError if the name is already used.
  void add(Entry entry);
  std::vector<Entry> remove(std::string_view name);
  bool contains(std::string_view name) const;
  Tags* tags_of(std::string_view name);  // null where there is no such entry
  EquilibriumDB* phase(std::string_view name);
  const std::vector<Entry>& entries() const { return entries_; }
  // ValueError with a suggestion for a tag that is not among those that are known.
  std::vector<Draft> query(const RewriteQuery& query, const std::vector<std::string>& known) const;
  void collect_tags(std::vector<std::string>& into) const;  // the names and tags of its entries

 private:
  std::vector<Entry> entries_;
};

// A description of what is in optdb.
struct DatabaseEntry {
  std::string name = {};
  double position = 0;
  Tags tags = {};
  bool has_rules = false;
  std::vector<DatabaseEntry> members = {};  // of a phase of rules
  Member member = {};
};

// The process's database: all registered rules, and the plans of queries made so far. Thread-safe.
class OptDB {
 public:
  static OptDB& instance();
  std::shared_ptr<const Plan> plan(const RewriteQuery& query);
  // Adds rules to the phases that their tags name.
  void add(std::vector<std::unique_ptr<Rule>> rules, Overwrite overwrite);
  // Adds a rewrite to one phase, with its name and these tags. A rule may be added to several phases.
  void add(std::string_view phase, EquilibriumDB::Entry entry, Overwrite overwrite);
  // Adds a phase that is one function, or a database of the host.
  void add(SequenceDB::Entry entry, Overwrite overwrite);
  // Adds tags to a member of a phase, or to a phase, and takes others away. KeyError where there is no such one.
  void change_tags(std::string_view phase, std::string_view name, const Tags& added, const Tags& removed);
  // Names and tags inside databases that are not the library's, which queries may therefore name. Plans are made
  // anew.
  void note_tags(const Tags& tags);
  std::vector<DatabaseEntry> entries();
  // All rules that were not overwritten, by name.
  SharedRules rules();
  bool has_tag(std::string_view tag);                            // or a name
  std::shared_ptr<const Rule> rule(std::string_view name);       // KeyError with a suggestion
  std::shared_ptr<const Rule> find_rule(std::string_view name);  // null where there is none
  std::vector<std::string> phases_of(const Rule& rule);
  std::string topic_of(const Rule& rule) const;  // "" for rules added at run time

 private:
  using Plans = std::unordered_map<std::string, std::shared_ptr<const Plan>>;
  // What a change has removed, to be destroyed when the lock is no longer held: it may belong to the host.
  struct Discarded {
    Plans plans = {};
    SharedRules rules = {};
    std::vector<EquilibriumDB::Entry> members = {};
    std::vector<SequenceDB::Entry> phases = {};
  };

  OptDB();
  void add_locked(std::unique_ptr<Rule> rule, Overwrite overwrite, Discarded& discarded);
  void take_name(const std::shared_ptr<const Rule>& rule, Overwrite overwrite, Discarded& discarded);
  void note_change(Discarded& discarded);
  EquilibriumDB& phase_called(std::string_view name);
  // All names and tags, sorted. Every function that is compiled asks for some.
  const Tags& known_tags();

  std::mutex mutex_;
  SequenceDB sequence_;
  Tags noted_;
  Tags known_;  // empty after a change
  std::unordered_map<std::string, std::shared_ptr<const Rule>> by_name_;
  std::unordered_map<const Rule*, const char*> topics_;
  Plans plans_;
  std::uint64_t changes_ = 0;  // how often the database has changed
};

// The stages of a query, in order: those of optdb, and the query's own between them.
Plan stages_of(const RewriteQuery& query);

}  // namespace bitale::rewriting

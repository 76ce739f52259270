// Rewriting for users: which rewrites apply (queries on `optdb`, as strings), applying them to a graph, and a report of
// what happened. rules.hpp describes how rules are written.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bitale/graph/function_graph.hpp"

namespace bitale {

namespace rewriting {
class Rule;
}

// A rewrite outside optdb that is part of a query: a function of the whole graph, run once when the phases have reached
// its position (after a phase at the same position).
struct ExtraRewrite {
  std::string name;
  std::function<void(FunctionGraph&)> function;
  double position = 0;
};
// An extra rewrite that applies the rule until nothing changes.
ExtraRewrite extra_rewrite(std::shared_ptr<const rewriting::Rule> rule, double position);

struct RewriteQuery;
// What rewrites a graph as a query says, where that is not optdb.
using RewriteDatabase = std::function<void(FunctionGraph&, const RewriteQuery&)>;

// Selects rewrites: those that carry (or are named as) any of `include` and all of `require`, but none of `exclude`.
// Phases of the sequence at positions after the cut-off are left out.
struct RewriteQuery {
  std::vector<std::string> include = {}, require = {}, exclude = {};
  double position_cutoff = std::numeric_limits<double>::infinity();
  std::vector<std::shared_ptr<const ExtraRewrite>> extra = {};  // not included in str()
  // Other queries for single phases, by name.
  std::map<std::string, std::shared_ptr<const RewriteQuery>, std::less<>> subqueries = {};
  std::shared_ptr<const RewriteDatabase> database = {};  // null: optdb

  RewriteQuery including(const std::vector<std::string>& tags) const;
  RewriteQuery excluding(const std::vector<std::string>& tags) const;
  RewriteQuery requiring(const std::vector<std::string>& tags) const;
  // ValueError for a rewrite without a name or function.
  RewriteQuery registering(std::vector<ExtraRewrite> rewrites) const;
  // "+fast_run", "&stabilize", "-fusion".
  static RewriteQuery parse(const std::vector<std::string>& terms);
  std::string str() const;
  bool operator==(const RewriteQuery&) const = default;
};
using RewriteDatabaseQuery = RewriteQuery;

// The query of an optimizer name: None, merge, minimum_compile, fast_compile, fast_run, fast_run_stable, stabilize, o1
// to o4, unsafe, or one that was registered. ValueError with a suggestion for another name.
RewriteQuery query_of(std::string_view optimizer);
std::vector<std::string> optimizer_names();
// Gives a query a name, by which modes find it. ValueError for a name that is taken.
void register_optimizer(const std::string& name, RewriteQuery query);
// Whether a rewrite has that name or tag; a query with another one is refused.
bool is_rewrite_tag(std::string_view tag);

extern const RewriteQuery &OPT_NONE, &OPT_MERGE, &OPT_FAST_COMPILE, &OPT_FAST_RUN, &OPT_FAST_RUN_STABLE, &OPT_STABILIZE,
    &OPT_UNSAFE;

// The report of a call of rewrite().
struct RewriteReport {
  struct Rule {
    std::string name, phase;
    std::uint64_t hits = 0, tried = 0;
    double seconds = 0;  // only with time_rules
  };
  struct Phase {
    std::string name;
    double position = 0, seconds = 0;
    std::size_t nodes_before = 0, nodes_after = 0;
    int passes = 0;
  };
  // One application of a rule: the expression before and after it, a few levels deep; all outputs after it as text; and
  // copies of all outputs before and after it.
  struct Step {
    std::string phase, rule, before, after, graph;
    Variables outputs_before = {}, outputs_after = {};
  };
  bool time_rules = false;    // set by the caller: measure every rule, not only phases
  bool record_steps = false;  // set by the caller: fill `steps`

  std::vector<Rule> rules = {};  // those that were tried, in order of phase and name
  std::vector<Phase> phases = {};
  std::vector<Step> steps = {};
  std::vector<std::string> errors = {};  // failures that config.on_opt_error did not raise
  std::size_t nodes_before = 0, nodes_after = 0;
  double seconds = 0;

  std::uint64_t hits(std::string_view rule) const;  // over all phases
  std::string str() const;                          // a table: time, hits, nodes before and after
};

// Rewrites the graph in place. ValueError with a suggestion when the query names a tag that no rewrite has.
// A rule that raises or changes the type of what it replaces is rolled back; config.on_opt_error decides what follows.
void rewrite(FunctionGraph& graph, const RewriteQuery& query, RewriteReport* report = nullptr);

// Copies of expressions, on the same leaves, after a change of their graph.
Variables rewrite_graph(const Variables& expressions, const std::function<void(FunctionGraph&)>& change);
// Rewritten copies of expressions.
Variables rewrite_graph(const Variables& expressions, const std::vector<std::string>& include = {"canonicalize"},
                        const std::vector<std::string>& exclude = {}, RewriteReport* report = nullptr);
Variable rewrite_graph(const Variable& expression, const std::vector<std::string>& include = {"canonicalize"},
                       const std::vector<std::string>& exclude = {}, RewriteReport* report = nullptr);

// The rewriting of an expression, step by step.
std::vector<RewriteReport::Step> trace_rewrite(const Variable& expression,
                                               const std::vector<std::string>& include = {"fast_run"},
                                               const std::vector<std::string>& exclude = {});
// "1. canonicalize/neg_of_neg: -(-x)  ->  x", and the whole expression below it.
std::string steps_text(const std::vector<RewriteReport::Step>& steps);

// The description of a registered rule, for documentation and tests.
struct RuleDescription {
  std::string name = {}, doc = {}, root = {};
  std::string left = {}, right = {};  // of an equation, as text
  std::vector<std::string> phases = {}, tags = {};
  bool more_accurate = false, wider_domain = false, no_signed_zeros = false;
  std::vector<double> differs_at = {};  // special values of the first leaf at which the sides may differ
  std::string domain = {};              // what is assumed of the leaves: "x > 0, y > 0"
  std::string topic = {};               // under which it was registered; "" when added at run time
  std::uint64_t hits = 0;               // in this process so far
};
std::vector<RuleDescription> describe_rules();  // by name
// Uses of a rule in this process so far. KeyError with a suggestion for an unknown name.
std::uint64_t rule_hits(std::string_view rule);
// The phases of optdb and the rules in each, as text.
std::string describe_optdb(const RewriteQuery& query);

}  // namespace bitale

// The entry points: rewriting of graphs, and descriptions of rules and reports.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/test_value.hpp"
#include "bitale/rewriting/rewriting.hpp"
#include "rewriting/database.hpp"
#include "rewriting/engine.hpp"
#include "rewriting/equation.hpp"
#include "rewriting/inner_graphs.hpp"

namespace bitale {

using rewriting::OptDB;

namespace {

constexpr double before_inplace = 49.4;  // the position behind which nodes are made in place

template <class... Args>
std::string format(const char* text, Args... args) {
  char line[256];
  std::snprintf(line, sizeof line, text, args...);
  return line;
}

}  // namespace

rewriting::Plan rewriting::stages_of(const RewriteQuery& query) {
  if (query.database)
    return {std::make_shared<const Stage>(
        Stage{.name = "database", .pass = [query](FunctionGraph& graph) { (*query.database)(graph, query); }})};
  Plan out = *OptDB::instance().plan(query);
  for (auto& extra : query.extra)
    if (extra->position <= query.position_cutoff)
      out.push_back(std::make_shared<const Stage>(
          Stage{.name = extra->name, .position = extra->position, .pass = extra->function}));
  if (out.empty()) return out;
  // Ops whose inner graphs become equal are merged, which is impossible when something between them was made in place.
  out.push_back(std::make_shared<const Stage>(Stage{.name = "inner_graphs",
                                                    .position = before_inplace,
                                                    .of_inner_graphs = std::make_shared<const RewriteQuery>(query)}));
  std::stable_sort(out.begin(), out.end(), [](auto& a, auto& b) { return a->position < b->position; });
  return out;
}

void rewrite(FunctionGraph& graph, const RewriteQuery& query, RewriteReport* report) {
  const auto start = std::chrono::steady_clock::now();
  const TestValuesOff while_rewriting;
  const rewriting::Plan plan = rewriting::stages_of(query);
  RewriteReport unwanted;
  RewriteReport& to = report ? *report : unwanted;
  to.nodes_before = graph.node_count();
  rewriting::Session session(to);
  for (auto& stage : plan) rewriting::run(*stage, graph, session);
  to.nodes_after = graph.node_count();
  to.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

ExtraRewrite extra_rewrite(std::shared_ptr<const rewriting::Rule> rule, double position) {
  if (!rule) throw ValueError("an extra rewrite needs a rule");
  const auto stage = std::make_shared<const rewriting::Stage>(
      rewriting::Stage{.name = rule->name(), .rules = rewriting::RuleIndex({rule})});
  auto apply = [stage](FunctionGraph& graph) {
    RewriteReport report;
    rewriting::Session session(report);
    rewriting::run(*stage, graph, session);
  };
  return {stage->name, std::move(apply), position};
}

Variables rewrite_graph(const Variables& expressions, const std::function<void(FunctionGraph&)>& change) {
  // The caller's leaves are kept, so that results can be combined with the original expressions.
  VariableMap memo;
  FunctionGraph graph(graph_inputs(expressions), clone(expressions, memo), Clone::No);
  change(graph);
  return graph.outputs();
}

Variables rewrite_graph(const Variables& expressions, const std::vector<std::string>& include,
                        const std::vector<std::string>& exclude, RewriteReport* report) {
  const RewriteQuery query{.include = include, .exclude = exclude};
  return rewrite_graph(expressions, [&](FunctionGraph& graph) { rewrite(graph, query, report); });
}

Variable rewrite_graph(const Variable& expression, const std::vector<std::string>& include,
                       const std::vector<std::string>& exclude, RewriteReport* report) {
  return rewrite_graph(Variables{expression}, include, exclude, report)[0];
}

std::vector<RewriteReport::Step> trace_rewrite(const Variable& expression, const std::vector<std::string>& include,
                                               const std::vector<std::string>& exclude) {
  RewriteReport report;
  report.record_steps = true;
  static_cast<void>(rewrite_graph(expression, include, exclude, &report));
  return std::move(report.steps);
}

std::string steps_text(const std::vector<RewriteReport::Step>& steps) {
  std::string out;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const RewriteReport::Step& step = steps[i];
    out += cat(i + 1, ". ", step.phase, "/", step.rule, ": ", step.before, "  ->  ", step.after, "\n     ", step.graph,
               "\n");
  }
  return out;
}

// ---- report ---------------------------------------------------------------------------------------------------------

std::uint64_t RewriteReport::hits(std::string_view rule) const {
  std::uint64_t total = 0;
  for (auto& row : rules)
    if (row.name == rule) total += row.hits;
  return total;
}

std::string RewriteReport::str() const {
  std::string out = cat("rewriting: ", format("%.3f ms", seconds * 1e3), ", ", nodes_before, " nodes before, ",
                        nodes_after, " after\n");
  for (auto& phase : phases) {
    out += format("  %-16s %8.3f ms  %zu -> %zu nodes, %d passes\n", phase.name.c_str(), phase.seconds * 1e3,
                  phase.nodes_before, phase.nodes_after, phase.passes);
    for (auto& rule : rules)
      if (rule.phase == phase.name && (rule.hits || time_rules))
        out += format("    %-38s %6llu uses of %llu tries", rule.name.c_str(), (unsigned long long)rule.hits,
                      (unsigned long long)rule.tried) +
               (time_rules ? format("  %8.3f ms\n", rule.seconds * 1e3) : "\n");
  }
  for (auto& error : errors) out += cat("  failed: ", error, "\n");
  return out;
}

// ---- descriptions ---------------------------------------------------------------------------------------------------

std::vector<RuleDescription> describe_rules() {
  std::vector<RuleDescription> out;
  for (auto& rule : OptDB::instance().rules()) {
    RuleDescription row{.name = rule->name(), .doc = rule->doc(), .root = rule->root().str()};
    if (auto* equation = rule->equation()) {
      row.left = rewriting::expression_text(equation->left(), 100);
      row.right = rewriting::expression_text(equation->right(), 100);
    }
    row.phases = OptDB::instance().phases_of(*rule);
    for (auto& tag : rule->tags())
      if (std::find(row.phases.begin(), row.phases.end(), tag) == row.phases.end()) row.tags.push_back(tag);
    row.more_accurate = rule->is_more_accurate();
    row.wider_domain = rule->is_wider_domain();
    row.no_signed_zeros = rule->has_no_signed_zeros();
    row.differs_at = rule->differences();
    std::vector<std::string> conditions;
    for (auto& condition : rule->assumptions()) conditions.push_back(rewriting::expression_text(condition, 10));
    row.domain = join(conditions, ", ");
    row.topic = OptDB::instance().topic_of(*rule);
    row.hits = rule->hits;
    out.push_back(std::move(row));
  }
  return out;
}

std::uint64_t rule_hits(std::string_view rule) { return OptDB::instance().rule(rule)->hits; }

std::string describe_optdb(const RewriteQuery& query) {
  std::string out;
  for (auto& stage : *OptDB::instance().plan(query)) {
    out += cat(stage->position, " ", stage->name, "\n");
    for (auto& rule : stage->rules.rules()) out += cat("  ", rule->name(), "\n");
  }
  return out;
}

}  // namespace bitale

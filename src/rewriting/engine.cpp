#include "rewriting/engine.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/interruption.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/provenance.hpp"
#include "bitale/graph/structure.hpp"
#include "core/stopwatch.hpp"
#include "rewriting/work_list.hpp"

namespace bitale::rewriting {

Session::Session(RewriteReport& report)
    : report(report),
      verbose(config::get_bool("optimizer_verbose")),
      silenced(cat(",", config::get("optimizer_verbose_ignore"), ",")),
      on_error(config::get("on_opt_error")),
      max_use_ratio(config::get_float("optdb__max_use_ratio")) {}

bool Session::is_silenced(std::string_view rule) const {
  return silenced.find(cat(",", rule, ",")) != std::string::npos;
}

namespace {

using Clock = std::chrono::steady_clock;

// Small graphs may need more steps than their size suggests.
constexpr std::size_t min_size_for_ratio = 64;

std::string location_text(const Apply& node) {
  const std::string where = node.provenance().where.str();
  return where.empty() ? "" : cat("  built at ", where);
}

class Equilibrium {
 public:
  Equilibrium(const Stage& stage, FunctionGraph& graph, Session& session, RewriteReport::Phase& phase)
      : stage_(stage),
        rules_(stage.rules.rules()),
        graph_(graph),
        session_(session),
        phase_(phase),
        work_(std::make_shared<WorkList>(std::min(stage.rules.depth() - 1, 2))),
        uses_(rules_.size()),
        max_uses_(session.max_use_ratio * double(std::max(graph.node_count(), min_size_for_ratio))) {
    graph_.attach(work_);
    for (std::size_t slot = 0; slot < graph_.slot_count() && !has_complex_; ++slot)
      if (const Apply node = graph_.at_slot(slot); node.defined()) has_complex_ = touches_complex(node);
  }
  ~Equilibrium() { graph_.detach(*work_); }
  Equilibrium(const Equilibrium&) = delete;

  // A pass over the whole graph, then passes over the surroundings of the changes of the last pass, until a pass
  // changes nothing. Within a pass, changed nodes are revisited at once, so a second pass rarely finds anything.
  void run() {
    work_->add_all(graph_);
    do {
      if (phase_.passes++) work_->add_changed(graph_);
      changed_ = false;
      for (Apply node = work_->next(graph_); node.defined(); node = work_->next(graph_)) {
        throw_if_interrupted();
        visit(node);
      }
    } while (changed_);
  }

  void report() const {
    for (std::size_t i = 0; i < rules_.size(); ++i)
      if (uses_[i].tried)
        session_.report.rules.push_back(
            {rules_[i]->name(), stage_.name, uses_[i].hits, uses_[i].tried, uses_[i].seconds});
  }

 private:
  struct Use {
    std::uint64_t hits = 0, tried = 0;
    double seconds = 0;
    bool stopped = false;
  };

  // Rules are written for real numbers; the nodes that they inspect are close to the node that they replace.
  bool is_near_complex(const Apply& node) const {
    if (!has_complex_) return false;
    const auto made_of_complex = [](const Variable& v) { return v.has_owner() && touches_complex(v.owner()); };
    return touches_complex(node) || std::any_of(node.inputs().begin(), node.inputs().end(), made_of_complex);
  }

  void visit(const Apply& node) {
    if (is_near_complex(node)) return;
    for (int i : stage_.rules.at(node)) {
      Use& use = uses_[std::size_t(i)];
      if (use.stopped) continue;
      ++use.tried;
      const Clock::time_point start = session_.report.time_rules ? Clock::now() : Clock::time_point();
      const bool applied = try_rule(*rules_[std::size_t(i)], node);
      if (session_.report.time_rules) use.seconds += seconds_since(start);
      if (!applied) continue;
      changed_ = true;
      ++use.hits;
      rules_[std::size_t(i)]->hits.fetch_add(1, std::memory_order_relaxed);
      if (double(use.hits) > max_uses_) stop(std::size_t(i), node);
      if (!graph_.contains(node)) return;
      work_->add(graph_, node);  // some outputs remain
      return;
    }
  }

  bool try_rule(const Rule& rule, const Apply& node) {
    try {
      const RuleScope scope(rule.name().c_str());
      std::optional<Variables> result = rule.apply(graph_, node);
      return result && replace(rule, node, *result);
    } catch (const ShapeError&) {
      // Known lengths contradict each other once they meet in one node: the graph fails at run time and reports the
      // location.
      return false;
    } catch (const ConflictingAssumptionsError&) {  // the user's error, not the rule's
      throw;
    } catch (const std::exception& error) {
      fail(cat("rewrite rule `", rule.name(), "` failed on ", node.op().label(), ": ", error.what()), node);
      return false;
    }
  }

  bool replace(const Rule& rule, const Apply& node, const Variables& result) {
    if (result.size() != node.output_count())
      throw InconsistencyError(cat("it gave ", result.size(), " variables for ", node.output_count(), " outputs"));
    Replacements pairs;
    for (std::size_t i = 0; i < result.size(); ++i) {
      const Variable before = node.output(int(i));
      if (!result[i].defined() || result[i].same_as(before)) continue;
      if (!before.type()->is_super(*result[i].type()))
        throw TypeError(cat("it would change the type of output ", i, " from ", before.type()->str(), " to ",
                            result[i].type()->str()));
      pairs.emplace_back(before, result[i]);
    }
    if (pairs.empty()) return false;
    std::vector<RewriteReport::Step> steps;  // formatted before the replacement changes the nodes
    if (session_.verbose || session_.report.record_steps)
      for (auto& [before, after] : pairs)
        steps.push_back({stage_.name, rule.name(), expression_text(before), expression_text(after), {}});
    const Variables outputs_before = session_.report.record_steps ? copy_of_outputs() : Variables();
    if (!graph_.replace_all(pairs, rule.name())) return false;
    for (auto& step : steps) step.outputs_before = outputs_before;
    tell(steps, node);
    return true;
  }

  void tell(std::vector<RewriteReport::Step>& steps, const Apply& node) {
    if (session_.verbose && !session_.is_silenced(steps[0].rule))
      for (auto& step : steps)
        std::fprintf(stderr, "rewrite %s/%s: %s  ->  %s%s\n", step.phase.c_str(), step.rule.c_str(),
                     step.before.c_str(), step.after.c_str(), location_text(node).c_str());
    if (!session_.report.record_steps) return;
    const Variables outputs_after = copy_of_outputs();
    for (auto& step : steps) {
      step.outputs_after = outputs_after;
      std::vector<std::string> outputs;
      for (auto& output : graph_.outputs()) outputs.push_back(expression_text(output, 8));
      step.graph = join(outputs, ", ");
      session_.report.steps.push_back(std::move(step));
    }
  }

  Variables copy_of_outputs() const {
    VariableMap memo;
    return clone(graph_.outputs(), memo);
  }

  void stop(std::size_t rule, const Apply& node) {
    uses_[rule].stopped = true;
    // A rule may undo another one: rules with a similar number of uses are reported, too.
    std::vector<std::string> others;
    for (std::size_t i = 0; i < uses_.size(); ++i)
      if (i != rule && 2 * uses_[i].hits > uses_[rule].hits) others.push_back(rules_[i]->name());
    fail(cat("rewrite rule `", rules_[rule]->name(), "` was applied ", uses_[rule].hits, " times to a graph of ",
             phase_.nodes_before, " nodes: it loops and was stopped",
             others.empty() ? "" : cat(" (applied about as often: ", join(others, ", "), ")")),
         node);
  }

  // Reports a failure; the graph is unchanged by the rule. on_opt_error determines the reaction.
  void fail(const std::string& message, const Apply& node) {
    InconsistencyError error(message);
    error.add("node", expression_text(node.output(), 2) + location_text(node));
    error.add("phase", stage_.name);
    if (session_.on_error == "raise") throw error;
    session_.report.errors.push_back(error.what());
    if (session_.on_error == "warn") std::fprintf(stderr, "bitale: warning: %s\n", error.what());
  }

  const Stage& stage_;
  bool has_complex_ = false;
  const std::vector<const Rule*>& rules_;
  FunctionGraph& graph_;
  Session& session_;
  RewriteReport::Phase& phase_;
  std::shared_ptr<WorkList> work_;
  std::vector<Use> uses_;
  const double max_uses_;
  bool changed_ = false;
};

// Changes that a pass made before it failed are complete transactions, and are kept.
void apply_pass(const Stage& stage, FunctionGraph& graph, Session& session) {
  try {
    const RuleScope scope(interned_rule(stage.name));
    stage.pass(graph);
  } catch (const ConflictingAssumptionsError&) {
    throw;
  } catch (const std::exception& error) {
    const std::string message =
        cat("rewrite `", stage.name, "` at position ", stage.position, " failed: ", error.what());
    if (session.on_error == "raise") throw InconsistencyError(message);
    session.report.errors.push_back(message);
    if (session.on_error == "warn") std::fprintf(stderr, "bitale: warning: %s\n", message.c_str());
  }
}

void apply_rules(const Stage& stage, FunctionGraph& graph, Session& session, RewriteReport::Phase& phase) {
  Equilibrium equilibrium(stage, graph, session, phase);
  equilibrium.run();
  equilibrium.report();
}

}  // namespace

void run(const Stage& stage, FunctionGraph& graph, Session& session) {
  const auto start = Clock::now();
  RewriteReport::Phase phase{.name = stage.name, .position = stage.position, .nodes_before = graph.node_count()};
  if (stage.pass)
    apply_pass(stage, graph, session);
  else
    apply_rules(stage, graph, session, phase);
  phase.nodes_after = graph.node_count();
  phase.seconds = seconds_since(start);
  session.report.phases.push_back(std::move(phase));
}

}  // namespace bitale::rewriting

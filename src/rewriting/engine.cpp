#include "rewriting/engine.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <deque>
#include <utility>

#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/interruption.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/features.hpp"
#include "bitale/graph/provenance.hpp"
#include "bitale/graph/structure.hpp"
#include "core/stopwatch.hpp"
#include "rewriting/inner_graphs.hpp"
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

// Small graphs may need more steps than their size suggests, unless a stage says what it needs.
constexpr std::size_t min_size_for_ratio = 64;

std::string location_text(const Apply& node) {
  const std::string where = node.provenance().where.str();
  return where.empty() ? "" : cat("  built at ", where);
}

// Tries rules on nodes, makes the changes they ask for, and counts.
class Trials {
 public:
  Trials(const Stage& stage, FunctionGraph& graph, Session& session, RewriteReport::Phase& phase)
      : stage_(stage),
        rules_(stage.rules.rules()),
        graph_(graph),
        session_(session),
        phase_(phase),
        uses_(rules_.size()),
        max_uses_(stage.max_use_ratio
                      ? *stage.max_use_ratio * double(graph.node_count())
                      : session.max_use_ratio * double(std::max(graph.node_count(), min_size_for_ratio))) {}
  Trials(const Trials&) = delete;

  // Before rules go over a whole graph.
  void begin() {
    for (auto& rule : rules_) prepare(*rule);
    may_have_complex_ = false;
    for (std::size_t slot = 0; slot < graph_.slot_count() && !may_have_complex_; ++slot)
      if (const Apply node = graph_.at_slot(slot); node.defined()) may_have_complex_ = touches_complex(node);
  }

  double max_uses() const { return max_uses_; }
  bool passes_failures_on() const { return bool(session_.on_failure); }

  // Tries the rules in order. Returns whether one of them has changed the graph; those after it are not tried.
  bool at(const Apply& node) {
    const bool near_complex = is_near_complex(node);
    for (int i : stage_.rules.at(node)) {
      Use& use = uses_[std::size_t(i)];
      const Rule& rule = *rules_[std::size_t(i)];
      if (use.stopped || (near_complex && !rule.is_for_complex())) continue;
      ++use.tried;
      const Clock::time_point start = session_.report.time_rules ? Clock::now() : Clock::time_point();
      const bool applied = try_rule(rule, node);
      if (session_.report.time_rules) use.seconds += seconds_since(start);
      if (!applied) continue;
      ++use.hits;
      rule.hits.fetch_add(1, std::memory_order_relaxed);
      if (double(use.hits) > max_uses_) stop(std::size_t(i), node);
      return true;
    }
    return false;
  }

  void report() const {
    for (std::size_t i = 0; i < rules_.size(); ++i)
      if (uses_[i].tried)
        session_.report.rules.push_back(
            {rules_[i]->name(), stage_.name, uses_[i].hits, uses_[i].tried, uses_[i].seconds});
  }

  // Reports a failure; the graph is unchanged by what failed. on_opt_error determines the reaction.
  void fail(InconsistencyError error) {
    error.add("phase", stage_.name);
    if (session_.on_error == "raise") throw error;
    session_.report.errors.push_back(error.what());
    if (session_.on_error == "warn") std::fprintf(stderr, "bitale: warning: %s\n", error.what());
  }

 private:
  struct Use {
    std::uint64_t hits = 0, tried = 0;
    double seconds = 0;
    bool stopped = false;
  };

  void prepare(const Rule& rule) {
    try {
      rule.prepare(graph_);
    } catch (const std::exception& error) {
      if (session_.on_failure || is_interruption(error)) throw;
      fail(InconsistencyError(cat("what rewrite rule `", rule.name(), "` needs of the graph failed: ", error.what())));
    }
  }

  // Rules are written for real numbers; the nodes that they inspect are close to the node that they replace.
  bool is_near_complex(const Apply& node) const {
    if (!may_have_complex_) return false;
    const auto made_of_complex = [](const Variable& v) { return v.has_owner() && touches_complex(v.owner()); };
    return touches_complex(node) || std::any_of(node.inputs().begin(), node.inputs().end(), made_of_complex);
  }

  bool try_rule(const Rule& rule, const Apply& node) {
    std::optional<Change> change;
    try {
      const RuleScope scope(rule.interned_name());
      change = rule.change(graph_, node);
      return change && make(rule, node, *change);
    } catch (const ShapeError&) {
      // Known lengths contradict each other once they meet in one node: the graph fails at run time and reports the
      // location.
      return false;
    } catch (const ConflictingAssumptionsError&) {  // the user's error, not the rule's
      throw;
    } catch (const std::exception& error) {
      if (is_interruption(error)) throw;
      if (session_.on_failure)
        session_.on_failure({std::current_exception(), rule, node, change ? &*change : nullptr});
      else
        fail(at_node(cat("rewrite rule `", rule.name(), "` failed on ", node.op().label(), ": ", error.what()), node));
      return false;
    }
  }

  static InconsistencyError at_node(const std::string& message, const Apply& node) {
    InconsistencyError error(message);
    error.add("node", expression_text(node.output(), 2) + location_text(node));
    return error;
  }

  bool make(const Rule& rule, const Apply& node, const Change& change) {
    Replacements pairs;
    for (auto& [before, after] : change.replacements) {
      if (!after.defined() || after.same_as(before)) continue;
      if (!before.type()->is_super(*after.type())) refuse_type(node, before, after);
      pairs.emplace_back(before, after);
    }
    if (pairs.empty()) return false;
    std::vector<RewriteReport::Step> steps;  // formatted before the replacement changes the nodes
    if (session_.verbose || session_.report.record_steps)
      for (auto& [before, after] : pairs)
        steps.push_back({stage_.name, rule.name(), expression_text(before), expression_text(after), {}});
    const Variables outputs_before = session_.report.record_steps ? copy_of_outputs() : Variables();
    const bool changed = change.removed.empty()
                             ? graph_.replace_all(pairs, rule.name())
                             : replace_all_validate_remove(graph_, pairs, change.removed, rule.name());
    if (!changed) return false;
    for (auto& step : steps) step.outputs_before = outputs_before;
    tell(steps, node);
    return true;
  }

  [[noreturn]] static void refuse_type(const Apply& node, const Variable& before, const Variable& after) {
    const bool is_output = before.has_owner() && before.owner().same_as(node);
    throw TypeError(cat("it would change the type of ", is_output ? cat("output ", before.index()) : before.str(),
                        " from ", before.type()->str(), " to ", after.type()->str()));
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
    fail(at_node(cat("rewrite rule `", rules_[rule]->name(), "` was applied ", uses_[rule].hits,
                     " times to a graph of ", phase_.nodes_before, " nodes: it loops and was stopped",
                     others.empty() ? "" : cat(" (applied about as often: ", join(others, ", "), ")")),
                 node));
  }

  const Stage& stage_;
  bool may_have_complex_ = true;
  const SharedRules& rules_;
  FunctionGraph& graph_;
  Session& session_;
  RewriteReport::Phase& phase_;
  std::vector<Use> uses_;
  const double max_uses_;
};

// ---- until nothing changes ------------------------------------------------------------------------------------------

class Equilibrium {
 public:
  Equilibrium(const Stage& stage, FunctionGraph& graph, Session& session, RewriteReport::Phase& phase)
      : stage_(stage),
        graph_(graph),
        phase_(phase),
        trials_(stage, graph, session, phase),
        work_(std::make_shared<WorkList>(std::min(stage.rules.depth() - 1, 2), graph.features().size())) {
    graph_.attach(work_);
  }
  ~Equilibrium() { graph_.detach(*work_); }
  Equilibrium(const Equilibrium&) = delete;

  // A pass over the whole graph, then passes over the surroundings of the changes of the last pass, until a pass
  // changes nothing. Within a pass, changed nodes are revisited at once, so a second pass rarely finds anything.
  void run() {
    trials_.begin();
    run_all(stage_.first);
    work_->add_all(graph_);
    do {
      if (phase_.passes++) {
        run_all(stage_.first);
        work_->add_changed(graph_);
      }
      changed_ = false;
      for (Apply node = work_->next(graph_); node.defined(); node = work_->next(graph_)) {
        throw_if_interrupted();
        if (!trials_.at(node)) continue;
        changed_ = true;
        if (graph_.contains(node)) work_->add(graph_, node);  // some outputs remain
      }
      changed_ |= run_all(stage_.last);
    } while (changed_);
    trials_.report();
  }

 private:
  // Functions of the whole graph. Returns whether they have changed it.
  bool run_all(const std::vector<NamedPass>& passes) {
    if (passes.empty() || are_stopped_) return false;
    const std::size_t before = work_->changes();
    for (auto& [name, pass] : passes) {
      try {
        const RuleScope scope(interned_rule(name));
        pass(graph_);
      } catch (const std::exception& error) {
        if (trials_.passes_failures_on() || is_interruption(error)) throw;
        trials_.fail(InconsistencyError(cat("rewrite `", name, "` failed: ", error.what())));
      }
    }
    const bool changed = work_->changes() != before;
    if (changed && double(++rounds_) > trials_.max_uses()) {
      are_stopped_ = true;
      trials_.fail(InconsistencyError(cat("the functions of the whole graph in `", stage_.name, "` have changed it ",
                                          rounds_, " times: they loop and were stopped")));
    }
    return changed && !are_stopped_;
  }

  const Stage& stage_;
  FunctionGraph& graph_;
  RewriteReport::Phase& phase_;
  Trials trials_;
  std::shared_ptr<WorkList> work_;
  std::size_t rounds_ = 0;
  bool changed_ = false, are_stopped_ = false;
};

// ---- once, in an order ----------------------------------------------------------------------------------------------

// Collects the nodes that come into the graph.
class NewNodes final : public Feature {
 public:
  explicit NewNodes(std::size_t number) : name_(cat("nodes to walk over ", number)) {}
  std::string name() const override { return name_; }
  void on_import(FunctionGraph&, const Apply& node, std::string_view) override { nodes.push_back(node); }
  std::vector<Apply> nodes;

 private:
  std::string name_;
};

// The nodes in order of a search from the outputs, a node's first input next.
std::vector<Apply> depth_first(const FunctionGraph& graph) {
  std::vector<Apply> out;
  std::vector<char> seen(graph.slot_count());
  std::vector<ApplyNode*> waiting;
  const auto add = [&](const Variables& variables) {
    for (std::size_t i = variables.size(); i-- > 0;)
      if (variables[i].has_owner()) waiting.push_back(variables[i].node()->owner);
  };
  add(graph.outputs());
  while (!waiting.empty()) {
    ApplyNode* node = waiting.back();
    waiting.pop_back();
    if (std::exchange(seen[graph.slot(node)], true)) continue;
    out.push_back(Apply::of(node));
    add(node->inputs);
  }
  return out;
}

void walk(const Stage& stage, FunctionGraph& graph, Session& session, RewriteReport::Phase& phase) {
  Trials trials(stage, graph, session, phase);
  trials.begin();
  const auto order = session.nodes                       ? *session.nodes
                     : stage.order == Order::depth_first ? depth_first(graph)
                                                         : graph.toposort();
  std::deque<Apply> waiting(order.begin(), order.end());
  const auto added = std::make_shared<NewNodes>(graph.features().size());
  if (stage.visits_new_nodes) graph.attach(added);
  const auto walk_over_all = [&] {
    while (!waiting.empty()) {
      throw_if_interrupted();
      Apply node;
      if (stage.order == Order::out_to_in)
        node = std::move(waiting.back()), waiting.pop_back();
      else
        node = std::move(waiting.front()), waiting.pop_front();
      if (graph.contains(node)) trials.at(node);
      waiting.insert(waiting.end(), added->nodes.begin(), added->nodes.end());
      added->nodes.clear();
    }
  };
  try {
    walk_over_all();
  } catch (...) {
    if (stage.visits_new_nodes) graph.detach(*added);
    throw;
  }
  if (stage.visits_new_nodes) graph.detach(*added);
  phase.passes = 1;
  trials.report();
}

// Changes that a pass made before it failed are complete transactions, and are kept.
void apply_pass(const Stage& stage, FunctionGraph& graph, Session& session) {
  try {
    const RuleScope scope(interned_rule(stage.name));
    stage.pass(graph);
  } catch (const ConflictingAssumptionsError&) {
    throw;
  } catch (const std::exception& error) {
    if (is_interruption(error)) throw;
    const std::string message =
        cat("rewrite `", stage.name, "` at position ", stage.position, " failed: ", error.what());
    if (session.on_error == "raise") throw InconsistencyError(message);
    session.report.errors.push_back(message);
    if (session.on_error == "warn") std::fprintf(stderr, "bitale: warning: %s\n", message.c_str());
  }
}

void apply_rules(const Stage& stage, FunctionGraph& graph, Session& session, RewriteReport::Phase& phase) {
  if (stage.order == Order::equilibrium)
    Equilibrium(stage, graph, session, phase).run();
  else
    walk(stage, graph, session, phase);
}

}  // namespace

bool try_at(const Stage& stage, FunctionGraph& graph, const Apply& node, Session& session) {
  RewriteReport::Phase phase{.name = stage.name, .nodes_before = graph.node_count()};
  return graph.contains(node) && Trials(stage, graph, session, phase).at(node);
}

void run(const Stage& stage, FunctionGraph& graph, Session& session) {
  if (stage.of_inner_graphs) return rewrite_inner_graphs(graph, *stage.of_inner_graphs, session.report);
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

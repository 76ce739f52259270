#include "compile/checked_thunk.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_set>
#include <utility>

#include "bitale/core/interruption.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/inner_graph.hpp"
#include "bitale/rewriting/rules.hpp"
#include "graph/evaluate.hpp"
#include "graph/lazy.hpp"
#include "rewriting/database.hpp"

namespace bitale {

namespace {

// The differences that rules declare for the values that they change, by the rules' names.
std::unordered_map<std::string, Allowance> claims() {
  std::unordered_map<std::string, Allowance> out;
  for (auto& rule : rewriting::OptDB::instance().rules())
    out[rule->name()] = {.wider = rule->is_wider_domain() || rule->has_tag(rewriting::domain),
                         .more_accurate = rule->is_more_accurate(),
                         .special = !rule->differences().empty()};
  return out;
}

// Performs an op that is not checked, on copies of its inputs.
std::vector<Array> performed(const Apply& node, std::vector<Array>& in) {
  std::vector<Array> out(node.output_count());
  for (auto& value : in) value = value.copy();
  perform_node(node, in, out);
  return out;
}

// For an op with an inner graph: a thunk that computes the inner graph with each of its nodes checked, and the whole of
// it by native code, so that a difference is found in the step in which it first occurs. The inner graph has been
// rewritten already, and the rewriting was checked as a replacement of the node.
std::unique_ptr<link::Thunk> checked_inner_graph(const Op& op, const DebugChecks& checks) {
  const InnerGraph* inner = op.elementwise() ? nullptr : inner_graph_of(op);
  if (!inner) return nullptr;
  const auto graph = std::make_shared<FunctionGraph>(inner->inputs(), inner->outputs());
  CheckedThunk::Parts parts;
  parts.graph = graph;
  parts.nodes = graph->toposort();
  parts.outputs = graph->outputs();
  parts.checks = checks;
  if (checks.native && !checks.linkers.empty())
    parts.whole.emplace_back(checks.linkers.front(), link::link(checks.linkers.front(), graph));
  return std::make_unique<CheckedThunk>(std::move(parts));
}

}  // namespace

CheckedThunk::CheckedThunk(Parts parts) : parts_(std::move(parts)) {
  for (auto& input : parts_.graph->inputs()) inputs_.push_back(slot_of(input));
  Variables roots = parts_.outputs;
  for (auto& [before, after, reason] : parts_.replacements) roots.insert(roots.end(), {before, after});
  for (auto& node : parts_.nodes) roots.push_back(node.output());
  plan_steps(toposort(roots));
  for (auto& output : parts_.outputs) outputs_.push_back(slot_of(output));
  plan_comparisons();
  plan_releases();
  slots_.clear();
}

std::size_t CheckedThunk::slot_of(const Variable& variable) {
  const auto [at, is_new] = slots_.try_emplace(variable.node(), slot_count_);
  if (is_new) {
    if (auto* value = variable.constant()) constants_.emplace_back(slot_count_, *value);
    ++slot_count_;
  }
  return at->second;
}

void CheckedThunk::plan_steps(const std::vector<Apply>& order) {
  std::unordered_set<const ApplyNode*> present;
  for (auto& node : parts_.nodes) present.insert(node.node());
  NodeCompiler compiler(parts_.checks.native ? parts_.checks.linkers : std::vector<std::string>());
  for (auto& node : order) {
    Step step;
    step.node = node;
    is_lazy_ |= lazy_inputs(node) != nullptr;
    if (present.count(node.node())) {
      step.check = std::make_unique<NodeCheck>(node, parts_.checks, compiler.compile(node));
      step.inner = checked_inner_graph(node.op(), parts_.checks);
    }
    for (auto& input : node.inputs()) step.in.push_back(slot_of(input));
    for (auto& output : node.outputs()) step.out.push_back(slot_of(output));
    steps_.push_back(std::move(step));
  }
}

void CheckedThunk::plan_comparisons() {
  std::vector<std::size_t> known_after(slot_count_ + 2 * parts_.replacements.size(), 0);  // steps that must run before
  for (std::size_t at = 0; at < steps_.size(); ++at)
    for (auto slot : steps_[at].out) known_after[slot] = at + 1;
  const auto claimed = claims();
  for (auto& replacement : parts_.replacements) {
    const auto claim = claimed.find(replacement.reason);
    const Comparison comparison{slot_of(replacement.before), slot_of(replacement.after), &replacement,
                                claim == claimed.end() ? Allowance() : claim->second};
    const std::size_t when = std::max(known_after[comparison.before], known_after[comparison.after]);
    (when ? steps_[when - 1].comparisons : first_comparisons_).push_back(comparison);
  }
}

// A value is released after its last reader, unless it is an output, an input or a constant.
void CheckedThunk::plan_releases() {
  std::vector<bool> kept(slot_count_, false);
  for (auto* list : {&inputs_, &outputs_})
    for (auto slot : *list) kept[slot] = true;
  for (auto& [slot, value] : constants_) kept[slot] = true;
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
    const auto release = [&](std::size_t slot) {
      if (kept[slot]) return;
      kept[slot] = true;
      step->dead.push_back(slot);
    };
    for (auto& comparison : step->comparisons) release(comparison.before), release(comparison.after);
    for (auto slot : step->in) release(slot);
    for (auto slot : step->out) release(slot);
  }
}

void CheckedThunk::run(std::span<const View> views, Receiver& receiver) const {
  Values values(slot_count_);
  std::vector<Array> inputs;
  for (std::size_t i = 0; i < views.size(); ++i) {
    const Variable& variable = parts_.graph->inputs()[i];
    inputs.push_back(borrow_value(*variable.type(), views[i]));
    require_valid(variable, inputs.back(), parts_.checks, "the input");
    values[inputs_[i]] = inputs.back();
  }
  for (auto& [slot, value] : constants_) values[slot] = value;
  receiver.begin(views, true);
  for (auto& comparison : first_comparisons_) compare(comparison, values);
  Failures failures(slot_count_);
  for (auto& step : steps_) run_step(step, values, failures);
  std::vector<Array> results;
  for (auto slot : outputs_) {
    if (!values[slot]) std::rethrow_exception(failures[slot]);
    results.push_back(values[slot]->copy());
  }
  run_whole(inputs, results);
  for (std::size_t i = 0; i < results.size(); ++i) receiver.receive(int(i), std::move(results[i]));
}

// The first input that the node needs and that has no value, if any; a lazy node needs fewer than all inputs.
std::optional<std::size_t> CheckedThunk::missing_input(const Step& step, std::span<const Array> in,
                                                       const Values& values) const {
  const auto first_of = [&](const std::vector<int>& needed) -> std::optional<std::size_t> {
    for (int input : needed)
      if (!values[step.in[std::size_t(input)]]) return step.in[std::size_t(input)];
    return std::nullopt;
  };
  if (const LazyInputs* lazy = lazy_inputs(step.node)) {
    if (const auto missing = first_of(needed_first(step.node, *lazy))) return missing;
    return first_of(lazy->alternatives(step.node).at(lazy->chosen(step.node, in)));
  }
  std::vector<int> all(step.in.size());
  std::iota(all.begin(), all.end(), 0);
  return first_of(all);
}

void CheckedThunk::run_step(const Step& step, Values& values, Failures& failures) const {
  std::vector<Array> in, out;
  for (auto slot : step.in) in.push_back(values[slot].value_or(Array()));
  std::exception_ptr failure;
  if (const auto missing = missing_input(step, in, values)) {
    failure = failures[*missing];
  } else {
    try {
      if (step.inner) check_inner_graph(step, in);
      out = step.check ? step.check->run(in) : performed(step.node, in);
    } catch (const std::exception& error) {
      const bool is_finding =
          dynamic_cast<const DebugModeError*>(&error) && !dynamic_cast<const InvalidValueError*>(&error);
      // A node that is no longer in the graph may fail where its replacement does not, and its value may be unused.
      if (is_interruption(error) || (step.check && (is_finding || !is_lazy_))) throw;
      failure = std::current_exception();
    }
  }
  for (std::size_t k = 0; k < step.out.size(); ++k) {
    if (k < out.size()) values[step.out[k]] = std::move(out[k]);
    failures[step.out[k]] = failure;
  }
  for (auto& comparison : step.comparisons) compare(comparison, values);
  for (auto slot : step.dead) values[slot].reset();
}

// An error inside the inner graph names the step of the loop in which it occurred; the op adds that.
void CheckedThunk::check_inner_graph(const Step& step, std::span<const Array> in) {
  std::vector<Array> copies, out(step.node.output_count());
  for (auto& value : in) copies.push_back(value.copy());
  try {
    dynamic_cast<const HasInnerGraph&>(step.node.op())
        .perform_by(step.node, copies, out, [&](std::span<const Array> given) { return step.inner->run(given); });
  } catch (Error& error) {
    add_node_context(error, step.node, in);
    throw;
  }
}

void CheckedThunk::compare(const Comparison& comparison, const Values& values) const {
  const auto &before = values[comparison.before], &after = values[comparison.after];
  if (!before || !after) return;
  const Replacement& made = *comparison.replacement;
  const TypeBase& type = *made.before.type();
  if (type.tensor() ? values_agree(*before, *after, comparison.allowance) : type.values_eq_approx(*before, *after))
    return;
  throw BadOptimization(made.before, made.after, *before, *after, made.reason);
}

void CheckedThunk::run_whole(std::span<const Array> inputs, const std::vector<Array>& outputs) const {
  for (auto& [linker, thunk] : parts_.whole) {
    const std::vector<Array> got = thunk->run(inputs);
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (const TypeBase& type = *parts_.outputs[i].type();
          !(type.tensor() ? values_agree(outputs[i], got[i]) : type.values_eq_approx(outputs[i], got[i])))
        throw BadThunkOutput(parts_.outputs[i], "node by node", outputs[i], cat("the whole graph by linker ", linker),
                             got[i], {inputs.begin(), inputs.end()});
  }
}

void CheckedThunk::free() const {
  for (auto& [linker, thunk] : parts_.whole) thunk->free();
}
std::string CheckedThunk::note(const Apply& node) const {
  return parts_.whole.empty() ? std::string() : parts_.whole[0].second->note(node);
}
std::string CheckedThunk::text(std::string_view stage) const {
  if (parts_.whole.empty()) throw ValueError(cat("DebugMode has no stage `", stage, "`; its only stage is graph"));
  return parts_.whole[0].second->text(stage);
}

}  // namespace bitale

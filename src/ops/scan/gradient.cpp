// Derivatives of Scan, as scans. Backward: the adjoints of the states run from the last step to the first; each step
// applies the pullback of the inner graph to the state as it was before the step, which the forward scan keeps in a
// trace. Of the other values that the pullback needs, the forward scan keeps those that are more expensive to recompute
// than to read. Forward: a scan over pairs of values and tangents.
#include <algorithm>
#include <utility>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/function_graph.hpp"
#include "bitale/graph/test_value.hpp"
#include "bitale/ops/known.hpp"
#include "bitale/ops/ops.hpp"
#include "graph/calculus.hpp"
#include "graph/pointer_map.hpp"
#include "graph/support.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/analysis/support_masks.hpp"
#include "ops/control/guarded.hpp"
#include "ops/elementwise/scalar_op.hpp"
#include "ops/scan/scan.hpp"
#include "ops/shapes/shape.hpp"

namespace bitale {

Variables merge_equal(const Variables& values) {
  Variables leaves;
  VariableSet taken;
  for (auto& leaf : graph_inputs(values))
    if (taken.insert(leaf).second) leaves.push_back(leaf);
  const FunctionGraph graph(leaves, values);
  Replacements back;
  for (std::size_t k = 0; k < leaves.size(); ++k) back.emplace_back(graph.inputs()[k], leaves[k]);
  return clone_replace(graph.outputs(), back);
}

namespace {

constexpr int worth_keeping = 8;  // simple operations per element: values that cost this much are kept, not recomputed

bool is_plain(const Variable& v) { return v.defined() && !v.is_disconnected() && !v.is_null(); }
bool has_derivatives(const Variable& v) { return as_tensor(v.type()) && is_continuous(v.dtype()); }

// Only tensors have derivatives; other values, the states of generators, are disconnected.
struct Tensors {
  Variables outputs, inputs;
  std::vector<std::size_t> output_indices, input_indices;
};
Tensors tensors_of(const InnerGraph& graph) {
  Tensors out;
  for (std::size_t k = 0; k < graph.outputs().size(); ++k)
    if (as_tensor(graph.outputs()[k].type()))
      out.outputs.push_back(graph.outputs()[k]), out.output_indices.push_back(k);
  for (std::size_t i = 0; i < graph.inputs().size(); ++i)
    if (as_tensor(graph.inputs()[i].type())) out.inputs.push_back(graph.inputs()[i]), out.input_indices.push_back(i);
  return out;
}
Variables picked(const Variables& all, const std::vector<std::size_t>& indices) {
  Variables out;
  for (auto index : indices) out.push_back(all[index]);
  return out;
}
Variables spread(const Variables& some, const std::vector<std::size_t>& indices, std::size_t count) {
  Variables out(count, disconnected());
  for (std::size_t k = 0; k < indices.size(); ++k) out[indices[k]] = some[k];
  return out;
}
Variables pulled_back(const InnerGraph& graph, const Variables& seeds) {
  const Tensors tensors = tensors_of(graph);
  return spread(calculus().pullback(tensors.outputs, tensors.inputs, picked(seeds, tensors.output_indices)),
                tensors.input_indices, graph.inputs().size());
}
Variables pushed_forward(const InnerGraph& graph, const Variables& seeds) {
  const Tensors tensors = tensors_of(graph);
  return spread(calculus().pushforward(tensors.outputs, tensors.inputs, picked(seeds, tensors.input_indices)),
                tensors.output_indices, graph.outputs().size());
}

// The supports of the seeds of one backward step: a bool variable for each seed that may be zero by structure, null
// for the others.
class StepSupports {
 public:
  // `given`: the supports of the cotangents, one per seed.
  StepSupports(const Variables& seeds, std::vector<Support> given) : given_(std::move(given)), masks_(seeds.size()) {
    for (std::size_t k = 0; k < given_.size(); ++k)
      if (!seeds[k].is_disconnected() && !given_[k].is_everywhere())
        masks_[k] = Variable(tensor_type(DType::Bool, seeds[k].static_shape()));
  }

  const Variable& mask(std::size_t seed) const { return masks_[seed]; }
  // The mask of the cotangent of a seed, which is like this variable.
  Variable given_mask(std::size_t seed, const Variable& like) const { return full_mask(given_[seed], like); }
  void state_in(SupportScope& scope, const Variables& seeds) const {
    for (std::size_t k = 0; k < masks_.size(); ++k)
      if (masks_[k].defined()) scope.state(seeds[k], {Support::Kind::masked, masks_[k]});
  }
  // Drops the masks of states whose derivative may be nonzero everywhere after a step. Whether there were any. `first`:
  // the seed of the first state.
  bool drop(std::span<const Variable> answers_of_states, std::size_t first) {
    bool any = false;
    for (std::size_t k = 0; k < answers_of_states.size(); ++k) {
      const Variable& answer = answers_of_states[k];
      if (!masks_[first + k].defined() || !is_plain(answer) || !support_of(answer).is_everywhere()) continue;
      masks_[first + k] = {};
      any = true;
    }
    return any;
  }

 private:
  std::vector<Support> given_;
  Variables masks_;
};

// Whether masks have to be carried through the steps: there are some, and a step may multiply zeros by something
// infinite.
bool carries_masks(const InnerGraph& graph, std::span<const Support> given,
                   std::span<const Variable> answers_of_states) {
  const auto is_masked = [](const Variable& v) { return is_plain(v) && support_of(v).is_masked(); };
  const auto is_irregular = [](const Variable& v) { return has_derivatives(v) && may_be_irregular(v); };
  return (std::ranges::any_of(given, &Support::is_masked) || std::ranges::any_of(answers_of_states, is_masked)) &&
         std::ranges::any_of(graph.outputs(), is_irregular);
}

Variable leaf_like(const Variable& v) { return Variable(tensor_type(v.dtype(), v.static_shape())); }

Variable fitted(const Variable& like, const Variable& g) {
  return with_static_shape_of(like, g.dtype() == like.dtype() ? g : cast(g, like.dtype()));
}

Variable first_of(const Variable& x, const Variable& count) {
  return subtensor(x, {IndexItem(Slice{{}, Operand(count), {}})});
}
Variable reversed(const Variable& x) { return subtensor(x, {IndexItem(Slice{{}, {}, Operand(-1)})}); }

// The approximate number of operations per element of a single node.
int cost_of(const Apply& node) {
  if (const ScalarOp* scalar = node.op().elementwise()) return scalar->traits & cheap ? 1 : 16;
  const auto views = node.op().view_of(node, 0);
  return views.empty() ? 64 : 0;
}

// Lengths are not kept: they are known without the elements, and a trace of them could not be lengths of a batch.
bool is_length(const Apply& node) {
  return dynamic_cast<const ShapeI*>(&node.op()) || dynamic_cast<const ShapeOp*>(&node.op());
}

// Whether all elements are the same known number, so that keeping them is useless.
bool is_uniform(const Variable& v) {
  try {
    (void)get_underlying_scalar_constant_value(v);
    return true;
  } catch (const NotScalarConstantError&) {
    return false;
  }
}

// Those of the candidates, which are computed from the step's inputs, whose shape is not known to be the same in all
// steps, so that they can't have a trace. Lengths that follow from those of the inputs are the same; those that depend
// on values may differ.
PointerSet without_fixed_shape(const Variables& candidates, const Variables& inputs, const Variables& varying) {
  PointerSet out;
  Variables unknown;
  for (auto& each : candidates) {
    const Dims& shape = each.static_shape();
    if (std::find(shape.begin(), shape.end(), unknown_length) != shape.end()) unknown.push_back(each);
  }
  const auto examine = [&](const Variables& list) {
    const InnerGraph graph(inputs, list);
    const InnerLengths lengths = inner_lengths(graph);
    if (lengths.outputs.empty()) return false;
    VariableSet values;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (std::any_of(varying.begin(), varying.end(), [&](auto& leaf) { return leaf.same_as(inputs[i]); }))
        values.insert(graph.inputs()[i]);
    for (std::size_t k = 0; k < list.size(); ++k) {
      const Variables leaves = graph_inputs(lengths.outputs[k]);
      if (std::any_of(leaves.begin(), leaves.end(), [&](auto& leaf) { return values.contains(leaf); }))
        out.insert(list[k].node());
    }
    return true;
  };
  if (unknown.empty() || examine(unknown)) return out;
  for (auto& each : unknown)
    if (!examine({each})) out.insert(each.node());
  return out;
}

// The computed variables that the forward scan should keep for a pullback: variables of the forward graph that the
// pullback uses, and that cost more to recompute, from the step's inputs or from other kept variables, than to read.
Variables worth_saving(const Variables& answers, const Variables& results, const Variables& seeds,
                       const Variables& inputs, const Variables& varying) {
  PointerSet backward, steps;
  for (auto& seed : seeds) backward.insert(seed.node());
  for (auto& leaf : varying) steps.insert(leaf.node());
  const std::vector<Apply> order = toposort(answers);
  PointerSet used;  // forward variables that backward nodes read
  // For a view, the variable that it views is kept, so that all its views share one trace.
  const auto use = [&](Variable v) {
    while (v.has_owner() && steps.contains(v.node())) {
      const Apply node = v.owner();
      const std::vector<int> viewed = node.op().view_of(node, v.index());
      if (viewed.size() != 1 || node.input(viewed[0]).ndim() > v.ndim() || !node.input(viewed[0]).has_owner()) break;
      for (int i = 0; i < int(node.inputs().size()); ++i)
        if (i != viewed[0] && node.input(i).has_owner() && steps.contains(node.input(i).node()))
          used.insert(node.input(i).node());
      v = node.input(viewed[0]);
    }
    used.insert(v.node());
  };
  for (const Apply& node : order) {
    const auto is_backward = [&](const Variable& v) { return backward.contains(v.node()); };
    const bool goes_back = std::any_of(node.inputs().begin(), node.inputs().end(), is_backward);
    const auto varies = [&](const Variable& v) { return steps.contains(v.node()); };
    const bool steps_on = std::any_of(node.inputs().begin(), node.inputs().end(), varies);
    for (auto& output : node.outputs()) {
      if (goes_back) backward.insert(output.node());
      if (steps_on) steps.insert(output.node());
    }
    if (goes_back)
      for (auto& input : node.inputs())
        if (!is_backward(input) && input.has_owner() && varies(input)) use(input);
  }
  for (auto& answer : answers)
    if (answer.has_owner() && !backward.contains(answer.node()) && steps.contains(answer.node())) use(answer);
  // Draws can't be repeated, since the states of generators have no trace: what depends on them is kept, or what it is
  // computed from.
  PointerSet drawn;
  const auto is_drawn = [&](const Variable& v) { return drawn.contains(v.node()); };
  for (auto& leaf : varying)
    if (!as_tensor(leaf.type())) drawn.insert(leaf.node());
  for (const Apply& node : order)
    if (!backward.contains(node.output(0).node()) && std::ranges::any_of(node.inputs(), is_drawn))
      for (auto& output : node.outputs()) drawn.insert(output.node());
  Variables candidates;
  for (const Apply& node : order)
    for (auto& output : node.outputs())
      if ((used.contains(output.node()) || is_drawn(output)) && as_tensor(output.type())) candidates.push_back(output);
  const PointerSet changing = without_fixed_shape(candidates, inputs, varying);
  Variables all = answers;  // what a forward step computes in any case is not guarded
  all.insert(all.end(), results.begin(), results.end());
  const PointerSet guarded = guarded_values(all);
  const auto can_be_kept = [&](const Variable& v) {
    return as_tensor(v.type()) && !changing.contains(v.node()) && !guarded.contains(v.node()) && !is_uniform(v);
  };
  for (auto node = order.rbegin(); node != order.rend(); ++node)
    for (auto& output : node->outputs())
      if (is_drawn(output) && used.contains(output.node()) && !can_be_kept(output))
        for (auto& input : node->inputs())
          if (is_drawn(input)) used.insert(input.node());
  PointerMap<int> costs;
  Variables out;
  for (const Apply& node : order) {
    int cost = is_length(node) ? 0 : cost_of(node);
    for (auto& input : node.inputs())
      if (auto* known = costs.find(input.node()); known && !is_length(node)) cost = std::min(1 << 20, cost + *known);
    for (auto& output : node.outputs()) {
      const bool is_forward = steps.contains(output.node()) && !backward.contains(output.node());
      const bool is_kept = is_forward && used.contains(output.node()) && (cost >= worth_keeping || is_drawn(output)) &&
                           can_be_kept(output);
      if (is_kept) out.push_back(output);
      costs.insert(output.node(), is_kept || !is_forward ? 0 : cost);
    }
  }
  return out;
}

}  // namespace

Variables ScanOp::pullback(const Apply& node, std::span<const Variable> cotangents) const {
  const TestValuesOff none_are_known;
  const int states = layout_.states, traces = trace_count();
  Variables answers = no_gradients(node);
  // The states that have an adjoint: those whose final value has a cotangent, and those that outputs with a cotangent
  // depend on.
  const Variables& outputs = graph_->outputs();
  Variables seeds(outputs.size(), disconnected());
  bool any = false;
  const auto seed = [&](std::size_t k) {
    if (seeds[k].is_disconnected() && has_derivatives(outputs[k]))
      seeds[k] = leaf_like(k < std::size_t(states) ? state(int(k)) : outputs[k]), any = true;
  };
  for (std::size_t k = 0; k < std::size_t(states + traces); ++k)
    if (is_plain(cotangents[k])) seed(k);
  if (!any) return answers;
  Variables inner;
  for (bool grows = true; grows;) {
    grows = false;
    inner = pulled_back(*graph_, seeds);
    for (int k = 0; k < states; ++k) {
      const Variable& answer = inner[std::size_t(layout_.sequences + k)];
      if (!seeds[std::size_t(k)].is_disconnected() || !is_plain(answer) || !has_derivatives(state(k))) continue;
      seed(std::size_t(k));
      grows = true;
    }
  }
  // Zeros by structure are carried through the steps where a step may multiply them by something infinite.
  const auto answers_of_states = [&] {
    return std::span(inner).subspan(std::size_t(layout_.sequences), std::size_t(states));
  };
  std::vector<Support> given;
  for (std::size_t k = 0; k < std::size_t(states + traces); ++k)
    given.push_back(is_plain(cotangents[k]) ? support_of(cotangents[k]) : Support{.kind = Support::Kind::nowhere});
  const bool carries = carries_masks(*graph_, given, answers_of_states());
  std::optional<StepSupports> supports;
  std::optional<SupportScope> scope;
  if (carries) {
    supports.emplace(seeds, given);
    do {
      scope.reset();
      scope.emplace();
      supports->state_in(*scope, seeds);
      inner = pulled_back(*graph_, seeds);
    } while (supports->drop(answers_of_states(), 0));
  }
  const auto has_mask = [&](std::size_t k) { return supports && supports->mask(k).defined(); };

  // A derivative that is undefined in one step is undefined as a whole.
  for (int k = 0; k < states; ++k)
    if (const Variable& undefined = inner[std::size_t(layout_.sequences + k)]; undefined.is_null()) {
      for (std::size_t i = 1; i < answers.size(); ++i)
        if (has_derivatives(node.input(int(i)))) answers[i] = undefined;
      return answers;
    }

  // One step backward.
  ScanParts back;
  back.name = layout_.name.empty() ? "" : cat("pullback of ", layout_.name);
  struct Target {
    int input;  // of the node
    bool is_trace;
    int index;      // among the traces, or the states, of the backward scan
    int mask = -1;  // that of its support, if that is carried
  };
  std::vector<Target> targets;
  for (int k = 0; k < states; ++k) {
    const Variable& adjoint = seeds[std::size_t(k)];
    if (adjoint.is_disconnected()) continue;
    const Variable& answer = inner[std::size_t(layout_.sequences + k)];
    targets.push_back({initial_input(k), false, int(back.states.size())});
    back.states.push_back(adjoint);
    back.next.push_back(is_plain(answer) ? fitted(adjoint, answer) : zeros_like(adjoint));
    const Variable& given = cotangents[std::size_t(k)];
    back.initial.push_back(is_plain(given) ? fitted(state(k), given) : zeros_like(node.input(initial_input(k))));
  }
  for (int k = 0; k < constant_count(); ++k) {
    const Variable& answer = inner[std::size_t(layout_.sequences + states + k)];
    const int input = constant_input(k);
    if (answer.is_null()) answers[std::size_t(input)] = answer;
    if (!is_plain(answer)) continue;
    const Variable sum(tensor_type(answer.dtype(), inner_constant(k).static_shape()));
    targets.push_back({input, false, int(back.states.size())});
    back.states.push_back(sum);
    back.next.push_back(fitted(sum, sum + answer));
    back.initial.push_back(zeros_like(node.input(input), answer.dtype()));
  }
  for (int k = 0; k < layout_.sequences; ++k) {
    const Variable& answer = inner[std::size_t(k)];
    if (answer.is_null()) answers[std::size_t(sequence_input(k))] = answer;
    if (!is_plain(answer)) continue;
    targets.push_back({sequence_input(k), true, int(back.traced.size())});
    back.traced.push_back(with_static_shape_of(element(k), answer));
    if (const Support support = supports ? support_of(answer) : Support(); support.is_masked()) {
      targets.back().mask = int(back.traced.size());
      back.traced.push_back(full_mask(support, element(k)));
    }
  }
  for (int k = 0; k < states; ++k) {
    if (!has_mask(std::size_t(k))) continue;
    const Variable& answer = inner[std::size_t(layout_.sequences + k)];
    const auto target = std::ranges::find_if(targets, [&](const Target& at) { return at.input == initial_input(k); });
    target->mask = int(back.states.size());
    back.states.push_back(supports->mask(std::size_t(k)));
    back.next.push_back(
        full_mask(is_plain(answer) ? support_of(answer) : Support{.kind = Support::Kind::nowhere}, state(k)));
    back.initial.push_back(supports->given_mask(std::size_t(k), node.input(initial_input(k))));
  }
  if (targets.empty()) return answers;

  // The values of forward steps that backward steps read.
  Variables computed = outputs;
  computed.insert(computed.end(), back.next.begin(), back.next.end());
  computed.insert(computed.end(), back.traced.begin(), back.traced.end());
  // Nodes whose pullback may not be linear stay apart, since further derivatives depend on how many there are.
  if (have_linear_pullbacks(*graph_)) computed = merge_equal(computed);
  const Variables forward_outputs(computed.begin(), computed.begin() + std::ptrdiff_t(outputs.size()));
  computed.erase(computed.begin(), computed.begin() + std::ptrdiff_t(outputs.size()));
  Variables varying;
  for (int k = 0; k < layout_.sequences; ++k) varying.push_back(element(k));
  for (int k = 0; k < states; ++k) varying.push_back(state(k));
  Variables adjoints;
  for (auto& each : seeds)
    if (!each.is_disconnected()) adjoints.push_back(each);
  for (std::size_t k = 0; k < back.states.size(); ++k) adjoints.push_back(back.states[k]);
  for (std::size_t k = std::size_t(states); k < std::size_t(states + traces); ++k)
    if (has_mask(k)) adjoints.push_back(supports->mask(k));
  Variables kept = worth_saving(computed, forward_outputs, adjoints, graph_->inputs(), varying);
  Replacements from_traces;
  for (auto& each : kept) from_traces.emplace_back(each, leaf_like(each));
  computed = clone_replace(computed, from_traces);
  std::copy(computed.begin(), computed.begin() + std::ptrdiff_t(back.next.size()), back.next.begin());
  std::copy(computed.begin() + std::ptrdiff_t(back.next.size()), computed.end(), back.traced.begin());
  VariableSet needed;
  for (auto& leaf : graph_inputs(computed)) needed.insert(leaf);
  for (int k = 0; k < states; ++k)
    if (!as_tensor(state(k).type()) && needed.contains(state(k)))
      throw NotImplementedError(cat(called(),
                                    ": gradient: it needs draws of a step again, of which there is no trace, "
                                    "because their lengths differ from step to step or a choice guards them"));

  // The forward scan with more traces: it is merged with this one when a function is created.
  Variables extended(forward_outputs.begin(), forward_outputs.begin() + states + traces);
  for (int k = 0; k < states; ++k)
    if (needed.contains(state(k)) && as_tensor(state(k).type())) extended.push_back(state(k));
  // A value that already is a trace is kept only once.
  std::vector<std::size_t> kept_at;
  for (auto& each : kept) {
    const auto is_same = [&](const Variable& other) { return other.same_as(each); };
    auto found = std::find_if(extended.begin() + states, extended.end(), is_same);
    if (found == extended.end()) found = extended.insert(found, each);
    kept_at.push_back(std::size_t(found - extended.begin()));
  }
  const bool extends = extended.size() > std::size_t(states + traces);
  if (layout_.has_until) extended.push_back(forward_outputs.back());
  const Apply forward = extends ? make_ref<ScanOp>(make_ref<InnerGraph>(graph_->inputs(), extended, called()), layout_)
                                      ->make_node(node.inputs())
                                : node;

  const Variable steps = layout_.has_until ? node.outputs().back() : node.input(0);
  const bool is_cut = layout_.truncate_gradient >= 0;
  back.n_steps = is_cut ? minimum(steps, int64_constant(layout_.truncate_gradient)) : steps;
  const auto backward = [&](const Variable& stack) {
    const Variable whole = reversed(layout_.has_until ? first_of(stack, steps) : stack);
    return is_cut ? first_of(whole, back.n_steps) : whole;
  };
  const auto read = [&](const Variable& element, const Variable& stack) {
    if (!needed.contains(element)) return;
    back.elements.push_back(element);
    back.sequences.push_back(backward(stack));
  };
  for (int k = 0; k < layout_.sequences; ++k) read(element(k), node.input(sequence_input(k)));
  int next_trace = states + traces;
  for (int k = 0; k < states; ++k)
    if (needed.contains(state(k)) && as_tensor(state(k).type())) read(state(k), forward.output(next_trace++));
  for (std::size_t k = 0; k < kept.size(); ++k) read(from_traces[k].second, forward.output(int(kept_at[k])));
  for (int k = 0; k < traces; ++k) {
    const Variable& adjoint = seeds[std::size_t(states + k)];
    if (adjoint.is_disconnected()) continue;
    const Variable& given = cotangents[std::size_t(trace_output(k))];
    read(adjoint, given.dtype() == adjoint.dtype() ? given : cast(given, adjoint.dtype()));
    if (const auto seed = std::size_t(states + k); has_mask(seed))
      read(supports->mask(seed), supports->given_mask(seed, given));
  }
  for (int k = 0; k < constant_count(); ++k)
    back.constants.emplace_back(inner_constant(k), node.input(constant_input(k)));
  const Apply scan = make_scan(back);

  for (auto& target : targets) {
    Variable& answer = answers[std::size_t(target.input)];
    if (!target.is_trace) {
      answer = scan.output(target.index);
      if (target.mask >= 0) answer = restricted(answer, {Support::Kind::masked, scan.output(target.mask)});
      // If the gradient ends before the first step, an initial value has no effect.
      if (is_cut && target.input < constant_input(0))
        answer = switch_(eq(back.n_steps, steps), answer, zeros_like(answer));
      continue;
    }
    const auto stack_at = [&](int index) { return reversed(scan.output(int(back.states.size()) + index)); };
    const Variable stack = target.mask < 0
                               ? stack_at(target.index)
                               : restricted(stack_at(target.index), {Support::Kind::masked, stack_at(target.mask)});
    const Variable& whole = node.input(target.input);
    answer = !layout_.has_until && !is_cut
                 ? stack
                 : set_subtensor(zeros_like(whole, stack.dtype()),
                                 {IndexItem(Slice{Operand(steps - back.n_steps), Operand(steps), {}})}, stack);
    answer = with_static_shape_of(whole, answer);
  }
  return answers;
}

Variables ScanOp::pushforward(const Apply& node, std::span<const Variable> tangents) const {
  const TestValuesOff none_are_known;
  const int states = layout_.states, traces = trace_count();
  Variables answers(node.output_count(), disconnected());
  const Variables& inputs = graph_->inputs();
  Variables seeds(inputs.size(), disconnected());
  bool any = false;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (is_plain(tangents[i + 1]) && has_derivatives(inputs[i])) seeds[i] = leaf_like(inputs[i]), any = true;
  if (!any) return answers;
  Variables inner;
  for (bool grows = true; grows;) {
    grows = false;
    inner = pushed_forward(*graph_, seeds);
    for (int k = 0; k < states; ++k) {
      Variable& own = seeds[std::size_t(layout_.sequences + k)];
      if (!own.is_disconnected() || !is_plain(inner[std::size_t(k)]) || !has_derivatives(state(k))) continue;
      own = leaf_like(state(k));
      grows = true;
    }
  }
  std::vector<Support> given(inputs.size(), {.kind = Support::Kind::nowhere});
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (is_plain(tangents[i + 1])) given[i] = support_of(tangents[i + 1]);
  const auto answers_of_states = [&] { return std::span(inner).first(std::size_t(states)); };
  std::optional<StepSupports> supports;
  std::optional<SupportScope> scope;
  if (carries_masks(*graph_, given, answers_of_states())) {
    supports.emplace(seeds, given);
    do {
      scope.reset();
      scope.emplace();
      supports->state_in(*scope, seeds);
      inner = pushed_forward(*graph_, seeds);
    } while (supports->drop(answers_of_states(), std::size_t(layout_.sequences)));
  }
  const auto mask_of = [&](int inner_input) {
    return supports ? supports->mask(std::size_t(inner_input)) : Variable();
  };
  const auto given_mask = [&](int inner_input) {
    return supports->given_mask(std::size_t(inner_input), node.input(inner_input + 1));
  };
  for (std::size_t k = 0; k < inner.size(); ++k)
    if (inner[k].is_null()) {
      for (std::size_t o = 0; o < std::size_t(states + traces); ++o)
        if (has_derivatives(node.output(int(o)))) answers[o] = inner[k];
      return answers;
    }
  ScanParts both;
  both.n_steps = node.input(0);
  both.truncate_gradient = layout_.truncate_gradient;
  both.name = layout_.name.empty() ? "" : cat("pushforward of ", layout_.name);
  const auto tangent_of = [&](int inner_input, const Variable& value) {
    const Variable& given = tangents[std::size_t(inner_input + 1)];
    return is_plain(given) ? fitted(value, given) : zeros_like(value);
  };
  for (int k = 0; k < layout_.sequences; ++k) {
    both.elements.push_back(element(k));
    both.sequences.push_back(node.input(sequence_input(k)));
  }
  for (int k = 0; k < layout_.sequences; ++k)
    if (const Variable& own = seeds[std::size_t(k)]; !own.is_disconnected()) {
      both.elements.push_back(own);
      both.sequences.push_back(tangent_of(k, node.input(sequence_input(k))));
      if (const Variable mask = mask_of(k); mask.defined())
        both.elements.push_back(mask), both.sequences.push_back(given_mask(k));
    }
  for (int k = 0; k < states; ++k) {
    both.states.push_back(state(k));
    both.next.push_back(next(k));
    both.initial.push_back(node.input(initial_input(k)));
  }
  std::vector<int> tangent_states(std::size_t(states), -1), tangent_traces(std::size_t(traces), -1);
  std::vector<int> mask_states(std::size_t(states), -1), mask_traces(std::size_t(traces), -1);
  for (int k = 0; k < states; ++k) {
    const Variable& own = seeds[std::size_t(layout_.sequences + k)];
    if (own.is_disconnected()) continue;
    tangent_states[std::size_t(k)] = int(both.states.size());
    both.states.push_back(own);
    const Variable& answer = inner[std::size_t(k)];
    both.next.push_back(is_plain(answer) ? fitted(own, answer) : zeros_like(own));
    both.initial.push_back(tangent_of(layout_.sequences + k, node.input(initial_input(k))));
    const Variable mask = mask_of(layout_.sequences + k);
    if (!mask.defined()) continue;
    mask_states[std::size_t(k)] = int(both.states.size());
    both.states.push_back(mask);
    both.next.push_back(
        full_mask(is_plain(answer) ? support_of(answer) : Support{.kind = Support::Kind::nowhere}, state(k)));
    both.initial.push_back(given_mask(layout_.sequences + k));
  }
  for (int k = 0; k < traces; ++k) {
    const Variable& answer = inner[std::size_t(states + k)];
    if (!is_plain(answer)) continue;
    tangent_traces[std::size_t(k)] = int(both.traced.size());
    both.traced.push_back(fitted(traced(k), answer));
    const Support support = supports ? support_of(answer) : Support();
    if (!support.is_masked()) continue;
    mask_traces[std::size_t(k)] = int(both.traced.size());
    both.traced.push_back(full_mask(support, traced(k)));
  }
  for (int k = 0; k < constant_count(); ++k) {
    both.constants.emplace_back(inner_constant(k), node.input(constant_input(k)));
    const int inner_input = layout_.sequences + states + k;
    if (const Variable& own = seeds[std::size_t(inner_input)]; !own.is_disconnected())
      both.constants.emplace_back(own, tangent_of(inner_input, node.input(constant_input(k))));
    if (const Variable mask = mask_of(inner_input); mask.defined())
      both.constants.emplace_back(mask, given_mask(inner_input));
  }
  if (layout_.has_until) both.until = until();
  const Apply scan = make_scan(both);
  const auto answer_at = [&](int output, int mask) {
    const Variable answer = scan.output(output);
    return mask < 0 ? answer : restricted(answer, {Support::Kind::masked, scan.output(mask)});
  };
  const int first_trace = int(both.states.size());
  for (int k = 0; k < states; ++k)
    if (const int output = tangent_states[std::size_t(k)]; output >= 0)
      answers[std::size_t(k)] = answer_at(output, mask_states[std::size_t(k)]);
  for (int k = 0; k < traces; ++k)
    if (const int trace = tangent_traces[std::size_t(k)], mask = mask_traces[std::size_t(k)]; trace >= 0)
      answers[std::size_t(trace_output(k))] = with_static_shape_of(
          node.output(trace_output(k)), answer_at(first_trace + trace, mask < 0 ? -1 : first_trace + mask));
  return answers;
}

}  // namespace bitale

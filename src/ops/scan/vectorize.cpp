// A batch of scans is one scan whose states have the dimensions of the batch. Elements of the batch that execute fewer
// steps than others, by their own n_steps or `until`, keep their states while the loop continues.
#include <algorithm>
#include <utility>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/test_value.hpp"
#include "bitale/ops/cumulative.hpp"
#include "bitale/ops/debugging.hpp"
#include "bitale/ops/op_from_graph.hpp"
#include "bitale/ops/ops.hpp"
#include "graph/calculus.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/control/guarded.hpp"
#include "ops/scan/scan.hpp"

namespace bitale {

namespace {

Type element_type(const Type& stack) {
  const TensorType& tensor = *as_tensor(stack);
  Dims shape;
  for (std::size_t axis = 1; axis < tensor.shape.size(); ++axis) shape.push_back(tensor.shape[axis]);
  return tensor_type(tensor.dtype, shape);
}

// The step counts of a batch whose elements execute different numbers of steps: the loop continues while any element
// has steps left, and elements that have none left keep their states.
class OwnSteps {
 public:
  // `counts`: the number of steps of each element of the batch, or of all; `until`: whether each ends after this step,
  // or null.
  OwnSteps(ScanParts& parts, const Shape& batch, const Variable& counts, const Variable& until)
      : parts_(parts), batch_(int(batch.size())), counts_(counts), until_(until) {
    const DType integer = DType::Int64;
    number_ = state(int64_constant(0));
    active_ = lt(number_, counts_);
    if (!until_.defined()) return;
    done_ = state(alloc(constant(Array(false)), batch));
    made_ = state(alloc(int64_constant(0), batch));
    active_ = logical_and(active_, logical_not(done_));
    made_next_ = add(made_, cast(active_, integer));
  }
  // `next` for elements that execute this step, `before` for the others.
  Variable kept(const Variable& next, const Variable& before) const {
    Variable mask = active_;
    if (mask.ndim() > 0)
      for (int axis = batch_; axis < next.ndim(); ++axis) mask = expand_dims(mask, axis);
    return switch_(mask, next, before);
  }
  // To be called when the states of the loop have their next values. Returns the position of the final step counts, or
  // -1 without `until`.
  int finish() {
    const Variable number = add(number_, int64_constant(1));
    parts_.next.push_back(number);
    if (!until_.defined()) return -1;
    const Variable done = logical_or(done_, logical_and(active_, until_));
    parts_.next.push_back(done);
    parts_.next.push_back(made_next_);
    parts_.until = all(logical_or(done, ge(number, counts_)));
    return int(parts_.next.size()) - 1;
  }

 private:
  Variable state(const Variable& initial) {
    parts_.initial.push_back(initial);
    parts_.states.emplace_back(initial.type());
    return parts_.states.back();
  }
  ScanParts& parts_;
  const int batch_;
  const Variable counts_, until_;
  Variable number_, done_, made_, made_next_, active_;
};

}  // namespace

// Elements of a batch that have ended go through the steps of the others, from states that their own loop does not
// step from; there is a value to discard only if that can't fail.
void ScanOp::require_harmless_steps() const {
  for (const Apply& node : toposort(graph_->outputs()))
    if (!is_total(node))
      throw NotImplementedError(cat(called(), ": vectorize: the number of steps differs from batch to batch, and `",
                                    node.output(0).str(), "` may fail in steps after the last"));
}

// Batch dimensions come before the step dimension in the node's inputs and outputs, and after it in the new loop.
Apply ScanOp::vectorize(const Apply& node, std::span<const Variable> batched) const {
  const TestValuesOff none_are_known;
  for (int k = 0; k < layout_.states; ++k) {
    if (as_tensor(state(k).type())) continue;
    for (std::size_t i = 0; i < batched.size(); ++i)
      if (as_tensor(batched[i].type()) && batched[i].ndim() > node.inputs()[i].ndim())
        throw NotImplementedError(
            cat(called(), ": vectorize: state ", k, " is ", state(k).type()->str(), ", of which there are no batches"));
    return make_node(batched);
  }
  const int gained = Batch{node, batched}.ndim();
  if (gained == 0) return make_node(batched);
  Variables outer;
  for (auto& input : batched) outer.emplace_back(input.type(), input.name());
  const Shape batch = batch_lengths({node, outer});
  const auto is_batched = [&](int input) { return Batch{node, batched}.ndim(input) > 0; };

  ScanParts parts;
  parts.n_steps = outer[0];
  parts.truncate_gradient = layout_.truncate_gradient;
  parts.name = layout_.name;
  Replacements replacements;
  const auto placeholder = [&](const Variable& inner, const Type& type) {
    replacements.emplace_back(inner, Variable(type, inner.name()));
    return replacements.back().second;
  };
  // For a batch of step counts, the loop executes the largest.
  Variable counts;
  if (is_batched(0)) {
    if (layout_.sequences > 0 || trace_count() > 0)
      throw NotImplementedError(cat(called(), ": vectorize: n_steps differs from batch to batch, so that ",
                                    trace_count() > 0 ? "results of all steps" : "sequences",
                                    " would differ in length"));
    require_harmless_steps();
    parts.n_steps = check_and_raise(max(outer[0], all_axes, KeepDims::No, int64_constant(0)),
                                    {all(ge(outer[0], int64_constant(0)))}, "ValueError",
                                    cat(called(), ": n_steps is negative: expected a number of steps, 0 or more"));
    const Variable own = alloc(outer[0], batch);
    counts = Variable(own.type());
    parts.constants.emplace_back(counts, own);
  }
  for (int k = 0; k < layout_.sequences; ++k) {
    const Variable& x = outer[std::size_t(sequence_input(k))];
    if (!is_batched(sequence_input(k))) {
      parts.sequences.push_back(x);
      parts.elements.push_back(placeholder(element(k), element(k).type()));
      continue;
    }
    std::vector<int> order{gained};
    for (int axis = 0; axis < x.ndim(); ++axis)
      if (axis != gained) order.push_back(axis);
    parts.sequences.push_back(dimshuffle(x, order));
    parts.elements.push_back(placeholder(element(k), element_type(parts.sequences.back().type())));
  }
  for (int k = 0; k < layout_.states; ++k) {
    const Variable& x = outer[std::size_t(initial_input(k))];
    Shape shape = batch;
    for (int axis = x.ndim() - state(k).ndim(); axis < x.ndim(); ++axis) shape.push_back(length_of(x, axis));
    parts.initial.push_back(alloc(x, shape));
    parts.states.push_back(placeholder(state(k), parts.initial.back().type()));
  }
  for (int k = 0; k < constant_count(); ++k) {
    const Variable& x = outer[std::size_t(constant_input(k))];
    const Variable leaf =
        placeholder(inner_constant(k), is_batched(constant_input(k)) ? x.type() : inner_constant(k).type());
    parts.constants.emplace_back(leaf, x);
  }
  Variables inner = calculus().vectorize(graph_->outputs(), replacements);
  Variable until;
  if (layout_.has_until) {
    until = inner.back();
    inner.pop_back();
    if (until.ndim() > 0) require_harmless_steps();
  }
  // Every result must have all batch dimensions, even if it depends on no batch, or on one of length 1.
  for (std::size_t k = 0; k < inner.size(); ++k) {
    Shape shape = batch;
    for (int axis = inner[k].ndim() - graph_->outputs()[k].ndim(); axis < inner[k].ndim(); ++axis)
      shape.push_back(length_of(inner[k], axis));
    bool is_whole = inner[k].ndim() > graph_->outputs()[k].ndim();
    for (int axis = 0; axis < gained && is_whole; ++axis)
      is_whole = !inner[k].tensor().broadcasts(axis) || known_integer(batch[std::size_t(axis)]) == 1;
    if (!is_whole) inner[k] = alloc(inner[k], shape);
  }
  parts.next.assign(inner.begin(), inner.begin() + layout_.states);
  parts.traced.assign(inner.begin() + layout_.states, inner.end());
  int made = -1;
  if (counts.defined() || (until.defined() && until.ndim() > 0)) {
    const Variable own_counts = counts.defined() ? counts : Variable(outer[0].type());
    if (!counts.defined()) parts.constants.emplace_back(own_counts, outer[0]);
    OwnSteps own(parts, batch, own_counts, until.defined() && until.ndim() > 0 ? alloc(until, batch) : until);
    for (int k = 0; k < layout_.states; ++k)
      parts.next[std::size_t(k)] = own.kept(parts.next[std::size_t(k)], parts.states[std::size_t(k)]);
    for (auto& traced : parts.traced) traced = own.kept(traced, zeros_like(traced));
    made = own.finish();
  } else {
    parts.until = until;
  }
  const Apply scan = make_scan(parts);
  Variables outputs;
  for (int k = 0; k < layout_.states; ++k) outputs.push_back(scan.output(k));
  for (int k = 0; k < trace_count(); ++k) {
    const Variable trace = scan.output(int(parts.states.size()) + k);
    std::vector<int> order;
    for (int axis = 1; axis <= gained; ++axis) order.push_back(axis);
    order.push_back(0);
    for (int axis = gained + 1; axis < trace.ndim(); ++axis) order.push_back(axis);
    outputs.push_back(dimshuffle(trace, order));
  }
  if (layout_.has_until)
    outputs.push_back(made >= 0 ? scan.output(made) : alloc(scan.output(int(scan.output_count()) - 1), batch));
  OpFromGraphOptions options;
  options.name = layout_.name.empty() ? "batched_scan" : layout_.name;
  return op_from_graph(outer, outputs, options)->make_node(batched);
}

// ---- loops of different lengths
// ---------------------------------------------------------------------------------------

bool has_loops_of_different_lengths(std::span<const Variable> outputs, const PointerSet& varying) {
  PointerSet reached = varying;
  const auto varies = [&](const Variable& v) { return reached.contains(v.node()); };
  for (const Apply& node : toposort(outputs)) {
    if (std::ranges::none_of(node.inputs(), varies)) continue;
    for (auto& output : node.outputs()) reached.insert(output.node());
    const InnerGraph* inner = node.op().elementwise() ? nullptr : inner_graph_of(node.op());
    if (!inner) continue;
    const auto* scan = dynamic_cast<const ScanOp*>(&node.op());
    if (scan && varies(node.input(0))) return true;
    PointerSet within;
    const std::size_t first = node.inputs().size() - inner->inputs().size();  // the inputs of the graph come last
    for (std::size_t i = 0; i < inner->inputs().size(); ++i)
      if (varies(node.inputs()[first + i])) within.insert(inner->inputs()[i].node());
    // A batch has all states, and so has a condition that depends on one.
    for (int k = 0; scan && k < scan->layout().states; ++k) within.insert(scan->state(k).node());
    if (has_loops_of_different_lengths(inner->outputs(), within)) return true;
    if (!scan || !scan->layout().has_until) continue;
    for (auto& leaf : graph_inputs(Variables{scan->until()}))
      if (within.contains(leaf.node())) return true;
  }
  return false;
}

}  // namespace bitale

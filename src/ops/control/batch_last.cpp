#include "ops/control/batch_last.hpp"

#include <algorithm>
#include <numeric>
#include <typeindex>
#include <unordered_map>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/arrange.hpp"
#include "bitale/ops/ops.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/control/check_and_raise.hpp"
#include "ops/elementwise/elemwise.hpp"
#include "ops/indexing/advanced_inc_subtensor.hpp"
#include "ops/indexing/advanced_subtensor.hpp"
#include "ops/indexing/inc_subtensor.hpp"
#include "ops/indexing/subtensor.hpp"
#include "ops/linalg/dot.hpp"
#include "ops/reductions/cum_op.hpp"
#include "ops/reductions/reduce.hpp"
#include "ops/scan/scan.hpp"
#include "ops/shapes/alloc.hpp"
#include "ops/shapes/dimshuffle.hpp"
#include "ops/shapes/join.hpp"
#include "ops/shapes/make_vector.hpp"
#include "ops/shapes/reshape.hpp"

namespace bitale {

namespace {

// A node and the batches of its inputs.
struct Batched {
  const Apply& node;
  const Variables& inputs;

  const Variable& own(std::size_t i) const { return node.inputs()[i]; }
  bool has(std::size_t i) const { return as_tensor(own(i).type()) && inputs[i].ndim() > own(i).ndim(); }
  // Whether none of the inputs from `first` on is a batch.
  bool none_from(std::size_t first) const {
    for (std::size_t i = first; i < inputs.size(); ++i)
      if (has(i)) return false;
    return true;
  }
  Variable length() const {
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (has(i)) return length_of(inputs[i], own(i).ndim());
    throw InternalError("a node without batches");
  }
  // Input i with a last dimension, of length 1 where it is no batch.
  Variable behind(std::size_t i) const { return has(i) ? inputs[i] : expand_dims(inputs[i], inputs[i].ndim()); }
  // Input i for each element of the batch.
  Variable repeated(std::size_t i) const {
    if (has(i)) return inputs[i];
    Shape shape = lengths_of(inputs[i]);
    shape.push_back(length());
    return alloc(behind(i), shape);
  }
  Variables with(Variables first, std::size_t rest) const {
    first.insert(first.end(), inputs.begin() + std::ptrdiff_t(rest), inputs.end());
    return first;
  }
};

// The outputs, or none where the op has no form for these batches.
using Form = Variables (*)(const Batched&);

Variables elementwise(const Batched& b) {
  Variables all;
  for (std::size_t i = 0; i < b.inputs.size(); ++i) all.push_back(b.behind(i));
  return elemwise(static_cast<const Elemwise&>(b.node.op()).scalar.name)->make_node(pad_ranks(all)).outputs();
}

Variables reduced(const Batched& b) {
  const auto& op = static_cast<const CAReduce&>(b.node.op());
  const std::vector<int> axes = axes_or_all(op.kind.name, op.axes, b.own(0).ndim());
  return OpRef(new CAReduce(op.kind, axes, op.dtype))->make_node(b.inputs).outputs();
}

Variables dimensions_in_order(const Batched& b) {
  const auto& op = static_cast<const DimShuffle&>(b.node.op());
  std::vector<int> order = op.new_order;
  order.push_back(op.input_ndim);
  return make_ref<DimShuffle>(op.input_ndim + 1, order)->make_node(b.inputs).outputs();
}

// Dimensions behind those that the op names are kept whole.
Variables same_dimensions(const Batched& b) {
  if (!b.none_from(1)) return {};
  return b.node.op().make_node(b.inputs).outputs();
}

Variables updated(const Batched& b) {
  if (!b.none_from(2)) return {};
  return b.node.op().make_node(b.with({b.repeated(0), b.behind(1)}, 2)).outputs();
}

Variables joined(const Batched& b) {
  Variables parts;
  for (std::size_t i = 0; i < b.inputs.size(); ++i) parts.push_back(b.repeated(i));
  return b.node.op().make_node(parts).outputs();
}

Variables vector_made(const Batched& b) {
  Variables parts;
  for (std::size_t i = 0; i < b.inputs.size(); ++i)
    parts.push_back(expand_dims(cast(b.repeated(i), b.node.output().dtype()), 0));
  return {join(0, parts)};
}

Variables reshaped(const Batched& b) {
  if (!b.none_from(1)) return {};
  const Variable& shape = b.inputs[1];
  if (shape.static_shape()[0] != unknown_length) {
    const Shape whole = lengths_of(b.inputs[0]);
    Variables lengths = lengths_without_batch(shape, std::span(whole).first(whole.size() - 1));
    lengths.push_back(whole.back());
    return {reshape(b.inputs[0], lengths)};
  }
  const Variable all = join(0, {cast(shape, DType::Int64), make_vector({b.length()}, DType::Int64)});
  return {reshape(b.inputs[0], all, b.node.output().ndim() + 1)};
}

Variables allocated(const Batched& b) {
  if (!b.none_from(1)) return {};
  Variables all = b.with({b.inputs[0]}, 1);
  all.push_back(b.length());
  return b.node.op().make_node(all).outputs();
}

Variables checked(const Batched& b) {
  Variables all{b.repeated(0)};
  for (std::size_t i = 1; i < b.inputs.size(); ++i) all.push_back(b.has(i) ? bitale::all(b.inputs[i]) : b.inputs[i]);
  return b.node.op().make_node(all).outputs();
}

// A product with the same left factor, or of a batch of vectors, for the whole batch is one product of matrices; others
// are sums.
Variables product(const Batched& b) {
  if (!is_float(b.node.output().dtype())) return {};
  const Variable &x = b.inputs[0], &y = b.inputs[1];
  const int x_ndim = b.own(0).ndim(), y_ndim = b.own(1).ndim();
  if (!b.has(0) && y_ndim == 1) return {dot(x, y)};
  if (!b.has(1) && x_ndim == 1) return {dot(y_ndim == 2 ? transpose(y) : y, x)};
  if (!b.has(0)) {
    const Variable columns = length_of(y, 1), count = length_of(y, 2), wide = join_dims(y, 1);
    const Variable all = dot(x, wide);
    Variables shape{columns, count};
    if (x_ndim == 2) shape.insert(shape.begin(), length_of(x, 0));
    return {reshape(all, shape)};
  }
  const Variable left = y_ndim == 2 ? expand_dims(b.behind(0), x_ndim) : b.behind(0);
  return {sum(left * b.behind(1), {x_ndim - 1})};
}

// Batches along the first dimension, between exchanges of dimensions.
Variables between_exchanges(const Batched& b) {
  Variables first;
  for (std::size_t i = 0; i < b.inputs.size(); ++i)
    first.push_back(b.has(i) ? moveaxis(b.inputs[i], -1, 0) : b.inputs[i]);
  Variables outputs = b.node.op().vectorize(b.node, first).outputs();
  for (std::size_t k = 0; k < outputs.size(); ++k)
    if (as_tensor(outputs[k].type()) && outputs[k].ndim() > b.node.output(int(k)).ndim())
      outputs[k] = moveaxis(outputs[k], 0, -1);
  return outputs;
}

Form form_of(const Apply& node) {
  static const std::unordered_map<std::type_index, Form> forms{
      {typeid(Elemwise), elementwise},
      {typeid(CAReduce), reduced},
      {typeid(DimShuffle), dimensions_in_order},
      {typeid(Subtensor), same_dimensions},
      {typeid(AdvancedSubtensor), same_dimensions},
      {typeid(IncSubtensor), updated},
      {typeid(AdvancedIncSubtensor), updated},
      {typeid(Join), joined},
      {typeid(MakeVector), vector_made},
      {typeid(Reshape), reshaped},
      {typeid(Alloc), allocated},
      {typeid(CheckAndRaise), checked},
      {typeid(Dot), product},
      {typeid(CumOp), same_dimensions},
      {typeid(ScanOp), between_exchanges},
  };
  const Op& op = node.op();
  if (const auto found = forms.find(typeid(op)); found != forms.end()) return found->second;
  const bool is_view = !op.view_of(node, 0).empty();
  return is_view ? between_exchanges : nullptr;
}

}  // namespace

Variables with_batch_last(const Apply& node, const Variables& inputs) {
  const Batched batched{node, inputs};
  if (batched.none_from(0)) return node.with_inputs(inputs).outputs();
  const Form form = form_of(node);
  Variables outputs = form ? form(batched) : Variables();
  if (outputs.empty())
    throw NotImplementedError(
        cat("vectorize_graph: ", node.op().label(), " has no form for batches along the last axis"));
  return outputs;
}

}  // namespace bitale

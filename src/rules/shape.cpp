// Lengths are computed without computing values, redundant shape promises (specify_shape) are removed, and trivial
// reshapes become views.
#include "ops/shapes/shape.hpp"

#include <algorithm>

#include "bitale/graph/complex.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/elementwise/elemwise.hpp"
#include "ops/indexing/inc_subtensor.hpp"
#include "ops/shapes/dimshuffle.hpp"
#include "ops/shapes/make_vector.hpp"
#include "ops/shapes/reshape.hpp"
#include "ops/shapes/specify_shape.hpp"
#include "rules/vocabulary.hpp"

namespace bitale::rewriting {

namespace {

std::int64_t static_of(const Variable& v, int axis) { return v.static_shape()[std::size_t(axis)]; }

std::optional<Variables> shape_to_lengths(FunctionGraph&, const Apply& node) {
  const Variable& x = node.input(0);
  Variables all;
  for (int axis = 0; axis < x.ndim(); ++axis) all.push_back(shape_i(x, axis));
  return one(make_vector(all, DType::Int64));
}

// The length of f(a, b) in terms of the lengths of a and b; where it is one of these, also further towards the inputs.
std::optional<Variables> infer_length(FunctionGraph& graph, const Apply& node) {
  Variable length = node.output();
  // Bounded, since a user's op may give the length of a variable that depends on it.
  for (std::size_t left = graph.node_count(); left > 0; --left) {
    const auto* op = op_as<ShapeI>(length);
    if (!op) break;
    const Variable x = length.owner().input(0);
    if (static_of(x, op->i) != unknown_length) return one(int64_constant(static_of(x, op->i)));
    if (!x.has_owner() || touches_complex(x.owner())) break;  // as the engine, which applies no rule there
    const Variables inferred = inferred_lengths(x);
    if (inferred.empty()) break;
    length = inferred[std::size_t(op->i)];
  }
  return length.same_as(node.output()) ? std::nullopt : one(fit(length, node.output()));
}

// ---- reshape --------------------------------------------------------------------------------------------------------

std::optional<Variables> reshape_of_reshape(FunctionGraph&, const Apply& node) {
  const Variable& inner = node.input(0);
  // Adding or dropping dimensions does not change the order of elements.
  const auto* view = op_as<DimShuffle>(inner);
  if (!op_as<Reshape>(inner) && !(view && view->keeps_order())) return std::nullopt;
  return one(fit(node.op()({inner.owner().input(0), node.input(1)}), node.output()));
}

std::optional<Variables> useless_reshape(FunctionGraph&, const Apply& node) {
  const Variable &x = node.input(0), &lengths = node.input(1);
  const Variable output = node.output();
  if (x.ndim() != output.ndim()) return std::nullopt;
  // At most one length may be undetermined: the number of elements determines it.
  int open = 0;
  bool may_be_empty = false;  // because of a length other than the undetermined one
  for (int axis = 0; axis < x.ndim(); ++axis) {
    if (static_of(x, axis) != unknown_length && static_of(x, axis) == static_of(output, axis)) {
      may_be_empty |= static_of(x, axis) == 0;
      continue;
    }
    const Variable length = op_as<MakeVector>(lengths) ? lengths.owner().input(axis) : Variable();
    if (length.defined() && is_length_of(length, x, axis)) {
      may_be_empty |= static_of(x, axis) == unknown_length;
      continue;
    }
    if (static_of(x, axis) != unknown_length && static_of(output, axis) != unknown_length) return std::nullopt;
    // A computed length may be wrong, which must remain an error.
    if (length.defined() && !known_integer(length)) return std::nullopt;
    ++open;
  }
  // An undetermined length next to a length of 0 is not determined by the number of elements.
  if (open > 1 || (open == 1 && may_be_empty)) return std::nullopt;
  return one(fit(x, output));
}

// In the specialize phase, dimensions of length 1 that a view adds to a reshape, or drops from it, become part of the
// reshape.
std::optional<Variables> view_of_reshape(FunctionGraph& graph, const Apply& node) {
  const Variable& inner = node.input(0);
  const auto& view = *op_as<DimShuffle>(node.output());
  if (!op_as<Reshape>(inner) || !view.keeps_order() || graph.clients(inner).size() != 1) return std::nullopt;
  const Variable& lengths = inner.owner().input(1);
  const Array* known = lengths.constant();
  if (!known && !op_as<MakeVector>(lengths)) return std::nullopt;
  Variables all;
  for (int axis : view.new_order) {
    if (axis == new_axis)
      all.push_back(int64_constant(1));
    else
      all.push_back(known ? int64_constant(known->take_index(0, axis).int_item()) : lengths.owner().input(axis));
  }
  return one(fit(reshape(inner.owner().input(0), all), node.output()));
}

// The reshape of f(x) is f of the reshape of x, if x is the only operand that is not a single number.
std::optional<Variables> reshape_of_elemwise(FunctionGraph& graph, const Apply& node) {
  const Variable& inner = node.input(0);
  if (!scalar_op_of(inner) || graph.clients(inner).size() != 1 || inner.ndim() == 0) return std::nullopt;
  Variables operands;
  int longer = 0;
  for (auto& operand : inner.owner().inputs()) {
    if (is_single(operand)) {
      operands.push_back(dimshuffle(operand, std::vector<int>(std::size_t(node.output().ndim()), new_axis)));
    } else {
      if (++longer > 1 || !same_broadcast(operand, inner)) return std::nullopt;
      operands.push_back(node.op()({operand, node.input(1)}));
    }
  }
  if (longer != 1) return std::nullopt;
  return one(fit(inner.owner().op()(operands), node.output()));
}

std::vector<int> longer_axes(const Variable& v) {
  std::vector<int> out;
  for (int axis = 0; axis < v.ndim(); ++axis)
    if (!is_one(v, axis)) out.push_back(axis);
  return out;
}

// The length that a reshape requests for one dimension; nothing if it is an element of a computed vector.
std::optional<Variable> requested_length(const Variable& lengths, int axis) {
  if (const Array* known = lengths.constant()) return int64_constant(known->take_index(0, axis).int_item());
  if (op_as<MakeVector>(lengths)) return lengths.owner().input(axis);
  return std::nullopt;
}

// A reshape that only adds or drops dimensions of length 1.
std::optional<Variables> reshape_to_dimshuffle(FunctionGraph&, const Apply& node) {
  const Variable& x = node.input(0);
  const Variable output = node.output();
  const std::vector<int> from = longer_axes(x), to = longer_axes(output);
  if (from.size() != to.size() || x.ndim() == output.ndim()) return std::nullopt;
  int open = 0;
  for (std::size_t k = 0; k < from.size(); ++k) {
    const std::int64_t a = static_of(x, from[k]), b = static_of(output, to[k]);
    if (a != unknown_length && b != unknown_length) {
      if (a != b || a == 0) return std::nullopt;
      continue;
    }
    ++open;
    // A view has the actual length: a reshape that requests a possibly different length must be kept.
    const std::optional<Variable> requested = requested_length(node.input(1), to[k]);
    if (!requested) return std::nullopt;
    if (known_integer(*requested) != -1 && !is_same_length(*requested, length_of(x, from[k]))) return std::nullopt;
  }
  if (open > 1) return std::nullopt;
  std::vector<int> order(std::size_t(output.ndim()), new_axis);
  for (std::size_t k = 0; k < from.size(); ++k) order[std::size_t(to[k])] = from[k];
  return one(fit(dimshuffle(x, order), output));
}

// ---- specify_shape --------------------------------------------------------------------------------------------------

std::optional<Variables> useless_specify_shape(FunctionGraph&, const Apply& node) {
  const Variable& x = node.input(0);
  const auto& axes = op_as<SpecifyShape>(node.output())->axes;
  for (std::size_t k = 0; k < axes.size(); ++k)
    if (!is_length_of(node.input(int(1 + k)), x, axes[k])) return std::nullopt;
  return one(x);
}

// Nested promises are merged; for a dimension that both name, they must agree.
std::optional<Variables> promise_of_promise(FunctionGraph&, const Apply& node) {
  const Variable& inner = node.input(0);
  const auto* below = op_as<SpecifyShape>(inner);
  if (!below) return std::nullopt;
  const Apply first = inner.owner();
  const auto& axes = op_as<SpecifyShape>(node.output())->axes;
  std::vector<std::optional<Operand>> lengths(std::size_t(inner.ndim()));
  for (std::size_t k = 0; k < below->axes.size(); ++k)
    lengths[std::size_t(below->axes[k])] = Operand(first.input(int(1 + k)));
  for (std::size_t k = 0; k < axes.size(); ++k) {
    auto& length = lengths[std::size_t(axes[k])];
    const Variable& again = node.input(int(1 + k));
    const bool agrees = !length || length->variable.same_as(again) ||
                        (known_integer(again) && known_integer(again) == known_integer(length->variable));
    if (!agrees) return std::nullopt;
    length = Operand(again);
  }
  return one(fit(specify_shape(first.input(0), lengths), node.output()));
}

// A promise about an elementwise result is moved to its operands.
std::optional<Variables> promise_of_elemwise(FunctionGraph& graph, const Apply& node) {
  const Variable& inner = node.input(0);
  if (!scalar_op_of(inner) || graph.clients(inner).size() != 1) return std::nullopt;
  const auto& axes = op_as<SpecifyShape>(node.output())->axes;
  for (int axis : axes)
    if (is_one(inner, axis)) return std::nullopt;
  Variables operands;
  for (auto& operand : inner.owner().inputs()) {
    std::vector<std::optional<Operand>> lengths(std::size_t(inner.ndim()));
    bool promises = false;
    for (std::size_t k = 0; k < axes.size(); ++k) {
      if (static_of(operand, axes[k]) != unknown_length) continue;  // broadcast, or known already
      lengths[std::size_t(axes[k])] = Operand(node.input(int(1 + k)));
      promises = true;
    }
    operands.push_back(promises ? specify_shape(operand, lengths) : operand);
  }
  return one(fit(inner.owner().op()(operands), node.output()));
}

// A promise about an updated array is moved to the array.
std::optional<Variables> promise_of_update(FunctionGraph&, const Apply& node) {
  const Variable& inner = node.input(0);
  if (!op_as<IncSubtensor>(inner)) return std::nullopt;
  Variables promise = node.inputs(), inputs = inner.owner().inputs();
  promise[0] = inputs[0];
  inputs[0] = node.op()(promise);
  return one(fit(inner.owner().op()(inputs), node.output()));
}

// Markers for gradients have no effect any more when rewriting begins.
std::optional<Variables> pass_on(FunctionGraph&, const Apply& node) { return one(node.input(0)); }

void declare_shape(Rules& rules) {
  const std::vector<int> rows{1};
  rules.function("shape_to_lengths", Root::op({"Shape"}), shape_to_lengths)
      .doc("Rewrites a shape as a vector of lengths.")
      .tags(canonicalize, specialize, "local_shape_to_shape_i", "local_shape_ground", "local_subtensor_shape_constant")
      .sample([] { return shape(sample_matrix()); });
  rules.function("infer_length", Root::op({"Shape_i"}), infer_length)
      .doc("Computes the length of a result from the lengths of the operands, without computing the result.")
      .tags(useless, canonicalize, specialize, "local_track_shape_i", "local_Shape_i_ground", "ShapeOpt",
            "local_Shape_of_SpecifyShape")
      .sample([] { return (*make_ref<ShapeI>(0))({exp(sample_matrix())}); })
      .sample([] { return (*make_ref<ShapeI>(1))({transpose(sample_matrix())}); })
      .sample([] { return (*make_ref<ShapeI>(0))({sample_leaf(DType::Int8, {3})}); });
  rules.function("reshape_of_reshape", Root::op({"Reshape"}), reshape_of_reshape)
      .doc("Merges nested reshapes into the outermost one.")
      .tags(canonicalize, specialize, shape_unsafe, "local_reshape_chain", "local_fuse_squeeze_reshape",
            "local_useless_expand_dims_in_reshape", "local_reshape_dimshuffle")
      .sample([] {
        return reshape(reshape(sample_leaf(DType::Float64, {6}), {int64_constant(2), int64_constant(3)}),
                       {int64_constant(3), int64_constant(2)});
      })
      .sample([] { return flatten(expand_dims(sample_matrix(), 1)); });
  rules.function("useless_reshape", Root::op({"Reshape"}), useless_reshape)
      .doc("Removes a reshape to the same shape.")
      .tags(useless, canonicalize, specialize, shape_unsafe, "local_useless_reshape")
      .sample([] {
        const Variable x = sample_matrix();
        return exp(reshape(x, {shape_i(x, 0), shape_i(x, 1)}));
      })
      .sample([] { return exp(reshape(sample_vector(), Variables{int64_constant(-1)})); });
  rules.function("reshape_to_dimshuffle", Root::op({"Reshape"}), reshape_to_dimshuffle)
      .doc("Rewrites a reshape that only adds or drops dimensions of length 1 as a DimShuffle.")
      .tags(canonicalize, shape_unsafe, "local_reshape_to_dimshuffle")
      .sample([] {
        return reshape(sample_vector(), {int64_constant(-1), int64_constant(1)});
      });
  rules.function("useless_specify_shape", Root::op({"SpecifyShape"}), useless_specify_shape)
      .doc("Removes a specify_shape whose lengths are already known.")
      .tags(useless, canonicalize, stabilize, structural, specialize, "local_useless_specify_shape")
      .sample([] {
        return exp(
            (*make_ref<SpecifyShape>(std::vector<int>{0}))({sample_leaf(DType::Float64, {3}), int64_constant(3)}));
      });
  rules.function("promise_of_promise", Root::op({"SpecifyShape"}), promise_of_promise)
      .doc("Merges two nested specify_shapes into one.")
      .tags(useless, canonicalize, specialize, "local_merge_consecutive_specify_shape")
      .sample([] {
        return specify_shape(specify_shape(sample_matrix(), {std::nullopt, Operand(3)}), {Operand(3), std::nullopt});
      });
  rules.function("promise_of_elemwise", Root::op({"SpecifyShape"}), promise_of_elemwise)
      .doc("Moves a specify_shape of an elementwise result to the operands.")
      .tags(canonicalize, specialize, "local_lift_specify_shape_elemwise")
      .sample([] { return specify_shape(exp(sample_vector()) * sample_vector(), {Operand(3)}); })
      .sample([] { return specify_shape(exp(sample_vector()) * 2, {Operand(sample_leaf(DType::Int64, {}))}); });
  rules.function("promise_of_update", Root::op({"SpecifyShape"}), promise_of_update)
      .doc("Moves a specify_shape of an updated array to the array before the update.")
      .tags(canonicalize, specialize, "local_lift_specify_shape_inc_subtensor")
      .sample([] { return specify_shape(inc_subtensor(sample_vector(), {IndexItem(1)}, 2.5), {Operand(3)}); });
  rules.function("view_of_reshape", Root::op({"DimShuffle"}), view_of_reshape)
      .doc("Merges a DimShuffle that adds or drops dimensions of length 1 into the reshape below it.")
      .tags(specialize, "local_fuse_expand_dims_reshape")
      .sample([] { return expand_dims(flatten(sample_matrix()), 1); })
      .sample([] {
        const Variable x = sample_matrix();
        return expand_dims(reshape(x, {shape_i(x, 1), shape_i(x, 0)}), 1);
      });
  rules.function("reshape_of_elemwise", Root::op({"Reshape"}), reshape_of_elemwise)
      .doc("Moves a reshape of an elementwise result to the operand.")
      .tags(canonicalize, specialize, "local_reshape_lift")
      .sample([] { return flatten(exp(sample_matrix())); })
      .sample([] { return flatten(2 * sample_matrix()); });
  rules
      .function("gradient_marker", Root::op({"ZeroGrad", "DisconnectedGrad", "UndefinedGrad", "GradScale", "GradClip"}),
                pass_on)
      .doc("Removes markers for differentiation (such as zero_grad), which only affect gradients.")
      .tags(useless, canonicalize, "local_view_op")
      .priority(50)
      .sample([] { return zero_grad(sample_vector()) + 1; })
      .sample([] { return disconnected_grad(sample_vector()) + 1; });
}

const RegisterRules register_shape("shape", declare_shape);

}  // namespace

}  // namespace bitale::rewriting

// DimShuffle rules: nested views are composed, identity views are removed, and elementwise operations are computed at
// the lowest possible rank.
#include "ops/shapes/dimshuffle.hpp"

#include <algorithm>

#include "ops/elementwise/elemwise.hpp"
#include "ops/shapes/make_vector.hpp"
#include "rules/vocabulary.hpp"

namespace bitale::rewriting {

namespace {

const DimShuffle& view(const Variable& v) { return *op_as<DimShuffle>(v); }

std::optional<Variables> useless_dimshuffle(FunctionGraph&, const Apply& node) {
  if (!view(node.output()).is_identity()) return std::nullopt;
  return one(node.input(0));
}

std::optional<Variables> join_dimshuffles(FunctionGraph&, const Apply& node) {
  const Variable& inner = node.input(0);
  const auto* below = op_as<DimShuffle>(inner);
  if (!below) return std::nullopt;
  std::vector<int> order = view(node.output()).new_order;
  for (int& axis : order)
    if (axis != new_axis) axis = below->new_order[std::size_t(axis)];
  return one(dimshuffle(inner.owner().input(0), order));
}

// A view of an elementwise result becomes an elementwise operation on views of the operands: operations then fuse, and
// views meet other views.
std::optional<Variables> lift(FunctionGraph& graph, const Apply& node) {
  const DimShuffle& outer = view(node.output());
  const Variable& value = node.input(0);
  if (!scalar_op_of(value) || graph.clients(value).size() != 1) return std::nullopt;
  Variables operands;
  for (auto& operand : value.owner().inputs()) operands.push_back(dimshuffle(operand, outer.new_order));
  return one(value.owner().op()(operands));
}

bool is_one_element(const Variable& v) {
  for (int axis = 0; axis < v.ndim(); ++axis)
    if (!is_one(v, axis)) return false;
  return true;
}

// Later, elements are computed at the lowest rank: dimensions that were inserted in the operands of an elementwise
// operation are inserted in its result instead.
bool is_inserted(const Variable& v, int axis) {
  if (v.is_constant()) return is_one(v, axis);
  const auto* op = op_as<DimShuffle>(v);
  return op && op->new_order[std::size_t(axis)] == new_axis;
}

Dims without_axes(const Array& value, const std::vector<int>& kept) {
  Dims out;
  for (int axis : kept) out.push_back(value.shape(axis));
  return out;
}

std::optional<Variables> sink(FunctionGraph&, const Apply& node) {
  const Variable output = node.output();
  std::vector<int> kept, order;
  for (int axis = 0; axis < output.ndim(); ++axis) {
    bool inserted = is_one(output, axis);
    for (auto& input : node.inputs()) inserted = inserted && is_inserted(input, axis);
    order.push_back(inserted ? new_axis : int(kept.size()));
    if (!inserted) kept.push_back(axis);
  }
  if (int(kept.size()) == output.ndim()) return std::nullopt;
  Variables operands;
  for (auto& input : node.inputs()) {
    std::vector<int> inner = kept;
    if (const auto* op = op_as<DimShuffle>(input)) {
      for (int& axis : inner) axis = op->new_order[std::size_t(axis)];
      operands.push_back(dimshuffle(input.owner().input(0), inner));
    } else {
      operands.push_back(constant(input.constant()->reshape(without_axes(*input.constant(), kept))));
    }
  }
  return one(dimshuffle(node.op()(operands), order));
}

// If all operands are transposed in the same way, the result is transposed instead: consumers that can read a matrix in
// either order then need no copy.
std::optional<Variables> sink_order(FunctionGraph&, const Apply& node) {
  const Variable output = node.output();
  std::vector<int> order;
  Variables operands;
  for (auto& input : node.inputs()) {
    if (is_one_element(input)) {
      operands.push_back(input);
      continue;
    }
    const auto* op = op_as<DimShuffle>(input);
    if (!op || !op->dropped().empty() || !op->inserted().empty()) return std::nullopt;
    if (!order.empty() && order != op->new_order) return std::nullopt;
    order = op->new_order;
    operands.push_back(input.owner().input(0));
  }
  if (order.empty()) return std::nullopt;
  return one(dimshuffle(node.op()(operands), order));
}

// A DimShuffle of a one-element MakeVector is a DimShuffle of its scalar.
std::optional<Variables> scalar_of_vector(FunctionGraph&, const Apply& node) {
  const Variable& vector = node.input(0);
  if (!op_as<MakeVector>(vector) || !is_one(vector, 0)) return std::nullopt;
  const Variable scalar = vector.owner().input(0);
  const std::vector<int> order(std::size_t(node.output().ndim()), new_axis);
  return one(fit(dimshuffle(scalar, order), node.output()));
}

void declare_dimshuffle(Rules& rules) {
  rules.function("useless_dimshuffle", Root::op({"DimShuffle"}), useless_dimshuffle)
      .doc("Removes a DimShuffle that is the identity.")
      .tags(useless, canonicalize, specialize, "local_useless_dimshuffle", "local_dimshuffle_lift")
      .sample([] {
        return exp((*make_ref<DimShuffle>(2, std::vector<int>{0, 1}))({sample_matrix()}));
      });
  rules.function("dimshuffle_of_dimshuffle", Root::op({"DimShuffle"}), join_dimshuffles)
      .with_input(Root::op({"DimShuffle"}))
      .doc("Merges two nested DimShuffles into one; x.T.T becomes x.")
      .tags(useless, canonicalize, stabilize, structural, specialize, "local_dimshuffle_lift")
      .sample([] { return transpose(transpose(sample_matrix())); })
      .sample([] {
        return dimshuffle(dimshuffle(sample_vector(), {new_axis, 0}), {1, new_axis, 0});
      });
  rules.function("dimshuffle_of_make_vector", Root::op({"DimShuffle"}), scalar_of_vector)
      .doc("Rewrites a DimShuffle of a one-element MakeVector as a DimShuffle of its scalar.")
      .tags(useless, canonicalize, specialize, "local_useless_dimshuffle_makevector")
      .sample([] { return squeeze(make_vector({sample_leaf(DType::Float64, {})})) + 1; })
      .sample([] { return expand_dims(make_vector({sample_leaf(DType::Float64, {})}), 0); });
  rules.function("dimshuffle_lift", Root::op({"DimShuffle"}), lift)
      .with_input(Root::elemwise())
      .doc("Moves a DimShuffle of an elementwise result to the operands.")
      .tags(canonicalize, stabilize, structural, "local_dimshuffle_lift")
      .sample([] { return transpose(exp(sample_matrix()) * transpose(sample_matrix())); })
      .sample([] {
        return squeeze(sin(sample_leaf(DType::Float64, {1, any_length})));
      })
      .sample([] { return sample_matrix() / exp(sample_vector()); });
  rules.function("compute_at_lowest_rank", Root::elemwise(), sink)
      .with_input(Root::op({"DimShuffle"}))
      .doc(
          "Inserts dimensions in the result of an elementwise operation instead of in its operands, so that it runs at "
          "the lowest rank.")
      .tags(specialize)
      .sample([] {
        const Variable s = sample_leaf(DType::Float64, {});
        return sample_matrix() * exp(dimshuffle(s, {new_axis, new_axis}));
      })
      .sample([] {
        const Variable x = sample_vector(), y = sample_vector();
        return sample_matrix() - (dimshuffle(x, {0, new_axis}) * 2 + dimshuffle(y, {0, new_axis}));
      });
  rules.function("elemwise_of_transposes", Root::elemwise(), sink_order)
      .with_input(Root::op({"DimShuffle"}))
      .doc("Transposes the result of an elementwise operation instead of its operands, where all are transposed alike.")
      .tags(specialize)
      .sample([] { return dot(transpose(sample_matrix()) * exp(transpose(sample_matrix())), sample_matrix()); })
      .sample([] { return 2 * transpose(sample_matrix()); });
}

const RegisterRules register_dimshuffle("dimshuffle", declare_dimshuffle);

}  // namespace

}  // namespace bitale::rewriting

// Views that only reorder, add or drop dimensions: nested ones join, those that change nothing go, and arithmetic on
// single numbers is done on scalars.
#include "ops/dimshuffle.hpp"

#include <algorithm>

#include "ops/elemwise.hpp"
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

// A transpose or squeeze of an elementwise result is taken of the operands instead: they fuse, and meet other views.
// New dimensions stay outside: elements are computed at the lowest rank.
std::optional<Variables> lift(FunctionGraph& graph, const Apply& node) {
  const DimShuffle& outer = view(node.output());
  const Variable& value = node.input(0);
  if (!scalar_op_of(value) || !outer.inserted().empty() || graph.clients(value).size() != 1) return std::nullopt;
  Variables operands;
  for (auto& operand : value.owner().inputs()) operands.push_back(dimshuffle(operand, outer.new_order));
  return one(value.owner().op()(operands));
}

// The number behind a variable of length 1 in all dimensions, where it is at hand as a scalar.
std::optional<Variable> as_scalar(const Variable& v) {
  if (v.ndim() == 0) return v;
  if (const Array* value = v.constant(); value && value->size() == 1) return constant(value->reshape(Dims{}));
  if (op_as<DimShuffle>(v) && v.owner().input(0).ndim() == 0) return v.owner().input(0);
  return std::nullopt;
}

std::optional<Variables> compute_on_scalars(FunctionGraph&, const Apply& node) {
  const Variable output = node.output();
  if (output.ndim() == 0 || !is_single(output)) return std::nullopt;
  Variables scalars;
  for (auto& input : node.inputs()) {
    const std::optional<Variable> scalar = as_scalar(input);
    if (!scalar) return std::nullopt;
    scalars.push_back(*scalar);
  }
  return one(padded(node.op()(scalars), output.ndim()));
}

void declare(Rules& rules) {
  rules.function("useless_dimshuffle", Root::op({"DimShuffle"}), useless_dimshuffle)
      .doc("A DimShuffle that changes nothing.")
      .tags(useless, canonicalize, specialize, "local_useless_dimshuffle", "local_dimshuffle_lift")
      .sample([] { return exp(dimshuffle(sample_matrix(), {0, 1})); });
  rules.function("dimshuffle_of_dimshuffle", Root::op({"DimShuffle"}), join_dimshuffles)
      .doc("Two views become one; x.T.T is x.")
      .tags(useless, canonicalize, stabilize, specialize, "local_dimshuffle_lift")
      .sample([] { return transpose(transpose(sample_matrix())); })
      .sample([] { return dimshuffle(dimshuffle(sample_vector(), {new_axis, 0}), {1, new_axis, 0}); });
  rules.function("dimshuffle_lift", Root::op({"DimShuffle"}), lift)
      .doc("A transpose or squeeze of an elementwise result is taken of the operands.")
      .tags(canonicalize, stabilize, specialize, "local_dimshuffle_lift")
      .sample([] { return transpose(exp(sample_matrix()) * transpose(sample_matrix())); })
      .sample([] { return squeeze(sin(sample_leaf(DType::Float64, {1, any_length}))); });
  rules.function("compute_on_scalars", Root::elemwise(), compute_on_scalars)
      .doc("Elementwise operations on broadcast scalars are done on the scalars.")
      .tags(specialize)
      .sample([] {
        const Variable s = sample_leaf(DType::Float64, {});
        return sample_matrix() * exp(dimshuffle(s, {new_axis, new_axis}));
      });
}

const RegisterRules registered("dimshuffle", declare);

}  // namespace

}  // namespace bitale::rewriting

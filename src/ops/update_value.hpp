// The value y of an update x[...] = y or x[...] += y: what dtypes it may have, how it fits the selected region, and how
// gradients come back to it. Shared by IncSubtensor and AdvancedIncSubtensor.
#pragma once

#include "bitale/graph/op.hpp"
#include "ops/lowering.hpp"
#include "ops/tensor_lowering.hpp"

namespace bitale {

// Whether updates convert a value of one dtype to the other by themselves: not a float to an integer.
bool may_be_put(DType from, DType to);
// TypeError when y has too many dimensions or a dtype that x can't take (a float into integers), ShapeError when known
// lengths do not fit the region.
void check_update_value(const Variable& x, const Variable& y, const Dims& region, std::string_view who);
// y converted to x's dtype and repeated over the region. ShapeError.
Array fitted_value(const Array& x, const Array& y, const Variable& y_variable, const Dims& region,
                   std::string_view who);
// Reads input y (number `input`) at an index of the region, in dtype x; says the checks of its lengths first.
ElementRule fitted_rule(Lowering& to, const Variable& x, const Variable& y, int input, std::vector<Expr> region,
                        std::string_view who);
// The same of whole tensors. ShapeError where the lengths don't fit.
TensorValue fitted_tensor(TensorLowering& to, const Variable& x, const Variable& y, int input, const Dims& region,
                          std::string_view who);
// The gradient of y from that of the region: summed where y was repeated, in y's dtype. Zero for integers.
Variable gradient_of_value(const Variable& y, const Variable& region_gradient);
// `front`, and behind it the node's inputs from the third on: the index.
Variables with_indices(const Apply& node, Variables front);
// The tangent of an indexed update by `op`, which sets or adds.
Variables pushforward_of_update(const Op& op, bool set, const Apply& node, std::span<const Variable> tangents);
// y with dimensions of length 1 in front up to `ndim`.
Variable padded_to(const Variable& y, int ndim);

}  // namespace bitale

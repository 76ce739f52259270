// The value y of an update x[...] = y or x[...] += y: its allowed dtypes, its broadcast to the selected region, and its
// gradient. Shared by IncSubtensor and AdvancedIncSubtensor.
#pragma once

#include "bitale/graph/op.hpp"
#include "bitale/ops/lowering.hpp"
#include "ops/tensor_lowering.hpp"

namespace bitale {

// Whether updates implicitly convert a value of one dtype to the other: not a float to an integer.
bool can_store_dtype(DType from, DType to);
// TypeError if y has too many dimensions or a dtype that x can't take (a float for integers), ShapeError if known
// lengths do not fit the region.
void check_update_value(const Variable& x, const Variable& y, const Dims& region, std::string_view who);
// y converted to x's dtype and broadcast to the region. ShapeError if it does not fit.
Array fitted_value(const Array& x, const Array& y, const Variable& y_variable, const Dims& region,
                   std::string_view who);
// Reads input y (number `input`) at an index of the region, in the dtype of x; first emits the checks of its lengths.
ElementRule fitted_rule(Lowering& to, const Variable& x, const Variable& y, int input, std::vector<Expr> region,
                        std::string_view who);
// The same for whole tensors. ShapeError if the lengths don't fit.
TensorValue fitted_tensor(TensorLowering& to, const Variable& x, const Variable& y, int input, const Dims& region,
                          std::string_view who);
// The gradient of y from that of the region: summed where y was broadcast, in y's dtype. Zero for integers.
Variable gradient_of_value(const Variable& y, const Variable& region_gradient);
// `front`, followed by the node's inputs from the third on, which are the index.
Variables with_indices(const Apply& node, Variables front);
// The tangent of an indexed update by `op`, which sets or adds.
Variables pushforward_of_update(const Op& op, bool set, const Apply& node, std::span<const Variable> tangents);
// y with leading dimensions of length 1 up to `ndim`.
Variable padded_to(const Variable& y, int ndim);

}  // namespace bitale

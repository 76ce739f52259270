// Products of tensors summed over some of their dimensions. Names and arguments are NumPy's. All become matrix
// products, batched where both operands keep a dimension.
#pragma once

#include <string_view>
#include <vector>

#include "bitale/ops/ops.hpp"

namespace bitale {

// Summed over axes_a[i] of a and axes_b[i] of b; the remaining dimensions of a come first. ShapeError for lengths that
// differ.
Variable tensordot(const Operand& a, const Operand& b, const std::vector<int>& axes_a, const std::vector<int>& axes_b);
// Summed over the last `axes` dimensions of a and the first of b.
Variable tensordot(const Operand& a, const Operand& b, int axes = 2);
// Products over the last dimension: of vectors, of matrices with vectors, of vectors with matrices. Leading dimensions
// are batches, which broadcast.
Variable vecdot(const Operand& x, const Operand& y);
Variable matvec(const Operand& x, const Operand& y);
Variable vecmat(const Operand& x, const Operand& y);
// Blocks of b, scaled by the elements of a; a missing dimension is 1 in front.
Variable kron(const Operand& a, const Operand& b);
// The sum that the subscripts specify ("ij,jk->ik", "...i,i", "ii"), as numpy.einsum. Two operands at a time are
// multiplied, first those whose product is smallest, as far as lengths are known. ValueError for subscripts that don't
// match the operands.
Variable einsum(std::string_view subscripts, const Operands& operands);

}  // namespace bitale

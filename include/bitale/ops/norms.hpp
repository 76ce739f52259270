// Norms of vectors along axes, and of matrices, with the names and arguments of the array-API standard. NumPy's `norm`,
// which tells the two apart by the number of axes, is in linalg.hpp.
#pragma once

#include "bitale/ops/linalg.hpp"

namespace bitale {

// The root of order `ord` of the sum of the powers of absolute values along the axes, together; the number of elements
// that are not 0 for an ord of 0, and the largest (smallest) absolute value for an infinite (negative infinite) one.
Variable vector_norm(const Operand& x, double ord = 2, const Axes& axis = all_axes, KeepDims keepdims = KeepDims::No);
// The norms of matrices: Frobenius, Nuclear, 1, -1, 2, -2, inf, -inf.
Variable matrix_norm(const Operand& x, const NormOrder& ord = MatrixNorm::Frobenius, KeepDims keepdims = KeepDims::No);

}  // namespace bitale

// Products of Arrays of equal float or integer dtype, for `perform`: by BLAS where possible, otherwise by loops.
#pragma once

#include "bitale/core/array.hpp"

namespace bitale {

// [m, k] · [k, n]; any strides.
Array matrix_product(const Array& x, const Array& y);
// [batch, m, k] · [batch, k, n] with equal batch lengths, or 1 in one of them.
Array batched_matrix_product(const Array& x, const Array& y);

}  // namespace bitale

// Systems of equations with positive definite matrices, for `solve`.
#pragma once

#include "bitale/ops/linalg.hpp"

namespace bitale {

// `lower`: the lower triangle of a is read, else the upper one.
Variable solve_definite(const Variable& a, const Variable& b, bool lower, int b_ndim, OnError on_error);

}  // namespace bitale

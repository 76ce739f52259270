// Systems of equations with symmetric and with banded matrices, for `solve`.
#pragma once

#include "bitale/ops/linalg.hpp"

namespace bitale {

// kind: "symmetric", with both triangles given, or "banded", any matrix whose zeros leave a band.
Variable solve_structured(const char* kind, const Variable& a, const Variable& b, int b_ndim, bool trans,
                          OnError on_error);

}  // namespace bitale

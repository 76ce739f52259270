// The square of a number with few bits is exact, and the exponential of the rest is a short series, since the rest is
// below 1e-4 wherever the result is neither 0 nor infinite.
#include "ops/scalar/exp_of_square.hpp"

#include <cmath>

#include "bitale/ops/ops.hpp"

namespace bitale::records {

Variable exp_of_square(const Variable& x, double factor) {
  if (x.dtype() != DType::Float64) return exp(factor * sqr(x));
  const double beyond = std::sqrt(784 / std::fabs(factor));  // the result is 0 or infinite
  const Variable inside = clip(x, -beyond, beyond), head = cast(cast(inside, DType::Float32), DType::Float64);
  const Variable rest = factor * ((inside - head) * (inside + head));
  return exp(factor * sqr(head)) * (1 + rest * (1 + rest * (0.5 + rest * (1.0 / 6))));
}

}  // namespace bitale::records

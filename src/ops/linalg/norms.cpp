// Norms, as expressions of reductions.
#include "bitale/ops/norms.hpp"

#include <cmath>

#include "bitale/ops/reductions.hpp"
#include "ops/elementwise/elemwise.hpp"
#include "ops/linalg/linalg_core.hpp"

namespace bitale {

Variable vector_norm(const Operand& x, double ord, const Axes& axis, KeepDims keepdims) {
  const LocationScope here(x.where);
  const Variable size = abs(as_float(x.variable));
  if (std::isinf(ord)) return ord > 0 ? max(size, axis, keepdims) : min(size, axis, keepdims);
  if (ord == 0) return cast(count_nonzero(size, axis, keepdims), size.dtype());
  if (ord == 1) return sum(size, axis, keepdims);
  if (ord == 2) return sqrt(sum(sqr(size), axis, keepdims));
  const auto number = [&](double value) { return cast(Operand(value), size.dtype()); };
  return pow(sum(pow(size, number(ord)), axis, keepdims), number(1 / ord));
}

Variable matrix_norm(const Operand& x, const NormOrder& ord, KeepDims keepdims) {
  const LocationScope here(x.where);
  return norm(require_matrices("matrix_norm", x), ord, Axes{{-2, -1}}, keepdims);
}

}  // namespace bitale

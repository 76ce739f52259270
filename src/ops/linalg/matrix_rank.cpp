// The rank of matrices and their pseudo-inverse by a tolerance, as expressions of singular values.
#include "bitale/ops/matrix_rank.hpp"

#include "bitale/core/dtype.hpp"
#include "bitale/core/error.hpp"
#include "bitale/ops/cumulative.hpp"
#include "bitale/ops/linalg.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/reductions.hpp"
#include "core/float_limits.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/complex/matrices.hpp"
#include "ops/linalg/linalg_core.hpp"

namespace bitale {

namespace {

Variable per_matrix(const Operand& tolerance, DType dtype) {
  const Variable value = cast(tolerance, dtype);
  return value.ndim() == 0 ? value : expand_dims(value, -1);
}

// The largest singular value, and 0 where there is none.
Variable largest_of(const Variable& s) { return max(s, Axes{{-1}}, KeepDims::Yes, 0.0); }

// max(m, n) eps
Variable rounding_of(const Variable& x, DType dtype) {
  const Variable larger = maximum(length_of(x, x.ndim() - 2), length_of(x, x.ndim() - 1));
  return mul(cast(larger, dtype), cast(Operand(machine_epsilon(dtype)), dtype));
}

}  // namespace

Variable matrix_rank(const Operand& x, const RankOptions& options) {
  const LocationScope here(x.where);
  if (options.tol && options.rtol) throw ValueError("matrix_rank: tol and rtol are both given");
  if (x.ndim() < 2) return cast(any(neq(x, 0)), DType::Int64);
  const Variable s = svdvals(x);
  if (options.tol) return count_nonzero(gt(s, per_matrix(*options.tol, s.dtype())), Axes{{-1}});
  const Variable relative = options.rtol ? per_matrix(*options.rtol, s.dtype()) : rounding_of(x.variable, s.dtype());
  return count_nonzero(gt(s, mul(largest_of(s), relative)), Axes{{-1}});
}

Variable pinv(const Operand& x, const Operand& rtol) {
  const LocationScope here(x.where);
  const Variable& a = require_matrices("pinv", x);
  const auto [u, s, vh] = svd(a, {.full_matrices = false});
  const Variable counts = gt(s, mul(largest_of(s), per_matrix(rtol, s.dtype())));
  const Variable inverted = switch_(counts, reciprocal(s), switch_(isnan(s), s, cast(Operand(0), s.dtype())));
  return matmul(mul(adjoint(vh), expand_dims(cast(inverted, vh.dtype()), -2)), adjoint(u));
}

}  // namespace bitale

// solve: systems with sparse matrices by what is assumed of them, under SciPy's names.
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/complex.hpp"
#include "bitale/ops/debugging.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/sparse/cholesky.hpp"
#include "bitale/sparse/functions.hpp"
#include "bitale/sparse/lu.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/option_names.hpp"

namespace bitale::sparse {

namespace {

Matrix conjugate(const Matrix& a) { return is_complex(a.dtype()) ? a.with_data(conj(a.data())) : a; }

// The matrix that one triangle stands for. The imaginary part of a Hermitian one's diagonal is not read.
Matrix mirrored(const Matrix& a, bool lower, bool is_hermitian) {
  const Matrix beside = lower ? tril(a, -1) : triu(a, 1);
  const Matrix other = (is_hermitian ? conjugate(beside) : beside).transpose().to(a.format());
  Matrix own = lower ? tril(a) : triu(a);
  if (is_hermitian && is_complex(a.dtype())) {
    const Variable on_diagonal = eq(own.pattern().position(0), own.pattern().position(1));
    own = own.with_data(switch_(on_diagonal, cast(real(own.data()), a.dtype()), own.data()));
  }
  return add(own, other);
}

Variable divided_by_diagonal(const Matrix& a, const Operand& b) {
  const auto height = known_integer(a.length(0)), width = known_integer(a.length(1));
  if (height && width && *height != *width)
    throw ShapeError(cat("sparse: solve: expected a square matrix, got ", a.str()));
  if (b.ndim() != 1 && b.ndim() != 2)
    throw TypeError(cat("sparse: solve: expected a vector or a matrix, got ", b.variable.str(), " of type ",
                        b.variable.type()->str()));
  const Variable elements = diag(a);
  const Variable checked =
      check_and_raise(elements, {all(neq(elements, 0)), eq(a.length(0), a.length(1))}, "LinAlgError",
                      "sparse: solve: the diagonal matrix has a 0, or is not square");
  std::vector<std::optional<Operand>> lengths(std::size_t(b.ndim()));
  lengths[0] = a.length(0);
  const Variable right = specify_shape(b, lengths);
  return right / (b.ndim() == 1 ? checked : expand_dims(checked, 1));
}

}  // namespace

Variable solve(const Matrix& given, const Operand& b, const SolveOptions& options) {
  const LocationScope here(b.where);
  // Factors are computed in the precision of the result.
  const DType right = is_complex(given.dtype()) ? b.dtype() : real(b).dtype(), own = promote(given.dtype(), right);
  const Matrix a = own == given.dtype() ? given : given.with_data(cast(given.data(), own));
  const auto [kind, lower, transposed] = options;
  if (kind == Assume::General) return Lu(a).solve(b, transposed ? Trans::transpose : Trans::none);
  if (kind == Assume::PositiveDefinite) {  // the transpose is the conjugate, and the other triangle the transposed one
    const Matrix read = lower ? a : a.transpose();
    return Cholesky(lower == transposed ? conjugate(read) : read).solve(b);
  }
  if (kind == Assume::Symmetric) return Lu(mirrored(a, lower, false)).solve(b);
  if (kind == Assume::Hermitian)
    return Lu(mirrored(a, lower, true)).solve(b, transposed ? Trans::transpose : Trans::none);
  if (kind == Assume::LowerTriangular || kind == Assume::UpperTriangular)
    return solve_triangular(
        a, b, {.lower = kind == Assume::LowerTriangular, .trans = transposed ? Trans::transpose : Trans::none});
  if (kind == Assume::Diagonal) return divided_by_diagonal(a, b);
  throw ValueError(
      cat("sparse: solve: expected assume_a \"pos\", \"gen\", \"sym\", \"her\", \"diagonal\", \"lower triangular\" or "
          "\"upper triangular\", got \"",
          option_name(kind), "\"; \"gen\" finds an order that keeps bands"));
}

}  // namespace bitale::sparse

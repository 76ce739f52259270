// Triangles of sparse matrices, and systems with them.
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/complex.hpp"
#include "bitale/ops/debugging.hpp"
#include "bitale/sparse/functions.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/sparse/factor.hpp"
#include "sparse/merge.hpp"

namespace bitale::sparse {

namespace {

Matrix triangle(const Matrix& a, bool lower, std::int64_t offset) {
  const Pattern& at = a.pattern();
  if (!at.is_static()) {
    const Variable diagonal = at.position(1) - cast(at.position(0), DType::Int64);
    return kept(a, lower ? le(diagonal, offset) : ge(diagonal, offset));
  }
  const Elements all = elements_of(at, "triangle");
  Elements elements(all.lengths[0], all.lengths[1]);
  std::vector<std::int64_t> from;
  for (std::size_t k = 0; k < all.rows.size(); ++k) {
    const std::int64_t diagonal = all.columns[k] - all.rows[k];
    if (lower ? diagonal > offset : diagonal < offset) continue;
    elements.add(all.rows[k], all.columns[k]);
    from.push_back(std::int64_t(k));
  }
  // They are in the order of the matrix's own.
  return Matrix(compress(elements, a.format()).pattern, subtensor(a.data(), {IndexItem(constant(Array(from)))}));
}

}  // namespace

Matrix tril(const Matrix& a, std::int64_t offset) { return triangle(a, true, offset); }
Matrix triu(const Matrix& a, std::int64_t offset) { return triangle(a, false, offset); }

Variable solve_triangular(const Matrix& a, const Operand& b, bool lower) {
  const LocationScope here(b.where);
  const auto height = known_integer(a.length(0)), width = known_integer(a.length(1));
  if (height && width && *height != *width)
    throw ShapeError(cat("sparse: solve_triangular: expected a square matrix, got ", a.str()));
  if (is_complex(a.dtype()))
    throw NotImplementedError(
        "sparse: solve_triangular: systems with triangles of complex matrices are not implemented; "
        "lu(tril(A)).solve(b) "
        "solves one with a static pattern");
  if (is_complex(b.dtype())) return complex(solve_triangular(a, real(b), lower), solve_triangular(a, imag(b), lower));
  // An upper triangle is the transpose of a lower one.
  const Matrix columns = (lower ? tril(a) : triu(a).transpose()).to(Format::csc);
  const Variable& bounds = columns.pattern().indptr();
  const Variable first = subtensor(bounds, {IndexItem(Slice{{}, -1, {}})});
  const Variable data = check_and_raise(
      columns.data(),
      {all(lt(first, columns.pattern().count())), all(ge(subtensor(bounds, {IndexItem(Slice{1, {}, {}})}), first + 1))},
      "LinAlgError", "sparse: solve_triangular: the matrix is singular, with an empty row or column");
  const Variable checked =
      check_and_raise(data, {all(neq(subtensor(data, {IndexItem(first)}), 0))}, "LinAlgError",
                      "sparse: solve_triangular: the matrix is singular, with a 0 on its diagonal");
  std::vector<std::optional<Operand>> lengths(std::size_t(b.ndim()));
  if (b.ndim() > 0) lengths[0] = a.length(0);
  return sparse_solve_triangular(checked, bounds, columns.pattern().indices(), specify_shape(b, lengths), !lower);
}

}  // namespace bitale::sparse

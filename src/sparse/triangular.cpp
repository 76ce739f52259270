// Triangles of sparse matrices, and systems with them.
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/complex.hpp"
#include "bitale/ops/debugging.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/segments.hpp"
#include "bitale/sparse/functions.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/sparse/factor.hpp"
#include "sparse/merge.hpp"
#include "sparse/real_form.hpp"

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

// x with L x == b, or L^T x == b, for a complex lower triangle: it is one with ones on its diagonal, times the
// diagonal.
Variable solve_complex(const Variable& data, const Variable& diagonal, const Pattern& at, const Variable& b,
                       bool transposed) {
  const Variable columns = segment_ids(at.indptr(), length_of(data, 0));
  const RealForm form = sparse_real_form(at.indptr(), at.indices(), true);
  const Variable values = in_real_form(data / subtensor(diagonal, {IndexItem(columns)}), form);
  const auto divided = [&](const Variable& x) { return x / (x.ndim() == 1 ? diagonal : expand_dims(diagonal, 1)); };
  const auto solved = [&](const Variable& x) {
    return from_interleaved(sparse_solve_triangular(values, form.bounds, form.rows, interleaved(x), transposed));
  };
  // The transposed real form is that of the adjoint matrix.
  return transposed ? conj(solved(conj(divided(b)))) : divided(solved(b));
}

}  // namespace

Matrix tril(const Matrix& a, std::int64_t offset) { return triangle(a, true, offset); }
Matrix triu(const Matrix& a, std::int64_t offset) { return triangle(a, false, offset); }

Variable solve_triangular(const Matrix& a, const Operand& b, const SolveTriangularOptions& options) {
  const LocationScope here(b.where);
  const auto height = known_integer(a.length(0)), width = known_integer(a.length(1));
  if (height && width && *height != *width)
    throw ShapeError(cat("sparse: solve_triangular: expected a square matrix, got ", a.str()));
  const bool is_complex_matrix = is_complex(a.dtype());
  if (is_complex(b.dtype()) && !is_complex_matrix)
    return complex(solve_triangular(a, real(b), options), solve_triangular(a, imag(b), options));
  // An upper triangle is the transpose of a lower one.
  const int offset = options.unit_diagonal ? 1 : 0;
  Matrix columns = (options.lower ? tril(a, -offset) : triu(a, offset).transpose()).to(Format::csc);
  if (options.trans == Trans::adjoint && is_complex_matrix) columns = columns.with_data(conj(columns.data()));
  if (options.unit_diagonal) columns = add(columns, square_diagonal(ones(Operands{a.length(0)}, a.dtype())));
  const bool transposed = options.lower == (options.trans != Trans::none);
  const Variable& bounds = columns.pattern().indptr();
  const Variable first = subtensor(bounds, {IndexItem(Slice{{}, -1, {}})});
  const auto checked = [&] {
    const Variable starts =
        check_and_raise(first,
                        {all(lt(first, columns.pattern().count())),
                         all(ge(subtensor(bounds, {IndexItem(Slice{1, {}, {}})}), first + 1))},
                        "LinAlgError", "sparse: solve_triangular: the matrix is singular, with an empty row or column");
    // Columns ascend, so an element of the diagonal that is stored is the first one of its column.
    const auto at_starts = [&](const Variable& x) { return subtensor(x, {IndexItem(starts)}); };
    const Variable row = at_starts(columns.pattern().indices());
    return check_and_raise(columns.data(),
                           {all(eq(row, arange(length_of(first, 0)))), all(neq(at_starts(columns.data()), 0))},
                           "LinAlgError", "sparse: solve_triangular: the matrix is singular, with a 0 on its diagonal");
  };
  const Variable data = options.unit_diagonal ? columns.data() : checked();
  std::vector<std::optional<Operand>> lengths(std::size_t(b.ndim()));
  if (b.ndim() > 0) lengths[0] = a.length(0);
  const Variable right = specify_shape(b, lengths);
  if (!is_complex_matrix) return sparse_solve_triangular(data, bounds, columns.pattern().indices(), right, transposed);
  if (b.ndim() != 1 && b.ndim() != 2)
    throw TypeError(cat("sparse solve: expected a vector or a matrix, got ", b.variable.str(), " of type ",
                        b.variable.type()->str()));
  const Variable own = cast(data, promote(data.dtype(), b.dtype()));  // before its precision is lost
  return solve_complex(own, subtensor(own, {IndexItem(first)}), columns.pattern(), right, transposed);
}

}  // namespace bitale::sparse

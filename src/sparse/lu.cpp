#include "bitale/sparse/lu.hpp"

#include <algorithm>
#include <utility>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/complex.hpp"
#include "bitale/ops/ops.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/sparse/lu.hpp"
#include "sparse/ordering.hpp"
#include "sparse/real_form.hpp"

namespace bitale::sparse {

namespace {

// The order of the columns, and the pattern of factors whose pivots are on the diagonal, or nothing.
struct Plan {
  std::vector<std::int64_t> order;
  FactorColumns factors;
};
// `with_factors`: whether their pattern is wanted. Of a matrix whose elements mostly have a partner on the other side
// of the diagonal, which is itself not empty, the order of a symmetric one; pivots are then mostly on the diagonal.
// Otherwise one that is good for all choices of pivots.
Plan plan_for(const Elements& elements, bool with_factors) {
  const auto n = std::size_t(elements.lengths[0]);
  const Neighbours neighbours = neighbours_of(elements);
  std::size_t on_diagonal = 0, symmetric = 0;  // of the latter, both sides of the diagonal together
  for (std::size_t k = 0; k < elements.rows.size(); ++k) on_diagonal += elements.rows[k] == elements.columns[k];
  for (auto& list : neighbours) symmetric += list.size();
  const std::size_t off_diagonal = elements.rows.size() - on_diagonal;
  if (on_diagonal == n && 4 * symmetric <= 5 * off_diagonal) {
    std::vector<std::int64_t> order = minimum_degree(neighbours);
    FactorColumns factors;
    if (with_factors) factors = factor_columns(neighbours, order, inverse_of(order));
    return {std::move(order), std::move(factors)};
  }
  std::vector<std::vector<std::int64_t>> columns(n);
  for (std::size_t k = 0; k < elements.rows.size(); ++k)
    columns[std::size_t(elements.columns[k])].push_back(elements.rows[k]);
  std::vector<std::int64_t> bounds = {0}, rows;
  for (auto& list : columns) {
    std::sort(list.begin(), list.end());
    rows.insert(rows.end(), list.begin(), list.end());
    bounds.push_back(std::int64_t(rows.size()));
  }
  return {column_minimum_degree(bounds, rows), {}};
}

// The matrix in compressed columns. ShapeError, NotImplementedError.
Matrix in_columns(const Matrix& a) {
  const Elements elements = elements_of(a.pattern(), "lu");
  if (elements.lengths[0] != elements.lengths[1])
    throw ShapeError(cat("sparse: lu: expected a square matrix, got ", a.str()));
  return a.to(Format::csc);
}

SparseLuMatrix operands(const Matrix& a, const Variable& order) {
  return {a.data(), a.pattern().indptr(), a.pattern().indices(), order};
}

}  // namespace

struct Lu::Complex {
  RealForm form;
  Lu factors;
};

Lu::Lu(const Matrix& a) : matrix_(in_columns(a)) {
  if (is_complex(a.dtype())) {
    RealForm form = real_form(matrix_);
    const Matrix matrix = form.matrix;
    complex_ = std::make_shared<const Complex>(Complex{std::move(form), Lu(matrix)});
    return;
  }
  Plan plan = plan_for(elements_of(matrix_.pattern(), "lu"), true);
  order_ = std::move(plan.order);
  permutation_ = index_vector(order_);
  Variables pattern;
  if (!plan.factors.bounds.empty()) pattern = {index_vector(plan.factors.bounds), index_vector(plan.factors.rows)};
  const SparseLuFactors factors = sparse_lu(operands(matrix_, permutation_), pattern);
  values_ = factors.values;
  bounds_ = factors.bounds;
  rows_ = factors.rows;
  row_order_ = factors.row_order;
}

const std::vector<std::int64_t>& Lu::column_order() const { return complex_ ? complex_->factors.order_ : order_; }

Variable Lu::solve(const Operand& b, bool transposed) const {
  const LocationScope here(b.where);
  // The transposed real form is that of the adjoint matrix.
  if (complex_ && transposed) return conj(from_real_form(complex_->factors.solve(real_form(conj(b)), true)));
  if (complex_) return from_real_form(complex_->factors.solve(real_form(b.variable)));
  if (is_complex(b.dtype())) return complex(solve(real(b), transposed), solve(imag(b), transposed));
  if (b.ndim() != 1 && b.ndim() != 2)
    throw TypeError(cat("sparse: lu: expected a vector or a matrix, got ", b.variable.str(), " of type ",
                        b.variable.type()->str()));
  const auto given = known_integer(length_of(b.variable, 0)), expected = known_integer(matrix_.length(0));
  if (given && *given != *expected)
    throw ShapeError(cat("sparse: lu: expected length ", *expected, ", got ", b.variable.str(), " with ", *given));
  std::vector<std::optional<Operand>> lengths(std::size_t(b.ndim()));
  lengths[0] = matrix_.length(0);
  return sparse_lu_solve(operands(matrix_, permutation_), {values_, bounds_, rows_, row_order_},
                         specify_shape(b, lengths), transposed);
}

Variable Lu::logdet() const { return complex_ ? complex_->factors.logdet() / 2 : slogdet()[1]; }

Variables Lu::slogdet() const {
  if (complex_) {
    const auto& [form, own] = *complex_;
    const Pattern& at = matrix_.pattern();
    const Variables sign = sparse_lu_complex_sign(
        operands(own.matrix_, own.permutation_), {own.values_, own.bounds_, own.rows_, own.row_order_},
        {index_vector(form.real), index_vector(form.imaginary), at.indptr(), at.indices(),
         index_vector(plan_for(elements_of(at, "lu"), false).order)});
    return {complex(sign[0], sign[1]), logdet()};
  }
  return sparse_lu_slogdet(operands(matrix_, permutation_), {values_, bounds_, rows_, row_order_});
}

}  // namespace bitale::sparse

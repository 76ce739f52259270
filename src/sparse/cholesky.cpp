#include "bitale/sparse/cholesky.hpp"

#include <algorithm>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/ops.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/sparse/factor.hpp"
#include "sparse/ordering.hpp"

namespace bitale::sparse {

namespace {

Variable index_vector(const std::vector<std::int64_t>& values) { return constant(Array(values)); }

}  // namespace

Cholesky::Cholesky(const Matrix& a) : matrix_(a) {
  const Elements elements = elements_of(a.pattern(), "cholesky");
  if (elements.lengths[0] != elements.lengths[1])
    throw ShapeError(cat("sparse: cholesky: expected a square matrix, got ", a.str()));
  const Neighbours neighbours = neighbours_of(elements);
  order_ = minimum_degree(neighbours);
  const std::vector<std::int64_t> inverse = inverse_of(order_);
  const FactorColumns columns = factor_columns(neighbours, order_, inverse);

  std::vector<std::int64_t> own_slots, sources;
  for (std::size_t k = 0; k < elements.rows.size(); ++k) {
    const auto [column, row] =
        std::minmax(inverse[std::size_t(elements.rows[k])], inverse[std::size_t(elements.columns[k])]);
    const auto begin = columns.rows.begin() + columns.bounds[std::size_t(column)];
    const auto end = columns.rows.begin() + columns.bounds[std::size_t(column) + 1];
    slot_.push_back(std::lower_bound(begin, end, row) - columns.rows.begin());
    if (elements.rows[k] < elements.columns[k]) continue;
    own_slots.push_back(slot_.back());
    sources.push_back(std::int64_t(k));
  }
  bounds_ = index_vector(columns.bounds);
  rows_ = index_vector(columns.rows);
  permutation_ = index_vector(order_);
  inverse_order_ = index_vector(inverse);
  const Variable empty = zeros({std::int64_t(columns.rows.size())}, a.dtype());
  triangle_ = set_subtensor(empty, {IndexItem(index_vector(own_slots))},
                            subtensor(a.data(), {IndexItem(index_vector(sources))}));
  factor_ = sparse_cholesky(triangle_, bounds_, rows_, permutation_);
}

Matrix Cholesky::factor() const {
  const Variable& n = matrix_.length(0);
  return Matrix(Pattern::unchecked(Format::csc, rows_, bounds_, n, n), factor_);
}

Variable Cholesky::ordered(const Operand& b) const {
  if (b.ndim() != 1 && b.ndim() != 2)
    throw TypeError(cat("sparse: cholesky: expected a vector or a matrix, got ", b.variable.str(), " of type ",
                        b.variable.type()->str()));
  const auto given = known_integer(length_of(b.variable, 0)), expected = known_integer(matrix_.length(0));
  if (given && *given != *expected)
    throw ShapeError(
        cat("sparse: cholesky: expected length ", *expected, ", got ", b.variable.str(), " with ", *given));
  std::vector<std::optional<Operand>> lengths(std::size_t(b.ndim()));
  lengths[0] = matrix_.length(0);
  return subtensor(specify_shape(b, lengths), {IndexItem(permutation_)});
}

Variable Cholesky::restored(const Variable& x) const { return subtensor(x, {IndexItem(inverse_order_)}); }

Variable Cholesky::solve(const Operand& b) const {
  const LocationScope here(b.where);
  return restored(sparse_solve(triangle_, factor_, bounds_, rows_, ordered(b)));
}

Variable Cholesky::logdet() const { return sparse_logdet(triangle_, factor_, bounds_, rows_, permutation_); }

Matrix Cholesky::selected_inverse() const {
  return matrix_.with_data(
      subtensor(sparse_selected_inverse(triangle_, factor_, bounds_, rows_), {IndexItem(index_vector(slot_))}));
}

Variable Cholesky::sample(const Operand& z) const {
  const LocationScope here(z.where);
  return restored(sparse_solve_triangular(factor_, bounds_, rows_, ordered(z), true));
}

}  // namespace bitale::sparse

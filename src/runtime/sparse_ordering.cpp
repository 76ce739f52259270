#include "runtime/sparse_ordering.hpp"

#define EIGEN_MPL2_ONLY
#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>
#include <algorithm>
#include <utility>

namespace bitale::runtime {

namespace {

// A symmetric pattern: the neighbours of each row, without the diagonal.
using Neighbours = std::vector<std::vector<std::int64_t>>;

Neighbours neighbours_of(const SparsePositions& elements) {
  Neighbours out(std::size_t(elements.size));
  for (std::size_t k = 0; k < elements.rows.size(); ++k) {
    const std::int64_t i = elements.rows[k], j = elements.columns[k];
    if (i == j) continue;
    out[std::size_t(i)].push_back(j);
    out[std::size_t(j)].push_back(i);
  }
  for (auto& list : out) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return out;
}

std::vector<std::int64_t> minimum_degree(const Neighbours& neighbours) {
  using Pattern = Eigen::SparseMatrix<signed char, Eigen::ColMajor, std::int64_t>;
  const auto n = std::int64_t(neighbours.size());
  if (n == 0) return {};  // Eigen would read behind the bounds of a matrix without columns
  std::vector<std::int64_t> lengths;
  for (const auto& list : neighbours) lengths.push_back(std::int64_t(list.size()) + 1);
  Pattern pattern(n, n);
  pattern.reserve(lengths);
  for (std::int64_t j = 0; j < n; ++j) {
    pattern.insert(j, j) = 1;  // Rows without a diagonal element would be ordered last.
    for (const std::int64_t i : neighbours[std::size_t(j)]) pattern.insert(i, j) = 1;
  }
  pattern.makeCompressed();
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, std::int64_t> order;
  Eigen::AMDOrdering<std::int64_t>()(pattern.selfadjointView<Eigen::Lower>(), order);
  return {order.indices().begin(), order.indices().end()};
}

std::vector<std::int64_t> column_minimum_degree(const std::vector<std::int64_t>& bounds,
                                                const std::vector<std::int64_t>& rows) {
  const auto n = std::int64_t(bounds.size()) - 1;
  const std::vector<signed char> ones(rows.size(), 1);
  const Eigen::Map<const Eigen::SparseMatrix<signed char, Eigen::ColMajor, std::int64_t>> pattern(
      n, n, std::int64_t(rows.size()), bounds.data(), rows.data(), ones.data());
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, std::int64_t> permutation;
  Eigen::COLAMDOrdering<std::int64_t>()(pattern, permutation);
  std::vector<std::int64_t> order(std::size_t(n), 0);
  for (std::int64_t j = 0; j < n; ++j) order[std::size_t(permutation.indices()[j])] = j;
  return order;
}

std::vector<std::int64_t> inverse_of(const std::vector<std::int64_t>& order) {
  std::vector<std::int64_t> out(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) out[std::size_t(order[k])] = std::int64_t(k);
  return out;
}

// A column has the rows of the matrix, and those of the columns whose first row below the diagonal it is.
FactorColumns factor_columns(const Neighbours& neighbours, const std::vector<std::int64_t>& order,
                             const std::vector<std::int64_t>& inverse) {
  const std::size_t n = neighbours.size();
  Neighbours below(n), children(n);
  std::vector<std::int64_t> mark(n, -1);
  FactorColumns out{{0}, {}};
  for (std::size_t j = 0; j < n; ++j) {
    auto& rows = below[j];
    const auto take = [&](std::int64_t i) {
      if (i > std::int64_t(j) && std::exchange(mark[std::size_t(i)], std::int64_t(j)) != std::int64_t(j))
        rows.push_back(i);
    };
    for (const std::int64_t i : neighbours[std::size_t(order[j])]) take(inverse[std::size_t(i)]);
    for (const std::int64_t k : children[j])
      for (const std::int64_t i : below[std::size_t(k)]) take(i);
    std::sort(rows.begin(), rows.end());
    if (!rows.empty()) children[std::size_t(rows[0])].push_back(std::int64_t(j));
    out.rows.push_back(std::int64_t(j));
    out.rows.insert(out.rows.end(), rows.begin(), rows.end());
    out.bounds.push_back(std::int64_t(out.rows.size()));
    for (const std::int64_t k : children[j]) std::vector<std::int64_t>().swap(below[std::size_t(k)]);
  }
  return out;
}

// Whether it did.
bool make_dense_if_faster(FactorColumns& columns) {
  const auto n = std::int64_t(columns.bounds.size()) - 1, stored = columns.bounds.back();
  if (n < 16 || stored * 5 < n * (n + 1)) return false;
  columns = {{0}, {}};
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = j; i < n; ++i) columns.rows.push_back(i);
    columns.bounds.push_back(std::int64_t(columns.rows.size()));
  }
  return true;
}

}  // namespace

CholeskyPlan cholesky_plan(const SparsePositions& elements) {
  const Neighbours neighbours = neighbours_of(elements);
  CholeskyPlan out;
  out.order = minimum_degree(neighbours);
  out.inverse = inverse_of(out.order);
  out.columns = factor_columns(neighbours, out.order, out.inverse);
  out.dense = make_dense_if_faster(out.columns);
  for (std::size_t k = 0; k < elements.rows.size(); ++k) {
    const auto [column, row] =
        std::minmax(out.inverse[std::size_t(elements.rows[k])], out.inverse[std::size_t(elements.columns[k])]);
    const auto begin = out.columns.rows.begin() + out.columns.bounds[std::size_t(column)];
    const auto end = out.columns.rows.begin() + out.columns.bounds[std::size_t(column) + 1];
    out.slots.push_back(std::lower_bound(begin, end, row) - out.columns.rows.begin());
  }
  return out;
}

LuPlan lu_plan(const SparsePositions& elements, bool with_factors) {
  const auto n = std::size_t(elements.size);
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

}  // namespace bitale::runtime

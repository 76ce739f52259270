// Transforms of a vector to a matrix. Which element goes where is an index that is known while the expression is built;
// products along rows are sums of logarithms.
#include <cmath>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/arrange.hpp"
#include "bitale/ops/cumulative.hpp"
#include "bitale/ops/linalg.hpp"
#include "bitale/stats/transforms.hpp"
#include "ops/analysis/lengths.hpp"
#include "stats/arguments.hpp"

namespace bitale::stats {

namespace {

const Axes row_axis{-1}, last_two{-2, -1};

// Positions in the lower triangle: those of a vector's elements, in its order. Stan packs factors by rows, and the
// partial correlations of correlation matrices by columns.
enum class Order { Rows, Columns };
struct Packing {
  std::vector<std::int64_t> rows, columns;

  Packing(int count, bool with_diagonal, Order order) {
    for (int i = 0; i < count; ++i)
      for (int j = 0; j < count; ++j) {
        const int row = order == Order::Rows ? i : j, column = order == Order::Rows ? j : i;
        if (row < column || (row == column && !with_diagonal)) continue;
        rows.push_back(row);
        columns.push_back(column);
      }
  }
  std::size_t size() const { return rows.size(); }
  // For each element of the matrix the position of its element of the vector, 0 where it has none.
  Variable positions(int count) const {
    std::vector<std::int64_t> flat(std::size_t(count) * std::size_t(count), 0);
    for (std::size_t k = 0; k < size(); ++k) flat[std::size_t(rows[k] * count + columns[k])] = std::int64_t(k);
    return reshape(constant(Array(flat)), {count, count});
  }
};

Variable row_minus_column(int count) { return expand_dims(arange(count), 1) - expand_dims(arange(count), 0); }

// A vector's elements in the lower triangle, and 0 elsewhere.
Variable unpacked(const Variable& y, int count, bool with_diagonal, Order order) {
  if (count == 1 && !with_diagonal)  // y has no elements
    return zeros_like(expand_dims(sum(y, row_axis, KeepDims::Yes), -1));
  const Packing packing(count, with_diagonal, order);
  const Variable all = take(y, packing.positions(count), y.ndim() - 1);
  return switch_(ge(row_minus_column(count), with_diagonal ? 0 : 1), all, 0);
}
Variable packed(const Variable& x, int count, bool with_diagonal, Order order) {
  const Packing packing(count, with_diagonal, order);
  return subtensor(x,
                   {Ellipsis(), IndexItem(constant(Array(packing.rows))), IndexItem(constant(Array(packing.columns)))});
}

struct Packed {
  LocationScope here;
  CallScope call;
  Variable values;

  Packed(const char* who, const Operand& given, int rows, bool with_diagonal) : here(given.where), call(who) {
    if (rows < 1) throw ValueError(cat(who, ": rows: expected at least 1, got ", rows));
    const std::int64_t size = std::int64_t(rows) * (rows + (with_diagonal ? 1 : -1)) / 2;
    const auto known = given.ndim() < 1 ? std::nullopt : known_integer(length_of(given.variable, given.ndim() - 1));
    if (given.ndim() < 1 || (known && *known != size))
      throw ShapeError(cat(who, ": for ", rows, " rows, expected ", size, " numbers along the last dimension, got ",
                           given.variable.str(), " of type ", given.variable.type()->str()));
    std::vector<std::optional<Operand>> lengths(std::size_t(given.ndim()));
    lengths.back() = size;
    values = specify_shape(cast(given.variable, common_dtype({&given.variable, 1})), lengths);
  }
};

struct Matrices {
  LocationScope here;
  CallScope call;
  Variable values;
  int rows = 0;

  Matrices(const char* who, const Operand& given) : here(given.where), call(who) {
    if (given.ndim() < 2)
      throw ShapeError(cat(who, ": expected at least 2 dimensions, got ", given.variable.str(), " of type ",
                           given.variable.type()->str()));
    const auto known = known_integer(length_of(given.variable, given.ndim() - 1));
    if (!known)
      throw NotImplementedError(cat(who, ": expected a known length, got ", given.variable.str(), " of type ",
                                    given.variable.type()->str(), ": state it by specify_shape"));
    rows = int(*known);
    values = cast(given.variable, common_dtype({&given.variable, 1}));
  }
};

// log(1 - tanh(y)^2).
Variable log_sech_squared(const Variable& y) {
  const Variable size = abs(y);
  return 2 * (log_two - size - log1p(exp(-2 * size)));
}

Variable without_last_addend(const Variable& x) { return cumsum(x, x.ndim() - 1) - x; }

// Rows of unit length from partial correlations tanh(y): element j is tanh(y[j]) times the root of what is left after
// the elements before it, and the diagonal is what is left at the end.
Variable rows_of_unit_length(const Variable& y, const Variable& log_rest, int count) {
  return (tanh(y) + eye(count, {}, 0, y.dtype())) * exp(0.5 * without_last_addend(log_rest));
}
Variable partial_correlations(const Variable& x) {
  const Variable left =
      flip(cumsum(flip(sqr(x), row_axis), x.ndim() - 1), row_axis);  // of the squares, from each element on
  return x / sqrt(left);
}

// The sum of y's function log_rest, with a weight for each element.
template <class Weight>
Variable weighted_sum(const Variable& log_rest, int count, Weight weight) {
  std::vector<double> weights;
  for (int i = 0; i < count; ++i)
    for (int j = 0; j < count; ++j) weights.push_back(j < i ? weight(i, j) : 0);
  const Variable table = reshape(cast(constant(Array(weights)), log_rest.dtype()), {count, count});
  return sum(log_rest * table, last_two);
}

// The lower triangle of y, by rows, with exp on the diagonal; and the logarithms of the diagonal.
struct Factor {
  Variable matrix, log_diagonal;
  Factor(const Variable& y, int count) {
    const Variable all = unpacked(y, count, true, Order::Rows);
    log_diagonal = diagonal(all, 0, -2, -1);
    matrix = switch_(eq(row_minus_column(count), 0), exp(all), all);
  }
};
Variable packed_factor(const Variable& factor, int count) {
  const Variable is_diagonal = eq(row_minus_column(count), 0);
  return packed(switch_(is_diagonal, log(switch_(is_diagonal, factor, 1)), factor), count, true, Order::Rows);
}

}  // namespace

Constrained cholesky_corr(const Operand& y, int rows) {
  const Packed given("cholesky_corr", y, rows, false);
  const Variable all = unpacked(given.values, rows, false, Order::Rows), log_rest = log_sech_squared(all);
  return {rows_of_unit_length(all, log_rest, rows),
          weighted_sum(log_rest, rows, [](int i, int j) { return 1 + 0.5 * (i - 1 - j); })};
}
Variable cholesky_corr_inverse(const Operand& x) {
  const Matrices given("cholesky_corr_inverse", x);
  return arctanh(packed(partial_correlations(given.values), given.rows, false, Order::Rows));
}

Constrained corr_matrix(const Operand& y, int rows) {
  const Packed given("corr_matrix", y, rows, false);
  const Variable all = unpacked(given.values, rows, false, Order::Columns), log_rest = log_sech_squared(all);
  const Variable factor = rows_of_unit_length(all, log_rest, rows);
  return {matmul(factor, matrix_transpose(factor)),
          weighted_sum(log_rest, rows, [rows](int, int j) { return 1 + 0.5 * (rows - j - 2); })};
}
Variable corr_matrix_inverse(const Operand& x) {
  const Matrices given("corr_matrix_inverse", x);
  const Variable factor = cholesky(given.values, {.on_error = OnError::Nan});
  return arctanh(packed(partial_correlations(factor), given.rows, false, Order::Columns));
}

Constrained cholesky_cov(const Operand& y, int rows) {
  const Packed given("cholesky_cov", y, rows, true);
  const Factor factor(given.values, rows);
  return {factor.matrix, sum(factor.log_diagonal, row_axis)};
}
Variable cholesky_cov_inverse(const Operand& x) {
  const Matrices given("cholesky_cov_inverse", x);
  return packed_factor(given.values, given.rows);
}

// Column k of the factor counts K - k + 1 times (k from 0), each diagonal element of the product twice.
Constrained cov_matrix(const Operand& y, int rows) {
  const Packed given("cov_matrix", y, rows, true);
  const Factor factor(given.values, rows);
  const Variable weights = cast(rows + 1 - arange(rows), factor.log_diagonal.dtype());
  return {matmul(factor.matrix, matrix_transpose(factor.matrix)),
          sum(factor.log_diagonal * weights, row_axis) + rows * log_two};
}
Variable cov_matrix_inverse(const Operand& x) {
  const Matrices given("cov_matrix_inverse", x);
  return packed_factor(cholesky(given.values, {.on_error = OnError::Nan}), given.rows);
}

}  // namespace bitale::stats

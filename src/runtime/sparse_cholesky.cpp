#include "runtime/sparse_cholesky.hpp"

#include <cmath>
#include <vector>

namespace bitale::runtime {

namespace {

// For one column: which rows it has, and the position of each.
class ColumnRows {
 public:
  explicit ColumnRows(std::int64_t size) : column_(std::size_t(size), -1), position_(std::size_t(size)) {}
  void take(const FactorPattern& pattern, std::int64_t column) {
    now_ = column;
    for (std::int64_t p = pattern.bounds[column] + 1; p < pattern.bounds[column + 1]; ++p) {
      column_[std::size_t(pattern.rows[p])] = column;
      position_[std::size_t(pattern.rows[p])] = p;
    }
  }
  bool has(std::int64_t row) const { return column_[std::size_t(row)] == now_; }
  std::int64_t position(std::int64_t row) const { return position_[std::size_t(row)]; }

 private:
  std::int64_t now_ = -1;
  std::vector<std::int64_t> column_, position_;
};

}  // namespace

template <class T>
std::int64_t sparse_cholesky(const FactorPattern& pattern, T* values) {
  const auto [n, bounds, rows] = pattern;
  // The columns whose next row is j, as a list that begins at first[j]; `at` is the position of that row.
  std::vector<std::int64_t> first(std::size_t(n), -1), next(std::size_t(n), -1), at(std::size_t(n), 0);
  std::vector<T> work(std::size_t(n), T(0));
  const auto wait_for_row = [&](std::int64_t column, std::int64_t position) {
    if (position == bounds[column + 1]) return;
    const auto row = std::size_t(rows[position]);
    at[std::size_t(column)] = position;
    next[std::size_t(column)] = first[row];
    first[row] = column;
  };
  for (std::int64_t j = 0; j < n; ++j) {
    const std::int64_t start = bounds[j], end = bounds[j + 1];
    for (std::int64_t p = start; p < end; ++p) work[std::size_t(rows[p])] = values[p];
    for (std::int64_t k = first[std::size_t(j)]; k >= 0;) {
      const std::int64_t following = next[std::size_t(k)], position = at[std::size_t(k)];
      const T factor = values[position];
      for (std::int64_t p = position; p < bounds[k + 1]; ++p) work[std::size_t(rows[p])] -= values[p] * factor;
      wait_for_row(k, position + 1);
      k = following;
    }
    const T pivot = work[std::size_t(j)];
    if (!(pivot > 0) || !std::isfinite(pivot)) return j + 1;
    const T root = std::sqrt(pivot);
    values[start] = root;
    for (std::int64_t p = start + 1; p < end; ++p) values[p] = work[std::size_t(rows[p])] / root;
    wait_for_row(j, start + 1);
  }
  return 0;
}

template <class T>
void sparse_cholesky_gradient(const FactorPattern& pattern, const T* factor, T* gradient) {
  const auto [n, bounds, rows] = pattern;
  ColumnRows column(n);
  for (std::int64_t k = n; k-- > 0;) {
    const std::int64_t start = bounds[k], end = bounds[k + 1];
    column.take(pattern, k);
    for (std::int64_t p = start + 1; p < end; ++p)
      for (std::int64_t q = bounds[rows[p]]; q < bounds[rows[p] + 1]; ++q) {
        if (!column.has(rows[q])) continue;
        const std::int64_t other = column.position(rows[q]);
        gradient[other] -= gradient[q] * factor[p];
        gradient[p] -= gradient[q] * factor[other];
      }
    for (std::int64_t p = start + 1; p < end; ++p) {
      gradient[p] /= factor[start];
      gradient[start] -= gradient[p] * factor[p];
    }
    gradient[start] /= 2 * factor[start];
  }
}

template <class T>
void sparse_solve_triangular(const FactorPattern& pattern, const T* factor, bool transposed, std::int64_t columns,
                             T* x) {
  const auto [n, bounds, rows] = pattern;
  for (std::int64_t step = 0; step < n; ++step) {
    const std::int64_t j = transposed ? n - 1 - step : step;
    T* own = x + j * columns;
    const auto divide = [&] {
      for (std::int64_t c = 0; c < columns; ++c) own[c] /= factor[bounds[j]];
    };
    if (!transposed) divide();
    for (std::int64_t p = bounds[j] + 1; p < bounds[j + 1]; ++p) {
      T* other = x + rows[p] * columns;
      T* to = transposed ? own : other;
      const T* from = transposed ? other : own;
      for (std::int64_t c = 0; c < columns; ++c) to[c] -= factor[p] * from[c];
    }
    if (transposed) divide();
  }
}

template <class T>
void sparse_selected_inverse(const FactorPattern& pattern, const T* factor, T* inverse) {
  const auto [n, bounds, rows] = pattern;
  ColumnRows column(n);
  std::vector<T> sums(std::size_t(n), T(0));
  for (std::int64_t j = n; j-- > 0;) {
    const std::int64_t start = bounds[j], end = bounds[j + 1];
    column.take(pattern, j);
    for (std::int64_t p = start + 1; p < end; ++p) sums[std::size_t(rows[p])] = 0;
    for (std::int64_t p = start + 1; p < end; ++p) {
      const std::int64_t k = rows[p];
      for (std::int64_t q = bounds[k]; q < bounds[k + 1]; ++q) {
        if (q > bounds[k] && !column.has(rows[q])) continue;
        sums[std::size_t(rows[q])] += inverse[q] * factor[p];
        if (q > bounds[k]) sums[std::size_t(k)] += inverse[q] * factor[column.position(rows[q])];
      }
    }
    T on_diagonal = 1 / factor[start];
    for (std::int64_t p = start + 1; p < end; ++p) {
      inverse[p] = -sums[std::size_t(rows[p])] / factor[start];
      on_diagonal -= factor[p] * inverse[p];
    }
    inverse[start] = on_diagonal / factor[start];
  }
}

#define BITALE_INSTANTIATE(T)                                                                       \
  template std::int64_t sparse_cholesky<T>(const FactorPattern&, T*);                               \
  template void sparse_cholesky_gradient<T>(const FactorPattern&, const T*, T*);                    \
  template void sparse_solve_triangular<T>(const FactorPattern&, const T*, bool, std::int64_t, T*); \
  template void sparse_selected_inverse<T>(const FactorPattern&, const T*, T*);
BITALE_INSTANTIATE(float)
BITALE_INSTANTIATE(double)
#undef BITALE_INSTANTIATE

}  // namespace bitale::runtime

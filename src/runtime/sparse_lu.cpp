#include "runtime/sparse_lu.hpp"

#include <cmath>
#include <complex>
#include <utility>

namespace bitale::runtime {

namespace {

// The elimination under way. Elements of L have the matrix's rows until all rows are pivots.
template <class T>
class Elimination {
 public:
  Elimination(const SparseColumns& a, const T* values, const std::int64_t* column_order)
      : a_(a),
        values_(values),
        order_(column_order),
        step_of_(length(a), -1),
        row_of_(length(a)),
        mark_(length(a), -1),
        column_(length(a), T(0)),
        searched_(length(a)) {
    lower_bounds_.push_back(0);
    upper_bounds_.push_back(0);
  }

  std::int64_t run() {
    for (std::int64_t k = 0; k < a_.size; ++k) {
      find_rows(k);
      update_column(k);
      if (!choose_pivot(k)) return k + 1;
      shorten_searches(k);
    }
    return 0;
  }

  void store(LuFactors<T>& out) const {
    const std::size_t n = length(a_), count = lower_rows_.size() + upper_rows_.size() + n;
    out.bounds.resize(2 * n + 1);
    out.rows.resize(count);
    out.values.resize(count);
    out.row_order = row_of_;
    std::size_t to = 0;
    const auto put = [&](std::int64_t row, T value) {
      out.rows[to] = row;
      out.values[to++] = value;
    };
    for (std::size_t k = 0; k < n; ++k) {
      out.bounds[2 * k] = std::int64_t(to);
      for (auto p = std::size_t(upper_bounds_[k]); p < std::size_t(upper_bounds_[k + 1]); ++p)
        put(upper_rows_[p], upper_values_[p]);
      out.bounds[2 * k + 1] = std::int64_t(to);
      put(std::int64_t(k), pivots_[k]);
      for (auto p = std::size_t(lower_bounds_[k]); p < std::size_t(lower_bounds_[k + 1]); ++p)
        put(step_of_[std::size_t(lower_rows_[p])], lower_values_[p]);
    }
    out.bounds[2 * n] = std::int64_t(to);
  }

 private:
  static std::size_t length(const SparseColumns& a) { return std::size_t(a.size); }

  // The rows of column k of L U: all that can be reached from the matrix's own along columns of L. Those that are
  // pivots are in found_, each after the ones that it depends on, from the end; the others are in candidates_.
  void find_rows(std::int64_t k) {
    found_.clear();
    candidates_.clear();
    const std::int64_t j = order_[k];
    for (std::int64_t p = a_.bounds[j]; p < a_.bounds[j + 1]; ++p) search_from(a_.rows[p], k);
  }

  void search_from(std::int64_t start, std::int64_t k) {
    const auto enter = [&](std::int64_t row) {
      if (std::exchange(mark_[std::size_t(row)], k) == k) return;
      const std::int64_t step = step_of_[std::size_t(row)];
      if (step < 0)
        candidates_.push_back(row);
      else
        path_.push_back({step, lower_bounds_[std::size_t(step)]});
    };
    enter(start);
    while (!path_.empty()) {
      auto& [step, position] = path_.back();
      if (position == searched_[std::size_t(step)]) {
        found_.push_back(step);
        path_.pop_back();
      } else {
        enter(lower_rows_[std::size_t(position++)]);
      }
    }
  }

  void update_column(std::int64_t k) {
    const std::int64_t j = order_[k];
    for (std::int64_t p = a_.bounds[j]; p < a_.bounds[j + 1]; ++p) column_[std::size_t(a_.rows[p])] += values_[p];
    for (auto at = found_.rbegin(); at != found_.rend(); ++at) {
      const T value = std::exchange(column_[std::size_t(row_of_[std::size_t(*at)])], T(0));
      upper_rows_.push_back(*at);
      upper_values_.push_back(value);
      const auto end = std::size_t(lower_bounds_[std::size_t(*at) + 1]);
      for (auto p = std::size_t(lower_bounds_[std::size_t(*at)]); p < end; ++p)
        column_[std::size_t(lower_rows_[p])] -= lower_values_[p] * value;
    }
    upper_bounds_.push_back(std::int64_t(upper_rows_.size()));
  }

  // The column's own row, or that of the largest element; one that is nan, if there is one.
  bool choose_pivot(std::int64_t k) {
    using Real = decltype(std::abs(T()));
    std::int64_t pivot = -1;
    Real largest = 0;
    for (const std::int64_t row : candidates_) {
      const Real size = std::abs(column_[std::size_t(row)]);
      if (size <= largest) continue;
      pivot = row;
      if (std::isnan(size)) break;
      largest = size;
    }
    if (pivot < 0) return false;
    const auto own = std::size_t(order_[k]);
    if (mark_[own] == k && step_of_[own] < 0 && std::abs(column_[own]) >= Real(min_pivot_share) * largest &&
        largest > 0)
      pivot = std::int64_t(own);
    const T value = column_[std::size_t(pivot)];
    for (const std::int64_t row : candidates_) {
      const T element = std::exchange(column_[std::size_t(row)], T(0));
      if (row == pivot) continue;
      lower_rows_.push_back(row);
      lower_values_.push_back(element / value);
    }
    lower_bounds_.push_back(std::int64_t(lower_rows_.size()));
    pivots_.push_back(value);
    step_of_[std::size_t(pivot)] = k;
    row_of_[std::size_t(k)] = pivot;
    searched_[std::size_t(k)] = lower_bounds_.back();
    return true;
  }

  // Where column j of L has row k and row j of U has column k, what column j reaches below row k is also reached by way
  // of column k. So searches leave it out, once.
  void shorten_searches(std::int64_t k) {
    const std::int64_t pivot = row_of_[std::size_t(k)];
    for (auto u = std::size_t(upper_bounds_[std::size_t(k)]); u < upper_rows_.size(); ++u) {
      const auto j = std::size_t(upper_rows_[u]);
      const auto begin = std::size_t(lower_bounds_[j]), end = std::size_t(lower_bounds_[j + 1]);
      if (searched_[j] != std::int64_t(end)) continue;
      bool has_pivot = false;
      for (std::size_t p = begin; p < end && !has_pivot; ++p) has_pivot = lower_rows_[p] == pivot;
      if (!has_pivot) continue;
      std::size_t head = begin, tail = end;
      while (head < tail) {
        if (step_of_[std::size_t(lower_rows_[head])] >= 0) {
          ++head;
        } else {
          --tail;
          std::swap(lower_rows_[head], lower_rows_[tail]);
          std::swap(lower_values_[head], lower_values_[tail]);
        }
      }
      searched_[j] = std::int64_t(tail);
    }
  }

  struct Step {
    std::int64_t step, position;
  };

  const SparseColumns a_;
  const T* values_;
  const std::int64_t* order_;
  std::vector<std::int64_t> step_of_,
      row_of_;                          // of each row in the order of elimination, -1 for none yet; and inversely
  std::vector<std::int64_t> mark_;      // the step at which each row was found last
  std::vector<T> column_;               // the current one, by the matrix's rows
  std::vector<std::int64_t> searched_;  // up to where each column of L is searched
  std::vector<std::int64_t> found_, candidates_;
  std::vector<Step> path_;
  std::vector<std::int64_t> lower_bounds_, lower_rows_, upper_bounds_, upper_rows_;
  std::vector<T> lower_values_, upper_values_, pivots_;
};

}  // namespace

template <class T>
std::int64_t sparse_lu(const SparseColumns& a, const T* values, const std::int64_t* column_order, LuFactors<T>& out) {
  Elimination<T> elimination(a, values, column_order);
  const std::int64_t failed = elimination.run();
  if (failed == 0) elimination.store(out);
  return failed;
}

namespace {

// Of one right-hand side.
template <class T>
void solve_vector(const LuPattern& pattern, const T* factors, bool transposed, T* x) {
  const auto [n, bounds, rows] = pattern;
  const auto scatter = [&, rows = rows](std::int64_t begin, std::int64_t end, T own) {
    for (std::int64_t p = begin; p < end; ++p) x[rows[p]] -= factors[p] * own;
  };
  const auto gather = [&, rows = rows](std::int64_t begin, std::int64_t end) {
    T sums[2] = {};
    std::int64_t p = begin;
    for (; p + 2 <= end; p += 2)
      for (int lane = 0; lane < 2; ++lane) sums[lane] += factors[p + lane] * x[rows[p + lane]];
    if (p < end) sums[0] += factors[p] * x[rows[p]];
    return sums[0] + sums[1];
  };
  if (transposed) {
    for (std::int64_t k = 0; k < n; ++k)
      x[k] = (x[k] - gather(bounds[2 * k], bounds[2 * k + 1])) / factors[bounds[2 * k + 1]];
    for (std::int64_t k = n; k-- > 0;) x[k] -= gather(bounds[2 * k + 1] + 1, bounds[2 * k + 2]);
  } else {
    for (std::int64_t k = 0; k < n; ++k) scatter(bounds[2 * k + 1] + 1, bounds[2 * k + 2], x[k]);
    for (std::int64_t k = n; k-- > 0;) {
      x[k] /= factors[bounds[2 * k + 1]];
      scatter(bounds[2 * k], bounds[2 * k + 1], x[k]);
    }
  }
}

}  // namespace

template <class T>
void sparse_lu_solve(const LuPattern& pattern, const T* factors, bool transposed, std::int64_t columns, T* x) {
  if (columns == 1) return solve_vector(pattern, factors, transposed, x);
  const auto [n, bounds, rows] = pattern;
  // A column of one of the factors: what is known of x is taken from the rows below (or above), or these from it.
  const auto subtract = [&, rows = rows](std::int64_t k, std::int64_t begin, std::int64_t end) {
    T* own = x + k * columns;
    for (std::int64_t p = begin; p < end; ++p) {
      T* other = x + rows[p] * columns;
      T* to = transposed ? own : other;
      const T* from = transposed ? other : own;
      for (std::int64_t c = 0; c < columns; ++c) to[c] -= factors[p] * from[c];
    }
  };
  const auto lower = [&, bounds = bounds](std::int64_t k) { subtract(k, bounds[2 * k + 1] + 1, bounds[2 * k + 2]); };
  const auto upper = [&, bounds = bounds](std::int64_t k) { subtract(k, bounds[2 * k], bounds[2 * k + 1]); };
  const auto divide = [&, bounds = bounds](std::int64_t k) {
    for (std::int64_t c = 0; c < columns; ++c) x[k * columns + c] /= factors[bounds[2 * k + 1]];
  };
  if (transposed) {
    for (std::int64_t k = 0; k < n; ++k) upper(k), divide(k);
    for (std::int64_t k = n; k-- > 0;) lower(k);
  } else {
    for (std::int64_t k = 0; k < n; ++k) lower(k);
    for (std::int64_t k = n; k-- > 0;) divide(k), upper(k);
  }
}

#define BITALE_INSTANTIATE(T)                                                                             \
  template std::int64_t sparse_lu<T>(const SparseColumns&, const T*, const std::int64_t*, LuFactors<T>&); \
  template void sparse_lu_solve<T>(const LuPattern&, const T*, bool, std::int64_t, T*);
BITALE_INSTANTIATE(float)
BITALE_INSTANTIATE(double)
#undef BITALE_INSTANTIATE
template std::int64_t sparse_lu(const SparseColumns&, const std::complex<float>*, const std::int64_t*,
                                LuFactors<std::complex<float>>&);
template std::int64_t sparse_lu(const SparseColumns&, const std::complex<double>*, const std::int64_t*,
                                LuFactors<std::complex<double>>&);

}  // namespace bitale::runtime

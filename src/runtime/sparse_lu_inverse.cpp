// Elements of the inverse of L U in the pattern of the factors, and their derivative. With Z the inverse, U Z = L^-1
// gives its elements to the right of the diagonal from the rows below, and Z L = U^-1 those below the diagonal from the
// columns to the right. Column m of `inverse` holds row m of Z.
#include <algorithm>
#include <vector>

#include "runtime/sparse_lu_rows.hpp"

namespace bitale::runtime {

namespace {

// The direction becomes the derivatives of the factors, a column at a time.
template <class T>
void eliminate_direction(const LuPattern& pattern, const T* factors, T* direction) {
  const auto [n, bounds, rows] = pattern;
  std::vector<T> column(std::size_t(n), T(0));
  std::vector<std::int64_t> upper;  // the positions of the elements of U above the diagonal, by ascending rows
  for (std::int64_t j = 0; j < n; ++j) {
    const std::int64_t begin = bounds[2 * j], diagonal = bounds[2 * j + 1], end = bounds[2 * j + 2];
    for (std::int64_t p = begin; p < end; ++p) column[std::size_t(rows[p])] = direction[p];
    upper.clear();
    for (std::int64_t p = begin; p < diagonal; ++p) upper.push_back(p);
    std::sort(upper.begin(), upper.end(), [rows = rows](auto a, auto b) { return rows[a] < rows[b]; });
    for (const std::int64_t p : upper) {
      const std::int64_t k = rows[p];
      const T own = column[std::size_t(k)];
      for (std::int64_t q = bounds[2 * k + 1] + 1; q < bounds[2 * k + 2]; ++q)
        column[std::size_t(rows[q])] -= direction[q] * factors[p] + factors[q] * own;
    }
    for (std::int64_t p = begin; p <= diagonal; ++p) direction[p] = column[std::size_t(rows[p])];
    for (std::int64_t p = diagonal + 1; p < end; ++p)
      direction[p] = (column[std::size_t(rows[p])] - factors[p] * direction[diagonal]) / factors[diagonal];
  }
}

}  // namespace

template <class T>
void sparse_lu_selected_inverse(const LuPattern& pattern, const T* factors, T* inverse) {
  if (sparse_lu_selected_inverse_by_fronts(pattern, factors, inverse)) return;
  const auto [n, bounds, rows] = pattern;
  const UpperRows upper(pattern);
  std::vector<T> lower(std::size_t(n), T(0)), sums(std::size_t(n), T(0));  // column k of L, and what its rows add up to
  for (std::int64_t k = n; k-- > 0;) {
    const std::int64_t diagonal = bounds[2 * k + 1], end = bounds[2 * k + 2];
    for (std::int64_t p = diagonal + 1; p < end; ++p) {
      lower[std::size_t(rows[p])] = factors[p];
      sums[std::size_t(rows[p])] = 0;
    }
    T on_diagonal = 1;
    for (const auto* e = upper.begin(k); e != upper.end(k); ++e) {
      T below = 0;
      for (std::int64_t p = bounds[2 * e->column]; p < bounds[2 * e->column + 2]; ++p) {
        below -= inverse[p] * lower[std::size_t(rows[p])];
        sums[std::size_t(rows[p])] += factors[e->position] * inverse[p];
      }
      inverse[e->position] = below;
      on_diagonal -= factors[e->position] * below;
    }
    // An element of U in column m is written before column m is read again, by an earlier row.
    for (std::int64_t p = diagonal + 1; p < end; ++p) {
      inverse[p] = -sums[std::size_t(rows[p])] / factors[diagonal];
      lower[std::size_t(rows[p])] = 0;
    }
    inverse[diagonal] = on_diagonal / factors[diagonal];
  }
}

// Each line of sparse_lu_selected_inverse, differentiated.
template <class T>
void sparse_lu_inverse_derivative(const LuPattern& pattern, const T* factors, T* direction) {
  if (sparse_lu_inverse_derivative_by_fronts(pattern, factors, direction)) return;
  const auto [n, bounds, rows] = pattern;
  eliminate_direction(pattern, factors, direction);
  const auto count = std::size_t(n > 0 ? bounds[2 * n] : 0);
  std::vector<T> inverse(count, T(0)), out(count, T(0));
  sparse_lu_selected_inverse(pattern, factors, inverse.data());
  const UpperRows upper(pattern);
  const auto length = std::size_t(n);
  std::vector<T> lower(length, T(0)), lower_direction(length, T(0)), sums(length, T(0));
  for (std::int64_t k = n; k-- > 0;) {
    const std::int64_t diagonal = bounds[2 * k + 1], end = bounds[2 * k + 2];
    for (std::int64_t p = diagonal + 1; p < end; ++p) {
      lower[std::size_t(rows[p])] = factors[p];
      lower_direction[std::size_t(rows[p])] = direction[p];
      sums[std::size_t(rows[p])] = 0;
    }
    T on_diagonal = 0;
    for (const auto* e = upper.begin(k); e != upper.end(k); ++e) {
      T below = 0;
      for (std::int64_t p = bounds[2 * e->column]; p < bounds[2 * e->column + 2]; ++p) {
        const auto i = std::size_t(rows[p]);
        below -= out[std::size_t(p)] * lower[i] + inverse[std::size_t(p)] * lower_direction[i];
        sums[i] += direction[e->position] * inverse[std::size_t(p)] + factors[e->position] * out[std::size_t(p)];
      }
      out[std::size_t(e->position)] = below;
      on_diagonal -= direction[e->position] * inverse[std::size_t(e->position)] + factors[e->position] * below;
    }
    const T pivot = factors[diagonal];
    for (std::int64_t p = diagonal + 1; p < end; ++p) {
      out[std::size_t(p)] = -(sums[std::size_t(rows[p])] + direction[diagonal] * inverse[std::size_t(p)]) / pivot;
      lower[std::size_t(rows[p])] = lower_direction[std::size_t(rows[p])] = 0;
    }
    out[std::size_t(diagonal)] = (on_diagonal - direction[diagonal] * inverse[std::size_t(diagonal)]) / pivot;
  }
  std::copy(out.begin(), out.end(), direction);
}

#define BITALE_INSTANTIATE(T)                                                  \
  template void sparse_lu_selected_inverse<T>(const LuPattern&, const T*, T*); \
  template void sparse_lu_inverse_derivative<T>(const LuPattern&, const T*, T*);
BITALE_INSTANTIATE(float)
BITALE_INSTANTIATE(double)
#undef BITALE_INSTANTIATE

}  // namespace bitale::runtime

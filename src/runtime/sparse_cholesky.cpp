// The derivative of a sparse Cholesky factor.
#include "runtime/sparse_cholesky.hpp"

namespace bitale::runtime {

namespace {

// Column k of the factor has all rows of an earlier column that are below an element in row k, and perhaps others.
// Visits what both have: visit(position in column k, position in the earlier column, count) of consecutive elements;
// from where the rest of both is the same, all of it at once.
template <class Visit>
void for_common_rows(const FactorPattern& pattern, std::int64_t element, std::int64_t end, Visit&& visit) {
  const std::int64_t k = pattern.rows[element], last = pattern.bounds[k + 1];
  std::int64_t q = pattern.bounds[k] + 1, r = element + 1;
  while (r < end && q < last) {
    if (last - q == end - r) return visit(q, r, end - r);
    if (pattern.rows[q] == pattern.rows[r]) visit(q, r++, std::int64_t(1));
    ++q;
  }
}

// Four partial sums, so that vectors may hold them.
template <class T>
T sum_of_products(const T* x, const T* y, std::int64_t count) {
  T sums[4] = {};
  std::int64_t k = 0;
  for (; k + 4 <= count; k += 4)
    for (int lane = 0; lane < 4; ++lane) sums[lane] += x[k + lane] * y[k + lane];
  for (; k < count; ++k) sums[0] += x[k] * y[k];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// y += factor * x
template <class T>
void add_multiple(const T* x, T factor, std::int64_t count, T* y) {
  for (std::int64_t k = 0; k < count; ++k) y[k] += x[k] * factor;
}

}  // namespace

template <class T>
void sparse_cholesky_gradient(const FactorPattern& pattern, const T* factor, T* gradient) {
  const std::int64_t n = pattern.size;
  const std::int64_t *const bounds = pattern.bounds, *const rows = pattern.rows;
  for (std::int64_t k = n; k-- > 0;) {
    const std::int64_t start = bounds[k], end = bounds[k + 1];
    for (std::int64_t p = start + 1; p < end; ++p) {
      gradient[p] -= 2 * gradient[bounds[rows[p]]] * factor[p];
      for_common_rows(pattern, p, end, [&](std::int64_t q, std::int64_t r, std::int64_t count) {
        add_multiple(gradient + q, -factor[p], count, gradient + r);
        gradient[p] -= sum_of_products(gradient + q, factor + r, count);
      });
    }
    for (std::int64_t p = start + 1; p < end; ++p) {
      gradient[p] /= factor[start];
      gradient[start] -= gradient[p] * factor[p];
    }
    gradient[start] /= 2 * factor[start];
  }
}

template void sparse_cholesky_gradient<float>(const FactorPattern&, const float*, float*);
template void sparse_cholesky_gradient<double>(const FactorPattern&, const double*, double*);

}  // namespace bitale::runtime

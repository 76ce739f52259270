#include "runtime/structured_systems.hpp"

#include <algorithm>
#include <cmath>
#include <complex>

#include "runtime/lapack_calls.hpp"
#include "runtime/lu.hpp"
#include "runtime/rows_of_matrices.hpp"

namespace bitale::runtime {

namespace {

// Calls `solve` on a column-major copy of B[n, k], in place, and copies its results back.
template <class T, class Solve>
std::int64_t by_columns(std::int64_t n, std::int64_t k, T* B, Solve&& solve) {
  if (k == 1) return solve(B);
  const CallMemory<T> columns(n * k);
  if (!columns) return no_work_memory;
  transpose_into(n, k, B, columns.get());
  const std::int64_t status = solve(columns.get());
  if (status == 0) transpose_into(k, n, columns.get(), B);
  return status;
}

// The status for a missing pivot: with `as_nan`, B becomes nan and the status 0.
template <class T>
std::int64_t singular_or_nan(std::int64_t zero_pivot, bool as_nan, T* B, std::int64_t size) {
  if (zero_pivot <= 0 || !as_nan) return zero_pivot;
  fill_nan(B, size);
  return 0;
}

}  // namespace

namespace {

// Below this size, a call of the library costs more than it saves.
constexpr std::int64_t small_structured = 16;

}  // namespace

template <class T>
std::int64_t solve_symmetric(std::int64_t n, std::int64_t k, std::int64_t as_nan, const T* A, T* B, T* factor,
                             std::int32_t* pivots) noexcept {
  using Sysv = void (*)(const char*, const int*, const int*, T*, const int*, int*, T*, const int*, T*, const int*, int*,
                        std::size_t);
  static const auto sysv = number_symbol<Sysv, T>("", "sysv_");
  if (n == 0 || k == 0) return 0;
  if (n <= small_structured || !sysv) return solve(n, k, false, as_nan != 0, A, B, factor, pivots);
  if (!lengths_fit(n, k)) return no_work_memory;
  for (std::int64_t i = 0; i < n; ++i)
    if (!all_finite(A + i * n, i + 1)) return fill_nan(B, n * k), 0;
  std::copy(A, A + n * n, factor);
  const int order = int(n), columns = int(k);
  int info = 0;
  const std::int64_t zero_pivot = by_columns(n, k, B, [&](T* b) {
    const bool done = with_work<T>(n, k, 0, [&](T* work, const int* length) {
      // By columns the lower triangle is the upper one.
      sysv("U", &order, &columns, factor, &order, pivots, b, &order, work, length, &info, 1);
    });
    return done ? std::int64_t(info) : no_work_memory;
  });
  return singular_or_nan(zero_pivot, as_nan != 0, B, n * k);
}

namespace {

// bands: column-major [2 below + above + 1, n], of which the first `below` rows are workspace for LAPACK.
template <class T>
std::int64_t solve_bands(std::int64_t n, std::int64_t k, std::int64_t below, std::int64_t above, bool trans, T* bands,
                         std::int32_t* pivots, T* B) {
  BITALE_LAPACK_SYMBOL(T, gbtrf, const int*, const int*, const int*, const int*, T*, const int*, int*, int*);
  BITALE_LAPACK_SYMBOL(T, gbtrs, const char*, const int*, const int*, const int*, const int*, const T*, const int*,
                       const int*, T*, const int*, int*, std::size_t);
  const int order = int(n), columns = int(k), kl = int(below), ku = int(above), lead = int(2 * below + above + 1);
  int info = 0;
  gbtrf(&order, &order, &kl, &ku, bands, &lead, pivots, &info);
  if (info != 0) return info;
  return by_columns(n, k, B, [&](T* b) {
    gbtrs(trans ? "T" : "N", &order, &kl, &ku, &columns, bands, &lead, pivots, b, &order, &info, 1);
    return std::int64_t(info);
  });
}

}  // namespace

template <class T>
std::int64_t solve_by_bands(std::int64_t n, std::int64_t k, std::int64_t trans, std::int64_t as_nan, const T* A, T* B,
                            T* factor, std::int32_t* pivots) noexcept {
  if (n == 0 || k == 0) return 0;
  if (n <= small_structured || !blas_symbol("dgbtrf_"))
    return solve(n, k, trans != 0, as_nan != 0, A, B, factor, pivots);
  if (!lengths_fit(3 * n + 1, k)) return no_work_memory;
  if (!all_finite(A, n * n)) return fill_nan(B, n * k), 0;
  std::int64_t below = 0, above = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    std::int64_t first = 0, last = n - 1;
    while (first < i - below && A[i * n + first] == 0) ++first;
    while (last > i + above && A[i * n + last] == 0) --last;
    below = std::max(below, i - first);
    above = std::max(above, last - i);
  }
  const std::int64_t lead = 2 * below + above + 1;
  const CallMemory<T> more(lead <= n ? 0 : lead * n);  // a band that is not narrow needs more room than the matrix
  if (!more) return no_work_memory;
  T* const bands = lead <= n ? factor : more.get();
  std::fill(bands, bands + lead * n, T(0));
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = std::max<std::int64_t>(0, i - below); j <= std::min(n - 1, i + above); ++j)
      bands[j * lead + below + above + i - j] = A[i * n + j];
  return singular_or_nan(solve_bands(n, k, below, above, trans != 0, bands, pivots, B), as_nan != 0, B, n * k);
}

template <class T>
std::int64_t solve_banded(std::int64_t n, std::int64_t k, std::int64_t below, std::int64_t above, std::int64_t trans,
                          const T* ab, T* B, T* bands, std::int32_t* pivots) noexcept {
  if (n == 0 || k == 0) return 0;
  const std::int64_t lead = 2 * below + above + 1;
  if (!lengths_fit(std::max(n, lead), k)) return no_work_memory;
  std::fill(bands, bands + lead * n, T(0));
  bool is_finite = true;
  for (std::int64_t row = 0; row <= below + above; ++row)
    for (std::int64_t j = std::max<std::int64_t>(0, above - row); j < std::min(n, n + above - row); ++j) {
      const T value = bands[j * lead + below + row] = ab[row * n + j];
      is_finite = is_finite && std::isfinite(value);
    }
  if (!is_finite) return fill_nan(B, n * k), 0;
  return solve_bands(n, k, below, above, trans != 0, bands, pivots, B);
}

// ---- tridiagonal ----------------------------------------------------------------------------------------------------

namespace {

template <class E>
std::int64_t factor_tridiagonal(std::int64_t n, const E* lower, const E* d, const E* upper, E* factors, E* U, E* U1,
                                E* U2, std::int32_t* pivots) {
  using Gttrf = void (*)(const int*, E*, E*, E*, E*, int*, int*);
  static const auto gttrf = number_symbol<Gttrf, E>("", "gttrf_");
  if (!gttrf) return no_lapack;
  if (n == 0) return 0;
  if (!lengths_fit(n)) return no_work_memory;
  const std::int64_t beside = n - 1;
  if (!all_finite(lower, beside) || !all_finite(d, n) || !all_finite(upper, beside)) {
    fill_nan(factors, beside), fill_nan(U, n), fill_nan(U1, beside);
    fill_nan(U2, std::max<std::int64_t>(n - 2, 0));
    for (std::int64_t i = 0; i < n; ++i) pivots[i] = std::int32_t(i);
    return 0;
  }
  std::copy(lower, lower + beside, factors);
  std::copy(d, d + n, U);
  std::copy(upper, upper + beside, U1);
  const int order = int(n);
  int info = 0;
  gttrf(&order, factors, U, U1, U2, pivots, &info);
  for (std::int64_t i = 0; i < n; ++i) --pivots[i];
  return 0;
}

template <class E>
std::int64_t solve_by_tridiagonal_factors(std::int64_t n, std::int64_t k, bool trans, const E* factors, const E* U,
                                          const E* U1, const E* U2, const std::int32_t* pivots, E* B) {
  using Gttrs = void (*)(const char*, const int*, const int*, const E*, const E*, const E*, const E*, const int*, E*,
                         const int*, int*, std::size_t);
  static const auto gttrs = number_symbol<Gttrs, E>("", "gttrs_");
  if (!gttrs) return no_lapack;
  if (n == 0 || k == 0) return 0;
  if (!lengths_fit(n, k)) return no_work_memory;
  const CallMemory<int> from_one(n);
  if (!from_one) return no_work_memory;
  for (std::int64_t i = 0; i < n; ++i) {
    if (U[i] == E(0)) return i + 1;
    if (pivots[i] < i || pivots[i] > std::min(i + 1, n - 1)) return bad_pivots;
    from_one.get()[i] = pivots[i] + 1;
  }
  const int order = int(n), columns = int(k);
  return by_columns(n, k, B, [&](E* b) {
    int info = 0;
    gttrs(trans ? "T" : "N", &order, &columns, factors, U, U1, U2, from_one.get(), b, &order, &info, 1);
    return std::int64_t(info);
  });
}

}  // namespace

template <class T>
std::int64_t tridiagonal_lu_factor(std::int64_t n, const T* lower, const T* d, const T* upper, T* factors, T* U, T* U1,
                                   T* U2, std::int32_t* pivots) noexcept {
  return factor_tridiagonal(n, lower, d, upper, factors, U, U1, U2, pivots);
}
template <class T>
std::int64_t complex_tridiagonal_lu_factor(std::int64_t n, const T* lower, const T* d, const T* upper, T* factors, T* U,
                                           T* U1, T* U2, std::int32_t* pivots) noexcept {
  return factor_tridiagonal(n, as_numbers(lower), as_numbers(d), as_numbers(upper), as_numbers(factors), as_numbers(U),
                            as_numbers(U1), as_numbers(U2), pivots);
}
template <class T>
std::int64_t tridiagonal_lu_solve(std::int64_t n, std::int64_t k, std::int64_t trans, const T* factors, const T* U,
                                  const T* U1, const T* U2, const std::int32_t* pivots, T* B) noexcept {
  return solve_by_tridiagonal_factors(n, k, trans != 0, factors, U, U1, U2, pivots, B);
}
template <class T>
std::int64_t complex_tridiagonal_lu_solve(std::int64_t n, std::int64_t k, std::int64_t trans, const T* factors,
                                          const T* U, const T* U1, const T* U2, const std::int32_t* pivots,
                                          T* B) noexcept {
  return solve_by_tridiagonal_factors(n, k, trans != 0, as_numbers(factors), as_numbers(U), as_numbers(U1),
                                      as_numbers(U2), pivots, as_numbers(B));
}

// ---- the generalized Schur form -------------------------------------------------------------------------------------

namespace {

// Which eigenvalues (re + i im) / beta come first. An eigenvalue with beta = 0 is infinite.
template <class T>
int quotient_in_left_half(const T* re, const T*, const T* beta) {
  return *beta != 0 && *re / *beta < 0;
}
template <class T>
int quotient_in_right_half(const T* re, const T*, const T* beta) {
  return *beta != 0 && *re / *beta > 0;
}
template <class T>
int quotient_inside_circle(const T* re, const T* im, const T* beta) {
  return *beta != 0 && std::hypot(*re / *beta, *im / *beta) < 1;
}
template <class T>
int quotient_outside_circle(const T* re, const T* im, const T* beta) {
  if (*beta == 0) return *re != 0 || *im != 0;
  return std::hypot(*re / *beta, *im / *beta) > 1;
}

}  // namespace

template <class T>
std::int64_t qz(std::int64_t n, std::int64_t sort, const T* A, const T* B, T* S, T* P, T* Q, T* Z, T* alpha,
                T* beta) noexcept {
  using Select = int (*)(const T*, const T*, const T*);
  BITALE_LAPACK_SYMBOL(T, gges, const char*, const char*, const char*, Select, const int*, T*, const int*, T*,
                       const int*, int*, T*, T*, T*, T*, const int*, T*, const int*, T*, const int*, int*, int*,
                       std::size_t, std::size_t, std::size_t);
  if (n == 0) return 0;
  if (!lengths_fit(n)) return no_work_memory;
  const std::int64_t size = n * n;
  if (!all_finite(A, size) || !all_finite(B, size)) {
    for (T* out : {S, P, Q, Z}) fill_nan(out, size);
    fill_nan(alpha, 2 * n), fill_nan(beta, n);
    return 0;
  }
  constexpr Select selects[] = {nullptr, quotient_in_left_half<T>, quotient_in_right_half<T>, quotient_inside_circle<T>,
                                quotient_outside_circle<T>};
  const CallMemory<T> memory(4 * size + 2 * n);
  const CallMemory<int> integer_work(n);
  if (!memory || !integer_work) return no_work_memory;
  T *const a = memory.get(), *const b = a + size, *const left = b + size, *const right = left + size,
           *const re = right + size, *const im = re + n;
  transpose_into(n, n, A, a);
  transpose_into(n, n, B, b);
  const int order = int(n);
  int info = 0, selected = 0;
  if (!with_work<T>(n, n, 0, [&](T* work, const int* length) {
        gges("V", "V", sort ? "S" : "N", selects[sort], &order, a, &order, b, &order, &selected, re, im, beta, left,
             &order, right, &order, work, length, integer_work.get(), &info, 1, 1, 1);
      }))
    return no_work_memory;
  if (info != 0 && info != order + 2) return info;  // order + 2: rounding changed what an eigenvalue was sorted by
  transpose_into(n, n, a, S);
  transpose_into(n, n, b, P);
  transpose_into(n, n, left, Q);
  transpose_into(n, n, right, Z);
  for (std::int64_t i = 0; i < n; ++i) {
    alpha[2 * i] = re[i];
    alpha[2 * i + 1] = im[i];
  }
  return 0;
}

// ---- in C -----------------------------------------------------------------------------------------------------------

namespace {

// $T, $S: type and suffix. Exported code has no LAPACK: both are solved like any matrix.
constexpr std::string_view solve_symmetric_c =
    R"(static int64_t bt_solve_symmetric_$S(int64_t n, int64_t k, int64_t as_nan, const $T *A, $T *B, $T *factor,
                                      int32_t *pivots) {
  return bt_solve_$S(n, k, 0, as_nan, A, B, factor, pivots);
}
)";
constexpr std::string_view solve_by_bands_c =
    R"(static int64_t bt_solve_by_bands_$S(int64_t n, int64_t k, int64_t trans, int64_t as_nan, const $T *A, $T *B,
                                     $T *factor, int32_t *pivots) {
  return bt_solve_$S(n, k, trans, as_nan, A, B, factor, pivots);
}
)";
constexpr std::string_view solve_banded_c =
    R"(// Row i of the matrix is bands[i * width ...], from column i - below on, with room for what exchanges of rows add.
static int64_t bt_solve_banded_$S(int64_t n, int64_t k, int64_t below, int64_t above, int64_t trans, const $T *ab,
                                   $T *B, $T *bands, int32_t *pivots) {
  const int64_t width = 2 * below + above + 1, reach = below + above;
  int is_finite = 1;
  for (int64_t e = 0; e < n * width; ++e) bands[e] = 0;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = i > below ? i - below : 0; j < n && j <= i + above; ++j) {
      const $T value = ab[(above + i - j) * n + j];
      bands[i * width + j - i + below] = value;
      is_finite = is_finite && isfinite(value);
    }
  if (!is_finite) {
    for (int64_t e = 0; e < n * k; ++e) B[e] = NAN;
    return 0;
  }
#define BT_AT(i, j) bands[(i) * width + (j) - (i) + below]
  for (int64_t p = 0; p < n; ++p) {
    int64_t best = p;
    for (int64_t i = p + 1; i < n && i <= p + below; ++i)
      if (fabs((double)BT_AT(i, p)) > fabs((double)BT_AT(best, p))) best = i;
    pivots[p] = (int32_t)best;
    if (BT_AT(best, p) == 0) return p + 1;
    for (int64_t j = p; best != p && j < n && j <= p + reach; ++j) {
      const $T kept = BT_AT(p, j);
      BT_AT(p, j) = BT_AT(best, j);
      BT_AT(best, j) = kept;
    }
    for (int64_t i = p + 1; i < n && i <= p + below; ++i) {
      const $T factor = BT_AT(i, p) /= BT_AT(p, p);
      for (int64_t j = p + 1; j < n && j <= p + reach; ++j) BT_AT(i, j) -= factor * BT_AT(p, j);
    }
  }
  for (int64_t c = 0; c < k; ++c) {
    for (int64_t p = 0; p < n && !trans; ++p) {
      const $T kept = B[p * k + c];
      B[p * k + c] = B[pivots[p] * k + c];
      B[pivots[p] * k + c] = kept;
      for (int64_t i = p + 1; i < n && i <= p + below; ++i) B[i * k + c] -= BT_AT(i, p) * B[p * k + c];
    }
    for (int64_t i = n; i-- > 0 && !trans;) {
      $T sum = B[i * k + c];
      for (int64_t j = i + 1; j < n && j <= i + reach; ++j) sum -= BT_AT(i, j) * B[j * k + c];
      B[i * k + c] = sum / BT_AT(i, i);
    }
    for (int64_t j = 0; j < n && trans; ++j) {
      $T sum = B[j * k + c];
      for (int64_t i = j > reach ? j - reach : 0; i < j; ++i) sum -= BT_AT(i, j) * B[i * k + c];
      B[j * k + c] = sum / BT_AT(j, j);
    }
    for (int64_t p = n; p-- > 0 && trans;) {
      for (int64_t i = p + 1; i < n && i <= p + below; ++i) B[p * k + c] -= BT_AT(i, p) * B[i * k + c];
      const $T kept = B[p * k + c];
      B[p * k + c] = B[pivots[p] * k + c];
      B[pivots[p] * k + c] = kept;
    }
  }
#undef BT_AT
  return 0;
}
)";

constexpr std::string_view tridiagonal_lu_factor_c =
    R"(// Factors as LAPACK's gttrf: L has one element per row below, U three diagonals; row i was exchanged with pivots[i].
static int64_t bt_tridiagonal_lu_factor_$S(int64_t n, const $T *lower, const $T *d, const $T *upper, $T *factors, $T *U,
                                            $T *U1, $T *U2, int32_t *pivots) {
  int finite = 1;
  for (int64_t i = 0; i < n; ++i) {
    pivots[i] = (int32_t)i;
    U[i] = d[i];
    finite = finite && isfinite(d[i]);
    if (i + 1 < n) {
      factors[i] = lower[i];
      U1[i] = upper[i];
      finite = finite && isfinite(lower[i]) && isfinite(upper[i]);
    }
    if (i + 2 < n) U2[i] = 0;
  }
  for (int64_t i = 0; i < n && !finite; ++i) {
    U[i] = NAN;
    if (i + 1 < n) factors[i] = U1[i] = NAN;
    if (i + 2 < n) U2[i] = NAN;
  }
  for (int64_t i = 0; i + 1 < n && finite; ++i) {
    if (fabs((double)U[i]) >= fabs((double)factors[i])) {
      if (U[i] == 0) continue;
      factors[i] /= U[i];
      U[i + 1] -= factors[i] * U1[i];
      continue;
    }
    const $T factor = U[i] / factors[i], kept = U1[i];
    U[i] = factors[i];
    factors[i] = factor;
    U1[i] = U[i + 1];
    U[i + 1] = kept - factor * U[i + 1];
    if (i + 2 < n) {
      U2[i] = U1[i + 1];
      U1[i + 1] = -factor * U1[i + 1];
    }
    pivots[i] = (int32_t)(i + 1);
  }
  return 0;
}
)";

constexpr std::string_view tridiagonal_lu_solve_c =
    R"(// B[n, k] becomes X with A X = B, or A^T X = B; or the first row without a pivot; -1 for wrong pivots.
static int64_t bt_tridiagonal_lu_solve_$S(int64_t n, int64_t k, int64_t trans, const $T *factors, const $T *U,
                                           const $T *U1, const $T *U2, const int32_t *pivots, $T *B) {
  for (int64_t i = 0; i < n && k > 0; ++i) {
    if (U[i] == 0) return i + 1;
    if (pivots[i] < i || pivots[i] > i + 1 || pivots[i] >= n) return -1;
  }
  for (int64_t i = 0; i < n && trans; ++i)
    for (int64_t c = 0; c < k; ++c) {
      $T sum = B[i * k + c];
      if (i > 0) sum -= U1[i - 1] * B[(i - 1) * k + c];
      if (i > 1) sum -= U2[i - 2] * B[(i - 2) * k + c];
      B[i * k + c] = sum / U[i];
    }
  for (int64_t step = 0; step + 1 < n; ++step) {
    const int64_t i = trans ? n - 2 - step : step;
    for (int64_t c = 0; c < k; ++c) {
      $T *const here = B + i * k + c, *const below = here + k;
      const $T upper = trans || pivots[i] == i ? *here : *below, other = pivots[i] == i ? *below : *here;
      if (!trans) {
        *here = upper;
        *below = other - factors[i] * upper;
        continue;
      }
      const $T value = upper - factors[i] * *below;
      *here = pivots[i] == i ? value : *below;
      if (pivots[i] != i) *below = value;
    }
  }
  for (int64_t i = n; i-- > 0 && !trans;)
    for (int64_t c = 0; c < k; ++c) {
      $T sum = B[i * k + c];
      if (i + 1 < n) sum -= U1[i] * B[(i + 1) * k + c];
      if (i + 2 < n) sum -= U2[i] * B[(i + 2) * k + c];
      B[i * k + c] = sum / U[i];
    }
  return 0;
}
)";

}  // namespace

// ---- rows -----------------------------------------------------------------------------------------------------------

namespace {

#define ROW(T, suffix, name, parameters, failure, ...) \
  matrix_row<T>(runtime_function("bt_" #name "_" #suffix, name<T>, parameters), failure, __VA_ARGS__)
#define ROWS(T, suffix)                                                                                            \
  matrix_row<T>(runtime_function("bt_solve_symmetric_" #suffix, solve_symmetric<T>,                                \
                                 "n k as_nan A inout:B scratch:factor scratch:pivots"),                            \
                "solve: a matrix is singular", {1, {"n", "n", "n"}, 3}, solve_symmetric_c, {"bt_solve_" #suffix}), \
      matrix_row<T>(runtime_function("bt_solve_by_bands_" #suffix, solve_by_bands<T>,                              \
                                     "n k trans as_nan A inout:B scratch:factor scratch:pivots"),                  \
                    "solve: a matrix is singular", {2, {"n", "n"}}, solve_by_bands_c, {"bt_solve_" #suffix}),      \
      matrix_row<T>(runtime_function("bt_solve_banded_" #suffix, solve_banded<T>,                                  \
                                     "n k below above trans ab inout:B scratch:bands scratch:pivots"),             \
                    "solve_banded: a matrix is singular", {4, {"n", "k"}}, solve_banded_c),                        \
      ROW(T, suffix, tridiagonal_lu_factor, "n lower d upper factors U U1 U2 pivots",                              \
          "tridiagonal_lu_factor: there is not enough memory", Flops{5, {"n"}}, tridiagonal_lu_factor_c),          \
      ROW(T, suffix, tridiagonal_lu_solve, "n k trans factors U U1 U2 pivots inout:B",                             \
          "tridiagonal_lu_solve: a matrix is singular, or these are no factors", Flops{8, {"n", "k"}},             \
          tridiagonal_lu_solve_c),                                                                                 \
      ROW(T, suffix, complex_tridiagonal_lu_factor, "n lower d upper factors U U1 U2 pivots",                      \
          "tridiagonal_lu_factor: there is not enough memory", Flops{20, {"n"}}),                                  \
      ROW(T, suffix, complex_tridiagonal_lu_solve, "n k trans factors U U1 U2 pivots inout:B",                     \
          "tridiagonal_lu_solve: a matrix is singular, or these are no factors", Flops{32, {"n", "k"}}),           \
      ROW(T, suffix, qz, "n sort A B S P Q Z alpha beta", "qz: the iteration did not converge",                    \
          Flops{66, {"n", "n", "n"}})

const RegisterFunctions structured_system_rows{ROWS(double, f64), ROWS(float, f32)};

#undef ROWS
#undef ROW

}  // namespace
}  // namespace bitale::runtime

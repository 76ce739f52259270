// LAPACK sees the transpose of a row-major matrix, and factors P A^T = L U. By rows, the same memory holds U^T in the
// lower triangle and L^T, with ones on its diagonal, in the upper one: A = U^T L^T P. The plain loops give the same
// result by exchanging columns.
#include "runtime/lu.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "runtime/blas.hpp"
#include "runtime/lapack.hpp"
#include "runtime/lapack_calls.hpp"
#include "runtime/numbers.hpp"
#include "runtime/rows_of_matrices.hpp"

namespace bitale::runtime {
namespace {

template <class T>
using Getrf = void (*)(const int* m, const int* n, T* a, const int* lda, int* pivots, int* info);

template <class T>
Getrf<T> library_getrf() {
  static const auto it = number_symbol<Getrf<T>, T>("", "getrf_");
  return it;
}

constexpr std::int64_t small_lu = 16;  // up to this size plain loops are faster

// Pivots are counted from 1, as in LAPACK. Continues after a pivot of 0, and returns the row of the first one,
// counted from 1.
template <class T>
std::int64_t plain_lu(std::int64_t n, T* M, std::int32_t* pivots) {
  std::int64_t singular = 0;
  for (std::int64_t k = 0; k < n; ++k) {
    T* const row = M + k * n;
    std::int64_t best = k;
    for (std::int64_t j = k + 1; j < n; ++j)
      if (size_of_pivot(row[j]) > size_of_pivot(row[best])) best = j;
    pivots[k] = std::int32_t(best + 1);
    if (row[best] == T(0)) {
      if (!singular) singular = k + 1;
      continue;
    }
    if (best != k)
      for (std::int64_t i = 0; i < n; ++i) std::swap(M[i * n + k], M[i * n + best]);
    for (std::int64_t j = k + 1; j < n; ++j) row[j] /= row[k];
    for (std::int64_t i = k + 1; i < n; ++i) {
      const T factor = M[i * n + k];
      for (std::int64_t j = k + 1; j < n; ++j) M[i * n + j] -= times(factor, row[j]);
    }
  }
  return singular;
}

template <class T>
std::int64_t factor_lu(std::int64_t n, const T* A, T* factor, std::int32_t* pivots) noexcept {
  std::copy(A, A + n * n, factor);
  const bool fits = n <= std::numeric_limits<int>::max();
  const auto getrf = n > small_lu && fits ? library_getrf<T>() : nullptr;
  if (!getrf) return plain_lu(n, factor, pivots);
  const int length = int(n);
  int info = 0;
  getrf(&length, &length, factor, &length, pivots, &info);
  return info;
}

// Whether A is singular. LU factors with an infinity may have no pivot in any row.
template <class T>
bool fails_for_no_pivot(std::int64_t zero_pivot, std::int64_t n, const T* A) {
  return zero_pivot != 0 && all_finite(A, n * n);
}

template <class T>
void exchange_rows(std::int64_t k, T* B, std::int64_t a, std::int64_t b) {
  if (a != b) std::swap_ranges(B + a * k, B + (a + 1) * k, B + b * k);
}

}  // namespace

template <class N>
std::int64_t solve(std::int64_t n, std::int64_t k, std::int64_t trans, std::int64_t to_nan, const N* A, N* B, N* factor,
                   std::int32_t* pivots) noexcept {
  if (const std::int64_t zero_pivot = factor_lu(n, A, factor, pivots)) {
    if (!to_nan && fails_for_no_pivot(zero_pivot, n, A)) return zero_pivot;
    std::fill(B, B + n * k, nan_of<N>());
    return 0;
  }
  const auto conjugate_right = [&] {
    for (std::int64_t i = 0; i < n * k && trans == 2; ++i) B[i] = conjugate(B[i]);
  };
  if (trans) {  // A^T = P^T L U, and the adjoint is its conjugate
    conjugate_right();
    for (std::int64_t i = 0; i < n; ++i) exchange_rows(k, B, i, std::int64_t(pivots[i]) - 1);
    solve_triangular(n, k, false, true, true, false, factor, B);
    solve_triangular(n, k, true, true, false, false, factor, B);
    conjugate_right();
  } else {  // A = U^T L^T P
    solve_triangular(n, k, true, false, false, false, factor, B);
    solve_triangular(n, k, false, false, true, false, factor, B);
    for (std::int64_t i = n; i-- > 0;) exchange_rows(k, B, i, std::int64_t(pivots[i]) - 1);
  }
  return 0;
}

namespace {

// The product of the pivots and of their signs, where an intermediate product may be beyond the range of numbers.
template <class T>
T product_by_exponents(std::int64_t n, const T* factor, const std::int32_t* pivots) {
  T product = 1;
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    int exponent = 0;
    product *= std::frexp(factor[i * n + i], &exponent);
    sum += exponent;
    product = std::frexp(product, &exponent);
    sum += exponent;
    if (pivots[i] != i + 1) product = -product;
  }
  constexpr std::int64_t most = 1 << 20;
  return std::ldexp(product, int(std::clamp(sum, -most, most)));
}

}  // namespace

template <class T>
void det(std::int64_t n, const T* A, T* det, T* factor, std::int32_t* pivots) noexcept {
  const std::int64_t zero_pivot = factor_lu(n, A, factor, pivots);
  T product = 1;
  for (std::int64_t i = 0; i < n && !zero_pivot; ++i)
    product *= pivots[i] == i + 1 ? factor[i * n + i] : -factor[i * n + i];
  if (!zero_pivot && !std::isnormal(product)) product = product_by_exponents(n, factor, pivots);
  *det = !zero_pivot ? product : fails_for_no_pivot(zero_pivot, n, A) ? T(0) : std::numeric_limits<T>::quiet_NaN();
}

template <class T>
void slogdet(std::int64_t n, const T* A, T* sign, T* logabsdet, T* factor, std::int32_t* pivots) noexcept {
  const std::int64_t zero_pivot = factor_lu(n, A, factor, pivots);
  T s = 1, sum = 0;
  for (std::int64_t i = 0; i < n && !zero_pivot; ++i) {
    const T pivot = factor[i * n + i];
    if ((pivots[i] != i + 1) != (pivot < 0)) s = -s;
    if (pivot != pivot) s = pivot;
    sum += std::log(std::abs(pivot));
  }
  const bool singular = fails_for_no_pivot(zero_pivot, n, A);
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  *sign = !zero_pivot ? s : singular ? T(0) : nan;
  *logabsdet = !zero_pivot ? sum : singular ? -std::numeric_limits<T>::infinity() : nan;
}

template decltype(solve<std::complex<double>>) solve<std::complex<double>>;
template decltype(solve<std::complex<float>>) solve<std::complex<float>>;

namespace {

// $T, $S: type and suffix.
constexpr std::string_view lu_c =
    R"(// A = U^T L^T P: U^T below, L^T without its diagonal above; pivots count from 1. Or the first row without a pivot, or
// -1 where that is so for A is not finite.
static int64_t bt_lu_$S(int64_t n, const $T *A, $T *M, int32_t *pivots) {
  int64_t singular = 0;
  for (int64_t i = 0; i < n * n; ++i) M[i] = A[i];
  for (int64_t k = 0; k < n; ++k) {
    int64_t best = k;
    for (int64_t j = k + 1; j < n; ++j)
      if (fabs((double)M[k * n + j]) > fabs((double)M[k * n + best])) best = j;
    pivots[k] = (int32_t)(best + 1);
    if (M[k * n + best] == 0) {
      if (!singular) singular = k + 1;
      continue;
    }
    for (int64_t i = 0; i < n && best != k; ++i) {
      const $T kept = M[i * n + k];
      M[i * n + k] = M[i * n + best];
      M[i * n + best] = kept;
    }
    for (int64_t j = k + 1; j < n; ++j) M[k * n + j] /= M[k * n + k];
    for (int64_t i = k + 1; i < n; ++i)
      for (int64_t j = k + 1; j < n; ++j) M[i * n + j] -= M[i * n + k] * M[k * n + j];
  }
  for (int64_t i = 0; singular > 0 && i < n * n; ++i)
    if (!isfinite(A[i])) singular = -1;  // it is not: an infinity leaves no pivots
  return singular;
}
)";

constexpr std::string_view solve_c =
    R"(// B[n, k] becomes X with op(A) X = B; or the first row in which A has no pivot.
static int64_t bt_solve_$S(int64_t n, int64_t k, int64_t trans, int64_t to_nan, const $T *A, $T *B, $T *factor,
                            int32_t *pivots) {
  const int64_t singular = bt_lu_$S(n, A, factor, pivots);
  if (singular > 0 && !to_nan) return singular;
  if (singular) {
    for (int64_t e = 0; e < n * k; ++e) B[e] = NAN;
    return 0;
  }
  if (!trans) {
    bt_solve_triangular_$S(n, k, 1, 0, 0, 0, factor, B);
    bt_solve_triangular_$S(n, k, 0, 0, 1, 0, factor, B);
  }
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = trans ? step : n - 1 - step, other = pivots[i] - 1;
    for (int64_t c = 0; c < k && other != i; ++c) {
      const $T kept = B[i * k + c];
      B[i * k + c] = B[other * k + c];
      B[other * k + c] = kept;
    }
  }
  if (trans) {
    bt_solve_triangular_$S(n, k, 0, 1, 1, 0, factor, B);
    bt_solve_triangular_$S(n, k, 1, 1, 0, 0, factor, B);
  }
  return 0;
}
)";

constexpr std::string_view det_c =
    R"(static void bt_det_$S(int64_t n, const $T *A, $T *det, $T *factor, int32_t *pivots) {
  const int64_t singular = bt_lu_$S(n, A, factor, pivots);
  $T product = 1;
  for (int64_t i = 0; i < n; ++i) product *= pivots[i] == i + 1 ? factor[i * n + i] : -factor[i * n + i];
  if (!singular && !isnormal(product)) {  // an intermediate product may be beyond the range
    double parts = 1;
    int64_t sum = 0;
    for (int64_t i = 0; i < n; ++i) {
      int exponent = 0;
      parts *= frexp(pivots[i] == i + 1 ? factor[i * n + i] : -factor[i * n + i], &exponent);
      sum += exponent;
      parts = frexp(parts, &exponent);
      sum += exponent;
    }
    product = ($T)ldexp(parts, sum > 1048576 ? 1048576 : sum < -1048576 ? -1048576 : (int)sum);
  }
  *det = singular > 0 ? 0 : singular ? NAN : product;
}
)";

constexpr std::string_view slogdet_c =
    R"(static void bt_slogdet_$S(int64_t n, const $T *A, $T *sign, $T *logabsdet, $T *factor, int32_t *pivots) {
  const int64_t singular = bt_lu_$S(n, A, factor, pivots);
  $T s = 1, sum = 0;
  for (int64_t i = 0; i < n && !singular; ++i) {
    const $T pivot = factor[i * n + i];
    if ((pivots[i] != i + 1) != (pivot < 0)) s = -s;
    if (pivot != pivot) s = pivot;
    sum += ($T)log(fabs((double)pivot));
  }
  *sign = singular > 0 ? 0 : singular ? NAN : s;
  *logabsdet = singular > 0 ? -INFINITY : singular ? NAN : sum;
}
)";

#define ROWS(suffix, T)                                                                                                \
  matrix_row<T>(runtime_function("bt_lu_" #suffix, factor_lu<T>, "n A factor pivots"), "a matrix is singular",         \
                {2, {"n", "n", "n"}, 3}, lu_c, {}),                                                                    \
      matrix_row<T>(                                                                                                   \
          runtime_function("bt_solve_" #suffix, solve<T>, "n k trans to_nan A inout:B scratch:factor scratch:pivots"), \
          "solve: a matrix is singular", {2, {"n", "n", "n"}, 3}, solve_c,                                             \
          {"bt_lu_" #suffix, "bt_solve_triangular_" #suffix}),                                                         \
      matrix_row<T>(runtime_function("bt_complex_solve_" #suffix, over_pairs<solve<std::complex<T>>>,                  \
                                     "n k trans to_nan A inout:B scratch:factor scratch:pivots"),                      \
                    "solve: a matrix is singular", {8, {"n", "n", "n"}, 3}),                                           \
      matrix_row<T>(runtime_function("bt_det_" #suffix, det<T>, "n A det scratch:factor scratch:pivots"), "",          \
                    {2, {"n", "n", "n"}, 3}, det_c, {"bt_lu_" #suffix}),                                               \
      matrix_row<T>(                                                                                                   \
          runtime_function("bt_slogdet_" #suffix, slogdet<T>, "n A sign logabsdet scratch:factor scratch:pivots"), "", \
          {2, {"n", "n", "n"}, 3}, slogdet_c, {"bt_lu_" #suffix})

const RegisterFunctions lu_functions{ROWS(f64, double), ROWS(f32, float)};

#undef ROWS

}  // namespace
}  // namespace bitale::runtime

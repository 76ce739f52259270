#include "runtime/lapack.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "runtime/batches.hpp"
#include "runtime/blas.hpp"
#include "runtime/cblas.hpp"
#include "runtime/numbers.hpp"
#include "runtime/rows_of_matrices.hpp"

namespace bitale::runtime {
namespace {

template <class T>
using Potrf = void (*)(const char* triangle, const int* n, T* a, const int* lda, int* info, std::size_t length);
// CBLAS takes real factors by value, complex ones by address.
template <class T>
using CblasScalar = std::conditional_t<is_complex_number<T>, const T*, T>;
template <class T>
using Trsm = void (*)(CblasOrder, CblasSide, CblasTriangle, CblasTranspose, CblasDiagonal, int m, int n,
                      CblasScalar<T> alpha, const T* a, int lda, T* b, int ldb);
template <class T>
using Trsv = void (*)(CblasOrder, CblasTriangle, CblasTranspose, CblasDiagonal, int n, const T* a, int lda, T* x,
                      int incx);

// Each may be null: a CBLAS does not necessarily include LAPACK.
template <class T>
struct LapackFunctions {
  Potrf<T> potrf;
  Trsm<T> trsm;
  Trsv<T> trsv;

  static const LapackFunctions& get() {
    static const LapackFunctions it{number_symbol<Potrf<T>, T>("", "potrf_"),
                                    number_symbol<Trsm<T>, T>("cblas_", "trsm"),
                                    number_symbol<Trsv<T>, T>("cblas_", "trsv")};
    return it;
  }
};

bool fits_int(std::int64_t length) { return length <= std::numeric_limits<int>::max(); }

// Up to these sizes, plain loops are faster than calls of the library.
constexpr std::int64_t small_factor = 16, small_triangle = max_lane_rows;
constexpr std::int64_t min_columns = 4;  // of a right-hand side, for which vector lanes pay off

// ---- Cholesky -------------------------------------------------------------------------------------------------------

// Row by row: each element needs two rows that are already computed up to its column.
template <class T>
std::int64_t plain_lower(std::int64_t n, T* A) {
  for (std::int64_t i = 0; i < n; ++i) {
    T* const row = A + i * n;
    for (std::int64_t j = 0; j <= i; ++j) {
      const T* const other = A + j * n;
      T sum = row[j];
      for (std::int64_t l = 0; l < j; ++l) sum -= times(row[l], conjugate(other[l]));
      if (j < i) {
        row[j] = sum / real_part(other[j]);
      } else {
        row[j] = real_part(sum);
        if (!(real_part(sum) > 0)) return i + 1;
        row[j] = std::sqrt(real_part(sum));
      }
    }
  }
  return 0;
}

// Row by row: each finished row is eliminated from all rows below it.
template <class T>
std::int64_t plain_upper(std::int64_t n, T* A) {
  for (std::int64_t k = 0; k < n; ++k) {
    T* const row = A + k * n;
    if (!(real_part(row[k]) > 0)) return k + 1;
    const PartOf<T> diagonal = std::sqrt(real_part(row[k]));
    row[k] = diagonal;
    for (std::int64_t j = k + 1; j < n; ++j) row[j] /= diagonal;
    for (std::int64_t i = k + 1; i < n; ++i) {
      T* const below = A + i * n;
      const T factor = conjugate(row[i]);
      for (std::int64_t j = i; j < n; ++j) below[j] -= times(factor, row[j]);
    }
  }
  return 0;
}

template <class T>
std::int64_t factor(std::int64_t n, bool lower, T* A) {
  const auto potrf = n > small_factor && fits_int(n) ? LapackFunctions<T>::get().potrf : nullptr;
  if (!potrf) return lower ? plain_lower(n, A) : plain_upper(n, A);
  const int length = int(n);
  int info = 0;
  // LAPACK sees the transpose of the row-major memory, which for a Hermitian matrix is the conjugate, and so are its
  // factors. The triangle that is the upper one by rows is factored a quarter faster, which is worth two passes over a
  // real matrix.
  bool mirrored = false;
  if constexpr (!is_complex_number<T>) mirrored = lower && mirror_triangle(n, true, A);
  potrf(lower && !mirrored ? "U" : "L", &length, A, &length, &info, 1);
  if constexpr (!is_complex_number<T>)
    if (mirrored && info == 0) mirror_triangle(n, false, A);
  if (info != 0) return info;
  for (std::int64_t i = 0; i < n; ++i) {  // some libraries do not report nan
    if (!(real_part(A[i * n + i]) > 0)) return i + 1;
    A[i * n + i] = real_part(A[i * n + i]);
  }
  return 0;
}

}  // namespace

template <class T>
std::int64_t cholesky(std::int64_t n, std::int64_t lower, std::int64_t to_nan, T* A) noexcept {
  const std::int64_t failed = factor(n, lower != 0, A);
  if (failed) {
    if (to_nan == 0 || (to_nan == 2 && std::isfinite(real_part(A[(failed - 1) * (n + 1)])))) return failed;
    std::fill(A, A + n * n, nan_of<T>());
    return 0;
  }
  for (std::int64_t i = 0; i < n; ++i)
    if (lower)
      std::fill(A + i * n + i + 1, A + (i + 1) * n, T(0));
    else
      std::fill(A + i * n, A + i * n + i, T(0));
  return 0;
}

namespace {

constexpr std::string_view cholesky_c =
    R"(// A[n, n] becomes its Cholesky factor; or the order of the first minor that is not positive definite.
static int64_t bt_cholesky_$S(int64_t n, int64_t lower, int64_t to_nan, $T *A) {
  const int64_t down = lower ? n : 1, across = lower ? 1 : n;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j <= i; ++j) {
      $T sum = A[i * down + j * across];
      for (int64_t l = 0; l < j; ++l) sum -= A[i * down + l * across] * A[j * down + l * across];
      if (j < i) {
        A[i * down + j * across] = sum / A[j * down + j * across];
        A[j * down + i * across] = 0;
      } else if (sum > 0) {
        A[i * down + j * across] = ($T)sqrt((double)sum);
      } else {
        if (to_nan == 0 || (to_nan == 2 && isfinite(sum))) return i + 1;
        for (int64_t k = 0; k < n * n; ++k) A[k] = NAN;
        return 0;
      }
    }
  return 0;
}
)";

// ---- triangular systems ---------------------------------------------------------------------------------------------

// `forward`: starts with the first unknown. a(i, j) is the coefficient of unknown j in equation i.
template <class T, class Coefficient>
void substitute(std::int64_t n, std::int64_t k, bool forward, bool unit, T* B, Coefficient a) {
  for (std::int64_t step = 0; step < n; ++step) {
    const std::int64_t i = forward ? step : n - 1 - step;
    T* const row = B + i * k;
    const std::int64_t begin = forward ? 0 : i + 1, end = forward ? i : n;
    if (k == 1) {
      T sum = row[0];
      for (std::int64_t j = begin; j < end; ++j) sum -= times(a(i, j), B[j]);
      row[0] = unit ? sum : sum / a(i, i);
      continue;
    }
    for (std::int64_t j = begin; j < end; ++j) {
      const T factor = a(i, j);
      const T* const known = B + j * k;
      for (std::int64_t c = 0; c < k; ++c) row[c] -= times(factor, known[c]);
    }
    if (unit) continue;
    const T diagonal = a(i, i);
    for (std::int64_t c = 0; c < k; ++c) row[c] /= diagonal;
  }
}

}  // namespace

template <class T>
std::int64_t solve_triangular(std::int64_t n, std::int64_t k, std::int64_t lower, std::int64_t trans, std::int64_t unit,
                              std::int64_t to_nan, const T* A, T* B) noexcept {
  for (std::int64_t i = 0; i < n && !unit; ++i) {
    if (A[i * n + i] != T(0)) continue;
    if (!to_nan) return i + 1;
    std::fill(B, B + n * k, nan_of<T>());
    return 0;
  }
  if (n == 0 || k == 0) return 0;
  const CblasTriangle triangle = lower ? CblasLower : CblasUpper;
  constexpr CblasTranspose forms[] = {CblasNoTrans, CblasTrans, CblasConjTrans};
  const CblasTranspose form = forms[trans];
  const CblasDiagonal diagonal = unit ? CblasUnit : CblasNonUnit;
  const bool by_library = n > small_triangle && fits_int(n) && fits_int(k);
  if (k == 1 && by_library)
    if (const auto trsv = LapackFunctions<T>::get().trsv)
      return trsv(CblasRowMajor, triangle, form, diagonal, int(n), A, int(n), B, 1), 0;
  if (k > 1 && by_library)
    if (const auto trsm = LapackFunctions<T>::get().trsm) {
      const T one = 1;
      CblasScalar<T> alpha;
      if constexpr (is_complex_number<T>)
        alpha = &one;
      else
        alpha = one;
      return trsm(CblasRowMajor, CblasLeft, triangle, form, diagonal, int(n), int(k), alpha, A, int(n), B, int(k)), 0;
    }
  if constexpr (!is_complex_number<T>)
    if (k >= min_columns && n <= small_triangle &&
        solve_columns_in_lanes(n, k, lower != 0, trans != 0, unit != 0, A, B))
      return 0;
  if (trans == 0)
    substitute(n, k, lower != 0, unit != 0, B, [&](std::int64_t i, std::int64_t j) { return A[i * n + j]; });
  else if (trans == 1)
    substitute(n, k, !lower, unit != 0, B, [&](std::int64_t i, std::int64_t j) { return A[j * n + i]; });
  else
    substitute(n, k, !lower, unit != 0, B, [&](std::int64_t i, std::int64_t j) { return conjugate(A[j * n + i]); });
  return 0;
}

#define FOR(N)                                \
  template decltype(cholesky<N>) cholesky<N>; \
  template decltype(solve_triangular<N>) solve_triangular<N>;
FOR(double)
FOR(float)
FOR(std::complex<double>)
FOR(std::complex<float>)
#undef FOR

namespace {

constexpr std::string_view solve_triangular_c =
    R"(// B[n, k] becomes X with op(A) X = B, A a triangle; or the first index where its diagonal is 0.
static int64_t bt_solve_triangular_$S(int64_t n, int64_t k, int64_t lower, int64_t trans, int64_t unit,
                                      int64_t to_nan, const $T *A, $T *B) {
  const int64_t down = trans ? 1 : n, across = trans ? n : 1;
  const int forward = !lower == !!trans;
  if (!unit)
    for (int64_t i = 0; i < n; ++i)
      if (A[i * n + i] == 0) {
        if (!to_nan) return i + 1;
        for (int64_t e = 0; e < n * k; ++e) B[e] = NAN;
        return 0;
      }
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = forward ? step : n - 1 - step;
    for (int64_t j = forward ? 0 : i + 1; j < (forward ? i : n); ++j)
      for (int64_t c = 0; c < k; ++c) B[i * k + c] -= A[i * down + j * across] * B[j * k + c];
    if (!unit)
      for (int64_t c = 0; c < k; ++c) B[i * k + c] /= A[i * n + i];
  }
  return 0;
}
)";

constexpr std::string_view not_definite = "cholesky: a matrix is not positive definite";
constexpr std::string_view singular_triangle = "solve_triangular: a matrix is singular: its diagonal has a 0";
constexpr std::string_view triangle_parameters = "n k lower trans unit to_nan A inout:B";

// A product of complex numbers is four real ones.
#define ROWS(suffix, T)                                                                                         \
  matrix_row<T>(runtime_function("bt_cholesky_" #suffix, cholesky<T>, "n lower to_nan inout:A"), not_definite,  \
                {1, {"n", "n", "n"}, 3}, cholesky_c),                                                           \
      matrix_row<T>(runtime_function("bt_solve_triangular_" #suffix, solve_triangular<T>, triangle_parameters), \
                    singular_triangle, {1, {"n", "n", "k"}}, solve_triangular_c),                               \
      matrix_row<T>(runtime_function("bt_complex_cholesky_" #suffix, over_pairs<cholesky<std::complex<T>>>,     \
                                     "n lower to_nan inout:A"),                                                 \
                    not_definite, {4, {"n", "n", "n"}, 3}),                                                     \
      matrix_row<T>(runtime_function("bt_complex_solve_triangular_" #suffix,                                    \
                                     over_pairs<solve_triangular<std::complex<T>>>, triangle_parameters),       \
                    singular_triangle, {4, {"n", "n", "k"}})

const RegisterFunctions lapack_functions{ROWS(f64, double), ROWS(f32, float)};

#undef ROWS

}  // namespace
}  // namespace bitale::runtime

#include "runtime/matrix_functions.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <string_view>

#include "runtime/lapack_calls.hpp"
#include "runtime/lu.hpp"
#include "runtime/matrix_products.hpp"
#include "runtime/rows_of_matrices.hpp"

namespace bitale::runtime {

// ---- least squares --------------------------------------------------------------------------------------------------

namespace {

// Inverts singular values above the limit, and sets others to 0. Returns the rank.
template <class T>
std::int64_t invert_values(std::int64_t m, std::int64_t n, double rcond, const T* s, T* inverse) {
  const std::int64_t k = std::min(m, n);
  const T relative = rcond < 0 ? T(std::max(m, n)) * std::numeric_limits<T>::epsilon() : T(rcond);
  const T limit = k > 0 ? relative * s[0] : T(0);
  std::int64_t rank = 0;
  for (std::int64_t i = 0; i < k; ++i) {
    inverse[i] = s[i] > limit ? T(1) / s[i] : s[i] != s[i] ? s[i] : T(0);
    rank += s[i] > limit;
  }
  return rank;
}

}  // namespace

template <class N>
std::int64_t pinv(std::int64_t m, std::int64_t n, double rcond, const N* A, N* X) noexcept {
  using T = PartOf<N>;
  const std::int64_t k = std::min(m, n);
  const CallMemory<N> U(m * k), Vh(k * n);
  const CallMemory<T> s(2 * k);
  if (!U || !s || !Vh) return no_work_memory;
  if (const auto failed = svd(m, n, 0, A, U.get(), s.get(), Vh.get())) return failed;
  T* const inverse = s.get() + k;
  invert_values(m, n, rcond, s.get(), inverse);
  for (std::int64_t i = 0; i < k; ++i)
    for (std::int64_t j = 0; j < n; ++j) Vh.get()[i * n + j] *= inverse[i];
  product_of(n, m, k, true, true, Vh.get(), U.get(), X);
  return 0;
}

template <class N>
std::int64_t lstsq(std::int64_t m, std::int64_t n, std::int64_t k, double rcond, const N* A, const N* B, N* X,
                   std::int64_t* rank, PartOf<N>* s) noexcept {
  const std::int64_t count = std::min(m, n);
  const CallMemory<N> U(m * count), Vh(count * n), moved(count * k);
  const CallMemory<PartOf<N>> inverse(count);
  if (!U || !inverse || !Vh || !moved) return no_work_memory;
  if (const auto failed = svd(m, n, 0, A, U.get(), s, Vh.get())) return failed;
  *rank = invert_values(m, n, rcond, s, inverse.get());
  product_of(count, k, m, true, false, U.get(), B, moved.get());
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int64_t j = 0; j < k; ++j) moved.get()[i * k + j] *= inverse.get()[i];
  product_of(n, k, count, true, false, Vh.get(), moved.get(), X);
  return 0;
}

template decltype(pinv<std::complex<double>>) pinv<std::complex<double>>;
template decltype(pinv<std::complex<float>>) pinv<std::complex<float>>;
template decltype(lstsq<std::complex<double>>) lstsq<std::complex<double>>;
template decltype(lstsq<std::complex<float>>) lstsq<std::complex<float>>;

// ---- Sylvester's equation -------------------------------------------------------------------------------------------

// Read by columns, the memory has the transposed matrices, which satisfy B' Y + Y A' = Q'. With B' = V S V^H and
// A' = U R U^H, the equation is S Z + Z R = V^H Q' U for Z = V^H Y U.
template <class N>
std::int64_t solve_sylvester(std::int64_t m, std::int64_t n, const N* A, const N* B, const N* Q, N* X) noexcept {
  using T = PartOf<N>;
  BITALE_LAPACK_SYMBOL(N, trsyl, const char*, const char*, const int*, const int*, const int*, const N*, const int*,
                       const N*, const int*, N*, const int*, T*, int*, std::size_t, std::size_t);
  BITALE_LAPACK_SYMBOL(N, gemm, const char*, const char*, const int*, const int*, const int*, const N*, const N*,
                       const int*, const N*, const int*, const N*, N*, const int*, std::size_t, std::size_t);
  if (m == 0 || n == 0) return 0;
  if (!lengths_fit(m, n)) return no_work_memory;
  if (!all_finite(A, m * m) || !all_finite(B, n * n) || !all_finite(Q, m * n)) return fill_nan(X, m * n), 0;
  const Matrices<N> left(2, n * n), right(2, m * m);
  const CallMemory<N> other(m * n);
  if (!left || !right || !other) return no_work_memory;
  N *const S = left[0], *const V = left[1], *const R = right[0], *const U = right[1];
  std::copy(B, B + n * n, S);
  std::copy(A, A + m * m, R);
  if (const auto failed = schur_by_columns(n, 0, S, V)) return failed;
  if (const auto failed = schur_by_columns(m, 0, R, U)) return failed;
  const int rows = int(n), columns = int(m), sign = 1;
  const N one = 1, zero = 0;
  const auto from_left = [&](const char* form, const N* of, N* to) {
    gemm(form, "N", &rows, &columns, &rows, &one, V, &rows, of, &rows, &zero, to, &rows, 1, 1);
  };
  const auto from_right = [&](const char* form, const N* of, N* to) {
    gemm("N", form, &rows, &columns, &columns, &one, of, &rows, U, &columns, &zero, to, &rows, 1, 1);
  };
  from_left("C", Q, other.get());
  from_right("N", other.get(), X);
  T scale = 1;
  int info = 0;
  trsyl("N", "N", &sign, &rows, &columns, S, &rows, R, &columns, X, &rows, &scale, &info, 1, 1);
  if (info != 0) return singular_equation;
  for (std::int64_t i = 0; i < m * n && scale != 1; ++i) X[i] /= scale;
  from_left("N", X, other.get());
  from_right("C", other.get(), X);
  return 0;
}
template decltype(solve_sylvester<std::complex<double>>) solve_sylvester<std::complex<double>>;
template decltype(solve_sylvester<std::complex<float>>) solve_sylvester<std::complex<float>>;

// ---- tridiagonal systems --------------------------------------------------------------------------------------------

template <class T>
std::int64_t solve_tridiagonal(std::int64_t n, std::int64_t k, const T* lower, const T* d, const T* upper, T* B,
                               T* work) noexcept {
  T *const l = work, *const middle = work + n, *const u = work + 2 * n, *const second = work + 3 * n;
  if (n == 0) return 0;
  std::copy(lower, lower + n - 1, l);
  std::copy(d, d + n, middle);
  std::copy(upper, upper + n - 1, u);
  std::fill(second, second + n, T(0));
  for (std::int64_t i = 0; i < n; ++i) {
    T* const row = B + i * k;
    if (i + 1 < n && std::abs(l[i]) > std::abs(middle[i])) {
      std::swap(middle[i], l[i]);
      std::swap(u[i], middle[i + 1]);
      if (i + 2 < n) std::swap(second[i], u[i + 1]);
      std::swap_ranges(row, row + k, row + k);
    }
    if (middle[i] == 0) return i + 1;
    if (i + 1 == n) break;
    const T factor = l[i] / middle[i];
    middle[i + 1] -= factor * u[i];
    if (i + 2 < n) u[i + 1] -= factor * second[i];
    for (std::int64_t c = 0; c < k; ++c) row[k + c] -= factor * row[c];
  }
  for (std::int64_t i = n; i-- > 0;) {
    T* const row = B + i * k;
    for (std::int64_t c = 0; c < k; ++c) {
      T sum = row[c];
      if (i + 1 < n) sum -= u[i] * row[k + c];
      if (i + 2 < n) sum -= second[i] * row[2 * k + c];
      row[c] = sum / middle[i];
    }
  }
  return 0;
}

// ---- rows -----------------------------------------------------------------------------------------------------------

namespace {

constexpr std::string_view solve_tridiagonal_c =
    R"(// B[n, k] becomes X with A X = B for the matrix A of these diagonals; or the first row without a pivot. work[4 n]
static int64_t bt_solve_tridiagonal_$S(int64_t n, int64_t k, const $T *lower, const $T *d, const $T *upper, $T *B,
                                        $T *work) {
  $T *const l = work, *const middle = work + n, *const u = work + 2 * n, *const second = work + 3 * n;
  for (int64_t i = 0; i < n; ++i) {
    middle[i] = d[i];
    second[i] = 0;
    if (i + 1 < n) l[i] = lower[i], u[i] = upper[i];
  }
  for (int64_t i = 0; i < n; ++i) {
    $T *const row = B + i * k;
    if (i + 1 < n && fabs((double)l[i]) > fabs((double)middle[i])) {
      const $T below = l[i], beside = middle[i + 1];
      l[i] = middle[i];
      middle[i] = below;
      middle[i + 1] = u[i];
      u[i] = beside;
      if (i + 2 < n) second[i] = u[i + 1], u[i + 1] = 0;
      for (int64_t c = 0; c < k; ++c) {
        const $T kept = row[c];
        row[c] = row[k + c];
        row[k + c] = kept;
      }
    }
    if (middle[i] == 0) return i + 1;
    if (i + 1 == n) break;
    const $T factor = l[i] / middle[i];
    middle[i + 1] -= factor * u[i];
    if (i + 2 < n) u[i + 1] -= factor * second[i];
    for (int64_t c = 0; c < k; ++c) row[k + c] -= factor * row[c];
  }
  for (int64_t i = n; i-- > 0;) {
    $T *const row = B + i * k;
    for (int64_t c = 0; c < k; ++c) {
      $T sum = row[c];
      if (i + 1 < n) sum -= u[i] * row[k + c];
      if (i + 2 < n) sum -= second[i] * row[2 * k + c];
      row[c] = sum / middle[i];
    }
  }
  return 0;
}
)";

constexpr std::string_view no_unique_solution = "solve_sylvester: the equation has no unique solution";

#define ROWS(T, suffix)                                                                                              \
  BITALE_NUMBER_ROWS(T, suffix, pinv, "m n rcond A X", "pinv: the iteration did not converge", 16, {"m", "n", "n"}), \
      BITALE_NUMBER_ROWS(T, suffix, lstsq, "m n k rcond A B X rank s", "lstsq: the iteration did not converge", 16,  \
                         {"m", "n", "n"}),                                                                           \
      BITALE_NUMBER_ROWS(T, suffix, solve_sylvester, "m n A B Q X", no_unique_solution, 25, {"m", "m", "n"}),        \
      matrix_row<T>(runtime_function("bt_solve_tridiagonal_" #suffix, solve_tridiagonal<T>,                          \
                                     "n k lower d upper inout:B scratch:work"),                                      \
                    "solve_tridiagonal: a matrix is singular", Flops{6, {"n", "k"}}, solve_tridiagonal_c)

const RegisterFunctions matrix_function_rows{ROWS(double, f64), ROWS(float, f32)};

#undef ROWS

}  // namespace
}  // namespace bitale::runtime

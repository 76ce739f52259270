#include "runtime/matrix_functions.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <string_view>

#include "runtime/lapack_calls.hpp"
#include "runtime/lu.hpp"
#include "runtime/rows_of_matrices.hpp"

namespace bitale::runtime {

namespace {

void product_of(std::int64_t m, std::int64_t n, std::int64_t k, bool ta, bool tb, const double* a, const double* b,
                double* c) {
  bt_gemm_f64(m, n, k, ta, tb, a, ta ? m : k, b, tb ? k : n, c);
}
void product_of(std::int64_t m, std::int64_t n, std::int64_t k, bool ta, bool tb, const float* a, const float* b,
                float* c) {
  bt_gemm_f32(m, n, k, ta, tb, a, ta ? m : k, b, tb ? k : n, c);
}

// Several matrices in one piece of memory.
template <class T>
class Matrices {
 public:
  Matrices(std::int64_t count, std::int64_t size) : memory_(count * size), size_(size) {}
  explicit operator bool() const { return bool(memory_); }
  T* operator[](std::int64_t i) const { return memory_.get() + i * size_; }

 private:
  CallMemory<T> memory_;
  std::int64_t size_;
};

}  // namespace

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

template <class T>
std::int64_t pinv(std::int64_t m, std::int64_t n, double rcond, const T* A, T* X) noexcept {
  const std::int64_t k = std::min(m, n);
  const CallMemory<T> U(m * k), s(2 * k), Vt(k * n);
  if (!U || !s || !Vt) return no_work_memory;
  if (const auto failed = svd(m, n, 0, A, U.get(), s.get(), Vt.get())) return failed;
  T* const inverse = s.get() + k;
  invert_values(m, n, rcond, s.get(), inverse);
  for (std::int64_t i = 0; i < k; ++i)
    for (std::int64_t j = 0; j < n; ++j) Vt.get()[i * n + j] *= inverse[i];
  product_of(n, m, k, true, true, Vt.get(), U.get(), X);
  return 0;
}

template <class T>
std::int64_t lstsq(std::int64_t m, std::int64_t n, std::int64_t k, double rcond, const T* A, const T* B, T* X,
                   std::int64_t* rank, T* s) noexcept {
  const std::int64_t count = std::min(m, n);
  const CallMemory<T> U(m * count), inverse(count), Vt(count * n), moved(count * k);
  if (!U || !inverse || !Vt || !moved) return no_work_memory;
  if (const auto failed = svd(m, n, 0, A, U.get(), s, Vt.get())) return failed;
  *rank = invert_values(m, n, rcond, s, inverse.get());
  product_of(count, k, m, true, false, U.get(), B, moved.get());
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int64_t j = 0; j < k; ++j) moved.get()[i * k + j] *= inverse.get()[i];
  product_of(n, k, count, true, false, Vt.get(), moved.get(), X);
  return 0;
}

// ---- the exponential ------------------------------------------------------------------------------------------------

template <class T>
std::int64_t expm(std::int64_t n, const T* A, T* X) noexcept {
  if (n == 0) return 0;
  const std::int64_t size = n * n;
  if (!all_finite(A, size)) return fill_nan(X, size), 0;
  const Matrices<T> memory(7, size);
  const CallMemory<std::int32_t> pivots(n);
  if (!memory || !pivots) return no_work_memory;
  T *const a = memory[0], *const a2 = memory[1], *const a4 = memory[2], *const a6 = memory[3], *const u = memory[4],
           *const v = memory[5], *const work = memory[6];
  T norm = 0;  // the largest sum of a column
  for (std::int64_t j = 0; j < n; ++j) {
    T sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += std::abs(A[i * n + j]);
    norm = std::max(norm, sum);
  }
  if (!std::isfinite(norm)) return fill_nan(X, size), 0;
  const int squarings = norm > expm_limit ? int(std::ceil(std::log2(double(norm) / expm_limit))) : 0;
  for (std::int64_t i = 0; i < size; ++i) a[i] = std::ldexp(A[i], -squarings);
  // Divided by b[0], the coefficients are in the range of float32.
  const auto c = [](int k) { return T(expm_coefficients[k] / expm_coefficients[0]); };
  product_of(n, n, n, false, false, a, a, a2);
  product_of(n, n, n, false, false, a2, a2, a4);
  product_of(n, n, n, false, false, a4, a2, a6);
  for (std::int64_t i = 0; i < size; ++i) work[i] = c(13) * a6[i] + c(11) * a4[i] + c(9) * a2[i];
  product_of(n, n, n, false, false, a6, work, v);
  for (std::int64_t i = 0; i < size; ++i) v[i] += c(7) * a6[i] + c(5) * a4[i] + c(3) * a2[i];
  for (std::int64_t i = 0; i < n; ++i) v[i * n + i] += c(1);
  product_of(n, n, n, false, false, a, v, u);
  for (std::int64_t i = 0; i < size; ++i) work[i] = c(12) * a6[i] + c(10) * a4[i] + c(8) * a2[i];
  product_of(n, n, n, false, false, a6, work, v);
  for (std::int64_t i = 0; i < size; ++i) v[i] += c(6) * a6[i] + c(4) * a4[i] + c(2) * a2[i];
  for (std::int64_t i = 0; i < n; ++i) v[i * n + i] += c(0);
  for (std::int64_t i = 0; i < size; ++i) {
    X[i] = v[i] + u[i];
    a[i] = v[i] - u[i];
  }
  if (solve(n, n, false, false, a, X, work, pivots.get())) return fill_nan(X, size), 0;  // never for a finite matrix
  for (int k = 0; k < squarings; ++k) {
    product_of(n, n, n, false, false, X, X, a);
    std::copy(a, a + size, X);
  }
  return 0;
}

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

// ---- Riccati's equation ---------------------------------------------------------------------------------------------

namespace {

template <class T>
void symmetric_part(std::int64_t n, const T* from, T* to) {
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) to[i * n + j] = from[i * n + j] / 2 + from[j * n + i] / 2;
}

}  // namespace

template <class T>
std::int64_t solve_discrete_are(std::int64_t n, std::int64_t m, const T* A, const T* B, const T* Q, const T* R,
                                T* X) noexcept {
  const std::int64_t size = n * n;
  if (n == 0) return 0;
  if (!all_finite(A, size) || !all_finite(B, n * m) || !all_finite(Q, size) || !all_finite(R, m * m))
    return fill_nan(X, size), 0;
  const Matrices<T> memory(8, size), inputs(2, n * m);
  const std::int64_t largest = std::max(n, m);
  const CallMemory<T> factor(largest * largest), weights(m * m);
  const CallMemory<std::int32_t> pivots(largest);
  if (!memory || !inputs || !factor || !weights || !pivots) return no_work_memory;
  T *const a = memory[0], *const g = memory[1], *const w = memory[2], *const wa = memory[3], *const wg = memory[4],
           *const one = memory[5], *const two = memory[6], *const old = memory[7];
  std::copy(A, A + size, a);
  symmetric_part(n, Q, X);
  symmetric_part(m, R, weights.get());
  // G = B R^-1 B^T
  transpose_into(n, m, B, inputs[0]);
  if (solve(m, n, false, false, weights.get(), inputs[0], factor.get(), pivots.get())) return singular_equation;
  product_of(n, n, m, false, false, B, inputs[0], g);
  for (int step = 0; step < 60; ++step) {
    // With W = I + G X: A' = A W^-1 A, G' = G + A W^-1 G A^T, X' = X + A^T X W^-1 A
    product_of(n, n, n, false, false, g, X, w);
    for (std::int64_t i = 0; i < n; ++i) w[i * n + i] += 1;
    std::copy(a, a + size, wa);
    std::copy(g, g + size, wg);
    if (solve(n, n, false, false, w, wa, factor.get(), pivots.get())) return singular_equation;
    if (solve(n, n, false, false, w, wg, factor.get(), pivots.get())) return singular_equation;
    product_of(n, n, n, true, false, a, X, one);
    product_of(n, n, n, false, false, one, wa, two);
    std::copy(X, X + size, old);
    T change = 0, most = 0;
    for (std::int64_t i = 0; i < size; ++i) {
      X[i] += two[i];
      change = std::max(change, std::abs(two[i]));
      most = std::max(most, std::abs(X[i]));
    }
    if (!std::isfinite(most) || !std::isfinite(change)) return 1;
    if (change <= 4 * std::numeric_limits<T>::epsilon() * most) {
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < i; ++j) X[i * n + j] = X[j * n + i] = (X[i * n + j] + X[j * n + i]) / 2;
      return 0;
    }
    product_of(n, n, n, false, false, a, wg, one);
    product_of(n, n, n, false, true, one, a, two);
    for (std::int64_t i = 0; i < size; ++i) g[i] += two[i];
    product_of(n, n, n, false, false, a, wa, one);
    std::copy(one, one + size, a);
  }
  return 1;
}

template <class T>
std::int64_t solve_continuous_are(std::int64_t n, std::int64_t m, const T* A, const T* B, const T* Q, const T* R,
                                  T* X) noexcept {
  const std::int64_t size = n * n, twice = 2 * n;
  if (n == 0) return 0;
  if (!all_finite(A, size) || !all_finite(B, n * m) || !all_finite(Q, size) || !all_finite(R, m * m))
    return fill_nan(X, size), 0;
  const std::int64_t largest = std::max(n, m);
  const Matrices<T> memory(6, size), wide(3, 4 * size);
  const CallMemory<T> gain(n * m), weights(m * m), factor(largest * largest);
  const CallMemory<std::int32_t> pivots(largest);
  if (!memory || !wide || !gain || !weights || !factor || !pivots) return no_work_memory;
  T *const g = memory[0], *const q = memory[1], *const basis = memory[2], *const closed = memory[3],
           *const left = memory[4], *const work = memory[5];
  T *const hamiltonian = wide[0], *const upper = wide[1], *const Z = wide[2];
  symmetric_part(n, Q, q);
  symmetric_part(m, R, weights.get());
  transpose_into(n, m, B, gain.get());
  if (solve(m, n, false, false, weights.get(), gain.get(), factor.get(), pivots.get())) return singular_equation;
  product_of(n, n, m, false, false, B, gain.get(), g);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      hamiltonian[i * twice + j] = A[i * n + j];
      hamiltonian[i * twice + n + j] = -g[i * n + j];
      hamiltonian[(n + i) * twice + j] = -q[i * n + j];
      hamiltonian[(n + i) * twice + n + j] = -A[j * n + i];
    }
  if (const auto failed = schur(twice, 1, hamiltonian, upper, Z)) return failed;
  T most = 0;
  for (std::int64_t i = 0; i < 4 * size; ++i) most = std::max(most, std::abs(upper[i]));
  // Half of the eigenvalues must be stable, and none may be on the axis between the halves.
  const T rounding = 4 * T(n) * std::numeric_limits<T>::epsilon() * most;
  for (std::int64_t i = 0; i < twice; ++i) {
    const T real = upper[i * twice + i];
    if (!(i < n ? real < -rounding : real > rounding)) return 1;
  }
  // X = V U^-1 for the columns (U, V) that span the stable subspace; X is its own transpose.
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      basis[i * n + j] = Z[i * twice + j];
      left[j * n + i] = Z[(n + i) * twice + j];
    }
  if (solve(n, n, true, false, basis, left, factor.get(), pivots.get())) return 1;
  if (!all_finite(left, size)) return 1;
  symmetric_part(n, left, X);
  // (A - G X)^T D + D (A - G X) = -(A^T X + X A - X G X + Q)
  product_of(n, n, n, false, false, g, X, closed);
  product_of(n, n, n, false, false, X, closed, left);
  product_of(n, n, n, false, false, X, A, work);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      const std::int64_t at = i * n + j;
      basis[at] = left[at] - work[at] - work[j * n + i] - q[at];
      closed[at] = A[at] - closed[at];
    }
  transpose_into(n, n, closed, left);
  if (const auto failed = solve_sylvester(n, n, left, closed, basis, work)) return failed;
  if (!all_finite(work, size)) return 1;
  for (std::int64_t i = 0; i < size; ++i) work[i] += X[i];
  symmetric_part(n, work, X);
  return 0;
}

// ---- rows -----------------------------------------------------------------------------------------------------------

namespace {

constexpr std::string_view no_unique_solution = "solve_sylvester: the equation has no unique solution";

#define ROW(T, suffix, name, parameters, failure, ...) \
  matrix_row<T>(runtime_function("bt_" #name "_" #suffix, name<T>, parameters), failure, Flops __VA_ARGS__)
#define ROWS(T, suffix)                                                                                               \
  ROW(T, suffix, pinv, "m n rcond A X", "pinv: the iteration did not converge", {16, {"m", "n", "n"}}),               \
      ROW(T, suffix, lstsq, "m n k rcond A B X rank s", "lstsq: the iteration did not converge",                      \
          {16, {"m", "n", "n"}}),                                                                                     \
      ROW(T, suffix, expm, "n A X", "expm: there is not enough memory", {20, {"n", "n", "n"}}),                       \
      ROW(T, suffix, solve_sylvester, "m n A B Q X", no_unique_solution, {25, {"m", "m", "n"}}),                      \
      ROW(T, suffix, complex_solve_sylvester, "m n A B Q X", no_unique_solution, {100, {"m", "m", "n"}}),             \
      ROW(T, suffix, solve_tridiagonal, "n k lower d upper inout:B scratch:work",                                     \
          "solve_tridiagonal: a matrix is singular", {6, {"n", "k"}}),                                                \
      ROW(T, suffix, solve_discrete_are, "n m A B Q R X", "solve_discrete_are: there is no stabilising solution",     \
          {100, {"n", "n", "n"}}),                                                                                    \
      ROW(T, suffix, solve_continuous_are, "n m A B Q R X", "solve_continuous_are: there is no stabilising solution", \
          {300, {"n", "n", "n"}})

const RegisterFunctions matrix_function_rows{ROWS(double, f64), ROWS(float, f32)};

#undef ROWS
#undef ROW

}  // namespace
}  // namespace bitale::runtime

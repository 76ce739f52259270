// Both equations are solved for states measured in other units, z = D z', where D is a diagonal of powers of two: A
// becomes D^-1 A D, G = B R^-1 B^H becomes D^-1 G D^-1, and Q and X become D Q D and D X D. D is chosen for these to be
// balanced (Benner 2001, "Symplectic balancing of Hamiltonian matrices"), and nothing is rounded by it.
#include "runtime/riccati.hpp"

#include <algorithm>
#include <cmath>
#include <complex>

#include "runtime/decompositions.hpp"
#include "runtime/lu.hpp"
#include "runtime/matrix_functions.hpp"
#include "runtime/matrix_products.hpp"
#include "runtime/rows_of_matrices.hpp"

namespace bitale::runtime {

namespace {

template <class N>
void hermitian_part(std::int64_t n, const N* from, N* to) {
  using T = PartOf<N>;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) to[i * n + j] = from[i * n + j] / T(2) + conjugate(from[j * n + i]) / T(2);
}
template <class N>
void adjoint_into(std::int64_t m, std::int64_t n, const N* in, N* out) {
  transpose_into(m, n, in, out);
  if constexpr (is_complex_number<N>)
    for (std::int64_t i = 0; i < m * n; ++i) out[i] = std::conj(out[i]);
}
template <class N>
N times_power_of_two(N x, int exponent) {
  if constexpr (is_complex_number<N>)
    return {std::ldexp(x.real(), exponent), std::ldexp(x.imag(), exponent)};
  else
    return std::ldexp(x, exponent);
}

// A, G and Q of an equation with balanced states.
template <class N>
class BalancedStates {
  using T = PartOf<N>;

 public:
  explicit BalancedStates(std::int64_t n) : n_(n), memory_(3, n * n), d_(n) {}
  explicit operator bool() const { return memory_ && d_; }
  N* a() const { return memory_[0]; }
  N* g() const { return memory_[1]; }
  N* q() const { return memory_[2]; }

  // False if R is singular.
  bool set(std::int64_t m, const N* A, const N* B, const N* Q, const N* R, N* inputs, N* weights, N* factor,
           std::int32_t* pivots) const {
    std::copy(A, A + n_ * n_, a());
    hermitian_part(n_, Q, q());
    hermitian_part(m, R, weights);
    adjoint_into(n_, m, B, inputs);
    if (solve(m, n_, false, false, weights, inputs, factor, pivots)) return false;
    product_of(n_, n_, m, false, false, B, inputs, factor);
    hermitian_part(n_, factor, g());
    balance();
    return true;
  }
  // The solution in the units of the caller.
  void restore(N* x) const {
    for (std::int64_t i = 0; i < n_; ++i)
      for (std::int64_t j = 0; j < n_; ++j)
        x[i * n_ + j] = times_power_of_two(x[i * n_ + j], -d_.get()[i] - d_.get()[j]);
  }

 private:
  void balance() const {
    constexpr int most = std::numeric_limits<T>::max_exponent / 3, max_sweeps = 40;
    int* const d = d_.get();
    std::fill(d, d + n_, 0);
    bool changed = true;
    for (int sweep = 0; changed && sweep < max_sweeps; ++sweep) {
      changed = false;
      for (std::int64_t i = 0; i < n_; ++i) {
        // What is multiplied by a power of the change of unit, by its exponent: 2, 1, -1 or -2.
        double up = 0, down = 0;
        for (std::int64_t j = 0; j < n_; ++j) {
          if (j == i) continue;
          up += double(size_of_pivot(a()[j * n_ + i])) + double(size_of_pivot(q()[i * n_ + j]));
          down += double(size_of_pivot(a()[i * n_ + j])) + double(size_of_pivot(g()[i * n_ + j]));
        }
        const double up2 = double(size_of_pivot(q()[i * n_ + i])), down2 = double(size_of_pivot(g()[i * n_ + i]));
        const auto total = [&](int k) {
          return std::ldexp(up, k) + std::ldexp(down, -k) + std::ldexp(up2, 2 * k) + std::ldexp(down2, -2 * k);
        };
        int change = 0;
        for (const int step : {1, -1})
          while (std::abs(d[i] + change + step) <= most && total(change + step) < total(change)) change += step;
        if (change == 0 || !(total(change) < 0.95 * total(0))) continue;
        changed = true;
        d[i] += change;
        const auto scale = [&](N& x, int exponent) { x = times_power_of_two(x, exponent); };
        for (std::int64_t j = 0; j < n_; ++j) {
          if (j == i) continue;
          scale(a()[i * n_ + j], -change), scale(a()[j * n_ + i], change);
          scale(g()[i * n_ + j], -change), scale(g()[j * n_ + i], -change);
          scale(q()[i * n_ + j], change), scale(q()[j * n_ + i], change);
        }
        scale(g()[i * n_ + i], -2 * change), scale(q()[i * n_ + i], 2 * change);
      }
    }
  }

  const std::int64_t n_;
  const Matrices<N> memory_;
  const CallMemory<int> d_;
};

}  // namespace

template <class N>
std::int64_t solve_discrete_are(std::int64_t n, std::int64_t m, const N* A, const N* B, const N* Q, const N* R,
                                N* X) noexcept {
  using T = PartOf<N>;
  const std::int64_t size = n * n;
  if (n == 0) return 0;
  if (!all_finite(A, size) || !all_finite(B, n * m) || !all_finite(Q, size) || !all_finite(R, m * m))
    return fill_nan(X, size), 0;
  const BalancedStates<N> states(n);
  const Matrices<N> memory(6, size);
  const std::int64_t largest = std::max(n, m);
  const CallMemory<N> factor(largest * largest), weights(m * m), inputs(n * m);
  const CallMemory<std::int32_t> pivots(largest);
  if (!states || !memory || !factor || !weights || !inputs || !pivots) return no_work_memory;
  if (!states.set(m, A, B, Q, R, inputs.get(), weights.get(), factor.get(), pivots.get())) return singular_equation;
  N *const a = states.a(), *const g = states.g(), *const w = memory[0], *const wa = memory[1], *const wg = memory[2],
           *const one = memory[3], *const two = memory[4];
  std::copy(states.q(), states.q() + size, X);
  for (int step = 0; step < 60; ++step) {
    // With W = I + G X: A' = A W^-1 A, G' = G + A W^-1 G A^H, X' = X + A^H X W^-1 A
    product_of(n, n, n, false, false, g, X, w);
    for (std::int64_t i = 0; i < n; ++i) w[i * n + i] += T(1);
    std::copy(a, a + size, wa);
    std::copy(g, g + size, wg);
    if (solve(n, n, false, false, w, wa, factor.get(), pivots.get())) return singular_equation;
    if (solve(n, n, false, false, w, wg, factor.get(), pivots.get())) return singular_equation;
    product_of(n, n, n, true, false, a, X, one);
    product_of(n, n, n, false, false, one, wa, two);
    T change = 0, most = 0;
    for (std::int64_t i = 0; i < size; ++i) {
      X[i] += two[i];
      change = std::max(change, std::abs(two[i]));
      most = std::max(most, std::abs(X[i]));
    }
    if (!std::isfinite(most) || !std::isfinite(change)) return 1;
    if (change <= 4 * std::numeric_limits<T>::epsilon() * most) {
      std::copy(X, X + size, one);
      hermitian_part(n, one, X);
      states.restore(X);
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

template <class N>
std::int64_t solve_continuous_are(std::int64_t n, std::int64_t m, const N* A, const N* B, const N* Q, const N* R,
                                  N* X) noexcept {
  using T = PartOf<N>;
  const std::int64_t size = n * n, twice = 2 * n;
  if (n == 0) return 0;
  if (!all_finite(A, size) || !all_finite(B, n * m) || !all_finite(Q, size) || !all_finite(R, m * m))
    return fill_nan(X, size), 0;
  const std::int64_t largest = std::max(n, m);
  const BalancedStates<N> states(n);
  const Matrices<N> memory(6, size), wide(3, 4 * size);
  const CallMemory<N> gain(n * m), weights(m * m), factor(largest * largest);
  const CallMemory<std::int32_t> pivots(largest);
  if (!states || !memory || !wide || !gain || !weights || !factor || !pivots) return no_work_memory;
  if (!states.set(m, A, B, Q, R, gain.get(), weights.get(), factor.get(), pivots.get())) return singular_equation;
  const N *const a = states.a(), *const g = states.g(), *const q = states.q();
  N *const hamiltonian = wide[0], *const upper = wide[1], *const Z = wide[2];
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      hamiltonian[i * twice + j] = a[i * n + j];
      hamiltonian[i * twice + n + j] = -g[i * n + j];
      hamiltonian[(n + i) * twice + j] = -q[i * n + j];
      hamiltonian[(n + i) * twice + n + j] = -conjugate(a[j * n + i]);
    }
  if (const auto failed = schur(twice, 1, hamiltonian, upper, Z)) return failed;
  T most = 0;
  for (std::int64_t i = 0; i < 4 * size; ++i) most = std::max(most, std::abs(upper[i]));
  // Half of the eigenvalues must be stable, and none may be on the axis between the halves.
  const T rounding = 4 * T(n) * std::numeric_limits<T>::epsilon() * most;
  for (std::int64_t i = 0; i < twice; ++i) {
    const T real = real_part(upper[i * twice + i]);
    if (!(i < n ? real < -rounding : real > rounding)) return 1;
  }
  // X = V U^-1 for the columns (U, V) that span the stable subspace: U^H X = V^H, for X is Hermitian.
  N *const basis = memory[0], *const x = memory[1], *const closed = memory[2], *const residual = memory[3],
           *const other = memory[4], *const work = memory[5];
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      basis[j * n + i] = conjugate(Z[i * twice + j]);
      other[j * n + i] = conjugate(Z[(n + i) * twice + j]);
    }
  if (solve(n, n, false, false, basis, other, factor.get(), pivots.get())) return 1;
  if (!all_finite(other, size)) return 1;
  hermitian_part(n, other, x);

  // Computes A - G X in `closed` and the negative residual -(A^H X + X A - X G X + Q); its largest element, in
  // multiples of what rounding explains.
  const auto find_residual = [&](const N* of) {
    product_of(n, n, n, false, false, g, of, closed);
    product_of(n, n, n, false, false, of, closed, residual);
    product_of(n, n, n, false, false, of, a, work);
    T largest_residual = 0, largest_term = 0;
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        const std::int64_t at = i * n + j;
        largest_term =
            std::max({largest_term, size_of_pivot(residual[at]), size_of_pivot(work[at]), size_of_pivot(q[at])});
        residual[at] = residual[at] - work[at] - conjugate(work[j * n + i]) - q[at];
        largest_residual = std::max(largest_residual, size_of_pivot(residual[at]));
        closed[at] = a[at] - closed[at];
      }
    return largest_residual / (std::numeric_limits<T>::epsilon() * largest_term);
  };
  // Newton: (A - G X)^H D + D (A - G X) = -(A^H X + X A - X G X + Q).
  constexpr int max_steps = 4;
  constexpr T enough = 2;
  std::copy(x, x + size, X);
  T error = find_residual(X);
  for (int step = 0; step < max_steps && !(step > 0 && error <= enough); ++step) {
    adjoint_into(n, n, closed, other);
    if (const auto failed = solve_sylvester(n, n, other, closed, residual, work))
      return step == 0 ? failed : (states.restore(X), 0);
    if (!all_finite(work, size)) return 1;
    for (std::int64_t i = 0; i < size; ++i) work[i] += X[i];
    hermitian_part(n, work, x);
    const T after = find_residual(x);
    if (step > 0 && !(after < error)) break;
    std::copy(x, x + size, X);
    const bool goes_on = after < error / 2;
    error = after;
    if (!goes_on) break;
  }
  states.restore(X);
  return 0;
}

#define INSTANTIATE(N)                                            \
  template decltype(solve_discrete_are<N>) solve_discrete_are<N>; \
  template decltype(solve_continuous_are<N>) solve_continuous_are<N>;
INSTANTIATE(double)
INSTANTIATE(float)
INSTANTIATE(std::complex<double>)
INSTANTIATE(std::complex<float>)
#undef INSTANTIATE

namespace {

constexpr std::string_view no_discrete_solution = "solve_discrete_are: there is no stabilising solution";
constexpr std::string_view no_continuous_solution = "solve_continuous_are: there is no stabilising solution";

#define ROWS(T, suffix)                                                                                           \
  BITALE_NUMBER_ROWS(T, suffix, solve_discrete_are, "n m A B Q R X", no_discrete_solution, 100, {"n", "n", "n"}), \
      BITALE_NUMBER_ROWS(T, suffix, solve_continuous_are, "n m A B Q R X", no_continuous_solution, 300,           \
                         {"n", "n", "n"})

const RegisterFunctions riccati_rows{ROWS(double, f64), ROWS(float, f32)};

#undef ROWS

}  // namespace
}  // namespace bitale::runtime

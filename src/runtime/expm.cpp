// The scaling and squaring method of Al-Mohy and Higham (2009, SIAM J. Matrix Anal. Appl. 31, 970): the number of
// squarings is chosen by the norms of powers of the matrix, which may be much less than the powers of its norm.
//
// The value and its derivatives are one computation. A + e_1 E_1 + e_2 E_2 + ... with e_j^2 = 0 is a polynomial of
// matrices, the coefficients of which are numbered by sets of the e_j as bits. Sums, products and quotients of such
// polynomials are those of the method, so that the coefficients of the result are the derivatives (with one e, this is
// the algorithm of Al-Mohy and Higham 2009, SIAM J. Matrix Anal. Appl. 30, 1639). No coefficient mixes directions with
// anything of another size.
#include "runtime/expm.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <iterator>

#include "runtime/decompositions.hpp"
#include "runtime/lapack.hpp"
#include "runtime/lu.hpp"
#include "runtime/matrix_products.hpp"
#include "runtime/rows_of_matrices.hpp"

namespace bitale::runtime {

namespace {

// ---- numbers --------------------------------------------------------------------------------------------------------

template <class N>
N times_power_of_two(N x, int exponent) {
  if constexpr (is_complex_number<N>)
    return {std::ldexp(x.real(), exponent), std::ldexp(x.imag(), exponent)};
  else
    return std::ldexp(x, exponent);
}

template <class N>
PartOf<N> largest_part(N x) {
  if constexpr (is_complex_number<N>)
    return std::max(std::abs(x.real()), std::abs(x.imag()));
  else
    return std::abs(x);
}

template <class N>
void scale(N* x, std::int64_t count, int exponent) {
  using T = PartOf<N>;
  if (exponent == 0) return;
  if (std::abs(exponent) >= std::numeric_limits<T>::max_exponent - 1) {
    for (std::int64_t i = 0; i < count; ++i) x[i] = times_power_of_two(x[i], exponent);
    return;
  }
  const T factor = std::ldexp(T(1), exponent);
  for (std::int64_t i = 0; i < count; ++i) x[i] *= factor;
}

// The largest sum of absolute values in a column.
template <class N>
PartOf<N> norm_1(std::int64_t n, const N* a, PartOf<N>* sums) {
  using T = PartOf<N>;
  std::fill(sums, sums + n, T(0));
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) sums[j] += std::abs(a[i * n + j]);
  return *std::max_element(sums, sums + n);
}

// (exp(y) - exp(x)) / (y - x).
template <class N>
N divided_difference_of_exp(N x, N y) {
  using T = PartOf<N>;
  const N difference = y - x, half = difference / T(2);
  if (size_of_pivot(difference) > T(1)) return (std::exp(y) - std::exp(x)) / difference;
  const N quotient = size_of_pivot(half) < T(1e-4) ? N(1) + times(half, half) / T(6) : std::sinh(half) / half;
  return times(std::exp(x + half), quotient);
}

// ---- balancing ------------------------------------------------------------------------------------------------------

// Exponents d for which 2^-d_i a_ij 2^d_j has rows and columns of similar size; a is scaled by them, exactly. Sums
// include the diagonal (James, Langou and Lowery 2014, arXiv:1401.5766) and the 1 that the exponential adds to it, so
// that triangular and other reducible matrices are balanced, too, as far as it matters.
template <class N>
void balance(std::int64_t n, N* a, int* d) {
  using T = PartOf<N>;
  constexpr int most = std::numeric_limits<T>::max_exponent / 4, max_sweeps = 64;
  std::fill(d, d + n, 0);
  bool changed = true;
  for (int sweep = 0; changed && sweep < max_sweeps; ++sweep) {
    changed = false;
    for (std::int64_t i = 0; i < n; ++i) {
      T row = 0, column = 0;
      for (std::int64_t j = 0; j < n; ++j) {
        row += size_of_pivot(a[i * n + j]);
        column += size_of_pivot(a[j * n + i]);
      }
      row = std::max(row, T(1)), column = std::max(column, T(1));
      if (!std::isfinite(row) || !std::isfinite(column)) return;
      int exponent = int(std::lround((std::log2(row) - std::log2(column)) / 2));
      exponent = std::clamp(d[i] + exponent, -most, most) - d[i];
      if (exponent == 0 || std::ldexp(column, exponent) + std::ldexp(row, -exponent) >= T(0.95) * (column + row))
        continue;
      d[i] += exponent;
      changed = true;
      for (std::int64_t j = 0; j < n; ++j) {
        if (j == i) continue;
        a[i * n + j] = times_power_of_two(a[i * n + j], -exponent);
        a[j * n + i] = times_power_of_two(a[j * n + i], exponent);
      }
    }
  }
}

// ---- triangles ------------------------------------------------------------------------------------------------------

// The diagonal of a triangular matrix and the one beside it. In the exponential of the matrix these have closed forms,
// which replace what squaring computed: its relative errors would double with each step.
template <class N>
class TriangleEdge {
 public:
  TriangleEdge(std::int64_t n, const N* a) : n_(n), diagonal_(n), beside_(n) {
    is_upper_ = is_lower_ = true;
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < i; ++j) {
        is_upper_ &= a[i * n + j] == N(0);
        is_lower_ &= a[j * n + i] == N(0);
      }
    if (!*this || !is_triangular()) return;
    for (std::int64_t i = 0; i < n; ++i) {
      diagonal_.get()[i] = a[i * n + i];
      if (i + 1 < n) beside_.get()[i] = a[offset(i)];
    }
  }
  explicit operator bool() const { return diagonal_ && beside_; }
  bool is_triangular() const { return is_upper_ || is_lower_; }
  bool is_lower() const { return !is_upper_; }
  // Stores them in x, the exponential of the matrix times 2^exponent.
  void restore(int exponent, N* x) const {
    if (!is_triangular()) return;
    const auto at = [&](std::int64_t i) { return times_power_of_two(diagonal_.get()[i], exponent); };
    for (std::int64_t i = 0; i < n_; ++i) {
      x[i * n_ + i] = std::exp(at(i));
      if (i + 1 == n_) break;
      const N factor = times_power_of_two(beside_.get()[i], exponent);
      x[offset(i)] = factor == N(0) ? N(0) : times(factor, divided_difference_of_exp(at(i), at(i + 1)));
    }
  }

 private:
  std::int64_t offset(std::int64_t i) const { return is_upper_ ? i * n_ + i + 1 : (i + 1) * n_ + i; }

  std::int64_t n_;
  CallMemory<N> diagonal_, beside_;
  bool is_upper_, is_lower_;
};

// ---- polynomials ----------------------------------------------------------------------------------------------------

// Arithmetic of polynomials in e_1, ..., e_order with coefficients of n * n elements, stored one after the other.
template <class N>
class Polynomials {
 public:
  Polynomials(std::int64_t n, int order)
      : n_(n), size_(n * n), sets_(std::int64_t(1) << order), work_(size_), factor_(size_), pivots_(n) {}
  explicit operator bool() const { return work_ && factor_ && pivots_; }
  std::int64_t sets() const { return sets_; }
  std::int64_t count() const { return sets_ * size_; }
  N* coefficient(N* of, std::int64_t set) const { return of + set * size_; }
  const N* coefficient(const N* of, std::int64_t set) const { return of + set * size_; }

  // c = a b, where c is neither a nor b.
  void multiply(const N* a, const N* b, N* c) const {
    for (std::int64_t set = 0; set < sets_; ++set) {
      N* const sum = coefficient(c, set);
      product_of(n_, n_, n_, false, false, a, coefficient(b, set), sum);
      each_subset(set, [&](std::int64_t part) { add_product(coefficient(a, part), coefficient(b, set ^ part), sum); });
    }
  }
  // y becomes f^-1 y. False if f has no inverse.
  bool divide(const N* f, const TriangleEdge<N>& edge, N* y) const {
    for (std::int64_t set = 0; set < sets_; ++set) {
      N* const rest = coefficient(y, set);
      each_subset(set,
                  [&](std::int64_t part) { subtract_product(coefficient(f, part), coefficient(y, set ^ part), rest); });
      if (!solve_first(f, edge, rest)) return false;
    }
    return true;
  }
  // a, a power of degree `power`, where the matrix is multiplied by 2^exponent and the directions are not.
  void rescale(N* a, int power, int exponent) const {
    for (std::int64_t set = 0; set < sets_; ++set)
      scale(coefficient(a, set), size_, exponent * (power - std::popcount(std::uint64_t(set))));
  }

 private:
  // All parts of a set but the empty one.
  template <class F>
  static void each_subset(std::int64_t set, F&& f) {
    for (std::int64_t part = set; part > 0; part = (part - 1) & set) f(part);
  }
  void add_product(const N* a, const N* b, N* sum) const {
    product_of(n_, n_, n_, false, false, a, b, work_.get());
    for (std::int64_t i = 0; i < size_; ++i) sum[i] += work_.get()[i];
  }
  void subtract_product(const N* a, const N* b, N* sum) const {
    product_of(n_, n_, n_, false, false, a, b, work_.get());
    for (std::int64_t i = 0; i < size_; ++i) sum[i] -= work_.get()[i];
  }
  bool solve_first(const N* f, const TriangleEdge<N>& edge, N* y) const {
    if (edge.is_triangular()) return solve_triangular(n_, n_, edge.is_lower(), false, false, false, f, y) == 0;
    return solve(n_, n_, false, false, f, y, factor_.get(), pivots_.get()) == 0;
  }

  const std::int64_t n_, size_, sets_;
  const CallMemory<N> work_, factor_;
  const CallMemory<std::int32_t> pivots_;
};

// ---- the choice of an approximant -----------------------------------------------------------------------------------

// The norm of a b, estimated from below by the method of Hager and Higham (Higham 1988, ACM Trans. Math. Softw. 14,
// 381), hardly ever by less than a third. vectors: 3 n elements.
template <class N>
PartOf<N> estimated_norm(std::int64_t n, const N* a, const N* b, N* vectors) {
  using T = PartOf<N>;
  N *const x = vectors, *const y = vectors + n, *const between = vectors + 2 * n;
  const auto apply = [&] {
    product_of(n, 1, n, false, false, b, x, between);
    product_of(n, 1, n, false, false, a, between, y);
    T sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += std::abs(y[i]);
    return sum;
  };
  std::fill(x, x + n, N(T(1) / T(n)));
  T most = 0;
  std::int64_t last = -1;
  for (int step = 0; step < 5; ++step) {
    const T found = apply();
    if (step > 0 && !(found > most)) break;
    most = found;
    for (std::int64_t i = 0; i < n; ++i) y[i] = y[i] == N(0) ? N(1) : y[i] / std::abs(y[i]);
    product_of(n, 1, n, true, false, a, y, between);
    product_of(n, 1, n, true, false, b, between, y);
    std::int64_t largest = 0;
    for (std::int64_t i = 0; i < n; ++i)
      if (std::abs(y[i]) > std::abs(y[largest])) largest = i;
    if (largest == last) break;
    last = largest;
    std::fill(x, x + n, N(0));
    x[largest] = 1;
  }
  for (std::int64_t i = 0; i < n; ++i)
    x[i] = N((i % 2 ? T(-1) : T(1)) * (1 + T(i) / T(std::max<std::int64_t>(n - 1, 1))));
  return std::max(most, 2 * apply() / T(3 * n));
}

struct Choice {
  int degree = 0, squarings = 0;
};

// Chooses for a matrix that is 2^exponent a, by the powers 2, 4 and 6 of a, the norm of which is about 1.
template <class N>
class ChoiceByPowers {
  using T = PartOf<N>;

 public:
  ChoiceByPowers(std::int64_t n, int exponent, const N* a, const N* a4, const N* a6)
      : n_(n),
        exponent_(exponent),
        a_(a),
        a4_(a4),
        a6_(a6),
        product_(n <= max_exact ? n * n : 1),
        vectors_(3 * n),
        sums_(2 * n) {}
  explicit operator bool() const { return product_ && vectors_ && sums_; }

  Choice choose() const {
    const double d4 = root(norm_1(n_, a4_, sums_.get()), 4), d6 = root(norm_1(n_, a6_, sums_.get()), 6);
    const auto& limits = pade_limits<T>;
    const PadeLimit highest = *std::rbegin(limits);
    for (auto& limit : limits)
      if (limit.degree <= 5 && std::max(d4, d6) <= limit.norm && further_squarings(limit.degree, 0) == 0)
        return {limit.degree, 0};
    const double d8 = root(norm_of_product(a4_, a4_), 8);
    for (auto& limit : limits)
      if (limit.degree <= 9 && std::max(d6, d8) <= limit.norm && further_squarings(limit.degree, 0) == 0)
        return {limit.degree, 0};
    const double d10 = root(norm_of_product(a4_, a6_), 10);
    const double eta = std::min(std::max(d6, d8), std::max(d8, d10));
    const int squarings = eta > highest.norm ? int(std::ceil(std::log2(eta / highest.norm))) : 0;
    return {highest.degree, squarings + further_squarings(highest.degree, squarings)};
  }

 private:
  static constexpr std::int64_t max_exact = 32;  // up to this length a product is as fast as an estimate

  // The root of the norm of a power of a, for the whole matrix.
  double root(T norm, int power) const { return std::ldexp(std::pow(double(norm), 1.0 / power), exponent_); }
  T norm_of_product(const N* a, const N* b) const {
    if (n_ > max_exact) return estimated_norm(n_, a, b, vectors_.get());
    product_of(n_, n_, n_, false, false, a, b, product_.get());
    return norm_1(n_, product_.get(), sums_.get());
  }

  // How often to divide by 2, beyond `squarings`, for rounding errors of this approximant not to dominate: the powers
  // of the absolute values must be small, too (the function ell of the paper).
  int further_squarings(int degree, int squarings) const {
    T *const row = sums_.get(), *const next = sums_.get() + n_;
    std::fill(row, row + n_, T(1));
    double log_of_power = 0, log_of_norm = 0;
    for (int step = 0; step < 2 * degree + 1; ++step) {
      std::fill(next, next + n_, T(0));
      for (std::int64_t i = 0; i < n_; ++i)
        for (std::int64_t j = 0; j < n_; ++j) next[j] += row[i] * std::abs(a_[i * n_ + j]);
      const T most = *std::max_element(next, next + n_);
      if (most == 0) return 0;
      for (std::int64_t j = 0; j < n_; ++j) row[j] = next[j] / most;
      log_of_power += std::log2(double(most));
      if (step == 0) log_of_norm = log_of_power;
    }
    double log_of_coefficient = 0;  // of 1 / (binomial(2 m, m) (2 m + 1)!)
    for (int k = 1; k <= degree; ++k) log_of_coefficient += 2 * std::log2(double(k));
    for (int k = 1; k <= 2 * degree; ++k) log_of_coefficient -= 2 * std::log2(double(k));
    log_of_coefficient -= std::log2(double(2 * degree + 1));
    const double log_of_alpha =
        log_of_coefficient + log_of_power - log_of_norm + 2.0 * degree * double(exponent_ - squarings);
    const double excess = (log_of_alpha + std::numeric_limits<T>::digits) / (2.0 * degree);
    return excess > 0 ? int(std::ceil(excess)) : 0;
  }

  const std::int64_t n_;
  const int exponent_;
  const N *const a_, *const a4_, *const a6_;
  const CallMemory<N> product_, vectors_;
  const CallMemory<T> sums_;
};

template <class T>
double limit_of_degree(int degree) {
  for (auto& limit : pade_limits<T>)
    if (limit.degree == degree) return limit.norm;
  return 0;
}

// ---- the exponential ------------------------------------------------------------------------------------------------

// The approximant of this degree: x = (v - u)^-1 (v + u), where u and v are the odd and the even part of its numerator.
// It is 1 + 2 (v - u)^-1 u as well, which keeps the digits of what is added to 1 where that is small. a, ..., a6:
// powers of the matrix, as far as the degree needs them. Uses u, v and w as memory.
template <class N>
bool approximate(const Polynomials<N>& in, std::int64_t n, int degree, const TriangleEdge<N>& edge, const N* a,
                 const N* a2, const N* a4, const N* a6, N* u, N* v, N* w, N* x) {
  using T = PartOf<N>;
  T b[14] = {T(1)};
  long double exact = 1;
  for (int k = 0; k < degree; ++k) {
    exact *= (long double)(degree - k) / ((long double)(2 * degree - k) * (long double)(k + 1));
    b[k + 1] = T(exact);
  }
  const std::int64_t count = in.count();
  const auto add_ones = [&](N* to, T value) {
    for (std::int64_t i = 0; i < n; ++i) to[i * n + i] += value;
  };
  // The coefficients k of power 2, k + 2 of power 4 and k + 4 of power 6, up to the degree.
  const auto combine = [&](int k, N* to) {
    const T c2 = b[k], c4 = k + 2 <= degree ? b[k + 2] : T(0), c6 = k + 4 <= degree ? b[k + 4] : T(0);
    for (std::int64_t i = 0; i < count; ++i) {
      N sum = c2 * a2[i];
      if (k + 2 <= degree) sum += c4 * a4[i];
      if (k + 4 <= degree) sum += c6 * a6[i];
      to[i] = sum;
    }
  };
  // The odd (1) or even (0) part, divided by the matrix if it is odd; other: memory.
  const auto part = [&](int odd, N* to, N* other) {
    if (degree == 13) {
      combine(8 + odd, other);
      in.multiply(a6, other, to);
      combine(2 + odd, other);
      for (std::int64_t i = 0; i < count; ++i) to[i] += other[i];
    } else {
      combine(2 + odd, to);
      if (degree == 9) {
        if (odd) in.multiply(a4, a4, other);  // kept for the even part
        for (std::int64_t i = 0; i < count; ++i) to[i] += b[8 + odd] * other[i];
      }
    }
    add_ones(to, b[odd]);
  };
  part(1, w, x);
  in.multiply(a, w, u);
  part(0, v, x);
  const bool near_one = limit_of_degree<T>(degree) < 1;
  for (std::int64_t i = 0; i < count; ++i) {
    x[i] = near_one ? T(2) * u[i] : v[i] + u[i];
    w[i] = v[i] - u[i];
  }
  if (!in.divide(w, edge, x)) return false;
  if (near_one) add_ones(x, T(1));
  return true;
}

// The coefficient of all e in exp(A + e_1 E_1 + ...).
template <class N>
std::int64_t exponential(std::int64_t n, int order, const N* A, const N* E, N* out) {
  using T = PartOf<N>;
  const std::int64_t size = n * n;
  if (n == 0) return 0;
  if (!all_finite(A, size) || !all_finite(E, order * size)) return fill_nan(out, size), 0;
  const Polynomials<N> in(n, order);
  const std::int64_t count = in.count();
  const Matrices<N> memory(8, count);
  const CallMemory<T> sums(n);
  const CallMemory<int> d(n);
  if (!in || !memory || !sums || !d) return no_work_memory;
  N *const a = memory[0], *const a2 = memory[1], *const a4 = memory[2], *const a6 = memory[3], *const u = memory[4],
           *const v = memory[5], *const w = memory[6];
  N* x = memory[7];

  std::copy(A, A + size, a);
  std::fill(a + size, a + count, N(0));
  balance(n, a, d.get());
  const T norm = norm_1(n, a, sums.get());
  if (!std::isfinite(norm)) return fill_nan(out, size), 0;
  const TriangleEdge<N> edge(n, a);
  if (!edge) return no_work_memory;

  // Each direction is divided by a power of two for its largest element to be about 1.
  int of_directions = 0;
  for (int k = 0; k < order; ++k) {
    const N* const given = E + k * size;
    N* const direction = in.coefficient(a, std::int64_t(1) << k);
    int most = std::numeric_limits<int>::min();
    const auto each = [&](auto&& f) {
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j) f(i * n + j, d.get()[j] - d.get()[i]);
    };
    each([&](std::int64_t at, int exponent) {
      if (const T largest = largest_part(given[at]); largest > 0) most = std::max(most, std::ilogb(largest) + exponent);
    });
    if (most == std::numeric_limits<int>::min()) return std::fill(out, out + size, N(0)), 0;
    each([&](std::int64_t at, int exponent) { direction[at] = times_power_of_two(given[at], exponent - most); });
    of_directions += most;
  }

  Choice choice;
  const auto& limits = pade_limits<T>;
  const auto within = std::find_if(std::begin(limits), std::end(limits), [&](auto& each) { return norm <= each.norm; });
  if (within != std::end(limits)) {
    choice.degree = within->degree;
    in.multiply(a, a, a2);
    if (choice.degree > 3) in.multiply(a2, a2, a4);
    if (choice.degree > 5) in.multiply(a4, a2, a6);
  } else {
    const int exponent = std::ilogb(norm) + 1;  // the powers of a matrix of norm 1 don't overflow
    scale(a, size, -exponent);
    in.multiply(a, a, a2);
    in.multiply(a2, a2, a4);
    in.multiply(a4, a2, a6);
    const ChoiceByPowers<N> by_powers(n, exponent, a, a4, a6);
    if (!by_powers) return no_work_memory;
    choice = by_powers.choose();
    const int rest = exponent - choice.squarings;
    in.rescale(a, 1, rest);
    in.rescale(a2, 2, rest);
    in.rescale(a4, 4, rest);
    in.rescale(a6, 6, rest);
  }

  if (!approximate(in, n, choice.degree, edge, a, a2, a4, a6, u, v, w, x)) return fill_nan(out, size), 0;
  N* squared = u;
  edge.restore(-choice.squarings, x);
  for (int step = choice.squarings; step-- > 0;) {
    in.multiply(x, x, squared);
    std::swap(x, squared);
    edge.restore(-step, x);
  }
  const N* const found = in.coefficient(x, in.sets() - 1);
  const int common = of_directions - order * choice.squarings;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      out[i * n + j] = times_power_of_two(found[i * n + j], common + d.get()[i] - d.get()[j]);
  return 0;
}

}  // namespace

template <class N>
std::int64_t expm(std::int64_t n, const N* A, N* X) noexcept {
  return exponential<N>(n, 0, A, nullptr, X);
}
template <class N>
std::int64_t expm_derivative(std::int64_t n, std::int64_t count, const N* A, const N* E, N* L) noexcept {
  return exponential<N>(n, int(count), A, E, L);
}

#define INSTANTIATE(N)                \
  template decltype(expm<N>) expm<N>; \
  template decltype(expm_derivative<N>) expm_derivative<N>;
INSTANTIATE(double)
INSTANTIATE(float)
INSTANTIATE(std::complex<double>)
INSTANTIATE(std::complex<float>)
#undef INSTANTIATE

namespace {

constexpr std::string_view not_enough_memory = "expm: there is not enough memory";

#define ROWS(T, suffix)                                                                 \
  BITALE_NUMBER_ROWS(T, suffix, expm, "n A X", not_enough_memory, 20, {"n", "n", "n"}), \
      BITALE_NUMBER_ROWS(T, suffix, expm_derivative, "n count A E L", not_enough_memory, 60, {"n", "n", "n"})

const RegisterFunctions expm_rows{ROWS(double, f64), ROWS(float, f32)};

#undef ROWS

}  // namespace
}  // namespace bitale::runtime

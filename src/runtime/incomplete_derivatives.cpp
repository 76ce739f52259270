// Derivatives of the incomplete gamma and beta functions: those by x are densities, whose exponents are computed from
// the distance to the mean. Those by the parameters are integrals of the density times the derivative of its logarithm,
// over the side of x on which that factor keeps its sign, so that nothing cancels; the integrals over both sides add up
// to zero. Below a small x, the integral for the gamma function is a power series.
#include "runtime/incomplete_derivatives.hpp"

#include <algorithm>
#include <boost/math/quadrature/tanh_sinh.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <cmath>
#include <iterator>

#include "runtime/boost_math.hpp"
#include "runtime/incomplete_large.hpp"

namespace bitale::runtime {

namespace {

using Real = long double;
using DerivativePolicy = QuietPolicy<policies::evaluation_error<policies::throw_on_error>>;

Real psi(Real x) { return boost::math::digamma(x, DerivativePolicy()); }

// Densities fall by exp(-60) within this many standard deviations; what is beyond is negligible.
constexpr Real wide = 12;

// The integral over [low, high] of a function of the point and of its distances from both ends.
template <class F>
Real integral(F f, Real low, Real high) {
  if (low >= high) return 0;
  static boost::math::quadrature::tanh_sinh<Real> rule(12);  // its tables are extended under a lock
  const auto from_ends = [&](Real t, Real to_end) {
    // to_end is low - t or high - t, whichever is nearer.
    const Real from_low = to_end < 0 ? -to_end : t - low, from_high = to_end > 0 ? to_end : high - t;
    const Real value = f(t, from_low, from_high);
    return std::isfinite(value) ? value : Real(0);
  };
  // The rule ends when two levels agree to this; the error of the last one is about its square.
  return rule.integrate(from_ends, low, high, Real(1e-11));
}

// log Gamma(x) - ((x - 1/2) log x - x + log(2 pi) / 2) (Abramowitz & Stegun 6.1.41).
Real stirling_rest(Real x) {
  constexpr Real half_log_2_pi = 0.918938533204672741780329736405617640L;
  if (x < 20) return log_gamma(x) - ((x - 0.5L) * std::log(x) - x + half_log_2_pi);
  constexpr Real terms[] = {1 / 12.0L,        -1 / 360.0L, 1 / 1260.0L,       -1 / 1680.0L,     1 / 1188.0L,
                            -691 / 360360.0L, 1 / 156.0L,  -3617 / 122400.0L, 43867 / 244188.0L};
  const Real s = 1 / (x * x);
  Real sum = 0;
  for (int i = std::size(terms) - 1; i >= 0; --i) sum = sum * s + terms[i];
  return sum / x;
}

// x times the density of the gamma distribution with shape k (Loader, "Fast and accurate computation of binomial
// probabilities", 2000): the exponent is computed from the distance to the mean, so that nothing cancels.
Real gamma_weight(Real k, Real x) {
  const Real mu = (x - k) / k;
  const Real exponent = std::fabs(mu) < 0.5L ? k * log1p_minus(mu) : k * std::log(x / k) - (x - k);
  return std::exp(exponent - stirling_rest(k)) * std::sqrt(k / (2 * pi));
}

// x y times the density of the beta distribution with parameters a and b, y = 1 - x; likewise.
Real beta_weight(Real a, Real b, Real x, Real y) {
  const Real n = a + b, p = a / n, q = b / n, delta = x < y ? x - p : q - y;
  const auto log_ratio = [](Real value, Real share, Real from_share) {
    return std::fabs(from_share) < share / 2 ? std::log1p(from_share / share) : std::log(value / share);
  };
  const bool is_near = std::fabs(delta) < std::min(p, q) / 2;
  const Real exponent = is_near ? a * log1p_minus(delta / p) + b * log1p_minus(-delta / q)
                                : a * log_ratio(x, p, delta) + b * log_ratio(y, q, -delta);
  const Real rest = stirling_rest(n) - stirling_rest(a) - stirling_rest(b);
  return std::exp(exponent + rest) * std::sqrt(a / n * b / (2 * pi));
}

Real gamma_integral(Real k, Real low, Real high) {
  const Real mean = psi(k);
  return integral([&](Real t, Real, Real) { return gamma_weight(k, t) / t * (std::log(t) - mean); }, low, high);
}

Real gamma_derivative_below(Real k, Real x) {
  if (k > 1e6L) return gamma_integral(k, std::max(Real(0), std::min(x, k) - wide * std::sqrt(k)), x);
  // Sum of x^n / Gamma(k + n + 1) (log x - psi(k + n + 1)), times x^k exp(-x).
  Real term = gamma_weight(k, x) / k;  // x^k exp(-x) / Gamma(k + 1)
  Real psi_n = psi(k + 1), sum = 0;
  const Real log_x = std::log(x);
  for (int n = 0; n < 1000000; ++n) {
    const Real part = term * (log_x - psi_n);
    sum += part;
    if (n > 2 && std::fabs(part) <= 1e-19L * std::fabs(sum) && k + n > x) break;
    psi_n += 1 / (k + n + 1);
    term *= x / (k + n + 1);
  }
  return sum;
}

Real gamma_derivative_above(Real k, Real x) {
  return -gamma_integral(k, x, std::max(x, k) + wide * (std::sqrt(k) + 1) + 60);
}

// psi(a + b) - psi(a) for positive a and b: by the recurrence, and term by term of the asymptotic series (A. & S.
// 6.3.5, 6.3.18), so that nothing cancels where b is small beside a.
Real psi_difference(Real a, Real b) {
  Real sum = 0;
  for (; a < 20; a += 1) sum += b / (a * (a + b));
  const Real u = 1 / a, v = 1 / (a + b), s = u * u, t = v * v, ratio = b * v;
  sum += std::log1p(b * u) + ratio * u / 2;
  // (u^2n - v^2n) B_2n / 2n, where u^2n - v^2n = (u^2 - v^2)(u^(2n - 2) + u^(2n - 4) v^2 + ...)
  constexpr Real terms[] = {1 / 12.0L,       -1 / 120.0L, 1 / 252.0L,      -1 / 240.0L,     1 / 132.0L,
                            -691 / 32760.0L, 1 / 12.0L,   -3617 / 8160.0L, 43867 / 14364.0L};
  Real quotient = 1, power = 1, series = 0;
  for (Real term : terms) {
    series += term * quotient;
    power *= t;
    quotient = quotient * s + power;
  }
  return sum + ratio * u * (u + v) * series;
}

// The derivative of the regularised incomplete beta function by a is the integral of w(t) (log t - mean) over [0, x],
// or the negative one over [x, 1], where w is the density and mean that of log t: over the side on which log t - mean
// keeps its sign. Weights are relative to that of x. Towards 0 the variable is a power of t, which removes the pole of
// t^(a - 1), between its end and 1/2 the logarithm of t, and likewise for 1 - t. Where the density is a narrow peak,
// it is t.
struct BetaIntegral {
  Real a, b, x, y, mean;  // y is 1 - x

  // Beyond this exponent, weights are negligible.
  static constexpr Real negligible = -60;
  static constexpr Real small_power = 0.5L;

  bool is_narrow() const { return a / (a + b) * b > 20; }
  Real log_x() const { return x < y ? std::log(x) : std::log1p(-y); }
  Real log_y() const { return y < x ? std::log(y) : std::log1p(-x); }
  // The logarithm of the relative weight, by the logarithms of t and of 1 - t.
  Real exponent(Real log_t, Real log_rest) const {
    return (a - 1) * (log_t - log_x()) + (b - 1) * (log_rest - log_y());
  }

  // Over [0, c], t = c w^(1 / a). For small a nearly all w belong to tiny t: the value at t = 0 and an integral over t
  // of the difference from it.
  Real to_zero(Real c, Real rest_of_c, Real log_c, Real log_rest_of_c) const {
    const Real scale = std::exp(exponent(log_c, log_rest_of_c)) * c / a;
    if (a < small_power) {
      const Real at_zero = log_c - 1 / (a + b) + psi_difference(a + 1, b);
      const auto difference = [&](Real t, Real, Real) {
        return std::expm1((b - 1) * std::log1p(-t)) * (std::log(t) - mean) * std::pow(t / c, a) / t;
      };
      return scale * std::exp((1 - b) * log_rest_of_c) * (at_zero + a * integral(difference, 0, c));
    }
    return scale * integral(
                       [&](Real w, Real, Real from_one) {
                         const Real step = (w < 0.5L ? std::log(w) : std::log1p(-from_one)) / a;
                         const Real distance = -c * std::expm1(step);
                         return std::exp((b - 1) * std::log1p(distance / rest_of_c)) * (log_c + step - mean);
                       },
                       0, 1);
  }
  // Over [c, 1], 1 - t = rest w^(1 / b); likewise.
  Real to_one(Real c, Real rest_of_c, Real log_c, Real log_rest_of_c) const {
    const Real scale = std::exp(exponent(log_c, log_rest_of_c)) * rest_of_c / b;
    if (b < small_power) {
      const auto difference = [&](Real rest, Real, Real) {
        const Real log_t = std::log1p(-rest), power = (a - 1) * log_t;
        return (std::exp(power) * log_t - mean * std::expm1(power)) * std::pow(rest / rest_of_c, b) / rest;
      };
      return scale * std::exp((1 - a) * log_c) * (b * integral(difference, 0, rest_of_c) - mean);
    }
    return scale * integral(
                       [&](Real w, Real, Real from_one) {
                         const Real step = (w < 0.5L ? std::log(w) : std::log1p(-from_one)) / b;
                         const Real distance = -rest_of_c * std::expm1(step), rest = rest_of_c * std::exp(step);
                         const Real log_t = rest < 0.5L ? std::log1p(-rest) : std::log(c + distance);
                         return std::exp((a - 1) * std::log1p(distance / c)) * (log_t - mean);
                       },
                       0, 1);
  }
  // Where the concave function f, which is 0 at `from`, is negligible on the way to `to`.
  template <class F>
  static Real cut(F f, Real from, Real to) {
    if (f(to) > negligible) return to;
    Real near = from, far = to;
    for (int step = 0; step < 40; ++step) {
      const Real middle = near + (far - near) / 2;
      (f(middle) > negligible ? near : far) = middle;
    }
    return far;
  }
  // Over [x, 1/2] by log t, and over [1/2, x] by log(1 - t).
  Real up_to_half() const {
    const auto weight = [&](Real log_t) { return exponent(log_t, std::log1p(-std::exp(log_t))) + log_t - log_x(); };
    const Real end = b > 1 ? cut(weight, log_x(), -log_2) : -log_2;
    return x * integral([&](Real s, Real, Real) { return std::exp(weight(s)) * (s - mean); }, log_x(), end);
  }
  Real down_to_half() const {
    const auto weight = [&](Real log_rest) {
      return exponent(std::log1p(-std::exp(log_rest)), log_rest) + log_rest - log_y();
    };
    const Real end = a > 1 ? cut(weight, log_y(), -log_2) : -log_2;
    return y * integral([&](Real s, Real, Real) { return std::exp(weight(s)) * (std::log1p(-std::exp(s)) - mean); },
                        log_y(), end);
  }
  // By the distance from x.
  Real narrow(int sign, Real reach) const {
    const auto weight = [&](Real distance) {
      return (a - 1) * std::log1p(sign * distance / x) + (b - 1) * std::log1p(-sign * distance / y);
    };
    const Real end = cut(weight, 0, reach);
    return integral(
        [&](Real, Real distance, Real) {
          const Real log_t = sign < 0 || y > 0.5L ? std::log(x + sign * distance) : std::log1p(-(y - distance));
          return std::exp(weight(distance)) * (log_t - mean);
        },
        0, end);
  }

  Real below() const {
    if (is_narrow()) return narrow(-1, x);
    if (x <= 0.5L) return to_zero(x, y, log_x(), log_y());
    return down_to_half() + to_zero(0.5L, 0.5L, -log_2, -log_2);
  }
  Real above() const {
    if (is_narrow()) return narrow(1, y);
    if (x >= 0.5L) return to_one(x, y, log_x(), log_y());
    return up_to_half() + to_one(0.5L, 0.5L, -log_2, -log_2);
  }

  static constexpr Real log_2 = 0.693147180559945309417232121458176568L;
};

}  // namespace

Real gamma_density(Real k, Real x) { return gamma_weight(k, x) / x; }
Real beta_density(Real a, Real b, Real x, Real y) { return beta_weight(a, b, x, y) / x / y; }

Real gamma_derivative(Real k, Real x) {
  return x <= k + 1 ? gamma_derivative_below(k, x) : gamma_derivative_above(k, x);
}

Real beta_derivative(Real a, Real b, Real x, Real y) {
  const BetaIntegral to{a, b, x, y, -psi_difference(a, b)};
  const Real scale = beta_density(a, b, x, y);
  if (scale == 0) return 0;
  return to.log_x() <= to.mean ? scale * to.below() : -scale * to.above();
}

}  // namespace bitale::runtime

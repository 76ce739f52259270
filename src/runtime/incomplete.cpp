// Incomplete gamma and beta functions over Boost.Math, with SciPy's values at limits. Derivatives by the parameters are
// integrals of the density times the derivative of its logarithm, over the side of x on which that factor keeps its
// sign, so that nothing cancels; the integrals over both sides add up to zero. Below a small x, the integral for the
// gamma function is a power series.
#include "runtime/incomplete.hpp"

#include <algorithm>
#include <bit>
#include <boost/math/quadrature/tanh_sinh.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/limits.hpp"
#include "runtime/boost_math.hpp"
#include "runtime/functions.hpp"
#include "runtime/incomplete_large.hpp"

namespace bitale::runtime {

namespace {

using Real = long double;

// More iterations than these end with an exception, which `guarded` turns into nan.
using IncompletePolicy = QuietPolicy<policies::evaluation_error<policies::throw_on_error>,
                                     policies::max_series_iterations<1000000>, policies::max_root_iterations<200>>;

Real psi(Real x) { return boost::math::digamma(x, IncompletePolicy()); }

// Weights below exp(-30) of the largest, this many standard deviations away, are negligible.
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
  return rule.integrate(from_ends, low, high, Real(1e-15));
}

constexpr Real large = 1000;  // above this, sums of logarithms lose digits to cancellation

Real gamma_density(Real k, Real scale, Real t) {
  if (k > large) return boost::math::gamma_p_derivative(k, t, IncompletePolicy());
  return std::exp((k - 1) * std::log(t) - t - scale);
}
Real beta_density(Real a, Real b, Real log_beta, Real t, Real log_t, Real log_rest) {
  if (a + b > large && t > 0 && t < 1) return boost::math::ibeta_derivative(a, b, t, IncompletePolicy());
  return std::exp((a - 1) * log_t + (b - 1) * log_rest - log_beta);
}

Real gamma_integral(Real k, Real low, Real high) {
  const Real mean = psi(k), scale = log_gamma(k);
  return integral([&](Real t, Real, Real) { return gamma_density(k, scale, t) * (std::log(t) - mean); }, low, high);
}

Real gamma_derivative_below(Real k, Real x) {
  if (k > 1e6L) return gamma_integral(k, std::max(Real(0), std::min(x, k) - wide * std::sqrt(k)), x);
  // Sum of x^n / Gamma(k + n + 1) (log x - psi(k + n + 1)), times x^k exp(-x).
  Real term = boost::math::gamma_p_derivative(k + 1, x, IncompletePolicy());  // x^k exp(-x) / Gamma(k + 1)
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

// dI_x(a, b) / da; y is 1 - x.
Real beta_derivative(Real a, Real b, Real x, Real y) {
  const Real mean = psi(a) - psi(a + b);  // of log t
  const Real log_beta = log_gamma(a) + log_gamma(b) - log_gamma(a + b);
  const Real centre = a / (a + b), width = std::sqrt(centre * (1 - centre) / (a + b + 1));
  if (std::log(x) <= mean) {
    if (a < 2) {  // t = u^(1 / a) removes the pole of t^(a - 1)
      const Real end = std::pow(x, a);
      return integral(
          [&](Real, Real u, Real) {
            const Real log_t = std::log(u) / a;
            return std::exp((b - 1) * std::log1p(-std::exp(log_t)) - log_beta) * (log_t - mean) / a;
          },
          0, end);
    }
    const Real start = std::max(Real(0), std::min(x, centre) - wide * 3 * width);
    return integral(
        [&](Real t, Real from_low, Real) {
          const Real at = start == 0 ? from_low : t;
          const Real log_t = std::log(at);
          return beta_density(a, b, log_beta, at, log_t, std::log1p(-at)) * (log_t - mean);
        },
        start, x);
  }
  if (b < 2) {  // 1 - t = u^(1 / b), likewise
    const Real end = std::pow(y, b);
    return -integral(
        [&](Real, Real u, Real) {
          const Real rest = std::exp(std::log(u) / b), log_t = std::log1p(-rest);
          return std::exp((a - 1) * log_t - log_beta) * (log_t - mean) / b;
        },
        0, end);
  }
  const Real end = std::min(Real(1), std::max(x, centre) + wide * 3 * width),
             reach = 1 - y == x ? end - x : end - 1 + y;
  return -integral(
      [&](Real distance, Real, Real from_high) {
        const Real rest = end == 1 ? from_high : y - distance, log_t = std::log1p(-rest);
        return beta_density(a, b, log_beta, 1 - rest, log_t, std::log(rest)) * (log_t - mean);
      },
      0, end == 1 ? y : reach);
}

// If one parameter of a beta distribution is above this, the other one alone determines its shape: x times the large
// parameter has a gamma distribution.
constexpr double gamma_limit = 1e24;

bool both_large(double a, double b) { return a >= large_parameter && b >= large_parameter; }

// The point at which the increasing function f of [low, high], 0 <= low, reaches p. Nonnegative doubles have the same
// order as their bits, so 64 steps find the last digit.
template <class F>
double bisect(F f, double low, double high, double p) {
  auto below = std::bit_cast<std::int64_t>(low), above = std::bit_cast<std::int64_t>(high);
  while (above - below > 1) {
    const std::int64_t middle = below + (above - below) / 2;
    (f(std::bit_cast<double>(middle)) < p ? below : above) = middle;
  }
  return std::bit_cast<double>(above);
}

}  // namespace

extern "C" {

double bt_gammainc(double k, double x) {
  if (std::isnan(k) || std::isnan(x) || k < 0 || x < 0) return not_a_number;
  if (k == 0) return x > 0 ? 1 : not_a_number;
  if (std::isinf(k)) return std::isinf(x) ? not_a_number : 0;
  if (x == 0) return 0;
  if (std::isinf(x)) return 1;
  if (k >= large_parameter) return gammainc_of_large(k, x);
  return guarded([&] { return boost::math::gamma_p(k, x, IncompletePolicy()); });
}

double bt_gammaincc(double k, double x) {
  if (std::isnan(k) || std::isnan(x) || k < 0 || x < 0) return not_a_number;
  if (k == 0) return x > 0 ? 0 : not_a_number;
  if (std::isinf(k)) return std::isinf(x) ? not_a_number : 1;
  if (x == 0) return 1;
  if (std::isinf(x)) return 0;
  if (k >= large_parameter) return gammaincc_of_large(k, x);
  return guarded([&] { return boost::math::gamma_q(k, x, IncompletePolicy()); });
}

double bt_gammaincinv(double k, double p) {
  if (!(k >= 0 && p >= 0 && p <= 1)) return not_a_number;
  if (k < std::numeric_limits<double>::min() || p == 0) return 0;
  if (p == 1) return inf;
  if (std::isinf(k)) return not_a_number;
  if (k >= large_parameter) return bisect([&](double x) { return bt_gammainc(k, x); }, 0, inf, p);
  return guarded([&] { return boost::math::gamma_p_inv(k, p, IncompletePolicy()); });
}

double bt_gammainccinv(double k, double q) {
  if (!(k >= 0 && q >= 0 && q <= 1)) return not_a_number;
  if (k < std::numeric_limits<double>::min() || q == 1) return 0;
  if (q == 0) return inf;
  if (std::isinf(k)) return not_a_number;
  if (k >= large_parameter) return bisect([&](double x) { return -bt_gammaincc(k, x); }, 0, inf, -q);
  return guarded([&] { return boost::math::gamma_q_inv(k, q, IncompletePolicy()); });
}

double bt_gammainc_derivative(double k, double x) {
  if (!(k > 0 && x >= 0) || std::isinf(k)) return not_a_number;
  if (x == 0 || std::isinf(x)) return 0;
  if (x <= k + 1) return guarded([&] { return gamma_derivative_below(k, x); });
  return guarded([&] { return gamma_derivative_above(k, x); });
}

double bt_betainc(double a, double b, double x) {
  if (!(a >= 0 && b >= 0 && x >= 0 && x <= 1) || (a == 0 && b == 0)) return not_a_number;
  if (std::isinf(a) && std::isinf(b)) return not_a_number;
  if (x == 0) return 0;
  if (x == 1) return 1;
  if (a == 0 || std::isinf(b)) return 1;
  if (b == 0 || std::isinf(a)) return 0;
  if (both_large(a, b)) return betainc_of_large(a, b, x);
  if (b >= gamma_limit) return bt_gammainc(a, b * x);
  if (a >= gamma_limit) return bt_gammaincc(b, a * (1 - x));
  return guarded([&] { return boost::math::ibeta(a, b, x, IncompletePolicy()); });
}

double bt_betaincinv(double a, double b, double p) {
  if (!(a > 0 && b > 0 && p >= 0 && p <= 1) || std::isinf(a) || std::isinf(b)) return not_a_number;
  if (p == 0 || p == 1) return p;
  if (both_large(a, b)) return bisect([&](double x) { return bt_betainc(a, b, x); }, 0, 1, p);
  if (b >= gamma_limit) return std::min(1.0, bt_gammaincinv(a, p) / b);
  if (a >= gamma_limit) return std::max(0.0, 1 - bt_gammainccinv(b, p) / a);
  return guarded([&] { return boost::math::ibeta_inv(a, b, p, IncompletePolicy()); });
}

double bt_betainc_derivative(double a, double b, double x) {
  if (!(a > 0 && b > 0 && x >= 0 && x <= 1) || std::isinf(a) || std::isinf(b)) return not_a_number;
  if (x == 0 || x == 1) return 0;
  return guarded([&] { return beta_derivative(a, b, x, 1 - static_cast<long double>(x)); });
}

float bt_gammaincf(float k, float x) { return float(bt_gammainc(k, x)); }
float bt_gammainccf(float k, float x) { return float(bt_gammaincc(k, x)); }
float bt_gammaincinvf(float k, float p) { return float(bt_gammaincinv(k, p)); }
float bt_gammainccinvf(float k, float q) { return float(bt_gammainccinv(k, q)); }
float bt_gammainc_derivativef(float k, float x) { return float(bt_gammainc_derivative(k, x)); }
float bt_betaincf(float a, float b, float x) { return float(bt_betainc(a, b, x)); }
float bt_betaincinvf(float a, float b, float p) { return float(bt_betaincinv(a, b, p)); }
float bt_betainc_derivativef(float a, float b, float x) { return float(bt_betainc_derivative(a, b, x)); }

}  // extern "C"

namespace {

const RegisterFunctions incomplete_functions{
    runtime_function("bt_gammainc", bt_gammainc, "k x"),
    runtime_function("bt_gammaincf", bt_gammaincf, "k x"),
    runtime_function("bt_gammaincc", bt_gammaincc, "k x"),
    runtime_function("bt_gammainccf", bt_gammainccf, "k x"),
    runtime_function("bt_gammaincinv", bt_gammaincinv, "k p"),
    runtime_function("bt_gammaincinvf", bt_gammaincinvf, "k p"),
    runtime_function("bt_gammainccinv", bt_gammainccinv, "k q"),
    runtime_function("bt_gammainccinvf", bt_gammainccinvf, "k q"),
    runtime_function("bt_gammainc_derivative", bt_gammainc_derivative, "k x"),
    runtime_function("bt_gammainc_derivativef", bt_gammainc_derivativef, "k x"),
    runtime_function("bt_betainc", bt_betainc, "a b x"),
    runtime_function("bt_betaincf", bt_betaincf, "a b x"),
    runtime_function("bt_betaincinv", bt_betaincinv, "a b p"),
    runtime_function("bt_betaincinvf", bt_betaincinvf, "a b p"),
    runtime_function("bt_betainc_derivative", bt_betainc_derivative, "a b x"),
    runtime_function("bt_betainc_derivativef", bt_betainc_derivativef, "a b x"),
};

}  // namespace

}  // namespace bitale::runtime

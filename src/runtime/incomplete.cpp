// Incomplete gamma and beta functions over Boost.Math, with SciPy's values at limits.
#include "runtime/incomplete.hpp"

#include <algorithm>
#include <bit>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <cstdint>
#include <limits>

#include "bitale/runtime/functions.hpp"
#include "core/limits.hpp"
#include "runtime/boost_math.hpp"
#include "runtime/incomplete_derivatives.hpp"
#include "runtime/incomplete_large.hpp"
#include "runtime/narrowed.hpp"

namespace bitale::runtime {

namespace {

// More iterations than these end with an exception, which `guarded` turns into nan.
using IncompletePolicy = QuietPolicy<policies::evaluation_error<policies::throw_on_error>,
                                     policies::max_series_iterations<1000000>, policies::max_root_iterations<200>>;

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

// Boost's iterations end anywhere for some small probabilities: a point that they find is kept if the function there is
// p to a few digits of its condition, else the point is found by bisection.
template <class F>
double checked_inverse(double found, F f, double high, double p) {
  if (found > 0 && found <= high) {
    const double step = found * 1e-14;
    if (f(found - step) <= p && f(found + step) >= p) return found;
  }
  return f(std::numeric_limits<double>::denorm_min()) >= p ? 0 : bisect(f, 0, high, p);
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
  const double found = guarded([&] { return boost::math::gamma_p_inv(k, p, IncompletePolicy()); });
  return checked_inverse(
      found, [&](double x) { return bt_gammainc(k, x); }, inf, p);
}

double bt_gammainccinv(double k, double q) {
  if (!(k >= 0 && q >= 0 && q <= 1)) return not_a_number;
  if (k < std::numeric_limits<double>::min() || q == 1) return 0;
  if (q == 0) return inf;
  if (std::isinf(k)) return not_a_number;
  if (k >= large_parameter) return bisect([&](double x) { return -bt_gammaincc(k, x); }, 0, inf, -q);
  const double found = guarded([&] { return boost::math::gamma_q_inv(k, q, IncompletePolicy()); });
  return checked_inverse(
      found, [&](double x) { return -bt_gammaincc(k, x); }, inf, -q);
}

double bt_gammainc_derivative(double k, double x) {
  if (!(k > 0 && x >= 0) || std::isinf(k)) return not_a_number;
  if (x == 0 || std::isinf(x)) return 0;
  return guarded([&] { return gamma_derivative(k, x); });
}

double bt_gammainc_density(double k, double x) {
  if (!(k > 0 && x >= 0) || std::isinf(k)) return not_a_number;
  if (x == 0) return k < 1 ? inf : k > 1 ? 0 : 1;
  if (std::isinf(x)) return 0;
  return guarded([&] { return gamma_density(k, x); });
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
  const double found = guarded([&] { return boost::math::ibeta_inv(a, b, p, IncompletePolicy()); });
  return checked_inverse(
      found, [&](double x) { return bt_betainc(a, b, x); }, 1, p);
}

double bt_betainc_derivative(double a, double b, double x) {
  if (!(a > 0 && b > 0 && x >= 0 && x <= 1) || std::isinf(a) || std::isinf(b)) return not_a_number;
  if (x == 0 || x == 1) return 0;
  return guarded([&] { return beta_derivative(a, b, x, 1 - static_cast<long double>(x)); });
}

double bt_betainc_derivative_by_b(double a, double b, double x) {
  if (!(a > 0 && b > 0 && x >= 0 && x <= 1) || std::isinf(a) || std::isinf(b)) return not_a_number;
  if (x == 0 || x == 1) return 0;
  // I_x(a, b) = 1 - I_(1 - x)(b, a)
  return guarded([&] { return -beta_derivative(b, a, 1 - static_cast<long double>(x), x); });
}

double bt_betainc_density(double a, double b, double x) {
  if (!(a > 0 && b > 0 && x >= 0 && x <= 1) || std::isinf(a) || std::isinf(b)) return not_a_number;
  if (x == 0) return a < 1 ? inf : a > 1 ? 0 : b;
  if (x == 1) return b < 1 ? inf : b > 1 ? 0 : a;
  const long double y = 1 - static_cast<long double>(x);
  return guarded([&] { return beta_density(a, b, x, y); });
}

}  // extern "C"

namespace {

const RegisterFunctions incomplete_functions{
    BITALE_FLOAT_ROWS(bt_gammainc, "k x"),
    BITALE_FLOAT_ROWS(bt_gammaincc, "k x"),
    BITALE_FLOAT_ROWS(bt_gammaincinv, "k p"),
    BITALE_FLOAT_ROWS(bt_gammainccinv, "k q"),
    BITALE_FLOAT_ROWS(bt_gammainc_derivative, "k x"),
    BITALE_FLOAT_ROWS(bt_betainc, "a b x"),
    BITALE_FLOAT_ROWS(bt_betaincinv, "a b p"),
    BITALE_FLOAT_ROWS(bt_betainc_derivative, "a b x"),
    BITALE_FLOAT_ROWS(bt_betainc_derivative_by_b, "a b x"),
    BITALE_FLOAT_ROWS(bt_betainc_density, "a b x"),
    BITALE_FLOAT_ROWS(bt_gammainc_density, "k x"),
};

}  // namespace

}  // namespace bitale::runtime

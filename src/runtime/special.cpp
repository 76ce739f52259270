// Special functions over Boost.Math, whose exceptions are turned into the values that IEEE and SciPy give at poles.
#include "runtime/special.hpp"
#include <math.h>

#include <algorithm>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/polygamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <cmath>

#include "core/limits.hpp"
#include "runtime/boost_math.hpp"

namespace bitale::runtime {

namespace {

using SpecialPolicy = QuietPolicy<policies::evaluation_error<policies::ignore_error>, policies::promote_double<false>>;

constexpr long double sqrt_half = 0.707106781186547524400844362104849039L;

// Below this, a double has no fraction bits left to locate it between two poles.
constexpr double no_fraction_left = -4503599627370496.0;

// (-1)^(n + 1) n! sum (x + k)^-(n + 1), k >= 0 (Abramowitz & Stegun 6.4.10), for large n and negative x: only the terms
// next to a pole matter. Boost would build a table of n^2 coefficients.
double polygamma_between_poles(int n, double x) {
  if (n > 170) return n % 2 == 1 || x < std::rint(x) ? inf : -inf;  // n! 2^n is too large
  const long double y = x, first = std::max(0.0L, std::rint(-y) - 8);
  long double sum = 0;
  for (int k = 0; k <= 16; ++k) sum += std::pow(y + (first + k), static_cast<long double>(-n - 1));
  return double(std::tgamma(static_cast<long double>(n + 1)) * (n % 2 == 1 ? sum : -sum));
}

}  // namespace

extern "C" {

double bt_erfcx(double x) {
  if (x >= 25) {  // the asymptotic series: its terms fall by 1e3 and more
    constexpr double one_over_sqrt_pi = 0.564189583547756286948;
    const double step = -0.5 / (x * x);
    double term = 1, total = 1;
    for (int n = 1; n <= 7; ++n) total += term *= step * (2 * n - 1);
    return one_over_sqrt_pi / x * total;
  }
  const double square = x * x;
  if (square > 1e3) return inf;  // x < -31
  // The rounding error of the square would be a relative error of the exponential.
  const double left_out = std::fma(x, x, -square);
  return std::exp(square) * std::erfc(x) * (1 + left_out);
}

double bt_erfinv(double x) {
  if (!(std::abs(x) <= 1)) return not_a_number;
  if (x == 0) return x;
  if (std::abs(x) == 1) return std::copysign(inf, x);
  return boost::math::erf_inv(x, SpecialPolicy());
}

double bt_erfcinv(double x) {
  if (!(x >= 0 && x <= 2)) return not_a_number;
  if (x == 0) return inf;
  if (x == 2) return -inf;
  return boost::math::erfc_inv(x, SpecialPolicy());
}

// In long double, because the result amplifies the rounding error of x / sqrt 2 by x^2.
double bt_ndtr(double x) { return double(std::erfc(-x * sqrt_half) / 2); }

double bt_log_ndtr(double x) {
  if (x >= -1) return double(std::log1p(-std::erfc(x * sqrt_half) / 2));
  return std::log(bt_erfcx(double(-x * sqrt_half)) / 2) - x * x / 2;
}

double bt_gamma(double x) {
  if (x == -inf) return not_a_number;
  return double(std::tgamma(static_cast<long double>(x)));
}

double bt_lgamma(double x) {
  return double(log_gamma(x));  // the one for double is accurate to 3 ulp below 0
}

double bt_digamma(double x) {
  if (std::isnan(x) || x == inf) return x;
  if (x == 0) return std::signbit(x) ? inf : -inf;
  if (x > 0) return boost::math::digamma(x, SpecialPolicy());
  if (x < no_fraction_left || is_whole(x)) return not_a_number;
  // psi(1 - x) - pi / tan(pi x), with the distance of x from a whole number, which is exact; in long double, since both
  // terms may be large and cancel.
  const long double y = x, fraction = y - std::rint(y);
  return double(boost::math::digamma(1 - y, SpecialPolicy()) - pi / std::tan(pi * fraction));
}

double bt_trigamma(double x) {
  if (std::isnan(x)) return x;
  if (x == inf) return 0;
  if (x == -inf) return not_a_number;
  if (x <= 0 && is_whole(x)) return inf;
  return double(boost::math::trigamma(static_cast<long double>(x), SpecialPolicy()));
}

double bt_polygamma(double order, double x) {
  if (std::isnan(order) || std::isnan(x) || order < 0 || !is_whole(order)) return not_a_number;
  if (order == 0) return bt_digamma(x);
  if (order == 1) return bt_trigamma(x);
  if (x == inf) return 0;
  if (x == -inf) return not_a_number;
  const bool odd = std::fmod(order, 2) == 1;
  // Even orders change sign at their poles: the two zeros are on different sides of one.
  if (x <= 0 && is_whole(x)) return odd ? inf : x == 0 ? -std::copysign(inf, x) : not_a_number;
  if (order > 1e4) {  // the factorial is infinite, as is its product with what does not vanish
    const double nearest = x > 0 ? x : x - std::rint(x), power = std::pow(nearest, -order - 1);
    return power == 0 ? not_a_number : (odd ? inf : -inf) * power;
  }
  if (x < 0 && order > 20) return polygamma_between_poles(int(order), x);
  const double value =
      guarded([&] { return boost::math::polygamma(int(order), static_cast<long double>(x), SpecialPolicy()); });
  if (!std::isinf(value)) return value;
  return odd || (x < 0 && x < std::rint(x)) ? inf : -inf;  // Boost's overflow has no sign
}

std::uint64_t bt_pow_u64(std::uint64_t x, std::uint64_t n) {
  std::uint64_t power = 1;
  for (; n; n >>= 1, x *= x)
    if (n & 1) power *= x;
  return power;
}

std::int64_t bt_pow_i64(std::int64_t x, std::int64_t n) {
  if (n >= 0) return std::int64_t(bt_pow_u64(std::uint64_t(x), std::uint64_t(n)));
  if (x == 1) return 1;
  if (x == -1) return n & 1 ? -1 : 1;
  return 0;
}

}  // extern "C"

}  // namespace bitale::runtime

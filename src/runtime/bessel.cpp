// Bessel functions over Boost.Math, which has no exponentially scaled ones. For arguments up to 11,000 they are
// products in long double, whose range contains exp(x); beyond that, they are the asymptotic series of Abramowitz &
// Stegun (9.7.1, 9.7.2) for orders that are small compared to the argument, and their uniform expansions (9.7.7, 9.7.8)
// for others.
#include "runtime/bessel.hpp"

#include <algorithm>
#include <boost/math/special_functions/bessel.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/owens_t.hpp>
#include <cmath>

#include "bitale/runtime/functions.hpp"
#include "core/limits.hpp"
#include "runtime/boost_math.hpp"
#include "runtime/narrowed.hpp"
#include "runtime/special.hpp"

namespace bitale::runtime {

namespace {

using BesselPolicy = QuietPolicy<policies::evaluation_error<policies::ignore_error>, policies::promote_double<false>>;

constexpr double largest_in_range = 11000;  // exp of it is a long double

// The sum of (mu - 1)(mu - 9)... / (k! (8x)^k), mu = 4 order^2, with alternating signs or not; or, for the derivative,
// of these terms times k + 1/2.
long double far_series(long double order, long double x, bool alternating, bool of_derivative = false) {
  const long double mu = 4 * order * order;
  long double term = 1, sum = of_derivative ? 0.5L : 1;
  for (int k = 1; k < 400; ++k) {
    const long double odd = 2 * k - 1, next = term * (mu - odd * odd) / (k * 8 * x) * (alternating ? -1 : 1);
    if (k > order && std::fabs(next) >= std::fabs(term)) break;
    term = next;
    sum += of_derivative ? term * (k + 0.5L) : term;
    if (std::fabs(term) <= 1e-20L * std::fabs(sum)) break;
  }
  return sum;
}

// The uniform expansion for large orders: sign is 1 for I and -1 for K. The error is of the order order^-5.
long double uniform_series(long double order, long double t, int sign) {
  const long double s = t * t, v = sign / order;
  const long double u1 = t * (3 - 5 * s) / 24, u2 = s * (81 - s * (462 - 385 * s)) / 1152,
                    u3 = t * s * (30375 - s * (369603 - s * (765765 - 425425 * s))) / 414720,
                    u4 = s * s * (4465125 - s * (94121676 - s * (349922430 - s * (446185740 - 185910725 * s)))) /
                         39813120;
  return 1 + v * (u1 + v * (u2 + v * (u3 + v * u4)));
}
// eta(z) - z, without cancellation for large z.
long double uniform_exponent(long double z) {
  const long double root = std::sqrt(1 + z * z);
  return 1 / (root + z) + std::log(z / (1 + root));
}

// Beyond these orders the uniform expansions are accurate to the last digit, and recurrences would take long.
constexpr double large_order = 1e4, largest_recurrence = 1e5;

bool takes_far_series(double order, double x) { return order * order < 4 * x; }

// The series has all digits of a long double from here on.
constexpr double far_enough = 40;

// I and K by the uniform expansions (A. & S. 9.7.7, 9.7.8), times exp(-x) and exp(x) if they are to be scaled.
long double uniform_i(long double order, long double x, bool scaled) {
  const long double z = x / order, t = 1 / std::sqrt(1 + z * z), exponent = uniform_exponent(z) + (scaled ? 0 : z);
  return std::exp(order * exponent) * std::sqrt(t / (2 * pi * order)) * uniform_series(order, t, 1);
}
long double uniform_k(long double order, long double x, bool scaled) {
  const long double z = x / order, t = 1 / std::sqrt(1 + z * z), exponent = uniform_exponent(z) + (scaled ? 0 : z);
  return std::exp(-order * exponent) * std::sqrt(pi * t / (2 * order)) * uniform_series(order, t, -1);
}

// The value at 0.
double i_at_zero(double order) {
  if (order == 0) return 1;
  return order > 0 ? 0 : std::tgamma(order + 1) < 0 ? -inf : inf;
}

long double i_in_range(long double order, long double x) { return boost::math::cyl_bessel_i(order, x, BesselPolicy()); }
long double k_in_range(long double order, long double x) { return boost::math::cyl_bessel_k(order, x, BesselPolicy()); }

}  // namespace

extern "C" {

double bt_i0(double x) {
  if (std::fabs(x) > largest_in_range) return std::isnan(x) ? x : inf;
  return guarded([&] { return boost::math::cyl_bessel_i(0, static_cast<long double>(x), BesselPolicy()); });
}
double bt_i1(double x) {
  if (x == 0) return x;  // keeps the sign of 0
  if (std::fabs(x) > largest_in_range || std::isnan(x)) return std::isnan(x) ? x : std::copysign(inf, x);
  return guarded([&] { return boost::math::cyl_bessel_i(1, static_cast<long double>(x), BesselPolicy()); });
}
double bt_j0(double x) {
  if (std::isinf(x)) return 0;
  return guarded([&] { return boost::math::cyl_bessel_j(0, static_cast<long double>(x), BesselPolicy()); });
}
double bt_j1(double x) {
  if (x == 0) return x;
  if (std::isinf(x)) return std::copysign(0.0, x);
  return guarded([&] { return boost::math::cyl_bessel_j(1, static_cast<long double>(x), BesselPolicy()); });
}

double bt_jv(double order, double x) {
  if (std::isnan(order) || std::isnan(x) || std::isinf(order)) return not_a_number;
  if (x < 0 && !is_whole(order)) return not_a_number;
  if (std::isinf(x)) return 0;
  if (x == 0) {
    if (order == 0) return 1;
    return order > 0 || is_whole(order) ? 0 : std::tgamma(order + 1) < 0 ? -inf : inf;
  }
  if (std::fabs(order) > largest_recurrence) {
    // Far below its order, the function is smaller than any number (A. & S. 9.3.7); above that, it is not computed.
    const double size = std::fabs(order), left = 1 - std::fabs(x) / size;
    return left > 0.1 && (order > 0 || is_whole(order)) ? 0 : not_a_number;
  }
  return guarded([&] {
    return boost::math::cyl_bessel_j(static_cast<long double>(order), static_cast<long double>(x), BesselPolicy());
  });
}

double bt_ive(double order, double x) {
  if (std::isnan(order) || std::isnan(x) || std::isinf(order)) return not_a_number;
  if (x < 0) {
    if (!is_whole(order)) return not_a_number;
    const double mirrored = bt_ive(order, -x);
    return std::fmod(order, 2) == 0 ? mirrored : -mirrored;
  }
  if (order < 0 && is_whole(order)) order = -order;
  if (std::isinf(x)) return 0;
  if (x == 0) return i_at_zero(order);
  const long double v = order, y = x;
  const long double size = std::fabs(v);
  if (x <= largest_in_range && size <= large_order) return guarded([&] { return i_in_range(v, y) * std::exp(-y); });
  if (order < 0 && x < size) return not_a_number;  // a multiple of K, scaled unlike I, would matter
  // A negative order differs by a multiple of K, which is exp(-2x) times as large.
  if (takes_far_series(double(size), x)) return double(far_series(size, y, true) / std::sqrt(2 * pi * y));
  return double(uniform_i(size, y, true));
}

double bt_iv(double order, double x) {
  if (std::isnan(order) || std::isnan(x) || std::isinf(order)) return not_a_number;
  if (x < 0) {
    if (!is_whole(order)) return not_a_number;
    const double mirrored = bt_iv(order, -x);
    return std::fmod(order, 2) == 0 ? mirrored : -mirrored;
  }
  if (order < 0 && is_whole(order)) order = -order;
  if (std::isinf(x)) return inf;
  if (x == 0) return i_at_zero(order);
  const long double v = order, y = x, size = std::fabs(v);
  if (x <= largest_in_range && size <= large_order) return guarded([&] { return i_in_range(v, y); });
  if (order < 0 && x < size) return not_a_number;  // as in ive
  if (takes_far_series(double(size), x)) return inf;
  return double(uniform_i(size, y, false));
}

double bt_ive_derivative(double order, double x) {
  if (std::isnan(order) || std::isnan(x) || std::isinf(order)) return not_a_number;
  if (x < 0) {
    if (!is_whole(order)) return not_a_number;
    const double mirrored = bt_ive_derivative(order, -x);
    return std::fmod(order, 2) == 0 ? -mirrored : mirrored;
  }
  if (std::isinf(x)) return 0;
  // Of order 0 there is a kink at 0; the sign of zero tells the side.
  if (x == 0) return (bt_iv(order - 1, 0) + bt_iv(order + 1, 0)) / 2 - (order == 0 ? std::copysign(1.0, x) : 0);
  if (order < 0 && is_whole(order)) order = -order;
  const long double v = order, y = x, size = std::fabs(v);
  if (x >= far_enough && takes_far_series(double(size), x))
    return double(-far_series(size, y, true, true) / (y * std::sqrt(2 * pi * y)));
  if (x <= largest_in_range && size <= large_order) {
    return guarded([&] {
      const long double next = i_in_range(v + 1, y), here = i_in_range(v, y);
      return (next + (v / y - 1) * here) * std::exp(-y);
    });
  }
  if (order < 0) return not_a_number;
  return double(uniform_i(v + 1, y, true) + (v / y - 1) * uniform_i(v, y, true));
}

double bt_kve(double order, double x) {
  if (std::isnan(order) || std::isnan(x) || std::isinf(order) || x < 0) return not_a_number;
  if (x == 0) return inf;
  if (std::isinf(x)) return 0;
  const long double v = std::fabs(static_cast<long double>(order)), y = x;
  if (x <= largest_in_range && v <= large_order) {
    const double scaled = guarded([&] { return k_in_range(v, y) * std::exp(y); });
    return std::isnan(scaled) ? inf : scaled;  // its recurrence overflowed
  }
  if (takes_far_series(double(v), x)) return double(far_series(v, y, false) * std::sqrt(pi / (2 * y)));
  return double(uniform_k(v, y, true));
}

double bt_kv(double order, double x) {
  if (std::isnan(order) || std::isnan(x) || std::isinf(order) || x < 0) return not_a_number;
  if (x == 0) return inf;
  const long double v = std::fabs(static_cast<long double>(order)), y = x;
  if (x <= largest_in_range && v <= large_order) {
    const double value = guarded([&] { return k_in_range(v, y); });
    return std::isnan(value) ? inf : value;  // its recurrence overflowed
  }
  if (takes_far_series(double(v), x)) return 0;
  return double(uniform_k(v, y, false));
}

double bt_kve_derivative(double order, double x) {
  if (std::isnan(order) || std::isnan(x) || std::isinf(order) || x < 0) return not_a_number;
  if (x == 0) return -inf;
  if (std::isinf(x)) return 0;
  const long double v = std::fabs(static_cast<long double>(order)), y = x;
  if (x >= far_enough && takes_far_series(double(v), x))
    return double(-far_series(v, y, false, true) * std::sqrt(pi / (2 * y)) / y);
  if (x <= largest_in_range && v <= large_order) {
    const double value = guarded([&] {
      const long double before = k_in_range(std::fabs(v - 1), y), here = k_in_range(v, y);
      return ((1 - v / y) * here - before) * std::exp(y);
    });
    return std::isnan(value) ? -inf : value;
  }
  return double((1 - v / y) * uniform_k(v, y, true) - uniform_k(v - 1, y, true));
}

double bt_owens_t(double h, double a) {
  if (std::isnan(h) || std::isnan(a)) return not_a_number;
  if (std::isinf(h)) return 0;
  if (std::isinf(a)) return std::copysign(bt_ndtr(-std::fabs(h)) / 2, a);
  return guarded(
      [&] { return boost::math::owens_t(static_cast<long double>(h), static_cast<long double>(a), BesselPolicy()); });
}

double bt_ndtri_exp(double y) {
  if (std::isnan(y) || y > 0) return not_a_number;
  if (y == 0) return inf;
  if (y == -inf) return -inf;
  constexpr double root_two = 1.41421356237309504880, log_half = -0.693147180559945309417;
  if (std::fabs(y - log_half) < 0.3) {  // near the zero, by the distance from log 1/2
    const long double odds = std::expm1(y + 0.693147180559945309417232121458176568L);
    return guarded([&] { return std::sqrt(2.0L) * boost::math::erf_inv(odds, BesselPolicy()); });
  }
  if (y > log_half) return root_two * bt_erfcinv(-2 * std::expm1(y));
  if (y > -5) return -root_two * bt_erfcinv(2 * std::exp(y));
  // Newton's method, in which the derivative of log_ndtr is the inverse Mills ratio.
  constexpr double root_half = 0.707106781186547524401, factor = 0.797884560802865355880;  // sqrt(2 / pi)
  double x = -root_two * std::sqrt(-y);                                                    // -2y would overflow
  if (y < -1e30) return x;  // the other terms of log_ndtr, such as log(-x), are negligible beside x^2 / 2
  for (int step = 0; step < 20; ++step) {
    const double moved = (bt_log_ndtr(x) - y) * bt_erfcx(-x * root_half) / factor;
    x -= moved;
    if (std::fabs(moved) <= 1e-16 * std::fabs(x)) break;
  }
  return x;
}

}  // extern "C"

namespace {

const RegisterFunctions bessel_functions{
    BITALE_FLOAT_ROWS(bt_i0, "x"),
    BITALE_FLOAT_ROWS(bt_i1, "x"),
    BITALE_FLOAT_ROWS(bt_j0, "x"),
    BITALE_FLOAT_ROWS(bt_j1, "x"),
    BITALE_FLOAT_ROWS(bt_jv, "order x"),
    BITALE_FLOAT_ROWS(bt_ive, "order x"),
    BITALE_FLOAT_ROWS(bt_kve, "order x"),
    BITALE_FLOAT_ROWS(bt_iv, "order x"),
    BITALE_FLOAT_ROWS(bt_kv, "order x"),
    BITALE_FLOAT_ROWS(bt_ive_derivative, "order x"),
    BITALE_FLOAT_ROWS(bt_kve_derivative, "order x"),
    BITALE_FLOAT_ROWS(bt_owens_t, "h a"),
    BITALE_FLOAT_ROWS(bt_ndtri_exp, "y"),
};

}  // namespace

}  // namespace bitale::runtime

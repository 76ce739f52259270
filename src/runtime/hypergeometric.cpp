// The hypergeometric function by Gauss's series (gauss_series.hpp), in long double if that leaves enough digits, else
// in 100 or 400 digits. The latter are in a separate library (digits.hpp), which is opened when it is first needed.
#include "runtime/hypergeometric.hpp"

#include <cmath>

#include "bitale/runtime/functions.hpp"
#include "core/limits.hpp"
#include "runtime/boost_math.hpp"
#include "runtime/digits.hpp"
#include "runtime/gauss_series.hpp"
#include "runtime/narrowed.hpp"

namespace bitale::runtime {

namespace {

using namespace gauss;

// Whether the function is a polynomial of degree -n in z, for n = a or b: the series ends before a zero of its
// denominators.
bool is_polynomial(double n, double c) { return is_pole(n) && !(is_pole(c) && n < c); }

double value_at_one(double a, double b, double c) {
  const long double s = static_cast<long double>(c) - a - b;
  if (s > 0) return not_a_number;  // finite, and computed like other values
  const long double sign = gamma_of<long double>(c) * one_over_gamma<long double>(a) * one_over_gamma<long double>(b);
  return sign < 0 ? -inf : inf;
}

double value(double a, double b, double c, double z) {
  if (!std::isfinite(a) || !std::isfinite(b) || !std::isfinite(c) || !std::isfinite(z)) return not_a_number;
  if (z == 0 || a == 0 || b == 0) return 1;
  const bool is_finite_sum = is_polynomial(a, c) || is_polynomial(b, c);
  if (!is_finite_sum) {
    if (is_pole(c)) return inf;
    if (b == c) return std::pow(1 - z, -a);
    if (a == c) return std::pow(1 - z, -b);
    if (z > 1 && !is_real_beyond_one<long double>(a, b, c)) return not_a_number;
    if (z == 1 && static_cast<long double>(c) - a - b <= 0) return value_at_one(a, b, c);
  }
  double out = not_a_number;
  if (try_value<long double>(a, b, c, z, out)) return out;
  return digits().hyp2f1(a, b, c, z);
}

double derivative(double a, double b, double c, double z, bool is_by_c) {
  if (!std::isfinite(a) || !std::isfinite(b) || !std::isfinite(c) || !std::isfinite(z)) return not_a_number;
  if (z == 0 || b == 0 || (is_by_c && a == 0)) return 0;
  const bool stays_polynomial = is_polynomial(b, c) || (is_by_c && is_polynomial(a, c));
  if (!stays_polynomial && (z > 1 || is_pole(c) || (z == 1 && static_cast<long double>(c) - a - b <= 0)))
    return not_a_number;
  return digits().hyp2f1_derivative(a, b, c, z, is_by_c);
}

}  // namespace

extern "C" {

double bt_hyp2f1(double a, double b, double c, double z) {
  return guarded([&] { return value(a, b, c, z); });
}
double bt_hyp2f1_derivative(double a, double b, double c, double z) {
  return guarded([&] { return derivative(a, b, c, z, false); });
}
double bt_hyp2f1_derivative_by_c(double a, double b, double c, double z) {
  return guarded([&] { return derivative(a, b, c, z, true); });
}

}  // extern "C"

namespace {

const RegisterFunctions hypergeometric_functions{
    BITALE_FLOAT_ROWS(bt_hyp2f1, "a b c z"),
    BITALE_FLOAT_ROWS(bt_hyp2f1_derivative, "a b c z"),
    BITALE_FLOAT_ROWS(bt_hyp2f1_derivative_by_c, "a b c z"),
};

}  // namespace

}  // namespace bitale::runtime

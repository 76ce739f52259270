// Gauss's series in 100 digits, or in 400. Boost provides the numbers and their gamma function; its own series only
// covers |z| < 1.
#include <boost/math/special_functions/gamma.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <limits>

#include "runtime/digits.hpp"
#include "runtime/gauss_series.hpp"

namespace bitale::runtime {

template <unsigned digits>
using Digits =
    boost::multiprecision::number<boost::multiprecision::cpp_bin_float<digits>, boost::multiprecision::et_off>;

template <unsigned digits>
struct gauss::Gamma<Digits<digits>> {
  static Digits<digits> of(const Digits<digits>& x) { return boost::math::tgamma(x); }
};

namespace {

// No exception may leave the computation, since the callers are plain functions.
template <class Try>
double first_of(Try attempt) {
  double out = std::numeric_limits<double>::quiet_NaN();
  try {
    attempt(out);
  } catch (...) {
  }
  return out;
}

double hyp2f1(double a, double b, double c, double z) {
  return first_of([&](double& out) {
    return gauss::try_value<Digits<100>>(a, b, c, z, out) || gauss::try_value<Digits<400>>(a, b, c, z, out);
  });
}

double hyp2f1_derivative(double a, double b, double c, double z, bool is_by_c) {
  return first_of([&](double& out) {
    return gauss::try_derivative<Digits<100>>(a, b, c, z, is_by_c, out) ||
           gauss::try_derivative<Digits<400>>(a, b, c, z, is_by_c, out);
  });
}

}  // namespace

}  // namespace bitale::runtime

extern "C" const bitale::runtime::DigitsFunctions bitale_digits_functions = {bitale::runtime::hyp2f1,
                                                                             bitale::runtime::hyp2f1_derivative};

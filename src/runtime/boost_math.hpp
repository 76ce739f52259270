// How the special functions call Boost.Math: with a policy under which domain, pole and overflow errors give values, as
// in IEEE and SciPy, and with a guard that turns its remaining exceptions into nan.
#pragma once

#include <math.h>
#include <boost/math/policies/policy.hpp>

#include <cmath>
#include <limits>

#include "core/limits.hpp"

namespace bitale::runtime {

namespace policies = boost::math::policies;

// Errors for which IEEE defines a value give that value.
template <class... Policies>
using QuietPolicy =
    policies::policy<policies::domain_error<policies::ignore_error>, policies::pole_error<policies::ignore_error>,
                     policies::overflow_error<policies::ignore_error>, policies::rounding_error<policies::ignore_error>,
                     policies::indeterminate_result_error<policies::ignore_error>, Policies...>;

inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
inline constexpr long double pi = 3.14159265358979323846264338327950288L;

// Generated code calls the functions of the runtime: no exception may leave them.
template <class F>
double guarded(F f) {
  try {
    return double(f());
  } catch (...) {
    return not_a_number;
  }
}

// log |Gamma(x)|. The C library's other functions write a global variable, signgam: a race between threads.
inline long double log_gamma(long double x) {
  int sign;
  return lgammal_r(x, &sign);
}

inline bool is_whole(double x) { return x == std::floor(x); }

}  // namespace bitale::runtime

// Gauss's series, after z has been transformed to [0, 3/4] by Pfaff's transformation and by that to 1 - z (Abramowitz
// and Stegun 15.3). The sum of its terms, and that of the two parts of 15.3.6, may cancel: how much is computed from
// the largest of them, so that a value that has lost too many digits is detected. Where 15.3.6 has poles that cancel
// (c - a - b a whole number), c is moved by so little that half the digits are left. Derivatives by parameters are
// differences in many digits. Works for any type of numbers: long double, and those of runtime/digits.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace bitale::runtime::gauss {

template <class Real>
constexpr bool is_native = std::is_same_v<Real, long double>;

// The gamma function of a type: static Real of(const Real& x).
template <class Real>
struct Gamma;
template <>
struct Gamma<long double> {
  static long double of(long double x) { return std::tgamma(x); }
};

// The maximum number of terms of one sum. With more digits, each takes up to a microsecond.
template <class Real>
constexpr int max_terms = is_native<Real>                             ? 200000
                          : std::numeric_limits<Real>::digits10 < 200 ? 50000
                                                                      : 20000;

// A sum and the largest magnitude among its addends; not complete if it would take too many terms.
template <class Real>
struct Sum {
  Real value, largest;
  bool is_complete = true;
};

template <class Real>
bool is_pole(const Real& x) {  // of the gamma function
  using std::floor;
  return x <= 0 && floor(x) == x;
}

template <class Real>
Real size(const Real& x) {
  return x < 0 ? Real(-x) : x;
}

// The terms beyond the n-th are smaller than powers of this.
template <class Real>
Real ratio_bound(const Real& a, const Real& b, const Real& c, const Real& z, int n) {
  const Real bound = (size(a) + n) * (size(b) + n) / ((c < 0 ? Real(c + n) : Real(size(c) + n)) * (n + 1)) * size(z);
  return Real(1.25) * std::max(bound, size(z));
}

template <class Real>
Sum<Real> series(const Real& a, const Real& b, const Real& c, const Real& z) {
  const Real smallest = std::numeric_limits<Real>::epsilon() / 8;
  const int most = max_terms<Real>;
  const auto ends = [&](const Real& n) { return is_pole(n) && n > -most; };
  if (!ends(a) && !ends(b) && (c < -most || ratio_bound(a, b, c, z, most / 2) >= 1)) return {Real(0), Real(0), false};
  Real term = 1, total = 1, largest = 1;
  for (int n = 0; n < most; ++n) {
    const Real factor = (a + n) * (b + n);
    if (factor == 0) return {total, largest};
    term *= factor / ((c + n) * (n + 1)) * z;
    total += term;
    largest = std::max(largest, size(term));
    if (n < 8 || c + n <= 0 || size(term) > smallest * size(total)) continue;
    const Real q = ratio_bound(a, b, c, z, n);
    if (q < 1 && size(term) * q <= smallest * size(total) * (1 - q)) return {total, largest};
  }
  return {total, largest, false};
}

template <class Real>
Sum<Real> scaled(const Real& factor, const Sum<Real>& sum) {
  return {factor * sum.value, size(factor) * sum.largest, sum.is_complete};
}

template <class Real>
Real gamma_of(const Real& x) {
  return Gamma<Real>::of(x);
}
template <class Real>
Real one_over_gamma(const Real& x) {
  return is_pole(x) ? Real(0) : Real(1 / gamma_of(x));
}

// Whether long double computes the power to its last digit.
template <class Real>
bool is_in_range(const Real& exponent, const Real& base) {
  using std::log;
  return !is_native<Real> || size(exponent) * (1 + size(log(base))) < 64;
}

template <class Real>
Sum<Real> incomplete() {
  return {Real(0), Real(0), false};
}

// For 0 <= z < 1; rest is 1 - z.
template <class Real>
Sum<Real> in_unit_interval(const Real& a, const Real& b, Real c, const Real& z, const Real& rest) {
  using std::floor;
  using std::pow;
  if (z <= Real(0.75)) return series(a, b, c, z);
  Real s = c - a - b;
  if (is_pole(Real(c - a)) || is_pole(Real(c - b)))  // a polynomial times a power (15.3.3)
    return is_in_range(s, rest) ? scaled(Real(pow(rest, s)), series(Real(c - a), Real(c - b), c, z))
                                : incomplete<Real>();
  if constexpr (is_native<Real>) {
    for (Real x : {a, b, c})
      if (size(x) > 150) return incomplete<Real>();
    if (size(Real(s - floor(s + Real(0.5)))) < Real(0.01)) return incomplete<Real>();
  } else if (floor(s) == s) {
    c += pow(std::numeric_limits<Real>::epsilon(), Real(0.4));
    s = c - a - b;
  }
  if (!is_in_range(s, rest)) return incomplete<Real>();
  const Real common = gamma_of(c);
  const auto regular = scaled(Real(common * gamma_of(s) * one_over_gamma(Real(c - a)) * one_over_gamma(Real(c - b))),
                              series(a, b, Real(1 - s), rest));
  const auto singular = scaled(Real(common * gamma_of(Real(-s)) * one_over_gamma(a) * one_over_gamma(b) * pow(rest, s)),
                               series(Real(c - a), Real(c - b), Real(1 + s), rest));
  return {regular.value + singular.value, std::max(regular.largest, singular.largest),
          regular.is_complete && singular.is_complete};
}

// Whether 15.3.3 gives a polynomial times a whole power of 1 - z, which is real beyond 1, too.
template <class Real>
bool is_real_beyond_one(const Real& a, const Real& b, const Real& c) {
  using std::floor;
  const Real s = c - a - b;
  return floor(s) == s && (is_pole(Real(c - a)) || is_pole(Real(c - b)));
}

template <class Real>
Sum<Real> beyond_one(const Real& a, const Real& b, const Real& c, const Real& z) {
  using std::floor;
  using std::pow;
  const Real s = c - a - b, rest = z - 1;
  if (!is_in_range(s, rest)) return incomplete<Real>();
  const Real power = pow(rest, s);
  const bool is_odd = floor(s / 2) * 2 != s;
  return scaled(is_odd ? Real(-power) : power, series(Real(c - a), Real(c - b), c, z));
}

template <class Real>
Sum<Real> hypergeometric(const Real& a, const Real& b, const Real& c, const Real& z) {
  using std::pow;
  if (is_pole(a) || is_pole(b)) return series(a, b, c, z);  // a polynomial
  if (z == 1) {                                             // Gauss's formula (15.1.20)
    if (is_native<Real>) return incomplete<Real>();
    const Real value =
        gamma_of(c) * gamma_of(Real(c - a - b)) * one_over_gamma(Real(c - a)) * one_over_gamma(Real(c - b));
    return {value, size(value)};
  }
  if (z > 1) return is_real_beyond_one(a, b, c) ? beyond_one(a, b, c, z) : incomplete<Real>();
  if (z >= 0) return in_unit_interval(a, b, c, z, Real(1 - z));
  if (z >= Real(-0.25)) return series(a, b, c, z);
  // Pfaff's transformation (15.3.4).
  const Real rest = 1 - z;
  if (!is_in_range(a, rest)) return incomplete<Real>();
  return scaled(Real(pow(rest, -a)), in_unit_interval(a, Real(c - b), c, Real(z / (z - 1)), Real(1 / rest)));
}

// Whether as many digits are left as a double has, plus a few for the rounding errors of the terms; or both the value
// and what was lost are far below the smallest double, as where a polynomial has a zero.
template <class Real>
bool is_accurate(const Real& value, const Real& lost) {
  if (size(value) + lost < Real(0x1p-1000L) * Real(0x1p-100L)) return true;
  return lost <= size(value) * Real(0x1p-53);
}
template <class Real>
bool is_accurate(const Sum<Real>& sum) {
  return sum.is_complete && is_accurate(sum.value, Real(sum.largest * std::numeric_limits<Real>::epsilon() * 32));
}

template <class Real>
bool try_value(double a, double b, double c, double z, double& out) {
  const auto sum = hypergeometric<Real>(Real(a), Real(b), Real(c), Real(z));
  if (!is_accurate(sum)) return false;
  out = static_cast<double>(sum.value);
  return true;
}

// A difference over a step so small that it equals the derivative to half the digits.
template <class Real>
bool try_derivative(double a, double b, double c, double z, bool is_by_c, double& out) {
  using std::pow;
  const Real step = pow(std::numeric_limits<Real>::epsilon(), Real(0.3));
  const auto moved = [&](const Real& by) {
    return hypergeometric<Real>(is_by_c ? Real(a) : Real(a + by), Real(b), is_by_c ? Real(c + by) : Real(c), Real(z));
  };
  const auto above = moved(step), below = moved(Real(-step));
  const Real difference = above.value - below.value, largest = std::max(above.largest, below.largest);
  if (!above.is_complete || !below.is_complete) return false;
  // A derivative this small compared with the largest term is 0, as that of a polynomial at its extreme.
  if (std::numeric_limits<Real>::digits10 >= 400 && size(difference) < largest * step * step * step * 1000) {
    out = 0;
    return true;
  }
  if (largest * std::numeric_limits<Real>::epsilon() * 32 > size(difference) * Real(0x1p-53)) return false;
  out = static_cast<double>(Real(difference / (2 * step)));
  return true;
}

}  // namespace bitale::runtime::gauss

// Implemented with Boost.Multiprecision.
#include "runtime/exact.hpp"

#include <boost/math/constants/constants.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>

namespace bitale::exact {

using Real = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<450>, boost::multiprecision::et_off>;

struct Number::Digits {
  Real value;
};

namespace {

const Real& of(const Number& x) { return x.digits().value; }
Number number(Real value) { return Number(std::make_shared<const Number::Digits>(Number::Digits{std::move(value)})); }

// Whether a series is needed, since the difference to 1 would lose digits.
bool is_tiny(const Real& x) { return abs(x) < Real(1e-30); }
Real expm1_of(const Real& x) { return is_tiny(x) ? x + x * x / 2 + x * x * x / 6 : exp(x) - 1; }
Real log1p_of(const Real& x) { return is_tiny(x) ? x - x * x / 2 + x * x * x / 3 : log(1 + x); }

Real erfc_of(const Real& x);
Real erf_of(const Real& x) {
  if (x < 0) return -erf_of(-x);
  if (x > 4) return 1 - erfc_of(x);
  // The alternating series; the terms grow to e^16 before they fall, which costs 7 digits.
  Real term = x, total = x;
  for (int n = 1; n < 2000 && abs(term) > Real("1e-130"); ++n) {
    term *= -x * x / n;
    total += term / (2 * n + 1);
  }
  return total * 2 / sqrt(boost::math::constants::pi<Real>());
}
Real erfc_of(const Real& x) {
  if (x < 4) return 1 - erf_of(x);
  Real fraction = x;  // x + (1/2)/(x + (2/2)/(x + ...)), from the far end
  for (int n = 3000; n > 0; --n) fraction = x + Real(n) / 2 / fraction;
  return exp(-x * x) / fraction / sqrt(boost::math::constants::pi<Real>());
}

}  // namespace

Number::Number(double value) : digits_(std::make_shared<const Digits>(Digits{Real(value)})) {}
double Number::nearest() const { return double(digits_->value); }
std::string Number::str(int digits) const { return digits_->value.str(digits); }

Number operator+(const Number& a, const Number& b) { return number(of(a) + of(b)); }
Number operator-(const Number& a, const Number& b) { return number(of(a) - of(b)); }
Number operator*(const Number& a, const Number& b) { return number(of(a) * of(b)); }
Number operator/(const Number& a, const Number& b) { return number(of(a) / of(b)); }
Number operator-(const Number& a) { return number(-of(a)); }
bool operator<(const Number& a, const Number& b) { return of(a) < of(b); }
bool operator==(const Number& a, const Number& b) { return of(a) == of(b); }

Number abs(const Number& x) { return number(boost::multiprecision::abs(of(x))); }
Number floor(const Number& x) { return number(boost::multiprecision::floor(of(x))); }
Number sqrt(const Number& x) { return number(boost::multiprecision::sqrt(of(x))); }
Number exp(const Number& x) { return number(boost::multiprecision::exp(of(x))); }
Number log(const Number& x) { return number(boost::multiprecision::log(of(x))); }
Number expm1(const Number& x) { return number(expm1_of(of(x))); }
Number log1p(const Number& x) { return number(log1p_of(of(x))); }
Number sin(const Number& x) { return number(boost::multiprecision::sin(of(x))); }
Number cos(const Number& x) { return number(boost::multiprecision::cos(of(x))); }
Number atan(const Number& x) { return number(boost::multiprecision::atan(of(x))); }
Number erf(const Number& x) { return number(erf_of(of(x))); }
Number erfc(const Number& x) { return number(erfc_of(of(x))); }

}  // namespace bitale::exact

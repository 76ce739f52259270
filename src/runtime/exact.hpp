// Real numbers with 450 digits and a huge range of exponents, which floating-point results are measured against.
#pragma once

#include <memory>
#include <string>

namespace bitale::exact {

class Number {
 public:
  Number(double value = 0);  // finite
  double nearest() const;    // infinite beyond the range of doubles
  std::string str(int digits) const;

  friend Number operator+(const Number& a, const Number& b);
  friend Number operator-(const Number& a, const Number& b);
  friend Number operator*(const Number& a, const Number& b);
  friend Number operator/(const Number& a, const Number& b);  // b is not 0
  friend Number operator-(const Number& a);
  friend bool operator<(const Number& a, const Number& b);
  friend bool operator>(const Number& a, const Number& b) { return b < a; }
  friend bool operator<=(const Number& a, const Number& b) { return !(b < a); }
  friend bool operator>=(const Number& a, const Number& b) { return !(a < b); }
  friend bool operator==(const Number& a, const Number& b);

  struct Digits;
  explicit Number(std::shared_ptr<const Digits> digits) : digits_(std::move(digits)) {}
  const Digits& digits() const { return *digits_; }

 private:
  std::shared_ptr<const Digits> digits_;
};

// For numbers in their domains, and of at most 1e8 where they grow exponentially.
Number abs(const Number& x);
Number floor(const Number& x);
Number sqrt(const Number& x);
Number exp(const Number& x);
Number log(const Number& x);
Number expm1(const Number& x);
Number log1p(const Number& x);
Number sin(const Number& x);
Number cos(const Number& x);
Number atan(const Number& x);
Number erf(const Number& x);
Number erfc(const Number& x);

}  // namespace bitale::exact

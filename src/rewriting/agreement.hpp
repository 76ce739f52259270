// Whether the values of a rule's two sides agree: which rounding differences are accepted, what exact arithmetic
// decides, and which differences the rule declares.
#pragma once

#include <string>
#include <vector>

#include "bitale/rewriting/rules.hpp"
#include "ops/elementwise/exact.hpp"

namespace bitale::rewriting {

// The differences that a rule may declare: which of them have occurred.
struct Differences {
  bool wider = false, no_signed_zeros = false, declared = false;
};

// The two sides of an equation on one dtype, with one choice of constants.
class Agreement {
 public:
  // `constants`: one number per pattern constant.
  Agreement(const Rule& rule, DType dtype, std::vector<double> constants, DType result, Differences& seen);

  // The complaint about these values of the sides at this point (one value per variable leaf); "" if they agree.
  std::string complaint(double left, double right, const std::vector<double>& point) const;

 private:
  bool agree(double a, double b) const;
  bool is_declared(double first) const;
  std::string inexact_complaint(double left, double right, const std::vector<double>& point) const;
  ExactValue exact_left(const std::vector<double>& point) const;

  const Rule& rule_;
  DType dtype_;
  std::vector<double> constants_;
  bool is_float_, is_narrow_, has_exact_form_;
  double epsilon_, largest_, smallest_;
  Differences& seen_;
};

// |value - truth| / |truth|; infinite if `value` is not finite, or if only `truth` is 0.
double relative_error(double value, const exact::Number& truth);

}  // namespace bitale::rewriting

// Reference values of the elementary functions: one reference per mathematical scalar op, for both dtypes, and test
// points. The references are functions of the C library and of Boost in a wider format (double for float32, long double
// for float64), so that their error is a thousandth of a unit in the last place. Tests and `./dev math` share them.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <string_view>
#include <vector>

#include "link/linker.hpp"
#include "ops/elementwise/scalar_op.hpp"

namespace bitale::test {

template <class T>
struct WiderFormat;
template <>
struct WiderFormat<float> {
  using type = double;
};
template <>
struct WiderFormat<double> {
  using type = long double;
};
template <class T>
using Wider = typename WiderFormat<T>::type;

// The distance from `got` to the exact value in units of the last place of the rounded one. Infinite where one is nan
// and the other not, where a zero has the wrong sign, and where a pole is missed. Overflow counts as the next power of
// two. Exact values below `least` in magnitude count as `least`.
template <class T>
double error_in_ulps(T got, Wider<T> expected, double least = 0) {
  using W = Wider<T>;
  using Limits = std::numeric_limits<T>;
  constexpr double wrong = std::numeric_limits<double>::infinity();
  if (std::isnan(got) || std::isnan(expected)) return std::isnan(got) && std::isnan(expected) ? 0 : wrong;
  if (std::isinf(expected)) return W(got) == expected ? 0 : wrong;
  if (got == 0 && std::signbit(got) != std::signbit(expected)) return wrong;
  const W limit = std::ldexp(W(1), Limits::max_exponent);
  const W value = std::isinf(got) ? std::copysign(limit, W(got)) : W(got);
  const W exact = std::fabs(expected) > limit ? std::copysign(limit, expected) : expected;
  int exponent = 0;
  std::frexp(std::max(std::fabs(exact), W(least)), &exponent);
  exponent = std::min(std::max(exponent, Limits::min_exponent), Limits::max_exponent);
  return double(std::fabs(std::ldexp(value - exact, Limits::digits - exponent)));
}

struct MathReference {
  std::string_view name;                   // of the scalar op
  double (*of_float)(double x, double y);  // unary functions ignore y
  long double (*of_double)(long double x, long double y);
  double allowed = 2.5;               // units in the last place, both dtypes
  std::span<const double> hard = {};  // where rounding or reduction is known to be difficult
  // The second argument of a binary function for this first one; null: drawn like the first.
  double (*partner)(double x, double uniform) = nullptr;
  bool only_domain = false;  // no points outside the domain of the op
  // For negative arguments, smaller results count as this large: next to zeros between poles no argument is exact
  // enough.
  double near_zero = 0;
  // For float64, if `of_double` takes microseconds: accurate to a hundredth of a unit nearly everywhere.
  long double (*rough)(long double x, long double y) = nullptr;

  double value(float x, float y) const { return of_float(x, y); }
  long double value(double x, double y) const { return of_double(x, y); }
  template <class T>
  double error(T got, T x, T y) const {
    return error_in_ulps(got, value(x, y), x < 0 ? near_zero : 0);
  }
  // Whether the error may exceed `limit`.
  bool may_exceed(double limit, double got, double x, double y) const {
    return !rough || !(error_in_ulps(got, rough(x, y), x < 0 ? near_zero : 0) < limit - 0.01);
  }
};
std::span<const MathReference> math_references();  // by name
const MathReference* math_reference(std::string_view name);

// The scalar ops of floats with more than one rounding error, which need a reference.
std::vector<const ScalarOp*> mathematical_ops();

// One scalar op of one dtype, compiled alone and without rewrites.
class CompiledMath {
 public:
  CompiledMath(const ScalarOp& op, DType dtype);
  // Vectors of equal length, one per input.
  Array operator()(std::span<const Array> inputs) const;

 private:
  std::unique_ptr<link::Thunk> code_;
};

// An unlimited sequence of test points of a function: difficult points, then its domain, all magnitudes, random bits,
// and neighbours of difficult points.
template <class T>
class MathPoints {
 public:
  MathPoints(const ScalarOp& op, const MathReference& reference, std::uint64_t seed = 1);
  // One value per input of the op.
  void next(std::span<T> point);

 private:
  T first();
  double uniform(double low, double high);

  const ScalarOp& op_;
  const MathReference& reference_;
  std::mt19937_64 random_;
  std::vector<T> points_;
  std::size_t next_point_ = 0;
};

}  // namespace bitale::test

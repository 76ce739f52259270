// The pieces that the elementary functions share: the layout of a float, powers of two, and the two kernels exp(r) - 1
// and log(1 + f) on the small interval that argument reduction leads to.
//
// Methods: Cody & Waite, "Software Manual for the Elementary Functions" (reduction by multiples of log 2 in two pieces)
// and FreeBSD's msun (e_log.c, s_log1p.c: log(1 + f) through s = f / (2 + f)). The polynomials are minimax (Remez
// exchange in 200-bit arithmetic); each states its relative error, before its coefficients are rounded.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>

#include "bitale/program/expr.hpp"
#include "program/math/scale.hpp"
#include "program/residual.hpp"

namespace bitale::program::math {

struct Format {
  explicit Format(DType dtype) : is_double(dtype == DType::Float64) {}
  const bool is_double;

  DType dtype() const { return is_double ? DType::Float64 : DType::Float32; }
  DType bits() const { return is_double ? DType::UInt64 : DType::UInt32; }
  int mantissa() const { return is_double ? 52 : 23; }
  std::int64_t bias() const { return is_double ? 1023 : 127; }
  // 1.5 * 2^mantissa: adding it rounds to a whole number, which then is the low bits.
  double shifter() const { return is_double ? 6755399441055744.0 : 12582912.0; }
  // Below this, x and its odd functions are equal to within rounding.
  double tiny() const { return is_double ? 0x1p-54 : 0x1p-26; }
};

// log 2 in two pieces. The last bits of the first are free, so that its products with exponents are exact.
struct Log2 {
  double high, low;
};
inline Log2 log_2_pieces(const Format& format) {
  if (format.is_double) return {0x1.62e42fefa38p-1, 0x1.ef35793c7673p-45};
  return {0x1.62e4p-1, 0x1.7f7d1cp-20};
}

// A value as an unevaluated sum: |low| is at most about half a unit in the last place of high.
struct Sum {
  Expr high, low;
};
// high + low = a + b exactly, for |a| >= |b| or a = 0.
Sum sum_exactly(Expr a, Expr b);

// As `polynomial`, for five coefficients or more: a few operations more, but a third of the latency.
Expr long_polynomial(Expr x, std::initializer_list<double> coefficients);

// value * 2^n where both the value and the result are normal, for a whole n given as n + shifter.
Expr add_to_exponent(Expr value, Expr shifted);

// x = n log 2 + r with whole n, |r| <= log(2) / 2; `shifted` is n + shifter.
struct Reduced {
  Expr shifted, n, r;
};
Reduced reduce_by_log_2(Expr x);
struct ReducedSum {
  Expr shifted, n;
  Sum r;
};
ReducedSum reduce_by_log_2(Sum x);
// exp(r) - 1 for |r| <= log(2) / 2, with small relative error.
Expr expm1_kernel(Expr r);
// exp(x) / 2 for every x, and exp(x) for x <= 0.
Expr half_exp(Expr x);
Expr exp_of_negative(Expr x);
// exp(x) - 1 for x <= 0 or x far from overflow; right for tiny x.
Expr expm1_moderate(Expr x);

// Positive normal x = m 2^k with sqrt(1/2) <= m < sqrt(2).
struct Decomposed {
  Expr m, k;
};
Decomposed decompose(Expr x);
// The same for every positive finite x: subnormal numbers are made normal first.
Decomposed decompose_any(Expr x);
// f - log(1 + f), which is about f^2 / 2, for sqrt(1/2) <= 1 + f < sqrt(2).
Expr log1p_bend(Expr f);
// k log 2 + log(1 + f) for such f; minus `excess`, which is small.
Expr log_of_scaled(Expr k, Expr f);
Expr log_of_scaled(Expr k, Expr f, Expr excess);
// log(x) for positive, finite, normal x.
Expr log_of_normal(Expr x);
// The same where x may be subnormal.
Expr log_of_positive(Expr x);
// log(1 + x) for x >= -1/2 and finite.
Expr log1p_moderate(Expr x);

// An odd function that rises to 1, which it reaches at `bound`: polynomials about multiples n of the step, n < 16. Row
// k has their coefficients of the power k; the polynomial about 0 is that of the function minus its argument.
struct StepTable {
  double step, bound;
  std::span<const double[16]> rows;
};
Expr odd_by_steps(Expr x, const StepTable& table);

// log(x) for positive finite x, subnormal too, with six more bits than the format has.
Sum log_with_tail(Expr x);
// The same with twelve more bits, and exp of such a sum, for every `high`: for powers and related functions.
Sum log_in_two_pieces(Expr x);
Expr exp_of_sum(Sum x);

}  // namespace bitale::program::math

// The functions of elementary.hpp: those of records, and formulas of other elementwise functions.
#include "bitale/ops/elementary.hpp"

#include <cmath>
#include <numbers>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/ops/ops.hpp"
#include "bitale/ops/special.hpp"
#include "graph/literal.hpp"
#include "graph/wide_literals.hpp"
#include "ops/elementwise/elemwise.hpp"

namespace bitale {

namespace {

Variable of_record(std::string_view name, const Operand& x) {
  const LocationScope here(x.where);
  return apply_elemwise(name, {&x.variable, 1});
}
Variable of_record(std::string_view name, const Operand& x, const Operand& y) {
  const LocationScope here(x.where);
  const Variable inputs[] = {x.variable, y.variable};
  return apply_elemwise(name, inputs);
}

Variable real_float(const Operand& x, const char* who) {
  if (is_complex(x.dtype())) throw TypeError(cat(who, ": not defined for complex numbers, got ", x.variable.str()));
  return as_float(x.variable);
}

// The products of -inf and a factor that vanishes there are 0, their limit.
Variable gated(const Variable& x, const Variable& gate) { return switch_(eq(x, -INFINITY), 0, mul(x, gate)); }

// A number in the dtype of x, so that the result has this dtype as well.
Variable number_for(const Variable& x, double value) { return cast(Operand(value), x.dtype()); }

}  // namespace

Variable signbit(const Operand& x) { return of_record("signbit", x); }
Variable copysign(const Operand& x, const Operand& y) { return of_record("copysign", x, y); }
Variable nextafter(const Operand& x, const Operand& y) { return of_record("nextafter", x, y); }
Variable left_shift(const Operand& x, const Operand& y) { return of_record("left_shift", x, y); }
Variable right_shift(const Operand& x, const Operand& y) { return of_record("right_shift", x, y); }

Variable fmod(const Operand& x, const Operand& y) {
  const LocationScope here(x.where);
  const DType dtype = promote(x.dtype(), y.dtype());
  if (is_complex(dtype))
    throw TypeError(cat("fmod: not defined for complex numbers, got ",
                        is_complex(x.dtype()) ? x.variable.str() : y.variable.str()));
  const bool are_literals = is_literal(x.variable) && is_literal(y.variable);
  const auto converted = [&](const Operand& v) { return are_literals ? as_float(v.variable) : cast(v, dtype); };
  // `mod` of numbers of one sign is C's remainder, without rounding.
  if (!is_discrete(dtype)) return copysign(mod(abs(converted(x)), abs(converted(y))), converted(x));
  const Variable remainder = mod(x, y), divisor = cast(y, remainder.dtype());
  if (!is_signed_int(remainder.dtype())) return remainder;
  const Variable has_other_sign = and_(neq(remainder, 0), neq(lt(x, 0), lt(y, 0)));
  return switch_(has_other_sign, sub(remainder, divisor), remainder);
}

Variable heaviside(const Operand& x, const Operand& y) {
  const LocationScope here(x.where);
  const Variable value = real_float(x, "heaviside"), at_zero = real_float(y, "heaviside");
  const Variable step = switch_(isnan(value), value, cast(gt(value, 0), value.dtype()));
  return switch_(eq(value, 0), at_zero, step);
}

Variable logaddexp2(const Operand& first, const Operand& second) {
  const LocationScope here(first.where);
  const Variable x = real_float(first, "logaddexp2"), y = real_float(second, "logaddexp2");
  // As logaddexp, in powers of two.
  const Variable high = maximum(x, y), low = minimum(y, x);
  const Variable distance =
      cast(switch_(isinf(high), switch_(eq(low, high), 0, -INFINITY), sub(low, high)), high.dtype());
  // log2(1 + t) is 1 + log2(1 + (t - 1) / 2) where t is near 1: the sum of equal powers is exactly the next one, where
  // ln(2) log2(e) would be rounded, and cancel against a high of about -1.
  const Variable t = exp2(distance), is_near = gt(t, number_for(high, 0.5));
  const Variable rest = switch_(is_near, mul(sub(t, 1), number_for(high, 0.5)), t);
  return add(add(high, cast(is_near, high.dtype())), mul(log1p(rest), number_for(high, std::numbers::log2e)));
}

Variable float_power(const Operand& x, const Operand& y) {
  const LocationScope here(x.where);
  const DType dtype = is_complex(x.dtype()) || is_complex(y.dtype()) ? DType::Complex128 : DType::Float64;
  return pow(cast(x, dtype), cast(y, dtype));
}

Variable around(const Operand& x, int decimals) {
  const LocationScope here(x.where);
  if (is_complex(x.dtype())) throw TypeError(cat("round: not defined for complex numbers, got ", x.variable.str()));
  if (decimals == 0) return round(x);
  if (is_discrete(x.dtype()) && decimals > 0) return x.variable;
  const Variable value = as_float(x.variable), factor = number_for(value, std::pow(10.0, std::abs(decimals)));
  if (decimals < 0) {
    const Variable out = mul(round(true_div(value, factor)), factor);
    return is_discrete(x.dtype()) ? cast(out, x.dtype()) : out;
  }
  // A number whose product overflows has no decimals.
  const Variable scaled = mul(value, factor);
  return switch_(isinf(scaled), value, true_div(round(scaled), factor));
}

Variable positive(const Operand& x) {
  if (x.dtype() == DType::Bool) throw TypeError("positive: not defined for bool");
  return x.variable;
}

Variable relu(const Operand& x, const Operand& alpha) {
  const LocationScope here(x.where);
  if (is_complex(x.dtype())) throw TypeError(cat("relu: not defined for complex numbers, got ", x.variable.str()));
  // Comparisons with 0 are such that nan remains nan.
  const auto slope = alpha.variable.constant();
  const bool is_flat = slope && slope->size() == 1 && slope->item() == 0;
  return switch_(le(x, 0), is_flat ? cast(Operand(0), x.dtype()) : mul(alpha, x), x);
}

Variable elu(const Operand& x, const Operand& alpha) {
  const LocationScope here(x.where);
  const Variable given = real_float(x, "elu"), value = is_literal(alpha.variable) ? with_wide_literal(given) : given;
  return switch_(le(value, 0), mul(alpha, expm1(value)), value);
}

Variable gelu(const Operand& x, GeluApproximation approximation) {
  const LocationScope here(x.where);
  const Variable value = with_wide_literal(real_float(x, "gelu"));
  if (approximation == GeluApproximation::None) return gated(value, ndtr(value));
  const Variable cubic = add(value, mul(number_for(value, 0.044715), mul(value, sqr(value))));
  const Variable bend = tanh(mul(number_for(value, std::sqrt(2 / std::numbers::pi)), cubic));
  return gated(value, mul(number_for(value, 0.5), add(number_for(value, 1), bend)));
}

Variable silu(const Operand& x) {
  const LocationScope here(x.where);
  const Variable value = with_wide_literal(real_float(x, "silu"));
  return gated(value, sigmoid(value));
}

}  // namespace bitale

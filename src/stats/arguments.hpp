// What all functions of stats do with their arguments: one dtype for all, the line and the name of the call for errors,
// and -inf or nan where the formula does not apply.
#pragma once

#include <array>
#include <limits>
#include <tuple>

#include "bitale/ops/operand.hpp"
#include "bitale/ops/ops.hpp"
#include "core/call_scope.hpp"

namespace bitale::stats {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double log_two = 0.693147180559945309417;
inline constexpr double log_pi = 1.14472988584940017414;
inline constexpr double log_two_pi = 1.83787706640934548356;
inline constexpr double half_log_two_pi = log_two_pi / 2;

// The dtype of a result: floatX for integers, and for numbers without a dtype if no value has one.
DType common_dtype(std::span<const Variable> values);

// formula(x, parameters...) of the arguments in one float dtype, in which the result is returned. `who` lives as long
// as the process.
template <class Formula, class... More>
Variable density(const char* who, Formula formula, const Operand& x, const More&... parameters) {
  const LocationScope here(x.where);
  const CallScope call(who);
  std::array values{x.variable, parameters.variable...};
  const DType out = common_dtype(values), compute = computing_dtype(out);
  for (Variable& each : values) each = cast(each, compute);
  return cast(std::apply(formula, values), out);
}

// The formula of x, but -inf where x is outside the support; there it is computed at `other`, so that its derivatives
// are finite. nan is not outside.
template <class Formula>
Variable within_support(const Variable& outside, const Variable& x, const Operand& other, Formula formula) {
  return switch_(outside, -infinity, formula(switch_(outside, other, x)));
}

// The value where the parameters are in their domain.
inline Variable in_domain(const Variable& condition, const Variable& value) {
  return switch_(condition, value, std::numeric_limits<double>::quiet_NaN());
}

// A number as a scalar of x's dtype.
inline Variable constant_like_of(const Variable& x, double value) { return cast(value, x.dtype()); }

// Whether x is not among the whole numbers from low to high. nan is.
Variable is_no_count(const Variable& x, double low = 0);

// Whether shares do not sum to 1 along the last dimension as nearly as numbers can of the dtype in which they were
// given or, if it has fewer digits, are computed.
Variable misses_unit_sum(const Operand& given, const Variable& shares);

// log(1 + size^2) of a size that is not negative and whose square may overflow: far out it is 2 log(1 + size) to the
// last digit. One logarithm for both.
Variable log1p_of_square(const Variable& size);

// log(1 + exp(-|x|)).
inline Variable softplus_of_minus_abs(const Variable& x) { return log1p(exp(-abs(x))); }
inline Variable log_sigmoid(const Variable& x) { return -softplus(-x); }

}  // namespace bitale::stats

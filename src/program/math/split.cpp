// The bits of x relative to 3/4: their exponent field is k + bias.
#include "program/math/split.hpp"

#include <cmath>

#include "core/limits.hpp"
#include "program/math/core.hpp"

namespace bitale::program::math {

namespace {

std::int64_t min_bits(const Format& format) { return ((format.bias() - 1) * 2 + 1) << (format.mantissa() - 1); }

double smallest_normal(const Format& format) { return format.is_double ? 0x1p-1022 : 0x1p-126; }

// Follows first arguments through expressions of these codes; none where a code differs.
std::optional<Expr> inside(Expr expr, std::initializer_list<Code> codes) {
  for (Code code : codes) {
    if (expr.code() != code) return std::nullopt;
    expr = expr.argument(0);
  }
  return expr;
}

std::optional<Expr> compared_first(Expr expr) { return inside(expr, {Code::select, Code::lt}); }

}  // namespace

Split split_normal(Expr x) {
  const Format format(x.dtype());
  const auto integer = [&](std::int64_t value) { return x.pool().integer(value, format.bits()); };
  const std::int64_t one = format.bias() << format.mantissa();
  const Expr shifted = bitcast(x, format.bits()) + integer(one - min_bits(format));
  const Expr m = (shifted & integer((std::int64_t(1) << format.mantissa()) - 1)) + integer(min_bits(format));
  // The field as a float: put it below the exponent of 2^mantissa and subtract that again.
  const double base = std::ldexp(1.0, format.mantissa());
  const Expr field = (shifted >> format.mantissa()) | integer((format.bias() + format.mantissa()) << format.mantissa());
  return {bitcast(m, x.dtype()), bitcast(field, x.dtype()) - (base + double(format.bias()))};
}

Split split(Expr x) {
  const Format format(x.dtype());
  const double lift = format.mantissa() + 2;
  const Expr is_small = x < smallest_normal(format);
  const auto [m, k] = split_normal(select(is_small, x * std::exp2(lift), x));
  return {m, select(is_small, k - lift, k)};
}

Expr with_log_limits(Expr x, Expr value) {
  const Expr at_zero_or_below = select(equal(x, 0), -inf, x.pool().number(std::nan(""), x.dtype()));
  return select(x > 0, select(x < inf, value, x), at_zero_or_below);
}

std::optional<Expr> as_split_m(Expr expr) {
  if (!is_float(expr.dtype())) return std::nullopt;
  const auto x = inside(expr, {Code::bitcast, Code::add, Code::bit_and, Code::add, Code::bitcast});
  if (!x || x->dtype() != expr.dtype()) return std::nullopt;
  if (!(split_normal(*x).m == expr)) return std::nullopt;
  const auto whole = compared_first(*x);
  return whole && split(*whole).m == expr ? whole : x;
}

std::optional<Expr> as_split_k(Expr expr) {
  if (!is_float(expr.dtype())) return std::nullopt;
  if (const auto x = compared_first(expr)) {
    const bool fits = x->dtype() == expr.dtype() && expr.argument(1).code() == Code::sub && split(*x).k == expr;
    return fits ? x : std::nullopt;
  }
  const auto x = inside(expr, {Code::sub, Code::bitcast, Code::bit_or, Code::shr, Code::add, Code::bitcast});
  return x && x->dtype() == expr.dtype() && split_normal(*x).k == expr ? x : std::nullopt;
}

std::optional<LogLimits> as_log_limits(Expr expr) {
  const auto x = inside(expr, {Code::select, Code::gt});
  if (!x || !is_float(expr.dtype()) || expr.argument(1).code() != Code::select) return std::nullopt;
  const Expr value = expr.argument(1).argument(1);
  if (x->dtype() != value.dtype() || !(with_log_limits(*x, value) == expr)) return std::nullopt;
  return LogLimits{*x, value};
}

}  // namespace bitale::program::math

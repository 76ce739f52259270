// value * 2^h * 2^(n - h), h about n / 2: either power is a normal number, and the first product is exact.
#include "program/math/scale.hpp"

#include "program/math/core.hpp"

namespace bitale::program::math {

Expr scale(Expr value, Expr n) {
  const Format format(value.dtype());
  const auto number = [&](double x) { return value.pool().number(x, value.dtype()); };
  const Expr shifted_half = fma(n, number(0.5), number(format.shifter())), half = shifted_half - format.shifter();
  const Expr first = add_to_exponent(number(1), shifted_half);
  const Expr second = add_to_exponent(number(1), (n - half) + format.shifter());
  const Expr result = (value * first) * second;
  value.pool().forbid_contraction(result);  // a sum that contracts the last product would hide the rest
  return result;
}

Expr unscale(Expr value, Expr k) {
  const Format format(value.dtype());
  const auto number = [&](double x) { return value.pool().number(x, value.dtype()); };
  const Expr n = min(k, number(double(format.bias() - 1)));
  const Expr result = value * add_to_exponent(number(1), number(format.shifter()) - n);
  value.pool().forbid_contraction(result);
  return result;
}

namespace {

std::optional<Scaled> as_unscaled(Expr expr) {
  Expr n = expr.argument(1);
  for (Code code : {Code::bitcast, Code::add, Code::shl, Code::bitcast, Code::sub}) {
    if (n.code() != code) return std::nullopt;
    n = n.argument(code == Code::add || code == Code::sub ? 1 : 0);
  }
  if (n.code() != Code::min || !(unscale(expr.argument(0), n.argument(0)) == expr)) return std::nullopt;
  return Scaled{expr.argument(0), -n};
}

}  // namespace

std::optional<Scaled> as_scaled(Expr expr) {
  if (expr.code() != Code::mul || !is_float(expr.dtype())) return std::nullopt;
  if (const auto unscaled = as_unscaled(expr)) return unscaled;
  if (expr.argument(0).code() != Code::mul) return std::nullopt;
  const Expr value = expr.argument(0).argument(0);
  // Descends to n along the first power; then the whole must be what `scale` builds from both.
  Expr n = expr.argument(0).argument(1);
  for (Code code : {Code::bitcast, Code::add, Code::shl, Code::bitcast, Code::fma}) {
    if (n.code() != code) return std::nullopt;
    n = n.argument(code == Code::add ? 1 : 0);
  }
  if (!(scale(value, n) == expr)) return std::nullopt;
  return Scaled{value, n};
}

}  // namespace bitale::program::math

// The public elementwise functions: one line per record, and the few that are composed of others.
#include <numbers>

#include "bitale/core/text.hpp"
#include "bitale/ops/ops.hpp"
#include "graph/literal.hpp"
#include "graph/wide_literals.hpp"
#include "ops/elementwise/elemwise.hpp"
#include "ops/scalar/record.hpp"

namespace bitale {

namespace {

// C++ reserves some names: and_ is the record "and".
constexpr std::string_view record_name(std::string_view function) {
  if (function.back() == '_') function.remove_suffix(1);
  return function;
}

Variable apply(const OpRef& op, std::span<const Variable> inputs) {
  return (*op)(pad_ranks(with_literal_widths(*op->elementwise(), inputs)));
}

}  // namespace

#define X(name)                                            \
  Variable name(const Operand& x) {                        \
    static const OpRef& op = elemwise(record_name(#name)); \
    const LocationScope here(x.where);                     \
    return apply(op, {&x.variable, 1});                    \
  }
BITALE_UNARY_FUNCTIONS(X)
#undef X

#define X(name)                                            \
  Variable name(const Operand& x, const Operand& y) {      \
    static const OpRef& op = elemwise(record_name(#name)); \
    const LocationScope here(x.where);                     \
    const Variable inputs[] = {x.variable, y.variable};    \
    return apply(op, inputs);                              \
  }
BITALE_BINARY_FUNCTIONS(X)
#undef X

Variable switch_(const Operand& condition, const Operand& if_true, const Operand& if_false) {
  const LocationScope here(condition.where);
  const Variable inputs[] = {condition.variable, if_true.variable, if_false.variable};
  return apply_elemwise("switch", inputs);
}

Variable clip(const Operand& x, const Operand& low, const Operand& high) {
  const LocationScope here(x.where);
  const Variable inputs[] = {x.variable, low.variable, high.variable};
  return apply_elemwise("clip", inputs);
}

Variable cast(const Operand& x, DType dtype) {
  // A literal that is converted to its own dtype has that dtype from now on.
  if (x.dtype() == dtype) return is_literal(x.variable) ? constant(*x.variable.constant()) : x.variable;
  const LocationScope here(x.where);
  return apply_elemwise(cat("cast_", dtype_name(dtype)), {&x.variable, 1});
}

Variable isfinite(const Operand& x) {
  const LocationScope here(x.where);
  return and_(invert(isnan(x)), invert(isinf(x)));
}

Variable truth(const Variable& x) { return x.dtype() == DType::Bool ? x : neq(x, 0); }

namespace {

Variable scaled(const Operand& x, double factor) {
  const LocationScope here(x.where);
  if (is_complex(x.dtype())) throw TypeError("deg2rad, rad2deg: not defined for complex numbers");
  const Variable value = with_wide_literal(as_float(x.variable));
  return mul(value, constant(Array(factor).astype(value.dtype())));
}

}  // namespace

Variable as_float(const Variable& x) {
  const DType dtype = x.dtype(), wanted = records::upgrade_to_float({&dtype, 1}).out;
  if (is_literal(x)) return dtype == wanted ? x : literal(x.constant()->astype(wanted));
  return cast(x, wanted);
}

Variable logical_and(const Operand& x, const Operand& y) {
  const LocationScope here(x.where);
  return and_(truth(x.variable), truth(y.variable));
}
Variable logical_or(const Operand& x, const Operand& y) {
  const LocationScope here(x.where);
  return or_(truth(x.variable), truth(y.variable));
}
Variable logical_xor(const Operand& x, const Operand& y) {
  const LocationScope here(x.where);
  return xor_(truth(x.variable), truth(y.variable));
}
Variable logical_not(const Operand& x) {
  const LocationScope here(x.where);
  return invert(truth(x.variable));
}

Variable deg2rad(const Operand& x) { return scaled(x, std::numbers::pi / 180); }
Variable rad2deg(const Operand& x) { return scaled(x, 180 / std::numbers::pi); }

Variable logaddexp(const Operand& first, const Operand& second) {
  const LocationScope here(first.where);
  const Variable x = as_float(first.variable), y = as_float(second.variable);  // differences of integers may wrap
  // larger + log1p(exp(smaller - larger)). Of equal operands x counts as the larger and y as the smaller one, so that
  // each gets half of the gradient. The difference of two infinities of one sign is undefined: an infinite larger
  // operand determines the result alone.
  const Variable high = maximum(x, y), low = minimum(y, x);
  return high + softplus(cast(switch_(isinf(high), switch_(eq(low, high), 0, -INFINITY), low - high), high.dtype()));
}

}  // namespace bitale

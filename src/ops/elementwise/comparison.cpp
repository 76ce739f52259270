// The functions of comparison.hpp, as formulas of elementwise functions.
#include "bitale/ops/comparison.hpp"

#include "bitale/core/error.hpp"
#include "bitale/ops/ops.hpp"

namespace bitale {

namespace {

// Integers are converted to floats, so that differences do not wrap around.
Variable without_wrapping(const Variable& x) { return is_discrete(x.dtype()) ? cast(x, DType::Float64) : x; }

template <class Pick>
Variable picked(const Operands& tensors, const char* who, Pick pick) {
  if (tensors.variables.empty()) throw ValueError(std::string(who) + ": expected at least one tensor");
  const LocationScope here(tensors.where);
  Variable out = tensors.variables[0];
  for (std::size_t i = 1; i < tensors.variables.size(); ++i) out = pick(out, tensors.variables[i]);
  return out;
}

}  // namespace

Variable isclose(const Operand& a, const Operand& b, const Tolerance& tolerance) {
  const LocationScope here(a.where);
  const Variable x = without_wrapping(a.variable), y = without_wrapping(b.variable);
  const Variable bound = add(tolerance.atol, mul(tolerance.rtol, abs(y)));
  const Variable near = switch_(or_(isinf(x), isinf(y)), eq(x, y), le(abs(sub(x, y)), bound));
  return tolerance.equal_nan ? or_(near, and_(isnan(x), isnan(y))) : near;
}

Variable allclose(const Operand& a, const Operand& b, const Tolerance& tolerance) {
  return all(isclose(a, b, tolerance));
}

Variable isposinf(const Operand& x) {
  const LocationScope here(x.where);
  return and_(isinf(x), gt(x, 0));
}

Variable isneginf(const Operand& x) {
  const LocationScope here(x.where);
  return and_(isinf(x), lt(x, 0));
}

Variable largest(const Operands& tensors) {
  return picked(tensors, "largest", [](const Variable& x, const Variable& y) { return maximum(x, y); });
}

Variable smallest(const Operands& tensors) {
  return picked(tensors, "smallest", [](const Variable& x, const Variable& y) { return minimum(x, y); });
}

QuotientAndRemainder divmod(const Operand& x, const Operand& y) {
  const LocationScope here(x.where);
  return {int_div(x, y), mod(x, y)};
}

Variable ceil_intdiv(const Operand& x, const Operand& y) {
  const LocationScope here(x.where);
  const Variable quotient = int_div(x, y);
  if (is_float(quotient.dtype())) return neg(int_div(neg(cast(x, quotient.dtype())), y));
  // Unsigned integers can't be negated.
  return add(quotient, cast(neq(mod(x, y), 0), quotient.dtype()));
}

}  // namespace bitale

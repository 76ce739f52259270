// Infix operators over the elementwise functions.
#include "bitale/ops/ops.hpp"

namespace bitale {

Variable operator+(const Operand& x, const Operand& y) { return add(x, y); }
Variable operator-(const Operand& x, const Operand& y) { return sub(x, y); }
Variable operator*(const Operand& x, const Operand& y) { return mul(x, y); }
Variable operator/(const Operand& x, const Operand& y) { return true_div(x, y); }
Variable operator%(const Operand& x, const Operand& y) { return mod(x, y); }
Variable operator-(const Operand& x) { return neg(x); }
Variable operator<(const Operand& x, const Operand& y) { return lt(x, y); }
Variable operator<=(const Operand& x, const Operand& y) { return le(x, y); }
Variable operator>(const Operand& x, const Operand& y) { return gt(x, y); }
Variable operator>=(const Operand& x, const Operand& y) { return ge(x, y); }
Variable operator&&(const Operand& x, const Operand& y) { return logical_and(x, y); }
Variable operator||(const Operand& x, const Operand& y) { return logical_or(x, y); }
Variable operator!(const Operand& x) { return logical_not(x); }

namespace {

// x at the line that changes it, which the second operand knows.
Operand changed_by(const Variable& x, const Operand& y) {
  Operand out(x);
  out.where = y.where;
  return out;
}

}  // namespace

Variable& operator+=(Variable& x, const Operand& y) { return x = add(changed_by(x, y), y); }
Variable& operator-=(Variable& x, const Operand& y) { return x = sub(changed_by(x, y), y); }
Variable& operator*=(Variable& x, const Operand& y) { return x = mul(changed_by(x, y), y); }
Variable& operator/=(Variable& x, const Operand& y) { return x = true_div(changed_by(x, y), y); }
Variable& operator%=(Variable& x, const Operand& y) { return x = mod(changed_by(x, y), y); }

}  // namespace bitale

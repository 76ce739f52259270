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

}  // namespace bitale

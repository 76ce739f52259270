// Short elementwise expressions: comparisons with tolerances, extremes of several, quotients. Names and arguments are
// NumPy's and PyTensor's.
#pragma once

#include "bitale/ops/operand.hpp"

namespace bitale {

// Whether |a - b| <= atol + rtol |b|, where infinities are close to themselves; allclose: whether that holds for all
// elements.
struct Tolerance {
  double rtol = 1e-5, atol = 1e-8;
  bool equal_nan = false;
};
Variable isclose(const Operand& a, const Operand& b, const Tolerance& tolerance = {});
Variable allclose(const Operand& a, const Operand& b, const Tolerance& tolerance = {});
Variable isposinf(const Operand& x);
Variable isneginf(const Operand& x);
// The elementwise maximum or minimum of all operands. ValueError for none.
Variable largest(const Operands& tensors);
Variable smallest(const Operands& tensors);
// The floored quotient and the remainder; ceil_intdiv: the quotient rounded up.
struct QuotientAndRemainder {
  Variable quotient, remainder;
};
QuotientAndRemainder divmod(const Operand& x, const Operand& y);
Variable ceil_intdiv(const Operand& x, const Operand& y);

}  // namespace bitale

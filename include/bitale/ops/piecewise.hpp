// Values chosen by the first condition that holds, or the last. Names and arguments are NumPy's. All operands
// broadcast.
#pragma once

#include <functional>
#include <vector>

#include "bitale/ops/operand.hpp"

namespace bitale {

// Each element is that of the choice whose condition is the first that holds, or the default. ValueError for no
// conditions and for another number of choices, TypeError for conditions that are not bool.
Variable select(const Operands& conditions, const Operands& choices, const Operand& otherwise = 0);

// A value, or a function of x, which is computed elementwise.
class PiecewiseFunction {
 public:
  using Formula = std::function<Variable(const Variable& x)>;
  template <class T>
  requires std::convertible_to<const T&, Operand> PiecewiseFunction(const T& value)
      : formula_([constant = Operand(value).variable](const Variable&) { return constant; }) {}
  PiecewiseFunction(Formula formula) : formula_(std::move(formula)) {}
  Variable operator()(const Variable& x) const { return formula_(x); }

 private:
  Formula formula_;
};
// Each element of x mapped by the piece whose condition is the last that holds; where none holds, by the piece behind
// those of the conditions, or to 0. Derivatives of a piece count only where it is chosen. ValueError for another number
// of pieces.
Variable piecewise(const Operand& x, const Operands& conditions, const std::vector<PiecewiseFunction>& pieces);

}  // namespace bitale

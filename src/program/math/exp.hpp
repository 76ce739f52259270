// exp with its bounds taken apart: code generators that branch where a result is not a normal number compute the others
// without bounds.
#pragma once

#include <optional>

#include "bitale/program/expr.hpp"

namespace bitale::program::math {

// exp(x), as `exp` and `exp_of_negative` build it: value * 2^n for x between the bounds, 0 below, infinite above.
struct BoundedExp {
  Expr x;
  bool is_negative;  // x <= 0 or nan
  double lowest, highest;
  Expr value, n;
  double normal_up_to;  // for |x| up to this the result is a normal number, which is
  Expr normal;
};
std::optional<BoundedExp> as_exp(Expr expr);

}  // namespace bitale::program::math

// sigmoid and softplus: through exp(-|x|), which never overflows.
#include "program/math/core.hpp"
#include "program/math/math.hpp"

namespace bitale::program::math {

Expr sigmoid(Expr x) {
  const Expr small = exp(-abs(x));
  return select(x >= 0, 1.0, small) / (small + 1.0);
}

Expr softplus(Expr x) {
  const Expr small = exp(-abs(x));
  return log1p_moderate(small) + max(x.pool().number(0, x.dtype()), x);  // passes a nan in its second argument
}

}  // namespace bitale::program::math

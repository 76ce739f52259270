// Elementary functions through the C library.
#include "program/math/math.hpp"

namespace bitale::program::math {

Expr exp(Expr x) { return math_call("exp", {x}); }
Expr exp2(Expr x) { return math_call("exp2", {x}); }
Expr expm1(Expr x) { return math_call("expm1", {x}); }
Expr log(Expr x) { return math_call("log", {x}); }
Expr log2(Expr x) { return math_call("log2", {x}); }
Expr log10(Expr x) { return math_call("log10", {x}); }
Expr log1p(Expr x) { return math_call("log1p", {x}); }
Expr tanh(Expr x) { return math_call("tanh", {x}); }
Expr sinh(Expr x) { return math_call("sinh", {x}); }
Expr cosh(Expr x) { return math_call("cosh", {x}); }
Expr sigmoid(Expr x) {
  const Expr small = exp(-abs(x));
  return select(x >= 0, 1.0, small) / (small + 1.0);
}
Expr softplus(Expr x) { return log1p(exp(-abs(x))) + select((x > 0) | is_nan(x), x, 0.0); }

}  // namespace bitale::program::math

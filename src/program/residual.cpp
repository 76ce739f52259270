// The payload of such an fma is 1.
#include "program/residual.hpp"

namespace bitale::program {

Expr residual(Expr a, Expr b, Expr c) {
  const Expr arguments[] = {a, b, c};
  return a.pool().make(Code::fma, a.dtype(), arguments, 1);
}

bool is_residual(Expr expr) { return expr.code() == Code::fma && expr.payload() == 1; }

}  // namespace bitale::program

// Fused multiply-adds whose single rounding matters: those of which the product nearly is minus the addend, so that the
// sum is wrong where the product is rounded by itself. All others may be rounded twice, by code for processors without
// an instruction that rounds once.
#pragma once

#include "bitale/program/expr.hpp"

namespace bitale::program {

// fma(a, b, c), a b nearly -c
Expr residual(Expr a, Expr b, Expr c);
bool is_residual(Expr expr);

}  // namespace bitale::program

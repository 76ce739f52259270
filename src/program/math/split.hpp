// A positive number as m 2^k, 3/4 <= m < 3/2, and the limits of a logarithm, for which some processors have
// instructions: code generators recognise what is built here.
#pragma once

#include <optional>

#include "bitale/program/expr.hpp"

namespace bitale::program::math {

struct Split {
  Expr m, k;
};
// For positive finite x. For other x the result must not matter: generators may compute something else.
Split split(Expr x);
Split split_normal(Expr x);  // x must not be subnormal

// `value` where x is positive and finite; infinities at 0 and infinity; nan for nan and below 0.
Expr with_log_limits(Expr x, Expr value);

// The expression from which m, k or the limits were built, if this is one of them.
std::optional<Expr> as_split_m(Expr expr);
std::optional<Expr> as_split_k(Expr expr);
struct LogLimits {
  Expr x, value;
};
std::optional<LogLimits> as_log_limits(Expr expr);

}  // namespace bitale::program::math

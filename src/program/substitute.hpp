// Substitution: an expression in which others stand for some of its sub-expressions.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "program/expr.hpp"

namespace bitale::program {

using Substitution = std::unordered_map<std::uint32_t, Expr>;  // what stands for an expression, by its number
Expr substitute(Expr root, const Substitution& substitution);

}  // namespace bitale::program

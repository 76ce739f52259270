// Sub-expressions, an expression itself among its own: questions about them, and others in their place.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "program/expr.hpp"

namespace bitale::program {

template <class Is>
bool any_within(Expr root, Is&& is) {
  bool found = false;
  ExprWalk()(root, [&](Expr expr) { return !(found = found || is(expr)); });
  return found;
}
inline bool contains(Expr root, Expr part) {
  return any_within(root, [&](Expr expr) { return expr == part; });
}

using Substitution = std::unordered_map<std::uint32_t, Expr>;  // what stands for an expression, by its number
Expr substitute(Expr root, const Substitution& substitution);

}  // namespace bitale::program

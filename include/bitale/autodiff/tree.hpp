// Derivatives with respect to values that are made of variables (graph/tree.hpp): gradients have the structure of the
// value.
//
//   auto [loss, slope] = value_and_grad([&](const Params& p) { return mean(sqr(dot(x, p.W) + p.b - y)); }, params);
#pragma once

#include <type_traits>
#include <utility>

#include "bitale/autodiff/gradient.hpp"
#include "bitale/graph/tree.hpp"

namespace bitale {

// The gradient of a scalar with respect to each variable of a value. Errors are those of `grad`.
template <Tree T>
requires(!std::is_convertible_v<const T&, Variable> && !std::is_convertible_v<const T&, Variables>) T
    grad(const Variable& cost, const T& wrt, const GradOptions& options = {}, Source where = Source::current()) {
  return with_variables(wrt, grad(cost, variables_of(wrt), options, where));
}

// What a function of a value returns, and its gradient.
template <Tree T, class Function>
std::pair<Variable, T> value_and_grad(Function&& function, const T& at, const GradOptions& options = {},
                                      Source where = Source::current()) {
  const Variable cost = std::forward<Function>(function)(at);
  return {cost, with_variables(at, grad(cost, variables_of(at), options, where))};
}

}  // namespace bitale

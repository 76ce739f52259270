// Derivatives of a draw that is a formula, with respect to its real parameters.
#pragma once

#include <span>

#include "graph/calculus.hpp"
#include "ops/analysis/lengths.hpp"

namespace bitale {

// For a node with inputs (..., parameters from `first_parameter` on) and outputs (state, draw). given: cotangents of
// the outputs, or tangents of the inputs.
inline Variables derived_of_draw(bool is_pullback, const Apply& node, const Variable& formula,
                                 std::size_t first_parameter, std::span<const DType> dtypes,
                                 std::span<const Variable> given) {
  Variables by, out = no_gradients(node);
  std::vector<std::size_t> inputs;
  for (std::size_t k = 0; k < dtypes.size(); ++k) {
    if (dtypes[k] != DType::Float64) continue;
    inputs.push_back(first_parameter + k);
    by.push_back(node.input(int(inputs.back())));
  }
  if (!is_pullback) {
    Variables tangents;
    for (std::size_t input : inputs) tangents.push_back(given[input]);
    return {disconnected(), calculus().pushforward({formula}, by, tangents)[0]};
  }
  if (given[1].is_disconnected() || by.empty()) return out;
  const Variables found = calculus().pullback({formula}, by, {given[1]});
  for (std::size_t k = 0; k < inputs.size(); ++k) out[inputs[k]] = found[k];
  return out;
}

}  // namespace bitale

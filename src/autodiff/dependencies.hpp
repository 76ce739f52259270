// The walk over a graph that finds on which elements of a variable each element of an expression depends
// (graph/dependencies.hpp).
#pragma once

#include "graph/dependencies.hpp"

namespace bitale {

struct ElementDependencies {
  ElementSets sets;
  std::optional<Array> of_expression;  // int64, of its shape; nullopt: no element depends on the variable
};
// Only differentiable dependencies count, and none through `constants`. NotImplementedError where the length of a
// tensor between the two is not known statically.
ElementDependencies dependencies_of(const Variable& expression, const Variable& wrt, const Variables& constants);

}  // namespace bitale

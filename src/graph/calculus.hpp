// The interface through which ops with inner graphs differentiate and batch these. The drivers belong to autodiff, a
// layer above the ops, which registers them here.
#pragma once

#include "bitale/graph/traversal.hpp"

namespace bitale {

struct Calculus {
  // Takes one cotangent per output and returns one result per wrt. Both may be disconnected(), and a result may be an
  // undefined gradient.
  Variables (*pullback)(const Variables& outputs, const Variables& wrt, const Variables& cotangents);
  // Takes one tangent per wrt and returns one result per output. Both may be disconnected().
  Variables (*pushforward)(const Variables& outputs, const Variables& wrt, const Variables& tangents);
  Variables (*vectorize)(const Variables& outputs, const Replacements& replacements);
};
// InternalError if no drivers are registered.
const Calculus& calculus();

struct RegisterCalculus {
  explicit RegisterCalculus(const Calculus& drivers);
};

}  // namespace bitale

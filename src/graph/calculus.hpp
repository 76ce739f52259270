// The joint by which ops with inner graphs differentiate and batch them. The drivers that do so are a part above the
// ops (autodiff), which registers them here.
#pragma once

#include "bitale/graph/traversal.hpp"

namespace bitale {

struct Calculus {
  // One cotangent per output and one answer per wrt; either may be disconnected(), an answer may be an undefined
  // gradient.
  Variables (*pullback)(const Variables& outputs, const Variables& wrt, const Variables& cotangents);
  // One tangent per wrt and one answer per output; either may be disconnected().
  Variables (*pushforward)(const Variables& outputs, const Variables& wrt, const Variables& tangents);
  Variables (*vectorize)(const Variables& outputs, const Replacements& replacements);
};
// InternalError when nobody has registered.
const Calculus& calculus();

struct RegisterCalculus {
  explicit RegisterCalculus(const Calculus& drivers);
};

}  // namespace bitale

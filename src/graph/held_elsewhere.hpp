// Nodes to which somebody else has a handle, so that their outputs may be named in a later call.
#pragma once

#include <span>

#include "bitale/graph/variable.hpp"
#include "graph/pointer_map.hpp"

namespace bitale {

// Those of the nodes that have more handles than their readers among the nodes, and `own`, which the caller has.
PointerSet held_elsewhere(std::span<const Apply> nodes, std::uint32_t own = 1);

}  // namespace bitale

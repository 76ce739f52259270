// Workspace: the memory of one call of native code, reused between calls: addresses and lengths of all buffers, and
// blocks for temporaries. In the steady state a call allocates nothing but its results.
#pragma once

#include <cstdint>
#include <vector>

#include "bitale/core/array.hpp"
#include "core/pool.hpp"

namespace bitale::link {

struct Workspace {
  std::vector<void*> data;  // of constants from the start
  std::vector<std::int64_t> lengths;
  std::vector<Array> blocks;  // one per workspace slot, grown when needed
  std::vector<Array> held;    // per buffer: what a host call brought
};

}  // namespace bitale::link

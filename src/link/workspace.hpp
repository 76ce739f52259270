// Workspace: the memory of one call of native code, reused between calls: addresses and lengths of all buffers, and
// blocks for temporaries. In the steady state a call allocates only its results.
#pragma once

#include <cstdint>
#include <vector>

#include "bitale/core/array.hpp"
#include "core/pool.hpp"

namespace bitale::link {

struct Workspace {
  std::vector<void*> data;  // of constants: set at construction
  std::vector<std::int64_t> lengths;
  std::vector<Array> blocks;  // one per workspace slot, enlarged when needed
  std::vector<Array> held;    // per buffer: the value that a host call has returned
};

}  // namespace bitale::link

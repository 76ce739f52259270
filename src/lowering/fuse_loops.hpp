// Loop fusion: loops over one extent become one loop where their iterations depend only on the same iterations of the
// others.
#pragma once

#include <functional>
#include <optional>

#include "lowering/declarations.hpp"
#include "program/program.hpp"

namespace bitale::lowering {

struct FusedLoops {
  program::Steps before, after;  // the other steps, by whether they need the loop
  std::optional<program::Loop> fused;
  bool is_whole = true;  // no loop that fits is left among the others
};

// Fuses the loops among the steps that fit and have the extent of the first of them.
FusedLoops fuse_loops(program::Steps steps, const std::function<bool(const program::Loop&)>& fits,
                      Declarations& declare, const program::Program& program);

}  // namespace bitale::lowering

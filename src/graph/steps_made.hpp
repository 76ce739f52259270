// What an op that makes steps is, besides an Op: after a call it says how many those were, and how much memory their
// traces take. Profiles of calls node by node ask for it; a Program's loops are counted by its own expressions.
#pragma once

#include <cstdint>
#include <span>

#include "bitale/core/array.hpp"

namespace bitale {

struct StepsMade {
  std::int64_t count = 0, trace_bytes = 0;
};

class MakesSteps {
 public:
  virtual ~MakesSteps() = default;
  // Of a call with these inputs that has given these outputs.
  virtual StepsMade steps_made(std::span<const Array> in, std::span<const Array> out) const = 0;
};

}  // namespace bitale

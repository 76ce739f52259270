// Interface of ops that run steps: after a call it returns how many there were, and how much memory their traces take.
// It serves profiles of calls node by node; the loops of a Program are counted by its own expressions.
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
  // The steps of a call with these inputs and outputs.
  virtual StepsMade steps_made(std::span<const Array> in, std::span<const Array> out) const = 0;
};

}  // namespace bitale

// Arrangement: where the elements of an input lie, in the terms in which lowering speaks of it.
#pragma once

#include <optional>
#include <vector>

#include "bitale/core/view.hpp"
#include "lowering/lower.hpp"

namespace bitale::link {

struct Arrangement {
  lowering::InputLayout layout;
  void* data;    // the lowest address
  Dims lengths;  // of the input's buffer
};

// Nothing when the strides are no multiples of the elements' size and of one another: such inputs are copied.
std::optional<Arrangement> arrange(const View& view, int ndim, std::int64_t itemsize);

// Per buffer: whether loops read each of its elements once or so, and nothing needs it as a whole. Else a copy pays.
std::vector<bool> read_in_passing(const program::Program& program);

}  // namespace bitale::link

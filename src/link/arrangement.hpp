// Arrangement: how the elements of an input are arranged in memory, in the terms that lowering uses.
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

// std::nullopt when the strides are not multiples of the element size and of one another: such inputs are copied.
std::optional<Arrangement> arrange(const View& view, int ndim, std::int64_t itemsize);

// For each buffer: whether loops read each of its elements about once, and nothing needs it as a whole. Otherwise a
// C-contiguous copy pays off.
std::vector<bool> read_in_passing(const program::Program& program);

}  // namespace bitale::link

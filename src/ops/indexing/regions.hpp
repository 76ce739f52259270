// Some dimensions of an array with their byte strides, in which neighbouring dimensions are joined if they are evenly
// spaced. Reductions traverse the kept and the reduced dimensions separately.
#pragma once

#include "bitale/core/small_vector.hpp"

namespace bitale {

struct Region {
  Dims lengths, strides;

  void add_axis(std::int64_t length, std::int64_t stride) {
    if (length == 1) return;
    if (!lengths.empty() && strides.back() == stride * length) {
      lengths.back() *= length;
      strides.back() = stride;
    } else {
      lengths.push_back(length);
      strides.push_back(stride);
    }
  }
};

// Calls visit(byte offset) for every position of a region, in C order. The region must have at least one position.
template <class Visit>
void for_each_position(const Region& region, Visit&& visit) {
  Dims position(region.lengths.size(), 0);
  std::int64_t offset = 0;
  while (true) {
    visit(offset);
    std::size_t axis = region.lengths.size();
    while (axis-- > 0) {
      offset += region.strides[axis];
      if (++position[axis] < region.lengths[axis]) break;
      offset -= region.strides[axis] * region.lengths[axis];
      position[axis] = 0;
    }
    if (axis == std::size_t(-1)) return;
  }
}

}  // namespace bitale

// The memory range of a view, from its lowest byte to the one past its highest. Two views with disjoint extents share
// no element; strided views may be interleaved, and share none although their extents overlap.
#pragma once

#include <cstdint>

#include "bitale/core/view.hpp"

namespace bitale {

struct Extent {
  std::uintptr_t begin, end;
  bool overlaps(const Extent& other) const { return begin < other.end && other.begin < end; }
};

inline Extent extent_of(const View& view, int ndim, std::int64_t itemsize) {
  const auto data = reinterpret_cast<std::uintptr_t>(view.data);
  Extent extent{data, data + std::uintptr_t(itemsize)};
  for (int axis = 0; axis < ndim; ++axis) {
    if (view.shape[axis] == 0) return {data, data};
    const std::int64_t reach = (view.shape[axis] - 1) * view.strides[axis];
    (reach < 0 ? extent.begin : extent.end) += std::uintptr_t(reach);
  }
  return extent;
}

}  // namespace bitale

// The order of sums of a vector loop that does not declare one, derived from its body.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_set>

#include "program/program.hpp"

namespace bitale::program {

struct LaneBody {
  LaneOrder order;
  std::size_t size = 0;  // expressions of an iteration
  bool updates = false;  // something is reduced in any order
  bool sums = false;     // some of these are sums of floats
};
// `prefix_carries`: carried variables that iterations read in order.
LaneBody lane_body(const Loop& loop, const std::unordered_set<std::int64_t>& prefix_carries);

// The order that the loop declares, or the one derived from its body.
LaneOrder lane_order_of(const Loop& loop);

bool is_float_sum(const Update& update);

}  // namespace bitale::program

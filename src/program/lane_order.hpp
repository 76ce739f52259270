// The order of sums that the body of a vector loop asks for, where the loop does not state one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_set>

#include "program/program.hpp"

namespace bitale::program {

struct LaneBody {
  LaneOrder order;
  std::size_t size = 0;  // expressions
  bool updates = false;  // something is reduced in any order
  bool sums = false;     // of floats
};
// `running`: carried variables that iterations see in order.
LaneBody lane_body(const Loop& loop, const std::unordered_set<std::int64_t>& running);

// What the loop states, or what its body asks for.
LaneOrder lane_order_of(const Loop& loop);

bool is_float_sum(const Update& update);

}  // namespace bitale::program

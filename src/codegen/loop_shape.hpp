// How a vector loop is laid out in lanes. This decides the order in which the terms of a sum are added, so that every
// code generator must read it here: then sums are the same to the last bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_set>

#include "program/lane_order.hpp"
#include "program/program.hpp"

namespace bitale::codegen {

struct LoopShape {
  int lanes = 2;            // iterations that run together
  int unroll = 1;           // so many groups of lanes have accumulators of their own
  bool short_loop = false;  // fewer iterations than lanes, known beforehand
  bool updates = false;     // something is reduced in any order
  std::size_t size = 0;     // expressions of its body
  bool pairwise = false;    // sums of blocks go up a binary tree (Higham, 1993)
};
inline constexpr std::int64_t pairwise_block = 32;  // additions to an accumulator before its sum goes up a level

// `running`: carried variables that iterations see in order.
LoopShape shape_of(const program::Loop& loop, const std::unordered_set<std::int64_t>& running, int vector_bytes);

using program::is_float_sum;

// Whose terms are products, each added in one rounding; but not what only looks like one (math/scale.hpp).
bool is_sum_of_products(const program::Update& update);

// After how many iterations (a power of 2) a loop in which one follows the other asks whether the call is to end; 0:
// never. Such are loops with states, and the outermost of others that contain calls, or loops with loops.
std::int64_t poll_interval(const program::Loop& loop, bool outermost);

}  // namespace bitale::codegen

// The schedule: how each vector loop of a Program is run on vectors of a given width. It is set by one pass, in the
// copy of the Program that code is generated from, and says in which order the terms of a sum are added; every emitter
// obeys it, so that results are the same bits in all of them.
#pragma once

#include <cstdint>
#include <unordered_set>

#include "program/lane_order.hpp"
#include "program/program.hpp"

namespace bitale::codegen {

// A copy of the Program with a pool of its own, in which every vector loop has its schedule.
program::Program scheduled(const program::Program& program, int vector_bytes);

inline constexpr std::int64_t pairwise_block = 32;  // additions to an accumulator before its sum goes up a level

using program::is_float_sum;

// Whose terms are products, each added in one rounding; but not what only looks like one (math/scale.hpp).
bool is_sum_of_products(const program::Update& update);

// Bytes of all buffers that a step reads and writes, as an expression of lengths.
program::Expr bytes_moved(const program::Program& program, const program::Step& step);

// After how many iterations (a power of 2) a loop in which one follows the other asks whether the call is to end; 0:
// never. Such are loops with states, and the outermost of others that contain calls, or loops with loops.
std::int64_t poll_interval(const program::Loop& loop, bool outermost);

}  // namespace bitale::codegen

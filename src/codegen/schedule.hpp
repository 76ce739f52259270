// The schedule: how each vector loop of a Program is run on vectors of a given width. It is set by one pass, in the
// copy of the Program that code is generated from, and determines the order in which the terms of a sum are added.
// Every emitter follows it, so that their results are equal to the last bit.
#pragma once

#include <cstdint>
#include <unordered_set>

#include "program/lane_order.hpp"
#include "program/program.hpp"

namespace bitale::codegen {

// A copy of the Program with a pool of its own, in which every vector loop has its schedule.
program::Program scheduled(const program::Program& program, int vector_bytes);

inline constexpr std::int64_t pairwise_block = 32;  // additions to an accumulator before its sum moves up a level

using program::is_float_sum;

// A float sum whose terms are products, each added with one rounding. A scaled value (math/scale.hpp) is not a
// product here.
bool is_sum_of_products(const program::Update& update);

// Bytes of all buffers that a step reads and writes, as an expression of lengths.
program::Expr bytes_moved(const program::Program& program, const program::Step& step);

// The number of iterations (a power of 2) after which a sequential loop polls whether the call is to end; 0: never. The
// loops that poll are those with states, and other outermost loops that contain calls, or loops that contain loops.
std::int64_t poll_interval(const program::Loop& loop, bool outermost);

}  // namespace bitale::codegen

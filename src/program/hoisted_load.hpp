// Loads outside the loop that needs their value: the element may not exist there, if that loop has no iterations.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "program/program.hpp"

namespace bitale::program {

// 0 <= index < length is to hold.
struct Bound {
  Expr index, length;
};

// What must hold for an element to exist at a place where the loops around it have begun: element 0 of an empty buffer
// does not, say. Empty: it exists for certain. Plain indices of enclosing loops are in range. The further axes of an
// input with a layout (lowering/lower.hpp) have strides in place of lengths: there, only whether the input has elements
// matters. After leading indices 0, the last index may count all elements (collapsed loops, the loops of products in
// exported code): then the size of the buffer is its length.
std::vector<Bound> bounds_of_hoisted_load(const Program& program, std::int64_t buffer, std::span<const Expr> at);

}  // namespace bitale::program

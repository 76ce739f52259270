// Loops that accumulate at a looked-up index, as the gradient of `mu[group]` does, which often read there, too: the
// index is that of a group, and groups are sorted more often than not. A whole vector of such a loop whose lanes access
// at most two elements adds up its lanes first. As this decides in which order terms are added, every code generator
// must take the decision from here.
#pragma once

#include <span>

#include "program/program.hpp"

namespace bitale::codegen {

// Lanes are examined in parts of this size; with fewer lanes there is little to gain. Each part must consist of at most
// two runs, a run being neighbouring lanes at one element. For each run, the terms of the part, with -0 in place of
// those of the other run, are added in pairs of neighbours, and these sums by halving.
inline constexpr int lanes_of_runs = 8;

// The offset, in row-major order, of the row that contains an element, and of the element itself.
program::Expr row_offset_of(const program::Program& program, std::int64_t buffer, std::span<const program::Expr> at);
program::Expr offset_of(const program::Program& program, std::int64_t buffer, std::span<const program::Expr> at);

// The first step of the loop that accumulates at a looked-up offset, and if possible one at which the loop also reads;
// -1 where there is none, and where code would grow too much. `size`: the number of expressions of the body. The loop's
// lanes must be set already.
int step_with_index_runs(const program::Program& program, const program::Loop& loop, std::size_t size);

// The offset of that step, taken from the loop's schedule; none where there is no such step.
program::Expr index_runs_of(const program::Program& program, const program::Loop& loop);

}  // namespace bitale::codegen

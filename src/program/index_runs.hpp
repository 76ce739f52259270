// Loops that accumulate at a looked-up index, as the gradient of `mu[group]` does, which often read there, too: the
// index is that of a group, and groups are sorted more often than not. A whole vector of such a loop whose lanes access
// at most two elements adds up its lanes first. As this decides in which order terms are added, every code generator,
// and every pass that moves such a sum into another loop, must take the decision from here.
#pragma once

#include <span>

#include "program/program.hpp"

namespace bitale::program {

// Lanes are examined in parts of this size; with fewer lanes there is little to gain. Each part must consist of at most
// two runs, a run being neighbouring lanes at one element. For each run, the terms of the part, with -0 in place of
// those of the other run, are added in pairs of neighbours, and these sums by halving.
inline constexpr int lanes_of_runs = 8;

// The offset, in row-major order, of the row that contains an element, and of the element itself.
Expr row_offset_of(const Program& program, std::int64_t buffer, std::span<const Expr> at);
Expr offset_of(const Program& program, std::int64_t buffer, std::span<const Expr> at);

// The first step of the vector loop that accumulates at a looked-up offset, and if possible one at which the loop also
// reads; -1 where there is none, and where code would grow too much. Where the loop has an order of additions, that
// says which step it is. Vectors of fewer lanes have no runs either.
int step_with_index_runs(const Program& program, const Loop& loop);

// Makes the order of additions of the loop, and of the loops in it, a part of the program: that of lanes, and what is
// added by runs. Parts of the body that move to other loops keep it.
void choose_orders(const Program& program, Loop& loop);

// The offset of that step, taken from the loop's schedule; none where there is no such step.
Expr index_runs_of(const Program& program, const Loop& loop);

}  // namespace bitale::program

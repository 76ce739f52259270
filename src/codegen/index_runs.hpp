// Loops that read by an index and add by it, as the gradient of `mu[group]` does: the index is one of groups, and
// groups are sorted more often than not. Whole vectors of such a loop whose lanes are at two elements at most add up
// their lanes first. As that decides in which order terms are added, every code generator must read it here.
#pragma once

#include <span>

#include "program/program.hpp"

namespace bitale::codegen {

// Lanes are looked at so many at a time; with fewer there is little to gain. Each of these parts must be of two runs at
// most, a run being neighbours at one element. A part's terms, for each run with -0 in place of the other one's, are
// added by pairs of neighbours, and these sums in halves.
inline constexpr int lanes_of_runs = 8;

// Where an element lies, row by row; and where its row begins.
program::Expr row_offset_of(const program::Program& program, std::int64_t buffer, std::span<const program::Expr> at);
program::Expr offset_of(const program::Program& program, std::int64_t buffer, std::span<const program::Expr> at);

// The first step of the loop that adds by an offset by which the loop also reads; -1 where there is none, and where
// code would grow too much. `size`: expressions of the body. The loop's lanes are known already.
int step_with_index_runs(const program::Program& program, const program::Loop& loop, std::size_t size);

// The offset of that step, by the loop's schedule; none where there is none.
program::Expr index_runs_of(const program::Program& program, const program::Loop& loop);

}  // namespace bitale::codegen

// Outer-loop vectorisation: a loop around short loops of known lengths becomes an innermost loop of straight code,
// whose iterations can then run as lanes. The short loops are unrolled, and what each iteration stores for itself is
// kept in variables.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "lowering/declarations.hpp"

namespace bitale::lowering {

// Whether the loop only computes sums, products and extremes, so that its iterations may be in any order.
bool only_reduces(const program::Loop& loop);
// Whether there are loops in the loop.
bool holds_loops(const program::Loop& loop);

// The number of expressions of the step as straight code, or nothing where it cannot be straight code.
std::optional<std::int64_t> straight_size(const program::Step& step);
// The same of all steps in the loop, which must only reduce.
std::optional<std::int64_t> straight_body_size(const program::Loop& loop);

// What the loop would compute as straight code, to tell whether lanes along it are better than lanes inside it.
struct StraightWork {
  std::int64_t size = 0;         // in expressions, each of which is computed once
  std::int64_t expressions = 0;  // the same, but functions such as exp count as many
  std::int64_t gathers = 0;      // accesses whose lanes are apart in memory, so that each lane is an access of its own
  std::int64_t longest = 0;      // extent of an inner loop
  std::size_t calls = 0;         // of functions that are called for one lane after the other
  bool has_scatters = false;     // combines at indices that are read from memory
  bool has_reductions = false;   // inside the loop
  bool is_worth_lanes() const;
};
StraightWork straight_work(const program::Program& program, const program::Loop& loop);

// Buffers that the loop only adds to, or combines otherwise, always by the same combiner.
std::set<std::int64_t> only_added_to(const program::Loop& loop);

// Turns the loop into one of straight code. This is not possible if it reads memory that it writes and that is not
// replaced by variables, since straight code reads an element only once; `added_to` are buffers to which the loop only
// adds, whatever the element. Stores that only straight code has read are left to the pass "forward".
bool make_straight(program::Program& program, Declarations& declare, program::Loop& loop,
                   const std::set<std::int64_t>& added_to = {});

}  // namespace bitale::lowering

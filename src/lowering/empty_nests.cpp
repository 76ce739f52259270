// Nests without iterations. An array of shape (100000, 100000, 0) has no elements, but loops over its first axes would
// count to 10^10. Where a loop contains nothing but loops, and those nothing but loops, it has no iterations if one of
// the innermost has none.
#include <algorithm>

#include "lowering/passes.hpp"
#include "program/steps.hpp"

namespace bitale::lowering {

namespace {

using program::Loop;

// The only step of the loop, if it is a loop and its extent is known before this one begins.
const Loop* only_loop(const Loop& loop) {
  if (loop.body.size() != 1 || loop.until.defined()) return nullptr;
  const auto* inner = program::as_loop(loop.body[0]);
  return inner && !program::contains(inner->extent, loop.index) ? inner : nullptr;
}

}  // namespace

void skip_empty_nests(Program& program) {
  for (auto& step : program.steps) {
    auto* loop = program::as_loop(step);
    const Loop* inner = loop ? only_loop(*loop) : nullptr;
    if (!inner) continue;
    std::vector<Expr> above{loop->index, inner->index};
    for (inner = only_loop(*inner); inner; inner = only_loop(*inner)) {
      const Expr extent = inner->extent;
      const bool is_known =
          std::none_of(above.begin(), above.end(), [&](Expr index) { return program::contains(extent, index); });
      if (is_known && !extent.is_constant()) loop->extent = select(extent > 0, loop->extent, program.pool->integer(0));
      above.push_back(inner->index);
    }
  }
}

}  // namespace bitale::lowering

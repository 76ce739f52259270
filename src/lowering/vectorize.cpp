// Vectorisation: an innermost loop may run several iterations as lanes when its writes do not collide.
#include <algorithm>

#include "lowering/plan.hpp"

namespace bitale::lowering {

namespace {

bool uses(Expr root, Expr index) {
  bool found = false;
  program::ExprWalk()(root, [&](Expr expr) { found |= expr == index; });
  return found;
}

// Neighbouring iterations write neighbouring elements.
bool writes_in_order(std::span<const Expr> at, Expr index) {
  if (at.empty() || !(at.back() == index)) return false;
  return std::none_of(at.begin(), at.end() - 1, [&](Expr place) { return uses(place, index); });
}

bool lanes_are_independent(const program::Step& step, Expr index) {
  if (auto* store = std::get_if<program::Store>(&step.what)) return !store->at.empty();
  if (auto* accumulate = std::get_if<program::Accumulate>(&step.what)) return writes_in_order(accumulate->at, index);
  return std::holds_alternative<program::Update>(step.what);
}

// Functions that are called, one lane after the other, gain nothing from lanes and multiply the code.
constexpr std::size_t most_calls = 6;

std::size_t call_count(program::Steps& body) {
  program::ExprWalk walk;
  std::size_t calls = 0;
  for (auto& step : body)
    for_each_expr(step,
                  [&](Expr& root) { walk(root, [&](Expr expr) { calls += expr.code() == program::Code::call; }); });
  return calls;
}

void mark(program::Steps& steps) {
  for (auto& step : steps) {
    auto* loop = std::get_if<program::Loop>(&step.what);
    if (!loop) continue;
    mark(loop->body);
    loop->vector = std::all_of(loop->body.begin(), loop->body.end(),
                               [&](const program::Step& inner) { return lanes_are_independent(inner, loop->index); }) &&
                   call_count(loop->body) <= most_calls;
  }
}

}  // namespace

void vectorize(Program& program) { mark(program.steps); }

}  // namespace bitale::lowering

// Vectorisation: an innermost loop may run several iterations as lanes when its writes do not collide.
#include <algorithm>

#include "lowering/plan.hpp"

namespace bitale::lowering {

namespace {

bool uses(Expr root, Expr index) {
  std::vector<Expr> stack{root};
  std::unordered_set<std::uint32_t> seen;
  while (!stack.empty()) {
    const Expr expr = stack.back();
    stack.pop_back();
    if (expr == index) return true;
    if (!seen.insert(expr.id()).second) continue;
    for (std::size_t i = 0; i < expr.argument_count(); ++i) stack.push_back(expr.argument(i));
  }
  return false;
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
  std::unordered_set<std::uint32_t> seen;
  std::size_t calls = 0;
  std::vector<Expr> stack;
  for (auto& step : body) for_each_expr(step, [&](Expr& expr) { stack.push_back(expr); });
  while (!stack.empty()) {
    const Expr expr = stack.back();
    stack.pop_back();
    if (!seen.insert(expr.id()).second) continue;
    calls += expr.code() == program::Code::call;
    for (std::size_t i = 0; i < expr.argument_count(); ++i) stack.push_back(expr.argument(i));
  }
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

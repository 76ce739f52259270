// Vectorisation: innermost loops run several iterations as lanes. No root reads what another writes elsewhere in the
// same loop (nest.cpp), so lanes are independent but for carried variables and colliding writes.
#include <algorithm>

#include "lowering/plan.hpp"

namespace bitale::lowering {

namespace {

// Where writes collide (scatters), lanes write one after the other.
bool may_run_in_lanes(const program::Step& step) {
  if (auto* store = std::get_if<program::Store>(&step.what)) return !store->at.empty();
  if (auto* accumulate = std::get_if<program::Accumulate>(&step.what)) return !accumulate->at.empty();
  return std::holds_alternative<program::Update>(step.what);
}

// Functions that are called, one lane after the other, gain nothing from lanes and multiply the code.
constexpr std::size_t most_calls = 6;

std::size_t call_count(const Program& program, program::Steps& body) {
  program::ExprWalk walk;
  std::size_t calls = 0;
  for (auto& step : body)
    program::for_each_expr(step, [&](Expr& root) {
      walk(root, [&](Expr expr) { calls += expr.code() == program::Code::call && !program.function_of(expr); });
    });
  return calls;
}

// Running floats are combined one after the other: lanes pay only where what is combined takes some computing.
constexpr std::size_t cheap = 12;  // expressions

bool only_runs(program::Loop& loop) {
  const bool runs = std::any_of(loop.carries.begin(), loop.carries.end(), [](const program::Carry& carry) {
    return carry.running && is_float(carry.var.dtype());
  });
  if (!runs) return false;
  program::ExprWalk walk;
  std::size_t size = 0;
  for (auto& step : loop.body) program::for_each_expr(step, [&](Expr& root) { walk(root, [&](Expr) { ++size; }); });
  return size <= cheap;
}

void mark(const Program& program, program::Steps& steps) {
  for (auto& step : steps) {
    auto* loop = std::get_if<program::Loop>(&step.what);
    if (!loop) continue;
    mark(program, loop->body);
    loop->vector = std::all_of(loop->body.begin(), loop->body.end(), may_run_in_lanes) &&
                   call_count(program, loop->body) <= most_calls && !only_runs(*loop);
  }
}

}  // namespace

void vectorize(Program& program) { mark(program, program.steps); }

}  // namespace bitale::lowering

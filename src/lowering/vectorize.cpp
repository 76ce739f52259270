// Vectorisation: innermost loops run several iterations as lanes. Lanes are independent but for carried variables and
// colliding writes, unless the loop reads elements that other iterations of it write (a prefix scan in memory).
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

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

// Whether the iterations of the loop access different elements of each buffer that it writes: wherever it writes or
// reads one, the same coordinate is the index of the loop. Loops that only write a buffer are left to the emitters,
// which serialise colliding lanes.
bool has_independent_iterations(program::Loop& loop) {
  std::unordered_map<std::int64_t, std::unordered_set<std::size_t>> own;  // per written buffer: coordinates
  const auto coordinates = [&](std::span<const Expr> at) {
    std::unordered_set<std::size_t> out;
    for (std::size_t k = 0; k < at.size(); ++k)
      if (at[k] == loop.index) out.insert(k);
    return out;
  };
  const auto note_write = [&](std::int64_t buffer, std::span<const Expr> at) {
    auto here = coordinates(at);
    const auto [found, is_first] = own.try_emplace(buffer, here);
    if (!is_first) std::erase_if(found->second, [&](std::size_t k) { return !here.contains(k); });
  };
  for (auto& step : loop.body) {
    if (auto* store = std::get_if<program::Store>(&step.what)) note_write(store->buffer, store->at);
    if (auto* accumulate = std::get_if<program::Accumulate>(&step.what)) note_write(accumulate->buffer, accumulate->at);
  }
  bool independent = true;
  program::ExprWalk walk;
  for (auto& step : loop.body)
    program::for_each_expr(step, [&](Expr& root) {
      walk(root, [&](Expr expr) {
        if (expr.code() != program::Code::load) return;
        const auto written = own.find(expr.payload());
        if (written == own.end()) return;
        const auto at = program::arguments_of(expr);
        independent &= std::any_of(written->second.begin(), written->second.end(),
                                   [&](std::size_t k) { return at[k] == loop.index; });
      });
    });
  return independent;
}

void mark(const Program& program, program::Steps& steps) {
  for (auto& step : steps) {
    auto* loop = std::get_if<program::Loop>(&step.what);
    if (!loop) continue;
    mark(program, loop->body);
    loop->vector = std::all_of(loop->body.begin(), loop->body.end(), may_run_in_lanes) &&
                   call_count(program, loop->body) <= most_calls && !only_runs(*loop) &&
                   has_independent_iterations(*loop);
  }
}

}  // namespace

void vectorize(Program& program) { mark(program, program.steps); }

}  // namespace bitale::lowering

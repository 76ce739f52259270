// Vectorisation: marks the innermost loops whose iterations may run as lanes. Lanes are independent except for carried
// variables and colliding writes, unless the loop reads elements that other iterations of it write (a prefix scan in
// memory).
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "lowering/passes.hpp"
#include "lowering/straight_loop.hpp"
#include "program/steps.hpp"

namespace bitale::lowering {

namespace {

// Where writes collide (scatters), lanes write sequentially; if all lanes write to one element, nothing is gained.
bool may_run_in_lanes(const program::Step& step) {
  bool has_indices = true;
  program::for_each_access(step,
                           [&](const program::Access& access) { has_indices &= access.at && !access.at->empty(); });
  return program::may_be_in_lanes(step) && has_indices;
}

std::size_t call_count(const Program& program, program::Steps& body) {
  program::ExprWalk walk;
  std::size_t calls = 0;
  for (auto& step : body)
    program::for_each_expr(step, [&](Expr& root) {
      walk(root, [&](Expr expr) { calls += expr.code() == program::Code::call && !program.function_of(expr); });
    });
  return calls;
}

// Prefix scans of floats are combined sequentially: lanes only pay off if the combined value takes some computation.
constexpr std::size_t cheap = 12;  // expressions

bool only_runs(program::Loop& loop) {
  const bool runs = std::any_of(loop.carries.begin(), loop.carries.end(), [](const program::Carry& carry) {
    return carry.kind == program::CarryKind::prefix && is_float(carry.var.dtype());
  });
  if (!runs) return false;
  program::ExprWalk walk;
  std::size_t size = 0;
  for (auto& step : loop.body) program::for_each_expr(step, [&](Expr& root) { walk(root, [&](Expr) { ++size; }); });
  return size <= cheap;
}

// Loops whose extent is read from memory, as of the rows of a sparse matrix, are short: of a few elements, vectors are
// mostly masks, and gathers of lanes are as many accesses as loads. Lanes only pay off if they compute something.
bool is_short_gather(const program::Loop& loop) {
  const auto is_load = [](Expr expr) { return expr.code() == program::Code::load; };
  if (!program::any_within(loop.extent, is_load)) return false;
  std::int64_t operations = 0;
  for (auto& step : loop.body) operations += program::operations(step);
  return operations <= std::int64_t(cheap);
}

// Whether the iterations of the loop access different elements of each buffer that it writes: wherever it writes or
// reads one, the same coordinate is the index of the loop. Loops that only write a buffer are left to the emitters,
// which serialise colliding lanes.
bool has_independent_iterations(program::Loop& loop) {
  std::unordered_map<std::int64_t, std::unordered_set<std::size_t>> own;  // per written buffer: axes
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
  for (auto& step : loop.body)
    program::for_each_access(step, [&](const program::MutableAccess& access) {
      if (access.at) note_write(access.buffer, *access.at);
    });
  bool independent = true;
  program::ExprWalk walk;
  for (auto& step : loop.body)
    program::for_each_load(step, walk, [&](Expr load) {
      const auto written = own.find(load.payload());
      if (written == own.end()) return;
      const auto at = program::arguments_of(load);
      independent &= std::any_of(written->second.begin(), written->second.end(),
                                 [&](std::size_t k) { return at[k] == loop.index; });
    });
  return independent;
}

void mark(const Program& program, program::Steps& steps) {
  for (auto& step : steps) {
    program::for_each_body(step, [&](program::Steps& body) { mark(program, body); });
    auto* loop = program::as_loop(step);
    if (!loop) continue;
    loop->vector = !loop->until.defined() && std::all_of(loop->body.begin(), loop->body.end(), may_run_in_lanes) &&
                   call_count(program, loop->body) <= max_calls_in_lanes && !only_runs(*loop) &&
                   !is_short_gather(*loop) && has_independent_iterations(*loop);
  }
}

}  // namespace

void vectorize(Program& program) { mark(program, program.steps); }

}  // namespace bitale::lowering

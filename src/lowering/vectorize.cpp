// Vectorisation: marks the innermost loops whose iterations may run as lanes. Lanes are independent except for carried
// variables and colliding writes, unless the loop reads elements that other iterations of it write (a prefix scan in
// memory).
#include <algorithm>

#include "lowering/costs.hpp"
#include "lowering/passes.hpp"
#include "lowering/straight_loop.hpp"
#include "program/accesses.hpp"

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
bool only_runs(program::Loop& loop) {
  const bool runs = std::any_of(loop.carries.begin(), loop.carries.end(), [](const program::Carry& carry) {
    return carry.kind == program::CarryKind::prefix && is_float(carry.var.dtype());
  });
  if (!runs) return false;
  program::ExprWalk walk;
  std::size_t size = 0;
  for (auto& step : loop.body) program::for_each_expr(step, [&](Expr& root) { walk(root, [&](Expr) { ++size; }); });
  return size <= costs::lanes::cheap;
}

// Loops whose extent is read from memory, as of the rows of a sparse matrix, are short: of a few elements, vectors are
// mostly masks, and gathers of lanes are as many accesses as loads. Lanes only pay off if they compute something.
bool is_short_gather(const program::Loop& loop) {
  const auto is_load = [](Expr expr) { return expr.code() == program::Code::load; };
  if (!program::any_within(loop.extent, is_load)) return false;
  std::int64_t operations = 0;
  for (auto& step : loop.body) operations += program::operations(step);
  return operations <= std::int64_t(costs::lanes::cheap);
}

// Whether the steps that write a buffer may be run one after the other for all lanes, though lanes may write to one
// element: emitters serialise the colliding lanes of one step, and terms may be combined in any order.
bool may_collide(const std::vector<program::ElementAccess>& writes) {
  return writes.size() == 1 || std::ranges::all_of(writes, [&](const program::ElementAccess& access) {
           return access.kind == program::AccessKind::combine && access.combiner == writes.front().combiner;
         });
}

// Whether the iterations of the loop may run together: they access different elements of each buffer that the loop
// writes and reads (the same coordinate is the index of the loop throughout) or writes in several steps.
bool has_independent_iterations(const program::Loop& loop) {
  const program::Accesses accesses(loop);
  return std::ranges::all_of(accesses.buffers(), [&](auto& each) {
    auto& [buffer, accessed] = each;
    if (!accessed.writes || accesses.own_axes(buffer, loop.index)) return true;
    return std::ranges::none_of(accessed.list, &program::ElementAccess::is_load) &&
           (may_collide(accessed.list) || accesses.independent(buffer, loop.index));
  });
}

void mark(const Program& program, program::Steps& steps) {
  for (auto& step : steps) {
    program::for_each_body(step, [&](program::Steps& body) { mark(program, body); });
    auto* loop = program::as_loop(step);
    if (!loop) continue;
    loop->vector = !loop->until.defined() && std::all_of(loop->body.begin(), loop->body.end(), may_run_in_lanes) &&
                   call_count(program, loop->body) <= costs::straight::max_calls_in_lanes && !only_runs(*loop) &&
                   !is_short_gather(*loop) && has_independent_iterations(*loop);
  }
}

}  // namespace

void vectorize(Program& program) { mark(program, program.steps); }

}  // namespace bitale::lowering

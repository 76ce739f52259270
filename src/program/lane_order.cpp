#include "program/lane_order.hpp"

#include <algorithm>

#include "program/accesses.hpp"
#include "program/iteration_walk.hpp"
#include "program/steps.hpp"
#include "program/substitute.hpp"

namespace bitale::program {

namespace {

constexpr std::size_t small_body = 24;  // expressions: such a loop is bound by the latency of its accumulator, unless
                                        // it also adds to elements in memory
constexpr int many_accumulators = 4;
// Of a load whose lanes are apart in memory: it takes an instruction or two for each. With four accumulators a loop of
// six of them and 100 iterations took 50 ms to compile.
constexpr std::size_t of_gather = 5;
constexpr std::size_t many_narrow = 60, few_floats = 12;

bool is_gather(Expr load, Expr index) {
  for (std::size_t k = 0; k < load.argument_count(); ++k)
    if (contains(load.argument(k), index)) return k + 1 < load.argument_count() || stride(load.argument(k), index) != 1;
  return false;
}

}  // namespace

bool is_float_sum(const Update& update) { return update.combiner == Combiner::add && is_float(update.var.dtype()); }

LaneBody lane_body(const Loop& loop, const std::unordered_set<std::int64_t>& prefix_carries) {
  LaneBody body;
  std::size_t widest = 1;              // of what is loaded, stored or accumulated
  std::size_t narrow = 0, floats = 0;  // operations on integers of 32 bits; on floats
  std::size_t gathers = 0;
  bool adds_to_elements = false;
  IterationWalk walk(loop);
  const auto inspect = [&](Expr root) {
    widest = std::max(widest, itemsize(root.dtype()));
    walk(root, [&](Expr expr) {
      ++body.size;
      gathers += expr.code() == Code::load && is_gather(expr, loop.index);
      if (!expr.is_constant() && expr.code() != Code::load) {
        narrow += is_integer(expr.dtype()) && itemsize(expr.dtype()) == 4;
        floats += is_float(expr.dtype());
      }
      const bool is_load = expr.code() == Code::load;  // its address is scalar where that matters
      if (is_load || is_float(expr.dtype())) widest = std::max(widest, itemsize(expr.dtype()));
      return !is_load;
    });
  };
  for (auto& step : loop.body) {
    match(
        step, [&](const OneOf<Store, Let> auto& s) { inspect(s.value); },
        [&](const Accumulate& accumulate) {
          inspect(accumulate.value);
          adds_to_elements = true;
        },
        [&](const Update& update) {
          inspect(update.value);
          const bool in_any_order = prefix_carries.count(update.var.payload()) == 0;
          body.updates |= in_any_order;
          body.sums |= in_any_order && is_float_sum(update);
        },
        [](const OneOf<Loop, Allocate, Fill, Call, Check, HostCall, Next, If> auto&) {});  // never in lanes
  }
  // Bodies that compute words of counter-based streams, and little from them, count as 4 bytes wide. Wider values then
  // take two registers, for which logarithms and the like have no instructions.
  if (widest == 8 && narrow >= many_narrow && floats <= few_floats) widest = 4;
  const bool waits_for_sum = body.size + of_gather * gathers < small_body && !adds_to_elements;
  body.order = {int(widest), waits_for_sum ? many_accumulators : 1};
  return body;
}

LaneOrder lane_order_of(const Loop& loop) {
  if (loop.lane_order) return loop.lane_order;
  std::unordered_set<std::int64_t> prefix_carries;
  for (auto& carry : loop.carries)
    if (carry.kind == CarryKind::prefix) prefix_carries.insert(carry.var.payload());
  return lane_body(loop, prefix_carries).order;
}

}  // namespace bitale::program

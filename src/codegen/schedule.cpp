#include "codegen/schedule.hpp"

#include <algorithm>
#include <bit>

#include "program/accesses.hpp"
#include "program/detach.hpp"
#include "program/index_runs.hpp"
#include "program/iteration_walk.hpp"
#include "program/lane_order.hpp"
#include "program/math/scale.hpp"
#include "program/steps.hpp"
#include "program/substitute.hpp"

namespace bitale::codegen {

using program::Accesses;
using program::Code;
using program::Expr;
using program::Loop;
using program::Program;
using program::Schedule;
using program::Step;
using program::Steps;
using Buffers = std::unordered_set<std::int64_t>;

namespace {

constexpr int max_lanes = 16;
constexpr std::size_t small_body = 24;            // expressions
constexpr int max_straight_passes = 4;            // straight passes of a small body; other bodies have one
constexpr std::size_t small_streaming_body = 32;  // expressions: larger loops are bound by their arithmetic
constexpr std::size_t shortest_store = 16;        // bytes
constexpr std::int64_t min_traffic = 1 << 16;     // bytes: loops that are known to move less do not gain from it

// ---- lanes and the order of sums ------------------------------------------------------------------------------------

Schedule lanes_of(const Loop& loop, const Buffers& prefixes, int vector_bytes) {
  const program::LaneBody body = program::lane_body(loop, prefixes);
  const program::LaneOrder order = loop.lane_order ? loop.lane_order : body.order;
  Schedule out;
  out.lanes = std::min(max_lanes, std::max(2, vector_bytes / order.element_bytes));
  const bool known = loop.extent.is_constant();
  // A product of lengths that overflows is negative; memory for it can't be allocated.
  out.single_pass = known && loop.extent.payload() >= 0 && loop.extent.payload() < out.lanes;
  if (out.single_pass) out.lanes = std::max(2, int(std::bit_ceil(std::uint64_t(loop.extent.payload()))));
  if (body.updates && !out.single_pass) out.accumulators = order.accumulators;
  const bool is_long = !known || loop.extent.payload() > out.lanes * out.accumulators * pairwise_block;
  out.pairwise = body.sums && is_long && !out.single_pass;
  if (known) out.straight_passes = body.size <= small_body ? max_straight_passes : 1;
  return out;
}

// ---- non-temporal stores --------------------------------------------------------------------------------------------

// Buffers that are passed to calls or to the host, and buffers that are accumulated to, should stay in the caches.
bool stays_in_caches(const Accesses::OfBuffer& accessed) {
  return accessed.reads || std::ranges::any_of(accessed.list, &program::ElementAccess::is_handed);
}

// Whether stores are at indices that don't depend on all enclosing loops: they write elements repeatedly.
bool is_repeated(const Accesses& accesses, const Accesses::OfBuffer& accessed) {
  return std::ranges::any_of(accessed.list, [&](const program::ElementAccess& access) {
    if (!access.is_element() || access.kind != program::AccessKind::write) return false;
    for (int level = access.level; level >= 0; level = accesses.levels()[std::size_t(level)].outer)
      if (std::ranges::none_of(
              access.at, [&](Expr at) { return program::contains(at, accesses.levels()[std::size_t(level)].index); }))
        return true;
    return false;
  });
}

// The results that a top-level loop writes once and that are not read again in the call. None where the loop is known
// to move little, or where the amount depends on values computed before (chunks of the loop know only lengths).
Buffers streamable(const Program& program, const Step& step, const Buffers& read_anywhere) {
  Buffers out;
  if (!program::as_loop(step)) return out;
  const Accesses accesses(step);
  for (auto& [buffer, accessed] : accesses.buffers())
    if (program.buffers[std::size_t(buffer)].role == program::Role::output && !read_anywhere.contains(buffer) &&
        !is_repeated(accesses, accessed))
      out.insert(buffer);
  if (out.empty()) return out;
  const Expr bytes = bytes_moved(program, step);
  if (bytes.is_constant() && bytes.payload() < min_traffic) out.clear();
  program::ExprWalk()(bytes, [&](Expr expr) {
    if (expr.code() == Code::var) out.clear();
  });
  return out;
}

// Those of the streamable buffers that the loop stores to with whole vectors; it must be short, and do nothing else.
std::vector<std::int64_t> streamed_by(const Program& program, const Loop& loop, const Buffers& streamable) {
  if (streamable.empty() || loop.schedule.single_pass || !loop.carries.empty()) return {};
  program::IterationWalk walk(loop);
  std::size_t size = 0;
  std::vector<std::int64_t> out;
  for (auto& step : loop.body) {
    auto* store = program::as_store(step);
    if (!store) return {};
    walk(store->value, [&](Expr) { ++size; });
    const auto bytes = std::size_t(loop.schedule.lanes) * itemsize(program.buffers[std::size_t(store->buffer)].dtype);
    if (streamable.contains(store->buffer) && bytes >= shortest_store) out.push_back(store->buffer);
  }
  return size <= small_streaming_body ? out : std::vector<std::int64_t>();
}

// ---- the pass -------------------------------------------------------------------------------------------------------

class Scheduler {
 public:
  Scheduler(Program& program, int vector_bytes) : program_(program), vector_bytes_(vector_bytes) {
    const Accesses all(program.steps);
    for (auto& [buffer, accessed] : all.buffers())
      if (stays_in_caches(accessed)) read_anywhere_.insert(buffer);
    program::visit_steps(program.steps, [&](const Step& step) {
      if (auto* loop = program::as_loop(step))
        for (auto& carry : loop->carries)
          if (carry.kind == program::CarryKind::prefix) prefixes_.insert(carry.var.payload());
    });
  }

  void run() {
    for (auto& step : program_.steps) {
      streamable_ = streamable(program_, step, read_anywhere_);
      const auto visit = [&](Step& each) {
        auto* loop = program::as_loop(each);
        if (loop && loop->vector) schedule(*loop);
      };
      visit(step);
      program::for_each_body(step, [&](Steps& body) { program::visit_steps(body, visit); });
    }
  }

 private:
  void schedule(Loop& loop) const {
    loop.schedule = lanes_of(loop, prefixes_, vector_bytes_);
    if (loop.schedule.lanes >= program::lanes_of_runs && !loop.schedule.single_pass)
      loop.schedule.runs_of = program::step_with_index_runs(program_, loop);
    loop.schedule.streamed = streamed_by(program_, loop, streamable_);
  }

  Program& program_;
  int vector_bytes_;
  Buffers read_anywhere_, prefixes_, streamable_;
};

}  // namespace

Program scheduled(const Program& program, int vector_bytes) {
  Program out = program::detached(program);
  Scheduler(out, vector_bytes).run();
  return out;
}

bool is_sum_of_products(const program::Update& update) {
  return program::is_float_sum(update) && update.value.code() == Code::mul && !program::math::as_scaled(update.value);
}

Expr bytes_moved(const Program& program, const Step& step) {
  Expr total = program.pool->integer(0);
  const Accesses accesses(step);
  for (auto& [id, accessed] : accesses.buffers()) {
    const program::Buffer& buffer = program.buffers[std::size_t(id)];
    Expr bytes = program.pool->integer(std::int64_t(itemsize(buffer.dtype)));
    for (auto& length : buffer.shape) bytes = bytes * length;
    total = total + bytes;
  }
  return total;
}

std::int64_t poll_interval(const Loop& loop, bool outermost) {
  constexpr std::int64_t of_short_steps = 1024, of_long_steps = 64;
  const bool steps =
      std::any_of(loop.carries.begin(), loop.carries.end(), [](auto& carry) { return carry.is_state(); });
  int calls = 0, loops = 0, loops_in_loops = 0;
  for (auto& step : loop.body) {
    const auto* inner = program::as_loop(step);
    if (inner)
      program::visit_steps(inner->body, [&](auto& each) { loops_in_loops += program::as_loop(each) != nullptr; });
    loops += inner != nullptr;
    calls += program::as_call(step) != nullptr;
  }
  if (!steps && !(outermost && (calls || loops_in_loops))) return 0;
  const std::int64_t interval = calls || loops ? of_long_steps : of_short_steps;
  return loop.extent.is_constant() && loop.extent.payload() <= interval ? 0 : interval;
}

}  // namespace bitale::codegen

#include "codegen/loop_shape.hpp"

#include <algorithm>
#include <bit>

#include "program/lane_order.hpp"
#include "program/math/scale.hpp"
#include "program/steps.hpp"

namespace bitale::codegen {

namespace {

constexpr int most_lanes = 16;

}  // namespace

bool is_sum_of_products(const program::Update& update) {
  return program::is_float_sum(update) && update.value.code() == program::Code::mul &&
         !program::math::as_scaled(update.value);
}

std::int64_t poll_interval(const program::Loop& loop, bool outermost) {
  constexpr std::int64_t of_short_steps = 1024, of_long_steps = 64;
  const bool steps =
      std::any_of(loop.carries.begin(), loop.carries.end(), [](auto& carry) { return carry.is_state(); });
  int calls = 0, loops = 0, loops_in_loops = 0;
  for (auto& step : loop.body) {
    const auto* inner = std::get_if<program::Loop>(&step.what);
    if (inner)
      program::visit_steps(inner->body,
                           [&](auto& each) { loops_in_loops += std::holds_alternative<program::Loop>(each.what); });
    loops += inner != nullptr;
    calls += std::holds_alternative<program::Call>(step.what);
  }
  if (!steps && !(outermost && (calls || loops_in_loops))) return 0;
  const std::int64_t interval = calls || loops ? of_long_steps : of_short_steps;
  return loop.extent.is_constant() && loop.extent.payload() <= interval ? 0 : interval;
}

LoopShape shape_of(const program::Loop& loop, const std::unordered_set<std::int64_t>& running, int vector_bytes) {
  const program::LaneBody body = program::lane_body(loop, running);
  const program::LaneOrder order = loop.lane_order ? loop.lane_order : body.order;
  LoopShape shape;
  shape.lanes = std::min(most_lanes, std::max(2, vector_bytes / order.element_bytes));
  shape.updates = body.updates;
  shape.size = body.size;
  const bool known = loop.extent.is_constant();
  // A product of lengths that overflows is negative; memory for it can't be had.
  shape.short_loop = known && loop.extent.payload() >= 0 && loop.extent.payload() < shape.lanes;
  if (shape.short_loop) shape.lanes = std::max(2, int(std::bit_ceil(std::uint64_t(loop.extent.payload()))));
  if (body.updates && !shape.short_loop) shape.unroll = order.accumulators;
  const bool is_long = !known || loop.extent.payload() > shape.lanes * shape.unroll * pairwise_block;
  shape.pairwise = body.sums && is_long && !shape.short_loop;
  return shape;
}

}  // namespace bitale::codegen

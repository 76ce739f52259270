#include "codegen/loop_shape.hpp"

#include <algorithm>
#include <bit>

#include "program/math/scale.hpp"
#include "program/steps.hpp"

namespace bitale::codegen {

using program::OneOf;

namespace {

constexpr std::size_t small_body = 24;  // expressions: such a loop waits for its accumulator
constexpr int reduction_unroll = 4;
constexpr int most_lanes = 16;

struct Body {
  std::size_t widest = 1;  // bytes of the widest element that is loaded, stored or accumulated
  std::size_t size = 0;    // expressions
  bool updates = false;    // some iterations may count in any order
  bool sums = false;       // of floats
};

Body examine(const program::Loop& loop, const std::unordered_set<std::int64_t>& running) {
  Body body;
  program::ExprWalk walk;
  const auto look_at = [&](program::Expr root) {
    body.widest = std::max(body.widest, itemsize(root.dtype()));
    walk(root, [&](program::Expr expr) {
      ++body.size;
      const bool is_load = expr.code() == program::Code::load;  // its address is scalar where that matters
      if (is_load || is_float(expr.dtype())) body.widest = std::max(body.widest, itemsize(expr.dtype()));
      return !is_load;
    });
  };
  for (auto& step : loop.body) {
    program::match(
        step, [&](const OneOf<program::Store, program::Accumulate> auto& s) { look_at(s.value); },
        [&](const program::Update& update) {
          look_at(update.value);
          const bool in_any_order = running.count(update.var.payload()) == 0;
          body.updates |= in_any_order;
          body.sums |= in_any_order && is_float_sum(update);
        },
        [](const OneOf<program::Let, program::Loop, program::Allocate, program::Fill, program::Call, program::Check,
                       program::HostCall, program::Next, program::If> auto&) {});  // never in lanes
  }
  return body;
}

}  // namespace

bool is_float_sum(const program::Update& update) {
  return update.combiner == program::Combiner::add && is_float(update.var.dtype());
}

bool is_sum_of_products(const program::Update& update) {
  return is_float_sum(update) && update.value.code() == program::Code::mul && !program::math::as_scaled(update.value);
}

LoopShape shape_of(const program::Loop& loop, const std::unordered_set<std::int64_t>& running, int vector_bytes) {
  const Body body = examine(loop, running);
  LoopShape shape;
  shape.lanes = std::min(most_lanes, std::max(2, vector_bytes / int(body.widest)));
  shape.updates = body.updates;
  shape.size = body.size;
  const bool known = loop.extent.is_constant();
  // A product of lengths that overflows is negative; memory for it can't be had.
  shape.short_loop = known && loop.extent.payload() >= 0 && loop.extent.payload() < shape.lanes;
  if (shape.short_loop) shape.lanes = std::max(2, int(std::bit_ceil(std::uint64_t(loop.extent.payload()))));
  if (body.updates && body.size < small_body && !shape.short_loop) shape.unroll = reduction_unroll;
  const bool is_long = !known || loop.extent.payload() > shape.lanes * shape.unroll * pairwise_block;
  shape.pairwise = body.sums && is_long && !shape.short_loop;
  return shape;
}

}  // namespace bitale::codegen

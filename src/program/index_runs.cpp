#include "program/index_runs.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include "program/accesses.hpp"
#include "program/lane_order.hpp"
#include "program/steps.hpp"
#include "program/substitute.hpp"

namespace bitale::program {

namespace {

constexpr std::size_t max_operations_in_two_bodies = 200;  // expressions

// Whether the offset depends on an element that each iteration loads: indices that are read from memory repeat, others
// seldom do.
bool is_looked_up(Expr offset, Expr index) {
  return any_within(offset, [&](Expr expr) { return expr.code() == Code::load && contains(expr, index); });
}

}  // namespace

Expr row_offset_of(const Program& program, std::int64_t buffer, std::span<const Expr> at) {
  const auto& shape = program.buffers[std::size_t(buffer)].shape;
  Expr row = program.pool->integer(0);
  for (std::size_t k = 0; k + 1 < at.size(); ++k) row = (row + at[k]) * shape[k + 1];
  return row;
}

Expr offset_of(const Program& program, std::int64_t buffer, std::span<const Expr> at) {
  return at.empty() ? Expr() : row_offset_of(program, buffer, at) + at.back();
}

int step_with_index_runs(const Program& program, const Loop& loop) {
  constexpr int none = -1;
  if (loop.lane_order) {
    const auto is_by_runs = [](const Step& step) {
      const auto* accumulate = as_add(step);
      return accumulate && accumulate->by_runs;
    };
    const auto found = std::ranges::find_if(loop.body, is_by_runs);
    return found == loop.body.end() ? none : int(found - loop.body.begin());
  }
  if (std::ranges::any_of(loop.carries, [](auto& carry) { return carry.kind == CarryKind::prefix; })) return none;
  std::vector<std::pair<int, Expr>> adding;  // steps that accumulate, at these offsets
  for (std::size_t k = 0; k < loop.body.size(); ++k)
    if (auto* accumulate = as_add(loop.body[k]))
      if (const Expr offset = offset_of(program, accumulate->buffer, accumulate->at);
          offset.defined() && is_looked_up(offset, loop.index))
        adding.emplace_back(int(k), offset);
  if (adding.empty() || lane_body(loop, {}).size > max_operations_in_two_bodies) return none;
  // One at whose offset the loop also reads is best: those elements are then looked up once for a run, too.
  std::unordered_set<std::uint32_t> read;  // offsets
  const Accesses accesses(loop.body);
  for (auto& [buffer, accessed] : accesses.buffers())
    for (auto& access : accessed.list)
      if (access.is_load && !access.at.empty()) read.insert(offset_of(program, buffer, access.at).id());
  const auto best = std::ranges::find_if(adding, [&](auto& each) { return read.contains(each.second.id()); });
  return (best == adding.end() ? adding.front() : *best).first;
}

void choose_orders(const Program& program, Loop& loop) {
  for (auto& step : loop.body) {
    if (auto* inner = as_loop(step)) choose_orders(program, *inner);
  }
  if (!loop.vector) return;
  const auto offset = [&](const Accumulate& accumulate) {
    return offset_of(program, accumulate.buffer, accumulate.at);
  };
  const int runs = step_with_index_runs(program, loop);
  loop.lane_order = lane_order_of(loop);
  if (runs < 0) return;
  const Expr chosen = offset(*as_add(loop.body[std::size_t(runs)]));
  for (auto& step : loop.body)
    if (auto* accumulate = as_add(step); accumulate && !accumulate->at.empty())
      accumulate->by_runs |= offset(*accumulate) == chosen;
}

Expr index_runs_of(const Program& program, const Loop& loop) {
  if (loop.schedule.runs_of < 0) return {};
  const auto& step = *as_add(loop.body[std::size_t(loop.schedule.runs_of)]);
  return offset_of(program, step.buffer, step.at);
}

}  // namespace bitale::program

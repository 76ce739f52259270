#include "codegen/index_runs.hpp"

#include <algorithm>
#include <unordered_set>

#include "program/steps.hpp"

namespace bitale::codegen {

using program::Code;
using program::Expr;

namespace {

constexpr std::size_t most_emitted_twice = 200;  // expressions

// An index that is read from memory; others seldom repeat.
bool is_looked_up(Expr offset) {
  bool loads = false;
  program::ExprWalk walk;
  walk(offset, [&](Expr expr) {
    loads |= expr.code() == Code::load;
    return !loads;
  });
  return loads;
}

}  // namespace

Expr row_offset_of(const program::Program& program, std::int64_t buffer, std::span<const Expr> at) {
  const auto& shape = program.buffers[std::size_t(buffer)].shape;
  Expr row = program.pool->integer(0);
  for (std::size_t k = 0; k + 1 < at.size(); ++k) row = (row + at[k]) * shape[k + 1];
  return row;
}

Expr offset_of(const program::Program& program, std::int64_t buffer, std::span<const Expr> at) {
  return at.empty() ? Expr() : row_offset_of(program, buffer, at) + at.back();
}

Expr index_runs_of(const program::Program& program, const program::Loop& loop, const LoopShape& shape) {
  if (shape.lanes < lanes_of_runs || shape.short_loop || shape.size > most_emitted_twice) return {};
  if (std::any_of(loop.carries.begin(), loop.carries.end(), [](auto& carry) { return carry.running; })) return {};
  std::unordered_set<std::uint32_t> added;
  for (auto& step : loop.body)
    if (auto* accumulate = std::get_if<program::Accumulate>(&step.what))
      if (const Expr offset = offset_of(program, accumulate->buffer, accumulate->at); offset && is_looked_up(offset))
        added.insert(offset.id());
  if (added.empty()) return {};
  Expr found;
  program::ExprWalk walk;
  for (auto& step : loop.body)
    program::for_each_expr(step, [&](const Expr& root) {
      walk(root, [&](Expr expr) {
        if (expr.code() != Code::load) return;
        const Expr offset = offset_of(program, expr.payload(), program::arguments_of(expr));
        if (offset && added.count(offset.id())) found = offset;
      });
    });
  return found;
}

}  // namespace bitale::codegen

// Narrowing: a temporary that lives within one turn of a loop, row by row, is a row. Where all its elements are written
// and read at the index of the same loop, that axis goes.
#include <algorithm>

#include "lowering/plan.hpp"

namespace bitale::lowering {

namespace {

using program::Loop;
using program::Step;
using program::Steps;

// Per axis of a buffer: the loop at whose index it is always taken; null when there is none.
struct Rows {
  std::vector<const Loop*> loops;
  bool seen = false;
};

class Narrower {
 public:
  explicit Narrower(Program& program) : program_(program), rows_(program.buffers.size()) {
    for (std::size_t b = 0; b < rows_.size(); ++b)
      rows_[b].loops.assign(program.buffers[b].role == program::Role::temporary ? program.buffers[b].shape.size() : 0,
                            nullptr);
  }

  void run() {
    examine(program_.steps);
    bool any = false;
    for (auto& rows : rows_) any |= std::any_of(rows.loops.begin(), rows.loops.end(), [](auto* l) { return l; });
    if (!any) return;
    rewrite(program_.steps);
    for (std::size_t b = 0; b < rows_.size(); ++b)
      if (!rows_[b].loops.empty()) program_.buffers[b].shape = kept(std::int64_t(b), program_.buffers[b].shape);
  }

 private:
  const Loop* loop_of(Expr index) const {
    for (auto* loop : open_)
      if (loop->index == index) return loop;
    return nullptr;
  }
  static bool holds_loops(const Loop& loop) {
    return std::any_of(loop.body.begin(), loop.body.end(),
                       [](const Step& step) { return std::holds_alternative<Loop>(step.what); });
  }

  void note(std::int64_t buffer, std::span<const Expr> at) {
    Rows& rows = rows_[std::size_t(buffer)];
    for (std::size_t k = 0; k < rows.loops.size(); ++k) {
      const Loop* loop = loop_of(at[k]);
      rows.loops[k] = rows.seen && rows.loops[k] != loop ? nullptr : loop;
    }
    rows.seen = true;
  }
  bool is_candidate(std::int64_t buffer) const { return !rows_[std::size_t(buffer)].loops.empty(); }
  void forbid(std::int64_t buffer) { rows_[std::size_t(buffer)].loops.clear(); }

  void examine(Steps& steps) {
    for (auto& step : steps) {
      program::ExprWalk walk;  // a step's expressions share much, and lie in the same loops
      program::for_each_expr(step, [&](Expr& root) {
        walk(root, [&](Expr expr) {
          if (expr.code() == program::Code::load && is_candidate(expr.payload()))
            note(expr.payload(), program::arguments_of(expr));
          if (expr.code() == program::Code::dim) forbid(expr.payload() >> 8);
        });
      });
      if (auto* store = std::get_if<program::Store>(&step.what)) note(store->buffer, store->at);
      if (auto* accumulate = std::get_if<program::Accumulate>(&step.what)) note(accumulate->buffer, accumulate->at);
      if (auto* fill = std::get_if<program::Fill>(&step.what)) forbid(fill->buffer);
      if (auto* call = std::get_if<program::Call>(&step.what))
        for (auto& argument : call->arguments)
          if (auto* buffer = std::get_if<program::BufferArgument>(&argument)) forbid(buffer->buffer);
      if (auto* host = std::get_if<program::HostCall>(&step.what)) {
        for (auto buffer : host->inputs) forbid(buffer);
        for (auto buffer : host->outputs) forbid(buffer);
      }
      if (auto* loop = std::get_if<Loop>(&step.what)) {
        if (holds_loops(*loop)) open_.push_back(loop);
        examine(loop->body);
        if (holds_loops(*loop)) open_.pop_back();
      }
    }
  }

  std::vector<Expr> kept(std::int64_t buffer, std::span<const Expr> per_axis) const {
    const Rows& rows = rows_[std::size_t(buffer)];
    std::vector<Expr> out;
    for (std::size_t k = 0; k < per_axis.size(); ++k)
      if (k >= rows.loops.size() || !rows.loops[k]) out.push_back(per_axis[k]);
    return out;
  }

  bool narrow_loads(Step& step) {
    Stored narrowed;
    program::ExprWalk walk;
    program::for_each_expr(step, [&](Expr& root) {
      walk(root, [&](Expr expr) {
        if (expr.code() != program::Code::load || !is_candidate(expr.payload())) return;
        const auto at = program::arguments_of(expr);
        if (at.size() != rows_[std::size_t(expr.payload())].loops.size()) return;
        const auto left = kept(expr.payload(), at);
        if (left.size() != at.size()) narrowed[expr.id()] = program_.pool->load(expr.payload(), expr.dtype(), left);
      });
    });
    if (!narrowed.empty()) program::for_each_expr(step, [&](Expr& root) { root = substitute(root, narrowed); });
    return !narrowed.empty();
  }

  void rewrite(Steps& steps) {
    for (auto& step : steps) {
      while (narrow_loads(step)) {  // again where a load is an index of another
      }
      if (auto* store = std::get_if<program::Store>(&step.what)) store->at = kept(store->buffer, store->at);
      if (auto* accumulate = std::get_if<program::Accumulate>(&step.what))
        accumulate->at = kept(accumulate->buffer, accumulate->at);
      if (auto* loop = std::get_if<Loop>(&step.what)) rewrite(loop->body);
    }
  }

  Program& program_;
  std::vector<Rows> rows_;
  std::vector<const Loop*> open_;  // that hold other loops: the lanes of an innermost one are not one after the other
};

}  // namespace

void narrow_temporaries(Program& program) { Narrower(program).run(); }

}  // namespace bitale::lowering

#include "program/loop_nest.hpp"

#include "program/steps.hpp"

namespace bitale::program {

void LoopNest::open(Expr index) {
  indices_.push_back(index.defined() ? index.payload() : -1);
  known_.clear();
}

void LoopNest::close() {
  if (!sides_.empty() && sides_.back() == innermost()) sides_.pop_back();
  indices_.pop_back();
  known_.clear();
}

void LoopNest::begin(const Step& step) {
  if (!written_.empty()) known_.clear();
  written_.clear();
  for_each_body(step, [&](const Steps& body) { note_written(body); });
}

void LoopNest::begin(const Loop& loop) {
  written_.clear();
  note_written(loop.body);
}

void LoopNest::note_written(const Steps& body) {
  known_.clear();
  visit_steps(body, [&](const Step& step) {
    for_each_access(step, [&](const Access& access) {
      if (access.writes()) written_.insert(access.buffer);
    });
  });
}

void LoopNest::define(Expr var, std::size_t level) {
  var_levels_[var.payload()] = level;
  // Levels that are known may depend on the variable; to clear them each time would make long programs quadratic.
  if (const auto* before = known_.find(var); before && *before != level) known_.clear();
}

std::size_t LoopNest::own_level(Expr expr) const {
  if (expr.code() == Code::index) {
    for (std::size_t level = innermost(); level > 0; --level)
      if (indices_[level - 1] == expr.payload()) return level;
    return innermost();
  }
  if (expr.code() == Code::var) {
    const auto found = var_levels_.find(expr.payload());
    return found == var_levels_.end() ? innermost() : std::min(found->second, innermost());
  }
  return expr.code() == Code::load && is_written(expr.payload()) ? innermost() : 0;
}

std::size_t LoopNest::level_of(Expr root) {
  if (const auto* known = known_.find(root)) return *known;
  stack_.assign(1, root);
  while (!stack_.empty()) {
    const Expr expr = stack_.back();
    if (known_.find(expr)) {
      stack_.pop_back();
      continue;
    }
    std::size_t level = own_level(expr);
    const std::size_t before = stack_.size();
    for (std::size_t i = 0; i < expr.argument_count(); ++i) {
      if (const auto* found = known_.find(expr.argument(i)))
        level = std::max<std::size_t>(level, *found);
      else
        stack_.push_back(expr.argument(i));
    }
    if (stack_.size() != before) continue;
    known_.set(expr, level);
    stack_.pop_back();
  }
  return *known_.find(root);
}

}  // namespace bitale::program

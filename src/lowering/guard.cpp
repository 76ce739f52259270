// Guarded additions: an inner loop that adds zeros unless a condition of the loops around it holds is put behind a
// branch, where the condition is an equality of two computed numbers, which seldom holds. The gradient of a minimum
// adds to the rows of what is least and zeros to all others; behind the branch, it costs as much as finding what is
// least and indexing by it, but each of equal extremes has its share.
#include <algorithm>

#include "lowering/passes.hpp"
#include "program/steps.hpp"

namespace bitale::lowering {

namespace {

using program::Accumulate;
using program::Code;
using program::Combiner;
using program::If;
using program::Loop;
using program::Step;
using program::Steps;

// Whether the value is 0 or -0 where the condition does not hold.
bool is_zero_without(Expr value, Expr condition) {
  switch (value.code()) {
    case Code::constant:
      return value == value.pool().number(0, value.dtype()) || value == value.pool().number(-0., value.dtype());
    case Code::neg: return is_zero_without(value.argument(0), condition);
    case Code::select:
      return (value.argument(0) == condition || is_zero_without(value.argument(1), condition)) &&
             is_zero_without(value.argument(2), condition);
    default: return false;
  }
}

bool is_equality_of_computed(Expr condition) {
  if (condition.code() == Code::bit_and)
    return is_equality_of_computed(condition.argument(0)) || is_equality_of_computed(condition.argument(1));
  return condition.code() == Code::eq && is_float(condition.argument(0).dtype()) &&
         !condition.argument(0).is_constant() && !condition.argument(1).is_constant();
}

class Guard {
 public:
  explicit Guard(const Program& program) : program_(program), starts_at_zero_(program.buffers.size(), false) {
    for (auto& step : program.steps)
      if (auto* fill = std::get_if<program::Fill>(&step.what))
        starts_at_zero_[std::size_t(fill->buffer)] = fill->value == program.pool->number(0, fill->value.dtype());
    program::visit_steps(program.steps, [&](const Step& step) {
      program::for_each_access(step, [&](const program::Access& access) {
        if (access.kind == program::AccessKind::write && access.reach != program::Reach::whole)
          starts_at_zero_[std::size_t(access.buffer)] = false;
      });
    });
  }

  void run(Steps& steps, bool in_loop = false) {
    for (auto& step : steps) {
      program::for_each_body(step, [&](Steps& body) { run(body, in_loop || program::as_loop(step)); });
      auto* loop = program::as_loop(step);
      if (!loop || !in_loop) continue;
      if (const Expr condition = guard_of(*loop); condition.defined()) put_behind(condition, step);
    }
  }

  // The condition without which the loop adds only zeros; undefined if there is none. A sum that starts at 0 is never
  // -0, so that adding zeros to it changes nothing.
  Expr guard_of(const Loop& loop) const {
    if (loop.body.empty() || !loop.carries.empty() || loop.until.defined()) return {};
    Expr condition;
    for (auto& step : loop.body) {
      const auto* add = std::get_if<Accumulate>(&step.what);
      if (!add || add->combiner != Combiner::add || !starts_at_zero_[std::size_t(add->buffer)]) return {};
      if (!condition.defined()) condition = outer_condition(add->value, loop.index);
      if (!condition.defined() || !is_zero_without(add->value, condition)) return {};
    }
    return condition;
  }

 private:
  static Expr outer_condition(Expr value, Expr index) {
    while (value.code() == Code::neg) value = value.argument(0);
    if (value.code() != Code::select) return {};
    const Expr condition = value.argument(0);
    return is_equality_of_computed(condition) && !program::contains(condition, index) ? condition : Expr();
  }

  void put_behind(Expr condition, Step& step) {
    const program::Substitution holds{{condition.id(), program_.pool->boolean(true)}};
    for (auto& add : std::get<Loop>(step.what).body)
      program::for_each_expr(add, [&](Expr& root) { root = program::substitute(root, holds); });
    Steps then;
    then.push_back(std::move(step));
    step.what = If{condition, std::move(then), {}};
  }

  const Program& program_;
  std::vector<bool> starts_at_zero_;  // by buffer: filled with 0, and only added to
};

}  // namespace

void guard_additions(Program& program) { Guard(program).run(program.steps); }

bool adds_seldom(const Program& program, const program::Loop& loop) {
  const auto may_be_zero = [](const Step& step) {
    const auto* add = std::get_if<Accumulate>(&step.what);
    return add && (add->value.code() == Code::select || add->value.code() == Code::neg);
  };
  if (!std::all_of(loop.body.begin(), loop.body.end(), may_be_zero)) return false;
  return Guard(program).guard_of(loop).defined();
}

}  // namespace bitale::lowering

// Guarded additions: an inner loop, or a nest, that adds zeros unless a condition of the loops around it holds is put
// behind a branch, where the condition is an equality of two computed numbers, which seldom holds. The gradient of a
// minimum adds to the rows of what is least and zeros to all others; behind the branch, it costs as much as finding
// what is least and indexing by it, but each of equal extremes has its share. A loop of nothing but such branches looks
// for the condition in strips first, where lanes run together.
#include <algorithm>

#include "lowering/costs.hpp"
#include "lowering/passes.hpp"
#include "lowering/strips.hpp"
#include "program/accesses.hpp"
#include "program/rewrite.hpp"

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
  Guard(const Program& program, Declarations& declare) : program_(program), declare_(declare) {}

  void guard(Steps& steps, bool in_loop = false) {
    for (auto& step : steps) {
      const auto* loop = program::as_loop(step);
      if (const Expr condition = loop && in_loop ? guard_of(*loop) : Expr(); condition.defined())
        put_behind(condition, step);
      else
        program::for_each_body(step, [&](Steps& body) { guard(body, in_loop || loop); });
    }
  }

  void look_in_strips(Steps& steps, bool in_loop = false) {
    for (auto& step : steps) {
      auto* loop = program::as_loop(step);
      program::for_each_body(step, [&](Steps& body) { look_in_strips(body, in_loop || loop); });
      if (!loop || !in_loop) continue;
      if (const Expr condition = guard_of_branches(*loop); condition.defined()) look_in_strips(condition, *loop);
    }
  }

 private:
  // The condition without which the loop adds only zeros; undefined if there is none. A sum that starts at 0 is never
  // -0, so that adding zeros to it changes nothing.
  Expr guard_of(const Loop& loop) {
    Expr condition;
    return adds_zeros_without(condition, loop) && !changes(loop.body, condition) ? condition : Expr();
  }
  bool adds_zeros_without(Expr& condition, const Loop& loop) {
    if (loop.body.empty() || !loop.carries.empty() || loop.until.defined()) return false;
    for (auto& step : loop.body) {
      if (const auto* inner = program::as_loop(step)) {
        if (!adds_zeros_without(condition, *inner)) return false;
        continue;
      }
      const auto* add = program::as_add(step);
      if (add && !condition.defined()) condition = outer_condition(add->value);
      if (!condition.defined() || !adds_zero_without(condition, step)) return false;
    }
    return !program::contains(condition, loop.index);
  }
  // Whether the buffer is filled with 0, and only added to.
  bool starts_at_zero(std::int64_t buffer) {
    if (starts_at_zero_.empty()) {
      starts_at_zero_.resize(program_.buffers.size(), false);
      for (auto& step : program_.steps)
        if (auto* fill = program::as_fill(step))
          starts_at_zero_[std::size_t(fill->buffer)] = fill->value == program_.pool->number(0, fill->value.dtype());
      const program::Accesses accesses(program_.steps);
      for (auto& [written, accessed] : accesses.buffers())
        if (std::ranges::any_of(accessed.list, [](const program::ElementAccess& access) {
              return access.kind == program::AccessKind::write && access.reach != program::Reach::whole;
            }))
          starts_at_zero_[std::size_t(written)] = false;
    }
    return starts_at_zero_[std::size_t(buffer)];
  }
  bool adds_zero_without(Expr condition, const Step& step) {
    const auto* add = program::as_add(step);
    return add && add->combiner == Combiner::add && is_zero_without(add->value, condition) &&
           starts_at_zero(add->buffer);
  }
  static Expr outer_condition(Expr value) {
    while (value.code() == Code::neg) value = value.argument(0);
    return value.code() == Code::select && is_equality_of_computed(value.argument(0)) ? value.argument(0) : Expr();
  }
  static bool changes(const Steps& steps, Expr condition) {
    const program::Accesses accesses(steps);
    return program::any_within(condition,
                               [&](Expr expr) { return expr.code() == Code::load && accesses.writes(expr.payload()); });
  }

  void put_behind(Expr condition, Step& step) {
    program::substitute(program::as_loop(step)->body, {{condition.id(), program_.pool->boolean(true)}});
    Steps then;
    then.push_back(std::move(step));
    step.what = If{condition, std::move(then), {}};
  }

  // The condition, an equality, of all branches of a loop that does nothing without it, and does not change it.
  Expr guard_of_branches(const Loop& loop) {
    if (loop.vector || !loop.carries.empty() || loop.until.defined() || loop.parallel_cost.defined()) return {};
    Expr condition;
    for (auto& step : loop.body) {
      const auto* branch = program::as_if(step);
      if (!branch) continue;
      if (!branch->otherwise.empty() || (condition.defined() && condition != branch->condition)) return {};
      condition = branch->condition;
    }
    if (!condition.defined() || condition.code() != Code::eq || !program::contains(condition, loop.index)) return {};
    for (auto& step : loop.body)
      if (!program::as_if(step) && !adds_zero_without(condition, step)) return {};
    return changes(loop.body, condition) ? Expr() : condition;
  }

  // for j in n: if c(j): ... becomes a loop over strips; in one, `found` is whether any of its elements satisfies c.
  void look_in_strips(Expr condition, Loop& loop) {
    const Expr n = loop.extent, old = loop.index;
    std::int64_t strip = costs::strips::usual;
    if (n.is_constant()) {
      if (n.payload() < 2 * strip) return;
      for (std::int64_t even = costs::strips::shortest; even <= costs::strips::longest; even += costs::strips::step)
        if (n.payload() % even == 0) strip = even;
    }
    const Expr whole = program_.pool->integer(strip);
    const Strips strips(declare_, "js", n, whole);
    const bool is_even = n.is_constant() && n.payload() % strip == 0;
    const Expr rows = is_even ? whole : strips.size, j = declare_.index("j", rows);
    const program::Substitution moved{{old.id(), strips.start + j}};
    const program::Substitution holds{{condition.id(), program_.pool->boolean(true)}};
    const Expr found = declare_.var(DType::Bool), own = program::substitute(condition, moved);

    Steps then;
    for (auto& step : loop.body) {
      Steps inner;
      if (auto* branch = program::as_if(step))
        inner = std::move(branch->then);
      else
        inner.push_back(std::move(step));
      for (auto& each : inner) then.push_back(std::move(each));
    }
    program::substitute(then, holds);
    program::substitute(then, moved);
    Loop look{j, rows, {program::Carry{found, program::CarryKind::reduce, Combiner::bit_or}}, {}, true};
    look.body.push_back({program::Update{found, Combiner::bit_or, own}});
    Loop act{j, rows, {}, {}, false};
    act.body.push_back({If{own, std::move(then), {}}});
    Steps behind;
    behind.push_back({std::move(act)});
    loop.index = strips.index;
    loop.extent = strips.count;
    loop.body.clear();
    loop.body.push_back({std::move(look)});
    loop.body.push_back({If{found, std::move(behind), {}}});
  }

  const Program& program_;
  Declarations& declare_;
  std::vector<bool> starts_at_zero_;  // by buffer, from the first question on
};

}  // namespace

void guard_additions(Program& program, Declarations& declare) { Guard(program, declare).guard(program.steps); }
void look_in_strips(Program& program, Declarations& declare) { Guard(program, declare).look_in_strips(program.steps); }

}  // namespace bitale::lowering

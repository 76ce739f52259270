#include "lowering/straight_code.hpp"

#include <algorithm>

#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "program/lane_order.hpp"
#include "program/math/scale.hpp"
#include "program/steps.hpp"

namespace bitale::lowering {

using program::Code;
using program::Loop;
using program::OneOf;
using program::Step;
using program::Steps;

std::int64_t expression_count(const Step& step) {
  std::int64_t count = 1;
  program::ExprWalk walk;
  program::for_each_expr(step, [&](const Expr& root) {
    walk(root, [&](Expr expr) {
      count += !expr.is_constant() && expr.code() != Code::index;
      return expr.code() != Code::load;
    });
  });
  return count;
}

bool is_number_of(Expr at, const program::Accesses& accesses, int level) {
  if (at.is_constant()) return true;
  const bool is_known = !program::any_within(at, [&](Expr expr) {
    if (expr.code() == Code::index) return !accesses.is_within(level, expr);
    return expr.code() == Code::var || expr.code() == Code::load || expr.code() == Code::dim;
  });
  if (!is_known) return false;
  // Which operations are folded depends on the expression, but not on the values of its indices.
  program::Substitution numbers;
  for (; level >= 0; level = accesses.levels()[std::size_t(level)].outer)
    numbers[accesses.levels()[std::size_t(level)].index.id()] = at.pool().integer(0);
  return program::substitute(at, numbers).is_constant();
}

namespace {

// An element is found by its load: equal indices must be equal expressions, so those that are numbers must be
// constants.
void check_index(Expr index) {
  const bool is_open = index.is_constant() || program::any_within(index, [](Expr expr) {
                         return expr.code() == Code::index || expr.code() == Code::var || expr.code() == Code::load ||
                                expr.code() == Code::dim;
                       });
  if (!is_open) throw InternalError(cat("lowering: an element at ", program::to_string(index), ", not at a constant"));
}

// The first extreme is the value itself. A first sum is not: it turns -0 into 0.
Expr combined(program::Combiner combiner, Expr before, Expr value) {
  const bool is_first =
      combiner != program::Combiner::add && before == program::identity(combiner, value.pool(), value.dtype());
  return is_first ? value : program::combine(combiner, before, value);
}

}  // namespace

// Replaces loads of elements by their current values.
Expr StraightCode::promoted(Expr root) {
  const Expr renamed = program::substitute(root, renamed_);
  program::ExprWalk()(renamed, [&](Expr expr) {
    if (expr.code() != Code::load || !chosen_.contains(expr.payload())) return;
    for (std::size_t axis = 0; axis < expr.argument_count(); ++axis) check_index(expr.argument(axis));
    if (!current_.contains(expr.id())) current_[expr.id()] = first_read_(expr);
  });
  return program::substitute(renamed, current_);
}

Expr StraightCode::element_of(std::int64_t buffer, std::span<const Expr> at) {
  for (auto& index : at) check_index(index);
  return pool_.load(buffer, program_.buffers[std::size_t(buffer)].dtype, at);
}

Expr StraightCode::named(Expr value, Steps& to) {
  if (value.is_constant() || value.code() == Code::var) return value;
  const Expr var = declare_.var(value.dtype());
  to.push_back({program::Let{var, value}});
  return var;
}

void StraightCode::set(std::int64_t buffer, const std::vector<Expr>& at, Expr value, Steps& to) {
  const Expr load = element_of(buffer, at);
  current_[load.id()] = named(value, to);
  if (std::find(stored_.begin(), stored_.end(), load) == stored_.end()) stored_.push_back(load);
}

void StraightCode::append(Step step, Steps& to) {
  if (auto* store = program::as_store(step); store && chosen_.contains(store->buffer)) {
    for (auto& index : store->at) index = program::substitute(index, renamed_);
    return set(store->buffer, store->at, promoted(store->value), to);
  }
  if (auto* add = program::as_add(step); add && chosen_.contains(add->buffer)) {
    for (auto& index : add->at) index = program::substitute(index, renamed_);
    const Expr before = promoted(element_of(add->buffer, add->at));
    return set(add->buffer, add->at, combined(add->combiner, before, promoted(add->value)), to);
  }
  program::for_each_expr_within(step, [&](Expr& expr) { expr = promoted(expr); });
  to.push_back(std::move(step));
}

void StraightCode::unroll(const Step& step, Steps& to) {
  program::match(
      step, [&](const OneOf<program::Store, program::Accumulate> auto& s) { append({s}, to); },
      [&](const program::Let& let) {
        const Expr value = named(promoted(let.value), to);
        renamed_[let.var.id()] = value;
      },
      [&](const program::Update& update) {
        const auto carried = renamed_.find(update.var.id());
        if (carried == renamed_.end()) return append({update}, to);  // carried by an enclosing loop
        const Expr before = carried->second, value = promoted(update.value);
        const bool is_product =
            program::is_float_sum(update) && value.code() == Code::mul && !program::math::as_scaled(value);
        renamed_[update.var.id()] = named(is_product ? program::fma(value.argument(0), value.argument(1), before)
                                                     : combined(update.combiner, before, value),
                                          to);
      },
      [&](const Loop& loop) {
        for (auto& carry : loop.carries)
          renamed_[carry.var.id()] = program::identity(carry.combiner, pool_, carry.var.dtype());
        if (renamed_.contains(loop.index.id())) throw InternalError("lowering: a loop has the index of a loop around");
        for (std::int64_t i = 0; i < loop.extent.payload(); ++i) {
          renamed_[loop.index.id()] = pool_.integer(i);
          for (auto& inner : loop.body) unroll(inner, to);
        }
        renamed_.erase(loop.index.id());
      },
      [](const OneOf<program::Allocate, program::Fill, program::Call, program::Check, program::HostCall, program::Next,
                     program::If> auto&) {});
}

}  // namespace bitale::lowering

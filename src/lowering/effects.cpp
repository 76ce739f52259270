#include "lowering/effects.hpp"

#include "program/steps.hpp"

namespace bitale::lowering {

using program::Code;
using program::Expr;
using program::Step;

namespace {

void add_definitions(Effects& to, const Step& step) {
  program::for_each_definition(step, [&](const Expr& var, program::Definition kind) {
    if (kind == program::Definition::index) return;
    // A state keeps its value until the iteration is done, and the result of updates is only known after the loop.
    (kind == program::Definition::combined ? to.used : to.defined).insert(var.payload());
  });
}

}  // namespace

void Effects::add(const Step& step) {
  program::ExprWalk walk;
  program::for_each_expr_within(step, [&](const Expr& root) {
    walk(root, [&](Expr expr) {
      if (expr.code() == Code::load) reads.insert(expr.payload());
      if (expr.code() == Code::dim) lengths.insert(expr.payload() >> 8);
      if (expr.code() == Code::var) used.insert(expr.payload());
    });
  });
  program::for_each_access_within(step, [&](const program::Access& access) {
    if (access.reads()) reads.insert(access.buffer);
    if (access.writes()) writes.insert(access.buffer);
  });
  const auto add_own = [&](const Step& each) {
    may_fail |= program::may_fail(each);
    add_definitions(*this, each);
  };
  add_own(step);
  program::for_each_body(step, [&](const program::Steps& body) { program::visit_steps(body, add_own); });
}

void Effects::add(const Effects& other) {
  const auto join = [](auto& to, const auto& from) { to.insert(from.begin(), from.end()); };
  join(reads, other.reads), join(writes, other.writes), join(lengths, other.lengths);
  join(used, other.used), join(defined, other.defined);
  may_fail |= other.may_fail;
}

}  // namespace bitale::lowering

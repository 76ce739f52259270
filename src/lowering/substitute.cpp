// Substitution: an expression in which others stand for some of its sub-expressions.
#include <unordered_map>

#include "lowering/plan.hpp"

namespace bitale::lowering {

namespace {

using program::Code;

Expr rebuilt(Expr expr, std::span<const Expr> arguments) {
  ExprPool& pool = expr.pool();
  if (expr.code() == Code::select) return program::select(arguments[0], arguments[1], arguments[2]);
  if (expr.code() == Code::cast) return program::cast(arguments[0], expr.dtype());
  return pool.make(expr.code(), expr.dtype(), arguments, expr.payload());
}

// A rebuilt expression still stands for the same function, of rebuilt arguments.
void keep_meaning(Expr before, std::unordered_map<std::uint32_t, Expr>& done) {
  const ExprPool::Meaning* meaning = before.pool().meaning(before);
  if (!meaning) return;
  std::vector<Expr> arguments;
  for (auto& argument : meaning->arguments) {
    auto found = done.find(argument.id());
    arguments.push_back(found == done.end() ? argument : found->second);
  }
  before.pool().set_meaning(done.at(before.id()), meaning->function, arguments);
}

}  // namespace

Expr substitute(Expr root, const Stored& stored) {
  std::unordered_map<std::uint32_t, Expr> done;
  std::vector<Expr> stack{root};
  while (!stack.empty()) {
    const Expr expr = stack.back();
    if (done.count(expr.id())) {
      stack.pop_back();
      continue;
    }
    if (auto found = stored.find(expr.id()); found != stored.end()) {
      done[expr.id()] = found->second;
      stack.pop_back();
      continue;
    }
    std::vector<Expr> arguments;
    bool ready = true, changed = false;
    for (std::size_t i = 0; i < expr.argument_count(); ++i) {
      const Expr argument = expr.argument(i);
      auto found = done.find(argument.id());
      if (found == done.end()) {
        stack.push_back(argument);
        ready = false;
      } else {
        arguments.push_back(found->second);
        changed |= !(found->second == argument);
      }
    }
    if (!ready) continue;
    done[expr.id()] = changed ? rebuilt(expr, arguments) : expr;
    if (changed) keep_meaning(expr, done);
    stack.pop_back();
  }
  return done[root.id()];
}

}  // namespace bitale::lowering

#include "program/substitute.hpp"

namespace bitale::program {

Expr with_arguments(Expr expr, std::span<const Expr> arguments) {
  bool same = true;
  for (std::size_t i = 0; i < arguments.size(); ++i) same &= arguments[i] == expr.argument(i);
  if (same) return expr;
  if (expr.code() == Code::select) return select(arguments[0], arguments[1], arguments[2]);
  if (expr.code() == Code::cast) return cast(arguments[0], expr.dtype());
  return expr.pool().make(expr.code(), expr.dtype(), arguments, expr.payload());
}

Expr Rebuild::operator()(Expr root) {
  std::vector<Expr> stack{root}, arguments;
  while (!stack.empty()) {
    const Expr expr = stack.back();
    if (done_.find(expr).defined()) {
      stack.pop_back();
      continue;
    }
    arguments.clear();
    bool ready = true;
    for (std::size_t i = 0; i < expr.argument_count(); ++i) {
      const Expr found = done_.find(expr.argument(i));
      if (found.defined())
        arguments.push_back(found);
      else
        stack.push_back(expr.argument(i)), ready = false;
    }
    if (!ready) continue;
    const Expr out = make_(expr, arguments);
    done_.insert(expr, out);
    if (!(out == expr)) keep_properties(expr, out);
    stack.pop_back();
  }
  return done_.find(root);
}

// The new expression keeps the source call, with rebuilt arguments, and may not be contracted where the old one may
// not.
void Rebuild::keep_properties(Expr before, Expr after) const {
  ExprPool& pool = before.pool();
  if (pool.forbids_contraction(before)) pool.forbid_contraction(after);
  const ExprPool::SourceCall* meaning = pool.source_call(before);
  if (!meaning) return;
  std::vector<Expr> arguments;
  for (auto& argument : meaning->arguments) {
    const Expr found = done_.find(argument);
    arguments.push_back(found.defined() ? found : argument);
  }
  pool.annotate_call(after, meaning->function, arguments);
}

Expr substitute(Expr root, const Substitution& substitution) {
  const auto find = [&](Expr expr) {
    const auto found = substitution.find(expr.id());
    return found == substitution.end() ? Expr() : found->second;
  };
  if (substitution.empty() || !any_within(root, [&](Expr expr) { return find(expr).defined(); })) return root;
  return Rebuild([&](Expr expr, std::span<const Expr> arguments) {
    const Expr found = find(expr);
    return found.defined() ? found : with_arguments(expr, arguments);
  })(root);
}

}  // namespace bitale::program

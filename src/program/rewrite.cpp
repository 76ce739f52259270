#include "program/rewrite.hpp"

#include "program/steps.hpp"

namespace bitale::program {

void substitute(Step& step, const Substitution& by) {
  for_each_expr(step, [&](Expr& root) { root = substitute(root, by); });
  for_each_definition(step, [&](Expr& defined, Definition) {
    if (const auto found = by.find(defined.id()); found != by.end()) defined = found->second;
  });
  for_each_body(step, [&](Steps& body) { substitute(body, by); });
}

void substitute(Steps& steps, const Substitution& by) {
  for (auto& step : steps) substitute(step, by);
}

void move_elements(Steps& steps, const Move& move) {
  Rebuild moved([&](Expr expr, std::span<const Expr> arguments) {
    if (expr.code() != Code::load) return with_arguments(expr, arguments);
    std::vector<Expr> at(arguments.begin(), arguments.end());
    const std::int64_t buffer = move(expr.payload(), at);
    return expr.pool().load(buffer, expr.dtype(), at);
  });
  visit_steps(steps, [&](Step& step) {
    for_each_expr(step, [&](Expr& root) { root = moved(root); });
    for_each_access(step, [&](const MutableAccess& access) {
      std::vector<Expr> none;
      access.buffer = move(access.buffer, access.at ? *access.at : none);
    });
  });
}

}  // namespace bitale::program

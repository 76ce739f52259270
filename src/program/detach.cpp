#include "program/detach.hpp"

#include "bitale/core/error.hpp"
#include "program/steps.hpp"

namespace bitale::program {

namespace {

// Expressions are created after their arguments: recreated in that order, each gets the number that it had.
void copy_pool(ExprPool& from, ExprPool& to) {
  std::vector<Expr> arguments;
  for (std::size_t id = 0; id < from.size(); ++id) {
    const Expr expr(&from, std::uint32_t(id));
    arguments.clear();
    for (std::size_t i = 0; i < expr.argument_count(); ++i) arguments.emplace_back(&to, expr.argument(i).id());
    Expr copied;
    if (expr.code() == Code::call)
      copied = to.call(from.function_name(expr.payload()), expr.dtype(), arguments);
    else if (expr.code() == Code::rare_call)
      copied =
          to.rare_call(from.function_name(expr.payload()), arguments[0], arguments[1], std::span(arguments).subspan(2));
    else
      copied = to.make(expr.code(), expr.dtype(), arguments, expr.payload());
    if (copied.id() != id || copied.payload() != expr.payload())
      throw InternalError("program: a copied pool numbers its expressions otherwise");
    if (from.forbids_contraction(expr)) to.forbid_contraction(copied);
    if (const ExprPool::SourceCall* meaning = from.source_call(expr)) {
      arguments.clear();
      for (auto& argument : meaning->arguments) arguments.emplace_back(&to, argument.id());
      to.annotate_call(copied, meaning->function, arguments);
    }
  }
}

}  // namespace

Program detached(const Program& program) {
  Program out = program;
  out.pool = std::make_shared<ExprPool>();
  copy_pool(*program.pool, *out.pool);
  const auto move = [&](Expr& expr) {
    if (expr.defined()) expr = Expr(out.pool.get(), expr.id());
  };
  for (auto& buffer : out.buffers)
    for (auto& length : buffer.shape) move(length);
  for (auto& [payload, function] : out.functions) {
    for (auto& parameter : function.parameters) move(parameter);
    move(function.body);
  }
  visit_steps(out.steps, [&](Step& step) {
    for_each_expr(step, move);
    for_each_definition(step, [&](Expr& var, Definition) { move(var); });
  });
  return out;
}

}  // namespace bitale::program

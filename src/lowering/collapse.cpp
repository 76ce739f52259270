// Collapsing: two loops over the rows and columns of C-contiguous arrays become one loop over their elements. Short
// rows then need no loop of their own, and vector code runs without interruption.
#include <algorithm>

#include "lowering/passes.hpp"
#include "program/rewrite.hpp"
#include "program/steps.hpp"

namespace bitale::lowering {

namespace {

using program::Code;
using program::Loop;
using program::Steps;

class Collapser {
 public:
  Collapser(Program& program, Declarations& declare, const Lengths& lengths)
      : program_(program), pool_(*program.pool), declare_(declare), lengths_(lengths) {}

  void run(Steps& steps) {
    for (auto& step : steps) {
      program::for_each_body(step, [&](Steps& body) { run(body); });  // recursion as deep as arrays have dimensions
      if (auto* loop = program::as_loop(step)) collapse(*loop);
    }
  }

 private:
  // Whether the expression is i * extent + j, the position of an element as draws of random numbers count it.
  bool is_position(Expr expr, Expr i, Expr j, Expr extent) const {
    if (expr.code() != Code::add || expr.dtype() != DType::Int64) return false;
    const auto terms = program::arguments_of(expr);
    for (std::size_t k = 0; k < 2; ++k) {
      if (!(terms[1 - k] == j) || terms[k].code() != Code::mul) continue;
      const auto factors = program::arguments_of(terms[k]);
      for (std::size_t m = 0; m < 2; ++m)
        if (factors[m] == i && lengths_.same(factors[1 - m], extent)) return true;
    }
    return false;
  }

  static bool is_in(const Steps& steps, Expr i, Expr j) {
    bool found = false;
    program::ExprWalk walk;
    for (auto& step : steps)
      program::for_each_expr(step, [&](Expr root) { walk(root, [&](Expr expr) { found |= expr == i || expr == j; }); });
    return found;
  }

  // The two indices must occur only together, in elements and their positions: then neither is left.
  void collapse(Loop& outer) {
    if (outer.body.size() != 1) return;
    auto* inner = program::as_loop(outer.body[0]);
    if (!inner || !inner->carries.empty() || inner->until.defined() || outer.until.defined()) return;
    if (program::contains(inner->extent, outer.index) || !std::ranges::all_of(inner->body, program::is_simple)) return;
    const Declarations::Mark before = declare_.mark();
    const Expr extent = outer.extent * inner->extent, flat = declare_.index("e", extent);
    Steps body = inner->body;
    flatten(body, outer.index, inner->index, inner->extent, flat);
    if (is_in(body, outer.index, inner->index)) return declare_.withdraw(before);
    outer.index = flat;
    outer.extent = extent;
    outer.body = std::move(body);
  }

  // [..., i, j] becomes [..., 0, e] if rows are as long as the inner loop, since arrays are C-contiguous.
  void flatten(Steps& steps, Expr i, Expr j, Expr row, Expr flat) {
    program::Substitution positions;
    program::ExprWalk walk;
    for (auto& step : steps)
      program::for_each_expr(step, [&](Expr& root) {
        walk(root, [&](Expr expr) {
          if (is_position(expr, i, j, row)) positions[expr.id()] = flat;
        });
      });
    if (!positions.empty()) program::substitute(steps, positions);
    program::move_elements(steps, [&](std::int64_t buffer, std::vector<Expr>& at) {
      const std::size_t n = at.size();
      if (n < 2 || !(at[n - 2] == i) || !(at[n - 1] == j)) return buffer;
      if (lengths_.same(program_.buffers[std::size_t(buffer)].shape[n - 1], row))
        at[n - 2] = pool_.integer(0), at[n - 1] = flat;
      return buffer;
    });
  }

  Program& program_;
  program::ExprPool& pool_;
  Declarations& declare_;
  const Lengths& lengths_;
};

}  // namespace

void collapse_loops(Program& program, Declarations& declare, const Lengths& lengths) {
  Collapser(program, declare, lengths).run(program.steps);
}

}  // namespace bitale::lowering

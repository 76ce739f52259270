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
using program::OneOf;
using program::Step;
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
  // Whether the multi-index is [..., i, j] of a buffer whose rows are as long as the inner loop.
  bool is_element(std::int64_t buffer, std::span<const Expr> at, const Loop& outer, const Loop& inner) const {
    const auto& shape = program_.buffers[std::size_t(buffer)].shape;
    const std::size_t n = at.size();
    return n >= 2 && at[n - 2] == outer.index && at[n - 1] == inner.index && lengths_.same(shape[n - 1], inner.extent);
  }

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

  // Whether the indices occur only together, in elements and their positions.
  bool fits(Step& step, const Loop& outer, const Loop& inner) const {
    bool all = true;
    const auto visit = [&](Expr expr) {
      if (expr == outer.index || expr == inner.index) all = false;
      if (is_position(expr, outer.index, inner.index, inner.extent)) return false;
      if (expr.code() != Code::load) return true;
      const auto at = program::arguments_of(expr);
      if (!is_element(expr.payload(), at, outer, inner)) return true;
      if (at.size() == 2) return false;
      for (std::size_t k = 0; k + 2 < at.size(); ++k)
        all &= !program::contains(at[k], outer.index) && !program::contains(at[k], inner.index);
      return false;
    };
    program::ExprWalk walk;
    const auto visit_element = [&](std::int64_t buffer, std::span<const Expr> at) {
      if (!is_element(buffer, at, outer, inner)) all = false;
      for (std::size_t k = 0; k + 2 < at.size(); ++k) walk(at[k], visit);
    };
    const bool may_fit = program::match(
        step,
        [&](const OneOf<program::Store, program::Accumulate> auto& s) {
          visit_element(s.buffer, s.at);
          walk(s.value, visit);
          return true;
        },
        [&](const program::Update& s) {
          walk(s.value, visit);
          if (s.position.defined()) walk(s.position, visit);
          return true;
        },
        [](const OneOf<program::Let, Loop, program::Allocate, program::Fill, program::Call, program::Check,
                       program::HostCall, program::Next, program::If> auto&) { return false; });
    return may_fit && all;
  }

  void collapse(Loop& outer) {
    if (outer.body.size() != 1) return;
    auto* inner = program::as_loop(outer.body[0]);
    if (!inner || !inner->carries.empty() || inner->until.defined() || outer.until.defined()) return;
    // The inner extent must not depend on the outer index.
    bool possible = !program::contains(inner->extent, outer.index);
    for (auto& step : inner->body) possible = possible && fits(step, outer, *inner);
    if (!possible) return;
    const Expr flat = declare_.index("e", outer.extent * inner->extent);
    Steps body = std::move(inner->body);
    flatten(body, outer.index, inner->index, inner->extent, flat);
    outer.index = flat;
    outer.extent = outer.extent * inner->extent;
    outer.body = std::move(body);
  }

  // [..., i, j] becomes [..., 0, e], since the array is C-contiguous.
  void flatten(Steps& steps, Expr i, Expr j, Expr row, Expr flat) {
    program::Substitution positions;
    program::ExprWalk walk;
    for (auto& step : steps)
      program::for_each_expr(step, [&](Expr& root) {
        walk(root, [&](Expr expr) {
          if (is_position(expr, i, j, row)) positions[expr.id()] = flat;
        });
      });
    program::substitute(steps, positions);
    program::move_elements(steps, [&](std::int64_t buffer, std::vector<Expr>& at) {
      const std::size_t n = at.size();
      if (n >= 2 && at[n - 2] == i && at[n - 1] == j) at[n - 2] = pool_.integer(0), at[n - 1] = flat;
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

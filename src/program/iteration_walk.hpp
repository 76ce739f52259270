// Visits the expressions that the iterations of a loop compute, each once. What all iterations have in common is
// computed once before the loop: of it, only the result is visited, which is no more than a constant is.
#pragma once

#include <type_traits>

#include "program/loop_nest.hpp"

namespace bitale::program {

class IterationWalk {
 public:
  explicit IterationWalk(const Loop& loop) {
    nest_.begin(loop);
    nest_.open(loop.index);
  }
  // `visit` may return false in order not to descend.
  template <class Visit>
  void operator()(Expr root, Visit&& visit) {
    walk_(root, [&](Expr expr) {
      bool descends = true;
      if constexpr (std::is_same_v<decltype(visit(expr)), bool>)
        descends = visit(expr);
      else
        visit(expr);
      return descends && expr.argument_count() != 0 && nest_.level_of(expr) != 0;
    });
  }

 private:
  LoopNest nest_;
  ExprWalk walk_;
};

}  // namespace bitale::program

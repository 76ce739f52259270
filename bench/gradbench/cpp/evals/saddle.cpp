// Where the largest value over y of a function of x and y is least over x: a descent within what a descent
// differentiates.
#include "../compiled.hpp"
#include "../descent.hpp"
#include "../evals.hpp"

namespace gradbench {

namespace bt = bitale;

Eval saddle() {
  const auto prepare = [](Derivative outer, Derivative inner, const Json& input) {
    const auto start_at = numbers_field(input, "start", 1);
    require_shape("start", start_at.shape, {2});
    Arguments arguments;
    const bt::Variable start = arguments("start", start_at);
    const auto f = [](const bt::Variable& x, const bt::Variable& y) {
      return bt::sum(bt::sqr(x)) - bt::sum(bt::sqr(y));
    };
    const auto highest = [&](const bt::Variable& x) {
      return descend([&](const bt::Variable& y) { return -f(x, y); }, inner, bt::disconnected_grad(start));
    };
    const bt::Variable x = descend([&](const bt::Variable& x) { return f(x, highest(x)); }, outer, start);
    return compiled(arguments, bt::concatenate({x, highest(x)}));
  };
  return {"saddle", with_modes(prepare)};
}

}  // namespace gradbench

// The squared distance of a polynomial from a step function, at n points between -1 and 1.
#include "../compiled.hpp"
#include "../evals.hpp"

namespace gradbench {

namespace bt = bitale;

Eval llsq() {
  const auto prepare = [](const Json& input, bool is_derivative) {
    Arguments arguments;
    const bt::Variable x = arguments("x", numbers_field(input, "x", 1));
    const bt::Variable n =
        arguments("n", bt::Array(count_field(input, "n")));  // no constant: powers are computed in each run
    const bt::Variable t = -1. + bt::arange(n) * 2. / (n - 1.);
    const bt::Variable is_factor = bt::arange(bt::shape_i(x, 0)) > 0;
    const bt::Variable powers = bt::cumprod(bt::where(is_factor, bt::expand_dims(t, 1), 1.), 1);
    const bt::Variable cost = 0.5 * bt::sum(bt::sqr(bt::sign(t) - bt::dot(powers, x)));
    return compiled(arguments, is_derivative ? bt::grad(cost, x) : cost);
  };
  return {"llsq",
          {{"primal", [=](const Json& input) { return prepare(input, false); }},
           {"gradient", [=](const Json& input) { return prepare(input, true); }}}};
}

}  // namespace gradbench

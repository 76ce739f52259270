// Runge and Kutta's method of order 4 for y0' = x0, yi' = xi y(i-1), from 0 to 2.
#include "../compiled.hpp"
#include "../evals.hpp"

namespace gradbench {

namespace bt = bitale;

Eval ode() {
  const auto prepare = [](const Json& input, bool is_derivative) {
    Arguments arguments;
    const bt::Variable x = arguments("x", numbers_field(input, "x", 1));
    const bt::Variable steps = arguments("s", bt::Array(count_field(input, "s"))), h = 2. / steps;
    if (x.static_shape()[0] < 1) throw InputError("`x` must have an element");
    const auto slope = [&](const bt::Variable& y) {
      return x * bt::concatenate({bt::ones({1}), bt::subtensor(y, {bt::Slice{{}, -1}})});
    };
    const auto step = [&](bt::Variable y) {
      const bt::Variable k1 = slope(y), k2 = slope(y + h / 2. * k1), k3 = slope(y + h / 2. * k2),
                         k4 = slope(y + h * k3);
      return y + h / 6. * (k1 + 2. * k2 + 2. * k3 + k4);
    };
    const bt::Variable y = bt::scan({.initial = {bt::zeros_like(x)}, .n_steps = steps}, step).finals[0];
    return compiled(arguments, is_derivative ? bt::grad(bt::subtensor(y, {-1}), x) : y);
  };
  return {"ode",
          {{"primal", [=](const Json& input) { return prepare(input, false); }},
           {"gradient", [=](const Json& input) { return prepare(input, true); }}}};
}

}  // namespace gradbench

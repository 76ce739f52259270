// The control for which a charged particle, moved by Euler's method in a potential that is differentiated in each step,
// meets the origin.
#include "../compiled.hpp"
#include "../descent.hpp"
#include "../evals.hpp"

namespace gradbench {

namespace bt = bitale;

namespace {

// Of two charges, of which the control moves the first.
bt::Variable potential(const bt::Variable& x, const bt::Variable& w) {
  const bt::Variable first = bt::stack({10., 10. - w}), second = bt::constant(bt::Array{10., 0.});
  const auto inverse_distance = [&](const bt::Variable& charge) { return 1. / bt::sqrt(bt::sum(bt::sqr(x - charge))); };
  return inverse_distance(first) + inverse_distance(second);
}

// The square of the place where the particle crosses the axis.
bt::Variable miss(const bt::Variable& w, Derivative derivative) {
  const double dt = 0.1;
  const auto step = [&](bt::Variable x, bt::Variable v) {
    const bt::Variable force = -derivative(potential(x, w), x), new_x = x + dt * v;
    const bt::Variable hits = bt::subtensor(new_x, {1}) <= 0;
    return bt::ScanStep({new_x, bt::where(hits, v, v + dt * force)}, hits);
  };
  const bt::Variables end =
      bt::scan({.initial = {bt::constant(bt::Array{0., 8.}), bt::constant(bt::Array{0.75, 0.})}, .n_steps = most_steps},
               step)
          .finals;
  const bt::Variable crossing = end[0] - bt::subtensor(end[0], {1}) / bt::subtensor(end[1], {1}) * end[1];
  return bt::sqr(bt::subtensor(crossing, {0}));
}

}  // namespace

Eval particle() {
  const auto prepare = [](Derivative outer, Derivative inner, const Json& input) {
    Arguments arguments;
    const bt::Variable start = arguments("w", bt::Array{number_field(input, "w")});
    const auto f = [&](const bt::Variable& w) { return miss(bt::subtensor(w, {0}), inner); };
    return compiled(arguments, bt::subtensor(descend(f, outer, start), {0}));
  };
  return {"particle", with_modes(prepare)};
}

}  // namespace gradbench

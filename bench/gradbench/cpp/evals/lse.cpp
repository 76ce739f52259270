// The logarithm of a sum of exponentials, from its largest term on.
#include "../compiled.hpp"
#include "../evals.hpp"

namespace gradbench {

namespace bt = bitale;

Eval lse() {
  const auto prepare = [](const Json& input, bool is_derivative) {
    Arguments arguments;
    const bt::Variable x = arguments("x", numbers_field(input, "x", 1)), largest = bt::max(x);
    const bt::Variable value = largest + bt::log(bt::sum(bt::exp(x - largest)));
    return compiled(arguments, is_derivative ? bt::grad(value, x) : value);
  };
  return {"lse",
          {{"primal", [=](const Json& input) { return prepare(input, false); }},
           {"gradient", [=](const Json& input) { return prepare(input, true); }}}};
}

}  // namespace gradbench

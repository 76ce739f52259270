// The square of a number, and its derivative.
#include "../compiled.hpp"
#include "../evals.hpp"

namespace gradbench {

namespace bt = bitale;

Eval hello() {
  const auto prepare = [](const Json& input, bool is_derivative) {
    if (!input.is_number()) throw InputError("expected a number as input");
    Arguments arguments;
    const bt::Variable x = arguments("x", bt::Array(input.get<double>())), square = x * x;
    return compiled(arguments, is_derivative ? bt::grad(square, x) : square);
  };
  return {"hello",
          {{"square", [=](const Json& input) { return prepare(input, false); }},
           {"double", [=](const Json& input) { return prepare(input, true); }}}};
}

}  // namespace gradbench

// What the evals ask of a library of overloaded operators: a `Tape` records a function once, with its inputs as
// independents, and is evaluated at other inputs.
//
//   Scalar                       the type that is recorded; fmin and fmax record which of two numbers is taken
//   Tape(function, x)            records `function`, from a vector of scalars to one, at x
//   gradient(x, out)             of one result
//   curvature(x, v, out)         of one result: for each input the derivative, and the product of the Hessian with v
//   jacobian(x, out)             a row for each result
//   pushforward(x, v, n, out)    n tangents at once: v has a row of n for each input, out for each result
#pragma once

#include <memory>

#include "../cpp/inputs.hpp"

namespace gradbench {

using Values = std::vector<double>;

// The gradient of function(x), nested like `shape`.
template <class Tape, class Function>
Prepared gradient_of(Function function, const Values& x, const std::vector<std::int64_t>& shape) {
  using Scalars = std::vector<typename Tape::Scalar>;
  const auto tape = std::make_shared<Tape>([=](const Scalars& s) { return Scalars{function(s)}; }, x);
  const auto slopes = std::make_shared<Values>(x.size());
  return {[=] { tape->gradient(x, *slopes); }, [=] { return nested(slopes->data(), shape); }};
}

}  // namespace gradbench

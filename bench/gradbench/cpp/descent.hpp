// Gradient descent as an expression, and the two ways in which derivatives within it are taken. Evals differentiate
// what a descent finds.
#pragma once

#include <bitale/bitale.hpp>
#include <functional>
#include <vector>

#include "protocol.hpp"

namespace gradbench {

using Scalar = std::function<bitale::Variable(const bitale::Variable& x)>;
// The derivative of a scalar by a vector of known length.
using Derivative = bitale::Variable (*)(const bitale::Variable& value, const bitale::Variable& x);

bitale::Variable reverse(const bitale::Variable& value, const bitale::Variable& x);  // one pullback
bitale::Variable forward(const bitale::Variable& value, const bitale::Variable& x);  // a pushforward for each element

inline constexpr std::int64_t most_steps = 1000;  // of the loops of evals, which make fewer

// Where f is least, from `start` on, with steps that double after ten good ones and halve after a bad one.
bitale::Variable descend(const Scalar& f, Derivative derivative, const bitale::Variable& start);

// The four functions of an eval with an outer and an inner derivative: ff, fr, rf, rr.
std::vector<EvalFunction> with_modes(
    const std::function<Prepared(Derivative outer, Derivative inner, const Json& input)>& prepare);

}  // namespace gradbench

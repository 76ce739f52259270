// odeint: the solution of a system of ordinary differential equations at given times, as an expression. Steps have the
// length that an estimate of their error allows; the loop that makes them is native code, with f in it.
//
//   Variable y = integrate::odeint([&](Variable y, Variable t) { return -rate * y; }, y0, times);
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "bitale/ops/linalg.hpp"
#include "bitale/ops/operand.hpp"

namespace bitale::integrate {

// dy/dt as an expression of y and t, of y's shape and dtype. Called once; it may use any variable of its environment.
using OdeFunction = std::function<Variable(const Variable& y, const Variable& t)>;

// Dopri5: the pair of orders 5 and 4 of Dormand and Prince (1980), whose steps are those of SciPy's RK45. Rodas4: for
// stiff systems, the Rosenbrock method of order 4 of Hairer and Wanner (1996), with f's Jacobian.
enum class OdeMethod { Dopri5, Rodas4 };
OdeMethod parse_ode_method(std::string_view text);  // "dopri5", "rodas4"; ValueError

// How gradients are computed. Adjoint: back through the accepted steps, which are made again. Forward: the derivatives
// of y with respect to all parameters and y0 are propagated along the steps; faster for few of these, and stores
// nothing.
enum class OdeSensitivity { Adjoint, Forward };
OdeSensitivity parse_ode_sensitivity(std::string_view text);  // "adjoint", "forward"; ValueError

struct OdeOptions {
  // A step is accepted if the root mean square of error / (atol + rtol |y|) is at most 1, with the larger |y| of both
  // ends of the step. Scalars, or arrays that broadcast with y. None: the square root of the machine epsilon.
  std::optional<Operand> rtol = {}, atol = {};
  std::int64_t max_steps = 10000;  // attempts from one time to the next
  OdeMethod method = OdeMethod::Dopri5;
  OdeSensitivity sensitivity = OdeSensitivity::Adjoint;
  // What happens where a solution is not found, because max_steps are not enough or the length of steps goes to 0:
  // Raise: an ArithmeticError when the function is called. Nan: the values from there on are nan, as are gradients.
  OnError on_error = OnError::Raise;
};

// y at the times `t`, a vector that does not decrease, where y is y0 at the first: shape of t, then that of y0. Steps
// end at each of the times. Differentiable with respect to y0, t and every variable that f uses. Reverse mode is the
// adjoint of the accepted steps, with their lengths as constants; it makes the steps between two times again.
// ValueError: times that decrease (now if they are constant, else when the function is called), a negative tolerance,
// fewer than 1 steps. ShapeError, TypeError: a derivative that has another shape or dtype than y0, a complex y0.
Variable odeint(const OdeFunction& f, const Operand& y0, const Operand& t, const OdeOptions& options = {});

}  // namespace bitale::integrate

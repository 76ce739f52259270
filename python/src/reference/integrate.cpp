// Solutions of differential equations, as the reference describes them.
#include "reference/reference.hpp"

namespace bitale::python {

// clang-format off
static const RegisterDescriptions solutions(R"doc(
= odeint
Solve a system of ordinary differential equations.
Steps end at each of the times, and have the length that an estimate of their error allows. They are a native loop.
func: Builds the derivative by t from y, t and `args`: an expression, or a list of them, of the shape and dtype of y. It is called once, with symbolic values, and may use any variables.
y0: State at the first time, of any shape.
t: Vector of times that do not decrease; the first is that of `y0`.
args (tensor_like): Further arguments of `func`.
rtol: Relative tolerance; by default the square root of the machine epsilon.
atol: Absolute tolerance, a number or an array like y; by default the square root of the machine epsilon.
max_steps: Number of attempted steps that are allowed from one time to the next.
method ({'dopri5', 'rodas4'}): Dormand and Prince's pair of orders 5 and 4; or, for stiff systems, the Rosenbrock method of order 4 of Hairer and Wanner, which uses the Jacobian of `func`.
sensitivity ({'adjoint', 'forward'}): How gradients are computed: back through the steps, or by the derivatives of y by all parameters, which are propagated with it.
on_error ({'raise', 'nan'}): What happens where no solution is found: an error, or nan from there on.
-> State at each time: the shape of `t`, then that of `y0`.
! ValueError: if times decrease, or a tolerance is negative.
! ShapeError, TypeError: if the derivative has another shape or dtype than `y0`.
! ArithmeticError: when the function is called, if `max_steps` are not enough or the length of steps goes to 0.
~ scan, while_loop
* A step is accepted where the root mean square of ``error / (atol + rtol * abs(y))`` is at most 1, as in scipy.integrate.solve_ivp; so the default tolerances are those of scipy.integrate.odeint.
* Gradients are those of the steps that were made, with their lengths as constants.
)doc");
// clang-format on

}  // namespace bitale::python

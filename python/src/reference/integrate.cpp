// Solutions of differential equations, as the reference describes them.
#include "reference/reference.hpp"

namespace bitale::python {

// clang-format off
static const RegisterDescriptions solutions(R"doc(
= odeint
Solve a system of ordinary differential equations.
Steps end at each of the times, and their length is controlled by an error estimate. They run as a native loop.
func: Builds the derivative by t from y, t and `args`: an expression, or a list of them, of the shape and dtype of y. It is called once, with symbolic values, and may use any variables.
y0: State at the first time, of any shape.
t: Vector of nondecreasing times; the first is the time of `y0`.
args (tensor_like): Further arguments of `func`.
rtol: Relative tolerance; by default the square root of the machine epsilon.
atol: Absolute tolerance, a number or an array like y; by default the square root of the machine epsilon.
max_steps: Maximum number of attempted steps from one time to the next.
method ({'dopri5', 'rodas4'}): Dormand and Prince's pair of orders 5 and 4; or, for stiff systems, the Rosenbrock method of order 4 of Hairer and Wanner, which uses the Jacobian of `func`.
sensitivity ({'adjoint', 'forward'}): How gradients are computed: back through the steps, or from the derivatives of y with respect to all parameters, which are propagated with it.
on_error ({'raise', 'nan'}): What to do if no solution is found: raise an error, or return nan from there on.
-> State at each time: the shape of `t`, then that of `y0`.
! ValueError: if times decrease, or a tolerance is negative.
! ShapeError, TypeError: if the shape or dtype of the derivative differs from that of `y0`.
! ArithmeticError: when the function is called, if `max_steps` are not enough or the length of steps goes to 0.
~ scan, while_loop
* A step is accepted if the root mean square of ``error / (atol + rtol * abs(y))`` is at most 1, as in scipy.integrate.solve_ivp; the default tolerances are those of scipy.integrate.odeint.
* Gradients are those of the steps taken, with their lengths as constants.
)doc");
// clang-format on

}  // namespace bitale::python

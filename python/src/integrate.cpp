// Solutions of differential equations, for bitale.integrate.
#include "integrate.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

#include "arguments.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/integrate/odeint.hpp"
#include "define.hpp"

namespace bitale::python {

namespace {

OnError parse_on_error(const std::string& text) {
  if (text == "raise") return OnError::Raise;
  if (text == "nan") return OnError::Nan;
  throw ValueError(cat("odeint: on_error: expected \"raise\" or \"nan\", got \"", text, "\""));
}

}  // namespace

void bind_integrate(nb::module_& m) {
  add_function(
      m, "odeint",
      [](nb::callable func, const Like& y0, const Like& t, nb::args args, const Any& rtol, const Any& atol,
         std::int64_t max_steps, const std::string& method, const std::string& sensitivity,
         const std::string& on_error) {
        integrate::OdeOptions options;
        options.rtol = optional_operand(rtol);
        options.atol = optional_operand(atol);
        options.max_steps = max_steps;
        options.method = integrate::parse_ode_method(method);
        options.sensitivity = integrate::parse_ode_sensitivity(sensitivity);
        options.on_error = parse_on_error(on_error);
        return integrate::odeint(
            [&](const Variable& y, const Variable& time) { return as_variable(func(wrap(y), wrap(time), *args)); },
            as_variable(y0), as_variable(t), options);
      },
      nb::call_guard<AtCaller>(), "func"_a, "y0"_a, "t"_a, "args"_a, "rtol"_a = nb::none(), "atol"_a = nb::none(),
      "max_steps"_a = 10000, "method"_a = "dopri5", "sensitivity"_a = "adjoint", "on_error"_a = "raise",
      nb::sig("def odeint(func: collections.abc.Callable[..., typing.Any], y0: TensorVariable | "
              "numpy.typing.ArrayLike, t: TensorVariable | numpy.typing.ArrayLike, *args: typing.Any, "
              "rtol: TensorVariable | numpy.typing.ArrayLike | None = None, "
              "atol: TensorVariable | numpy.typing.ArrayLike | None = None, max_steps: int = 10000, "
              "method: str = 'dopri5', sensitivity: str = 'adjoint', on_error: str = 'raise') -> TensorVariable"),
      R"(>>> y = bt.integrate.odeint(lambda y, t: -y, 1.0, [0.0, 1.0, 2.0])
>>> y.eval().round(6)
array([1.      , 0.367879, 0.135335]))");
}

}  // namespace bitale::python

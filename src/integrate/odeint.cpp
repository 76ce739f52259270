#include "bitale/integrate/odeint.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <memory>

#include "bitale/core/config.hpp"
#include "bitale/core/error.hpp"
#include "bitale/core/text.hpp"
#include "bitale/graph/test_value.hpp"
#include "bitale/ops/debugging.hpp"
#include "core/call_scope.hpp"
#include "core/float_limits.hpp"
#include "graph/literal.hpp"
#include "integrate/derivatives.hpp"
#include "integrate/expressions.hpp"
#include "integrate/solver.hpp"
#include "ops/analysis/lengths.hpp"
#include "ops/control/inner_graph_queries.hpp"

namespace bitale::integrate {

namespace {

Variable as_state(const Variable& y0) {
  if (!as_tensor(y0.type())) throw TypeError(cat("odeint: y0: expected a tensor, got ", y0.type()->str()));
  if (is_complex(y0.dtype()) || is_storage_format(y0.dtype()))
    throw NotImplementedError(cat("odeint: y0 has the dtype ", dtype_name(y0.dtype()), ": expected float32 or float64",
                                  is_complex(y0.dtype()) ? "; solve for the real and the imaginary part" : ""));
  return is_discrete(y0.dtype()) || is_literal(y0) ? cast(y0, config::float_x()) : y0;
}

Variable as_times(const Variable& t, DType dtype) {
  if (!as_tensor(t.type()) || t.ndim() != 1)
    throw ShapeError(
        cat("odeint: t: expected a vector of times, the first of which is that of y0, got ", t.type()->str()));
  if (is_complex(t.dtype())) throw TypeError(cat("odeint: t: expected real times, got ", t.type()->str()));
  constexpr const char* message = "odeint: t: expected times that do not decrease";
  const Variable in_order = all(ge(rows_of(t, 1), rows_of(t, {}, -1)));
  if (const Array* values = t.constant()) {
    for (std::int64_t i = 1; i < values->shape()[0]; ++i)
      if (!(values->at(std::array{i - 1}) <= values->at(std::array{i}))) throw ValueError(message);
    return cast(t, dtype);
  }
  return cast(check_and_raise(t, {in_order}, "ValueError", message), dtype);
}

Variable as_tolerance(const std::optional<Operand>& given, const char* name, DType dtype, double least) {
  const double epsilon = machine_epsilon(dtype);
  if (!given) return cast(std::sqrt(epsilon), dtype);
  const Variable& x = given->variable;
  const std::string message = cat("odeint: ", name, ": expected 0 or more");
  if (!as_tensor(x.type()) || is_complex(x.dtype()))
    throw TypeError(cat("odeint: ", name, ": expected a real number, got ", x.type()->str()));
  const Variable checked = check_and_raise(x, {all(ge(x, 0))}, "ValueError", message);
  return least > 0 ? maximum(cast(checked, dtype), cast(least * epsilon, dtype)) : cast(checked, dtype);
}

// y0, checked to have the shape that the derivative has.
Variable with_shape_of_slope(const OdeSystem& system, const Variable& y0, const Variable& t) {
  const Variable slope = system.slope(y0, t);
  std::vector<Operand> conditions;
  for (int axis = 0; axis < y0.ndim(); ++axis)
    if (const Variable own = length_of(y0, axis), other = length_of(slope, axis); !is_same_length(own, other))
      conditions.emplace_back(eq(own, other));
  if (conditions.empty()) return y0;
  return check_and_raise(y0, conditions, "ShapeError", "odeint: the derivative has another shape than y0");
}

}  // namespace

OdeMethod parse_ode_method(std::string_view text) {
  if (text == "dopri5") return OdeMethod::Dopri5;
  if (text == "rodas4") return OdeMethod::Rodas4;
  throw ValueError(cat("odeint: method: expected \"dopri5\" or \"rodas4\", got \"", text, "\""));
}

OdeSensitivity parse_ode_sensitivity(std::string_view text) {
  if (text == "adjoint") return OdeSensitivity::Adjoint;
  if (text == "forward") return OdeSensitivity::Forward;
  throw ValueError(cat("odeint: sensitivity: expected \"adjoint\" or \"forward\", got \"", text, "\""));
}

const StepMethod& step_method(OdeMethod method) { return method == OdeMethod::Dopri5 ? dopri5() : rodas4(); }

Variable odeint(const OdeFunction& f, const Operand& y0, const Operand& t, const OdeOptions& options) {
  const LocationScope here(y0.where);
  const CallScope call("odeint");
  if (options.max_steps < 1) throw ValueError(cat("odeint: max_steps is ", options.max_steps, ": expected 1 or more"));
  const Variable start = as_state(y0.variable);
  const DType dtype = start.dtype();
  const auto system = std::make_shared<const OdeSystem>(f, start);
  const StepMethod& method = step_method(options.method);
  const TestValuesOff none_are_known;

  // The op's graph, over leaves.
  Variables outer{filtered(start, system->type(), "odeint: y0"), as_times(t.variable, dtype),
                  as_tolerance(options.rtol, "rtol", dtype, 100), as_tolerance(options.atol, "atol", dtype, 0)};
  Variables inputs;
  for (auto& each : outer) inputs.emplace_back(each.type(), each.name());
  outer.insert(outer.end(), system->values().begin(), system->values().end());
  inputs.insert(inputs.end(), system->parameters().begin(), system->parameters().end());
  const Problem problem{*system, method, inputs[2], inputs[3]};
  const Variable begin = sum(rows_of(inputs[1], {}, 1));
  const Solution solution =
      solve(problem, with_shape_of_slope(*system, inputs[0], begin), inputs[1], int64_constant(options.max_steps));
  Variables outputs{solution.states, solution.lengths, solution.attempts};
  if (options.on_error == OnError::Nan) {
    Variable factor =
        switch_(solution.is_reached, like(inputs[0], 1), like(inputs[0], std::numeric_limits<double>::quiet_NaN()));
    factor = concatenate({rows_of(ones_like(inputs[1]), {}, 1), factor});
    while (factor.ndim() < outputs[0].ndim()) factor = expand_dims(factor, -1);
    outputs[0] = outputs[0] * factor;
  } else {
    for (Variable& output : outputs) {
      output = check_and_raise(
          output, {logical_not(any(solution.is_stuck))}, "ArithmeticError",
          "odeint: the length of the steps went to 0: the solution grows beyond all bounds, the derivative is nan, or "
          "the tolerances are smaller than what rounding allows; on_error=\"nan\" gives nan from there on");
      output = check_and_raise(output, {all(solution.is_reached)}, "ArithmeticError",
                               cat("odeint: ", options.max_steps,
                                   " steps (max_steps) from one time to the next are not enough for these "
                                   "tolerances; on_error=\"nan\" gives nan from there on"));
    }
  }
  const OpRef op =
      op_from_graph(inputs, outputs,
                    {.name = "odeint",
                     .pullback = options.sensitivity == OdeSensitivity::Adjoint ? adjoint_of_steps(system, method)
                                                                                : forward_sensitivities(system, method),
                     .pushforward = tangents_of_steps(system, inputs, outputs[0])});
  return apply_op(op, outer)[0];
}

}  // namespace bitale::integrate

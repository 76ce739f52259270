"""PyMC's solutions of ordinary differential equations, as solutions by `bitale.integrate`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytensor.tensor as pytensor_tensor
from pymc.ode import DifferentialEquation
from pytensor.graph.fg import FunctionGraph

import bitale as bt
import bitale.tensor as pt
from bitale.integrate import odeint
from bitale.pytensor.conversion import Conversion, with_conversion
from bitale.pytensor.registry import NotConverted, converts


def _slope(op: Any) -> FunctionGraph:
    """Of the state, the time and the parameters: the derivative of the state, as the op's function builds it."""
    inputs = [
        pytensor_tensor.vector("y", dtype="float64", shape=(op.n_states,)),
        pytensor_tensor.scalar("t", dtype="float64"),
        pytensor_tensor.vector("p", dtype="float64", shape=(op.n_theta,)),
    ]
    found = op.func(*inputs)
    slope = (
        pytensor_tensor.stack(found, axis=0)
        if isinstance(found, (list, tuple))
        else pytensor_tensor.atleast_1d(found)
    )
    return FunctionGraph(inputs, [slope.astype("float64")], clone=False)


@converts(DifferentialEquation)
@with_conversion
def _solution(conversion: Conversion, op: Any, node: Any, y0: Any, theta: Any) -> list[Any]:
    """SciPy's solver, which PyMC calls, changes by itself to a method for stiff systems: here, all are solved by such a method. Tolerances are those
    of SciPy. Sensitivities are the derivatives of the solution."""
    times = np.array([op.t0, *op.times], dtype="float64")
    if (np.diff(times) < 0).any():
        raise NotConverted("its times decrease")
    dtype = node.outputs[0].type.dtype
    start, parameters = (
        x.astype("float64")
        for x in (pt.specify_shape(y0, (op.n_states,)), pt.specify_shape(theta, (op.n_theta,)))
    )
    slope = _slope(op)

    def func(y: Any, t: Any) -> Any:
        return conversion.inner(slope, [y, t, parameters])[0]

    states = odeint(func, start, times, method="rodas4", sensitivity="forward", on_error="nan")[1:]
    by = bt.jacobian(states.ravel(), [start, parameters], disconnected_inputs="ignore")
    sensitivities = pt.concatenate(list(by), axis=1).reshape((op.n_times, op.n_states, op.n_p))
    return [states.astype(dtype), sensitivities.astype(dtype)]

"""Log density, gradient and forward draws of a model in a mode of PyTensor, and points at which to compare them."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
from pytensor.compile.mode import Mode
from pytensor.graph.replace import graph_replace

ORACLE = Mode("py", "fast_compile")
as_op = getattr(pytensor, "wrap_py", None) or pytensor.compile.ops.as_op  # the name in PyTensor 2


def density_graph(model: pm.Model) -> tuple[Any, list[Any]]:
    """A vector of all free values, of known length as PyMC's own; the log density as a function of it, and its gradient if the model has one."""
    values = model.value_vars
    logp = model.logp(jacobian=True)
    point = model.initial_point()
    vector = pt.dvector("point", shape=(sum(np.size(point[v.name]) for v in values),))
    parts, begin = {}, 0
    for v in values:
        shape = np.shape(point[v.name])
        size = int(np.prod(shape, dtype=int))
        parts[v] = vector[begin : begin + size].reshape(shape).astype(v.dtype)
        begin += size
    outputs = [logp]
    try:
        gradients = pytensor.grad(logp, [v for v in values if v.dtype.startswith("float")])
        outputs.append(pt.concatenate([g.ravel() for g in gradients]))
    except (NotImplementedError, pytensor.gradient.NullTypeGradError):
        pass
    return vector, graph_replace(outputs, parts, strict=False)


def points(model: pm.Model) -> list[np.ndarray]:
    """The initial point, seven points around it, and two far away, where densities are -inf or nearly so."""
    start = np.concatenate(
        [np.ravel(v).astype(float) for v in model.initial_point(random_seed=1).values()]
    )
    rng = np.random.default_rng(7)
    near = [start + rng.normal(0, scale, start.size) for scale in np.linspace(0.1, 1.5, 7)]
    return [start, *near, start + rng.normal(0, 30, start.size), start - 800.0]


def assert_equal_densities(
    found: list[np.ndarray],
    expected: list[np.ndarray],
    exact: Callable[[], list[Any]],
    rtol: float = 1e-9,
) -> None:
    """Asserts that log density and gradient agree with PyTensor's, or else with the exact values that `exact` computes.

    Neither implementation finds the exact value if an intermediate one, such as the exponential of a log scale, exceeds
    the range of a double: the log density is then -inf. The gradient is compared only if the log density is finite.
    """
    density, theirs = found[0], expected[0]
    if not _is_near(density, theirs, rtol):
        true = _double(exact()[0])
        # With 60 digits 1 - exp(-x) rounds to 1 for x > 138, so that the exact evaluation may give -inf for a finite
        # density.
        if np.isneginf(true) and density < -138:
            return
        assert _is_near(density, true, rtol), f"{density}, PyTensor {theirs}, exact {true}"
    if not np.isfinite(density):
        assert np.isneginf(density) or np.isnan(theirs)
        return
    for ours, gradient in zip(found[1:], expected[1:]):
        # The components of a sum with cancellation have the absolute error of its terms.
        floor = 1e-14 * np.abs(gradient[np.isfinite(gradient)]).max(initial=0.0)
        if not all(_is_near(a, b, rtol, floor) for a, b in zip(ours, gradient)):
            true = [_double(x) for x in exact()[1]]
            assert all(_is_near(a, b, rtol, floor) for a, b in zip(ours, true)), (
                f"{ours}, PyTensor {gradient}, exact {true}"
            )


def _is_near(a: Any, b: Any, rtol: float, floor: float = 0.0) -> bool:
    return (
        a == b
        or (np.isnan(a) and np.isnan(b))
        or (np.isfinite(b) and abs(a - b) <= rtol * abs(b) + floor)
    )


def _double(x: Any) -> float:
    return float(np.asarray(x, dtype=object).item())

"""Log density, gradient and forward draw of a model, by a mode of PyTensor; and points at which to compare them."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
from pytensor.compile.mode import Mode
from pytensor.graph.replace import graph_replace

ORACLE = Mode("py", "fast_compile")
as_op = getattr(pytensor, "wrap_py", None) or pytensor.compile.ops.as_op  # PyTensor 2 has the older name


def density_graph(model: pm.Model) -> tuple[Any, list[Any]]:
    """A vector of all free values; the log density as a function of it, and its gradient where the model has one."""
    values = model.value_vars
    logp = model.logp(jacobian=True)
    point = model.initial_point()
    vector = pt.dvector("point")
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
    """The initial point, seven around it, and two far away, where densities are -inf or nearly so."""
    start = np.concatenate([np.ravel(v).astype(float) for v in model.initial_point(random_seed=1).values()])
    rng = np.random.default_rng(7)
    near = [start + rng.normal(0, scale, start.size) for scale in np.linspace(0.1, 1.5, 7)]
    return [start, *near, start + rng.normal(0, 30, start.size), start - 800.0]


def assert_equal_densities(found: list[np.ndarray], expected: list[np.ndarray], exact: Callable[[], list[Any]], rtol: float = 1e-9) -> None:
    """Log density and gradient are PyTensor's, or else nearer to the exact values, which `exact` computes.

    Neither has the exact value where a part of it, such as the exponential of a log scale, is no double: the log density is then -inf.
    The gradient is compared where the log density is finite.
    """
    density, theirs = found[0], expected[0]
    if not _is_near(density, theirs, rtol):
        true = _double(exact()[0])
        # Sixty digits hold no 1 - exp(-x) for x beyond 138, and so no logarithm of it: theirs is -inf, where a finite value is right.
        if np.isneginf(true) and density < -138:
            return
        assert _is_near(density, true, rtol), f"{density}, PyTensor {theirs}, exact {true}"
    if not np.isfinite(density):
        assert np.isneginf(density) or np.isnan(theirs)
        return
    for ours, gradient in zip(found[1:], expected[1:]):
        # A component that is a sum of terms which cancel has the error of these terms.
        floor = 1e-14 * np.abs(gradient[np.isfinite(gradient)]).max(initial=0.0)
        if not all(_is_near(a, b, rtol, floor) for a, b in zip(ours, gradient)):
            true = [_double(x) for x in exact()[1]]
            assert all(_is_near(a, b, rtol, floor) for a, b in zip(ours, true)), f"{ours}, PyTensor {gradient}, exact {true}"


def _is_near(a: Any, b: Any, rtol: float, floor: float = 0.0) -> bool:
    return a == b or (np.isnan(a) and np.isnan(b)) or (np.isfinite(b) and abs(a - b) <= rtol * abs(b) + floor)


def _double(x: Any) -> float:
    return float(np.asarray(x, dtype=object).item())

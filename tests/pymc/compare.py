"""Log density, gradient and forward draw of a model, by a mode of PyTensor; and points at which to compare them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
from pytensor.compile.mode import Mode
from pytensor.graph.replace import graph_replace

ORACLE = Mode("py", "fast_compile")


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


def assert_equal_densities(found: list[np.ndarray], expected: list[np.ndarray], rtol: float) -> None:
    """Log densities are equal, and so are gradients where the log density is finite.

    Where PyTensor takes the logarithm of a number that has underflowed, or multiplies 0 by infinity, Bitale may know the true value.
    """
    density = expected[0]
    if np.isneginf(density) and np.isfinite(found[0]):
        assert found[0] < -700
        return
    if np.isnan(density):
        assert np.isnan(found[0]) or np.isneginf(found[0])
        return
    np.testing.assert_allclose(found[0], density, rtol=rtol)
    for gradient, true in zip(found[1:], expected[1:]):
        finite = np.isfinite(true) & bool(np.isfinite(density))
        largest = np.abs(true[finite]).max(initial=0.0)  # what is far below all others may lose its digits
        np.testing.assert_allclose(gradient[finite], true[finite], rtol=rtol, atol=rtol * 1e-3 * largest)

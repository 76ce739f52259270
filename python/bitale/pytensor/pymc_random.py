"""Random variables that PyMC adds to PyTensor's, whose samplers are SciPy's or its own: the same draws, as expressions of NumPy's.

They are known by their names, since PyTensor may be there without PyMC. What else PyMC has is called back: `Flat`, `HalfFlat` and `ICAR`, which refuse to
draw; `PolyaGamma`, which another package draws; and what users write in Python.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import bitale.tensor as pt
from bitale import raise_op
from bitale.pytensor.random import drawn, draws, in_domain
from bitale.pytensor.registry import NotConverted

_CONTINUOUS, _MULTIVARIATE = "pymc.distributions.continuous.", "pymc.distributions.multivariate."


def _size(size: Any, *parameters: Any) -> Any:
    """The lengths of a draw that is made without its parameters."""
    return pt.broadcast_shape(*parameters) if size is None else size


def _floats(*parameters: Any) -> list[Any]:
    return [pt.cast(x, "float64") for x in parameters]


@draws(_CONTINUOUS + "WaldRV")
def _shifted_wald(op: Any, mean: Any, scale: Any, shift: Any, rng: Any, size: Any) -> Any:
    following, draw = drawn("wald", rng, [mean, scale], size)
    return following, draw + shift


@draws("pymc.distributions.discrete.DiscreteUniformRV")
def _discrete_uniform(op: Any, lower: Any, upper: Any, rng: Any, size: Any) -> Any:
    return drawn("integers", rng, [pt.cast(lower, "int64"), pt.cast(upper, "int64") + 1], size)


@draws(_CONTINUOUS + "BetaClippedRV")
def _clipped_beta(op: Any, alpha: Any, beta: Any, rng: Any, size: Any) -> Any:
    following, draw = drawn("beta", rng, [alpha, beta], size)
    return following, pt.clip(draw, np.nextafter(0, 1), np.nextafter(1, 0))


@draws(_CONTINUOUS + "TruncatedNormalRV")
def _truncated_normal(
    op: Any, mu: Any, sigma: Any, lower: Any, upper: Any, rng: Any, size: Any
) -> Any:
    """By the inverse of the distribution function, in logarithms and from the nearer tail."""
    mu, sigma, lower, upper = _floats(mu, sigma, lower, upper)
    following, u = drawn("uniform", rng, [0.0, 1.0], _size(size, mu, sigma, lower, upper))
    a, b = (lower - mu) / sigma, (upper - mu) / sigma
    u = in_domain(u, pt.lt(a, b), pt.ge(sigma, 0))
    is_right = pt.ge(a, 0)
    low, high = pt.switch(is_right, -b, a), pt.switch(is_right, -a, b)
    of_low, of_high = pt.switch(is_right, u, 1 - u), pt.switch(is_right, pt.log1p(-u), pt.log(u))
    z = pt.ndtri_exp(
        pt.minimum(
            pt.logaddexp(pt.log_ndtr(low) + pt.log(of_low), pt.log_ndtr(high) + of_high), 0.0
        )
    )
    return following, pt.switch(is_right, -z, z) * sigma + mu


@draws(_CONTINUOUS + "SkewNormalRV")
def _skew_normal(op: Any, mu: Any, sigma: Any, alpha: Any, rng: Any, size: Any) -> Any:
    mu, sigma, alpha = _floats(mu, sigma, alpha)
    size = _size(size, mu, sigma, alpha)
    following, u = drawn("standard_normal", rng, [], size)
    following, v = drawn("standard_normal", following, [], size)
    alpha = in_domain(alpha, pt.lt(pt.abs(alpha), np.inf), pt.ge(sigma, 0))
    d = alpha / pt.sqrt(1 + alpha**2)
    w = d * u + v * pt.sqrt(1 - d**2)
    return following, pt.switch(pt.ge(u, 0), w, -w) * sigma + mu


@draws(_CONTINUOUS + "SkewStudentTRV")
def _skew_student_t(op: Any, a: Any, b: Any, mu: Any, sigma: Any, rng: Any, size: Any) -> Any:
    a, b, mu, sigma = _floats(a, b, mu, sigma)
    a = in_domain(a, pt.gt(a, 0), pt.gt(b, 0), pt.ge(sigma, 0))
    following, u = drawn("beta", rng, [a, b], _size(size, a, b, mu, sigma))
    return following, (2 * u - 1) * pt.sqrt(a + b) / (2 * pt.sqrt(u * (1 - u))) * sigma + mu


@draws(_CONTINUOUS + "RiceRV")
def _rice(op: Any, b: Any, sigma: Any, rng: Any, size: Any) -> Any:
    b, sigma = _floats(b, sigma)
    following, z = drawn("standard_normal", rng, [], [2, *_size(size, b, sigma)])
    b = in_domain(b, pt.ge(b, 0), pt.ge(sigma, 0))
    return following, pt.sqrt(pt.sqr(b / np.sqrt(2) + z).sum(axis=0)) * sigma


@draws(_CONTINUOUS + "MoyalRV")
def _moyal(op: Any, mu: Any, sigma: Any, rng: Any, size: Any) -> Any:
    mu, sigma = _floats(mu, sigma)
    following, u = drawn("gamma", rng, [0.5, 2.0], _size(size, mu, sigma))
    return following, -pt.log(u) * in_domain(sigma, pt.ge(sigma, 0)) + mu


@draws(_CONTINUOUS + "InterpolatedRV")
def _interpolated(op: Any, x: Any, pdf: Any, cdf: Any, rng: Any, size: Any) -> Any:
    """The inverse of a piecewise quadratic distribution function."""
    if any(length != 1 for points in (x, pdf, cdf) for length in points.type.shape[:-1]):
        raise NotConverted("a batch of densities")
    x, pdf, cdf = (points.reshape((-1,)) for points in (x, pdf, cdf))
    following, p = drawn("uniform", rng, [0.0, 1.0], size or [])
    i = pt.searchsorted(cdf, p) - 1
    density, rest = pdf[i], p - cdf[i]
    slope = (pdf[i + 1] - density) / (x[i + 1] - x[i])
    flat = pt.switch(pt.le(pt.abs(density), 1e-8), 0.0, rest / density)
    steep = (-density + pt.sqrt(density**2 + 2 * slope * rest)) / slope
    return following, x[i] + pt.switch(pt.le(pt.abs(slope), 1e-8), flat, steep)


@draws(_MULTIVARIATE + "StickBreakingWeightsRV")
def _stick_breaking_weights(op: Any, alpha: Any, count: Any, rng: Any, size: Any) -> Any:
    count = count.reshape(())
    count = raise_op.CheckAndRaise(ValueError, "StickBreakingWeights: K must not be negative")(
        count, pt.ge(count, 0)
    )
    lengths = [alpha.shape[axis] for axis in range(alpha.ndim)] if size is None else list(size)
    following, parts = drawn("beta", rng, [1.0, pt.expand_dims(alpha, -1)], [*lengths, count])
    left = pt.concatenate(
        [pt.ones((*lengths, 1)), pt.cumprod(1 - parts[..., :-1], axis=-1)], axis=-1
    )
    weights = left[..., :count] * parts
    return following, pt.concatenate([weights, 1 - weights.sum(axis=-1, keepdims=True)], axis=-1)


@draws(_MULTIVARIATE + "MatrixNormalRV")
def _matrix_normal(op: Any, mean: Any, rows: Any, columns: Any, rng: Any, size: Any) -> Any:
    if mean.ndim > 2 or rows.ndim > 2 or columns.ndim > 2:
        raise NotConverted("a batch of matrix normal variables")
    following, z = drawn(
        "standard_normal", rng, [], [*(size or ()), pt.shape_i(rows, 0), pt.shape_i(columns, 0)]
    )
    return following, mean + pt.matmul(rows, pt.matmul(z, pt.matrix_transpose(columns)))

"""Gradients, forward derivatives and Hessians against JAX. Skipped without JAX (./dev test --peers)."""

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt

jax = pytest.importorskip("jax")
jnp = jax.numpy
special, nn, linalg = jax.scipy.special, jax.nn, jax.scipy.linalg

jax.config.update("jax_enable_x64", True)

ELEMENTWISE = {  # name: (JAX's function, lowest and highest argument)
    "abs": (jnp.abs, -3, 3.5), "arccos": (jnp.arccos, -0.9, 0.9), "arccosh": (jnp.arccosh, 1.1, 9), "arcsin": (jnp.arcsin, -0.9, 0.9),
    "arcsinh": (jnp.arcsinh, -9, 9), "arctan": (jnp.arctan, -9, 9), "arctanh": (jnp.arctanh, -0.9, 0.9), "cos": (jnp.cos, -9, 9),
    "cosh": (jnp.cosh, -3, 3), "deg2rad": (jnp.deg2rad, -9, 9), "erf": (special.erf, -2, 2), "erfc": (special.erfc, -2, 2),
    "erfinv": (special.erfinv, -0.9, 0.9), "exp": (jnp.exp, -3, 3), "exp2": (jnp.exp2, -3, 3), "expm1": (jnp.expm1, -3, 3),
    "gammaln": (special.gammaln, 0.2, 9), "psi": (special.digamma, 0.2, 9), "i0": (special.i0, -3, 3), "i1": (special.i1, -3, 3),
    "log": (jnp.log, 0.1, 9), "log10": (jnp.log10, 0.1, 9), "log1p": (jnp.log1p, -0.9, 9), "log2": (jnp.log2, 0.1, 9),
    "rad2deg": (jnp.rad2deg, -9, 9), "reciprocal": (jnp.reciprocal, 0.3, 9), "sigmoid": (nn.sigmoid, -9, 9), "sin": (jnp.sin, -9, 9),
    "sinh": (jnp.sinh, -3, 3), "softplus": (nn.softplus, -9, 9), "sqr": (jnp.square, -9, 9), "sqrt": (jnp.sqrt, 0.1, 9),
    "tan": (jnp.tan, -1.2, 1.2), "tanh": (jnp.tanh, -3, 3),
}  # fmt: skip

ONE = {  # functions of a 4 x 4 matrix with elements between 0.2 and 2
    "sum": (lambda x: x.sum(axis=0), lambda x: x.sum(axis=0)),
    "prod": (lambda x: pt.prod(x, axis=1), lambda x: jnp.prod(x, axis=1)),
    "prod of zeros": (
        lambda x: pt.prod(pt.where(x > 1, x, 0.0), axis=1),
        lambda x: jnp.prod(jnp.where(x > 1, x, 0.0), axis=1),
    ),
    "mean": (lambda x: x.mean(axis=1), lambda x: x.mean(axis=1)),
    "var": (lambda x: x.var(axis=0), lambda x: x.var(axis=0)),
    "std": (lambda x: x.std(axis=0), lambda x: x.std(axis=0)),
    "max": (lambda x: x.max(axis=1), lambda x: x.max(axis=1)),
    "min": (lambda x: x.min(), lambda x: x.min()),
    "logsumexp": (lambda x: pt.logsumexp(x, axis=1), lambda x: special.logsumexp(x, axis=1)),
    "softmax": (lambda x: pt.softmax(x, axis=1), lambda x: nn.softmax(x, axis=1)),
    "log_softmax": (lambda x: pt.log_softmax(x, axis=0), lambda x: nn.log_softmax(x, axis=0)),
    "cumsum": (lambda x: pt.cumsum(x, axis=0), lambda x: jnp.cumsum(x, axis=0)),
    "cumprod": (lambda x: pt.cumprod(x, axis=1), lambda x: jnp.cumprod(x, axis=1)),
    "sort": (lambda x: pt.sort(x, axis=1), lambda x: jnp.sort(x, axis=1)),
    "clip": (lambda x: pt.clip(x, 0.5, 1.5), lambda x: jnp.clip(x, 0.5, 1.5)),
    "rows": (lambda x: x[[0, 2, 2]] ** 2, lambda x: x[jnp.array([0, 2, 2])] ** 2),
    "indices": (lambda x: x[[0, 1], [3, 3]], lambda x: x[jnp.array([0, 1]), jnp.array([3, 3])]),
    "reversed": (lambda x: x[::-1, 1:] * x[:, :3], lambda x: x[::-1, 1:] * x[:, :3]),
    "set": (lambda x: x[1:3].set(x[0] ** 2), lambda x: x.at[1:3].set(x[0] ** 2)),
    "add at": (
        lambda x: x[[1, 1, 0]].inc(x[3] ** 2),
        lambda x: x.at[jnp.array([1, 1, 0])].add(x[3] ** 2),
    ),
    "concatenate": (
        lambda x: pt.concatenate([x, x**2, x[:, :1]], axis=1),
        lambda x: jnp.concatenate([x, x**2, x[:, :1]], axis=1),
    ),
    "stack": (lambda x: pt.stack([x, 1 / x], axis=1), lambda x: jnp.stack([x, 1 / x], axis=1)),
    "reshape": (lambda x: x.reshape((2, 8)).T, lambda x: x.reshape((2, 8)).T),
    "dot": (lambda x: pt.dot(x, x.T), lambda x: jnp.dot(x, x.T)),
    "cholesky": (
        lambda x: pt.linalg.cholesky(x @ x.T + 2 * np.eye(4)),
        lambda x: jnp.linalg.cholesky(x @ x.T + 2 * np.eye(4)),
    ),
    "inv": (
        lambda x: pt.linalg.inv(x + 3 * np.eye(4)),
        lambda x: jnp.linalg.inv(x + 3 * np.eye(4)),
    ),
    "det": (lambda x: pt.linalg.det(x), lambda x: jnp.linalg.det(x)),
    "slogdet": (lambda x: pt.linalg.slogdet(x)[1], lambda x: jnp.linalg.slogdet(x)[1]),
    "solve": (
        lambda x: pt.linalg.solve(x + 3 * np.eye(4), x[0], b_ndim=1),
        lambda x: jnp.linalg.solve(x + 3 * np.eye(4), x[0]),
    ),
    "solve_triangular": (
        lambda x: pt.linalg.solve_triangular(x, x.T, lower=True),
        lambda x: linalg.solve_triangular(x, x.T, lower=True),
    ),
    "trace": (lambda x: pt.trace(x @ x), lambda x: jnp.trace(x @ x)),
    "diagonal": (lambda x: pt.diagonal(x, 1), lambda x: jnp.diagonal(x, 1)),
    "tril": (lambda x: pt.tril(x) ** 2, lambda x: jnp.tril(x) ** 2),
}

TWO = {  # functions of two vectors of 5 elements between 0.2 and 2
    "power": (lambda x, y: x**y, lambda x, y: x**y),
    "true_div": (lambda x, y: x / y, lambda x, y: x / y),
    "mod": (lambda x, y: x % y, lambda x, y: x % y),
    "arctan2": (lambda x, y: pt.arctan2(x, y), jnp.arctan2),
    "hypot": (lambda x, y: pt.hypot(x, y), jnp.hypot),
    "logaddexp": (lambda x, y: pt.logaddexp(x, y), jnp.logaddexp),
    "maximum": (lambda x, y: pt.maximum(x, y), jnp.maximum),
    "minimum": (lambda x, y: pt.minimum(x, y), jnp.minimum),
    "where": (lambda x, y: pt.where(x > y, x**2, y**3), lambda x, y: jnp.where(x > y, x**2, y**3)),
    "outer": (lambda x, y: pt.outer(x, y), jnp.outer),
    "betaln": (lambda x, y: pt.betaln(x, y), special.betaln),
    "gammainc": (lambda x, y: pt.gammainc(x, y), special.gammainc),
    "gammaincc": (lambda x, y: pt.gammaincc(x, y), special.gammaincc),
    "betainc": (lambda x, y: pt.betainc(x, y, 0.3), lambda x, y: special.betainc(x, y, 0.3)),
}


LATER = {
    "i0",
    "i1",
    "betaln",
    "gammainc",
    "gammaincc",
    "betainc",
}  # tested once the library has them


def available(names):
    return [name for name in names if name not in LATER or hasattr(pt, name)]


def compare(ours, theirs, values, second=True):
    """Compares gradients, a Jacobian-vector product and second derivatives along a direction, of the sum of squares and
    of weighted results."""
    values = [jnp.asarray(v) for v in values]
    variables = [pt.tensor(dtype="float64", shape=v.shape) for v in values]
    result = ours(*variables)
    rng = np.random.default_rng(3)
    weights = rng.normal(size=theirs(*values).shape)
    directions = [rng.normal(size=v.shape) for v in values]
    cost = (result * weights).sum() + (result**2).sum()
    theirs_cost = lambda *x: (theirs(*x) * weights).sum() + (theirs(*x) ** 2).sum()
    outputs = [
        *bt.grad(cost, variables),
        bt.pushforward(result, variables, [pt.constant(d) for d in directions]),
    ]
    gradient = jax.grad(theirs_cost, argnums=tuple(range(len(values))))
    expected = [*gradient(*values), jax.jvp(theirs, tuple(values), tuple(directions))[1]]
    if second:
        outputs += bt.gradient.hessian_vector_product(
            cost, variables, [pt.constant(d) for d in directions]
        )
        expected += jax.jvp(gradient, tuple(values), tuple(directions))[1]
    for got, right in zip(bt.function(variables, outputs)(*values), expected, strict=True):
        np.testing.assert_allclose(got, right, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", available(ELEMENTWISE))
def test_elementwise(name):
    theirs, low, high = ELEMENTWISE[name]
    compare(getattr(pt, name), theirs, [np.linspace(low, high, 7)], second=name not in {"psi"})


@pytest.mark.parametrize("name", available(ONE))
def test_of_a_matrix(name):
    compare(*ONE[name], [np.random.default_rng(5).uniform(0.2, 2, (4, 4))])


@pytest.mark.parametrize("name", available(TWO))
def test_of_two_vectors(name):
    values = np.random.default_rng(7).uniform(0.2, 2, (2, 5))
    compare(*TWO[name], list(values), second=name not in {"gammainc", "gammaincc", "betainc"})

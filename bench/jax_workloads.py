"""The workloads by which mode JAX and as_jax are measured, each beside the same mathematics written in jax.numpy.

A workload is a function of a dtype and of its sizes, and `SIZES` has the sizes for each purpose: "processor" for
``./dev bench --xla``, "device" for ``tools/device_check`` on a GPU, and "small" for a rehearsal of that check.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import Any, Callable, Iterator, Sequence

import jax
import jax.numpy as jnp
import numpy as np

import bitale as bt
import bitale.tensor as pt


@dataclass(frozen=True)
class Workload:
    inputs: Sequence[Any]
    outputs: Any  # one expression, or a list of them
    in_jax: Callable[..., Any]  # the same function in jax.numpy
    arguments: Sequence[np.ndarray]
    updates: dict[Any, Any] = field(
        default_factory=dict
    )  # of shared variables, in mode JAX and native code
    is_random: bool = False  # the results of two libraries differ

    def function(self, **options: Any) -> Any:
        """The function of Bitale. as_jax takes none with updates, and gets the same draws at each call."""
        return bt.function(list(self.inputs), self.outputs, **options)


def tensor(name: str, ndim: int, dtype: str) -> Any:
    return pt.tensor(name, dtype=dtype, shape=(None,) * ndim)


@functools.cache
def normal(*shape: int, seed: int = 0, scale: float = 1.0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape, dtype="float32") * np.float32(scale)


def arrays(dtype: str, *values: Any) -> list[np.ndarray]:
    """The values in that dtype, and integers as they are."""
    return [
        np.asarray(value, dtype=None if np.asarray(value).dtype.kind == "i" else dtype)
        for value in values
    ]


def integers(end: int, count: int) -> np.ndarray:
    return np.random.default_rng(1).integers(0, end, count)


def elementwise_chain(dtype: str, count: int) -> Workload:
    x, y = tensor("x", 1, dtype), tensor("y", 1, dtype)

    def chain(x: Any, y: Any, m: Any) -> Any:
        return (x * y + 1) * m.exp(-(x**2)) + y / (1 + x**2)

    return Workload(
        [x, y],
        chain(x, y, pt),
        lambda x, y: chain(x, y, jnp),
        arrays(dtype, normal(count), normal(count, seed=1)),
    )


def logistic_regression(dtype: str, rows: int, columns: int) -> Workload:
    X, y, w = tensor("X", 2, dtype), tensor("y", 1, dtype), tensor("w", 1, dtype)

    def loss(w: Any, X: Any, y: Any, softplus: Any) -> Any:
        return (softplus(X @ w) - y * (X @ w)).mean()

    return Workload(
        [X, y, w],
        bt.grad(loss(w, X, y, pt.softplus), w),
        lambda X, y, w: jax.grad(loss)(w, X, y, jax.nn.softplus),
        arrays(
            dtype,
            normal(rows, columns),
            integers(2, rows).astype(float),
            normal(columns, scale=0.1),
        ),
    )


def digits(dtype: str, rows: int, hidden: int) -> Workload:
    A, B, images = (tensor(name, 2, dtype) for name in ("A", "B", "images"))
    labels = pt.lvector("labels")
    logits = pt.tanh(images @ A) @ B
    cost = -pt.log_softmax(logits, axis=1)[pt.arange(labels.shape[0]), labels].mean()
    gA, gB = bt.grad(cost, [A, B])
    rate = np.dtype(dtype).type(0.1)

    def step(A: Any, B: Any, images: Any, labels: Any) -> Any:
        def cost(A: Any, B: Any) -> Any:
            logp = jax.nn.log_softmax(jnp.tanh(images @ A) @ B, axis=1)
            return -logp[jnp.arange(labels.shape[0]), labels].mean()

        gA, gB = jax.grad(cost, argnums=(0, 1))(A, B)
        return [A - rate * gA, B - rate * gB]

    values = arrays(
        dtype,
        normal(64, hidden, scale=0.1),
        normal(hidden, 10, scale=0.1),
        normal(rows, 64),
        integers(10, rows),
    )
    return Workload([A, B, images, labels], [A - rate * gA, B - rate * gB], step, values)


def softmax(dtype: str, rows: int, columns: int) -> Workload:
    X = tensor("X", 2, dtype)
    return Workload(
        [X],
        pt.softmax(X, axis=1),
        lambda X: jax.nn.softmax(X, axis=1),
        arrays(dtype, normal(rows, columns)),
    )


def layer_norm(dtype: str, rows: int, columns: int) -> Workload:
    X, gain, shift = tensor("X", 2, dtype), tensor("gain", 1, dtype), tensor("shift", 1, dtype)
    epsilon = np.dtype(dtype).type(1e-6)

    def normed(X: Any, gain: Any, shift: Any, m: Any) -> Any:
        centred = X - X.mean(axis=1, keepdims=True)
        return centred / m.sqrt((centred**2).mean(axis=1, keepdims=True) + epsilon) * gain + shift

    values = arrays(dtype, normal(rows, columns), normal(columns), normal(columns, seed=1))
    return Workload(
        [X, gain, shift], normed(X, gain, shift, pt), lambda *each: normed(*each, jnp), values
    )


def gaussian_process(dtype: str, count: int) -> Workload:
    t, obs, log_ell = tensor("t", 1, dtype), tensor("obs", 1, dtype), tensor("log_ell", 0, dtype)
    noise = np.dtype(dtype).type(0.1)

    def covariance(log_ell: Any, t: Any, m: Any) -> Any:
        return m.exp(-0.5 * ((t[:, None] - t[None]) / m.exp(log_ell)) ** 2) + noise * m.eye(
            t.shape[0], dtype=dtype
        )

    L = pt.linalg.cholesky(covariance(log_ell, t, pt))
    half = pt.linalg.solve_triangular(L, obs, lower=True)
    density = -0.5 * (half**2).sum() - pt.log(pt.diag(L)).sum()

    def in_jax(t: Any, obs: Any, log_ell: Any) -> Any:
        def density(log_ell: Any) -> Any:
            L = jnp.linalg.cholesky(covariance(log_ell, t, jnp))
            half = jax.scipy.linalg.solve_triangular(L, obs, lower=True)
            return -0.5 * (half**2).sum() - jnp.log(jnp.diag(L)).sum()

        return list(jax.value_and_grad(density)(log_ell))

    values = arrays(
        dtype, np.linspace(0, 9 * max(1, count / 200), count), normal(count), np.float64(0.1)
    )
    return Workload([t, obs, log_ell], [density, bt.grad(density, log_ell)], in_jax, values)


def recurrent_network(dtype: str, steps: int, hidden: int) -> Workload:
    xs, h0, W = tensor("xs", 2, dtype), tensor("h0", 1, dtype), tensor("W", 2, dtype)
    hs = bt.scan(
        lambda x, h, W: pt.tanh(x + W @ h),
        sequences=xs,
        outputs_info=h0,
        non_sequences=W,
        return_updates=False,
    )

    def in_jax(xs: Any, h0: Any, W: Any) -> Any:
        return jax.lax.scan(lambda h, x: (jnp.tanh(x + W @ h),) * 2, h0, xs)[1]

    return Workload(
        [xs, h0, W],
        hs,
        in_jax,
        arrays(
            dtype, normal(steps, hidden), normal(hidden), normal(hidden, hidden, scale=hidden**-0.5)
        ),
    )


def gated_network(dtype: str, steps: int, batch: int, hidden: int) -> Workload:
    """The gradient of a gated recurrent unit's last state by its weights, whose inputs are already multiplied by theirs."""
    xs, h0, U = tensor("xs", 3, dtype), tensor("h0", 2, dtype), tensor("U", 2, dtype)

    def step(x: Any, h: Any, U: Any, sigmoid: Any, tanh: Any) -> Any:
        of_h = h @ U
        update = sigmoid(x[:, :hidden] + of_h[:, :hidden])
        reset = sigmoid(x[:, hidden : 2 * hidden] + of_h[:, hidden : 2 * hidden])
        new = tanh(x[:, 2 * hidden :] + reset * of_h[:, 2 * hidden :])
        return (1 - update) * new + update * h

    hs = bt.scan(
        lambda x, h, U: step(x, h, U, pt.sigmoid, pt.tanh),
        sequences=xs,
        outputs_info=h0,
        non_sequences=U,
        return_updates=False,
    )

    def in_jax(xs: Any, h0: Any, U: Any) -> Any:
        def last(U: Any) -> Any:
            return (
                jax.lax.scan(lambda h, x: (step(x, h, U, jax.nn.sigmoid, jnp.tanh), None), h0, xs)[
                    0
                ]
                ** 2
            ).sum()

        return jax.grad(last)(U)

    values = arrays(
        dtype,
        normal(steps, batch, 3 * hidden),
        normal(batch, hidden),
        normal(hidden, 3 * hidden, scale=hidden**-0.5),
    )
    return Workload([xs, h0, U], bt.grad((hs[-1] ** 2).sum(), U), in_jax, values)


def convolution(dtype: str, rows: int, columns: int, weights: int) -> Workload:
    s, w = tensor("signal", 2, dtype), tensor("weights", 1, dtype)

    def in_jax(s: Any, w: Any) -> Any:
        return jax.vmap(lambda row: jnp.convolve(row, w, mode="valid", precision="highest"))(s)

    values = arrays(dtype, normal(rows, columns), normal(weights))
    return Workload([s, w], pt.signal.convolve1d(s, w[None], mode="valid"), in_jax, values)


def matrix_products(dtype: str, count: int) -> Workload:
    names = [tensor(name, 2, dtype) for name in "ABC"]

    def product(A: Any, B: Any, C: Any) -> Any:
        return A @ B @ C @ C.T

    values = arrays(dtype, *(normal(count, count, seed=k, scale=count**-0.5) for k in range(3)))
    return Workload(names, product(*names), product, values)


def mean_of_draws(dtype: str, count: int) -> Workload:
    scale, state = tensor("scale", 0, dtype), bt.shared(bt.random.stream(3), "rng")
    after, draws = pt.random.normal(0, 1, size=(count,), rng=state).owner.outputs

    def in_jax(scale: Any) -> Any:
        return (jax.random.normal(jax.random.key(3), (count,), dtype) * scale).mean()

    mean = (draws.astype(dtype) * scale).mean()
    return Workload(
        [scale], mean, in_jax, arrays(dtype, np.float64(2)), {state: after}, is_random=True
    )


def segment_sums(dtype: str, count: int, segments: int) -> Workload:
    x, of = tensor("x", 1, dtype), pt.lvector("segment")
    sums = pt.zeros(segments, dtype=dtype)[of].inc(x)
    values = arrays(dtype, normal(count), integers(segments, count))
    return Workload([x, of], sums, lambda x, of: jax.ops.segment_sum(x, of, segments), values)


def eight_schools(dtype: str, chains: int) -> Workload:
    """Value and gradient of the log density, of each of many chains, or of one where `chains` is 0."""
    ndim = min(chains, 1)
    mu, tau, theta = (
        tensor("mu", ndim, dtype),
        tensor("tau", ndim, dtype),
        tensor("theta", 1 + ndim, dtype),
    )
    effect, sd = tensor("effect", 1, dtype), tensor("sd", 1, dtype)

    def density(mu: Any, tau: Any, theta: Any, effect: Any, sd: Any, exp: Any) -> Any:
        z = (effect - mu[..., None] - exp(tau)[..., None] * theta) / sd
        return (
            -0.5 * (z**2).sum(axis=-1) - 0.5 * (theta**2).sum(axis=-1) - 0.5 * (mu / 5) ** 2 + tau
        )

    value = density(mu, tau, theta, effect, sd, pt.exp)

    def in_jax(mu: Any, tau: Any, theta: Any, effect: Any, sd: Any) -> Any:
        def of_one(mu: Any, tau: Any, theta: Any) -> Any:
            value, slopes = jax.value_and_grad(density, argnums=(0, 1, 2))(
                mu, tau, theta, effect, sd, jnp.exp
            )
            return [value, *slopes]

        return (jax.vmap(of_one) if chains else of_one)(mu, tau, theta)

    lead = (chains,) if chains else ()
    values = arrays(
        dtype,
        normal(*lead),
        normal(*lead, seed=1, scale=0.3),
        normal(*lead, 8),
        normal(8, seed=2, scale=10),
        10 + np.arange(8) / 2,
    )
    return Workload(
        [mu, tau, theta, effect, sd],
        [value, *bt.grad(value.sum(), [mu, tau, theta])],
        in_jax,
        values,
    )


MAKERS: dict[str, Callable[..., Workload]] = {
    "elementwise chain": elementwise_chain,
    "logistic regression, gradient": logistic_regression,
    "digits, one step": digits,
    "softmax": softmax,
    "layer norm": layer_norm,
    "Gaussian process, value and gradient": gaussian_process,
    "recurrent network": recurrent_network,
    "gated recurrent network, gradient": gated_network,
    "convolution of rows": convolution,
    "chain of matrix products": matrix_products,
    "mean of normal numbers": mean_of_draws,
    "segment sums": segment_sums,
    "eight schools, value and gradient": eight_schools,
}

SIZES: dict[str, dict[str, tuple[int, ...]]] = {
    "processor": {
        "elementwise chain": (1_000_000,),
        "logistic regression, gradient": (5000, 40),
        "digits, one step": (1797, 32),
        "softmax": (1000, 1000),
        "layer norm": (1000, 512),
        "Gaussian process, value and gradient": (200,),
        "recurrent network": (200, 64),
        "gated recurrent network, gradient": (100, 16, 32),
        "convolution of rows": (200, 2000, 9),
        "chain of matrix products": (300,),
        "mean of normal numbers": (1_000_000,),
        "segment sums": (1_000_000, 1000),
        "eight schools, value and gradient": (0,),
    },
    "device": {  # those that take longest are last, if time runs out
        "eight schools, value and gradient": (100_000,),
        "digits, one step": (1797, 128),
        "recurrent network": (200, 512),
        "gated recurrent network, gradient": (100, 128, 256),
        "convolution of rows": (2000, 20_000, 9),
        "chain of matrix products": (2048,),
        "segment sums": (10_000_000, 100_000),
        "softmax": (4096, 8192),
        "layer norm": (4096, 8192),
        "logistic regression, gradient": (1_000_000, 100),
        "elementwise chain": (100_000_000,),
        "mean of normal numbers": (100_000_000,),
        "Gaussian process, value and gradient": (4000,),
    },
    "small": {
        "elementwise chain": (1000,),
        "logistic regression, gradient": (200, 5),
        "digits, one step": (50, 8),
        "softmax": (20, 30),
        "layer norm": (20, 30),
        "Gaussian process, value and gradient": (30,),
        "recurrent network": (10, 8),
        "gated recurrent network, gradient": (5, 4, 8),
        "convolution of rows": (4, 50, 9),
        "chain of matrix products": (20,),
        "mean of normal numbers": (1000,),
        "segment sums": (500, 10),
        "eight schools, value and gradient": (20,),
    },
}


def workloads(
    purpose: str, dtype: str = "float64"
) -> Iterator[tuple[str, tuple[int, ...], Workload]]:
    """Name, sizes, and the workload, each made when it is asked for."""
    for name, sizes in SIZES[purpose].items():
        yield name, sizes, MAKERS[name](dtype, *sizes)

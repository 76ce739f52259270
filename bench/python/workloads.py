"""What the kernels are: formulas in the language of NumPy, the arrays they are measured on, and the bytes they move.

A formula is called with a module (NumPy, JAX's or PyTensor's tensors, or Bitale's) and the arrays or variables. `by_hand`
names the C++ function of bench/cpp/peers, `arguments` what it is given before the addresses of its results.
"""

from dataclasses import dataclass, field
from typing import Callable

import numpy as np

random = np.random.default_rng(0)


@dataclass
class Workload:
    name: str
    formula: Callable
    arrays: list
    by_hand: str | None = None
    arguments: list | None = None
    other: dict = field(
        default_factory=dict
    )  # formulas for libraries that need another form; None: impossible
    moved: int = 0  # bytes read and written, when memory bandwidth is the limit
    ports: bool = False  # arithmetic is the limit: one loop over the arrays

    def formula_of(self, library):
        return self.other.get(library, self.formula)


def vector(n, low=-3.0, high=3.0):
    return random.uniform(low, high, n)


def scipy_function(name):
    import scipy.special

    return lambda xp, *arrays: getattr(scipy.special, name)(*arrays)


def jax_function(name):
    import importlib

    def formula(xp, *arrays):
        return getattr(importlib.import_module("jax.scipy.special"), name)(*arrays)

    return formula


def fused():
    def formula(xp, x, y, z, mu, s):
        return xp.exp(-0.5 * ((x - mu) / s) ** 2) * xp.tanh(y) + xp.log1p(z)

    for n in (1_000, 100_000, 1_000_000, 10_000_000):
        x, y, z = vector(n), vector(n), vector(n, -0.5, 10)
        yield Workload(
            f"fused transcendental, {n:.0e}",
            formula,
            [x, y, z, np.float64(0.1), np.float64(1.3)],
            "fused",
            [n, x, y, z, 0.1, 1.3],
            ports=True,
        )

    def single(xp, x, y, z, mu, s):  # its constants must not widen the dtype
        half = np.float32(-0.5)
        return xp.exp(half * ((x - mu) / s) ** 2) * xp.tanh(y) + xp.log1p(z)

    for n in (1_000, 1_000_000, 10_000_000):
        x, y, z = (a.astype("float32") for a in (vector(n), vector(n), vector(n, -0.5, 10)))
        yield Workload(
            f"fused transcendental, float32, {n:.0e}",
            single,
            [x, y, z, np.float32(0.1), np.float32(1.3)],
            "fused_single",
            [n, x, y, z, 0.1, 1.3],
            ports=True,
        )


def elementary():
    n = 10_000

    def named(name):
        return lambda xp, x: getattr(xp, name)(x)

    for name in ("exp", "log", "tanh", "sin", "cos", "tan", "log1p", "expm1"):
        low = 0.01 if name in ("log", "log1p") else -3.0
        yield Workload(f"{name}, 1e4", named(name), [vector(n, low)], f"map_{name}", ports=True)
    for name in ("exp", "log", "tanh", "sin"):
        x = vector(n, 0.01 if name == "log" else -3.0).astype("float32")
        yield Workload(f"{name}, float32, 1e4", named(name), [x], f"single_{name}", ports=True)
    yield Workload(
        "sigmoid, 1e4", lambda xp, x: 1 / (1 + xp.exp(-x)), [vector(n)], "map_sigmoid", ports=True
    )
    yield Workload(
        "softplus, 1e4", lambda xp, x: xp.log1p(xp.exp(x)), [vector(n)], "map_softplus", ports=True
    )
    for name, of_scipy, low in (
        ("erf", "erf", -3.0),
        ("gammaln", "gammaln", 0.1),
        ("digamma", "digamma", 0.1),
        ("erfcx", "erfcx", -3.0),
    ):
        other = {
            "NumPy": scipy_function(of_scipy),
            "JAX": None if name == "erfcx" else jax_function(of_scipy),
        }
        yield Workload(
            f"{name}, 1e4",
            lambda xp, x, name=name: getattr(xp, name)(x),
            [vector(n, low)],
            None if name in ("digamma", "erfcx") else f"map_{name}",
            other=other,
            ports=True,
        )
    for exponent, by_hand in (
        (2, "square"),
        (10, "power_10"),
        (0.5, "power_half"),
        (-1.0, "power_minus_1"),
    ):
        yield Workload(
            f"x**{exponent}, 1e4",
            lambda xp, x, exponent=exponent: x**exponent,
            [vector(n, 0.1)],
            f"map_{by_hand}",
            ports=True,
        )


def memory_bound():
    n = 1_000_000
    x, y = vector(n), vector(n)
    yield Workload("2*x + y, 1e6", lambda xp, x, y: 2 * x + y, [x, y], "axpy", moved=24 * n)
    yield Workload(
        "where(x > 0, x, y), 1e6",
        lambda xp, x, y: xp.where(x > 0, x, y),
        [x, y],
        "choose",
        moved=24 * n,
    )
    yield Workload(
        "count of x > y, 1e6", lambda xp, x, y: (x > y).sum(), [x, y], "count", moved=16 * n
    )
    yield Workload("x[::2] + 1, 1e6", lambda xp, x: x[::2] + 1, [x], "every_other", moved=12 * n)
    yield Workload("x[::-1] + 1, 1e6", lambda xp, x: x[::-1] + 1, [x], "reversed", moved=16 * n)
    yield Workload("cumsum, 1e6", lambda xp, x: xp.cumsum(x), [x], "cumsum")
    yield Workload(
        "sum((x[1:]-x[:-1])**2), 1e6",
        lambda xp, x: ((x[1:] - x[:-1]) ** 2).sum(),
        [x],
        "squared_differences",
        moved=8 * n,
    )
    big = 20_000_000
    x, y = vector(big), vector(big)
    yield Workload("2*x + y, 2e7", lambda xp, x, y: 2 * x + y, [x, y], "axpy", moved=24 * big)
    yield Workload(
        "where(x > 0, x, y), 2e7",
        lambda xp, x, y: xp.where(x > 0, x, y),
        [x, y],
        "choose",
        moved=24 * big,
    )
    yield Workload("x[::2] + 1, 2e7", lambda xp, x: x[::2] + 1, [x], "every_other", moved=12 * big)
    yield Workload("x[::-1] + 1, 2e7", lambda xp, x: x[::-1] + 1, [x], "reversed", moved=16 * big)
    x = vector(1_000_000)
    yield Workload("mean, 1e6", lambda xp, x: x.mean(), [x], "mean_all", moved=8 * x.size)
    yield Workload("min, 1e6", lambda xp, x: x.min(), [x], "min_all", moved=8 * x.size)
    for n in (1_000_000, 10_000_000):
        yield Workload(f"sum, {n:.0e}", lambda xp, x: x.sum(), [vector(n)], "sum_all", moved=8 * n)
        yield Workload(f"max, {n:.0e}", lambda xp, x: x.max(), [vector(n)], "max_all", moved=8 * n)
    for n in (10_000, 1_000_000):
        yield Workload(f"argmax, {n:.0e}", lambda xp, x: x.argmax(), [vector(n)], moved=8 * n)


def rows_and_columns():
    n = 1_000
    x, v, w = vector(n * n).reshape(n, n), vector(n), vector(n)

    def stencil(xp, x):
        return x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] - 4 * x[1:-1, 1:-1]

    def softmax(xp, x):
        e = xp.exp(x - x.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    def layer_norm(xp, x):
        return (x - x.mean(axis=1, keepdims=True)) / xp.sqrt(x.var(axis=1, keepdims=True) + 1e-5)

    def logsumexp(xp, x):
        largest = x.max(axis=1)
        return xp.log(xp.exp(x - largest[:, None]).sum(axis=1)) + largest

    square = [n, x]
    bytes_ = 8 * n * n
    yield Workload("five-point stencil, 1000²", stencil, [x], "stencil", square, moved=2 * bytes_)
    yield Workload(
        "sum of rows, 1000²", lambda xp, x: x.sum(axis=1), [x], "sum_rows", square, moved=bytes_
    )
    yield Workload(
        "sum of columns, 1000²",
        lambda xp, x: x.sum(axis=0),
        [x],
        "sum_columns",
        square,
        moved=bytes_,
    )
    yield Workload(
        "max of rows, 1000²", lambda xp, x: x.max(axis=1), [x], "max_rows", square, moved=bytes_
    )
    yield Workload(
        "argmax of rows, 1000²",
        lambda xp, x: x.argmax(axis=1),
        [x],
        other={"Numba": None},
        moved=bytes_,
    )
    yield Workload(
        "max of columns, 1000²",
        lambda xp, x: x.max(axis=0),
        [x],
        "max_columns",
        square,
        moved=bytes_,
    )
    m = 3_200
    large = vector(m * m).reshape(m, m)
    for axis, name in ((1, "rows"), (0, "columns")):
        yield Workload(
            f"sum of {name}, 3200²",
            lambda xp, x, axis=axis: x.sum(axis=axis),
            [large],
            f"sum_{name}",
            [m, large],
            moved=8 * m * m,
        )
    yield Workload(
        "variance of rows, 1000²",
        lambda xp, x: x.var(axis=1),
        [x],
        "var_rows",
        square,
        moved=bytes_,
    )
    yield Workload("layer norm, 1000²", layer_norm, [x], "layer_norm", square, moved=2 * bytes_)
    yield Workload("softmax, 1000²", softmax, [x], "softmax", square)
    yield Workload("logsumexp, 1000²", logsumexp, [x], "logsumexp", square)
    yield Workload(
        "exp(-(v-v')²) @ w, 1000²",
        lambda xp, v, w: xp.exp(-((v[:, None] - v[None, :]) ** 2)) @ w,
        [v, w],
        "kernel_times_vector",
        [n, v, w],
    )
    n = 2_000
    x, y = vector(n * n).reshape(n, n), vector(n * n).reshape(n, n)
    yield Workload(
        "x.T + y, 2000²",
        lambda xp, x, y: x.T + y,
        [x, y],
        "transposed_sum",
        [n, x, y],
        moved=24 * n * n,
    )


def models():
    for n, groups in ((919, 85), (1_000_000, 10_000)):
        y, x, index, mu = (
            vector(n),
            vector(n),
            np.sort(random.integers(0, groups, n)),
            vector(groups),
        )

        def value(xp, y, x, index, mu, b, log_sigma):
            r = (y - mu[index] - x * b) / xp.exp(log_sigma)
            return (-0.5 * r**2 - log_sigma).sum()

        yield Workload(
            f"group model, {n:.0e}",
            value,
            [y, x, index, mu, np.float64(0.3), np.float64(0.1)],
            "group_value",
            [n, y, x, index, mu, 0.3, 0.1],
        )
        yield Workload(
            f"group model with gradients, {n:.0e}",
            with_gradients(value, (3, 4, 5)),
            [y, x, index, mu, np.float64(0.3), np.float64(0.1)],
            "group_model",
            [n, y, x, index, groups, mu, 0.3, 0.1],
            {"NumPy": None, "Numba": group_loop},
        )
    y = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
    sigma = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])

    def eight_schools(xp, q, y, sigma):
        mu, log_tau, z = q[0], q[1], q[2:]
        tau = xp.exp(log_tau)
        r = (y - (mu + tau * z)) / sigma
        return (
            -0.5 * (mu / 5) ** 2
            - 0.5 * (tau / 5) ** 2
            + log_tau
            - 0.5 * (z**2).sum()
            + (-0.5 * r**2 - xp.log(sigma)).sum()
        )

    yield Workload(
        "eight schools with gradient, a call",
        with_gradients(eight_schools, (0,)),
        [vector(10, -1, 1), y, sigma],
        other={"NumPy": None, "Numba": None},
    )


def group_loop(xp, y, x, index, mu, b, log_sigma):
    """The group model with gradients as a loop, for Numba."""
    inverse, total, of_mu, of_b, of_sigma = xp.exp(-log_sigma), 0.0, xp.zeros(mu.size), 0.0, 0.0
    for i in range(y.size):
        r = (y[i] - mu[index[i]] - x[i] * b) * inverse
        total += -0.5 * r * r - log_sigma
        of_mu[index[i]] += r * inverse
        of_b += r * inverse * x[i]
        of_sigma += r * r - 1
    return total, of_mu, of_b, of_sigma


def with_gradients(value, wrt):
    """The formula of a scalar and its gradients, by what each library has for that."""

    def formula(xp, *arrays):
        if xp.__name__.startswith("jax"):
            import jax

            found, gradients = jax.value_and_grad(lambda *a: value(xp, *a), wrt)(*arrays)
        elif xp.__name__.startswith("pytensor"):
            import pytensor

            found = value(xp, *arrays)
            gradients = pytensor.grad(found, [arrays[i] for i in wrt])
        else:
            import bitale

            found = value(xp, *arrays)
            gradients = bitale.grad(found, [arrays[i] for i in wrt])
        return [found, *gradients]

    return formula


def calls():
    yield Workload("x + 1, scalar, a call", lambda xp, x: x + 1.0, [np.float64(2.0)])
    yield Workload("x + 1, 10 elements, a call", lambda xp, x: x + 1.0, [vector(10)])


def products_and_sorts():
    for n in (4, 16, 64, 256, 512, 1024):
        a, b = vector(n * n).reshape(n, n), vector(n * n).reshape(n, n)
        yield Workload(
            f"a @ b, {n}²", lambda xp, a, b: a @ b, [a, b], "matmul" if n > 16 else None, [n, a, b]
        )
    for n in (64, 256, 512):
        a, b, c = vector(n * n).reshape(n, n), vector(n * n).reshape(n, n), vector(n)
        yield Workload(
            f"relu(a @ b + c), {n}²",
            lambda xp, a, b, c: xp.maximum(a @ b + c, 0.0),
            [a, b, c],
            "relu_product",
            [n, a, b, c],
        )
    yield network()
    for dtype in ("float64", "int64"):
        x = (vector(1_000_000) * 1e6).astype(dtype)
        yield Workload(f"sort of {dtype}, 1e6", lambda xp, x: xp.sort(x), [x])


def network():
    """Three layers, forward and backward."""
    n, widths = 512, (64, 128, 64, 10)
    parameters = []
    for inputs, outputs in zip(widths, widths[1:]):
        parameters += [
            vector(inputs * outputs, -0.1, 0.1).reshape(inputs, outputs),
            vector(outputs, -0.1, 0.1),
        ]
    x, y = vector(n * widths[0]).reshape(n, -1), vector(n * widths[-1]).reshape(n, -1)

    def loss(xp, x, y, w1, b1, w2, b2, w3, b3):
        missed = xp.tanh(xp.tanh(x @ w1 + b1) @ w2 + b2) @ w3 + b3 - y
        return (missed**2).mean()

    return Workload(
        "network 64-128-64-10 with gradients, 512",
        with_gradients(loss, range(2, 8)),
        [x, y, *parameters],
        "network",
        [n, *widths, x, y, *parameters],
        {"NumPy": None, "Numba": None},
    )


def workloads():
    for group in (
        fused,
        elementary,
        memory_bound,
        rows_and_columns,
        models,
        calls,
        products_and_sorts,
    ):
        yield from group()

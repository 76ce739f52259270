"""Kernels side by side: Bitale, NumPy, JAX and C++ by hand (strict, and with -ffast-math), on the same arrays."""

import ctypes
import json
import os
import sys

import numpy as np

import bitale as bt
import bitale.tensor as pt
from measure import importable, in_turn

random = np.random.default_rng(0)
jax = importable("jax")
if jax:
    jax.config.update("jax_enable_x64", True)


def library(name):
    path = os.path.join(os.environ.get("BITALE_BENCH_BUILD", ""), f"libbench_peers_{name}.so")
    return ctypes.CDLL(path) if os.path.exists(path) else None


libraries = {"C++": library("strict"), "C++ fast": library("fast")}


def c_argument(value):
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p(value.ctypes.data)
    return ctypes.c_double(value) if isinstance(value, float) else ctypes.c_int64(value)


class Workload:
    """`formula(xp, *arrays)` in NumPy's language; `by_hand`: the C++ function, its leading arguments before the outputs."""

    def __init__(self, name, formula, arrays, by_hand=None, arguments=None, outputs=None, numpy=None, other=None):
        self.name, self.formula, self.arrays = name, formula, arrays
        self.by_hand, self.arguments, self.outputs = by_hand, arguments, outputs
        self.numpy, self.other = numpy, other

    def rivals(self):
        inputs = [pt.as_tensor_variable(a).type() for a in self.arrays]
        f = bt.function(inputs, (self.other or self.formula)(pt, *inputs))
        out = f(*self.arrays)
        rivals = {"Bitale": lambda: f(*self.arrays, out=out)}
        if self.numpy is not False:
            rivals["NumPy"] = lambda: (self.numpy or self.formula)(np, *self.arrays)
        if jax and self.numpy is None:
            compiled = jax.jit(lambda *arrays: self.formula(jax.numpy, *arrays))
            there = [jax.numpy.asarray(a) for a in self.arrays]
            rivals["JAX"] = lambda: compiled(*there).block_until_ready()
        expected = out if isinstance(out, (list, tuple)) else [out]
        for name, loaded in libraries.items():
            if loaded is None or self.by_hand is None:
                continue
            results = [np.empty(np.shape(o)) for o in expected]
            given = [c_argument(a) for a in (self.arguments or [self.arrays[0].size, *self.arrays])]
            given += [ctypes.c_void_p(r.ctypes.data) for r in results]
            function = getattr(loaded, self.by_hand)
            function(*given)
            for got, wanted in zip(results, expected):
                np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-9, err_msg=f"{self.name}: {name}")
            rivals[name] = lambda function=function, given=given, keep=results: function(*given)
        return rivals


def vector(n, low=-3.0, high=3.0):
    return random.uniform(low, high, n)


def workloads():
    def formula(xp, x, y, z, mu, s):
        return xp.exp(-0.5 * ((x - mu) / s) ** 2) * xp.tanh(y) + xp.log1p(z)

    for n in (1_000, 100_000, 1_000_000):
        x, y, z = vector(n), vector(n), vector(n, -0.5, 10)
        yield Workload(f"fused transcendental, {n:g}", formula, [x, y, z, np.float64(0.1), np.float64(1.3)], "fused",
                       [n, x, y, z, 0.1, 1.3])
    n = 10_000
    for name in ("exp", "log", "tanh", "sin", "cos", "log1p", "expm1"):
        low = 0.01 if name in ("log", "log1p") else -3.0
        yield Workload(f"{name}, {n:g}", lambda xp, x, name=name: getattr(xp, name)(x), [vector(n, low)], f"map_{name}")
    for name, formula_ in (("sigmoid", lambda xp, x: 1 / (1 + xp.exp(-x))),
                           ("softplus", lambda xp, x: xp.log1p(xp.exp(x)))):
        yield Workload(f"{name}, {n:g}", formula_, [vector(n)], f"map_{name}")
    for name, low in (("erf", -3.0), ("gammaln", 0.1)):
        yield Workload(f"{name}, {n:g}", lambda xp, x, name=name: getattr(xp, name)(x), [vector(n, low)], f"map_{name}",
                       numpy=False)
    for exponent, by_hand in ((2, "square"), (10, "power_10"), (0.5, "power_half")):
        yield Workload(f"x**{exponent}, {n:g}", lambda xp, x, exponent=exponent: x**exponent, [vector(n, 0.1)],
                       f"map_{by_hand}")
    n = 1_000_000
    x, y = vector(n), vector(n)
    yield Workload("2*x + y, 1e6", lambda xp, x, y: 2 * x + y, [x, y], "axpy")
    yield Workload("where(x > 0, x, y), 1e6", lambda xp, x, y: xp.where(x > 0, x, y), [x, y], "choose")
    yield Workload("x[::2] + 1, 1e6", lambda xp, x: x[::2] + 1, [x], "every_other")
    yield Workload("x[::-1] + 1, 1e6", lambda xp, x: x[::-1] + 1, [x], "reversed")
    yield Workload("sum((x[1:]-x[:-1])**2), 1e6", lambda xp, x: ((x[1:] - x[:-1]) ** 2).sum(), [x],
                   "squared_differences")
    for n in (1_000_000, 10_000_000):
        yield Workload(f"sum, {n:g}", lambda xp, x: x.sum(), [vector(n)], "sum_all")
        yield Workload(f"max, {n:g}", lambda xp, x: x.max(), [vector(n)], "max_all")
    n = 1_000
    x, v, w = vector(n * n).reshape(n, n), vector(n), vector(n)

    def stencil(xp, x):
        return x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] - 4 * x[1:-1, 1:-1]

    def softmax(xp, x):
        e = xp.exp(x - x.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    def logsumexp(xp, x):
        most = x.max(axis=1)
        return xp.log(xp.exp(x - most[:, None]).sum(axis=1)) + most

    square = [n, x]
    yield Workload("five-point stencil, 1000²", stencil, [x], "stencil", square)
    yield Workload("sum of rows, 1000²", lambda xp, x: x.sum(axis=1), [x], "sum_rows", square)
    yield Workload("sum of columns, 1000²", lambda xp, x: x.sum(axis=0), [x], "sum_columns", square)
    yield Workload("variance of rows, 1000²", lambda xp, x: x.var(axis=1), [x], "var_rows", square)
    yield Workload("softmax, 1000²", softmax, [x], "softmax", square)
    yield Workload("logsumexp, 1000²", logsumexp, [x], "logsumexp", square)
    yield Workload("exp(-(v-v')²) @ w, 1000²", lambda xp, v, w: xp.exp(-(v[:, None] - v[None, :]) ** 2) @ w, [v, w],
                   "kernel_times_vector", [n, v, w])
    n = 2_000
    x, y = vector(n * n).reshape(n, n), vector(n * n).reshape(n, n)
    yield Workload("x.T + y, 2000²", lambda xp, x, y: x.T + y, [x, y], "transposed_sum", [n, x, y])
    for n, groups in ((919, 85), (1_000_000, 10_000)):
        y, x, index, mu = vector(n), vector(n), np.sort(random.integers(0, groups, n)), vector(groups)

        def model(pt, y, x, index, mu, b, log_sigma):
            sigma = pt.exp(log_sigma)
            r = (y - mu[index] - x * b) / sigma
            value = pt.sum(-0.5 * r**2 - pt.log(sigma))
            return [value, *bt.grad(value, [mu, b, log_sigma])]

        yield Workload(f"group model with gradients, {n:g}", model,
                       [y, x, index, mu, np.float64(0.3), np.float64(0.1)], "group_model",
                       [n, y, x, index, groups, mu, 0.3, 0.1], numpy=False)


def main():
    wanted = sys.argv[1:]
    found = {}
    for workload in workloads():
        if not wanted or any(part in workload.name for part in wanted):
            found[workload.name] = in_turn(workload.rivals(), at_least=0.01, rounds=11)
    print(json.dumps(found))


if __name__ == "__main__":
    main()

"""Loops side by side: Bitale's scan, the loop by hand in C++ (bench/cpp/peers/scans.cpp) and with --peers JAX's, on the same
arrays, one thread. Prints what each took, and what Bitale took from the expression to the first result: the median of processes
that do nothing else.
"""

import ctypes
import json
import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Callable

import numpy as np

import bitale as bt
import bitale.tensor as pt
from measure import importable, in_turn

jax = importable("jax")
if jax:
    jax.config.update("jax_enable_x64", True)

random = np.random.default_rng(0)


@dataclass
class Loop:
    """`formula(*variables)` gives the value; with `by`, what is measured is the value and its gradient by those inputs."""

    name: str
    formula: Callable
    in_jax: Callable | None
    arrays: list
    by: tuple = ()
    by_hand: str | None = None
    arguments: list | None = None  # of the C++ function, before the addresses of its results
    target: str = ""


# ---- an AR(1) process ----


def ar1(y, mu, phi, log_sigma):
    def step(y_t, before):
        z = (y_t - mu - phi * (before - mu)) * pt.exp(-log_sigma)
        return y_t, -0.5 * z**2 - log_sigma - 0.5 * np.log(2 * np.pi)

    return bt.scan(step, sequences=y, outputs_info=[mu, None], return_updates=False)[1].sum()


def ar1_jax(y, mu, phi, log_sigma):
    jnp = jax.numpy

    def step(before, y_t):
        z = (y_t - mu - phi * (before - mu)) * jnp.exp(-log_sigma)
        return y_t, -0.5 * z**2 - log_sigma - 0.5 * np.log(2 * np.pi)

    return jax.lax.scan(step, mu, y)[1].sum()


# ---- exponential smoothing ----


def smoothing(x, a, s0):
    def step(x_t, s):
        return a * x_t + (1 - a) * s, (x_t - s) ** 2

    return bt.scan(step, sequences=x, outputs_info=[s0, None], return_updates=False)[1].sum()


def smoothing_jax(x, a, s0):
    return jax.lax.scan(lambda s, x_t: (a * x_t + (1 - a) * s, (x_t - s) ** 2), s0, x)[1].sum()


# ---- a recurrent network ----


def rnn(x, h0, w, u, b):
    h = bt.scan(
        lambda x_t, h: pt.tanh(h @ w + x_t @ u + b),
        sequences=x,
        outputs_info=h0,
        return_updates=False,
    )
    return (h**2).sum()


def rnn_jax(x, h0, w, u, b):
    def step(h, x_t):
        h = jax.numpy.tanh(h @ w + x_t @ u + b)
        return h, h

    return (jax.lax.scan(step, h0, x)[1] ** 2).sum()


# ---- the Kalman filter ----


def kalman(y, f, h, q, r):
    def step(y_t, m, p):
        m, p = f @ m, f @ p @ f.T + q
        error, s = y_t - h @ m, h @ p @ h.T + r
        inverse = pt.linalg.inv(s)
        gain = p @ h.T @ inverse
        term = -0.5 * (pt.log(pt.linalg.det(s)) + error @ inverse @ error + 2 * np.log(2 * np.pi))
        return m + gain @ error, p - gain @ h @ p, term

    start = [np.zeros(4), np.eye(4), None]
    return bt.scan(step, sequences=y, outputs_info=start, return_updates=False)[2].sum()


def kalman_jax(y, f, h, q, r):
    jnp = jax.numpy

    def step(state, y_t):
        m, p = state
        m, p = f @ m, f @ p @ f.T + q
        error, s = y_t - h @ m, h @ p @ h.T + r
        inverse = jnp.linalg.inv(s)
        gain = p @ h.T @ inverse
        term = -0.5 * (jnp.log(jnp.linalg.det(s)) + error @ inverse @ error + 2 * np.log(2 * np.pi))
        return (m + gain @ error, p - gain @ h @ p), term

    return jax.lax.scan(step, (jnp.zeros(4), jnp.eye(4)), y)[1].sum()


# ---- predator and prey ----

DT = 0.01


def rk4(change, state):
    k1 = change(state)
    k2 = change(state + 0.5 * DT * k1)
    k3 = change(state + 0.5 * DT * k2)
    k4 = change(state + DT * k3)
    return state + DT / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def lotka_volterra(xp, rates):
    a, b, c, d = (rates[k] for k in range(4))
    return lambda s: xp.stack([a * s[0] - b * s[0] * s[1], d * s[0] * s[1] - c * s[1]])


def prey(rates, start):
    path = bt.scan(
        lambda s: rk4(lotka_volterra(pt, rates), s),
        outputs_info=start,
        n_steps=2000,
        return_updates=False,
    )
    return (path**2).sum()


def prey_jax(rates, start):
    def step(s, _):
        s = rk4(lotka_volterra(jax.numpy, rates), s)
        return s, s

    return (jax.lax.scan(step, start, None, length=2000)[1] ** 2).sum()


# ---- a gated recurrent network ----


def gru_step(xp, x_t, h, weights):
    sigmoid = lambda x: 1 / (1 + xp.exp(-x))
    wz, uz, bz, wr, ur, br, wh, uh, bh = weights
    z = sigmoid(x_t @ wz + h @ uz + bz)
    r = sigmoid(x_t @ wr + h @ ur + br)
    return (1 - z) * h + z * xp.tanh(x_t @ wh + (r * h) @ uh + bh)


def gru(x, h0, *weights):
    h = bt.scan(
        lambda x_t, h: gru_step(pt, x_t, h, weights),
        sequences=x,
        outputs_info=h0,
        return_updates=False,
    )
    return (h[-1] ** 2).sum()


def gru_jax(x, h0, *weights):
    last, _ = jax.lax.scan(lambda h, x_t: (gru_step(jax.numpy, x_t, h, weights), None), h0, x)
    return (last**2).sum()


# ---- a loop in a loop ----


def nested(x, a, b):
    def outer(row, s):
        inner = bt.scan(
            lambda x_t, s: a * s + x_t, sequences=row, outputs_info=s, return_updates=False
        )
        return b * inner[-1]

    return bt.scan(outer, sequences=x, outputs_info=np.float64(0), return_updates=False)


def nested_jax(x, a, b):
    def outer(s, row):
        s = b * jax.lax.scan(lambda s, x_t: (a * s + x_t, None), s, row)[0]
        return s, s

    return jax.lax.scan(outer, 0.0, x)[1]


def loops():
    normal = random.normal
    y = np.cumsum(normal(size=10_000)) * 0.1
    yield Loop(
        "AR(1) log density and gradient, 1e4",
        ar1,
        ar1_jax,
        [y, 0.1, 0.6, 0.05],
        (1, 2, 3),
        "ar1",
        [y.size, y, 0.1, 0.6, 0.05],
        "≤ 1.1 of C++, ≤ 0.3 of JAX",
    )
    yield Loop(
        "exponential smoothing and gradient, 1e4",
        smoothing,
        smoothing_jax,
        [y, 0.3, 0.2],
        (1, 2),
        "smoothing",
        [y.size, y, 0.3, 0.2],
        "≤ 1.1 of C++",
    )
    network = [
        normal(size=(1000, 4)),
        normal(size=8),
        normal(size=(8, 8)) * 0.2,
        normal(size=(4, 8)) * 0.3,
        normal(size=8) * 0.1,
    ]
    yield Loop(
        "tanh RNN, 8 units, 1000 steps",
        rnn,
        rnn_jax,
        network,
        (),
        "rnn_value",
        [1000, *network],
        "≤ 1.2 of C++, ≤ 0.7 of JAX",
    )
    yield Loop(
        "tanh RNN, 8 units, 1000 steps, gradient",
        rnn,
        rnn_jax,
        network,
        (1, 2, 3, 4),
        "rnn_gradient",
        [1000, *network],
        "≤ 1.3 of C++, ≤ 0.7 of JAX",
    )
    f = np.eye(4) * 0.9 + np.eye(4, k=2) * 0.1
    h = np.eye(2, 4)
    filtered = [normal(size=(1000, 2)), f, h, np.eye(4) * 0.1, np.eye(2) * 0.5]
    yield Loop(
        "Kalman filter, 4 states, 1000 steps, gradient",
        kalman,
        kalman_jax,
        filtered,
        (1, 3, 4),
        "kalman",
        [1000, *filtered],
        "≤ 2 of C++, ≤ 0.5 of JAX",
    )
    rates, start = np.array([1.1, 0.4, 0.4, 0.1]), np.array([10.0, 10.0])
    yield Loop(
        "Lotka-Volterra by RK4, 2000 steps, gradient",
        prey,
        prey_jax,
        [rates, start],
        (0, 1),
        "lotka_volterra",
        [2000, DT, rates, start],
        "≤ 1.3 of C++",
    )
    shapes = [(32, 64), (64, 64), (64,)] * 3
    weights = [normal(size=shape) * 0.1 for shape in shapes]
    yield Loop(
        "GRU, 64 units, batch of 32, 100 steps, gradient",
        gru,
        gru_jax,
        [normal(size=(100, 32, 32)), np.zeros((32, 64)), *weights],
        tuple(range(2, 11)),
        target="≤ 0.9 of JAX",
    )
    x = normal(size=(100, 100))
    yield Loop(
        "a scan in a scan, 100 x 100",
        nested,
        nested_jax,
        [x, 0.5, 0.9],
        (),
        "nested",
        [100, 100, x, 0.5, 0.9],
        "≤ 1.2 of C++",
    )


# ---- rivals ----


def library():
    path = os.path.join(os.environ.get("BITALE_BENCH_BUILD", ""), "libbench_peers_strict_native.so")
    return ctypes.CDLL(path) if os.path.exists(path) else None


def c_argument(value):
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p(value.ctypes.data)
    return ctypes.c_double(value) if isinstance(value, float) else ctypes.c_int64(value)


def compiled(loop):
    variables = [pt.tensor(dtype="float64", shape=np.shape(a)) for a in loop.arrays]
    value = loop.formula(*variables)
    return bt.function(
        variables, [value, *bt.grad(value, [variables[k] for k in loop.by])] if loop.by else [value]
    )


def rivals_of(loop, cpp):
    f = compiled(loop)
    expected = f(*loop.arrays)
    rivals = {"Bitale": lambda: f(*loop.arrays)}
    if jax and loop.in_jax:

        def wanted(*arrays):
            return (
                jax.value_and_grad(loop.in_jax, loop.by)(*arrays)
                if loop.by
                else loop.in_jax(*arrays)
            )

        in_jax, there = jax.jit(wanted), [jax.numpy.asarray(a) for a in loop.arrays]
        rivals["JAX"] = lambda: jax.block_until_ready(in_jax(*there))
        for one, other in zip(jax.tree.leaves(rivals["JAX"]()), expected):
            np.testing.assert_allclose(
                other, one, rtol=1e-7, atol=1e-9, err_msg=f"{loop.name}: JAX"
            )
    if cpp and loop.by_hand and hasattr(cpp, loop.by_hand):
        results = [np.empty_like(each) for each in expected]
        given = [c_argument(a) for a in [*loop.arguments, *results]]
        function = getattr(cpp, loop.by_hand)
        rivals["C++"] = lambda: (function(*given), results)[
            1
        ]  # the addresses are those of `results`
        function(*given)
        for one, other in zip(results, expected):
            np.testing.assert_allclose(
                other, one, rtol=1e-7, atol=1e-9, err_msg=f"{loop.name}: C++"
            )
    return rivals


def first_call(loop):
    with bt.config.change_flags(cache="off"):
        start = time.perf_counter()
        compiled(loop)(*loop.arrays)
        return time.perf_counter() - start


def first_result(loop, processes=5):
    """Seconds from the expression to the first result in a new process, loading LLVM included."""
    script = "import scans, sys; print(next(scans.first_call(loop) for loop in scans.loops() if loop.name == sys.argv[1]))"
    alone = {**os.environ, "BITALE_BENCH_PEERS": "", "PYTHONPATH": os.pathsep.join(sys.path)}
    run = [sys.executable, "-c", script, loop.name]
    return statistics.median(
        float(subprocess.run(run, env=alone, check=True, stdout=subprocess.PIPE).stdout)
        for _ in range(processes)
    )


def main():
    wanted = sys.argv[1:]
    cpp = library()
    found = {}
    for loop in loops():
        if wanted and not any(part in loop.name for part in wanted):
            continue
        first = first_result(loop)
        found[loop.name] = {
            "times": in_turn(rivals_of(loop, cpp), rounds=9),
            "first": first,
            "target": loop.target,
        }
        if wanted:
            times = found[loop.name]["times"]
            print(
                f"{loop.name:50} first {first * 1e3:6.1f} ms ",
                "  ".join(f"{k} {v * 1e6:9.1f} us" for k, v in times.items()),
                "  ratios ",
                {k: round(times["Bitale"] / v, 2) for k, v in times.items() if k != "Bitale"},
            )
    print(json.dumps(found))


if __name__ == "__main__":
    main()

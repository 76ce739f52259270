"""./dev bench --xla: functions of as_jax, and of mode JAX, against the same mathematics written in jax.numpy, under jax.jit.

Median of pairs, each measured in turn; a ratio below 1 is faster than jax.numpy. Also: milliseconds to write a module of 300
nodes, and a log density with its gradient in two processes against one.
"""

from __future__ import annotations

import pathlib
import socket
import statistics
import subprocess
import sys
import time
from typing import Any, Callable

import jax

jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp
import numpy as np

import bitale as bt
import bitale.jax
import bitale.tensor as pt

rng = np.random.default_rng(0)


def normal(*shape: int) -> np.ndarray:
    return rng.normal(size=shape)


def workloads() -> dict[str, tuple[Any, Callable[..., Any], list[np.ndarray]]]:
    """name: (a function of Bitale, the same of jax.numpy, arguments)"""
    out = {}

    X, y, w = pt.dmatrix("X"), pt.dvector("y"), pt.dvector("w")
    loss = (pt.softplus(X @ w) - y * (X @ w)).mean()
    out["logistic regression, gradient"] = (
        bt.function([X, y, w], bt.grad(loss, w)),
        lambda X, y, w: jax.grad(lambda w: (jax.nn.softplus(X @ w) - y * (X @ w)).mean())(w),
        [normal(5000, 40), rng.integers(0, 2, 5000).astype(float), normal(40)],
    )

    A, B, images, labels = pt.dmatrix("A"), pt.dmatrix("B"), pt.dmatrix("images"), pt.lvector("labels")
    logits = pt.tanh(images @ A) @ B
    cost = -pt.log_softmax(logits, axis=1)[pt.arange(labels.shape[0]), labels].mean()
    gA, gB = bt.grad(cost, [A, B])

    def step(A, B, images, labels):
        def cost(A, B):
            logp = jax.nn.log_softmax(jnp.tanh(images @ A) @ B, axis=1)
            return -logp[jnp.arange(labels.shape[0]), labels].mean()

        gA, gB = jax.grad(cost, argnums=(0, 1))(A, B)
        return [A - 0.1 * gA, B - 0.1 * gB]

    out["digits, one step"] = (
        bt.function([A, B, images, labels], [A - 0.1 * gA, B - 0.1 * gB]),
        step,
        [normal(64, 32), normal(32, 10), normal(1797, 64), rng.integers(0, 10, 1797)],
    )

    out["softmax"] = (bt.function([X], pt.softmax(X, axis=1)), lambda X: jax.nn.softmax(X, axis=1), [normal(1000, 1000)])

    t, obs, log_ell = pt.dvector("t"), pt.dvector("obs"), pt.dscalar("log_ell")
    K = pt.exp(-0.5 * ((t[:, None] - t[None]) / pt.exp(log_ell)) ** 2) + 0.1 * pt.eye(t.shape[0])
    L = pt.linalg.cholesky(K)
    half = pt.linalg.solve_triangular(L, obs, lower=True)
    density = -0.5 * (half**2).sum() - pt.log(pt.diag(L)).sum()

    def gp(t, obs, log_ell):
        def density(log_ell):
            K = jnp.exp(-0.5 * ((t[:, None] - t[None]) / jnp.exp(log_ell)) ** 2) + 0.1 * jnp.eye(t.shape[0])
            L = jnp.linalg.cholesky(K)
            half = jax.scipy.linalg.solve_triangular(L, obs, lower=True)
            return -0.5 * (half**2).sum() - jnp.log(jnp.diag(L)).sum()

        return list(jax.value_and_grad(density)(log_ell))

    out["Gaussian process, value and gradient"] = (
        bt.function([t, obs, log_ell], [density, bt.grad(density, log_ell)]),
        gp,
        [np.linspace(0, 9, 200), normal(200), np.float64(0.1)],
    )

    xs, h0, W = pt.dmatrix("xs"), pt.dvector("h0"), pt.dmatrix("W")
    hs = bt.scan(lambda x, h, W: pt.tanh(x + W @ h), sequences=xs, outputs_info=h0, non_sequences=W, return_updates=False)
    out["recurrent network"] = (
        bt.function([xs, h0, W], hs),
        lambda xs, h0, W: jax.lax.scan(lambda h, x: (jnp.tanh(x + W @ h),) * 2, h0, xs)[1],
        [normal(200, 64), normal(64), normal(64, 64) / 8],
    )

    mu, tau, theta, effect, sd = pt.dscalar("mu"), pt.dscalar("tau"), pt.dvector("theta"), pt.dvector("effect"), pt.dvector("sd")
    schools = -0.5 * (((effect - mu - pt.exp(tau) * theta) / sd) ** 2).sum() - 0.5 * (theta**2).sum() - 0.5 * (mu / 5) ** 2 + tau

    def eight(mu, tau, theta, effect, sd):
        def density(mu, tau, theta):
            z = (effect - mu - jnp.exp(tau) * theta) / sd
            return -0.5 * (z**2).sum() - 0.5 * (theta**2).sum() - 0.5 * (mu / 5) ** 2 + tau

        value, slopes = jax.value_and_grad(density, argnums=(0, 1, 2))(mu, tau, theta)
        return [value, *slopes]

    out["eight schools, value and gradient"] = (
        bt.function([mu, tau, theta, effect, sd], [schools, *bt.grad(schools, [mu, tau, theta])]),
        eight,
        [np.float64(1), np.float64(0.3), normal(8), 10 * normal(8), 10 + rng.random(8)],
    )

    scale, rng_state = pt.dscalar("scale"), bt.shared(bt.random.stream(3), "rng")
    out["mean of normal numbers"] = (
        bt.function([scale], (pt.random.normal(0, 1, size=(1_000_000,), rng=rng_state) * scale).mean()),
        lambda scale: (jax.random.normal(jax.random.key(3), (1_000_000,)) * scale).mean(),
        [np.float64(2)],
    )

    signal, weights = pt.dmatrix("signal"), pt.dvector("weights")
    out["convolution of rows with nine weights"] = (
        bt.function([signal, weights], pt.signal.convolve1d(signal, weights[None], mode="valid")),
        lambda s, w: jax.vmap(lambda row: jnp.convolve(row, w, mode="valid", precision="highest"))(s),
        [normal(200, 2000), normal(9)],
    )

    out["chain of matrix products"] = (
        bt.function([X, A, B], X @ A @ B @ B.T),
        lambda X, A, B: X @ A @ B @ B.T,
        [normal(300, 300), normal(300, 300), normal(300, 300)],
    )

    gain, shift = pt.dvector("gain"), pt.dvector("shift")
    centred = X - X.mean(axis=1, keepdims=True)
    normed = centred / pt.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-6) * gain + shift

    def layer_norm(X, gain, shift):
        centred = X - X.mean(axis=1, keepdims=True)
        return centred / jnp.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-6) * gain + shift

    out["layer norm"] = (bt.function([X, gain, shift], normed), layer_norm, [normal(1000, 512), normal(512), normal(512)])
    return out


def median_ratio(ours: Callable[[], Any], theirs: Callable[[], Any], seconds: float = 1.5) -> tuple[float, float]:
    """Median of the quotients of pairs of calls, and microseconds of theirs."""
    ours(), theirs(), ours(), theirs()
    quotients, their_times, end = [], [], time.perf_counter() + seconds
    while len(quotients) < 15 or time.perf_counter() < end and len(quotients) < 2000:
        start = time.perf_counter()
        theirs()
        middle = time.perf_counter()
        ours()
        their_times.append(middle - start)
        quotients.append((time.perf_counter() - middle) / (middle - start))
    return statistics.median(quotients), statistics.median(their_times) * 1e6


def milliseconds_of(processes: int) -> float:
    """Of one call of a log density and its gradient, whose rows so many processes share."""
    script = pathlib.Path(__file__).with_name("xla_two_processes.py")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    started = [
        subprocess.Popen([sys.executable, script, str(k), str(processes), str(port)], stdout=subprocess.PIPE, text=True)
        for k in range(processes)
    ]
    texts = [process.communicate(timeout=300)[0] for process in started]
    return float(texts[0].split("milliseconds")[1])


def main() -> None:
    print(f"{'workload':40} {'jax.numpy':>12} {'as_jax':>8} {'mode JAX':>9}")
    for name, (function, theirs, arguments) in workloads().items():
        on_device = [jax.device_put(x) for x in arguments]
        by_jax = jax.jit(bitale.jax.as_jax(function))
        theirs = jax.jit(theirs)
        jax.tree.map(
            lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-9) if name != "mean of normal numbers" else None,
            theirs(*on_device),
            by_jax(*on_device),
        )
        ratio, micros = median_ratio(
            lambda: jax.block_until_ready(by_jax(*on_device)), lambda: jax.block_until_ready(theirs(*on_device))
        )
        text = f"{name:40} {micros:9.1f} us {ratio:8.2f}"
        if not function.get_shared():
            inputs, outputs = function.fgraph.inputs, function.fgraph.outputs
            in_mode = bt.function(list(inputs), list(outputs), mode="JAX")
            in_mode_ratio, _ = median_ratio(
                lambda: in_mode(*arguments), lambda: jax.tree.map(np.asarray, theirs(*arguments))
            )
            text += f" {in_mode_ratio:9.2f}"
        print(text, flush=True)

    x = pt.dvector("x")
    y = x
    for k in range(150):
        y = pt.sin(y) * (1 + 1 / (k + 1))
    f = bt.function([x], y)
    times = []
    for n in range(2, 12):
        start = time.perf_counter()
        f.stablehlo([(n,)])
        times.append((time.perf_counter() - start) * 1e3)
    print(f"a module of 300 nodes is written in {statistics.median(times):.2f} ms")

    alone, shared = (statistics.median(milliseconds_of(count) for _ in range(3)) for count in (1, 2))
    print(f"log density of a million rows: {alone:.1f} ms in one process, {shared:.1f} ms in two: {alone / shared:.2f} times as fast")


if __name__ == "__main__":
    main()

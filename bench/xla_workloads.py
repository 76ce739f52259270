"""./dev bench --xla: functions of as_jax, and of mode JAX, against the same mathematics written in jax.numpy, under jax.jit.

Median of pairs, each measured in turn; a ratio below 1 is faster than jax.numpy. Also: milliseconds to write a module of 300
nodes, and a log density with its gradient in two processes against one.
"""

from __future__ import annotations

import statistics
import time
from typing import Any, Callable

import jax

jax.config.update("jax_enable_x64", True)

import numpy as np

import xla_scaling
from jax_workloads import workloads

import bitale as bt
import bitale.jax
import bitale.tensor as pt


def median_ratio(
    ours: Callable[[], Any], theirs: Callable[[], Any], seconds: float = 1.5
) -> tuple[float, float]:
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


def main() -> None:
    print(f"{'workload':40} {'jax.numpy':>12} {'as_jax':>8} {'mode JAX':>9}")
    for name, _, work in workloads("processor"):
        on_device = [jax.device_put(x) for x in work.arguments]
        by_jax, theirs = jax.jit(bitale.jax.as_jax(work.function())), jax.jit(work.in_jax)
        if not work.is_random:
            jax.tree.map(
                lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-9),
                theirs(*on_device),
                by_jax(*on_device),
            )
        ratio, micros = median_ratio(
            lambda: jax.block_until_ready(by_jax(*on_device)),
            lambda: jax.block_until_ready(theirs(*on_device)),
        )
        in_mode = work.function(mode="JAX", updates=work.updates)
        in_mode_ratio, _ = median_ratio(
            lambda: in_mode(*work.arguments),
            lambda: jax.tree.map(np.asarray, theirs(*work.arguments)),
        )
        print(f"{name:40} {micros:9.1f} us {ratio:8.2f} {in_mode_ratio:9.2f}", flush=True)

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

    def milliseconds(processes: int) -> float:
        return statistics.median(
            xla_scaling.run(processes, 1, 1_000_000, 40, pin=True)["milliseconds"] for _ in range(3)
        )

    alone, shared = milliseconds(1), milliseconds(2)
    print(
        f"log density of a million rows: {alone:.1f} ms in one process, {shared:.1f} ms in two: {alone / shared:.2f} times as fast"
    )


if __name__ == "__main__":
    main()

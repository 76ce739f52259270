"""How many bytes per second the device's memory can move: by its maker's data, and as measured by a copy."""

from __future__ import annotations

import statistics
import time
from typing import Any

# Bytes per second by the makers' data sheets, by a part of the name that JAX gives.
DATA_SHEETS = {
    "H200": 4.8e12,
    "H100 80GB HBM3": 3.35e12,
    "H100 PCIe": 2.0e12,
    "A100-SXM4-80GB": 2.04e12,
    "A100-SXM4-40GB": 1.56e12,
}


def data_sheet(kind: str) -> float | None:
    return next((limit for name, limit in DATA_SHEETS.items() if name in kind), None)


def copy_bandwidth(count: int) -> float:
    """Bytes read and written per second by copies of `count` float32 numbers on the first device."""
    import jax
    import jax.numpy as jnp

    x: Any = jax.block_until_ready(jnp.arange(count, dtype="float32"))
    copy = jax.jit(lambda x: x + 1)
    jax.block_until_ready(copy(x))
    times = []
    for _ in range(9):
        start = time.perf_counter()
        for _ in range(4):
            y = copy(x)
        jax.block_until_ready(y)
        times.append((time.perf_counter() - start) / 4)
    return 8 * count / statistics.median(times)

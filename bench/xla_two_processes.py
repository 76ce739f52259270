"""One of the processes of ./dev bench --xla that share the rows of a log density; the first one prints milliseconds of a call.

python xla_two_processes.py NUMBER COUNT PORT: process NUMBER of COUNT, each with one thread.
"""

from __future__ import annotations

import os
import statistics
import sys
import time

number, count, port = (int(text) for text in sys.argv[1:])
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ["JAX_PLATFORMS"] = "cpu"
os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[number]})

import jax

jax.config.update("jax_enable_x64", True)
if count > 1:
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(f"127.0.0.1:{port}", num_processes=count, process_id=number)

import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

import bitale as bt
import bitale.jax
import bitale.tensor as pt

ROWS, COLUMNS = 1_000_000, 40
rng = np.random.default_rng(0)
X, y, w = rng.normal(size=(ROWS, COLUMNS)), rng.integers(0, 2, ROWS).astype(float), rng.normal(size=COLUMNS)
a, b, c = pt.dmatrix("X"), pt.dvector("y"), pt.dvector("w")
density = (b * (a @ c) - pt.softplus(a @ c)).sum()
mesh = Mesh(np.array(jax.devices()), ("rows",))
specs = [P("rows", None), P("rows"), P()]
f = bitale.jax.shard(bt.function([a, b, c], [density, bt.grad(density, c)]), mesh, specs, [P(), P()])
part = slice(number * ROWS // count, (number + 1) * ROWS // count)
given = [
    jax.make_array_from_process_local_data(NamedSharding(mesh, spec), value)
    for spec, value in zip(specs, (X[part], y[part], w))
]
times = []
for _ in range(25):
    start = time.perf_counter()
    jax.block_until_ready(f(*given))
    times.append(time.perf_counter() - start)
if number == 0:
    print("milliseconds", 1e3 * statistics.median(times[5:]))

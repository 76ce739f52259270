"""One of the two processes of test_shard: computes half of the rows of a log density; its gradient is summed over both.

python two_processes.py NUMBER PORT
"""

import os
import sys

number, port = int(sys.argv[1]), sys.argv[2]
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_cpu_collectives_implementation", "gloo")
jax.distributed.initialize(f"127.0.0.1:{port}", num_processes=2, process_id=number)

import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
from test_shard import W, X, Y, log_density

import bitale.jax

mesh = Mesh(np.array(jax.devices()), ("rows",))
assert jax.process_count() == 2 and len(jax.devices()) == 4
f = log_density()
g = bitale.jax.shard(f, mesh, [P("rows", None), P("rows"), P()], [P(), P()])
half = slice(number * len(X) // 2, (number + 1) * len(X) // 2)
divided = [
    jax.make_array_from_process_local_data(NamedSharding(mesh, spec), part)
    for spec, part in ((P("rows", None), X[half]), (P("rows"), Y[half]), (P(), W))
]
for expected, got in zip(f(X, Y, W), g(*divided)):
    np.testing.assert_allclose(np.asarray(got.addressable_data(0)), expected, rtol=1e-12)
print("equal")

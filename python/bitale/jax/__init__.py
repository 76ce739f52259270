"""Bitale's graphs on XLA, the compiler of JAX: the linker of ``mode="JAX"``, and functions that JAX can transform and partition.

It needs the package ``jax`` (``pip install jax``, or ``jax[cuda]`` for GPUs), which is imported on
first use. Modules keep their dtypes, including float64, whatever the flag ``jax_enable_x64`` says.
"""

from __future__ import annotations

from bitale.jax.linker import compile_module, devices
from bitale.jax.padded import compress, nonzero, unique
from bitale.jax.primitive import as_jax
from bitale.jax.processes import from_processes
from bitale.jax.sharding import shard

__all__ = [
    "as_jax",
    "compile_module",
    "compress",
    "devices",
    "from_processes",
    "nonzero",
    "shard",
    "unique",
]

"""Bitale's graphs on JAX's compiler: the linker of ``mode="JAX"``, and functions that JAX can transform and partition.

Needs the package ``jax`` (``pip install jax``, or ``jax[cuda]`` for GPUs), which is imported when something here is first
used. Modules keep their dtypes, float64 too, whatever the flag ``jax_enable_x64`` says.
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

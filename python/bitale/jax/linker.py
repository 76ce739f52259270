"""The linker of ``mode="JAX"``: StableHLO modules compiled and run by jaxlib, on JAX's first device."""

from __future__ import annotations

import functools
from typing import Any, Callable, Sequence

import numpy as np


@functools.cache
def jax_package() -> Any:
    """JAX, imported. ImportError that says what to install where it is missing or too old."""
    try:
        import jax
        from jax._src.lib import xla_client
    except ImportError as error:
        raise ImportError(f"mode JAX and bitale.jax need the package jax, 0.8 or newer (pip install jax): {error}") from error
    if not hasattr(xla_client, "batched_device_put") or not hasattr(jax, "enable_x64"):
        raise ImportError(f"mode JAX and bitale.jax need jax 0.8 or newer (pip install -U jax); this is {jax.__version__}")
    return jax


def devices() -> list[Any]:
    """The devices that JAX computes on, the first of which mode JAX uses. ImportError without JAX."""
    return jax_package().devices()


def platform() -> str:
    """That mode JAX runs on, as JAX names it: cpu, gpu, tpu."""
    return devices()[0].platform


def find_lapack() -> None:
    """Lets modules for processors call LAPACK: SciPy's, which jaxlib looks up when it is asked to."""
    from jaxlib import lapack

    lapack.prepare_lapack_call("potrf_ffi", np.float64)


def parsed(text: str | bytes) -> Any:
    """The module as MLIR, in the context that is current."""
    from jax._src.lib.mlir import ir

    return ir.Module.parse(text)


def compile_module(text: bytes) -> Callable[[Sequence[np.ndarray]], list[np.ndarray]]:
    """Compiles the StableHLO module for the first device; a function from arrays to arrays. Called by linker jax."""
    jax = jax_package()
    from jax._src import core
    from jax._src.interpreters import mlir
    from jax._src.lib import xla_client

    device = jax.devices()[0]
    if device.platform == "cpu":
        find_lapack()
    with mlir.make_ir_context():
        code = mlir.module_to_bytecode(parsed(text))
    options = xla_client.CompileOptions()
    options.num_replicas = options.num_partitions = 1
    options.env_option_overrides = [("xla_allow_excess_precision", False)]  # float16 is rounded where the graph says so
    compiled = device.client.compile_and_load(code, xla_client.DeviceList((device,)), options)
    sharding = jax.sharding.SingleDeviceSharding(device)

    def call(arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        with jax.enable_x64(True):  # else float64 is cut to float32 on its way
            buffers = [
                xla_client.batched_device_put(core.ShapedArray(array.shape, array.dtype), sharding, [array], [device])
                for array in arrays
            ]
        return [np.asarray(result) for result in compiled.execute(buffers)]

    return call

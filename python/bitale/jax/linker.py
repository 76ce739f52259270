"""The linker of ``mode="JAX"``: StableHLO modules compiled and run by jaxlib, on JAX's first device."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from typing import Any, Callable, Iterator, Sequence

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
    """The devices that JAX computes on, the first of which mode JAX uses. ImportError without JAX, RuntimeError without any."""
    jax = jax_package()
    try:
        return jax.devices()
    except (RuntimeError, AssertionError) as error:
        raise RuntimeError(
            f"mode JAX and bitale.jax: JAX has no device ({str(error) or 'none of its platforms is there'}); "
            "JAX_PLATFORMS=cpu is for processors, and GPUs need jax[cuda] and their driver"
        ) from error


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


@functools.cache
def _first_device() -> Any:
    return devices()[0]


@functools.cache
def _placement() -> Any:
    return jax_package().sharding.SingleDeviceSharding(_first_device())


@contextlib.contextmanager
def _out_of_memory_named() -> Iterator[None]:
    """MemoryError in place of XLA's own error."""
    try:
        yield
    except jax_package().errors.JaxRuntimeError as error:
        if "RESOURCE_EXHAUSTED" not in str(error):
            raise
        raise MemoryError(f"mode JAX: {_first_device()}: not enough memory: {error}") from error


def to_device(array: np.ndarray) -> Any:
    """The array on the first device, as an array of JAX of the same dtype. Without a copy, where that is a processor."""
    jax = jax_package()
    from jax._src import core
    from jax._src.lib import xla_client

    with _out_of_memory_named(), jax.enable_x64(True):  # else float64 is cut to float32 on its way
        aval = core.ShapedArray(array.shape, array.dtype)
        return xla_client.batched_device_put(aval, _placement(), [array], [_first_device()])


def is_on_device(value: Any, dtype: str) -> bool:
    """Whether it is an array of JAX of that dtype that is on the first device, all of it and nowhere else."""
    jax = sys.modules.get("jax")
    if jax is None or not isinstance(value, jax.Array) or isinstance(value, jax.core.Tracer):
        return False
    return value.dtype == dtype and not value.is_deleted() and value.devices() == {_first_device()}


def fetched(array: Any) -> np.ndarray:
    """What an array of JAX has, for somebody who copies it."""
    return np.asarray(array)


def require_memory(compiled: Any) -> None:
    """MemoryError where the processor's memory can't have what a call of the module makes: XLA would end the process."""
    stats, most = compiled.get_compiled_memory_stats(), os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    needed = stats.output_size_in_bytes + stats.temp_size_in_bytes
    if needed > most:
        raise MemoryError(f"mode JAX: not enough memory: a call makes {needed} bytes, and the machine has {most}")


def compile_module(text: bytes) -> Callable[[Sequence[Any], Sequence[bool]], list[Any]]:
    """Compiles the StableHLO module for the first device. Called by linker jax.

    The result takes arrays of NumPy, or of JAX on that device, and gives arrays of JAX where the second argument says that
    the result stays there, else of NumPy.
    """
    jax_package()
    from jax._src.interpreters import mlir
    from jax._src.lib import xla_client

    device = _first_device()
    if device.platform == "cpu":
        find_lapack()
    with mlir.make_ir_context():
        code = mlir.module_to_bytecode(parsed(text))
    options = xla_client.CompileOptions()
    options.num_replicas = options.num_partitions = 1
    options.env_option_overrides = [("xla_allow_excess_precision", False)]  # float16 is rounded where the graph says so
    compiled = device.client.compile_and_load(code, xla_client.DeviceList((device,)), options)

    if device.platform == "cpu":
        require_memory(compiled)

    def call(arrays: Sequence[Any], stay: Sequence[bool]) -> list[Any]:
        buffers = [to_device(array) if isinstance(array, np.ndarray) else array for array in arrays]
        with _out_of_memory_named():
            results = compiled.execute(buffers)
            # The caller may write into its arrays when the call is over, which processors read where they lie.
            return [result.block_until_ready() if stays else np.asarray(result) for result, stays in zip(results, stay)]

    return call

"""The linker of ``mode="JAX"``: StableHLO modules compiled and run by jaxlib, on JAX's first device."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import weakref
from typing import Any, Callable, Iterator, Sequence

import numpy as np


@functools.cache
def jax_package() -> Any:
    """JAX, imported. ImportError that says what to install where it is missing or too old."""
    try:
        import jax
        from jax._src.lib import xla_client
    except ImportError as error:
        raise ImportError(
            f"mode JAX and bitale.jax need the package jax, 0.8 or newer (pip install jax): {error}"
        ) from error
    if not hasattr(xla_client, "batched_device_put") or not hasattr(jax, "enable_x64"):
        raise ImportError(
            f"mode JAX and bitale.jax need jax 0.8 or newer (pip install -U jax); this is {jax.__version__}"
        )
    return jax


def devices() -> list[Any]:
    """The devices that JAX computes on, the first of which mode JAX uses. ImportError without JAX, RuntimeError without any."""
    jax = jax_package()
    try:
        return list(jax.devices())
    except (RuntimeError, AssertionError) as error:
        raise RuntimeError(
            f"mode JAX and bitale.jax: JAX has no device ({str(error) or 'none of its platforms is there'}); "
            "JAX_PLATFORMS=cpu is for processors, and GPUs need jax[cuda] and their driver"
        ) from error


def platform() -> str:
    """The platform that mode JAX runs on, as JAX names it: cpu, cuda, tpu; gpu for other vendors."""
    device = devices()[0]
    return (
        "cuda"
        if device.platform == "gpu" and "cuda" in device.client.platform_version.lower()
        else device.platform
    )


def find_lapack() -> None:
    """Lets modules for processors call LAPACK: SciPy's, which jaxlib looks up when it is asked to."""
    from jaxlib import lapack

    lapack.prepare_lapack_call("potrf_ffi", np.float64)


@functools.cache
def _first_device() -> Any:
    return devices()[0]


@functools.cache
def _placement() -> Any:
    return jax_package().sharding.SingleDeviceSharding(_first_device())


def _named(error: Exception) -> Exception:
    """MemoryError in place of XLA's own error, where it says so."""
    if "RESOURCE_EXHAUSTED" not in str(error) and not isinstance(error, MemoryError):
        return error
    return MemoryError(f"mode JAX: {_first_device()}: not enough memory: {error}")


@contextlib.contextmanager
def _out_of_memory_named() -> Iterator[None]:
    try:
        yield
    except (jax_package().errors.JaxRuntimeError, MemoryError) as error:
        raise _named(error) from error


def to_device(array: np.ndarray) -> Any:
    """The array on the first device, as an array of JAX of the same dtype. Without a copy, where that is a processor."""
    jax = jax_package()
    from jax._src import core
    from jax._src.lib import xla_client

    with (
        _out_of_memory_named(),
        jax.enable_x64(True),
    ):  # otherwise float64 would be converted to float32
        aval = core.ShapedArray(array.shape, array.dtype)
        return xla_client.batched_device_put(aval, _placement(), [array], [_first_device()])


def copied(array: Any) -> Any:
    """Another array of JAX with the same elements, on the same device."""
    with _out_of_memory_named(), jax_package().enable_x64(True):
        return array.copy()


def is_on_device(value: Any, dtype: str) -> bool:
    """Whether it is an array of JAX of that dtype that is on the first device, all of it and nowhere else."""
    jax = sys.modules.get("jax")
    if jax is None or not isinstance(value, jax.Array) or isinstance(value, jax.core.Tracer):
        return False
    if value.dtype != dtype or value.weak_type or value.is_deleted():
        return False
    return bool(value.sharding == _placement() or value.devices() == {_first_device()})


def begin_to_fetch(array: Any) -> None:
    """Starts the transfer that ``fetched`` waits for."""
    with _out_of_memory_named():
        array.copy_to_host_async()


def fetched(array: Any) -> np.ndarray:
    """What an array of JAX has, for somebody who copies it."""
    if array.is_deleted():
        raise RuntimeError(
            "mode JAX: the value is lost: a call that updated it in place failed on the device"
        )
    with _out_of_memory_named():
        return np.asarray(array, order="C")


_ranges: dict[
    int, tuple[Any, int, int]
] = {}  # by id, while the array is alive: a weak reference, the smallest and the largest element


def is_within(array: Any, start: int, end: int) -> bool:
    """Whether all elements of an array of JAX, integers, are in start..end - 1. The device looks through each array once."""
    if array.size == 0:
        return True
    key = id(array)
    if key not in _ranges:
        low, high = _extremes(array)
        _ranges[key] = weakref.ref(array, lambda _: _ranges.pop(key, None)), low, high
    _, low, high = _ranges[key]
    return start <= low and high < end


def _extremes(array: Any) -> tuple[int, int]:
    jax = jax_package()
    with _out_of_memory_named(), jax.enable_x64(True), jax.ensure_compile_time_eval():
        found = jax.device_get([array.min(), array.max()])
    return int(found[0]), int(found[1])


def require_memory(compiled: Any) -> None:
    """MemoryError where the processor's memory can't have what a call of the module makes: XLA would end the process."""
    stats, memory = (
        compiled.memory_analysis(),
        os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
    )
    needed = stats.output_size_in_bytes - stats.alias_size_in_bytes + stats.temp_size_in_bytes
    if needed > memory:
        raise MemoryError(
            f"mode JAX: not enough memory: a call makes {needed} bytes, and the machine has {memory}"
        )


def inlined(context: Any, text: str, operands: Sequence[Any]) -> Any:
    """The module's results, where a primitive of JAX is lowered: the module becomes part of the one that JAX makes."""
    from jax._src.lib.mlir import ir
    from jax._src.lib.mlir.dialects import func
    from jax.interpreters import mlir

    whole = context.module_context
    module = ir.Module.parse(text)
    types = ir.FunctionType(module.body.operations[0].type).results
    name = mlir.merge_mlir_modules(whole.module, "bitale", module, dst_symtab=whole.symbol_table)
    return func.CallOp(types, ir.FlatSymbolRefAttr.get(name), list(operands)).results


@functools.cache
def _whole_module() -> Any:
    """A primitive of JAX that is a module, of which the results' dtypes and shapes are known."""
    jax = jax_package()
    from jax._src import dispatch
    from jax.extend.core import Primitive
    from jax.interpreters import mlir

    call = Primitive("bitale_module")
    call.multiple_results = True
    call.def_impl(functools.partial(dispatch.apply_primitive, call))
    call.def_abstract_eval(
        lambda *_, text, results: [
            jax.core.ShapedArray(shape, np.dtype(dtype)) for dtype, shape in results
        ]
    )
    mlir.register_lowering(
        call, lambda context, *operands, text, results: inlined(context, text, operands)
    )
    return call


Types = Sequence[tuple[str, Sequence[int]]]  # dtype and shape


def compile_module(
    text: str, inputs: Types, results: Types, donated: Sequence[int]
) -> Callable[..., list[Any]]:
    """Compiles the StableHLO module for the first device. Called by linker jax.

    The result takes arrays of NumPy, or of JAX on that device, and gives arrays of JAX. It is a function of ``jax.jit``, whose
    way from Python to the device is the shortest that there is. donated: inputs whose memory results may have.
    """
    jax = jax_package()
    from jax._src.core import trace_state_clean

    if _first_device().platform == "cpu":
        find_lapack()
    primitive, kinds = _whole_module(), tuple((dtype, tuple(shape)) for dtype, shape in results)

    def module(*operands: Any) -> Any:
        return primitive.bind(*operands, text=text, results=kinds)

    run: Any = jax.jit(
        module,
        in_shardings=_placement(),
        out_shardings=_placement(),
        donate_argnums=tuple(donated),
        keep_unused=True,
        compiler_options={
            "xla_allow_excess_precision": False
        },  # float16 is rounded where the graph does so
    )
    with _out_of_memory_named(), jax.enable_x64(True):
        compiled = run.lower(
            *(jax.ShapeDtypeStruct(tuple(shape), np.dtype(dtype)) for dtype, shape in inputs)
        ).compile()
    if _first_device().platform == "cpu":
        require_memory(compiled)
    config, failure, nothing_is_traced = (
        jax.config,
        (jax.errors.JaxRuntimeError, MemoryError),
        trace_state_clean,
    )

    def call(*arrays: Any) -> Any:
        try:
            if config.jax_enable_x64 and nothing_is_traced():
                return run(*arrays)
            with jax.enable_x64(True):
                if nothing_is_traced():
                    return run(*arrays)
                with jax.ensure_compile_time_eval():
                    return run(*arrays)
        except failure as error:
            raise _named(error) from error

    return call

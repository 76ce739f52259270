"""Products of matrices, factors, systems of equations; and Blockwise, which applies an op to batches."""

from __future__ import annotations

from typing import Any, Callable

import pytensor.tensor.blas as blas
from pytensor.tensor.blas import BatchedDot, Dot22, Dot22Scalar, Gemm, Gemv
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.math import Dot

import bitale as bt
import bitale.tensor as pt
from bitale.pytensor.conversion import Conversion, with_conversion
from bitale.pytensor.op_imports import (
    Cholesky,
    CholeskySolve,
    Det,
    MatrixInverse,
    SLogDet,
    Solve,
    SolveTriangular,
)
from bitale.pytensor.registry import (
    Converter,
    NotConverted,
    batched_converter_of,
    converter_of,
    converts,
    forwards,
)


def _aligned(node: Any, inputs: tuple[Any, ...]) -> list[Any]:
    """The inputs in the dtype of the output. Complex ones stay complex where the output is real, as eigenvalues are."""
    dtype = node.outputs[0].type.dtype
    if not dtype.startswith("complex") and any(x.dtype.startswith("complex") for x in inputs):
        dtype = "complex128"
    return [x if x.dtype == dtype else pt.cast(x, dtype) for x in inputs]


def aligned(function: Callable[..., Any], *attributes: str) -> Converter:
    """A converter that calls a function with the inputs in the dtype of the output, and with these attributes of the op by their names."""
    convert = forwards(function, *attributes)
    return lambda op, node, *inputs: convert(op, node, *_aligned(node, inputs))


converts(Dot)(aligned(pt.dot))
converts(Dot22)(forwards(pt.dot))
converts(BatchedDot)(aligned(pt.matmul))
converts(MatrixInverse, batched=True)(aligned(pt.linalg.inv))
converts(Det, batched=True)(aligned(pt.linalg.det))
converts(SLogDet, batched=True)(aligned(pt.linalg.slogdet))


@converts(CholeskySolve, batched=True)
def _cholesky_solve(op: Any, node: Any, c: Any, b: Any) -> Any:
    c, b = _aligned(node, (c, b))
    return pt.linalg.cho_solve((c, op.lower), b, b_ndim=op.b_ndim)


@converts(Dot22Scalar)
def _dot22_scalar(op: Any, node: Any, x: Any, y: Any, a: Any) -> Any:
    return a * pt.dot(x, y)


@converts(Gemm)
def _gemm(op: Any, node: Any, z: Any, a: Any, x: Any, y: Any, b: Any) -> Any:
    return b * z + a * pt.dot(x, y)


@converts(Gemv)
def _gemv(op: Any, node: Any, y: Any, alpha: Any, a: Any, x: Any, beta: Any) -> Any:
    return beta * y + alpha * pt.dot(a, x)


@converts(*(cls for cls in [getattr(blas, "Ger", None)] if cls))  # from older versions of PyTensor
def _ger(op: Any, node: Any, a: Any, alpha: Any, x: Any, y: Any) -> Any:
    return a + alpha * pt.outer(x, y)


@converts(Cholesky, batched=True)
def _cholesky(op: Any, node: Any, x: Any) -> Any:
    on_error = getattr(op, "on_error", "nan")
    (x,) = _aligned(node, (x,))
    return pt.linalg.cholesky(x, lower=op.lower, on_error=on_error)


@converts(SolveTriangular, batched=True)
def _solve_triangular(op: Any, node: Any, a: Any, b: Any) -> Any:
    a, b = _aligned(node, (a, b))
    # With a singular matrix PyTensor's result is nan.
    return pt.linalg.solve_triangular(
        a, b, lower=op.lower, unit_diagonal=op.unit_diagonal, b_ndim=op.b_ndim, on_error="nan"
    )


_ASSUMPTIONS = {"gen", "general", "sym", "symmetric", "her", "hermitian", "pos", "positive definite", "diagonal", "tridiagonal",
                "banded", "lower triangular", "upper triangular"}  # fmt: skip


@converts(Solve, batched=True)
def _solve(op: Any, node: Any, a: Any, b: Any) -> Any:
    if op.assume_a not in _ASSUMPTIONS:
        raise NotConverted(f"solve with assume_a={op.assume_a!r}")
    a, b = _aligned(node, (a, b))
    return pt.linalg.solve(
        a, b, lower=op.lower, assume_a=op.assume_a, b_ndim=op.b_ndim, on_error="nan"
    )


@converts(Blockwise)
@with_conversion
def _blockwise(conversion: Conversion, op: Any, node: Any, *inputs: Any) -> Any:
    core = op.core_op
    if isinstance(core, Dot):
        return pt.matmul(*_aligned(node, inputs))
    convert = batched_converter_of(core)
    if convert is not None:
        return convert(core, node, *inputs)
    if converter_of(core) is None:
        raise NotConverted(f"no converter is registered for {type(core).__name__}")
    return _vectorized(conversion, op, node, inputs)


def _core_outputs(
    conversion: Conversion, core: Any, core_node: Any, inputs: list[Any]
) -> list[Any]:
    convert: Any = converter_of(core)
    given = (conversion,) if getattr(convert, "_wants_conversion", False) else ()
    made = convert(*given, core, core_node, *inputs)
    return list(made) if isinstance(made, (list, tuple)) else [made]


def _vectorized(conversion: Conversion, op: Any, node: Any, inputs: tuple[Any, ...]) -> list[Any]:
    """The core node on tensors of the core's rank, given batch dimensions by Bitale. Dimensions of length 1 in all inputs are put aside."""
    core_node = op._create_dummy_core_node(node.inputs)
    ranks = [x.type.ndim for x in core_node.inputs]
    count = op.batch_ndim(node)
    ones = [axis for axis in range(count) if all(x.type.shape[axis] == 1 for x in node.inputs)]
    given = (
        [pt.dimshuffle(x, *(axis for axis in range(x.ndim) if axis not in ones)) for x in inputs]
        if ones
        else list(inputs)
    )
    if len(ones) == count:
        outputs = _core_outputs(conversion, op.core_op, core_node, given)
    else:
        leaves = [
            pt.TensorType(x.dtype, x.type.shape[x.ndim - rank :])() for x, rank in zip(given, ranks)
        ]
        outputs = _core_outputs(conversion, op.core_op, core_node, leaves)
        try:
            outputs = list(bt.vectorize_graph(outputs, dict(zip(leaves, given))))
        except NotImplementedError as error:
            raise NotConverted(str(error).split("\n", 1)[0]) from None
    return [pt.expand_dims(x, ones) for x in outputs] if ones else outputs

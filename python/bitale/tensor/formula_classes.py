"""PyTensor's op classes whose ops are formulas of others here: `Eye(dtype="float64")(3, 3, 0)` gives what pt.eye gives. No node has
such an op, so isinstance is False for the ops of all nodes, except for Pad: a padding is the node of an op with an inner graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bitale.tensor as pt
from bitale._class_factory import formula_class, is_library_op

__all__: list[str] = []


def _class(
    name: str,
    doc: str,
    apply: Callable[..., Any],
    holds: Callable[[Any], bool] | None = None,
    check: Callable[..., None] | None = None,
    **defaults: Any,
) -> Any:
    __all__.append(name)
    return formula_class(name, doc, apply, __name__, defaults, holds, check=check)


def _check_axis(axis: Any) -> None:
    if axis is not None and not isinstance(axis, int):
        raise TypeError(f"Repeat: expected an integer as axis, got {axis!r}")


def _split(x: Any, *given: Any, len_splits: Any, axis: Any) -> Any:
    axis, sizes = given if axis is None else (axis, *given)
    parts = pt.split(x, sizes, axis=axis)
    if len_splits is not None and len(parts) != len_splits:
        raise ValueError(f"Split: expected {len_splits} lengths, got {len(parts)}")
    return parts


AllocDiag = _class(
    "AllocDiag",
    "A vector as a diagonal.",
    lambda x, offset, axis1, axis2: pt.diag(x, offset),
    offset=0,
    axis1=0,
    axis2=1,
)
AllocEmpty = _class(
    "AllocEmpty",
    "A tensor of a shape.",
    lambda *shape, dtype: pt.empty(shape, dtype),
    dtype="float64",
)
Bartlett = _class("Bartlett", "The Bartlett window.", pt.bartlett)
Choose = _class(
    "Choose",
    "Elements of several tensors.",
    lambda a, choices, mode: pt.choose(a, choices, mode),
    mode="raise",
)
ExtractDiag = _class(
    "ExtractDiag",
    "A diagonal.",
    lambda x, offset, axis1, axis2, view: pt.diagonal(x, offset, axis1, axis2),
    offset=0,
    axis1=0,
    axis2=1,
    view=True,
)
Eye = _class(
    "Eye", "Ones on a diagonal.", lambda n, m, k, dtype: pt.eye(n, m, k, dtype=dtype), dtype=None
)
FillDiagonal = _class("FillDiagonal", "A value on the diagonal.", pt.fill_diagonal)
FillDiagonalOffset = _class("FillDiagonalOffset", "A value on a diagonal.", pt.fill_diagonal_offset)
JoinDims = _class(
    "JoinDims",
    "Dimensions made one.",
    lambda x, start_axis, n_axes: pt.join_dims(x, start_axis, n_axes),
    start_axis=0,
    n_axes=None,
)


def _pad(
    x: Any,
    pad_width: Any,
    *values: Any,
    pad_mode: str,
    reflect_type: str | None,
    has_stat_length: bool,
    static_pad_width: Any,
) -> Any:
    options = {"constant": "constant_values", "linear_ramp": "end_values"}
    name = "stat_length" if has_stat_length else options.get(pad_mode)
    named = dict(zip([name] if name else [], values))
    if len(values) != len(named):
        raise TypeError(f"Pad: expected {2 + bool(name)} inputs, got {2 + len(values)}")
    width = pad_width if static_pad_width is None else static_pad_width
    return pt.pad(x, width, pad_mode, reflect_type=reflect_type, **named)


Pad = _class(
    "Pad",
    "Elements around a tensor: Pad(pad_mode='edge')(x, 2). Ops of pt.pad have the attribute pad_mode.",
    _pad,
    lambda op: is_library_op("OpFromGraph")(op) and "pad_mode" in op.__props__,
    pad_mode=...,
    reflect_type=None,
    has_stat_length=False,
    static_pad_width=None,
)
PermuteRowElements = _class(
    "PermuteRowElements",
    "Rows in another order.",
    lambda x, y, inverse: pt.permute_row_elements(x, y, bool(inverse)),
    inverse=False,
)
RavelMultiIndex = _class(
    "RavelMultiIndex",
    "Positions of index tuples.",
    lambda *inputs, mode, order: pt.ravel_multi_index(inputs[:-1], inputs[-1], mode, order),
    mode="raise",
    order="C",
)
Repeat = _class(
    "Repeat",
    "Each element so many times.",
    lambda x, repeats, axis: pt.repeat(x, repeats, axis),
    check=_check_axis,
    axis=None,
)
ScalarFromTensor = _class("ScalarFromTensor", "A scalar.", pt.scalar_from_tensor)
Split = _class(
    "Split",
    "Parts along an axis: Split(2, axis=0)(x, sizes), Split(2)(x, axis, sizes).",
    _split,
    len_splits=None,
    axis=None,
)
SplitDims = _class(
    "SplitDims",
    "A dimension made several.",
    lambda x, shape, axis: pt.split_dims(x, shape, axis),
    axis=0,
)
TensorFromScalar = _class("TensorFromScalar", "A tensor without dimensions.", pt.tensor_from_scalar)
Unique = _class(
    "Unique",
    "Distinct elements.",
    lambda x, **options: pt.unique(x, **options),
    return_index=False,
    return_inverse=False,
    return_counts=False,
    axis=None,
)
UnravelIndex = _class(
    "UnravelIndex",
    "Index tuples of positions.",
    lambda indices, dims, order: pt.unravel_index(indices, dims, order),
    order="C",
)


def _of_blas(name: str) -> Callable[..., Any]:
    def apply(*inputs: Any, **options: Any) -> Any:
        from bitale.tensor import blas  # it needs this module

        return getattr(blas, name)(*inputs)

    return apply


Gemm = _class(
    "Gemm", "b * z + a * x @ y; nothing is written in place.", _of_blas("gemm"), inplace=False
)
Gemv = _class(
    "Gemv",
    "beta * y + alpha * A @ x; nothing is written in place.",
    _of_blas("gemv"),
    inplace=False,
)
Ger = _class(
    "Ger",
    "A + alpha * outer(x, y); nothing is written in place.",
    _of_blas("ger"),
    destructive=False,
)
Dot22 = _class("Dot22", "The product of two matrices.", pt.dot)
Dot22Scalar = _class(
    "Dot22Scalar", "The product of two matrices, times a scalar.", lambda x, y, a: a * pt.dot(x, y)
)
Softmax = _class(
    "Softmax", "Softmax along an axis.", lambda x, axis: pt.softmax(x, axis), axis=None
)
LogSoftmax = _class(
    "LogSoftmax", "The logarithm of softmax.", lambda x, axis: pt.log_softmax(x, axis), axis=None
)
LogSumExp = _class(
    "LogSumExp",
    "The logarithm of a sum of exponentials.",
    lambda x, axis, keepdims: pt.logsumexp(x, axis, keepdims),
    axis=None,
    keepdims=False,
)
LogAddExp = _class(
    "LogAddExp",
    "The logarithm of the sum of exponentials of tensors.",
    lambda *xs, input_types: pt.logaddexp(*xs),
    input_types=None,
)
XLogY = _class(
    "XLogY",
    "x log(y), 0 where x is 0.",
    lambda x, y, input_types: pt.special.xlogy(x, y),
    input_types=None,
)
XLog1PY = _class(
    "XLog1PY",
    "x log(1 + y), 0 where x is 0.",
    lambda x, y, input_types: pt.special.xlog1py(x, y),
    input_types=None,
)

"""Small functions on shapes, axes and values, as pytensor.tensor.utils has them."""

from __future__ import annotations

import hashlib
import importlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from bitale._core import AxisError, ShapeError, TensorVariable, as_tensor_variable  # type: ignore[attr-defined]

__all__ = [
    "broadcast_static_dim_lengths",
    "faster_broadcast_to",
    "faster_ndindex",
    "get_static_shape_from_size_variables",
    "hash_from_ndarray",
    "import_func_from_string",
    "normalize_reduce_axis",
    "safe_signature",
    "shape_of_variables",
]


def hash_from_ndarray(data: np.ndarray[Any, Any]) -> str:
    """A string that is the same for arrays of the same dtype, shape, strides and bytes, and differs for others.

    >>> from bitale.tensor.utils import hash_from_ndarray
    >>> hash_from_ndarray(np.ones(2)) == hash_from_ndarray(np.ones(2)), hash_from_ndarray(np.ones(2)) == hash_from_ndarray(np.ones(3))
    (True, False)
    """
    contiguous = data if data.flags.c_contiguous else np.ascontiguousarray(data)
    described = f"{data.dtype.str} {data.shape} {data.strides}".encode()
    return hashlib.sha256(contiguous.tobytes() + b" " + described).hexdigest()


def shape_of_variables(
    fgraph: Any, input_shapes: dict[Any, Sequence[int]]
) -> dict[Any, tuple[int, ...]]:
    """The shapes of all variables of a graph, given those of its inputs. ValueError when one is missing.

    >>> from bitale.tensor.utils import shape_of_variables
    >>> x = pt.dmatrix("x")
    >>> y = x[512:]
    >>> shapes = shape_of_variables(bt.graph.FunctionGraph([x], [y], clone=False), {x: (1024, 1024)})
    >>> shapes[x], shapes[y]
    ((1024, 1024), (512, 1024))
    """
    from bitale.compile.function import function

    missing = [variable for variable in fgraph.inputs if variable not in input_shapes]
    if missing:
        raise ValueError(f"shape_of_variables: the shape of the input {missing[0]} is not given")
    computed = [
        out for node in fgraph.toposort() for out in node.outputs if isinstance(out, TensorVariable)
    ]
    lengths = [out.shape for out in computed]
    given = [np.zeros(tuple(input_shapes[v]), v.dtype) for v in fgraph.inputs]
    values: list[Any] = (
        function(list(fgraph.inputs), lengths, on_unused_input="ignore")(*given) if lengths else []
    )
    shapes = {variable: tuple(int(n) for n in input_shapes[variable]) for variable in fgraph.inputs}
    shapes.update({out: tuple(int(n) for n in value) for out, value in zip(computed, values)})
    return shapes


def import_func_from_string(func_string: str) -> Callable[..., Any] | None:
    """The function of a dotted name, such as "numpy.add"; None where there is none.

    >>> from bitale.tensor.utils import import_func_from_string
    >>> import_func_from_string("numpy.add") is np.add
    True
    """
    module, _, name = func_string.rpartition(".")
    parts = module.split(".") if module else []
    for count in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:count]))
        except ImportError:
            continue
        for part in [*parts[count:], name]:
            found = getattr(found, part, None)
        return found  # type: ignore[no-any-return]
    return None


def broadcast_static_dim_lengths(dim_lengths: Sequence[int | None]) -> int | None:
    """The length that dimensions of these lengths broadcast to; None where it is not known. ShapeError for lengths that
    don't broadcast.

    >>> from bitale.tensor.utils import broadcast_static_dim_lengths
    >>> broadcast_static_dim_lengths((1, 3, None)), broadcast_static_dim_lengths((1, None))
    (3, None)
    """
    known = {length for length in dim_lengths if length not in (None, 1)}
    if len(known) > 1:
        raise ShapeError(f"dimensions of lengths {tuple(dim_lengths)} don't broadcast")
    return known.pop() if known else None if None in dim_lengths else 1


def safe_signature(core_inputs_ndim: Sequence[int], core_outputs_ndim: Sequence[int]) -> str:
    """A signature for vectorize, of inputs and outputs with these numbers of dimensions, all with different names.

    >>> from bitale.tensor.utils import safe_signature
    >>> safe_signature([2, 0], [1])
    '(i00,i01),()->(o00)'
    """

    def side(prefix: str, ranks: Sequence[int]) -> str:
        return ",".join(
            f"({','.join(f'{prefix}{k}{axis}' for axis in range(rank))})"
            for k, rank in enumerate(ranks)
        )

    return f"{side('i', core_inputs_ndim)}->{side('o', core_outputs_ndim)}"


def normalize_reduce_axis(axis: Any, ndim: int) -> tuple[int, ...] | None:
    """The axes of a reduction, none negative; None for all. TypeError for anything that is not an integer, AxisError for nonexistent axes, ValueError for a repeated one.

    >>> from bitale.tensor.utils import normalize_reduce_axis
    >>> normalize_reduce_axis(-1, 3), normalize_reduce_axis((0, 2), 3)
    ((2,), (0, 2))
    """
    if axis is None:
        return None
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    if ndim == 0 and not axes:
        return None
    out = []
    for each in axes:
        if not isinstance(each, (int, np.integer)):
            raise TypeError(f"axis must be an integer, a tuple of integers or None, got {axis}")
        if not -max(ndim, 1) <= each < max(ndim, 1):
            raise AxisError(f"axis {each} is out of bounds for a tensor of {ndim} dimensions")
        out.append(int(each) % max(ndim, 1))
    if len(set(out)) < len(out):
        raise ValueError(f"an axis is given twice: {axis}")
    return tuple(sorted(out)) if ndim else None


def faster_broadcast_to(x: np.ndarray[Any, Any], shape: Sequence[int]) -> np.ndarray[Any, Any]:
    """numpy.broadcast_to.

    >>> from bitale.tensor.utils import faster_broadcast_to
    >>> faster_broadcast_to(np.array([1, 2]), (2, 2)).tolist()
    [[1, 2], [1, 2]]
    """
    return np.broadcast_to(x, shape)


def faster_ndindex(shape: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """The positions of an array of this shape, in order.

    >>> from bitale.tensor.utils import faster_ndindex
    >>> list(faster_ndindex((1, 2)))
    [(0, 0), (0, 1)]
    """
    return itertools.product(*(range(length) for length in shape))


def get_static_shape_from_size_variables(size_vars: Sequence[Any]) -> tuple[int | None, ...]:
    """The lengths that scalars stand for; None where the graph does not show one.

    >>> from bitale.tensor.utils import get_static_shape_from_size_variables
    >>> get_static_shape_from_size_variables([pt.constant(3), pt.lscalar("n")])
    (3, None)
    """
    from bitale._core import NotScalarConstantError, get_scalar_constant_value

    out: list[int | None] = []
    for size in size_vars:
        try:
            out.append(int(get_scalar_constant_value(as_tensor_variable(size))))
        except NotScalarConstantError:
            out.append(None)
    return tuple(out)

"""Functions that take functions, answer Python values, or have arguments that only Python has; formulas of others."""

from __future__ import annotations

import math
import re
from typing import Any, Callable, Sequence

import numpy as np

from bitale._core import (
    AxisError,
    NotScalarConstantError,
    TensorVariable,
    abs,
    arange,
    as_tensor_variable,
    broadcast_arrays,
    cast,
    constant,
    dot,
    join,
    make_vector,
    max,
    min,
    neq,
    round_half_away_from_zero,
    sign,
    specify_shape,
    split,
    split_dims,
    stack,
    sum,
    take,
    vectorize_graph,
    zeros,
    zeros_like,
)
from bitale._core import _bincount, _linspace, _linspace_step, _pad, _unique
from bitale._core import isinf as _isinf
from bitale._core import isnan as _isnan
from bitale._core import round as _round
from bitale.tensor.unique_slices import unique_slices

__all__ = [
    "bincount",
    "broadcast_shape",
    "dense_dot",
    "empty",
    "empty_like",
    "get_scalar_constant_value",
    "get_underlying_scalar_constant_value",
    "get_vector_length",
    "identity",
    "iround",
    "is_flat",
    "isinf",
    "isnan",
    "linspace",
    "make_slice",
    "mgrid",
    "ogrid",
    "pack",
    "pad",
    "round",
    "scalar_from_tensor",
    "sgn",
    "slice_at_axis",
    "specify_broadcastable",
    "stacklists",
    "tensor_copy",
    "tensor_from_scalar",
    "transfer",
    "unique",
    "unpack",
    "vectorize",
]

# ---- creation --------------------------------------------------------------------------------------------------------


def linspace(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
) -> TensorVariable | tuple[TensorVariable, TensorVariable]:
    """num numbers with equal steps from start to stop, which is the last one unless endpoint is False.

    Limits may be tensors; the new dimension comes at axis. dtype is config.floatX by default; numbers of an integer dtype
    are rounded down. retstep: the pair of numbers and step.

    >>> pt.linspace(0.0, 1.0, 5).eval()
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """
    numbers = _linspace(start, stop, num, endpoint, dtype, axis)
    return (numbers, _linspace_step(start, stop, num, endpoint)) if retstep else numbers


def empty(shape: Any, dtype: Any = None) -> TensorVariable:
    """A tensor of this shape whose elements may be anything; here zeros. dtype: config.floatX by default.

    >>> pt.empty((2, 3)).eval().shape
    (2, 3)
    """
    return zeros(shape, dtype)


def empty_like(prototype: Any, dtype: Any = None) -> TensorVariable:
    """A tensor of the prototype's shape whose elements may be anything; here zeros.

    >>> pt.empty_like(np.ones((2, 3))).eval().shape
    (2, 3)
    """
    return zeros_like(prototype, dtype)


class _Grid:
    """Coordinates by slices: grid[0:3, 0:1:0.5]; a number of points is written as an imaginary step, 5j."""

    def __init__(self, is_sparse: bool):
        self._is_sparse = is_sparse

    def __getitem__(self, key: Any) -> Any:
        slices = key if isinstance(key, tuple) else (key,)
        axes = []
        for each in slices:
            if not isinstance(each, slice):
                raise TypeError(f"expected slices, got {each!r}")
            start = 0 if each.start is None else each.start
            step = 1 if each.step is None else each.step
            if isinstance(step, complex):
                axes.append(linspace(start, each.stop, int(math.hypot(step.real, step.imag))))
            else:
                axes.append(arange(start, each.stop, step))
        if not isinstance(key, tuple):
            return axes[0]
        n = len(axes)
        sparse = [axis.dimshuffle(*["x"] * i, 0, *["x"] * (n - 1 - i)) for i, axis in enumerate(axes)]
        return sparse if self._is_sparse else broadcast_arrays(*sparse)


mgrid = _Grid(False)
ogrid = _Grid(True)

# ---- conversion and known facts --------------------------------------------------------------------------------------


def tensor_copy(x: Any) -> TensorVariable:
    """x: values in a graph never change, so there is nothing to copy.

    >>> x = pt.dvector("x")
    >>> pt.tensor_copy(x) is x
    True
    """
    return as_tensor_variable(x)


identity = tensor_copy


def tensor_from_scalar(s: Any) -> TensorVariable:
    """A scalar as a tensor without dimensions, which it is here. TypeError for tensors with dimensions.

    >>> pt.tensor_from_scalar(3.0).eval()
    array(3., dtype=float32)
    """
    s = as_tensor_variable(s)
    if s.ndim != 0:
        raise TypeError(f"expected a scalar, got {s} with {s.ndim} dimensions")
    return s


scalar_from_tensor = tensor_from_scalar


_transfers: list[Callable[[Any, str], Any]] = []


def transfer(var: Any, target: str) -> Any:
    """The variable, where the target says: "cpu", or one that a function given to register_transfer knows. ValueError for
    another one.

    >>> x = pt.dvector("x")
    >>> pt.transfer(x, "cpu") is x
    True
    """
    var = as_tensor_variable(var)
    if target == "cpu":
        return var
    for function in _transfers:
        if (moved := function(var, target)) is not None:
            return moved
    raise ValueError(f"transfer: expected the target \"cpu\", got {target!r}")


def register_transfer(fn: Callable[[Any, str], Any]) -> None:
    """Adds a function that transfer asks: fn(x, target) is x where the target says, or None for a target that it does not know."""
    if not callable(fn):
        raise TypeError(f"register_transfer: expected a function, got {fn!r}")
    _transfers.append(fn)


def get_vector_length(v: Any) -> int:
    """The number of elements of a vector. ValueError when it is not known, or v is no vector.

    >>> pt.get_vector_length(pt.dmatrix().shape)
    2
    """
    v = as_tensor_variable(v)
    if v.ndim != 1:
        raise ValueError(f"get_vector_length: expected a vector, got {v} with {v.ndim} dimensions")
    length = v.type.shape[0]
    if length is None:
        raise ValueError(f"get_vector_length: the length of {v} is not known")
    return length


def get_underlying_scalar_constant_value(
    v: Any,
    *,
    elemwise: bool = True,
    only_process_constants: bool = False,
    max_recur: int = 10,
    raise_not_constant: bool = True,
) -> Any:
    """The one value that all elements of v have, as a NumPy array without dimensions.

    NotScalarConstantError when there is none that the graph shows, or v itself when raise_not_constant is False.

    >>> pt.get_underlying_scalar_constant_value(pt.constant(3))
    array(3, dtype=int8)
    """
    if v is None or (isinstance(v, np.ndarray) and v.size == 0):
        raise NotScalarConstantError(f"{v!r} has no common value of all its elements")
    v = as_tensor_variable(v)
    data = getattr(v, "data", None)
    if data is not None and data.size and (np.all(data == data.flat[0]) or np.all(data != data)):
        return np.array(data.flat[0], dtype=v.dtype)
    from bitale import graph

    if data is None and not only_process_constants and not list(graph.graph_inputs([v])):
        value = v.eval()
        if value.size and np.all(value == value.flat[0]):
            return np.array(value.flat[0], dtype=v.dtype)
    node = v.owner
    if node is not None and not only_process_constants and max_recur > 0:
        name = type(node.op).__name__ if not hasattr(node.op, "name") else node.op.name
        if name in ("Alloc", "DimShuffle", "Reshape", "SpecifyShape"):
            return get_underlying_scalar_constant_value(
                node.inputs[0], max_recur=max_recur - 1, raise_not_constant=raise_not_constant
            )
    if raise_not_constant:
        raise NotScalarConstantError(f"{v} has no common constant value of all its elements")
    return v


def _unique_value(x: Any) -> Any:
    data = x.data
    same = data.size > 0 and bool(np.all(data == data.flat[0]) or np.all(data != data))
    return np.array(data.flat[0], dtype=data.dtype) if same else None


def _constant_signature(x: Any) -> tuple[Any, ...]:
    return str(x.type), x.data.shape, np.ascontiguousarray(x.data).tobytes()


def _constant_equals(x: Any, other: Any) -> bool:
    try:
        other = as_tensor_variable(other)
    except (TypeError, ValueError):
        return False
    return hasattr(other, "data") and _constant_signature(x) == _constant_signature(other)


def get_scalar_constant_value(
    v: Any,
    elemwise: bool = True,
    only_process_constants: bool = False,
    max_recur: int = 10,
    raise_not_constant: bool = True,
) -> Any:
    """The value of a scalar. NotScalarConstantError when the graph does not show it, or v has dimensions that are not 1.

    >>> pt.get_scalar_constant_value(pt.constant(3))
    array(3, dtype=int8)
    """
    v = as_tensor_variable(v)
    if all(n == 1 for n in v.type.shape):
        return get_underlying_scalar_constant_value(
            v,
            elemwise=elemwise,
            only_process_constants=only_process_constants,
            max_recur=max_recur,
            raise_not_constant=raise_not_constant,
        )
    if raise_not_constant:
        raise NotScalarConstantError(f"{v} is not a scalar")
    return v


def is_flat(var: Any, ndim: int = 1) -> bool:
    """Whether var has ndim dimensions: then flattening it to so many changes nothing.

    >>> pt.is_flat(pt.dvector()), pt.is_flat(pt.dmatrix())
    (True, False)
    """
    return as_tensor_variable(var).ndim == ndim


def broadcast_shape(*arrays: Any, arrays_are_shapes: bool = False) -> tuple[Any, ...]:
    """The lengths that tensors (or tensors with these shapes) have when broadcast together.

    >>> x, y = pt.TensorType("float64", (3, 1))(), pt.TensorType("float64", (1, 4))()
    >>> [n.eval() for n in pt.broadcast_shape(x, y)]
    [array(3), array(4)]
    """
    if not arrays_are_shapes:
        shaped = [as_tensor_variable(x) for x in arrays]
    else:
        shaped = [zeros(tuple(lengths), dtype="bool") for lengths in arrays]
    if not shaped:
        return ()
    common = broadcast_arrays(*shaped)[0]
    return tuple(common.shape[axis] for axis in range(common.ndim))


def specify_broadcastable(x: Any, *axes: int) -> TensorVariable:
    """x, whose dimensions `axes` have length 1: checked when a function is called.

    >>> pt.specify_broadcastable(pt.dmatrix(), 1).type.shape
    (None, 1)
    """
    x = as_tensor_variable(x)
    lengths: list[int | None] = [None] * x.ndim
    for axis in axes:
        if not -x.ndim <= axis < x.ndim:
            raise AxisError(f"specify_broadcastable: axis {axis} is out of bounds for a tensor of {x.ndim} dimensions")
        lengths[axis] = 1
    return specify_shape(x, tuple(lengths)) if axes else x


# ---- joining ---------------------------------------------------------------------------------------------------------


def stacklists(arg: Any) -> TensorVariable:
    """Nested lists of tensors as one tensor: a dimension for each level.

    >>> pt.stacklists([[1, 2], [3, 4]]).eval()
    array([[1, 2],
           [3, 4]], dtype=int8)
    """
    return stack([stacklists(each) for each in arg]) if isinstance(arg, (list, tuple)) else as_tensor_variable(arg)


def slice_at_axis(sl: slice, axis: int) -> tuple[Any, ...]:
    """The index that takes this slice of one dimension, and all of the others.

    >>> x = pt.dmatrix()
    >>> x[pt.slice_at_axis(slice(1), axis=1)].type.shape
    (None, None)
    """
    return (slice(None),) * axis + (sl,) + (...,) if axis >= 0 else (..., sl) + (slice(None),) * (-1 - axis)


def _kept_axes(axes: int | Sequence[int] | None) -> tuple[int, int]:
    """How many dimensions are kept in front and behind."""
    if axes is None:
        return 0, 0
    given = [axes] if isinstance(axes, int) else list(axes)
    front, behind = [a for a in given if a >= 0], [a for a in given if a < 0]
    if sorted(front) != list(range(len(front))) or sorted(behind) != list(range(-len(behind), 0)):
        raise ValueError(f"pack: expected axes from 0 on, or up to -1, or both, got {given}")
    return len(front), len(behind)


def pack(*tensors: Any, keep_axes: Sequence[int] | int | None = None) -> tuple[TensorVariable, list[TensorVariable]]:
    """All dimensions but the kept ones made one, and the tensors joined along it; and the shapes that unpack needs.

    keep_axes: axes from 0 on, or up to -1, or both. ValueError for others, and for tensors with fewer dimensions.

    >>> flat, shapes = pt.pack(pt.dscalar(), pt.dmatrix())
    >>> flat.ndim
    1
    """
    front, behind = _kept_axes(keep_axes)
    flat, shapes = [], []
    for given in tensors:
        x = as_tensor_variable(given)
        if x.ndim < front + behind:
            raise ValueError(f"pack: {x} has {x.ndim} dimensions, of which {front + behind} should be kept")
        lengths = [x.shape[i] for i in range(x.ndim)]
        middle = lengths[front : x.ndim - behind]
        shapes.append(make_vector(*middle, dtype="int64") if middle else constant(np.empty(0, "int64")))
        flat.append(x.reshape((*lengths[:front], math.prod(middle[1:], start=middle[0]) if middle else 1, *lengths[x.ndim - behind :])))
    if not flat:
        raise ValueError("pack: expected at least one tensor")
    return join(front, *flat), shapes


def unpack(
    packed_input: Any, packed_shapes: Sequence[Any], keep_axes: Sequence[int] | int | None = None
) -> list[TensorVariable]:
    """The tensors that pack has joined.

    >>> flat, shapes = pt.pack(pt.constant([[1.0, 2.0]]), pt.constant(3.0))
    >>> [each.eval().tolist() for each in pt.unpack(flat, shapes)]
    [[[1.0, 2.0]], 3.0]
    """
    front, _ = _kept_axes(keep_axes)
    packed = as_tensor_variable(packed_input)
    lengths = []
    for given in packed_shapes:
        middle = as_tensor_variable(given, dtype="int64") if isinstance(given, (list, tuple)) else as_tensor_variable(given)
        lengths.append([middle[i] for i in range(get_vector_length(middle))])
    sizes = [math.prod(each[1:], start=each[0]) if each else 1 for each in lengths]
    out = []
    for part, each in zip(split(packed, sizes, axis=front), lengths):
        out.append(split_dims(part, each, axis=front) if each else part.squeeze(axis=front) if part.type.shape[front] == 1
                   else specify_broadcastable(part, front).squeeze(axis=front))  # fmt: skip
    return out


# ---- elements --------------------------------------------------------------------------------------------------------


def iround(a: Any, mode: str | None = None) -> TensorVariable:
    """The nearest whole number as int64; of two equally near the even one, or with mode "half_away_from_zero" the further.

    >>> pt.iround([0.4, 1.6]).eval()
    array([0, 2])
    """
    if mode not in (None, "half_to_even", "half_away_from_zero"):
        raise ValueError(f'iround: expected mode "half_to_even" or "half_away_from_zero", got {mode!r}')
    return cast(round_half_away_from_zero(a) if mode == "half_away_from_zero" else round(a), "int64")


def pad(
    x: Any,
    pad_width: Any,
    mode: str = "constant",
    *,
    constant_values: Any = None,
    end_values: Any = None,
    stat_length: Any = None,
    reflect_type: str | None = None,
) -> TensorVariable:
    """x with elements added around it, as numpy.pad.

    pad_width: a number, a pair for before and after, or a pair for each dimension. mode: "constant", "edge",
    "linear_ramp", "maximum", "minimum", "mean", "median", "wrap", "symmetric" or "reflect". reflect_type: of the last two, "even"
    mirrors x, "odd" mirrors it at the points at its edges, as 2 * edge - x. ValueError for another mode or type, for negative widths, and
    for arguments that the mode does not take. NotImplementedError for "odd" of bools.

    >>> x = pt.dvector("x")
    >>> pt.pad(x, 2, mode="reflect", reflect_type="odd").eval({x: [1.0, 2.0, 4.0]})
    array([-2.,  0.,  1.,  2.,  4.,  6.,  7.])
    """
    taken = {"constant": "constant_values", "linear_ramp": "end_values", "symmetric": "reflect_type", "reflect": "reflect_type",
             "maximum": "stat_length", "minimum": "stat_length", "mean": "stat_length", "median": "stat_length"}  # fmt: skip
    given = {"constant_values": constant_values, "end_values": end_values, "stat_length": stat_length, "reflect_type": reflect_type}
    for name, value in given.items():
        if value is not None and taken.get(mode) != name:
            raise ValueError(f'pad: mode "{mode}" does not take {name}')
    if reflect_type not in (None, "even", "odd"):
        raise ValueError(f'pad: expected reflect_type "even" or "odd", got {reflect_type!r}')
    return _pad(x, pad_width, mode, constant_values if end_values is None else end_values, stat_length, reflect_type == "odd")


def unique(
    ar: Any, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False, axis: int | None = None
) -> Any:
    """The distinct elements in increasing order (nan once, last); and, as asked for, where each was found first, which
    of them each element of ar is (in ar's shape), and how often each was found.

    axis: of the slices along it, compared lexicographically; the second result is then a vector. AxisError for one that is
    not there.

    >>> pt.unique(np.array([3, 1, 3, 2])).eval()
    array([1, 2, 3])
    """
    ar = as_tensor_variable(ar)
    if axis is not None and not -ar.ndim <= axis < ar.ndim:
        raise AxisError(f"unique: axis {axis} is out of bounds for a tensor of {ar.ndim} dimensions")
    if axis is None or ar.ndim == 1:
        values, index, inverse, counts = _unique(ar)
    else:
        index, inverse, counts = unique_slices(ar, axis % ar.ndim)
        values = take(ar, index, axis=axis)
    asked = [each for each, wanted in ((index, return_index), (inverse, return_inverse), (counts, return_counts)) if wanted]
    return (values, *asked) if asked else values


def isnan(a: Any) -> TensorVariable:
    """Whether each element is nan.

    >>> pt.isnan([1.0, np.nan]).eval()
    array([False,  True])
    """
    return _isnan(a)


def isinf(a: Any) -> TensorVariable:
    """Whether each element is infinite.

    >>> pt.isinf([1.0, np.inf]).eval()
    array([False,  True])
    """
    return _isinf(a)


def sgn(a: Any) -> TensorVariable:
    """-1, 0 or 1 by the sign of each element; nan of nan.

    >>> pt.sgn([-2.0, 0.0, 3.0]).eval()
    array([-1.,  0.,  1.])
    """
    return sign(a)


def round(a: Any, mode: str | None = None) -> TensorVariable:
    """The nearest integer to each element. mode: of two that are as near, the even one ("half_to_even", the default) or
    the one farther from zero ("half_away_from_zero"). ValueError for another mode.

    >>> pt.round([0.5, 1.5, 2.6]).eval()
    array([0., 2., 3.])
    """
    if mode in (None, "half_to_even"):
        return _round(a)
    if mode == "half_away_from_zero":
        return round_half_away_from_zero(a)
    raise ValueError(f"round: mode: expected \"half_to_even\" or \"half_away_from_zero\", got {mode!r}")


def bincount(x: Any, weights: Any = None, minlength: Any = None, assert_nonneg: bool = False) -> TensorVariable:
    """How often each number from 0 on is in a vector of integers, or the sum of its weights; at least minlength long.

    A negative number is a ValueError when the function is called, whatever assert_nonneg says.

    >>> pt.bincount(np.array([0, 1, 1, 3])).eval()
    array([1, 2, 0, 1])
    """
    return _bincount(x, weights, 0 if minlength is None else minlength)


def make_slice(slc: Any, stop: Any = None, step: Any = None) -> slice:
    """The slice of these bounds, which may be variables; slc as it is when it is one.

    >>> x = pt.dvector("x")
    >>> x[pt.make_slice(1, x.shape[0] - 1)].eval({x: [1.0, 2.0, 3.0, 4.0]})
    array([2., 3.])
    """
    if isinstance(slc, slice):
        if stop is not None or step is not None:
            raise ValueError("make_slice: a slice has its own stop and step")
        return slc
    return slice(slc, stop, step)


def dense_dot(a: Any, b: Any) -> TensorVariable:
    """dot: all tensors are dense here.

    >>> pt.dense_dot(np.array([[1.0, 2.0]]), np.array([3.0, 4.0])).eval()
    array([11.])
    """
    return dot(a, b)


def _norm(x: Any, L: Any, axis: Any = None, keepdims: bool = False) -> TensorVariable:
    x = as_tensor_variable(x)
    if isinstance(L, (int, float)):
        if L == 0:
            return cast(neq(x, 0), x.dtype).sum(axis=axis, keepdims=keepdims)
        if math.isinf(L):
            return (max if L > 0 else min)(abs(x), axis=axis, keepdims=keepdims)
    return (abs(x) ** L).sum(axis=axis, keepdims=keepdims) ** (1.0 / L)


# ---- batches ---------------------------------------------------------------------------------------------------------

_CORE = r"\(\s*(?:\w+\s*(?:,\s*\w+\s*)*)?\)"


def _ranks(signature: str) -> tuple[list[int], list[int]]:
    if not re.fullmatch(rf"\s*(?:{_CORE}\s*(?:,\s*{_CORE}\s*)*)?->\s*{_CORE}\s*(?:,\s*{_CORE}\s*)*", signature):
        raise ValueError(f'vectorize: expected a signature such as "(m,n),(n)->(m)", got {signature!r}')
    sides = []
    for side in signature.split("->"):
        sides.append([len([n for n in core[1:-1].split(",") if n.strip()]) for core in re.findall(_CORE, side)])
    return sides[0], sides[1]


def vectorize(func: Callable[..., Any], signature: str | None = None) -> Callable[..., Any]:
    """func, a function of variables, for batches: their dimensions come before those that the signature names.

    Without a signature the inputs and outputs are scalars. ValueError for a text that is no signature, for inputs with
    fewer dimensions than it says, and for outputs with others.

    >>> import bitale.tensor as pt
    >>> norm = pt.vectorize(lambda x: pt.sqrt((x**2).sum()), "(n)->()")
    >>> norm(pt.as_tensor([[3.0, 4.0], [6.0, 8.0]])).eval()
    array([ 5., 10.])
    """
    ranks = None if signature is None else _ranks(signature)

    def vectorized(*inputs: Any) -> Any:
        given = [as_tensor_variable(x) for x in inputs]
        cores = [0] * len(given) if ranks is None else ranks[0]
        if len(cores) != len(given):
            raise ValueError(f"vectorize: the signature has {len(cores)} inputs, got {len(given)}")
        formal = []
        for x, core in zip(given, cores):
            if x.ndim < core:
                raise ValueError(f"vectorize: expected at least {core} dimensions, got {x} with {x.ndim}")
            formal.append(x.type.clone(shape=x.type.shape[x.ndim - core :])(name=getattr(x, "name", None)))
        results = func(*formal)
        several = isinstance(results, (list, tuple))
        outputs = [as_tensor_variable(out) for out in (results if several else [results])]
        if ranks is not None and [out.ndim for out in outputs] != ranks[1]:
            raise ValueError(
                f"vectorize: the signature has outputs of {ranks[1]} dimensions, the function's have {[out.ndim for out in outputs]}"
            )
        batched = vectorize_graph(outputs, dict(zip(formal, given)))
        return list(batched) if several else batched[0]

    return vectorized

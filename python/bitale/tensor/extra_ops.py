"""Functions that are short expressions of others."""

from __future__ import annotations

from typing import Any, Sequence

from bitale._core import (
    AxisError,
    TensorVariable,
    abs,
    alloc,
    and_,
    argmax,
    as_tensor_variable,
    cast,
    dimshuffle,
    eq,
    expand_dims,
    gt,
    int_div,
    isinf,
    isnan,
    le,
    lt,
    max,
    maximum,
    min,
    minimum,
    mod,
    neg,
    neq,
    nonzero,
    or_,
    second,
    switch,
)

from bitale.tensor.places import finder

__all__ = [
    "allclose",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "atleast_Nd",
    "ceil_intdiv",
    "divmod",
    "full",
    "full_like",
    "isclose",
    "isneginf",
    "isposinf",
    "largest",
    "max_and_argmax",
    "moveaxis",
    "ptp",
    "shape_padaxis",
    "shape_padleft",
    "shape_padright",
    "smallest",
    "swap_last_axes",
    "swapaxes",
    "where",
]


def _axis(axis: int, ndim: int, function: str) -> int:
    if not -ndim <= axis < ndim:
        raise AxisError(f"{function}: axis {axis} is out of bounds for a tensor of {ndim} dimensions")
    return axis % ndim


def full(shape: Any, fill_value: Any, dtype: Any = None) -> TensorVariable:
    """A tensor of this shape whose elements are all fill_value.

    >>> pt.full((2, 2), 7.0).eval()
    array([[7., 7.],
           [7., 7.]], dtype=float32)
    """
    value = as_tensor_variable(fill_value)
    if dtype is not None:
        value = cast(value, dtype)
    return alloc(value, shape) if isinstance(shape, (TensorVariable, list, tuple)) else alloc(value, [shape])


def full_like(a: Any, fill_value: Any, dtype: Any = None) -> TensorVariable:
    """A tensor of a's shape whose elements are all fill_value, in fill_value's dtype unless another is given.

    >>> pt.full_like(np.ones(3), 7).eval()
    array([7, 7, 7], dtype=int8)
    """
    return second(a, fill_value if dtype is None else cast(fill_value, dtype))


def where(cond: Any, ift: Any = None, iff: Any = None) -> TensorVariable | tuple[TensorVariable, ...]:
    """ift where the condition is true, else iff; the condition alone: where it is not 0, as `nonzero`.

    ValueError when only one of ift and iff is given.

    >>> x = pt.dvector("x")
    >>> pt.where(x > 0, x, -x).eval({x: [-1.0, 2.0]})
    array([1., 2.])
    """
    if ift is None and iff is None:
        return nonzero(cond)
    if ift is None or iff is None:
        raise ValueError("where: expected both values, or neither")
    return switch(cond, ift, iff)


def swapaxes(y: Any, axis1: int, axis2: int) -> TensorVariable:
    """y with two dimensions exchanged.

    >>> pt.swapaxes(np.ones((2, 3, 4)), 0, 2).eval().shape
    (4, 3, 2)
    """
    x = as_tensor_variable(y)
    order = list(range(x.ndim))
    i, j = _axis(axis1, x.ndim, "swapaxes"), _axis(axis2, x.ndim, "swapaxes")
    order[i], order[j] = order[j], order[i]
    return dimshuffle(x, *order)


def swap_last_axes(x: Any) -> TensorVariable:
    """Each matrix of a stack transposed.

    >>> pt.swap_last_axes(np.ones((2, 3, 4))).eval().shape
    (2, 4, 3)
    """
    return swapaxes(x, -1, -2)


def moveaxis(a: Any, source: int | Sequence[int], destination: int | Sequence[int]) -> TensorVariable:
    """a with some dimensions moved to other places; the others keep their order.

    >>> pt.moveaxis(np.ones((2, 3, 4)), 0, -1).eval().shape
    (3, 4, 2)
    """
    x = as_tensor_variable(a)
    sources = [source] if isinstance(source, int) else list(source)
    destinations = [destination] if isinstance(destination, int) else list(destination)
    if len(sources) != len(destinations):
        raise ValueError("moveaxis: source and destination must be equally many")
    sources = [_axis(axis, x.ndim, "moveaxis") for axis in sources]
    destinations = [_axis(axis, x.ndim, "moveaxis") for axis in destinations]
    if len(set(sources)) < len(sources) or len(set(destinations)) < len(destinations):
        raise ValueError("moveaxis: an axis is given twice")
    order = [axis for axis in range(x.ndim) if axis not in sources]
    for to, axis in sorted(zip(destinations, sources)):
        order.insert(to, axis)
    return dimshuffle(x, *order)


def shape_padleft(t: Any, n_ones: int = 1) -> TensorVariable:
    """t with new dimensions of length 1 in front.

    >>> pt.shape_padleft(np.ones((2, 3))).eval().shape
    (1, 2, 3)
    """
    x = as_tensor_variable(t)
    return dimshuffle(x, *["x"] * n_ones, *range(x.ndim))


def shape_padright(t: Any, n_ones: int = 1) -> TensorVariable:
    """t with new dimensions of length 1 behind.

    >>> pt.shape_padright(np.ones((2, 3))).eval().shape
    (2, 3, 1)
    """
    x = as_tensor_variable(t)
    return dimshuffle(x, *range(x.ndim), *["x"] * n_ones)


def shape_padaxis(t: Any, axis: int) -> TensorVariable:
    """t with a new dimension of length 1.

    >>> pt.shape_padaxis(np.ones((2, 3)), 1).eval().shape
    (2, 1, 3)
    """
    return expand_dims(t, axis)


def atleast_Nd(arry: Any, n: int = 1, *, left: bool = True) -> TensorVariable:
    """arry with as many dimensions of length 1 in front (or behind, unless left) as it takes to have n.

    >>> pt.atleast_Nd([1, 2], n=3, left=False).eval().shape
    (2, 1, 1)
    """
    x = as_tensor_variable(arry)
    if x.ndim >= n:
        return x
    return (shape_padleft if left else shape_padright)(x, n - x.ndim)


def atleast_1d(x: Any) -> TensorVariable:
    """x, or a vector of it when it is a scalar.

    >>> pt.atleast_1d(3.0).eval()
    array([3.], dtype=float32)
    """
    return atleast_Nd(x, n=1)


def atleast_2d(x: Any) -> TensorVariable:
    """x with at least 2 dimensions.

    >>> pt.atleast_2d([1, 2]).eval()
    array([[1, 2]])
    """
    return atleast_Nd(x, n=2)


def atleast_3d(x: Any) -> TensorVariable:
    """x with at least 3 dimensions.

    >>> pt.atleast_3d([1, 2]).eval().shape
    (1, 1, 2)
    """
    return atleast_Nd(x, n=3)


def largest(*args: Any) -> TensorVariable:
    """Elementwise maximum of all.

    >>> pt.largest([1, 5], [4, 2]).eval()
    array([4, 5])
    """
    if not args:
        raise TypeError("largest() takes at least one tensor")
    out = as_tensor_variable(args[0])
    for other in args[1:]:
        out = maximum(out, other)
    return out


def smallest(*args: Any) -> TensorVariable:
    """Elementwise minimum of all.

    >>> pt.smallest([1, 5], [4, 2]).eval()
    array([1, 2])
    """
    if not args:
        raise TypeError("smallest() takes at least one tensor")
    out = as_tensor_variable(args[0])
    for other in args[1:]:
        out = minimum(out, other)
    return out


def max_and_argmax(a: Any, axis: Any = None, keepdims: bool = False) -> tuple[TensorVariable, TensorVariable]:
    """The largest elements and where they are.

    >>> [each.eval() for each in pt.max_and_argmax([3.0, 7.0, 5.0])]
    [array(7.), array(1)]
    """
    return max(a, axis=axis, keepdims=keepdims), argmax(a, axis=axis, keepdims=keepdims)


def ptp(a: Any, axis: Any = None, keepdims: bool = False) -> TensorVariable:
    """Largest less smallest element.

    >>> pt.ptp(np.array([3.0, 7.0, 5.0])).eval()
    array(4.)
    """
    a = as_tensor_variable(a)
    return max(a, axis=axis, keepdims=keepdims) - min(a, axis=axis, keepdims=keepdims)


def divmod(x: Any, y: Any) -> tuple[TensorVariable, TensorVariable]:
    """(x // y, x % y)

    >>> [part.eval() for part in pt.divmod(7, 2)]
    [array(3, dtype=int8), array(1, dtype=int8)]
    """
    return int_div(x, y), mod(x, y)


def ceil_intdiv(a: Any, b: Any) -> TensorVariable:
    """Integer division that rounds up.

    >>> pt.ceil_intdiv(7, 2).eval()
    array(4, dtype=int8)
    """
    a, b = as_tensor_variable(a), as_tensor_variable(b)
    quotient = int_div(a, b)
    if quotient.dtype.startswith("float"):
        return neg(int_div(neg(cast(a, quotient.dtype)), b))
    return quotient + cast(neq(mod(a, b), 0), quotient.dtype)  # the negative of an unsigned integer is not one


def isposinf(x: Any) -> TensorVariable:
    """Whether plus infinity.

    >>> pt.isposinf([1.0, np.inf]).eval()
    array([False,  True])
    """
    x = as_tensor_variable(x)
    return and_(isinf(x), gt(x, 0))


def isneginf(x: Any) -> TensorVariable:
    """Whether minus infinity.

    >>> pt.isneginf([1.0, -np.inf]).eval()
    array([False,  True])
    """
    x = as_tensor_variable(x)
    return and_(isinf(x), lt(x, 0))


def isclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> TensorVariable:
    """Whether |a - b| <= atol + rtol * |b|, infinities being close to themselves.

    >>> pt.isclose([1.0, 2.0], [1.0, 2.1]).eval()
    array([ True, False])
    """
    # Of integers, too, differences are those of floats: nothing wraps.
    a, b = (cast(x, "float64") if x.dtype[0] != "f" else x for x in map(as_tensor_variable, (a, b)))
    infinite = or_(isinf(a), isinf(b))
    near = switch(infinite, eq(a, b), le(abs(a - b), atol + rtol * abs(b)))
    return or_(near, and_(isnan(a), isnan(b))) if equal_nan else near


def allclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> TensorVariable:
    """Whether all elements are close.

    >>> pt.allclose([1.0, 2.0], [1.0, 2.0 + 1e-9]).eval()
    array(True)
    """
    return isclose(a, b, rtol, atol, equal_nan).all()


__getattr__ = finder(__name__)  # PyTensor has more functions at this place

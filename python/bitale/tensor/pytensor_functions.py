"""What PyTensor's modules have in addition to the names that pytensor.tensor exports: `from bitale.tensor.basic import ix_`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from bitale._deprecation import warn_deprecated

import numpy as np

from bitale._core import (
    NotScalarConstantError,
    TensorConstant,
    TensorType,
    TensorVariable,
    add,
    arange,
    as_tensor_variable,
    constant,
    dtype_names,
    inc_subtensor,
    mul,
    set_subtensor,
    zeros,
)

from bitale.graph.type import Type
from bitale.tensor.transfers import register_transfer

if TYPE_CHECKING:
    from bitale.typing import DTypeLike, Operand

__all__ = [
    "DenseTensorConstant",
    "DenseTensorType",
    "DenseTensorVariable",
    "advanced_inc_subtensor",
    "advanced_set_subtensor",
    "advanced_subtensor",
    "NoneTypeT",
    "PadMode",
    "SliceType",
    "all_dtypes",
    "alloc_diag",
    "complex_dtypes",
    "continuous_dtypes",
    "discrete_dtypes",
    "extract_constant",
    "float_dtypes",
    "infer_static_shape",
    "int_dtypes",
    "integer_dtypes",
    "ix_",
    "none_type_t",
    "register_transfer",
    "scalar_elemwise",
    "shape_tuple",
    "slicetype",
    "to_one_hot",
    "uint_dtypes",
    "values_eq_approx",
    "values_eq_approx_always_true",
    "values_eq_approx_remove_inf",
    "values_eq_approx_remove_inf_nan",
    "values_eq_approx_remove_nan",
    "variadic_add",
    "variadic_mul",
]

PadMode = Literal[
    "constant",
    "edge",
    "linear_ramp",
    "maximum",
    "minimum",
    "mean",
    "median",
    "wrap",
    "symmetric",
    "reflect",
]

# All tensors of Bitale are dense.
DenseTensorType, DenseTensorVariable, DenseTensorConstant = (
    TensorType,
    TensorVariable,
    TensorConstant,
)

int_dtypes, uint_dtypes, float_dtypes, complex_dtypes = map(dtype_names, "iufc")
integer_dtypes, discrete_dtypes, continuous_dtypes, all_dtypes = map(
    dtype_names, ("iu", "biu", "fc", "biufc")
)


def ix_(*args: Operand) -> tuple[TensorVariable, ...]:
    """Vectors that index a grid: each along a separate dimension, masks as the positions where they are true. ValueError for operands with more dimensions.

    >>> from bitale.tensor.basic import ix_
    >>> x = np.arange(9).reshape(3, 3)
    >>> pt.constant(x)[ix_([0, 2], [True, False, True])].eval()
    array([[0, 2],
           [6, 8]])
    """
    out = []
    for axis, given in enumerate(args):
        v = as_tensor_variable(given)
        if v.ndim != 1:
            raise ValueError(f"ix_: expected vectors, got {v} with {v.ndim} dimensions")
        if v.dtype == "bool":
            (v,) = v.nonzero()
        out.append(v.dimshuffle(*["x"] * axis, 0, *["x"] * (len(args) - 1 - axis)))
    return tuple(out)


def alloc_diag(diag: Operand, offset: int = 0, axis1: int = 0, axis2: int = 1) -> TensorVariable:
    """The last dimension on the diagonal of two new ones, axis1 and axis2; zeros elsewhere.

    >>> from bitale.tensor.basic import alloc_diag
    >>> alloc_diag([1.0, 2.0], offset=1).eval()
    array([[0., 1., 0.],
           [0., 0., 2.],
           [0., 0., 0.]])
    """
    from bitale._core import moveaxis

    x = as_tensor_variable(diag)
    if x.ndim < 1:
        raise ValueError("alloc_diag: expected at least one dimension")
    n = x.shape[-1]
    size = n + abs(offset)
    indices = arange(n)
    empty = zeros((*(x.shape[axis] for axis in range(x.ndim - 1)), size, size), dtype=x.dtype)
    out = set_subtensor(empty[..., indices + max(-offset, 0), indices + max(offset, 0)], x)
    return moveaxis(out, (-2, -1), (axis1, axis2))


def extract_constant(x: Any, elemwise: bool = True, only_process_constants: bool = False) -> Any:
    """The value that all elements of x have, where the graph shows it; else x.

    >>> from bitale.tensor.basic import extract_constant
    >>> extract_constant(pt.constant(3))
    array(3, dtype=int8)
    """
    from bitale._core import get_underlying_scalar_constant_value

    warn_deprecated("extract_constant", "get_underlying_scalar_constant_value")
    try:
        return get_underlying_scalar_constant_value(
            x, elemwise=elemwise, only_process_constants=only_process_constants
        )
    except NotScalarConstantError:
        return x


def infer_static_shape(shape: Any) -> tuple[tuple[TensorVariable, ...], tuple[int | None, ...]]:
    """Lengths as scalars, and as far as they are known as numbers. TypeError for anything that is not an integer.

    >>> from bitale.tensor.basic import infer_static_shape
    >>> infer_static_shape((3, pt.lscalar("n")))[1]
    (3, None)
    """
    from bitale.tensor.utils import get_static_shape_from_size_variables

    given = (
        list(shape)
        if isinstance(shape, (list, tuple, np.ndarray)) or getattr(shape, "ndim", 0) == 1
        else [shape]
    )
    lengths = tuple(as_tensor_variable(each) for each in given)
    for length in lengths:
        if length.ndim or length.dtype not in integer_dtypes:
            raise TypeError(
                f"infer_static_shape: expected integers as lengths, got {length} of type {length.type}"
            )
    return lengths, get_static_shape_from_size_variables(lengths)


def advanced_subtensor(x: Operand, *args: Operand) -> TensorVariable:
    """x[args].

    >>> from bitale.tensor.subtensor import advanced_subtensor
    >>> advanced_subtensor(np.array([3.0, 1.0, 2.0]), np.array([2, 0])).eval()
    array([2., 3.])
    """
    return as_tensor_variable(x)[args]


def advanced_set_subtensor(x: Operand, y: Operand, *args: Operand) -> TensorVariable:
    """x with x[args] set to y.

    >>> from bitale.tensor.subtensor import advanced_set_subtensor
    >>> advanced_set_subtensor(np.zeros(3), 5.0, np.array([2, 0])).eval()
    array([5., 0., 5.])
    """
    return set_subtensor(as_tensor_variable(x)[args], y)


def advanced_inc_subtensor(x: Operand, y: Operand, *args: Operand) -> TensorVariable:
    """x with y added to x[args]; positions that are given twice count twice.

    >>> from bitale.tensor.subtensor import advanced_inc_subtensor
    >>> advanced_inc_subtensor(np.zeros(3), 5.0, np.array([2, 2])).eval()
    array([ 0.,  0., 10.])
    """
    return inc_subtensor(as_tensor_variable(x)[args], y)


def values_eq_approx(
    a: Any,
    b: Any,
    allow_remove_inf: bool = False,
    allow_remove_nan: bool = False,
    rtol: float | None = None,
    atol: float | None = None,
) -> bool:
    """Whether two arrays have the same dtype and shape and close elements, where nan is close to nan; elements where a is infinite, or nan, are skipped if that is allowed.

    >>> from bitale.tensor.type import values_eq_approx
    >>> values_eq_approx(np.array([1.0, np.inf]), np.array([1.0, 2.0])), values_eq_approx(np.array([1.0, np.inf]), np.array([1.0, 2.0]), True)
    (False, True)
    """
    if (
        not (isinstance(a, np.ndarray) and isinstance(b, np.ndarray))
        or a.shape != b.shape
        or a.dtype != b.dtype
    ):
        return False
    if a.dtype.name in discrete_dtypes:
        return bool(np.array_equal(a, b))
    tolerance = {"float16": 5e-3, "float32": 1e-5, "complex64": 1e-5}.get(a.dtype.name, 1e-8)
    close = np.isclose(
        a,
        b,
        rtol=tolerance if rtol is None else rtol,
        atol=tolerance if atol is None else atol,
        equal_nan=True,
    )
    return bool(np.all(close | (np.isinf(a) & allow_remove_inf) | (np.isnan(a) & allow_remove_nan)))


def values_eq_approx_remove_inf(a: Any, b: Any) -> bool:
    """values_eq_approx, but for elements where a is infinite."""
    return values_eq_approx(a, b, True)


def values_eq_approx_remove_nan(a: Any, b: Any) -> bool:
    """values_eq_approx, but for elements where a is nan."""
    return values_eq_approx(a, b, False, True)


def values_eq_approx_remove_inf_nan(a: Any, b: Any) -> bool:
    """values_eq_approx, but for elements where a is infinite or nan."""
    return values_eq_approx(a, b, True, True)


def scalar_elemwise(
    *symbol: Any,
    nfunc: Any = None,
    nin: Any = None,
    nout: Any = None,
    symbolname: str | None = None,
) -> Any:
    """The elementwise op of the scalar function that has this function's name, or symbolname: a decorator, with or without arguments. nfunc, nin and nout, a function of NumPy and its arguments, are accepted without effect. AttributeError where bitale.scalar has no function of the name; ValueError for names of ops that overwrite operands.

    >>> from bitale.tensor.elemwise import scalar_elemwise
    >>> @scalar_elemwise(symbolname="exp")
    ... def growth(a):
    ...     "How much it grows."
    >>> growth(pt.constant([0.0, 1.0])).eval().round(2)
    array([1.  , 2.72])
    """

    def construct(function: Any) -> Any:
        from bitale import _core
        from bitale.tensor.op_classes import Elemwise

        name = symbolname or function.__name__
        if name.endswith("_inplace"):
            raise ValueError(
                f"scalar_elemwise: {name} is not supported: only rewriting makes ops in-place"
            )
        return Elemwise(getattr(_core, name))

    return construct(symbol[0]) if symbol else construct


def values_eq_approx_always_true(a: Any, b: Any) -> bool:
    """Return True, for types whose values are not to be compared.

    Parameters
    ----------
    a : object
        First value.
    b : object
        Second value.

    Returns
    -------
    bool
        True.

    Examples
    --------
    >>> pt.values_eq_approx_always_true(1.0, 2.0)
    True
    """
    return True


def shape_tuple(x: Operand) -> tuple[TensorVariable, ...]:
    """The lengths of x, those that are known as constants.

    >>> from bitale.tensor.shape import shape_tuple
    >>> shape_tuple(pt.matrix("x", shape=(3, None)))[0]
    TensorConstant{3}
    """
    v = as_tensor_variable(x)
    return tuple(
        v.shape[axis] if known is None else constant(known, dtype="int64")
        for axis, known in enumerate(v.type.shape)
    )


def to_one_hot(
    y: Operand, nb_class: int | TensorVariable, dtype: DTypeLike = None
) -> TensorVariable:
    """A row of nb_class elements for each integer of the vector y, with 1 at its index and 0 elsewhere.

    >>> from bitale.tensor.extra_ops import to_one_hot
    >>> to_one_hot(np.array([1, 0]), 3, "int64").eval()
    array([[0, 1, 0],
           [1, 0, 0]])
    """
    indices = as_tensor_variable(y)
    if indices.ndim != 1 or indices.dtype not in integer_dtypes:
        raise TypeError(
            f"to_one_hot: expected a vector of integers, got {indices} of type {indices.type}"
        )
    rows = zeros((indices.shape[0], nb_class), dtype=dtype)
    return set_subtensor(rows[arange(indices.shape[0]), indices], 1)


def variadic_add(*args: Operand) -> TensorVariable:
    """The sum of any number of tensors: 0 for none, the tensor itself for one."""
    return add(*args) if len(args) > 1 else as_tensor_variable(args[0] if args else 0)


def variadic_mul(*args: Operand) -> TensorVariable:
    """The product of any number of tensors: 1 for none, the tensor itself for one."""
    return mul(*args) if len(args) > 1 else as_tensor_variable(args[0] if args else 1)


class NoneTypeT(Type):
    """The type of None: an argument of your own op that may be absent."""

    __props__ = ()

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> None:
        if data is not None:
            raise TypeError(f"expected None, got {data!r}")


class SliceType(Type):
    """The type of slices of numbers: an argument of your own op. As an index, Python's slices are used, whose bounds may be
    variables.

    >>> from bitale.tensor.type_other import slicetype
    >>> slicetype.filter(slice(1, 3))
    slice(1, 3, None)
    """

    __props__ = ()

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> slice:
        if not isinstance(data, slice):
            raise TypeError(f"expected a slice, got {data!r}")
        return data


none_type_t, slicetype = NoneTypeT(), SliceType()

"""Methods of sparse variables that take Python's slices, give SciPy's arrays, or are stored by pickle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bitale._geography import absent
from bitale import _core
from bitale._core import SparseVariable, TensorSharedVariable
from bitale.sparse import basic, math
from bitale.compile.function import evaluate
from bitale.sparse import tree as tree  # how matrices are taken apart
from bitale.sparse.type import SparseTensorType, is_scipy, pattern_of

__all__ = [
    "SparseConstant",
    "SparseTensorSharedVariable",
    "SparseTensorType",
    "SparseVariable",
    "constant",
    "restored",
]

SparseVariable.__module__ = __name__


def restored(*parts: Any) -> SparseVariable:
    """The matrix that pickle has stored."""
    return _core.sparse_matrix(*parts)


def _reduced(x: SparseVariable) -> tuple[Any, ...]:
    return restored, (x.format, x.data, x.indices, x.indptr, *x.lengths, False, x.name or "")


def _refuse_iteration(x: SparseVariable) -> Any:
    raise TypeError(
        "a sparse matrix can't be iterated over; A[i] is its row i, A.data its stored elements"
    )


def _refusing(name: str) -> Callable[..., Any]:
    def refuse(x: SparseVariable, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(
            f"sparse: the result of {name} is not sparse: write A.todense().{name}(...), or apply it to A.data, the stored elements"
        )

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = f"TypeError: the result of {name} is not sparse; the error says what to write."
    return refuse


# Methods of tensors that would make a dense matrix of a sparse one.
_DENSE = (
    "all", "any", "arccos", "arccosh", "argmax", "argmin", "argsort", "cos", "cosh", "cumprod", "cumsum", "dimshuffle", "exp", "exp2", "flatten", "log",
    "log10", "log2", "max", "mean", "min", "nonzero", "nonzero_values", "prod", "ptp", "ravel", "reshape", "round", "squeeze", "std", "var",
    "__and__", "__or__", "__xor__", "__mod__", "__divmod__", "__floordiv__",
)  # fmt: skip
_FUNCTIONS = (
    "arcsin", "arcsinh", "arctan", "arctanh", "ceil", "conj", "deg2rad", "expm1", "floor", "log1p", "rad2deg", "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
)  # fmt: skip
constant = basic.constant


class _Kind(type):
    """The metaclass of classes of matrices, told by their data."""

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, SparseVariable) and bool(vars(cls)["_holds"](x.data))

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(
            f"{cls.__name__}: matrices of this class are made by functions of bitale.sparse: {vars(cls)['_made_by']}"
        )


class SparseConstant(metaclass=_Kind):
    """A sparse matrix whose elements are constants: isinstance(A, SparseConstant). constant() makes one."""

    _made_by = "constant(value)"
    _holds = staticmethod(lambda data: hasattr(data, "data"))


class SparseTensorSharedVariable(metaclass=_Kind):
    """A sparse matrix whose elements persist between calls. shared() makes one."""

    _made_by = "shared(value)"
    _holds = staticmethod(lambda data: isinstance(data, TensorSharedVariable))


def _trace(x: SparseVariable) -> Any:
    """The sum of the diagonal."""
    return x.diagonal().sum()


def _taking_scipy(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """An operator of which the other side may be one of SciPy's matrices, and its reflected form."""
    own, reflected = getattr(SparseVariable, f"__{name}__"), getattr(SparseVariable, f"__r{name}__")

    def operator(x: SparseVariable, other: Any) -> Any:
        return own(x, constant(other) if is_scipy(other) else other)

    def from_the_right(x: SparseVariable, other: Any) -> Any:
        return own(constant(other), x) if is_scipy(other) else reflected(x, other)

    return operator, from_the_right


def _type(x: SparseVariable) -> SparseTensorType:
    """The type: calling it gives other variables like it."""
    if not x.is_static:
        return SparseTensorType(x.format, x.dtype, x.static_shape, index_dtype=x.indices.dtype)
    import scipy.sparse

    indices, indptr = pattern_of(x)
    kind = scipy.sparse.csr_array if x.format == "csr" else scipy.sparse.csc_array
    return SparseTensorType(
        x.format,
        x.dtype,
        pattern=kind((np.ones(len(indices)), indices, indptr), shape=x.static_shape),
    )


for _name in ("add", "sub", "mul", "matmul"):
    for _prefix, _method in zip(("", "r"), _taking_scipy(_name)):
        setattr(SparseVariable, f"__{_prefix}{_name}__", _method)

_METHODS: dict[str, Any] = {
    "__getitem__": basic.get_item, "__pow__": math.power, "__iter__": _refuse_iteration, "__reduce__": _reduced, "eval": evaluate,
    "__lt__": math.lt, "__le__": math.le, "__gt__": math.gt, "__ge__": math.ge, "__ceil__": math.ceil, "__floor__": math.floor, "__trunc__": math.trunc,
    "zeros_like": basic.sp_zeros_like, "ones_like": basic.sp_ones_like, "trace": _trace, "get_value": basic.get_value, "set_value": basic.set_value, "type": property(_type), "size": property(lambda x: x.nnz),
    **{name: getattr(math, name) for name in _FUNCTIONS}, **{name: _refusing(name) for name in _DENSE},
}  # fmt: skip
for _name, _method in _METHODS.items():
    setattr(SparseVariable, _name, _method)

__getattr__ = absent(__name__)

"""Mathematics of sparse matrices. Functions that preserve zeros stay sparse; others are refused with an error that suggests todense()."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

import bitale.tensor as pt
from bitale import _core
from bitale._core import SparseVariable
from bitale._geography import finder as _finder
from bitale.sparse.basic import as_sparse_or_tensor_variable, as_sparse_variable

# ---- elementwise, of the stored elements -----------------------------------------------------------------------------

_KEEP_ZEROS = (
    "abs", "arcsin", "arcsinh", "arctan", "arctanh", "cbrt", "ceil", "conj", "deg2rad", "erf", "expm1", "floor", "log1p", "neg",
    "rad2deg", "rint", "sign", "sin", "sinh", "sqr", "sqrt", "tan", "tanh", "trunc",
)  # fmt: skip
_STRUCTURED = {
    "structured_exp": "exp",
    "structured_log": "log",
    "structured_sigmoid": "sigmoid",
    "structured_conjugate": "conj",
}
_STRUCTURED_BINARY = {
    "structured_pow": "pow",
    "structured_minimum": "minimum",
    "structured_maximum": "maximum",
    "structured_add": "add",
}


def structured_elemwise(tensor_op: Callable[..., Any]) -> Callable[..., Any]:
    """The elementwise function of tensors, applied to the stored elements. As a decorator, it replaces the body of
    a function, and keeps its name, arguments and docstring."""

    def of_stored(x: Any, *others: Any) -> Any:
        if inspect.isfunction(x) and not others:
            return functools.wraps(x)(of_stored)
        a = as_sparse_variable(x)
        if any(getattr(pt.as_tensor_variable(each), "ndim", 0) for each in others):
            raise TypeError(
                "sparse: a structured function takes numbers in addition to the matrix; A * x and sampling_dot() take tensors"
            )
        return a.with_data(tensor_op(a.data, *others))

    return of_stored


def _made(name: str, function: Callable[..., Any], doc: str) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    function.__module__ = __name__
    return function


def _tensor_function(name: str) -> Callable[..., Any]:
    function: Callable[..., Any] = pt.round if name == "rint" else getattr(pt, name)
    return function


def _of_one(name: str, of: str, doc: str) -> Callable[..., Any]:
    apply = structured_elemwise(_tensor_function(of))

    def function(x: Any) -> SparseVariable:
        applied: SparseVariable = apply(x)
        return applied

    return _made(name, function, doc)


def _of_two(name: str, of: str, doc: str) -> Callable[..., Any]:
    apply = structured_elemwise(_tensor_function(of))

    def function(x: Any, y: Any) -> SparseVariable:
        applied: SparseVariable = apply(x, y)
        return applied

    return _made(name, function, doc)


for _name in _KEEP_ZEROS:
    globals()[_name] = _of_one(_name, _name, f"{_name} of each element; zeros stay zeros.")
for _name, _of in _STRUCTURED.items():
    globals()[_name] = _of_one(_name, _of, f"{_of} of the stored elements only.")
for _name, _of in _STRUCTURED_BINARY.items():
    globals()[_name] = _of_two(_name, _of, f"{_of} of the stored elements and a number.")
conjugate = globals()["conj"]


def _refusing(name: str) -> Callable[..., Any]:
    def refuse(x: Any, *others: Any) -> Any:
        raise TypeError(
            f"sparse: {name} of 0 is not 0: write pt.{name}(A.todense()), or structured_elemwise(pt.{name})(A) for the stored elements only"
        )

    return _made(
        name, refuse, f"TypeError: {name} does not keep zeros; the error says what to write."
    )


_NOT_KEPT = (
    "arccos",
    "arccosh",
    "cos",
    "cosh",
    "exp",
    "exp2",
    "log",
    "log10",
    "log2",
    "reciprocal",
    "sigmoid",
    "softplus",
)
for _name in _NOT_KEPT:
    globals()[_name] = _refusing(_name)


def power(x: Any, exponent: Any) -> SparseVariable:
    """Each element raised to a positive power, a number. TypeError for other powers, which do not keep 0."""
    is_number = np.isscalar(exponent) and not isinstance(exponent, bool)
    if not is_number or not exponent > 0:
        raise TypeError(
            "sparse: A**p keeps zeros for a positive number p: write A.todense() ** p, or structured_pow(A, p) for the stored elements only"
        )
    a = as_sparse_variable(x)
    return a.with_data(a.data**exponent)


# ---- sums and products -----------------------------------------------------------------------------------------------


def _both(x: Any, y: Any) -> tuple[Any, Any]:
    x, y = as_sparse_or_tensor_variable(x), as_sparse_or_tensor_variable(y)
    if not isinstance(x, SparseVariable) and not isinstance(y, SparseVariable):
        raise TypeError("sparse: expected a sparse matrix among the arguments")
    return x, y


def add(x: Any, y: Any) -> Any:
    """The sum: sparse for two sparse matrices, otherwise dense."""
    x, y = _both(x, y)
    return x + y


def subtract(x: Any, y: Any) -> Any:
    """The difference: sparse for two sparse matrices, otherwise dense."""
    x, y = _both(x, y)
    return x - y


def multiply(x: Any, y: Any) -> SparseVariable:
    """The elementwise product. A dense factor broadcasts."""
    x, y = _both(x, y)
    product: SparseVariable = x * y
    return product


def structured_add_s_v(x: Any, y: Any) -> SparseVariable:
    """Adds to each stored element the element of the vector y at its column."""
    a = as_sparse_variable(x)
    return a.with_data(a.data + _core.sparse_values_at(a, y))


def dot(x: Any, y: Any) -> Any:
    """The matrix product: sparse for two sparse matrices, otherwise dense."""
    x, y = _both(x, y)
    return (
        _core.sparse_dot(x, y)
        if isinstance(x, SparseVariable)
        else _core.sparse_dot(y.T, x if x.ndim == 1 else x.T).T
    )


def structured_dot(x: Any, y: Any) -> Any:
    """The same as dot."""
    return dot(x, y)


def true_dot(x: Any, y: Any, grad_preserves_dense: bool = True) -> Any:
    """The same as dot; the gradient of a dense factor is dense."""
    return dot(x, y)


def sampling_dot(x: Any, y: Any, p: Any) -> SparseVariable:
    """x @ y.T at the positions of p, times p."""
    return _core.sparse_sampling_dot(x, y, as_sparse_variable(p))


def structured_dot_grad(sparse_A: Any, dense_B: Any, ga: Any) -> SparseVariable:
    """The derivative of a product sparse_A @ dense_B with respect to the elements of sparse_A, where ga is that
    with respect to the product: ga @ dense_B.T at their positions."""
    a = as_sparse_variable(sparse_A)
    derivative: SparseVariable = _core.sparse_sampling_dot(
        ga, dense_B, a.with_data(pt.ones_like(a.data))
    )
    return derivative


def usmm(alpha: Any, x: Any, y: Any, z: Any) -> Any:
    """alpha * (x @ y) + z."""
    return alpha * dot(x, y) + z


def sp_sum(x: Any, axis: int | None = None, sparse_grad: bool = False) -> Any:
    """The sum of all elements, of each column (axis 0) or of each row (axis 1), a vector."""
    return _core.sparse_sum(as_sparse_variable(x), axis)


# ---- comparisons -----------------------------------------------------------------------------------------------------


def _comparison(name: str, compare: Callable[..., Any], of_zeros: bool) -> Callable[..., Any]:
    def function(x: Any, y: Any) -> Any:
        x, y = _both(x, y)
        if not isinstance(x, SparseVariable) or not isinstance(y, SparseVariable):
            dense = [
                _core.sparse_to_dense(one) if isinstance(one, SparseVariable) else one
                for one in (x, y)
            ]
            return compare(*dense)
        if of_zeros:
            raise TypeError(
                f"sparse: {name} of two sparse matrices holds wherever neither stores an element: write {name}(A.todense(), B)"
            )
        a, b = _core.sparse_aligned(x, y, name)
        return a.with_data(compare(a.data, b.data))

    kept = (
        "A dense bool matrix; TypeError for two sparse matrices, since it holds for two zeros."
        if of_zeros
        else ("A sparse bool matrix for two sparse ones, else a dense one.")
    )
    return _made(name, function, f"Elementwise {name}. {kept}")


_COMPARED = {"eq": True, "neq": False, "lt": False, "gt": False, "le": True, "ge": True}
for _name, _holds in _COMPARED.items():
    globals()[_name] = _comparison(_name, getattr(pt, _name), _holds)

# Names of PyTensor for the kinds of arguments, which one function takes here.
_ALIASES = {
    "sub": subtract, "mul": multiply, "add_s_s": add, "add_s_s_data": add, "add_s_d": add, "mul_s_s": multiply,
    "mul_s_d": multiply, "mul_s_v": multiply,
    "equal_s_s": globals()["eq"], "equal_s_d": globals()["eq"], "not_equal_s_s": globals()["neq"], "not_equal_s_d": globals()["neq"],
    "less_than_s_s": globals()["lt"], "less_than_s_d": globals()["lt"], "greater_than_s_s": globals()["gt"],
    "greater_than_s_d": globals()["gt"], "less_equal_s_s": globals()["le"], "less_equal_s_d": globals()["le"],
    "greater_equal_s_s": globals()["ge"], "greater_equal_s_d": globals()["ge"],
}  # fmt: skip
globals().update(_ALIASES)

__all__ = [
    *_KEEP_ZEROS, *_STRUCTURED, *_STRUCTURED_BINARY, *_NOT_KEPT, *_COMPARED, *_ALIASES, "add", "conjugate", "dot", "multiply", "power",
    "sampling_dot", "sp_sum", "structured_add_s_v", "structured_dot", "structured_dot_grad", "structured_elemwise", "subtract", "true_dot", "usmm",
]  # fmt: skip

__getattr__ = _finder(__name__, "sparse.op_classes")

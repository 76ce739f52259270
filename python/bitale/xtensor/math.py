"""Elementwise functions of labelled tensors, with the names of those in bitale.tensor, and functions along dimensions.

Operands are aligned by the names of their dimensions: the result has the dimensions of all of them, in the order in which they appear."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import bitale.tensor as pt
from bitale import _core
from bitale._core import (
    XTensorVariable,
    xtensor_log_softmax as log_softmax,
    xtensor_logsumexp as logsumexp,
    xtensor_softmax as softmax,
)

# The names of PyTensor's pytensor.xtensor.math, each the function of that name in bitale.tensor.
_ELEMENTWISE = (
    "abs", "add", "and_", "angle", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "betainc", "betaincinv",
    "bitwise_and", "bitwise_invert", "bitwise_not", "bitwise_or", "bitwise_xor", "ceil", "clip", "complex", "conj", "conjugate", "cos", "cosh",
    "deg2rad", "eq", "equal", "erf", "erfc", "erfcinv", "erfcx", "erfinv", "exp", "exp2", "expit", "expm1", "floor", "floor_div",
    "floor_divide", "gamma", "gammainc", "gammaincc", "gammainccinv", "gammaincinv", "gammal", "gammaln", "gammau", "ge", "greater",
    "greater_equal", "gt", "hyp2f1", "i0", "i1", "imag", "int_div", "invert", "isfinite", "isinf", "isnan", "iv", "ive", "j0", "j1", "jv",
    "kve", "le", "less", "less_equal", "log", "log10", "log1mexp", "log1p", "log2", "logical_and", "logical_not", "logical_or", "logical_xor",
    "lt", "maximum", "minimum", "mod", "mul", "multiply", "ndtri_exp", "neg", "negative", "neq", "not_equal", "or_", "owens_t", "polygamma",
    "pow", "power", "psi", "rad2deg", "real", "reciprocal", "round", "second", "sigmoid", "sign", "sin", "sinh", "softplus", "sqr", "sqrt",
    "square", "sub", "subtract", "switch", "tan", "tanh", "tri_gamma", "true_div", "true_divide", "trunc", "where", "xor",
    # beyond PyTensor's
    "cbrt", "hypot", "logaddexp", "ndtr", "log_ndtr", "xlogy", "xlog1py",
)  # fmt: skip


def labelled(name: str, function: Callable[..., Any]) -> Callable[..., XTensorVariable]:
    """The elementwise function of tensors as a function of labelled tensors.

    Parameters
    ----------
    name : str
        The name that errors use.
    function : callable
        An elementwise function of tensors.

    Returns
    -------
    callable
        The function. Its operands are labelled tensors, scalars, and xarray arrays.
    """

    def of_labelled(*operands: Any, **keywords: Any) -> XTensorVariable:
        if not keywords:
            return _core.xtensor_elementwise(name, function, *operands)
        bound = inspect.signature(function).bind(*operands, **keywords)
        return _core.xtensor_elementwise(name, function, *bound.args)

    of_labelled.__name__ = of_labelled.__qualname__ = name
    of_labelled.__module__ = __name__
    of_labelled.__doc__ = f"Elementwise ``{name}`` of labelled tensors, as the function of that name in bitale.tensor."
    return of_labelled


for _name in _ELEMENTWISE:
    globals()[_name] = labelled(_name, getattr(pt, _name))

if TYPE_CHECKING:
    where: Callable[..., XTensorVariable]

    def __getattr__(name: str) -> Callable[..., XTensorVariable]: ...


def identity(x: Any) -> XTensorVariable:
    """The labelled tensor itself."""
    return _core.xtensor_operand(x)


def cast(x: Any, dtype: Any) -> XTensorVariable:
    """The elements in another dtype."""
    return _core.xtensor_operand(x).astype(dtype)


def dot(x: Any, y: Any, dim: Any = None) -> XTensorVariable:
    """Sum products over dimensions.

    Parameters
    ----------
    x, y : XTensorVariable
        The factors.
    dim : str, sequence of str, or ..., optional
        The dimensions to sum over; ... are all. By default those that both
        factors have.

    Returns
    -------
    XTensorVariable
        The sum, with the other dimensions of both factors.

    Raises
    ------
    ValueError
        For a dimension that neither factor has.

    Examples
    --------
    >>> from bitale import xtensor as px
    >>> x = px.as_xtensor([[1.0, 2.0], [3.0, 4.0]], dims=("country", "year"))
    >>> w = px.as_xtensor([1.0, 10.0], dims="year")
    >>> px.dot(x, w).values.eval()
    array([21., 43.])
    """
    return _core.xtensor_operand(x).dot(y, dim)


__all__ = [  # noqa: PLE0604
    *_ELEMENTWISE,
    "cast",
    "dot",
    "identity",
    "labelled",
    "log_softmax",
    "logsumexp",
    "softmax",
]

"""PyTensor's module for functions of scalars. A scalar is a tensor of rank 0 here, and a scalar op the elementwise op of its name:
`node.op.scalar_op` is that op itself, so that ``isinstance(node.op.scalar_op, scalar.Add)`` and ``node.op.scalar_op == scalar.add``
mean the same as in PyTensor."""

from __future__ import annotations

import typing

from bitale._geography import finder
import bitale.tensor as _pt
from bitale import _core
from bitale.scalar.classes import *
from bitale.scalar.errors import *
from bitale.scalar.composite import Composite, ScalarInnerGraphOp
from bitale.tensor.op_classes import Elemwise as _Elemwise
from bitale._core import (
    TensorConstant as ScalarConstant,
    TensorType,
    TensorVariable as ScalarVariable,
)
from bitale.scalar.output_types import (
    float_out,
    int_out,
    real_out,
    same_out,
    same_out_float_only,
    same_out_min8,
    same_out_nobool,
    same_out_nocomplex,
    specific_out,
    upcast_out,
    upcast_out_min8,
    upcast_out_no_complex,
    upcast_out_nobool,
    upgrade_to_float,
    upgrade_to_float64,
    upgrade_to_float_no_complex,
)
from bitale.scalar.user_ops import UserScalarOp
from bitale.scalar.types import (  # noqa: F401
    ScalarType, all_types, as_scalar, cast, complex_types, complexs, complexs128, complexs64, constant, continuous_types, convert, discrete_types, float_types, floats, get_scalar_type, int_types, integer_types, ints, uint_types, upcast,
)  # fmt: skip

if typing.TYPE_CHECKING:
    import builtins


def _function(name: str) -> typing.Any:
    if name.removeprefix("convert_to_") in _casts:
        return _casts[name.removeprefix("convert_to_")]
    other = {"scalar_abs": "abs", "scalar_maximum": "maximum", "scalar_minimum": "minimum"}.get(
        name, name
    )
    if other not in _functions:
        return finder(__name__, *_IMPORTED)(name)
    return getattr(_pt, other)


_functions = frozenset(name for name, _ in _core.elementwise_functions()) | {
    "complex",
    "conj",
    "floor_div",
    "identity",
    "imag",
    "real",
    "round_half_to_even",
}


# PyTensor's module has these names of others.
_IMPORTED = (
    "graph.basic",
    "graph.op",
    "graph.type",
    "graph.utils",
    "graph.replace",
    "graph.traversal",
    "gradient",
    "printing",
    "configdefaults",
    "utils",
    "tensor",
    "tensor.pytensor_functions",
)

_by_dtype = {type_.dtype: type_ for type_ in all_types}
_casts = {dtype: _Elemwise(f"cast_{dtype}") for dtype in _by_dtype}


def betainc_grad(p: typing.Any, q: typing.Any, x: typing.Any, wrtp: builtins.bool) -> typing.Any:
    """The derivative of betainc(p, q, x) with respect to p, or to q unless wrtp."""
    return _pt.betainc_derivative(p, q, x) if wrtp else _pt.betainc_derivative_by_b(p, q, x)


def gammainc_grad(k: typing.Any, x: typing.Any) -> typing.Any:
    """The derivative of gammainc(k, x) with respect to k."""
    return _pt.gammainc_derivative(k, x)


def gammaincc_grad(k: typing.Any, x: typing.Any) -> typing.Any:
    """The derivative of gammaincc(k, x) with respect to k."""
    return -_pt.gammainc_derivative(k, x)


def hyp2f1_grad(
    a: typing.Any, b: typing.Any, c: typing.Any, z: typing.Any, wrt: typing.Sequence[builtins.int]
) -> list[typing.Any]:
    """The derivatives of hyp2f1(a, b, c, z) with respect to a (0), b (1) and c (2); wrt lists those to return, in this order."""
    if not wrt or not set(wrt) <= {0, 1, 2}:
        raise ValueError(f"hyp2f1_grad: wrt is some of 0, 1 and 2, got {wrt!r}")
    by = {
        0: lambda: _pt.hyp2f1_derivative(a, b, c, z),
        1: lambda: _pt.hyp2f1_derivative(b, a, c, z),
        2: lambda: _pt.hyp2f1_derivative_by_c(a, b, c, z),
    }
    return [by[i]() for i in wrt]


def betaln(a: typing.Any, b: typing.Any) -> typing.Any:
    """The logarithm of the beta function."""
    return _pt.special.betaln(a, b)


def __getattr__(name: str) -> typing.Any:
    """Functions and types by name: many of them (abs, bool, pow) would hide Python's own in this file."""
    if name in _by_dtype and name != "complex":
        return _by_dtype[name]
    return _function(name)


def __dir__() -> list[str]:
    found = (
        [name for name in globals() if name[0] != "_"]
        + list(_by_dtype)
        + [f"convert_to_{dtype}" for dtype in _by_dtype]
    )
    return sorted(
        {
            *found,
            *(name for name in _functions if hasattr(_pt, name)),
            "scalar_abs",
            "scalar_maximum",
            "scalar_minimum",
        }
    )


from bitale import _geography as _geography

_geography.add_modules(__name__)

"""Elementwise functions. A table says for each name the function of bitale.tensor and the kinds of dtypes that the standard
defines it for; the result has the dtype of the operands, or bool."""

from __future__ import annotations

import builtins
from typing import Any, Callable

import numpy as np

import bitale.tensor as pt
from bitale.array_api._dtypes import as_operands, dtype_of, of_kinds, promoted
from bitale.array_api._eager import named, standard


def _one(name: str, kinds: str, compute: Callable[[Any], Any], doc: str) -> Any:
    def function(x: Any, /) -> Any:
        return compute(of_kinds(x, name, kinds))

    return named(function, name, doc)


def _two(name: str, kinds: str, compute: Callable[[Any, Any], Any], doc: str) -> Any:
    def function(x1: Any, x2: Any, /) -> Any:
        x1, x2 = as_operands(x1, x2)
        return compute(of_kinds(x1, name, kinds), x2)

    return named(function, name, doc)


def _unless_integer(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: x if dtype_of(x).kind in "iu" else function(x)


def _to_nearest(x: Any) -> Any:
    return (
        pt.complex(pt.round(pt.real(x)), pt.round(pt.imag(x)))
        if dtype_of(x).kind == "c"
        else pt.round(x)
    )


def _bool_of(value: bool) -> Callable[[Any], Any]:
    return lambda x: pt.ones_like(x, dtype="bool") if value else pt.zeros_like(x, dtype="bool")


def _for_floats(function: Callable[[Any], Any], otherwise: bool) -> Callable[[Any], Any]:
    return lambda x: function(x) if dtype_of(x).kind in "fc" else _bool_of(otherwise)(x)


acos = _one("acos", "fc", pt.arccos, "The inverse cosine.")
acosh = _one("acosh", "fc", pt.arccosh, "The inverse hyperbolic cosine.")
asin = _one("asin", "fc", pt.arcsin, "The inverse sine.")
asinh = _one("asinh", "fc", pt.arcsinh, "The inverse hyperbolic sine.")
atan = _one("atan", "fc", pt.arctan, "The inverse tangent.")
atanh = _one("atanh", "fc", pt.arctanh, "The inverse hyperbolic tangent.")
cos = _one("cos", "fc", pt.cos, "The cosine.")
cosh = _one("cosh", "fc", pt.cosh, "The hyperbolic cosine.")
exp = _one("exp", "fc", pt.exp, "e to the power of x.")
expm1 = _one("expm1", "fc", pt.expm1, "exp(x) - 1, exact near 0.")
log = _one("log", "fc", pt.log, "The natural logarithm.")
log1p = _one("log1p", "fc", pt.log1p, "log(1 + x), exact near 0.")
log2 = _one("log2", "fc", pt.log2, "The logarithm to the base 2.")
log10 = _one("log10", "fc", pt.log10, "The logarithm to the base 10.")
reciprocal = _one("reciprocal", "fc", pt.reciprocal, "1 / x.")
sin = _one("sin", "fc", pt.sin, "The sine.")
sinh = _one("sinh", "fc", pt.sinh, "The hyperbolic sine.")
sqrt = _one("sqrt", "fc", pt.sqrt, "The square root.")
tan = _one("tan", "fc", pt.tan, "The tangent.")
tanh = _one("tanh", "fc", pt.tanh, "The hyperbolic tangent.")
signbit = _one(
    "signbit", "f", pt.signbit, "Whether the sign is negative, which tells -0.0 from 0.0."
)
conj = _one("conj", "iufc", pt.conj, "The complex conjugate; of real numbers themselves.")
real = _one("real", "iufc", pt.real, "The real part.")
imag = _one("imag", "c", pt.imag, "The imaginary part.")
abs = _one("abs", "iufc", pt.abs, "The absolute value.")
negative = _one("negative", "iufc", lambda x: -x, "-x; unsigned integers wrap.")
positive = _one("positive", "iufc", lambda x: x, "x.")
square = _one("square", "iufc", pt.sqr, "x * x.")
sign = _one("sign", "iufc", pt.sign, "-1, 0 or 1; of a complex number its direction.")
ceil = _one(
    "ceil",
    "iuf",
    _unless_integer(pt.ceil),
    "The smallest whole number not below x; integers are themselves.",
)
floor = _one(
    "floor",
    "iuf",
    _unless_integer(pt.floor),
    "The largest whole number not above x; integers are themselves.",
)
trunc = _one("trunc", "iuf", _unless_integer(pt.trunc), "The whole part; integers are themselves.")
round = _one(
    "round",
    "iufc",
    _unless_integer(_to_nearest),
    "The nearest whole number, the even one of two; integers are themselves.",
)
isfinite = _one(
    "isfinite", "biufc", _for_floats(pt.isfinite, True), "Whether x is neither infinite nor nan."
)
isinf = _one("isinf", "biufc", _for_floats(pt.isinf, False), "Whether x is infinite.")
isnan = _one("isnan", "biufc", _for_floats(pt.isnan, False), "Whether x is nan.")
logical_not = _one("logical_not", "b", pt.invert, "not x.")
bitwise_invert = _one("bitwise_invert", "biu", pt.invert, "Every bit flipped.")

add = _two("add", "iufc", pt.add, "x1 + x2.")
subtract = _two("subtract", "iufc", pt.sub, "x1 - x2.")
multiply = _two("multiply", "iufc", pt.mul, "x1 * x2.")
divide = _two("divide", "fc", pt.true_div, "x1 / x2.")
floor_divide = _two("floor_divide", "iuf", pt.int_div, "The quotient, rounded down.")
remainder = _two("remainder", "iuf", pt.mod, "The remainder with the sign of x2.")
pow = _two("pow", "iufc", pt.pow, "x1 to the power of x2.")
atan2 = _two("atan2", "f", pt.arctan2, "The angle of the point (x2, x1).")
hypot = _two("hypot", "f", pt.hypot, "sqrt(x1**2 + x2**2), which does not overflow.")
logaddexp = _two("logaddexp", "f", pt.logaddexp, "log(exp(x1) + exp(x2)), which does not overflow.")
copysign = _two("copysign", "f", pt.copysign, "x1 with the sign of x2.")
nextafter = _two("nextafter", "f", pt.nextafter, "The float next to x1 in the direction of x2.")
maximum = _two("maximum", "iuf", pt.maximum, "The larger one; nan next to nan.")
minimum = _two("minimum", "iuf", pt.minimum, "The smaller one; nan next to nan.")
equal = _two("equal", "biufc", pt.eq, "Whether x1 equals x2.")
not_equal = _two("not_equal", "biufc", pt.neq, "Whether x1 does not equal x2.")
less = _two("less", "iuf", pt.lt, "Whether x1 < x2.")
less_equal = _two("less_equal", "iuf", pt.le, "Whether x1 <= x2.")
greater = _two("greater", "iuf", pt.gt, "Whether x1 > x2.")
greater_equal = _two("greater_equal", "iuf", pt.ge, "Whether x1 >= x2.")
logical_and = _two("logical_and", "b", pt.and_, "Both.")
logical_or = _two("logical_or", "b", pt.or_, "One or both.")
logical_xor = _two("logical_xor", "b", pt.xor, "Exactly one.")
bitwise_and = _two("bitwise_and", "biu", pt.and_, "The bits of both.")
bitwise_or = _two("bitwise_or", "biu", pt.or_, "The bits of one or both.")
bitwise_xor = _two("bitwise_xor", "biu", pt.xor, "The bits of exactly one.")
bitwise_left_shift = _two(
    "bitwise_left_shift", "iu", pt.left_shift, "x1 with its bits shifted left by x2."
)
bitwise_right_shift = _two(
    "bitwise_right_shift", "iu", pt.right_shift, "x1 with its bits shifted right by x2."
)


@standard
def clip(x: Any, /, min: Any = None, max: Any = None) -> Any:
    """x between bounds, of which either may be left out.

    Parameters
    ----------
    x : array
        Real numbers.
    min, max : array, number or None
        They broadcast with x, and do not change its dtype.

    Returns
    -------
    array
        In the dtype of x.
    """
    x = of_kinds(x, "clip", "iuf")
    dtype, out = dtype_of(x), x
    for bound, function in ((min, pt.maximum), (max, pt.minimum)):
        if bound is None:
            continue
        if isinstance(bound, (int, float)) and dtype.kind in "iu":
            info = np.iinfo(dtype)  # a bound may be beyond all integers of the dtype
            bound = builtins.min(builtins.max(bound, info.min), info.max)
        _, other = as_operands(x, bound)
        if not isinstance(bound, (int, float)):
            promoted(dtype, dtype_of(bound))
        out = function(pt.cast(out, other.dtype), other)
    return pt.cast(out, dtype.name)

"""The functions of bitale.tensor, under their names there, in plain NumPy and SciPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special as sp

from . import arrays, elementwise, numpy_functions, random, rearrangement  # noqa: F401
from .linalg import (  # noqa: F401
    eigvalsh,
    expm,
    lstsq,
    lu,
    lu_factor,
    lu_solve,
    pinv,
    pivot_to_permutation,
    solve_banded,
    solve_continuous_are,
    solve_discrete_are,
    solve_sylvester,
    tridiagonal_lu_factor,
    tridiagonal_lu_solve,
)
from .signal import convolve1d, convolve2d, irfft, rfft  # noqa: F401
from .values import Val, formula, val

globals().update(elementwise.table)
globals().update(arrays.table)
globals().update(rearrangement.table)
globals().update(numpy_functions.table)

_t = {**elementwise.table, **arrays.table}
add, sub, mul, true_div, switch = _t["add"], _t["sub"], _t["mul"], _t["true_div"], _t["switch"]
log, gammaln = _t["log"], _t["gammaln"]
stack = _t["stack"]

# ---- short expressions of others -------------------------------------------------------------------------------------


def atleast_Nd(x: Any, n: int) -> Val:
    x = val(x)
    return Val(x.array.reshape((1,) * (n - x.ndim) + x.shape), x.dtype)


def atleast_1d(x: Any) -> Val:
    return atleast_Nd(x, 1)


def atleast_2d(x: Any) -> Val:
    return atleast_Nd(x, 2)


def atleast_3d(x: Any) -> Val:
    return atleast_Nd(x, 3)


def shape_padleft(x: Any, n_ones: int = 1) -> Val:
    x = val(x)
    return Val(x.array.reshape((1,) * n_ones + x.shape), x.dtype)


def shape_padright(x: Any, n_ones: int = 1) -> Val:
    x = val(x)
    return Val(x.array.reshape(x.shape + (1,) * n_ones), x.dtype)


def shape_padaxis(x: Any, axis: int) -> Val:
    return _t["expand_dims"](x, axis)


def swap_last_axes(x: Any) -> Val:
    return _t["swapaxes"](x, -1, -2)


def largest(x: Any, *more: Any) -> Val:
    for other in more:
        x = _t["maximum"](x, other)
    return x


def smallest(x: Any, *more: Any) -> Val:
    for other in more:
        x = _t["minimum"](x, other)
    return x


def divmod(x: Any, y: Any) -> tuple[Val, Val]:
    return _t["int_div"](x, y), _t["mod"](x, y)


def ceil_intdiv(a: Any, b: Any) -> Val:
    a, b = elementwise.aligned([a, b])
    dtype = elementwise.at_least_int8(a, b)
    if dtype.kind == "f":
        return _t["neg"](_t["int_div"](_t["neg"](Val(a.array, dtype)), b))
    quotient, rest = _t["int_div"](a, b), _t["mod"](a, b)
    return Val((quotient.array + (rest.array != 0)).astype(dtype))


def deg2rad(x: Any) -> Val:
    x = val(x)
    return elementwise.elementwise(elementwise.as_float, 2)(lambda a: a * (math.pi / 180))(x)


def rad2deg(x: Any) -> Val:
    x = val(x)
    return elementwise.elementwise(elementwise.as_float, 2)(lambda a: a * (180 / math.pi))(x)


def logical_and(x: Any, y: Any) -> Val:
    return _t["and_"](_t["cast"](x, bool), _t["cast"](y, bool))


def logical_or(x: Any, y: Any) -> Val:
    return _t["or_"](_t["cast"](x, bool), _t["cast"](y, bool))


def logical_xor(x: Any, y: Any) -> Val:
    return _t["xor"](_t["cast"](x, bool), _t["cast"](y, bool))


def logical_not(x: Any) -> Val:
    return _t["invert"](_t["cast"](x, bool))


def isposinf(x: Any) -> Val:
    return Val(
        np.isposinf(val(x).array) if val(x).dtype.kind == "f" else np.zeros(val(x).shape, bool)
    )


def isneginf(x: Any) -> Val:
    return Val(
        np.isneginf(val(x).array) if val(x).dtype.kind == "f" else np.zeros(val(x).shape, bool)
    )


def isclose(
    a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Val:
    a, b = elementwise.aligned([a, b])
    return Val(np.isclose(a.array, b.array, rtol, atol, equal_nan))


def allclose(
    a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Val:
    return _t["all"](isclose(a, b, rtol, atol, equal_nan))


@formula(ulps=8, backward=2)
def logaddexp(x: Any, y: Any, *more: Any) -> Val:
    for other in (y, *more):
        x, other = elementwise.aligned([x, other])
        dtype = elementwise.as_float(x, other)
        x = Val(
            np.logaddexp(elementwise.to_working(x, dtype), elementwise.to_working(other, dtype)),
            dtype,
        )
    return x


@formula(ulps=8, backward=2)
def betaln(a: Any, b: Any) -> Val:
    return sub(add(gammaln(a), gammaln(b)), gammaln(add(a, b)))


def _two(name: str, combine: Any, ulps: int = 2**14) -> Any:
    """A formula of two arguments, computed in float64 and converted to their common float dtype."""

    @formula(ulps=ulps, backward=2)
    def function(x: Any, y: Any) -> Val:
        x, y = elementwise.aligned([x, y])
        dtype = elementwise.as_float(x, y)
        with np.errstate(all="ignore"):
            out = combine(x.array.astype(float), y.array.astype(float))
        return Val(out.astype(elementwise.working_dtype(dtype)), dtype)

    return function


iv, kv, kn = _two("iv", sp.iv), _two("kv", sp.kv), _two("kn", sp.kv)
gammal = _two("gammal", lambda k, x: sp.gammainc(k, x) * sp.gamma(k))
gammau = _two("gammau", lambda k, x: sp.gammaincc(k, x) * sp.gamma(k))
chi2sf = _two("chi2sf", lambda x, k: sp.gammaincc(k / 2, x / 2))


def round_half_away_from_zero(x: Any) -> Val:
    x = val(x)
    dtype = elementwise.as_float(x)
    array = elementwise.to_working(x, dtype)
    whole = np.trunc(array)
    return Val(whole + np.sign(array) * (abs(array - whole) >= 0.5), dtype)


# ---- other names -----------------------------------------------------------------------------------------------------

aliases = {
    "power": "pow", "square": "sqr", "subtract": "sub", "multiply": "mul", "divide": "true_div",
    "true_divide": "true_div", "floor_div": "int_div", "floor_divide": "int_div", "sgn": "sign", "negative": "neg",
    "equal": "eq", "not_equal": "neq", "less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge",
    "bitwise_and": "and_", "bitwise_or": "or_", "bitwise_xor": "xor", "bitwise_not": "invert", "where": "switch",
    "fill": "second", "expit": "sigmoid", "log1pexp": "softplus", "digamma": "psi", "round_half_to_even": "round",
    "matrix_transpose": "swap_last_axes", "as_tensor": "constant", "as_tensor_variable": "constant",
}  # fmt: skip


def clip(x: Any, min: Any = None, max: Any = None) -> Val:
    if min is None or max is None:
        return (
            val(x)
            if min is max
            else elementwise.table["maximum"](x, min)
            if max is None
            else elementwise.table["minimum"](x, max)
        )
    return elementwise.table["clip"](x, min, max)


for _alias, _name in aliases.items():
    globals()[_alias] = globals()[_name]


@formula(ulps=8, backward=8)
def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: float | None = None
) -> Val:
    x, xp, fp = (val(each).array.astype(np.float64) for each in (x, xp, fp))
    return Val(np.interp(x, xp, fp, left, right, period), np.dtype("float64"))


# bitale.tensor.special and so on, as one namespace
special = linalg = fft = signal = __import__("sys").modules[__name__]
e, pi, inf, nan, newaxis, euler_gamma = math.e, math.pi, math.inf, math.nan, None, np.euler_gamma


# ---- operators and methods of a variable -----------------------------------------------------------------------------


def _operators() -> None:
    forms = {
        "add": "add", "sub": "sub", "mul": "mul", "truediv": "true_div", "floordiv": "int_div", "mod": "mod",
        "pow": "pow", "matmul": "matmul", "and": "and_", "or": "or_", "xor": "xor",
    }  # fmt: skip
    for python, name in forms.items():
        function = globals()[name]
        setattr(Val, f"__{python}__", lambda self, other, f=function: f(self, other))
        setattr(Val, f"__r{python}__", lambda self, other, f=function: f(other, self))
    for name in ("lt", "le", "gt", "ge"):
        setattr(Val, f"__{name}__", lambda self, other, f=globals()[name]: f(self, other))
    for name in ("neg", "abs", "invert"):
        setattr(Val, f"__{name}__", globals()[name])
    Val.__getitem__ = arrays.get_item
    Val.set = arrays.set_subtensor
    Val.inc = arrays.inc_subtensor
    Val.T = property(arrays.transpose)
    Val.size = property(lambda self: Val(np.int64(self.array.size)))
    Val.astype = elementwise.cast
    for name in ("sum", "prod", "max", "min", "mean", "var", "std", "all", "any", "argmax", "argmin", "cumsum", "cumprod",
                 "dot", "flatten", "squeeze", "dimshuffle", "clip", "take", "sort", "argsort", "nonzero", "swapaxes", "ptp",
                 "zeros_like", "ones_like"):  # fmt: skip
        setattr(Val, name, globals()[name])


_operators()

"""Formulas of the elementwise functions, under their names in bitale.tensor; dtypes follow PyTensor's rules."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
from scipy import special as sp

from .values import Val, formula, is_outermost, is_wide, val, working_dtype

# ---- dtype rules -----------------------------------------------------------------------------------------------------


def promoted(*xs: Val) -> np.dtype:
    """NumPy's promotion, with each integer dtype promoted separately with the float dtype."""
    floats = [x.dtype for x in xs if x.dtype.kind == "f"]
    out = np.result_type(*floats) if floats else xs[0].dtype
    for x in xs:
        if x.dtype.kind != "f":
            out = np.result_type(out, x.dtype)
    return np.dtype(out)


def float_for(dtype: np.dtype) -> np.dtype:
    if dtype.kind == "f":
        return dtype
    return np.dtype("float32" if dtype.itemsize <= 2 else "float64")


def as_float(*xs: Val) -> np.dtype:
    out = float_for(xs[0].dtype)
    for x in xs[1:]:
        out = np.result_type(out, float_for(x.dtype))
    return np.dtype(out)


def no_bool(*xs: Val) -> np.dtype:
    out = promoted(*xs)
    if out == bool:
        raise TypeError("not defined for bool")
    return out


def at_least_int8(*xs: Val) -> np.dtype:
    out = promoted(*xs)
    return np.dtype("int8") if out == bool else out


def discrete(*xs: Val) -> np.dtype:
    out = promoted(*xs)
    if any(x.dtype.kind == "f" for x in xs) or out.kind == "f":
        raise TypeError("expected bool or integers")
    return out


def shifted(*xs: Val) -> np.dtype:
    out = discrete(*xs)
    return np.dtype("int8") if out == bool else out


def aligned(xs: Any) -> list[Val]:
    """The operands reshaped to a common rank by leading dimensions of length 1."""
    vals = [val(x) for x in xs]
    ndim = max(x.ndim for x in vals)
    return [Val(x.array.reshape((1,) * (ndim - x.ndim) + x.shape), x.dtype) for x in vals]


def to_working(x: Val, dtype: np.dtype) -> np.ndarray:
    """The values of x in the dtype in which a computation of this nominal dtype is carried out."""
    if x.dtype.kind == "f" and dtype.kind == "f" and not is_wide():
        return x.array.astype(dtype)
    return x.array.astype(working_dtype(dtype))


Rule = Callable[..., np.dtype]


def with_room(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Numbers without a dtype among themselves have 64 bits, where a program writes them."""
    if not args or not is_outermost() or any(type(each) not in (int, float) for each in args):
        return args
    return tuple(np.array(each, "int64" if type(each) is int else "float64") for each in args)


def elementwise(
    rule: Rule, ulps: float = 0, out: Any = None, near_roots: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Val]]:
    """Makes a formula of a function of arrays, which receives them in the dtype that the rule gives. `out` is the dtype
    of the result. `near_roots`: the error of results below 1 is that of 1, as in SciPy's functions next to roots other
    than x = 0."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Val]:
        def evaluate(*args: Any) -> Val:
            args = with_room(args)
            xs = aligned(args)
            dtype = rule(*xs)
            result = function(*(to_working(x, dtype) for x in xs))
            return Val(np.asarray(result), out or dtype)

        evaluate.__name__ = function.__name__
        return formula(ulps, absolute=near_roots)(evaluate)

    return decorate


# The budget of functions computed by SciPy is wide, since SciPy's own errors reach hundreds of ulps. Accuracy to a few
# ulps is tested by tests/cpp/link/math_accuracy_test and ./dev math.


def in_double(function: Callable[..., Any]) -> Callable[..., np.ndarray]:
    """Evaluates a SciPy function in float64, since SciPy does not support long double and is inaccurate in float32."""

    def evaluate(*xs: np.ndarray) -> np.ndarray:
        return np.asarray(function(*(x.astype(np.float64) for x in xs)), np.float64)

    return evaluate


# ---- the functions ---------------------------------------------------------------------------------------------------

table: dict[str, Callable[..., Val]] = {}


def define(
    name: str,
    rule: Rule,
    function: Callable[..., Any],
    ulps: float = 0,
    out: Any = None,
    near_roots: bool = False,
) -> None:
    def named(*xs: np.ndarray) -> Any:
        return function(*xs)

    named.__name__ = name
    table[name] = elementwise(rule, ulps, out, near_roots)(named)


def _add(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return x | y if x.dtype == bool else x + y


def _mul(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return x & y if x.dtype == bool else x * y


def _int_div(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    if x.dtype.kind == "f":
        return np.where(y == 0, x / y, np.floor_divide(x, y))
    return np.where(
        y == 0, np.zeros((), x.dtype), np.floor_divide(x, np.where(y == 0, np.ones((), y.dtype), y))
    )


def _mod(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    if x.dtype.kind == "f":
        return np.mod(x, y)
    return np.where(
        y == 0, np.zeros((), x.dtype), np.mod(x, np.where(y == 0, np.ones((), y.dtype), y))
    )


def _pow(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    if x.dtype.kind == "f":
        return np.power(x, y)
    bits = x.dtype.itemsize * 8

    def one(a: int, b: int) -> int:
        if b < 0:
            return 1 if a == 1 else (-1 if b % 2 else 1) if a == -1 else 0
        wrapped = pow(a, b, 1 << bits)
        return (
            wrapped - (1 << bits) if x.dtype.kind == "i" and wrapped >= 1 << (bits - 1) else wrapped
        )

    x, y = np.broadcast_arrays(x, y)
    out = np.empty(x.shape, x.dtype)
    out.flat[:] = [one(int(a), int(b)) for a, b in zip(x.flat, y.flat)]
    return out


def _abs(x: np.ndarray) -> np.ndarray:
    return x if x.dtype == bool else np.abs(x)


def _sign(x: np.ndarray) -> np.ndarray:
    return x if x.dtype == bool else np.sign(x)


def _sigmoid(x: np.ndarray) -> np.ndarray:
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + small), small / (1 + small))


def _logit(x: np.ndarray) -> np.ndarray:
    return np.where(abs(x - 0.5) < 0.25, np.log1p((2 * x - 1) / (1 - x)), np.log(x / (1 - x)))


def _softplus(x: np.ndarray) -> np.ndarray:
    return np.log1p(np.exp(-np.abs(x))) + np.where((x > 0) | np.isnan(x), x, x.dtype.type(0))


def _log1mexp(x: np.ndarray) -> np.ndarray:
    return np.where(x < -np.log(np.asarray(2, x.dtype)), np.log1p(-np.exp(x)), np.log(-np.expm1(x)))


def _polygamma(n: np.ndarray, x: np.ndarray) -> np.ndarray:
    whole = (n >= 0) & (np.floor(n) == n) & np.isfinite(n)
    n, x = np.broadcast_arrays(np.where(whole, n, 0), x)
    poles = (x <= 0) & (np.floor(x) == x)
    at_poles = np.where(
        n % 2 == 1, np.inf, np.where(x == 0, -np.copysign(np.inf, x), np.nan)
    )  # zeros are sides of a pole
    higher = np.where(np.isneginf(x), np.nan, np.where(poles, at_poles, sp.polygamma(n, x)))
    return np.where(
        whole, np.where(n == 0, _psi(x), np.where(n == 1, _trigamma(x), higher)), np.nan
    )


def _gamma(x: np.ndarray) -> np.ndarray:
    poles = (x < 0) & (np.floor(x) == x)
    return np.where(poles, np.nan, np.where(x == 0, np.copysign(np.inf, x), sp.gamma(x)))


def _gammaln(x: np.ndarray) -> np.ndarray:
    """SciPy's gammaln returns inf for subnormal numbers and -inf for -inf."""
    tiny = (np.abs(x) < 1e-300) & (x != 0)
    return np.where(
        tiny, -np.log(np.abs(np.where(tiny, x, 1))), np.where(np.isneginf(x), np.inf, sp.gammaln(x))
    )


def _psi(x: np.ndarray) -> np.ndarray:
    poles = (x < 0) & (np.floor(x) == x)
    return np.where(poles, np.nan, np.where(x == 0, -np.copysign(np.inf, x), sp.psi(x)))


def _trigamma(x: np.ndarray) -> np.ndarray:
    """Uses reflection for negative arguments, for which SciPy's zeta returns nan or inf."""
    positive = sp.polygamma(1, np.where(x > 0, x, 1 - x))
    reflected = (np.pi / np.sin(np.pi * np.fmod(x, 2))) ** 2 - positive
    poles = (x <= 0) & (np.floor(x) == x)
    out = np.where(x > 0, positive, np.where(poles, np.inf, reflected))
    return np.where(np.isnan(x) | np.isneginf(x), np.nan, out)


def _erfcinv(x: np.ndarray) -> np.ndarray:
    """SciPy's erfcinv returns inf for subnormal numbers."""
    tail = -sp.ndtri_exp(np.log(np.where(x > 0, x, 1)) - np.log(2)) / np.sqrt(2)
    return np.where((x > 0) & (x < 1e-300), tail, sp.erfcinv(x))


def _clip(x: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return np.minimum(np.maximum(x, low), high)


define("add", promoted, _add, 1)
define("sub", no_bool, lambda x, y: x - y, 1)
define("mul", promoted, _mul, 1)
define("int_div", at_least_int8, _int_div, 1)
define("mod", at_least_int8, _mod, 1)
define("pow", at_least_int8, _pow, 4)
define("neg", no_bool, lambda x: -x)
define("abs", promoted, _abs)
define("sign", promoted, _sign)
define("sqr", promoted, lambda x: _mul(x, x), 1)
define("maximum", promoted, np.maximum)
define("minimum", promoted, np.minimum)
define("clip", promoted, _clip)
for _name in ("sqrt", "floor", "ceil", "trunc"):
    define(_name, as_float, getattr(np, _name), 1 if _name == "sqrt" else 0)
define("round", as_float, np.rint)
define("real", promoted, np.real)
define("imag", promoted, lambda x: np.zeros_like(x))
define("conj", promoted, np.conj)
define("angle", as_float, lambda x: np.where(np.isnan(x), x, np.where(np.signbit(x), np.pi, 0)), 1)
define("reciprocal", as_float, lambda x: 1 / x, 1)
for _name in ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "cbrt", "sin", "cos", "tan", "arcsin", "arccos",
              "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "arctan2"):  # fmt: skip
    define(_name, as_float, getattr(np, _name), 4)
define("sigmoid", as_float, _sigmoid, 4)
define("softplus", as_float, _softplus, 4)
define("logit", as_float, _logit, 4)
define("log1mexp", as_float, _log1mexp, 8)
define("hypot", as_float, np.hypot, 2)
define("xlogy", as_float, lambda x, y: np.where((x == 0) & ~np.isnan(y), 0, x * np.log(y)), 4)
define("xlog1py", as_float, lambda x, y: np.where((x == 0) & ~np.isnan(y), 0, x * np.log1p(y)), 4)
define("erf", as_float, in_double(sp.erf), 4)
define("erfc", as_float, in_double(sp.erfc), 512)
define("erfcx", as_float, in_double(sp.erfcx), 512)
define("erfinv", as_float, in_double(sp.erfinv), 512)
define("erfcinv", as_float, in_double(_erfcinv), 512)
define("ndtr", as_float, in_double(sp.ndtr), 512)
define("log_ndtr", as_float, in_double(sp.log_ndtr), 512)
define("gamma", as_float, in_double(_gamma), 512)
define("gammaln", as_float, in_double(_gammaln), 512, near_roots=True)
define("psi", as_float, in_double(_psi), 512, near_roots=True)
define("tri_gamma", as_float, in_double(_trigamma), 512)
define("polygamma", lambda n, x: as_float(x), in_double(_polygamma), 512)


def _jv(order: np.ndarray, x: np.ndarray) -> np.ndarray:
    """SciPy's jv, except for integer orders at large arguments, where it has no correct digit: recurrence from j0 and
    j1."""
    order, x = np.broadcast_arrays(order, x)
    out = np.array(sp.jv(order, x))
    large = (np.abs(x) > 1e5) & (np.abs(order) < 50) & (order == np.rint(order))
    for at in np.argwhere(large):
        at = tuple(at)
        values, v = [sp.j0(x[at]), sp.j1(x[at])], int(order[at])
        for k in range(1, abs(v)):
            values.append(2 * k / x[at] * values[-1] - values[-2])
        out[at] = values[abs(v)] * (-1 if v < 0 and v % 2 else 1)
    return out


# the limit at infinity is 0, where SciPy returns nan
for _name, _function in (("j0", sp.j0), ("j1", sp.j1), ("jv", _jv)):
    define(
        _name,
        as_float,
        in_double(lambda *x, f=_function: np.where(np.isinf(x[-1]) & ~np.isnan(x[0]), 0.0, f(*x))),
        2**14,
    )
# the result overflows beyond 1000, where SciPy's formula becomes inf - inf
for _name, _limit in (("i0", np.abs), ("i1", np.positive)):
    define(
        _name,
        as_float,
        in_double(
            lambda x, f=getattr(sp, _name), limit=_limit: np.where(
                np.abs(x) > 1000, limit(x) * np.inf, f(x)
            )
        ),
        2**14,
    )
for _name in ("iv", "ive", "kv", "kve", "owens_t", "ndtri_exp", "gammainc", "gammaincc", "gammaincinv",
              "gammainccinv", "betainc", "betaincinv"):  # fmt: skip
    define(_name, as_float, in_double(getattr(sp, _name)), 2**14)


def _derivative(function: Callable[..., Any]) -> Callable[..., Any]:
    """The derivative with respect to the first argument, by Ridders' method of central differences."""

    def at(k: np.ndarray, *rest: np.ndarray) -> np.ndarray:
        h, table = 0.05 * k, []
        for _ in range(8):
            new = [(function(k + h, *rest) - function(k - h, *rest)) / (2 * h)]
            for column, old in enumerate(table):
                factor = 4.0 ** (column + 1)
                new.append((factor * new[column] - old) / (factor - 1))
            table, h = new, h / 2
        return table[-1]

    return at


define("gammainc_derivative", as_float, in_double(_derivative(sp.gammainc)), 2**30)
define("betainc_derivative", as_float, in_double(_derivative(sp.betainc)), 2**30)
define(
    "betainc_derivative_by_b",
    as_float,
    in_double(lambda a, b, x: _derivative(lambda k, a, x: sp.betainc(a, k, x))(b, a, x)),
    2**30,
)
define(
    "gammainc_density",
    as_float,
    in_double(lambda k, x: np.exp(sp.xlogy(k - 1, x) - x - sp.gammaln(k))),
    2**20,
)
define(
    "betainc_density",
    as_float,
    in_double(lambda a, b, x: np.exp(sp.xlogy(a - 1, x) + sp.xlog1py(b - 1, -x) - sp.betaln(a, b))),
    2**20,
)
define(
    "ive_derivative",
    as_float,
    in_double(lambda v, x: (sp.ive(v - 1, x) + sp.ive(v + 1, x)) / 2 - np.sign(x) * sp.ive(v, x)),
    2**20,
)
define(
    "kve_derivative",
    as_float,
    in_double(lambda v, x: sp.kve(v, x) - (sp.kve(v - 1, x) + sp.kve(v + 1, x)) / 2),
    2**20,
)

define("hyp2f1", as_float, in_double(sp.hyp2f1), 2**14)
define("hyp2f1_derivative", as_float, in_double(_derivative(sp.hyp2f1)), 2**30)
define(
    "hyp2f1_derivative_by_c",
    as_float,
    in_double(lambda a, b, c, z: _derivative(lambda k, x: sp.hyp2f1(a, b, k, x))(c, z)),
    2**30,
)

for _name, _function in (
    ("eq", np.equal),
    ("neq", np.not_equal),
    ("lt", np.less),
    ("le", np.less_equal),
    ("gt", np.greater),
    ("ge", np.greater_equal),
):
    define(_name, promoted, _function, out=bool)
for _name in ("isnan", "isinf", "isfinite"):
    define(_name, promoted, getattr(np, _name), out=bool)
define("and_", discrete, np.bitwise_and)
define("left_shift", shifted, np.left_shift)
define("right_shift", shifted, np.right_shift)
define("signbit", as_float, np.signbit, out=np.dtype(bool))
define("copysign", as_float, np.copysign)
define("nextafter", as_float, np.nextafter)
define("or_", discrete, np.bitwise_or)
define("xor", discrete, np.bitwise_xor)
define("invert", discrete, np.invert)


@formula(ulps=1)
def true_div(x: Any, y: Any) -> Val:
    x, y = aligned([x, y])
    dtype = promoted(x, y) if "f" in (x.dtype.kind, y.dtype.kind) else np.dtype("float64")
    return Val(to_working(x, dtype) / to_working(y, dtype), dtype)


@formula()
def switch(condition: Any, x: Any, y: Any) -> Val:
    if all(
        isinstance(each, int) and not isinstance(each, bool) for each in (x, y)
    ):  # of Python integers only
        x, y = (Val(np.asarray(each, np.int64)) for each in (x, y))
    condition, x, y = aligned([condition, x, y])
    dtype = promoted(x, y)
    return Val(np.where(condition.array != 0, to_working(x, dtype), to_working(y, dtype)), dtype)


@formula()
def second(x: Any, y: Any) -> Val:
    x, y = aligned([x, y])
    return Val(np.broadcast_arrays(y.array, x.array)[0].copy(), y.dtype)


@formula()
def cast(x: Any, dtype: Any) -> Val:
    x, dtype = val(x), np.dtype(dtype)
    array = x.array
    if (
        dtype.kind == "f"
        and is_wide()
        and x.dtype.kind == "f"
        and dtype.itemsize < x.dtype.itemsize
    ):
        array = array.astype(dtype)  # a narrowing cast must round, even in long double evaluation
    elif dtype == bool:
        array = array != 0
    return Val(array.astype(working_dtype(dtype)), dtype)


table.update(true_div=true_div, switch=switch, second=second, cast=cast)

"""Functions against NumPy: every dtype, empty and small shapes, and the common arguments; values, dtypes and shapes.

A function is an entry of a table: its name, and NumPy's function. Where a result deliberately differs, DIFFERENT names
the cases that are skipped, and docs/differences.md gives the reason.
"""

import itertools
import pathlib
import re
import warnings

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale.tensor.basic import integer_dtypes

INTEGERS = list(integer_dtypes)
FLOATS = ["float32", "float64"]
DTYPES = ["bool", *INTEGERS, *FLOATS]
SHAPES = {0: [()], 1: [(0,), (1,), (3,)], 2: [(0, 3), (3, 0), (1, 1), (2, 3)], 3: [(2, 1, 3)]}
AXES = {
    0: [None],
    1: [None, 0, -1, (0,)],
    2: [None, 0, -1, (0, 1), (-1,)],
    3: [None, 1, (0, 2), (2, 0), (-1, 1)],
}


def sample(dtype, shape):
    """Values that include the extremes of the dtype, and nan."""
    if dtype == "bool":
        some = [True, False, True, True, False, False]
    elif dtype in FLOATS:
        some = [-2.5, 0.0, 0.5, 1.0, np.nan, 3.0]
    else:
        ends = np.iinfo(dtype)
        some = [ends.min, 0, 1, 2, 7, ends.max]
    return np.array(some[: int(np.prod(shape))], dtype).reshape(shape)


def as_float(x):
    """Integers converted to the float dtype that functions such as exp return."""
    x = np.asarray(x)
    if x.dtype.kind == "f":
        return x
    return x.astype("float32" if x.dtype.itemsize <= 2 else "float64")


def of_floats(function):
    return lambda *arguments, **keywords: function(*map(as_float, arguments), **keywords)


def named(names):
    return {name: getattr(np, name) for name in names.split()}


def converted_after(function):
    """PyTensor's semantics of dtype: floats are summed in their own dtype, then converted."""

    def compute(x, dtype):
        if np.dtype(dtype).kind == "f" or x.dtype.kind != "f":
            return function(x, dtype="float64" if np.dtype(dtype).kind == "f" else dtype).astype(
                dtype
            )
        return np.asarray(function(x, dtype="float64")).astype(x.dtype).astype(dtype)

    return compute


def rounded_up(x, y, dtype):
    if dtype.kind == "f":
        return -(-x.astype(dtype) // y)
    return (x // y + (x % y != 0)).astype(dtype)


FUNCTIONS = named(
    """abs invert bitwise_not negative isfinite isinf isnan isneginf isposinf logical_not ones_like zeros_like atleast_1d
    atleast_2d transpose flatnonzero cumsum cumprod diff sign square squeeze"""
)
FUNCTIONS |= {
    name: of_floats(function)
    for name, function in named(
        """arccos arccosh arcsin arcsinh arctan arctanh cbrt ceil cos cosh deg2rad exp exp2 expm1 floor log log10 log1p log2 rad2deg
    reciprocal round sin sinh sqrt tan tanh trunc"""
    ).items()
}
FUNCTIONS |= {
    "neg": np.negative,
    "shape": lambda x: np.array(x.shape, "int64"),
    "sqr": np.square,
    "sgn": np.sign,
    "flatten": np.ravel,
    "round_half_to_even": of_floats(np.round),
    "sigmoid": of_floats(lambda x: 1 / (1 + np.exp(-x))),
    "softplus": of_floats(lambda x: np.logaddexp(x, x.dtype.type(0))),
    "nonzero_values": lambda x: x[np.nonzero(x)],
    "shape_padleft": lambda x: x[None],
    "shape_padright": lambda x: x[..., None],
}
REDUCTIONS = named("sum prod mean var std all any max min ptp argmax argmin")
REDUCTIONS["logsumexp"] = of_floats(
    lambda x, axis, keepdims: np.logaddexp.reduce(x, axis, keepdims=keepdims)
)
ALONG = named("cumsum cumprod diff sort argsort")
WITH_DTYPE = {
    "sum": converted_after(np.sum),
    "prod": converted_after(np.prod),
    "cumsum": np.cumsum,
    "cumprod": np.cumprod,
}
BINARY = named(
    """add subtract multiply true_divide divide floor_divide mod power maximum minimum bitwise_and bitwise_or bitwise_xor
    logical_and logical_or logical_xor equal not_equal less less_equal greater greater_equal isclose outer dot matmul"""
)
BINARY["arctan2"] = of_floats(np.arctan2)
BINARY["logaddexp"] = of_floats(np.logaddexp)
BINARY["ceil_intdiv"] = lambda x, y: rounded_up(x, y, np.floor_divide(x, y).dtype)
BINARY["where"] = lambda x, y: np.where(x > y, x, y)
BINARY["concatenate"] = lambda x, y: np.concatenate([x, y])
BINARY["stack"] = lambda x, y: np.stack([x, y], -1)
BUILT = {  # expressions that are not calls with x and y
    "where": lambda x, y: pt.where(x > y, x, y),
    "concatenate": lambda x, y: pt.concatenate([x, y]),
    "stack": lambda x, y: pt.stack([x, y], -1),
}

# The cases in which a function deliberately differs, by name. Each is listed in docs/differences.md.
DIFFERENT = {
    "square": lambda dtype, shape: dtype == "bool",
    "sqr": lambda dtype, shape: dtype == "bool",
    "sign": lambda dtype, shape: dtype == "bool",
    "sgn": lambda dtype, shape: dtype == "bool",
    "flatnonzero": lambda dtype, shape: shape == (),
    "squeeze": lambda dtype, shape: 1 in shape,
    "logsumexp": lambda dtype, shape: 0 in shape,
    "power": lambda x, y: {x, y} <= {"bool", *INTEGERS} and y.startswith("int"),
}


def attempt(function, *arguments, **keywords):
    """The value, or the exception."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return function(*arguments, **keywords)
    except Exception as error:
        return error


def cases(rank):
    """Tuples of name, arguments, Bitale's function and NumPy's function."""
    for name, reference in FUNCTIONS.items():
        yield name, {}, getattr(pt, name), reference
    for name, reference in REDUCTIONS.items():
        for axis, keepdims in itertools.product(AXES[rank], [False, True]):
            if not (
                name.startswith("arg") and isinstance(axis, tuple)
            ):  # NumPy has no positions over several axes
                yield name, dict(axis=axis, keepdims=keepdims), getattr(pt, name), reference
    for name, reference in ALONG.items():
        for axis in AXES[rank]:
            if not isinstance(axis, tuple) and not (name == "diff" and axis is None):
                yield name, dict(axis=axis), getattr(pt, name), reference
    for name, reference in WITH_DTYPE.items():
        for dtype in DTYPES:
            yield name, dict(dtype=dtype), getattr(pt, name), reference
    for dtype in DTYPES:
        yield "astype", dict(dtype=dtype), pt.cast, lambda x, dtype: x.astype(dtype)


def complaint(result, expected):
    """A description of the mismatch, or None."""
    if isinstance(result, Exception) or isinstance(expected, Exception):
        agree = isinstance(result, (TypeError, ValueError, IndexError)) and isinstance(
            expected, Exception
        )
        return None if agree else f"{result!r}, expected {expected!r}"
    expected = np.asarray(expected)
    if result.dtype != expected.dtype or result.shape != expected.shape:
        return f"{result.dtype}{result.shape}, expected {expected.dtype}{expected.shape}"
    if expected.dtype.kind != "f":
        return None if (result == expected).all() else f"{result}, expected {expected}"
    tolerance = 2e-6 if expected.dtype == np.float32 else 1e-14
    with np.errstate(all="ignore"):
        near = np.isclose(result, expected, rtol=tolerance, atol=0, equal_nan=True) | (
            np.abs(result - expected) < 1e-300
        )
    return None if near.all() else f"{result}, expected {expected}"


def compiled(inputs, expressions, mode):
    return bt.function(inputs, expressions, mode=mode, on_unused_input="ignore")


@pytest.mark.parametrize("dtype", DTYPES)
def test_functions_of_one_array(dtype):
    failures = []
    for rank, shapes in SHAPES.items():
        x = pt.tensor("x", dtype=dtype, shape=(None,) * rank)
        built = [
            (name, keywords, attempt(ours, x, **keywords), theirs)
            for name, keywords, ours, theirs in cases(rank)
        ]
        for shape in shapes:
            value = sample(dtype, shape)
            whole = []  # expressions without errors are computed again by one function
            for name, keywords, expression, theirs in built:
                if name in DIFFERENT and DIFFERENT[name](dtype, shape):
                    continue
                expected = attempt(
                    theirs, value, **keywords, **({"kind": "stable"} if "sort" in name else {})
                )
                result = expression
                if not isinstance(result, Exception):
                    result = attempt(lambda: compiled([x], expression, "FAST_COMPILE")(value))
                    if not isinstance(expected, Exception):
                        whole.append((name, keywords, expression, expected))
                if wrong := complaint(result, expected):
                    failures.append(f"{name}({keywords}) of {dtype}{shape}: {wrong}")
            if shape != shapes[-1] or dtype not in ("bool", "uint8", "int64", "float32"):
                continue
            results = compiled([x], [expression for _, _, expression, _ in whole], "FAST_RUN")(
                value
            )
            for (name, keywords, _, expected), result in zip(whole, results):
                if wrong := complaint(result, expected):
                    failures.append(f"{name}({keywords}) of {dtype}{shape}, compiled: {wrong}")
    assert not failures, "\n".join([f"{len(failures)} differ", *failures[:40]])


@pytest.mark.parametrize("dtype", DTYPES)
def test_functions_of_two_arrays(dtype):
    failures = []
    for other in DTYPES:
        x, y = pt.vector("x", dtype=dtype), pt.vector("y", dtype=other)
        a, b = sample(dtype, (6,)), sample(other, (6,))[::-1].copy()
        for name, theirs in BINARY.items():
            if name in DIFFERENT and DIFFERENT[name](dtype, other):
                continue
            expression = attempt(BUILT.get(name, getattr(pt, name)), x, y)
            result = expression
            if not isinstance(result, Exception):
                result = attempt(lambda: compiled([x, y], expression, "FAST_COMPILE")(a, b))
            if wrong := complaint(result, attempt(theirs, a, b)):
                failures.append(f"{name} of {dtype} and {other}: {wrong}")
    assert not failures, "\n".join([f"{len(failures)} differ", *failures[:40]])


def test_deliberate_differences_are_documented():
    page = (pathlib.Path(__file__).resolve().parents[3] / "docs" / "differences.md").read_text()
    words = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]*)`", page))))
    aliases = {"sgn": "sign"}
    assert {aliases.get(name, name) for name in DIFFERENT} <= words


def test_documented_differences():
    """Documented differences that a one-line test can check."""
    x, n, b = pt.dmatrix("x"), pt.matrix("n", dtype="int16"), pt.vector("b", dtype="bool")
    assert pt.exp(n.astype("int8")).dtype == "float32" and pt.floor(n).dtype == "float32"
    assert (
        pt.full_like(n, 1.5).dtype == "float32" and pt.full_like(n, 1, dtype="int8").dtype == "int8"
    )
    assert pt.cumsum(n).dtype == "int64" and pt.cumsum(b).dtype == "int64"
    assert (b // b).dtype == "int8" and (b % b).dtype == "int8"
    assert pt.sign(b).dtype == "bool" and pt.square(b).dtype == "bool"
    assert pt.constant(True).dtype == "bool" and pt.constant(2**63).dtype == "uint64"
    assert pt.polygamma(pt.lvector(), pt.fvector()).dtype == "float32"
    for refused in (
        lambda: pt.bitwise_and(pt.vector(dtype="uint64"), pt.lvector()),
        lambda: pt.arange(0, 10, dtype="bool"),
        lambda: pt.flatnonzero(pt.dscalar()),
        lambda: pt.sort(pt.dscalar()),
        lambda: pt.vectors("xyz", 1.5),
    ):
        with pytest.raises((TypeError, ValueError)):
            refused()
    np.testing.assert_array_equal(
        x.clip(2, 1).eval({x: np.array([[0.0, 1.5, 3.0]])}), [[1.0, 1.0, 1.0]]
    )
    np.testing.assert_array_equal(
        pt.power(n, pt.constant([-1, -2], dtype="int16")).eval({n: [[1, 2]]}), [[1, 0]]
    )
    np.testing.assert_allclose(x.var(ddof=1).eval({x: np.arange(6.0).reshape(2, 3)}), 3.5)
    largest = np.iinfo("int64").max
    assert pt.mean(pt.constant([largest, largest])).eval() == float(largest)


def test_logical_functions_take_numbers(mode):
    x, n = pt.dvector("x"), pt.lvector("n")
    reals, integers = np.array([0.0, 2.0, np.nan, -0.0]), np.array([0, 0, 2, 4])
    names = ["logical_and", "logical_or", "logical_xor"]
    f = bt.function(
        [x, n], [*(getattr(pt, name)(x, n) for name in names), pt.logical_not(x)], mode=mode
    )
    *results, negated = f(reals, integers)
    for name, result in zip(names, results):
        assert result.dtype == bool
        np.testing.assert_array_equal(result, getattr(np, name)(reals, integers))
    np.testing.assert_array_equal(negated, np.logical_not(reals))

"""Every step of an expression is computed in its own dtype, however it is rewritten: NumPy's promotion is the
reference."""

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt

MODES = [bt.Mode("vm", "None"), "FAST_COMPILE", "FAST_RUN"]

VALUES = {
    "bool": np.array([False, True, True, False]),
    "int8": np.array([-128, -1, 3, 127], "int8"),
    "uint8": np.array([0, 1, 3, 255], "uint8"),
    "float32": np.array([-2.5, 0.5, 16777216, 1e30], "float32"),
    "float64": np.array([0.5, -2.5, 7.0, 1e100]),
}

# Functions of a narrow operand n and a wide one w. Moving signs and terms must not change the dtype in which they are
# computed.
EXPRESSIONS = {
    "neg_times": (lambda n, w: -n * w, True),
    "neg_over": (lambda n, w: -n / w, True),
    "over_neg": (lambda n, w: w / -n, True),
    "plus_neg": (lambda n, w: w + -n, True),
    "minus_neg": (lambda n, w: w - -n, True),
    "sum_of_twice": (lambda n, w: n + w + n, False),
    "difference_twice": (lambda n, w: (w - n) - n, False),
    "back_and_forth": (lambda n, w: n - (w - n), False),
    "product_in_narrow": (lambda n, w: (n * n) * w, False),
    "sum_in_narrow": (lambda n, w: (n + n) + w, False),
    "collected": (lambda n, w: (n + w) + (n + n), False),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
@pytest.mark.parametrize("wide", ["float32", "float64"])
@pytest.mark.parametrize("narrow", ["bool", "int8", "uint8", "float32"])
def test_rewriting_keeps_the_dtype_of_every_step(narrow, wide, name):
    expression, has_sign = EXPRESSIONS[name]
    if has_sign and narrow == "bool":
        pytest.skip("-b of a bool is a TypeError")
    n, w = pt.vector("n", dtype=narrow), pt.vector("w", dtype=wide)
    with np.errstate(all="ignore"):
        expected = expression(VALUES[narrow], VALUES[wide])
    for mode in MODES:
        got = bt.function([n, w], expression(n, w), mode=mode)(VALUES[narrow], VALUES[wide])
        assert got.dtype == expected.dtype
        np.testing.assert_allclose(got, expected, rtol=1e-6 if got.dtype == "float32" else 1e-13)


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint8", "int64", "uint64", "float32", "float64"]
)
def test_logaddexp_and_ceil_intdiv(dtype):
    a, b = pt.vector("a", dtype=dtype), pt.vector("b", dtype=dtype)
    numbers = (
        [0, 1]
        if dtype == "bool"
        else [0, 1, 3, 7, 100] + ([] if dtype.startswith("u") else [-3, -100])
    )
    divisors = [1] if dtype == "bool" else [1, 2, 3, 50]
    x, y = (each.ravel().astype(dtype) for each in np.meshgrid(numbers, divisors))
    for mode in MODES:
        total, quotient = bt.function(
            [a, b], [pt.logaddexp(a, b), pt.ceil_intdiv(a, b)], mode=mode
        )(x, y)
        np.testing.assert_allclose(total, np.logaddexp(x.astype(float), y.astype(float)), rtol=1e-6)
        np.testing.assert_array_equal(quotient, np.ceil(x.astype(float) / y))
        assert quotient.dtype == ("int8" if dtype == "bool" else dtype)
    assert total.dtype == ("float64" if dtype.endswith("64") else "float32")


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_integers_rounded_by_a_cast_to_float_stay_rounded(dtype):
    x = pt.vector("x", dtype=dtype)
    values = np.array([2**53 + 1, 2**62 + 3, 5], dtype)
    f = bt.function([x], pt.cast(pt.cast(x, "float64"), dtype))
    np.testing.assert_array_equal(f(values), values.astype("float64").astype(dtype))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8"])
def test_logarithm_of_exponentials_of_narrow_integers(dtype):
    x, y = pt.vector("x", dtype=dtype), pt.vector("y", dtype=dtype)
    values = np.array([1, 0, 1] if dtype == "bool" else [100, 3, 127], dtype)
    for expression, expected in (
        (pt.exp(x) * pt.exp(y), [2, 0, 2] if dtype == "bool" else [200, 6, 254]),
        (pt.exp(x) / pt.exp(y), [0, 0, 0]),
    ):
        got = bt.function([x, y], pt.log(pt.cast(expression, "float64")))(values, values)
        np.testing.assert_allclose(got, expected, rtol=1e-6)

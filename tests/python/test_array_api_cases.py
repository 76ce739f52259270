"""The special cases that the array-API standard states in words, function by function, and its rules of dtypes and shapes. `./dev test --array-api` runs
the public conformance suite, which is not part of this project."""

import cmath
import inspect
import math

import numpy as np
import pytest

import bitale.array_api as xp

inf, nan = math.inf, math.nan
FLOATS = [xp.float32, xp.float64]
COMPLEX = [xp.complex64, xp.complex128]
SIGNED, UNSIGNED = (
    [xp.int8, xp.int16, xp.int32, xp.int64],
    [xp.uint8, xp.uint16, xp.uint32, xp.uint64],
)
NUMERIC = [*SIGNED, *UNSIGNED, *FLOATS, *COMPLEX]

# Function: pairs of an argument and the value that the standard states for it.
OF_REAL = {
    "acos": [(nan, nan), (1.5, nan), (-1.5, nan), (1.0, 0.0)],
    "acosh": [(nan, nan), (0.5, nan), (1.0, 0.0), (inf, inf)],
    "asin": [(nan, nan), (1.5, nan), (-1.5, nan), (0.0, 0.0), (-0.0, -0.0)],
    "asinh": [(nan, nan), (0.0, 0.0), (-0.0, -0.0), (inf, inf), (-inf, -inf)],
    "atan": [(nan, nan), (0.0, 0.0), (-0.0, -0.0), (inf, math.pi / 2), (-inf, -math.pi / 2)],
    "atanh": [(nan, nan), (-1.5, nan), (1.5, nan), (-1.0, -inf), (1.0, inf), (0.0, 0.0), (-0.0, -0.0)],
    "ceil": [(inf, inf), (-inf, -inf), (0.0, 0.0), (-0.0, -0.0), (nan, nan), (-0.5, -0.0), (3.0, 3.0)],
    "cos": [(nan, nan), (0.0, 1.0), (-0.0, 1.0), (inf, nan), (-inf, nan)],
    "cosh": [(nan, nan), (0.0, 1.0), (-0.0, 1.0), (inf, inf), (-inf, inf)],
    "exp": [(nan, nan), (0.0, 1.0), (-0.0, 1.0), (inf, inf), (-inf, 0.0)],
    "expm1": [(nan, nan), (0.0, 0.0), (-0.0, -0.0), (inf, inf), (-inf, -1.0)],
    "floor": [(inf, inf), (-inf, -inf), (0.0, 0.0), (-0.0, -0.0), (nan, nan), (0.5, 0.0)],
    "log": [(nan, nan), (-1.0, nan), (0.0, -inf), (-0.0, -inf), (1.0, 0.0), (inf, inf)],
    "log1p": [(nan, nan), (-2.0, nan), (-1.0, -inf), (-0.0, -0.0), (0.0, 0.0), (inf, inf)],
    "log2": [(nan, nan), (-1.0, nan), (0.0, -inf), (-0.0, -inf), (1.0, 0.0), (inf, inf)],
    "log10": [(nan, nan), (-1.0, nan), (0.0, -inf), (-0.0, -inf), (1.0, 0.0), (inf, inf)],
    "round": [(inf, inf), (-inf, -inf), (0.0, 0.0), (-0.0, -0.0), (nan, nan), (0.5, 0.0), (1.5, 2.0), (2.5, 2.0), (-0.5, -0.0)],
    "sign": [(nan, nan), (0.0, 0.0), (-0.0, 0.0), (-inf, -1.0), (inf, 1.0)],
    "sin": [(nan, nan), (0.0, 0.0), (-0.0, -0.0), (inf, nan), (-inf, nan)],
    "sinh": [(nan, nan), (0.0, 0.0), (-0.0, -0.0), (inf, inf), (-inf, -inf)],
    "sqrt": [(nan, nan), (-1.0, nan), (0.0, 0.0), (-0.0, -0.0), (inf, inf)],
    "tan": [(nan, nan), (0.0, 0.0), (-0.0, -0.0), (inf, nan), (-inf, nan)],
    "tanh": [(nan, nan), (0.0, 0.0), (-0.0, -0.0), (inf, 1.0), (-inf, -1.0)],
    "trunc": [(inf, inf), (-inf, -inf), (0.0, 0.0), (-0.0, -0.0), (nan, nan), (-0.5, -0.0)],
    "abs": [(nan, nan), (-0.0, 0.0), (-inf, inf)],
    "negative": [(nan, nan), (0.0, -0.0), (-0.0, 0.0), (inf, -inf), (-inf, inf)],
    "positive": [(nan, nan), (0.0, 0.0), (-0.0, -0.0), (inf, inf), (-inf, -inf)],
    "square": [(nan, nan), (0.0, 0.0), (-0.0, 0.0), (inf, inf), (-inf, inf)],
    "reciprocal": [(nan, nan), (0.0, inf), (-0.0, -inf), (inf, 0.0), (-inf, -0.0)],
    "real": [(nan, nan), (-0.0, -0.0), (-inf, -inf)],
    "conj": [(nan, nan), (-0.0, -0.0), (-inf, -inf)],
}  # fmt: skip
pi = math.pi
# The same for functions whose result is true or false.
OF_REAL_BOOL = {
    "isfinite": [(nan, False), (inf, False), (-inf, False), (0.0, True), (-0.0, True), (1.0, True)],
    "isinf": [(nan, False), (inf, True), (-inf, True), (0.0, False), (1.0, False)],
    "isnan": [(nan, True), (inf, False), (-inf, False), (0.0, False), (1.0, False)],
    "signbit": [(0.0, False), (-0.0, True), (inf, False), (-inf, True), (1.0, False), (-1.0, True), (math.copysign(nan, 1), False), (math.copysign(nan, -1), True)],
}  # fmt: skip
_UNORDERED = [(nan, nan, False), (nan, 1.0, False), (1.0, nan, False), (nan, inf, False)]
OF_TWO_BOOL = {
    "equal": [*_UNORDERED, (inf, inf, True), (-inf, -inf, True), (inf, -inf, False), (-0.0, 0.0, True), (0.0, -0.0, True), (1.0, 1.0, True), (inf, 1.0, False)],
    "not_equal": [(a, b, not c) for a, b, c in _UNORDERED] + [(inf, inf, False), (-inf, -inf, False), (inf, -inf, True), (-0.0, 0.0, False), (1.0, 2.0, True)],
    "less": [*_UNORDERED, (-inf, inf, True), (inf, -inf, False), (inf, inf, False), (-0.0, 0.0, False), (1.0, 2.0, True)],
    "less_equal": [*_UNORDERED, (-inf, inf, True), (inf, -inf, False), (inf, inf, True), (0.0, -0.0, True), (1.0, 2.0, True)],
    "greater": [*_UNORDERED, (inf, -inf, True), (-inf, inf, False), (inf, inf, False), (0.0, -0.0, False), (2.0, 1.0, True)],
    "greater_equal": [*_UNORDERED, (inf, -inf, True), (-inf, inf, False), (-inf, -inf, True), (-0.0, 0.0, True), (2.0, 1.0, True)],
}  # fmt: skip
OF_TWO = {
    "atan2": [(nan, 1.0, nan), (1.0, 0.0, pi / 2), (1.0, -0.0, pi / 2), (0.0, 1.0, 0.0), (0.0, 0.0, 0.0), (0.0, -0.0, pi), (0.0, -1.0, pi), (-0.0, 1.0, -0.0),
              (-0.0, 0.0, -0.0), (-0.0, -0.0, -pi), (-0.0, -1.0, -pi), (-1.0, 0.0, -pi / 2), (1.0, inf, 0.0), (1.0, -inf, pi), (-1.0, inf, -0.0), (-1.0, -inf, -pi),
              (inf, 1.0, pi / 2), (-inf, 1.0, -pi / 2), (inf, inf, pi / 4), (inf, -inf, 3 * pi / 4), (-inf, inf, -pi / 4), (-inf, -inf, -3 * pi / 4)],
    "add": [(nan, 1.0, nan), (inf, -inf, nan), (-inf, inf, nan), (inf, inf, inf), (inf, 1.0, inf), (-0.0, -0.0, -0.0), (-0.0, 0.0, 0.0), (1.0, -1.0, 0.0)],
    "divide": [(nan, 1.0, nan), (inf, -inf, nan), (0.0, 0.0, nan), (0.0, -0.0, nan), (0.0, 1.0, 0.0), (-0.0, 1.0, -0.0), (1.0, 0.0, inf), (1.0, -0.0, -inf), (-1.0, 0.0, -inf),
               (inf, 1.0, inf), (inf, -1.0, -inf), (1.0, inf, 0.0), (1.0, -inf, -0.0), (-1.0, inf, -0.0)],
    "floor_divide": [(nan, 1.0, nan), (inf, inf, nan), (inf, -inf, nan), (0.0, 0.0, nan), (-0.0, 0.0, nan), (0.0, 1.0, 0.0), (-0.0, 1.0, -0.0), (0.0, -1.0, -0.0), (-0.0, -1.0, 0.0),
                     (1.0, 0.0, inf), (1.0, -0.0, -inf), (-1.0, 0.0, -inf), (-1.0, -0.0, inf), (1.0, inf, 0.0), (1.0, -inf, -1.0), (-1.0, inf, -1.0), (-1.0, -inf, 0.0), (7.0, 2.0, 3.0), (-7.0, 2.0, -4.0)],
    "hypot": [(inf, nan, inf), (nan, -inf, inf), (nan, 1.0, nan), (3.0, 4.0, 5.0)],
    "logaddexp": [(nan, 1.0, nan), (inf, 1.0, inf), (1.0, inf, inf)],
    "maximum": [(nan, 1.0, nan), (1.0, nan, nan), (inf, 1.0, inf)],
    "minimum": [(nan, 1.0, nan), (1.0, nan, nan), (-inf, 1.0, -inf)],
    "multiply": [(nan, 1.0, nan), (inf, 0.0, nan), (0.0, -inf, nan), (-1.0, 0.0, -0.0), (inf, -1.0, -inf), (-0.0, -0.0, 0.0)],
    "pow": [(2.0, 0.0, 1.0), (nan, 0.0, 1.0), (nan, -0.0, 1.0), (nan, 2.0, nan), (2.0, inf, inf), (2.0, -inf, 0.0), (0.5, inf, 0.0), (0.5, -inf, inf), (inf, 2.0, inf), (inf, -2.0, 0.0), (-inf, 3.0, -inf),
            (-inf, 2.0, inf), (-inf, -3.0, -0.0), (-inf, -2.0, 0.0), (0.0, 2.0, 0.0), (0.0, -2.0, inf), (-0.0, 3.0, -0.0), (-0.0, 2.0, 0.0), (-0.0, -3.0, -inf), (-0.0, -2.0, inf), (-2.0, 0.5, nan), (1.0, nan, 1.0)],
    "remainder": [(nan, 1.0, nan), (inf, 1.0, nan), (0.0, 0.0, nan), (1.0, 0.0, nan), (1.0, -0.0, nan), (0.0, 1.0, 0.0), (0.0, -1.0, -0.0), (1.0, inf, 1.0), (-1.0, -inf, -1.0), (-1.0, inf, inf), (1.0, -inf, -inf),
                  (5.0, 3.0, 2.0), (-5.0, 3.0, 1.0), (5.0, -3.0, -1.0)],
    "nextafter": [(nan, 1.0, nan), (1.0, nan, nan), (1.0, 1.0, 1.0), (-0.0, 0.0, 0.0), (0.0, -0.0, -0.0)],
    "copysign": [(1.0, -0.0, -1.0), (-1.0, 0.0, 1.0), (inf, -1.0, -inf), (0.0, -nan, -0.0), (nan, -1.0, nan), (nan, 1.0, nan)],
    "subtract": [(nan, 1.0, nan), (1.0, nan, nan), (inf, inf, nan), (-inf, -inf, nan), (inf, -inf, inf), (1.0, inf, -inf), (-0.0, 0.0, -0.0), (0.0, -0.0, 0.0), (-0.0, -0.0, 0.0)],
}  # fmt: skip


def _same(found, stated, rtol):
    if math.isnan(stated):
        return math.isnan(found)
    if found == 0 or stated == 0 or math.isinf(stated):
        return found == stated and math.copysign(1, found) == math.copysign(1, stated)
    return math.isclose(found, stated, rel_tol=rtol)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_functions_of_a_real_number(dtype):
    failures = []
    for name, pairs in OF_REAL.items():
        found = np.asarray(
            getattr(xp, name)(xp.asarray([x for x, _ in pairs], dtype=dtype)), float
        ).tolist()
        failures += [
            f"{name}({x}) is {value}, not {stated}"
            for (x, stated), value in zip(pairs, found)
            if not _same(value, stated, 1e-6)
        ]
    assert failures == []


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_functions_of_two_real_numbers(dtype):
    failures = []
    for name, triples in OF_TWO.items():
        arguments = [xp.asarray([triple[k] for triple in triples], dtype=dtype) for k in (0, 1)]
        found = np.asarray(getattr(xp, name)(*arguments), float).tolist()
        failures += [
            f"{name}({x}, {y}) is {value}, not {stated}"
            for (x, y, stated), value in zip(triples, found)
            if not _same(value, stated, 1e-6)
        ]
    assert failures == []


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_questions_about_real_numbers(dtype):
    failures = []
    for table, count in ((OF_REAL_BOOL, 1), (OF_TWO_BOOL, 2)):
        for name, cases in table.items():
            arguments = [xp.asarray([case[k] for case in cases], dtype=dtype) for k in range(count)]
            found = getattr(xp, name)(*arguments)
            assert found.dtype == xp.bool
            failures += [
                f"{name}{case[:-1]} is {value}"
                for case, value in zip(cases, np.asarray(found).tolist())
                if value != case[-1]
            ]
    assert failures == []


# ---- complex numbers -------------------------------------------------------------------------------------------------

# As C99's Annex G, of which the standard restates the cases; None: a part may have either sign or any value.
OF_COMPLEX = {
    "exp": [((0, 0), (1, 0)), ((-0.0, 0), (1, 0)), ((1, inf), (nan, nan)), ((1, nan), (nan, nan)), ((inf, 0), (inf, 0)), ((-inf, inf), (0, 0)), ((inf, nan), (inf, nan)), ((-inf, nan), (0, 0)), ((nan, 0), (nan, 0)), ((nan, nan), (nan, nan))],
    "cosh": [((0, 0), (1, 0)), ((0, inf), (nan, 0)), ((0, nan), (nan, 0)), ((1, inf), (nan, nan)), ((inf, 0), (inf, 0)), ((inf, nan), (inf, nan)), ((nan, 0), (nan, 0)), ((nan, nan), (nan, nan))],
    "sinh": [((0, 0), (0, 0)), ((0, inf), (0, nan)), ((0, nan), (0, nan)), ((1, inf), (nan, nan)), ((inf, 0), (inf, 0)), ((inf, nan), (inf, nan)), ((nan, 0), (nan, 0)), ((nan, nan), (nan, nan))],
    "tan": [((0, 0), (0, 0)), ((nan, 0), (nan, 0)), ((nan, nan), (nan, nan)), ((1, inf), (0, 1)), ((nan, inf), (0, 1))],
    "tanh": [((0, 0), (0, 0)), ((0, inf), (0, nan)), ((0, nan), (0, nan)), ((1, inf), (nan, nan)), ((1, nan), (nan, nan)), ((inf, 1), (1, 0)), ((inf, nan), (1, 0)), ((nan, 0), (nan, 0)), ((nan, nan), (nan, nan))],
    "sqrt": [((0, 0), (0, 0)), ((-0.0, 0), (0, 0)), ((1, inf), (inf, inf)), ((nan, inf), (inf, inf)), ((1, nan), (nan, nan)), ((-inf, 1), (0, inf)), ((inf, 1), (inf, 0)), ((inf, nan), (inf, nan)), ((nan, 1), (nan, nan))],
    "log": [((-0.0, 0), (-inf, pi)), ((0, 0), (-inf, 0)), ((1, inf), (inf, pi / 2)), ((1, nan), (nan, nan)), ((-inf, 1), (inf, pi)), ((inf, 1), (inf, 0)), ((-inf, inf), (inf, 3 * pi / 4)), ((inf, inf), (inf, pi / 4)), ((inf, nan), (inf, nan)), ((nan, inf), (inf, nan)), ((nan, nan), (nan, nan))],
    "acos": [((0, 0), (pi / 2, 0)), ((1, inf), (pi / 2, -inf)), ((-inf, 1), (pi, -inf)), ((inf, 1), (0, -inf)), ((-inf, inf), (3 * pi / 4, -inf)), ((inf, inf), (pi / 4, -inf)), ((nan, inf), (nan, -inf)), ((nan, nan), (nan, nan))],
    "acosh": [((0, 0), (0, pi / 2)), ((0, nan), (nan, pi / 2)), ((1, inf), (inf, pi / 2)), ((-inf, 1), (inf, pi)), ((inf, 1), (inf, 0)), ((-inf, inf), (inf, 3 * pi / 4)), ((inf, inf), (inf, pi / 4)), ((inf, nan), (inf, nan)), ((nan, inf), (inf, nan)), ((nan, nan), (nan, nan))],
    "asinh": [((0, 0), (0, 0)), ((1, inf), (inf, pi / 2)), ((1, nan), (nan, nan)), ((inf, 1), (inf, 0)), ((inf, inf), (inf, pi / 4)), ((inf, nan), (inf, nan)), ((nan, 0), (nan, 0)), ((nan, inf), (inf, nan)), ((nan, nan), (nan, nan))],
    "atanh": [((0, 0), (0, 0)), ((0, nan), (0, nan)), ((1, 0), (inf, 0)), ((1, inf), (0, pi / 2)), ((1, nan), (nan, nan)), ((inf, 1), (0, pi / 2)), ((inf, inf), (0, pi / 2)), ((inf, nan), (0, nan)), ((nan, 1), (nan, nan)), ((nan, inf), (0, pi / 2)), ((nan, nan), (nan, nan))],
    "expm1": [((0, 0), (0, 0)), ((1, inf), (nan, nan)), ((1, nan), (nan, nan)), ((inf, 0), (inf, 0)), ((-inf, 1), (-1, 0)), ((-inf, inf), (-1, 0)), ((inf, nan), (inf, nan)), ((-inf, nan), (-1, 0)), ((nan, 0), (nan, 0)), ((nan, nan), (nan, nan))],
    "log1p": [((-1, 0), (-inf, 0)), ((1, inf), (inf, pi / 2)), ((1, nan), (nan, nan)), ((-inf, 1), (inf, pi)), ((inf, 1), (inf, 0)), ((-inf, inf), (inf, 3 * pi / 4)), ((inf, inf), (inf, pi / 4)), ((inf, nan), (inf, nan)), ((nan, inf), (inf, nan)), ((nan, nan), (nan, nan))],
}  # fmt: skip


def _close(found, stated):
    if math.isnan(stated):
        return math.isnan(found)
    return (
        found == stated
        if math.isinf(stated) or stated == 0
        else math.isclose(found, stated, rel_tol=1e-6)
    )


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
def test_functions_of_a_complex_number(dtype):
    failures = []
    for name, pairs in OF_COMPLEX.items():
        values = np.array([complex(*z) for z, _ in pairs], dtype)
        for (z, stated), value in zip(
            pairs, np.asarray(getattr(xp, name)(xp.asarray(values))).tolist()
        ):
            if not (
                _close(value.real, stated[0])
                and _close(abs(value.imag) if stated[1] == 0 else value.imag, stated[1])
            ):
                failures.append(f"{name}({z}) is {value}, not {stated}")
        # The standard asks for conj(f(z)) at conj(z), wherever f(z) is a number.
        plain, turned = (
            np.asarray(getattr(xp, name)(xp.asarray(each))) for each in (values, values.conj())
        )
        matters = np.isfinite(plain) & (values.imag != 0)
        np.testing.assert_allclose(turned[matters], plain.conj()[matters], rtol=1e-6, err_msg=name)
    assert failures == []


PARTS = [0.0, -0.0, 1.0, -1.0, 0.5, -30.0, inf, -inf, nan]
GRID = np.array([complex(a, b) for a in PARTS for b in PARTS])
BY_CMATH = "acos acosh asin asinh atan atanh cos cosh exp log log10 sin sinh sqrt tan tanh".split()


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
@pytest.mark.parametrize("name", BY_CMATH)
def test_functions_over_a_grid_of_special_values(name, dtype):
    # Python's functions have the values of C99's Annex G, and raise where one is undefined, which the tables above state.
    found = np.asarray(getattr(xp, name)(xp.asarray(GRID.astype(dtype))))
    failures = []
    for z, value in zip(GRID.tolist(), found.tolist()):
        try:
            stated = getattr(cmath, name)(z)
        except (ValueError, OverflowError):
            continue
        zero, other = (z.imag, z.real) if name == "tan" else (z.real, z.imag)
        if name in ("acosh", "tan", "tanh") and zero == 0 and math.isnan(other):
            continue  # nan in both parts before the revision of Annex G in C17; stated in OF_COMPLEX
        # The sign of a zero or of an infinity beside an argument that is not finite is left open.
        is_open = not cmath.isfinite(z)
        for a, b in ((value.real, stated.real), (value.imag, stated.imag)):
            near = (
                math.isnan(b)
                and math.isnan(a)
                or math.isclose(
                    abs(a) if is_open else a,
                    abs(b) if is_open else b,
                    rel_tol=1e-5 if dtype == xp.complex64 else 1e-13,
                )
            )
            near |= abs(b) < 1e-24 and abs(a) < 1e-24
            if not near or b == 0 and not is_open and math.copysign(1, a) != math.copysign(1, b):
                failures.append(f"{name}({z}) is {value}, not {stated}")
    assert failures == []


# Arithmetic of complex numbers, whose parts are computed by the textbook formulas.
OF_TWO_COMPLEX = {
    "add": lambda a, b, c, d: (a + c, b + d),
    "subtract": lambda a, b, c, d: (a - c, b - d),
    "multiply": lambda a, b, c, d: (a * c - b * d, a * d + b * c),
    "equal": lambda a, b, c, d: a == c and b == d,
    "not_equal": lambda a, b, c, d: a != c or b != d,
}


@pytest.mark.parametrize("name", OF_TWO_COMPLEX)
def test_functions_of_two_complex_numbers(name):
    x, y = (each.ravel() for each in np.meshgrid(GRID, GRID))
    found = np.asarray(getattr(xp, name)(xp.asarray(x), xp.asarray(y)))
    stated = [
        OF_TWO_COMPLEX[name](z.real, z.imag, w.real, w.imag) for z, w in zip(x.tolist(), y.tolist())
    ]
    expected = np.array([complex(*each) if isinstance(each, tuple) else each for each in stated])
    np.testing.assert_array_equal(found, expected)


def test_parts_sizes_and_directions_of_complex_numbers():
    z = xp.asarray(GRID)
    with np.errstate(all="ignore"):
        for name in ("real", "imag", "conj", "negative", "positive", "isfinite", "isinf", "isnan"):
            found, expected = np.asarray(getattr(xp, name)(z)), getattr(np, name)(GRID)
            np.testing.assert_array_equal(found, expected, err_msg=name)
        size, sign, square = (
            np.asarray(getattr(xp, name)(z)) for name in ("abs", "sign", "square")
        )
    is_infinite, is_nan = np.isinf(GRID), np.isnan(GRID)
    assert np.isposinf(size[is_infinite]).all() and np.isnan(size[is_nan & ~is_infinite]).all()
    assert np.isnan(sign[is_nan & ~is_infinite]).all() and (sign[GRID == 0] == 0).all()
    finite = np.isfinite(GRID) & (GRID != 0)
    np.testing.assert_allclose(sign[finite], GRID[finite] / np.abs(GRID[finite]), rtol=1e-15)
    np.testing.assert_allclose(square[np.isfinite(GRID)], GRID[np.isfinite(GRID)] ** 2, rtol=1e-15)


def test_quotients_of_complex_numbers():
    x, y = (each.ravel() for each in np.meshgrid(GRID, GRID))
    found, inverse = (
        np.asarray(xp.divide(xp.asarray(x), xp.asarray(y))),
        np.asarray(xp.reciprocal(xp.asarray(GRID))),
    )
    finite = np.isfinite(x) & np.isfinite(y) & (y != 0)
    np.testing.assert_allclose(found[finite], x[finite] / y[finite], rtol=1e-15)
    assert (
        np.isinf(found[np.isfinite(x) & (x != 0) & (y == 0)]).all()
        and np.isnan(found[(x == 0) & (y == 0)]).all()
    )
    only_nan = np.isnan(y) & ~np.isinf(y)
    assert np.isnan(found[only_nan]).all() and not np.isinf(found[only_nan]).any()
    assert (
        np.isnan(inverse[np.isnan(GRID) & ~np.isinf(GRID)]).all()
        and np.isinf(inverse[GRID == 0]).all()
    )


# ---- all functions ---------------------------------------------------------------------------------------------------

# Functions of real or complex numbers of which the standard states no special case, or which are tested below.
OF_INTEGERS = {
    "bitwise_and",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
}
OF_BOOL = {"logical_and", "logical_not", "logical_or", "logical_xor"}
BELOW = {
    "all", "any", "argmax", "argmin", "argsort", "clip", "count_nonzero", "cumulative_prod", "cumulative_sum", "diff", "isin", "max", "mean", "min", "nonzero",
    "prod", "searchsorted", "sort", "std", "sum", "unique_all", "unique_counts", "unique_inverse", "unique_values", "var", "where", "imag", "astype",
}  # fmt: skip
# Those that move elements, or make arrays: nan and infinities are elements like others.
OF_PLACES = set(
    """arange asarray broadcast_arrays broadcast_shapes broadcast_to concat empty empty_like expand_dims eye flip from_dlpack full full_like linspace matrix_transpose
    meshgrid moveaxis ones ones_like permute_dims repeat reshape roll squeeze stack take take_along_axis tile tril triu unstack zeros zeros_like""".split()
)
OF_DTYPES = {"can_cast", "finfo", "iinfo", "isdtype", "result_type", "__array_namespace_info__"}
PRODUCTS = {"matmul", "tensordot", "vecdot"}


def test_every_function_has_its_special_cases():
    stated = {
        *OF_REAL,
        *OF_TWO,
        *OF_COMPLEX,
        *OF_REAL_BOOL,
        *OF_TWO_BOOL,
        *OF_TWO_COMPLEX,
        *BY_CMATH,
    }
    listed = stated | OF_INTEGERS | OF_BOOL | BELOW | OF_PLACES | OF_DTYPES | PRODUCTS
    functions = {
        name
        for name in dir(xp)
        if inspect.isfunction(getattr(xp, name))
        and (name[0] != "_" or name == "__array_namespace_info__")
    }
    assert functions - listed == set() == listed - functions
    assert all(
        len(cases) >= 2
        for table in (OF_REAL, OF_TWO, OF_COMPLEX, OF_REAL_BOOL, OF_TWO_BOOL)
        for cases in table.values()
    )


def test_bits_and_truth():
    truth = np.array([True, True, False, False]), np.array([True, False, True, False])
    a, b = map(xp.asarray, truth)
    for name, expected in (
        ("logical_and", truth[0] & truth[1]),
        ("logical_or", truth[0] | truth[1]),
        ("logical_xor", truth[0] ^ truth[1]),
        ("logical_not", ~truth[0]),
    ):
        found = getattr(xp, name)(a) if name == "logical_not" else getattr(xp, name)(a, b)
        np.testing.assert_array_equal(np.asarray(found), expected)
        with pytest.raises(TypeError):
            getattr(xp, name)(*(xp.asarray([1.0]),) * (1 if name == "logical_not" else 2))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_reductions_of_nan_and_of_nothing(dtype):
    given, nothing = xp.asarray([1.0, nan, -inf], dtype=dtype), xp.zeros((0,), dtype=dtype)
    for name in ("sum", "prod", "mean", "max", "min", "std", "var"):
        assert math.isnan(float(getattr(xp, name)(given))), name
    assert (
        float(xp.sum(nothing)) == 0
        and float(xp.prod(nothing)) == 1
        and math.isnan(float(xp.mean(nothing)))
    )
    one = xp.asarray([2.0], dtype=dtype)
    for name in ("std", "var"):  # where no more elements than the correction remain
        assert (
            math.isnan(float(getattr(xp, name)(one, correction=1)))
            and float(getattr(xp, name)(one)) == 0
        )
        assert math.isnan(float(getattr(xp, name)(nothing)))
    assert (
        bool(xp.all(nothing))
        and not bool(xp.any(nothing))
        and bool(xp.any(xp.asarray([nan], dtype=dtype)))
        and bool(xp.all(xp.asarray([nan, inf], dtype=dtype)))
    )
    assert (
        int(xp.count_nonzero(given)) == 3
        and int(xp.count_nonzero(xp.asarray([-0.0, 0.0], dtype=dtype))) == 0
    )
    assert np.asarray(xp.nonzero(xp.asarray([nan, -0.0, inf], dtype=dtype))[0]).tolist() == [0, 2]
    sums, products = (
        np.asarray(f(xp.asarray([1.0, nan, 2.0], dtype=dtype)))
        for f in (xp.cumulative_sum, xp.cumulative_prod)
    )
    assert sums[0] == 1 == products[0] and np.isnan(sums[1:]).all() and np.isnan(products[1:]).all()
    assert np.asarray(xp.cumulative_sum(nothing, include_initial=True)).tolist() == [0.0]
    assert np.isnan(np.asarray(xp.diff(xp.asarray([inf, inf, 1.0], dtype=dtype)))).tolist() == [
        True,
        False,
    ]
    zeros = xp.asarray([0.0, -0.0], dtype=dtype)
    assert (
        int(xp.argmax(xp.asarray([1.0, 3.0, 3.0], dtype=dtype))) == 1 and int(xp.argmin(zeros)) == 0
    )


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_orders_and_sets_with_nan(dtype):
    given = np.array([2.0, nan, -inf, inf, nan, -0.0, 0.0], dtype)
    x = xp.asarray(given)
    np.testing.assert_array_equal(np.asarray(xp.sort(x)), np.sort(given))
    np.testing.assert_array_equal(np.asarray(xp.sort(x, descending=True)), np.sort(given)[::-1])
    assert np.asarray(xp.argsort(x)).tolist() == [2, 5, 6, 0, 3, 1, 4] and np.asarray(
        xp.argsort(x, descending=True)
    ).tolist() == [1, 4, 3, 0, 5, 6, 2]
    found = xp.unique_all(x)  # each nan is distinct, zeros are one
    counts = np.asarray(found.counts)
    assert (
        found.values.shape == (6,)
        and sorted(counts.tolist()) == [1, 1, 1, 1, 1, 2]
        and np.isnan(np.asarray(found.values)).sum() == 2
    )
    np.testing.assert_array_equal(
        np.asarray(found.values)[np.asarray(found.inverse_indices)], given
    )
    np.testing.assert_array_equal(given[np.asarray(found.indices)], np.asarray(found.values))
    assert xp.unique_counts(x).counts.shape == (6,) == xp.unique_values(
        x
    ).shape and xp.unique_inverse(x).inverse_indices.shape == (7,)
    assert np.asarray(xp.isin(x, xp.asarray([nan, 0.0, inf], dtype=dtype))).tolist() == [
        False,
        False,
        False,
        True,
        False,
        True,
        True,
    ]
    assert np.asarray(xp.isin(x, xp.asarray([nan], dtype=dtype), invert=True)).all()
    edges = xp.asarray([-inf, 0.0, 1.0, inf], dtype=dtype)
    assert np.asarray(
        xp.searchsorted(edges, xp.asarray([-inf, -0.0, 1.0, inf], dtype=dtype))
    ).tolist() == [0, 1, 2, 3]
    assert np.asarray(
        xp.searchsorted(edges, xp.asarray([-inf, -0.0, 1.0, inf], dtype=dtype), side="right")
    ).tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_choices_and_bounds_with_nan(dtype):
    given = xp.asarray([nan, -inf, inf, 0.5], dtype=dtype)
    assert np.array_equal(
        np.asarray(xp.clip(given, 0, 1)), np.array([nan, 0, 1, 0.5], dtype), equal_nan=True
    )
    assert np.isnan(
        np.asarray(xp.clip(xp.asarray([1.0], dtype=dtype), xp.asarray([nan], dtype=dtype), 2.0))
    ).all()
    assert np.isnan(
        np.asarray(xp.clip(xp.asarray([1.0], dtype=dtype), None, xp.asarray([nan], dtype=dtype)))
    ).all()
    chosen = np.asarray(
        xp.where(
            xp.asarray([True, False]),
            xp.asarray([1.0, nan], dtype=dtype),
            xp.asarray([nan, 2.0], dtype=dtype),
        )
    )
    assert chosen.tolist() == [1.0, 2.0]
    assert np.asarray(xp.astype(xp.asarray([nan, -0.0, 2.0], dtype=dtype), xp.bool)).tolist() == [
        True,
        False,
        True,
    ]


def test_products_keep_nan_and_infinities():
    a, b = np.array([[1.0, inf], [nan, 0.0]]), np.array([[0.0, 1.0], [1.0, -inf]])
    with np.errstate(all="ignore"):
        expected = [np.array([[inf, -inf], [nan, nan]]), np.tensordot(a, b, 2), np.vecdot(a, b)]
    np.testing.assert_array_equal(np.asarray(xp.matmul(xp.asarray(a), xp.asarray(b))), expected[0])
    np.testing.assert_array_equal(
        np.asarray(xp.tensordot(xp.asarray(a), xp.asarray(b), axes=2)), expected[1]
    )
    np.testing.assert_array_equal(np.asarray(xp.vecdot(xp.asarray(a), xp.asarray(b))), expected[2])


# ---- dtypes ----------------------------------------------------------------------------------------------------------


def _promoted(a, b):
    """By the standard's tables; None where kinds are mixed."""
    a, b = np.dtype(a), np.dtype(b)
    if {a.kind, b.kind} <= {"i", "u"} or {a.kind, b.kind} <= {"f", "c"}:
        out = np.promote_types(a, b)
        return out if out.kind != "f" or a.kind == "f" else None
    return a if a == b else None


@pytest.mark.parametrize("a", NUMERIC, ids=str)
def test_promotion_tables(a):
    for b in NUMERIC:
        expected = _promoted(a, b)
        x, y = xp.ones((2,), dtype=a), xp.ones((2,), dtype=b)
        if expected is None:
            for refused in (lambda: xp.result_type(a, b), lambda: xp.add(x, y), lambda: x * y):
                with pytest.raises(TypeError):
                    refused()
        else:
            found = {
                xp.result_type(a, b),
                xp.add(x, y).dtype,
                (x * y).dtype,
                (x - y).dtype,
                xp.where(xp.asarray([True, False]), x, y).dtype,
                xp.concat([x, y]).dtype,
            }
            assert found == {expected}, (a, b)
            assert xp.equal(x, y).dtype == xp.bool
            if expected.kind in "iu":
                assert {(x & y).dtype, (x // y).dtype, (x % y).dtype} == {expected}


def test_dtypes_of_results():
    for dtype in NUMERIC:
        x = xp.ones((2, 2), dtype=dtype)
        kind = dtype.kind
        assert (
            xp.sum(x).dtype
            == {"i": xp.int64, "u": xp.uint64}.get(kind, dtype)
            == xp.prod(x).dtype
            == xp.cumulative_sum(x, axis=0).dtype
        )
        assert xp.abs(x).dtype == {xp.complex64: xp.float32, xp.complex128: xp.float64}.get(
            dtype, dtype
        )
        assert xp.square(x).dtype == xp.positive(x).dtype == (x**1).dtype == dtype
        assert xp.zeros_like(x).dtype == xp.full_like(x, 1).dtype == xp.empty_like(x).dtype == dtype
        if kind != "c":
            assert (
                xp.argmax(x).dtype == xp.argsort(x).dtype == xp.int64
                and xp.sort(x).dtype == xp.max(x).dtype == dtype
            )
        if kind in "iu":
            assert (
                xp.ceil(x).dtype
                == xp.floor(x).dtype
                == xp.trunc(x).dtype
                == xp.round(x).dtype
                == dtype
            )
            for name in ("exp", "sqrt", "sin", "mean", "std"):
                with pytest.raises(TypeError):
                    getattr(xp, name)(x)
        if kind == "f":
            assert (
                xp.mean(x).dtype
                == xp.std(x).dtype
                == xp.linalg.inv(x + xp.asarray([[1, 0], [0, 1]], dtype=dtype)).dtype
                == dtype
            )
            assert (
                xp.fft.fft(x).dtype == (xp.complex64 if dtype == xp.float32 else xp.complex128)
                if hasattr(xp.fft, "fft")
                else True
            )


# ---- shapes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "sum",
        "prod",
        "max",
        "min",
        "mean",
        "var",
        "std",
        "all",
        "any",
        "count_nonzero",
        "argmax",
        "argmin",
    ],
)
def test_kept_dimensions(name):
    x = xp.reshape(xp.arange(24.0), (2, 3, 4))
    y = xp.astype(x, xp.bool) if name in ("all", "any") else x
    function = getattr(xp, name)
    for axis in (None, 0, -1, *([] if name.startswith("arg") else [(0, 2), (1,), ()])):
        reduced = tuple(range(3)) if axis is None else (axis,) if isinstance(axis, int) else axis
        reduced = {each % 3 for each in reduced}
        kept = tuple(1 if k in reduced else n for k, n in enumerate(x.shape))
        assert function(y, axis=axis, keepdims=True).shape == kept
        assert function(y, axis=axis).shape == tuple(
            n for k, n in enumerate(x.shape) if k not in reduced
        )
    with pytest.raises((IndexError, ValueError)):
        function(y, axis=3)


def test_arrays_without_elements():
    empty = xp.zeros((0, 3))
    assert (
        np.asarray(xp.sum(empty, axis=0)).tolist() == [0] * 3
        and np.asarray(xp.prod(empty, axis=0)).tolist() == [1] * 3
    )
    assert (
        np.asarray(xp.all(xp.astype(empty, xp.bool), axis=0)).all()
        and xp.sum(empty).shape == ()
        and xp.sort(empty, axis=0).shape == (0, 3)
    )
    assert (
        xp.concat([empty, empty]).shape == (0, 3)
        and xp.matmul(empty, xp.zeros((3, 2))).shape == (0, 2)
        and xp.unique_values(empty).shape == (0,)
    )
    assert float(xp.matmul(xp.zeros((2, 0)), xp.zeros((0, 2)))[0, 0]) == 0
    for mask in (xp.asarray([], dtype=xp.bool), xp.zeros((0, 3), dtype=xp.bool)):
        assert empty[mask].shape[0] == 0
    assert xp.ones((2, 3))[xp.asarray([], dtype=xp.bool)].shape == (
        0,
        3,
    )  # a mask without elements fits any length
    for name in ("max", "min"):
        with pytest.raises(ValueError):
            getattr(xp, name)(empty, axis=0)


def test_integers_beyond_32_bits():
    big = 2**31 + 5
    assert (
        np.asarray(xp.eye(2, 3, k=big)).sum()
        == 0
        == np.asarray(xp.tril(xp.ones((2, 2)), k=-big)).sum()
    )
    assert (
        np.asarray(xp.triu(xp.ones((2, 2)), k=-big)).sum() == 4
        and xp.arange(big, big + 2).dtype == xp.int64
    )
    assert np.asarray(xp.arange(big, big + 2)).tolist() == [big, big + 1] and np.asarray(
        xp.roll(xp.arange(3), 3 * big + 1)
    ).tolist() == [2, 0, 1]
    assert np.asarray(xp.linalg.trace(xp.ones((2, 2)), offset=big)).item() == 0 and np.asarray(
        xp.full((1,), big)
    ).tolist() == [big]
    assert np.asarray(xp.arange(6)[-big:big:1]).tolist() == list(range(6)) and np.asarray(
        xp.arange(6)[::big]
    ).tolist() == [0]


def test_linspace_ends_exactly():
    for start, stop, n in ((0.0, 1.0, 7), (0.1, 0.7, 10), (3.0, -5.0, 11), (0.0, 0.0, 2)):
        found = np.asarray(xp.linspace(start, stop, n))
        assert found[-1] == stop and found[0] == start
        np.testing.assert_array_equal(found, np.linspace(start, stop, n))
    assert (
        xp.linspace(0.0, 1.0, 5, endpoint=False).shape == (5,)
        and xp.linspace(0, 1, 1).shape == (1,)
        and xp.linspace(0, 1, 0).shape == (0,)
    )


def test_distinct_complex_numbers():
    z = np.array(
        [1 + 2j, 1 - 2j, 0.5 + 2j, 1 + 2j, complex(nan, 0), complex(nan, 0), -0.0 + 0j, 0.0 + 0j]
    )
    found = xp.unique_all(xp.asarray(z))
    values, counts, inverse = (
        np.asarray(each) for each in (found.values, found.counts, found.inverse_indices)
    )
    assert counts.sum() == len(z) and np.array_equal(values[inverse], z, equal_nan=True)
    assert len(values) == 6 and sorted(counts.tolist()) == [
        1,
        1,
        1,
        1,
        2,
        2,
    ]  # each nan is distinct, zeros are one


def test_shifts_and_bits():
    for dtype in SIGNED + UNSIGNED:
        x, n = np.array([1, 5, 100], dtype), np.array([1, 2, 3], dtype)
        a, b = xp.asarray(x), xp.asarray(n)
        np.testing.assert_array_equal(np.asarray(a << b), x << n)
        np.testing.assert_array_equal(np.asarray(a >> b), x >> n)
        np.testing.assert_array_equal(np.asarray(~a), ~x)
        np.testing.assert_array_equal(np.asarray(xp.bitwise_xor(a, b)), x ^ n)

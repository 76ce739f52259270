"""The special cases that the array-API standard states in words, function by function, and its rules of dtypes and shapes. `./dev test --array-api` runs
the public conformance suite, which is not part of this project."""

import math

import numpy as np
import pytest

import bitale.array_api as xp

inf, nan = math.inf, math.nan
FLOATS = [xp.float32, xp.float64]
COMPLEX = [xp.complex64, xp.complex128]
SIGNED, UNSIGNED = [xp.int8, xp.int16, xp.int32, xp.int64], [xp.uint8, xp.uint16, xp.uint32, xp.uint64]
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
}  # fmt: skip
pi = math.pi
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
    "copysign": [(1.0, -0.0, -1.0), (-1.0, 0.0, 1.0), (inf, -1.0, -inf), (0.0, -nan, -0.0)],
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
        found = np.asarray(getattr(xp, name)(xp.asarray([x for x, _ in pairs], dtype=dtype)), float).tolist()
        failures += [f"{name}({x}) is {value}, not {stated}" for (x, stated), value in zip(pairs, found) if not _same(value, stated, 1e-6)]
    assert failures == []


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_functions_of_two_real_numbers(dtype):
    failures = []
    for name, triples in OF_TWO.items():
        arguments = [xp.asarray([triple[k] for triple in triples], dtype=dtype) for k in (0, 1)]
        found = np.asarray(getattr(xp, name)(*arguments), float).tolist()
        failures += [f"{name}({x}, {y}) is {value}, not {stated}" for (x, y, stated), value in zip(triples, found) if not _same(value, stated, 1e-6)]
    assert failures == []


# ---- complex numbers -------------------------------------------------------------------------------------------------

# As C99's Annex G, of which the standard restates the cases; None: a part may have either sign or any value.
OF_COMPLEX = {
    "exp": [((0, 0), (1, 0)), ((-0.0, 0), (1, 0)), ((1, inf), (nan, nan)), ((1, nan), (nan, nan)), ((inf, 0), (inf, 0)), ((-inf, inf), (0, 0)), ((inf, nan), (inf, nan)), ((-inf, nan), (0, 0)), ((nan, 0), (nan, 0)), ((nan, nan), (nan, nan))],
    "cosh": [((0, 0), (1, 0)), ((0, inf), (nan, 0)), ((0, nan), (nan, 0)), ((1, inf), (nan, nan)), ((inf, 0), (inf, 0)), ((inf, nan), (inf, nan)), ((nan, 0), (nan, 0)), ((nan, nan), (nan, nan))],
    "sinh": [((0, 0), (0, 0)), ((0, inf), (0, nan)), ((0, nan), (0, nan)), ((1, inf), (nan, nan)), ((inf, 0), (inf, 0)), ((inf, nan), (inf, nan)), ((nan, 0), (nan, 0)), ((nan, nan), (nan, nan))],
    "tanh": [((0, 0), (0, 0)), ((1, inf), (nan, nan)), ((1, nan), (nan, nan)), ((inf, 1), (1, 0)), ((inf, nan), (1, 0)), ((nan, 0), (nan, 0)), ((nan, nan), (nan, nan))],
    "sqrt": [((0, 0), (0, 0)), ((-0.0, 0), (0, 0)), ((1, inf), (inf, inf)), ((nan, inf), (inf, inf)), ((1, nan), (nan, nan)), ((-inf, 1), (0, inf)), ((inf, 1), (inf, 0)), ((inf, nan), (inf, nan)), ((nan, 1), (nan, nan))],
    "log": [((-0.0, 0), (-inf, pi)), ((0, 0), (-inf, 0)), ((1, inf), (inf, pi / 2)), ((1, nan), (nan, nan)), ((-inf, 1), (inf, pi)), ((inf, 1), (inf, 0)), ((-inf, inf), (inf, 3 * pi / 4)), ((inf, inf), (inf, pi / 4)), ((inf, nan), (inf, nan)), ((nan, inf), (inf, nan)), ((nan, nan), (nan, nan))],
    "acos": [((0, 0), (pi / 2, 0)), ((1, inf), (pi / 2, -inf)), ((-inf, 1), (pi, -inf)), ((inf, 1), (0, -inf)), ((-inf, inf), (3 * pi / 4, -inf)), ((inf, inf), (pi / 4, -inf)), ((nan, inf), (nan, -inf)), ((nan, nan), (nan, nan))],
    "acosh": [((0, 0), (0, pi / 2)), ((1, inf), (inf, pi / 2)), ((-inf, 1), (inf, pi)), ((inf, 1), (inf, 0)), ((-inf, inf), (inf, 3 * pi / 4)), ((inf, inf), (inf, pi / 4)), ((inf, nan), (inf, nan)), ((nan, inf), (inf, nan)), ((nan, nan), (nan, nan))],
    "asinh": [((0, 0), (0, 0)), ((1, inf), (inf, pi / 2)), ((1, nan), (nan, nan)), ((inf, 1), (inf, 0)), ((inf, inf), (inf, pi / 4)), ((inf, nan), (inf, nan)), ((nan, 0), (nan, 0)), ((nan, inf), (inf, nan)), ((nan, nan), (nan, nan))],
    "atanh": [((0, 0), (0, 0)), ((0, nan), (0, nan)), ((1, 0), (inf, 0)), ((1, inf), (0, pi / 2)), ((1, nan), (nan, nan)), ((inf, 1), (0, pi / 2)), ((inf, inf), (0, pi / 2)), ((inf, nan), (0, nan)), ((nan, 1), (nan, nan)), ((nan, inf), (0, pi / 2)), ((nan, nan), (nan, nan))],
    "expm1": [((0, 0), (0, 0)), ((1, inf), (nan, nan)), ((1, nan), (nan, nan)), ((inf, 0), (inf, 0)), ((-inf, 1), (-1, 0)), ((-inf, inf), (-1, 0)), ((inf, nan), (inf, nan)), ((-inf, nan), (-1, 0)), ((nan, 0), (nan, 0)), ((nan, nan), (nan, nan))],
    "log1p": [((-1, 0), (-inf, 0)), ((1, inf), (inf, pi / 2)), ((1, nan), (nan, nan)), ((-inf, 1), (inf, pi)), ((inf, 1), (inf, 0)), ((-inf, inf), (inf, 3 * pi / 4)), ((inf, inf), (inf, pi / 4)), ((inf, nan), (inf, nan)), ((nan, inf), (inf, nan)), ((nan, nan), (nan, nan))],
}  # fmt: skip


def _close(found, stated):
    if math.isnan(stated):
        return math.isnan(found)
    return found == stated if math.isinf(stated) or stated == 0 else math.isclose(found, stated, rel_tol=1e-6)


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
def test_functions_of_a_complex_number(dtype):
    failures = []
    for name, pairs in OF_COMPLEX.items():
        values = np.array([complex(*z) for z, _ in pairs], dtype)
        for (z, stated), value in zip(pairs, np.asarray(getattr(xp, name)(xp.asarray(values))).tolist()):
            if not (_close(value.real, stated[0]) and _close(abs(value.imag) if stated[1] == 0 else value.imag, stated[1])):
                failures.append(f"{name}({z}) is {value}, not {stated}")
        # The standard asks for conj(f(z)) at conj(z), wherever f(z) is a number.
        plain, turned = (np.asarray(getattr(xp, name)(xp.asarray(each))) for each in (values, values.conj()))
        matters = np.isfinite(plain) & (values.imag != 0)
        np.testing.assert_allclose(turned[matters], plain.conj()[matters], rtol=1e-6, err_msg=name)
    assert failures == []


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
            found = {xp.result_type(a, b), xp.add(x, y).dtype, (x * y).dtype, (x - y).dtype, xp.where(xp.asarray([True, False]), x, y).dtype, xp.concat([x, y]).dtype}
            assert found == {expected}, (a, b)
            assert xp.equal(x, y).dtype == xp.bool
            if expected.kind in "iu":
                assert {(x & y).dtype, (x // y).dtype, (x % y).dtype} == {expected}


def test_dtypes_of_results():
    for dtype in NUMERIC:
        x = xp.ones((2, 2), dtype=dtype)
        kind = dtype.kind
        assert xp.sum(x).dtype == {"i": xp.int64, "u": xp.uint64}.get(kind, dtype) == xp.prod(x).dtype == xp.cumulative_sum(x, axis=0).dtype
        assert xp.abs(x).dtype == {xp.complex64: xp.float32, xp.complex128: xp.float64}.get(dtype, dtype)
        assert xp.square(x).dtype == xp.positive(x).dtype == (x**1).dtype == dtype
        assert xp.zeros_like(x).dtype == xp.full_like(x, 1).dtype == xp.empty_like(x).dtype == dtype
        if kind != "c":
            assert xp.argmax(x).dtype == xp.argsort(x).dtype == xp.int64 and xp.sort(x).dtype == xp.max(x).dtype == dtype
        if kind in "iu":
            assert xp.ceil(x).dtype == xp.floor(x).dtype == xp.trunc(x).dtype == xp.round(x).dtype == dtype
            for name in ("exp", "sqrt", "sin", "mean", "std"):
                with pytest.raises(TypeError):
                    getattr(xp, name)(x)
        if kind == "f":
            assert xp.mean(x).dtype == xp.std(x).dtype == xp.linalg.inv(x + xp.asarray([[1, 0], [0, 1]], dtype=dtype)).dtype == dtype
            assert xp.fft.fft(x).dtype == (xp.complex64 if dtype == xp.float32 else xp.complex128) if hasattr(xp.fft, "fft") else True


# ---- shapes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean", "var", "std", "all", "any", "count_nonzero", "argmax", "argmin"])
def test_kept_dimensions(name):
    x = xp.reshape(xp.arange(24.0), (2, 3, 4))
    y = xp.astype(x, xp.bool) if name in ("all", "any") else x
    function = getattr(xp, name)
    for axis in (None, 0, -1, *([] if name.startswith("arg") else [(0, 2), (1,), ()])):
        reduced = tuple(range(3)) if axis is None else (axis,) if isinstance(axis, int) else axis
        reduced = {each % 3 for each in reduced}
        kept = tuple(1 if k in reduced else n for k, n in enumerate(x.shape))
        assert function(y, axis=axis, keepdims=True).shape == kept
        assert function(y, axis=axis).shape == tuple(n for k, n in enumerate(x.shape) if k not in reduced)
    with pytest.raises((IndexError, ValueError)):
        function(y, axis=3)


def test_arrays_without_elements():
    empty = xp.zeros((0, 3))
    assert np.asarray(xp.sum(empty, axis=0)).tolist() == [0] * 3 and np.asarray(xp.prod(empty, axis=0)).tolist() == [1] * 3
    assert np.asarray(xp.all(xp.astype(empty, xp.bool), axis=0)).all() and xp.sum(empty).shape == () and xp.sort(empty, axis=0).shape == (0, 3)
    assert xp.concat([empty, empty]).shape == (0, 3) and xp.matmul(empty, xp.zeros((3, 2))).shape == (0, 2) and xp.unique_values(empty).shape == (0,)
    assert float(xp.matmul(xp.zeros((2, 0)), xp.zeros((0, 2)))[0, 0]) == 0
    for mask in (xp.asarray([], dtype=xp.bool), xp.zeros((0, 3), dtype=xp.bool)):
        assert empty[mask].shape[0] == 0
    for name in ("max", "min"):
        with pytest.raises(ValueError):
            getattr(xp, name)(empty, axis=0)


def test_integers_beyond_32_bits():
    big = 2**31 + 5
    assert np.asarray(xp.eye(2, 3, k=big)).sum() == 0 == np.asarray(xp.tril(xp.ones((2, 2)), k=-big)).sum()
    assert np.asarray(xp.triu(xp.ones((2, 2)), k=-big)).sum() == 4 and xp.arange(big, big + 2).dtype == xp.int64
    assert np.asarray(xp.arange(big, big + 2)).tolist() == [big, big + 1] and np.asarray(xp.roll(xp.arange(3), 3 * big + 1)).tolist() == [2, 0, 1]
    assert np.asarray(xp.linalg.trace(xp.ones((2, 2)), offset=big)).item() == 0 and np.asarray(xp.full((1,), big)).tolist() == [big]
    assert np.asarray(xp.arange(6)[-big:big:1]).tolist() == list(range(6)) and np.asarray(xp.arange(6)[::big]).tolist() == [0]


def test_linspace_ends_exactly():
    for start, stop, n in ((0.0, 1.0, 7), (0.1, 0.7, 10), (3.0, -5.0, 11), (0.0, 0.0, 2)):
        found = np.asarray(xp.linspace(start, stop, n))
        assert found[-1] == stop and found[0] == start
        np.testing.assert_array_equal(found, np.linspace(start, stop, n))
    assert xp.linspace(0.0, 1.0, 5, endpoint=False).shape == (5,) and xp.linspace(0, 1, 1).shape == (1,) and xp.linspace(0, 1, 0).shape == (0,)


def test_distinct_complex_numbers():
    z = np.array([1 + 2j, 1 - 2j, 0.5 + 2j, 1 + 2j, complex(nan, 0), complex(nan, 0), -0.0 + 0j, 0.0 + 0j])
    found = xp.unique_all(xp.asarray(z))
    values, counts, inverse = (np.asarray(each) for each in (found.values, found.counts, found.inverse_indices))
    assert counts.sum() == len(z) and np.array_equal(values[inverse], z, equal_nan=True)
    assert len(values) == 6 and sorted(counts.tolist()) == [1, 1, 1, 1, 2, 2]  # each nan is distinct, zeros are one


def test_shifts_and_bits():
    for dtype in SIGNED + UNSIGNED:
        x, n = np.array([1, 5, 100], dtype), np.array([1, 2, 3], dtype)
        a, b = xp.asarray(x), xp.asarray(n)
        np.testing.assert_array_equal(np.asarray(a << b), x << n)
        np.testing.assert_array_equal(np.asarray(a >> b), x >> n)
        np.testing.assert_array_equal(np.asarray(~a), ~x)
        np.testing.assert_array_equal(np.asarray(xp.bitwise_xor(a, b)), x ^ n)

"""Elementary functions of complex numbers at zeros, infinities, nan and large numbers: the values of Annex G of the C standard, by
NumPy's functions, which call C's. Compiled and node by node."""

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt

PARTS = [0.0, -0.0, 1.0, -1.0, 30.0, -30.0, np.inf, -np.inf, np.nan]
FUNCTIONS = [
    "exp", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "log", "log2", "log10", "arccos", "arcsin", "arctan", "arccosh", "arcsinh", "arctanh", "conj", "neg",
]  # fmt: skip


def grid(dtype):
    a, b = (each.ravel() for each in np.meshgrid(PARTS, PARTS))
    z = np.empty(a.size, dtype)
    z.real, z.imag = a, b
    return z


def agree(result, expected, angle):
    """Whether two real parts agree. Where the angle is not finite, Annex G leaves signs open."""
    tolerance = 1e-5 if result.dtype == np.float32 else 1e-13
    with np.errstate(all="ignore"):
        near = np.isclose(result, expected, rtol=tolerance, atol=1e-30, equal_nan=True)
        near |= ~np.isfinite(angle) & np.isclose(
            np.abs(result), np.abs(expected), rtol=tolerance, equal_nan=True
        )
    return near


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_special_values(dtype, mode):
    z = grid(dtype)
    v = pt.vector("v", dtype=dtype)
    results = bt.function([v], [getattr(pt, name)(v) for name in FUNCTIONS], mode=mode)(z)
    failures = []
    for name, result in zip(FUNCTIONS, results):
        with np.errstate(all="ignore"):
            expected = getattr(np, {"neg": "negative"}.get(name, name))(z)
        angle = z.real if name in ("sin", "cos", "tan") else z.imag
        wrong = ~(
            agree(result.real, expected.real, angle) & agree(result.imag, expected.imag, angle)
        )
        for part, stated in ((result.real, expected.real), (result.imag, expected.imag)):
            wrong |= np.isfinite(z) & (stated == 0) & (np.signbit(part) != np.signbit(stated))
        failures += [
            f"{name}({z[i]}): {result[i]}, expected {expected[i]}" for i in np.flatnonzero(wrong)
        ]
    assert not failures, "\n".join([f"{len(failures)} differ", *failures[:60]])


def test_exponentials_that_overflow_in_one_part_only(mode):
    z = np.array([710 + 1.5j, 710 - 1.5j, 709 + 3j, 720 + 0.1j, -746 + 1j, 700 + 1j, 700.5 + 2j])
    v = pt.zvector("v")
    result = bt.function([v], pt.exp(v), mode=mode)(z)
    with np.errstate(all="ignore"):
        expected = np.exp(z)
    assert np.allclose(result.real, expected.real, rtol=1e-13) and np.allclose(
        result.imag, expected.imag, rtol=1e-13
    )
    assert np.isfinite(result[0].real) and np.isinf(result[0].imag)


def test_quotients_by_nan_are_nan(mode):
    z = np.array(
        [
            complex(np.nan, 0),
            complex(0, np.nan),
            complex(np.nan, 1),
            complex(np.nan, np.nan),
            0,
            complex(-0.0, 0),
        ]
    )
    v = pt.zvector("v")
    for result in bt.function([v], [pt.reciprocal(v), 1 / v, (2 + 1j) / v], mode=mode)(z):
        assert np.isnan(result[:4]).all() and not np.isinf(result[:4]).any()
        assert np.isinf(result[4:]).all()


def test_the_sign_of_zero_is_zero(mode):
    z = np.array([complex(-0.0, 0.0), complex(0.0, -0.0), complex(-0.0, -0.0)])
    v = pt.zvector("v")
    result = bt.function([v], pt.sign(v), mode=mode)(z)
    assert result.tolist() == [0, 0, 0] and not np.signbit(result.real).any()

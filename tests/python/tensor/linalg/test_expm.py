"""The exponential of matrices and its derivatives, against arithmetic with 50 digits."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt

expm = pt.linalg.expm


def exact_expm(a: mpmath.matrix) -> mpmath.matrix:
    """By its series, of the matrix divided by a power of two, with as many digits as squaring loses."""
    squarings = max(0, int(mpmath.log(mpmath.mnorm(a, 1) + 1, 2)) + 6)
    with mpmath.workdps(40 + squarings // 2):
        scaled, out, term, k = (
            a / mpmath.mpf(2) ** squarings,
            mpmath.eye(a.rows),
            mpmath.eye(a.rows),
            0,
        )
        while mpmath.mnorm(term, 1) > mpmath.eps:
            k += 1
            term = term * scaled / k
            out = out + term
        for _ in range(squarings):
            out = out * out
    return out


def exact(*matrices: np.ndarray) -> np.ndarray:
    """exp(A), or the coefficient of e_1 e_2 ... in exp(A + e_1 E_1 + e_2 E_2 ...) if directions are given."""
    n, kind = len(matrices[0]), np.result_type(*matrices).kind
    blocks = np.asarray(matrices[0], object)
    for direction in matrices[1:]:
        beside = np.kron(
            np.eye(len(blocks) // n, dtype=int).astype(object), np.asarray(direction, object)
        )
        blocks = np.block([[blocks, beside], [0 * blocks, blocks]])
    found = exact_expm(mpmath.matrix(blocks.tolist()))
    number = complex if kind == "c" else float
    return np.array([[number(found[i, found.cols - n + j]) for j in range(n)] for i in range(n)])


def relative_error(got: Any, expected: np.ndarray) -> float:
    """The largest relative error of an element."""
    got = np.asarray(got)
    assert got.shape == expected.shape
    errors = np.abs(got - expected)
    return float(
        np.max(
            np.where(expected != 0, errors / np.where(expected != 0, np.abs(expected), 1), errors)
        )
    )


def matrices() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    grades = 10.0 ** np.array([0, 4, -3, 8])
    out = {
        "one large element": np.array([[1, 1e7], [0, 1.5]]),
        "one larger element": np.array([[1, 1e9], [0, 1.5]]),
        "lower": np.array([[1, 0], [1e9, 1.5]]),
        "three large elements": np.array([[1, 1e6, 1e12], [0, -3, 1e6], [0, 0, 2.0]]),
        "negative diagonal": np.array([[-30, 1e6, 1e3], [0, -40, 1e-6], [0, 0, 2.0]]),
        "blocks": np.array([[1, 2, 1e9, 3e9], [-2, 1, 1e8, 1e9], [0, 0, 3, 1], [0, 0, -4, 2.0]]),
        "a large row": np.array([[0, 1e9, -2e9], [0, 3, 3.1], [0, 3.2, 3]]),
        "a large column": np.array([[0, 0, 0], [1e9, 3, 3.1], [-2e9, 3.2, 3]]),
        "similar to graded": grades[:, None] * rng.normal(size=(4, 4)) / grades,
        "rotation": np.array([[0, -1e10], [1e-8, 0]]),
        "defective": 2 * np.eye(4) + 1e4 * np.eye(4, k=1),
        "zero": np.zeros((3, 3)),
        "rates": (lambda q: q - np.diag(q.sum(1)))(20 * rng.random((4, 4))),
    }
    for size in (1e-12, 1e-2, 0.3, 1, 3, 10):  # the approximants of all degrees, and squarings
        out[f"size {size}"] = size * rng.normal(size=(4, 4))
    return out


MATRICES = matrices()


@pytest.mark.parametrize("phase", [0, 0.7])
@pytest.mark.parametrize("name", MATRICES)
def test_every_element_of_a_badly_scaled_exponential_is_accurate(name, phase):
    a = MATRICES[name] * (np.exp(1j * phase) if phase else 1)
    for value in (a, a.T):
        x = pt.tensor(dtype=a.dtype.name, shape=(None, None))
        assert relative_error(bt.function([x], expm(x))(value), exact(value)) < 2e-13


@pytest.mark.parametrize("name", [name for name in MATRICES if "large" not in name])
def test_float32(name):
    a = MATRICES[name].astype("float32")
    x = pt.fmatrix("x")
    expected = exact(a.astype("float64"))
    assert np.abs(bt.function([x], expm(x))(a) - expected).max() < 2e-5 * np.abs(expected).max()


@pytest.mark.parametrize("n", [40, 70])
def test_norms_of_powers_of_large_matrices_are_estimated(n):
    rng = np.random.default_rng(n)
    q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    w = rng.normal(size=n) * 4
    x = pt.dmatrix("x")
    f = bt.function([x], expm(x))
    expected = q * np.exp(w) @ q.T
    assert np.abs(f(q * w @ q.T) - expected).max() < 1e-13 * np.abs(expected).max()
    nilpotent = np.triu(rng.normal(size=(n, n)), n // 2) * 1e8  # exp(N) is 1 + N
    assert relative_error(f(nilpotent), np.eye(n) + nilpotent) < 1e-15


def test_elements_near_the_ends_of_the_range():
    x = pt.dmatrix("x")
    f, g = bt.function([x], expm(x)), bt.function([x], bt.grad(expm(x)[0, 1], x))
    for size in (1e150, 1e300, 1e-150, 1e-300):
        assert np.array_equal(f([[0, size], [0, 0]]), [[1, size], [0, 1]])
        assert np.array_equal(f([[0, 0], [-size, 0]]), [[1, 0], [-size, 1]])
        assert relative_error(f([[1, size], [0, 1]]), np.e * np.array([[1, size], [0, 1]])) < 1e-15
    assert np.allclose(
        f([[0, 1e150], [1e-150, 0]]),
        [[np.cosh(1), np.sinh(1) * 1e150], [np.sinh(1) * 1e-150, np.cosh(1)]],
        rtol=1e-14,
        atol=0,
    )
    assert np.allclose(
        g([[0, 1e150], [0, 0]]), [[0.5e150, 1], [1e300 / 6, 0.5e150]], rtol=1e-14, atol=0
    )


# ---- derivatives -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("phase", [0, 0.7])
@pytest.mark.parametrize("name", MATRICES)
def test_gradients_do_not_depend_on_the_size_of_the_cotangent(name, phase):
    a = MATRICES[name] * (np.exp(1j * phase) if phase else 1)
    n, rng = len(a), np.random.default_rng(1)
    weights = rng.normal(size=(n, n)) + (1j * rng.normal(size=(n, n)) if phase else 0)
    x, g = (pt.tensor(dtype=a.dtype.name, shape=(None, None)) for _ in range(2))
    c = pt.dscalar("c")
    f = bt.function([x, g, c], bt.gradient.pullback([expm(x)], [x], [c * g])[0] / c)
    expected = exact(a.conj().T, weights)
    for size in (1.0, 1e12, 1e50, 1e-200):
        assert np.abs(f(a, weights, size) - expected).max() < 1e-13 * np.abs(expected).max()


@pytest.mark.parametrize(
    "name", ["one larger element", "blocks", "similar to graded", "size 1", "zero"]
)
def test_pushforwards_and_second_derivatives_are_linear_in_their_directions(name):
    a = MATRICES[name]
    n, rng = len(a), np.random.default_rng(2)
    e, weights = rng.normal(size=(2, n, n))
    x, v, w = pt.dmatrices("x", "v", "w")
    forward = bt.pushforward([expm(x)], [x], [v])[0]
    second = bt.grad((bt.grad((w * expm(x)).sum(), x) * v).sum(), x)
    twice = bt.pushforward([bt.pushforward([expm(x)], [x], [v])[0]], [x], [w])[0]
    f = bt.function([x, v, w], [forward, second, twice])
    expected = [exact(a, e), exact(a.T, e.T, weights), exact(a, e, weights)]
    for size, other in ((1.0, 1.0), (1e12, 1.0), (1e60, 1e-90), (1e-200, 1e100)):
        found = f(a, size * e, other * weights)
        for one, scale, right in zip(found, (size, size * other, size * other), expected):
            assert np.abs(one / scale - right).max() < 2e-13 * np.abs(right).max()


def test_third_derivatives():
    a, e = np.array([[0.3, 0.2], [-0.1, 0.4]]), np.random.default_rng(3).normal(size=(1, 2, 2))
    x, t = pt.dmatrix("x"), pt.dscalar("t")
    along = expm(x + t * pt.constant(e[0]))
    derivative = along[0, 1]
    for _ in range(3):
        derivative = bt.grad(derivative, t)
    assert np.isclose(
        bt.function([x, t], derivative)(a, 0.0), exact(a, e[0], e[0], e[0])[0, 1], rtol=1e-13
    )


def test_zero_cotangents_and_batches():
    x = pt.dtensor3("x")
    value = np.random.default_rng(4).normal(size=(3, 2, 2))
    f = bt.function([x], bt.grad((0 * expm(x)).sum() + expm(x)[1].sum(), x))
    found = f(value)
    assert not found[0].any() and not found[2].any()
    assert np.abs(found[1] - exact(value[1].T, np.ones((2, 2)))).max() < 1e-13
    nothing = bt.function([x], bt.grad(expm(x).sum(), x))
    assert nothing(np.zeros((0, 2, 2))).shape == (0, 2, 2) and nothing(
        np.zeros((2, 0, 0))
    ).shape == (2, 0, 0)
    assert np.isnan(f(np.full((3, 2, 2), np.nan))).all()

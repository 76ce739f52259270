"""Decompositions in PyTensor's graphs, also in batches, run natively, with PyTensor's values and gradients."""

from __future__ import annotations

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

import bitale.pytensor  # noqa: F401

_rng = np.random.default_rng(3)
TALL, SQUARE = _rng.normal(size=(5, 3)), _rng.normal(size=(4, 4))
SYMMETRIC = SQUARE @ SQUARE.T + np.diag(np.arange(4.0))

CASES = {
    "qr": (lambda x: pt.linalg.qr(x, mode="economic"), TALL),
    "qr, r": (lambda x: [pt.linalg.qr(x, mode="r")], TALL),
    "svd": (lambda x: pt.linalg.svd(x, full_matrices=False), TALL),
    "singular values": (lambda x: [pt.linalg.svd(x, compute_uv=False)], TALL),
    "eigh": (lambda x: pt.linalg.eigh(x), SYMMETRIC),
    "eigvalsh": (lambda x: [pt.linalg.eigvalsh(x, pt.eye(x.shape[-1]))], SYMMETRIC),
    "pinv": (lambda x: [pt.linalg.pinv(x)], TALL),
    "lu": (lambda x: pt.linalg.lu(x), SQUARE),
    "lu_factor": (lambda x: pt.linalg.lu_factor(x), SQUARE),
    "lu_solve": (lambda x: [pt.linalg.lu_solve(pt.linalg.lu_factor(x), x, b_ndim=2)], SQUARE),
    "schur": (lambda x: pt.linalg.schur(x, output="real"), SYMMETRIC),
    "expm": (lambda x: [pt.linalg.expm(x)], SQUARE),
}


@pytest.mark.parametrize("batch", [False, True], ids=["one", "batch"])
@pytest.mark.parametrize("name", CASES)
def test_values(name, batch):
    make, value = CASES[name]
    value = np.stack([value, value * 1.5]) if batch else value
    x = pt.tensor("x", shape=(None,) * value.ndim, dtype="float64")
    try:
        outputs = list(make(x))
    except AssertionError:
        assert batch
        pytest.skip("this version of PyTensor takes one matrix")
    f = pytensor.function([x], outputs, mode="BITALE")
    assert f.maker.linker.report().is_native, f.maker.linker.report()
    expected = pytensor.function([x], outputs, mode="FAST_COMPILE")(value)
    for got, reference in zip(f(value), expected):
        # The signs of the vectors are arbitrary.
        np.testing.assert_allclose(np.abs(got), np.abs(reference), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["qr, r", "singular values", "eigvalsh", "pinv", "lu", "expm"])
def test_gradients(name):
    make, value = CASES[name]
    x = pt.tensor("x", shape=value.shape, dtype="float64")
    cost = sum(pt.sqr(each).sum() for each in make(x))
    g = pytensor.grad(cost, x)
    got = pytensor.function([x], g, mode="BITALE")(value)
    np.testing.assert_allclose(
        got, pytensor.function([x], g, mode="FAST_COMPILE")(value), rtol=1e-8, atol=1e-10
    )


@pytest.mark.parametrize("batch", [False, True], ids=["one", "batch"])
@pytest.mark.parametrize("b_ndim", [1, 2])
@pytest.mark.parametrize("transposed", [False, True])
def test_tridiagonal_factors(transposed, b_ndim, batch):
    tridiagonal = pytest.importorskip("pytensor.tensor.linalg.solvers.tridiagonal")
    value = np.triu(np.tril(SQUARE, 1), -1)
    right = _rng.normal(size=(4,) if b_ndim == 1 else (4, 2))
    if batch:
        value, right = np.stack([value, value.T]), np.stack([right, -right])
    a, b = pt.tensor("a", shape=(None,) * value.ndim), pt.tensor("b", shape=(None,) * right.ndim)
    factors = tridiagonal.tridiagonal_lu_factor(a)
    x = tridiagonal.tridiagonal_lu_solve(factors, b, b_ndim=b_ndim, transposed=transposed)
    f = pytensor.function([a, b], [x, *factors], mode="BITALE")
    assert f.maker.linker.report().is_native, f.maker.linker.report()
    for got, expected in zip(
        f(value, right), pytensor.function([a, b], [x, *factors], mode="FAST_COMPILE")(value, right)
    ):
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("assume_a", ["tridiagonal", "banded", "sym", "gen", "pos"])
def test_systems_with_every_assumption(assume_a):
    a, b = pt.dmatrix("a"), pt.dmatrix("b")
    value = np.triu(np.tril(SYMMETRIC, 1), -1) + 4 * np.eye(4)
    x = pt.linalg.solve(a, b, assume_a=assume_a)
    f = pytensor.function([a, b], x, mode="BITALE")
    assert f.maker.linker.report().is_native, f.maker.linker.report()
    np.testing.assert_allclose(f(value, SQUARE), np.linalg.solve(value, SQUARE), rtol=1e-9)


@pytest.mark.parametrize("sort", [None, "lhp", "ouc"])
def test_generalized_schur_form(sort):
    linalg = pytest.importorskip("pytensor.tensor.linalg")
    a, b = pt.dmatrix("a"), pt.dmatrix("b")
    outputs = linalg.qz(a, b, sort=sort)
    f = pytensor.function([a, b], outputs, mode="BITALE")
    assert f.maker.linker.report().is_native, f.maker.linker.report()
    s, p, q, z = f(SQUARE, SYMMETRIC)
    np.testing.assert_allclose(q @ s @ z.T, SQUARE, atol=1e-10)
    np.testing.assert_allclose(q @ p @ z.T, SYMMETRIC, atol=1e-10)
    for got, expected in zip(
        (s, p), pytensor.function([a, b], outputs, mode="FAST_COMPILE")(SQUARE, SYMMETRIC)
    ):
        np.testing.assert_allclose(np.abs(np.diag(got)), np.abs(np.diag(expected)), rtol=1e-8)


@pytest.mark.parametrize("dtype", ["float64", "complex128", "complex64"])
def test_complex_forms(dtype):
    linalg = pytest.importorskip("pytensor.tensor.linalg")
    if not hasattr(linalg, "qz"):
        pytest.skip("this version of PyTensor has no complex forms")
    a, b = (
        pt.tensor("a", shape=(None, None), dtype=dtype),
        pt.tensor("b", shape=(None, None), dtype=dtype),
    )
    first, second = (
        x.astype(dtype) if dtype == "float64" else (x + 1j * x.T).astype(dtype)
        for x in (SQUARE, SYMMETRIC)
    )
    outputs = [
        *linalg.schur(a, output="complex"),
        *linalg.qz(a, b, output="complex", return_eigenvalues=True),
        *linalg.eig(a),
    ]
    f = pytensor.function([a, b], outputs, mode="BITALE")
    assert f.maker.linker.report().is_native, f.maker.linker.report()
    got, expected = (
        f(first, second),
        pytensor.function([a, b], outputs, mode="FAST_COMPILE")(first, second),
    )
    assert [x.dtype for x in got] == [x.dtype for x in expected]
    upper, z, s, p, alpha, beta, left, right, w, v = got
    close = dict(atol=1e-3 if dtype == "complex64" else 1e-10)
    np.testing.assert_allclose(z @ upper @ z.conj().T, first, **close)
    np.testing.assert_allclose(left @ s @ right.conj().T, first, **close)
    np.testing.assert_allclose(left @ p @ right.conj().T, second, **close)
    np.testing.assert_allclose(first @ v, v * w, **close)
    np.testing.assert_allclose(np.sort_complex(w), np.sort_complex(expected[-2]), **close)


def test_complex_results_that_are_declared_real():
    """PyTensor declares the eigenvectors of a complex matrix float64. Their imaginary parts are never dropped."""
    A, values = pt.zmatrix("A"), np.array([[2, 1j], [-1j, 3]])
    w, V = pt.linalg.eigh(A)
    f = pytensor.function([A], w, mode="BITALE")
    np.testing.assert_allclose(f(values), np.linalg.eigvalsh(values))
    assert f.maker.linker.report().is_native
    f = pytensor.function([A], [w, V], mode="BITALE")
    found = f(values)
    np.testing.assert_allclose(found[1] @ np.diag(found[0]) @ found[1].conj().T, values, atol=1e-12)
    assert "imaginary part" in f.maker.linker.report().interpreted
    s = pytensor.function([A], pt.linalg.svd(A, compute_uv=False), mode="BITALE")
    np.testing.assert_allclose(s(values), np.linalg.svd(values, compute_uv=False))
    assert s.maker.linker.report().is_native


@pytest.mark.parametrize("limit", [-1.0, 1e-10, 0.5])
@pytest.mark.parametrize("shape", [(5, 3), (3, 5)])
def test_least_squares(shape, limit):
    """Of a vector, too, whose solution PyTensor declares as a matrix."""
    lstsq = pytest.importorskip("pytensor.tensor.linalg.solvers.lstsq").lstsq
    rng = np.random.default_rng(0)
    x, matrix, vector = pt.dmatrix("x"), pt.dmatrix("matrix"), pt.dvector("vector")
    a = rng.normal(size=shape)
    for y, given in ((matrix, rng.normal(size=(shape[0], 2))), (vector, rng.normal(size=shape[0]))):
        outputs = lstsq(x, y, limit)
        f = pytensor.function([x, y], outputs, mode="BITALE")
        expected = pytensor.function([x, y], outputs, mode="FAST_COMPILE")(a, given)
        for ours, theirs in zip(f(a, given), expected):
            assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
            np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)
        assert f.maker.linker.report().is_native == (y is matrix)
    singular_values = pytensor.function([x, vector], lstsq(x, vector, limit)[3], mode="BITALE")
    assert singular_values.maker.linker.report().is_native


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("assume", ["sym", "her", "pos"])
def test_systems_of_symmetric_matrices_read_one_triangle(assume, lower):
    a, vector = pt.dmatrix("a"), pt.dvector("b")
    whole = np.array([[4.0, 1, 0], [1, 3, 1], [0, 1, 5]])
    f = pytensor.function(
        [a, vector], pt.linalg.solve(a, vector, assume_a=assume, lower=lower), mode="BITALE"
    )
    triangle = np.tril(whole) if lower else np.triu(whole)
    np.testing.assert_allclose(
        f(triangle, np.ones(3)), np.linalg.solve(whole, np.ones(3)), rtol=1e-12
    )


def test_tensorsolve_has_results_of_other_ranks_than_declared():
    tensorsolve = pytest.importorskip("pytensor.tensor.linalg.solvers.lstsq").tensorsolve
    a, vector, values = pt.dmatrix("a"), pt.dvector("b"), np.array([[4.0, 1], [1, 3]])
    wide, matrix = pt.dtensor4("wide"), pt.dmatrix("matrix")
    f = pytensor.function([a, vector], tensorsolve(a, vector), mode="BITALE")
    np.testing.assert_allclose(
        f(values, [1.0, 2.0]), np.linalg.solve(values, [1.0, 2.0]), rtol=1e-12
    )
    given, right = np.eye(6).reshape(2, 3, 2, 3) + 0.1, np.arange(6.0).reshape(2, 3)
    f = pytensor.function([wide, matrix], tensorsolve(wide, matrix), mode="BITALE")
    np.testing.assert_allclose(f(given, right), np.linalg.tensorsolve(given, right), rtol=1e-12)


def test_determinants_of_matrices_that_are_not_square():
    a = pt.dmatrix("a")
    for outputs in pt.linalg.slogdet(a), [pt.linalg.det(a)]:
        with pytest.raises(ValueError, match="square"):
            pytensor.function([a], list(outputs), mode="BITALE")(np.ones((2, 3)))

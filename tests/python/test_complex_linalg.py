"""Linear algebra of complex matrices against NumPy and SciPy: values in all linkers, batches, gradients, errors."""

import numpy as np
import pytest
import scipy.linalg

import bitale as bt
import bitale.tensor as pt
from test_complex import check_gradient, close, cost_of, dtypes, modes, values

lengths = [0, 1, 2, 5, 20]


@pytest.fixture(params=modes)
def mode(request):
    return modes[request.param]


def regular(n, dtype="complex128", seed=0, batch=()):
    return (values((*batch, n, n), dtype, seed) + 2 * n * np.eye(n)).astype(dtype)


def positive(n, dtype="complex128", seed=0, batch=()):
    a = values((*batch, n, n), "complex128", seed)
    return (a @ a.conj().swapaxes(-1, -2) + n * np.eye(n)).astype(dtype)


def adjoint(a):
    return a.conj().swapaxes(-1, -2)


def matrix(dtype="complex128", ndim=2):
    return pt.tensor(dtype=dtype, shape=(None,) * ndim)


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("trans", [0, 1])
@pytest.mark.parametrize("unit", [True, False])
def test_triangular_systems(mode, lower, trans, unit):
    a, b, v = matrix(), matrix(), matrix(ndim=1)
    how = dict(lower=lower, trans=trans, unit_diagonal=unit)
    f = bt.function([a, b, v], [pt.linalg.solve_triangular(a, b, **how), pt.linalg.solve_triangular(a, v, **how)], mode=mode)
    for n in (1, 2, 7):
        A, B, V = regular(n), values((n, 2), seed=1), values(n, seed=2)
        A = A / np.abs(A).sum() if unit else A
        for got, each in zip(f(A, B, V), (B, V)):
            close(got, scipy.linalg.solve_triangular(A, each, **how), 10)


def test_equations_of_matrices(mode):
    a, b, q = matrix(), matrix(), matrix()
    outputs = [pt.linalg.solve_sylvester(a, b, q), pt.linalg.solve_continuous_lyapunov(a, q), pt.linalg.solve_discrete_lyapunov(a * 0.05, q)]
    f = bt.function([a, b, q], outputs, mode=mode)
    A, B, Q = regular(3), regular(3, seed=1), values((3, 3), seed=2)
    expected = [scipy.linalg.solve_sylvester(A, B, Q), scipy.linalg.solve_continuous_lyapunov(A, Q), scipy.linalg.solve_discrete_lyapunov(A * 0.05, Q)]
    for got, each in zip(f(A, B, Q), expected):
        np.testing.assert_allclose(got, each, rtol=1e-10, atol=1e-10)
    r = matrix()
    g = bt.function([a, b, q, r], [pt.linalg.solve_discrete_are(a, b, q, r), pt.linalg.solve_continuous_are(a, b, q, r)], mode=mode)
    A, B = values((3, 3)) * 0.3, values((3, 2), seed=1)
    Q, R = positive(3, seed=3), positive(2, seed=4)
    for got, each in zip(g(A, B, Q, R), [scipy.linalg.solve_discrete_are(A, B, Q, R), scipy.linalg.solve_continuous_are(A, B, Q, R)]):
        np.testing.assert_allclose(got, each, rtol=1e-8, atol=1e-8)


def test_errors_of_singular_matrices_and_others(mode):
    a, b = matrix(), matrix(ndim=1)
    g = bt.function([a, b], pt.linalg.solve_triangular(a, b), mode=mode)
    h = bt.function([a], pt.linalg.cholesky(a), mode=mode)
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        g(np.diag([1j, 0]), values(2))
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        h(np.diag([1, -1 + 0j]))
    assert np.isnan(bt.function([a], pt.linalg.cholesky(a, on_error="nan"), mode=mode)(np.diag([1, -1 + 0j]))).all()


@pytest.mark.parametrize("dtype", dtypes)
def test_cholesky_factors(mode, dtype):
    a = matrix(dtype)
    f = bt.function([a], [pt.linalg.cholesky(a), pt.linalg.cholesky(a, lower=False)], mode=mode)
    for n in lengths:
        A = positive(n, dtype)
        low, up = f(A)
        close(low, np.linalg.cholesky(A) if n else A, 100)
        close(up, adjoint(low), 100)
        close(f(np.tril(A) + np.triu(values((n, n), dtype), 1))[0], low, 100)  # the other triangle is not read


@pytest.mark.parametrize("dtype", dtypes)
def test_exponentials_powers_and_norms(mode, dtype):
    a = matrix(dtype)
    outputs = [pt.linalg.expm(a * 0.25), pt.linalg.matrix_power(a, 3), pt.linalg.kron(a, a)]
    norms = [dict(), *(dict(ord=ord, axis=(0, 1)) for ord in ("fro", 1, -1, np.inf, -np.inf))]
    norms += [dict(ord=ord, axis=0) for ord in (None, 0, 1, 2, 3, np.inf, -np.inf)]
    f = bt.function([a], outputs, mode=mode)
    g = bt.function([a], [pt.linalg.norm(a, **how) for how in norms], mode=mode)
    for n in (1, 2, 5):
        A = values((n, n), dtype) + np.eye(n, dtype=dtype)
        expected = [scipy.linalg.expm(A * A.dtype.type(0.25)), A @ A @ A, np.kron(A, A)]
        for got, each in zip(f(A), expected):
            close(got, np.asarray(each, got.dtype), 100)
        for got, how in zip(g(A), norms):
            close(got, np.asarray(np.linalg.norm(A, **how), got.dtype), 100)


def test_batches(mode):
    a, b = matrix(ndim=3), matrix(ndim=4)
    outputs = [pt.linalg.cholesky(a), pt.linalg.expm(a * 0.1), pt.linalg.solve_triangular(a, b, lower=True, b_ndim=2)]
    f = bt.function([a, b], outputs, mode=mode)
    for count in (0, 3):
        A, B = positive(4, batch=(count,)), values((2, count, 4, 2), seed=1)
        expected = [np.linalg.cholesky(A), scipy.linalg.expm(A * 0.1), np.linalg.solve(np.tril(A), B)]
        for got, each in zip(f(A, B), expected):
            close(got, each, 100)
    named = bt.function([a], pt.linalg.cholesky(a), mode=mode)
    with pytest.raises(np.linalg.LinAlgError, match=r"in matrix \[1\] of \[2\]"):
        named(np.stack([np.eye(2) + 0j, -np.eye(2)]))


gradients = {
    "solve_triangular": lambda a: cost_of(pt.linalg.solve_triangular(a, a[:, 0], lower=True)),
    "solve_triangular, transposed": lambda a: cost_of(pt.linalg.solve_triangular(a, a[:, :2], trans=1)),
    "cholesky": lambda a: cost_of(pt.linalg.cholesky(a @ a.conj().T)),
    "expm": lambda a: cost_of(pt.linalg.expm(a * 0.1)),
    "norm": lambda a: pt.linalg.norm(a) + pt.linalg.norm(a, ord=1, axis=(0, 1)),
    "sylvester": lambda a: cost_of(pt.linalg.solve_sylvester(a, a * 2, a[::-1])),
}


@pytest.mark.parametrize("name", gradients)
def test_gradients(name):
    a = values((3, 3)) + np.diag([2.0, 5.0, 9.0])
    check_gradient(gradients[name], a)

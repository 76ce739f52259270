"""Complex sparse matrices against SciPy's: products, sums, elementwise functions, arrangement, gradients and factors."""

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale import sparse

sp = pytest.importorskip("scipy.sparse")

rng = np.random.default_rng(0)


def complex_values(shape, dtype):
    return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)


def matrix(dtype, format="csr"):
    value = sp.csr_array(rng.random((4, 5)) < 0.5).astype(dtype)
    value.data = complex_values(value.nnz, dtype)
    return value.asformat(format)


v, w, D, left = (complex_values(shape, "complex128") for shape in (5, 4, (5, 3), (4, 3)))
# A function of a matrix and of the dense operands, which SciPy's matrices have too.
SAME = {
    "A @ v": lambda A, c: A @ c(v), "A @ D": lambda A, c: A @ c(D), "A @ real": lambda A, c: A @ c(v.real), "w @ A": lambda A, c: c(w) @ A, "A @ A.T": lambda A, c: A @ A.T,
    "A * A": lambda A, c: A * A, "A * number": lambda A, c: A * c(np.array(2j)), "A * column": lambda A, c: A * c(w[:, None]), "A / number": lambda A, c: A / c(np.array(1 - 2j)),
    "A + A": lambda A, c: A + A, "A - A @ A.T @ A": lambda A, c: A - (A @ A.T) @ A, "sums of columns": lambda A, c: A.sum(axis=0), "sum": lambda A, c: A.sum(),
    "diagonal": lambda A, c: A.diagonal(), "A.T": lambda A, c: A.T, "-A": lambda A, c: -A, "element": lambda A, c: A[1, 2], "rows": lambda A, c: A[1:3],
}  # fmt: skip
NAMED = {
    "abs": (sparse.abs, abs), "conj": (sparse.conj, lambda A: A.conj()), "sin": (sparse.sin, lambda A: A.sin()), "sqr": (sparse.sqr, lambda A: A * A),
    "expm1": (sparse.expm1, lambda A: A.expm1()), "dense": (lambda A: A.todense(), lambda A: A.toarray()), "vstack": (lambda A: sparse.vstack([A, A]), lambda A: sp.vstack([A, A])),
    "sampled product": (lambda A: sparse.sampling_dot(pt.constant(left), pt.constant(D), A), lambda A: A * (left @ D.T)),
}  # fmt: skip


def assert_same(own, expected, rtol):
    own, expected = (x.toarray() if sp.issparse(x) else np.asarray(x) for x in (own, expected))
    assert own.dtype.kind == expected.dtype.kind
    np.testing.assert_allclose(own, expected, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("format", ["csr", "csc"])
def test_functions(dtype, format):
    value = matrix(dtype, format)
    A = sparse.matrix(format, "A", dtype, pattern=value)
    expected = [f(value, lambda x: x) for f in SAME.values()] + [theirs(value) for _, theirs in NAMED.values()]
    for arguments, given in (([], sparse.constant(value)), ([A], A)):
        outputs = [f(given, pt.constant) for f in SAME.values()] + [own(given) for own, _ in NAMED.values()]
        results = bt.function(arguments, outputs)(*[value][: len(arguments)])
        for own, right in zip(results, expected, strict=True):
            assert_same(own, right, 1e-5 if dtype == "complex64" else 1e-12)


@pytest.mark.parametrize("linker", ["jit", "vm", "c"])
def test_a_pattern_of_the_call(linker):
    value = matrix("complex128")
    A, x = sparse.matrix("csr", "A", "complex128"), pt.zvector("x")
    assert_same(bt.function([A, x], A @ x, mode=bt.Mode(linker=linker))(value, v), value @ v, 1e-12)


def test_gradients():
    value = matrix("complex128")
    A, M, x = sparse.matrix("csr", "A", "complex128", pattern=value), pt.zmatrix("M"), pt.zvector("x")
    results = []
    for argument, given, leaf in ((A, value, A.data), (M, value.toarray(), M)):
        y = argument @ x
        cost = pt.sqr(pt.real(y) * pt.imag(y)).sum() + pt.real(y).sum()
        results.append(bt.function([argument, x], [pt.grad(cost, leaf), pt.grad(cost, x)])(given, v))
    rows = np.repeat(np.arange(4), np.diff(value.indptr))
    np.testing.assert_allclose(results[0][0], results[1][0][rows, value.indices], rtol=1e-12)
    np.testing.assert_allclose(results[0][1], results[1][1], rtol=1e-12)


# ---- factors ---------------------------------------------------------------------------------------------------------


def general(n=9, dtype="complex128"):
    value = sp.csr_array((rng.random((n, n)) < 0.3) + np.eye(n)).astype(dtype)
    value.data = complex_values(value.nnz, dtype)
    return sp.csr_array(value + 3 * sp.eye_array(n)).astype(dtype)


def hermitian(n=9, dtype="complex128"):
    part = general(n)
    return sp.csr_array(part @ part.conj().T + sp.eye_array(n)).astype(dtype)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_solutions_of_general_systems(dtype):
    value, b, B = general(dtype=dtype), complex_values(9, dtype), complex_values((9, 2), dtype)
    A = sparse.matrix("csr", "A", dtype, pattern=value)
    factors, dense, tolerance = sparse.linalg.lu(A), value.toarray(), 1e-3 if dtype == "complex64" else 1e-10
    f = bt.function([A], [factors.solve(b), factors.solve(B), factors.solve(b, trans=True), factors.solve(b.real), sparse.linalg.spsolve(A, b), factors.logdet()])
    got = f(value)
    for own, expected in zip(got, [np.linalg.solve(dense, b), np.linalg.solve(dense, B), np.linalg.solve(dense.T, b), np.linalg.solve(dense, b.real), np.linalg.solve(dense, b)]):
        assert own.dtype == dtype
        np.testing.assert_allclose(own, expected, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(got[-1], np.linalg.slogdet(dense)[1], rtol=tolerance)
    with pytest.raises(NotImplementedError, match="sign"):
        factors.slogdet()


@pytest.mark.parametrize("format", ["csr", "csc"])
def test_hermitian_systems(format):
    value, b = hermitian().asformat(format), complex_values(9, "complex128")
    dense, inverse = value.toarray(), np.linalg.inv(value.toarray())
    A = sparse.matrix(format, "A", "complex128", pattern=value)
    factor = sparse.linalg.cholesky(A)
    f = bt.function([A], [factor.solve(b), factor.logdet(), factor.selected_inverse(), sparse.linalg.solve(A, b), factor.solve(b.real)])
    got = f(value)
    stored = value.toarray() != 0
    for own, expected in zip(got, [np.linalg.solve(dense, b), np.linalg.slogdet(dense)[1], np.where(stored, inverse, 0), np.linalg.solve(dense, b), np.linalg.solve(dense, b.real)]):
        np.testing.assert_allclose(own.toarray() if sp.issparse(own) else own, expected, rtol=1e-9, atol=1e-12)
    # The lower triangle is read, and of the diagonal the real part.
    for other in (sp.tril(value), value + 1j * sp.eye_array(9)):
        other = sp.csr_array(other).asformat(format)
        B = sparse.matrix(format, "B", "complex128", pattern=other)
        np.testing.assert_allclose(bt.function([B], sparse.linalg.cholesky(B).solve(b))(other), np.linalg.solve(dense, b), rtol=1e-9)
    with pytest.raises(NotImplementedError, match="complex"):
        factor.L  # noqa: B018


def test_samples_have_the_inverse_as_covariance():
    value = hermitian(4)
    sample = bt.function([z := pt.zmatrix("z")], sparse.linalg.cholesky(sparse.constant(value)).sample(z))
    drawn = sample((rng.normal(size=(4, 40_000)) + 1j * rng.normal(size=(4, 40_000))) / np.sqrt(2))
    covariance, expected = drawn @ drawn.conj().T / 40_000, np.linalg.inv(value.toarray())
    assert np.abs(covariance - expected).max() < 0.05 * np.abs(expected).max()


def test_gradients_of_factors():
    for value, dense_solution, own_factor in (
        (general(), lambda M, b: pt.linalg.solve(M, b), sparse.linalg.lu),
        (hermitian(), lambda M, b: pt.linalg.solve(M, b), sparse.linalg.cholesky),
    ):
        b = complex_values(9, "complex128")
        t = pt.dscalar("t")
        A, M = sparse.constant(value) * pt.exp(t) + sparse.constant(sp.csr_array(np.eye(9, dtype="complex128"))) * t, pt.constant(value.toarray()) * pt.exp(t) + np.eye(9) * t
        costs = []
        for x, logdet in ((own_factor(A).solve(b), own_factor(A).logdet()), (dense_solution(M, b), None)):
            cost = (pt.real(x) ** 2 * np.arange(9)).sum() + pt.imag(x).sum()
            costs.append((cost, logdet))
        f = bt.function([t], [pt.grad(costs[0][0], t), pt.grad(costs[1][0], t), costs[0][1], pt.grad(costs[0][1], t)])
        own, expected, _, slope = f(0.3)
        np.testing.assert_allclose(own, expected, rtol=1e-9)
        np.testing.assert_allclose(slope, (f(0.3 + 1e-5)[2] - f(0.3 - 1e-5)[2]) / 2e-5, rtol=1e-6)


def test_what_has_no_factor_is_named():
    value = sp.csr_array(np.diag([1.0, -2.0, 3.0]).astype("complex128"))
    A = sparse.matrix("csr", "A", "complex128", pattern=value)
    with pytest.raises(np.linalg.LinAlgError, match="row 1"):
        bt.function([A], sparse.linalg.cholesky(A).logdet())(value)
    with pytest.raises(np.linalg.LinAlgError):
        bt.function([A], sparse.linalg.lu(A).logdet())(sp.csr_array((np.array([1.0, 0.0, 1.0j]), value.indices, value.indptr), shape=(3, 3)))
    for bad in (np.ones(4), np.ones((3, 2, 2))):
        for factor in (sparse.linalg.cholesky(A), sparse.linalg.lu(A)):
            with pytest.raises((ValueError, TypeError)):
                factor.solve(bad)


@pytest.mark.parametrize("lower", [True, False])
def test_triangles_of_real_matrices_solve_complex_vectors(lower):
    value = sp.csr_array(general().real + 5 * sp.eye_array(9))
    A, b = sparse.matrix("csr", "A"), pt.zvector("b")
    triangle = np.tril(value.toarray()) if lower else np.triu(value.toarray())
    right = complex_values(9, "complex128")
    x = bt.function([A, b], sparse.linalg.solve_triangular(A, b, lower=lower))(value, right)
    np.testing.assert_allclose(triangle @ x, right, rtol=1e-12)
    with pytest.raises(NotImplementedError, match=r"solve_triangular: systems with triangles of complex matrices.*lu\(tril"):
        sparse.linalg.solve_triangular(sparse.constant(general()), b)

"""Factors of sparse matrices whose pattern is given in a call: the order of elimination is found there."""

import bitale as bt
import bitale.tensor as pt
import numpy as np
import pytest
import scipy.sparse as sp
from bitale import sparse

rng = np.random.default_rng(3)


def general(n, format="csr"):
    """Of a full diagonal, with its rows in any order."""
    value = (
        sp.random_array((n, n), density=0.3, rng=rng) + 3 * sp.eye_array(n)
        if n
        else sp.csr_array((0, 0))
    )
    return (
        sp.csr_array(sp.csr_array(value)[rng.permutation(n)]).asformat(format)
        if n
        else value.asformat(format)
    )


def positive(n, format="csr"):
    part = general(n)
    return (
        sp.csr_array(part @ part.T + sp.eye_array(n)).asformat(format)
        if n
        else part.asformat(format)
    )


@pytest.mark.parametrize("format", ["csr", "csc"])
@pytest.mark.parametrize("linker", ["jit", "vm", "c"])
def test_one_function_takes_any_pattern(linker, format):
    A, b, B = sparse.matrix(format, "A"), pt.dvector("b"), pt.dmatrix("B")
    factor, factors = sparse.linalg.cholesky(A), sparse.linalg.lu(A)
    mode = bt.Mode(linker=linker)
    f = bt.function(
        [A, b, B],
        [factor.solve(b), factor.solve(B), factor.logdet(), factor.selected_inverse(), factor.L],
        mode=mode,
    )
    g = bt.function(
        [A, b, B],
        [factors.solve(b), factors.solve(B), factors.solve(b, trans=True), *factors.slogdet()],
        mode=mode,
    )
    for n in (0, 1, 2, 9, 25):
        right, columns = rng.normal(size=n), rng.normal(size=(n, 3))
        value = positive(n, format)
        dense = value.toarray()
        x, X, logdet, inverse, L = f(value, right, columns)
        np.testing.assert_allclose(dense @ x, right, atol=1e-9)
        np.testing.assert_allclose(dense @ X, columns, atol=1e-9)
        np.testing.assert_allclose(logdet, np.linalg.slogdet(dense)[1], atol=1e-9)
        np.testing.assert_allclose(
            inverse.toarray(), np.where(dense != 0, np.linalg.inv(dense), 0), atol=1e-9
        )
        np.testing.assert_allclose(np.linalg.slogdet(L.toarray())[1] * 2, logdet, atol=1e-9)
        value = general(n, format)
        dense = value.toarray()
        x, X, y, sign, logdet = g(value, right, columns)
        np.testing.assert_allclose(dense @ x, right, atol=1e-9)
        np.testing.assert_allclose(dense @ X, columns, atol=1e-9)
        np.testing.assert_allclose(dense.T @ y, right, atol=1e-9)
        np.testing.assert_allclose([sign, logdet], np.linalg.slogdet(dense), atol=1e-9)


def test_only_the_lower_triangle_is_read():
    value = positive(6)
    A, b = sparse.matrix("csr", "A"), pt.dvector("b")
    f = bt.function([A, b], sparse.linalg.solve(A, b))
    other = value.copy()
    rows = np.repeat(np.arange(6), np.diff(other.indptr))
    other.data[rows < other.indices] = np.nan
    np.testing.assert_array_equal(f(other, np.ones(6)), f(value, np.ones(6)))
    lower = sp.csr_array(sp.tril(value))
    np.testing.assert_allclose(f(lower, np.ones(6)), np.linalg.solve(value.toarray(), np.ones(6)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_results_are_those_of_a_static_pattern(dtype):
    for value, cost in (
        (
            positive(12).astype(dtype),
            lambda A, b: sparse.linalg.logdet(A) + (sparse.linalg.solve(A, b) ** 2).sum(),
        ),
        (
            general(12).astype(dtype),
            lambda A, b: sparse.linalg.lu(A).logdet() + (sparse.linalg.spsolve(A, b) ** 2).sum(),
        ),
    ):
        b = rng.normal(size=12).astype(dtype)
        results = []
        for A in (
            sparse.matrix("csr", "A", dtype),
            sparse.matrix("csr", "A", dtype, pattern=value),
        ):
            t = pt.scalar("t", dtype=dtype)
            y = cost(A * t, b)
            first = pt.grad(y, t)
            results.append(
                bt.function([A, t], [y, first, pt.grad(first, t), pt.grad(y, A.data)])(
                    value, np.asarray(1.25, dtype)
                )
            )
        for given, static in zip(*results):
            assert given.dtype == dtype
            np.testing.assert_allclose(
                given,
                static,
                rtol=1e-3 if dtype == "float32" else 1e-9,
                atol=1e-4 if dtype == "float32" else 1e-12,
            )


def test_batches_of_elements():
    value = positive(8)
    A, t, ts = sparse.matrix("csr", "A"), pt.dscalar("t"), pt.dvector("ts")
    for y in (
        sparse.linalg.logdet(A * t),
        sparse.linalg.lu(A * t).logdet(),
        sparse.linalg.solve(A * t, np.ones(8)).sum(),
    ):
        batched = bt.graph.replace.vectorize_graph(y, {t: ts})
        one = bt.function([A, t], y)
        given = [0.5, 2.0, 3.0]
        np.testing.assert_allclose(
            bt.function([A, ts], batched)(value, given), [one(value, each) for each in given]
        )


def test_what_is_refused():
    A, b = sparse.matrix("csr", "A"), pt.dvector("b")
    f, g = (
        bt.function([A, b], sparse.linalg.solve(A, b)),
        bt.function([A, b], sparse.linalg.spsolve(A, b)),
    )
    for bad in (np.ones((2, 3)), np.ones((3, 2))):
        for length in (2, 3):
            for h in (f, g):
                with pytest.raises(ValueError):
                    h(sp.csr_array(bad), np.ones(length))
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite.*row 1"):
        f(sp.csr_array(np.diag([1.0, -2.0, 3.0])), np.ones(3))
    for bad in (np.ones((3, 3)), np.zeros((3, 3))):
        for h in (f, g):
            with pytest.raises(np.linalg.LinAlgError):
                h(sp.csr_array(bad), np.ones(3))
    for h in (f, g):
        with pytest.raises(ValueError):
            h(sp.csr_array(np.eye(3)), np.ones(4))
    for what in (lambda: sparse.linalg.cholesky(A).order, lambda: sparse.linalg.lu(A).column_order):
        with pytest.raises(NotImplementedError, match="elimination order"):
            what()

"""Complex sparse matrices against SciPy's: products, sums, elementwise functions, arrangement and gradients."""

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


def test_factors_are_refused():
    A = sparse.constant(sp.csr_array(np.eye(3) * 2j))
    for factor in (sparse.linalg.lu, sparse.linalg.cholesky):
        with pytest.raises(NotImplementedError, match="complex"):
            factor(A)

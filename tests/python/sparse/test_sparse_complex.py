"""Complex sparse matrices against SciPy's: products, sums, elementwise functions, arrangement, gradients and factors."""

import pickle

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
    "abs": (sparse.abs, abs),
    "conj": (sparse.conj, lambda A: A.conj()),
    "sin": (sparse.sin, lambda A: A.sin()),
    "sqr": (sparse.sqr, lambda A: A * A),
    "expm1": (sparse.expm1, lambda A: A.expm1()),
    "dense": (lambda A: A.todense(), lambda A: A.toarray()),
    "vstack": (lambda A: sparse.vstack([A, A]), lambda A: sp.vstack([A, A])),
    "sampled product": (
        lambda A: sparse.sampling_dot(pt.constant(left), pt.constant(D), A),
        lambda A: A * (left @ D.T),
    ),
}


def assert_same(own, expected, rtol):
    own, expected = (x.toarray() if sp.issparse(x) else np.asarray(x) for x in (own, expected))
    assert own.dtype.kind == expected.dtype.kind
    np.testing.assert_allclose(own, expected, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("format", ["csr", "csc"])
def test_functions(dtype, format):
    value = matrix(dtype, format)
    A = sparse.matrix(format, "A", dtype, pattern=value)
    expected = [f(value, lambda x: x) for f in SAME.values()] + [
        theirs(value) for _, theirs in NAMED.values()
    ]
    for arguments, given in (([], sparse.constant(value)), ([A], A)):
        outputs = [f(given, pt.constant) for f in SAME.values()] + [
            own(given) for own, _ in NAMED.values()
        ]
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
    A, M, x = (
        sparse.matrix("csr", "A", "complex128", pattern=value),
        pt.zmatrix("M"),
        pt.zvector("x"),
    )
    results = []
    for argument, given, leaf in ((A, value, A.data), (M, value.toarray(), M)):
        y = argument @ x
        cost = pt.sqr(pt.real(y) * pt.imag(y)).sum() + pt.real(y).sum()
        results.append(
            bt.function([argument, x], [pt.grad(cost, leaf), pt.grad(cost, x)])(given, v)
        )
    rows = np.repeat(np.arange(4), np.diff(value.indptr))
    np.testing.assert_allclose(results[0][0], results[1][0][rows, value.indices], rtol=1e-12)
    np.testing.assert_allclose(results[0][1], results[1][1], rtol=1e-12)


# ---- factors ---------------------------------------------------------------------------------------------------------


def general(n=9, dtype="complex128"):
    value = sp.csr_array((rng.random((n, n)) < 0.3) + np.eye(n)).astype(dtype)
    value.data = complex_values(value.nnz, dtype)
    return sp.csr_array(value + 3 * sp.eye_array(n)).astype(dtype).sorted_indices()


def hermitian(n=9, dtype="complex128"):
    part = general(n)
    return sp.csr_array(part @ part.conj().T + sp.eye_array(n)).astype(dtype).sorted_indices()


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("static", [True, False])
def test_solutions_of_general_systems(static, dtype):
    value, b, B = general(dtype=dtype), complex_values(9, dtype), complex_values((9, 2), dtype)
    A = sparse.matrix("csr", "A", dtype, pattern=value if static else None)
    factors, dense, tolerance = (
        sparse.linalg.lu(A),
        value.toarray(),
        1e-3 if dtype == "complex64" else 1e-10,
    )
    f = bt.function(
        [A],
        [
            factors.solve(b),
            factors.solve(B),
            factors.solve(b, trans=True),
            factors.solve(b.real),
            sparse.linalg.spsolve(A, b),
            *factors.slogdet(),
        ],
    )
    got = f(value)
    for own, expected in zip(
        got,
        [
            np.linalg.solve(dense, b),
            np.linalg.solve(dense, B),
            np.linalg.solve(dense.T, b),
            np.linalg.solve(dense, b.real),
            np.linalg.solve(dense, b),
        ],
    ):
        assert own.dtype == dtype
        np.testing.assert_allclose(own, expected, rtol=tolerance, atol=tolerance)
    for own, expected in zip(got[-2:], np.linalg.slogdet(dense)):
        assert own.dtype == expected.dtype
        np.testing.assert_allclose(own, expected, rtol=tolerance)


@pytest.mark.parametrize("format", ["csr", "csc"])
@pytest.mark.parametrize("static", [True, False])
def test_hermitian_systems(static, format):
    value, b = hermitian().asformat(format), complex_values(9, "complex128")
    dense, inverse = value.toarray(), np.linalg.inv(value.toarray())
    A = sparse.matrix(format, "A", "complex128", pattern=value if static else None)
    factor = sparse.linalg.cholesky(A)
    f = bt.function(
        [A],
        [
            factor.solve(b),
            factor.logdet(),
            factor.selected_inverse(),
            sparse.linalg.solve(A, b),
            factor.solve(b.real),
        ],
    )
    got = f(value)
    stored = value.toarray() != 0
    for own, expected in zip(
        got,
        [
            np.linalg.solve(dense, b),
            np.linalg.slogdet(dense)[1],
            np.where(stored, inverse, 0),
            np.linalg.solve(dense, b),
            np.linalg.solve(dense, b.real),
        ],
    ):
        np.testing.assert_allclose(
            own.toarray() if sp.issparse(own) else own, expected, rtol=1e-9, atol=1e-12
        )
    # The lower triangle is read, and of the diagonal the real part.
    for other in (sp.tril(value), value + 1j * sp.eye_array(9)):
        other = sp.csr_array(other).asformat(format)
        B = sparse.matrix(format, "B", "complex128", pattern=other if static else None)
        np.testing.assert_allclose(
            bt.function([B], sparse.linalg.cholesky(B).solve(b))(other),
            np.linalg.solve(dense, b),
            rtol=1e-9,
        )


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("format", ["csr", "csc"])
def test_hermitian_factors(format, dtype):
    """L by a static pattern and by one of the call, of matrices with empty and with dense parts, and samples by it."""
    tolerance = 1e-3 if dtype == "complex64" else 1e-10
    for value in (
        hermitian(dtype=dtype),
        hermitian(30, dtype),
        sp.csr_array(np.diag([1.0, 2.0]).astype(dtype)),
        sp.csr_array((0, 0), dtype=dtype),
    ):
        value, z = value.asformat(format), complex_values(value.shape[0], dtype)
        found = []
        for A in (
            sparse.matrix(format, "A", dtype, pattern=value),
            sparse.matrix(format, "A", dtype),
        ):
            factor = sparse.linalg.cholesky(A)
            found.append(bt.function([A], [factor.L, factor.sample(z)])(value))
            if A.is_static:
                order = factor.order
        for L, sample in found:
            L = L.toarray()
            assert L.dtype == sample.dtype == dtype
            assert (
                not np.triu(L, 1).any()
                and not np.diag(L).imag.any()
                and (np.diag(L).real > 0).all()
            )
            np.testing.assert_allclose(
                L @ L.conj().T,
                value.toarray()[np.ix_(order, order)],
                rtol=tolerance,
                atol=20 * tolerance,
            )
            np.testing.assert_allclose(
                L.conj().T @ sample[order], z[order], rtol=tolerance, atol=20 * tolerance
            )


def costs_of_hermitian(A, b):
    """A real number of all that a Hermitian factor gives, each apart."""
    factor = sparse.linalg.cholesky(A)
    x, s, L, inverse = (
        factor.solve(b),
        factor.sample(b),
        factor.L.data,
        factor.selected_inverse().data,
    )
    return [
        factor.logdet(),
        (pt.real(x) ** 2 * np.arange(6)).sum() + pt.imag(x).sum(),
        (pt.imag(s) * pt.real(s)).sum(),
        (pt.real(L) * pt.imag(L) + pt.real(L) ** 2).sum(),
        (pt.real(inverse) * pt.imag(inverse) + pt.real(inverse)).sum(),
    ]


@pytest.mark.parametrize("static", [True, False])
def test_gradients_of_hermitian_factors_by_their_elements(static):
    """By differences in the real and in the imaginary part of each element: 0 for those that are not read."""
    value, b = hermitian(6), complex_values(6, "complex128")
    A = sparse.matrix("csr", "A", "complex128", pattern=value if static else None)
    costs = costs_of_hermitian(A, b)
    f, g = bt.function([A], costs), bt.function([A], [pt.grad(cost, A.data) for cost in costs])
    slopes, step = g(value), 1e-6
    rows = np.repeat(np.arange(6), np.diff(value.indptr))
    for slope in slopes:
        assert not slope[rows < value.indices].any() and not slope[rows == value.indices].imag.any()
    for k in range(value.nnz):
        for unit in (1, 1j):
            shift = np.zeros(value.nnz, "complex128")
            shift[k] = unit * step
            up, down = (
                f(
                    sp.csr_array(
                        (value.data + sign * shift, value.indices, value.indptr), shape=(6, 6)
                    )
                )
                for sign in (1, -1)
            )
            for slope, high, low in zip(slopes, up, down):
                own = slope[k].real if unit == 1 else slope[k].imag
                np.testing.assert_allclose(own, (high - low) / (2 * step), rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("static", [True, False])
def test_forward_and_second_derivatives_of_hermitian_factors(static):
    value, b = hermitian(6), complex_values(6, "complex128")
    B = sparse.matrix("csr", "B", "complex128", pattern=value if static else None)
    t = pt.dscalar("t")
    costs = costs_of_hermitian(
        B.with_data(B.data * pt.exp(t) + (pt.real(B.data) + 1j * pt.imag(B.data)) * t**2), b
    )
    first = [pt.grad(cost, t) for cost in costs]
    forward = [bt.pushforward(cost, t, pt.constant(1.0)) for cost in costs[:2]]
    second = [pt.grad(each, t) for each in first[:2]]
    f = bt.function([B, t], [*costs, *first, *forward, *second])
    step = 1e-5
    here, up, down = (f(value, 0.3 + shift) for shift in (0, step, -step))
    for k in range(5):
        np.testing.assert_allclose(
            here[5 + k], (up[k] - down[k]) / (2 * step), rtol=1e-6, atol=1e-9
        )
    np.testing.assert_allclose(here[10:12], here[5:7], rtol=1e-10)
    for k in range(2):
        np.testing.assert_allclose(here[12 + k], (up[5 + k] - down[5 + k]) / (2 * step), rtol=1e-5)


def test_batches_of_hermitian_factors():
    value, b = hermitian(5), complex_values(5, "complex128")
    t, ts = pt.dscalar("t"), pt.dvector("ts")
    factor = sparse.linalg.cholesky(sparse.constant(value) * t)
    given = np.array([0.5, 1.0, 2.0])
    outputs = bt.graph.replace.vectorize_graph(
        [factor.solve(b), factor.logdet(), factor.L.data, factor.selected_inverse().data], {t: ts}
    )
    x, logdet, L, inverse = bt.function([ts], outputs)(given)
    rows = np.repeat(np.arange(5), np.diff(value.indptr))
    for k, scale in enumerate(given):
        dense = scale * value.toarray()
        np.testing.assert_allclose(x[k], np.linalg.solve(dense, b), rtol=1e-10)
        np.testing.assert_allclose(logdet[k], np.linalg.slogdet(dense)[1], rtol=1e-10)
        np.testing.assert_allclose(L[k], L[0] * np.sqrt(scale / given[0]), rtol=1e-10, atol=1e-14)
        np.testing.assert_allclose(
            inverse[k], np.linalg.inv(dense)[rows, value.indices], rtol=1e-9, atol=1e-12
        )


@pytest.mark.parametrize("linker", ["jit", "vm", "c"])
def test_complex_factors_by_patterns_of_calls(linker):
    A, b = sparse.matrix("csr", "A", "complex128"), pt.zvector("b")
    positive, factors = sparse.linalg.cholesky(A), sparse.linalg.lu(A)
    f = bt.function(
        [A, b],
        [
            positive.solve(b),
            positive.logdet(),
            sparse.linalg.spsolve(A, b),
            *factors.slogdet(),
            factors.solve(b, trans="C"),
        ],
        mode=bt.Mode(linker=linker),
    )
    for n in (5, 1, 0, 12):
        value, right = (
            hermitian(n) if n else sp.csr_array((0, 0), dtype="complex128"),
            complex_values(n, "complex128"),
        )
        dense = value.toarray()
        x, logdet, y, sign, absolute, adjoint = f(value, right)
        for own in (x, y, adjoint):
            np.testing.assert_allclose(own, np.linalg.solve(dense, right), rtol=1e-9, atol=1e-12)
        for own, expected in zip(
            (sign, logdet, absolute), (*np.linalg.slogdet(dense), np.linalg.slogdet(dense)[1])
        ):
            np.testing.assert_allclose(own, expected, rtol=1e-10, atol=1e-12)
    bad = hermitian(4).tolil()
    bad[2, 2] = -50 + np.nan * 1j
    with pytest.raises(np.linalg.LinAlgError, match="row 2"):
        bt.function([A], positive.logdet(), mode=bt.Mode(linker=linker))(sp.csr_array(bad))
    with pytest.raises(np.linalg.LinAlgError):
        bt.function([A], factors.logdet(), mode=bt.Mode(linker=linker))(
            sp.csr_array((3, 3), dtype="complex128")
        )
    for wrong in (
        sp.csr_array((3, 4), dtype="complex128"),
        sp.csr_array((4, 3), dtype="complex128"),
    ):
        with pytest.raises(ValueError):
            f(wrong, np.zeros(3))


def test_functions_of_complex_factors_are_stored():
    A, value, b = (
        sparse.matrix("csr", "A", "complex128"),
        hermitian(4),
        complex_values(4, "complex128"),
    )
    f = bt.function(
        [A],
        [
            sparse.linalg.cholesky(A).solve(b),
            sparse.linalg.lu(A).solve(b),
            sparse.linalg.solve_triangular(A, b),
        ],
    )
    for own, expected in zip(pickle.loads(pickle.dumps(f))(value), f(value)):
        np.testing.assert_array_equal(own, expected)


def test_derivatives_of_complex_lu_factors_by_patterns_of_calls():
    value, b = general(6), complex_values(6, "complex128")
    A, v, M = sparse.matrix("csc", "A", "complex128"), pt.zvector("v"), pt.zmatrix("M")
    columns = np.repeat(np.arange(6), np.diff(value.tocsc().indptr))
    results = []
    for argument, given, leaf, x, logdet in (
        (A, value.tocsc(), A.data, sparse.linalg.spsolve(A, v), sparse.linalg.lu(A).logdet()),
        (M, value.toarray(), M, pt.linalg.solve(M, v), pt.linalg.slogdet(M)[1]),
    ):
        cost = (pt.real(x) ** 2 * np.arange(6)).sum() + (pt.imag(x) * pt.real(x)).sum()
        by_leaf, by_v = pt.grad(cost, leaf), pt.grad(cost, v)
        results.append(
            bt.function(
                [argument, v],
                [
                    by_leaf,
                    pt.grad(logdet, leaf),
                    pt.grad((pt.real(by_v) * np.arange(6)).sum(), leaf),
                    by_v,
                ],
            )(given, b)
        )
    for own, dense in zip(results[0][:3], results[1][:3]):
        np.testing.assert_allclose(
            own, dense[value.tocsc().indices, columns], rtol=1e-9, atol=1e-12
        )
    np.testing.assert_allclose(results[0][3], results[1][3], rtol=1e-9)


def test_samples_of_real_factors_take_complex_numbers():
    value, z = (
        sp.csr_array(hermitian(5).real + 9 * sp.eye_array(5)),
        complex_values(5, "complex128"),
    )
    factor = sparse.linalg.cholesky(sparse.constant(value))
    own, re, im = bt.function(
        [], [factor.sample(z), factor.sample(z.real), factor.sample(z.imag)]
    )()
    np.testing.assert_allclose(own, re + 1j * im, rtol=1e-14)


def test_samples_have_the_inverse_as_covariance():
    value = hermitian(4)
    sample = bt.function(
        [z := pt.zmatrix("z")], sparse.linalg.cholesky(sparse.constant(value)).sample(z)
    )
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
        A, M = (
            sparse.constant(value) * pt.exp(t)
            + sparse.constant(sp.csr_array(np.eye(9, dtype="complex128"))) * t,
            pt.constant(value.toarray()) * pt.exp(t) + np.eye(9) * t,
        )
        costs = []
        for x, logdet in (
            (own_factor(A).solve(b), own_factor(A).logdet()),
            (dense_solution(M, b), None),
        ):
            cost = (pt.real(x) ** 2 * np.arange(9)).sum() + pt.imag(x).sum()
            costs.append((cost, logdet))
        f = bt.function(
            [t],
            [
                pt.grad(costs[0][0], t),
                pt.grad(costs[1][0], t),
                costs[0][1],
                pt.grad(costs[0][1], t),
            ],
        )
        own, expected, _, slope = f(0.3)
        np.testing.assert_allclose(own, expected, rtol=1e-9)
        np.testing.assert_allclose(slope, (f(0.3 + 1e-5)[2] - f(0.3 - 1e-5)[2]) / 2e-5, rtol=1e-6)


def test_what_has_no_factor_is_named():
    value = sp.csr_array(np.diag([1.0, -2.0, 3.0]).astype("complex128"))
    A = sparse.matrix("csr", "A", "complex128", pattern=value)
    with pytest.raises(np.linalg.LinAlgError, match="row 1"):
        bt.function([A], sparse.linalg.cholesky(A).logdet())(value)
    with pytest.raises(np.linalg.LinAlgError):
        bt.function([A], sparse.linalg.lu(A).logdet())(
            sp.csr_array((np.array([1.0, 0.0, 1.0j]), value.indices, value.indptr), shape=(3, 3))
        )
    for bad in (np.ones(4), np.ones((3, 2, 2))):
        for factor in (sparse.linalg.cholesky(A), sparse.linalg.lu(A)):
            with pytest.raises((ValueError, TypeError)):
                factor.solve(bad)


# ---- signs of determinants -------------------------------------------------------------------------------------------


def test_signs_of_permuted_and_small_matrices():
    for n in (0, 1, 2, 5, 8):
        value = general(n) if n else sp.csr_array((0, 0), dtype="complex128")
        for each in (
            value,
            sp.csr_array(value[rng.permutation(n)]) if n else value,
            sp.csr_array(value[:, rng.permutation(n)]) if n else value,
        ):
            A = sparse.matrix("csc", "A", "complex128", pattern=sp.csc_array(each))
            sign, logdet = bt.function([A], list(sparse.linalg.lu(A).slogdet()))(sp.csc_array(each))
            expected = np.linalg.slogdet(each.toarray())
            np.testing.assert_allclose(sign, expected[0], rtol=1e-12)
            np.testing.assert_allclose(logdet, expected[1], rtol=1e-12, atol=1e-14)


def test_derivatives_of_signs():
    value = general(6)
    rows = np.repeat(np.arange(6), np.diff(value.indptr))
    A = sparse.matrix("csr", "A", "complex128", pattern=value)
    sign, logdet = sparse.linalg.lu(A).slogdet()
    cost = 2 * pt.real(sign) - 3 * pt.imag(sign) * logdet
    inverse = np.linalg.inv(value.toarray()).T[rows, value.indices]
    given_sign, given_logdet = np.linalg.slogdet(value.toarray())
    own = bt.function([A], pt.grad(cost, A.data))(value)
    # By d log det = tr(inv(A) dA), of which the real part is that of the logarithm and the imaginary one that of the angle.
    by_angle, by_logdet = (
        -2 * given_sign.imag - 3 * given_sign.real * given_logdet,
        -3 * given_sign.imag,
    )
    np.testing.assert_allclose(
        own, by_logdet * inverse.conj() + by_angle * 1j * inverse.conj(), rtol=1e-10
    )

    t = pt.dscalar("t")
    B = (
        sparse.constant(value) * pt.exp(1j * t)
        + sparse.constant(sp.csr_array(np.diag(np.arange(6) + 2j))) * t**2
    )
    sign = sparse.linalg.lu(B).slogdet()[0]
    y = pt.real(sign) + 2 * pt.imag(sign)
    first = pt.grad(y, t)
    f = bt.function([t], [y, first, pt.grad(first, t)])
    step, at = 1e-5, 0.4
    for k in (0, 1):
        np.testing.assert_allclose(
            f(at)[k + 1], (f(at + step)[k] - f(at - step)[k]) / (2 * step), rtol=1e-6
        )


def test_batches_of_signs():
    value = general(5)
    A = sparse.constant(value)
    t = pt.dvector("t")
    sign, _ = pt.vectorize(
        lambda each: sparse.linalg.lu(A * (1 + 1j * each)).slogdet(), signature="()->(),()"
    )(t)
    given = np.array([0.0, 0.5, -1.0])
    expected = [np.linalg.slogdet(value.toarray() * (1 + 1j * each))[0] for each in given]
    np.testing.assert_allclose(bt.function([t], sign)(given), expected, rtol=1e-12)


# ---- triangles -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lower", [True, False])
def test_triangles_of_real_matrices_solve_complex_vectors(lower):
    value = sp.csr_array(general().real + 5 * sp.eye_array(9))
    A, b = sparse.matrix("csr", "A"), pt.zvector("b")
    triangle = np.tril(value.toarray()) if lower else np.triu(value.toarray())
    right = complex_values(9, "complex128")
    x = bt.function([A, b], sparse.linalg.solve_triangular(A, b, lower=lower))(value, right)
    np.testing.assert_allclose(triangle @ x, right, rtol=1e-12)


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("format", ["csr", "csc"])
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_triangles_of_complex_matrices(dtype, format, lower):
    value = general(dtype=dtype).asformat(format)
    triangle, tolerance = (
        (np.tril if lower else np.triu)(value.toarray()),
        1e-3 if dtype == "complex64" else 1e-10,
    )
    for A in (sparse.matrix(format, "A", dtype, pattern=value), sparse.matrix(format, "A", dtype)):
        for right in (
            complex_values(9, dtype),
            complex_values((9, 3), dtype),
            complex_values(9, dtype).real,
            complex_values((9, 0), dtype),
        ):
            b = pt.as_tensor_variable(right).type("b")
            x = bt.function([A, b], sparse.linalg.solve_triangular(A, b, lower=lower))(value, right)
            assert x.dtype == dtype
            np.testing.assert_allclose(triangle @ x, right, atol=tolerance)


@pytest.mark.parametrize("linker", ["jit", "vm", "c"])
def test_triangles_of_complex_matrices_are_checked(linker):
    A, b = sparse.matrix("csr", "A", "complex128"), pt.zvector("b")
    f = bt.function([A, b], sparse.linalg.solve_triangular(A, b), mode=bt.Mode(linker=linker))
    assert f(sp.csr_array((0, 0), dtype="complex128"), np.zeros(0, "complex128")).shape == (0,)
    np.testing.assert_allclose(
        f(sp.csr_array([[2j, 0], [1, 1 + 1j]]), [2j, 3 + 2j]), [1, 2], rtol=1e-14
    )
    with pytest.raises(np.linalg.LinAlgError, match="empty"):
        f(sp.csr_array([[1j, 0], [1j, 0]]), [1, 1])
    with pytest.raises(np.linalg.LinAlgError, match="diagonal"):
        f(sp.csr_array((np.array([1j, 0j]), [0, 1], [0, 1, 2]), shape=(2, 2)), [1, 1])
    for bad in (np.ones(3), np.ones((3, 2))):
        with pytest.raises(ValueError):
            sparse.linalg.solve_triangular(sparse.constant(sp.csr_array(np.eye(2) * 1j)), bad)
    with pytest.raises(TypeError, match="vector or a matrix"):
        sparse.linalg.solve_triangular(A, np.ones((2, 2, 2)))


@pytest.mark.parametrize("lower", [True, False])
def test_derivatives_of_triangular_systems(lower):
    value, right = general(6), complex_values(6, "complex128")
    A, M, b = (
        sparse.matrix("csr", "A", "complex128", pattern=value),
        pt.zmatrix("M"),
        pt.zvector("b"),
    )
    rows, columns = np.repeat(np.arange(6), np.diff(value.indptr)), value.indices
    triangle = pt.tril(M) if lower else pt.triu(M)
    results = []
    for argument, given, leaf, x in (
        (A, value, A.data, sparse.linalg.solve_triangular(A, b, lower=lower)),
        (M, value.toarray(), M, pt.linalg.solve(triangle, b)),
    ):
        cost = (pt.real(x) ** 2 * np.arange(6)).sum() + (pt.imag(x) * pt.real(x)).sum()
        by_leaf, by_b = pt.grad(cost, leaf), pt.grad(cost, b)
        second = pt.grad((pt.real(by_b) * np.arange(6) + pt.imag(by_b)).sum(), leaf)
        results.append(bt.function([argument, b], [by_leaf, by_b, second])(given, right))
    (by_leaf, by_b, second), dense = results
    np.testing.assert_allclose(by_leaf, dense[0][rows, columns], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(by_b, dense[1], rtol=1e-9)
    np.testing.assert_allclose(second, dense[2][rows, columns], rtol=1e-9, atol=1e-12)

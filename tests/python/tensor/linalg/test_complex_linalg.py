"""Linear algebra of complex matrices against NumPy and SciPy: values in all linkers, batches, gradients, errors."""

import numpy as np
import pytest
import scipy.linalg

import bitale as bt
import bitale.tensor as pt
from complex_cases import check_gradient, close, cost_of, dtypes, modes, values

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


# ---- systems ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", dtypes)
def test_systems_and_inverses(mode, dtype):
    a, b, v, x = (
        matrix(dtype),
        matrix(dtype),
        matrix(dtype, 1),
        pt.dmatrix() if dtype == "complex128" else pt.fmatrix(),
    )
    outputs = [
        pt.linalg.solve(a, b),
        pt.linalg.solve(a, v),
        pt.linalg.inv(a),
        pt.linalg.solve(a, b, transposed=True),
    ]
    outputs += [pt.linalg.solve(x, b), pt.linalg.solve(a, x), pt.linalg.solve(a, v, b_ndim=1)]
    f = bt.function([a, b, v, x], outputs, mode=mode)
    for n in lengths:
        A, B, V = regular(n, dtype), values((n, 3), dtype, 1), values(n, dtype, 2)
        X = (np.random.default_rng(3).normal(size=(n, n)) + 3 * n * np.eye(n)).astype(x.dtype)
        solve = lambda a, b: (
            np.linalg.solve(a, b[:, None])[:, 0] if b.ndim == 1 else np.linalg.solve(a, b)
        )
        expected = [
            solve(A, B),
            solve(A, V),
            np.linalg.inv(A),
            solve(A.T, B),
            solve(X, B),
            solve(A, X),
            solve(A, V),
        ]
        for got, each in zip(f(A, B, V, X), expected):
            close(got, each, 100)


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("trans", [0, 1])
@pytest.mark.parametrize("unit", [True, False])
def test_triangular_systems(mode, lower, trans, unit):
    a, b, v = matrix(), matrix(), matrix(ndim=1)
    how = dict(lower=lower, trans=trans, unit_diagonal=unit)
    f = bt.function(
        [a, b, v],
        [pt.linalg.solve_triangular(a, b, **how), pt.linalg.solve_triangular(a, v, **how)],
        mode=mode,
    )
    for n in (1, 2, 7):
        A, B, V = regular(n), values((n, 2), seed=1), values(n, seed=2)
        A = A / np.abs(A).sum() if unit else A
        for got, each in zip(f(A, B, V), (B, V)):
            close(got, scipy.linalg.solve_triangular(A, each, **how), 10)


def test_systems_by_structure(mode):
    a, b = matrix(), matrix()
    kinds = [
        "sym",
        "her",
        "pos",
        "diagonal",
        "tridiagonal",
        "banded",
        "lower triangular",
        "upper triangular",
    ]
    outputs = [
        pt.linalg.solve(a, b, assume_a=kind, lower=lower)
        for kind in kinds
        for lower in (True, False)
    ]
    f = bt.function(
        [a, b], [*outputs, pt.linalg.cho_solve((pt.linalg.cholesky(a), True), b)], mode=mode
    )
    A, B = positive(4), values((4, 2), seed=1)
    got = iter(f(A, B))
    for kind in kinds:
        for lower in (True, False):
            strict = np.tril(A, -1) if lower else np.triu(A, 1)
            read = {
                "sym": strict + strict.T + np.diag(np.diag(A)),
                "diagonal": np.diag(np.diag(A)),
                "tridiagonal": np.triu(np.tril(A, 1), -1),
                "lower triangular": np.tril(A),
                "upper triangular": np.triu(A),
            }.get(kind, A)
            close(next(got), np.linalg.solve(read, B), 100)
    close(next(got), np.linalg.solve(A, B), 100)


def test_errors_of_singular_matrices_and_others(mode):
    a, b = matrix(), matrix(ndim=1)
    f = bt.function([a, b], pt.linalg.solve(a, b), mode=mode)
    g = bt.function([a, b], pt.linalg.solve_triangular(a, b), mode=mode)
    h = bt.function([a], pt.linalg.cholesky(a), mode=mode)
    singular = np.array([[1, 1j], [1, 1j]])
    with pytest.raises(np.linalg.LinAlgError, match="singular: no pivot is left in row 1"):
        f(singular, values(2))
    with pytest.raises(np.linalg.LinAlgError, match="singular: its diagonal is 0 in row 1"):
        g(np.diag([1j, 0]), values(2))
    for n in (3, 40):  # in inline loops, and by LAPACK
        with pytest.raises(
            np.linalg.LinAlgError, match="not positive definite: its leading minor of order 3"
        ):
            h(np.diag([1, 1, *(n - 2) * [-1 + 0j]]))
        with pytest.raises(np.linalg.LinAlgError, match=f"no pivot is left in row {n - 1}"):
            f(np.diag([*(n - 1) * [1j], 0]), values(n))
    with pytest.raises(ValueError):
        f(values((2, 3)), values(2))
    close(
        bt.function([a], pt.linalg.cholesky(a, on_error="nan"), mode=mode)(
            np.diag([1, -1 + 0j])
        ).real,
        np.full((2, 2), np.nan),
    )


def test_equations_whose_real_embedding_is_singular(mode):
    """A and -B share no eigenvalue, but A and -conj(B) do."""
    a, b, q = matrix(), matrix(), matrix()
    f = bt.function([a, b, q], pt.linalg.solve_sylvester(a, b, q), mode=mode)
    g = bt.function(
        [a, q],
        [pt.linalg.solve_continuous_lyapunov(a, q), pt.linalg.solve_discrete_lyapunov(a, q)],
        mode=mode,
    )
    A, B, Q = np.diag([1 + 1j, 2]), np.diag([-1 + 1j, 5]), values((2, 2))
    close(f(A, B, Q), scipy.linalg.solve_sylvester(A, B, Q), 100)
    with pytest.raises(np.linalg.LinAlgError, match="no unique solution"):
        f(A, -A, Q)
    A = np.diag([1 + 1j, -1 - 1j])
    for got, expected in zip(
        g(A, Q),
        [scipy.linalg.solve_continuous_lyapunov(A, Q), scipy.linalg.solve_discrete_lyapunov(A, Q)],
    ):
        close(got, expected, 100)


def test_factors_with_a_complex_diagonal_and_adjoint_systems(mode):
    a, b = matrix(), matrix()
    outputs = [pt.linalg.cho_solve((a, lower), b) for lower in (True, False)]
    outputs += [pt.linalg.solve_triangular(a, b, trans=trans) for trans in (2, "C", "T")]
    f = bt.function([a, b], outputs, mode=mode)
    for n in (4, 40):
        A, B = regular(n) / n, values((n, 3))
        L, U = np.tril(A), np.triu(A)
        expected = [np.linalg.solve(L @ adjoint(L), B), np.linalg.solve(adjoint(U) @ U, B)]
        expected += [np.linalg.solve(each, B) for each in (adjoint(U), adjoint(U), U.T)]
        for got, each in zip(f(A, B), expected):
            close(got, each, 1000)


def test_matrix_equations_and_least_squares(mode):
    a, b, q = matrix(), matrix(), matrix()
    outputs = [
        pt.linalg.solve_sylvester(a, b, q),
        pt.linalg.solve_continuous_lyapunov(a, q),
        pt.linalg.pinv(q),
    ]
    outputs += [pt.linalg.solve_discrete_lyapunov(a * 0.05, q), *pt.linalg.lstsq(q[:, :2], b)]
    f = bt.function([a, b, q], outputs, mode=mode)
    A, B, Q = regular(3), regular(3, seed=1), values((3, 3), seed=2)
    expected = [
        scipy.linalg.solve_sylvester(A, B, Q),
        scipy.linalg.solve_continuous_lyapunov(A, Q),
        np.linalg.pinv(Q),
    ]
    expected += [scipy.linalg.solve_discrete_lyapunov(A * 0.05, Q), *np.linalg.lstsq(Q[:, :2], B)]
    for got, each in zip(f(A, B, Q), expected):
        np.testing.assert_allclose(got, each, rtol=1e-10, atol=1e-10)
    r = matrix()
    g = bt.function(
        [a, b, q, r],
        [pt.linalg.solve_discrete_are(a, b, q, r), pt.linalg.solve_continuous_are(a, b, q, r)],
        mode=mode,
    )
    A, B = values((3, 3)) * 0.3, values((3, 2), seed=1)
    Q, R = positive(3, seed=3), positive(2, seed=4)
    for got, each in zip(
        g(A, B, Q, R),
        [
            scipy.linalg.solve_discrete_are(A, B, Q, R),
            scipy.linalg.solve_continuous_are(A, B, Q, R),
        ],
    ):
        np.testing.assert_allclose(got, each, rtol=1e-8, atol=1e-8)


# ---- factors ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", dtypes)
def test_cholesky_factors(mode, dtype):
    a = matrix(dtype)
    f = bt.function([a], [pt.linalg.cholesky(a), pt.linalg.cholesky(a, lower=False)], mode=mode)
    for n in lengths:
        A = positive(n, dtype)
        low, up = f(A)
        close(low, np.linalg.cholesky(A) if n else A, 100)
        close(up, adjoint(low), 100)
        close(
            f(np.tril(A) + np.triu(values((n, n), dtype), 1))[0], low, 100
        )  # reads only one triangle
        assert not np.iscomplex(np.diag(low)).any()


@pytest.mark.parametrize("dtype", dtypes)
def test_determinants_exponentials_powers_and_norms(mode, dtype):
    a = matrix(dtype)
    outputs = [
        pt.linalg.det(a),
        *pt.linalg.slogdet(a),
        pt.linalg.expm(a * 0.25),
        pt.linalg.matrix_power(a, 3),
        pt.linalg.kron(a, a),
    ]
    norms = [
        dict(),
        *(dict(ord=ord, axis=(0, 1)) for ord in ("fro", 1, -1, np.inf, -np.inf, 2, -2, "nuc")),
    ]
    norms += [dict(ord=ord, axis=0) for ord in (None, 0, 1, 2, 3, np.inf, -np.inf)]
    f = bt.function([a], outputs, mode=mode)
    g = bt.function([a], [pt.linalg.norm(a, **how) for how in norms], mode=mode)
    for n in (1, 2, 5):
        A = values((n, n), dtype) + np.eye(n, dtype=dtype)
        expected = [
            np.linalg.det(A),
            *np.linalg.slogdet(A),
            scipy.linalg.expm(A * A.dtype.type(0.25)),
            A @ A @ A,
            np.kron(A, A),
        ]
        for got, each in zip(f(A), expected):
            close(got, np.asarray(each, got.dtype), 100)
        for got, how in zip(g(A), norms):
            close(got, np.asarray(np.linalg.norm(A, **how), got.dtype), 100)
    close(f(np.ones((2, 2), dtype))[0], np.zeros((), dtype))


@pytest.mark.parametrize("dtype", dtypes)
def test_unitary_factors(mode, dtype):
    a = matrix(dtype)
    outputs = [
        *pt.linalg.qr(a, mode="reduced"),
        *pt.linalg.qr(a, mode="complete"),
        pt.linalg.qr(a, mode="r"),
    ]
    outputs += [
        *pt.linalg.svd(a, full_matrices=False),
        *pt.linalg.svd(a),
        pt.linalg.svd(a, compute_uv=False),
    ]
    f = bt.function([a], outputs, mode=mode)
    for shape in [(3, 3), (5, 2), (2, 5), (1, 1), (0, 2), (20, 18)]:
        A = values(shape, dtype)
        q, r, full_q, full_r, only_r, u, s, vh, full_u, full_s, full_vh, only_s = f(A)
        k = min(shape)
        for each in (q, full_q, u, full_u, adjoint(vh), adjoint(full_vh)):
            close(adjoint(each) @ each, np.eye(each.shape[1], dtype=dtype), 100)
        expected_q, expected_r = np.linalg.qr(A, mode="reduced")
        close(q, expected_q, 100)
        for each in (r, only_r, full_r[:k]):
            close(each, expected_r, 100)
        close(u * s @ vh, A, 100)
        close(full_u[:, :k] * s @ full_vh[:k], A, 100)
        for each in (s, full_s, only_s):
            close(each, np.linalg.svd(A, compute_uv=False), 100)


@pytest.mark.parametrize("dtype", dtypes)
def test_eigenvalues_and_schur_forms(mode, dtype):
    a, x = (
        matrix(dtype),
        pt.tensor(
            dtype=dtype.replace("complex64", "float32").replace("complex128", "float64"),
            shape=(None, None),
        ),
    )
    outputs = [
        *pt.linalg.eigh(a),
        pt.linalg.eigvalsh(a, lower=False),
        *pt.linalg.eig(a),
        pt.linalg.eigvals(a),
        *pt.linalg.eig(x),
    ]
    outputs += [
        pt.linalg.eigvals(x),
        *pt.linalg.schur(a),
        *pt.linalg.schur(x, output="complex"),
        *pt.linalg.eigh(a, a + 9 * pt.eye(a.shape[0]).astype(x.dtype)),
    ]
    f = bt.function([a, x], outputs, mode=mode)
    for n in (0, 1, 2, 5):
        A, X = (
            positive(n, dtype, seed=n),
            np.random.default_rng(n).normal(size=(n, n)).astype(x.dtype),
        )
        w, v, only_w, c, d, only_c, real_c, real_d, only_real_c, t, z, real_t, real_z, gw, gv = f(
            A, X
        )
        close(w, np.linalg.eigvalsh(A).astype(w.dtype), 100)
        close(only_w, w, 100)
        close(A @ v, v * w, 1000)
        for matrices, values_, vectors, only in (
            (A, c, d, only_c),
            (X, real_c, real_d, only_real_c),
        ):
            expected = np.linalg.eigvals(matrices)
            for each in (values_, only):
                for one in each:  # in any order
                    assert np.abs(expected - one).min() < (
                        1e-3 if "64" == dtype[-2:] else 1e-10
                    ) * max(1, abs(one))
            close((matrices @ vectors).astype(dtype), vectors * values_, 1000)
            close(np.linalg.norm(vectors, axis=0).astype(x.dtype), np.ones(n, x.dtype), 10)
        for matrices, triangle, unitary in ((A, t, z), (X, real_t, real_z)):
            close(unitary @ triangle @ adjoint(unitary), matrices.astype(dtype), 1000)
            assert np.tril(triangle, -1).any() == False
        B = A + 9 * np.eye(n, dtype=dtype)
        close(A @ gv, (B @ gv) * gw, 1000)
        close(adjoint(gv) @ B @ gv, np.eye(n, dtype=dtype), 1000)


def test_lu_factors(mode):
    a, b = matrix(), matrix()
    factors = pt.linalg.lu_factor(a)
    outputs = [
        *factors,
        *pt.linalg.lu(a),
        *pt.linalg.lu(a, permute_l=True),
        pt.linalg.lu_solve(factors, b),
        pt.linalg.lu_solve(factors, b, trans=True),
    ]
    f = bt.function([a, b], outputs, mode=mode)
    for n in (1, 3, 20):
        A, B = values((n, n)), values((n, 2), seed=1)
        expected = [
            *scipy.linalg.lu_factor(A),
            *scipy.linalg.lu(A),
            *scipy.linalg.lu(A, permute_l=True),
            np.linalg.solve(A, B),
            np.linalg.solve(A.T, B),
        ]
        for got, each in zip(f(A, B), expected):
            close(got, each.astype(got.dtype), 1000)


def test_batches(mode):
    a, b = matrix(ndim=3), matrix(ndim=4)
    outputs = [
        pt.linalg.cholesky(a),
        pt.linalg.inv(a),
        pt.linalg.det(a),
        pt.linalg.slogdet(a)[1],
        pt.linalg.eigh(a)[0],
        pt.linalg.qr(a, mode="reduced")[0],
    ]
    outputs += [
        pt.linalg.svd(a, compute_uv=False),
        pt.linalg.expm(a * 0.1),
        pt.linalg.solve(a, b, b_ndim=2),
        pt.linalg.solve_triangular(a, b, lower=True, b_ndim=2),
    ]
    f = bt.function([a, b], outputs, mode=mode)
    for count in (0, 3):
        A, B = positive(4, batch=(count,)), values((2, count, 4, 2), seed=1)
        expected = [
            np.linalg.cholesky(A),
            np.linalg.inv(A),
            np.linalg.det(A),
            np.linalg.slogdet(A)[1],
            np.linalg.eigvalsh(A),
        ]
        expected += [
            np.linalg.qr(A)[0],
            np.linalg.svd(A, compute_uv=False),
            scipy.linalg.expm(A * 0.1),
            np.linalg.solve(A, B),
        ]
        expected += [np.linalg.solve(np.tril(A), B)]
        for got, each in zip(f(A, B), expected):
            close(got, each, 100)
    named = bt.function([a], pt.linalg.cholesky(a), mode=mode)
    with pytest.raises(np.linalg.LinAlgError, match=r"in matrix \[1\] of \[2\]"):
        named(np.stack([np.eye(2) + 0j, -np.eye(2)]))


# ---- gradients -------------------------------------------------------------------------------------------------------


def norm_of(x):
    """A function that does not depend on the phases of the vectors."""
    return (pt.sqr(pt.abs(x)) * np.arange(1.0, 1 + 3)[:, None]).sum()


gradients = {
    "solve": lambda a: cost_of(pt.linalg.solve(a, a[:, :2] * 1j)),
    "inv": lambda a: cost_of(pt.linalg.inv(a)),
    "solve_triangular": lambda a: cost_of(pt.linalg.solve_triangular(a, a[:, 0], lower=True)),
    "solve_triangular, transposed": lambda a: cost_of(
        pt.linalg.solve_triangular(a, a[:, :2], trans=1)
    ),
    "solve_triangular, adjoint": lambda a: cost_of(
        pt.linalg.solve_triangular(a, a[:, :2], trans=2)
    ),
    "cho_solve": lambda a: cost_of(pt.linalg.cho_solve((a, False), a[:, 0])),
    "cholesky": lambda a: cost_of(pt.linalg.cholesky(a @ a.conj().T)),
    "cholesky, upper, of what is read": lambda a: cost_of(
        pt.linalg.cholesky(a * 0.1 + 3 * np.eye(3), lower=False)
    ),
    "det": lambda a: cost_of(pt.linalg.det(a)),
    "slogdet": lambda a: cost_of(pt.linalg.slogdet(a)[0]) + pt.linalg.slogdet(a)[1],
    "expm": lambda a: cost_of(pt.linalg.expm(a * 0.1)),
    "pinv": lambda a: cost_of(pt.linalg.pinv(a[:, :2])),
    "lstsq": lambda a: cost_of(pt.linalg.lstsq(a[:, :2], a[:, 2])[0]),
    "norm": lambda a: (
        pt.linalg.norm(a)
        + pt.linalg.norm(a, ord="nuc", axis=(0, 1))
        + pt.linalg.norm(a, ord=2, axis=(0, 1))
    ),
    "qr": lambda a: sum(cost_of(each) for each in pt.linalg.qr(a, mode="reduced")),
    "qr, tall": lambda a: sum(cost_of(each) for each in pt.linalg.qr(a[:, :2], mode="reduced")),
    "qr, wide": lambda a: sum(cost_of(each) for each in pt.linalg.qr(a[:2], mode="reduced")),
    "svdvals": lambda a: (pt.linalg.svd(a, compute_uv=False) * np.arange(1.0, 4)).sum(),
    "svd": lambda a: (
        norm_of(pt.linalg.svd(a, full_matrices=False)[0])
        + norm_of(pt.linalg.svd(a, full_matrices=False)[2].T)
    ),
    "svd, product": lambda a: cost_of(
        pt.linalg.svd(a, full_matrices=False)[0] @ pt.linalg.svd(a, full_matrices=False)[2]
    ),
    "svd, tall": lambda a: norm_of(pt.linalg.svd(a[:, :2], full_matrices=False)[0]),
    "svd, wide": lambda a: norm_of(pt.linalg.svd(a[:2], full_matrices=False)[2].T),
    "eigvalsh": lambda a: (pt.linalg.eigvalsh(a) * np.arange(1.0, 4)).sum(),
    "eigh": lambda a: norm_of(pt.linalg.eigh(a)[1]) + norm_of(pt.linalg.eigh(a, lower=False)[1]),
    "eigvals": lambda a: cost_of(pt.sqr(pt.linalg.eigvals(a)).sum()),
    "eig": lambda a: norm_of(pt.linalg.eig(a)[1]),
    "lu_factor": lambda a: cost_of(pt.linalg.lu_factor(a)[0]),
    "lu, wide": lambda a: cost_of(pt.linalg.lu_factor(a[:2])[0]),
    "lu, tall": lambda a: cost_of(pt.linalg.lu_factor(a[:, :2])[0]),
    "sylvester": lambda a: cost_of(pt.linalg.solve_sylvester(a, a * 2, a[::-1])),
}


@pytest.mark.parametrize("name", gradients)
def test_gradients(name):
    a = values((3, 3)) + np.diag([2.0, 5.0, 9.0])
    check_gradient(gradients[name], a)


def test_gradients_of_eigenvalues_of_real_matrices():
    a = np.random.default_rng(5).normal(size=(3, 3))
    check_gradient(
        lambda x: cost_of(pt.sqr(pt.linalg.eigvals(x)).sum()) + norm_of(pt.linalg.eig(x)[1]), a
    )


def test_gradients_of_batches():
    a = regular(3, batch=(2,))
    check_gradient(lambda a: cost_of(pt.linalg.solve(a, a[:, :, :1], b_ndim=2)), a)
    check_gradient(lambda a: cost_of(pt.linalg.det(a)) + pt.linalg.eigvalsh(a).sum(), a)
    check_gradient(lambda a: cost_of(pt.linalg.qr(a, mode="reduced")[1]), a)


# ---- pivoting, matrix pairs, banded matrices -------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (3, 3), (1, 1), (0, 2), (2, 0)])
@pytest.mark.parametrize("kind", ["full", "economic", "r", "raw"])
def test_pivoted_and_raw_qr(mode, shape, kind):
    a, A, k = matrix(), values(shape), min(shape)
    for pivoting in (False, True):
        got = bt.function(
            [a],
            list(pt.linalg.qr(a, kind, pivoting=pivoting))
            if kind != "r" or pivoting
            else [pt.linalg.qr(a, kind)],
            mode=mode,
        )(A)
        if k == 0:
            assert got[-1 - pivoting].shape == (shape[0] if kind == "full" else 0, shape[1])
            continue
        expected = scipy.linalg.qr(A, mode=kind, pivoting=pivoting)
        expected = [*expected[0], *expected[1:]] if kind == "raw" else list(expected)
        if kind in ("r", "raw"):  # only the rows that are not structurally zero
            expected[2 if kind == "raw" else 0] = expected[2 if kind == "raw" else 0][:k]
        assert len(got) == len(expected)
        for each, reference in zip(got, expected):
            close(each, reference, 10)


def test_pivoted_qr_of_batches_and_its_gradient():
    a, A = pt.ztensor3(), regular(3, batch=(2,))
    q, r, p = bt.function([a], pt.linalg.qr(a, "economic", pivoting=True))(A)
    for at in range(2):
        close(q[at] @ r[at], A[at][:, p[at]], 10)
    for shape in ((4, 3), (3, 4), (3, 3)):
        check_gradient(
            lambda a: cost_of(pt.linalg.qr(a, "economic", pivoting=True)[1]), values(shape)
        )
    x = matrix()
    with pytest.raises((ValueError, bt.gradient.NullTypeGradError), match="raw"):
        bt.grad(cost_of(pt.linalg.qr(x, "raw")[0]), x)


@pytest.mark.parametrize("n", [0, 1, 2, 5])
@pytest.mark.parametrize("sort", [None, "lhp", "rhp", "iuc", "ouc"])
def test_generalized_schur_forms(mode, n, sort):
    a, b = matrix(), matrix()
    A, B = values((n, n)), regular(n, seed=1)
    s, p, alpha, beta, q, z = bt.function([a, b], pt.linalg.ordqz(a, b, sort=sort), mode=mode)(A, B)
    assert alpha.dtype == beta.dtype == "complex128"
    close(q @ s @ z.conj().T, A, 100)
    close(q @ p @ z.conj().T, B, 100)
    assert (np.tril(s, -1) == 0).all() and (np.tril(p, -1) == 0).all()
    w = alpha / beta
    chosen = {
        None: w.real < np.inf,
        "lhp": w.real < 0,
        "rhp": w.real > 0,
        "iuc": np.abs(w) < 1,
        "ouc": np.abs(w) > 1,
    }[sort]
    assert (np.diff(chosen.astype(int)) <= 0).all()
    # real matrices, and a real one paired with a complex one
    x = pt.dmatrix()
    s, p, q, z = bt.function([x, b], pt.linalg.qz(x, b), mode=mode)(A.real, B)
    close(q @ s @ z.conj().T, A.real + 0j, 100)
    s, p, q, z = bt.function([x], pt.linalg.qz(x, x + np.eye(n), output="complex"), mode=mode)(
        A.real
    )
    assert (np.tril(s, -1) == 0).all()
    close(q @ s @ z.conj().T, A.real + 0j, 100)


@pytest.mark.parametrize("dtype", dtypes)
@pytest.mark.parametrize(
    "below, above, n",
    [(1, 1, 5), (2, 0, 4), (0, 2, 4), (0, 0, 3), (2, 3, 3), (1, 1, 0), (1, 2, 33)],
)
def test_banded_systems(mode, dtype, below, above, n):
    ab, b = matrix(dtype), matrix(dtype)
    AB, B = values((below + above + 1, n)), values((n, 2), seed=1)
    AB[above] += 6
    f = bt.function(
        [ab, b],
        [
            pt.linalg.solve_banded((below, above), ab, b),
            pt.linalg.solve_banded((below, above), ab, b[:, 0]),
        ],
        mode=mode,
    )
    for got, right in zip(f(AB.astype(dtype), B.astype(dtype)), (B, B[:, 0])):
        assert got.dtype == dtype
        close(
            got,
            scipy.linalg.solve_banded((below, above), AB, right).astype(dtype)
            if n
            else right.astype(dtype),
            100,
        )
    for wrong in (AB[1:], np.vstack([AB, AB[:1]])):
        with pytest.raises(ValueError):
            f(wrong.astype(dtype), B.astype(dtype))


@pytest.mark.parametrize("n", [0, 1, 2, 5, 33])
def test_tridiagonal_systems_and_factors(mode, n):
    dl, d, du, a, b = (matrix(ndim=k) for k in (1, 1, 1, 2, 2))
    low, main, up, B = (
        values(max(n - 1, 0)),
        values(n, seed=1) + 3,
        values(max(n - 1, 0), seed=2),
        values((n, 2), seed=3),
    )
    A = np.diag(main) + (np.diag(low, -1) + np.diag(up, 1) if n > 1 else 0)
    got = bt.function([dl, d, du, b], pt.linalg.solve_tridiagonal(dl, d, du, b), mode=mode)(
        low, main, up, B
    )
    close(got, np.linalg.solve(A, B) if n else B, 100)
    factors = pt.linalg.tridiagonal_lu_factor(a)
    outputs = [
        pt.linalg.tridiagonal_lu_solve(factors, b, transposed=trans) for trans in (False, True)
    ]
    outputs += [pt.linalg.tridiagonal_lu_solve(factors, b[:, 0])]
    f = bt.function([a, b], outputs, mode=mode)
    for got, matrix_, right in zip(f(A, B), (A, A.T, A), (B, B, B[:, 0])):
        close(got, np.linalg.solve(matrix_, right) if n else right, 100)
    for wrong in (n + 1, n + 2):
        with pytest.raises(ValueError):
            bt.function([dl, d, du, b], pt.linalg.solve_tridiagonal(dl, d, du, b), mode=mode)(
                values(wrong), main, up, B
            )


def test_gradients_of_bands():
    AB, B = values((3, 4)), values((4, 2), seed=1)
    AB[1] += 5
    check_gradient(lambda a: cost_of(pt.linalg.solve_banded((1, 1), a, B)), AB)
    check_gradient(lambda b: cost_of(pt.linalg.solve_banded((1, 1), AB, b)), B)
    check_gradient(
        lambda d: cost_of(pt.linalg.solve_tridiagonal(AB[0, 1:], d, AB[2, 1:], B)), AB[1]
    )
    check_gradient(lambda d: cost_of(pt.linalg.solve_tridiagonal(d, AB[1], d, B)), AB[0, 1:])
    factors = pt.linalg.tridiagonal_lu_factor(regular(4))
    for trans in (False, True):
        check_gradient(
            lambda b, trans=trans: cost_of(
                pt.linalg.tridiagonal_lu_solve(factors, b, transposed=trans)
            ),
            B,
        )


def test_batches_of_banded_matrices_and_matrix_pairs():
    ab, b = pt.ztensor3(), pt.ztensor3()
    AB, B = values((3, 3, 4)), values((3, 4, 2), seed=1)
    AB[:, 1] += 5
    got = bt.function([ab, b], pt.linalg.solve_banded((1, 1), ab, b))(AB, B)
    for at in range(3):
        close(got[at], scipy.linalg.solve_banded((1, 1), AB[at], B[at]), 100)
    dl, d = pt.zmatrix(), pt.zmatrix()
    got = bt.function([dl, d, b], pt.linalg.solve_tridiagonal(dl, d, dl[0], b))(
        AB[:, 0, 1:], AB[:, 1], B
    )
    for at in range(3):
        a = np.diag(AB[at, 1]) + np.diag(AB[at, 0, 1:], -1) + np.diag(AB[0, 0, 1:], 1)
        close(got[at], np.linalg.solve(a, B[at]), 100)
    pairs = [regular(3, batch=(2,)), regular(3, batch=(2,), seed=1)]
    s, p, q, z = bt.function([ab, b], pt.linalg.qz(ab, b))(*pairs)
    for got, expected in ((s, pairs[0]), (p, pairs[1])):
        close(q @ got @ z.conj().swapaxes(-1, -2), expected, 100)


def test_nan_inside_does_not_reach_lapack(mode):
    a = matrix()
    outputs = [
        *pt.linalg.qr(a, "economic", pivoting=True)[:2],
        *pt.linalg.qr(a, "raw"),
        *pt.linalg.qz(a, a),
        pt.linalg.solve_banded((1, 1), a[:3], a),
    ]
    outputs += pt.linalg.tridiagonal_lu_factor(a)[:2]
    A = regular(40)
    A[1, 1] = np.nan
    assert all(np.isnan(out).all() for out in bt.function([a], outputs, mode=mode)(A))


@pytest.mark.parametrize("dtype", dtypes)
def test_vector_products_conjugate_as_numpy_does(mode, dtype):
    u, v, m = matrix(dtype), matrix(dtype), matrix(dtype)
    f = bt.function(
        [u, v, m],
        [
            pt.vecdot(u, v),
            pt.vecdot(u[0], v[0]),
            pt.vecmat(u, m),
            pt.vecmat(u[0], m),
            pt.matvec(m, u[:, :3]),
        ],
        mode=mode,
    )
    U, V, M = values((2, 3), dtype), values((2, 3), dtype, 1), values((3, 3), dtype, 2)
    expected = [
        np.vecdot(U, V),
        np.vecdot(U[0], V[0]),
        np.vecmat(U, M),
        np.vecmat(U[0], M),
        np.matvec(M, U),
    ]
    for got, reference in zip(f(U, V, M), expected):
        close(got, reference, 10)


def test_non_square_matrices_are_rejected(mode):
    for function in (
        pt.linalg.cholesky,
        pt.linalg.inv,
        pt.linalg.expm,
        lambda a: pt.linalg.solve(a, a),
        lambda a: pt.linalg.solve_sylvester(a, a, a),
    ):
        a = matrix()
        f = bt.function([a], function(a), mode=mode)
        with pytest.raises(ValueError) as caught:
            f(values((3, 4)))
        assert "expected square matrices" in str(caught.value) and "6 rows" not in str(caught.value)
        with pytest.raises(ValueError, match="square matrices, got 3 rows and 4 columns"):
            function(pt.tensor(dtype="complex128", shape=(3, 4)))
        assert (
            f(regular(3)).shape == (3, 3)
            if function is not pt.linalg.cholesky
            else f(positive(3)).shape == (3, 3)
        )


def test_least_squares_have_second_derivatives():
    """Of the singular values, too, which the real matrix of twice the size has twice each."""
    rng = np.random.default_rng(5)
    A, B = (rng.normal(size=(4, 3)) + 1j * rng.normal(size=(4, 3)) for _ in range(2))
    a, t = pt.zmatrix("a"), pt.dscalar("t")
    along = a + pt.cast(t, "complex128") * pt.constant(B)
    b = pt.constant(B[:, 0])
    for result in (
        pt.linalg.lstsq(along, b)[3],
        pt.linalg.lstsq(along, b)[0],
        pt.linalg.pinv(along),
    ):
        cost = sum(
            (
                pt.sqr(part(result))
                * pt.constant(rng.normal(size=3)[(slice(None),) + (None,) * (result.ndim - 1)])
            ).sum()
            for part in (pt.real, pt.imag)
        )
        first = bt.grad(cost, t)
        f = bt.function([a, t], [first, bt.grad(first, t)])
        step = 1e-5
        expected = (f(A, step)[0] - f(A, -step)[0]) / (2 * step)
        assert np.isclose(f(A, 0.0)[1], expected, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("seed", range(6))
def test_riccati_equations_of_badly_scaled_states(seed, dtype):
    """States in units that differ by factors up to 1e10."""
    rng = np.random.default_rng(seed)
    n, m = 4, 2

    def draw(*shape):
        return rng.normal(size=shape) + (
            1j * rng.normal(size=shape) if dtype == "complex128" else 0
        )

    units = 10.0 ** rng.uniform(-5, 5, n)
    c, r = draw(n, n), draw(m, m)
    A = units[:, None] * draw(n, n) / units
    B = units[:, None] * draw(n, m)
    Q = (c @ c.conj().T) / units[:, None] / units
    R = r @ r.conj().T + np.eye(m)
    a, b, q, w = (pt.tensor(dtype=dtype, shape=(None, None)) for _ in range(4))
    X, Y = bt.function(
        [a, b, q, w],
        [pt.linalg.solve_continuous_are(a, b, q, w), pt.linalg.solve_discrete_are(a, b, q, w)],
    )(A, B, Q, R)
    scaled = units[:, None] * units  # residuals in units in which the matrices are of size 1
    G = B @ np.linalg.solve(R, B.conj().T)
    terms = [A.conj().T @ X, X @ A, -X @ G @ X, Q]
    assert np.abs(sum(terms) * scaled).max() < 1e-13 * max(np.abs(t * scaled).max() for t in terms)
    S = B.conj().T @ Y
    terms = [
        A.conj().T @ Y @ A,
        -Y,
        -A.conj().T @ S.conj().T @ np.linalg.solve(R + S @ B, S @ A),
        Q,
    ]
    assert np.abs(sum(terms) * scaled).max() < 1e-12 * max(np.abs(t * scaled).max() for t in terms)
    for solution in (X, Y):
        assert np.array_equal(solution, solution.conj().T)

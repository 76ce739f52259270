"""Decompositions, least squares, matrix functions and matrix equations, against NumPy and SciPy: defining properties,
derivatives, batches, errors."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

import bitale as bt
import bitale.tensor as pt

LINKERS = ["jit", "c", "vm", "opwise"]
SQUARE = [(0, 0), (1, 1), (2, 2), (5, 5), (33, 33), (2, 3, 3), (0, 3, 3), (2, 2, 2, 2)]
SHAPES = [*SQUARE, (4, 2), (2, 4), (33, 20), (20, 33), (0, 3), (3, 0), (2, 4, 3), (3, 1, 2)]
la = pt.linalg


def t(x):
    return np.swapaxes(x, -1, -2)


def values(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def positive(*shape, seed=0):
    x = values(*shape, seed=seed)
    return x @ t(x) + shape[-1] * np.eye(shape[-1])


def each(function, *arrays, core=2):
    """The results of a function for each matrix of a batch."""
    batch = arrays[0].shape[:-core]
    return [function(*(a[at] for a in arrays)) for at in np.ndindex(batch)]


@pytest.fixture(params=["float32", "float64"])
def dtype(request):
    return request.param


@pytest.fixture(params=LINKERS)
def linker(request):
    return request.param


class Case:
    """Compiles a function of inputs, calls it, and compares the results."""

    def __init__(self, linker, dtype):
        self.linker, self.dtype = linker, dtype
        self.tolerance = 1e-9 if dtype == "float64" else 3e-3

    def __call__(self, function, *arrays, also=()):
        """`also`: dtypes that results may have besides the case's dtype and those of pivots."""
        arrays = [a.astype(self.dtype) if a.dtype.kind == "f" else a for a in arrays]
        variables = [
            pt.tensor(f"x{i}", dtype=a.dtype.name, shape=(None,) * a.ndim)
            for i, a in enumerate(arrays)
        ]
        outputs = function(*variables)
        before = [a.copy() for a in arrays]
        single = not isinstance(outputs, (tuple, list))
        got = bt.function(
            variables,
            outputs if single else list(outputs),
            mode=bt.compile.Mode(linker=self.linker),
        )(*arrays)
        assert all((a == b).all() for a, b in zip(arrays, before))
        for one in [got] if single else got:
            assert one.dtype in (self.dtype, "int32", "int64", *also)
        return got

    def same(self, got, expected):
        np.testing.assert_allclose(got, expected, rtol=self.tolerance, atol=self.tolerance)


@pytest.fixture
def case(linker, dtype):
    return Case(linker, dtype)


@pytest.mark.parametrize("shape", SHAPES)
def test_qr(shape, case):
    a = values(*shape)
    m, n = shape[-2:]
    for mode, width in [("economic", min(m, n)), ("full", m)]:
        q, r = case(lambda x, mode=mode: la.qr(x, mode=mode), a)
        assert q.shape == (*shape[:-1], width) and r.shape == (*shape[:-2], width, n)
        case.same(q @ r, a)
        case.same(t(q) @ q, np.broadcast_to(np.eye(width), (*shape[:-2], width, width)))
        assert (np.tril(r, -1) == 0).all()
        q, r, p = case(lambda x, mode=mode: la.qr(x, mode=mode, pivoting=True), a)
        case.same(q @ r, np.take_along_axis(a, np.broadcast_to(p[..., None, :], shape), -1))
        sizes = np.abs(np.diagonal(r, axis1=-2, axis2=-1))
        assert (np.diff(sizes) <= case.tolerance).all()
    case.same(
        np.abs(case(lambda x: la.qr(x, mode="r"), a)),
        np.abs(case(lambda x: la.qr(x, mode="economic")[1], a)),
    )


def test_raw_qr_agrees_with_lapack(case):
    a = values(5, 3)
    h, tau, r = case(lambda x: la.qr(x, mode="raw"), a)
    (expected_h, expected_tau), expected_r = scipy.linalg.qr(a, mode="raw")
    for got, expected in [(h, expected_h), (tau, expected_tau), (r, expected_r[:3])]:
        case.same(got, expected)


@pytest.mark.parametrize("shape", SHAPES)
def test_svd(shape, case):
    a = values(*shape)
    m, n = shape[-2:]
    k = min(m, n)
    singular = np.linalg.svd(a, compute_uv=False)
    for full in (True, False):
        u, s, vt = case(lambda x, full=full: la.svd(x, full_matrices=full), a)
        assert u.shape[-1] == (m if full else k) and vt.shape[-2] == (n if full else k)
        case.same(u[..., :k] * s[..., None, :] @ vt[..., :k, :], a)
        case.same(t(u) @ u, np.broadcast_to(np.eye(u.shape[-1]), t(u).shape[:-1] + u.shape[-1:]))
        case.same(s, singular)
    case.same(case(lambda x: la.svd(x, compute_uv=False), a), singular)


@pytest.mark.parametrize("shape", [(1, 6), (6, 1), (3, 11), (25, 4), (25, 25), (26, 25), (25, 26)])
@pytest.mark.parametrize("kind", ["float64", "float32", "complex128", "complex64"])
def test_small_svd_of_extreme_magnitudes(shape, kind):
    """Up to 25 rows and columns another algorithm is used, unless squares of elements overflow or underflow."""
    x = pt.tensor("x", dtype=kind, shape=(None, None))
    f = bt.function([x], [*la.svd(x), *la.svd(x, full_matrices=False), la.svd(x, compute_uv=False)])
    near = np.finfo(kind).maxexp // 2
    a = values(*shape) + (1j * values(*shape, seed=1) if kind.startswith("c") else 0)
    for power in [0, near + 8, -near - 8]:
        scaled = (a * 2.0**power).astype(kind)
        U, s, Vh, u, s_thin, vh, alone = (
            each.astype(each.dtype.char.replace("f", "d").replace("F", "D")) for each in f(scaled)
        )
        tolerance = 100 * np.finfo(kind).eps
        expected = np.linalg.svd(a.astype(kind).astype(a.dtype), compute_uv=False) * 2.0**power
        for got in (s, s_thin, alone):
            np.testing.assert_allclose(got, expected, rtol=tolerance * 10)
        k = min(shape)
        for left, right in ((U[:, :k], Vh[:k]), (u, vh)):
            np.testing.assert_allclose((left * (s * 2.0**-power)) @ right, a, atol=tolerance * 5)
        for unitary in (U, Vh, u if k == shape[0] else u.conj().T, vh):
            np.testing.assert_allclose(
                unitary @ unitary.conj().T, np.eye(len(unitary)), atol=tolerance
            )
    assert not any(
        each.any() for each in (f(np.zeros(shape, kind))[1], f(np.zeros(shape, kind))[-1])
    )


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("shape", SQUARE)
def test_eigh(shape, lower, case):
    a = values(*shape)
    read = np.tril(a) if lower else np.triu(a)
    symmetric = read + t(read) - read * np.eye(shape[-1])
    w, v = case(lambda x: la.eigh(x, lower=lower), a)
    case.same(symmetric @ v, v * w[..., None, :])
    case.same(w, np.linalg.eigvalsh(symmetric))
    case.same(case(lambda x: la.eigvalsh(x, lower=lower), a), w)
    b = positive(*shape, seed=2)
    w, v = case(lambda x, y: la.eigh(x, y, lower=lower), a, b)
    case.same(symmetric @ v, b @ v * w[..., None, :])
    case.same(case(lambda x, y: la.eigvalsh(x, y, lower=lower), a, b), w)


@pytest.mark.parametrize("shape", SHAPES)
def test_lu(shape, case):
    a = values(*shape)
    p, l, u = case(la.lu, a)
    case.same(p @ l @ u, a)
    assert (np.triu(l, 1) == 0).all() and (np.tril(u, -1) == 0).all()
    pl, u = case(lambda x: la.lu(x, permute_l=True), a)
    case.same(pl @ u, a)
    p, l, u = case(lambda x: la.lu(x, p_indices=True), a)
    case.same(np.take_along_axis(l @ u, np.broadcast_to(p[..., :, None], shape), -2), a)
    if a.size:
        factors, pivots = case(la.lu_factor, a)
        for (expected, expected_pivots), got, at in zip(
            each(scipy.linalg.lu_factor, a), factors.reshape(-1, *shape[-2:]), range(99)
        ):
            case.same(got, expected)
            assert (pivots.reshape(-1, min(shape[-2:]))[at] == expected_pivots).all()


def test_a_permutation_of_pivots_and_its_inverse():
    pivots = np.array([[2, 3, 2, 3], [0, 1, 2, 3]], "int32")
    x = pt.imatrix()
    got, inverse = bt.function(
        [x], [la.pivot_to_permutation(x), la.pivot_to_permutation(x, inverse=True)]
    )(pivots)
    assert inverse.tolist() == [[2, 3, 0, 1], [0, 1, 2, 3]]
    assert (np.take_along_axis(got, inverse, -1) == np.arange(4)).all()
    with pytest.raises(TypeError, match="integers"):
        la.pivot_to_permutation(pt.dvector())


@pytest.mark.parametrize("shape", SQUARE)
def test_systems_with_every_assumption(shape, case):
    n = shape[-1]
    a, p = values(*shape) + 2 * np.eye(n), positive(*shape)
    matrices = {"gen": a, "sym": a + t(a), "her": a + t(a), "pos": p, "banded": np.tril(np.triu(a, -2), 3), "diagonal": a * np.eye(n),
                "tridiagonal": np.tril(np.triu(a, -1), 1), "lower triangular": np.tril(p), "upper triangular": np.triu(p)}  # fmt: skip
    b, vectors = values(*shape[:-1], 2, seed=1), values(*shape[:-1], seed=2)
    for kind, matrix in matrices.items():
        for transposed in (True, False):
            solve = lambda x, y, **options: la.solve(
                x, y, assume_a=kind, transposed=transposed, **options
            )  # noqa: B023, E731
            read = t(matrix) if transposed else matrix
            case.same(read @ case(solve, matrix, b), b)
            got = case(lambda x, y: solve(x, y, b_ndim=1), matrix, vectors)  # noqa: B023
            case.same((read @ got[..., None])[..., 0], vectors)
    got, transposed = case(
        lambda x, y: [la.lu_solve(la.lu_factor(x), y, trans=trans) for trans in (False, True)], a, b
    )
    case.same(a @ got, b)
    case.same(t(a) @ transposed, b)


def test_only_the_assumed_structure_is_read():
    a, b = values(4, 4) + 4 * np.eye(4), values(4)
    x, y = pt.dmatrix(), pt.dvector()
    for kind, kept, whole in [
        ("sym", np.triu(a), np.triu(a) + np.triu(a, 1).T),
        ("tridiagonal", np.tril(np.triu(a, -1), 1), None),
        ("diagonal", np.diag(np.diag(a)), None),
    ]:
        f = bt.function([x, y], la.solve(x, y, assume_a=kind))
        np.testing.assert_allclose(
            f(np.where(kept == 0, 99.0, kept), b),
            np.linalg.solve(kept if whole is None else whole, b),
        )


def test_a_full_matrix_as_a_banded_one(case):
    a, b = values(20, 20), values(20, 3, seed=1)
    case.same(a @ case(lambda x, y: la.solve(x, y, assume_a="banded"), a, b), b)
    case.same(a.T @ case(lambda x, y: la.solve(x, y, assume_a="banded", transposed=True), a, b), b)


@pytest.mark.parametrize("below, above", [(0, 0), (1, 1), (2, 1), (0, 3), (5, 0)])
@pytest.mark.parametrize("n", [0, 1, 2, 5, 33])
def test_solve_banded_agrees_with_scipy(n, below, above, case):
    ab, b = values(below + above + 1, n), values(n, 2, seed=1)
    ab[above] += 9
    ab[0, : above and 1] = 1e9  # outside the matrix: not read
    expected = scipy.linalg.solve_banded((below, above), ab, b) if n else b
    case.same(case(lambda x, y: la.solve_banded((below, above), x, y), ab, b), expected)
    case.same(case(lambda x, y: la.solve_banded((below, above), x, y), ab, b[:, 0]), expected[:, 0])


@pytest.mark.parametrize("batch", [(0,), (3,), (2, 2)])
def test_banded_systems_in_batches(batch, case):
    ab, b = values(*batch, 3, 5) + np.array([0, 8, 0])[:, None], values(5, 2, seed=1)
    got = case(lambda x, y: la.solve_banded((1, 1), x, y), ab, b)
    assert got.shape == (*batch, 5, 2)
    for at in np.ndindex(batch):
        case.same(got[at], scipy.linalg.solve_banded((1, 1), ab[at], b))


@pytest.mark.parametrize("shape", SQUARE)
def test_tridiagonal_factors(shape, case):
    a, b, vectors = values(*shape), values(*shape[:-1], 2, seed=1), values(*shape[:-1], seed=2)
    a = np.tril(np.triu(a, -1), 1) + 2 * np.eye(shape[-1])
    n = shape[-1]
    factors = case(la.tridiagonal_lu_factor, a)
    assert [each.shape[-1] for each in factors] == [
        max(n - 1, 0),
        n,
        max(n - 1, 0),
        max(n - 2, 0),
        n,
    ]
    gttrf = scipy.linalg.get_lapack_funcs("gttrf", dtype="float64")
    if n > 2:
        for at in np.ndindex(shape[:-2]):
            *expected, pivots, _ = gttrf(*(np.diag(a[at], k) for k in (-1, 0, 1)))
            for got, each_expected in zip(factors, [*expected, pivots - 1]):
                case.same(got[at], each_expected)
    for transposed in (False, True):
        read = t(a) if transposed else a
        solve = lambda x, y, **named: la.tridiagonal_lu_solve(
            la.tridiagonal_lu_factor(x), y, transposed=transposed, **named
        )  # noqa: B023, E731
        case.same(read @ case(solve, a, b), b)
        got = case(lambda x, y: solve(x, y, b_ndim=1), a, vectors)  # noqa: B023
        case.same((read @ got[..., None])[..., 0], vectors)


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 4), (33, 2), (0, 2), (2, 0), (1, 1)])
def test_least_squares(shape, case):
    a = values(*shape)
    for b in (values(shape[0], 2, seed=1), values(shape[0], seed=1)):
        for got, expected in zip(
            case(la.lstsq, a, b), np.linalg.lstsq(a, b, rcond=None), strict=True
        ):
            assert got.shape == np.shape(expected)
            case.same(got, expected)
    case.same(case(la.pinv, a), np.linalg.pinv(a))


def test_rank_deficient_least_squares_have_minimal_norm():
    a = np.outer([1.0, 2, 3], [1.0, 1])
    x, b = pt.dmatrix(), pt.dvector()
    solution, residuals, rank, _ = bt.function([x, b], la.lstsq(x, b))(a, [1.0, 0, 2])
    np.testing.assert_allclose(solution, np.linalg.lstsq(a, [1.0, 0, 2], rcond=None)[0])
    assert rank == 1 and residuals.shape == (0,)
    np.testing.assert_allclose(bt.function([x], la.pinv(x))(a), np.linalg.pinv(a), atol=1e-14)


def test_least_squares_of_a_batch(case):
    a, b = values(3, 4, 2), values(3, 4, 1)
    x, residuals, rank, s = case(la.lstsq, a, b)
    for k in range(3):
        for got, expected in zip((x, residuals, rank, s), np.linalg.lstsq(a[k], b[k], rcond=None)):
            case.same(got[k], expected)


@pytest.mark.parametrize("scale", [1e-3, 1, 30])
@pytest.mark.parametrize("shape", SQUARE)
def test_expm(shape, scale, linker):
    case = Case(linker, "float64")
    a = values(*shape) * scale / max(1, shape[-1])
    got = case(la.expm, a)
    assert got.shape == shape
    for one, expected in (
        zip(got.reshape(-1, *shape[-2:]), each(scipy.linalg.expm, a)) if a.size else []
    ):
        np.testing.assert_allclose(one, expected, rtol=1e-8, atol=1e-10 * np.abs(expected).max())


@pytest.mark.parametrize("shape", SQUARE)
def test_schur(shape, case):
    a = values(*shape)
    for sort in (None, "lhp", "rhp", "iuc", "ouc"):
        upper, z = case(lambda x, sort=sort: la.schur(x, sort=sort), a)
        case.same(z @ upper @ t(z), a)
        assert (np.tril(upper, -2) == 0).all()


def test_sorted_schur_agrees_with_scipy():
    a = values(6, 6)
    x = pt.dmatrix()
    for sort in ("lhp", "rhp", "iuc", "ouc"):
        upper, z = bt.function([x], la.schur(x, sort=sort))(a)
        expected, _, count = scipy.linalg.schur(a, sort=sort)
        np.testing.assert_allclose(np.diag(upper)[:count].sum(), np.diag(expected)[:count].sum())


@pytest.mark.parametrize("shape", SQUARE)
def test_qz(shape, case):
    a, b = values(*shape), positive(*shape, seed=1)
    for sort in (None, "lhp", "rhp", "iuc", "ouc"):
        s, p, alpha, beta, q, z = case(
            lambda x, y, sort=sort: la.ordqz(x, y, sort=sort),
            a,
            b,
            also=[np.result_type(case.dtype, np.complex64)],
        )
        case.same(q @ s @ t(z), a)
        case.same(q @ p @ t(z), b)
        for each_orthogonal in (q, z):
            case.same(
                each_orthogonal @ t(each_orthogonal), np.broadcast_to(np.eye(shape[-1]), shape)
            )
        assert (np.tril(s, -2) == 0).all() and (np.tril(p, -1) == 0).all()
        assert alpha.dtype == np.result_type(case.dtype, np.complex64)
        eigenvalues = alpha / beta
        chosen = {
            None: eigenvalues.real < np.inf,
            "lhp": eigenvalues.real < 0,
            "rhp": eigenvalues.real > 0,
            "iuc": np.abs(eigenvalues) < 1,
            "ouc": np.abs(eigenvalues) > 1,
        }[sort]
        assert (np.diff(chosen.astype(int), axis=-1) <= 0).all()
        if a.ndim == 2 and case.dtype == "float64" and shape[-1]:
            distances = np.abs(eigenvalues - scipy.linalg.eigvals(a, b)[:, None])
            assert max(distances.min(0).max(), distances.min(1).max()) < 1e-9


def test_qz_with_and_without_infinite_eigenvalues():
    a, b = values(3, 3), np.diag([1.0, 0.0, 2.0])
    x, y = pt.dmatrices(2)
    s, p, q, z = bt.function([x, y], la.qz(x, y))(a, b)
    np.testing.assert_allclose([q @ s @ z.T, q @ p @ z.T], [a, b], atol=1e-14)
    beta = bt.function([x, y], la.qz(x, y, return_eigenvalues=True)[3])(a, b)
    assert (np.abs(beta) < 1e-14).sum() == 1


@pytest.mark.parametrize("shape", [s for s in SQUARE if s[-1] < 10])
def test_continuous_riccati_equations(shape, case):
    n = shape[-1]
    a, b, weight, cost = (
        values(*shape),
        values(*shape, seed=1)[..., :2],
        positive(*shape, seed=2),
        positive(*shape, seed=3)[..., :2, :2],
    )
    x = case(la.solve_continuous_are, a, b, weight, cost)
    for at in np.ndindex(shape[:-2]) if n else []:
        case.same(x[at], scipy.linalg.solve_continuous_are(a[at], b[at], weight[at], cost[at]))
    assert x.shape == shape


@pytest.mark.parametrize("shape", [s for s in SQUARE if s[-1] < 10])
def test_matrix_equations(shape, case):
    n = shape[-1]
    a, b, q = values(*shape) + 2 * n * np.eye(n), positive(*shape), values(*shape, seed=3)
    x = case(la.solve_sylvester, a, b, q)
    case.same(a @ x + x @ b, q)
    x = case(la.solve_continuous_lyapunov, a, q)
    case.same(a @ x + x @ t(a), q)
    small = values(*shape) / 5
    for method in ("direct", "bilinear"):
        x = case(
            lambda y, z, method=method: la.solve_discrete_lyapunov(y, z, method=method), small, q
        )
        case.same(small @ x @ t(small) - x + q, 0 * q)
    weight, cost = np.broadcast_to(np.eye(n), shape), b[..., :2, :2]
    x = case(la.solve_discrete_are, a / n if n else a, q[..., :2], weight, cost)
    arrays = (
        [each(lambda *m: scipy.linalg.solve_discrete_are(*m), a / n, q[..., :2], weight, cost)]
        if a.size
        else []
    )
    for expected in arrays:
        case.same(x.reshape(-1, n, n), expected)


@pytest.mark.parametrize("shape", [s for s in SQUARE if s[-1] < 10])
def test_powers_and_products(shape, case):
    a = values(*shape)
    powers = [0, 1, 2, 3, 6]
    for got, k in zip(case(lambda x: [la.matrix_power(x, k) for k in powers], a), powers):
        case.same(got, np.linalg.matrix_power(a, k))
    b = positive(*shape)
    case.same(case(lambda x: la.matrix_power(x, -2), b), np.linalg.matrix_power(b, -2))
    if a.ndim == 2:
        case.same(case(la.matrix_dot, a, b, a), a @ b @ a)


@pytest.mark.parametrize("shape", [(4, 2), (3, 3), (2, 3, 4)])
def test_norms_agree_with_numpy(shape, case):
    a = values(*shape)
    inf = np.inf
    orders = [None, "fro", "nuc", 1, -1, 2, -2, inf, -inf]
    for axis in [(-2, -1), (-1, -2), (0, 1)]:
        for keepdims in (True, False):
            got = case(lambda x: [la.norm(x, o, axis=axis, keepdims=keepdims) for o in orders], a)  # noqa: B023
            for one, order in zip(got, orders):
                case.same(one, np.linalg.norm(a, order, axis=axis, keepdims=keepdims))
    orders = [None, 0, 1, -1, 2, 3, 0.5, inf, -inf]
    for axis in (0, -1):
        for one, order in zip(
            case(lambda x: [la.norm(x, o, axis=axis) for o in orders], a), orders
        ):  # noqa: B023
            case.same(one, np.linalg.norm(a, order, axis=axis))
    case.same(case(la.norm, a), np.linalg.norm(a))
    case.same(case(lambda x: la.norm(x, keepdims=True), a), np.linalg.norm(a, keepdims=True))


@pytest.mark.parametrize("shape", [(0, 0), (0, 2), (2, 0)])
def test_norms_of_empty_arrays_agree_with_numpy(shape, case):
    for order in [None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf]:
        try:
            expected = np.linalg.norm(np.zeros(shape), order)
        except ValueError:
            with pytest.raises(ValueError):
                case(lambda x, order=order: la.norm(x, order), np.zeros(shape))
            continue
        case.same(case(lambda x, order=order: la.norm(x, order), np.zeros(shape)), expected)
    case.same(case(lambda x: la.norm(x, np.inf, axis=1), np.zeros((2, 0))), np.zeros(2))


def test_invalid_norms_are_rejected():
    x = pt.dtensor3()
    for arguments, message in [
        (dict(ord="fro"), "one or two axes"),
        (dict(ord=2), "one or two axes"),
        (dict(ord="other"), "fro"),
        (dict(ord=3, axis=(0, 1)), "ord 1, -1"),
        (dict(ord="nuc", axis=1), "two axes"),
        (dict(axis=(1, 1)), "the same"),
    ]:
        with pytest.raises(ValueError, match=message):
            la.norm(x, **arguments)


def test_tensors_as_matrices(case):
    a = np.eye(24).reshape(4, 6, 8, 3) + values(4, 6, 8, 3) / 10
    case.same(case(la.tensorinv, a), np.linalg.tensorinv(a))
    case.same(
        case(lambda x: la.tensorinv(x, ind=1), a.reshape(24, 8, 3)),
        np.linalg.tensorinv(a.reshape(24, 8, 3), ind=1),
    )
    b = values(4, 6)
    case.same(case(la.tensorsolve, a, b), np.linalg.tensorsolve(a, b))
    moved = np.moveaxis(a, -1, 0).copy()
    case.same(
        case(lambda x, y: la.tensorsolve(x, y, axes=(0,)), moved, b),
        np.linalg.tensorsolve(moved, b, axes=(0,)),
    )


def test_blocks_along_the_diagonal(case):
    parts = [values(2, 3), values(1, 1), values(0, 2), values(2, 2)]
    case.same(case(la.block_diag, *parts), scipy.linalg.block_diag(*parts))
    batch = values(3, 2, 2)
    got = case(la.block_diag, batch, parts[0])
    for k in range(3):
        case.same(got[k], scipy.linalg.block_diag(batch[k], parts[0]))
    with pytest.raises(ValueError, match="at least one"):
        la.block_diag()


# ---- derivatives -----------------------------------------------------------------------------------------------------


def weighted(*outputs):
    """A loss that depends on the elements of the outputs, but not on the signs of their columns or rows."""
    rng = np.random.default_rng(7)
    return sum(
        (out**2 * pt.as_tensor(rng.normal(size=99)[: np.prod(shape)].reshape(shape))).sum()
        for out, shape in outputs
    )


LOSSES = {
    "qr": (lambda x: weighted(*zip(la.qr(x, "economic"), [(4, 3), (3, 3)])), (4, 3)),
    "qr wide": (lambda x: weighted(*zip(la.qr(x, "economic"), [(3, 3), (3, 4)])), (3, 4)),
    "svd": (
        lambda x: weighted(*zip(la.svd(x, full_matrices=False), [(4, 3), (3,), (3, 3)])),
        (4, 3),
    ),
    "svdvals": (lambda x: weighted((la.svd(x, compute_uv=False), (3,))), (3, 4)),
    "eigh": (lambda x: weighted(*zip(la.eigh(x + x.T), [(3,), (3, 3)])), (3, 3)),
    "eigh of two": (
        lambda x: weighted(*zip(la.eigh(x + x.T, x @ x.T + 3 * np.eye(3)), [(3,), (3, 3)])),
        (3, 3),
    ),
    "eigvalsh": (lambda x: weighted((la.eigvalsh(x @ x.T), (3,))), (3, 3)),
    "lu": (lambda x: weighted(*zip(la.lu(x)[1:], [(4, 3), (3, 3)])), (4, 3)),
    "lu_solve": (lambda x: weighted((la.lu_solve(la.lu_factor(x), x[0]), (3,))), (3, 3)),
    "pinv": (lambda x: weighted((la.pinv(x), (3, 4))), (4, 3)),
    "lstsq": (lambda x: weighted((la.lstsq(x, x[:, 0] ** 2)[0], (3,))), (4, 3)),
    "residuals": (lambda x: la.lstsq(x, pt.exp(x[:, :2]))[1].sum(), (5, 3)),
    "expm": (lambda x: weighted((la.expm(x), (3, 3))), (3, 3)),
    "sylvester": (
        lambda x: weighted((la.solve_sylvester(x @ x.T + np.eye(3), x @ x.T, x), (3, 3))),
        (3, 3),
    ),
    "lyapunov": (lambda x: weighted((la.solve_discrete_lyapunov(x / 5, x), (3, 3))), (3, 3)),
    "lyapunov direct": (
        lambda x: weighted((la.solve_discrete_lyapunov(x / 5, x, "direct"), (3, 3))),
        (3, 3),
    ),
    "riccati": (
        lambda x: weighted((la.solve_discrete_are(x / 2, x[:, :2], np.eye(3), np.eye(2)), (3, 3))),
        (3, 3),
    ),
    "continuous riccati": (
        lambda x: weighted(
            (la.solve_continuous_are(x / 2, x[:, :2], np.eye(3), x[:2, :2]), (3, 3))
        ),
        (3, 3),
    ),
    "banded": (
        lambda x: weighted((la.solve(x, x[0], assume_a="banded", transposed=True), (3,))),
        (3, 3),
    ),
    "solve_banded": (lambda x: weighted((la.solve_banded((1, 2), x, x[0]), (4,))), (4, 4)),
    "tridiagonal factors": (
        lambda x: weighted(
            (la.tridiagonal_lu_solve(la.tridiagonal_lu_factor(np.diag([4.0, 5, 6])), x), (3, 3))
        ),
        (3, 3),
    ),
    "tridiagonal": (lambda x: weighted((la.solve(x, x[0], assume_a="tridiagonal"), (3,))), (3, 3)),
    "symmetric": (lambda x: weighted((la.solve(x, x[0], assume_a="sym"), (3,))), (3, 3)),
    "power": (lambda x: weighted((la.matrix_power(x, 3), (3, 3))), (3, 3)),
    "nuclear norm": (lambda x: la.norm(x, "nuc"), (3, 4)),
    "tensorinv": (
        lambda x: weighted((la.tensorinv(x.reshape((3, 3, 1)), ind=1), (3, 1, 3))),
        (3, 3),
    ),
    "block_diag": (lambda x: weighted((la.block_diag(x, x**2), (6, 6))), (3, 3)),
}


@pytest.mark.parametrize("name", LOSSES)
def test_first_and_second_derivatives_agree_with_differences(name):
    loss, shape = LOSSES[name]
    point = values(*shape, seed=5) + 2 * np.eye(*shape)
    direction, other = values(*shape, seed=6), values(*shape, seed=8)
    x = pt.dmatrix("x")
    gradient = bt.grad(loss(x), x)
    curved = bt.grad((gradient * other).sum(), x)
    tangent = bt.gradient.pushforward(loss(x), x, pt.as_tensor(direction))
    f = bt.function([x], [loss(x), gradient, curved, tangent])
    step = 1e-5
    ahead, behind = f(point + step * direction), f(point - step * direction)
    _, first, second, along = f(point)
    np.testing.assert_allclose(
        (first * direction).sum(), (ahead[0] - behind[0]) / (2 * step), rtol=1e-6, atol=1e-7
    )
    np.testing.assert_allclose(along, (first * direction).sum(), rtol=1e-9, atol=1e-10)
    numeric = ((ahead[1] - behind[1]) * other).sum() / (2 * step)
    np.testing.assert_allclose((second * direction).sum(), numeric, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "name",
    [
        "qr",
        "svd",
        "eigh",
        "lu",
        "pinv",
        "expm",
        "riccati",
        "continuous riccati",
        "banded",
        "solve_banded",
    ],
)
def test_gradients_of_a_batch(name):
    loss, shape = LOSSES[name]
    points = np.stack([values(*shape, seed=k) + 2 * np.eye(*shape) for k in range(3)])
    x, batch = pt.dmatrix("x"), pt.dtensor3("batch")
    each_gradient = bt.function([x], bt.grad(loss(x), x))
    out = bt.graph.vectorize_graph(loss(x), {x: batch})
    got = bt.function([batch], bt.grad(out.sum(), batch))(points)
    np.testing.assert_allclose(got, [each_gradient(p) for p in points], rtol=1e-9, atol=1e-11)


def test_equal_values_have_derivatives_unless_the_loss_uses_their_vectors():
    x = pt.dmatrix("x")
    w, v = la.eigh(x)
    a = np.diag([2.0, 2.0, 5.0])
    gradient = lambda loss, at: bt.function([x], bt.grad(loss, x))(at)  # noqa: E731
    # Of the last vector only: finite differences agree.
    got, step = gradient(v[0, 2] * v[2, 2], a), 1e-6
    nudged = a.copy()
    nudged[2, 0] += step
    f = bt.function([x], v[0, 2] * v[2, 2])
    np.testing.assert_allclose(got[2, 0], (f(nudged) - f(a)) / step, rtol=1e-5)
    assert np.isfinite(got).all()
    u, s, vt = la.svd(x, full_matrices=False)
    tall = np.concatenate([a, np.zeros((1, 3))])
    got = gradient(u[3, 0] * vt[0, 0] + u[3, 0] * u[2, 0], tall)
    np.testing.assert_allclose(got[3, 2], 0.2, rtol=1e-9)
    assert np.isfinite(got).all()
    assert np.isfinite(gradient(w.sum() + s.sum(), np.eye(3))).all()
    # A loss that uses the vectors of equal values has no derivative; neither has one that is a smooth function of the
    # matrix, since the pullbacks cannot detect this.
    for loss, at in [
        (v[0, 0], a),
        (u[0, 0], np.eye(3)),
        (((v * pt.exp(w)) @ v.T)[0, 1], a),
        (((u * s) @ vt)[0, 1], np.eye(3)),
    ]:
        assert np.isnan(gradient(loss, at)).any()


def test_missing_derivatives_are_errors():
    x = pt.dmatrix("x")
    factors = la.tridiagonal_lu_factor(x)
    for y in (
        la.qr(x)[0],
        la.qr(x, "raw")[0],
        la.svd(x)[0],
        la.schur(x)[0],
        la.qz(x, x)[0],
        factors[1],
        la.tridiagonal_lu_solve(factors, x),
    ):
        with pytest.raises(
            (TypeError, ValueError, NotImplementedError, bt.gradient.NullTypeGradError)
        ):
            bt.function([x], bt.grad(y.sum(), x))


# ---- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_nan_gives_nan_and_terminates(bad, linker):
    x = pt.dmatrix()
    outputs = [*la.qr(x), *la.svd(x), *la.eigh(x), la.expm(x), *la.schur(x), la.pinv(x), la.svd(x, compute_uv=False), la.eigvalsh(x),
               la.solve_sylvester(x, x, x), la.solve_discrete_are(x, x, x, x), la.lstsq(x, x)[0],
               la.solve_continuous_are(x, x, x, x), la.solve(x, x, assume_a="banded"), *la.qz(x, x)]  # fmt: skip
    f = bt.function([x], outputs, mode=bt.compile.Mode(linker=linker))
    for n in (3, 40):
        value = values(n, n)
        value[n - 1, 1] = bad
        assert all(np.isnan(out).all() for out in f(value))


def test_integers_are_computed_in_float64():
    x = pt.lmatrix()
    value = np.array([[4, 1], [1, 3]])
    for function in (
        la.eigvalsh,
        la.expm,
        la.pinv,
        lambda v: la.svd(v)[1],
        lambda v: la.qr(v)[1],
        lambda v: la.norm(v),
    ):
        got = bt.function([x], function(x))(value)
        assert got.dtype == "float64"
    np.testing.assert_allclose(
        bt.function([x], la.eigvalsh(x))(value), np.linalg.eigvalsh(value.astype(float))
    )


@pytest.mark.parametrize(
    "function", [la.eigh, la.eigvalsh, la.expm, la.schur, la.inv, la.det, lambda x: la.qz(x, x)]
)
def test_non_square_matrices_are_rejected(function, linker):
    with pytest.raises(ValueError, match="square"):
        function(pt.tensor("x", dtype="float64", shape=(3, 4)))
    with pytest.raises(ValueError, match="matrix"):
        function(pt.dvector())
    x = pt.dmatrix("x")
    out = function(x)
    f = bt.function(
        [x], list(out) if isinstance(out, tuple) else out, mode=bt.compile.Mode(linker=linker)
    )
    with pytest.raises(ValueError, match="square"):
        f(np.ones((3, 4)))


def test_mismatched_sizes_are_rejected(linker):
    x, y = pt.dmatrix("x"), pt.dmatrix("y")
    mode = bt.compile.Mode(linker=linker)
    for function, message in [
        (lambda: la.lstsq(x, y)[0], r"lstsq: expected inputs of the shapes \(m,n\),\(m,k\)"),
        (lambda: la.solve_sylvester(x, x, y), "solve_sylvester"),
        (lambda: la.solve_discrete_are(x, y, x, x), "solve_discrete_are"),
        (lambda: la.solve_continuous_are(x, y, x, x), "solve_continuous_are"),
        (lambda: la.solve_banded((1, 1), x, y), "solve_banded"),
        (lambda: la.solve_banded((2, 1), x, y), "4 diagonals"),
        (lambda: la.tridiagonal_lu_solve(la.tridiagonal_lu_factor(x), y), "tridiagonal_lu_solve"),
        (
            lambda: la.solve(x, y, assume_a="banded"),
            r"solve: expected inputs of the shapes \(m,m\),\(m,k\)",
        ),
        (lambda: la.qz(x, y)[0], "qz: expected"),
    ]:
        with pytest.raises(ValueError, match=message):
            bt.function([x, y], function(), mode=mode)(np.eye(3), np.ones((4, 2)))


def test_invalid_bands_and_factors_are_rejected():
    x = pt.dmatrix("x")
    for call, kind, message in [
        (lambda: la.solve_banded((-1, 0), x, x), ValueError, "negative"),
        (lambda: la.solve_banded((1, 1, 1), x, x), TypeError, "expected the pair"),
        (
            lambda: la.solve_banded((1, 1), np.eye(4), x),
            ValueError,
            "3 diagonals, 1 below and 1 above",
        ),
        (
            lambda: la.tridiagonal_lu_solve(la.tridiagonal_lu_factor(x)[:4], x),
            TypeError,
            "expected the factors .*, got 4 elements",
        ),
        (lambda: la.tridiagonal_lu_factor(pt.dvector()), ValueError, "matrix"),
        (lambda: la.qz(x, x, sort="up"), ValueError, "lhp"),
        (lambda: la.qz(x, x, output="other"), ValueError, "complex"),
    ]:
        with pytest.raises(kind, match=message):
            call()


def test_invalid_pivots_are_rejected(linker):
    x, pivots = pt.dmatrix("x"), pt.ivector("pivots")
    factors = [*la.tridiagonal_lu_factor(x)[:4], pivots]
    f = bt.function(
        [x, pivots], la.tridiagonal_lu_solve(factors, x), mode=bt.compile.Mode(linker=linker)
    )
    f(np.eye(3), [0, 1, 2])
    for bad in ([0, 3, 2], [-1, 1, 2], [2, 1, 2], [0, 1, 3]):
        with pytest.raises(np.linalg.LinAlgError, match="singular, or these are no factors|pivots"):
            f(np.eye(3), bad)


def test_errors_name_the_matrix_of_a_batch(linker):
    mode = bt.compile.Mode(linker=linker)
    a = np.stack([np.eye(2), -np.eye(2), np.eye(2)])
    x = pt.dtensor3("x")
    with pytest.raises(np.linalg.LinAlgError, match=r"(?s)no unique solution.*\[1\] of \[3\]"):
        bt.function([x], la.solve_sylvester(x, pt.as_tensor(np.eye(2)), x), mode=mode)(a)
    a[1] = 0
    with pytest.raises(np.linalg.LinAlgError, match=r"(?s)singular.*\[1\] of \[3\]"):
        bt.function([x], la.solve(x, x, assume_a="tridiagonal"), mode=mode)(a)


def test_a_riccati_equation_without_a_solution_is_an_error(linker):
    x = pt.dmatrix("x")
    for solve in (la.solve_discrete_are, la.solve_continuous_are):
        f = bt.function(
            [x],
            solve(x, pt.zeros_like(x), np.eye(2), np.eye(2)),
            mode=bt.compile.Mode(linker=linker),
        )
        with pytest.raises(np.linalg.LinAlgError, match="stabilising"):
            f(2 * np.eye(2))


def test_singular_systems_give_nan_on_request(linker, dtype):
    mode = bt.compile.Mode(linker=linker)
    for n in (2, 20):
        a = np.stack([np.eye(n), np.zeros((n, n)), 2 * np.eye(n)]).astype(dtype)
        b = np.ones((3, n, 2), dtype)
        x, y = (
            pt.tensor("x", dtype=dtype, shape=(None,) * 3),
            pt.tensor("y", dtype=dtype, shape=(None,) * 3),
        )
        for kind in [
            "gen",
            "sym",
            "pos",
            "banded",
            "diagonal",
            "tridiagonal",
            "lower triangular",
            "upper triangular",
        ]:
            got = bt.function([x, y], la.solve(x, y, assume_a=kind, on_error="nan"), mode=mode)(
                a, b
            )
            assert np.isnan(got[1]).all() and (got[0] == 1).all()
            np.testing.assert_allclose(got[2], 0.5, rtol=1e-6)
            with pytest.raises(np.linalg.LinAlgError, match=r"\[1\] of \[3\]"):
                bt.function([x, y], la.solve(x, y, assume_a=kind), mode=mode)(a, b)
        with pytest.raises(np.linalg.LinAlgError, match=r"(?s)singular.*\[1\] of \[3\]"):
            bt.function(
                [x, y],
                la.solve_banded((0, 0), pt.diagonal(x, axis1=-2, axis2=-1)[:, None], y),
                mode=mode,
            )(a, b)
        with pytest.raises(np.linalg.LinAlgError, match=r"(?s)singular.*\[1\] of \[3\]"):
            bt.function([x, y], la.tridiagonal_lu_solve(la.tridiagonal_lu_factor(x), y), mode=mode)(
                a, b
            )
        got = bt.function([x, y], la.solve_triangular(x, y, on_error="nan"), mode=mode)(a, b)
        assert np.isnan(got[1]).all() and (got[0] == 1).all()
    with pytest.raises(ValueError, match="on_error"):
        la.solve(x, y, on_error="ignore")


def test_errors_name_invalid_choices():
    x = pt.dmatrix()
    with pytest.raises(ValueError, match="output"):
        la.qz(x, x, output="other")
    with pytest.raises(ValueError, match="assume_a"):
        la.solve(x, x, assume_a="other")
    with pytest.raises(ValueError, match="mode"):
        la.qr(x, mode="other")


UNIT, TALL, ZERO = np.eye(3), np.ones((3, 2)), np.zeros((3, 3))
# composed of other ops: the function, matrices of wrong sizes, and matrices of correct sizes for which it fails
COMPOSED = {
    "solve_discrete_lyapunov": (
        la.solve_discrete_lyapunov,
        [(TALL, UNIT), (UNIT, np.eye(2)), (UNIT, TALL)],
        (UNIT, UNIT),
    ),
    "solve_continuous_lyapunov": (
        la.solve_continuous_lyapunov,
        [(TALL, UNIT), (UNIT, np.eye(2))],
        (ZERO, UNIT),
    ),
    "eigh": (la.eigh, [(TALL, UNIT), (UNIT, TALL), (UNIT, np.eye(2))], (UNIT, -UNIT)),
    "eigvalsh": (la.eigvalsh, [(TALL, UNIT), (UNIT, np.eye(2))], (UNIT, -UNIT)),
    "lu_solve": (
        lambda a, b: la.lu_solve((a, np.arange(3, dtype="int32")), b),
        [(TALL, UNIT), (UNIT, np.ones((2, 2)))],
        (ZERO, UNIT),
    ),
    "cho_solve": (lambda a, b: la.cho_solve((a, True), b), [], (ZERO, UNIT)),
    "matrix_power": (lambda a: la.matrix_power(a, 3), [(TALL,)], None),
    "matrix_power -2": (lambda a: la.matrix_power(a, -2), [(TALL,)], (ZERO,)),
    "matrix_power 0": (lambda a: la.matrix_power(a, 0), [(TALL,), (TALL.T,)], None),
    "tensorinv": (lambda a: la.tensorinv(a, ind=1), [(TALL,)], (ZERO,)),
    "tensorsolve": (la.tensorsolve, [(TALL, np.ones(3))], (ZERO, np.ones(3))),
    "inv": (la.inv, [], (ZERO,)),
    "solve sym": (lambda a, b: la.solve(a, b, assume_a="sym"), [(TALL, UNIT)], (ZERO, UNIT)),
    "solve pos": (lambda a, b: la.solve(a, b, assume_a="pos"), [], (ZERO, UNIT)),
}


@pytest.mark.parametrize("complex_too", [False, True])
@pytest.mark.parametrize("name", COMPOSED)
def test_errors_name_the_function_that_was_called(name, complex_too):
    """Composed functions check sizes themselves; if an inner op fails, the error names the composed function."""
    function, of_wrong_sizes, failing = COMPOSED[name]
    called = name.split()[0]
    for arrays in [*of_wrong_sizes, *([failing] if failing else [])]:
        kind = np.linalg.LinAlgError if arrays is failing else ValueError
        arrays = [array.astype("complex128") for array in arrays] if complex_too else arrays
        for static in [False, True]:
            with pytest.raises(kind) as error:
                inputs = [
                    pt.tensor(
                        f"x{i}", dtype=a.dtype.name, shape=a.shape if static else (None,) * a.ndim
                    )
                    for i, a in enumerate(arrays)
                ]
                bt.function(inputs, function(*inputs))(*arrays)
            first = str(error.value).splitlines()[0]
            assert first.startswith(f"{called}: ") or f", by `{called}`" in str(error.value), str(
                error.value
            )


def test_determinants_beside_factorizations_want_square_matrices():
    a = pt.matrix("a")
    det, log = pt.linalg.det(a), pt.linalg.slogdet(a)[1]
    for outputs in (
        [pt.sign(det), pt.log(pt.abs(det))],
        [det, pt.linalg.lu_factor(a)[0]],
        [log, pt.linalg.svd(a, compute_uv=False)],
    ):
        f = bt.function([a], outputs)
        for shape in (2, 3), (3, 2):
            with pytest.raises(ValueError, match="square"):
                f(np.ones(shape))
        f(np.eye(3))

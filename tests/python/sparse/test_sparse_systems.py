"""solve_triangular and solve under SciPy's options: values beside SciPy's, derivatives beside those of dense matrices, and errors."""

import itertools

import numpy as np
import pytest
import scipy.linalg

import bitale as bt
import bitale.tensor as pt
from bitale import sparse

sp = pytest.importorskip("scipy.sparse")
from scipy.sparse.linalg import spsolve_triangular  # noqa: E402

n = 7


def square(dtype, seed=0, heavy=2.0):
    """With a full diagonal and elements on both sides of it."""
    rng = np.random.default_rng(seed)
    dense = np.where(rng.random((n, n)) < 0.4, rng.normal(size=(n, n)), 0) + np.diag(
        rng.uniform(heavy, heavy + 1, n)
    )
    if np.dtype(dtype).kind == "c":
        dense = dense + 1j * np.where(dense != 0, rng.normal(size=(n, n)), 0)
    return (
        sp.csr_array(np.round(2 * dense)).astype(dtype)
        if np.dtype(dtype).kind in "iu"
        else sp.csr_array(dense).astype(dtype)
    )


def right(shape, dtype, seed=1):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=shape) + (
        1j * rng.normal(size=shape) if np.dtype(dtype).kind == "c" else 0
    )
    return (4 * values).astype(dtype)


def tolerance(*dtypes):
    return 1e-4 if any(np.dtype(d).name in ("float32", "complex64") for d in dtypes) else 1e-11


TRANS = [(0, 0), ("N", 0), (False, 0), (1, 1), ("T", 1), (True, 1), (2, 2), ("C", 2), ("H", 2)]


@pytest.mark.parametrize(
    ("format", "dtype"),
    [
        *itertools.product(
            ["csr", "csc"], ["float64", "float32", "int32", "complex64", "complex128"]
        ),
        ("coo", "float64"),
        ("bsr", "float64"),
    ],
)
def test_triangles_as_scipy_solves_them(format, dtype):
    value = square(dtype).asformat(format)
    options = list(itertools.product((True, False), (True, False)))
    for b_dtype, shape in (
        (dtype, (n,)),
        ("float64", (n, 3)),
        ("complex128", (n,)),
        ("float64", (n, 0)),
    ):
        b = right(shape, b_dtype)
        common = np.result_type(
            dtype, b_dtype, "float32" if dtype in ("float32", "complex64") else "float64"
        )
        v = pt.as_tensor_variable(b).type("b")
        for A in (
            sparse.matrix(format, "A", dtype, pattern=value),
            sparse.matrix(format, "A", dtype),
        ):
            f = bt.function(
                [A, v],
                [
                    sparse.linalg.solve_triangular(A, v, lower=lower, unit_diagonal=unit)
                    for lower, unit in options
                ],
            )
            for x, (lower, unit) in zip(f(value, b), options):
                triangle = sp.csr_array((sp.tril if lower else sp.triu)(value)).astype(common)
                expected = (
                    spsolve_triangular(triangle, b.astype(common), lower=lower, unit_diagonal=unit)
                    if b.size
                    else b
                )
                assert x.dtype == common and x.shape == b.shape
                np.testing.assert_allclose(
                    x, expected, rtol=tolerance(common), atol=tolerance(common)
                )


@pytest.mark.parametrize("trans", [0, "N", 1, "T", 2, "C"])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("static", [True, False])
def test_transposed_triangles_as_dense_ones(static, dtype, trans):
    value, b, B = square(dtype), right(n, "float64"), right((n, 2), "complex128")
    A = (
        sparse.matrix("csc", "A", dtype, pattern=value.tocsc())
        if static
        else sparse.matrix("csc", "A", dtype)
    )
    for lower, unit_diagonal in itertools.product((True, False), (True, False)):
        options = {"lower": lower, "trans": trans, "unit_diagonal": unit_diagonal}
        f = bt.function(
            [A], [sparse.linalg.solve_triangular(A, each, **options) for each in (b, B)]
        )
        for own, each in zip(f(value), (b, B)):
            np.testing.assert_allclose(
                own,
                scipy.linalg.solve_triangular(value.toarray(), each, **options),
                rtol=1e-11,
                atol=1e-12,
            )


@pytest.mark.parametrize("trans", [0, 1, 2])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("static", [True, False])
def test_derivatives_of_triangles(static, dtype, trans):
    value, b = square(dtype), right(n, dtype)
    rows, columns = np.repeat(np.arange(n), np.diff(value.indptr)), value.indices
    v, M = pt.vector("b", dtype=dtype), pt.matrix("M", dtype=dtype)
    A = (
        sparse.matrix("csr", "A", dtype, pattern=value)
        if static
        else sparse.matrix("csr", "A", dtype)
    )
    for lower, unit_diagonal in itertools.product((True, False), (True, False)):
        options = {"lower": lower, "trans": trans, "unit_diagonal": unit_diagonal}
        k = 1 if unit_diagonal else 0
        triangle = (pt.tril(M, -k) if lower else pt.triu(M, k)) + pt.eye(n) * k
        plain = pt.linalg.solve((triangle, triangle.T, triangle.conj().T)[trans], v)
        results = []
        for argument, leaf, x in (
            (A, A.data, sparse.linalg.solve_triangular(A, v, **options)),
            (M, M, plain),
        ):
            cost = (pt.real(x) ** 2 * np.arange(n)).sum() + (
                pt.imag(x) * pt.real(x) ** 2 + pt.sin(pt.real(x))
            ).sum()
            by_leaf, by_b = pt.grad(cost, leaf), pt.grad(cost, v)
            second = pt.grad(
                (pt.real(by_b) * np.arange(n)).sum() + (pt.real(by_leaf) ** 2).sum(), leaf
            )
            results.append(bt.function([argument, v], [by_leaf, by_b, second]))
        own, dense = (
            results[0](value, b),
            [np.array(each) for each in results[1](value.toarray(), b)],
        )
        # The second derivative squares elements that are not stored too, so only stored ones are given to it.
        np.testing.assert_allclose(own[0], dense[0][rows, columns], rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(own[1], dense[1], rtol=1e-9, atol=1e-11)
        if unit_diagonal:
            assert not own[0][rows == columns].any() and not own[2][rows == columns].any()


@pytest.mark.parametrize("static", [True, False])
@pytest.mark.parametrize("unit_diagonal", [True, False])
def test_all_derivatives_of_triangles_by_differences(static, unit_diagonal):
    """Of third order, forward and backward."""
    value = square("float64")
    A = sparse.matrix("csr", "A", pattern=value) if static else sparse.matrix("csr", "A")
    direction = np.random.default_rng(5).normal(size=value.nnz)
    t = pt.dscalar("t")
    x = sparse.linalg.solve_triangular(
        A.with_data(A.data + t * direction),
        pt.constant(right(n, "float64")),
        trans=1,
        unit_diagonal=unit_diagonal,
    )
    orders = [(x * np.arange(n)).sum()]
    for _ in range(3):
        orders.append(pt.grad(orders[-1], t))
    orders.append(bt.pushforward(orders[0], t, pt.constant(1.0)))
    f = bt.function([A, t], orders)
    at, step = 0.1, 1e-4
    up, down, here = f(value, at + step), f(value, at - step), f(value, at)
    for k in range(3):
        np.testing.assert_allclose(here[k + 1], (up[k] - down[k]) / (2 * step), rtol=1e-5)
    np.testing.assert_allclose(here[4], here[1], rtol=1e-12)


def test_what_a_unit_diagonal_ignores():
    """Zeros, nan and absent elements on the diagonal, and the other triangle."""
    dense = np.array([[np.nan, 5.0, np.inf], [2.0, 0.0, 1.0], [0.0, 3.0, 0.0]])
    value = sp.csr_array(dense)
    expected = scipy.linalg.solve_triangular(
        np.tril(dense, -1) + np.eye(3), [1.0, 2.0, 3.0], lower=True
    )
    for A in (sparse.matrix("csr", "A", pattern=value), sparse.matrix("csr", "A")):
        x = sparse.linalg.solve_triangular(A, np.array([1.0, 2.0, 3.0]), unit_diagonal=True)
        own, slope = bt.function([A], [x, pt.grad(x.sum(), A.data)])(value)
        np.testing.assert_allclose(own, expected)
        by_position = sp.csr_array((slope, value.indices, value.indptr), shape=(3, 3)).toarray()
        assert np.isfinite(slope).all() and not np.triu(by_position).any()
    for A in (sparse.matrix("csr", "A", pattern=sp.csr_array((3, 3))), sparse.matrix("csr", "A")):
        np.testing.assert_array_equal(
            bt.function([A], sparse.linalg.solve_triangular(A, np.ones(3), unit_diagonal=True))(
                sp.csr_array((3, 3))
            ),
            np.ones(3),
        )
    assert sparse.linalg.solve_triangular(
        sparse.constant(sp.csr_array((0, 0))), np.zeros(0), unit_diagonal=True
    ).eval().shape == (0,)


def test_batches_of_triangles():
    value, B = square("float64"), right((4, n), "float64")
    A, b, scales = sparse.constant(value), pt.dvector("b"), pt.dvector("scales")
    s = pt.dscalar("s")
    x = sparse.linalg.solve_triangular(A * s, b, trans="T", unit_diagonal=True)
    batched = bt.graph.replace.vectorize_graph(x, {b: pt.constant(B), s: scales})
    found = bt.function([scales], batched)([1.0, 2.0, -1.0, 0.5])
    for k, scale in enumerate((1.0, 2.0, -1.0, 0.5)):
        np.testing.assert_allclose(
            found[k],
            scipy.linalg.solve_triangular(
                scale * value.toarray(), B[k], trans=1, lower=True, unit_diagonal=True
            ),
            rtol=1e-11,
        )


@pytest.mark.parametrize("linker", ["jit", "vm", "c"])
def test_options_of_triangles_are_checked(linker):
    A, b = sparse.matrix("csr", "A"), pt.dvector("b")
    for bad in (3, -1, "H", "t", None, 0.5, "NT"):
        with pytest.raises(ValueError, match="solve_triangular: expected trans"):
            sparse.linalg.solve_triangular(A, b, trans=bad)
    with pytest.raises(TypeError):
        sparse.linalg.solve_triangular(A, b, unit_diagonal="yes")
    f = bt.function(
        [A, b],
        sparse.linalg.solve_triangular(A, b, unit_diagonal=True),
        mode=bt.Mode(linker=linker),
    )
    for bad in (
        sp.csr_array(np.ones((3, 4))),
        sp.csr_array(np.ones((4, 3))),
        sp.csr_array(np.ones((2, 2))),
    ):
        with pytest.raises(ValueError):
            f(bad, np.ones(3))
    with pytest.raises(ValueError):
        sparse.linalg.solve_triangular(
            sparse.constant(sp.csr_array(np.ones((3, 4)))), np.ones(3), unit_diagonal=True
        )


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_lu_factors_take_the_names_of_superlu(dtype):
    value, b = square(dtype), right(n, "complex128")
    A = sparse.matrix("csc", "A", dtype, pattern=value.tocsc())
    factors = sparse.linalg.lu(A)
    dense = value.toarray()
    for (_, form), own in zip(
        TRANS, bt.function([A], [factors.solve(b, trans=name) for name, _ in TRANS])(value)
    ):
        np.testing.assert_allclose(
            own, np.linalg.solve((dense, dense.T, dense.conj().T)[form], b), rtol=1e-10
        )
    for bad in (3, "X", None):
        with pytest.raises(ValueError, match="solve: expected trans"):
            factors.solve(b, trans=bad)


# ---- assumptions -----------------------------------------------------------------------------------------------------


def positive(dtype):
    part = square(dtype)
    return sp.csr_array(part @ part.conj().T + sp.eye_array(n)).astype(dtype)


def indefinite(dtype, is_hermitian):
    part = square(dtype, heavy=-0.5)
    return sp.csr_array(
        part
        + (part.conj() if is_hermitian else part).T
        + sp.diags_array(np.where(np.arange(n) % 2, 9.0, -9.0))
    ).astype(dtype)


CASES = {
    "pos": positive,
    "positive definite": positive,
    "gen": square,
    "general": square,
    "sym": lambda dtype: indefinite(dtype, False),
    "symmetric": lambda dtype: indefinite(dtype, False),
    "her": lambda dtype: indefinite(dtype, True),
    "hermitian": lambda dtype: indefinite(dtype, True),
    "lower triangular": square,
    "upper triangular": square,
    "diagonal": square,
}


def assumed(dense, assume_a):
    """The matrix that is solved with."""
    return {
        "lower triangular": np.tril,
        "upper triangular": np.triu,
        "diagonal": lambda x: np.diag(np.diag(x)),
    }.get(assume_a, np.array)(dense)


@pytest.mark.parametrize("assume_a", CASES)
@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
@pytest.mark.parametrize("format", ["csr", "csc"])
def test_assumptions(assume_a, dtype, format):
    value = CASES[assume_a](dtype).asformat(format)
    dense = assumed(value.toarray(), assume_a)
    static = sparse.matrix(format, "A", dtype, pattern=value)
    cases = list(
        itertools.product(
            (right(n, dtype), right((n, 2), dtype), right(n, "float64")), (False, True)
        )
    )
    for A in (static, sparse.matrix(format, "A", dtype)):
        f = bt.function(
            [A],
            [
                sparse.linalg.solve(A, b, assume_a=assume_a, transposed=transposed)
                for b, transposed in cases
            ],
        )
        for x, (b, transposed) in zip(f(value), cases):
            assert x.dtype == np.result_type(dtype, b)
            wide = dense.astype(x.dtype)
            np.testing.assert_allclose(
                x,
                np.linalg.solve(wide.T if transposed else wide, b),
                rtol=10 * tolerance(x.dtype),
                atol=10 * tolerance(x.dtype),
            )


@pytest.mark.parametrize("assume_a", ["pos", "sym", "her"])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("lower", [True, False])
def test_one_triangle_is_read(assume_a, dtype, lower):
    value, b = CASES[assume_a](dtype), right(n, dtype)
    one = sp.csr_array((sp.tril if lower else sp.triu)(value))
    other = sp.csr_array(one + (sp.triu if lower else sp.tril)(7 * value, 1 if lower else -1))
    for transposed in (False, True):
        expected = np.linalg.solve(value.toarray().T if transposed else value.toarray(), b)
        for each in (one, other):
            np.testing.assert_allclose(
                sparse.linalg.solve(sparse.constant(each), b, assume_a, lower, transposed).eval(),
                expected,
                rtol=1e-9,
            )


@pytest.mark.parametrize("assume_a", ["gen", "sym", "her", "diagonal", "upper triangular"])
def test_derivatives_by_assumption(assume_a):
    value, b = CASES[assume_a]("float64"), right(n, "float64")
    t, v = pt.dscalar("t"), pt.dvector("b")
    results = []
    dense = pt.constant(assumed(value.toarray(), assume_a)) * pt.exp(t) + pt.eye(n) * t
    for x in (
        sparse.linalg.solve(
            sparse.constant(value) * pt.exp(t) + sparse.constant(sp.csr_array(sp.eye_array(n))) * t,
            v,
            assume_a=assume_a,
        ),
        pt.linalg.solve(dense, v),
    ):
        first = pt.grad((x**2).sum(), t)
        results.append(
            bt.function([t, v], [first, pt.grad((x**2).sum(), v), pt.grad(first, t)])(0.2, b)
        )
    for own, expected in zip(*results):
        np.testing.assert_allclose(own, expected, rtol=1e-8)


def test_assumptions_are_checked():
    value = sp.csr_array(np.diag([1.0, 0.0, 2.0]))
    for bad in ("tridiagonal", "banded", "Pos", "", "lower"):
        with pytest.raises(ValueError, match="solve: expected assume_a"):
            sparse.linalg.solve(sparse.constant(value), np.ones(3), assume_a=bad)
    A = sparse.matrix("csr", "A")
    for kind in CASES:
        f = bt.function([A], sparse.linalg.solve(A, np.ones(3), assume_a=kind))
        for bad in (value, sp.csr_array((3, 3))):
            with pytest.raises(np.linalg.LinAlgError):
                f(bad)
        for bad in (np.ones((3, 4)), np.ones((4, 3)), np.eye(2), np.eye(4)):
            with pytest.raises(ValueError):
                f(sp.csr_array(bad))
        with pytest.raises((TypeError, ValueError)):
            sparse.linalg.solve(A, np.ones((3, 2, 2)), assume_a=kind)
        with pytest.raises(ValueError):
            sparse.linalg.solve(sparse.constant(sp.csr_array(np.eye(3))), np.ones(4), assume_a=kind)
        empty = bt.function([A, v := pt.dvector("v")], sparse.linalg.solve(A, v, assume_a=kind))
        assert empty(sp.csr_array((0, 0)), []).shape == (0,)

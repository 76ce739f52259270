"""Decompositions of labelled matrices: factors multiply back to the matrices, along the dimensions in which they meet."""

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale import xtensor as px

RNG = np.random.default_rng(3)
FACTOR = RNG.normal(size=(4, 3, 3))
SPD = FACTOR @ FACTOR.transpose(0, 2, 1) + 3 * np.eye(3)
NONSYMMETRIC = FACTOR + 0.1 * np.arange(9).reshape(3, 3)


def matrices():
    """Positive definite matrices whose rows are not where a tensor has them."""
    return px.as_xtensor(SPD.transpose(1, 0, 2), dims=("row", "batch", "col"))


def general():
    return px.as_xtensor(NONSYMMETRIC.transpose(1, 0, 2), dims=("row", "batch", "col"))


def value(x):
    return np.asarray(x.eval())


def product(*factors):
    """The product of labelled matrices, summed over what neighbours share, as an array of (batch, row, col)."""
    out = factors[0]
    for factor in factors[1:]:
        out = px.dot(
            out, factor, dim=[name for name in out.dims if name in factor.dims and name != "batch"]
        )
    return value(out.transpose("batch", "row", "col"))


def test_decompositions_of_general_matrices():
    a, dims = general(), ("row", "col")
    w, v = px.linalg.eig(a, dims=dims)
    assert w.dims == ("batch", "mode") and v.dims == ("batch", "row", "mode")
    np.testing.assert_allclose(
        value(px.dot(a, v.rename(row="col"), dim="col").transpose("batch", "row", "mode")),
        value(v * w),
        atol=1e-10,
    )
    np.testing.assert_allclose(value(px.linalg.eigvals(a, dims=dims)), value(w))
    p, lower, upper = px.linalg.lu(a, dims=dims)
    assert (p.dims, lower.dims, upper.dims) == (
        ("batch", "row", "pivot"),
        ("batch", "pivot", "mode"),
        ("batch", "mode", "col"),
    )
    np.testing.assert_allclose(product(p, lower, upper), NONSYMMETRIC)
    np.testing.assert_allclose(product(*px.linalg.lu(a, dims=dims, permute_l=True)), NONSYMMETRIC)
    p, lower, upper = px.linalg.lu(a, dims=dims, p_indices=True, pivot="k")
    assert p.dims == ("batch", "row")
    rows = px.as_xtensor(np.arange(4), dims="batch")
    np.testing.assert_allclose(product(lower.isel(batch=rows, k=p), upper), NONSYMMETRIC)
    t, z = px.linalg.schur(a, dims=dims)
    assert (t.dims, z.dims) == (("batch", "mode", "mode2"), ("batch", "row", "mode"))
    np.testing.assert_allclose(product(z, t, z.rename(row="col", mode="mode2")), NONSYMMETRIC)
    t, z = px.linalg.schur(a, dims=dims, output="complex", mode="i", mode2="j")
    assert t.dtype == "complex128" and np.allclose(np.tril(value(t), -1), 0)
    np.testing.assert_allclose(
        product(z, t, px.math.conj(z).rename(row="col", i="j")), NONSYMMETRIC, atol=1e-10
    )


def test_generalized_schur_form():
    a, b, dims = general(), matrices(), ("row", "col")
    s, p, alpha, beta, q, z = px.linalg.qz(a, b, dims=dims, return_eigenvalues=True)
    assert (s.dims, q.dims, z.dims, beta.dims) == (
        ("batch", "mode", "mode2"),
        ("batch", "row", "mode"),
        ("batch", "col", "mode2"),
        ("batch", "mode"),
    )
    np.testing.assert_allclose(product(q, s, z), NONSYMMETRIC)
    np.testing.assert_allclose(product(q, p, z), SPD)
    expected = np.linalg.eigvals(np.linalg.solve(SPD, NONSYMMETRIC))
    np.testing.assert_allclose(
        np.sort_complex(value(alpha / beta).round(10)), np.sort_complex(expected.round(10))
    )
    assert len(px.linalg.qz(a, b, dims=dims)) == 4


def test_systems_of_given_factors():
    a, dims = general(), ("row", "col")
    b, c = (
        px.as_xtensor(RNG.normal(size=3), dims="row"),
        px.as_xtensor(RNG.normal(size=(2, 3)), dims=("rhs", "row")),
    )
    factors, pivots = px.linalg.lu_factor(a, dims=dims)
    assert factors.dims == ("batch", "row", "col") and pivots.dims == ("batch", "row")
    x, y = (
        px.linalg.lu_solve((factors, pivots), b, dims),
        px.linalg.lu_solve((factors, pivots), c, ("row", "col", "rhs")),
    )
    assert x.dims == ("batch", "col") and y.dims == ("batch", "col", "rhs")
    np.testing.assert_allclose(
        value(px.dot(a, x, dim="col").transpose("batch", "row")), np.broadcast_to(value(b), (4, 3))
    )
    np.testing.assert_allclose(
        value(px.dot(a, y, dim="col").transpose("batch", "rhs", "row")),
        np.broadcast_to(value(c), (4, 2, 3)),
    )
    transposed = px.linalg.lu_solve((factors, pivots), b.rename(row="col"), dims, trans=True)
    assert transposed.dims == ("batch", "row")
    np.testing.assert_allclose(
        value(px.dot(a, transposed, dim="row").transpose("batch", "col")),
        np.broadcast_to(value(b), (4, 3)),
    )
    order = px.linalg.pivot_to_permutation(pivots, dims="row")
    assert order.dims == ("batch", "row") and np.array_equal(
        np.sort(value(order)), np.broadcast_to(np.arange(3), (4, 3))
    )
    for lower in (True, False):
        factor = px.linalg.cholesky(matrices(), lower, dims=dims)
        solution = px.linalg.cho_solve((factor, lower), b, dims)
        assert solution.dims == ("batch", "col")
        np.testing.assert_allclose(
            value(px.dot(matrices(), solution, dim="col").transpose("batch", "row")),
            np.broadcast_to(value(b), (4, 3)),
        )


def test_least_squares():
    a = RNG.normal(size=(2, 5, 3))
    a[1, :, 2] = a[1, :, 0]  # of rank 2
    b, several = RNG.normal(size=5), RNG.normal(size=(5, 4))
    labelled = px.as_xtensor(a, dims=("batch", "row", "col"))
    x, residuals, rank, s = px.linalg.lstsq(labelled, px.as_xtensor(b, dims="row"), ("row", "col"))
    assert (x.dims, residuals.dims, rank.dims, s.dims) == (
        ("batch", "col"),
        ("batch",),
        ("batch",),
        ("batch", "mode"),
    )
    y, squares, *_ = px.linalg.lstsq(
        labelled, px.as_xtensor(several, dims=("row", "rhs")), ("row", "col", "rhs")
    )
    assert (
        y.dims == ("batch", "col", "rhs")
        and squares.dims == ("batch", "rhs")
        and value(rank).tolist() == [3, 2]
    )
    for k in range(2):
        expected = np.linalg.lstsq(a[k], b)[0]
        np.testing.assert_allclose(value(x)[k], expected)
        np.testing.assert_allclose(value(residuals)[k], ((a[k] @ expected - b) ** 2).sum())
        np.testing.assert_allclose(value(y)[k], np.linalg.lstsq(a[k], several)[0])
        np.testing.assert_allclose(value(s)[k], np.linalg.svd(a[k], compute_uv=False), atol=1e-12)
    # One system for many right-hand sides: all results have the batches of both.
    x, residuals, rank, s = px.linalg.lstsq(
        labelled.isel(batch=0), px.as_xtensor(several.T, dims=("many", "row")), ("row", "col")
    )
    assert rank.dims == ("many",) and value(rank).tolist() == [3] * 4 and value(s).shape == (4, 3)
    np.testing.assert_allclose(value(x), np.linalg.lstsq(a[0], several)[0].T)


def test_derivatives_are_those_of_tensors():
    a, plain = px.xtensor("a", dims=("row", "batch", "col")), pt.tensor3("a")
    b = px.as_xtensor(RNG.normal(size=3), dims="row")
    x = px.linalg.lstsq(a, b, ("row", "col"))[0]
    y = pt.stack([pt.linalg.lstsq(plain[:, k], value(b))[0] for k in range(4)])
    slopes = [bt.grad((x**2).sum(), a), bt.grad((y**2).sum(), plain)]
    point = NONSYMMETRIC.transpose(1, 0, 2)
    assert slopes[0].dims == a.dims
    np.testing.assert_allclose(slopes[0].eval({a: point}), slopes[1].eval({plain: point}))
    p, lower, upper = px.linalg.lu(a, dims=("row", "col"))
    square, plain_square = (
        (upper**2).sum() + lower.sum(),
        sum((u**2).sum() + lo.sum() for _, lo, u in (pt.linalg.lu(plain[:, k]) for k in range(4))),
    )
    np.testing.assert_allclose(
        bt.grad(square, a).eval({a: point}), bt.grad(plain_square, plain).eval({plain: point})
    )


def test_numbers_of_matrices():
    a, dims = general(), ("row", "col")
    np.testing.assert_allclose(
        value(px.linalg.trace(a, dims=dims)), np.trace(NONSYMMETRIC, axis1=1, axis2=2)
    )
    diagonal = px.linalg.diagonal(a, 1, dims=dims, mode="k")
    assert diagonal.dims == ("batch", "k")
    np.testing.assert_allclose(value(diagonal), np.diagonal(NONSYMMETRIC, 1, 1, 2))
    assert value(px.linalg.matrix_rank(a, dims=dims)).tolist() == [3] * 4
    for order in (None, "fro", "nuc", 2, -1, np.inf):
        np.testing.assert_allclose(
            value(px.linalg.norm(a, order, dims=dims)),
            np.linalg.norm(NONSYMMETRIC, order, axis=(1, 2)),
        )
    np.testing.assert_allclose(
        value(px.linalg.norm(a, 1, dims="row").transpose("batch", "col")),
        np.linalg.norm(NONSYMMETRIC, 1, axis=1),
    )
    np.testing.assert_allclose(
        value(px.linalg.pinv(a, dims=dims, rcond=0.5)), np.linalg.pinv(NONSYMMETRIC, 0.5)
    )
    upper = px.as_xtensor(np.triu(SPD), dims=("batch", "row", "col"))
    np.testing.assert_allclose(
        value(px.linalg.eigvalsh(upper, dims=dims, lower=False)), np.linalg.eigvalsh(SPD)
    )
    np.testing.assert_allclose(
        value(px.linalg.eigh(upper, dims=dims, lower=False)[0]), np.linalg.eigvalsh(SPD)
    )


# Of the functions of bitale.tensor.linalg, those without names for core dimensions, and why.
WITHOUT_NAMES = {
    "matmul matrix_dot outer tensordot vecdot": "px.dot sums over names",
    "matrix_transpose": "transpose, or rename, which exchanges names",
    "matrix_inverse": "another name of inv",
    "matrix_norm vector_norm": "norm, whose number of names says which",
    "ordqz": "qz with return_eigenvalues",
    "tensorinv tensorsolve": "inv and solve of stacked dimensions",
    "block_diag kron": "matrices of others, whose rows have no names; as_xtensor names those of the tensor",
    "cross": "positions along a dimension are the coordinates of space, which isel tells apart",
    "solve_banded solve_tridiagonal tridiagonal_lu_factor tridiagonal_lu_solve": "diagonals of one matrix have other lengths, and so other dimensions",
    "solve_continuous_are solve_continuous_lyapunov solve_discrete_are solve_discrete_lyapunov solve_sylvester": "products of one matrix with itself, which would have each name twice",
    "LinAlgError Cholesky CholeskySolve Det SLogDet Eig Eigh Eigvalsh Expm KroneckerProduct LU LUFactor Lstsq MatrixInverse MatrixPinv "
    "PivotToPermutations QR QZ SVD Schur Solve SolveTriangular SolveSylvester SolveDiscreteARE BlockDiagonal TensorInv TensorSolve": "classes",
}


def test_functions_of_matrices_have_names():
    reasons = {name for names in WITHOUT_NAMES for name in names.split()}
    assert set(pt.linalg.__all__) - reasons - {"svdvals"} == set(px.linalg.__all__) - {"svdvals"}
    assert not reasons & set(px.linalg.__all__)


@pytest.mark.parametrize(
    "wrong, message",
    [
        (lambda a: px.linalg.lstsq(a, px.xtensor("b", dims="col"), ("row", "col")), 'along the rows "row" without the columns "col"'),
        (lambda a: px.linalg.lstsq(a, px.xtensor("b", dims="row"), ("row", "col", "batch")), "columns of the right-hand side"),
        (lambda a: px.linalg.cho_solve((a, True), a, ("row", "col")), "of which the right-hand side has one"),
        (lambda a: px.linalg.lu(a, dims=("row", "col"), pivot="mode"), '"mode" is given twice'),
        (lambda a: px.linalg.svd(a, dims=("row", "col"), mode="batch"), '"batch" is given twice'),
        (lambda a: px.linalg.norm(a, dims=()), "expected 1 or 2 core dimensions"),
        (lambda a: px.linalg.schur(a, dims=("row", "col"), output="other"), 'expected output "real" or "complex"'),
        (lambda a: px.linalg.qz(a, px.xtensor("b", dims=("row", "column")), dims=("row", "col")), 'no dimension is called "col"'),
        (lambda a: px.linalg.eig(a.isel(row=[0, 1]), dims=("row", "col")), "square"),
    ],
)  # fmt: skip
def test_bad_matrices(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong(matrices())

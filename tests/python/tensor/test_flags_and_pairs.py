"""Options that are true or false take NumPy's booleans, and pairs of factors that are none are refused in the same words,
by functions of tensors and of labelled tensors alike."""

import numpy as np
import pytest

import bitale.tensor as pt
from bitale import xtensor as px

A = np.array([[4.0, 2.0], [2.0, 3.0]])
L = np.linalg.cholesky(A)
TRUE, FALSE, DIMS = np.bool_(True), np.bool_(False), ("row", "col")


def labelled(value, *dims):
    return px.as_xtensor(value, dims=dims)


def table():
    return labelled(A, *DIMS)


def column():
    return labelled([8.0, 8.0], "row")


# Calls with an option, and its values of Python and of NumPy.
CALLS = {
    "cholesky": lambda t: pt.linalg.cholesky(A, lower=t),
    "cholesky upper": lambda t: pt.linalg.cholesky(A, upper=t),
    "solve": lambda t: pt.linalg.solve(A, [1.0, 2.0], lower=t, transposed=t),
    "solve_triangular": lambda t: pt.linalg.solve_triangular(
        A, [1.0, 2.0], lower=t, unit_diagonal=t, trans=t
    ),
    "cho_solve": lambda t: pt.linalg.cho_solve((L if t else L.T, t), [1.0, 2.0]),
    "lu": lambda t: pt.linalg.lu(A, permute_l=t)[0],
    "lu p_indices": lambda t: pt.linalg.lu(A, p_indices=t)[0],
    "lu_solve": lambda t: pt.linalg.lu_solve(pt.linalg.lu_factor(A), [1.0, 2.0], trans=t),
    "pivot_to_permutation": lambda t: pt.linalg.pivot_to_permutation(
        np.array([1, 1], "int32"), inverse=t
    ),
    "eigh": lambda t: pt.linalg.eigh(A, lower=t)[0],
    "eigvalsh": lambda t: pt.linalg.eigvalsh(A, None, lower=t),
    "svd": lambda t: pt.linalg.svd(A, full_matrices=t)[0],
    "norm": lambda t: pt.linalg.norm(A, axis=1, keepdims=t),
    "sum": lambda t: pt.sum(A, axis=1, keepdims=t),
    "isclose": lambda t: pt.isclose(A, A, equal_nan=t),
    "cov": lambda t: pt.cov(A, rowvar=t),
    "linspace": lambda t: pt.linspace(0.0, 1.0, 5, endpoint=t),
    "digitize": lambda t: pt.digitize([1.0], [1.0, 2.0], right=t),
    "labelled cholesky": lambda t: px.linalg.cholesky(table(), lower=t, dims=DIMS),
    "labelled solve": lambda t: px.linalg.solve(table(), column(), dims=DIMS, lower=t),
    "labelled solve_triangular": lambda t: px.linalg.solve_triangular(
        table(), column(), dims=DIMS, lower=t, unit_diagonal=t
    ),
    "labelled cho_solve": lambda t: px.linalg.cho_solve(
        (labelled(L if t else L.T, *DIMS), t), column(), dims=DIMS
    ),
    "labelled lu": lambda t: px.linalg.lu(table(), dims=DIMS, permute_l=t)[0],
    "labelled lu_solve": lambda t: px.linalg.lu_solve(
        px.linalg.lu_factor(table(), dims=DIMS), column(), dims=DIMS, trans=t
    ),
    "labelled eigh": lambda t: px.linalg.eigh(table(), dims=DIMS, lower=t)[0],
    "labelled rolling": lambda t: table().rolling(row=2, center=t).sum(),
}


@pytest.mark.parametrize("name", CALLS)
def test_booleans_of_numpy(name):
    for mine, theirs in ((True, TRUE), (False, FALSE)):
        np.testing.assert_array_equal(
            np.asarray(CALLS[name](theirs).eval()), np.asarray(CALLS[name](mine).eval())
        )


@pytest.mark.parametrize(
    "who, parts", [("cho_solve", r"\(factor, lower\)"), ("lu_solve", r"\(factors, pivots\)")]
)
@pytest.mark.parametrize(
    "wrong, came",
    [(None, "None"), (L, "array"), ((L,), "1 elements"), ((L, 1, 2), "3 elements"), (3, "3")],
)
def test_pairs_that_are_none(who, parts, wrong, came):
    for call in (
        lambda: getattr(pt.linalg, who)(wrong, [1.0, 2.0]),
        lambda: getattr(px.linalg, who)(wrong, column(), dims=DIMS),
    ):
        with pytest.raises(TypeError, match=f"^{who}: expected the pair {parts}, got {came}"):
            call()


def test_other_pairs_and_flags():
    for call in (
        lambda: pt.linalg.cho_solve((L, "lower"), [1.0, 2.0]),
        lambda: px.linalg.cho_solve((labelled(L, *DIMS), "lower"), column(), dims=DIMS),
    ):
        with pytest.raises(
            TypeError, match="cho_solve: (c_and_)?lower: expected a bool, got 'lower'"
        ):
            call()
    for wrong in ((1,), 1, (1, 2.5)):
        with pytest.raises(TypeError, match=r"solve_banded: expected the pair \(lower, upper\)"):
            pt.linalg.solve_banded(wrong, np.ones((3, 3)), np.ones(3))
    with pytest.raises(TypeError, match="tridiagonal_lu_solve: expected the factors"):
        pt.linalg.tridiagonal_lu_solve((L, L), np.ones(3))
    for call in (
        lambda: pt.linalg.lu_solve(pt.linalg.lu_factor(A), [1.0, 2.0], trans="X"),
        lambda: px.linalg.lu_solve(
            px.linalg.lu_factor(table(), dims=DIMS), column(), dims=DIMS, trans="X"
        ),
    ):
        with pytest.raises(ValueError, match="lu_solve: expected trans"):
            call()


def test_conjugate_transposes_of_factors():
    a = A + 1j * np.array([[0.0, 1.0], [2.0, 0.0]])
    expected = np.linalg.solve(a.conj().T, [1.0, 2.0])
    for trans in (2, "C"):
        np.testing.assert_allclose(
            pt.linalg.lu_solve(pt.linalg.lu_factor(a), [1.0, 2.0], trans=trans).eval(), expected
        )
    factors = px.linalg.lu_factor(labelled(a, *DIMS), dims=DIMS)
    found = px.linalg.lu_solve(factors, labelled([1.0, 2.0], "col"), dims=DIMS, trans=2)
    np.testing.assert_allclose(np.asarray(found.eval()), expected)

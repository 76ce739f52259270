"""Items of sparse matrices as SciPy takes them, SciPy's matrices beside variables, types, and elements that are too few."""

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale import sparse

sp = pytest.importorskip("scipy.sparse")

value = sp.csr_array(
    np.where(
        np.random.default_rng(0).random((4, 5)) < 0.5,
        np.random.default_rng(1).normal(size=(4, 5)),
        0,
    )
)
mask, columns = np.array([True, False, True, True]), np.array([False, True, True, False, True])


def matrices():
    return (
        sparse.matrix("csr", "A", pattern=value),
        sparse.matrix("csr", "A"),
        sparse.matrix("csc", "A"),
    )


def same(own, expected):
    assert own.shape == expected.shape
    np.testing.assert_array_equal(*(x.toarray() if sp.issparse(x) else x for x in (own, expected)))


@pytest.mark.parametrize("which", range(3))
def test_items(which):
    A = matrices()[which]
    m, i, j = pt.vector("m", dtype="bool"), pt.lvector("i"), pt.lvector("j")
    f = bt.function(
        [A, m, i, j],
        [
            A[mask],
            A[list(mask)],
            A[m],
            A[:, columns],
            A[mask, 1:3],
            A[..., 1:],
            A[1:, ...],
            A[[0, 3, 3], [1, 0, 4]],
            A[i, j],
            A[[0, 1], j],
            A[mask, [1, 0, 4]],
            A[np.zeros(4, bool)],
        ],
    )
    rows, others = np.array([0, -1]), np.array([2, 1])
    dense = value.toarray()
    expected = [
        value[mask], value[mask], value[mask], value[:, columns], value[mask][:, 1:3], value[:, 1:], value[1:], dense[[0, 3, 3], [1, 0, 4]], dense[rows, others], dense[[0, 1], others],
        dense[mask, [1, 0, 4]], value[:0],
    ]  # fmt: skip
    for own, right in zip(f(value, mask, rows, others), expected, strict=True):
        same(own, right)
    g = bt.function([A, i, j], [pt.grad(A[i, j].sum(), A)])
    np.testing.assert_array_equal(
        g(value, [0, 0], [0, 0])[0].toarray()[0, 0], 2.0 * (dense[0, 0] != 0)
    )


@pytest.mark.parametrize("which", range(3))
def test_items_that_do_not_fit(which):
    A = matrices()[which]
    for key in (
        mask[:3],
        np.ones((4, 5), bool),
        True,
        None,
        0.5,
        "x",
        (..., ..., 1),
        (slice(None), np.ones(4, bool)),
        ([0, 1, 2], [0, 1]),
        ([0, 4], [0, 0]),
    ):
        with pytest.raises((IndexError, ValueError)):
            bt.function([A], A[key])(value)


@pytest.mark.parametrize("which", range(2))
def test_operators_with_matrices_of_scipy(which):
    A = matrices()[which]
    for other in (value, value.tocsc(), sp.csr_matrix(value), value.tocoo()):
        f = bt.function(
            [A],
            [
                A + other,
                other + A,
                A - other,
                other - A,
                A * other if isinstance(other, sp.sparray) else A.multiply(sparse.constant(other)),
                A @ other.T,
                other.T @ A,
            ],
        )
        expected = [
            2 * value,
            2 * value,
            0 * value,
            0 * value,
            value * value,
            value @ value.T,
            value.T @ value,
        ]
        for own, right in zip(f(value), expected, strict=True):
            np.testing.assert_allclose(own.toarray(), right.toarray(), rtol=1e-14)


@pytest.mark.parametrize("which", range(3))
def test_types_make_variables(which):
    A = matrices()[which]
    B = A.type("B")
    assert (B.format, B.dtype, B.static_shape, B.is_static, B.name) == (
        A.format,
        A.dtype,
        A.static_shape,
        A.is_static,
        "B",
    )
    same(bt.function([B], B * 2)(value), 2 * value)


def test_types_keep_their_pattern():
    template = value.copy()
    kind = sparse.SparseTensorType("csr", "float64", pattern=template)
    template.indices[:] = 0
    A = kind("A")
    same(bt.function([A], A * 2)(value), 2 * value)


def test_there_is_an_element_for_each_position():
    """A vector of one element is not repeated."""
    x, i = pt.dvector("x"), pt.lvector("i")
    template = sparse.constant(sp.csr_array(np.ones((1, 2))))
    for A, more in (
        (sparse.CSR(x, [0, 1], [0, 2], (1, 2)), []),
        (sparse.CSR(x, i, [0, 2], (1, 2)), [i]),
        (template.with_data(x), []),
        (sparse.CSC(x, [0, 0], [0, 1, 2], (1, 2)), []),
    ):
        for result in (A, A.todense(), A @ np.ones(2), A.sum(), A.T @ np.ones(1)):
            f = bt.function([x, *more], result, on_unused_input="ignore")
            f([1.0, 2.0], *[[0, 1]] * len(more))
            for bad in ([1.0], [], [1.0, 2.0, 3.0]):
                with pytest.raises(ValueError):
                    f(bad, *[[0, 1]] * len(more))


def test_arguments_of_constructors():
    for bad in ("xyz", "CSR", ""):
        with pytest.raises(ValueError, match="format"):
            sparse.matrix(bad, "A")
    with pytest.raises(ValueError, match="negative"):
        sparse.matrix("csr", "A", shape=(-1, 2))
    for join in (sparse.hstack, sparse.vstack):
        with pytest.raises(ValueError, match="at least one"):
            join([])

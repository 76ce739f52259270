"""Products with large sparse matrices of constant pattern: their elements are added in blocks of the result (SegmentScatter)."""

import numpy as np
import pytest
import scipy.sparse

import bitale as bt
import bitale.tensor as pt
from bitale import sparse

ROWS, COLUMNS = 600_000, 650_000


def scattered(elements=300_000, dtype="float64", seed=0):
    random = np.random.default_rng(seed)
    positions = random.integers(0, ROWS, elements), random.integers(0, COLUMNS, elements)
    return scipy.sparse.csr_array(
        scipy.sparse.coo_array(
            (random.normal(size=elements).astype(dtype), positions), shape=(ROWS, COLUMNS)
        )
    )


def names(f):
    return {node.op.name.split("{")[0] for node in f.fgraph.toposort()}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("format", ["csr", "csc"])
@pytest.mark.parametrize("transposed", [False, True])
def test_products_equal_those_of_scipy_for_any_number_of_threads(dtype, format, transposed):
    A = scattered(dtype=dtype).asformat(format)
    A = A.T if transposed else A
    v = pt.vector("v", dtype=dtype)
    at = np.random.default_rng(1).normal(size=A.shape[1]).astype(dtype)
    results = []
    for threads in (1, 2, 3):
        f = bt.function([v], sparse.constant(A) @ v, threads=threads)
        assert "SegmentScatter" in names(f)
        results.append(f(at))
    np.testing.assert_allclose(
        results[0],
        A @ at,
        rtol=1e-5 if dtype == "float32" else 1e-12,
        atol=1e-4 if dtype == "float32" else 1e-12,
    )
    for other in results[1:]:
        np.testing.assert_array_equal(other, results[0])


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE", "C"])
def test_terms_with_functions_of_rows_and_columns(mode):
    A = scattered()
    u, v = pt.dvector("u", shape=(ROWS,)), pt.dvector("v", shape=(COLUMNS,))
    M = sparse.constant(A)
    value = pt.sqr((M * pt.exp(u)[:, None]) @ pt.tanh(v) + u).sum()
    f = bt.function([u, v], [value, *pt.grad(value, [u, v])], mode=mode)
    random = np.random.default_rng(2)
    at_u, at_v = random.normal(size=ROWS) / 3, random.normal(size=COLUMNS)
    product = np.exp(at_u) * (A @ np.tanh(at_v))
    residuals = product + at_u
    expected = [
        (residuals**2).sum(),
        2 * residuals * (product + 1),
        (A.T @ (2 * residuals * np.exp(at_u))) / np.cosh(at_v) ** 2,
    ]
    for ours, theirs in zip(f(at_u, at_v), expected):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


def test_rows_without_elements_and_blocks_without_rows():
    A = scattered()
    A = scipy.sparse.csr_array(
        scipy.sparse.vstack(
            [
                scipy.sparse.csr_array((200_000, COLUMNS)),
                A,
                scipy.sparse.csr_array((70_001, COLUMNS)),
            ]
        )
    )
    v = pt.dvector("v")
    f, at = bt.function([v], sparse.constant(A) @ v), np.random.default_rng(3).normal(size=COLUMNS)
    assert "SegmentScatter" in names(f)
    np.testing.assert_allclose(f(at), A @ at, rtol=1e-12, atol=1e-12)


def test_matrices_that_caches_hold_are_left_as_they_are():
    v = pt.dvector("v")
    band = scipy.sparse.csr_array(
        scipy.sparse.diags_array([1.0, -2.0, 1.0], offsets=[-1, 0, 1], shape=(200_000, 200_000))
    )
    small = scipy.sparse.random_array(
        (2_000, 2_000), density=0.05, format="csr", rng=np.random.default_rng(4)
    )
    for A in (band, small):
        f = bt.function([v], sparse.constant(A) @ v)
        assert "SegmentScatter" not in names(f)
        at = np.random.default_rng(5).normal(size=A.shape[1])
        np.testing.assert_allclose(f(at), A @ at, rtol=1e-12)


def test_terms_that_others_need_stay_in_their_order():
    A = scattered()
    v = pt.dvector("v", shape=(COLUMNS,))
    M = sparse.constant(A)
    terms = M.data * v[M.indices]
    f = bt.function(
        [v],
        [
            pt.inc_subtensor(pt.zeros(ROWS)[np.repeat(np.arange(ROWS), np.diff(A.indptr))], terms),
            terms,
        ],
    )
    assert "SegmentScatter" not in names(f)
    at = np.random.default_rng(6).normal(size=COLUMNS)
    product, each = f(at)
    np.testing.assert_allclose(product, A @ at, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(each, A.data * at[A.indices])


def test_a_vector_of_another_length_is_refused():
    v = pt.dvector("v")
    f = bt.function([v], sparse.constant(scattered()) @ v)
    with pytest.raises(ValueError, match="650000"):
        f(np.zeros(COLUMNS - 1))


def test_bounds_and_columns_of_the_op():
    v = pt.dvector("v")
    op = next(
        node.op
        for node in bt.function([v], sparse.constant(scattered()) @ v).fgraph.toposort()
        if node.op.name.startswith("SegmentScatter")
    )
    x, bounds, columns = pt.dvector("x"), pt.lvector("bounds"), pt.lvector("columns")
    f = bt.function([x, bounds, columns], op(x, bounds, columns))
    out = f([1.0, 2.0, 4.0], [0, 2, 2, 3], [5, 5, 0])
    assert out.shape == (3, 32768) and out[0, 5] == 3 and out[2, 0] == 4 and out.sum() == 7
    for wrong_bounds, wrong_columns, error in (
        ([0, 2, 1, 3], [0, 0, 0], ValueError),
        ([1, 2, 3], [0, 0, 0], ValueError),
        ([0, 2], [0, 0, 0], ValueError),
        ([0, 4], [0, 0, 0], ValueError),
        ([0, 3], [0, 0], ValueError),
        ([0, 3], [0, -1, 0], IndexError),
        ([0, 3], [0, 32768, 0], IndexError),
    ):
        with pytest.raises(error, match="segment_scatter"):
            f([1.0, 2.0, 4.0], wrong_bounds, wrong_columns)
        with pytest.raises(error, match="segment_scatter"):
            op(pt.dvector("x", shape=(3,)), np.array(wrong_bounds), np.array(wrong_columns))

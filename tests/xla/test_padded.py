"""Results with data-dependent lengths, padded to a bound: the same in every mode, and in as_jax."""

import jax
import numpy as np
import pytest

import bitale as bt
import bitale.jax
import bitale.tensor as pt

X = np.array([[0.0, 3.0, 0.0], [4.0, 0.0, 5.0]])
MODES = ["FAST_COMPILE", "FAST_RUN", "JAX"]


@pytest.mark.parametrize("mode", MODES)
def test_nonzero_positions(mode):
    x = pt.dmatrix("x")
    f = bt.function([x], bt.jax.nonzero(x, size=5, fill_value=-1), mode=mode)
    for given in (X, np.zeros((2, 3)), np.zeros((0, 3)), -X.T):
        *indices, count = f(given)
        expected = np.nonzero(given)
        assert count == len(expected[0])
        for got, one in zip(indices, expected):
            assert got.tolist() == [*one, *[-1] * (5 - len(one))]
    with pytest.raises(ValueError, match="more entries than size, 5"):
        f(np.ones((2, 3)))


@pytest.mark.parametrize("mode", MODES)
def test_rows_of_a_mask(mode):
    x, m = pt.dmatrix("x"), pt.vector("m", dtype="bool")
    rows, count = bt.jax.compress(m, x, size=3, fill_value=7.0)
    total = pt.sum(pt.switch(pt.lt(pt.arange(3), count)[:, None], rows**2, 0))
    f = bt.function([m, x], [rows, count, bt.grad(total, x)], mode=mode)
    for given in ([True, True], [False, True], [False, False]):
        got, n, slope = f(np.array(given), X)
        assert (
            n == sum(given)
            and np.array_equal(got[:n], X[given])
            and (got[n:] == 7).all()
            and got.shape == (3, 3)
        )
        assert np.array_equal(slope, 2 * X * np.array(given)[:, None])
    with pytest.raises(ValueError):
        f(np.array([True]), X)


@pytest.mark.parametrize("mode", MODES)
def test_distinct_values(mode):
    x = pt.dvector("x")
    f = bt.function([x], bt.jax.unique(x, size=4, fill_value=-1.0), mode=mode)
    for given in ([3.0, 1.0, 3.0, 2.0, 1.0], [], [np.nan, 2.0, np.nan], [5.0]):
        values, count = f(np.array(given))
        expected = np.unique(given)
        assert count == len(expected)
        np.testing.assert_array_equal(values, [*expected, *[-1.0] * (4 - len(expected))])
    with pytest.raises(ValueError, match="unique: there are more entries than size, 4"):
        f(np.arange(5.0))


def test_under_transformations_of_jax():
    """Under jit, vmap and grad; elements beyond the bound are omitted."""
    x, m = pt.dvector("x"), pt.vector("m", dtype="bool")
    rows, count = bt.jax.compress(m, x, size=2)
    f = jax.jit(bitale.jax.as_jax(bt.function([m, x], [rows, count])))
    masks = np.array([[True, False, True], [False, True, False], [True, True, True]])
    values, counts = jax.vmap(f, in_axes=(0, None))(masks, np.array([1.0, 2.0, 3.0]))
    assert values.tolist() == [[1, 3], [2, 0], [1, 2]] and counts.tolist()[:2] == [2, 1]
    slope = jax.grad(lambda x: (f(masks[0], x)[0] ** 2).sum())(np.array([1.0, 2.0, 3.0]))
    assert slope.tolist() == [2, 0, 6]


def test_invalid_arguments():
    x = pt.dvector("x")
    for size in (-1, 2.5, True, pt.lscalar()):
        with pytest.raises(ValueError, match="size"):
            bt.jax.nonzero(x, size=size)
    with pytest.raises(ValueError, match="scalar"):
        bt.jax.nonzero(pt.dscalar(), size=1)
    with pytest.raises(ValueError, match="vector of bool"):
        bt.jax.compress(x, x, size=1)

"""x[...] against NumPy, and updated copies."""

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt

X = np.arange(60.0).reshape(3, 4, 5)
S = np.s_
BASIC = [
    S[0],
    S[-1],
    S[1, 2],
    S[1, 2, 3],
    S[...],
    S[:],
    S[1:],
    S[:-1],
    S[::2],
    S[::-1],
    S[::-2],
    S[5:],
    S[2:1],
    S[-2:],
    S[:-10],
    S[10:0:-1],
    S[:, 1],
    S[:, -1, 1:3],
    S[..., 0],
    S[..., ::-1],
    S[0, ...],
    S[0, ..., 1],
    S[None],
    S[:, None],
    S[..., None],
    S[1, None, 2],
    S[None, :, None, 1],
    S[1:2, 1:2, 1:2],
    S[-1:-3:-1, 3:0:-2],
    S[:, :, 4:1:-3],
    S[()],
]
ADVANCED = [
    S[[0, 2]],
    S[[-1, 0, 0]],
    S[:, [1, 1]],
    S[[0, 1], [1, 2]],
    S[[[0, 1], [2, 0]]],
    S[[0, 1], 1],
    S[1, [0, 2]],
    S[[0, 1], :, [1, 2]],
    S[np.array([2, 1])],
    S[..., [0, 4]],
    S[[0], [1], [2]],
    S[np.array([[0], [1]]), np.array([[1, 2]])],
]


def text(index):
    return str(index).replace("slice", "").replace("Ellipsis", "...")


@pytest.mark.parametrize("index", BASIC, ids=text)
def test_basic(index, mode):
    x = pt.tensor3("x")
    out = x[index]
    result = bt.function([x], out, mode=mode)(X)
    np.testing.assert_array_equal(result, X[index])
    assert out.ndim == X[index].ndim


@pytest.mark.parametrize("index", ADVANCED, ids=text)
def test_advanced(index, mode):
    x = pt.tensor3("x")
    try:
        out = x[index]
    except NotImplementedError:
        pytest.skip("not implemented")
    np.testing.assert_array_equal(bt.function([x], out, mode=mode)(X), X[index])


@pytest.mark.parametrize("index", BASIC + ADVANCED, ids=text)
def test_set_and_inc(index, mode):
    x = pt.tensor3("x")
    try:
        piece = x[index]
        outputs = [piece.set(-1.0), piece.inc(2.0), pt.set_subtensor(piece, piece * 2)]
    except NotImplementedError:
        pytest.skip("not implemented")
    a, b, c = bt.function([x], outputs, mode=mode)(X)
    expected = X.copy()
    expected[index] = -1
    np.testing.assert_array_equal(a, expected)
    expected = X.copy()
    np.add.at(expected, index, 2.0)
    np.testing.assert_array_equal(b, expected)
    expected = X.copy()
    expected[index] = X[index] * 2
    np.testing.assert_array_equal(c, expected)


def test_symbolic_indices(mode):
    x, i, j, rows = pt.dmatrix("x"), pt.lscalar("i"), pt.iscalar("j"), pt.lvector("rows")
    f = bt.function(
        [x, i, j, rows],
        [x[i], x[i, j], x[i:j], x[::j], x[rows], x[rows, i], x[:, rows[0] :]],
        mode=mode,
    )
    for result, expected in zip(
        f(X[0], 1, 3, [2, 0]),
        [X[0][1], X[0][1, 3], X[0][1:3], X[0][::3], X[0][[2, 0]], X[0][[2, 0], 1], X[0][:, 2:]],
    ):
        np.testing.assert_array_equal(result, expected)


def test_shape_entries(mode):
    x = pt.dmatrix("x")
    n, m = x.shape
    assert bt.function([x], [n, m, x.shape[1], x.size, x.shape], mode=mode)(X[0])[:4] == [
        4,
        5,
        5,
        20,
    ]


def test_rows_and_columns(mode):
    x, y = pt.dmatrix("x"), pt.lvector("y")
    picked = x[pt.arange(y.shape[0]), y]
    np.testing.assert_array_equal(
        bt.function([x, y], picked, mode=mode)(X[0], [1, 0, 4, 2]), X[0][np.arange(4), [1, 0, 4, 2]]
    )


def test_out_of_range(mode):
    x, i = pt.dvector("x"), pt.lscalar("i")
    f = bt.function([x, i], x[i], mode=mode)
    assert f([1.0, 2.0], -1) == 2.0
    for bad in (2, -3):
        with pytest.raises(IndexError, match=r"test_indexing\.py"):
            f([1.0, 2.0], bad)
    rows = pt.lvector("rows")
    g = bt.function([x, rows], x[rows], mode=mode)
    with pytest.raises(IndexError):
        g([1.0, 2.0], [0, 2])


def test_repeated_indices_add_up(mode):
    x = pt.dvector("x")
    f = bt.function([x], x[[0, 0, 1]].inc(1.0), mode=mode)
    np.testing.assert_array_equal(f([0.0, 0.0, 0.0]), [2.0, 1.0, 0.0])


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
@pytest.mark.parametrize("order", ["sorted", "random", "equal", "negative"])
def test_sums_by_group(dtype, order):
    x, mu, index = pt.vector(dtype=dtype), pt.vector(dtype=dtype), pt.lvector()
    f = bt.function([x, mu, index], mu[index].inc(x - mu[index]))
    random = np.random.default_rng(0)
    for n in (0, 1, 7, 8, 9, 1000):
        for groups in (1, 3, 85):
            at = random.integers(0, groups, n)
            at = {
                "sorted": np.sort(at),
                "random": at,
                "equal": at * 0,
                "negative": np.sort(at) - groups,
            }[order]
            a, b = (random.normal(0, 10, k).astype(dtype) for k in (n, groups))
            expected = b.copy()
            np.add.at(expected, at, a - b[at])
            np.testing.assert_allclose(
                f(a, b, at), expected, rtol=1e-3 if dtype == "float32" else 1e-10, atol=1e-3
            )


@pytest.mark.parametrize("index", [1.5, "a", S[1.5:], S[0, 0, 0, 0], S["a":]])
def test_bad_indices(index):
    with pytest.raises((TypeError, IndexError, ValueError)):
        pt.tensor3("x")[index]


def test_set_needs_an_index():
    x = pt.dvector("x")
    with pytest.raises(TypeError, match="index"):
        x.set(1.0)
    with pytest.raises(TypeError, match="assign"):
        x[0] = 1.0


def test_take(mode):
    x = pt.dmatrix("x")
    f = bt.function(
        [x], [pt.take(x, [1, 3]), x.take([1, 0], axis=1), pt.take(x, 2, axis=0)], mode=mode
    )
    a, b, c = f(X[0])
    np.testing.assert_array_equal(a, X[0].take([1, 3]))
    np.testing.assert_array_equal(b, X[0].take([1, 0], axis=1))
    np.testing.assert_array_equal(c, X[0].take(2, axis=0))


@pytest.mark.parametrize("linker", ["jit", "c", "vm"])
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "float64"])
def test_a_boolean_scalar_as_index(linker, dtype):
    x, v = pt.vector("x", dtype=dtype), pt.vector("v", dtype="float32")
    f = bt.function([x, v], v[pt.cast(x > 0, "int64")], mode=bt.Mode(linker, "fast_run"))
    values = (np.arange(33) % 3 == 0).astype(dtype)
    np.testing.assert_array_equal(f(values, np.float32([5, 6])), np.where(values > 0, 6, 5))

"""A derivative that is zero by structure stays zero, whatever it is multiplied by: the branch of a switch that was not
taken, elements that were clipped, overwritten or never read, the side of an ifelse that did not run."""

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale.gradient import hessian, pushforward

NAN, INF = np.nan, np.inf


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-12, atol=0)


def on_all(build, point, expected, mode):
    """The gradient of the sum, by reverse and by forward mode."""
    point = np.asarray(point, dtype=float)
    x = pt.tensor("x", dtype="float64", shape=(None,) * point.ndim)
    y = build(x)
    close(
        bt.function([x], bt.grad(y.sum(), x), mode=mode, on_unused_input="ignore")(point), expected
    )
    flat = np.eye(point.size).reshape((point.size, *point.shape))
    forward = bt.function(
        [x, t := x.type("t")], pushforward(y.sum(), x, t), mode=mode, on_unused_input="ignore"
    )
    close([forward(point, row) for row in flat], np.ravel(expected))


ELEMENTWISE = {
    "sqrt": (lambda x: pt.switch(x > 0, pt.sqrt(x), 0), [-1, 0, 4], [0, 0, 0.25]),
    "x log x": (lambda x: pt.switch(x > 0, x * pt.log(x), 0), [-1, 0, 1], [0, 0, 1]),
    "scaled log": (lambda x: pt.switch(x > 0, 2 * pt.log(x), 0), [0, 2, -1], [0, 1, 0]),
    "inside the unit circle": (
        lambda x: pt.switch(abs(x) < 1, pt.sqrt(1 - x * x), 0),
        [-2, 0, 1, 0.6],
        [0, 0, 0, -0.75],
    ),
    "negative branch": (lambda x: pt.switch(x <= 0, 0, pt.sqrt(x)), [-1, 0, 4], [0, 0, 0.25]),
    "nested": (
        lambda x: pt.switch(x > 0, pt.switch(x < 2, pt.log(x), pt.sqrt(x - 2)), 0),
        [0, 1, 6],
        [0, 1, 0.25],
    ),
    "both branches": (lambda x: pt.switch(x > 0, pt.log(x), pt.sqrt(-x)), [4, -4], [0.25, -0.25]),
    "constants between": (
        lambda x: pt.switch(x > 0, 3 * (pt.sqrt(x) + 1) / 2 - 1, 0) * 4,
        [0, 4],
        [0, 1.5],
    ),
    "clip": (lambda x: pt.clip(pt.log(x), -10, 10), [0, 1, INF], [0, 1, 0]),
    "maximum": (lambda x: pt.maximum(pt.log(x), -10), [0, 2], [0, 0.5]),
    "minimum": (lambda x: pt.minimum(1 / x, 5), [0, 1], [0, -1]),
    "abs": (lambda x: pt.switch(x > 0, abs(pt.log(x)), 0), [0, 0.5], [0, -2]),
    "below the bound": (lambda x: pt.sqrt(pt.maximum(x, 0)), [-1, 4], [0, 0.25]),
    "cast": (
        lambda x: pt.switch(x > 0, pt.sqrt(x).astype("float32").astype("float64"), 0),
        [0, 4],
        [0, 0.25],
    ),
    "power": (lambda x: pt.switch(x > 0, x**0.3, 0), [0, 1], [0, 0.3]),
    "data": (
        lambda x: pt.switch(pt.constant([True, False]), x * pt.constant([2.0, NAN]), 0),
        [1, 1],
        [2, 0],
    ),
}


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise(name, mode):
    on_all(*ELEMENTWISE[name], mode)


MOVED = {
    "sum": (
        lambda x: pt.switch(x[:, 0] > 0, pt.sqrt(x).sum(axis=1), 0),
        [[-1, 4], [4, 4]],
        [[0, 0], [0.25, 0.25]],
    ),
    "broadcast": (
        lambda x: pt.switch(pt.constant([[True], [False]]), (x**0.5)[None, :], 0)[:1],
        [4.0, 1],
        [0.25, 0.5],
    ),
    "repeated and masked": (
        lambda x: pt.switch((x > 0)[None, :], pt.sqrt(x)[None, :] * pt.ones((3, 1)), 0),
        [-1, 0, 4],
        [0, 0, 0.75],
    ),
    "reshape": (
        lambda x: pt.switch(x.ravel() > 0, pt.sqrt(x).reshape((4,)), 0),
        [[-1, 0], [4, 1]],
        [[0, 0], [0.25, 0.5]],
    ),
    "transpose": (
        lambda x: pt.switch(x.T > 0, pt.sqrt(x).T, 0),
        [[-1, 0], [4, 1]],
        [[0, 0], [0.25, 0.5]],
    ),
    "index": (lambda x: pt.sqrt(x)[1:], [0, 4, 1], [0, 0.25, 0.5]),
    "integer index": (lambda x: pt.sqrt(x)[2] + pt.sqrt(x)[1], [0, 4, 1], [0, 0.25, 0.5]),
    "gather": (lambda x: pt.sqrt(x)[pt.constant([1, 1, 2])], [0, 4, 1], [0, 0.5, 0.5]),
    "gather of masked rows": (
        lambda x: pt.switch(pt.constant([True, False]), pt.sqrt(x)[pt.constant([1, 0])], 0),
        [0, 4],
        [0, 0.25],
    ),
    "boolean index": (lambda x: pt.sqrt(x)[x > 0], [0, 4], [0, 0.25]),
    "overwritten": (lambda x: pt.sqrt(x)[0].set(1.0), [0, 4], [0, 0.25]),
    "overwritten by index": (
        lambda x: pt.sqrt(x)[pt.constant([0, 1])].set(1.0),
        [0, -1, 4],
        [0, 0, 0.25],
    ),
    "overwritten, then a root": (lambda x: pt.sqrt(x[0].set(0.0)), [3, 4], [0, 0.25]),
    "join": (lambda x: pt.concatenate([pt.sqrt(x), x])[2:], [0, 4], [1, 1]),
    "product": (
        lambda x: pt.switch(x[:, 0] > 0, pt.sqrt(x).prod(axis=1), 0),
        [[-1, 4], [4, 4]],
        [[0, 0], [0.5, 0.5]],
    ),
    "diagonal": (lambda x: pt.sqrt(x).diagonal(), [[1.0, 0], [0, 4]], [[0.5, 0], [0, 0.25]]),
}


@pytest.mark.parametrize("name", MOVED)
def test_moved(name, mode):
    on_all(*MOVED[name], mode)


def test_nan_in_what_is_masked(mode):
    x, y = pt.dvectors("x", "y")
    gx, gy = bt.grad((pt.switch(x > 0, x, 0) * 0.5 * y).sum(), [x, y])
    f = bt.function([x, y], [gx, gy], mode=mode)
    close(f([-1, 2], [NAN, 3]), [[0, 1.5], [0, 1]])
    mu, data, seen = pt.dscalar("mu"), pt.dvector("data"), pt.vector("seen", dtype="bool")
    cost = pt.switch(seen, -0.5 * (data - mu) ** 2, 0).sum()
    g = bt.function([mu, data, seen], bt.grad(cost, mu), mode=mode)
    close(g(1.0, [2, NAN, 4], [True, False, True]), 4)


def test_derivatives_that_are_infinite_remain(mode):
    """Only zeros by structure are protected: a product of a zero that was computed with infinity is nan."""
    x = pt.dvector("x")
    g = bt.function([x], bt.grad(pt.switch(x >= 0, pt.sqrt(x) ** 2, 0).sum(), x), mode=mode)(
        np.array([-1.0, 0, 4])
    )
    assert g[0] == 0 and g[2] == 1 and (np.isnan(g[1]) or g[1] == 1)


def test_second_derivatives(mode):
    x = pt.dvector("x")
    for build, expected in [
        (lambda x: pt.switch(x > 0, pt.sqrt(x), 0), [0, 0, -0.25 / 8]),
        (lambda x: pt.switch(x > 0, x * pt.log(x), 0), [0, 0, 0.25]),
        (lambda x: pt.sqrt(x)[2:], [0, 0, -0.25 / 8]),
        (lambda x: pt.clip(pt.log(x), -1, 10), [0, 0, -1 / 16]),
    ]:
        y = build(x).sum()
        h = bt.function([x], hessian(y, x), mode=mode)
        close(h(np.array([-1.0, 0, 4])), np.diag(expected))


def test_weights_that_are_zero(mode):
    """log(sum(w exp(c))) is shifted where w is not zero; its gradient by a weight that is zero is not."""
    w, c = pt.dvectors("w", "c")
    cost = pt.log((w * pt.exp(c)).sum())
    f = bt.function([w, c], [cost, *bt.grad(cost, [w, c])], mode=mode)
    value, gw, gc = f([0, 1], [0, 0])
    close(value, 0)
    close(gw, [1, 1])
    close(gc, [0, 1])
    if mode == "FAST_RUN":  # which stabilises values, too
        value, gw, gc = f([0, 1], [3, 900])
        close(value, 900)
        close(gw, [0, 1])
    close(f([0, 1], [5, 3])[1], [np.exp(2), 1])
    h = bt.function([w, c], hessian(cost, w), mode=mode)
    close(h([0, 1], [0, 0]), -np.ones((2, 2)))
    a, b, x, y = pt.dscalars("a", "b", "x", "y")
    two = pt.log(a * pt.exp(x) + b * pt.exp(y))
    g = bt.function([a, b, x, y], bt.grad(two, [a, b, x, y]), mode=mode)
    close(g(0, 2, 1, 0), [np.exp(1) / 2, 0.5, 0, 1])
    close(g(0, 2, 800, 850), [np.exp(-50) / 2, 0.5, 0, 1])
    W = pt.dmatrix("W")
    rows = pt.log((W * pt.exp(c)).sum(axis=1)).sum()
    close(
        bt.function([W, c], bt.grad(rows, W), mode=mode)([[0, 1], [2, 0]], [0, 0]),
        [[1, 1], [0.5, 0.5]],
    )
    normalised = pt.log((w / w.sum() * pt.exp(c)).sum())
    close(
        bt.function([w, c], bt.grad(normalised, w), mode=mode)([0, 1], [1, 0]), [np.exp(1) - 1, 0]
    )


def test_sides_of_ifelse_that_do_not_run(mode):
    v = pt.dscalar("v")
    g = bt.function([v], bt.grad(bt.ifelse(v > 0, v + 1, pt.exp(v)), v), mode=mode)
    close(g(1000.0), 1)
    close(g(-1.0), np.exp(-1))
    x, i = pt.dvector("x"), pt.lscalar("i")
    safe = bt.ifelse(i < x.shape[0], x[i] ** 2, pt.constant(0.0, dtype="float64"))
    f = bt.function([x, i], [safe, bt.grad(safe, x, disconnected_inputs="ignore")], mode=mode)
    close(f([1.0, 3.0], 1)[1], [0, 6])
    close(f([1.0, 3.0], 5)[1], [0, 0])
    A = pt.dmatrix("A")
    logdet = bt.ifelse(A[0, 0] > 0, pt.log(pt.linalg.cholesky(A).diagonal()).sum(), A.sum())
    g = bt.function([A], bt.grad(logdet, A), mode=mode)
    close(g(-np.eye(2)), np.ones((2, 2)))
    np.testing.assert_allclose(g(4 * np.eye(2)), np.eye(2) / 8, atol=1e-12)


def test_nested_ifelse(mode):
    v = pt.dscalar("v")
    inner = bt.ifelse(v > -1, pt.sqrt(v + 1), pt.log(v + 1))
    outer = bt.ifelse(v < 0, pt.exp(1e3 * v) * inner * 0 + v, inner * 2 + pt.log(v))
    g = bt.function([v], bt.grad(outer, v), mode=mode)
    close(g(3.0), 0.5 + 1 / 3)
    both = bt.ifelse(v > 0, pt.log(v), pt.log(-v)) + bt.ifelse(v > 0, pt.sqrt(v), pt.sqrt(-v))
    h = bt.function([v], bt.grad(both, v), mode=mode)
    close(h(4.0), 0.5)
    close(h(-4.0), -0.5)


def test_quotients_by_a_sum_of_exponentials(mode):
    v = pt.dvector("v")
    p = pt.exp(v) / pt.exp(v).sum()
    point = np.array([900.0, 900.0])
    for shown, expected in [
        (p[0], 0.5),
        (p[:1], [0.5]),
        (p[::-1], [0.5, 0.5]),
        (p.reshape((2, 1)), [[0.5], [0.5]]),
        ((p * v).sum(), 900),
        (p[pt.constant([1])], [0.5]),
    ]:
        close(bt.function([v], shown, mode=mode)(point), expected)
    m = pt.dmatrix("m")
    q = pt.exp(m) / pt.exp(m).sum(axis=1, keepdims=True)
    close(bt.function([m], q.T[0], mode=mode)(np.full((1, 2), 900.0)), [0.5])
    close(bt.function([v], bt.grad(p[0], v), mode=mode)(point), [0.25, -0.25])


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8"])
def test_integers_are_stabilised_like_floats(dtype):
    i = pt.vector("i", dtype=dtype)
    point = (
        np.array([100, 0], dtype) if np.dtype(dtype).itemsize == 1 else np.array([3000, 0], dtype)
    )
    x = point.astype(float)
    for value, expected in [
        (pt.log1p(pt.exp(i)), np.logaddexp(0, x)),
        (pt.log(pt.sigmoid(-i)) if dtype != "uint8" else None, -np.logaddexp(0, x)),
        (pt.log(pt.exp(i).sum()), np.logaddexp.reduce(x)),
        (pt.log(1 + pt.exp(i)), np.logaddexp(0, x)),
    ]:
        if value is not None:
            np.testing.assert_allclose(
                bt.function([i], value, mode="FAST_RUN")(point), expected, rtol=1e-6
            )


def test_scans(mode):
    x = pt.dvector("x")
    ys = bt.scan(lambda e: pt.sqrt(e), sequences=[x], return_updates=False)
    masked = pt.switch(x > 0, ys, 0).sum()
    close(bt.function([x], bt.grad(masked, x), mode=mode)([-1.0, 0, 4]), [0, 0, 0.25])
    last = bt.scan(
        lambda e, s: s + pt.switch(e > 0, pt.sqrt(e), 0),
        sequences=[x],
        outputs_info=[pt.constant(0.0, dtype="float64")],
        return_updates=False,
    )[-1]
    close(bt.function([x], bt.grad(last, x), mode=mode)([-1.0, 0, 4]), [0, 0, 0.25])
    state = bt.scan(lambda s: pt.sqrt(s), outputs_info=[x], n_steps=2, return_updates=False)[-1]
    first = bt.scan(lambda e: pt.sqrt(e), sequences=[x[0].set(0.0)], return_updates=False).sum()
    t = x.type("t")
    close(bt.function([x, t], pushforward(first, x, t), mode=mode)([3.0, 4], [1, 1]), 0.25)
    roots = bt.scan(
        lambda s: pt.sqrt(s), outputs_info=[x[0].set(0.0)], n_steps=2, return_updates=False
    )[-1].sum()
    close(bt.function([x, t], pushforward(roots, x, t), mode=mode)([3.0, 1], [1, 1]), 0.25)
    close(bt.function([x], bt.grad(roots, x), mode=mode)([3.0, 1]), [0, 0.25])
    kept = pt.switch(x > 0, state, 0).sum()
    close(bt.function([x], bt.grad(kept, x), mode=mode)([-1.0, 0, 1]), [0, 0, 0.25])


def test_numbers_computed_from_masked_rows(mode):
    # No row reads the logarithm, whose operand is the sum of weights that are all zero.
    w = pt.dvector("w")
    total = pt.log((w * pt.exp(w)).sum())
    cost = pt.sqrt(pt.maximum(w + total, 0)).sum()
    close(bt.function([w], bt.grad(cost, w), mode=mode)([0.0]), [0])
    close(
        bt.function([w], bt.grad(pt.switch(w > 0, total, 0).sum(), w), mode=mode)([0.0, 0.0]),
        [0, 0],
    )


def test_an_overwritten_element_that_a_sum_reaches(mode):
    x, w = pt.dvectors("x", "w")
    log = pt.log(w)
    for expression in [
        x * log.sum(),
        log.sum() + 0 * x,
        x + log.sum(),
        pt.log(x * pt.sqrt(w).prod()),
    ]:
        cost = pt.set_subtensor(pt.switch(x > 0, expression, 0)[0], 1.0).sum()
        f = bt.function([x, w], pt.grad(cost, w), mode=mode)
        assert f([-1.0, -1.0], [0.0, -1.0]).tolist() == [0, 0]
        assert f([5.0], [0.0, -1.0]).tolist() == [0, 0]


@pytest.mark.parametrize("p", [1, 2, 3])
def test_lags_of_short_vectors(p, mode):
    """Slices of all lags read everything, or nothing at all."""
    w = pt.dvector("w")
    lags = [pt.log(w)[i : (i - p) or None] for i in range(p + 1)]
    total = sum(lag.sum() * (i + 1.0) for i, lag in enumerate(lags))
    f = bt.function(
        [w],
        [pt.grad(total, w), pt.grad(pt.prod(pt.stack([lag.sum() for lag in lags])), w)],
        mode=mode,
    )
    for n in range(2 * p + 3):
        values = np.arange(n) * 1.0
        by_sum, by_product = f(values)
        right = np.zeros(n)
        with np.errstate(divide="ignore"):
            for i in range(p + 1):
                right[i : max(n - (p - i), i)] += (i + 1) / values[i : max(n - (p - i), i)]
        np.testing.assert_allclose(by_sum, right)
        if n <= p:
            assert by_product.tolist() == [0] * n


def test_rows_of_which_an_index_reads_nothing(mode):
    """The log-probabilities of rows that are not read may be undefined."""
    Z, rows, columns = pt.dmatrix("Z"), pt.lvector("rows"), pt.lvector("columns")
    cost = pt.log(pt.exp(Z).sum(axis=1, keepdims=True) + 0 * Z)[rows, columns].sum()
    f = bt.function([Z, rows, columns], pt.grad(cost, Z), mode=mode)
    values = np.array([[0.0, 0.0], [-np.inf, -np.inf], [0.0, 0.0]])
    assert f(values, [0, 2, 2], [0, 1, 1]).tolist() == [[0.5, 0.5], [0, 0], [1, 1]]
    assert f(values, [], []).tolist() == np.zeros((3, 2)).tolist()

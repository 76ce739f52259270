"""scan: values and gradients against explicit loops with every linker, and errors for invalid input."""

import itertools
import re

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale.scan import fori_loop, until, while_loop
from bitale.scan import filter as scan_filter

LINKERS = ["vm", "jit", "c"]
rng = np.random.default_rng(3)


def call(inputs, outputs, values, linker="jit"):
    f = bt.function(inputs, outputs, mode=bt.Mode(linker=linker), on_unused_input="ignore")
    return f(*values)


def numeric(f, values, k, eps=1e-6):
    """Central differences of the scalar function f with respect to its k-th argument."""
    at = [np.array(v, dtype=float) for v in values]
    out = np.zeros_like(at[k])
    for i in np.ndindex(*at[k].shape):
        sides = []
        for sign in (1, -1):
            moved = [v.copy() for v in at]
            moved[k][i] += sign * eps
            sides.append(f(*moved))
        out[i] = (sides[0] - sides[1]) / (2 * eps)
    return out


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("n", [0, 1, 7])
def test_recurrence(linker, n):
    x, a, y0 = pt.dvector("x"), pt.dscalar("a"), pt.dscalar("y0")
    ys, updates = bt.scan(lambda x_t, y: a * y + x_t, sequences=x, outputs_info=y0)
    assert updates == {}
    values = rng.normal(size=n), 0.7, 0.3
    expected, y = [], values[2]
    for each in values[0]:
        y = values[1] * y + each
        expected.append(y)
    np.testing.assert_allclose(call([x, a, y0], ys, values, linker), np.array(expected), rtol=1e-14)


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("n", [0, 1, 6])
def test_gradients_of_a_recurrence(linker, n):
    x, a, y0 = pt.dvector("x"), pt.dscalar("a"), pt.dscalar("y0")
    ys = bt.scan(
        lambda x_t, y: pt.tanh(a * y + x_t) * y, sequences=x, outputs_info=y0, return_updates=False
    )
    cost = (ys**2).sum() + pt.sin(ys).sum()
    values = [rng.normal(size=n), 0.7, 0.8]

    def loop(xs, a, y):
        out = 0.0
        for each in xs:
            y = np.tanh(a * y + each) * y
            out += y**2 + np.sin(y)
        return out

    got = call([x, a, y0], [cost, *bt.grad(cost, [x, a, y0])], values, linker)
    np.testing.assert_allclose(got[0], loop(*values), rtol=1e-13)
    for k in range(3):
        np.testing.assert_allclose(got[k + 1], numeric(loop, values, k), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("linker", LINKERS)
def test_tanh_rnn(linker):
    x, w, h0 = pt.dmatrix("x"), pt.dmatrix("w"), pt.dvector("h0")
    hs = bt.scan(
        lambda x_t, h: pt.tanh(w @ h + x_t), sequences=x, outputs_info=h0, return_updates=False
    )
    cost = (hs**2).sum() + hs[-1].sum()
    values = [rng.normal(size=(5, 3)), rng.normal(size=(3, 3)), rng.normal(size=3)]

    def loop(xs, w, h):
        out = 0.0
        for each in xs:
            h = np.tanh(w @ h + each)
            out += (h**2).sum()
        return out + h.sum()

    got = call([x, w, h0], [cost, *bt.grad(cost, [x, w, h0])], values, linker)
    np.testing.assert_allclose(got[0], loop(*values), rtol=1e-13)
    for k in range(3):
        np.testing.assert_allclose(got[k + 1], numeric(loop, values, k), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("linker", LINKERS)
def test_taps(linker):
    x, s = pt.dvector("x"), pt.dvector("s")
    ys = bt.scan(
        lambda x2, x0, xm, y1, y3: y1 * 0.5 - y3 * 0.25 + x2 * x0 + xm,
        sequences=[{"input": x, "taps": [2, 0, -1]}],
        outputs_info=[{"initial": s, "taps": [-1, -3]}],
        return_updates=False,
    )
    values = [rng.normal(size=9), rng.normal(size=3)]

    def loop(x, s):
        y = list(s)
        for t in range(1, len(x) - 2):
            y.append(y[-1] * 0.5 - y[-3] * 0.25 + x[t + 2] * x[t] + x[t - 1])
        return np.array(y[3:])

    np.testing.assert_allclose(call([x, s], ys, values, linker), loop(*values), rtol=1e-13)
    cost = (ys**2).sum()
    for got, k in zip(call([x, s], bt.grad(cost, [x, s]), values, linker), range(2)):
        np.testing.assert_allclose(
            got, numeric(lambda *v: (loop(*v) ** 2).sum(), values, k), rtol=1e-6, atol=1e-8
        )


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("limit", [-1.0, 3.0, 1e9])
def test_until(linker, limit):
    a, y0 = pt.dscalar("a"), pt.dscalar("y0")
    ys = bt.scan(
        lambda y: (y * a + 1.0, until(y * a + 1.0 > limit)),
        outputs_info=y0,
        n_steps=6,
        return_updates=False,
    )

    def loop(a, y, keep=False):
        out = []
        for _ in range(6):
            y = y * a + 1.0
            out.append(y)
            if y > limit:
                break
        return np.array(out) if keep else (np.array(out) ** 2).sum()

    values = [1.3, 0.5]
    np.testing.assert_allclose(call([a, y0], ys, values, linker), loop(*values, True), rtol=1e-13)
    cost = (ys**2).sum()
    for got, k in zip(call([a, y0], bt.grad(cost, [a, y0]), values, linker), range(2)):
        np.testing.assert_allclose(got, numeric(loop, values, k), rtol=1e-6)


@pytest.mark.parametrize("linker", LINKERS)
def test_several_results_of_several_kinds(linker):
    x, k0, m0 = pt.fmatrix("x"), pt.lscalar("k0"), pt.fmatrix("m0")
    out = bt.scan(
        lambda x_t, k, m: [
            k + 1,
            m + pt.outer(x_t, x_t) * pt.cast(k, "float32"),
            x_t.sum(),
            x_t > 0,
        ],
        sequences=x,
        outputs_info=[k0, m0, None, None],
        return_updates=False,
    )
    xs = rng.normal(size=(4, 2)).astype("float32")
    got = call([x, k0, m0], out, [xs, 3, np.zeros((2, 2), "float32")], linker)
    k, m, rows = 3, np.zeros((2, 2)), []
    for each in xs:
        m = m + np.outer(each, each) * k
        k += 1
        rows.append(m)
    np.testing.assert_array_equal(got[0], [4, 5, 6, 7])
    np.testing.assert_allclose(got[1], rows, rtol=1e-5)
    np.testing.assert_allclose(got[2], xs.sum(1), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(got[3], xs > 0)
    assert [g.dtype for g in got] == ["int64", "float32", "float32", "bool"]


def test_go_backwards_n_steps_and_weak_numbers():
    x, n = pt.dvector("x"), pt.lscalar("n")
    ys = bt.scan(
        lambda x_t, y: y + x_t,
        sequences=x,
        outputs_info=0,
        go_backwards=True,
        n_steps=n,
        return_updates=False,
    )
    assert ys.dtype == "float64"
    f = bt.function([x, n], ys)
    np.testing.assert_array_equal(f([1.0, 2.0, 4.0], 2), [4.0, 6.0])
    np.testing.assert_array_equal(f([1.0, 2.0, 4.0], 0), [])
    with pytest.raises(ValueError, match="4"):
        f([1.0, 2.0, 4.0], 4)
    with pytest.raises(ValueError, match="n_steps is -1|negative|-1"):
        f([1.0, 2.0, 4.0], -1)


@pytest.mark.parametrize("linker", LINKERS)
def test_nested(linker):
    x, a = pt.dvector("x"), pt.dscalar("a")

    def outer(x_t, y):
        within = bt.scan(
            lambda z: pt.sin(z * a) + x_t, outputs_info=y, n_steps=3, return_updates=False
        )
        return within[-1]

    ys = bt.scan(outer, sequences=x, outputs_info=pt.zeros([]), return_updates=False)

    def loop(xs, a):
        y, out = 0.0, 0.0
        for each in xs:
            for _ in range(3):
                y = np.sin(y * a) + each
            out += y * y
        return out

    values = [rng.normal(size=4), 0.9]
    cost = (ys**2).sum()
    got = call([x, a], [cost, *bt.grad(cost, [x, a])], values, linker)
    np.testing.assert_allclose(got[0], loop(*values), rtol=1e-12)
    for k in range(2):
        np.testing.assert_allclose(got[k + 1], numeric(loop, values, k), rtol=1e-6)


def test_second_derivatives_and_forward_mode():
    x, a = pt.dvector("x"), pt.dscalar("a")
    ys = bt.scan(
        lambda x_t, y: pt.tanh(a * y + x_t), sequences=x, outputs_info=0.5, return_updates=False
    )
    cost = (ys**2).sum()
    g = bt.grad(cost, a)
    values = [rng.normal(size=5), 0.8]
    first = bt.function([x, a], g)
    second = bt.function([x, a], bt.grad(g, a))
    eps = 1e-5
    np.testing.assert_allclose(
        second(*values),
        (first(values[0], 0.8 + eps) - first(values[0], 0.8 - eps)) / (2 * eps),
        rtol=1e-7,
    )
    tangent = bt.function([x, a], bt.pushforward(cost, [a], [pt.ones([])]))(*values)
    np.testing.assert_allclose(np.squeeze(tangent), first(*values), rtol=1e-12)
    hessian = bt.function([x, a], bt.hessian(cost, x))(*values)
    gx = bt.function([x, a], bt.grad(cost, x))
    moved = values[0].copy()
    moved[2] += eps
    np.testing.assert_allclose(
        hessian[2], (gx(moved, 0.8) - gx(values[0], 0.8)) / eps, rtol=1e-3, atol=1e-5
    )
    np.testing.assert_allclose(hessian, hessian.T, rtol=1e-9, atol=1e-12)


def test_jacobian_and_batches():
    x, a, y0 = pt.dvector("x"), pt.dscalar("a"), pt.dscalar("y0")
    ys = bt.scan(
        lambda x_t, y: pt.tanh(a * y + x_t), sequences=x, outputs_info=y0, return_updates=False
    )
    values = [rng.normal(size=4), 0.8, 0.1]
    jacobian = call([x, a, y0], bt.jacobian(ys, x), values)
    f = bt.function([x, a, y0], ys)
    for k in range(4):
        moved = values[0].copy()
        moved[k] += 1e-6
        np.testing.assert_allclose(
            jacobian[:, k], (f(moved, 0.8, 0.1) - f(*values)) / 1e-6, rtol=1e-4, atol=1e-6
        )
    xs, bs = pt.dmatrix("xs"), pt.dvector("bs")
    many = bt.vectorize_graph(ys, {x: xs, a: bs})
    stack, rates = rng.normal(size=(3, 4)), np.array([0.1, 0.5, 0.9])
    got = call([xs, bs, y0], many, [stack, rates, 0.1])
    np.testing.assert_allclose(got, [f(s, r, 0.1) for s, r in zip(stack, rates)], rtol=1e-13)


@pytest.mark.parametrize(
    "step",
    [
        lambda x_t, y: pt.sort(y) * 0.2 + x_t,
        lambda x_t, y: pt.concatenate([y[1:], y[:1]]) * pt.cumsum(x_t),
    ],
)
def test_gradients_of_batches_of_unknown_lengths(step):
    """Lengths that the backward loop needs are not stored per step, since those of a batch could differ."""
    x, y0 = pt.dmatrix("x"), pt.dvector("y0")
    ys = bt.scan(step, sequences=x, outputs_info=y0, return_updates=False)
    gradients = bt.grad(pt.sum(pt.sin(ys)), [x, y0])
    xs = pt.dtensor3("xs")
    stack, start = rng.normal(size=(3, 4, 5)), rng.normal(size=5)
    f = bt.function([x, y0], gradients)
    got = bt.function([xs, y0], bt.vectorize_graph(gradients, {x: xs}))(stack, start)
    for of_batch, singles in zip(got, zip(*(f(each, start) for each in stack))):
        np.testing.assert_allclose(of_batch, singles, rtol=1e-12)


@pytest.mark.parametrize("steps", [2, 5, 100])
def test_truncated_gradient(steps):
    x, a, y0 = pt.dvector("x"), pt.dscalar("a"), pt.dscalar("y0")
    ys = bt.scan(
        lambda x_t, y: a * y + x_t,
        sequences=x,
        outputs_info=y0,
        truncate_gradient=steps,
        return_updates=False,
    )
    values = [rng.normal(size=5), 0.5, 2.0]
    gx, ga, g0 = call([x, a, y0], bt.grad(ys[-1], [x, a, y0]), values)
    ys = [2.0]
    for each in values[0]:
        ys.append(0.5 * ys[-1] + each)
    weights = np.array([0.5 ** (4 - t) if 4 - t < steps else 0.0 for t in range(5)])
    np.testing.assert_allclose(gx, weights)
    np.testing.assert_allclose(ga, (weights * np.array(ys[:-1])).sum())
    np.testing.assert_allclose(g0, 0.5**5 if steps >= 5 else 0.0)


def test_shared_variables_and_updates():
    counter = bt.shared(np.int64(3), name="counter")
    w = bt.shared(np.array([1.0, 2.0]), name="w")
    ys, updates = bt.scan(
        lambda y: (y + w * pt.cast(counter, "float64"), {counter: counter + 1}), None, w, n_steps=3
    )
    f = bt.function([], ys, updates=updates)
    np.testing.assert_allclose(f(), np.array([1.0, 2.0]) * np.array([[4.0], [8.0], [13.0]]))
    assert counter.get_value() == 6
    with pytest.raises(bt.MissingInputError, match="counter"):
        bt.scan(lambda y: y + pt.cast(counter, "float64"), None, w, n_steps=3, strict=True)


def test_short_forms():
    x = pt.dvector("x")
    values = np.array([1.0, -2.0, 4.0])
    squares, _ = bt.map(lambda v: v**2, x)
    last, _ = bt.reduce(lambda v, s: s + v, x, pt.zeros([]))
    left, _ = bt.foldl(lambda v, s: s * 0.5 + v, x, pt.zeros([]))
    right, _ = bt.foldr(lambda v, s: s * 0.5 + v, x, pt.zeros([]))
    positive, _ = scan_filter(lambda v: v > 0, x)
    got = call([x], [squares, last, left, right, positive], [values])
    np.testing.assert_allclose(got[0], values**2)
    np.testing.assert_allclose(got[1:4], [3.0, (0.5 - 2) * 0.5 + 4, (2.0 - 2.0) * 0.5 + 1])
    np.testing.assert_allclose(got[4], [1.0, 4.0])
    n = pt.lscalar("n")
    factorial = fori_loop(1, n + 1, lambda i, p: p * i, pt.constant(1, dtype="int64"))
    assert bt.function([n], factorial)(6) == 720
    root = while_loop(
        lambda v: abs(v * v - 2.0) > 1e-12, lambda v: (v + 2.0 / v) / 2.0, 1.0, max_steps=50
    )
    np.testing.assert_allclose(bt.function([], root)(), np.sqrt(2.0))


@pytest.mark.parametrize("n", [1, 7, 20])
def test_checkpoints(n):
    x, a = pt.dvector("x"), pt.dscalar("a")
    plain = bt.scan(
        lambda x_t, y: pt.tanh(a * y + x_t), sequences=x, outputs_info=0.5, return_updates=False
    )
    kept, _ = bt.scan_checkpoints(
        lambda x_t, y: pt.tanh(a * y + x_t), sequences=x, outputs_info=0.5, save_every_N=5
    )
    values = [rng.normal(size=n), 0.8]
    got = call([x, a], [plain[-1], kept[-1], bt.grad(plain[-1], a), bt.grad(kept[-1], a)], values)
    np.testing.assert_allclose(got[1], got[0], rtol=1e-13)
    np.testing.assert_allclose(got[3], got[2], rtol=1e-12)


def test_bad_input():
    x, y = pt.dvector("x"), pt.dvector("y")
    with pytest.raises(ValueError, match="n_steps"):
        bt.scan(lambda s: s, outputs_info=pt.zeros([]))
    with pytest.raises(ValueError, match="-2"):
        bt.scan(lambda s: s, outputs_info=pt.zeros([]), n_steps=-2)
    with pytest.raises(TypeError, match="result 0 starts as .*float32.*float64(.|\n)*cast"):
        bt.scan(lambda x_t, s: s + x_t, x, pt.constant(np.float32(0)))
    with pytest.raises(TypeError, match="dimension"):
        bt.scan(lambda x_t, s: s + x, x, pt.zeros([]))
    with pytest.raises(TypeError, match="shape"):
        bt.scan(lambda x_t, s: pt.zeros([3]) + s, x, pt.zeros([1]))
    with pytest.raises(ValueError, match="before the start"):
        bt.scan(lambda x_t, s: s + x_t, x, {"initial": pt.zeros([2]), "taps": [-3]})
    with pytest.raises(ValueError, match="negative"):
        bt.scan(lambda x_t, s: s + x_t, x, {"initial": pt.zeros([2]), "taps": [1]})
    with pytest.raises(ValueError, match="2 results, expected 1"):
        bt.scan(lambda x_t, s: [s, s], x, pt.zeros([]))
    with pytest.raises(ValueError, match="1 result, expected 2"):
        bt.scan(lambda x_t, s, r: s, x, [pt.zeros([]), pt.zeros([])])
    with pytest.raises(TypeError, match="until"):
        bt.scan(lambda x_t, s: (s, until(x > 0)), x, pt.zeros([]))
    with pytest.raises(ValueError, match="unknown key"):
        bt.scan(lambda x_t: x_t, {"input": x, "tap": [0]})
    with pytest.raises(ValueError, match="initial"):
        bt.scan(lambda x_t, s: s, x, {"taps": [-1]})
    both = bt.scan(lambda a, b: a + b, [x, y], return_updates=False)
    for linker in LINKERS:
        with pytest.raises(ValueError, match="elements|length"):
            call([x, y], both, [np.ones(3), np.ones(4)], linker)
    with pytest.raises(ValueError, match="3|sequence"):
        bt.scan(lambda a: a, pt.zeros([3]), n_steps=4)


def test_errors_name_the_step():
    x, i = pt.dvector("x"), pt.lvector("i")
    ys = bt.scan(lambda i_t: x[i_t], i, return_updates=False)
    f = bt.function([x, i], ys, mode=bt.Mode(linker="vm", optimizer="fast_compile"))
    with pytest.raises(IndexError, match="step +2 of 3"):
        f([1.0, 2.0], [0, 1, 5])


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("of_state", [False, True])
def test_errors_of_batched_cholesky_in_a_step(linker, of_state):
    a, total = pt.dtensor4("a"), bt.shared(0.0)

    def step(matrices, state):
        factors = pt.linalg.cholesky(matrices + 0 * state if of_state else matrices)
        return state + factors.sum()

    out = bt.scan(step, a, pt.zeros(()), return_updates=False)[-1]
    f = bt.function([a], out, updates=[(total, total + out)], mode=bt.Mode(linker=linker))
    good = np.stack([np.stack([np.eye(3) * (j + k + 1) for k in range(4)]) for j in range(3)])
    bad = good.copy()
    bad[1, 2] = -np.eye(3)
    with pytest.raises(
        np.linalg.LinAlgError, match="cholesky: the matrix is not positive definite"
    ) as caught:
        f(bad)
    message = str(caught.value)
    assert "test_scan.py" in message and ".step`" in message
    if of_state:
        assert "in matrix [2] of [4]" in message and "step     1 of 3" in message
    else:
        assert "in matrix [1, 2] of [3, 4]" in message
    assert total.get_value() == 0
    assert f(good) == pytest.approx(np.sqrt(good).sum())
    assert total.get_value() == pytest.approx(np.sqrt(good).sum())


def test_pickle_print_and_equality():
    import pickle

    x = pt.dvector("x")
    ys = bt.scan(lambda x_t, y: x_t + y, x, 0.0, return_updates=False)
    zs = bt.scan(lambda x_t, y: x_t + y, x, 0.0, return_updates=False)
    assert ys.owner.op == zs.owner.op and hash(ys.owner.op) == hash(zs.owner.op)
    assert "Scan{" in bt.dprint(ys, file="str") and "Add" in bt.dprint(ys, file="str")
    f = pickle.loads(pickle.dumps(bt.function([x], ys)))
    np.testing.assert_allclose(f([1.0, 2.0, 3.0]), [1.0, 3.0, 6.0])


def scans(f):
    return [
        node
        for node in f.maker.fgraph.toposort()
        if type(node.op).__name__ == "Scan" or str(node.op).startswith("Scan")
    ]


def test_value_and_gradient_share_the_forward_scan():
    x, a = pt.dvector("x"), pt.dscalar("a")
    ys = bt.scan(lambda x_t, y: pt.tanh(a * y + x_t), x, 0.5, return_updates=False)
    cost = (ys**2).sum()
    f = bt.function([x, a], [cost, *bt.grad(cost, [x, a])])
    assert len(scans(f)) == 2  # one forward, one backward
    g = bt.function(
        [x, a],
        [ys, bt.scan(lambda x_t, y: pt.tanh(a * y + x_t), x, 0.5, return_updates=False) + 1.0],
    )
    assert len(scans(g)) == 1


def test_reading_only_the_last_step_stores_no_trace():
    a, n = pt.dscalar("a"), pt.lscalar("n")
    ys = bt.scan(lambda y: y * a + 1.0, outputs_info=0.0, n_steps=n, return_updates=False)
    f = bt.function([a, n], ys[-1])
    (scan,) = scans(f)
    assert all(out.ndim == 0 for out in scan.outputs)
    assert "[n]" not in f.dprint("program", file="str")
    y = 0.0
    for _ in range(1000):
        y = y * 0.5 + 1.0
    assert f(0.5, 1000) == y
    with pytest.raises(IndexError):
        f(0.5, 0)


def test_a_map_becomes_elementwise():
    x, y = pt.dvector("x"), pt.dmatrix("y")
    out = bt.scan(lambda a, b: pt.exp(a) * b.sum(), [x, y], return_updates=False)
    f = bt.function([x, y], out)
    assert not scans(f)
    values = rng.normal(size=4), rng.normal(size=(4, 3))
    np.testing.assert_allclose(f(*values), np.exp(values[0]) * values[1].sum(1))
    with pytest.raises(ValueError):
        f(values[0], rng.normal(size=(3, 3)))
    n = pt.lscalar("n")
    g = bt.function([x, n], bt.scan(lambda a: a + 1.0, x, n_steps=n, return_updates=False))
    np.testing.assert_allclose(g([1.0, 2.0, 3.0], 2), [2.0, 3.0])
    with pytest.raises(ValueError):
        g([1.0, 2.0, 3.0], 4)


def test_a_loop_over_blocks_that_bounds_memory_stays():
    def minima_of_rows(x, c, rows):
        blocks = x.reshape((x.type.shape[0] // rows, rows, x.type.shape[1]))
        return bt.scan(
            lambda block: pt.sum(pt.min(block @ c.T, axis=1)),
            sequences=[blocks],
            return_updates=False,
        )

    for length, width, rows, stays in (
        (4000, 300, 100, True),
        (400, 300, 100, False),
        (4000, 300, 2, False),
    ):
        x, c = pt.dmatrix("x", shape=(length, 3)), pt.dmatrix("c", shape=(width, 3))
        f = bt.function([x, c], minima_of_rows(x, c, rows))
        assert bool(scans(f)) == stays
        x_value, c_value = rng.normal(size=(length, 3)), rng.normal(size=(width, 3))
        expected = (x_value @ c_value.T).min(axis=1).reshape(-1, rows).sum(axis=1)
        np.testing.assert_allclose(f(x_value, c_value), expected, rtol=1e-12)


def test_work_on_sequences_is_hoisted():
    x, w, h0 = pt.dmatrix("x"), pt.dmatrix("w"), pt.dvector("h0")
    hs = bt.scan(lambda x_t, h: pt.tanh(w @ h) + w @ x_t, x, h0, return_updates=False)
    f = bt.function([x, w, h0], hs)
    outer, inner = bt.dprint(f, file="str").split("Inner graphs:")
    assert len(scans(f)) == 1 and outer.count("Dot") == inner.count("Dot") == 1
    values = rng.normal(size=(5, 3)), rng.normal(size=(3, 3)), rng.normal(size=3)
    h, expected = values[2], []
    for each in values[0]:
        h = np.tanh(values[1] @ h) + values[1] @ each
        expected.append(h)
    np.testing.assert_allclose(f(*values), expected, rtol=1e-12)


def matrix_states(f):
    """The number of matrices that the loops of a function carry from step to step."""
    count = 0
    for node in scans(f):
        states = re.search(r"(\d+) state", str(node.op))
        count += sum(final.ndim == 2 for final in node.outputs[: int(states[1]) if states else 0])
    return count


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("n", [0, 1, 6])
@pytest.mark.parametrize("batch", [None, 3])
def test_gradients_of_weights_become_products_after_the_loop(n, batch, linker):
    vector = pt.dvector if batch is None else pt.dmatrix
    x, h0, b = (pt.dmatrix if batch is None else pt.dtensor3)("x"), vector("h0"), pt.dvector("b")
    w, u = pt.dmatrix("w"), pt.dmatrix("u")
    hs = bt.scan(lambda x_t, h: pt.tanh(h @ w + x_t @ u + b), x, h0, return_updates=False)
    cost = (hs**2).sum()
    inputs = [x, h0, w, u, b]
    lead = () if batch is None else (batch,)
    shapes = [(n, *lead, 4), (*lead, 5), (5, 5), (4, 5), (5,)]
    values = [rng.normal(size=shape) for shape in shapes]

    def loop(x, h, w, u, b):
        out = 0.0
        for x_t in x:
            h = np.tanh(h @ w + x_t @ u + b)
            out += (h**2).sum()
        return out

    f = bt.function(inputs, [cost, *bt.grad(cost, inputs)], mode=bt.Mode(linker=linker))
    if batch is None:
        assert matrix_states(f) == 0
    got = f(*values)
    np.testing.assert_allclose(got[0], loop(*values), rtol=1e-12)
    for k in range(5):
        np.testing.assert_allclose(got[1 + k], numeric(loop, values, k), rtol=1e-5, atol=1e-7)


# the term added to a matrix in each step, and the number of matrices that the loop carries after products are hoisted
SUMS = {
    "outer": (lambda s, v, m, k: s + pt.outer(v, 2 * m[0]), 0),
    "minus": (lambda s, v, m, k: s - pt.outer(m[1], v) - pt.outer(v, m[0]), 0),
    "negative": (lambda s, v, m, k: -pt.outer(m[0], pt.tanh(m[1] + v)) + s, 0),
    "matrices": (lambda s, v, m, k: m.T @ pt.tanh(m + v) + s, 1),
    "rest": (lambda s, v, m, k: (s + pt.tanh(m * v)) + pt.outer(v, m[0]) - 1.0, 1),
    "nothing of it is stored": (lambda s, v, m, k: s + pt.outer(v, 2 * v), 1),
    "constant factor": (lambda s, v, m, k: s + k @ (m * v), 1),
    "scaled": (lambda s, v, m, k: 0.5 * s + m @ m, 1),
    "read": (lambda s, v, m, k: s + m @ pt.tanh(s), 1),
}


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("case", SUMS)
def test_sums_of_products(case, linker):
    add, carried = SUMS[case]
    s0, v0, ms, k = pt.dmatrix("s0"), pt.dvector("v0"), pt.dtensor3("ms"), pt.dmatrix("k")

    def step(m, s, v):
        return add(s, v, m, k), pt.tanh(v + m[0])

    sums, vs = bt.scan(step, ms, [s0, v0], return_updates=False)
    inputs, outputs = [s0, v0, ms, k], [sums[-1], vs]
    f = bt.function(inputs, outputs, mode=bt.Mode(linker=linker), on_unused_input="ignore")
    oracle = bt.function(inputs, outputs, mode="FAST_COMPILE", on_unused_input="ignore")
    assert matrix_states(f) == carried
    for n in (1, 5):
        values = [rng.normal(size=shape) for shape in ((4, 4), (4,), (n, 4, 4), (4, 4))]
        for got, expected in zip(f(*values), oracle(*values)):
            np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_products_stay_in_small_loops_and_loops_with_stop_conditions():
    x, w = pt.dmatrix("x"), pt.tensor("w", dtype="float64", shape=(3, 3))
    h0, s0 = pt.tensor("h0", dtype="float64", shape=(3,)), pt.dmatrix("s0")
    hs = bt.scan(lambda x_t, h: pt.tanh(w @ h + x_t), x, h0, return_updates=False)
    f = bt.function([x, h0, w], bt.grad((hs**2).sum(), w))
    assert matrix_states(f) == 1  # in registers
    sums, _ = bt.scan(
        lambda s, v: ([s + pt.outer(v, v), v * 2], until(v[0] > 10)),
        outputs_info=[s0, h0],
        n_steps=9,
        return_updates=False,
    )
    g = bt.function([s0, h0], sums[-1])
    assert matrix_states(g) == 1
    v, expected = np.ones(3), np.zeros((3, 3))
    while True:
        expected += np.outer(v, v)
        if v[0] > 10:
            break
        v = v * 2
    np.testing.assert_allclose(g(np.zeros((3, 3)), np.ones(3)), expected)


def test_scans_are_native_loops():
    """These loops contain no callbacks to the host."""
    x, w, h0 = pt.dmatrix("x"), pt.dmatrix("w"), pt.dvector("h0")
    hs = bt.scan(lambda x_t, h: pt.tanh(w @ h + x_t), x, h0, return_updates=False)
    cost = (hs**2).sum()
    for f in (bt.function([x, w, h0], hs), bt.function([x, w, h0], bt.grad(cost, [x, w, h0]))):
        assert "host" not in f.dprint("program", file="str")


def test_a_step_with_host_callbacks():
    x = pt.dvector("x")

    def step(x_t, s):
        return pt.sort(s) * 0.5 + x_t, pt.arange(pt.cast(abs(x_t), "int64")).sum()

    out = bt.scan(step, x, [pt.zeros([3]) + pt.arange(3.0)[::-1], None], return_updates=False)
    values = np.array([1.5, -3.0, 2.0])
    got = call([x], out, [values])
    s = np.array([2.0, 1.0, 0.0])
    for k, each in enumerate(values):
        s = np.sort(s) * 0.5 + each
        np.testing.assert_allclose(got[0][k], s)
        assert got[1][k] == np.arange(int(abs(each))).sum()


@pytest.mark.parametrize("linker", LINKERS)
def test_a_rejected_body_leaves_no_remains(linker):
    """Constants, checks and loops used only by a rejected body are removed; loops, checks and bodies after it still
    work."""
    rows, keep = pt.constant(rng.normal(size=(4, 3))), pt.constant(rng.normal(size=3))
    x = pt.dmatrix("x")

    def with_host(row, x_t, y):
        inner, _ = bt.scan(
            lambda x_i, a: x_i + 0.5 * a, sequences=x_t * row, outputs_info=np.zeros(())
        )
        return pt.sort(y + inner + keep[pt.clip(y[0].astype("int64"), 0, 2)])

    (first,), _ = bt.scan(
        with_host, sequences=[rows, x], outputs_info=[pt.zeros(3)], return_list=True
    )
    (second,), _ = bt.scan(
        lambda x_t, y: pt.tanh(y * x_t) + keep, sequences=[x], outputs_info=[keep], return_list=True
    )
    side = bt.ifelse(x.sum() > 0, pt.sort(first[-1] + keep), second[-1] * keep)
    values = rng.normal(size=(4, 3))
    reference = bt.function([x], [first, second, side, x + first], mode="FAST_COMPILE")(values)
    for got, expected in zip(
        call([x], [first, second, side, x + first], [values], linker), reference
    ):
        np.testing.assert_allclose(got, expected, rtol=1e-13)
    with pytest.raises(bt.ShapeError):
        call([x], [first, second, side, x + first], [values[:, :2]], linker)


@pytest.mark.parametrize("linker", LINKERS)
def test_a_generator_is_a_state(linker):
    rng_state = bt.shared(np.random.default_rng(3))

    def step(s, g):
        after, draw = pt.random.normal(0, 1, rng=g).owner.outputs
        return s + draw, after

    (walk, last), _ = bt.scan(
        step, outputs_info=[pt.constant(0.0, dtype="float64"), rng_state], n_steps=4
    )
    f = bt.function([], walk, updates={rng_state: last}, mode=bt.Mode(linker=linker))
    draws = np.random.default_rng(3).normal(size=8)
    np.testing.assert_allclose(f(), np.cumsum(draws[:4]), rtol=1e-14)
    np.testing.assert_allclose(f(), np.cumsum(draws[4:]), rtol=1e-14)


@pytest.mark.parametrize("linker", LINKERS)
def test_draws_with_default_generators_differ_between_steps(linker):
    stream = pt.random.RandomStream(7, rng_ctor=np.random.default_rng)
    outside = stream.normal()
    kept = {}

    def step(s):
        kept["inner"] = stream.normal(0, 1)
        return s + kept["inner"] + outside * 0

    walk, updates = bt.scan(step, outputs_info=np.float64(0), n_steps=4)
    assert len(updates) == 1
    (generator,) = updates
    twin = generator.get_value()
    f = bt.function(
        [], [walk, outside], mode=bt.Mode(linker=linker)
    )  # performs the default updates
    g = bt.function([], walk, updates=updates, mode=bt.Mode(linker=linker))
    draws = np.random.default_rng(0)
    draws.bit_generator.state = twin.bit_generator.state
    for each in (f, g, f):
        result = each()
        np.testing.assert_allclose(
            result[0] if each is f else result, np.cumsum(draws.normal(size=4)), rtol=1e-13
        )

    def outer(s):
        inner, _ = bt.scan(lambda t: t + pt.random.normal(), outputs_info=s, n_steps=3)
        return inner[-1]

    nested = bt.function(
        [],
        bt.scan(outer, outputs_info=np.float64(0), n_steps=5, return_updates=False),
        mode=bt.Mode(linker=linker),
    )
    values = np.concatenate([nested(), nested()])
    assert len(np.unique(np.diff(values))) == 9


@pytest.mark.parametrize("linker", LINKERS)
def test_gradients_of_a_loop_that_draws(linker):
    a, g0 = pt.dscalar("a"), bt.shared(np.random.default_rng(3))

    def step(s, g):
        after, draw = pt.random.normal(0, 1, rng=g).owner.outputs
        return a * s + draw, after

    walk, _ = bt.scan(step, outputs_info=[np.float64(1), g0], n_steps=4, return_updates=False)
    values = call(
        [a], [bt.grad(walk.sum(), a), bt.pushforward(walk.sum(), [a], [pt.ones([])])], [0.5], linker
    )

    def loop(a):
        draws, s, out = np.random.default_rng(3).normal(size=4), 1.0, 0.0
        for each in draws:
            s = a * s + each
            out += s
        return out

    np.testing.assert_allclose(
        np.squeeze(values), (loop(0.5 + 1e-6) - loop(0.5 - 1e-6)) / 2e-6, rtol=1e-6
    )

    def another(s, g):
        after, draw = pt.random.normal(0, 2, rng=g).owner.outputs
        return a * s + draw, after

    other, _ = bt.scan(another, outputs_info=[np.float64(1), g0], n_steps=4, return_updates=False)
    with pytest.raises(ValueError, match="two different draws"):
        bt.function([a], [walk, other], mode=bt.Mode(linker=linker))


@pytest.mark.parametrize("linker", LINKERS)
def test_inner_loops_of_different_lengths_in_a_gradient(linker):
    x, a = pt.dvector("x"), pt.dscalar("a")

    def step(e, y):
        zs = bt.scan(
            lambda z: (z * a + e, until(z * a + e > 3.0)),
            outputs_info=y,
            n_steps=4,
            return_updates=False,
        )
        return zs[-1] + 0.1 * zs.sum()

    ys = bt.scan(step, x, pt.constant(0.3, dtype="float64"), return_updates=False)

    def loop(xs, a):
        y, out = 0.3, []
        for e in xs:
            zs, z = [], y
            for _ in range(4):
                z = z * a + e
                zs.append(z)
                if z > 3.0:
                    break
            y = z + 0.1 * sum(zs)
            out.append(y)
        return np.array(out)

    values = [np.array([0.1, 0.5, -0.2, 1.0, 0.4]), 0.9]
    cost = (ys**2).sum()
    got = call([x, a], [ys, *bt.grad(cost, [x, a])], values, linker)
    np.testing.assert_allclose(got[0], loop(*values), rtol=1e-13)
    for k in range(2):
        np.testing.assert_allclose(
            got[k + 1], numeric(lambda *v: (loop(*v) ** 2).sum(), values, k), rtol=1e-5, atol=1e-6
        )


@pytest.mark.parametrize("linker", LINKERS)
def test_batches_with_different_numbers_of_steps(linker):
    a, n = pt.dscalar("a"), pt.lscalar("n")
    power = fori_loop(0, n, lambda i, p: p * a + i, pt.ones([]))
    numbers, bases = np.array([[3, 0, 5]]), np.array([[0.5], [2.0]])

    def loop(a, n):
        p = 1.0
        for i in range(n):
            p = p * a + i
        return p

    expected = np.vectorize(loop)(bases, numbers)
    ns, many = pt.lmatrix("ns"), pt.dmatrix("many")
    batch = bt.vectorize_graph(power, {n: ns, a: many})
    np.testing.assert_allclose(
        call([ns, many], batch, [numbers.repeat(2, 0), bases.repeat(3, 1)], linker), expected
    )
    only = bt.vectorize_graph(power, {n: ns})
    np.testing.assert_allclose(call([ns, a], only, [numbers, 2.0], linker), expected[1:])
    slope = call(
        [ns, many], bt.grad(batch.sum(), many), [numbers.repeat(2, 0), bases.repeat(3, 1)], linker
    )
    np.testing.assert_allclose(
        slope,
        np.vectorize(lambda a, n: (loop(a + 1e-6, n) - loop(a - 1e-6, n)) / 2e-6)(bases, numbers),
        rtol=1e-6,
    )
    assert call([ns, a], only, [np.zeros((0, 2), int), 2.0], linker).shape == (0, 2)

    # Different numbers of steps by a stop condition: Newton's method for square roots.
    x = pt.dscalar("x")
    root = while_loop(lambda r: abs(r * r - x) > 1e-12, lambda r: (r + x / r) / 2, x, max_steps=50)
    xs = pt.dvector("xs")
    roots = bt.vectorize_graph(root, {x: xs})
    values = np.array([3.0, 2.0, 1e4, 0.25])
    np.testing.assert_allclose(call([xs], roots, [values], linker), np.sqrt(values), rtol=1e-12)
    np.testing.assert_allclose(
        call([xs], bt.grad(roots.sum(), xs), [values], linker), 0.5 / np.sqrt(values), rtol=1e-6
    )

    # Results of all steps that differ in length can't be stacked; what is computed of them can.
    trace = bt.scan(lambda p: p * a, outputs_info=pt.ones([]), n_steps=n, return_updates=False)
    traces = bt.vectorize_graph(trace, {n: pt.lvector("k")})
    (k,) = [leaf for leaf in bt.graph.traversal.graph_inputs([traces]) if leaf.name == "k"]
    np.testing.assert_allclose(
        call([k, a], traces, [np.array([2, 2]), 3.0], linker), [[3, 9], [3, 9]]
    )
    with pytest.raises(bt.ShapeError, match="all steps give one shape"):
        call([k, a], traces, [np.array([2, 3]), 3.0], linker)
    for one, expected, slope in [(trace[-1], [9.0, 27.0], 33.0), (trace.sum(), [12.0, 39.0], 41.0)]:
        each = bt.vectorize_graph(one, {n: ns[0]})
        results = call([ns, a], [each, bt.grad(each.sum(), a)], [np.array([[2, 3]]), 3.0], linker)
        np.testing.assert_allclose(results[0], expected)
        np.testing.assert_allclose(results[1], slope)
    with pytest.raises(ValueError, match="negative"):
        call([k, a], traces, [np.array([-2, -2]), 3.0], linker)


# ---- small states ----


def small_steps():
    """Loops with a small state: the step, the initial state, and the other inputs."""
    f, q = rng.normal(size=(3, 3)) * 0.4, rng.normal(size=(3, 3))
    square = rng.normal(size=(3, 3))
    return {
        "products": (lambda p, f, q: f @ p @ f.T + q, square, [f, q]),
        "elementwise": (lambda p, f, q: pt.tanh(p * f + q[::-1]), square, [f, q]),
        "transposed": (lambda p, f, q: p.T + f, square, [f, q]),
        "one element": (lambda p, f, q: pt.set_subtensor(p[1, 2], (p * f).sum()), square, [f, q]),
        "rotated": (lambda p, f, q: pt.roll(p, 1, axis=0), square, [f, q]),
        "sums": (
            lambda p, f, q: p.sum(axis=0) * f - pt.max(p, axis=1)[:, None] * q,
            square,
            [f, q],
        ),
        "memory and products": (
            lambda p, f, q: pt.linalg.inv(f @ p @ f.T + 4 * pt.eye(3)),
            square @ square.T,
            [f, q],
        ),
        "bool": (lambda p, f, q: pt.switch(p, f > 0, q > 0), square > 0, [f, q]),
        "int": (lambda p, f, q: p @ p % 7 + 1, np.arange(9).reshape(3, 3), [f, q]),
        "empty": (lambda p, f, q: p + 1, np.zeros((3, 0)), [f, q]),
    }


@pytest.mark.parametrize("linker", ["jit", "c"])
@pytest.mark.parametrize("n", [0, 1, 5])
@pytest.mark.parametrize("name", small_steps())
def test_small_states(name, n, linker):
    step, start, others = small_steps()[name]
    p0 = pt.tensor("p0", dtype=start.dtype, shape=start.shape)
    others_in = [pt.tensor(dtype="float64", shape=(3, 3)) for _ in others]
    ps = bt.scan(lambda p: step(p, *others_in), outputs_info=p0, n_steps=n, return_updates=False)
    outputs = [ps]
    if start.dtype == "float64":
        cost = (ps**2).sum()
        outputs += [cost, *bt.grad(cost, [p0, *others_in], disconnected_inputs="ignore")]
    if n:
        outputs.append(ps[-1])
    values = [start, *others]
    got = call([p0, *others_in], outputs, values, linker)
    for each, expected in zip(got, call([p0, *others_in], outputs, values, "vm")):
        np.testing.assert_allclose(each, expected, rtol=1e-11, atol=1e-11)


def test_a_small_state_becomes_scalars():
    m0, f = (
        pt.tensor("m0", dtype="float64", shape=(2,)),
        pt.tensor("f", dtype="float64", shape=(2, 2)),
    )
    last = bt.scan(lambda m: f @ m, outputs_info=m0, n_steps=100, return_updates=False)[-1]
    text = program_text([m0, f], last)
    loop = text[text.index("in 100") :]
    assert loop.splitlines()[0].count("state") >= 2
    assert "for " not in loop


def test_a_gradient_stores_no_value_twice():
    x, a = pt.dvector("x"), pt.dvector("a")

    def step(x_t, y):
        def inner(s):
            p = s[0] * s[1]
            return pt.stack([s[0] + a[0] * pt.sin(p) * x_t, s[1] - a[1] * pt.cos(p) * pt.sin(p)])

        return bt.scan(inner, outputs_info=y, n_steps=3, return_updates=False)[-1]

    ys = bt.scan(step, x, pt.ones(2), return_updates=False)
    f = bt.function([x, a], bt.grad((ys**2).sum(), [x, a]))
    traces = [int(re.search(r"(\d+) trace", str(node.op))[1]) for node in scans(f)]
    assert max(traces) <= 6
    values = [np.array([0.1, 0.2]), np.array([0.3, 0.4])]

    def loop(x, a):
        s, out = np.ones(2), 0.0
        for e in x:
            for _ in range(3):
                p = s[0] * s[1]
                s = np.array([s[0] + a[0] * np.sin(p) * e, s[1] - a[1] * np.cos(p) * np.sin(p)])
            out += (s**2).sum()
        return out

    for k, got in enumerate(f(*values)):
        np.testing.assert_allclose(got, numeric(loop, values, k), rtol=1e-6)


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize(
    "number",
    [
        lambda: pt.as_tensor(3),
        lambda: pt.constant(3),
        lambda: pt.constant(3, dtype="int8"),
        lambda: pt.as_tensor(2.5),
    ],
)
def test_constant_traces_of_numbers_without_a_dtype(number, linker):
    """Rules that move a number out of a loop keep its dtype: only a program's own operations on it widen it."""
    x = pt.dvector("x")
    with bt.config.change_flags(on_opt_error="raise"):
        states, constants = bt.scan(
            lambda e, s: (pt.tanh(s * e), number()), x, [0.5, None], return_updates=False
        )
        f = bt.function([x], [states, constants], mode=bt.Mode(linker=linker))
    assert [re.search(r"(\d+) traces?", str(node.op))[1] for node in scans(f)] == ["1"]
    found = f([2.0, 3.0])[1]
    assert found.dtype == constants.dtype and found.tolist() == [number().data] * 2


@pytest.mark.parametrize("linker", LINKERS)
def test_equal_and_constant_traces(linker):
    x, a = pt.dvector("x"), pt.dvector("a")
    results = bt.scan(
        lambda e, s: (pt.tanh(s * e), pt.tanh(s * e), a * 2, pt.constant(3)),
        x,
        [0.5, None, None, None],
        return_updates=False,
    )
    f = bt.function([x, a], results, mode=bt.Mode(linker=linker))
    assert [re.search(r"(\d+) trace", str(node.op))[1] for node in scans(f)] == ["1"]
    for n in (0, 1, 3):
        values = rng.normal(size=n), np.array([1.0, 2.0])
        s, rows = 0.5, []
        for e in values[0]:
            s = np.tanh(s * e)
            rows.append(s)
        got = f(*values)
        np.testing.assert_allclose(got[0], rows, rtol=1e-13)
        np.testing.assert_array_equal(got[1], got[0])
        np.testing.assert_array_equal(got[2], np.full((n, 2), [2.0, 4.0]))
        np.testing.assert_array_equal(got[3], np.full(n, 3))


@pytest.mark.parametrize("linker", LINKERS)
def test_a_traced_state_is_written_in_place(linker):
    x, a = pt.dmatrix("x"), pt.dvector("a")
    ys, zs = bt.scan(
        lambda e, y, z: (a * y * (1 - y) + e, z * y + e),
        x,
        [pt.zeros_like(a), pt.ones_like(a)],
        return_updates=False,
    )
    single = bt.scan(lambda e, y: a * y * (1 - y) + e, x, pt.zeros_like(a), return_updates=False)
    assert "next0" not in program_text([x, a], [single])
    values = [rng.normal(size=(4, 11)), rng.normal(size=11)]
    y, z, rows = np.zeros(11), np.ones(11), []
    for e in values[0]:
        y, z = values[1] * y * (1 - y) + e, z * y + e
        rows.append((y, z))
    np.testing.assert_allclose(
        np.stack(call([x, a], [ys, zs], values, linker), 1), rows, rtol=1e-11
    )


def test_states_that_fill_vectors_stay_vectors():
    x, b = (
        pt.tensor("x", dtype="float64", shape=(None, 8)),
        pt.tensor("b", dtype="float64", shape=(8,)),
    )
    hs = bt.scan(lambda x_t, h: 0.5 * h * b + x_t, x, pt.zeros(8), return_updates=False)
    outputs = [hs[-1], bt.grad((hs**2).sum(), b)]
    text = program_text([x, b], outputs)
    assert re.search("in 8, vector of [48]", text)  # as many lanes as the processor has
    for line in text.splitlines():
        assert line.count("state v") <= 2, line
    values = [rng.normal(size=(5, 8)), rng.normal(size=8)]
    for got, expected in zip(call([x, b], outputs, values), call([x, b], outputs, values, "vm")):
        np.testing.assert_allclose(got, expected, rtol=1e-12)


def program_text(inputs, outputs):
    import io

    file = io.StringIO()
    bt.function(inputs, outputs).dprint("program", file=file)
    return file.getvalue()


@pytest.mark.parametrize("linker", LINKERS)
def test_scalars_that_runtime_functions_read_and_write(linker):
    xs = pt.tensor("xs", dtype="float64", shape=(None, 2, 2))

    def step(x, total):
        d = pt.linalg.det(x + total * pt.eye(2))
        return total + 0.1 * d, d

    totals, ds = bt.scan(step, sequences=xs, outputs_info=[1.0, None], return_updates=False)
    cost = (totals * ds).sum()
    value = rng.normal(size=(5, 2, 2))
    total, expected = 1.0, []
    for x in value:
        d = np.linalg.det(x + total * np.eye(2))
        total = total + 0.1 * d
        expected.append((total, d))
    f = bt.function([xs], [totals, ds, cost, bt.grad(cost, xs)], mode=bt.Mode(linker=linker))
    got = f(value)
    np.testing.assert_allclose(np.stack(got[:2], 1), expected, rtol=1e-12)
    np.testing.assert_allclose(got[3], numeric(lambda v: f(v)[2], [value], 0), rtol=1e-6, atol=1e-7)


# ---- states that are eliminated from the loop ----


def test_states_that_are_sequences_or_sums_need_no_loop():
    y, mu, phi = pt.dvector("y"), pt.dscalar("mu"), pt.dscalar("phi")
    _, terms = bt.scan(
        lambda y_t, before: (y_t, (y_t - mu - phi * (before - mu)) ** 2),
        y,
        [mu, None],
        return_updates=False,
    )
    cost = terms.sum()
    outputs = [cost, *bt.grad(cost, [y, mu, phi])]
    f = bt.function([y, mu, phi], outputs)
    assert not any("Scan" in str(node.op) for node in f.maker.fgraph.toposort())
    oracle = bt.function([y, mu, phi], outputs, mode="FAST_COMPILE")
    for n in (0, 1, 2, 9):
        values = rng.normal(size=n), 0.3, 0.8
        for got, expected in zip(f(*values), oracle(*values)):
            np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("n", [0, 1, 6])
def test_final_values_of_states_that_steps_do_not_read(n):
    x, s0 = pt.fvector("x"), pt.fscalar("s0")
    xs = np.arange(n, dtype="float32") + 1

    def step(x_t, last, total, mixed):
        return pt.exp(x_t), total + x_t**2, mixed + x_t * last

    results = bt.scan(step, x, [s0, s0, s0], return_updates=False)
    finals = [pt.concatenate([s0[None], each])[-1] for each in results]
    got = call([x, s0], finals, [xs, np.float32(2)])
    last = total = mixed = 2.0
    for each in xs:
        last, total, mixed = np.exp(each), total + each**2, mixed + each * last
    np.testing.assert_allclose(got, [last, total, mixed], rtol=1e-5)
    assert all(each.dtype == "float32" for each in got)


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN"])
def test_loops_without_steps_have_the_shapes_of_a_step(mode):
    x, h, a = pt.dmatrix("x"), pt.dvector("h"), pt.dscalar("a")
    ys = bt.scan(
        lambda e, h, a: h[0].set(e[-1] * a),
        sequences=x,
        outputs_info=h,
        non_sequences=a,
        return_updates=False,
    )
    # this requires a row of zeros with the length of an element
    gradients = bt.grad(pt.cumsum(ys, axis=0).sum(), [x, h, a])
    f = bt.function(
        [x, h, a],
        [*gradients, bt.scan(pt.zeros_like, sequences=x, return_updates=False)],
        mode=mode,
    )
    assert [each.shape for each in f(np.zeros((0, 4)), np.zeros(4), 1.0)] == [
        (0, 4),
        (4,),
        (),
        (0, 4),
    ]
    assert [each.shape for each in f(np.zeros((2, 4)), np.zeros(4), 1.0)] == [
        (2, 4),
        (4,),
        (),
        (2, 4),
    ]


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN"])
@pytest.mark.parametrize(
    "step",
    [
        lambda e, s: pt.sort(e + s),
        lambda e, s: pt.roll(e, 1) + s,
        lambda e, s: pt.repeat(e, 2)[::2] + s,
        lambda e, s: s[1:3].set(e[:2]),
        lambda e, s: pt.concatenate([pt.diff(e), e[:1]]) + s,
        lambda e, s: pt.tanh(pt.outer(e, e) @ s),
        lambda e, s: bt.ifelse(e.sum() > 0, s, e),
        lambda e, s: s + pt.nonzero(e)[0].sum() + e,
        lambda e, s: e.reshape((2, -1)).T.flatten() + s,
    ],
)
def test_values_and_gradients_of_loops_without_steps(step, mode):
    x, h = pt.dmatrix("x"), pt.dvector("h")

    def several(e, s):
        following = step(e, s)
        return following, pt.zeros_like(following)[:2], following[:, None] * e

    ys = bt.scan(several, sequences=x, outputs_info=[h, None, None], return_updates=False)
    f = bt.function([x, h], [*ys, *bt.grad(sum(y.sum() for y in ys), [x, h])], mode=mode)
    for n in (0, 1):
        assert [each.shape for each in f(np.zeros((n, 4)), np.zeros(4))] == [
            (n, 4),
            (n, 2),
            (n, 4, 4),
            (n, 4),
            (4,),
        ]


def test_the_last_element_of_an_empty_loop_is_a_runtime_error():
    x = pt.tensor("x", dtype="float64", shape=(0,))
    ys = bt.scan(lambda e, s: s + e, sequences=x, outputs_info=np.float64(1), return_updates=False)
    i = pt.lscalar("i")
    with bt.config.change_flags(on_opt_error="raise"):
        f = bt.function([x, i], ys[::-1], on_unused_input="ignore")
        g = bt.function([x, i], ys[i])
    assert f(np.zeros(0), 0).shape == (0,)
    with pytest.raises(IndexError):
        g(np.zeros(0), -1)


@pytest.mark.parametrize("linker", LINKERS)
def test_states_of_length_one_are_updated_simultaneously(linker):
    x, s0 = pt.fmatrix("x"), pt.tensor("s0", dtype="float32", shape=(1,))
    _, rs = bt.scan(lambda x_t, s, r: (s + x_t, pt.tanh(r + s)), x, [s0, s0], return_updates=False)
    got = call([x, s0], rs, [np.array([[1], [0], [0]], "float32"), np.zeros(1, "float32")], linker)
    np.testing.assert_allclose(got.ravel(), [0, np.tanh(1), np.tanh(1 + np.tanh(1))], rtol=1e-6)


@pytest.mark.parametrize("linker", ["jit", "c"])
def test_sums_of_small_arrays_are_read_after_the_loop(linker):
    x, s0 = pt.dmatrix("x"), pt.tensor("s0", dtype="float64", shape=(1,))
    vs, ws = bt.scan(
        lambda x_t, s, r: (pt.tanh(s * 0.5 + x_t), r + x_t), x, [s0, s0], return_updates=False
    )
    gradient = bt.grad(vs.sum() + ws.sum(), s0)
    values = [np.ones((2, 1)), np.ones(1)]
    np.testing.assert_allclose(
        call([x, s0], gradient, values, linker), call([x, s0], gradient, values, "vm"), rtol=1e-12
    )


def batch_of_loops(kind):
    """A function of one loop, its arguments, and the indices of the arguments that have a batch dimension."""
    if kind == "network":
        step = lambda x_t, h, w, u: pt.tanh(h @ w + x_t @ u)  # noqa: E731
        formula = lambda x, h0, w, u: (
            bt.scan(step, sequences=x, outputs_info=h0, non_sequences=[w, u], return_updates=False)
            ** 2
        ).sum()  # noqa: E731
        return (
            formula,
            [
                rng.normal(size=(5, 2)),
                rng.normal(size=3),
                rng.normal(size=(3, 3)),
                rng.normal(size=(2, 3)),
            ],
            (0, 1),
        )
    if kind == "filter":

        def step(y_t, m, p, f):
            m, p = f @ m, f @ p @ f.T + 0.1 * np.eye(2)
            s = p[:, :1] @ p[:1] + p + 0.5 * np.eye(2)
            gain = p @ pt.linalg.inv(s)
            return (
                m + gain @ (y_t - m),
                p - gain @ p,
                pt.log(pt.linalg.det(s)) + y_t @ pt.linalg.inv(s) @ y_t,
            )

        formula = lambda y, f: bt.scan(
            step,
            sequences=y,
            outputs_info=[np.zeros(2), np.eye(2), None],
            non_sequences=f,
            return_updates=False,
        )[2].sum()  # noqa: E731
        return formula, [rng.normal(size=(4, 2)), np.eye(2) * 0.8 + 0.1], (0,)
    step = lambda s, r: s + 0.1 * pt.stack([r[0] * s[0] - s[0] * s[1], s[0] * s[1] - r[1] * s[1]])  # noqa: E731
    formula = lambda rates, start: (
        bt.scan(step, outputs_info=start, non_sequences=rates, n_steps=6, return_updates=False) ** 2
    ).sum()  # noqa: E731
    return formula, [np.array([1.1, 0.4]), np.array([1.0, 2.0])], (0, 1)


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("size", [0, 1, 19])
@pytest.mark.parametrize("kind", ["network", "filter", "prey"])
def test_a_batch_of_loops_over_small_arrays(kind, size, linker):
    formula, arrays, batched = batch_of_loops(kind)
    variables = [pt.tensor(dtype="float64", shape=a.shape) for a in arrays]
    value = formula(*variables)
    outputs = [value, *bt.grad(value, variables)]
    single = bt.function(variables, outputs, mode=bt.Mode(linker="vm"))
    inputs, values, many = list(variables), list(arrays), {}
    for k in batched:
        inputs[k] = many[variables[k]] = pt.tensor(dtype="float64", shape=(None, *arrays[k].shape))
        values[k] = (
            np.stack([arrays[k] * (1 + 0.05 * i) for i in range(size)])
            if size
            else np.empty((0, *arrays[k].shape))
        )
    every = bt.vectorize_graph(outputs, many)
    summed = [bt.grad(every[0].sum(), inputs[k]) for k in range(len(inputs))]
    got = call(inputs, [*every, *summed], values, linker)
    rows = [
        single(*(values[k][i] if k in batched else values[k] for k in range(len(inputs))))
        for i in range(size)
    ]
    for k, one in enumerate(rows and zip(*rows)):
        np.testing.assert_allclose(got[k], np.stack(one), rtol=1e-10, atol=1e-12)
        if k == 0:
            continue
        expected = np.stack(one) if k - 1 in batched else np.sum(one, axis=0)
        np.testing.assert_allclose(got[len(outputs) + k - 1], expected, rtol=1e-10, atol=1e-12)
    assert all(g.shape[0] == size for g in got[: len(outputs)])


def test_the_batch_of_small_arrays_is_innermost():
    for kind in ("network", "prey"):
        formula, arrays, batched = batch_of_loops(kind)
        variables = [pt.tensor(dtype="float64", shape=a.shape) for a in arrays]
        many = {
            variables[k]: pt.tensor(dtype="float64", shape=(None, *arrays[k].shape))
            for k in batched
        }
        value = formula(*variables)
        every = bt.vectorize_graph([value, *bt.grad(value, variables)], many)
        f = bt.function([many.get(v, v) for v in variables], every)
        text = f.dprint("program", file="str")
        loops = re.split(r"\n  for step", text)[1:]
        assert len(loops) == 2, text
        for loop in loops:
            body = re.split(r"\n  (?=\S)", loop)[0]
            assert "call" not in body and body.count("\n    for ") == 1 and "vector of" in body, (
                body
            )


@pytest.mark.parametrize("steps", [0, 1, 5])
@pytest.mark.parametrize(
    "n, dtype", [(4, "float64"), (5, "float64"), (7, "float64"), (4, "float32")]
)
def test_rows_of_small_matrices_are_vectorized(n, dtype, steps):
    f, p0, q = (pt.tensor(name, dtype=dtype, shape=(n, n)) for name in "fpq")

    def step(p):
        def product(a, b):
            return (a[:, :, None] * b[None]).sum(1)

        p = product(product(f, p), f.T) + q
        return p / (1 + abs(p[0, 0])), (p * p.T).sum(0)

    last, traced = bt.scan(step, outputs_info=[p0, None], n_steps=steps, return_updates=False)
    cost = (last**2).sum() + traced.sum()
    inputs, outputs = [f, p0, q], [last, traced, *bt.grad(cost, [f, p0, q])]
    values = [(rng.normal(size=(n, n)) / n).astype(dtype) for _ in range(3)]
    expected = call(inputs, outputs, values, "vm")
    for linker in ("c", "jit"):
        got = bt.function(inputs, outputs, mode=bt.Mode(linker=linker))
        for one, other in zip(got(*values), expected):
            np.testing.assert_allclose(
                one,
                other,
                rtol=1e-11 if dtype == "float64" else 1e-4,
                atol=1e-5 if dtype == "float32" else 1e-12,
            )
    if steps > 1:
        body = re.split(r"\n  (?=\S)", got.dprint("program", file="str").split("\n  for step")[1])[
            0
        ]
        # as scalars there would be more than 14 n^2 lines
        assert f" in {n}, vector" in body and body.count("\n") < 5 * n * n, body


def test_operands_of_a_power_are_recomputed_in_the_gradient():
    x, a, s0 = pt.tensor("x", dtype="float64", shape=(50,)), pt.dscalar("a"), pt.dscalar("s0")
    errors = bt.scan(
        lambda x_t, s: (a * x_t + (1 - a) * s, (x_t - s) ** 2), x, [s0, None], return_updates=False
    )[1]
    outputs = [errors.sum(), *bt.grad(errors.sum(), [a, s0])]
    f = bt.function([x, a, s0], outputs)
    values = [rng.normal(size=50), 0.3, 0.1]
    np.testing.assert_allclose(f(*values), call([x, a, s0], outputs, values, "vm"), rtol=1e-12)
    assert (
        len(re.findall(r"(?:temporary|stack) \w+: f64\[50\]", f.dprint("program", file="str"))) == 1
    )


def test_transposed_weights_are_read_in_place():
    x, h0, w = pt.tensor3("x"), pt.dmatrix("h0"), pt.dmatrix("w")
    h = bt.scan(lambda x_t, h: pt.tanh(x_t + (h * x_t) @ w), x, h0, return_updates=False)
    f = bt.function([x, h0, w], bt.grad(h[-1].sum(), [h0, w]))
    values = [rng.normal(size=(4, 3, 5)), rng.normal(size=(3, 5)), rng.normal(size=(5, 5)) * 0.3]
    for one, other in zip(
        f(*values), call([x, h0, w], bt.grad(h[-1].sum(), [h0, w]), values, "vm")
    ):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    program = f.dprint("program", file="str")
    flags = re.findall(r"call bt_gemm_f64\(.*?, (\d), (\d), in (\w+)", program)
    assert ("1", "0") in [each[:2] for each in flags] and ("0", "1") in [
        each[:2] for each in flags
    ], program
    assert "tile" not in program  # no transposed copy of a matrix


@pytest.mark.parametrize("is_named", [False, True])
def test_transposed_matrices_that_a_loop_is_given_are_read_in_place(is_named):
    x, h0, w = (pt.tensor(dtype="float64", shape=shape) for shape in ((50, 20), (20,), (20, 20)))
    held = w.T if is_named else None
    h = bt.scan(
        lambda x_t, h: pt.tanh(x_t + (w.T if held is None else held) @ h),
        x,
        h0,
        return_updates=False,
    )
    f = bt.function([x, h0, w], bt.grad((h**2).sum(), [h0, w]))
    program = f.dprint("program", file="str")
    flags = re.findall(r"call bt_gemv_f64\(.*?, (\d), in in2,", program)
    assert sorted(flags) == ["0", "1"], program


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("batch", [(), (3,), (2, 2)])
def test_systems_of_two_equations_in_steps(batch, linker):
    a, b = (
        pt.tensor(dtype="float64", shape=(None, *batch, 2, 2)),
        pt.tensor(dtype="float64", shape=(None, *batch, 2, 3)),
    )

    def step(a_t, b_t, s):
        a_t = a_t + 0.01 * s[..., :2]
        both = [
            pt.linalg.solve(a_t, b_t, b_ndim=2),
            pt.linalg.solve(pt.moveaxis(a_t, -1, -2), b_t, b_ndim=2),
            pt.linalg.solve(a_t, b_t[..., 0], b_ndim=1),
        ]
        return [both[0], *both, pt.linalg.det(a_t), *pt.linalg.slogdet(a_t)]

    start = np.zeros((*batch, 2, 3))
    outputs = bt.scan(
        step, sequences=[a, b], outputs_info=[start] + [None] * 6, return_updates=False
    )[1:]
    x = rng.normal(size=(6, *batch, 2, 2))
    x[1, ..., 0, 0] = 0
    y = rng.normal(size=(6, *batch, 2, 3))
    got = call([a, b], outputs, [x, y], linker)
    s = start
    for t in range(6):
        m = x[t] + 0.01 * s[..., :2]
        s = np.linalg.solve(m, y[t])
        expected = [
            s,
            np.linalg.solve(np.swapaxes(m, -1, -2), y[t]),
            np.linalg.solve(m, y[t][..., :1])[..., 0],
            np.linalg.det(m),
            *np.linalg.slogdet(m),
        ]
        for one, other in zip(got, expected):
            np.testing.assert_allclose(one[t], other, rtol=1e-9, atol=1e-12)


def test_singular_systems_of_two_equations_in_steps():
    a = pt.tensor(dtype="float64", shape=(None, 2, 2))
    good, singular = np.eye(2), np.array([[1.0, 2.0], [2.0, 4.0]])
    for bad in (singular, np.zeros((2, 2))):
        f = bt.function(
            [a],
            bt.scan(
                lambda a_t, s: pt.linalg.solve(a_t + 0 * s, s),
                sequences=a,
                outputs_info=np.eye(2),
                return_updates=False,
            ),
        )
        np.testing.assert_allclose(f(np.stack([good, 2 * good]))[1], 0.5 * good)
        with pytest.raises(np.linalg.LinAlgError, match="singular"):
            f(np.stack([good, bad]))
        numbers = bt.function(
            [a],
            bt.scan(
                lambda a_t, s: [s + pt.linalg.det(a_t * s), *pt.linalg.slogdet(a_t * s)],
                sequences=a,
                outputs_info=[1.0, None, None],
                return_updates=False,
            ),
        )
        _, signs, logs = numbers(np.stack([good, bad]))
        assert list(signs) == [1, 0] and logs[1] == -np.inf
    with_nan = bt.function(
        [a],
        bt.scan(
            lambda a_t, s: (pt.linalg.solve(a_t, np.ones(2) + 0 * s, b_ndim=1, on_error="nan"),),
            sequences=a,
            outputs_info=np.zeros(2),
            return_updates=False,
        ),
    )
    assert np.isnan(with_nan(np.stack([good, singular]))[1]).all()


def test_traces_computed_from_others_are_not_stored():
    x, a, s0 = pt.dvector("x"), pt.dscalar("a"), pt.dscalar("s0")
    step = lambda x_t, s: (a * x_t + (1 - a) * s, (x_t - s) ** 2)  # noqa: E731
    loss = bt.scan(step, sequences=x, outputs_info=[s0, None], return_updates=False)[1].sum()
    f = bt.function([x, a, s0], [loss, *bt.grad(loss, [a, s0])])
    forward = re.split(r"\n  for step", f.dprint("program", file="str"))[1].split("\n  for ")[0]
    assert not re.search(r"\[step\] = .*\*", forward), forward
    values = [rng.normal(size=50), 0.3, 0.1]
    np.testing.assert_allclose(f(*values)[1], numeric(lambda *v: f(*v)[0], values, 1), rtol=1e-6)


def test_nan_guard_names_the_step():
    x, s0 = pt.dvector("x"), pt.dscalar("s0")
    logs = bt.scan(lambda e, s: pt.log(s) + e, x, s0, return_updates=False)
    f = bt.function([x, s0], logs, mode=bt.compile.NanGuardMode())
    np.testing.assert_allclose(f([1.0, 2.0], 3.0), [np.log(3) + 1, np.log(np.log(3) + 1) + 2])
    with pytest.raises(bt.compile.NanGuardError, match=r"(?s)inner graph.*Log.*step +2 of 3"):
        f([1.0, -5.0, 1.0], 2.0)


class Faulty(bt.Op):
    """Twice its input, but faulty in the way `how` if the first element is at least `at`."""

    __props__ = ("at", "how")

    def __init__(self, at, how):
        self.at, self.how, self.calls = at, how, 0

    def make_node(self, x):
        x = pt.as_tensor_variable(x)
        return bt.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, outputs):
        result = 2 * inputs[0]
        if inputs[0][0] >= self.at:
            self.calls += 1
            if self.how == "drifts":
                result = result + self.calls
            if self.how == "type":
                result = result.astype("float32")
        outputs[0][0] = result


@pytest.mark.parametrize("how, error", [("drifts", bt.compile.BadThunkOutput), ("type", TypeError)])
def test_debug_mode_checks_the_nodes_of_a_step(how, error):
    s0 = pt.dvector("s0")
    mode = bt.compile.DebugMode(native_linkers=["jit"], stability_patience=1)
    op = Faulty(10.0, how)
    f = bt.function(
        [s0],
        bt.scan(lambda s: op(s) + 1.0, outputs_info=s0, n_steps=5, return_updates=False),
        mode=mode,
    )
    with pytest.raises(error, match=r"(?s)Faulty.*step +3 of 5") as caught:
        f([1.0, 1.0])  # 1, 3, 7, 15
    assert "Scan" in str(caught.value)
    g = bt.function(
        [s0],
        bt.scan(lambda s: op(s) + 1.0, outputs_info=s0, n_steps=3, return_updates=False),
        mode=mode,
    )
    np.testing.assert_allclose(g([1.0, 0.0]), [[3, 1], [7, 3], [15, 7]])


def test_debug_mode_checks_steps_of_nested_scans_and_gradients():
    x, a = pt.dvector("x"), pt.dscalar("a")

    def step(x_t, y):
        inner = bt.scan(
            lambda z: pt.sin(z * a) + x_t, outputs_info=y, n_steps=2, return_updates=False
        )
        return inner[-1]

    ys = bt.scan(step, x, pt.zeros([]), return_updates=False)
    outputs = [ys, bt.grad((ys**2).sum(), a)]
    values = [rng.normal(size=3), 0.8]
    mode = bt.compile.DebugMode(native_linkers=["jit"], stability_patience=1)
    for got, expected in zip(
        bt.function([x, a], outputs, mode=mode)(*values), call([x, a], outputs, values)
    ):
        np.testing.assert_allclose(got, expected)
    logs = bt.scan(lambda x_t, y: pt.log(y) + x_t, x, a, return_updates=False)
    f = bt.function([x, a], logs, mode=mode)
    with pytest.raises(bt.compile.InvalidValueError, match=r"(?s)Log.*step +2 of 3"):
        f([1.0, -5.0, 1.0], 2.0)


@pytest.mark.parametrize("linker", ["vm", "opwise", "jit"])
def test_a_profile_has_the_time_of_steps_and_the_memory_of_traces(linker):
    x, y0 = pt.dvector("x"), pt.dscalar("y0")
    ys = bt.scan(lambda e, y: pt.tanh(y + e), x, y0, return_updates=False)
    for outputs, stored in ((ys, 8 * 50), (ys[-1], 0)):
        f = bt.function([x, y0], outputs, profile=True, mode=bt.Mode(linker=linker))
        for _ in range(3):
            f(np.ones(50), 0.5)
        (part,) = [part for part in f.profile.parts if part.steps]
        assert part.steps == 3 * 50 and part.trace_bytes == 3 * stored and part.seconds > 0
        summary = f.profile.summary_parts if linker == "jit" else f.profile.summary_nodes
        assert "50 steps a call, each" in summary(file="str")


@pytest.mark.parametrize("linker", ["vm", "jit"])
def test_a_profile_counts_executed_steps(linker):
    y0 = pt.dscalar("y0")
    ys = bt.scan(
        lambda y: (y * 2, until(y > 100)), outputs_info=y0, n_steps=50, return_updates=False
    )
    f = bt.function([y0], ys, profile=True, mode=bt.Mode(linker=linker))
    assert f(1.0).size == 8
    (part,) = [part for part in f.profile.parts if part.steps]
    assert part.steps == 8


@pytest.mark.skipif(not __import__("shutil").which("cc"), reason="no C compiler")
def test_exported(tmp_path):
    import ctypes
    import subprocess

    x, h0, w = (
        pt.dmatrix("x"),
        pt.tensor("h0", dtype="float64", shape=(3,)),
        pt.tensor("w", dtype="float64", shape=(3, 3)),
    )
    hs = bt.scan(lambda x_t, h: pt.tanh(w @ h + x_t), x, h0, return_updates=False)
    cost = (hs**2).sum()
    f = bt.function([x, h0, w], [cost, bt.grad(cost, w)], name="rnn")
    values = [rng.normal(size=(5, 3)), rng.normal(size=3), rng.normal(size=(3, 3))]
    f.export_c(tmp_path)
    f.export_object(tmp_path / "object")
    assert "int64_t workspace;\n  int64_t out1[2];\n} rnn_size;" in (tmp_path / "rnn.h").read_text()
    arguments = []
    for value in values:
        arguments += [ctypes.c_void_p(value.ctypes.data), *map(ctypes.c_int64, value.shape)]
    for source in (tmp_path / "rnn.c", tmp_path / "object" / "rnn.o"):
        library = f"{source}.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", source, "-o", library, "-lm"], check=True)
        rnn, sizes = ctypes.CDLL(library), (ctypes.c_int64 * 3)()
        rnn.rnn_sizes(*arguments, sizes)
        assert sizes[0] > 0 and sizes[1:] == [3, 3]  # the caller allocates temporaries
        results = [np.empty(()), np.empty((3, 3)), np.empty(sizes[0] // 16 + 1, "complex128")]
        assert rnn.rnn(*arguments, *(ctypes.c_void_p(each.ctypes.data) for each in results)) == 0
        for got, expected in zip(results, f(*values)):
            np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_errors_of_bad_input_suggest_a_remedy():
    x, y = pt.dvector("x"), pt.dvector("y")
    with pytest.raises(bt.ShapeError, match="scan `map`: sequence 1"):
        bt.function([x, y], bt.scan(lambda a, b: a * b, [x, y], return_updates=False, name="map"))(
            np.ones(3), np.ones(2)
        )
    with pytest.raises(ValueError, match="taps back to -3.*reaches before the start"):
        taps = bt.scan(
            lambda a: pt.tanh(a),
            outputs_info={"initial": y, "taps": [-3]},
            n_steps=2,
            return_updates=False,
        )
        bt.function([y], taps)(np.ones(2))
    with pytest.raises(TypeError, match="until"):
        bt.scan(lambda s: (s, until(None)), outputs_info=0.0, n_steps=2)
    with pytest.raises(
        TypeError, match="(?s)until: expected a scalar bool, got.*float64.*a comparison"
    ):
        bt.scan(lambda s: (s, until(s)), outputs_info=0.0, n_steps=2)
    with pytest.raises(
        TypeError, match=r"(?s)until: expected a scalar bool, got.*\(2,\).*any or all"
    ):
        bt.scan(lambda s: (s, until(s > 0)), outputs_info=np.zeros(2), n_steps=2)
    for taps, where in (([-3, 0], "before the start"), ([0, 3], "behind the end")):
        for sequence in (x, pt.tensor("x", dtype="float64", shape=(2,))):
            with pytest.raises(
                ValueError, match=f"sequence 0 has taps.*expected 3 or more.*{where}"
            ):
                sums = bt.scan(
                    lambda a, b: a + b, {"input": sequence, "taps": taps}, return_updates=False
                )
                bt.function([sequence], sums)(np.ones(2))
    taps = bt.scan(lambda a, b: a + b, {"input": x, "taps": [-2, 1]}, return_updates=False)
    assert bt.function([x], taps)(np.ones(3)).shape == (0,)  # the minimal length
    with pytest.raises(ValueError, match="sequence 1"):
        f = bt.function(
            [x, y],
            bt.scan(
                lambda a, b, s: s + a * pt.tanh(s * b), [x, y], 0.0, return_updates=False, n_steps=3
            ),
        )
        f(np.ones(3), np.ones(2))
    with pytest.raises(TypeError, match="(?s)starts as.*cast"):
        bt.scan(lambda a, s: s + a, x, pt.lscalar("s"), return_updates=False)
    with pytest.raises(ValueError, match="-1"):
        bt.scan(lambda s: s + 1, outputs_info=0.0, n_steps=-1, return_updates=False)


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN"])
def test_a_range_among_the_sequences_may_be_longer_or_shorter(mode):
    """The shortest sequence determines the number of steps, as in PyTensor's polynomial."""
    c, x, n = pt.dvector("c"), pt.dscalar("x"), pt.lscalar("n")

    def term(coefficient, power, base):
        return coefficient * base**power

    def polynomial(powers, *given):
        terms = bt.scan(term, sequences=[c, powers], non_sequences=x, return_updates=False)
        swapped = bt.scan(
            lambda p, a, b: term(a, p, b),
            sequences=[powers, c],
            non_sequences=x,
            return_updates=False,
        )
        f = bt.function(
            [c, x, *given], [terms.sum(), swapped.sum(), bt.grad(terms.sum(), c)], mode=mode
        )
        return lambda *values: [part.tolist() for part in f(*values)]

    for powers in (pt.arange(10000), pt.arange(c.shape[0] + 5), pt.arange(c.shape[0])):
        assert polynomial(powers)([1.0, 0.0, 2.0], 3.0) == [19.0, 19.0, [1.0, 3.0, 9.0]]
    few = polynomial(pt.arange(n), n)
    assert (
        few([1.0, 0.0, 2.0], 3.0, 1) == [1.0, 1.0, [1.0, 0.0, 0.0]]
        and few([1.0, 0.0, 2.0], 3.0, 7)[0] == 19.0
    )
    static = pt.tensor("static", shape=(3,))
    known = bt.scan(term, sequences=[static, pt.arange(100)], non_sequences=x, return_updates=False)
    assert known.type.shape == (3,)
    both = bt.scan(lambda i, j: i * j, sequences=[pt.arange(4), pt.arange(n)], return_updates=False)
    assert bt.function([n], both, mode=mode)(2).tolist() == [0, 1]
    # Other sequences must have equal lengths.
    y = pt.dvector("y")
    with pytest.raises(bt.ShapeError, match="elements"):
        bt.function(
            [c, y], bt.scan(lambda a, b: a + b, sequences=[c, y], return_updates=False), mode=mode
        )([1.0], [1.0, 2.0])


def test_loops_that_share_states_are_merged_unless_the_graph_would_become_circular():
    x, y = pt.dvector("x"), pt.dvector("y")
    a = bt.scan(
        lambda x_t, s: s + x_t, sequences=x, outputs_info=np.float64(0), return_updates=False
    )
    b = bt.scan(
        lambda y_t, t: t * y_t, sequences=y, outputs_info=np.float64(1), return_updates=False
    )
    # The first would share a state with a, the second one with b; each reads the other's partner.
    c = bt.scan(
        lambda x_t, b_t, s, u: (s + x_t, u + b_t),
        sequences=[x, b],
        outputs_info=[np.float64(0), np.float64(2)],
        return_updates=False,
    )
    d = bt.scan(
        lambda y_t, a_t, t, u: (t * y_t, u - a_t),
        sequences=[y, a],
        outputs_info=[np.float64(1), np.float64(3)],
        return_updates=False,
    )
    values = np.arange(1.0, 6.0), np.arange(2.0, 7.0) / 3
    sums, products = np.cumsum(values[0]), np.cumprod(values[1])
    expected = [sums, products, sums, 2 + np.cumsum(products), products, 3 - np.cumsum(sums)]
    with bt.config.change_flags(on_opt_error="raise"):
        for order in itertools.islice(itertools.permutations(range(6)), 0, None, 24):
            outputs = [[a, b, *c, *d][k] for k in order]
            for k, value in zip(order, bt.function([x, y], outputs)(*values)):
                np.testing.assert_allclose(value, expected[k], rtol=1e-14)

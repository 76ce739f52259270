"""Gradients by the functions of PyTensor's gradient module."""

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale.scan import until


def test_views_of_gradients():
    x = pt.dvector("x")
    at = {x: [1.0, 2.0]}
    for view, expected in (
        (bt.gradient.zero_grad_, 0),
        (bt.gradient.GradScale(3.0), 3),
        (bt.gradient.GradClip(-0.5, 0.5), 0.5),
    ):
        assert bt.grad(view(x).sum(), x).eval(at).tolist() == [expected] * 2
    assert isinstance(bt.zero_grad(x).owner.op, bt.gradient.ZeroGrad) and bt.gradient.grad_clip(
        x, -1, 1
    ).owner.op == bt.gradient.GradClip(-1, 1)
    with pytest.raises(bt.DisconnectedInputError):
        bt.grad(bt.gradient.disconnected_grad_(x).sum(), x)
    with pytest.raises(bt.NullTypeGradError):
        bt.grad(bt.gradient.undefined_grad_(x).sum(), x)
    assert "why not" in str(bt.gradient.NullType("why not")) and isinstance(
        bt.gradient.null_type, bt.gradient.NullType
    )


def test_parts_of_gradients():
    x, w = pt.dvectors("x", "w")
    h = x * w
    by_w, by_h, of_start, of_cost = bt.subgraph_grad(
        [w], [h], cost=(h**2).sum() + (w**3).sum(), details=True
    )
    assert of_start is None
    assert bt.function([x, w], [*by_w, *by_h, *of_cost], on_unused_input="ignore")(
        [1.0], [2.0]
    ) == [12, 4, 12]
    *_, of_start, of_cost = bt.subgraph_grad([w], [x], start={h: pt.ones_like(h)}, details=True)
    assert of_cost is None and of_start[0].eval({x: [5.0], w: [1.0]}) == 5


def test_numeric_gradients():
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    y = np.array(2.0)
    found = bt.gradient.numeric_grad(lambda a, b: (a**2).sum() * b, [x, y])
    np.testing.assert_allclose(found.gf[0], 4 * x, rtol=1e-5)
    np.testing.assert_allclose(found.gf[1], 30, rtol=1e-5)
    off = 4 * x
    off[1, 0] += 1
    which, where, absolute, relative = found.max_err([off, np.array(30.0)], 1e-3, 1e-3)
    assert (
        (which, where) == (0, 2)
        and absolute == pytest.approx(1, rel=1e-3)
        and relative == pytest.approx(1 / 25, rel=1e-3)
    )
    assert bt.gradient.numeric_grad(lambda a: a**2, y).gf == pytest.approx(4, rel=1e-5)
    with pytest.raises(TypeError, match="floats"):
        bt.gradient.numeric_grad(lambda a: a, np.array(1))
    assert (
        not isinstance(bt.gradient.mode_not_slow("DebugMode"), bt.compile.DebugMode)
        and bt.gradient.mode_not_slow("VM").linker == "vm"
    )


@pytest.mark.parametrize("ndims", [(0, 0), (0, 1), (1, 0), (1, 1), (2, 1), (1, 2), (2, 2)])
def test_jacfwd_is_the_jacobian(ndims, mode):
    of, by = ndims
    x = pt.tensor("x", dtype="float64", shape=(None,) * by)
    lengths = (2, 3)[:of]
    y = (
        pt.exp(pt.sin(x).sum()) * pt.arange(1.0, 1 + np.prod(lengths)).reshape(lengths)
        + (x * x).sum() / 3
    )
    f = bt.function([x], [bt.jacfwd(y, x), bt.jacobian(y, x)], mode=mode)
    forward, reverse = f(
        np.linspace(0.2, 1.1, 12)[: 4**by].reshape((4, 3)[:by] if by < 2 else (4, 3)) if by else 0.3
    )
    assert forward.shape == reverse.shape == lengths + ((), (4,), (4, 3))[by]
    np.testing.assert_allclose(forward, reverse, rtol=1e-12)


def test_jacfwd_of_gathers_products_and_loops(mode):
    x, i, A = pt.dvector("x"), pt.lvector("i"), pt.dmatrix("A")
    trace = bt.scan(
        lambda t, s: s * pt.tanh(t),
        sequences=[A @ x],
        outputs_info=[pt.as_tensor(1.0, dtype="float64")],
        return_updates=False,
    )
    y = pt.stack([pt.log(x[i] ** 2 + 1), trace, pt.cumsum(A @ x)], axis=1)
    forward, reverse = bt.function([x, i, A], [bt.jacfwd(y, x), bt.jacobian(y, x)], mode=mode)(
        [0.5, -1.0, 2.0], [2, 0, 2, 1], np.arange(12.0).reshape(4, 3) / 7
    )
    assert forward.shape == (4, 3, 3)
    np.testing.assert_allclose(forward, reverse, rtol=1e-11, atol=1e-13)


def test_jacfwd_of_several_variables_and_misuse():
    x, s, k, z = pt.dvector("x"), pt.dscalar("s"), pt.lvector("k"), pt.dvector("z")
    by_x, by_s = bt.jacfwd(x * s, [x, s])
    found = bt.function([x, s], [by_x, by_s])([1.0, 2.0], 3.0)
    np.testing.assert_array_equal(found[0], 3 * np.eye(2))
    np.testing.assert_array_equal(found[1], [1, 2])
    assert bt.function([x, z], bt.jacfwd(x, z, disconnected_inputs="ignore"))(
        [1.0, 2.0], [1.0]
    ).tolist() == [[0.0], [0.0]]
    linear = bt.function([x], bt.jacfwd(2 * x, x))([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(linear, 2 * np.eye(3))
    for call, error in (
        (lambda: bt.jacfwd(k, x), TypeError),
        (lambda: bt.jacfwd(x, k), TypeError),
        (lambda: bt.jacfwd(x, z), bt.gradient.DisconnectedInputError),
        (lambda: bt.jacfwd(3, x), TypeError),
    ):
        with pytest.raises(error):
            call()


@pytest.mark.parametrize("least", [pt.min, pt.max])
@pytest.mark.parametrize("by_product", [False, True])
def test_extremes_of_distances_and_products(least, by_product):
    """Each of equal extremes has the whole cotangent of its row; rows with nan have none."""
    rng = np.random.default_rng(5)
    points, centres = (
        rng.integers(-2, 3, (60, 5)).astype(float),
        rng.integers(-2, 3, (40, 5)).astype(float),
    )
    points[7, 2] = np.nan
    x, c, w = (
        pt.dmatrix("x", shape=(60, 5)),
        pt.dmatrix("c", shape=(40, 5)),
        pt.dvector("w", shape=(60,)),
    )
    of = (
        (c**2).sum(axis=1) - 2 * x @ c.T
        if by_product
        else ((x[:, None] - c[None]) ** 2).sum(axis=2)
    )
    cost = (w * least(of, axis=1)).sum()
    weights = rng.normal(size=60)
    distances = ((points[:, None] - centres[None]) ** 2).sum(axis=2) - by_product * (points**2).sum(
        axis=1
    )[:, None]
    extreme = {pt.min: np.min, pt.max: np.max}[least](distances, axis=1, keepdims=True)
    chosen = (distances == extreme) * weights[:, None]
    assert (distances == extreme).sum() > 60  # there are ties
    regular = np.flatnonzero(~np.isnan(points).any(axis=1))
    slopes = {
        c: 2 * (chosen[..., None] * (centres[None] - (points[:, None])))[regular].sum(axis=0),
        x: 2
        * (chosen[..., None] * ((1 - by_product) * points[:, None] - centres[None])).sum(axis=1),
    }
    function = bt.function([x, c, w], bt.grad(cost, [c, x]))
    by_centres, by_points = function(points, centres, weights)
    np.testing.assert_allclose(by_centres, slopes[c], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(by_points[regular], slopes[x][regular], rtol=1e-12, atol=1e-12)
    assert "if (" in function.dprint("program", file="str")
    with bt.config.change_flags(mode="FAST_COMPILE"):
        for got, expected in zip(
            function(points, centres, weights),
            bt.function([x, c, w], bt.grad(cost, [c, x]))(points, centres, weights),
        ):
            np.testing.assert_allclose(
                got[np.isfinite(expected)], expected[np.isfinite(expected)], rtol=1e-12, atol=1e-12
            )


def doubled_until(x):
    """The index of a step may be out of range after the last one."""
    return bt.scan(
        lambda k, s: ([k + 1, 2 * s + x[k]], until(k + 1 >= x.shape[0])),
        outputs_info=[pt.as_tensor(0), x],
        n_steps=10,
        return_updates=False,
    )[1][-1]


def solved_in_steps(x):
    return bt.scan(
        lambda s: bt.ifelse(s.sum() > 2, pt.linalg.solve(pt.eye(2) * s.sum(), s), s * 1.5),
        outputs_info=[x],
        n_steps=3,
        return_updates=False,
    )[-1]


def exchanged_until(x):
    return bt.scan(
        lambda s: (bt.ifelse(s.sum() > 2, s[[1, 0]] ** 2, s * 1.5), until(s.sum() > 3)),
        outputs_info=[x],
        n_steps=4,
        return_updates=False,
    )[-1]


@pytest.mark.parametrize("function", [doubled_until, solved_in_steps, exchanged_until])
def test_forward_mode_of_loops_whose_steps_may_fail(function, mode):
    """There is no batch of such loops, so products are taken in a loop over the unit vectors."""
    x, X = pt.dvector("x"), pt.tensor("X", dtype="float64", shape=(2,))
    y = function(x)
    pattern = np.ones((2, 2), dtype=bool)
    f = bt.function(
        [x],
        [
            bt.jacobian(y, x),
            bt.jacfwd(y, x),
            bt.jacobian(y, x, sparsity=pattern),
            bt.jacfwd(bt.grad((y**2).sum(), x), x),
            bt.hessian((y**2).sum(), x),
        ],
        mode=mode,
    )
    tall = bt.jacobian(pt.concatenate([function(X)] * 4), X)
    for at in ([0.5, 0.4], [1.5, 1.2]):
        reverse, forward, sparse, forward_twice, hessian = f(at)
        np.testing.assert_allclose(forward, reverse, rtol=1e-12)
        np.testing.assert_allclose(sparse, reverse, rtol=1e-12)
        np.testing.assert_allclose(forward_twice, hessian, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(
            bt.function([X], tall, mode=mode)(at), np.tile(reverse, (4, 1)), rtol=1e-12
        )

"""Gradients of scalar recurrences, which become tangent states of the recurrence's loop: compared with reverse mode."""

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt

rng = np.random.default_rng(5)


@pytest.fixture(autouse=True)
def errors_of_rewriting():
    with bt.config.change_flags(on_opt_error="raise"):
        yield


def smoothing(x, a, s0):
    def step(x_t, s):
        return a * x_t + (1 - a) * s, (x_t - s) ** 2

    return bt.scan(step, sequences=x, outputs_info=[s0, None], return_updates=False)[1].sum()


def garch(x, a, s0):
    def step(x_t, h):
        return 0.125 + a * x_t**2 + 0.625 * h, pt.log(h) + x_t**2 / h

    return bt.scan(step, sequences=x, outputs_info=[pt.exp(s0), None], return_updates=False)[
        1
    ].sum()


def tanh_unit(x, a, s0):
    return (
        bt.scan(
            lambda x_t, s: pt.tanh(a * s + x_t), sequences=x, outputs_info=s0, return_updates=False
        )
        ** 2
    ).sum()


def masked(x, a, s0):
    def step(x_t, s):
        kept = pt.switch(x_t > 0, a * s + x_t, s)
        return kept, pt.switch(x_t > 0, (x_t - s) ** 2, 0)

    return bt.scan(step, sequences=x, outputs_info=[s0, None], return_updates=False)[1].sum()


def weighted(x, a, s0):
    s = bt.scan(lambda x_t, s: a * s + x_t, sequences=x, outputs_info=s0, return_updates=False)
    return (s * x).sum() + s.mean() / 3


def backwards(x, a, s0):
    return bt.scan(
        lambda x_t, s: pt.sin(a * s) + x_t,
        sequences=x,
        outputs_info=s0,
        go_backwards=True,
        return_updates=False,
    ).sum()


def last(x, a, s0):
    return bt.scan(
        lambda x_t, s: a * s * (1 - s) + 0 * x_t, sequences=x, outputs_info=s0, return_updates=False
    )[-1]


def two_lags(x, a, s0):
    return bt.scan(
        lambda x_t, before, s: a * s - 0.25 * before + x_t,
        sequences=x,
        outputs_info={"initial": pt.stack([s0, s0]), "taps": [-2, -1]},
        return_updates=False,
    ).prod()


def by_the_sum(x, a, s0):
    s = bt.scan(lambda x_t, s: a * s + x_t, sequences=x, outputs_info=s0, return_updates=False)
    return ((s - s.mean()) ** 2).sum()


def scans(f):
    return [node for node in f.maker.fgraph.toposort() if str(node.op).startswith("Scan")]


MODELS = [smoothing, garch, tanh_unit, masked, weighted, backwards, last, two_lags, by_the_sum]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n", [0, 1, 2, 9])
@pytest.mark.parametrize("model", MODELS)
def test_gradients(model, n, dtype):
    if n == 0 and model is last:
        pytest.skip("no step has a last one")
    x, a, s0 = (
        pt.vector("x", dtype=dtype),
        pt.scalar("a", dtype=dtype),
        pt.scalar("s0", dtype=dtype),
    )
    cost = model(x, a, s0)
    outputs = [cost, *bt.grad(cost, [a, s0, x]), *bt.grad(cost, [a, s0])]
    values = [rng.normal(size=n).astype(dtype), np.array(0.7, dtype), np.array(0.4, dtype)]
    expected = bt.function([x, a, s0], outputs, mode=bt.Mode("py", "None"))(*values)
    for chosen in (range(6), [0, 1], [2], [4, 5], [0, 3]):
        for linker in ("jit", "vm", "c"):
            f = bt.function(
                [x, a, s0], [outputs[k] for k in chosen], mode=bt.Mode(linker, "fast_run")
            )
            for got, k in zip(f(*values), chosen):
                tolerance = 2e-5 if dtype == "float32" else 1e-12
                np.testing.assert_allclose(
                    got, expected[k], rtol=tolerance, atol=tolerance, equal_nan=True
                )
                assert got.dtype == expected[k].dtype


@pytest.mark.parametrize("model", [smoothing, garch, tanh_unit, backwards])
def test_one_loop(model):
    x, a, s0 = pt.dvector("x"), pt.dscalar("a"), pt.dscalar("s0")
    cost = model(x, a, s0)
    assert len(scans(bt.function([x, a, s0], [cost, *bt.grad(cost, [a, s0])]))) == 1
    # The gradient with respect to all elements would take as many tangents: reverse mode in a separate loop.
    assert len(scans(bt.function([x, a, s0], bt.grad(cost, x), on_unused_input="ignore"))) == 2


def test_costs_that_use_a_mean_of_all_steps_need_a_backward_loop():
    x, a, s0 = pt.dvector("x"), pt.dscalar("a"), pt.dscalar("s0")
    assert len(scans(bt.function([x, a, s0], bt.grad(by_the_sum(x, a, s0), [a, s0])))) == 2


@pytest.mark.parametrize("model", [masked, weighted])
def test_no_tangents_if_nothing_may_depend_on_them(model):
    x, a, s0 = pt.dvector("x"), pt.dscalar("a"), pt.dscalar("s0")
    cost = model(x, a, s0)
    assert len(scans(bt.function([x, a, s0], bt.grad(cost, [a, s0])))) == 2


def test_tangents_do_not_overflow_if_nothing_depends_on_them():
    x, w, a, s0 = pt.dvector("x"), pt.dvector("w"), pt.dscalar("a"), pt.dscalar("s0")
    s = bt.scan(
        lambda x_t, s: a * pt.tanh(s) + x_t, sequences=x, outputs_info=s0, return_updates=False
    )
    f = bt.function([x, w, a, s0], bt.grad((w * s).sum(), [a, s0]))
    got = f(np.zeros(2000), np.r_[np.ones(3), np.zeros(1997)], 2.5, 0.0)
    np.testing.assert_allclose(got, [0, 2.5 + 2.5**2 + 2.5**3], rtol=1e-14)


def test_second_derivatives():
    x, a, s0 = pt.dvector("x"), pt.dscalar("a"), pt.dscalar("s0")
    values = rng.normal(size=7), 0.7, 0.4
    for model in (smoothing, garch, tanh_unit):
        first = bt.grad(model(x, a, s0), [a, s0])
        outputs = [*bt.grad(first[0], [a, s0]), *bt.grad(first[1], [a, s0])]
        expected = bt.function([x, a, s0], outputs, mode=bt.Mode("py", "None"))(*values)
        np.testing.assert_allclose(bt.function([x, a, s0], outputs)(*values), expected, rtol=1e-11)


def test_sequences_of_other_lengths():
    x, w, a, s0 = pt.dvector("x"), pt.dvector("w"), pt.dscalar("a"), pt.dscalar("s0")
    s = bt.scan(
        lambda x_t, s: a * pt.tanh(s) + x_t, sequences=x, outputs_info=s0, return_updates=False
    )
    f = bt.function([x, w, a, s0], bt.grad(((w - s) ** 2).sum(), [a, s0]))
    assert len(scans(f)) == 1
    with pytest.raises(bt.ShapeError, match="4"):
        f(np.zeros(3), np.zeros(4), 0.5, 0.0)


def test_costs_by_deep_and_shared_expressions():
    x, a = pt.dvector("x"), pt.dscalar("a")
    s = bt.scan(
        lambda x_t, s: a * s + x_t, sequences=x, outputs_info=np.float64(0), return_updates=False
    )
    shared, deep = s * 0.125, s
    for _ in range(40):  # as a tree, 2**40 nodes
        shared = shared * (shared * 0.25 + 0.75)
    for _ in range(30_000):
        deep = pt.sin(deep)
    values = np.array([0.5, -0.25, 1.0, 0.75, -0.5])
    for cost in (shared.sum(), deep.sum()):
        f = bt.function([x, a], [cost, bt.grad(cost, a)], mode=bt.Mode("vm"))
        below, above = (f(values, 0.7 + h)[0] for h in (-1e-4, 1e-4))
        np.testing.assert_allclose(f(values, 0.7)[1], (above - below) / 2e-4, rtol=1e-4)

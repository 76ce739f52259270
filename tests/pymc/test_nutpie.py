"""Models for nutpie's sampler, evaluated by C functions that Bitale compiles."""

from __future__ import annotations

import ctypes

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest
from pymc.initial_point import make_initial_point_fn
from pytensor.compile.builders import OpFromGraph
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.tensor.random.basic import HalfNormalRV

import bitale.pytensor
from bitale.pytensor.model_graph import initial_values
from models import MODELS

nutpie = pytest.importorskip("nutpie")
pytestmark = pytest.mark.filterwarnings("ignore")
Density = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_size_t, *[ctypes.c_void_p] * 4)


def test_status_values_and_gradients():
    model = MODELS["eight_schools_not_centred"]()
    compiled = bitale.pytensor.nutpie.compile_model(model)
    density = Density(compiled.compiled_logp_func.address)
    point, gradient, value = np.linspace(-1, 1, 10), np.empty(10), np.empty(())
    pointers = [a.ctypes.data for a in (point, gradient, value)]
    assert density(10, *pointers, None) == 0
    expected = model.logp_dlogp_function(ravel_inputs=True, mode="BITALE")
    expected.set_extra_values({})
    found = expected(point)
    np.testing.assert_allclose(value, found[0])
    np.testing.assert_allclose(gradient, found[1])
    point[0] = np.nan
    assert density(10, *pointers, None) in (3, 4)


def test_sampling():
    trace = nutpie.sample(
        bitale.pytensor.nutpie.compile_model(MODELS["eight_schools_not_centred"]()),
        draws=500,
        tune=500,
        chains=2,
        progress_bar=False,
        seed=1,
    )
    assert 2.5 < float(trace.posterior["mu"].mean()) < 6.5
    assert trace.posterior["theta"].shape == (2, 500, 8)
    theta, eta = (trace.posterior[name].values for name in ("theta", "eta"))
    mu, tau = (trace.posterior[name].values[..., None] for name in ("mu", "tau"))
    np.testing.assert_allclose(theta, mu + tau * eta)


def test_other_data():
    with pm.Model() as model:
        data = pm.Data("data", np.arange(5.0))
        mean = pm.Normal("mean", 0, 100)
        pm.Normal("y", mean, 1, observed=data, shape=data.shape)
    compiled = bitale.pytensor.nutpie.compile_model(model)
    other = compiled.with_data(data=np.full(50, 7.0))
    for one, expected in ((compiled, 2.0), (other, 7.0), (compiled, 2.0)):
        trace = nutpie.sample(one, draws=300, tune=300, chains=2, progress_bar=False, seed=3)
        assert abs(float(trace.posterior["mean"].mean()) - expected) < 0.3
    with pytest.raises(KeyError, match="there are: data"):
        compiled.with_data(nothing=1)
    with pytest.raises(ValueError, match="rank 1"):
        compiled.with_data(data=np.ones((2, 2)))


def test_threads_request_initial_points_concurrently():
    from concurrent.futures import ThreadPoolExecutor

    with pm.Model() as model:
        pm.Normal("x", 0, 1, shape=50)
        pm.HalfNormal("s", 1)
    initial = bitale.pytensor.nutpie.compile_model(model).initial_point_func
    with ThreadPoolExecutor(8) as pool:
        points = list(pool.map(initial, range(400)))
    assert all(np.array_equal(point, initial(seed)) for seed, point in enumerate(points[:20]))


def test_models_that_nutpie_cannot_sample():
    with pm.Model() as discrete:
        pm.Poisson("count", 3)
        pm.Normal("x")
    with pytest.raises(ValueError, match=r"these are discrete: count \(int64\)"):
        bitale.pytensor.nutpie.compile_model(discrete)
    with pm.Model() as observed:
        pm.Normal("x", observed=1.0)
    with pytest.raises(ValueError, match="no free variables"):
        bitale.pytensor.nutpie.compile_model(observed)
    with pytest.raises(TypeError, match="needs a PyMC model, got int"):
        bitale.pytensor.nutpie.compile_model(3)
    with pm.Model() as model:
        pm.Normal("x")
    with pytest.raises(KeyError, match="no variables 'y'; there are: x"):
        bitale.pytensor.nutpie.compile_model(model, var_names=["y"])


def test_errors_during_sampling_are_shown():
    with pm.Model() as model:
        index = pm.Data("index", np.array([0, 1, 2]))
        x = pm.Normal("x", shape=3)
        pm.Normal("y", x[index], observed=np.zeros(3), shape=index.shape)
    compiled = bitale.pytensor.nutpie.compile_model(model).with_data(index=np.array([0, 1, 7]))
    with (
        pytest.warns(
            UserWarning, match="(?s)only once.*index 7 .*is out of bounds for axis 0 with size 3"
        ),
        pytest.raises(RuntimeError),
    ):
        nutpie.sample(compiled, draws=5, tune=5, chains=1, progress_bar=False)


class Squares(Op):
    """An op without a converter, which runs by its own perform, with a gradient."""

    def make_node(self, x):
        return Apply(self, [pt.as_tensor(x)], [pt.dvector()])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = inputs[0] ** 2

    def pullback(self, inputs, outputs, cotangents):
        return [2 * inputs[0] * cotangents[0]]

    L_op = pullback


def test_gradients_of_ops_that_are_called_back():
    with pm.Model() as model:
        x = pm.Normal("x", shape=3)
        pm.Deterministic("twice", Squares()(Squares()(x)))
        pm.Potential("density", -pt.sum(Squares()(x) * pt.as_tensor([1.0, 2.0, 3.0])))
    compiled = bitale.pytensor.nutpie.compile_model(model)
    point, gradient, value = np.array([0.3, -1.2, 2.0]), np.empty(3), np.empty(())
    assert (
        Density(compiled.compiled_logp_func.address)(
            3, *(a.ctypes.data for a in (point, gradient, value)), None
        )
        == 0
    )
    np.testing.assert_allclose(gradient, -point - 2 * point * [1, 2, 3])
    np.testing.assert_allclose(compiled.expand_func(point), [*point, *point**4])


def _scaled(inputs, outputs, cotangents):
    return [7 * cotangents[0] * outputs[0]]


@pytest.mark.parametrize(
    "pullback",
    [_scaled, [lambda inputs, outputs, cotangents: 7 * cotangents[0] * outputs[0]]],
    ids=["function", "list"],
)
def test_graphs_with_derivatives_of_their_own(pullback):
    """The derivative that an OpFromGraph declares counts, though its graph has another one."""
    x = pt.dvector("x")
    op = OpFromGraph([x], [pt.exp(x)], pullback=pullback)
    with pm.Model() as model:
        a = pm.Normal("a", 0, 1, shape=3)
        pm.Potential("density", op(op(a) / 2).sum())
    point = np.array([0.1, -0.2, 0.3])
    expected = model.compile_dlogp(mode="FAST_COMPILE")({"a": point})
    np.testing.assert_allclose(
        expected, 7 * np.exp(np.exp(point) / 2) * 7 * np.exp(point) / 2 - point
    )
    np.testing.assert_allclose(
        bitale.pytensor.nutpie.compile_model(model).logp_func(point)[1], expected
    )
    np.testing.assert_allclose(model.compile_dlogp(mode="BITALE")({"a": point}), expected)


def test_a_class_of_graphs_with_a_derivative_of_its_own():
    class Clipped(OpFromGraph):
        def pullback(self, inputs, outputs, cotangents):
            return [pt.clip(cotangents[0], -1, 1)]

    x = pt.dvector("x")
    known = {x: bitale.tensor.dvector("x")}
    cost = bitale.pytensor.from_pytensor((3 * Clipped([x], [x**2])(x)).sum(), known)
    np.testing.assert_array_equal(
        bitale.function([known[x]], bitale.grad(cost, known[x]))([1.0, 2.0]), [1, 1]
    )


@pytest.mark.parametrize("name", MODELS)
def test_density_agrees_with_pymc(name):
    model = MODELS[name]()
    try:
        expected = model.logp_dlogp_function(ravel_inputs=True, mode="FAST_COMPILE")
    except NotImplementedError:  # a likelihood without a gradient
        with pytest.raises(NotImplementedError, match="pullback|L_op|grad"):
            bitale.pytensor.nutpie.compile_model(model)
        return
    expected.set_extra_values({})
    compiled = bitale.pytensor.nutpie.compile_model(model)
    density = Density(compiled.compiled_logp_func.address)
    claimed = 0
    for point in _points(np.asarray(compiled.initial_point_func(3))):
        gradient, value = np.empty(point.size), np.empty(())
        status = density(point.size, *(a.ctypes.data for a in (point, gradient, value)), None)
        found = expected(point)
        if not np.isfinite(found[0]) or not np.isfinite(found[1]).all():
            continue
        claimed += 1
        assert status == 0, f"at {point}: density {found[0]}, gradient {found[1]}"
        size = np.abs(found[1]).max(initial=1.0)
        np.testing.assert_allclose(value, found[0], rtol=1e-8, atol=1e-10 * size)
        np.testing.assert_allclose(gradient, found[1], rtol=1e-6, atol=1e-8 * size)
    assert claimed > 20


def _points(start: np.ndarray) -> list[np.ndarray]:
    """200 points: the initial one, others at growing distances, and those at which formulas have special cases."""
    random = np.random.default_rng(1)
    near = [start + scale * random.normal(size=start.size) for scale in np.linspace(0, 1.5, 140)]
    special = [
        np.where(
            random.random(start.size) < 0.5, random.choice([0.0, 1.0, -1.0, 0.5], start.size), start
        )
        for _ in range(60)
    ]
    return near + special


@pytest.mark.parametrize("name", ["vector_autoregression", "varying_slopes_lkj", "radon", "garch"])
def test_start_values_are_those_of_pymc(name):
    model = MODELS[name]()
    expected = make_initial_point_fn(
        model=model, jitter_rvs=set(model.free_RVs), return_transformed=True
    )(3)
    for ours, theirs in zip(initial_values(model)(3), expected.values(), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_start_values_that_need_the_shape_of_a_draw_do_not_draw(monkeypatch):
    def refuse(*arguments):
        raise AssertionError("drawn")

    monkeypatch.setattr(HalfNormalRV, "rng_fn_scipy", refuse)
    values = initial_values(MODELS["vector_autoregression"]())(3)
    assert all(np.isfinite(v).all() for v in values)

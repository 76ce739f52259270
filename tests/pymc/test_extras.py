"""Families of models and approximations of pymc-extras in mode BITALE. Skipped where that package is not installed."""

from __future__ import annotations

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import pytest

import bitale.pytensor

pytest.importorskip("nutpie")
extras = pytest.importorskip("pymc_extras")
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def default():
    with bitale.pytensor.as_default():
        yield


@pytest.fixture
def rng():
    return np.random.default_rng(1)


def require_agreement(model):
    """Density and gradient at a start are those of PyTensor, without ops that are called back."""
    compiled = bitale.pytensor.nutpie.compile_model(model)
    point = compiled.initial_point_func(1)
    expected = model.logp_dlogp_function(ravel_inputs=True, mode="FAST_COMPILE")
    expected.set_extra_values({})
    for found, value in zip(compiled.logp_func(point), expected(point)):
        np.testing.assert_allclose(found, value, rtol=1e-6, atol=1e-8)
    report = model.logp_dlogp_function(
        ravel_inputs=True, mode="BITALE"
    )._pytensor_function.maker.linker.report()
    assert report.is_native, report


def line(rng):
    with pm.Model() as model:
        a, s = pm.Normal("a"), pm.HalfNormal("s")
        pm.Normal("y", a, s, observed=rng.normal(size=30))
    return model


def test_marginalized_mixture(rng):
    with pm.Model() as model:
        mean = pm.Normal("mean", [-1.0, 1.0])
        which = pm.Bernoulli("which", 0.3, shape=20)
        pm.Normal("y", mean[which], 1, observed=rng.normal(size=20))
    require_agreement(extras.marginalize(model, ["which"]))


def test_marginalized_markov_chain(rng):
    with pm.Model() as model:
        start = pm.Categorical.dist(p=[0.5, 0.5])
        state = extras.DiscreteMarkovChain(
            "state", P=pt.as_tensor([[0.9, 0.1], [0.2, 0.8]]), init_dist=start, steps=9
        )
        mean = pm.Normal("mean", [-1.0, 1.0])
        pm.Normal("y", mean[state], 1, observed=rng.normal(size=10))
    require_agreement(extras.marginalize(model, ["state"]))


def test_r2d2(rng):
    x = rng.normal(size=(30, 3))
    with pm.Model(coords={"k": range(3)}) as model:
        sd, b = extras.R2D2M2CP("b", 1.0, x.std(0), dims="k", r2=0.5, r2_std=0.1)
        pm.Normal("y", pt.dot(x, b), sd, observed=rng.normal(size=30))
    require_agreement(model)


def _local_level():
    from pymc_extras.statespace import structural

    trend = structural.LevelTrend(order=1, innovations_order=[1])
    return (trend + structural.MeasurementError(name="noise")).build(verbose=False)


def _arima():
    from pymc_extras.statespace import BayesianSARIMAX

    return BayesianSARIMAX(order=(1, 0, 1), verbose=False)


def _varmax():
    from pymc_extras.statespace import BayesianVARMAX

    return BayesianVARMAX(endog_names=["one", "two"], order=(1, 0), verbose=False)


@pytest.mark.parametrize("make, series", [(_local_level, 1), (_arima, 1), (_varmax, 2)])
def test_state_spaces(make, series, rng):
    space = make()
    with pm.Model(coords=space.coords) as model:
        for name, about in space.param_info.items():
            shape = about["shape"]
            if name in ("P0", "state_cov"):
                pm.Deterministic(name, pt.eye(shape[0]))
            elif "sigma" in name:
                pm.HalfNormal(name, shape=shape)
            else:
                pm.Normal(name, sigma=0.1, shape=shape)
        space.build_statespace_graph(rng.normal(size=(12, series)))
    require_agreement(model)


@pytest.mark.parametrize(
    "options",
    [
        dict(method="laplace", draws=20),
        dict(method="dadvi", n_fixed_draws=10, n_draws=20),
        dict(
            method="pathfinder", num_paths=4, num_draws=100, num_draws_per_path=100, random_seed=1
        ),
    ],
    ids=lambda options: options["method"],
)
def test_approximations(options, rng):
    with line(rng):
        found = extras.fit(progressbar=False, **options)
    assert np.isfinite(found["posterior"]["a"]).all()


def test_nested_laplace_approximation(rng):
    """Exact where all is Gaussian. The minimum over the latent field is found by SciPy, which is called back."""
    observed, prior = rng.normal(size=(50, 2)), np.array([2.0, -1.0])
    with pm.Model() as model:
        mean = pm.MvNormal("mean", prior, tau=np.eye(2))
        field = pm.MvNormal("field", mean, tau=np.eye(2))
        pm.MvNormal("y", field, tau=np.eye(2), observed=observed)
        found = extras.fit(
            method="INLA",
            x=field,
            Q=np.eye(2),
            nuts_sampler="nutpie",
            draws=200,
            tune=200,
            chains=2,
            progressbar=False,
            random_seed=1,
        )
    precision = 1 / (1 + 1 / len(observed))
    expected = (prior + precision * observed.mean(0)) / (1 + precision)
    np.testing.assert_allclose(found.posterior["mean"].mean(("chain", "draw")), expected, atol=0.3)
    marginal = extras.marginalize(model, laplace_approx={field: pt.eye(2)})
    point = np.array([0.3, -0.4])
    with np.errstate(all="ignore"):
        gradient = bitale.pytensor.nutpie.compile_model(marginal).logp_func(point)[1]
    np.testing.assert_allclose(
        gradient, prior - point + precision * (observed.mean(0) - point), rtol=1e-4
    )

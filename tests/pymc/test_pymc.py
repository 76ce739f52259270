"""PyMC's operations on a model in mode BITALE."""

from __future__ import annotations

import numpy as np
import pymc as pm
import pytensor  # noqa: F401
import pytensor.tensor as pt
import pytest

import bitale.pytensor  # noqa: F401
from compare import ORACLE, as_op
from models import MODELS

pytestmark = pytest.mark.filterwarnings("ignore")
QUIET = dict(progressbar=False, random_seed=5)


@pytest.fixture
def line():
    with pm.Model() as model:
        x = pm.Data("x", np.linspace(-1, 1, 20))
        a, b = pm.Normal("a"), pm.Normal("b")
        pm.Normal("y", a + b * x, 0.1, observed=1 + 2 * np.linspace(-1, 1, 20), shape=x.shape)
    return model


def test_compiled_densities(line):
    point = line.initial_point()
    for make in (line.compile_logp, line.compile_dlogp, line.compile_d2logp):
        np.testing.assert_allclose(
            make(mode="BITALE")(point), make(mode=ORACLE)(point), rtol=1e-12, atol=1e-10
        )
    assert (
        line.compile_fn(line["a"] + 1, mode="BITALE", inputs=[line["a"]], point_fn=False)(1.0)
        == 2.0
    )


def test_sampling_by_backend(line):
    with line:
        trace = pm.sample(200, tune=200, chains=1, backend="BITALE", **QUIET)
    assert abs(float(trace.posterior["b"].mean()) - 2) < 0.1


def test_sampling_in_processes(line):
    with line:
        trace = pm.sample(
            50, tune=50, chains=2, cores=2, compile_kwargs=dict(mode="BITALE"), **QUIET
        )
    assert trace.posterior.sizes["chain"] == 2


def test_metropolis_and_slice():
    model = MODELS["zero_inflated_poisson"]()
    with model:
        for step in (pm.Metropolis, pm.Slice):
            trace = pm.sample(
                20, tune=20, chains=1, step=step(compile_kwargs=dict(mode="BITALE")), **QUIET
            )
            assert np.isfinite(trace.posterior["mu"]).all()


def test_predictive_sampling_with_other_data(line):
    with line:
        prior = pm.sample_prior_predictive(10, random_seed=2, compile_kwargs=dict(mode="BITALE"))
        trace = pm.sample(50, tune=50, chains=1, backend="BITALE", **QUIET)
        pm.set_data({"x": np.zeros(7)})
        found = pm.sample_posterior_predictive(
            trace, random_seed=2, progressbar=False, compile_kwargs=dict(mode="BITALE")
        )
    assert prior.prior_predictive["y"].shape == (1, 10, 20)
    assert found.posterior_predictive["y"].shape[-1] == 7


def test_density_after_set_data(line):
    f = line.compile_logp(mode="BITALE", sum=True)
    with line:
        pm.set_data({"x": np.linspace(-2, 2, 20)})
    np.testing.assert_allclose(
        f(line.initial_point()), line.compile_logp(mode=ORACLE)(line.initial_point())
    )


@pytest.mark.skipif(pm.__version__ < "6", reason="find_MAP of PyMC 5 takes no mode")
def test_find_map(line):
    with line:
        found = pm.find_MAP(progressbar=False, compile_kwargs=dict(mode="BITALE"))
    assert abs(float(found["b"]) - 2) < 0.1


def test_variational_inference(line):
    with line:
        found = pm.fit(
            200, method="advi", progressbar=False, random_seed=1, compile_kwargs=dict(mode="BITALE")
        )
    assert np.isfinite(found.hist).all()


def test_sequential_monte_carlo(line):
    with line:
        trace = pm.sample_smc(
            60,
            chains=1,
            cores=1,
            progressbar=False,
            random_seed=1,
            compile_kwargs=dict(mode="BITALE"),
        )
    assert abs(float(trace.posterior["a"].mean()) - 1) < 0.5


def test_non_finite_starting_points(line):
    f = line.logp_dlogp_function(ravel_inputs=True, mode="BITALE")
    f.set_extra_values({})
    value, gradient = f(np.array([np.nan, np.inf]))
    assert not np.isfinite(value) and gradient.shape == (2,)
    with line, pytest.raises(pm.exceptions.SamplingError):
        pm.sample(5, tune=5, chains=1, backend="BITALE", initvals={"a": np.inf}, **QUIET)


def test_errors_of_ops_in_a_chain():
    @as_op([pt.dscalar], [pt.dscalar])
    def broken(value):
        if abs(value) > 0:
            raise ArithmeticError("a likelihood that fails")
        return np.asarray(value)

    with pm.Model():
        a = pm.Normal("a")
        pm.Potential("p", broken(a))
        with pytest.raises(ArithmeticError, match="a likelihood that fails"):
            pm.sample(
                5, tune=5, chains=1, step=pm.Metropolis(compile_kwargs=dict(mode="BITALE")), **QUIET
            )

"""Sequential Monte Carlo of PyMC with a kernel that evaluates all particles by one call."""

from __future__ import annotations

import numpy as np
import pymc as pm
import pytest

import bitale.pytensor
from bitale.pytensor.smc import HamiltonianKernel
from models import MODELS

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(pm.__version__ < "6", reason="the interface of PyMC 6's kernels"),
]
QUIET = dict(
    kernel=HamiltonianKernel, progressbar=False, random_seed=2, compute_convergence_checks=False
)


@pytest.mark.parametrize(
    "name", ["eight_schools_not_centred", "varying_slopes_lkj", "robust_regression"]
)
def test_all_particles_in_one_call(name):
    model = MODELS[name]()
    with model:
        kernel = HamiltonianKernel(draws=5, model=model, random_seed=1)
    compiled = bitale.pytensor.nutpie.compile_model(model)
    points = np.stack([compiled.initial_point_func(seed) for seed in range(5)])
    prior, likelihood, slope = kernel.evaluate(points, 1.0)
    for k, point in enumerate(points):
        np.testing.assert_allclose(prior[k], kernel.prior_logp_func(point), rtol=1e-9)
        np.testing.assert_allclose(likelihood[k], kernel.likelihood_logp_func(point), rtol=1e-9)
        np.testing.assert_allclose(slope[k], compiled.logp_func(point)[1], rtol=1e-8, atol=1e-8)
    half = kernel.evaluate(points, 0.5)[2]
    np.testing.assert_allclose(
        half, (slope + kernel.evaluate(points, 0.0)[2]) / 2, rtol=1e-8, atol=1e-8
    )


def test_posterior_and_marginal_likelihood():
    """Those of a Gaussian model are known."""
    y = np.random.default_rng(0).normal(1, 2, size=20)
    with pm.Model():
        mean = pm.Normal("mean", 0, 3)
        pm.Normal("y", mean, 2, observed=y)
        trace = pm.sample_smc(1000, chains=2, cores=1, **QUIET)
    precision = 20 / 4 + 1 / 9
    covariance = 4 * np.eye(20) + 9
    evidence = -0.5 * (
        y @ np.linalg.solve(covariance, y) + np.linalg.slogdet(2 * np.pi * covariance)[1]
    )
    assert abs(float(trace.posterior["mean"].mean()) - y.sum() / 4 / precision) < 0.05
    assert abs(float(trace.posterior["mean"].std()) - precision**-0.5) < 0.03
    for chain in trace.sample_stats["log_marginal_likelihood"].values:
        assert abs(chain[-1] - evidence) < 0.4


def test_points_without_density():
    """Particles that leave the domain stay where they were."""
    with pm.Model():
        x = pm.Uniform("x", 0, 1, default_transform=None)
        pm.Normal("y", x, 0.5, observed=[0.9])
        trace = pm.sample_smc(300, chains=1, **QUIET)
    assert ((trace.posterior["x"] > 0) & (trace.posterior["x"] < 1)).all()


def test_what_is_refused():
    with pm.Model():
        pm.Poisson("count", 3)
        with pytest.raises(ValueError, match="these are discrete: count"):
            pm.sample_smc(10, chains=1, **QUIET)
    with pm.Model():
        pm.Normal("x", observed=1.0, mu=pm.Normal("m"))
        for option in ("leapfrogs", "trajectories"):
            for wrong in (0, -1, 1.5, True):
                with pytest.raises(ValueError, match=f"{option} must be a positive number, got"):
                    pm.sample_smc(10, chains=1, **{option: wrong}, **QUIET)

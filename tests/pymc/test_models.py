"""The log density, gradient and draws of common models equal those of PyTensor's Python linker."""

from __future__ import annotations

import functools
import warnings

import numpy as np
import pymc as pm
import pytest

import bitale.pytensor  # noqa: F401
import truth
from compare import ORACLE, assert_equal_densities, density_graph, points
from models import MODELS

# The ops because of which a model is not entirely native.
CALLBACKS = {"black_box": {"FromFunctionOp"}}
# The covariance matrix of a smooth process at 20 close points has a condition number above 1e8, so that both values
# have errors far above the last bit: compared with values of 60 digits (tests/pymc/truth.py, takes minutes), the error
# of the gradient is up to 1.4e-8 here and 2.4e-8 in PyTensor.
TOLERANCE = {"gp_latent": 1e-7}
# Far away, the terms of these gradients cancel, or one library has -inf and the other nan; only points nearby are compared.
NEAR = {"beta_binomial", "hidden_markov", "multivariate_lkj"}


@pytest.mark.parametrize("name", MODELS)
@np.errstate(all="ignore")
def test_density_and_gradient(name):
    model = MODELS[name]()
    vector, outputs = density_graph(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = pm.compile([vector], outputs, mode="BITALE")
    theirs = pm.compile([vector], outputs, mode=ORACLE)
    report = ours.maker.linker.report()
    assert report.interpreted is None and set(report.callbacks) == CALLBACKS.get(name, set())
    for point in points(model)[: 8 if name in NEAR else None]:
        exact = functools.cache(lambda: truth.density(outputs, {vector: truth.exact(point)}))
        assert_equal_densities(ours(point), theirs(point), exact, TOLERANCE.get(name, 1e-9))


# PyMC has no draws of the prior of `spatial_bym2`.
@pytest.mark.parametrize("name", [name for name in MODELS if name != "spatial_bym2"])
@np.errstate(all="ignore")
def test_draws(name):
    """Successive draws of all variables from the same states: integers are equal. Elementary functions and products may
    differ in the last bits, and by a little more under cancellation."""
    model = MODELS[name]()
    variables = [*model.free_RVs, *model.observed_RVs]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = pm.compile([], variables, random_seed=3, mode="BITALE")
    report = ours.maker.linker.report()
    assert report.is_native, report
    draws = [ours() for _ in range(3)]
    # this compilation shares the generators, and seeds them again
    theirs = pm.compile([], variables, random_seed=3, mode=ORACLE)
    for values in draws:
        for found, expected in zip(values, theirs()):
            assert found.dtype == expected.dtype
            scale = np.abs(expected).max(
                initial=0
            )  # of the terms, where a small element results from cancellation
            rtol, atol = (1e-12, 1e-15 * scale) if found.dtype.kind == "f" else (0, 0)
            np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol, strict=True)


@pytest.mark.parametrize(
    "name",
    [
        "eight_schools_not_centred",
        "radon",
        "zero_inflated_poisson",
        "multinomial_softmax",
        "ode_scan",
    ],
)
def test_predictive_draws(name):
    """Prior and posterior predictive sampling run natively, with the draws of PyTensor."""
    model = MODELS[name]()
    found, expected = [], []
    for draws, mode in ((found, "BITALE"), (expected, ORACLE)):
        with model, warnings.catch_warnings():
            warnings.simplefilter("error")  # a callback would warn
            warnings.filterwarnings("ignore", category=DeprecationWarning)
            warnings.filterwarnings("ignore", category=FutureWarning)
            prior = pm.sample_prior_predictive(7, random_seed=2, compile_kwargs={"mode": mode})
            names = [v.name for v in model.free_RVs]
            posterior = (
                prior.prior.to_dataset() if hasattr(prior.prior, "to_dataset") else prior.prior
            )[names]
            predicted = pm.sample_posterior_predictive(
                posterior, random_seed=5, compile_kwargs={"mode": mode}, progressbar=False
            )
        draws += [prior.prior[n].values for n in names] + [
            predicted.posterior_predictive[v.name].values for v in model.observed_RVs
        ]
    for ours, theirs in zip(found, expected):
        np.testing.assert_allclose(
            ours, theirs, rtol=1e-11 if ours.dtype.kind == "f" else 0, strict=True
        )

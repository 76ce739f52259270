"""Models of the usual kinds have the log density, gradient and draws that PyTensor's own Python linker finds."""

from __future__ import annotations

import functools
import warnings

import numpy as np
import pymc as pm
import pytest

import bitale.pytensor
import truth
from compare import ORACLE, assert_equal_densities, density_graph, points
from models import MODELS

# Why a model is not native throughout.
CALLBACKS = {
    "black_box": {"FromFunctionOp"},
}
# The covariance matrix of a smooth process at 20 near points has a condition number of 1e8 and more, so that both values have errors far above the
# last bit: against values in 60 digits (tests/pymc/truth.py, in minutes) those of the gradient are up to 1.4e-8 here and 2.4e-8 of PyTensor.
TOLERANCE = {"gp_latent": 1e-7}


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
    for point in points(model):
        exact = functools.cache(lambda: truth.density(outputs, {vector: truth.exact(point)}))
        assert_equal_densities(ours(point), theirs(point), exact, TOLERANCE.get(name, 1e-9))


@pytest.mark.parametrize("name", MODELS)
@np.errstate(all="ignore")
def test_draws(name):
    """A draw of all variables, one after the other from the same states: whole numbers are the same. Last bits of elementary functions and
    products differ, and grow a little where terms cancel."""
    model = MODELS[name]()
    variables = [*model.free_RVs, *model.observed_RVs]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = pm.compile([], variables, random_seed=3, mode="BITALE")
    report = ours.maker.linker.report()
    assert report.is_native, report
    draws = [ours() for _ in range(3)]
    theirs = pm.compile([], variables, random_seed=3, mode=ORACLE)  # which shares the generators, and seeds them anew
    for values in draws:
        for found, expected in zip(values, theirs()):
            assert found.dtype == expected.dtype
            scale = np.abs(expected).max(initial=0)  # of what cancels where an element is small
            rtol, atol = (1e-12, 1e-15 * scale) if found.dtype.kind == "f" else (0, 0)
            np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol, strict=True)


@pytest.mark.parametrize("name", ["eight_schools_not_centred", "radon", "zero_inflated_poisson", "multinomial_softmax", "ode_scan"])
def test_predictive_draws(name):
    """Prior and posterior predictive sampling run natively, and draw what PyTensor draws."""
    model = MODELS[name]()
    found, expected = [], []
    for draws, mode in ((found, "BITALE"), (expected, ORACLE)):
        with model, warnings.catch_warnings():
            warnings.simplefilter("error")  # a callback would warn
            warnings.filterwarnings("ignore", category=DeprecationWarning)
            warnings.filterwarnings("ignore", category=FutureWarning)
            prior = pm.sample_prior_predictive(7, random_seed=2, compile_kwargs={"mode": mode})
            names = [v.name for v in model.free_RVs]
            posterior = (prior.prior.to_dataset() if hasattr(prior.prior, "to_dataset") else prior.prior)[names]
            predicted = pm.sample_posterior_predictive(posterior, random_seed=5, compile_kwargs={"mode": mode}, progressbar=False)
        draws += [prior.prior[n].values for n in names] + [predicted.posterior_predictive[v.name].values for v in model.observed_RVs]
    for ours, theirs in zip(found, expected):
        np.testing.assert_allclose(ours, theirs, rtol=1e-11 if ours.dtype.kind == "f" else 0, strict=True)

"""Models of the usual kinds have the log density, gradient and draws that PyTensor's own Python linker finds."""

from __future__ import annotations

import warnings

import numpy as np
import pymc as pm
import pytest

import bitale.pytensor
from compare import ORACLE, assert_equal_densities, density_graph, points
from models import MODELS

# Why a model is not native throughout.
CALLBACKS = {
    "black_box": {"FromFunctionOp"},
}
# Products of large matrices that are nearly singular, at a point far away, lose digits in any order of evaluation.
TOLERANCE = {"gp_latent": 1e-6, "normal_mixture": 1e-7}


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
        assert_equal_densities(ours(point), theirs(point), TOLERANCE.get(name, 1e-9))


@pytest.mark.parametrize("name", MODELS)
@np.errstate(all="ignore")
def test_draws(name):
    model = MODELS[name]()
    variables = [*model.free_RVs, *model.observed_RVs]
    if not variables:
        pytest.skip("nothing to draw")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = pm.draw(variables, random_seed=3, mode="BITALE")
    for found, expected in zip(ours, pm.draw(variables, random_seed=3, mode=ORACLE)):
        np.testing.assert_allclose(found, expected, rtol=1e-9)

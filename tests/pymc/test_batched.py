"""Models at many points in one call."""

from __future__ import annotations

import numpy as np
import pymc as pm
import pytest

import bitale.pytensor
from models import MODELS

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize(
    "name", ["eight_schools_not_centred", "radon", "logistic_hierarchical", "varying_slopes_lkj"]
)
def test_rows_are_points(name):
    model = MODELS[name]()
    batched = bitale.pytensor.batched(model, chains=5)
    points = batched.initial_points(3)
    values, gradients = batched(points)
    assert values.shape == (5,) and gradients.shape == points.shape == (5, batched.size)
    expected = model.logp_dlogp_function(ravel_inputs=True, mode="BITALE")
    expected.set_extra_values({})
    for point, value, gradient in zip(points, values, gradients):
        found = expected(point)
        np.testing.assert_allclose(value, found[0], rtol=1e-10)
        np.testing.assert_allclose(gradient, found[1], rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(batched.logp(points), values)


def test_variables_by_name():
    batched = bitale.pytensor.batched(
        MODELS["eight_schools_not_centred"](), chains=3, var_names=["theta", "tau"]
    )
    found = batched.variables(np.repeat(batched.initial_points(1), 2, axis=0))
    assert set(found) == {"mu", "tau_log__", "eta", "theta", "tau"} and found["theta"].shape == (
        6,
        8,
    )
    np.testing.assert_allclose(found["tau"], np.exp(found["tau_log__"]))
    np.testing.assert_allclose(
        found["theta"], found["mu"][:, None] + found["tau"][:, None] * found["eta"]
    )


def test_any_number_of_points_and_bad_ones():
    with pm.Model() as model:
        pm.Normal("x", [0.0, 1.0])
    batched = bitale.pytensor.batched(model)
    for chains in (1, 4, 0):
        points = np.ones((chains, 2))
        np.testing.assert_allclose(batched(points)[1], np.array([-1.0, 0.0]) * np.ones((chains, 1)))
    for wrong in (np.ones(2), np.ones((3, 5))):
        with pytest.raises(TypeError, match="expected"):
            batched(wrong)
    with pytest.raises(TypeError, match="chains= is needed"):
        batched.initial_points()
    assert batched.initial_points(1, chains=2).shape == (2, 2)
    for chains in (0, True, 2.5):
        with pytest.raises(ValueError, match="chains must be a positive number"):
            bitale.pytensor.batched(model, chains)
    with pytest.raises(TypeError, match="batched needs a PyMC model"):
        bitale.pytensor.batched(3)
    with pytest.raises(KeyError, match="no variables 'y'"):
        bitale.pytensor.batched(model, var_names=["y"])

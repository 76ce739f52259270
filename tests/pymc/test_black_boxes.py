"""Functions of users within graphs and models, `as_op` and `pm.Simulator`: called once per evaluation, and their exceptions arrive."""

from __future__ import annotations

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest

import bitale.pytensor  # noqa: F401
from compare import as_op

pytestmark = pytest.mark.filterwarnings("ignore")


class OwnError(RuntimeError):
    pass


def test_a_function_is_called_once_per_call():
    count = 0

    @as_op([pt.dscalar], [pt.dvector])
    def pair(a):
        nonlocal count
        count += 1
        if a > 100:
            raise OwnError("too large")
        return np.array([a, 2 * a])

    x = pt.dscalar("x")
    f = pytensor.function([x], [pair(x).sum(), pair(x) * 2], mode="BITALE")
    for k in range(1, 4):
        total, twice = f(float(k))
        assert count == k and total == 3 * k
        np.testing.assert_array_equal(twice, [2 * k, 4 * k])
    with pytest.raises(OwnError, match="too large"):
        f(200.0)
    assert f(1.0)[0] == 3  # the function goes on


def simulated(simulator):
    with pm.Model() as model:
        a, s = pm.Normal("a", 0, 1), pm.HalfNormal("s", 1)
        pm.Simulator(
            "y", simulator, a, s, sum_stat="sort", epsilon=1, observed=np.linspace(-1, 1, 20)
        )
    return model


def test_a_simulator_is_called_once_per_draw_and_density():
    parameters = []

    def normal(rng, a, s, size=None):
        parameters.append((float(np.ravel(a)[0]), float(np.ravel(s)[0])))
        return rng.normal(a, s, size=size)

    with simulated(normal) as model:
        parameters.clear()
        prior = pm.sample_prior_predictive(
            draws=7, compile_kwargs={"mode": "BITALE"}, random_seed=1
        )
        assert len(parameters) == 7 and prior.prior_predictive["y"].shape == (1, 7, 20)
        np.testing.assert_array_equal([a for a, _ in parameters], prior.prior["a"].values[0])
        density, point = model.compile_logp(mode="BITALE"), model.initial_point()
        parameters.clear()
        found = {float(density(point)) for _ in range(5)}
        assert len(parameters) == 5 == len(found)  # each evaluation simulates anew


def test_exceptions_of_a_simulator_arrive():
    def fails(rng, a, s, size=None):
        raise OwnError("in the simulator")

    with simulated(fails), pytest.raises(OwnError, match="in the simulator"):
        pm.sample_prior_predictive(draws=2, compile_kwargs={"mode": "BITALE"})

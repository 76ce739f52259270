"""PyMC's differential equations run as native solutions, and PyMC compiles nothing for them."""

from __future__ import annotations

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from pymc.ode import DifferentialEquation
from scipy.integrate import solve_ivp

import bitale.pytensor

pytestmark = pytest.mark.filterwarnings("ignore")
TIMES = np.linspace(0.5, 4, 8)


@pytest.fixture(autouse=True)
def default():
    with bitale.pytensor.as_default():
        yield


def infected(y, t, p):
    return [-p[0] * y[0] * y[1], p[0] * y[0] * y[1] - p[1] * y[1]]


def fast_and_slow(y, t, p):
    """A stiff system."""
    return pt.stack([-1000 * p[0] * (y[0] - pt.cos(t)), y[0] - y[1]])


def growing(y, t, p):
    return p[0] * y * (1 - y)


@pytest.mark.parametrize(
    "func, start, parameters",
    [
        (infected, [0.99, 0.01], [3.0, 0.5]),
        (fast_and_slow, [0.0, 1.0], [1.5]),
        (growing, [0.1], [2.0]),
    ],
)
def test_solutions_and_gradients(func, start, parameters):
    solution = DifferentialEquation(func, TIMES, n_states=len(start), n_theta=len(parameters))
    y0, theta = pt.dvector("y0"), pt.dvector("theta")
    states, sensitivities = solution(y0, theta, return_sens=True)
    weights = np.cos(np.arange(states.type.ndim * 0 + len(TIMES) * len(start))).reshape(
        len(TIMES), len(start)
    )
    gradients = pytensor.grad((states * weights).sum(), [y0, theta])
    f = pytensor.function([y0, theta], [states, sensitivities, *gradients], mode="BITALE")
    assert f.maker.linker.report().is_native, f.maker.linker.report()
    found = f(start, parameters)
    expected = solution._simulate(np.array(start), np.array(parameters))
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-4, atol=1e-6)
    by = np.einsum("ts,tsp->p", weights, expected[1])
    np.testing.assert_allclose(np.concatenate(found[2:]), by, rtol=1e-4, atol=1e-6)


def test_a_model():
    rng = np.random.default_rng(1)
    solution = DifferentialEquation(infected, TIMES, n_states=2, n_theta=2)
    exact = solve_ivp(
        lambda t, y: [-2 * y[0] * y[1], 2 * y[0] * y[1] - 0.5 * y[1]],
        (0, 4),
        [0.99, 0.01],
        t_eval=TIMES,
    ).y.T
    with pm.Model() as model:
        rate = pm.LogNormal("rate", 0, 1, shape=2)
        states = solution(y0=[0.99, 0.01], theta=rate)
        pm.Normal("y", states, 0.05, observed=exact + rng.normal(0, 0.05, exact.shape))
    compiled = bitale.pytensor.nutpie.compile_model(model)
    at = np.array([0.5, -0.6])
    theirs = model.logp_dlogp_function(ravel_inputs=True, mode="FAST_COMPILE")
    theirs.set_extra_values({})
    for found, expected in zip(compiled.logp_func(at), theirs(at)):
        np.testing.assert_allclose(found, expected, rtol=1e-4)


def test_without_a_solution():
    """SciPy warns, and gives numbers of no meaning; here they are nan, so that samplers reject the point."""
    solution = DifferentialEquation(lambda y, t, p: p[0] * y**2, [0.5, 2.0], n_states=1, n_theta=1)
    theta = pt.dvector()
    f = pytensor.function([theta], solution([1.0], theta), mode="BITALE")
    found = f([1.0])
    np.testing.assert_allclose(found[0], 2, rtol=1e-6)
    assert np.isnan(found[1])
    with pytest.raises(ValueError):
        f([1.0, 2.0])


def test_times_that_decrease_are_left_to_scipy():
    solution = DifferentialEquation(growing, [-0.5, -1.0], n_states=1, n_theta=1)
    theta = pt.dvector()
    f = pytensor.function([theta], solution([0.5], theta), mode="BITALE")
    assert "its times decrease" in str(f.maker.linker.report())
    np.testing.assert_allclose(f([1.0])[:, 0], 1 / (1 + np.exp([0.5, 1.0])), rtol=1e-5)

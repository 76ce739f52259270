"""Densities and tails of labelled values are those of tensors after alignment by names."""

from __future__ import annotations

import numpy as np
import pytest

import bitale as bt
from bitale import stats
from bitale import xtensor as px

RNG = np.random.default_rng(0)
# Values in which the parameters of all distributions of numbers are allowed: later ones are larger.
NUMBERS = [0.4, 0.2, 0.7, 1.5, 2.5]


def test_every_log_function_is_there():
    names = {n for n in stats.__all__ if n.endswith(("_logpdf", "_logpmf", "_logcdf", "_logsf"))}
    assert set(px.stats.__all__) == names
    for name in names:
        assert getattr(px.stats, name).__doc__


@pytest.mark.parametrize("name", px.stats.__all__)
def test_values_and_parameters_meet_by_names(name):
    """Each argument has a dimension of its own; the labelled result is that of the tensors in the same order."""
    function, labelled = getattr(stats, name), getattr(px.stats, name)
    names = [n for n in labelled.__signature__.parameters if n != "scale" or name != "gamma_logpdf"]
    core = {
        "categorical": [None, ["k"]],
        "categorical_logit": [None, ["k"]],
        "ordered_logistic": [None, None, ["k"]],
        "multinomial": [["k"], None, ["k"]],
        "dirichlet": [["k"], ["k"]],
        "multivariate_normal": [["k"], ["k"], ["k", "l"]],
        "multivariate_normal_cholesky": [["k"], ["k"], ["k", "l"]],
        "multivariate_normal_precision": [["k"], ["k"], ["k", "l"]],
        "lkj_cholesky": [["k", "l"], None],
        "wishart": [["k", "l"], None, ["k", "l"]],
    }.get(name.rpartition("_")[0])
    arrays, given = [], []
    for i, _ in enumerate(names):
        own = (core[i] or []) if core else []
        batch = [f"d{i}"] if i < 2 and name != "lkj_cholesky_logpdf" else []
        shape = [2 + i] * len(batch) + [3] * len(own)
        array = NUMBERS[i] + 0.1 * RNG.uniform(size=shape)
        if i == 0 and name.endswith(("categorical_logpmf", "logit_logpmf", "logistic_logpmf")):
            array = np.ones(shape, int)
        if len(own) == 2:
            array = np.eye(3) + 0 * array
        elif own and name.startswith(("dirichlet", "categorical_logpmf", "multinomial")):
            array = array / array.sum(-1, keepdims=True)
        elif own and name.startswith("ordered"):
            array = np.sort(array, -1)
        arrays.append(np.expand_dims(array, len(batch)) if len(batch) == 1 and i == 0 else array)
        static = px.as_xtensor(array, dims=(*batch, *own))
        given.append(static)
    names_of_core = sorted({n for own in core or [] for n in own or []})
    found = labelled(*given, **({"core_dims": names_of_core} if core else {}))
    count = sum(any(d.startswith("d") for d in g.dims) for g in given)
    assert found.dims == tuple(f"d{i}" for i in range(count))
    expected = function(*arrays).eval()
    np.testing.assert_array_equal(found.values.eval(), expected)


def test_model_with_names():
    """A gradient through labelled densities, and errors that name the function."""
    y, mu = px.xtensor("y", dims=("person", "item")), px.xtensor("mu", dims=("item",))
    logp = px.stats.normal_logpdf(y, mu, scale=2.0).sum()
    f = bt.function([y, mu], [logp, bt.grad(logp, mu)])
    data, means = RNG.normal(size=(4, 3)), RNG.normal(size=3)
    value, slope = f(data, means)
    np.testing.assert_allclose(value, -0.5 * (((data - means) / 2) ** 2 + np.log(8 * np.pi)).sum())
    np.testing.assert_allclose(slope, ((data - means) / 4).sum(0))
    shape = px.xtensor("shape", dims=("item",))
    assert px.stats.gamma_logpdf(y, shape, scale=2.0).dims == ("person", "item")
    with pytest.raises(ValueError, match="dirichlet_logpdf"):
        px.stats.dirichlet_logpdf(y, mu)
    with pytest.raises(ValueError, match="person"):
        px.stats.dirichlet_logpdf(y, mu, core_dims="person")
    with pytest.raises(TypeError):
        px.stats.normal_logpdf(y, mu, sigma=1.0)

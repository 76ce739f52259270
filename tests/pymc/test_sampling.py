"""`sample` is PyMC's, by nutpie on functions of Bitale, and says why no chain could start."""

from __future__ import annotations

import numpy as np
import pymc as pm
import pytest

import bitale.pytensor

pytest.importorskip("nutpie")
pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(pm.__version__ < "6", reason="needs PyMC 6.4"),
]
FEW = dict(draws=20, tune=20, chains=2, progressbar=False)


@pytest.fixture
def line():
    with pm.Model(coords={"group": list("abc")}) as model:
        x = pm.Data("x", np.arange(3.0), dims="group")
        a, s = pm.Normal("a", dims="group"), pm.HalfNormal("s")
        pm.Normal("y", a + x, s, observed=np.ones(3), dims="group")
    return model


def test_the_result_is_that_of_pymc(line):
    """The groups, their variables, dimensions and attributes are those of pm.sample by nutpie on Numba."""
    theirs = pm.sample(model=line, nuts_sampler="nutpie", quiet=True, random_seed=3, **FEW)
    ours = bitale.pytensor.sample(line, random_seed=3, **FEW)
    assert set(ours.groups) == set(theirs.groups)
    for name in ("posterior", "sample_stats", "observed_data", "constant_data"):
        assert {v: x.dims for v, x in ours[name].items()} == {
            v: x.dims for v, x in theirs[name].items()
        }
        assert ours[name].attrs.keys() == theirs[name].attrs.keys()
    assert ours.observed_data["y"].equals(theirs.observed_data["y"])


def test_seeds_and_ways_to_the_same_draws(line):
    def posterior(**options):
        with line:
            return bitale.pytensor.sample(**options, **FEW).posterior

    first = posterior(random_seed=3)
    assert first.equals(posterior(random_seed=3)) and not first.equals(posterior(random_seed=4))
    with bitale.pytensor.as_default(), line:
        assert first.equals(pm.sample(random_seed=3, quiet=True, **FEW).posterior)


def test_options(line):
    found = bitale.pytensor.sample(
        line,
        target_accept=0.9,
        max_treedepth=5,
        initvals={"s": 2.0},
        discard_tuned_samples=False,
        idata_kwargs=dict(log_likelihood=True, include_transformed=True),
        **FEW,
    )
    assert found.log_likelihood["y"].shape == (2, 20, 3)
    assert found.unconstrained_posterior["s_log__"].shape == (2, 20)
    assert found.warmup_posterior.sizes["draw"] == 20
    assert found.posterior.attrs["tuning_steps"] == 20
    assert found.sample_stats["depth"].max() <= 5
    with pytest.raises(TypeError, match="one dict of initvals for all chains"):
        bitale.pytensor.sample(line, initvals=[{}, {}], **FEW)
    with pytest.raises(TypeError, match="argument 'drawz'. Did you mean 'draws'"):
        bitale.pytensor.sample(line, drawz=10, **FEW)
    with line:
        few = bitale.pytensor.sample(7, **{k: v for k, v in FEW.items() if k != "draws"})
    assert few.posterior.sizes["draw"] == 7
    with pytest.raises(TypeError, match="unexpected keyword argument .nonsense"):
        bitale.pytensor.sample(line, nonsense=1, **FEW)
    with pytest.raises(TypeError, match="No model on context stack"):
        bitale.pytensor.sample(**FEW)


def test_a_log_density_that_is_not_finite():
    with pm.Model() as model:
        shape = pm.HalfNormal("shape")
        pm.Gamma("y", shape, 1, observed=np.array([1.0, -2.0, 1.0, -3.0]))
    with pytest.raises(
        pm.exceptions.SamplingError,
        match=r"(?s)not finite at any start values \(nutpie's ErrorCode\(4\)\).*"
        r"of y\[1\] is -inf where its value is -2.0 \(2 of 4 elements\).*shape_log__ = ",
    ):
        bitale.pytensor.sample(model, **FEW)


def test_a_gradient_that_is_not_finite():
    with pm.Model() as model:
        pm.Normal("other")
        x = pm.Normal("x", shape=2)
        pm.Potential("p", pm.math.sqrt(pm.math.abs(0 * x)).sum())
    with pytest.raises(
        pm.exceptions.SamplingError,
        match=r"(?s)ErrorCode\(3\).*derivative by x\[0\] is nan where its value is .*\(2 of 2",
    ) as error:
        bitale.pytensor.sample(model, **FEW)
    assert "by other" not in str(error.value)


def test_an_error_of_the_log_density():
    with pm.Model() as model:
        index = pm.Data("index", np.array([0, 1, 7]))
        x = pm.Normal("x", shape=3)
        pm.Normal("y", x[index], observed=np.zeros(3), shape=index.shape)
    with pytest.raises(
        pm.exceptions.SamplingError, match=r"(?s)ErrorCode\(1\).*IndexError: .*index 7 .*x = \["
    ):
        bitale.pytensor.sample(model, **FEW)
    with bitale.pytensor.as_default(), model, pytest.raises(RuntimeError, match="index 7"):
        pm.sample(quiet=True, **FEW)


def test_a_start_that_is_finite_and_another_that_is_not(monkeypatch):
    """What is evaluated for the message may be finite, as starts are drawn."""
    from bitale.pytensor.sampling import _reasons

    with pm.Model() as model:
        pm.Normal("x")
    functions = bitale.pytensor.nutpie.compile_model(model).functions
    assert "at this start, all is finite" in _reasons(model, functions)

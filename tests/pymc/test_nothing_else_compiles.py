"""In `as_default`, PyTensor's C compiler and Numba compile nothing; nor do they for `sample`, and for a model for nutpie."""

from __future__ import annotations

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor.compile.builders import OpFromGraph
from pytensor.compile.mode import get_mode
from pytensor.link.c.cmodule import GCC_compiler, ModuleCache
from pytensor.link.numba import NumbaLinker

import bitale.pytensor
from models import MODELS
from new_process import output_of

pytestmark = pytest.mark.filterwarnings("ignore")
QUIET = dict(progressbar=False, random_seed=5)
MODE = dict(compile_kwargs=dict(mode="BITALE"))
FEW = dict(draws=4, tune=4, chains=1, quiet=True, **QUIET)
ON_PYMC_6 = pytest.mark.skipif(pm.__version__ < "6", reason="calls of PyMC 6")


@pytest.fixture
def compiled(monkeypatch):
    """What PyTensor compiled by others than Bitale, or loaded from their caches."""
    found = []

    def counts(cls, name):
        own = getattr(cls, name)

        def counted(*args, **kwargs):
            found.append(f"{cls.__name__}.{name}")
            return own(*args, **kwargs)

        monkeypatch.setattr(
            cls,
            name,
            staticmethod(counted) if isinstance(cls.__dict__[name], staticmethod) else counted,
        )

    counts(GCC_compiler, "compile_str")
    counts(ModuleCache, "module_from_key")
    counts(NumbaLinker, "jit_compile")
    return found


@pytest.fixture
def default():
    with bitale.pytensor.as_default():
        yield


def line():
    with pm.Model() as model:
        x = pm.Data("x", np.linspace(-1, 1, 20))
        a, b = pm.Normal("a"), pm.HalfNormal("b", 3)
        pm.Deterministic("twice", 2 * b)
        pm.Normal("y", a + b * x, 0.1, observed=1 + 2 * np.linspace(-1, 1, 20), shape=x.shape)
    return model


def test_the_mode_as_the_default():
    with pytensor.config.change_flags(mode=bitale.pytensor.BITALE):
        assert get_mode("BITALE") is get_mode(None)
        assert pytensor.function([], pt.constant(1.0)).maker.linker.report().is_native


@ON_PYMC_6
@pytest.mark.parametrize("sampler", ["pymc", None])
def test_sampling_with_an_lkj_prior(compiled, sampler):
    """PyMC compiles start values and the function of the trace without a mode, and an LKJ prior has ops that are graphs."""
    with bitale.pytensor.as_default(), MODELS["varying_slopes_lkj"]():
        trace = pm.sample(nuts_sampler=sampler, **FEW)
    assert trace.posterior.sizes["draw"] == 4
    assert not compiled
    assert not isinstance(get_mode(None).linker, bitale.pytensor.BitaleLinker)


@ON_PYMC_6
def test_the_ways_into_a_model(compiled, default):
    with line() as model:
        start = model.initial_point()
        prior = pm.sample_prior_predictive(3, random_seed=1)
        trace = pm.sample(**FEW)
        pm.set_data({"x": np.zeros(7)})
        later = pm.sample_posterior_predictive(trace, **QUIET)
        pm.set_data({"x": np.linspace(-1, 1, 20)})
        likelihood = pm.compute_log_likelihood(trace, progressbar=False)
        found = pm.compute_deterministics(trace, progressbar=False)
        draws = pm.draw(model["twice"], 5)
    assert (
        set(start) == {"a", "b_log__"}
        and prior.prior["twice"].shape == (1, 3)
        and later.posterior_predictive["y"].shape == (1, 4, 7)
    )
    np.testing.assert_allclose(found["twice"], 2 * trace.posterior["b"])
    assert np.isfinite(likelihood["log_likelihood"]["y"]).all() and draws.shape == (5,)
    assert not compiled


@ON_PYMC_6
def test_other_algorithms(compiled, default):
    with line():
        assert "twice" in pm.find_MAP(progressbar=False, maxeval=5)
        assert pm.fit(3, progressbar=False, random_seed=1).sample(2).posterior.sizes["draw"] == 2
        assert pm.sample_smc(6, chains=1, cores=1, **QUIET).posterior.sizes["chain"] == 1
        assert pm.sample(step=pm.DEMetropolisZ(), **FEW).posterior.sizes["draw"] == 4
    assert not compiled


def _normalized(x):
    return OpFromGraph([x], [pt.exp(x) / pt.exp(x).sum()])


def test_constants_that_are_graphs(compiled):
    """PyTensor would fold them by the C compiler."""
    constant = pt.constant(np.arange(3.0))
    y = pt.dvector("y")
    f = pytensor.function([y], y + _normalized(pt.dvector())(constant), mode="BITALE")
    np.testing.assert_allclose(f(np.zeros(3)), np.exp(np.arange(3)) / np.exp(np.arange(3)).sum())
    assert f.maker.linker.report().is_native
    assert not compiled


def test_graphs_in_the_mode_for_quick_compilation(compiled, default):
    x = pt.dvector("x")
    f = pytensor.function([x], _normalized(pt.dvector())(x), mode="FAST_COMPILE")
    np.testing.assert_allclose(f([1.0, 1.0]), [0.5, 0.5])
    assert not compiled


@ON_PYMC_6
def test_one_line_with_nutpie(compiled):
    pytest.importorskip("nutpie")
    with line() as model:
        trace = bitale.pytensor.sample(draws=7, tune=4, chains=1, var_names=["twice"], **QUIET)
        with bitale.pytensor.as_default():
            other = pm.sample(nuts_sampler="nutpie", initvals={"a": 0.5}, **FEW)
    assert trace.posterior["twice"].shape == (1, 7) and other.posterior["a"].shape == (1, 4)
    named = bitale.pytensor.nutpie.compile_model(
        model, default_initialization_strategy="prior", freeze_model=True
    )
    assert not named.shared_data
    assert not compiled


def test_the_centre_of_a_basis(compiled, default):
    """PyMC evaluates it while the model is built."""
    MODELS["gp_hsgp"]()
    assert not compiled


@ON_PYMC_6
def test_a_fresh_process_without_a_compiler(tmp_path):
    script = """
import bitale.pytensor, pymc as pm
few = dict(draws=5, tune=5, chains=1, progressbar=False, quiet=True)
with pm.Model():
    pm.Normal("x")
    print(bitale.pytensor.sample(**few).posterior["x"].shape)
    with bitale.pytensor.as_default():
        print(pm.sample(**few).posterior["x"].shape, pm.sample(nuts_sampler="pymc", **few).posterior["x"].shape)
"""
    pytest.importorskip("nutpie")
    flags = f"base_compiledir={tmp_path / 'modules'}"
    printed = output_of("-c", script, PATH=tmp_path, PYTENSOR_FLAGS=flags)
    assert printed.split("\n")[:2] == ["(1, 5)", "(1, 5) (1, 5)"]
    assert not list(tmp_path.rglob("*.so"))

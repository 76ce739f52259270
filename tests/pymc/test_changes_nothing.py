"""`import bitale.pytensor` registers with PyTensor, and replaces nothing in it, nor in PyMC, nutpie, Numba and ArviZ."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util

import pymc
import pytest
from pytensor.compile.mode import get_mode

import bitale.pytensor
from bitale.pytensor.default_mode import REPLACED
from new_process import output_of


def run(script: str) -> None:
    output_of("-c", script)


IMPORTED = "\n".join(
    f"import {name}"
    for name in ("pytensor", "pymc", "pymc.ode", "pytensor.xtensor", "nutpie", "numba", "arviz")
    if importlib.util.find_spec(name.partition(".")[0])
)


def test_the_picture_sees_what_is_replaced():
    run("""
import sys, types, pytensor, pymc
from picture import picture, differences
before = picture()
pymc.sampling.mcmc.sample = lambda: None
pytensor.link.vm.VMLinker.make_vm = lambda self: None
pytensor.config._config_var_dict["mode"]._apply = lambda value: value
sys.modules["numba.extending"] = types.ModuleType("numba.extending")
sys.meta_path.insert(0, object())
found = differences(before, picture())
for line in ("pymc.sampling.mcmc.sample: replaced", "pytensor.link.vm.VMLinker.make_vm: replaced",
             "flag.mode._apply: replaced", "sys.modules.numba.extending: not from a file", "sys.meta_path.0: replaced"):
    assert line in found, (line, found)
""")


def test_the_import_changes_nothing():
    run(f"""
{IMPORTED}
import os
from picture import picture, differences
before, environment, mode = picture(), dict(os.environ), pytensor.config.mode
import bitale.pytensor
assert not differences(before, picture()), differences(before, picture())
assert dict(os.environ) == environment and pytensor.config.mode is mode
""")


def test_packages_that_are_imported_later_are_what_they_were():
    """Nothing waits for their import."""
    run(f"""
import sys
import pytensor
from picture import picture, differences
before = picture()
import bitale.pytensor
assert not differences(before, picture()), differences(before, picture())
finders = list(sys.meta_path)
{IMPORTED}
assert sys.meta_path == finders
before = picture()
import bitale.pytensor.model_graph, bitale.pytensor.smc
assert not differences(before, picture()), differences(before, picture())
""")


@pytest.mark.parametrize("row", REPLACED, ids=lambda row: row.name)
@pytest.mark.skipif(pymc.__version__ < "6", reason="as_default replaces nothing in PyMC 5")
def test_what_as_default_replaces_is_there(row):
    assert hasattr(importlib.import_module(row.module), row.name), (
        f"PyMC {pymc.__version__} has no {row.module}.{row.name}, which {row.tried} have: it has moved"
    )


def test_an_object_that_has_moved_is_named(monkeypatch):
    row = dataclasses.replace(REPLACED[-1], name="no_such_name")
    monkeypatch.setattr("bitale.pytensor.default_mode.REPLACED", [*REPLACED, row])
    before = [getattr(importlib.import_module(row.module), row.name, None) for row in REPLACED]
    if pymc.__version__ >= "6":
        with pytest.raises(
            RuntimeError, match=r"no pymc.sampling.mcmc.no_such_name.*\(6\.3\.2, 6\.4\.0\)"
        ):
            bitale.pytensor.as_default().start()
    assert before == [getattr(importlib.import_module(r.module), r.name, None) for r in REPLACED]
    assert not isinstance(get_mode(None).linker, bitale.pytensor.BitaleLinker)


def test_everything_is_as_before_after_as_default():
    run(f"""
{IMPORTED}
import bitale.pytensor
from picture import picture, differences
few = dict(draws=4, tune=4, chains=1, progressbar=False, quiet=True)
with pymc.Model() as model:
    pymc.HalfNormal("x")
    pymc.sample(nuts_sampler="pymc", backend="FAST_COMPILE", **few)
pymc.backends.arviz.make_attrs({{}})  # as the former, so that PyMC finds the names that it replaces at their first use
before, values = picture(), dict(mode=pytensor.config.mode, cxx=pytensor.config.cxx)
with bitale.pytensor.as_default():
    with bitale.pytensor.as_default(), model:
        pymc.sample(**few)
        pymc.sample(nuts_sampler="pymc", **few)
    changed = [line for line in differences(before, picture()) if line.endswith("replaced")]
    expected = [] if pymc.__version__ < "6" else ["NumbaLinker: replaced", "_sample_external_nuts: replaced"]
    assert [line.removeprefix("pymc.sampling.mcmc.") for line in changed] == expected, changed
    assert pytensor.config.mode is bitale.pytensor.BITALE
whole = bitale.pytensor.as_default().start()
assert pytensor.config.mode is bitale.pytensor.BITALE
whole.stop()
assert not differences(before, picture()), differences(before, picture())
assert values == dict(mode=pytensor.config.mode, cxx=pytensor.config.cxx)
x = pytensor.tensor.dvector()
if pytensor.config.cxx:
    f = pytensor.function([x], x + 1, mode="CVM")
    assert type(f.vm).__name__ == "CVM", "PyTensor has lost its machine in C"
""")


LINE = """
import numpy as np, pymc as pm
with pm.Model() as model:
    pm.Normal("y", pm.Normal("m") + pm.Data("x", np.zeros(5)), 1, observed=np.zeros(5))
"""
FEW = "draws=10, tune=10, chains=1, progressbar=False, quiet=True"


@pytest.mark.skipif(importlib.util.find_spec("numba") is None, reason="needs Numba")
@pytest.mark.skipif(importlib.util.find_spec("nutpie") is None, reason="needs nutpie")
def test_calls_that_do_not_ask_for_bitale():
    """PyMC's default sampler, its other calls in the default mode, and nutpie on Numba."""
    run(f"""
import bitale.pytensor
{LINE}
from pytensor.compile.mode import get_mode
from pytensor.link.numba import NumbaLinker
with model:
    trace = pm.sample({FEW})
    assert trace.posterior["m"].shape == (1, 10) and trace.sample_stats.attrs["inference_library"] == "nutpie"
    assert isinstance(get_mode(None).linker, NumbaLinker)
    pm.sample_prior_predictive(3)
    pm.set_data({{"x": np.ones(5)}})
    pm.sample_posterior_predictive(trace, progressbar=False)
    pm.compute_log_likelihood(trace, progressbar=False)
    pm.draw(model["m"], 2)
    pm.find_MAP(progressbar=False, maxeval=3)
    pm.fit(3, progressbar=False)
    pm.sample_smc(6, chains=1, cores=1, progressbar=False)
    pm.sample(step=pm.Metropolis(), {FEW})
import nutpie
nutpie.sample(nutpie.compile_pymc_model(model), draws=4, tune=4, chains=1, progress_bar=False)
""")


@pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="needs JAX")
@pytest.mark.skipif(importlib.util.find_spec("nutpie") is None, reason="needs nutpie")
def test_nutpie_on_jax():
    run(f"""
import bitale.pytensor
{LINE}
import nutpie
for options in (dict(), dict(gradient_backend="jax")):
    compiled = nutpie.compile_pymc_model(model, backend="jax", **options)
    assert nutpie.sample(compiled, draws=4, tune=4, chains=1, progress_bar=False).posterior["m"].shape == (1, 4)
""")

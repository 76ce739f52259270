"""nutpie, imported after the bridge, imports of ArviZ what makes the trace, and Numba when it compiles by it; what it gets is theirs."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys

import pytest

pytest.importorskip("nutpie")
arviz = pytest.importorskip("arviz", minversion="1")


def run(script):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_neither_numba_nor_statistics_and_plots_are_imported():
    run("""
import sys, pymc as pm, bitale.pytensor, nutpie
with pm.Model() as model:
    pm.Normal("x", shape=3)
trace = nutpie.sample(bitale.pytensor.nutpie(model), draws=4, tune=4, chains=2, progress_bar=False)
assert trace.posterior["x"].shape == (2, 4, 3) and "unconstrained_posterior" not in trace
trace = nutpie.sample(bitale.pytensor.nutpie(model), draws=4, tune=4, chains=1, progress_bar=False, store_unconstrained=True)
assert not {"arviz", "arviz_stats", "arviz_plots", "matplotlib", "numba", "numba.extending"} & set(sys.modules)
""")


def test_what_nutpie_has_of_arviz():
    run("""
import bitale.pytensor, nutpie, sys
seen = sys.modules["nutpie.sample"].arviz
assert "arviz" not in sys.modules
summary = seen.summary
import arviz
assert sys.modules["arviz"] is arviz is not seen and summary is arviz.summary
assert seen.from_dict is arviz.from_dict and seen.dict_to_dataset is arviz.dict_to_dataset
assert not hasattr(seen, "there_is_no_such_function")
""")


@pytest.mark.skipif(importlib.util.find_spec("numba") is None, reason="needs Numba")
def test_numba_as_the_backend():
    run("""
import sys, pymc as pm, bitale.pytensor, nutpie
compiling = sys.modules["nutpie.compile_pymc"]
assert "numba" not in sys.modules and type(compiling.address_as_void_pointer).__name__ == "function"
with pm.Model() as model:
    pm.Normal("x")
trace = nutpie.sample(nutpie.compile_pymc_model(model), draws=4, tune=4, chains=1, progress_bar=False)
from numba.extending import intrinsic
assert trace.posterior["x"].shape == (1, 4) and isinstance(compiling.address_as_void_pointer, type(intrinsic(lambda context: None)))
""")


def test_numba_is_imported_for_everything_else():
    run("""
import sys
from bitale.pytensor.nutpie_import import on_demand
with on_demand():
    from numba.extending import intrinsic
    from numba.extending import overload
    late = intrinsic(prefer_literal=True)
import numba.extending
assert overload is numba.extending.overload and "numba" in sys.modules and intrinsic is not numba.extending.intrinsic
with on_demand():
    import numba.extending as same
assert same is numba.extending
""")


def test_an_arviz_that_is_there_is_left_alone():
    run("""
import bitale.pytensor, arviz, nutpie, sys
assert sys.modules["nutpie.sample"].arviz is arviz is sys.modules["arviz"]
""")

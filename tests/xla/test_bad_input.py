"""Errors of mode JAX and bitale.jax when JAX, a device or memory is missing."""

import os
import subprocess
import sys

import numpy as np
import pytest

import bitale as bt
import bitale.jax
import bitale.tensor as pt
from bitale.jax import linker


@pytest.fixture
def looked_up_again():
    linker.jax_package.cache_clear()
    yield
    linker.jax_package.cache_clear()


def test_without_jax(monkeypatch, looked_up_again):
    monkeypatch.setitem(sys.modules, "jax", None)
    x = pt.dvector("x")
    with pytest.raises(ImportError, match="pip install jax"):
        bitale.jax.as_jax(bt.function([x], x))
    with pytest.raises(ImportError, match="pip install jax"):
        bitale.jax.devices()


def test_with_an_old_jax(monkeypatch, looked_up_again):
    import jax

    monkeypatch.delattr(jax, "enable_x64")
    with pytest.raises(ImportError, match="0.8 or newer.*this is"):
        bitale.jax.devices()


def run(script, **environment):
    return subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_without_the_jax_package():
    """The linker is absent if JAX cannot be found, and the error says what to install."""
    hidden = """
import importlib.util, sys
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "jax" else found(name, *rest)
import bitale as bt, bitale.tensor as pt
assert "jax" not in bt.link.linker_names() if hasattr(bt.link, "linker_names") else True
x = pt.dvector("x")
try:
    bt.function([x], x + 1, mode="JAX")
except NotImplementedError as error:
    assert "pip install jax" in str(error), error
    print("refused")
"""
    made = run(hidden)
    assert "refused" in made.stdout, made.stderr


def test_without_a_device():
    script = """
import bitale.jax
try:
    bitale.jax.devices()
except RuntimeError as error:
    assert "JAX_PLATFORMS=cpu" in str(error), error
    print("refused")
else:
    print("refused: there is a GPU here")
"""
    made = run(script, JAX_PLATFORMS="cuda")
    assert "refused" in made.stdout, made.stderr


def test_not_enough_memory():
    x = pt.dvector("x")
    f = bt.function([x], pt.outer(x, x), mode="JAX")
    np.testing.assert_array_equal(f([1.0, 2.0]), [[1.0, 2.0], [2.0, 4.0]])
    with pytest.raises(MemoryError, match="not enough memory"):
        f(np.zeros(1 << 23))  # the outer product takes 512 TiB

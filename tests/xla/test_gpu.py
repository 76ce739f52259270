"""Mode JAX and as_jax on a GPU, in a separate process. Skipped, with JAX's reason, where there is no GPU."""

import os
import subprocess
import sys

import pytest

SCRIPT = """
import jax
try:
    jax.devices("cuda")
except RuntimeError as error:
    print("NO GPU:", error)
    raise SystemExit
jax.config.update("jax_enable_x64", True)
import numpy as np
import bitale as bt, bitale.jax, bitale.tensor as pt

x, w = pt.dmatrix("x"), pt.dvector("w")
loss = pt.softplus(-(x @ w)).mean() + pt.linalg.cholesky(x.T @ x + np.eye(4)).sum()
outputs = [loss, bt.grad(loss, w)]
values = np.random.default_rng(0).normal(size=(64, 4)), np.arange(4.0)
for expected, got in zip(bt.function([x, w], outputs)(*values), bt.function([x, w], outputs, mode="JAX")(*values)):
    np.testing.assert_allclose(got, expected, rtol=1e-9)
got = bt.function([x, w], outputs, mode="JAX")(*values, device=True)
assert all(array.devices() == {jax.devices()[0]} for array in got)
assert jax.devices()[0].platform == "gpu"
np.testing.assert_allclose(jax.jit(bitale.jax.as_jax(bt.function([x, w], outputs)))(*values)[0], got[0], rtol=1e-9)
state = bt.shared(np.zeros(3), "state")
step = bt.function([], state.sum(), updates={state: state + 1}, mode="JAX")
assert [float(step()) for _ in range(3)] == [0.0, 3.0, 6.0] and (state.get_value() == 3).all()
print("EQUAL")
"""


def test_on_a_gpu():
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("JAX_PLATFORMS", "XLA_FLAGS")
    }
    made = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, timeout=400
    )
    if "NO GPU" in made.stdout:
        pytest.skip(made.stdout.strip())
    assert "EQUAL" in made.stdout, made.stderr

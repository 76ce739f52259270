"""exp(-0.5 * ((x - mu) / s)**2) * tanh(y) + log1p(z) over a million elements: one loop, or nine passes."""

import json

import numpy as np

import bitale as bt
import bitale.tensor as pt
from measure import importable, in_turn

N = 1_000_000
random = np.random.default_rng(0)
x, y, z = random.uniform(-3, 3, N), random.uniform(-3, 3, N), random.uniform(-0.5, 10, N)
mu, s = 0.1, 1.3


def formula(xp, x, y, z, mu, s):
    return xp.exp(-0.5 * ((x - mu) / s) ** 2) * xp.tanh(y) + xp.log1p(z)


def symbolic(pt, function):
    arguments = [
        pt.dvector("x"),
        pt.dvector("y"),
        pt.dvector("z"),
        pt.dscalar("mu"),
        pt.dscalar("s"),
    ]
    f = function(arguments, formula(pt, *arguments))
    return lambda: f(x, y, z, mu, s)


rivals = {"NumPy": lambda: formula(np, x, y, z, mu, s), "Bitale": symbolic(pt, bt.function)}
if jax := importable("jax"):
    jax.config.update("jax_enable_x64", True)
    compiled = jax.jit(lambda *arguments: formula(jax.numpy, *arguments))
    on_device = [jax.numpy.asarray(a) for a in (x, y, z, mu, s)]
    rivals["JAX"] = lambda: compiled(*on_device).block_until_ready()
if pytensor := importable("pytensor"):
    rivals["PyTensor"] = symbolic(importable("pytensor.tensor"), pytensor.function)
if numexpr := importable("numexpr"):
    rivals["numexpr"] = lambda: numexpr.evaluate(
        "exp(-0.5 * ((x - mu) / s)**2) * tanh(y) + log1p(z)"
    )

right = rivals["NumPy"]()
for name, call in rivals.items():
    np.testing.assert_allclose(np.asarray(call()), right, rtol=1e-10, atol=1e-12, err_msg=name)
print(json.dumps(in_turn(rivals)))

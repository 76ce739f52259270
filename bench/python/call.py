"""A call of a compiled scalar function from Python, when there is next to nothing to compute."""

import json

import numpy as np

import bitale as bt
import bitale.tensor as pt
from measure import importable, in_turn


def symbolic(pt, function):
    x, y = pt.dscalar("x"), pt.dscalar("y")
    return function([x, y], x * y + 1.0)


f = symbolic(pt, bt.function)
v = pt.dvector("v")
g = bt.function([v], 2.0 * v + 1.0)
vector = np.ones(8)
rivals = {
    "Bitale": lambda: f(2.0, 3.0),
    "Bitale, vector of 8": lambda: g(vector),
    "NumPy ufunc, vector of 8": lambda: np.add(vector, 1.0),
}
if jax := importable("jax"):
    jax.config.update("jax_enable_x64", True)
    compiled = jax.jit(lambda x, y: x * y + 1.0)
    rivals["JAX"] = lambda: compiled(2.0, 3.0)
if pytensor := importable("pytensor"):
    h = symbolic(importable("pytensor.tensor"), pytensor.function)
    rivals["PyTensor"] = lambda: h(2.0, 3.0)
rivals["empty function"] = lambda: None
print(json.dumps(in_turn(rivals)))

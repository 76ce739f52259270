"""Random variables: generators as values, and draws that are NumPy's to the last bit.

>>> import bitale as bt, bitale.tensor as pt
>>> rng = pt.random.shared_rng(seed=1)
>>> next_rng, x = rng.normal(0, 1, size=3)
>>> f = bt.function([], x, updates={rng: next_rng})

Names and arguments are PyTensor's. See docs/random.md.
"""

from bitale._core import RandomGeneratorType, RandomGeneratorVariable
from bitale.tensor.random.basic import *
from bitale.tensor.random import basic, classes as classes
from bitale.tensor.random.custom import RandomVariable, distribution, from_quantile
from bitale.tensor.random.stream import RandomStream
from bitale.tensor.random.variable import (
    as_rng,
    default_rng,
    random_generator_type,
    rng,
    shared_rng,
)

__all__ = [
    "RandomGeneratorType",
    "RandomGeneratorVariable",
    "RandomStream",
    "RandomVariable",
    "as_rng",
    "default_rng",
    "distribution",
    "from_quantile",
    "random_generator_type",
    "rng",
    "shared_rng",
]

__all__ += sorted(basic.METHODS)  # noqa: PLE0605

from bitale import _geography as _geography

_geography.add_modules(__name__)

"""Generators: symbolic ones as inputs of functions, shared variables that hold a state, and constants."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from bitale import _core
from bitale._core import RandomGeneratorType, RandomGeneratorVariable
from bitale.compile.sharedvalue import noted, shared_constructor
from bitale.random import Stream
from bitale.tensor.random.state import bit_generator_of

random_generator_type = RandomGeneratorType()
_UNSET = object()


def rng(name: str | None = None, bit_generator: str = "PCG64") -> RandomGeneratorVariable:
    """A symbolic generator: an input of functions, which take a numpy.random.Generator of this bit generator.

    With "Threefry" they take a counter-based stream (bitale.random.stream).
    """
    return RandomGeneratorType(bit_generator)(name)


def _value_of(value: Any, seed: Any, who: str) -> Any:
    if (value is None) == (seed is _UNSET):
        raise ValueError(f"{who}: expected a generator or a seed, got " + ("none" if value is None else "both"))
    return np.random.default_rng(copy.deepcopy(seed)) if value is None else value


def shared_rng(value: Any = None, *, seed: Any = _UNSET, name: str | None = None, borrow: bool = False) -> Any:
    """A shared variable that holds a generator's state: that of value, or of numpy.random.default_rng(seed).

    value: a numpy.random.Generator, or a stream (bitale.random.stream); TypeError for others. The state is copied; borrow is
    accepted and of no effect.
    """
    return noted(_shared(_value_of(value, seed, "shared_rng"), name))


def _shared(generator: Any, name: str | None) -> Any:
    return _core.make_shared_of(RandomGeneratorType(bit_generator_of(generator)), generator, name, False)


@shared_constructor.register(np.random.Generator)
@shared_constructor.register(np.random.RandomState)
@shared_constructor.register(Stream)
def _(value: Any, name: str | None = None, **_options: Any) -> Any:
    return _shared(_value_of(value, _UNSET, "shared"), name)


def default_rng(seed: Any = None) -> Any:
    """A shared generator in the state of numpy.random.default_rng(seed)."""
    return shared_rng(seed=seed)


def as_rng(x: Any) -> RandomGeneratorVariable:
    """A symbolic generator as it is; a constant of a numpy.random.Generator, or of a stream."""
    if isinstance(x, RandomGeneratorVariable):
        return x
    return RandomGeneratorType(bit_generator_of(x)).make_constant(x)

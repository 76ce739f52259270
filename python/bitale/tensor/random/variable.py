"""Symbolic generators: inputs, shared variables, and the methods that draw."""

from __future__ import annotations

import copy
import functools
import inspect
from typing import Any

import numpy as np

from bitale import _core
from bitale._core import RandomGeneratorType, RandomGeneratorVariable
from bitale.compile.sharedvalue import SharedVariable
from bitale.tensor.random.basic import METHODS
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
    from bitale.compile.sharedvalue import noted

    generator = _value_of(value, seed, "shared_rng")
    return noted(_core.make_shared_of(RandomGeneratorType(bit_generator_of(generator)), generator, name, False))


def default_rng(seed: Any = None) -> Any:
    """A shared generator in the state of numpy.random.default_rng(seed)."""
    return shared_rng(seed=seed)


def as_rng(x: Any) -> RandomGeneratorVariable:
    """A symbolic generator as it is; a constant of a numpy.random.Generator, or of a stream."""
    if isinstance(x, RandomGeneratorVariable):
        return x
    return RandomGeneratorType(bit_generator_of(x)).make_constant(x)


def _method(name: str) -> Any:
    function = METHODS[name]

    @functools.wraps(function)
    def method(self: RandomGeneratorVariable, *args: Any, **kwargs: Any) -> Any:
        return function(*args, rng=self, return_next_rng=True, **kwargs)

    signature = inspect.signature(function)
    kept = [one for key, one in signature.parameters.items() if key not in ("rng", "return_next_rng")]
    self = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    method.__signature__ = signature.replace(parameters=[self, *kept])  # type: ignore[attr-defined]
    return method


for _name in METHODS:
    setattr(RandomGeneratorVariable, _name, _method(_name))


def _fold(self: RandomGeneratorVariable, number: Any) -> RandomGeneratorVariable:
    """Child ``number`` of a counter-based stream: a stream of its own, which takes nothing from this one.

    number: a whole number, symbolic or not. The children of one state are as one draw from it: what is drawn besides comes
    from another state (``split``). TypeError for a generator of NumPy's.
    """
    return _core.random_fold(self, _core.as_tensor_variable(number))


def _split(self: RandomGeneratorVariable, count: int) -> tuple[RandomGeneratorVariable, list[RandomGeneratorVariable]]:
    """The stream to go on with, and ``count`` children, which are streams of their own. TypeError as for ``fold``."""
    return _core.random_split(self, count)


setattr(RandomGeneratorVariable, "fold", _fold)
setattr(RandomGeneratorVariable, "split", _split)


def _get_value(self: Any, borrow: bool = False, return_internal_type: bool = False) -> Any:
    """The generator, or stream, in the state of now."""
    return _core.shared_value(self, borrow)


def _set_value(self: Any, new_value: Any = None, *, seed: Any = _UNSET, borrow: bool = False) -> None:
    """Sets the state: that of new_value, or of numpy.random.default_rng(seed)."""
    _core.set_shared_value(self, _value_of(new_value, seed, "set_value"), borrow)


setattr(RandomGeneratorVariable, "get_value", _get_value)
setattr(RandomGeneratorVariable, "set_value", _set_value)

"""Symbolic generators: inputs, shared variables, and the methods that draw."""

from __future__ import annotations

import copy
import functools
import inspect
from typing import Any

import numpy as np

from bitale._geography import absent as _absent
from bitale import _core
from bitale._core import RandomGeneratorType, RandomGeneratorVariable
from bitale.compile.sharedvalue import SharedVariable
from bitale.tensor.random.basic import METHODS
from bitale.tensor.random.generators import (
    _UNSET,
    _value_of,
    as_rng as as_rng,
    default_rng as default_rng,
    random_generator_type as random_generator_type,
    rng as rng,
    shared_rng as shared_rng,
)


def _method(name: str) -> Any:
    function = METHODS[name]

    @functools.wraps(function)
    def method(self: RandomGeneratorVariable, *args: Any, **kwargs: Any) -> Any:
        return function(*args, rng=self, return_next_rng=True, **kwargs)

    signature = inspect.signature(function)
    kept = [
        one for key, one in signature.parameters.items() if key not in ("rng", "return_next_rng")
    ]
    self = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    method.__signature__ = signature.replace(parameters=[self, *kept])  # type: ignore[attr-defined]
    return method


for _name in METHODS:
    setattr(RandomGeneratorVariable, _name, _method(_name))


def _fold(self: RandomGeneratorVariable, number: Any) -> RandomGeneratorVariable:
    """Child ``number`` of a counter-based stream: a separate stream, which takes nothing from this one.

    number: a whole number, symbolic or not. The children of one state count as one draw from it:
    further draws need another state (``split``). TypeError for a generator of NumPy's.
    """
    return _core.random_fold(self, _core.as_tensor_variable(number))


def _split(
    self: RandomGeneratorVariable, count: int
) -> tuple[RandomGeneratorVariable, list[RandomGeneratorVariable]]:
    """The stream to continue with, and ``count`` children, which are separate streams. TypeError as for ``fold``."""
    return _core.random_split(self, count)


setattr(RandomGeneratorVariable, "fold", _fold)
setattr(RandomGeneratorVariable, "split", _split)


def _get_value(self: Any, borrow: bool = False, return_internal_type: bool = False) -> Any:
    """The generator, or stream, in its current state."""
    return _core.shared_value(self, borrow)


def _set_value(
    self: Any, new_value: Any = None, *, seed: Any = _UNSET, borrow: bool = False
) -> None:
    """Sets the state: that of new_value, or of numpy.random.default_rng(seed)."""
    _core.set_shared_value(self, _value_of(new_value, seed, "set_value"), borrow)


setattr(RandomGeneratorVariable, "get_value", _get_value)
setattr(RandomGeneratorVariable, "set_value", _set_value)

__getattr__ = _absent(__name__)

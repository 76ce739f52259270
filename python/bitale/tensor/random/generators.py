"""Generators: symbolic ones as inputs of functions, shared variables that hold a state, and constants."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from bitale import _core
from bitale._core import RandomGeneratorType, RandomGeneratorVariable
from bitale.compile.sharedvalue import noted
from bitale.tensor.random.state import bit_generator_of

random_generator_type = RandomGeneratorType()
_UNSET = object()


def rng(name: str | None = None, bit_generator: str = "PCG64") -> RandomGeneratorVariable:
    """Create a symbolic generator, an input of functions.

    Parameters
    ----------
    name : str, optional
        Name of the variable.
    bit_generator : str
        Bit generator of the values, "PCG64", "Philox", "SFC64" or "MT19937";
        or "Threefry" for streams (`bitale.random.stream`).

    Returns
    -------
    RandomGeneratorVariable
        An input variable.

    See Also
    --------
    shared_rng
    """
    return RandomGeneratorType(bit_generator)(name)  # type: ignore[return-value]


def _value_of(value: Any, seed: Any, who: str) -> Any:
    if (value is None) == (seed is _UNSET):
        raise ValueError(
            f"{who}: expected a generator or a seed, got " + ("none" if value is None else "both")
        )
    return np.random.default_rng(copy.deepcopy(seed)) if value is None else value


def shared_rng(
    value: Any = None, *, seed: Any = _UNSET, name: str | None = None, borrow: bool = False
) -> Any:
    """Create a shared variable that holds the state of a generator.

    Parameters
    ----------
    value : numpy.random.Generator or Stream, optional
        Generator whose state is copied.
    seed : object
        Seed of a new generator, if `value` is not given.
    name : str, optional
        Name of the variable.
    borrow : bool
        Accepted for compatibility with PyTensor.

    Returns
    -------
    RandomGeneratorVariable
        A shared generator.

    Raises
    ------
    TypeError
        If `value` is not a generator.

    See Also
    --------
    default_rng, rng
    """
    return noted(_shared(_value_of(value, seed, "shared_rng"), name))


def _shared(generator: Any, name: str | None) -> Any:
    return _core.make_shared_of(
        RandomGeneratorType(bit_generator_of(generator)), generator, name, False
    )


def shared_constructor(value: Any, name: str | None = None, **_options: Any) -> Any:
    """The shared variable that `bitale.shared` makes of a generator."""
    return _shared(_value_of(value, _UNSET, "shared"), name)


def default_rng(seed: Any = None) -> Any:
    """Create a shared generator in the state of NumPy's default generator.

    Parameters
    ----------
    seed : object, optional
        Seed for ``numpy.random.default_rng``.

    Returns
    -------
    RandomGeneratorVariable
        A shared generator.

    See Also
    --------
    shared_rng, rng
    """
    return shared_rng(seed=seed)


def as_rng(x: Any) -> RandomGeneratorVariable:
    """Convert a value to a symbolic random generator.

    Parameters
    ----------
    x : RandomGeneratorVariable, numpy.random.Generator or Stream
        Generator.

    Returns
    -------
    RandomGeneratorVariable
        The variable itself, or a constant.
    """
    if isinstance(x, RandomGeneratorVariable):
        return x
    return RandomGeneratorType(bit_generator_of(x)).make_constant(x)  # type: ignore[return-value]

"""Counter-based streams of random numbers: the generator of bitale's own draws.

>>> import bitale as bt, bitale.tensor as pt
>>> rng = bt.shared(bt.random.stream(1))
>>> next_rng, x = rng.normal(0, 1, size=3)
>>> f = bt.function([], x, updates={rng: next_rng})

Element i of draw n is Threefry-2x32-20 of (key, n, i), so draws are computed wherever they are read, in any order and by
any number of threads, with the same bits. See docs/random.md.
"""

from __future__ import annotations

import dataclasses
import operator
import secrets
from typing import Any

from bitale import _core

__all__ = ["Stream", "stream"]


@dataclasses.dataclass(frozen=True)
class Stream:
    """State of a counter-based random generator.

    A key of 64 bits, and the number of draws made with it. Streams are immutable; compiled
    functions draw from them. The children of a stream (`fold`, `split`) have their own keys.

    Parameters
    ----------
    key : int
        Key, from 0 up to ``2**64``.
    drawn : int
        Number of draws made.
    """

    key: int
    drawn: int = 0

    def __post_init__(self) -> None:
        for name, bits in (("key", 64), ("drawn", 62)):
            try:
                value = operator.index(getattr(self, name))
            except TypeError:
                raise TypeError(
                    f"Stream: {name} is a whole number, got {getattr(self, name)!r}"
                ) from None
            if not 0 <= value < 1 << bits:
                raise ValueError(f"Stream: {name} must be from 0 up to 2**{bits}, got {value}")
            object.__setattr__(self, name, value)

    def fold(self, number: int) -> Stream:
        """Derive the stream for a number.

        Parameters
        ----------
        number : int
            Number.

        Returns
        -------
        Stream
            A stream with its own key.
        """
        from bitale import _core

        return Stream(_core.random_child_key(self.key, self.drawn, number))

    def split(self, count: int) -> tuple[Stream, list[Stream]]:
        """Derive several streams.

        Parameters
        ----------
        count : int
            How many.

        Returns
        -------
        next : Stream
            The state after splitting.
        streams : list of Stream
            Streams with their own keys.
        """
        return Stream(self.key, self.drawn + 1), [self.fold(number) for number in range(count)]


_core.register_tree(Stream, None, None)  # a value of its own, not two of its fields


def stream(seed: Any = None) -> Stream:
    """Create the counter-based stream for a seed.

    Parameters
    ----------
    seed : int, sequence of int or numpy.random.SeedSequence, optional
        An integer from 0 up to ``2**64`` is the key; a sequence is hashed to a key of 64 bits. By
        default a seed from the system.

    Returns
    -------
    Stream
        A stream without draws.

    Raises
    ------
    TypeError
        For a seed of another type.
    ValueError
        For a seed out of range.
    """
    import numpy as np

    if seed is None:
        return Stream(secrets.randbits(64))
    if isinstance(seed, Stream):
        return seed
    if isinstance(seed, np.random.SeedSequence):
        return Stream(int(seed.generate_state(1, np.uint64)[0]))
    if isinstance(seed, (list, tuple, np.ndarray)):
        return stream(np.random.SeedSequence(seed))
    try:
        key = operator.index(seed)
    except TypeError:
        raise TypeError(
            f"stream: a seed must be an integer, a list of integers or a SeedSequence, got {seed!r}"
        ) from None
    if not 0 <= key < 1 << 64:
        raise ValueError(f"stream: a seed must be from 0 up to 2**64, got {key}")
    return Stream(key)

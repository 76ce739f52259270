"""States of NumPy's generators, and of counter-based streams, as the words that native code draws from, and back, without
loss."""

from __future__ import annotations

from typing import Any

import numpy as np

from bitale.random import Stream

_HALF = (1 << 64) - 1


def _words_of_pcg64(state: Any) -> list[int]:
    inner = state["state"]
    pairs = [
        word for number in (inner["state"], inner["inc"]) for word in (number & _HALF, number >> 64)
    ]
    return [*pairs, state["has_uint32"], state["uinteger"]]


def _words_of_philox(state: Any) -> list[int]:
    inner = state["state"]
    return [
        *inner["counter"],
        *inner["key"],
        state["buffer_pos"],
        *state["buffer"],
        state["has_uint32"],
        state["uinteger"],
    ]


def _words_of_sfc64(state: Any) -> list[int]:
    return [*state["state"]["state"], state["has_uint32"], state["uinteger"]]


def _words_of_mt19937(state: Any) -> list[int]:
    key = np.asarray(state["state"]["key"], dtype=np.uint32)
    return [*key.view(np.uint64), state["state"]["pos"]]


def _half_left(words: Any) -> dict[str, int]:
    return {"has_uint32": int(words[-2]), "uinteger": int(words[-1])}


def _state_of_pcg64(words: Any) -> dict[str, Any]:
    low_and_high = [int(word) for word in words[:4]]
    state, inc = (low_and_high[i] | low_and_high[i + 1] << 64 for i in (0, 2))
    return {"state": {"state": state, "inc": inc}, **_half_left(words)}


def _state_of_philox(words: Any) -> dict[str, Any]:
    return {
        "state": {"counter": words[:4], "key": words[4:6]},
        "buffer": words[7:11],
        "buffer_pos": int(words[6]),
        **_half_left(words),
    }


def _state_of_sfc64(words: Any) -> dict[str, Any]:
    return {"state": {"state": words[:4]}, **_half_left(words)}


def _state_of_mt19937(words: Any) -> dict[str, Any]:
    return {"state": {"key": words[:312].copy().view(np.uint32), "pos": int(words[312])}}


_KINDS: dict[str, Any] = {
    "PCG64": (np.random.PCG64, _words_of_pcg64, _state_of_pcg64),
    "Philox": (np.random.Philox, _words_of_philox, _state_of_philox),
    "SFC64": (np.random.SFC64, _words_of_sfc64, _state_of_sfc64),
    "MT19937": (np.random.MT19937, _words_of_mt19937, _state_of_mt19937),
}


def bit_generator_of(generator: Any) -> str:
    """The name of a Generator's bit generator, or "Threefry" for a Stream.

    TypeError for anything else, and for a Generator of an unknown bit generator.
    """
    if isinstance(generator, Stream):
        return "Threefry"
    if isinstance(generator, np.random.RandomState):
        raise TypeError("numpy.random.RandomState is not supported; use a numpy.random.Generator")
    if not isinstance(generator, np.random.Generator):
        raise TypeError(
            f"expected a numpy.random.Generator or a stream, such as bitale.random.stream(1), got {generator!r}"
        )
    name = type(generator.bit_generator).__name__
    if name not in _KINDS:
        raise TypeError(
            f"a Generator of the bit generator {name} is not supported: expected one of {', '.join(_KINDS)}"
        )
    return name


def words_of(generator: Any, name: str) -> np.ndarray[Any, Any]:
    """The state of a Generator whose bit generator has that name, or of a Stream. TypeError for another one."""
    given = bit_generator_of(generator)
    if given != name:
        raise TypeError(
            f"expected a Generator of the bit generator {name}, got one of {given}; a variable for it has the type "
            f"RandomGeneratorType({given!r})"
        )
    if isinstance(generator, Stream):
        return np.array([generator.key, generator.drawn], dtype=np.uint64)
    return np.array(_KINDS[name][1](generator.bit_generator.state), dtype=np.uint64)


def generator_of(name: str, words: Any) -> Any:
    """The Generator, or Stream, in that state."""
    if name == "Threefry":
        return Stream(int(words[0]), int(words[1]))
    kind, _, state_of = _KINDS[name]
    bits = kind(0)
    bits.state = {"bit_generator": name, **state_of(np.asarray(words))}
    return np.random.Generator(bits)

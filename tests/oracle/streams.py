"""Counter-based streams: Threefry-2x32-20 on arrays, and the assignment of its blocks to draws, elements and
children."""

from __future__ import annotations

from typing import Any

import numpy as np

MASK, HALF = np.uint64(0xFFFFFFFF), np.uint64(32)
WORDS, CHILDREN = 2**62, 2**63


def _halves(x: Any) -> tuple[Any, Any]:
    return (x >> HALF).astype(np.uint32), (x & MASK).astype(np.uint32)


def block(key: Any, counter: Any) -> Any:
    """The 64 bits of each key and counter."""
    key, counter = np.broadcast_arrays(np.asarray(key, np.uint64), np.asarray(counter, np.uint64))
    if counter.ndim == 0:  # NumPy warns if the arithmetic of scalars wraps around
        return block(key[None], counter[None])[0]
    (k0, k1), (x0, x1) = _halves(key), _halves(counter)
    keys = [k0, k1, k0 ^ k1 ^ np.uint32(0x1BD11BDA)]
    x0, x1 = x0 + keys[0], x1 + keys[1]
    for group in range(5):
        for by in ((13, 15, 26, 6), (17, 29, 16, 24))[group % 2]:
            x0 = x0 + x1
            x1 = (x1 << np.uint32(by) | x1 >> np.uint32(32 - by)) ^ x0
        x0, x1 = x0 + keys[(group + 1) % 3], x1 + keys[(group + 2) % 3] + np.uint32(group + 1)
    return x0.astype(np.uint64) << HALF | x1.astype(np.uint64)


def words(key: int, draw: int, size: Any, word: int = 0) -> Any:
    """The bits of draw number `draw` for each element of an array of this shape."""
    of_draw = block(key, draw)
    if word:
        of_draw = block(of_draw, WORDS + word)
    return block(of_draw, np.arange(int(np.prod(size)), dtype=np.uint64)).reshape(size)


def child_key(key: int, draw: int, number: int) -> int:
    return int(block(block(key, draw), CHILDREN + number))


def unit(bits: Any) -> Any:
    """Uniform numbers in [0, 1)."""
    return (bits >> np.uint64(11)) * 2.0**-53


def open_unit(bits: Any) -> Any:
    """Uniform numbers in (0, 1)."""
    return ((bits >> np.uint64(12)) + 0.5) * 2.0**-52

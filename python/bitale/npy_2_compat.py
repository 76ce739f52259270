"""Behaviour of NumPy before version 2, under PyTensor's name for this module."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["old_np_unique"]


def old_np_unique(
    arr: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
) -> Any:
    """numpy.unique, whose positions are a vector, as in NumPy 1.

    >>> from bitale.npy_2_compat import old_np_unique
    >>> old_np_unique(np.array([[3, 1], [3, 3]]), return_inverse=True)
    (array([1, 3]), array([1, 0, 1, 1]))
    """
    unique: Any = np.unique  # which has an overload for each set of flags
    found = unique(arr, return_index, return_inverse, return_counts, axis)
    if not return_inverse:
        return found
    parts = list(found)
    at = 2 if return_index else 1
    parts[at] = parts[at].reshape(-1)
    return tuple(parts)

"""PyTensor's module for NanGuardMode, and for functions that look for what it guards against."""

from __future__ import annotations

from typing import Any

import numpy as np

from bitale._geography import absent
from bitale.compile.monitor import NanGuardMode

__all__ = ["NanGuardMode", "contains_inf", "contains_nan"]


def _is_inexact(arr: Any) -> bool:
    return isinstance(arr, (np.ndarray, np.generic)) and arr.dtype.kind in "fc"


def contains_nan(arr: Any, node: Any = None, var: Any = None) -> bool:
    """Whether an array has a nan; False for values that can't have one. node, var: accepted, without effect.

    >>> from bitale.compile.debug.nanguardmode import contains_nan
    >>> contains_nan(np.array([1.0, np.nan])), contains_nan(np.array([1, 2]))
    (True, False)
    """
    return _is_inexact(arr) and bool(np.isnan(arr).any())


def contains_inf(arr: Any, node: Any = None, var: Any = None) -> bool:
    """Whether an array has an infinity; False for values that can't have one. node, var: accepted, without effect.

    >>> from bitale.compile.debug.nanguardmode import contains_inf
    >>> contains_inf(np.array([1.0, np.inf])), contains_inf(np.array([1.0, np.nan]))
    (True, False)
    """
    return _is_inexact(arr) and bool(np.isinf(arr).any())


__getattr__ = absent(__name__)

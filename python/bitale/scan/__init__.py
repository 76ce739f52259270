"""Loops whose steps are given by a function of symbolic values: scan, and short forms of it."""

from __future__ import annotations

from typing import Any

from bitale import _geography as _geography
from bitale._core import (
    loop_filter as filter,
    loop_foldl as foldl,
    loop_foldr as foldr,
    loop_fori_loop as fori_loop,
    loop_map as map,
    loop_reduce as reduce,
    loop_scan as scan,
    loop_scan_checkpoints as scan_checkpoints,
    loop_while_loop as while_loop,
)

__all__ = [
    "until",
    "scan",
    "map",
    "reduce",
    "foldl",
    "foldr",
    "filter",
    "while_loop",
    "fori_loop",
    "scan_checkpoints",
]


class until:
    """Condition that ends a loop, among the results of a step.

    There is no step after the one in which the condition holds.

    Parameters
    ----------
    condition : TensorVariable
        Scalar of dtype bool.
    """

    def __init__(self, condition: Any):
        if condition is None:
            raise TypeError("until: expected a scalar condition, got None")
        self.condition = condition


_geography.add_modules(__name__)

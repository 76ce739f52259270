"""Functions of tensors that use some dimensions themselves, such as the rows and columns of a matrix: of labelled tensors, with names for
these core dimensions. All other dimensions are batches, which are aligned by names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bitale import _core
from bitale._core import XTensorVariable

__all__ = ["blockwise", "core_names"]


def core_names(dims: Any, counts: Sequence[int], who: str) -> list[str]:
    """The names of core dimensions, of which there are as many as one of `counts` says."""
    names = [dim.name for dim in _core.xtensor_dims(dims)]
    if len(names) not in counts:
        raise ValueError(f"{who}: expected {' or '.join(map(str, counts))} core dimensions, got {tuple(names)}")
    if len(set(names)) < len(names):
        raise ValueError(f"{who}: expected different core dimensions, got {tuple(names)}")
    return names


def blockwise(who: str, function: Callable[..., Any], operands: Sequence[Any], core: Sequence[Any], results: Sequence[Any]) -> list[XTensorVariable]:
    """Apply a function of tensors to labelled ones.

    Parameters
    ----------
    who : str
        The name that errors use.
    function : callable
        A function of tensors whose leading dimensions are batches. It returns
        as many tensors as `results` says.
    operands : sequence of XTensorVariable
        The labelled tensors.
    core : sequence of sequence of str
        For each operand the names of its core dimensions, which come last.
    results : sequence of sequence of str or Dim
        For each result the names of its core dimensions. A name of an
        operand's dimension stands for that dimension, with its coordinates.

    Returns
    -------
    list of XTensorVariable
        The results: the common dimensions, then their core dimensions.
    """
    values, common, cores = _core.xtensor_align(who, list(operands), [list(names) for names in core])
    known = {dim.name: dim for each in cores for dim in each}
    for dim in common:
        if dim.name in known:
            raise ValueError(f"{who}: {dim.name!r} is a core dimension of one operand, and a batch of another; rename one of them")
    out = function(*values)
    made = []
    for tensor, names in zip(out if isinstance(out, (list, tuple)) else [out], results):
        own = [known.get(dim.name, dim) for dim in _core.xtensor_dims(list(names))]
        made.append(_core.xtensor_of_values(tensor, [*common, *own]))
    return made

"""Loops over a named dimension: the steps of scan receive and return labelled tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bitale.scan import _loops

__all__ = ["scan"]


def scan(
    fn: Callable[..., Any],
    sequences: Any = None,
    outputs_info: Any = None,
    non_sequences: Any = None,
    n_steps: Any = None,
    *,
    dim: Any,
    truncate_gradient: int = -1,
    go_backwards: bool = False,
    mode: Any = None,
    name: str | None = None,
    profile: bool | str = False,
    allow_gc: bool | None = None,
    strict: bool = False,
    return_list: bool = False,
    return_updates: bool = True,
) -> Any:
    """Apply a function repeatedly along a named dimension.

    Parameters
    ----------
    fn : callable
        Builds one step. It receives an element of each sequence, the earlier value of each result
        that has an initial state, and `non_sequences`; labelled tensors lack `dim`. It returns the
        results.
    sequences : XTensorVariable, tensor_like or list of these, optional
        Tensors that are stepped through: labelled ones along `dim`, others along their first axis.
        ``{"input": x, "taps": [-1, 0]}`` passes a step several positions relative to its own.
        Labelled sequences are at the same position in each step, beginning with the first at which
        all taps exist.
    outputs_info : XTensorVariable, tensor_like, None or list of these, optional
        Initial state of each result. None for a result that no later step reads. ``{"initial": x,
        "taps": [-2, -1]}`` passes a step several earlier values; those before the first step are
        `x` along `dim`.
    non_sequences : XTensorVariable, tensor_like or list of these, optional
        Further arguments of `fn`, the same in each step.
    n_steps : int or scalar tensor, optional
        Number of steps; by default the length of the sequences, or, without
        any, that of `dim`.
    dim : str or Dim
        The dimension of the steps, which is the first dimension of the results.
    truncate_gradient : int
        Number of last steps through which the gradient passes; -1 for all.
    go_backwards : bool
        Step through the sequences from their ends. The results are in the
        order of the steps, and so are their coordinates.
    mode : Mode, optional
        Accepted for compatibility with PyTensor.
    name : str, optional
        Name of the loop and its results.
    profile : bool
        Accepted for compatibility with PyTensor.
    allow_gc : bool, optional
        Accepted for compatibility with PyTensor.
    strict : bool
        Refuse variables that are neither arguments of `fn` nor constants.
    return_list : bool
        Return a list also of a single result.
    return_updates : bool
        Return the updates, too.

    Returns
    -------
    results : XTensorVariable or list of XTensorVariable
        Values of each result after each step.
    updates : dict
        Updates of shared variables, unless `return_updates` is False.

    Raises
    ------
    ValueError
        If a sequence lacks `dim`, if sequences have different coordinates
        along it, and if the dimensions of a result differ from those of its initial state.

    See Also
    --------
    bitale.scan

    Examples
    --------
    >>> from bitale import xtensor as px
    >>> x = px.as_xtensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dims=("unit", "time"))
    >>> start = px.as_xtensor([0.0, 0.0], dims="unit")
    >>> sums = px.scan(lambda x, total: total + x, x, start, dim="time", return_updates=False)
    >>> sums.dims, sums.values.eval()[-1]
    (('time', 'unit'), array([ 6., 15.]))
    """
    return _loops.scan(
        fn,
        sequences,
        outputs_info,
        non_sequences,
        n_steps,
        truncate_gradient,
        go_backwards,
        mode,
        name,
        profile,
        allow_gc,
        strict,
        return_list,
        return_updates,
        dim,
    )

"""Loops over a named dimension: the steps of scan get and give labelled tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bitale import _core
from bitale._core import Dim, XTensorVariable
from bitale.scan import initial_and_taps, scan as tensor_scan, sequence_and_taps, until

__all__ = ["scan"]


def _listed(given: Any) -> list[Any]:
    return [] if given is None else list(given) if isinstance(given, (list, tuple)) else [given]


class _Steps:
    """A step of labelled tensors as one of tensors. It knows the dimensions of its arguments and, once it was called, of its results."""

    def __init__(self, function: Callable[..., Any], arguments: list[list[Dim] | None], states: list[list[Dim] | None]):
        self.function, self.arguments, self.states = function, arguments, states
        self.results: list[list[Dim] | None] = []

    def __call__(self, *tensors: Any) -> Any:
        given = [x if dims is None else _core.xtensor_of_values(x, dims) for x, dims in zip(tensors, self.arguments)]
        returned = self.function(*given)
        updates: tuple[Any, ...] = ()
        if isinstance(returned, tuple) and any(isinstance(each, (Mapping, until)) for each in returned):
            parts = [each for each in returned if not isinstance(each, (Mapping, until))]
            updates = tuple(each for each in returned if isinstance(each, (Mapping, until)))
            returned = parts[0] if len(parts) == 1 else parts
        results = _listed(returned)
        self.results = []
        tensors_out = []
        for k, result in enumerate(results):
            state = self.states[k] if k < len(self.states) else None
            if state is not None:
                result = _core.xtensor_operand(result)
                names = [dim.name for dim in state]
                if set(result.dims) != set(names):
                    raise ValueError(f"scan: result {k} has the dimensions {result.dims}, but its initial state {tuple(names)}")
                result = result.transpose(*names)
            is_labelled = isinstance(result, XTensorVariable)
            self.results.append(list(result.dimensions) if is_labelled else None)
            tensors_out.append(result.values if is_labelled else result)
        return (tensors_out, *updates) if updates else tensors_out


def _stepped(sequences: list[Any], along: Dim, arguments: list[list[Dim] | None]) -> tuple[list[Any], Dim]:
    """The sequences as those of tensors, and the dimension of the steps.

    Labelled ones are aligned: all are at the same position in a step, so a step is where each tap of each of them is within its sequence."""
    given = [sequence_and_taps(each) for each in sequences]
    taps = [tap for value, each in given if isinstance(value, XTensorVariable) for tap in each]
    before, after = max([0, *(-tap for tap in taps)]), max([0, *taps])
    steps: list[Any] = []
    for each, (value, own) in zip(sequences, given):
        if not isinstance(value, XTensorVariable):
            steps.append(each)
            arguments += [None] * len(own)
            continue
        first = value.transpose(along.name, ...)
        length = first.static_shape[0]
        if length is not None and 0 < length <= before + after:
            raise ValueError(f"scan: the taps reach over {before + after + 1} positions along {along.name!r}, but {value!r} has {length}")
        for tap in own:
            end = tap - after
            part = first if not before and not after else first._isel({along.name: slice(before + tap, end if end else None)})
            steps.append(part.values)
            arguments.append(list(part.dimensions[1:]))
        own_steps = first if not before and not after else first._isel({along.name: slice(before, -after if after else None)})
        along = own_steps.dimensions[0] if along.coords is None else along
    return steps, along


def scan(
    fn: Callable[..., Any],
    sequences: Any = None,
    outputs_info: Any = None,
    non_sequences: Any = None,
    n_steps: Any = None,
    *,
    dim: Any,
    **options: Any,
) -> Any:
    """Apply a function repeatedly along a named dimension.

    Parameters
    ----------
    fn : callable
        Builds one step. It gets an element of each sequence, the earlier value
        of each result that has an initial state, and `non_sequences`; those
        that are labelled tensors without `dim`. It returns the results.
    sequences : XTensorVariable, tensor_like or list of these, optional
        Tensors that are stepped through: labelled ones along `dim`, others
        along their first axis. ``{"input": x, "taps": [-1, 0]}`` gives a step
        several positions relative to its own. Labelled sequences are at the
        same position in each step, the first one at which all taps are there.
    outputs_info : XTensorVariable, tensor_like, None or list of these, optional
        Initial state of each result. None for a result that no later step
        reads. ``{"initial": x, "taps": [-2, -1]}`` gives a step several earlier
        values; those before the first step are `x` along `dim`.
    non_sequences : XTensorVariable, tensor_like or list of these, optional
        Further arguments of `fn`, the same in each step.
    n_steps : int or scalar tensor, optional
        Number of steps; by default the length of the sequences.
    dim : str or Dim
        The dimension of the steps, which the results have in front.
    **options : object
        Further arguments of `bitale.scan`.

    Returns
    -------
    results : XTensorVariable or list of XTensorVariable
        Values of each result after each step.
    updates : dict
        Updates of shared variables, unless `return_updates` is False.

    Raises
    ------
    ValueError
        If a sequence lacks `dim`, and if a result has other dimensions than
        its initial state.

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
    along = _core.xtensor_dims(dim)[0]
    arguments: list[list[Dim] | None] = []
    states: list[list[Dim] | None] = []
    infos: list[Any] = []
    others: list[Any] = []
    steps, along = _stepped(_listed(sequences), along, arguments)
    for each in _listed(outputs_info):
        value, taps, _ = initial_and_taps(each)
        is_labelled = isinstance(value, XTensorVariable)
        if is_labelled and taps != [-1]:  # earlier values along the dimension of the steps
            value = value.transpose(along.name, ...)
            states.append(list(value.dimensions[1:]))
        elif is_labelled and along.name in value.dims:
            raise ValueError(f"scan: an initial state has the dimension {along.name!r} of the steps")
        else:
            states.append(list(value.dimensions) if is_labelled else None)
        tensor = value.values if is_labelled else value
        infos.append({**each, "initial": tensor} if isinstance(each, Mapping) and is_labelled else tensor if is_labelled else each)
        if value is not None:
            arguments += [states[-1]] * len(taps)
    for each in _listed(non_sequences):
        arguments.append(list(each.dimensions) if isinstance(each, XTensorVariable) else None)
        others.append(each.values if isinstance(each, XTensorVariable) else each)
    step = _Steps(fn, arguments, states)
    return_updates, return_list = options.pop("return_updates", True), options.pop("return_list", False)
    found, updates = tensor_scan(step, steps or None, infos or None, others or None, n_steps, return_list=True, return_updates=True, **options)
    made = [_relabelled(result, along, dims) for result, dims in zip(found, step.results)]
    results = made if return_list or len(made) != 1 else made[0]
    return (results, updates) if return_updates else results


def _relabelled(result: Any, along: Dim, dims: Sequence[Dim] | None) -> Any:
    """The stacked values with the dimension of steps in front. A loop that ends early has another length than the sequences."""
    if dims is None:
        return result
    known = result.type.shape[0]
    steps = along if along.length is None or known == along.length else _core.xtensor_dims([along.name])[0]
    return _core.xtensor_of_values(result, [steps, *dims])

"""Loops over a named dimension: the steps of scan get and give labelled tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bitale import _core
from bitale._core import Dim, XTensorVariable
from bitale.scan import scan as tensor_scan, until

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
        along their first axis.
    outputs_info : XTensorVariable, tensor_like, None or list of these, optional
        Initial state of each result. None for a result that no later step
        reads.
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
    NotImplementedError
        For taps of labelled tensors.

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
    tensors: list[list[Any]] = [[], [], []]
    arguments: list[list[Dim] | None] = []
    states: list[list[Dim] | None] = []
    for given in (sequences, outputs_info):
        for each in _listed(given):
            if isinstance(each, Mapping) and any(isinstance(one, XTensorVariable) for one in each.values()):
                raise NotImplementedError("scan: taps of labelled tensors; shift makes a sequence of earlier elements")
    for each in _listed(sequences):
        if isinstance(each, XTensorVariable):
            first = each.transpose(along.name, ...)
            steps = first.dimensions[0]
            along = steps if along.coords is None else along
            arguments.append(list(first.dimensions[1:]))
            tensors[0].append(first.values)
        else:
            arguments.append(None)
            tensors[0].append(each)
    for each in _listed(outputs_info):
        dims = list(each.dimensions) if isinstance(each, XTensorVariable) else None
        if dims is not None and along.name in each.dims:
            raise ValueError(f"scan: an initial state has the dimension {along.name!r} of the steps")
        states.append(dims)
        tensors[1].append(each.values if isinstance(each, XTensorVariable) else each)
        if each is not None:
            arguments.append(dims)
    for each in _listed(non_sequences):
        arguments.append(list(each.dimensions) if isinstance(each, XTensorVariable) else None)
        tensors[2].append(each.values if isinstance(each, XTensorVariable) else each)
    step = _Steps(fn, arguments, states)
    infos: Any = tensors[1] or None
    return_updates, return_list = options.pop("return_updates", True), options.pop("return_list", False)
    found, updates = tensor_scan(step, tensors[0] or None, infos, tensors[2] or None, n_steps, return_list=True, return_updates=True, **options)
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

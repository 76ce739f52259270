"""Loops whose steps are given by a function of symbolic values: scan, and short forms of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bitale import _core
from bitale._core import Variable
from bitale.compile.default_updates import with_default_updates
from bitale.compile.sharedvalue import collect_new_shareds
from bitale.configuration import config

__all__ = ["until", "scan", "map", "reduce", "foldl", "foldr", "filter", "while_loop", "fori_loop", "scan_checkpoints"]


class until:
    """What a step returns, beside its results, to end a loop: there is no step after the one in which the scalar
    `condition` holds (PyTensor's pytensor.scan.utils.until)."""

    def __init__(self, condition: Any):
        if condition is None:
            raise TypeError("until: expected a scalar condition, got None")
        self.condition = condition


def _as_list(given: Any) -> list[Any]:
    if given is None:
        return []
    return list(given) if isinstance(given, (list, tuple)) else [given]


def _taps(given: Any, default: int) -> list[int]:
    if given is None:
        return [default]
    if isinstance(given, int):
        return [given]
    return [int(tap) for tap in given]


def _sequence(given: Any) -> tuple[Any, list[int]]:
    if not isinstance(given, Mapping):
        return given, [0]
    _only(given, ("input", "taps"), "a sequence")
    if "input" not in given:
        raise ValueError("scan: a sequence given as a dict needs the key 'input'")
    return given["input"], _taps(given.get("taps"), 0)


def _initial(given: Any) -> tuple[Any, list[int], bool]:
    value, taps = given, [-1]
    if isinstance(given, Mapping):
        _only(given, ("initial", "taps", "return_steps", "inplace"), "an entry of outputs_info")
        value = given.get("initial")
        if value is None and given.get("taps"):
            raise ValueError("scan: an entry of outputs_info has taps, and no 'initial' value that they reach")
        taps = _taps(given.get("taps"), -1)
    return value, taps, isinstance(value, (bool, int, float))


def _only(given: Mapping[str, Any], keys: Sequence[str], what: str) -> None:
    for key in given:
        if key not in keys:
            raise ValueError(f"scan: {what} has the unknown key {key!r}; known are {', '.join(keys)}")


def _is_updates(part: Any) -> bool:
    if isinstance(part, Mapping):
        return True
    return (
        isinstance(part, (list, tuple))
        and len(part) > 0
        and all(isinstance(each, (list, tuple)) and len(each) == 2 for each in part)
    )


def _step_parts(result: Any) -> tuple[list[Any], Any, list[tuple[Any, Any]]]:
    """Outputs, the condition of `until` and updates, in any of the forms that a step may return."""
    outputs: list[Any] = []
    condition: Any = None
    updates: list[tuple[Any, Any]] = []
    parts = list(result) if isinstance(result, (list, tuple)) and not _is_updates(result) else [result]
    for part in parts:
        if part is None:
            continue
        if isinstance(part, until):
            if condition is not None:
                raise ValueError("scan: the step returns `until` twice")
            condition = part.condition
        elif _is_updates(part):
            updates.extend(part.items() if isinstance(part, Mapping) else [tuple(pair) for pair in part])
        elif isinstance(part, (list, tuple)):
            more, inner, pairs = _step_parts(list(part))
            outputs.extend(more)
            updates.extend(pairs)
            condition = condition if inner is None else inner
        else:
            outputs.append(part)
    return outputs, condition, updates


def _own_updates(created: list[Any], outputs: list[Any], condition: Any, updates: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Of shared variables that the step has made for itself, such as the generator behind a draw: their default updates are
    made in each step, so that each step draws anew."""
    made = {variable for variable in created if variable.default_update is not None}
    if not made:
        return []
    given = {variable for variable, _ in updates}
    known = [each for each in [*outputs, condition, *(after for _, after in updates)] if isinstance(each, Variable)]
    return [(rng, after) for rng, after in with_default_updates(known, [], given) if rng in made]


def _loop(
    fn: Callable[..., Any],
    sequences: Any,
    outputs_info: Any,
    non_sequences: Any,
    n_steps: Any,
    go_backwards: bool = False,
    truncate_gradient: int = -1,
    strict: bool = False,
    name: str | None = None,
) -> tuple[list[Variable], list[Variable | None], Variable, dict[Variable, Variable], int]:
    builder = _core.ScanBuilder(
        [_sequence(each) for each in _as_list(sequences)],
        [_initial(each) for each in _as_list(outputs_info)],
        _as_list(non_sequences),
        n_steps,
        bool(go_backwards),
        int(truncate_gradient),
        bool(strict),
        name or "",
    )
    while True:
        with collect_new_shareds() as created:
            outputs, condition, updates = _step_parts(fn(*builder.arguments()))
        if not builder.adapts_to(outputs):
            break
    updates += _own_updates(created, outputs, condition, updates)
    traces, finals, steps, pairs = builder.finish(outputs, condition, updates)
    changed = dict(pairs)
    # Functions that are compiled without the updates perform them nevertheless.
    for variable in created:
        if variable in changed:
            variable.default_update = changed[variable]
    if name:
        for k, trace in enumerate(traces):
            trace.name = name if len(traces) == 1 else f"{name}[{k}]"
    return list(traces), list(finals), steps, changed, len(traces)


def _packed(outputs: list[Any], return_list: bool) -> Any:
    if return_list:
        return outputs
    if not outputs:
        return None
    return outputs[0] if len(outputs) == 1 else outputs


def scan(
    fn: Callable[..., Any],
    sequences: Any = None,
    outputs_info: Any = None,
    non_sequences: Any = None,
    n_steps: Any = None,
    truncate_gradient: int = -1,
    go_backwards: bool = False,
    mode: Any = None,
    name: str | None = None,
    profile: Any = False,
    allow_gc: Any = None,
    strict: bool = False,
    return_list: bool = False,
    return_updates: bool = True,
) -> Any:
    """A loop of steps (PyTensor's pytensor.scan).

    fn: called once, with symbolic values: an element of each sequence (of each of its taps), earlier values of the
        results (by tap), and non_sequences. It returns the results of one step: a value or a list; with them, it may
        return a dict of updates of shared variables, and until(condition). Variables around it may be used.
    sequences: tensors that are stepped through along their first axis, or dicts {"input": tensor, "taps": [...]}: a tap
        k is the element k places further on. All give the same number of steps, or at least n_steps.
    outputs_info: per result, its initial value, of the shape and dtype of each later one; or a dict {"initial": ...,
        "taps": [...]} with negative taps, where the initial value is a stack of as many values as the furthest tap
        goes back, the oldest first; or None for a result whose earlier values no step takes.
    n_steps: how many steps, an integer that may be symbolic, 0 or more; None: as many as the sequences have elements.
    truncate_gradient: how many of the last steps the gradient goes back; -1: all.
    go_backwards: steps through the sequences from their ends.
    strict: refuse variables that are neither arguments of fn nor constants.
    name: of the loop and its results.
    mode, profile, allow_gc: accepted for programs written for PyTensor; the loop is compiled with what surrounds it.

    Draws of random variables in fn that are given no generator (`rng`) draw anew in each step; the states of their
    generators are among the updates, and are updated also by a function that is not given those.

    Returns (results, updates): each result after each step, stacked along a new first axis, without initial values;
    one alone is no list unless return_list. updates: of shared variables, for `function`. With return_updates=False,
    the results alone.

    ValueError: nothing says how many steps, n_steps is negative, a tap reaches before the start or behind the end, or fn gives another
    number of results. TypeError: a result that is not of its initial value's dtype, rank and static shape, saying which
    and what to cast; an `until` that is no scalar bool. ShapeError: sequences of different lengths.

    >>> a = pt.dscalar("a")
    >>> powers = bt.scan(lambda p: p * a, outputs_info=1.0, n_steps=4, return_updates=False)
    >>> bt.function([a], powers)(2.0)
    array([ 2.,  4.,  8., 16.])
    """
    traces, _, _, updates, _ = _loop(
        fn, sequences, outputs_info, non_sequences, n_steps, go_backwards, truncate_gradient, strict, name
    )
    out = _packed(traces, return_list)
    return (out, updates) if return_updates else out


def _answer(outputs: list[Any], updates: dict[Any, Any], return_updates: bool) -> Any:
    out = _packed(outputs, False)
    return (out, updates) if return_updates else out


def map(
    fn: Callable[..., Any],
    sequences: Any,
    non_sequences: Any = None,
    truncate_gradient: int = -1,
    go_backwards: bool = False,
    mode: Any = None,
    name: str | None = None,
    return_updates: bool = True,
) -> Any:
    """fn of each element of the sequences, stacked: a scan without earlier values (PyTensor's pytensor.map)."""
    traces, _, _, updates, _ = _loop(
        fn, sequences, None, non_sequences, None, go_backwards, truncate_gradient, False, name
    )
    return _answer(traces, updates, return_updates)


def reduce(
    fn: Callable[..., Any],
    sequences: Any,
    outputs_info: Any,
    non_sequences: Any = None,
    go_backwards: bool = False,
    mode: Any = None,
    name: str | None = None,
    return_updates: bool = True,
) -> Any:
    """The last results of a scan alone; no others are stored (PyTensor's pytensor.reduce).

    An entry of outputs_info that is None, whose earlier values no step takes, gives its value in the last step.
    """
    traces, finals, _, updates, _ = _loop(fn, sequences, outputs_info, non_sequences, None, go_backwards, -1, False, name)
    last = [trace[-1] if final is None else final for trace, final in zip(traces, finals)]
    return _answer(last, updates, return_updates)


def foldl(
    fn: Callable[..., Any],
    sequences: Any,
    outputs_info: Any,
    non_sequences: Any = None,
    mode: Any = None,
    name: str | None = None,
    return_updates: bool = True,
) -> Any:
    """reduce from the first element to the last (PyTensor's pytensor.foldl)."""
    return reduce(fn, sequences, outputs_info, non_sequences, False, mode, name, return_updates)


def foldr(
    fn: Callable[..., Any],
    sequences: Any,
    outputs_info: Any,
    non_sequences: Any = None,
    mode: Any = None,
    name: str | None = None,
    return_updates: bool = True,
) -> Any:
    """reduce from the last element to the first (PyTensor's pytensor.foldr)."""
    return reduce(fn, sequences, outputs_info, non_sequences, True, mode, name, return_updates)


def filter(
    fn: Callable[..., Any],
    sequences: Any,
    non_sequences: Any = None,
    go_backwards: bool = False,
    mode: Any = None,
    name: str | None = None,
    return_updates: bool = True,
) -> Any:
    """The elements of each sequence for which fn, a scalar condition, holds."""
    kept, updates = map(fn, sequences, non_sequences, -1, go_backwards, mode, name)
    given = [_core.as_tensor_variable(_sequence(each)[0]) for each in _as_list(sequences)]
    mask = _core.neq(kept, 0)
    chosen = [(each[::-1] if go_backwards else each)[mask] for each in given]
    return _answer(chosen, updates, return_updates)


def fori_loop(lower: Any, upper: Any, body: Callable[..., Any], *initial: Any) -> Any:
    """The states after body(i, *states) for i from lower to upper - 1, of which nothing else is stored. body returns as
    many values as there are initial ones."""
    lower = _core.cast(_core.as_tensor_variable(lower), "int64")
    count = _core.maximum(_core.cast(_core.as_tensor_variable(upper), "int64") - lower, 0)

    def step(i: Any, *states: Any) -> list[Any]:
        return [i + 1, *_as_list(body(i, *states))]

    _, finals, _, _, _ = _loop(step, None, [lower, *initial], None, count)
    return _packed(finals[1:], False)


def while_loop(
    condition: Callable[..., Any], body: Callable[..., Any], *initial: Any, max_steps: int | Variable
) -> Any:
    """The states after as many steps states = body(*states) as condition(*states) holds before, at most max_steps.

    Nothing but the last states is stored; a gradient stores max_steps states."""
    start = condition(*[_core.as_tensor_variable(each) for each in initial])

    def step(*states: Any) -> tuple[list[Any], until]:
        after = [_core.as_tensor_variable(each) for each in _as_list(body(*states))]
        return after, until(_core.eq(condition(*after), 0))

    count = _core.switch(start, _core.cast(_core.as_tensor_variable(max_steps), "int64"), 0)
    _, finals, _, _, _ = _loop(step, None, list(initial), None, count)
    return _packed(finals, False)


def scan_checkpoints(
    fn: Callable[..., Any],
    sequences: Any = None,
    outputs_info: Any = None,
    non_sequences: Any = None,
    name: str = "checkpointscan_fn",
    n_steps: Any = None,
    save_every_N: int = 10,
    padding: bool = True,
    return_updates: bool = True,
) -> Any:
    """scan for long loops of which every save_every_N-th result is wanted, and a gradient that stores as many states
    (PyTensor's pytensor.scan_checkpoints): the steps in between are made again when the gradient needs them.

    outputs_info: initial values, one per result; results with taps are refused. The number of steps is a multiple of
    save_every_N, or with padding any number: the sequences are then filled up with zeros, and the last result is that
    of the last step made. Returns what scan returns, for every save_every_N-th step.
    """
    inputs = [_core.as_tensor_variable(each) for each in _as_list(sequences)]
    initial = [
        _core.constant(each, dtype=config.floatX) if isinstance(each, float) else each
        for each in _as_list(outputs_info)
    ]
    for each in [*initial, *_as_list(sequences)]:
        if isinstance(each, Mapping):
            raise ValueError("scan_checkpoints: taps are not supported")
        if each is None:
            raise ValueError("scan_checkpoints: each result needs an initial value")
    if n_steps is None:
        if not inputs:
            raise ValueError("scan_checkpoints: expected a sequence, or n_steps")
        n_steps = inputs[0].shape[0]
    every = int(save_every_N)
    if every < 1:
        raise ValueError(f"scan_checkpoints: save_every_N is {every}: expected 1 or more")
    n_steps = _core.cast(_core.as_tensor_variable(n_steps), "int64")
    blocks = (n_steps + (every - 1)) // every if padding else n_steps // every
    stacks = []
    for each in inputs:
        each = each[:n_steps]
        if padding:
            rest = _core.zeros([blocks * every - n_steps, *[each.shape[k] for k in range(1, each.ndim)]], each.dtype)
            each = _core.concatenate([each, rest])
        stacks.append(_core.reshape(each, [blocks, every, *[each.shape[k] for k in range(1, each.ndim)]]))
    numbers = _core.arange(blocks) * every
    others = _as_list(non_sequences)

    def block(first: Any, *arguments: Any) -> list[Any]:
        own, states = arguments[: len(stacks)], arguments[len(stacks) :]

        def step(number: Any, *given: Any) -> Any:
            outputs, condition, changes = _step_parts(fn(*given))
            if condition is not None or changes:
                raise ValueError("scan_checkpoints: the step returns `until` or updates, which are not supported")
            if not padding:
                return outputs
            # After the last step, states keep their values.
            before = given[len(own) : len(own) + len(outputs)]
            return [_core.switch(number < n_steps, new, old) for new, old in zip(outputs, before)]

        _, finals, _, _, _ = _loop(step, [first + _core.arange(every), *own], list(states), others, every)
        return [final for final in finals if final is not None]

    traces, _, _, updates, _ = _loop(block, [numbers, *stacks], initial, None, None, name=name)
    return _answer(traces, updates, return_updates)

from bitale import _geography as _geography

_geography.add_modules(__name__)

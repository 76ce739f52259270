"""How loops are made of a function of symbolic values; bitale.scan has the functions."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from bitale import _core
from bitale._core import Mode, TensorVariable, Variable
from bitale.compile.sharedvalue import collect_new_shareds
from bitale.configuration import config
from bitale.scan import until

if TYPE_CHECKING:
    from bitale.typing import SharedUpdates, TensorLike

    # What a loop is made from; a mapping says which elements of a sequence, or which earlier values, a step takes.
    Sequences = Union[TensorLike, Mapping[str, Any], Sequence[Any], None]
    Initial = Union[TensorLike, Mapping[str, Any], Sequence[Any], None]
    Others = Union[TensorLike, Sequence[Any], None]
    Length = Union[int, np.integer[Any], TensorVariable]


def as_list(given: Any) -> list[Any]:
    if given is None:
        return []
    return list(given) if isinstance(given, (list, tuple)) else [given]


def _taps(given: Any, default: int) -> list[int]:
    if given is None:
        return [default]
    if isinstance(given, int):
        return [given]
    return [int(tap) for tap in given]


def sequence_and_taps(given: Any) -> tuple[Any, list[int]]:
    """A sequence, and the positions relative to each step that the step reads."""
    if not isinstance(given, Mapping):
        return given, [0]
    _only(given, ("input", "taps"), "a sequence")
    if "input" not in given:
        raise ValueError("scan: a sequence given as a dict needs the key 'input'")
    return given["input"], _taps(given.get("taps"), 0)


def initial_and_taps(given: Any) -> tuple[Any, list[int], bool]:
    """An initial state, the earlier steps that a step reads, and whether it is a number of Python."""
    value, taps = given, [-1]
    if isinstance(given, Mapping):
        _only(given, ("initial", "taps", "return_steps", "inplace"), "an entry of outputs_info")
        value = given.get("initial")
        if value is None and given.get("taps"):
            raise ValueError(
                "scan: an entry of outputs_info has taps, and no 'initial' value that they reach"
            )
        taps = _taps(given.get("taps"), -1)
        if len(set(taps)) < len(taps):
            raise ValueError(f"scan: the taps of a result are different steps, got {taps}")
        if value is not None and "taps" in given and given["taps"] is None:
            warnings.warn(
                "scan: an entry of outputs_info has an initial value, and taps that are None: -1 is taken",
                stacklevel=4,
            )
    return value, taps, isinstance(value, (bool, int, float))


def _only(given: Mapping[str, Any], keys: Sequence[str], what: str) -> None:
    for key in given:
        if key not in keys:
            raise ValueError(
                f"scan: {what} has the unknown key {key!r}; known are {', '.join(keys)}"
            )


def _is_updates(part: Any) -> bool:
    if isinstance(part, Mapping):  # with texts as keys it is a tree of results
        return not part or not all(isinstance(key, str) for key in part)
    return (
        isinstance(part, (list, tuple))
        and not hasattr(part, "_fields")
        and len(part) > 0
        and all(isinstance(each, (list, tuple)) and len(each) == 2 for each in part)
    )


def _step_parts(result: Any) -> tuple[list[Any], Any, list[tuple[Any, Any]]]:
    """Outputs, the condition of `until` and updates, in any of the forms that a step may return."""
    outputs: list[Any] = []
    condition: Any = None
    updates: list[tuple[Any, Any]] = []
    parts = (
        list(result) if isinstance(result, (list, tuple)) and not _is_updates(result) else [result]
    )
    for part in parts:
        if part is None:
            continue
        if isinstance(part, until):
            if condition is not None:
                raise ValueError("scan: the step returns `until` twice")
            condition = part.condition
        elif _is_updates(part):
            updates.extend(
                part.items() if isinstance(part, Mapping) else [tuple(pair) for pair in part]
            )
        elif isinstance(part, (list, tuple)):
            more, inner, pairs = _step_parts(list(part))
            outputs.extend(more)
            updates.extend(pairs)
            condition = condition if inner is None else inner
        else:
            outputs.append(part)
    return outputs, condition, updates


def _own_updates(
    created: list[Any], outputs: list[Any], condition: Any, updates: list[tuple[Any, Any]]
) -> list[tuple[Any, Any]]:
    """Of shared variables that the step has made for itself, such as the generator behind a draw: their default updates are
    made in each step, so that each step draws anew."""
    made = {variable for variable in created if variable.default_update is not None}
    if not made:
        return []
    given = {variable for variable, _ in updates}
    every, _ = _core.tree_flatten([*outputs, condition, *(after for _, after in updates)])
    known = [each for each in every if isinstance(each, Variable)]
    return [
        (rng, after) for rng, after in _core.with_default_updates(known, [], given) if rng in made
    ]


class _Entry:
    """A sequence, a state or a constant of a loop that may be a tree: what a builder of loops gets of it, and the other way."""

    def __init__(self, given: Any, use: str | None = None, keys: tuple[str, ...] = ()):
        self.options = None
        if keys and isinstance(given, Mapping) and any(key in given for key in keys):
            self.options, given = given, given.get(keys[0])
        self.structure = None
        leaves = [given]
        if _is_tree(given):
            leaves, self.structure = (
                _core.tree_in_loop(given, use) if use else _core.tree_flatten(given)
            )
        if self.options is not None:
            plain = dict(self.options)
            leaves = [{**plain, keys[0]: leaf} if keys[0] in plain else plain for leaf in leaves]
        self.leaves = leaves

    def taken(self, arguments: list[Any]) -> list[Any]:
        """The arguments of a step that belong to the entry, in the place of those of its leaves."""
        if self.structure is None:
            return arguments
        taps = len(arguments) // len(self.leaves) if self.leaves else 1
        return [self.structure.unflatten(arguments[tap::taps]) for tap in range(taps)]


def _is_tree(given: Any) -> bool:
    """Whether it is made of several values; a list in the place of a tensor is stacked, as everywhere."""
    return _core.is_tree(given) and (
        hasattr(given, "_fields") or not isinstance(given, (list, tuple))
    )


def sequence_entries(given: Any) -> list[_Entry]:
    return [_Entry(each, "sequence", ("input", "taps")) for each in as_list(given)]


def state_entries(given: Any) -> list[_Entry]:
    keys = ("initial", "taps", "return_steps", "inplace")
    return [_Entry(each, "state", keys) for each in as_list(given)]


class _Step:
    """A step of trees as one of tensors."""

    def __init__(
        self, fn: Callable[..., Any], entries: list[tuple[_Entry, int]], states: list[_Entry]
    ):
        self.fn, self.entries, self.states = fn, entries, states
        self.results: list[Any] | None = None  # if one is a tree

    def __call__(self, *given: Any) -> Any:
        own: list[Any] = []
        at = 0
        for entry, count in self.entries:
            own += entry.taken(list(given[at : at + count]))
            at += count
        return self._flat(self.fn(*own, *given[at:]))

    def _flat(self, result: Any) -> Any:
        is_one = not isinstance(result, (list, tuple)) or hasattr(result, "_fields")
        parts = [result] if is_one or _is_updates(result) else list(result)
        own = [
            x for x in parts if x is not None and not isinstance(x, until) and not _is_updates(x)
        ]
        expected = [state.structure for state in self.states]
        self.results = None
        if not any(form is not None for form in expected) and not any(_is_tree(x) for x in own):
            return result
        out: list[Any] = []
        self.results = []
        for part in parts:
            if not any(part is x for x in own):
                out.append(part)
                continue
            k = len(self.results)
            form = expected[k] if k < len(expected) else None
            if form is None:
                leaves, form = _core.tree_in_loop(part, "result")
            else:
                leaves = form.flatten_like(part, f"scan: result {k}")
            out += leaves
            self.results.append((form, leaves))
        return out

    def packed(self, values: list[Any], are_all: bool = True) -> list[Any]:
        """The values of the results, of which some are trees: those of all steps, or of one."""
        if self.results is None:
            return values
        out, at = [], 0
        for k, (form, leaves) in enumerate(self.results):
            if are_all and k < len(self.states) and self.states[k].structure is not None:
                _, form = _core.tree_in_loop(form.unflatten(leaves), "result")
            out.append(form.unflatten(values[at : at + len(leaves)]))
            at += len(leaves)
        return out


class _Results:
    """What a loop gives: the values of each result after each step, the last ones, the number of steps and the updates."""

    def __init__(
        self,
        step: _Step,
        traces: list[Any],
        finals: list[Any],
        steps: Variable,
        updates: SharedUpdates,
    ):
        self._step, self._traces, self._finals = step, traces, finals
        self.steps, self.updates = steps, updates

    def traces(self) -> list[Any]:
        return self._step.packed(self._traces)

    def finals(self) -> list[Any]:
        last = [
            trace[-1] if final is None else final
            for trace, final in zip(self._traces, self._finals)
        ]
        return self._step.packed(last, False)


def _loop(
    fn: Callable[..., Any],
    sequences: Sequences,
    outputs_info: Initial,
    non_sequences: Others,
    n_steps: Length | None,
    go_backwards: bool = False,
    truncate_gradient: int = -1,
    strict: bool = False,
    name: str | None = None,
    dim: Any = None,
) -> _Results:
    over, states = sequence_entries(sequences), state_entries(outputs_info)
    others = [_Entry(each) for each in as_list(non_sequences)]
    of_sequences = [[sequence_and_taps(leaf) for leaf in entry.leaves] for entry in over]
    of_states = [[initial_and_taps(leaf) for leaf in entry.leaves] for entry in states]
    counts = [sum(len(leaf[1]) for leaf in leaves) for leaves in of_sequences]
    counts += [sum(len(leaf[1]) for leaf in leaves if leaf[0] is not None) for leaves in of_states]
    counts += [len(entry.leaves) for entry in others]
    entries = [*over, *states, *others]
    step = _Step(fn, list(zip(entries, counts)), states)
    builder = _core.ScanBuilder(
        [leaf for leaves in of_sequences for leaf in leaves],
        [leaf for leaves in of_states for leaf in leaves],
        [leaf for entry in others for leaf in entry.leaves],
        n_steps,
        bool(go_backwards),
        int(truncate_gradient),
        bool(strict),
        name or "",
        dim,
    )
    while True:
        with collect_new_shareds() as created:
            outputs, condition, updates = _step_parts(step(*builder.arguments()))
        if not builder.adapts_to(outputs):
            break
    updates += _own_updates(created, outputs, condition, updates)
    traces, finals, steps, pairs = builder.finish(outputs, condition, updates)
    changed: SharedUpdates = dict(pairs)
    # Functions that are compiled without the updates perform them nevertheless.
    for variable in created:
        if variable in changed:
            variable.default_update = changed[variable]
    if name:
        for k, trace in enumerate(traces):
            trace.name = name if len(traces) == 1 else f"{name}[{k}]"
    return _Results(step, list(traces), list(finals), steps, changed)


def _packed(
    outputs: list[TensorVariable], return_list: bool = False
) -> TensorVariable | list[TensorVariable] | None:
    if return_list:
        return outputs
    if not outputs:
        return None
    return outputs[0] if len(outputs) == 1 else outputs


def scan(
    fn: Callable[..., Any],
    sequences: Sequences = None,
    outputs_info: Initial = None,
    non_sequences: Others = None,
    n_steps: Length | None = None,
    truncate_gradient: int = -1,
    go_backwards: bool = False,
    mode: str | Mode | None = None,
    name: str | None = None,
    profile: bool | str = False,
    allow_gc: bool | None = None,
    strict: bool = False,
    return_list: bool = False,
    return_updates: bool = True,
    dim: Any = None,
) -> Any:
    found = _loop(
        fn,
        sequences,
        outputs_info,
        non_sequences,
        n_steps,
        go_backwards,
        truncate_gradient,
        strict,
        name,
        dim,
    )
    out = _packed(found.traces(), return_list)
    return (out, found.updates) if return_updates else out


def _answer(outputs: list[TensorVariable], updates: SharedUpdates, return_updates: bool) -> Any:
    out = _packed(outputs)
    return (out, updates) if return_updates else out


def map(
    fn: Callable[..., Any],
    sequences: Sequences,
    non_sequences: Others = None,
    truncate_gradient: int = -1,
    go_backwards: bool = False,
    mode: str | Mode | None = None,
    name: str | None = None,
    return_updates: bool = True,
    dim: Any = None,
) -> Any:
    found = _loop(
        fn, sequences, None, non_sequences, None, go_backwards, truncate_gradient, False, name, dim
    )
    return _answer(found.traces(), found.updates, return_updates)


def reduce(
    fn: Callable[..., Any],
    sequences: Sequences,
    outputs_info: Initial,
    non_sequences: Others = None,
    go_backwards: bool = False,
    mode: str | Mode | None = None,
    name: str | None = None,
    return_updates: bool = True,
    dim: Any = None,
) -> Any:
    found = _loop(
        fn, sequences, outputs_info, non_sequences, None, go_backwards, -1, False, name, dim
    )
    return _answer(found.finals(), found.updates, return_updates)


def _fold(go_backwards: bool) -> Callable[..., Any]:
    def fold(
        fn: Callable[..., Any],
        sequences: Sequences,
        outputs_info: Initial,
        non_sequences: Others = None,
        mode: str | Mode | None = None,
        name: str | None = None,
        return_updates: bool = True,
        dim: Any = None,
    ) -> Any:
        return reduce(
            fn,
            sequences,
            outputs_info,
            non_sequences,
            go_backwards,
            mode,
            name,
            return_updates,
            dim,
        )

    return fold


foldl, foldr = _fold(False), _fold(True)


def filter(
    fn: Callable[..., Any],
    sequences: Sequences,
    non_sequences: Others = None,
    go_backwards: bool = False,
    mode: str | Mode | None = None,
    name: str | None = None,
    return_updates: bool = True,
    dim: Any = None,
) -> Any:
    over = as_list(sequences)
    if any(sequence_and_taps(leaf)[1] != [0] for x in sequence_entries(over) for leaf in x.leaves):
        raise ValueError("filter: the sequences have taps, which are not supported")

    def step(*given: Any) -> list[Any]:
        return [_scalar(fn(*given)), *given[: len(over)]]

    found = _loop(step, over, None, non_sequences, None, go_backwards, -1, False, name, dim)
    kept, *elements = found.traces()
    mask = _core.neq(kept, 0)
    chosen = [
        _core.tree_map(lambda x: x[mask], each, is_leaf=_core.is_registered) for each in elements
    ]
    return _answer(chosen, found.updates, return_updates)


def _scalar(condition: Any) -> Any:
    """A condition, which may be labelled, as a tensor."""
    leaves, _ = _core.tree_flatten(condition)
    return _core.as_tensor_variable(leaves[0] if len(leaves) == 1 else condition)


def _variables(given: Any) -> Any:
    """A tensor, or a tree of them, for what a user may give in its place."""
    if _is_tree(given):
        return _core.tree_map(_core.as_tensor_variable, given)
    return _core.as_tensor_variable(given)


def fori_loop(
    lower: Length, upper: Length, body: Callable[..., Any], *initial: TensorLike
) -> TensorVariable | list[TensorVariable] | None:
    lower = _core.cast(_core.as_tensor_variable(lower), "int64")
    count = _core.maximum(_core.cast(_core.as_tensor_variable(upper), "int64") - lower, 0)

    def step(i: Any, *states: Any) -> list[Any]:
        return [i + 1, *as_list(body(i, *states))]

    return _packed(_loop(step, None, [lower, *initial], None, count).finals()[1:])


def while_loop(
    condition: Callable[..., Any], body: Callable[..., Any], *initial: TensorLike, max_steps: Length
) -> TensorVariable | list[TensorVariable] | None:
    given: list[Any] = list(initial)
    start = _scalar(condition(*[_variables(each) for each in given]))

    def step(*states: Any) -> list[Any]:
        after = [_variables(each) for each in as_list(body(*states))]
        return [*after, until(_core.eq(_scalar(condition(*after)), 0))]

    count = _core.switch(start, _core.cast(_core.as_tensor_variable(max_steps), "int64"), 0)
    return _packed(_loop(step, None, given, None, count).finals())


def scan_checkpoints(
    fn: Callable[..., Any],
    sequences: Sequences = None,
    outputs_info: Initial = None,
    non_sequences: Others = None,
    name: str = "checkpointscan_fn",
    n_steps: Length | None = None,
    save_every_N: int = 10,
    padding: bool = True,
    return_updates: bool = True,
) -> Any:
    over = sequence_entries(sequences)
    for entry in [*over, *state_entries(outputs_info)]:
        if entry.options is not None:
            raise ValueError("scan_checkpoints: taps are not supported")
        if any(leaf is None for leaf in entry.leaves):
            raise ValueError("scan_checkpoints: each result needs an initial value")
    initial = [
        _core.constant(each, dtype=config.floatX) if isinstance(each, float) else each
        for each in as_list(outputs_info)
    ]
    inputs = [_core.as_tensor_variable(leaf) for entry in over for leaf in entry.leaves]
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
            rest = _core.zeros(
                [blocks * every - n_steps, *[each.shape[k] for k in range(1, each.ndim)]],
                each.dtype,
            )
            each = _core.concatenate([each, rest])
        stacks.append(
            _core.reshape(each, [blocks, every, *[each.shape[k] for k in range(1, each.ndim)]])
        )
    numbers = _core.arange(blocks) * every
    others = as_list(non_sequences)

    def block(first: Any, *arguments: Any) -> list[Any]:
        own, states = arguments[: len(stacks)], arguments[len(stacks) :]

        def step(number: Any, *given: Any) -> Any:
            elements, at = [], 0
            for entry in over:
                elements += entry.taken(list(given[at : at + len(entry.leaves)]))
                at += len(entry.leaves)
            outputs, condition, changes = _step_parts(fn(*elements, *given[at:]))
            if condition is not None or changes:
                raise ValueError(
                    "scan_checkpoints: the step returns `until` or updates, which are not supported"
                )
            if not padding:
                return outputs

            # After the last step, states keep their values.
            def kept(new: Any, old: Any) -> Any:
                return _core.switch(number < n_steps, new, old)

            before = given[at : at + len(outputs)]
            return [_core.tree_map(kept, new, old) for new, old in zip(outputs, before)]

        return _loop(
            step, [first + _core.arange(every), *own], list(states), others, every
        ).finals()

    found = _loop(block, [numbers, *stacks], initial, None, None, name=name)
    return _answer(found.traces(), found.updates, return_updates)


# What bitale.scan calls.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "scan": scan,
    "map": map,
    "reduce": reduce,
    "foldl": foldl,
    "foldr": foldr,
    "filter": filter,
    "fori_loop": fori_loop,
    "while_loop": while_loop,
    "scan_checkpoints": scan_checkpoints,
}

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

    def __init__(self, given: Any, keys: tuple[str, ...] = ()):
        self.options = None
        if keys and isinstance(given, Mapping) and any(key in given for key in keys):
            self.options, given = given, given.get(keys[0])
        # A list in the place of a tensor is stacked, as everywhere; labelled and sparse values step through no dimension.
        is_tree = _core.is_tree(given) and (
            hasattr(given, "_fields") or not isinstance(given, (list, tuple))
        )
        is_tree &= not (keys and _core.is_registered(given))
        leaves, structure = _core.tree_flatten(given) if is_tree else ([given], None)
        self.structure = structure
        if self.options is not None:
            plain = dict(self.options)
            leaves = [{**plain, keys[0]: leaf} if keys[0] in plain else plain for leaf in leaves]
        self.leaves = leaves

    def taken(self, arguments: list[Any]) -> list[Any]:
        """The arguments of a step that belong to the entry, in the place of those of its leaves."""
        if self.structure is None:
            return arguments
        taps = len(arguments) // len(self.leaves)
        return [self.structure.unflatten(arguments[tap::taps]) for tap in range(taps)]


class _Step:
    """A step of trees as one of tensors."""

    def __init__(
        self, fn: Callable[..., Any], entries: list[tuple[_Entry, int]], states: list[_Entry]
    ):
        self.fn, self.entries, self.states = fn, entries, states
        self.forms: list[Any] | None = None  # of the results, if one is a tree

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
        if not any(expected) and not any(isinstance(x, dict) or hasattr(x, "_fields") for x in own):
            return result
        out: list[Any] = []
        self.forms = []
        for part in parts:
            if not any(part is x for x in own):
                out.append(part)
                continue
            k = len(self.forms)
            form = expected[k] if k < len(expected) else None
            if form is None:
                leaves, form = _core.tree_flatten(part)
            else:
                leaves = form.flatten_like(part, f"scan: result {k}")
            out += leaves
            self.forms.append(form)
        return out

    def packed(self, values: list[Any]) -> list[Any]:
        """The values of the results, of which some are trees."""
        if self.forms is None:
            return values
        out, at = [], 0
        for form in self.forms:
            out.append(form.unflatten(values[at : at + form.num_leaves]))
            at += form.num_leaves
        return out


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
) -> tuple[list[TensorVariable], list[Any], Variable, SharedUpdates]:
    """The values of each result after each step, the last ones (None where no later step reads them), the number of steps and the updates."""
    over = [_Entry(each, ("input", "taps")) for each in as_list(sequences)]
    states = [
        _Entry(each, ("initial", "taps", "return_steps", "inplace"))
        for each in as_list(outputs_info)
    ]
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
    )
    traces, finals, steps, changed = built(builder, step, name)
    return step.packed(traces), step.packed(finals), steps, changed


def built(
    builder: Any, fn: Callable[..., Any], name: str | None
) -> tuple[list[Any], list[Any], Variable, SharedUpdates]:
    """What a builder of loops makes of a step: the results, the last values, the number of steps and the updates."""
    while True:
        with collect_new_shareds() as created:
            outputs, condition, updates = _step_parts(fn(*builder.arguments()))
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
    return list(traces), list(finals), steps, changed


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
) -> Any:
    traces, _, _, updates = _loop(
        fn,
        sequences,
        outputs_info,
        non_sequences,
        n_steps,
        go_backwards,
        truncate_gradient,
        strict,
        name,
    )
    out = _packed(traces, return_list)
    return (out, updates) if return_updates else out


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
) -> Any:
    traces, _, _, updates = _loop(
        fn, sequences, None, non_sequences, None, go_backwards, truncate_gradient, False, name
    )
    return _answer(traces, updates, return_updates)


def reduce(
    fn: Callable[..., Any],
    sequences: Sequences,
    outputs_info: Initial,
    non_sequences: Others = None,
    go_backwards: bool = False,
    mode: str | Mode | None = None,
    name: str | None = None,
    return_updates: bool = True,
) -> Any:
    traces, finals, _, updates = _loop(
        fn, sequences, outputs_info, non_sequences, None, go_backwards, -1, False, name
    )
    last = [trace[-1] if final is None else final for trace, final in zip(traces, finals)]
    return _answer(last, updates, return_updates)


def _fold(go_backwards: bool) -> Callable[..., Any]:
    def fold(
        fn: Callable[..., Any],
        sequences: Sequences,
        outputs_info: Initial,
        non_sequences: Others = None,
        mode: str | Mode | None = None,
        name: str | None = None,
        return_updates: bool = True,
    ) -> Any:
        return reduce(
            fn, sequences, outputs_info, non_sequences, go_backwards, mode, name, return_updates
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
) -> Any:
    kept, updates = map(fn, sequences, non_sequences, -1, go_backwards, mode, name)
    given = [_core.as_tensor_variable(sequence_and_taps(each)[0]) for each in as_list(sequences)]
    mask = _core.neq(kept, 0)
    chosen = [(each[::-1] if go_backwards else each)[mask] for each in given]
    return _answer(chosen, updates, return_updates)


def fori_loop(
    lower: Length, upper: Length, body: Callable[..., Any], *initial: TensorLike
) -> TensorVariable | list[TensorVariable] | None:
    lower = _core.cast(_core.as_tensor_variable(lower), "int64")
    count = _core.maximum(_core.cast(_core.as_tensor_variable(upper), "int64") - lower, 0)

    def step(i: Any, *states: Any) -> list[Any]:
        return [i + 1, *as_list(body(i, *states))]

    _, finals, _, _ = _loop(step, None, [lower, *initial], None, count)
    return _packed(finals[1:])


def while_loop(
    condition: Callable[..., Any], body: Callable[..., Any], *initial: TensorLike, max_steps: Length
) -> TensorVariable | list[TensorVariable] | None:
    given: list[Any] = list(initial)
    start = condition(*[_core.as_tensor_variable(each) for each in given])

    def step(*states: Any) -> tuple[list[Any], until]:
        after = [_core.as_tensor_variable(each) for each in as_list(body(*states))]
        return after, until(_core.eq(condition(*after), 0))

    count = _core.switch(start, _core.cast(_core.as_tensor_variable(max_steps), "int64"), 0)
    _, finals, _, _ = _loop(step, None, given, None, count)
    return _packed(finals)


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
    inputs = [_core.as_tensor_variable(each) for each in as_list(sequences)]
    initial = [
        _core.constant(each, dtype=config.floatX) if isinstance(each, float) else each
        for each in as_list(outputs_info)
    ]
    for each in [*initial, *as_list(sequences)]:
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
            outputs, condition, changes = _step_parts(fn(*given))
            if condition is not None or changes:
                raise ValueError(
                    "scan_checkpoints: the step returns `until` or updates, which are not supported"
                )
            if not padding:
                return outputs
            # After the last step, states keep their values.
            before = given[len(own) : len(own) + len(outputs)]
            return [_core.switch(number < n_steps, new, old) for new, old in zip(outputs, before)]

        _, finals, _, _ = _loop(
            step, [first + _core.arange(every), *own], list(states), others, every
        )
        return [final for final in finals if final is not None]

    traces, _, _, updates = _loop(block, [numbers, *stacks], initial, None, None, name=name)
    return _answer(traces, updates, return_updates)


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

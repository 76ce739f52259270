"""scan on values, as a plain loop."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from .values import Val, val


def stacked(rows: list[Val], like: Val, length: int) -> Val:
    """Rows stacked along a new first axis of this length, padded with zeros; `like` has the shape of a row, for a loop
    without steps."""
    out = np.zeros((length, *like.shape), like.array.dtype)
    for k, row in enumerate(rows):
        out[k] = row.array
    return Val(out, like.dtype)


def element(sequence: Val, t: int) -> Val:
    return Val(sequence.array[t], sequence.dtype)


def dummy(sequence: Val) -> Val:
    """Zeros with the shape and dtype of an element."""
    return Val(np.zeros(sequence.shape[1:], sequence.array.dtype), sequence.dtype)


class until:
    """A stop condition returned by a step: if it holds, the loop ends after this step."""

    def __init__(self, condition: Any):
        self.condition = val(condition)


def scan(
    fn: Callable[..., Any],
    sequences: Any = (),
    outputs_info: Any = (),
    non_sequences: Any = (),
    n_steps: Any = None,
    go_backwards: bool = False,
    return_updates: bool = False,
) -> Any:
    def listed(x: Any) -> list[Any]:
        return list(x) if isinstance(x, (list, tuple)) else [x]

    assert not return_updates
    whole, initial, others = (
        [val(x) for x in listed(sequences)],
        listed(outputs_info),
        [val(x) for x in listed(non_sequences)],
    )
    initial = [None if x is None else val(x) for x in initial]
    n_steps = None if n_steps is None else int(val(n_steps).array)
    length = min([len(x.array) for x in whole] + ([] if n_steps is None else [n_steps]))
    if n_steps is not None and any(len(x.array) < n_steps for x in whole):
        raise ValueError("a sequence is shorter than the loop")

    def step(elements: list[Val], states: list[Val | None]) -> tuple[list[Val], bool]:
        results = listed(fn(*elements, *(s for s in states if s is not None), *others))
        ends = any(bool(x.condition.array) for x in results if isinstance(x, until))
        return [val(x) for x in results if not isinstance(x, until)], ends

    states, traces, made = list(initial), None, 0
    for t in range(length):
        elements = [element(x, len(x.array) - 1 - t if go_backwards else t) for x in whole]
        results, ends = step(elements, states)
        made += 1
        traces = traces or [[] for _ in results]
        for k, result in enumerate(results):
            if (
                initial
                and initial[k] is not None
                and (result.shape != states[k].shape or result.dtype != states[k].dtype)
            ):
                raise ValueError("a state changes")
            traces[k].append(result)
        states = [None if s is None else r for s, r in zip(states, results)]
        if ends:
            break
    rows = [trace[0] for trace in traces] if traces else step([dummy(x) for x in whole], states)[0]
    out = [stacked(trace, row, made) for trace, row in zip(traces or [[] for _ in rows], rows)]
    return out if len(out) > 1 else out[0]

"""Scan. PyTensor's writes its results into buffers that hold the initial values, too; Bitale's has states and traces, which are joined here.

A result with taps back to -m is a chain of m states: the latest value, the one before, and so on. A buffer that a step both reads and changes at
several elements (a mit-mot, as gradients have them) is a window of states that moves over it: each step the next element of the buffer enters, and the
oldest, which no later step touches, leaves and is a trace.
"""

from __future__ import annotations

from typing import Any

from pytensor.scan.op import Scan

import bitale.tensor as pt
from bitale.pytensor import lengths
from bitale.pytensor.conversion import Conversion, with_conversion
from bitale.pytensor.loop import Loop
from bitale.pytensor.registry import NotConverted, converts
from bitale.pytensor.types import fitted


def _joined(parts: list[Any]) -> Any:
    return parts[0] if len(parts) == 1 else pt.join(0, *parts)


class _Chain:
    """A result that a step takes the last m values of. The buffer starts with these."""

    def __init__(self, loop: Loop, buffer: Any, taps: tuple[int, ...], row: Any):
        self.loop, self.buffer, self.taps, self.m = loop, buffer, taps, -min(taps)
        self.results = [
            loop.add_result(fitted(buffer[self.m - back], row)) for back in range(1, self.m + 1)
        ]

    def inner_inputs(self) -> list[Any]:
        return [self.loop.states[self.results[-tap - 1]] for tap in self.taps]

    def set(self, value: Any) -> None:
        for result, after in zip(
            self.results, [value, *(self.loop.states[k] for k in self.results)]
        ):
            self.loop.values[result] = after

    def output(self, variable: Any, n_steps: lengths.Sum, is_while: bool) -> Any:
        size = lengths.length(variable, 0)  # of the buffer
        if lengths.number(size) == self.m:
            return _joined([pt.expand_dims(self.loop.finals[k], 0) for k in reversed(self.results)])
        return _kept(
            self.loop,
            pt.join(0, self.buffer[: self.m], self.loop.traces[self.results[0]]),
            self.m,
            pt.shape_i(self.buffer, 0),
            size,
            n_steps,
            is_while,
        )


def _kept(
    loop: Loop,
    values: Any,
    before: int,
    length: Any,
    size: lengths.Sum,
    n_steps: lengths.Sum,
    is_while: bool,
) -> Any:
    """What a buffer of some length holds at the end of the values that were written to it in turn, `before` of which are initial ones:
    the last of them, or all and then zeros; with `until`, nothing instead of zeros."""
    missing = lengths.difference(
        lengths.shifted(n_steps, before), size
    )  # how many of the values have been overwritten
    if is_while:
        return (
            values
            if missing is not None and missing <= 0
            else values[pt.maximum(loop.steps + before - length, 0) :]
        )
    if missing == 0:
        return values
    if missing is not None and missing > 0:
        return values[missing:]
    written = loop.n_steps + before
    zeros = pt.zeros(
        [pt.maximum(length - written, 0), *(pt.shape_i(values, k) for k in range(1, values.ndim))],
        dtype=values.dtype,
    )
    return pt.join(
        0, values if missing is not None else values[pt.maximum(written - length, 0) :], zeros
    )


class _Window:
    """A buffer of which a step reads some elements, and sets some."""

    def __init__(
        self,
        loop: Loop,
        buffer: Any,
        reads: tuple[int, ...],
        writes: tuple[int, ...],
        n_steps: Any,
        row: Any,
    ):
        oldest = -min(0, *reads, *writes)
        self.loop, self.buffer = loop, buffer
        self.reads, self.writes = [at + oldest for at in reads], [at + oldest for at in writes]
        self.first, self.last = min(*self.reads, *self.writes), max(*self.reads, *self.writes)
        self.entering = loop.add_sequence(buffer[self.last : self.last + n_steps])
        self.results = [
            loop.add_result(fitted(buffer[at], row)) for at in range(self.first, self.last)
        ]
        self.leaving = loop.add_result()

    def _elements(self) -> dict[int, Any]:
        """What each position of the window holds before a step."""
        held = {
            at: self.loop.states[k] for at, k in zip(range(self.first, self.last), self.results)
        }
        return {**held, self.last: self.loop.elements[self.entering]}

    def inner_inputs(self) -> list[Any]:
        elements = self._elements()
        return [elements[at] for at in self.reads]

    def set(self, values: list[Any]) -> None:
        elements = {**self._elements(), **dict(zip(self.writes, values))}
        self.loop.values[self.leaving] = elements[self.first]
        for at, k in zip(range(self.first, self.last), self.results):
            self.loop.values[k] = elements[at + 1]

    def output(self, variable: Any, n_steps: lengths.Sum) -> Any:
        parts = [
            self.loop.traces[self.leaving],
            *(pt.expand_dims(self.loop.finals[k], 0) for k in self.results),
        ]
        if self.first > 0:
            parts.insert(0, self.buffer[: self.first])
        beyond = lengths.difference(
            lengths.length(variable, 0), lengths.shifted(n_steps, self.last)
        )
        if beyond != 0:
            parts.append(self.buffer[self.loop.n_steps + self.last :])
        return _joined(parts)


def _grouped(variables: list[Any], taps: Any) -> list[list[Any]]:
    at = iter(variables)
    return [[next(at) for _ in each] for each in taps]


@converts(Scan)
@with_conversion
def _scan(conversion: Conversion, op: Any, node: Any, n_steps: Any, *inputs: Any) -> Any:
    info, given = op.info, [n_steps, *inputs]
    if info.as_while and info.n_mit_mot:
        raise NotConverted("a loop with `until` that changes elements of a buffer")
    inner, variables = op.fgraph, node.inputs
    loop, count = Loop(), lengths.value(variables[0])
    for x in op.outer_seqs(given):
        loop.add_sequence(x)
    windows = [
        _Window(loop, buffer, reads, writes, n_steps, rows[0].type)
        for buffer, reads, writes, rows in zip(
            op.outer_mitmot(given),
            info.mit_mot_in_slices,
            info.mit_mot_out_slices,
            _grouped(op.inner_mitmot(inner.inputs), info.mit_mot_in_slices),
        )
    ]
    rows = [
        group[0].type for group in _grouped(op.inner_mitsot(inner.inputs), info.mit_sot_in_slices)
    ] + [x.type for x in op.inner_sitsot(inner.inputs)]
    chains = [
        _Chain(loop, buffer, taps, row)
        for buffer, taps, row in zip(
            [*op.outer_mitsot(given), *op.outer_sitsot(given)],
            info.mit_sot_in_slices + info.sit_sot_in_slices,
            rows,
        )
    ]
    traces = [loop.add_result() for _ in range(info.n_nit_sot)]
    states = [loop.add_result(x) for x in op.outer_untraced_sit_sot(given)]
    loop.begin(n_steps, op.name or "")

    leaves = [
        *loop.elements[: info.n_seqs],
        *(x for window in windows for x in window.inner_inputs()),
        *(x for chain in chains for x in chain.inner_inputs()),
        *(loop.states[k] for k in states),
        *op.outer_non_seqs(given),
    ]
    values = [
        fitted(value, x.type) for value, x in zip(conversion.inner(inner, leaves), inner.outputs)
    ]
    at = iter(values)
    for window in windows:
        window.set([next(at) for _ in window.writes])
    for chain in chains:
        chain.set(next(at))
    for k in (*traces, *states):
        loop.values[k] = next(at)
    loop.finish(next(at) if info.as_while else None)

    made = [window.output(x, count) for window, x in zip(windows, op.outer_mitmot(variables))]
    tapped = [*op.outer_mitsot(variables), *op.outer_sitsot(variables)]
    made += [chain.output(x, count, info.as_while) for chain, x in zip(chains, tapped)]
    sizes = zip(op.outer_nitsot(given), op.outer_nitsot(variables))
    made += [
        _kept(loop, loop.traces[k], 0, size, lengths.value(x), count, info.as_while)
        for k, (size, x) in zip(traces, sizes)
    ]
    return made + [loop.finals[k] for k in states]

"""A loop of Bitale by its parts, for converters of loops."""

from __future__ import annotations

from typing import Any

from bitale import _core, tensor


class Loop:
    """A loop by its parts. Results are numbered: with an initial value they are states, without they are traces alone."""

    def __init__(self) -> None:
        self.sequences: list[Any] = []
        self.initial: list[Any] = []  # of each result; None: no step uses an earlier value

    def add_sequence(self, x: Any) -> int:
        self.sequences.append(x)
        return len(self.sequences) - 1

    def add_result(self, initial: Any = None) -> int:
        self.initial.append(initial)
        return len(self.initial) - 1

    def begin(self, n_steps: Any, name: str) -> None:
        """Makes the variables that stand for values in a step: an element of each sequence, and each state."""
        self.n_steps = n_steps
        initial = [(x, [] if x is None else [-1], False) for x in self.initial]
        self._builder = _core.ScanBuilder(
            [(x, [0]) for x in self.sequences], initial, [], n_steps, False, -1, False, name
        )
        leaves = list(self._builder.arguments())
        self.elements = leaves[: len(self.sequences)]
        self.states: list[Any] = [None] * len(self.initial)
        for k, leaf in zip(
            (k for k, x in enumerate(self.initial) if x is not None), leaves[len(self.sequences) :]
        ):
            self.states[k] = leaf
        self.values: list[Any] = [None] * len(self.initial)  # of each result after a step

    def finish(self, until: Any) -> None:
        if (
            until is not None and until.dtype != "bool"
        ):  # PyTensor treats any nonzero number as true
            until = tensor.neq(until, 0)
        self.traces, self.finals, self.steps, _ = self._builder.finish(self.values, until, [])

"""Linkers of compiled functions: those of the library as objects, and the code of those that are written in Python."""

from __future__ import annotations

import copy
import threading
from typing import Any

from bitale import _core
from bitale._core import FunctionGraph
from bitale.graph.basic import Constant
from bitale.link.basic import Linker, OpWiseCLinker
from bitale.link.vm import VMLinker


def linker_object(linker: _core.Linker) -> Linker:
    """A linker of the library as an object of the class that has its name in PyTensor."""
    kinds: dict[str, type[Linker]] = {"vm": VMLinker, "opwise": OpWiseCLinker}
    if linker.name in kinds and linker == _core.Linker(linker.name, allow_gc=linker.allow_gc):
        return kinds[linker.name](allow_gc=linker.allow_gc)
    return Linker(linker)


class GraphCode:
    """What runs a graph that a linker written in Python has linked: a function from the inputs' values to the outputs'."""

    def __init__(self, linker: Any, fgraph: FunctionGraph):
        accepted = copy.copy(linker).accept(fgraph, list(fgraph.outputs))
        cells: list[list[Any]] = [[None] for _ in fgraph.inputs]
        thunk, inputs, outputs = accepted.make_thunk(input_storage=cells)[:3]
        self.thunk = thunk
        self.inputs = [_cell(container) for container in inputs]
        self.outputs = [_cell(container) for container in outputs]
        self.is_constant = [isinstance(variable, Constant) for variable in fgraph.outputs]
        self.lock = threading.Lock()

    def __call__(self, values: list[Any]) -> list[Any]:
        with self.lock:  # the cells belong to one call at a time
            try:
                for cell, value in zip(self.inputs, values):
                    cell[0] = value
                values.clear()
                self.thunk()
                return [cell[0] for cell in self.outputs]
            finally:
                for cell in self.inputs:
                    cell[0] = None
                for cell, is_constant in zip(self.outputs, self.is_constant):
                    if not is_constant:
                        cell[0] = None


def _cell(container: Any) -> list[Any]:
    return container if isinstance(container, list) else container.storage


def stored_nan_guard(*options: Any) -> Linker:
    """NanGuardMode's linker that pickle has stored."""
    return Linker(_core.make_nan_guard_linker(*options))

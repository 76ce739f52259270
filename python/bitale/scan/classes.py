"""The class of the ops of loops: `isinstance(node.op, Scan)` asks for one; its inner graph, and how many sequences and states it has, are
attributes."""

from __future__ import annotations

import dataclasses
from typing import Any

from bitale import _core
from bitale._class_factory import op_class
from bitale.graph.fg import FunctionGraph

__all__ = ["Scan", "ScanInfo", "ScanMethodsMixin"]


@dataclasses.dataclass(frozen=True)
class ScanInfo:
    """What a loop has, in PyTensor's terms. A state that reads several earlier steps is several states here, each of the step before."""

    n_seqs: int
    mit_mot_in_slices: tuple[Any, ...]
    mit_mot_out_slices: tuple[Any, ...]
    mit_sot_in_slices: tuple[Any, ...]
    sit_sot_in_slices: tuple[Any, ...]
    n_nit_sot: int
    n_untraced_sit_sot: int
    n_non_seqs: int
    as_while: bool

    @property
    def n_mit_mot(self) -> int:
        return len(self.mit_mot_in_slices)

    @property
    def n_mit_sot(self) -> int:
        return len(self.mit_sot_in_slices)

    @property
    def n_sit_sot(self) -> int:
        return len(self.sit_sot_in_slices)


class ScanMethodsMixin:
    """The inner graph of a loop, by attributes of its op."""

    __slots__ = ()

    @property
    def inner_inputs(self: Any) -> list[Any]:
        """An element of each sequence, the states, and what each step reads besides."""
        return list(_core.inner_graph_of(self)[0])

    @property
    def inner_outputs(self: Any) -> list[Any]:
        """The new states, the results that are kept, and the condition that ends the loop, where it has one."""
        return list(_core.inner_graph_of(self)[1])

    @property
    def fgraph(self: Any) -> FunctionGraph:
        """A copy of the inner graph."""
        inputs, outputs = _core.inner_graph_of(self)
        return FunctionGraph(list(inputs), list(outputs), clone=True)

    @property
    def info(self: Any) -> ScanInfo:
        """How many sequences, states and other inputs there are."""
        inputs, outputs = _core.inner_graph_of(self)
        of: dict[str, Any] = dict(self.__props__)
        until = bool(of["until"])
        return ScanInfo(
            n_seqs=of["sequences"],
            mit_mot_in_slices=(),
            mit_mot_out_slices=(),
            mit_sot_in_slices=(),
            sit_sot_in_slices=((-1,),) * of["states"],
            n_nit_sot=len(outputs) - of["states"] - until,
            n_untraced_sit_sot=0,
            n_non_seqs=len(inputs) - of["sequences"] - of["states"],
            as_while=until,
        )


_members: dict[str, Any] = {
    name: value for name, value in vars(ScanMethodsMixin).items() if isinstance(value, property)
}
Scan = op_class("Scan", "A loop: its ops are made by bitale.scan.", module=__name__, **_members)

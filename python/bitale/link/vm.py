"""The virtual machine under PyTensor's name."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from bitale._core import Apply, FunctionGraph, NodeThunk, Variable
from bitale.link.basic import LocalLinker, PerformLinker

__all__ = ["VMLinker"]


def _run_and_notify(
    callback: Callable[..., Any], fgraph: Any, i: int, node: Any, thunk: NodeThunk
) -> None:
    thunk()
    storage_map = dict(zip([*node.inputs, *node.outputs], [*thunk.inputs, *thunk.outputs]))
    compute_map = {variable: [True] for variable in storage_map}
    callback(node=node, thunk=thunk, storage_map=storage_map, compute_map=compute_map)


class VMLinker(PerformLinker):
    """The virtual machine, which runs each op's perform (PyTensor's pytensor.link.vm.VMLinker).

    allow_gc: release a value as soon as no node needs it; default: config.allow_gc. callback(node=,
    thunk=, storage_map=, compute_map=) is called after each node, with maps of the node's own
    inputs and outputs; callback_input(variable, value) with each input and constant before the
    first node. schedule: a function from a FunctionGraph to the list of its nodes in the order in
    which they are to run. c_thunks: native code for nodes where there is some, as in OpWiseCLinker.
    use_cloop, lazy and allow_partial_eval are accepted: it always evaluates as little as it can.
    """

    def __init__(
        self,
        allow_gc: bool | None = None,
        use_cloop: bool = False,
        callback: Callable[..., Any] | None = None,
        callback_input: Callable[..., Any] | None = None,
        lazy: bool | None = None,
        schedule: Callable[[FunctionGraph], Sequence[Apply]] | None = None,
        c_thunks: bool | None = None,
        allow_partial_eval: bool | None = None,
    ):
        wrapper = None if callback is None else functools.partial(_run_and_notify, callback)
        node_linkers = ["opwise" if c_thunks else "vm"]
        LocalLinker.__init__(self, "vm", node_linkers, wrapper, callback_input, allow_gc, schedule)
        self.use_cloop, self.lazy, self.c_thunks = use_cloop, lazy, c_thunks
        self.callback, self.callback_input = callback, callback_input
        self.allow_partial_eval = allow_partial_eval

    def _thunk(
        self, node: Apply, cells: dict[Variable, list[Any]], compute_map: dict[Variable, list[bool]]
    ) -> Any:
        thunk = super()._thunk(node, cells, compute_map)
        if self.callback is None:
            return thunk

        def told() -> None:
            thunk()
            self.callback(node=node, thunk=thunk, storage_map=cells, compute_map=compute_map)  # type: ignore[misc]

        made: Any = told
        made.inputs, made.outputs = thunk.inputs, thunk.outputs
        return told

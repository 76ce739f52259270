"""What can be attached to a FunctionGraph to watch, record, check or refuse its changes.

Names and roles are those of pytensor.graph.features and pytensor.graph.destroyhandler. ReplaceValidate, MergeFeature and
PreserveVariableAttributes are missing on purpose: every FunctionGraph replaces all or nothing (`replace_validate` and
its kin are methods), merges equal nodes, and passes names on to what stands for them.
"""

from __future__ import annotations

from typing import Any, Callable

from bitale import _core
from bitale._core import (
    AlreadyThere,
    ChangeTracker,
    CheckStackTraceFeature,
    DestroyHandler,
    Feature,
    FullHistory,
    FunctionGraph,
    History,
    InconsistencyError,
    NodeFinder,
    NoOutputFromInplace,
    NoOutputInplaceOnInput,
    PrintListener,
    ReplacementDidNotRemoveError,
    ShapeFeature,
    Supervisor,
    Validator,
)

__all__ = [
    "AlreadyThere",
    "Bookkeeper",
    "ChangeTracker",
    "CheckStackTraceFeature",
    "DestroyHandler",
    "DispatchingFeature",
    "Feature",
    "FullHistory",
    "FunctionGraph",
    "History",
    "InconsistencyError",
    "NoOutputFromInplace",
    "NoOutputInplaceOnInput",
    "NodeFinder",
    "PrintListener",
    "ReplacementDidNotRemoveError",
    "ShapeFeature",
    "Supervisor",
    "Validator",
]

for _class in vars(_core).copy().values():
    if isinstance(_class, type) and issubclass(_class, Feature):
        _class.__module__ = __name__


class Bookkeeper(Feature):
    """Sees the nodes that are there when it is attached as imports, and those left when it is detached as pruned."""

    def on_attach(self, fgraph: FunctionGraph) -> None:
        for node in fgraph.toposort():
            self.on_import(fgraph, node, "on_attach")

    def on_detach(self, fgraph: FunctionGraph) -> None:
        for node in fgraph.toposort():
            self.on_prune(fgraph, node, "on_detach")


class DispatchingFeature(Feature):
    """Calls functions; those that are left out do nothing."""

    def __init__(
        self,
        on_attach: Callable[..., Any] | None = None,
        on_detach: Callable[..., Any] | None = None,
        on_import: Callable[..., Any] | None = None,
        on_change_input: Callable[..., Any] | None = None,
        on_prune: Callable[..., Any] | None = None,
        on_validate: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__()
        self._callbacks = {
            "on_attach": on_attach,
            "on_detach": on_detach,
            "on_import": on_import,
            "on_change_input": on_change_input,
            "on_prune": on_prune,
            "on_validate": on_validate,
        }

    def _call(self, callback: str, *arguments: Any) -> None:
        function = self._callbacks[callback]
        if function is not None:
            function(*arguments)

    def on_attach(self, fgraph: FunctionGraph) -> None:
        self._call("on_attach", fgraph)

    def on_detach(self, fgraph: FunctionGraph) -> None:
        self._call("on_detach", fgraph)

    def on_import(self, fgraph: FunctionGraph, node: Any, reason: str) -> None:
        self._call("on_import", fgraph, node, reason)

    def on_change_input(
        self, fgraph: FunctionGraph, node: Any, i: int, var: Any, new_var: Any, reason: str
    ) -> None:
        self._call("on_change_input", fgraph, node, i, var, new_var, reason)

    def on_prune(self, fgraph: FunctionGraph, node: Any, reason: str) -> None:
        self._call("on_prune", fgraph, node, reason)

    def on_validate(self, fgraph: FunctionGraph) -> None:
        self._call("on_validate", fgraph)

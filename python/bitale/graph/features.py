"""Features, which are attached to a FunctionGraph to watch, record, check or refuse its changes.

Names and roles are those of pytensor.graph.features and pytensor.graph.destroyhandler. Every
FunctionGraph does what ReplaceValidate and PreserveVariableAttributes do: it replaces all or
nothing (`replace_validate` and similar functions are methods), and passes names on to replacements.
These two features exist for programs that attach them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bitale import _core
from bitale._core import BadOptimization as BadOptimization
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
    "HistoryEntry",
    "InconsistencyError",
    "LambdaExtract",
    "NoOutputFromInplace",
    "NoOutputInplaceOnInput",
    "NodeFinder",
    "PreserveVariableAttributes",
    "PrintListener",
    "ReplaceValidate",
    "ReplacementDidNotRemoveError",
    "ShapeFeature",
    "Supervisor",
    "Validator",
    "register_feature_callback",
]

for _class in vars(_core).copy().values():
    if isinstance(_class, type) and issubclass(_class, Feature):
        _class.__module__ = __name__


class Bookkeeper(Feature):
    """Receives the nodes present at attachment as imports, and those left at detachment as pruned."""

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

    def clone(self) -> DispatchingFeature:
        return type(self)(**self._callbacks)


def register_feature_callback(method: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a method of a feature as one that `execute_callbacks` and `collect_callbacks` call.

    Parameters
    ----------
    method : callable
        Method.

    Returns
    -------
    callable
        The method. It needs no mark here: a graph calls any method of its features by name.
    """
    method._is_feature_callback = True  # type: ignore[attr-defined]
    return method


@dataclass
class HistoryEntry:
    """That input i of a node was var, before a change for this reason."""

    node: Any
    i: int
    var: Any
    reason: Any = None


class LambdaExtract:
    """A change of one input as a function that makes it: sets input i of a node to r."""

    def __init__(self, fgraph: FunctionGraph, node: Any, i: int, r: Any, reason: Any = None):
        self.fgraph, self.node, self.i, self.r, self.reason = fgraph, node, i, r, reason

    def __call__(self) -> None:
        self.fgraph.change_node_input(
            self.node, self.i, self.r, reason=f"Revert {self.reason}", check=False
        )


class ReplaceValidate(Feature):
    """Replacements that all features accept: `replace_validate`, `replace_all_validate` and `replace_all_validate_remove`,
    which every graph has as methods; and `checkpoint` and `revert` of History, which is attached with it."""

    def on_attach(self, fgraph: FunctionGraph) -> None:
        if any(isinstance(feature, ReplaceValidate) for feature in fgraph.features):
            raise AlreadyThere("ReplaceValidate: the graph has one already")
        fgraph.attach_feature(History())

    def clone(self) -> ReplaceValidate:
        return type(self)()

    def replace_validate(self, fgraph: FunctionGraph, r: Any, new_r: Any, **options: Any) -> None:
        """`fgraph.replace_validate(r, new_r, ...)`."""
        fgraph.replace_validate(r, new_r, **options)

    def replace_all_validate(
        self, fgraph: FunctionGraph, replacements: Any, **options: Any
    ) -> None:
        """`fgraph.replace_all_validate(replacements, ...)`."""
        fgraph.replace_all_validate(replacements, **options)

    def replace_all_validate_remove(
        self, fgraph: FunctionGraph, replacements: Any, remove: Any, **options: Any
    ) -> None:
        """`fgraph.replace_all_validate_remove(replacements, remove, ...)`."""
        fgraph.replace_all_validate_remove(replacements, remove, **options)

    def validate(self, fgraph: FunctionGraph) -> None:
        """`fgraph.validate()`."""
        fgraph.validate()

    def consistent(self, fgraph: FunctionGraph) -> bool:
        """`fgraph.consistent()`."""
        return fgraph.consistent()


class PreserveVariableAttributes(Feature):
    """Replacements take over the names of what they replace, and whether NanGuardMode checks it. Every graph does this."""

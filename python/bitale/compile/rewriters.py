"""The database of rewrites as PyTensor's module of modes has it: queries by name, and rewriters for the pipeline of compiling."""

from __future__ import annotations

from typing import Any

from bitale import _core
from bitale.graph.features import DestroyHandler, Feature, Supervisor
from bitale.graph.fg import FunctionGraph
from bitale.graph.rewriting.basic import GraphRewriter
from bitale.graph.rewriting.db import RewriteDatabaseQuery, core_query, optdb, query_object
from bitale.printing import debugprint

__all__ = [
    "AddDestroyHandler",
    "AddFeatureOptimizer",
    "PrintCurrentFunctionGraph",
    "local_useless",
    "optdb",
    "register_optimizer",
]  # and what __getattr__ makes: predefined_optimizers and the constants OPT_...

local_useless = optdb["useless"]

_CONSTANTS = {
    "OPT_NONE": "None",
    "OPT_MINIMUM": "minimum_compile",
    "OPT_MERGE": "merge",
    "OPT_FAST_RUN": "fast_run",
    "OPT_FAST_RUN_STABLE": "fast_run_stable",
    "OPT_FAST_COMPILE": "fast_compile",
    "OPT_STABILIZE": "stabilize",
    "OPT_O2": "o2",
    "OPT_O3": "o3",
    "OPT_UNSAFE": "unsafe",
}


def _query(optimizer: str, name: str | None = None) -> RewriteDatabaseQuery:
    out = query_object(_core.query_of_optimizer(optimizer))
    out.name = name or optimizer
    return out


def __getattr__(name: str) -> Any:
    if name in _CONSTANTS:
        return _query(_CONSTANTS[name], name)
    if name == "predefined_optimizers":
        return {None: _query("None"), **{each: _query(each) for each in _core.optimizer_names()}}
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def register_optimizer(name: str, opt: Any) -> None:
    """Give a query, or a graph rewriter, a name by which modes find it as their optimizer.

    Parameters
    ----------
    name : str
        Name.
    opt : RewriteDatabaseQuery or GraphRewriter
        What the name stands for.

    Raises
    ------
    ValueError
        For a name that is taken.
    """
    _core.register_optimizer(name, core_query(opt))


class AddDestroyHandler(GraphRewriter):
    """Allows ops that write over inputs from its position on: a DestroyHandler orders them, and a Supervisor protects the
    graph's inputs."""

    def apply(self, fgraph: FunctionGraph) -> None:
        """Nothing."""

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        """Attach both."""
        fgraph.attach_feature(DestroyHandler())
        if not any(isinstance(each, Supervisor) for each in fgraph.features):
            fgraph.attach_feature(Supervisor(fgraph.inputs))


class AddFeatureOptimizer(GraphRewriter):
    """Attaches a feature to a graph.

    Parameters
    ----------
    feature : Feature
        Feature.
    """

    def __init__(self, feature: Feature) -> None:
        self.feature = feature

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        """Attach the feature."""
        fgraph.attach_feature(self.feature)

    def apply(self, fgraph: FunctionGraph) -> None:
        """Nothing."""


class PrintCurrentFunctionGraph(GraphRewriter):
    """Prints a graph as it is at its position.

    Parameters
    ----------
    header : str
        Text that is printed before.
    """

    def __init__(self, header: str) -> None:
        self.header = header

    def apply(self, fgraph: FunctionGraph) -> None:
        """Print the graph."""
        print("PrintCurrentFunctionGraph:", self.header)
        debugprint(fgraph.outputs)

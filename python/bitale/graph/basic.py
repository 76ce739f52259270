"""The nodes of expression graphs."""

from bitale._core import (
    Apply,
    Constant,
    Variable,
    ancestors,
    clone,
    equal_computations,
    explicit_graph_inputs,
    graph_inputs,
    toposort,
)

for _class in (Apply, Variable):
    _class.__module__ = __name__
del _class

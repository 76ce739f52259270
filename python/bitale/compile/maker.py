"""The steps of function(): the graph, rewriting, linking, and the callable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bitale._core import FunctionGraph, FunctionMaker, Variable
from bitale._geography import finder
from bitale.compile.io import In

__all__ = ["FunctionMaker", "std_fgraph"]

FunctionMaker.__module__ = __name__


def std_fgraph(
    input_specs: Sequence[Variable | In], output_specs: Any, accept_inplace: bool = False
) -> tuple[FunctionGraph, dict[int, int]]:
    """The graph that function() compiles, before rewriting, and which of its outputs is the new value of which input.

    Its inputs are copies of the given inputs, then of the shared variables; its outputs those of
    the given outputs, then of the updates of inputs. Errors are those of function().

    >>> x = pt.dscalar("x")
    >>> fgraph, updates = bt.compile.std_fgraph([x], pt.exp(x))
    >>> fgraph.outputs, updates
    ([Exp.0], {})
    """
    maker = FunctionMaker(
        input_specs, output_specs, accept_inplace=accept_inplace, no_fgraph_prep=True
    )
    return maker.fgraph, maker.update_mapping


def stored_function_maker(kind: type[FunctionMaker], arguments: dict[str, Any]) -> FunctionMaker:
    """The maker that pickle has stored."""
    return kind(**arguments)


__getattr__ = finder(__name__, "compile.function")

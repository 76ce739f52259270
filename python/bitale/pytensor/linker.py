"""The linker and mode BITALE: PyTensor canonicalizes and stabilizes, phases to which PyMC adds its own rewrites; Bitale does the rest."""

from __future__ import annotations

import contextlib
import sys
import warnings
from typing import Any, Iterator

import pytensor
from pytensor.compile.mode import Mode, get_mode, optdb, register_linker, register_mode
from pytensor.graph.op import HasInnerGraph
from pytensor.graph.rewriting.basic import in2out, node_rewriter
from pytensor.graph.rewriting.db import RewriteDatabaseQuery
from pytensor.link.basic import JITLinker, PerformLinker
from pytensor.link.utils import raise_with_op
from pytensor.scalar.basic import ScalarType
from pytensor.tensor.rewriting.basic import constant_folding

import bitale as bt
from bitale._core import CellFunction
from bitale.pytensor.conversion import Conversion, ConversionError, Report

# PyTensor 2 requests the shape of a replaced node unless ShapeOpt is present. This keeps the node alive, and it is
# replaced again without end.
SHAPES = ["ShapeOpt"] if pytensor.__version__.startswith("2.") else []
QUERY = RewriteDatabaseQuery(
    include=["canonicalize", "stabilize", "scan_save_mem_no_prealloc", *SHAPES]
)


FOLDING = "bitale_constant_folding"  # the name of a rewrite
_MACHINE = "pytensor.link.c.cvm"  # with its virtual machine in C


class SpecifiedShapeError(bt.ShapeError, AssertionError):
    """A shape differs from the one that the graph specifies, which is an AssertionError in PyTensor."""


class BitaleLinker(JITLinker):
    """Compiles a PyTensor FunctionGraph as one Bitale function. strict: a graph with an op that has no converter is refused.

    What was linked last is described by `report()`.
    """

    required_rewrites = ("minimum_compile", FOLDING)
    incompatible_rewrites = (
        "topo_constant_folding",
        "cxx_only",
        "BlasOpt",
        "fusion",
        "inplace",
        "random_make_inplace",
        "scan_make_inplace",
        "local_careduce_fusion",
        "scan_reduce_trace_prealloc",
        # Without ShapeOpt, it takes lengths that are 1 for other ones and asserts that they are equal.
        "local_merge_alloc",
        # It reads the lower triangle, also where the upper one is meant.
        "psd_solve_to_chol_solve",
    )

    def __init__(self, *args: Any, strict: bool = False, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.strict = strict
        self._report = Report()

    def accept(self, fgraph: Any, no_recycling: Any = None, profile: Any = None) -> Any:
        linker = super().accept(fgraph, no_recycling, profile)
        linker.strict = self.strict  # a linker in use returns another one, without this attribute
        return linker

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_report": Report()}

    def report(self) -> Report:
        """Report on which nodes run natively, and which are called back."""
        return self._report

    def fgraph_convert(self, fgraph: Any, *_: Any, **__: Any) -> Any:
        conversion = Conversion(strict=self.strict, prepare=prepare_inner_graph)
        inputs = conversion.add_inputs(fgraph.inputs)
        outputs = conversion(fgraph.outputs)
        if strange := [
            v for v, value in zip(fgraph.outputs, outputs) if not isinstance(value, bt.Variable)
        ]:
            raise ConversionError(
                {str(v): f"a result of {v.type} has no counterpart" for v in strange}
            )
        self._report = conversion.report
        return inputs, outputs

    def jit_compile(self, fn: Any) -> Any:
        inputs, outputs = fn
        options: dict[str, Any] = {"on_unused_input": "ignore", "trust_input": True}
        try:
            return bt.function(inputs, outputs, **options)
        except ValueError as error:
            if "two different draws" not in str(error):
                raise
            # PyTensor runs such graphs, and some mean it.
            warnings.warn(
                f"bitale.pytensor: {str(error).splitlines()[0]}: the draws are not independent",
                stacklevel=2,
            )
        with bt.config.change_flags(random__shared_state="ignore"):
            return bt.function(inputs, outputs, **options)

    def create_thunk_inputs(self, storage_map: dict[Any, Any]) -> list[Any]:
        return [storage_map[x] for x in self.fgraph.inputs]

    def make_all(
        self, input_storage: Any = None, output_storage: Any = None, storage_map: Any = None
    ) -> Any:
        try:
            return super().make_all(input_storage, output_storage, storage_map)
        except ConversionError as error:
            if self.strict:
                raise
            return self._interpreted(str(error), input_storage, output_storage, storage_map)

    def _interpreted(self, why: str, *storage: Any) -> Any:
        """The graph as PyTensor's own Python linker runs it."""
        self._report = Report(interpreted=why)
        linker = PerformLinker(allow_gc=self.allow_gc).accept(self.fgraph, self.no_recycling)
        return linker.make_all(*storage)

    def create_jitable_thunk(
        self,
        compute_map: Any,
        order: Any,
        input_storage: Any,
        output_storage: Any,
        storage_map: Any,
    ) -> tuple[list[Any], list[Any], Any]:
        compiled = self.jit_compile(self.fgraph_convert(self.fgraph))
        cells_in = self.create_thunk_inputs(storage_map)
        cells_out = [storage_map[x] for x in self.fgraph.outputs]
        nodes = [x.owner for x in self.fgraph.outputs if x.owner is not None][:1]

        thunk: Any = CellFunction(compiled, cells_in, cells_out, self._error_handler(nodes))
        if numbers := [
            cell
            for cell, x in zip(cells_out, self.fgraph.outputs)
            if isinstance(x.type, ScalarType)
        ]:
            thunk = _with_numbers(thunk, numbers)
        thunk.inputs = cells_in
        thunk.outputs = cells_out
        thunk.lazy = False
        return [thunk], nodes, compiled

    def _error_handler(self, nodes: list[Any]) -> Any:
        """What raises an error of a call again as PyTensor's linkers do: with the node, where one is to blame."""
        if not nodes:
            return None

        def raise_again(error: BaseException) -> None:
            if isinstance(error, bt.ShapeError) and str(error).startswith("specify_shape"):
                message = str(error).replace("specify_shape", "SpecifyShape", 1)  # as in PyTensor
                error = SpecifiedShapeError(message).with_traceback(error.__traceback__)
            raise_with_op(self.fgraph, nodes[0], exc_info=(type(error), error, error.__traceback__))

        return raise_again


def _with_numbers(thunk: Any, cells: list[Any]) -> Any:
    """A thunk whose results in some cells are NumPy's scalars, as the values of a ScalarType are, rather than arrays of rank 0."""

    def call() -> None:
        thunk()
        for cell in cells:
            cell[0] = cell[0][()]

    return call


def prepare_inner_graph(fgraph: Any) -> None:
    """Inner graphs are rewritten by nobody else, so they get what the outer one does."""
    Mode(BitaleLinker(), QUERY).optimizer.rewrite(fgraph)


def _fold(fgraph: Any, node: Any) -> Any:
    """PyTensor's folding of constants, but for ops that are graphs, such as a Softmax: those PyTensor would evaluate by functions that its C compiler
    compiles."""
    return not isinstance(node.op, HasInnerGraph) and constant_folding.transform(fgraph, node)


_folding = in2out(node_rewriter(None)(_fold), ignore_newtrees=True, name=FOLDING)
for _name in ("canonicalize", "stabilize"):
    optdb[_name].register(FOLDING, _folding, final_rewriter=True, use_db_name_as_tag=False)

BITALE = Mode(BitaleLinker(), QUERY)
register_linker("bitale", BitaleLinker())
register_mode("BITALE", BITALE)


def is_bitale(mode: Any) -> bool:
    """Whether this mode, or name of a mode, compiles with Bitale. None is the default mode."""
    try:
        return isinstance(get_mode(mode).linker, BitaleLinker)
    except (AttributeError, ValueError):  # no mode: whoever is given it says so
        return False


@contextlib.contextmanager
def nothing_else_compiles() -> Iterator[None]:
    """In this block, PyTensor's default mode is BITALE, and it has no C compiler, which its own functions of ops that are graphs would call."""
    had_machine = _MACHINE in sys.modules
    try:
        with pytensor.config.change_flags(mode=BITALE, cxx=""):
            yield
    finally:
        if not had_machine:  # imported without a compiler, it would lack its machine in C for good
            sys.modules.pop(_MACHINE, None)


def function(inputs: Any, outputs: Any = None, *, strict: bool = False, **options: Any) -> Any:
    """PyTensor's ``function(inputs, outputs, **options)`` in the mode BITALE. ConversionError, naming every op that has no converter,
    if `strict`."""
    mode = Mode(BitaleLinker(strict=True), QUERY) if strict else BITALE
    return pytensor.function(inputs, outputs, mode=mode, **options)

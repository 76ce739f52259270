"""Printers of ops of tensors, under PyTensor's names: what `pprint` writes for such an op, for `pprint.assign` and classes derived from
them. The text is that of the library, with operands as the surrounding printer writes them."""

from __future__ import annotations

from typing import Any, ClassVar

from bitale import _core
from bitale._pprinter import Printer, PrinterState, set_precedence
from bitale.tensor.op_classes import (
    AdvancedIncSubtensor,
    AdvancedSubtensor,
    DimShuffle,
    IncSubtensor,
    MakeVector,
    Subtensor,
)

__all__ = [
    "AdvancedIncSubtensorPrinter",
    "AdvancedSubtensorPrinter",
    "DimShufflePrinter",
    "IncSubtensorPrinter",
    "MakeVectorPrinter",
    "SubtensorPrinter",
]

_inside = 1000  # the precedence of operands that stand in other texts


class _OfOps(Printer):
    ops: ClassVar[tuple[Any, ...]] = ()

    def _check(self, output: Any) -> None:
        if output.owner is None or not isinstance(output.owner.op, self.ops):
            names = " or ".join(op.__name__ for op in self.ops)
            raise TypeError(f"{type(self).__name__}: expected the result of {names}, got {output}")

    def process(self, output: Any, pstate: PrinterState) -> str:
        """The text of a variable. TypeError if another op computes it."""
        self._check(output)
        named = {}
        with set_precedence(pstate, _inside):
            for operand in dict.fromkeys(output.owner.inputs):
                if not isinstance(operand, _core.Constant):
                    named[operand] = operand.type(pstate.text(operand))
        inputs = [named.get(operand, operand) for operand in output.owner.inputs]
        node = output.owner.clone_with_new_inputs(inputs)
        return str(_core.pprint(node.outputs[output.index or 0]))


class SubtensorPrinter(_OfOps):
    """Printer of elements and slices: ``x[i, 1:]``.

    >>> from bitale.tensor.subtensor import SubtensorPrinter
    >>> x, i = pt.dmatrix("x"), pt.lscalar("i")
    >>> p = bt.printing.PPrinter()
    >>> p.assign(pt.exp, "EXP")
    >>> p.assign(bt.tensor.subtensor.Subtensor, SubtensorPrinter())
    >>> p(pt.exp(x)[i, 1:])
    'EXP(x)[i, 1:]'
    """

    ops = (Subtensor, AdvancedSubtensor)


class AdvancedSubtensorPrinter(SubtensorPrinter):
    """Printer of elements at positions in tensors."""


class IncSubtensorPrinter(_OfOps):
    """Printer of tensors with a part that is set or incremented."""

    ops = (IncSubtensor, AdvancedIncSubtensor)


class AdvancedIncSubtensorPrinter(IncSubtensorPrinter):
    """Printer of tensors with elements that are set or incremented."""


class MakeVectorPrinter(_OfOps):
    """Printer of vectors of scalars: ``[a, b]``."""

    ops = (MakeVector,)

    def process(self, output: Any, pstate: PrinterState) -> str:
        """The text of a variable. TypeError if another op computes it."""
        self._check(output)
        with set_precedence(pstate):
            return f"[{', '.join(pstate.text(operand) for operand in output.owner.inputs)}]"


class DimShufflePrinter(_OfOps):
    """Printer of transposed tensors: ``x.T``."""

    ops = (DimShuffle,)

"""How programs choose what `pprint` writes for their own ops: ``pprint.assign(op, FunctionPrinter("f"))``. Names are those of
pytensor.printing. The library writes everything else: the outermost nodes with an assignment stand in the expression as variables whose names are their texts."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from bitale import _core

__all__ = [
    "ConstantPrinter",
    "DefaultPrinter",
    "FunctionPrinter",
    "IgnorePrinter",
    "LeafPrinter",
    "OperatorPrinter",
    "PPrinter",
    "PatternPrinter",
    "Printer",
    "PrinterState",
    "constant_printer",
    "default_printer",
    "leaf_printer",
    "pprint",
    "set_precedence",
]

_outermost, _inside = (
    -1000,
    1000,
)  # precedences: of a whole text, and of parts that the library places inside one


class PrinterState:
    """State of printing: the printer of operands, and the precedence around.

    Parameters
    ----------
    props : PrinterState or dict, optional
        Properties to copy.
    **more_props : object
        Further properties.
    """

    def __init__(
        self, props: PrinterState | dict[str, Any] | None = None, **more_props: Any
    ) -> None:
        self.precedence: float = _outermost
        self.pprinter: PPrinter | None = None
        self.__dict__.update(props.__dict__ if isinstance(props, PrinterState) else props or {})
        self.__dict__.update(more_props)

    def text(self, variable: Any) -> str:
        """What pprinter writes for an operand, in these surroundings."""
        return (self.pprinter or pprint).process(variable, self)


@contextlib.contextmanager
def set_precedence(pstate: PrinterState, precedence: float = _outermost) -> Iterator[None]:
    """Set the precedence within a ``with`` block.

    Parameters
    ----------
    pstate : PrinterState
        State to change.
    precedence : float
        Precedence.
    """
    before, pstate.precedence = pstate.precedence, precedence
    try:
        yield
    finally:
        pstate.precedence = before


class Printer:
    """What writes a variable: process(variable, pstate) is its text."""

    def process(self, var: Any, pstate: PrinterState) -> str:
        raise NotImplementedError(f"{type(self).__name__}.process")


class OperatorPrinter(Printer):
    """Printer of operands with an operator between them.

    Parameters
    ----------
    operator : str
        Operator; it follows a single operand.
    precedence : float
        Precedence: the text is bracketed where its surroundings bind more tightly.
    assoc : str
        'left', 'right' or 'none': which operand may have the same precedence
        without brackets.
    """

    def __init__(self, operator: str, precedence: float, assoc: str = "left") -> None:
        if assoc not in ("left", "right", "none"):
            raise ValueError(f'OperatorPrinter: assoc is "left", "right" or "none", got {assoc!r}')
        self.operator, self.precedence, self.assoc = operator, precedence, assoc

    def process(self, output: Any, pstate: PrinterState) -> str:
        operands = output.owner.inputs
        free = {"left": 0, "right": len(operands) - 1, "none": -1}[self.assoc]
        texts = []
        for i, operand in enumerate(operands):
            with set_precedence(pstate, self.precedence + (0 if i == free else 1e-6)):
                texts.append(pstate.text(operand))
        text = f"{self.operator}{texts[0]}" if len(texts) == 1 else f" {self.operator} ".join(texts)
        return f"({text})" if pstate.precedence > self.precedence else text


class PatternPrinter(Printer):
    """Printer that inserts operands into a text.

    Parameters
    ----------
    *patterns : str or tuple
        A text such as ``"|%(0)s|"`` for each output; or a pair of it and the
        precedences of operands.
    """

    def __init__(self, *patterns: Any) -> None:
        self.patterns = [
            (each, ()) if isinstance(each, str) else (each[0], tuple(each[1:])) for each in patterns
        ]

    def process(self, output: Any, pstate: PrinterState) -> str:
        pattern, precedences = self.patterns[output.index or 0]
        texts = {}
        for i, operand in enumerate(output.owner.inputs):
            with set_precedence(pstate, precedences[i] if i < len(precedences) else _outermost):
                texts[str(i)] = pstate.text(operand)
        return pattern % texts


class FunctionPrinter(Printer):
    """Printer of a call.

    Parameters
    ----------
    names : str or sequence of str
        Name for each output.
    keywords : sequence of str
        Attributes of the op that are written as keywords.
    """

    def __init__(self, names: str | Sequence[str], keywords: Sequence[str] = ()) -> None:
        self.names = [names] if isinstance(names, str) else list(names)
        self.keywords = list(keywords)

    def process(self, output: Any, pstate: PrinterState) -> str:
        node = output.owner
        with set_precedence(pstate):
            texts = [pstate.text(operand) for operand in node.inputs]
        texts += [f"{name}={getattr(node.op, name)}" for name in self.keywords]
        return f"{self.names[output.index or 0]}({', '.join(texts)})"


class IgnorePrinter(Printer):
    """The first operand, as if the op was not there."""

    def process(self, output: Any, pstate: PrinterState) -> str:
        return pstate.text(output.owner.inputs[0])


class LeafPrinter(Printer):
    """The name of a variable that nothing computes."""

    def process(self, output: Any, pstate: PrinterState) -> str:
        return output.name or str(output)


class ConstantPrinter(Printer):
    """The value of a constant."""

    def process(self, output: Any, pstate: PrinterState) -> str:
        return output.name or _core.pprint(output)


class DefaultPrinter(Printer):
    """The op's name, and its operands."""

    def process(self, output: Any, pstate: PrinterState) -> str:
        if output.owner is None:
            return leaf_printer.process(output, pstate)
        with set_precedence(pstate):
            return f"{output.owner.op}({', '.join(pstate.text(operand) for operand in output.owner.inputs)})"


leaf_printer, constant_printer, default_printer = LeafPrinter(), ConstantPrinter(), DefaultPrinter()


class PPrinter(Printer):
    """Writes expressions as formulas: ``pprint(x)``. `pprint` is one; clone() is another with the same assignments."""

    def __init__(self) -> None:
        self.printers: list[tuple[Any, Printer]] = []

    def assign(self, condition: Any, printer: Printer | str) -> None:
        """Assigns a printer to the outputs of an op: condition is an op, a function of bitale.tensor, a class of ops, or a function of (pstate, variable) that tells whether to use the printer. The latest assignment counts. A string as the printer is the name of a call.

        >>> p = bt.printing.PPrinter()
        >>> p.assign(pt.sigmoid, bt.printing.FunctionPrinter("σ"))
        >>> x, y = pt.dscalars("x", "y")
        >>> p(2 * pt.sigmoid(x + y))
        '2 * σ(x + y)'
        """
        self.printers.insert(
            0, (condition, FunctionPrinter(printer) if isinstance(printer, str) else printer)
        )

    def clone(self) -> PPrinter:
        """Another one with the same assignments."""
        made = PPrinter()
        made.printers = list(self.printers)
        return made

    def clone_assign(self, condition: Any, printer: Printer | str) -> PPrinter:
        """Another one with one more assignment."""
        made = self.clone()
        made.assign(condition, printer)
        return made

    def _printer_of(self, variable: Any, pstate: PrinterState) -> Printer | None:
        for condition, printer in self.printers:
            if _holds(condition, pstate, variable):
                return printer
        return None

    def process(self, var: Any, pstate: PrinterState | None = None) -> str:
        """The text of a variable in the surroundings that pstate describes, by default on its own."""
        if not self.printers:
            return _bracketed(var, _core.pprint(var), pstate)
        state = PrinterState(pstate, pprinter=self)
        printer = self._printer_of(var, state)
        if printer is not None:
            return printer.process(var, state)
        texts: dict[Any, Any] = {}
        seen = {var}
        stack = [] if var.owner is None else list(var.owner.inputs)
        while stack:
            each = stack.pop()
            if each in seen:
                continue
            seen.add(each)
            printer = self._printer_of(each, state)
            if printer is not None:
                with set_precedence(state, _inside):
                    texts[each] = each.type(printer.process(each, state))
            elif each.owner is not None and not each.name:
                stack.extend(each.owner.inputs)
        return _bracketed(
            var, _core.pprint(_core.graph_replace(var, texts) if texts else var), pstate
        )

    def process_graph(
        self, inputs: Any, outputs: Any, updates: Any = None, display_inputs: bool = False
    ) -> str:
        """The outputs, one per line, by name where they have one, and then updates; before them the inputs if display_inputs."""
        given = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
        results = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
        lines = [f"inputs: {', '.join(map(str, given))}"] if display_inputs else []
        lines += [self.process(each) for each in results]
        lines += [
            f"{before} <- {self.process(after)}" for before, after in dict(updates or {}).items()
        ]
        return "\n".join(lines)

    def __call__(self, *args: Any) -> str:
        """The text of a variable, or of inputs and outputs, as process_graph."""
        return self.process(args[0]) if len(args) == 1 else self.process_graph(*args)


def _holds(condition: Any, pstate: PrinterState, variable: Any) -> bool:
    op = None if variable.owner is None else variable.owner.op
    if isinstance(condition, _core.Op):
        return op is not None and op == condition
    if isinstance(condition, type):
        return op is not None and isinstance(op, condition)
    if op is not None and op == condition:  # a function of bitale.tensor
        return True
    is_predicate = (
        type(condition).__name__ in ("function", "method")
        and condition.__code__.co_argcount - hasattr(condition, "__self__") == 2
    )
    return is_predicate and bool(condition(pstate, variable))


def _bracketed(variable: Any, text: str, pstate: PrinterState | None) -> str:
    """An expression of several parts within another one."""
    is_whole = (
        pstate is None
        or pstate.precedence <= _outermost
        or variable.owner is None
        or bool(variable.name)
    )
    is_closed = text.replace("_", "").isalnum() or (text.endswith((")", "]")) and _opens_once(text))
    return text if is_whole or is_closed else f"({text})"


def _opens_once(text: str) -> bool:
    """Whether it is a name and brackets that close at its end: a call, or an element."""
    start = min((at for at in (text.find("("), text.find("[")) if at >= 0), default=-1)
    if start < 0 or not text[:start].replace("_", "").replace(".", "").isalnum() and start:
        return False
    depth = 0
    for at, letter in enumerate(text[start:], start):
        depth += (letter in "([{") - (letter in ")]}")
        if depth == 0:
            return at == len(text) - 1
    return False


pprint = PPrinter()

"""From a PyTensor graph to a Bitale graph: node by node in topological order, each by the converter of its op's class."""

from __future__ import annotations

import dataclasses
import os
import sys
import types
import warnings
from typing import Any, Callable, Iterable, Sequence

from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.traversal import toposort
from pytensor.tensor.random.type import RandomGeneratorType

import bitale as bt
from bitale._core import AtLines
from bitale.pytensor.callback import callback
from bitale.pytensor.registry import Misdeclared, NotConverted, converter_of
from bitale.pytensor.types import converted_constant, converted_type, fitted, is_expressible


class ConversionError(NotImplementedError):
    """The parts of a PyTensor graph that Bitale can't express; `reasons` lists them op by op."""

    def __init__(self, reasons: dict[str, str]):
        self.reasons = dict(reasons)
        super().__init__("; ".join(f"{op}: {why}" for op, why in self.reasons.items()))


@dataclasses.dataclass
class Report:
    """How the nodes of a graph run. native: how many are converted; callbacks: for each op that is called back, how many nodes and why;
    interpreted: why the whole graph is left to PyTensor's own Python linker, if it is."""

    native: int = 0
    callbacks: dict[str, tuple[int, str]] = dataclasses.field(default_factory=dict)
    interpreted: str | None = None

    def add_callback(self, op: str, why: str) -> None:
        self.callbacks[op] = (self.callbacks.get(op, (0, ""))[0] + 1, why)

    @property
    def is_native(self) -> bool:
        return self.interpreted is None and not self.callbacks

    def __str__(self) -> str:
        if self.interpreted is not None:
            return f"PyTensor's Python linker runs the whole graph: {self.interpreted}"
        lines = [f"native: {self.native} nodes"]
        lines += [
            f"host callback: {op} ({count} node{'s' * (count > 1)}): {why}"
            for op, (count, why) in self.callbacks.items()
        ]
        return "\n".join(lines)


def users_lines(node: Any) -> list[tuple[str, int, str]]:
    """Where the user wrote the node, as far as PyTensor knows: its trace without what belongs to installed packages.

    A node that a rewrite has made has two or more traces: first that of the rewriting, then those of the nodes that it stands for.
    """
    traces = (getattr(node.outputs[0].tag, "trace", None) or []) if node.outputs else []
    frames = traces[1 if len(traces) > 1 else 0] if traces else []
    return [
        (file, line or 0, name) for file, line, name, *_ in frames if not _is_of_a_package(file)
    ]


def _is_of_a_package(file: str) -> bool:
    return (
        "/site-packages/" in file
        or "/dist-packages/" in file
        or file.startswith(("<frozen", "/usr/lib/python"))
    )


def input_type(variable: Variable) -> Any:
    """The Bitale type of an input. A generator that is shared has the bit generator of its value. TypeError where there is none."""
    if isinstance(variable, SharedVariable) and isinstance(variable.type, RandomGeneratorType):
        return converted_type(
            variable.type, type(variable.get_value(borrow=True).bit_generator).__name__
        )
    return converted_type(variable.type)


_HERE = os.path.dirname(os.path.abspath(bt.__file__))  # a checkout is not a folder of packages
_MISSING: Any = object()  # a variable without a counterpart


_warned: set[str] = set()


def _warn_once(op: str, why: str) -> None:
    if op not in _warned:
        _warned.add(op)
        warnings.warn(
            f"bitale.pytensor: {op} runs by its own perform, called back from native code: {why}",
            stacklevel=_level_of_the_user(),
        )


def _level_of_the_user() -> int:
    """The `stacklevel` of a warning, seen from the caller, that shows the line of the user: the first outside of packages."""
    frame: types.FrameType | None = sys._getframe(1)
    level = 1
    while frame is not None:
        file = frame.f_code.co_filename
        if not _is_of_a_package(file) and not file.startswith(_HERE):
            return level
        frame, level = frame.f_back, level + 1
    return 1


class Conversion:
    """The conversion of one graph: which Bitale variable stands for which of PyTensor, and a report.

    known: PyTensor variables that have a counterpart already. prepare: what is done to the inner graphs of ops before they are converted, in
    place. strict: ops without a converter are an error rather than callbacks.
    """

    def __init__(
        self,
        known: dict[Variable, Any] | None = None,
        *,
        strict: bool = False,
        prepare: Callable[[Any], None] | None = None,
    ):
        self.variables: dict[Variable, Any] = dict(known or {})
        self.inputs: dict[
            Variable, bt.Variable
        ] = {}  # the leaves that were created during the conversion
        self.strict = strict
        self.prepare = prepare
        self.report = Report()
        self._refused: dict[str, str] = {}

    def __call__(self, outputs: Sequence[Variable]) -> list[Any]:
        """The counterparts of these variables. ConversionError, with all reasons, where there are none."""
        for node in toposort(outputs, blockers=list(self.variables)):
            with AtLines(users_lines(node)):
                self._convert_node(node)
        found = [self._leaf(v) if v.owner is None else self.variables.get(v) for v in outputs]
        self._refused.update(
            (str(v), x.reason) for v, x in zip(outputs, found) if isinstance(x, Misdeclared)
        )
        if self._refused:
            raise ConversionError(self._refused)
        for op, (_, why) in self.report.callbacks.items():
            _warn_once(op, why)
        return found

    def add_inputs(self, variables: Sequence[Variable]) -> list[Any]:
        """New Bitale variables for these, shared ones among them. ConversionError where their types have no counterpart."""
        refused = {
            f"{v}": f"Bitale has no type for PyTensor's {v.type}"
            for v in variables
            if not is_expressible(v.type)
        }
        if refused:
            raise ConversionError(refused)
        made = [input_type(v)(name=v.name) for v in variables]
        self.variables.update(zip(variables, made))
        return made

    def inner(self, fgraph: Any, inputs: Sequence[Any], *, as_it_is: bool = False) -> list[Any]:
        """The outputs of an inner graph, given Bitale variables for its inputs; rewritten first, unless it is wanted as it is."""
        copy = fgraph
        if self.prepare is not None and not as_it_is:
            copy = fgraph.unfreeze() if hasattr(fgraph, "unfreeze") else fgraph.clone()
            self.prepare(copy)
        there = Conversion(dict(zip(copy.inputs, inputs)), strict=self.strict, prepare=self.prepare)
        outputs = there(copy.outputs)
        self.report.native += there.report.native
        for op, (count, why) in there.report.callbacks.items():
            for _ in range(count):
                self.report.add_callback(op, why)
        return outputs

    def counterpart(self, variable: Variable) -> Any:
        """What stands for a variable, which is a leaf or has been converted."""
        return self._leaf(variable) if variable.owner is None else self.variables[variable]

    def _leaf(self, variable: Variable) -> Any:
        if variable not in self.variables:
            self.variables[variable] = self._new_leaf(variable)
        return self.variables[variable]

    def _new_leaf(self, variable: Variable) -> Any:
        try:
            if isinstance(variable, Constant):
                return converted_constant(variable)
            if (
                isinstance(variable, SharedVariable)
                and hasattr(variable.type, "shape")
                and is_expressible(variable.type)
            ):
                made = bt.shared(
                    variable.get_value(), name=variable.name, shape=variable.type.shape
                )
            elif isinstance(variable, SharedVariable) and is_expressible(variable.type):
                made = bt.shared(variable.get_value(), name=variable.name)
            else:
                made = input_type(variable)(name=variable.name)
        except TypeError as error:
            self._refused[f"{variable}"] = str(error)
            return _MISSING
        self.inputs[variable] = made
        return made

    def _convert_node(self, node: Any) -> None:
        inputs = [self.counterpart(x) for x in node.inputs]
        wrong = [x.reason for x in inputs if isinstance(x, Misdeclared)]
        if wrong or any(x is _MISSING for x in inputs):
            outputs = self._refuse(node, {str(node.op): wrong[0]} if wrong else None)
        else:
            outputs = self._outputs_of(node, inputs)
        for variable, value in zip(node.outputs, outputs):
            if (
                variable.name
                and isinstance(value, bt.Variable)
                and value.owner is not None
                and value.name is None
            ):
                value.name = variable.name
            self.variables[variable] = value

    def _outputs_of(self, node: Any, inputs: list[Any]) -> list[Any]:
        convert, why = converter_of(node.op), "no converter is registered for it"
        if convert is not None:
            try:
                made = (
                    convert(node.op, node, *inputs)
                    if not _wants_conversion(convert)
                    else convert(self, node.op, node, *inputs)
                )
                outputs = list(made) if isinstance(made, (list, tuple)) else [made]
                if _could_be_outputs(outputs, node):
                    outputs = [
                        _fitted_or_misdeclared(value, x.type)
                        for value, x in zip(outputs, node.outputs)
                    ]
                    self.report.native += 1
                    return outputs
            except NotConverted as reason:
                why = str(reason) or why
            except ConversionError as error:  # from an inner graph
                if self.strict:
                    return self._refuse(node, error.reasons)
                why = str(error)
            except (
                TypeError,
                ValueError,
                NotImplementedError,
            ) as error:  # PyTensor may be able to run a node that Bitale refuses
                why = str(error).split("\n", 1)[0]
            else:
                raise TypeError(_wrong_outputs(convert, outputs, node))
        name = type(node.op).__name__ if convert is None else str(node.op)
        if self.strict:
            return self._refuse(node, {name: why})
        try:
            outputs = callback(node, inputs, converted)
        except TypeError as error:
            return self._refuse(node, {name: str(error)})
        self.report.add_callback(name, why)
        return outputs

    def _refuse(self, node: Any, reasons: dict[str, str] | None = None) -> list[Any]:
        """Notes why, and gives variables for the node's outputs, so that the conversion goes on and finds what else is refused."""
        self._refused.update(reasons or {})
        return [
            converted_type(x.type)() if is_expressible(x.type) else _MISSING for x in node.outputs
        ]


def converted(known: dict[Any, Any], outputs: Sequence[Any]) -> list[Any]:
    """Counterparts of variables, given those of others."""
    return Conversion(known)(outputs)


def _fitted_or_misdeclared(value: Any, type_: Any) -> Any:
    try:
        return value if isinstance(value, Misdeclared) else fitted(value, type_)
    except TypeError as error:
        return Misdeclared(str(error))


def _could_be_outputs(values: Sequence[Any], node: Any) -> bool:
    """Whether what a converter gave is a variable of the right rank for each output of the node."""
    return len(values) == len(node.outputs) and all(
        _could_be(value, x.type) for value, x in zip(values, node.outputs)
    )


def _could_be(value: Any, type_: Any) -> bool:
    if isinstance(value, Misdeclared) or not is_expressible(type_):  # such as a slice
        return True
    return isinstance(value, bt.Variable) and (
        isinstance(type_, RandomGeneratorType) or getattr(value, "ndim", None) == type_.ndim
    )


def _wrong_outputs(convert: Any, values: Sequence[Any], node: Any) -> str:
    expected = ", ".join(str(x.type) for x in node.outputs)
    found = (
        ", ".join(
            str(value.type) if isinstance(value, bt.Variable) else type(value).__name__
            for value in values
        )
        or "none"
    )
    return (
        f"the converter {convert.__module__}.{convert.__qualname__} of {node.op} must return a Bitale variable for each output of the node "
        f"({expected}), and returned: {found}"
    )


def with_conversion(convert: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a converter that needs the conversion itself, for inner graphs: it is given as the first argument."""
    convert._wants_conversion = True  # type: ignore[attr-defined]
    return convert


def _wants_conversion(convert: Any) -> bool:
    return getattr(convert, "_wants_conversion", False)


def from_pytensor(
    variables: Variable | Iterable[Variable],
    known: dict[Variable, Any] | None = None,
    *,
    strict: bool = False,
) -> Any:
    """The Bitale graph of a PyTensor variable, or of a list of them.

    known: PyTensor variables, and the Bitale variables that stand for them. Other inputs become Bitale variables of the same name,
    dtype and static shape, which are added to `known`; shared variables become Bitale's, with a copy of their value. Ops without a
    converter become callbacks of their `perform`, with one warning for each; ConversionError, naming all of them, if `strict`, or if a
    type has no counterpart.
    """
    conversion = Conversion(known, strict=strict)
    single = isinstance(variables, Variable)
    outputs = conversion([variables] if single else list(variables))
    if known is not None:
        known.update(conversion.inputs)
    return outputs[0] if single else outputs

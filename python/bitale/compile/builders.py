"""Ops defined by graphs of other ops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bitale._geography import absent
from bitale import _core
from bitale._core import Apply, Op, TensorConstant, TensorVariable, Variable
from bitale._deprecation import warn_deprecated

__all__ = ["OpFromGraph", "SymbolicOp", "infer_shape"]


class _Override:
    """What stands for a derivative that is given in another form than one function; equal ones are the same."""

    def __init__(self, *parts: Any):
        self.parts = parts

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _Override) and type(self) is type(other) and self.parts == other.parts
        )

    def __hash__(self) -> int:
        return hash((type(self), self.parts))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(str(getattr(part, '__qualname__', part)) for part in self.parts)})"


def _as_list(answer: Any) -> list[Any]:
    return list(answer) if isinstance(answer, (list, tuple)) else [answer]


class _ByOp(_Override):
    """An op that is applied to inputs, outputs and further arguments."""

    def __call__(self, inputs: list[Any], outputs: list[Any], given: list[Any]) -> list[Any]:
        (op,) = self.parts
        return _as_list(op(*inputs, *outputs, *given))


class _WithoutOutputs(_Override):
    """A function of inputs and tangents."""

    def __call__(self, inputs: list[Any], outputs: list[Any], given: list[Any]) -> list[Any]:
        (function,) = self.parts
        return _as_list(function(inputs, given))


class _OneByOne(_Override):
    """A derivative per input (of a pullback) or output (of a pushforward); None: that of the graph."""

    def __call__(self, inputs: list[Any], outputs: list[Any], given: list[Any]) -> list[Any]:
        default, is_pullback, overrides = self.parts
        out: list[Any] = []
        of_graph: list[Any] | None = None
        for index, override in enumerate(overrides):
            if override is None:
                if of_graph is None:
                    of_graph = _core.derivatives_of_op(default, is_pullback, inputs, given)
                out.append(of_graph[index])
                continue
            answer = override(inputs, outputs, given)
            if isinstance(answer, (list, tuple)):
                if len(answer) != 1:
                    raise ValueError(
                        f"OpFromGraph: override {index} returned {len(answer)} results, expected one"
                    )
                (answer,) = answer
            out.append(answer)
        return out


def _override(
    given: Any, default: Callable[[], Op], is_pullback: bool, of: Sequence[Variable]
) -> Any:
    if given is None:
        return None
    if isinstance(given, (list, tuple)):
        what = ("pullback", "input") if is_pullback else ("pushforward", "output")
        plain = default()
        if len(given) != len(of):
            raise ValueError(
                f"OpFromGraph: {what[0]} is a list of {len(given)}, expected {len(of)}, one per {what[1]}"
            )
        for each in given:
            if each is not None and not isinstance(each, Op) and not callable(each):
                raise TypeError(
                    f"OpFromGraph: {what[0]}: expected functions, ops or None in the list, got {each!r}"
                )
        parts = tuple(_ByOp(each) if isinstance(each, Op) else each for each in given)
        return _OneByOne(plain, is_pullback, parts)
    return _ByOp(given) if isinstance(given, Op) else given


def _closed(
    inputs: Sequence[Variable], outputs: Sequence[Variable], strict: bool
) -> tuple[list[Variable], list[Variable], list[Variable]]:
    """The graph with plain variables for the constants and shared variables among the inputs, and for the shared variables that
    it reads besides, which are the third result."""
    if not all(
        isinstance(side, (list, tuple)) and all(isinstance(each, Variable) for each in side)
        for side in (inputs, outputs)
    ):
        return inputs, outputs, []  # type: ignore[return-value]  # refused where the op is made
    given, results = list(inputs), list(outputs)
    read: list[Variable] = (
        []
        if strict
        else [
            each
            for each in _core.graph_inputs(results, given)
            if _core.is_shared(each) and each not in set(given)
        ]
    )
    leaves = [
        each
        for each in [*given, *read]
        if isinstance(each, TensorConstant) or _core.is_shared(each)
    ]
    plain = {each: each.type(name=each.name) for each in leaves}
    if plain:
        results = list(_core.graph_replace(results, plain, strict=False))
    return [plain.get(each, each) for each in [*given, *read]], results, read


def _with_connections(
    inputs: list[Any], outputs: list[Variable], pattern: Sequence[Sequence[bool]]
) -> list[Variable]:
    """The outputs, without derivatives with respect to inputs that the pattern does not connect with them."""
    if len(pattern) != len(inputs) or any(len(row) != len(outputs) for row in pattern):
        raise ValueError(
            f"OpFromGraph: connection_pattern: expected a row for each of {len(inputs)} inputs with a bool for each of {len(outputs)} outputs, got {pattern!r}"
        )
    out = []
    for k, output in enumerate(outputs):
        cut = {
            each: _core.disconnected_grad(each) for each, row in zip(inputs, pattern) if not row[k]
        }
        out.append(_core.graph_replace([output], cut, strict=False)[0] if cut else output)
    return out


class OpFromGraph(Op):
    """An op that computes `outputs` from `inputs` as their graph says (PyTensor's pytensor.compile.builders.OpFromGraph).

    The graph is copied, and must be closed: every variable on which the outputs depend is an input
    or computed from inputs (MissingInputError names one that isn't). Shared variables that are not
    among the inputs become further inputs, which each application of the op reads by itself, unless
    `strict`; constants may be among the inputs. Applied to values of the inputs' types, the op
    returns a variable, or a list of several; inputs and outputs may be trees of variables. Ops with
    equal graphs and options are equal, and are merged.

    inline: whether the op is replaced by its graph while a function is compiled, before loops are fused. If not, the
        graph is rewritten and compiled once, however often the op occurs, and called.
    pullback: in place of the graph's derivative: a function of (inputs, outputs, cotangents of the outputs) that gives
        a list with the cotangent of each input, None for zero; an op of the same, one after the
        other; or a list with a function or op for each input, None for those whose derivative is
        the graph's. What is not connected arrives as zeros.
    pushforward: as pullback, of (inputs, outputs, tangents of the inputs) to tangents of the outputs.
    lop_overrides, rop_overrides: PyTensor's older names; the function of the latter has no argument for the outputs.
    connection_pattern: for each input, for each output, whether derivatives pass; by default as the graph says.
    strict: refuse shared variables that are not among the inputs.
    name: for printing and errors.
    destroy_map: only None: nothing is written in place. fgraph: a FunctionGraph of the inputs and outputs.
    """

    __slots__ = ("_forms", "_shared_inputs")
    _is_of_the_library = True

    def __new__(
        cls,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        *,
        inline: bool = True,
        pullback: Any = None,
        pushforward: Any = None,
        lop_overrides: Any = None,
        rop_overrides: Any = None,
        connection_pattern: Sequence[Sequence[bool]] | None = None,
        strict: bool = False,
        name: str | None = None,
        destroy_map: Any = None,
        fgraph: Any = None,
    ) -> OpFromGraph:
        if destroy_map:
            raise NotImplementedError(
                "OpFromGraph: destroy_map is not supported: native code plans its memory itself"
            )
        if fgraph is not None and (
            list(inputs) != list(fgraph.inputs) or list(outputs) != list(fgraph.outputs)
        ):
            raise ValueError("OpFromGraph: inputs and outputs are not those of the fgraph")
        forms = None
        if isinstance(inputs, (list, tuple)) and (
            isinstance(outputs, dict) or any(map(_core.is_tree, [*inputs, *outputs]))
        ):
            inputs, form = _core.tree_flatten(tuple(inputs))
            outputs, form_of_outputs = _core.tree_flatten(outputs)
            forms = form, form_of_outputs
        inputs, outputs, read = _closed(inputs, outputs, strict)
        if connection_pattern is not None:
            outputs = _with_connections(
                inputs[: len(inputs) - len(read)], outputs, connection_pattern
            )
        for given, old, kind in (
            (pullback, lop_overrides, "pullback"),
            (pushforward, rop_overrides, "pushforward"),
        ):
            if given is not None and old is not None:
                raise ValueError(f"OpFromGraph: give {kind} or its older name, not both")
            if old is not None:
                warn_deprecated(
                    {"pullback": "lop_overrides", "pushforward": "rop_overrides"}[kind], kind
                )

        def default() -> Op:
            return _core.make_op_from_graph(inputs, outputs, inline, name or "", None, None)

        if rop_overrides is not None:
            one_or_several = (
                rop_overrides if isinstance(rop_overrides, (list, tuple)) else [rop_overrides]
            )
            older = [
                each if each is None or isinstance(each, Op) else _WithoutOutputs(each)
                for each in one_or_several
            ]
            pushforward = older if isinstance(rop_overrides, (list, tuple)) else older[0]
        back = _override(
            pullback if lop_overrides is None else lop_overrides, default, True, inputs
        )
        forward = _override(pushforward, default, False, outputs)
        op: OpFromGraph = _core.make_op_from_graph(
            inputs, outputs, inline, name or "", back, forward
        )  # type: ignore[assignment]
        op._shared_inputs = read  # type: ignore[attr-defined]
        if forms is not None:
            op._forms = forms  # type: ignore[attr-defined]
        return op

    def __init__(self, *args: Any, **kwargs: Any):
        pass

    def __call__(self, *inputs: Any, **options: Any) -> Any:
        """The outputs for these inputs, which have the forms of those that the op was made of."""
        forms = getattr(self, "_forms", None)
        if forms is None:
            return super().__call__(*inputs, **options)
        given, results = forms
        leaves = given.flatten_like(inputs, "OpFromGraph: inputs")
        return results.unflatten(_as_list(super().__call__(*leaves, **options)))

    def make_node(self, *inputs: Any) -> Any:
        read = self.shared_inputs
        is_complete = bool(read) and len(inputs) == len(
            self.inner_inputs
        )  # of a node that is copied
        return super().make_node(*inputs, *([] if is_complete else read))

    @property
    def shared_inputs(self) -> list[Variable]:
        """The shared variables that each application of the op reads besides its inputs."""
        return list(getattr(self, "_shared_inputs", ()))

    @property
    def inner_inputs(self) -> list[Variable]:
        """The variables that stand for the inputs in the inner graph."""
        return list(_core.inner_graph_of(self)[0])

    @property
    def inner_outputs(self) -> list[Variable]:
        """What the inner graph computes from inner_inputs."""
        return list(_core.inner_graph_of(self)[1])


_core.set_class_of_ops("OpFromGraph", OpFromGraph)


def infer_shape(
    outs: Sequence[Any], inputs: Sequence[TensorVariable], input_shapes: Sequence[Sequence[Any]]
) -> list[tuple[Any, ...]]:
    """The lengths of each of outs as expressions of the lengths of the inputs, given in input_shapes as numbers or integer scalars.

    >>> from bitale.compile.builders import infer_shape
    >>> x, n = pt.dmatrix("x"), pt.lscalar("n")
    >>> [(rows, columns)] = infer_shape([x.T[1:]], [x], [(n, 4)])
    >>> bt.function([n], [rows, columns])(7)
    [array(3), array(7)]
    """
    from bitale._core import empty

    if len(inputs) != len(input_shapes):
        raise ValueError(f"infer_shape: {len(inputs)} inputs, but {len(input_shapes)} shapes")
    placeholders = {x: empty(tuple(shape), dtype=x.dtype) for x, shape in zip(inputs, input_shapes)}
    replaced = _core.clone_replace(list(outs), placeholders)
    return [tuple(out.shape[axis] for axis in range(out.ndim)) for out in replaced]


class SymbolicOp(Op):
    """An op defined as a formula of its inputs, which a subclass builds in `build_inner_graph(*inputs)`.

    Compiled functions contain the formula in its place, so it fuses; derivatives are those of the
    formula, unless the subclass has a `pullback` or `pushforward`. `__props__` names the arguments
    of the op, which are passed by keyword. A subclass may convert inputs in
    `filter_inputs(*inputs)`.

    >>> from bitale.compile.builders import SymbolicOp
    >>> class Power(SymbolicOp):
    ...     __props__ = ("n",)
    ...     def build_inner_graph(self, x):
    ...         return [x**self.n]
    >>> Power(n=3)(pt.dscalar("x")).eval({"x": 2.0})
    array(8.)
    """

    __props__: Any = ()
    inline = True

    def __init__(self, input_types: Any = None, **kwargs: Any):
        unknown = [each for each in kwargs if each not in (*self.__props__, "inline", "strict")]
        if unknown:
            raise TypeError(f"{type(self).__name__}: no argument called {unknown[0]}")
        for name, value in kwargs.items():
            setattr(self, name, value)

    @staticmethod
    def filter_inputs(*inputs: Any) -> tuple[Any, ...]:
        """Return the inputs as variables."""
        return inputs

    def build_inner_graph(self, *inputs: Any) -> Any:
        """Return the outputs as expressions of the inputs: a list, or a single one."""
        raise NotImplementedError(f"{type(self).__name__} has no build_inner_graph")

    def make_node(self, *inputs: Any) -> Apply:
        given = list(self.filter_inputs(*inputs))
        leaves = [x if isinstance(x, TensorConstant) else x.type() for x in given]
        outputs = _as_list(self.build_inner_graph(*leaves))
        return Apply(self, given, [out.type() for out in outputs])

    def emit(self, node: Apply, *inputs: Any) -> Any:
        return self.build_inner_graph(*inputs)


__getattr__ = absent(__name__)

"""What ops written in Python may leave out or write in PyTensor's older ways, put into the one way that the library
asks for: called by the extension module with the op and its node."""

from __future__ import annotations

import inspect
from typing import Any, Sequence

import numpy as np

from bitale import _core
from bitale._core import Apply, Op, Variable


def _overrides(op: Op, name: str) -> bool:
    return getattr(type(op), name, None) is not getattr(Op, name, None) or name in getattr(
        op, "__dict__", ()
    )


def _parameters(method: Any) -> int | None:
    """How many positional arguments a method takes; None where any number will do or nobody knows."""
    try:
        parameters = inspect.signature(method).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return None
    return sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)


def infer_shape(op: Op, node: Apply, shapes: list[Any]) -> Any:
    """infer_shape(node, shapes) as well as infer_shape(fgraph, node, shapes); None where the op does not know."""
    method: Any = op.infer_shape
    arguments = (node, shapes) if _parameters(method) == 2 else (None, node, shapes)
    try:
        return method(*arguments)
    except (NotImplementedError, _core.ShapeError):
        return None


def pullback(
    op: Op, inputs: list[Variable], outputs: list[Variable], cotangents: list[Variable]
) -> Any:
    """By pullback, L_op or grad, whichever there is; else by the derivative of the formula; else None."""
    if _overrides(op, "pullback"):
        return op.pullback(inputs, outputs, cotangents)
    if _overrides(op, "L_op"):
        return op.L_op(inputs, outputs, cotangents)
    if _overrides(op, "grad"):
        return op.grad(inputs, cotangents)
    if _overrides(op, "emit"):
        return _pullback_of_formula(op, outputs[0].owner, inputs, cotangents)
    return None


def _pullback_of_formula(
    op: Any, node: Any, inputs: list[Variable], cotangents: list[Any]
) -> list[Variable]:
    leaves = [x.type() for x in inputs]
    given = op.emit(node, *leaves)
    formula = [given] if isinstance(given, Variable) else list(given)
    used = [k for k, ct in enumerate(cotangents) if not _core.is_disconnected(ct)]
    discrete = [x.dtype[:1] in "biu" for x in leaves]
    asked = [x for x, skip in zip(leaves, discrete) if not skip]
    found = iter(
        _core.pullback(
            [formula[k] for k in used],
            asked,
            [cotangents[k] for k in used],
            disconnected_inputs="ignore",
            return_disconnected="disconnected",
        )
        if asked
        else []
    )
    terms: list[Any] = [_core.disconnected() if skip else next(found) for skip in discrete]
    connected = [k for k, term in enumerate(terms) if not _core.is_disconnected(term)]
    replaced = _core.graph_replace(
        [terms[k] for k in connected], dict(zip(leaves, inputs)), strict=False
    )
    for k, term in zip(connected, replaced):
        terms[k] = term
    return terms


def pushforward(
    op: Op, inputs: list[Variable], outputs: list[Variable], tangents: list[Any]
) -> Any:
    """By pushforward or R_op, which takes None for what is disconnected and may give it."""
    if _overrides(op, "pushforward"):
        return op.pushforward(inputs, outputs, tangents)
    points = [None if _core.is_disconnected(t) else t for t in tangents]
    given = op.R_op(inputs, points)
    if not isinstance(given, (list, tuple)):
        return given
    return [_core.disconnected() if value is None else value for value in given]


class Batched(Op):
    """A core op over leading batch dimensions, one element of the batch after the other: what `vectorize` is for ops
    that have none of their own. batched: which inputs have the batch dimensions, all the same number of them."""

    __props__ = ("node_op", "batched", "ranks", "output_types")

    def __init__(self, core: Apply, batched: tuple[bool, ...]):
        leaves = [x if isinstance(x, _core.TensorConstant) else x.type() for x in core.inputs]
        self.core: Any = core.clone_with_new_inputs(
            leaves
        )  # without what computes the inputs, with the user's line
        self.node_op = core.op
        self.batched = batched
        self.ranks = tuple(x.ndim for x in self.core.inputs)
        self.output_types = tuple(x.type for x in self.core.outputs)

    def __str__(self) -> str:
        return f"Batched{{{self.node_op}}}"

    def make_node(self, *inputs: Any) -> Apply:
        first = self.batched.index(True)
        rank = inputs[first].ndim - self.ranks[first]
        lengths: list[int | None] = [None] * rank
        for x, is_batched in zip(inputs, self.batched):
            for axis in range(rank if is_batched else 0):
                if x.type.shape[axis] not in (None, 1) or lengths[axis] is None:
                    lengths[axis] = x.type.shape[axis]
        outputs = [
            _core.TensorType(t.dtype, (*[None] * rank, *t.shape))() for t in self.output_types
        ]
        return Apply(self, list(inputs), outputs)

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        shapes = [x.shape[: x.ndim - r] for x, r, b in zip(inputs, self.ranks, self.batched) if b]
        batch = np.broadcast_shapes(*shapes)
        given = [
            np.broadcast_to(x, (*batch, *x.shape[x.ndim - r :])) if b else x
            for x, r, b in zip(inputs, self.ranks, self.batched)
        ]
        results: list[Any] = [None] * len(self.output_types)
        for at in np.ndindex(*batch):
            element = [_read_only(x[at]) if b else x for x, b in zip(given, self.batched)]
            try:
                values = _core.perform_node(self.core, element)
            except Exception as error:
                if hasattr(error, "add_note"):  # from Python 3.11 on
                    error.add_note(f"  batch    element {at} of {tuple(batch)}")
                raise
            for k, value in enumerate(values):
                if results[k] is None:
                    results[k] = np.empty((*batch, *value.shape), value.dtype)
                if results[k].shape[len(batch) :] != value.shape:
                    raise ValueError(
                        f"{self.node_op}: elements of a batch have outputs of different shapes: "
                        f"{results[k].shape[len(batch) :]} and {value.shape}"
                    )
                results[k][at] = value
        for k in range(len(self.output_types)):
            if results[k] is None:
                raise ValueError(
                    f"{self.node_op}: an empty batch has no element to tell the shape of output {k}"
                )
            output_storage[k][0] = results[k]

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> list[Any]:
        core = self.core
        used = [k for k, ct in enumerate(cotangents) if not _core.is_disconnected(ct)]
        given = [core.outputs[k].type() for k in used]
        asked = [
            x
            for x in core.inputs
            if x.dtype[:1] not in "biu" and not isinstance(x, _core.TensorConstant)
        ]
        found = _core.pullback(
            [core.outputs[k] for k in used],
            asked,
            given,
            disconnected_inputs="ignore",
            return_disconnected="disconnected",
        )
        by_input = dict(zip(asked, found))
        batch = {core.inputs[i]: inputs[i] for i, b in enumerate(self.batched) if b}
        batch.update({core.outputs[k]: outputs[k] for k in range(len(outputs))})
        batch.update({ct: cotangents[k] for ct, k in zip(given, used)})
        plain = {core.inputs[i]: inputs[i] for i, b in enumerate(self.batched) if not b}
        terms = []
        for x, own, rank, is_batched in zip(inputs, core.inputs, self.ranks, self.batched):
            term = by_input.get(own, _core.disconnected())
            if not isinstance(term, _core.TensorVariable):  # disconnected, or undefined
                terms.append(term)
                continue
            (term,) = _core.vectorize_graph([term], batch)
            (term,) = _core.graph_replace([term], plain, strict=False)
            extra = term.ndim - rank
            if is_batched:
                terms.append(
                    term if extra else _core.zeros_like(x)
                )  # no cotangent depends on it: it is zero
            else:
                terms.append(_core.sum(term, axis=tuple(range(extra))) if extra else term)
        return terms


def _read_only(value: Any) -> Any:
    value = np.asarray(value)
    value.flags.writeable = False
    return value


def batched(op: Op, node: Apply, inputs: list[Any]) -> Apply:
    flags = tuple(x.ndim != core.ndim for x, core in zip(inputs, node.inputs))
    return Batched(node, flags).make_node(*inputs)


# ---- thunks ----------------------------------------------------------------------------------------------------------


def make_thunk(
    op: Op,
    node: Apply,
    storage_map: dict[Any, list[Any]],
    compute_map: dict[Any, list[bool]],
    no_recycling: Sequence[Any] = (),
    impl: str | None = None,
) -> Any:
    """The default of Op.make_thunk."""
    op.prepare_node(node, storage_map=storage_map, compute_map=compute_map, impl="py")
    return op.make_py_thunk(node, storage_map, compute_map, no_recycling)


def make_py_thunk(
    op: Op,
    node: Apply,
    storage_map: dict[Any, list[Any]],
    compute_map: dict[Any, list[bool]],
    no_recycling: Sequence[Any] = (),
    debug: bool = False,
) -> Any:
    """The default of Op.make_py_thunk."""
    perform = getattr(op, "debug_perform", op.perform) if debug else op.perform
    inputs = [storage_map[variable] for variable in node.inputs]
    outputs = [storage_map[variable] for variable in node.outputs]
    flags = [compute_map[variable] for variable in node.outputs] if compute_map else []

    def run() -> None:
        perform(node, [cell[0] for cell in inputs], outputs)
        for flag in flags:
            flag[0] = True

    thunk: Any = run
    thunk.inputs, thunk.outputs, thunk.perform, thunk.lazy = inputs, outputs, perform, False
    return thunk


def runner(op: Op, node: Apply, leaves: Sequence[Variable]) -> Any:
    """What computes nodes like this one, by a thunk that the op makes: a function of inputs and output storage."""
    own: Any = node.clone_with_new_inputs(list(leaves))
    cells: dict[Any, list[Any]] = {
        variable: [getattr(variable, "data", None)] for variable in own.inputs
    }
    cells.update({variable: [None] for variable in own.outputs})
    flags = {variable: [variable in own.inputs] for variable in cells}
    thunk = op.make_thunk(own, cells, flags, [], "py")
    inputs = [cells[variable] for variable in own.inputs]
    outputs = [cells[variable] for variable in own.outputs]

    def run(values: list[Any], storage: list[list[Any]]) -> None:
        try:
            for cell, value in zip(inputs, values):
                cell[0] = value
            if thunk() and getattr(thunk, "lazy", False):
                raise ValueError(
                    f"{op}: its thunk asks for inputs that it has: a lazy thunk returns nothing once it has computed"
                )
            for cell, result in zip(storage, outputs):
                cell[0] = result[0]
        finally:
            for cell in [*inputs, *outputs]:
                cell[0] = None

    return run

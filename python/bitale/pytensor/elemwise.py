"""Elementwise ops: each of PyTensor's scalar ops by the Bitale function of the same meaning."""

from __future__ import annotations

import functools
from typing import Any, Callable, Sequence

import pytensor.scalar.basic as ps
import pytensor.scalar.math as psm
from pytensor.scalar.loop import ScalarLoop
from pytensor.tensor.elemwise import Elemwise

import bitale.tensor as pt
from bitale._core import constant_value
from bitale._class_factory import SCALAR_FUNCTIONS
from bitale.pytensor.loop import Loop
from bitale.pytensor.registry import NotConverted, converts

# Those that either side lacks are omitted.
_FUNCTIONS: dict[type, Callable[..., Any]] = {
    getattr(module, cls): getattr(pt, name)
    for module in (ps, psm)
    for cls, name in SCALAR_FUNCTIONS.items()
    if hasattr(module, cls) and hasattr(pt, name)
}
# PyMC's own scalar ops, by name, because PyMC may not be installed.
_OF_PYMC: dict[str, Callable[..., Any]] = {
    "pymc.distributions.dist_math.I0e": lambda x: pt.ive(0, x),
    "pymc.distributions.dist_math.I1e": lambda x: pt.ive(1, x),
}
# These compute in the dtype of their arguments, which are not converted to the dtype of the result.
_COMPARING = (ps.LT, ps.GT, ps.LE, ps.GE, ps.EQ, ps.NEQ, ps.IsNan, ps.IsInf)


def _round_half_away_from_zero(x: Any) -> Any:
    whole = pt.trunc(x)
    return whole + pt.switch(pt.ge(pt.abs(x - whole), 0.5), pt.sign(x), pt.zeros_like(x))


def _clip(x: Any, low: Any, high: Any) -> Any:
    """PyTensor's clip looks at the lower bound first, which counts where the bounds are in the wrong order."""
    known = [constant_value(each) for each in (low, high)]
    if all(each is not None for each in known) and (known[0] <= known[1]).all():
        return pt.clip(x, low, high)
    return pt.switch(pt.lt(x, low), low, pt.switch(pt.gt(x, high), high, x))


def _inner(op: Any, inputs: Sequence[Any]) -> list[Any]:
    """The outputs of the inner graph of a scalar op, on tensors."""
    inner = op.fgraph
    values = dict(zip(inner.inputs, inputs))

    def value(x: Any) -> Any:
        return values[x] if x in values else pt.constant(x.data, dtype=x.type.dtype)

    for node in inner.toposort():
        outputs = apply_scalar_op(
            node.op, [x.type.dtype for x in node.outputs], tuple(map(value, node.inputs))
        )
        values.update(zip(node.outputs, outputs))
    return [value(x) for x in inner.outputs]


def _scalar_loop(op: Any, n_steps: Any, *given: Any) -> list[Any]:
    """One loop for all elements, each of which keeps its state when its own is over."""
    count = len(op.outputs) - op.is_while
    n_steps = pt.cast(n_steps, "int64")
    like = functools.reduce(pt.add, (pt.zeros_like(x, dtype="int8") for x in (n_steps, *given)))
    start = [
        pt.second(like, pt.cast(x, inner.type.dtype)) for x, inner in zip(given[:count], op.inputs)
    ]
    if n_steps.ndim:  # each element has its own number of steps
        max_steps = pt.max(pt.join(0, pt.zeros(1, dtype="int64"), pt.flatten(n_steps)))
    else:
        max_steps = pt.maximum(n_steps, 0)
    loop = Loop()
    for initial in (*start, pt.zeros_like(like, dtype="bool"), pt.constant(0, dtype="int64")):
        loop.add_result(initial)
    loop.begin(max_steps, op.name or "")
    (*states, over, i) = loop.states
    after = _inner(op, (*states, *given[count:]))
    # Only a tensor n_steps can give some elements fewer steps than others.
    active = pt.and_(pt.invert(over), pt.lt(i, n_steps)) if n_steps.ndim else pt.invert(over)
    loop.values = [pt.switch(active, new, old) for new, old in zip(after[:count], states)]
    over = pt.switch(active, after[count], over) if op.is_while else over
    loop.values += [over, i + 1]
    loop.finish(pt.all(over) if op.is_while else None)
    return list(loop.finals[: len(op.outputs)])


def _aligned(op: Any, dtype: str, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The inputs in the dtype that the operation computes in, where Bitale would choose another by itself."""
    if isinstance(op, (*_COMPARING, ps.Switch, psm.PolyGamma)):
        return inputs
    return tuple(
        x if x.dtype == dtype or x.dtype == "bool" and dtype == "bool" else pt.cast(x, dtype)
        for x in inputs
    )


def apply_scalar_op(op: Any, dtypes: list[str], inputs: tuple[Any, ...]) -> list[Any]:
    """The outputs, of these dtypes, of a scalar op applied to tensors. NotConverted where Bitale has no such function."""
    if isinstance(op, ps.Composite):
        return _inner(op, inputs)
    if isinstance(op, ScalarLoop):
        return _scalar_loop(op, *inputs)
    if isinstance(op, ps.Cast):
        return [pt.cast(inputs[0], dtypes[0])]
    if isinstance(op, (ps.Identity, ps.Real, ps.Conj)) and not inputs[0].dtype.startswith(
        "complex"
    ):
        return [inputs[0]]
    if isinstance(op, ps.Identity):
        return [inputs[0]]
    if isinstance(op, ps.RoundHalfAwayFromZero):
        return [_round_half_away_from_zero(pt.cast(inputs[0], dtypes[0]))]
    if isinstance(op, ps.Clip):
        return [_clip(*(x if x.dtype == dtypes[0] else pt.cast(x, dtypes[0]) for x in inputs))]
    function = next((_FUNCTIONS[cls] for cls in type(op).__mro__ if cls in _FUNCTIONS), None)
    if function is None:
        function = _OF_PYMC.get(f"{type(op).__module__}.{type(op).__qualname__}")
    if function is None:
        raise NotConverted(f"Bitale has no elementwise function {op}")
    result = _applied(function, op, inputs)
    if result.dtype != dtypes[0]:
        result = _applied(function, op, _aligned(op, dtypes[0], inputs))
    return [result if result.dtype == dtypes[0] else pt.cast(result, dtypes[0])]


def _applied(function: Callable[..., Any], op: Any, inputs: tuple[Any, ...]) -> Any:
    if isinstance(op, (ps.Add, ps.Mul)) and len(inputs) == 1:
        return inputs[0]
    return function(*inputs)


@converts(Elemwise)
def _elemwise(op: Any, node: Any, *inputs: Any) -> Any:
    return apply_scalar_op(op.scalar_op, [x.type.dtype for x in node.outputs], inputs)


@converts(ps.ScalarOp)
def _scalar(op: Any, node: Any, *inputs: Any) -> Any:
    return apply_scalar_op(op, [x.type.dtype for x in node.outputs], inputs)

"""Checks, branches, and ops that pass their input on."""

from __future__ import annotations

from typing import Any

import pytensor.gradient as gradient
from pytensor.compile.ops import DeepCopyOp, TypeCastingOp, ViewOp
from pytensor.raise_op import CheckAndRaise

import bitale as bt
import bitale.tensor as pt
from bitale import raise_op
from bitale.pytensor.op_imports import IfElse
from bitale.pytensor.registry import converts


@converts(
    DeepCopyOp,
    ViewOp,
    TypeCastingOp,
    gradient.ZeroGrad,
    gradient.UndefinedGrad,
    gradient.DisconnectedGrad,
    gradient.GradClip,
    gradient.GradScale,
)
def _same(op: Any, node: Any, x: Any, *_: Any) -> Any:
    return x


@converts(CheckAndRaise)
def _check(op: Any, node: Any, x: Any, *conditions: Any) -> Any:
    held = [c if c.dtype == "bool" else pt.neq(c, 0) for c in conditions]
    return raise_op.CheckAndRaise(op.exc_type, op.msg)(x, *held)


@converts(IfElse)
def _ifelse(op: Any, node: Any, condition: Any, *branches: Any) -> Any:
    found = bt.ifelse(condition, _parts(branches[: op.n_outs]), _parts(branches[op.n_outs :]))
    parts = iter(found if isinstance(found, (list, tuple)) else [found])
    return [
        pt.complex(next(parts), next(parts)) if x.dtype.startswith("complex") else next(parts)
        for x in branches[: op.n_outs]
    ]


def _parts(values: Any) -> list[Any]:
    """Branches have real values."""
    return [
        part
        for x in values
        for part in ((pt.real(x), pt.imag(x)) if x.dtype.startswith("complex") else (x,))
    ]

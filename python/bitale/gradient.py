"""Derivatives of expressions."""

from __future__ import annotations

from bitale import _core
from bitale._core import (
    DisconnectedInputError,
    DisconnectedType,
    GradientError,
    NullType,
    NullTypeGradError,
    disconnected_grad,
    grad,
    hessian,
    hessian_vector_product,
    jacobian,
    pullback,
    pushforward,
    subgraph_grad,
    verify_grad,
    zero_grad,
)
from typing import Any

__all__ = [
    "DisconnectedInputError",
    "DisconnectedType",
    "GradientError",
    "Lop",
    "NullType",
    "NullTypeGradError",
    "Rop",
    "disconnected_grad",
    "disconnected_type",
    "grad",
    "grad_not_implemented",
    "grad_undefined",
    "hessian",
    "hessian_vector_product",
    "jacobian",
    "pullback",
    "pushforward",
    "subgraph_grad",
    "verify_grad",
    "zero_grad",
]


def Lop(f: Any, wrt: Any, eval_points: Any, consider_constant: Any = None, disconnected_inputs: str = "raise") -> Any:
    """The older name of `pullback`."""
    return pullback(f, wrt, eval_points, consider_constant, disconnected_inputs)


def Rop(
    f: Any, wrt: Any, eval_points: Any, disconnected_outputs: str = "raise", return_disconnected: str = "zero"
) -> Any:
    """The older name of `pushforward`."""
    return pushforward(f, wrt, eval_points, disconnected_outputs, return_disconnected)


disconnected_type = DisconnectedType()


def grad_undefined(op: Any, x_pos: int, x: Any, comment: str = "") -> Any:
    """What a pullback answers for an input with respect to which the op has no derivative."""
    return _core.undefined_gradient(f"{op} has no derivative with respect to its input {x_pos}. {comment}".strip())


def grad_not_implemented(op: Any, x_pos: int, x: Any, comment: str = "") -> Any:
    """What a pullback answers for an input whose derivative nobody has written down."""
    return _core.undefined_gradient(
        f"the derivative of {op} with respect to its input {x_pos} is not implemented. {comment}".strip()
    )

"""Derivatives of expressions."""

from __future__ import annotations

from bitale._core import (
    DisconnectedInputError,
    GradientError,
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
    "GradientError",
    "Lop",
    "NullTypeGradError",
    "Rop",
    "disconnected_grad",
    "grad",
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

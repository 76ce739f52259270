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
    gauss_newton_vector_product,
    grad,
    grad_clip,
    grad_scale,
    hessian,
    hessian_vector_product,
    jacobian,
    pullback,
    pushforward,
    subgraph_grad,
    undefined_grad,
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
    "as_list_or_tuple",
    "gauss_newton_vector_product",
    "grad",
    "grad_clip",
    "grad_scale",
    "grad_not_implemented",
    "grad_undefined",
    "hessian",
    "hessian_vector_product",
    "jacobian",
    "pullback",
    "pushforward",
    "pushforward_through_pullback",
    "subgraph_grad",
    "undefined_grad",
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


def as_list_or_tuple(use_list: bool, use_tuple: bool, outputs: Any) -> Any:
    """One output as it is, or in a list or a tuple as asked; several in a list, or in a tuple if asked."""
    if use_list and use_tuple:
        raise ValueError("as_list_or_tuple: a list or a tuple, not both")
    if isinstance(outputs, (list, tuple)):
        return tuple(outputs) if use_tuple else list(outputs)
    return (outputs,) if use_tuple else [outputs] if use_list else outputs


def pushforward_through_pullback(
    outputs: Any, inputs: Any, tangents: Any, disconnected_outputs: str = "raise", **keywords: Any
) -> Any:
    """The same as `pushforward`, which takes the transpose of a pullback where an op has no pushforward."""
    return pushforward(outputs, inputs, tangents, disconnected_outputs, **keywords)


def verify_grad(
    fun: Any,
    pt: Any,
    n_tests: int = 2,
    rng: Any = None,
    eps: float | None = None,
    out_type: Any = None,
    abs_tol: float | None = None,
    rel_tol: float | None = None,
    mode: Any = None,
    cast_to_output_type: bool = False,
    no_debug_ref: bool = True,
    *,
    seed: int = 42,
) -> None:
    """Compares the gradient of fun with finite differences at a point; GradientError when they differ.

    fun: a function of variables; pt: a list of arrays. rng: a numpy.random.Generator that gives the seed. out_type and the
    last two flags are there for PyTensor's sake: the point's dtypes say what is computed with.
    """
    if rng is not None:
        seed = int(rng.integers(2**31)) if hasattr(rng, "integers") else int(rng.randint(2**31 - 1))
    if mode is not None:
        from bitale.compile import get_mode

        mode = get_mode(mode)
    _core.verify_grad(fun, pt, n_tests, seed, eps or 0.0, abs_tol or 0.0, rel_tol or 0.0, mode)

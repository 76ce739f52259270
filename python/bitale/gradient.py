"""Derivatives of expressions."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np

from bitale._geography import absent
from bitale import _core
from bitale._core import (
    Lop,
    Rop,
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
    jacfwd,
    jacobian,
    pullback,
    pushforward,
    pushforward_through_pullback,
    undefined_grad,
    zero_grad,
)

if TYPE_CHECKING:
    from bitale.tensor.op_classes import (
        DisconnectedGrad,
        GradClip,
        GradScale,
        UndefinedGrad,
        ZeroGrad,
    )

__all__ = [
    "DisconnectedGrad",
    "DisconnectedInputError",
    "DisconnectedType",
    "GradClip",
    "GradScale",
    "GradientError",
    "Lop",
    "NullType",
    "NullTypeGradError",
    "Rop",
    "UndefinedGrad",
    "ZeroGrad",
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
    "jacfwd",
    "jacobian",
    "mode_not_slow",
    "null_type",
    "numeric_grad",
    "pullback",
    "pushforward",
    "pushforward_through_pullback",
    "subgraph_grad",
    "undefined_grad",
    "verify_grad",
    "zero_grad",
]


disconnected_type = DisconnectedType()
null_type = _core.undefined_gradient("(no explanation given)").type
# Ops under older names, and their classes: made when they are named, as all classes of ops.
_OPS = {
    "disconnected_grad_": "DisconnectedGrad",
    "undefined_grad_": "UndefinedGrad",
    "zero_grad_": "ZeroGrad",
}


def __getattr__(name: str) -> Any:
    if name in _OPS or name in (
        "DisconnectedGrad",
        "GradClip",
        "GradScale",
        "UndefinedGrad",
        "ZeroGrad",
    ):
        found = getattr(importlib.import_module("bitale.tensor.op_classes"), _OPS.get(name, name))
        return found() if name in _OPS else found
    return absent(__name__)(name)


def subgraph_grad(
    wrt: Any, end: Any, start: Any = None, cost: Any = None, details: bool = False
) -> Any:
    """Compute gradients through a part of a graph.

    Parameters
    ----------
    wrt : sequence of Variable
        Variables with respect to which to differentiate.
    end : sequence of Variable
        Variables where the part ends, for which gradients are returned as
        well.
    start : mapping, optional
        Variables where the part begins, and the gradients there.
    cost : TensorVariable, optional
        Scalar to differentiate in addition.
    details : bool
        Also return the separate gradients of `start` and of `cost`.

    Returns
    -------
    wrt_grads : list of TensorVariable
        Gradients with respect to `wrt`.
    end_grads : list of TensorVariable
        Gradients with respect to `end`.

    See Also
    --------
    bitale.grad

    Examples
    --------
    >>> x, w = pt.dvectors("x", "w")
    >>> h = x * w
    >>> by_w, by_h = bt.subgraph_grad([w], [h], cost=(h**2).sum() + w.sum())
    >>> bt.function([x, w], [*by_w, *by_h])([1.0], [3.0])
    [array([1.]), array([6.])]
    """
    found = _core.subgraph_grad(wrt, end, start, cost)
    if not details:
        return found
    of_start = (
        None
        if start is None
        else grad(
            None,
            list(wrt),
            known_grads=dict(start),
            consider_constant=list(end),
            disconnected_inputs="ignore",
        )
    )
    of_cost = (
        None
        if cost is None
        else grad(cost, list(wrt), consider_constant=list(end), disconnected_inputs="ignore")
    )
    return (*found, of_start, of_cost)


def mode_not_slow(mode: Any) -> Any:
    """Mode itself, or FAST_RUN in place of DebugMode.

    Parameters
    ----------
    mode : Mode or str
        Mode.

    Returns
    -------
    Mode or str
        A mode that does not check every value.

    Examples
    --------
    >>> isinstance(bt.gradient.mode_not_slow("DebugMode"), bt.compile.DebugMode)
    False
    """
    from bitale.compile.mode import get_mode

    chosen = get_mode(mode)
    return (
        get_mode("FAST_RUN")
        if isinstance(chosen, _core.DebugMode) or mode in ("DebugMode", "DEBUG_MODE")
        else chosen
    )


class numeric_grad:
    """Gradient of a function of arrays by finite differences.

    Parameters
    ----------
    f : callable
        Function from arrays to a number.
    pt : array or list of arrays
        Point.
    eps : float, optional
        Step; by default one that fits the dtype of lowest precision.
    out_type : dtype_like, optional
        Dtype of the result of `f`.

    Attributes
    ----------
    gf : array or list of arrays
        The gradient, with the structure of `pt`.

    Raises
    ------
    TypeError
        If the dtypes are not floating-point.

    See Also
    --------
    verify_grad
    """

    type_eps = {"float64": 1e-7, "float32": 3e-4, "float16": 1e-1}

    def __init__(self, f: Any, pt: Any, eps: float | None = None, out_type: Any = None) -> None:
        points = [np.array(each) for each in (pt if isinstance(pt, (list, tuple)) else [pt])]
        for each in points:
            if each.dtype.kind != "f":
                raise TypeError(f"numeric_grad: expected floats, got an array of {each.dtype}")
        kinds = [each.dtype.name for each in points] + (
            [np.dtype(out_type).name] if out_type is not None else []
        )
        step = max((self.type_eps[kind] for kind in kinds), default=1e-7) if eps is None else eps
        at = f(*[each.copy() for each in points])
        gradients = []
        for k, point in enumerate(points):
            gradient = np.empty_like(point)
            for i in np.ndindex(point.shape):
                moved = point.copy()
                moved[i] += step
                # Because of rounding, the actual difference is not exactly step.
                difference = float(moved[i]) - float(point[i])
                gradient[i] = (f(*points[:k], moved, *points[k + 1 :]) - at) / difference
            gradients.append(gradient)
        self.gf = gradients if isinstance(pt, (list, tuple)) else gradients[0]

    @staticmethod
    def abs_rel_err(a: Any, b: Any) -> tuple[Any, Any]:
        """Absolute and relative errors of corresponding elements."""
        difference = np.abs(np.asarray(a) - b)
        return difference, difference / np.maximum(np.abs(a) + np.abs(b), [1e-8])

    def abs_rel_errors(self, g_pt: Any) -> list[tuple[Any, Any]]:
        """Those of each array of g_pt, against this gradient."""
        return [
            self.abs_rel_err(a, b)
            for a, b in zip(self._list(g_pt), self._list(self.gf), strict=True)
        ]

    def max_err(self, g_pt: Any, abs_tol: float, rel_tol: float) -> tuple[int, int, float, float]:
        """Which array and which of its elements is furthest from this gradient, measured by the tolerances, and its errors."""
        worst = (0, 0, 0.0, 0.0)
        largest = -1.0
        for k, (absolute, relative) in enumerate(self.abs_rel_errors(g_pt)):
            excess = np.minimum(absolute / abs_tol, relative / rel_tol).ravel()
            if excess.size and not excess.max() <= largest:
                i = int(np.argmax(excess))
                largest = float(excess[i])
                worst = (k, i, float(np.ravel(absolute)[i]), float(np.ravel(relative)[i]))
        return worst

    @staticmethod
    def _list(given: Any) -> list[Any]:
        return list(given) if isinstance(given, (list, tuple)) else [given]


def grad_undefined(op: Any, x_pos: int, x: Any, comment: str = "") -> Any:
    """Result of a pullback for an input with respect to which an op has no derivative.

    Parameters
    ----------
    op : Op
        The op.
    x_pos : int
        Index of the input.
    x : Variable
        The input.
    comment : str
        Reason, for the message of an error.

    Returns
    -------
    Variable
        Variable of a NullType.
    """
    return _core.undefined_gradient(
        f"{op} has no derivative with respect to its input {x_pos}. {comment}".strip()
    )


def grad_not_implemented(op: Any, x_pos: int, x: Any, comment: str = "") -> Any:
    """Result of a pullback for an input whose derivative is not implemented.

    Parameters
    ----------
    op : Op
        The op.
    x_pos : int
        Index of the input.
    x : Variable
        The input.
    comment : str
        Reason, for the message of an error.

    Returns
    -------
    Variable
        Variable of a NullType.
    """
    return _core.undefined_gradient(
        f"the derivative of {op} with respect to its input {x_pos} is not implemented. {comment}".strip()
    )


def as_list_or_tuple(use_list: bool, use_tuple: bool, outputs: Any) -> Any:
    """Put outputs into a list or a tuple.

    Parameters
    ----------
    use_list : bool
        Whether to return a list.
    use_tuple : bool
        Whether to return a tuple.
    outputs : object or sequence
        Outputs.

    Returns
    -------
    object, list or tuple
        A single output as it is, unless one of the flags is set.

    Examples
    --------
    >>> bt.gradient.as_list_or_tuple(True, False, 3), bt.gradient.as_list_or_tuple(False, False, [3])
    ([3], [3])
    """
    if use_list and use_tuple:
        raise ValueError("as_list_or_tuple: a list or a tuple, not both")
    if isinstance(outputs, (list, tuple)):
        return tuple(outputs) if use_tuple else list(outputs)
    return (outputs,) if use_tuple else [outputs] if use_list else outputs


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
    """Compare the gradient of a function with finite differences.

    Parameters
    ----------
    fun : callable
        Builds an expression from variables.
    pt : list of arrays
        Point.
    n_tests : int
        Number of random projections of the output.
    rng : numpy.random.Generator, optional
        Generator of the seed.
    eps : float, optional
        Step of the differences.
    out_type : dtype_like, optional
        Accepted for compatibility with PyTensor: the dtypes of the point
        determine the computation.
    abs_tol : float, optional
        Absolute tolerance.
    rel_tol : float, optional
        Relative tolerance.
    mode : Mode or str, optional
        Mode of the compiled functions.
    cast_to_output_type : bool
        Accepted for compatibility with PyTensor.
    no_debug_ref : bool
        Accepted for compatibility with PyTensor.
    seed : int
        Seed of the projections.

    Raises
    ------
    GradientError
        If both differ by more than the tolerances.

    See Also
    --------
    numeric_grad

    Examples
    --------
    >>> bt.verify_grad(lambda x: (x**2).sum(), [np.array([1.0, 2.0])])
    """
    if rng is not None:
        seed = int(rng.integers(2**31)) if hasattr(rng, "integers") else int(rng.randint(2**31 - 1))
    if mode is not None:
        from bitale.compile.mode import get_mode

        mode = get_mode(mode)
    _core.verify_grad(fun, pt, n_tests, seed, eps or 0.0, abs_tol or 0.0, rel_tol or 0.0, mode)

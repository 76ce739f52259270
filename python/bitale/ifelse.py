"""A choice between values of which only one is computed."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from bitale import _core
from bitale._core import TensorVariable, Variable

if TYPE_CHECKING:
    import numpy.typing as npt

    from bitale.tensor.op_classes import IfElse

__all__ = ["IfElse", "ifelse"]


@overload
def ifelse(condition: Any, then_branch: Sequence[Any], else_branch: Sequence[Any], name: str | None = None) -> list[TensorVariable]: ...


@overload
def ifelse(
    condition: Any, then_branch: Variable | npt.NDArray[Any] | float, else_branch: Variable | npt.NDArray[Any] | float, name: str | None = None
) -> TensorVariable: ...


def ifelse(condition: Any, then_branch: Any, else_branch: Any, name: str | None = None) -> Any:
    """Choose between two expressions, of which only one is computed.

    Parameters
    ----------
    condition : TensorVariable or bool
        Scalar, true where it is not 0.
    then_branch : tensor_like or list of these
        Result where it is true.
    else_branch : tensor_like or list of these
        Result where it is false, of the same dtypes and ranks; lengths may
        differ.
    name : str, optional
        Name of the result.

    Returns
    -------
    TensorVariable or list of TensorVariable
        The chosen branch.

    Raises
    ------
    TypeError
        If the condition is not a scalar, or the branches have different types.
    ValueError
        If the branches are lists of different lengths, or empty.

    See Also
    --------
    bitale.tensor.switch

    Notes
    -----
    An error in the other branch does not appear. The gradient is that of the
    chosen branch; from the other, zeros are propagated to its inputs.

    Examples
    --------
    >>> x = pt.dscalar("x")
    >>> bt.ifelse(x > 0, pt.log(x), -x).eval({x: -2.0})
    array(2.)
    """
    sides = [list(side) if isinstance(side, (list, tuple)) else [side] for side in (then_branch, else_branch)]
    out = _core.ifelse_of_lists(condition, *sides)
    if name is not None:
        for i, variable in enumerate(out):
            variable.name = name if len(out) == 1 else f"{name}{{{i}}}"
    is_list = isinstance(then_branch, (list, tuple)) or isinstance(else_branch, (list, tuple))
    return out if is_list else out[0]


def __getattr__(name: str) -> Any:
    if name == "IfElse":
        return importlib.import_module("bitale.tensor.op_classes").IfElse
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

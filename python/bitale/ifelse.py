"""A choice between values of which only one is computed."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from bitale._geography import absent
from bitale import _core
from bitale._core import TensorVariable, Variable

if TYPE_CHECKING:
    import numpy.typing as npt

    from bitale.tensor.op_classes import IfElse

__all__ = ["IfElse", "ifelse"]


@overload
def ifelse(
    condition: Any, then_branch: Sequence[Any], else_branch: Sequence[Any], name: str | None = None
) -> list[TensorVariable]: ...


@overload
def ifelse(
    condition: Any,
    then_branch: Variable | npt.NDArray[Any] | float,
    else_branch: Variable | npt.NDArray[Any] | float,
    name: str | None = None,
) -> TensorVariable: ...


def ifelse(condition: Any, then_branch: Any, else_branch: Any, name: str | None = None) -> Any:
    """Choose between two expressions, of which only one is computed.

    Parameters
    ----------
    condition : TensorVariable or bool
        Scalar, true where it is not 0.
    then_branch : tensor_like or tree of these
        Result where it is true; in lists, dicts and other trees, several.
    else_branch : tensor_like or tree of these
        Result where it is false, of the same structure, dtypes and ranks;
        lengths may differ.
    name : str, optional
        Name of the result.

    Returns
    -------
    TensorVariable or tree of TensorVariable
        The chosen branch.

    Raises
    ------
    TypeError
        If the condition is not a scalar, or the branches have different types.
    ValueError
        If the branches have different structures, or are empty.

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
    if isinstance(then_branch, (list, tuple)) != isinstance(else_branch, (list, tuple)):
        then_branch, else_branch = (
            side if isinstance(side, (list, tuple)) else [side]
            for side in (then_branch, else_branch)
        )
    if _core.is_registered(condition):  # labelled
        (condition,), _ = _core.tree_flatten(condition)
    items, outer = _core.tree_flatten(then_branch, _core.is_registered)
    others = outer.flatten_like(else_branch, "ifelse: else_branch")
    if not items and not isinstance(then_branch, dict):
        return _core.ifelse_of_lists(condition, [], [])  # which says that there is nothing
    sides: tuple[list[Any], list[Any]] = ([], [])
    made: list[
        tuple[int, Any]
    ] = []  # for each item the number of its variables, and how these are put together
    for a, b in zip(items, others):
        parts: tuple[Any, Any, Any] = ([a], [b], None)
        if _core.is_registered(a) or _core.is_registered(b):
            parts = _core.tree_joined(a, b)
        for side, part in zip(sides, parts):
            side.extend(part)
        made.append((len(parts[0]), parts[2]))
    found = iter(_core.ifelse_of_lists(condition, *sides))
    out = []
    for (count, form), a in zip(made, items):
        own = [next(found) for _ in range(count)]
        out.append(own[0] if form is None else _core.tree_chosen(a, form, own))
        if name is not None and form is None:
            out[-1].name = name if len(items) == 1 else f"{name}{{{len(out) - 1}}}"
    return outer.unflatten(out)


def __getattr__(name: str) -> Any:
    if name == "IfElse":
        return importlib.import_module("bitale.tensor.op_classes").IfElse
    return absent(__name__)(name)

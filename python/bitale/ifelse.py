"""A choice between values of which only one is computed."""

from __future__ import annotations

from typing import Any

from bitale import _core
from bitale.tensor.op_classes import IfElse

__all__ = ["IfElse", "ifelse"]


def ifelse(condition: Any, then_branch: Any, else_branch: Any, name: str | None = None) -> Any:
    """then_branch where the scalar condition is true (not zero), else else_branch (PyTensor's pytensor.ifelse.ifelse).

    Both are a variable, or lists of as many, of the same dtypes and ranks on both sides; lengths may differ. Only what
    the chosen branch needs is computed, and an error in the other does not appear. The gradient is that of the chosen
    branch; from a branch that is not taken, zeros are propagated to its inputs. name: of the result.

    TypeError for a condition that is no scalar, or values of different types, naming them; ValueError for lists of
    different lengths, or none.

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

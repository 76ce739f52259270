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
    sides = [
        list(side) if isinstance(side, (list, tuple)) else [side]
        for side in (then_branch, else_branch)
    ]
    if any(isinstance(each, _core.SparseVariable) for side in sides for each in side):
        out = _of_matrices(condition, *sides)
        return (
            out
            if isinstance(then_branch, (list, tuple)) or isinstance(else_branch, (list, tuple))
            else out[0]
        )
    out = _core.ifelse_of_lists(condition, *sides)
    if name is not None:
        for i, variable in enumerate(out):
            variable.name = name if len(out) == 1 else f"{name}{{{i}}}"
    is_list = isinstance(then_branch, (list, tuple)) or isinstance(else_branch, (list, tuple))
    return out if is_list else out[0]


def _of_matrices(condition: Any, then: list[Any], other: list[Any]) -> list[Any]:
    """Choices of which some are between sparse matrices: of their elements, and of their positions where these differ."""
    if len(then) != len(other):
        raise ValueError(
            f"ifelse: expected as many results in both branches, got {len(then)} and {len(other)}"
        )
    out = []
    for a, b in zip(then, other):
        are_sparse = [isinstance(each, _core.SparseVariable) for each in (a, b)]
        if not any(are_sparse):
            out.append(ifelse(condition, a, b))
            continue
        if not all(are_sparse):
            raise TypeError(
                f"ifelse: {a!r} and {b!r}: expected two sparse matrices; A.todense() is a tensor"
            )
        if a.same_pattern(b):
            out.append(a.with_data(ifelse(condition, a.data, b.data)))
            continue
        if a.format != b.format:
            raise TypeError(
                f"ifelse: {a!r} and {b!r} have different formats; A.tocsr() and A.tocsc() convert"
            )
        of_a, of_b = (
            [x.data, *(part.astype("int64") for part in (x.indices, x.indptr, *x.lengths))]
            for x in (a, b)
        )
        data, indices, indptr, rows, columns = _core.ifelse_of_lists(condition, of_a, of_b)
        out.append(_core.sparse_matrix(a.format, data, indices, indptr, rows, columns, False))
    return out


def __getattr__(name: str) -> Any:
    if name == "IfElse":
        return importlib.import_module("bitale.tensor.op_classes").IfElse
    return absent(__name__)(name)

"""Helpers for graphs of steps, under PyTensor's name for this module."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from typing import Any

from bitale import _core
from bitale._core import Constant, Variable, clone_replace, equal_computations
from bitale._geography import finder
from bitale.graph.traversal import toposort

__all__ = [
    "FieldInfo",
    "InnerFunctionError",
    "Validator",
    "default_filter_scanargs",
    "expand_empty",
    "forced_replace",
    "reconstruct_graph",
    "safe_index",
    "safe_new",
]

FieldInfo = namedtuple("FieldInfo", ("name", "agg_name", "index", "inner_index", "agg_index"))


class InnerFunctionError(Exception):
    """An error of a step of a loop."""


def safe_new(x: Any, tag: str = "", dtype: Any = None) -> Any:
    """Make a variable of another one's type.

    Parameters
    ----------
    x : Variable
        Variable; a constant is returned as it is.
    tag : str, optional
        What is added to its name.
    dtype : dtype_like, optional
        Another dtype.

    Returns
    -------
    Variable
        New leaf.

    Examples
    --------
    >>> from bitale.scan.utils import safe_new
    >>> safe_new(pt.dvector("x"), "_copy")
    x_copy
    """
    if not isinstance(x, Variable):
        x = _core.as_tensor_variable(x)
    if dtype is not None:
        x = x if x.dtype == dtype else _core.cast(x, dtype)
    if isinstance(x, Constant):
        return x
    new = x.type()
    if x.name is not None:
        new.name = x.name + tag
    return new


def reconstruct_graph(
    inputs: Sequence[Any], outputs: Any, tag: str | None = None
) -> tuple[list[Any], Any]:
    """Copy expressions on new inputs.

    Parameters
    ----------
    inputs : sequence of Variable
        Inputs.
    outputs : Variable or list of Variable
        Expressions.
    tag : str, optional
        What is added to the inputs' names.

    Returns
    -------
    tuple
        New inputs, and the expressions of them.
    """
    new = [safe_new(x, tag or "") for x in inputs]
    return new, clone_replace(outputs, dict(zip(inputs, new)))


def expand_empty(tensor_var: Any, size: Any) -> Any:
    """Append rows of any value to a tensor.

    Parameters
    ----------
    tensor_var : TensorVariable
        Tensor.
    size : int or TensorVariable
        How many.

    Returns
    -------
    TensorVariable
        The longer tensor.
    """
    if isinstance(size, int) and size == 0:
        return tensor_var
    length = tensor_var.shape[0]
    shape = [size + length, *(tensor_var.shape[i] for i in range(1, tensor_var.ndim))]
    return _core.set_subtensor(_core.zeros(shape, tensor_var.dtype)[:length], tensor_var)


def forced_replace(out: Any, x: Any, y: Any) -> Any:
    """Replace everything that computes the same as an expression.

    Parameters
    ----------
    out : TensorVariable or None
        Expression.
    x : TensorVariable
        What is replaced, wherever it or an equal expression occurs.
    y : TensorVariable
        Replacement.

    Returns
    -------
    TensorVariable or None
        The changed expression.

    Examples
    --------
    >>> from bitale.scan.utils import forced_replace
    >>> a, y = pt.dscalars("a", "y")
    >>> bt.pprint(forced_replace(pt.exp(a) * (1 - pt.exp(a)), pt.exp(a), y))
    'y * (1 - y)'
    """
    if out is None:
        return None
    found = [
        variable
        for node in toposort([out])
        for variable in node.outputs
        if variable.type == x.type and equal_computations([variable], [x])
    ]
    return clone_replace(out, dict.fromkeys(found, y)) if found else out


def safe_index(lst: Sequence[Any], x: Any) -> int | None:
    """The position of an object; None where it is not there."""
    return next((i for i, each in enumerate(lst) if each is x), None)


def default_filter_scanargs(x: str) -> bool:
    """Whether a name is one of a field of loops."""
    return x.startswith(("inner_", "outer_"))


class Validator:
    """Determines whether variables can be computed without some others.

    valid: variables that may be used; invalid: variables that may not; valid_equivalent:
    replacements of invalid ones.
    """

    def __init__(
        self,
        valid: Sequence[Any] | None = None,
        invalid: Sequence[Any] | None = None,
        valid_equivalent: dict[Any, Any] | None = None,
    ):
        self.valid_equivalent = dict(valid_equivalent or {})
        self.valid = {*(valid or ()), *self.valid_equivalent.values()}
        self.invalid = {*(invalid or ()), *self.valid_equivalent}

    def check(self, out: Any) -> tuple[Any, bool] | None:
        """(out, True) if it can be computed; (an equivalent, False) if another variable can replace it; else None."""
        for node in toposort([out], blockers=[*self.valid, *self.invalid]):
            replaced = {
                v: self.valid_equivalent[v] for v in node.inputs if v in self.valid_equivalent
            }
            if any(v in self.invalid and v not in replaced for v in node.inputs):
                self.invalid.update(node.outputs)
            elif replaced:
                copy: Any = node.clone_with_new_inputs([replaced.get(v, v) for v in node.inputs])
                self.invalid.update(node.outputs)
                self.valid.update(copy.outputs)
                self.valid_equivalent.update(zip(node.outputs, copy.outputs))
            else:
                self.valid.update(node.outputs)
        if out in self.valid_equivalent:
            return self.valid_equivalent[out], False
        return None if out in self.invalid else (out, True)


__getattr__ = finder(__name__, "scan.args", "scan")

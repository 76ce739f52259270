"""How ops store an index: for each dimension, `idx_list` has an element (the number of an input) or a slice (of numbers of inputs, or None); these numbers count the inputs after the tensor. PyTensor's names for the conversions between both forms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bitale._deprecation import warn_deprecated
from bitale.typing import Operand

import numpy as np

from bitale._core import (
    TensorConstant,
    TensorVariable,
    Variable,
    as_tensor_variable,
    cast,
    clip,
    constant,
    inc_subtensor,
    maximum,
    set_subtensor,
    switch,
    zeros,
)

__all__ = [
    "advanced_inc_subtensor1",
    "advanced_set_subtensor1",
    "advanced_subtensor1",
    "as_index_constant",
    "as_index_literal",
    "as_scalar_index_variable",
    "as_tensor_index_variable",
    "basic_shape",
    "basic_subtensor",
    "flatten_index_variables",
    "get_canonical_form_slice",
    "get_idx_list",
    "get_slice_elements",
    "indexed_result_shape",
    "indices_from_subtensor",
    "slice_len",
    "slice_static_length",
    "unflatten_index_variables",
]


def flatten_index_variables(idx_vars: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """The idx_list of an index, and the values that it counts.

    >>> from bitale.tensor.subtensor import flatten_index_variables
    >>> flatten_index_variables((slice(2, None), 7))
    ([slice(0, None, None), 1], [2, 7])
    """
    flat: list[Any] = []

    def number(part: Any) -> int | None:
        if part is None:
            return None
        flat.append(part)
        return len(flat) - 1

    listed = [
        slice(number(i.start), number(i.stop), number(i.step))
        if isinstance(i, slice)
        else number(i)
        for i in idx_vars
    ]
    if None in listed:
        raise TypeError(
            'flatten_index_variables: new dimensions are not part of an index list; x[None] is x.dimshuffle("x", ...)'
        )
    return listed, flat


def unflatten_index_variables(
    flat_indices: Sequence[Any], idx_list: Sequence[Any]
) -> tuple[Any, ...]:
    """The index that has this idx_list, given the values that it counts.

    >>> from bitale.tensor.subtensor import unflatten_index_variables
    >>> unflatten_index_variables([2, 7], [slice(0, None), 1])
    (slice(2, None, None), 7)
    """

    def part(number: int | None) -> Any:
        return None if number is None else flat_indices[number]

    return tuple(
        slice(part(i.start), part(i.stop), part(i.step))
        if isinstance(i, slice)
        else flat_indices[i]
        for i in idx_list
    )


def indices_from_subtensor(op_indices: Sequence[Any], idx_list: Sequence[Any]) -> tuple[Any, ...]:
    """The index of a node: op_indices are its inputs after the tensor (and after the value, of changed copies), idx_list is its op's.

    >>> from bitale.tensor.subtensor import indices_from_subtensor
    >>> x, i = pt.dmatrix("x"), pt.lscalar("i")
    >>> node = x[:, i].owner
    >>> indices_from_subtensor(node.inputs[1:], node.op.idx_list)
    (slice(None, None, None), i)
    """
    return unflatten_index_variables(op_indices, idx_list)


def get_idx_list(inputs: Sequence[Any], idx_list: Sequence[Any]) -> tuple[Any, ...]:
    """The index of a Subtensor node with these inputs, the first of which is the tensor."""
    return unflatten_index_variables(inputs[1:], idx_list)


def as_index_constant(a: Any) -> Any:
    """A number as a constant, a slice with constants as bounds; None and variables as they are, arrays as constants."""
    if a is None or isinstance(a, Variable):
        return a
    if isinstance(a, slice):
        return slice(
            as_index_constant(a.start), as_index_constant(a.stop), as_index_constant(a.step)
        )
    if isinstance(a, (int, np.integer)):
        return constant(a, dtype="int64")
    return as_tensor_variable(a)


def as_index_literal(idx: Any) -> Any:
    """A constant as its number, a slice of constants as one of numbers; numbers and None as they are. TypeError for other variables."""
    if isinstance(idx, slice):
        return slice(
            as_index_literal(idx.start), as_index_literal(idx.stop), as_index_literal(idx.step)
        )
    if idx is None or isinstance(idx, (int, np.integer)):
        return idx
    if isinstance(idx, TensorConstant) and idx.ndim == 0:
        return int(idx.data)
    raise TypeError(f"as_index_literal: expected constants, got {idx!r}")


def _is_number(*parts: Any) -> bool:
    return all(part is None or isinstance(part, (int, np.integer)) for part in parts)


def get_canonical_form_slice(theslice: Any, length: Any) -> tuple[Any, Any]:
    """The same elements of a dimension of this length as a slice with bounds within it and a positive step, together with 1, or -1 where the elements are in the opposite order; for the number of an element, that number from the front, and 1.

    >>> from bitale.tensor.subtensor import get_canonical_form_slice
    >>> get_canonical_form_slice(slice(None, None, -2), 10), get_canonical_form_slice(-1, 10)
    ((slice(1, 10, 2), -1), (9, 1))
    """
    if not isinstance(theslice, slice):
        if _is_number(theslice, length):
            return (theslice + length if theslice < 0 else theslice), 1
        at = as_tensor_variable(theslice)
        return switch(at < 0, at + length, at), 1
    if _is_number(theslice.start, theslice.stop, theslice.step, length):
        indices = range(length)[theslice]
        if indices.step > 0:
            return slice(*theslice.indices(length)), 1
        return slice(
            indices.start + (len(indices) - 1) * indices.step, indices.start + 1, -indices.step
        ), -1
    step = 1 if theslice.step is None else theslice.step
    if _is_number(step):
        return (
            (_forward(theslice, length, step), 1)
            if step > 0
            else (_backward(theslice, length, -step), -1)
        )
    step = as_tensor_variable(step)
    ahead, back = _forward(theslice, length, abs(step)), _backward(theslice, length, abs(step))
    parts: Any = [
        switch(step > 0, a, b) for a, b in ((ahead.start, back.start), (ahead.stop, back.stop))
    ]
    start, stop = parts
    bounds: Any = (start, stop, abs(step))
    return slice(*bounds), switch(step > 0, 1, -1)


def _bound(given: Any, length: Any, default: Any, low: int, high: Any) -> Any:
    if given is None:
        return as_tensor_variable(default)
    given = as_tensor_variable(given)
    return clip(switch(given < 0, given + length, given), low, high)


def _forward(given: slice, length: Any, step: Any) -> slice:
    return slice(
        _bound(given.start, length, 0, 0, length),
        _bound(given.stop, length, length, 0, length),
        step,
    )


def _backward(given: slice, length: Any, step: Any) -> slice:
    last = length - 1
    first, end = (
        _bound(given.start, length, last, -1, last),
        _bound(given.stop, length, -1, -1, last),
    )
    count = maximum((first - end + step - 1) // step, 0)
    return slice(first - (count - 1) * step, first + 1, step)


def slice_len(slc: slice, n: Any) -> Any:
    """How many elements of a dimension of length n a slice selects.

    >>> from bitale.tensor.subtensor import slice_len
    >>> slice_len(slice(1, None, 3), pt.constant(8)).eval()
    array(3)
    """
    form, _ = get_canonical_form_slice(slc, n)
    return maximum((cast(form.stop, "int64") - form.start + form.step - 1) // form.step, 0)


def indexed_result_shape(
    array_shape: Sequence[Any], indices: Sequence[Any], indices_are_shapes: bool = False
) -> tuple[Any, ...]:
    """The lengths of x[indices], for an x of this shape. indices_are_shapes: the shape of each array of the index is given in its place.

    >>> from bitale.tensor.subtensor import indexed_result_shape
    >>> [int(n.eval()) for n in indexed_result_shape((5, 4, 3), (slice(1, 3), np.array([0, 1, 1])))]
    [2, 3, 3]
    """

    def given(index: Any) -> Any:
        if indices_are_shapes and isinstance(index, (tuple, list)):
            return zeros(tuple(index), dtype="int64")
        return index

    out = zeros(tuple(array_shape), dtype="bool")[tuple(given(index) for index in indices)]
    return tuple(out.shape[axis] for axis in range(out.ndim))


def basic_subtensor(x: Operand, *index_variables: Operand) -> TensorVariable:
    """x[index_variables]."""
    return as_tensor_variable(x)[index_variables]


def advanced_subtensor1(x: Operand, ilist: Operand) -> TensorVariable:
    """x[ilist], ilist being a vector of integers."""
    warn_deprecated("advanced_subtensor1", "x[ilist]")
    return as_tensor_variable(x)[as_tensor_variable(ilist)]


def advanced_set_subtensor1(x: Operand, y: Operand, ilist: Operand) -> TensorVariable:
    """x with x[ilist] set to y."""
    warn_deprecated("advanced_set_subtensor1", "x[ilist].set(y)")
    return set_subtensor(as_tensor_variable(x)[as_tensor_variable(ilist)], y)


def advanced_inc_subtensor1(x: Operand, y: Operand, ilist: Operand) -> TensorVariable:
    """x with y added to x[ilist]; positions that are given twice count twice."""
    warn_deprecated("advanced_inc_subtensor1", "x[ilist].inc(y)")
    return inc_subtensor(as_tensor_variable(x)[as_tensor_variable(ilist)], y)


def as_scalar_index_variable(idx: Any) -> Any:
    """A position as a variable. TypeError for anything that is not an integer."""
    found = as_tensor_variable(idx)
    if found.ndim != 0 or found.dtype[:1] not in "iu":
        raise TypeError(f"an index of one position is an integer, got {found.type}")
    return found


def as_tensor_index_variable(idx: Any) -> Any:
    """Positions, or a mask, as a variable. TypeError for floats and complex numbers."""
    found = as_tensor_variable(idx)
    if found.dtype[:1] not in "iub":
        raise TypeError(f"an index is of integers or a mask of bools, got {found.type}")
    return found


def get_slice_elements(
    idxs: Sequence[Any], cond: Callable[[Any], bool] = lambda x: isinstance(x, Variable)
) -> list[Any]:
    """List the entries of an index, and the bounds of its slices, for which a condition holds: by default the variables.

    >>> from bitale.tensor.subtensor import get_slice_elements
    >>> n = pt.lscalar("n")
    >>> get_slice_elements([0, slice(n, None), n])
    [n, n]
    """
    found = []
    for each in idxs:
        if cond(each):
            found.append(each)
        elif isinstance(each, slice):
            found += [part for part in (each.start, each.stop, each.step) if cond(part)]
    return found


def slice_static_length(slc: slice, dim_length: int | None) -> int | None:
    """How many elements of a dimension of this length a slice selects; None where that is not known.

    >>> from bitale.tensor.subtensor import slice_static_length
    >>> slice_static_length(slice(1, None, 2), 6), slice_static_length(slice(pt.lscalar("n"), None), 6)
    (3, None)
    """
    bounds = []
    for each in (slc.start, slc.stop, slc.step):
        if isinstance(each, Variable):
            if not isinstance(each, TensorConstant):
                return None
            each = int(each.data)
        bounds.append(each)
    return None if dim_length is None else len(range(*slice(*bounds).indices(dim_length)))


def basic_shape(shape: Sequence[Any], indices: Sequence[Any]) -> tuple[Any, ...]:
    """The lengths of the part of an array of this shape that an index of slices and None selects. ValueError for other indices."""
    lengths, found = iter(shape), []
    for each in indices:
        if each is None:
            found.append(1)
        elif isinstance(each, slice):
            found.append(slice_len(each, next(lengths)))
        else:
            raise ValueError(f"basic_shape: expected slices and None, got {each!r}")
    return (*found, *lengths)

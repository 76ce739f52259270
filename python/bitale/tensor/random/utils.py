"""Shapes of draws: how the parameters and the size of a distribution are combined. Names are those of pytensor.tensor.random.utils."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np

from bitale import _core
from bitale._core import Variable
from bitale._geography import finder
from bitale.tensor.pytensor_functions import NoneTypeT, none_type_t

__all__ = [
    "broadcast_params",
    "compute_batch_shape",
    "custom_rng_deepcopy",
    "explicit_expand_dims",
    "normalize_size_param",
    "params_broadcast_shapes",
    "supp_shape_from_ref_param_shape",
]


def is_none(variable: Variable) -> bool:
    """Whether a variable stands for None."""
    return isinstance(variable.type, NoneTypeT)


def get_vector_length(vector: Any) -> int:
    """The static length of a vector. ValueError where it is unknown."""
    length: int | None = vector.type.shape[0]
    if length is None:
        raise ValueError(f"{vector}: its length is not known when the expression is built")
    return length


def normalize_size_param(shape: Any) -> Variable:
    """Convert the size of a draw to a variable.

    Parameters
    ----------
    shape : int, sequence, vector or None
        A length, several, or None: what the parameters broadcast to.

    Returns
    -------
    Variable
        A vector of int64 whose length is known, or a constant of the type of None.

    Raises
    ------
    TypeError
        For anything that is not a size.
    ValueError
        For a vector of unknown length.

    Examples
    --------
    >>> from bitale.tensor.random.utils import normalize_size_param
    >>> normalize_size_param((2, pt.lscalar("n"))).type.shape
    (2,)
    """
    if shape is None:
        return none_type_t.make_constant(None)
    if isinstance(shape, Variable) and is_none(shape):
        return shape
    if isinstance(shape, (int, np.integer)):
        shape = [int(shape)]
    if not isinstance(shape, (Sequence, Variable, np.ndarray)) or isinstance(shape, str):
        raise TypeError(
            f"size: expected a length, a list of lengths, a vector or None, got {shape!r}"
        )
    given: Any = shape
    vector = _core.as_tensor_variable(given) if len_or_none(given) != 0 else _core.zeros(0, "int64")
    if vector.ndim == 0:
        vector = _core.stack([vector])
    if vector.ndim != 1:
        raise TypeError(f"size: expected a vector, got {vector.ndim} dimensions")
    if vector.dtype[:1] not in "iu":
        raise TypeError(f"size: expected integers, got {vector.dtype}")
    get_vector_length(vector)
    return vector if vector.dtype == "int64" else _core.cast(vector, "int64")


def len_or_none(shape: Any) -> int | None:
    """The length of a sequence of Python's or NumPy's."""
    return None if isinstance(shape, Variable) else len(shape)


def explicit_expand_dims(
    params: Sequence[Any], ndim_params: Sequence[int], size_length: int | None = None
) -> list[Any]:
    """Add missing batch dimensions of length 1 to parameters.

    Parameters
    ----------
    params : sequence of TensorVariable
        Parameters.
    ndim_params : sequence of int
        How many core dimensions each has.
    size_length : int, optional
        Number of batch dimensions of the results; by default the largest number among the parameters.

    Returns
    -------
    list of TensorVariable
        Parameters with the same number of batch dimensions.
    """
    batches = [each.ndim - core for each, core in zip(params, ndim_params)]
    wanted = max(batches, default=0) if size_length is None else size_length
    return [
        _core.expand_dims(each, tuple(range(wanted - batch))) if batch < wanted else each
        for each, batch in zip(params, batches)
    ]


def compute_batch_shape(params: Sequence[Any], ndims_params: Sequence[int]) -> Any:
    """Compute the lengths that the parameters' batch dimensions broadcast to.

    Parameters
    ----------
    params : sequence of TensorVariable
        Parameters.
    ndims_params : sequence of int
        How many core dimensions each has.

    Returns
    -------
    TensorVariable
        Vector of lengths.
    """
    cores = [
        each[(..., *(0,) * core)] if core else each
        for each, core in zip(explicit_expand_dims(params, ndims_params), ndims_params)
    ]
    return _core.broadcast_arrays(*cores)[0].shape


def params_broadcast_shapes(
    param_shapes: Sequence[Any], ndims_params: Sequence[int], use_pytensor: bool = True
) -> list[tuple[Any, ...]]:
    """Broadcast the batch dimensions of shapes.

    Parameters
    ----------
    param_shapes : sequence of sequence of int or TensorVariable
        Shapes.
    ndims_params : sequence of int
        How many dimensions at the end of each are core dimensions.
    use_pytensor : bool, optional
        Whether lengths are variables; otherwise they are integers.

    Returns
    -------
    list of tuple
        Shapes with the same batch dimensions.

    Examples
    --------
    >>> from bitale.tensor.random.utils import params_broadcast_shapes
    >>> params_broadcast_shapes([(3, 1, 2), (5,)], [1, 0], use_pytensor=False)
    [(3, 5, 2), (3, 5)]
    """
    larger: Any = _core.maximum if use_pytensor else max

    def is_one(length: Any) -> bool:
        return not isinstance(length, Variable) and length == 1

    def joined(a: Any, b: Any) -> Any:
        return b if is_one(a) else a if is_one(b) else larger(a, b)

    shapes = [tuple(shape) for shape in param_shapes]
    batches = [shape[: len(shape) - core] for shape, core in zip(shapes, ndims_params)]
    common: list[Any] = [1] * max((len(batch) for batch in batches), default=0)
    for batch in batches:
        for axis in range(1, len(batch) + 1):
            common[-axis] = joined(batch[-axis], common[-axis])
    return [(*common, *shape[len(shape) - core :]) for shape, core in zip(shapes, ndims_params)]


def broadcast_params(params: Sequence[Any], ndims_params: Sequence[int]) -> list[Any]:
    """Broadcast the batch dimensions of parameters.

    Parameters
    ----------
    params : sequence of array or TensorVariable
        Parameters.
    ndims_params : sequence of int
        How many dimensions at the end of each are core dimensions.

    Returns
    -------
    list of array or TensorVariable
        Parameters with the same batch dimensions.

    Examples
    --------
    >>> from bitale.tensor.random.utils import broadcast_params
    >>> mean, cov = broadcast_params([np.arange(2), np.zeros((3, 2, 2))], [1, 2])
    >>> mean.shape, cov.shape
    ((3, 2), (3, 2, 2))
    """
    are_variables = any(isinstance(each, Variable) for each in params)
    if not are_variables:
        shapes = params_broadcast_shapes([each.shape for each in params], ndims_params, False)
        return [np.broadcast_to(each, shape) for each, shape in zip(params, shapes)]
    variables: list[Any] = [_core.as_tensor_variable(each) for each in params]
    known = [
        [1 if length == 1 else each.shape[axis] for axis, length in enumerate(each.type.shape)]
        for each in variables
    ]
    shapes = params_broadcast_shapes(known, ndims_params)
    return [_core.broadcast_to(each, shape) for each, shape in zip(variables, shapes)]


def supp_shape_from_ref_param_shape(
    *,
    ndim_supp: int,
    dist_params: Sequence[Any],
    param_shapes: Sequence[Any] | None = None,
    ref_param_idx: int,
) -> Any:
    """Take the lengths of one draw from the last dimensions of a parameter.

    Parameters
    ----------
    ndim_supp : int
        How many dimensions a draw has.
    dist_params : sequence of TensorVariable
        Parameters.
    param_shapes : sequence of sequence, optional
        Their shapes, if known from elsewhere.
    ref_param_idx : int
        Which parameter.

    Returns
    -------
    tuple or TensorVariable
        Lengths.

    Raises
    ------
    ValueError
        For a number of dimensions that is not positive, or that the parameter does not have.
    """
    if ndim_supp <= 0:
        raise ValueError(f"ndim_supp: expected a positive number, got {ndim_supp}")
    if param_shapes is not None:
        return tuple(param_shapes[ref_param_idx])[-ndim_supp:]
    parameter = dist_params[ref_param_idx]
    if parameter.ndim < ndim_supp:
        raise ValueError(
            f"expected a parameter of {ndim_supp} dimensions or more, got {parameter} with {parameter.ndim}"
        )
    return parameter.shape[-ndim_supp:]


def custom_rng_deepcopy(rng: np.random.Generator) -> np.random.Generator:
    """Copy a generator with its state.

    Parameters
    ----------
    rng : numpy.random.Generator
        Generator.

    Returns
    -------
    numpy.random.Generator
        Another one that draws the same.
    """
    return copy.deepcopy(rng)


__getattr__ = finder(__name__, "tensor.random", "tensor.random.classes")

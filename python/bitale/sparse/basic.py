"""Sparse matrices: constructors, conversions, indexing and rearrangement. Names and arguments are PyTensor's."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

import bitale.tensor as pt
from bitale import _core
from bitale._core import SparseVariable, TensorSharedVariable, TensorVariable, Variable
from bitale._geography import finder as _finder
from bitale._shown import shown
from bitale.compile.sharedvalue import shared as tensor_shared
from bitale.compile.sharedvalue import shared_constructor
from bitale.sparse.type import (
    SparseTensorType,
    index_type,
    is_scipy,
    pattern_of,
    scipy_array,
    stored,
)

# ---- constructors ----------------------------------------------------------------------------------------------------


def _format_of(format: Any) -> str:
    """The format that a matrix is kept in: those of SciPy that are neither csr nor csc are converted."""
    if format not in (None, "csr", "csc", "coo", "bsr", "lil", "dok", "dia"):
        raise ValueError(
            f'sparse: expected one of SciPy\'s formats, such as "csr" and "csc", got {shown(format)}'
        )
    return format if format in ("csr", "csc") else "csr"


def constant(x: Any, name: str | None = None) -> SparseVariable:
    """A constant matrix, made from a SciPy matrix; formats other than csr and csc become csr.

    >>> import scipy.sparse
    >>> from bitale import sparse
    >>> A = sparse.constant(scipy.sparse.csr_array([[0.0, 2.0], [1.0, 0.0]]))
    >>> x = pt.dvector("x")
    >>> bt.function([x], A @ x)([3.0, 4.0])
    array([8., 3.])
    """
    array = scipy_array(x, _format_of(getattr(x, "format", None)))
    return stored(array, pt.constant(array.data), name)


def as_sparse_variable(
    x: Any, name: str | None = None, ndim: Any = None, *, format: str | None = None, **kwargs: Any
) -> SparseVariable:
    """x as a sparse matrix: itself, or a constant made from a SciPy matrix. TypeError for anything else."""
    if kwargs:
        raise TypeError(f"sparse: unknown arguments {', '.join(kwargs)}")
    if not isinstance(x, SparseVariable):
        if not is_scipy(x):
            raise TypeError(
                f"sparse: expected a sparse matrix, got {shown(x)}; csr_from_dense(x) makes one of a dense matrix"
            )
        x = constant(x, name)
    made: SparseVariable = x
    return made if format is None else made.to(format)


as_sparse = as_sparse_variable


def as_symbolic_sparse(x: Any, **kwargs: Any) -> SparseVariable:
    """The same as as_sparse_variable."""
    return as_sparse_variable(x, **kwargs)


def as_sparse_or_tensor_variable(x: Any, name: str | None = None, **kwargs: Any) -> Any:
    """x as a sparse matrix, if it is one or a SciPy matrix, otherwise as a tensor."""
    if isinstance(x, SparseVariable) or is_scipy(x):
        return as_sparse_variable(x, name, **kwargs)
    return pt.as_tensor_variable(x, name=name, **kwargs)


as_symbolic = as_sparse_or_tensor_variable


def matrix(
    format: str,
    name: str | None = None,
    dtype: Any = None,
    shape: Any = None,
    *,
    pattern: Any = None,
    index_dtype: Any = "int32",
) -> SparseVariable:
    """An input of functions: a sparse matrix of this format. With pattern, a SciPy matrix, functions are compiled
    for its positions and accept only matrices that have them.

    >>> import scipy.sparse
    >>> from bitale import sparse
    >>> A, x = sparse.matrix("csr", "A"), pt.dvector("x")
    >>> f = bt.function([A, x], A @ x)
    >>> f(scipy.sparse.csr_array([[0.0, 2.0], [1.0, 0.0]]), [3.0, 4.0])
    array([8., 3.])
    """
    return SparseTensorType(
        _format_of(format), dtype, shape, pattern=pattern, index_dtype=index_dtype
    )(name)


def input_kind(value: Any) -> tuple[str, str, str]:
    """What the variable for one of SciPy's matrices depends on: format, dtype and that of positions."""
    return _format_of(value.format), str(value.dtype), index_type(value).__name__


def input_like(value: Any, name: str | None) -> SparseVariable:
    format, dtype, index_dtype = input_kind(value)
    return matrix(format, name, dtype, index_dtype=index_dtype)


def csr_matrix(
    name: str | None = None,
    dtype: Any = None,
    shape: Any = None,
    *,
    pattern: Any = None,
    index_dtype: Any = "int32",
) -> SparseVariable:
    """An input of functions in the format csr: matrix("csr", ...)."""
    return matrix("csr", name, dtype, shape, pattern=pattern, index_dtype=index_dtype)


def csc_matrix(
    name: str | None = None,
    dtype: Any = None,
    shape: Any = None,
    *,
    pattern: Any = None,
    index_dtype: Any = "int32",
) -> SparseVariable:
    """An input of functions in the format csc: matrix("csc", ...)."""
    return matrix("csc", name, dtype, shape, pattern=pattern, index_dtype=index_dtype)


def bsr_matrix(
    name: str | None = None,
    dtype: Any = None,
    shape: Any = None,
    *,
    pattern: Any = None,
    index_dtype: Any = "int32",
) -> SparseVariable:
    """An input of functions that accepts a matrix of any format: csr_matrix under another name."""
    return matrix("bsr", name, dtype, shape, pattern=pattern, index_dtype=index_dtype)


sparse_formats = ["csc", "csr"]
csr_dmatrix, csr_fmatrix = SparseTensorType("csr", "float64"), SparseTensorType("csr", "float32")
csc_dmatrix, csc_fmatrix = SparseTensorType("csc", "float64"), SparseTensorType("csc", "float32")
bsr_dmatrix, bsr_fmatrix = csr_dmatrix, csr_fmatrix


@shared_constructor.register(SparseVariable)
def _refuse_shared(value: Any, **kwargs: Any) -> Any:
    raise TypeError("shared: expected a value, got a sparse variable")


def shared(
    value: Any,
    name: str | None = None,
    strict: bool = False,
    allow_downcast: bool | None = None,
    borrow: bool = False,
    format: str | None = None,
    shape: None = None,
) -> SparseVariable:
    """A sparse matrix whose elements persist between calls, at positions that never change.

    get_value(A) and set_value(A, value) read and store a SciPy matrix; `updates` of function()
    stores elements. strict, allow_downcast and borrow are as in bitale.shared, for the elements.
    TypeError for a shape: the lengths are those of the value.
    """
    if shape is not None:
        raise TypeError("shared: a sparse matrix has the lengths of its value: leave out shape")
    array = scipy_array(value, format or _format_of(getattr(value, "format", None)))
    data = tensor_shared(
        array.data,
        name=f"{name}.data" if name else None,
        strict=strict,
        allow_downcast=allow_downcast,
        borrow=borrow,
        shape=(array.nnz,),
    )
    return stored(array, data, name)


sparse_constructor = shared


def get_value(x: SparseVariable, borrow: bool = False) -> Any:
    """The value of a shared or constant sparse matrix, a SciPy array, always a copy. TypeError for others."""
    import scipy.sparse

    if not x.is_static or not (isinstance(x.data, TensorSharedVariable) or hasattr(x.data, "data")):
        raise TypeError(f"sparse: get_value: expected a shared matrix, got {shown(x)}")
    data = (
        x.data.get_value()
        if isinstance(x.data, TensorSharedVariable)
        else np.array(_core.constant_value(x.data))
    )
    kind = scipy.sparse.csr_array if x.format == "csr" else scipy.sparse.csc_array
    return kind((data, *map(np.array, pattern_of(x))), shape=x.static_shape)


def set_value(x: SparseVariable, value: Any, borrow: bool = False) -> None:
    """Stores a value in a shared sparse matrix. ValueError for one with other positions."""
    if not isinstance(x.data, TensorSharedVariable):
        raise TypeError(f"sparse: set_value: expected a shared matrix, got {shown(x)}")
    array = scipy_array(value, x.format)
    same = array.shape == x.static_shape and all(
        np.array_equal(a, b) for a, b in zip(pattern_of(x), (array.indices, array.indptr))
    )
    if not same:
        raise ValueError(
            "sparse: set_value: the value does not store the positions of the shared matrix"
        )
    x.data.set_value(array.data, borrow=borrow)


# ---- parts -----------------------------------------------------------------------------------------------------------


class CSM:
    """A sparse matrix made of these vectors: CSM("csr")(data, indices, indptr, shape), as in SciPy's constructor.

    ValueError for indices that don't increase in each row (column) or are out of range, and for a
    decreasing indptr: immediately if they are constant, otherwise when a function is called.
    """

    def __init__(self, format: str, kmap: Any = None):
        if kmap is not None:
            raise NotImplementedError(
                "sparse: CSM: kmap is not implemented; index the data instead"
            )
        if format not in ("csr", "csc"):
            raise ValueError(f'sparse: expected the format "csr" or "csc", got {shown(format)}')
        self.format = format

    def __call__(self, data: Any, indices: Any, indptr: Any, shape: Any) -> SparseVariable:
        rows, columns = (
            (shape[0], shape[1])
            if isinstance(shape, (tuple, list, TensorVariable))
            else tuple(int(n) for n in shape)
        )
        return _core.sparse_matrix(self.format, data, indices, indptr, rows, columns)


CSC, CSR = CSM("csc"), CSM("csr")


def csm_properties(csm: Any) -> tuple[Any, Any, Any, Any]:
    """The data, the indices, the indptr and the shape."""
    x = as_sparse_variable(csm)
    return x.data, x.indices, x.indptr, x.shape


def csm_data(csm: Any) -> Any:
    """The stored elements."""
    return as_sparse_variable(csm).data


def csm_indices(csm: Any) -> Any:
    """The position of each stored element in its row (csr) or column (csc)."""
    return as_sparse_variable(csm).indices


def csm_indptr(csm: Any) -> Any:
    """Where each row (csr) or column (csc) begins."""
    return as_sparse_variable(csm).indptr


def csm_shape(csm: Any) -> Any:
    """How many rows and columns there are."""
    return as_sparse_variable(csm).shape


# ---- conversions -----------------------------------------------------------------------------------------------------


def dense_from_sparse(x: Any) -> Any:
    """The dense matrix."""
    return _core.sparse_to_dense(as_sparse_variable(x))


def csr_from_dense(x: Any) -> SparseVariable:
    """The nonzero elements of a dense matrix, as a csr matrix."""
    return _core.sparse_from_dense(x, "csr")


def csc_from_dense(x: Any) -> SparseVariable:
    """The nonzero elements of a dense matrix, as a csc matrix."""
    return _core.sparse_from_dense(x, "csc")


def cast(variable: Any, dtype: Any) -> SparseVariable:
    """The matrix with elements of another dtype."""
    return as_sparse_variable(variable).astype(dtype)


bcast, wcast, icast, lcast = (
    functools.partial(cast, dtype=d) for d in ("int8", "int16", "int32", "int64")
)
fcast, dcast, ccast, zcast = (
    functools.partial(cast, dtype=d) for d in ("float32", "float64", "complex64", "complex128")
)


def transpose(x: Any) -> SparseVariable:
    """The transpose; its format is the other one, and its vectors are the same."""
    return as_sparse_variable(x).T


def ensure_sorted_indices(x: Any) -> SparseVariable:
    """The matrix itself: positions are always sorted here. from_elements() takes positions in any order."""
    return as_sparse_variable(x)


def remove0(x: Any) -> SparseVariable:
    """The matrix without the stored elements that are 0. Its pattern is known when a function is called.

    >>> import scipy.sparse
    >>> from bitale import sparse
    >>> A = sparse.matrix("csr", "A")
    >>> f = bt.function([A], sparse.remove0(A * A))
    >>> f(scipy.sparse.csr_array(([1e-200, 2.0], ([0, 0], [0, 1])), shape=(1, 2))).nnz
    1
    """
    return _core.sparse_remove_zeros(as_sparse_variable(x))


def clean(x: Any) -> SparseVariable:
    """The matrix with positions in order and without stored zeros: the same as remove0, since positions are always in order."""
    return remove0(x)


def tril(x: Any, k: int = 0) -> SparseVariable:
    """The elements up to diagonal k: the lower triangle by default."""
    return _core.sparse_tril(as_sparse_variable(x), k)


def triu(x: Any, k: int = 0) -> SparseVariable:
    """The elements from diagonal k on: the upper triangle by default."""
    return _core.sparse_triu(as_sparse_variable(x), k)


def from_elements(
    data: Any, rows: Any, columns: Any, shape: Any, format: str = "csr"
) -> SparseVariable:
    """The matrix with data[k] at row rows[k] and column columns[k]; the vectors may be known only when a function
    is called. Elements may be in any order, and those at the same position are added, as in scipy.sparse.coo_array.

    >>> from bitale import sparse
    >>> x, i = pt.dvector("x"), pt.lvector("i")
    >>> f = bt.function([x, i], sparse.from_elements(x, i, i, (3, 3)))
    >>> f([1.0, 2.0, 3.0], [2, 0, 2]).toarray().diagonal()
    array([2., 0., 4.])
    """
    return _core.sparse_from_elements(data, rows, columns, shape[0], shape[1], _format_of(format))


def sp_ones_like(x: Any) -> SparseVariable:
    """Ones at the same positions."""
    a = as_sparse_variable(x)
    return a.with_data(pt.ones_like(a.data))


def sp_zeros_like(x: Any) -> SparseVariable:
    """Zeros, which are stored at the same positions."""
    a = as_sparse_variable(x)
    return a.with_data(pt.zeros_like(a.data))


# ---- arrangement -----------------------------------------------------------------------------------------------------


def diag(x: Any) -> Any:
    """The elements on the diagonal, a vector."""
    return _core.sparse_diag(as_sparse_variable(x))


def square_diagonal(diag: Any) -> SparseVariable:
    """The square csc matrix with these elements on the diagonal."""
    return _core.sparse_square_diagonal(diag)


def _joined(blocks: list[list[Any]], format: str | None, dtype: Any) -> SparseVariable:
    if not blocks or not blocks[0]:
        raise ValueError("sparse: hstack and vstack: expected at least one matrix")
    sparse = [[as_sparse_variable(x) for x in row] for row in blocks]
    made = _core.sparse_block(sparse, _format_of(format or sparse[0][0].format))
    return made if dtype is None else made.astype(dtype)


def hstack(blocks: Any, format: str | None = None, dtype: Any = None) -> SparseVariable:
    """Matrices side by side."""
    return _joined([list(blocks)], format, dtype)


def vstack(blocks: Any, format: str | None = None, dtype: Any = None) -> SparseVariable:
    """Matrices one below the other."""
    return _joined([[x] for x in blocks], format, dtype)


def block_diag(*matrices: Any, format: str = "csc", name: str | None = None) -> SparseVariable:
    """A matrix with these blocks along its diagonal. Dense constants are converted to sparse ones."""
    import scipy.sparse

    blocks = (
        matrices[0] if len(matrices) == 1 and isinstance(matrices[0], (list, tuple)) else matrices
    )
    own = [
        x if isinstance(x, SparseVariable) or is_scipy(x) else scipy.sparse.csr_array(np.asarray(x))
        for x in blocks
    ]
    own = [as_sparse_variable(x) for x in own]
    rows = [[x if i == k else None for i in range(len(own))] for k, x in enumerate(own)]
    return _core.sparse_block(rows, _format_of(format))


def construct_sparse_from_list(x: Any, values: Any, ilist: Any) -> SparseVariable:
    """A csc matrix with the shape of x, in which the rows of `values` are added to the rows ilist."""
    like, values, rows = (
        pt.as_tensor_variable(x),
        pt.as_tensor_variable(values),
        pt.as_tensor_variable(ilist),
    )
    if values.ndim != 2 or rows.ndim != 1:
        raise TypeError(
            f"sparse: construct_sparse_from_list: expected a matrix and a vector, got {shown(values)} and {shown(rows)}"
        )
    height, width = values.shape[0], values.shape[1]
    columns = pt.tile(pt.arange(width), height)
    return from_elements(
        values.ravel(), pt.repeat(rows, width), columns, (like.shape[0], like.shape[1]), "csc"
    )


def row_scale(x: Any, s: Any) -> SparseVariable:
    """Each row times its element of s."""
    scaled: SparseVariable = as_sparse_variable(x) * pt.as_tensor_variable(s)[:, None]
    return scaled


def col_scale(x: Any, s: Any) -> SparseVariable:
    """Each column times its element of s."""
    scaled: SparseVariable = as_sparse_variable(x) * pt.as_tensor_variable(s)
    return scaled


# ---- items -----------------------------------------------------------------------------------------------------------


def _known_positions(key: Any, length: int, axis: int) -> list[int] | None:
    """Which rows (columns) an item of a matrix asks for. None where only a call knows."""
    if isinstance(key, Variable) and hasattr(key, "data"):
        key = key.data
    if isinstance(key, Variable):
        return None
    if key is Ellipsis:
        key = slice(None)
    if isinstance(key, slice):
        if any(isinstance(each, Variable) for each in (key.start, key.stop, key.step)):
            return None
        return list(range(*key.indices(length)))
    numbers = _listed(key)
    if numbers.dtype.kind == "b":
        if len(numbers) != length:
            raise IndexError(
                f"sparse: expected a vector of {length} truth values for axis {axis}, got {len(numbers)}"
            )
        return [int(n) for n in np.flatnonzero(numbers)]
    if numbers.size and not (-length <= numbers.min() and numbers.max() < length):
        raise IndexError(
            f"sparse: index {key!r} is out of bounds for axis {axis} with length {length}"
        )
    return [int(n) % length for n in numbers]


def _listed(key: Any) -> Any:
    numbers = np.atleast_1d(np.asarray(key))
    if numbers.size == 0:
        return numbers.astype("int64").ravel()
    if numbers.dtype.kind not in "iub" or numbers.ndim != 1 or isinstance(key, (bool, np.bool_)):
        raise IndexError(
            f"sparse: expected integers, slices or lists of integers as items, got {shown(key)}"
        )
    return numbers


def _positions_in_call(key: Any, length: Any) -> Any:
    """The same as a vector of the graph; None for all."""
    if isinstance(key, slice) or key is Ellipsis:
        return None if key in (slice(None), Ellipsis) else pt.arange(length)[key]
    if not isinstance(key, TensorVariable):
        key = pt.constant(_listed(key))
    if key.ndim > 1 or (key.ndim == 0 and key.dtype == "bool"):
        raise IndexError(f"sparse: expected a number or a vector as an item, got {shown(key)}")
    if key.dtype == "bool":
        return pt.nonzero(pt.specify_shape(key, (length,)))[0]
    return key if key.ndim == 1 else key[None]


def _is_scalar(key: Any) -> bool:
    return (
        isinstance(key, (int, np.integer))
        and not isinstance(key, bool)
        or isinstance(key, TensorVariable)
        and key.ndim == 0
    )


def _is_vector(key: Any) -> bool:
    return (
        isinstance(key, TensorVariable)
        and key.ndim == 1
        or isinstance(key, (list, tuple, np.ndarray))
        and np.ndim(key) == 1
    )


def get_item(x: Any, key: Any) -> Any:
    """x[key]: with two scalars an element; with two lists of rows and columns a vector of elements, as in SciPy;
    with slices, integers, lists and boolean vectors a sparse matrix of rows and columns, which has two dimensions,
    as in SciPy."""
    a = as_sparse_variable(x)
    keys = key if isinstance(key, tuple) else (key, slice(None))
    if len(keys) != 2:
        raise IndexError(f"sparse: expected one or two items, got {len(keys)}")
    if all(_is_scalar(each) for each in keys):
        return _core.sparse_element(a, *keys)
    if all(_is_vector(each) for each in keys):
        return _core.sparse_elements(
            a, *(_positions_in_call(each, length) for each, length in zip(keys, a.lengths))
        )
    if a.is_static:
        rows, columns = (
            _known_positions(each, length or 0, axis)
            for axis, (each, length) in enumerate(zip(keys, a.static_shape))
        )
        if rows is not None and columns is not None:
            return _core.sparse_select(a, rows, columns)
    for axis, (each, length) in enumerate(zip(keys, a.lengths)):
        positions = _positions_in_call(each, length)
        if positions is not None:
            a = _core.sparse_take(a, positions, axis)
    return a


get_item_2d = get_item


def get_item_scalar(x: Any, index: Any) -> Any:
    """An element."""
    return _core.sparse_element(as_sparse_variable(x), *index)


def get_item_list(x: Any, index: Any) -> SparseVariable:
    """Rows by a list."""
    rows: SparseVariable = get_item(x, index)
    return rows


def get_item_2lists(x: Any, ind1: Any, ind2: Any) -> Any:
    """The elements at these rows and columns, a vector."""
    return _core.sparse_elements(as_sparse_variable(x), ind1, ind2)


__getattr__ = _finder(__name__, "sparse.op_classes", "tensor.pytensor_functions")

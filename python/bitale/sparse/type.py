"""Types of sparse matrices, and SciPy's matrices as their values."""

from __future__ import annotations

from typing import Any

import numpy as np

from bitale import _core
from bitale._core import SparseVariable
from bitale._shown import shown
from bitale.configuration import config

__all__ = ["SparseTensorType", "is_scipy", "scipy_array"]


def is_scipy(value: Any) -> bool:
    """Whether it is a SciPy sparse array or matrix."""
    return (
        hasattr(value, "tocsr")
        and hasattr(value, "format")
        and not isinstance(value, SparseVariable)
    )


def scipy_array(value: Any, format: str) -> Any:
    """A SciPy sparse matrix as a csr_array or csc_array whose elements are in order, each stored once."""
    import scipy.sparse

    if not is_scipy(value):
        raise TypeError(f"sparse: expected one of SciPy's sparse arrays, got {shown(value)}")
    if len(value.shape) != 2:
        raise TypeError(f"sparse: expected a matrix, got a sparse array of shape {value.shape}")
    if value.format in ("csr", "csc"):  # SciPy's own functions trust the positions of a matrix
        _core.sparse_check(
            value.indices,
            value.indptr,
            *(value.shape if value.format == "csr" else value.shape[::-1]),
        )
    array = {"csr": scipy.sparse.csr_array, "csc": scipy.sparse.csc_array}[format](value)
    if not _core.sparse_check(
        array.indices, array.indptr, *(array.shape if format == "csr" else array.shape[::-1])
    ):
        array = array.copy()
        array.has_canonical_format = array.has_sorted_indices = (
            False  # whatever has been noted before
        )
        array.sum_duplicates()
    return array


def in_order(value: Any, format: str) -> Any:
    """The same, for one of that format as it is where its elements are in order already."""
    if value.format == format and len(value.shape) == 2:
        lengths = value.shape if format == "csr" else value.shape[::-1]
        if _core.sparse_check(value.indices, value.indptr, *lengths):
            return value
    return scipy_array(value, format)


def index_type(array: Any) -> Any:
    """The smaller of SciPy's two index dtypes that holds all positions."""
    return np.int32 if max(*array.shape, array.nnz) <= np.iinfo(np.int32).max else np.int64


def pattern_of(matrix: SparseVariable) -> tuple[Any, Any]:
    """The indices and the indptr of a static matrix."""
    return _core.constant_value(matrix.indices), _core.constant_value(matrix.indptr)


def stored(array: Any, data: Any, name: str | None) -> SparseVariable:
    """The matrix of these elements with the pattern of a SciPy matrix."""
    rows, columns = array.shape
    indices, indptr = (
        _core.constant(x.astype(index_type(array))) for x in (array.indices, array.indptr)
    )
    return _core.sparse_matrix(array.format, data, indices, indptr, rows, columns, True, name or "")


class SparseTensorType:
    """The type of sparse matrices: a format, "csr" or "csc", a dtype, and a shape, whose lengths may be None.

    broadcastable: an older form of shape, with True for a length of 1. pattern: a SciPy matrix.
    Values then have its positions, and functions are compiled for them. index_dtype: dtype of
    positions that come with the call of a function.

    >>> from bitale import sparse
    >>> sparse.SparseTensorType("csr", "float64", (2, None))("A")
    A: csr[float64, 2 x ?]
    """

    ndim = 2

    def __init__(
        self,
        format: str,
        dtype: Any = None,
        shape: Any = None,
        name: str | None = None,
        broadcastable: Any = None,
        *,
        pattern: Any = None,
        index_dtype: Any = "int32",
    ):
        if broadcastable is not None:
            if shape is not None:
                raise ValueError("sparse: expected a shape or broadcastable, got both")
            shape = tuple(1 if each else None for each in broadcastable)
        if format not in ("csr", "csc"):
            raise ValueError(
                f'sparse: expected the format "csr" or "csc", got {shown(format)}; other formats are converted'
            )
        self.format, self.name = format, name
        self.dtype = str(np.dtype(config.floatX if dtype is None else dtype))
        self.pattern = None if pattern is None else scipy_array(pattern, format).copy()
        if self.pattern is not None:
            if shape is not None and tuple(shape) != self.pattern.shape:
                raise ValueError(
                    f"sparse: shape {tuple(shape)}, but the pattern has {self.pattern.shape}"
                )
            shape = self.pattern.shape
        self.shape = (None, None) if shape is None else tuple(shape)
        if len(self.shape) != 2:
            raise ValueError(f"sparse: expected two lengths, got {self.shape}")
        if any(isinstance(each, (int, np.integer)) and each < 0 for each in self.shape):
            raise ValueError(
                f"sparse: shape: expected lengths that are not negative, got {self.shape}"
            )
        self.index_dtype = np.dtype(index_dtype)
        if self.index_dtype not in (np.dtype("int32"), np.dtype("int64")):
            raise TypeError(
                f"sparse: expected index_dtype int32 or int64, got {shown(index_dtype)}"
            )

    def __call__(self, name: str | None = None) -> SparseVariable:
        """A variable of the type: an input of functions."""
        import bitale.tensor as pt

        if name is not None and not isinstance(name, str):
            raise TypeError(f"sparse: expected a string as name, got {shown(name)}")
        label = name or ""

        def part(suffix: str) -> str | None:
            return f"{label}.{suffix}" if label else None

        if self.pattern is not None:
            data = pt.tensor(part("data"), dtype=self.dtype, shape=(self.pattern.nnz,))
            return stored(self.pattern, data, label)
        data = pt.tensor(part("data"), dtype=self.dtype, shape=(None,))
        indices = pt.tensor(part("indices"), dtype=self.index_dtype, shape=(None,))
        indptr = pt.tensor(part("indptr"), dtype=self.index_dtype, shape=(None,))
        major, minor = self.shape if self.format == "csr" else self.shape[::-1]
        lengths = [
            indptr.shape[0] - 1 if major is None else major,
            pt.lscalar(part("columns" if self.format == "csr" else "rows"))
            if minor is None
            else minor,
        ]
        rows, columns = lengths if self.format == "csr" else lengths[::-1]
        return _core.sparse_matrix(self.format, data, indices, indptr, rows, columns, False, label)

    def __eq__(self, other: Any) -> bool:
        if not isinstance(other, SparseTensorType) or self._key() != other._key():
            return False
        if self.pattern is None or other.pattern is None:
            return self.pattern is other.pattern
        return all(
            np.array_equal(getattr(self.pattern, part), getattr(other.pattern, part))
            for part in ("indices", "indptr")
        )

    def _key(self) -> tuple[Any, ...]:
        return self.format, self.dtype, self.shape, self.index_dtype

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"SparseTensorType({self.format!r}, {self.dtype!r}, {self.shape})"

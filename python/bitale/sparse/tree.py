"""How sparse matrices are taken apart: the vectors and lengths that one is made of, and the SciPy array of their values.

Functions, derivatives, loops and everything else that walks trees handle matrices by this alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from bitale import _core
from bitale._core import Constant, SparseVariable, Variable
from bitale.graph.traversal import ancestors
from bitale.sparse.type import in_order, is_scipy, pattern_of


# The tensors that make a matrix, in the order of its children, of which a length that follows from the others is left out.
_PARTS = ("data", "indices", "indptr", "minor", "major")


def _tensors(matrix: SparseVariable) -> dict[str, Any]:
    major, minor = matrix.lengths if matrix.format == "csr" else matrix.lengths[::-1]
    return dict(zip(_PARTS, (matrix.data, matrix.indices, matrix.indptr, minor, major)))


class _Form:
    """What a matrix is besides its children: a format, the parts that are known, and which ones the children are."""

    def __init__(self, matrix: SparseVariable):
        self.matrix = matrix
        parts = _tensors(matrix)
        if matrix.is_static:
            parts = {"data": matrix.data}
        elif matrix.indptr in set(ancestors([parts["major"]], blockers=[matrix.indptr])):
            del parts["major"]
        self.parts = {
            key: part
            for key, part in parts.items()
            if key == "data" or not isinstance(part, Constant)
        }
        self.known = {key: part for key, part in parts.items() if key not in self.parts}
        # What a call compares its values with.
        self.shape = matrix.static_shape
        self.pattern = pattern_of(matrix) if matrix.is_static else None
        self.dtype = np.dtype(matrix.indices.dtype)
        self.largest = np.iinfo(self.dtype).max

    def _key(self) -> tuple[Any, ...]:
        matrix = self.matrix
        known = [self.known[key].data for key in sorted(self.known)]
        if matrix.is_static:
            known = [*pattern_of(matrix)]
        return (
            matrix.format,
            matrix.static_shape,
            tuple(self.parts),
            tuple(np.asarray(each).tobytes() for each in known),
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Form) and (
            self.matrix is other.matrix or self._key() == other._key()
        )

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return repr(self.matrix)


def _flatten(matrix: SparseVariable) -> tuple[tuple[Any, ...], _Form]:
    form = _Form(matrix)
    return tuple(form.parts.values()), form


def _unflatten(form: _Form, children: tuple[Any, ...]) -> Any:
    """A matrix of variables, SciPy's of arrays; and the children, if they are of other kinds."""
    matrix, parts = form.matrix, dict(zip(form.parts, children))
    data: Any = parts["data"]
    is_symbolic = isinstance(data, Variable)
    if is_symbolic:
        if all(parts[key] is part for key, part in form.parts.items() if key != "data"):
            # The derivative by a matrix may be absent, which has no elements.
            return matrix.with_data(data) if hasattr(data, "ndim") else data
        own: dict[str, Any] = {**_tensors(matrix), **parts}
        major = own["major"] if "major" in parts or "major" in form.known else None
        if major is None:
            major = own["indptr"].shape[0] - 1
        lengths = (major, own["minor"]) if matrix.format == "csr" else (own["minor"], major)
        return _core.sparse_matrix(
            matrix.format, data, own["indices"], own["indptr"], *lengths, False, matrix.name or ""
        )
    if not isinstance(data, np.ndarray):
        return children
    import scipy.sparse

    if matrix.is_static:
        indices, indptr = (x.copy() for x in pattern_of(matrix))
        shape: Any = matrix.static_shape
    else:
        values = {key: part.data for key, part in form.known.items()} | parts
        indices, indptr = values["indices"], values["indptr"]
        lengths = (values.get("major", len(indptr) - 1), values["minor"])
        shape = tuple(int(n) for n in (lengths if matrix.format == "csr" else lengths[::-1]))
    kind = scipy.sparse.csr_array if matrix.format == "csr" else scipy.sparse.csc_array
    return kind((data, indices, indptr), shape=shape)


def _like(form: _Form, value: Any) -> tuple[Any, ...]:
    """The children of a matrix of this form: of another variable, or of the values of one of SciPy's matrices."""
    matrix = form.matrix
    if isinstance(value, SparseVariable):
        return _like_variable(form, value)
    if not is_scipy(value):
        raise TypeError(f"expected a sparse matrix, one of SciPy's sparse arrays, got {value!r}")
    array = in_order(value, matrix.format)
    for axis, (expected, got) in enumerate(zip(form.shape, array.shape)):
        if expected is not None and expected != got:
            raise ValueError(f"expected length {expected} along axis {axis}, got {got}")
    if form.pattern is not None:
        if not all(
            np.array_equal(x, y) for x, y in zip(form.pattern, (array.indices, array.indptr))
        ):
            raise ValueError(
                "the matrix stores other positions than the pattern that the expression was built for; a type without "
                "pattern= takes any"
            )
        return (array.data,)
    major, minor = array.shape if matrix.format == "csr" else array.shape[::-1]
    indices, indptr = array.indices, array.indptr
    if max(len(indices), minor) > form.largest:
        raise ValueError(
            f'positions up to {max(len(indices), minor)} do not fit {form.dtype}; make the type with index_dtype="int64"'
        )
    if indices.dtype != form.dtype or indptr.dtype != form.dtype:
        indices, indptr = (x.astype(form.dtype, copy=False) for x in (indices, indptr))
    values = dict(zip(_PARTS, (array.data, indices, indptr, minor, major)))
    for key, part in form.known.items():
        if not np.array_equal(part.data, values[key]):
            what = "lengths" if key in ("minor", "major") else "positions"
            raise ValueError(f"the matrix has other {what} than those that its expression has")
    return tuple(values[key] for key in form.parts)


def _like_variable(form: _Form, other: SparseVariable) -> tuple[Any, ...]:
    matrix = form.matrix
    if matrix.same_pattern(other):
        return (other.data, *list(form.parts.values())[1:])
    if isinstance(form, _Values):
        raise ValueError(
            f"expected the positions of the state {matrix!r}, which a loop keeps, got {other!r}; a state of other "
            "positions in each step can be dense: A.todense()"
        )
    if matrix.is_static or matrix.format != other.format:
        what = "positions" if matrix.is_static else "format; A.tocsr() and A.tocsc() convert"
        raise ValueError(f"{matrix!r} and {other!r} don't have the same {what}")
    parts = _tensors(other)
    for key in ("indices", "indptr"):
        dtype = getattr(matrix, key).dtype
        if parts[key].dtype != dtype:
            parts[key] = parts[key].astype(dtype)
    return tuple(parts[key] for key in form.parts)


class _Chosen(_Form):
    """The form of one of two matrices with different positions, which a condition chooses."""

    def __init__(self, matrix: SparseVariable):
        self.matrix, self.known = matrix, {}
        self.parts = _tensors(matrix)


def _joined(a: SparseVariable, b: SparseVariable) -> tuple[tuple[Any, ...], tuple[Any, ...], Any]:
    """Their children, with positions only where these differ, and the form of the one that is chosen."""
    if not isinstance(b, SparseVariable):
        raise TypeError(f"{a!r} and {b!r}: expected two sparse matrices; A.todense() is a tensor")
    if a.same_pattern(b):
        form = _Form(a)
        return _like_variable(form, a), _like_variable(form, b), form
    if a.format != b.format:
        raise TypeError(f"{a!r} and {b!r} have different formats; A.tocsr() and A.tocsc() convert")
    of_a, of_b = (
        tuple(part if key == "data" else part.astype("int64") for key, part in _tensors(x).items())
        for x in (a, b)
    )
    return of_a, of_b, _Chosen(a)


class _Values(_Form):
    """The form of a matrix that keeps its positions from step to step of a loop."""

    def __init__(self, matrix: SparseVariable):
        super().__init__(matrix)
        self.parts = {"data": matrix.data}


def _looped(use: str, matrix: SparseVariable) -> tuple[tuple[Any, ...], _Form]:
    if use == "sequence":
        raise NotImplementedError(
            f"scan: {matrix!r} is a sequence, but the rows of a sparse matrix have different numbers of elements; "
            "step through A.todense(), or pass the matrix in non_sequences and step through the numbers of rows"
        )
    if use == "result":
        raise NotImplementedError(
            f"scan: the matrices {matrix!r} of all steps are not one value: let A.data be the result or the state, of "
            "which A.with_data(x) makes a matrix. Of a sparse state, reduce, foldl, fori_loop and while_loop return the "
            "last matrix"
        )
    return (matrix.data,), _Values(matrix)


_core.register_tree(
    SparseVariable,
    _flatten,
    _unflatten,
    like=_like,
    joined=_joined,
    looped=_looped,
    names=list(_PARTS),
)

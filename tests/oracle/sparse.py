"""Sparse matrices as dense arrays with a mask of the stored positions, and functions of them under the names of `bitale.sparse`.

Zeros that are stored count: structured functions apply to them, and results say where they are.
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import scipy.special


class Stored:
    """`value` is 0 where `mask` is False."""

    __array_ufunc__ = None

    def __init__(self, value: Any, mask: Any):
        self.mask = np.asarray(mask, bool)
        self.value = np.where(self.mask, value, np.zeros((), np.asarray(value).dtype))

    dtype = property(lambda self: self.value.dtype)
    shape = property(lambda self: self.value.shape)
    T = property(lambda self: Stored(self.value.T, self.mask.T))

    def of_stored(self, function: Callable[..., Any], *others: Any) -> Stored:
        """An elementwise function of the stored elements."""
        found = function(self.value[self.mask], *others)
        value = np.zeros(self.shape, found.dtype)
        value[self.mask] = found
        return Stored(value, self.mask)

    def difference(self, got: Any) -> str | None:
        """How SciPy's matrix stores other positions."""
        found = got.tocoo()
        mask = np.zeros(self.shape, bool)
        if found.shape != self.shape:
            return f"shape {found.shape}, expected {self.shape}"
        mask[found.row, found.col] = True
        if len(found.data) != mask.sum() or not np.array_equal(mask, self.mask):
            return f"stores {mask.astype(int).tolist()}, expected {self.mask.astype(int).tolist()}"
        return None

    def todense(self) -> Any:
        return self.value

    def tocsr(self) -> Stored:
        return self

    tocsc = tocsr

    @property
    def data(self) -> Any:
        """The stored elements row by row: of csr matrices."""
        return self.value[self.mask]

    def with_data(self, data: Any) -> Stored:
        value = np.zeros(self.shape, data.dtype)
        value[self.mask] = data
        return Stored(value, self.mask)

    def astype(self, dtype: str) -> Stored:
        return Stored(self.value.astype(dtype), self.mask)

    def diagonal(self) -> Any:
        return np.diagonal(self.value).copy()

    def trace(self) -> Any:
        return self.diagonal().sum()

    def sum(self, axis: int | None = None) -> Any:
        return self.value.sum(axis=axis, dtype=self.dtype)

    def __neg__(self) -> Stored:
        return self.of_stored(np.negative)

    def __abs__(self) -> Stored:
        return self.of_stored(np.abs)

    def __pow__(self, p: Any) -> Stored:
        return self.of_stored(lambda x: x**p)

    def __add__(self, other: Any) -> Any:
        return (
            Stored(self.value + other.value, self.mask | other.mask)
            if isinstance(other, Stored)
            else self.value + other
        )

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return other - self.value

    def __mul__(self, other: Any) -> Stored:
        return (
            Stored(self.value * other.value, self.mask | other.mask)
            if isinstance(other, Stored)
            else Stored(self.value * other, self.mask)
        )

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Stored:
        return Stored(self.value / other, self.mask)

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, Stored):
            return Stored(
                self.value @ other.value, self.mask.astype(int) @ other.mask.astype(int) > 0
            )
        return self.value @ other

    dot = __matmul__

    def __rmatmul__(self, other: Any) -> Any:
        return other @ self.value

    def __getitem__(self, key: Any) -> Any:
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        if (
            np.ndim(rows) == 0
            and np.ndim(columns) == 0
            and not isinstance(rows, slice)
            and not isinstance(columns, slice)
        ):
            return self.value[rows, columns]
        rows, columns = (
            each if isinstance(each, slice) else np.atleast_1d(np.asarray(each, "int64"))
            for each in (rows, columns)
        )
        return Stored(self.value[rows][:, columns], self.mask[rows][:, columns])


def _compressed(data: Any, indices: Any, indptr: Any, shape: Any) -> Stored:
    rows = np.repeat(np.arange(shape[0]), np.diff(indptr))
    return from_elements(data, rows, indices, shape)


def from_elements(data: Any, rows: Any, columns: Any, shape: Any, format: str = "csr") -> Stored:
    value, mask = np.zeros(shape, np.asarray(data).dtype), np.zeros(shape, bool)
    np.add.at(value, (rows, columns), data)
    mask[rows, columns] = True
    return Stored(value, mask)


CSR = _compressed


def CSC(data: Any, indices: Any, indptr: Any, shape: Any) -> Stored:
    return _compressed(data, indices, indptr, shape[::-1]).T


def csr_from_dense(x: Any) -> Stored:
    return Stored(x, x != 0)


csc_from_dense = csr_from_dense


def remove0(x: Stored) -> Stored:
    return Stored(x.value, x.value != 0)


clean = remove0


def tril(x: Stored, k: int = 0) -> Stored:
    return Stored(x.value, x.mask & np.tri(*x.shape, k, dtype=bool))


def triu(x: Stored, k: int = 0) -> Stored:
    return Stored(x.value, x.mask & ~np.tri(*x.shape, k - 1, dtype=bool))


def _joined(blocks: list[Stored], axis: int) -> Stored:
    return Stored(
        np.concatenate([x.value for x in blocks], axis),
        np.concatenate([x.mask for x in blocks], axis),
    )


def hstack(blocks: list[Stored], format: str | None = None) -> Stored:
    return _joined(blocks, 1)


def vstack(blocks: list[Stored], format: str | None = None) -> Stored:
    return _joined(blocks, 0)


def block_diag(*blocks: Stored, format: str = "csc") -> Stored:
    parts = []
    for k, x in enumerate(blocks):
        row = [
            Stored(
                np.zeros((x.shape[0], y.shape[1]), y.dtype),
                np.zeros((x.shape[0], y.shape[1]), bool),
            )
            for y in blocks
        ]
        row[k] = x
        parts.append(_joined(row, 1))
    return _joined(parts, 0)


def square_diagonal(x: Any) -> Stored:
    return Stored(np.diag(x), np.eye(len(x), dtype=bool))


def diag(x: Stored) -> Any:
    return x.diagonal()


def sp_sum(x: Stored, axis: int | None = None) -> Any:
    return x.sum(axis)


def row_scale(x: Stored, s: Any) -> Stored:
    return x * s[:, None]


def col_scale(x: Stored, s: Any) -> Stored:
    return x * s


def sampling_dot(x: Any, y: Any, p: Stored) -> Stored:
    return p * (x @ y.T)


def structured_add_s_v(x: Stored, y: Any) -> Stored:
    return Stored(x.value + y, x.mask)


def structured_elemwise(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, *others: x.of_stored(function, *others)


def get_item_2lists(x: Stored, rows: Any, columns: Any) -> Any:
    return x.value[rows, columns]


def usmm(alpha: Any, x: Any, y: Any, z: Any) -> Any:
    return alpha * (x @ y) + z


def dot(x: Any, y: Any) -> Any:
    return x @ y


def sp_ones_like(x: Stored) -> Stored:
    return x.of_stored(np.ones_like)


def sp_zeros_like(x: Stored) -> Stored:
    return x.of_stored(np.zeros_like)


def _comparison(compare: Callable[..., Any]) -> Callable[..., Any]:
    def of(x: Any, y: Any) -> Any:
        if isinstance(x, Stored) and isinstance(y, Stored):
            return Stored(compare(x.value, y.value), x.mask | y.mask)
        return compare(*(each.value if isinstance(each, Stored) else each for each in (x, y)))

    return of


neq, lt, gt = map(_comparison, (np.not_equal, np.less, np.greater))
le, ge, eq = map(_comparison, (np.less_equal, np.greater_equal, np.equal))

_OF_STORED: dict[str, Any] = {
    **{name: getattr(np, name) for name in "sin tan sqrt expm1 arctan arcsin tanh sinh arcsinh log1p conj sign ceil floor rint trunc cbrt deg2rad rad2deg abs".split()},
    "sqr": np.square, "neg": np.negative, "erf": scipy.special.erf, "structured_exp": np.exp, "structured_log": np.log,
    "structured_sigmoid": scipy.special.expit, "structured_pow": lambda x, p: x**p, "structured_minimum": np.minimum,
    "structured_maximum": np.maximum, "structured_add": np.add,
}  # fmt: skip
for _name, _function in _OF_STORED.items():
    globals()[_name] = structured_elemwise(_function)


class linalg:
    """Systems and determinants, by dense ones."""

    class cholesky:
        def __init__(self, a: Stored):
            lower = np.tril(a.value)
            self.a = lower + np.tril(lower, -1).conj().T

        def solve(self, b: Any) -> Any:
            return np.linalg.solve(self.a, b)

        def logdet(self) -> Any:
            return np.linalg.slogdet(self.a)[1]

    class lu:
        def __init__(self, a: Stored):
            self.a = a.value

        def solve(self, b: Any, trans: int = 0) -> Any:
            return np.linalg.solve((self.a, self.a.T, self.a.conj().T)[trans], b)

        def slogdet(self) -> Any:
            return tuple(np.linalg.slogdet(self.a))

        def logdet(self) -> Any:
            return np.linalg.slogdet(self.a)[1]

    @staticmethod
    def solve_triangular(
        a: Stored, b: Any, lower: bool = True, trans: int = 0, unit_diagonal: bool = False
    ) -> Any:
        triangle = np.tril(a.value) if lower else np.triu(a.value)
        if unit_diagonal:
            np.fill_diagonal(triangle, 1)
        return np.linalg.solve((triangle, triangle.T, triangle.conj().T)[trans], b)

    @staticmethod
    def solve(
        a: Stored, b: Any, assume_a: str = "pos", lower: bool = True, transposed: bool = False
    ) -> Any:
        one, beside = (
            (np.tril(a.value), np.tril(a.value, -1))
            if lower
            else (np.triu(a.value), np.triu(a.value, 1))
        )
        if assume_a in ("pos", "her"):
            one = one - 1j * np.diag(np.diag(one).imag) if np.iscomplexobj(one) else one
            matrix = one + beside.conj().T
        else:
            shapes = {
                "gen": a.value,
                "diagonal": np.diag(np.diag(a.value)),
                "lower triangular": np.tril(a.value),
                "upper triangular": np.triu(a.value),
            }
            matrix = one + beside.T if assume_a == "sym" else shapes[assume_a]
        return np.linalg.solve(matrix.T if transposed else matrix, b)

    @staticmethod
    def selected_inverse(a: Stored) -> Stored:
        return Stored(np.linalg.inv(linalg.cholesky(a).a), a.mask)

    @staticmethod
    def quadratic_form(a: Stored, x: Any) -> Any:
        return x @ a.value @ x

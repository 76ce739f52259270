"""Methods of sparse variables that take Python's slices, give SciPy's arrays, or are stored by pickle."""

from __future__ import annotations

from typing import Any

from bitale import _core
from bitale._core import SparseVariable
from bitale.sparse.basic import get_item
from bitale.sparse.function import evaluate
from bitale.sparse.math import power

__all__ = ["SparseVariable", "restored"]

SparseVariable.__module__ = __name__


def restored(*parts: Any) -> SparseVariable:
    """The matrix that pickle has stored."""
    return _core.sparse_matrix(*parts)


def _reduced(x: SparseVariable) -> tuple[Any, ...]:
    return restored, (x.format, x.data, x.indices, x.indptr, *x.lengths, False, x.name or "")


def _refuse_iteration(x: SparseVariable) -> Any:
    raise TypeError("a sparse matrix can't be iterated over; A[i] is its row i, A.data its stored elements")


for _name, _method in {
    "__getitem__": get_item, "__pow__": power, "__iter__": _refuse_iteration, "__reduce__": _reduced, "eval": evaluate,
}.items():  # fmt: skip
    setattr(SparseVariable, _name, _method)

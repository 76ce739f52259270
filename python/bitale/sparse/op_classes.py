"""PyTensor's classes of sparse ops, those of 3.3 and the older names: `SpSum(axis=0)(A)` gives what sp_sum(A, 0) gives. Functions of
sparse matrices are expressions of ordinary ops, so isinstance is False for the ops of all nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bitale._class_factory import formula_class
from bitale.sparse import basic, linalg, math

__all__: list[str] = []


def _class(name: str, doc: str, apply: Callable[..., Any], **defaults: Any) -> Any:
    __all__.append(name)
    return formula_class(name, doc, apply, __name__, defaults)


Cast = _class(
    "Cast", "Elements of another dtype.", lambda x, out_type: basic.cast(x, out_type), out_type=...
)
ColScaleCSC = _class("ColScaleCSC", "Columns times numbers.", basic.col_scale)
ConstructSparseFromList = _class(
    "ConstructSparseFromList", "A matrix with some rows.", basic.construct_sparse_from_list
)
CSMProperties = _class(
    "CSMProperties",
    "Data, indices, indptr and shape.",
    lambda x, kmap: basic.csm_properties(x),
    kmap=None,
)
DenseFromSparse = _class(
    "DenseFromSparse",
    "The dense matrix.",
    lambda x, structured: basic.dense_from_sparse(x),
    structured=True,
)
Diag = _class("Diag", "The elements on the diagonal.", basic.diag)
EnsureSortedIndices = _class(
    "EnsureSortedIndices",
    "Sorted positions.",
    lambda x, inplace: basic.ensure_sorted_indices(x),
    inplace=...,
)
GetItem2Lists = _class(
    "GetItem2Lists", "Elements by their rows and columns.", basic.get_item_2lists
)
GetItem2d = _class("GetItem2d", "Rows and columns.", basic.get_item_2d)
GetItemList = _class("GetItemList", "Rows by a list.", basic.get_item_list)
GetItemScalar = _class("GetItemScalar", "An element.", basic.get_item_scalar)
HStack = _class(
    "HStack",
    "Matrices side by side.",
    lambda *x, format, dtype: basic.hstack(x, format, dtype),
    format=None,
    dtype=None,
)
Remove0 = _class(
    "Remove0",
    "The matrix without stored zeros.",
    lambda x, inplace: basic.remove0(x),
    inplace=False,
)
RowScaleCSC = _class("RowScaleCSC", "Rows times numbers.", basic.row_scale)
SamplingDot = _class("SamplingDot", "A product at the positions of a matrix.", math.sampling_dot)
SparseBlockDiagonal = _class(
    "SparseBlockDiagonal",
    "Matrices along the diagonal.",
    lambda *x, n_inputs, format: linalg.block_diag(*x, format=format),
    n_inputs=...,
    format="csc",
)
SparseFromDense = _class(
    "SparseFromDense",
    "The elements that are not 0.",
    lambda x, format: (basic.csr_from_dense if format == "csr" else basic.csc_from_dense)(x),
    format=...,
)
SpSum = _class(
    "SpSum",
    "Sums of elements.",
    lambda x, axis, sparse_grad: math.sp_sum(x, axis, sparse_grad),
    axis=None,
    sparse_grad=True,
)
Transpose = _class("Transpose", "The transpose.", basic.transpose)
TrueDot = _class(
    "TrueDot",
    "A product.",
    lambda x, y, grad_preserves_dense: math.true_dot(x, y, grad_preserves_dense),
    grad_preserves_dense=True,
)
VStack = _class(
    "VStack",
    "Matrices one below the other.",
    lambda *x, format, dtype: basic.vstack(x, format, dtype),
    format=None,
    dtype=None,
)

# The function of two matrices that a class has, with its names in 3.3 and before.
for _function, _names in {
    "add": "AddSparseDense AddSparseSparse AddSparseSparseData AddSD AddSS AddSSData",
    "dot": "Dot StructuredDot",
    "eq": "EqualSparseDense EqualSparseSparse EqualSD EqualSS",
    "ge": "GreaterEqualSparseDense GreaterEqualSparseSparse GreaterEqualSD GreaterEqualSS",
    "gt": "GreaterThanSparseDense GreaterThanSparseSparse GreaterThanSD GreaterThanSS",
    "le": "LessEqualSparseDense LessEqualSparseSparse LessEqualSD LessEqualSS",
    "lt": "LessThanSparseDense LessThanSparseSparse LessThanSD LessThanSS",
    "multiply": "MultiplySparseDense MultiplySparseDenseVector MultiplySparseSparse SparseDenseMultiply SparseDenseVectorMultiply SparseSparseMultiply",
    "neq": "NotEqualSparseDense NotEqualSparseSparse NotEqualSD NotEqualSS",
    "structured_add_s_v": "StructuredAddSparseDenseVector StructuredAddSV",
    "usmm": "Usmm",
}.items():
    for _name in _names.split():
        globals()[_name] = _class(_name, f"The class of {_function}.", getattr(math, _function))

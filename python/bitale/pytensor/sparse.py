"""Sparse matrices that are constant or computed within a graph. Their counterparts are bitale.sparse's, so products are loops that fuse; a constant
is SciPy's matrix, of which the converters make a sparse constant. Inputs, shared variables and results that are sparse have no counterpart."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import pytensor.sparse.basic as theirs
import pytensor.sparse.math as their_math

import bitale.tensor as pt
from bitale import sparse
from bitale._core import SparseVariable
from bitale.pytensor.registry import Converter, NotConverted, converts, forwards


def _those(*names: str) -> tuple[type, ...]:
    """The classes of ops that this version of PyTensor has by these names; older versions have shorter ones."""
    found = (getattr(module, name, None) for module in (theirs, their_math) for name in names)
    return tuple(dict.fromkeys(cls for cls in found if isinstance(cls, type)))


def _declared(node: Any, value: Any) -> Any:
    """The matrix in the format and dtype that PyTensor declares for the result."""
    type_ = node.outputs[0].type
    value = value.to(type_.format)
    return value if value.dtype == type_.dtype else value.astype(type_.dtype)


def _same(x: Any, y: Any) -> bool:
    """Whether two variables are known to have the same value: they are one, or equal constants."""
    return bool(x == y) or (
        hasattr(x, "data") and hasattr(y, "data") and np.array_equal(x.data, y.data)
    )


def _declaring(function: Callable[..., Any]) -> Converter:
    return lambda op, node, *inputs: _declared(node, function(*inputs))


for _classes, _function in (
    (_those("AddSparseSparse", "AddSS", "AddSparseSparseData", "AddSSData"), sparse.add),
    (_those("StructuredAddSparseDenseVector", "StructuredAddSV"), sparse.structured_add_s_v),
    (_those("MultiplySparseSparse", "MulSS", "MultiplySparseDense", "MulSD"), sparse.multiply),
    (_those("MultiplySparseDenseVector", "MulSV"), sparse.multiply),
    (_those("ColScaleCSC"), sparse.col_scale),
    (_those("RowScaleCSC"), sparse.row_scale),
    (_those("SamplingDot"), sparse.sampling_dot),
    (_those("HStack"), lambda *blocks: sparse.hstack(blocks)),
    (_those("VStack"), lambda *blocks: sparse.vstack(blocks)),
):
    converts(*_classes)(_declaring(_function))
converts(theirs.Transpose)(forwards(sparse.transpose))
converts(theirs.DenseFromSparse)(forwards(sparse.dense_from_sparse))
converts(theirs.Diag)(forwards(sparse.diag))
converts(theirs.GetItemScalar)(forwards(lambda x, *index: sparse.get_item(x, index)))
converts(their_math.SpSum)(forwards(sparse.sp_sum, "axis"))
converts(*_those("AddSparseDense", "AddSD"))(forwards(sparse.add))
converts(their_math.Usmm)(forwards(sparse.usmm))


@converts(theirs.CSM)
def _csm(op: Any, node: Any, data: Any, indices: Any, indptr: Any, shape: Any) -> Any:
    return (sparse.CSC if op.format == "csc" else sparse.CSR)(data, indices, indptr, shape)


@converts(theirs.CSMProperties)
def _csm_properties(op: Any, node: Any, x: Any) -> Any:
    data, indices, indptr, shape = sparse.csm_properties(x)
    known = sparse.as_sparse_variable(x).static_shape
    # A constant shape lets a matrix that is made of these parts have a static pattern.
    return [
        data,
        indices,
        indptr,
        shape if None in known else pt.constant(np.array(known, node.outputs[3].type.dtype)),
    ]


@converts(theirs.CSMGrad)
def _csm_grad(op: Any, node: Any, *inputs: Any) -> Any:
    if not all(_same(inputs[k], inputs[k + 4]) for k in (1, 2)):
        raise NotConverted("the gradient has a pattern of its own")
    return inputs[4]


@converts(theirs.Cast, theirs.EnsureSortedIndices)
def _as_declared(op: Any, node: Any, x: Any) -> Any:
    return _declared(node, sparse.as_sparse_variable(x))


@converts(their_math.Dot, their_math.StructuredDot, their_math.TrueDot)
def _dot(op: Any, node: Any, x: Any, y: Any) -> Any:
    product = sparse.dot(x, y)
    if isinstance(product, SparseVariable):
        return (
            _declared(node, product)
            if hasattr(node.outputs[0].type, "format")
            else product.todense()
        )
    if hasattr(node.outputs[0].type, "format"):
        raise NotConverted("the result is sparse, and its pattern not known")
    return product


@converts(their_math.StructuredDotGradCSC, their_math.StructuredDotGradCSR)
def _structured_dot_grad(op: Any, node: Any, indices: Any, indptr: Any, b: Any, g: Any) -> Any:
    """The elements of g @ b.T at the positions of the matrix."""
    if b.ndim != 2 or g.ndim != 2:
        raise NotConverted("a gradient of a product with a vector")
    make = sparse.CSC if isinstance(op, their_math.StructuredDotGradCSC) else sparse.CSR
    ones = make(
        pt.cast(pt.ones_like(indices), node.outputs[0].type.dtype),
        indices,
        indptr,
        pt.stack([g.shape[0], b.shape[0]]),
    )
    return sparse.sampling_dot(g, b, ones).data

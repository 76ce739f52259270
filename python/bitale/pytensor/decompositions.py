"""Decompositions of matrices, and functions and equations of them. Versions of PyTensor that keep these ops elsewhere
call them back."""

from __future__ import annotations

from typing import Any

import numpy as np

import bitale.tensor as pt
from bitale._core import lu_factor_of_diagonals
from bitale.pytensor.linalg import _aligned, aligned
from bitale.pytensor.op_imports import decompositions as of
from bitale.pytensor.registry import Misdeclared, NotConverted, converts, forwards


@converts(*of("QR"), batched=True)
def _qr(op: Any, node: Any, x: Any) -> Any:
    (x,) = _aligned(node, (x,))
    made = pt.linalg.qr(x, mode=op.mode, pivoting=op.pivoting)
    if op.mode != "r" or op.pivoting:
        return made
    # PyTensor's result has as many rows as the matrix; NumPy's omits the rows that are always zero.
    rest = pt.maximum(x.shape[-2] - made.shape[-2], 0)
    zeros = pt.zeros(
        (*(made.shape[axis] for axis in range(made.ndim - 2)), rest, made.shape[-1]),
        dtype=made.dtype,
    )
    return pt.concatenate([made, zeros], axis=-2)


@converts(*of("Eigh"), batched=True)
def _eigh(op: Any, node: Any, *given: Any) -> Any:
    lower = (
        op.lower if hasattr(op, "lower") else op.UPLO == "L"
    )  # the attribute's name in PyTensor 2
    a, *b = _aligned(node, given)
    return pt.linalg.eigh(a, b[0] if b else None, lower=lower)


@converts(*of("Eigvalsh"), batched=True)
def _eigvalsh(op: Any, node: Any, *given: Any) -> Any:
    a, *b = _aligned(node, given)
    return pt.linalg.eigvalsh(a, b[0] if b else None, lower=op.lower)


@converts(*of("Lstsq"))
def _lstsq(op: Any, node: Any, x: Any, y: Any, _: Any) -> Any:
    limit = getattr(node.inputs[2], "data", None)
    if limit is None:
        raise NotConverted("rcond is not a constant")
    # A negative limit is NumPy's for the precision of the dtype.
    solution: Any
    solution, residuals, rank, singular = pt.linalg.lstsq(
        x, y, float(limit) if limit >= 0 else float(np.finfo("float64").eps)
    )
    if solution.ndim != node.outputs[0].type.ndim:
        solution = Misdeclared(
            "the solution for a vector is a vector, which PyTensor declares as a matrix"
        )
    return solution, residuals, pt.cast(rank, "int32"), singular


@converts(*of("TensorSolve"))
def _tensorsolve(op: Any, node: Any, a: Any, b: Any) -> Any:
    solution: Any = pt.linalg.tensorsolve(a, b, op.axes)
    if solution.ndim != node.outputs[0].type.ndim:
        solution = Misdeclared(
            f"the solution has {solution.ndim} dimensions, and PyTensor declares a matrix"
        )
    return solution


@converts(*of("LU"), batched=True)
def _lu(op: Any, node: Any, x: Any) -> Any:
    return pt.linalg.lu(
        pt.cast(x, node.outputs[-1].type.dtype), permute_l=op.permute_l, p_indices=op.p_indices
    )


@converts(*of("LUFactorTridiagonal"), batched=True)
def _tridiagonal_lu_factor(op: Any, node: Any, *diagonals: Any) -> Any:
    *factors, pivots = lu_factor_of_diagonals(*_aligned(node, diagonals))
    return [*factors, pivots + np.int32(1)]  # PyTensor's count from 1, as in LAPACK


@converts(*of("SolveLUFactorTridiagonal"), batched=True)
def _tridiagonal_lu_solve(op: Any, node: Any, *inputs: Any) -> Any:
    *factors, pivots, b = inputs
    *factors, b = _aligned(node, (*factors, b))
    return pt.linalg.tridiagonal_lu_solve(
        (*factors, pivots - np.int32(1)), b, b_ndim=op.b_ndim, transposed=op.transposed
    )


for _name, _function, *_attributes in (
    ("SVD", pt.linalg.svd, "full_matrices", "compute_uv"),
    ("MatrixPinv", pt.linalg.pinv),
    ("LUFactor", pt.linalg.lu_factor),
    ("Schur", pt.linalg.schur, "sort"),
    ("QZ", pt.linalg.qz, "sort", "return_eigenvalues"),
    ("Expm", pt.linalg.expm),
    ("TRSYL", pt.linalg.solve_sylvester),
):
    converts(*of(_name), batched=True)(aligned(_function, *_attributes))
converts(*of("Eig"), batched=True)(forwards(pt.linalg.eig))
converts(*of("PivotToPermutations"), batched=True)(
    forwards(pt.linalg.pivot_to_permutation, "inverse")
)

"""Decompositions of matrices, and functions and equations of them. Versions of PyTensor that keep these ops elsewhere
call them back."""

from __future__ import annotations

from typing import Any

import numpy as np

import bitale.tensor as pt
from bitale._core import lu_factor_of_diagonals
from bitale.pytensor.linalg import _aligned
from bitale.pytensor.op_imports import decompositions as of
from bitale.pytensor.registry import Misdeclared, NotConverted, converts


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


@converts(*of("SVD"), batched=True)
def _svd(op: Any, node: Any, x: Any) -> Any:
    (x,) = _aligned(node, (x,))
    return pt.linalg.svd(x, full_matrices=op.full_matrices, compute_uv=op.compute_uv)


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


@converts(*of("Eig"), batched=True)
def _eig(op: Any, node: Any, x: Any) -> Any:
    return pt.linalg.eig(x)


@converts(*of("MatrixPinv"), batched=True)
def _pinv(op: Any, node: Any, x: Any) -> Any:
    return pt.linalg.pinv(*_aligned(node, (x,)))


@converts(*of("Lstsq"))
def _lstsq(op: Any, node: Any, x: Any, y: Any, _: Any) -> Any:
    limit = getattr(node.inputs[2], "data", None)
    if limit is None:
        raise NotConverted("rcond is no constant")
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


@converts(*of("LUFactor"), batched=True)
def _lu_factor(op: Any, node: Any, x: Any) -> Any:
    return pt.linalg.lu_factor(*_aligned(node, (x,)))


@converts(*of("PivotToPermutations"), batched=True)
def _permutation(op: Any, node: Any, pivots: Any) -> Any:
    return pt.linalg.pivot_to_permutation(pivots, inverse=op.inverse)


@converts(*of("LU"), batched=True)
def _lu(op: Any, node: Any, x: Any) -> Any:
    return pt.linalg.lu(
        pt.cast(x, node.outputs[-1].type.dtype), permute_l=op.permute_l, p_indices=op.p_indices
    )


@converts(*of("Schur"), batched=True)
def _schur(op: Any, node: Any, x: Any) -> Any:
    (x,) = _aligned(node, (x,))
    return pt.linalg.schur(x, sort=op.sort)


@converts(*of("QZ"), batched=True)
def _qz(op: Any, node: Any, a: Any, b: Any) -> Any:
    a, b = _aligned(node, (a, b))
    return pt.linalg.qz(a, b, sort=op.sort, return_eigenvalues=op.return_eigenvalues)


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


@converts(*of("Expm"), batched=True)
def _expm(op: Any, node: Any, x: Any) -> Any:
    return pt.linalg.expm(*_aligned(node, (x,)))


@converts(*of("TRSYL"), batched=True)
def _trsyl(op: Any, node: Any, a: Any, b: Any, c: Any) -> Any:
    return pt.linalg.solve_sylvester(*_aligned(node, (a, b, c)))

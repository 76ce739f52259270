"""Linear algebra: factors of matrices, and systems of equations. The last two dimensions are matrices, those before them
batches, which broadcast. What fails raises numpy.linalg.LinAlgError."""

from __future__ import annotations

from bitale._core import (
    LinAlgError,
    cho_solve,
    cholesky,
    det,
    diagonal,
    inv,
    kron,
    slogdet,
    solve,
    solve_triangular,
    trace,
)

__all__ = [
    "LinAlgError",
    "cho_solve",
    "cholesky",
    "det",
    "diagonal",
    "inv",
    "kron",
    "slogdet",
    "solve",
    "solve_triangular",
    "trace",
]

"""Linear algebra of labelled tensors. ``dims`` are the rows and columns of the matrices; all other dimensions are batch dimensions."""

from bitale._core import (
    xtensor_cho_solve as cho_solve,
    xtensor_cholesky as cholesky,
    xtensor_det as det,
    xtensor_diagonal as diagonal,
    xtensor_eig as eig,
    xtensor_eigh as eigh,
    xtensor_eigvals as eigvals,
    xtensor_eigvalsh as eigvalsh,
    xtensor_expm as expm,
    xtensor_inv as inv,
    xtensor_lstsq as lstsq,
    xtensor_lu as lu,
    xtensor_lu_factor as lu_factor,
    xtensor_lu_solve as lu_solve,
    xtensor_matrix_power as matrix_power,
    xtensor_matrix_rank as matrix_rank,
    xtensor_norm as norm,
    xtensor_pinv as pinv,
    xtensor_pivot_to_permutation as pivot_to_permutation,
    xtensor_qr as qr,
    xtensor_qz as qz,
    xtensor_schur as schur,
    xtensor_slogdet as slogdet,
    xtensor_solve as solve,
    xtensor_solve_triangular as solve_triangular,
    xtensor_svd as svd,
    xtensor_svdvals as svdvals,
    xtensor_trace as trace,
)

__all__ = [
    "cho_solve", "cholesky", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "expm", "inv", "lstsq", "lu", "lu_factor", "lu_solve",
    "matrix_power", "matrix_rank", "norm", "pinv", "pivot_to_permutation", "qr", "qz", "schur", "slogdet", "solve", "solve_triangular", "svd",
    "svdvals", "trace",
]  # fmt: skip

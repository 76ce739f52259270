"""PyTensor's classes of ops of linear algebra. `isinstance(node.op, Cholesky)` asks for one, and `Cholesky(lower=True)(A)` makes and
applies one, on matrices and on batches. The op of a batch is a Blockwise, whose `core_op` is that of its matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bitale import _core
from bitale._class_factory import formula_class, is_library_op

__all__: list[str] = []


def _class(
    name: str,
    doc: str,
    apply: Callable[..., Any],
    of: str | None = None,
    ranks: tuple[int, ...] = (2,),
    choices: dict[str, tuple[Any, ...]] | None = None,
    **defaults: Any,
) -> Any:
    """ranks: of the inputs; b_ndim replaces that of the last one. choices: the values that an argument may have."""
    __all__.append(name)

    def check(**arguments: Any) -> None:
        for key, values in (choices or {}).items():
            if arguments[key] not in values:
                raise ValueError(f"{name}: {key}: expected one of {values}, got {arguments[key]!r}")

    def given(arguments: dict[str, Any]) -> tuple[int, ...]:
        last = arguments.get("b_ndim")
        return ranks if last is None else (*ranks[:-1], last)

    holds = is_library_op(of) if of else None
    ranks_of = given if of else None
    return formula_class(name, doc, apply, __name__, defaults, holds, ranks_of, check)


def _without(*ignored: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A formula that does not look at these arguments: nothing is written in place, and all values are checked by LAPACK."""
    return lambda function: (
        lambda *inputs, **arguments: function(
            *inputs, **{key: value for key, value in arguments.items() if key not in ignored}
        )
    )


_in_place = _without(
    "overwrite_a",
    "overwrite_b",
    "overwrite_dl",
    "overwrite_d",
    "overwrite_du",
    "n_inputs",
    "driver",
    "input_types",
)

Cholesky = _class(
    "Cholesky",
    "The Cholesky factor.",
    _in_place(_core.cholesky),
    of="Cholesky",
    lower=True,
    overwrite_a=False,
)
CholeskySolve = _class(
    "CholeskySolve",
    "The solution of a system, by the Cholesky factor of its matrix.",
    _in_place(lambda factor, b, lower, b_ndim: _core.cho_solve((factor, lower), b, b_ndim=b_ndim)),
    lower=False,
    b_ndim=None,
    overwrite_a=False,
    overwrite_b=False,
)
Det = _class("Det", "The determinant.", _core.det, of="Det")
SLogDet = _class(
    "SLogDet",
    "The sign of the determinant, and the logarithm of its absolute value.",
    _core.slogdet,
    of="SLogDet",
)
Eig = _class("Eig", "Eigenvalues and eigenvectors.", _core.eig, of="Eig")
Eigh = _class(
    "Eigh",
    "Eigenvalues and eigenvectors of symmetric matrices.",
    _in_place(
        lambda a, lower, UPLO: _core.eigh(a, lower=lower if UPLO is None else UPLO.upper() == "L")
    ),
    of="Eigh",
    lower=True,
    UPLO=None,
    overwrite_a=False,
    overwrite_b=False,
    driver="evr",
)
Eigvalsh = _class(
    "Eigvalsh",
    "Eigenvalues of symmetric matrices.",
    _in_place(lambda a, b=None, *, lower: _core.eigvalsh(a, b, lower=lower)),
    of="Eigvalsh",
    lower=True,
    overwrite_a=False,
    overwrite_b=False,
)
Expm = _class(
    "Expm", "The exponential of a matrix.", _in_place(_core.expm), of="Expm", overwrite_a=False
)
KroneckerProduct = _class(
    "KroneckerProduct", "The Kronecker product.", _in_place(_core.kron), input_types=None
)
LU = _class(
    "LU",
    "The factors of a matrix with rows exchanged.",
    _in_place(_core.lu),
    permute_l=False,
    overwrite_a=False,
    p_indices=False,
)
LUFactor = _class(
    "LUFactor",
    "LU factors in one matrix, and the exchanges of rows.",
    _in_place(_core.lu_factor),
    of="LUFactor",
    overwrite_a=False,
)
Lstsq = _class("Lstsq", "Least squares.", _core.lstsq, of="Lstsq", ranks=(2, 2))
MatrixInverse = _class("MatrixInverse", "The inverse.", _core.inv)
MatrixPinv = _class(
    "MatrixPinv",
    "The Moore-Penrose inverse.",
    lambda a, hermitian: _core.pinv(a, hermitian=hermitian),
    of="MatrixPinv",
    hermitian=...,
)
PivotToPermutations = _class(
    "PivotToPermutations",
    "A permutation, of exchanges of rows.",
    lambda p, inverse: _core.pivot_to_permutation(p, inverse=inverse),
    of="PivotToPermutations",
    inverse=True,
)
QR = _class(
    "QR",
    "An orthogonal and a triangular factor.",
    _in_place(lambda a, mode, pivoting: _core.qr(a, mode, pivoting=pivoting)),
    of="QR",
    choices={"mode": ("full", "complete", "economic", "reduced", "r", "raw")},
    mode="full",
    overwrite_a=False,
    pivoting=False,
)
QZ = _class(
    "QZ", "The generalised Schur decomposition.",
    _in_place(
        lambda a, b, complex_output, sort, return_eigenvalues: _core.qz(
            a, b, output="complex" if complex_output else "real", sort=sort, return_eigenvalues=return_eigenvalues
        )
    ),
    of="QZ", ranks=(2, 2), complex_output=False, overwrite_a=False, overwrite_b=False, sort=None, return_eigenvalues=False,
)  # fmt: skip
SVD = _class(
    "SVD",
    "The singular value decomposition.",
    _in_place(lambda a, full_matrices, compute_uv: _core.svd(a, full_matrices, compute_uv)),
    of="SVD",
    full_matrices=True,
    compute_uv=True,
    overwrite_a=False,
)
Schur = _class(
    "Schur",
    "The Schur decomposition.",
    _in_place(lambda a, output, sort: _core.schur(a, output, sort)),
    of="Schur",
    choices={"output": ("real", "complex")},
    output="real",
    overwrite_a=False,
    sort=None,
)
Solve = _class(
    "Solve", "The solution of a system of equations.",
    _in_place(lambda a, b, assume_a, lower, b_ndim: _core.solve(a, b, assume_a=assume_a, lower=lower, b_ndim=b_ndim)),
    of="Solve", ranks=(2, 2), assume_a="gen", lower=False, b_ndim=None, overwrite_a=False, overwrite_b=False,
)  # fmt: skip
SolveTriangular = _class(
    "SolveTriangular", "The solution of a system with a triangular matrix.",
    _in_place(lambda a, b, unit_diagonal, lower, b_ndim: _core.solve_triangular(a, b, unit_diagonal=unit_diagonal, lower=lower, b_ndim=b_ndim)),
    of="SolveTriangular", ranks=(2, 2), unit_diagonal=False, lower=False, b_ndim=None, overwrite_a=False, overwrite_b=False,
)  # fmt: skip
SolveSylvester = _class(
    "SolveSylvester",
    "The solution of A X + X B = C.",
    _core.solve_sylvester,
    of="SolveSylvester",
    ranks=(2, 2, 2),
)
SolveDiscreteARE = _class(
    "SolveDiscreteARE",
    "The solution of the discrete algebraic Riccati equation.",
    _without("enforce_Q_symmetric")(_core.solve_discrete_are),
    of="SolveDiscreteARE",
    ranks=(2, 2, 2, 2),
    enforce_Q_symmetric=False,
)
BlockDiagonal = _class(
    "BlockDiagonal",
    "Matrices along the diagonal of one.",
    _in_place(_core.block_diag),
    n_inputs=...,
)
TensorInv = _class(
    "TensorInv",
    "The inverse of a tensor as a linear map.",
    lambda a, ind: _core.tensorinv(a, ind),
    ind=2,
)
TensorSolve = _class(
    "TensorSolve",
    "The solution of a system whose matrix is a tensor.",
    lambda a, b, axes: _core.tensorsolve(a, b, axes),
    axes=None,
)

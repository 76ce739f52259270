"""Classes of ops that PyTensor 2.38 has in other modules than PyTensor 3, or not at all."""

from __future__ import annotations

from typing import Any

import pytensor.compile.builders as _builders
import pytensor.tensor.special as _special
import pytensor.tensor.subtensor as _subtensor

try:
    from pytensor.tensor.linalg.decomposition.cholesky import Cholesky
    from pytensor.tensor.linalg.inverse import MatrixInverse
    from pytensor.tensor.linalg.solvers.general import Solve
    from pytensor.tensor.linalg.solvers.psd import CholeskySolve
    from pytensor.tensor.linalg.solvers.triangular import SolveTriangular
    from pytensor.tensor.linalg.summary import Det, SLogDet
except ImportError:
    from pytensor.tensor.nlinalg import Det, MatrixInverse, SLogDet
    from pytensor.tensor.slinalg import Cholesky, CholeskySolve, Solve, SolveTriangular

try:
    from pytensor.conditional.op import IfElse
except ImportError:
    from pytensor.ifelse import IfElse

__all__ = [
    "decompositions",
    "ADVANCED_CHANGE",
    "ADVANCED_INDEX",
    "LOG_SUM_EXP",
    "SOFTMAX_GRAD",
    "SYMBOLIC",
    "Cholesky",
    "CholeskySolve",
    "Det",
    "IfElse",
    "MatrixInverse",
    "SLogDet",
    "Solve",
    "SolveTriangular",
]


def _those(module: Any, *names: str) -> tuple[type, ...]:
    return tuple(getattr(module, name) for name in names if hasattr(module, name))


ADVANCED_INDEX = _those(_subtensor, "AdvancedSubtensor", "AdvancedSubtensor1")
ADVANCED_CHANGE = _those(_subtensor, "AdvancedIncSubtensor", "AdvancedIncSubtensor1")
SYMBOLIC = _those(_builders, "SymbolicOp")
LOG_SUM_EXP = _those(_special, "LogSumExp")
SOFTMAX_GRAD = _those(_special, "SoftmaxGrad")


def decompositions(name: str) -> tuple[type, ...]:
    """The op class of that name among the decompositions and functions of matrices, if this version has it."""
    import importlib

    for module in (
        "linalg.decomposition.qr", "linalg.decomposition.svd", "linalg.decomposition.eigen", "linalg.decomposition.lu",
        "linalg.decomposition.schur", "linalg.inverse", "linalg.products", "linalg.solvers.linear_control",
        "linalg.solvers.lstsq", "linalg.solvers.tridiagonal", "_linalg.solve.tridiagonal", "nlinalg", "slinalg",
    ):  # fmt: skip
        try:
            found = getattr(importlib.import_module(f"pytensor.tensor.{module}"), name, None)
        except ImportError:
            continue
        if isinstance(found, type):
            return (found,)
    return ()

"""Draws of PyMC's conditional autoregression, on a graph of areas that is known when the function is made.

PyMC orders the areas by the reverse Cuthill-McKee algorithm, which makes the precision matrix a band, and solves a system with it. The order and the
width of the band depend on the adjacency matrix alone, so they are constants here, and the band is a formula of alpha and tau.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import bitale.tensor as pt
from bitale import raise_op
from bitale.graph import Constant, graph_inputs
from bitale.pytensor.random import drawn, draws
from bitale.pytensor.registry import NotConverted


def _adjacency(w: Any) -> Any:
    """The values of the adjacency matrix, as SciPy's sparse matrix. NotConverted if they are known at a call only."""
    from scipy import sparse

    if sparse.issparse(w):
        return sparse.csr_matrix(w)
    if not all(isinstance(x, Constant) for x in graph_inputs([w])):
        raise NotConverted("its adjacency matrix is not a constant")
    values = w.eval()
    return sparse.csr_matrix(values.reshape(values.shape[-2:]))


def _order(precision: Any) -> Any:
    from scipy import sparse

    return sparse.csgraph.reverse_cuthill_mckee(sparse.csr_matrix(precision), symmetric_mode=True)


def _bands(matrix: Any, width: int) -> Any:
    """The diagonals of a matrix as solve_banded takes them, `width` of them above the main one and as many below."""
    n = matrix.shape[0]
    made = np.zeros((2 * width + 1, n))
    at = matrix.tocoo()
    made[width + at.row - at.col, at.col] = at.data
    return made


@draws("pymc.distributions.multivariate.CARRV")
def _car(op: Any, mu: Any, w: Any, alpha: Any, tau: Any, is_valid: Any, rng: Any, size: Any) -> Any:
    from scipy import sparse

    adjacency = _adjacency(w)
    n = adjacency.shape[0]
    if (
        adjacency.shape != (n, n)
        or n == 0
        or adjacency.diagonal().any()
        or not np.isfinite(adjacency.data).all()
        or (adjacency.data < 0).any()
    ):
        raise NotConverted(
            "its adjacency matrix is not square, finite and non-negative with a zero diagonal"
        )
    degrees = sparse.diags(np.asarray(adjacency.sum(axis=0))[0]).tocsr()
    order = _order(
        degrees - adjacency.multiply(0.5)
    )  # for any alpha except 0, where PyMC's draws do not have this distribution
    inverse = np.argsort(order)
    far = (adjacency[order, :][:, order]).tocoo()
    width = int(np.abs(far.row - far.col).max(initial=0))
    diagonal, neighbours = (
        _bands(matrix[order, :][:, order], width) for matrix in (degrees, adjacency)
    )

    mu, alpha, tau = (
        pt.cast(mu, "float64"),
        pt.cast(alpha, "float64").reshape(()),
        pt.cast(tau, "float64").reshape(()),
    )
    shape = [*(size if size is not None else (mu.shape[axis] for axis in range(mu.ndim - 1))), n]
    following, z = drawn("standard_normal", rng, [], shape)
    z = raise_op.CheckAndRaise(ValueError, "CAR: W must be a valid adjacency matrix")(
        z, pt.all(is_valid)
    )
    z = raise_op.CheckAndRaise(ValueError, "CAR: the domain of alpha is -1 < alpha < 1")(
        z, pt.lt(pt.abs(alpha), 1)
    )
    z = raise_op.CheckAndRaise(
        np.linalg.LinAlgError,
        "CAR: the precision matrix is not positive definite: tau must be positive",
    )(z, pt.gt(tau, 0))
    rows = pt.matrix_transpose(z.reshape((-1, n)))
    solved = pt.matrix_transpose(
        pt.linalg.solve_banded((width, width), tau * (diagonal - alpha * neighbours), rows)
    ).reshape(shape)
    return following, solved[..., inverse] + mu

"""A program as users write it, for the type checker: expressions, gradients, shared variables and functions."""

from __future__ import annotations

import numpy as np

import bitale as bt
import bitale.tensor as pt
from bitale.tensor import TensorVariable


def loss(
    weights: TensorVariable, inputs: TensorVariable, targets: TensorVariable
) -> TensorVariable:
    residual = inputs @ weights - targets
    return pt.mean(residual**2) + 0.1 * pt.sum(abs(weights))


def train(
    inputs: np.ndarray[tuple[int, int], np.dtype[np.float64]],
    targets: np.ndarray[tuple[int], np.dtype[np.float64]],
) -> float:
    X, y = pt.dmatrix("X"), pt.dvector("y")
    weights = bt.shared(np.zeros(inputs.shape[1]), "weights")
    cost = loss(weights, X, y)
    gradient = bt.grad(cost, weights)
    name: str | None = gradient.name
    step = bt.function([X, y], cost, updates=[(weights, weights - 0.1 * gradient)])
    for _ in range(10):
        value = float(step(inputs, targets))
    print(name, weights.get_value())
    return value


def gradients(cost: TensorVariable, parameters: list[TensorVariable]) -> list[TensorVariable]:
    return [gradient.clip(-1.0, 1.0) for gradient in bt.grad(cost, parameters)]


def curvature(cost: TensorVariable, x: TensorVariable, p: TensorVariable) -> TensorVariable:
    return bt.hessian_vector_product(cost, x, p) + bt.jacobian(x, x) @ p

"""A step of gradient descent for the digits network (64-128-10) on all 1,797 images: loss, gradients, updates."""

import json
from pathlib import Path

import numpy as np

import bitale as bt
import bitale.tensor as pt
from measure import clock, importable, in_turn

RATE = 0.5
table = np.loadtxt(
    Path(__file__).resolve().parents[2] / "examples" / "data" / "digits.csv",
    delimiter=",",
    skiprows=1,
)
X, Y = np.ascontiguousarray(table[:, :64]) / 16, table[:, 64].astype(np.int64)


def start():
    random = np.random.default_rng(0)
    weights = [
        random.normal(0, 0.125, (64, 128)),
        np.zeros(128),
        random.normal(0, 0.09, (128, 10)),
        np.zeros(10),
    ]
    return weights


def by_hand():
    W1, b1, W2, b2 = start()
    rows = np.arange(len(Y))

    def step():
        H = np.tanh(X @ W1 + b1)
        D = H @ W2 + b2
        D -= D.max(axis=1, keepdims=True)
        right = D[rows, Y]
        np.exp(D, out=D)
        total = D.sum(axis=1, keepdims=True)
        loss = (np.log(total[:, 0]) - right).mean()
        D /= total
        D[rows, Y] -= 1
        D /= len(Y)
        dW2, db2 = H.T @ D, D.sum(axis=0)
        dA = D @ W2.T
        dA *= 1 - H * H
        for parameter, gradient in ((W1, X.T @ dA), (b1, dA.sum(axis=0)), (W2, dW2), (b2, db2)):
            parameter -= RATE * gradient
        return loss

    return step


def by_hand_in_place():
    """As fast as NumPy gets: no array is made after the first step."""
    W1, b1, W2, b2 = start()
    rows = np.arange(len(Y))
    H, dA, slope, D = *(np.empty((len(Y), 128)) for _ in range(3)), np.empty((len(Y), 10))
    gradients = [np.empty_like(parameter) for parameter in (W1, b1, W2, b2)]

    def step():
        np.matmul(X, W1, out=H)
        np.add(H, b1, out=H)
        np.tanh(H, out=H)
        np.matmul(H, W2, out=D)
        np.add(D, b2, out=D)
        np.subtract(D, D.max(axis=1, keepdims=True), out=D)
        right = D[rows, Y]
        np.exp(D, out=D)
        total = D.sum(axis=1, keepdims=True)
        loss = (np.log(total[:, 0]) - right).mean()
        np.divide(D, total, out=D)
        D[rows, Y] -= 1
        np.divide(D, len(Y), out=D)
        np.matmul(D, W2.T, out=dA)
        np.multiply(H, H, out=slope)
        np.subtract(1, slope, out=slope)
        np.multiply(dA, slope, out=dA)
        np.matmul(X.T, dA, out=gradients[0])
        np.sum(dA, axis=0, out=gradients[1])
        np.matmul(H.T, D, out=gradients[2])
        np.sum(D, axis=0, out=gradients[3])
        for parameter, gradient in zip((W1, b1, W2, b2), gradients):
            np.multiply(gradient, RATE, out=gradient)
            np.subtract(parameter, gradient, out=parameter)
        return loss

    return step


def symbolic(pt, shared, grad, function):
    """With Bitale or with PyTensor, which share their interface."""
    x, y = pt.dmatrix("x"), pt.lvector("y")
    W1, b1, W2, b2 = parameters = [
        shared(value, name) for value, name in zip(start(), ["W1", "b1", "W2", "b2"])
    ]
    logits = pt.tanh(x @ W1 + b1) @ W2 + b2
    loss = -(logits[pt.arange(y.shape[0]), y] - pt.logsumexp(logits, axis=1)).mean()
    updates = [(p, p - RATE * g) for p, g in zip(parameters, grad(loss, parameters))]
    before = clock()
    f = function([x, y], loss, updates=updates)
    return lambda: f(X, Y), clock() - before


def with_jax(jax):
    jax.config.update("jax_enable_x64", True)
    jnp = jax.numpy
    rows = jnp.arange(len(Y))

    def loss(parameters, x, y):
        W1, b1, W2, b2 = parameters
        logits = jnp.tanh(x @ W1 + b1) @ W2 + b2
        return -(logits[rows, y] - jax.scipy.special.logsumexp(logits, axis=1)).mean()

    def step(parameters, x, y):
        value, gradients = jax.value_and_grad(loss)(parameters, x, y)
        return value, [p - RATE * g for p, g in zip(parameters, gradients)]

    state = [jnp.asarray(value) for value in start()]
    x, y = jnp.asarray(X), jnp.asarray(Y)
    before = clock()
    compiled = jax.jit(step).lower(state, x, y).compile()
    seconds = clock() - before

    def call():
        nonlocal state
        value, state = compiled(state, x, y)
        return value.block_until_ready()

    return call, seconds


def main():
    rivals, compiling = {"NumPy": by_hand(), "NumPy in place": by_hand_in_place()}, {}
    rivals["Bitale"], compiling["Bitale"] = symbolic(pt, bt.shared, bt.grad, bt.function)
    if jax := importable("jax"):
        rivals["JAX"], compiling["JAX"] = with_jax(jax)
    if pytensor := importable("pytensor"):
        tensor = importable("pytensor.tensor")
        before = clock()
        rivals["PyTensor"], compiling["PyTensor"] = symbolic(
            tensor, pytensor.shared, pytensor.grad, pytensor.function
        )
        before = clock()
        rivals["PyTensor"]()  # Numba compiles in the first call
        compiling["PyTensor"] += clock() - before

    first = {name: float(call()) for name, call in rivals.items() if name != "PyTensor"}
    assert max(first.values()) - min(first.values()) < 1e-9, first
    print(json.dumps({"step": in_turn(rivals, min_seconds=0.05), "compile": compiling}))


if __name__ == "__main__":
    main()

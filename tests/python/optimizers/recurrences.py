"""The recurrences of optax and PyTorch, written out in NumPy: of each optimiser a generator that takes gradients and gives the
next parameters. Numbers are Python's, so that they take the dtype of the arrays."""

import numpy as np


def sgd(p, lr=0.01):
    while True:
        g = yield p
        p = p - lr * g


def momentum(p, lr=0.01, beta=0.9, look_ahead=False):
    trace = np.zeros_like(p)
    while True:
        g = yield p
        trace = g + beta * trace
        p = p - lr * (g + beta * trace if look_ahead else trace)


def nesterov(p, lr=0.01, beta=0.9):
    return momentum(p, lr, beta, look_ahead=True)


def adagrad(p, lr=0.01, start=0.1, eps=1e-7):
    total = np.full_like(p, start)
    while True:
        g = yield p
        total = total + g**2
        p = p - lr * g / np.sqrt(total + eps)


def rmsprop(p, lr=0.001, decay=0.9, eps=1e-8):
    nu = np.zeros_like(p)
    while True:
        g = yield p
        nu = decay * nu + (1 - decay) * g**2
        p = p - lr * g / np.sqrt(nu + eps)


def adadelta(p, lr=1.0, rho=0.9, eps=1e-6):
    e_g, e_x = np.zeros_like(p), np.zeros_like(p)
    while True:
        g = yield p
        e_g = rho * e_g + (1 - rho) * g**2
        step = np.sqrt(e_x + eps) / np.sqrt(e_g + eps) * g
        e_x = rho * e_x + (1 - rho) * step**2
        p = p - lr * step


def adam(p, lr=0.001, b1=0.9, b2=0.999, eps=1e-8, weight_decay=0.0, look_ahead=False):
    mu, nu = np.zeros_like(p), np.zeros_like(p)
    t = 0
    while True:
        g = yield p
        t += 1
        mu = b1 * mu + (1 - b1) * g
        nu = b2 * nu + (1 - b2) * g**2
        mean = mu / (1 - b1**t)
        if look_ahead:
            mean = b1 * mu / (1 - b1 ** (t + 1)) + (1 - b1) * g / (1 - b1**t)
        p = p - lr * (mean / (np.sqrt(nu / (1 - b2**t)) + eps) + weight_decay * p)


def adamw(p, lr=0.001, b1=0.9, b2=0.999, eps=1e-8, weight_decay=1e-4):
    return adam(p, lr, b1, b2, eps, weight_decay)


def nadam(p, lr=0.001, b1=0.9, b2=0.999, eps=1e-8):
    return adam(p, lr, b1, b2, eps, look_ahead=True)


def lion(p, lr=1e-4, b1=0.9, b2=0.99, weight_decay=1e-3):
    mu = np.zeros_like(p)
    while True:
        g = yield p
        p = p - lr * (np.sign(b1 * mu + (1 - b1) * g) + weight_decay * p)
        mu = b2 * mu + (1 - b2) * g


# Of each optimiser its recurrence, and other settings in the order of the recurrence's parameters.
CASES = {
    "sgd": (sgd, {"learning_rate": 0.1}),
    "momentum": (momentum, {"learning_rate": 0.02, "momentum": 0.7}),
    "nesterov": (nesterov, {"learning_rate": 0.02, "momentum": 0.7}),
    "adagrad": (adagrad, {"learning_rate": 0.2, "initial_accumulator_value": 0.5, "eps": 1e-3}),
    "rmsprop": (rmsprop, {"learning_rate": 0.02, "decay": 0.95, "eps": 1e-4}),
    "adadelta": (adadelta, {"learning_rate": 0.5, "rho": 0.8, "eps": 1e-3}),
    "adam": (adam, {"learning_rate": 0.02, "b1": 0.8, "b2": 0.99, "eps": 1e-4}),
    "adamw": (
        adamw,
        {"learning_rate": 0.02, "b1": 0.8, "b2": 0.99, "eps": 1e-4, "weight_decay": 0.1},
    ),
    "nadam": (nadam, {"learning_rate": 0.02, "b1": 0.8, "b2": 0.99, "eps": 1e-4}),
    "lion": (lion, {"learning_rate": 0.01, "b1": 0.8, "b2": 0.9, "weight_decay": 0.1}),
}

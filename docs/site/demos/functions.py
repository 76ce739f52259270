"""The functions of the demos on the site, each exported as WebAssembly when the site is built."""

from __future__ import annotations

import numpy as np

import bitale
from bitale import tensor as pt


def gaussian_process() -> list[bitale.Function]:
    """The negative log posterior of three log parameters with its gradient, and the curve that they predict."""
    theta, x, y, grid = (pt.dvector(name) for name in ("theta", "x", "y", "grid"))
    length, scale, noise = pt.exp(theta[0]), pt.exp(theta[1]), pt.exp(theta[2])

    def covariance(a, b):
        return scale**2 * pt.exp(-0.5 * ((a[:, None] - b[None, :]) / length) ** 2)

    K = covariance(x, x) + (noise**2 + 1e-6) * pt.eye(x.shape[0])
    L = pt.linalg.cholesky(K)
    w = pt.linalg.solve_triangular(L, y, lower=True)
    usual = pt.constant(np.log([0.3, 1.0, 0.1]))
    value = (w**2).sum() / 2 + pt.log(pt.diag(L)).sum() + ((theta - usual) ** 2).sum() / 2
    V = pt.linalg.solve_triangular(L, covariance(x, grid), lower=True)
    sd = pt.sqrt(pt.maximum(scale**2 - (V**2).sum(axis=0), 1e-12))
    return [
        bitale.function([theta, x, y], [value, bitale.grad(value, theta)], name="gp_fit"),
        bitale.function([theta, x, y, grid], [pt.dot(V.T, w), sd], name="gp_predict"),
    ]


def arm() -> list[bitale.Function]:
    """The joints of an arm in the plane, and the derivatives of its hand's position by its angles."""
    angles, lengths = pt.dvector("angles"), pt.dvector("lengths")
    total = pt.cumsum(angles)
    x, y = pt.cumsum(lengths * pt.cos(total)), pt.cumsum(lengths * pt.sin(total))
    hand = pt.stack([x[-1], y[-1]])
    return [
        bitale.function(
            [angles, lengths], [x, y, bitale.gradient.jacobian(hand, angles)], name="arm"
        )
    ]


def schools() -> list[bitale.Function]:
    """Eight schools (Rubin, 1981): the log density of a mean, a log spread and eight effects, and its gradient; with effects as
    they are, and as multiples of the spread."""
    effect = pt.constant(np.array([28.0, 8, -3, 7, -1, 1, 18, 12]))
    error = pt.constant(np.array([15.0, 10, 16, 11, 9, 11, 10, 18]))
    functions = []
    for name, scaled in (("schools", False), ("schools_scaled", True)):
        q = pt.dvector("q")
        mean, log_tau, own = 5 * q[0], q[1], q[2:]
        tau = pt.exp(log_tau)
        theta = mean + tau * own if scaled else own
        prior = (
            -(own**2).sum() / 2 if scaled else -(((own - mean) / tau) ** 2).sum() / 2 - 8 * log_tau
        )
        value = (
            prior
            - (((effect - theta) / error) ** 2).sum() / 2
            - q[0] ** 2 / 2
            - pt.log1p((tau / 5) ** 2)
            + log_tau
        )
        functions.append(bitale.function([q], [value, bitale.grad(value, q), theta], name=name))
    return functions


SOURCE = """x = pt.dvector("x")
y = pt.tanh(3 * x) * pt.exp(-(x**2))
slope = bitale.grad(y.sum(), x)
f = bitale.function([x], [y, slope], name="curve")"""


def curve() -> list[bitale.Function]:
    names = {"bitale": bitale, "pt": pt}
    exec(SOURCE, names)
    return [names["f"]]


DEMOS = {"gp": gaussian_process, "arm": arm, "schools": schools, "curve": curve}

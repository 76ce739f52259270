"""Gaussian process regression of the carbon dioxide measured at Mauna Loa: a trend, a season whose shape changes
slowly, and irregularities. The covariance parameters maximise the marginal likelihood, by L-BFGS on one compiled
function of value and gradient. Fails unless the last years, which the fit has not seen, are where the process
expects them. The kernel is that of Rasmussen and Williams (2006, section 5.4.3)."""

import os
import sys
from pathlib import Path

import numpy as np
import scipy.optimize

import bitale as bt
import bitale.tensor as pt

DATA = Path(__file__).resolve().parents[1] / "data" / "mauna_loa.csv"
STEP = 4 if "BITALE_EXAMPLE_QUICK" in os.environ else 1  # every fourth month

# Logarithms of scales, lengths in years and shapes, where the search starts.
START = {
    "trend scale": np.log(50),
    "trend length": np.log(50),
    "season scale": np.log(2.0),
    "season decay": np.log(100),
    "season shape": np.log(1.0),
    "rest scale": np.log(0.5),
    "rest length": np.log(1.0),
    "rest shape": np.log(1.0),
    "noise": np.log(0.2),
}


def covariance(theta, x, y):
    """Of the process at the times x and at the times y."""
    p = dict(zip(START, (pt.exp(theta[k]) for k in range(len(START)))))
    distance = x[:, None] - y[None, :]
    square = distance**2
    trend = p["trend scale"] ** 2 * pt.exp(-square / (2 * p["trend length"] ** 2))
    wave = pt.sin(np.pi * distance) ** 2
    season = p["season scale"] ** 2 * pt.exp(
        -square / (2 * p["season decay"] ** 2) - 2 * wave / p["season shape"] ** 2
    )
    rest = (
        p["rest scale"] ** 2
        * (1 + square / (2 * p["rest shape"] * p["rest length"] ** 2)) ** -p["rest shape"]
    )
    return trend + season + rest


def main():
    table = np.loadtxt(DATA, delimiter=",", skiprows=1)
    when, level = table[:, 0] + (table[:, 1] - 0.5) / 12, table[:, 2]
    known = when < 1998
    times, seen = when[known][::STEP], level[known][::STEP]
    mean = seen.mean()

    theta, t, y, ahead = pt.dvector("theta"), pt.dvector("t"), pt.dvector("y"), pt.dvector("ahead")
    noise = pt.exp(2 * theta[len(START) - 1])
    factor = pt.linalg.cholesky(covariance(theta, t, t) + noise * pt.eye(t.shape[0]))
    weights = pt.linalg.cho_solve((factor, True), y)
    cost = (
        0.5 * y @ weights + pt.log(pt.diagonal(factor)).sum() + 0.5 * t.shape[0] * np.log(2 * np.pi)
    )
    of_theta = bt.function([theta, t, y], [cost, bt.grad(cost, theta)])

    between = covariance(theta, ahead, t)
    expected = between @ weights
    explained = (pt.linalg.solve_triangular(factor, between.T, lower=True) ** 2).sum(axis=0)
    deviation = pt.sqrt(pt.diagonal(covariance(theta, ahead, ahead)) - explained + noise)
    predict = bt.function([theta, t, y, ahead], [expected, deviation])

    start = np.array(list(START.values()))
    found = scipy.optimize.minimize(
        lambda at: of_theta(at, times, seen - mean),
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(low - 4, low + 4) for low in start],
        options={"maxiter": 200},
    )
    before = of_theta(start, times, seen - mean)[0]
    print(
        f"{len(times)} months; log marginal likelihood {-before:.2f} at the start, {-found.fun:.2f} after {found.nfev} evaluations"
    )
    for name, value in zip(START, np.exp(found.x)):
        print(f"  {name:<13} {value:10.4f}")

    values, deviations = predict(found.x, times, seen - mean, when[~known])
    errors = level[~known] - mean - values
    covered = (np.abs(errors) < 3 * deviations).mean()
    print(
        f"1998 to 2001: errors of {np.sqrt((errors**2).mean()):.3f} ppm, {covered:.0%} within three standard deviations"
    )
    return 0 if found.fun < before and np.sqrt((errors**2).mean()) < 2.5 and covered > 0.8 else 1


if __name__ == "__main__":
    sys.exit(main())

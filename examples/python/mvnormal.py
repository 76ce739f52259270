"""The log density of a multivariate normal distribution with an exponential covariance, and its gradient: values
are compared with SciPy, the gradient with finite differences. One native function factors the covariance once for
all of them."""

import sys

import numpy as np
import scipy.stats

import bitale as bt
import bitale.tensor as pt

N = 40


def covariance(log_scale, log_range, log_noise, distance):
    """scale^2 exp(-distance / range), with noise^2 more on the diagonal."""
    return pt.exp(2 * log_scale - distance / pt.exp(log_range)) + pt.exp(2 * log_noise) * pt.eye(N)


def log_density(y, mean, cov):
    factor = pt.linalg.cholesky(cov)
    z = pt.linalg.solve_triangular(factor, y - mean, lower=True)
    return -0.5 * (z**2).sum() - pt.log(pt.diagonal(factor)).sum() - 0.5 * N * np.log(2 * np.pi)


def main():
    rng = np.random.default_rng(1)
    place = np.sort(rng.uniform(0, 10, N))
    distance = np.abs(place[:, None] - place)
    y = np.sin(place) + 0.1 * rng.normal(size=N)

    theta = pt.dvector("theta")  # mean, log scale, log range, log noise
    cov = covariance(theta[1], theta[2], theta[3], pt.constant(distance))
    logp = log_density(pt.constant(y), theta[0], cov)
    f = bt.function([theta], [logp, bt.grad(logp, theta)])

    at = np.array([0.1, 0.2, 0.7, -1.5])
    value, gradient = f(at)
    matrix = np.exp(2 * at[1] - distance / np.exp(at[2])) + np.exp(2 * at[3]) * np.eye(N)
    wanted = scipy.stats.multivariate_normal(np.full(N, at[0]), matrix).logpdf(y)
    steps = 1e-6 * np.eye(4)
    numeric = np.array([(f(at + step)[0] - f(at - step)[0]) / 2e-6 for step in steps])
    print(f"log density {value:.10f}, SciPy's {wanted:.10f}")
    for name, g, n in zip(("mean", "log scale", "log range", "log noise"), gradient, numeric):
        print(f"  d / d {name:<10} {g:12.6f}, by differences {n:12.6f}")
    good = abs(value - wanted) < 1e-9 * abs(wanted) and np.allclose(
        gradient, numeric, rtol=1e-5, atol=1e-5
    )

    try:
        f(np.array([0.0, 0.0, np.log(1e30), -800.0]))  # all elements of the covariance are 1
    except np.linalg.LinAlgError as error:
        print("\nA covariance that is singular:", str(error).splitlines()[0])
        return 0 if good else 1
    return 1


if __name__ == "__main__":
    sys.exit(main())

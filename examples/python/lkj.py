"""The log density of a multivariate normal distribution whose correlations have an LKJ prior, and its gradient: the
covariance is diag(scales) R diag(scales), with R given by unconstrained numbers through the partial correlations
(Lewandowski, Kurowicka and Joe 2009). The normal part is compared with SciPy, the Jacobian of the transform with
that of the function, and the gradient with finite differences; the mode is found by L-BFGS and lies near the
parameters from which the data were drawn."""

import sys

import numpy as np
import scipy.optimize
import scipy.stats

import bitale as bt
import bitale.tensor as pt

D, POINTS, ETA = 4, 2000, 2.0
PAIRS = D * (D - 1) // 2


def factor_of(free):
    """The Cholesky factor of a correlation matrix, and the log-Jacobian of its elements below the diagonal by `free`."""
    partial, jacobian, rows = pt.tanh(free), pt.log1p(-(pt.tanh(free) ** 2)).sum(), []
    for i in range(D):
        rest, row = pt.constant(1.0), []  # what is left of the row's length
        for j in range(i):
            z = partial[i * (i - 1) // 2 + j]
            row.append(z * pt.sqrt(rest))
            jacobian = jacobian + 0.5 * pt.log(rest)
            rest = rest * (1 - z**2)
        rows.append(pt.stack([*row, pt.sqrt(rest), *[pt.constant(0.0)] * (D - i - 1)]))
    return pt.stack(rows), jacobian


def main():
    theta, y = pt.dvector("theta"), pt.dmatrix("y")
    mean, log_scale, free = theta[:D], theta[D : 2 * D], theta[2 * D :]
    root, jacobian = factor_of(free)
    # LKJ of the factor: the product of L[k, k] ** (D - k + 2 eta - 3), k counted from 1 (Stan's lkj_corr_cholesky).
    powers = np.array([D - k + 2 * ETA - 2 for k in range(1, D + 1)]) - 1
    prior = (
        (powers[1:] * pt.log(pt.diagonal(root)[1:])).sum()
        - 0.5 * (log_scale**2).sum()
        - 0.5 * (mean**2).sum() / 25
    )
    factor = pt.exp(log_scale)[:, None] * root
    z = pt.linalg.solve_triangular(factor, (y - mean).T, lower=True)
    normal = -0.5 * (z**2).sum() - y.shape[0] * (
        pt.log(pt.diagonal(factor)).sum() + 0.5 * D * np.log(2 * np.pi)
    )
    logp = normal + prior + jacobian
    f = bt.function([theta, y], [logp, bt.grad(logp, theta)])
    parts = bt.function(
        [theta, y], [normal, factor @ factor.T, root, jacobian], on_unused_input="ignore"
    )

    rng = np.random.default_rng(3)
    true = np.concatenate(
        [rng.normal(size=D), 0.3 * rng.normal(size=D), 0.6 * rng.normal(size=PAIRS)]
    )
    cov = parts(true, np.zeros((1, D)))[1]
    data = rng.multivariate_normal(true[:D], cov, size=POINTS)

    # The parts, at another point.
    at = true + 0.1 * rng.normal(size=len(true))
    value, covariance, _, volume = parts(at, data)
    wanted = scipy.stats.multivariate_normal(at[:D], covariance).logpdf(data).sum()
    below = np.tril_indices(D, -1)
    steps = 1e-6 * np.eye(len(at))
    slopes = [
        (parts(at + h, data)[2] - parts(at - h, data)[2])[below] / 2e-6 for h in steps[2 * D :]
    ]
    numeric = [(f(at + h, data)[0] - f(at - h, data)[0]) / 2e-6 for h in steps]
    good = np.isclose(value, wanted, rtol=1e-9)
    good &= np.isclose(volume, np.linalg.slogdet(np.array(slopes))[1], rtol=1e-6)
    good &= np.allclose(f(at, data)[1], numeric, rtol=1e-4, atol=1e-3)
    print(f"log density of the data {value:.6f}, SciPy's {wanted:.6f}; log-Jacobian {volume:.6f}")

    found = scipy.optimize.minimize(
        lambda point: [-each for each in f(point, data)],
        np.zeros(len(true)),
        jac=True,
        method="L-BFGS-B",
    )
    _, fitted, correlations, _ = parts(found.x, data)
    print(
        f"mode after {found.nfev} evaluations; correlations there\n{(correlations @ correlations.T).round(3)}"
    )
    return 0 if good and np.allclose(fitted, np.cov(data.T), atol=0.1) else 1


if __name__ == "__main__":
    sys.exit(main())

"""Counts in the areas of a lattice, with similar rates in neighbouring areas (BYM2): the log density and its gradient as one function.

The effect of an area is sigma (sqrt(rho) phi / s + sqrt(1 - rho) theta), where phi is smooth over
the map, an intrinsic autoregression with the precision D - W, and theta is not. s scales phi so
that the geometric mean of its variances is 1 (Riebler et al. 2016); the variances are the diagonal
of an inverse, and only this diagonal is computed.
"""

import os
import time

import numpy as np
import scipy.optimize
import scipy.sparse as sp

import bitale as bt
import bitale.tensor as pt
from bitale import sparse

side = 8 if os.environ.get("BITALE_EXAMPLE_QUICK") else 40
areas, rng = side * side, np.random.default_rng(0)

path = sp.diags_array([np.ones(side - 1), np.ones(side - 1)], offsets=[-1, 1], shape=(side, side))
neighbours = sp.csr_array(sp.kron(path, sp.eye_array(side)) + sp.kron(sp.eye_array(side), path))
precision = sp.csr_array(sp.diags_array(neighbours.sum(axis=1)) - neighbours)

# A sum of 0 makes D - W invertible: variances are those of the inverse, less its part along the vector of ones.
factor = sparse.linalg.cholesky(
    sparse.constant(sp.csr_array(precision + 1e-6 * sp.eye_array(areas)))
)
variances, along = bt.function(
    [], [sparse.diag(factor.selected_inverse()), factor.solve(np.ones(areas))]
)()
scale = np.exp(np.log(variances - along**2 / along.sum()).mean() / 2)

# The data: rates are higher on one side of the map.
exposure = rng.uniform(20, 60, areas)
truth = 0.8 * np.sin(np.repeat(np.arange(side), side) / side * np.pi) + 0.1 * rng.normal(size=areas)
counts = rng.poisson(exposure * np.exp(-1 + truth))

vector = pt.dvector("parameters")
alpha, log_sigma, logit_rho = vector[0], vector[1], vector[2]
phi, theta = vector[3 : 3 + areas], vector[3 + areas :]
sigma, rho = pt.exp(log_sigma), pt.sigmoid(logit_rho)
effect = sigma * (pt.sqrt(rho) * phi / scale + pt.sqrt(1 - rho) * theta)
log_rate = alpha + effect + np.log(exposure)
smooth = (
    -0.5 * sparse.linalg.quadratic_form(sparse.constant(precision), phi)
    - 0.5 * phi.sum() ** 2 / (1e-3 * areas) ** 2
)
prior = (
    -0.5 * (theta**2).sum()
    - 0.5 * alpha**2 / 25
    - 0.5 * sigma**2
    + log_sigma
    + pt.log(rho * (1 - rho)) / 2
)
density = (counts * log_rate - pt.exp(log_rate)).sum() + smooth + prior

start = time.perf_counter()
f = bt.function([vector], [density, pt.grad(density, vector)])
print(f"{3 + 2 * areas} parameters, compiled in {time.perf_counter() - start:.2f} s")
point = np.zeros(3 + 2 * areas)
start = time.perf_counter()
for _ in range(100):
    f(point)
print(f"log density and gradient: {(time.perf_counter() - start) * 1e4:.0f} us")

# With the scales given, the density is that of the map alone, and has one maximum.
point[1:3] = np.log(0.5), 1.0
free = np.setdiff1d(np.arange(len(point)), [1, 2])


def negative(x):
    point[free] = x
    value, gradient = f(point)
    return -value, -gradient[free]


fit = scipy.optimize.minimize(
    negative, np.zeros(len(free)), jac=True, method="L-BFGS-B", options={"maxiter": 300}
)
point[free] = fit.x
found = bt.function([vector], effect)(point)
raw = np.log((counts + 0.5) / exposure) + 1
errors = [np.std(estimate - truth) for estimate in (found, raw)]
print(f"error of the effects: {errors[0]:.3f}; of the raw rates: {errors[1]:.3f}")
assert errors[0] < errors[1]

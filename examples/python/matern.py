"""A Matérn field on a grid, observed with noise: its scales by maximum marginal likelihood, and the field itself.

The field is the solution of a stochastic differential equation, so its precision is sparse: with
the Laplacian G of the grid, Q = tau^2 (kappa^2 + G)^2 (Lindgren, Rue and Lindstroem 2011). The
field is integrated out with factors of Q and of the precision given the observations, Q + A.T A /
sigma^2; gradients use their selected inverses.
"""

import os
import time

import numpy as np
import scipy.optimize
import scipy.sparse as sp

import bitale as bt
import bitale.tensor as pt
from bitale import sparse

size = 12 if os.environ.get("BITALE_EXAMPLE_QUICK") else 48
rng = np.random.default_rng(0)

path = sp.diags_array(
    [-np.ones(size - 1), np.full(size, 2.0), -np.ones(size - 1)], offsets=[-1, 0, 1]
)
laplacian = sp.csr_array(sp.kron(path, sp.eye_array(size)) + sp.kron(sp.eye_array(size), path))
points = size * size
observed = rng.choice(points, points // 2, replace=False)
A = sp.csr_array(
    (np.ones(len(observed)), (np.arange(len(observed)), observed)), shape=(len(observed), points)
)

# The model: matrices are constants, and what the parameters scale are their data.
log_kappa, log_tau, log_sigma = parameters = pt.dscalars("log_kappa", "log_tau", "log_sigma")
y = pt.dvector("y")
G, I = sparse.constant(laplacian), sparse.constant(sp.eye_array(points, format="csr"))
operator = G + I * pt.exp(2 * log_kappa)
Q = (operator @ operator) * pt.exp(2 * log_tau)
noise_precision = pt.exp(-2 * log_sigma)
posterior = Q + sparse.constant(sp.csr_array(A.T @ A)) * noise_precision

prior, given = sparse.linalg.cholesky(Q), sparse.linalg.cholesky(posterior)
mean = given.solve(noise_precision * (sparse.constant(sp.csr_array(A.T)) @ y))
residual = y - sparse.constant(A) @ mean
log_likelihood = 0.5 * (
    prior.logdet()
    - given.logdet()
    - len(observed) * (2 * log_sigma + np.log(2 * np.pi))
    - noise_precision * (residual**2).sum()
    - sparse.linalg.quadratic_form(Q, mean)
)

start = time.perf_counter()
objective = bt.function(
    [*parameters, y], [-log_likelihood, -pt.stack(pt.grad(log_likelihood, list(parameters)))]
)
sample = bt.function([*parameters, z := pt.dvector("z")], prior.sample(z), on_unused_input="ignore")
predict = bt.function([*parameters, y], mean)
print(f"compiled in {time.perf_counter() - start:.2f} s")

truth = np.log([0.5, 0.6, 0.3])
field = sample(*truth, rng.normal(size=points))
data = field[observed] + np.exp(truth[2]) * rng.normal(size=len(observed))
start = time.perf_counter()
fit = scipy.optimize.minimize(
    lambda x: objective(*x, data), np.zeros(3), jac=True, method="L-BFGS-B"
)
print(f"{fit.nfev} evaluations in {time.perf_counter() - start:.2f} s")
for name, value, true in zip(("kappa", "tau", "sigma"), np.exp(fit.x), np.exp(truth)):
    print(f"{name:6} {value:6.3f}   true {true:.3f}")

error = np.sqrt(np.mean((predict(*fit.x, data) - field) ** 2))
print(f"root mean square error of the field {error:.3f}, its standard deviation {field.std():.3f}")
assert fit.success and error < 0.9 * field.std()

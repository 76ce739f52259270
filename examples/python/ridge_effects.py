"""Ridge regression on two categories with many levels each, and on a number: the penalty minimises the
leave-one-out prediction error, whose gradient comes from the same factor.

Each row of the design has three elements: one for the level of each category, and the number. Its
cross product is sparse, with a position for each pair of levels that occur together, so the
coefficients are the solution of a sparse system.
"""

import os
import time

import numpy as np
import scipy.optimize
import scipy.sparse as sp

import bitale as bt
import bitale.tensor as pt
from bitale import sparse

quick = bool(os.environ.get("BITALE_EXAMPLE_QUICK"))
rows, shops, items = (2_000, 40, 60) if quick else (1_000_000, 2_000, 400)
rng = np.random.default_rng(0)

shop, item, price = (
    rng.integers(0, shops, rows),
    rng.integers(0, items, rows),
    rng.normal(size=rows),
)
columns = np.column_stack([shop, shops + item, np.full(rows, shops + items)])
X = sp.csr_array(
    (
        np.column_stack([np.ones((rows, 2)), price]).ravel(),
        columns.ravel(),
        np.arange(0, 3 * rows + 1, 3),
    ),
    shape=(rows, shops + items + 1),
)
truth = np.concatenate([0.5 * rng.normal(size=shops), 0.3 * rng.normal(size=items), [-1.0]])
y = X @ truth + rng.normal(size=rows)
held_out = rows // 5
own, other = X[held_out:], X[:held_out]

gram = sp.csr_array(own.T @ own)
log_penalty = pt.dscalar("log_penalty")
system = sparse.constant(gram) + sparse.constant(sp.eye_array(X.shape[1], format="csr")) * pt.exp(
    log_penalty
)
coefficients = sparse.linalg.solve(system, own.T @ y[held_out:])
error = pt.sqr(sparse.constant(other) @ coefficients - y[:held_out]).mean()

start = time.perf_counter()
f = bt.function([log_penalty], [error, pt.grad(error, log_penalty)])
f(0.0)
print(
    f"{rows} rows, {X.shape[1]} coefficients, {gram.nnz} elements; first result in {time.perf_counter() - start:.2f} s"
)


def objective(x):
    value, slope = f(x[0])
    return float(value), np.atleast_1d(slope)


start = time.perf_counter()
best = scipy.optimize.minimize(objective, [0.0], jac=True, method="L-BFGS-B", bounds=[(-5.0, 10.0)])
print(
    f"{best.nfev} evaluations in {time.perf_counter() - start:.2f} s: penalty {np.exp(best.x[0]):.2f}, error {best.fun:.4f}"
)
found = bt.function([log_penalty], coefficients)(best.x[0])
print(f"price: {found[-1]:.3f}, true {truth[-1]}")
assert abs(found[-1] - truth[-1]) < 0.1 and best.fun < np.var(y)

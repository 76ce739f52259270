"""PageRank: by iteration, where a step is one loop over the links, and by a sparse system, whose transposed
solution shows how much the rank of each page owes to the weight of each page.

If P holds the shares of the links on each page, the ranks are r = damping P r + (1 - damping) w: a
system with a general sparse matrix.
"""

import os
import time

import numpy as np
import scipy.sparse as sp

import bitale as bt
import bitale.tensor as pt
from bitale import sparse

quick = bool(os.environ.get("BITALE_EXAMPLE_QUICK"))
pages, rng = 200 if quick else 3_000, np.random.default_rng(0)

# New pages link mostly to older ones, and to the one before; the first one links to the newest.
source = np.append(np.repeat(np.arange(1, pages), 3), 0)
target = np.concatenate(
    [
        (np.arange(1, pages) - 1)[:, None],
        (np.arange(1, pages)[:, None] * rng.random((pages - 1, 2)) ** 2).astype(int),
    ],
    axis=1,
).ravel()
target = np.append(target, pages - 1)
links = sp.csr_array(sp.coo_array((np.ones(len(source)), (target, source)), shape=(pages, pages)))
P = sp.csr_array(links / links.sum(axis=0))

damping, weights, ranks = pt.dscalar("damping"), pt.dvector("weights"), pt.dvector("ranks")
A = sparse.constant(P)

step = damping * (A @ ranks) + (1 - damping) * weights
iterate = bt.function([damping, weights, ranks], [step, abs(step - ranks).sum()])
given = np.full(pages, 1 / pages)
found, change, steps = given, 1.0, 0
start = time.perf_counter()
while change > 1e-12:
    found, change = iterate(0.85, given, found)
    steps += 1
print(f"{steps} steps in {(time.perf_counter() - start) * 1e3:.1f} ms")

system = sparse.linalg.lu(sparse.constant(sp.eye_array(pages, format="csr")) - A * damping)
solution = system.solve((1 - damping) * weights)
newest = solution[pages - 1]
solve = bt.function([damping, weights], [solution, *pt.grad(newest, [damping, weights])])
start = time.perf_counter()
exact, by_damping, by_weights = solve(0.85, given)
print(f"system, and the derivatives of a rank: {(time.perf_counter() - start) * 1e3:.1f} ms")
print("highest ranks:", ", ".join(f"page {k} {exact[k]:.4f}" for k in np.argsort(-exact)[:3]))
print(
    f"the rank of the newest page changes by {by_damping:.2e} per damping; it is {by_weights @ given:.2e}, the sum of its parts by weights"
)
np.testing.assert_allclose(found, exact, atol=1e-10)
np.testing.assert_allclose(by_weights @ given, exact[pages - 1], rtol=1e-9)
np.testing.assert_allclose(exact.sum(), 1.0)

"""Sparse matrices side by side: Bitale with a static pattern, Bitale with the positions given in each call, and SciPy, on the same
matrix, one thread. Medians of processor time, alternating. Arguments: the number of rows and of elements.
"""

import sys
import time

import numpy as np
import scipy.sparse

import bitale as bt
import bitale.tensor as pt
from bitale import sparse
from measure import in_turn


def matrix(rows, elements, random):
    positions = random.integers(0, rows, (2, elements))
    out = scipy.sparse.csr_array(scipy.sparse.coo_array((random.normal(size=elements), tuple(positions)), shape=(rows, rows)))
    out.sum_duplicates()
    out.indices, out.indptr = out.indices.astype("int32"), out.indptr.astype("int32")
    return out


def main(rows=1_000_000, elements=10_000_000):
    random = np.random.default_rng(0)
    A = matrix(rows, elements, random)
    v, B = random.normal(size=rows), random.normal(size=(rows, 32))
    x, X = pt.dvector("x"), pt.dmatrix("X")
    start = time.perf_counter()
    static = sparse.constant(A)
    f = bt.function([x], static @ x, threads=1)
    f(v)
    print(f"compile, first result: {time.perf_counter() - start:.2f} s")
    given = sparse.matrix("csr", "A")
    by_call = bt.function([given, x], given @ x, threads=1)
    transposed, many = bt.function([x], static.T @ x, threads=1), bt.function([X], static @ X, threads=1)
    AT = A.T
    works = {
        "A @ v": {"SciPy": lambda: A @ v, "static": lambda: f(v), "by call": lambda: by_call(A, v)},
        "A.T @ v": {"SciPy": lambda: AT @ v, "static": lambda: transposed(v)},
        "A @ B, 32 columns": {"SciPy": lambda: A @ B, "static": lambda: many(B)},
    }
    print(f"{'':20} {'SciPy':>10} {'static':>10} {'ratio':>6} {'by call':>10} {'ratio':>6}")
    for name, runs in works.items():
        own, *others = in_turn(runs, rounds=5).values()
        print(f"{name:20} {own * 1e3:7.1f} ms " + " ".join(f"{t * 1e3:7.1f} ms {t / own:6.2f}" for t in others))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

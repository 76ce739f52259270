"""Sparse matrices side by side: Bitale with a static pattern, Bitale with the positions given in each call, and SciPy, on the same
matrix, one thread. Medians of processor time, alternating. Then factors of the precision of a Matérn field on a square grid, and of a
grid with a wind, against SciPy's SuperLU. Arguments: the number of rows and of elements, and the points along a side of the grids.
"""

import sys
import time

import numpy as np
import scipy.sparse
from scipy.sparse.linalg import splu

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


def grid(side, wind=0.0):
    """The Laplacian of a square grid."""
    path = [scipy.sparse.diags_array([np.full(side - 1, -1.0 - w), np.full(side, 2.0), np.full(side - 1, -1.0 + w)], offsets=[-1, 0, 1]) for w in (wind, 0.0)]
    unit = scipy.sparse.eye_array(side)
    return scipy.sparse.csr_array(scipy.sparse.kron(path[0], unit) + scipy.sparse.kron(unit, path[1]))


def factors(side):
    """Systems, determinants, gradients and inverses of sparse matrices by their factors."""
    operator = grid(side) + 0.25 * scipy.sparse.eye_array(side * side, format="csr")
    Q, M = scipy.sparse.csr_array(operator @ operator), scipy.sparse.csr_array(grid(side, 0.3) + 0.2 * scipy.sparse.eye_array(side * side))
    right = np.random.default_rng(1).normal(size=side * side)
    scale, b = pt.dscalar("scale"), pt.dvector("b")
    start = time.process_time()
    cholesky = sparse.linalg.cholesky(sparse.constant(Q) * scale)
    between = time.process_time()
    lu = sparse.linalg.lu(sparse.constant(M) * scale)
    print(f"orders: Cholesky {between - start:.2f} s, LU {time.process_time() - between:.2f} s")
    logdet, general = cholesky.logdet(), lu.logdet()
    compiled = {
        "factor, logdet": ([scale], logdet, Q), "logdet with gradient": ([scale], [logdet, pt.grad(logdet, scale)], Q),
        "selected inverse": ([scale], cholesky.selected_inverse().data, Q), "factor, solve": ([scale, b], cholesky.solve(b), Q),
        "LU, logdet": ([scale], general, M), "LU, logdet with gradient": ([scale], [general, pt.grad(general, scale)], M),
        "LU, solve": ([scale, b], lu.solve(b), M),
    }  # fmt: skip
    symmetric = dict(permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.1, options=dict(SymmetricMode=True))
    for name, (inputs, outputs, matrix) in compiled.items():
        f, columns = bt.function(inputs, outputs, threads=1), scipy.sparse.csc_array(matrix)
        arguments = [1.5, right][: len(inputs)]
        runs = {"SuperLU": lambda: splu(columns, **symmetric), "own": lambda: f(*arguments)}
        theirs, own = in_turn(runs, rounds=3).values()
        print(f"{name:26} {own * 1e3:8.1f} ms   SuperLU's factor {theirs * 1e3:8.1f} ms {own / theirs:6.2f}")


def main(rows=1_000_000, elements=10_000_000, side=256):
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
    factors(side)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

"""Sparse matrices side by side: Bitale with a static pattern, Bitale with the positions given in each call, and SciPy, on the same
matrix, one thread, and the first of these with two. Medians of processor time (wall time with two threads), alternating. Then factors of the precision of a Matérn field on a square grid, and of a
grid with a wind, against SciPy's SuperLU; a Poisson regression on categories; and BYM2. Arguments: the number of rows and of elements, and
the points along a side of the grids. Peers that are installed are measured with BITALE_BENCH_PEERS set (`./dev bench --sparse --peers`): JAX's BCOO,
sparsax, Numba, stanli; a loop in C++ where there is a compiler. The last lines are a table of all, for docs/sparse.md.
"""

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
import time
from functools import partial

import numpy as np
import scipy.sparse
from scipy.sparse.linalg import splu

import bitale as bt
import bitale.tensor as pt
from bitale import sparse
from measure import importable, in_turn


ROWS = []  # of the table: a name, and seconds by who took them, the own ones first


def report(name, times, own="own"):
    """Print the times of one work, own ones and each peer's with the ratio of the own one to it; keep them for the table."""
    mine = times[own]
    others = {who: t for who, t in times.items() if who != own}
    print(
        f"{name:34} {own} {mine * 1e3:9.3f} ms"
        + "".join(f"   {who} {t * 1e3:9.3f} ms {mine / t:5.2f}" for who, t in others.items()),
        flush=True,
    )
    ROWS.append((name, mine, others))


def table():
    """Print all works as a table of Markdown."""
    print("\n| work | Bitale | peers, and the ratio of Bitale's time to theirs |\n|---|---|---|")
    for name, mine, others in ROWS:
        print(
            f"| {name} | {mine * 1e3:.3g} ms | "
            + ", ".join(f"{who} {t * 1e3:.3g} ms ({mine / t:.2f})" for who, t in others.items())
            + " |"
        )


def matrix(rows, elements, random):
    positions = random.integers(0, rows, (2, elements))
    out = scipy.sparse.csr_array(
        scipy.sparse.coo_array((random.normal(size=elements), tuple(positions)), shape=(rows, rows))
    )
    out.sum_duplicates()
    out.indices, out.indptr = out.indices.astype("int32"), out.indptr.astype("int32")
    return out


def grid(side, wind=0.0):
    """The Laplacian of a square grid."""
    path = [
        scipy.sparse.diags_array(
            [np.full(side - 1, -1.0 - w), np.full(side, 2.0), np.full(side - 1, -1.0 + w)],
            offsets=[-1, 0, 1],
        )
        for w in (wind, 0.0)
    ]
    unit = scipy.sparse.eye_array(side)
    return scipy.sparse.csr_array(
        scipy.sparse.kron(path[0], unit) + scipy.sparse.kron(unit, path[1])
    )


def factors(side):
    """Systems, determinants, gradients and inverses of sparse matrices by their factors."""
    operator = grid(side) + 0.25 * scipy.sparse.eye_array(side * side, format="csr")
    Q, M = (
        scipy.sparse.csr_array(operator @ operator),
        scipy.sparse.csr_array(grid(side, 0.3) + 0.2 * scipy.sparse.eye_array(side * side)),
    )
    right = np.random.default_rng(1).normal(size=side * side)
    scale, drift, b = pt.dscalar("scale"), pt.dscalar("drift"), pt.dvector("b")
    start = time.process_time()
    cholesky = sparse.linalg.cholesky(sparse.constant(Q) * scale)
    between = time.process_time()
    lu = sparse.linalg.lu(sparse.constant(M) * scale)
    print(f"orders: Cholesky {between - start:.2f} s, LU {time.process_time() - between:.2f} s")
    logdet, general = cholesky.logdet(), lu.logdet()
    two = sparse.linalg.cholesky(
        sparse.constant(Q) * scale
        + sparse.constant(scipy.sparse.eye_array(side * side, format="csr")) * drift
    )
    density = two.logdet() - (two.solve(b) * b).sum()
    compiled = {
        "factor, logdet": ([scale], logdet, Q),
        "logdet with gradient": ([scale], [logdet, pt.grad(logdet, scale)], Q),
        "two parameters": ([scale, b, drift], [density, *pt.grad(density, [scale, drift])], Q),
        "selected inverse": ([scale], cholesky.selected_inverse().data, Q),
        "factor, solve": ([scale, b], cholesky.solve(b), Q),
        "LU, logdet": ([scale], general, M),
        "LU, logdet with gradient": ([scale], [general, pt.grad(general, scale)], M),
        "LU, solve": ([scale, b], lu.solve(b), M),
        "LU, solve, Matern": ([scale, b], sparse.linalg.spsolve(sparse.constant(Q) * scale, b), Q),
    }
    symmetric = dict(
        permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.1, options=dict(SymmetricMode=True)
    )
    for name, (inputs, outputs, matrix) in compiled.items():
        f, columns = bt.function(inputs, outputs, threads=1), scipy.sparse.csc_array(matrix)
        arguments = [1.5, right, 0.5][: len(inputs)]
        runs = {
            "SuperLU's factor": lambda: splu(columns, **symmetric),
            "own": lambda: f(*arguments),
        }
        if matrix is Q:
            runs |= {"sparsax": call} if (call := of_sparsax(name, Q, right)) else {}
        report(name, in_turn(runs, rounds=3))


def of_sparsax(name, Q, right):
    """The same by CHOLMOD within JAX, where it is installed; of another matrix in each call, since it keeps factors."""
    if not (sparsax := importable("sparsax")):
        return None
    import jax

    jax.config.update("jax_enable_x64", True)
    coordinates, n = scipy.sparse.coo_array(Q), Q.shape[0]
    i, j, data = (
        coordinates.row.astype("int32"),
        coordinates.col.astype("int32"),
        jax.numpy.asarray(coordinates.data),
    )
    unit = jax.numpy.asarray((i == j).astype("float64"))
    logdet = lambda scale: sparsax.logdet(i, j, data * scale, n=n)  # noqa: E731
    functions = {
        "factor, logdet": logdet,
        "logdet with gradient": jax.value_and_grad(logdet),
        "selected inverse": lambda scale: sparsax.selinv(i, j, data * scale, n=n),
        "factor, solve": lambda scale: sparsax.solve(i, j, data * scale, right),
    }

    def density(scale, drift):
        values = data * scale + unit * drift
        return sparsax.logdet(i, j, values, n=n) - right @ sparsax.solve(i, j, values, right)

    functions["two parameters"] = lambda scale: jax.value_and_grad(density, argnums=(0, 1))(
        scale, 0.5
    )
    if name not in functions:
        return None
    f, scales = jax.jit(functions[name]), iter(np.linspace(1.5, 2.5, 1000))
    return lambda: jax.block_until_ready(f(next(scales)))


def regression(rows=1_000_000, levels=10_000):
    """Log density and gradient of counts that have one effect for each level."""
    random = np.random.default_rng(0)
    level, y = random.integers(0, levels, rows), random.poisson(1.0, rows).astype("float64")
    Z = scipy.sparse.csr_array((np.ones(rows), level, np.arange(rows + 1)), shape=(rows, levels))
    u = pt.dvector("u", shape=(levels,))
    eta = sparse.constant(Z) @ u
    density = (y * eta - pt.exp(eta)).sum()
    f, at = (
        bt.function([u], [density, pt.grad(density, u)], threads=1),
        random.normal(size=levels) / 3,
    )
    runs = {"own": lambda: f(at)}

    def by_numpy():
        eta = at[level]
        mean = np.exp(eta)
        return (y * eta - mean).sum(), np.bincount(level, y - mean, levels)

    runs["NumPy"] = by_numpy
    if numba := importable("numba"):

        @numba.njit
        def loops(u, gradient):
            total = 0.0
            for k in range(len(level)):
                mean = np.exp(u[level[k]])
                total += y[k] * u[level[k]] - mean
                gradient[level[k]] += y[k] - mean
            return total

        runs["Numba"] = lambda: loops(at, np.zeros(levels))
    if loop := of_cpp(level, y, levels):
        runs["C++ -O3"] = lambda: loop(at)
    report(f"Poisson regression, {rows} rows, {levels} levels", in_turn(runs, rounds=7))


CPP = """
#include <cmath>
#include <cstdint>
extern "C" double loops(std::int64_t rows, const std::int64_t* level, const double* y, const double* u, double* gradient) {
  double total = 0;
  for (std::int64_t k = 0; k < rows; ++k) {
    const double mean = std::exp(u[level[k]]);
    total += y[k] * u[level[k]] - mean;
    gradient[level[k]] += y[k] - mean;
  }
  return total;
}
"""


def of_cpp(level, y, levels):
    """The regression's loop in C++, or None where there is no compiler."""
    if "BITALE_BENCH_PEERS" not in os.environ or not (compiler := shutil.which("c++")):
        return None
    with tempfile.TemporaryDirectory() as folder:
        source, made = os.path.join(folder, "loops.cpp"), os.path.join(folder, "loops.so")
        with open(source, "w") as file:
            file.write(CPP)
        subprocess.run(
            [compiler, "-O3", "-march=native", "-shared", "-fPIC", source, "-o", made], check=True
        )
        loops = ctypes.CDLL(made).loops
    loops.restype = ctypes.c_double
    address = lambda x: ctypes.c_void_p(x.ctypes.data)  # noqa: E731

    def call(u):
        gradient = np.zeros(levels)
        return loops(
            ctypes.c_int64(len(level)), address(level), address(y), address(u), address(gradient)
        ), gradient

    return call


BYM2_IN_STAN = """
data { int n; int m; array[m] int first; array[m] int second; array[n] int y; }
parameters { vector[n] phi; vector[n] free; vector[3] scales; }
model {
  real share = inv_logit(scales[2]);
  y ~ poisson_log(scales[3] + exp(scales[1]) * (sqrt(share) * phi + sqrt(1 - share) * free));
  target += -0.5 * (dot_self(phi[first] - phi[second]) + dot_self(free) + dot_self(scales));
}
"""


def bym2(parameters=3845):
    """Log density and gradient of a map of counts: effects with and without neighbours, two scales and an intercept."""
    side = int((parameters / 2) ** 0.5)
    random, n = np.random.default_rng(0), (parameters - 3) // 2
    edges = [(k, k + step) for k in range(n) for step in (1, side) if k + step < n]
    first, second = np.array(edges).T
    y = random.poisson(2.0, n).astype("float64")
    theta = pt.dvector("theta", shape=(2 * n + 3,))
    phi, free, scale, share, level = (
        theta[:n],
        theta[n : 2 * n],
        pt.exp(theta[2 * n]),
        pt.sigmoid(theta[2 * n + 1]),
        theta[2 * n + 2],
    )
    differences = scipy.sparse.coo_array(
        (
            np.repeat([1.0, -1.0], len(first)),
            (np.tile(np.arange(len(first)), 2), np.concatenate([first, second])),
        ),
        shape=(len(first), n),
    )
    eta = level + scale * (pt.sqrt(share) * phi + pt.sqrt(1 - share) * free)
    density = (
        (y * eta - pt.exp(eta)).sum()
        - 0.5 * pt.sqr(sparse.constant(differences.tocsr()) @ phi).sum()
        - 0.5 * pt.sqr(free).sum()
        - 0.5 * pt.sqr(theta[2 * n :]).sum()
    )
    f, at = (
        bt.function([theta], [density, pt.grad(density, theta)], threads=1),
        random.normal(size=2 * n + 3) / 3,
    )
    runs = {"own": lambda: f(at)}
    if stanli := importable("stanli"):
        data = {
            "n": n,
            "m": len(first),
            "first": (first + 1).tolist(),
            "second": (second + 1).tolist(),
            "y": y.astype(int).tolist(),
        }
        model = stanli.Model(stan_code=BYM2_IN_STAN, data=data)
        assert np.allclose(model.log_prob_grad(at)[1], f(at)[1])
        runs["stanli"] = lambda: model.log_prob_grad(at)
    report(f"BYM2, {2 * n + 3} parameters", in_turn(runs))


def compile_static(rows=1_000_000):
    """The time to compile a product and to get its first result, with a pattern of 1e6 elements."""
    A, x = matrix(rows, rows, np.random.default_rng(0)), pt.dvector("x")
    start = time.process_time()
    bt.function([x], sparse.constant(A) @ x, threads=1)(np.ones(rows))
    report(f"compile, first result, {rows} static elements", {"own": time.process_time() - start})


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
    compile_static()
    given = sparse.matrix("csr", "A")
    by_call = bt.function([given, x], given @ x, threads=1)
    transposed, many = (
        bt.function([x], static.T @ x, threads=1),
        bt.function([X], static @ X, threads=1),
    )
    AT = A.T
    works = {
        "A @ v": {"SciPy": lambda: A @ v, "static": lambda: f(v), "by call": lambda: by_call(A, v)},
        "A.T @ v": {"SciPy": lambda: AT @ v, "static": lambda: transposed(v)},
        "A @ B, 32 columns": {"SciPy": lambda: A @ B, "static": lambda: many(B)},
    }
    if importable("jax"):
        import jax
        from jax.experimental.sparse import BCOO

        jax.config.update("jax_enable_x64", True)
        product, bcoo = (
            jax.jit(lambda a, b: a @ b),
            {"A @ v": A, "A.T @ v": AT, "A @ B, 32 columns": A},
        )
        for name, a in bcoo.items():
            operands = (
                BCOO.from_scipy_sparse(scipy.sparse.csr_matrix(a)),
                jax.numpy.asarray(v if name.endswith("v") else B),
            )
            works[name]["JAX BCOO"] = partial(
                lambda a, b: jax.block_until_ready(product(a, b)), *operands
            )
    for name, runs in works.items():
        report(name, in_turn(runs, rounds=3 if "columns" in name else 5), own="static")
    # By the clock on the wall, with two threads here; SciPy's products have one.
    pairs = {
        "A @ v": (x, static @ x, v),
        "A.T @ v": (x, static.T @ x, v),
        "A @ B, 32 columns": (X, static @ X, B),
    }
    for name, (argument, product, value) in pairs.items():
        two = partial(bt.function([argument], product, threads=2), value)
        report(
            f"{name}, two threads, wall time",
            in_turn({"SciPy": works[name]["SciPy"], "own": two}, rounds=3, clock=time.perf_counter),
        )
    # What surrounds a product: one loop here, a pass each in SciPy.
    u, b = random.normal(size=rows) / 8, random.normal(size=rows)
    tu, tb = pt.dvector("u"), pt.dvector("b")
    fused = bt.function([tu, x, tb], (static * pt.exp(tu)[:, None]) @ x + tb, threads=1)
    report(
        "(A * exp(u)[:, None]) @ v + b",
        in_turn(
            {"SciPy": lambda: (A * np.exp(u)[:, None]) @ v + b, "own": lambda: fused(u, v, b)},
            rounds=5,
        ),
    )
    regression()
    bym2()
    factors(side)
    table()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

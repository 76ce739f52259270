"""Linear algebra side by side: Bitale, NumPy, SciPy with its LAPACK called directly, and with --peers JAX and PyTensor, on the
same arrays, one thread. Single matrices, batches of small ones, log densities with their gradients, einsum; what compiling one
takes, and the peak memory of another. Arguments choose rows by parts of their names.
"""

import json
import re
import subprocess
import sys
import time
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import scipy.linalg
from scipy.linalg import lapack

import bitale as bt
import bitale.tensor as pt
from measure import importable, in_turn

warnings.filterwarnings("ignore")
jax, pytensor = importable("jax"), importable("pytensor")
if jax:
    jax.config.update("jax_enable_x64", True)

random = np.random.default_rng(0)


# ---- the libraries ----


def by_bitale(formula, arrays):
    inputs = [pt.as_tensor_variable(a).type() for a in arrays]
    f = bt.function(inputs, formula(pt, pt.linalg, *inputs))
    return lambda: f(*arrays)


def by_numpy(formula, arrays):
    return lambda: formula(np, np.linalg, *arrays)


def by_jax(formula, arrays):
    linalg = SimpleNamespace(
        **{
            name: getattr(jax.numpy.linalg, name)
            for name in dir(jax.numpy.linalg)
            if name[0] != "_"
        }
    )
    linalg.solve_triangular = importable("jax.scipy.linalg").solve_triangular
    compiled = jax.jit(lambda *a: formula(jax.numpy, linalg, *a))
    there = [jax.numpy.asarray(a) for a in arrays]
    return lambda: jax.block_until_ready(compiled(*there))


def by_pytensor(formula, arrays):
    tensors = importable("pytensor.tensor")
    inputs = [tensors.as_tensor_variable(a).type() for a in arrays]
    results = formula(tensors, tensors.linalg, *inputs)
    results = list(results) if isinstance(results, (list, tuple)) else [results]
    f = pytensor.function(inputs, [pytensor.Out(r, borrow=True) for r in results], trust_input=True)
    return lambda: f(*arrays)


def flat(values):
    return (
        [np.asarray(v) for v in values]
        if isinstance(values, (list, tuple))
        else [np.asarray(values)]
    )


def rivals_of(name, formula, arrays, more=None, in_numpy=True, otherwise=None, alike=None):
    """{library: call}. What a library can't do, or does to other values, is said and left out. `otherwise`: the formula in the
    words of NumPy and JAX; `alike`: how many of the results are compared."""
    arrays = [np.asarray(a) for a in arrays]
    rivals = {"Bitale": by_bitale(formula, arrays), **(more or {})}
    expected = flat(rivals["Bitale"]())
    makers = {"NumPy": by_numpy} if in_numpy else {}
    if jax:
        makers["JAX"] = by_jax
    if pytensor:
        makers["PyTensor"] = by_pytensor
    for library, make in makers.items():
        try:
            call = make(otherwise if otherwise and library != "PyTensor" else formula, arrays)
            got = flat(call())
        except Exception as error:
            print(f"{name}: {library}: {type(error).__name__}: {str(error)[:100]}", file=sys.stderr)
            continue
        # Vectors may have the opposite sign.
        pairs = list(zip(got, expected))[:alike]
        if all(np.allclose(np.abs(a), np.abs(b), rtol=1e-6, atol=1e-8) for a, b in pairs):
            rivals[library] = call
        else:
            print(f"{name}: {library}: other values", file=sys.stderr)
    return rivals


# ---- single matrices ----


def single(n):
    a, b = random.normal(size=(n, n)), random.normal(size=n)
    s = a @ a.T + n * np.eye(n)
    general = s + a
    unchecked = {"check_finite": False}

    def qr_by_lapack():
        packed, tau, _, _ = lapack.dgeqrf(a)
        return lapack.dorgqr(packed, tau)[0], np.triu(packed)

    cases = {
        "cholesky": (
            lambda xp, la, s: la.cholesky(s),
            [s],
            lambda: scipy.linalg.cholesky(s, lower=True, **unchecked),
            lambda: lapack.dpotrf(s, lower=1),
        ),
        "solve": (
            lambda xp, la, a, b: la.solve(a, b),
            [general, b],
            lambda: scipy.linalg.solve(general, b, assume_a="gen", **unchecked),
            lambda: lapack.dgesv(general, b),
        ),
        "svd": (
            lambda xp, la, a: la.svd(a),
            [a],
            lambda: scipy.linalg.svd(a, **unchecked),
            lambda: lapack.dgesdd(a),
        ),
        "eigh": (
            lambda xp, la, s: la.eigh(s),
            [s],
            lambda: scipy.linalg.eigh(s, driver="evd", **unchecked),
            lambda: lapack.dsyevd(s),
        ),
        "qr": (
            lambda xp, la, a: la.qr(a),
            [a],
            lambda: scipy.linalg.qr(a, **unchecked),
            qr_by_lapack,
        ),
    }
    full = {
        "qr": lambda xp, la, a: la.qr(a, mode="complete")
    }  # the name in JAX and NumPy; the same for square ones
    for name, (formula, arrays, by_scipy, by_lapack) in cases.items():
        target = {10: "≤ 0.7 of SciPy", 500: "≤ 1.05 of LAPACK"}.get(n, "")
        yield (
            f"{name}, n = {n}",
            target,
            rivals_of(
                name,
                formula,
                arrays,
                {"SciPy": by_scipy, "LAPACK": by_lapack},
                otherwise=full.get(name),
            ),
        )


# ---- batches ----


def batches():
    def batch(count, n):
        a = random.normal(size=(count, n, n))
        return a, a @ a.transpose(0, 2, 1) + np.eye(n)

    target = "≤ 0.25 of the best"
    yield (
        "cholesky, 1000 x 8 x 8",
        target,
        rivals_of("cholesky", lambda xp, la, s: la.cholesky(s), [batch(1000, 8)[1]]),
    )
    a = batch(1000, 4)[0] + 4 * np.eye(4)
    b = random.normal(size=(1000, 4, 1))
    yield (
        "solve, 1000 x 4 x 4",
        target,
        rivals_of("solve", lambda xp, la, a, b: la.solve(a, b), [a, b]),
    )
    a = batch(1000, 3)[0] + 3 * np.eye(3)
    yield "det, 1000 x 3 x 3", target, rivals_of("det", lambda xp, la, a: la.det(a), [a])
    yield "inverse, 1000 x 3 x 3", target, rivals_of("inverse", lambda xp, la, a: la.inv(a), [a])


# ---- log densities with gradients ----


def with_gradients(value, wrt):
    def formula(xp, la, *arrays):
        if xp.__name__.startswith("jax"):
            found, gradients = jax.value_and_grad(lambda *a: value(xp, la, *a), wrt)(*arrays)
        else:
            library = pytensor if xp.__name__.startswith("pytensor") else bt
            found = value(xp, la, *arrays)
            gradients = library.grad(found, [arrays[i] for i in wrt])
        return [found, *gradients]

    return formula


def solved_definite(xp, la, a, b):
    """The solution for a definite matrix, as each library takes the statement."""
    if xp.__name__.startswith("jax"):
        return importable("jax.scipy.linalg").solve(a, b, assume_a="pos")
    return la.solve(a, b, assume_a="pos")


def gaussian_process(jitter=1e-8, by_factor=True):
    """The marginal likelihood of y, by the logarithms of length scale, amplitude and noise; by a Cholesky factor, or by a system
    and a determinant."""

    def value(xp, la, x, y, length, amplitude, noise):
        distance = (x[:, None] - x[None, :]) * xp.exp(-length)
        unit = xp.eye(x.shape[0])
        covariance = xp.exp(2 * amplitude - 0.5 * distance**2) + (xp.exp(2 * noise) + jitter) * unit
        if not by_factor:
            solved = solved_definite(xp, la, covariance, y)
            return -0.5 * (y * solved).sum() - 0.5 * la.slogdet(covariance)[1]
        factor = la.cholesky(covariance)
        z = la.solve_triangular(factor, y, lower=True)
        return -0.5 * (z * z).sum() - xp.log(xp.diagonal(factor)).sum()

    return with_gradients(value, (2, 3, 4))


def process_arrays(n):
    x = np.sort(random.uniform(0, 10, n))
    return [
        x,
        np.sin(x) + 0.1 * random.normal(size=n),
        np.float64(0.1),
        np.float64(0.2),
        np.float64(-1.0),
    ]


def multivariate_normal(xp, la, x, mu, covariance):
    factor = la.cholesky(covariance)
    z = la.solve_triangular(factor, (x - mu).T, lower=True)
    return -0.5 * (z * z).sum() - x.shape[0] * xp.log(xp.diagonal(factor)).sum()


def densities():
    for n in (100, 500):
        yield (
            f"GP marginal likelihood with gradient, n = {n}",
            "≤ 0.6 of the best",
            rivals_of("GP", gaussian_process(), process_arrays(n), in_numpy=False),
        )
    for n in (50, 200, 1000):
        yield (
            f"the same by solve and slogdet, n = {n}",
            "≤ 0.6 of the best",
            rivals_of("GP", gaussian_process(by_factor=False), process_arrays(n), in_numpy=False),
        )
    a = random.normal(size=(10, 10))
    arrays = [random.normal(size=(1000, 10)), random.normal(size=10), a @ a.T + np.eye(10)]
    # Libraries define the gradient of symmetric matrices differently: one triangle is compared.
    yield (
        "multivariate normal, 1000 points in 10 dimensions, with gradient",
        "≤ 0.5 of the best",
        rivals_of(
            "multivariate normal",
            with_gradients(multivariate_normal, (1, 2)),
            arrays,
            in_numpy=False,
            alike=2,
        ),
    )


# ---- einsum ----


def sums():
    cases = {
        "ij,jk->ik": [(200, 200), (200, 200)],
        "bij,bjk->bik": [(100, 16, 16), (100, 16, 16)],
        "bi,ij,bj->b": [(1000, 50), (50, 50), (1000, 50)],
        "ij,ij->i": [(1000, 1000), (1000, 1000)],
        "abc,bd,ce->ade": [(40, 40, 40), (40, 40), (40, 40)],
    }
    for text, shapes in cases.items():

        def formula(xp, la, *arrays, text=text):
            return xp.einsum(text, *arrays, optimize=True) if xp is np else xp.einsum(text, *arrays)

        yield (
            f"einsum {text}",
            "≤ 1 of the best",
            rivals_of(text, formula, [random.normal(size=s) for s in shapes]),
        )


# ---- compiling and memory ----


def compiling(times=5):
    """Processor seconds of compiling the Gaussian process; each time with another constant, so that it is compiled anew."""
    arrays = process_arrays(20)
    taken = []
    with bt.config.change_flags(cache=False):
        for k in range(times):
            before = time.process_time()
            by_bitale(gaussian_process(1e-8 * (k + 1)), arrays)
            taken.append(time.process_time() - before)
    return sorted(taken)[times // 2]


def kibibytes(what):
    return int(re.search(rf"^{what}:\s*(\d+) kB$", Path("/proc/self/status").read_text(), re.M)[1])


def peak_of(library):
    """Of a process of its own: by how many matrices its use of memory rises at most in a call that factors a matrix of 2000
    rows, solves with the factor, and has the gradient by the matrix, which is the result."""
    n = 2000
    a = random.normal(size=(n, 50))
    arrays = [a @ a.T + n * np.eye(n), random.normal(size=n)]

    def value(xp, la, s, b):
        factor = la.cholesky(s)
        z = la.solve_triangular(factor, b, lower=True)
        return (z * z).sum() + xp.log(xp.diagonal(factor)).sum()

    make = {"Bitale": by_bitale, "JAX": by_jax, "PyTensor": by_pytensor}[library]
    formula = with_gradients(value, (0,))
    make(formula, [arrays[0][:50, :50].copy(), arrays[1][:50]])()  # libraries are loaded
    call = make(formula, arrays)
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    before = kibibytes("VmRSS")
    call()
    return (kibibytes("VmHWM") - before) * 1024 / arrays[0].nbytes


def memory():
    found = {}
    for library in ["Bitale"] + ["JAX"] * bool(jax) + ["PyTensor"] * bool(pytensor):
        command = [sys.executable, __file__, "memory of", library]
        found[library] = float(
            subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.split()[-1]
        )
    return found


def main():
    if sys.argv[1:2] == ["memory of"]:
        print(peak_of(sys.argv[2]))
        return
    wanted, results = sys.argv[1:], {}

    def is_wanted(name):
        return not wanted or any(part in name for part in wanted)

    for group in (
        lambda: single(10),
        lambda: single(100),
        lambda: single(500),
        batches,
        densities,
        sums,
    ):
        for name, target, rivals in group():
            if is_wanted(name):
                results[name] = {"times": in_turn(rivals, rounds=7), "target": target}
    more = {}
    if is_wanted("compile"):
        more["compile"] = compiling()
    if is_wanted("memory"):
        more["memory"] = memory()
    print(json.dumps({"times": results, **more}))


if __name__ == "__main__":
    main()

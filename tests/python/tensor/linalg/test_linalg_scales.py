"""Functions of matrices at every scale. A function of matrices times powers of two is its value at the matrices times
another power of two, exactly: so its results and gradients at 1e-150 are compared with those at 1. Matrices that are
graded, not normal or nearly defective are compared by residuals, or with mpmath."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from test_linalg_table import ROWS, Pairs, Row, arrays_of, compare, expected_pairs, expression

import bitale as bt
import bitale.tensor as pt

la = pt.linalg

# For rows of the table of test_linalg_parity by the beginnings of their names: the exponents with which the inputs are
# scaled, and those of the outputs. Integers, permutations and vectors of length 1 have the exponent 0.
WEIGHTS: dict[str, list[tuple[tuple[int, ...], tuple[int, ...]]]] = {
    "matmul": [((1, -1), (0,)), ((1, 1), (2,))],
    "kron": [((1, -1), (0,))],
    "matrix_dot": [((1, -1, 1), (1,))],
    "matrix_power, 1": [((1,), (1,))],
    "matrix_power, -2": [((1,), (-2,))],
    "trace, 0": [((1,), (1,))],
    "diagonal, 1": [((1,), (1,))],
    "block_diag": [((1, 1, 1), (1,))],
    "norm": [((1,), (1,))],
    "inv": [((1,), (-1,))],
    "pinv": [((1,), (-1,))],
    "tensorinv": [((1,), (-1,))],
    "tensorsolve": [((1, 1), (0,)), ((1, 0), (-1,))],
    "solve_tridiagonal": [((1, 1, 1, 0), (-1,)), ((1, 1, 1, 1), (0,))],
    "cho_solve": [((1, 1), (-1,))],
    "tridiagonal_lu_factor": [((1,), (0, 1, 1, 1, 0))],
    "lstsq": [((1, 1), (0, 2, 0, 1)), ((1, 0), (-1, 0, 0, 1))],
    "cholesky": [((2,), (1,))],
    "qr, r": [((1,), (1,))],
    "qr, economic": [((1,), (0, 1, 0))],
    "qr, full": [((1,), (0, 1, 0))],
    "svd, values": [((1,), (1,))],
    "svd": [((1,), (0, 1, 0))],
    "lu, permute_l": [((1,), (0, 1))],
    "lu": [((1,), (0, 0, 1))],
    "eig": [((1,), (1, 0))],
    "eigvals": [((1,), (1,))],
    "eigh, general": [((1, 0), (1, 0)), ((0, 2), (-2, -1))],
    "eigvalsh, general": [((1, 0), (1,)), ((1, 1), (0,))],
    "eigh": [((1,), (1, 0))],
    "eigvalsh": [((1,), (1,))],
    "schur": [((1,), (1, 0))],
    "qz": [((1, 0), (1, 0, 0, 0)), ((0, 1), (0, 1, 0, 0))],
    "ordqz": [((1, 1), (1, 1, 1, 1, 0, 0))],
    "solve_sylvester": [((1, 1, 1), (0,)), ((1, 1, 0), (-1,))],
    "solve_continuous_lyapunov": [((1, 0), (-1,)), ((0, 1), (1,))],
    "solve_discrete_lyapunov": [((0, 1), (1,))],
    "solve_discrete_are": [((0, 0, 1, 1), (1,)), ((0, 1, 0, 2), (0,))],
    "solve_continuous_are": [((0, 0, 1, 1), (1,)), ((1, 0, 1, -1), (0,)), ((0, 1, 0, 2), (0,))],
}
SYSTEMS = ("solve,", "solve_triangular", "solve_banded", "lu_solve", "tridiagonal_lu_solve")
# Rows that are the same computation as another one.
SAME = (
    "vectors",
    "transposed",
    "permute_l",
    "tall",
    "matrix_inverse",
    "norm, vectors 0",
    "qr, raw",
)


def weights_of(r: Row) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    if (
        any(text in r.name for text in SAME)
        and not r.name.startswith("norm, vectors")
        or r.name in SAME
    ):
        return []
    if r.name.startswith(SYSTEMS):
        unit = "'unit_diagonal': True" in r.name
        return [((0, 1), (1,))] if unit else [((1, 0), (-1,)), ((1, 1), (0,))]
    return max(
        (
            (len(name), weights)
            for name, weights in WEIGHTS.items()
            if (r.name + ",").startswith(name + ",")
        ),
        default=(0, []),
    )[1]


CASES = [(r, *weights) for r in ROWS for weights in weights_of(r)]


@pytest.mark.parametrize("dtype", ["float64", "complex128", "float32"])
@pytest.mark.parametrize(
    ("r", "of_inputs", "of_outputs"), CASES, ids=[f"{r.name}, {w}" for r, w, _ in CASES]
)
def test_results_and_gradients_scale_with_the_matrices(r, of_inputs, of_outputs, dtype):
    n = 3
    arrays, cores = arrays_of(r, dtype, (), n)
    variables, outputs = expression(r, arrays, cores)
    smooth = () if isinstance(r.smooth, str) else r.smooth(*outputs)
    smooth = [k for k, each in enumerate(outputs) if any(each is one for one in smooth)]
    # A cost in which each output is scaled back, by factors that are inputs.
    factors = [
        pt.scalar(f"factor{k}", dtype=dtype if dtype in ("float32", "float64") else "float64")
        for k in smooth
    ]
    parts = [outputs[k] * factor for k, factor in zip(smooth, factors)]
    cost = sum(
        (
            (pt.real(p) + (2 * pt.imag(p) if p.dtype.startswith("complex") else 0)).sum()
            for p in parts
        ),
        pt.constant(0.0),
    )
    gradients = bt.grad(cost, variables, disconnected_inputs="ignore") if smooth else []
    f = bt.function([*variables, *factors], [*outputs, *gradients], on_unused_input="ignore")

    def run(exponent: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
        power = lambda weight: np.dtype(dtype).type(2.0 ** (exponent * weight))  # noqa: E731
        scaled = [a * power(w) for a, w in zip(arrays, of_inputs)]
        got = f(*scaled, *(power(-of_outputs[k]).real for k in smooth))
        values, slopes = got[: len(outputs)], got[len(outputs) :]
        return (
            [v * power(-w) if w else v for v, w in zip(values, of_outputs)],
            [g * power(w) for g, w in zip(slopes, of_inputs)],
        )

    _, expected = run(0)
    for exponent in (-27, 27, *((-498, 498) if dtype != "float32" else (-50, 50))):
        if r.name == "norm, vectors 3" and abs(exponent) > 27:
            continue  # sums of third powers, which leave the range of numbers, as in NumPy
        if (
            dtype == "float32"
            and max(map(abs, (*of_inputs, *of_outputs))) > 1
            and abs(exponent) > 27
        ):
            continue
        values, slopes = run(exponent)
        for one, right in expected_pairs(r, arrays, values, n):
            compare(one, right, dtype, r.scale, n)
        for one, right in zip(slopes, expected):
            assert np.isfinite(right).all()
            compare(one, right, dtype, 10 * r.scale * (1 + np.abs(right).max()), n)


# ---- matrices that are hard --------------------------------------------------------------------------------------------


def norm(x: np.ndarray) -> float:
    """The Frobenius norm, without overflow."""
    largest = np.abs(x).max(initial=0)
    return float(largest * np.linalg.norm(x / largest)) if largest > 0 else 0.0


def draw(rng: Any, dtype: str, *shape: int) -> np.ndarray:
    x = rng.normal(size=shape)
    return (x + 1j * rng.normal(size=shape) if dtype == "complex128" else x).astype(dtype)


def unitary(rng: Any, dtype: str, n: int) -> np.ndarray:
    return np.linalg.qr(draw(rng, dtype, n, n))[0]


def adjoint(x: np.ndarray) -> np.ndarray:
    return x.conj().T


def hard_matrix(kind: str, n: int, dtype: str) -> np.ndarray:
    rng = np.random.default_rng(n)
    grades = 10.0 ** -np.linspace(0, 12, n)
    x = draw(rng, dtype, n, n)
    if kind == "graded rows":
        return grades[:, None] * x
    if kind == "graded columns":
        return x * grades
    if kind == "graded":
        return grades[:, None] * x * grades[::-1]
    if kind == "similar to graded":
        return grades[:, None] * x / grades
    if kind == "nearly defective":
        return (np.eye(n) + np.eye(n, k=1) + 1e-13 * x).astype(dtype)
    if kind == "not normal":
        q = unitary(rng, dtype, n)
        return q @ (np.diag(1.0 + np.arange(n)) + 1e5 * np.triu(x, 1)) @ adjoint(q)
    if kind == "nearly singular":
        return unitary(rng, dtype, n) * 10.0 ** -np.linspace(0, 14, n) @ unitary(rng, dtype, n)
    assert kind == "huge and graded"
    return 2.0**490 * grades[:, None] * x


KINDS = ["graded rows", "graded columns", "graded", "similar to graded", "nearly defective", "not normal", "nearly singular", "huge and graded"]  # fmt: skip
EPS = float(np.finfo("float64").eps)


def unit(q: np.ndarray) -> tuple[Any, Any]:
    return adjoint(q) @ q - np.eye(q.shape[1]), 1.0


def system(part: Any = lambda a: a) -> Any:
    """The residuals of solutions of systems with a part of the first matrix, or with the third one."""

    def residuals(a: np.ndarray, b: np.ndarray, h: np.ndarray, z: np.ndarray) -> Pairs:
        m = h if part is None else part(a)
        return [(m @ z - b, norm(m) * norm(z) + norm(b))]

    return residuals


def by_columns(difference: np.ndarray, of: np.ndarray) -> Pairs:
    return [(difference[:, k], norm(of[:, k])) for k in range(of.shape[1])]


# For each name: the function's results as expressions of a general matrix, right sides and a Hermitian matrix; and pairs
# of a residual and the size of the terms in it, from the values of the matrices and of the results.
BACKWARD: dict[str, tuple[Any, Any]] = {
    "solve": (lambda x, y, h: la.solve(x, y, b_ndim=2), system()),
    "solve, transposed": (lambda x, y, h: la.solve(x, y, transposed=True, b_ndim=2), system(np.transpose)),
    "solve, banded": (lambda x, y, h: la.solve(x, y, assume_a="banded", b_ndim=2), system()),
    "solve, her": (lambda x, y, h: la.solve(h, y, assume_a="her", b_ndim=2), system(None)),
    "lu_solve": (lambda x, y, h: la.lu_solve(la.lu_factor(x), y, b_ndim=2), system()),
    "solve, tridiagonal": (lambda x, y, h: la.solve(x, y, assume_a="tridiagonal", b_ndim=2), system(lambda a: np.triu(np.tril(a, 1), -1))),
    "solve_triangular, lower": (lambda x, y, h: la.solve_triangular(x, y, lower=True, b_ndim=2), system(np.tril)),
    "solve_triangular, upper": (lambda x, y, h: la.solve_triangular(x, y, b_ndim=2), system(np.triu)),
    "inv": (lambda x, y, h: la.inv(x), lambda a, b, h, z: [(a @ z - np.eye(len(a)), norm(a) * norm(z))]),
    "qr": (lambda x, y, h: la.qr(x, mode="economic"), lambda a, b, h, q, r: [unit(q), *by_columns(q @ r - a, a)]),
    "qr, pivoting": (lambda x, y, h: la.qr(x, pivoting=True), lambda a, b, h, q, r, p: [unit(q), *by_columns(q @ r - a[:, p], a[:, p])]),
    "svd": (lambda x, y, h: la.svd(x, full_matrices=False), lambda a, b, h, u, s, v: [unit(u), unit(adjoint(v)), (u * s @ v - a, norm(a))]),
    "lu": (lambda x, y, h: la.lu(x, permute_l=True), lambda a, b, h, lower, upper: [(lower @ upper - a, norm(a))]),
    "schur": (lambda x, y, h: la.schur(x), lambda a, b, h, t, z: [unit(z), (z @ t @ adjoint(z) - a, norm(a))]),
    "eig": (lambda x, y, h: la.eig(x), lambda a, b, h, w, v: [(a @ v - v * w, norm(a))]),
    "eigh": (lambda x, y, h: la.eigh(h), lambda a, b, h, w, v: [unit(v), (h @ v - v * w, norm(h))]),
    "qz": (lambda x, y, h: la.qz(x, y @ y.T), lambda a, b, h, s, p, q, z: [unit(q), unit(z), (q @ s @ adjoint(z) - a, norm(a))]),
    "matrix_power": (lambda x, y, h: la.matrix_power(x, 2), lambda a, b, h, z: [(z - a @ a, norm(a) ** 2)]),
    "lstsq": (lambda x, y, h: la.lstsq(x, y, rcond=0.0)[0], system()),
    "solve_sylvester": (lambda x, y, h: la.solve_sylvester(x, h, y @ y.T),
        lambda a, b, h, z: [(a @ z + z @ h - b @ b.T, norm(z) * (norm(a) + norm(h)) + norm(b @ b.T))]),
}  # fmt: skip


@functools.cache
def compiled(name: str, dtype: str) -> Any:
    matrices = [pt.tensor(dtype=dtype, shape=(None, None)) for _ in range(3)]
    made = BACKWARD[name][0](*matrices)
    return bt.function(
        matrices,
        list(made) if isinstance(made, (list, tuple)) else [made],
        on_unused_input="ignore",
    )


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", BACKWARD)
def test_backward_errors_of_hard_matrices_are_of_the_order_of_rounding(name, kind, dtype):
    for n in (5, 24):
        a, b = hard_matrix(kind, n, dtype), draw(np.random.default_rng(1), dtype, n, 2)
        h = a / 2 + adjoint(a) / 2
        try:
            got = compiled(name, dtype)(a, b, h)
        except (
            np.linalg.LinAlgError
        ) as error:  # rounding may make a pivot 0 where a matrix is as good as singular
            assert (
                "singular" in str(error) and max(np.linalg.cond(a), np.linalg.cond(h)) > 0.1 / EPS
            )
            continue
        for residual, size in BACKWARD[name][1](a, b, h, *got):
            assert norm(residual) <= 40 * n * EPS * size, (n, norm(residual) / (n * EPS * size))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_determinants_whose_products_leave_the_range_of_numbers(dtype):
    big = 1e200 if dtype == "float64" else 1e30
    one = np.diag(np.array([big, big, -1 / big], dtype))
    small = np.diag(np.array([1 / big, 1 / big, big], dtype))
    x, batch = (
        pt.tensor(dtype=dtype, shape=(None, None)),
        pt.tensor(dtype=dtype, shape=(None, None, None)),
    )
    for linker in ("jit", "vm", "c"):
        f = bt.function([x], la.det(x), mode=bt.Mode(linker, "fast_run"))
        many = bt.function([batch], la.det(batch), mode=bt.Mode(linker, "fast_run"))
        for value, right in ((one, -big), (small, 1 / big)):
            assert np.isclose(f(value), right, rtol=1e-5, atol=0)
        stack = np.stack([one, np.eye(3), 0 * one, small, np.ones((3, 3))] * 3).astype(dtype)
        expected = np.array([-big, 1, 0, 1 / big, 0] * 3)
        assert np.allclose(many(stack), expected, rtol=1e-5, atol=0)
    assert np.isclose(bt.function([x], la.slogdet(x)[1])(one), np.log(big), rtol=1e-5)

"""Every public linear algebra function against NumPy and SciPy, as rows of one table: in all dtypes, batches and sizes,
with derivatives against finite differences. Results that are not unique are compared by their defining properties. A
public name without a row is an error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import bitale as bt
import bitale.tensor as pt

la = pt.linalg
SIZES = (0, 1, 2, 5, 33)
BATCHES = [(), (0,), (3,), (2, 3)]
DTYPES = ["float32", "float64", "complex64", "complex128"]
Pairs = list[tuple[Any, Any]]


def real_of(dtype: Any) -> str:
    return np.dtype(dtype).type(0).real.dtype.name


def adjoint(a: np.ndarray) -> np.ndarray:
    return a.conj().T


class Draw:
    """The inputs of one case. All but the first have fewer batch dimensions than the first, so that they broadcast."""

    def __init__(self, dtype: str, batch: tuple[int, ...], n: int):
        self.dtype, self.batch, self.n = dtype, batch, n
        self.rng = np.random.default_rng([n, len(batch)])
        self.count = 0

    def any(self, *core: int, scale: float = 1.0) -> np.ndarray:
        batch = self.batch[1:] if self.count and len(self.batch) > 1 else self.batch
        self.count += 1
        x = self.rng.normal(size=batch + core)
        if np.dtype(self.dtype).kind == "c":
            x = (x + 1j * self.rng.normal(size=x.shape)) / np.sqrt(2)
        return (scale * x).astype(self.dtype)

    def regular(self, n: int | None = None) -> np.ndarray:
        """Matrices with eigenvalues near 3, in a disk of radius 1."""
        n = self.n if n is None else n
        return (self.any(n, n, scale=1 / np.sqrt(max(n, 1))) + 3 * np.eye(n)).astype(self.dtype)

    def small(self, n: int | None = None) -> np.ndarray:
        n = self.n if n is None else n
        return self.any(n, n, scale=0.4 / np.sqrt(max(n, 1)))

    def positive(self, n: int | None = None) -> np.ndarray:
        n = self.n if n is None else n
        a = self.any(n, n, scale=1 / np.sqrt(max(n, 1)))
        return (a @ a.conj().swapaxes(-1, -2) + np.eye(n)).astype(self.dtype)

    def separated(self) -> np.ndarray:
        """Matrices with well-separated eigenvalues and singular values."""
        return (self.small() + np.diag(1.0 + np.arange(self.n))).astype(self.dtype)

    def bands(self, below: int, above: int) -> np.ndarray:
        out = self.any(below + above + 1, self.n)
        out[..., above, :] += 5
        return out


@dataclass(frozen=True)
class Row:
    name: str  # of the public function; the text after a comma distinguishes variants
    function: Callable[..., Any]  # takes variables
    inputs: Callable[[Draw], list[np.ndarray]]
    # takes one matrix per input and returns the results; with `by_pairs` also takes the computed results and returns
    # pairs that must agree
    formula: Callable[..., Any]
    by_pairs: bool = False
    batched: bool = (
        True  # False if the function takes single matrices, so that vectorize_graph makes the batch
    )
    empty: Callable[..., Any] | None = None  # the results at size 0, where NumPy and SciPy raise
    # Functions of the outputs whose derivatives are compared, or the reason why there are none.
    smooth: Callable[..., Any] | str = lambda *outputs: outputs
    scale: float = 1.0  # factor of the tolerance
    sizes: tuple[int, ...] = SIZES
    smooth_to: int = (
        33  # the largest size at which small steps do not change a permutation chosen by LAPACK
    )


ROWS: list[Row] = []


def row(name: str, function: Any, inputs: Any, formula: Any, **how: Any) -> None:
    ROWS.append(Row(name, function, inputs, formula, **how))


def first(*indices: int) -> Callable[..., Any]:
    return lambda *outputs: [outputs[k] for k in indices]


def square(x: Any) -> Any:
    """Squared absolute values, which do not depend on the phases of vectors."""
    return pt.sqr(pt.real(x)) + pt.sqr(pt.imag(x)) if x.dtype.startswith("complex") else pt.sqr(x)


# ---- products --------------------------------------------------------------------------------------------------------

two_matrices = lambda d: [d.any(d.n, d.n + 1), d.any(d.n + 1, d.n)]  # noqa: E731
row("dot", pt.dot, two_matrices, np.dot, batched=False)
row("dot, vector", pt.dot, lambda d: [d.any(d.n, 3), d.any(3)], np.dot, batched=False)
row("matmul", pt.matmul, two_matrices, np.matmul)
row("matvec", pt.matvec, lambda d: [d.any(d.n, d.n + 1), d.any(d.n + 1)], np.matvec)
row("vecmat", pt.vecmat, lambda d: [d.any(d.n), d.any(d.n, d.n + 1)], np.vecmat)
row("vecdot", pt.vecdot, lambda d: [d.any(d.n), d.any(d.n)], np.vecdot)
row("outer", pt.outer, lambda d: [d.any(d.n), d.any(d.n + 1)], np.outer, batched=False)
row("kron", la.kron, lambda d: [d.any(d.n, 2), d.any(3, d.n)], np.kron, batched=False)
row(
    "tensordot",
    lambda a, b: pt.tensordot(a, b, [[0, 1], [1, 0]]),
    lambda d: [d.any(d.n, 2, 3), d.any(2, d.n)],
    lambda a, b: np.tensordot(a, b, [[0, 1], [1, 0]]),
    batched=False,
)
row(
    "tensordot, outer",
    lambda a, b: pt.tensordot(a, b, 0),
    lambda d: [d.any(d.n, 2), d.any(3)],
    lambda a, b: np.tensordot(a, b, 0),
    batched=False,
)
for text, cores in {
    "ij,jk->ik": "n2,2n", "ij,ij->i": "nn,nn", "ii->i": "nn", "ii": "nn", "i,j->ij": "n,3", "ij->ji": "n2", "ij,jk,kl": "n2,2n,n3",
    "ij,j": "n2,2", "abc,bd,ce->ade": "n23,22,33", "i,i,i->": "n,n,n", "ijk->kj": "n23",
}.items():  # fmt: skip
    made = [[None if c == "n" else int(c) for c in core] for core in cores.split(",")]
    row(
        f"einsum, {text}",
        lambda *x, text=text: pt.einsum(text, *x),
        lambda d, made=made: [d.any(*(d.n if c is None else c for c in core)) for core in made],
        lambda *x, text=text: np.einsum(text, *x),
        batched=False,
    )
row(
    "einsum, ...ij,...jk->...ik",
    lambda a, b: pt.einsum("...ij,...jk->...ik", a, b),
    two_matrices,
    np.matmul,
)
row(
    "matrix_dot",
    la.matrix_dot,
    lambda d: [d.any(d.n, 2), d.any(2, d.n), d.any(d.n, 2)],
    lambda *x: np.linalg.multi_dot(x),
    batched=False,
)
for power in (0, 1, 3, -2):
    row(
        f"matrix_power, {power}",
        lambda a, k=power: la.matrix_power(a, k),
        lambda d: [d.regular()],
        lambda a, k=power: np.linalg.matrix_power(a, k),
        scale=4,
        smooth=(lambda x: [x]) if power else "a constant",
    )
row(
    "expm",
    la.expm,
    lambda d: [d.any(d.n, d.n, scale=1 / max(d.n, 1) ** 0.5)],
    scipy.linalg.expm,
    scale=4,
)

# ---- parts -----------------------------------------------------------------------------------------------------------

wide = lambda d: [d.any(d.n, d.n + 1)]  # noqa: E731
for k in (-1, 0, 1):
    row(f"tril, {k}", lambda a, k=k: pt.tril(a, k), wide, lambda a, k=k: np.tril(a, k))
    row(f"triu, {k}", lambda a, k=k: pt.triu(a, k), wide, lambda a, k=k: np.triu(a, k))
    row(
        f"diagonal, {k}",
        lambda a, k=k: la.diagonal(a, k, -2, -1),
        wide,
        lambda a, k=k: np.diagonal(a, k),
    )
    row(f"trace, {k}", lambda a, k=k: la.trace(a, k, -2, -1), wide, lambda a, k=k: np.trace(a, k))
    row(
        f"diag, {k}",
        lambda v, k=k: pt.diag(v, k),
        lambda d: [d.any(d.n)],
        lambda v, k=k: np.diag(v, k),
        batched=False,
    )
row("extract_diag", lambda a: pt.extract_diag(a, axis1=-2, axis2=-1), wide, np.diagonal)


def filled(a: np.ndarray, value: Any, offset: int = 0) -> np.ndarray:
    out = a.copy()
    for i in range(a.shape[0]):
        if 0 <= i + offset < a.shape[1]:
            out[i, i + offset] = value
    return out


row(
    "fill_diagonal",
    pt.fill_diagonal,
    lambda d: [d.any(d.n, d.n + 1), d.any()],
    filled,
    batched=False,
)
row(
    "fill_diagonal_offset",
    lambda a, v: pt.fill_diagonal_offset(a, v, 1),
    lambda d: [d.any(d.n, d.n), d.any()],
    lambda a, v: filled(a, v, 1),
    batched=False,
)
row(
    "block_diag",
    la.block_diag,
    lambda d: [d.any(d.n, 2), d.any(1, d.n), d.any(2, 2)],
    scipy.linalg.block_diag,
)
row("matrix_transpose", pt.matrix_transpose, wide, np.transpose)


def distinct(d: Draw) -> list[np.ndarray]:
    """Elements whose absolute values are distinct and not near 0, so that small steps do not change their order."""
    x = d.any(d.n, d.n + 1)
    sizes = 0.3 + np.argsort(d.rng.random(x.shape), axis=-1) / 10
    return [(x / np.abs(x) * sizes).astype(d.dtype)]


for order in (None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf):
    row(
        f"norm, {order}",
        lambda a, o=order: la.norm(a, o, axis=(-2, -1)),
        lambda d: [d.any(d.n + 1, d.n + 2)],
        lambda a, o=order: np.linalg.norm(a, o),
    )
for order in (None, 0, 1, -1, 2, 3, 0.5, np.inf, -np.inf):
    row(
        f"norm, vectors {order}",
        lambda a, o=order: la.norm(a, o, axis=-1),
        distinct,
        lambda a, o=order: np.linalg.norm(a, o, axis=-1),
        smooth="counts elements" if order == 0 else lambda *x: x,
    )

# ---- determinants and inverses ---------------------------------------------------------------------------------------

regular = lambda d: [d.regular()]  # noqa: E731
row("det", la.det, regular, np.linalg.det, scale=30)
row("slogdet", la.slogdet, regular, lambda a: list(np.linalg.slogdet(a)), scale=4)
row("inv", la.inv, regular, np.linalg.inv)
row("matrix_inverse", la.matrix_inverse, regular, np.linalg.inv)
row("pinv", la.pinv, regular, np.linalg.pinv)
row("pinv, tall", la.pinv, lambda d: [d.any(2 * d.n + 2, d.n)], np.linalg.pinv)
row("pinv, wide", la.pinv, lambda d: [d.any(d.n, 2 * d.n + 2)], np.linalg.pinv)
row(
    "tensorinv",
    lambda a: la.tensorinv(a, ind=1),
    lambda d: [d.regular(2 * d.n).reshape(*d.batch, 2 * d.n, 2, d.n)],
    lambda a: np.linalg.tensorinv(a, ind=1),
    batched=False,
    empty=lambda a: np.zeros((2, 0, 0)),
)
row(
    "tensorsolve",
    la.tensorsolve,
    lambda d: [d.regular(2 * d.n).reshape(*d.batch, 2 * d.n, 2, d.n), d.any(2 * d.n)],
    np.linalg.tensorsolve,
    batched=False,
    empty=lambda a, b: np.zeros((2, 0)),
)

# ---- systems ---------------------------------------------------------------------------------------------------------


def read_of(kind: str, a: np.ndarray, lower: bool) -> np.ndarray:
    """The matrix that is used if only a part of `a` is read."""
    strict = np.tril(a, -1) if lower else np.triu(a, 1)
    main = np.diag(np.diag(a))
    return {
        "gen": a,
        "banded": a,
        "diagonal": main,
        "tridiagonal": np.triu(np.tril(a, 1), -1),
        "sym": strict + strict.T + main,
        "her": strict + adjoint(strict) + main.real,
        "pos": strict + adjoint(strict) + main.real,
        "lower triangular": np.tril(a),
        "upper triangular": np.triu(a),
    }[kind]


for kind in (
    "gen",
    "banded",
    "diagonal",
    "tridiagonal",
    "sym",
    "her",
    "pos",
    "lower triangular",
    "upper triangular",
):
    for flags in ({}, {"transposed": True}, {"lower": True}):
        if "lower" in flags and kind not in ("sym", "her", "pos"):
            continue

        def system(a: Any, b: Any, kind: str = kind, flags: dict[str, bool] = flags) -> np.ndarray:
            whole = read_of(kind, a, flags.get("lower", False))
            return np.linalg.solve(whole.T if flags.get("transposed") else whole, b)

        name = ", ".join(["solve", kind, *flags])
        row(
            name,
            lambda a, b, kind=kind, flags=flags: la.solve(a, b, assume_a=kind, b_ndim=2, **flags),
            lambda d: [d.positive(), d.any(d.n, 2)],
            system,
        )
        if not flags:
            row(
                name + ", vectors",
                lambda a, b, kind=kind: la.solve(a, b, assume_a=kind, b_ndim=1),
                lambda d: [d.positive(), d.any(d.n)],
                lambda a, b, kind=kind: np.linalg.solve(read_of(kind, a, False), b),
            )

for lower in (False, True):
    for trans in (0, 1, 2):
        for unit in (False, True):
            how = dict(lower=lower, trans=trans, unit_diagonal=unit)
            row(
                f"solve_triangular, {how}",
                lambda a, b, how=how: la.solve_triangular(a, b, b_ndim=2, **how),
                lambda d, unit=unit: [d.small() if unit else d.regular(), d.any(d.n, 2)],
                lambda a, b, how=how: scipy.linalg.solve_triangular(a, b, **how),
            )
row(
    "solve_triangular, vectors",
    lambda a, b: la.solve_triangular(a, b, lower=True, b_ndim=1),
    lambda d: [d.regular(), d.any(d.n)],
    lambda a, b: scipy.linalg.solve_triangular(a, b, lower=True),
)
for lower in (False, True):
    row(
        f"cho_solve, lower={lower}",
        lambda c, b, lower=lower: la.cho_solve((c, lower), b, b_ndim=2),
        lambda d: [d.regular(), d.any(d.n, 2)],
        lambda c, b, lower=lower: np.linalg.solve(
            np.tril(c) @ adjoint(np.tril(c)) if lower else adjoint(np.triu(c)) @ np.triu(c), b
        ),
        scale=4,
    )
for trans in (False, True):
    row(
        f"lu_solve, {trans}",
        lambda a, b, trans=trans: la.lu_solve(la.lu_factor(a), b, trans=trans, b_ndim=2),
        lambda d: [d.regular(), d.any(d.n, 2)],
        lambda a, b, trans=trans: np.linalg.solve(a.T if trans else a, b),
    )
    row(
        f"tridiagonal_lu_solve, {trans}",
        lambda a, b, trans=trans: la.tridiagonal_lu_solve(
            la.tridiagonal_lu_factor(a), b, transposed=trans, b_ndim=2
        ),
        lambda d: [d.regular(), d.any(d.n, 2)],
        lambda a, b, trans=trans: np.linalg.solve(
            read_of("tridiagonal", a.T if trans else a, False), b
        ),
        smooth="the factors have none",
    )


def tridiagonal_pairs(
    a: np.ndarray, below: Any, main: Any, above: Any, second: Any, pivots: Any
) -> Pairs:
    n = len(a)
    if n < 3:
        return [
            (
                main.prod(),
                np.linalg.det(read_of("tridiagonal", a, False))
                * (-1) ** (pivots != np.arange(n)).sum(),
            )
        ]
    gttrf = scipy.linalg.get_lapack_funcs("gttrf", dtype=a.dtype)
    *expected, expected_pivots, _ = gttrf(*(np.diag(a, k) for k in (-1, 0, 1)))
    return [*zip((below, main, above, second), expected), (pivots, expected_pivots - 1)]


row(
    "tridiagonal_lu_factor",
    la.tridiagonal_lu_factor,
    lambda d: [d.any(d.n, d.n)],
    tridiagonal_pairs,
    by_pairs=True,
    smooth="documented: the factors have none",
    scale=30,
)


def tridiagonal(dl: np.ndarray, d: np.ndarray, du: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.linalg.solve(np.diag(d) + (np.diag(dl, -1) + np.diag(du, 1) if len(d) > 1 else 0), b)


row("solve_tridiagonal", lambda dl, d, du, b: la.solve_tridiagonal(dl, d, du, b, b_ndim=2),
    lambda d: [d.any(max(d.n - 1, 0)), d.any(d.n) + np.asarray(4, d.dtype), d.any(max(d.n - 1, 0)), d.any(d.n, 2)], tridiagonal)  # fmt: skip
for below, above in ((1, 1), (2, 0), (0, 3)):
    row(
        f"solve_banded, {below} {above}",
        lambda ab, b, lu=(below, above): la.solve_banded(lu, ab, b, b_ndim=2),
        lambda d, lu=(below, above): [d.bands(*lu), d.any(d.n, 2)],
        lambda ab, b, lu=(below, above): scipy.linalg.solve_banded(lu, ab, b),
        empty=lambda ab, b: b,
    )


def least_squares(a: np.ndarray, b: np.ndarray) -> list[np.ndarray]:
    x, residuals, rank, s = np.linalg.lstsq(a, b, rcond=None)
    # NumPy returns no residuals for a rank-deficient matrix, but in a batch they have the same shape for all matrices
    if not residuals.size:
        residuals = (np.abs(b - a @ x) ** 2).sum(0)
    return [x, residuals, np.int64(rank), s]


def fits(a: np.ndarray, b: np.ndarray, *got: np.ndarray) -> Pairs:
    expected = least_squares(a, b)
    pairs = list(zip(got, expected))
    return pairs if got[1].size or not b.shape[1] else [pairs[0], *pairs[2:]]


for name, shape in {
    "tall": lambda n: (n + 3, n),
    "square": lambda n: (n, n),
    "wide": lambda n: (n, n + 3),
}.items():
    row(
        f"lstsq, {name}",
        lambda a, b: la.lstsq(a, b),
        lambda d, shape=shape: [d.any(*shape(2 * d.n)), d.any(shape(2 * d.n)[0], 2)],
        fits,
        by_pairs=True,
        smooth=first(0, 3),
        scale=100,
    )

# ---- decompositions --------------------------------------------------------------------------------------------------

for lower in (False, True):
    row(
        f"cholesky, lower={lower}",
        lambda a, lower=lower: la.cholesky(a, lower=lower),
        lambda d: [d.positive()],
        lambda a, lower=lower: scipy.linalg.cholesky(a, lower=lower) if a.size else a,
    )

SHAPES = {"": lambda n: (n, n), ", tall": lambda n: (n + 2, n), ", wide": lambda n: (n, n + 2)}


def is_unitary(q: np.ndarray) -> tuple[Any, Any]:
    return adjoint(q) @ q, np.eye(q.shape[1])


def qr_pairs(a: np.ndarray, q: np.ndarray, r: np.ndarray, *p: np.ndarray) -> Pairs:
    return [(q @ r, a[:, p[0]] if p else a), is_unitary(q), (np.tril(r, -1), 0 * r)]


for tail, shape in SHAPES.items():
    inputs = lambda d, shape=shape: [d.any(*shape(d.n))]  # noqa: E731
    for mode in ("economic", "full"):
        none = (
            "documented: of matrices known to be square alone"
            if mode == "full"
            else lambda *outputs: outputs[:2]
        )
        row(
            f"qr, {mode}{tail}",
            lambda a, mode=mode: la.qr(a, mode=mode),
            inputs,
            qr_pairs,
            by_pairs=True,
            smooth=none,
            scale=4,
        )
        falling = lambda d, shape=shape: [
            (d.any(*shape(d.n)) * 0.8 ** np.arange(shape(d.n)[1])).astype(d.dtype)
        ]  # noqa: E731
        row(
            f"qr, {mode}, pivoting{tail}",
            lambda a, mode=mode: la.qr(a, mode=mode, pivoting=True),
            falling,
            qr_pairs,
            by_pairs=True,
            smooth=none,
            scale=4,
            smooth_to=5,
        )
    row(
        f"qr, r{tail}",
        lambda a: la.qr(a, mode="r"),
        inputs,
        lambda a: scipy.linalg.qr(a, mode="r")[0][: min(a.shape)],
        scale=4,
        empty=lambda a: np.zeros((min(a.shape), a.shape[1])),
    )

    def raw_pairs(a: np.ndarray, h: Any, tau: Any, r: Any) -> Pairs:
        if not a.size:
            return [(r, np.zeros((0, a.shape[1])))]
        (expected_h, expected_tau), expected_r = scipy.linalg.qr(a, mode="raw")
        return [(h, expected_h), (tau, expected_tau), (r, expected_r[: min(a.shape)])]

    row(
        f"qr, raw{tail}",
        lambda a: la.qr(a, mode="raw"),
        inputs,
        raw_pairs,
        by_pairs=True,
        smooth="documented: none of the reflections",
        scale=4,
    )

    def svd_pairs(a: np.ndarray, u: np.ndarray, s: np.ndarray, vt: np.ndarray) -> Pairs:
        k = len(s)
        return [
            (u[:, :k] * s @ vt[:k], a),
            is_unitary(u),
            is_unitary(adjoint(vt)),
            (s, np.linalg.svd(a, compute_uv=False)),
        ]

    for full in (True, False):
        invariant = lambda u, s, vt: [s, square(u), square(vt)]  # noqa: E731
        row(
            f"svd, full={full}{tail}",
            lambda a, full=full: la.svd(a, full_matrices=full),
            inputs,
            svd_pairs,
            by_pairs=True,
            smooth="documented: of matrices known to be square alone" if full else invariant,
            scale=4,
        )
    row(
        f"svd, values{tail}",
        lambda a: la.svd(a, compute_uv=False),
        inputs,
        lambda a: np.linalg.svd(a, compute_uv=False),
    )
    row(
        f"lu{tail}",
        la.lu,
        inputs,
        lambda a: list(scipy.linalg.lu(a)),
        smooth=first(1, 2),
        scale=30,
        smooth_to=5,
        empty=lambda a: [np.eye(a.shape[0]), np.zeros((a.shape[0], 0)), np.zeros((0, a.shape[1]))],
    )
    row(
        f"lu, permute_l{tail}",
        lambda a: la.lu(a, permute_l=True),
        inputs,
        lambda a: list(scipy.linalg.lu(a, permute_l=True)),
        scale=30,
        smooth_to=5,
        empty=lambda a: [np.zeros((a.shape[0], 0)), np.zeros((0, a.shape[1]))],
    )
    row(f"lu, p_indices{tail}", lambda a: la.lu(a, p_indices=True), inputs,
        lambda a: list(scipy.linalg.lu(a, p_indices=True)), smooth=first(1, 2), scale=30, smooth_to=5,
        empty=lambda a: [np.arange(a.shape[0]), np.zeros((a.shape[0], 0)), np.zeros((0, a.shape[1]))])  # fmt: skip
    row(
        f"lu_factor{tail}",
        la.lu_factor,
        inputs,
        lambda a: list(scipy.linalg.lu_factor(a)),
        smooth=first(0),
        scale=30,
        smooth_to=5,
        empty=lambda a: [a, np.zeros(0, "int32")],
    )


def permutation(pivots: np.ndarray) -> np.ndarray:
    out = np.arange(len(pivots))
    for i, other in enumerate(pivots):
        out[[i, other]] = out[[other, i]]
    return np.argsort(out)


row(
    "pivot_to_permutation",
    lambda a: la.pivot_to_permutation(la.lu_factor(a)[1]),
    lambda d: [d.any(d.n, d.n)],
    lambda a: permutation(scipy.linalg.lu_factor(a)[1]),
    smooth="integers",
    empty=lambda a: np.zeros(0, "int64"),
)


def in_order(got: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """The computed values, reordered so that each is at the position of the nearest expected one."""
    left = list(got)
    return np.array(
        [left.pop(int(np.argmin(np.abs(np.array(left) - each)))) for each in expected], got.dtype
    )


def eig_pairs(a: np.ndarray, w: np.ndarray, v: np.ndarray) -> Pairs:
    return [
        (a @ v, v * w),
        (np.linalg.norm(v, axis=0), np.ones(len(w))),
        (in_order(w, np.linalg.eigvals(a)), np.linalg.eigvals(a)),
    ]


separated = lambda d: [d.separated()]  # noqa: E731
row(
    "eig",
    la.eig,
    separated,
    eig_pairs,
    by_pairs=True,
    smooth=lambda w, v: [pt.sqr(w).sum(-1), square(v)],
    scale=30,
    smooth_to=5,
)
row(
    "eigvals",
    la.eigvals,
    separated,
    lambda a, w: [(in_order(w, np.linalg.eigvals(a)), np.linalg.eigvals(a))],
    by_pairs=True,
    smooth=lambda w: [w.sum(-1), pt.sqr(w).sum(-1)],
    scale=30,
)
for lower in (True, False):

    def eigh_pairs(a: np.ndarray, w: np.ndarray, v: np.ndarray, lower: bool = lower) -> Pairs:
        whole = read_of("her", a, lower)
        return [(whole @ v, v * w), is_unitary(v), (w, np.linalg.eigvalsh(whole))]

    def general_pairs(
        a: np.ndarray, b: np.ndarray, w: np.ndarray, v: np.ndarray, lower: bool = lower
    ) -> Pairs:
        left, right = read_of("her", a, lower), read_of("her", b, lower)
        expected = scipy.linalg.eigvalsh(left, right) if len(a) else w
        return [(left @ v, right @ v * w), (adjoint(v) @ right @ v, np.eye(len(w))), (w, expected)]

    phases = lambda w, v: [w, square(v)]  # noqa: E731
    row(
        f"eigh, lower={lower}",
        lambda a, lower=lower: la.eigh(a, lower=lower),
        separated,
        eigh_pairs,
        by_pairs=True,
        smooth=phases,
        scale=4,
    )
    row(
        f"eigvalsh, lower={lower}",
        lambda a, lower=lower: la.eigvalsh(a, lower=lower),
        separated,
        lambda a, lower=lower: np.linalg.eigvalsh(read_of("her", a, lower)),
    )
    both = lambda d: [d.separated(), d.positive()]  # noqa: E731
    row(
        f"eigh, general, lower={lower}",
        lambda a, b, lower=lower: la.eigh(a, b, lower=lower),
        both,
        general_pairs,
        by_pairs=True,
        smooth=phases,
        scale=30,
    )
    row(
        f"eigvalsh, general, lower={lower}",
        lambda a, b, lower=lower: la.eigvalsh(a, b, lower=lower),
        both,
        lambda a, b, lower=lower: scipy.linalg.eigvalsh(
            read_of("her", a, lower), read_of("her", b, lower)
        ),
        empty=lambda a, b: np.zeros(0, real_of(a.dtype)),
        scale=30,
    )


def schur_pairs(a: np.ndarray, t: np.ndarray, z: np.ndarray) -> Pairs:
    k = -1 if np.iscomplexobj(t) else -2
    return [(z @ t @ adjoint(z), a), is_unitary(z), (np.tril(t, k), 0 * t)]


def qz_pairs(
    a: np.ndarray, b: np.ndarray, s: np.ndarray, p: np.ndarray, q: np.ndarray, z: np.ndarray
) -> Pairs:
    k = -1 if np.iscomplexobj(s) else -2
    out = [(q @ s @ adjoint(z), a), (q @ p @ adjoint(z), b), is_unitary(q), is_unitary(z)]
    return [*out, (np.tril(s, k), 0 * s), (np.tril(p, -1), 0 * p)]


def ordered_pairs(a: Any, b: Any, s: Any, p: Any, alpha: Any, beta: Any, q: Any, z: Any) -> Pairs:
    inside = np.abs(alpha) < np.abs(beta)
    return [
        *qz_pairs(a, b, s, p, q, z),
        ((np.diff(inside.astype(int)) > 0).sum(), 0),
        (inside.sum(), (np.abs(scipy.linalg.eigvals(a, b)) < 1).sum() if len(a) else 0),
    ]


none = "documented: no derivative"
for output in ("real", "complex"):
    for sort in (None, "lhp", "iuc"):
        row(
            f"schur, {output} {sort}",
            lambda a, output=output, sort=sort: la.schur(a, output=output, sort=sort),
            lambda d: [d.any(d.n, d.n)],
            schur_pairs,
            by_pairs=True,
            smooth=none,
            scale=10,
        )
    row(
        f"qz, {output}",
        lambda a, b, output=output: la.qz(a, b, output=output),
        lambda d: [d.any(d.n, d.n), d.regular()],
        qz_pairs,
        by_pairs=True,
        smooth=none,
        scale=30,
    )
row(
    "ordqz",
    lambda a, b: la.ordqz(a, b, sort="iuc"),
    lambda d: [d.any(d.n, d.n), d.regular()],
    ordered_pairs,
    by_pairs=True,
    smooth=none,
    scale=30,
)

# ---- equations -------------------------------------------------------------------------------------------------------

row(
    "solve_sylvester",
    la.solve_sylvester,
    lambda d: [d.regular(), d.regular(2), d.any(d.n, 2)],
    scipy.linalg.solve_sylvester,
    empty=lambda a, b, q: q,
    scale=4,
)
row(
    "solve_continuous_lyapunov",
    la.solve_continuous_lyapunov,
    lambda d: [d.regular(), d.any(d.n, d.n)],
    scipy.linalg.solve_continuous_lyapunov,
    empty=lambda a, q: q,
    scale=4,
)
for method in ("bilinear", "direct"):  # "direct" solves a system of n^2 equations
    row(
        f"solve_discrete_lyapunov, {method}",
        lambda a, q, m=method: la.solve_discrete_lyapunov(a, q, method=m),
        lambda d: [d.small(), d.any(d.n, d.n)],
        lambda a, q: scipy.linalg.solve_discrete_lyapunov(a, q, method="bilinear"),
        empty=lambda a, q: q,
        batched=method == "bilinear",
        scale=10,
        sizes=SIZES if method == "bilinear" else SIZES[:-1],
    )
riccati = lambda d: [
    (d.small() - np.eye(d.n)).astype(d.dtype) / 2,
    d.any(d.n, 2),
    d.positive(),
    d.positive(2),
]  # noqa: E731
row(
    "solve_discrete_are",
    la.solve_discrete_are,
    riccati,
    scipy.linalg.solve_discrete_are,
    empty=lambda a, *_: a,
    scale=100,
)
row(
    "solve_continuous_are",
    la.solve_continuous_are,
    riccati,
    scipy.linalg.solve_continuous_are,
    empty=lambda a, *_: a,
    scale=100,
)


# ---- the tests -------------------------------------------------------------------------------------------------------

PRODUCTS = """dot matmul matvec vecmat vecdot outer tensordot einsum diag tril triu extract_diag fill_diagonal fill_diagonal_offset
matrix_transpose""".split()


ELSEWHERE = {
    "cross",
    "matrix_norm",
    "matrix_rank",
    "svdvals",
    "vector_norm",
}  # tests/python/test_array_api_namespace.py


def test_each_public_function_has_a_row():
    rows = {r.name.split(",")[0] for r in ROWS}
    public = {
        *(name for name in la.__all__ if not isinstance(getattr(la, name), type)),
        *PRODUCTS,
    } - ELSEWHERE
    assert public - rows == set(), "functions without a row in the table"
    assert rows - public == set(), "rows that name no function"


def arrays_of(
    r: Row, dtype: str, batch: tuple[int, ...], n: int
) -> tuple[list[np.ndarray], list[int]]:
    """The inputs, and the number of dimensions that each has without a batch."""
    arrays = r.inputs(Draw(dtype, batch, n))
    return arrays, [a.ndim for a in r.inputs(Draw(dtype, (), n))]


def expression(r: Row, arrays: list[np.ndarray], cores: list[int]) -> tuple[list[Any], list[Any]]:
    variables = [
        pt.tensor(f"x{i}", dtype=a.dtype.name, shape=(None,) * a.ndim) for i, a in enumerate(arrays)
    ]
    leaves = variables
    if not r.batched:
        leaves = [
            pt.tensor(f"core{i}", dtype=a.dtype.name, shape=(None,) * core)
            for i, (a, core) in enumerate(zip(arrays, cores))
        ]
    made = r.function(*leaves)
    outputs = list(made) if isinstance(made, (tuple, list)) else [made]
    if not r.batched and any(a.ndim > core for a, core in zip(arrays, cores)):
        outputs = list(bt.graph.vectorize_graph(outputs, dict(zip(leaves, variables))))
        leaves = variables
    return leaves, outputs


def expected_pairs(r: Row, arrays: list[np.ndarray], got: list[np.ndarray], n: int) -> Pairs:
    if n == 0 and r.empty is not None:
        expected = r.empty(*arrays)
    elif r.by_pairs:
        return r.formula(*arrays, *got)
    else:
        expected = r.formula(*arrays)
    expected = list(expected) if isinstance(expected, (tuple, list)) else [expected]
    assert len(got) == len(expected)
    return list(zip(got, expected))


def compare(got: Any, expected: Any, dtype: str, scale: float, n: int) -> None:
    got, expected = np.asarray(got), np.asarray(expected)
    assert got.shape == expected.shape
    if expected.dtype.kind in "iub":
        assert (got == expected).all()
        return
    bound = (
        50 * scale * np.sqrt(n + 1) * np.finfo(dtype).eps * (1 + np.abs(expected).max(initial=0))
    )
    assert np.abs(got - expected).max(initial=0) <= bound, np.abs(got - expected).max() / bound


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("r", ROWS, ids=lambda r: r.name)
def test_values_agree_with_numpy_and_scipy(r, dtype):
    for ndim in range(3):
        f = None
        for batch in (b for b in BATCHES if len(b) == ndim):
            for n in r.sizes:
                arrays, cores = arrays_of(r, dtype, batch, n)
                if f is None:
                    variables, outputs = expression(r, arrays, cores)
                    f = bt.function(variables, outputs)
                got = f(*arrays)
                whole = np.broadcast_shapes(
                    *(a.shape[: a.ndim - core] for a, core in zip(arrays, cores))
                )
                arrays = [
                    np.broadcast_to(a, whole + a.shape[a.ndim - core :])
                    for a, core in zip(arrays, cores)
                ]
                for each in got:
                    assert each.dtype.kind in "iub" or real_of(each.dtype) == real_of(dtype), (
                        each.dtype
                    )
                    assert each.shape[: len(whole)] == whole
                for at in np.ndindex(whole):
                    for one, expected in expected_pairs(
                        r, [a[at] for a in arrays], [g[at] for g in got], n
                    ):
                        compare(one, expected, dtype, r.scale, n)


SMOOTH = [r for r in ROWS if not isinstance(r.smooth, str)]


def loss_of(r: Row, outputs: list[Any]) -> Any:
    """A sum of all differentiable outputs, with different weights for all elements."""
    terms = []
    for k, each in enumerate(r.smooth(*outputs)):
        if each.dtype.startswith(("int", "bool")):
            continue
        weights = pt.cos(pt.arange(each.size).reshape(each.shape) * 0.7 + k).astype(
            real_of(each.dtype)
        )
        for part in (pt.real(each), pt.imag(each)) if each.dtype.startswith("complex") else (each,):
            terms.append((part * weights).sum())
            weights = pt.sin(weights * 3)
    return sum(terms[1:], start=terms[0])


def inner(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.real(np.conj(a) * b).sum())


def derivatives(r: Row, arrays: list[np.ndarray], cores: list[int], forward: bool) -> Any:
    """A function of the inputs and, with `forward`, a direction: the loss, its gradients and its derivative along the
    direction."""
    variables, outputs = expression(r, arrays, cores)
    loss = loss_of(r, outputs)
    gradients = bt.grad(loss, variables, disconnected_inputs="ignore")
    tangents = (
        [pt.tensor(f"d{i}", dtype=x.dtype, shape=(None,) * x.ndim) for i, x in enumerate(variables)]
        if forward
        else []
    )
    along = [bt.gradient.pushforward(loss, variables, tangents)] if forward else []
    return bt.function([*variables, *tangents], [loss, *gradients, *along])


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("r", SMOOTH, ids=lambda r: r.name)
def test_derivatives_agree_with_finite_differences(r, dtype):
    """For a batch: reverse and forward mode in all inputs at once, and reverse mode in single precision."""
    narrow = {"float64": "float32", "complex128": "complex64"}[dtype]
    arrays, cores = arrays_of(r, dtype, (2, 3), 2)
    f = derivatives(r, arrays, cores, True)
    low = derivatives(r, [a.astype(narrow) for a in arrays], cores, False)
    for n in (n for n in r.sizes if n <= r.smooth_to):
        arrays, _ = arrays_of(r, dtype, (2, 3), n)
        draw = Draw(dtype, (), n)
        direction = [draw.any(*a.shape) for a in arrays]
        _, *gradients, along = f(*arrays, *direction)
        for a, g in zip(arrays, gradients):
            assert g.shape == a.shape and g.dtype == a.dtype and np.isfinite(g).all()
        slope = sum(inner(g, d) for g, d in zip(gradients, direction))
        step = 1e-4 / np.sqrt(n + 1)
        moved = lambda k: [a + k * step * d for a, d in zip(arrays, direction)]  # noqa: B023, E731
        at = lambda k: f(*moved(k), *direction)[0]  # noqa: B023, E731
        expected = (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * step)
        size = (
            1
            + sum(np.linalg.norm(g) * np.linalg.norm(d) for g, d in zip(gradients, direction))
            + abs(at(0))
        )
        assert abs(slope - expected) <= 1e-8 * size * r.scale, (n, slope, expected, size)
        assert abs(along - slope) <= 1e-11 * size * r.scale, (n, along, slope)
        for a, g, wide in zip(arrays, low(*(a.astype(narrow) for a in arrays))[1:], gradients):
            assert g.shape == a.shape and g.dtype == narrow
            assert np.abs(g - wide).max(initial=0) <= 2e-4 * r.scale * (
                1 + np.abs(wide).max(initial=0)
            ) * np.sqrt(n + 1)

"""General costs that the evals show, each in a minimal form: the expression as one writes it, beside one with the same values that avoids the
cost. What is to be mended is the first, in the library."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import bitale as bt
import bitale.tensor as pt


@dataclass(frozen=True)
class Form:
    name: str
    natural: Callable[..., Any]
    better: Callable[..., Any]
    arrays: list[np.ndarray]


def draws(*shape: int) -> np.ndarray:
    return np.random.default_rng(len(shape)).normal(size=shape)


def squared_norms(c: Any) -> Any:
    return (c**2).sum(axis=1)


def minima_of_product(x: Any, c: Any) -> Any:
    return pt.min(squared_norms(c) - 2 * x @ c.T, axis=1)


def in_row_blocks(x: Any, c: Any, rows: int = 250) -> Any:
    blocks = x.reshape((x.type.shape[0] // rows, rows, x.type.shape[1]))
    return pt.sum(
        bt.scan(
            lambda block: pt.sum(minima_of_product(block, c)),
            sequences=[blocks],
            return_updates=False,
        )
    )


def attention(q: Any, k: Any, v: Any) -> Any:
    return pt.special.softmax(q @ k.T, axis=1) @ v


def attention_in_row_blocks(q: Any, k: Any, v: Any, rows: int = 64) -> Any:
    blocks = q.reshape((q.type.shape[0] // rows, rows, q.type.shape[1]))
    return bt.scan(lambda block: attention(block, k, v), sequences=[blocks], return_updates=False)


def gradient_of_least(x: Any, c: Any) -> Any:
    return bt.grad(pt.sum(minima_of_product(x, c)), c)


def gradient_by_nearest(x: Any, c: Any) -> Any:
    nearest = pt.argmin(squared_norms(c) - 2 * x @ c.T, axis=1)
    return bt.grad(pt.sum(squared_norms(c)[nearest] - 2 * pt.sum(x * c[nearest], axis=1)), c)


def distances(x: Any, c: Any) -> Any:
    return ((x[:, None] - c[None]) ** 2).sum(axis=2)


def distances_along_rows(x: Any, c: Any) -> Any:
    return ((x.T[:, :, None] - c.T[:, None]) ** 2).sum(axis=0)


def by_nearest(x: Any, c: Any) -> Any:
    """The gradient of the sum of least distances, by the position of the least."""
    nearest = pt.argmin(distances(x, c), axis=1)
    return bt.grad(pt.sum((x - c[nearest]) ** 2), c)


def shared(x: Any) -> list[list[Any]]:
    s, c = pt.sin(x), pt.cos(x)
    return [[s * c, s + c, s * s], [c * c, c - s, s * s * c]]


def projected(parameters: Any) -> Any:
    """Three numbers of nine: a rotation by angles, and a scale."""
    a, b, c = (parameters[..., i] for i in range(3))
    x, y, z = (parameters[..., i] for i in range(3, 6))
    x, y = x * pt.cos(a) - y * pt.sin(a), x * pt.sin(a) + y * pt.cos(a)
    y, z = y * pt.cos(b) - z * pt.sin(b), y * pt.sin(b) + z * pt.cos(b)
    z, x = z * pt.cos(c) - x * pt.sin(c), z * pt.sin(c) + x * pt.cos(c)
    return pt.stack([x, y, z], axis=-1) * parameters[..., 6:]


def camera_jacobian(jacobian: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    def form(parameters: Any) -> Any:
        one = pt.dvector("one", shape=(9,))
        return bt.vectorize_graph(jacobian(projected(one), one), {one: parameters})

    return form


def of_few_parameters(jacobian: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Many results of nine parameters."""

    def form(points: Any, parameters: Any) -> Any:
        return jacobian(
            (
                pt.exp(-((points * parameters[:3]) ** 2))
                + parameters[3:6] * pt.sin(points * parameters[6:])
            ).flatten(),
            parameters,
        )

    return form


def columns_times(a: Any, v: Any) -> Any:
    return sum((a[:, i] * v[i] for i in range(1, a.type.shape[1])), a[:, 0] * v[0])


def by_pow(t: Any) -> Any:
    return t[:, None] ** pt.arange(128)


def by_cumprod(t: Any) -> Any:
    return pt.cumprod(pt.where(pt.arange(128) > 0, t[:, None], 1.0), axis=1)


def forms() -> Iterator[Form]:
    yield Form(
        "powers 0 to 127 of 1,024 points, summed: by `pow`, by `cumprod`",
        lambda t: by_pow(t).sum(),
        lambda t: by_cumprod(t).sum(),
        [np.linspace(-1, 1, 1024)],
    )
    x, c = draws(10_000, 16), draws(1_000, 16)
    yield Form(
        "least of each row of a product: whole, in blocks of rows",
        lambda x, c: pt.sum(minima_of_product(x, c)),
        in_row_blocks,
        [x, c],
    )
    yield Form(
        "gradient of least of each row of a product: by `min`, by `argmin`",
        gradient_of_least,
        gradient_by_nearest,
        [x, c],
    )
    yield Form(
        "softmax of a product, times a matrix: whole, in blocks of rows",
        attention,
        attention_in_row_blocks,
        [draws(4096, 32), draws(2048, 32), draws(2048, 16)],
    )
    x, c = draws(10_000, 16), draws(100, 16)
    yield Form(
        "gradient of least distances: by `min`, by `argmin`",
        lambda x, c: bt.grad(pt.sum(pt.min(distances(x, c), axis=1)), c),
        by_nearest,
        [x, c],
    )
    yield Form(
        "squared distances: points as rows, as columns", distances, distances_along_rows, [x, c]
    )
    yield Form(
        "shared sub-expressions: stacks of stacks, one stack",
        lambda x: pt.stack([pt.stack(row, axis=1) for row in shared(x)], axis=1),
        lambda x: pt.stack([v for row in shared(x) for v in row], axis=0),
        [draws(10_000)],
    )
    yield Form(
        "Jacobian of 3 by 9 for each of 10,000: reverse, forward",
        camera_jacobian(bt.jacobian),
        camera_jacobian(bt.jacfwd),
        [draws(10_000, 9)],
    )
    yield Form(
        "Jacobian of 1,200 by 9: reverse, forward",
        of_few_parameters(bt.jacobian),
        of_few_parameters(bt.jacfwd),
        [draws(400, 3), draws(9)],
    )
    yield Form(
        "product [195, 5] @ v: as a product, by columns",
        lambda a, v: a @ v,
        columns_times,
        [draws(195, 5), draws(5)],
    )
    yield Form(
        "log-sum-exp of 5 densities of 1,000 points, gradient: last axis, first",
        mixture(1),
        mixture(0),
        [draws(1000), draws(5)],
    )
    yield Form(
        "einsum of [25, 20, 20] with [1000, 25, 20], squares summed: as nki, as kni",
        lambda q, x: (pt.einsum("kij,nkj->nki", q, x) ** 2).sum(axis=2),
        lambda q, x: (pt.einsum("kij,nkj->kni", q, x) ** 2).sum(axis=2).T,
        [draws(25, 20, 20), draws(1000, 25, 20)],
    )


def mixture(axis: int) -> Callable[..., Any]:
    def density(y: Any, mu: Any) -> Any:
        each = -0.5 * (pt.expand_dims(y, axis) - pt.expand_dims(mu, 1 - axis)) ** 2
        return bt.grad(pt.sum(pt.logsumexp(each, axis=axis)), mu)

    return density


def function_of(form: Callable[..., Any], arrays: list[np.ndarray]) -> Callable[[], Any]:
    variables = [
        pt.tensor(f"a{i}", dtype=array.dtype.name, shape=array.shape)
        for i, array in enumerate(arrays)
    ]
    function = bt.function(variables, form(*variables))
    return lambda: function(*arrays)


def seconds_of(*functions: Callable[[], Any], turns: int = 7, span: float = 0.02) -> list[float]:
    """The fastest call of each, in turns."""
    best = [float("inf")] * len(functions)
    for _ in range(turns):
        for i, function in enumerate(functions):
            end = time.perf_counter() + span
            while True:
                begin = time.perf_counter()
                function()
                now = time.perf_counter()
                best[i] = min(best[i], now - begin)
                if now > end:
                    break
    return best


def table() -> str:
    lines = ["| minimal form | natural, µs | other, µs | ratio |", "|---|---|---|---|"]
    for form in forms():
        natural, better = (
            function_of(form.natural, form.arrays),
            function_of(form.better, form.arrays),
        )
        a, b = np.asarray(natural()), np.asarray(better())
        if a.size != b.size or not np.allclose(
            np.sort(a.ravel()), np.sort(b.ravel()), rtol=1e-8, atol=1e-8
        ):
            raise SystemExit(f"{form.name}: the two forms differ")
        one, other = seconds_of(natural, better)
        lines.append(f"| {form.name} | {one * 1e6:,.2f} | {other * 1e6:,.2f} | {one / other:.2f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())

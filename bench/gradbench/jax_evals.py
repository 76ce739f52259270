"""GradBench's evals in JAX, in double precision: the same formulations as evals.py, jitted for the shapes of an input. Results are awaited."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import gammaln, logsumexp

from protocol import InputError, Prepared, count, floats, positions

jax.config.update("jax_enable_x64", True)

EVALS: dict[str, dict[str, Callable[[Any], Prepared]]] = {}


def to_lists(result: Any) -> Any:
    return np.asarray(result).tolist()


def jitted(
    function: Callable[..., Any], *values: Any, to_json: Callable[[Any], Any] = to_lists
) -> Prepared:
    arguments = [jnp.asarray(value) for value in values]
    compiled = jax.jit(function).lower(*arguments).compile()
    return Prepared(lambda: jax.block_until_ready(compiled(*arguments)), to_json)


def hello_input(input: Any) -> float:
    if isinstance(input, bool) or not isinstance(input, (int, float)):
        raise InputError("expected a number as input")
    return float(input)


EVALS["hello"] = {
    "square": lambda input: jitted(lambda x: x * x, hello_input(input)),
    "double": lambda input: jitted(jax.grad(lambda x: x * x), hello_input(input)),
}


def determinant(a: Any) -> Any:
    size = len(a)

    @functools.cache
    def minor(columns: tuple[int, ...]) -> Any:
        row = size - len(columns)
        if len(columns) == 1:
            return a[row, columns[0]]
        return sum(
            (-1) ** i * a[row, c] * minor(columns[:i] + columns[i + 1 :])
            for i, c in enumerate(columns)
        )

    return minor(tuple(range(size)))


def det_input(input: Any) -> np.ndarray:
    size = count(input, "ell")
    return floats(input, "A", (size * size,)).reshape(size, size)


EVALS["det"] = {
    "primal": lambda input: jitted(determinant, det_input(input)),
    "gradient": lambda input: jitted(lambda a: jax.grad(determinant)(a).ravel(), det_input(input)),
}


def llsq(x: Any, n: int) -> Any:
    t = -1.0 + jnp.arange(n) * 2.0 / (n - 1.0)
    powers = jnp.cumprod(jnp.where(jnp.arange(len(x)) > 0, t[:, None], 1.0), axis=1)
    return 0.5 * jnp.sum((jnp.sign(t) - powers @ x) ** 2)


def llsq_prepared(input: Any, transform: Callable[[Any], Any]) -> Prepared:
    return jitted(
        transform(functools.partial(llsq, n=count(input, "n"))), floats(input, "x", (None,))
    )


EVALS["llsq"] = {
    "primal": lambda input: llsq_prepared(input, lambda f: f),
    "gradient": lambda input: llsq_prepared(input, jax.grad),
}


def lse(x: Any) -> Any:
    largest = jnp.max(x)
    return largest + jnp.log(jnp.sum(jnp.exp(x - largest)))


EVALS["lse"] = {
    "primal": lambda input: jitted(lse, floats(input, "x", (None,))),
    "gradient": lambda input: jitted(jax.grad(lse), floats(input, "x", (None,))),
}


def ode(x: Any, s: int) -> Any:
    h = 2.0 / s

    def slope(y: Any) -> Any:
        return x * jnp.concatenate([jnp.ones(1), y[:-1]])

    def step(y: Any, _: Any) -> Any:
        k1 = slope(y)
        k2 = slope(y + h / 2 * k1)
        k3 = slope(y + h / 2 * k2)
        k4 = slope(y + h * k3)
        return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), None

    return jax.lax.scan(step, jnp.zeros_like(x), None, length=s)[0]


EVALS["ode"] = {
    "primal": lambda input: jitted(
        functools.partial(ode, s=count(input, "s")), floats(input, "x", (None,))
    ),
    "gradient": lambda input: jitted(
        jax.grad(lambda x: ode(x, count(input, "s"))[-1]), floats(input, "x", (None,))
    ),
}


def lstm(main: Any, extra: Any, state: Any, sequence: Any) -> Any:
    layers, width = len(main) // 2, extra.shape[1]
    gates = main.reshape(layers, 2, 4, width)

    def step(state: Any, inputs: Any) -> Any:
        x, gold = inputs
        new, y = [], x * extra[0]
        for layer in range(layers):
            hidden, cell = state[2 * layer], state[2 * layer + 1]
            weight, bias = gates[layer]
            forget, outgate = (jax.nn.sigmoid(y * weight[i] + bias[i]) for i in (0, 2))
            ingate, change = (
                jax.nn.sigmoid(hidden * weight[1] + bias[1]),
                jnp.tanh(hidden * weight[3] + bias[3]),
            )
            cell = cell * forget + ingate * change
            y = outgate * jnp.tanh(cell)
            new += [y, cell]
        predicted = y * extra[1] + extra[2]
        return jnp.stack(new), jnp.sum(
            gold * (predicted - jnp.log(jnp.sum(jnp.exp(predicted)) + 2.0))
        )

    losses = jax.lax.scan(step, state, (sequence[:-1], sequence[1:]))[1]
    return -jnp.sum(losses) / ((len(sequence) - 1) * width)


def lstm_gradient(*arguments: Any) -> Any:
    return jnp.concatenate([g.ravel() for g in jax.grad(lstm, argnums=(0, 1))(*arguments)])


def lstm_input(input: Any) -> list[np.ndarray]:
    extra = floats(input, "extra_params", (3, None))
    width = extra.shape[1]
    main = floats(input, "main_params", (None, 4 * width))
    return [
        main,
        extra,
        floats(input, "state", (len(main), width)),
        floats(input, "sequence", (None, width)),
    ]


EVALS["lstm"] = {
    "objective": lambda input: jitted(lstm, *lstm_input(input)),
    "jacobian": lambda input: jitted(lstm_gradient, *lstm_input(input)),
}


def kmeans(points: Any, centroids: Any) -> Any:
    """By products of matrices, as JAX's own tool computes distances: broadcast differences take it several times as long."""
    squares = jnp.sum(points**2, axis=1)[:, None] + jnp.sum(centroids**2, axis=1)[None]
    return jnp.sum(jnp.min(squares - 2 * points @ centroids.T, axis=1))


def newton_direction(points: Any, centroids: Any) -> Any:
    slope, curvature = jax.jvp(
        jax.grad(functools.partial(kmeans, points)), [centroids], [jnp.ones_like(centroids)]
    )
    return slope / curvature


def kmeans_input(input: Any) -> tuple[np.ndarray, np.ndarray]:
    points = floats(input, "points", (None, None))
    return points, floats(input, "centroids", (None, points.shape[1]))


EVALS["kmeans"] = {
    "cost": lambda input: jitted(kmeans, *kmeans_input(input)),
    "dir": lambda input: jitted(newton_direction, *kmeans_input(input)),
}


def gmm(alpha: Any, mu: Any, q: Any, lower: Any, x: Any, gamma: Any, m: Any) -> Any:
    (k, d), n = mu.shape, len(x)
    below = np.array([(i, j) for j in range(d) for i in range(j + 1, d)], dtype=int).reshape(-1, 2)
    diagonal = np.arange(d)
    root = (
        jnp.zeros((k, d, d))
        .at[:, diagonal, diagonal]
        .set(jnp.exp(q))
        .at[:, below[:, 0], below[:, 1]]
        .set(lower)
    )
    whitened = jnp.einsum("kij,nkj->nki", root, x[:, None] - mu[None])
    terms = alpha + jnp.sum(q, axis=1) - 0.5 * jnp.sum(whitened**2, axis=2)
    likelihood = (
        -0.5 * n * d * math.log(2 * math.pi)
        + jnp.sum(logsumexp(terms, axis=1))
        - n * logsumexp(alpha)
    )
    degrees = d + m + 1
    multigamma = 0.25 * d * (d - 1) * math.log(math.pi) + jnp.sum(
        gammaln(0.5 * degrees - 0.5 * np.arange(d))
    )
    normaliser = degrees * d * (jnp.log(gamma) - 0.5 * math.log(2.0)) - multigamma
    return likelihood - 0.5 * gamma**2 * jnp.sum(root**2) + m * jnp.sum(q) + k * normaliser


def gmm_input(input: Any) -> list[np.ndarray]:
    d, k, n = count(input, "d"), count(input, "k"), count(input, "n")
    shapes = {
        "alpha": (k,),
        "mu": (k, d),
        "q": (k, d),
        "l": (k, d * (d - 1) // 2),
        "x": (n, d),
        "gamma": (),
        "m": (),
    }
    return [floats(input, name, shape) for name, shape in shapes.items()]


def gmm_to_json(slopes: Any) -> Any:
    return {name: to_lists(slope) for name, slope in zip(("alpha", "mu", "q", "l"), slopes)}


EVALS["gmm"] = {
    "objective": lambda input: jitted(gmm, *gmm_input(input)),
    "jacobian": lambda input: jitted(
        jax.grad(gmm, argnums=(0, 1, 2, 3)), *gmm_input(input), to_json=gmm_to_json
    ),
}


def rotated(axis: Any, x: Any) -> Any:
    square = jnp.sum(axis**2)
    turns = square > 0
    angle = jnp.sqrt(jnp.where(turns, square, 1.0))
    unit = axis / angle
    turned = (
        x * jnp.cos(angle)
        + jnp.cross(unit, x) * jnp.sin(angle)
        + unit * (jnp.sum(unit * x) * (1 - jnp.cos(angle)))
    )
    return jnp.where(turns, turned, x + jnp.cross(axis, x))


def reprojection_error(parameters: Any, feature: Any) -> Any:
    camera, x, weight = parameters[:11], parameters[11:14], parameters[14]
    seen = rotated(camera[:3], x - camera[3:6])
    flat = seen[:2] / seen[2]
    square = jnp.sum(flat**2)
    distorted = flat * (1 + camera[9] * square + camera[10] * square**2)
    return weight * (distorted * camera[6] + camera[7:9] - feature)


def for_each_observation(
    one: Callable[[Any, Any], Any], cameras: Any, points: Any, weights: Any, features: Any
) -> Any:
    at = jnp.arange(len(weights))
    parameters = jnp.concatenate(
        [cameras[at % len(cameras)], points[at % len(points)], weights[:, None]], axis=1
    )
    return jax.vmap(one)(parameters, features)


def ba(*scene: Any) -> Any:
    return for_each_observation(reprojection_error, *scene), 1 - scene[2] ** 2


def ba_derivatives(*scene: Any) -> Any:
    blocks = for_each_observation(jax.jacrev(reprojection_error), *scene)
    return blocks, jax.grad(lambda w: jnp.sum(1 - w**2))(scene[2])


def ba_input(input: Any) -> list[np.ndarray]:
    n, m, p = count(input, "n"), count(input, "m"), count(input, "p")
    return [
        np.tile(floats(input, "cam", (11,)), (n, 1)),
        np.tile(floats(input, "x", (3,)), (m, 1)),
        np.full(p, floats(input, "w", ())),
        np.tile(floats(input, "feat", (2,)), (p, 1)),
    ]


def ba_to_json(results: Any) -> Any:
    errors, weights = results
    return {
        "reproj_error": {"elements": to_lists(errors[0]), "repeated": len(errors)},
        "w_err": {"element": float(weights[0]), "repeated": len(weights)},
    }


def ba_sample(input: Any, results: Any) -> Any:
    n, m, p = (input[name] for name in "nmp")
    blocks, last = results
    in_row = [*range(11), *(11 * n + i for i in range(3)), 11 * n + 3 * m]
    rows = np.concatenate([15 * np.arange(2 * p + 1), 30 * p + 1 + np.arange(p)])
    return {
        "rows": [*rows[:30].tolist(), int(rows[-1])],
        "cols": [*in_row, *in_row, 11 * n + 3 * m + p - 1],
        "vals": [*np.asarray(blocks[0]).ravel().tolist(), float(last[-1])],
    }


EVALS["ba"] = {
    "objective": lambda input: jitted(ba, *ba_input(input), to_json=ba_to_json),
    "jacobian": lambda input: jitted(
        ba_derivatives, *ba_input(input), to_json=functools.partial(ba_sample, input)
    ),
}


def euler_rotations(angles: Any) -> Any:
    x, z, y = angles.T
    one, zero = jnp.ones_like(x), jnp.zeros_like(x)

    def matrices(*rows: list[Any]) -> Any:
        return jnp.stack([jnp.stack(row, axis=1) for row in rows], axis=1)

    last = [zero, zero, zero, one]
    sx, cx, sy, cy, sz, cz = (f(a) for a in (x, y, z) for f in (jnp.sin, jnp.cos))
    about_x = matrices([one, zero, zero, zero], [zero, cx, -sx, zero], [zero, sx, cx, zero], last)
    about_y = matrices([cy, zero, sy, zero], [zero, one, zero, zero], [-sy, zero, cy, zero], last)
    about_z = matrices([cz, -sz, zero, zero], [sz, cz, zero, zero], [zero, zero, one, zero], last)
    return about_z @ about_y @ about_x


def rotation(axis: Any) -> Any:
    return jax.vmap(functools.partial(rotated, axis), out_axes=1)(jnp.eye(3))


def skin(
    theta: Any,
    parents: np.ndarray,
    relatives: Any,
    inverses: Any,
    base: Any,
    weights: Any,
    mirror: Any,
) -> Any:
    finger = 2 + 4 * np.arange(5)[:, None]
    rows, columns = (finger + np.array([0, 0, 1, 2])).ravel(), np.tile([0, 1, 0, 0], 5)
    posed = relatives @ euler_rotations(
        jnp.zeros((len(parents), 3)).at[rows, columns].set(theta[6:])
    )
    absolutes: list[Any] = []
    for bone, parent in enumerate(parents):
        absolutes.append(posed[bone] if parent < 0 else absolutes[parent] @ posed[bone])
    transforms = jnp.stack(absolutes) @ inverses
    vertices = jnp.einsum("vb,bij,vj->vi", weights, transforms[:, :3], base) * mirror
    return vertices @ rotation(theta[:3]).T + theta[3:6]


def ht(input: Any, is_derivative: bool) -> Prepared:
    data, model = input["data"], input["data"]["model"]
    bones = count(model, "bone_count")
    parents = positions(model, "parents", (bones,), bones, least=-1)
    base = floats(model, "base_positions", (None, 4))
    hand = (
        parents,
        floats(model, "base_relatives", (bones, 4, 4)),
        floats(model, "inverse_base_absolutes", (bones, 4, 4)),
        base,
        floats(model, "weights", (len(base), bones)),
        np.array([-1.0 if model["is_mirrored"] else 1.0, 1.0, 1.0]),
    )
    points, at = floats(data, "points", (None, 3)), np.array(data["correspondences"])
    theta = floats(input, "theta", (26,))

    def errors(theta: Any) -> Any:
        return (points - skin(theta, *hand)[at]).ravel()

    def errors_in_triangles(theta: Any, us: Any) -> Any:
        a, b, c = (skin(theta, *hand)[np.array(model["triangles"])[at, i]] for i in range(3))
        u, v = us[:, :1], us[:, 1:]
        return (points - (u * a + v * b + (1 - u - v) * c)).ravel()

    if not input.get("us"):
        return jitted(jax.jacfwd(errors) if is_derivative else errors, theta)

    def derivatives(theta: Any, us: Any) -> Any:
        tangents = [jnp.zeros_like(us).at[:, i].set(1.0) for i in range(2)]
        by_us = [
            jax.jvp(functools.partial(errors_in_triangles, theta), [us], [tangent])[1]
            for tangent in tangents
        ]
        return jnp.concatenate(
            [jnp.stack(by_us, axis=1), jax.jacfwd(errors_in_triangles)(theta, us)], axis=1
        )

    return jitted(
        derivatives if is_derivative else errors_in_triangles,
        theta,
        floats(input, "us", (len(points), 2)),
    )


EVALS["ht"] = {
    "objective": lambda input: ht(input, False),
    "jacobian": lambda input: ht(input, True),
}

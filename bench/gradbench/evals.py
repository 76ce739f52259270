"""GradBench's evals in Bitale's Python, each an expression as its specification writes it: https://github.com/gradbench/gradbench

`EVALS` has the functions of each eval by name. A function takes the input of a message and returns what its result is computed from: an
expression of named arguments, and their values."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

import bitale as bt
import bitale.tensor as pt
from protocol import InputError, Prepared, count, floats, positions

Expression = Any
EVALS: dict[str, dict[str, Callable[[Any], Prepared]]] = {}


def compiled(
    expression: Callable[..., Expression],
    to_json: Callable[[Any], Any] = lambda result: result.tolist(),
    **values: Any,
) -> Prepared:
    """The function of variables with these values' names and shapes."""
    arrays = {name: np.asarray(value) for name, value in values.items()}
    variables = {
        name: pt.tensor(name, dtype=array.dtype.name, shape=array.shape)
        for name, array in arrays.items()
    }
    function = bt.function(
        list(variables.values()), expression(**variables), on_unused_input="ignore"
    )
    return Prepared(functools.partial(function, *arrays.values()), to_json)


# ---- numbers and vectors --------------------------------------------------------------------------------------------


def number(input: Any) -> float:
    if isinstance(input, bool) or not isinstance(input, (int, float)):
        raise InputError("expected a number as input")
    return float(input)


EVALS["hello"] = {
    "square": lambda input: compiled(lambda x: x * x, x=number(input)),
    "double": lambda input: compiled(lambda x: bt.grad(x * x, x), x=number(input)),
}


def determinant(a: Expression) -> Expression:
    """Expansion by minors along the first row. A minor that several others contain is one expression."""
    size = a.type.shape[0]

    @functools.cache
    def minor(columns: tuple[int, ...]) -> Expression:
        row = size - len(columns)
        if len(columns) == 1:
            return a[row, columns[0]]
        total: Expression = 0.0
        for position, column in enumerate(columns):
            term = a[row, column] * minor(columns[:position] + columns[position + 1 :])
            total = total - term if position % 2 else total + term
        return total

    return minor(tuple(range(size)))


def det_input(input: Any) -> dict[str, Any]:
    size = count(input, "ell")
    return {"a": floats(input, "A", (size * size,)).reshape(size, size)}


EVALS["det"] = {
    "primal": lambda input: compiled(determinant, **det_input(input)),
    "gradient": lambda input: compiled(
        lambda a: bt.grad(determinant(a), a).flatten(), **det_input(input)
    ),
}


def llsq(x: Expression, n: Expression) -> Expression:
    t = -1.0 + pt.arange(n) * 2.0 / (n - 1.0)
    powers = pt.cumprod(pt.where(pt.arange(x.shape[0]) > 0, t[:, None], 1.0), axis=1)
    return 0.5 * pt.sum((pt.sign(t) - pt.dot(powers, x)) ** 2)


def llsq_input(input: Any) -> dict[str, Any]:
    return {"x": floats(input, "x", (None,)), "n": count(input, "n")}


EVALS["llsq"] = {
    "primal": lambda input: compiled(llsq, **llsq_input(input)),
    "gradient": lambda input: compiled(lambda x, n: bt.grad(llsq(x, n), x), **llsq_input(input)),
}


def lse(x: Expression) -> Expression:
    largest = pt.max(x)
    return largest + pt.log(pt.sum(pt.exp(x - largest)))


EVALS["lse"] = {
    "primal": lambda input: compiled(lse, x=floats(input, "x", (None,))),
    "gradient": lambda input: compiled(lambda x: bt.grad(lse(x), x), x=floats(input, "x", (None,))),
}


# ---- loops ----------------------------------------------------------------------------------------------------------


def ode(x: Expression, s: Expression) -> Expression:
    """Runge and Kutta's method of order 4 for y0' = x0, yi' = xi y(i-1), from 0 to 2 in s steps."""
    h = 2.0 / s

    def slope(y: Expression) -> Expression:
        return x * pt.concatenate([pt.ones(1), y[:-1]])

    def step(y: Expression) -> Expression:
        k1 = slope(y)
        k2 = slope(y + h / 2 * k1)
        k3 = slope(y + h / 2 * k2)
        k4 = slope(y + h * k3)
        return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    return bt.scan(step, outputs_info=[pt.zeros_like(x)], n_steps=s, return_updates=False)[-1]


def ode_input(input: Any) -> dict[str, Any]:
    return {"x": floats(input, "x", (None,)), "s": count(input, "s")}


EVALS["ode"] = {
    "primal": lambda input: compiled(ode, **ode_input(input)),
    "gradient": lambda input: compiled(lambda x, s: bt.grad(ode(x, s)[-1], x), **ode_input(input)),
}


def lstm(
    main: Expression, extra: Expression, state: Expression, sequence: Expression
) -> Expression:
    """Layers whose matrices are diagonal: rows of `main` are weights and biases of four gates, rows of `state` hidden and cell."""
    layers, width = main.type.shape[0] // 2, extra.type.shape[1]
    gates = main.reshape((layers, 2, 4, width))

    def step(x: Expression, gold: Expression, *states: Expression) -> list[Expression]:
        new, y = [], x * extra[0]
        for layer in range(layers):
            hidden, cell = states[2 * layer : 2 * layer + 2]
            weight, bias = gates[layer, 0], gates[layer, 1]
            forget = pt.sigmoid(y * weight[0] + bias[0])
            ingate = pt.sigmoid(hidden * weight[1] + bias[1])
            outgate = pt.sigmoid(y * weight[2] + bias[2])
            change = pt.tanh(hidden * weight[3] + bias[3])
            cell = cell * forget + ingate * change
            y = outgate * pt.tanh(cell)
            new += [y, cell]
        predicted = y * extra[1] + extra[2]
        return [*new, pt.sum(gold * (predicted - pt.log(pt.sum(pt.exp(predicted)) + 2.0)))]

    initial: list[Any] = [state[row] for row in range(2 * layers)]
    traces = bt.scan(
        step,
        sequences=[sequence[:-1], sequence[1:]],
        outputs_info=[*initial, None],
        return_updates=False,
    )
    return -pt.sum(traces[-1]) / ((sequence.shape[0] - 1) * width)


def lstm_gradient(
    main: Expression, extra: Expression, state: Expression, sequence: Expression
) -> Expression:
    return pt.concatenate(
        [g.flatten() for g in bt.grad(lstm(main, extra, state, sequence), [main, extra])]
    )


def lstm_input(input: Any) -> dict[str, Any]:
    extra = floats(input, "extra_params", (3, None))
    width = extra.shape[1]
    main = floats(input, "main_params", (None, 4 * width))
    if not len(main) or len(main) % 2:
        raise InputError("`main_params` must have two rows for each layer")
    sequence = floats(input, "sequence", (None, width))
    if len(sequence) < 2:
        raise InputError("`sequence` must have at least two rows")
    return {
        "main": main,
        "extra": extra,
        "state": floats(input, "state", (len(main), width)),
        "sequence": sequence,
    }


EVALS["lstm"] = {
    "objective": lambda input: compiled(lstm, **lstm_input(input)),
    "jacobian": lambda input: compiled(lstm_gradient, **lstm_input(input)),
}


# ---- gradients within what is differentiated ------------------------------------------------------------------------

STEPS = 1000  # more than any of the loops below makes

Derivative = Callable[[Expression, Expression], Expression]


def reverse(value: Expression, x: Expression) -> Expression:
    return bt.grad(value, x)


def forward(value: Expression, x: Expression) -> Expression:
    return pt.stack(
        [bt.pushforward(value, x, pt.constant(unit)) for unit in np.eye(x.type.shape[0])]
    )


def at(
    f: Callable[[Expression], Expression], derivative: Derivative, x: Expression
) -> tuple[Expression, Expression]:
    value = f(x)
    return value, derivative(value, x)


def descend(
    f: Callable[[Expression], Expression], derivative: Derivative, start: Expression
) -> Expression:
    """Where f is least, by gradient descent with steps that double after ten good ones and halve after a bad one."""

    def step(
        x: Expression, fx: Expression, gx: Expression, eta: Expression, good: Expression
    ) -> Any:
        is_flat = pt.sqrt(pt.sum(gx**2)) <= 1e-5
        doubles = pt.eq(good, 10)
        new = x - eta * gx
        is_near = pt.sqrt(pt.sum((new - x) ** 2)) <= 1e-5
        ends = pt.or_(is_flat, pt.and_(pt.invert(doubles), is_near))
        new_value, new_slope = at(f, derivative, new)
        moves = pt.and_(pt.invert(pt.or_(ends, doubles)), new_value < fx)
        eta = pt.switch(doubles, 2 * eta, pt.switch(pt.or_(moves, ends), eta, eta / 2))
        states = [pt.switch(moves, a, b) for a, b in ((new, x), (new_value, fx), (new_slope, gx))]
        return [*states, eta, pt.switch(moves, good + 1, 0)], bt.until(ends)

    value, slope = at(f, derivative, start)
    found = bt.scan(
        step,
        outputs_info=[start, value, slope, pt.constant(1e-5), pt.constant(np.int64(0))],
        n_steps=STEPS,
        return_updates=False,
    )
    return found[0][-1]


def saddle(outer: Derivative, inner: Derivative, start: Expression) -> Expression:
    def f(x: Expression, y: Expression) -> Expression:
        return pt.sum(x**2) - pt.sum(y**2)

    def highest(x: Expression) -> Expression:
        return descend(lambda y: -f(x, y), inner, bt.disconnected_grad(start))

    x = descend(lambda x: f(x, highest(x)), outer, start)
    return pt.concatenate([x, highest(x)])


def particle(outer: Derivative, inner: Derivative, w: Expression) -> Expression:
    """The control for which a charged particle, moved by Euler's method, meets the origin."""

    def potential(x: Expression, w: Expression) -> Expression:
        charges = pt.stack([pt.stack([10.0, 10.0 - w]), pt.stack([10.0, 0.0])])
        return pt.sum(1.0 / pt.sqrt(pt.sum((x - charges) ** 2, axis=1)))

    def miss(w: Expression) -> Expression:
        def step(x: Expression, v: Expression) -> Any:
            force = -at(lambda x: potential(x, w[0]), inner, x)[1]
            new = x + 0.1 * v
            hits = new[1] <= 0
            return [new, pt.switch(hits, v, v + 0.1 * force)], bt.until(hits)

        path = bt.scan(
            step,
            outputs_info=[pt.constant([0.0, 8.0]), pt.constant([0.75, 0.0])],
            n_steps=STEPS,
            return_updates=False,
        )
        x, v = path[0][-1], path[1][-1]
        return (x - x[1] / v[1] * v)[0] ** 2

    return descend(miss, outer, w[None])[0]


MODES = {"f": forward, "r": reverse}


def with_modes(
    expression: Callable[..., Expression], values: Callable[[Any], dict[str, Any]]
) -> dict[str, Callable[[Any], Prepared]]:
    def prepare(outer: str, inner: str, input: Any) -> Prepared:
        return compiled(functools.partial(expression, MODES[outer], MODES[inner]), **values(input))

    return {
        outer + inner: functools.partial(prepare, outer, inner)
        for outer in MODES
        for inner in MODES
    }


EVALS["saddle"] = with_modes(saddle, lambda input: {"start": floats(input, "start", (2,))})
EVALS["particle"] = with_modes(particle, lambda input: {"w": floats(input, "w", ())})


# ---- points and clusters --------------------------------------------------------------------------------------------


def kmeans(points: Expression, centroids: Expression) -> Expression:
    return pt.sum(pt.min(pt.sum((points[:, None] - centroids[None]) ** 2, axis=2), axis=1))


def newton_direction(points: Expression, centroids: Expression) -> Expression:
    """The Hessian is diagonal, so its product with ones is its diagonal."""
    slope = bt.grad(kmeans(points, centroids), centroids)
    return slope / bt.pushforward(slope, centroids, pt.ones_like(centroids))


def kmeans_input(input: Any) -> dict[str, Any]:
    points = floats(input, "points", (None, None))
    return {"points": points, "centroids": floats(input, "centroids", (None, points.shape[1]))}


EVALS["kmeans"] = {
    "cost": lambda input: compiled(kmeans, **kmeans_input(input)),
    "dir": lambda input: compiled(newton_direction, **kmeans_input(input)),
}


def gmm(
    alpha: Expression,
    mu: Expression,
    q: Expression,
    lower: Expression,
    x: Expression,
    gamma: Expression,
    m: Expression,
) -> Expression:
    """The log posterior of a mixture whose inverse covariances are Q'Q: Q has exp(q) on its diagonal and `lower`, column by column, below."""
    k, d = mu.type.shape
    n = x.shape[0]
    below = [(i, j) for j in range(d) for i in range(j + 1, d)]
    rows, columns = np.array(below, dtype=np.int64).reshape(-1, 2).T
    diagonal = np.arange(d)
    root = pt.zeros((k, d, d))[:, diagonal, diagonal].set(pt.exp(q))[:, rows, columns].set(lower)
    whitened = pt.einsum("kij,nkj->nki", root, x[:, None] - mu[None])
    terms = alpha + pt.sum(q, axis=1) - 0.5 * pt.sum(whitened**2, axis=2)
    likelihood = (
        -0.5 * n * d * math.log(2 * math.pi)
        + pt.sum(pt.logsumexp(terms, axis=1))
        - n * pt.logsumexp(alpha)
    )
    degrees = d + m + 1
    prior = -0.5 * gamma**2 * pt.sum(root**2) + m * pt.sum(q)
    normaliser = degrees * d * (pt.log(gamma) - 0.5 * math.log(2.0)) - log_multigamma(
        0.5 * degrees, d
    )
    return likelihood + prior + k * normaliser


def log_multigamma(a: Expression, d: int) -> Expression:
    return 0.25 * d * (d - 1) * math.log(math.pi) + pt.sum(pt.gammaln(a - 0.5 * np.arange(d)))


def gmm_gradients(**arguments: Expression) -> list[Expression]:
    return bt.grad(gmm(**arguments), [arguments[name] for name in ("alpha", "mu", "q", "lower")])


def gmm_to_json(results: Any) -> dict[str, Any]:
    return {name: result.tolist() for name, result in zip(("alpha", "mu", "q", "l"), results)}


def gmm_input(input: Any) -> dict[str, Any]:
    d, k, n = count(input, "d"), count(input, "k"), count(input, "n")
    return {
        "alpha": floats(input, "alpha", (k,)),
        "mu": floats(input, "mu", (k, d)),
        "q": floats(input, "q", (k, d)),
        "lower": floats(input, "l", (k, d * (d - 1) // 2)),
        "x": floats(input, "x", (n, d)),
        "gamma": floats(input, "gamma", ()),
        "m": floats(input, "m", ()),
    }


EVALS["gmm"] = {
    "objective": lambda input: compiled(gmm, **gmm_input(input)),
    "jacobian": lambda input: compiled(gmm_gradients, gmm_to_json, **gmm_input(input)),
}


# ---- geometry -------------------------------------------------------------------------------------------------------


def cross(a: Expression, b: Expression) -> Expression:
    return pt.stack(
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    )


def rotated(axis: Expression, x: Expression) -> Expression:
    """Rodrigues' rotation by a vector: its direction is the axis, its length the angle."""
    square = pt.sum(axis**2)
    turns = square > 0
    angle = pt.sqrt(pt.switch(turns, square, 1.0))
    unit = axis / angle
    turned = (
        x * pt.cos(angle)
        + cross(unit, x) * pt.sin(angle)
        + unit * (pt.sum(unit * x) * (1 - pt.cos(angle)))
    )
    return pt.switch(turns, turned, x + cross(axis, x))


def reprojection_error(parameters: Expression, feature: Expression) -> Expression:
    """Of one point in one camera: rotation, centre, focal length, principal point and distortion, the point, its weight."""
    camera, x, weight = parameters[:11], parameters[11:14], parameters[14]
    seen = rotated(camera[:3], x - camera[3:6])
    flat = seen[:2] / seen[2]
    square = pt.sum(flat**2)
    distorted = flat * (1 + camera[9] * square + camera[10] * square**2)
    return weight * (distorted * camera[6] + camera[7:9] - feature)


def observed(cameras: Expression, points: Expression, weights: Expression) -> Expression:
    """The parameters of each observation: camera and point are taken in turns."""
    at = pt.arange(weights.shape[0])
    return pt.concatenate(
        [cameras[at % cameras.shape[0]], points[at % points.shape[0]], weights[:, None]], axis=1
    )


def for_each_observation(
    one: Callable[[Expression, Expression], Expression],
    parameters: Expression,
    features: Expression,
) -> Expression:
    p, f = pt.dvector("parameters", shape=(15,)), pt.dvector("feature", shape=(2,))
    return bt.vectorize_graph(one(p, f), {p: parameters, f: features})


def ba(
    cameras: Expression, points: Expression, weights: Expression, features: Expression
) -> list[Expression]:
    return [
        for_each_observation(reprojection_error, observed(cameras, points, weights), features),
        1 - weights**2,
    ]


def ba_derivatives(
    cameras: Expression, points: Expression, weights: Expression, features: Expression
) -> list[Expression]:
    """The elements of the sparse Jacobian: for each observation two rows of 15, for each weight one."""

    def one(p: Expression, f: Expression) -> Expression:
        return bt.jacobian(reprojection_error(p, f), p)

    blocks = for_each_observation(one, observed(cameras, points, weights), features)
    return [blocks, bt.grad(pt.sum(1 - weights**2), weights)]


def ba_input(input: Any) -> dict[str, Any]:
    """The same camera, point, weight and feature for all."""
    cameras, points, observations = count(input, "n"), count(input, "m"), count(input, "p")
    return {
        "cameras": np.tile(floats(input, "cam", (11,)), (cameras, 1)),
        "points": np.tile(floats(input, "x", (3,)), (points, 1)),
        "weights": np.full(observations, floats(input, "w", ())),
        "features": np.tile(floats(input, "feat", (2,)), (observations, 1)),
    }


def ba_to_json(results: Any) -> dict[str, Any]:
    errors, weight_errors = results
    return {
        "reproj_error": {"elements": errors[0].tolist(), "repeated": len(errors)},
        "w_err": {"element": float(weight_errors[0]), "repeated": len(weight_errors)},
    }


def ba_sample(input: Any, results: Any) -> dict[str, Any]:
    """Of the sparse matrix by rows, which eval and tools agree to exchange only in part: the first 30 and the last of each vector."""
    n, m, p = (input[name] for name in "nmp")
    blocks, last = results
    in_rows = [*range(11), *(11 * n + i for i in range(3)), 11 * n + 3 * m]
    rows = np.concatenate([15 * np.arange(2 * p + 1), 30 * p + 1 + np.arange(p)])
    return {
        "rows": [*rows[:30].tolist(), int(rows[-1])],
        "cols": [*in_rows, *in_rows, 11 * n + 3 * m + p - 1],
        "vals": [*blocks[0].ravel().tolist(), float(last[-1])],
    }


EVALS["ba"] = {
    "objective": lambda input: compiled(ba, ba_to_json, **ba_input(input)),
    "jacobian": lambda input: compiled(
        ba_derivatives, functools.partial(ba_sample, input), **ba_input(input)
    ),
}


def euler_rotations(angles: Expression) -> Expression:
    """A matrix for each row of angles (about x, z and y), with a fourth row and column of the identity."""
    x, z, y = (angles[:, i] for i in range(3))
    one, zero = pt.ones_like(x), pt.zeros_like(x)

    def matrices(*rows: list[Expression]) -> Expression:
        return pt.stack([pt.stack(row, axis=1) for row in rows], axis=1)

    about_x = matrices(
        [one, zero, zero, zero],
        [zero, pt.cos(x), -pt.sin(x), zero],
        [zero, pt.sin(x), pt.cos(x), zero],
        [zero, zero, zero, one],
    )
    about_y = matrices(
        [pt.cos(y), zero, pt.sin(y), zero],
        [zero, one, zero, zero],
        [-pt.sin(y), zero, pt.cos(y), zero],
        [zero, zero, zero, one],
    )
    about_z = matrices(
        [pt.cos(z), -pt.sin(z), zero, zero],
        [pt.sin(z), pt.cos(z), zero, zero],
        [zero, zero, one, zero],
        [zero, zero, zero, one],
    )
    return about_z @ about_y @ about_x


def rotation(axis: Expression) -> Expression:
    """The matrix of Rodrigues' rotation; the identity for angles below 0.0001."""
    square = pt.sum(axis**2)
    turns = square >= 1e-8
    angle = pt.sqrt(pt.switch(turns, square, 1.0))
    x, y, z = (axis[i] / angle for i in range(3))
    s, c = pt.sin(angle), pt.cos(angle)
    turned = pt.stack(
        [
            pt.stack([x * x + (1 - x * x) * c, x * y * (1 - c) - z * s, x * z * (1 - c) + y * s]),
            pt.stack([x * y * (1 - c) + z * s, y * y + (1 - y * y) * c, y * z * (1 - c) - x * s]),
            pt.stack([x * z * (1 - c) - y * s, z * y * (1 - c) + x * s, z * z + (1 - z * z) * c]),
        ]
    )
    return pt.switch(turns, turned, np.eye(3))


class Hand:
    """A hand's skeleton and skin: constants of the expressions, but for the points that were measured."""

    def __init__(self, data: Any):
        model = data["model"]
        bones = count(model, "bone_count")
        self.parents = positions(model, "parents", (bones,), bones, least=-1)
        if any(parent >= bone for bone, parent in enumerate(self.parents)):
            raise InputError("`parents` must come before their children")
        self.relatives = floats(model, "base_relatives", (bones, 4, 4))
        self.inverses = floats(model, "inverse_base_absolutes", (bones, 4, 4))
        self.base = floats(model, "base_positions", (None, 4))
        self.weights = floats(model, "weights", (len(self.base), bones))
        self.mirror = np.array([-1.0 if model["is_mirrored"] else 1.0, 1.0, 1.0])
        self.triangles = positions(model, "triangles", (None, 3), len(self.base))
        self.points = floats(data, "points", (None, 3))

    def pose(self, theta: Expression) -> Expression:
        """Angles of each bone: wrist and fingertips have none, the first joint of a finger has two."""
        bones, columns = [], []
        for finger in range(5):
            first = 2 + 4 * finger
            bones += [first, first, first + 1, first + 2]
            columns += [0, 1, 0, 0]
        return pt.zeros((len(self.parents), 3))[np.array(bones), np.array(columns)].set(theta[6:])

    def skin(self, theta: Expression) -> Expression:
        relatives = self.relatives @ euler_rotations(self.pose(theta))
        absolutes: list[Expression] = []
        for bone, parent in enumerate(self.parents):
            absolutes.append(relatives[bone] if parent < 0 else absolutes[parent] @ relatives[bone])
        transforms = pt.stack(absolutes) @ self.inverses
        positions = (
            pt.einsum("vb,bij,vj->vi", self.weights, transforms[:, :3], self.base) * self.mirror
        )
        return positions @ rotation(theta[:3]).T + theta[3:6]

    def errors(self, theta: Expression, vertices: Any) -> Expression:
        return (self.points - self.skin(theta)[vertices]).flatten()

    def errors_in_triangles(self, theta: Expression, us: Expression, triangles: Any) -> Expression:
        corners = self.skin(theta)[self.triangles[triangles]]
        u, v = us[:, 0, None], us[:, 1, None]
        return (
            self.points - (u * corners[:, 0] + v * corners[:, 1] + (1 - u - v) * corners[:, 2])
        ).flatten()


def ht(input: Any, is_derivative: bool) -> Prepared:
    if (
        not isinstance(input, dict)
        or not isinstance(input.get("data"), dict)
        or not isinstance(input["data"].get("model"), dict)
    ):
        raise InputError("the input must have `data` with a `model`")
    hand = Hand(input["data"])
    theta = floats(input, "theta", (26,))
    points = len(hand.points)
    if not input.get("us"):
        vertices = positions(input["data"], "correspondences", (points,), len(hand.base))
        errors = functools.partial(hand.errors, vertices=vertices)
        return compiled(
            lambda theta: bt.jacfwd(errors(theta), theta) if is_derivative else errors(theta),
            theta=theta,
        )
    triangles = positions(input["data"], "correspondences", (points,), len(hand.triangles))

    def derivatives(theta: Expression, us: Expression) -> Expression:
        # Errors of a point depend on its own coordinates u only, so that two tangents give all derivatives by them.
        errors = hand.errors_in_triangles(theta, us, triangles)
        by_us = [bt.pushforward(errors, us, pt.zeros_like(us)[:, i].set(1.0)) for i in range(2)]
        return pt.concatenate([pt.stack(by_us, axis=1), bt.jacfwd(errors, theta)], axis=1)

    values = {"theta": theta, "us": floats(input, "us", (points, 2))}
    return compiled(
        derivatives
        if is_derivative
        else functools.partial(hand.errors_in_triangles, triangles=triangles),
        **values,
    )


EVALS["ht"] = {
    "objective": lambda input: ht(input, False),
    "jacobian": lambda input: ht(input, True),
}

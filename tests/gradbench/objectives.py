"""The functions of GradBench's evals in plain Python, as their specifications write them, for complex numbers: a derivative is the imaginary
part of a value at a point with a tiny imaginary part, which has no error of cancellation."""

from __future__ import annotations

import cmath
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

Number = complex
Vector = Sequence[Number]


def derivatives(f: Callable[[list[Number]], Number], x: Vector) -> list[float]:
    step = 1e-30
    return [f([*x[:i], x[i] + step * 1j, *x[i + 1 :]]).imag / step for i in range(len(x))]


def total(values: Any) -> Number:
    return sum(values, 0j)


def log_sum_exp(x: Vector) -> Number:
    largest = max(value.real for value in map(complex, x))
    return largest + cmath.log(total(cmath.exp(value - largest) for value in x))


def det(a: Vector) -> Number:
    size = math.isqrt(len(a))
    out = 0j
    for columns in itertools.permutations(range(size)):
        inversions = sum(left > right for left, right in itertools.combinations(columns, 2))
        out += (-1) ** inversions * math.prod(
            a[row * size + column] for row, column in enumerate(columns)
        )
    return out


def llsq(x: Vector, n: int) -> Number:
    out = 0j
    for i in range(n):
        t = -1 + 2 * i / (n - 1)
        out += (math.copysign(1, t) * (t != 0) - total(c * t**j for j, c in enumerate(x))) ** 2
    return out / 2


def ode(x: Vector, s: int) -> list[Number]:
    h, y = 2 / s, [0j] * len(x)

    def slope(y: Vector) -> list[Number]:
        return [x[0], *(x[i] * y[i - 1] for i in range(1, len(x)))]

    def moved(y: Vector, by: float, k: Vector) -> list[Number]:
        return [a + by * b for a, b in zip(y, k)]

    for _ in range(s):
        k1 = slope(y)
        k2 = slope(moved(y, h / 2, k1))
        k3 = slope(moved(y, h / 2, k2))
        k4 = slope(moved(y, h, k3))
        y = [a + h / 6 * (b + 2 * c + 2 * d + e) for a, b, c, d, e in zip(y, k1, k2, k3, k4)]
    return y


def lstm(
    parameters: Vector, layers: int, state: Sequence[Vector], sequence: Sequence[Vector]
) -> Number:
    """`parameters`: the main ones row by row, then the extra ones."""
    width = len(sequence[0])
    hidden, cell = (
        [list(state[2 * i]) for i in range(layers)],
        [list(state[2 * i + 1]) for i in range(layers)],
    )
    in_weight, out_weight, out_bias = (
        parameters[8 * layers * width + i * width :][:width] for i in range(3)
    )

    def gate(layer: int, which: int, unit: int, x: Number) -> Number:
        weights = parameters[8 * layer * width :]
        return x * weights[which * width + unit] + weights[(4 + which) * width + unit]

    def sigmoid(x: Number) -> Number:
        return 1 / (1 + cmath.exp(-x))

    out = 0j
    for x, gold in itertools.pairwise(sequence):
        y = [a * b for a, b in zip(x, in_weight)]
        for layer in range(layers):
            for i in range(width):
                change = cmath.tanh(gate(layer, 3, i, hidden[layer][i]))
                kept = cell[layer][i] * sigmoid(gate(layer, 0, i, y[i]))
                cell[layer][i] = kept + sigmoid(gate(layer, 1, i, hidden[layer][i])) * change
                hidden[layer][i] = sigmoid(gate(layer, 2, i, y[i])) * cmath.tanh(cell[layer][i])
            y = hidden[layer]
        predicted = [a * b + c for a, b, c in zip(y, out_weight, out_bias)]
        normaliser = cmath.log(total(map(cmath.exp, predicted)) + 2)
        out += total(a * (b - normaliser) for a, b in zip(gold, predicted))
    return -out / ((len(sequence) - 1) * width)


def kmeans(points: Sequence[Vector], centroids: Sequence[Vector]) -> Number:
    def distance(p: Vector, c: Vector) -> Number:
        return total((a - b) ** 2 for a, b in zip(p, c))

    return total(min((distance(p, c) for c in centroids), key=lambda d: d.real) for p in points)


def gmm(parameters: Vector, d: int, k: int, x: Sequence[Vector], gamma: float, m: int) -> Number:
    """`parameters`: alpha, then mu, q and l row by row."""
    below = d * (d - 1) // 2
    alpha, mu, q = parameters[:k], parameters[k : k + k * d], parameters[k + k * d : k + 2 * k * d]
    lower = parameters[k + 2 * k * d :]
    out = -0.5 * len(x) * d * math.log(2 * math.pi) - len(x) * log_sum_exp(alpha)
    for point in x:
        terms = []
        for c in range(k):
            centred = [point[i] - mu[c * d + i] for i in range(d)]
            whitened = [cmath.exp(q[c * d + i]) * centred[i] for i in range(d)]
            places = ((i, j) for j in range(d) for i in range(j + 1, d))
            for position, (i, j) in enumerate(places):
                whitened[i] += lower[c * below + position] * centred[j]
            terms.append(
                alpha[c] + total(q[c * d : c * d + d]) - 0.5 * total(w**2 for w in whitened)
            )
        out += log_sum_exp(terms)
    degrees = d + m + 1
    multigamma = 0.25 * d * (d - 1) * math.log(math.pi) + sum(
        math.lgamma(0.5 * degrees - 0.5 * j) for j in range(d)
    )
    out += k * (degrees * d * (math.log(gamma) - 0.5 * math.log(2)) - multigamma)
    return (
        out
        - 0.5 * gamma**2 * (total(cmath.exp(2 * v) for v in q) + total(v**2 for v in lower))
        + m * total(q)
    )


def cross(a: Vector, b: Vector) -> list[Number]:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def rotated(axis: Vector, x: Vector, least: float = 0.0) -> list[Number]:
    """Rodrigues' rotation; below a square of the angle of `least`, its linear part, or nothing where `least` is not 0."""
    square = total(a**2 for a in axis)
    if square.real <= least:
        return list(x) if least else [a + b for a, b in zip(x, cross(axis, x))]
    angle = cmath.sqrt(square)
    unit = [a / angle for a in axis]
    along = total(a * b for a, b in zip(unit, x)) * (1 - cmath.cos(angle))
    return [
        a * cmath.cos(angle) + b * cmath.sin(angle) + c * along
        for a, b, c in zip(x, cross(unit, x), unit)
    ]


def reprojection_error(parameters: Vector, feature: Vector) -> list[Number]:
    camera, x, weight = parameters[:11], parameters[11:14], parameters[14]
    seen = rotated(camera[:3], [a - b for a, b in zip(x, camera[3:6])])
    flat = [seen[0] / seen[2], seen[1] / seen[2]]
    square = flat[0] ** 2 + flat[1] ** 2
    factor = 1 + camera[9] * square + camera[10] * square**2
    return [weight * (flat[i] * factor * camera[6] + camera[7 + i] - feature[i]) for i in range(2)]


Matrix = list[list[Number]]


def product(a: Any, b: Any) -> Matrix:
    return [[total(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


def ht(theta: Vector, data: Any, us: Sequence[Vector]) -> list[Number]:
    model = data["model"]
    bones = model["bone_count"]
    pose: Matrix = [[0j] * 3 for _ in range(bones)]
    for finger in range(5):
        bend, spread, second, third = theta[6 + 4 * finger : 10 + 4 * finger]
        first = 2 + 4 * finger
        pose[first][0], pose[first][1], pose[first + 1][0], pose[first + 2][0] = (
            bend,
            spread,
            second,
            third,
        )
    absolutes: list[Matrix] = []
    for bone in range(bones):
        x, z, y = pose[bone]
        turn = [[0j, 0j, 0j, 0j] for _ in range(4)]
        for column in range(3):
            unit: list[Number] = [complex(i == column) for i in range(3)]
            for axis in ([x, 0j, 0j], [0j, y, 0j], [0j, 0j, z]):
                unit = rotated(axis, unit)
            for row in range(3):
                turn[row][column] = unit[row]
        turn[3][3] = 1
        relative = product(model["base_relatives"][bone], turn)
        parent = model["parents"][bone]
        absolutes.append(relative if parent < 0 else product(absolutes[parent], relative))
    transforms = [product(a, b) for a, b in zip(absolutes, model["inverse_base_absolutes"])]
    vertices = []
    for position, weights in zip(model["base_positions"], model["weights"]):
        at = [
            total(
                w * total(t * p for t, p in zip(transform[i], position))
                for w, transform in zip(weights, transforms)
            )
            for i in range(3)
        ]
        if model["is_mirrored"]:
            at[0] = -at[0]
        vertices.append([a + b for a, b in zip(rotated(theta[:3], at, least=1e-8), theta[3:6])])
    out = []
    for i, (point, where) in enumerate(zip(data["points"], data["correspondences"])):
        if us:
            u, v = us[i]
            a, b, c = (vertices[corner] for corner in model["triangles"][where])
            near = [u * x + v * y + (1 - u - v) * z for x, y, z in zip(a, b, c)]
        else:
            near = vertices[where]
        out += [x - y for x, y in zip(point, near)]
    return out

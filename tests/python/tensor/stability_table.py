"""Expressions as users write them, with exact formulas: their values and gradients must not depend on the way they are
written. Each row has the expression as a function of tensors, the same formula in mpmath, and points at the ends of its
range. test_stability.py checks every row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np

import bitale.tensor as pt

mp = mpmath.mp


@dataclass
class Row:
    """One expression. `build` takes tensor variables, `exact` mpmath numbers or (nested) lists of them; each point
    holds one value per argument. There are no derivatives with respect to arguments in `fixed`. `derivative` is the
    exact derivative, where finite differences in mpmath would take long; otherwise these are taken with `digits`
    digits."""

    text: str
    build: Callable[..., Any]
    exact: Callable[..., Any]
    points: list[tuple]
    fixed: tuple[int, ...] = ()
    derivative: Callable[..., Any] | None = None
    digits: int = 800
    value_ulp: float = 4
    gradient_ulp: float = 4
    floor: float = 0  # unit of the error for results that are smaller
    gradient_floor: float = 0  # the same for the gradient only
    why: str = ""  # reason why an error exceeds 4 ulp or is measured in units of `floor`


def sigmoid(x):
    return 1 / (1 + mp.exp(-x))


def each(*values):
    return [(value,) for value in values]


SMALL = (1e-300, -1e-300, 1e-20, -1e-20, 1e-9, -1e-9, 1e-3, -1e-3)
MEDIUM = (
    0.5,
    -0.5,
    1.0,
    -1.0,
    1.7,
    -1.7,
    3.0,
    -3.0,
    4.3,
    -4.3,
    10.1,
    -10.1,
    18.0,
    -18.0,
    25.3,
    -25.3,
    37.0,
    -37.0,
)
LARGE = (80.0, -80.0, 700.0, -700.0, 720.0, -720.0, 745.0, -745.0, 900.0, -900.0, 1e5, -1e5)
ALL = each(0.0, *SMALL, *MEDIUM, *LARGE)
POSITIVE = [p for p in ALL if p[0] > 0]
NEGATIVE = [p for p in ALL if p[0] < 0]
HUGE = each(1e150, -1e150, 1e200, -1e200, 1e300, -1e300)
PAIRS = [
    (0.3, -0.7),
    (1.0, 1.0),
    (900.0, 899.0),
    (-900.0, -899.0),
    (900.0, -900.0),
    (-1e5, 1e5),
    (720.0, 709.0),
    (0.0, 0.0),
    (1e-20, -1e-20),
    (-745.0, -745.0),
    (40.0, 0.0),
    (0.0, 40.0),
    (0.3, -3.1),
    (2.7, -1.9),
]

SCALARS = [
    Row("1 / (1 + exp(-x))", lambda x: 1 / (1 + pt.exp(-x)), sigmoid, ALL),
    Row("exp(x) / (1 + exp(x))", lambda x: pt.exp(x) / (1 + pt.exp(x)), sigmoid, ALL),
    Row("log1mexp(log1mexp(x))", lambda x: pt.log1mexp(pt.log1mexp(x)), lambda x: x, NEGATIVE),
    Row(
        "log1mexp(switch(x < 1, log1mexp(x), -inf))",
        lambda x: pt.log1mexp(pt.switch(x < 1, pt.log1mexp(x), -np.inf)),
        lambda x: x,
        NEGATIVE,
    ),
    Row("1 - sigmoid(x)", lambda x: 1 - pt.sigmoid(x), lambda x: sigmoid(-x), ALL),
    Row("log(sigmoid(x))", lambda x: pt.log(pt.sigmoid(x)), lambda x: mp.log(sigmoid(x)), ALL),
    Row(
        "log(1 - sigmoid(x))",
        lambda x: pt.log(1 - pt.sigmoid(x)),
        lambda x: mp.log(sigmoid(-x)),
        ALL,
    ),
    Row("log(1 + exp(x))", lambda x: pt.log(1 + pt.exp(x)), lambda x: mp.log1p(mp.exp(x)), ALL),
    Row(
        "log(exp(x) - 1)", lambda x: pt.log(pt.exp(x) - 1), lambda x: mp.log(mp.expm1(x)), POSITIVE
    ),
    Row(
        "log(1 - exp(x))", lambda x: pt.log(1 - pt.exp(x)), lambda x: mp.log(-mp.expm1(x)), NEGATIVE
    ),
    Row(
        "log(1 - exp(-exp(x)))",
        lambda x: pt.log(1 - pt.exp(-pt.exp(x))),
        lambda x: mp.log(-mp.expm1(-mp.exp(x))),
        each(0.0, *SMALL, *MEDIUM, *[p for p in LARGE if p < 700]),
        value_ulp=40,
        gradient_ulp=40,
        why="exp multiplies the rounding of its argument, exp(x), by exp(x)",
    ),
    Row(
        "(exp(x) - exp(-x)) / (exp(x) + exp(-x))",
        lambda x: (pt.exp(x) - pt.exp(-x)) / (pt.exp(x) + pt.exp(-x)),
        mp.tanh,
        ALL,
        gradient_floor=1,
        why="tanh' is 1 - tanh^2, whose rounding counts in units of 1: a second exponential would cost training more than it gives",
    ),
    Row(
        "(exp(2 * x) - 1) / (exp(2 * x) + 1)",
        lambda x: (pt.exp(2 * x) - 1) / (pt.exp(2 * x) + 1),
        mp.tanh,
        ALL,
        gradient_floor=1,
        why="tanh' is 1 - tanh^2, whose rounding counts in units of 1: a second exponential would cost training more than it gives",
    ),
    Row(
        "(1 - exp(-2 * x)) / (1 + exp(-2 * x))",
        lambda x: (1 - pt.exp(-2 * x)) / (1 + pt.exp(-2 * x)),
        mp.tanh,
        ALL,
        gradient_floor=1,
        why="tanh' is 1 - tanh^2, whose rounding counts in units of 1: a second exponential would cost training more than it gives",
    ),
    Row(
        "2 / (1 + exp(-2 * x)) - 1",
        lambda x: 2 / (1 + pt.exp(-2 * x)) - 1,
        mp.tanh,
        ALL,
        gradient_floor=1,
        why="tanh' is 1 - tanh^2, whose rounding counts in units of 1: a second exponential would cost training more than it gives",
    ),
    Row(
        "2 * sigmoid(2 * x) - 1",
        lambda x: 2 * pt.sigmoid(2 * x) - 1,
        mp.tanh,
        ALL,
        gradient_floor=1,
        why="tanh' is 1 - tanh^2, whose rounding counts in units of 1: a second exponential would cost training more than it gives",
    ),
    Row(
        "log(erfc(x))",
        lambda x: pt.log(pt.erfc(x)),
        lambda x: mp.log(mp.erfc(x)),
        ALL,
        derivative=lambda x: -2 / mp.sqrt(mp.pi) * mp.exp(-x * x) / mp.erfc(x),
    ),
    Row(
        "log(0.5 * erfc(-x / sqrt(2)))",
        lambda x: pt.log(0.5 * pt.erfc(-x / np.sqrt(2))),
        lambda x: mp.log(mp.erfc(-x / mp.sqrt(2)) / 2),
        ALL,
        derivative=lambda x: mp.sqrt(2 / mp.pi) * mp.exp(-x * x / 2) / mp.erfc(-x / mp.sqrt(2)),
    ),
    Row(
        "exp(x * x) * erfc(x)",
        lambda x: pt.exp(x * x) * pt.erfc(x),
        lambda x: mp.exp(x * x) * mp.erfc(x),
        [p for p in ALL if p[0] > -20],
        derivative=lambda x: 2 * x * mp.exp(x * x) * mp.erfc(x) - 2 / mp.sqrt(mp.pi),
        gradient_ulp=1000,
        why="erfcx' is 2 x erfcx(x) - 2 / sqrt(pi), which cancel: up to 2 x^2 ulp to x = 50, an asymptotic series beyond",
    ),
    Row(
        "1 - erf(x)",
        lambda x: 1 - pt.erf(x),
        mp.erfc,
        ALL,
        derivative=lambda x: -2 / mp.sqrt(mp.pi) * mp.exp(-x * x),
    ),
    Row(
        "log(gamma(x))",
        lambda x: pt.log(pt.gamma(x)),
        mp.loggamma,
        each(1e-300, 1e-20, 1e-3, 0.5, 1.5, 2.5, 10.0, 150.0, 172.0, 900.0, 1e5, 1e100, 1e300),
        derivative=lambda x: mp.psi(0, x),
        digits=100,
    ),
    Row(
        "log(exp(x) + exp(y))",
        lambda x, y: pt.log(pt.exp(x) + pt.exp(y)),
        lambda x, y: mp.log(mp.exp(x) + mp.exp(y)),
        PAIRS,
    ),
    Row(
        "log(a * exp(x) + b * exp(y))",
        lambda x, y, a, b: pt.log(a * pt.exp(x) + b * pt.exp(y)),
        lambda x, y, a, b: mp.log(a * mp.exp(x) + b * mp.exp(y)),
        [(*p, a, b) for p in PAIRS for a, b in ((0.3, 0.9), (1e-200, 5.0))],
        value_ulp=16,
        gradient_ulp=16,
        why="the shift is the larger exponent, not the larger term: weights that differ by 200 orders cost a few bits",
    ),
    Row(
        "log(0.3 * exp(x) + 0.9 * exp(y))",
        lambda x, y: pt.log(0.3 * pt.exp(x) + 0.9 * pt.exp(y)),
        lambda x, y: mp.log(mp.mpf(0.3) * mp.exp(x) + mp.mpf(0.9) * mp.exp(y)),
        PAIRS,
    ),
    Row(
        "log(exp(x) * exp(y))",
        lambda x, y: pt.log(pt.exp(x) * pt.exp(y)),
        lambda x, y: x + y,
        PAIRS,
    ),
    Row(
        "log(exp(x) / exp(y))",
        lambda x, y: pt.log(pt.exp(x) / pt.exp(y)),
        lambda x, y: x - y,
        PAIRS,
    ),
    Row(
        "log(exp(x) * exp(y) / exp(z))",
        lambda x, y, z: pt.log(pt.exp(x) * pt.exp(y) / pt.exp(z)),
        lambda x, y, z: x + y - z,
        [(700.0, 300.0, 500.0), (-900.0, -50.0, 3.0), (1.5, 2.5, -3.0)],
    ),
    Row(
        "log(exp(x) / (exp(x) + exp(y)))",
        lambda x, y: pt.log(pt.exp(x) / (pt.exp(x) + pt.exp(y))),
        lambda x, y: -mp.log1p(mp.exp(y - x)),
        PAIRS,
    ),
    Row(
        "exp(x) / (exp(x) + exp(y))",
        lambda x, y: pt.exp(x) / (pt.exp(x) + pt.exp(y)),
        lambda x, y: sigmoid(x - y),
        PAIRS,
    ),
    Row(
        "sqrt(x * x + y * y)",
        lambda x, y: pt.sqrt(x * x + y * y),
        lambda x, y: mp.sqrt(x * x + y * y),
        [
            (3.0, 4.0),
            (1e200, 1e200),
            (1e-200, 1e-200),
            (1e300, 1.0),
            (1e-300, 1e-160),
            (-3e250, 4e250),
            (1.0, 0.0),
        ],
    ),
    Row("log(cosh(x))", lambda x: pt.log(pt.cosh(x)), lambda x: mp.log(mp.cosh(x)), ALL),
    Row(
        "x / expm1(x)",
        lambda x: x / pt.expm1(x),
        lambda x: x / mp.expm1(x) if x else mp.mpf(1),
        ALL,
    ),
    Row(
        "x / (exp(x) - 1)",
        lambda x: x / (pt.exp(x) - 1),
        lambda x: x / mp.expm1(x) if x else mp.mpf(1),
        ALL,
    ),
    Row(
        "(exp(x) - 1) / x",
        lambda x: (pt.exp(x) - 1) / x,
        lambda x: mp.expm1(x) / x if x else mp.mpf(1),
        [p for p in ALL if p[0] < 705],
    ),
    Row(
        "log(1 - tanh(x)**2)",
        lambda x: pt.log(1 - pt.tanh(x) ** 2),
        lambda x: -2 * mp.log(mp.cosh(x)),
        ALL,
    ),
    Row(
        "log(p**k * (1 - p)**(n - k))",
        lambda p, k, n: pt.log(p**k * (1 - p) ** (n - k)),
        lambda p, k, n: k * mp.log(p) + (n - k) * mp.log1p(-p),
        [
            (0.31, 3.0, 10.0),
            (0.3, 2000.0, 5000.0),
            (1e-9, 5.0, 1e6),
            (0.999, 90000.0, 1e5),
            (1e-300, 3.0, 4.0),
        ],
        fixed=(1, 2),
        gradient_ulp=16,
        why="k / p and (n - k) / (1 - p) cancel, in the formula as in its derivative",
    ),
]


# ---- vectors and matrices -------------------------------------------------------------------------------------------


def logsumexp(values):
    high = max(values)
    return high + mp.log(mp.fsum(mp.exp(v - high) for v in values))


def nll(rows, labels):
    """The cross-entropy of labels, summed over rows."""
    return mp.fsum(logsumexp(row) - row[label] for row, label in zip(rows, labels))


LABELS = np.array([2, 0, 1])
ONE_HOT = np.eye(3)[LABELS]
LOGITS = [
    ([[0.3, -1.2, 2.0], [1.0, 0.0, 0.5], [-2.0, 3.0, 0.25]],),
    ([[900.0, 0.0, -900.0], [-1000.0, 1000.0, 0.0], [750.0, -750.0, 1.0]],),
    ([[40.0, 0.0, -40.0], [0.0, 1e-20, -1e-20], [1e5, -1e5, 3.0]],),
]
VECTORS = [
    ([0.3, -1.2, 2.0],),
    ([900.0, 0.0, -900.0],),
    ([-900.0, -901.0, -1000.0],),
    ([1e5, 1e5, 1e5],),
    ([720.0, 710.0, 745.0],),
]
WEIGHTS = [0.25, 1e-3, 3.0]


def softmax_by_hand(x):
    return pt.exp(x) / pt.exp(x).sum(axis=1, keepdims=True)


def cross_entropy(text, build, **options):
    return Row(text, build, lambda rows: nll(rows, LABELS), LOGITS, **options)


def mixture(x, mu, sigma, weights):
    return mp.log(
        mp.fsum(
            w * mp.exp(-(((x - m) / s) ** 2) / 2) / (s * mp.sqrt(2 * mp.pi))
            for m, s, w in zip(mu, sigma, weights)
        )
    )


MIXTURE = ([0.0, 3.0, -50.0], [1.0, 0.5, 2.0], [0.2, 0.5, 0.3])

TENSORS = [
    Row(
        "exp(x) / sum(exp(x))",
        lambda x: pt.exp(x) / pt.sum(pt.exp(x)),
        lambda x: [mp.exp(v - logsumexp(x)) for v in x],
        VECTORS,
        floor=1,
        why="the largest element's 1 is in the sum, and the gradient is a difference of terms near 1: errors count in units of 1",
    ),
    Row(
        "softmax(x)",
        lambda x: pt.special.softmax(x),
        lambda x: [mp.exp(v - logsumexp(x)) for v in x],
        VECTORS,
        floor=1,
        why="the largest element's 1 is in the sum, and the gradient is a difference of terms near 1: errors count in units of 1",
    ),
    Row(
        "log(softmax(x))",
        lambda x: pt.log(pt.special.softmax(x)),
        lambda x: [v - logsumexp(x) for v in x],
        VECTORS,
        floor=1,
        why="the largest element's 1 is in the sum, and the gradient is a difference of terms near 1: errors count in units of 1",
    ),
    Row(
        "log(exp(x) / sum(exp(x)))",
        lambda x: pt.log(pt.exp(x) / pt.sum(pt.exp(x))),
        lambda x: [v - logsumexp(x) for v in x],
        VECTORS,
        floor=1,
        why="the largest element's 1 is in the sum, and the gradient is a difference of terms near 1: errors count in units of 1",
    ),
    cross_entropy(
        "-sum(onehot * log(softmax(X)))",
        lambda x: -(ONE_HOT * pt.log(pt.special.softmax(x, axis=1))).sum(),
    ),
    cross_entropy(
        "-log(softmax(X))[arange(n), y]",
        lambda x: -pt.log(pt.special.softmax(x, axis=1))[pt.arange(3), LABELS].sum(),
    ),
    cross_entropy(
        "-log(softmax(X)[arange(n), y])",
        lambda x: -pt.log(pt.special.softmax(x, axis=1)[pt.arange(3), LABELS]).sum(),
    ),
    cross_entropy(
        "-log((exp(X) / sum(exp(X)))[arange(n), y])",
        lambda x: -pt.log(softmax_by_hand(x)[pt.arange(3), LABELS]).sum(),
    ),
    cross_entropy(
        "-log(take_along_axis(softmax(X), y))",
        lambda x: (
            -pt.log(pt.special.softmax(x, axis=1)[np.arange(3)[:, None], LABELS[:, None]]).sum()
        ),
    ),
    cross_entropy(
        "-log(softmax(X)[mask])",
        lambda x: -pt.log(pt.special.softmax(x, axis=1)[ONE_HOT.astype(bool)]).sum(),
    ),
    cross_entropy(
        "-log(sum(softmax(X) * onehot))",
        lambda x: -pt.log((pt.special.softmax(x, axis=1) * ONE_HOT).sum(axis=1)).sum(),
        gradient_ulp=16,
        why="the sum's and the softmax's gradients are added up before they cancel",
    ),
    cross_entropy(
        "-sum(dot(onehot, log(softmax(X)).T))",
        lambda x: -pt.dot(pt.log(pt.special.softmax(x, axis=1)).ravel(), ONE_HOT.ravel()),
    ),
    cross_entropy(
        "-sum(log(where(onehot, softmax(X), 1)))",
        lambda x: -pt.log(pt.where(ONE_HOT.astype(bool), pt.special.softmax(x, axis=1), 1.0)).sum(),
    ),
    cross_entropy(
        "-sum(where(onehot, log(softmax(X)), 0))",
        lambda x: -pt.where(ONE_HOT.astype(bool), pt.log(pt.special.softmax(x, axis=1)), 0.0).sum(),
    ),
    cross_entropy(
        "-log(softmax(X.T, axis=0).T[arange(n), y])",
        lambda x: -pt.log(pt.special.softmax(x.T, axis=0).T[pt.arange(3), LABELS]).sum(),
    ),
    Row("log(sum(exp(x)))", lambda x: pt.log(pt.sum(pt.exp(x))), logsumexp, VECTORS),
    Row(
        "log(mean(exp(x)))",
        lambda x: pt.log(pt.mean(pt.exp(x))),
        lambda x: logsumexp(x) - mp.log(len(x)),
        VECTORS,
    ),
    Row(
        "log(sum(w * exp(x)))",
        lambda x: pt.log(pt.sum(np.array(WEIGHTS) * pt.exp(x))),
        lambda x: logsumexp([v + mp.log(mp.mpf(w)) for v, w in zip(x, WEIGHTS)]),
        VECTORS,
    ),
    Row(
        "log(sum(exp(X), axis=(0, 1)))",
        lambda x: pt.log(pt.sum(pt.exp(x), axis=(0, 1))),
        lambda x: logsumexp([v for row in x for v in row]),
        LOGITS,
    ),
    Row(
        "log(sum(sum(exp(X), axis=1)))",
        lambda x: pt.log(pt.sum(pt.sum(pt.exp(x), axis=1))),
        lambda x: logsumexp([v for row in x for v in row]),
        LOGITS,
    ),
    Row(
        "log(sum(w * normal_density(x)))",
        lambda x: pt.log(
            pt.sum(
                np.array(MIXTURE[2])
                * pt.exp(-0.5 * ((x - np.array(MIXTURE[0])) / np.array(MIXTURE[1])) ** 2)
                / (np.array(MIXTURE[1]) * np.sqrt(2 * np.pi))
            )
        ),
        lambda x: mixture(x, *MIXTURE),
        [(0.25,), (40.0,), (-300.0,), (1e4,)],
    ),
    Row(
        "log(exp(-0.5 * ((x - mu) / s)**2) / (s * sqrt(2 * pi)))",
        lambda x, mu, s: pt.log(pt.exp(-0.5 * ((x - mu) / s) ** 2) / (s * np.sqrt(2 * np.pi))),
        lambda x, mu, s: -(((x - mu) / s) ** 2) / 2 - mp.log(s * mp.sqrt(2 * mp.pi)),
        [(0.25, 0.5, 2.0), (100.0, -3.0, 0.125), (1e5, 0.0, 1.0)],
    ),
    Row(
        "log(prod(x))",
        lambda x: pt.log(pt.prod(x)),
        lambda x: mp.fsum(mp.log(abs(v)) for v in x),
        [
            ([0.5, 2.5, 3.0],),
            ([1e-200, 1e-150, 3.0],),
            ([1e200, 1e150, 7.0],),
            ([-1e200, -1e150, 7.0],),
        ],
    ),
    Row(
        "log(prod(sigmoid(x)))",
        lambda x: pt.log(pt.prod(pt.sigmoid(x))),
        lambda x: mp.fsum(-mp.log1p(mp.exp(-v)) for v in x),
        [([0.5, 2.5, 3.0],), ([-900.0, 0.25, 900.0],)],
    ),
    Row(
        "log(max(softmax(x)))",
        lambda x: pt.log(pt.max(pt.special.softmax(x))),
        lambda x: max(x) - logsumexp(x),
        VECTORS[:3],
    ),
]

ROWS = SCALARS + TENSORS

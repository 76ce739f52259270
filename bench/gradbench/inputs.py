"""Inputs of GradBench's evals: drawn as its generators draw them, from seeds of our own. Where its data are files (ba, ht, lstm), they are
random data of the same form and sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def generator(*seed: int) -> np.random.Generator:
    return np.random.default_rng((31337, *seed))


def det(ell: int) -> dict[str, Any]:
    return {"A": generator(ell).random(ell * ell).tolist(), "ell": ell}


def llsq(n: int, m: int = 128) -> dict[str, Any]:
    return {"x": generator(n).random(m).tolist(), "n": n}


def lse(n: int) -> dict[str, Any]:
    return {"x": generator(n).uniform(-100, 100, n).tolist()}


def ode(n: int, s: int) -> dict[str, Any]:
    return {"x": generator(n, s).random(n).tolist(), "s": s}


def lstm(layers: int, characters: int, width: int = 14) -> dict[str, Any]:
    """Characters are rows of bits."""
    random = generator(layers, characters)
    return {
        "main_params": random.random((2 * layers, 4 * width)).tolist(),
        "extra_params": random.random((3, width)).tolist(),
        "state": random.random((2 * layers, width)).tolist(),
        "sequence": random.integers(0, 2, (characters, width)).tolist(),
    }


def kmeans(k: int, n: int, d: int) -> dict[str, Any]:
    """The last points are the centroids, so that no cluster is empty."""
    points = generator(k, n, d).random((n, d))
    return {"points": points.tolist(), "centroids": (points[-k:] + 1e-3).tolist()}


def gmm(d: int, k: int, n: int = 1000) -> dict[str, Any]:
    random = generator(d, k, n)
    return {
        "d": d,
        "k": k,
        "n": n,
        "m": 0,
        "gamma": 1.0,
        "x": random.normal(size=(n, d)).tolist(),
        "alpha": random.normal(size=k).tolist(),
        "mu": random.random((k, d)).tolist(),
        "q": random.normal(size=(k, d)).tolist(),
        "l": random.normal(size=(k, d * (d - 1) // 2)).tolist(),
    }


def ba(n: int, m: int, p: int) -> dict[str, Any]:
    random = generator(n, m, p)
    return {
        "n": n,
        "m": m,
        "p": p,
        "cam": random.normal(size=11).tolist(),
        "x": random.normal(size=3).tolist(),
        "w": float(random.random()),
        "feat": random.normal(size=2).tolist(),
    }


def ht(points: int, vertices: int, has_us: bool) -> dict[str, Any]:
    """A skeleton of a wrist, five fingers of four bones and a forearm, with random vertices that each hang on four bones."""
    random = generator(points, vertices, has_us)
    parents = [-1]
    for _ in range(5):
        parents += [0, *range(len(parents), len(parents) + 3)]
    parents.append(0)
    bones = len(parents)
    matrices = np.tile(np.eye(4), (2, bones, 1, 1))
    matrices[:, :, :3] += 0.1 * random.normal(size=(2, bones, 3, 4))
    weights = np.zeros((vertices, bones))
    for row in weights:
        row[random.choice(bones, 4, replace=False)] = 0.25
    triangles = random.integers(0, vertices, (2 * vertices, 3))
    out = {
        "theta": (0.3 * random.normal(size=26)).tolist(),
        "data": {
            "model": {
                "bone_count": bones, "bone_names": [f"bone {i}" for i in range(bones)], "parents": parents,
                "base_relatives": matrices[0].tolist(), "inverse_base_absolutes": matrices[1].tolist(),
                "base_positions": np.column_stack([random.normal(size=(vertices, 3)), np.ones(vertices)]).tolist(),
                "weights": weights.tolist(), "triangles": triangles.tolist(), "is_mirrored": False,
            },
            "correspondences": random.integers(0, len(triangles) if has_us else vertices, points).tolist(),
            "points": random.normal(size=(points, 3)).tolist(),
        },
        "us": random.random((points, 2)).tolist() if has_us else [],
    }  # fmt: skip
    return out


# The derivative of each eval, and its inputs by a short name: `small` for tests, `sizes` for the table.
DERIVATIVES = {
    "hello": "double", "det": "gradient", "llsq": "gradient", "lse": "gradient", "ode": "gradient", "lstm": "jacobian", "kmeans": "dir",
    "gmm": "jacobian", "ba": "jacobian", "ht": "jacobian", "saddle": "rr", "particle": "rr",
}  # fmt: skip

Inputs = dict[str, Callable[[], Any]]
SMALL: dict[str, Inputs] = {
    "hello": {"3": lambda: 3.0},
    "det": {"ell=5": lambda: det(5)},
    "llsq": {"n=16 m=5": lambda: llsq(16, 5)},
    "lse": {"n=100": lambda: lse(100)},
    "ode": {"n=9 s=10": lambda: ode(9, 10)},
    "lstm": {"l=2 c=6": lambda: lstm(2, 6, 3)},
    "kmeans": {"k=3 n=40 d=2": lambda: kmeans(3, 40, 2)},
    "gmm": {"d=3 k=4": lambda: gmm(3, 4, 20)},
    "ba": {"n=3 m=5 p=7": lambda: ba(3, 5, 7)},
    "ht": {"simple": lambda: ht(6, 30, False), "with us": lambda: ht(6, 30, True)},
    "saddle": {"1, 1": lambda: {"start": [1.0, 1.0]}},
    "particle": {"w=0": lambda: {"w": 0.0}},
}
SIZES: dict[str, Inputs] = {
    "det": {f"ell={ell}": lambda ell=ell: det(ell) for ell in (5, 7, 9)},
    "llsq": {f"n={n}": lambda n=n: llsq(n) for n in (64, 1024, 16392)},
    "lse": {f"n={n}": lambda n=n: lse(n) for n in (2500, 40000, 1280000)},
    "ode": {
        f"n={n} s={s}": lambda n=n, s=s: ode(n, s)
        for n, s in ((100, 100), (1000, 10), (1000, 100), (100000, 10))
    },
    "lstm": {
        f"l={layers} c={c}": lambda layers=layers, c=c: lstm(layers, c)
        for layers, c in ((2, 1024), (4, 4096))
    },
    "kmeans": {
        f"k={k} n={n} d={d}": lambda k=k, n=n, d=d: kmeans(k, n, d)
        for k, n, d in ((10, 1000, 8), (100, 10000, 16), (1000, 10000, 16))
    },
    "gmm": {
        f"d={d} k={k}": lambda d=d, k=k: gmm(d, k)
        for d, k in ((2, 5), (10, 25), (20, 50), (64, 25))
    },
    "ba": {
        f"n={n} m={m} p={p}": lambda n=n, m=m, p=p: ba(n, m, p)
        for n, m, p in ((49, 7776, 31843), (21, 11315, 36455))
    },
    "ht": {
        f"{'us ' if us else ''}{p} points": lambda us=us, p=p: ht(p, 544, us)
        for us in (False, True)
        for p in (100, 1000)
    },
    "saddle": SMALL["saddle"],
    "particle": SMALL["particle"],
}

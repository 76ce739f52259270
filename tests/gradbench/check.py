#!/usr/bin/env python3
"""Talks to a tool for GradBench: values and derivatives are those of plain Python by complex steps, and what can't be answered gets an error.

Usage: check.py [--derivatives] COMMAND [ARGUMENT...]

With --derivatives only those that the tool has are asked for: one beside which Bitale's is measured. Where the command has not been built, the
status is 77."""

from __future__ import annotations

import json
import math
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import objectives as by_hand

Case = tuple[str, str, Any, Any]  # eval, function, input, expected output
PRIMALS = ("square", "primal", "objective", "cost")


class Tool:
    """A process that answers a line by a line."""

    def __init__(self, command: list[str]):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def reply(self, line: str) -> Any:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit(f"the tool ended with status {self.process.wait()} at: {line[:200]}")
        return json.loads(answer)

    def ask(self, **message: Any) -> Any:
        return self.reply(json.dumps(message))

    def end(self) -> int:
        assert self.process.stdin
        self.process.stdin.close()
        return self.process.wait()


# ---- what evals give ------------------------------------------------------------------------------------------------


def draws(count: int, *lengths: int) -> Any:
    """Numbers between -1 and 1, in lists of these lengths."""
    if lengths:
        return [draws(lengths[0], *lengths[1:]) for _ in range(count)]
    return [random.uniform(-1, 1) for _ in range(count)]


def flat(values: Any) -> list[float]:
    return (
        [number for each in values for number in flat(each)]
        if isinstance(values, list)
        else [values]
    )


def rows(values: list[float], width: int) -> list[list[float]]:
    return [values[i : i + width] for i in range(0, len(values), width)] if width else []


def simple_cases() -> Iterator[Case]:
    for x in (3, -1.5, 0.0):
        yield "hello", "square", x, x * x
        yield "hello", "double", x, 2 * x
    for ell in (1, 2, 5):
        a = draws(ell * ell)
        yield "det", "primal", {"A": a, "ell": ell}, by_hand.det(a).real
        yield "det", "gradient", {"A": a, "ell": ell}, by_hand.derivatives(by_hand.det, a)
    for n, m in ((2, 1), (9, 4)):
        x = draws(m)
        yield "llsq", "primal", {"x": x, "n": n}, by_hand.llsq(x, n).real
        yield (
            "llsq",
            "gradient",
            {"x": x, "n": n},
            by_hand.derivatives(lambda x, n=n: by_hand.llsq(x, n), x),
        )
    for x in ([0.0], [-700.0, 800.0, 799.5], draws(40)):
        yield "lse", "primal", {"x": x}, by_hand.log_sum_exp(x).real
        yield "lse", "gradient", {"x": x}, by_hand.derivatives(by_hand.log_sum_exp, x)


def loop_cases() -> Iterator[Case]:
    for n, s in ((1, 1), (5, 7)):
        x = draws(n)
        yield "ode", "primal", {"x": x, "s": s}, [y.real for y in by_hand.ode(x, s)]
        yield (
            "ode",
            "gradient",
            {"x": x, "s": s},
            by_hand.derivatives(lambda x, s=s: by_hand.ode(x, s)[-1], x),
        )
    for layers, width, length in ((1, 1, 2), (2, 3, 5)):
        main, extra, state, sequence = (
            draws(2 * layers, 4 * width),
            draws(3, width),
            draws(2 * layers, width),
            draws(length, width),
        )
        data = {"main_params": main, "extra_params": extra, "state": state, "sequence": sequence}

        def loss(
            p: Any, layers: int = layers, state: Any = state, sequence: Any = sequence
        ) -> complex:
            return by_hand.lstm(p, layers, state, sequence)

        yield "lstm", "objective", data, loss(flat([main, extra])).real
        yield "lstm", "jacobian", data, by_hand.derivatives(loss, flat([main, extra]))
    for function in ("ff", "fr", "rf", "rr"):  # the results that GradBench publishes
        yield "saddle", function, {"start": [1.0, 1.0]}, [8.246324826140356e-06] * 4
        yield "particle", function, {"w": 0.0}, 0.2071918746486116


def cluster_cases() -> Iterator[Case]:
    for k, n, d in ((1, 4, 1), (3, 20, 2)):
        points = draws(n, d)
        centroids = [[x + 1e-3 for x in point] for point in points[-k:]]
        data = {"points": points, "centroids": centroids}

        def nearest(point: Any, centroids: Any = centroids) -> int:
            return min(range(len(centroids)), key=lambda j: math.dist(point, centroids[j]))

        yield "kmeans", "cost", data, by_hand.kmeans(points, centroids).real
        members = [[p for p in points if nearest(p) == j] for j in range(k)]
        mean = [[sum(column) / len(own) for column in zip(*own)] for own in members]
        yield (
            "kmeans",
            "dir",
            data,
            [[a - b for a, b in zip(c, m)] for c, m in zip(centroids, mean)],
        )
    for d, k, n, m in ((1, 1, 3, 0), (3, 2, 5, 2)):
        below = d * (d - 1) // 2
        alpha, mu, q, lower, x = draws(k), draws(k, d), draws(k, d), draws(k, below), draws(n, d)
        data = {
            "d": d,
            "k": k,
            "n": n,
            "m": m,
            "gamma": 1.25,
            "alpha": alpha,
            "mu": mu,
            "q": q,
            "l": lower,
            "x": x,
        }

        def posterior(p: Any, d: int = d, k: int = k, x: Any = x, m: int = m) -> complex:
            return by_hand.gmm(p, d, k, x, 1.25, m)

        parameters = flat([alpha, mu, q, lower])
        slopes = by_hand.derivatives(posterior, parameters)
        ends = [k, k + k * d, k + 2 * k * d]
        yield "gmm", "objective", data, posterior(parameters).real
        yield (
            "gmm",
            "jacobian",
            data,
            {
                "alpha": slopes[: ends[0]],
                "mu": rows(slopes[ends[0] : ends[1]], d),
                "q": rows(slopes[ends[1] : ends[2]], d),
                "l": rows(slopes[ends[2] :], below) if below else [[]] * k,
            },
        )


def camera_cases() -> Iterator[Case]:
    for rotation in ([0.0, 0.0, 0.0], draws(3)):
        n, m, p = 2, 3, 5
        camera, point, weight, feature = (
            [*rotation, *draws(3), 1.5, *draws(4)],
            [0.3, -0.2, 4.0],
            0.75,
            draws(2),
        )
        data = {"n": n, "m": m, "p": p, "cam": camera, "x": point, "w": weight, "feat": feature}
        parameters = [*camera, *point, weight]

        def error(i: int, feature: Any = feature) -> Callable[[Any], complex]:
            return lambda z: by_hand.reprojection_error(z, feature)[i]

        yield (
            "ba",
            "objective",
            data,
            {
                "reproj_error": {
                    "elements": [error(i)(parameters).real for i in range(2)],
                    "repeated": p,
                },
                "w_err": {"element": 1 - weight**2, "repeated": p},
            },
        )
        values = [
            *by_hand.derivatives(error(0), parameters),
            *by_hand.derivatives(error(1), parameters),
        ]
        columns = [*range(11), *range(11 * n, 11 * n + 3), 11 * n + 3 * m]
        starts = [*range(0, 30 * p + 1, 15), *range(30 * p + 1, 31 * p + 1)]
        yield (
            "ba",
            "jacobian",
            data,
            {
                "rows": [*starts[:30], starts[-1]],
                "cols": [*columns, *columns, 11 * n + 3 * m + p - 1],
                "vals": [*values, -2 * weight],
            },
        )


def hand_cases() -> Iterator[Case]:
    bones, vertices, count = 22, 6, 4
    parents = [-1, 0] + [bone - 1 if (bone - 2) % 4 else 1 for bone in range(2, bones)]

    def near_identity() -> list[list[float]]:
        return [
            [float(i == j) + (0.1 * random.uniform(-1, 1) if i < 3 else 0.0) for j in range(4)]
            for i in range(4)
        ]

    for is_mirrored, has_us, is_still in (
        (False, False, False),
        (True, True, False),
        (False, False, True),
    ):
        theta = draws(26)
        if is_still:
            theta[:3] = [0.0, 0.0, 0.0]
        triangles = [random.sample(range(vertices), 3) for _ in range(5)]
        model = {
            "bone_count": bones,
            "bone_names": [str(bone) for bone in range(bones)],
            "parents": parents,
            "base_relatives": [near_identity() for _ in range(bones)],
            "inverse_base_absolutes": [near_identity() for _ in range(bones)],
            "base_positions": [[*draws(3), 1.0] for _ in range(vertices)],
            "weights": draws(vertices, bones),
            "triangles": triangles,
            "is_mirrored": is_mirrored,
        }
        correspondences = [
            random.randrange(len(triangles) if has_us else vertices) for _ in range(count)
        ]
        data = {"model": model, "correspondences": correspondences, "points": draws(count, 3)}
        us = draws(count, 2) if has_us else []
        input = {"theta": theta, "data": data, "us": us}
        yield "ht", "objective", input, [x.real for x in by_hand.ht(theta, data, us)]
        step, columns = 1e-30, []
        for i in range(2 if has_us else 0):
            moved = [[u + step * 1j * (i == j) for j, u in enumerate(row)] for row in us]
            columns.append([x.imag / step for x in by_hand.ht(theta, data, moved)])
        for i in range(26):
            columns.append(
                [
                    x.imag / step
                    for x in by_hand.ht(
                        [*theta[:i], theta[i] + step * 1j, *theta[i + 1 :]], data, us
                    )
                ]
            )
        yield "ht", "jacobian", input, [list(row) for row in zip(*columns)]


def cases() -> Iterator[Case]:
    random.seed(7)
    for part in (simple_cases, loop_cases, cluster_cases, camera_cases, hand_cases):
        yield from part()


def difference(expected: Any, got: Any) -> float:
    """The largest difference of two outputs, relative to the largest number; infinite where they differ in form."""
    if isinstance(expected, dict):
        if not isinstance(got, dict) or expected.keys() != got.keys():
            return math.inf
        return max(difference(expected[key], got[key]) for key in expected)
    if isinstance(expected, list):
        if not isinstance(got, list) or shape(expected) != shape(got):
            return math.inf
    elif not isinstance(got, (int, float)):
        return math.inf
    pairs = list(zip(flat(expected), flat(got)))
    if any(not isinstance(b, (int, float)) for _, b in pairs):
        return math.inf
    size = max((abs(a) for a, _ in pairs), default=0.0)
    return max((abs(a - b) for a, b in pairs), default=0.0) / max(size, 1e-3)


def shape(values: Any) -> Any:
    return [shape(each) for each in values] if isinstance(values, list) else 0


# ---- what can't be answered -----------------------------------------------------------------------------------------

POINTS = {"points": [[0.0, 1.0], [1.0, 2.0]], "centroids": [[0.0, 0.5]]}


def evaluate(module: str, function: str, input: Any) -> str:
    return json.dumps(
        {"id": 7, "kind": "evaluate", "module": module, "function": function, "input": input}
    )


REFUSED = [
    # a line, words of its error
    ("{", ["not JSON"]),
    ("", ["not JSON"]),
    ("[" * 100_000, ["not JSON"]),
    (r'{"id": 7, "kind": "evaluate", "module": "\ud800"}', ["there is no eval", "not JSON"]),
    ("3", ["expected an object"]),
    ('{"id": 7}', ["kind"]),
    ('{"id": 7, "kind": "define", "module": "weather"}', ["there is no eval `weather`"]),
    ('{"id": 7, "kind": "evaluate"}', ["module", "there is no eval"]),
    (evaluate("weather", "rain", {}), ["there is no eval `weather`"]),
    (evaluate("llsq", "rain", {}), ["there is no function of llsq `rain`"]),
    ('{"id": 7, "kind": "evaluate", "module": "llsq", "function": "primal"}', ["has no `input`"]),
    (evaluate("hello", "square", "three"), ["expected a number"]),
    (evaluate("lse", "primal", [1.0]), ["expected an object"]),
    (evaluate("lse", "primal", {}), ["has no field `x`"]),
    (evaluate("lse", "primal", {"x": ["a"]}), ["`x` must be"]),
    (evaluate("lse", "primal", {"x": [[1.0], [1.0, 2.0]]}), ["`x` must be"]),
    (evaluate("lse", "primal", {"x": []}), ["max"]),
    (evaluate("lse", "primal", {"x": [1.0], "min_runs": 0}), ["min_runs"]),
    (evaluate("lse", "primal", {"x": [1.0], "min_seconds": -1}), ["min_seconds"]),
    (evaluate("llsq", "primal", {"x": [1.0], "n": 0}), ["`n` must be an integer from 1"]),
    (evaluate("det", "primal", {"A": [1.0, 2.0, 3.0], "ell": 2}), ["`A` must be of shape"]),
    (evaluate("kmeans", "dir", {**POINTS, "centroids": [[1.0]]}), ["`centroids` must be"]),
    (
        evaluate("gmm", "jacobian", {"d": 2, "k": 1, "n": 1, "alpha": [0.0, 0.0]}),
        ["`alpha` must be of shape"],
    ),
    (evaluate("ht", "jacobian", {"theta": [0.0] * 26, "data": {}}), ["model"]),
]


def wrong(name: str, reply: Any, expected: Any) -> str | None:
    """What is wrong with a reply, if anything."""
    if not reply.get("success"):
        return f"{name}: {reply}"
    error = difference(expected, reply["output"])
    return (
        None
        if error <= 1e-9
        else f"{name} is off by {error:g}: expected {str(expected)[:300]}, got {str(reply['output'])[:300]}"
    )


def problems_of_derivatives(tool: Tool) -> Iterator[str]:
    """Of those that the tool has."""
    checked = 0
    for module, function, input, expected in cases():
        if function in PRIMALS or not tool.ask(id=1, kind="define", module=module)["success"]:
            continue
        checked += 1
        if problem := wrong(
            f"{module}.{function}",
            tool.ask(id=2, kind="evaluate", module=module, function=function, input=input),
            expected,
        ):
            yield problem
    if not checked:
        yield "the tool has no eval"
    if status := tool.end():
        yield f"the tool ended with status {status}"


def problems(tool: Tool) -> Iterator[str]:
    if tool.ask(id=0, kind="start", eval="hello").get("id") != 0:
        yield "start: the reply has another id"
    if tool.ask(id="a", kind="analysis", of=0, valid=True).get("id") != "a":
        yield "analysis: the reply has another id"
    for module, function, input, expected in cases():
        if tool.ask(id=1, kind="define", module=module) != {"id": 1, "success": True}:
            yield f"{module} can't be defined"
        reply = tool.ask(id=2, kind="evaluate", module=module, function=function, input=input)
        if problem := wrong(f"{module}.{function}", reply, expected):
            yield problem
        if not reply.get("success"):
            continue
        names = [timing["name"] for timing in reply["timings"]]
        if names != ["prepare", "evaluate"] or any(
            not isinstance(timing["nanoseconds"], int) for timing in reply["timings"]
        ):
            yield f"{module}.{function}: timings are {reply['timings']}"
    runs = tool.ask(
        id=3, kind="evaluate", module="lse", function="primal", input={"x": [1.0], "min_runs": 3}
    )["timings"]
    if [timing["name"] for timing in runs] != ["prepare", *["evaluate"] * 3]:
        yield f"three runs have the timings {runs}"
    for line, words in REFUSED:
        reply = tool.reply(line)
        if reply.get("success") is not False or not any(
            word in reply.get("error", "") for word in words
        ):
            yield f"{line[:200]} gets {str(reply)[:300]}, not an error with {words}"
    status = tool.end()
    if status:
        yield f"the tool ended with status {status}"


def main() -> None:
    derivatives = sys.argv[1:2] == ["--derivatives"]
    command = sys.argv[1 + derivatives :]
    if not command:
        raise SystemExit(__doc__)
    if not shutil.which(command[0]):
        print(f"{command[0]} is not built")
        raise SystemExit(77)
    found = list((problems_of_derivatives if derivatives else problems)(Tool(command)))
    if found:
        raise SystemExit("\n".join(found))


if __name__ == "__main__":
    main()

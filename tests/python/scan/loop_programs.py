"""Random programs of nested loops and choices, each run by two machines: plain Python on NumPy values, and Bitale.

A program is a tree of tuples (what, *parts). Values are floats, vectors of floats and small integers; numbers of steps, bounds
of slices and choices depend on values at will, also on elements and states of loops around them. A choice guards what would fail: an
index out of range, the last result of a loop without steps. So a machine that computes a side that is not taken raises.
"""

from __future__ import annotations

import random
from typing import Any, Callable

import numpy as np

import bitale as bt
import bitale.tensor as pt
from bitale.ifelse import ifelse
from bitale.scan import until

KINDS = ("float", "vector", "int")


class Generator:
    """Draws programs. `scope`: the names that an expression may use, by kind."""

    def __init__(self, seed: int, depth: int = 3):
        self.random = random.Random(seed)
        self.depth = depth
        self.names = 0

    def program(self) -> Any:
        scope = {"float": ["a", "b"], "vector": ["x", "y"], "int": ["n", "m"]}
        return self.loop("float", self.depth, scope)

    def pick(self, options: list[Callable[[], Any]]) -> Any:
        return self.random.choice(options)()

    def new_name(self, kind: str) -> str:
        self.names += 1
        return f"{kind[0]}{self.names}"

    def expression(self, kind: str, depth: int, scope: dict[str, list[str]]) -> Any:
        leaf = lambda: ("name", self.random.choice(scope[kind]))  # noqa: E731
        if depth <= 0:
            return leaf()
        return self.pick([leaf, *getattr(self, kind)(depth - 1, scope)])

    def float(self, depth: int, scope: Any) -> list[Callable[[], Any]]:
        of = lambda kind: self.expression(kind, depth, scope)  # noqa: E731
        return [
            lambda: ("tanh", of("float")),
            lambda: ("product", of("float"), of("float")),
            lambda: ("plus", of("float"), of("float")),
            lambda: ("constant", self.random.choice([0.0, 0.5, -1.25])),
            lambda: ("total", of("vector")),
            lambda: ("element", of("vector"), of("int"), of("float")),
            lambda: ("choice", self.condition(depth, scope), of("float"), of("float")),
            lambda: self.loop("float", depth, scope),
            lambda: self.loop("float", depth, scope),
        ]

    def vector(self, depth: int, scope: Any) -> list[Callable[[], Any]]:
        of = lambda kind: self.expression(kind, depth, scope)  # noqa: E731
        return [
            lambda: ("tanh", of("vector")),
            lambda: ("product", of("float"), of("vector")),
            lambda: ("shift", of("vector"), of("float")),
            lambda: ("front", of("vector"), of("int")),
            lambda: ("reverse", of("vector")),
            lambda: ("choice", self.condition(depth, scope), of("vector"), of("vector")),
            lambda: self.loop("vector", depth, scope),
        ]

    def int(self, depth: int, scope: Any) -> list[Callable[[], Any]]:
        of = lambda kind: self.expression(kind, depth, scope)  # noqa: E731
        return [
            lambda: ("number", self.random.randint(0, 3)),
            lambda: ("modulo", of("int"), self.random.randint(2, 4)),
            lambda: ("length", of("vector")),
            lambda: ("above", of("float")),
        ]

    def condition(self, depth: int, scope: Any) -> Any:
        return self.pick(
            [
                lambda: ("positive", self.expression("float", depth, scope)),
                lambda: (
                    "less",
                    self.expression("int", depth, scope),
                    self.expression("int", depth, scope),
                ),
            ]
        )

    def loop(self, kind: str, depth: int, scope: Any) -> Any:
        """Over a sequence, numbers, or a count of steps; the result is a last state, or the trace of a float."""
        over = self.pick(
            [
                lambda: ("steps", self.expression("int", depth - 1, scope)),
                lambda: ("numbers", self.expression("int", depth - 1, scope)),
                lambda: ("elements", self.expression("vector", depth - 1, scope)),
            ]
        )
        inner = {each: list(names) for each, names in scope.items()}
        element = None
        if over[0] != "steps":
            element = self.new_name("int" if over[0] == "numbers" else "float")
            inner["int" if over[0] == "numbers" else "float"].append(element)
        states = []
        for state_kind in self.random.choice(
            [("float",), ("vector",), ("float", "vector"), ("float", "int")]
        ):
            name = self.new_name(state_kind)
            inner[state_kind].append(name)
            states.append((state_kind, name, self.expression(state_kind, depth - 1, scope)))
        # Names that were added last are more likely: steps should use them.
        for each in inner.values():
            each.extend(each[-2:])
        nexts = [self.next_state(each, name, depth, inner) for each, name, _ in states]
        ends = (
            "positive",
            ("plus", self.expression("float", depth - 1, inner), ("constant", -0.6)),
        )
        floats = [k for k, each in enumerate(states) if each[0] == "float"]
        vectors = [k for k, each in enumerate(states) if each[0] == "vector"]
        result = ("trace", self.random.choice(floats)) if kind == "vector" and floats else None
        if kind == "vector" and vectors and (result is None or self.random.random() < 0.3):
            result = ("last", self.random.choice(vectors))
        if kind == "float":
            what = self.random.choice(["last", "final"])
            result = (
                (what, floats[0])
                if floats and self.random.random() < 0.7
                else ("sum", self.random.randrange(len(states)))
            )
        return (
            "loop",
            over,
            element,
            states,
            nexts,
            ends if self.random.random() < 0.25 else None,
            result,
        )

    def next_state(self, kind: str, name: str, depth: int, inner: Any) -> Any:
        if kind == "float":
            return ("tanh", ("plus", self.expression("float", depth - 1, inner), ("name", name)))
        if kind == "int":
            return ("modulo", ("plus", self.expression("int", depth - 1, inner), ("name", name)), 4)
        # A vector keeps its length.
        own = ("name", name)
        return self.pick(
            [
                lambda: ("tanh", ("product", self.expression("float", depth - 1, inner), own)),
                lambda: ("shift", own, self.expression("float", depth - 1, inner)),
                lambda: ("plus", own, self.expression("float", depth - 1, inner)),
                lambda: ("reverse", ("tanh", own)),
                lambda: ("choice", self.condition(depth - 1, inner), ("tanh", own), own),
            ]
        )


class Plain:
    """Runs programs on NumPy values. `margin`: how near a condition came to changing."""

    def __init__(self) -> None:
        self.margin = np.inf

    def name(self, env: Any, name: str) -> Any:
        return env[name]

    def run(self, tree: Any, env: Any) -> Any:
        return getattr(self, tree[0])(env, *tree[1:])

    def tanh(self, env: Any, x: Any) -> Any:
        return np.tanh(self.run(x, env))

    def product(self, env: Any, x: Any, y: Any) -> Any:
        return self.run(x, env) * self.run(y, env)

    def plus(self, env: Any, x: Any, y: Any) -> Any:
        return self.run(x, env) + self.run(y, env)

    def constant(self, env: Any, value: float) -> Any:
        return value

    def number(self, env: Any, value: int) -> Any:
        return value

    def total(self, env: Any, x: Any) -> Any:
        return np.sum(self.run(x, env))

    def element(self, env: Any, x: Any, i: Any, other: Any) -> Any:
        values, at = self.run(x, env), self.run(i, env)
        return values[at] if at < len(values) else self.run(other, env)

    def choice(self, env: Any, condition: Any, x: Any, y: Any) -> Any:
        return self.run(x if self.run(condition, env) else y, env)

    def shift(self, env: Any, x: Any, value: Any) -> Any:
        values = self.run(x, env)
        return np.concatenate([values, [self.run(value, env)]])[1:]

    def front(self, env: Any, x: Any, n: Any) -> Any:
        return self.run(x, env)[: self.run(n, env)]

    def reverse(self, env: Any, x: Any) -> Any:
        return self.run(x, env)[::-1]

    def modulo(self, env: Any, n: Any, by: int) -> Any:
        return self.run(n, env) % by

    def length(self, env: Any, x: Any) -> Any:
        return len(self.run(x, env))

    def above(self, env: Any, x: Any) -> Any:
        return 2 if self.positive(env, x) else 1

    def positive(self, env: Any, x: Any) -> Any:
        value = self.run(x, env)
        self.margin = min(self.margin, abs(value))
        return value > 0

    def less(self, env: Any, n: Any, m: Any) -> Any:
        return self.run(n, env) < self.run(m, env)

    def loop(
        self, env: Any, over: Any, element: Any, states: Any, nexts: Any, ends: Any, result: Any
    ) -> Any:
        whole = self.run(over[1], env)
        sequence = whole if over[0] == "elements" else range(whole)
        values = [self.run(initial, env) for _, _, initial in states]
        traces: list[list[Any]] = [[] for _ in states]
        for each in sequence:
            inner = {**env, **{name: value for (_, name, _), value in zip(states, values)}}
            if element is not None:
                inner[element] = each
            values = [self.run(tree, inner) for tree in nexts]
            stops = ends is not None and self.run(ends, inner)
            for trace, value in zip(traces, values):
                trace.append(value)
            if stops:
                break
        what, k = result
        if what in ("last", "final"):
            return values[k]
        return np.array(traces[k], dtype=float) if what == "trace" else np.sum(traces[k])


class Symbolic(Plain):
    """Builds the same of variables."""

    def tanh(self, env: Any, x: Any) -> Any:
        return pt.tanh(self.run(x, env))

    def constant(self, env: Any, value: float) -> Any:
        return pt.constant(value, dtype="float64")

    def number(self, env: Any, value: int) -> Any:
        return pt.constant(value, dtype="int64")

    def total(self, env: Any, x: Any) -> Any:
        return self.run(x, env).sum()

    def element(self, env: Any, x: Any, i: Any, other: Any) -> Any:
        values, at = self.run(x, env), self.run(i, env)
        return ifelse(pt.lt(at, values.shape[0]), values[at], self.run(other, env))

    def choice(self, env: Any, condition: Any, x: Any, y: Any) -> Any:
        return ifelse(self.run(condition, env), self.run(x, env), self.run(y, env))

    def shift(self, env: Any, x: Any, value: Any) -> Any:
        return pt.concatenate([self.run(x, env), self.run(value, env)[None]])[1:]

    def length(self, env: Any, x: Any) -> Any:
        return self.run(x, env).shape[0]

    def above(self, env: Any, x: Any) -> Any:
        return pt.switch(
            self.positive(env, x), pt.constant(2, dtype="int64"), pt.constant(1, dtype="int64")
        )

    def positive(self, env: Any, x: Any) -> Any:
        return pt.gt(self.run(x, env), 0)

    def less(self, env: Any, n: Any, m: Any) -> Any:
        return pt.lt(self.run(n, env), self.run(m, env))

    def loop(
        self, env: Any, over: Any, element: Any, states: Any, nexts: Any, ends: Any, result: Any
    ) -> Any:
        whole = self.run(over[1], env)
        sequences = {
            "steps": None,
            "numbers": lambda: [pt.arange(whole)],
            "elements": lambda: [whole],
        }[over[0]]

        def step(*given: Any) -> Any:
            names = ([element] if element is not None else []) + [name for _, name, _ in states]
            inner = {**env, **dict(zip(names, given))}
            values = [self.run(tree, inner) for tree in nexts]
            return (values, until(self.run(ends, inner))) if ends is not None else values

        initial = [self.run(tree, env) for _, _, tree in states]
        traces = bt.scan(
            step,
            sequences() if sequences else None,
            initial,
            n_steps=whole if over[0] == "steps" else None,
            return_list=True,
            return_updates=False,
        )
        what, k = result
        if what == "last" and traces[k].type.shape[0] == 0:  # known when the graph is built
            return initial[k]
        if what == "last":
            return ifelse(pt.gt(traces[k].shape[0], 0), traces[k][-1], initial[k])
        if what == "final":
            return pt.concatenate([initial[k][None], traces[k]])[-1]
        return traces[k] if what == "trace" else pt.cast(traces[k].sum(), "float64")


def has_guards(program: Any) -> bool:
    """Whether a side of a choice would fail if it were computed in vain."""
    return isinstance(program, (tuple, list)) and (
        (len(program) > 0 and program[0] in ("element", "last"))
        or any(has_guards(part) for part in program)
    )


def inputs() -> dict[str, Any]:
    return {
        "a": pt.dscalar("a"),
        "b": pt.dscalar("b"),
        "x": pt.dvector("x"),
        "y": pt.dvector("y"),
        "n": pt.lscalar("n"),
        "m": pt.lscalar("m"),
    }


def values(seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {
        "a": float(rng.normal()),
        "b": float(rng.normal()),
        "x": rng.normal(size=rng.integers(1, 4)),
        "y": rng.normal(size=rng.integers(0, 4)),
        "n": int(rng.integers(0, 4)),
        "m": int(rng.integers(0, 3)),
    }


def slopes(program: Any, at: dict[str, Any], step: float = 1e-6) -> dict[str, Any]:
    """Central differences by the floats and vectors of the inputs."""
    out = {}
    for name in ("a", "b", "x", "y"):
        value = np.array(at[name], dtype=float)
        slope = np.zeros_like(value)
        for i in np.ndindex(*value.shape):
            sides = []
            for sign in (1, -1):
                moved = value.copy()
                moved[i] += sign * step
                sides.append(
                    Plain().run(program, {**at, name: moved if moved.ndim else float(moved)})
                )
            slope[i] = (sides[0] - sides[1]) / (2 * step)
        out[name] = slope
    return out

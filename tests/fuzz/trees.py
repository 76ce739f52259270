"""Random values made of others, as inputs, outputs, states and variables of derivatives: what a function of trees gives must be what
the function of their leaves gives.

    python -m fuzz.trees [--seconds S | --programs N] [--seed FIRST]
"""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections import namedtuple
from typing import Any

import numpy as np

import bitale as bt
import bitale.tensor as pt

from . import programs

Pair = namedtuple("Pair", "first second")


@dataclasses.dataclass
class Record:
    x: Any
    more: Any
    kind: str = dataclasses.field(default="record", metadata={"static": True})


class Box:
    def __init__(self, *parts: Any):
        self.parts = parts


bt.register_tree(Box, lambda box: (box.parts, len(box.parts)), lambda _, parts: Box(*parts))


def drawn(rng: np.random.Generator, leaf: Any, depth: int = 3) -> Any:
    """A value with leaf() for each leaf."""
    kind = rng.integers(8) if depth else 7
    if kind == 7:
        return leaf()
    parts = [drawn(rng, leaf, depth - 1) for _ in range(rng.integers(0, 4))]
    while kind in (3, 4) and len(parts) < 2:
        parts.append(drawn(rng, leaf, depth - 1))
    if kind == 0:
        return parts
    if kind == 1:
        return tuple(parts)
    if kind == 2:
        return {f"k{k}" if rng.integers(2) else k: part for k, part in enumerate(parts)}
    if kind == 3:
        return Pair(*parts[:2])
    if kind == 4:
        return Record(*parts[:2])
    return Box(*parts) if kind == 5 else None


def reordered(rng: np.random.Generator, value: Any) -> Any:
    """The same with the keys of dicts in another order, and copies of containers."""
    if type(value) is dict:
        keys = list(value)
        rng.shuffle(keys)  # type: ignore[arg-type]
        return {key: reordered(rng, value[key]) for key in keys}
    if type(value) in (list, tuple):
        return type(value)(reordered(rng, each) for each in value)
    if isinstance(value, Pair):
        return Pair(*(reordered(rng, each) for each in value))
    if isinstance(value, Box):
        return Box(*(reordered(rng, each) for each in value.parts))
    if isinstance(value, Record):
        return dataclasses.replace(
            value, x=reordered(rng, value.x), more=reordered(rng, value.more)
        )
    return value


def same(one: Any, other: Any) -> int:
    """How many leaves were compared."""
    a, b = bt.tree.flatten(one), bt.tree.flatten(other)
    assert a[1] == b[1] and hash(a[1]) == hash(b[1]), f"{a[1]} and {b[1]}"
    for x, y in zip(a[0], a[1].flatten_like(other)):
        np.testing.assert_array_equal(x, y)
    return len(a[0])


def check(seed: int) -> int:
    rng = np.random.default_rng(seed)
    variables: list[Any] = []
    values: list[Any] = []

    def variable() -> Any:
        ndim = int(rng.integers(3))
        variables.append(pt.tensor(f"v{len(variables)}", dtype="float64", shape=(None,) * ndim))
        values.append(rng.normal(size=(2,) * ndim))
        return variables[-1]

    given = [drawn(rng, variable) for _ in range(rng.integers(1, 4))]
    given = [each if bt.tree.leaves(each) else {"only": variable()} for each in given]
    leaves, form = bt.tree.flatten(given)
    known = dict(zip(variables, values))
    variables, values = leaves, [known[each] for each in leaves]  # some were drawn for nothing
    arguments = form.unflatten(values)
    assert isinstance(arguments, list)

    def result() -> Any:
        a, b = (variables[rng.integers(len(variables))] for _ in range(2))
        return pt.sin(a).sum() * b if rng.integers(4) else a

    outputs = drawn(rng, result)
    cost = sum(
        ((k + 1.5) * pt.sqr(each).sum() for k, each in enumerate(variables)), pt.constant(0.0)
    )
    slopes = bt.grad(cost, given)
    results = {"outputs": outputs, "slopes": slopes, "inputs": given}
    flat, result_form = bt.tree.flatten(results)
    of_leaves = bt.function(variables, flat, on_unused_input="ignore")
    expected = result_form.unflatten(of_leaves(*values))
    f = bt.function(given, results, on_unused_input="ignore")
    compared = 0
    for made in (f, f.copy(), copy.deepcopy(f)):
        compared += same(made(*reordered(rng, arguments)), expected)
    if seed % 4 == 0:
        compared += same(pickle.loads(pickle.dumps(f))(*arguments), expected)
    jitted = bt.jit(lambda *args: bt.tree.map(lambda x: 2 * x, args))
    compared += same(
        jitted(*arguments), tuple(bt.tree.map(lambda x: 2 * x, each) for each in arguments)
    )
    steps = bt.scan(
        lambda state: bt.tree.map(lambda x: 2 * x, state),
        outputs_info=[{"state": given}],
        n_steps=2,
        return_updates=False,
    )
    loop = bt.function(given, steps["state"], on_unused_input="ignore")(*arguments)
    return compared + same(loop, bt.tree.map(lambda x: np.stack([2 * x, 4 * x]), arguments))


if __name__ == "__main__":
    raise SystemExit(programs.run("fuzz.trees", __doc__, check))

"""Random values made of others, sparse matrices and labelled tensors among them, as inputs, outputs, states and variables of
derivatives: what a function of trees gives must be what the function of their leaves gives.

    python -m fuzz.trees [--seconds S | --programs N] [--seed FIRST]
"""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections import namedtuple
from typing import Any

import numpy as np
import scipy.sparse

import bitale as bt
import bitale.tensor as pt
from bitale import sparse
from bitale import xtensor as px
from bitale.scan import fori_loop

from . import programs

try:
    import xarray
except ImportError:
    xarray = None

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


def is_object(x: Any) -> bool:
    """Whether it is a sparse matrix or a labelled tensor."""
    return isinstance(x, (sparse.SparseVariable, px.XTensorVariable))


def sparse_value(rng: np.random.Generator) -> Any:
    rows, columns = (int(n) for n in rng.integers(0, 4, 2))
    dense = rng.normal(size=(rows, columns)) * (rng.random((rows, columns)) < 0.6)
    return rng.choice([scipy.sparse.csr_array, scipy.sparse.csc_array])(dense)


def drawn_object(rng: np.random.Generator, name: str) -> tuple[Any, Any]:
    """A sparse or labelled variable and a value of it."""
    if rng.integers(2):
        value = sparse_value(rng)
        pattern = {"pattern": value} if rng.integers(2) else {}
        return sparse.matrix(value.format, name, **pattern), value
    dims = ("a", "b")[: rng.integers(3)]
    array = rng.normal(size=(2, 3)[: len(dims)])
    coords = {"a": ["x", "y"]} if "a" in dims and rng.integers(2) else {}
    own = [px.Dim(dim, coords=coords[dim]) if dim in coords else dim for dim in dims]
    value = array if xarray is None else xarray.DataArray(array, dims=dims, coords=coords)
    return px.xtensor(name, dims=own, dtype="float64"), value


def doubled(tree: Any) -> Any:
    return bt.tree.map(lambda x: 2 * x, tree, is_leaf=is_object)


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
    if xarray is not None and isinstance(value, xarray.DataArray):
        return value.transpose(*rng.permutation(np.array(value.dims, dtype=object)))
    return value


def equal(x: Any, y: Any) -> None:
    if scipy.sparse.issparse(y):
        assert type(x) is type(y) and x.shape == y.shape
        for part in ("data", "indices", "indptr"):
            np.testing.assert_array_equal(getattr(x, part), getattr(y, part))
    elif xarray is not None and isinstance(y, xarray.DataArray):
        assert x.equals(y), f"{x} and {y}"  # but for the name
    else:
        np.testing.assert_array_equal(x, y)


def same(one: Any, other: Any) -> int:
    """How many leaves were compared."""
    a, b = bt.tree.flatten(one), bt.tree.flatten(other)
    assert a[1] == b[1] and hash(a[1]) == hash(b[1]), f"{a[1]} and {b[1]}"
    for x, y in zip(a[0], a[1].flatten_like(other)):
        equal(x, y)
    return len(a[0])


def check(seed: int) -> int:
    rng = np.random.default_rng(seed)
    values: dict[Any, Any] = {}
    with_objects = seed % 2 == 1

    def variable() -> Any:
        name = f"v{len(values)}"
        if with_objects and rng.integers(2):
            made, value = drawn_object(rng, name)
        else:
            ndim = int(rng.integers(3))
            made = pt.tensor(name, dtype="float64", shape=(None,) * ndim)
            value = rng.normal(size=(2,) * ndim)
        values[id(made)] = (value, made)  # which keeps it alive
        return made

    given = [drawn(rng, variable) for _ in range(rng.integers(1, 4))]
    given = [each if bt.tree.leaves(each) else {"only": variable()} for each in given]
    arguments = bt.tree.map(lambda x: values[id(x)][0], given, is_leaf=is_object)
    leaves, form = bt.tree.flatten(given)
    of_each = form.flatten_like(arguments)
    variables = [x for x in leaves if x.dtype == "float64"]
    objects = [x for x in bt.tree.leaves(given, is_leaf=is_object) if is_object(x)]

    def result() -> Any:
        if objects and rng.integers(3) == 0:
            return 2 * objects[rng.integers(len(objects))]
        a, b = (variables[rng.integers(len(variables))] for _ in range(2))
        return pt.sin(a).sum() * b if rng.integers(4) else a

    outputs = drawn(rng, result)
    cost = sum(
        ((k + 1.5) * pt.sqr(each).sum() for k, each in enumerate(variables)), pt.constant(0.0)
    )
    slopes = bt.grad(cost, given)
    results = {"outputs": outputs, "slopes": slopes, "inputs": given}
    flat, result_form = bt.tree.flatten(results)
    of_leaves = bt.function(leaves, flat, on_unused_input="ignore")
    expected = result_form.unflatten(of_leaves(*of_each))
    f = bt.function(given, results, on_unused_input="ignore")
    compared = 0
    for made in (f, f.copy(), copy.deepcopy(f)):
        compared += same(made(*reordered(rng, arguments)), expected)
    if seed % 4 < 2:
        compared += same(pickle.loads(pickle.dumps(f))(*arguments), expected)
    kept = bt.remat(lambda tree: doubled(doubled(tree)))
    last = fori_loop(0, 2, lambda i, tree: {"s": doubled(tree["s"])}, {"s": given})["s"]
    for each in (last, kept(given)):
        g = bt.function(given, [each, bt.grad(cost, given)], on_unused_input="ignore")
        compared += same(g(*arguments), [doubled(doubled(arguments)), expected["slopes"]])
    if objects:
        return compared
    compared += same(bt.jit(lambda *args: doubled(args))(*arguments), tuple(doubled(arguments)))
    steps = bt.scan(
        lambda state: doubled(state),
        outputs_info=[{"state": given}],
        n_steps=2,
        return_updates=False,
    )
    loop = bt.function(given, steps["state"], on_unused_input="ignore")(*arguments)
    return compared + same(loop, bt.tree.map(lambda x: np.stack([2 * x, 4 * x]), arguments))


if __name__ == "__main__":
    raise SystemExit(programs.run("fuzz.trees", __doc__, check))

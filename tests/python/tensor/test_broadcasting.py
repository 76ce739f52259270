"""A length of 1 broadcasts only where it is static: the outcome is the same in all modes and with all linkers.

Each expression of the table is evaluated node by node as built, for all small lengths of its inputs. Every mode must
give the same value, or fail where that evaluation fails. `MAY_RUN` lists the expressions that rewriting may compute
although they fail as written: the length check of an operand that cancels is eliminated with it (docs/rewrites.md,
"Lengths").
"""

import itertools

import numpy as np
import pytest

import bitale
import bitale.tensor as pt

AS_BUILT = bitale.Mode("vm", "None")
MODES = {
    "FAST_RUN": "FAST_RUN",
    "FAST_COMPILE": "FAST_COMPILE",
    "jit as built": bitale.Mode("jit", "None"),
    "vm": bitale.Mode("vm", "fast_run"),
    "opwise": bitale.Mode("opwise", "fast_run"),
    "without canonicalize": bitale.Mode("jit", "fast_run").excluding("canonicalize"),
    "without specialize": bitale.Mode("vm", "fast_run").excluding("specialize"),
    "without stabilize": bitale.Mode("vm", "fast_run").excluding("stabilize"),
    "without shape_unsafe": bitale.Mode("vm", "fast_run").excluding("shape_unsafe"),
}
LENGTHS = (0, 1, 2, 3)


def inputs():
    return {
        "v": pt.dvector("v"),
        "y": pt.dvector("y"),
        "one": pt.tensor("one", dtype="float64", shape=(1,)),
        "three": pt.tensor("three", dtype="float64", shape=(3,)),
        "m": pt.dmatrix("m"),
        "n": pt.lscalar("n"),
    }


# The expressions, as functions of the named inputs.
TABLE = {
    "v + y": lambda v, y: v + y,
    "v * y - v": lambda v, y: v * y - v,
    "one + y": lambda one, y: one + y,
    "one + three": lambda one, three: one + three,
    "v + three": lambda v, three: v + three,
    "v[:1] + y": lambda v, y: v[:1] + y,
    "v[:1] * three": lambda v, three: v[:1] * three,
    "v[-1:] + y": lambda v, y: v[-1:] + y,
    "v[0] + y": lambda v, y: pt.exp(v[:1].sum()) + y,
    "v[None, :] + y[:, None]": lambda v, y: v[None, :] + y[:, None],
    "m + v": lambda m, v: m + v,
    "m + v[:, None]": lambda m, v: m + v[:, None],
    "m[:1] + m": lambda m: m[:1] + m,
    "m * m.sum(axis=0)": lambda m: m * m.sum(axis=0),
    "m - m.mean(axis=1, keepdims=True)": lambda m: m - m.mean(axis=1, keepdims=True),
    "alloc(v, n)": lambda v, n: pt.alloc(v, n),
    "alloc(v, n) + 1": lambda v, n: pt.alloc(v, n) + 1,
    "alloc(v, n) + y": lambda v, n, y: pt.alloc(v, n) + y,
    "alloc(v, 1) + y": lambda v, y: pt.alloc(v, 1) + y,
    "alloc(v, 2, n)": lambda v, n: pt.alloc(v, 2, n),
    "alloc(one, n)": lambda one, n: pt.alloc(one, n),
    "alloc(one, n) + y": lambda one, n, y: pt.alloc(one, n) + y,
    "alloc(2, n) + y": lambda n, y: pt.alloc(2.0, n) + y,
    "alloc(2, n) * v": lambda n, v: pt.exp(pt.alloc(2.0, n) * v),
    "broadcast_to(v, (n,))": lambda v, n: pt.broadcast_to(v, (n,)),
    "broadcast_to(v, (1,)) + y": lambda v, y: pt.broadcast_to(v, (1,)) + y,
    "broadcast_to(one, (n,)) + y": lambda one, n, y: pt.broadcast_to(one, (n,)) + y,
    "zeros_like(v) + y": lambda v, y: pt.zeros_like(v) + y,
    "second(v, y)": lambda v, y: pt.second(v, y),
    "second(v, 2) + y": lambda v, y: pt.second(v, 2.0) + y,
    "(v + y) - y": lambda v, y: (v + y) - y,
    "(v * y) / y": lambda v, y: (v * y) / y,
    "v * ones_like(y)": lambda v, y: v * pt.ones_like(y),
    "v + zeros_like(y)": lambda v, y: v + pt.zeros_like(y),
    "where(v > 0, y, y)": lambda v, y: pt.switch(v > 0, y, y),
    "where(v > 0, y, 0)": lambda v, y: pt.switch(v > 0, y, 0.0),
    "maximum(v, y).sum()": lambda v, y: pt.maximum(v, y).sum(),
    "dot(v, y)": lambda v, y: pt.dot(v, y),
    "dot(m, v)": lambda m, v: pt.dot(m, v),
    "outer(v, y)": lambda v, y: pt.outer(v, y),
    "(v + y)[0]": lambda v, y: (v + y)[:1],
    "concatenate([v, y]) + three": lambda v, y, three: pt.concatenate([v, y]) + three,
    "stack([v, y])": lambda v, y: pt.stack([v, y]),
    "specify_shape(v, (1,)) + y": lambda v, y: pt.specify_shape(v, (1,)) + y,
    "specify_shape(v, (n,)) + y": lambda v, n, y: pt.specify_shape(v, (n,)) + y,
    "v.reshape((1,)) + y": lambda v, y: v.reshape((1,)) + y,
    "v.reshape((n,)) + y": lambda v, n, y: v.reshape((n,)) + y,
    "v.reshape((n, 1)) + y": lambda v, n, y: v.reshape((n, 1)) + y,
    "v[:n] + y": lambda v, n, y: v[:n] + y,
    "arange(n) + v": lambda n, v: pt.arange(n) + v,
    "v[:n].set(y[:n])": lambda v, n, y: v[:n].set(y[:n]),
    "v.set(y)": lambda v, y: v[:].set(y),
    "v[:2].inc(one)": lambda v, one: v[:2].inc(one),
    "zeros(n)[:].inc(v)": lambda n, v: pt.zeros((n,))[:].inc(v),
    "m[0].set(v)": lambda m, v: m[:1].set(v),
    "cumsum(v) + y": lambda v, y: pt.cumsum(v) + y,
    "log(exp(v) + exp(y))": lambda v, y: pt.log(pt.exp(v) + pt.exp(y)),
    "sum(v * y) * y": lambda v, y: (v * y).sum() * y,
    "v.reshape((3, 1)) + one": lambda v, one: v.reshape((3, 1)) + one,
    "v.reshape((1, -1)) + y": lambda v, y: v.reshape((1, -1)) + y,
    "v.reshape((n, -1)) + y": lambda v, n, y: v.reshape((n, -1)) + y,
    "grad of sum(v * y)": lambda v, y: bitale.grad((v * y).sum(), v),
    "grad of sum(one * y)": lambda one, y: bitale.grad((one * y).sum(), one),
    "softmax(v) + y": lambda v, y: pt.special.softmax(v, axis=None) + y,
    "clip(v, y, one)": lambda v, y, one: pt.clip(v, y, one),
}

# The only expressions that fail as written for some lengths and may return a value when rewritten.
MAY_RUN = {
    "alloc(one, n) + y",
    "alloc(2, n) + y",
    "alloc(2, n) * v",
    "broadcast_to(one, (n,)) + y",
    "zeros_like(v) + y",
    "second(v, y)",
    "second(v, 2) + y",
    "(v + y) - y",
    "(v * y) / y",
    "v * ones_like(y)",
    "v + zeros_like(y)",
    "where(v > 0, y, y)",
    "(v + y)[0]",
    "grad of sum(v * y)",
}


def outcome(compiled, values):
    try:
        return np.asarray(compiled(*values))
    except bitale.ShapeError:
        return "ShapeError"
    except ValueError as error:  # other length errors, which are no ShapeError
        return type(error).__name__


def value_of(name, length):
    if name == "n":
        return length
    if name == "m":
        return np.arange(2.0 * length).reshape(2, length)
    return np.arange(1.0, 1 + length) / 2


def table_of(name, modes):
    """The outcomes of an expression: a list of (values, outcome as built, {mode: outcome})."""
    given = inputs()
    names = TABLE[name].__code__.co_varnames[: TABLE[name].__code__.co_argcount]
    variables = [given[each] for each in names]
    expression = TABLE[name](*variables)
    functions = {
        each: bitale.function(variables, expression, mode=mode, on_unused_input="ignore")
        for each, mode in {"as built": AS_BUILT, **modes}.items()
    }
    rows = []
    lengths = [{"one": (1,), "three": (3,)}.get(each, LENGTHS) for each in names]
    for each in itertools.product(*lengths):
        values = [value_of(*pair) for pair in zip(names, each)]
        results = {mode: outcome(compiled, values) for mode, compiled in functions.items()}
        rows.append((dict(zip(names, each)), results.pop("as built"), results))
    return rows


def same(a, b):
    if isinstance(a, str) or isinstance(b, str):
        return isinstance(a, str) and isinstance(b, str)
    return a.shape == b.shape and np.allclose(a, b, rtol=1e-12, equal_nan=True)


def check(name, modes):
    wrong = []
    for lengths, built, results in table_of(name, modes):
        for mode, got in results.items():
            if same(got, built) or (isinstance(built, str) and name in MAY_RUN):
                continue
            wrong.append(f"{mode} {lengths}: {got}, as built {built}")
    assert not wrong, f"{len(wrong)} outcomes:\n" + "\n".join(wrong[:4])


@pytest.mark.parametrize("name", TABLE)
def test_the_same_outcome_in_all_modes(name):
    check(name, MODES)


def test_the_same_outcome_from_the_c_compiler():
    for name in (
        "v + y",
        "v[:1] + y",
        "alloc(v, n) + y",
        "m + v",
        "alloc(v, 1) + y",
        "v.reshape((n,)) + y",
    ):
        check(name, {"c": bitale.Mode("c", "fast_run")})


def test_only_static_lengths_of_one_broadcast():
    repeated = {
        name: table_of(name, {})[-1]
        for name in ("one + y", "v[None, :] + y[:, None]", "alloc(one, n) + y")
    }
    assert all(not isinstance(built, str) for _, built, _ in repeated.values())
    for name in ("v + y", "v[:1] + y", "alloc(v, n) + y"):
        for lengths, built, _ in table_of(name, {}):
            if lengths["v"] == 1 and lengths["y"] == 3 and lengths.get("n", 1) == 1:
                assert built == "ShapeError"


def test_may_run_is_minimal():
    """Each expression of the list is computed in some mode for lengths for which it fails as written."""
    for name in MAY_RUN:
        assert any(
            isinstance(built, str) and any(not isinstance(got, str) for got in results.values())
            for _, built, results in table_of(name, MODES)
        ), name


@pytest.mark.parametrize("linker", ["jit", "c"])
@pytest.mark.parametrize("last", [0, 3])
def test_divisions_by_lengths_of_zero_are_not_computed_before_empty_loops(linker, last):
    """Positions in a rolled array are divided by its lengths, and the division is loop-invariant."""
    x = pt.tensor("x", dtype="uint8", shape=(65, 0, None))
    rolled = pt.tanh(pt.roll(pt.cos(x), 3, axis=None))
    product = pt.matmul(rolled, pt.swapaxes(rolled, -1, -2)) + pt.eye(
        rolled.shape[1], dtype="float32"
    )
    f = bitale.function([x], [product, pt.arange(0, 130, 2)], mode=bitale.Mode(linker))
    got, numbers = f(np.zeros((65, 0, last), "uint8"))
    assert got.shape == (65, 0, 0)
    assert numbers.tolist() == list(range(0, 130, 2))


@pytest.mark.parametrize("linker", ["jit", "c", "vm"])
def test_results_that_no_step_writes(linker):
    # That `last` has no elements follows from the lengths that the other results require. The process crashed.
    x, mask = (
        pt.tensor("x", dtype="float64", shape=(None, 0, None)),
        pt.tensor("mask", dtype="bool", shape=(None,)),
    )
    longer = pt.concatenate([x, x, x], axis=-1)
    draws = pt.random.uniform(0.0, x, size=(0, 0, 0), rng=bitale.random.stream(1))
    last = pt.transpose(pt.concatenate([longer, x, x], axis=-1), (2, 0, 1))
    f = bitale.function(
        [x, mask], [pt.switch(mask, longer, x), draws, last], mode=bitale.Mode(linker, "fast_run")
    )
    assert [y.shape for y in f(np.zeros((0, 0, 0)), np.zeros(0, bool))] == [(0, 0, 0)] * 3

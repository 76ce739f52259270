"""Expressions without a value: every configuration must raise the class of error that NumPy raises, and must never
return a number. They are appended to a random graph, so that the error is known statically, only at run time, or only
after other steps."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from .case import Case, Step, evaluate_text, is_derivative
from .check import Failure
from .generate import Generator, Refused, Rejected
from .kinds import registry
from .configurations import ALL, NATIVE_AS_BUILT, Configuration

wrong_kinds: list[Callable[[Generator], str]] = []


def wrong(function: Callable[[Generator], str]) -> Callable[[Generator], str]:
    wrong_kinds.append(function)
    return function


def _beyond(g: Generator, n: int) -> int:
    return g.choice([n, n + 1, -n - 1, -n - 2, 100, -100, 2**31, 2**62, -(2**63)])


@wrong
def index_beyond(g: Generator) -> str:
    x = g.pick(min_ndim=1)
    axis = g.below(g.values[x].ndim)
    n = g.shape_of(x)[axis]
    bad = _beyond(g, n)
    form = g.below(5)
    if form == 0:
        item = str(bad)
    elif form == 1:
        item = g.new_input("int64", value=np.array(bad))
    elif form == 2:
        inside = [g.below(n) for _ in range(g.below(3))] if n else []
        item = f"np.array({inside + [bad]})"
    else:
        values = [g.below(max(n, 1)) for _ in range(g.below(4))] + [bad]
        item = g.new_input("int64", value=np.array(values)[g.rng.permutation(len(values))])
    at = ", ".join([":"] * axis + [item])
    tail = g.choice(["", "", ".set(1)", ".inc(1)"]) if g.values[x].dtype != bool else ""
    if form == 4:
        return f"pt.take({x}, {item}, axis={axis})"
    return f"{x}[{at}]{tail}"


@wrong
def lengths_differ(g: Generator) -> str:
    x = g.pick(min_ndim=1)
    shape = list(g.shape_of(x))
    axis = g.below(len(shape))
    shape[axis] += g.between(1, 2)
    if shape[axis] == 1 or g.shape_of(x)[axis] == 1 or np.prod(shape, dtype=float) > 1000:
        raise Rejected
    y = g.new_input(g.values[x].dtype.name, tuple(shape))
    others = [i for i in range(len(shape)) if i != axis]
    forms = [
        f"pt.add({x}, {y})",
        f"pt.maximum({y}, {x})",
        f"pt.switch({x} > 0, {x}, {y})",
        f"pt.stack([{x}, {y}])",
    ]
    if others:
        forms.append(f"pt.concatenate([{x}, {y}], axis={g.choice(others)})")
    forms.append(f"{x}[...].set({y})")
    return g.choice(forms)


@wrong
def wrong_mask(g: Generator) -> str:
    x = g.pick(min_ndim=1)
    axis = g.below(g.values[x].ndim)
    n = g.shape_of(x)[axis] + g.choice([1, 2, -1])
    if n < 0:
        raise Rejected
    mask = g.new_input("bool", value=g.rng.random(n) < 0.5)
    at = ", ".join([":"] * axis + [mask])
    return f"{x}[{at}]" + (
        g.choice(["", ".set(1)", ".inc(1)"]) if g.values[x].dtype != bool else ""
    )


@wrong
def wrong_axis(g: Generator) -> str:
    x = g.pick()
    ndim = g.values[x].ndim
    axis = g.choice([ndim, -ndim - 1, 7])
    name = g.choice(
        [
            "sum",
            "max",
            "argmax",
            "mean",
            "cumsum",
            "sort",
            "squeeze",
            "any" if g.values[x].dtype == bool else "prod",
        ]
    )
    return f"pt.{name}({x}, axis={axis})"


@wrong
def wrong_size(g: Generator) -> str:
    x = g.pick()
    size = g.values[x].array.size
    return g.choice(
        [
            f"pt.reshape({x}, ({size + 1},))",
            f"pt.reshape({x}, ({size + 1}, -1))",
            f"pt.reshape({x}, (-1, -1))",
            f"pt.reshape({x}, ({x}.size + 1,))",
        ]
    )


@wrong
def nothing_to_choose(g: Generator) -> str:
    x = g.new_input(g.dtype("iuf"), g.choice([(0,), (0, 3), (3, 0), (2, 0, 2)]))
    axis = g.shape_of(x).index(0)
    name = g.choice(["max", "min", "argmax", "argmin"])
    return f"pt.{name}({x}, axis={g.choice([axis, 'None'])})"


@wrong
def wrong_product(g: Generator) -> str:
    x = g.pick(2, kinds="f")
    n = g.shape_of(x)[1] + 1
    if n > 300:
        raise Rejected
    y = g.new_input(g.values[x].dtype.name, (n, 2))
    return g.choice([f"pt.dot({x}, {y})", f"pt.matmul({x}, {y})"])


@wrong
def wrong_promise(g: Generator) -> str:
    x = g.pick(min_ndim=1)
    shape = [n + (i == 0) for i, n in enumerate(g.shape_of(x))]
    return g.choice(
        [
            f"pt.specify_shape({x}, {tuple(shape)})",
            f"bt.raise_op.Assert('no')({x}, pt.constant(False))",
            f"bt.raise_op.Assert('no')({x}, {x}.shape[0] > 100000)",
        ]
    )


@wrong
def wrong_target(g: Generator) -> str:
    x = g.pick(min_ndim=1)
    shape = tuple(n + 1 for n in g.shape_of(x))
    if 1 in g.shape_of(x) or np.prod(shape, dtype=float) > 3000:
        raise Rejected
    return g.choice([f"pt.broadcast_to({x}, {shape})", f"pt.alloc({x}, {shape})"])


families: list[type[Exception]] = [IndexError, TypeError, AssertionError, ValueError]


def family(error: BaseException) -> str:
    for kind in families:
        if isinstance(error, kind):
            return kind.__name__
    return type(error).__name__


# For these expressions the class of error deliberately differs: NumPy detects another of several errors first.
either = {
    frozenset(("ValueError", "IndexError")): "axis",
    frozenset(("AssertionError", "ValueError")): "specify_shape",
}


def alike(expected: BaseException, got: BaseException, text: str) -> bool:
    pair = frozenset((family(expected), family(got)))
    return len(pair) == 1 or (pair in either and either[pair] in text)


def check_invalid(
    seed: int, bt: Any, configurations: list[Configuration] | None = None
) -> Failure | None:
    """Checks a random graph extended by one expression that has no value."""
    rng = np.random.default_rng([seed, 1])
    g = Generator(rng, bt, registry)
    g.new_input()
    for _ in range(g.below(4)):
        try:
            g.grow()
        except (Rejected, Refused):
            pass
    for _ in range(20):
        try:
            text = g.choice(wrong_kinds)(g)
            g.evaluate(text)
        except Rejected:
            continue
        except (ValueError, IndexError, TypeError, AssertionError) as error:
            return _refused(
                g,
                text,
                error,
                bt,
                configurations or [ALL[i] for i in rng.permutation(len(ALL) - 1)[:2]],
            )
    return None


def _refused(
    g: Generator, text: str, expected: Exception, bt: Any, configurations: list[Configuration]
) -> Failure | None:
    step = Step((f"v{len(g.variables)}",), text)
    case = Case(tuple(g.inputs), (*g.steps, step), step.names).without_dead()
    try:
        built = evaluate_text(text, bt, g.variables)
    except Exception as error:
        if alike(expected, error, text):
            return None
        return Failure(
            case,
            None,
            f"building raises {type(error).__name__} ({str(error)[:100]}), expected {type(expected).__name__}: {expected}",
        )
    if isinstance(built, (list, tuple)) or is_derivative(text):
        return None
    for configuration in configurations:
        try:
            got = configuration.results(case, bt)
        except Exception as error:
            if not alike(expected, error, text):
                return Failure(
                    case,
                    configuration,
                    f"raises {type(error).__name__} ({str(error).splitlines()[0][:100]}), expected {type(expected).__name__}: {expected}",
                )
            continue
        of_lengths = family(expected) == "ValueError" or "boolean index did not match" in str(
            expected
        )
        if configuration.rewrites and of_lengths and _raises(case, bt, NATIVE_AS_BUILT):
            # shape_unsafe rules assume that lengths match: eliminating an operand also eliminates the check of its
            # lengths
            continue
        return Failure(
            case,
            configuration,
            f"no error: got {got[step.names[0]]!r}, expected {type(expected).__name__}: {expected}",
        )
    return None


def _raises(case: Case, bt: Any, configuration: Configuration) -> bool:
    try:
        configuration.results(case, bt)
    except Exception:
        return True
    return False

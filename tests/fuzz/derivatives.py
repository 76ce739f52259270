"""Random gradients at the points that people meet: zeros, ties, boundaries of switches, elements masked or never read.

    python -m fuzz.derivatives [--graphs N | --seconds S] [--seed FIRST]

A program is a list of assignments in a text that both the library and the oracle of dual numbers (oracle.duals)
evaluate. Where the oracle's gradient is finite, each mode must give it; elsewhere nothing is claimed.
"""

from __future__ import annotations

import argparse
import dataclasses
import re
import time
import types
import warnings
from typing import Any

import numpy as np
from oracle import duals

import bitale as bt
import bitale.tensor as pt

MODES = ("FAST_RUN", "FAST_COMPILE")
POINTS = np.array([0, 0, 0, 1, -1, 1, 2, -2, 0.5, 4, 0.25, -0.5, 3])

library = types.SimpleNamespace(
    **{
        name: getattr(pt, name)
        for name in "exp log log1p sqrt tanh sin sigmoid reciprocal sqr arcsin maximum minimum clip switch sum prod max concatenate cumsum constant".split()
    },
    ifelse=bt.ifelse,
    set_subtensor=lambda x, index, y: x[index].set(y),
    inc_subtensor=lambda x, index, y: x[index].inc(y),
)

# What a step may be: v, u vectors, s, t scalars, i a constant index, n the length, k and c numbers.
VECTORS = [
    "m.exp({v})", "m.log({v})", "m.sqrt({v})", "m.log1p({v})", "m.tanh({v})", "m.sin({v})", "m.sigmoid({v})", "m.reciprocal({v})",
    "m.arcsin({v})", "{v} ** 2", "{v} ** 0.5", "m.sqr({v})", "abs({v})", "-{v}", "{v} * {k}", "{v} + {c}", "{c} - {v}",
    "{v} + {u}", "{v} - {u}", "{v} * {u}", "{v} / {u}", "{v} * {s}", "{v} / {s}", "{v} + {s}", "m.log({v} * m.exp({u}))",
    "m.switch({v} > {c}, {v}, 0)", "m.switch({v} > 0, {u}, 0)", "m.switch({v} <= {c}, 0, {u})", "m.switch({v} >= {u}, {v}, {u})",
    "m.switch({v} > 0, m.log({v}), 0)", "m.switch({v} > 0, m.sqrt({v}), 0)", "m.switch({s} > 0, {v}, {u})",
    "m.switch(m.constant({mask}) > 0, {v}, 0)", "m.switch(m.constant({mask}) > 0, {v}, {u})", "m.clip({v}, -1, 2)", "m.maximum({v}, {c})",
    "m.minimum({v}, {u})", "m.maximum({v}, {u})", "{v}[::-1]", "{v}[{indices}]", "m.set_subtensor({v}, {i}, {c})",
    "m.set_subtensor({v}, {i}, {s})", "m.set_subtensor({v}, slice({i}, None), 0)", "m.set_subtensor({v}, {distinct}, 0)",
    "m.inc_subtensor({v}, {indices}, {u})", "m.concatenate([{v}[1:], {u}[:1]])", "m.cumsum({v})", "{v} + m.sum({u})", "{v} * m.prod({u})",
    "m.exp({v}) / m.sum(m.exp({v}))", "m.log1p(m.exp({v}))", "m.ifelse({s} > 0, {v}, {u})", "m.ifelse({s} > 0, m.log({v}), {u})",
    "m.switch({v} > 0, {v}, 0) * {k} * {u}", "m.sqrt(m.maximum({v}, 0))", "{v} / m.sum({v})",
]  # fmt: skip
SCALARS = [
    "m.sum({v})", "m.prod({v})", "m.max({v})", "{v}[{i}]", "m.log({s})", "m.sqrt({s})", "m.exp({s})", "{s} * {t}", "{s} + {c}", "{s} / {t}",
    "m.log(m.sum({u} * m.exp({v})))", "m.log(m.sum(m.exp({v})))", "m.log({s} * m.exp({t}) + m.exp({v}[{i}]))", "m.sum({v}[1:] * {u}[:-1])",
    "m.ifelse({s} > 0, m.log({s}), {t})", "m.ifelse({s} > {t}, m.sum({v}), {t})", "m.switch({s} > 0, m.log({s}), {t})", "m.sum({v}[{indices}])",
    "m.sum(m.switch({v} > 0, {v} * m.log({v}), 0))", "m.sqrt(m.sum({v} ** 2))", "m.sum(m.switch(m.constant({mask}) > 0, {v}, 0))",
]  # fmt: skip


@dataclasses.dataclass
class Program:
    inputs: dict[str, np.ndarray]
    steps: list[tuple[str, str]]
    cost: str

    def text(self) -> str:
        lines = [f"{name} = {value.tolist()}" for name, value in self.inputs.items()]
        return "\n".join(
            [*lines, *(f"{name} = {text}" for name, text in self.steps), f"cost = {self.cost}"]
        )

    def run(self, m: Any, inputs: dict[str, Any]) -> tuple[Any, list[Any]]:
        env = {"m": m, **inputs}
        for name, text in self.steps:
            env[name] = eval(text, env)  # noqa: S307
        return eval(self.cost, env), [env[name] for name, _ in self.steps]  # noqa: S307


def generate(rng: np.random.Generator) -> Program:
    n = int(rng.integers(1, 5))
    point = lambda shape: rng.choice(POINTS, shape)  # noqa: E731
    inputs = {"v0": point(n), "v1": point(n), "s0": point(())}
    vectors, scalars = ["v0", "v1"], ["s0"]
    steps = []
    pick = lambda names: names[-1 - min(int(rng.geometric(0.45)) - 1, len(names) - 1)]  # noqa: E731
    for number in range(int(rng.integers(1, 8))):
        is_vector = rng.random() < 0.75
        template = str(rng.choice(VECTORS if is_vector else SCALARS))
        indices = rng.integers(0, n, n).tolist()
        text = template.format(
            v=pick(vectors),
            u=pick(vectors),
            s=pick(scalars),
            t=pick(scalars),
            i=int(rng.integers(0, n)),
            k=float(rng.choice([0.5, 2, -1, 3])),
            c=float(rng.choice([0, 1, -1, 0.5])),
            mask=[float(b) for b in rng.integers(0, 2, n)],
            indices=indices,
            distinct=sorted(set(indices)),
        )
        name = ("v" if is_vector else "s") + str(number + 2)
        (vectors if is_vector else scalars).append(name)
        steps.append((name, text))
    cost = f"m.sum({vectors[-1]}) + {scalars[-1]}"
    if rng.random() < 0.3:
        cost = f"m.sum({vectors[-1]} * {vectors[0]})"
    return Program(inputs, steps, cost)


def expected(program: Program, real: Any) -> tuple[float, np.ndarray] | None:
    """The value and the gradient, one after another for all inputs; None where an intermediate value is huge."""
    duals.Real = real
    leaves, first = {}, 0
    for name, value in program.inputs.items():
        leaves[name] = duals.leaf(value, first)
        first += value.size
    value, intermediate = program.run(duals, leaves)
    values = {**leaves, **{name: each for (name, _), each in zip(program.steps, intermediate)}}
    for _, text in program.steps:
        # A softmax subtracts the maximum, so that an infinite element makes all results nan, as it does in SciPy.
        softmax = re.fullmatch(r"m\.exp\((\w+)\) / m\.sum\(.*", text)
        if softmax and any(
            element.value == np.inf for element in np.asarray(values[softmax[1]], dtype=object).flat
        ):
            return None
        # A quotient of a value by itself is 1 by a rule that holds everywhere but at 0.
        quotient = re.fullmatch(r"(\w+) / (\w+)", text)
        if (
            quotient
            and values[quotient[1]] is values[quotient[2]]
            and any(
                element.value == 0 for element in np.asarray(values[quotient[1]], dtype=object).flat
            )
        ):
            return None
    for each in intermediate:
        for element in np.asarray(each, dtype=object).flat:
            size = abs(element.value)
            if np.isfinite(size) and (size > 1e6 or 0 < size < 1e-6):
                return None
    return float(np.asarray(value).item().value), np.array(
        duals.gradient(value, first), dtype=float
    )


def wrong(program: Program, modes: tuple[str, ...] = MODES) -> str | None:
    """What is wrong; None if nothing is, "" if the oracle makes no claim."""
    with np.errstate(all="ignore"):
        wide, narrow = expected(program, np.longdouble), expected(program, np.float64)
    if wide is None or narrow is None or not np.isfinite(wide[0]):
        return ""
    # Where rounding decides, as at a tie of computed values, the precisions disagree.
    if not np.allclose(wide[1], narrow[1], rtol=1e-9, atol=1e-9, equal_nan=True):
        return ""
    variables = {
        name: pt.tensor(name, dtype="float64", shape=(None,) * value.ndim)
        for name, value in program.inputs.items()
    }
    cost, _ = program.run(library, variables)
    gradients = bt.grad(cost, list(variables.values()), disconnected_inputs="ignore")
    claimed = np.isfinite(wide[1])
    for mode in modes:
        f = bt.function(list(variables.values()), gradients, mode=mode, on_unused_input="ignore")
        got = np.concatenate([np.ravel(g) for g in f(*program.inputs.values())])
        scale = max(1.0, np.max(np.abs(wide[1][claimed]), initial=0))
        if not (np.abs(got - wide[1])[claimed] <= 1e-7 * scale).all():
            return f"{mode}: gradient {got.tolist()}, right {wide[1].tolist()}"
    return None if claimed.any() else ""


def shrunk(program: Program, modes: tuple[str, ...] = MODES) -> Program:
    """The program with steps replaced by zeros or left out, as long as something is wrong."""

    def fails(candidate: Program) -> bool:
        try:
            return bool(wrong(candidate, modes))
        except Exception:
            return False

    changed = True
    while changed:
        changed = False
        for k in range(len(program.steps) - 1, -1, -1):
            name = program.steps[k][0]
            for other in ["v0", "v1"] if name[0] == "v" else ["s0"]:
                steps = [*program.steps[:k], (name, other), *program.steps[k + 1 :]]
                candidate = dataclasses.replace(program, steps=steps)
                if program.steps[k][1] not in ("v0", "v1", "s0") and fails(candidate):
                    program, changed = candidate, True
                    break
        for cost in [f"m.sum({name})" if name[0] == "v" else name for name, _ in program.steps]:
            candidate = dataclasses.replace(program, cost=cost)
            if len(cost) < len(program.cost) and fails(candidate):
                program, changed = candidate, True
                break
    return program


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--graphs", type=int)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    claimed = failures = 0
    end, graphs = time.monotonic() + options.seconds, 0
    while graphs < options.graphs if options.graphs else time.monotonic() < end:
        graphs += 1
        seed = options.seed + graphs - 1
        program = generate(np.random.default_rng(seed))
        try:
            found = wrong(program)
        except Exception as error:
            found = f"{type(error).__name__}: {error}"
        claimed += found != ""
        if found:
            failures += 1
            small = shrunk(program)
            print(f"---- seed {seed}: {found.splitlines()[0]}\n{small.text()}", flush=True)
    print(f"{graphs} graphs, {claimed} with a claim, {failures} wrong")
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())

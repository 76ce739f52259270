"""A test case as data: inputs with values, steps as text, outputs, updates. It can be built, evaluated, printed and
stored."""

from __future__ import annotations

import base64
import dataclasses
import functools
import json
import re
from typing import Any, Iterable

import numpy as np
from oracle import language, ops
from oracle.values import Val, arithmetic

_name = re.compile(r"\b[xv]\d+\b")


@functools.lru_cache(maxsize=200_000)
def names_in(text: str) -> tuple[str, ...]:
    """The variables that an expression reads, without duplicates."""
    return tuple(dict.fromkeys(_name.findall(text)))


@functools.lru_cache(maxsize=200_000)
def _code(text: str) -> Any:
    return compile(text, text, "eval")


@dataclasses.dataclass(frozen=True)
class Input:
    name: str
    value: (
        np.ndarray
    )  # C-contiguous, aligned, native byte order; `layout` is the layout that the call receives
    static: tuple[int | None, ...]
    layout: str = "plain"
    shared: bool = False

    @property
    def dtype(self) -> str:
        return self.value.dtype.name


@dataclasses.dataclass(frozen=True)
class Step:
    names: tuple[str, ...]  # the names it defines: several for functions that return a tuple
    text: str

    @property
    def reads(self) -> tuple[str, ...]:
        return names_in(self.text)


@dataclasses.dataclass(frozen=True)
class Case:
    inputs: tuple[Input, ...]
    steps: tuple[Step, ...]
    outputs: tuple[str, ...]
    updates: tuple[tuple[str, str], ...] = ()  # (shared input, variable)

    @property
    def results(self) -> tuple[str, ...]:
        return self.outputs + tuple(new for _, new in self.updates)

    def without_dead(self) -> Case:
        """The case without the steps and inputs that no result depends on."""
        needed, steps = set(self.results) | {shared for shared, _ in self.updates}, []
        for step in reversed(self.steps):
            if needed.intersection(step.names):
                steps.append(step)
                needed.update(step.reads)
        inputs = tuple(each for each in self.inputs if each.name in needed)
        return dataclasses.replace(self, inputs=inputs, steps=tuple(reversed(steps)))


# ---- both meanings of the text ---------------------------------------------------------------------------------------


def evaluate_text(text: str, bt: Any, env: dict[str, Any]) -> Any:
    """Evaluates text with the library as `bt` and variables in `env`, or with `oracle.language.bt` and values in
    `env`."""
    return eval(
        _code(text), {"bt": bt, "pt": bt.tensor, "np": np, "inf": np.inf, "nan": np.nan, **env}
    )


def is_derivative(text: str) -> bool:
    return text.startswith(language.by_graph)


def values_of(built: Any, given: dict[Any, Val]) -> Any:
    """The value of one symbolic variable, or of several, computed op by op."""
    if isinstance(built, (list, tuple)):
        return ops.evaluate(list(built), given)
    return ops.evaluate([built], given)[0]


def define(step: Step, value: Any, env: dict[str, Any]) -> None:
    if len(step.names) == 1:
        env[step.names[0]] = value
    else:
        env.update(zip(step.names, value))


def symbolic_input(given: Input, bt: Any) -> Any:
    if given.shared:
        return bt.shared(given.value.copy(), name=given.name, shape=given.static)
    return bt.tensor.tensor(given.name, dtype=given.dtype, shape=given.static)


def build(case: Case, bt: Any) -> dict[str, Any]:
    """Every name as a symbolic variable."""
    env = {given.name: symbolic_input(given, bt) for given in case.inputs}
    for step in case.steps:
        define(step, evaluate_text(step.text, bt, env), env)
    return env


def evaluate(
    case: Case, wide: bool = False, noise: np.random.Generator | None = None
) -> dict[str, Val]:
    """Every name as an array, computed by the oracle."""
    with arithmetic(wide, noise):
        env = {given.name: Val(given.value, given.dtype) for given in case.inputs}
        symbols = _symbols(case) if any(is_derivative(step.text) for step in case.steps) else {}
        for step in case.steps:
            if is_derivative(step.text):
                built = [symbols[name] for name in step.names]
                results = values_of(
                    built, {symbols[given.name]: env[given.name] for given in case.inputs}
                )
                env.update(zip(step.names, results))
            else:
                define(step, evaluate_text(step.text, language.bt, env), env)
    return env


_last: list[Any] = [None, None]  # cache of the last case: evaluations of one case follow each other


def _symbols(case: Case) -> dict[str, Any]:
    import bitale as bt

    if _last[0] is not case:
        _last[:] = [case, build(case, bt)]
    return _last[1]


def evaluate_by_ops(case: Case) -> list[Val]:
    """The results, computed by the oracle's op formulas on the graph as built. Raises ValueError where the graph is
    invalid."""
    symbols = _symbols(case)
    with arithmetic():
        given = {symbols[g.name]: Val(g.value, g.dtype) for g in case.inputs}
        return ops.evaluate([symbols[name] for name in case.results], given)


# ---- scripts ---------------------------------------------------------------------------------------------------------


def array_text(array: np.ndarray) -> str:
    if array.size > 400:
        counts = np.unique(array).size
        if counts == 1:
            return f"np.full({array.shape}, {array.flat[0]!r}, {array.dtype.name!r})".replace(
                "np.float64(", "("
            )
    with np.printoptions(threshold=10**9, floatmode="unique", linewidth=110):
        body = np.array2string(array, separator=", ") if array.size else "[]"
    text = f"np.array({body}, {array.dtype.name!r})"
    return f"{text}.reshape({array.shape})" if array.size == 0 and array.ndim != 1 else text


def layout_text(given: Input) -> str:
    text = array_text(given.value)
    return text if given.layout == "plain" else f"{text}  # layout: {given.layout}"


def script(case: Case, how: str = "") -> str:
    """The case as a standalone program."""
    modules = ", bitale.sparse" if any("bt.sparse" in step.text for step in case.steps) else ""
    lines = [
        f"import numpy as np, bitale as bt, bitale.tensor as pt{modules}",
        "from numpy import inf, nan",
        "",
    ]
    for given in case.inputs:
        if given.shared:
            lines.append(
                f"{given.name} = bt.shared({array_text(given.value)}, name={given.name!r}, shape={given.static})"
            )
        else:
            lines.append(
                f"{given.name} = pt.tensor({given.name!r}, dtype={given.dtype!r}, shape={given.static})"
            )
    lines += [f"{', '.join(step.names)} = {step.text}" for step in case.steps]
    free = [given for given in case.inputs if not given.shared]
    updates = (
        ", updates={" + ", ".join(f"{a}: {b}" for a, b in case.updates) + "}"
        if case.updates
        else ""
    )
    mode = f", mode={how}" if how else ""
    lines.append(
        f"f = bt.function([{', '.join(g.name for g in free)}], [{', '.join(case.outputs)}]{updates}{mode},"
        ' on_unused_input="ignore")'
    )
    lines.append("got = f(" + ", ".join("\n    " + layout_text(given) for given in free) + ")")
    lines.append("print(got)")
    lines += [f"print({a}.get_value())" for a, _ in case.updates]
    return "\n".join(lines) + "\n"


# ---- storing ---------------------------------------------------------------------------------------------------------


def _array_data(array: np.ndarray) -> dict[str, Any]:
    return {
        "dtype": array.dtype.name,
        "shape": list(array.shape),
        "bytes": base64.b64encode(np.ascontiguousarray(array).tobytes()).decode(),
    }


def to_json(case: Case, **about: Any) -> str:
    inputs = [
        {
            "name": g.name,
            **_array_data(g.value),
            "static": list(g.static),
            "layout": g.layout,
            "shared": g.shared,
        }
        for g in case.inputs
    ]
    steps = [[*step.names, step.text] for step in case.steps]
    data = {
        **about,
        "steps": steps,
        "outputs": case.outputs,
        "updates": case.updates,
        "inputs": inputs,
    }
    return json.dumps(data, indent=1)


def from_json(text: str) -> Case:
    data = json.loads(text)
    inputs = tuple(
        Input(
            g["name"],
            np.frombuffer(base64.b64decode(g["bytes"]), g["dtype"]).reshape(g["shape"]).copy(),
            tuple(g["static"]),
            g["layout"],
            g["shared"],
        )
        for g in data["inputs"]
    )
    steps = tuple(Step(tuple(names), text) for *names, text in data["steps"])
    return Case(inputs, steps, tuple(data["outputs"]), tuple((a, b) for a, b in data["updates"]))


def merged(cases: Iterable[Case]) -> Case:
    """One case with the outputs of all cases, under new names: many small graphs in one function."""
    inputs, steps, outputs, updates = [], [], [], []
    count = 0
    for case in cases:
        renamed: dict[str, str] = {}
        for name in [g.name for g in case.inputs] + [n for step in case.steps for n in step.names]:
            renamed[name] = f"{name[0]}{count}"
            count += 1

        def new(text: str, renamed: dict[str, str] = renamed) -> str:
            return _name.sub(lambda m: renamed[m[0]], text)

        inputs += [dataclasses.replace(g, name=renamed[g.name]) for g in case.inputs]
        steps += [Step(tuple(map(new, step.names)), new(step.text)) for step in case.steps]
        outputs += map(new, case.outputs)
        updates += [(new(a), new(b)) for a, b in case.updates]
    return Case(tuple(inputs), tuple(steps), tuple(outputs), tuple(updates))

"""Gradients against differences of the oracle in long double: there a central difference has ten right digits."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
from oracle import language
from oracle.values import Val, arithmetic

from .case import Case, Step, define, evaluate, evaluate_text, is_derivative

_gradient = re.compile(r"bt\.grad\((.*), (\w+|\[[\w, ]+\]), disconnected_inputs='ignore'\)")
STEP = 1e-6


def _cost(case: Case, cost: str, moved: dict[str, np.ndarray]) -> np.ndarray:
    """The cost in long double, with some inputs replaced by long doubles."""
    with arithmetic(wide=True):
        env = {g.name: Val(moved.get(g.name, g.value), g.dtype) for g in case.inputs}
        for step in case.steps:
            if not is_derivative(step.text):
                try:
                    define(step, evaluate_text(step.text, language.bt, env), env)
                except KeyError:
                    pass  # it reads a derivative, and the cost does not
                except NameError:
                    pass
        return evaluate_text(cost, language.bt, env).array


def wrong_gradient(case: Case, rng: np.random.Generator) -> str | None:
    """What is wrong with the first step that is a gradient of inputs, if there is one and the cost is smooth there."""
    for step in case.steps:
        found = _gradient.fullmatch(step.text)
        if not found:
            continue
        cost, wrt = found[1], re.findall(r"\w+", found[2])
        if not all(name[0] == "x" for name in wrt) or _holds_constant(case):
            return None
        return _compare(case, step, cost, wrt, rng)
    return None


def _holds_constant(case: Case) -> bool:
    """Whether a part of the graph is declared to have no derivative, or another than its own by convention."""
    return any(re.search(r"zero_grad|std|disconnected_grad|abs\(|pow|\*\*|switch|ifelse|polygamma", step.text) for step in case.steps)


def _compare(case: Case, step: Step, cost: str, wrt: list[str], rng: np.random.Generator) -> str | None:
    values = {g.name: g.value for g in case.inputs}
    if any(values[name].dtype != np.float64 for name in wrt):
        return None
    if any(not (np.abs(values[name]) < 1e6).all() for name in wrt):
        return None
    directions = {name: rng.uniform(-1, 1, values[name].shape) for name in wrt}

    def at(h: float) -> np.ndarray:
        return _cost(case, cost, {name: values[name].astype(np.longdouble) + h * directions[name] for name in wrt})

    def slope(low: float, high: float) -> float:
        return float((at(high) - at(low)) / (np.longdouble(high) - np.longdouble(low)))

    with np.errstate(all="ignore"):
        try:
            slopes = [slope(-STEP, STEP), slope(-STEP / 3, STEP / 3), slope(-STEP * 3, STEP * 3)]
            sides = [slope(-STEP, 0), slope(0, STEP)]
        except (ValueError, IndexError, TypeError, AssertionError, NameError):
            return None
        gradients = evaluate(dataclasses.replace(case, outputs=step.names).without_dead())
        products = [gradients[name].array * directions[of] for name, of in zip(step.names, wrt)]
        got = float(sum(product.sum() for product in products))
        size = float(sum(np.abs(product).sum() for product in products))
    if not np.isfinite(slopes + sides).all():
        return None
    # Next to a jump or a corner differences of different widths differ; SciPy's functions know no long double.
    spread = max(slopes) - min(slopes)
    scale = max(abs(slopes[0]), size if np.isfinite(size) else 0)
    if spread > 1e-4 * scale + 1e-12 or abs(sides[1] - sides[0]) > 1e-2 * scale + 1e-12:
        return None
    if abs(got - slopes[0]) <= 10 * spread + 1e-4 * scale + 1e-9:
        return None
    return f"{step.names[0]}: the gradient is wrong: along a direction {got!r}, by differences {slopes[0]!r}"

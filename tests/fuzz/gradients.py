"""Gradients compared with central differences of the oracle in long double, which have ten correct digits."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
from oracle import language
from oracle.values import Val, arithmetic

from .case import Case, Step, define, evaluate, evaluate_text, is_derivative

STEP = 1e-6


def _cost(case: Case, cost: str, moved: dict[str, np.ndarray]) -> np.ndarray:
    """The cost in long double, with some inputs replaced by long double arrays."""
    with arithmetic(wide=True):
        env = {g.name: Val(moved.get(g.name, g.value), g.dtype) for g in case.inputs}
        for step in case.steps:
            if not is_derivative(step.text):
                try:
                    define(step, evaluate_text(step.text, language.bt, env), env)
                except KeyError:
                    pass  # the step depends on a derivative, but the cost does not
                except NameError:
                    pass
        return evaluate_text(cost, language.bt, env).array


def wrong_gradient(case: Case, rng: np.random.Generator) -> str | None:
    """What is wrong with the first step that is a derivative with respect to inputs; None if there is none, it is
    right, or the function is not smooth there."""
    for step in case.steps:
        if not is_derivative(step.text):
            continue
        for pattern, compare in _comparisons:
            found = pattern.fullmatch(step.text)
            if found:
                wrt = re.findall(r"\w+", found[2])
                rough = _is_rough(case, wrt) or _passes_infinity(case, found[1])
                return None if rough else compare(case, step, found[1], wrt, rng)
        return None
    return None


def _is_rough(case: Case, wrt: list[str]) -> bool:
    values = {g.name: g.value for g in case.inputs}
    if not all(name[0] == "x" for name in wrt) or _holds_constant(case):
        return True
    # Next to a huge value a finite step is lost, even in long double.
    if any(
        value.dtype.kind in "iuf" and not (np.abs(value.astype(np.float64)) < 1e12).all()
        for value in values.values()
    ):
        return True
    # Where several equal elements attain the extremum, each gets the whole derivative, whether or not they move
    # together.
    if any(
        re.search(r"\b(min|max|max_and_argmax|ptp|maximum|minimum|clip|sort)\(", step.text)
        for step in case.steps
    ) and any(
        re.search(
            r"concatenate|stack|make_vector|tile|repeat|outer|take|broadcast|alloc|\[", step.text
        )
        for step in case.steps
    ):
        return True
    return any(
        values[name].dtype != np.float64 or not (np.abs(values[name]) < 1e6).all() for name in wrt
    )


def _passes_infinity(case: Case, cost: str) -> bool:
    """Whether an intermediate value is infinite, as in 1 / (1 / x) at 0: the chain rule then multiplies infinity by
    0."""
    try:
        with np.errstate(divide="raise", over="raise"):
            _cost(case, cost, {})
    except (FloatingPointError, ValueError, IndexError, TypeError, AssertionError, NameError):
        return True
    return False


def _holds_constant(case: Case) -> bool:
    """Whether a step is declared to have no derivative, or by convention has another one than differences give, as
    rounding to float16."""
    return any(
        re.search(
            r"float16|_grad|grad_|std|nonzero|abs\(|pow|\*\*|switch|ifelse|polygamma|_derivative",
            step.text,
        )
        for step in case.steps
    )


def _compare(
    case: Case, step: Step, cost: str, wrt: list[str], rng: np.random.Generator
) -> str | None:
    values = {g.name: g.value for g in case.inputs}
    directions = {name: rng.uniform(-1, 1, values[name].shape) for name in wrt}

    def at(h: float) -> np.ndarray:
        return _cost(
            case,
            cost,
            {name: values[name].astype(np.longdouble) + h * directions[name] for name in wrt},
        )

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
    # Near a jump or a kink, differences of different widths disagree; SciPy's functions do not support long double.
    spread = max(slopes) - min(slopes)
    scale = max(abs(slopes[0]), size if np.isfinite(size) else 0)
    if spread > 1e-4 * scale + 1e-12 or abs(sides[1] - sides[0]) > 1e-2 * scale + 1e-12:
        return None
    if abs(got - slopes[0]) <= 10 * spread + 1e-4 * scale + 1e-9:
        return None
    return f"{step.names[0]}: the gradient is wrong: along a direction {got!r}, by differences {slopes[0]!r}"


def _derivative(case: Case, step: Step) -> np.ndarray:
    return evaluate(dataclasses.replace(case, outputs=step.names).without_dead())[
        step.names[0]
    ].array


def _compare_forward(
    case: Case, step: Step, function: str, wrt: list[str], rng: np.random.Generator
) -> str | None:
    """Compares the derivative along a direction, element by element."""
    (name,) = wrt
    x = next(g.value for g in case.inputs if g.name == name)
    direction = np.cos(x)

    def slopes(low: float, high: float) -> np.ndarray:
        at = [
            _cost(case, function, {name: x.astype(np.longdouble) + h * direction})
            for h in (low, high)
        ]
        return (at[1] - at[0]) / (np.longdouble(high) - np.longdouble(low))

    with np.errstate(all="ignore"):
        try:
            differences = np.array(
                [slopes(-STEP, STEP), slopes(-STEP / 3, STEP / 3), slopes(-STEP * 3, STEP * 3)]
            )
            sides = np.array([slopes(-STEP, 0), slopes(0, STEP)])
        except (ValueError, IndexError, TypeError, AssertionError, NameError):
            return None
        got = _derivative(case, step)
        spread = np.ptp(differences, axis=0)
        scale = np.abs(differences[0])
        smooth = np.isfinite(differences).all(axis=0) & (spread <= 1e-4 * scale + 1e-12)
        smooth &= np.abs(sides[1] - sides[0]) <= 1e-2 * scale + 1e-12
        wrong = smooth & ~(np.abs(got - differences[0]) <= 10 * spread + 1e-4 * scale + 1e-9)
    if not wrong.any():
        return None
    index = tuple(np.argwhere(wrong)[0])
    return f"{step.names[0]}: the derivative is wrong: {got[index]!r} at {index}, by differences {differences[0][index]!r}"


def _compare_second(
    case: Case, step: Step, cost: str, wrt: list[str], rng: np.random.Generator
) -> str | None:
    """Compares the second derivative along a direction: of a Hessian, or of its product with that direction."""
    (name,) = wrt
    x = next(g.value for g in case.inputs if g.name == name)
    direction = np.cos(x)

    def curvature(h: float) -> float:
        low, middle, high = (
            _cost(case, cost, {name: x.astype(np.longdouble) + s * h * direction})
            for s in (-1, 0, 1)
        )
        return float((high - 2 * middle + low) / np.longdouble(h) ** 2)

    with np.errstate(all="ignore"):
        try:
            curvatures = [curvature(h) for h in (1e-4, 3e-4, 1e-3)]
        except (ValueError, IndexError, TypeError, AssertionError, NameError):
            return None
        derivative = _derivative(case, step)
        product = derivative @ direction if "hessian(" in step.text else derivative
        got, size = float((product * direction).sum()), float(np.abs(product * direction).sum())
    if not np.isfinite(curvatures).all():
        return None
    spread, scale = (
        max(curvatures) - min(curvatures),
        max(abs(curvatures[0]), size if np.isfinite(size) else 0),
    )
    if (
        spread > 1e-3 * scale + 1e-9
        or abs(got - curvatures[0]) <= 10 * spread + 1e-4 * scale + 1e-7
    ):
        return None
    return f"{step.names[0]}: the second derivative is wrong: along a direction {got!r}, by differences {curvatures[0]!r}"


_comparisons = [
    (re.compile(r"bt\.grad\((.*), (\w+|\[[\w, ]+\]), disconnected_inputs='ignore'\)"), _compare),
    (
        re.compile(
            r"bt\.pushforward\((\w+), (\w+), pt\.cos\(\w+\), disconnected_outputs='ignore'\)"
        ),
        _compare_forward,
    ),
    (
        re.compile(r"bt\.hessian\((\w+\.sum\(\)), (\w+), disconnected_inputs='ignore'\)"),
        _compare_second,
    ),
    (
        re.compile(
            r"bt\.hessian_vector_product\((\w+\.sum\(\)), (\w+), pt\.cos\(\w+\), disconnected_inputs='ignore'\)"
        ),
        _compare_second,
    ),
]

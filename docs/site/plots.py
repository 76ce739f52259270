"""Plots of functions of one real variable and their derivatives, computed by the library itself, and of the error of the value
against mpmath, by the references of the tests."""

from __future__ import annotations

import inspect
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mpmath
import numpy as np

import bitale as bt
import bitale.tensor as pt
from bitale import _core

sys.path[:0] = [str(Path(__file__).resolve().parents[2] / "tests" / "python" / "tensor")]
from accuracy_table import TABLE

_ARITIES = {
    id(getattr(pt, name)): arity
    for name, arity in _core.elementwise_functions()
    if hasattr(pt, name)
}
_LONGEST = 140  # letters of a derivative that is shown
_POINTS = 400  # at which the error is found


@dataclass
class Drawn:
    file: str
    low: float
    high: float
    derivative: str  # in LaTeX; empty where it is long


def is_of_one_variable(value: Any) -> bool:
    return _ARITIES.get(id(value)) == 1 and not inspect.isclass(value)


def _interval(f: Any) -> tuple[float, float]:
    """The part of [-5, 5] where the function has values."""
    x = np.linspace(-5, 5, 2001)
    with np.errstate(all="ignore"):
        finite = x[np.isfinite(f(x))]
    return (float(finite.min()), float(finite.max())) if finite.size > 1 else (-5.0, 5.0)


def _limits(values: np.ndarray) -> tuple[float, float]:
    """Limits that leave poles out."""
    finite = values[np.isfinite(values)]
    low, high = np.quantile(finite, [0.04, 0.96])
    room = max(high - low, 1e-3)
    return max(finite.min(), low - room) - 0.08 * room, min(finite.max(), high + room) + 0.08 * room


def _errors(name: str, value: Any, low: float, high: float) -> tuple[np.ndarray, np.ndarray] | None:
    """Points, and there the distance of the value from the exact one, in units in the last place."""
    row = TABLE.get(name)
    if row is None or row.exact is None or row.cost > 1:
        return None
    at = np.random.default_rng(0).uniform(low, high, _POINTS)
    values = value(at)
    errors = np.full(_POINTS, np.nan)
    with mpmath.workdps(40):
        for k in np.flatnonzero(np.isfinite(values)):
            exact = row.exact(mpmath.mpf(float(at[k])))
            if isinstance(exact, mpmath.mpf) and mpmath.isfinite(exact):
                errors[k] = float(mpmath.mpf(float(values[k])) - exact) / np.spacing(
                    abs(float(exact))
                )
    return at, errors


def drawn(name: str, function: Any, folder: Path) -> Drawn | None:
    x = pt.dscalar("x")
    try:
        y = function(x)
    except TypeError:  # a function of integers
        return None
    if y.dtype != "float64":
        return None
    derivative = bt.grad(y, x, disconnected_inputs="ignore")
    points = pt.dvector("points")
    value = bt.function([points], function(points))
    slope = bt.function(
        [points], bt.grad(function(points).sum(), points, disconnected_inputs="ignore")
    )
    low, high = _interval(value)
    at = np.linspace(low, high, 601)
    values, slopes = value(at), slope(at)
    if not np.isfinite(values).any():
        return None
    formula = (
        bt.rewrite.rewrite_graph(derivative)
        ._repr_latex_()
        .strip("$")
        .replace(r"\displaystyle ", "")
    )
    file = f"{name}.svg"
    short = name.rpartition(".")[2]
    _draw(folder / file, short, at, values, slopes, _errors(short, value, low, high))
    text = rf"\frac{{d}}{{dx}} \operatorname{{{name.rpartition('.')[2].replace('_', chr(92) + '_')}}}\left(x\right) = {formula}"
    return Drawn(file, low, high, text if len(formula) <= _LONGEST else "")


def _draw(
    path: Path,
    name: str,
    at: np.ndarray,
    values: np.ndarray,
    slopes: np.ndarray,
    errors: tuple[np.ndarray, np.ndarray] | None,
) -> None:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "bitale"
    from matplotlib.figure import Figure

    path.parent.mkdir(parents=True, exist_ok=True)
    if errors is None:
        figure = Figure(figsize=(5.2, 2.8), layout="constrained")
        axes = figure.subplots()
    else:
        figure = Figure(figsize=(5.2, 3.8), layout="constrained")
        axes, below = figure.subplots(2, height_ratios=[3, 1], sharex=True)
        below.plot(*errors, ".", markersize=2, color="#555555")
        below.axhspan(-0.5, 0.5, color="#dddddd", linewidth=0)  # as good as rounding can be
        below.set_ylabel("error, ulp", fontsize="small")
        below.spines[["top", "right"]].set_visible(False)
    jumps = np.abs(np.diff(values)) > 4 * (np.nanquantile(np.abs(np.diff(values)), 0.98) + 1e-12)
    shown = np.where(np.append(jumps, False), np.nan, values)
    axes.plot(at, shown, label=name, color="#1f77b4")
    axes.plot(at, slopes, label="derivative", color="#d95f02", linestyle="--", linewidth=1.2)
    axes.set_ylim(*_limits(np.concatenate([values, values, slopes])))
    axes.axhline(0, color="#999999", linewidth=0.6)
    axes.legend(frameon=False, fontsize="small")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None})

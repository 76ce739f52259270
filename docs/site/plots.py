"""Plots of functions of one real variable and their derivatives, computed by the library itself."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import bitale as bt
import bitale.tensor as pt
from bitale import _core

_ARITIES = {id(getattr(pt, name)): arity for name, arity in _core.elementwise_functions() if hasattr(pt, name)}
_LONGEST = 140  # letters of a derivative that is shown


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
    slope = bt.function([points], bt.grad(function(points).sum(), points, disconnected_inputs="ignore"))
    low, high = _interval(value)
    at = np.linspace(low, high, 601)
    values, slopes = value(at), slope(at)
    if not np.isfinite(values).any():
        return None
    formula = bt.rewrite.rewrite_graph(derivative)._repr_latex_().strip("$").replace(r"\displaystyle ", "")
    file = f"{name}.svg"
    _draw(folder / file, name.rpartition(".")[2], at, values, slopes)
    text = rf"\frac{{d}}{{dx}} \operatorname{{{name.rpartition('.')[2].replace('_', chr(92) + '_')}}}\left(x\right) = {formula}"
    return Drawn(file, low, high, text if len(formula) <= _LONGEST else "")


def _draw(path: Path, name: str, at: np.ndarray, values: np.ndarray, slopes: np.ndarray) -> None:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "bitale"
    from matplotlib.figure import Figure

    path.parent.mkdir(parents=True, exist_ok=True)
    figure = Figure(figsize=(5.2, 2.8), layout="constrained")
    axes = figure.subplots()
    jumps = np.abs(np.diff(values)) > 4 * (np.nanquantile(np.abs(np.diff(values)), 0.98) + 1e-12)
    shown = np.where(np.append(jumps, False), np.nan, values)
    axes.plot(at, shown, label=name, color="#1f77b4")
    axes.plot(at, slopes, label="derivative", color="#d95f02", linestyle="--", linewidth=1.2)
    axes.set_ylim(*_limits(np.concatenate([values, values, slopes])))
    axes.axhline(0, color="#999999", linewidth=0.6)
    axes.legend(frameon=False, fontsize="small")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None})

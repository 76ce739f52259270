#!/usr/bin/env python3
"""Runs an example, and draws a picture of what it has found: the names of its module, and those of its function `main`.

pictures.py EXAMPLE FILE.svg"""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

import bitale as bt


def kalman(found: Any, figure: Any) -> None:
    axes = figure.subplots()
    years = np.arange(1871, 1871 + len(found.nile))
    axes.plot(years, found.nile, ".", color="#777777", label="observed")
    axes.plot(
        years[1:],
        found.filtered(found.nile, found.at),
        color="#d95f02",
        label="level, expected for the next year",
    )
    axes.set_ylabel("flow of the Nile, 1e8 m³ a year")
    axes.legend(frameon=False)


def lotka_volterra(found: Any, figure: Any) -> None:
    axes = figure.subplots()
    path = bt.function([found.log_parameters], found.path)(found.at)
    times = 1900 + (np.arange(len(path)) + 1) * found.dt
    for column, name, color in ((0, "hares", "#1f77b4"), (1, "lynxes", "#d95f02")):
        axes.plot(times, path[:, column], color=color, label=name)
        axes.plot(
            1900 + np.arange(len(found.pelts)),
            found.pelts[:, column],
            "o",
            color=color,
            markersize=4,
        )
    axes.set_ylabel("thousands of pelts")
    axes.legend(frameon=False)


def hmm(found: Any, figure: Any) -> None:
    axes = figure.subplots()
    axes.fill_between(
        np.arange(len(found.states)),
        found.states,
        step="mid",
        color="#dddddd",
        label="the die is loaded",
    )
    axes.plot(
        found.posterior[:, 1],
        color="#d95f02",
        linewidth=1,
        label="its probability, given all rolls",
    )
    axes.set_xlabel("roll")
    axes.legend(frameon=False, loc="upper right")


def gp_co2(found: Any, figure: Any) -> None:
    axes = figure.subplots()
    ahead = found.when[~found.known]
    expected = found.mean + found.values
    axes.plot(found.times, found.seen, color="#777777", linewidth=0.8, label="seen by the fit")
    axes.plot(ahead, found.level[~found.known], "k.", markersize=3, label="measured later")
    axes.fill_between(
        ahead,
        expected - 2 * found.deviations,
        expected + 2 * found.deviations,
        color="#d95f02",
        alpha=0.3,
    )
    axes.plot(
        ahead,
        expected,
        color="#d95f02",
        linewidth=1,
        label="expected, with two standard deviations",
    )
    axes.set_ylabel("carbon dioxide, ppm")
    axes.legend(frameon=False)


def pca_digits(found: Any, figure: Any) -> None:
    axes = figure.subplots(2, 10)
    for k in range(10):
        for row, images in enumerate((found.images, found.back)):
            axes[row, k].imshow(images[k].reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
            axes[row, k].set_axis_off()
    figure.suptitle("digits, and the same made of ten components", fontsize="medium")


def particle_filter(found: Any, figure: Any) -> None:
    axes = figure.subplots()
    axes.plot(found.series, ".", color="#777777", label="observed")
    axes.plot(found.expected, color="#1f77b4", label="Kalman's filter, exact")
    axes.plot(found.found, color="#d95f02", linestyle="--", label="particles")
    axes.legend(frameon=False)


def county_years(found: Any, figure: Any) -> None:
    axes = figure.subplots()
    for k, name in enumerate(found.names[:4]):
        axes.plot(found.years, np.asarray(found.found)[k], color=f"C{k}", label=name)
        axes.plot(found.years, found.true_level[k], color=f"C{k}", linestyle=":", linewidth=1)
    axes.set_ylabel("level; dotted: the true one")
    axes.legend(frameon=False)


def _images(figure: Any, shown: dict[str, Any], **options: Any) -> None:
    """Images next to each other, by title."""
    for each, (title, image) in zip(figure.subplots(1, len(shown)), shown.items()):
        each.imshow(image, **options)
        each.set_title(title, fontsize="medium")
        each.set_axis_off()


def image_stack(found: Any, figure: Any) -> None:
    _images(
        figure,
        {"one frame": found.stack[0], "slopes": found.slope_map, "true response": found.response},
        cmap="viridis",
    )


def image_pipeline(found: Any, figure: Any) -> None:
    shown = {"as the camera sees it": found.seen, "restored": found.restored, "true": found.sharp}
    _images(figure, shown, cmap="gray", vmin=0, vmax=found.sharp.max())


def bym2(found: Any, figure: Any) -> None:
    shown = {"counts by exposure": found.raw, "effects found": found.found, "true": found.truth}
    _images(
        figure,
        {title: effects.reshape(found.side, found.side) for title, effects in shown.items()},
        cmap="viridis",
        vmin=-0.5,
        vmax=1.2,
    )


def matern(found: Any, figure: Any) -> None:
    seen = np.full(found.points, np.nan)
    seen[found.observed] = found.data
    shown = {
        "observed": seen,
        "expected": found.predict(*found.fit.x, found.data),
        "true": found.field,
    }
    limit = np.abs(found.field).max()
    _images(
        figure,
        {title: values.reshape(found.size, found.size) for title, values in shown.items()},
        cmap="RdBu",
        vmin=-limit,
        vmax=limit,
    )


def bundle_adjustment(found: Any, figure: Any) -> None:
    """The unknowns where they begin and where they end, seen from above."""
    axes = figure.subplots(1, 2, sharex=True, sharey=True)
    for each, unknowns, title in zip(
        axes, (found.at_start, found.found), ("at the start", "adjusted")
    ):
        pose, place = (
            unknowns[: 3 * found.cameras].reshape(-1, 3),
            unknowns[3 * found.cameras :].reshape(-1, 2),
        )
        each.plot(
            *found.true_place.T,
            "o",
            markersize=6,
            markerfacecolor="none",
            color="#999999",
            label="true landmarks",
        )
        each.plot(*place.T, ".", color="#1f77b4", label="landmarks")
        each.quiver(
            *pose[:, :2].T,
            np.cos(pose[:, 2]),
            np.sin(pose[:, 2]),
            color="#d95f02",
            width=0.006,
            label="cameras",
        )
        each.set_title(title, fontsize="medium")
        each.set_aspect("equal")
    figure.legend(
        *axes[0].get_legend_handles_labels(),
        frameon=False,
        fontsize="small",
        loc="outside lower center",
        ncols=3,
    )


def metropolis(found: Any, figure: Any) -> None:
    axes = figure.subplots()
    axes.hist2d(found.mu, np.log(found.tau), bins=120, cmap="Blues")
    axes.set_xlabel("mean effect of coaching")
    axes.set_ylabel("logarithm of the spread of schools")


_DRAWINGS = (
    kalman,
    lotka_volterra,
    hmm,
    gp_co2,
    pca_digits,
    particle_filter,
    county_years,
    image_stack,
    image_pipeline,
    bym2,
    matern,
    bundle_adjustment,
    metropolis,
)
DRAWN: dict[str, Callable[[Any, Any], None]] = {each.__name__: each for each in _DRAWINGS}

# Examples whose whole run takes few seconds, and gives the better picture.
IN_FULL = {"image_pipeline", "bym2", "matern"}


def run(example: Path) -> SimpleNamespace:
    """Runs a program, and returns the names that its module and its main function have at their end. Programs end by
    sys.exit, after which they can't be asked."""
    kept: dict[str, Any] = {}

    def keep(frame: Any, event: str, _: Any) -> None:
        if (
            event == "return"
            and frame.f_code.co_filename == str(example)
            and frame.f_code.co_name in ("main", "<module>")
        ):
            kept.update(frame.f_locals)

    sys.path.insert(0, str(example.parent))
    sys.setprofile(keep)
    try:
        runpy.run_path(str(example), run_name="__main__")
    except SystemExit as end:
        if end.code:
            raise
    finally:
        sys.setprofile(None)
    return SimpleNamespace(**kept)


def main() -> None:
    example, target = Path(sys.argv[1]), Path(sys.argv[2])
    if example.stem not in IN_FULL:
        os.environ["BITALE_EXAMPLE_QUICK"] = "1"
    found = run(example)
    if draw := DRAWN.get(example.stem):
        import matplotlib

        matplotlib.use("svg")
        matplotlib.rcParams["svg.hashsalt"] = "bitale"
        from matplotlib.figure import Figure

        figure = Figure(figsize=(7, 2 if draw is pca_digits else 3.4), layout="constrained")
        draw(found, figure)
        figure.savefig(target, metadata={"Date": None})


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""The gradients of posteriordb's log densities: time to prepare and time of a call, beside stanli (the interpreter of Stan programs)
where it is installed and the programs are there. It also compares values and gradients.

Usage: run.py FOLDER [--page docs/league.md]

FOLDER is `posterior_database` of a checkout of posteriordb: `posteriors/*.json`, `data/data/*.json.zip`, `models/stan/*.stan`."""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path[:0] = [str(folder) for folder in Path(__file__).resolve().parents[:2]]

import numpy as np

import bitale as bt
from models import CENTRES, MODELS, log_density
from page import machine, replace_section

POINTS = 3  # at which values and gradients are compared


def posteriors(folder: Path) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Names of posteriors whose model is here, the model's, and the data."""
    for path in sorted((folder / "posteriors").glob("*.json")):
        described = json.loads(path.read_text())
        if described["model_name"] not in MODELS:
            continue
        with zipfile.ZipFile(folder / "data" / "data" / f"{described['data_name']}.json.zip") as archive:
            yield described["name"], described["model_name"], json.loads(archive.read(archive.namelist()[0]))


def seconds_of(function: Callable[[], Any], turns: int = 7, span: float = 0.004) -> float:
    """Processor time of a call: the smallest of several turns."""
    best = math.inf
    for _ in range(turns):
        calls, begin = 0, time.process_time()
        while (elapsed := time.process_time() - begin) < span:
            function()
            calls += 1
        best = min(best, elapsed / max(calls, 1))
    return best


def points(name: str, size: int) -> list[np.ndarray]:
    centre = np.array(CENTRES.get(name, [0.0] * size))
    return [centre + np.random.default_rng(seed).uniform(-0.5, 0.5, size) for seed in range(POINTS)]


def prepared(name: str, data: dict[str, Any]) -> tuple[Any, int, float]:
    """The compiled value and gradient, the number of unconstrained parameters, and the processor time until the first result."""
    begin = time.process_time()
    q, total, size = log_density(name, data)
    function = bt.function([q], [total, bt.grad(total, q)])
    function(points(name, size)[0])
    return function, size, time.process_time() - begin


def differences(ours: list[Any], theirs: list[Any]) -> tuple[float, float]:
    """Relative to the largest: of values up to a common constant, which Stan's statements drop, and of gradients."""
    shifts = [float(a[0]) - float(b[0]) for a, b in zip(ours, theirs)]
    size = max(1.0, *(abs(float(b[0])) for b in theirs))
    gradients = [np.max(np.abs(a[1] - b[1])) / max(np.max(np.abs(b[1])), 1e-300) for a, b in zip(ours, theirs)]
    return max(abs(shift - shifts[0]) for shift in shifts) / size, float(max(gradients))


def measure(folder: Path) -> list[dict[str, Any]]:
    try:
        import stanli
    except ImportError:
        stanli = None
    rows = []
    for name, model, data in posteriors(folder):
        function, size, cold = prepared(model, data)
        _, _, warm = prepared(model, data)
        at = points(model, size)
        row = {"name": name, "size": size, "cold": cold, "warm": warm, "call": seconds_of(lambda: function(at[0]))}
        program = folder / "models" / "stan" / f"{model}.stan"
        if stanli and program.is_file():
            begin = time.process_time()
            other = stanli.Model(stan_code=program.read_text(), data=data)
            other.log_prob_grad(at[0])
            row["their_preparation"] = time.process_time() - begin
            row["values"], row["gradients"] = differences([function(x) for x in at], [other.log_prob_grad(x) for x in at])
            row["their_call"] = seconds_of(lambda: other.log_prob_grad(at[0]))
        rows.append(row)
        print(row, file=sys.stderr, flush=True)
    return rows


def geometric_mean(values: list[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def table(rows: list[dict[str, Any]]) -> str:
    compared = [row for row in rows if "their_call" in row]
    lines = ["| posterior | parameters | preparation, ms: cold | warm | stanli | gradient, µs | stanli | ratio | difference |", "|---|---|---|---|---|---|---|---|---|"]
    for row in rows:
        theirs = ["", "", "", ""]
        if "their_call" in row:
            theirs = [
                f"{row['their_preparation'] * 1e3:.0f}", f"{row['their_call'] * 1e6:.1f}", f"{row['call'] / row['their_call']:.2f}",
                f"{max(row['values'], row['gradients']):.0e}",
            ]  # fmt: skip
        lines.append(
            f"| {row['name']} | {row['size']} | {row['cold'] * 1e3:.0f} | {row['warm'] * 1e3:.0f} | {theirs[0]} "
            f"| {row['call'] * 1e6:.1f} | {theirs[1]} | {theirs[2]} | {theirs[3]} |"
        )
    median = lambda key: sorted(row[key] for row in rows)[len(rows) // 2]  # noqa: E731
    lines.append("")
    lines.append(f"Median of preparation: {median('cold') * 1e3:.0f} ms cold, {median('warm') * 1e3:.0f} ms warm.")
    if compared:
        ratios = [row["call"] / row["their_call"] for row in compared]
        lines.append(
            f"Geometric mean of the ratios of {len(compared)} posteriors: {geometric_mean(ratios):.2f}; the largest is {max(ratios):.2f}."
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--page", type=Path, help="a page whose table, between two comments, is replaced")
    arguments = parser.parse_args()
    if not (arguments.folder / "posteriors").is_dir():
        parser.error(f"{arguments.folder} has no folder `posteriors`: name `posterior_database` of a checkout of posteriordb")
    measured_on = machine(f"Bitale {bt.__version__}")
    text = f"{measured_on}.\n\n{table(measure(arguments.folder))}\n"
    if arguments.page:
        try:
            replace_section(arguments.page, "<!-- posteriordb -->", "<!-- end -->", text)
        except ValueError as error:
            parser.error(str(error))
    else:
        print(text)


if __name__ == "__main__":
    main()

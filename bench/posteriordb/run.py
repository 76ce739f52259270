#!/usr/bin/env python3
"""The gradients of posteriordb's log densities: time to prepare and time of a call, beside stanli (the interpreter of Stan programs)
where it is installed and the programs are there. It also compares values and gradients.

Usage: run.py FOLDER [--page docs/league.md]

FOLDER is `posterior_database` of a checkout of posteriordb: `posteriors/*.json`, `data/data/*.json.zip`, `models/stan/*.stan`."""

from __future__ import annotations

import argparse
import ctypes
import json
import math
import re
import shutil
import subprocess
import sys
import tempfile
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

# What a sampler in C does.
CALLS = """#include <stddef.h>
typedef int function(size_t, const double *, double *, double *, const void *);
int repeat(function *f, size_t calls, size_t n, const double *x, double *gradient, double *value) {
  for (size_t call = 0; call < calls; ++call)
    if (f(n, x, gradient, value, NULL)) return 1;
  return 0;
}
"""


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


def caller_in_c() -> Any:
    """`repeat` of CALLS, or None without a C compiler."""
    compiler = shutil.which("cc")
    if not compiler:
        return None
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "calls.c"), Path(folder, "calls.so")
        source.write_text(CALLS)
        subprocess.run([compiler, "-O2", "-shared", "-fPIC", source, "-o", library], check=True)
        return ctypes.CDLL(str(library)).repeat


def seconds_by_address(repeat: Any, function: Any, at: np.ndarray) -> float:
    """Processor time of a call of the C function, from C."""
    x, gradient, value = np.array(at), np.empty(at.size), np.empty(1)
    address = ctypes.c_void_p(function.address("value_and_grad"))
    count = 100

    def calls() -> None:
        sizes, arrays = map(ctypes.c_size_t, (count, x.size)), (ctypes.c_void_p(each.ctypes.data) for each in (x, gradient, value))
        if repeat(address, *sizes, *arrays):
            raise RuntimeError("the call by address failed")

    return seconds_of(calls) / count


def most_memory() -> float:
    """Of this program so far, in bytes; getrusage() would count the process that started it, too."""
    return int(re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text()).group(1)) * 1024  # type: ignore[union-attr]


def megabytes_of_process(folder: Path, name: str) -> float:
    """The most memory that a process takes which does no more than prepare this posterior and call it."""
    run = subprocess.run([sys.executable, __file__, str(folder), "--memory", name], check=True, capture_output=True, text=True)
    return float(run.stdout)


def points(name: str, size: int) -> list[np.ndarray]:
    centre = np.array(CENTRES.get(name, [0.0] * size))
    return [centre + np.random.default_rng(seed).uniform(-0.5, 0.5, size) for seed in range(POINTS)]


def prepared(name: str, data: dict[str, Any], mode: str = "FAST_RUN", clock: Callable[[], float] = time.process_time) -> tuple[Any, int, float]:
    """The compiled value and gradient, the number of unconstrained parameters, and the time until the first result."""
    begin = clock()
    q, total, size = log_density(name, data)
    function = bt.function([q], [total, bt.grad(total, q)], mode=mode)
    function(points(name, size)[0])
    return function, size, clock() - begin


def quickly_prepared(name: str, data: dict[str, Any]) -> float:
    """The time until the first result in mode FAST_START, cold. It is wall time: another thread makes better code meanwhile."""
    with bt.config.change_flags(cache=False):
        return prepared(name, data, "FAST_START", time.perf_counter)[2]


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
    repeat = caller_in_c()
    rows = []
    for name, model, data in posteriors(folder):
        function, size, cold = prepared(model, data)
        _, _, warm = prepared(model, data)
        at = points(model, size)
        quick = quickly_prepared(model, data)
        row = {"name": name, "size": size, "cold": cold, "quick": quick, "warm": warm, "call": seconds_of(lambda: function(at[0]))}
        row["memory"] = megabytes_of_process(folder, name)
        if repeat:
            row["by_address"] = seconds_by_address(repeat, function, at[0])
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
    lines = [
        "| posterior | parameters | preparation, ms: cold | FAST_START | warm | stanli | memory, MB | gradient, µs: in C | from Python | stanli | ratio | difference |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        theirs = ["", "", "", ""]
        if "their_call" in row:
            theirs = [
                f"{row['their_preparation'] * 1e3:.0f}", f"{row['their_call'] * 1e6:.1f}", f"{row['call'] / row['their_call']:.2f}",
                f"{max(row['values'], row['gradients']):.0e}",
            ]  # fmt: skip
        in_c = f"{row['by_address'] * 1e6:.1f}" if "by_address" in row else ""
        lines.append(
            f"| {row['name']} | {row['size']} | {row['cold'] * 1e3:.0f} | {row['quick'] * 1e3:.0f} | {row['warm'] * 1e3:.0f} | {theirs[0]} | {row['memory']:.0f} "
            f"| {in_c} | {row['call'] * 1e6:.1f} | {theirs[1]} | {theirs[2]} | {theirs[3]} |"
        )
    median = lambda key: sorted(row[key] for row in rows)[len(rows) // 2]  # noqa: E731
    lines.append("")
    lines.append(f"Median of preparation: {median('cold') * 1e3:.0f} ms cold, {median('quick') * 1e3:.0f} ms in mode FAST_START, {median('warm') * 1e3:.0f} ms warm. Most memory of a process: {max(row['memory'] for row in rows):.0f} MB.")
    if compared:
        ratios = [row["call"] / row["their_call"] for row in compared]
        lines.append(
            f"Geometric mean of the ratios of {len(compared)} posteriors: {geometric_mean(ratios):.2f}; the largest is {max(ratios):.2f}."
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--memory", metavar="NAME", help="prints the memory in MB of this process after it has called this posterior")
    parser.add_argument("--page", type=Path, help="a page whose table, between two comments, is replaced")
    arguments = parser.parse_args()
    if not (arguments.folder / "posteriors").is_dir():
        parser.error(f"{arguments.folder} has no folder `posteriors`: name `posterior_database` of a checkout of posteriordb")
    if arguments.memory:
        [(model, data)] = [(model, data) for name, model, data in posteriors(arguments.folder) if name == arguments.memory]
        prepared(model, data)
        print(most_memory() / 1e6)
        return
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

"""Times of functions as WebAssembly in Node.js, of the same C compiled for this processor by the same clang, and of Bitale's own code,
all with vectors of 128 bits: the table of docs/browser.md. Each is called many times in turn with the others, and the smallest
time of each counts.

    .venv/bin/python bench/python/wasm.py [--page docs/browser.md]"""

from __future__ import annotations

import argparse
import ctypes
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import bitale
from bitale import tensor as pt

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "docs" / "site" / "demos"), str(ROOT / "bench")]
import functions  # noqa: E402
import page  # noqa: E402

COUNT = 10_000
ROUNDS = 60
ROUNDING = ["-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]

RUNNER = """
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
const { load } = await import(process.argv[2]);
const call = (await load()).prepare(...JSON.parse(readFileSync(process.argv[3])));
for await (const line of createInterface({ input: process.stdin })) {
  const calls = Number(line), start = process.hrtime.bigint();
  for (let k = 0; k < calls; ++k) call.run();
  console.log(Number(process.hrtime.bigint() - start) / calls);
}
"""


def workloads() -> dict[str, tuple[bitale.Function, list[Any]]]:
    x = pt.dvector("x")
    m = pt.dmatrix("m")
    rng = np.random.default_rng(1)
    at = rng.normal(size=COUNT)
    found: dict[str, tuple[bitale.Function, list[Any]]] = {}
    for name in ("exp", "tanh", "log1p", "sin", "erf", "softplus"):
        values = np.abs(at) if name == "log1p" else at
        found[f"`{name}` of 10,000 numbers"] = (
            bitale.function([x], getattr(pt, name)(x), name=f"f_{name}"),
            [values],
        )
    loss = pt.log1p(pt.exp(-x * pt.sin(x))).sum()
    found["loss of 10,000 numbers with its gradient"] = (
        bitale.function([x], [loss, bitale.grad(loss, x)], name="f_loss"),
        [at],
    )
    found["sum of squares of 10,000 numbers"] = (
        bitale.function([x], (x**2).sum(), name="f_squares"),
        [at],
    )
    found["product of matrices, 100 by 100"] = (
        bitale.function([m], pt.dot(m, m), name="f_dot"),
        [rng.normal(size=(100, 100))],
    )
    fit = functions.gaussian_process()[0]
    found["Gaussian process, 60 points: value and gradient"] = (
        fit,
        [np.array([-1.2, 0, -2]), rng.uniform(size=60), rng.normal(size=60)],
    )
    return found


def time_own(function: bitale.Function, values: list[Any], calls: int) -> float:
    """Nanoseconds of a call in this process."""
    start = time.perf_counter_ns()
    for _ in range(calls):
        function(*values)
    return (time.perf_counter_ns() - start) / calls


class Native:
    """The function as C, compiled for this processor with vectors of 128 bits, and called by ctypes."""

    def __init__(self, function: bitale.Function, values: list[Any], folder: Path) -> None:
        name = function.name
        source = function.export_c(folder)[0]
        library = folder / f"{name}.so"
        flags = ["-O3", "-march=native", "-mprefer-vector-width=128", "-fPIC", *ROUNDING]
        subprocess.run(["clang", *flags, "-shared", source, "-lm", "-o", library], check=True)
        self.code = ctypes.CDLL(str(library))[name]
        self.kept = [np.ascontiguousarray(value) for value in values]
        self.arguments: list[Any] = []
        for value in self.kept:
            self.arguments.append(ctypes.c_void_p(value.ctypes.data))
            self.arguments += [ctypes.c_int64(length) for length in value.shape]
        results = function(*values)
        results = results if isinstance(results, list) else [results]
        self.kept += [np.empty_like(result) for result in results] + [np.empty(1 << 20)]
        self.arguments += [ctypes.c_void_p(each.ctypes.data) for each in self.kept[len(values) :]]

    def time(self, calls: int) -> float:
        start = time.perf_counter_ns()
        for _ in range(calls):
            assert self.code(*self.arguments) == 0
        return (time.perf_counter_ns() - start) / calls


class Node:
    """An exported module, called in a process of Node.js that times as many calls as it is told."""

    def __init__(self, function: bitale.Function, values: list[Any], folder: Path) -> None:
        module, script, _ = function.export_wasm(folder)
        self.size = Path(module).stat().st_size
        runner = folder / "runner.mjs"
        runner.write_text(RUNNER)
        given = folder / "arguments.json"
        given.write_text(json.dumps([value.tolist() for value in values]))
        self.process = subprocess.Popen(
            ["node", runner, script, given],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def time(self, calls: int) -> float:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(f"{calls}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def end(self) -> None:
        self.process.communicate()


def table() -> str:
    lines = [
        "| function | module, kB | Bitale, µs | C, µs | WebAssembly, µs | over C |",
        "|---|---|---|---|---|---|",
    ]
    for title, (function, values) in workloads().items():
        with tempfile.TemporaryDirectory() as scratch:
            native = Native(function, values, Path(scratch))
            node = Node(function, values, Path(scratch))
            calls = max(1, int(5e5 / native.time(5)))
            node.time(calls)
            times = [
                (time_own(function, values, calls), native.time(calls), node.time(calls))
                for _ in range(ROUNDS)
            ]
            node.end()
        own, here, there = (min(each) / 1000 for each in zip(*times, strict=True))
        lines.append(
            f"| {title} | {node.size / 1000:.1f} | {own:.1f} | {here:.1f} | {there:.1f} | {there / here:.1f} |"
        )
        print(lines[-1], flush=True)
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--page", type=Path, help="the page whose table is written")
    options = parser.parse_args()
    with bitale.config.change_flags(target="native-128"):
        text = table()
    if options.page:
        node = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True)
        made = f"\nMeasured on {page.machine(f'Node.js {node.stdout.strip()}')}.\n"
        page.replace_section(
            options.page, "<!-- wasm table -->", "<!-- /wasm table -->", f"{text}\n{made}"
        )


if __name__ == "__main__":
    main()

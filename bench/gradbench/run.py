#!/usr/bin/env python3
"""The derivatives of GradBench's evals: Bitale's programs in C++ and in Python, beside C++ by hand and JAX where they are installed. All are
tools of the protocol, on one processor. Their results are compared. Then minimal forms of the costs that evals show (forms.py).

Usage: run.py FOLDER [--evals det,gmm] [--page docs/league.md]

FOLDER has the programs `gradbench` and `gradbench_by_hand`: bench/ of a build tree."""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))

from inputs import DERIVATIVES, SIZES
from page import machine, replace_section

EFFORT = {"min_runs": 5, "min_seconds": 0.3}
OURS, FROM_PYTHON, BY_HAND, JAX = "Bitale", "from Python", "by hand", "JAX"

# What is not run, by tool and eval: those that are not written, and JAX on the largest expansion by minors.
NOT_RUN = {
    BY_HAND: {"ba": "", "ht": "", "saddle": "", "particle": ""},
    JAX: {"saddle": "", "particle": "", "det": "ell=9"},  # reverse mode of a while loop is not JAX's
}


class Tool:
    def __init__(self, command: list[str]):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def evaluate(self, module: str, input: Any) -> Any:
        """The reply to a request of the eval's derivative."""
        assert self.process.stdin and self.process.stdout
        message = {"id": 0, "kind": "evaluate", "module": module, "function": DERIVATIVES[module], "input": {**input, **EFFORT}}
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        reply = json.loads(self.process.stdout.readline())
        if not reply["success"]:
            raise SystemExit(f"{self.process.args}: {module}: {reply['error']}")
        return reply


def tools(folder: Path) -> dict[str, Tool]:
    commands = {OURS: [str(folder / "gradbench")], FROM_PYTHON: [sys.executable, str(HERE / "tool.py")]}
    if (folder / "gradbench_by_hand").exists():
        commands[BY_HAND] = [str(folder / "gradbench_by_hand")]
    if importlib.util.find_spec("jax"):
        commands[JAX] = [sys.executable, str(HERE / "jax_tool.py")]
    return {name: Tool(command) for name, command in commands.items()}


def is_run(tool: str, module: str, size: str) -> bool:
    excepted = NOT_RUN.get(tool, {}).get(module)
    return excepted is None or (excepted != "" and excepted != size)


def difference(ours: Any, theirs: Any) -> float:
    """The largest, relative to the largest number."""
    if isinstance(ours, dict):
        return max(difference(ours[key], theirs[key]) for key in ours)
    a, b = np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float)
    return float(np.max(np.abs(a - b), initial=0.0) / max(np.max(np.abs(b), initial=0.0), 1e-300))


def seconds(reply: Any, name: str) -> float:
    return min(timing["nanoseconds"] for timing in reply["timings"] if timing["name"] == name) * 1e-9


def measure(folder: Path, evals: list[str]) -> list[dict[str, Any]]:
    rows = []
    all_tools = tools(folder)
    for module in evals:
        for size, make in SIZES[module].items():
            input = make()
            replies = {name: tool.evaluate(module, input) for name, tool in all_tools.items() if is_run(name, module, size)}
            ours = replies[OURS]
            row = {"eval": module, "size": size, "prepare": seconds(ours, "prepare")}
            row["times"] = {name: seconds(reply, "evaluate") for name, reply in replies.items()}
            row["difference"] = max((difference(ours["output"], reply["output"]) for name, reply in replies.items() if name != OURS), default=0.0)
            rows.append(row)
            print(row, file=sys.stderr, flush=True)
    return rows


def ratio(row: dict[str, Any]) -> float | None:
    """To the fastest of the others."""
    others = [time for name, time in row["times"].items() if name in (BY_HAND, JAX)]
    return row["times"][OURS] / min(others) if others else None


def microseconds(time: float | None) -> str:
    return "" if time is None else f"{time * 1e6:.2f}" if time < 1e-5 else f"{time * 1e6:.1f}" if time < 1e-3 else f"{time * 1e6:,.0f}"


def table(rows: list[dict[str, Any]]) -> str:
    lines = [
        "| eval | size | preparation, ms | Bitale, µs | from Python | by hand | JAX | ratio to the best | difference |",
        "|---|---|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    for row in rows:
        to_best = ratio(row)
        times = " | ".join(microseconds(row["times"].get(name)) for name in (OURS, FROM_PYTHON, BY_HAND, JAX))
        lines.append(
            f"| {row['eval']} | {row['size']} | {row['prepare'] * 1e3:,.0f} | {times} "
            f"| {'' if to_best is None else f'{to_best:.2f}'} | {row['difference']:.0e} |"
        )
    ratios = [r for r in map(ratio, rows) if r is not None]
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        lines += ["", f"Geometric mean of {len(ratios)} ratios: {mean:.2f}; the largest is {max(ratios):.2f}."]
    return "\n".join(lines)


def versions() -> list[str]:
    found = [f"{name} {importlib.metadata.version(package)}" for name, package in (("JAX", "jax"),) if importlib.util.find_spec(package)]
    import bitale

    return [*found, f"Bitale {bitale.__version__}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--evals", type=lambda text: text.split(","), default=list(SIZES), help="some of: " + ",".join(SIZES))
    parser.add_argument("--page", type=Path, help="a page whose table, between two comments, is replaced")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.evals if name not in SIZES]:
        parser.error(f"no evals of these names: {', '.join(unknown)}")
    if not (arguments.folder / "gradbench").exists():
        parser.error(f"{arguments.folder} has no program `gradbench`: name bench/ of a build tree")
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # the tools inherit it
    text = f"{machine(*versions())}.\n\n{table(measure(arguments.folder, arguments.evals))}\n"
    if arguments.evals == list(SIZES):
        import forms

        text += f"\n{forms.table()}\n"
    if arguments.page:
        try:
            replace_section(arguments.page, "<!-- gradbench -->", "<!-- end -->", text)
        except ValueError as error:
            parser.error(str(error))
    else:
        print(text)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""The derivatives of GradBench's evals: Bitale's programs in C++ and in Python, beside C++ by hand, CppAD, ADOL-C and JAX where they are
installed. All are tools of the protocol, on one processor. Their results are compared. Then minimal forms of the costs that evals show (forms.py).

Usage: run.py FOLDER [--evals det,gmm] [--page docs/measurements/league.md]

FOLDER has the programs `gradbench`, `gradbench_by_hand`, `gradbench_cppad` and `gradbench_adolc`: bench/ of a build tree. All but the first may be
missing."""

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

EFFORT = {"min_runs": 3, "min_seconds": 0.3}
ROUNDS = 3
OURS, FROM_PYTHON, BY_HAND, CPPAD, ADOLC, JAX = (
    "Bitale",
    "from Python",
    "by hand",
    "CppAD",
    "ADOL-C",
    "JAX",
)
PROGRAMS = {
    OURS: "gradbench",
    BY_HAND: "gradbench_by_hand",
    CPPAD: "gradbench_cppad",
    ADOLC: "gradbench_adolc",
}
TOOLS = (OURS, FROM_PYTHON, BY_HAND, CPPAD, ADOLC, JAX)
PEERS = (BY_HAND, CPPAD, ADOLC, JAX)

# Why an eval, or a size of it, is not run by a tool.
LOOPS = (
    "they differentiate descents of unknown length, for which tapes would be recorded at each step"
)
LONG = "recording and optimizing its tape takes a minute or more, and gigabytes"
NOT_RUN = {
    BY_HAND: dict.fromkeys(("ba", "ht", "saddle", "particle"), "not written"),
    CPPAD: {"kmeans k=100 n=10000 d=16": LONG, "kmeans k=1000 n=10000 d=16": LONG, "gmm d=64 k=25": LONG, "saddle": LOOPS, "particle": LOOPS},
    ADOLC: {"kmeans k=1000 n=10000 d=16": "its trace has 5e8 operations", "saddle": LOOPS, "particle": LOOPS},
    JAX: {"saddle": "no reverse mode of while loops", "particle": "no reverse mode of while loops", "det ell=9": "compiling takes minutes"},
}  # fmt: skip

# An element of `ode` is 0 until a step reaches it, and a step reaches four more: CppAD, which records no sums and products with 0, records nothing.
CONSTANT = {CPPAD: ("ode n=1000 s=10", "ode n=1000 s=100", "ode n=100000 s=10")}


class Tool:
    def __init__(self, command: list[str]):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, **message: Any) -> Any:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps({"id": 0, **message}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def end(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()

    def name(self) -> str:
        return self.ask(kind="start")["tool"]

    def evaluate(self, module: str, input: Any) -> Any:
        """The reply to a request of the eval's derivative."""
        reply = self.ask(
            kind="evaluate", module=module, function=DERIVATIVES[module], input={**input, **EFFORT}
        )
        if not reply["success"]:
            raise SystemExit(f"{self.process.args}: {module}: {reply['error']}")
        return reply


def tools(folder: Path) -> dict[str, Tool]:
    commands = {
        name: [str(folder / program)]
        for name, program in PROGRAMS.items()
        if (folder / program).exists()
    }
    commands[FROM_PYTHON] = [sys.executable, str(HERE / "tool.py")]
    if importlib.util.find_spec("jax"):
        commands[JAX] = [sys.executable, str(HERE / "jax_tool.py")]
    return {name: Tool(commands[name]) for name in TOOLS if name in commands}


def is_run(tool: str, module: str, size: str) -> bool:
    return not {module, f"{module} {size}"} & NOT_RUN.get(tool, {}).keys()


def difference(ours: Any, theirs: Any) -> float:
    """The largest, relative to the largest number."""
    if isinstance(ours, dict):
        return max(difference(ours[key], theirs[key]) for key in ours)
    a, b = np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float)
    return float(np.max(np.abs(a - b), initial=0.0) / max(np.max(np.abs(b), initial=0.0), 1e-300))


def seconds(reply: Any, name: str) -> float:
    return (
        min(timing["nanoseconds"] for timing in reply["timings"] if timing["name"] == name) * 1e-9
    )


def measure(folder: Path, evals: list[str]) -> list[dict[str, Any]]:
    """Several rounds, so that a time is the least of more than one moment; one round is enough for tools that are far from the fastest. Each eval
    has processes of its own, since ADOL-C's evaluations of small tapes take longer after large ones."""
    rows = []
    for module in evals:
        all_tools = tools(folder)
        for size, make in SIZES[module].items():
            input = make()
            row: dict[str, Any] = {
                "eval": module,
                "size": size,
                "prepare": None,
                "difference": 0.0,
                "times": {},
            }
            for _ in range(ROUNDS):
                fastest = min(
                    (time for name, time in row["times"].items() if not is_constant(row, name)),
                    default=math.inf,
                )
                outputs = {}
                for name, tool in all_tools.items():
                    if is_run(name, module, size) and (
                        name == OURS or not row["times"].get(name, 0.0) > 4 * fastest
                    ):
                        reply = tool.evaluate(module, input)
                        row["times"][name] = min(
                            seconds(reply, "evaluate"), row["times"].get(name, math.inf)
                        )
                        outputs[name] = reply["output"]
                        if (
                            name == OURS and row["prepare"] is None
                        ):  # later ones find the code in the cache directory
                            row["prepare"] = seconds(reply, "prepare")
                row["difference"] = max(
                    row["difference"],
                    *(difference(outputs[OURS], output) for output in outputs.values()),
                )
            rows.append(row)
            print(row, file=sys.stderr, flush=True)
        for tool in all_tools.values():
            tool.end()
    return rows


def ratio(row: dict[str, Any]) -> float | None:
    """To the fastest of the others."""
    others = [
        row["times"][name] for name in PEERS if name in row["times"] and not is_constant(row, name)
    ]
    return row["times"][OURS] / min(others) if others else None


def is_constant(row: dict[str, Any], tool: str) -> bool:
    """Whether the result does not depend on the input, as the tool finds when it records: what is timed then is no derivative."""
    return f"{row['eval']} {row['size']}" in CONSTANT.get(tool, ())


def microseconds(time: float | None) -> str:
    return (
        ""
        if time is None
        else f"{time * 1e6:.2f}"
        if time < 1e-5
        else f"{time * 1e6:.1f}"
        if time < 1e-3
        else f"{time * 1e6:,.0f}"
    )


def not_run(names: list[str]) -> list[str]:
    """A line for each reason why a tool of the table has gaps."""
    gaps: dict[tuple[str, str], list[str]] = {}
    for name in names:
        for what, reason in NOT_RUN.get(name, {}).items():
            gaps.setdefault((name, reason), []).append(f"`{what}`")
    return [
        f"- {name} is not run for {', '.join(what)}: {reason}."
        for (name, reason), what in gaps.items()
    ]


def table(rows: list[dict[str, Any]]) -> str:
    names = [name for name in TOOLS if any(name in row["times"] for row in rows)]
    lines = [
        f"| eval | size | preparation, ms | Bitale, µs | {' | '.join(names[1:])} | ratio to the best | difference |",
        "|---|---|---|" + "---|" * (len(names) + 2),
    ]
    for row in rows:
        to_best = ratio(row)
        times = [
            microseconds(row["times"].get(name))
            + "*" * (name in row["times"] and is_constant(row, name))
            for name in names
        ]
        lines.append(
            f"| {row['eval']} | {row['size']} | {row['prepare'] * 1e3:,.0f} | {' | '.join(times)} "
            f"| {'' if to_best is None else f'{to_best:.2f}'} | {row['difference']:.0e} |"
        )
    ratios = [r for r in map(ratio, rows) if r is not None]
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        lines += [
            "",
            f"Geometric mean of {len(ratios)} ratios: {mean:.2f}; the largest is {max(ratios):.2f}.",
        ]
    lines += ["", *not_run(names)]
    return "\n".join(lines)


def versions(tools: dict[str, Tool]) -> list[str]:
    import bitale

    found = [
        f"Bitale {bitale.__version__}",
        *(tools[name].name() for name in (CPPAD, ADOLC) if name in tools),
    ]
    return found + ([f"JAX {importlib.metadata.version('jax')}"] if JAX in tools else [])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--evals",
        type=lambda text: text.split(","),
        default=list(SIZES),
        help="some of: " + ",".join(SIZES),
    )
    parser.add_argument(
        "--page", type=Path, help="a page whose table, between two comments, is replaced"
    )
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.evals if name not in SIZES]:
        parser.error(f"no evals of these names: {', '.join(unknown)}")
    if not (arguments.folder / "gradbench").exists():
        parser.error(f"{arguments.folder} has no program `gradbench`: name bench/ of a build tree")
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # the tools inherit it
    text = f"{machine(*versions(tools(arguments.folder)))}.\n\n{table(measure(arguments.folder, arguments.evals))}\n"
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

"""What each pass of the lowering and each rewrite rule is worth: the kernels, scans and forms are compiled without it, and where their program
differs, they are timed beside the whole. Prints, for each pass or rule, how many of them it changes, by which factor they are slower without
it (geometric mean, and the largest with its name), and the same of the time to compile. What changes programs and buys nothing can go.

Usage: ablation.py [--rules] [--only TEXT]    one thread; --rules: rewrite rules instead of passes; TEXT: a part of the names of benches
"""

import argparse
import contextlib
import io
import math
import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench" / folder) for folder in ("python", "gradbench")]

import bitale as bt
import bitale.tensor as pt
import forms
import scans
from measure import in_turn
from workloads import workloads

Compile = Callable[[], Any]


def passes() -> list[str]:
    """In their order; the last one cannot be left out."""
    table = (ROOT / "src/lowering/lower.cpp").read_text().split("passes_of_programs", 1)[1]
    return re.findall(r'^    \{"(\w+)",', table, re.M)[:-1]


def benches() -> Iterator[tuple[str, Compile, list[Any]]]:
    """Names, functions that compile, and arguments."""
    for work in workloads():
        inputs = [pt.as_tensor_variable(a).type() for a in work.arrays]
        yield (
            work.name,
            lambda work=work, inputs=inputs: bt.function(inputs, work.formula(pt, *inputs)),
            work.arrays,
        )
    for loop in scans.loops():
        yield loop.name, lambda loop=loop: scans.compiled(loop), loop.arrays
    for form in forms.forms():
        inputs = [pt.tensor(dtype=a.dtype.name, shape=a.shape) for a in form.arrays]
        yield (
            form.name,
            lambda form=form, inputs=inputs: bt.function(inputs, form.natural(*inputs)),
            form.arrays,
        )


def compiled(compile: Compile) -> tuple[Any, float]:
    start = time.process_time()
    function = compile()
    return function, time.process_time() - start


def program(function: Any) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as text:
        function.dprint("program")
    return text.getvalue()


def hits() -> dict[str, int]:
    return {rule.name: rule.hits for rule in bt._core.describe_rules()}


@dataclass
class Worth:
    """Of one pass or rule, by bench: how many times slower calls are without it, and compilations."""

    calls: dict[str, float] = field(default_factory=dict)
    compilations: dict[str, float] = field(default_factory=dict)

    def row(self, name: str) -> str:
        largest = max(self.calls, key=self.calls.__getitem__)
        return (
            f"{name:32} {len(self.calls):4} {mean(self.calls):7.3f} {mean(self.compilations):7.3f}"
            f"  {self.calls[largest]:6.2f}  {largest}"
        )


def mean(ratios: dict[str, float]) -> float:
    return math.exp(sum(map(math.log, ratios.values())) / len(ratios))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rules", action="store_true")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    flag = "optimizer_excluding" if options.rules else "lowering__excluding"
    found: dict[str, Worth] = {}
    failed = []
    x = pt.dvector("x")
    bt.function([x], x + 1)  # loads LLVM, which no bench is to be charged with
    for bench, compile, arrays in benches():
        if options.only not in bench:
            continue
        before = hits()
        whole, seconds = compiled(compile)
        fired = [name for name, count in hits().items() if count > before.get(name, 0)]
        expected = program(whole)
        for name in fired if options.rules else passes():
            try:
                with bt.config.change_flags(**{flag: name}):
                    without, longer = compiled(compile)
                if program(without) == expected:
                    continue
                times = in_turn(
                    {"whole": lambda: whole(*arrays), "without": lambda: without(*arrays)}, rounds=7
                )
            except Exception as error:
                failed.append(f"{name}: {bench}: {type(error).__name__}: {str(error)[:100]}")
                continue
            worth = found.setdefault(name, Worth())
            worth.calls[bench] = times["without"] / times["whole"]
            worth.compilations[bench] = longer / seconds
    print(f"{'without':32} {'of':>4} {'calls':>7} {'compile':>7}  {'most':>6}")
    for name in sorted(found, key=lambda name: -mean(found[name].calls)):
        print(found[name].row(name))
    print(*failed, sep="\n")


if __name__ == "__main__":
    main()

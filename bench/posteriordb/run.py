#!/usr/bin/env python3
"""The gradients of posteriordb's log densities: time to prepare and time of a call, beside stanli (the interpreter of Stan programs)
and XLA where they are installed, and compiled Stan programs. It also compares values and gradients.

Usage: run.py FOLDER [--programs FOLDER] [--stan FOLDER] [--only NAME,...] [--page docs/measurements/league.md]

FOLDER is `posterior_database` of a checkout of posteriordb: `posteriors/*.json`, `data/data/*.json.zip`, `models/stan/*.stan`; `--programs`: where
the last are, if elsewhere. `--stan`: where compile_stan.py put libraries."""

from __future__ import annotations

import argparse
import ctypes
import importlib.util
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

sys.path[:0] = [str(folder) for folder in Path(__file__).resolve().parents[:2]]

import numpy as np

import bitale as bt
from models import CENTRES, MODELS, log_density
from page import machine, replace_section

POINTS = 3  # at which values and gradients are compared

# What a sampler in C does: with our functions, and with those of stanli and of Stan's compiled programs.
CALLS = """#include <stddef.h>
typedef int function(size_t, const double *, double *, double *, const void *);
int repeat(function *f, size_t calls, size_t n, const double *x, double *gradient, double *value) {
  for (size_t call = 0; call < calls; ++call)
    if (f(n, x, gradient, value, NULL)) return 1;
  return 0;
}
typedef int theirs(void *, const double *, double *, double *);
int repeat_theirs(theirs *f, size_t calls, void *model, const double *x, double *gradient, double *value) {
  for (size_t call = 0; call < calls; ++call)
    if (f(model, x, value, gradient)) return 1;
  return 0;
}
"""


def posteriors(folder: Path) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Names of posteriors whose model is here, the model's, and the data."""
    for path in sorted((folder / "posteriors").glob("*.json")):
        described = json.loads(path.read_text())
        if described["model_name"] not in MODELS:
            continue
        with zipfile.ZipFile(
            folder / "data" / "data" / f"{described['data_name']}.json.zip"
        ) as archive:
            yield (
                described["name"],
                described["model_name"],
                json.loads(archive.read(archive.namelist()[0])),
            )


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
    """The library of CALLS, or None without a C compiler."""
    compiler = shutil.which("cc")
    if not compiler:
        return None
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "calls.c"), Path(folder, "calls.so")
        source.write_text(CALLS)
        subprocess.run([compiler, "-O2", "-shared", "-fPIC", source, "-o", library], check=True)
        return ctypes.CDLL(str(library))


def seconds_from_c(repeat: Any, address: Any, first: Any, at: np.ndarray) -> float:
    """Processor time of a call of a C function, from C; `first`: what `repeat` takes between the number of calls and the point."""
    x, gradient, value = np.array(at), np.empty(at.size), np.empty(1)
    count = 1

    def calls() -> None:
        if repeat(
            address,
            ctypes.c_size_t(count),
            first,
            *(ctypes.c_void_p(each.ctypes.data) for each in (x, gradient, value)),
        ):
            raise RuntimeError("the call by address failed")

    # So many that what Python takes for each repetition, five microseconds, does not count.
    while True:
        begin = time.process_time()
        calls()
        if time.process_time() - begin >= 0.001:
            break
        count *= 2
    return seconds_of(calls) / count


def most_memory() -> float:
    """Of this program so far, in bytes; getrusage() would count the process that started it, too."""
    return (
        int(re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text()).group(1)) * 1024
    )  # type: ignore[union-attr]


def megabytes_of_process(folder: Path, name: str) -> float:
    """The most memory that a process takes which does no more than prepare this posterior and call it."""
    run = subprocess.run(
        [sys.executable, __file__, str(folder), "--memory", name],
        check=True,
        capture_output=True,
        text=True,
    )
    return float(run.stdout)


def points(name: str, size: int) -> list[np.ndarray]:
    centre = np.array(CENTRES.get(name, [0.0] * size))
    return [centre + np.random.default_rng(seed).uniform(-0.5, 0.5, size) for seed in range(POINTS)]


def prepared(
    name: str,
    data: dict[str, Any],
    mode: str = "FAST_RUN",
    clock: Callable[[], float] = time.process_time,
) -> tuple[Any, int, float, float]:
    """The compiled value and gradient, the number of unconstrained parameters, the time until the first result, and that of the first call alone."""
    points(name, 1)  # NumPy imports its generators at their first use
    begin = clock()
    q, total, size = log_density(name, data)
    function = bt.function([q], [total, bt.grad(total, q)], mode=mode)
    called = clock()
    function(points(name, size)[0])
    end = clock()
    return function, size, end - begin, end - called


def quickly_prepared(name: str, data: dict[str, Any]) -> float:
    """The time until the first result in mode FAST_START, cold, in this thread: calls are interpreted."""
    with bt.config.change_flags(cache=False):
        return prepared(name, data, "FAST_START", time.thread_time)[2]


def differences(ours: list[Any], theirs: list[Any]) -> tuple[float, float]:
    """Relative to the largest: of values up to a common constant, which Stan's statements drop, and of gradients."""
    shifts = [float(a[0]) - float(b[0]) for a, b in zip(ours, theirs)]
    size = max(1.0, *(abs(float(b[0])) for b in theirs))
    gradients = [
        np.max(np.abs(a[1] - b[1])) / max(np.max(np.abs(b[1])), 1e-300)
        for a, b in zip(ours, theirs)
    ]
    return max(abs(shift - shifts[0]) for shift in shifts) / size, float(max(gradients))


def with_stanli(
    row: dict[str, Any],
    c: Any,
    program: str,
    data: dict[str, Any],
    at: list[np.ndarray],
    ours: list[Any],
) -> None:
    import stanli

    begin = time.process_time()
    model = stanli.Model(stan_code=program, data=data)
    model.log_prob_grad(at[0])
    row["stanli_prepared"] = time.process_time() - begin
    row["values"], row["gradients"] = differences(ours, [model.log_prob_grad(x) for x in at])
    row["stanli_python"] = seconds_of(lambda: model.log_prob_grad(at[0]))
    if c:
        row["stanli_c"] = seconds_from_c(
            c.repeat_theirs, stanli._lib.stanli_grad, ctypes.c_void_p(model._m), at[0]
        )


def with_stan(
    row: dict[str, Any], c: Any, library: Path, data: dict[str, Any], at: np.ndarray
) -> None:
    """The compiled Stan program."""
    stan = ctypes.CDLL(str(library))
    stan.stan_new.restype = ctypes.c_void_p
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(data, file)
        file.flush()
        model = stan.stan_new(file.name.encode())
    if not model:
        raise RuntimeError(f"{library} rejects the data")
    row["stan_c"] = seconds_from_c(c.repeat_theirs, stan.stan_grad, ctypes.c_void_p(model), at)


def with_xla(row: dict[str, Any], model: str, data: dict[str, Any], at: np.ndarray) -> None:
    """The same expressions of value and gradient through XLA."""
    try:
        function, _, row["xla_prepared"], _ = prepared(model, data, "JAX")
    except NotImplementedError:  # steps of integrators
        return
    row["xla_python"] = seconds_of(lambda: function(at))


def measure(
    folder: Path, programs: Path, stan: Path | None, only: list[str]
) -> list[dict[str, Any]]:
    has_stanli, has_jax = (importlib.util.find_spec(name) is not None for name in ("stanli", "jax"))
    c = caller_in_c()
    rows = []
    for name, model, data in posteriors(folder):
        if only and model not in only and name not in only:
            continue
        function, size, cold, first = prepared(model, data)
        warm = prepared(model, data)[2]
        at = points(model, size)
        row = {
            "name": name,
            "size": size,
            "cold": cold,
            "first": first,
            "quick": quickly_prepared(model, data),
            "warm": warm,
        }
        row["python"] = seconds_of(lambda: function(at[0]))
        row["memory"] = megabytes_of_process(folder, name)
        if c:
            row["c"] = seconds_from_c(
                c.repeat,
                ctypes.c_void_p(function.address("value_and_grad")),
                ctypes.c_size_t(size),
                at[0],
            )
        if has_stanli and (programs / f"{model}.stan").is_file():
            with_stanli(
                row,
                c,
                (programs / f"{model}.stan").read_text(),
                data,
                at,
                [function(x) for x in at],
            )
        if c and stan and (stan / f"{model}.so").is_file():
            with_stan(row, c, stan / f"{model}.so", data, at[0])
        if has_jax:
            with_xla(row, model, data, at[0])
        rows.append(row)
        print(json.dumps(row), file=sys.stderr, flush=True)
    return rows


def geometric_mean(values: list[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def ratio(row: dict[str, Any]) -> float | None:
    """Of the time of a gradient from C to the best peer's, from C, too."""
    theirs = [row[key] for key in ("stanli_c", "stan_c") if key in row]
    return row["c"] / min(theirs) if theirs and "c" in row else None


def table(rows: list[dict[str, Any]]) -> str:
    columns: list[tuple[str, str, float, str]] = [
        ("preparation, ms: cold", "cold", 1e3, ".0f"), ("FAST_START", "quick", 1e3, ".0f"), ("warm", "warm", 1e3, ".1f"),
        ("stanli", "stanli_prepared", 1e3, ".0f"), ("XLA", "xla_prepared", 1e3, ".0f"), ("first call, µs", "first", 1e6, ".0f"),
        ("memory, MB", "memory", 1, ".0f"), ("gradient from Python, µs", "python", 1e6, ".1f"), ("stanli", "stanli_python", 1e6, ".1f"),
        ("XLA", "xla_python", 1e6, ".1f"), ("in C, µs", "c", 1e6, ".2f"), ("stanli", "stanli_c", 1e6, ".2f"), ("Stan", "stan_c", 1e6, ".2f"),
    ]  # fmt: skip
    used = [column for column in columns if any(column[1] in row for row in rows)]
    lines = [
        "| posterior | parameters | "
        + " | ".join(title for title, *_ in used)
        + " | ratio | difference |",
        "|---" * (len(used) + 4) + "|",
    ]
    for row in rows:
        cells = [f"{row[key] * unit:{form}}" if key in row else "" for _, key, unit, form in used]
        compared = ratio(row)
        cells.append("" if compared is None else f"{compared:.2f}")
        cells.append(f"{max(row['values'], row['gradients']):.0e}" if "values" in row else "")
        lines.append(f"| {row['name']} | {row['size']} | " + " | ".join(cells) + " |")
    median = lambda key: sorted(row[key] for row in rows)[len(rows) // 2]  # noqa: E731
    worst = lambda key: max(row[key] for row in rows)  # noqa: E731
    lines += [
        "",
        "| | preparation, ms: cold | FAST_START | warm | memory, MB |",
        "|---|---|---|---|---|",
    ]
    for title, function in (("median", median), ("worst", worst)):
        lines.append(
            f"| {title} | "
            + " | ".join(f"{function(key) * 1e3:.1f}" for key in ("cold", "quick", "warm"))
            + f" | {function('memory'):.0f} |"
        )
    ratios = [each for row in rows if (each := ratio(row)) is not None]
    if ratios:
        lines += [
            "",
            f"Geometric mean of the ratios of {len(ratios)} posteriors, in C: {geometric_mean(ratios):.3f}; the largest is {max(ratios):.2f}.",
        ]
    for title, key in (("stanli", "stanli_python"), ("XLA", "xla_python")):
        pairs = [row["python"] / row[key] for row in rows if key in row]
        if pairs:
            lines.append(
                f"From Python beside {title}: {geometric_mean(pairs):.3f} over {len(pairs)}, the largest {max(pairs):.2f}."
            )
    pairs = [row["c"] / row["stan_c"] for row in rows if "stan_c" in row]
    if pairs:
        lines.append(
            f"In C beside Stan's compiled programs: {geometric_mean(pairs):.3f} over {len(pairs)}, the largest {max(pairs):.2f}."
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--programs", type=Path, help="where the Stan programs are, if not in models/stan"
    )
    parser.add_argument(
        "--stan", type=Path, help="where compile_stan.py put Stan's compiled programs"
    )
    parser.add_argument("--only", default="", help="models or posteriors, with commas between them")
    parser.add_argument(
        "--memory",
        metavar="NAME",
        help="prints the memory in MB of this process after it has called this posterior",
    )
    parser.add_argument(
        "--page", type=Path, help="a page whose table, between two comments, is replaced"
    )
    arguments = parser.parse_args()
    if not (arguments.folder / "posteriors").is_dir():
        parser.error(
            f"{arguments.folder} has no folder `posteriors`: name `posterior_database` of a checkout of posteriordb"
        )
    if arguments.memory:
        [(model, data)] = [
            (model, data)
            for name, model, data in posteriors(arguments.folder)
            if name == arguments.memory
        ]
        prepared(model, data)
        print(most_memory() / 1e6)
        return
    os.environ.setdefault(
        "XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    )
    measured_on = machine(
        f"Bitale {bt.__version__}",
        *(
            f"{name} {version(name)}"
            for name in ("stanli", "jax")
            if importlib.util.find_spec(name)
        ),
    )
    programs = arguments.programs or arguments.folder / "models" / "stan"
    rows = measure(
        arguments.folder,
        programs,
        arguments.stan,
        [name for name in arguments.only.split(",") if name],
    )
    text = f"{measured_on}.\n\n{table(rows)}\n"
    if arguments.page:
        try:
            replace_section(arguments.page, "<!-- posteriordb -->", "<!-- end -->", text)
        except ValueError as error:
            parser.error(str(error))
    else:
        print(text)


if __name__ == "__main__":
    main()

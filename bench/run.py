#!/usr/bin/env python3
"""Prints the figures that Bitale wants to be judged by, each beside its target, with its rivals timed in the same run.

What one thread does is given as processor time, which doesn't count what others take from the machine; the start of
a program, and whatever uses several threads, as wall time. All are medians. The figures also go to bench/results/ as
JSON.
"""

import argparse
import datetime
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

import table

HERE = Path(__file__).resolve().parent
ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1")
ONE_THREAD["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
# All libraries use vectors of 256 bits, as most processors have them. If told to use Haswell's kernels, the OpenBLAS
# 0.3.34 in NumPy crashes in products of matrices of 350 x 350 where the L2 cache has 1 MiB, so it is given the size of
# a Zen 3's. NumPy names the features to disable individually until 2.3, and by x86-64 levels from 2.4 on; it ignores
# other names. Numba takes the features of this processor unless they are given too, whatever processor is named. The
# kernels of YNNPACK in JAX obey none of its flags (docs/measurements/performance.md).
AT_256 = {
    "NPY_DISABLE_CPU_FEATURES": "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR X86_V4",
    "XLA_FLAGS": f"{ONE_THREAD['XLA_FLAGS']} --xla_cpu_max_isa=AVX2",
    "NUMBA_CPU_NAME": "haswell",
    "NUMBA_CPU_FEATURES": "+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe,+popcnt",
    "OPENBLAS_CORETYPE": "Haswell",
    "OPENBLAS_L2_SIZE": "512",
    "BITALE_BENCH_WIDTH": "256",
}
# The environment may select old kernels, so that results are equal on every machine; here libraries choose their own.
for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    os.environ.pop(name, None)


def google(program, minimum=0.2, repetitions=5):
    """Runs a google-benchmark program; {name: {"cpu": median seconds, counters...}}."""
    command = [
        program,
        "--benchmark_format=json",
        f"--benchmark_min_time={minimum}",
        f"--benchmark_repetitions={repetitions}",
        "--benchmark_enable_random_interleaving=true",
    ]
    environment = {**os.environ, **ONE_THREAD, "BITALE_FLAGS": "cache=off"}
    output = subprocess.run(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True
    )
    scale = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
    found = {}
    for run in json.loads(output.stdout)["benchmarks"]:
        if run.get("aggregate_name") == "median":
            found[run["run_name"]] = {**run, "cpu": run["cpu_time"] * scale[run["time_unit"]]}
    return found


def script(name, peers, one_thread, build="", at_256=False):
    """Runs a script of bench/python and reads what it found."""
    with tempfile.TemporaryDirectory() as nothing_cached:
        # The rivals leave directories behind.
        environment = {
            **os.environ,
            "TMPDIR": nothing_cached,
            "PYTENSOR_FLAGS": f"base_compiledir={nothing_cached}",
            "BITALE_FLAGS": f"base_compiledir={nothing_cached}",
            "BITALE_BENCH_BUILD": str(build),
        }
        if one_thread:
            environment.update(ONE_THREAD)
        if at_256:
            environment.update(AT_256)
            environment["BITALE_FLAGS"] += ",target=x86-64-v3"
        if peers:
            environment["BITALE_BENCH_PEERS"] = "1"
        command = [sys.executable, HERE / "python" / f"{name}.py"]
        output = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    return json.loads(output.stdout.splitlines()[-1])


def start(program, flags, runs=21):
    """Whole processes: wall and processor seconds with Bitale at work, and wall seconds of one that ends at once."""
    wall, busy, empty = [], [], []
    environment = {**os.environ, "BITALE_FLAGS": flags}
    for _ in range(runs):
        used, before = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run([program], stdout=subprocess.DEVNULL, check=True, env=environment)
        wall.append(time.perf_counter() - before)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        busy.append(after.ru_utime - used.ru_utime + after.ru_stime - used.ru_stime)
        before = time.perf_counter()
        subprocess.run([program, "end"], stdout=subprocess.DEVNULL, check=True)
        empty.append(time.perf_counter() - before)
    return {
        "wall": statistics.median(wall),
        "cpu": statistics.median(busy),
        "empty": statistics.median(empty),
    }


def duration(seconds):
    for unit, name in ((1, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds * 1e9:.3g} ns"


def durations(times, leave_out=()):
    return ", ".join(
        f"{name} {duration(seconds)}" for name, seconds in times.items() if name not in leave_out
    )


def cpu_model():
    found = re.search(r"^model name\s*:\s*(.*)$", Path("/proc/cpuinfo").read_text(), re.M)
    return found[1] if found else "unknown processor"


class Rows:
    """The table, printed line by line as it is measured."""

    def __init__(self):
        self.figures = {}
        print(f"{'what':<72}{'target':>10}{'measured':>12}")

    def add(self, key, what, target, measured, details, figures):
        self.figures[key] = figures
        print(f"{what:<72}{target:>10}{measured:>12}")
        print(
            textwrap.fill(details, 110, initial_indent="    ", subsequent_indent="    "), flush=True
        )


def measure_start(rows, build):
    with tempfile.TemporaryDirectory() as kept:
        flags = f"compiledir={kept}"
        start(build / "start", flags, 1)
        t = {"new": start(build / "start", "cache=off"), "kept": start(build / "start", flags)}
        compile_steps(build, kept, 1)
        again = [compile_steps(build, kept, 1) for _ in range(21)]
    for key, target, how in (("new", "≤ 60 ms", "compiling"), ("kept", "≤ 25 ms", "code kept")):
        rows.add(
            f"start_{key}",
            f"C++: start of a program to its first result, {how}",
            target,
            duration(t[key]["wall"]),
            f"processor {duration(t[key]['cpu'])}; a program that ends at once "
            f"{duration(t[key]['empty'])}",
            t[key],
        )
    total = statistics.median(times["total"] for times in again)
    beyond = statistics.median(times["total"] - times["rewrite"] for times in again)
    rows.add(
        "compile_again",
        "compile the digits step in a second process",
        "≤ 8 ms",
        duration(total),
        "wall time; its code is kept",
        again,
    )
    rows.add(
        "compile_again_beyond", "the same, beyond rewriting", "≤ 5 ms", duration(beyond), "", beyond
    )


def compile_steps(build, compiledir, count):
    """Of the last of so many functions that a process of its own compiles, seconds of wall time by phase."""
    command = [build / "compile", compiledir, str(count)]
    answer = subprocess.run(
        command, stdout=subprocess.PIPE, check=True, env={**os.environ, **ONE_THREAD}
    ).stdout
    return dict(
        zip(
            ("total", "rewrite", "lower", "codegen"), (float(word) / 1e3 for word in answer.split())
        )
    )


def at_once(build, compiledir, processes, count):
    """Processor seconds of so many processes that compile the same functions at once."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [build / "compile", compiledir, str(count)]
    running = [
        subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, **ONE_THREAD})
        for _ in range(processes)
    ]
    statuses = [process.wait() for process in running]
    if any(statuses):
        raise RuntimeError("a process that compiles failed")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def measure_many(rows, build, processes=64, functions=50):
    """What compiling takes is what processes take beyond the same with all code kept: start, graphs, rewriting, lowering."""
    rounds = []
    for _ in range(3):
        with tempfile.TemporaryDirectory() as shared, tempfile.TemporaryDirectory() as alone:
            one, many = (
                at_once(build, alone, 1, functions),
                at_once(build, shared, processes, functions),
            )
            one_kept, many_kept = (
                at_once(build, alone, 1, functions),
                at_once(build, shared, processes, functions),
            )
        rounds.append(
            {
                "ratio": (many - many_kept) / (one - one_kept),
                "one": one,
                "many": many,
                "one_kept": one_kept,
                "many_kept": many_kept,
            }
        )
    middle = {name: statistics.median(each[name] for each in rounds) for name in rounds[0]}
    rows.add(
        "compile_at_once",
        f"{processes} processes, the same {functions} functions: compiling, against one process",
        "≤ 1.5 x",
        f"{middle['ratio']:.2f} x",
        f"processor time in all: one process {duration(middle['one'])}, with its code kept {duration(middle['one_kept'])}; "
        f"{processes} processes {duration(middle['many'])}, with all code kept {duration(middle['many_kept'])}",
        rounds,
    )


def measure_python_start(rows):
    t = script("start", False, one_thread=True)
    base = t["wall"]["NumPy"]
    for name in ("compiling", "code kept"):
        rows.add(
            f"start_python_{name}",
            f"Python: from its start to the first result, beyond importing NumPy, {name}",
            "≤ 40 ms",
            duration(t["wall"][name] - base),
            f"Python with NumPy {duration(base)}",
            t["wall"],
        )
    rows.add(
        "memory_python",
        "memory of a Python process that has compiled the digits step",
        "≤ 120 MB",
        f"{t['memory']:.0f} MB",
        "",
        t["memory"],
    )


def measure_compile(rows, build, compiling):
    found = google(build / "compile")
    t = found["compile_step"]
    phases = {name: t[name] for name in ("rewrite", "lower", "codegen", "first")}
    detail = "; ".join(
        [
            f"rewriting {t['rewrite']:.2g} ms, lowering {t['lower']:.2g} ms, native code {t['codegen']:.3g} ms",
            f"graph and gradients {duration(found['build_step']['cpu'])}",
            f"first of a process {t['first']:.3g} ms",
        ]
    )
    if others := durations(compiling, ("Bitale",)):
        detail += "; " + others
    beyond = found["compile_kept"]["beyond_rewriting"] / 1e3
    figures = {
        "cpu": t["cpu"],
        "phases_ms": phases,
        "build": found["build_step"]["cpu"],
        "peers": compiling,
    }
    rows.add("compile", "compile the digits step", "≤ 40 ms", duration(t["cpu"]), detail, figures)
    for name, what, target in (
        ("eight_schools", "eight schools", "≤ 10 ms"),
        ("group_model", "the group model", "≤ 15 ms"),
    ):
        seconds = found[f"compile_model/{name}"]["cpu"]
        rows.add(
            f"compile_{name}",
            f"compile {what} and its gradient",
            target,
            duration(seconds),
            "",
            seconds,
        )
    rows.add(
        "compile_kept",
        "compile it again in a process that has done so, beyond rewriting",
        "≤ 0.5 ms",
        duration(beyond),
        "",
        beyond,
    )


def measure_ratio(rows, key, what, target, times, other="NumPy"):
    rows.add(key, what, target, f"{times['Bitale'] / times[other]:.2f} x", durations(times), times)


def measure_debug_mode(rows):
    found = script("debug_mode", False, one_thread=True)
    times, compiling = found["step"], found["compile"]
    rows.add(
        "debug_mode",
        "DebugMode on the digits step, against FAST_RUN",
        "≤ 200 x",
        f"{times['DebugMode'] / times['FAST_RUN']:.0f} x",
        f"{durations(times)}; compiling {durations(compiling)}",
        found,
    )


def measure_fused(rows, build, peers):
    times = script("fused", peers, one_thread=True)
    by_hand = google(build / "fused")
    times["C++ -O3"] = by_hand["fused_by_hand"]["cpu"]
    measure_ratio(rows, "fused", "exp(-0.5*((x-mu)/s)**2)*tanh(y)+log1p(z), 1e6", "≤ 0.5 x", times)


def measure_width(rows):
    """Elementary functions in vectors of the width that was found best, against the best other one."""
    found = script("width", False, one_thread=True)
    times = found["times"]
    others = {bits: each for bits, each in times.items() if int(bits) != found["bits"]}
    if not others:
        return
    detail = "; ".join(
        f"{bits} bits: exp and tanh {duration(a * 1e-9)} an element, arithmetic {duration(b * 1e-9)}"
        for bits, (a, b) in times.items()
    )
    best = times[str(found["bits"])]
    rows.add(
        "vector_width",
        f"exp(-x**2)*tanh(y) in vectors of {found['bits']} bits, against other widths",
        "≤ 1 x",
        f"{best[0] / min(each[0] for each in others.values()):.2f} x",
        detail,
        found,
    )


def measure_calls(rows, build, peers):
    t = {name: run["cpu"] for name, run in google(build / "call").items()}
    rows.add(
        "call_cpp",
        "call a scalar function from C++",
        "≤ 30 ns",
        duration(t["call_typed"]),
        f"with Arrays {duration(t['call_arrays'])}; on a vector of 8 {duration(t['call_typed_vector_of_8'])}, with "
        f"Arrays {duration(t['call_vector_of_8'])}",
        t,
    )
    rows.add(
        "eight_schools",
        "eight schools and its gradient, ten parameters, typed C++ call",
        "≤ 2 x",
        f"{t['eight_schools_typed'] / t['eight_schools_by_hand']:.2f} x",
        f"{duration(t['eight_schools_typed'])}; by hand {duration(t['eight_schools_by_hand'])}",
        t,
    )
    for key, what, target in (
        ("group_value", "group model, 919 rows of 85 groups, typed C++ call", "≤ 1 x"),
        ("group_gradient", "the same with its gradients", "≤ 1 x"),
        ("product", "product of matrices of 4 x 4, typed C++ call, against CBLAS", "≤ 1 x"),
        ("product/8", "the same, 8 x 8", "≤ 1 x"),
        ("product/16", "the same, 16 x 16", "≤ 1 x"),
    ):
        name, _, size = key.partition("/")
        size = f"/{size or 4}" if name == "product" else ""
        ours, other = t[f"{name}_typed{size}"], t[f"{name}_by_hand{size}"]
        rows.add(
            f"call_{key}",
            what,
            target,
            f"{ours / other:.2f} x",
            f"{duration(ours)}; C++ fast {duration(other)}",
            {"Bitale": ours, "C++ fast": other},
        )
    if peers is not None:
        t = script("call", peers, one_thread=True)
        rows.add(
            "call_python",
            "call a scalar function from Python",
            "≤ 0.2 µs",
            duration(t["Bitale"]),
            durations(t, ("Bitale",)),
            t,
        )


def measure_rewrite_peers(rows):
    t = script("rewrite", True, one_thread=True)
    if "PyTensor" in t:
        rows.add(
            "rewrite_peers",
            "rewrite it, copying included, against PyTensor",
            "≤ 1/50",
            f"1/{t['PyTensor'] / t['Bitale']:.0f}",
            durations(t),
            t,
        )


def measure_rewrite(rows, build):
    found = google(build / "rewrite", minimum=0.1)
    density, short, long = (found[name] for name in ("density", "per_node/1000", "per_node/100000"))
    gradient = next(run for name, run in found.items() if name.startswith("chain_gradient"))
    rows.add(
        "rewrite",
        "rewrite a log density with gradient",
        "≤ 5 ms",
        duration(density["cpu"]),
        f"{density['nodes']:.0f} nodes before, {density['after']:.0f} after",
        density["cpu"],
    )
    each = {count: run["cpu"] / run["nodes"] for count, run in ((1_000, short), (100_000, long))}
    rows.add(
        "rewrite_growth",
        "rewrite time per node, 1e5 against 1e3 nodes",
        "≤ 2 x",
        f"{each[100_000] / each[1_000]:.2g} x",
        f"{duration(each[1_000])} and {duration(each[100_000])}",
        each,
    )
    rows.add(
        "rewrite_chain",
        "1e5 times sin(x)*1.0001+0.5 and its gradient: build, rewrite",
        "≤ 3 s",
        duration(gradient["cpu"]),
        "",
        gradient["cpu"],
    )


def measure_chain(rows, build):
    t = {name: run["cpu"] for name, run in google(build / "chain", minimum=0.05).items()}
    steps = ["build", "clone", "toposort", "dprint", "destroy"]
    short, long = (
        {step: t[f"{step}/{length}"] for step in steps} for length in (100_000, 1_000_000)
    )
    growth = sum(long.values()) / sum(short.values())
    detail = ", ".join(
        f"{step} {duration(long[step])} (1e5: {duration(short[step])})" for step in steps
    )
    rows.add(
        "chain", "a chain of 1e6 nodes, against one of 1e5", "10 x", f"{growth:.1f} x", detail, t
    )


def measure_huge(rows, build):
    found = google(build / "huge", repetitions=2)
    runs = {name.removesuffix("/iterations:1"): run for name, run in found.items()}
    for kind, what in (("scalars", "of scalars"), ("vectors", "of vectors")):
        short, long = runs[f"{kind}/10000"], runs[f"{kind}/100000"]
        phases = {name: long[name] for name in ("rewrite", "lower", "codegen")}
        rows.add(
            f"huge_{kind}",
            f"1e5 times sin(x)*1.0001+0.5 {what} and its gradient: compiled",
            "≤ 10 s",
            duration(long["cpu"]),
            f"{durations(phases)}; 1e4 times: {duration(short['cpu'])}",
            long["cpu"],
        )
    few, many = runs["loops/500"]["cpu"], runs["loops/5000"]["cpu"]
    rows.add(
        "huge_loops",
        "5,000 loops compiled, against 500",
        "10 x",
        f"{many / few:.1f} x",
        f"{duration(few)} and {duration(many)}",
        many,
    )


def measure_kernels(rows, build, peers, at_256=False):
    """Each kernel against the best of its rivals; their times beside it, and the share of what memory or ports allow."""
    found = script("kernels", peers, one_thread=True, build=build, at_256=at_256)
    memory, kernels = found["memory"], found["kernels"]
    if memory:
        print(
            f"\nmemory: {memory['read'] / 1e9:.1f} GB/s read, {memory['triad'] / 1e9:.1f} GB/s in STREAM's triad",
            end="",
        )
    if not any(found["bound"].values()):
        print(
            "\nno share of what the ports allow: that takes llc and llvm-mca (Debian: llvm)", end=""
        )
    ratios = {}
    print(f"\n{'kernel':<44}{'Bitale':>10}{'of best':>9}{'GB/s':>7}{'of ports':>10}   rivals")
    for name, times in kernels.items():
        rivals = {rival: seconds for rival, seconds in times.items() if rival != "Bitale"}
        if rivals:  # without peers, an index by arrays and the like have none
            ratios[name] = times["Bitale"] / min(rivals.values())
        of_best = f"{ratios[name]:.2f}x" if rivals else ""
        moved = (
            f"{found['moved'][name] / times['Bitale'] / 1e9:.1f}" if found["moved"][name] else ""
        )
        share = found["bound"][name]
        bound = f"{share:.0%}" if share else ""
        print(
            f"{name:<44}{duration(times['Bitale']):>10}{of_best:>9}{moved:>7}{bound:>10}   {durations(rivals)}"
        )
    print()
    libraries = {
        name: {rival: seconds for rival, seconds in times.items() if not rival.startswith("C++")}
        for name, times in kernels.items()
    }
    by_library = [
        times["Bitale"] / min(seconds for rival, seconds in times.items() if rival != "Bitale")
        for times in libraries.values()
        if len(times) > 1
    ]
    key, width = ("kernels_256", " at 256 bits") if at_256 else ("kernels", "")
    rows.add(
        key,
        f"kernels{width}: time / the best rival's, geometric mean",
        "≤ 1 x",
        f"{statistics.geometric_mean(ratios.values()):.2f} x",
        f"the worst {max(ratios.values()):.2f} x, {max(ratios, key=ratios.get)}; {sum(r <= 1 for r in ratios.values())} "
        f"of {len(ratios)} at most as long",
        found,
    )
    rows.add(
        f"{key}_libraries",
        f"kernels{width}: time / the best library's, geometric mean",
        "≤ 0.7 x",
        f"{statistics.geometric_mean(by_library):.2f} x",
        f"the worst {max(by_library):.2f} x",
        by_library,
    )
    return found


def measure_scans(rows, build, peers):
    """Loops against the same by hand in C++ and in JAX, and from the expression to the first result."""
    for name, found in script("scans", peers, one_thread=True, build=build).items():
        ratios = ", ".join(
            f"{found['times']['Bitale'] / seconds:.2f} of {rival}"
            for rival, seconds in found["times"].items()
            if rival != "Bitale"
        )
        rows.add(
            f"scan_{name}",
            f"{name} ({found['target']})",
            "",
            duration(found["times"]["Bitale"]),
            f"{ratios}; {durations(found['times'], ('Bitale',))}; first call {duration(found['first'])} (≤ 60 ms)",
            found,
        )


def measure_draws(rows, build, peers):
    """Random draws against NumPy's and JAX's, what fuses with them, and a chain against C++."""
    for one_thread in (True, False):
        for name, found in script("draws", peers, one_thread=one_thread, build=build).items():
            ratios = ", ".join(
                f"{found['times']['Bitale'] / seconds:.2f} of {rival}"
                for rival, seconds in found["times"].items()
                if rival != "Bitale"
            )
            rows.add(
                name,
                f"{name} ({found['target']})",
                "",
                duration(found["times"]["Bitale"]),
                f"{ratios}; {durations(found['times'], ('Bitale',))}",
                found,
            )


def measure_optimizers(rows, peers):
    """A step of Adam beside optax under jax.jit, and beside NumPy."""
    for name, times in script("optimizers", peers, one_thread=True).items():
        other = "optax" if "optax" in times else "NumPy in place"
        measure_ratio(
            rows,
            f"adam {name}",
            f"a step of Adam, {name}, against {other}",
            "≤ 0.7 x",
            times,
            other,
        )


def measure_linalg(rows, build, peers):
    """Matrices against NumPy, SciPy, its LAPACK and the peers: each ratio to the best of them, and to each."""
    found = script("linalg", peers, one_thread=True, build=build)
    for name, row in found["times"].items():
        ours, rivals = (
            row["times"]["Bitale"],
            {rival: s for rival, s in row["times"].items() if rival != "Bitale"},
        )
        ratios = ", ".join(f"{ours / seconds:.2f} of {rival}" for rival, seconds in rivals.items())
        best = f"{ours / min(rivals.values()):.2f} x" if rivals else ""
        rows.add(
            f"linalg: {name}",
            f"{name} ({row['target']})" if row["target"] else name,
            "",
            best,
            f"{duration(ours)}; {ratios}; {durations(rivals)}",
            row,
        )
    rows.add(
        "linalg: compile",
        "compile the Gaussian process with its gradient",
        "≤ 60 ms",
        duration(found["compile"]),
        "",
        found["compile"],
    )
    memory = found["memory"]
    rows.add(
        "linalg: memory",
        "peak memory of Cholesky factor, system and gradient, n = 2000, in matrices",
        "≤ 5",
        f"{memory['Bitale']:.1f}",
        ", ".join(f"{name} {count:.1f}" for name, count in memory.items() if name != "Bitale"),
        memory,
    )


def main():
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument(
        "--build",
        type=Path,
        default=HERE.parent / "build" / "release",
        help="where the programs were built",
    )
    arguments.add_argument(
        "--peers",
        action="store_true",
        help="JAX, PyTensor and numexpr too, where they are installed",
    )
    arguments.add_argument(
        "--plot", type=Path, help="the kernels as an SVG picture (needs --peers)"
    )
    arguments.add_argument(
        "--table", type=Path, help="the kernels into the table of this Markdown page"
    )
    arguments.add_argument(
        "--kernels-at-256",
        action="store_true",
        help="the kernels alone, everybody with vectors of 256 bits",
    )
    arguments.add_argument(
        "--linalg-only", action="store_true", help="the rows of linear algebra alone"
    )
    arguments.add_argument("--cpp-only", action="store_true", help="without Python's module")
    options = arguments.parse_args()
    build = options.build.resolve() / "bench"

    load = os.getloadavg()[0]
    machine = {"processor": cpu_model(), "processors": os.cpu_count(), "load": load}
    print(
        f"{machine['processor']}, {machine['processors']} processors, load {load:.1f} before the start"
    )
    if load > 0.5:
        print(
            "Others use this machine now: wall times, and to a lesser degree the rest, are longer than they need be."
        )
    print()
    rows = Rows()
    if options.kernels_at_256:
        measure_kernels(rows, build, options.peers, at_256=True)
        return
    if options.linalg_only:
        measure_linalg(rows, build, options.peers)
        return
    measure_start(rows, build)
    measure_many(rows, build)
    if options.cpp_only:
        measure_compile(rows, build, {})
        measure_calls(rows, build, None)
    else:
        measure_python_start(rows)
        digits = script("digits", options.peers, one_thread=True)
        measure_compile(rows, build, digits["compile"])
        measure_ratio(
            rows, "digits", "digits step, 1,797 x 64, one thread", "≤ 1 x", digits["step"]
        )
        digits = script("digits", options.peers, one_thread=False)
        measure_ratio(
            rows, "digits_threads", "digits step, threads as by default", "", digits["step"]
        )
        measure_width(rows)
        measure_debug_mode(rows)
        measure_fused(rows, build, options.peers)
        measure_calls(rows, build, options.peers)
        measure_scans(rows, build, options.peers)
        measure_draws(rows, build, options.peers)
        measure_optimizers(rows, options.peers)
        measure_linalg(rows, build, options.peers)
    measure_rewrite(rows, build)
    if options.peers and not options.cpp_only:
        measure_rewrite_peers(rows)
    measure_chain(rows, build)
    measure_huge(rows, build)
    kernels = None if options.cpp_only else measure_kernels(rows, build, options.peers)

    results = HERE / "results"
    results.mkdir(exist_ok=True)
    now = datetime.datetime.now().isoformat(timespec="seconds")
    path = results / f"{now.replace(':', '-')}.json"
    path.write_text(
        json.dumps({"time": now, "machine": machine, "figures": rows.figures}, indent=1)
    )
    print(f"\nAlso in {path.relative_to(HERE.parent)}")
    if options.table and kernels:
        table.write(kernels, options.table)
    if options.plot and kernels:
        from plot import plot

        plot(kernels["kernels"], options.plot, f"One thread of {machine['processor']}")


if __name__ == "__main__":
    main()

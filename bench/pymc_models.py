"""PyMC's models on Bitale, on the backends of the same PyTensor, and on stanli, where `pymc_stan.py` has the same model: `./dev bench --pymc`.

Each model and backend is measured in processes of its own, in processor time, of which each has a limit. What was measured is in
bench/results/pymc.json after each model; with --keep, what is there is not measured again."""

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "pymc"))

from page import machine, replace_section
from pymc_stan import PROGRAMS
from pymc_start import cold_and_warm

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "pymc.json"
OURS, WARM, STAN = "BITALE", "BITALE, code kept", "stanli"
NAMES = {"BITALE": "Bitale", "NUMBA": "Numba", "CVM": "C"}


def run(mode, name, cache, limit, *options):
    """What was measured in one process until its end, or that of its processor time, with its compile directories in `cache`; a new one if None."""
    if cache is None:
        with tempfile.TemporaryDirectory() as new:
            return run(mode, name, new, limit, *options)
    # Without a compiler, peers don't compile start values by C, which takes a minute of some models.
    compiler = "" if mode == "CVM" else ",cxx="
    environment = {
        **os.environ,
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "NUMBA_CACHE_DIR": cache,
        "JAX_PLATFORMS": "cpu",
        "PYTENSOR_FLAGS": f"base_compiledir={cache}{compiler}",
        "BITALE_FLAGS": f"base_compiledir={cache}",
    }
    command = [sys.executable, HERE / "pymc_worker.py", mode, name, *options]
    with tempfile.TemporaryFile("w+") as output:
        status = ended_within(
            limit,
            subprocess.Popen(command, env=environment, stdout=output, stderr=subprocess.DEVNULL),
        )
        output.seek(0)
        lines = output.read().splitlines()
    found = {}
    for line in lines:
        if line.startswith("{"):
            found.update(json.loads(line))
    if status != 0:
        found.setdefault(
            "error", f"ended after {limit} s" if status is None else f"status {status}"
        )
    return found


def ended_within(limit, process):
    """The status of a process; None where it was ended after so many seconds of processor time. A limit of the system would make clocks coarse."""
    ticks = os.sysconf("SC_CLK_TCK")
    while True:
        try:
            return process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
            if sum(map(int, fields[11:15])) > limit * ticks:  # with the children that have ended
                process.kill()
                process.wait()
                return None


def measure(name, found, options):
    """{mode: what was measured} of a model: what is in `found`, and the rest."""
    found = dict(found)
    drawn = [] if options.calls else options.draws.split(",")

    def is_done(mode):
        return mode in found and (
            mode not in drawn or not {"effective", "error"}.isdisjoint(found[mode])
        )

    if not is_done(OURS) or WARM not in found:
        with tempfile.TemporaryDirectory() as cache:
            found[OURS] = run(
                OURS, name, cache, options.limit, *(["--draws"] if OURS in drawn else [])
            )
            found[WARM] = run(OURS, name, cache, options.limit)
    peers = [mode for mode in options.modes.split(",") if mode]
    stan = [STAN] if name in PROGRAMS and importlib.util.find_spec("stanli") else []
    for mode in (*peers, *stan):
        if not is_done(mode):
            found[mode] = run(
                mode, name, None, options.limit, *(["--draws"] if mode in drawn else [])
            )
    if options.memory and "memory" not in found:
        # FAST_COMPILE, PyTensor's Python linker, shows the memory that its graphs need.
        found["memory"] = {
            mode: run(mode, name, None, options.limit).get("memory", float("nan"))
            for mode in (OURS, "FAST_COMPILE", *peers)
        }
    if not options.calls and "start" not in found:
        found["start"] = [None if one is None else sum(one.values()) for one in cold_and_warm(name)]
    return found


def peers(found):
    return {
        mode: cell for mode, cell in found.items() if mode not in (OURS, WARM, "memory", "start")
    }


def value(cell, key, factor=1.0):
    """A number of up to three digits; a dash where there is none."""
    if key not in cell:
        return "–"
    number = cell[key] * factor
    return (
        f"{number:,.0f}".replace(",", " ")
        if number >= 99.5
        else f"{number:.{1 if number >= 9.95 else 2}f}"
    )


def table(measured):
    modes = [OURS, *dict.fromkeys(mode for found in measured.values() for mode in peers(found))]
    names = [NAMES.get(mode, mode) for mode in modes]
    head = ["model", "first draw, s: cold", "warm", "first call, ms: cold", "warm", *names[1:]]
    head += [f"a call, µs: {names[0]}", *names[1:], f"effective draws/s: {names[0]}", *names[1:]]
    yield f"| {' | '.join(head)} |"
    yield "|---" * len(head) + "|"
    for name, found in measured.items():
        cells = [found.get(mode, {}) for mode in modes]
        row = [name if found[OURS].get("native", True) else f"{name} (calls back)"]
        row += [
            "–" if seconds is None else f"{seconds:.2f}"
            for seconds in found.get("start", [None, None])
        ]
        row += [value(cell, "linking", 1e3) for cell in (found[OURS], found[WARM], *cells[1:])]
        row += [
            value(cell, key, factor)
            for key, factor in (("call", 1e6), ("effective", 1))
            for cell in cells
        ]
        yield f"| {' | '.join(row)} |"


def over_the_best(found, key, better):
    """Bitale's figure over that of the best peer; above 1: Bitale is worse."""
    others = [cell[key] for cell in peers(found).values() if key in cell]
    if not others or key not in found[OURS]:
        return None
    return found[OURS][key] / min(others) if better is min else max(others) / found[OURS][key]


def summary(measured):
    whole = {n: f for n, f in measured.items() if "linking" in f[OURS] and "linking" in f[WARM]}
    yield f"{len(measured)} models, {sum(f[OURS].get('native', False) for f in measured.values())} of them native throughout"
    for mode, label in ((OURS, "cold"), (WARM, "warm")):
        if not (times := sorted(f[mode]["linking"] for f in whole.values())):
            break
        yield f"linking and first call, {label}: median {statistics.median(times) * 1e3:.0f} ms, worst {times[-1] * 1e3:.0f} ms"
    for at, label in ((0, "cold"), (1, "warm")):
        times = {
            n: f["start"][at]
            for n, f in measured.items()
            if f.get("start", [None, None])[at] is not None
        }
        if times:
            worst = max(times, key=times.get)
            yield f"from the import to the first draw, {label}: median {statistics.median(times.values()):.2f} s, worst {times[worst]:.2f} s ({worst})"
    for key, better, label in (
        ("call", min, "time of a call"),
        ("effective", max, "effective draws"),
    ):
        ratios = {
            n: r for n, f in measured.items() if (r := over_the_best(f, key, better)) is not None
        }
        if ratios:
            behind = ", ".join(
                f"{n} {r:.2f}"
                for n, r in sorted(ratios.items(), key=lambda item: -item[1])
                if r > 1.05
            )
            yield f"{label}, behind the best peer: median {statistics.median(ratios.values()):.2f}; more than 1.05: {behind or 'none'}"
    for name, found in measured.items():
        for mode, cell in found.items():
            if isinstance(cell, dict) and "error" in cell:
                yield f"{name}, {mode}: {cell['error']}"
        if found.get("memory"):
            yield f"{name}, MB above importing PyMC: " + ", ".join(
                f"{m} {x:.0f}" for m, x in found["memory"].items()
            )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--modes",
        default="NUMBA,JAX",
        help="peers, by PyTensor's names of modes (CVM: C); empty: none",
    )
    parser.add_argument("--models", default="", help="names of models; default: all")
    parser.add_argument(
        "--calls", action="store_true", help="only first calls and calls, no draws and no start"
    )
    parser.add_argument("--memory", action="store_true", help="also peak memory")
    parser.add_argument(
        "--draws", default="BITALE,NUMBA,JAX,stanli", help="modes whose draws are measured, too"
    )
    parser.add_argument(
        "--limit", type=int, default=120, help="seconds of processor time of each process"
    )
    parser.add_argument(
        "--jobs", type=int, default=1, help="how many models are measured at once, for haste"
    )
    parser.add_argument("--keep", action="store_true", help="measure what the last run has not")
    parser.add_argument(
        "--page", type=Path, help="a page whose table, between two comments, is replaced"
    )
    options = parser.parse_args()
    from models import MODELS  # which imports PyMC

    measured = json.loads(RESULTS.read_text()) if options.keep and RESULTS.exists() else {}
    names = [n for n in options.models.split(",") if n] or list(MODELS)
    if unknown := [n for n in names if n not in MODELS]:
        parser.error(f"no models {', '.join(unknown)}; there are: {', '.join(MODELS)}")
    RESULTS.parent.mkdir(exist_ok=True)
    with ThreadPoolExecutor(options.jobs) as pool:
        running = {
            pool.submit(measure, name, measured.get(name, {}), options): name for name in names
        }
        for future in as_completed(running):
            name, found = running[future], future.result()
            measured[name] = found
            RESULTS.write_text(json.dumps(measured, indent=1))
            print(list(table({name: found}))[2], flush=True)
    measured = {name: measured[name] for name in names}
    text = f"{machine()}. {'; '.join(summary(measured))}.\n\n" + "\n".join(table(measured)) + "\n"
    if options.page:
        replace_section(options.page, "<!-- models -->", "<!-- end -->", text)
    print("\n".join([*summary(measured), "", *table(measured)]))


main()

"""PyMC's models on Bitale, against the backends of the same PyTensor in the same run: `./dev bench --pymc`."""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from pymc_start import cold_and_warm

HERE = Path(__file__).resolve().parent
NUTPIE = ("eight_schools_not_centred", "radon", "horseshoe")
MEMORY = ("radon", "gp_marginal")  # models whose memory is measured on the peers, too
APART = ("memory", "start", "nutpie")  # keys of what is measured that are no modes
RESULTS = HERE / "results" / "pymc.json"


def run(mode, names, cache, worker="pymc_worker.py"):
    """{model: what was measured} of one process, with its own compile directories in `cache`, a new one if None."""
    if cache is None:
        with tempfile.TemporaryDirectory() as new:
            return run(mode, names, new, worker)
    environment = {
        **os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "NUMBA_CACHE_DIR": cache,
        "PYTENSOR_FLAGS": f"base_compiledir={cache}", "BITALE_FLAGS": f"base_compiledir={cache}",
    }
    command = [sys.executable, HERE / worker, mode, *names]
    output = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=False, text=True).stdout
    lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    return {line.pop("model"): line for line in lines}


def median(found, key, names):
    return statistics.median(found[name][key] for name in names)


def milliseconds(seconds):
    return f"{seconds * 1e3:.0f} ms"


def show(found):
    ours, again, peers = found["BITALE"], found["BITALE, code kept"], {k: v for k, v in found.items() if not k.startswith("BITALE") and k not in APART}
    names = [n for n in ours if "error" not in ours[n] and all("error" not in peer.get(n, {"error": ""}) for peer in peers.values())]
    for name in ours:
        if name not in names:
            print(f"left out: {name}: " + "; ".join(f"{k}: {v.get(name, {}).get('error')}" for k, v in found.items() if k not in APART and "error" in v.get(name, {"error": ""})))
    linking = [ours[n]["linking"] for n in names]
    print(f"models: {len(names)}, native throughout: {sum(ours[n]['native'] for n in names)}")
    print(f"PyTensor's rewriting, median                           {milliseconds(median(ours, 'rewriting', names)):>10}")
    print(f"our share of the first call, median  (target 60 ms)    {milliseconds(statistics.median(linking)):>10}")
    print(f"our share of the first call, worst   (target 400 ms)   {milliseconds(max(linking)):>10}")
    print(f"the same, code kept, median          (target 20 ms)    {milliseconds(median(again, 'linking', names)):>10}")
    alone = {name: memory["BITALE"] for name, memory in found["memory"].items()}
    print(f"peak memory above that of importing PyMC, each model alone, median (target 60 MB) {statistics.median(alone.values()):.0f} MB, "
          f"worst {max(alone.values()):.0f} MB  {max(alone, key=alone.get)}")
    for name, memory in found["memory"].items():
        if len(memory) > 1:
            print(f"the same, {name:<18}" + ", ".join(f"{m} {x:.0f} MB" for m, x in memory.items()))
    for mode, peer in peers.items():
        print(f"{mode}: rewriting {milliseconds(median(peer, 'rewriting', names))}, linking and first call "
              f"{milliseconds(median(peer, 'linking', names))}, worst {milliseconds(max(peer[n]['linking'] for n in names))}")
    if peers:
        ratios = {n: ours[n]["call"] / min(peer[n]["call"] for peer in peers.values()) for n in names}
        print(f"one call, ratio to the best peer, median (target 0.6)  {statistics.median(ratios.values()):>10.2f}")
        worst = max(ratios, key=ratios.get)
        print(f"one call, ratio to the best peer, worst  (target 1.0)  {ratios[worst]:>10.2f}  {worst}")


def show_nutpie(rates):
    for name in rates:
        # A separate process for each, with empty caches.
        ours, theirs = (run("first", [backend, name], None, "pymc_nutpie.py")[name]["first"] for backend in ("bitale", "numba"))
        print(f"nutpie, 4 chains, {name}: {rates[name]['draws_per_second']:.0f} draws/s, ratio to Numba {rates[name]['ratio']:.2f} "
              f"(target 1.0); first draw after {ours:.2f} s, Numba {theirs:.1f} s")


def table(found):
    """A line for each model: milliseconds of linking and the first call, microseconds of a call, and, where these were measured, seconds from the import
    to the first draw by nutpie and its effective draws per second."""
    modes = [mode for mode in found if mode not in APART]
    head = ["model", "native", *(f"{m}: ms" for m in modes), *(f"{m}: µs" for m in modes if "kept" not in m)]
    head += ["first draw, cold: s", "warm"] if "start" in found else []
    head += ["Bitale: effective draws/s", "Numba"] if "nutpie" in found else []
    yield f"| {' | '.join(head)} |"
    yield "|---" * len(head) + "|"
    for name, ours in found["BITALE"].items():
        cells = [found[m].get(name, {}) for m in modes]
        row = [name, "yes" if ours.get("native") else "no", *(number(c, "linking", 1e3, 0) for c in cells)]
        row += [number(c, "call", 1e6, 1) for m, c in zip(modes, cells) if "kept" not in m]
        if "start" in found:
            row += ["–" if steps is None else f"{sum(steps.values()):.2f}" for steps in found["start"][name]]
        if "nutpie" in found:
            effective = found["nutpie"].get(name, {}).get("effective", {})
            row += [number(effective, backend, 1, 0) for backend in ("bitale", "numba")]
        yield f"| {' | '.join(row)} |"


def number(cell, key, factor, digits):
    return f"{cell[key] * factor:.{digits}f}" if key in cell else "–"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--modes", default="NUMBA,CVM", help="peers, by PyTensor's names of modes; empty: none")
    parser.add_argument("--models", default="", help="names of models; default: all")
    parser.add_argument("--nutpie", action="store_true", help="also nutpie's draws per second on Bitale and on Numba, for the models that are named, or else for three")
    parser.add_argument("--start", action="store_true", help="also the time from the import to the first draw by nutpie, cold and warm")
    parser.add_argument("--table", action="store_true", help="a line for each model, in Markdown")
    options = parser.parse_args()
    names = [n for n in options.models.split(",") if n]
    found = {}
    with tempfile.TemporaryDirectory() as cache:
        found["BITALE"] = run("BITALE", names, cache)
        found["BITALE, code kept"] = run("BITALE", names, cache)
    for mode in filter(None, options.modes.split(",")):
        with tempfile.TemporaryDirectory() as cache:
            found[mode] = run(mode, names, cache)
    # A separate process for each; FAST_COMPILE, PyTensor's Python linker, shows the memory that its graphs need.
    found["memory"] = {}
    for name in found["BITALE"]:
        found["memory"][name] = {}
        for mode in ("BITALE", *(("FAST_COMPILE", *filter(None, options.modes.split(","))) if name in MEMORY else ())):
            with tempfile.TemporaryDirectory() as cache:
                found["memory"][name][mode] = run(mode, [name], cache).get(name, {}).get("memory", float("nan"))
    if options.start:
        found["start"] = {name: cold_and_warm(name) for name in found["BITALE"]}
    if options.nutpie:
        found["nutpie"] = run("rates", names or NUTPIE, None, "pymc_nutpie.py")
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(found, indent=1))
    show(found)
    if options.nutpie:
        show_nutpie(found["nutpie"])
    if options.table:
        print("\n".join(table(found)))


main()

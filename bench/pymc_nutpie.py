"""nutpie on Bitale's functions and on Numba's. Prints JSON lines. `first BACKEND MODEL...`: seconds from the model to the first draw, in this
process. `rates MODEL...`: draws per second of both backends, and effective draws of the variable with the fewest; they take turns in one process, so
that both meet the same load."""

import json
import statistics
import sys
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "pymc"))
warnings.simplefilter("ignore")

import arviz_stats
import nutpie

from models import MODELS

OPTIONS = dict(tune=500, draws=2000, chains=4, cores=2, progress_bar=False, seed=1)
ROUNDS = 7


def compiled(backend, model):
    if backend == "numba":
        return nutpie.compile_pymc_model(model)
    import bitale.pytensor

    return bitale.pytensor.nutpie(model)


def first(backend, names):
    for name in names:
        model = MODELS[name]()
        begin = time.perf_counter()
        nutpie.sample(compiled(backend, model), **{**OPTIONS, "tune": 1, "draws": 1, "chains": 1})
        print(json.dumps({"model": name, "first": time.perf_counter() - begin}), flush=True)


def fewest_effective(trace):
    return min(float(x.min()) for x in arviz_stats.ess(trace).data_vars.values())


def rates(names):
    for name in names:
        model = MODELS[name]()
        both = {backend: compiled(backend, model) for backend in ("bitale", "numba")}
        found, effective = ({backend: [] for backend in both} for _ in range(2))
        for c in both.values():
            nutpie.sample(c, **{**OPTIONS, "draws": 10})
        for _ in range(ROUNDS):
            for backend, c in both.items():
                begin = time.perf_counter()
                trace = nutpie.sample(c, **OPTIONS)
                seconds = time.perf_counter() - begin
                found[backend].append(4 * 2500 / seconds)
                effective[backend].append(fewest_effective(trace) / seconds)
        ratio = statistics.median(a / b for a, b in zip(found["bitale"], found["numba"]))
        medians = {backend: statistics.median(values) for backend, values in effective.items()}
        print(json.dumps({"model": name, "draws_per_second": statistics.median(found["bitale"]), "ratio": ratio, "effective": medians}), flush=True)


def main():
    what, *names = sys.argv[1:]
    rates(names) if what == "rates" else first(names[0], names[1:])


main()

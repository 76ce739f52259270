"""nutpie on Bitale's functions and on Numba's, in one process each: seconds to the first draw, and draws per second. Prints JSON lines. Arguments:
the backend (bitale or numba), and names of models."""

import json
import sys
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "pymc"))
warnings.simplefilter("ignore")

import nutpie

from models import MODELS

OPTIONS = dict(tune=500, draws=2000, chains=4, cores=2, progress_bar=False, seed=1)


def main():
    backend, *names = sys.argv[1:]
    if backend == "bitale":
        import bitale.pytensor
    for name in names:
        model = MODELS[name]()
        begin = time.perf_counter()
        compiled = bitale.pytensor.nutpie(model) if backend == "bitale" else nutpie.compile_pymc_model(model)
        nutpie.sample(compiled, **{**OPTIONS, "tune": 1, "draws": 1, "chains": 1})
        first = time.perf_counter() - begin
        rate = 0.0
        for _ in range(2):
            begin = time.perf_counter()
            trace = nutpie.sample(compiled, **OPTIONS)
            seconds = time.perf_counter() - begin
            rate = max(rate, 4 * 2500 / seconds)
        steps = float(trace.sample_stats["n_steps"].values.mean())
        print(json.dumps({"model": name, "first": first, "draws_per_second": rate, "steps": steps}), flush=True)


main()

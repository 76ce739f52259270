"""One backend of PyTensor over models of PyMC: what compiling and calling the log density with its gradient take. Prints a line of JSON
for each model. Arguments: the mode, and names of models (default: all)."""

import json
import resource
import sys
import time
import timeit
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "pymc"))
warnings.simplefilter("ignore")

import numpy as np
import pymc as pm
from pytensor.compile.maker import FunctionMaker

from compare import density_graph, points
from models import MODELS

linking = 0.0
create = FunctionMaker.create


def timed_create(self, *args, **kwargs):
    """Keeps the time of the last function that is made: others are made before, while PyTensor folds constants of ops that are graphs."""
    global linking
    begin = time.perf_counter()
    try:
        return create(self, *args, **kwargs)
    finally:
        linking = time.perf_counter() - begin


FunctionMaker.create = timed_create


def measure(name, mode):
    global linking
    model = MODELS[name]()
    vector, outputs = density_graph(model)
    at = points(model)[1]
    begin = time.perf_counter()
    f = pm.compile([vector], outputs, mode=mode)
    rewriting = time.perf_counter() - begin - linking
    f.trust_input = True
    begin = time.perf_counter()
    f(at)
    first = time.perf_counter() - begin
    count = max(1, int(0.05 / max(min(timeit.repeat(lambda: f(at), number=1, repeat=5)), 1e-7)))
    call = min(timeit.repeat(lambda: f(at), number=count, repeat=5)) / count
    report = f.maker.linker.report() if mode == "BITALE" else None
    native = report.is_native if report else True
    return {"rewriting": rewriting, "linking": linking + first, "call": call, "native": native}


def main():
    mode, *names = sys.argv[1:]
    start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # with PyMC imported; a backend's imports count
    if mode == "BITALE":
        import bitale.pytensor  # noqa: F401
    with np.errstate(all="ignore"):
        for name in names or MODELS:
            try:
                found = measure(name, mode)
            except Exception as error:
                found = {"error": f"{type(error).__name__}: {error}"[:200]}
            memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - start) / 1024
            print(json.dumps({"model": name, "memory": memory, **found}), flush=True)


main()

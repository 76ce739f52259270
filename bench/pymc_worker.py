"""One model of PyMC on one backend, in processor time: what compiling and calling the log density with its gradient take, and with --draws,
effective draws per second. Prints a line of JSON for each. Arguments: the mode, or stanli, and the name of the model."""

import json
import resource
import statistics
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

DRAWS, TUNE, CHAINS = {"JAX": 500}, 500, 4  # 2000 draws where JAX, which is slow, has 500
ROUNDS, ROUNDS_END = (
    3,
    5.0,
)  # of draws, of which the median counts; none begins after so many seconds
linking = 0.0
create = FunctionMaker.create


def timed_create(self, *args, **kwargs):
    """Keeps the time of the last function that is made: others are made before, while PyTensor folds constants of ops that are graphs."""
    global linking
    begin = time.process_time()
    try:
        return create(self, *args, **kwargs)
    finally:
        linking = time.process_time() - begin


FunctionMaker.create = timed_create


def say(**found):
    print(json.dumps(found), flush=True)


def time_of(call):
    """The least of several turns."""
    count = max(
        1,
        int(
            0.05 / max(min(timeit.repeat(call, timer=time.process_time, number=1, repeat=5)), 1e-6)
        ),
    )
    return min(timeit.repeat(call, timer=time.process_time, number=count, repeat=5)) / count


def calls(model, mode):
    global linking
    vector, outputs = density_graph(model)
    at = points(model)[1]
    begin = time.process_time()
    f = pm.compile([vector], outputs, mode=mode)
    rewriting = time.process_time() - begin - linking
    f.trust_input = True
    begin = time.process_time()
    f(at)
    first = time.process_time() - begin
    native = f.maker.linker.report().is_native if mode == "BITALE" else True
    say(rewriting=rewriting, linking=linking + first, native=native)
    say(call=time_of(lambda: f(at)))


def calls_of_stan(name):
    from pymc_stan import compiled

    compiled_time = time.process_time()
    stan, model = compiled(name, MODELS[name])
    at = points(model)[1]
    stan.log_prob_grad(at)
    say(linking=time.process_time() - compiled_time)
    say(call=time_of(lambda: stan.log_prob_grad(at)))
    return stan, model


def effective(draw, model):
    """Effective draws per second of the free variable with the fewest. draw: of a seed, the draws by name."""
    import arviz_base
    import arviz_stats

    def rate(seed):
        begin = time.process_time()
        found = draw(seed)
        seconds = time.process_time() - begin
        trace = arviz_base.dict_to_dataset(
            {v.name: found[v.name] for v in model.free_RVs if v.name in found}
        )
        return min(float(x.min()) for x in arviz_stats.ess(trace).data_vars.values()) / seconds

    begin, rates = time.process_time(), []
    while len(rates) < ROUNDS and time.process_time() - begin < ROUNDS_END:
        rates.append(rate(len(rates)))
    say(effective=statistics.median(rates))


def nutpies_draws(model, mode):
    import nutpie

    if mode == "BITALE":
        import bitale.pytensor

        compiled = bitale.pytensor.nutpie.compile_model(model)
    else:
        compiled = nutpie.compile_pymc_model(model, backend=mode.lower())
    options = dict(tune=TUNE, chains=CHAINS, cores=1, progress_bar=False)
    nutpie.sample(compiled, draws=10, seed=1, **{**options, "tune": 10})

    def draw(seed):
        posterior = nutpie.sample(
            compiled, draws=DRAWS.get(mode, 2000), seed=seed, **options
        ).posterior
        return {name: posterior[name].values for name in posterior.data_vars}

    effective(draw, model)


def stanlis_draws(stan, model):
    def draw(seed):
        fit = stan.sample(
            chains=CHAINS, seed=seed + 1, warmup=TUNE, samples=2000, parallel_chains=1, refresh=0
        )
        # A parameter whose name is a word of Stan's has a line below it.
        return {name.rstrip("_"): fit.draws(name) for name in fit.variables}

    effective(draw, model)


def main():
    mode, name, *options = sys.argv[1:]
    start = resource.getrusage(
        resource.RUSAGE_SELF
    ).ru_maxrss  # with PyMC imported; a backend's imports count
    if mode == "BITALE":
        import bitale.pytensor  # noqa: F401
    try:
        with np.errstate(all="ignore"):
            if mode == "stanli":
                stan, model = calls_of_stan(name)
                draws = lambda: stanlis_draws(stan, model)  # noqa: E731
            else:
                calls(MODELS[name](), mode)
                draws = lambda: nutpies_draws(MODELS[name](), mode)  # noqa: E731
            say(memory=(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - start) / 1024)
            if "--draws" in options and (mode in ("BITALE", "NUMBA", "JAX", "stanli")):
                draws()
    except Exception as error:
        say(error=f"{type(error).__name__}: {error}"[:200])


main()

"""How long a PyMC model waits before its first draw by nutpie on Bitale, beyond the import of PyMC: processor time of a process for each model, first
with empty caches (cold) and again (warm). `pymc_start.py MODEL...`; without names, seven models of different kinds. Prints a table in Markdown."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage

MODELS = Path(__file__).resolve().parents[1] / "tests" / "pymc"
SEVEN = (
    "eight_schools_not_centred",
    "varying_slopes_lkj",
    "radon",
    "horseshoe",
    "gp_marginal",
    "state_space_scan",
    "gp_hsgp",
)
STEPS = ("bridge", "nutpie", "model", "compile", "draw")


def processor_time():
    return sum(u.ru_utime + u.ru_stime for u in map(getrusage, (RUSAGE_SELF, RUSAGE_CHILDREN)))


def worker(name):
    sys.path.insert(0, str(MODELS))
    import warnings

    warnings.simplefilter("ignore")
    sys.modules.setdefault("jax", None)  # a peer, which ArviZ imports where it is installed
    import pymc  # noqa: F401

    times = [processor_time()]

    def done():
        times.append(processor_time())

    import bitale.pytensor

    done()
    import nutpie

    done()
    from models import MODELS as all_models

    model = all_models[name]()
    done()
    compiled = bitale.pytensor.nutpie.compile_model(model)
    done()
    nutpie.sample(compiled, tune=1, draws=1, chains=1, cores=1, progress_bar=False, seed=1)
    done()
    print(json.dumps({step: b - a for step, a, b in zip(STEPS, times, times[1:])}))


def measured(name, cache):
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "PYTENSOR_FLAGS": f"base_compiledir={cache},cxx=",
        "NUMBA_CACHE_DIR": cache,
        "BITALE_FLAGS": f"base_compiledir={cache}",
    }
    run = subprocess.run(
        [sys.executable, __file__, "--worker", name],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    found = [line for line in run.stdout.splitlines() if line.startswith("{")]
    return json.loads(found[-1]) if found else None


def cold_and_warm(name):
    """What is measured with empty caches and again; None for a process that failed."""
    with tempfile.TemporaryDirectory() as cache:
        return [measured(name, cache) for _ in range(2)]


def main():
    names = sys.argv[1:] or SEVEN
    print("| model | cold | warm | of this: " + " | ".join(STEPS) + " |")
    print("|---" * (3 + len(STEPS)) + "|")
    for name in names:
        both = cold_and_warm(name)
        if None not in both:
            cells = [f"{sum(one.values()):.2f} s" for one in both] + [
                f"{both[1][step]:.2f}" for step in STEPS
            ]
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    worker(sys.argv[2]) if sys.argv[1:2] == ["--worker"] else main()

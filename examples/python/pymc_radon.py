"""Levels of radon in houses, with intercepts of counties that are partially pooled: sampled by PyMC and by nutpie on Bitale. Data are
drawn from the model itself."""

import os
import sys
import time

try:
    import bitale.pytensor
    import nutpie
    import pymc as pm
except ImportError as missing:
    print(f"skipped: {missing}")  # ./dev setup pymc installs what this needs
    sys.exit()

import numpy as np

draws = 150 if os.environ.get("BITALE_EXAMPLE_QUICK") else 1000
rng = np.random.default_rng(1)
counties, houses = 40, 600
county, floor = rng.integers(0, counties, houses), rng.integers(0, 2, houses)
level = 1.3 + rng.normal(0, 0.3, counties)[county] - 0.6 * floor + rng.normal(0, 0.7, houses)

with pm.Model() as radon:
    mean, spread = pm.Normal("mean", 0, 10), pm.HalfNormal("spread", 1)
    intercept = pm.Normal("intercept", mean, spread, shape=counties)
    slope, noise = pm.Normal("slope", 0, 10), pm.HalfNormal("noise", 2)
    pm.Normal("level", intercept[county] + slope * floor, noise, observed=level)

found = {}
begin = time.perf_counter()
with radon:
    found["pm.sample"] = pm.sample(draws, tune=draws, chains=2, cores=1, backend="BITALE", progressbar=False, random_seed=1)
print(f"pm.sample: {time.perf_counter() - begin:.1f} s")
begin = time.perf_counter()
compiled = bitale.pytensor.nutpie(radon)
print(f"nutpie: compiled in {time.perf_counter() - begin:.2f} s")
found["nutpie"] = nutpie.sample(compiled, draws=draws, tune=draws, chains=2, progress_bar=False, seed=1)
print(f"nutpie: {time.perf_counter() - begin:.1f} s")

for name, trace in found.items():
    print(f"{name:>10}: " + ", ".join(f"{v} {float(trace.posterior[v].mean()):.3f}" for v in ("mean", "spread", "slope", "noise")))
slopes = [float(trace.posterior["slope"].mean()) for trace in found.values()]
assert abs(slopes[0] - slopes[1]) < 0.05

if len(sys.argv) > 1:  # a file for the picture
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    for name, trace in found.items():
        values = trace.posterior["intercept"].values
        plt.errorbar(np.arange(counties) + 0.3 * (name == "nutpie"), values.mean(axis=(0, 1)), values.std(axis=(0, 1)), fmt=".", label=name)
    plt.xlabel("county")
    plt.ylabel("intercept")
    plt.legend()
    plt.savefig(sys.argv[1])

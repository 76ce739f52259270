"""Eight schools: PyMC's sampler and nutpie's on functions that Bitale has compiled, and the posterior of both in one picture."""

import os
import sys

try:
    import bitale.pytensor
    import nutpie
    import pymc as pm
except ImportError as missing:
    print(f"skipped: {missing}")  # ./dev setup pymc installs what this needs
    sys.exit()

import numpy as np

draws = 200 if os.environ.get("BITALE_EXAMPLE_QUICK") else 2000
effects, errors = np.array([28.0, 8, -3, 7, -1, 1, 18, 12]), np.array([15.0, 10, 16, 11, 9, 11, 10, 18])

with pm.Model(coords={"school": list("ABCDEFGH")}) as schools:
    mu, tau = pm.Normal("mu", 0, 5), pm.HalfCauchy("tau", 5)
    eta = pm.Normal("eta", dims="school")
    theta = pm.Deterministic("theta", mu + tau * eta, dims="school")
    pm.Normal("effect", theta, errors, observed=effects, dims="school")
    by_pymc = pm.sample(draws, tune=draws, chains=2, cores=1, backend="BITALE", progressbar=False, random_seed=1)
by_nutpie = nutpie.sample(bitale.pytensor.nutpie(schools), draws=draws, tune=draws, chains=2, progress_bar=False, seed=1)

means = {name: found.posterior["theta"].values.mean(axis=(0, 1)) for name, found in (("pm.sample", by_pymc), ("nutpie", by_nutpie))}
for name, mean in means.items():
    print(f"{name:>10}: " + " ".join(f"{value:5.1f}" for value in mean))
assert np.abs(means["pm.sample"] - means["nutpie"]).max() < 2

if len(sys.argv) > 1:  # a file for the picture
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    for name, found in (("pm.sample", by_pymc), ("nutpie", by_nutpie)):
        plt.hist(found.posterior["theta"].values[..., 0].ravel(), bins=60, density=True, histtype="step", label=name)
    plt.xlabel("effect of school A")
    plt.legend()
    plt.savefig(sys.argv[1])

"""Radon levels in houses, with partially pooled county intercepts: sampled by PyMC and by nutpie, on Bitale and on
PyTensor's own backends. The data are drawn from the model itself. The posteriors agree; an argument names a file
for a picture of them."""

import os
import sys

try:
    import bitale.pytensor  # noqa: F401  registers BITALE
    import nutpie  # noqa: F401
    import pymc as pm
except ImportError as missing:
    print(f"skipped: {missing}")  # ./dev setup pymc installs what this needs
    sys.exit()

import numpy as np
from _posteriors import picture, require_agreement, sampled

draws = 200 if os.environ.get("BITALE_EXAMPLE_QUICK") else 1000
rng = np.random.default_rng(1)
counties, houses = 40, 600
county, floor = rng.integers(0, counties, houses), rng.integers(0, 2, houses)
level = 1.3 + rng.normal(0, 0.3, counties)[county] - 0.6 * floor + rng.normal(0, 0.7, houses)

with pm.Model() as radon:
    mean, spread = pm.Normal("mean", 0, 10), pm.HalfNormal("spread", 1)
    intercept = pm.Normal("intercept", mean, spread, shape=counties)
    slope, noise = pm.Normal("slope", 0, 10), pm.HalfNormal("noise", 2)
    pm.Normal("level", intercept[county] + slope * floor, noise, observed=level)

found = sampled(radon, draws, ("mean", "spread", "slope", "noise"))
require_agreement(found, ("mean", "slope", "noise", "intercept"))

if len(sys.argv) > 1:

    def intercepts(axes, posterior, k, name):
        values = posterior["intercept"].values
        axes.errorbar(
            np.arange(counties) + 0.2 * k,
            values.mean(axis=(0, 1)),
            values.std(axis=(0, 1)),
            fmt=".",
            label=name,
        )

    picture(sys.argv[1], found, intercepts, "intercept of county")

"""Eight schools: PyMC's and nutpie's samplers, on functions compiled by Bitale and on PyTensor's own backends. The
posteriors agree; an argument names a file for a picture of them."""

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

draws = 300 if os.environ.get("BITALE_EXAMPLE_QUICK") else 2000
effects, errors = (
    np.array([28.0, 8, -3, 7, -1, 1, 18, 12]),
    np.array([15.0, 10, 16, 11, 9, 11, 10, 18]),
)

with pm.Model(coords={"school": list("ABCDEFGH")}) as schools:
    mu, tau = pm.Normal("mu", 0, 5), pm.HalfCauchy("tau", 5)
    eta = pm.Normal("eta", dims="school")
    theta = pm.Deterministic("theta", mu + tau * eta, dims="school")
    pm.Normal("effect", theta, errors, observed=effects, dims="school")

found = sampled(schools, draws, ("mu", "tau"))
require_agreement(found, ("mu", "eta", "theta"))

if len(sys.argv) > 1:

    def effect_of_school_a(axes, posterior, k, name):
        axes.hist(
            posterior["theta"].values[..., 0].ravel(),
            bins=60,
            density=True,
            histtype="step",
            label=name,
        )

    picture(sys.argv[1], found, effect_of_school_a, "effect of school A")

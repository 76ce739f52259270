"""Eight schools, sampled by nutpie on the functions of an installed Bitale, on a system without a C compiler for PyTensor."""

import bitale.pytensor
import numpy as np
import pymc as pm

effects, errors = (
    np.array([28.0, 8, -3, 7, -1, 1, 18, 12]),
    np.array([15.0, 10, 16, 11, 9, 11, 10, 18]),
)

with pm.Model():
    mu, tau = pm.Normal("mu", 0, 5), pm.HalfCauchy("tau", 5)
    eta = pm.Normal("eta", shape=8)
    pm.Normal("effect", mu + tau * eta, errors, observed=effects)
    trace = bitale.pytensor.sample(draws=1000, chains=2, random_seed=1, progressbar=False)

mean = float(trace.posterior["mu"].mean())
assert trace.posterior["eta"].shape == (2, 1000, 8), trace.posterior["eta"].shape
assert 3.4 < mean < 5.4, mean  # 4.4 by the reference draws of posteriordb
print(f"mean of mu {mean:.1f}")

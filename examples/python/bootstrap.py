"""Random variables: a bootstrap interval of a mean, with draws that are NumPy's to the last bit."""

import os

import numpy as np

import bitale as bt
import bitale.tensor as pt

resamples = 200 if os.environ.get("BITALE_EXAMPLE_QUICK") else 20_000

data = np.random.default_rng(1).gamma(2.0, 3.0, size=50)

# A shared generator: each call draws on from where the last one ended.
rng = pt.random.shared_rng(seed=42, name="rng")
x = pt.dvector("x")
next_rng, picked = rng.integers(0, x.shape[0], size=(resamples, x.shape[0]))
means = x[picked].mean(axis=1)
bootstrap = bt.function([x], means, updates={rng: next_rng})

drawn = bootstrap(data)
low, high = np.quantile(drawn, [0.025, 0.975])
print(f"mean {data.mean():.3f}, 95 % interval from {low:.3f} to {high:.3f}")

# NumPy draws the same.
reference = np.random.default_rng(42).integers(0, 50, size=(resamples, 50))
np.testing.assert_allclose(drawn, data[reference].mean(axis=1), rtol=1e-12)

# The next call draws anew; the state can be seen, stored and set.
assert not np.array_equal(bootstrap(data), drawn)
rng.set_value(np.random.default_rng(42))
assert np.array_equal(bootstrap(data), drawn)
assert low < data.mean() < high

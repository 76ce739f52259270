"""Eight schools by Hamiltonian Monte Carlo with 64 chains in lock step: one call evaluates the log density and
gradient of all of them. The posterior agrees with nutpie's; an argument names a file for a picture of both."""

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

CHAINS, LEAPFROGS = 64, 12
warmup, draws = (100, 100) if os.environ.get("BITALE_EXAMPLE_QUICK") else (300, 1000)
effects, errors = (
    np.array([28.0, 8, -3, 7, -1, 1, 18, 12]),
    np.array([15.0, 10, 16, 11, 9, 11, 10, 18]),
)

with pm.Model() as schools:
    mu, tau = pm.Normal("mu", 0, 5), pm.HalfNormal("tau", 5)
    eta = pm.Normal("eta", shape=8)
    pm.Normal("effect", mu + tau * eta, errors, observed=effects)

batched = bitale.pytensor.batched(schools, chains=CHAINS)
rng = np.random.default_rng(1)
points = batched.initial_points(seed=1)
logp, gradient = batched(points)
step, kept, begin = 0.3, [], time.perf_counter()
for iteration in range(warmup + draws):
    momentum = rng.normal(size=points.shape)
    size = step * rng.uniform(0.7, 1.3, (CHAINS, 1))
    position, velocity, slope = points, momentum, gradient
    for _ in range(LEAPFROGS):
        velocity = velocity + 0.5 * size * slope
        position = position + size * velocity
        value, slope = batched(position)
        velocity = velocity + 0.5 * size * slope
    gain = value - logp - 0.5 * ((velocity**2).sum(1) - (momentum**2).sum(1))
    probability = np.exp(np.minimum(np.nan_to_num(gain, nan=-np.inf), 0))
    taken = rng.uniform(size=CHAINS) < probability
    points, gradient = (
        np.where(taken[:, None], new, old) for new, old in ((position, points), (slope, gradient))
    )
    logp = np.where(taken, value, logp)
    if iteration < warmup:
        step *= np.exp(0.1 * (probability.mean() - 0.8))
    else:
        kept.append(points)
seconds = time.perf_counter() - begin

found = batched.variables(np.concatenate(kept))
print(
    f"PyMC on Bitale, {CHAINS} chains at once: {CHAINS * draws} draws in {seconds:.2f} s, step {step:.2f}, mu {found['mu'].mean():.2f}"
)

trace = nutpie.sample(
    bitale.pytensor.nutpie.compile_model(schools), draws=1000, chains=4, progress_bar=False, seed=1
)
reference = {name: trace.posterior[name].values.ravel() for name in ("mu", "tau")}
for name, expected in reference.items():
    # Chains are independent, so their means tell the error of the mean of all.
    means = found[name].reshape(draws, CHAINS).mean(0)
    error = np.hypot(means.std() / np.sqrt(CHAINS), expected.std() / np.sqrt(400))
    assert abs(means.mean() - expected.mean()) < 5 * error, (
        name,
        means.mean(),
        expected.mean(),
        error,
    )

if len(sys.argv) > 1:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
    for axes, name in zip(panels, reference):
        axes.hist(
            found[name],
            bins=60,
            density=True,
            histtype="step",
            label=f"{CHAINS} chains in lock step",
        )
        axes.hist(reference[name], bins=60, density=True, histtype="step", label="nutpie")
        axes.set_xlabel(name)
    panels[0].legend()
    figure.savefig(sys.argv[1])

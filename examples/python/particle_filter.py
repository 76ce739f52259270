"""A bootstrap particle filter: the likelihood of a noisy series, from particles that are moved, weighed and resampled.

All of it is one compiled function, a loop that carries the particles and the state of a random
stream. The model is linear with normal noise, so a Kalman filter gives the exact likelihood; fails
if that of the particles is not close to it.
"""

import os
import time

import numpy as np

import bitale as bt
import bitale.tensor as pt

PARTICLES = 2_000 if "BITALE_EXAMPLE_QUICK" in os.environ else 20_000
RATE, NOISE, ERROR = 0.9, 0.5, 0.7  # x[t] = RATE x[t-1] + NOISE normal, y[t] = x[t] + ERROR normal


def step(y, particles, rng):
    rng, moved = rng.normal(RATE * particles, NOISE)
    log_weights = -0.5 * ((y - moved) / ERROR) ** 2 - np.log(ERROR * np.sqrt(2 * np.pi))
    log_likelihood = pt.logsumexp(log_weights) - np.log(PARTICLES)
    # Systematic resampling: equally spaced numbers, moved by one random number, in the sums of the weights.
    rng, u = rng.uniform(0, 1)
    weights = pt.softmax(log_weights)
    sums = pt.cumsum(weights)
    places = pt.searchsorted(sums, (pt.arange(PARTICLES) + u) / PARTICLES * sums[-1])
    return [moved[pt.minimum(places, PARTICLES - 1)], rng, log_likelihood, (weights * moved).sum()]


def kalman(series):
    """The log likelihood, and the mean of x given what was seen so far."""
    mean, variance, total, means = 0.0, NOISE**2 / (1 - RATE**2), 0.0, []
    for y in series:
        mean, variance = RATE * mean, RATE**2 * variance + NOISE**2
        spread = variance + ERROR**2
        total -= 0.5 * ((y - mean) ** 2 / spread + np.log(2 * np.pi * spread))
        gain = variance / spread
        mean, variance = mean + gain * (y - mean), (1 - gain) * variance
        means.append(mean)
    return total, np.array(means)


def main():
    random = np.random.default_rng(3)
    x, series = 0.0, []
    for _ in range(200):
        x = RATE * x + NOISE * random.normal()
        series.append(x + ERROR * random.normal())
    series = np.array(series)

    y = pt.dvector("y")
    rng = bt.shared(bt.random.stream(5), name="rng")
    begun, start = rng.normal(0, NOISE / np.sqrt(1 - RATE**2), size=PARTICLES)
    (_, after, likelihoods, means), _ = bt.scan(
        step, sequences=[y], outputs_info=[start, begun, None, None]
    )
    filtered = bt.function([y], [likelihoods.sum(), means], updates={rng: after})

    filtered(series)
    begin = time.perf_counter()
    total, found = filtered(series)
    seconds = time.perf_counter() - begin
    exact, expected = kalman(series)
    print(
        f"{PARTICLES} particles, {len(series)} steps: {1e9 * seconds / len(series) / PARTICLES:.0f} ns a particle and step"
    )
    print(
        f"log likelihood {total:.2f}, exactly {exact:.2f}; means of x differ by {np.abs(found - expected).max():.3f} at most"
    )
    assert abs(total - exact) < 60 / np.sqrt(PARTICLES) and np.abs(
        found - expected
    ).max() < 10 / np.sqrt(PARTICLES)


if __name__ == "__main__":
    main()

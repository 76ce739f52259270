"""A Metropolis sampler in one compiled function: the whole chain is a loop that carries the state of a random stream.

The model is Rubin's eight schools, in its non-centred form: y[j] ~ normal(mu + tau * z[j],
sigma[j]), z[j] ~ normal(0, 1), mu ~ normal(0, 5), tau ~ halfcauchy(5). The chain moves through q =
(mu, log tau, z). Fails if the posterior means and deviations of mu and tau differ from those found
by integration.
"""

import os
import time

import numpy as np

import bitale as bt
import bitale.tensor as pt

STEPS = 200_000 if "BITALE_EXAMPLE_QUICK" in os.environ else 2_000_000
EFFECTS = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
ERRORS = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])
WIDTHS = 0.7 * np.array([3.0, 1.1, *[0.9] * 8])  # of proposals


def logp(q):
    """The log density of the posterior, up to a constant; tau's includes the derivative of exp."""
    mu, log_tau, z = q[0], q[1], q[2:]
    tau = pt.exp(log_tau)
    likelihood = -0.5 * (((EFFECTS - mu - tau * z) / ERRORS) ** 2).sum()
    return (
        likelihood - 0.5 * (mu / 5) ** 2 - 0.5 * (z**2).sum() - pt.log1p((tau / 5) ** 2) + log_tau
    )


def step(q, density, state):
    state, jump = state.normal(0, 1, size=10)
    state, u = state.uniform(0, 1)
    proposed = q + WIDTHS * jump
    proposed_density = logp(proposed)
    accepted = pt.log(u) < proposed_density - density
    return [pt.switch(accepted, proposed, q), pt.switch(accepted, proposed_density, density), state]


def by_integration():
    """Means and deviations of mu and tau: mu and z are integrated out in closed form, tau on a grid."""
    tau = np.exp(np.linspace(np.log(1e-3), np.log(400), 20_001))
    variances = ERRORS**2 + tau[:, None] ** 2
    precision = 1 / 25 + (1 / variances).sum(axis=1)
    mean = (EFFECTS / variances).sum(axis=1) / precision
    log_weight = 0.5 * precision * mean**2 - 0.5 * (EFFECTS**2 / variances).sum(axis=1)
    log_weight += (
        -0.5 * np.log(precision)
        - 0.5 * np.log(variances).sum(axis=1)
        - np.log1p((tau / 5) ** 2)
        + np.log(tau)
    )
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    of_mu, of_tau = weight @ mean, weight @ tau
    return (
        of_mu,
        np.sqrt(weight @ (1 / precision + mean**2) - of_mu**2),
        of_tau,
        np.sqrt(weight @ tau**2 - of_tau**2),
    )


def main():
    rng = bt.shared(bt.random.stream(8), name="rng")
    start = np.zeros(10)
    q0 = pt.constant(start)
    (chain, _, after), _ = bt.scan(step, outputs_info=[q0, logp(q0), rng], n_steps=STEPS)
    compiling = time.perf_counter()
    sample = bt.function([], chain, updates={rng: after})
    print(f"compiled in {1e3 * (time.perf_counter() - compiling):.0f} ms")

    sample()  # the chain finds its way
    begin = time.perf_counter()
    found = sample()
    seconds = time.perf_counter() - begin
    moves = np.mean(found[1:, 0] != found[:-1, 0])
    print(
        f"{STEPS} steps in {seconds:.2f} s: {1e9 * seconds / STEPS:.0f} ns a step; {100 * moves:.0f} % accepted"
    )

    mu, tau = found[:, 0], np.exp(found[:, 1])
    got, expected = (mu.mean(), mu.std(), tau.mean(), tau.std()), by_integration()
    for name, value, exact in zip(
        ("mean of mu", "sd of mu", "mean of tau", "sd of tau"), got, expected
    ):
        print(f"{name:>12}: {value:.2f}, by integration {exact:.2f}")
    tolerance = 0.6 if STEPS < 1_000_000 else 0.25
    assert np.abs(np.array(got) - expected).max() < tolerance


if __name__ == "__main__":
    main()

"""Hierarchical logistic regression: does a person see a doctor in a year? 20,190 person-years, eight covariates,
and an effect for each of 70 groups (site x insurance plan) around a common mean, with a spread that is learned too.
The program builds the log density, takes its gradient, compiles both into one function and finds the mode with
SciPy's L-BFGS."""

import os
import sys
import time
from pathlib import Path

import numpy as np
import scipy.optimize

import bitale as bt
import bitale.tensor as pt

QUICK = "BITALE_EXAMPLE_QUICK" in os.environ
DATA = Path(__file__).resolve().parents[1] / "data" / "doctor_visits.csv"
COVARIATES = [
    "year",
    "age",
    "female",
    "coinsurance",
    "log family",
    "chronic",
    "limitation",
    "health",
]


def covariate(table, name):
    x = np.log(table[name[4:]]) if name.startswith("log ") else table[name]
    return (x - x.mean()) / x.std()


def normal_logp(x, sigma):
    return -0.5 * (x / sigma) ** 2


def log_density(theta, x, saw, group):
    """Up to a constant, at theta = (intercept, log tau, a coefficient per covariate, an effect per group)."""
    width = x.shape[1]
    x, saw, group = bt.shared(x, "x"), bt.shared(saw, "saw"), bt.shared(group, "group")

    intercept, log_tau, beta = theta[0], theta[1], theta[2 : 2 + width]
    effect = theta[2 + width :]  # in units of tau: the non-centred form

    tau = pt.exp(log_tau)
    eta = intercept + x @ beta + tau * effect[group]
    likelihood = (saw * eta - pt.softplus(eta)).sum()
    prior = (
        normal_logp(intercept, 2.0) + normal_logp(beta, 1.0).sum() + normal_logp(effect, 1.0).sum()
    )
    # tau is half-normal; + log_tau as the density is that of log tau
    return likelihood + prior + normal_logp(tau, 1.0) + log_tau


def main():
    table = np.genfromtxt(DATA, delimiter=",", names=True)
    x = np.column_stack([covariate(table, name) for name in COVARIATES])
    saw, group = (table["visits"] > 0).astype(float), table["group"].astype(np.int64)
    groups, width = group.max() + 1, len(COVARIATES)
    n = 2 + width + groups
    print(
        f"Doctor visits: {len(saw)} person-years, {width} covariates, {groups} groups; {n} parameters"
    )

    theta = pt.dvector("theta")
    logp = log_density(theta, x, saw, group)
    start = time.perf_counter()
    function = bt.function([theta], [logp, bt.grad(logp, theta)])
    print(f"Log density and gradient compiled in {1e3 * (time.perf_counter() - start):.1f} ms\n")

    times, iterations = [], 0

    def objective(theta):
        """What L-BFGS minimises: the negative log density, and its gradient."""
        before = time.perf_counter()
        value, gradient = function(theta)
        times.append(time.perf_counter() - before)
        return -float(value), -gradient

    def report(intermediate_result):
        nonlocal iterations
        iterations += 1
        if iterations == 1 or iterations % 20 == 0:
            value, gradient = function(intermediate_result.x)
            print(
                f"  iteration {iterations:3d}   log density {value:.6f}   |gradient| {np.linalg.norm(gradient):.2e}"
            )

    settings = {"maxcor": 20, "maxiter": 5 if QUICK else 500, "gtol": 1e-4, "ftol": 0}
    found = scipy.optimize.minimize(
        objective, np.zeros(n), jac=True, method="L-BFGS-B", callback=report, options=settings
    )
    mode, norm = found.x, np.linalg.norm(found.jac)
    microseconds = 1e6 * np.median(times)
    print(
        f"\n{found.nit} iterations, {len(times)} evaluations of {microseconds:.0f} µs each (median): {found.message}"
    )
    print(f"Mode: log density {-found.fun:.6f}, |gradient| {norm:.1e}\n")

    print(f"  {'intercept':<12} {mode[0]:8.4f}")
    for name, value in zip(COVARIATES, mode[2 : 2 + width]):
        print(f"  {name:<12} {value:8.4f}")
    tau, effect = np.exp(mode[1]), mode[2 + width :]
    print(f"  {'tau':<12} {tau:8.4f}   (spread of the groups, at the joint mode)\n")
    for g in (effect.argmin(), effect.argmax()):
        row = table[group == g][0]
        print(f"  group of site {row['site']:.0f}, plan {row['plan']:2.0f}: {tau * effect[g]:+.3f}")
    return 0 if QUICK or norm < 1e-2 else 1


if __name__ == "__main__":
    sys.exit(main())

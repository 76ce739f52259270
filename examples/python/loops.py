"""Models that are loops: an AR(1) process, and Lotka-Volterra by RK4, each with gradients, compared with loops
written out. Also control flow in a native function: a loop that ends by itself, and an `ifelse` that computes only
one branch."""

import os
import time

import numpy as np

import bitale as bt
import bitale.tensor as pt
from bitale.scan import until

quick = "BITALE_EXAMPLE_QUICK" in os.environ
rng = np.random.default_rng(1)


def best_of(f, *values):
    times = []
    for _ in range(3 if quick else 50):
        start = time.perf_counter()
        f(*values)
        times.append(time.perf_counter() - start)
    return min(times) * 1e6


# ---- the log density of an AR(1) process, and its gradient ----

y = pt.dvector("y")
mu, phi, log_sigma = pt.dscalars("mu", "phi", "log_sigma")


def density_step(y_t, before):
    z = (y_t - mu - phi * (before - mu)) * pt.exp(-log_sigma)
    return y_t, -0.5 * z**2 - log_sigma - 0.5 * np.log(2 * np.pi)


_, terms = bt.scan(density_step, sequences=y, outputs_info=[mu, None], return_updates=False)
log_density = terms.sum()
density = bt.function(
    [y, mu, phi, log_sigma], [log_density, *bt.grad(log_density, [mu, phi, log_sigma])]
)

steps = 10_000
data = np.zeros(steps)
for t in range(1, steps):
    data[t] = 0.7 * data[t - 1] + rng.normal()


def written_out(mu, phi, log_sigma):
    total, before = 0.0, mu
    for each in data:
        z = (each - mu - phi * (before - mu)) * np.exp(-log_sigma)
        total += -0.5 * z**2 - log_sigma - 0.5 * np.log(2 * np.pi)
        before = each
    return total


point = np.array([0.1, 0.6, 0.05])
value, *gradient = density(data, *point)
np.testing.assert_allclose(value, written_out(*point), rtol=1e-11)
for k in range(3):
    move = np.eye(3)[k] * 1e-5
    numeric = (written_out(*(point + move)) - written_out(*(point - move))) / 2e-5
    np.testing.assert_allclose(gradient[k], numeric, rtol=1e-5)
print(
    f"AR(1), {steps} steps: log density {value:.3f}, with gradient in {best_of(density, data, *point):.1f} us"
)

# ---- predator and prey, by the Runge-Kutta method of order 4 ----

rates, start = pt.dvector("rates"), pt.dvector("start")
dt, n = 0.01, 2000


def change(state):
    a, b, c, d = rates[0], rates[1], rates[2], rates[3]
    prey, predator = state[0], state[1]
    return pt.stack([a * prey - b * prey * predator, d * prey * predator - c * predator])


def rk4(state):
    k1 = change(state)
    k2 = change(state + 0.5 * dt * k1)
    k3 = change(state + 0.5 * dt * k2)
    k4 = change(state + dt * k3)
    return state + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


path = bt.scan(rk4, outputs_info=start, n_steps=n, return_updates=False)
cost = ((path[::100] - 1.0) ** 2).mean()
solve = bt.function([rates, start], [path, cost, *bt.grad(cost, [rates, start])])

r, s = np.array([1.1, 0.4, 0.4, 0.1]), np.array([10.0, 10.0])


def solved(r, s):
    def f(s):
        return np.array([r[0] * s[0] - r[1] * s[0] * s[1], r[3] * s[0] * s[1] - r[2] * s[1]])

    out = []
    for _ in range(n):
        k1 = f(s)
        k2 = f(s + 0.5 * dt * k1)
        k3 = f(s + 0.5 * dt * k2)
        k4 = f(s + dt * k3)
        s = s + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        out.append(s)
    return np.array(out)


got, _, by_rates, by_start = solve(r, s)
np.testing.assert_allclose(got, solved(r, s), rtol=1e-8)
for k in range(4):
    move = np.eye(4)[k] * 1e-6
    sides = [((solved(r + sign * move, s)[::100] - 1.0) ** 2).mean() for sign in (1, -1)]
    np.testing.assert_allclose(by_rates[k], (sides[0] - sides[1]) / 2e-6, rtol=1e-4)
print(f"Lotka-Volterra, {n} steps of RK4: with gradient in {best_of(solve, r, s):.1f} us")

# ---- a square root by Newton's method, until it no longer changes ----

x = pt.dscalar("x")


def newton(root):
    after = 0.5 * (root + x / root)
    return after, until(abs(after - root) <= 1e-15 * after)


roots = bt.scan(newton, outputs_info=x, n_steps=100, return_updates=False)
root = bt.function([x], [roots[-1], roots.shape[0]])
found, made = root(2.0)
assert abs(found - np.sqrt(2)) < 1e-15 and made < 10
print(f"the square root of 2 after {made} steps: {found:.15f}")

# ---- a choice ----

v = pt.dvector("v")
variance = bt.function(
    [v], bt.ifelse(v.size > 1, ((v - v.mean()) ** 2).sum() / (v.size - 1), np.zeros(()))
)
assert variance([1.0, 2.0, 6.0]) == 7 and variance([5.0]) == 0
assert "host" not in variance.dprint("program", file="str")
print("variances:", variance([1.0, 2.0, 6.0]), variance([5.0]))

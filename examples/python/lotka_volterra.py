"""The Lotka-Volterra equations, solved by the Runge-Kutta method of order 4, fitted by the Levenberg-Marquardt
method, on a logarithmic scale, to the pelts of hares and lynxes that the Hudson's Bay Company bought from 1900 to
1920 (Howard 2009).

Carpenter, Predator-Prey Population Dynamics (Stan case studies, 2018), reports mean rates of 0.55,
0.028, 0.80, 0.024.
"""

import os

import numpy as np

import bitale as bt
import bitale.tensor as pt

hares = [
    30.0,
    47.2,
    70.2,
    77.4,
    36.3,
    20.6,
    18.1,
    21.4,
    22.0,
    25.4,
    27.1,
    40.3,
    57.0,
    76.6,
    52.3,
    19.5,
    11.2,
    7.6,
    14.6,
    16.2,
    24.7,
]
lynxes = [
    4.0,
    6.1,
    9.8,
    35.2,
    59.4,
    41.7,
    19.0,
    13.0,
    8.3,
    9.1,
    7.4,
    8.0,
    12.3,
    19.5,
    45.7,
    51.1,
    29.7,
    15.8,
    9.7,
    10.1,
    8.6,
]
pelts = np.stack([hares, lynxes], axis=1)
per_year, dt = 20, 1 / 20

log_parameters = pt.tensor(
    "log_parameters", dtype="float64", shape=(6,)
)  # four rates, and both kinds in 1900
parameters = pt.exp(log_parameters)


def rk4(change, state):
    k1 = change(state)
    k2 = change(state + 0.5 * dt * k1)
    k3 = change(state + 0.5 * dt * k2)
    k4 = change(state + dt * k3)
    return state + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def change_in(xp, p):
    return lambda s: xp.stack([p[0] * s[0] - p[1] * s[0] * s[1], p[3] * s[0] * s[1] - p[2] * s[1]])


start = parameters[4:]
path = bt.scan(
    lambda s: rk4(change_in(pt, parameters), s),
    outputs_info=start,
    n_steps=20 * per_year,
    return_updates=False,
)
yearly = pt.concatenate([start[None], path[per_year - 1 :: per_year]])
residuals = (pt.log(yearly) - np.log(pelts)).flatten()
cost = (residuals**2).sum()
# Each residual depends on six numbers: six forward derivatives.
columns = [bt.pushforward(residuals, log_parameters, pt.constant(np.eye(6)[k])) for k in range(6)]
f = bt.function(
    [log_parameters], [residuals, pt.stack(columns, axis=1), bt.grad(cost, log_parameters)]
)


def written_out(log_parameters):
    p = np.exp(log_parameters)
    states = [p[4:]]
    state = p[4:]
    for t in range(20 * per_year):
        state = rk4(change_in(np, p), state)
        if t % per_year == per_year - 1:
            states.append(state)
    return (np.log(states) - np.log(pelts)).ravel()


at = np.log([0.5, 0.025, 0.8, 0.025, 30.0, 4.0])
values, jacobian, gradient = f(at)
np.testing.assert_allclose(values, written_out(at), rtol=1e-9)
np.testing.assert_allclose(gradient, 2 * jacobian.T @ values, rtol=1e-9)
for k in range(6):
    move = np.eye(6)[k] * 1e-6
    np.testing.assert_allclose(
        jacobian[:, k],
        (written_out(at + move) - written_out(at - move)) / 2e-6,
        rtol=1e-5,
        atol=1e-6,
    )

damping = 1e-2
for _ in range(5 if "BITALE_EXAMPLE_QUICK" in os.environ else 100):
    values, jacobian, _ = f(at)
    square = jacobian.T @ jacobian
    moved = at - np.linalg.solve(square + damping * np.diag(np.diag(square)), jacobian.T @ values)
    better = (f(moved)[0] ** 2).sum() < (values**2).sum()
    damping, at = (damping / 5, moved) if better else (damping * 5, at)
values = f(at)[0]
rates = np.exp(at[:4])
assert (values**2).mean() < 0.08
np.testing.assert_allclose(rates, [0.55, 0.028, 0.80, 0.024], rtol=0.15)
print(
    "hares and lynxes: rates",
    np.round(rates, 4),
    "and a standard deviation of logarithms of",
    round(np.sqrt((values**2).mean()), 3),
)

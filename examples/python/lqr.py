"""A linear-quadratic regulator: a cart on a track is brought to rest by the feedback from a Riccati equation, and
the gradient through that equation shows how the cost depends on the mass of the cart and the weight of the control
effort."""

import numpy as np

import bitale as bt
import bitale.tensor as pt

dt = 0.1
mass, effort = pt.dscalar("mass"), pt.dscalar("effort")
A = pt.as_tensor(np.array([[1.0, dt], [0.0, 1.0]]))  # position and speed
B = pt.stack([dt**2 / 2 / mass, dt / mass]).reshape((2, 1))
Q, R = pt.as_tensor(np.diag([1.0, 0.1])), effort.reshape((1, 1))

P = pt.linalg.solve_discrete_are(A, B, Q, R)
gain = pt.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
start = np.array([1.0, 0.0])
price = start @ P @ start  # of the whole way from there
regulator = bt.function([mass, effort], [gain, price, *bt.grad(price, [mass, effort])])

K, cost, by_mass, by_effort = regulator(2.0, 0.5)
state, paid = start, 0.0
for _ in range(400):
    push = -K @ state
    paid += state @ np.diag([1.0, 0.1]) @ state + 0.5 * push @ push
    state = np.array([[1.0, dt], [0.0, 1.0]]) @ state + np.array([dt**2 / 2, dt]) / 2.0 * push
assert np.abs(state).max() < 1e-6 and np.isclose(paid, cost)

step = 1e-5
assert np.isclose(
    by_mass, (regulator(2.0 + step, 0.5)[1] - regulator(2.0 - step, 0.5)[1]) / (2 * step), rtol=1e-6
)
assert np.isclose(
    by_effort,
    (regulator(2.0, 0.5 + step)[1] - regulator(2.0, 0.5 - step)[1]) / (2 * step),
    rtol=1e-6,
)
print(
    f"feedback {K.round(3).tolist()}, price {cost:.4f}, paid {paid:.4f}; by mass {by_mass:.4f}, by effort {by_effort:.4f}"
)

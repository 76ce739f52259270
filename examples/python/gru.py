"""A gated recurrent network reads handwritten digits (8 x 8 pixels) row by row: eight steps, then a softmax of its last state.
All weights are shared variables, and one compiled function computes loss, gradients and the step of Adam.

Cho et al., Learning Phrase Representations using RNN Encoder-Decoder (2014); Kingma and Ba, Adam (2015).
"""

import os
from pathlib import Path

import numpy as np

import bitale as bt
import bitale.tensor as pt

QUICK = "BITALE_EXAMPLE_QUICK" in os.environ
DATA = Path(__file__).resolve().parents[1] / "data" / "digits.csv"
BATCH, UNITS, ROWS = 64, 48, 8
rng = np.random.default_rng(5)

table = rng.permutation(np.loadtxt(DATA, delimiter=",", skiprows=1))
images, digits = (
    table[:, :64].reshape(-1, ROWS, 8).swapaxes(0, 1) / 16,
    table[:, 64].astype(np.int64),
)  # row, image, column
count = 1500

shapes = {"wz": (8, UNITS), "uz": (UNITS, UNITS), "bz": (UNITS,), "wr": (8, UNITS), "ur": (UNITS, UNITS), "br": (UNITS,),
          "wh": (8, UNITS), "uh": (UNITS, UNITS), "bh": (UNITS,), "wo": (UNITS, 10), "bo": (10,)}  # fmt: skip
start = {
    name: rng.normal(0, shape[0] ** -0.5, shape) if len(shape) > 1 else np.zeros(shape)
    for name, shape in shapes.items()
}
weights = {name: bt.shared(value, name) for name, value in start.items()}


def step(xp, x, h, w):
    def sigmoid(v):
        return 1 / (1 + xp.exp(-v))

    z = sigmoid(x @ w["wz"] + h @ w["uz"] + w["bz"])
    r = sigmoid(x @ w["wr"] + h @ w["ur"] + w["br"])
    return (1 - z) * h + z * xp.tanh(x @ w["wh"] + (r * h) @ w["uh"] + w["bh"])


x, wanted = pt.dtensor3("x"), pt.lvector("wanted")
states = bt.scan(
    lambda x_t, h: step(pt, x_t, h, weights), x, pt.zeros((x.shape[1], UNITS)), return_updates=False
)
logits = states[-1] @ weights["wo"] + weights["bo"]
loss = -pt.log_softmax(logits, axis=-1)[pt.arange(wanted.shape[0]), wanted].mean()
gradients = bt.grad(loss, list(weights.values()))

evaluate = bt.function([x, wanted], [loss, *gradients])
learn = bt.function(
    [x, wanted], loss, updates=bt.optimizers.adam(loss, weights, learning_rate=0.01)
)
read = bt.function([x], logits.argmax(axis=1))


def written_out(x, wanted, w):
    h = np.zeros((x.shape[1], UNITS))
    for row in x:
        h = step(np, row, h, w)
    logits = h @ w["wo"] + w["bo"]
    return -(logits - np.log(np.exp(logits).sum(axis=1, keepdims=True)))[
        np.arange(len(wanted)), wanted
    ].mean()


value, *found = evaluate(images[:, :BATCH], digits[:BATCH])
np.testing.assert_allclose(value, written_out(images[:, :BATCH], digits[:BATCH], start), rtol=1e-12)
for name, gradient in zip(weights, found):
    place = tuple(rng.integers(n) for n in gradient.shape)
    sides = []
    for sign in (1, -1):
        moved = {**start, name: start[name].copy()}
        moved[name][place] += sign * 1e-5
        sides.append(written_out(images[:, :BATCH], digits[:BATCH], moved))
    np.testing.assert_allclose(gradient[place], (sides[0] - sides[1]) / 2e-5, rtol=1e-4, atol=1e-9)

for _ in range(2 if QUICK else 20):
    order = rng.permutation(count)
    for first in range(0, count, BATCH):
        batch = order[first : first + BATCH]
        value = learn(images[:, batch], digits[batch])
right = (read(images[:, count:]) == digits[count:]).mean()
print(f"digits row by row: loss {value:.3f}, {right:.1%} of the digits not seen before are read")
assert right > (0.5 if QUICK else 0.95)

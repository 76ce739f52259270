"""A network of equal blocks; each block is one node of an op defined by a graph, with its own derivative.

A block's weights are quantised to multiples of 1/8 in the forward pass. Rounding has derivative
zero, so nothing would be learned; the op `quantise` passes gradients straight through instead.
Fails if the loss does not fall to a tenth.
"""

import os

import numpy as np

import bitale as bt
import bitale.tensor as pt
from bitale.compile import OpFromGraph

QUICK = bool(os.environ.get("BITALE_EXAMPLE_QUICK"))
DEPTH, WIDTH, STEPS = 4, 16, 100 if QUICK else 1000

# An op with a derivative of its own: rounding, whose gradient is that of the identity.
w = pt.dmatrix("w")
quantise = OpFromGraph(
    [w], [pt.round(w * 8) / 8], name="quantise", pullback=lambda inputs, outputs, given: given
)

# A block is an op that contains it. Not inlined, it is compiled once, and called by every layer; so is its gradient.
h, w, b = pt.dmatrix("h"), pt.dmatrix("w"), pt.dvector("b")
block = OpFromGraph(
    [h, w, b], [h + pt.tanh(pt.dot(h, quantise(w)) + b)], name="block", inline=False
)

random = np.random.default_rng(1)
x, y = pt.dmatrix("x"), pt.dmatrix("y")
parameters = []
out = x
for layer in range(DEPTH):
    weights = bt.shared(random.normal(0, 0.3, (WIDTH, WIDTH)), name=f"W{layer}")
    bias = bt.shared(np.zeros(WIDTH), name=f"b{layer}")
    parameters += [weights, bias]
    out = block(out, weights, bias)
loss = pt.mean((out - y) ** 2)
updates = [(p, p - 0.2 * g) for p, g in zip(parameters, bt.grad(loss, parameters))]
step = bt.function([x, y], loss, updates=updates)
print(bt.dprint(out, file="str"))

inputs = random.normal(size=(64, WIDTH))
targets = np.roll(inputs, 1, axis=1) * 0.5
losses = [float(step(inputs, targets)) for _ in range(STEPS)]
print(f"loss {losses[0]:.4f} -> {losses[-1]:.4f} in {STEPS} steps")
nodes = step.maker.fgraph.toposort()
print(
    sum(isinstance(node.op, OpFromGraph) for node in nodes),
    "of",
    len(nodes),
    "nodes are blocks or their gradients",
)
assert losses[-1] < losses[0] * (0.5 if QUICK else 0.1)

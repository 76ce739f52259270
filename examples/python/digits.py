"""Learns to read handwritten digits (8 x 8 pixels): softmax regression, then a network with one hidden layer, by
gradient descent on small batches. The parameters are shared variables; one compiled function computes the loss of a
batch, its gradients and the new parameters. Fails if the network recognises less than 95 % of the digits it has not seen.
"""

import os
import sys
import time
from pathlib import Path

import numpy as np

import bitale as bt
import bitale.tensor as pt
from _progress import Progress

QUICK = "BITALE_EXAMPLE_QUICK" in os.environ
DATA = Path(__file__).resolve().parents[1] / "data" / "digits.csv"
BATCH = 64


def read_images(random):
    """Pixels, one image per row, 0 to 1, and digits; in an order without meaning."""
    table = random.permutation(np.loadtxt(DATA, delimiter=",", skiprows=1))
    return table[:, :64] / 16, table[:, 64].astype(np.int64)


class Layer:
    """What a layer learns: a matrix of small random weights, and a bias per output."""

    def __init__(self, name, inputs, outputs, random):
        self.weights = bt.shared(random.normal(0, inputs**-0.5, (inputs, outputs)), "W" + name)
        self.bias = bt.shared(np.zeros(outputs), "b" + name)

    def __call__(self, x):
        return x @ self.weights + self.bias


def learn(title, x, logits, parameters, rate, epochs, training, test):
    """Learns `parameters`, on which `logits` (of the images x) depends; returns the accuracy on the test images."""
    y = pt.lvector("y")
    log_likelihood = logits[pt.arange(y.shape[0]), y] - pt.logsumexp(logits, axis=1)
    loss = -log_likelihood.mean()
    updates = [(p, p - rate * g) for p, g in zip(parameters, bt.grad(loss, parameters))]

    start = time.perf_counter()
    step = bt.function([x, y], loss, updates=updates)
    milliseconds = 1e3 * (time.perf_counter() - start)
    classify = bt.function([x], pt.argmax(logits, axis=1))
    print(f"\n{title}")
    print(
        f"  one step (loss, {len(parameters)} gradients, updates) compiled in {milliseconds:.1f} ms"
    )

    pixels, digits = training
    times = []
    with Progress(epochs) as progress:
        for epoch in range(1, epochs + 1):
            total = 0.0
            for i in range(0, len(digits), BATCH):
                before = time.perf_counter()
                value = step(pixels[i : i + BATCH], digits[i : i + BATCH])
                times.append(time.perf_counter() - before)
                total += float(value) * len(digits[i : i + BATCH])
            progress.step(f"  epoch {epoch:2d}   loss {total / len(digits):.4f}")

    pixels, digits = test
    accuracy = np.mean(classify(pixels) == digits)
    print(
        f"  {len(times)} steps on {BATCH} images each: {1e6 * np.median(times):.0f} µs a step (median)"
    )
    print(f"  reads {100 * accuracy:.1f} % of the {len(digits)} test images rightly")
    return accuracy


def main():
    random = np.random.default_rng(1)
    pixels, digits = read_images(random)
    count = len(digits) * 4 // 5
    training, test = (pixels[:count], digits[:count]), (pixels[count:], digits[count:])
    print(
        f"Handwritten digits: {count} images of 8 x 8 pixels to learn from, {len(digits) - count} to test"
    )
    epochs = 2 if QUICK else 20

    x = pt.dmatrix("x")
    only = Layer("", 64, 10, random)
    learn(
        "Softmax regression, 64-10",
        x,
        only(x),
        [only.weights, only.bias],
        0.5,
        epochs,
        training,
        test,
    )

    first, second = Layer("1", 64, 128, random), Layer("2", 128, 10, random)
    parameters = [first.weights, first.bias, second.weights, second.bias]
    logits = second(pt.tanh(first(x)))
    accuracy = learn("Network, 64-128-10, tanh", x, logits, parameters, 0.5, epochs, training, test)
    return 0 if QUICK or accuracy >= 0.95 else 1


if __name__ == "__main__":
    sys.exit(main())

"""Dropout: a network that learns to read digits while a random half of its hidden units is dropped in each step,
and a bootstrap interval of its accuracy. The masks are drawn in the loops that use them. Fails if it recognises
less than 90 % of the digits it has not seen."""

import os
import time
from pathlib import Path

import numpy as np

import bitale as bt
import bitale.tensor as pt

QUICK = "BITALE_EXAMPLE_QUICK" in os.environ
DATA = Path(__file__).resolve().parents[1] / "data" / "digits.csv"
BATCH, HIDDEN, KEPT = 64, 128, 0.5
EPOCHS, RESAMPLES = (4, 1_000) if QUICK else (30, 20_000)


def main():
    random = np.random.default_rng(1)
    table = random.permutation(np.loadtxt(DATA, delimiter=",", skiprows=1))
    pixels, digits = table[:, :64] / 16, table[:, 64].astype(np.int64)
    count = len(digits) * 4 // 5

    stream = pt.random.RandomStream(
        2
    )  # each draw has a counter-based stream of its own, with a default update
    x, y = pt.dmatrix("x"), pt.lvector("y")
    w1, b1 = (
        bt.shared(random.normal(0, 0.125, (64, HIDDEN)), "w1"),
        bt.shared(np.zeros(HIDDEN), "b1"),
    )
    w2, b2 = (
        bt.shared(random.normal(0, HIDDEN**-0.5, (HIDDEN, 10)), "w2"),
        bt.shared(np.zeros(10), "b2"),
    )

    hidden = pt.maximum(x @ w1 + b1, 0)
    mask = stream.bernoulli(KEPT, size=(x.shape[0], HIDDEN))
    logits = (hidden * mask / KEPT) @ w2 + b2
    loss = -(logits[pt.arange(y.shape[0]), y] - pt.logsumexp(logits, axis=1)).mean()
    parameters = [w1, b1, w2, b2]
    learn = bt.function(
        [x, y],
        loss,
        updates=[(p, p - 0.3 * g) for p, g in zip(parameters, bt.grad(loss, parameters))],
    )
    is_right = bt.function([x, y], pt.eq(pt.argmax(hidden @ w2 + b2, axis=1), y))

    times = []
    for epoch in range(1, EPOCHS + 1):
        for i in range(0, count, BATCH):
            begin = time.perf_counter()
            value = learn(pixels[i : min(i + BATCH, count)], digits[i : min(i + BATCH, count)])
            times.append(time.perf_counter() - begin)
        if epoch % 10 == 0 or QUICK:
            print(f"  epoch {epoch:2d}   loss of the last batch {float(value):.4f}")
    print(f"{1e6 * np.median(times):.0f} µs a step on {BATCH} images (median)")

    # The bootstrap: how much the accuracy varies over test sets drawn from this one.
    right = pt.dvector("right")
    picked = stream.integers(0, right.shape[0], size=(RESAMPLES, right.shape[0]))
    bootstrap = bt.function([right], pt.mean(right[picked], axis=1))
    seen = is_right(pixels[count:], digits[count:]).astype(float)
    low, high = np.quantile(bootstrap(seen), [0.025, 0.975])
    print(
        f"reads {100 * seen.mean():.1f} % of {len(seen)} unseen digits rightly; 95 % interval from {100 * low:.1f} to {100 * high:.1f}"
    )
    deviation = np.sqrt(seen.mean() * (1 - seen.mean()) / len(seen))
    assert seen.mean() > 0.9 and 2 * deviation < high - low < 6 * deviation


if __name__ == "__main__":
    main()

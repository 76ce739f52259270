"""Loops, choices and random draws."""

from __future__ import annotations

import bitale as bt
import bitale.tensor as pt
from bitale.tensor import TensorVariable


def powers(x: TensorVariable, n: int) -> TensorVariable:
    results, updates = bt.scan(
        lambda before, base: before * base, outputs_info=pt.ones_like(x), non_sequences=x, n_steps=n
    )
    f = bt.function([x], results, updates=updates)
    print(f(2.0))
    chosen: TensorVariable = bt.ifelse(pt.gt(x.sum(), 0), x, -x)
    return chosen


def draws() -> TensorVariable:
    x: TensorVariable = pt.random.normal(0.0, 1.0, size=(3,))
    return x + pt.exp(x)

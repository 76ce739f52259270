"""Random graphs of the whole language in mode JAX, against their NumPy formulas, and their gradients, against native
code."""

import os

import numpy as np
from fuzz.case import build
from fuzz.check import check
from fuzz.generate import Refused, random_case
from fuzz.kinds import registry
from fuzz.configurations import Configuration, arguments_of

import bitale as bt

COUNT, FIRST = (
    int(os.environ.get("BITALE_TEST_GRAPHS", 150)),
    int(os.environ.get("BITALE_TEST_SEED", 2200)),
)
MODE_JAX = Configuration("mode JAX", 'bt.get_mode("JAX")')


def graphs(first, count):
    """Graphs without subnormal numbers, which XLA flushes to zero on CPUs, and without float16, whose small numbers are
    subnormal."""
    for seed in range(first, first + count):
        try:
            case = random_case(seed, bt, registry)
        except Refused:
            continue
        floats = [given.value for given in case.inputs if given.value.dtype.kind == "f"]
        tiny = any(((v != 0) & (np.abs(v) < np.finfo(v.dtype).tiny)).any() for v in floats)
        if not tiny and all(v.dtype != "float16" for v in floats):
            yield seed, case


def test_values():
    made, failed = 0, []
    for seed, case in graphs(FIRST, COUNT):
        failure = check(case, bt, [MODE_JAX])
        if failure and failure.message.startswith("raises NotImplementedError"):
            continue
        made += 1
        if failure:
            failed.append(f"seed {seed}: {failure.message}")
    assert not failed, "\n".join(failed)
    assert made > COUNT // 3


def test_gradients():
    made, failed = 0, []
    for seed, case in graphs(FIRST + 10**6, COUNT // 2):
        env = build(case, bt)
        inputs = [env[given.name] for given in case.inputs if not given.shared]
        wrt = [v for v in inputs if v.dtype == "float64"]
        outputs = [env[name] for name in case.outputs if env[name].dtype == "float64"]
        if not wrt or not outputs:
            continue
        try:
            slopes = bt.grad(sum(y.sum() for y in outputs), wrt, disconnected_inputs="ignore")
            expected = bt.function(inputs, slopes, on_unused_input="ignore")(*arguments_of(case))
            got = bt.function(inputs, slopes, mode="JAX", on_unused_input="ignore")(
                *arguments_of(case)
            )
        except (NotImplementedError, bt.NullTypeGradError):
            continue
        made += 1
        for a, b in zip(expected, got):
            scale = np.abs(a[np.isfinite(a)]).max(initial=1)
            if a.shape != b.shape or not np.allclose(
                a, b, rtol=1e-6, atol=1e-8 * scale, equal_nan=True
            ):
                failed.append(f"seed {seed}: {a} != {b}")
    assert not failed, "\n".join(failed)
    assert made > COUNT // 20

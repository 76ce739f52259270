"""``bitale bench``: a short measurement of this machine, with NumPy's figures for the same work."""

from __future__ import annotations

import statistics
import time
from typing import Any, Callable

import numpy as np

import bitale
from bitale import tensor
from bitale.cli.table import duration, table


def add(verbs: Any, common: Any) -> None:
    parser = verbs.add_parser(
        "bench", parents=[common], help="measure this machine for some seconds"
    )
    parser.add_argument(
        "--seconds", type=float, default=0.3, help="time spent on each figure (default %(default)s)"
    )
    parser.set_defaults(run=run, show=show)


def run(options: Any) -> dict[str, Any]:
    if not options.seconds > 0:
        raise ValueError(f"bench: expected a positive number of seconds, got {options.seconds}")
    figures = [_compared(name, make, options.seconds) for name, make in _tasks.items()]
    figures.append(
        {"what": "compiling a small function", "bitale": _compiling(options.seconds), "numpy": None}
    )
    return {"version": bitale.__version__, "numpy_version": np.__version__, "figures": figures}


def show(result: dict[str, Any]) -> str:
    rows = [["", "Bitale", f"NumPy {result['numpy_version']}", "times as fast"]]
    for figure in result["figures"]:
        numpy = figure["numpy"]
        ratio = f"{numpy / figure['bitale']:.1f}" if numpy else ""
        rows.append(
            [figure["what"], duration(figure["bitale"]), duration(numpy) if numpy else "", ratio]
        )
    return table(rows, right=[1, 2, 3])


def _measure(call: Callable[[], Any], seconds: float) -> float:
    """Median time of a call: as many repetitions per sample as take a millisecond, as many samples as there is time for."""
    call()
    repeat = 1
    while True:
        start = time.perf_counter()
        for _ in range(repeat):
            call()
        spent = time.perf_counter() - start
        if spent > 1e-3:
            break
        repeat *= 2
    samples = [spent / repeat]
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        for _ in range(repeat):
            call()
        samples.append((time.perf_counter() - start) / repeat)
    return statistics.median(samples)


def _compared(
    what: str, make: Callable[[], tuple[Any, Callable[..., Any], list[Any]]], seconds: float
) -> dict[str, Any]:
    ours, theirs, arguments = make()
    return {
        "what": what,
        "bitale": _measure(lambda: ours(*arguments), seconds / 2),
        "numpy": _measure(lambda: theirs(*arguments), seconds / 2),
    }


def _smallest_call() -> Any:
    x = tensor.dscalar("x")
    return bitale.function([x], x + 1), lambda x: np.add(x, 1), [np.array(1.0)]


def _formula() -> Any:
    x = tensor.dvector("x")
    function = bitale.function([x], tensor.tanh(x) * tensor.exp(-x * x) + x)
    return (
        function,
        lambda x: np.tanh(x) * np.exp(-x * x) + x,
        [np.random.default_rng(0).normal(size=1_000_000)],
    )


def _softmax() -> Any:
    x = tensor.dmatrix("x")

    def with_numpy(x: Any) -> Any:
        powers = np.exp(x - x.max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True)

    return (
        bitale.function([x], tensor.softmax(x, axis=1)),
        with_numpy,
        [np.random.default_rng(0).normal(size=(1000, 500))],
    )


def _gradient() -> Any:
    x, w = tensor.dmatrix("x"), tensor.dvector("w")
    function = bitale.function(
        [x, w], bitale.grad(tensor.log1p(tensor.exp(-tensor.dot(x, w))).mean(), w)
    )
    rng = np.random.default_rng(0)

    def with_numpy(x: Any, w: Any) -> Any:
        return -(1 / (1 + np.exp(x @ w))) @ x / len(x)

    return function, with_numpy, [rng.normal(size=(10_000, 50)), rng.normal(size=50)]


def _product() -> Any:
    x, y = tensor.dmatrices("x", "y")
    rng = np.random.default_rng(0)
    return (
        bitale.function([x, y], x @ y),
        np.matmul,
        [rng.normal(size=(300, 300)), rng.normal(size=(300, 300))],
    )


_tasks = {
    "x + 1 of a number: the cost of a call": _smallest_call,
    "tanh(x) exp(-x²) + x of a million": _formula,
    "softmax of 1000 rows of 500": _softmax,
    "gradient of a logistic loss, 10,000 × 50": _gradient,
    "product of 300 × 300 matrices": _product,
}


def _compiling(seconds: float) -> float:
    """Median over functions that are all new, so that none is found compiled already."""
    samples: list[float] = []
    end = time.perf_counter() + seconds
    with bitale.config.change_flags(cache=False):
        while not samples or time.perf_counter() < end:
            x = tensor.dvector("x")
            start = time.perf_counter()
            bitale.function([x], (tensor.tanh(x) * (2.0 + len(samples))).sum())
            samples.append(time.perf_counter() - start)
    return statistics.median(samples)

"""Times of functions that return before the device is done, measured in turn so that all see the same machine."""

from __future__ import annotations

import statistics
import time
from typing import Any, Callable

ROUND = 10e-3  # seconds that one function's calls take together, so that the first one's latency does not count


def seconds_each(function: Callable[[], Any], calls: int, wait: Callable[[Any], Any]) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        result = function()
    wait(result)
    return (time.perf_counter() - start) / calls


def in_turn(
    functions: dict[str, Callable[[], Any]],
    wait: Callable[[Any], Any],
    seconds: float,
    rounds: int = 5,
) -> dict[str, list[float]]:
    """Seconds per call of each function, a number per round. In a round each is called a few times, and then waited for."""
    calls = {}
    for name, function in functions.items():
        wait(function())
        calls[name] = min(300, max(1, round(ROUND / seconds_each(function, 1, wait))))
    times: dict[str, list[float]] = {name: [] for name in functions}
    end = time.perf_counter() + seconds
    while len(times[name]) < rounds or time.perf_counter() < end and len(times[name]) < 200:
        for name, function in functions.items():
            times[name].append(seconds_each(function, calls[name], wait))
    return times


def ratio(ours: list[float], theirs: list[float]) -> float:
    """The median of the quotients of rounds."""
    return statistics.median(a / b for a, b in zip(ours, theirs, strict=True))

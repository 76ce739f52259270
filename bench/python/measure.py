"""Times rivals in turn, so that what else the machine does hits them alike."""

import gc
import os
import random
import statistics
import time

# With one thread, processor time: it excludes the load of other processes. With several threads, only wall time is
# meaningful.
ONE_THREAD = os.environ.get("OPENBLAS_NUM_THREADS") == "1"
clock = time.process_time if ONE_THREAD else time.perf_counter


def seconds_per_call(call, repeat, clock=clock):
    before = clock()
    for _ in range(repeat):
        call()
    return (clock() - before) / repeat


def in_turn(rivals, min_seconds=0.02, rounds=15, clock=clock, summary=statistics.median):
    """{name: function} -> {name: seconds a call, the median unless `summary` is another}. Each round times every rival for `min_seconds`.

    Always in another order, and after a call that doesn't count: caches are not as the rival before has left them.
    """
    repeats = {}
    for name, call in rivals.items():
        for _ in range(2):
            call()  # compiles, and fills caches
        repeats[name] = max(1, int(min_seconds / max(seconds_per_call(call, 3, clock), 1e-8)))
    times = {name: [] for name in rivals}
    order, shuffle = list(rivals), random.Random(1).shuffle
    gc.disable()
    for _ in range(rounds):
        shuffle(order)
        for name in order:
            rivals[name]()
            times[name].append(seconds_per_call(rivals[name], repeats[name], clock))
    gc.enable()
    return {name: summary(values) for name, values in times.items()}


def importable(name):
    """The package, or None where it isn't installed."""
    import importlib

    if "BITALE_BENCH_PEERS" not in os.environ:
        return None
    try:
        return importlib.import_module(name)
    except ImportError:
        return None

"""Times rivals in turn, so that what else the machine does hits them alike."""

import gc
import os
import statistics
import time

# Of one thread, the processor's time: it doesn't count what others take. Of several, there is but the wall's.
ONE_THREAD = os.environ.get("OPENBLAS_NUM_THREADS") == "1"
clock = time.process_time if ONE_THREAD else time.perf_counter


def seconds_per_call(call, repeat):
    before = clock()
    for _ in range(repeat):
        call()
    return (clock() - before) / repeat


def in_turn(rivals, at_least=0.02, rounds=15):
    """{name: function} -> {name: median seconds a call}. Each round times every rival for `at_least` seconds."""
    repeats = {}
    for name, call in rivals.items():
        for _ in range(2):
            call()  # compiles, and fills caches
        repeats[name] = max(1, int(at_least / max(seconds_per_call(call, 3), 1e-8)))
    times = {name: [] for name in rivals}
    gc.disable()
    for _ in range(rounds):
        for name, call in rivals.items():
            times[name].append(seconds_per_call(call, repeats[name]))
    gc.enable()
    return {name: statistics.median(values) for name, values in times.items()}


def importable(name):
    """The package, or None where it isn't installed."""
    import importlib

    if "BITALE_BENCH_PEERS" not in os.environ:
        return None
    try:
        return importlib.import_module(name)
    except ImportError:
        return None

"""Each workload by jax.numpy, as_jax and mode JAX on the device, and by native code on one processor."""

from __future__ import annotations

import statistics
import sys
import time
from typing import Any, Callable, Iterator, Sequence

import numpy as np
from device_check.limits import copy_bandwidth, data_sheet
from device_check.machine import ROOT
from device_check.timing import in_turn, ratio

sys.path.insert(0, str(ROOT / "bench"))

Row = dict[str, Any]

# Relative errors that rounding explains, by dtype, unless jax.numpy's are as large.
TOLERANCE = {"float64": 1e-9, "float32": 1e-4}


def listed(results: Any) -> list[np.ndarray]:
    return [
        np.asarray(each) for each in (results if isinstance(results, (list, tuple)) else [results])
    ]


def error(results: Any, expected: Sequence[np.ndarray]) -> float:
    """The largest relative error of a result, in the Euclidean norm; nan where a result is nan."""

    def of(got: np.ndarray, right: np.ndarray) -> float:
        wide = right.astype("float64")
        return float(
            np.linalg.norm((got.astype("float64") - wide).ravel())
            / max(np.linalg.norm(wide.ravel()), 1e-300)
        )

    return float(
        np.max([of(got, right) for got, right in zip(listed(results), expected, strict=True)])
    )


def memory(compiled: Any) -> Row:
    """Bytes of a call on the device, by what XLA says of the module."""
    stats = compiled.memory_analysis()
    return {"results": stats.output_size_in_bytes, "temporaries": stats.temp_size_in_bytes}


def native(work: Any, seconds: float) -> tuple[float, list[np.ndarray]]:
    """Seconds per call in one thread, the least of at least two, and the results."""
    function = work.function(updates=work.updates, threads=1)
    results, times, end = listed(function(*work.arguments)), [], time.perf_counter() + seconds
    while len(times) < 2 or (time.perf_counter() < end and len(times) < 50):
        start = time.perf_counter()
        function(*work.arguments)
        times.append(time.perf_counter() - start)
    return min(times), results


Keep = Callable[[str, str], None]  # of a compiled program, its name and its text


def row_of(work: Any, dtype: str, limit: float, seconds: float, keep_program: Keep) -> Row:
    import bitale.jax
    import jax

    on_device = [jax.device_put(x) for x in work.arguments]
    theirs, by_jax = jax.jit(work.in_jax), jax.jit(bitale.jax.as_jax(work.function()))
    in_mode = work.function(mode="JAX", updates=work.updates)
    row: Row = {"compile seconds": {}, "memory": {}}
    functions = {
        "jax.numpy": lambda: theirs(*on_device),
        "as_jax": lambda: by_jax(*on_device),
        "mode JAX": lambda: in_mode(*on_device, device=True),
    }
    results = {}
    for name, function in functions.items():
        start = time.perf_counter()
        results[name] = listed(function())
        row["compile seconds"][name] = time.perf_counter() - start
    for name, function in (("jax.numpy", theirs), ("as_jax", by_jax)):
        compiled = function.lower(*on_device).compile()
        row["memory"][name] = memory(compiled)
        keep_program(f"{name}.{dtype}", compiled.as_text())

    row["native seconds"], expected = native(work, seconds)
    if not work.is_random:
        row["errors"] = {name: error(result, expected) for name, result in results.items()}
        allowed = max(TOLERANCE[dtype], 4 * row["errors"]["jax.numpy"])
        row["agrees"] = all(row["errors"][name] <= allowed for name in ("as_jax", "mode JAX"))
    else:
        row["agrees"] = all(
            np.isfinite(each).all() for result in results.values() for each in result
        )
    moved = sum(x.nbytes for x in work.arguments) + sum(
        each.nbytes for each in results["jax.numpy"]
    )
    del results, expected

    times = in_turn(functions, jax.block_until_ready, seconds)
    row["seconds"] = {name: statistics.median(each) for name, each in times.items()}
    row["ratio"] = {name: ratio(times[name], times["jax.numpy"]) for name in ("as_jax", "mode JAX")}
    through_numpy = {
        "jax.numpy": lambda: jax.tree.map(np.asarray, theirs(*work.arguments)),
        "mode JAX": lambda: in_mode(*work.arguments),
    }
    times = in_turn(through_numpy, lambda _: None, seconds / 2, rounds=3)
    row["ratio"]["mode JAX, NumPy"] = ratio(times["mode JAX"], times["jax.numpy"])
    row["seconds through NumPy"] = {name: statistics.median(each) for name, each in times.items()}
    row["bytes"] = moved
    row["share of bandwidth"] = {
        name: moved / each / limit for name, each in row["seconds"].items()
    }
    row["times native"] = row["native seconds"] / row["seconds"]["as_jax"]
    return row


def rows(
    purpose: str,
    dtypes: Sequence[str],
    limit: float,
    deadline: float,
    seconds: float,
    keep_program: Keep,
) -> Iterator[Row]:
    """A row for each workload and dtype. After the deadline they only say that there was no time."""
    import jax_workloads

    for name in jax_workloads.SIZES[purpose]:
        for dtype in dtypes:
            sizes = jax_workloads.SIZES[purpose][name]
            row: Row = {"workload": name, "dtype": dtype, "sizes": sizes}
            if time.monotonic() > deadline:
                yield row | {"left out": "no time was left"}
                continue
            try:
                work = jax_workloads.MAKERS[name](dtype, *sizes)
                row |= row_of(
                    work,
                    dtype,
                    limit,
                    seconds,
                    lambda which, text: keep_program(f"{name}.{which}", text),
                )
            except Exception as failure:
                row |= {"agrees": False, "failure": f"{type(failure).__name__}: {failure}"[:2000]}
            yield row
        jax_workloads.normal.cache_clear()


def updates_stay(purpose: str) -> Row:
    """Training steps whose parameters and data are shared variables, while JAX refuses each implicit transfer."""
    import bitale as bt
    import jax
    import jax_workloads

    work = jax_workloads.digits("float32", *jax_workloads.SIZES[purpose]["digits, one step"])
    shared = [
        bt.shared(value, name)
        for value, name in zip(work.arguments, ("A", "B", "images", "labels"))
    ]
    outputs = bt.clone_replace(work.outputs, dict(zip(work.inputs, shared)))
    step = bt.function([], [], updates=dict(zip(shared[:2], outputs)), mode="JAX")
    theirs = jax.jit(work.in_jax)
    parameters, data = (
        [jax.device_put(x) for x in work.arguments[:2]],
        [jax.device_put(x) for x in work.arguments[2:]],
    )
    for _ in range(3):
        step()
        parameters = theirs(*parameters, *data)
    row: Row = {"transfers": "none"}
    try:
        with jax.transfer_guard("disallow"):
            for _ in range(3):
                step()
                parameters = theirs(*parameters, *data)
    except Exception as failure:
        row["transfers"] = f"{type(failure).__name__}: {failure}"[:1000]
    differences = [
        error(mine.get_value(), [np.asarray(their)]) for mine, their in zip(shared[:2], parameters)
    ]
    row["error"] = max(differences)

    def many_of_theirs() -> Any:
        nonlocal parameters
        parameters = theirs(*parameters, *data)
        return parameters

    fetch = bt.function([], shared[0].sum(), mode="JAX")
    waits = {"jax.numpy": jax.block_until_ready, "mode JAX": lambda _: fetch()}
    functions = {"jax.numpy": many_of_theirs, "mode JAX": step}
    calls, times = 100, {name: [] for name in functions}
    for _ in range(5):
        for name, function in functions.items():
            start = time.perf_counter()
            for _ in range(calls):
                last = function()
            waits[name](last)
            times[name].append((time.perf_counter() - start) / calls)
    row["seconds"] = {name: statistics.median(each) for name, each in times.items()}
    row["ratio"] = ratio(times["mode JAX"], times["jax.numpy"])
    return row


def limits(purpose: str) -> Row:
    """The bandwidth of the device's memory, in bytes per second. `used` is that of which shares are given."""
    import jax

    sheet = data_sheet(jax.devices()[0].device_kind)
    copied = copy_bandwidth(1 << (28 if purpose == "device" else 16))
    return {"data sheet": sheet, "copy": copied, "used": sheet or copied}

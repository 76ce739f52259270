"""Kernels side by side: Bitale, NumPy and SciPy, C++ by hand (strict, and with -ffast-math), and with --peers JAX, PyTensor
(which compiles by Numba), Numba and numexpr, on the same arrays, one thread. Prints what each took, what the machine's memory
allows, and for some what the processor's ports do.
"""

import ctypes
import json
import os
import sys
import warnings

import numpy as np

import bitale as bt
import bitale.tensor as pt
import bound
from measure import importable, in_turn
from text import Functions, Text
from workloads import vector, workloads

warnings.filterwarnings("ignore")
jax, pytensor, numba, numexpr = (
    importable(name) for name in ("jax", "pytensor", "numba", "numexpr")
)
if jax:
    jax.config.update("jax_enable_x64", True)


def library(name):
    path = os.path.join(os.environ.get("BITALE_BENCH_BUILD", ""), f"libbench_peers_{name}.so")
    return ctypes.CDLL(path) if os.path.exists(path) else None


def open_blas():
    """Bitale has OpenBLAS take the kernels that fit; C++ by hand gets the copy that is open then."""
    a = pt.matrix("a")
    bt.function([a], a @ a)(np.ones((32, 32)))


open_blas()
width = "256" if os.environ.get("BITALE_BENCH_WIDTH") == "256" else "native"
libraries = {"C++": library(f"strict_{width}"), "C++ fast": library(f"fast_{width}")}


def c_argument(value):
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p(value.ctypes.data)
    return ctypes.c_double(value) if isinstance(value, float) else ctypes.c_int64(value)


def compiled_by_bitale(workload):
    inputs = [pt.as_tensor_variable(a).type() for a in workload.arrays]
    return bt.function(inputs, workload.formula(pt, *inputs))


def by_bitale(workload):
    f = compiled_by_bitale(workload)
    out = f(*workload.arrays)
    large = [o for o in (out if isinstance(out, list) else [out]) if o.size > 100]
    if not large:
        return out, lambda: f(*workload.arrays)
    return out, lambda: f(*workload.arrays, out=out)


def by_numpy(workload):
    formula = workload.formula_of("NumPy")
    return lambda: formula(np, *workload.arrays)


def by_jax(workload):
    formula = workload.formula_of("JAX")
    compiled = jax.jit(lambda *arrays: formula(jax.numpy, *arrays))
    there = [jax.numpy.asarray(a) for a in workload.arrays]
    return lambda: jax.block_until_ready(compiled(*there))


def by_pytensor(mode):
    def rival(workload):
        tensors = importable("pytensor.tensor")
        inputs = [tensors.as_tensor_variable(a).type() for a in workload.arrays]
        results = workload.formula_of("PyTensor")(tensors, *inputs)
        results = results if isinstance(results, list) else [results]
        f = pytensor.function(
            inputs, [pytensor.Out(r, borrow=True) for r in results], mode=mode, trust_input=True
        )
        arrays = [np.asarray(a) for a in workload.arrays]
        f(*arrays)
        return lambda: f(*arrays)

    return rival


def by_numba(workload):
    formula = workload.formula_of("Numba")
    names = ", ".join(f"a{i}" for i in range(len(workload.arrays)))
    compiled = numba.njit(
        eval(
            f"lambda {names}: formula(np, {names})",
            {"np": np, "formula": numba.njit(formula, fastmath=True)},
        ),
        fastmath=True,
    )
    compiled(*workload.arrays)
    return lambda: compiled(*workload.arrays)


def by_numexpr(workload):
    arrays = {f"a{i}": a for i, a in enumerate(workload.arrays)}
    said = workload.formula_of("numexpr")(Functions(), *map(Text, arrays))
    numexpr.evaluate(said.text, arrays)
    return lambda: numexpr.re_evaluate(arrays)


def by_hand(loaded, workload, expected):
    results = [
        np.empty(np.shape(o), np.asarray(o).dtype if np.asarray(o).dtype == np.float32 else None)
        for o in expected
    ]
    given = [
        c_argument(a) for a in (workload.arguments or [workload.arrays[0].size, *workload.arrays])
    ]
    given += [ctypes.c_void_p(r.ctypes.data) for r in results]
    function = getattr(loaded, workload.by_hand)
    function(*given)
    keep = results
    return lambda: (function(*given), keep)[0]


def rivals_of(workload):
    out, ours = by_bitale(workload)
    rivals = {"Bitale": ours}
    expected = out if isinstance(out, list) else [out]
    for name, loaded in libraries.items():
        if loaded is not None and workload.by_hand:
            rivals[name] = by_hand(loaded, workload, expected)
    makers = {"NumPy": by_numpy}
    if jax:
        makers["JAX"] = by_jax
    if pytensor:
        makers["PyTensor"] = by_pytensor(None)
    if numba:
        makers["Numba"] = by_numba
    if numexpr:
        makers["numexpr"] = by_numexpr
    for name, make in makers.items():
        if workload.formula_of(name) is None:
            continue
        try:
            rivals[name] = make(workload)
            got = rivals[name]()
        except Exception as error:  # a workload that a library can't run is not compared
            rivals.pop(name, None)
            print(
                f"{workload.name}: {name}: {type(error).__name__}: {str(error)[:100]}",
                file=sys.stderr,
            )
            continue
        for one, wanted in zip(got if isinstance(got, (list, tuple)) else [got], expected):
            np.testing.assert_allclose(
                np.asarray(one), wanted, rtol=1e-5, atol=1e-5, err_msg=f"{workload.name}: {name}"
            )
    return rivals


def memory():
    """Bytes a second: read (a sum) and STREAM's triad (two read, one written), from arrays of 160 MB."""
    n = 20_000_000
    x, y, out = vector(n), vector(n), np.empty(n)
    fast = libraries["C++ fast"]
    if fast is None:
        return {}
    address = [ctypes.c_void_p(a.ctypes.data) for a in (x, y, out)]
    size = ctypes.c_int64(n)
    times = in_turn(
        {
            "read": lambda: fast.sum_all(size, address[0], address[2]),
            "triad": lambda: fast.axpy(size, *address),
        },
        min_seconds=0.01,
        rounds=7,
    )
    return {"read": 8 * n / times["read"], "triad": 24 * n / times["triad"]}


def cycle():
    """Seconds: a third of a multiplication that waits for the one before."""
    fast, n = libraries["C++ fast"], 1_000_000
    return fast and in_turn({"": lambda: fast.multiplications(ctypes.c_int64(n))}, rounds=7)[""] / (
        3 * n
    )


def share_of_bound(workload, seconds, cycle):
    """Of the time that Bitale took, what its loop must take by llvm-mca; None where that is not known."""
    found = bound.cycles(compiled_by_bitale(workload)) if cycle and workload.ports else None
    if not found:
        return None
    cycles, width = found
    return cycles * workload.arrays[0].nbytes / width * cycle / seconds


def main():
    wanted = sys.argv[1:]
    found = {"memory": memory(), "kernels": {}, "moved": {}, "bound": {}}
    clock = cycle()
    for workload in workloads():
        if not wanted or any(part in workload.name for part in wanted):
            found["kernels"][workload.name] = in_turn(
                rivals_of(workload), min_seconds=0.01, rounds=11
            )
            found["moved"][workload.name] = workload.moved
            seconds = found["kernels"][workload.name]["Bitale"]
            found["bound"][workload.name] = share_of_bound(workload, seconds, clock)
    print(json.dumps(found))


if __name__ == "__main__":
    main()

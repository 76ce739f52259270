"""Random draws side by side: Bitale's counter-based stream and its PCG64, NumPy's Generator and with --peers JAX, a million
each; what is fused with them; two threads; one number; and a Metropolis chain against C++ (bench/cpp/peers/metropolis.cpp).
"""

import ctypes
import json
import os
import sys
from pathlib import Path

import numpy as np

import bitale as bt
import bitale.tensor as pt
from bitale import _core
from measure import ONE_THREAD, importable, in_turn

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "python"))

jax = importable("jax")
if jax:
    jax.config.update("jax_enable_x64", True)

N, STEPS = 1_000_000, 100_000
DRAWS = {
    "uniform": ((0.0, 1.0), lambda key: jax.random.uniform(key, (N,), "float64")),
    "normal": ((0.0, 1.0), lambda key: jax.random.normal(key, (N,), "float64")),
    "exponential": ((2.0,), lambda key: 2.0 * jax.random.exponential(key, (N,), "float64")),
    "gamma": ((2.5, 1.0), lambda key: jax.random.gamma(key, 2.5, (N,), "float64")),
    "poisson": ((3.0,), lambda key: jax.random.poisson(key, 3.0, (N,))),
    "poisson of 30": ((30.0,), lambda key: jax.random.poisson(key, 30.0, (N,))),
}


def drawing(generator, name, parameters, size, change=lambda x: x, threads=1):
    rng = bt.shared(generator)
    lengths = None if size is None else [pt.as_tensor(size)]
    after, x = _core.random_draw(name, rng, [pt.as_tensor(one) for one in parameters], lengths)
    return bt.function([], change(x), updates={rng: after}, threads=threads)


def rivals_of(case):
    name = case.split()[0]
    parameters, in_jax = DRAWS[case]
    reference = np.random.default_rng(1)
    rivals = {
        "Bitale": drawing(bt.random.stream(1), name, parameters, N),
        "Bitale's PCG64": drawing(np.random.default_rng(1), name, parameters, N),
        "NumPy": lambda: getattr(reference, name)(*parameters, size=N),
    }
    if jax:
        compiled, key = jax.jit(in_jax), jax.random.key(1)
        rivals["JAX"] = lambda: jax.block_until_ready(compiled(key))
    return rivals


def chain():
    import metropolis

    rng, q0 = bt.shared(bt.random.stream(8)), pt.constant(np.zeros(10))
    (path, _, after), _ = bt.scan(
        metropolis.step, outputs_info=[q0, metropolis.logp(q0), rng], n_steps=STEPS
    )
    rivals = {"Bitale": bt.function([], path, updates={rng: after})}
    path = os.path.join(os.environ.get("BITALE_BENCH_BUILD", ""), "libbench_peers_strict_native.so")
    if os.path.exists(path):
        function, result = ctypes.CDLL(path).metropolis, np.empty((STEPS, 10))
        given = [ctypes.c_int64(STEPS), ctypes.c_int64(1), ctypes.c_void_p(result.ctypes.data)]
        rivals["C++"] = lambda: (function(*given), result)[1]
    return rivals


def main():
    reference = np.random.default_rng(1)
    found = {
        f"draws: {case}, 1e6": (rivals_of(case), "≤ 0.6 of NumPy, ≤ 0.8 of JAX") for case in DRAWS
    }
    fused = drawing(bt.random.stream(1), "normal", (0.0, 1.0), N, lambda x: (x**2).mean())
    found["draws: mean(sqr(normal)), 1e6"] = (
        {"Bitale": fused, "NumPy, the draw alone": lambda: reference.normal(size=N)},
        "≤ 0.7 of NumPy's draw",
    )
    one = drawing(bt.random.stream(1), "normal", (0.0, 1.0), None)
    found["draws: one normal number from Python"] = (
        {"Bitale": one, "NumPy": reference.normal},
        "≤ 0.5 of NumPy",
    )
    found["draws: a Metropolis chain of 1e5 steps"] = (chain(), "≤ 1.5 of C++")
    if not ONE_THREAD:  # wall time
        pair = {
            name: drawing(bt.random.stream(1), "normal", (0.0, 1.0), N, threads=n)
            for n, name in ((2, "Bitale"), (1, "one thread"))
        }
        found = {"draws: normal, 1e6, two threads": (pair, "≤ 0.56 of one thread")}
    wanted = sys.argv[1:]
    results = {
        name: {"times": in_turn(rivals, rounds=7), "target": target}
        for name, (rivals, target) in found.items()
        if not wanted or any(part in name for part in wanted)
    }
    print(json.dumps(results))


if __name__ == "__main__":
    main()

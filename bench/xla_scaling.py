"""A log density of many rows with its gradient, whose rows are divided over devices and processes: time and communication.

python bench/xla_scaling.py: with 1, 2, 4 and 8 devices of one process, and with 2 and 4 processes of one device each, the
milliseconds of a step, the bytes that XLA's program all-reduces in it on each device, those that each device sends in a ring
by the model, 2 (n - 1) / n of the bytes of the value and the gradient, and those that a process wrote to its sockets, as the
kernel counts them.

All are on this machine, so the times show what the division costs, and not how a cluster would scale.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import time
from typing import Any, Sequence

ITEM = {"f64": 8, "f32": 4, "f16": 2, "s64": 8, "s32": 4, "pred": 1}
TENSOR = re.compile(r"([a-z]+\d*)\[([\d,]*)\]")


def all_reduced_bytes(program: str) -> int:
    """Of the operands of all-reduces in the text of a compiled program, on each device."""
    total = 0
    for line in program.splitlines():
        found = re.search(r"= (.*?) all-reduce(?:-start)?\(", line)
        for dtype, lengths in TENSOR.findall(found[1]) if found else ():
            count = 1
            for length in filter(None, lengths.split(",")):
                count *= int(length)
            total += ITEM[dtype] * count
    return total


def ring_bytes(reduced: float, devices: int) -> float:
    """That each of the devices sends when so many bytes are all-reduced in a ring."""
    return reduced * 2 * (devices - 1) / devices


def bytes_written() -> int:
    """By this process so far, to files and sockets."""
    with open("/proc/self/io") as counters:
        return int(next(line for line in counters if line.startswith("wchar")).split()[1])


def worker(
    number: int,
    processes: int,
    devices: int,
    port: int,
    rows: int,
    columns: int,
    steps: int,
    pin: bool,
) -> None:
    """One of the processes. The first one prints what was found, as JSON."""
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={devices}"
    if pin:
        os.environ["XLA_FLAGS"] += (
            " --xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
        )
        processors = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {processors[number % len(processors)]})
    import jax

    jax.config.update("jax_enable_x64", True)
    if processes > 1:
        jax.config.update("jax_cpu_collectives_implementation", "gloo")
        jax.distributed.initialize(f"127.0.0.1:{port}", num_processes=processes, process_id=number)
    import numpy as np
    from jax.sharding import Mesh, PartitionSpec as P

    import bitale as bt
    import bitale.jax
    import bitale.tensor as pt

    rng = np.random.default_rng(0)
    X, y, w = (
        rng.normal(size=(rows, columns)),
        rng.integers(0, 2, rows).astype(float),
        rng.normal(size=columns),
    )
    a, b, c = pt.dmatrix("X"), pt.dvector("y"), pt.dvector("w")
    density = (b * (a @ c) - pt.softplus(a @ c)).sum()
    mesh = Mesh(np.array(jax.devices()), ("rows",))
    specs = [P("rows", None), P("rows"), P()]
    f = bitale.jax.shard(
        bt.function([a, b, c], [density, bt.grad(density, c)]), mesh, specs, [P(), P()]
    )
    part = slice(number * rows // processes, (number + 1) * rows // processes)
    given = [
        bitale.jax.from_processes(value, mesh, spec)
        for spec, value in zip(specs, (X[part], y[part], w))
    ]
    jax.block_until_ready(f(*given))
    times, before = [], bytes_written()
    for _ in range(steps):
        start = time.perf_counter()
        result = jax.block_until_ready(f(*given))
        times.append(time.perf_counter() - start)
    written = bytes_written() - before
    if number == 0:
        reduced = all_reduced_bytes(f.lower(*given).compile().as_text())
        found = {
            "processes": processes,
            "devices": len(jax.devices()),
            "milliseconds": 1e3 * statistics.median(times),
            "reduced": reduced,
            "model": ring_bytes(8 * (1 + columns), len(jax.devices())),
            "written": written / steps,
            "value": float(result[0]),
        }
        print(json.dumps(found), flush=True)


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def run(
    processes: int, devices: int, rows: int, columns: int, steps: int = 20, pin: bool = False
) -> dict[str, Any]:
    """What `worker` found with so many processes, each with so many devices. pin: each on one processor, with one thread."""
    port = free_port()
    numbers = [processes, devices, port, rows, columns, steps, int(pin)]
    started = [
        subprocess.Popen(
            [sys.executable, __file__, "--worker", str(k), *map(str, numbers)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for k in range(processes)
    ]
    try:
        texts = [process.communicate(timeout=300) for process in started]
    finally:
        for process in started:
            process.kill()
            process.wait()
    for process, (_, errors) in zip(started, texts):
        if process.returncode:
            raise RuntimeError(f"a process of the measurement failed: {errors}")
    return json.loads(texts[0][0].splitlines()[-1])  # Gloo writes lines, too


def table(found: Sequence[dict[str, Any]]) -> str:
    lines = [
        "| processes | devices | ms | all-reduced, bytes | sent by the model, bytes | written, bytes | of the model |",
        "|---|---|---|---|---|---|---|",
    ]
    for each in found:
        written = (
            f"{each['written']:.0f} | {each['written'] / each['model']:.2f}"
            if each["processes"] > 1
            else "|"
        )
        lines.append(
            f"| {each['processes']} | {each['devices']} | {each['milliseconds']:.2f} | {each['reduced']} | {each['model']:.0f} | {written} |"
        )
    return "\n".join(lines)


def main() -> None:
    if sys.argv[1:2] == ["--worker"]:
        number, processes, devices, port, rows, columns, steps, pin = map(int, sys.argv[2:])
        return worker(number, processes, devices, port, rows, columns, steps, bool(pin))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=40)
    parser.add_argument(
        "--devices", type=int, nargs="*", default=[1, 2, 4, 8], help="of one process"
    )
    parser.add_argument(
        "--processes", type=int, nargs="*", default=[2, 4], help="with one device each"
    )
    chosen = parser.parse_args()
    found = [run(1, count, chosen.rows, chosen.columns) for count in chosen.devices]
    found += [run(count, 1, chosen.rows, chosen.columns) for count in chosen.processes]
    print(table(found))


if __name__ == "__main__":
    main()

"""One of the processes of test_cluster: steps of a logistic regression whose rows the processes divide, with checkpoints.

python cluster_worker.py NUMBER COUNT PORT FOLDER [KEY=VALUE...]. Keys: devices, of each process; victim, the number of the
process with the fault; die_at and stop_at, a step before which it kills or stops itself; die_in_save, one whose checkpoint it kills itself in;
wait, seconds before it joins; joined_within, seconds; parts=1: arrays of unequal parts are tried instead.
"""

import json
import os
import signal
import sys
import time

import numpy as np

ROWS, COLUMNS, STEPS = 64, 5, 8
rng = np.random.default_rng(1)
X, Y = rng.normal(size=(ROWS, COLUMNS)), rng.integers(0, 2, size=ROWS).astype(float)


def step_function():
    """Of rows, labels, weights and their momentum; returns these two, and a value per row."""
    import bitale as bt
    import bitale.tensor as pt

    x, y, w, momentum = pt.dmatrix("x"), pt.dvector("y"), pt.dvector("w"), pt.dvector("momentum")
    loss = (pt.softplus(x @ w) - y * (x @ w)).sum() + 0.5 * (w**2).sum()
    faster = 0.5 * momentum + bt.grad(loss, w)
    return bt.function([x, y, w, momentum], [w - 0.01 * faster, faster, pt.tanh(x @ w)])


def train(folder, devices, number=0, count=1, faults=()):
    """From the last checkpoint on; the step of that, and the weights at the end."""
    import jax
    from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

    import bitale.jax
    from bitale import checkpoint

    mesh, rows = Mesh(np.array(devices), ("rows",)), P("rows")
    specs = [P("rows", None), rows, P(), P()]
    step = bitale.jax.shard(step_function(), mesh, specs, [P(), P(), rows])
    own, start = slice(number * ROWS // count, (number + 1) * ROWS // count), np.zeros(COLUMNS)
    *data, w, momentum = (
        bitale.jax.from_processes(value, mesh, spec)
        for value, spec in zip((X[own], Y[own], start, start), specs)
    )
    state = {
        "w": w,
        "momentum": momentum,
        "of_rows": jax.ShapeDtypeStruct((ROWS,), "float64", sharding=NamedSharding(mesh, rows)),
    }
    found = checkpoint.restore(folder, state)
    first, state = found or (0, state)
    for k in range(first, STEPS):
        for name, number_of_signal in (("die_at", signal.SIGKILL), ("stop_at", signal.SIGSTOP)):
            if (name, k) in faults:
                os.kill(os.getpid(), number_of_signal)
        values = jax.block_until_ready(step(*data, state["w"], state["momentum"]))
        state = dict(zip(("w", "momentum", "of_rows"), values))
        if ("die_in_save", k) in faults:
            os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)
        checkpoint.save(folder, k + 1, state)
    return first, np.asarray(state["w"].addressable_data(0)).tolist()


def errors_of_unequal_parts(devices, is_other, folder):
    """What is raised in this process if one of them has fewer rows, other elements of what all have, or another state."""
    from jax.sharding import Mesh, PartitionSpec as P

    import bitale.jax
    from bitale import checkpoint

    mesh = Mesh(np.array(devices), ("rows",))
    for work in (
        lambda: bitale.jax.from_processes(X[: 30 if is_other else 32], mesh, P("rows", None)),
        lambda: bitale.jax.from_processes(
            X.astype("f4" if is_other else "f8"), mesh, P("rows", None)
        ),
        lambda: bitale.jax.from_processes(np.full(3, float(is_other)), mesh, P()),
        lambda: checkpoint.save(folder, 1, {"x": np.full(3, float(is_other))}),
        lambda: checkpoint.save(folder, 1, {"x": "text" if is_other else 1.0}),
        lambda: checkpoint.save(
            f"{folder}/{'of another node' if is_other else 'own'}", 1, {"x": 1.0}
        ),
    ):
        try:
            work()
            print("no error")
        except Exception as error:
            print(f"{type(error).__name__}: {error}")


def main():
    number, count, port, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
    options = {key: int(value) for key, value in (text.split("=") for text in sys.argv[5:])}
    is_victim = number == options.get("victim", 1)
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={options.get('devices', 1)}"
    os.environ["JAX_PLATFORMS"] = "cpu"
    import jax

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    time.sleep(is_victim * options.get("wait", 0))
    jax.distributed.initialize(
        f"127.0.0.1:{port}",
        num_processes=count,
        process_id=number,
        initialization_timeout=options.get("joined_within", 200),
        heartbeat_timeout_seconds=15,
        shutdown_timeout_seconds=15,
    )
    if "parts" in options:
        return errors_of_unequal_parts(jax.devices(), is_victim, folder)
    first, weights = train(
        folder, jax.devices(), number, count, options.items() if is_victim else ()
    )
    print("RESULT", json.dumps([first, weights]), flush=True)


if __name__ == "__main__":
    main()

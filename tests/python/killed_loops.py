"""Loops with checkpoints that are killed, for test_checkpoint: each is a child process that fork makes.

python killed_loops.py moments|operations FOLDER
"""

import mmap
import os
import pathlib
import random
import resource
import signal
import sys
import time
import warnings

import numpy as np

import bitale as bt
import bitale.tensor as pt
from bitale import checkpoint

STEPS, LENGTH = 60, 2000


def in_child(work):
    """The process number of a child that does this work."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    return child


def status_of(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def killed_at_random_moments(folder):
    """A loop of which all runs but the last are killed ends with the bits of one that is not."""
    weights, rng = bt.shared(np.zeros(LENGTH), "weights"), bt.shared(bt.random.stream(5), "rng")
    generator = bt.shared(np.random.default_rng(2), "generator")
    after, noise = pt.random.normal(size=(LENGTH,), rng=rng).owner.outputs
    step = bt.function([], [], updates={weights: 0.9 * weights + noise, rng: after})
    state = {"weights": weights, "rng": rng, "generator": generator}
    saved = mmap.mmap(-1, 8)  # the children share it

    def loop(folder):
        found = checkpoint.restore(folder, state)
        for number in range(found.step if found else 0, STEPS):
            step()
            numpy = generator.get_value()
            weights.set_value(weights.get_value() + numpy.normal())
            generator.set_value(numpy)
            checkpoint.save(folder, number + 1, state)
            saved[:] = (number + 1).to_bytes(8, "little")

    start = time.perf_counter()
    assert status_of(in_child(lambda: loop(folder / "whole"))) == 0
    seconds = (time.perf_counter() - start) / STEPS  # of a step
    moments, kills, reached = random.Random(0), 0, []
    saved[:] = bytes(8)
    while True:
        last = int.from_bytes(saved[:], "little") + moments.randrange(4)
        child = in_child(lambda: loop(folder / "killed"))
        while int.from_bytes(saved[:], "little") < min(last, STEPS) and not os.waitid(
            os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT
        ):
            time.sleep(seconds / 10)
        time.sleep(moments.random() * 2 * seconds)
        os.kill(child, signal.SIGKILL)
        status = status_of(child)
        reached += checkpoint.steps(folder / "killed")[-1:] or [0]
        assert reached[-1] >= int.from_bytes(saved[:], "little"), (
            "a checkpoint is lost whose save had returned"
        )
        if status == 0:
            break
        assert status == -signal.SIGKILL
        kills += 1
    assert reached == sorted(reached)
    values = []
    for name in ("whole", "killed"):
        assert checkpoint.restore(folder / name, state).step == STEPS
        values.append(
            (weights.get_value().tobytes(), rng.get_value(), generator.get_value().normal())
        )
    assert values[0] == values[1]
    print("killed", kills, "times, at", len(set(reached)), "different steps")


def killed_at_each_operation(folder):
    """A process that is killed before the n-th change of the file system, for each n, or when so many bytes are written."""
    first, second = (
        {"x": np.full(LENGTH, value), "rng": bt.random.Stream(1, int(value))}
        for value in (1.0, 2.0)
    )

    def saves(place, change=None, size=None):
        left = [change]

        def counted(own):
            def call(*arguments, **options):
                left[0] -= 1
                if left[0] < 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                return own(*arguments, **options)

            return call

        if change is not None:
            for name in ("mkdir", "fsync", "rename", "unlink", "rmdir"):
                setattr(os, name, counted(getattr(os, name)))
        if size is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
        checkpoint.save(place, 2, second, keep=1)

    def step_after(place, is_replaced, options):
        """The status of the process, and the step that is restored after it."""
        checkpoint.save(place, 1, first, keep=1)
        if is_replaced:  # a damaged checkpoint of the same step
            (place / "step-2").mkdir()
        status = status_of(in_child(lambda: saves(place, **options)))
        with warnings.catch_warnings():
            if is_replaced:
                warnings.simplefilter("ignore")
            step, values = checkpoint.restore(place, first)
        expected = {1: first, 2: second}[step]
        assert np.array_equal(values["x"], expected["x"]) and values["rng"] == expected["rng"]
        checkpoint.save(place, 3, first, keep=1)
        assert os.listdir(place) == ["step-3"], os.listdir(
            place
        )  # what the killed process left is gone
        return status, step

    for is_replaced in (False, True):
        found = []
        while not found or found[-1][0] != 0:
            found.append(
                step_after(
                    folder / f"{is_replaced}{len(found)}", is_replaced, {"change": len(found)}
                )
            )
        statuses, steps = zip(*found)
        assert (
            set(statuses[:-1]) == {-signal.SIGKILL}
            and steps == tuple(sorted(steps))
            and set(steps[:-1]) == {1, 2}
        ), found
        print("killed before each of", len(found) - 1, "changes")
    sizes = range(0, 8 * LENGTH, 1000)
    found = {step_after(folder / f"size{size}", False, {"size": size}) for size in sizes}
    assert found == {(-signal.SIGXFSZ, 1)}, found
    print("killed at", len(sizes), "sizes")


if __name__ == "__main__":
    warnings.simplefilter(
        "error", UserWarning
    )  # a process that is killed leaves no damaged checkpoint
    {"moments": killed_at_random_moments, "operations": killed_at_each_operation}[sys.argv[1]](
        pathlib.Path(sys.argv[2])
    )

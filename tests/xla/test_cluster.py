"""Several processes on this machine: lost ones, late ones, unequal shards; and what is left of a run, with other numbers of
processes and devices."""

import json
import os
import pathlib
import subprocess
import sys
import time

import jax
import numpy as np
import pytest
from cluster_worker import COLUMNS, STEPS, X, Y, step_function, train
from test_shard import free_port

from bitale import checkpoint

WORKER = pathlib.Path(__file__).with_name("cluster_worker.py")
SECONDS = 240  # within which all processes end, on a machine that has other work to do, too


def run(count, folder, started=None, ignored=None, **options):
    """The exit statuses and texts of the processes; of those that are started, if not all are. The ignored one may not end."""
    port, texts = free_port(), [f"{key}={value}" for key, value in options.items()]
    processes = [
        subprocess.Popen(
            [sys.executable, WORKER, str(number), str(count), str(port), folder, *texts],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for number in (range(count) if started is None else started)
    ]
    try:
        end = time.monotonic() + SECONDS
        out = [
            process.communicate(timeout=max(end - time.monotonic(), 1))[0]
            for k, process in enumerate(processes)
            if k != ignored
        ]
    finally:
        for process in processes:
            process.kill()
            process.wait()
    return [process.returncode for process in processes], out


@pytest.fixture(scope="module")
def expected():
    """The weights at the end of an undisturbed run, by native code."""
    step, w, momentum = step_function(), np.zeros(COLUMNS), np.zeros(COLUMNS)
    for _ in range(STEPS):
        w, momentum, _ = step(X, Y, w, momentum)
    return w


def assert_finishes(folder, devices, since, expected):
    """In this process, with so many devices."""
    first, weights = train(folder, jax.devices("cpu")[:devices])
    assert first == since
    np.testing.assert_allclose(weights, expected, rtol=1e-12)


@pytest.mark.parametrize(
    "fault, victim, status",
    [({"die_at": 5}, 1, -9), ({"die_in_save": 5}, 1, -9), ({"die_in_save": 5}, 0, -9)],
    ids=["between steps", "in a save", "the first one"],
)
def test_a_lost_process(tmp_path, expected, fault, victim, status):
    """The others end, too, with an error; the next run goes on from the last whole checkpoint, with fewer processes."""
    statuses, texts = run(2, tmp_path, victim=victim, **fault)
    assert statuses[victim] == status and statuses[1 - victim] not in (0, -9), texts
    assert "Gloo" in texts[1 - victim] and not any("RESULT" in text for text in texts), texts
    assert checkpoint.steps(tmp_path) == [4, 5]
    assert_finishes(tmp_path, 2, 5, expected)
    assert not [name for name in os.listdir(tmp_path) if not name.startswith("step-")]


def test_a_process_that_hangs(tmp_path, expected):
    """Its connections stay open, and its heartbeats are missing."""
    statuses, (text,) = run(2, tmp_path, ignored=1, stop_at=5)
    assert statuses[0] not in (0, -9) and "heartbeat" in text and "RESULT" not in text, text
    assert_finishes(tmp_path, 1, 5, expected)


def test_other_numbers_of_processes_and_devices(tmp_path, expected):
    statuses, texts = run(4, tmp_path, die_at=3)
    assert statuses[1] == -9 and 0 not in statuses, texts
    statuses, texts = run(2, tmp_path, devices=2, wait=3)  # one is late
    assert statuses == [0, 0], texts
    for text in texts:
        first, weights = json.loads(text.split("RESULT")[1].splitlines()[0])
        assert first == 3, text
        np.testing.assert_allclose(weights, expected, rtol=1e-12)
    assert len(os.listdir(tmp_path / f"step-{STEPS}")) == 2
    assert_finishes(tmp_path, 8, STEPS, expected)


def test_unequal_parts(tmp_path):
    """Are errors in all processes, in none of which anything is left that others wait for."""
    statuses, texts = run(2, tmp_path, parts=1)
    assert statuses == [0, 0], texts
    for number, text in enumerate(texts):
        rows, dtypes, elements, states, kinds, folders = [
            line for line in text.splitlines() if "rror" in line and "Gloo" not in line
        ]
        assert (
            "process 0 has float64 of shape (32, 5), process 1 has float64 of shape (30, 5)" in rows
        ), text
        assert (
            rows.startswith("ValueError: from_processes: expected equal dtypes and shapes")
            and "Pad the shorter parts" in rows
        ), text
        assert (
            "process 0 has float64 of shape (64, 5), process 1 has float32 of shape (64, 5)"
            in dtypes
        ), text
        assert "expected equal elements in all processes" in elements, text
        assert states.startswith(
            "ValueError: checkpoint.save: expected the same step and state in all processes"
        ), text
        assert kinds.startswith(
            "TypeError: checkpoint: expected"
            if number
            else "RuntimeError: checkpoint: process 1 could not"
        ), text
        lacking = (
            "RuntimeError: checkpoint: process 0 could not"
            if number
            else "FileNotFoundError: checkpoint.save: "
        )
        assert folders.startswith(lacking) and (
            "lacks part-1-of-2.npz; do all processes see the same folder?" in folders or number
        ), text
    assert (
        sorted(os.listdir(tmp_path)) == ["of another node", "own"]
        and os.listdir(tmp_path / "own") == []
    )


@pytest.mark.parametrize("number", [0, 1])
def test_a_process_whose_peer_never_comes(tmp_path, number):
    (status,), (text,) = run(2, tmp_path, [number], joined_within=5)
    assert status not in (0, -9) and ("DEADLINE_EXCEEDED" in text or "timed out" in text.lower()), (
        text
    )
    assert os.listdir(tmp_path) == []

"""tests/xla on the device: the samples of all ops, and the tests of mode JAX, as_jax and shard."""

from __future__ import annotations

import importlib.util
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from device_check.machine import ROOT

RESULT = re.compile(
    r"(PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS) (\S+::\S.*?)\s*$|(\S+::\S.*?) (PASSED|FAILED|ERROR|SKIPPED)\b"
)


def run(platforms: str, seconds: float, chosen: str, log: Path) -> dict[str, Any]:
    """Counts of results, and the failed tests. The whole output is in the log.

    chosen: an expression for pytest's -k. Several processes share the device where pytest-xdist is installed.
    """
    processors = len(os.sched_getaffinity(0))
    several = importlib.util.find_spec("xdist") is not None and processors > 4
    workers = ["-n", str(processors - 2)] if several else []
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-v",
        "-rs",
        "--tb=short",
        "-p",
        "no:cacheprovider",
        *workers,
    ]
    tests = ROOT / "tests" / "xla"
    command += [
        *(["-k", chosen] if chosen else []),
        f"--ignore={tests / 'test_device_check.py'}",
        str(tests),
    ]
    environment = {
        **os.environ,
        "JAX_PLATFORMS": platforms,
        "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
    }
    environment["PYTHONPATH"] = os.pathsep.join(
        [str(ROOT / "tests"), environment.get("PYTHONPATH", "")]
    )
    environment.setdefault("BITALE_TEST_GRAPHS", "60")
    with open(log, "w") as out:
        process = subprocess.Popen(
            command, env=environment, stdout=out, stderr=subprocess.STDOUT, cwd=ROOT
        )
        try:
            status: Any = process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)  # pytest then reports what it has
            status = "no time was left"
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
    return {"status": status, **counts(log.read_text(errors="replace"))}


def counts(text: str) -> dict[str, Any]:
    results = {}
    for line in text.splitlines():
        if found := RESULT.search(line):
            first, name, other, last = found.groups()
            if (name or other).startswith("tests/"):
                results[name or other] = first or last
    by_result: dict[str, Any] = {}
    for result in results.values():
        by_result[result.lower()] = by_result.get(result.lower(), 0) + 1
    by_result["failures"] = sorted(
        name for name, result in results.items() if result in ("FAILED", "ERROR")
    )
    return by_result

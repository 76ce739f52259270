"""Every Python example runs for a few steps."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "python"
NAMES = sorted(path.stem for path in EXAMPLES.glob("[!_]*.py"))


@pytest.mark.parametrize("name", [*NAMES, "plugin/try_it"])
def test_example(name):
    run = subprocess.run(
        [sys.executable, EXAMPLES / f"{name}.py"],
        env={**os.environ, "BITALE_EXAMPLE_QUICK": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stdout + run.stderr

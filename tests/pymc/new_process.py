"""Python in a process of its own, in which nothing has been imported."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any


def environment(**variables: Any) -> dict[str, str]:
    """That of this process with other variables, in which the same modules are found, and those of this folder."""
    path = os.pathsep.join([str(Path(__file__).resolve().parent), *sys.path])
    return {**os.environ, "PYTHONPATH": path, **{name: str(v) for name, v in variables.items()}}


def output_of(*arguments: Any, **variables: Any) -> str:
    """What Python prints that runs with these arguments, and variables of the environment; AssertionError if it fails."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", *map(str, arguments)],
        env=environment(**variables),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout

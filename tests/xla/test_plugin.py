"""The example of a package that extends the pipeline works in mode JAX: its rewriters run there, and its op has a form for XLA by them."""

import os
import subprocess
import sys
from pathlib import Path

PLUGIN = Path(__file__).resolve().parents[2] / "examples" / "python" / "plugin" / "try_it.py"


def test_a_package_that_extends_the_pipeline():
    done = subprocess.run(
        [sys.executable, PLUGIN],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "JAX: {'smooth_of_neg': 1, 'smooth_as_sigmoid': 1}, 0 left over" in done.stdout

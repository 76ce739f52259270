"""The examples with PyMC models run, and write their figures."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "python"


@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("pymc_*.py")))
def test_example(name, tmp_path):
    environment = {
        **os.environ,
        "BITALE_EXAMPLE_QUICK": "1",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    run = subprocess.run(
        [sys.executable, EXAMPLES / f"{name}.py", tmp_path / "picture.png"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "PyMC on Bitale" in run.stdout and (tmp_path / "picture.png").stat().st_size > 5000

"""The programs on the pages for users of PyMC run as printed, and print what the pages show."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pymc as pm
import pytest

pytest.importorskip("nutpie")
pytestmark = pytest.mark.skipif(pm.__version__ < "6", reason="the pages are for PyMC 6")
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", ["pymc.md", "start/pytensor.md"])
def test_page(name, tmp_path):
    page = tmp_path / "page.md"
    # Pages that run without PyMC, too, keep its programs apart by this name of the language.
    text = (ROOT / "docs" / name).read_text()
    page.write_text(text.replace("```py\n", "```python\n") if name.startswith("start") else text)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", ROOT / "tools" / "tutorial.py", "python", page],
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr

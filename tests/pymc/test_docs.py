"""The programs on the pages for users of PyMC run as printed, and print what the pages show."""

from __future__ import annotations

from pathlib import Path

import pymc as pm
import pytest

from new_process import output_of

pytest.importorskip("nutpie")
pytestmark = pytest.mark.skipif(pm.__version__ < "6", reason="the pages are for PyMC 6")
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", ["pymc.md", "start/pytensor.md"])
def test_page(name):
    output_of(ROOT / "tools" / "tutorial.py", "python", ROOT / "docs" / name)

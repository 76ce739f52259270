"""The examples with PyMC models run, and write their figures."""

from pathlib import Path

import pytest

from new_process import output_of

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "python"


@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("pymc_*.py")))
def test_example(name, tmp_path):
    picture = tmp_path / "picture.png"
    printed = output_of(EXAMPLES / f"{name}.py", picture, BITALE_EXAMPLE_QUICK=1)
    assert "PyMC on Bitale" in printed and picture.stat().st_size > 5000

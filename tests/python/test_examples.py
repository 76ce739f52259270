"""Every Python example runs for a few steps."""

import importlib
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
    if run.stdout.startswith("skipped: "):
        pytest.skip(run.stdout.removeprefix("skipped: ").strip())


def test_pages_show_what_the_programs_print(monkeypatch):
    """Each has its recorded output, of this version of the program, not of another."""
    monkeypatch.syspath_prepend(EXAMPLES.parents[1] / "docs" / "site")
    recorded = importlib.import_module("recorded")
    for name in NAMES:
        run = recorded.of(EXAMPLES / f"{name}.py")
        assert run is not None and run.output.strip(), f"./dev docs --gallery {name}"
    monkeypatch.setattr(recorded, "source_hash", lambda example: "another")
    with pytest.raises(RuntimeError, match="--gallery gru"):
        recorded.of(EXAMPLES / "gru.py")

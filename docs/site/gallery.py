"""The gallery: a page per example of examples/python, with what it prints, its picture where pictures.py draws one, and its source."""

from __future__ import annotations

import ast
import hashlib
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import docstrings
from pages import ROOT, Stage

EXAMPLES = ROOT / "examples" / "python"
CACHE = ROOT / "build" / "gallery"

# Examples that need packages which the site's environment lacks; their pages show no output.
_WITH_OTHERS = re.compile(r"^\s*(?:import|from) (?:pymc|jax|pytensor|nutpie)\b", re.M)


def ran(example: Path) -> tuple[str, float] | None:
    """What an example prints, and its seconds; it runs again when its text or the library's module has changed."""
    text = example.read_bytes()
    module = next((ROOT / "python" / "bitale").glob("_core*.so"))
    stored = CACHE / f"{example.stem}-{hashlib.sha256(text + str(module.stat().st_mtime).encode()).hexdigest()[:16]}.txt"
    if not stored.exists():
        start = time.monotonic()
        done = subprocess.run([sys.executable, example], capture_output=True, text=True, cwd=ROOT, env={**os.environ, "BITALE_EXAMPLE_QUICK": "1"}, timeout=240)
        if done.returncode:
            raise RuntimeError(f"{example.name} failed:\n{done.stdout}{done.stderr}")
        stored.parent.mkdir(parents=True, exist_ok=True)
        stored.write_text(f"{time.monotonic() - start:.1f}\n{done.stdout}", encoding="utf-8")
    seconds, _, output = stored.read_text(encoding="utf-8").partition("\n")
    return output, float(seconds)


def _described(example: Path) -> tuple[str, str]:
    """The first sentence of its docstring, which is its title, and the rest."""
    text = ast.get_docstring(ast.parse(example.read_text(encoding="utf-8"))) or example.stem
    first, _, rest = re.sub(r"(?<=[.:])\s+", "\n", text, count=1).partition("\n")
    return first.rstrip(".:"), rest


def write(stage: Stage) -> None:
    names = []
    for example in sorted(EXAMPLES.glob("[!_]*.py")):
        title, rest = _described(example)
        needs_others = _WITH_OTHERS.search(example.read_text(encoding="utf-8"))
        parts = [docstrings.escaped(title), "=" * (len(title) + 10), docstrings.paragraphs(rest.splitlines(), lambda name: None)]
        if not needs_others:
            output, seconds = ran(example)
            parts.append(f"It prints, in a short run of {seconds:.1f} s, import and compilation included:\n\n.. code-block:: text\n\n" + _indented(output))
        shown = os.path.relpath(example, stage.target / "gallery")
        parts.append(f"The program, ``examples/python/{example.name}``:\n\n.. literalinclude:: {shown}\n   :language: python")
        stage.write(f"gallery/{example.stem}.rst", "\n\n".join(parts).replace(f"\n\n{'=' * 10}", "\n" + "=" * 10) + "\n")
        names.append((example.stem, title))
    lines = ["Gallery", "=======", "", "Complete programs. Each page has what the program prints when the site is built, and its source.", "", ".. list-table::", "   :widths: auto", ""]
    for name, title in names:
        lines += [f"   * - :doc:`{name}`", f"     - {docstrings.escaped(title)}"]
    lines += ["", ".. toctree::", "   :hidden:", "", *(f"   {name}" for name, _ in names)]
    stage.write("gallery/index.rst", "\n".join(lines) + "\n")


def _indented(text: str) -> str:
    return "\n".join(f"   {line}" for line in text.rstrip().splitlines())

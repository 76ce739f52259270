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
PICTURES = Path(__file__).with_name("pictures.py")
CACHE = ROOT / "build" / "gallery"

# Examples that need packages which the site's environment lacks; their pages show no output.
_WITH_OTHERS = re.compile(r"^\s*(?:import|from) (?:pymc|jax|pytensor|nutpie)\b", re.M)


def ran(example: Path) -> tuple[str, float, Path | None]:
    """What an example prints, its seconds, and its picture; it runs again when its text, pictures.py or the library has changed."""
    module = next((ROOT / "python" / "bitale").glob("_core*.so"))
    text = example.read_bytes() + PICTURES.read_bytes() + str(module.stat().st_mtime).encode()
    stored = CACHE / f"{example.stem}-{hashlib.sha256(text).hexdigest()[:16]}.txt"
    picture = stored.with_suffix(".svg")
    if not stored.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        start = time.monotonic()
        done = subprocess.run([sys.executable, PICTURES, example, picture], capture_output=True, text=True, cwd=ROOT)
        if done.returncode:
            raise RuntimeError(f"{example.name} failed:\n{done.stdout}{done.stderr}")
        stored.write_text(f"{time.monotonic() - start:.1f}\n{done.stdout}", encoding="utf-8")
    seconds, _, output = stored.read_text(encoding="utf-8").partition("\n")
    return output, float(seconds), picture if picture.exists() else None


def _described(example: Path) -> tuple[str, str]:
    """Its title, which is its docstring up to the first stop, and the docstring."""
    text = ast.get_docstring(ast.parse(example.read_text(encoding="utf-8"))) or example.stem
    return re.split(r"[.:,](?=\s|$)", re.sub(r"\s+", " ", text))[0], text


def _page(stage: Stage, example: Path, title: str, rest: str, done: tuple[str, float, Path | None] | None) -> str:
    shown = docstrings.escaped(title)
    parts = [f"{shown}\n{'=' * len(shown)}", docstrings.paragraphs(rest.splitlines(), lambda name: None)]
    if done:
        output, seconds, picture = done
        if picture:
            stage.copy([picture], "gallery/pictures")
            parts.append(f".. image:: /gallery/pictures/{picture.name}\n   :class: plot\n   :alt: {shown}")
        parts.append(f"It prints, in a short run of {seconds:.1f} s, import and compilation included:\n\n.. code-block:: text\n\n" + _indented(output))
    path = os.path.relpath(example, stage.target / "gallery")
    parts.append(f"The program, ``examples/python/{example.name}``:\n\n.. literalinclude:: {path}\n   :language: python")
    return "\n\n".join(parts) + "\n"


def write(stage: Stage) -> None:
    """Examples with pictures come first."""
    found = []
    for example in sorted(EXAMPLES.glob("[!_]*.py")):
        title, rest = _described(example)
        done = None if _WITH_OTHERS.search(example.read_text(encoding="utf-8")) else ran(example)
        stage.write(f"gallery/{example.stem}.rst", _page(stage, example, title, rest, done))
        found.append((example.stem, docstrings.escaped(title), done[2] if done else None))
    lines = ["Gallery", "=======", "", "Complete programs. Each page has what the program prints when the site is built, and its source.", ""]
    lines += [".. grid:: 1 2 3 3", "   :gutter: 3", ""]
    for name, title, picture in found:
        if picture:
            lines += [f"   .. grid-item-card:: {title}", f"      :link: {name}", "      :link-type: doc", f"      :img-bottom: /gallery/pictures/{picture.name}", ""]
    lines += [".. list-table::", "   :widths: auto", ""]
    for name, title, picture in found:
        if not picture:
            lines += [f"   * - :doc:`{name} <{name}>`", f"     - {title}"]
    lines += ["", ".. toctree::", "   :hidden:", "", *(f"   {name} <{name}>" for name, _, _ in found)]
    stage.write("gallery/index.rst", "\n".join(lines) + "\n")


def _indented(text: str) -> str:
    return "\n".join(f"   {line}" for line in text.rstrip().splitlines())

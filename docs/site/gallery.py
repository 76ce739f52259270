"""The gallery: a page per example, with what it prints, its picture, and its source. What examples in Python print is of whole
runs, recorded in outputs/ by `./dev docs --gallery [NAME...]`; their pictures are drawn when the site is built, by pictures.py,
some of a short run. Examples in C++ are shown with those in Python of the same name; one that is alone runs and draws for itself."""

from __future__ import annotations

import ast
import datetime
import hashlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import docstrings
import recorded
from pages import ROOT, Stage
from recorded import Run

IN_CPP = ROOT / "examples" / "cpp"
PICTURES = Path(__file__).with_name("pictures.py")
CACHE = ROOT / "build" / "gallery"


_INCLUDED = {"python": "import and compilation", "cpp": "compilation of the functions"}


@dataclass
class Example:
    path: Path
    language: str
    title: str
    text: str
    run: Run | None


def _library() -> Path:
    return next((ROOT / "python" / "bitale").glob("_core*.so"))


def _ran(example: Path, also: bytes, command: Callable[[Path], list[Any]]) -> Run:
    """Runs the command for the place of its picture, if the example's text, what `also` has, or the library has changed."""
    text = example.read_bytes() + also + str(_library().stat().st_mtime).encode()
    stored = CACHE / f"{example.name}-{hashlib.sha256(text).hexdigest()[:16]}.txt"
    picture = stored.with_suffix(".svg")
    if not stored.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        arguments = command(picture)
        start = time.monotonic()
        done = subprocess.run(arguments, capture_output=True, text=True, cwd=ROOT)
        if done.returncode:
            raise RuntimeError(f"{example.name} failed:\n{done.stdout}{done.stderr}")
        stored.write_text(f"{time.monotonic() - start:.1f}\n{done.stdout}", encoding="utf-8")
    seconds, _, output = stored.read_text(encoding="utf-8").partition("\n")
    where = f"{datetime.date.today()}, {recorded.processor()}"
    return Run(output, float(seconds), where, picture if picture.exists() else None)


def _title(text: str) -> str:
    """A text up to the first stop that is not in parentheses."""
    return re.split(r"[.:,](?=\s|$)(?![^()]*\))", re.sub(r"\s+", " ", text))[0]


def _of_python(path: Path) -> Example:
    source = path.read_text(encoding="utf-8")
    text = ast.get_docstring(ast.parse(source)) or path.stem
    run = recorded.of(path)
    if not recorded.WITH_OTHERS.search(source):
        command = [sys.executable, PICTURES, path]
        drawn = _ran(path, PICTURES.read_bytes(), lambda picture: [*command, picture])
        if run is None:
            raise RuntimeError(
                f"{path.name} has no recorded output: ./dev docs --gallery {path.stem}"
            )
        run.picture = drawn.picture
    return Example(path, "python", _title(text), text, run)


def _of_cpp(path: Path) -> Example:
    """Built in the tree that the Python module is of. A module that was installed has none: its pages show no output."""
    head = re.match(r"(?://.*\n)*", path.read_text(encoding="utf-8"))
    text = re.sub(r"^// ?", "", head[0] if head else "", flags=re.M)
    tree = _library().resolve().parents[1]

    def command(picture: Path) -> list[Any]:
        subprocess.run(
            ["cmake", "--build", tree, "--target", f"example_{path.stem}"],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        return [tree / "examples" / path.stem, picture]

    return Example(
        path,
        "cpp",
        _title(text),
        text,
        _ran(path, b"", command) if (tree / "CMakeCache.txt").exists() else None,
    )


def _page(stage: Stage, example: Example) -> str:
    shown = docstrings.escaped(example.title)
    parts = [
        f"{shown}\n{'=' * len(shown)}",
        docstrings.paragraphs(example.text.splitlines(), lambda name: None),
    ]
    if run := example.run:
        if run.picture:
            stage.copy([run.picture], "gallery/pictures")
            parts.append(
                f".. image:: /gallery/pictures/{run.picture.name}\n   :class: plot\n   :alt: {shown}"
            )
        parts.append(
            f"It printed, in {run.seconds:.1f} s ({_INCLUDED[example.language]} included; {run.where}):\n\n.. code-block:: text\n\n"
            + _indented(run.output)
        )
    parts.append(
        f"The program, ``{example.path.relative_to(ROOT)}``:\n\n{_source(stage, example.path, example.language)}"
    )
    twin = IN_CPP / f"{example.path.stem}.cpp"
    if example.language == "python" and twin.exists():
        parts.append(
            f".. dropdown:: The same in C++, ``{twin.relative_to(ROOT)}``\n\n{_indented(_source(stage, twin, 'cpp'))}"
        )
    return "\n\n".join(parts) + "\n"


def _source(stage: Stage, path: Path, language: str) -> str:
    return f".. literalinclude:: {os.path.relpath(path, stage.target / 'gallery')}\n   :language: {language}"


def write(stage: Stage) -> None:
    """Examples with pictures come first."""
    in_python = sorted(recorded.EXAMPLES.glob("[!_]*.py"))
    alone = {path.stem: path for path in IN_CPP.glob("*.cpp")}.keys() - {
        path.stem for path in in_python
    }
    found = [_of_python(path) for path in in_python] + [
        _of_cpp(IN_CPP / f"{stem}.cpp") for stem in sorted(alone)
    ]
    lines = [
        "Gallery",
        "=======",
        "",
        "Complete programs. Each page has what the program printed in a whole run, its source, and the same in C++ where there is one.",
        "",
    ]
    lines += [".. grid:: 1 2 3 3", "   :gutter: 3", ""]
    for each in found:
        stage.write(f"gallery/{each.path.stem}.rst", _page(stage, each))
        if each.run and each.run.picture:
            lines += [
                f"   .. grid-item-card:: {docstrings.escaped(each.title)}",
                f"      :link: {each.path.stem}",
                "      :link-type: doc",
                f"      :img-bottom: /gallery/pictures/{each.run.picture.name}",
                "",
            ]
    lines += [".. list-table::", "   :widths: auto", ""]
    for each in found:
        if not (each.run and each.run.picture):
            lines += [f"   * - :doc:`{docstrings.escaped(each.title)} <{each.path.stem}>`"]
    lines += [
        "",
        "How one function goes from an expression to native code is shown in :doc:`/pipeline`, with its graphs after each step.",
    ]
    lines += [
        "",
        ".. toctree::",
        "   :hidden:",
        "",
        *(f"   {each.title} <{each.path.stem}>" for each in found),
    ]
    stage.write("gallery/index.rst", "\n".join(lines) + "\n")


def _indented(text: str) -> str:
    return "\n".join(f"   {line}".rstrip() for line in text.rstrip().splitlines())

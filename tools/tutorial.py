#!/usr/bin/env python3
"""Runs the code of pages, such as those of docs/tutorial, and compares what it prints with what the pages show.

A page's blocks of one language run one after the other and share their names. A block ```text behind a block of code is
what that prints, to the character; "..." in it stands for anything. A block that prints something has such a block.
In C++ the blocks of a page are the body of a function, but for ```cpp declarations, which stands before that
function, and for whole programs, which have a main of their own. One program is made of all pages, as compiling each
would take long.

    tutorial.py python PAGE...              runs the Python of the pages
    tutorial.py generate PROGRAM PAGE...    writes the C++ of the pages as one program
    tutorial.py cpp EXECUTABLE PAGE...      runs that program, compiled

Options, before the command:

    --write            pages that show something else are corrected
    --any-processor    "vector of N" fits any number of lanes, on pages that say "depends on the processor"
    --install          packages that a page names in a block ```sh with `pip install` are installed; without it, what comes
                       after such a block is left out where one of them is missing
"""

from __future__ import annotations

import contextlib
import dataclasses
import doctest
import importlib
import importlib.util
import io
import itertools
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

_BLOCK = re.compile(
    r"^```(\w+)( declarations)?\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.S | re.M
)
_MARK, _PAGE = "<<block>>\n", "<<page>>\n"  # stand in the output before that of a block or page


@dataclasses.dataclass
class Block:
    language: str
    is_declaration: bool
    code: str
    shown: str | None
    line: int  # of the page, of the first line of the code
    lines: tuple[
        int, int
    ]  # where in the page what is printed stands, with its fence; empty where there is none


def blocks(page: Path, *languages: str) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found = []
    for m in _BLOCK.finditer(text):
        if m[1] in languages:
            shown = (
                (m.start(4) - len("\n```text\n"), m.end(4) + len("```\n"))
                if m[4] is not None
                else (m.end(0), m.end(0))
            )
            found.append(
                Block(m[1], bool(m[2]), m[3], m[4], text.count("\n", 0, m.start(3)) + 1, shown)
            )
    return found


def packages(block: Block) -> list[str]:
    """What the lines `pip install NAME...` of a block install; a path, such as that of a wheel, is none."""
    words = [
        word
        for line in block.code.splitlines()
        if line.startswith("pip install ")
        for word in line.partition("#")[0].split()[2:]
    ]
    return [word for word in words if re.fullmatch(r"[a-z][a-z0-9-]*", word) and word != "bitale"]


def run_python(page: Path, installs: bool = False) -> list[str | None]:
    """What each block prints; None for those that are left out."""
    names = {"__name__": page.stem}
    printed: list[str | None] = []
    missing = False
    for block in blocks(page, "python", "sh"):
        if block.language == "sh":
            if installs and packages(block):
                pip = [sys.executable, "-m", "pip", "install", "--quiet", *packages(block)]
                subprocess.run(pip, check=True)
                importlib.invalidate_caches()
            found = (importlib.util.find_spec(name.replace("-", "_")) for name in packages(block))
            missing = missing or not all(found)
            continue
        if missing:
            printed.append(None)
            continue
        with contextlib.redirect_stdout(io.StringIO()) as out:
            try:
                exec(compile(block.code, f"{page.stem}.py", "exec"), names)
            except Exception as error:
                error.add_note(f"in the block at {page}:{block.line}")
                raise
        printed.append(out.getvalue())
    return printed


def _literal(text: str) -> str:
    return '"' + text.replace("\n", "\\n") + '"'


def generate(pages: list[Path]) -> str:
    """The C++ of the pages as one program."""
    includes = {"#include <bitale/bitale.hpp>": None, "#include <iostream>": None}
    functions, called = [], ""
    for page in pages:
        declared, body = [], []
        for i, block in enumerate(blocks(page, "cpp")):
            kept = []
            for line in block.code.splitlines():
                if line.startswith("#include"):
                    includes[line] = None
                kept.append(
                    "" if line.startswith("#include") or line == "namespace bt = bitale;" else line
                )
            lines = "\n".join(kept)
            code = f'#line 1 "{page.stem}.cpp"  // {page}:{block.line}\n{lines}\n'
            body.append(f"std::cout << {_literal(_MARK)};\n")
            if "int main() {" in code:
                declared.append(
                    f"namespace block_{i} {{\n{code.replace('int main() {', 'void program() {')}}}\n"
                )
                body.append(f"block_{i}::program();\n")
            else:
                (declared if block.is_declaration else body).append(code)
        if body:
            functions.append(
                f"namespace {page.stem} {{\n{''.join(declared)}void run() {{\n{''.join(body)}}}\n}}\n"
            )
            called += f"std::cout << {_literal(_PAGE)};\n{page.stem}::run();\n"
    head = "\n".join(includes) + "\nnamespace bt = bitale;\n"
    return head + "".join(functions) + f"int main() {{\n{called}}}\n"


def run_cpp(executable: str, pages: list[Path]) -> list[list[str]]:
    """What each block of each page prints."""
    ran = subprocess.run([executable], capture_output=True, encoding="utf-8")
    if ran.returncode:
        sys.exit(f"{executable} failed with {ran.returncode}:\n{ran.stdout[-2000:]}\n{ran.stderr}")
    by_page = iter(ran.stdout.split(_PAGE)[1:])
    return [next(by_page).split(_MARK)[1:] if blocks(page, "cpp") else [] for page in pages]


def _lines(text: str) -> str:
    return "".join(line.rstrip() + "\n" for line in text.splitlines())


def _without_lanes(text: str) -> str:
    return re.sub(r"\bvector of \d+", "vector of N", text)


def differences(
    page: Path,
    language: str,
    printed: Sequence[str | None],
    write: bool = False,
    any_processor: bool = False,
) -> list[str]:
    """What the page shows otherwise, as text; with `write` the page is corrected."""
    checker, found = doctest.OutputChecker(), []
    text = page.read_text(encoding="utf-8")
    relaxed = any_processor and "depends on the processor" in " ".join(text.split())
    comparable = _without_lanes if relaxed else str
    expected = blocks(page, language)
    if len(expected) != len(printed):
        return [
            f"{page}: has {len(expected)} blocks of {language}, of which {len(printed)} ran: generate the program again"
        ]
    for block, out in reversed(list(zip(expected, printed))):
        if out is None:
            continue
        got = _lines(out)
        if checker.check_output(
            comparable(_lines(block.shown or "")), comparable(got), doctest.ELLIPSIS
        ):
            continue
        found.insert(0, f"{page}:{block.line}: shows\n{block.shown or ''}but prints\n{got}")
        start, end = block.lines
        text = text[:start] + (f"\n```text\n{got}```\n" if got else "") + text[end:]
    if write and found:
        page.write_text(text, encoding="utf-8")
        return []
    return found


def main(arguments: list[str]) -> int:
    options = set(itertools.takewhile(lambda each: each.startswith("--"), arguments))
    if options - {"--write", "--any-processor", "--install"}:
        sys.exit(__doc__)
    write = "--write" in options
    command, *rest = arguments[len(options) :]
    found: list[str] = []
    if command == "generate":
        program = generate([Path(page) for page in rest[1:]])
        Path(rest[0]).write_text(program, encoding="utf-8")
    elif command == "python":
        for page in map(Path, rest):
            printed = run_python(page, "--install" in options)
            found += differences(page, "python", printed, write, "--any-processor" in options)
    elif command == "cpp":
        pages = [Path(page) for page in rest[1:]]
        for page, printed in zip(pages, run_cpp(rest[0], pages)):
            found += differences(page, "cpp", printed, write)
    else:
        sys.exit(__doc__)
    print("\n".join(found), end="\n" if found else "")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""CONTRIBUTING.md followed to the letter: in a copy of the checkout, adds an elementwise function, a function composed of others and a
rewrite rule where the lists say, builds it and runs what the text says. Then it leaves out one addition of the tables in tests/ and
docs/ at a time: a test has to notice.

python walk.py [--build FOLDER]. The folder is kept, and its next build is short.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
from pathlib import Path

from additions import ADDITIONS, COMPOSED, ELEMENTWISE, RULE, Addition

ROOT = Path(__file__).resolve().parents[2]
NAMES = {ELEMENTWISE: "versine", COMPOSED: "midrange", RULE: "versine"}


def section(title: str, level: int = 2) -> str:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    found = re.search(rf"^{'#' * level} {title}\n((?:(?!## ).*\n)*)", text, re.M)
    assert found is not None, title
    return " ".join(found[1].split())


def commands(title: str) -> list[str]:
    """Of the text, in its order: what builds, what writes files anew, and what the table says of such a change."""
    kind = "a rewrite rule" if title == RULE else "an op or a function"
    first = section("The first build")
    row = re.search(rf"\| {kind} \| ([^|]*) \|", section("Which tests to run"))[1]
    row += re.search(r"\| names, arguments \| ([^|]*) \|", section("Which tests to run"))[1]
    is_command = re.compile(r"`(cmake [^`]*|build/dev/[^`]*|\.venv/[^`]*)`")
    words = [each for text in (first, section(title), row) for each in is_command.findall(text)]
    return [
        each.replace("NAME", NAMES[title])
        for each in words
        if "pytensor_names" not in each and "SUBJECT" not in each
    ]


def copy_checkout(to: Path) -> None:
    """The files of the checkout that differ, so that only what depends on them is built again."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        source, target = ROOT / name, to / name
        if source.is_file() and not (
            target.is_file() and target.read_bytes() == source.read_bytes()
        ):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
            target.touch()


def with_addition(text: str, addition: Addition) -> str:
    assert text.count(addition.before) == 1, (
        f"{addition.path} has {addition.before!r} {text.count(addition.before)} times"
    )
    return text.replace(addition.before, addition.text + addition.before)


def add(to: Path, additions: list[Addition]) -> None:
    for each in additions:
        path = to / each.path
        path.write_text(with_addition(path.read_text(encoding="utf-8"), each), encoding="utf-8")


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True)


def must_succeed(command: str, folder: Path) -> None:
    print(f"  {command}", flush=True)
    done = run(command, folder)
    assert done.returncode == 0, f"{command}:\n{done.stdout[-6000:]}{done.stderr[-6000:]}"


def check_files(title: str) -> None:
    """Files of the additions are those of the text."""
    named = re.findall(r"`((?:docs|include|python|src|tests|tools)/[\w./]*)`", section(title))
    for each in ADDITIONS[title]:
        assert any(each.path.startswith(path) for path in named), (
            f"{title}: the text doesn't name {each.path}"
        )


def follow(folder: Path) -> None:
    """Adds all, builds, and runs what the text says."""
    copy_checkout(folder)
    for title, additions in ADDITIONS.items():
        check_files(title)
        add(folder, additions)
    must_succeed("./dev python dev", folder)
    done = set()
    for title in ADDITIONS:
        print(title, flush=True)
        for command in commands(title):
            if command not in done:
                must_succeed(command, folder)
                done.add(command)


def leave_out(folder: Path, addition: Addition, tests: list[str]) -> None:
    path = folder / addition.path
    whole = path.read_text(encoding="utf-8")
    path.write_text(whole.replace(addition.text, "", 1), encoding="utf-8")
    if addition.test:
        tests = [*tests, f".venv/bin/python -m pytest -q {addition.test}"]
    noticed = run(" && ".join(tests), folder).returncode != 0
    path.write_text(whole, encoding="utf-8")
    assert noticed, f"without its addition to {addition.path} all tests succeed"
    print(f"  a test notices what {addition.path} lacks", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "contributing")
    folder = parser.parse_args().build
    folder.mkdir(parents=True, exist_ok=True)
    follow(folder)
    for title, additions in ADDITIONS.items():
        tests = [each for each in commands(title) if "pytest" in each]
        for addition in additions:
            is_table = addition.path.split("/")[0] in ("tests", "docs", "tools")
            if is_table and not addition.path.endswith(".cpp"):
                leave_out(folder, addition, tests)


if __name__ == "__main__":
    main()

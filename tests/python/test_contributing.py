"""CONTRIBUTING.md is right to the letter: the files that its lists name exist, what each list gives as an example took all
of its steps, and no table of all functions is left out."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (How to .*)\n((?:(?!## ).*\n)*)", TEXT, re.M))
PATH = re.compile(r"`((?:docs|include|python|src|tests|tools)/[\w./]*)`")
SOURCES = {".cpp", ".hpp", ".md", ".py", ".txt"}


def files_of(path):
    """The file, or the files in the folder."""
    found = ROOT / path
    return [found] if found.is_file() else [each for each in found.rglob("*") if each.is_file()]


def has_word(path, word):
    text = path.read_text(encoding="utf-8", errors="ignore") if path.suffix in SOURCES else ""
    return re.search(rf"\b{word}\b", text) is not None


def test_files_that_are_named_exist():
    assert [path for path in PATH.findall(TEXT) if not (ROOT / path).exists()] == []


@pytest.mark.parametrize(
    "title", [title for title, text in SECTIONS.items() if "An example: `" in text]
)
def test_the_example_took_all_steps(title):
    text = SECTIONS[title]
    example = re.search(r"An example: `(\w+)`", text)[1]
    # A sentence with a condition may not concern the example, and tools/ has programs that are to be run.
    always = [
        each
        for each in re.split(r"(?<=[.:]) ", " ".join(text.split()))
        if not each.startswith("If ")
    ]
    named = set(PATH.findall(" ".join(always)))
    assert len(named) > 4
    lacking = [
        path for path in named if not any(has_word(each, example) for each in files_of(path))
    ]
    assert lacking == []


def test_tables_of_all_elementwise_functions_are_named():
    records = "".join(path.read_text() for path in (ROOT / "src/ops/scalar").glob("*.cpp"))
    names = {
        name
        for name in re.findall(r'SCALAR_OP\(\{\s*\.name = "(\w+)"', records)
        if not name.startswith("random_")
    }
    assert len(names) > 100
    named = [
        each
        for path in PATH.findall(SECTIONS["How to add an elementwise function"])
        for each in files_of(path)
    ]
    tables = []
    for top in ("python", "src", "tests", "tools"):
        for path in (ROOT / top).rglob("*"):
            if path.is_file() and path.suffix in SOURCES:
                words = set(re.findall(r"\w+", path.read_text(encoding="utf-8", errors="ignore")))
                if len(names - words) < 0.12 * len(names):
                    tables.append(path)
    assert len(tables) >= 5
    assert [str(path.relative_to(ROOT)) for path in tables if path not in named] == []

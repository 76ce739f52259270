#!/usr/bin/env python3
"""Finds turns of phrase that a native speaker would not write, in pages, docstrings, comments of Python and headers, texts of C++.

Usage: check_language.py [FILE...]; without files, all that git knows. Each complaint says what to write instead.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# A pattern, with what to write instead. Code in backticks is not looked at. A pattern is here because the phrase was found, and
# mended, at more than three places: most are constructions of another language that are grammatical, and hard to read.
PATTERNS = {
    r"\bthat (?:is|are) no [A-Za-z]": "that is not a, that are not",
    r"(?<![Tt]here )\b(?:is|are|was|were) none\b": "is not one, or: there is none",
    r"\b[Bb]eside\b": "next to, in addition to, besides",
    r"\bwhat is given\b": "the arguments, or their name",
    r"\bthe least (?!squares|norm|recently|significant)\w+": "the smallest, the shortest",
    r"(?<![Tt]here )\bis no (?!longer\b|more\b|less\b|need\b|one\b|other\b|way\b|slower\b|faster\b)[a-z]+": "is not a",
    r"\bfor what is no\b": "for anything that is not a",
    r"\bshall\b": "should, is to, must",
    r"\bof one's own\b": "your own, custom",
    r"\b[Aa]s of (?:``|[A-Z])": "as in, as for",
    r"\bare run by the tests\b": "the tests run",
    r"\bthe other way round than\b": "the opposite of",
    r"\bin any case\b": "always, anyway",
    r"\bat the begin\b": "at the beginning, at the start",
    r"\bis the way back\b": "is the inverse",
    r"\blives? between calls\b": "persists between calls",
    r"\bto be had\b": "possible, available",
    r"\bdifferentiate (?:\w+ ){0,3}by\b": "differentiate with respect to",
    r"\b(?:derivative|gradient)s? by (?:the |a |its |all |each |their )?(?:parameter|argument|variable|input|point|weight|factor)s?\b": (
        "with respect to"
    ),
    r"\bas one would\b": "as you would",
    r"\b[Nn]othing has no\b": "all have",
    r"\bask values for\b": "call a method of",
    r"\binside of\b": "inside",
    r"\btook a draw by\b": "were drawn by",
    r"\bwhich is since\b": "since removed",
    r"\bat hand\b": "installed, available",
    r"\bwherever you like\b": "anywhere",
    r"\b[Nn]one of them has the\b": "they lack the",
}
_ANY = re.compile("|".join(f"(?P<p{i}>{pattern})" for i, pattern in enumerate(PATTERNS)))
_CODE = re.compile(r"`[^`]*`")
_CPP_TEXT = re.compile(r'"((?:[^"\\\n]|\\.)*)"')


def complaint(text: str) -> str:
    """What is wrong with the first such phrase; empty if there is none."""
    found = _ANY.search(_CODE.sub("``", text))
    if not found:
        return ""
    instead = list(PATTERNS.values())[int(str(found.lastgroup)[1:])]
    return f'"{found[0]}": rather {instead}'


def of_markdown(text: str) -> Iterator[tuple[int, str]]:
    in_code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif not in_code:
            yield number, line


def of_python(text: str) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if (
            token.type in (tokenize.COMMENT, tokenize.STRING)
            or "FSTRING_MIDDLE" in tokenize.tok_name[token.type]
        ):
            for offset, line in enumerate(token.string.splitlines()):
                yield token.start[0] + offset, line


def of_cpp(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        for found in _CPP_TEXT.findall(line):
            yield number, found


def of_header(text: str) -> Iterator[tuple[int, str]]:
    yield from of_cpp(text)
    for number, line in enumerate(text.splitlines(), 1):
        before, comment, words = line.partition("//")
        if comment and before.count('"') % 2 == 0:
            yield number, words


def with_breaks(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """The lines; and each with the line before, where only both together have such a phrase."""
    last = (-1, "")
    for number, line in lines:
        yield number, line
        goes_on = last[0] == number - 1 and not re.match(r"\s*(?:[-*|]|\d+\.) ", line)
        ends = last[1].rstrip()[-60:] + " ", line.lstrip("/#* ")[:40]
        if goes_on and complaint("".join(ends)) and not any(complaint(end) for end in ends):
            yield number, "".join(ends)
        last = (number, _CODE.sub("``", line))


READERS = {".md": of_markdown, ".py": of_python, ".cpp": of_cpp, ".hpp": of_header}
PLACES = (
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "docs",
    "python",
    "examples",
    "src",
    "include",
)


def files() -> list[Path]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *PLACES]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in names.splitlines() if (ROOT / name).is_file()]


def main(arguments: list[str]) -> int:
    found = 0
    for path in [Path(each) for each in arguments] or files():
        reader = READERS.get(path.suffix)
        if reader is None:
            continue
        for number, line in with_breaks(reader(path.read_text(encoding="utf-8"))):
            if text := complaint(line):
                print(
                    f"{path.relative_to(ROOT) if path.is_relative_to(ROOT) else path}:{number}: {text}"
                )
                found += 1
    if found:
        print(f"language: {found} complaints")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

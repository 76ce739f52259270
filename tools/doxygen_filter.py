#!/usr/bin/env python3
"""A public header as Doxygen reads it: comments become documentation, and each function has the summary of its one
description (python/src/reference, the records of src/ops/scalar and src/stats), before the comment that the header has for C++.

Usage: doxygen_filter.py HEADER. docs/Doxyfile calls it, in the root of the checkout.
"""

from __future__ import annotations

import functools
import keyword
import re
import sys
from pathlib import Path

root = Path(__file__).resolve().parents[1]


def _literal(text: str) -> str:
    """The value of adjacent string literals of C++."""
    return (
        "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', text)).replace("\\n", "\n").replace('\\"', '"')
    )


@functools.cache
def summaries() -> dict[str, str]:
    """By the name of a function in C++."""
    found = {}
    for file in sorted((root / "src/ops/scalar").glob("*.cpp")):
        for name, doc in re.findall(
            r'\.name = "(\w+)",.*?\.doc =((?:\s*"(?:[^"\\]|\\.)*")+),', file.read_text(), re.S
        ):
            found[name] = _literal(doc).split("\n")[0]
    # Log densities are described by the records of distributions.
    described = (root / "python/src/reference/stats.cpp").read_text()
    quantities = dict(re.findall(r'{"_(log\w+)", "([^"]+)"', described))
    for file in sorted((root / "src/stats").glob("*.cpp")):
        for record in re.findall(r"^DISTRIBUTION\(.*?^}\);", file.read_text(), re.M | re.S):
            title = re.findall(r'\.title = "([^"]+)"', record)[0]
            for name in re.findall(r"LOG_FUNCTION\((\w+)\)", record):
                quantity = quantities[name.rpartition("_")[2]]
                found[name] = f"Logarithm of {quantity} of the {title}."
    # Functions that the reference does not describe have their text in the binding.
    for file in sorted((root / "python/src").glob("*.cpp")):
        text = file.read_text()
        found.update(
            re.findall(
                r'\bbind_\w+\(\s*m,\s*"(\w+)",\s*[\w:]+,\s*documented_\w+\(\s*"([^"]+)"', text
            )
        )
        bound = [
            (each.start(), each[1])
            for each in re.finditer(r'\b(?:define\w*|bind_\w+)\(\s*m,\s*"(\w+)"', text)
        ]
        for each in re.finditer(r'R"\((\w[^\n]+\.)\n\nParameters\n', text):
            before = [name for start, name in bound if start < each.start()]
            if before:
                found[before[-1]] = each[1]
    for file in sorted((root / "python/src/reference").glob("*.cpp")):
        for names, summary in re.findall(r"^= (.+)\n(.+)", file.read_text(), re.M):
            found.update(
                {name: summary.replace("$", name) for name in names.split() if name[0] not in "*"}
            )
    reserved = {"and", "or", "xor", "switch", "complex"} | set(keyword.kwlist)
    return {name: text for name, text in found.items() if "." not in name} | {
        f"{name}_": text for name, text in found.items() if name.rstrip("_") in reserved
    }


_DECLARATION = re.compile(r"(?:[\w:<>, ]+ )(\w+)\(")


def _expanded(text: str) -> str:
    """Lists of functions that a macro X declares, written out."""
    lists = dict(re.findall(r"#define (\w+)\(X\)((?:.*\\\n)*.*)", text))

    def declarations(match: re.Match[str]) -> str:
        return "".join(
            f"{match[1].replace('##', '').replace('name', name, 1)}\n"
            for name in re.findall(r"X\((\w+)\)", lists.get(match[2], ""))
        )

    return re.sub(
        r"#define BITALE_DECLARE\(name\) (.*\bname\(.*;)\n(\w+)\(BITALE_DECLARE\)\n#undef BITALE_DECLARE\n",
        declarations,
        text,
    )


def _summary_of(line: str) -> str | None:
    found = _DECLARATION.match(line)
    is_declaration = found and not line.startswith(
        ("//", "return", " ", "#", "using", "typedef", "template")
    )
    return summaries().get(found[1]) if found and is_declaration else None


def filtered(text: str) -> str:
    if not re.search(
        r"^(#define BITALE_DECLARE\(name\) )?(Variables?|std::\w+<.*>) \w+\(", text, re.M
    ):
        return _documented(text)
    lines = [line for line in _expanded(text).split("\n") if not line.startswith("// clang-format")]
    out: list[str] = []
    for line in lines:
        if summary := _summary_of(line):
            first = len(out)
            while first > 0 and out[first - 1].startswith("//"):
                first -= 1
            has_comment = first < len(out)
            out[first:first] = [f"// {summary}", *(["//"] if has_comment else [])]
        out.append(line)
    return _documented("\n".join(out))


def _documented(text: str) -> str:
    """With the comments before declarations, and behind members, as documentation."""
    text = re.sub(r"^(\s*)//(?![/!])", r"\1///", text, flags=re.M)
    return re.sub(r"([;,}])(\s+)// ", r"\1\2///< ", text)


if __name__ == "__main__":
    path = Path(sys.argv[1])
    print(filtered(path.read_text()) if path.suffix == ".hpp" else path.read_text(), end="")

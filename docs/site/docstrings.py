"""Docstrings in numpydoc's form as reStructuredText of the site: the same sections on each page, names as links.

Text between single backticks is a name: a link where the reference has it, and code elsewhere."""

from __future__ import annotations

import re
import textwrap
import warnings
from collections.abc import Callable

from numpydoc.docscrape import NumpyDocString

Resolve = Callable[[str], "str | None"]  # the full name of what a docstring calls by this name
_LITERAL = re.compile(r"(``.+?``|:\w+:`[^`]+`|`[^`]+`_{0,2})", re.S)


def escaped(text: str) -> str:
    """Plain text, in which reStructuredText has nothing to find."""
    return re.sub(
        r"\\(?=\S)|[*|](?=\S)|(?<=\w)_+(?=\W|$)",
        lambda m: "".join("\\" + each for each in m[0]),
        text,
    )


def link(name: str, resolve: Resolve, text: str = "") -> str:
    full = resolve(name)
    shown = text or name
    return f":py:obj:`{shown} <{full}>`" if full else f"``{shown}``"


def inline(text: str, resolve: Resolve) -> str:
    parts = _LITERAL.split(text)
    parts[::2] = [escaped(part) for part in parts[::2]]
    for i in range(1, len(parts), 2):
        part = parts[i]
        if part.startswith("`") and not part.startswith("``") and not part.endswith("_"):
            name = re.sub(r"\s+", " ", part.strip("`"))
            parts[i] = link(name, resolve)
    return "".join(parts)


def _named_items(block: str) -> str:
    """A block of lines "name: text", whose further lines are indented, as a list; empty if it is not such a block."""
    items = re.split(r"\n(?=\S)", block)
    if "\n " not in block or not all(re.match(r"[\w, ]+: ", item) for item in items):
        return ""
    return "\n".join("- " + re.sub(r"\s*\n\s+", "\n  ", item) for item in items)


def paragraphs(lines: list[str], resolve: Resolve) -> str:
    """Text with its lists, blocks of code and examples, which stay as they are."""
    out = []
    for block in re.split(r"\n\s*\n", textwrap.dedent("\n".join(lines)).strip("\n")):
        if listed := _named_items(block):
            block = listed
        is_code = block.lstrip().startswith((">>>", ".. ")) or block.startswith((" ", "\t"))
        out.append(block if is_code else inline(block, resolve))
    return "\n\n".join(out)


def _entries(parameters, resolve: Resolve) -> str:
    """A definition list of arguments, results or errors."""
    out = []
    for each in parameters:
        name, kind, text = each.name, each.type, each.desc
        head = f"**{escaped(name)}**" if name else f"*{escaped(kind)}*"
        if name and kind:
            head += f" : *{escaped(kind)}*"
        body = paragraphs(text, resolve) or "\\"
        out.append(head + "\n" + textwrap.indent(body, "   "))
    return "\n\n".join(out)


def parsed(text: str) -> NumpyDocString:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return NumpyDocString(text)


def summary(doc: NumpyDocString) -> str:
    return " ".join(line.strip() for line in doc["Summary"]).strip()


def rendered(doc: NumpyDocString, resolve: Resolve, between: str = "") -> str:
    """All sections; `between` goes before the examples."""
    parts = [inline(summary(doc), resolve), paragraphs(doc["Extended Summary"], resolve)]
    for section in ("Parameters", "Returns", "Yields", "Raises", "Warns", "Attributes"):
        if doc[section]:
            parts += [f".. rubric:: {section}", _entries(doc[section], resolve)]
    for section in ("Warnings", "Notes", "References"):
        if doc[section]:
            parts += [f".. rubric:: {section}", paragraphs(doc[section], resolve)]
    parts.append(between)
    if doc["Examples"]:
        parts += [".. rubric:: Examples", paragraphs(doc["Examples"], resolve)]
    if doc["See Also"]:
        lines = []
        for names, text in doc["See Also"]:
            linked = ", ".join(link(name, resolve) for name, _ in names)
            lines.append(f"- {linked}" + (f": {inline(' '.join(text), resolve)}" if text else ""))
        parts += [".. rubric:: See also", "\n".join(lines)]
    return "\n\n".join(part for part in parts if part.strip())

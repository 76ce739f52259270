"""The text of debugprint as a tree of the package rich, which terminals and notebooks show in colours: the lines say by what they
begin with how deep they are, and nodes that are met more than once have a colour, the same each time."""

from __future__ import annotations

import re
from typing import Any

_beginning = re.compile(r"(?: │ |   )*(?: [├└]─ | ← )?")
_id = re.compile(r" \[id ([^\],]*)\]")
_colours = ("blue", "cyan", "green", "yellow", "magenta")


def _lines(text: str) -> list[tuple[int, str]]:
    """Each line's depth and label. Arrays of several lines are one label; an inner graph comes below the line of its op."""
    out: list[tuple[int, str]] = []
    for line in text.split("\n"):
        begin = _beginning.match(line)
        prefix = begin[0] if begin else ""
        if not line.strip():
            continue
        out.append((len(prefix) // 3, line[len(prefix) :].strip()))
    return out


def rich_tree(text: str) -> Any:
    """A rich.tree.Tree of what debugprint prints. ImportError where rich is not installed."""
    try:
        from rich.markup import escape
        from rich.tree import Tree
    except ImportError as error:
        raise ImportError(
            'debugprint: file="rich" needs the package rich: pip install rich'
        ) from error

    lines = _lines(text)
    ids = [found[1] if (found := _id.search(label)) else None for _, label in lines]
    repeated_ids = [each for each in dict.fromkeys(ids) if each is not None and ids.count(each) > 1]
    colour = {each: _colours[i % len(_colours)] for i, each in enumerate(repeated_ids)}
    root = Tree("", hide_root=True)
    above = [root]  # the last tree of each depth
    for (depth, label), identity in zip(lines, ids):
        del above[depth + 1 :]
        style = colour.get(identity)
        above.append(
            above[-1].add(f"[{style}]{escape(label)}[/{style}]" if style else escape(label))
        )
    return root

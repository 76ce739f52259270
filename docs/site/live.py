"""What notebooks would show, in pages: a line `<!-- shows EXPRESSION -->` of a page stands for the value of the expression, with the
names of the page's Python, which runs when the site is built. A page for the browser, such as that of a graph, is shown in a frame."""

from __future__ import annotations

import contextlib
import io
import os
import re
import tempfile
from pathlib import Path
from typing import Any

_PARTS = re.compile(
    r"^```python\n(?P<code>.*?)^```$|^<!-- shows (?P<shown>[^\n]+) -->$", re.S | re.M
)


def shows(text: str) -> bool:
    return any(part["shown"] for part in _PARTS.finditer(text))


def expanded(text: str, page: str, folder: Path) -> str:
    """The text of a page of the site with what it shows; frames are of files that this writes to folder/live."""
    names: dict[str, Any] = {"__name__": page}
    out, end = [], 0
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)  # pages write files
        try:
            for part in _PARTS.finditer(text):
                if part["code"]:
                    with contextlib.redirect_stdout(io.StringIO()):
                        exec(compile(part["code"], page, "exec"), names)
                    continue
                out += [
                    text[end : part.start()],
                    _shown(eval(part["shown"], names), part["shown"], page, folder, len(out)),
                ]
                end = part.end()
        finally:
            os.chdir(here)
    return "".join([*out, text[end:]])


def _shown(value: Any, expression: str, page: str, folder: Path, number: int) -> str:
    if not isinstance(value, str):
        value = value._repr_html_() or value._repr_latex_()
    if value.startswith("<!DOCTYPE"):
        file = (
            folder / "live" / f"{page.removesuffix('.md').replace('/', '-')}-{number // 2 + 1}.html"
        )
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(value, encoding="utf-8")
        address = f"{'../' * page.count('/')}live/{file.name}"
        return f'<div class="live"><iframe src="{address}" title="{expression}" loading="lazy"></iframe><a href="{address}">on a page of its own</a></div>\n'
    if value.startswith("$"):
        return f"```{{math}}\n{value.strip('$')}\n```\n"
    if value.startswith("<"):
        return re.sub(r"\n\s*\n", "\n", value) + "\n"
    return f"```text\n{value.rstrip()}\n```\n"

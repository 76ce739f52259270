"""Tables in Markdown pages: the text between two comments of a page is replaced. And the machine on which they were measured."""

from __future__ import annotations

import datetime
import platform
from pathlib import Path


def replace_section(page: Path, begin: str, end: str, text: str) -> None:
    """Replace what stands between two marks of a page; ValueError if it lacks one."""
    head, first, rest = page.read_text().partition(f"{begin}\n")
    _, last, tail = rest.partition(end)
    if not first or not last:
        raise ValueError(f"{page}: the table goes between {begin} and {end}, which are not there")
    page.write_text(f"{head}{begin}\n{text}{end}{tail}")


def machine(*versions: str) -> str:
    """The date, the processor and these versions."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), ""
    )
    return ", ".join(
        [
            str(datetime.date.today()),
            model or platform.machine(),
            f"Python {platform.python_version()}",
            *versions,
        ]
    )

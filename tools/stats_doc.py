"""The table of densities on docs/stats.md, from the functions' signatures: `python tools/stats_doc.py` writes it into the
page. tests/python/stats/test_table_of_densities.py requires that the page has it."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from bitale import stats

PAGE = Path(__file__).resolve().parents[1] / "docs/stats.md"
_NAME = re.compile(r"(\w+)_(logpdf|logpmf|logcdf|logsf)$")
_BEGIN, _END = "<!-- table of densities -->\n", "<!-- end of the table -->\n"


def table() -> str:
    """The rows of the page: a density, its parameters, and its other functions."""
    kinds: dict[str, dict[str, str]] = {}
    for name in dir(stats):
        if found := _NAME.match(name):
            _, *parameters = inspect.signature(getattr(stats, name)).parameters.values()
            texts = (
                p.name
                if p.default in (p.empty, None)
                else f"{p.name}={float(p.default):g}"
                if isinstance(p.default, (int, float))
                else p.name
                for p in parameters
            )
            kinds.setdefault(found[1], {})[found[2]] = ", ".join(texts)
    rows = ["| density | parameters | also |", "|---|---|---|"]
    for name, functions in sorted(kinds.items()):
        density = next((kind for kind in ("logpdf", "logpmf") if kind in functions), None)
        others = ", ".join(f"`{kind}`" for kind in ("logcdf", "logsf") if kind in functions)
        if density is not None:
            rows.append(f"| `{name}_{density}` | {functions[density]} | {others} |")
    return "\n".join(rows) + "\n"


def page_with_table(text: str) -> str:
    before, _, rest = text.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    return f"{before}{_BEGIN}\n{table()}\n{_END}{after}"


if __name__ == "__main__":
    PAGE.write_text(page_with_table(PAGE.read_text()))

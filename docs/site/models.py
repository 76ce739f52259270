"""The picture of the first page: the times of calls of PyMC's models, of the table that `./dev bench --pymc --page` wrote."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "measurements" / "pymc.md"
PEERS = {"Bitale": "#c2410c", "Numba": "#2563eb", "JAX": "#7c3aed", "stanli": "#4b5563"}


def calls(text: str) -> tuple[str, dict[str, list[float | None]]]:
    """The date of the table, and of each model the microseconds of a call by Bitale and its peers, None where there is none."""
    table = text[text.index("<!-- models -->") :]
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in re.findall(r"^\|.*\|$", table, re.M)
    ]
    head = rows[0]
    first = head.index("a call, µs: Bitale")
    assert head[first + 1 : first + 4] == list(PEERS)[1:], head
    found: dict[str, list[float | None]] = {}
    for row in rows[2:]:
        if len(row) != len(head):
            break
        cells = [cell.replace("\u202f", "").replace(" ", "") for cell in row[first : first + 4]]
        found[row[0]] = [None if cell == "–" else float(cell) for cell in cells]
    date = re.search(r"\d{4}-\d\d-\d\d", table)
    assert date and len(found) > 40, len(found)
    return date[0], found


def draw(target: Path) -> None:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "bitale"
    from matplotlib import pyplot

    date, found = calls(PAGE.read_text(encoding="utf-8"))
    models = sorted(found, key=lambda model: found[model][0] or 0)
    figure, axes = pyplot.subplots(figsize=(7.6, 3.0), layout="constrained")
    for column, (peer, color) in enumerate(PEERS.items()):
        points = [
            (i, found[model][column]) for i, model in enumerate(models) if found[model][column]
        ]
        size = 26 if column == 0 else 14
        axes.scatter(*zip(*points), s=size, color=color, label=peer, zorder=3 if column == 0 else 2)
    axes.set_yscale("log")
    axes.set_ylabel("a call, microseconds")
    axes.set_xlabel(f"{len(models)} models of PyMC: log density and gradient, one thread ({date})")
    axes.set_xticks([])
    axes.grid(axis="y", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(ncols=4, loc="upper left", frameon=False)
    figure.savefig(target, metadata={"Date": None})
    pyplot.close(figure)

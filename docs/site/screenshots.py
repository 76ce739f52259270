#!/usr/bin/env python3
"""Photographs, for the pages of docs/, what notebooks and browsers show: docs/pictures/notebook.png and docs/pictures/page.png; and
the card with which links to the site are shown, docs/site/static/card.png. Needs Chromium and playwright; in the checkout, after `./dev setup browser docs`:

    PYTHONPATH=.venv-docs/lib/python3.*/site-packages .venv/bin/python docs/site/screenshots.py

A notebook's cells are set up as notebooks do, from `_repr_html_` and `_repr_latex_` of their values; formulas are MathML, as on the site."""

from __future__ import annotations

import shutil
import tempfile
from html import escape
from pathlib import Path
from typing import Any

from mathml import convert
from playwright.sync_api import sync_playwright

import bitale as bt
import bitale.tensor as pt

PICTURES = Path(__file__).resolve().parents[1] / "pictures"

CELLS = [
    'x = pt.dvector("x")\np = pt.softmax(x)\np.name = "p"\nentropy = -(p * pt.log(p)).sum()\nentropy',
    'w = bt.shared(np.eye(3), "w")\nw',
    "w.type",
    'f = bt.function([x], bt.grad(entropy, x), name="f")\nf',
]

STYLE = """body { margin: 0; padding: 14px; font: 15px sans-serif; width: 860px; background: white; }
.cell { display: grid; grid-template-columns: 64px 1fr; margin-bottom: 10px; } .cell > pre:nth-child(odd) { color: #888; margin: 7px 0; }
.code { background: #f5f5f5; border: 1px solid #ddd; padding: 6px 9px; margin: 0; } .shown { padding: 8px 2px; }
iframe { height: 420px !important; }"""


def shown(value: Any) -> str:
    html = value._repr_html_()
    return (
        html
        if html
        else convert(
            value._repr_latex_().strip("$").replace(r"\displaystyle ", ""), display="block"
        )
    )


def notebook() -> str:
    names: dict[str, Any] = {"bt": bt, "pt": pt}
    exec("import numpy as np", names)
    rows = []
    for number, cell in enumerate(CELLS, 1):
        *statements, last = cell.split("\n")
        exec("\n".join(statements), names)
        rows.append(
            f'<div class="cell"><pre>In [{number}]:</pre><pre class="code">{escape(cell)}</pre>'
        )
        rows.append(
            f'<pre>Out[{number}]:</pre><div class="shown">{shown(eval(last, names))}</div></div>'
        )
    return f"<!DOCTYPE html><meta charset=utf-8><style>{STYLE}</style>{''.join(rows)}"


PROGRAM = """x, y = pt.dmatrix("x"), pt.dmatrix("y")
cost = (pt.tanh(x @ y) ** 2).sum()
step = bt.function([x, y], bt.grad(cost, x), name="step")
"""


def page() -> str:
    names: dict[str, Any] = {"bt": bt, "pt": pt}
    exec(compile(PROGRAM, "step.py", "exec"), names)  # nodes show their lines
    return bt.printing.html(names["step"])


CARD = """<!DOCTYPE html><meta charset=utf-8><style>
body { margin: 0; width: 1200px; height: 630px; box-sizing: border-box; padding: 70px 80px; background: #10222b; color: #eef4f5; font: 34px sans-serif; }
h1 { margin: 0 0 14px; font-size: 92px; color: #4fc3d5; } p { margin: 0 0 44px; line-height: 1.35; }
pre { margin: 0; padding: 26px 34px; font: 27px/1.5 monospace; background: #1b3440; border-radius: 12px; }
i { font-style: normal; color: #4fc3d5; }</style>
<h1>Bitale</h1><p>Mathematics over tensors, its gradients, and native functions of both, compiled in milliseconds, in Python and in C++</p>
<pre>loss = pt.softplus(-y * (X @ w)).mean()
f = <i>bt.function</i>([X, y, w], [loss, <i>bt.grad</i>(loss, w)])

f.<i>export_c</i>("model")   f.<i>export_wasm</i>("page")</pre>"""


def main() -> None:
    program = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome")))
    )
    with sync_playwright() as driver, tempfile.TemporaryDirectory() as folder:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        view = browser.new_page(viewport={"width": 900, "height": 560})

        def open_page(text: str) -> None:
            file = Path(folder) / "page.html"
            file.write_text(text, encoding="utf-8")
            view.goto(file.as_uri())

        open_page(notebook())
        view.frame_locator("iframe").locator(".node").first.wait_for()
        view.screenshot(path=PICTURES / "notebook.png", full_page=True)
        open_page(page())
        view.locator(".node.apply .label").last.click()
        view.screenshot(path=PICTURES / "page.png")
        view.set_viewport_size({"width": 1200, "height": 630})
        open_page(CARD)
        view.screenshot(path=Path(__file__).with_name("static") / "card.png")
        browser.close()


if __name__ == "__main__":
    main()

"""The demos that run in the reader's browser: a line `<!-- demo NAME -->` of a page stands for one. Their functions (demos/functions.py)
are exported as WebAssembly when the site is built; without clang the page says that they are missing."""

from __future__ import annotations

import contextlib
import io
import json
import re
import shutil
import sys
import tempfile
from pathlib import Path

import bitale

SCRIPTS = Path(__file__).with_name("demos")
_DEMO = re.compile(r"^<!-- demo (\w+) -->$", re.M)


def has_demos(text: str) -> bool:
    return bool(_DEMO.search(text))


def expanded(text: str, page: str, folder: Path) -> str:
    """The text of a page with its demos, whose files are written to folder/demos."""
    try:
        write(folder / "demos")
    except NotImplementedError as error:
        print(f"{page}: no demos: {error}", file=sys.stderr)
        return _DEMO.sub("*This copy of the site was built without clang, and has no demos.*", text)
    up = "../" * page.count("/")
    text = _DEMO.sub(r'<div class="demo" data-demo="\1"></div>\n', text)
    return text + f'\n<script defer src="{up}demos/demos.js"></script>\n'


def write(folder: Path) -> None:
    """The scripts, modules and texts of all demos. NotImplementedError where clang is missing."""
    sys.path.insert(0, str(SCRIPTS))
    try:
        import functions
    finally:
        sys.path.remove(str(SCRIPTS))
    folder.mkdir(parents=True, exist_ok=True)
    for script in SCRIPTS.glob("*.js"):
        shutil.copy2(script, folder)
    for make in functions.DEMOS.values():
        for function in make():
            function.export_wasm(folder)
    (curve,) = functions.curve()
    (folder / "curve.json").write_text(json.dumps(texts(functions.SOURCE, curve)))


def texts(source: str, function: bitale.Function) -> dict[str, str]:
    """A function as it is written, as a graph, as loops and as code."""

    def printed(*form: str) -> str:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            function.dprint(*form)
        return out.getvalue().strip()

    with tempfile.TemporaryDirectory() as scratch:
        code = Path(function.export_c(scratch)[0]).read_text()
    name = function.name
    body = code[code.index(f"int {name}(") : code.index(f"const char *{name}_message")].strip()
    return {"Python": source, "graph": printed(), "loops": printed("program"), "C": body}

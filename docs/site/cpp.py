"""The C++ reference of Doxygen as a part of the site, below cpp/, and where each function is in it."""

from __future__ import annotations

import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from pages import ROOT

sys.path[:0] = [str(ROOT / "tests")]
from api.cpp import counterpart, namespaces, partial


def reference(folder: Path) -> dict[str, str]:
    """Writes folder/cpp; the page and anchor of each function below namespace bitale, and nothing where there is no Doxygen."""
    if shutil.which("doxygen") is None:
        print(
            "Doxygen is not installed (./dev setup docs): the site has no C++ reference",
            file=sys.stderr,
        )
        return {}
    folder.mkdir(parents=True, exist_ok=True)
    settings = f'@INCLUDE = docs/Doxyfile\nOUTPUT_DIRECTORY = "{folder}"\nHTML_OUTPUT = cpp\nGENERATE_TAGFILE = "{folder}.tag"\nSEARCHENGINE = YES\n'
    subprocess.run(
        ["doxygen", "-"], input=settings, cwd=ROOT, text=True, check=True, stdout=subprocess.DEVNULL
    )
    return _places(folder.with_name(folder.name + ".tag"))


def _places(tags: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for compound in ElementTree.parse(tags).getroot().iter("compound"):
        namespace = compound.findtext("name") or ""
        if compound.get("kind") == "namespace" and namespace.partition("::")[0] == "bitale":
            for member in compound.iter("member"):
                name, page, anchor = (
                    member.findtext(key) or "" for key in ("name", "anchorfile", "anchor")
                )
                if member.get("kind") == "function" and page:
                    found.setdefault(f"{namespace}::{name}", f"cpp/{page}#{anchor}")
    return found


def place(found: dict[str, str], module: str, name: str) -> tuple[str, str] | None:
    """The name in C++ of a function in Python, and its place."""
    below = module.removeprefix("bitale").removeprefix(".")
    other = counterpart(below, name) if below in {*namespaces, *partial} else None
    theirs = f"bitale::{other}"
    return (theirs, found[theirs]) if theirs in found else None

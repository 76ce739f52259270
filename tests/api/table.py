"""PyTensor's public names (tests/api/pytensor.csv, written by tools/pytensor_names.py) and what is missing of them here, or takes
other arguments. Arguments agree where a call with PyTensor's arguments means the same: the same names in the same order with
the same defaults, and more only behind them."""

from __future__ import annotations

import ast
import csv
import dataclasses
import functools
import importlib
import inspect
import pathlib
import re
from typing import Any

from bitale._geography import is_absent

from .arguments import parameters


VERSION = "3.3.8"


@dataclasses.dataclass(frozen=True)
class Name:
    module: str
    name: str
    kind: str
    arguments: str

    @property
    def path(self) -> str:
        return f"{self.module}.{self.name}".lstrip(".")


@functools.cache
def names() -> tuple[Name, ...]:
    with open(pathlib.Path(__file__).with_name("pytensor.csv"), newline="") as file:
        return tuple(Name(**row) for row in csv.DictReader(file))


def found(name: Name) -> Any:
    """The value of that name here, or `...`."""
    try:
        module = importlib.import_module(f"bitale.{name.module}".rstrip("."))
    except ImportError:
        return ...
    value = getattr(module, name.name, ...)
    return ... if is_absent(value) else value


def missing() -> list[str]:
    return [each.path for each in names() if found(each) is ...]


_simple = re.compile(r"None|True|False|-?\d[\d.]*(e-?\d+)?|'[^']*'|\(.*\)")


def _is_other_default(theirs: str, ours: str) -> bool:
    """Whether both are values that can be compared and differ."""
    if theirs == "..." or not _simple.fullmatch(theirs) or not _simple.fullmatch(ours):
        return False
    return bool(ast.literal_eval(theirs) != ast.literal_eval(ours))


def difference(theirs: list[str], ours: list[str]) -> str:
    """What differs, in one phrase; empty where they agree."""
    positional = (
        theirs[: theirs.index("*")]
        if "*" in theirs
        else [each for each in theirs if not each.startswith("**")]
    )
    here = [each for each in ours if each != "/"]
    at = {each.partition("=")[0]: each for each in here}
    star = here.index("*") if "*" in here else len(here)
    for i, each in enumerate(positional):
        name, _, default = each.partition("=")
        if name not in at:
            return f"no {name}"
        if here.index(at[name]) != i or i >= star:
            return f"{name} at another position"
    for each in theirs:
        name, _, default = each.partition("=")
        if name == "*" or name.startswith("**"):
            continue
        if name not in at:
            return f"no {name}"
        other = at[name].partition("=")[2]
        if default and not other:
            return f"{name} is required"
        if default and _is_other_default(default, other):
            return f"{name}={other}, not {default}"
    expected = {each.partition("=")[0] for each in theirs}
    for each in here:
        name, _, default = each.partition("=")
        if name not in expected and not default and not name.startswith("*"):
            return f"{name} is required"
    return ""


def compared() -> dict[str, tuple[str, str, str]]:
    """For each function and class that exists and whose arguments are known on both sides: what differs, PyTensor's arguments
    and those here."""
    out = {}
    for each in names():
        value = found(each)
        if value is ... or not each.arguments or each.arguments == "*args **kwargs":
            continue
        if each.kind == "class" and not inspect.isclass(value):
            out[each.path] = ("not a class", each.arguments, "")
            continue
        ours = parameters(value)
        if ours is None:
            out[each.path] = ("arguments are not known", each.arguments, "")
            continue
        out[each.path] = (difference(_words(each.arguments), ours), each.arguments, " ".join(ours))
    return out


def _words(text: str) -> list[str]:
    return text.split(" ")

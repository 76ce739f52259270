#!/usr/bin/env python3
"""Validates the docstrings of all public functions and classes against numpydoc's convention; `./dev lint` runs it.

The checks are numpydoc's, by their codes, without those about the layout of the source (GL01, GL02), sections that not
every function needs (ES01, SA01, EX01, RT01 of functions that return None) and deprecation.
"""

from __future__ import annotations

import enum
import inspect
import importlib
import pathlib
import sys

root = pathlib.Path(__file__).parents[1]
sys.path[:0] = [str(root / "python")]

from bitale._class_factory import Kind
from bitale.graph.op import Op
from numpydoc.docscrape import get_doc_object
from numpydoc.validate import Validator, validate

MODULES = [
    "bitale", "bitale.tensor", "bitale.tensor.linalg", "bitale.tensor.special", "bitale.tensor.fft", "bitale.tensor.signal",
    "bitale.tensor.optimize", "bitale.tensor.random", "bitale.random", "bitale.gradient", "bitale.scan", "bitale.printing",
    "bitale.rewrite", "bitale.assumptions", "bitale.ifelse", "bitale.breakpoint", "bitale.raise_op", "bitale.checkpoint", "bitale.xtensor.linalg",
    "bitale.xtensor.reduction", "bitale.xtensor.signal",
]  # fmt: skip
CHECKS = {
    "GL03", "GL05", "GL06", "GL07", "GL08", "SS01", "SS02", "SS03", "SS04", "SS05", "SS06", "PR01", "PR02", "PR03", "PR04", "PR05",
    "PR06", "PR07", "PR08", "PR09", "PR10", "RT02", "RT03", "RT04", "RT05", "SA02", "SA03",
}  # fmt: skip


def public_names() -> dict[int, tuple[str, object]]:
    """By identity: the first dotted name of each public function and class that is defined here."""
    found: dict[int, tuple[str, object]] = {}
    for name in MODULES:
        module = importlib.import_module(name)
        for attribute in getattr(module, "__all__", None) or [
            each for each in dir(module) if each[0] != "_"
        ]:
            value = getattr(module, attribute)
            if inspect.isclass(value) and (
                issubclass(value, (Op, enum.Enum)) or isinstance(value, Kind)
            ):
                continue  # classes of ops are there to recognise nodes; functions make these
            own = str(getattr(value, "__module__", "")).startswith("bitale")
            if own and (inspect.isclass(value) or inspect.isroutine(value)) and attribute[0] != "_":
                found.setdefault(id(value), (f"{name}.{attribute}", value))
    return found


class _Found(Validator):
    """The docstring of an object that is at hand: its dotted name may lead to a module of the same name."""

    objects: dict[str, object] = {}

    @property
    def signature_parameters(self) -> tuple[str, ...]:
        """numpydoc takes a first parameter `cls` for that of a class method, though this be a function."""
        found: tuple[str, ...] = super().signature_parameters
        is_function = inspect.isroutine(self.obj) and "." not in self.obj.__qualname__
        first = next(iter(inspect.signature(self.obj).parameters), "") if is_function else ""
        return ("cls", *found) if first == "cls" and "cls" not in found else found

    def __init__(self, obj_name: str):
        super().__init__(get_doc_object(_Found.objects[obj_name]))


def complaints() -> list[str]:
    out = []
    for name, value in public_names().values():
        _Found.objects[name] = value
        out += [
            f"{name}: {code}: {text}"
            for code, text in validate(name, validator_cls=_Found)["errors"]
            if code in CHECKS
        ]
    return out


if __name__ == "__main__":
    found = complaints()
    print(*found, sep="\n", end="\n" if found else "")
    print(f"docstrings: {len(public_names())} names, {len(found)} complaints")
    sys.exit(bool(found))

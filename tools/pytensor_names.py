#!/usr/bin/env python3
"""Writes tests/api/pytensor.csv: the public names of an installed PyTensor's modules with the arguments of their functions and
classes. Run by a Python that has PyTensor; the tests read the table and need none. Facts only: names, order, defaults."""

from __future__ import annotations

import ast
import csv
import importlib
import inspect
import os
import pathlib
import pkgutil
import sys
from collections.abc import Iterator
from typing import Any

os.environ.setdefault("PYTENSOR_FLAGS", "cxx=")

import pytensor

# The modules that programs import from. Rewrites, C code and backends are PyTensor's own.
PACKAGES = ("compile", "conditional", "graph", "scalar", "scan", "sparse", "tensor", "typed_list")
MODULES = (
    "",
    "breakpoint",
    "configdefaults",
    "configparser",
    "gradient",
    "ifelse",
    "printing",
    "raise_op",
    "assumptions",
)
INTERNAL = (
    "rewriting",
    "compiledir",
    "compilelock",
    "blas_c",
    "elemwise_cgen",
    "dtype_utils",
    "scan_perform_ext",
    "_core",
    "_lazy",
    "kanren",
    "dump",
    "cutils_ext",
    "c_code",
)


def modules() -> list[str]:
    found = list(MODULES)
    for package in PACKAGES:
        root = importlib.import_module(f"pytensor.{package}")
        found.append(package)
        for each in pkgutil.walk_packages(root.__path__, f"pytensor.{package}."):
            parts = each.name.split(".")
            own = (
                parts[1:]
                if "graph.rewriting" not in each.name
                else [part for part in parts if part != "rewriting"]
            )
            if not set(own) & set(INTERNAL):
                found.append(each.name.removeprefix("pytensor."))
    return sorted(set(found))


def bound_in(module: Any) -> set[str]:
    """The names that statements of the module's own define."""
    found: set[str] = set()
    try:
        statements = list(ast.parse(inspect.getsource(module)).body)
    except OSError:  # an empty file
        return found
    while statements:
        node = statements.pop()
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {
                each.id
                for target in targets
                for each in ast.walk(target)
                if isinstance(each, ast.Name)
            }
        elif isinstance(node, (ast.If, ast.Try, ast.With)):
            statements += node.body
    return found


def is_of_pytensor(value: Any) -> bool:
    return (getattr(value, "__module__", None) or type(value).__module__).startswith("pytensor")


def is_typing(value: Any) -> bool:
    return type(value).__module__ in (
        "typing",
        "types",
        "logging",
        "__future__",
        "importlib",
        "functools",
        "pathlib",
    ) and not inspect.isfunction(value)


def public(name: str, module: Any) -> Iterator[tuple[str, Any]]:
    own = bound_in(module) | set(getattr(module, "__all__", ()))
    is_package = hasattr(module, "__path__")
    for each in sorted(set(vars(module)) | set(getattr(module, "__all__", ()))):
        value = getattr(module, each)
        if each[0] == "_" or inspect.ismodule(value) or is_typing(value):
            continue
        if each in own or (is_package and is_of_pytensor(value)):
            yield each, value


def default(value: Any) -> str:
    plain = (bool, int, float, str, type(None))
    if isinstance(value, plain) or (
        isinstance(value, tuple) and all(isinstance(each, plain) for each in value)
    ):
        return repr(value).replace(" ", "")
    return "..."


def arguments(value: Any) -> str:
    """ "x axis=None * keepdims=False": a star alone is before those that are given by name."""
    try:
        parameters = list(inspect.signature(value).parameters.values())
    except (TypeError, ValueError):
        return ""
    words = []
    was_star = False
    for each in parameters:
        if each.kind == each.KEYWORD_ONLY and not was_star:
            words.append("*")
            was_star = True
        star = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
        was_star = was_star or star == "*"
        words.append(
            star + each.name + ("" if each.default is each.empty else f"={default(each.default)}")
        )
    return " ".join(words)


def row(module: str, name: str, value: Any) -> tuple[str, str, str, str]:
    if inspect.isclass(value):
        return (
            module,
            name,
            "exception" if issubclass(value, BaseException) else "class",
            "" if issubclass(value, BaseException) else arguments(value),
        )
    if inspect.isfunction(value):
        return module, name, "function", arguments(value)
    is_op = isinstance(value, pytensor.graph.Op)
    signature = arguments(value) if is_op else ""
    return (
        module,
        name,
        "op" if is_op else "constant",
        "" if signature.startswith("*inputs") else signature,
    )


def main(target: pathlib.Path) -> None:
    rows = []
    for name in modules():
        module = importlib.import_module(f"pytensor.{name}".rstrip("."))
        rows += [row(name, *each) for each in public(name, module)]
    with open(target, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("module", "name", "kind", "arguments"))
        writer.writerows(rows)
    print(
        f"PyTensor {pytensor.__version__}: {len(rows)} names of {len({each[0] for each in rows})} modules"
    )


if __name__ == "__main__":
    main(
        pathlib.Path(sys.argv[1])
        if len(sys.argv) > 1
        else pathlib.Path(__file__).parents[1] / "tests" / "api" / "pytensor.csv"
    )

#!/usr/bin/env python3
"""Writes docs/api.md: every public function by subject (tools/api_subjects.py), its arguments, its name in C++ and its first
sentence; ranks, dtypes and derivatives; and what of PyTensor's names is missing or takes other arguments. `--check` compares
instead. tests/api has PyTensor's names, those of the C++ headers, and the reasons."""

from __future__ import annotations

import csv
import importlib
import inspect
import pathlib
import re
import sys
from typing import Any

root = pathlib.Path(__file__).parents[1]
sys.path[:0] = [str(root / "tests"), str(root / "tools")]

from api import cpp, known, table
from api.arguments import names

from api_facts import errors, facts
from api_subjects import OTHER_MODULES, SECTIONS, Section

import bitale
import bitale.tensor as pt


def missing_flags() -> list[str]:
    with open(root / "tests" / "api" / "flags.csv", newline="") as file:
        return [
            row["name"] for row in csv.DictReader(file) if not hasattr(bitale.config, row["name"])
        ]


def sentence(value: object) -> str:
    text = inspect.getdoc(value) or ""
    if re.match(r"\w+\(.*\) -> ", text):  # the signature of a function written in C++
        text = text.partition("\n\n")[2]
    text = re.sub(r"\s+", " ", text.split(">>>")[0]).strip()
    end = re.search(r"[.:](?= |$)", text)
    return (text[: end.start()] if end else text).replace("|", "\\|")


def is_function(name: str, value: object) -> bool:
    """Whether a name of a module is in the reference: a function, no type, class or constructor of variables."""
    is_plain = (
        name[0] != "_"
        and callable(value)
        and not inspect.isclass(value)
        and not isinstance(value, bitale.graph.Type)
    )
    return (
        is_plain
        and bool(getattr(value, "__doc__", None))
        and not re.fullmatch(known.constructors, name)
    )


def public_functions(module: object) -> list[str]:
    return [
        name
        for name in sorted(getattr(module, "__all__", dir(module)))
        if is_function(name, getattr(module, name))
    ]


def without_section() -> list[str]:
    """Public functions that no section names; what bitale has of bitale.tensor counts there."""
    known_functions = {
        id(getattr(module_of(section), name)) for section in SECTIONS for name in section.names
    }
    modules = ["", *dict.fromkeys(section.module for section in SECTIONS if section.module)]
    return [
        f"{module or 'bitale'}.{name}"
        for module in modules
        for name in public_functions(
            importlib.import_module(f"bitale.{module}" if module else "bitale")
        )
        if id(getattr(importlib.import_module(f"bitale.{module}" if module else "bitale"), name))
        not in known_functions
    ]


def module_of(section: Section) -> object:
    return importlib.import_module(f"bitale.{section.module}" if section.module else "bitale")


def anchor(title: str) -> str:
    return re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-")


def summary(value: object) -> str:
    text = sentence(value)
    return text[:1].upper() + text[1:] + ("." if text else "")


# What each distribution takes besides its parameters and size: said once, above their table.
_OF_ALL_DISTRIBUTIONS = ("rng", "dtype", "name", "return_next_rng")


def arguments_of(value: Any) -> list[str]:
    """The arguments as they are shown: a method is called with the function, a class as its constructor is."""
    given = names(value) or (names(value.__init__) if inspect.isclass(value) else None) or []
    if given[:1] == ["self"]:
        given = given[1:] if inspect.isclass(value) else ["function", *given[1:]]
    is_distribution = "return_next_rng" in given
    return [each for each in given if not (is_distribution and each in _OF_ALL_DISTRIBUTIONS)]


def reference(section: Section) -> list[str]:
    """The table of a section: what to call, and what it does."""
    module = module_of(section)
    lines = [
        f"## {section.title}",
        "",
        *([section.text, ""] if section.text else []),
        "| `bitale" + f".{section.module}".rstrip(".") + "` | in C++ | |",
        "|---|---|---|",
    ]
    for name in section.names:
        value = getattr(module, name)
        call = f"{name}({', '.join(arguments_of(value))})"
        lines.append(f"| `{call}` | {in_cpp(section.module, name)} | {summary(value)} |")
    return [*lines, ""]


def in_cpp(module: str, name: str) -> str:
    """The name in C++, and its header where that has to be included; empty where there is none."""
    other = cpp.counterpart(module, name)
    if other is None:
        return ""
    header = cpp.declared()[other]
    return f"`bt::{other}`" + ("" if header in cpp.included() else f", `{header}`")


def other_modules_in_cpp() -> list[str]:
    """Functions that no section names, with their names in C++."""
    listed = {(section.module, name) for section in SECTIONS for name in section.names}
    same: dict[tuple[str, str, str], list[str]] = {}
    renamed: dict[tuple[str, str], list[str]] = {}
    for (module, name), other in cpp.counterparts().items():
        if (module, name) in listed or re.fullmatch(known.constructors, name):
            continue
        namespace, _, own = f"bt::{other}".rpartition("::")
        header = cpp.declared()[other]
        if own.rstrip("_") == name.rstrip("_"):
            same.setdefault((module, namespace, header), []).append(own)
        else:
            renamed.setdefault((other, header), []).append(cpp.full_name(module, name))
    return [
        "Names of functions are the same in both languages, but for keywords of C++ and names of its standard library, which end in _, and for those",
        "[listed below](#other-names-in-c). Constructors of variables (`dmatrix`, `lvectors`) have the same names. The sections above show the names of",
        "their functions. Functions of other modules, and methods of classes, are in these headers:",
        "",
        "| module or class of Python | namespace of C++ | header | names |",
        "|---|---|---|---|",
        *(
            f"| `{f'bitale.{module}'.rstrip('.')}` | `{namespace}` | `bitale/{header}` | {', '.join(f'`{each}`' for each in names)} |"
            for (module, namespace, header), names in same.items()
        ),
        "",
        "### Other names in C++",
        "",
        "| Python | C++ | header |",
        "|---|---|---|",
        *(
            f"| {', '.join(f'`bitale.{name}`' for name in names)} | `bt::{other}` | `bitale/{header}` |"
            for (other, header), names in renamed.items()
        ),
    ]


def without_counterpart() -> list[str]:
    """Functions that C++ lacks, and classes that a section names: "tensor.asarray"."""
    listed = (
        cpp.full_name(section.module, name)
        for section in SECTIONS
        for name in section.names
        if cpp.counterpart(section.module, name) is None
    )
    return list(dict.fromkeys([*cpp.missing(), *listed]))


def properties(module: object, prefix: str) -> list[str]:
    """Rows of the table of ranks, dtypes, derivatives and errors."""
    lines = []
    for name in public_functions(module):
        value = getattr(module, name)
        row = facts(name, value)
        lines.append(
            f"| `{prefix}{name}` | {row.shapes} | {row.dtypes} | {row.gradient} | {row.compiled} | {errors(value)} |"
        )
    return lines


def differences() -> list[str]:
    """What of PyTensor's names is missing, and whose arguments differ."""
    names, missing = table.names(), table.missing()
    compared = table.compared()
    other = {name: row for name, row in compared.items() if row[0]}
    modules = len({each.module for each in names})
    lines = [
        "",
        "## Differences from PyTensor",
        "",
        f"Of PyTensor {table.VERSION}'s {len(names):,} public names in {modules} modules, {len(names) - len(missing):,} are here, and {len(compared) - len(other):,} of "
        f"the {len(compared):,} functions and classes with arguments take the same, in the same order with the same defaults.",
        "",
        "The others can be imported, and say what to use instead: [a page](differences_extending.md#pytensor-names-without-a-meaning-here) lists them.",
        "",
        "### Functions and classes whose arguments differ",
        "",
        "| name | difference | why |",
        "|---|---|---|",
    ]
    lines += [
        f"| `{name}` | {row[0].replace('|', '/')} | {known.reason_other_arguments(name) or ''} |"
        for name, row in sorted(other.items())
    ]
    return lines


MARKS = ("<!-- names: tools/api_doc.py -->\n", "<!-- end of names -->\n")


def page_of_differences() -> str:
    """docs/differences_extending.md, with the names that mean nothing here."""
    reasons: dict[str, list[str]] = {}
    for name in table.missing():
        reasons.setdefault(known.reason_missing(name) or "", []).append(f"`{name}`")
    rows = [f"| {why} | {', '.join(each)} |\n" for why, each in reasons.items()]
    text = (root / "docs" / "differences_extending.md").read_text()
    before, _, rest = text.partition(MARKS[0])
    return (
        before
        + MARKS[0]
        + "\n| instead | names |\n|---|---|\n"
        + "".join(rows)
        + "\n"
        + MARKS[1]
        + rest.partition(MARKS[1])[2]
    )


def page() -> str:
    lines = [
        "# Table of functions",
        "",
        "Functions by subject, with their names in C++. `help(bitale.tensor.NAME)` describes arguments, results and errors, with examples. Below the",
        "subjects are tables of [dtypes, derivatives and errors](#dtypes-derivatives-and-errors), of [names in C++](#names-in-c) for other modules, and of",
        "[differences from PyTensor](#differences-from-pytensor). In the tables, `bt` is the namespace `bitale`; `bitale/bitale.hpp` declares the",
        "functions that have no header next to their name. `tools/api_doc.py` writes this page.",
        "",
        *(f"- [{section.title}](#{anchor(section.title)})" for section in SECTIONS),
        "- [Other modules](#other-modules)",
        "- [Dtypes, derivatives and errors](#dtypes-derivatives-and-errors)",
        "- [Names in C++](#names-in-c)",
        "- [Differences from PyTensor](#differences-from-pytensor)",
        "",
    ]
    for section in SECTIONS:
        lines += reference(section)
    lines += [
        "## Other modules",
        "",
        "| module | |",
        "|---|---|",
        *(f"| `bitale.{name}` | {text} |" for name, text in OTHER_MODULES.items()),
        "",
    ]
    lines += [
        "## Dtypes, derivatives and errors",
        "",
        "Ranks, dtypes and derivatives are those of one call with arguments that fit, by which the table was made (`tools/api_facts.py`):",
        "",
        "- **ranks**: of the arguments, and of the results; *broadcast* for elementwise functions.",
        "- **dtypes**: of the result, for bool, int64, float32 and float64; *kept* where it is the argument's.",
        "- **gradient**: by each argument, or by all: *yes*, *zero*, *none* (not connected), *undefined* (asking for it is an error).",
        "- **compiled**: *fused* with what is around it into loops, a *runtime call* for the whole array, or a *callback* into Python.",
        "- **errors**: those that the documentation names, besides errors of dtype, rank and shape.",
        "",
        "| function of bitale.tensor | ranks | dtypes | gradient | compiled | errors |",
        "|---|---|---|---|---|---|",
    ]
    for module, prefix in (
        (pt, ""),
        (pt.special, "special."),
        (pt.linalg, "linalg."),
        (pt.fft, "fft."),
        (pt.signal, "signal."),
        (pt.optimize, "optimize."),
    ):
        lines += properties(module, prefix)
    lines.append("")
    lines += [
        "## Names in C++",
        "",
        *other_modules_in_cpp(),
        "",
        "### Functions without a counterpart in C++",
        "",
        "| Python | instead |",
        "|---|---|",
    ]
    for why in dict.fromkeys(cpp.reasons.values()):
        lines.append(
            f"| {', '.join(f'`{name}`' for name in without_counterpart() if cpp.reason(name) == why)} | {why} |"
        )
    lines += ["", "### Functions without a name in Python", "", "| C++ | in Python |", "|---|---|"]
    for why in dict.fromkeys(cpp.only_in_cpp.values()):
        names = [name for name in cpp.only_declared() if cpp.first_of(cpp.only_in_cpp, name) == why]
        lines.append(f"| {', '.join(f'`bt::{name}`' for name in names)} | {why} |")
    lines += differences()
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    pages = {
        root / "docs" / "api.md": page(),
        root / "docs" / "differences_extending.md": page_of_differences(),
    }
    for target, text in pages.items():
        if "--check" not in sys.argv:
            target.write_text(text)
        elif target.read_text() != text:
            sys.exit(f"docs/{target.name} is not up to date: run tools/api_doc.py")

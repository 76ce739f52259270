"""The reference: a page per public function and class, from its docstring, its signature and the table of docs/api.md; a page
per subject, which lists them; and the overview."""

from __future__ import annotations

import inspect
import json
import pathlib
import re
import sys
import textwrap
from dataclasses import dataclass, field
from typing import Any

import cpp
import docstrings
import plots
from pages import DOCS, ROOT, Stage

sys.path[:0] = [str(ROOT / "tests")]

import numpy as np
import scipy.special

import bitale
from api.arguments import names as argument_names
from api.table import names as pytensor_names
from names import LISTED, MODULES, SECTIONS, Entry, entries, listed

_OPEN = (
    "bitale.tensor",
    "bitale",
    "bitale.tensor.linalg",
    "bitale.tensor.special",
    "bitale.sparse",
    "bitale.gradient",
    "bitale.graph",
    "bitale.compile",
)


@dataclass
class Subject:
    page: str
    title: str
    entries: list[Entry] = field(default_factory=list)


def _slug(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def by_subject(found: list[Entry]) -> list[Subject]:
    """The sections in their order, then what else the modules have."""
    out = {
        title: Subject(_slug(title), title)
        for title in (*(section.title for section in SECTIONS), *MODULES.values())
    }
    for entry in found:
        out[entry.subject].entries.append(entry)
    return [subject for subject in out.values() if subject.entries]


# ---- facts ---------------------------------------------------------------------------------------------------------------


def rows_of_api_page() -> dict[str, dict[str, str]]:
    """By full name: ranks, dtypes, gradient and compilation, from the table of docs/api.md."""
    text = (
        (DOCS / "api.md")
        .read_text(encoding="utf-8")
        .partition("\n## Dtypes, derivatives and errors\n")[2]
        .partition("\n## ")[0]
    )
    out = {}
    for line in text.splitlines():
        if line.startswith("| `"):
            name, *cells = (cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1])
            out[f"bitale.tensor.{name.strip('`')}"] = dict(
                zip(("Ranks", "Dtypes", "Gradient", "Compiled code"), cells)
            )
    assert out, "docs/api.md has no table of dtypes, derivatives and errors"
    return out


def largest_errors() -> dict[str, str]:
    """By name: the errors that were measured for float64 and float32, from the table of docs/measurements/math.md."""
    text = (DOCS / "measurements" / "math.md").read_text(encoding="utf-8")
    found = re.findall(r"^\| (\w+) \| ([\d.]+) \| `[^|]+` \| \w+ \| ([\d.]+) \|", text, re.M)
    assert found, "docs/measurements/math.md has no table of measured errors"
    return {
        name: f"{float(double):.2f} ulp in float64, {float(single):.2f} ulp in float32"
        for name, single, double in found
    }


def names_in_pytensor() -> set[str]:
    """What pytensor.tensor has; "linalg.svd" is in a submodule."""
    return {
        ".".join([*row.module.split(".")[1:], row.name])
        for row in pytensor_names()
        if row.module.split(".")[0] == "tensor"
    }


def name_in_numpy(entry: Entry) -> str:
    """The function of NumPy or SciPy of the same name; names of submodules in the submodule."""
    inner, _, name = entry.page.removeprefix("bitale.tensor.").rpartition(".")
    if (
        entry.module == "bitale.tensor"
        and "pecial" not in entry.subject
        and callable(getattr(np, name, None))
    ):
        return f"numpy.{name}"
    if inner in ("linalg", "fft") and callable(getattr(getattr(np, inner), name, None)):
        return f"numpy.{inner}.{name}"
    if entry.module == "bitale.tensor" and callable(getattr(scipy.special, name, None)):
        return f"scipy.special.{name}"
    return ""


# ---- pages ---------------------------------------------------------------------------------------------------------------


def signature(value: Any, full: str) -> str:
    if inspect.isclass(value) and argument_names(value) is None:
        return full
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return full + "()"
    parameters = [
        each.replace(annotation=inspect.Parameter.empty) for each in found.parameters.values()
    ]
    parameters = [each for each in parameters if each.name != "self"]
    text = str(found.replace(parameters=parameters, return_annotation=inspect.Signature.empty))
    text = re.sub(
        r"<[^<>]*?(\w+) at 0x[0-9a-f]+>|<class '([\w.]+)'>|<([^<>]*)>",
        lambda m: m[1] or m[2] or "...",
        text,
    )
    return full + text.replace("\\", "\\\\")


class Reference:
    def __init__(self, stage: Stage, in_cpp: dict[str, str]) -> None:
        self.stage = stage
        self.in_cpp = in_cpp
        self.entries = entries()
        self.by_name = {name: entry for entry in self.entries for name in entry.names}
        self.subjects = by_subject(self.entries)
        self.listed = listed()
        self.rows = rows_of_api_page()
        self.errors = largest_errors()
        self.pytensor = names_in_pytensor()

    def resolve(self, module: str):
        def full_name(name: str) -> str | None:
            plain = (
                name.removesuffix("()").replace("bt.", "bitale.", 1)
                if name.startswith("bt.")
                else name.removesuffix("()")
            )
            plain = plain.replace("pt.", "bitale.tensor.", 1) if plain.startswith("pt.") else plain
            for candidate in (plain, *(f"{each}.{plain}" for each in (module, *_OPEN))):
                if candidate in self.by_name:
                    return candidate
            return None

        return full_name

    def facts(self, entry: Entry) -> str:
        row = {key: text for key, text in self.rows.get(entry.page, {}).items() if text}
        name = entry.page.removeprefix("bitale.tensor.")
        if name in self.errors:
            row["Largest error"] = f"{self.errors[name]}: :doc:`measured </measurements/math>`"
        if entry.page.startswith("bitale.tensor.") and not inspect.isclass(entry.value):
            theirs = next((each for each in (name, f"special.{name}") if each in self.pytensor), "")
            if theirs:
                row["PyTensor"] = f"pytensor.tensor.{theirs}"
            if numpy := name_in_numpy(entry):
                row["NumPy" if numpy.startswith("numpy") else "SciPy"] = numpy
        if found := cpp.place(self.in_cpp, entry.module, entry.page.rpartition(".")[2]):
            row["C++"] = f"`{found[0]} <../../{found[1]}>`__"
        if not row:
            return ""
        lines = [
            ".. list-table::",
            "   :class: facts",
            "   :widths: auto",
            "   :stub-columns: 1",
            "",
        ]
        for key, text in row.items():
            shown = (
                text
                if key in ("C++", "Largest error")
                else f"``{text}``"
                if key in ("PyTensor", "NumPy", "SciPy") and "." in text
                else docstrings.escaped(text.replace("\\|", "|"))
            )
            lines += [f"   * - {key}", f"     - {shown}"]
        return "\n".join(lines)

    def formulas(self, entry: Entry) -> str:
        """The derivative that the library takes, and a plot, of functions of one real variable."""
        if entry.module != "bitale.tensor" or not plots.is_of_one_variable(entry.value):
            return ""
        drawn = plots.drawn(entry.page, entry.value, self.stage.target / "reference" / "plots")
        if drawn is None:
            return ""
        self.stage.written.add(self.stage.target / "reference" / "plots" / drawn.file)
        parts = []
        if drawn.derivative:
            parts += [".. rubric:: Derivative", f".. math::\n\n   {drawn.derivative}"]
        parts.append(
            f".. image:: /reference/plots/{drawn.file}\n   :class: plot\n   :alt: {entry.names[0].rpartition('.')[2]} and its derivative, and the error of its value where there is a reference, from {drawn.low:g} to {drawn.high:g}"
        )
        return "\n\n".join(parts)

    def page(self, entry: Entry, subject: Subject) -> str:
        resolve = self.resolve(entry.module)
        doc = docstrings.parsed(inspect.getdoc(entry.value) or "")
        kind = "class" if inspect.isclass(entry.value) else "function"
        head = [f".. py:{kind}:: {signature(entry.value, entry.names[0])}"]
        head += [
            " " * len(f".. py:{kind}:: ") + signature(entry.value, name) for name in entry.names[1:]
        ]
        between = "\n\n".join(
            part
            for part in (self.formulas(entry), self.facts(entry), error_link(entry.value))
            if part
        )
        body = docstrings.rendered(doc, resolve, between)
        if kind == "class":
            body += self.members(entry, resolve)
        title = entry.page
        return "\n".join(
            [
                ":orphan:",
                "",
                docstrings.escaped(title),
                "=" * (len(title) + 2),
                "",
                *head,
                "",
                textwrap.indent(body, "   "),
                "",
            ]
        )

    def members(self, entry: Entry, resolve) -> str:
        """Methods and properties that the class or its bases of this library define: their own text, or the function of the
        same name."""
        out = []
        for name in sorted(dir(entry.value)):
            value = inspect.getattr_static(entry.value, name, None)
            owner = next((each for each in entry.value.__mro__ if name in vars(each)), None)
            if name[0] == "_" or owner is None or not owner.__module__.startswith("bitale"):
                continue
            found = getattr(entry.value, name, None)
            is_property = not callable(found) and not isinstance(value, (staticmethod, classmethod))
            text = inspect.getdoc(value if is_property else found) or ""
            if not text or (
                is_property
                and not isinstance(value, property)
                and "nb_" not in type(value).__name__
                and type(value).__name__ != "getset_descriptor"
            ):
                continue
            doc = docstrings.parsed(text)
            first = docstrings.inline(docstrings.summary(doc), resolve)
            same = f"bitale.tensor.{name}"
            if (
                not is_property
                and same in self.by_name
                and (inspect.getdoc(self.by_name[same].value) or "")[:60] == text[:60]
            ):
                body = f"{first} See {docstrings.link(same, resolve, name)}."
            else:
                body = docstrings.rendered(doc, resolve)
            head = (
                f".. py:property:: {name}"
                if is_property
                else f".. py:method:: {signature(found, name)}"
            )
            out.append(f"{head}\n\n{textwrap.indent(body, '   ')}")
        return "\n\n.. rubric:: Methods and properties\n\n" + "\n\n".join(out) if out else ""

    def subject_page(self, subject: Subject) -> str:
        lines = [subject.title, "=" * len(subject.title), ""]
        module = {entry.module for entry in subject.entries}
        lines += [f"Names of ``{module.pop()}``.", ""] if len(module) == 1 else []
        lines += [".. list-table::", "   :widths: auto", ""]
        for entry in sorted(subject.entries, key=lambda each: each.page.lower()):
            shown = ", ".join(
                f":py:obj:`{name.rpartition('.')[2]} <{name}>`" for name in entry.names
            )
            doc = docstrings.parsed(inspect.getdoc(entry.value) or "")
            lines += [
                f"   * - {shown}",
                f"     - {docstrings.inline(docstrings.summary(doc), self.resolve(entry.module)) or chr(92)}",
            ]
        return "\n".join(lines) + "\n"

    def listed_page(self, module: str, found: list[Entry]) -> str:
        """The names of a module with their first sentences; a function that is one of tensors as well has a link to it."""
        title = LISTED[module]
        lines = [title, "=" * len(title), "", f"Names of ``{module}``.", ""]
        for entry in found:
            doc = docstrings.parsed(inspect.getdoc(entry.value) or "")
            kind = "class" if inspect.isclass(entry.value) else "function"
            heads = [signature(entry.value, name) for name in entry.names]
            lines += [
                f".. py:{kind}:: {heads[0]}",
                *(" " * len(f".. py:{kind}:: ") + head for head in heads[1:]),
                "",
            ]
            lines += ["   " + docstrings.inline(docstrings.summary(doc), self.resolve(module)), ""]
            part, _, name = (
                entry.page.removeprefix("bitale.")
                .removeprefix("xtensor.")
                .removeprefix("array_api.")
                .rpartition(".")
            )
            same = next(
                (
                    each
                    for each in (f"bitale.tensor.{part}.{name}", f"bitale.tensor.{name}")
                    if each in self.by_name
                ),
                "",
            )
            if same and kind == "function":
                lines += [f"   The function of tensors: :py:obj:`{same}`.", ""]
        return "\n".join(lines)

    def write(self) -> None:
        for module, found in self.listed.items():
            self.stage.write(f"reference/{module}.rst", self.listed_page(module, found))
        for subject in self.subjects:
            self.stage.write(f"reference/{subject.page}.rst", self.subject_page(subject))
            for entry in subject.entries:
                self.stage.write(f"reference/api/{entry.page}.rst", self.page(entry, subject))
        table = [
            {
                "page": subject.page,
                "title": subject.title,
                "pages": [each.page for each in subject.entries],
                "names": sorted(
                    (
                        (each.page, name.rpartition(".")[2])
                        for each in subject.entries
                        for name in each.names
                    ),
                    key=lambda pair: pair[1].lower(),
                ),
            }
            for subject in self.subjects
        ]
        self.stage.write("reference/subjects.json", json.dumps(table))
        self.stage.write("reference/flags.rst", flags_page())
        self.stage.write("reference/ops.rst", ops_page())
        self.stage.write("reference/index.rst", self.overview())

    def overview(self) -> str:
        titles = {section.title for section in SECTIONS}
        functions = [each.page for each in self.subjects if each.title in titles]
        others = [*(each.page for each in self.subjects if each.title not in titles), *self.listed]
        intro = (pathlib.Path(__file__).parent / "reference.rst").read_text(encoding="utf-8")

        def tree(caption: str, pages: list[str]) -> str:
            return f".. toctree::\n   :maxdepth: 1\n   :caption: {caption}\n\n" + "".join(
                f"   {page}\n" for page in pages
            )

        return "\n".join(
            [
                intro,
                tree("Functions", functions),
                tree("Modules", others),
                tree("Settings and tables", ["table", "flags", "/errors/index", "ops"]),
                self.cpp_link(),
            ]
        )

    def cpp_link(self) -> str:
        """Doxygen's pages are no documents of Sphinx, which can't check the link."""
        return (
            "The `C++ reference <../cpp/index.html>`__ describes the headers.\n"
            if self.in_cpp
            else ""
        )


def error_link(value: Any) -> str:
    """The page of docs/errors on a class of errors."""
    if not (inspect.isclass(value) and issubclass(value, BaseException)):
        return ""
    return f"How it looks, and what to do: :doc:`/errors/{value.__name__}`."


def flags_page() -> str:
    """The flags of bitale.config, from what it says of itself."""
    title = "Flags of bitale.config"
    lines = [title, "=" * len(title), ""]
    lines += [
        "``bitale.config`` holds them; the environment variable ``BITALE_FLAGS=name=value,...`` sets them for a process, and",
        "``bitale.config.change_flags(name=value)`` for a block of code.",
        "",
    ]
    for block in re.split(r"\n\n(?=\w+ \()", str(bitale.config)):
        found = re.match(r"(\w+) \((.*)\)\n\s+Doc:\s+(.*?)\n\s+Value:", block, re.S)
        if found:
            text = re.sub(r"\s+", " ", found[3])
            lines += [
                f".. py:attribute:: bitale.config.{found[1]}",
                f"   :type: {found[2]}" if re.fullmatch(r"\w+", found[2]) else "",
                "",
                f"   {docstrings.inline(text, lambda name: None)}",
                "",
            ]
            if not re.fullmatch(r"\w+", found[2]):
                lines += [f"   One of ``{found[2].strip('{}')}``.", ""]
    return "\n".join(lines)


def ops_page() -> str:
    """The ops of the registry: what nodes of graphs are called."""
    from bitale import _core

    title = "Ops"
    lines = [
        title,
        "=" * len(title),
        "",
        "The ops of the registry. Graphs show these names; the functions of the reference make nodes of them.",
        "",
    ]
    lines += [f"- ``{name}``" for name in _core.op_names()]
    lines += [
        "",
        "Elementwise",
        "-----------",
        "",
        "``Elemwise`` applies one of these scalar functions to each element:",
        "",
    ]
    lines += [", ".join(f"``{name}``" for name, _ in _core.elementwise_functions()) + ".", ""]
    return "\n".join(lines)

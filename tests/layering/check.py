#!/usr/bin/env python3
"""Checks that each part of the sources includes only headers of itself and of lower parts, that external libraries are
used only in the permitted folders, that kinds of steps are told apart in one place, that limits of passes stand in one
table, and that no public function has a bool among its parameters.

Usage: check.py CHECKOUT
"""

import re
import sys
from pathlib import Path

# From the lowest part to the highest. A part may include itself and the parts listed before it.
PARTS = [
    "core",
    "cache",
    "runtime",
    "graph",
    "program",
    "ops",
    "sparse",
    "stats",
    "autodiff",
    "integrate",
    "xtensor",
    "rewriting",
    "rules",
    "lowering",
    "stablehlo",
    "codegen",
    "printing",
    "link",
    "compile",
    "optimizers",
    "python",
]

# Parts with a narrower set of permitted dependencies.
ONLY = {"program": {"core"}, "codegen": {"core", "cache", "runtime", "program"}}

# Subfolders of one part that must not include each other.
APART = [("src/codegen/llvm/", "codegen/c/"), ("src/codegen/c/", "codegen/llvm/")]

# External headers, and the only folders that may include them.
OUTSIDE = [
    (r"llvm-c/|llvm/", "LLVM", ["src/codegen/llvm/"]),
    (r"cblas|lapacke?\b|openblas", "BLAS and LAPACK", ["src/runtime/"]),
    (r"boost/", "Boost", ["src/runtime/"]),
    (r"Eigen/", "Eigen", ["src/runtime/", "include/bitale/core/eigen.hpp"]),
    # Boost computes constants of its functions when a library is loaded, so these functions are in a library that is
    # opened on first use; exact.cpp uses arithmetic only.
    (
        r"boost/multiprecision/",
        "numbers of many digits",
        ["src/runtime/digits/", "src/runtime/exact.cpp"],
    ),
    (r"hwy/", "Highway", ["src/runtime/"]),
    (r"pocketfft", "pocketfft", ["src/runtime/"]),
    (r"xxhash|xxh3", "xxHash", ["src/core/"]),
    (r"nanobind/|pybind11/|Python\.h|numpy/", "Python", ["python/"]),
    (r"iostream$", "iostream", ["src/", "python/"]),
]

UMBRELLA = "include/bitale/bitale.hpp"
NAMES_ALONE = (
    "include/bitale/fwd.hpp"  # any part may include it, and it includes no header of the library
)
# The header that says what a compiler lacks comes first, so that nothing else is said before.
FIRST = "bitale/core/language.hpp"
DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.M)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)
SOURCES = {".cpp", ".hpp", ".h", ".inc"}

# All other parts ask what a step is by name.
STEPS = "src/program/"
KINDS = "Store|Accumulate|Let|Update|Loop|Allocate|Fill|Call|Check|HostCall|Next|If"
KIND_TEST = re.compile(rf"\b(get_if|holds_alternative|get)<(program::)?({KINDS})>")
# Numbers by which passes decide: those that a constant of one digit names, and literals of more. Shifts are no limits, and
# neither are the sizes and hashes of containers.
COSTS = "src/lowering/costs.hpp"
CONTAINERS = {"src/lowering/by_node.hpp": "64", "src/lowering/definitions.cpp": "1000003"}
NUMBER = re.compile(r"(?<!<< )(?<![\w.'\"])\d\d+(?![\w.'])|\bconstexpr\b[^;{(]*?= *-?[2-9]\b")
# Of `f(x, true)` a reader knows nothing: choices are named, `f(x, {.lower = true})` or `f(x, KeepDims::Yes)`. What is
# set to a bool may be one: `set_x(variable, true)`.
PARAMETERS = re.compile(r"\b(\w+)\(((?:[^()]|\([^()]*\))*)\)")
BOOL_PARAMETER = re.compile(r"(?:^|,)\s*(?:const )?bool \w+")
COMMENT_OR_TEXT = re.compile(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"')


def part_of_file(file):
    """The part to which a file of the checkout belongs, or None for the umbrella header."""
    folders = file.split("/")
    if file == UMBRELLA:
        return None
    if file == NAMES_ALONE:
        return PARTS[0]
    if file.startswith("include/bitale/"):
        return folders[2] if len(folders) > 3 else ""
    return folders[0] if folders[0] == "python" else folders[1] if len(folders) > 2 else ""


def part_of_include(root, file, name, quoted):
    """The part of an included header; None for an external header; "" for an internal one that is not found."""
    if name.startswith("bitale/"):
        if not (root / "include" / name).is_file():
            return ""
        return part_of_file("include/" + name) or "bitale.hpp"
    if (root / "src" / name).is_file():
        return name.split("/")[0]
    if not quoted:
        return None
    beside = (root / file).parent / name
    if ".." not in name and (
        beside.is_file()
        or (part_of_file(file) == "python" and (root / "python/src" / name).is_file())
    ):
        return part_of_file(file)
    return ""


def line_of(file, text, match):
    return f"{file}:{text.count(chr(10), 0, match.start()) + 1}"


def check_file(root, file):
    mine = part_of_file(file)
    public = file.startswith("include/")
    if mine is not None and mine not in PARTS:
        yield f"{file}: belongs to no part (parts: {', '.join(PARTS)})"
        return
    text = (root / file).read_text(encoding="utf-8")
    if public:
        for match in DEFINE.finditer(text):
            if not match[1].startswith("BITALE_"):
                yield f"{file}: a public header defines {match[1]}, which is a program's name"
    if public:
        code = COMMENT_OR_TEXT.sub(lambda found: " " * len(found[0]), text)
        for match in PARAMETERS.finditer(code):
            beside = "," in match[2] or "=" in match[2]
            if beside and BOOL_PARAMETER.search(match[2]) and not match[1].startswith("set_"):
                yield (
                    f"{line_of(file, text, match)}: {match[1]} has a bool parameter; make an enumeration or "
                    "a struct of options"
                )
    if public and mine == "core" and file not in (NAMES_ALONE, f"include/{FIRST}"):
        first = INCLUDE.search(text)
        if first is None or first[2] != FIRST:
            yield f"{file}: its first include is not {FIRST}"
    if not file.startswith(STEPS):
        for match in KIND_TEST.finditer(text):
            yield (
                f"{line_of(file, text, match)}: a kind of step is told by get_if or its like; ask by"
                f" as_store, as_add, ... or match (program/steps.hpp)"
            )
    if file.startswith("src/lowering/") and file != COSTS:
        code = COMMENT_OR_TEXT.sub(lambda found: " " * len(found[0]), text)
        for match in NUMBER.finditer(code):
            if match[0] != CONTAINERS.get(file):
                yield f"{line_of(file, text, match)}: a number, {match[0]}, by which the lowering decides is not in {COSTS}"
    for match in INCLUDE.finditer(text):
        name, quoted = match[2], match[1] == '"'
        where = line_of(file, text, match)
        for pattern, what, folders in OUTSIDE:
            if re.match(pattern, name) and not any(file.startswith(folder) for folder in folders):
                yield f"{where}: <{name}>: {what} belongs in {' and '.join(folders)} only"
        for folder, other in APART:
            if file.startswith(folder) and name.startswith(other):
                yield f"{where}: {folder} must not include {other}"
        theirs = part_of_include(root, file, name, quoted)
        if theirs is None:
            continue
        if theirs == "":
            yield f'{where}: "{name}" is found neither in src/, include/ nor next to the file'
        elif file == NAMES_ALONE:
            yield f"{where}: this header has names without definitions, and includes nothing of the library"
        elif public and not name.startswith("bitale/"):
            yield f"{where}: a public header includes the internal {name}"
        elif theirs == "bitale.hpp":
            if mine != "python":
                yield f"{where}: the umbrella header is for users; include the parts that are needed"
        elif mine is not None and theirs != mine:
            allowed = ONLY.get(mine, set(PARTS[: PARTS.index(mine)]))
            if theirs not in allowed:
                yield f"{where}: {mine} must not include {theirs} (allowed: {', '.join(p for p in PARTS if p in allowed)})"


def check(root):
    root = Path(root)
    files = sorted(
        path.relative_to(root).as_posix()
        for top in ("include", "src", "python")
        for path in (root / top).rglob("*")
        if path.suffix in SOURCES
    )
    return files, [complaint for file in files for complaint in check_file(root, file)]


def main():
    files, complaints = check(sys.argv[1] if len(sys.argv) > 1 else ".")
    print(*complaints, sep="\n", end="\n" if complaints else "")
    print(f"layering: {len(files)} files, {len(complaints)} violations")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())

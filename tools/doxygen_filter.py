#!/usr/bin/env python3
"""A public header as Doxygen reads it: comments become documentation, each header is a topic with a page of its own, and
each function has the summary of its one description (python/src/reference, the records of src/ops/scalar and src/stats),
before the comment that the header has for C++.

Usage: doxygen_filter.py HEADER. docs/Doxyfile calls it, in the root of the checkout.
"""

from __future__ import annotations

import functools
import keyword
import re
import sys
from pathlib import Path

root = Path(__file__).resolve().parents[1]


def _literal(text: str) -> str:
    """The value of adjacent string literals of C++."""
    return (
        "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', text)).replace("\\n", "\n").replace('\\"', '"')
    )


@functools.cache
def summaries() -> dict[str, str]:
    """By the name of a function in C++."""
    found = {}
    for file in sorted((root / "src/ops/scalar").glob("*.cpp")):
        for name, doc in re.findall(
            r'\.name = "(\w+)",.*?\.doc =((?:\s*"(?:[^"\\]|\\.)*")+),', file.read_text(), re.S
        ):
            found[name] = _literal(doc).split("\n")[0]
    # Log densities are described by the records of distributions.
    described = (root / "python/src/reference/stats.cpp").read_text()
    quantities = dict(re.findall(r'{"_(log\w+)", "([^"]+)"', described))
    for file in sorted((root / "src/stats").glob("*.cpp")):
        for record in re.findall(r"^DISTRIBUTION\(.*?^}\);", file.read_text(), re.M | re.S):
            title = re.findall(r'\.title = "([^"]+)"', record)[0]
            for name in re.findall(r"LOG_FUNCTION\((\w+)\)", record):
                quantity = quantities[name.rpartition("_")[2]]
                found[name] = f"Logarithm of {quantity} of the {title}."
    # Functions that the reference does not describe have their text in the binding.
    for file in sorted((root / "python/src").glob("*.cpp")):
        text = file.read_text()
        found.update(
            re.findall(
                r'\bbind_\w+\(\s*m,\s*"(\w+)",\s*[\w:]+,\s*documented_\w+\(\s*"([^"]+)"', text
            )
        )
        bound = [
            (each.start(), each[1])
            for each in re.finditer(r'\b(?:define\w*|bind_\w+)\(\s*m,\s*"(\w+)"', text)
        ]
        for each in re.finditer(r'R"\((\w[^\n]+\.)\n\nParameters\n', text):
            before = [name for start, name in bound if start < each.start()]
            if before:
                found[before[-1]] = each[1]
    for file in sorted((root / "python/src/reference").glob("*.cpp")):
        for names, summary in re.findall(r"^= (.+)\n(.+)", file.read_text(), re.M):
            found.update(
                {name: summary.replace("$", name) for name in names.split() if name[0] not in "*"}
            )
    reserved = {"and", "or", "xor", "switch", "complex"} | set(keyword.kwlist)
    return {name: text for name, text in found.items() if "." not in name} | {
        f"{name}_": text for name, text in found.items() if name.rstrip("_") in reserved
    }


_DECLARATION = re.compile(r"(?:[\w:<>, ]+ )(\w+)\(")


def _expanded(text: str) -> str:
    """Lists of functions that a macro X declares, written out."""
    lists = dict(re.findall(r"#define (\w+)\(X\)((?:.*\\\n)*.*)", text))

    def declarations(match: re.Match[str]) -> str:
        return "".join(
            f"{match[1].replace('##', '').replace('name', name, 1)}\n"
            for name in re.findall(r"X\((\w+)\)", lists.get(match[2], ""))
        )

    return re.sub(
        r"#define BITALE_DECLARE\(name\) (.*\bname\(.*;)\n(\w+)\(BITALE_DECLARE\)\n#undef BITALE_DECLARE\n",
        declarations,
        text,
    )


# Of one letter before the name of a constructor: PyTensor's prefixes.
_PREFIXES = {
    "b": "int8",
    "w": "int16",
    "i": "int32",
    "l": "int64",
    "f": "float32",
    "d": "float64",
    "c": "complex64",
    "z": "complex128",
    "": "config.floatX",
}
_CONSTRUCTOR = re.compile(r"([bwilfdcz]?)(scalar|vector|matrix|row|col|tensor\d)(s?)$")


def _constructor(name: str) -> str | None:
    found = _CONSTRUCTOR.match(name.replace("matrices", "matrixs"))
    if not found:
        return None
    kind = re.sub(r"tensor(\d)", r"tensor of \1 dimensions", found[2])
    kind = {"col": "column"}.get(kind, kind)
    what = (
        f"{kind}s".replace("matrixs", "matrices")
        .replace("tensor of", "tensors of")
        .replace("dimensionss", "dimensions")
    )
    return (
        f"Variables for {what} of {_PREFIXES[found[1]]}, one for each name."
        if found[3]
        else f"A variable for a {kind} of {_PREFIXES[found[1]]}."
    )


def _written_out(text: str) -> str:
    """Macros over lists of names, as the declarations that they make: aliases, constructors, classes of errors."""
    lists = {
        name: re.findall(r"\bX\((\w+), (\w+)", items)
        for name, items in re.findall(r"#define (\w+)\(X(?:, \.\.\.)?\)((?:.*\\\n)*.*)", text)
    }

    def aliases(match: re.Match[str]) -> str:
        return "".join(
            f"// The same as {of}.\n{match[1].replace('name', name, 1)};\n"
            for name, of in lists[match[2]]
        )

    def constructors(match: re.Match[str]) -> str:
        several, uses = (
            match[1] == "Variables",
            re.findall(r"(\w+)\(BITALE_DECLARE, (\w?)", match[2]),
        )
        takes = "const std::vector<std::string>& names" if several else "std::string name = {}"
        return "".join(
            f"// {_constructor(prefix + pair[several])}\n{match[1]} {prefix}{pair[several]}({takes});\n"
            for use, prefix in uses
            for pair in lists[use]
        )

    def error(match: re.Match[str]) -> str:
        page = root / "docs/errors" / f"{match[1]}.md"
        said = re.search(r"^`.*?\. (.*)", page.read_text(), re.M) if page.exists() else None
        text = said[1] if said else match[3] or f"An error of kind {match[2]}."
        return f"// {text}\nclass {match[1]} : public {match[2]} {{}};\n"

    text = re.sub(
        r"#define BITALE_DECLARE\(name, function\) \\\n  (.*\)) \{.*\}\n(\w+)\(BITALE_DECLARE\)\n#undef BITALE_DECLARE\n",
        aliases,
        text,
    )
    text = re.sub(
        r"#define BITALE_DECLARE\(kind, kinds, prefix.*?\\\n  inline (Variables?) (?:.*\\\n)*.*\}\n((?:\w+\(BITALE_DECLARE.*\)\n)+)#undef BITALE_DECLARE\n",
        constructors,
        text,
    )
    return re.sub(r"^BITALE_ERROR\((\w+), (\w+)\)(?: *// (.*))?\n", error, text, flags=re.M)


def _summary_of(line: str) -> str | None:
    found = _DECLARATION.match(line)
    is_declaration = found and not line.startswith(
        ("//", "return", " ", "#", "using", "typedef", "template")
    )
    if not found or not is_declaration:
        return None
    return summaries().get(found[1]) or _constructor(found[1])


def filtered(text: str) -> str:
    text = _written_out(text)
    if not re.search(
        r"^(#define BITALE_DECLARE\(name\) )?(Variables?|std::\w+<.*>) \w+\(", text, re.M
    ):
        return _documented(text)
    lines = [line for line in _expanded(text).split("\n") if not line.startswith("// clang-format")]
    out: list[str] = []
    for line in lines:
        if (summary := _summary_of(line)) and f"// {summary}" not in out[-1:]:
            first = len(out)
            while first > 0 and out[first - 1].startswith("//"):
                first -= 1
            has_comment = first < len(out)
            out[first:first] = [f"// {summary}", *(["//"] if has_comment else [])]
        out.append(line)
    return _documented("\n".join(out))


# Of each folder of include/bitale: a title, in the order in which a newcomer needs them.
FOLDERS = {
    "ops": "Functions of tensors",
    "autodiff": "Derivatives",
    "optimizers": "Optimisers",
    "compile": "Compiled functions",
    "core": "Arrays, dtypes, errors",
    "stats": "Densities and transforms",
    "sparse": "Sparse matrices",
    "xtensor": "Dimensions with names",
    "integrate": "Differential equations",
    "printing": "Texts and pictures of graphs",
    "graph": "Graphs, ops and types",
    "rewriting": "Rewriting",
    "link": "Linkers",
    "program": "Inside: expressions of loops",
    "runtime": "Inside: functions that compiled code calls",
}


def topic(text: str, folder: str, name: str) -> str:
    """The header as a topic of its folder: what it declares is on the topic's page. The comment at its top gives the title,
    which ends at the first mark of punctuation, and the description."""
    if name == "bitale":  # the header of all headers
        folders = (f"/// @defgroup folder_{key} {title}\n\n" for key, title in FOLDERS.items())
        return "".join(folders) + text
    comment = re.match(r"((?://.*\n)+)", text)
    if not comment or folder not in FOLDERS:
        return text
    described = re.sub(r"^// ?", "", comment[1], flags=re.M).strip()
    title = re.split(r"[:.,;](?:\s|$)", re.sub(r"\s+", " ", described))[0]
    page = "".join(f"/// {line}\n" for line in described.split("\n"))
    # A header that begins with the name of its class describes the class.
    text = re.sub(
        rf"(?<=\n\n)(?=(?:class|struct)(?: \[\[\w+\]\])? {re.escape(title)}\b.*\{{)",
        page,
        text,
        count=1,
    )
    above = f"/// @defgroup {folder}_{name} {title}\n/// @ingroup folder_{folder}\n{page}\n"
    # The outermost blocks of the namespace; what is within them belongs to the topic, too.
    out: list[str] = []
    opened: list[str] = []
    lines = text[comment.end() :].split("\n")
    for line, last in zip(lines, [*lines[2:], "", ""], strict=True):
        # (A block of one line declares a class of another header.)
        if re.match(r"namespace bitale[\w:]* \{$", line) and last != "}":
            opened.append(line)
            out += (
                [line, f"/// @addtogroup {folder}_{name}", "/// @{", ""]
                if len(opened) == 1
                else [line]
            )
        elif re.match(r"\}  // namespace ", line) and opened:
            opened.pop()
            out += [line] if opened else ["/// @}", line]
        else:
            out.append(line)
    return above + "\n".join(out)


def _documented(text: str) -> str:
    """With the comments before declarations, and behind members, as documentation."""
    text = re.sub(r"^(\s*)//(?![/!])", r"\1///", text, flags=re.M)
    return re.sub(r"([;,}])(\s+)// ", r"\1\2///< ", text)


if __name__ == "__main__":
    path = Path(sys.argv[1])
    text = path.read_text()
    if path.suffix == ".hpp":
        text = filtered(topic(text, path.parent.name, path.stem))
    print(text, end="")

#!/usr/bin/env python3
"""Checks the boundary between the extension module and the package's Python files: the extension module imports no module
of the package by name, and the modules of the package do not import each other in circles. Imports inside functions count.
Classes of values made of several tensors are named in their own files alone: everything else walks trees.

Usage: python_check.py CHECKOUT
"""

import ast
import re
import sys
from pathlib import Path

BY_NAME = re.compile(r'import_\("(bitale(?:\.[\w.]+)?)"\)|"(bitale\.[a-z][\w.]*)"')
OWN = {"bitale._core", "bitale.tensor"}  # itself, and the text of __module__

# Sparse and labelled values, and what tells them from others; and the files that may name these: their own, the converters of
# PyTensor's ops, the table of what is found by name, and descriptions of results.
CLASSES_OF_TREES = re.compile(
    r"(?<![\w`])(Sparse[A-Z]\w*|XTensor[A-Z]\w*|XVariables?|sparse::\w+|xtensor::\w+|matrix_in|labelled_in|as_labelled|"
    r"is_data_array|is_scipy|issparse|DataArray)\b"
)
OF_TREES = re.compile(
    r"python/bitale/(sparse|xtensor|pytensor)/|python/src/(sparse|xtensor|labelled)\w*\.[ch]pp|"
    r"python/bitale/_(hooks|absent)\.py|python/src/reference/"
)


def names_of_trees(root):
    paths = [
        *(root / "python" / "src").rglob("*.[ch]pp"),
        *(root / "python" / "bitale").rglob("*.py"),
    ]
    for path in sorted(paths):
        where = path.relative_to(root).as_posix()
        if OF_TREES.match(where):
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for match in CLASSES_OF_TREES.finditer(line):
                yield f"{where}:{number}: names the class {match[1]}; walk the tree instead (tree.hpp, bitale.tree)"


def names_in_extension(root):
    for path in sorted((root / "python" / "src").glob("*.[ch]pp")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for match in BY_NAME.finditer(line.split("//")[0]):
                imported, text = match.groups()
                if (imported or text) not in OWN or imported == "bitale.tensor":
                    where = path.relative_to(root).as_posix()
                    yield f"{where}:{number}: names the Python module {imported or text}; add a hook instead (hooks.hpp)"


def modules_of(package):
    """Files by module name."""
    out = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        out[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return out


def is_for_type_checkers(node):
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def imported_modules(tree, modules):
    """The modules of the package that a module names in its imports and in calls of `import_module`. That Python runs the
    packages around them first is not counted: a package's __init__ only collects what its modules define."""
    pending = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for each in node.names:
                inner = f"{node.module}.{each.name}"
                if inner in modules:
                    yield inner
                elif node.module in modules and inner != "bitale._core":
                    yield node.module
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            yield from (
                each.value
                for each in node.args
                if isinstance(each, ast.Constant) and each.value in modules
            )
        pending += node.orelse if is_for_type_checkers(node) else list(ast.iter_child_nodes(node))


def circles(graph):
    """The strongly connected components with more than one module, by Kosaraju's algorithm."""
    order, seen = [], set()
    for start in graph:
        stack = [(start, iter(sorted(graph[start])))] if start not in seen else []
        seen.add(start)
        while stack:
            module, following = stack[-1]
            after = next((each for each in following if each not in seen), None)
            if after is None:
                order.append(module)
                stack.pop()
            else:
                seen.add(after)
                stack.append((after, iter(sorted(graph[after]))))
    reverse = {module: {other for other in graph if module in graph[other]} for module in graph}
    assigned = set()
    for start in reversed(order):
        if start in assigned:
            continue
        component, pending = set(), [start]
        while pending:
            module = pending.pop()
            if module not in assigned:
                assigned.add(module)
                component.add(module)
                pending += reverse[module]
        if len(component) > 1:
            yield sorted(component)


def check(root):
    root = Path(root)
    modules = modules_of(root / "python" / "bitale")
    graph = {}
    for module, path in modules.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        graph[module] = set(imported_modules(tree, modules)) - {module}
    complaints = [*names_in_extension(root), *names_of_trees(root)]
    for component in circles(graph):
        inside = [f"{a} -> {b}" for a in component for b in sorted(graph[a] & set(component))]
        complaints.append(f"Python modules import each other in a circle: {', '.join(inside)}")
    return complaints


def main():
    complaints = check(sys.argv[1] if len(sys.argv) > 1 else ".")
    print(*complaints, sep="\n", end="\n" if complaints else "")
    print(f"Python layering: {len(complaints)} violations")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())

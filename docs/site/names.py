"""What the reference describes: the public functions and classes of the modules, each once, with all names by which it is
public. It needs nothing but the library, so that the tests can compare it with what the library has."""

from __future__ import annotations

import importlib
import inspect
import pathlib
import sys
from dataclasses import dataclass
from typing import Any

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / "tools")]

from api_subjects import SECTIONS

# The modules of the reference, and the titles of what tools/api_subjects.py has in none of its sections. Of equal objects in
# several modules the first has the page.
MODULES = {
    "bitale": "Classes and errors",
    "bitale.tensor": "Constructors and types of variables",
    "bitale.tensor.linalg": "More linear algebra",
    "bitale.tensor.special": "More special functions",
    "bitale.tensor.fft": "More Fourier transforms",
    "bitale.tensor.signal": "More signals",
    "bitale.tensor.optimize": "More optimisation",
    "bitale.tensor.random": "Types of generators",
    "bitale.random": "Random generators",
    "bitale.stats": "Log densities",
    "bitale.stats.transforms": "Transforms of constrained variables",
    "bitale.tree": "Trees",
    "bitale.functional": "Classes of functions of functions",
    "bitale.integrate": "Differential equations",
    "bitale.optimizers": "Classes of optimisers",
    "bitale.sparse": "Sparse matrices",
    "bitale.sparse.linalg": "Sparse linear algebra",
    "bitale.xtensor": "Labelled dimensions",
    "bitale.gradient": "More about gradients",
    "bitale.scan": "More loops",
    "bitale.ifelse": "More choices",
    "bitale.compile": "Compilation and modes",
    "bitale.link": "Linkers",
    "bitale.graph": "Graphs",
    "bitale.graph.traversal": "Traversal of graphs",
    "bitale.graph.features": "Features of graphs",
    "bitale.rewrite": "Rewriting",
    "bitale.assumptions": "Assumptions",
    "bitale.printing": "Printing and pictures",
    "bitale.profile": "Profiles",
    "bitale.checkpoint": "Checkpoints",
    "bitale.datasets": "Tables of data",
    "bitale.breakpoint": "Breakpoints",
    "bitale.raise_op": "Checks at run time",
    "bitale.typed_list": "Typed lists",
    "bitale.jax": "JAX and XLA",
    "bitale.array_api": "The array-API standard",
}

# Modules whose names share a page: the functions of tensors once more, for labelled tensors; classes of ops; and what
# programs for PyTensor import.
LISTED = {
    "bitale.xtensor.math": "Elementwise functions of labelled tensors",
    "bitale.xtensor.reduction": "Reductions of labelled tensors",
    "bitale.xtensor.shape": "Shapes of labelled tensors",
    "bitale.xtensor.selection": "Selecting from labelled tensors",
    "bitale.xtensor.windows": "Groups and windows of labelled tensors",
    "bitale.xtensor.linalg": "Linear algebra of labelled tensors",
    "bitale.xtensor.signal": "Signals with labels",
    "bitale.xtensor.random": "Labelled random variables",
    "bitale.xtensor.stats": "Densities of labelled values",
    "bitale.array_api.fft": "The array-API standard: Fourier transforms",
    "bitale.array_api.linalg": "The array-API standard: linear algebra",
    "bitale.configparser": "Your own flags",
    "bitale.configuration": "The class of bitale.config",
    "bitale.scalar": "Scalar operations",
    "bitale.sparse.utils": "Helpers for sparse matrices",
    "bitale.tensor.op_classes": "Classes of ops",
    "bitale.tensor.formula_classes": "Classes of ops that are formulas",
    "bitale.tensor.random.classes": "Classes of random variables",
    "bitale.tensor.random.custom": "Your own random variables",
    "bitale.tensor.random.utils": "Shapes of draws",
    "bitale.tensor.symbolic": "Ops that are formulas of tensors",
    "bitale.tensor.type_other": "Slices and None in graphs",
    "bitale.tensor.blas": "Products of BLAS",
    "bitale.tensor.index_lists": "Lists of indices",
    "bitale.tensor.pytensor_functions": "More functions of PyTensor",
    "bitale.tensor.utils": "Helpers for tensors",
    "bitale.graph.basic": "More about graphs",
    "bitale.graph.fg": "Graphs that change",
    "bitale.graph.op": "More about ops",
    "bitale.graph.type": "More about types",
    "bitale.graph.tag": "Notes on variables",
    "bitale.graph.utils": "Helpers for graphs",
    "bitale.graph.rewriting.basic": "Rewriters by PyTensor's names",
    "bitale.graph.rewriting.db": "Databases of rewriters",
    "bitale.graph.rewriting.reachability": "What rewriters reach",
    "bitale.graph.rewriting.unify": "Unification of expressions",
    "bitale.graph.rewriting.utils": "Helpers for rewriting",
    "bitale.tensor.rewriting.basic": "Registering rewriters",
    "bitale.compile.rewriters": "Rewriters of the pipeline",
    "bitale.link.utils": "Helpers for linkers",
    "bitale.scan.classes": "The class of loops",
    "bitale.scan.utils": "Helpers for loops",
    "bitale.scan.args": "Parts of loops by their roles",
    "bitale.tensor.printers": "Printers of ops of tensors",
    "bitale.compile.builders": "Builders of ops",
    "bitale.compile.ops": "Ops that give their input back",
    "bitale.compile.function": "Registering compilers",
    "bitale.compile.rebuild": "Rebuilding inputs",
    "bitale.compile.sharedvalue": "Shared values",
    "bitale.compile.debug.nanguardmode": "Finding nan",
    "bitale.d3viz": "Pictures as pages",
    "bitale.tensor.xlogx": "Products with logarithms",
    "bitale.typing": "Types of functions for type checkers",
    "bitale.utils": "Helpers of PyTensor's",
    "bitale.npy_2_compat": "NumPy before version 2",
    "bitale.misc.pkl_utils": "Pickles of graphs",
}

# Modules that programs have no reason to import: parts of the command line and of the modules above.
INTERNAL = (
    r"bitale\.cli(\.\w+)?|bitale\.jax\.(linker|primitive|processes|sharding)|bitale\.graph\.(python_op|storing)|bitale\.link\.compiled|bitale\.scalar\.user_ops|"
    r"bitale\.sparse\.(tree|variable)|bitale\.tensor\.random\.(documentation|generators|state)|"
    r"bitale\.xtensor\.(tree|type|variable)"
)


@dataclass
class Entry:
    """A function or class, and all names by which it is public."""

    value: Any
    names: list[str]
    subject: str

    @property
    def page(self) -> str:
        return self.names[0]

    @property
    def module(self) -> str:
        return self.names[0].rpartition(".")[0]


def is_public(module: Any, name: str, value: Any) -> bool:
    own = str(getattr(value, "__module__", "")).startswith("bitale")
    if name[0] == "_" or not own or not (inspect.isclass(value) or inspect.isroutine(value)):
        return False
    return bool(inspect.getdoc(value))


def _sections() -> dict[int, str]:
    """By the identity of a function: the title of its section."""
    found: dict[int, str] = {}
    for section in SECTIONS:
        module = importlib.import_module(f"bitale.{section.module}".rstrip("."))
        for name in section.names:
            found.setdefault(id(getattr(module, name)), section.title)
    return found


def public_names(module: Any) -> list[str]:
    return [
        each
        for each in getattr(module, "__all__", None) or dir(module)
        if is_public(module, each, getattr(module, each))
    ]


def entries() -> list[Entry]:
    sections = _sections()
    found: dict[int, Entry] = {}
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        # The function's own name first, then its aliases.
        for name in sorted(
            public_names(module),
            key=lambda each: (getattr(getattr(module, each), "__name__", "") != each, each),
        ):
            value = getattr(module, name)
            full = f"{module_name}.{name}"
            if id(value) not in found:
                found[id(value)] = Entry(
                    value, [full], sections.get(id(value), MODULES[module_name])
                )
            elif module_name == found[id(value)].module:
                found[id(value)].names.append(full)
    return list(found.values())


def listed() -> dict[str, list[Entry]]:
    """By module: what it has that no other has a page of."""
    known = {id(entry.value) for entry in entries()}
    out: dict[str, list[Entry]] = {}
    for module_name, title in LISTED.items():
        module = importlib.import_module(module_name)
        found: dict[int, Entry] = {}
        for name in sorted(public_names(module), key=str.lower):
            value = getattr(module, name)
            if id(value) not in known:
                found.setdefault(id(value), Entry(value, [], title)).names.append(
                    f"{module_name}.{name}"
                )
        known |= found.keys()
        out[module_name] = list(found.values())
    return out

"""Where PyTensor keeps its names: modules that have no file, and find the names of others, so that imports written for PyTensor
work: `from bitale.tensor.elemwise import Elemwise`. The table says which modules there are, and where their names are."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

_TENSORS = (
    "tensor.op_classes",
    "tensor.formula_classes",
    "tensor.pytensor_functions",
    "tensor.index_lists",
    "tensor",
)

# Module: (what it has in PyTensor, the modules whose names it finds).
MODULES: dict[str, tuple[str, tuple[str, ...]]] = {
    "compile.aliasing": ("functions' use of memory", ("compile",)),
    "compile.debug.debugmode": ("DebugMode and what it finds", ("compile.debugmode",)),
    "compile.debug.monitormode": ("MonitorMode", ("compile.monitor",)),
    "compile.debug.profiling": ("profiles of functions", ("profile",)),
    "compile.inner_function": ("functions of ops", ("compile",)),
    "compile.executor": ("compiled functions", ("compile.function", "compile")),
    "conditional": ("choices of which only one side is computed", ("ifelse",)),
    "conditional.op": ("choices of which only one side is computed", ("ifelse",)),
    "graph.destroyhandler": (
        "checks of ops that write over inputs",
        ("graph.features", "graph.utils"),
    ),
    "scalar.basic": ("functions, types and classes of ops of scalars", ("scalar",)),
    "scalar.loop": ("loops of scalars", ("scalar",)),
    "scalar.math": ("functions, types and classes of ops of scalars", ("scalar",)),
    "scalar.sharedvar": ("shared variables", ("compile.sharedvalue",)),
    "scan.basic": ("loops", ("scan",)),
    "scan.checkpoints": ("loops that keep some of their steps", ("scan",)),
    "scan.op": ("loops", ("scan.classes", "scan")),
    "scan.views": ("loops", ("scan",)),
    "sparse.sharedvar": ("shared sparse matrices", ("sparse.variable", "sparse.basic")),
    "tensor.basic": (
        "some names of bitale.tensor",
        (*_TENSORS, "tensor.rewriting.basic", "tensor.printers"),
    ),
    "tensor.blas.batched": ("products of matrices", ("tensor.blas", *_TENSORS)),
    "tensor.blas.gemm": ("products of matrices", ("tensor.blas", *_TENSORS)),
    "tensor.blas.gemv": ("products of matrices", ("tensor.blas", *_TENSORS)),
    "tensor.blockwise": ("functions of tensors and classes of ops", _TENSORS),
    "tensor.einsum": ("some names of bitale.tensor", _TENSORS),
    "tensor.elemwise": ("some names of bitale.tensor", (*_TENSORS, "tensor.printers")),
    "tensor.exceptions": ("exceptions of tensors", ("tensor", "tensor.pytensor_functions")),
    "tensor.fourier": ("Fourier transforms", ("tensor.fft",)),
    "tensor.functional": ("functions of tensors and classes of ops", _TENSORS),
    "tensor.linalg.constructors": (
        "matrices made of others",
        ("tensor.linalg", "tensor.linalg_classes", "tensor"),
    ),
    "tensor.linalg.decomposition": (
        "decompositions",
        ("tensor.linalg", "tensor.linalg_classes", "tensor"),
    ),
    "tensor.linalg.decomposition.cholesky": (
        "decompositions",
        ("tensor.linalg", "tensor.linalg_classes", "tensor"),
    ),
    "tensor.linalg.decomposition.eigen": (
        "decompositions",
        ("tensor.linalg", "tensor.linalg_classes", "tensor"),
    ),
    "tensor.linalg.decomposition.lu": (
        "decompositions",
        ("tensor.linalg", "tensor.linalg_classes", "tensor"),
    ),
    "tensor.linalg.decomposition.qr": (
        "decompositions",
        ("tensor.linalg", "tensor.linalg_classes", "tensor"),
    ),
    "tensor.linalg.decomposition.schur": (
        "decompositions",
        ("tensor.linalg", "tensor.linalg_classes", "tensor"),
    ),
    "tensor.linalg.decomposition.svd": (
        "decompositions",
        ("tensor.linalg", "tensor.linalg_classes", "tensor"),
    ),
    "tensor.linalg.inverse": ("inverses", ("tensor.linalg", "tensor.linalg_classes", "tensor")),
    "tensor.linalg.products": (
        "products and powers of matrices",
        ("tensor.linalg", "tensor.linalg_classes", "tensor"),
    ),
    "tensor.linalg.solvers": (
        "systems of equations",
        ("tensor.linalg", "tensor.linalg_classes", "tensor"),
    ),
    "tensor.linalg.solvers.core": (
        "systems of equations",
        ("tensor.linalg", "tensor.linalg_classes", "tensor"),
    ),
    "tensor.linalg.solvers.general": (
        "systems of equations",
        ("tensor.linalg", "tensor.linalg_classes", "tensor"),
    ),
    "tensor.linalg.solvers.linear_control": (
        "systems of equations",
        ("tensor.linalg", "tensor.linalg_classes", "tensor"),
    ),
    "tensor.linalg.solvers.lstsq": (
        "systems of equations",
        ("tensor.linalg", "tensor.linalg_classes", "tensor"),
    ),
    "tensor.linalg.solvers.psd": (
        "systems of equations",
        ("tensor.linalg", "tensor.linalg_classes", "tensor"),
    ),
    "tensor.linalg.solvers.triangular": (
        "systems of equations",
        ("tensor.linalg", "tensor.linalg_classes", "tensor"),
    ),
    "tensor.linalg.solvers.tridiagonal": (
        "systems of equations",
        ("tensor.linalg", "tensor.linalg_classes", "tensor"),
    ),
    "tensor.linalg.summary": (
        "determinants, norms and traces",
        ("tensor.linalg", "tensor.linalg_classes", "tensor"),
    ),
    "tensor.math": ("some names of bitale.tensor", _TENSORS),
    "tensor.nlinalg": (
        "functions of matrices",
        ("tensor.linalg", "tensor.linalg_classes", "tensor"),
    ),
    "tensor.pad": ("some names of bitale.tensor", _TENSORS),
    "tensor.random.op": (
        "generators, streams of draws and their types",
        ("tensor.random.custom", "tensor.random", "tensor.random.classes"),
    ),
    "tensor.random.type": (
        "generators, streams of draws and their types",
        ("tensor.random", "tensor.random.classes"),
    ),
    "tensor.reshape": ("some names of bitale.tensor", _TENSORS),
    **{
        f"tensor.rewriting.{name}": ("rewriting", ("tensor.rewriting.basic",))
        for name in "blockwise elemwise linalg math shape special subtensor uncanonicalize".split()
    },
    "tensor.shape": ("some names of bitale.tensor", _TENSORS),
    "tensor.signal.conv": ("convolutions", ("tensor.signal", "tensor")),
    "tensor.slinalg": (
        "functions of matrices",
        ("tensor.linalg", "tensor.linalg_classes", "tensor"),
    ),
    "tensor.sort": ("some names of bitale.tensor", _TENSORS),
    "tensor.subtensor": ("some names of bitale.tensor", (*_TENSORS, "tensor.printers")),
    "tensor.var": ("tensor variables", ("tensor.variable", "tensor", "tensor.pytensor_functions")),
    # Of Bitale 0.1, in whose pickles they are named.
    "scalar.own": ("scalar functions written in Python", ("scalar.user_ops",)),
    "xtensor.basic": ("labelled tensors and tensors", ("xtensor.type", "xtensor.shape")),
    "xtensor.vectorization": ("batches of labelled expressions", ("xtensor.windows",)),
    "tensor.unexported": (
        "names that bitale.tensor does not export",
        ("tensor.pytensor_functions",),
    ),
}


def _has(home: ModuleType, name: str) -> bool:
    names = getattr(home, "__all__", None)
    if not hasattr(home, name) or is_absent(getattr(home, name)):
        return False
    return names is None or name in names or isinstance(vars(home).get(name), type)


def is_absent(value: Any) -> bool:
    """Whether a value stands for a name that is not here."""
    table = sys.modules.get("bitale._absent")
    return table is not None and isinstance(value, table.Absent)


def absent(module: str) -> Callable[[str], Any]:
    """Return a module's `__getattr__`, which finds the names of PyTensor's that mean nothing here."""

    def found(name: str) -> Any:
        return importlib.import_module("bitale._absent").find(module, name)

    return found


def finder(module: str, *homes: str) -> Callable[[str], Any]:
    """Return a module's `__getattr__`, which finds the names of other modules of the package.

    homes: those modules; by default the ones of tensors.
    """

    def found(name: str) -> Any:
        if not name.startswith("_"):
            for home in homes or _TENSORS:
                other = importlib.import_module(f"bitale.{home}")
                if home == "tensor":
                    value = vars(other).get(name, other)
                    if not isinstance(value, ModuleType):
                        return value
                elif _has(other, name):
                    return getattr(other, name)
        return absent(module)(name)

    return found


def add_modules(package: str) -> None:
    """Add the modules of the table that are directly in a package, which calls this at the end of its own file.

    A name that the package has already stays: `bitale.tensor.pad` is a function, and `from bitale.tensor.pad import pad` works.
    """
    for name, (what, homes) in MODULES.items():
        full = f"bitale.{name}"
        parent, _, own = full.rpartition(".")
        if parent != package or full in sys.modules:
            continue
        module = ModuleType(full, f"PyTensor's module of {what}.")
        is_package = any(other.startswith(name + ".") for other in MODULES)
        module.__spec__ = ModuleSpec(full, None, is_package=is_package)
        module.__package__ = full if is_package else parent
        if is_package:
            module.__path__ = []
        setattr(module, "__getattr__", finder(full, *homes))
        sys.modules[full] = module
        if own not in vars(sys.modules[package]):
            setattr(sys.modules[package], own, module)
        if is_package:
            add_modules(full)

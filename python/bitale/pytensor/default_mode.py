"""BITALE as PyTensor's default mode, and what PyTensor would compile by itself on the way to a function of Bitale.

``pytensor.config.mode = "BITALE"`` is accepted, as the names of PyTensor's own modes are. Two more things change, both only for graphs and
processes that asked for Bitale: ops that are graphs are not folded by PyTensor where Bitale compiles the graph around them, and as long as
BITALE is the default mode, PyTensor's Python linkers, which FAST_COMPILE uses, call no C compiler.
"""

from __future__ import annotations

import contextlib
import sys
from typing import Any, Iterator

import pytensor
from pytensor.compile.mode import get_mode
from pytensor.link.vm import VMLinker
from pytensor.scan.op import Scan

from bitale.pytensor.linker import BITALE, BitaleLinker


def is_bitale(mode: Any) -> bool:
    """Whether this mode, or name of a mode, compiles by Bitale. None is the default mode."""
    try:
        return isinstance(get_mode(mode).linker, BitaleLinker)
    except (AttributeError, ValueError):  # no mode: whoever is given it says so
        return False


def accept_name() -> None:
    """Has ``pytensor.config.mode`` accept the name BITALE. PyTensor's list of names is closed, but an instance of Mode passes."""
    parameter = pytensor.config._config_var_dict["mode"]
    accepted = parameter._apply

    def apply(value: Any) -> Any:
        return BITALE if isinstance(value, str) and value.upper() == "BITALE" else accepted(value)

    parameter._apply = apply


def keep_inner_graphs_from_the_c_compiler() -> None:
    """PyTensor evaluates an op that is a graph, such as a Softmax of constants, by a function of its own, for which its Python linker, too,
    calls the C compiler."""
    try:
        from pytensor.compile.inner_function import HasInnerFunction, link_only_mode
    except ImportError:  # PyTensor 2 compiles these functions in the default mode
        return
    own = HasInnerFunction.link_mode

    def do_constant_folding(self: Any, fgraph: Any, node: Any) -> bool:
        mode = getattr(fgraph, "_compile_mode", None)
        return mode is None or not isinstance(mode.linker, BitaleLinker)

    def link_mode(self: Any, impl: str | None) -> Any:
        if not is_bitale(None):
            return own(self, impl)
        # "py": evaluated once. Scans may accumulate in preallocated memory, which only PyTensor's own machine does.
        python = impl == "py" or isinstance(self, Scan)
        return link_only_mode(
            VMLinker(use_cloop=False, c_thunks=False) if python else BitaleLinker()
        )

    HasInnerFunction.do_constant_folding = do_constant_folding
    HasInnerFunction.link_mode = link_mode


def keep_virtual_machines_from_the_c_compiler() -> None:
    """PyTensor's virtual machine in Python imports that in C, too, which is compiled then."""
    own = VMLinker.make_vm

    def make_vm(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self.use_cloop or not is_bitale(None):
            return own(self, *args, **kwargs)
        with _not_importable("pytensor.link.c.cvm"):
            return own(self, *args, **kwargs)

    VMLinker.make_vm = make_vm


@contextlib.contextmanager
def _not_importable(module: str) -> Iterator[None]:
    """For a moment, the import of a module that has not been imported is an ImportError."""
    if module in sys.modules:
        yield
        return
    sys.modules[module] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        sys.modules.pop(module, None)


def set_default() -> None:
    pytensor.config.mode = BITALE

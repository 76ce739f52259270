"""Linkers: how a compiled graph is run, and functions of one's own around each of its nodes."""

from __future__ import annotations

import functools
from typing import Any, Callable, Sequence

from bitale import _core
from bitale._core import DualLinkerError, Linker, NodeThunk, linker_names

__all__ = [
    "DualLinker",
    "DualLinkerError",
    "Linker",
    "NodeThunk",
    "OpWiseCLinker",
    "PerformLinker",
    "VMLinker",
    "WrapLinker",
    "WrapLinkerMany",
    "linker_names",
]


def _name(linker: str | Linker) -> str:
    return linker.name if isinstance(linker, Linker) else linker


class PerformLinker(Linker):
    """Runs each op's perform; another name of VMLinker()."""

    def __init__(self, allow_gc: bool | None = None):
        super().__init__("vm", allow_gc=allow_gc)


class OpWiseCLinker(Linker):
    """Native code for each node where there is some, and the op's perform elsewhere (PyTensor's "c|py")."""

    def __init__(self, allow_gc: bool | None = None):
        super().__init__("opwise", allow_gc=allow_gc)


class WrapLinker(Linker):
    """Runs node by node, each as the wrapper says (PyTensor's pytensor.link.basic.WrapLinker).

    wrapper(fgraph, i, node, *thunks) is called instead of running node, the i-th; thunks[k]() runs it by linkers[k], and
    thunks[k].inputs and .outputs are lists of [value]. The call goes on with what thunks[0] has computed: ValueError if
    the wrapper has not run it. linkers: names or Linkers, of which each runs the nodes one by one.
    """

    def __init__(self, linkers: Sequence[str | Linker], wrapper: Callable[..., Any]):
        if isinstance(linkers, (str, Linker)) or not linkers:
            raise ValueError(f"WrapLinker: expected a list of one linker or more, got {linkers!r}")
        super().__init__("wrap", [_name(linker) for linker in linkers], wrapper)


class WrapLinkerMany(WrapLinker):
    """WrapLinker with several wrappers, each called with the same arguments, one after the other."""

    def __init__(self, linkers: Sequence[str | Linker], wrappers: Sequence[Callable[..., Any]]):
        super().__init__(linkers, functools.partial(_call_all, list(wrappers)))


def _call_all(wrappers: list[Callable[..., Any]], *arguments: Any) -> None:
    for wrapper in wrappers:
        wrapper(*arguments)


def _run_and_notify(
    callback: Callable[..., Any], fgraph: Any, i: int, node: Any, thunk: NodeThunk
) -> None:
    thunk()
    storage_map = dict(zip([*node.inputs, *node.outputs], [*thunk.inputs, *thunk.outputs]))
    compute_map = {variable: [True] for variable in storage_map}
    callback(node=node, thunk=thunk, storage_map=storage_map, compute_map=compute_map)


class VMLinker(Linker):
    """The virtual machine, which runs each op's perform (PyTensor's pytensor.link.vm.VMLinker).

    allow_gc: let go of a value as soon as no node needs it; default: config.allow_gc. callback(node=, thunk=,
    storage_map=, compute_map=) is called after each node, with maps of the node's own inputs and outputs;
    callback_input(variable, value) with each input and constant before the first node. c_thunks: native code for nodes
    where there is some, as in OpWiseCLinker. use_cloop and allow_partial_eval are accepted: it always evaluates as little
    as it can. NotImplementedError for lazy=False and for a schedule.
    """

    def __init__(
        self,
        allow_gc: bool | None = None,
        use_cloop: bool = False,
        callback: Callable[..., Any] | None = None,
        callback_input: Callable[..., Any] | None = None,
        lazy: bool | None = None,
        schedule: Any = None,
        c_thunks: bool | None = None,
        allow_partial_eval: bool | None = None,
    ):
        if lazy is False or schedule is not None:
            raise NotImplementedError(f"VMLinker: {'lazy=False' if lazy is False else 'schedule'}")
        wrapper = None if callback is None else functools.partial(_run_and_notify, callback)
        super().__init__("vm", ["opwise" if c_thunks else "vm"], wrapper, callback_input, allow_gc)


def DualLinker(
    first: str | Linker = "vm",
    second: str | Linker = "jit",
    checker: Callable[[Any, Any], bool] | None = None,
) -> Linker:
    """Both linkers run every node on the inputs that the first has computed (PyTensor's DualLinker).

    The first node whose results differ raises a DualLinkerError that shows the node, its inputs and both values.
    checker(a, b): whether two values may pass for the same; by default integers and truths are to be equal, floats up to
    1e-9 (float32: 1e-4) of themselves and of the largest input.
    """
    return _core.make_dual_linker(_name(first), _name(second), checker)


def stored_nan_guard(*options: Any) -> Linker:
    """NanGuardMode's linker that pickle has stored."""
    return _core.make_nan_guard_linker(*options)


from bitale import _geography as _geography

_geography.add_modules(__name__)

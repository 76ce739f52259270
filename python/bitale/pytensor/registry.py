"""Which function converts which class of PyTensor's ops. Users add their own by the decorator `converts`."""

from __future__ import annotations

import dataclasses
import importlib
import threading
from typing import Any, Callable

# (conversion, op, node, *inputs) -> the node's outputs: one Bitale variable, or several
Converter = Callable[..., Any]

_lock = threading.Lock()
_converters: dict[type, Converter] = {}
_batched: dict[type, Converter] = {}
_later: dict[str, str] = {}


class NotConverted(Exception):
    """Raised by a converter for a node that it can't express; the node then runs its own `perform`."""


@dataclasses.dataclass(frozen=True)
class Misdeclared:
    """Returned by a converter for an output whose PyTensor type is wrong: nothing stands for it, but the node's other outputs may be used."""

    reason: str


def converts(*classes: type, batched: bool = False) -> Callable[[Converter], Converter]:
    """Registers a function that expresses a PyTensor node in Bitale's terms, for these classes of ops and their subclasses.

    The function is called as ``convert(op, node, *inputs)``. ``op`` and ``node`` are PyTensor's,
    ``inputs`` are Bitale variables (None stands for PyTensor's NoneConst). It returns a variable
    for each output of the node: one, or a list of them. If it raises `NotConverted`, or if Bitale
    refuses what it builds (a TypeError, ValueError or NotImplementedError), the node becomes a host
    callback. Compiling raises TypeError if the function returns anything else. With
    ``batched=True`` the function also stands for a ``Blockwise`` of the op: leading dimensions of
    its inputs are batches, which it broadcasts itself. TypeError for anything that is not a class.
    """
    for cls in classes:
        if not isinstance(cls, type):
            raise TypeError(f"converts: expected classes of PyTensor ops, got {cls!r}")

    def register(convert: Converter) -> Converter:
        with _lock:
            for cls in classes:
                _converters[cls] = convert
                _batched.pop(cls, None)
                if batched:
                    _batched[cls] = convert
        return convert

    return register


def forwards(function: Callable[..., Any], *attributes: str, **fixed: Any) -> Converter:
    """A converter that calls a function with the node's inputs, and with these attributes of the op by their names."""

    def convert(op: Any, node: Any, *inputs: Any) -> Any:
        return function(*inputs, **{name: getattr(op, name) for name in attributes}, **fixed)

    return convert


def converts_later(package: str, module: str) -> None:
    """Imports a module that registers converters when a graph first has an op of a package: that module imports the package."""
    _later[package] = module


def converter_of(op: Any) -> Converter | None:
    """The converter of the op's class, or of the nearest base class that has one."""
    for package in [each for each in _later if type(op).__module__.startswith(each)]:
        importlib.import_module(_later.pop(package))
    return next((_converters[cls] for cls in type(op).__mro__ if cls in _converters), None)


def batched_converter_of(core_op: Any) -> Converter | None:
    """The converter that also stands for a Blockwise of this op, if there is one."""
    return next((_batched.get(cls) for cls in type(core_op).__mro__ if cls in _converters), None)

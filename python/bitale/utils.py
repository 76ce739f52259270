"""Helpers of PyTensor's that depend on the standard library alone (pytensor.utils), for programs that import them."""

from __future__ import annotations

import hashlib
import importlib
import os
import struct
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from bitale._geography import finder

__all__ = [
    "LOCAL_BITWIDTH",
    "NPY_RAVEL_AXIS",
    "PYTHON_INT_BITWIDTH",
    "Singleton",
    "add_excepthook",
    "apply_across_args",
    "call_subprocess_Popen",
    "difference",
    "flatten",
    "from_return_values",
    "hash_from_code",
    "lazy_scipy_module",
    "maybe_add_to_os_environ_pathlist",
    "output_subprocess_Popen",
    "subprocess_Popen",
    "to_return_values",
    "uniq",
    "unzip",
]

LOCAL_BITWIDTH = 8 * struct.calcsize("P")  # bits of an address
PYTHON_INT_BITWIDTH = 8 * struct.calcsize("l")  # bits of C's long
NPY_RAVEL_AXIS: int = int(getattr(np, "NPY_RAVEL_AXIS", np.iinfo(np.int32).min))


def hash_from_code(msg: str | bytes) -> str:
    """Make a Python name from the SHA-256 of a string.

    Parameters
    ----------
    msg : str or bytes
        Text.

    Returns
    -------
    str
        "m" and 64 digits.
    """
    return "m" + hashlib.sha256(msg.encode() if isinstance(msg, str) else msg).hexdigest()


def uniq(seq: Sequence[Any]) -> list[Any]:
    """Leave out elements that equal an earlier one.

    Parameters
    ----------
    seq : sequence
        Elements.

    Returns
    -------
    list
        The others, in order.
    """
    found: list[Any] = []
    for each in seq:
        if each not in found:
            found.append(each)
    return found


def difference(seq1: Iterable[Any], seq2: Iterable[Any]) -> list[Any]:
    """Take elements that another sequence does not have.

    Parameters
    ----------
    seq1, seq2 : iterable
        Elements.

    Returns
    -------
    list
        Elements of the first, in order.
    """
    others = list(seq2)
    try:
        known: Any = set(others)
        return [each for each in seq1 if each not in known]
    except TypeError:  # not all can be hashed
        return [each for each in seq1 if each not in others]


def to_return_values(values: Sequence[Any]) -> Any:
    """A single value alone, several as they are."""
    return values[0] if len(values) == 1 else values


def from_return_values(values: Any) -> Any:
    """A list or tuple as it is, a single value as a list."""
    return values if isinstance(values, (list, tuple)) else [values]


def flatten(a: Any) -> list[Any]:
    """List what nested lists, tuples and sets contain.

    Parameters
    ----------
    a : object
        A list, tuple or set, or anything else.

    Returns
    -------
    list
        Elements of other kinds.
    """
    if not isinstance(a, (tuple, list, set)):
        return [a]
    return [each for item in a for each in flatten(item)]


def unzip(iterable: Iterable[Any], n: int, strict: bool = False) -> tuple[tuple[Any, ...], ...]:
    """The inverse of zip, with n empty tuples for nothing."""
    rows = list(iterable)
    if strict and any(len(row) != len(rows[0]) for row in rows):
        raise ValueError("unzip: the tuples have different lengths")
    return tuple(zip(*rows)) or ((),) * n


def apply_across_args(*fns: Callable[..., Any]) -> Any:
    """Make functions that take several arguments of functions of one, and return a list.

    Parameters
    ----------
    *fns : callable
        Functions.

    Returns
    -------
    callable or list of callable
        As many functions. An integer as the first argument is how often the function is called without one.

    Examples
    --------
    >>> from bitale.utils import apply_across_args
    >>> apply_across_args(str.upper)("a", "b"), apply_across_args(str.upper)("ab")
    (['A', 'B'], ['A', 'B'])
    """

    def call(function: Callable[..., Any], *names: Any) -> Any:
        if names and isinstance(names[0], int):
            return function() if names == (1,) else [function() for _ in range(names[0])]
        given = names[0] if len(names) == 1 else names
        return function(given) if len(given) == 1 else [function(name) for name in given]

    made = [partial(call, function) for function in fns]
    return made[0] if len(made) == 1 else made


class Singleton:
    """A class that has one object, which equals itself."""

    _only: ClassVar[Any]

    def __new__(cls) -> Any:
        if "_only" not in vars(cls):
            cls._only = super().__new__(cls)
        return cls._only

    def __str__(self) -> str:
        return type(self).__name__

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))


class _LazyModule:
    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self._name), name)


def lazy_scipy_module(submodule: str) -> Any:
    """Make a stand-in for a module of SciPy, which is imported on first use.

    Parameters
    ----------
    submodule : str
        Its name within SciPy.

    Returns
    -------
    object
        Object with the module's attributes.
    """
    return _LazyModule(f"scipy.{submodule}")


def add_excepthook(hook: Callable[..., Any]) -> Callable[..., Any]:
    """Register a function that is called with each uncaught exception, after the existing hooks.

    Parameters
    ----------
    hook : callable
        Function of the exception's class, the exception and its traceback.

    Returns
    -------
    callable
        The function.
    """
    before = sys.excepthook

    def both(*of: Any) -> None:
        before(*of)
        hook(*of)

    sys.excepthook = both
    return hook


def maybe_add_to_os_environ_pathlist(var: str, newpath: Path | str) -> None:
    """Put a folder in front of a list of folders in the environment, unless it is in it or does not exist.

    Parameters
    ----------
    var : str
        Name of the variable.
    newpath : path
        Absolute path of the folder.
    """
    path = Path(newpath)
    if not path.is_absolute():
        raise ValueError(f"expected an absolute path, got {newpath}")
    known = [each for each in os.environ.get(var, "").split(os.pathsep) if each]
    if path.exists() and str(path) not in known:
        os.environ[var] = os.pathsep.join([str(path), *known])


def subprocess_Popen(command: Any, **params: Any) -> subprocess.Popen[Any]:
    """`subprocess.Popen` whose process can't wait for input."""
    params.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.Popen(command, **params)


def call_subprocess_Popen(command: Any, **params: Any) -> int:
    """Run a command without its output, and return its exit status."""
    for stream in ("stdout", "stderr"):
        if stream in params:
            raise TypeError(f"call_subprocess_Popen: {stream} is not shown")
    return subprocess.call(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        **params,
    )


def output_subprocess_Popen(command: Any, **params: Any) -> tuple[bytes, bytes, int]:
    """Run a command; returns its output, its errors and its exit status."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, **params)
    return done.stdout, done.stderr, done.returncode


__getattr__ = finder(__name__, "graph.utils")

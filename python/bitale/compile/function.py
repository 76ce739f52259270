"""function(): the many forms of its arguments."""

from __future__ import annotations

import operator
from typing import Any, Iterable, Mapping, Sequence

from bitale import _core
from bitale._core import Function, Mode, TensorVariable, Variable
from bitale.compile.io import In, Out, refuse

Function.__module__ = __name__


def _input(given: Any) -> In:
    if isinstance(given, In):
        return given
    if isinstance(given, TensorVariable):
        return In(given)
    raise TypeError(f"function: expected variables as inputs, got {given!r}")


def _output(given: Any) -> Any:
    return given.variable if isinstance(given, Out) else given


_MOST_THREADS = 1024


def _thread_count(threads: Any) -> int | None:
    if threads is None:
        return None
    expected = f"function: threads is an integer from 1 to {_MOST_THREADS}, got {threads!r}"
    if isinstance(threads, bool) or not hasattr(threads, "__index__"):
        raise TypeError(expected)
    count = operator.index(threads)
    if not 1 <= count <= _MOST_THREADS:
        raise ValueError(expected)
    return count


def function(
    inputs: Sequence[TensorVariable | In],
    outputs: Any = None,
    mode: str | Mode | None = None,
    updates: Mapping[Variable, Any] | Iterable[tuple[Variable, Any]] | None = None,
    givens: Mapping[Variable, Any] | Iterable[tuple[Variable, Any]] | None = None,
    no_default_updates: bool = False,
    accept_inplace: bool = False,
    name: str | None = None,
    rebuild_strict: bool = True,
    allow_input_downcast: bool | None = None,
    profile: Any = None,
    on_unused_input: str | None = None,
    trust_input: bool = False,
    threads: int | None = None,
) -> Function:
    """Compiles outputs as a function of inputs.

    outputs: a variable, a list or a dict of them (the function then returns such), or None.
    updates: shared variables and the expressions whose values they get after each call.
    givens: variables and what to use instead of them.
    allow_input_downcast: None converts Python floats to config.floatX and else nothing that would lose precision;
    True converts whatever is given; False not even those floats.
    on_unused_input: "raise", "warn" or "ignore".
    profile: time every rewrite rule and print a report to stderr; `rewrite_report` has it too.
    threads: how many threads one call may use, from 1 to 1024; default: config.num_threads. Large loops are shared among
    them, of which there are never more than processors the process may run on; small ones run in the caller's thread.
    Results are the same, bit by bit, for any number. ValueError outside that range, TypeError for what is no integer.
    """
    refuse(
        "function",
        {
            "accept_inplace": accept_inplace,
            "no_default_updates": isinstance(no_default_updates, list) and no_default_updates,
            "rebuild_strict=False": not rebuild_strict,
            "trust_input": trust_input,
        },
    )
    if not isinstance(inputs, (list, tuple)):
        raise TypeError(f"function: inputs must be a list, even of one variable; got {inputs!r}")
    ins = [_input(given) for given in inputs]
    keys: list[Any] = []
    if outputs is None:
        form, results = "none", []
    elif isinstance(outputs, dict):
        form, keys, results = "dict", list(outputs), [_output(output) for output in outputs.values()]
    elif isinstance(outputs, (list, tuple)):
        form, results = "list", [_output(output) for output in outputs]
    else:
        form, results = "single", [_output(outputs)]
    return _core.make_function(
        [given.variable for given in ins],
        [given.name or "" for given in ins],
        results,
        form,
        keys,
        updates,
        givens,
        _core.get_mode(mode) if mode is not None else None,
        name or "",
        on_unused_input or "",
        allow_input_downcast,
        bool(profile),
        _thread_count(threads),
    )


class Maker:
    """What a function was made from: PyTensor's ``f.maker``."""

    def __init__(self, function: Function):
        self._function = function

    @property
    def fgraph(self) -> _core.FunctionGraph:
        """The graph after rewriting."""
        return self._function.fgraph

    @property
    def mode(self) -> Mode:
        return self._function.mode

    @property
    def inputs(self) -> list[TensorVariable]:
        return self._function.inputs

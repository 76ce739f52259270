"""The configurations in which a graph runs: each compiles a case and calls the function."""

from __future__ import annotations

import contextlib
import copy
import io
import pickle
import shutil
from typing import Any, Callable

import numpy as np

from .case import Case, build
from .data import laid_out


class Configuration:
    """`mode` is the source text of bt.function's argument, which scripts print."""

    def __init__(
        self, name: str, mode: str, options: str = "", after: Callable[[Any], Any] | None = None
    ):
        self.name, self.mode, self.options, self.after = name, mode, options, after
        self.rewrites = '"None"' not in mode
        self.keeps_state = (
            True  # False if the results do not include the shared variables' new values
        )

    def without(self, tag: str) -> Configuration:
        """The same configuration without the rules that have this tag: "domain" (rules that return a value where the expression
        as written has none) or "shape_unsafe" (rules that assume that lengths match)."""
        out = copy.copy(self)
        out.name, out.mode = (
            f"{self.name}, without {tag} rules",
            f'bt.get_mode({self.mode or "None"}).excluding("{tag}")',
        )
        return out

    def compile(self, case: Case, bt: Any, env: dict[str, Any] | None = None) -> Any:
        env = env if env is not None else build(case, bt)
        inputs = [env[given.name] for given in case.inputs if not given.shared]
        updates = {env[shared]: env[new] for shared, new in case.updates}
        mode = eval(self.mode, {"bt": bt}) if self.mode else None
        options = eval(f"dict({self.options})")
        function = bt.function(
            inputs,
            [env[name] for name in case.outputs],
            mode=mode,
            updates=updates,
            on_unused_input="ignore",
            **options,
        )
        return self.after(function) if self.after else function

    def results(self, case: Case, bt: Any) -> dict[str, np.ndarray]:
        """The results of one call, and the new values of shared variables under the names of their expressions."""
        env = build(case, bt)
        function = self.compile(case, bt, env)
        arguments = arguments_of(case)
        before = [argument.copy() for argument in arguments]
        with contextlib.redirect_stdout(io.StringIO()):
            results = function(*arguments)
        got = dict(zip(case.outputs, results))
        for argument, was in zip(arguments, before):
            if argument.tobytes() != was.tobytes():
                raise AssertionError("the call changed an argument")
        for shared, new in case.updates:
            if self.keeps_state:
                got[f"{new} as {shared}"] = env[shared].get_value()
        return got


def arguments_of(case: Case) -> list[np.ndarray]:
    """The arguments of a call. Layout "same:x1" stands for the same array object as that of input x1."""
    arrays: dict[str, np.ndarray] = {}
    for given in case.inputs:
        if not given.shared:
            same = arrays.get(given.layout.removeprefix("same:"))
            fits = (
                same is not None
                and same.dtype == given.value.dtype
                and np.array_equal(same, given.value, equal_nan=True)
            )
            arrays[given.name] = same if fits else laid_out(given.value, given.layout)
    return list(arrays.values())


class Stored(Configuration):
    """Stored by pickle and loaded: compiled again, or loaded from the compile directory."""

    def __init__(self) -> None:
        super().__init__(
            "a pickled function", "", after=lambda function: pickle.loads(pickle.dumps(function))
        )
        self.keeps_state = False


class Interpreted(Configuration):
    """Calls without code: with the cache, a function would find the code of another configuration."""

    def __init__(self) -> None:
        super().__init__("interpreted calls", '"FAST_START"')

    def compile(self, case: Case, bt: Any, env: dict[str, Any] | None = None) -> Any:
        with bt.config.change_flags(cache=False):
            return super().compile(case, bt, env)


FAST_RUN = Configuration("native code, rewritten", "")
AS_BUILT = Configuration("the interpreter on the graph as built", 'bt.Mode("vm", "None")')
NATIVE_AS_BUILT = Configuration("native code of the graph as built", 'bt.Mode("jit", "None")')
REWRITTEN = Configuration("the interpreter on the rewritten graph", 'bt.Mode("vm", "fast_run")')
FAST_COMPILE = Configuration("FAST_COMPILE", '"FAST_COMPILE"')
BY_C = Configuration("C code", 'bt.Mode("c", "fast_run")')
THREADS = Configuration("two threads", "", "threads=2")
COPIED = Configuration("a copy", "", after=copy.copy)
STORED = Stored()
INTERPRETED = Interpreted()
ALWAYS = [AS_BUILT, FAST_RUN]
OFTEN = [NATIVE_AS_BUILT, REWRITTEN, FAST_COMPILE, THREADS, COPIED, STORED, INTERPRETED]
RARELY = [
    BY_C if shutil.which("cc") else FAST_COMPILE
]  # a system with an installed wheel may have no C compiler
ALL = ALWAYS + OFTEN + RARELY

"""Actions that follow the first import of a package, so that the bridge need not import it itself."""

from __future__ import annotations

import contextlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from types import ModuleType
from typing import Any, Callable, Sequence

Action = Callable[[ModuleType], None]
Around = Callable[[], contextlib.AbstractContextManager[None]]


class _Finder(importlib.abc.MetaPathFinder):
    """Finds nothing itself: it has the other finders' loader of the package call the action when it is done."""

    def __init__(self, package: str, action: Action, around: Around):
        self.package = package
        self.action = action
        self.around = around
        self.asking = False  # the other finders, of which this is one

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != self.package or self.asking:
            return None
        self.asking = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self.asking = False
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def execute_and_act(module: ModuleType) -> None:
            with self.around():
                execute(module)
            if self in sys.meta_path:
                sys.meta_path.remove(self)
                self.action(module)

        spec.loader.exec_module = execute_and_act  # type: ignore[method-assign]
        return spec


def after_import(package: str, action: Action, around: Around = contextlib.nullcontext) -> None:
    """Calls the action with the package: at once if it has been imported, else as soon as it is. Its import runs within `around`."""
    if package in sys.modules:
        action(sys.modules[package])
    else:
        sys.meta_path.insert(0, _Finder(package, action, around))

"""A picture of packages in this process: the names in their modules, and which functions, classes and methods they stand for."""

from __future__ import annotations

import inspect
import sys
from typing import Any

PACKAGES = ("pytensor", "pymc", "nutpie", "numba", "arviz", "arviz_base")


def is_of_a_package(name: str) -> bool:
    return name.partition(".")[0] in PACKAGES


def _code(value: Any) -> bool:
    return inspect.isroutine(value) or isinstance(
        value, (type, property, classmethod, staticmethod)
    )


def _attributes(value: Any) -> dict[str, Any]:
    """Functions and classes among the attributes of a class or an instance."""
    found = dict(getattr(value, "__dict__", {}))
    return {name: each for name, each in found.items() if _code(each)}


def picture() -> dict[tuple[str, ...], Any]:
    """The values are the objects themselves, so that no other object gets the identity of one that is gone."""
    found: dict[tuple[str, ...], Any] = {
        ("sys.meta_path", str(k)): finder for k, finder in enumerate(sys.meta_path)
    }
    found.update({("sys.path_hooks", str(k)): hook for k, hook in enumerate(sys.path_hooks)})
    for name, module in list(sys.modules.items()):
        if not is_of_a_package(name):
            continue
        found["sys.modules", name] = module
        for key, value in list(vars(module).items()):
            # Times that a package counts are no change.
            found[name, key] = type(value) if isinstance(value, (int, float, str)) else value
            if not inspect.ismodule(value):
                for attribute, each in _attributes(value).items():
                    found[name, key, attribute] = each
    for name, parameter in sys.modules["pytensor"].config._config_var_dict.items():
        found["flag", name] = parameter
        for attribute, each in _attributes(parameter).items():
            found["flag", name, attribute] = each
    return found


def differences(before: dict[tuple[str, ...], Any], after: dict[tuple[str, ...], Any]) -> list[str]:
    """What is gone, replaced or new. Modules of these packages that were imported in between are not, if they are what their files define."""
    changed = [
        f"{'.'.join(key)}: {'gone' if key not in after else 'replaced'}"
        for key in before
        if key not in after or after[key] is not before[key]
    ]
    imported = {key[1] for key in after if key[0] == "sys.modules" and key not in before}
    for key in after.keys() - before.keys():
        name, *rest = key[1:] if key[0] == "sys.modules" else key
        module = name if key[0] == "sys.modules" or not rest else f"{name}.{rest[0]}"
        if name in imported or module in imported:
            continue
        changed.append(f"{'.'.join(key)}: new")
    changed += [
        f"sys.modules.{name}: not from a file"
        for name in imported
        if getattr(getattr(after["sys.modules", name], "__spec__", None), "origin", None) is None
    ]
    return sorted(changed)

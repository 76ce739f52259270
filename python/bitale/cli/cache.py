"""``bitale cache``: the directory of compiled code.

It needs no maintenance: entries are written entirely or not at all, locks are the kernel's and end
with the process that holds them, and the least recently used entries are deleted automatically.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any, Callable

import bitale
from bitale import _core
from bitale.cli.table import size, table

_objects = "objects"  # the folder of compiled code inside a compile directory


def add(verbs: Any, common: Any) -> None:
    parser = verbs.add_parser("cache", help="manage the directory of compiled code")
    inner = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, action, view, text in (
        ("path", path, lambda result: result["path"], "print the compile directory"),
        ("list", listing, show_listing, "list the cache entries, most recently used first"),
        ("clear", clear, show_removed, "remove all compiled code of this compile directory"),
        (
            "purge",
            purge,
            show_removed,
            "remove the compiled code of every compile directory below base_compiledir",
        ),
        (
            "unlock",
            unlock,
            show_unlock,
            "show whether processes wait for each other; locks are never stale",
        ),
        (
            "cleanup",
            cleanup,
            show_removed,
            "remove damaged entries, and files left behind by killed processes",
        ),
    ):
        verb = inner.add_parser(
            name, parents=[common], help=text, description=text[0].upper() + text[1:] + "."
        )
        verb.set_defaults(run=_of(action), show=view)


def _of(action: Callable[[], Any]) -> Callable[[Any], Any]:
    return lambda options: action()


def directory() -> str:
    """Where compiled code is kept."""
    return os.path.join(bitale.config.compiledir, _objects)


def path() -> dict[str, Any]:
    return {"path": bitale.config.compiledir}


def listing() -> dict[str, Any]:
    found = _core.cache_inventory(directory())
    entries, temporary = found["entries"], found["temporary"]
    return {
        "path": bitale.config.compiledir,
        "enabled": bitale.config.cache,
        "limit": bitale.config.cache__size * 2**20,
        "bytes": sum(entry["bytes"] for entry in entries)
        + sum(file["bytes"] for file in temporary),
        "entries": entries,
        "temporary": temporary,
    }


def show_listing(result: dict[str, Any]) -> str:
    lines = []
    if result["entries"]:
        rows = [["key", "size", "last used", ""]]
        for entry in result["entries"]:
            used = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry["used"]))
            rows.append(
                [entry["key"], size(entry["bytes"]), used, "" if entry["intact"] else "damaged"]
            )
        lines.append(table(rows, right=[1]))
    abandoned = sum(file["abandoned"] for file in result["temporary"])
    if abandoned:
        lines.append(
            f"{abandoned} files were left behind by killed processes; `bitale cache cleanup` removes them"
        )
    count = len(result["entries"])
    lines.append(
        f"{count} {'entry' if count == 1 else 'entries'}, {size(result['bytes'])} of {size(result['limit'])}, in {result['path']}"
        + ("" if result["enabled"] else " (not in use: cache=False)")
    )
    return "\n".join(lines)


def clear() -> dict[str, Any]:
    return {"path": bitale.config.compiledir, **_core.cache_remove_all(directory())}


def cleanup() -> dict[str, Any]:
    return {"path": bitale.config.compiledir, **_core.cache_remove_useless(directory())}


def purge() -> dict[str, Any]:
    base = bitale.config.base_compiledir
    folders = {str(folder) for folder in Path(base).glob("compiledir_*") if folder.is_dir()} | {
        bitale.config.compiledir
    }
    total = {"path": base, "files": 0, "bytes": 0}
    for folder in sorted(folders):
        removed = _core.cache_remove_all(os.path.join(folder, _objects))
        total["files"] += removed["files"]
        total["bytes"] += removed["bytes"]
        _remove_emptied(folder)
    return total


def _remove_emptied(folder: str) -> None:
    """The directories that were the cache's, unless there is something else in them."""
    Path(folder, _objects, "lock").unlink(missing_ok=True)
    for each in (os.path.join(folder, _objects), folder):
        try:
            os.rmdir(each)
        except OSError:
            return


def show_removed(result: dict[str, Any]) -> str:
    if not result["files"]:
        return f"Nothing to remove in {result['path']}."
    return f"Removed {result['files']} files, {size(result['bytes'])}, from {result['path']}."


def unlock() -> dict[str, Any]:
    return {
        "path": bitale.config.compiledir,
        "claimed": _core.cache_inventory(directory())["claimed"],
        "removed": 0,
    }


def show_unlock(result: dict[str, Any]) -> str:
    if result["claimed"]:
        return (
            "A running process is compiling, and others that need the same code wait for it. Its lock ends with it: "
            "there is nothing to remove."
        )
    return "No process holds a lock. Locks end with the process that holds them: there are no stale locks to remove."

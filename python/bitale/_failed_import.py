"""Why the compiled part of the package can't be loaded, in a sentence, with what to do. Needs the standard library only."""

from __future__ import annotations

import importlib.machinery
import platform
import re
import sys
from pathlib import Path


def explanation(error: ImportError, folder: Path) -> str:
    here = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    found = sorted(file.name for file in folder.glob("_core.*") if file.suffix in (".so", ".pyd"))
    loadable = [
        name
        for name in found
        if any(name == f"_core{suffix}" for suffix in importlib.machinery.EXTENSION_SUFFIXES)
    ]
    if sys.version_info < (3, 10):
        return f"bitale needs Python 3.10 or newer; this is {here}"
    if not found:
        return (
            f"bitale was found in {folder} without its compiled part: this is a checkout that is not built; "
            "`./dev python` builds it there, and `pip install .` installs it"
        )
    if not loadable:
        return (
            f"bitale in {folder} is for another Python or processor: it has {', '.join(found)}, and this is {here}; "
            "install it with this interpreter: python -m pip install --force-reinstall bitale"
        )
    if wanted := re.search(r"version `BITALE_([\d.]+)' not found", str(error)):
        return (
            f"bitale in {folder} needs its own library, of release {wanted[1]}, but that of another release is loaded in this "
            f"process{_loaded_library()}: use one release in a process"
        )
    if "initializing the extension" in str(error):
        return (
            f"bitale in {folder} can't be initialized: most likely it, or another copy of it, was imported in this process before, "
            f"and its modules were removed from sys.modules; one copy can be used in a process, once"
        )
    if platform.system() == "Linux" and platform.libc_ver()[0] != "glibc":
        return f"bitale needs a Linux with glibc 2.28 or newer; musl, which this system has, is not supported ({error})"
    return f"bitale in {folder} can't be loaded by {here} with {' '.join(platform.libc_ver())}: {error}"


def _loaded_library() -> str:
    try:
        with open("/proc/self/maps") as maps:
            return next(
                (f" from {line.split()[-1]}" for line in maps if "/libbitale.so" in line), ""
            )
    except OSError:
        return ""

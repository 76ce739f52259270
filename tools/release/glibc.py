"""The stub libraries of an older glibc, to link against: names and versions of symbols, without code.

The C compiler of PyPI's `ziglang` makes them for the version that its target names, and tells by -v where they are.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import tempfile
from pathlib import Path


def compiler() -> Path:
    found = importlib.util.find_spec("ziglang")
    if found is None or not found.submodule_search_locations:
        raise SystemExit("wheel: the package ziglang is missing: pip install ziglang")
    return Path(found.submodule_search_locations[0]) / "zig"


def stubs(folder: Path, version: str, machine: str = "x86_64") -> Path:
    """The folder, filled with the stubs of that version."""
    if (folder / "version").is_file() and (
        folder / "version"
    ).read_text() == f"{machine} {version}":
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch) / "empty.c"
        source.write_text("int bitale_nothing;\n")
        command = [
            compiler(),
            "cc",
            "-v",
            "-target",
            f"{machine}-linux-gnu.{version}",
            "-shared",
            source,
        ]
        answer = subprocess.run(
            [*command, "-o", source.with_suffix(".so")], capture_output=True, text=True
        )
    if answer.returncode != 0:
        raise SystemExit(f"wheel: {' '.join(map(str, command))} failed:\n{answer.stderr}")
    files = [Path(word) for word in re.findall(r"\S+/lib\w+\.(?:so\.\d+|a)", answer.stderr)]
    files = [file for file in files if file.name == "libc_nonshared.a" or ".so." in file.name]
    if not any(file.name == "libc.so.6" for file in files):
        raise SystemExit(f"wheel: no stub of libc.so.6 is among what zig links:\n{answer.stderr}")
    for file in files:
        shutil.copy(file, folder / file.name)
    for file in folder.glob("lib*.so.*"):
        if not file.name.startswith(("libc.", "libld.")):
            (folder / (file.name.split(".")[0] + ".so")).symlink_to(file.name)
    # Functions that were not in libc.so.6 then, and the dynamic loader's, are found by -lc, too.
    (folder / "libc.so").write_text(
        "GROUP ( libc.so.6 libc_nonshared.a libld.so.2 AS_NEEDED ( libpthread.so.0 libdl.so.2 libm.so.6 librt.so.1 ) )\n"
    )
    (folder / "version").write_text(f"{machine} {version}")
    return folder

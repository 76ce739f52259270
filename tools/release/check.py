"""What must hold of a wheel: its libraries need an old glibc and nothing else, show no names but their own, and bring the
licences of what is inside.
"""

from __future__ import annotations

import re
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from elftools.elf.elffile import ELFFile

# What each Linux has: glibc in its parts, and the library of GCC that unwinds the stack.
PRESENT = re.compile(r"(lib(c|m|dl|pthread|rt|util|gcc_s)\.so\.\d|ld-linux-.*\.so\.\d)$")
OWN = re.compile(r"libbitale.*\.so")
MAX_BYTES = 33_000_000


def number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def of_library(name: str, elf: ELFFile, glibc: str) -> Iterator[str]:
    dynamic = elf.get_section_by_name(".dynamic")
    for tag in dynamic.iter_tags():
        if tag.entry.d_tag == "DT_NEEDED" and not (
            PRESENT.match(tag.needed) or OWN.match(tag.needed)
        ):
            yield f"{name} needs {tag.needed}, which systems may lack"
    if versions := elf.get_section_by_name(".gnu.version_r"):
        for _, needed in versions.iter_versions():
            for one in needed:
                if one.name.startswith("GLIBC_") and number(
                    one.name.removeprefix("GLIBC_")
                ) > number(glibc):
                    yield f"{name} needs {one.name}: at most {glibc} was asked for"
    marks = elf.get_section_by_name(".gnu.version")
    for index, symbol in enumerate(elf.get_section_by_name(".dynsym").iter_symbols()):
        if not symbol.name or symbol["st_info"]["bind"] == "STB_WEAK":
            continue
        is_undefined = symbol["st_shndx"] == "SHN_UNDEF"
        if is_undefined and marks.get_symbol(index)["ndx"] in ("VER_NDX_LOCAL", "VER_NDX_GLOBAL"):
            if not symbol.name.startswith(("Py", "_Py")):
                yield f"{name} uses {symbol.name}, which no library that it needs has"
        of_others = (
            re.match(r"_ZN?K?(St|4llvm)|__cxa_", symbol.name) and "bitale" not in symbol.name
        )  # of std for own types
        if not is_undefined and of_others:
            yield f"{name} shows {symbol.name} to other libraries of the process"


def problems(wheel: Path, glibc: str) -> list[str]:
    found = []
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as folder:
        names = archive.namelist()
        found += [
            f"{wheel.name} is for glibc {of}: at most {glibc} was asked for"
            for of in (
                tag.replace("_", ".") for tag in re.findall(r"manylinux_(\d+_\d+)_", wheel.name)
            )
            if number(of) > number(glibc)
        ]
        if "manylinux" not in wheel.name:
            found.append(f"{wheel.name} is for no policy of Linux systems")
        if wheel.stat().st_size > MAX_BYTES:
            found.append(
                f"{wheel.name} has {wheel.stat().st_size / 1e6:.1f} MB: at most {MAX_BYTES / 1e6:.0f} were meant"
            )
        parts = (
            archive.read("bitale/licences/parts.txt").decode().split()
            if "bitale/licences/parts.txt" in names
            else []
        )
        if not parts:
            found.append(f"{wheel.name} has no list of licences")
        found += [
            f"{wheel.name} lacks the licence of {part}"
            for part in parts
            if f"bitale/licences/{part}.txt" not in names
        ]
        for name in names:
            if re.search(r"\.so(\.|$)", name):
                with open(archive.extract(name, folder), "rb") as file:
                    found += of_library(name, ELFFile(file), glibc)
    return found


def sizes(wheel: Path) -> str:
    """A line for the wheel, and one for each of its large files."""
    lines = [f"{wheel.stat().st_size / 1e6:7.1f} MB  {wheel.name}"]
    with zipfile.ZipFile(wheel) as archive:
        large = sorted(
            (one for one in archive.infolist() if one.file_size > 500_000),
            key=lambda one: -one.file_size,
        )
        lines += [
            f"{one.compress_size / 1e6:7.1f} MB  of {one.file_size / 1e6:.1f}: {one.filename}"
            for one in large
        ]
    return "\n".join(lines)

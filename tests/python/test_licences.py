"""The licences that are installed (cmake/Licences.cmake) are those of all that the sources include and the build links."""

import importlib.util
import re
from pathlib import Path

import pytest

from bitale import _core

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(_core.__file__).resolve().parents[1]

# The parts that headers belong to, by the name in tests/layering/check.py.
OF_HEADERS = {
    "LLVM": {"llvm"},
    "BLAS and LAPACK": set(),  # opened at run time
    "Boost": {"boost"},
    "Eigen": {"eigen"},
    "numbers of many digits": {"boost"},
    "Highway": {"highway"},
    "pocketfft": {"pocketfft"},
    "xxHash": {"xxhash"},
    "Python": {"nanobind", "robin-map"},  # those of Python and NumPy themselves are interfaces only
    "iostream": set(),
}
OF_ARCHIVES = {
    r"libLLVM\w+\.a": "llvm",
    r"libstdc\+\+\.a": "libstdc++",
    r"libnanobind-static\.a": "nanobind",
}

in_a_build_tree = pytest.mark.skipif(
    not (BUILD / "build.ninja").is_file(), reason="the module was installed"
)


def known_parts():
    return set(
        re.findall(r"bitale_licence\(([\w+-]+)", (ROOT / "cmake" / "Licences.cmake").read_text())
    ) - {"part"}


def linked_archives(ninja):
    """The archives in the link of each shared library."""
    found = {}
    for library, words in re.findall(
        r"^build (\S+\.so\S*): CXX_(?:SHARED|MODULE)_LIBRARY\S+ (.*)$", ninja, re.M
    ):
        found[library] = set(re.findall(r"[^\s/]+\.a\b", words))
    return found


def test_each_permitted_header_has_a_licence():
    spec = importlib.util.spec_from_file_location(
        "layering_check", ROOT / "tests" / "layering" / "check.py"
    )
    check = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(check)
    names = {name for _, name, _ in check.OUTSIDE}
    assert names == set(OF_HEADERS)
    assert set().union(*OF_HEADERS.values()) <= known_parts()


@in_a_build_tree
def test_each_linked_archive_has_a_licence():
    collected = set((BUILD / "licences" / "parts.txt").read_text().split())
    linked = linked_archives((BUILD / "build.ninja").read_text())
    assert any("_core" in library for library in linked) and any(
        "libbitale" in library for library in linked
    )
    for library in linked:
        if re.search(r"(^|/)(libbitale|_core)", library):
            for archive in linked[library]:
                [part] = [
                    part for pattern, part in OF_ARCHIVES.items() if re.fullmatch(pattern, archive)
                ]
                assert part in collected, f"{library} contains {archive}"


@in_a_build_tree
def test_texts_are_licences():
    folder = BUILD / "licences"
    parts = (folder / "parts.txt").read_text().split()
    assert {"bitale", "pocketfft", "boost", "xxhash", "nanobind"} <= set(parts)
    for part in parts:
        assert re.search(
            r"(?i)licen[cs]e|permission is hereby granted|redistribution",
            (folder / f"{part}.txt").read_text(),
        ), part
    if "llvm" in parts:
        text = (folder / "llvm.txt").read_text()
        assert "LLVM Exceptions" in text and "TERMS AND CONDITIONS FOR USE" in text

"""What a wheel for another processor than this machine's takes: CMake's toolchain, a copy of OpenBLAS, and the names by which
Python finds modules.

Extension modules are compiled with the headers of this machine's Python. Its pyconfig.h differs from the other processor's
only in what the interpreter itself uses: both are Linux with 64-bit addresses, little endian.
"""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

MACHINES = ("aarch64",)  # those with a toolchain in cmake/


def is_needed(machine: str) -> bool:
    return machine != platform.machine()


def openblas(folder: Path, machine: str) -> Path:
    """The copy of that processor, of the release that this machine's wheels contain; fetched once."""
    package, version = "scipy-openblas32", metadata.version("scipy-openblas32")
    own = folder / f"openblas-{version}-{machine}"
    library = own / "scipy_openblas32" / "lib" / "libscipy_openblas.so"
    if not library.is_file():
        shutil.rmtree(own, ignore_errors=True)
        pip = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
            "--dest",
            own,
        ]
        subprocess.run(
            [
                *pip,
                "--only-binary=:all:",
                "--platform",
                f"manylinux_2_28_{machine}",
                f"{package}=={version}",
            ],
            check=True,
        )
        [wheel] = own.glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(own)
    return library


def stub(tag: str, out: Path, root: Path) -> Path:
    """The description of the module for type checkers, which takes running it: that of a build for this machine."""
    found = root / "python" / "bitale" / "_core.pyi"
    if wheels := sorted(out.glob(f"bitale-*-{tag}-{tag}-*_{platform.machine()}.whl")):
        own = root / "build" / "stubs" / tag
        with zipfile.ZipFile(wheels[-1]) as archive:
            return Path(archive.extract("bitale/_core.pyi", own))
    if not found.is_file():
        raise SystemExit(
            f"wheel: build for this machine first (./dev wheel, or ./dev python): {out} has no wheel for {tag}, python/bitale no module"
        )
    return found.resolve()


def environment(python: Path, machine: str) -> dict[str, str]:
    """What scikit-build-core reads."""
    code = "import sysconfig; print(sysconfig.get_config_var('EXT_SUFFIX'))"
    own = subprocess.run(
        [python, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()
    return {
        "_PYTHON_HOST_PLATFORM": f"linux-{machine}",
        "SETUPTOOLS_EXT_SUFFIX": own.replace(platform.machine(), machine),
    }

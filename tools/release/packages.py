"""python tools/release/packages.py [--out dist]: packages for C++, by cpack: libbitale0.2 and libbitale-dev for Debian, and an
archive of a prefix with OpenBLAS inside, for any Linux of the policy.

They are built in build/package, with the same settings as wheels, so that the compiler's cache serves one from the other.
The libraries are checked as those of wheels are (release/check.py), and lintian reads the Debian packages where it is found.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from elftools.elf.elffile import ELFFile

from release import check, glibc
from release.__main__ import GLIBC, ROOT, openblas, run

BUILD = ROOT / "build" / "package"


def build(out: Path) -> list[Path]:
    stubs = glibc.stubs(ROOT / "build" / f"glibc-{GLIBC}", GLIBC, platform.machine())
    parts = ("TESTS", "EXAMPLES", "BENCH", "PYTHON")
    options = [
        f"-DBITALE_GLIBC_STUBS={stubs}",
        f"-DBITALE_OPENBLAS={openblas()}",
        *(f"-DBITALE_BUILD_{part}=OFF" for part in parts),
    ]
    # As for wheels: the compiler's cache compares options, and the compiler's name.
    options += ["-DBITALE_WERROR=OFF", f"-DCMAKE_CXX_COMPILER={os.environ.get('CXX', 'g++')}"]
    run("cmake", "--preset", "release", "-B", BUILD, *options)
    run("cmake", "--build", BUILD)
    made = BUILD / "packages"
    shutil.rmtree(made, ignore_errors=True)
    generators = "TGZ;DEB" if shutil.which("dpkg-shlibdeps") else "TGZ"
    run("cpack", "--config", BUILD / "CPackConfig.cmake", "-G", generators, "-B", made)
    found = sorted(file for file in made.iterdir() if re.search(r"\.(deb|tar\.gz)$", file.name))
    for before in (*out.glob("*.deb"), *out.glob("bitale-*-linux-*.tar.gz")):
        before.unlink()
    return [Path(shutil.copy(file, out)) for file in found]


def problems(archive: Path) -> list[str]:
    """Of the libraries in the archive, and of licences."""
    found = []
    with tarfile.open(archive) as content, tempfile.TemporaryDirectory() as folder:
        files = [one for one in content.getmembers() if one.isfile()]
        for one in files:
            if re.search(r"\.so(\.|$)", one.name):
                content.extract(one, folder, filter="data")
                with open(Path(folder) / one.name, "rb") as file:
                    found += check.of_library(one.name, ELFFile(file), GLIBC)
        licences = {Path(one.name).stem for one in files if "/licenses/bitale/" in one.name}
        found += [
            f"{archive.name} lacks the licence of {part}"
            for part in ("bitale", "llvm", "boost", "openblas")
            if part not in licences
        ]
    return found


def lintian(package: Path) -> list[str]:
    """Its errors; warnings are shown."""
    if not shutil.which("lintian"):
        print("package: lintian is not installed, so Debian's rules were not checked")
        return []
    command = ["lintian", "--allow-root", "--no-tag-display-limit", package]
    said = subprocess.run(command, capture_output=True, text=True).stdout.splitlines()
    print("\n".join(said))
    return [line for line in said if line.startswith("E:")]


def main() -> int:
    parser = argparse.ArgumentParser(prog="packages", description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    out = parser.parse_args().out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    packages = build(out)
    found = []
    for package in packages:
        print(f"{package.stat().st_size / 1e6:7.1f} MB  {package.name}")
        found += problems(package) if package.suffix == ".gz" else lintian(package)
    print("\n".join(found) or "package: all checks passed")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

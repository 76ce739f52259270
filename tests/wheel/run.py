"""Installs the wheels of dist/ and tries them: in a fresh virtual environment of each Python, in chroots of other Debian
releases with their own Python, and the library alone, called from C++, in one whose Python is too old; then the packages for
C++ (`./dev package`), if dist/ has them; and wheels for another processor in an emulated system.

python run.py [--only REGEX]. Systems are made by debootstrap in build/roots and kept; NumPy's wheels are fetched once into
build/wheelhouse, and everything is installed from there and from dist/, without a network. Prints the time from
the beginning of `pip install` to the first result.
"""

from __future__ import annotations

import argparse
import glob
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DIST, HOUSE, ROOTS = ROOT / "dist", ROOT / "build" / "wheelhouse", ROOT / "build" / "roots"
BESIDE = ["llvmlite"]  # another LLVM in the same process
SUITES = {"bookworm": "3.11", "trixie": "3.13"}
MACHINE = platform.machine()
EMULATED = {"aarch64": "arm64"}  # and Debian's name
FOR_TESTS = ["scipy", "mpmath", "pytest", "iniconfig", "packaging", "pluggy", "pygments"]
# In an emulator all Python tests would take hours: functions one by one, and random graphs of all ops.
EMULATED_TESTS = ["tensor/test_function_table.py", "test_fuzz.py::test_random_graphs"]
# Of the checkout, what the first steps need in another system.
PAGES = ("docs/start", "docs/tutorial", "docs/howto")
PARTS = (
    "README.md",
    "docs/site/index.md",
    *PAGES,
    "tools",
    "tests/wheel",
    "dist",
    "build/wheelhouse",
)
sys.path.insert(0, str(ROOT / "tools"))


def run(*command: object, **more: object) -> str:
    answer = subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)
    if answer.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}:\n{answer.stdout}{answer.stderr}")
    return answer.stdout


def of_system(version: str, machine: str) -> list[str]:
    """pip's options for another system than this."""
    return [
        "--only-binary=:all:",
        "--python-version",
        version,
        *(f"--platform=manylinux_{policy}_{machine}" for policy in ("2_28", "2_27", "2_17")),
    ]


def fetch(
    version: str, packages: tuple[str, ...] = ("numpy", *BESIDE), machine: str = MACHINE
) -> None:
    """NumPy, and what is imported beside Bitale, for that Python."""
    for package in packages:
        into, tag = HOUSE / package, f"cp{version.replace('.', '')}"
        if not list(into.glob(f"*-{tag}-*{machine}.whl")) and not list(into.glob("*-none-any.whl")):
            pip = [
                sys.executable,
                "-m",
                "pip",
                "download",
                "--quiet",
                "--disable-pip-version-check",
                "--no-deps",
                "--dest",
                into,
            ]
            run(*pip, *of_system(version, machine), package)


def install_and_try(
    environment: Path,
    make: list[object],
    within: list[object] = (),
    checkout: Path = ROOT,
    beside: bool = True,
) -> str:
    """`make` makes the environment; `within` goes before each command: chroot."""
    run(*within, *make)
    python = [*within, environment / "bin" / "python"]
    offline = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"]
    houses = [
        f"--find-links={checkout / 'dist'}",
        *(
            f"--find-links={checkout / 'build' / 'wheelhouse' / name}"
            for name in ("numpy", *BESIDE)
        ),
    ]
    start = time.monotonic()
    run(*python, *offline, *houses, "bitale")
    first = "import bitale as bt, bitale.tensor as pt; x = pt.dvector('x'); print(bt.function([x], pt.exp(x).sum())([0.0, 0.0]))"
    own = {**os.environ, "HOME": str(environment), "BITALE_FLAGS": "", "PYTHONPATH": ""}
    installed = time.monotonic()
    assert run(*python, "-c", first, env=own, cwd="/") == "2.0\n"
    done = time.monotonic()
    steps = run(
        *python, checkout / "tests" / "wheel" / "first_steps.py", checkout, env=own, cwd="/"
    )
    if beside:
        run(*python, *offline, *houses, *BESIDE)
    for order in (
        ("--before", "--after") if beside else ()
    ):  # Bitale is imported before and after the other library
        steps += (
            run(
                *python,
                checkout / "tests" / "wheel" / "first_steps.py",
                checkout,
                order,
                env=own,
                cwd="/",
            ).splitlines()[-1]
            + f", {order[2:]}\n"
        )
    return f"installed in {installed - start:.1f} s, first result {done - start:.1f} s after the beginning\n{steps}"


def tags(machine: str = MACHINE) -> list[str]:
    """The minor version of Python of each wheel for that processor."""
    return sorted(
        {re.search(r"-cp3(\d+)-", wheel.name)[1] for wheel in DIST.glob(f"*_{machine}.whl")},
        key=int,
    )


def pythons() -> dict[str, str]:
    """An interpreter of each version for which dist/ has a wheel."""
    found = {}
    for tag in tags():
        names = [
            *sorted(glob.glob(os.path.expanduser(f"~/.pyenv/versions/3.{tag}.*/bin/python3"))),
            shutil.which(f"python3.{tag}"),
        ]
        found |= {f"3.{tag}": next(name for name in names if name)} if any(names) else {}
    return found


def in_environment(version: str, python: str) -> str:
    fetch(version)
    with tempfile.TemporaryDirectory() as folder:
        return install_and_try(Path(folder) / "env", [python, "-m", "venv", Path(folder) / "env"])


FOR_MODELS = ("pymc>=6.4", "nutpie>=0.16.11", "jax>=0.8")


def models_of_pymc(version: str, python: str) -> str:
    """Eight schools by nutpie, from PyPI's packages; then the first steps with the LLVM of Numba and of JAX in the process."""
    house = HOUSE / f"pymc-{version}"
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        run(python, "-m", "venv", folder / "env")
        own = folder / "env" / "bin" / "python"
        pip = [own, "-m", "pip", "--quiet", "--disable-pip-version-check"]
        if not (house / "complete").exists():
            run(*pip, "download", "--only-binary=:all:", "--dest", house, *FOR_MODELS)
            (house / "complete").touch()
        start = time.monotonic()
        run(
            *pip,
            "install",
            "--no-index",
            f"--find-links={DIST}",
            f"--find-links={house}",
            "bitale",
            *FOR_MODELS,
        )
        installed = time.monotonic()
        clean = {
            **os.environ,
            "HOME": scratch,
            "BITALE_FLAGS": "",
            "PYTHONPATH": "",
            "PYTENSOR_FLAGS": f"cxx=,base_compiledir={scratch}",
        }
        said = run(own, ROOT / "tests" / "wheel" / "eight_schools.py", env=clean, cwd=scratch)
        done = time.monotonic()
        for order in ("--before", "--after"):
            lines = run(
                own, ROOT / "tests" / "wheel" / "first_steps.py", ROOT, order, env=clean, cwd="/"
            ).splitlines()
            assert "llvmlite" in lines[-1] and "jaxlib" in lines[-1], lines[-1]
            said += f"{lines[-1]}, {order[2:]}\n"
        return f"installed with PyMC, nutpie and JAX in {installed - start:.1f} s, eight schools sampled in {done - installed:.1f} s\n{said}"


def pages_with_packages(version: str, python: str) -> str:
    """Pages that ask for packages, each in a fresh environment, in which these are installed where the page says so."""
    import tutorial

    wanted = {
        page: [name for block in tutorial.blocks(page, "sh") for name in tutorial.packages(block)]
        for page in (
            ROOT / "README.md",
            *(each for part in PAGES for each in sorted((ROOT / part).glob("*.md"))),
        )
    }
    wanted = {page: names for page, names in wanted.items() if names}
    assert wanted, "no page asks for a package"
    house = HOUSE / f"pages-{version}"
    said = ""
    for page, names in wanted.items():
        with tempfile.TemporaryDirectory() as scratch:
            run(python, "-m", "venv", Path(scratch) / "env")
            own = Path(scratch) / "env" / "bin" / "python"
            pip = [own, "-m", "pip", "--quiet", "--disable-pip-version-check"]
            done = house / f"{page.stem}-{'-'.join(names)}.complete"
            if not done.exists():
                run(*pip, "download", "--only-binary=:all:", "--dest", house, "numpy", *names)
                done.touch()
            alone = {
                **os.environ,
                "HOME": scratch,
                "BITALE_FLAGS": "",
                "PYTHONPATH": "",
                "PYTENSOR_FLAGS": f"cxx=,base_compiledir={scratch}",
                "PIP_NO_INDEX": "1",
                "PIP_FIND_LINKS": f"{DIST} {house}",
            }
            run(*pip, "install", "bitale", env=alone)
            tool = [ROOT / "tools" / "tutorial.py", "--any-processor", "--install"]
            run(own, *tool, "python", page, env=alone, cwd=scratch)
            said += f"{page.relative_to(ROOT)} with {', '.join(names)} shows what it prints\n"
    return said


def root_of(suite: str, packages: list[str], machine: str = MACHINE) -> Path:
    """A system of that Debian release, with nothing but the packages."""
    root = ROOTS / (suite if machine == MACHINE else f"{suite}-{machine}")
    other = [] if machine == MACHINE else [f"--arch={EMULATED[machine]}"]
    if not (root / "bin" / "sh").exists() or (root / "debootstrap").exists():
        shutil.rmtree(root, ignore_errors=True)
        ROOTS.mkdir(parents=True, exist_ok=True)
        include = [f"--include={','.join(packages)}"] if packages else []
        run("debootstrap", "--variant=minbase", *other, *include, suite, root)
    return root


def copy_to(root: Path, parts: tuple[str, ...]) -> None:
    checkout = root / "bitale"
    shutil.rmtree(checkout, ignore_errors=True)
    for part in parts:
        (checkout / part).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, checkout / part)
        else:
            shutil.copy(ROOT / part, checkout / part)
    shutil.rmtree(root / "env", ignore_errors=True)


def in_system(suite: str, version: str) -> str:
    fetch(version)
    root = root_of(suite, ["python3", "python3-venv"])
    copy_to(root, PARTS)
    return install_and_try(
        Path("/env"), ["python3", "-m", "venv", "/env"], ["chroot", root], Path("/bitale")
    )


def models_in_system(suite: str, version: str) -> str:
    """The examples of PyMC in a bare system, with what pip installs and no compiler; `models_of_pymc` has fetched the packages."""
    root = root_of(suite, ["python3", "python3-venv"])
    copy_to(root, ("examples/python", "dist", f"build/wheelhouse/pymc-{version}"))
    python = ["chroot", root, "/env/bin/python"]
    run("chroot", root, "python3", "-m", "venv", "/env")
    houses = ["--find-links=/bitale/dist", f"--find-links=/bitale/build/wheelhouse/pymc-{version}"]
    start = time.monotonic()
    run(
        *python,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-index",
        *houses,
        "bitale",
        *FOR_MODELS,
    )
    said = f"installed in {time.monotonic() - start:.1f} s\n"
    own = {
        **os.environ,
        "HOME": "/tmp",
        "BITALE_FLAGS": "",
        "PYTHONPATH": "",
        "PYTENSOR_FLAGS": "cxx=",
        "BITALE_EXAMPLE_QUICK": "1",
    }
    for example in ("pymc_eight_schools.py", "pymc_radon.py"):
        start = time.monotonic()
        lines = run(*python, f"/bitale/examples/python/{example}", env=own, cwd="/")
        assert "skipped" not in lines, lines
        said += f"{example}, {time.monotonic() - start:.1f} s:\n{lines}"
    return said


def in_emulated_system(suite: str, version: str, machine: str) -> str:
    """The same steps on another processor."""
    fetch(version, ("numpy",), machine)
    root = root_of(suite, ["python3", "python3-venv"], machine)
    copy_to(root, PARTS)
    return install_and_try(
        Path("/env"),
        ["python3", "-m", "venv", "/env"],
        ["chroot", root],
        Path("/bitale"),
        beside=False,
    )


def tests_in_emulated_system(suite: str, version: str, machine: str) -> str:
    """The pages of the tutorial, and a part of the Python tests."""
    packages = ("numpy", *FOR_TESTS)
    fetch(version, packages, machine)
    root = root_of(suite, ["python3", "python3-venv"], machine)
    copy_to(root, ("tests", "tools", "docs", "README.md"))
    shutil.rmtree(root / "site", ignore_errors=True)
    # By this machine's pip: the emulated one takes minutes.
    houses = [f"--find-links={DIST}", *(f"--find-links={HOUSE / name}" for name in packages)]
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-index",
        *houses,
    ]
    run(*pip, "--target", root / "site", *of_system(version, machine), "bitale", *FOR_TESTS)
    python, said = ["chroot", root, "python3"], []
    own = {
        **os.environ,
        "HOME": "/tmp",
        "BITALE_FLAGS": "",
        "PYTHONPATH": "/site",
        "BITALE_TEST_FUZZ_GRAPHS": "60",
    }
    pages = [
        Path("/bitale") / page.relative_to(ROOT)
        for page in sorted((ROOT / "docs" / "tutorial").glob("*.md"))
        if page.name != "labels.md"
    ]  # needs xarray
    tool = "/bitale/tools/tutorial.py"
    for page in pages:
        try:
            run(*python, tool, "--any-processor", "python", page, env=own, cwd="/")
        except RuntimeError as differs:
            said.append(str(differs))
    if said:
        raise AssertionError("\n".join(said))
    tests = [f"/bitale/tests/python/{name}" for name in EMULATED_TESTS]
    said.append(
        run(
            *python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests, env=own, cwd="/"
        ).splitlines()[-1]
    )
    return f"{len(pages)} pages of the tutorial show what they print\n" + "\n".join(said)


def build_consumer(package: Path, libraries: Path, folder: Path) -> str:
    """tests/consumer with a CMake package, and one of its programs by pkg-config; the programs stay in the folder."""
    build, flags = (
        folder / "build",
        {**os.environ, "BITALE_FLAGS": f"base_compiledir={folder / 'compiled'}"},
    )
    run(
        "cmake",
        "-S",
        ROOT / "tests" / "consumer",
        "-B",
        build,
        "-G",
        "Ninja",
        f"-Dbitale_DIR={package}",
    )
    run("cmake", "--build", build)
    lines = run("ctest", "--test-dir", build, "--output-on-failure", env=flags).splitlines()
    if shutil.which("pkg-config"):
        found = {**os.environ, "PKG_CONFIG_PATH": str(libraries / "pkgconfig")}
        options = run("pkg-config", "--cflags", "--libs", "bitale", env=found).split()
        main = ROOT / "tests" / "consumer" / "main.cpp"
        # The options leave the language to the program.
        standard = ("-std=c++23", "-DBITALE_EXPECTED_LANGUAGE=202100L")
        run("g++", *standard, main, *options, f"-Wl,-rpath,{libraries}", "-o", folder / "main")
        lines.append("pkg-config: " + run(folder / "main", env=flags).strip())
    return "\n".join(line for line in lines if "tests passed" in line or "pkg-config" in line)


def consumer(python: str) -> str:
    """With the headers, library and CMake package of an installed wheel."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        run(python, "-m", "venv", folder / "env")
        own = folder / "env" / "bin" / "python"
        houses = [f"--find-links={DIST}", f"--find-links={HOUSE / 'numpy'}"]
        run(
            own,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--no-index",
            *houses,
            "bitale",
        )
        package = Path(run(own, "-m", "bitale", "--cmake-dir", cwd="/").strip())
        return build_consumer(package, package.parent, folder)


def consumer_of_archive() -> str:
    """With the archive of a prefix, in a folder of any name."""
    with tempfile.TemporaryDirectory() as scratch:
        [archive] = DIST.glob("bitale-*-linux-*.tar.gz")
        run("tar", "-xf", archive, "-C", scratch)
        [prefix] = Path(scratch).glob("bitale-*")
        return build_consumer(prefix / "lib" / "cmake" / "bitale", prefix / "lib", Path(scratch))


def consumer_of_debian() -> str:
    """With Debian's packages, unpacked; where chroot is allowed, the program runs in a system with the library's package."""
    with tempfile.TemporaryDirectory() as scratch:
        folder, packages = Path(scratch), sorted(DIST.glob("libbitale*.deb"))
        for package in packages:
            run("dpkg-deb", "-x", package, folder / "root")
        libraries = (
            folder
            / "root"
            / "usr"
            / "lib"
            / run("dpkg-architecture", "-qDEB_HOST_MULTIARCH").strip()
        )
        said = build_consumer(libraries / "cmake" / "bitale", libraries, folder)
        if os.geteuid() == 0 and shutil.which("debootstrap"):
            root = root_of("bookworm", ["python3", "python3-venv"])
            for file in (
                folder / "build" / "consumer",
                *(package for package in packages if "-dev" not in package.name),
            ):
                shutil.copy(file, root / "tmp" / file.name)
            run(
                "chroot",
                root,
                "sh",
                "-c",
                "apt-get install -y --no-install-recommends libstdc++6 && dpkg -i /tmp/libbitale0.2_*.deb",
            )
            own = {"HOME": "/tmp", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
            said += (
                "\ninstalled by dpkg in a bare system: "
                + run("chroot", root, "/tmp/consumer", env=own).strip()
            )
            run("chroot", root, "dpkg", "-r", "libbitale0.2")
        return said


def old_processor(python: str) -> str:
    """An emulated one without AVX2, which works with vectors of 128 bits."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        run(python, "-m", "venv", folder / "env")
        own = folder / "env" / "bin" / "python"
        houses = [f"--find-links={DIST}", f"--find-links={HOUSE / 'numpy'}"]
        run(
            own,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--no-index",
            *houses,
            "bitale",
        )
        program = (
            "import numpy as np, bitale as bt, bitale.tensor as pt; x = pt.dvector('x'); m = pt.dmatrix('m'); "
            "print(bt.function([x], pt.exp(x).sum())([0.0, 0.0]), bt.function([x], pt.sort(x))([2.0, 1.0]), "
            "bt.function([m], m @ m)(np.eye(9)).sum())"
        )
        own_flags = {**os.environ, "BITALE_FLAGS": f"base_compiledir={folder / 'compiled'}"}
        said = run(
            "qemu-x86_64-static", "-cpu", "Nehalem", own, "-c", program, env=own_flags, cwd="/"
        )
        assert said == "2.0 [1. 2.] 9.0\n", said
        return "a sum, a sort and a product"


def refusals(python: str, version: str) -> str:
    """Wheels that pip must refuse, and what an installed package says where it can't be loaded (refusals.py)."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        run(python, "-m", "venv", folder / "env")
        own = folder / "env" / "bin" / "python"
        pip = [
            own,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--no-index",
            "--no-deps",
        ]
        [wheel] = DIST.glob(
            f"*-cp{version.replace('.', '')}-cp{version.replace('.', '')}-*_{MACHINE}.whl"
        )
        lines = []
        for what, name in (
            (
                "another processor",
                re.sub(
                    r"x86_64|aarch64",
                    lambda found: {"x86_64": "aarch64", "aarch64": "x86_64"}[found[0]],
                    wheel.name,
                ),
            ),
            ("a system with musl", re.sub(r"manylinux_\d+_\d+", "musllinux_1_2", wheel.name)),
            ("another Python", wheel.name.replace(f"cp{version.replace('.', '')}", "cp39")),
        ):
            (folder / name).symlink_to(wheel)
            try:
                run(*pip, folder / name)
            except RuntimeError as refused:
                assert "is not a supported wheel on this platform" in str(refused), refused
                lines.append(f"for {what}: is not a supported wheel on this platform")
            else:
                raise AssertionError(f"pip installed a wheel for {what}")
        run(*pip, wheel)
        run(*pip[:-1], f"--find-links={HOUSE / 'numpy'}", "numpy")
        own_flags = {**os.environ, "BITALE_FLAGS": "", "HOME": str(folder)}
        return (
            "\n".join(lines)
            + "\n"
            + run(own, ROOT / "tests" / "wheel" / "refusals.py", env=own_flags, cwd="/").rstrip()
        )


def library_alone(suite: str) -> str:
    """A C++ program in a system whose glibc is old: linked here, run there with the library of a wheel."""
    from release import glibc

    root = root_of(suite, [])
    folder = root / "bitale"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    with zipfile.ZipFile(sorted(DIST.glob(f"*_{MACHINE}.whl"))[-1]) as archive:
        for name in archive.namelist():
            if re.match(r"bitale/lib[^/]*\.so$", name):
                (folder / Path(name).name).write_bytes(archive.read(name))
    main = folder / "main.o"
    run(
        "g++",
        "-std=c++20",
        "-O1",
        "-c",
        f"-I{ROOT / 'include'}",
        ROOT / "tests" / "consumer" / "main.cpp",
        "-o",
        main,
    )
    archive = run("g++", "-print-file-name=libstdc++.a").strip()
    shim = folder / "newer_glibc.o"
    run("g++", "-O1", "-c", ROOT / "cmake" / "portable" / "newer_glibc.cpp", "-o", shim)
    zig = [glibc.compiler(), "cc", "-target", "x86_64-linux-gnu.2.28"]
    libraries = [
        folder / "libbitale.so",
        archive,
        "/lib/x86_64-linux-gnu/libgcc_s.so.1",
        "-lm",
        "-lpthread",
        "-Wl,--allow-shlib-undefined",
    ]
    run(*zig, "-o", folder / "main", main, shim, *libraries)
    return run(
        "chroot",
        root,
        "/bitale/main",
        env={"HOME": "/tmp", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LD_LIBRARY_PATH": "/bitale"},
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="wheel", description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="a regular expression over the names")
    chosen = parser.parse_args()
    trials = {
        f"Python {version}": (in_environment, version, python)
        for version, python in pythons().items()
    }
    for version, python in [*pythons().items()][-1:]:
        trials["C++ by CMake"] = (consumer, python)
        trials["bad input"] = (refusals, python, version)
        trials["pages with other packages"] = (pages_with_packages, version, python)
        trials["PyMC"] = (models_of_pymc, version, python)
        if shutil.which("qemu-x86_64-static"):
            trials["processor without AVX2"] = (old_processor, python)
    if list(DIST.glob("bitale-*-linux-*.tar.gz")):
        trials["C++ by the archive"] = (consumer_of_archive,)
    if list(DIST.glob("libbitale*.deb")):
        trials["C++ by Debian's packages"] = (consumer_of_debian,)
    if os.geteuid() == 0 and shutil.which("debootstrap"):
        trials |= {
            f"Debian {suite}": (in_system, suite, version)
            for suite, version in SUITES.items()
            if version[2:] in tags()
        }
        newest = [*pythons()][-1:]  # none, if dist/ has packages for C++ only
        trials |= {
            f"PyMC in Debian {suite}": (models_in_system, suite, version)
            for suite, version in SUITES.items()
            if version in newest
        }
        trials["Debian bullseye, C++"] = (library_alone, "bullseye")
        for machine in EMULATED:
            there = {
                suite: version
                for suite, version in SUITES.items()
                if machine != MACHINE and version[2:] in tags(machine)
            }
            if there and not Path(f"/proc/sys/fs/binfmt_misc/qemu-{machine}").exists():
                print(
                    f"skipped: systems of {machine} need an emulator that Linux starts by itself (qemu-user-static, binfmt-support)"
                )
                continue
            for suite, version in there.items():
                trials[f"Debian {suite}, {machine}"] = (in_emulated_system, suite, version, machine)
            for suite, version in [*there.items()][:1]:
                trials[f"Debian {suite}, {machine}, tutorial and tests"] = (
                    tests_in_emulated_system,
                    suite,
                    version,
                    machine,
                )
    else:
        print("skipped: systems of other Debian releases need root and debootstrap")
    failed = 0
    for name, (trial, *arguments) in trials.items():
        if re.search(chosen.only, name):
            try:
                print(f"== {name}\n{trial(*arguments)}", flush=True)
            except Exception as error:
                failed += 1
                print(f"== {name}: FAILED\n{error}", flush=True)
    return 1 if failed or not trials else 0


if __name__ == "__main__":
    sys.exit(main())

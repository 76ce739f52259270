"""What an installed Bitale says where it can't work: each case is tried in a process of its own, with a copy of the package
that is damaged in one way. Needs Bitale and NumPy only. Prints a line for each case.
"""

import importlib.machinery
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import bitale

PACKAGE = Path(bitale.__file__).parent
SUFFIX = next(s for s in importlib.machinery.EXTENSION_SUFFIXES if (PACKAGE / f"_core{s}").exists())


def copy_to(folder):
    """The package without its large files, which are links."""
    copy = Path(folder) / "bitale"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("*.so", "include", "__pycache__"))
    for library in PACKAGE.glob("*.so"):
        (copy / library.name).symlink_to(library)
    return copy


def said(program, path=None, **environment):
    own = {
        **os.environ,
        "PYTHONPATH": str(path or ""),
        "PYTHONDONTWRITEBYTECODE": "1",
        **environment,
    }
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=own, cwd="/"
    )


def elf_hash(name):
    value = 0
    for byte in name.encode():
        value = (value << 4) + byte
        high = value & 0xF0000000
        value = (value ^ high >> 24) & ~high
    return value


def another_release():
    """Both in one process: a second package, of release 9.9, after this one."""
    release = ".".join(bitale.__version__.split(".")[:2])
    with tempfile.TemporaryDirectory() as folder:
        copy = copy_to(folder)
        module = copy / f"_core{SUFFIX}"
        content = module.read_bytes()
        assert content.count(f"BITALE_{release}".encode()) >= 1
        content = content.replace(f"BITALE_{release}".encode(), b"BITALE_9.9")
        content = content.replace(
            struct.pack("<I", elf_hash(f"BITALE_{release}")),
            struct.pack("<I", elf_hash("BITALE_9.9")),
        )
        module.unlink()
        module.write_bytes(content)
        program = (
            "import sys, bitale\n"
            "for name in [name for name in sys.modules if name.split('.')[0] == 'bitale']: del sys.modules[name]\n"
            f"sys.path.insert(0, {folder!r})\n"
            "import bitale"
        )
        answer = said(program)
    assert answer.returncode == 1, answer
    last = answer.stderr.strip().splitlines()[-1]
    assert (
        last.startswith("ImportError: ")
        and "needs its own library, of release 9.9" in last
        and "libbitale.so" in last
    ), answer.stderr
    return last


def another_copy():
    """A second copy of the same release in one process."""
    with tempfile.TemporaryDirectory() as folder:
        copy_to(folder)
        answer = said(
            "import sys, bitale\n"
            "for name in [name for name in sys.modules if name.split('.')[0] == 'bitale']: del sys.modules[name]\n"
            f"sys.path.insert(0, {folder!r})\n"
            "import bitale"
        )
    last = answer.stderr.strip().splitlines()[-1]
    assert answer.returncode == 1 and "one copy can be used in a process" in last, answer.stderr
    return last


def another_processor():
    """The compiled part has the name of another processor's."""
    with tempfile.TemporaryDirectory() as folder:
        copy = copy_to(folder)
        (copy / f"_core{SUFFIX}").rename(copy / "_core.cpython-312-sparc64-linux-gnu.so")
        answer = said("import bitale", folder)
    last = answer.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: ") and "is for another Python or processor" in last, (
        answer.stderr
    )
    return last


def damaged():
    """The compiled part is no library."""
    with tempfile.TemporaryDirectory() as folder:
        module = copy_to(folder) / f"_core{SUFFIX}"
        module.unlink()
        module.write_bytes(b"\x7fELF")
        answer = said("import bitale", folder)
    last = answer.stderr.strip().splitlines()[-1]
    assert (
        answer.returncode == 1
        and last.startswith("ImportError: ")
        and "can't be loaded by Python" in last
    ), answer.stderr
    return last


def no_right_to_write():
    """The compile directory can't be made."""
    program = "import bitale as bt, bitale.tensor as pt; x = pt.dvector('x'); print(bt.function([x], x * 2)([1.0]))"
    answer = said(program, BITALE_FLAGS="base_compiledir=/proc/none")
    assert answer.stdout == "[2.]\n" and "Traceback" not in answer.stderr, answer.stderr
    return f"computes all the same; {answer.stderr.strip() or 'nothing is said'}"


for case in (another_release, another_copy, another_processor, damaged, no_right_to_write):
    print(f"{case.__name__}: {case()}", flush=True)

"""What a user may do first with an installed Bitale, in a Python that has only it and NumPy. Prints a line for each step, and
the time that the first result took from the start of the process.

python first_steps.py CHECKOUT: the folder with README.md, docs and tools.
"""

import time

start = time.perf_counter()

import concurrent.futures
import ctypes
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

beside = [
    name
    for name in ("llvmlite.binding", "jaxlib", "torch")
    if importlib.util.find_spec(name.split(".")[0])
]
if "--after" in sys.argv:
    for name in beside:
        __import__(name)

import bitale as bt
import bitale.tensor as pt
import numpy as np

x = pt.dvector("x")
assert bt.function([x], pt.exp(x).sum())([0.0, 0.0]) == 2
print(f"first result after {time.perf_counter() - start:.2f} s")

CHECKOUT = Path(sys.argv[1]).resolve()
assert CHECKOUT not in Path(bt.__file__).resolve().parents, f"that is the checkout's: {bt.__file__}"


def command(*words, **environment):
    answer = subprocess.run(
        [sys.executable, "-m", "bitale", *words],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr
    return answer.stdout


def doctor():
    found = json.loads(command("doctor", "--json"))
    folder = str(Path(bt.__file__).parent)
    assert found["ok"], found
    assert found["blas"].startswith(folder) and found["blas"].endswith("libscipy_openblas.so"), (
        found["blas"]
    )
    assert found["llvm"].endswith("libbitale_llvm.so"), found["llvm"]
    return f"{found['llvm']}; {found['blas_kernels']}"


def pages():
    """Their snippets run, each page's in an empty folder, and print what they show; but for those that come after
    `pip install` of something else, which run.py tries."""
    folders = [CHECKOUT / "docs" / each for each in ("start", "tutorial", "howto")]
    found = [
        CHECKOUT / "README.md",
        CHECKOUT / "docs" / "site" / "index.md",
        *(page for each in folders for page in sorted(each.glob("*.md"))),
    ]
    assert len(found) > 30, found
    for page in found:
        with tempfile.TemporaryDirectory() as folder:
            tool = [CHECKOUT / "tools" / "tutorial.py", "--any-processor", "python", page]
            answer = subprocess.run(
                [sys.executable, *tool], capture_output=True, text=True, cwd=folder
            )
        assert answer.returncode == 0, answer.stdout + answer.stderr
    return f"{len(found)} show what they print"


def cache():
    program = "import bitale as bt, bitale.tensor as pt; x = pt.dvector('x'); print(bt.function([x], pt.tanh(x) * 1.5)([0.0]))"
    with tempfile.TemporaryDirectory() as folder:
        for flags in (f"compiledir={folder}", f"compiledir={folder},llvm_library=no-such-library"):
            answer = subprocess.run(
                [sys.executable, "-c", program],
                capture_output=True,
                text=True,
                env={**os.environ, "BITALE_FLAGS": flags},
            )
            assert answer.stdout == "[0.]\n", answer.stderr
    return "a second process compiles nothing"


def export():
    y = pt.dvector("y")
    f = bt.function([x, y], ((x - y) ** 2).sum(), name="distance")
    with tempfile.TemporaryDirectory() as folder:
        files = f.export_c(folder)
        return ", ".join(sorted(Path(file).name for file in files))


def products():
    a, b = pt.dmatrices("a", "b")
    f, values = bt.function([a, b], a @ b), np.random.default_rng(0).normal(size=(400, 400))
    np.testing.assert_allclose(f(values, values), values @ values, rtol=1e-9, atol=1e-9)
    times = []
    for _ in range(20):
        before = time.perf_counter()
        f(values, values)
        times.append(time.perf_counter() - before)
    g = bt.function([a], pt.linalg.inv(a))
    np.testing.assert_allclose(g(values) @ values, np.eye(400), atol=1e-6)
    return f"400 x 400 in {1e3 * min(times):.2f} ms"


def threads():
    f, values = bt.function([x], pt.tanh(x).sum()), np.linspace(-1, 1, 1001)
    expected = float(f(values))
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert set(map(float, pool.map(f, [values] * 200))) == {expected}
    return "200 calls from 8 threads"


def errors():
    caught = 0
    for _ in range(1000):
        try:
            bt.function([x], x + pt.dmatrix("m"))
        except bt.MissingInputError:
            caught += 1
    assert caught == 1000
    a = pt.dmatrix("a")
    try:
        bt.function([a], pt.linalg.cholesky(a))(-np.eye(3))
    except np.linalg.LinAlgError:
        pass
    else:
        raise AssertionError("a matrix that is not positive definite has a Cholesky factor")

    @bt.wrap_py([pt.dvector], [pt.dvector])
    def refuse(values):
        raise KeyError("raised in Python")

    # The library handles an exception of Python, too, and adds what it knows of the node.
    v = pt.dvector("v")
    for fails in (
        lambda: bt.function([v], refuse(v))(np.ones(3)),
        lambda: bt.grad(refuse(v).sum(), v),
    ):
        try:
            fails()
        except (KeyError, NotImplementedError, bt.NullTypeGradError) as error:
            if hasattr(error, "add_note"):  # from Python 3.11 on
                assert "refuse" in "".join(getattr(error, "__notes__", [str(error)])), error
        else:
            raise AssertionError("an exception of Python is lost")
    return "arrive as Python's"


def licences():
    folder = Path(bt.__file__).parent / "licences"
    parts = (folder / "parts.txt").read_text().split()
    assert {"llvm", "boost", "xxhash", "nanobind", "openblas", "libstdc++"} <= set(parts)
    assert all((folder / f"{part}.txt").read_text() for part in parts)
    return ", ".join(parts)


def libraries():
    loaded = (
        {line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}
        if os.path.exists("/proc/self/maps")
        else set()
    )
    folder = str(Path(bt.__file__).parent)
    of_system = [
        file
        for file in loaded
        if re.search(r"LLVM|openblas|blas", file) and not file.startswith(folder)
    ]
    return "of others: " + (
        ", ".join(Path(file).name for file in of_system if "numpy" not in file) or "none"
    )


if "--after" not in sys.argv:
    for name in beside:
        __import__(name)
for step in (doctor, pages, cache, export, products, threads, errors, licences, libraries):
    print(f"{step.__name__}: {step()}", flush=True)
print("beside: " + (", ".join(beside) or "nothing"))

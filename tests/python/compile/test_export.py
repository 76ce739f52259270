"""Functions outside the library: C code, addresses, and the documentation page about them, whose examples run."""

import ctypes
import gc
import re
import shutil
import subprocess
import threading
from pathlib import Path

import numpy as np
import pytest

import bitale
from bitale import tensor as pt

PAGE = Path(__file__).resolve().parents[3] / "docs" / "export.md"
VALUE_AND_GRAD = ctypes.CFUNCTYPE(
    ctypes.c_int,
    ctypes.c_size_t,
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_void_p,
)


@pytest.mark.skipif(
    not all(map(shutil.which, ("cc", "c++", "cmake", "make"))), reason="no C compiler or CMake"
)
def test_page(tmp_path, monkeypatch):
    """In the order of the page: Python runs here, programs are written to files, and commands run in a shell and end with the
    output that is shown. C that is not a program is in the exported header."""
    pytest.importorskip("scipy")
    monkeypatch.chdir(tmp_path)
    names, found = {}, set()
    files = {"c": "main.c", "cpp": "main.cpp", "cmake": "CMakeLists.txt"}
    block = r"^```(\w+)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?"
    for language, code, shown in re.findall(block, PAGE.read_text(), re.S | re.M):
        found.add(language)
        if language == "python":
            exec(compile(code, str(PAGE), "exec"), names)
        elif language == "sh":
            run = subprocess.run(["sh", "-e"], input=code, capture_output=True, text=True)
            assert run.returncode == 0, code + run.stderr
            assert shown and run.stdout.endswith(shown), code + run.stdout
        elif language == "c" and "int main(" not in code:
            assert code in Path("exported/distance.h").read_text()
        else:
            Path(files[language]).write_text(code)
    assert found == {"python", "sh", *files}


@pytest.mark.skipif(
    not shutil.which("cmake") or not shutil.which("ninja"), reason="no CMake or Ninja"
)
def test_cmake_builds_exported_functions(tmp_path):
    x = pt.dvector("x")
    bitale.function([x], pt.dot(x, x), name="square").export_c(tmp_path / "square")
    (tmp_path / "main.c").write_text("""#include "square.h"
int main(void) {
  const double x[2] = {3, 4};
  double total = 0;
  return square(x, 2, &total, 0) == 0 && total == 25 ? 0 : 1;
}
""")
    (tmp_path / "CMakeLists.txt").write_text("""cmake_minimum_required(VERSION 3.13)
project(main C)
add_subdirectory(square)
add_executable(main main.c)
target_link_libraries(main square)
""")
    for command in (
        ["cmake", "-G", "Ninja", "-S", tmp_path, "-B", tmp_path / "build"],
        ["cmake", "--build", tmp_path / "build"],
        [tmp_path / "build" / "main"],
    ):
        run = subprocess.run(command, capture_output=True, text=True)
        assert run.returncode == 0, run.stdout + run.stderr


def test_address_called_from_many_threads():
    x = pt.dvector("x")
    y = pt.exp(x).sum()
    f = bitale.function([x], [bitale.grad(y, x), y])
    density = VALUE_AND_GRAD(f.address("value_and_grad"))
    del f
    gc.collect()
    wrong = []

    def work(seed):
        rng = np.random.default_rng(seed)
        for _ in range(200):
            at, grad, value = rng.normal(size=5), np.empty(5), np.empty(())
            code = density(5, at.ctypes.data, grad.ctypes.data, value.ctypes.data, None)
            if (
                code != 0
                or not np.allclose(grad, np.exp(at))
                or not np.allclose(value, np.exp(at).sum())
            ):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_quad():
    integrate = pytest.importorskip("scipy.integrate")
    from scipy import LowLevelCallable

    x = pt.dscalar("x")
    f = bitale.function([x], pt.exp(-x))
    for form, types in (
        ("double (double)", [ctypes.c_double]),
        ("double (double, void *)", [ctypes.c_double, ctypes.c_void_p]),
    ):
        call = LowLevelCallable(ctypes.CFUNCTYPE(ctypes.c_double, *types)(f.address(form)))
        assert abs(integrate.quad(call, 0, np.inf)[0] - 1) < 1e-9


def test_errors():
    x = pt.dvector("x")
    with pytest.raises(TypeError, match="one float64 scalar"):
        bitale.function([x], x).address("double (double)")
    with pytest.raises(ValueError, match="value_and_grad"):
        bitale.function([x], x).address("value")
    with pytest.raises(ValueError, match="`for`"):
        bitale.function([x], x).export_c("nowhere", name="for")


def test_errors_of_export_object(tmp_path):
    x = pt.dvector("x")
    f = bitale.function([x], pt.exp(x))
    with pytest.raises(ValueError, match="no target `z80`; targets are native, x86-64"):
        bitale.export_object(f, tmp_path, target="z80")
    with pytest.raises(NotImplementedError, match="bt_sort_f64"):
        bitale.function([x], pt.sort(x)).export_object(tmp_path)


@pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler")
@pytest.mark.parametrize("form", ["c", "object"])
def test_codes_have_messages_also_where_there_is_no_workspace(tmp_path, form):
    m = pt.dmatrix("m")
    checked = bitale.raise_op.CheckAndRaise(ValueError, "m must have a row at least")(
        m, m.shape[0] > 0
    )
    f = bitale.function([m], pt.dot(pt.dot(checked, m), m), name="cube")
    source, header = (f.export_c if form == "c" else f.export_object)(tmp_path)[:2]
    text = Path(header).read_text()
    assert "m must have a row at least\n" in text and "CheckAndRaise" not in text
    library = str(tmp_path / "libcube.so")
    subprocess.run(["cc", "-shared", "-fPIC", source, "-lm", "-o", library], check=True)
    cube = ctypes.CDLL(library)
    cube.cube_message.restype = ctypes.c_char_p
    out, numbers = (ctypes.c_double * 4)(), (ctypes.c_double * 4)(1, 2, 3, 4)

    def message(rows, columns, workspace):
        lengths = ctypes.c_int64(rows), ctypes.c_int64(columns)
        return cube.cube_message(cube.cube(numbers, *lengths, out, workspace)).decode()

    room = ctypes.create_string_buffer(1000)
    assert message(2, 2, room) == "no error" and list(out) == [37, 54, 81, 118]
    assert message(2, 2, None) == "workspace is NULL, and cube_sizes asks for one"
    assert "dot" in message(1, 2, room)
    assert message(0, 0, None) == "m must have a row at least"


@pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler")
@pytest.mark.parametrize(
    "n, below, above", [(1, 0, 0), (5, 1, 1), (40, 2, 0), (40, 0, 3), (40, 3, 5)]
)
def test_symmetric_and_banded_systems_in_c(tmp_path, n, below, above):
    x, ab, b = pt.dmatrix("x"), pt.dmatrix("ab"), pt.dmatrix("b")
    outputs = [
        pt.linalg.solve(x, b, assume_a="sym"),
        pt.linalg.solve(x, b, assume_a="banded", transposed=True),
        pt.linalg.solve_banded((below, above), ab, b),
    ]
    cost = (outputs[2] ** 2).sum()
    f = bitale.function(
        [x, ab, b],
        [*outputs, bitale.grad(cost, b)],
        name="systems",
        mode=bitale.compile.Mode(optimizer="fast_compile"),
    )
    f.export_c(tmp_path)
    library = str(tmp_path / "libsystems.so")
    made = subprocess.run(["cc", "-std=c99", "-O2", "-shared", "-fPIC", str(tmp_path / "systems.c"), "-lm", "-o", library],
                          capture_output=True, text=True)  # fmt: skip
    assert made.returncode == 0, made.stderr
    rng = np.random.default_rng(n + below)
    a = rng.normal(size=(n, n))
    a, bands, right = a + a.T, rng.normal(size=(below + above + 1, n)), rng.normal(size=(n, 2))
    out = [np.empty((n, 2)) for _ in range(4)]
    length = ctypes.c_int64
    room = np.empty(10**6)
    arguments = []
    for value in (a, bands, right):
        arguments += [
            value.ctypes.data_as(ctypes.c_void_p),
            length(value.shape[0]),
            length(value.shape[1]),
        ]
    arguments += [each.ctypes.data_as(ctypes.c_void_p) for each in out]
    assert ctypes.CDLL(library).systems(*arguments, room.ctypes.data_as(ctypes.c_void_p)) == 0
    for got, expected in zip(out, f(a, bands, right)):
        np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-8)


def test_complex_systems_are_rejected_by_name(tmp_path):
    """They call LAPACK; banded systems, which are solved as real ones of twice the size, can be exported as C code."""
    z, w, la = pt.zmatrix("z"), pt.zmatrix("w"), pt.linalg
    for name, out in {
        "solve": la.solve(z, w),
        "solve_triangular": la.solve_triangular(z, w, lower=True),
        "cholesky": la.cholesky(z),
        "solve_sylvester": la.solve_sylvester(z, z, w),
        "slogdet": la.slogdet(z)[1],
        "qr": la.qr(z)[1],
        "svd": la.svd(z)[1],
        "eigh": la.eigh(z)[0],
    }.items():
        f = bitale.function([z, w], out, on_unused_input="ignore")
        for export in (f.export_c, f.export_object):
            with pytest.raises(NotImplementedError, match=f"bt_complex_{name}_f64"):
                export(tmp_path)
    assert bitale.function([z, w], la.solve(z, w, assume_a="tridiagonal")).export_c(tmp_path)


@pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler")
def test_lengths_that_long_expressions_give_are_checked_and_named(tmp_path):
    x, y, n = pt.dvector("x"), pt.dvector("y"), pt.lscalar("n")
    both = pt.specify_shape(x, (y.shape[0],)) * y
    f = bitale.function([x, y, n], [both, pt.ones(n * n - 7 * n + 3 * x.shape[0])], name="both")
    source, header = f.export_c(tmp_path)[:2]
    assert (
        "specify_shape: expected the length of `y` (dimension 0) in dimension 0"
        in Path(header).read_text()
    )
    library = str(tmp_path / "libboth.so")
    strict = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    subprocess.run(["cc", *strict, "-shared", "-fPIC", source, "-lm", "-o", library], check=True)
    both = ctypes.CDLL(library)
    both.both_message.restype = ctypes.c_char_p
    numbers, out, more = (
        (ctypes.c_double * 2)(1, 2),
        (ctypes.c_double * 2)(),
        (ctypes.c_double * 99)(),
    )

    def message(other, n):
        lengths = ctypes.c_int64(2), ctypes.c_int64(other)
        code = both.both(
            numbers, lengths[0], numbers, lengths[1], ctypes.c_int64(n), out, more, None
        )
        return both.both_message(code).decode()

    assert message(2, 7) == "no error" and list(out) == [1, 4] and list(more[:7]) == [1] * 6 + [0]
    assert message(3, 7).startswith("specify_shape: expected the length of `y`")
    assert "negative" in message(2, 3)


@pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler")
def test_exported_code_has_no_unused_names(tmp_path):
    x, m, n = pt.dvector("x"), pt.dmatrix("m"), pt.lscalar("n")
    cases = {
        "median": ([x, m], [pt.median(x), pt.median(m, axis=0)]),
        "inverse": ([m], [*pt.linalg.slogdet(m), pt.linalg.inv(m)]),
        "only_a_length": ([x, m], [x.shape[0] * 2]),
        "lengths": ([x, n], [pt.arange(n, 2 * n, 3), pt.cumsum(x)[::2], pt.zeros((n, n - 1))]),
    }
    for name, (inputs, outputs) in cases.items():
        f = bitale.function(inputs, outputs, name=name, on_unused_input="ignore")
        source = f.export_c(tmp_path)[0]
        run = subprocess.run(
            ["cc", "-std=c99", "-Wall", "-Wextra", "-fsyntax-only", source],
            capture_output=True,
            text=True,
        )
        assert run.returncode == 0 and run.stderr == "", run.stderr

"""``bitale doctor``: what was found on this machine, and whether a small function compiles and runs."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import shutil
import subprocess
import tempfile
import time
from typing import Any

import numpy as np

import bitale
from bitale import _core, tensor
from bitale.cli import cache, config
from bitale.cli.table import duration, size
from bitale.profile import measure_vector_width

_marks = {"ok": "ok  ", "note": "note", "fail": "FAIL"}


def add(verbs: Any, common: Any) -> None:
    text = "report processor, LLVM, BLAS, compiler and cache, and test them"
    parser = verbs.add_parser(
        "doctor", parents=[common], help=text, description=text[0].upper() + text[1:] + "."
    )
    parser.set_defaults(run=run, show=show)


def run(options: Any) -> dict[str, Any]:
    found = _core.system_report()
    vectors = [_vector_width()] if found["llvm"] else []
    found = _core.system_report()  # whose width may have changed
    checks = [
        _check(
            "bitale",
            "ok",
            f"{bitale.__version__}, Python {platform.python_version()}, NumPy {np.__version__}",
        ),
        _platform(),
        _processor(found),
        _llvm(found),
        _blas(found),
        _compiler(),
        _flags(),
        _cache(),
        _graphviz(),
        _jax(),
        _self_test("interpreter", "FAST_COMPILE"),
    ]
    if found["llvm"]:
        checks += [*vectors, _self_test("native code", "FAST_RUN")]
    return {"ok": all(check["status"] != "fail" for check in checks), "checks": checks, **found}


def show(result: dict[str, Any]) -> str:
    width = max(len(check["name"]) for check in result["checks"])
    lines = []
    for check in result["checks"]:
        lines.append(f"{_marks[check['status']]}  {check['name'].ljust(width)}  {check['text']}")
        if check["hint"]:
            lines.append(f"      {'':{width}}  {check['hint']}")
    lines.append("All is well." if result["ok"] else "Something does not work: see above.")
    return "\n".join(lines)


def _check(name: str, status: str, text: str, hint: str = "") -> dict[str, str]:
    return {"name": name, "status": status, "text": text, "hint": hint}


# The systems on which the tests run (docs/building.md, "Platforms").
_TESTED = {("Linux", "x86_64")}
_BUILT = {("Linux", "aarch64")}


def _platform() -> dict[str, str]:
    system, machine = platform.system(), platform.machine()
    library, version = platform.libc_ver()
    text = f"{system} {machine}, {library} {version}".rstrip(", ")
    if (system, machine) in _TESTED and library == "glibc":
        return _check("platform", "ok", text, "")
    if (system, machine) in _BUILT:
        return _check(
            "platform",
            "note",
            text,
            "wheels are built for it; only parts of the tests have been run, in an emulator",
        )
    return _check("platform", "note", text, "not supported: Bitale has not been tested here")


def _processor_name() -> str:
    try:
        with open("/proc/cpuinfo") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _processor(found: dict[str, Any]) -> dict[str, str]:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    text = f"{_processor_name()}, {cores} cores; target {found['target']}, vectors of {8 * found['vector_bytes']} bits"
    if platform.machine() == "x86_64" and "avx2" not in found["cpu_features"]:
        return _check(
            "processor",
            "note",
            text,
            "without AVX2 all works, with the narrowest vectors; no speed was measured there",
        )
    return _check("processor", "ok", text, " ".join(found["cpu_features"]))


def _vector_width() -> dict[str, str]:
    """Measured here and now, and kept."""
    try:
        found = measure_vector_width()
    except Exception as error:
        return _check("vectors", "fail", f"{type(error).__name__}: {error}")
    if not found.times:
        return _check("vectors", "ok", f"of {found.bits} bits, the only candidate width")
    compared = "; ".join(
        f"{bits} bits: {elementary:.2f} ns an element for exp and tanh, {plain:.2f} for arithmetic"
        for bits, (elementary, plain) in found.times.items()
    )
    kept = (
        ""
        if found.is_kept
        else "the compile directory can't be written, so other processes will measure again"
    )
    return _check(
        "vectors", "ok" if found.is_kept else "note", f"of {found.bits} bits ({compared})", kept
    )


def _llvm(found: dict[str, Any]) -> dict[str, str]:
    if found["llvm"]:
        return _check("LLVM", "ok", found["llvm"])
    return _check("LLVM", "fail", "not found", found["llvm_error"])


def _blas(found: dict[str, Any]) -> dict[str, str]:
    if found["blas_error"]:
        return _check("BLAS", "fail", bitale.config.blas__library, found["blas_error"])
    if not found["blas"]:
        hint = "matrix products use plain loops; wheels contain OpenBLAS, and the system's package is libopenblas0"
        return _check("BLAS", "note", "not found", hint)
    kernels = f", kernels {found['blas_kernels']}" if found["blas_kernels"] else ""
    return _check("BLAS", "ok", found["blas"] + kernels)


def _compiler() -> dict[str, str]:
    flags = {flag["name"]: flag["value"] for flag in _core.config_flags()}
    given = flags.get("cc") or flags["cxx"]
    for name in [given] if given else ["g++", "c++", "clang++"]:
        if file := shutil.which(name):
            return _check("compiler", "ok", f"{file}, {_first_line([file, '--version'])}")
    return _check(
        "compiler",
        "note",
        f"not found: {given or 'g++, c++, clang++'}",
        "native code does not need one",
    )


def _first_line(command: list[str]) -> str:
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.SubprocessError) as error:
        return f"which can't be run: {error}"
    return (answer.stdout or answer.stderr).strip().split("\n")[0]


def _flags() -> dict[str, str]:
    flags = _core.config_flags()
    if problems := [problem for flag in flags if (problem := config.invalid(flag["name"]))]:
        return _check(
            "flags",
            "fail",
            f"{len(problems)} with a value that is not allowed",
            "; ".join(problems),
        )
    changed = [f"{flag['name']}={flag['value']}" for flag in flags if flag["source"] != "default"]
    return _check("flags", "ok", ", ".join(changed) or "all have their default values")


def _cache() -> dict[str, str]:
    state = cache.listing()
    if not state["enabled"]:
        return _check("cache", "note", "not in use (cache=False)")
    damaged = sum(not entry["intact"] for entry in state["entries"])
    text = f"{state['path']}, {len(state['entries'])} entries, {size(state['bytes'])} of {size(state['limit'])}"
    if problem := _unwritable(cache.directory()):
        return _check(
            "cache",
            "note",
            text,
            f"{problem}: compiled code is not kept; choose another with the flag compiledir",
        )
    return _check(
        "cache", "ok", text, f"{damaged} are damaged: bitale cache cleanup" if damaged else ""
    )


def _unwritable(folder: str) -> str:
    """Why no file can be made there, or in the nearest folder above that is there; "" when one can."""
    while not os.path.isdir(folder):
        if os.path.exists(folder):
            return f"{folder} is not a directory"
        folder = os.path.dirname(folder)
    try:
        with tempfile.TemporaryFile(dir=folder):
            return ""
    except OSError as error:
        return f"{folder} can't be written to ({error.strerror})"


def _jax() -> dict[str, Any]:
    """Mode JAX: the package, and the devices that it has found."""
    if importlib.util.find_spec("jax") is None:
        return _check(
            "JAX", "note", "not installed", "pip install jax: only mode JAX and bitale.jax need it"
        )
    try:
        import bitale.jax

        devices = bitale.jax.devices()
    except Exception as error:  # any error of JAX: no device, another version
        return _check("JAX", "note", f"can't be used: {str(error).splitlines()[0]}")
    kinds = ", ".join(sorted({f"{d.platform} {d.device_kind}" for d in devices}))
    return _check(
        "JAX",
        "ok",
        f"{importlib.metadata.version('jax')}, {len(devices)} device{'s' * (len(devices) != 1)}: {kinds}",
    )


def _graphviz() -> dict[str, str]:
    file = shutil.which("dot")
    if file:
        return _check("Graphviz", "ok", f"{file}, {_first_line([file, '-V'])}")
    return _check(
        "Graphviz", "note", "not found", "pictures need its program `dot`; pages of HTML do not"
    )


def _self_test(name: str, mode: str) -> dict[str, str]:
    """The value and gradient of a small loss, compiled anew, against the same written with NumPy."""
    rng = np.random.default_rng(0)
    inputs, weights = rng.normal(size=(50, 7)), rng.normal(size=7)
    try:
        x, w = tensor.dmatrix("x"), tensor.dvector("w")
        loss = tensor.log1p(tensor.exp(-tensor.dot(x, w))).mean()
        start = time.perf_counter()
        with bitale.config.change_flags(cache=False):
            function = bitale.function([x, w], [loss, bitale.grad(loss, w)], mode=mode)
        compiled = time.perf_counter() - start
        value, gradient = function(inputs, weights)
    except Exception as error:  # the report shows any error
        return _check(name, "fail", f"{type(error).__name__}: {error}")
    scores = inputs @ weights
    expected = -(inputs / (1 + np.exp(scores))[:, None]).mean(axis=0)
    right = np.allclose(value, np.log1p(np.exp(-scores)).mean()) and np.allclose(gradient, expected)
    if not right:
        return _check(
            name,
            "fail",
            "a small function gives wrong values",
            "please report this, with the output of --json",
        )
    return _check(
        name,
        "ok",
        f"a small function and its gradient: compiled in {duration(compiled)}, right values",
    )

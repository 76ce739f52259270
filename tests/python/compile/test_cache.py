"""Sharing of compiled code between processes. Faults of the compile directory are tested by tests/stress/cache.py, and
the examples of docs/cache.md by test_docs.py."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import bitale as bt
import bitale.tensor as pt
from bitale.cli import main

PROGRAM = """
import numpy as np, bitale as bt, bitale.tensor as pt
x = pt.dmatrix("x")
for k in range(4):
    f = bt.function([x], [pt.exp(x * (k + 0.5)), bt.grad(pt.tanh(x * k).sum(), x)])
    value = np.linspace(-1, 1, 12).reshape(3, 4)
    np.testing.assert_allclose(f(value)[0], np.exp(value * (k + 0.5)), rtol=1e-14)
    np.testing.assert_allclose(f(value)[1], k / np.cosh(value * k) ** 2, rtol=1e-14)
"""


def start(flags):
    package = Path(bt.__file__).parents[1]
    environment = {
        **os.environ,
        "BITALE_FLAGS": flags,
        "PYTHONPATH": f"{package}:{os.environ.get('PYTHONPATH', '')}",
    }
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM], env=environment, stderr=subprocess.PIPE, text=True
    )


def finish(process):
    errors = process.communicate(timeout=600)[1]
    assert process.returncode == 0, errors
    return errors


def test_concurrent_processes_share_compiled_code(tmp_path, capsys):
    flags = f"compiledir={tmp_path}"
    running = [start(flags) for _ in range(4)]
    assert [finish(process) for process in running] == [""] * 4
    assert finish(start(f"{flags},llvm_library=no-such-library")) == ""  # needs no compilation
    with bt.config.change_flags(compiledir=str(tmp_path)):
        main(["cache", "list", "--json"])
        listing = json.loads(capsys.readouterr().out)
        assert len(listing["entries"]) == 4 and all(entry["intact"] for entry in listing["entries"])
        assert not listing["temporary"]
        main(["cache", "unlock", "--json"])
        assert json.loads(capsys.readouterr().out)["claimed"] is False


def test_an_unwritable_directory_is_reported_once(tmp_path):
    (tmp_path / "file").touch()
    errors = finish(start(f"compiledir={tmp_path}/file/below"))
    assert errors.count("warning") == errors.count("\n") == 1 and "Not a directory" in errors


def test_threads_compile_concurrently(tmp_path):
    x, wrong = pt.dvector("x"), []

    def work(number):
        for k in range(3):
            value = bt.function([x], (x * (k + 0.25)).sum())([1.0, 2.0])
            if value != 3 * (k + 0.25):
                wrong.append((number, k, value))

    with bt.config.change_flags(compiledir=str(tmp_path)):
        threads = [threading.Thread(target=work, args=[number]) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong

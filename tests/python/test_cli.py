"""The command-line interface."""

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import bitale as bt
import bitale.tensor as pt
from bitale.cli import main

PACKAGE = Path(bt.__file__).parents[1]


def run(*arguments, flags="", **options):
    environment = {**os.environ, "PYTHONPATH": f"{PACKAGE}:{os.environ.get('PYTHONPATH', '')}"}
    environment["BITALE_FLAGS"] = flags or os.environ["BITALE_FLAGS"]
    return subprocess.run(
        [sys.executable, "-m", "bitale", *arguments],
        capture_output=True,
        text=True,
        env=environment,
        timeout=300,
        **options,
    )


def result(capsys, *arguments):
    capsys.readouterr()
    status = main([*arguments, "--json"])
    return status, json.loads(capsys.readouterr().out)


@pytest.fixture
def cached_entry(tmp_path):
    """A separate compile directory with one entry."""
    with bt.config.change_flags(compiledir=str(tmp_path / "compiledir")):
        x = pt.dvector("x")
        bt.function([x], pt.tanh(x) * 1.25, mode="FAST_RUN")
        entries = [
            file for file in (tmp_path / "compiledir" / "objects").iterdir() if len(file.name) == 32
        ]
        if not entries:  # this process has already compiled the function
            pytest.fail("no entry was stored")
        yield entries[0]


def test_module_and_version():
    assert run("--version").stdout == f"bitale {bt.__version__}\n"
    assert run().returncode == 2
    assert "usage" in run("nonsense").stderr


def test_help_of_every_command():
    for verb in (
        ["cache"],
        ["cache", "list"],
        ["config"],
        ["doctor"],
        ["view"],
        ["export"],
        ["bench"],
    ):
        with pytest.raises(SystemExit) as stopped:
            main([*verb, "--help"])
        assert stopped.value.code == 0


def test_completion():
    pytest.importorskip("shtab")
    script = run("--completion", "bash").stdout
    assert "doctor" in script and "cleanup" in script
    assert run("--completion", "fish").returncode == 2


def test_config(capsys, tmp_path):
    status, flags = result(capsys, "config")
    assert status == 0 and {"floatX", "compiledir", "mode"} <= {flag["name"] for flag in flags}
    assert all(
        flag["doc"] and flag["source"] in ("default", "environment", "file", "code")
        for flag in flags
    )
    with bt.config.change_flags(on_unused_input="warn"):
        [flag] = result(capsys, "config", "on_unused_input")[1]
        assert flag["value"] == "warn" and flag["source"] == "code" and flag["default"] == "raise"
    main(["config", "floatX"])
    assert "floatX = float64" in capsys.readouterr().out
    assert main(["config", "floatx"]) == 1
    assert "floatX" in capsys.readouterr().err
    rc = tmp_path / "rc"
    rc.write_text("[global]\nmode = FAST_COMPILE\n")
    changed = subprocess.run(
        [sys.executable, "-m", "bitale", "config", "--changed", "--short"],
        capture_output=True,
        text=True,
        timeout=300,
        env={
            **os.environ,
            "PYTHONPATH": str(PACKAGE),
            "BITALERC": str(rc),
            "BITALE_FLAGS": "floatX=float32",
        },
    ).stdout
    assert (
        f"mode    FAST_COMPILE  {rc}" in changed and "floatX  float32       environment" in changed
    )


def test_cache_path_and_list(cached_entry, capsys):
    assert result(capsys, "cache", "path") == (0, {"path": str(cached_entry.parents[1])})
    status, listing = result(capsys, "cache", "list")
    assert (
        status == 0
        and listing["enabled"]
        and [entry["key"] for entry in listing["entries"]] == [cached_entry.name]
    )
    assert listing["bytes"] == cached_entry.stat().st_size == listing["entries"][0]["bytes"]
    main(["cache", "list"])
    assert cached_entry.name in (text := capsys.readouterr().out) and "1 entry" in text


def test_cache_cleanup_removes_only_unusable_files(cached_entry, capsys):
    left, young = cached_entry.parent / "tmp-999999999-0", cached_entry.parent / "tmp-999999999-1"
    for file in (left, young):
        file.write_bytes(b"half")
    os.utime(left, (1, 1))
    (cached_entry.parent / ("0" * 32)).write_bytes(b"no entry")
    main(["cache", "list"])
    assert "damaged" in (text := capsys.readouterr().out) and "cleanup" in text
    assert result(capsys, "cache", "cleanup")[1]["files"] == 2
    assert cached_entry.exists() and young.exists() and not left.exists()
    assert result(capsys, "cache", "cleanup")[1]["files"] == 0


def test_cache_clear_and_purge(cached_entry, capsys):
    mine = cached_entry.parents[1] / "notes"
    mine.write_text("the user's")
    assert result(capsys, "cache", "clear")[1]["files"] == 1
    assert not cached_entry.exists()
    base = cached_entry.parents[2] / "base"
    flags = f"base_compiledir={base}"
    objects = base / "compiledir_other" / "objects"
    objects.mkdir(parents=True)
    (objects / ("f" * 32)).write_bytes(b"an entry of another platform")
    purged = run("cache", "purge", "--json", flags=flags)
    assert json.loads(purged.stdout)["files"] == 1 and not objects.parent.exists()
    assert mine.exists()
    assert "Nothing to remove" in run("cache", "purge", flags=flags).stdout


def test_cache_unlock_has_nothing_to_remove(cached_entry, capsys):
    status, answer = result(capsys, "cache", "unlock")
    assert status == 0 and answer["removed"] == 0 and answer["claimed"] is False
    assert cached_entry.exists()


def test_doctor(capsys):
    status, report = result(capsys, "doctor")
    assert (status == 0) == report["ok"]
    checks = {check["name"]: check for check in report["checks"]}
    assert checks["interpreter"]["status"] == "ok" and report["vector_bytes"] in (16, 32, 64)
    if report["llvm"]:
        assert checks["native code"]["status"] == "ok" and checks["vectors"]["status"] in (
            "ok",
            "note",
        )
    main(["doctor"])
    assert "All is well" in capsys.readouterr().out or not report["ok"]


def test_doctor_measures_the_best_vector_width(tmp_path):
    answer = json.loads(run("doctor", "--json", flags=f"compiledir={tmp_path}").stdout)
    if not answer["llvm"] or not (tmp_path / "machines").exists():
        pytest.skip("there is nothing to choose")
    [record] = (tmp_path / "machines").iterdir()
    with bt.config.change_flags(compiledir=str(tmp_path)):
        assert bt._core.system_report()["vector_bytes"] == answer["vector_bytes"]
        found = bt.profile.measure_vector_width()
        assert found.is_kept and set(found.times) == {512, 256} and found.bits in found.times
        assert bt._core.system_report()["vector_bytes"] == found.bits // 8
    for bits in (256, 512):
        with bt.config.change_flags(compiledir=str(tmp_path), target=f"native-{bits}"):
            assert bt._core.system_report()["vector_bytes"] == bits // 8
    assert record.exists()


def test_doctor_without_llvm_and_with_an_unwritable_compile_directory(tmp_path):
    (tmp_path / "file").write_text("")
    answer = run(
        "doctor", "--json", flags=f"llvm_library=/nowhere/libLLVM.so,compiledir={tmp_path}/file"
    )
    checks = {check["name"]: check for check in json.loads(answer.stdout)["checks"]}
    assert (
        answer.returncode == 1
        and checks["LLVM"]["status"] == "fail"
        and checks["interpreter"]["status"] == "ok"
    )
    assert checks["cache"]["status"] == "note" and "not a directory" in checks["cache"]["hint"]


def test_flags_with_invalid_values():
    flags = "floatX=float99,target=none"
    assert 'ERROR: invalid value "float99"' in run("config", "floatX", flags=flags).stdout
    assert "float99" in run("config", "--changed", "--short", flags=flags).stdout
    answer = run("doctor", "--json", flags=flags)
    checks = {check["name"]: check for check in json.loads(answer.stdout)["checks"]}
    assert (
        answer.returncode == 1
        and checks["flags"]["status"] == "fail"
        and "float64" in checks["flags"]["hint"]
    )


def test_doctor_with_a_wrong_blas_library(tmp_path):
    answer = run(
        "doctor", "--json", flags=f"blas__library=/nowhere/libblas.so,compiledir={tmp_path}"
    )
    blas = next(check for check in json.loads(answer.stdout)["checks"] if check["name"] == "BLAS")
    assert answer.returncode == 1 and blas["status"] == "fail" and "cblas_dgemm" in blas["hint"]


SCRIPT = """
import bitale as bt, bitale.tensor as pt
x = pt.dvector("x")
y = pt.exp(x)
f = bt.function([x], y, name="exponential")
models = {"first": [y, x]}
number = 3
"""


def test_view(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model_of_test.py").write_text(SCRIPT)
    assert result(capsys, "view", "model_of_test.py:f")[1]["file"] == "f.html"
    assert "<title>exponential</title>" in (tmp_path / "f.html").read_text()
    assert result(capsys, "view", "model_of_test:y", "-o", "y.dot", "--structure")[0] == 0
    assert "label=type" in (tmp_path / "y.dot").read_text()
    assert result(capsys, "view", "model_of_test.py:models.first", "-o", "m.dot")[0] == 0
    x = pt.dvector("x")
    f = bt.function([x], x * 2, name="double")
    (tmp_path / "stored.pickle").write_bytes(pickle.dumps(f))
    assert result(capsys, "view", "stored.pickle")[1]["file"] == "stored.html"
    assert "<title>double</title>" in (tmp_path / "stored.html").read_text()
    (tmp_path / "graph.pickle").write_bytes(pickle.dumps([x, x * 2]))
    assert result(capsys, "view", "graph.pickle", "-o", "graph.dot")[0] == 0
    for target, complaint in (
        ("model_of_test.py:number", "int"),
        ("model_of_test.py:nothing", "nothing"),
        ("model_of_test.pkl", "pickle"),
        ("no_such_module:f", "no_such_module"),
    ):
        assert main(["view", target]) == 1
        assert complaint in capsys.readouterr().err


def test_export(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model_to_export.py").write_text(SCRIPT)
    status, answer = result(capsys, "export", "model_to_export.py:f")
    assert status == 0 and {Path(file).suffix for file in answer["files"]} >= {".c", ".h"}
    assert all(Path(file).is_file() for file in answer["files"])
    assert main(["export", "model_to_export.py:f", "-o", "elsewhere", "--name", "predict"]) == 0
    assert (tmp_path / "elsewhere" / "predict.h").exists()
    assert main(["export", "model_to_export.py:y"]) == 1
    assert "expected a function" in capsys.readouterr().err
    status, answer = result(
        capsys, "export", "--object", "--for", "aarch64", "model_to_export.py:f", "-o", "object"
    )
    assert status == 0 and [Path(file).suffix for file in answer["files"]] == [".o", ".h"]
    assert Path(answer["files"][0]).read_bytes()[18] == 183  # EM_AARCH64
    assert main(["export", "--for", "aarch64", "model_to_export.py:f"]) == 1
    assert "--for goes with --object" in capsys.readouterr().err
    assert main(["export", "--object", "--wasm", "model_to_export.py:f"]) == 1
    assert "--object and --wasm are two kinds of output" in capsys.readouterr().err


def test_bench(capsys):
    status, report = result(capsys, "bench", "--seconds", "0.01")
    assert status == 0 and all(figure["bitale"] > 0 for figure in report["figures"])
    assert main(["bench", "--seconds", "0"]) == 1

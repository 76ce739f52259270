"""tools/device_check, rehearsed: the check that is run on a GPU runs here on the processor, at small sizes."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """The result of the script, and its folder."""
    out = tmp_path_factory.mktemp("check")
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": ""}
    options = [
        "--size",
        "small",
        "--seconds",
        "500",
        "--each",
        "0.01",
        "--tests",
        "test_mode and a_gradient",
    ]
    made = subprocess.run(
        [sys.executable, ROOT / "tools" / "device_check", "--out", out, *options],
        env=environment,
        capture_output=True,
        text=True,
        timeout=550,
    )
    return made, out


def test_every_workload_is_measured_and_agrees(checked):
    made, out = checked
    assert made.returncode == 0, made.stdout + made.stderr
    report = json.loads((out / "report.json").read_text())
    assert len(report["workloads"]) == 26
    for row in report["workloads"]:
        assert row["agrees"] and "failure" not in row, row
        assert set(row["ratio"]) == {"as_jax", "mode JAX", "mode JAX, NumPy"} and row["bytes"] > 0
        assert all(
            each > 0
            for each in (
                *row["seconds"].values(),
                row["native seconds"],
                *row["share of bandwidth"].values(),
            )
        )
    assert report["updates"]["transfers"] == "none" and report["updates"]["error"] < 1e-5
    assert report["machine"]["platform"] == "cpu" and report["limits"]["copy"] > 0


def test_the_suite_is_counted(checked):
    _, out = checked
    tests = json.loads((out / "report.json").read_text())["tests"]
    assert tests["status"] == 0 and tests["passed"] == 1 and not tests["failures"]


def test_the_table_has_a_line_per_workload(checked):
    _, out = checked
    text = (out / "report.md").read_text()
    assert text.count("| float32 |") == text.count("| float64 |") == 13 and "differs" not in text


def test_failures_and_missing_time_are_reported(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    from device_check import measure, report, suite

    (late,) = [
        row
        for row in measure.rows("small", ["float64"], 1.0, 0.0, 0.01, print)
        if row["workload"] == "softmax"
    ]
    assert "no time was left" in report.line(late)
    import jax_workloads

    monkeypatch.setitem(jax_workloads.MAKERS, "softmax", lambda *_: 1 / 0)
    monkeypatch.setattr(jax_workloads, "SIZES", {"small": {"softmax": (2, 2)}})
    (broken,) = measure.rows("small", ["float64"], 1.0, float("inf"), 0.01, print)
    assert not broken["agrees"] and "ZeroDivisionError" in report.line(broken)
    log = """tests/xla/test_a.py::test_b[x-1] PASSED  [ 50%]
[gw0] [ 60%] FAILED tests/xla/test_a.py::test_c[a b]
tests/xla/test_a.py::test_d SKIPPED (no GPU)  [100%]
"""
    counts = suite.counts(log)
    assert counts["passed"] == counts["skipped"] == 1 and counts["failed"] == 1, counts

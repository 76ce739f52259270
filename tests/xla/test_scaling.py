"""bench/xla_scaling: what is communicated is what the model of a ring says, on devices of one process and between processes."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import xla_scaling

COLUMNS = 5000  # the gradient's bytes outweigh what the processes tell each other besides
ROWS = 64


def test_a_program_text():
    program = """
  %all-reduce.1 = f64[40]{0} all-reduce(%x), channel_id=1, to_apply=%add
  %all-reduce.2 = (f32[], f64[3,5]{1,0}) all-reduce(%x, %y), channel_id=2
  %all-reduce-start = s32[7]{0} all-reduce-start(%z), channel_id=3
  %w = f64[100]{0} add(%x, %x)
"""
    assert xla_scaling.all_reduced_bytes(program) == 320 + (4 + 120) + 28
    assert xla_scaling.ring_bytes(100, 1) == 0 and xla_scaling.ring_bytes(100, 4) == 150


@pytest.fixture(scope="module")
def alone():
    return xla_scaling.run(1, 1, ROWS, COLUMNS, steps=2)


@pytest.mark.parametrize("devices", [2, 4, 8])
def test_devices_of_one_process(alone, devices):
    found = xla_scaling.run(1, devices, ROWS, COLUMNS, steps=2)
    assert found["devices"] == devices and found["value"] == pytest.approx(
        alone["value"], rel=1e-12
    )
    assert found["reduced"] == 8 * (COLUMNS + 1)  # the gradient and the value
    assert alone["reduced"] == 0


@pytest.mark.parametrize("processes", [2, 4])
def test_processes(alone, processes):
    found = xla_scaling.run(processes, 1, ROWS, COLUMNS, steps=30)
    assert found["devices"] == processes and found["value"] == pytest.approx(
        alone["value"], rel=1e-12
    )
    assert found["reduced"] == 8 * (COLUMNS + 1)
    assert found["model"] == 8 * (COLUMNS + 1) * 2 * (processes - 1) / processes
    assert found["written"] == pytest.approx(found["model"], rel=0.1)


def test_the_table():
    found = [
        {
            "processes": n,
            "devices": n,
            "milliseconds": 1.0,
            "reduced": 328,
            "model": 328.0,
            "written": 340.0,
            "value": 0.0,
        }
        for n in (1, 2)
    ]
    lines = xla_scaling.table(found).splitlines()
    assert lines[2].endswith("| 328 | | |") and lines[3].endswith("| 328 | 340 | 1.04 |")

"""GradBench's evals in Python: a process that speaks the protocol gives what plain Python does, and an error for what it can't answer. The
C++ program has the same check in ctest."""

import sys
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
sys.path.insert(0, str(CHECKOUT / "tests" / "gradbench"))

import check


def test_values_derivatives_and_errors():
    tool = check.Tool([sys.executable, str(CHECKOUT / "bench" / "gradbench" / "tool.py")])
    assert list(check.problems(tool)) == []


def test_the_check_finds_what_is_wrong():
    assert check.difference([1.0, 2.0], [1.0, 2.0 + 1e-6]) > 1e-9
    assert check.difference([1.0], [1.0, 2.0]) == float("inf")
    assert check.difference([[1.0], [2.0]], [1.0, 2.0]) == float("inf")
    assert check.difference({"a": 1.0}, {"b": 1.0}) == float("inf")
    assert check.difference(1.0, None) == float("inf")
    assert check.difference([float("nan")], [1.0]) != 0.0

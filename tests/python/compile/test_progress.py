"""Long compilations show their stage, and all log their stages."""

import io
import logging
import sys

import pytest

import bitale as bt
import bitale.tensor as pt
from bitale import _progress


def deep(n=300):
    x = pt.dvector("x")
    y = x
    for k in range(n):
        y = pt.sin(y) * (k + 0.5)
    return x, y


def test_stages_are_logged(caplog):
    x, y = deep(3)
    with caplog.at_level(logging.DEBUG, logger="bitale.compile"):
        bt.function([x], y)
    stages = [
        record.getMessage().partition(":")[0]
        for record in caplog.records
        if record.name == "bitale.compile"
    ]
    assert [stage.partition(",")[0] for stage in stages] == [
        "rewriting",
        "lowering",
        "generating code",
        "linking",
        "compiling",
    ]
    assert stages[0] == "rewriting, 9 nodes"
    caplog.clear()
    bt.function([x], y + 1)
    assert not caplog.records


def test_a_logger_that_fails_does_not_end_a_compilation(monkeypatch, capsys):
    def fails(*_):
        raise RuntimeError("no disk")

    seen = []
    monkeypatch.setattr(sys, "unraisablehook", lambda given: seen.append(given.exc_value))
    monkeypatch.setattr(logging.getLogger("bitale.compile"), "isEnabledFor", fails)
    x, y = deep(2)
    assert bt.function([x], y)([0.0]) == 0
    assert seen and all(isinstance(each, RuntimeError) for each in seen)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("after", [0.0, float("inf")])
def test_a_line_of_progress(monkeypatch, after):
    """What a terminal gets when a compilation takes longer than the flag says."""
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    x, y = deep()
    with bt.config.change_flags(progress_after=after):
        bt.function([x], y)
    lines = terminal.getvalue().split("\r")
    if after:
        assert lines == [""]
        return
    assert lines[0] == "" and lines[1].startswith("bitale: ") and " nodes, " in lines[1]
    assert (
        lines[-1].startswith("bitale: compiling took ")
        and lines[-1].endswith(" s\n")
        or lines[-1].rstrip(" \n").endswith(" s")
    )
    assert terminal.getvalue().count("\n") == 1


def test_no_progress_where_nobody_looks(monkeypatch):
    monkeypatch.setattr(sys, "stderr", file := io.StringIO())
    x, y = deep()
    with bt.config.change_flags(progress_after=0.0):
        bt.function([x], y)
    assert file.getvalue() == ""
    monkeypatch.setattr(sys, "stderr", None)
    with bt.config.change_flags(progress_after=0.0):
        bt.function([x], y * 2)


def test_a_shorter_line_overwrites_a_longer_one(monkeypatch):
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    _progress.show("generating code", 12345, 3.0)
    _progress.show("linking", 5, 3.1)
    _progress.end(3.2)
    first, second, last = terminal.getvalue().split("\r")[1:]
    assert first == "bitale: generating code, 12345 nodes, 3.0 s"
    assert second.startswith("bitale: linking, 5 nodes, 3.1 s") and len(second) == len(first)
    assert last.startswith("bitale: compiling took 3.2 s") and last.endswith("\n")


def test_a_closed_terminal(monkeypatch):
    terminal = Terminal()
    terminal.close()
    monkeypatch.setattr(sys, "stderr", terminal)
    x, y = deep()
    with bt.config.change_flags(progress_after=0.0):
        bt.function([x], y * 3)


def test_the_flag():
    with pytest.raises(ValueError, match="progress_after"):
        bt.config.progress_after = -1.0

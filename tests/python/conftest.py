"""Every test with an argument `mode` runs with the interpreter and with native code. Compiled code is stored in a
temporary directory, not in the user's. With BITALE_TEST_SAMPLE, only a part of each test's cases runs. A failed run
ends with the commands that repeat its failures."""

import os
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from sampling import part_of

_compiled = tempfile.TemporaryDirectory(prefix="bitale-test-")
os.environ["BITALE_FLAGS"] = (
    os.environ.get("BITALE_FLAGS", "") + ",base_compiledir=" + _compiled.name
)


@pytest.fixture(params=["FAST_COMPILE", "FAST_RUN"])
def mode(request):
    return request.param


def pytest_collection_modifyitems(config, items):
    cases = defaultdict(list)
    for item in items:
        cases[item.nodeid.partition("[")[0]].append(item)
    kept = {id(item) for group in cases.values() for item in part_of(group)}
    left_out = [item for item in items if id(item) not in kept]
    if left_out:
        items[:] = [item for item in items if id(item) in kept]
        config.hook.pytest_deselected(items=left_out)


def pytest_terminal_summary(terminalreporter):
    failed = [
        r.nodeid for kind in ("failed", "error") for r in terminalreporter.stats.get(kind, [])
    ]
    if failed:
        terminalreporter.section("again, a line each")
    for nodeid in failed:
        terminalreporter.line(f"{os.path.relpath(sys.executable)} -m pytest -q '{nodeid}'")

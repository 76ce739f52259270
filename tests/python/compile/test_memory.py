"""Memory of calls: a failed allocation is an error without side effects, and large results reuse memory of earlier
ones."""

import os
import resource
import subprocess
import sys

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt


def test_results_and_temporaries_beyond_the_address_space(mode):
    n, s = pt.lscalar("n"), bt.shared(np.arange(3.0))
    large = pt.alloc(s[0] + 1.0, n)
    result = bt.function([n], large, updates=[(s, s + 1)], mode=mode)
    temporary = bt.function([n], pt.sort(large)[0], updates=[(s, s + 1)], mode=mode)
    for f in (result, temporary):
        before = s.get_value()
        for length in (10**15, 2**60):
            with pytest.raises(MemoryError, match=str(length)):
                f(n=length)
        np.testing.assert_array_equal(s.get_value(), before)
        assert np.ravel(f(n=4))[0] == before[0] + 1
        np.testing.assert_array_equal(s.get_value(), before + 1)


SMALL_MACHINE = """
import resource
import numpy as np
import bitale as bt
import bitale.tensor as pt

n, s = pt.lscalar("n"), bt.shared(np.zeros(3))
f = bt.function([n], pt.sort(pt.alloc(s[0], n))[0], updates=[(s, s + 1)], mode={mode!r})
for _ in range(3):
    assert f(n=4) == s.get_value()[0] - 1
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (400 << 20),) * 2)
for _ in range(2):
    try:
        f(n=100_000_000)
    except MemoryError as error:
        assert "100000000" in str(error) and "MiB" in str(error), str(error)
    else:
        raise AssertionError("no error")
    assert f(n=10_000_000) == s.get_value()[0] - 1
assert (s.get_value() == 5).all(), s.get_value()
"""


def test_memory_beyond_the_process_limit(mode):
    ran = subprocess.run(
        [sys.executable, "-c", SMALL_MACHINE.format(mode=mode)], capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr


COMPILES_WITH_LITTLE_MEMORY = """
import os
import resource
import sys
import numpy as np
import bitale as bt
import bitale.tensor as pt

bt.config.cache = False
x, W = pt.vector("x"), pt.matrix("W")
made = x
for i in range(12):
    made = pt.tanh(made * (1.0 + 0.01 * i) + pt.sin(made)) + pt.logsumexp(pt.dot(W, made))
wanted = bt.grad(pt.sum(made), [x, W])
if sys.argv[1] == "loaded":
    bt.function([x], pt.exp(x) * 3.25)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
for mebibytes in (1, 4, 12, 18, 24, 32, 40, 64, 96, 128, 160, 240, 320, 640):
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_AS, (used + (mebibytes << 20),) * 2)
        try:
            bt.function([x, W], wanted)(np.ones(3), np.eye(3))
        except MemoryError as error:
            expected = mebibytes < 4 or "address space" in str(error)
            os._exit(2 if expected and mebibytes < 320 else 1)
        os._exit(0)
    print(mebibytes, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.parametrize("llvm", ["loaded", "not loaded"])
def test_compiling_in_a_limited_address_space(llvm):
    ran = subprocess.run(
        [sys.executable, "-c", COMPILES_WITH_LITTLE_MEMORY, llvm],
        capture_output=True,
        text=True,
        timeout=600,
    )
    ends = dict(line.split() for line in ran.stdout.splitlines())
    assert set(ends.values()) == {"0", "2"}, (ends, ran.stderr)  # it works, or is a MemoryError


def test_the_steady_state_has_few_page_faults(mode):
    x = pt.dvector("x")
    f = bt.function([x], [x + 1, (x * 2).sum(), pt.sort(x)], mode=mode)
    given = np.arange(2e6)
    for _ in range(3):
        f(given)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(10):
        f(given)
    # 8,000 page faults per call without reuse
    assert resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before < 1000


def test_live_large_results_share_no_memory(mode):
    x = pt.dvector("x")
    f = bt.function([x], x + 1, mode=mode)
    given = np.zeros(300_000)
    held = []
    for i in range(20):
        result = f(given + i)
        assert (result == i + 1).all() and result.flags.writeable
        if i % 3 == 0:
            held.append((i, result))
    for i, result in held:
        assert (result == i + 1).all()


def run_guarded(code):
    """Runs code with guard pages: every array of the library ends at the start of an inaccessible page."""
    environment = dict(
        os.environ, BITALE_FLAGS=os.environ.get("BITALE_FLAGS", "") + ",memory__guard=True"
    )
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True
    )


@pytest.mark.parametrize("offset, survives", [(-1, True), (0, False)])
def test_guarded_memory_ends_with_the_array(offset, survives):
    code = f"""
import ctypes, numpy as np, bitale as bt, bitale.tensor as pt
x = pt.dvector()
result = bt.function([x], [pt.cumsum(x)[::-1] + 1, x.sum()])(np.arange(200003.0))[0]
assert result[0] == 200002 * 200003 / 2 + 1
ctypes.c_double.from_address(result.ctypes.data + result.nbytes + 8 * {offset}).value
"""
    assert (run_guarded(code).returncode == 0) == survives

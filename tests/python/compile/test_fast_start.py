"""Mode FAST_START: the usual results, from the first call on, and processes that end while code is being made."""

import os
import subprocess
import sys

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale.compile.mode import FAST_START, predefined_modes


def test_results_are_those_of_fast_run():
    x = pt.dmatrix("x")
    y = pt.special.softmax(x, axis=1) @ pt.cos(x.T)
    outputs = [y, bt.grad(pt.sum(pt.log1p(y**2)), x)]
    with bt.config.change_flags(cache=False):
        started, usual = bt.function([x], outputs, mode="FAST_START"), bt.function([x], outputs)
        rng = np.random.default_rng(0)
        for shape in [(1, 1), (30, 20), (130, 120)]:
            value = rng.normal(size=shape)
            expected = usual(value)
            for _ in range(50):  # interpreted at first, and code in the end
                for mine, theirs in zip(started(value), expected):
                    np.testing.assert_array_equal(mine, theirs)


def test_is_a_mode_with_a_linker():
    assert FAST_START.linker == "tiered" and "FAST_START" in predefined_modes
    with bt.config.change_flags(mode="FAST_START"):
        x = pt.dvector("x")
        f = bt.function([x], x * 2)
    assert f.maker.linker == "tiered"
    assert f([1.0, 2.0]).tolist() == [2.0, 4.0]
    assert "for" in str(f.dprint("program", file="str"))


def test_updates_random_numbers_and_errors():
    total, x = bt.shared(np.zeros(3), "total"), pt.dvector("x")
    f = bt.function([x], total.sum(), updates={total: total + x}, mode="FAST_START")
    assert [float(f([1.0, 2.0, 3.0])) for _ in range(3)] == [0.0, 6.0, 12.0]
    a, b = (
        bt.function([], pt.random.RandomStream(5).normal(size=4), mode=mode)()
        for mode in ("FAST_START", "FAST_RUN")
    )
    assert a.tolist() == b.tolist()
    i = pt.lscalar("i")
    g = bt.function([x, i], x[i], mode="FAST_START")
    with pytest.raises(IndexError, match="index 5"):
        g([1.0], 5)


@pytest.mark.parametrize("end", ["", "import os; os._exit(0)", "raise SystemExit(0)"])
def test_a_process_may_end_at_once(end):
    program = (
        "import numpy as np, bitale as bt, bitale.tensor as pt\n"
        "bt.config.cache = False\n"
        "x = pt.dvector('x')\n"
        "fs = [bt.function([x], pt.sum(pt.exp(x) * k), mode='FAST_START') for k in range(5)]\n"
        "print(sum(float(f([0.0, 0.0])) for f in fs))\n"
        "for f in fs:\n"
        "    for _ in range(30): f(np.zeros(200000))\n"  # a thread makes code
        f"{'import sys; sys.stdout.flush(); ' + end if end else ''}"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "20.0\n", "")


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # of fork()
def test_a_child_process_goes_on():
    x = pt.dvector("x")
    with bt.config.change_flags(cache=False):
        f = bt.function([x], pt.sum(pt.exp(x)), mode="FAST_START")
        child = os.fork()
        if child == 0:
            fine = (
                float(f([0.0])) == 1.0
                and float(bt.function([x], pt.sum(pt.exp(x) * 2), mode="FAST_START")([0.0])) == 2.0
            )
            os._exit(0 if fine else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

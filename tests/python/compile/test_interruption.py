"""Ctrl-C interrupts a call, however long it would take, and the process continues."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

import bitale as bt
import bitale.tensor as pt


def output_after_sigint(body: str, seconds: float = 0.3) -> str:
    """The output of a process that receives SIGINT a given time after it has printed "ready"."""
    script = textwrap.dedent(
        """
            import signal; signal.signal(signal.SIGINT, signal.default_int_handler)  # processes in the background may ignore it
            import sys, threading
            import numpy as np, bitale as bt, bitale.tensor as pt

            def interrupted(f, *args):
                try:
                    print("ready", flush=True)
                    f(*args)
                    return "returned"
                except KeyboardInterrupt:
                    return "interrupted"
            """
    ) + textwrap.dedent(body)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", script], stdout=subprocess.PIPE, text=True, env=environment
    )
    try:
        assert process.stdout.readline().strip() == "ready"
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=600)
    finally:
        process.kill()
    assert process.returncode == 0
    return output


SCANS = {
    "a number": "bt.scan(lambda s: s * 0.5 + pt.sin(s), outputs_info=[pt.constant(1.0)], n_steps=n, return_updates=False)[-1]",
    "a vector": "bt.scan(lambda s: s * 0.5 + pt.sin(s[::-1]), outputs_info=[pt.zeros(7)], n_steps=n, return_updates=False)[-1].sum()",
    "a number, until": "bt.scan(lambda s: (pt.sin(s) + 1, bt.until(s > 9)), outputs_info=[pt.constant(1.0)], n_steps=pt.minimum(n, 10**8), return_updates=False)[-1]",
    "a matrix": "bt.scan(lambda s: pt.linalg.solve(pt.eye(3) * 2, s), outputs_info=[pt.eye(3)], n_steps=n, return_updates=False)[-1].sum()",
}


@pytest.mark.parametrize("linker", ["jit", "vm"])
@pytest.mark.parametrize("state", SCANS)
def test_steps(state, linker):
    output = output_after_sigint(
        f"""
        n = pt.lscalar("n")
        f = bt.function([n], {SCANS[state]}, mode=bt.Mode(linker="{linker}"))
        before = f(100)
        print(interrupted(f, 10**12), f(100) == before)
        """
    )
    assert output.split() == ["interrupted", "True"]


def test_steps_in_c():
    output = output_after_sigint(
        f"""
        n = pt.lscalar("n")
        f = bt.function([n], {SCANS["a number"]}, mode=bt.Mode(linker="c"))
        before = f(100)
        print(interrupted(f, 10**12), f(100) == before)
        """
    )
    assert output.split() == ["interrupted", "True"]


def test_loops_in_loops():
    output = output_after_sigint(
        """
        x, y = pt.dvectors("xy")
        f = bt.function([x, y], pt.log1p(pt.abs(x[:, None, None] - y[None, :, None]) + y[None, None, :]).max(axis=(1, 2)), mode=bt.Mode(linker="jit"), threads=1)
        print(interrupted(f, np.ones(3_000_000), np.ones(1000)), f(np.ones(2), np.ones(2)).shape)
        """
    )
    assert output.split(maxsplit=1) == ["interrupted", "(2,)\n"]


def test_a_handler_that_does_not_raise():
    output = output_after_sigint(
        f"""
        signal.signal(signal.SIGINT, lambda *_: print("handled", flush=True))
        n = pt.lscalar("n")
        f = bt.function([n], {SCANS["a number"]})
        print(interrupted(f, 300_000_000))
        """
    )
    assert output.split() == ["handled", "returned"]


def test_calls_in_other_threads_are_completed():
    """The exception is raised in the main thread; a call in another thread is completed."""
    output = output_after_sigint(
        f"""
        n = pt.lscalar("n")
        f = bt.function([n], {SCANS["a number"]})
        done = threading.Event()  # before Python 3.13, a thread whose join was interrupted counts as ended
        thread = threading.Thread(target=lambda: (f(500_000_000), done.set()))
        thread.start()
        print(interrupted(done.wait), done.is_set())
        print("completed" if done.wait(600) else "lost")
        """
    )
    assert output.split() == ["interrupted", "False", "completed"]


def test_a_fork():
    output = output_after_sigint(
        f"""
        import os
        n = pt.lscalar("n")
        f = bt.function([n], {SCANS["a number"]})
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            signal.setitimer(signal.ITIMER_REAL, 0.5)
            def stop(*_): raise KeyboardInterrupt
            signal.signal(signal.SIGALRM, stop)
            try:
                f(10**12)
            except KeyboardInterrupt:
                os._exit(7)
            os._exit(1)
        print(interrupted(f, 10**12), os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """
    )
    assert output.split() == ["interrupted", "7"]


def test_calls_by_address_are_completed():
    output = output_after_sigint(
        """
        import ctypes
        x = pt.dvector("x")
        n = pt.cast(x[0], "int64")
        last = bt.scan(lambda s: s + pt.exp(-s), outputs_info=[np.float64(1)], n_steps=n, return_updates=False)[-1]
        f = bt.function([x], last[None])
        form = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_size_t, ctypes.c_size_t, *[ctypes.c_void_p] * 3)
        call = form(f.address("vector"))
        steps, out = np.array([3e7]), np.full(1, np.nan)
        print(interrupted(call, 1, 1, steps.ctypes.data, out.ctypes.data, None), out[0] == f(steps)[0])
        """
    )
    assert output.split() == [
        "interrupted",
        "True",
    ]  # Python raises the exception when the call has returned


def test_rewriting_ends_in_the_middle():
    """The graph of which rewriting removes every node still has some when a signal's handler raises."""

    class Alarm(Exception):
        pass

    def raises(*_):
        raise Alarm

    class Timed(bt.compile.FunctionMaker):
        def prepare_fgraph(self, fgraph):
            signal.setitimer(signal.ITIMER_REAL, 0.001)
            super().prepare_fgraph(fgraph)

    x = pt.dvector("x")
    y = x
    for _ in range(40_000):
        y = -(-(y * 1))
    before = signal.signal(signal.SIGALRM, raises)
    left = []
    try:
        with pytest.raises(Alarm) as caught:
            bt.function([x], y, mode=bt.get_mode("FAST_RUN").with_function_maker(Timed))
        frame = (
            caught.traceback[-2].frame
            if caught.traceback[-1].name == "raises"
            else caught.traceback[-1].frame
        )
        left = frame.f_locals["fgraph"].apply_nodes
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert len(left) > 0
    assert bt.function([x], -(-(x * 1)))([2.0]) == 2


LONG_COMPILES = {"machine code": "jit", "the C compiler": "c"}


@pytest.mark.parametrize("stage", LONG_COMPILES)
def test_compiling_ends_in_the_middle(stage, tmp_path):
    """SIGINT arrives while LLVM or the C compiler works. What they would have made is stored nowhere, so they were not waited for;
    another function compiles afterwards, and the process exits in order."""
    output = output_after_sigint(
        f"""
        import logging, os

        bt.config.compiledir = {str(tmp_path)!r}
        x = pt.dvector("x")
        y = x
        for k in range(1500):
            y = pt.sin(y) * (k + 0.5) + pt.exp(-y * y)

        class Begun(logging.Handler):
            def emit(self, record):
                if record.getMessage().startswith("lowering"):
                    print("ready", flush=True)

        logger = logging.getLogger("bitale.compile")
        logger.setLevel(logging.DEBUG)
        logger.addHandler(Begun())
        try:
            bt.function([x], y, mode=bt.Mode(linker={LONG_COMPILES[stage]!r}, optimizer="None"))
            print("returned")
        except KeyboardInterrupt:
            print("interrupted")
        logger.setLevel(logging.WARNING)
        files = [name for _, _, names in os.walk({str(tmp_path)!r}) for name in names if name != "lock"]
        print(len(files), bt.function([x], x + 1)([1.0]))
        """,
        seconds=0.1,
    )
    assert output.split("\n")[:2] == ["interrupted", "0 [2.]"]

"""Functions that use several threads: the same bits as with one, also in children of the process."""

import os
import threading

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt


def _example(threads):
    x, w = pt.matrix("x"), pt.vector("w")
    shares = pt.special.softmax(x * w, axis=1)
    return bt.function([x, w], [shares, (x**2).sum(), x.mean(axis=0), pt.exp(x) + w], threads=threads)


def _values():
    rng = np.random.default_rng(1)
    return rng.normal(size=(700, 300)), rng.normal(size=300)


def _same(a, b):
    return all(x.tobytes() == y.tobytes() for x, y in zip(a, b, strict=True))


@pytest.fixture(scope="module")
def expected():
    return [np.asarray(each) for each in _example(1)(*_values())]


@pytest.mark.parametrize("threads", [2, 3, 64, 1024])
def test_same_bits_for_any_number_of_threads(threads, expected):
    assert _same(_example(threads)(*_values()), expected)


def test_default_is_the_configured_number(expected):
    with bt.config.change_flags(num_threads=2):
        assert _same(_example(None)(*_values()), expected)
    with pytest.raises(ValueError, match="flag num_threads: expected an integer from 1 to 1024"):
        bt.config.num_threads = 0


@pytest.mark.parametrize("threads", [0, -1, 1025, 2**70])
def test_numbers_out_of_range_are_refused(threads):
    with pytest.raises(ValueError, match="threads is an integer from 1 to 1024"):
        _example(threads)


@pytest.mark.parametrize("threads", [1.0, "2", True, [2]])
def test_what_is_no_integer_is_refused(threads):
    with pytest.raises(TypeError, match="threads is an integer from 1 to 1024"):
        _example(threads)


def test_numpy_integers_are_integers(expected):
    assert _same(_example(np.int32(2))(*_values()), expected)


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # Python warns of threads at a fork
def test_a_child_made_by_fork_computes_the_same(expected):
    f, values = _example(2), _values()
    f(*values)
    child = os.fork()
    if child == 0:
        os._exit(0 if _same(f(*values), expected) else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_many_python_threads_call_at_once(expected):
    f, values = _example(2), _values()
    wrong = []

    def call():
        for _ in range(5):
            if not _same(f(*values), expected):
                wrong.append(1)

    callers = [threading.Thread(target=call) for _ in range(6)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert not wrong


def test_an_index_out_of_range_is_reported_as_with_one_thread():
    x, at = pt.vector("x"), pt.lvector("at")
    indices = np.arange(500_000) % 10
    indices[400_000] = 77
    messages = []
    for threads in (1, 2):
        with pytest.raises(IndexError) as error:
            bt.function([x, at], pt.exp(x[at]), threads=threads)(np.ones(10), indices)
        messages.append(str(error.value))
    assert messages[0] == messages[1]
    assert "77" in messages[0]

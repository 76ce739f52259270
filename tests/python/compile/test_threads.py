"""Functions that use several threads: the same bits as with one thread, also in forked processes."""

import io
import os
import signal
import threading
import time

import numpy as np
import pytest
import scipy.linalg

import bitale as bt
import bitale.tensor as pt
from bitale.compile import UpdateConflictError
from bitale.printing import Print


def _example(threads):
    x, w = pt.matrix("x"), pt.vector("w")
    shares = pt.special.softmax(x * w, axis=1)
    return bt.function(
        [x, w], [shares, (x**2).sum(), x.mean(axis=0), pt.exp(x) + w], threads=threads
    )


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
def test_numbers_out_of_range_are_rejected(threads):
    with pytest.raises(ValueError, match="threads must be an integer from 1 to 1024"):
        _example(threads)


@pytest.mark.parametrize("threads", [1.0, "2", True, [2]])
def test_non_integers_are_rejected(threads):
    with pytest.raises(TypeError, match="threads must be an integer from 1 to 1024"):
        _example(threads)


def test_numpy_integers_are_integers(expected):
    assert _same(_example(np.int32(2))(*_values()), expected)


@pytest.mark.filterwarnings(
    "ignore:This process:DeprecationWarning"
)  # Python warns about threads at a fork
def test_a_forked_process_computes_the_same(expected):
    f, values = _example(2), _values()
    f(*values)
    child = os.fork()
    if child == 0:
        os._exit(0 if _same(f(*values), expected) else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_concurrent_calls_from_python_threads(expected):
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


def _at_once(*tasks):
    """Runs each task in a separate thread, and raises the exception of a failed task."""
    errors = []

    def guarded(task):
        try:
            task()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(task,), daemon=True) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "the calls are in a deadlock"
    if errors:
        raise errors[0]


# small enough that calls keep, and large enough that they release, the interpreter lock
@pytest.mark.parametrize("length", [20, 150])
def test_no_update_is_lost_among_threads(length):
    x, i, n = pt.dmatrix("x"), pt.lscalar("i"), bt.shared(np.int64(0), "n")
    f = bt.function([x], (x @ x).sum(), updates={n: n + 1})
    g = bt.function([x], pt.exp(x).sum(), updates={n: n + 1}, mode="FAST_COMPILE")
    h = bt.function([x, bt.In(i, value=0, update=i + 1)], (x @ x).sum() * 0 + i, updates={n: n + 1})
    value, out, seen = np.ones((length, length)), np.empty(()), []
    calls = 200

    def repeat(call):
        return lambda: [call() for _ in range(calls)]

    _at_once(
        repeat(lambda: f(value)),
        repeat(lambda: f(value, out=out)),
        repeat(lambda: g(value)),
        repeat(lambda: seen.append(float(h(value)))),
        repeat(lambda: seen.append(float(h(value)))),
    )
    assert n.get_value() == 5 * calls
    assert h.container["i"].value == 2 * calls
    assert sorted(seen) == list(range(2 * calls))  # each call has read a different default


def test_updates_of_several_variables_are_atomic():
    a, b = bt.shared(np.zeros(50), "a"), bt.shared(np.zeros(50), "b")
    write = bt.function([], updates={a: a + 1, b: b - 1})
    read = bt.function([], abs(a + b).max())
    wrong = []
    done = threading.Event()

    def reader():
        while not done.is_set():
            if read() != 0:
                wrong.append(1)

    def writer():
        for _ in range(1000):
            write()
        done.set()

    _at_once(reader, reader, writer)
    assert not wrong
    np.testing.assert_array_equal(a.get_value(), np.full(50, 1000.0))


def calling(action):
    """The identity, with a call of a Python function."""
    return Print("calling", global_fn=lambda op, value: action())


def test_waiting_calls_release_the_interpreter_lock():
    x, n = pt.dvector("x"), bt.shared(0.0, "n")
    entered = threading.Event()

    def slowly():
        entered.set()
        for _ in range(20):  # Python code that needs the lock while other threads wait
            time.sleep(0.001)

    slow = bt.function([x], calling(slowly)(x).sum(), updates={n: n + 1})
    quick = bt.function([x], x.sum(), updates={n: n + 1})

    def after(call):
        def wait_and_call():
            entered.wait(60)
            call()

        return wait_and_call

    value = np.ones(3)
    _at_once(
        lambda: slow(value),
        after(lambda: quick(value)),
        after(lambda: n.set_value(10.0)),
        after(lambda: quick(value)),
    )
    assert n.get_value() in (10, 11, 12)


def test_a_nested_call_that_updates_the_same_variable_is_rejected():
    x, n, m = pt.dvector("x"), bt.shared(0.0, "n"), bt.shared(0.0, "m")
    same, other = bt.function([], updates={n: n + 1}), bt.function([], updates={m: m + 1})
    for inner in (same, lambda: n.set_value(3.0)):
        with pytest.raises(UpdateConflictError, match="inside a call"):
            bt.function([x], calling(inner)(x).sum(), updates={n: n + 1})(np.ones(2))
    assert n.get_value() == 0
    bt.function([x], calling(other)(x).sum(), updates={n: n + 1})(np.ones(2))
    assert (n.get_value(), m.get_value()) == (1, 1)


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_does_not_wait_for_calls_of_its_parent():
    x, n = pt.dvector("x"), bt.shared(0.0, "n")
    entered, forked = threading.Event(), threading.Event()
    slow = bt.function(
        [x], calling(lambda: (entered.set(), forked.wait(60)))(x).sum(), updates={n: n + 1}
    )
    quick = bt.function([x], x.sum(), updates={n: n + 1})
    caller = threading.Thread(target=lambda: slow(np.ones(2)))
    caller.start()
    entered.wait(60)
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        quick(np.ones(2))
        os._exit(0 if n.get_value() == 1 else 1)
    forked.set()
    caller.join()
    assert os.waitpid(child, 0)[1] == 0
    assert n.get_value() == 1


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


@pytest.mark.parametrize(
    "first, second", [((4, 1), (5,)), ((5,), (4, 5)), ((3, 1, 2), (4, 1)), ((2, 1, 1), (3, 5))]
)
def test_partially_broadcast_batches_are_divided_among_threads(first, second):
    rng = np.random.default_rng(2)
    known = lambda shape: tuple(1 if n == 1 else None for n in shape)  # noqa: E731
    for n in (3, 20):
        a, b = rng.normal(size=(*first, n, n)) + 3 * n * np.eye(n), rng.normal(size=(*second, n, n))
        x, y = (pt.tensor(dtype="float64", shape=known(value.shape)) for value in (a, b))
        for make in (
            lambda: pt.linalg.solve(x, y, b_ndim=2),
            lambda: pt.linalg.solve_sylvester(x, x, y),
            lambda: pt.linalg.solve(x, y, assume_a="sym", b_ndim=2),
            lambda: pt.linalg.lstsq(x, y)[0],
        ):
            one, many = (bt.function([x, y], make(), threads=threads) for threads in (1, 3))
            assert _same([one(a, b)], [many(a, b)])
            program = io.StringIO()
            many.dprint("program", file=program)
            loops = [line for line in program.getvalue().splitlines() if line.startswith("  for ")]
            assert loops and all("in chunks" in line for line in loops), loops
    expected = scipy.linalg.solve_sylvester(
        a[(0,) * len(first)], a[(0,) * len(first)], b[(0,) * len(second)]
    )
    got = bt.function([x, y], pt.linalg.solve_sylvester(x, x, y), threads=3)(a, b)
    np.testing.assert_allclose(got[(0,) * (got.ndim - 2)], expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("shape", [(3, 40), (2, 1, 50), (120, 1)])
def test_batches_of_several_dimensions_are_divided_among_threads(shape):
    x = pt.tensor("x", shape=tuple(None if n > 1 else 1 for n in (*shape, 2, 2)), dtype="float64")
    rng = np.random.default_rng(2)
    value = rng.normal(size=(*shape, 20, 20)) + 20 * np.eye(20)
    shared = value @ value.swapaxes(-1, -2)
    for make, given in [
        (lambda x: pt.linalg.svd(x, compute_uv=False), value),
        (lambda x: pt.linalg.eigvalsh(x), shared),
        (lambda x: pt.linalg.qr(x)[0], value),
        (lambda x: pt.linalg.solve(x, x[..., 0], assume_a="sym", b_ndim=1), shared),
        (pt.linalg.det, value / 20),
        (pt.linalg.inv, value),
    ]:
        one, many = (bt.function([x], make(x), threads=threads) for threads in (1, 3))
        assert _same([one(given)], [many(given)])
    f = bt.function([x], pt.linalg.svd(x, compute_uv=False), threads=3)
    program = io.StringIO()
    f.dprint("program", file=program)
    assert "in chunks" in program.getvalue()


def test_no_scalar_update_is_lost_among_threads():
    count, other = bt.shared(np.int64(0)), bt.shared(np.int64(0))
    f = bt.function([], count + 0, updates={count: count + 1, other: other + 2})
    seen, pairs = [], []
    reads = bt.function([], [count, other])

    def work():
        for _ in range(200):
            seen.append(int(f()))
            pairs.append([int(one) for one in reads()])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen) == list(range(800)) and all(2 * a == b for a, b in pairs)

"""Data that stays on the device: shared variables between calls, arguments and results that are arrays of JAX; modules
in the profile."""

import contextlib
import threading

import jax
import numpy as np
import pytest

import bitale as bt
import bitale.jax
import bitale.tensor as pt
from bitale import _core, _hooks
from bitale.jax import linker


@contextlib.contextmanager
def replaced(**functions):
    """Functions of the linker, of which the extension module keeps those that it found when it called them first."""
    with pytest.MonkeyPatch.context() as patched:
        for name, function in functions.items():
            patched.setattr(linker, name, function)
        _core.register_hooks(_hooks._find)
        yield
    _core.register_hooks(_hooks._find)


@pytest.fixture
def uploads():
    """Shapes of the arrays that were copied to the device."""
    shapes, to_device, compile_module = [], linker.to_device, linker.compile_module

    def counted(array):
        shapes.append(array.shape)
        return to_device(array)

    def compiled(*module):
        call = compile_module(*module)

        def counting(*arrays):
            shapes.extend(array.shape for array in arrays if isinstance(array, np.ndarray))
            return call(*arrays)

        return counting

    with replaced(to_device=counted, compile_module=compiled):
        yield shapes


def test_state_stays(uploads):
    state, data = bt.shared(np.zeros(3), "state"), bt.shared(np.arange(6.0).reshape(2, 3), "data")
    x = pt.dscalar("x")
    f = bt.function([x], (state * data).sum(), updates={state: state + x}, mode="JAX")
    assert [float(f(2.0)) for _ in range(3)] == [0.0, 30.0, 60.0]
    assert sorted(uploads) == [(), (), (), (2, 3), (3,)]
    np.testing.assert_array_equal(state.get_value(), [6.0] * 3)
    np.testing.assert_array_equal(data.get_value(), np.arange(6.0).reshape(2, 3))
    assert float(f(0.0)) == 90.0 and len(uploads) == 6
    state.set_value(np.ones(3))
    assert float(f(0.0)) == 15.0 and len(uploads) == 8


def test_other_modes_see_the_value():
    state = bt.shared(np.zeros(2), "state")
    step = bt.function([], [], updates={state: state + 1}, mode="JAX")
    native = bt.function([], state * 10, updates={state: state * 2})
    step(), step()
    np.testing.assert_array_equal(native(), [20.0, 20.0])
    step()
    np.testing.assert_array_equal(state.get_value(), [5.0, 5.0])
    np.testing.assert_array_equal(bt.function([], state.sum())(), 10.0)
    assert bt.function([], state.sum(), mode="JAX")() == 10.0


def test_borrowed_values_are_read_again():
    mine = np.zeros(3)
    state = bt.shared(mine, "state", borrow=True)
    total = bt.function([], state.sum(), mode="JAX")
    assert total() == 0
    mine[:] = 2
    assert total() == 6
    own = bt.shared(np.zeros(300), "own")  # large, since get_value copies small values
    total = bt.function([], own.sum(), mode="JAX")
    assert total() == 0
    own.get_value(borrow=True)[:] = 3
    assert total() == 900
    own.get_value()[:] = 5
    assert total() == 900


def test_a_failed_call_changes_nothing():
    state, x = bt.shared(np.eye(2), "state"), pt.dmatrix("x")
    f = bt.function([x], [], updates={state: pt.linalg.cholesky(x) @ state}, mode="JAX")
    f(4 * np.eye(2))
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        f(-np.eye(2))
    np.testing.assert_array_equal(state.get_value(), 2 * np.eye(2))
    picked = bt.function([(k := pt.lscalar("k"))], state[k], updates={state: state + 1}, mode="JAX")
    with pytest.raises(IndexError):
        picked(2)
    np.testing.assert_array_equal(picked(1), [0.0, 2.0])


def test_indices_on_the_device_are_checked_once(uploads, modules, monkeypatch):
    looked_through, extremes = [], linker._extremes
    monkeypatch.setattr(
        linker, "_extremes", lambda array: looked_through.append(array.shape) or extremes(array)
    )
    at, x, k = bt.shared(np.array([0, -1, 2]), "at"), pt.dvector("x"), pt.lvector("k")
    table = bt.shared(np.zeros(3), "table")
    f = bt.function(
        [x, k], x[at].sum() + x[k].sum(), updates={table: table[at].inc(1.0)}, mode="JAX"
    )
    given, indices = jax.device_put(np.arange(3.0)), jax.device_put(np.array([1, 1]))
    assert [float(f(given, indices)) for _ in range(3)] == [6.0] * 3
    assert sorted(looked_through) == [(2,), (3,)] and len(modules) == 1
    assert "tensor<1xi1>" not in f._text("stablehlo")  # no check is a result
    with pytest.raises(IndexError, match="out of bounds"):
        f(given, jax.device_put(np.array([1, 3])))
    at.set_value(np.array([0, 1, 7]))
    for _ in range(2):
        with pytest.raises(IndexError, match="index 7"):
            f(given, indices)
    at.set_value(np.array([1, 1, 1]))
    assert float(f(given, indices)) == 5.0
    np.testing.assert_array_equal(table.get_value(), [3.0, 3.0, 6.0])
    walk = bt.function(
        [x], x[at], updates={at: at + 1}, mode="JAX"
    )  # a new array at each call: its check is in the module
    seen = len(looked_through)
    np.testing.assert_array_equal(walk(given), [1.0] * 3)
    np.testing.assert_array_equal(walk(given), [2.0] * 3)
    with pytest.raises(IndexError, match="index 3"):
        walk(given)
    assert len(looked_through) == seen


def test_random_streams_stay(uploads):
    rng = bt.shared(bt.random.stream(7), name="rng")
    after, numbers = pt.random.normal(size=(3,), rng=rng).owner.outputs
    draw = bt.function([], numbers, updates={rng: after}, mode="JAX")
    first, second = draw(), draw()
    assert len(uploads) == 1 and not np.allclose(first, second)
    again = bt.function([], numbers, updates={rng: after})
    rng.set_value(bt.random.stream(7))
    np.testing.assert_allclose([again(), again()], [first, second], rtol=1e-12)


def test_arrays_of_jax_go_in_and_out(uploads):
    x, y = pt.dvector("x"), pt.dvector("y")
    f = bt.function([x, y], [x + y, (x * y).sum()], mode="JAX")
    a = jax.device_put(np.arange(3.0))
    total, product = f(a, a, device=True)
    assert isinstance(total, jax.Array) and isinstance(product, jax.Array) and not uploads
    np.testing.assert_array_equal(total, [0.0, 2.0, 4.0])
    total, product = f(total, a)
    assert isinstance(total, np.ndarray) and float(product) == 10.0 and not uploads
    wide = bt.function([x], x.sum(), mode="JAX")
    assert wide(jax.numpy.arange(3, dtype="int32")) == 3.0  # converted like other arrays
    with pytest.raises(TypeError):
        f(jax.numpy.zeros((2, 2)), a)
    static = bt.function([s := pt.vector("s", dtype="float64", shape=(3,))], s * 2, mode="JAX")
    np.testing.assert_array_equal(static(a), [0.0, 2.0, 4.0])
    with pytest.raises(TypeError):
        static(jax.numpy.zeros(4))
    elsewhere = jax.device_put(np.arange(3.0), jax.devices("cpu")[1])
    np.testing.assert_array_equal(f(elsewhere, a)[0], [0.0, 2.0, 4.0])


def test_results_do_not_change_with_the_arguments():
    x = pt.dvector("x")
    f = bt.function([x], [x * 1.0, x], mode="JAX")
    given = np.zeros(1 << 16)
    results = f(given, device=True)
    given[:] = 1
    assert not any(np.asarray(result).any() for result in results)


def test_forms_and_refusals():
    x = pt.dvector("x")
    named = bt.function([x], {"twice": x * 2}, mode="JAX")([1.0], device=True)
    assert isinstance(named["twice"], jax.Array)
    with pytest.raises(ValueError, match='mode "JAX"'):
        bt.function([x], x * 2)([1.0], device=True)
    f = bt.function([x], x * 2, mode="JAX")
    assert isinstance(f([1.0], device=False), np.ndarray)
    with pytest.raises(TypeError, match="device=True"):
        f([1.0], device=True, out=np.zeros(1))
    device = pt.dscalar("device")
    assert bt.function([device], device + 1, mode="JAX")(device=2.0) == 3.0


def test_the_profile_has_the_modules():
    x = pt.dvector("x")
    f = bt.function([x], pt.exp(x).sum(), mode="JAX", profile=True)
    for n in (2, 3, 3, 2, 2):
        f(np.zeros(n))
    text = str(f.profile)
    assert "2 of them" in text and "(2,)" in text and "called 3 times" in text


@pytest.fixture
def modules():
    """For each compiled module, the inputs that it may overwrite."""
    donated, compile_module = [], linker.compile_module

    def seen(text, inputs, results, may_overwrite):
        donated.append(list(may_overwrite))
        return compile_module(text, inputs, results, may_overwrite)

    with replaced(compile_module=seen):
        yield donated


def test_updates_are_in_place(modules):
    state, other, x = (
        bt.shared(np.zeros(1 << 12), "state"),
        bt.shared(np.zeros(3), "other"),
        pt.dscalar("x"),
    )
    f = bt.function([x], other.sum(), updates={state: state + x}, mode="JAX")
    for k in range(4):
        assert float(f(1.0)) == 0
        if k == 1:
            pointer = held_by(state).unsafe_buffer_pointer()
    assert modules[0] == [1 + [v.name for v in f.get_shared()].index("state")]
    assert held_by(state).unsafe_buffer_pointer() == pointer
    np.testing.assert_array_equal(state.get_value(), np.full(1 << 12, 4.0))
    longer = bt.function([], [], updates={other: pt.concatenate([other, other])}, mode="JAX")
    longer(), longer()
    assert other.get_value().shape == (12,) and modules[-2:] == [[], []]


def held_by(shared):
    """The array of JAX that holds the shared variable's value, taken from the arguments of a call that changes
    nothing."""
    seen, whole = [], linker.compile_module

    def compiled(*module):
        call = whole(*module)
        return lambda *arrays: seen.extend(arrays) or call(*arrays)

    with replaced(compile_module=compiled):
        bt.function([], shared.sum(), mode="JAX")()
    assert isinstance(seen[0], jax.Array)
    return seen[0]


def test_a_failed_check_restores_in_place_updates(modules):
    table, at = bt.shared(np.arange(4.0), "table"), pt.lvector("at")
    total = bt.shared(np.zeros(()), "total")
    f = bt.function(
        [at],
        table[at],
        updates={table: table[::-1] * 2, total: total + table[at].sum()},
        mode="JAX",
    )
    np.testing.assert_array_equal(f([0, 1]), [0.0, 1.0])
    for _ in range(2):
        with pytest.raises(IndexError, match="out of bounds"):
            f([0, 4])
        np.testing.assert_array_equal(table.get_value(), [6.0, 4.0, 2.0, 0.0])
        assert total.get_value() == 1
    np.testing.assert_array_equal(f([0, 1]), [6.0, 4.0])
    assert total.get_value() == 11 and sorted(modules[0]) == [1, 2]
    assert len(modules) == 1


def test_values_being_read_are_not_overwritten():
    state = bt.shared(np.zeros(1 << 16), "state")
    step = bt.function([], [], updates={state: state + 1}, mode="JAX")
    read = bt.function([], [state.min(), state.max()], mode="JAX")
    values = bt.function([], [state.min(), state.max()])
    step()
    stop, failed = threading.Event(), []

    def reads(look):
        while not stop.is_set():
            low, high = look()
            if low != high:
                failed.append((low, high))

    def fetch():
        value = state.get_value()
        return value.min(), value.max()

    threads = [threading.Thread(target=reads, args=(look,)) for look in (read, values, fetch)]
    for thread in threads:
        thread.start()
    for _ in range(200):
        step()
    stop.set()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert not failed
    np.testing.assert_array_equal(state.get_value(), np.full(1 << 16, 201.0))


def test_a_rejected_output_changes_nothing():
    state = bt.shared(np.zeros(3), "state")
    f = bt.function([], state * 1, updates={state: state + 1}, mode="JAX")
    f(), f()
    with pytest.raises(ValueError, match="shape"):
        f(out=np.zeros(4))
    out = np.zeros(3)
    f(out=out)
    np.testing.assert_array_equal(out, [2.0] * 3)
    np.testing.assert_array_equal(state.get_value(), [3.0] * 3)


def test_some_outputs():
    state, x = bt.shared(np.arange(3.0), "state"), pt.dscalar("x")
    f = bt.function([x], [state * x, state.sum(), x], updates={state: state + 1}, mode="JAX")
    f(1.0)
    np.testing.assert_array_equal(f(2.0, output_subset=[0])[0], [2.0, 4.0, 6.0])
    assert [float(y) for y in f(2.0, output_subset=[2, 1])] == [2.0, 9.0]
    np.testing.assert_array_equal(state.get_value(), [3.0, 4.0, 5.0])


def test_results_belong_to_the_caller():
    x = pt.dvector("x")
    f = bt.function([x], [x * 2, x * 2, x], mode="JAX")
    given = np.ones(1 << 18)  # large results are not copied
    first = f(given)
    for k, result in enumerate(first):
        assert result.flags.writeable
        result[:] = -k - 5
    assert (first[0] == -5).all() and (first[1] == -6).all() and (given == 1).all()
    for result, expected in zip(f(given), (2.0, 2.0, 1.0)):
        np.testing.assert_array_equal(result, np.full(1 << 18, expected))


def test_while_jax_traces_another_function():
    x = pt.dvector("x")
    f = bt.function([x], (x * 2).sum(), mode="JAX")
    assert float(jax.jit(lambda y: y + float(f([1.0, 2.0])))(1.0)) == 7.0


def test_without_wide_numbers_in_jax():
    x, n = pt.dvector("x"), pt.lscalar("n")
    state = bt.shared(np.zeros(2), "state")
    f = bt.function([x, n], [x / 3, n + 1], updates={state: state + 1 / x}, mode="JAX")
    with jax.enable_x64(False):
        for _ in range(3):
            third, next = f(np.array([1.0, 2.0]), 2**40)
        assert third.dtype == "float64" and third[0] == 1 / 3 and next == 2**40 + 1
    np.testing.assert_array_equal(state.get_value(), [3.0, 1.5])

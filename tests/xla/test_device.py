"""What stays on the device: shared variables between calls, arguments and results that are arrays of JAX; the profile's modules."""

import jax
import numpy as np
import pytest

import bitale as bt
import bitale.jax
import bitale.tensor as pt
from bitale.jax import linker


@pytest.fixture
def uploads(monkeypatch):
    """Shapes of the arrays that went to the device."""
    shapes, to_device = [], linker.to_device

    def counted(array):
        shapes.append(array.shape)
        return to_device(array)

    monkeypatch.setattr(linker, "to_device", counted)
    return shapes


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


def test_what_others_may_write_to_is_read_again():
    mine = np.zeros(3)
    state = bt.shared(mine, "state", borrow=True)
    total = bt.function([], state.sum(), mode="JAX")
    assert total() == 0
    mine[:] = 2
    assert total() == 6
    own = bt.shared(np.zeros(300), "own")  # get_value copies small values
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
    assert wide(jax.numpy.arange(3, dtype="int32")) == 3.0  # converted as other arrays are
    with pytest.raises(TypeError):
        f(jax.numpy.zeros((2, 2)), a)
    static = bt.function([s := pt.vector("s", dtype="float64", shape=(3,))], s * 2, mode="JAX")
    np.testing.assert_array_equal(static(a), [0.0, 2.0, 4.0])
    with pytest.raises(TypeError):
        static(jax.numpy.zeros(4))
    elsewhere = jax.device_put(np.arange(3.0), jax.devices()[1])
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

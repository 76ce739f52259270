"""Models as C functions, called as samplers in other languages call them."""

from __future__ import annotations

import ctypes
import gc
import threading
import weakref

import numpy as np
import pymc as pm
import pytest

import bitale.pytensor
from models import MODELS

pytestmark = pytest.mark.filterwarnings("ignore")
DOUBLES = ctypes.POINTER(ctypes.c_double)


def pointer(array):
    return array.ctypes.data_as(DOUBLES)


def call(function, point):
    """Status, value and gradient, by ctypes."""
    gradient, value = np.empty(len(point)), np.empty(1)
    status = function(len(point), pointer(point), pointer(gradient), pointer(value), None)
    return status, value[0], gradient


def expected(model, point):
    theirs = model.logp_dlogp_function(ravel_inputs=True, mode="FAST_COMPILE")
    theirs.set_extra_values({})
    return theirs(point)


def with_data():
    with pm.Model() as model:
        data = pm.Data("data", np.arange(5.0))
        pm.Normal("y", pm.Normal("mean", 0, 100), 1, observed=data, shape=data.shape)
    return model


@pytest.mark.parametrize("name", ["eight_schools_not_centred", "radon", "varying_slopes_lkj"])
def test_density_and_variables(name):
    model = MODELS[name]()
    functions = bitale.pytensor.c_model(model)
    point = functions.initial_point_func(3)
    assert point.shape == (functions.n_dim,) and not np.array_equal(
        point, functions.initial_point_func(4)
    )
    status, value, gradient = call(functions.compiled_logp_func.ctypes, point)
    density, slope = expected(model, point)
    assert status == 0
    np.testing.assert_allclose(value, density)
    np.testing.assert_allclose(gradient, slope, rtol=1e-9, atol=1e-12)

    out = np.empty(functions.n_expanded)
    assert (
        functions.compiled_expand_func.ctypes(
            len(point), len(out), pointer(point), pointer(out), functions.user_data.ctypes.data
        )
        == 0
    )
    found = functions.variables(out)
    assert set(found) == {v.name for v in model.unobserved_value_vars}
    values = model.compile_fn(model.unobserved_value_vars, mode="FAST_COMPILE")
    start, at = {}, 0
    for variable in model.value_vars:
        shape = model.initial_point()[variable.name].shape
        start[variable.name] = point[at : at + int(np.prod(shape))].reshape(shape)
        at += int(np.prod(shape))
    for variable, value in zip(model.unobserved_value_vars, values(start)):
        np.testing.assert_allclose(found[variable.name], value)


def test_status():
    functions = bitale.pytensor.c_model(MODELS["eight_schools_not_centred"]())
    density = functions.compiled_logp_func.ctypes
    assert call(density, np.full(10, np.nan))[0] in (3, 4)
    with pytest.warns(UserWarning, match="(?s)called by its address failed.*"):
        assert call(density, np.zeros(11))[0] == 1
    out = np.empty(3)
    assert (
        functions.compiled_expand_func.ctypes(10, 3, pointer(np.zeros(10)), pointer(out), None) == 1
    )


def test_the_address_outlives_the_model():
    model = with_data()
    functions = bitale.pytensor.c_model(model)
    address, prototype = (
        functions.compiled_logp_func.address,
        type(functions.compiled_logp_func.ctypes),
    )
    assert address == functions.compiled_logp_func.address
    alive = weakref.ref(functions)
    before = call(prototype(address), np.array([0.5]))
    del functions, model
    gc.collect()
    assert alive() is None
    bitale.pytensor.c_model(with_data())
    assert call(prototype(address), np.array([0.5]))[:2] == before[:2]


def test_threads_call_one_function():
    """Calls by ctypes release Python's lock."""
    model = MODELS["radon"]()
    functions = bitale.pytensor.c_model(model)
    points = [functions.initial_point_func(seed) for seed in range(8)]
    density = functions.compiled_logp_func.ctypes
    alone = [call(density, point) for point in points]
    wrong = []

    def work(k):
        for _ in range(300):
            status, value, gradient = call(density, points[k])
            if status or value != alone[k][1] or not np.array_equal(gradient, alone[k][2]):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_other_data():
    functions = bitale.pytensor.c_model(with_data())
    other = functions.with_data(data=np.full(50, 7.0))
    point = np.array([1.0])
    assert call(functions.compiled_logp_func.ctypes, point)[2] == pytest.approx(5.0 - 1e-4)
    assert call(other.compiled_logp_func.ctypes, point)[2] == pytest.approx(300.0 - 1e-4)
    assert call(functions.compiled_logp_func.ctypes, point)[2] == pytest.approx(5.0 - 1e-4)
    with pytest.raises(KeyError, match="there are: data"):
        functions.with_data(nothing=1)


def test_errors():
    with pytest.raises(TypeError, match=r"bitale.pytensor.c_model needs a PyMC model, got int"):
        bitale.pytensor.c_model(3)
    with pm.Model() as discrete:
        pm.Poisson("count", 3)
    with pytest.raises(ValueError, match="c_model samples continuous variables"):
        bitale.pytensor.c_model(discrete)


def test_called_by_numba():
    numba = pytest.importorskip("numba")
    functions = bitale.pytensor.c_model(MODELS["radon"]())
    density, point = functions.compiled_logp_func.ctypes, functions.initial_point_func(1)

    @numba.njit(nogil=True)
    def ascend(point, rate, steps):
        gradient, value = np.empty_like(point), np.empty(1)
        for _ in range(steps):
            if density(point.size, point.ctypes, gradient.ctypes, value.ctypes, point.ctypes) != 0:
                return np.nan
            point += rate * gradient
        return value[0]

    before = call(density, point)[1]
    assert ascend(point.copy(), 1e-4, 50) > before


def test_called_by_cffi():
    pytest.importorskip("cffi")
    from cffi import FFI

    ffi = FFI()
    functions = bitale.pytensor.c_model(MODELS["radon"]())
    point, gradient, value = functions.initial_point_func(1), np.empty(functions.n_dim), np.empty(1)
    pointers = [ffi.from_buffer("double[]", array) for array in (point, gradient, value)]
    assert functions.compiled_logp_func.cffi(functions.n_dim, *pointers, ffi.NULL) == 0
    assert value[0] == call(functions.compiled_logp_func.ctypes, point)[1]


def test_a_type_that_samplers_declare():
    """ctypes has one class for equal types, so the function fits where a library declares the same one, as Numba's `cfunc` does."""
    numba = pytest.importorskip("numba")
    functions = bitale.pytensor.c_model(with_data())
    doubles = numba.types.CPointer(numba.types.double)

    @numba.cfunc(
        numba.types.intc(numba.types.uintp, doubles, doubles, doubles, numba.types.voidptr)
    )
    def other(n, point, gradient, value, data):
        return 0

    assert type(functions.compiled_logp_func.ctypes) is type(other.ctypes)


def test_a_sampler_in_cpp():
    """As PyMC's proposal of such functions calls it."""
    walnutpie = pytest.importorskip("walnutpie")
    functions = bitale.pytensor.c_model(with_data())
    starts = np.array([functions.initial_point_func(seed) for seed in range(2)])
    chains = walnutpie.walnuts_pyfunc(
        (functions.compiled_logp_func.ctypes, functions.user_data.ctypes),
        num_chains=2,
        inits=starts,
        seed=1,
        max_sampling_iter=400,
    )
    draws = np.concatenate(chains)
    assert abs(draws.mean() - 2) < 0.2 and abs(draws.std() - 5**-0.5) < 0.15

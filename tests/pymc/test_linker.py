"""Functions in mode BITALE behave like PyTensor's functions: state, copies, storage, errors."""

from __future__ import annotations

import pickle
import threading
import warnings

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor import scalar
from pytensor.compile.io import In, Out
from pytensor.compile.mode import Mode, get_mode
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op

import bitale.pytensor
from bitale._core import CellFunction

x, s = pt.dvector("x"), pt.dscalar("s")


def test_updates_and_shared_variables_of_another_length():
    total, data = pytensor.shared(0.0, "total"), pytensor.shared(np.arange(3.0), "data")
    f = pytensor.function([s], (data * s).sum(), updates={total: total + s}, mode="BITALE")
    assert f(2.0) == 6.0 and total.get_value() == 2.0
    data.set_value(np.arange(5.0))
    assert f(1.0) == 10.0 and total.get_value() == 3.0
    with pytest.raises(TypeError):
        data.set_value(np.ones((2, 2)))


def test_givens_and_forms_of_outputs():
    rate = pytensor.shared(0.5, "rate")
    f = pytensor.function([x, s], [x * s, x.sum()], mode="BITALE")
    assert f([1.0, 2.0], 2.0)[0].tolist() == [2.0, 4.0] and f([1.0], s=3.0)[1] == 1.0
    g = pytensor.function([x], x * s, givens={s: rate}, mode="BITALE")
    assert g([2.0]).tolist() == [1.0]


def test_outputs_that_are_inputs_or_constants():
    f = pytensor.function([x], [x, pt.constant(3.0)], mode="BITALE")
    given = np.ones(2)
    found = f(given)
    assert found[0].tolist() == [1, 1] and found[0] is not given and found[1] == 3.0
    assert pytensor.function([x], [], mode="BITALE", on_unused_input="ignore")([1.0]) == []


def test_results_are_fresh():
    f = pytensor.function([x], Out(x * 2, borrow=True), mode="BITALE")
    first, second = f([1.0]), f([2.0])
    assert first.tolist() == [2.0] and second.tolist() == [4.0]


def test_pickle_and_copy():
    state, other = pytensor.shared(1.0, "state"), pytensor.shared(10.0, "other")
    f = pytensor.function([x], x * state, updates={state: state + 1}, mode="BITALE")
    loaded = pickle.loads(pickle.dumps(f))
    assert (
        loaded([1.0]).tolist() == [1.0]
        and loaded([1.0]).tolist() == [2.0]
        and state.get_value() == 1.0
    )
    assert f.copy(swap={state: other})([1.0]).tolist() == [10.0] and other.get_value() == 11.0
    assert f.copy(delete_updates=True)([1.0]).tolist() == [1.0] and state.get_value() == 1.0


def test_trust_input_and_profile():
    f = pytensor.function([x], x.sum(), mode="BITALE", profile=True)
    f.trust_input = True
    assert f(np.ones(3)) == 3.0 and f.profile.fct_callcount == 1


def test_linker_by_name():
    assert pytensor.function([x], x + 1, mode=Mode(linker="bitale"))([1.0]).tolist() == [2.0]


def _compiled(output):
    return pytensor.function([x], output, mode="BITALE")


def test_errors_name_the_node_and_line():
    element = pt.exp(x)[5]
    f = _compiled(element)
    with pytest.raises(IndexError, match="index 5 is out of bounds") as error:
        f([1.0])
    assert "Subtensor{i}(x, 5)" in str(
        error.value
    ) and "`test_errors_name_the_node_and_line`" in str(error.value)
    assert f(np.zeros(6)) == 1.0


def test_calls_from_threads():
    f = pytensor.function([x], pt.exp(x).sum(), mode="BITALE").vm.jit_fn
    values = [None] * 4

    def work(k):
        values[k] = [float(f(np.full(100, k))[0]) for _ in range(200)]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for k in range(4):
        np.testing.assert_allclose(values[k], 100 * np.exp(k))


def test_invalid_storage_cells():
    with pytest.raises(TypeError, match="lists of one element"):
        CellFunction(list, [()], [])
    with pytest.raises(TypeError, match="a list with a value for each output"):
        CellFunction(lambda: 3, [], [[None]])()
    seen = []
    with pytest.raises(KeyError):
        CellFunction(lambda: {}[1], [], [], seen.append)()
    assert isinstance(seen[0], KeyError)


def test_a_quotient_with_zero_numerator():
    """PyTensor 2 rewrote this graph in an endless loop if its rewrites did not know the shapes."""
    x, y = pt.dvectors("x", "y")
    f = pytensor.function([x, y], pt.exp(np.zeros(1) / (x + y)), mode="BITALE")
    np.testing.assert_array_equal(f([1.0, 2.0], [3.0, 4.0]), [1, 1])


@pytest.mark.parametrize("allow_gc", [False, True])
@pytest.mark.parametrize("borrow", [False, True])
def test_borrowed_and_kept_memory(allow_gc, borrow):
    """In, Out and Mode say which memory may be borrowed or kept; the values do not depend on it."""
    mode = get_mode("BITALE").clone(linker=bitale.pytensor.BitaleLinker(allow_gc=allow_gc))
    state = pytensor.shared(np.zeros(3), "state", borrow=borrow)
    f = pytensor.function(
        [In(x, borrow=borrow)],
        [Out(x * 2, borrow=borrow), Out(x, borrow=borrow)],
        updates={state: state + x},
        mode=mode,
        no_default_updates=True,
    )
    given = np.arange(3.0)
    for count in (1, 2, 3):
        doubled, same = f(given)
        np.testing.assert_array_equal(doubled, given * 2)
        np.testing.assert_array_equal(same, given)
        np.testing.assert_array_equal(state.get_value(borrow=borrow), given * count)
        doubled += 1  # the result belongs to the caller, borrowed or not
    np.testing.assert_array_equal(given, np.arange(3.0))


class Doubled(Op):
    """Declares a length that it does not have."""

    __props__ = ()

    def make_node(self, v):
        return Apply(self, [pt.as_tensor(v)], [pt.TensorType("float64", shape=(3,))()])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = np.asarray(inputs[0]) * 2


def test_a_wrong_length_that_an_op_declares_is_a_warning():
    f = pytensor.function([x], Doubled()(x) + 1, mode="BITALE")
    with pytest.warns(UserWarning, match=r"Doubled declares .*3.* and gives the shape \(4,\)"):
        assert f(np.ones(4)).tolist() == [3.0] * 4
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert f(np.ones(3)).tolist() == [3.0] * 3


def test_results_of_scalar_types_are_numbers():
    number = scalar.float64("number")
    f = pytensor.function([number, x], [number * 2, x.sum()], mode="BITALE")
    doubled, total = f(3.0, np.ones(2))
    assert (
        type(doubled) is np.float64
        and doubled == 6
        and isinstance(total, np.ndarray)
        and total == 2
    )
    assert type(pytensor.function([s], pt.scalar_from_tensor(s), mode="BITALE")(1.5)) is np.float64


def test_sizes_of_a_split():
    sizes = pt.lvector("sizes")
    f = pytensor.function([x, sizes], pt.split(x, sizes, n_splits=2), mode="BITALE")
    assert [part.tolist() for part in f(np.arange(4.0), [3, 1])] == [[0.0, 1.0, 2.0], [3.0]]
    for bad in ([5, -1], [1, 1], [2, 3], [1, 1, 2]):
        with pytest.raises(ValueError):
            f(np.arange(4.0), bad)
    parts = pt.split(x, [1, 3], n_splits=2)
    slope = pytensor.function(
        [x], pytensor.grad((parts[0] ** 2).sum() + (parts[1] ** 3).sum(), x), mode="BITALE"
    )
    assert slope([1.0, 2.0, 3.0, 4.0]).tolist() == [2.0, 12.0, 27.0, 48.0]


def test_lengths_that_are_one_are_not_asserted_to_be_others():
    start, stop, step = pt.dscalars("start", "stop", "step")
    grid = pt.mgrid[start:1:0.1, 1:stop:1.0, 10:100:step]
    for got, expected in zip(
        pytensor.function([start, stop, step], grid, mode="BITALE")(0, 10, 10.0),
        np.mgrid[0:1:0.1, 1:10:1.0, 10:100:10.0],
    ):
        np.testing.assert_allclose(got, expected, rtol=1e-12)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_sums_of_exponentials_of_nothing(shape):
    x = pt.dmatrix("x")
    outputs = [pt.logsumexp(x, axis=0), pt.logsumexp(x, axis=1), pt.logsumexp(x)]
    with np.errstate(divide="ignore"):
        expected = [np.log(np.exp(np.zeros(shape)).sum(axis=axis)) for axis in (0, 1, None)]
    for got, one in zip(pytensor.function([x], outputs, mode="BITALE")(np.zeros(shape)), expected):
        np.testing.assert_array_equal(got, one)

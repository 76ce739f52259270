"""In and Out with labelled variables: options of inputs, states that updates change, borrowed results."""

import copy
import pickle

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale import xtensor as px

DIMS = (px.Dim("country", coords=["DE", "FR"]), "year")


def sample(name="x"):
    return px.xtensor(name, dims=DIMS)


def values(x):
    return np.asarray(x).tolist()


def test_options_of_inputs_and_outputs(mode):
    x, y = sample(), px.xtensor("y", dims="year")
    f = bt.function(
        [bt.In(x, borrow=True, strict=True), bt.In(y, name="w", value=[1.0, 10.0])],
        [bt.Out(x * y, borrow=True), bt.Out(y.values)],
        mode=mode,
    )
    given = np.array([[1.0, 2.0], [3.0, 4.0]])
    product, tensor = f(given)
    assert values(product) == [[1, 20], [3, 40]] and isinstance(tensor, np.ndarray)
    assert values(f(given, w=[1.0, 1.0])[0]) == given.tolist() and values(f(x=given)[0]) == [
        [1, 20],
        [3, 40],
    ]
    with pytest.raises(TypeError):
        f(given.astype("float32"))  # strict
    named = bt.function([x], {"double": bt.Out(2 * x), "sum": x.sum().values}, mode=mode)(given)
    assert values(named["double"]) == (2 * given).tolist() and float(named["sum"]) == 10


def test_states(mode):
    total, x = sample("total"), px.xtensor("x", dims=("year", "country"))
    f = bt.function([x, bt.In(total, value=np.zeros((2, 2)), update=x + total)], total, mode=mode)
    given = np.array([[1.0, 2.0], [3.0, 4.0]])  # (year, country): the update is aligned by names
    assert values(f(given)) == [[0, 0], [0, 0]] and values(f(given)) == given.T.tolist()
    assert values(f["total"]) == (2 * given.T).tolist()
    f["total"] = np.ones((2, 2))
    assert values(f["total"]) == [[1, 1], [1, 1]]
    state = px.xtensor_shared(np.ones((2, 2)), dims=DIMS, name="state")
    g = bt.function([bt.In(total, value=state, update=2 * total)], total.sum(), mode=mode)
    assert [float(g()), float(g())] == [4, 8] and values(state.get_value()) == [[4, 4], [4, 4]]
    assert values(g[state]) == [[4, 4], [4, 4]]
    with pytest.raises(TypeError):
        g(np.ones((2, 2)))  # a state is no argument


def test_arrays_of_xarray():
    xr = pytest.importorskip("xarray")
    total = sample("total")
    start = xr.DataArray(
        [[1.0, 2.0], [3.0, 4.0]], dims=("year", "country"), coords={"country": ["DE", "FR"]}
    )
    f = bt.function([bt.In(total, value=start, update=total + 1)], bt.Out(total, borrow=True))
    out = f()
    assert (
        isinstance(out, xr.DataArray)
        and out.dims == ("country", "year")
        and list(out.coords["country"].values) == ["DE", "FR"]
    )
    xr.testing.assert_equal(out, start.transpose("country", "year"))
    xr.testing.assert_equal(f["total"], start.transpose("country", "year") + 1)
    f["total"] = start
    xr.testing.assert_equal(f["total"], start.transpose("country", "year"))
    with pytest.raises(ValueError, match="are not those of the variable"):
        f["total"] = start.assign_coords(country=["FR", "DE"])
    with pytest.raises(ValueError, match="are not those of the variable"):
        bt.In(total, value=start.assign_coords(country=["FR", "DE"]))


def test_names_and_pickles():
    x = sample()
    given, out = bt.In(x, mutable=True), bt.Out(x, borrow=True)
    assert (
        given.tree.dims == x.dims
        and given.variable is x.values
        and given.name == "x"
        and out.tree.dims == x.dims
    )
    assert bt.In(pt.dvector()).tree is None
    for one in (given, out):
        copy = pickle.loads(pickle.dumps(one))
        assert (
            copy.tree.dims == x.dims
            and list(copy.tree.coords["country"]) == ["DE", "FR"]
            and copy.borrow
        )


@pytest.mark.parametrize(
    "wrong, error, message",
    [
        (
            lambda x: bt.In(x, value=px.xtensor_shared(np.ones((2, 2)), dims=("year", "country"))),
            ValueError,
            "expected a value, or shared variables of the same form",
        ),
        (lambda x: bt.In(x, value=np.ones(3)), TypeError, "In: the value of"),
        (
            lambda x: bt.In(x, update=px.xtensor("y", dims="year"), value=np.ones((2, 2))),
            ValueError,
            "expected the dimensions",
        ),
        (lambda x: bt.In(x, update=x + 1), ValueError, "no value to start with"),
        (lambda x: bt.In(x, update=pt.dmatrix(), value=np.ones((2, 2))), TypeError, "no names"),
        (lambda x: bt.Out(3), TypeError, "expected a variable"),
        (lambda x: bt.function([3, x], x), TypeError, "expected variables as inputs"),
    ],
)
def test_bad_input(wrong, error, message):
    with pytest.raises(error, match=message):
        wrong(sample())


# ---- compiled functions ----------------------------------------------------------------------------------------------


def counting():
    """A function with a state, and its shared variable."""
    total = px.xtensor_shared(np.zeros((2, 2)), dims=DIMS, name="total")
    x = sample()
    return bt.function([x], x + total, updates={total: total + x}), total


def test_copies_have_names():
    f, total = counting()
    other = px.xtensor_shared(np.ones((2, 2)), dims=DIMS, name="other")
    given = np.array([[1.0, 2.0], [3.0, 4.0]])
    for made in (f.copy(), copy.copy(f), f.copy(name="again")):
        assert type(made) is bt.Function and type(made(given)) is type(f(given))
    swapped = f.copy(swap={total: other})
    assert (
        values(swapped(given)) == (given + 1).tolist()
        and values(other.get_value()) == (given + 1).tolist()
    )
    before = total.get_value()
    frozen = f.copy(delete_updates=True)
    frozen(given)
    assert values(total.get_value()) == values(before) and f.copy(name="again").name == "again"
    with pytest.raises(ValueError, match="copy: swap"):
        f.copy(swap={total: px.xtensor_shared(np.ones(2), dims="year")})
    deep = copy.deepcopy(f)
    deep(given)
    assert values(total.get_value()) == values(before)
    assert type(pickle.loads(pickle.dumps(f))(given)) is type(f(given))


def test_functions_are_those_of_tensors():
    f, total = counting()
    f.trust_input = True
    assert type(f) is bt.Function and f.trust_input is True and len(f.get_shared()) == 1
    assert "Add" in f.dprint(file="str") and "input x: float64[" in bt.dprint(f, file="str")
    with pytest.raises(AttributeError):
        f.nothing = 1


def test_functions_of_sparse_matrices_are_copied():
    scipy_sparse = pytest.importorskip("scipy.sparse")
    from bitale import sparse

    a = sparse.csr_matrix("a")
    f = bt.function([a], a * 2)
    f.trust_input = False
    given = scipy_sparse.csr_array(np.array([[1.0, 0.0], [0.0, 3.0]]))
    for made in (f, f.copy(), copy.copy(f)):
        assert type(made) is type(f) and made(given).toarray().tolist() == [[2, 0], [0, 6]]

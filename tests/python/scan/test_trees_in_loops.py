"""Loops over trees: dicts, sparse matrices and labelled tensors as sequences, states, constants and results."""

import numpy as np
import pytest
import scipy.sparse as sp

import bitale as bt
import bitale.tensor as pt
from bitale import sparse
from bitale import xtensor as px
from bitale.scan import filter, fori_loop, scan_checkpoints, while_loop

MATRIX = sp.csr_array([[0.5, 0.0], [0.25, -1.0]])
DENSE = MATRIX.toarray()
VALUES = np.array([[1.0, 2.0], [3.0, -4.0], [5.0, 6.0]])


def series(dims=("time", "unit")):
    return px.xtensor("v", dims=dims)


def loop(*args, **kwargs):
    return bt.scan(*args, return_updates=False, **kwargs)


def labelled(dims=("time", "unit"), **coords):
    return pytest.importorskip("xarray").DataArray(VALUES, dims=dims, coords=coords)


# ---- labelled tensors ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["alone", "in a list", "in a dict", "with taps"])
def test_labelled_sequences_loop_along_their_first_dimension(form):
    v = px.xtensor("v", dims=(px.Dim("time", coords=[10, 20, 30]), "unit"))
    given, step = {
        "alone": (v, lambda x: 2 * x),
        "in a list": ([v], lambda x: 2 * x),
        "in a dict": ([{"v": v, "w": v}], lambda x: x["v"] + x["w"]),
        "with taps": ([{"input": v, "taps": [-1, 0]}], lambda before, x: x - before),
    }[form]
    out = loop(step, given)
    assert out.dims == ("time", "unit")
    assert list(out.coords["time"]) == ([20, 30] if form == "with taps" else [10, 20, 30])
    expected = np.diff(VALUES, axis=0) if form == "with taps" else 2 * VALUES
    np.testing.assert_array_equal(np.asarray(bt.function([v], out)(VALUES)), expected)


def test_the_dimension_of_a_loop_may_be_named():
    v, s = series(("unit", "time")), px.xtensor("s", dims="unit")
    steps = {
        "of scan": loop(lambda x, s: s + x, v, s, dim="time"),
        "of px.scan": px.scan(lambda x, s: s + x, v, s, dim="time", return_updates=False),
        "map": bt.map(lambda x: 2 * x, v, dim="time")[0],
        "reduce": bt.reduce(lambda x, s: s + x, v, s, dim="time")[0],
        "foldr": bt.foldr(lambda x, s: {"s": s["s"] + x}, v, {"s": s}, dim="time")[0],
        "filter": filter(lambda x: x.sum() > 0, v, dim="time")[0],
    }
    f = bt.function([v, s], steps)
    got = f(VALUES.T, np.zeros(2))
    sums = np.cumsum(VALUES, 0)
    for name in ("of scan", "of px.scan"):
        assert steps[name].dims == ("time", "unit")
        np.testing.assert_array_equal(np.asarray(got[name]), sums)
    np.testing.assert_array_equal(np.asarray(got["map"]), 2 * VALUES)
    np.testing.assert_array_equal(np.asarray(got["reduce"]), sums[-1])
    np.testing.assert_array_equal(np.asarray(got["foldr"]["s"]), sums[-1])
    assert steps["filter"].dims == ("time", "unit")
    np.testing.assert_array_equal(np.asarray(got["filter"]), VALUES[[0, 2]])
    with pytest.raises(ValueError, match='did you mean "time"'):
        loop(lambda x: x, v, dim="tiem")


def test_labelled_states_and_results():
    w, x = px.xtensor("w", dims="unit"), pt.dvector("x")
    states = loop(lambda s: {"w": 2 * s["w"]}, outputs_info=[{"w": w}], n_steps=3)["w"]
    named = loop(lambda s: 2 * s, outputs_info=w, n_steps=3, dim="day")
    results = loop(lambda x: {"scaled": w * x, "plain": 2 * x}, x)
    assert states.dims == ("step", "unit") and named.dims == ("day", "unit")
    assert results["scaled"].dims == ("step", "unit")
    W, X = np.array([1.0, 2.0]), np.array([1.0, 2.0, 3.0])
    got = bt.function([w, x], [states, named, results])(W, X)
    for one in got[:2]:
        np.testing.assert_array_equal(np.asarray(one), np.outer([2.0, 4.0, 8.0], W))
    np.testing.assert_array_equal(np.asarray(got[2]["scaled"]), np.outer(X, W))
    np.testing.assert_array_equal(got[2]["plain"], 2 * X)
    with pytest.raises(ValueError, match="of the steps"):
        loop(lambda s: s, outputs_info=px.xtensor("s", dims="step"), n_steps=2)


def test_states_are_in_the_order_of_their_dimensions():
    s, v = px.xtensor("s", dims=("a", "b")), px.xtensor("v", dims=("time", "b", "a"))
    out = loop(lambda x, s: {"s": x + s["s"]}, [v], [{"s": s}])["s"]
    assert out.dims == ("time", "a", "b")
    start, values = np.ones((2, 3)), np.arange(24.0).reshape(4, 3, 2)
    got = np.asarray(bt.function([v, s], out)(values, start))
    np.testing.assert_array_equal(got, 1 + np.cumsum(values, 0).transpose(0, 2, 1))


def test_arrays_of_xarray_are_labelled_in_loops():
    given = labelled(time=[1, 2, 4])
    out = loop(lambda x, s, w: s + x * w, given, given[0] * 0.0, given[1])
    assert out.dims == ("time", "unit") and list(out.coords["time"]) == [1, 2, 4]
    np.testing.assert_array_equal(np.asarray(out.eval()), np.cumsum(VALUES * VALUES[1], 0))


def test_derivatives_of_loops_over_labelled_trees():
    v, w = series(), px.xtensor("w", dims="unit")
    states = loop(lambda x, s: {"s": s["s"] * x["v"]}, [{"v": v}], [{"s": w}])["s"]
    slopes = bt.grad((states**2).sum().values, {"v": v, "w": w})
    assert slopes["v"].dims == ("time", "unit") and slopes["w"].dims == ("unit",)
    W = np.array([0.5, 1.5])
    got = bt.function([v, w], slopes)(VALUES, W)
    np.testing.assert_allclose(
        np.asarray(got["w"]), 2 * W * (np.cumprod(VALUES, 0) ** 2).sum(0), rtol=1e-13
    )


def test_ends_of_loops_may_be_labelled():
    w = px.xtensor("w", dims="unit")
    W = np.array([1.0, 2.0])
    until = loop(lambda s: (2 * s, bt.until((2 * s).sum() > 10)), outputs_info=w, n_steps=30)
    doubled = while_loop(lambda s: s.sum() < 10, lambda s: 2 * s, w, max_steps=30)
    counted = fori_loop(0, 2, lambda i, s: 2 * s, w)
    chosen = bt.ifelse(w.sum() > 2, w, -w)
    got = bt.function([w], [until, doubled, counted, chosen])(W)
    np.testing.assert_array_equal(np.asarray(got[0]), np.outer([2.0, 4.0], W))
    for one in got[1:3]:
        np.testing.assert_array_equal(np.asarray(one), 4 * W)
    np.testing.assert_array_equal(np.asarray(got[3]), W)


# ---- sparse matrices -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pattern", [None, MATRIX])
def test_sparse_constants_and_states(pattern):
    A = sparse.matrix("csr", "A", **({} if pattern is None else {"pattern": pattern}))
    x = pt.dvector("x")
    powers = loop(lambda s, p: {"x": p["A"] @ s["x"]}, None, [{"x": x}], [{"A": A}], 3)["x"]
    doubled = fori_loop(0, 3, lambda i, s: s + A, A)
    small = while_loop(
        lambda s: s["A"].sum() < -0.1, lambda s: {"A": 0.5 * s["A"]}, {"A": A}, max_steps=9
    )
    total = bt.reduce(lambda x, s: s * x, x, A)[0]
    slopes = bt.grad(powers.sum() + (doubled**2).sum() + total.sum(), {"A": A})["A"]
    f = bt.function(
        [A, x], {"powers": powers, "made": [doubled, small["A"], total], "slopes": slopes}
    )
    at = np.array([2.0, 3.0])
    got = f(MATRIX, at)
    expected = [np.linalg.matrix_power(DENSE, k) @ at for k in (1, 2, 3)]
    np.testing.assert_allclose(got["powers"], expected, rtol=1e-14)
    for one, factor in zip(got["made"], (4.0, 0.25, 6.0)):
        assert sp.issparse(one)
        np.testing.assert_allclose(one.toarray(), factor * DENSE, rtol=1e-14)

    def value(data):
        B = sp.csr_array((data, MATRIX.indices, MATRIX.indptr), shape=(2, 2)).toarray()
        return (
            sum((np.linalg.matrix_power(B, k) @ at).sum() for k in (1, 2, 3))
            + 16 * (B**2).sum()
            + 6 * B.sum()
        )

    steps = 1e-6 * np.eye(3)
    numeric = [(value(MATRIX.data + h) - value(MATRIX.data - h)) / 2e-6 for h in steps]
    np.testing.assert_allclose(got["slopes"].data, numeric, rtol=1e-6)


def test_what_sparse_matrices_cannot_be_in_loops():
    A, x = sparse.matrix("csr", "A"), pt.dvector("x")
    for sequences in (A, [{"A": A}]):
        with pytest.raises(NotImplementedError, match="is a sequence.*A.todense"):
            loop(lambda row: row, sequences)
    for step, states in (
        (lambda x: A * x, None),
        (lambda x: {"A": A * x}, None),
        (lambda x, s: s * x, A),
    ):
        with pytest.raises(NotImplementedError, match="all steps.*A.data.*reduce"):
            loop(step, x, states)
    with pytest.raises(
        ValueError, match="result 1: expected the positions of the state A.*todense"
    ):
        fori_loop(0, 3, lambda i, s: s @ s, A)


# ---- other trees -----------------------------------------------------------------------------------------------------


def test_short_forms_of_loops_take_trees():
    X, x = pt.dmatrix("X"), pt.dvector("x")
    chosen, _ = filter(lambda row: row["a"].sum() > 0, {"a": X})
    reverse, _ = filter(lambda row: row["a"].sum() > 0, {"a": X}, go_backwards=True)
    last = while_loop(
        lambda s: s["a"].sum() < 100.0, lambda s: {"a": 2 * s["a"]}, {"a": x}, max_steps=99
    )
    total, _ = bt.reduce(lambda row, s: {"a": s["a"] + row}, X, {"a": x})
    ends, _ = bt.reduce(lambda row: {"row": row, "sum": row.sum()}, X, None)
    got = bt.function([X, x], [chosen, reverse, last, total, ends])(VALUES, [1.0, 1.0])
    np.testing.assert_array_equal(got[0]["a"], VALUES[[0, 2]])
    np.testing.assert_array_equal(got[1]["a"], VALUES[[2, 0]])
    np.testing.assert_array_equal(got[2]["a"], [64.0, 64.0])
    np.testing.assert_array_equal(got[3]["a"], 1 + VALUES.sum(0))
    np.testing.assert_array_equal(got[4]["row"], VALUES[-1])
    assert got[4]["sum"] == 11
    with pytest.raises(ValueError, match="filter: the sequences have taps"):
        filter(lambda a, b: a > b, {"input": x, "taps": [-1, 0]})


@pytest.mark.parametrize("padding", [True, False])
def test_checkpoints_of_trees(padding):
    X, x, w = pt.dmatrix("X"), pt.dvector("x"), px.xtensor("w", dims="unit")
    out = scan_checkpoints(
        lambda row, s, w: {"x": s["x"] + row["X"], "w": s["w"] + w},
        {"X": X},
        {"x": x, "w": w},
        w,
        save_every_N=4,
        padding=padding,
        return_updates=False,
    )
    assert out["w"].dims == ("step", "unit")
    at = [3, 7, 9] if padding else [3, 7]
    rows = np.arange(20.0).reshape(10, 2)[: at[-1] + 1]
    got = bt.function([X, x, w], out)(rows, [1.0, 1.0], [1.0, 2.0])
    np.testing.assert_array_equal(got["x"], (1 + np.cumsum(rows, 0))[at])
    np.testing.assert_array_equal(np.asarray(got["w"]), np.outer([k + 2.0 for k in at], [1.0, 2.0]))


def test_empty_trees_are_constants_of_loops():
    x = pt.dvector("x")
    assert loop(lambda s, p: 2 * s if p == {} else s, None, x, [{}], 2).eval(
        {x: [1.0]}
    ).tolist() == [[2.0], [4.0]]


def test_classes_say_how_they_are_looped_over():
    class Reversed:
        """A vector whose elements are stepped through from the end."""

        def __init__(self, x):
            self.x = x

    def looped(use, box):
        assert use in ("sequence", "state", "result")
        return (box.x[::-1] if use == "sequence" else box.x,), use

    bt.register_tree(
        Reversed,
        lambda box: ((box.x,), None),
        lambda aux, parts: Reversed(*parts) if aux != "sequence" else parts[0],
        looped=looped,
        like=lambda aux, value: (value.x,),
    )
    x = pt.dvector("x")
    elements, boxes = loop(lambda e: (e, Reversed(2 * e)), [Reversed(x)])
    assert isinstance(boxes, Reversed)
    total = bt.reduce(lambda e, s: Reversed(s.x + e), x, Reversed(pt.constant(0.0)))[0]
    got = bt.function([x], [elements, boxes.x, total.x])([1.0, 2.0])
    assert got[0].tolist() == [2, 1] and got[1].tolist() == [4, 2] and got[2] == 3

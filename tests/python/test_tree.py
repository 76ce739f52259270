"""Values made of others: the walk over them, and everything that takes and returns variables in such values."""

import copy
import dataclasses
import pickle
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp

import bitale as bt
import bitale.tensor as pt
from bitale import sparse
from bitale import xtensor as px


class Pair(NamedTuple):
    mean: Any
    scale: Any


@dataclasses.dataclass(frozen=True)
class Layer:
    W: Any
    b: Any
    width: int = dataclasses.field(default=2, metadata={"static": True})


class Line:
    def __init__(self, slope, start, name="line"):
        self.slope, self.start, self.name = slope, start, name


bt.register_tree(
    Line,
    lambda x: ((x.slope, x.start), x.name),
    lambda name, parts: Line(*parts, name),
    names=["slope", "start"],
)

VALUES = {
    "list": [1.0, [2.0, 3.0]],
    "tuple": (1.0, (2.0,)),
    "dict": {"b": 1.0, "a": {"c": 2.0}},
    "named": Pair(1.0, Pair(2.0, None)),
    "dataclass": Layer(1.0, {"x": 2.0}),
    "none": None,
    "leaf": 3.0,
    "empty": [(), {}, None],
}


@pytest.mark.parametrize("name", VALUES)
def test_values_are_put_together_again(name):
    value = VALUES[name]
    leaves, structure = bt.tree.flatten(value)
    assert structure.unflatten(leaves) == value == bt.tree.map(lambda x: x, value)
    assert structure == bt.tree.structure(value) and hash(structure) == hash(
        bt.tree.structure(value)
    )
    assert structure.num_leaves == len(leaves) == len(structure.paths())
    assert bt.tree.unflatten(structure, iter(leaves)) == value
    for other in VALUES:
        assert (other == name) == (bt.tree.structure(VALUES[other]) == structure)


def test_names_of_jax():
    tree = {"W": [1.0, 2.0], "b": None, "c": Layer(3.0, 4.0)}
    assert bt.tree.leaves(tree) == [1.0, 2.0, 3.0, 4.0] and bt.tree.all(tree)
    assert (
        bt.tree.reduce(lambda a, b: a + b, tree)
        == 10
        == bt.tree.reduce(lambda a, b: a + b, tree, 0)
    )
    assert [path for path, _ in bt.tree.leaves_with_path(tree)] == [
        "['W'][0]",
        "['W'][1]",
        "['c'].W",
        "['c'].b",
    ]
    assert bt.tree.map_with_path(lambda path, x: path, {"a": [1]}) == {"a": ["['a'][0]"]}
    assert bt.tree.leaves(tree, is_leaf=lambda x: isinstance(x, list))[0] == [1.0, 2.0]
    assert (
        repr(bt.tree.structure(tree))
        == "TreeStructure({'W': [*, *], 'b': None, 'c': Layer(W=*, b=*)})"
    )
    line = bt.tree.map(lambda x: 2 * x, Line(1.0, 2.0, "l"))
    assert (line.slope, line.start, line.name) == (2.0, 4.0, "l")


def test_order_of_dicts_is_that_of_the_first():
    a, b = {"x": 1, "y": 2}, {"y": 20, "x": 10}
    assert bt.tree.structure(a) == bt.tree.structure(b)
    assert hash(bt.tree.structure(a)) == hash(bt.tree.structure(b))
    assert list(bt.tree.map(lambda p, q: p + q, a, b).items()) == [("x", 11), ("y", 22)]


@pytest.mark.parametrize(
    "value, error, message",
    [
        ({"W": 1.0, "c": 2.0}, ValueError, r"tree\['l'\]: there is no key 'c' among 'W', 'b'"),
        ({"W": 1.0}, ValueError, r"tree\['l'\]: the key 'b' is missing"),
        ([1.0, 2.0], TypeError, r"tree\['l'\]: expected a dict with the keys 'W', 'b'"),
        ({"W": 1.0, "B": 2.0}, ValueError, "did you mean 'b'"),
    ],
)
def test_errors_have_paths(value, error, message):
    structure = bt.tree.structure({"l": {"W": 0.0, "b": 0.0}})
    with pytest.raises(error, match=message):
        structure.flatten_like({"l": value})


def test_structures_that_differ_say_where():
    for given, other, message in (
        ([1, [2, 3]], [1, [2]], r"tree\[1\]: expected 2 values, got 1"),
        (Pair(1, 2), (1, 2), "expected a Pair"),
        (Layer(1, 2), Layer(1, 2, 3), r"\.width: expected 2, which is static, got 3"),
        (Line(1, 2, "a"), Line(1, 2, "b"), "expected an object with the data 'a'"),
        ([None], [1], "expected None"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            bt.tree.structure(given).flatten_like(other)
    with pytest.raises(ValueError, match="expected 2 leaves"):
        bt.tree.structure([1, 2]).unflatten([1])
    loop: list = []
    loop.append(loop)
    with pytest.raises(RecursionError):
        bt.tree.leaves(loop)


def test_registered_classes_are_refused():
    with pytest.raises(ValueError, match="registered already"):
        bt.register_tree(Line, lambda x: ((), None), lambda aux, parts: None)
    with pytest.raises(TypeError, match="expected a class"):
        bt.register_tree(3, lambda x: ((), None), lambda aux, parts: None)
    with pytest.raises(TypeError, match="flatten and unflatten"):
        bt.register_tree(int, 3, lambda aux, parts: None)

    assert bt.tree.leaves([bt.random.Stream(3)]) == [bt.random.Stream(3)]

    class Wrong:
        pass

    bt.register_tree(Wrong, lambda x: 3, lambda aux, parts: None)
    with pytest.raises(TypeError, match=r"expected \(children, aux\)"):
        bt.tree.leaves(Wrong())


# ---- functions -------------------------------------------------------------------------------------------------------


def parameters():
    return {"layer1": {"W": pt.dmatrix("W"), "b": pt.dvector("b")}, "scale": pt.dscalar("scale")}


PARAMS = {
    "layer1": {"W": np.array([[1.0, 2.0]]), "b": np.array([0.5, 0.25])},
    "scale": np.array(2.0),
}


def model(params, x):
    layer = params["layer1"]
    return params["scale"] * (x @ layer["W"] + layer["b"])


def test_functions_take_and_return_trees():
    params, x = parameters(), pt.dmatrix("x")
    y = model(params, x)
    f = bt.function([params, x], {"y": y, "more": (y.sum(), [y[0], None])}, name="f")
    given = np.array([[3.0], [4.0]])
    out = f(PARAMS, given)
    expected = 2 * (given @ PARAMS["layer1"]["W"] + PARAMS["layer1"]["b"])
    np.testing.assert_array_equal(out["y"], expected)
    assert isinstance(out["more"], tuple) and isinstance(out["more"][1], list)
    np.testing.assert_array_equal(out["more"][1][0], expected[0])
    assert out["more"][0] == expected.sum() and out["more"][1][1] is None
    again = {"scale": 2.0, "layer1": {"b": [0.5, 0.25], "W": [[1.0, 2.0]]}}
    np.testing.assert_array_equal(f(again, given)["y"], expected)
    for copied in (f.copy(), copy.copy(f), copy.deepcopy(f), pickle.loads(pickle.dumps(f))):
        np.testing.assert_array_equal(copied(PARAMS, x=given)["more"][1][0], expected[0])
    (only,) = f(PARAMS, given, output_subset=["y"]).values()
    np.testing.assert_array_equal(only, expected)
    out = {"y": np.empty((2, 2)), "more": (None, [np.empty(2), None])}
    assert f(PARAMS, given, out=out)["y"] is out["y"]
    np.testing.assert_array_equal(out["more"][1][0], expected[0])


def test_results_have_the_form_of_the_outputs():
    x = pt.dvector("x")
    total = x.sum()
    assert bt.function([x], (total, x))([1.0, 2.0])[0] == 3 and isinstance(
        bt.function([x], (total,))([1.0]), tuple
    )
    out = bt.function([x], [total, [x]])([1.0, 2.0])
    assert isinstance(out, list) and isinstance(out[1], list) and out[1][0].tolist() == [1.0, 2.0]
    named = bt.function([x], Pair(total, {"x": x}))([1.0])
    assert isinstance(named, Pair) and named.scale["x"].tolist() == [1.0]
    assert bt.function([x], Layer(total, x, 7))([1.0]).width == 7
    line = bt.function(
        [Line(x, total.type("t"))], Line(x, 2 * x, "other"), on_unused_input="ignore"
    )(Line([1.0], 3.0))
    assert line.name == "other" and line.start.tolist() == [2.0]
    assert bt.function([], [])() == [] and bt.function([], {})() == {}


def test_arguments_that_do_not_fit_name_their_path():
    params, x = parameters(), pt.dmatrix("x")
    params["layer1"]["W"] = pt.matrix("W", dtype="float64", shape=(None, 64))
    f = bt.function([params, x], model(params, x), name="f")

    def given(**changes):
        return {"layer1": {"W": np.ones((1, 64)), "b": np.ones(64), **changes}, "scale": 1.0}

    one = np.ones((2, 1))
    assert f(given(), one).shape == (2, 64)
    for wrong, message in (
        (given(W=np.ones((1, 3))), r"inputs\[0\]\['layer1'\]\['W'\]"),
        (given(b="text"), r"inputs\[0\]\['layer1'\]\['b'\]"),
        (given(B=1.0), r"f: inputs\[0\]\['layer1'\]: there is no key 'B' .*did you mean 'b'"),
        ({"scale": 1.0}, r"f: inputs\[0\]: the key 'layer1' is missing"),
        ([1.0], r"f: inputs\[0\]: expected a dict"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            f(wrong, one)
    with pytest.raises(TypeError, match="input 1 .x. is missing"):
        f(given())
    with pytest.raises(TypeError, match="expected 2 inputs, got 3"):
        f(given(), one, one)


def test_inputs_that_are_no_trees_of_variables():
    x = pt.dvector("x")
    for wrong in ([{"x": 3.0}], [None], ["text"], [{"x": "text"}]):
        with pytest.raises(TypeError, match="expected variables|expected a variable"):
            bt.function(wrong, x)
    with pytest.raises(bt.UnusedInputError):
        bt.function([x, {"a": pt.dscalar("a")}], x)
    unused = {"a": pt.dscalar("a"), "b": pt.dscalar("b")}
    assert bt.function([unused], unused["a"])({"a": 1.0, "b": 2.0}) == 1.0
    with pytest.raises(bt.UnusedInputError, match="twice"):
        bt.function([x, {"x": x}], x)


def test_options_of_trees():
    params, x = parameters(), pt.dmatrix("x")
    f = bt.function(
        [bt.In(params, name="params", value=PARAMS, mutable=True, borrow=True), x],
        bt.Out({"y": model(params, x)}, borrow=True),
    )
    given = np.array([[3.0]])
    expected = 2 * (given @ PARAMS["layer1"]["W"] + PARAMS["layer1"]["b"])
    for out in (f(x=given), f(PARAMS, given), f(x=given, params=PARAMS)):
        np.testing.assert_array_equal(out["y"], expected)
    assert f["params"]["scale"] == 2.0
    f["params"] = {**PARAMS, "scale": 4.0}
    np.testing.assert_array_equal(f(x=given)["y"], 2 * expected)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(f))(x=given)["y"], 2 * expected)
    state = {"n": pt.dscalar("n"), "m": pt.dscalar("m")}
    g = bt.function(
        [
            bt.In(
                state, value={"n": 0.0, "m": 1.0}, update={"m": 2 * state["m"], "n": state["n"] + 1}
            )
        ],
        (state["n"], state["m"]),
    )
    assert [g(), g(), g()] == [(0, 1), (1, 2), (2, 4)]
    with pytest.raises(ValueError, match=r"In: the value of .*the key 'm' is missing"):
        bt.In(state, value={"n": 0.0})


def test_updates_and_givens_of_trees():
    shared = bt.shared({"W": np.ones((2, 2)), "deep": {"b": np.zeros(2)}}, "p")
    assert shared["W"].name == "p.W" and shared["deep"]["b"].name == "p.deep.b"
    assert bt.shared({"W": 1.0})["W"].name == "W"
    x = pt.dvector("x")
    loss = ((x @ shared["W"] + shared["deep"]["b"]) ** 2).sum()
    slopes = bt.grad(loss, shared)
    step = bt.function(
        [x], loss, updates=[(shared, bt.tree.map(lambda p, g: p - 0.1 * g, shared, slopes))]
    )
    first, second = step([1.0, 0.5]), step([1.0, 0.5])
    assert second < first
    state = {"s": shared}
    assert set(bt.function([], shared)()) == {"W", "deep"} and state["s"] is shared
    other = bt.tree.map(lambda p: pt.ones_like(p), shared)
    assert bt.function([], shared["deep"]["b"].sum(), givens=[(shared, other)])() == 2
    with pytest.raises(ValueError, match="updates.*the key 'deep' is missing"):
        bt.function([], [], updates=[(shared, {"W": np.ones((2, 2))})])


def test_derivatives_have_the_form_of_the_variables():
    params, x = parameters(), pt.dmatrix("x")
    loss = (model(params, x) ** 2).sum()
    slopes = bt.grad(loss, params)
    assert set(slopes) == set(params) and set(slopes["layer1"]) == {"W", "b"}
    value, same = bt.value_and_grad(loss, params)
    assert value is loss
    given = np.array([[3.0]])
    one, other = bt.function([params, x], [slopes, same])(PARAMS, given)
    for a, b in zip(bt.tree.leaves(one), bt.tree.leaves(other)):
        np.testing.assert_array_equal(a, b)
    flat = bt.function([params, x], bt.grad(loss, bt.tree.leaves(params)))(PARAMS, given)
    for a, b in zip(bt.tree.leaves(one), flat):
        np.testing.assert_array_equal(a, b)
    w = {"a": pt.dvector("a"), "b": pt.dscalar("b")}
    cost = (w["a"] ** 2).sum() * w["b"]
    at = {"a": np.array([1.0, 2.0]), "b": np.array(3.0)}
    f = bt.function(
        [w],
        {
            "jacobian": bt.jacobian(w["a"] * w["b"], w),
            "jacfwd": bt.jacfwd(w["a"] * w["b"], w),
            "hessian": bt.hessian(cost, {"a": w["a"]}),
            "product": bt.hessian_vector_product(cost, w, w),
            "forward": bt.pushforward({"c": cost}, w, w),
            "back": bt.pullback({"c": cost}, w, {"c": 1.0}),
        },
    )
    out = f(at)
    for name in ("jacobian", "jacfwd"):
        np.testing.assert_array_equal(out[name]["a"], 3 * np.eye(2))
        np.testing.assert_array_equal(out[name]["b"], at["a"])
    np.testing.assert_array_equal(out["hessian"]["a"], 6 * np.eye(2))
    np.testing.assert_array_equal(out["product"]["a"], 6 * at["a"] + 2 * at["a"] * 3)
    assert out["forward"]["c"] == 2 * 5 * 3 + 5 * 3
    np.testing.assert_array_equal(out["back"]["a"], 6 * at["a"])
    assert isinstance(bt.grad(cost, (w["a"],)), tuple) and isinstance(bt.grad(cost, [w["a"]]), list)


def test_loops_and_choices_of_trees():
    init = {"h": pt.dscalar("h"), "c": pt.dscalar("c")}
    over = {"x": pt.dvector("x"), "y": pt.dvector("y")}
    weights = {"w": pt.dscalar("w")}

    def step(now, state, w):
        return {"c": state["c"] + now["y"], "h": w["w"] * state["h"] + now["x"]}, (now["x"] * 2)

    (states, doubled), _ = bt.scan(step, [over], [init, None], [weights])
    f = bt.function([init, over, weights], {"states": states, "doubled": doubled})
    out = f({"h": 1.0, "c": 0.0}, {"x": [1.0, 2.0], "y": [3.0, 4.0]}, {"w": 0.5})
    np.testing.assert_array_equal(out["states"]["h"], [1.5, 2.75])
    np.testing.assert_array_equal(out["states"]["c"], [3.0, 7.0])
    np.testing.assert_array_equal(out["doubled"], [2.0, 4.0])
    only, _ = bt.scan(lambda s: {"a": 2 * s["a"]}, outputs_info={"a": pt.constant(1.0)}, n_steps=3)
    np.testing.assert_array_equal(only["a"].eval(), [2.0, 4.0, 8.0])
    total, _ = bt.scan(lambda x: x["x"] + x["y"], [over])
    moved, _ = bt.scan(
        lambda before, now: now["x"] - before["y"], [{"input": over, "taps": [-1, 0]}]
    )
    sums, differences = bt.function([over], (total, moved))({"x": [1.0, 2.0], "y": [3.0, 4.0]})
    np.testing.assert_array_equal(sums, [4.0, 6.0])
    np.testing.assert_array_equal(differences, [-1.0])
    with pytest.raises(ValueError, match=r"scan: result 0: the key 'c' is missing"):
        bt.scan(lambda s: {"h": s["h"]}, outputs_info=[init], n_steps=2)
    c = pt.bscalar("c")
    chosen = bt.ifelse(c, {"a": init["h"], "b": (init["c"],)}, {"b": (init["h"],), "a": init["c"]})
    g = bt.function([c, init], chosen)
    assert g(1, {"h": 1.0, "c": 2.0}) == {"a": 1.0, "b": (2.0,)}
    assert g(0, {"h": 1.0, "c": 2.0}) == {"a": 2.0, "b": (1.0,)}


def test_graphs_of_trees():
    params, x = parameters(), pt.dmatrix("x")
    y = {"y": model(params, x)}
    assert "W" in bt.dprint(y, file="str") and "Dot" in bt.dprint(y, file="str")
    doubled = bt.clone_replace(y, [(params, bt.tree.map(lambda p: 2 * p, params))])
    given = np.array([[3.0]])
    one, two = bt.function([params, x], [y, doubled])(PARAMS, given)
    np.testing.assert_array_equal(two["y"], 4 * one["y"])
    rows = pt.dtensor3("rows")
    batched = bt.vectorize_graph(y, {x: rows})
    got = bt.function([params, rows], batched)(PARAMS, given[None])["y"]
    np.testing.assert_array_equal(got, one["y"][None])
    np.testing.assert_array_equal(
        bt.graph.replace.graph_replace(y, {x: 2 * x})["y"].eval(
            {x: given, **dict(zip(bt.tree.leaves(params), bt.tree.leaves(PARAMS)))}
        ),
        bt.function([params, x], y)(PARAMS, 2 * given)["y"],
    )


def test_ops_of_trees():
    params, x = parameters(), pt.dmatrix("x")
    op = bt.compile.OpFromGraph([params, x], {"y": model(params, x), "more": [params["scale"]]})
    own, at = parameters(), pt.dmatrix("at")
    out = op(own, 2 * at)
    given = np.array([[3.0]])
    got = bt.function([own, at], out)(PARAMS, given)
    expected = bt.function([params, x], model(params, x))(PARAMS, 2 * given)
    np.testing.assert_allclose(got["y"], expected)
    assert got["more"] == [2.0]
    with pytest.raises(ValueError, match=r"OpFromGraph: inputs\[0\]: the key 'scale' is missing"):
        op({"layer1": own["layer1"]}, at)


def test_checkpoints_of_trees(tmp_path):
    state = {"params": bt.shared({"W": np.ones(2), "b": 0.5}), "step": 3, "more": [np.arange(3.0)]}
    bt.checkpoint.save(tmp_path, 1, state)
    state["params"]["W"].set_value(np.zeros(2))
    found = bt.checkpoint.restore(tmp_path, state)
    assert found is not None and found.values["params"]["b"] == 0.5
    np.testing.assert_array_equal(state["params"]["W"].get_value(), np.ones(2))
    np.testing.assert_array_equal(found.values["more"][0], np.arange(3.0))


# ---- sparse and labelled values --------------------------------------------------------------------------------------


def test_one_function_of_sparse_labelled_and_other_values():
    xr = pytest.importorskip("xarray")
    A, v = sparse.matrix("csr", "A"), px.xtensor("v", dims=("row", "col"))
    params = {"w": pt.dvector("w"), "A": A}
    loss = (A @ params["w"]).sum() + (v**2).sum().values
    slopes = bt.grad(loss, {"params": params, "v": v})
    f = bt.function([params, v], {"loss": loss, "slopes": slopes, "both": (A * 2, v + 1)})
    matrix = sp.csr_array([[1.0, 0.0], [2.0, 3.0]])
    labelled = xr.DataArray([[1.0, 2.0]], dims=("col", "row"))
    for made in (f, f.copy(), pickle.loads(pickle.dumps(f))):
        out = made({"A": matrix, "w": [1.0, 2.0]}, labelled)
        assert out["loss"] == 1 + 8 + 5
        own = out["slopes"]
        assert own["v"].dims == ("row", "col") and own["v"].values.tolist() == [[2.0], [4.0]]
        assert own["params"]["A"].toarray().tolist() == [[1.0, 0.0], [1.0, 2.0]]
        assert own["params"]["w"].tolist() == [3.0, 3.0]
        assert out["both"][0].toarray().tolist() == (2 * matrix).toarray().tolist()
        assert out["both"][1].dims == ("row", "col")
    with pytest.raises(TypeError, match=r"inputs\[0\]\['A'\]: expected a sparse matrix"):
        f({"A": np.eye(2), "w": [1.0, 2.0]}, labelled)
    with pytest.raises(ValueError, match=r"inputs\[1\]: .*expected the dimensions"):
        f({"A": matrix, "w": [1.0, 2.0]}, xr.DataArray([1.0], dims="col"))


def test_matrices_with_the_same_positions():
    A = sparse.matrix("csr", "A")
    B = A.with_data(pt.dvector("other"))
    f = bt.function([A, B], (A + B).sum())
    matrix = sp.csr_array([[1.0, 0.0], [2.0, 3.0]])
    assert f(matrix, 2 * matrix) == 18
    with pytest.raises(
        ValueError, match=r"inputs\[1\]\.ind\w+: expected the values of inputs\[0\]\.ind"
    ):
        f(matrix, sp.csr_array([[1.0, 1.0], [0.0, 3.0]]))


@pytest.mark.parametrize("seed", range(12))
def test_random_trees(seed):
    from fuzz import trees

    assert trees.check(seed) > 0

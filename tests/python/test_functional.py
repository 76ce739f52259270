"""Functions of functions: jit, derivatives and batches of Python functions, alone and composed."""

import dataclasses
import gc
import subprocess
import sys
import threading
import weakref
from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp

import bitale as bt
import bitale.tensor as pt
from bitale import sparse
from bitale import xtensor as px

PARAMS = {"W": np.array([[1.0, 2.0, 0.5], [0.5, -1.0, 2.0]]), "b": np.array([0.1, 0.2, 0.3])}
X = np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 0.25], [2.0, 2.0]])


def predict(params, x):
    return pt.tanh(x @ params["W"] + params["b"])


def loss(params, x):
    return (predict(params, x) ** 2).sum()


def by_hand(params, x):
    y = np.tanh(x @ params["W"] + params["b"])
    inner = 2 * y * (1 - y**2)
    return {
        "W": np.outer(x, inner) if x.ndim == 1 else x.T @ inner,
        "b": inner if x.ndim == 1 else inner.sum(0),
    }


def close(one, other):
    assert bt.tree.structure(one) == bt.tree.structure(other)
    for a, b in zip(bt.tree.leaves(one), bt.tree.leaves(other)):
        np.testing.assert_allclose(a, b, rtol=1e-8)


def test_jit_compiles_once_for_each_kind_of_arguments():
    calls = []

    @bt.jit
    def f(params, x, *, scale=1.0):
        calls.append(x)
        return {"y": scale * predict(params, x), "x": x}

    out = f(PARAMS, X)
    np.testing.assert_allclose(out["y"], np.tanh(X @ PARAMS["W"] + PARAMS["b"]))
    f(PARAMS, X[:2]), f({**PARAMS}, X[:3])
    assert len(calls) == 1 and f.cache_info() == (2, 1, 64, 1)
    f(PARAMS, X[0]), f(PARAMS, X.astype("float32")), f(PARAMS, X, scale=2.0)
    assert len(calls) == 4 and f.cache_info().currsize == 4
    np.testing.assert_allclose(f(PARAMS, X, scale=3.0)["y"], 3 * out["y"])
    assert len(calls) == 4
    assert isinstance(f.lower(PARAMS, X), bt.Function) and f.lower(PARAMS, X).name == "f"
    assert [each.name for each in f.lower(PARAMS, X).inputs] == ["params['W']", "params['b']", "x"]
    f.cache_clear()
    assert f.cache_info() == (0, 0, 64, 0) and "f" in repr(f)


def test_order_of_keys_does_not_matter():
    f = bt.jit(lambda p: p["a"] - p["b"])
    assert f({"a": 3.0, "b": 1.0}) == 2 == f({"b": 1.0, "a": 3.0})


def test_lengths_of_one_are_repeated():
    f = bt.jit(lambda x, y: x + y)
    np.testing.assert_array_equal(f(np.ones((2, 1)), np.ones(3)), np.full((2, 3), 2.0))
    np.testing.assert_array_equal(f(np.ones((2, 3)), np.ones(3)), np.full((2, 3), 2.0))


def test_static_arguments():
    @bt.jit(static_argnames="kind", maxsize=2)
    def f(x, kind, *, flag=False):
        return -x if kind == "minus" else x + 1.0 if flag else x

    assert f(2.0, "minus") == -2 and f(2.0, kind="minus") == -2 and f(2.0, "plus") == 2
    assert f.cache_info().currsize == 2
    g = bt.jit(lambda x, n: sum(x**k for k in range(n)), static_argnums=1)
    assert g(2.0, 3) == 7 and g(2.0, 4) == 15


def test_values_that_are_asked_for():
    @bt.jit
    def f(x):
        return x if x > 0 else -x

    with pytest.raises(TypeError, match="ifelse|switch|value"):
        f(1.0)
    with pytest.raises(
        TypeError, match=r"jit of <lambda>: arguments\[0\]\[0\]\['a'\]: expected an array"
    ):
        bt.jit(lambda x: x)({"a": "text"})
    with pytest.raises(TypeError, match="expected a function"):
        bt.jit(3)
    with pytest.raises(TypeError, match="lower"):
        bt.jit(lambda x: x).lower(pt.dscalar())


def test_functions_take_variables():
    x = pt.dmatrix("x")
    params = {"W": pt.dmatrix("W"), "b": pt.dvector("b")}
    slope = bt.grad(bt.jit(loss))(params, x)
    close(bt.function([params, x], slope)(PARAMS, X), by_hand(PARAMS, X))


def test_gradients_have_the_structure_of_the_argument():
    close(bt.grad(loss)(PARAMS, X), by_hand(PARAMS, X))
    value, slopes = bt.value_and_grad(loss)(PARAMS, X)
    close(slopes, by_hand(PARAMS, X))
    np.testing.assert_allclose(value, (np.tanh(X @ PARAMS["W"] + PARAMS["b"]) ** 2).sum())
    first, second = bt.grad(lambda a, b: a * b**2, argnums=(0, 1))(2.0, 3.0)
    assert (first, second) == (9, 12) and bt.grad(lambda a, b: a * b**2, 1)(2.0, 3.0) == 12
    assert bt.grad(lambda a, b: a * b**2, argnums=-1)(2.0, 3.0) == 12
    (value, more), slope = bt.value_and_grad(lambda x: (x**2, {"twice": 2 * x}), has_aux=True)(3.0)
    assert (value, more, slope) == (9, {"twice": 6}, 6)
    assert bt.grad(lambda x: (x**2, x), has_aux=True)(3.0) == (6, 3)
    assert bt.grad(lambda x, y: y)(3.0, 1.0) == 0
    with pytest.raises(TypeError, match="no argument 2 among 1"):
        bt.grad(lambda x: x, argnums=2)(1.0)
    with pytest.raises(TypeError, match="has_aux"):
        bt.grad(lambda x: x, has_aux=True)(1.0)
    with pytest.raises(TypeError, match="scalar"):
        bt.grad(lambda x: x)(np.ones(2))
    with pytest.raises(TypeError, match="wrt"):
        bt.grad(pt.dscalar())


def test_a_derivative_by_an_argument_is_partial():
    x = pt.dscalar("x")
    assert bt.function([x], bt.grad(lambda y: x * y)(x))(3.0) == 3
    nested = bt.grad(lambda x: x * bt.grad(lambda y: x * y**2)(2.0))
    assert nested(3.0) == 2 * 3 * 2 * 2


def test_jacobians_and_hessians():
    f = lambda x: {"a": x**2, "b": x.sum()}  # noqa: E731
    at = np.array([1.0, 2.0])
    expected = {"a": np.diag(2 * at), "b": np.ones(2)}
    for derivative in (bt.jacfwd, bt.jacrev, bt.jacobian):
        close(derivative(f)(at), expected)
    by_both = bt.jacrev(lambda a, b: a["x"] * b, argnums=(0, 1))({"x": at}, 3.0)
    close(by_both, ({"x": 3 * np.eye(2)}, at))
    np.testing.assert_allclose(bt.hessian(lambda x: (x**3).sum())(at), np.diag(6 * at))
    second = bt.hessian(lambda p: p["a"] ** 2 * p["b"])({"a": 2.0, "b": 3.0})
    close(second, {"a": {"a": 6.0, "b": 4.0}, "b": {"a": 4.0, "b": 0.0}})
    v = pt.dvector("v")
    np.testing.assert_allclose(bt.jacrev(v**2, v).eval({v: at}), np.diag(2 * at))


def test_batches():
    np.testing.assert_allclose(bt.vmap(lambda a, b: a @ b)(X, X), (X**2).sum(1))
    np.testing.assert_allclose(bt.vmap(lambda a, b: a @ b, in_axes=(1, None))(X.T, X[0]), X @ X[0])
    np.testing.assert_allclose(bt.vmap(lambda a: 2 * a, out_axes=1)(X), 2 * X.T)
    both = bt.vmap(
        lambda p, x: {"y": p["w"] * x + p["c"], "c": p["c"]}, in_axes=({"w": 0, "c": None}, 0)
    )
    out = both({"w": np.array([1.0, 2.0]), "c": 0.5}, np.array([3.0, 4.0]))
    close(out, {"y": np.array([3.5, 8.5]), "c": np.array([0.5, 0.5])})
    assert bt.vmap(lambda x, c: c, in_axes=(0, None), out_axes=None)(X, 3.0) == 3
    with pytest.raises(ValueError, match="a batch in at least one"):
        bt.vmap(lambda x: x, in_axes=None)(X)
    with pytest.raises(ValueError, match="expected 1, one for each argument, got 2"):
        bt.vmap(lambda x: x, in_axes=(0, 0))(X)
    with pytest.raises(ValueError, match="scalar"):
        bt.vmap(lambda x: x)(1.0)
    with pytest.raises(ValueError, match="differs between elements"):
        bt.vmap(lambda x: x, out_axes=None)(X)


def test_transformations_compose():
    per_example = bt.vmap(bt.grad(loss), in_axes=(None, 0))(PARAMS, X)
    for k, x in enumerate(X):
        close(bt.tree.map(lambda g: g[k], per_example), by_hand(PARAMS, x))
    of_batch = bt.jit(bt.grad(lambda p, x: bt.vmap(loss, in_axes=(None, 0))(p, x).sum()))
    close(of_batch(PARAMS, X), by_hand(PARAMS, X))
    third = bt.grad(bt.grad(bt.grad(lambda x: x**4)))
    assert third(2.0) == 48 and bt.vmap(third)(np.array([1.0, 2.0])).tolist() == [24, 48]
    np.testing.assert_allclose(
        bt.jacfwd(bt.vmap(lambda x: x**2))(np.array([1.0, 2.0])), np.diag([2.0, 4.0])
    )

    def total(w, xs):
        trace = bt.scan(
            lambda x, h: pt.tanh(w["a"] * h + x),
            [xs],
            [pt.as_tensor_variable(0.0, dtype="float64")],
            return_updates=False,
        )
        return bt.ifelse(trace[-1] > 0, trace[-1], -trace[-1])

    value, slope = bt.value_and_grad(total)({"a": 0.5}, np.array([0.3, 0.2]))
    h = np.tanh(0.3)
    expected = np.tanh(0.5 * h + 0.2)
    np.testing.assert_allclose(value, expected)
    np.testing.assert_allclose(slope["a"], (1 - expected**2) * h)


def test_calls_from_threads():
    f, results = bt.jit(lambda x: {"y": 2 * x}), []
    threads = [
        threading.Thread(target=lambda k=k: results.append(f(np.full(k % 3 + 2, 1.0))["y"][0]))
        for k in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [2.0] * 8 and f.cache_info().misses == 1


def test_methods_and_documentation():
    class Model:
        @bt.jit
        def predict(self, x):
            """Twice x."""
            return 2 * x

    assert Model.predict.__doc__ == "Twice x." and Model.predict.__name__ == "predict"


@pytest.mark.parametrize(
    "derivative", [bt.grad, bt.value_and_grad, bt.jacrev, bt.jacfwd, bt.hessian]
)
def test_integers_have_no_derivative(derivative):
    """Not zeros, which a 3 in place of 3.0 would give without a word."""
    with pytest.raises(TypeError, match="argument 0: expected floats, got int64"):
        derivative(lambda x: (x * 1.5).sum())(np.arange(3))
    with pytest.raises(TypeError, match=r"argument 1\['n'\]: expected floats, got bool"):
        derivative(lambda x, p: x * p["n"], argnums=1)(1.0, {"n": True})


def test_static_arguments_that_are_equal():
    f = bt.jit(lambda x, n: x * 10 if n is True else x + n, static_argnames="n")
    assert f(3.0, n=1) == 4.0 and f(3.0, n=True) == 30.0 and f(3.0, n=1.0) == 4.0
    assert f.cache_info().misses == 3
    with pytest.raises(ValueError, match="static_argnums: expected positions from 0 on, got -1"):
        bt.jit(lambda x, n: x, static_argnums=-1)


def test_a_function_that_calls_itself_while_it_is_traced():
    @bt.jit
    def f(x):
        return x + (f(np.ones(2)).sum() if x.ndim == 0 else 0.0)

    assert f(1.0) == 3.0


def test_batches_of_different_lengths_are_refused():
    apart = bt.vmap(lambda a, b: (2 * a, 2 * b))
    for lengths in ((2, 3), (1, 3), (3, 1), (0, 1)):
        with pytest.raises(bt.ShapeError, match="vmap: the batches"):
            apart(*(np.ones((n, 2)) for n in lengths))
    x, y = pt.dmatrices("x", "y")
    f = bt.function([x, y], list(apart(x, y)))
    with pytest.raises(bt.ShapeError, match="vmap: the batches"):
        f(np.ones((2, 2)), np.ones((1, 2)))
    assert [z.shape for z in f(np.ones((2, 2)), np.ones((2, 3)))] == [(2, 2), (2, 3)]


def test_large_integers_are_another_kind():
    f = bt.jit(lambda x: x + 0)
    assert f(2**63) == 2**63 and f(-3) == -3 and f(2**63 + 1) == 2**63 + 1
    assert f.cache_info().misses == 2


class Pair(NamedTuple):
    a: object
    b: object


@dataclasses.dataclass
class Scaled:
    x: object
    factor: float = dataclasses.field(default=2.0, metadata={"static": True})


def test_each_kind_of_arguments_has_its_function():
    """Calls go back and forth between structures that differ in one respect."""
    one, two = np.array(1.0), np.array(2.0)
    f = bt.jit(lambda p: bt.tree.map(lambda x: 3.0 * x, p))
    kinds = [
        [one, two],
        (one, two),
        Pair(one, two),
        {"a": one, "b": two},
        {"b": two, "a": one},
        {"a": one, "c": two},
        {"a": one, "b": {"c": two}},
        [one, [two]],
        [one, two, None],
        [one, two, ()],
        [np.ones(2), two],
        [np.ones(1), two],
        [np.ones((2, 1)), two],
        [np.ones((1, 2)), two],
        [np.float32(1.0), two],
        [1, two],
        [2**63, two],
        [True, two],
        Scaled(one),
        Scaled(one, 3.0),
        [np.ones(2, "complex128"), two],
    ]
    for _ in range(3):
        for kind in [*kinds, *reversed(kinds)]:
            close(f(kind), bt.tree.map(lambda x: 3.0 * np.asarray(x), kind))
    assert f.cache_info().misses == len(kinds) == f.cache_info().currsize
    assert f.cache_info().hits == 5 * len(kinds)
    assert f([3.0, 4.0]) == [9.0, 12.0] and f.cache_info().misses == len(kinds)
    with pytest.raises(TypeError, match="expected an array"):
        f(["text", two])
    x = pt.dscalar("x")
    assert isinstance(f([x, two])[0], pt.TensorVariable) and f.cache_info().misses == len(kinds)


def test_the_oldest_function_is_forgotten():
    traced = []

    @bt.jit(maxsize=2)
    def f(x):
        traced.append(x.ndim)
        return x.sum()

    for ndim in (0, 1, 0, 2, 1, 0, 1):
        assert f(np.full((2,) * ndim, 0.5)) == 0.5 * 2**ndim
    assert traced == [0, 1, 2, 0, 1] and f.cache_info() == (2, 5, 2, 2)
    g = bt.jit(lambda x, n: x, static_argnums=1)
    assert g(1.0, 2) == 1
    for bad in ([2], np.array([2, 3])):
        with pytest.raises(TypeError, match="unhashable"):
            g(1.0, bad)


def test_functions_and_static_arguments_are_collected_together():
    class Model:
        def __init__(self):
            self.f = bt.jit(lambda self, x: 2 * x, static_argnums=0)

    model = Model()
    assert model.f(model, 2.0) == 4
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None


def test_batches_do_not_load_the_classes_of_ops():
    """They cost a tenth of the first call, and only programs that look at ops need them."""
    code = """
import sys
import numpy as np
import bitale as bt
bt.vmap(bt.grad(lambda w, x: (w * x).sum()), in_axes=(0, 0))(np.ones((2, 3)), np.ones((2, 3)))
print("bitale.tensor.op_classes" in sys.modules)
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"


def layer(params, x):
    return {"y": pt.tanh(pt.exp(x) @ params["W"] + params["b"]), "total": x.sum()}


def error_of(layer):
    return lambda params, x: (layer(params, x)["y"] ** 2).sum() + layer(params, x)["total"]


@pytest.mark.parametrize(
    "made",
    [
        bt.jit,
        bt.grad,
        bt.value_and_grad,
        lambda f: bt.grad(f, argnums=(0, 1)),
        lambda f: bt.jacfwd(f, argnums=1),
        lambda f: bt.jacrev(f, argnums=1),
        lambda f: bt.hessian(f, argnums=1),
        lambda f: bt.remat(bt.grad(f)),
        lambda f: bt.grad(bt.remat(lambda *args: 2 * f(*args))),
        lambda f: bt.vmap(bt.grad(f), in_axes=(None, 0)),
        lambda f: bt.grad(lambda p, x: bt.vmap(f, in_axes=(None, 0))(p, x).sum()),
        lambda f: bt.jit(bt.grad(f)),
    ],
)
def test_values_that_are_computed_again(made):
    """Alone and among other functions of functions, nothing changes but the memory."""
    given = (PARAMS, X / 4)
    close(made(error_of(bt.remat(layer)))(*given), made(error_of(layer))(*given))


def test_gradients_compute_values_again():
    params, x = {"W": pt.dmatrix("W"), "b": pt.dvector("b")}, pt.dvector("x")
    scale = pt.exp(pt.dscalar("s"))
    block = bt.remat(lambda p, x: layer(p, x * scale))
    y = block(params, x)["y"]
    s = scale.owner.inputs[0]
    cost = (y**2).sum()
    f = bt.function([params, x, s], [cost, bt.grad(cost, [params, scale, s])])
    # The scale is computed outside; nothing else but arguments and results passes between value and gradient.
    names = [str(node.op) for node in f.maker.fgraph.toposort()]
    assert sum("<lambda>{inline=False}" in name for name in names) == 2
    assert not any("tanh" in name for name in names)
    at = ({"W": PARAMS["W"], "b": PARAMS["b"]}, np.array([0.5, 0.25]), 0.3)

    def value(p, scale):
        return (np.tanh(np.exp(at[1] * scale) @ p["W"] + p["b"]) ** 2).sum()

    got, (slopes, by_scale, by_s) = f(*at)
    e = np.exp(0.3)
    np.testing.assert_allclose(got, value(PARAMS, e), rtol=1e-12)
    np.testing.assert_allclose(
        by_scale, (value(PARAMS, e + 1e-6) - value(PARAMS, e - 1e-6)) / 2e-6, rtol=1e-7
    )
    np.testing.assert_allclose(by_s, by_scale * e, rtol=1e-12)
    assert set(slopes) == {"W", "b"}


def test_forms_of_functions_that_are_computed_again():
    assert bt.remat(lambda x, y: (x, {"y": y, "none": None}, 3.0))(2.0, 1) == (
        2,
        {"y": 1, "none": None},
        3,
    )
    assert bt.remat(lambda x: None)(2.0) is None
    assert bt.remat(lambda x, *, factor: factor * x)(2.0, factor=3.0) == 6
    weight = bt.shared(np.array([1.0, 2.0]), "weight")
    x = pt.dvector("x")
    slope = bt.grad(bt.remat(lambda x: (x * weight**2).sum())(x), weight)
    np.testing.assert_array_equal(bt.function([x], slope)([1.0, 1.0]), [2.0, 4.0])
    xs = np.array([[0.1, 0.2], [0.3, -0.4]])
    start = pt.zeros(2, dtype="float64")

    def last(cell):
        return lambda xs: bt.scan(cell, xs, start, return_updates=False)[-1].sum()

    cell = lambda x, h: pt.tanh(x + pt.sin(h))  # noqa: E731
    close(bt.grad(last(bt.remat(cell)))(xs), bt.grad(last(cell))(xs))
    with pytest.raises(TypeError, match="remat: expected a function, got 3"):
        bt.remat(3)
    with pytest.raises(TypeError, match="expected an array"):
        bt.remat(lambda x: x)("text")


def test_sparse_and_labelled_values_are_computed_again():
    A, v = sparse.matrix("csr", "A"), px.xtensor("v", dims="a")
    block = bt.remat(lambda p: {"x": p["A"] @ pt.exp(p["v"].values), "v": 2 * p["v"]})
    out = block({"A": A, "v": v})
    slopes = bt.grad(out["x"].sum() + out["v"].sum().values, {"A": A, "v": v})
    f = bt.function([A, v], [out, slopes])
    matrix, at = sp.csr_array([[1.0, 0.0], [2.0, 3.0]]), np.array([0.5, -0.5])
    (got, own) = f(matrix, at)
    np.testing.assert_allclose(got["x"], matrix @ np.exp(at), rtol=1e-14)
    np.testing.assert_allclose(np.asarray(own["v"]), [3.0, 3.0] * np.exp(at) + 2, rtol=1e-14)
    np.testing.assert_allclose(own["A"].toarray(), [[np.exp(0.5), 0], np.exp(at)], rtol=1e-14)


def test_functions_of_sparse_and_labelled_values():
    xr = pytest.importorskip("xarray")
    traced = []

    def model(params, x):
        traced.append(params)
        assert isinstance(params["A"], sparse.SparseVariable)
        assert isinstance(params["d"], px.XTensorVariable)
        rest = params["A"] @ params["w"] - x
        return (rest**2).sum() + (params["d"] ** 2).sum().values

    A, x = sp.csr_array([[1.0, 0.0], [2.0, 3.0]]), np.array([1.0, 2.0])
    d = xr.DataArray([[1.0, 2.0], [3.0, 4.0]], dims=("t", "u"), coords={"t": [1, 2]})
    params = {"A": A, "w": np.array([1.0, 2.0]), "d": d}

    def expected(A, w, d):
        return ((A @ w - x) ** 2).sum() + (np.asarray(d) ** 2).sum()

    rest = 2 * (A.toarray() @ params["w"] - x)
    for f in (bt.value_and_grad(model), bt.value_and_grad(bt.remat(model))):
        value, slopes = f(params, x)
        assert value == expected(**params)
        assert slopes["d"].dims == ("t", "u") and list(slopes["d"].coords["t"]) == [1, 2]
        np.testing.assert_array_equal(slopes["d"], 2 * d)
        np.testing.assert_array_equal(slopes["w"], A.T @ rest)
        np.testing.assert_array_equal(
            slopes["A"].toarray(), np.outer(rest, params["w"]) * (A.toarray() != 0)
        )
    f = bt.jit(model)
    del traced[:]
    kinds = [
        {},
        {"A": A.tocsc()},
        {"A": A.astype("float32")},
        {"d": d.assign_coords(t=[1, 3])},
        {"d": d.T},
        {"d": d.astype("float32")},
        {"d": xr.DataArray(d.values, dims=("t", "u"))},
    ]
    for _ in range(2):
        for changes in [*kinds, {"A": sp.csr_array(np.eye(2))}, {"d": d.copy()}]:
            given = params | changes
            np.testing.assert_allclose(f(given, x), expected(**given), rtol=1e-6)
    assert len(traced) == len(kinds)  # other positions and equal labels are of the same kind
    out = bt.jit(lambda p: {"d": 2 * p["d"], "A": 2 * p["A"]})({"d": d, "A": A})
    assert out["d"].identical(2 * d) and (out["A"] != 2 * A).nnz == 0
    many = bt.vmap(lambda A, x: A @ x, in_axes=(None, 0))(A, X[:, :2])
    np.testing.assert_allclose(many, X[:, :2] @ A.toarray().T)
    with pytest.raises(TypeError, match=r"arguments\[0\]\[0\]: .*Dataset"):
        f(d.to_dataset(name="d"), x)


def test_a_call_that_compiles_begins_with_an_interpreter():
    x = np.arange(3.0)
    f = bt.jit(lambda x: x * 2)
    assert f.lower(x).maker.linker == "tiered"
    assert f(x).tolist() == [0.0, 2.0, 4.0]
    assert bt.jit(lambda x: x * 2, mode="FAST_RUN").lower(x).maker.linker == "jit"
    with bt.config.change_flags(mode="FAST_COMPILE"):
        assert bt.jit(lambda x: x * 2).lower(x).maker.linker == "vm"

"""Labelled tensors: construction, arithmetic by names, reductions, shape, functions, and derivatives."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale import xtensor as px

A = np.arange(6.0).reshape(2, 3)
V = np.array([1.0, 10.0, 100.0])


def arrays(value):
    return np.asarray(value)


def x_and_v():
    return px.xtensor("x", dims=("country", "year")), px.xtensor("v", dims="year")


# ---- what they are ----------------------------------------------------------------------------------------------------


def test_type():
    kind = px.XTensorType("float64", dims=("a", "b"), shape=(2, None))
    x = kind("x")
    assert (x.dims, x.ndim, x.dtype, x.name, x.static_shape) == (
        ("a", "b"),
        2,
        "float64",
        "x",
        (2, None),
    )
    assert (
        x.type == kind
        and hash(x.type) == hash(kind)
        and kind.is_super(kind.clone(shape=(2, 5)))
        and not kind.is_super(kind.clone(dims=("b", "a")))
    )
    assert repr(x) == "x: float64[a: 2, b: ?]"
    assert px.xtensor("y", dims="time").dims == ("time",)  # a text is one name, not its letters
    assert px.xtensor("z", dims=("a",), dtype="int32").dtype == "int32"


def test_dims_with_length_and_coordinates():
    country = px.Dim("country", coords=["DE", "FR"])
    x = px.xtensor("x", dims=(country, px.Dim("year", 3)))
    assert x.static_shape == (2, 3) and list(x.coords["country"]) == ["DE", "FR"]
    assert x.dimensions[0] == country and px.Dim("year", 3) == px.Dim("year", 3) != px.Dim("year")
    assert repr(px.Dim("year", 3)) == 'Dim("year", 3)'


def test_as_xtensor():
    tensor = pt.dmatrix("m")
    x = px.as_xtensor(tensor, dims=("a", "b"))
    assert x.values is tensor and px.as_xtensor(x) is x
    assert px.as_xtensor(2.0).dims == () and px.as_xtensor(pt.dscalar("s")).dims == ()
    assert px.as_xtensor([1.0, 2.0], dims="a").static_shape == (2,)
    assert px.xtensor_constant(A, dims=("a", "b"), name="c").name == "c"


def test_identity_and_hash():
    x, y = px.xtensor("x", dims="a"), px.xtensor("y", dims="a")
    assert x == x and not x == y and x != y and {x: 1}[x] == 1 and x in [y, x]
    assert arrays((x == 2.0).eval({x: [1.0, 2.0]})).tolist() == [False, True]
    with pytest.raises(TypeError, match="only tells whether"):
        (x == y) * 1.0


def test_pickle():
    x = px.xtensor("x", dims=(px.Dim("a", coords=["p", "q"]), "b"))
    again = pickle.loads(pickle.dumps(x))
    assert again.dims == x.dims and list(again.coords["a"]) == ["p", "q"] and again.name == "x"


# ---- arithmetic -------------------------------------------------------------------------------------------------------


def test_operands_meet_by_names(mode):
    x, v = x_and_v()
    f = bt.function(
        [x, v],
        [x * v, v * x, v + x.T, -x, x / 2, 2 - v, x > 1, x @ v, abs(x), x**2, x // 2, x % 2],
        mode=mode,
    )
    found = [arrays(each) for each in f(A, V)]
    expected = [
        A * V,
        (A * V).T,
        A.T + V[:, None],
        -A,
        A / 2,
        2 - V,
        A > 1,
        A @ V,
        abs(A),
        A**2,
        A // 2,
        A % 2,
    ]
    for got, wanted in zip(found, expected):
        np.testing.assert_array_equal(got, wanted)
    assert (v * x).dims == ("year", "country") and (x @ v).dims == ("country",)


def test_other_names_make_an_outer_product():
    x, y = px.xtensor("x", dims="a"), px.xtensor("y", dims="b")
    assert (x + y).dims == ("a", "b")


def test_elementwise_functions_take_any_operands(mode):
    x, v = x_and_v()
    outputs = [
        px.math.exp(x),
        px.math.maximum(v, x),
        px.where(x > 2, x, v),
        px.math.clip(x, 0.5, 3),
        px.math.gammainc(x + 1, v),
        px.math.softplus(x),
    ]
    f = bt.function([x, v], outputs, mode=mode)
    g = bt.function(
        [x.values, v.values],
        [
            pt.exp(x.values),
            pt.maximum(v.values[:, None], x.values.T),
            pt.where(x.values > 2, x.values, v.values),
            pt.clip(x.values, 0.5, 3),
            pt.gammainc(x.values + 1, v.values),
            pt.softplus(x.values),
        ],
        mode=mode,
    )
    for got, wanted in zip(f(A, V), g(A, V)):
        np.testing.assert_array_equal(arrays(got), wanted)
    assert px.math.cast(x, "float32").dtype == "float32" and px.math.identity(x) is not None


@pytest.mark.parametrize("name", px.math._ELEMENTWISE)
def test_every_elementwise_function_is_that_of_tensors(name):
    import inspect

    function = getattr(pt, name)
    ranks = {
        "logaddexp": 2,
        "and_": 2,
        "or_": 2,
        "where": 3,
        "switch": 3,
        "clip": 3,
        "betainc": 3,
        "betaincinv": 3,
        "hyp2f1": 4,
    }
    required = [
        p
        for p in inspect.signature(function).parameters.values()
        if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD
    ]
    count = ranks.get(name, len(required))
    dtype = (
        "bool"
        if name in ("and_", "or_", "xor", "invert") or name.startswith("bitwise")
        else "float64"
    )
    operands = [
        px.xtensor(
            f"x{i}",
            dims=("a", "b")[i % 2],
            dtype="bool" if (name in ("where", "switch") and i == 0) else dtype,
        )
        for i in range(count)
    ]
    made = getattr(px.math, name)(*operands)
    assert set(made.dims) == {each.dims[0] for each in operands}
    tensors = [x.values if x.dims == ("b",) or count == 1 else x.values[:, None] for x in operands]
    assert made.values.type == function(*tensors).type


def test_lengths_of_one_are_not_repeated():
    one, many = px.xtensor("one", dims="a", shape=(1,)), px.xtensor("many", dims="a")
    f = bt.function([one, many], one + many)
    assert arrays(f([1.0], [2.0])).tolist() == [3.0]
    with pytest.raises(ValueError):
        f([1.0], [2.0, 3.0])
    with pytest.raises(ValueError):
        bt.function([one, many], px.dot(one, many))([1.0], [2.0, 3.0])
    with pytest.raises(bt.ShapeError, match='"a" has length 1 in one operand and 2 in'):
        one + px.xtensor("two", dims="a", shape=(2,))


# ---- reductions, products, shape --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "sum",
        "prod",
        "mean",
        "var",
        "std",
        "min",
        "max",
        "all",
        "any",
        "cumsum",
        "cumprod",
        "logsumexp",
    ],
)
def test_reductions(name, mode):
    x = px.xtensor("x", dims=("a", "b", "c"))
    value = np.random.default_rng(0).normal(size=(2, 3, 4))
    reduce = getattr(px.reduction, name, None) or getattr(px.math, name)
    tensor = getattr(pt, name)
    for dim, axis in (("b", 1), (("c", "a"), (0, 2)), (None, None), (..., None)):
        if name.startswith("cum"):
            expected = value
            for each in (axis,) if isinstance(axis, int) else axis or (0, 1, 2):
                expected = getattr(np, name)(expected, axis=each)
        else:
            expected = tensor(pt.constant(value), axis=axis).eval()
        got = bt.function([x], [reduce(x, dim), getattr(x, name)(dim)], mode=mode)(value)
        for each in got:
            np.testing.assert_allclose(arrays(each), expected, rtol=1e-13)
    kept = reduce(x, "b").dims
    assert kept == (("a", "b", "c") if name.startswith("cum") else ("a", "c"))


def test_ddof_arg_reductions_and_softmax():
    x = px.as_xtensor(A, dims=("a", "b"))
    np.testing.assert_allclose(arrays(x.var("b", ddof=1).eval()), A.var(1, ddof=1))
    assert arrays(x.argmax("b").eval()).tolist() == [2, 2] and arrays(
        px.reduction.argmin(x, "a").eval()
    ).tolist() == [0, 0, 0]
    np.testing.assert_allclose(arrays(px.math.softmax(x, "a").sum("a").eval()), 1)
    np.testing.assert_allclose(
        arrays(px.math.log_softmax(x, "b").eval()), A - np.log(np.exp(A).sum(1, keepdims=True))
    )


def test_dot():
    x, w = (
        px.as_xtensor(A, dims=("a", "b")),
        px.as_xtensor(np.ones((3, 2, 4)), dims=("b", "a", "c")),
    )
    assert (
        px.dot(x, w).dims == ("c",)
        and px.dot(x, w, dim="b").dims == ("a", "c")
        and px.dot(x, w, dim=...).dims == ()
    )
    np.testing.assert_allclose(arrays(px.dot(x, w, dim="b").eval()), A.sum(1)[:, None] * np.ones(4))
    assert px.dot(x, w, dim=()).dims == ("a", "b", "c")
    with pytest.raises(ValueError, match='dot: no dimension is called "d"'):
        px.dot(x, w, dim="d")


def test_shape():
    x = px.as_xtensor(np.arange(24.0).reshape(2, 3, 4), dims=("a", "b", "c"))
    value = np.arange(24.0).reshape(2, 3, 4)
    assert (
        x.T.dims == ("c", "b", "a")
        and x.transpose("b", ...).dims == ("b", "a", "c")
        and x.transpose(..., "a").dims == ("b", "c", "a")
    )
    assert x.transpose("c", "nothing", ..., missing_dims="ignore").dims == ("c", "a", "b")
    stacked = x.stack(d=("c", "a"))
    assert stacked.dims == ("b", "d") and stacked.static_shape == (3, 8)
    np.testing.assert_array_equal(arrays(stacked.eval()), value.transpose(1, 2, 0).reshape(3, 8))
    assert x.unstack(c={"e": 2, "f": None}).dims == ("a", "b", "e", "f") and x.unstack(
        c={"e": 2, "f": 2}
    ).static_shape == (2, 3, 2, 2)
    assert x.expand_dims("n").dims == ("n", "a", "b", "c") and x.expand_dims(n=3).static_shape == (
        3,
        2,
        3,
        4,
    )
    assert x.expand_dims(("m", "n"), axis=(1, -1)).dims == ("a", "m", "b", "c", "n")
    assert list(x.expand_dims(n=["p", "q"]).coords["n"]) == ["p", "q"]
    assert x.isel(a=[0]).squeeze("a").dims == ("b", "c") and x.isel(a=[0]).squeeze().dims == (
        "b",
        "c",
    )
    assert x.rename(a="z").dims == ("z", "b", "c") and x.rename({"a": "b", "b": "a"}).dims == (
        "b",
        "a",
        "c",
    )
    assert (
        x.sizes["b"].eval() == 3
        and [int(each.eval()) for each in x.shape] == [2, 3, 4]
        and x.size.eval() == 24
    )
    assert (
        px.zeros_like(x).dtype == "float64"
        and px.ones_like(x, "int8").dtype == "int8"
        and px.full_like(x, 7).dims == x.dims
    )


def test_concat_and_broadcast():
    x, v = px.as_xtensor(A, dims=("a", "b")), px.as_xtensor(V, dims="b")
    joined = px.concat([x, v], dim="a")
    assert joined.dims == ("a", "b")
    np.testing.assert_array_equal(arrays(joined.eval()), np.vstack([A, V]))
    assert px.concat([x, x], dim="new").dims == ("new", "a", "b")
    np.testing.assert_array_equal(
        arrays(px.concat([x, v], dim="c").eval()), np.stack([A, np.broadcast_to(V, (2, 3))])
    )
    first, second = px.broadcast(v, x)
    assert first.dims == second.dims == ("b", "a")
    assert [each.dims for each in px.broadcast(x, v, exclude="b")] == [("a", "b"), ("a", "b")]
    assert v.broadcast_like(x).dims == ("a", "b")


# ---- functions --------------------------------------------------------------------------------------------------------


def test_forms_of_functions():
    x, v = x_and_v()
    assert arrays(bt.function([x], x.sum())(A)) == 15
    assert set(bt.function([x, v], {"sum": x + v, "v": v.values})(A, V)) == {"sum", "v"}
    one = bt.function([bt.In(x.values, name="x"), v], [x + v])
    assert type(one) is bt.Function
    np.testing.assert_array_equal(arrays(one(x=A, v=V)[0]), A + V)
    assert bt.function([x, v], x + v)(A, V).shape == (2, 3)


def test_updates_and_givens():
    total = px.xtensor_shared(np.zeros((2, 3)), dims=("a", "b"), name="total")
    x = px.xtensor("x", dims=("b", "a"))
    step = bt.function([x], None, updates={total: total + x})
    step(np.ones((3, 2))), step(np.ones((3, 2)))
    np.testing.assert_array_equal(arrays(total.get_value()), np.full((2, 3), 2.0))
    total.set_value(A)
    assert (
        arrays(
            bt.function([], total.sum(), givens={total: px.as_xtensor(A.T, dims=("b", "a")) * 2})()
        )
        == 30
    )
    with pytest.raises(ValueError, match="expected the dimensions"):
        bt.function([], None, updates={total: total.sum("a")})
    with pytest.raises(TypeError, match="expected a tensor in place of"):
        bt.function([], None, updates={bt.shared(np.ones(2)): total.sum("b")})


def test_printing():
    x, v = x_and_v()
    assert bt.dprint(x.sum("year"), id_type="", file="str").splitlines()[:2] == [
        "Sum{axis=1}.0: float64[country: ?]",
        "Sum{axis=1}",
    ]
    text = x.dprint(file="str")
    assert (
        text.startswith("x: float64[country: ?, year: ?]\n")
        and bt.dprint([x, v.values], file="str").count("float64") == 1
    )


def test_code_is_that_of_tensors():
    x, v = x_and_v()
    y = px.xtensor("y", dims=("year", "country"))
    labelled = ((x * v - y) ** 2).sum("country").mean() + px.math.exp(-v).sum()
    a, b, c = x.values, v.values, y.values
    plain = ((a * b - c.T) ** 2).sum(axis=[0]).mean() + pt.exp(-b).sum()
    texts = []
    for loss, wrt in ((labelled, [x, v]), (plain, [a, b])):
        f = bt.function(
            [a, b, c],
            [
                loss.values if loss is labelled else loss,
                *(getattr(g, "values", g) for g in bt.grad(loss, wrt)),
            ],
        )
        texts.append(f.dprint("program", file="str"))
    assert texts[0] == texts[1]


# ---- derivatives ------------------------------------------------------------------------------------------------------


def test_grad_has_the_dims_of_its_variable(mode):
    x, v = x_and_v()
    gx, gv = bt.grad(((x * v) ** 2).sum(), [x, v])
    assert gx.dims == x.dims and gv.dims == v.dims and bt.grad(x.sum(), x).dims == x.dims
    found = bt.function([x, v], [gx, gv], mode=mode)(A, V)
    np.testing.assert_allclose(arrays(found[0]), 2 * A * V**2)
    np.testing.assert_allclose(arrays(found[1]), (2 * A**2 * V).sum(0))
    mixed = bt.grad((x.values * v.values).sum(), [x, v.values])
    assert mixed[0].dims == x.dims and mixed[1].type == v.values.type


def test_jacobian_and_hessian(mode):
    x, v = x_and_v()
    jacobian = bt.jacobian(x * v, v)
    assert jacobian.dims == ("country", "year", "year_wrt")
    np.testing.assert_allclose(
        arrays(bt.function([x, v], jacobian, mode=mode)(A, V)), A[:, :, None] * np.eye(3)
    )
    assert bt.jacobian((x * v).sum("country"), [v, x])[1].dims == ("year", "country", "year_wrt")
    hessian = bt.hessian((v**3).sum(), v)
    assert hessian.dims == ("year", "year_wrt")
    np.testing.assert_allclose(arrays(bt.function([v], hessian, mode=mode)(V)), np.diag(6 * V))
    second = bt.hessian((x**3).sum(), x)
    assert second.dims == ("country", "year", "country_wrt", "year_wrt")
    np.testing.assert_allclose(arrays(second.eval({x: A})).reshape(6, 6), np.diag(6 * A.ravel()))


def test_products_with_jacobians_align_by_names():
    x, v = x_and_v()
    tangent = px.as_xtensor(A.T, dims=("year", "country"))
    forward = bt.pushforward(x * v, x, tangent)
    assert forward.dims == x.dims
    np.testing.assert_allclose(arrays(forward.eval({x: A, v: V})), A * V)
    back = bt.pullback(x * v, v, tangent)
    assert back.dims == ("year",)
    np.testing.assert_allclose(arrays(back.eval({x: A, v: V})), (A * A).sum(0))
    with pytest.raises(ValueError, match="pushforward: tangents"):
        bt.pushforward(x * v, x, v)


# ---- errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong, error, message",
    [
        (lambda x, v: px.xtensor("y", dims=("a", "a")), ValueError, '"a" is given twice'),
        (lambda x, v: px.xtensor("y", dims=("a", "b"), shape=(1,)), ValueError, "expected a length or None for each"),
        (lambda x, v: px.xtensor("y", dims=("a", 2)), TypeError, "expected the name of a dimension or a Dim, got 2"),
        (lambda x, v: px.as_xtensor(A), TypeError, "expected names for the 2 dimensions"),
        (lambda x, v: px.as_xtensor(A, dims=("a",)), ValueError, "expected a name for each dimension"),
        (lambda x, v: px.as_xtensor(x, dims=("year", "country")), ValueError, "transpose and rename"),
        (lambda x, v: px.as_xtensor(pt.dmatrix("m")), TypeError, "2 dimensions that have no names"),
        (lambda x, v: px.Dim("a", -1), ValueError, "length of at least 0"),
        (lambda x, v: px.Dim(""), ValueError, "empty string"),
        (lambda x, v: px.Dim("a", 2, coords=[1]), ValueError, "has length 2, but 1 coordinates"),
        (lambda x, v: px.Dim("a", coords=[[1, 2]]), ValueError, "a label for each position"),
        (lambda x, v: x.sum("coutry"), ValueError, 'sum: no dimension is called "coutry"; those of x are .* did you mean "country"'),
        (lambda x, v: x.sum(("year", "year")), ValueError, '"year" is given twice'),
        (lambda x, v: x.transpose("year"), ValueError, "transpose: expected all dimensions"),
        (lambda x, v: x.transpose("year", "yaer"), ValueError, 'did you mean "year"'),
        (lambda x, v: x.transpose("year", "country", missing_dims="no"), ValueError, "missing_dims"),
        (lambda x, v: x.rename(year="country"), ValueError, 'would be called "country"'),
        (lambda x, v: x.expand_dims("year"), ValueError, "already"),
        (lambda x, v: x.expand_dims("n", axis=7), ValueError, "different positions"),
        (lambda x, v: px.as_xtensor(A, dims=("a", "b")).squeeze("a"), ValueError, "has length 2, not 1"),
        (lambda x, v: x.stack(z="year"), TypeError, "the names of several dimensions"),
        (lambda x, v: x.stack(z=x.dims, create_index=True), NotImplementedError, "its length is not known"),
        (lambda x, v: px.Dim(3), TypeError, "expected a string as the name"),
        (lambda x, v: px.xtensor("y", dims=None), TypeError, "expected names of dimensions"),
        (lambda x, v: bt.hessian(x, x), TypeError, "the cost must be a scalar"),
        (lambda x, v: x.unstack(year={"a": None, "b": None}), ValueError, "one of them follows"),
        (lambda x, v: px.concat([], dim="a"), ValueError, "at least one"),
        (lambda x, v: x + pt.dmatrix("m"), TypeError, "no names"),
        (lambda x, v: pt.dmatrix("m") + x, TypeError, "no names"),
        (lambda x, v: x + A, TypeError, "no names"),
        (lambda x, v: A + x, TypeError, "no names"),
        (lambda x, v: pt.exp(x), TypeError, r"\.values have none"),
        (lambda x, v: bool(x), TypeError, "no value yet"),
        (lambda x, v: np.asarray(x), TypeError, "no value yet"),
        (lambda x, v: list(x), TypeError, "can't be iterated over"),
        (lambda x, v: x.where(x > 0, drop=True), NotImplementedError, "drop=True"),
        (lambda x, v: x + "a", TypeError, "unsupported operand"),
    ],
)  # fmt: skip
def test_bad_input(wrong, error, message):
    with pytest.raises(error, match=message):
        wrong(*x_and_v())


def test_misspelt_names_of_declared_dimensions():
    country = px.Dim("country", 5)
    x, y = px.xtensor("x", dims=country), px.xtensor("y", dims="coutry")
    for wrong in (lambda: x + y, lambda: y * x, lambda: px.dot(x, y)):
        with pytest.raises(
            ValueError,
            match='"coutry" meets "country", which is declared .* did you mean "country"',
        ):
            wrong()
    assert (x + px.xtensor("z", dims=px.Dim("county"))).dims == (
        "country",
        "county",
    )  # both are declared
    assert (px.xtensor("x", dims="country") + y).dims == (
        "country",
        "coutry",
    )  # nobody has declared a name
    with pytest.raises(bt.ShapeError, match='"country" has length 5 in one operand and 4'):
        x + px.xtensor("z", dims="country", shape=(4,))


def test_errors_of_calls_have_lines_names_and_lengths():
    x, v = x_and_v()
    f = bt.function([x, v], x * v)
    with pytest.raises(ValueError, match=r"test_basics.py:\d+") as caught:
        f(A, V[:2])
    if sys.version_info >= (3, 11):
        assert "x(country=2, year=3), v(year=2)" in caught.value.__notes__[0]


def test_errors_of_building_have_the_line():
    x = px.xtensor("x", dims="a")
    f = bt.function([x], (x / px.xtensor_constant(V, dims="a")).values)
    with pytest.raises(ValueError, match=r"test_basics.py:\d+"):
        f(np.ones(2))


def test_without_xarray():
    code = """
import sys
sys.modules["xarray"] = None
import numpy as np, bitale as bt
from bitale import xtensor as px
x = px.xtensor("x", dims="a")
out = bt.function([x], 2 * x)(np.ones(2))
assert type(out) is np.ndarray and out.tolist() == [2.0, 2.0]
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_labels_are_not_lost_silently():
    xarray = pytest.importorskip("xarray")
    data = xarray.DataArray(A, dims=("country", "year"))
    state = bt.shared({"data": data.assign_coords(year=[1, 2, 4])}, "state")["data"]
    assert isinstance(state, px.XTensorVariable) and state.name == "state.data"
    assert state.dims == ("country", "year") and list(state.coords["year"]) == [1, 2, 4]
    np.testing.assert_array_equal(np.asarray(state.get_value()), A)
    x = px.xtensor("x", dims=("country", "year"))
    for operation in (lambda: data + x, lambda: data < x, lambda: data**x):
        with pytest.raises(TypeError, match=r"hint .*DataArray.*as_xtensor\(array\) \+ x"):
            operation()
    with pytest.raises(TypeError, match="hint"):
        A + x
    assert (x + data).dims == (px.as_xtensor(data) + x).dims == ("country", "year")


def test_printing_of_functions_and_pictures():
    x, v = x_and_v()
    f = bt.function([x, v], [x * v])
    text = bt.dprint(f, file="str")
    assert (
        text.startswith("input x: float64[country: ?, year: ?]\ninput v: ")
        and "output " in text
        and "Mul" in text
    )
    assert "country, year" in bt.printing.dot_text(x * v)
    assert "Mul" in bt.printing.dot_text(f) and bt.printing.html(x * v).startswith(
        "<!DOCTYPE html>"
    )

"""Functions of labelled tensors with core dimensions: linear algebra, convolution, draws; and batches of expressions."""

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale import xtensor as px

RNG = np.random.default_rng(3)
FACTOR = RNG.normal(size=(4, 3, 3))
SPD = FACTOR @ FACTOR.transpose(0, 2, 1) + 3 * np.eye(3)


def matrices():
    """Positive definite matrices whose rows are not where a tensor has them."""
    return px.as_xtensor(SPD.transpose(1, 0, 2), dims=("row", "batch", "col"))


def value(x):
    return np.asarray(x.eval())


def test_factors_and_functions_of_matrices():
    a, dims = matrices(), ("row", "col")
    factor = px.linalg.cholesky(a, dims=dims)
    assert factor.dims == ("batch", "row", "col")
    np.testing.assert_allclose(value(factor), np.linalg.cholesky(SPD))
    np.testing.assert_allclose(
        value(px.linalg.cholesky(a, lower=False, dims=dims)),
        np.linalg.cholesky(SPD).transpose(0, 2, 1),
    )
    inverse = px.linalg.inv(a, dims=dims)
    assert inverse.dims == px.linalg.pinv(a, dims=dims).dims == ("batch", "col", "row")
    np.testing.assert_allclose(value(inverse), np.linalg.inv(SPD))
    np.testing.assert_allclose(
        value(px.dot(a, inverse.rename(row="other"), dim="col").transpose("batch", "row", "other")),
        np.broadcast_to(np.eye(3), (4, 3, 3)),
        atol=1e-12,
    )
    np.testing.assert_allclose(value(px.linalg.matrix_power(a, 2, dims=dims)), SPD @ SPD)
    np.testing.assert_allclose(value(px.linalg.det(a, dims=dims)), np.linalg.det(SPD))
    sign, logarithm = px.linalg.slogdet(a, dims=dims)
    np.testing.assert_allclose(value(sign * px.math.exp(logarithm)), np.linalg.det(SPD))
    np.testing.assert_allclose(
        value(px.linalg.expm(a * 0, dims=dims)), np.broadcast_to(np.eye(3), (4, 3, 3))
    )


def test_decompositions_meet_in_a_mode():
    a, dims = matrices(), ("row", "col")
    w, v = px.linalg.eigh(a, dims=dims)
    assert w.dims == ("batch", "mode") and v.dims == ("batch", "row", "mode")
    np.testing.assert_allclose(
        value(px.dot(v * w, v.rename(row="other"), dim="mode").transpose("batch", "row", "other")),
        SPD,
    )
    np.testing.assert_allclose(value(px.linalg.eigvalsh(a, dims=dims)), np.linalg.eigvalsh(SPD))
    u, s, vt = px.linalg.svd(a, dims=dims, mode="k")
    assert (u.dims, s.dims, vt.dims) == (
        ("batch", "row", "k"),
        ("batch", "k"),
        ("batch", "k", "col"),
    )
    np.testing.assert_allclose(value(px.dot(u * s, vt, dim="k")), SPD)
    np.testing.assert_allclose(
        value(px.linalg.svdvals(a, dims=dims)), np.linalg.svd(SPD, compute_uv=False)
    )
    q, r = px.linalg.qr(a, dims=dims)
    assert (q.dims, r.dims) == (("batch", "row", "mode"), ("batch", "mode", "col"))
    np.testing.assert_allclose(value(px.dot(q, r, dim="mode")), SPD)


def test_systems_of_equations():
    a, b = matrices(), px.as_xtensor(RNG.normal(size=3), dims="col")
    x = px.linalg.solve(a, b, dims=("row", "col"))
    assert x.dims == ("batch", "row")
    np.testing.assert_allclose(
        value(x), np.linalg.solve(SPD, np.broadcast_to(value(b), (4, 3))[..., None])[..., 0]
    )
    c = px.as_xtensor(RNG.normal(size=(2, 3)), dims=("rhs", "col"))
    y = px.linalg.solve(a, c, dims=("row", "col", "rhs"), assume_a="pos")
    assert y.dims == ("batch", "row", "rhs")
    np.testing.assert_allclose(
        value(y), np.linalg.solve(SPD, np.broadcast_to(value(c).T, (4, 3, 2)))
    )
    lower = px.linalg.solve_triangular(
        px.linalg.cholesky(a, dims=("row", "col")), b, dims=("row", "col"), lower=True
    )
    np.testing.assert_allclose(
        value(lower),
        np.linalg.solve(np.linalg.cholesky(SPD), np.broadcast_to(value(b), (4, 3))[..., None])[
            ..., 0
        ],
    )
    assert bt.grad(x.sum(), a).dims == a.dims


def test_core_dimensions_keep_coordinates():
    a = matrices().assign_coords(row=list("abc"), batch=[1, 2, 3, 4])
    assert list(px.linalg.cholesky(a, dims=("row", "col")).coords["row"]) == list("abc")
    assert list(px.linalg.det(a, dims=("row", "col")).coords) == ["batch"]


@pytest.mark.parametrize("mode", ["full", "valid", "same"])
def test_convolution(mode):
    x, k = RNG.normal(size=(6, 2)), RNG.normal(size=3)
    a, b = px.as_xtensor(x, dims=("time", "unit")), px.as_xtensor(k, dims="lag")
    y = px.signal.convolve1d(a, b, mode, dims=("time", "lag"))
    assert y.dims == ("unit", "time")
    np.testing.assert_allclose(
        value(y), np.stack([np.convolve(x[:, i], k, mode) for i in range(2)])
    )


def test_draws_are_those_of_tensors():
    mu, sigma = px.as_xtensor([0.0, 1.0], dims="a"), px.as_xtensor([1.0, 2.0, 3.0], dims="b")
    draw = px.random.normal(mu, sigma, extra_dims={"draw": 5}, rng=px.random.shared_rng(seed=1))
    assert draw.dims == ("draw", "a", "b") and draw.static_shape == (5, 2, 3)
    plain = pt.random.normal(
        np.array([[0.0], [1.0]]),
        np.array([1.0, 2.0, 3.0]),
        size=(5, 2, 3),
        rng=pt.random.shared_rng(seed=1),
    )
    np.testing.assert_array_equal(value(draw), plain.eval())
    assert px.random.gamma(sigma, mu + 1).dims == ("b", "a") and px.random.standard_normal(
        extra_dims=[px.Dim("z", 3)]
    ).static_shape == (3,)
    rng = px.random.rng("rng")
    following, one = px.random.uniform(mu, mu + 1, rng=rng, return_next_rng=True)
    assert one.dims == ("a",) and following.type == rng.type


def test_parameters_of_draws_by_name():
    mu, sigma = px.as_xtensor([0.0, 1.0], dims="a"), px.as_xtensor([1.0, 2.0, 3.0], dims="b")

    def drawn(*given, **named):
        return value(px.random.normal(*given, **named, rng=px.random.shared_rng(seed=1)))

    np.testing.assert_array_equal(drawn(mu, sigma), drawn(mu, scale=sigma))
    np.testing.assert_array_equal(drawn(0.0, sigma), drawn(scale=sigma))
    assert px.random.normal(mu, dtype="float32").dtype == "float32"
    steps = px.scan(lambda x: px.random.normal(x, 1.0), sigma, dim="b", return_updates=False)
    assert steps.dims == ("b",) and len(set(value(steps).tolist())) == 3  # each step draws anew
    with pytest.raises(TypeError, match="expected extra_dims="):
        px.random.normal(mu, sigma, size=3)


def test_draws_of_vectors():
    p = px.as_xtensor(np.full((2, 4), 0.25), dims=("unit", "kind"))
    assert px.random.categorical(p, core_dims="kind").dims == ("unit",)
    assert px.random.dirichlet(p * 4, core_dims="kind", extra_dims={"draw": 3}).dims == (
        "draw",
        "unit",
        "kind",
    )
    counts = px.random.multinomial(px.as_xtensor([5, 7], dims="unit"), p, core_dims="kind")
    assert counts.dims == ("unit", "kind")
    assert value(counts.sum("kind")).tolist() == [5, 7]
    mean, covariance = (
        px.as_xtensor(np.zeros((3, 2)), dims=("x", "batch")),
        px.as_xtensor(np.eye(3), dims=("x", "y")),
    )
    normal = px.random.multivariate_normal(
        mean.assign_coords(x=list("uvw")), covariance, core_dims=("x", "y"), extra_dims={"draw": 2}
    )
    assert list(normal.coords["x"]) == list("uvw")
    assert normal.dims == ("draw", "batch", "x") and value(normal).shape == (2, 2, 3)


@pytest.mark.parametrize("name", px.random._DISTRIBUTIONS)
def test_every_distribution(name):
    parameters = {
        "bernoulli": [0.5], "betabinom": [5, 1.0, 2.0], "binomial": [5, 0.5], "chisquare": [2.0], "exponential": [1.0], "gengamma": [1.0, 2.0, 1.0],
        "geometric": [0.5], "halfcauchy": [0.0, 1.0], "hypergeometric": [5, 5, 3], "integers": [0, 5], "nbinom": [5, 0.5], "negative_binomial": [5, 0.5],
        "poisson": [2.0], "rayleigh": [1.0], "standard_normal": [], "t": [3.0, 0.0, 1.0], "triangular": [0.0, 1.0, 2.0],
        "truncated_normal": [0.0, 1.0, -1.0, 1.0], "truncexpon": [1.0, 0.0, 1.0], "weibull": [1.0], "pareto": [2.0, 1.0], "invgamma": [2.0, 1.0],
        "vonmises": [0.0, 1.0], "maxwell": [1.0], "wald": [1.0, 1.0], "uniform": [0.0, 1.0],
    }.get(name, [1.0, 2.0])  # fmt: skip
    if name in ("categorical", "dirichlet", "multinomial", "multivariate_normal"):
        return  # test_draws_of_vectors
    dims = [px.as_xtensor([each, each], dims="ab"[i % 2]) for i, each in enumerate(parameters)]
    draw = getattr(px.random, name)(*dims, extra_dims={"draw": 2})
    assert draw.dims == ("draw", *dict.fromkeys(each.dims[0] for each in dims))
    assert value(draw).shape == (2,) * draw.ndim


def test_vectorize_graph():
    x, v = px.xtensor("x", dims=("a", "b")), px.xtensor("v", dims="b")
    draws, more = (
        px.xtensor("draws", dims=("b", "draw")),
        px.xtensor("more", dims=("chain", "a", "b")),
    )
    out = px.vectorize_graph([(x * v).sum("b"), v.max()], {v: draws, x: more})
    assert out[0].dims == ("draw", "chain", "a") and out[1].dims[0] == "draw"
    X, V = RNG.normal(size=(5, 2, 3)), RNG.normal(size=(3, 4))
    np.testing.assert_allclose(
        np.asarray(out[0].eval({draws: V, more: X})), np.einsum("cab,bd->dca", X, V)
    )
    with pytest.raises(ValueError, match='has no dimension "b"'):
        px.vectorize_graph(v.sum(), {v: px.xtensor("w", dims="draw")})


def test_variances_of_fewer_elements_than_ddof():
    """They are nan, as xarray's."""
    xr = pytest.importorskip("xarray")
    labelled = xr.DataArray(
        [1.0, 2.0, 4.0, 8.0, 16.0], dims="t", coords={"g": ("t", [0, 0, 1, 2, 2])}
    )
    x = px.as_xtensor(labelled.values, dims=("t",))
    for ddof in (1, 2, 3):
        np.testing.assert_allclose(
            value(x.groupby([0, 0, 1, 2, 2], dim="t").var(ddof=ddof)),
            labelled.groupby("g").var(ddof=ddof).values,
        )
        np.testing.assert_allclose(
            value(x.rolling(t=3, min_periods=1).var(ddof=ddof)),
            labelled.rolling(t=3, min_periods=1).var(ddof=ddof).values,
        )


def test_groups():
    x = px.as_xtensor(np.arange(8.0).reshape(4, 2), dims=("person", "item"))
    labels = ["b", "a", "b", "b"]
    groups = x.groupby(labels, dim="person", name="group")
    for name in ("sum", "mean", "var", "std", "max", "min", "prod", "all", "any", "first", "last"):
        assert getattr(x.T.groupby(labels, dim="person", name="group"), name)().dims == (
            "item",
            "group",
        )
    assert groups.sum().dims == ("group", "item") and list(groups.sum().coords["group"]) == [
        "a",
        "b",
    ]
    np.testing.assert_allclose(value(groups.mean()), [[2, 3], [10 / 3, 13 / 3]])
    np.testing.assert_allclose(
        value(groups.std(ddof=0)), [[0, 0], np.std([[0, 1], [4, 5], [6, 7]], axis=0)]
    )
    assert (
        value(groups.count()).tolist() == [1, 3]
        and value(groups.any()).dtype == bool
        and value(groups.all()).tolist() == [[True, True], [False, True]]
    )
    np.testing.assert_allclose(value(groups.spread(groups.mean()))[1], [2, 3])
    slope = bt.grad((groups.sum() ** 2).sum(), x)
    np.testing.assert_allclose(value(slope), 2 * np.array([[10, 13], [2, 3], [10, 13], [10, 13]]))
    yearly = x.assign_coords(person=[2000, 2001, 2000, 2001]).groupby("person").sum()
    assert list(yearly.coords["person"]) == [2000, 2001] and yearly.dims == x.dims
    missing = x.groupby([1.0, np.nan, 1.0, 2.0], dim="person").sum()
    np.testing.assert_allclose(value(missing), [[4, 6], [6, 7]])


@pytest.mark.parametrize("reduction", ["max", "min", "prod", "all", "any"])
@pytest.mark.parametrize("lengths", [[3, 3, 3], [1, 300, 2, 1], [1] * 40 + [700], [200]])
def test_groups_of_any_lengths(reduction, lengths):
    labels = np.repeat(np.arange(len(lengths)), lengths)
    order = RNG.permutation(len(labels))
    x = RNG.choice([-1.0, 0.5, 1.0, 2.0, 0.0], size=(len(labels), 2), p=[0.2, 0.3, 0.3, 0.19, 0.01])
    for values in (x, (4 * x).astype("int8"), x > 0) if reduction != "prod" else (x,):
        found = getattr(
            px.as_xtensor(values[order], dims=("p", "q")).groupby(labels[order], dim="p", name="g"),
            reduction,
        )()
        expected = np.stack(
            [getattr(np, reduction)(values[labels == g], axis=0) for g in range(len(lengths))]
        )
        assert found.dims == ("g", "q") and found.dtype == expected.dtype
        np.testing.assert_allclose(value(found), expected)


@pytest.mark.parametrize("reduction", ["max", "min", "prod"])
def test_derivatives_of_groups_of_other_lengths(reduction):
    """A group that is shorter than another has no element twice, whether it is alone, the last one, or one of equals."""
    labels = np.array([0, 1, 1, 1, 2, 2] + [3] * 60)
    x, plain, at = (
        px.xtensor("x", dims="p"),
        pt.dvector("x"),
        np.array([5.0, 1, 2, 3, 7, 7, *np.linspace(1, 1.1, 30), *np.linspace(1, 1.1, 30)]),
    )
    groups = getattr(x.groupby(labels, dim="p"), reduction)()
    parts = [getattr(plain[np.flatnonzero(labels == g)], reduction)() for g in range(4)]
    np.testing.assert_allclose(
        bt.grad((groups**2).sum(), x).eval({x: at}),
        bt.grad(sum(part**2 for part in parts), plain).eval({plain: at}),
    )


@pytest.mark.parametrize(
    "wrong, error, message",
    [
        (lambda a: px.linalg.cholesky(a, dims="row"), ValueError, "expected 2 core dimensions"),
        (lambda a: px.linalg.cholesky(a, dims=("row", "row")), ValueError, "different core dimensions"),
        (lambda a: px.linalg.det(a, dims=("row", "cool")), ValueError, 'did you mean "col"'),
        (lambda a: px.linalg.solve(a, px.xtensor("b", dims="other"), dims=("row", "col")), ValueError, "of which the right-hand side has one"),
        (lambda a: px.signal.convolve1d(a, a, dims="row"), ValueError, "a dimension of in1 and one of in2"),
        (lambda a: px.random.normal(a, 1.0, core_dims="row"), ValueError, "expected 0 core dimensions"),
        (lambda a: px.random.categorical(a), ValueError, "expected 1 core dimensions"),
        (lambda a: px.random.normal(a, 1.0, extra_dims=["draw"]), ValueError, 'expected a length of the extra dimension "draw"'),
        (lambda a: px.random.normal(a, 1.0, extra_dims={"row": 2}), ValueError, '"row" is given twice'),
        (lambda a: a.rolling(row=2.5), TypeError, "rolling: expected an integer number of positions"),
        (lambda a: a.rolling(), TypeError, "expected one dimension"),
        (lambda a: a.shift(row=1.5), TypeError, "shift: expected an integer number of positions"),
        (lambda a: a.groupby("row"), ValueError, '"row" has no coordinates'),
        (lambda a: a.groupby("rwo"), ValueError, 'did you mean "row"'),
        (lambda a: a.groupby([1, 2, 3]), TypeError, "expected dim="),
        (lambda a: a.groupby([1, 2], dim="row"), ValueError, "labels for 2 positions"),
        (lambda a: a.groupby([1, 2, 3], dim="row", name="col"), ValueError, '"col" already'),
        (lambda a: a.groupby(px.xtensor("l", dims="row")), NotImplementedError, "can't be computed"),
        (lambda a: a.rolling(row=0).sum(), ValueError, "at least one position"),
        (lambda a: a.rolling(row=2, col=2), NotImplementedError, "expected one dimension"),
        (lambda a: a.rolling(row=2, min_periods=3).sum(), ValueError, "min_periods from 0 to 2"),
        (lambda a: a.diff("rwo"), ValueError, 'did you mean "row"'),
        (lambda a: a.diff("row", n=-1), ValueError, "at least 0"),
        (lambda a: a.diff("row", label="middle"), ValueError, "expected label"),
        (lambda a: a.shift(row=1, fill_value=[1.0]), TypeError, "no names"),
        (lambda a: a.interp(row=1.0), ValueError, "no coordinates to interpolate"),
        (lambda a: a.assign_coords(row=[3, 2, 2]).interp(row=1.0), NotImplementedError, "different numbers"),
        (lambda a: a.assign_coords(row=[1, 2, 3]).interp(row=1.0, method="cubic"), NotImplementedError, "cubic"),
    ],
)  # fmt: skip
def test_bad_input(wrong, error, message):
    with pytest.raises(error, match=message):
        wrong(matrices())

"""Reductions against NumPy and SciPy."""

import warnings

import numpy as np
import pytest
import scipy.special

import bitale as bt
import bitale.tensor as pt

X = np.random.default_rng(0).uniform(-2, 2, (3, 4, 2))
AXES = [None, 0, 1, -1, (0, 2), [1], (0, 1, 2), ()]


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean"])
@pytest.mark.parametrize("keepdims", [False, True])
def test_reductions(name, axis, keepdims, mode):
    x = pt.tensor3("x")
    out = getattr(pt, name)(x, axis=axis, keepdims=keepdims)
    method = getattr(x, name)(axis=axis, keepdims=keepdims)
    expected = getattr(np, name)(
        X, axis=tuple(axis) if isinstance(axis, list) else axis, keepdims=keepdims
    )
    for result in bt.function([x], [out, method], mode=mode)(X):
        np.testing.assert_allclose(result, expected)
        assert result.shape == np.shape(expected)


@pytest.mark.parametrize("axis", [None, 0, (0, 2)])
@pytest.mark.parametrize("ddof", [0, 1])
def test_spread(axis, ddof, mode):
    x = pt.tensor3("x")
    f = bt.function([x], [x.var(axis=axis, ddof=ddof), pt.std(x, axis=axis, ddof=ddof)], mode=mode)
    var, std = f(X)
    np.testing.assert_allclose(var, X.var(axis=axis, ddof=ddof))
    np.testing.assert_allclose(std, X.std(axis=axis, ddof=ddof))


@pytest.mark.parametrize("axis", [None, 0, 2, -2])
def test_positions(axis, mode):
    x = pt.tensor3("x")
    largest, smallest = bt.function([x], [x.argmax(axis=axis), pt.argmin(x, axis)], mode=mode)(X)
    np.testing.assert_array_equal(largest, X.argmax(axis))
    np.testing.assert_array_equal(smallest, X.argmin(axis))
    assert largest.dtype == np.int64


@pytest.mark.parametrize("axis", [None, 1, (0, 1)])
def test_softmax(axis, mode):
    x = pt.tensor3("x")
    f = bt.function(
        [x],
        [
            pt.logsumexp(x, axis),
            pt.special.softmax(x, axis=axis),
            pt.special.log_softmax(x, axis=axis),
        ],
        mode=mode,
    )
    total, soft, log_soft = f(X)
    np.testing.assert_allclose(total, scipy.special.logsumexp(X, axis=axis))
    np.testing.assert_allclose(soft, scipy.special.softmax(X, axis=axis))
    np.testing.assert_allclose(log_soft, scipy.special.log_softmax(X, axis=axis))


def test_all_and_any(mode):
    x = pt.lmatrix("x")
    given = np.array([[1, 0], [2, 3]])
    every, some = bt.function([x], [x.all(axis=1), pt.any(x, axis=0)], mode=mode)(given)
    np.testing.assert_array_equal(every, [False, True])
    np.testing.assert_array_equal(some, [True, True])


@pytest.mark.parametrize(
    "dtype, expected",
    [
        ("bool", "int64"),
        ("int8", "int64"),
        ("uint8", "uint64"),
        ("int32", "int64"),
        ("float32", "float32"),
        ("float64", "float64"),
    ],
)
def test_dtypes_of_sums(dtype, expected):
    x = pt.tensor("x", dtype=dtype, shape=(None,))
    assert x.sum().dtype == expected
    assert x.sum(dtype="float64").dtype == "float64"


def test_empty(mode):
    x = pt.dvector("x")
    assert bt.function([x], x.sum(), mode=mode)([]) == 0
    with pytest.raises(ValueError):
        bt.function([x], x.max(), mode=mode)([])


@pytest.mark.parametrize("name", ["max", "min"])
def test_repeated_no_times(name, mode):
    x, n = pt.dscalar("x"), pt.lscalar("n")
    f = bt.function([x, n], getattr(pt, name)(pt.alloc(x, n)), mode=mode)
    assert f(3.0, 2) == 3
    with pytest.raises(ValueError, match="an axis of length 0"):
        f(3.0, 0)


@pytest.mark.parametrize("axis", ["a", 1.5, 3, (0, 0), -4])
def test_bad_axis(axis):
    with pytest.raises((TypeError, ValueError, IndexError), match="axis|axes"):
        pt.tensor3("x").sum(axis=axis)


@pytest.mark.parametrize("name", ["sum", "prod", "mean"])
def test_accumulation_dtype(name, mode):
    function = getattr(pt, name)
    for dtype, enough, too_narrow in [
        ("int16", ["int16", "int32", "int64", "float32", "float64"], ["int8", "uint16", "bool"]),
        ("float32", ["float32", "float64"], ["int64"]),
        ("float64", ["float64"], ["float32", "int64"]),
    ]:
        given = np.arange(1, 7).reshape(2, 3).astype(dtype)
        x = pt.matrix("x", dtype=dtype)
        expected = bt.function([x], function(x, axis=0), mode=mode)(given)
        for acc in enough:
            result = bt.function([x], function(x, axis=0, acc_dtype=acc), mode=mode)(given)
            assert result.dtype == expected.dtype
            np.testing.assert_array_equal(result, expected)
        for acc in too_narrow:
            with pytest.raises(TypeError, match="acc_dtype"):
                function(x, acc_dtype=acc)


def test_dtypes_of_results(mode):
    x, n = pt.dmatrix("x"), pt.matrix("n", dtype="int16")
    reals, integers = (
        np.array([[0.6, 0.6, 1.9], [2.7, -1.5, 0.2]]),
        np.array([[1, 2, 3], [4, 5, 250]], "int16"),
    )
    for expression, dtype, expected in [
        (
            x.sum(dtype="int64"),
            "int64",
            4,
        ),  # as in PyTensor, the sum is converted, not the elements
        (pt.sum(x, axis=0, dtype="int8"), "int8", [3, 0, 2]),
        (pt.prod(x, dtype="int64"), "int64", 0),
        (x.sum(dtype="bool"), "bool", True),
        (n.mean(dtype="int64"), "float64", 265 / 6),
        (n.mean(dtype="float32"), "float32", np.float32(265 / 6)),
        (x.mean(axis=1, dtype="float32"), "float32", np.float32([3.1 / 3, 1.4 / 3])),
        (pt.cumsum(n, dtype="float64"), "float64", [1.0, 3.0, 6.0, 10.0, 15.0, 265.0]),
        (n.cumsum(axis=1, dtype="int8"), "int8", [[1, 3, 6], [4, 9, 3]]),
        (pt.cumprod(x, dtype=int), "int64", [0, 0, 0, 0, 0, 0]),
        (
            pt.softmax(n, axis=1),
            "float32",
            scipy.special.softmax(integers.astype("float32"), axis=1),
        ),
        (
            pt.log_softmax(n, axis=1),
            "float32",
            scipy.special.log_softmax(integers.astype("float32"), axis=1),
        ),
        (
            pt.logsumexp(n, axis=0),
            "float32",
            scipy.special.logsumexp(integers.astype("float32"), axis=0),
        ),
    ]:
        result = bt.function([x, n], expression, mode=mode, on_unused_input="ignore")(
            reals, integers
        )
        assert result.dtype == dtype
        np.testing.assert_allclose(result, expected, rtol=1e-6)


def test_corrections_of_the_variance(mode):
    x = pt.dmatrix("x")
    f = bt.function(
        [x],
        [x.var(correction=1), pt.std(x, axis=0, correction=1), x.var(axis=1, corrected=True)],
        mode=mode,
    )
    given = np.array([[1e8 + 1, 1e8 + 2, 1e8 + 4], [3.0, 4.0, 8.0]])
    var, std, corrected = f(given)
    np.testing.assert_allclose(var, given.var(ddof=1))
    np.testing.assert_allclose(std, given.std(axis=0, ddof=1))
    np.testing.assert_allclose(corrected, [14 / 9, 14 / 3], rtol=1e-15)
    with pytest.raises(ValueError, match="both"):
        x.var(ddof=1, correction=1)


@pytest.mark.parametrize("axes", [(0, 1), (0, 2), (2, 0), (1, -1), (0, 1, 2), [1], ()])
@pytest.mark.parametrize("keepdims", [False, True])
def test_positions_over_several_axes(axes, keepdims, mode):
    x = pt.tensor3("x")
    if not axes:
        with pytest.raises(ValueError, match="at least one axis"):
            pt.argmax(x, axis=axes)
        return
    sorted_axes = sorted(axis % 3 for axis in axes)
    kept = [axis for axis in range(3) if axis not in sorted_axes]
    flat = X.transpose(kept + sorted_axes).reshape([X.shape[axis] for axis in kept] + [-1])
    for name in ("argmax", "argmin"):
        result = bt.function([x], getattr(x, name)(axis=axes, keepdims=keepdims), mode=mode)(X)
        expected = getattr(flat, name)(-1)
        np.testing.assert_array_equal(
            result, np.expand_dims(expected, sorted_axes) if keepdims else expected
        )


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_running(name, axis, mode):
    x = pt.tensor3("x")
    out, method = bt.function(
        [x], [getattr(pt, name)(x, axis=axis), getattr(x, name)(axis)], mode=mode
    )(X)
    np.testing.assert_array_equal(out, getattr(np, name)(X, axis))
    np.testing.assert_array_equal(method, out)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float32"])
def test_running_dtypes(dtype, mode):
    x = pt.vector("x", dtype=dtype)
    given = np.arange(40).astype(dtype)
    for name in ["cumsum", "cumprod"]:
        out = bt.function([x], getattr(pt, name)(x), mode=mode)(given)
        expected = getattr(np, name)(given)
        assert out.dtype == expected.dtype
        np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("n, axis", [(0, 0), (1, -1), (2, 1), (5, 0)])
def test_diff(n, axis, mode):
    x = pt.tensor3("x")
    np.testing.assert_array_equal(
        bt.function([x], pt.diff(x, n=n, axis=axis), mode=mode)(X), np.diff(X, n, axis)
    )


def test_diff_of_bools(mode):
    x = pt.vector("x", dtype="bool")
    given = np.array([True, True, False, True])
    np.testing.assert_array_equal(bt.function([x], pt.diff(x), mode=mode)(given), np.diff(given))
    with pytest.raises(ValueError, match="order"):
        pt.diff(x, -1)


def test_statistics_of_huge_integers(mode):
    for dtype, value in (("int64", 2**63 - 1), ("uint64", 2**64 - 1)):
        x, given = pt.tensor("x", dtype=dtype, shape=(None,)), np.array([0, value, value], dtype)
        f = bt.function([x], [x.mean(), x.var(), x.std()], mode=mode)
        np.testing.assert_allclose(
            f(given),
            [given.mean(), given.astype(float).var(), given.astype(float).std()],
            rtol=1e-14,
        )


def test_there_is_no_median_of_nothing():
    x = pt.dvector("x")
    for out in (pt.median(x), pt.quantile(x, 0.5), pt.percentile(x, 50)):
        assert bt.function([x], out)([3.0]) == 3
        with pytest.raises(IndexError, match="out of bounds"):
            bt.function([x], out)([])


@pytest.mark.parametrize(
    "count, ddof", [(2, 3), (2, 2), (1, 2), (1, 1.5), (2, 2.5), (0, 1), (0, 0), (3, 2)]
)
def test_variances_of_fewer_elements_than_ddof(count, ddof, mode):
    """They are inf or nan, as NumPy's; a division by a negative number would give a negative variance."""
    x = pt.dvector("x")
    value = np.arange(1.0, count + 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = np.var(value, ddof=ddof), np.std(value, ddof=ddof)
    f = bt.function([x], [pt.var(x, ddof=ddof), pt.std(x, ddof=ddof)], mode=mode)
    np.testing.assert_array_equal(f(value), expected)
    np.testing.assert_array_equal(
        [pt.var(value, ddof=ddof).eval(), pt.std(value, ddof=ddof).eval()], expected
    )


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("options", [{}, {"aweights": [1.0, 2.0, 0.5]}, {"fweights": [1, 2, 1]}])
def test_covariances_of_fewer_elements_than_ddof(options, dtype):
    value = np.array([[1.0, 2.0, 4.0], [3.0, 1.0, 1.0]]).astype(dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = np.cov(value, ddof=5, **options)
    np.testing.assert_array_equal(
        np.isinf(pt.cov(value, ddof=5, **options).eval()), np.isinf(expected)
    )
    if dtype == "float64":
        np.testing.assert_array_equal(pt.cov(value, ddof=5, **options).eval(), expected)


@pytest.mark.parametrize(
    "mode",
    [bt.Mode("jit"), bt.Mode("jit", "None"), bt.Mode("vm"), bt.Mode("c")],
    ids=["jit", "as written", "vm", "c"],
)
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_sums_of_exponentials_of_nothing(mode, shape):
    x = pt.matrix("x")
    given = np.zeros(shape)
    outputs, expected = [], []
    with np.errstate(divide="ignore"):
        for axis in (0, 1, None):
            outputs += [
                pt.logsumexp(x, axis=axis),
                pt.log(pt.sum(pt.exp(x), axis=axis)),
                pt.logsumexp(x, axis=axis, keepdims=True),
            ]
            expected += [np.log(np.exp(given).sum(axis=axis))] * 2 + [
                np.log(np.exp(given).sum(axis=axis, keepdims=True))
            ]
            outputs += [
                pt.softmax(x, axis=axis),
                pt.log_softmax(x, axis=axis),
                pt.exp(x) / pt.sum(pt.exp(x), axis=axis, keepdims=True),
            ]
            expected += [given] * 3
    outputs.append(bt.grad(pt.logsumexp(x), x))
    expected.append(given)
    for got, one in zip(bt.function([x], outputs, mode=mode)(given), expected):
        np.testing.assert_array_equal(got, one)
        assert got.shape == one.shape
    with pytest.raises(ValueError, match="length 0"):
        bt.function([x], pt.max(x), mode=mode)(given)


def sums_over_nothing():
    s, x, y, w = pt.dscalar("s"), pt.dvector("x"), pt.dvector("y"), pt.dvector("w")
    m, n = pt.dmatrix("m"), pt.dmatrix("n")
    values = {x: np.zeros(0), y: np.zeros(0), w: [np.inf, 1, np.nan], m: np.zeros((3, 0))}
    values[n] = np.array([[np.inf, 1], [np.nan, 2], [1, 1]])
    for scale in [np.inf, -np.inf, np.nan, 0.0]:
        for text, terms in {
            "s x": s * x,
            "s exp(x)": s * pt.exp(x),
            "x s s": x * s * s,
            "s x exp(x)": s * x * pt.exp(x),
            "log(s) x": pt.log(s) * x,
            "-(s x)": -(s * x),
            "x / s": x / s,
            "x / (s y)": x / (s * y),
            "s x - s y": s * x - s * y,
            "s s": pt.second(x, s * s),
        }.items():
            yield f"sum of {text}, s={scale}", terms.sum(), {**values, s: scale}, 0.0
            yield f"prod of {text}, s={scale}", terms.prod(), {**values, s: scale}, 1.0
            if text != "s s":
                yield f"mean of {text}, s={scale}", terms.mean(), {**values, s: scale}, np.nan
        yield f"dot(s x, y), s={scale}", pt.dot(s * x, y), {**values, s: scale}, 0.0
        yield f"dot(x / s, y), s={scale}", pt.dot(x / s, y), {**values, s: scale}, 0.0
    for text, terms in {
        "m w": m * w[:, None],
        "m / w": m / w[:, None],
        "exp(m) w": pt.exp(m) * w[:, None],
        "m m w": m * m * w[:, None],
    }.items():
        yield f"rows of {text}", terms.sum(axis=1), values, np.zeros(3)
        yield f"products of {text}", terms.prod(axis=1), values, np.ones(3)
    yield "rows of a product", pt.dot(m.T, n).sum(axis=0), {**values, m: np.zeros((3, 0))}, [0, 0]
    yield "a product", pt.dot(n, m.T[:0].T[:2]).sum(), {**values, m: np.zeros((3, 0))}, 0.0
    squares = (m[None] * n.T[:, :, None]) ** 2
    yield "squares", squares.sum(axis=(1, 2)), values, [0, 0]


@pytest.mark.parametrize("optimizer", ["None", "fast_compile", "fast_run"])
def test_factors_that_are_not_finite_do_not_count_in_sums_over_nothing(optimizer):
    for text, out, values, expected in sums_over_nothing():
        inputs = list(values)
        f = bt.function(inputs, out, mode=bt.Mode("jit", optimizer), on_unused_input="ignore")
        np.testing.assert_array_equal(f(*values.values()), expected, err_msg=text)


@pytest.mark.parametrize(
    "subscripts",
    "ij,i->i i,ij->i ij,i-> ij,i,i->i ij,in->i ij,in->in ij,k->k ij,k->ik ij,k,k->i ij,ij,i->i ij,kj,i->ik i,ij,j->i "
    "ij,kj,ki->k jm,ij,i->m ij->i ij,kj->ik".split(),
)
def test_einsum_over_nothing_is_zero(mode, subscripts):
    """numpy.einsum multiplies first and adds then."""
    values = {
        "ij": np.zeros((3, 0)), "kj": np.zeros((2, 0)), "jm": np.zeros((0, 2)), "j": np.zeros(0),
        "i": np.array([np.inf, 1, np.nan]), "k": np.array([np.nan, -np.inf]),
        "in": np.array([[np.inf, 1], [np.nan, 2], [1, 1]]), "ki": np.full((2, 3), np.inf),
    }  # fmt: skip
    names = subscripts.split("->")[0].split(",")
    inputs = {name: pt.tensor(name, dtype="float64", shape=(None,) * len(name)) for name in names}
    out = pt.einsum(subscripts, *[inputs[name] for name in names])
    f = bt.function(list(inputs.values()), out, mode=mode)
    expected = np.einsum(subscripts, *[values[name] for name in names])
    np.testing.assert_array_equal(f(*[values[name] for name in inputs]), expected)

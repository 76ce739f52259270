"""Shape functions, creation and joining against NumPy."""

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt

X = np.arange(24.0).reshape(2, 3, 4)

CASES = {
    "transpose": (lambda x: x.transpose(), lambda x: x.transpose()),
    "T": (lambda x: x.T, lambda x: x.T),
    "mT": (lambda x: x.mT, lambda x: x.swapaxes(-1, -2)),
    "transpose axes": (lambda x: x.transpose(2, 0, 1), lambda x: x.transpose(2, 0, 1)),
    "transpose tuple": (lambda x: x.transpose((2, 0, 1)), lambda x: x.transpose(2, 0, 1)),
    "pt.transpose": (lambda x: pt.transpose(x, (1, 0, 2)), lambda x: x.transpose(1, 0, 2)),
    "dimshuffle": (lambda x: x.dimshuffle(2, "x", 0, 1), lambda x: x.transpose(2, 0, 1)[:, None]),
    "dimshuffle list": (
        lambda x: x.dimshuffle([1, 0, 2, "x"]),
        lambda x: x.transpose(1, 0, 2)[..., None],
    ),
    "swapaxes": (lambda x: x.swapaxes(0, -1), lambda x: x.swapaxes(0, -1)),
    "moveaxis": (lambda x: pt.moveaxis(x, 0, -1), lambda x: np.moveaxis(x, 0, -1)),
    "moveaxis many": (
        lambda x: pt.moveaxis(x, [0, 1], [-1, 0]),
        lambda x: np.moveaxis(x, [0, 1], [-1, 0]),
    ),
    "reshape": (lambda x: x.reshape((4, 6)), lambda x: x.reshape(4, 6)),
    "reshape spread": (lambda x: x.reshape(4, -1), lambda x: x.reshape(4, 6)),
    "reshape symbolic": (
        lambda x: pt.reshape(x, (x.shape[0], x.shape[1] * x.shape[2])),
        lambda x: x.reshape(2, 12),
    ),
    "reshape vector": (lambda x: x.reshape(x.shape[::-1], ndim=3), lambda x: x.reshape(4, 3, 2)),
    "flatten": (lambda x: x.flatten(), lambda x: x.ravel()),
    "flatten 2": (lambda x: pt.flatten(x, 2), lambda x: x.reshape(2, 12)),
    "ravel": (lambda x: x.ravel(), lambda x: x.ravel()),
    "expand_dims": (lambda x: pt.expand_dims(x, (0, -1)), lambda x: np.expand_dims(x, (0, -1))),
    "squeeze": (lambda x: pt.expand_dims(x, 1).squeeze(), lambda x: x),
    "padleft": (lambda x: pt.shape_padleft(x, 2), lambda x: x[None, None]),
    "padright": (lambda x: pt.shape_padright(x), lambda x: x[..., None]),
    "atleast": (lambda x: pt.atleast_Nd(x, 4), lambda x: x[None]),
    "zeros_like": (lambda x: pt.zeros_like(x), np.zeros_like),
    "ones_like": (lambda x: x.ones_like(dtype="int8"), lambda x: np.ones_like(x, dtype="int8")),
    "full_like": (lambda x: pt.full_like(x, 3), lambda x: np.full_like(x, 3)),
    "fill": (lambda x: x.fill(2.0), lambda x: np.full_like(x, 2.0)),
    "zeros": (lambda x: pt.zeros((x.shape[0], 3)), lambda x: np.zeros((2, 3))),
    "ones": (lambda x: pt.ones(x.shape), lambda x: np.ones((2, 3, 4))),
    "full": (lambda x: pt.full((2, x.shape[1]), 7), lambda x: np.full((2, 3), 7)),
    "alloc": (lambda x: pt.alloc(x[0], 5, 3, 4), lambda x: np.broadcast_to(x[0], (5, 3, 4))),
    "broadcast_to": (
        lambda x: pt.broadcast_to(x[0, 0][None], (3, 4)),
        lambda x: np.broadcast_to(x[0, :1], (3, 4)),
    ),
    "arange": (lambda x: pt.arange(x.shape[2]), lambda x: np.arange(4)),
    "arange range": (lambda x: pt.arange(1, 10, 3), lambda x: np.arange(1, 10, 3)),
    "arange float": (lambda x: pt.arange(0.0, 1.0, 0.25), lambda x: np.arange(0.0, 1.0, 0.25)),
    "join": (lambda x: pt.join(1, x, x), lambda x: np.concatenate([x, x], 1)),
    "concatenate": (lambda x: pt.concatenate([x, x[:1]]), lambda x: np.concatenate([x, x[:1]])),
    "stack": (lambda x: pt.stack([x, x * 2], axis=1), lambda x: np.stack([x, x * 2], 1)),
    "stack scalars": (
        lambda x: pt.stack([x[0, 0, 0], 5.0, x.sum()]),
        lambda x: np.array([x[0, 0, 0], 5.0, x.sum()]),
    ),
    "list": (lambda x: pt.as_tensor([x[0, 0, 1], 2.0]), lambda x: np.array([x[0, 0, 1], 2.0])),
    "shape": (lambda x: pt.shape(x), lambda x: np.array(x.shape)),
    "size": (lambda x: x.size, lambda x: np.array(x.size)),
    "ptp": (lambda x: x.ptp(axis=0), lambda x: np.ptp(x, axis=0)),
    "astype": (lambda x: x.astype("int32"), lambda x: x.astype("int32")),
    "cast floatX": (lambda x: pt.cast(x, "floatX"), lambda x: x),
}


@pytest.mark.parametrize("name", CASES)
def test_against_numpy(name, mode):
    expression, expected = CASES[name]
    x = pt.tensor3("x")
    out = expression(x)
    result = bt.function([x], out, mode=mode, on_unused_input="ignore")(X)
    np.testing.assert_array_equal(result, expected(X))
    assert result.shape == expected(X).shape
    assert result.dtype == out.dtype and out.ndim == result.ndim


@pytest.mark.parametrize("a, b", [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4))])
def test_dot(a, b, mode):
    rng = np.random.default_rng(0)
    u, v = rng.normal(size=a), rng.normal(size=b)
    x, y = pt.tensor("x", shape=(None,) * len(a)), pt.tensor("y", shape=(None,) * len(b))
    for result in bt.function([x, y], [pt.dot(x, y), x.dot(y), x @ y], mode=mode)(u, v):
        np.testing.assert_allclose(result, u @ v)


def test_stacks_of_matrices(mode):
    rng = np.random.default_rng(0)
    u, v = rng.normal(size=(5, 2, 3)), rng.normal(size=(3, 4))
    x, y = pt.tensor3("x"), pt.dmatrix("y")
    np.testing.assert_allclose(bt.function([x, y], x @ y, mode=mode)(u, v), u @ v)


def test_outer(mode):
    x, y = pt.dvectors("x", "y")
    np.testing.assert_array_equal(
        bt.function([x, y], pt.outer(x, y), mode=mode)([1.0, 2.0], [3.0, 4.0]),
        np.outer([1, 2], [3, 4]),
    )


def test_specify_shape(mode):
    x = pt.dmatrix("x")
    out = pt.specify_shape(x, (None, 3))
    assert out.type.shape == (None, 3)
    f = bt.function([x], out * 1, mode=mode)
    assert f(np.ones((2, 3))).shape == (2, 3)
    with pytest.raises((ValueError, AssertionError), match="3"):
        f(np.ones((2, 4)))


def test_specify_shape_of_repeated_value(mode):
    x, n = pt.dscalar("x"), pt.lscalar("n")
    f = bt.function([x, n], pt.specify_shape(pt.exp(pt.alloc(x, n, 4)), (5, 4)), mode=mode)
    np.testing.assert_array_equal(f(0.0, 5), np.ones((5, 4)))
    with pytest.raises((ValueError, AssertionError), match="5"):
        f(0.0, 3)


def test_static_shapes():
    assert (pt.tensor("x", shape=(3, 1)) + pt.tensor("y", shape=(1, 4))).type.shape == (3, 4)
    assert pt.col("c").T.type.shape == (1, None)
    assert pt.zeros((2, 3)).type.shape == (2, 3)


def test_only_static_lengths_of_one_broadcast(mode):
    x, y = pt.dmatrix("x"), pt.dmatrix("y")
    f = bt.function([x, y], x + y, mode=mode)
    with pytest.raises(ValueError, match="broadcast"):
        f(np.ones((3, 1)), np.ones((3, 4)))


def test_dimshuffle_accepts_negative_axes():
    x = pt.matrix("x", shape=(2, 3))
    assert x.dimshuffle(-1, "x", -2).type.shape == (3, 1, 2)
    for bad, error in (
        ((0, "y"), TypeError),
        ((0, 1.0), TypeError),
        ((0, -3), ValueError),
        ((0, 2), ValueError),
        ((1, -1), ValueError),
    ):
        with pytest.raises(error, match="dimshuffle"):
            x.dimshuffle(*bad)


@pytest.mark.parametrize(
    "bad",
    [
        lambda x: x.reshape((5, 5)).eval({x: X}),
        lambda x: x.dimshuffle(0, 1).eval({x: X}),
        lambda x: x.dimshuffle(0, 1, 2, 3),
        lambda x: x.dimshuffle(0, 0, 1, 2),
        lambda x: x.transpose(0, 1),
        lambda x: x.reshape((2, -1, -1)),
        lambda x: pt.expand_dims(x, 7),
        lambda x: pt.concatenate([x, x[0]]),
        lambda x: pt.zeros((-1,)).eval(),
        lambda x: pt.zeros("a"),
        lambda x: pt.dot(x, x).eval({x: X}),
    ],
)
def test_bad_shapes(bad):
    with pytest.raises((ValueError, TypeError, NotImplementedError, IndexError)):
        bad(pt.tensor3("x"))


def test_reshapes_of_empty_arrays(mode):
    x, m = pt.tensor4("x"), pt.dmatrix("m")
    f = bt.function(
        [x, m], [pt.flatten(x, 3), pt.flatten(x, 2), pt.reshape(m, (m.shape[0], 4))], mode=mode
    )
    assert [each.shape for each in f(np.zeros((0, 2, 1, 1)), np.zeros((0, 7)))] == [
        (0, 2, 1),
        (0, 2),
        (0, 4),
    ]
    assert [each.shape for each in f(np.zeros((3, 2, 1, 4)), np.zeros((3, 4)))] == [
        (3, 2, 4),
        (3, 8),
        (3, 4),
    ]


def test_arrays_as_shapes_and_axes():
    x = pt.constant(np.arange(6.0).reshape(2, 3))
    np.testing.assert_array_equal(x.reshape(np.array([3, 2])).eval(), np.arange(6.0).reshape(3, 2))
    np.testing.assert_array_equal(x.transpose(np.array([1, 0])).eval(), x.data.T)
    np.testing.assert_array_equal(x.reshape(np.int64(6)).eval(), np.arange(6.0))


def test_outer_flattens():
    a, b = np.arange(4.0).reshape(2, 2), np.arange(3.0)
    np.testing.assert_array_equal(pt.outer(a, b).eval(), np.outer(a, b))
    np.testing.assert_array_equal(pt.outer(b, 2.0).eval(), np.outer(b, 2.0))


def test_trailing_dimensions():
    x = pt.constant(np.arange(3.0))
    assert pt.atleast_Nd(x, n=3).type.shape == (1, 1, 3) and pt.atleast_Nd(
        x, n=3, left=False
    ).type.shape == (3, 1, 1)


EXTREMES = {
    "bool": [0, 1],
    "int8": [-128, -1, 0, 3, 127],
    "uint16": [0, 2, 65535],
    "int64": [-(2**63), 1 - 2**63, -(2**62), -7, -1, 0, 1, 5, 2**62, 2**63 - 2, 2**63 - 1],
    "uint64": [0, 1, 5, 2**62, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 2, 2**64 - 1],
}


def range_of(start, stop, step):
    """The numbers of a range, its length, and what the error says, of which only one is not None; no numbers if many."""
    if step == 0:
        return None, None, "the step can't be zero"
    numbers = range(start, stop, step)
    if (
        (stop - start) * (1 if step > 0 else -1) >= 2**64
        or numbers
        and (abs(stop - start) - 1) // abs(step) + 1 >= 2**63
    ):
        return None, None, "give a larger step, or bounds that are closer together"
    return (list(numbers) if len(numbers) < 200 else None), len(numbers), None


@pytest.mark.parametrize(
    "dtypes",
    [
        ("int64", "int64", "int64"),
        ("uint64", "uint64", "uint64"),
        ("uint64", "uint64", "int64"),
        ("int64", "uint64", "int64"),
        ("uint64", "int64", "int64"),
        ("int64", "int64", "uint64"),
        ("int8", "uint16", "int64"),
        ("bool", "int8", "int8"),
    ],
)
def test_arange_counts_exactly_to_the_limits_of_integers(mode, dtypes):
    """Against Python's range, since NumPy wraps around; called, constant, and only the length."""
    bounds = [pt.scalar(name, dtype=dtype) for name, dtype in zip("abc", dtypes)]
    dtype = "uint64" if "uint64" in dtypes else "int64"
    numbers = pt.arange(*bounds, dtype=dtype)
    f = bt.function(bounds, numbers, mode=mode)
    length = bt.function(bounds, numbers.shape[0], mode=mode)
    rng = np.random.default_rng(len("".join(dtypes)))
    for _ in range(60):
        given = [int(rng.choice(np.array(EXTREMES[each], "O"))) for each in dtypes]
        arrays = [np.array(value, each) for value, each in zip(given, dtypes)]
        expected, count, error = range_of(*given)
        computations = [lambda: f(*arrays), lambda: pt.arange(*arrays, dtype=dtype).eval()]
        if error:
            for compute in [*computations, lambda: length(*arrays)]:
                with pytest.raises(ValueError, match=error):
                    compute()
            continue
        assert length(*arrays) == count
        if expected is not None:
            wrapped = np.array([value % 2**64 for value in expected], "uint64").astype(dtype)
            for compute in computations:
                np.testing.assert_array_equal(compute(), wrapped)


def test_arange_that_is_too_long_says_so(mode):
    a, b, c = pt.dscalars("a", "b", "c")
    length = bt.function([a, b, c], pt.arange(a, b, c).shape[0], mode=mode)
    assert length(0, 1, 0.1) == 10 and length(0, -np.inf, 1) == 0
    for given in [(0, np.inf, 1), (0, np.nan, 1), (0, 1e300, 1)]:
        with pytest.raises(ValueError, match="no finite length"):
            length(*given)
    with pytest.raises(ValueError, match="step can't be zero"):
        length(0, 1, 0)
    n = pt.lscalar("n")
    with pytest.raises(MemoryError, match="no memory: 8 PiB for an array of shape"):
        bt.function([n], pt.arange(n), mode=mode)(2**50)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    "mode", [bt.Mode("jit"), bt.Mode("jit", "None"), bt.Mode("vm")], ids=["jit", "as written", "vm"]
)
def test_arange_of_floats_has_the_bits_of_numpy(mode, dtype):
    start, stop, step = (pt.scalar(name, dtype=dtype) for name in ("start", "stop", "step"))
    f = bt.function([start, stop, step], pt.arange(start, stop, step), mode=mode)
    for first, last, by in [
        (-5, 1, 0.2),
        (0, 1, 0.1),
        (0.3, 7.1, 0.7),
        (1e3, 1e3 + 1, 0.013),
        (2, -3, -0.31),
    ]:
        given = [np.asarray(each, dtype) for each in (first, last, by)]
        np.testing.assert_array_equal(f(*given), np.arange(*given, dtype=dtype))

"""float16: stored in 16 bits, computed in float32."""

import numpy as np
import pytest
from scipy import special

import bitale as bt
import bitale.tensor as pt
from bitale.tensor.basic import all_dtypes

LINKERS = ["jit", "c", "opwise"]


@pytest.fixture(params=LINKERS)
def mode(request):
    return bt.Mode(linker=request.param)


def all_values() -> np.ndarray:
    return np.arange(2**16, dtype="uint16").view("float16")


def same(got, expected):
    assert got.dtype == expected.dtype and got.shape == expected.shape
    np.testing.assert_array_equal(np.isnan(got), np.isnan(expected))
    np.testing.assert_array_equal(
        np.where(np.isnan(got), 0, got), np.where(np.isnan(expected), 0, expected)
    )
    np.testing.assert_array_equal(
        np.signbit(got[~np.isnan(got)]), np.signbit(expected[~np.isnan(expected)])
    )


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "uint8", "float32", "float64"])
def test_casts_of_every_value(mode, dtype):
    x = pt.vector("x", dtype="float16")
    with np.errstate(invalid="ignore"):
        values = all_values()
        if dtype in ("int8", "uint8", "int64"):
            values = values[
                np.isfinite(values) & (np.abs(values) < 100) & ((values >= 0) | (dtype != "uint8"))
            ]
        same(bt.function([x], x.astype(dtype), mode=mode)(values), values.astype(dtype))


def test_rounding_to_nearest_even_happens_once(mode):
    halves = all_values()
    halves = np.sort(halves[np.isfinite(halves)]).astype("float64")
    between = (halves[1:] + halves[:-1]) / 2
    edges = np.array(
        [
            65519.99,
            65520.0,
            -65520.0,
            1e300,
            -1e300,
            2.0**-25,
            2.0**-26,
            5e-324,
            np.inf,
            -np.inf,
            np.nan,
        ]
    )
    values = np.concatenate(
        [between, np.nextafter(between, -np.inf), np.nextafter(between, np.inf), edges]
    )
    x = pt.vector("x", dtype="float64")
    f = bt.function([x], x.astype("float16"), mode=mode)
    with np.errstate(over="ignore"):
        same(f(values), values.astype("float16"))
        narrow = values.astype("float32")
        y = pt.vector("y", dtype="float32")
        same(bt.function([y], y.astype("float16"), mode=mode)(narrow), narrow.astype("float16"))
    n = pt.vector("n", dtype="int64")
    integers = np.concatenate([np.arange(-70000, 70000), [2**62 + 1, -(2**63), 2**31 + 1]])
    with np.errstate(over="ignore"):
        same(bt.function([n], n.astype("float16"), mode=mode)(integers), integers.astype("float16"))


def test_promotion_agrees_with_numpy():
    for other in all_dtypes:
        out = pt.vector(dtype="float16") + pt.vector(dtype=other)
        assert out.dtype == np.result_type("float16", other)
    x = pt.vector("x", dtype="float16")
    assert (
        (x * 2).dtype
        == (x * np.True_).dtype
        == pt.exp(x).dtype
        == x.sum().dtype
        == x.mean().dtype
        == "float16"
    )
    assert (x * 0.5).dtype == "float32"
    with bt.config.change_flags(floatX="float16"):
        assert (
            (x * 0.1).dtype == "float16"
            and pt.vector().dtype == "float16"
            and pt.zeros(3).dtype == "float16"
        )


@pytest.mark.parametrize(
    "function",
    [
        np.add,
        np.subtract,
        np.multiply,
        np.true_divide,
        np.maximum,
        np.minimum,
        np.less,
        np.equal,
        np.greater_equal,
    ],
    ids=lambda f: f.__name__,
)
def test_arithmetic_is_rounded_as_numpy_rounds_it(mode, function):
    rng = np.random.default_rng(3)
    a, b = (rng.integers(0, 2**16, 20000).astype("uint16").view("float16") for _ in range(2))
    x, y = pt.vector("x", dtype="float16"), pt.vector("y", dtype="float16")
    f = bt.function([x, y], getattr(pt, function.__name__)(x, y), mode=mode)
    with np.errstate(all="ignore"):
        same(f(a, b), function(a, b))


@pytest.mark.parametrize(
    "name", ["exp", "log", "sqrt", "tanh", "sin", "abs", "floor", "sign", "sqr", "reciprocal"]
)
def test_functions_are_computed_in_float32(mode, name):
    x = pt.vector("x", dtype="float16")
    y = pt.vector("y", dtype="float32")
    function = getattr(pt, name)
    values = all_values()
    with np.errstate(all="ignore"):
        narrow = bt.function([x], function(x), mode=mode)(values)
        wide = bt.function([y], function(y), mode=mode)(values.astype("float32"))
        same(narrow, wide.astype("float16"))


def test_every_step_is_rounded(mode):
    x = pt.vector("x", dtype="float16")
    one = np.array([1], "float16")
    assert bt.function([x], (x * np.float16(2048) + 1) - np.float16(2048), mode=mode)(one) == 0
    assert np.isinf(bt.function([x], x * np.float16(60000) * 2 * np.float16(0.25), mode=mode)(one))


def test_reductions_do_not_accumulate_in_float16(mode):
    x = pt.matrix("x", dtype="float16")
    values = np.ones((3000, 2), "float16")
    for axis in (None, 0, 1, (0, 1)):
        for name in ("sum", "mean", "max", "min", "prod"):
            out = bt.function([x], getattr(x, name)(axis=axis), mode=mode)(values)
            same(
                np.asarray(out),
                np.asarray(getattr(values.astype("float64"), name)(axis=axis)).astype("float16"),
            )
    rng = np.random.default_rng(1)
    values = rng.normal(size=(40, 30)).astype("float16")
    for axis in (None, 0, 1):
        same(
            np.asarray(bt.function([x], x.argmax(axis=axis), mode=mode)(values)),
            np.asarray(values.argmax(axis=axis)),
        )
    sums = np.cumsum(values.astype("float32"), axis=0).astype("float16")
    np.testing.assert_allclose(
        bt.function([x], pt.cumsum(x, axis=0), mode=mode)(values), sums, rtol=2e-3
    )


def test_statistics_have_the_range_of_float32(mode):
    x = pt.matrix("x", dtype="float16")
    values = np.full((100, 700), 100, "float16")
    values[::2] = 300
    wide = values.astype("float64")
    for axis in (None, 0, 1, (0, 1)):
        for name in ("mean", "var", "std"):
            out = bt.function([x], getattr(x, name)(axis=axis), mode=mode)(values)
            same(np.asarray(out), np.asarray(getattr(wide, name)(axis=axis)).astype("float16"))
        zeros = np.zeros_like(values)
        same(
            np.asarray(bt.function([x], pt.logsumexp(x, axis=axis), mode=mode)(zeros)),
            np.asarray(special.logsumexp(zeros.astype("float64"), axis=axis)).astype("float16"),
        )
        for function, expected in (
            (pt.softmax, special.softmax),
            (pt.log_softmax, special.log_softmax),
        ):
            same(
                bt.function([x], function(x, axis=axis), mode=mode)(zeros),
                expected(zeros.astype("float64"), axis=axis).astype("float16"),
            )
    same(np.asarray(bt.function([x], pt.median(x), mode=mode)(values * 200)), np.float16(40000))


def test_products(mode):
    rng = np.random.default_rng(2)
    a, b = (
        rng.normal(size=(20, 300)).astype("float16"),
        rng.normal(size=(300, 10)).astype("float16"),
    )
    x, y = pt.matrix("x", dtype="float16"), pt.matrix("y", dtype="float16")
    exact = a.astype("float64") @ b.astype("float64")
    out = bt.function([x, y], x @ y, mode=mode)(a, b)
    assert out.dtype == "float16"
    np.testing.assert_allclose(out, exact, atol=np.abs(exact).max() * 1e-3)
    out = bt.function([x, y], x[0] @ y, mode=mode)(a, b)
    np.testing.assert_allclose(out, exact[0], atol=np.abs(exact).max() * 1e-3)


def test_indexing(mode):
    x = pt.vector("x", dtype="float16")
    values = np.array([1, 2, 3, 4, 5], "float16")
    at = pt.constant([0, 0, 4])
    outputs = [
        x[1::2],
        x[at],
        pt.set_subtensor(x[at], 7),
        pt.inc_subtensor(x[at], 1),
        pt.sort(-x),
        pt.concatenate([x, x]),
    ]
    got = bt.function([x], outputs, mode=mode)(values)
    expected = [
        [2, 4],
        [1, 1, 5],
        [7, 2, 3, 4, 7],
        [3, 2, 3, 4, 6],
        [-5, -4, -3, -2, -1],
        [1, 2, 3, 4, 5] * 2,
    ]
    for one, reference in zip(got, expected):
        assert one.dtype == "float16"
        np.testing.assert_array_equal(one, reference)


def test_gradients(mode):
    rng = np.random.default_rng(4)
    a, b = rng.normal(size=(6, 5)), rng.normal(size=5)

    def derivatives(dtype):
        w, v = pt.matrix("w", dtype=dtype), pt.vector("v", dtype=dtype)
        cost = (
            (pt.tanh(w @ v) ** 2).sum() + pt.log(1 + v**2).mean() + v[pt.constant([0, 0, 2])].sum()
        )
        f = bt.function([w, v], pt.grad(cost, [w, v]), mode=mode)
        return f(a.astype(dtype), b.astype(dtype))

    for narrow, wide in zip(derivatives("float16"), derivatives("float64")):
        assert narrow.dtype == "float16"
        np.testing.assert_allclose(narrow, wide, atol=2e-2)


def test_shared_variables_and_loops(mode):
    state = bt.shared(np.zeros(3, "float16"))
    f = bt.function([], state.sum(), updates=[(state, state + 1)], mode=mode)
    assert f() == 0 and f() == 3
    assert state.get_value().dtype == "float16"
    x0 = pt.scalar("x0", dtype="float16")
    trace = bt.scan(
        lambda x: (x * 3).astype("float16"), outputs_info=[x0], n_steps=5, return_updates=False
    )
    out = bt.function([x0], trace, mode=mode)(np.float16(1))
    assert out.dtype == "float16"
    np.testing.assert_array_equal(out, [3, 9, 27, 81, 243])


def test_inputs_keep_their_layout():
    x = pt.matrix("x", dtype="float16")
    values = np.arange(12, dtype="float16").reshape(3, 4)
    f = bt.function([x], x + 1)
    for given in (values.T, values[::-1, ::2], np.asfortranarray(values), values.astype(">f2")):
        np.testing.assert_array_equal(f(given), given + 1)
    with pytest.raises(TypeError, match="float16"):
        f(values.astype("float32"))


def test_exported_code(tmp_path):
    import ctypes
    import shutil
    import subprocess

    if not shutil.which("cc"):
        pytest.skip("there is no C compiler")
    x = pt.vector("x", dtype="float16")
    f = bt.function([x], [pt.exp(x), x.sum()], name="half")
    f.export_c(tmp_path / "half")
    library = tmp_path / "half.so"
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-O1", "-o", library, tmp_path / "half" / "half.c", "-lm"],
        check=True,
    )
    values = np.linspace(-2, 2, 9).astype("float16")
    outputs = [np.empty(9, "float16"), np.empty((), "float16")]
    pointer = lambda a: ctypes.c_void_p(a.ctypes.data)  # noqa: E731
    half = ctypes.CDLL(str(library)).half
    workspace = np.empty(1 << 16, "uint8")
    assert (
        half(
            pointer(values),
            ctypes.c_int64(9),
            pointer(outputs[0]),
            pointer(outputs[1]),
            pointer(workspace),
        )
        == 0
    )
    for got, expected in zip(outputs, f(values)):
        np.testing.assert_array_equal(got, expected)


def test_constants_are_folded_if_float16_represents_the_sum(mode):
    x = pt.vector("x", dtype="float16")
    values = np.array([-2047, -1], "float16")
    f = bt.function([x], (x + np.float16(2048)) + np.float16(1), mode=mode)
    same(f(values), (values + np.float16(2048)) + np.float16(1))


def test_functions_of_several_steps_keep_the_dtype(mode):
    x, y = pt.vector("x", dtype="float16"), pt.vector("y", dtype="float16")
    a, b = np.array([0.5, -3, np.inf], "float16"), np.array([0.25, 7, np.inf], "float16")
    out = bt.function([x, y], pt.logaddexp(x, y), mode=mode)(a, b)
    assert out.dtype == "float16"
    np.testing.assert_allclose(out, np.logaddexp(a, b), rtol=2e-3)
    finite = bt.function([x], pt.nan_to_num(x), mode=mode)(
        np.array([np.nan, np.inf, -np.inf], "float16")
    )
    same(finite, np.array([0, 65504, -65504], "float16"))

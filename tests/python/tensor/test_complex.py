"""Complex tensors: inputs, results and constants, arithmetic and elementary functions in all linkers, against NumPy."""

import ctypes
import os
import subprocess
import sys

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from complex_cases import check_gradient, close, cost_of, dtypes, modes, values


@pytest.fixture(params=modes)
def mode(request):
    return modes[request.param]


unary = {
    "real": np.real,
    "imag": np.imag,
    "conj": np.conj,
    "abs": np.abs,
    "angle": np.angle,
    "neg": np.negative,
    "sqr": np.square,
    "reciprocal": np.reciprocal,
    "isnan": np.isnan,
    "isinf": np.isinf,
    "sign": np.sign,
}
binary = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "true_div": np.divide,
    "eq": np.equal,
    "neq": np.not_equal,
}


@pytest.mark.parametrize("dtype", dtypes)
def test_unary_functions_agree_with_numpy(mode, dtype):
    z = pt.tensor("z", dtype=dtype, shape=(None, None))
    f = bt.function([z], [getattr(pt, name)(z) for name in unary], mode=mode)
    given = values((7, 5), dtype)
    for got, name in zip(f(given), unary):
        close(got, unary[name](given))


@pytest.mark.parametrize("dtype", dtypes)
def test_binary_functions_agree_with_numpy(mode, dtype):
    z, w = (
        pt.tensor("z", dtype=dtype, shape=(None, None)),
        pt.tensor("w", dtype=dtype, shape=(None,)),
    )
    f = bt.function([z, w], [getattr(pt, name)(z, w) for name in binary], mode=mode)
    first, second = values((7, 5), dtype), values(5, dtype, 1)
    first[3] = second
    for got, name in zip(f(first, second), binary):
        close(got, binary[name](first, second))


def test_dtype_promotion_agrees_with_numpy():
    names = [
        "bool",
        "int8",
        "int32",
        "int64",
        "uint8",
        "uint64",
        "float16",
        "float32",
        "float64",
        *dtypes,
    ]
    for a in dtypes:
        for b in names:
            x, y = pt.tensor(dtype=a, shape=(None,)), pt.tensor(dtype=b, shape=(None,))
            for left, right in ((x, y), (y, x)):
                assert (left + right).dtype == np.result_type(a, b), (a, b)
                assert (left * right).dtype == np.result_type(a, b)
    z = pt.cvector("z")
    assert (z + 1).dtype == (z * 2.5).dtype == "complex64" and (z * 1j).dtype == "complex128"
    assert pt.abs(z).dtype == z.real.dtype == z.imag.dtype == pt.angle(z).dtype == "float32"


@pytest.mark.parametrize("other", ["bool", "int8", "int64", "float16", "float32", "float64"])
def test_real_operands_have_no_imaginary_part(mode, other):
    z, x = pt.zvector("z"), pt.tensor("x", dtype=other, shape=(None,))
    f = bt.function([z, x], [z + x, x - z, z * x, z / x, x / z, pt.eq(z, x)], mode=mode)
    given, real = values(4), np.array([1, 2, 3, 1]).astype(other)
    for got, expected in zip(
        f(given, real),
        [given + real, real - given, given * real, given / real, real / given, given == real],
    ):
        close(got, expected)


@pytest.mark.parametrize("dtype", dtypes)
def test_memory_layouts(mode, dtype):
    z = pt.tensor("z", dtype=dtype, shape=(None, None))
    f = bt.function([z], [z * 2, z, z.real], mode=mode)
    base = values((6, 8), dtype)
    views = [
        base,
        base.T,
        base[::2, ::-1],
        base[1:, 3:],
        base[:0],
        base[:, :0],
        np.asfortranarray(base),
    ]
    views += [np.broadcast_to(base[0], (3, 8)), base[:1]]
    for given in views:
        doubled, same, real = f(given)
        close(doubled, given * 2)
        close(same, given)
        close(real, given.real)
    for _ in range(3):  # after some calls the function is compiled for these strides
        close(f(base.T)[0], base.T * 2)


def test_scalars_and_constants(mode):
    z = pt.zscalar("z")
    table = values((2, 3))
    f = bt.function(
        [z],
        [z * (1 + 2j), pt.constant(table) + z, pt.constant(table).imag, pt.constant(3j) * 2],
        mode=mode,
    )
    got = f(2 - 1j)
    for each, expected in zip(
        got, [(2 - 1j) * (1 + 2j), table + (2 - 1j), table.imag, np.complex128(6j)]
    ):
        close(each, expected)
    close(f(3)[0], np.complex128(3 + 6j))  # real numbers are accepted as complex
    assert (
        pt.constant(2j).dtype == "complex128" and pt.constant(np.complex64(2j)).dtype == "complex64"
    )


@pytest.mark.parametrize("dtype", dtypes)
def test_several_numpy_scalars_are_arguments(dtype):
    inputs = [pt.tensor(dtype=dtype, shape=()) for _ in range(3)]
    f = bt.function(inputs, [each + 0 for each in inputs])
    given = list(values(3, dtype))
    for got, each in zip(f(*given), given):
        close(got, each)


def test_complex_numbers_from_real_and_imaginary_parts(mode):
    x, y = pt.dmatrix("x"), pt.dvector("y")
    f = bt.function(
        [x, y],
        [pt.complex(x, y), pt.complex(y, x), pt.complex(x, 0), pt.complex_from_polar(x, y)],
        mode=mode,
    )
    re, im = np.random.default_rng(0).normal(size=(3, 4)), np.arange(4.0)
    for got, expected in zip(
        f(re, im), [re + 1j * im, im + 1j * re, re + 0j, re * np.exp(1j * im)]
    ):
        close(got, expected)
    for a, b, dtype in [
        ("float32", "float32", "complex64"),
        ("float32", "float64", "complex128"),
        ("int64", "int8", "complex128"),
        ("int8", "bool", "complex64"),
        ("float16", "float16", "complex64"),
    ]:
        assert pt.complex(pt.tensor(dtype=a, shape=()), pt.tensor(dtype=b, shape=())).dtype == dtype


def test_casts(mode):
    x, z = pt.fvector("x"), pt.cvector("z")
    f = bt.function(
        [x, z], [pt.cast(x, "complex64"), x.astype("complex128"), z.astype("complex128")], mode=mode
    )
    real, given = np.array([1.5, -2], "float32"), values(2, "complex64")
    for got, expected in zip(
        f(real, given), [real.astype("complex64"), real + 0j, given.astype("complex128")]
    ):
        close(got, expected.astype(got.dtype))


def test_extreme_quotients_do_not_overflow(mode):
    z, w = pt.zvector("z"), pt.zvector("w")
    f = bt.function([z, w], [z / w, pt.abs(z), 1 / w], mode=mode)
    a = np.array([1e300 + 1e300j, 1e-300 + 2e-300j, 1 + 0j, 0j])
    b = np.array([2e300 + 1e300j, 1e-300 - 1e-300j, 1e-10 + 1e200j, 1j])
    for got, expected in zip(f(a, b), [a / b, np.abs(a), 1 / b]):
        np.testing.assert_allclose(got, expected, rtol=1e-14)


def test_shared_variables_and_updates(mode):
    state = bt.shared(values((2, 3)), name="state")
    step = pt.zmatrix("step")
    f = bt.function([step], state.imag, updates={state: state * 1j + step}, mode=mode)
    expected, given = state.get_value(), values((2, 3), seed=5)
    for _ in range(3):
        close(f(given), expected.imag)
        expected = expected * 1j + given
    close(state.get_value(), expected)
    assert bt.shared(2j).dtype == "complex128"


def test_real_and_imaginary_parts_fuse():
    z = pt.zvector("z")
    f = bt.function([z], pt.exp((z * z.conj()).real) + 1)
    assert f.dprint("program", file="str").count("for ") == 1
    given = values(100)
    close(f(given), np.exp(np.abs(given) ** 2) + 1, 10)


def test_debug_mode_and_other_linkers_agree():
    z, w = pt.cmatrix("z"), pt.zvector("w")
    outputs = [z * w + 1j, pt.abs(z / w), pt.eq(z, w)]
    given = values((3, 2), "complex64"), values(2, seed=1)
    expected = bt.function([z, w], outputs)(*given)
    for mode in (bt.compile.DebugMode(), bt.Mode("dual"), bt.Mode("opwise")):
        for got, one in zip(bt.function([z, w], outputs, mode=mode)(*given), expected):
            close(got, one)


# ---- elementary functions --------------------------------------------------------------------------------------------

elementary = [
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sqrt",
    "sin",
    "cos",
    "tan",
    "sinh",
    "cosh",
    "tanh",
]
elementary += ["arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh"]


@pytest.mark.parametrize("dtype", dtypes)
def test_elementary_functions_agree_with_numpy(mode, dtype):
    z = pt.tensor("z", dtype=dtype, shape=(None,))
    f = bt.function([z], [getattr(pt, name)(z) for name in elementary], mode=mode)
    given = values(200, dtype) * 2
    for got, name in zip(f(given), elementary):
        close(got, getattr(np, name)(given), 10)


def test_elementary_functions_on_axes_and_near_them(mode):
    z = pt.zvector("z")
    names = ["log", "sqrt", "exp", "sinh", "cosh", "sin", "cos", "tanh", "log1p", "expm1"]
    f = bt.function([z], [getattr(pt, name)(z) for name in names], mode=mode)
    parts = [0.0, -0.0, 1.0, -1.0, 1e-9, -1e-9, 1 + 1e-9, -2.5, 3.0, 1e-200, 30.0, -30.0]
    given = np.array([complex(a, b) for a in parts for b in parts])
    with np.errstate(all="ignore"):
        for got, name in zip(f(given), names):
            expected = getattr(np, name)(given)
            near = (
                given != -1
                if name == "log1p"
                else (given != 0 if name == "log" else np.ones(given.shape, bool))
            )
            np.testing.assert_allclose(
                got[near],
                expected[near],
                rtol=2e-14,
                atol=1e-16 if name == "log1p" else 0,
                err_msg=name,
            )
        for name in ("sqrt", "log"):  # the side of the branch cut that -0.0 denotes
            got = f(np.array([complex(-4, 0.0), complex(-4, -0.0)]))[names.index(name)]
            assert np.array_equal(np.signbit(got.imag), [False, True])


def test_powers(mode):
    z, w, x = pt.zvector("z"), pt.zvector("w"), pt.dvector("x")
    outputs = [z**2, z**3, z**-2, z**0.5, z**w, z**x, x**z, 2**z, z ** (1 + 1j), pt.square(z)]
    f = bt.function([z, w, x], outputs, mode=mode)
    a, b, c = values(50), values(50, seed=1), np.random.default_rng(2).uniform(0.5, 3, 50)
    expected = [a**2, a**3, a**-2, a**0.5, a**b, a**c, c**a, 2**a, a ** (1 + 1j), a**2]
    for got, each in zip(f(a, b, c), expected):
        close(got, each, 10)
    power = bt.function([z, w], z**w, mode=mode)
    close(power(np.array([0, 0, 2j]), np.array([2, 0, 0])), np.array([0, 1, 1 + 0j]))


# ---- tensors ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", dtypes)
def test_sums_and_products_over_axes(mode, dtype):
    z = pt.tensor("z", dtype=dtype, shape=(None, None))
    outputs = [
        z.sum(),
        z.sum(axis=0),
        pt.mean(z, axis=1),
        pt.prod(z, axis=0),
        pt.prod(z),
        z.sum(axis=1, keepdims=True),
    ]
    outputs += [pt.mean(z), pt.any(z)]
    f = bt.function([z], outputs, mode=mode)
    a = values((6, 4), dtype)
    expected = [
        a.sum(),
        a.sum(axis=0),
        a.mean(axis=1),
        a.prod(axis=0),
        a.prod(),
        a.sum(axis=1, keepdims=True),
        a.mean(),
        a.any(),
    ]
    for got, each in zip(f(a), expected):
        close(got, each, 10)
    for got, each in zip(f(a[:, :0])[:2], [np.zeros((), dtype), np.zeros(0, dtype)]):
        close(got, each)


@pytest.mark.parametrize("dtype", dtypes)
def test_products_of_matrices(mode, dtype):
    a, b, v = (
        pt.tensor(dtype=dtype, shape=(None, None)),
        pt.tensor(dtype=dtype, shape=(None, None)),
        pt.tensor(dtype=dtype, shape=(None,)),
    )
    x, t = pt.dmatrix("x"), pt.tensor(dtype=dtype, shape=(None, None, None))
    outputs = [
        a @ b,
        a @ v,
        v @ b,
        pt.dot(v, v),
        a @ x,
        pt.matmul(t, b),
        pt.outer(v, v),
        a.conj().T @ a,
        pt.tensordot(a, b, 1),
    ]
    f = bt.function([a, b, v, x, t], outputs, mode=mode)
    A, B, V = values((3, 4), dtype), values((4, 4), dtype, 1), values(4, dtype, 2)
    X, T = np.random.default_rng(3).normal(size=(4, 2)), values((2, 3, 4), dtype, 4)
    expected = [A @ B, A @ V, V @ B, V @ V, A @ X, T @ B, np.outer(V, V), A.conj().T @ A, A @ B]
    for got, each in zip(f(A, B, V, X, T), expected):
        close(got, each, 10)


def test_moving_elements(mode):
    z, w, i, c = pt.zmatrix("z"), pt.zvector("w"), pt.lvector("i"), pt.vector("c", dtype="bool")
    outputs = [
        z[1:, ::-1], z[0], z[0, 1], z[i], z[i, i], z[:, c], z.T, z.reshape((-1,)), z.dimshuffle(0, "x", 1),
        pt.concatenate([z, z * 1j]), pt.stack([w, w.conj()]),
        pt.switch(c, w, 1j), pt.where(c, 0, w), pt.set_subtensor(z[0], w), pt.inc_subtensor(z[i], w),
        pt.set_subtensor(z[:, 1], 2.5), pt.inc_subtensor(z[0], 1), pt.zeros_like(z), pt.ones_like(w), pt.full_like(w, 2j), pt.tile(w, 2), pt.flip(w),
        pt.cumsum(z, axis=0), pt.diff(w), pt.specify_shape(w, 3), bt.gradient.zero_grad(w), pt.nan_to_num(w),
        pt.broadcast_to(w, (2, 3)), pt.diag(w), pt.diagonal(z), pt.trace(z), pt.as_tensor([w[0], w[1]]), z.flatten(), pt.roll(w, 1),
        pt.set_subtensor(z[:, c], 2j), pt.inc_subtensor(w[c], 1j),
    ]  # fmt: skip
    f = bt.function([z, w, i, c], [*outputs, z.shape, w.size], mode=mode)
    Z, W, I, C = (
        values((3, 3)),
        values(3, seed=1),
        np.array([2, 0, 2]),
        np.array([True, False, True]),
    )
    put, added, column, first = Z.copy(), Z.copy(), Z.copy(), Z.copy()
    put[0], column[:, 1] = W, 2.5
    np.add.at(added, I, W)
    first[0] += 1
    masked, masked_w = Z.copy(), W.copy()
    masked[:, C] = 2j
    masked_w[C] += 1j
    expected = [
        Z[1:, ::-1], Z[0], Z[0, 1], Z[I], Z[I, I], Z[:, C], Z.T, Z.reshape(-1), Z[:, None],
        np.concatenate([Z, Z * 1j]), np.stack([W, W.conj()]),
        np.where(C, W, 1j), np.where(C, 0, W), put, added,
        column, first, 0 * Z, 0 * W + 1, np.full_like(W, 2j), np.tile(W, 2), W[::-1],
        np.cumsum(Z, axis=0), np.diff(W), W, W, W,
        np.broadcast_to(W, (2, 3)), np.diag(W), np.diagonal(Z), np.trace(Z), W[:2], Z.ravel(), np.roll(W, 1), masked, masked_w,
        np.array(Z.shape), np.array(3),
    ]  # fmt: skip
    for k, (got, each) in enumerate(zip(f(Z, W, I, C), expected)):
        np.testing.assert_allclose(got, each, rtol=1e-14, err_msg=str(k))
        assert got.dtype == np.asarray(each).dtype, k


def test_errors_of_indices_and_shapes(mode):
    z, i = pt.zvector("z"), pt.lvector("i")
    f = bt.function([z, i], z[i], mode=mode)
    with pytest.raises(IndexError):
        f(values(3), np.array([3]))
    w = pt.zvector("w")
    g = bt.function([z, w], z + w, mode=mode)
    with pytest.raises(ValueError):
        g(values(3), values(4))


# ---- gradients -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["real", "imag", "abs", "angle"])
def test_gradients_of_real_values(name):
    check_gradient(lambda z: pt.sqr(getattr(pt, name)(z) + 0.5).sum(), values(4))


@pytest.mark.parametrize("name", ["conj", "neg", "sqr", "reciprocal", *elementary])
def test_gradients_of_functions(name):
    check_gradient(lambda z: cost_of(getattr(pt, name)(z)), values(4) * 0.7)


@pytest.mark.parametrize("operation", ["add", "sub", "mul", "true_div", "pow"])
def test_gradients_by_both_operands_complex_and_real(operation):
    z, w, x = values(3), values(3, seed=1), np.array([0.5, 1.5, 2.5])
    check_gradient(lambda a, b: cost_of(getattr(pt, operation)(a, b)), z, w)
    check_gradient(lambda a, b: cost_of(getattr(pt, operation)(a, b)), z, x)
    check_gradient(lambda a, b: cost_of(getattr(pt, operation)(a, b)), x, w)
    check_gradient(
        lambda a, b: cost_of(getattr(pt, operation)(a, b)), values((2, 3)), w
    )  # broadcast


def test_gradients_of_tensors():
    check_gradient(lambda a, b: cost_of(a @ b), values((2, 3)), values((3, 2), seed=1))
    check_gradient(lambda a, b: cost_of(pt.dot(a, b)), values(3), np.arange(3.0))
    check_gradient(lambda a: cost_of(a.sum(axis=0)) + cost_of(pt.mean(a)), values((2, 3)))
    check_gradient(lambda a: cost_of(a[1:] * 1j) + cost_of(a.T.reshape((-1,))[::2]), values((2, 3)))
    check_gradient(
        lambda a, b: cost_of(pt.set_subtensor(a[1], b)), values((2, 3)), values(3, seed=1)
    )
    check_gradient(lambda a, b: cost_of(pt.concatenate([a, b]) ** 2), values(2), values(3, seed=1))
    check_gradient(lambda a, b: cost_of(pt.switch(pt.gt(b, 1.5), a, b)), values(3), np.arange(3.0))
    check_gradient(lambda x, y: cost_of(pt.complex(x, y) ** 2), np.arange(1.0, 4), np.array(0.5))
    check_gradient(
        lambda x, y: cost_of(pt.complex_from_polar(x, y)), np.arange(1.0, 4), np.arange(3.0)
    )


def test_gradient_convention():
    """PyTensor's convention: the gradient of |z|^2 is 2 z, so that z - step * gradient decreases it."""
    z = pt.zvector("z")
    given = values(3)
    close(bt.function([z], bt.grad(pt.sqr(pt.abs(z)).sum(), z))(given), 2 * given)
    close(bt.function([z], bt.grad((z * z.conj()).real.sum(), z))(given), 2 * given)


def test_second_derivatives_and_tangents():
    x = pt.dvector("x")
    inner = bt.grad(cost_of(pt.exp(pt.complex(x, 2 * x))), x)
    given = np.array([0.1, 0.2])
    f = bt.function([x], inner)
    hessian = bt.function([x], bt.gradient.hessian(cost_of(pt.exp(pt.complex(x, 2 * x))), x))(given)
    by_differences = np.stack([(f(given + d) - f(given - d)) / 2e-6 for d in 1e-6 * np.eye(2)])
    np.testing.assert_allclose(hessian, by_differences, rtol=1e-5, atol=1e-6)
    z, t = pt.zvector("z"), pt.zvector("t")
    tangent = bt.function([z, t], bt.gradient.pushforward(pt.log(z) * pt.abs(z), z, t))
    a, b = values(3), values(3, seed=1)
    value = lambda z: np.log(z) * np.abs(z)
    np.testing.assert_allclose(
        tangent(a, b), (value(a + 1e-6 * b) - value(a - 1e-6 * b)) / 2e-6, rtol=1e-6
    )


def test_sign_agrees_with_numpy(mode):
    """Also where the absolute value is 0, infinite or near the limits of the exponent range."""
    z = pt.zvector("z")
    ends = [0.0, -0.0, 1.0, -3.0, np.inf, -np.inf, np.nan, 5e-324, 1e-200]
    given = np.array([complex(a, b) for a in ends for b in ends])
    with np.errstate(all="ignore"):
        expected = np.sign(given)
    got = bt.function([z], pt.sign(z), mode=mode)(given)
    tiny = np.abs(given) < 1e-300  # where NumPy loses digits
    np.testing.assert_allclose(got[~tiny], expected[~tiny], rtol=1e-15)
    np.testing.assert_allclose(np.abs(got[tiny]), given[tiny] != 0, rtol=1e-15)
    large = np.array([1e308 + 1e308j])
    np.testing.assert_allclose(
        bt.function([z], pt.sign(z), mode=mode)(large), [0.5**0.5 * (1 + 1j)], rtol=1e-15
    )
    check_gradient(lambda z: pt.sum(pt.real(pt.sign(z) * (1 + 2j))), values(4))
    slope = bt.function([z], bt.grad(pt.sum(pt.real(pt.sign(z))), z), mode=mode)(
        np.zeros(2, complex)
    )
    assert np.isfinite(slope).all()


@pytest.mark.parametrize("dtype", dtypes)
def test_running_products_and_sums_of_exponentials(mode, dtype):
    import scipy.special  # noqa: F401

    z = pt.tensor("z", dtype=dtype, shape=(None, None))
    given = values((5, 3), dtype)
    outputs = [
        pt.cumprod(z, axis=0),
        pt.cumprod(z, axis=-1),
        pt.cumprod(z),
        pt.logsumexp(z, axis=1),
        pt.logsumexp(z, axis=0, keepdims=True),
    ]
    expected = [
        np.cumprod(given, 0),
        np.cumprod(given, -1),
        np.cumprod(given),
        np.log(np.exp(given).sum(1)),
        np.log(np.exp(given).sum(0, keepdims=True)),
    ]
    for got, one in zip(bt.function([z], outputs, mode=mode)(given), expected):
        assert got.dtype == dtype and got.shape == one.shape
        close(got, one, 10)
    close(
        pt.logsumexp(pt.constant(np.array([800 + 1j, 800 - 2j]))).eval(),
        800 + np.log(np.exp(1j) + np.exp(-2j)),
        10,
    )


@pytest.mark.parametrize(
    "build",
    [
        pt.prod,
        lambda z: pt.prod(z, axis=0),
        lambda z: pt.prod(z, axis=(0, 2)),
        lambda z: pt.prod(z, axis=()),
        pt.cumprod,
        lambda z: pt.cumprod(z, axis=1),
        lambda z: pt.prod(pt.real(z), axis=1, dtype="complex128") * 1j,
    ],
)
@pytest.mark.parametrize(
    "zeros", [[], [(0, 1, 1)], [(0, 1, 1), (1, 1, 0)], [(0, 0, 0), (0, 1, 0), (1, 0, 1)]]
)
def test_products_have_derivatives_where_elements_are_zero(build, zeros):
    given, tangent = values((2, 2, 3)), values((2, 2, 3), seed=1)
    for at in zeros:
        given[at] = 0
    check_gradient(lambda z: cost_of(build(z)), given)
    z, t = pt.ztensor3("z"), pt.ztensor3("t")
    out = build(z)
    forward = bt.function([z, t], bt.gradient.pushforward(out, z, t, use_op_pushforward=True))(
        given, tangent
    )
    f, step = bt.function([z], out), 1e-6
    np.testing.assert_allclose(
        forward,
        (f(given + step * tangent) - f(given - step * tangent)) / (2 * step),
        rtol=1e-6,
        atol=1e-8,
    )


def test_second_derivatives_of_products_of_complex_numbers():
    given = np.array([1 + 1j, 0, 2 - 1j, 0])
    for build in pt.prod, lambda z: pt.sum(pt.cumprod(z)):
        check_gradient(lambda z: cost_of(bt.grad(cost_of(build(z)), z)), given)


# ---- unsupported operations ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["floor", "ceil", "gammaln", "erf", "sigmoid", "softplus", "psi", "trunc"]
)
def test_undefined_functions_are_rejected(name):
    with pytest.raises(TypeError, match=f"{name}: not defined for complex numbers"):
        getattr(pt, name)(pt.zvector("z"))


@pytest.mark.parametrize(
    "name",
    ["lt", "le", "gt", "ge", "maximum", "minimum", "arctan2", "mod", "int_div", "and_", "hypot"],
)
def test_comparisons_and_remainders_are_rejected(name):
    with pytest.raises(TypeError, match="complex"):
        getattr(pt, name)(pt.zvector("z"), pt.dvector("x"))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "bool"])
def test_imaginary_parts_are_never_discarded_silently(dtype):
    z, x = pt.zvector("z"), pt.tensor("x", dtype=dtype, shape=(None,))
    with pytest.raises(TypeError, match="real"):
        pt.cast(z, dtype)
    with pytest.raises(TypeError, match="complex"):
        pt.set_subtensor(x[0], z[0])
    f = bt.function([x], x)
    with pytest.raises(TypeError):
        f(np.array([1j]))
    with pytest.raises(TypeError):
        pt.switch(z, x, x)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_variances_are_real(dtype):
    rng = np.random.default_rng(3)
    value = (rng.normal(size=(3, 4)) + 1j * rng.normal(size=(3, 4))).astype(dtype)
    z = pt.matrix("z", dtype=dtype)
    f = bt.function([z], [pt.var(z), pt.std(z, axis=0), pt.var(z, axis=1, ddof=1, keepdims=True)])
    for got, expected in zip(
        f(value),
        [np.var(value), np.std(value, axis=0), np.var(value, axis=1, ddof=1, keepdims=True)],
    ):
        assert got.dtype == expected.dtype
        np.testing.assert_allclose(got, expected, rtol=1e-5 if dtype == "complex64" else 1e-13)
    slope = bt.grad(pt.var(z), z).eval({z: value})
    np.testing.assert_allclose(
        slope, 2 * (value - value.mean()) / value.size, rtol=1e-4 if dtype == "complex64" else 1e-12
    )


def test_errors_name_ops_without_a_complex_form():
    z = pt.zmatrix("z")
    for build in (
        lambda: pt.sort(z),
        lambda: pt.max(z),
        lambda: pt.argmax(z),
        lambda: pt.argsort(z),
        lambda: pt.deg2rad(z),
        lambda: pt.softmax(z, axis=-1),
    ):
        with pytest.raises((NotImplementedError, TypeError), match="complex"):
            build()
    with pytest.raises(TypeError, match="complex"):
        pt.complex(z, z)
    with pytest.raises(TypeError, match="grad"):
        bt.grad(pt.sum(z), z)


def test_a_complex_input_accepts_safe_conversions():
    z = pt.cvector("z")
    f = bt.function([z], z + 0)
    close(f(np.array([1, 2], "float32")), np.array([1, 2], "complex64"))
    with pytest.raises(TypeError):
        f(np.array([1j]))  # complex128


# ---- exported functions ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["c", "object"])
def test_exported_functions_take_pairs_of_real_numbers(tmp_path, form):
    z, w = pt.zvector("z"), pt.zscalar("w")
    state = bt.shared(values(2, seed=7), name="state")
    total = pt.sum(z * w)
    total.name = "total"
    f = bt.function([z, w], [total, pt.exp(z), pt.abs(z)], updates={state: state * w}, name="waves")
    (f.export_c if form == "c" else f.export_object)(str(tmp_path))
    header = (tmp_path / "waves.h").read_text()
    assert "complex numbers: real and imaginary parts" in header and "z_n1" in header
    source = (
        ["-std=c99", "-O1", "-ffp-contract=off", tmp_path / "waves.c"]
        if form == "c"
        else [tmp_path / "waves.o"]
    )
    library = tmp_path / "waves.so"
    subprocess.run(["cc", "-shared", "-fPIC", *source, "-lm", "-o", library], check=True)
    waves = ctypes.CDLL(str(library)).waves
    given, factor, before = values(3), np.array(values(())), state.get_value()
    results = [
        np.zeros((), "complex128"),
        np.zeros(3, "complex128"),
        np.zeros(3),
        np.zeros(2, "complex128"),
    ]
    pairs = lambda x: [ctypes.c_void_p(x.ctypes.data), *(ctypes.c_int64(n) for n in (*x.shape, 2))]
    workspace = np.zeros(100, "complex128")
    out = [ctypes.c_void_p(each.ctypes.data) for each in results]
    assert (
        waves(
            *pairs(given),
            *pairs(factor),
            *pairs(before),
            *out,
            ctypes.c_void_p(workspace.ctypes.data),
        )
        == 0
    )
    for got, each in zip(
        results, [(given * factor).sum(), np.exp(given), np.abs(given), before * factor]
    ):
        close(got, np.asarray(each), 10)


def test_complex_functions_have_no_address():
    z = pt.zvector("z")
    with pytest.raises(TypeError, match="complex128"):
        bt.function([z], z * 2).address("vector")


def test_results_with_cached_code(tmp_path):
    script = (
        "import numpy as np, bitale as bt, bitale.tensor as pt\n"
        "z = pt.zvector('z')\n"
        "f = bt.function([z], [pt.exp(z) * 2j, pt.abs(z).sum()])\n"
        "out = f(np.array([1 + 2j, 3j]))\n"
        "print([complex(x) for x in out[0]], float(out[1]))\n"
    )
    runs = []
    for compiler in (
        "",
        ",llvm_library=no-such-library",
    ):  # code that is not in the cache needs LLVM
        flags = {**os.environ, "BITALE_FLAGS": f"base_compiledir={tmp_path}{compiler}"}
        command = [sys.executable, "-c", script]
        runs.append(subprocess.run(command, env=flags, check=True, capture_output=True, text=True))
    assert runs[0].stdout == runs[1].stdout and runs[1].stderr == ""
    assert complex(runs[0].stdout.strip("[").split(",")[0]) == pytest.approx(2j * np.exp(1 + 2j))


# ---- regressions found by random graphs ------------------------------------------------------------------------------


def test_products_over_no_axes(mode):
    z = pt.zscalar("z")
    f = bt.function([z], [pt.prod(z * 2), pt.prod(z)], mode=mode)
    for got, each in zip(f(0.25 + 0.8j), (0.5 + 1.6j, 0.25 + 0.8j)):
        close(got, np.asarray(each))


def test_the_gradient_of_an_absolute_value_is_zero_at_zero():
    z, x, y = pt.zvector("z"), pt.dscalar("x"), pt.dscalar("y")
    f = bt.function([z], bt.grad(pt.abs(z).sum() + pt.sqr(pt.abs(z)).sum(), z))
    close(f(np.array([0, 3 + 4j])), np.array([0, 6.6 + 8.8j]))
    assert bt.function([x, y], bt.grad(pt.hypot(x, y), [x, y]))(0.0, 0.0) == [0.0, 0.0]

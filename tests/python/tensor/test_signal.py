"""Convolutions against NumPy and SciPy, derivatives against finite differences, and invalid arguments."""

import numpy as np
import pytest
import scipy.signal

import bitale as bt
import bitale.tensor as pt

rng = np.random.default_rng(0)
dtypes = ["float64", "float32", "int8", "uint16", "int64"]


def values_of(shape, dtype):
    return (
        (rng.normal(size=shape) * 4).astype("int64").astype(dtype)
        if "int" in dtype
        else rng.normal(size=shape).astype(dtype)
    )


@pytest.mark.parametrize("dtype", dtypes)
@pytest.mark.parametrize("mode", ["full", "valid", "same"])
@pytest.mark.parametrize(
    "n, k", [(1, 1), (5, 1), (1, 5), (5, 2), (5, 3), (3, 5), (33, 4), (4, 33), (100, 20), (6, 6)]
)
def test_vectors(n, k, mode, dtype):
    a, b = values_of(n, dtype), values_of(k, dtype)
    expected = scipy.signal.convolve(a.astype("float64"), b.astype("float64"), mode, "direct")
    for known in (False, True):
        x = pt.tensor(dtype=dtype, shape=(n if known else None,))
        y = pt.tensor(dtype=dtype, shape=(k if known else None,))
        out = bt.function([x, y], pt.signal.convolve1d(x, y, mode))(a, b)
        assert out.dtype == dtype and out.shape == expected.shape
        exact = np.rint(expected).astype("int64").astype(dtype) if "int" in dtype else expected
        np.testing.assert_allclose(
            out,
            exact,
            rtol=2e-5 if dtype == "float32" else 1e-12,
            atol=1e-5 if dtype == "float32" else 1e-13,
        )


@pytest.mark.parametrize("mode", ["full", "valid", "same"])
@pytest.mark.parametrize(
    "boundary, fillvalue", [("fill", 0), ("fill", 1.5), ("wrap", 0), ("symm", 0)]
)
@pytest.mark.parametrize(
    "n, k",
    [((1, 1), (1, 1)), ((4, 5), (2, 3)), ((5, 4), (3, 3)), ((6, 7), (1, 4)), ((9, 5), (4, 5))],
)
def test_matrices(n, k, mode, boundary, fillvalue):
    a, b = rng.normal(size=n), rng.normal(size=k)
    x, y = pt.dmatrices("x", "y")
    expected = scipy.signal.convolve2d(a, b, mode, boundary, fillvalue)
    for method in ("direct", "fft", "auto"):
        out = bt.function([x, y], pt.signal.convolve2d(x, y, mode, boundary, fillvalue, method))(
            a, b
        )
        np.testing.assert_allclose(out, expected, atol=1e-12)


def test_batches_broadcast():
    a, b = rng.normal(size=(3, 1, 9)), rng.normal(size=(4, 3))
    x, y = pt.tensor(dtype="float64", shape=(None, 1, None)), pt.dmatrix("y")
    out = bt.function([x, y], pt.signal.convolve1d(x, y))(a, b)
    expected = [[np.convolve(a[i, 0], b[j]) for j in range(4)] for i in range(3)]
    np.testing.assert_allclose(out, expected)
    bt.verify_grad(
        lambda v, w: pt.signal.convolve1d(pt.specify_shape(v, (None, 1, None)), w, "same"), [a, b]
    )
    with pytest.raises(ValueError, match="batches"):
        bt.function([z := pt.dmatrix("z"), y], pt.signal.convolve1d(z, y))(b, b[:2])
    v, w = pt.dvectors("v", "w")
    batched = bt.graph.vectorize_graph(pt.signal.convolve1d(v, w), {v: pt.dmatrix("vs")})
    assert batched.ndim == 2


@pytest.mark.parametrize("mode", ["full", "valid", "same"])
@pytest.mark.parametrize("n, k", [(5, 3), (3, 5), (1, 4), (6, 2)])
def test_derivatives(n, k, mode):
    a, b = rng.normal(size=n), rng.normal(size=k)
    bt.verify_grad(lambda x, y: pt.signal.convolve1d(x, y, mode), [a, b])
    bt.verify_grad(lambda x, y: bt.grad((pt.signal.convolve1d(x, y, mode) ** 2).sum(), y), [a, b])
    a, b = rng.normal(size=(n, 4)), rng.normal(size=(k, 2))
    bt.verify_grad(lambda x, y: pt.signal.convolve2d(x, y, mode), [a, b])
    bt.verify_grad(lambda x, y: pt.signal.convolve2d(x, y, mode, boundary="wrap"), [a, b])


def test_nan_reaches_only_sums_that_contain_it():
    x, y = pt.dvectors("x", "y")
    f = bt.function([x, y], pt.signal.convolve1d(x, y))
    np.testing.assert_array_equal(f([1, 2, np.nan, 4, 5], [1, 1]), [1, 3, np.nan, np.nan, 9, 5])
    np.testing.assert_array_equal(f([1, 2], [np.inf, 1]), [np.inf, np.inf, 2])


@pytest.mark.parametrize("mode", [bt.Mode("vm", "None"), None])
def test_invalid_arguments(mode):
    x, y = pt.dvectors("x", "y")
    f = bt.function([x, y], pt.signal.convolve1d(x, y), mode=mode)
    for a, b in (([], [1.0]), ([1.0], [])):
        with pytest.raises(ValueError, match="length 0"):
            f(a, b)
    with pytest.raises(ValueError, match="length 0"):
        pt.signal.convolve1d(pt.dvector(shape=(0,)), y)
    with pytest.raises(ValueError, match="dimensions"):
        pt.signal.convolve1d(pt.dscalar(), y)
    with pytest.raises(ValueError, match="mode"):
        pt.signal.convolve1d(x, y, "middle")
    m = pt.dmatrix("m")
    with pytest.raises(ValueError, match="boundary"):
        pt.signal.convolve2d(m, m, boundary="reflect")
    with pytest.raises(ValueError, match="method"):
        pt.signal.convolve2d(m, m, method="fast")


@pytest.mark.parametrize("mode", ["full", "valid", "same"])
@pytest.mark.parametrize(
    "dtypes", [("complex128", "complex128"), ("complex128", "float64"), ("float64", "complex64")]
)
def test_complex_numbers(dtypes, mode):
    rng = np.random.default_rng(0)

    def draw(dtype, *shape):
        return (
            rng.normal(size=shape)
            + (1j * rng.normal(size=shape) if dtype.startswith("complex") else 0)
        ).astype(dtype)

    a, b = draw(dtypes[0], 2, 7, 6), draw(dtypes[1], 2, 3, 2)
    x, y = (pt.tensor(dtype=dtype, shape=(None, None, None)) for dtype in dtypes)
    outputs = [pt.signal.convolve1d(x, y[:, 0][:, None], mode=mode)] + [
        pt.signal.convolve2d(x, y, mode=mode, method=m) for m in ("direct", "fft")
    ]
    costs = [(pt.real(out) + 2 * pt.imag(out)).sum() for out in outputs[:2]]
    gradients = [g for cost in costs for g in bt.grad(cost, [x, y])]
    for linker in ("jit", "vm"):
        got = bt.function([x, y], [*outputs, *gradients], mode=bt.Mode(linker, "fast_run"))(a, b)
        for k in range(2):
            expected = [np.stack([np.convolve(row, b[k, 0], mode) for row in a[k]])] + 2 * [
                scipy.signal.convolve2d(a[k], b[k], mode)
            ]
            for one, right in zip(got, expected):
                assert np.allclose(one[k], right, rtol=1e-5 if "complex64" in dtypes else 1e-12)
        # Both are linear in x: the gradient g of x has cost == sum(real(conj(g) x)).
        for k, out in enumerate(got[:2]):
            cost = (out.real + 2 * out.imag).sum()
            for leaf, slope in zip((a, b), got[3 + 2 * k : 5 + 2 * k]):
                assert np.isclose(
                    (slope.conj() * leaf).real.sum(),
                    cost,
                    rtol=1e-5 if "complex64" in dtypes else 1e-12,
                )

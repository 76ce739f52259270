"""Fourier transforms against NumPy, derivatives against finite differences, and invalid arguments."""

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt


def pairs(z):
    return np.stack([z.real, z.imag], axis=-1)


def complex_of(z):
    return z[..., 0] + 1j * z[..., 1]


shapes = [
    (1, 1),
    (2, 1),
    (3, 2),
    (2, 5),
    (1, 33),
    (4, 6),
    (0, 4),
    (2, 97),
    (2, 3, 4),
    (3, 4, 5),
    (1, 6, 1, 3),
    (2, 3, 4, 5),
]


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "bool"])
@pytest.mark.parametrize("norm", [None, "ortho", "no_norm"])
@pytest.mark.parametrize("shape", shapes)
def test_rfft_agrees_with_numpy(shape, norm, dtype):
    values = (np.random.default_rng(1).normal(size=shape) * 5).astype(dtype)
    x = pt.tensor(dtype=dtype, shape=(None,) * len(shape))
    out = bt.function([x], pt.fft.rfft(x, norm=norm))(values)
    expected = np.fft.rfftn(
        values, axes=range(1, len(shape)), norm="ortho" if norm == "ortho" else None
    )
    assert out.dtype == ("float32" if dtype == "float32" else "float64")
    np.testing.assert_allclose(
        out, pairs(expected), rtol=0, atol=(1e-4 if dtype == "float32" else 1e-12) * 5
    )


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("norm", [None, "ortho", "no_norm"])
@pytest.mark.parametrize(
    "shape", [(1, 2), (2, 3), (1, 33), (4, 6), (0, 4), (2, 3, 4), (3, 4, 5), (2, 3, 4, 5)]
)
def test_irfft_agrees_with_numpy(shape, norm, dtype):
    rng = np.random.default_rng(2)
    values = rng.normal(size=(*shape, 2)).astype(dtype)
    z = pt.tensor(dtype=dtype, shape=(None,) * (len(shape) + 1))
    for is_odd in (False, True):
        n = 2 * (shape[-1] - 1) + is_odd
        out = bt.function([z], pt.fft.irfft(z, norm=norm, is_odd=is_odd))(values)
        kind = {"ortho": "ortho", None: "backward", "no_norm": "forward"}[norm]
        expected = np.fft.irfftn(
            complex_of(values), s=(*shape[1:-1], n), axes=range(1, len(shape)), norm=kind
        )
        assert out.dtype == dtype and out.shape == expected.shape
        np.testing.assert_allclose(
            out, expected, rtol=0, atol=(1e-4 if dtype == "float32" else 1e-12) * 10
        )


@pytest.mark.parametrize("norm", [None, "ortho", "no_norm"])
@pytest.mark.parametrize("shape", [(1, 1), (2, 5), (2, 6), (2, 3, 4), (2, 4, 3)])
def test_derivatives_of_rfft(shape, norm):
    x = np.random.default_rng(3).normal(size=shape)
    bt.verify_grad(lambda v: pt.fft.rfft(v, norm=norm), [x])
    bt.verify_grad(lambda v: (pt.fft.rfft(v, norm=norm) ** 3).sum(axis=0), [x])


@pytest.mark.parametrize("norm", [None, "ortho", "no_norm"])
@pytest.mark.parametrize("is_odd", [False, True])
@pytest.mark.parametrize("shape", [(2, 3, 2), (1, 4, 2), (2, 3, 4, 2)])
def test_derivatives_of_irfft(shape, is_odd, norm):
    z = np.random.default_rng(4).normal(size=shape)
    bt.verify_grad(lambda v: pt.fft.irfft(v, norm=norm, is_odd=is_odd), [z])


def test_a_batch_of_transforms_is_one_transform():
    x = pt.dtensor3("x")
    row = pt.dmatrix("row")
    batched = bt.graph.vectorize_graph(pt.fft.rfft(row), {row: x})
    values = np.random.default_rng(5).normal(size=(3, 2, 7))
    np.testing.assert_allclose(
        complex_of(bt.function([x], batched)(values)), np.fft.rfft(values), atol=1e-13
    )


def test_transforms_run_natively():
    x = pt.dmatrix("x")
    f = bt.function([x], pt.fft.irfft(pt.fft.rfft(pt.exp(x)) * 2))
    assert "host callback" not in f.dprint(file="str")
    np.testing.assert_allclose(f(np.zeros((2, 6))), np.full((2, 6), 2.0))


@pytest.mark.parametrize("mode", [bt.Mode("vm", "None"), None])
def test_invalid_lengths(mode):
    x, z = pt.dmatrix("x"), pt.dtensor3("z")
    with pytest.raises(ValueError, match="length 0"):
        bt.function([x], pt.fft.rfft(x), mode=mode)(np.zeros((3, 0)))
    inverse = bt.function([z], pt.fft.irfft(z), mode=mode)
    with pytest.raises(ValueError, match="length 2"):
        inverse(np.zeros((1, 3, 3)))
    with pytest.raises(ValueError, match="length"):
        inverse(np.zeros((1, 1, 2)))  # n = 0
    with pytest.raises(ValueError, match="length"):
        inverse(np.zeros((1, 0, 2)))


def test_invalid_arguments():
    with pytest.raises(ValueError, match="batch of real numbers"):
        pt.fft.rfft(pt.dvector())
    with pytest.raises(ValueError, match="batch of pairs"):
        pt.fft.irfft(pt.dmatrix())
    with pytest.raises(ValueError, match="norm"):
        pt.fft.rfft(pt.dmatrix(), norm="backward")
    with pytest.raises(ValueError, match="does not exist"):
        pt.fft.rfft(pt.dmatrix(shape=(3, 0)))
    with pytest.raises(ValueError, match="length 2"):
        pt.fft.irfft(pt.tensor(dtype="float64", shape=(3, 4, 5)))


def test_nan_stays_in_its_row():
    values = np.ones((2, 8))
    values[0, 3] = np.nan
    x = pt.dmatrix("x")
    out = bt.function([x], pt.fft.rfft(x))(values)
    assert np.isnan(out[0]).any() and not np.isnan(out[1]).any()

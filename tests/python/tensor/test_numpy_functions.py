"""NumPy's functions that are formulas of others, against NumPy: values, dtypes and shapes over dtypes, in a compiled function
and node by node; derivatives, batches, and errors. A case is one expression that is evaluated with bitale.tensor and with NumPy
as the module."""

import warnings

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt

INTEGERS = ["int8", "int64", "uint8"]
FLOATS = ["float32", "float64"]
DTYPES = ["bool", *INTEGERS, *FLOATS]


def vector(dtype):
    if dtype == "bool":
        return np.array([True, False, True, True, False, True, False])
    if dtype in FLOATS:
        return np.array([1.5, np.nan, -2.25, 0.0, 3.5, -0.5, 7.0], dtype)
    return np.array([5, 0, 2, 2, 7, 1, 120], dtype)


def without_nan(x):
    return np.nan_to_num(x, nan=1.25) if x.dtype.kind == "f" else x


# Of a vector that may hold nan.
WITH_NAN = {
    "nansum": lambda m, x: m.nansum(x),
    "nanprod": lambda m, x: m.nanprod(x),
    "nanmean": lambda m, x: m.nanmean(x),
    "nanmax": lambda m, x: m.nanmax(x),
    "nanmin": lambda m, x: m.nanmin(x, keepdims=True),
    "nanvar": lambda m, x: m.nanvar(x),
    "nanvar with ddof": lambda m, x: m.nanvar(x, ddof=2),
    "nanvar of too few": lambda m, x: m.nanvar(x[:3], ddof=2, keepdims=True),
    "nanstd": lambda m, x: m.nanstd(x),
    "nanargmax": lambda m, x: m.nanargmax(x),
    "nanargmin": lambda m, x: m.nanargmin(x),
    "nancumsum": lambda m, x: m.nancumsum(x),
    "nancumprod": lambda m, x: m.nancumprod(x[:4]),
    "count_nonzero": lambda m, x: m.count_nonzero(x),
    "heaviside": lambda m, x: m.heaviside(x, 0.5),
    "copysign": lambda m, x: (
        m.copysign(x[:3], -x[2:5]) if x.dtype != "bool" else m.copysign(x[:3], x[2:5])
    ),
    "fmod": lambda m, x: m.fmod(x[:3], x[2:5]),
    "remainder": lambda m, x: m.remainder(x[:3], x[4:]),
    "nextafter": lambda m, x: m.nextafter(x[:3], x[4:]),
    "isin": lambda m, x: m.isin(x, x[:2]),
    "isin of many": lambda m, x: m.isin(x[:3], m.concatenate([x, x, x])),
    "isin, inverted": lambda m, x: m.isin(x, x[:2], invert=True),
}
# Of a vector of numbers.
OF_VECTORS = {
    "vander": lambda m, x: m.vander(x[:4]),
    "vander, increasing": lambda m, x: m.vander(x[:4], 3, increasing=True),
    "vander of one power": lambda m, x: m.vander(x, 1),
    "polyval": lambda m, x: m.polyval(x[:3], x),
    "trapezoid": lambda m, x: m.trapezoid(x),
    "trapezoid with dx": lambda m, x: m.trapezoid(x, dx=0.5),
    "trapezoid with x": lambda m, x: m.trapezoid(x, x.astype("float64") ** 2),
    "gradient": lambda m, x: m.gradient(x),
    "gradient with steps": lambda m, x: m.gradient(x, 2.0, edge_order=2),
    "gradient at points": lambda m, x: m.gradient(x, m.cumsum(m.arange(1, 8))),
    "gradient at points, to second order": lambda m, x: m.gradient(
        x, m.cumsum(m.arange(1, 8)), edge_order=2
    ),
    "convolve": lambda m, x: m.convolve(x, x[:3]),
    "convolve, same": lambda m, x: m.convolve(x, x[:4], "same"),
    "convolve, same, the second longer": lambda m, x: m.convolve(x[:4], x, "same"),
    "convolve, valid": lambda m, x: m.convolve(x[:4], x, "valid"),
    "correlate": lambda m, x: m.correlate(x, x[:4]),
    "correlate, same": lambda m, x: m.correlate(x, x[:4], "same"),
    "correlate, same, the second longer": lambda m, x: m.correlate(x[:4], x, "same"),
    "correlate, full": lambda m, x: m.correlate(x[:2], x, "full"),
    "partition": lambda m, x: m.sort(m.partition(x, 2)[:3]),
    "argpartition": lambda m, x: m.sort(x[m.argpartition(x, 2)][:3]),
    "lexsort": lambda m, x: m.lexsort((x, x % 3)),
    "union1d": lambda m, x: m.union1d(x[:3], x),
    "setdiff1d": lambda m, x: m.setdiff1d(x, x[:2]),
    "setxor1d": lambda m, x: m.setxor1d(x[:4], x[2:]),
    "intersect1d": lambda m, x: m.intersect1d(x[:4], x[2:]),
    "intersect1d with indices": lambda m, x: m.intersect1d(x[:4], x[2:], return_indices=True),
    "histogram": lambda m, x: m.histogram(x, bins=4),
    "histogram in a range": lambda m, x: m.histogram(x, bins=3, range=(0, 3)),
    "histogram of edges": lambda m, x: m.histogram(x, bins=np.array([0.0, 1.0, 1.5, 7.0])),
    "histogram with weights": lambda m, x: m.histogram(x, bins=3, range=(0, 3), weights=x),
    "histogram, density": lambda m, x: m.histogram(x, bins=4, density=True),
    "corrcoef": lambda m, x: m.corrcoef(x, x.astype("float64") ** 2),
    "cross": lambda m, x: m.cross(x[:3], x[3:6]),
    "vstack": lambda m, x: m.vstack([x, x]),
    "hstack": lambda m, x: m.hstack([x, x]),
    "dstack": lambda m, x: m.dstack([x, x]),
    "column_stack": lambda m, x: m.column_stack([x, x]),
    "select": lambda m, x: m.select([x > 2, x > 1], [x, x + x], x),
    "float_power": lambda m, x: m.float_power(x[4:], 2),
    "logaddexp2": lambda m, x: m.logaddexp2(x[:3], x[4:]),
    "round": lambda m, x: m.round(x / 7, 2),
    "round before the point": lambda m, x: m.round(x * 1.5, -1),
    "apply_along_axis": lambda m, x: m.apply_along_axis(lambda row: row[:2], 0, x),
    "roll": lambda m, x: m.roll(x, 2),
    **{
        f"quantile, {method}": (
            lambda m, x, method=method: m.quantile(
                x, np.array([0.0, 0.2, 0.25, 0.5, 0.6, 1.0]), method=method
            )
        )
        for method in [
            "inverted_cdf",
            "averaged_inverted_cdf",
            "closest_observation",
            "interpolated_inverted_cdf",
            "hazen",
            "weibull",
            "linear",
            "median_unbiased",
            "normal_unbiased",
            "lower",
            "higher",
            "midpoint",
            "nearest",
        ]
    },
    "percentile": lambda m, x: m.percentile(x, 30, method="hazen"),
    "nanquantile": lambda m, x: m.nanquantile(x, 0.3),
    "nanpercentile": lambda m, x: m.nanpercentile(x, np.array([30.0, 60.0])),
    "nanmedian": lambda m, x: m.nanmedian(x),
    **{
        f"fft.{name}": (lambda m, x, name=name: getattr(m.fft, name)(x))
        for name in ("fft", "ifft", "ihfft", "hfft", "fftshift", "ifftshift", "fftn", "rfftn")
    },
    **{
        f"fft.fft, {norm}": (lambda m, x, norm=norm: m.fft.fft(x, n=9, norm=norm))
        for norm in ("ortho", "forward", "backward")
    },
    **{
        f"fft.hfft, {norm}": (lambda m, x, norm=norm: m.fft.hfft(x, n=5, norm=norm))
        for norm in ("ortho", "forward")
    },
    **{
        f"fft.ihfft, {norm}": (lambda m, x, norm=norm: m.fft.ihfft(x, n=4, norm=norm))
        for norm in ("ortho", "forward")
    },
    "fft.irfftn": lambda m, x: m.fft.irfftn(x, s=(5,), axes=(0,), norm="ortho"),
}
# Of a tensor of 3 dimensions, [2, 3, 4].
OF_TENSORS = {
    "nansum": lambda m, x: m.nansum(x, axis=(0, 2)),
    "nanmean": lambda m, x: m.nanmean(x, axis=1, keepdims=True),
    "nanmax": lambda m, x: m.nanmax(x, axis=(0, 1)),
    "nanargmin": lambda m, x: m.nanargmin(x, axis=1),
    "nanquantile": lambda m, x: m.nanquantile(x, np.array([0.3, 0.7]), axis=(0, 1), keepdims=True),
    "nanmedian": lambda m, x: m.nanmedian(x, axis=1),
    "quantile": lambda m, x: m.quantile(
        x, np.array([0.3, 0.7]), axis=(0, 1), keepdims=True, method="weibull"
    ),
    "count_nonzero": lambda m, x: m.count_nonzero(x, axis=1, keepdims=True),
    "trapezoid": lambda m, x: m.trapezoid(x, m.arange(3), axis=1),
    "gradient": lambda m, x: m.gradient(x),
    "gradient along one": lambda m, x: m.gradient(x, 0.5, axis=1),
    "gradient along two": lambda m, x: m.gradient(x, m.cumsum(m.arange(4)), 2.0, axis=(2, 1)),
    "polyval": lambda m, x: m.polyval(np.array([2, 0, 1]), x),
    "cross": lambda m, x: m.cross(x, x[::-1], axis=1),
    "cross with axes": lambda m, x: m.cross(
        x, m.moveaxis(x[::-1], 1, 0), axisa=1, axisb=0, axisc=0
    ),
    "vstack": lambda m, x: m.vstack([x, x]),
    "hstack": lambda m, x: m.hstack([x, x]),
    "dstack": lambda m, x: m.dstack([x, x]),
    "column_stack of matrices": lambda m, x: m.column_stack([x[0], x[0, :, 0]]),
    "isin": lambda m, x: m.isin(x, x[0, 0]),
    "union1d": lambda m, x: m.union1d(x[0], x[1]),
    "lexsort": lambda m, x: m.lexsort((x[0], x[1]), axis=0),
    "apply_along_axis": lambda m, x: m.apply_along_axis(lambda row: m.outer(row, row), 1, x),
    "apply_along_axis to scalars": lambda m, x: m.apply_along_axis(lambda row: row.max(), 0, x),
    "roll": lambda m, x: m.roll(x, (1, -2), axis=(0, 2)),
    "fft.fft": lambda m, x: m.fft.fft(x, axis=1),
    "fft.fft2": lambda m, x: m.fft.fft2(x),
    "fft.ifft2": lambda m, x: m.fft.ifft2(x, s=(2, 5), axes=(0, 2)),
    "fft.rfft2": lambda m, x: m.fft.rfft2(x, norm="ortho"),
    "fft.irfft2": lambda m, x: m.fft.irfft2(x, norm="forward"),
    "fft.fftn": lambda m, x: m.fft.fftn(x, s=(2, 3), axes=(1, 0)),
    "fft.ifftn": lambda m, x: m.fft.ifftn(x, norm="forward"),
    "fft.rfftn": lambda m, x: m.fft.rfftn(x, axes=(2, 0)),
    "fft.irfftn": lambda m, x: m.fft.irfftn(x),
    "fft.fftshift": lambda m, x: m.fft.fftshift(x, axes=(1,)),
}


def attempt(function, *arguments):
    """The values, several in a tuple, or the exception."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return function(*arguments)
    except Exception as error:
        return error


def several(result):
    return tuple(result) if isinstance(result, (tuple, list)) else (result,)


def complaint(results, expected):
    if isinstance(expected, Exception) or isinstance(results, Exception):
        agree = isinstance(results, (TypeError, ValueError)) and isinstance(expected, Exception)
        return None if agree else f"{results!r}, expected {expected!r}"
    for result, each in zip(several(results), several(expected), strict=True):
        each = np.asarray(each)
        if result.shape != each.shape or result.dtype != each.dtype:
            return f"{result.dtype}{result.shape}, expected {each.dtype}{each.shape}"
        tolerance = 2e-6 if each.dtype in ("float32", "complex64") else 1e-13
        if not np.allclose(result, each, rtol=tolerance, atol=tolerance, equal_nan=True):
            return f"{result}, expected {each}"
    return None


def is_different(name, dtype):
    """Whether the dtype, or of bools the value, follows a rule of docs/differences.md."""
    function = name.split(",")[0].split(" ")[0]
    if dtype == "bool" and function in (
        "trapezoid",
        "convolve",
        "correlate",
        "gradient",
        "cross",
        "lexsort",
        "round",
        "select",
        "partition",
        "setxor1d",
    ):
        return True
    if dtype in ("bool", "int8", "uint8") and function in (
        "heaviside",
        "copysign",
        "nextafter",
        "logaddexp2",
        "round",
        "fmod",
        "remainder",
    ):
        return True
    if dtype == "float32" and function in ("corrcoef",):
        return True
    return (
        function in ("quantile", "percentile", "nanquantile", "nanpercentile")
        and dtype != "float64"
    )


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_values(dtype, mode):
    tensors = np.resize(vector(dtype), (2, 3, 4))
    tables = [
        (WITH_NAN, vector(dtype)),
        (OF_VECTORS, without_nan(vector(dtype))),
        (OF_TENSORS, without_nan(tensors)),
    ]
    failures = []
    for table, value in tables:
        x = pt.tensor("x", dtype=dtype, shape=(None,) * value.ndim)
        names, outputs, expecteds, counts = [], [], [], []
        for name, case in table.items():
            expected, made = attempt(case, np, value), attempt(case, pt, x)
            if isinstance(expected, Exception) or isinstance(made, Exception):
                wrong = complaint(made, expected)
                if wrong and not is_different(name, dtype):
                    failures.append(f"{name}: {wrong}")
                continue
            made = several(made)
            (
                names.append(name),
                outputs.extend(made),
                expecteds.append(expected),
                counts.append(len(made)),
            )
        results = iter(bt.function([x], outputs, mode=mode)(value))
        for name, expected, count in zip(names, expecteds, counts):
            result = tuple(next(results) for _ in range(count))
            if wrong := complaint(result, expected):
                if not is_different(name, dtype):
                    failures.append(f"{name}: {wrong}")
    assert not failures, "\n".join([f"{len(failures)} differ for {dtype}", *failures[:40]])


DIFFERENTIABLE = {
    "nansum": lambda m, x: m.nansum(x), "nanmean": lambda m, x: m.nanmean(x), "nanvar": lambda m, x: m.nanvar(x),
    "nanstd": lambda m, x: m.nanstd(x), "nanmax": lambda m, x: m.nanmax(x), "nanprod": lambda m, x: m.nanprod(x),
    "nancumsum": lambda m, x: m.nancumsum(x), "nanmedian": lambda m, x: m.nanmedian(x),
    "copysign": lambda m, x: m.copysign(x, -x[::-1]), "nextafter": lambda m, x: m.nextafter(x, 100.0),
    "fmod": lambda m, x: m.fmod(x, 0.9), "logaddexp2": lambda m, x: m.logaddexp2(x, x[::-1] ** 2),
    "float_power": lambda m, x: m.float_power(2 + x / 9, 2.5), "relu": lambda m, x: m.relu(x, 0.1), "elu": lambda m, x: m.elu(x),
    "gelu": lambda m, x: m.gelu(x), "gelu by tanh": lambda m, x: m.gelu(x, approximate=True), "silu": lambda m, x: m.silu(x),
    "vander": lambda m, x: m.vander(x, 3), "polyval": lambda m, x: m.polyval(x[:3], x),
    "trapezoid": lambda m, x: m.trapezoid(x, x**3), "gradient": lambda m, x: m.gradient(x, edge_order=2),
    "gradient at points": lambda m, x: m.gradient(x, m.cumsum(x**2 + 1)), "convolve": lambda m, x: m.convolve(x, x[:3], "same"),
    "correlate": lambda m, x: m.correlate(x, x[:3], "same"), "partition": lambda m, x: m.partition(x, 2),
    "corrcoef": lambda m, x: m.corrcoef(x, x**2), "cross": lambda m, x: m.cross(x[:3], x[3:6] ** 2),
    "column_stack": lambda m, x: m.column_stack([x, x**2]), "dstack": lambda m, x: m.dstack([x, x**2]),
    "select": lambda m, x: m.select([x > 2, x > 0], [x**2, x**3], m.exp(x)),
    "piecewise": lambda m, x: m.piecewise(x, [x > 2, x < 0], [lambda x: x**2, lambda x: x**3, 4.0]),
    "quantile": lambda m, x: m.quantile(x, 0.3, method="hazen"),
    "fft": lambda m, x: m.real(m.fft.fft(x, n=9)) + m.imag(m.fft.ifft(x, n=9)),
    "rfftn": lambda m, x: m.abs(m.fft.rfftn(x)), "hfft": lambda m, x: m.fft.hfft(x), "irfftn": lambda m, x: m.fft.irfftn(x, s=(9,)),
    "pool_2d": lambda m, x: m.pool_2d(m.outer(x, x**2), 2, stride=1),
    "mean pool_2d": lambda m, x: m.pool_2d(m.outer(x, x**2), (2, 3), pad=1, mode="average_exc_pad"),
    "conv2d": lambda m, x: m.conv2d(m.outer(x, x)[None, None], m.outer(x[:3], x[:2]).reshape((1, 1, 3, 2)), subsample=2),
}  # fmt: skip
NUMBERS = np.array([1.5, 1.1, -2.25, 0.3, 3.5, -0.5, 4.0])


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_derivatives(name):
    bt.gradient.verify_grad(
        lambda x: DIFFERENTIABLE[name](pt, x), [NUMBERS], rng=np.random.default_rng(1)
    )


def test_batches():
    """Of each row the same as of a vector."""
    x, rows = pt.dmatrix("x"), np.stack([NUMBERS, NUMBERS[::-1], NUMBERS**2])
    v = pt.dvector("v")
    names = [name for name in DIFFERENTIABLE if name != "conv2d"]
    ranks = {name: DIFFERENTIABLE[name](pt, v).ndim for name in names}
    batched = [
        pt.vectorize(
            lambda v, case=DIFFERENTIABLE[name]: case(pt, v),
            f"(n)->({','.join('abcd'[: ranks[name]])})",
        )(x)
        for name in names
    ]
    single = bt.function([v], [DIFFERENTIABLE[name](pt, v) for name in names])
    expected = [np.stack(each) for each in zip(*(single(row) for row in rows))]
    for name, result, each in zip(names, bt.function([x], batched)(rows), expected):
        assert np.allclose(result, each, rtol=1e-12, equal_nan=True), name


def test_activations():
    x = np.array([-np.inf, -3.0, -0.0, 0.0, 2.0, np.inf, np.nan])
    from scipy.special import expit, ndtr

    assert np.array_equal(pt.relu(x).eval(), np.maximum(x, 0), equal_nan=True)
    assert np.allclose(pt.elu(x, 2.0).eval(), np.where(x > 0, x, 2 * np.expm1(x)), equal_nan=True)
    with np.errstate(invalid="ignore"):
        limit = np.where(x == -np.inf, 0, x * ndtr(x))
        assert np.allclose(pt.gelu(x).eval(), limit, equal_nan=True) and np.allclose(
            pt.gelu(x, approximate=1).eval(), limit, atol=1e-3, equal_nan=True
        )
        assert np.allclose(
            pt.silu(x).eval(), np.where(x == -np.inf, 0, x * expit(x)), equal_nan=True
        )
    assert pt.relu(pt.lvector()).dtype == "int64" and pt.silu(pt.fvector()).dtype == "float32"


@pytest.mark.parametrize("border", ["valid", "half", "full", (1, 2)])
@pytest.mark.parametrize("step, dilation, groups", [(1, 1, 1), ((2, 1), 1, 2), (1, (2, 1), 1)])
def test_conv2d(border, step, dilation, groups):
    rng = np.random.default_rng(3)
    x, w = rng.normal(size=(2, 4, 7, 8)), rng.normal(size=(6, 4 // groups, 3, 3))
    (sy, sx), (dy, dx) = np.broadcast_to(step, 2), np.broadcast_to(dilation, 2)
    height, width = 2 * dy + 1, 2 * dx + 1
    py, px = {
        "valid": (0, 0),
        "half": (height // 2, width // 2),
        "full": (height - 1, width - 1),
    }.get(border, border)
    padded = np.pad(x, [(0, 0), (0, 0), (py, py), (px, px)])
    rows, columns = (padded.shape[2] - height) // sy + 1, (padded.shape[3] - width) // sx + 1
    expected = np.zeros((2, 6, rows, columns))
    for o in range(6):
        first = o // (6 // groups) * (4 // groups)
        for i in range(rows):
            for j in range(columns):
                part = padded[
                    :,
                    first : first + 4 // groups,
                    i * sy : i * sy + height : dy,
                    j * sx : j * sx + width : dx,
                ]
                expected[:, o, i, j] = (part * w[o, :, ::-1, ::-1]).sum(axis=(1, 2, 3))
    images = pt.dtensor4("images")
    arguments = dict(
        border_mode=border, subsample=step, filter_dilation=dilation, num_groups=groups
    )
    flipped = pt.conv2d(images, w[:, :, ::-1, ::-1].copy(), filter_flip=False, **arguments)
    for result in bt.function([images], [pt.conv2d(images, w, **arguments), flipped])(x):
        assert np.allclose(result, expected)


def test_pool_2d():
    x = np.arange(2 * 5 * 6.0).reshape(2, 5, 6) % 7
    images = pt.dtensor3("images")
    modes = {"max": np.max, "sum": np.sum, "average_inc_pad": np.mean, "average_exc_pad": np.mean}
    outputs = [pt.pool_2d(images, (2, 3), mode=mode) for mode in modes] + [
        pt.pool_2d(images, 2, stride=1, pad=1, mode="average_inc_pad")
    ]
    *results, padded = bt.function([images], outputs)(x)
    for reduce, result in zip(modes.values(), results):
        assert np.allclose(result, reduce(x[:, :4].reshape(2, 2, 2, 2, 3), axis=(2, 4)))
    assert padded.shape == (2, 6, 7) and padded[0, 0, 0] == x[0, 0, 0] / 4
    assert pt.pool_2d(np.array([[-5, -7], [-2, -9]]), 2, pad=1, stride=2).eval().tolist() == [
        [-5, -7],
        [-2, -9],
    ]


def test_shifts():
    values = np.array([-128, -3, 0, 5, 127], "int8")
    n = np.array([-1, 1, 3, 8, 100], "int8")
    x, y = pt.vector("x", dtype="int8"), pt.vector("y", dtype="int8")
    for mode in ("FAST_RUN", "FAST_COMPILE"):
        left, right = bt.function([x, y], [x << y, pt.bitwise_right_shift(x, y)], mode=mode)(
            values, n
        )
        assert (
            left.tolist() == np.left_shift(values, n).tolist()
            and right.tolist() == np.right_shift(values, n).tolist()
        )
    assert (
        (np.int64(1) << pt.as_tensor(np.int64(40))).eval()
        == 2**40
        == pt.left_shift(np.int64(1), 40).eval()
    )
    assert (pt.vector(dtype="bool") << pt.vector(dtype="bool")).dtype == "int8"
    for refused in (
        lambda: pt.dvector() << 1,
        lambda: pt.left_shift(pt.vector(dtype="uint64"), pt.lvector()),
    ):
        with pytest.raises(TypeError):
            refused()


def test_neighbours_and_signs():
    ends = np.array(
        [
            0.0,
            -0.0,
            5e-324,
            1.0,
            -1.0,
            np.inf,
            -np.inf,
            np.nan,
            1.7976931348623157e308,
            -2.2250738585072014e-308,
        ]
    )
    for dtype in FLOATS:
        a, b = (each.ravel() for each in np.meshgrid(ends.astype(dtype), ends.astype(dtype)))
        x, y = pt.vector("x", dtype=dtype), pt.vector("y", dtype=dtype)
        for mode in ("FAST_RUN", "FAST_COMPILE"):
            after, signed, is_negative = bt.function(
                [x, y], [pt.nextafter(x, y), pt.copysign(x, y), pt.signbit(x)], mode=mode
            )(a, b)
            assert np.array_equal(after, np.nextafter(a, b), equal_nan=True) and np.array_equal(
                np.signbit(after), np.signbit(np.nextafter(a, b))
            )
            assert (
                np.array_equal(signed, np.copysign(a, b), equal_nan=True)
                and is_negative.tolist() == np.signbit(a).tolist()
            )
    with pytest.raises(TypeError, match="float16"):
        pt.nextafter(pt.vector(dtype="float16"), pt.vector(dtype="float16"))


def test_sets_of_nan():
    x = np.array([np.nan, 1.0, np.nan])
    v = pt.dvector("v")
    assert (
        pt.isin(v, np.arange(40.0)).eval({v: x}).tolist()
        == [False, True, False]
        == pt.isin(v, v).eval({v: x}).tolist()[:1] + [True, False]
    )
    assert pt.isin(v, v[:0]).eval({v: x}).tolist() == [False] * 3


def test_cumulative():
    x = pt.vector("x", dtype="int8")
    assert pt.cumulative_sum(x).eval({x: np.array([100, 100], "int8")}).tolist() == [100, 200]
    assert pt.cumulative_prod(x, include_initial=True, dtype="float32").eval(
        {x: np.array([2, 3], "int8")}
    ).tolist() == [1, 2, 6]
    m = np.arange(6.0).reshape(2, 3)
    assert np.array_equal(
        pt.cumulative_sum(m, axis=1, include_initial=True).eval(),
        np.cumulative_sum(m, axis=1, include_initial=True),
    )


def test_frequencies():
    for n in (1, 4, 5):
        for name in ("fftfreq", "rfftfreq"):
            assert np.allclose(
                getattr(pt.fft, name)(n, d=0.1).eval(), getattr(np.fft, name)(n, d=0.1), atol=0
            )
    n = pt.lscalar("n")
    assert (
        np.allclose(pt.fft.fftfreq(n).eval({n: 6}), np.fft.fftfreq(6))
        and pt.fft.fftfreq(3, dtype="float32").dtype == "float32"
    )


def test_complex():
    z = np.array([1 + 2j, -0.5j, 3.0, 2 - 1j])
    v = pt.zvector("v")
    pairs = [
        (pt.fft.ifft(v), np.fft.ifft(z)), (pt.fft.irfftn(v), np.fft.irfftn(z)), (pt.fft.hfft(v, n=5), np.fft.hfft(z, n=5)),
        (pt.fft.fft(v.astype("complex64")), np.fft.fft(z.astype("complex64"))), (pt.nansum(v), z.sum()), (pt.nanvar(v), np.var(z)),
        (pt.polyval(v, v), np.polyval(z, z)), (pt.correlate(v, v[:2]), np.correlate(z, z[:2])), (pt.corrcoef(v, v**2), np.corrcoef(z, z**2)),
        (pt.gradient(v), np.gradient(z)), (pt.cross(v[:3], v[1:]), np.cross(z[:3], z[1:])), (pt.isin(v, v[:2]), [True, True, False, False]),
        (pt.float_power(v, 2), z**2), (pt.cov(v, v**2), np.cov(z, z**2)),
    ]  # fmt: skip
    for (_, expected), result in zip(pairs, bt.function([v], [each for each, _ in pairs])(z)):
        assert result.dtype == np.asarray(expected).dtype and np.allclose(
            result, expected, rtol=1e-5 if result.dtype == "complex64" else 1e-12
        )
    cost = bt.grad(pt.abs(pt.fft.fft(v)).sum(), v)
    step = 1e-6
    numeric = [
        (np.abs(np.fft.fft(z + step * e)).sum() - np.abs(np.fft.fft(z - step * e)).sum())
        / (2 * step)
        for e in np.eye(4)
    ]
    assert np.allclose(cost.eval({v: z}).real, numeric, atol=1e-6)


def test_unstack_and_flags():
    x = pt.tensor("x", dtype="float64", shape=(None, 3))
    assert len(pt.unstack(x, axis=1)) == 3
    assert (
        pt.sum(x, axis=0, keepdims=1).ndim == 2
        and x.max(keepdims=np.True_).ndim == 2
        and pt.nansum(x, keepdims=0).ndim == 0
    )
    with pytest.raises(TypeError):
        pt.sum(x, keepdims="yes")
    assert x.round(2).eval({x: [[1.234, 5.678, 0.005]]}).tolist() == [[1.23, 5.68, 0.0]]
    assert (
        round(x, 1).eval({x: [[1.25, 0.35, 2.0]]}).tolist()
        == np.round([[1.25, 0.35, 2.0]], 1).tolist()
    )
    assert pt.round(1e300, 30).eval() == 1e300 and pt.round(
        np.array([15, 25]), -1
    ).eval().tolist() == [20, 20]


x3, v3 = pt.dtensor3(), pt.dvector()


@pytest.mark.parametrize(
    "refused, error, message",
    [
        (lambda: pt.vstack([]), ValueError, "at least one"),
        (lambda: pt.unstack(v3), ValueError, "not known"),
        (lambda: pt.select([v3], [v3]), TypeError, "bool"),
        (lambda: pt.select([v3 > 0], []), ValueError, "as many choices"),
        (lambda: pt.select([], []), ValueError, "at least one"),
        (lambda: pt.piecewise(v3, [v3 > 0], []), ValueError, "1 or 2 pieces"),
        (lambda: pt.polyval(x3, v3), ValueError, "vector of coefficients"),
        (lambda: pt.vander(x3), ValueError, "expected a vector"),
        (lambda: pt.cross(np.ones(4), np.ones(4)), ValueError, "length 3"),
        (lambda: pt.gradient(np.ones(1)), ValueError, "needs at least"),
        (lambda: pt.gradient(x3, 1.0, 2.0), ValueError, "one for each of the 3 axes"),
        (lambda: pt.gradient(v3, edge_order=3), ValueError, "edge_order of 1 or 2"),
        (lambda: pt.gradient(v3, axis=1), np.exceptions.AxisError, "axis"),
        (
            lambda: pt.gradient(np.ones(3)).eval() and pt.gradient(v3).eval({v3: [1.0]}),
            ValueError,
            ".",
        ),
        (lambda: pt.partition(np.ones(3), 3), ValueError, "out of bounds"),
        (lambda: pt.lexsort([]), ValueError, "at least one key"),
        (lambda: pt.histogram(v3, bins=0), ValueError, "at least one bin"),
        (lambda: pt.histogram(v3, bins=[1.0, 0.0]), ValueError, "must increase"),
        (lambda: pt.histogram(v3, bins="auto"), NotImplementedError, "rule"),
        (lambda: pt.histogram(v3, range=(2, 1)), ValueError, "range"),
        (lambda: pt.quantile(v3, 0.5, method="best"), ValueError, "hazen"),
        (lambda: pt.quantile(v3, 1.5), ValueError, r"\[0, 1\]"),
        (lambda: pt.convolve(x3, v3), ValueError, "two vectors"),
        (lambda: pt.convolve(v3, v3, "best"), ValueError, "mode"),
        (lambda: pt.conv2d(x3, x3), ValueError, "4 dimensions"),
        (lambda: pt.conv2d(pt.dtensor4(), pt.dtensor4()), NotImplementedError, "specify_shape"),
        (lambda: pt.conv2d(np.ones((1, 2, 3, 3)), np.ones((1, 1, 2, 2))), ValueError, "channels"),
        (
            lambda: pt.conv2d(np.ones((1, 1, 3, 3)), np.ones((1, 1, 4, 4))),
            ValueError,
            "longer than the image",
        ),
        (lambda: pt.pool_2d(x3, 2, pad=2), ValueError, "fewer elements"),
        (lambda: pt.pool_2d(x3, 2, ignore_border=False), NotImplementedError, "ignore_border"),
        (lambda: pt.pool_2d(x3, 2, mode="min"), ValueError, "average_inc_pad"),
        (lambda: pt.fft.fft(v3, axis=1), np.exceptions.AxisError, "axis"),
        (lambda: pt.fft.fft(v3, norm="best"), ValueError, "forward"),
        (lambda: pt.fft.fft(np.ones(0)), ValueError, "length 0"),
        (lambda: pt.fft.fft(v3, n=0), ValueError, "length 0"),
        (lambda: pt.fft.fftn(x3, s=(2,), axes=(0, 1)), ValueError, "for each of the 2 axes"),
        (lambda: pt.fft.rfftn(pt.zvector()), TypeError, "real numbers"),
        (lambda: pt.fft.ihfft(pt.zvector()), TypeError, "real numbers"),
        (lambda: pt.positive(pt.vector(dtype="bool")), TypeError, "bool"),
        (lambda: pt.cumulative_sum(x3), ValueError, "expected an axis"),
        (lambda: pt.nanargmax(v3).eval({v3: [np.nan, np.nan]}), ValueError, "all elements"),
        (lambda: pt.roll(x3, (1, 2), axis=(0, 1, 2)), ValueError, "a shift for each"),
        (lambda: pt.apply_along_axis(pt.sum, 3, x3), np.exceptions.AxisError, "axis"),
    ],
)
def test_errors(refused, error, message):
    with pytest.raises(error, match=message):
        refused()


def test_the_standards_names_of_functions_that_have_another():
    x, n = pt.dtensor3("x"), pt.lvector("n")
    value, numbers = np.arange(24.0).reshape(2, 3, 4), np.array([0, 5, -7])
    f = bt.function(
        [x, n],
        [
            pt.permute_dims(x, (2, 0, 1)),
            pt.bitwise_invert(n),
            pt.positive(n),
            pt.bitwise_left_shift(n, 2),
        ],
    )
    for got, expected in zip(
        f(value, numbers), (np.transpose(value, (2, 0, 1)), ~numbers, numbers, numbers << 2)
    ):
        np.testing.assert_array_equal(got, expected)


QUANTILE_METHODS = """inverted_cdf averaged_inverted_cdf closest_observation interpolated_inverted_cdf hazen weibull linear
median_unbiased normal_unbiased lower higher midpoint nearest""".split()


@pytest.mark.parametrize("method", QUANTILE_METHODS)
@pytest.mark.parametrize("name", ["quantile", "nanquantile"])
def test_quantiles_at_the_steps_of_their_methods(name, method):
    # The product of a length and a part is rounded before it is compared with whole numbers: 5 * 0.2 is 1.
    x, q = pt.dvector("x"), pt.dvector("q")
    parts = np.arange(101) / 100
    f = bt.function([x, q], getattr(pt, name)(x, q, method=method))
    of_constants = bt.function([x], getattr(pt, name)(x, parts, method=method))
    for n in range(1, 25):
        values = np.arange(float(n))
        expected = getattr(np, name)(values, parts, method=method)
        np.testing.assert_allclose(f(values, parts), expected, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(of_constants(values), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("method", QUANTILE_METHODS)
@pytest.mark.parametrize("name", ["quantile", "nanquantile"])
def test_quantiles_next_to_infinities(name, method):
    """Where NumPy multiplies an infinite difference by 0: as with huge numbers in place of the infinities."""
    x, q = pt.dvector("x"), pt.dvector("q")
    f = bt.function([x, q], getattr(pt, name)(x, q, method=method))
    parts = np.array([0, 0.1, 0.25, 0.3, 0.5, 0.6, 0.75, 0.9, 1])
    rng = np.random.default_rng(0)
    for _ in range(60):
        values = rng.choice([-3.0, 1, 1, 2, 5, np.inf, -np.inf], rng.integers(1, 8))
        huge = np.quantile(np.clip(values, -1e300, 1e300), parts, method=method)
        expected = np.where(np.abs(huge) > 1e280, np.copysign(np.inf, huge), huge)
        got = f(values, parts)
        between_both = np.isnan(got) & np.isin([-np.inf, np.inf], values).all()
        np.testing.assert_allclose(
            got[~between_both], expected[~between_both], rtol=1e-12, atol=1e-12
        )


def test_derivatives_of_quantiles_next_to_infinities():
    x, q = pt.dvector("x"), pt.dvector("q")
    slopes = bt.function([x, q], bt.grad(pt.quantile(x, q).sum(), [x, q]))
    by_x, by_q = slopes([1, 2, np.inf], [0, 0.25, 0.5, 1])
    assert by_x.tolist() == [1.5, 1.5, 1] and by_q.tolist() == [2, 2, 0, 0]
    by_x, by_q = slopes([1, 2, 4], [0, 0.25, 0.5, 1])
    assert by_x.tolist() == [1.5, 1.5, 1] and by_q.tolist() == [2, 2, 4, 0]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_logaddexp2_of_equal_numbers_is_exact(dtype, mode):
    """2^x + 2^x is 2^(x+1); near it and far from it, the sum is right to a few units in the last place."""
    x, y = pt.vector("x", dtype=dtype), pt.vector("y", dtype=dtype)
    f = bt.function([x, y], pt.logaddexp2(x, y), mode=mode)
    values = np.concatenate(
        [np.linspace(-3, 3, 97), [-1, 0, -1000, 1e30, np.inf, -np.inf, np.nan]]
    ).astype(dtype)
    np.testing.assert_array_equal(f(values, values), values + np.ones((), dtype))
    eps = np.finfo(dtype).eps
    assert f(np.array([-1], dtype), np.array([-1 + 2 * eps], dtype))[0] == pytest.approx(
        eps, rel=0.2
    )
    far = np.array([-20, -60, -100], dtype)
    np.testing.assert_allclose(
        f(np.zeros(3, dtype), far),
        np.log1p(np.exp2(far.astype("float64"))) * np.log2(np.e),
        rtol=8 * eps,
    )
    u = pt.scalar("u", dtype="float64")
    slope = bt.function([u], bt.grad(pt.logaddexp2(u, 0.25), u), mode=mode)
    for at in (-3.0, -0.5, 0.2, 0.3, 1.0, 1.4, 9.0):
        assert slope(at) == pytest.approx(1 / (1 + 2 ** (0.25 - at)), rel=1e-14)


def test_broadcast_arrays_checks_lengths_that_a_call_finds():
    A, B = pt.dmatrices("A", "B")
    f = bt.function([A, B], pt.broadcast_arrays(A, B))
    assert [x.shape for x in f(np.ones((2, 3)), np.zeros((2, 3)))] == [(2, 3), (2, 3)]
    for shapes in ((1, 3), (2, 1)), ((2, 3), (1, 3)), ((2, 3), (4, 5)):
        with pytest.raises(bt.ShapeError, match="length"):
            f(*map(np.ones, shapes))
    row, column = pt.drow("row"), pt.dcol("column")
    wide = bt.function([row, column, A], pt.broadcast_arrays(row, column, A, 2.0))
    given = wide(np.ones((1, 3)), np.ones((2, 1)), np.ones((2, 3)))
    assert [x.shape for x in given] == [(2, 3)] * 4
    with pytest.raises(bt.ShapeError, match="length"):
        wide(np.ones((1, 3)), np.ones((2, 1)), np.ones((2, 4)))

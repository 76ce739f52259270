"""bitale.array_api: the names of the standard, its rules of dtypes, its special cases, and code that is written for it, on arrays and
on symbolic variables. NumPy is the reference where it follows the standard."""

import importlib.util
import inspect
import math

import numpy as np
import pytest

import bitale as bt
import bitale.array_api as xp
import bitale.tensor as pt

NAMES = """__array_namespace_info__ __array_api_version__ e inf nan newaxis pi asarray arange empty empty_like eye from_dlpack full full_like linspace
meshgrid ones ones_like tril triu zeros zeros_like astype broadcast_arrays broadcast_shapes broadcast_to can_cast finfo isdtype iinfo
result_type int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128 bool abs acos acosh add asin asinh atan
atan2 atanh bitwise_and bitwise_left_shift bitwise_invert bitwise_or bitwise_right_shift bitwise_xor ceil clip conj copysign cos cosh divide
equal exp expm1 floor floor_divide greater greater_equal hypot imag isfinite isinf isnan less less_equal log log1p log2 log10 logaddexp
logical_and logical_not logical_or logical_xor maximum minimum multiply negative nextafter not_equal positive pow real reciprocal remainder
round sign signbit sin sinh square sqrt subtract tan tanh trunc take take_along_axis matmul tensordot matrix_transpose vecdot concat expand_dims
flip moveaxis permute_dims repeat reshape roll squeeze stack tile unstack argmax argmin nonzero count_nonzero searchsorted where unique_all
unique_counts unique_inverse unique_values isin argsort sort cumulative_sum cumulative_prod max mean min prod std sum var all any diff""".split()
LINALG = """cholesky cross det diagonal eig eigh eigvals eigvalsh inv matmul matrix_norm matrix_power matrix_rank matrix_transpose outer pinv qr slogdet
solve svd svdvals tensordot trace vecdot vector_norm""".split()
FFT = "fft ifft fftn ifftn rfft irfft rfftn irfftn hfft ihfft fftfreq rfftfreq fftshift ifftshift".split()


def test_every_name_is_there():
    assert [name for name in NAMES if not hasattr(xp, name)] == []
    assert (
        [name for name in LINALG if not hasattr(xp.linalg, name)]
        == []
        == [name for name in FFT if not hasattr(xp.fft, name)]
    )
    assert pt.dvector().__array_namespace__() is pt and xp.asarray(1).__array_namespace__() is xp
    of_tensors = set(NAMES) - {
        "__array_api_version__",
        "asarray",
        *(n for n in NAMES if n.endswith(("8", "16", "32", "64", "128")) or n == "bool"),
    }
    assert [name for name in sorted(of_tensors) if not hasattr(pt, name)] == []


def test_functions_have_documentation():
    for module, names in ((xp, NAMES), (xp.linalg, LINALG), (xp.fft, FFT)):
        assert [
            name
            for name in names
            if inspect.isfunction(getattr(module, name)) and not getattr(module, name).__doc__
        ] == []


# ---- dtypes ----------------------------------------------------------------------------------------------------------

INTEGERS = [xp.int8, xp.int16, xp.int32, xp.int64, xp.uint8, xp.uint16, xp.uint32, xp.uint64]
FLOATS = [xp.float32, xp.float64]


def test_python_numbers_take_the_dtype_of_the_array():
    for dtype in INTEGERS:
        x = xp.asarray([1, 2], dtype=dtype)
        assert {
            (x + 1).dtype,
            (2 * x).dtype,
            (x & 1).dtype,
            (x << 1).dtype,
            xp.ceil(x).dtype,
            xp.round(x).dtype,
        } == {dtype}
        assert xp.sum(x).dtype == (xp.uint64 if dtype.kind == "u" else xp.int64)
        with pytest.raises(TypeError):
            x + 0.5
        with pytest.raises(OverflowError):
            x + 2**64
    for dtype in FLOATS:
        x = xp.asarray([1.0, 2.0], dtype=dtype)
        assert {
            (x + 1).dtype,
            (x * 0.1).dtype,
            (x**2).dtype,
            xp.mean(x).dtype,
            xp.sum(x).dtype,
            xp.exp(x).dtype,
        } == {dtype}
    assert (
        xp.full((2,), 5).dtype == xp.int64
        and xp.full((2,), 5.0).dtype == xp.float64
        and xp.full((), True).dtype == xp.bool
    )
    assert (
        xp.asarray([1, 2]).dtype == xp.int64
        and xp.ones(3).dtype == xp.float64
        and xp.arange(3).dtype == xp.int64
    )


def test_promotion():
    assert (
        xp.result_type(xp.uint8, xp.int8) == xp.int16
        and xp.result_type(xp.float32, xp.float64, 1.0) == xp.float64
    )
    assert (
        xp.result_type(xp.float64, xp.complex64) == xp.complex128
        and (xp.ones(2, dtype=xp.float32) * 1j).dtype == xp.complex64
    )
    assert (
        xp.can_cast(xp.int8, xp.int16)
        and not xp.can_cast(xp.int16, xp.int8)
        and not xp.can_cast(xp.int8, xp.float64)
    )
    for mixed in ((xp.int64, xp.float32), (xp.bool, xp.int8), (xp.uint64, xp.int64)):
        with pytest.raises(TypeError):
            xp.result_type(*mixed)
        with pytest.raises(TypeError):
            xp.add(*(xp.ones(2, dtype=each) for each in mixed))
    assert (
        xp.isdtype(xp.int8, "integral")
        and xp.isdtype(xp.float32, ("bool", "real floating"))
        and not xp.isdtype(xp.float32, xp.float64)
    )
    assert xp.finfo(xp.float32).bits == 32 and xp.iinfo(xp.uint8).max == 255
    with pytest.raises(ValueError, match="kind"):
        xp.isdtype(xp.int8, "number")


# ---- special cases ---------------------------------------------------------------------------------------------------

ENDS = [0.0, -0.0, 0.5, 1.0, -1.0, 2.0, -2.5, math.inf, -math.inf, math.nan]
SAME = {
    "acos": "arccos",
    "acosh": "arccosh",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "atan": "arctan",
    "atanh": "arctanh",
    "atan2": "arctan2",
}


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_ends_of_real_functions(dtype):
    x = np.array(ENDS, dtype)
    a, b = (each.ravel() for each in np.meshgrid(x, x))
    failures = []
    with np.errstate(all="ignore"):
        for name in """abs acos acosh asin asinh atan atanh ceil cos cosh exp expm1 floor isfinite isinf isnan log log1p log2 log10 negative
                       reciprocal round sign signbit sin sinh sqrt square tan tanh trunc""".split():
            check(
                failures,
                name,
                getattr(xp, name)(xp.asarray(x)),
                getattr(np, SAME.get(name, name))(x),
            )
        for name in """add atan2 copysign divide equal greater greater_equal hypot less less_equal logaddexp maximum minimum multiply nextafter not_equal
                       remainder subtract pow""".split():
            check(
                failures,
                name,
                getattr(xp, name)(xp.asarray(a), xp.asarray(b)),
                getattr(np, SAME.get(name, name))(a, b),
            )
    assert not failures, "\n".join(failures[:40])


def check(failures, name, result, expected):
    found = np.asarray(result)
    tolerance = 1e-5 if found.dtype == np.float32 else 1e-13
    if found.dtype != expected.dtype or found.shape != expected.shape:
        failures.append(
            f"{name}: {found.dtype}{found.shape}, expected {expected.dtype}{expected.shape}"
        )
        return
    near = np.isclose(found, expected, rtol=tolerance, atol=0, equal_nan=True)
    if found.dtype.kind == "f" and name not in ("maximum", "minimum"):  # of two zeros either
        near &= (np.signbit(found) == np.signbit(expected)) | np.isnan(expected)
    for i in np.flatnonzero(~near):
        failures.append(f"{name}, element {i}: {found.flat[i]}, expected {expected.flat[i]}")


# ---- functions against NumPy -----------------------------------------------------------------------------------------

m = np.array([[3.0, 1.0, 2.0], [0.5, -1.0, 4.0]])
i = np.array([[3, 1, 2], [0, -1, 4]])
square = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 2.0]])
CASES = {
    "sort": (lambda x: x.sort(x_(x, m), axis=0), lambda: np.sort(m, 0)),
    "sort, descending": (lambda x: x.sort(x_(x, m), descending=True), lambda: np.sort(m)[:, ::-1]),
    "argsort, descending": (
        lambda x: x.argsort(x_(x, np.array([1, 3, 1, 3])), descending=True),
        lambda: np.array([1, 3, 0, 2]),
    ),
    "cumulative_sum": (
        lambda x: x.cumulative_sum(x_(x, i), axis=1, include_initial=True),
        lambda: np.cumulative_sum(i, axis=1, include_initial=True),
    ),
    "cumulative_prod": (lambda x: x.cumulative_prod(x_(x, m), axis=0), lambda: np.cumprod(m, 0)),
    "var": (
        lambda x: x.var(x_(x, m), axis=1, correction=1.5),
        lambda: ((m - m.mean(1, keepdims=True)) ** 2).sum(1) / 1.5,
    ),
    "std": (lambda x: x.std(x_(x, m), correction=1), lambda: np.std(m, ddof=1)),
    "clip below": (lambda x: x.clip(x_(x, i), min=1), lambda: np.clip(i, 1, None)),
    "clip above": (lambda x: x.clip(x_(x, m), max=1.5), lambda: np.clip(m, None, 1.5)),
    "roll": (lambda x: x.roll(x_(x, m), (1, -1), axis=(0, 1)), lambda: np.roll(m, (1, -1), (0, 1))),
    "diff": (
        lambda x: x.diff(x_(x, m), axis=0, prepend=x_(x, m[:1]), append=x_(x, m[:1])),
        lambda: np.diff(m, axis=0, prepend=m[:1], append=m[:1]),
    ),
    "pinv": (lambda x: x.linalg.pinv(x_(x, m), rtol=1e-3), lambda: np.linalg.pinv(m, rtol=1e-3)),
    "trace": (
        lambda x: x.linalg.trace(x_(x, i), dtype=xp.float64),
        lambda: np.trace(i, dtype="float64"),
    ),
    "matrix_rank": (lambda x: x.linalg.matrix_rank(x_(x, np.ones((3, 3)))), lambda: np.array(1)),
    "rfft": (
        lambda x: x.fft.rfft(x_(x, m), n=4, norm="forward"),
        lambda: np.fft.rfft(m, n=4, norm="forward"),
    ),
    "irfft": (lambda x: x.fft.irfft(x_(x, m), n=5, axis=0), lambda: np.fft.irfft(m, n=5, axis=0)),
    "unique_values": (
        lambda x: x.unique_values(x_(x, np.array([2 + 1j, 1 + 0j, 2 + 1j, 2 - 1j]))),
        lambda: np.array([1 + 0j, 2 - 1j, 2 + 1j]),
    ),
    "isin": (lambda x: x.isin(x_(x, i), x_(x, i[0])), lambda: np.isin(i, i[0])),
    "searchsorted": (
        lambda x: x.searchsorted(x_(x, np.array([1.0, 2.0])), x_(x, m)),
        lambda: np.searchsorted([1.0, 2.0], m),
    ),
    "where": (lambda x: x.where(x_(x, m > 1), x_(x, m), 0.0), lambda: np.where(m > 1, m, 0.0)),
    "eye": (lambda x: x.eye(2, 3, k=2**31), lambda: np.zeros((2, 3))),
    "linspace": (lambda x: x.linspace(0.0, 1.0, 7), lambda: np.linspace(0, 1, 7)),
    "vector_norm": (
        lambda x: x.linalg.vector_norm(x_(x, m), axis=1, ord=3),
        lambda: np.linalg.norm(m, 3, axis=1),
    ),
    "matrix_norm": (
        lambda x: x.linalg.matrix_norm(x_(x, m), ord="nuc"),
        lambda: np.linalg.norm(m, "nuc"),
    ),
    "cholesky": (
        lambda x: x.linalg.cholesky(x_(x, square), upper=True),
        lambda: np.linalg.cholesky(square).T,
    ),
    "solve": (
        lambda x: x.linalg.solve(x_(x, square), x_(x, square[0])),
        lambda: np.linalg.solve(square, square[0]),
    ),
    "eigvalsh": (lambda x: x.linalg.eigvalsh(x_(x, square)), lambda: np.linalg.eigvalsh(square)),
    "svdvals": (lambda x: x.linalg.svdvals(x_(x, m)), lambda: np.linalg.svd(m, compute_uv=False)),
    "cross": (lambda x: x.linalg.cross(x_(x, m), x_(x, m[::-1])), lambda: np.cross(m, m[::-1])),
    "tril": (
        lambda x: x.tril(x_(x, np.stack([m, m])), k=-1),
        lambda: np.tril(np.stack([m, m]), -1),
    ),
    "concat": (
        lambda x: x.concat([x_(x, m), x_(x, m)], axis=None),
        lambda: np.concatenate([m, m], None),
    ),
    "reshape": (lambda x: x.reshape(x_(x, m), (-1,)), lambda: m.reshape(-1)),
    "tile": (lambda x: x.tile(x_(x, m), (2, 1, 2)), lambda: np.tile(m, (2, 1, 2))),
    "take": (lambda x: x.take(x_(x, m), x_(x, np.array([2, 0])), axis=1), lambda: m[:, [2, 0]]),
    "broadcast_to": (
        lambda x: x.broadcast_to(x_(x, m), (2, 2, 3)),
        lambda: np.broadcast_to(m, (2, 2, 3)),
    ),
    "count_nonzero": (lambda x: x.count_nonzero(x_(x, i), axis=0), lambda: np.count_nonzero(i, 0)),
}


def x_(namespace, value):
    """A value of the namespace: an Array, or a symbolic variable that has it."""
    return namespace.asarray(value)


class Symbolic:
    """The namespace with symbolic arrays, which are compiled in the end."""

    linalg, fft = xp.linalg, xp.fft

    def __getattr__(self, name):
        return getattr(xp, name)

    def asarray(self, value):
        return (
            pt.constant(value) + pt.constant(np.zeros((), value.dtype))
            if value.dtype.kind != "b"
            else pt.constant(value)
        )


@pytest.mark.parametrize("namespace", [xp, Symbolic()], ids=["arrays", "variables"])
def test_functions(namespace):
    failures = []
    for name, (ours, theirs) in CASES.items():
        try:
            result = ours(namespace)
            found = np.asarray(
                result.eval() if isinstance(result, bt.graph.basic.Variable) else result
            )
        except Exception as error:
            failures.append(f"{name}: {error!r}")
            continue
        expected = np.asarray(theirs())
        if (
            found.dtype != expected.dtype
            or found.shape != expected.shape
            or not np.allclose(found, expected, rtol=1e-12)
        ):
            failures.append(f"{name}: {found!r}, expected {expected!r}")
    assert not failures, "\n".join(failures)


def test_results_of_several_arrays():
    x = xp.asarray([3.0, 1.0, 3.0, math.nan, math.nan])
    found = xp.unique_all(x)
    assert found.counts.shape == (4,) and np.asarray(found.values)[:2].tolist() == [
        1,
        3,
    ]  # each nan is distinct
    assert np.array_equal(
        np.asarray(xp.take(found.values, found.inverse_indices)), np.asarray(x), equal_nan=True
    )
    assert (
        np.asarray(xp.unique_counts(x).counts).tolist() == [1, 2, 1, 1]
        and len(xp.unique_inverse(x)) == 2
    )
    q, r = xp.linalg.qr(xp.asarray(m))
    assert np.allclose(np.asarray(q @ r), m) and xp.linalg.svd(xp.asarray(m)).U.shape == (2, 2)
    sign, logarithm = xp.linalg.slogdet(xp.asarray(square))
    assert float(sign) == 1 and float(xp.exp(logarithm)) == pytest.approx(np.linalg.det(square))
    assert [each.shape for each in xp.unstack(xp.asarray(m), axis=1)] == [(2,)] * 3 and len(
        xp.nonzero(xp.asarray(i))
    ) == 2
    assert [each.shape for each in xp.meshgrid(xp.arange(2), xp.arange(3))] == [(3, 2)] * 2


# ---- arrays ----------------------------------------------------------------------------------------------------------


def test_arrays():
    x = xp.asarray(m)
    assert (x.shape, x.ndim, x.size, x.dtype, x.device) == (
        (2, 3),
        2,
        6,
        xp.float64,
        "cpu",
    ) and x.mT.shape == x.T.shape == (3, 2)
    assert (
        float(x[0, 0]) == 3
        and int(xp.asarray(2)) == 2
        and complex(xp.asarray(1j)) == 1j
        and bool(x[0, 0] > 2)
        and [*range(3)][xp.asarray(1)] == 1
    )
    assert (
        np.asarray(x[:, xp.asarray([0, 2])]).tolist() == m[:, [0, 2]].tolist()
        and np.asarray(x[x > 1]).tolist() == m[m > 1].tolist()
    )
    assert np.asarray(x[xp.asarray(False)]).shape == (0, 2, 3) and x[None, ..., 0].shape == (1, 2)
    y = xp.asarray(x, copy=True)
    y[0, 0] = 7.0
    y += 1
    assert float(y[0, 0]) == 8 and float(x[0, 0]) == 3 and np.from_dlpack(x).tolist() == m.tolist()
    assert (
        np.asarray(xp.from_dlpack(m)).tolist() == m.tolist()
        and repr(xp.asarray([1, 2])) == "Array([1, 2], dtype=int64)"
    )
    for refused, error in (
        (lambda: bool(x), TypeError), (lambda: float(xp.asarray(1j)), TypeError), (lambda: xp.asarray([1.0]).__index__(), TypeError),
        (lambda: hash(x), TypeError), (lambda: xp.Array(1), TypeError), (lambda: xp.asarray([1, "a"]), (TypeError, ValueError)),
        (lambda: xp.asarray(2**70), OverflowError), (lambda: x.to_device("gpu"), ValueError), (lambda: xp.zeros(2, device="gpu"), ValueError),
        (lambda: x.__array_namespace__(api_version="1999.12"), ValueError), (lambda: xp.astype(xp.asarray(1j), xp.float64), TypeError),
        (lambda: xp.where(x, x, x), TypeError), (lambda: xp.squeeze(x, axis=0), ValueError), (lambda: xp.linalg.inv(x), (np.linalg.LinAlgError, ValueError)),
        (lambda: xp.sort(xp.asarray([1j])), TypeError), (lambda: xp.sqrt(2.0), TypeError), (lambda: xp.nonzero(xp.asarray(1)), ValueError),
        (lambda: xp.broadcast_shapes((2,), (3,)), ValueError), (lambda: xp.fft.rfft(xp.asarray([1j])), TypeError),
        (lambda: xp.cumulative_sum(x), ValueError), (lambda: xp.take(x, xp.asarray([0])), ValueError), (lambda: xp.asarray(True) + 1, TypeError),
    ):  # fmt: skip
        with pytest.raises(error):
            refused()


def test_operations_are_compiled_once():
    from bitale.array_api._eager import _compiled

    x = xp.asarray(np.arange(5.0))
    xp.exp(x)
    before = len(_compiled)
    for n in (3, 4, 6):
        xp.exp(xp.asarray(np.arange(float(n))))
    assert len(_compiled) == before


def standardized(x):
    """As library code: whatever array it is given."""
    namespace = x.__array_namespace__() if hasattr(x, "__array_namespace__") else np
    return (x - namespace.mean(x, axis=0, keepdims=True)) / namespace.std(x, axis=0, keepdims=True)


def test_code_for_the_standard():
    x = pt.dmatrix("x")
    y = standardized(x)
    assert np.allclose(y.eval({x: m}), standardized(m)) and np.allclose(
        np.asarray(standardized(xp.asarray(m))), standardized(m)
    )
    slope = bt.grad((y**3).sum(), x)
    assert slope.eval({x: m}).shape == m.shape


@pytest.mark.skipif(
    importlib.util.find_spec("array_api_compat") is None, reason="SciPy's own copy is private"
)
def test_the_compatibility_layer_knows_it():
    import array_api_compat

    assert array_api_compat.array_namespace(xp.asarray(1.0)) is xp


@pytest.mark.parametrize(
    "name, arguments", [("stats.zmap", 2), ("special.logsumexp", 1), ("stats.gmean", 1)]
)
def test_functions_of_scipy(name, arguments, monkeypatch):
    """SciPy's functions that take the standard's arrays, in a process with SCIPY_ARRAY_API=1."""
    import subprocess
    import sys

    module, function = name.split(".")
    code = (
        f"import numpy as np, bitale.array_api as xp, scipy.{module} as module\n"
        f"given = [np.array([[1.0, 2.0, 4.0], [3.0, 7.0, 5.0]])] * {arguments}\n"
        f"found, expected = module.{function}(*map(xp.asarray, given)), module.{function}(*given)\n"
        "assert isinstance(found, xp.Array) and np.allclose(np.asarray(found), expected), found\n"
    )
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr[-2000:]

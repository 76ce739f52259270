"""Code that is written for the array-API standard, on symbolic variables: bitale.tensor is their namespace, and has the standard's names and
the arguments that it gives by name. NumPy is the reference for values."""

import inspect

import numpy as np
import pytest

import bitale as bt
import bitale.array_api as xp
import bitale.tensor as pt

# PyTensor's functions of these names have another meaning: pairs of real numbers stand for complex ones.
PYTENSORS = {"fft.rfft", "fft.irfft"}
MODULES = {"": (xp, pt), "linalg.": (xp.linalg, pt.linalg), "fft.": (xp.fft, pt.fft)}


def functions():
    for prefix, (standard, module) in MODULES.items():
        for name in getattr(standard, "__all__", dir(standard)):
            if inspect.isfunction(getattr(standard, name)) and (
                name[0] != "_" or name == "__array_namespace_info__"
            ):
                yield prefix + name, getattr(standard, name), module, name


def test_every_function_is_there_with_its_named_arguments():
    assert len(list(functions())) > 170
    assert [full for full, _, module, name in functions() if not hasattr(module, name)] == []
    lacking = {}
    for full, standard, module, name in functions():
        named = {
            each.name
            for each in inspect.signature(standard).parameters.values()
            if each.kind == each.KEYWORD_ONLY
        }
        absent = named - set(inspect.signature(getattr(module, name)).parameters)
        if absent and full not in PYTENSORS:
            lacking[full] = absent
    assert lacking == {}


def test_dtypes_and_constants_are_there():
    assert (
        pt.float64 == np.dtype("float64")
        and pt.bool == np.dtype("bool")
        and pt.complex64 == np.dtype("complex64")
    )
    assert pt.__array_api_version__ == "2025.12" and pt.zeros(2, dtype=pt.uint8).dtype == "uint8"
    with pytest.raises(AttributeError):
        pt.float128


m = np.array([[3.0, 1.0, 2.0], [0.5, -1.0, 4.0]])
i = np.array([[3, 1, 2], [0, -1, 4]])
square = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 2.0]])
deficient = np.stack(
    [
        np.outer([1.0, 2.0, 3.0], [1.0, 1.0, 2.0]),
        np.eye(3),
        np.zeros((3, 3)),
        np.diag([1.0, 1e-3, 1e-9]),
    ]
)
z = m + 1j * m[::-1]
VALUES = [
    (lambda x: x.sort(m, axis=0, descending=True), np.sort(m, 0)[::-1]),
    (lambda x: x.asarray(m).sort(descending=True), np.sort(m)[:, ::-1]),
    (lambda x: x.argsort(np.array([1, 3, 1, 3]), descending=True), np.array([1, 3, 0, 2])),
    (lambda x: x.sort(np.array([1.0, np.nan, 2.0]), descending=True), np.array([np.nan, 2.0, 1.0])),
    (
        lambda x: x.diff(m, axis=0, prepend=m[:1], append=m[1:]),
        np.diff(m, axis=0, prepend=m[:1], append=m[1:]),
    ),
    (lambda x: x.diff(m, n=2, prepend=0.0), np.diff(m, n=2, prepend=0.0)),
    (
        lambda x: x.var(m, axis=1, correction=0.5),
        ((m - m.mean(1, keepdims=True)) ** 2).sum(1) / 2.5,
    ),
    (lambda x: x.std(m, correction=1.5), np.sqrt(((m - m.mean()) ** 2).sum() / 4.5)),
    (lambda x: x.var(m, ddof=1), np.var(m, ddof=1)),
    (lambda x: x.clip(m, min=1.5), np.clip(m, 1.5, None)),
    (lambda x: x.clip(m, max=1.5), np.clip(m, None, 1.5)),
    (lambda x: x.clip(m), m),
    (lambda x: x.clip(i, 1, 2), np.clip(i, 1, 2)),
    (lambda x: x.asarray(m).clip(None, 1.5), np.clip(m, None, 1.5)),
    (lambda x: x.trace(i, offset=1, dtype="float64"), np.trace(i, 1, dtype="float64")),
    (lambda x: x.vecdot(m, m[::-1], axis=0), (m * m[::-1]).sum(0)),
    (lambda x: x.reshape(m, (3, 2), copy=True), m.reshape(3, 2)),
    (lambda x: x.zeros((2,), dtype=x.float32, device="cpu"), np.zeros(2, "float32")),
    (lambda x: x.full((2,), 7, dtype=x.int16, device=None), np.full(2, 7, "int16")),
    (lambda x: x.linspace(0.0, 1.0, 4, device="cpu"), np.linspace(0, 1, 4)),
    (lambda x: x.from_dlpack(m), m),
    (
        lambda x: x.asarray([[1, 2], [3, 4]], dtype=x.float32, copy=True),
        np.array([[1, 2], [3, 4]], "float32"),
    ),
    (lambda x: x.asarray(m).to_device("cpu"), m),
    (lambda x: x.linalg.cholesky(square, upper=True), np.linalg.cholesky(square).T),
    (lambda x: x.linalg.pinv(deficient, rtol=1e-6), np.linalg.pinv(deficient, rtol=1e-6)),
    (
        lambda x: x.linalg.pinv(deficient, rtol=np.array([1e-6, 0.1, 0.1, 1e-2])),
        np.stack(
            [np.linalg.pinv(each, rtol=r) for each, r in zip(deficient, [1e-6, 0.1, 0.1, 1e-2])]
        ),
    ),
    (lambda x: x.linalg.pinv(z, rtol=1e-10), np.linalg.pinv(z, rtol=1e-10)),
    (lambda x: x.linalg.matrix_rank(deficient), np.array([1, 3, 0, 3])),
    (lambda x: x.linalg.matrix_rank(deficient, rtol=1e-2), np.array([1, 3, 0, 1])),
    (
        lambda x: x.linalg.matrix_rank(deficient, rtol=np.array([2.0, 2.0, 0.1, 1e-6])),
        np.array([0, 0, 0, 2]),
    ),
    (lambda x: x.linalg.matrix_rank(deficient, tol=1e-6), np.array([1, 3, 0, 2])),
    (lambda x: x.linalg.matrix_rank(z), np.array(2)),
    (lambda x: x.linalg.matrix_rank(m.astype("float32")), np.array(2)),
    (lambda x: x.linalg.matrix_rank(i), np.array(2)),
    (lambda x: x.linalg.matrix_rank(np.zeros((0, 3))), np.array(0)),
    (lambda x: x.linalg.matrix_rank(np.array([0.0, 2.0])), np.array(1)),
    (lambda x: x.linalg.matrix_norm(deficient), np.linalg.matrix_norm(deficient)),
    (
        lambda x: x.linalg.matrix_norm(square, ord="nuc", keepdims=True),
        np.linalg.matrix_norm(square, ord="nuc", keepdims=True),
    ),
    (lambda x: x.linalg.vector_norm(m), np.linalg.vector_norm(m)),
    (
        lambda x: x.linalg.vector_norm(deficient, axis=(0, 2), keepdims=True),
        np.linalg.vector_norm(deficient, axis=(0, 2), keepdims=True),
    ),
    (lambda x: x.linalg.vector_norm(m, axis=1, ord=3.5), np.linalg.vector_norm(m, axis=1, ord=3.5)),
    (
        lambda x: x.linalg.vector_norm(deficient, axis=(1, 2), ord=0),
        np.linalg.vector_norm(deficient, axis=(1, 2), ord=0),
    ),
    (lambda x: x.linalg.vector_norm(m, ord=-np.inf), np.linalg.vector_norm(m, ord=-np.inf)),
    (lambda x: x.linalg.vector_norm(z), np.linalg.vector_norm(z)),
    (lambda x: x.linalg.svdvals(m), np.linalg.svdvals(m)),
    (lambda x: x.linalg.matrix_transpose(deficient), deficient.swapaxes(1, 2)),
    (lambda x: x.linalg.outer([1.0, 2.0], [3.0, 4.0]), np.outer([1.0, 2.0], [3.0, 4.0])),
    (
        lambda x: x.linalg.cross([1.0, 2.0, 3.0], [0.0, 1.0, 0.0]),
        np.cross([1.0, 2.0, 3.0], [0.0, 1.0, 0.0]),
    ),
    (lambda x: x.eye(2, 3, k=2**31), np.zeros((2, 3))),
    (lambda x: x.eye(3, k=x.asarray(-1)), np.eye(3, k=-1)),
    (lambda x: x.tri(2, 3, k=2**40), np.ones((2, 3))),
    (lambda x: x.tril(m, 2**40), m),
    (lambda x: x.triu(m, -(2**40)), m),
    (lambda x: x.triu(m, 2**70), np.zeros((2, 3))),
    (lambda x: x.trace(m, offset=-(2**40)), np.array(0.0)),
    (lambda x: x.diag(m, 2**40), np.zeros(0)),
    (lambda x: x.diagonal(m, 2**31), np.zeros(0)),
    (lambda x: x.cov(m, dtype="float32"), np.cov(m, dtype="float32")),
    (lambda x: x.corrcoef(m, dtype="float32"), np.corrcoef(m, dtype="float32")),
]


@pytest.mark.parametrize("number", range(len(VALUES)))
def test_arguments_of_the_standard_and_numpy(number):
    build, expected = VALUES[number]
    found = build(pt.dvector().__array_namespace__())
    assert isinstance(found, bt.graph.basic.Variable)
    value = found.eval()
    assert value.dtype == np.asarray(expected).dtype and value.shape == np.shape(expected)
    np.testing.assert_allclose(
        value,
        expected,
        rtol=1e-5 if value.dtype == "float32" else 1e-12,
        atol=1e-6 if value.dtype == "float32" else 1e-14,
    )


def test_derivatives_of_new_arguments():
    x = pt.dmatrix("x")
    w = np.arange(1.0, 7.0).reshape(2, 3)
    for build, given in (
        (lambda v: (pt.sort(v, descending=True) * w).sum(), m),
        (lambda v: pt.var(v, axis=1, correction=0.5).sum(), m),
        (lambda v: (pt.diff(v, prepend=v[:, :1] * 2, append=1.0) ** 2).sum(), m),
        (lambda v: pt.clip(v, min=0.7).sum(), m),
        (lambda v: pt.linalg.vector_norm(v, ord=3), m),
        (lambda v: (pt.linalg.pinv(v, rtol=1e-9) * w.T).sum(), m),
    ):
        gradient, value = bt.function([x], bt.grad(build(x), x)), bt.function([x], build(x))
        found, step = gradient(given), 1e-6
        for at in np.ndindex(given.shape):
            shift = np.zeros(given.shape)
            shift[at] = step
            np.testing.assert_allclose(
                found[at],
                (value(given + shift) - value(given - shift)) / (2 * step),
                rtol=1e-5,
                atol=1e-6,
            )


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: pt.zeros(2, device="gpu"), ValueError, "zeros: expected the device"),
        (lambda: pt.arange(3, device="cuda:0"), ValueError, "arange: expected the device"),
        (lambda: pt.asarray([1.0], device=1), ValueError, "expected the device"),
        (lambda: pt.from_dlpack(m, device="gpu"), ValueError, "expected the device"),
        (lambda: pt.dvector().to_device("gpu"), ValueError, "expected the device"),
        (
            lambda: pt.linalg.matrix_rank(m, tol=1.0, rtol=1.0),
            ValueError,
            "matrix_rank: tol and rtol",
        ),
        (lambda: pt.linalg.matrix_norm(m[0]), ValueError, "matrix_norm"),
        (lambda: pt.eye(3, k=1.5), TypeError, "eye: expected an integer as k"),
        (lambda: pt.eye(3, k=pt.dscalar()), TypeError, "eye: expected an integer scalar as k"),
        (lambda: pt.vecdot(m, m, axis=2), ValueError, "axis"),
        (lambda: pt.fmod(1j, 2.0), TypeError, "fmod: not defined for complex"),
        (
            lambda: pt.convolve([], [1.0]),
            ValueError,
            "convolve: expected at least one element as a",
        ),
        (
            lambda: pt.correlate([1.0], []),
            ValueError,
            "correlate: expected at least one element as v",
        ),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_code_for_the_standard_is_compiled():
    def standardized(x):
        xp = x.__array_namespace__(api_version="2025.12")
        ones = xp.ones(x.shape[:1], dtype=x.dtype, device=x.device)
        centred = x - xp.mean(x, axis=0)
        order = xp.argsort(xp.linalg.vector_norm(centred, axis=1), descending=True)
        return xp.take(centred / xp.std(x, axis=0, correction=1), order, axis=0) * xp.expand_dims(
            ones, axis=1
        )

    x = pt.dmatrix("x")
    found = bt.function([x], standardized(x))(square)
    centred = square - square.mean(0)
    np.testing.assert_allclose(
        found, (centred / square.std(0, ddof=1))[np.argsort(-np.linalg.norm(centred, axis=1))]
    )
    np.testing.assert_allclose(np.asarray(standardized(xp.asarray(square))), found)

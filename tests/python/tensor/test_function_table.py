"""Comparisons with NumPy for the functions of bitale.tensor that no other test of the language covers: one row per
function, with the interpreter and native code; values, dtypes, shapes, errors."""

import ast
import inspect
import pathlib
import re
import sys

import numpy as np
import pytest
import scipy.special

import bitale as bt
import bitale.tensor as pt
from bitale.graph.type import Type

root = pathlib.Path(__file__).parents[3]
sys.path[:0] = [str(root / "tests")]

from api import known  # noqa: E402

A = np.arange(12.0).reshape(3, 4) * 0.7 - 2
B = np.linspace(-1, 2, 24).reshape(2, 3, 4)
V = np.array([0.3, -1.5, 2.0, 2.0, -0.25])
HALVES = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.4, 1e300])
POSITIVE = np.array([0.05, 0.4, 1.0, 2.5, 9.0])
INTEGERS = np.array([-7, -1, 0, 3, 8])

# name: a list of (Bitale's function of variables, NumPy's function of arrays, arrays)
SAME = {
    "allclose": [(pt.allclose, np.allclose, A, A + 1e-9), (pt.allclose, np.allclose, A, A + 1e-3)],
    "digamma": [(pt.digamma, scipy.special.digamma, POSITIVE)],
    "expit": [(pt.expit, scipy.special.expit, V)],
    "identity": [(pt.identity, np.copy, A)],
    "smallest": [(pt.smallest, lambda *x: np.min(x, axis=0), V, V[::-1].copy(), -V)],
    "topk": [(lambda x: pt.topk(x, 2), lambda x: np.sort(x)[..., -2:], A), (lambda x: pt.topk(x, -2, axis=0), lambda x: np.sort(x, 0)[:2], A),
             (lambda x: pt.topk(x, 3, axis=None), lambda x: np.sort(x, None)[-3:], A)],
    "argtopk": [(lambda x: pt.argtopk(x, 2), lambda x: np.argsort(x, kind="stable")[..., -2:], A)],
    "topk_and_argtopk": [(lambda x: pt.topk_and_argtopk(x, 2)[0], lambda x: np.sort(x)[..., -2:], A),
                         (lambda x: pt.topk_and_argtopk(x, 2)[1], lambda x: np.argsort(x, kind="stable")[..., -2:], A)],
    "max_and_argmax": [(lambda x: pt.max_and_argmax(x, axis=1)[0], lambda x: x.max(1), A), (lambda x: pt.max_and_argmax(x, axis=1)[1], lambda x: x.argmax(1), A),
                       (lambda x: pt.max_and_argmax(x)[1], np.argmax, A)],
    "atleast_2d": [(pt.atleast_2d, np.atleast_2d, V), (pt.atleast_2d, np.atleast_2d, B)],
    "atleast_3d": [(pt.atleast_3d, lambda x: x[None, None], V), (pt.atleast_3d, lambda x: x[None], A), (pt.atleast_3d, np.atleast_3d, B)],
    "bitwise_not": [(pt.bitwise_not, np.bitwise_not, INTEGERS), (pt.bitwise_not, np.bitwise_not, INTEGERS > 0)],
    "conjugate": [(pt.conjugate, np.conjugate, V + 1j * V[::-1]), (pt.conjugate, np.conjugate, V)],
    "dense_dot": [(pt.dense_dot, np.dot, A, A.T.copy()), (pt.dense_dot, np.dot, V, V)],
    "divmod": [(lambda x, y, k=k: pt.divmod(x, y)[k], lambda x, y, k=k: np.divmod(x, y)[k], INTEGERS, np.array([2, -3, 5, -2, 3])) for k in (0, 1)]
              + [(lambda x, y, k=k: pt.divmod(x, y)[k], lambda x, y, k=k: np.divmod(x, y)[k], V, POSITIVE) for k in (0, 1)],
    "floor_div": [(pt.floor_div, np.floor_divide, INTEGERS, np.array([2, -3, 5, -2, 3])), (pt.floor_div, np.floor_divide, V, POSITIVE)],
    "extract_diag": [(pt.extract_diag, np.diagonal, A), (lambda x: pt.extract_diag(x, 1), lambda x: np.diagonal(x, 1), A),
                     (lambda x: pt.extract_diag(x, 0, 1, 2), lambda x: np.diagonal(x, 0, 1, 2), B)],
    "geomspace": [(lambda a, b: pt.geomspace(a, b, 5), lambda a, b: np.geomspace(a, b, 5), np.array(1.0), np.array(8.0))],
    "logspace": [(lambda a, b: pt.logspace(a, b, 5), lambda a, b: np.logspace(a, b, 5), np.array(-1.0), np.array(2.0))],
    "horizontal_stack": [(pt.horizontal_stack, lambda x, y: np.hstack([x, y]), A, A[:, :2])],
    "vertical_stack": [(pt.vertical_stack, lambda x, y: np.vstack([x, y]), A, A[:1])],
    "concat_with_broadcast": [(lambda x, y: pt.concat_with_broadcast([x, y.dimshuffle("x", 0)], axis=1), lambda x, y: np.hstack([x, np.tile(y, (3, 1))]), A, V)],
    "stacklists": [(lambda x, y: pt.stacklists([[x, y], [y, x]]), lambda x, y: np.array([[x, y], [y, x]]), V, POSITIVE)],
    "identity_like": [(pt.identity_like, lambda x: np.eye(3, 4), A)],
    "inverse_permutation": [(pt.inverse_permutation, np.argsort, np.array([2, 0, 3, 1]))],
    "iround": [(pt.iround, lambda x: np.rint(x).astype("int64"), HALVES[:-1])],
    "round_half_to_even": [(pt.round_half_to_even, np.rint, HALVES)],
    "round_half_away_from_zero": [(pt.round_half_away_from_zero, lambda x: np.sign(x) * np.floor(np.abs(x) + 0.5), HALVES)],
    "isposinf": [(pt.isposinf, np.isposinf, np.array([np.inf, -np.inf, np.nan, 1.0]))],
    "isneginf": [(pt.isneginf, np.isneginf, np.array([np.inf, -np.inf, np.nan, 1.0]))],
    "log1pexp": [(pt.log1pexp, lambda x: np.logaddexp(0, x), np.array([-800.0, -1.0, 0.0, 2.0, 800.0]))],
    "make_vector": [(lambda x, y: pt.make_vector(x, y), lambda x, y: np.array([x, y]), np.array(1.5), np.array(2.5))],
    "matrix_transpose": [(pt.matrix_transpose, np.matrix_transpose, B)],
    "swap_last_axes": [(pt.swap_last_axes, lambda x: x.swapaxes(-1, -2), B)],
    "scalar_from_tensor": [(pt.scalar_from_tensor, np.asarray, np.array(2.5))],
    "tensor_from_scalar": [(pt.tensor_from_scalar, np.asarray, np.array(2.5))],
    "tensor_copy": [(pt.tensor_copy, np.copy, A)],
    "shape_i": [(lambda x, k=k: pt.shape_i(x, k), lambda x, k=k: np.int64(x.shape[k]), B) for k in range(3)],
    "shape_padaxis": [(lambda x, k=k: pt.shape_padaxis(x, k), lambda x, k=k: np.expand_dims(x, k), A) for k in (0, 1, 2, -1)],
    "slice_at_axis": [(lambda x: x[pt.slice_at_axis(slice(1, None, 2), axis=1)], lambda x: x[:, 1::2], B)],
    "make_slice": [(lambda x: x[pt.make_slice(1, x.shape[0] - 1)], lambda x: x[1:-1], V)],
    "specify_broadcastable": [(lambda x: pt.specify_broadcastable(x, 0) + pt.as_tensor(A), lambda x: x + A, A[:1])],
    "broadcast_shape": [(lambda x, y: pt.stack(pt.broadcast_shape(x, y.dimshuffle("x", 0))), lambda x, y: np.array(np.broadcast_shapes(x.shape, (1, 4))), A, A[0])],
    "tril_indices_from": [(lambda x, k=k: pt.stack(pt.tril_indices_from(x, k)), lambda x, k=k: np.stack(np.tril_indices_from(x, k)), A) for k in (-1, 0, 2)],
    "triu_indices_from": [(lambda x, k=k: pt.stack(pt.triu_indices_from(x, k)), lambda x, k=k: np.stack(np.triu_indices_from(x, k)), A) for k in (-1, 0, 2)],
    "tri_gamma": [(pt.tri_gamma, lambda x: scipy.special.polygamma(1, x), POSITIVE)],
    "chi2sf": [(lambda x: pt.chi2sf(x, 3.0), lambda x: scipy.special.chdtrc(3.0, x), POSITIVE)],
    "gammal": [(lambda x: pt.gammal(2.5, x), lambda x: scipy.special.gammainc(2.5, x) * scipy.special.gamma(2.5), POSITIVE)],
    "gammau": [(lambda x: pt.gammau(2.5, x), lambda x: scipy.special.gammaincc(2.5, x) * scipy.special.gamma(2.5), POSITIVE)],
    "special.logit": [(pt.special.logit, scipy.special.logit, np.array([1e-9, 0.25, 0.5, 0.999]))],
    "special.xlogx": [(pt.special.xlogx, lambda x: scipy.special.xlogy(x, x), np.array([0.0, 0.5, 1.0, 7.0]))],
    "linalg.matrix_dot": [(lambda x, y, z: pt.linalg.matrix_dot(x, y, z), lambda x, y, z: x @ y @ z, A, A.T.copy(), A)],
    "linalg.matrix_inverse": [(pt.linalg.matrix_inverse, np.linalg.inv, A[:, :3] @ A[:, :3].T + np.eye(3))],
}  # fmt: skip


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN"])
@pytest.mark.parametrize("name", SAME)
def test_functions_without_a_separate_test(name, mode):
    for build, numpy, *arrays in SAME[name]:
        expected = np.asarray(numpy(*arrays))
        for is_known in (False, True):
            inputs = [
                pt.tensor(dtype=a.dtype, shape=a.shape if is_known else (None,) * a.ndim)
                for a in map(np.asarray, arrays)
            ]
            if not is_known and name == "specify_broadcastable":
                assert build(*inputs).type.shape == (3, 4)
            out = build(*inputs)
            assert out.dtype == expected.dtype and out.ndim == expected.ndim
            assert all(n in (None, m) for n, m in zip(out.type.shape, expected.shape))
            got = bt.function(inputs, out, mode=mode, on_unused_input="ignore")(*arrays)
            assert got.shape == expected.shape and got.dtype == expected.dtype
            np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-13)


def test_generators_as_variables():
    rng = pt.random.as_rng(np.random.default_rng(4))
    assert (
        np.array_equal(rng.normal(size=3)[1].eval(), np.random.default_rng(4).normal(size=3))
        and pt.random.as_rng(rng) is rng
    )
    assert np.array_equal(
        pt.random.default_rng(4).normal(size=3)[1].eval(), np.random.default_rng(4).normal(size=3)
    )
    with pytest.raises(TypeError, match="numpy.random.Generator"):
        pt.random.as_rng(3)


# Invalid arguments of these functions, and the class of the error.
REFUSED = {
    "topk": (lambda: pt.topk(pt.dvector(), 0), ValueError),
    "argtopk": (lambda: pt.argtopk(pt.dvector(), 2, axis=3), ValueError),
    "max_and_argmax": (lambda: pt.max_and_argmax(np.zeros(0)), ValueError),
    "bitwise_not": (lambda: pt.bitwise_not(pt.dvector()), TypeError),
    "dense_dot": (lambda: pt.dense_dot(np.zeros((2, 3)), np.zeros((2, 3))), ValueError),
    "extract_diag": (lambda: pt.extract_diag(pt.dvector()), ValueError),
    "horizontal_stack": (lambda: pt.horizontal_stack(pt.dvector(), pt.dvector()), ValueError),
    "vertical_stack": (lambda: pt.vertical_stack(np.zeros((2, 3)), np.zeros((2, 4))), ValueError),
    "inverse_permutation": (lambda: pt.inverse_permutation(pt.dvector()), TypeError),
    "identity_like": (lambda: pt.identity_like(pt.dvector()), ValueError),
    "make_vector": (lambda: pt.make_vector(pt.dvector()), (TypeError, ValueError)),
    "scalar_from_tensor": (lambda: pt.scalar_from_tensor(pt.dvector()), TypeError),
    "shape_i": (lambda: pt.shape_i(pt.dvector(), 3), (ValueError, IndexError)),
    "specify_broadcastable": (lambda: pt.specify_broadcastable(np.zeros(3), 0), ValueError),
    "broadcast_shape": (lambda: pt.broadcast_shape(np.zeros(3), np.zeros(4)), ValueError),
    "tril_indices_from": (lambda: pt.tril_indices_from(pt.dvector()), ValueError),
    "triu_indices_from": (lambda: pt.triu_indices_from(pt.dvector()), ValueError),
    "linalg.matrix_inverse": (lambda: pt.linalg.matrix_inverse(np.zeros((2, 3))), ValueError),
    "matrix_transpose": (lambda: pt.matrix_transpose(pt.dvector()), ValueError),
    "log1pexp": (lambda: pt.log1pexp("text"), TypeError),
}


@pytest.mark.parametrize("name", REFUSED)
def test_invalid_arguments(name):
    build, error = REFUSED[name]
    with pytest.raises(error, match=r"\w"):
        build()


def public_names():
    spaces = {
        "": pt,
        "special.": pt.special,
        "linalg.": pt.linalg,
        "fft.": pt.fft,
        "signal.": pt.signal,
        "optimize.": pt.optimize,
        "random.": pt.random,
    }
    for prefix, module in spaces.items():
        for name in sorted(getattr(module, "__all__", dir(module))):
            value = getattr(module, name)
            if (
                name[0] == "_"
                or not callable(value)
                or inspect.isclass(value)
                or isinstance(value, Type)
                or re.fullmatch(known.constructors, name)
            ):
                continue
            yield prefix + name


def used_names(tree, names):
    """The names that occur in the code as attributes of the package or its modules (pt.exp, la.det), or in string
    constants that consist of given names only, as in tables of tests. Arguments of the package's functions do not
    count, because they are names of variables."""
    arguments = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and re.fullmatch(
            r"(pt|bt|bitale|la)(\.\w+)+", ast.unparse(node)
        ):
            yield node.attr
        elif isinstance(node, ast.Call) and ast.unparse(node.func).startswith(
            ("pt.", "bt.", "bitale.")
        ):
            arguments.update(node.args)
        elif (
            isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in arguments
        ):
            words = [word.rpartition(".")[2] for word in node.value.split()]
            if names.issuperset(words):
                yield from words


def test_every_name_is_tested():
    """The name of each function is used in the code of a test file other than those that only list names."""
    lists = {"test_api.py", "test_docs.py"}
    names = {name: name.rpartition(".")[2] for name in public_names()}
    assert len(names) > 400
    used = set()
    for path in sorted((root / "tests" / "python").rglob("*.py")):
        if path.name not in lists:
            used.update(used_names(ast.parse(path.read_text()), set(names.values())))
    assert [name for name, last in names.items() if last not in used] == []


@pytest.mark.parametrize(
    "text, used",
    [
        ("y = pt.linalg.svd(x)", {"svd"}),
        ('CASES = ["exp log", "linalg.det"]', {"exp", "log", "det"}),
        ("# exp", set()),
        ('"""The exp of x."""', set()),
        ("y = np.exp(x)", set()),
        ("pt.sum(x).exp()", set()),
        ('x = pt.dvector("exp")', set()),
    ],
)
def test_names_count_in_code_only(text, used):
    names = {"exp", "log", "svd", "det"}
    assert set(used_names(ast.parse(text), names)) & names == used

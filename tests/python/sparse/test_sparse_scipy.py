"""Every function of sparse matrices against SciPy's: over formats, dtypes, shapes, empty rows, columns and matrices, nan, unsorted and
duplicate elements, with patterns that are static and that a call gives. A table has the functions; each compiled function computes all."""

import csv
import pathlib

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale import sparse
from bitale._absent import TABLE

sp = pytest.importorskip("scipy.sparse")

DTYPES = (
    "float64",
    "float32",
    "complex128",
    "complex64",
    "int64",
    "int32",
    "int8",
    "uint8",
    "bool",
)
ALL, NUMBERS, EXACT, REAL, FLOATS = (
    "bifcu",
    "ifcu",
    "fc",
    "ifu",
    "f",
)  # kinds of dtypes for which a function is compared


def values(shape, dtype, rng):
    drawn = rng.integers(0 if np.dtype(dtype).kind in "ub" else -3, 4, shape)
    return (
        (drawn + 1j * rng.integers(-3, 4, shape)).astype(dtype)
        if np.dtype(dtype).kind == "c"
        else drawn.astype(dtype)
    )


def matrix(shape, dtype, rng, density=0.5):
    return sp.csr_array(
        np.where(rng.random(shape) < density, values(shape, dtype, rng), np.zeros((), dtype))
    )


def of_data(function, structured=True):
    """The function of SciPy's matrix that changes its stored elements."""

    def changed(a, *others):
        out = a.copy()
        with np.errstate(all="ignore"):
            out.data = np.asarray(function(a.data, *others))
        return out

    return changed


def clean(a):
    out = a.copy()
    out.eliminate_zeros()
    return out


def rows_replaced(x, rows, numbers):
    out = np.zeros_like(x)
    np.add.at(out, numbers, rows)
    return sp.csc_array(out)


# Name: (kinds of dtypes, the function of the matrices A and B of one shape, v and w as long as their rows and columns, a dense D of
# their shape, X with as many rows as they have columns, and Y as they have rows; the same by SciPy, if it is another).
# fmt: off
FUNCTIONS = {
    "dot": (NUMBERS, lambda A, B, v, w, D, X, Y: [A @ v, A @ X, A.T @ w, w @ A, Y.T @ A, A.dot(v), sparse.dot(A, X), sparse.dot(Y.T, A)],
            lambda A, B, v, w, D, X, Y: [A @ v, A @ X, A.T @ w, w @ A, Y.T @ A, A @ v, A @ X, Y.T @ A]),
    "dot of two": (NUMBERS, lambda A, B, v, w, D, X, Y: [A @ B.T, A.T @ B, sparse.true_dot(A, B.T), sparse.structured_dot(B, A.T)],
                   lambda A, B, v, w, D, X, Y: [A @ B.T, A.T @ B, A @ B.T, B @ A.T]),
    "usmm": (EXACT, lambda A, B, v, w, D, X, Y: [sparse.usmm(2.0, A, X, Y)], lambda A, B, v, w, D, X, Y: [(2.0 * (A @ X) + Y).astype(A.dtype)]),
    "sampling_dot": (NUMBERS, lambda A, B, v, w, D, X, Y: [sparse.sampling_dot(Y, X, A), sparse.structured_dot_grad(sparse.sp_ones_like(A), X, Y)],
                     lambda A, B, v, w, D, X, Y: [A * (Y @ X.T), of_data(np.ones_like)(A) * (Y @ X.T)]),
    "add": (NUMBERS, lambda A, B, v, w, D, X, Y: [A + B, B + A.T.T, A + D, D + A, sparse.add(A, D), sparse.add_s_s(A, B), sparse.add_s_d(A, D), sparse.add_s_s_data(A, A)],
            lambda A, B, v, w, D, X, Y: [A + B, B + A, A + D, D + A, A + D, A + B, A + D, A + A]),
    "subtract": ("ifc", lambda A, B, v, w, D, X, Y: [A - B, A - D, D - A, sparse.sub(A, B), sparse.subtract(A, D), -A, sparse.neg(A)],
                 lambda A, B, v, w, D, X, Y: [A - B, A - D, D - A, A - B, A - D, -A, -A]),
    "multiply": (NUMBERS, lambda A, B, v, w, D, X, Y: [A * B, A * D, D * A, A * v, A * w[:, None], A * v[None, :], A.multiply(B), sparse.multiply(A, D), sparse.mul_s_v(A, v), sparse.mul(A, B), sparse.mul_s_s(A, B), sparse.mul_s_d(A, D), sparse.row_scale(A, w), sparse.col_scale(A, v)],
                 lambda A, B, v, w, D, X, Y: [A * B, A * D, A * D, A * v, A * w[:, None], A * v, A * B, A * D, A * v, A * B, A * B, A * D, A * w[:, None], A * v]),
    "numbers": ("ifc", lambda A, B, v, w, D, X, Y: [A * 2, 3 * A], lambda A, B, v, w, D, X, Y: [A * A.dtype.type(2), A * A.dtype.type(3)]),
    "quotients": (EXACT, lambda A, B, v, w, D, X, Y: [A / 2, A / (abs(D) + 1), A / (abs(w) + 1)[:, None]],
                  lambda A, B, v, w, D, X, Y: [of_data(lambda x: x / x.dtype.type(2))(A), A * (1 / (abs(D) + abs(A.dtype.type(1)))), A * (1 / (abs(w) + abs(A.dtype.type(1)))[:, None])]),
    "structured_add_s_v": (NUMBERS, lambda A, B, v, w, D, X, Y: [sparse.structured_add_s_v(A, v)], lambda A, B, v, w, D, X, Y: [A + of_data(np.ones_like)(A) * v]),
    "sum": (ALL, lambda A, B, v, w, D, X, Y: [A.sum(), A.sum(0), A.sum(1), A.sum(-1), sparse.sp_sum(A, axis=0), sparse.sp_sum(A)],
            lambda A, B, v, w, D, X, Y: [A.sum(), A.sum(axis=0), A.sum(axis=1), A.sum(axis=1), A.sum(axis=0), A.sum()]),
    "conversion": (ALL, lambda A, B, v, w, D, X, Y: [A, A.T, sparse.transpose(A), A.todense(), A.toarray(), sparse.dense_from_sparse(A), A.tocsr(), A.tocsc(), sparse.ensure_sorted_indices(A), sparse.csr_from_dense(D), sparse.csc_from_dense(D)],
                   lambda A, B, v, w, D, X, Y: [A, A.T, A.T, A.toarray(), A.toarray(), A.toarray(), A, A, A, sp.csr_array(D), sp.csc_array(D)]),
    "parts": (ALL, lambda A, B, v, w, D, X, Y: [sparse.csm_shape(A), A.nnz, sparse.CSR(*sparse.csm_properties(A.tocsr())), sparse.CSC(sparse.csm_data(A.tocsc()), sparse.csm_indices(A.tocsc()), sparse.csm_indptr(A.tocsc()), A.shape)],
              lambda A, B, v, w, D, X, Y: [np.array(A.shape), A.nnz, A, A]),
    "likes": (ALL, lambda A, B, v, w, D, X, Y: [sparse.sp_ones_like(A), sparse.sp_zeros_like(A), A.ones_like(), A.zeros_like()],
              lambda A, B, v, w, D, X, Y: [of_data(f)(A) for f in (np.ones_like, np.zeros_like) * 2]),
    "remove0": (ALL, lambda A, B, v, w, D, X, Y: [sparse.remove0(A), sparse.clean(A), sparse.remove0(sparse.sp_zeros_like(A))],
                lambda A, B, v, w, D, X, Y: [clean(A), clean(A), sp.csr_array(A.shape, dtype=A.dtype)]),
    "casts": (REAL, lambda A, B, v, w, D, X, Y: [A.astype("complex128"), sparse.cast(A, "float32"), *(getattr(sparse, c + "cast")(A) for c in "wilfdcz")],
              lambda A, B, v, w, D, X, Y: [A.astype(t) for t in ("complex128", "float32", "int16", "int32", "int64", "float32", "float64", "complex64", "complex128")]),
    "bcast": (REAL, lambda A, B, v, w, D, X, Y: [sparse.bcast(A)], lambda A, B, v, w, D, X, Y: [A.astype("int8")]),
    "diagonal": (ALL, lambda A, B, v, w, D, X, Y: [A.diagonal(), sparse.diag(A)], lambda A, B, v, w, D, X, Y: [np.diagonal(A.toarray())] * 2),
    "square_diagonal": (ALL, lambda A, B, v, w, D, X, Y: [sparse.square_diagonal(v)], lambda A, B, v, w, D, X, Y: [sp.csc_array(np.diag(v))]),
    "stacks": (ALL, lambda A, B, v, w, D, X, Y: [sparse.hstack([A, B]), sparse.vstack([A, B, A], format="csc"), sparse.block_diag(A, B.T, format="csr"), sparse.hstack([A], dtype="complex128")],
               lambda A, B, v, w, D, X, Y: [sp.csr_array(x) for x in (np.hstack([A.toarray(), B.toarray()]), np.vstack([A.toarray(), B.toarray(), A.toarray()]), dense_blocks(A, B.T), A.toarray().astype("complex128"))]),
    "comparison": (ALL, lambda A, B, v, w, D, X, Y: [sparse.neq(A, B), sparse.not_equal_s_s(A, B)], lambda A, B, v, w, D, X, Y: [A != B] * 2),
    "order": (REAL, lambda A, B, v, w, D, X, Y: [sparse.lt(A, B), A > B, A < B, sparse.less_than_s_s(A, B), sparse.greater_than_s_s(A, B)],
              lambda A, B, v, w, D, X, Y: [A < B, A > B, A < B, A < B, A > B]),
    "dense comparison": (REAL, lambda A, B, v, w, D, X, Y: [f(A, D) for f in (sparse.eq, sparse.neq, sparse.lt, sparse.gt, sparse.le, sparse.ge, sparse.equal_s_d, sparse.not_equal_s_d, sparse.less_than_s_d, sparse.greater_than_s_d, sparse.less_equal_s_d, sparse.greater_equal_s_d)] + [A <= D, A >= D],
                         lambda A, B, v, w, D, X, Y: [f(A.toarray(), D) for f in (np.equal, np.not_equal, np.less, np.greater, np.less_equal, np.greater_equal) * 2 + (np.less_equal, np.greater_equal)]),
    "construct_sparse_from_list": (ALL, lambda A, B, v, w, D, X, Y: [sparse.construct_sparse_from_list(X, X[::-1], pt.arange(X.shape[0]))],
                                   lambda A, B, v, w, D, X, Y: [sp.csc_array(X[::-1])]),
    "items": (ALL, lambda A, B, v, w, D, X, Y: [A[1:], A[:, ::-1], A[::2, 1:-1], A[pt.arange(w.shape[0])], A[:, pt.arange(v.shape[0])[::-1]], sparse.get_item_2d(A, (slice(None), slice(0, 2)))],
              lambda A, B, v, w, D, X, Y: [sp.csr_array(A.toarray()[key]) for key in (np.s_[1:], np.s_[:, ::-1], np.s_[::2, 1:-1], np.s_[:], np.s_[:, ::-1], np.s_[:, :2])]),
    "lists": (ALL, lambda A, B, v, w, D, X, Y: [sparse.get_item_2lists(A, pt.arange(pt.minimum(*A.lengths)), pt.arange(pt.minimum(*A.lengths)))],
              lambda A, B, v, w, D, X, Y: [np.diagonal(A.toarray())]),
    "abs": (NUMBERS, lambda A, B, v, w, D, X, Y: [abs(A), sparse.abs(A)], lambda A, B, v, w, D, X, Y: [abs(A)] * 2),
    "conj": (NUMBERS, lambda A, B, v, w, D, X, Y: [sparse.conj(A), sparse.conjugate(A), sparse.structured_conjugate(A), A.conj()], lambda A, B, v, w, D, X, Y: [A.conj()] * 4),
    "sqr": (NUMBERS, lambda A, B, v, w, D, X, Y: [sparse.sqr(A)], lambda A, B, v, w, D, X, Y: [A * A]),
    "power": (EXACT, lambda A, B, v, w, D, X, Y: [A**2, sparse.power(A, 3)], lambda A, B, v, w, D, X, Y: [A.power(2), A.power(3)]),
    "elementwise": (FLOATS, lambda A, B, v, w, D, X, Y: [getattr(sparse, name)(A) for name in KEEP], lambda A, B, v, w, D, X, Y: [of_data(KEEP[name])(A) for name in KEEP]),
    "methods": (FLOATS, lambda A, B, v, w, D, X, Y: [getattr(A, name)() for name in METHODS], lambda A, B, v, w, D, X, Y: [getattr(A, name)() for name in METHODS]),
    "structured": (FLOATS, lambda A, B, v, w, D, X, Y: [sparse.structured_exp(A), sparse.structured_log(A), sparse.structured_sigmoid(A), sparse.structured_pow(A, 2.0), sparse.structured_minimum(A, 1.0), sparse.structured_maximum(A, 1.0), sparse.structured_add(A, 1.0), sparse.structured_elemwise(pt.cos)(A)],
                   lambda A, B, v, w, D, X, Y: [of_data(f)(A) for f in (np.exp, np.log, lambda x: 1 / (1 + np.exp(-x)), np.square, lambda x: np.minimum(x, x.dtype.type(1)), lambda x: np.maximum(x, x.dtype.type(1)), lambda x: x + x.dtype.type(1), np.cos)]),
}
KEEP = {
    "arcsin": np.arcsin, "arcsinh": np.arcsinh, "arctan": np.arctan, "arctanh": np.arctanh, "ceil": np.ceil, "deg2rad": np.deg2rad, "expm1": np.expm1, "floor": np.floor,
    "log1p": np.log1p, "rad2deg": np.rad2deg, "rint": np.rint, "sign": np.sign, "sin": np.sin, "sinh": np.sinh, "sqrt": np.sqrt, "tan": np.tan, "tanh": np.tanh, "trunc": np.trunc,
}
METHODS = ("arcsin", "arcsinh", "arctan", "arctanh", "ceil", "deg2rad", "expm1", "floor", "log1p", "rad2deg", "sin", "sinh", "sqrt", "tan", "tanh", "trunc")
# fmt: on


def dense_blocks(a, b):
    out = np.zeros(np.add(a.shape, b.shape), a.dtype)
    out[: a.shape[0], : a.shape[1]], out[a.shape[0] :, a.shape[1] :] = a.toarray(), b.toarray()
    return out


def operands(shape, dtype, rng):
    return [
        values(s, dtype, rng) for s in (shape[1], shape[0], shape, (shape[1], 2), (shape[0], 2))
    ]


def variables(dtype):
    return [
        pt.tensor(name, dtype=dtype, shape=(None,) * n)
        for name, n in (("v", 1), ("w", 1), ("D", 2), ("X", 2), ("Y", 2))
    ]


def unsorted(a):
    """The same matrix with the elements of each row in reverse order, the first of each twice, with half its value where it has one."""
    a = sp.csr_array(a)
    rows = np.repeat(np.arange(a.shape[0]), np.diff(a.indptr))[::-1]
    order = np.argsort(rows, kind="stable")
    out = sp.csr_array((a.data[::-1][order], a.indices[::-1][order], a.indptr), shape=a.shape)
    out.has_sorted_indices = False
    return out


def twice(a):
    """The same matrix in two parts at the same positions."""
    a = sp.csr_array(a)
    half = (a.data / 2).astype(a.dtype)
    data, indices = np.empty(2 * a.nnz, a.dtype), np.repeat(a.indices, 2)
    data[::2], data[1::2] = half, a.data - half
    return sp.csr_array((data, indices, 2 * a.indptr), shape=a.shape)


def compared(names, results, expected, context):
    assert len(results) == len(expected)
    for (name, position), own, right in zip(names, results, expected):
        where = f"{context}: {name}, result {position}"
        if sp.issparse(right):
            assert sp.issparse(own), where
            assert own.has_canonical_format or own.nnz == 0, where
            own, right = own.toarray(), right.toarray()
        own, right = np.asarray(own), np.asarray(right)
        assert own.shape == right.shape, where
        assert own.dtype == right.dtype, f"{where}: {own.dtype}, SciPy's {right.dtype}"
        tolerance = 1e-4 if right.dtype in ("float32", "complex64") else 1e-10
        np.testing.assert_allclose(own, right, rtol=tolerance, atol=tolerance, err_msg=where)


def all_of(dtype):
    return {
        name: (own, theirs)
        for name, (kinds, own, theirs) in FUNCTIONS.items()
        if np.dtype(dtype).kind in kinds
    }


def expected_of(functions, given):
    out, names = [], []
    for name, (_, theirs) in functions.items():
        with np.errstate(all="ignore"):
            each = theirs(*given)
        names += [(name, k) for k in range(len(each))]
        out += each
    return names, out


SHAPES = ((5, 4), (3, 6), (4, 4), (1, 7), (7, 1), (0, 3), (3, 0), (0, 0), (1, 1))


@pytest.mark.parametrize(
    "format, dtype",
    [
        *(("csr", dtype) for dtype in DTYPES),
        ("csc", "float64"),
        ("csc", "int32"),
        ("csc", "complex64"),
    ],
)
def test_patterns_of_the_call(format, dtype):
    functions, rng = all_of(dtype), np.random.default_rng(0)
    A, B, others = (
        sparse.matrix(format, "A", dtype),
        sparse.matrix("csr", "B", dtype),
        variables(dtype),
    )
    f = bt.function(
        [A, B, *others],
        [x for own, _ in functions.values() for x in own(A, B, *others)],
        on_unused_input="ignore",
    )
    for shape in SHAPES:
        for density in (0.0, 0.5, 1.0):
            a, b = matrix(shape, dtype, rng, density), matrix(shape, dtype, rng, density)
            dense = operands(shape, dtype, rng)
            names, expected = expected_of(functions, (a, b, *dense))
            kinds = {
                "csr": a,
                "csc": a.tocsc(),
                "coo": a.tocoo(),
                "bsr": a.tobsr() if 0 not in shape else a,
                "unsorted": unsorted(a),
                "twice": twice(a) if dtype != "bool" else a,
            }
            for kind, given in (
                kinds.items() if density == 0.5 and shape == (5, 4) else [("csr", a)]
            ):
                compared(names, f(given, b, *dense), expected, f"{kind} {shape} {dtype}")


@pytest.mark.parametrize(
    "shape, dtype",
    [
        *((shape, "float64") for shape in SHAPES),
        *(((5, 4), dtype) for dtype in DTYPES[1:]),
        ((0, 3), "int32"),
    ],
)
def test_static_patterns(shape, dtype):
    functions, rng = all_of(dtype), np.random.default_rng(1)
    a, b = matrix(shape, dtype, rng), matrix(shape, dtype, rng)
    dense, others = operands(shape, dtype, rng), variables(dtype)
    A, B = sparse.matrix("csr", "A", dtype, pattern=a), sparse.constant(b.tocsc())
    f = bt.function(
        [A, *others],
        [x for own, _ in functions.values() for x in own(A, B, *others)],
        on_unused_input="ignore",
    )
    names, expected = expected_of(functions, (a, b, *dense))
    compared(names, f(a, *dense), expected, f"{shape} {dtype}")


def test_a_static_and_a_given_pattern():
    rng = np.random.default_rng(2)
    a, b = matrix((4, 5), "float64", rng), matrix((4, 5), "float64", rng)
    A, B = sparse.constant(a), sparse.matrix("csc", "B")
    f = bt.function(
        [B], [A + B, B - A, A * B, A @ B.T, sparse.vstack([A, B]), sparse.hstack([B, A])]
    )
    compared(
        [("", k) for k in range(6)],
        f(b.tocsc()),
        [a + b, b - a, a * b, a @ b.T, sp.vstack([a, b]), sp.hstack([b, a])],
        "both",
    )


def test_nan_and_infinite_elements_are_stored_elements():
    a = sp.csr_array([[np.nan, 0.0, np.inf], [0.0, -np.inf, 0.0]])
    A, v = sparse.matrix("csr", "A"), np.array([1.0, 2.0, 3.0])
    results = bt.function(
        [A],
        [
            A @ v,
            A + A,
            A.sum(1),
            sparse.remove0(A),
            A.tocsc(),
            A[1:],
            abs(A),
            sparse.neq(A, A),
            A @ A.T,
        ],
    )(a)
    for own, right in zip(
        results,
        [a @ v, a + a, a.sum(axis=1), a, a, sp.csr_array(a.toarray()[1:]), abs(a), a != a, a @ a.T],
    ):
        own, right = (x.toarray() if sp.issparse(x) else x for x in (own, right))
        np.testing.assert_array_equal(own, right)


def test_gradients_through_patterns_of_the_call():
    rng = np.random.default_rng(3)
    a, b = matrix((5, 4), "float64", rng), matrix((5, 4), "float64", rng)
    weight = rng.normal(size=(5, 4))
    a.data[::3] = 0
    A, B, M, N = (
        sparse.matrix("csr", "A"),
        sparse.matrix("csc", "B"),
        pt.dmatrix("M"),
        pt.dmatrix("N"),
    )
    of_sparse = {
        "sum": (A + B, M + N),
        "product": ((A @ B.T) @ A, (M @ N.T) @ M),
        "elementwise": (A * B, M * N),
        "format": (A.tocsc(), M),
        "rows": (sparse.vstack([A[1:], A[[0]]]), pt.vertical_stack(M[1:], M[:1])),
        "columns": (A[:, ::-1], M[:, ::-1]),
        "blocks": (sparse.hstack([A, B])[:, 1:5], pt.horizontal_stack(M, N)[:, 1:5]),
    }
    at, other = a.tocoo(), b.tocsc().tocoo()
    for name, (mine, dense) in of_sparse.items():
        cost = (pt.sqr(mine.todense()) * weight).sum()
        plain = (pt.sqr(dense) * weight).sum()
        own = bt.function(
            [A, B],
            pt.grad(cost, [A.data, B.data], disconnected_inputs="ignore"),
            on_unused_input="ignore",
        )(a, b.tocsc())
        theirs = bt.function(
            [M, N], pt.grad(plain, [M, N], disconnected_inputs="ignore"), on_unused_input="ignore"
        )(a.toarray(), b.toarray())
        np.testing.assert_allclose(own[0], theirs[0][at.row, at.col], rtol=1e-10, err_msg=name)
        np.testing.assert_allclose(
            own[1], theirs[1][other.row, other.col], rtol=1e-10, err_msg=name
        )
    # What is left out has no derivative: a zero times its element.
    slope = bt.function(
        [A], pt.grad(sparse.remove0(A).data.sum(), A.data), on_unused_input="ignore"
    )(a)
    np.testing.assert_array_equal(slope, a.data != 0)
    assert (
        bt.function(
            [A], pt.grad((sparse.remove0(A) @ np.ones(4)).sum(), A.data), on_unused_input="ignore"
        )(a).tolist()
        == (a.data != 0).tolist()
    )


@pytest.mark.parametrize("linker", ["c", "vm"])
def test_patterns_of_the_call_by_other_linkers(linker):
    rng = np.random.default_rng(4)
    a, b = matrix((5, 4), "float64", rng), matrix((5, 4), "float64", rng)
    A, B = sparse.matrix("csr", "A"), sparse.matrix("csc", "B")
    f = bt.function(
        [A, B],
        [A + B, A @ B.T, sparse.remove0(A), A.tocsc(), A[1:3, ::-1], sparse.vstack([A, B])],
        mode=bt.Mode(linker=linker),
    )
    expected = [
        a + b,
        a @ b.T,
        clean(a),
        a,
        sp.csr_array(a.toarray()[1:3, ::-1]),
        sp.vstack([a, b]),
    ]
    compared([("", k) for k in range(6)], f(a, b.tocsc()), expected, linker)


def test_elements_in_any_order():
    x, i, j = pt.dvector("x"), pt.lvector("i"), pt.ivector("j")
    data, rows, columns = [1.0, 2.0, 3.0, 4.0], [2, 0, 2, 1], np.array([1, 0, 1, 2], "int32")
    for format in ("csr", "csc", "coo"):
        got = bt.function([x, i, j], sparse.from_elements(x, i, j, (3, 4), format))(
            data, rows, columns
        )
        assert got.format == ("csr" if format == "coo" else format) and got.nnz == 3
        np.testing.assert_array_equal(
            got.toarray(), sp.coo_array((data, (rows, columns)), shape=(3, 4)).toarray()
        )
    slope = bt.function(
        [x, i, j], pt.grad(pt.sqr(sparse.from_elements(x, i, j, (3, 4)).data).sum(), x)
    )(data, rows, columns)
    np.testing.assert_array_equal(slope, [8.0, 4.0, 8.0, 8.0])


# ---- bad input of a call ---------------------------------------------------------------------------------------------


def bad_cases():
    A, B = sparse.matrix("csr", "A"), sparse.matrix("csr", "B")
    x, i, j = pt.dvector("x"), pt.lvector("i"), pt.lvector("j")
    wide, tall = np.zeros((2, 3)), np.zeros((3, 2))
    one, many = sp.csr_array(np.ones((2, 3))), sp.csr_array(np.ones((3, 2)))
    yield "sum of two shapes", [A, B], A + B, (one, many), "equal lengths"
    yield (
        "empty sum of two shapes",
        [A, B],
        A + B,
        (sp.csr_array(wide), sp.csr_array(tall)),
        "equal lengths",
    )
    yield "product of two shapes", [A, B], A * B, (one, many), "equal lengths"
    yield "inner lengths", [A, B], A @ B, (one, one), "equal lengths"
    yield "stacked columns", [A, B], sparse.vstack([A, B]), (one, many), "equal lengths"
    yield "stacked rows", [A, B], sparse.hstack([A, B]), (one, many), "equal lengths"
    yield "compared", [A, B], sparse.lt(A, B), (one, many), "equal lengths"
    yield "row beyond the matrix", [A, i], A[i], (one, [0, 2]), "out of"
    yield "negative row beyond", [A, i], A[i], (one, [-3]), "out of"
    yield "column beyond the matrix", [A, i], A[:, i], (one, [3]), "out of"
    yield "elements beyond", [A, i, j], sparse.get_item_2lists(A, i, j), (one, [0], [3]), "out of"
    yield (
        "elements of two lengths",
        [A, i, j],
        sparse.get_item_2lists(A, i, j),
        (one, [0], [1, 2]),
        "equal lengths",
    )
    yield (
        "element at a negative row",
        [x, i, j],
        sparse.from_elements(x, i, j, (2, 3)),
        ([1.0], [-1], [0]),
        "positions in the matrix",
    )
    yield (
        "element beyond the columns",
        [x, i, j],
        sparse.from_elements(x, i, j, (2, 3)),
        ([1.0], [1], [3]),
        "positions in the matrix",
    )
    yield (
        "elements and positions of two lengths",
        [x, i, j],
        sparse.from_elements(x, i, j, (2, 3)),
        ([1.0], [1, 0], [2, 0]),
        "equal lengths",
    )


@pytest.mark.parametrize("case", list(bad_cases()), ids=lambda case: case[0])
@pytest.mark.parametrize("mode", ["FAST_RUN", "VM"])
def test_bad_values_of_a_call_are_refused(case, mode):
    _, inputs, output, given, message = case
    with pytest.raises((ValueError, IndexError), match=message):
        bt.function(inputs, output, mode=mode)(*given)


def test_bad_arguments_are_refused():
    A, v, m = sparse.matrix("csr", "A"), pt.dvector("v"), pt.lmatrix("m")
    for bad in (
        lambda: A[v], lambda: A[m], lambda: A[1.5], lambda: A["a"], lambda: A[1, 2, 3], lambda: sparse.from_elements(v, v, v, (2, 2)), lambda: sparse.from_elements(m, v, v, (2, 2)),
        lambda: sparse.get_item_2lists(A, v, v), lambda: sparse.construct_sparse_from_list(m, v, v), lambda: sparse.structured_add(A, v), lambda: sparse.CSM("coo"),
        lambda: sparse.CSR(v, v, v, (2, 2)), lambda: sparse.hstack([A, v]), lambda: sparse.hstack([]), lambda: A.sum(2), lambda: A @ pt.dscalar("s"), lambda: sparse.SparseTensorType("dia"),
        lambda: sparse.SparseTensorType("csr", shape=(1, 2, 3)), lambda: sparse.SparseTensorType("csr", index_dtype="int8"), lambda: sparse.remove0(v), lambda: A.exp(), lambda: A.max(),
    ):  # fmt: skip
        with pytest.raises((TypeError, ValueError, IndexError)):
            bad()


def test_positions_that_int32_does_not_hold():
    wide = sp.csr_array((1, 2**31 + 5))
    A = sparse.matrix("csr", "A")
    with pytest.raises(ValueError, match="int64"):
        bt.function([A], A.tocsc())(wide)
    B = sparse.matrix("csr", "B", index_dtype="int64")
    C = sparse.from_elements([1.0, 2.0], [0, 0], np.array([2**31 + 1, 7]), (1, 2**31 + 5))
    got = bt.function([B], B + C)(wide)
    assert got.indices.tolist() == [7, 2**31 + 1] and got.data.tolist() == [2.0, 1.0]
    assert sparse.constant(wide).indices.dtype == "int64"
    assert bt.function([B], B + C * 0)(sp.csr_array((1, 2**31 + 5))).nnz == 2


# ---- names -----------------------------------------------------------------------------------------------------------

# Tested elsewhere: constructors and what is no function of matrices (test_sparse.py), and those that are refused.
ELSEWHERE = set(
    "CSM CSC CSR SparseTensorType as_sparse as_sparse_or_tensor_variable as_sparse_variable as_symbolic as_symbolic_sparse bsr_dmatrix bsr_fmatrix bsr_matrix "
    "csc_dmatrix csc_fmatrix csc_matrix csr_dmatrix csr_fmatrix csr_matrix matrix shared sparse_formats equal_s_s greater_equal_s_s less_equal_s_s "
    "get_item_list get_item_scalar".split()
)


def test_every_name_of_pytensor_is_in_a_table():
    text = pathlib.Path(__file__).read_text()
    with open(pathlib.Path(__file__).parents[2] / "api" / "pytensor.csv", newline="") as file:
        rows = [
            row
            for row in csv.DictReader(file)
            if row["module"] in ("sparse.basic", "sparse.math", "sparse.linalg")
            and row["kind"] in ("function", "op")
        ]
    absent = {name for modules in TABLE.values() for name in modules.get("sparse", "").split()}
    names = (
        {
            row["name"]
            for row in rows
            if hasattr(sparse, row["name"]) and not row["name"].endswith("cast")
        }
        - ELSEWHERE
        - absent
    )
    assert len(names) >= 90
    assert {name for name in names if f"sparse.{name}" not in text and name not in KEEP} == set()


def test_constructors_have_formats_and_dtypes():
    for name in ("csr_matrix", "csc_matrix", "bsr_matrix"):
        A = getattr(sparse, name)("A", "float32", (3, None))
        assert (A.format, A.dtype, A.static_shape) == (
            "csc" if name == "csc_matrix" else "csr",
            "float32",
            (3, None),
        )
    for name in ("csr_dmatrix", "csc_fmatrix", "bsr_dmatrix"):
        assert getattr(sparse, name)("A").dtype == ("float32" if "f" in name else "float64")
    assert sparse.SparseTensorType("csr", "float64", broadcastable=(True, False)).shape == (1, None)
    a = sp.csr_array(np.eye(3))
    for make in (
        sparse.as_sparse,
        sparse.as_sparse_variable,
        sparse.as_sparse_or_tensor_variable,
        sparse.as_symbolic,
        sparse.as_symbolic_sparse,
    ):
        assert isinstance(make(a), sparse.SparseVariable)
    assert sparse.as_sparse_or_tensor_variable(np.eye(3)).ndim == 2
    assert sparse.get_item_scalar(a, (1, 1)).eval() == 1 and sparse.get_item_list(
        a, [2, 0]
    ).eval().toarray().tolist() == [[0, 0, 1], [1, 0, 0]]


def test_classes_of_ops_apply_functions():
    a = sp.csr_array([[0.0, 2.0], [1.0, 3.0]])
    A = sparse.constant(a)
    assert sparse.SpSum(axis=0)(A).eval().tolist() == [1.0, 5.0]
    assert sparse.basic.HStack(format="csr")(A, A).eval().shape == (2, 4)
    assert (
        sparse.math.AddSparseSparse()(A, A).eval().toarray().tolist() == (2 * a).toarray().tolist()
    )
    assert (
        sparse.AddSS()(A, A).eval().toarray().tolist() == (2 * a).toarray().tolist()
    )  # before PyTensor 3.3
    assert sparse.linalg.SparseBlockDiagonal(2, "csr")(A, A).eval().shape == (4, 4)
    assert sparse.SpSum(0) == sparse.SpSum(axis=0) != sparse.SpSum(1)
    assert not isinstance((A @ np.ones(2)).owner.op, sparse.StructuredDot) and isinstance(
        sparse.StructuredDot(), sparse.StructuredDot
    )


def test_classes_of_matrices():
    from bitale.sparse.sharedvar import SparseTensorSharedVariable, sparse_constructor
    from bitale.sparse.variable import SparseConstant

    a = sp.csr_array(np.eye(2))
    shared, constant, given = (
        sparse_constructor(a, "S"),
        sparse.constant(a),
        sparse.matrix("csr", "A"),
    )
    assert [isinstance(x, SparseTensorSharedVariable) for x in (shared, constant, given)] == [
        True,
        False,
        False,
    ]
    assert [isinstance(x, SparseConstant) for x in (shared, constant, given)] == [
        False,
        True,
        False,
    ]
    with pytest.raises(TypeError, match="shared"):
        SparseTensorSharedVariable()


def test_the_decorator_of_structured_functions():
    @sparse.structured_elemwise(pt.exp)
    def of_stored(x):
        """Documented."""

    assert of_stored.__doc__ == "Documented."
    assert of_stored(sparse.constant(sp.csr_array([[0.0, 1.0]]))).eval().toarray().tolist() == [
        [0.0, np.e]
    ]


# ---- differences from dense matrices ---------------------------------------------------------------------------------


@pytest.mark.parametrize("own", ["float64", "float32", "int64", "int8", "uint8"])
@pytest.mark.parametrize("other", ["float64", "int64", "int8", "uint8", "bool"])
def test_sums_and_differences_are_promoted_before_signs_change(own, other):
    a = np.array([[0, 2], [1, 3]], own)
    dense = (
        np.array([[1, 0], [0, 1]], other)
        if other in ("bool", "uint8")
        else np.array([[-128, 0], [5, 1]], other)
    )
    A, D = sparse.constant(sp.csr_array(a)), pt.matrix("D", dtype=other)
    f = bt.function([D], [A - D, D - A, A + D, A - dense, dense - A])
    for got, expected in zip(f(dense), [a - dense, dense - a, a + dense, a - dense, dense - a]):
        assert got.dtype == expected.dtype
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize(
    "of_dense", [lambda A, D: A + D, lambda A, D: A - D, lambda A, D: D - A, lambda A, D: D + A]
)
@pytest.mark.parametrize("shape, dense, fits", [((1, 2), (3, 2), False), ((2, 1), (2, 3), False), ((1, 1), (2, 2), False), ((1, 2), (3, 1), False),
                                                ((3, 2), (1, 2), True), ((3, 2), (2,), True), ((3, 2), (3, 1), True), ((3, 1), (2,), False)])  # fmt: skip
def test_a_dense_term_broadcasts_to_the_matrix_and_not_the_other_way(of_dense, shape, dense, fits):
    a, d = (
        np.arange(1.0, 1 + np.prod(shape)).reshape(shape),
        np.arange(10.0, 10 + np.prod(dense)).reshape(dense),
    )
    known, given = sparse.constant(sp.csr_array(a)), sparse.matrix("csr", "A")
    static = pt.tensor("s", shape=dense, dtype="float64")
    open_ = pt.tensor("o", shape=tuple(1 if n == 1 else None for n in dense), dtype="float64")
    for A, D in [(known, static), (known, open_), (given, static), (given, open_)]:
        inputs, values = ([D], [d]) if A is known else ([A, D], [sp.csr_array(a), d])
        if fits:
            np.testing.assert_array_equal(
                bt.function(inputs, of_dense(A, D))(*values), of_dense(a, d)
            )
        else:
            with pytest.raises(ValueError):
                bt.function(inputs, of_dense(A, D))(*values)


# ---- vectors of a call -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "indices, indptr",
    [([0, 1, 2], [1, 2, 3, 3]), ([0, 1, 2], [0, -2, 2, 3]), ([0, 1, 2], [0, 2, 1, 3]), ([0, 1, 2], [0, 1, 2, 2]), ([0, 1, 2], [0, 1, 3]),
     ([0, 1, 2], [0, 1, 2, 4]), ([0, 1, 3], [0, 1, 2, 3]), ([0, -1, 2], [0, 1, 2, 3]), ([1, 1, 2], [0, 2, 2, 3])],
)  # fmt: skip
@pytest.mark.parametrize("which", ["rows", "columns", "bounds", "taken", "dense", "product"])
def test_vectors_are_checked_whatever_an_output_needs(indices, indptr, which):
    d, i, p = pt.dvector("d"), pt.lvector("i"), pt.lvector("p")
    for make, A in [
        (sparse.CSR, sparse.CSR(d, i, p, (3, 3))),
        (sparse.CSC, sparse.CSC(d, i, p, (3, 3))),
    ]:
        of_rows = make is sparse.CSR
        taken = A[[1]] if of_rows else A[:, [1]]
        out = {
            "rows": A.sum(1),
            "columns": A.sum(0),
            "bounds": A.indptr * 1,
            "taken": taken.todense(),
            "dense": A.todense(),
            "product": A @ np.ones(3),
        }[which]
        f = bt.function([d, i, p], out, on_unused_input="ignore")
        f([1.0, 2.0, 3.0], [0, 1, 2], [0, 1, 2, 3])
        with pytest.raises(ValueError, match="indptr|indices"):
            f([1.0, 2.0, 3.0], indices, indptr)


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize(
    "positions",
    [
        [(0, 0), (1, 0), (2, 2)],
        [(1, 0), (1, 1), (2, 2)],
        [(0, 0), (1, 1), (2, 1)],
        [(0, 0), (2, 2)],
    ],
)
def test_triangles_without_an_element_on_the_diagonal_are_singular(lower, positions):
    rows, columns = zip(*positions)
    a = sp.csc_array(
        (np.ones(len(rows)), (rows, columns) if lower else (columns, rows)), shape=(3, 3)
    )
    for A, inputs in [(sparse.constant(a), []), (sparse.matrix("csc", "A"), [a])]:
        f = bt.function(
            [A] if inputs else [], sparse.linalg.solve_triangular(A, np.ones(3), lower=lower)
        )
        with pytest.raises(np.linalg.LinAlgError, match="singular"):
            f(*inputs)

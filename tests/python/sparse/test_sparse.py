"""Sparse matrices against SciPy: over formats, dtypes, shapes and empty cases, and with bad input."""

import pickle

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale import sparse

sp = pytest.importorskip("scipy.sparse")

FORMATS = ("csr", "csc")
DTYPES = ("float64", "float32", "int32", "int64", "complex128")
SHAPES = ((5, 4), (4, 5), (1, 6), (6, 1), (3, 3))


def random(shape, format="csr", dtype="float64", seed=0, density=0.4):
    rng = np.random.default_rng(seed)
    dense = np.where(rng.random(shape) < density, rng.integers(-4, 5, shape), 0)
    dense = (
        dense.astype(dtype) + (1j * dense[::-1]).astype(dtype)
        if dtype == "complex128"
        else dense.astype(dtype)
    )
    return sp.csr_array(dense).asformat(format)


def values(shape, dtype="float64", seed=1):
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(dtype)


def both(array, name="A"):
    """A matrix given when a function is called, and one whose pattern is static."""
    return [
        sparse.matrix(array.format, name, array.dtype),
        sparse.matrix(array.format, name, array.dtype, pattern=array),
    ]


def equal(result, expected):
    if sp.issparse(expected):
        assert sp.issparse(result) and result.shape == expected.shape
        expected, result = expected.toarray(), result.toarray()
    np.testing.assert_allclose(result, expected, rtol=1e-6, atol=1e-6)
    return np.asarray(result)


# ---- values ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_products_of_all_dtypes(format, dtype):
    array = random((5, 4), format, dtype)
    x, y, m = values(4, dtype), values(5, dtype), values((4, 3), dtype)
    for A in both(array):
        vx, vy, vm = (
            pt.vector("x", dtype=dtype),
            pt.vector("y", dtype=dtype),
            pt.matrix("m", dtype=dtype),
        )
        f = bt.function(
            [A, vx, vy, vm], [A @ vx, A.T @ vy, vy @ A, A @ vm, vm.T @ A.T, A.sum(), A.todense()]
        )
        expected = [
            array @ x,
            array.T @ y,
            y @ array,
            array @ m,
            m.T @ array.T,
            array.sum(),
            array.toarray(),
        ]
        for one, other in zip(f(array, x, y, m), expected):
            assert equal(one, other).dtype == np.asarray(other).dtype


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("shape", [*SHAPES, (0, 3), (3, 0), (0, 0)])
@pytest.mark.parametrize("density", [0.0, 0.4, 1.0])
def test_shapes_and_empty_ones(format, shape, density):
    array = random(shape, format, density=density)
    x, m = values(shape[1]), values((shape[1], 2))
    for A in both(array):
        vx, vm = pt.dvector("x"), pt.dmatrix("m")
        f = bt.function(
            [A, vx, vm],
            [A @ vx, A @ vm, A.sum(0), A.sum(1), A.sum(-1), A.todense(), A.diagonal(), A.T],
        )
        expected = [
            array @ x,
            array @ m,
            array.sum(axis=0),
            array.sum(axis=1),
            array.sum(axis=1),
            array.toarray(),
        ]
        got = f(array, x, m)
        for one, other in zip(got, expected):
            equal(one, other)
        equal(got[6], np.diag(array.toarray()) if 0 not in shape else np.zeros(0))
        equal(got[7], array.T)


def test_all_formats_of_scipy_are_accepted():
    array = random((4, 6))
    x = pt.dvector("x")
    for format in ("csr", "csc", "coo", "bsr", "lil", "dok", "dia"):
        A = sparse.constant(array.asformat(format))
        equal(bt.function([x], A @ x)(values(6)), array @ values(6))
        equal(A.eval(), array)
    equal(sparse.constant(sp.csr_matrix(array)).eval(), array)


def test_unsorted_and_duplicate_elements_are_summed_as_by_scipy():
    array = sp.csr_array(
        (np.array([1.0, 2.0, 3.0]), np.array([2, 0, 2]), np.array([0, 3, 3])), shape=(2, 3)
    )
    before = array.indices.copy()
    A = sparse.matrix("csr", "A")
    equal(bt.function([A], sparse.sqr(A))(array), sp.csr_array(array.toarray() ** 2))
    np.testing.assert_array_equal(array.indices, before)  # the argument is not sorted in place


ZERO_PRESERVING = {
    "abs": np.abs, "arcsin": np.arcsin, "arcsinh": np.arcsinh, "arctan": np.arctan, "arctanh": np.arctanh, "cbrt": np.cbrt, "ceil": np.ceil, "conj": np.conj,
    "deg2rad": np.deg2rad, "expm1": np.expm1, "floor": np.floor, "log1p": np.log1p, "neg": np.negative, "rad2deg": np.rad2deg,
    "rint": np.rint, "sign": np.sign, "sin": np.sin, "sinh": np.sinh, "sqr": np.square, "sqrt": np.sqrt, "tan": np.tan, "tanh": np.tanh,
    "trunc": np.trunc,
}  # fmt: skip


@pytest.mark.parametrize("name", ZERO_PRESERVING)
def test_functions_that_keep_zeros(name):
    array = abs(random((5, 4))) / 8
    A = sparse.matrix("csr", "A")
    equal(
        bt.function([A], getattr(sparse, name)(A))(array),
        sp.csr_array(ZERO_PRESERVING[name](array.toarray())),
    )


@pytest.mark.parametrize("name", ["exp", "log", "cos", "sigmoid", "reciprocal"])
def test_functions_that_do_not_keep_zeros_say_todense(name):
    with pytest.raises(TypeError, match="todense"):
        getattr(sparse, name)(sparse.matrix("csr", "A"))


def test_structured_functions_see_stored_elements_only():
    array = abs(random((5, 4)))
    A = sparse.matrix("csr", "A")
    f = bt.function(
        [A],
        [
            sparse.structured_exp(A),
            sparse.structured_pow(A, 2.0),
            sparse.structured_minimum(A, 1.0),
            sparse.structured_add(A, 1.0),
        ],
    )
    for result, function in zip(
        f(array), (np.exp, np.square, lambda x: np.minimum(x, 1), lambda x: x + 1)
    ):
        expected = array.copy()
        expected.data = function(expected.data)
        equal(result, expected)


@pytest.mark.parametrize("formats", [("csr", "csr"), ("csr", "csc"), ("csc", "csr")])
def test_two_sparse_matrices(formats):
    a, b = random((4, 5), formats[0], seed=1), random((4, 5), formats[1], seed=2)
    c = random((5, 3), formats[1], seed=3)
    A, B, C = sparse.constant(a), sparse.matrix(formats[1], "B", pattern=b), sparse.constant(c)
    f = bt.function(
        [B], [A + B, A - B, A * B, A @ C, sparse.neq(A, B), sparse.lt(A, B), sparse.gt(A, B)]
    )
    equalities = [a + b, a - b, a * b, a @ c, a != b, a < b, a > b]
    for result, expected in zip(f(b), equalities):
        equal(result, expected)
    for name in ("eq", "le", "ge"):
        with pytest.raises(TypeError, match="todense"):
            getattr(sparse, name)(A, B)


def test_sparse_and_dense():
    array, dense, row, column = random((4, 5)), values((4, 5)), values(5), values((4, 1))
    for A in both(array):
        D, r, c = pt.dmatrix("D"), pt.dvector("r"), pt.col("c", dtype="float64")
        f = bt.function(
            [A, D, r, c],
            [A + D, D - A, A * D, A * r, c * A, A / (2 + abs(r)), A * 2.0, sparse.lt(A, D), A - D],
        )
        expected = [
            array.toarray() + dense,
            dense - array.toarray(),
            array * dense,
            array * row,
            array * column,
            array / (2 + abs(row)),
            array * 2.0,
            array.toarray() < dense,
            array.toarray() - dense,
        ]
        for one, other in zip(f(array, dense, row, column), expected):
            equal(one, sp.csr_array(other) if sp.issparse(one) else other)
        equal(bt.function([A, r], sparse.col_scale(A, r))(array, row), array * row)
        equal(bt.function([A, c], sparse.row_scale(A, c[:, 0]))(array, column), array * column)


def test_what_is_dense_is_refused():
    A = sparse.matrix("csr", "A")
    for bad in (lambda: A + 1, lambda: 1 - A, lambda: A**-1, lambda: A**0, lambda: A / A):
        with pytest.raises(TypeError, match="todense"):
            bad()
    with pytest.raises(TypeError):
        pt.exp(A)
    with pytest.raises(TypeError):
        list(A)


def test_sampling_dot_and_usmm():
    p, x, y = random((4, 5)), values((4, 3)), values((5, 3))
    P, X, Y, Z = sparse.matrix("csr", "P"), pt.dmatrix("X"), pt.dmatrix("Y"), pt.dmatrix("Z")
    equal(
        bt.function([X, Y, P], sparse.sampling_dot(X, Y, P))(x, y, p),
        sp.csr_array(p.toarray() * (x @ y.T)),
    )
    equal(bt.function([P, Y, Z], sparse.usmm(0.5, P, Y, Z))(p, y, x), 0.5 * (p @ y) + x)


def test_arrangement():
    a, b = random((3, 4), seed=1), random((3, 2), "csc", seed=2)
    A, B = sparse.matrix("csr", "A", pattern=a), sparse.constant(b)
    f = bt.function(
        [A],
        [
            sparse.hstack([A, B]),
            sparse.vstack([A, A]),
            sparse.block_diag(A, B),
            A.tocsc(),
            B.tocsr(),
        ],
    )
    expected = [sp.hstack([a, b]), sp.vstack([a, a]), sp.block_diag([a, b]), a, b]
    for one, other in zip(f(a), expected):
        equal(one, sp.csr_array(other))
    d = pt.dvector("d")
    equal(
        bt.function([d], sparse.square_diagonal(d))([1.0, 2.0]), sp.diags_array([1.0, 2.0]).tocsc()
    )


def test_items():
    a = random((5, 4))
    A, i = sparse.constant(a), pt.lscalar("i")
    full = a.toarray()
    for key in (
        np.s_[1:4],
        np.s_[::-1, 1:],
        np.s_[[3, 0, 3]],
        np.s_[[1, 2], ::2],
        np.s_[-1:, [-1]],
    ):
        equal(A[key].eval(), sp.csr_array(full[key]))
    equal(bt.function([i], A[i, 2])(-1), full[-1, 2])
    R = sparse.matrix("csc", "R")
    f = bt.function([R, i], R[i, 1])
    equal(f(a.tocsc(), 3), full[3, 1])
    for bad in (5, -6):
        with pytest.raises(IndexError):
            f(a.tocsc(), bad)
    with pytest.raises(IndexError):
        A[5:6, [7]]


def test_dense_to_sparse_and_back():
    X = pt.dmatrix("X")
    dense = random((4, 5)).toarray()
    for made, format in ((sparse.csr_from_dense(X), "csr"), (sparse.csc_from_dense(X), "csc")):
        result = bt.function([X], made)(dense)
        assert result.format == format and result.nnz == np.count_nonzero(dense)
        equal(result, sp.csr_array(dense))
        equal(bt.function([X], made.todense())(dense), dense)


def test_csm_and_its_properties():
    array = random((4, 5), "csc")
    data, indices, indptr = pt.dvector("data"), pt.ivector("indices"), pt.ivector("indptr")
    A = sparse.CSC(data, indices, indptr, (4, 5))
    f = bt.function([data, indices, indptr], [A.todense(), *sparse.csm_properties(A)])
    got = f(array.data, array.indices, array.indptr)
    equal(got[0], array.toarray())
    for one, other in zip(got[1:], (array.data, array.indices, array.indptr, array.shape)):
        equal(one, other)


# ---- functions -------------------------------------------------------------------------------------------------------


def test_names_dicts_and_unused_parts():
    array = random((4, 5))
    A, x = sparse.matrix("csr", "A"), pt.dvector("x")
    f = bt.function([x, A], {"y": A @ x, "T": A.T}, name="f")
    got = f(A=array, x=values(5))
    equal(got["y"], array @ values(5))
    equal(got["T"], array.T)
    equal(bt.function([A], A.data)(array), array.data)  # the positions are not used
    with pytest.raises(TypeError, match="missing"):
        f(values(5))
    with pytest.raises(TypeError, match="twice"):
        f(values(5), array, A=array)
    with pytest.raises(TypeError, match="expected 2 inputs"):
        f(values(5), array, array)
    with pytest.raises(bt.UnusedInputError if hasattr(bt, "UnusedInputError") else Exception):
        bt.function([A, x], x)


def test_shared_matrices_and_updates():
    array = random((4, 5))
    S, x = sparse.shared(array, "S"), pt.dvector("x")
    f = bt.function([x], S @ x, updates={S: S * 2.0})
    equal(f(values(5)), array @ values(5))
    equal(f(values(5)), 2 * array @ values(5))
    equal(sparse.get_value(S), 4 * array)
    sparse.set_value(S, array)
    equal(f(values(5)), array @ values(5))
    with pytest.raises(ValueError, match="positions"):
        sparse.set_value(S, random((4, 5), seed=7))
    with pytest.raises(ValueError, match="positions"):
        bt.function([], [], updates={S: sparse.constant(random((4, 5), seed=7))})


def test_pickle():
    array = random((4, 5))
    for A in (sparse.constant(array), sparse.matrix("csc", "A", shape=(4, None))):
        B = pickle.loads(pickle.dumps(A))
        assert (repr(B), B.format, B.static_shape) == (repr(A), A.format, A.static_shape)
    equal(pickle.loads(pickle.dumps(sparse.constant(array))).eval(), array)


def test_givens():
    array = random((4, 5))
    A, x = sparse.matrix("csr", "A"), pt.dvector("x")
    equal(bt.function([x], A @ x, givens={A: sparse.constant(array)})(values(5)), array @ values(5))


# ---- fusion and derivatives ------------------------------------------------------------------------------------------


def test_a_scaled_product_is_one_loop_over_the_stored_elements():
    array = random((50, 40))
    A, u, v, b = (
        sparse.matrix("csr", "A", pattern=array),
        pt.dvector("u"),
        pt.dvector("v"),
        pt.dvector("b"),
    )
    f = bt.function([A, u, v, b], (A * pt.exp(u)[:, None]) @ v + b)
    text = f.dprint("program", file="str")
    assert text.count("for ") == 2 and text.count("exp(") == 1
    uu, vv, bb = (np.random.default_rng(0).normal(size=n) for n in (50, 40, 50))
    equal(f(array, uu, vv, bb), np.exp(uu) * (array @ vv) + bb)


@pytest.mark.parametrize("mode", ["FAST_RUN", "C", "VM"])
def test_gradients_and_second_derivatives(mode):
    array = random((5, 4))
    array.data = np.random.default_rng(3).normal(size=array.nnz)
    dense = array.toarray()
    x = np.random.default_rng(4).normal(size=4)
    for A in both(array):
        vx = pt.dvector("x")
        cost = pt.sqr(pt.tanh(A @ vx)).sum() + (A.T @ (A @ vx)).sum()
        by_data, by_x = pt.grad(cost, [A.data, vx])
        hessian = bt.hessian(cost, vx)
        f = bt.function([A, vx], [A.with_data(by_data), by_x, hessian], mode=mode)
        D = pt.dmatrix("D")
        plain = pt.sqr(pt.tanh(D @ vx)).sum() + (D.T @ (D @ vx)).sum()
        g = bt.function([D, vx], [*pt.grad(plain, [D, vx]), bt.hessian(plain, vx)], mode=mode)
        got, expected = f(array, x), g(dense, x)
        equal(got[0].toarray(), np.where(dense != 0, expected[0], 0))
        equal(got[1], expected[1])
        equal(got[2], expected[2])


def test_batches():
    array = random((5, 4))
    A, x, X = sparse.constant(array), pt.dvector("x"), pt.dmatrix("X")
    batch = bt.graph.replace.vectorize_graph(A @ x, {x: X})
    equal(bt.function([X], batch)(values((3, 4))), values((3, 4)) @ array.toarray().T)


# ---- bad input -------------------------------------------------------------------------------------------------------


def csr(data, indices, indptr, shape):
    """A SciPy array whose parts SciPy has not checked."""
    array = sp.csr_array(shape)
    array.data, array.indices, array.indptr = (
        np.array(data, float),
        np.array(indices, "int32"),
        np.array(indptr, "int32"),
    )
    return array


BAD = {
    "a position beyond the columns": (
        [1.0, 2.0],
        [0, 9],
        [0, 1, 2],
        "positions from 0 to 2, got 9",
    ),
    "a negative position": ([1.0, 2.0], [0, -1], [0, 1, 2], "positions from 0 to 2, got -1"),
    "bounds that decrease": ([1.0, 2.0], [0, 1], [0, 3, 2], "don't decrease"),
    "bounds that do not begin at 0": ([1.0, 2.0], [0, 1], [1, 1, 2], "expected 0 first"),
    "bounds beyond the elements": ([1.0, 2.0], [0, 1], [0, 1, 5], "up to the number of indices"),
    "too few bounds": ([1.0, 2.0], [0, 1], [0, 2], "expected 3 bounds"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_places_are_refused(what):
    data, indices, indptr, message = BAD[what]
    A, x = sparse.matrix("csr", "A"), pt.dvector("x")
    f = bt.function([A, x], A @ x)
    bad = csr(data, indices, indptr, (2, 3))
    bad.has_canonical_format = True  # as SciPy believes of what it has not looked at
    with pytest.raises(ValueError, match=message):
        f(bad, np.ones(3))
    with pytest.raises(ValueError, match=message):
        sparse.CSR(np.array(data), np.array(indices), np.array(indptr), (2, 3))
    d, i, p = pt.dvector("d"), pt.lvector("i"), pt.lvector("p")
    for mode in ("FAST_RUN", "VM"):
        g = bt.function([d, i, p, x], sparse.CSR(d, i, p, (2, 3)) @ x, mode=mode)
        with pytest.raises((ValueError, IndexError)):
            g(data, indices, indptr, np.ones(3))


def test_unsorted_positions_are_refused_of_vectors():
    with pytest.raises(ValueError, match="sum_duplicates"):
        sparse.CSR(np.ones(2), np.array([1, 0]), np.array([0, 2]), (1, 3))
    d, i, p = pt.dvector("d"), pt.lvector("i"), pt.lvector("p")
    g = bt.function([d, i, p], sparse.CSR(d, i, p, (1, 3)).todense())
    equal(g([1.0, 2.0], [0, 2], [0, 2]), [[1.0, 0.0, 2.0]])
    for bad in ([2, 0], [1, 1]):
        with pytest.raises(ValueError, match="ascend"):
            g([1.0, 2.0], bad, [0, 2])


def test_a_pattern_that_differs_from_the_static_one():
    array = random((4, 5))
    A, x = sparse.matrix("csr", "A", pattern=array), pt.dvector("x")
    f = bt.function([A, x], A @ x)
    with pytest.raises(ValueError, match="positions"):
        f(random((4, 5), seed=9), values(5))
    with pytest.raises(ValueError, match="length 4"):
        f(random((3, 5)), values(5))
    with pytest.raises(TypeError, match="SciPy"):
        f(array.toarray(), values(5))


def test_lengths_that_do_not_fit():
    A = sparse.constant(random((4, 5)))
    with pytest.raises(ValueError, match="length"):
        A @ pt.ones(4)
    with pytest.raises(ValueError):
        bt.function([], A @ bt.shared(np.ones(4)))()
    R, x = sparse.matrix("csr", "R"), pt.dvector("x")
    for mode in ("FAST_RUN", "VM"):
        f = bt.function([R, x], R @ x, mode=mode)
        for length in (0, 4, 6):
            with pytest.raises(ValueError):
                f(random((4, 5)), np.ones(length))
    for bad in (
        lambda: A @ A,
        lambda: A + sparse.constant(random((5, 4))),
        lambda: A * np.ones(3),
        lambda: A * np.ones((2, 5)),
    ):
        with pytest.raises(ValueError):
            bad()
    with pytest.raises(TypeError):
        A @ pt.dtensor3()
    with pytest.raises(TypeError):
        sparse.constant(np.ones((2, 2)))


def test_segment_sum():
    x, bounds = pt.dvector("x"), pt.lvector("bounds")
    for mode in ("FAST_RUN", "C", "VM"):
        f = bt.function([x, bounds], sparse.segment_sum(x, bounds), mode=mode)
        equal(f(np.arange(6.0), [1, 1, 4, 6]), [0.0, 6.0, 9.0])
        equal(f([], [0]), [])
        for bad in ([0, 4, 2, 6], [0, 7], [-1, 3], [5, 2]):
            with pytest.raises(ValueError, match="bounds"):
                f(np.arange(6.0), bad)
    g = bt.function([x], pt.grad(pt.sqr(sparse.segment_sum(x, [1, 1, 4, 5])).sum(), x))
    equal(g(np.arange(6.0)), [0.0, 12.0, 12.0, 12.0, 8.0, 0.0])
    with pytest.raises(ValueError, match="decrease"):
        sparse.segment_sum(x, [0, 3, 2])


@pytest.mark.parametrize("format", ["csr", "csc"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", "int64"])
def test_products_of_a_matrix_that_stores_all_elements_are_dense(format, dtype):
    """dprint says so; one with a hole is a sum over stored elements, for which an infinite number elsewhere doesn't count."""
    value = sp.csr_array(np.arange(1, 13).reshape(3, 4).astype(dtype)).asformat(format)
    v, w, X = (
        np.array([1, 2, 3, 4], dtype),
        np.array([1, -1, 2], dtype),
        np.arange(8).reshape(4, 2).astype(dtype),
    )
    A = sparse.matrix(format, "A", dtype, pattern=value)
    results = bt.function([A], [A @ v, w @ A, A @ X, X.T @ A.T, A.T @ w])(value)
    dense = value.toarray()
    for got, expected in zip(
        results, [dense @ v, w @ dense, dense @ X, X.T @ dense.T, dense.T @ w]
    ):
        assert got.dtype == expected.dtype
        np.testing.assert_allclose(got, expected)
    said = bt.dprint(A @ v, file="str")
    assert ("SegmentSum" in said or "IncSubtensor" in said or "Scatter" in said) == (
        dtype == "int64"
    )
    if dtype == "float64":
        slope = bt.function([A], pt.grad(pt.sqr(A @ v).sum(), A.data))(value)
        np.testing.assert_allclose(
            type(value)((slope, value.indices, value.indptr), shape=value.shape).toarray(),
            2 * np.outer(dense @ v, v),
        )
        hole = value.tolil()
        hole[1, 2] = 0
        hole = hole.asformat(format)
        B = sparse.matrix(format, "B", pattern=hole)
        got = bt.function([B], B @ np.array([1.0, 1.0, np.inf, 1.0]))(hole)
        assert got[1] == 5 + 6 + 8 and np.isinf(got[[0, 2]]).all()

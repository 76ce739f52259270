"""LU factors of general sparse matrices against dense ones: solutions, determinants, derivatives, and singular matrices."""

import pickle

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale import sparse

sp = pytest.importorskip("scipy.sparse")


def random_matrix(n, seed, per_row=3):
    """Without a diagonal, so that rows have to be exchanged."""
    rng = np.random.default_rng(seed)
    spread = sp.coo_array(
        (rng.normal(size=n * per_row), rng.integers(0, n, (2, n * per_row))), shape=(n, n)
    )
    shifted = sp.coo_array(
        (rng.normal(size=n) + 3, (np.arange(n), np.roll(np.arange(n), 1))), shape=(n, n)
    )
    return sp.csr_array(spread + shifted)


def convection(n):
    """A grid with a wind: a symmetric pattern of elements that are not symmetric."""
    wind = sp.diags_array(
        [np.full(n - 1, -1.6), np.full(n, 2.0), np.full(n - 1, -0.4)], offsets=[-1, 0, 1]
    )
    path = sp.diags_array([-np.ones(n - 1), np.full(n, 2.1), -np.ones(n - 1)], offsets=[-1, 0, 1])
    return sp.csr_array(sp.kron(wind, sp.eye_array(n)) + sp.kron(sp.eye_array(n), path))


MATRICES = {
    "random": random_matrix(30, 0),
    "denser": random_matrix(25, 1, 8),
    "convection": convection(6),
    "one": sp.csr_array([[-4.0]]),
    "none": sp.csr_array((0, 0)),
    "permutation": sp.csr_array(np.eye(5)[[3, 0, 4, 1, 2]]),
    "small pivot": sp.csr_array([[1e-20, 1.0], [1.0, 1.0]]),
    "upper": sp.csr_array(np.triu(np.full((5, 5), 2.0))),
    "zeros that are stored": sp.csr_array(
        ([0.0, 2.0, 3.0, 0.0], [0, 1, 0, 1], [0, 2, 4]), shape=(2, 2)
    ),
}


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("format", ["csr", "csc"])
def test_values(name, format):
    value = MATRICES[name].asformat(format)
    n, dense = value.shape[0], value.toarray()
    rng = np.random.default_rng(1)
    b, B = rng.normal(size=n), rng.normal(size=(n, 3))
    A, vb, vB = sparse.matrix(format, "A", pattern=value), pt.dvector("b"), pt.dmatrix("B")
    factors = sparse.linalg.lu(A)
    f = bt.function(
        [A, vb, vB],
        [
            factors.solve(vb),
            factors.solve(vB),
            factors.solve(vb, trans=True),
            factors.solve(vB, trans=True),
            *factors.slogdet(),
            factors.logdet(),
        ],
    )
    x, X, y, Y, sign, logdet, again = f(value, b, B)
    np.testing.assert_allclose(dense @ x, b, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(dense @ X, B, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(dense.T @ y, b, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(dense.T @ Y, B, rtol=1e-9, atol=1e-11)
    expected = np.linalg.slogdet(dense)
    assert sign == expected[0] and logdet == again
    np.testing.assert_allclose(logdet, expected[1], rtol=1e-10, atol=1e-12)
    assert sorted(factors.column_order) == list(range(n))


@pytest.mark.parametrize("name", ["random", "denser", "convection", "permutation"])
def test_the_gradient_of_slogdet_is_the_transposed_inverse(name):
    value = MATRICES[name]
    A = sparse.matrix("csr", "A", pattern=value)
    sign, logdet = sparse.linalg.lu(A).slogdet()
    g = bt.function([A], A.with_data(pt.grad(3 * logdet, A.data)))(value).toarray()
    np.testing.assert_allclose(
        g, 3 * np.linalg.inv(value.toarray()).T * (value.toarray() != 0), rtol=1e-8, atol=1e-11
    )
    assert not np.any(bt.function([A], pt.grad(sign, A.data, disconnected_inputs="ignore"))(value))


def test_derivatives_of_any_order():
    value = convection(3)
    dense, n = value.toarray(), 9
    theta, b = pt.dscalar("theta"), pt.dvector("b")
    scale = np.random.default_rng(0).normal(size=value.nnz)
    weights = value.copy()
    weights.data = scale
    A = sparse.constant(value).with_data(value.data + theta**2 * scale)
    D = pt.constant(dense) + theta**2 * pt.constant(weights.toarray())
    results = []
    for solve, transposed in (
        (sparse.linalg.lu(A).solve, lambda v: sparse.linalg.lu(A).solve(v, trans=True)),
        (lambda v: pt.linalg.solve(D, v), lambda v: pt.linalg.solve(D.T, v)),
    ):
        cost = (solve(b) ** 2).sum() + (transposed(b) * b[::-1]).sum()
        first = pt.grad(cost, theta)
        second = pt.grad(first, theta)
        f = bt.function(
            [theta, b],
            [cost, first, second, pt.grad(second, theta), pt.grad(first, b), bt.hessian(cost, b)],
        )
        results.append(f(0.3, np.arange(1.0, n + 1)))
    for own, other in zip(*results):
        np.testing.assert_allclose(own, other, rtol=1e-7)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_second_derivatives_of_log_determinants(seed, mode):
    """With the inverse Z, the product of the Hessian with D is -(Z D Z)^T at the stored elements."""
    value = random_matrix(3 * seed + 1, seed).tocsr()
    value.sort_indices()
    A, direction = (
        sparse.matrix("csr", "A", pattern=value),
        pt.dvector("direction", shape=(value.nnz,)),
    )
    first = pt.grad(sparse.linalg.lu(A).slogdet()[1], A.data)
    product = (
        pt.grad((first * direction).sum(), A.data)
        if mode == "reverse"
        else bt.pushforward(first, A.data, direction)
    )
    D = sp.csr_array(
        (np.random.default_rng(seed).normal(size=value.nnz), value.indices, value.indptr),
        value.shape,
    )
    found = bt.function([A, direction], product)(value, D.data)
    Z = np.linalg.inv(value.toarray())
    expected = -(Z @ D.toarray() @ Z).T
    rows = np.repeat(np.arange(value.shape[0]), np.diff(value.indptr))
    np.testing.assert_allclose(
        found, expected[rows, value.indices], rtol=1e-7, atol=1e-10 * np.abs(expected).max()
    )


def test_second_derivatives_of_a_log_determinant_by_a_parameter():
    theta, thetas = pt.dscalar("theta"), pt.dvector("thetas")
    n = 5
    eye = sp.eye_array(n * n, format="csr")
    cost = sparse.linalg.lu(
        sparse.constant(convection(n)) * pt.exp(theta) + sparse.constant(eye) * pt.sqr(theta)
    ).logdet()
    second = pt.grad(pt.grad(cost, theta), theta)
    batched = bt.graph.replace.vectorize_graph(second, {theta: thetas})
    dense = pt.linalg.slogdet(
        pt.constant(convection(n).toarray()) * pt.exp(theta) + pt.eye(n * n) * pt.sqr(theta)
    )[1]
    expected = bt.function([theta], pt.grad(pt.grad(dense, theta), theta))
    at = [0.3, 0.9]
    np.testing.assert_allclose(
        bt.function([thetas], batched)(at), [expected(t) for t in at], rtol=1e-8
    )
    with pytest.raises(Exception, match="third derivatives of slogdet"):
        pt.grad(second, theta)


def test_value_and_gradient_share_one_factorisation():
    theta, b = pt.dscalar("theta"), pt.dvector("b")
    factors = sparse.linalg.lu(sparse.constant(convection(3)) * theta)
    cost = factors.logdet() + (factors.solve(b) * b).sum()
    f = bt.function([theta, b], [cost, pt.grad(cost, theta)])
    assert [type(node.op).__name__ for node in f.fgraph.toposort()].count("SparseLu") == 1


def test_batches():
    value = random_matrix(8, 3)
    theta, thetas, b, B = (
        pt.dscalar("theta"),
        pt.dvector("thetas"),
        pt.dvector("b"),
        pt.dmatrix("B"),
    )
    factors = sparse.linalg.lu(sparse.constant(value) * theta)
    right = np.random.default_rng(0).normal(size=(2, 8))
    x, logdet = bt.function(
        [thetas, B],
        bt.graph.replace.vectorize_graph(
            [factors.solve(b), factors.logdet()], {theta: thetas, b: B}
        ),
    )([1.0, 2.0], right)
    alone = bt.function([theta, B], bt.graph.replace.vectorize_graph(factors.solve(b), {b: B}))(
        2.0, right
    )
    for k, scale in enumerate((1.0, 2.0)):
        np.testing.assert_allclose(scale * value.toarray() @ x[k], right[k], rtol=1e-9)
        np.testing.assert_allclose(2 * value.toarray() @ alone[k], right[k], rtol=1e-9)
        np.testing.assert_allclose(
            logdet[k], np.linalg.slogdet(scale * value.toarray())[1], rtol=1e-9
        )


def test_pickle():
    theta = pt.dscalar("theta")
    factors = sparse.linalg.lu(sparse.constant(convection(3)) * theta)
    cost = (
        factors.logdet()
        + factors.solve(np.arange(9.0)).sum()
        + factors.solve(np.ones(9), trans=True)[0]
    )
    stored = pickle.loads(pickle.dumps((theta, cost)))
    np.testing.assert_array_equal(stored[1].eval({stored[0]: 2.0}), cost.eval({theta: 2.0}))


def test_batches_of_unknown_length_of_elements():
    """A batch of matrices whose factors differ in length is a loop, in which the vector has the length of the pattern."""
    value = random_matrix(6, 4)
    A, D = sparse.matrix("csr", "A", pattern=value), pt.dmatrix("D")
    for y in (
        sparse.linalg.lu(A).solve(np.ones(6)),
        sparse.linalg.lu(A).logdet(),
        sparse.remove0(A) @ np.ones(6),
    ):
        f = bt.function([D], bt.graph.replace.vectorize_graph(y, {A.data: D}))
        given = np.stack([value.data, 2 * value.data])
        for own, data in zip(f(given), given):
            np.testing.assert_allclose(
                own,
                bt.function([A], y)(
                    sp.csr_array((data, value.indices, value.indptr), shape=(6, 6))
                ),
                rtol=1e-12,
            )
        with pytest.raises(ValueError):
            f(given[:, 1:])


def test_functions_and_single_precision():
    value = random_matrix(12, 4).astype("float32")
    A, b = sparse.matrix("csr", "A", "float32", pattern=value), pt.fvector("b")
    x, y = bt.function(
        [A, b], [sparse.linalg.spsolve(A, b), sparse.linalg.solve(A, b, assume_a="gen")]
    )(value, np.ones(12, "float32"))
    assert x.dtype == np.float32
    np.testing.assert_array_equal(x, y)
    np.testing.assert_allclose(value.toarray() @ x, np.ones(12), rtol=1e-3)


def test_a_larger_matrix_has_as_few_elements_as_its_peers():
    value = random_matrix(400, 5, 2)
    b = np.random.default_rng(0).normal(size=400)
    x, rows = bt.function(
        [], [(x := sparse.linalg.spsolve(sparse.constant(value), b)), x.owner.inputs[6].size]
    )()
    np.testing.assert_allclose(value @ x, b, rtol=1e-8, atol=1e-8)
    from scipy.sparse.linalg import splu

    peer = splu(value.tocsc())
    assert rows <= 1.3 * (peer.L.nnz + peer.U.nnz)


def blocks(n, seed, share=1.0, diagonal=1.0):
    """A grid of 2 x 2 blocks of random elements, whose fronts have several rows of their own to choose pivots from."""
    rng = np.random.default_rng(seed)
    value = sp.csr_array(sp.kron(convection(n) != 0, np.ones((2, 2))))
    value.data = rng.normal(size=value.nnz)
    rows = np.repeat(np.arange(value.shape[0]), np.diff(value.indptr))
    own = rows // 2 == value.indices // 2
    value.data[own] = 1 + np.abs(value.data[own])
    value.data[~own] *= share
    value.data[rows == value.indices] *= diagonal
    return value


def graded(value, seed, decades):
    scale = 10 ** np.random.default_rng(seed).uniform(-decades, decades, (2, value.shape[0]))
    return sp.csr_array(sp.diags_array(scale[0]) @ value @ sp.diags_array(scale[1]))


def saddle(n):
    """[[A, B^T], [B, 0]] with the zeros of the diagonal stored."""
    A, B = convection(n), sp.eye_array(n, n * n, k=3)
    zeros = sp.coo_array((np.zeros(n), (np.arange(n), np.arange(n))), shape=(n, n))
    out = sp.block_array([[A, B.T], [B, None]], format="coo")
    rows, columns = (
        np.concatenate([a, b]) for a, b in zip(out.coords, (zeros.coords[0] + n * n,) * 2)
    )
    return sp.csr_array((np.concatenate([out.data, zeros.data]), (rows, columns)), shape=out.shape)


# By fronts: with pivots of any kind among their rows, or not at all where these are too small.
SYMMETRIC_PATTERNS = {
    "diagonal pivots": (convection(9), True),
    "exchanges in fronts": (blocks(7, 0, share=0.05, diagonal=1e-3), True),
    "pivots outside of fronts": (blocks(7, 1), False),
    "no diagonal to speak of": (blocks(6, 2, diagonal=1e-30), False),
    "saddle point": (saddle(6), None),
    "graded": (graded(convection(8), 0, 3), None),
    "graded blocks": (graded(blocks(6, 3, share=0.05), 0, 8), None),
    "nearly symmetric": (sp.csr_array(convection(6) + sp.eye_array(36, k=9) * 0.2), True),
    "dense": (sp.csr_array(np.random.default_rng(0).normal(size=(70, 70))), True),
    "tiny": (convection(5) * 1e-305, True),
    "huge": (convection(5) * 1e300, True),
}


@pytest.mark.parametrize("name", SYMMETRIC_PATTERNS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_fronts_of_symmetric_patterns(name, dtype):
    value, fits = SYMMETRIC_PATTERNS[name]
    if (
        dtype == "float32"
        and not 1e-6 < np.abs(value.data[value.data != 0]).min() < np.abs(value.data).max() < 1e6
    ):
        pytest.skip("not in the range of float32")
    value, n = value.astype(dtype), value.shape[0]
    b = np.random.default_rng(1).normal(size=(n, 2)).astype(dtype)
    factors = sparse.linalg.lu(sparse.constant(value))
    x, y = factors.solve(b), factors.solve(b, trans=True)
    node = x.owner.inputs[4].owner
    assert len(node.inputs) == 6
    by_columns = [*node.op(*node.inputs[:4])]
    determinant = factors.logdet().owner.op
    others = [
        x.owner.op(*node.inputs[:4], *by_columns, b),
        *determinant(*node.inputs[:4], *by_columns),
    ]
    f = bt.function([], [x, y, *factors.slogdet(), *others, x.owner.inputs[6], x.owner.inputs[7]])
    x, y, sign, logdet, other_x, other_sign, other_logdet, rows, row_order = f()
    dense, eps = value.toarray().astype("float64"), np.finfo(dtype).eps

    def backward_error(matrix, solution):
        scale = np.abs(matrix).max() * np.abs(solution).max() + np.abs(b).max()
        return np.abs(matrix @ solution.astype("float64") - b).max() / scale

    assert sorted(row_order) == list(range(n))
    count = 2 * len(node.inputs[5].data) - n
    if fits is not None:
        assert (len(rows) == count) == fits
    if name == "exchanges in fronts":
        assert list(row_order) != list(factors.column_order)
    with np.errstate(over="ignore"):
        for matrix, solution in ((dense, x), (dense.T, y), (dense, other_x)):
            assert backward_error(matrix, solution) < 1e3 * eps
    assert sign == other_sign
    np.testing.assert_allclose(logdet, other_logdet, rtol=1e4 * eps, atol=1e4 * eps)
    assert sign == np.linalg.slogdet(dense)[0]


@pytest.mark.parametrize(
    "name", ["diagonal pivots", "exchanges in fronts", "nearly symmetric", "large fronts"]
)
def test_derivatives_of_factors_by_fronts(name):
    value = convection(28) if name == "large fronts" else SYMMETRIC_PATTERNS[name][0]
    value.sort_indices()
    A, direction = (
        sparse.matrix("csr", "A", pattern=value),
        pt.dvector("direction", shape=(value.nnz,)),
    )
    factors = sparse.linalg.lu(A)
    first = pt.grad(factors.slogdet()[1] + factors.solve(np.ones(value.shape[0])).sum() * 0, A.data)
    D = sp.csr_array(
        (np.random.default_rng(0).normal(size=value.nnz), value.indices, value.indptr), value.shape
    )
    gradient, product = bt.function(
        [A, direction], [first, pt.grad((first * direction).sum(), A.data)]
    )(value, D.data)
    Z = np.linalg.inv(value.toarray())
    at = np.repeat(np.arange(value.shape[0]), np.diff(value.indptr)), value.indices
    expected = -(Z @ D.toarray() @ Z).T[at]
    np.testing.assert_allclose(gradient, Z.T[at], rtol=1e-7, atol=1e-10 * np.abs(Z).max())
    np.testing.assert_allclose(product, expected, rtol=1e-7, atol=1e-9 * np.abs(expected).max())


def test_fronts_of_matrices_that_are_singular_or_have_nans():
    value = blocks(5, 0, share=0.05)
    singular = value.tolil()
    singular[12] = 2 * singular[13]
    zero = value.copy()
    zero.data[zero.indptr[8] : zero.indptr[9]] = 0
    A = sparse.matrix("csr", "A", pattern=value)
    x = sparse.linalg.spsolve(A, np.ones(50))
    f = bt.function([A], x)
    assert len(x.owner.inputs[4].owner.inputs) == 6
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        f(zero)
    for position in (0, 77, value.nnz - 1):
        broken = value.copy()
        broken.data[position] = np.nan
        assert np.isnan(f(broken)).any()


def test_patterns_of_fronts_are_checked_in_calls():
    value = convection(3)
    x = sparse.linalg.spsolve(sparse.constant(value), np.ones(9))
    node = x.owner.inputs[4].owner
    values = [v.eval() for v in node.inputs]
    given = [pt.vector(f"input{k}", dtype=v.dtype) for k, v in enumerate(values)]
    factors = node.op(*given)
    f = bt.function(given, x.owner.op(*given[:4], *factors, np.ones(9)))
    expected = np.linalg.solve(value.toarray(), np.ones(9))
    np.testing.assert_allclose(f(*values), expected, rtol=1e-10)
    diagonal = [np.arange(10), np.arange(9)]
    np.testing.assert_allclose(
        f(*values[:4], *diagonal), expected, rtol=1e-10
    )  # doesn't have the matrix's elements
    np.testing.assert_allclose(
        f(*values[:4], np.arange(3), np.arange(2)), expected, rtol=1e-10
    )  # of another size
    np.testing.assert_allclose(
        f(
            *values[:4],
            np.array([0, 9, *range(10, 18)]),
            np.concatenate([np.arange(9), np.arange(1, 9)]),
        ),
        expected,
        rtol=1e-10,
    )  # not closed
    bad = {
        4: [values[4][1:], values[4] + 1, values[4][::-1], values[4][:0]],
        5: [values[5][1:], values[5] + 1, values[5][::-1], -values[5]],
    }
    for k, replacements in bad.items():
        for each in replacements:
            with pytest.raises(ValueError):
                f(*values[:k], each, *values[k + 1 :])


def test_singular_matrices():
    structural = sp.csr_array(([1.0, 2.0, 3.0], [0, 2, 0], [0, 1, 2, 3]), shape=(3, 3))
    with pytest.raises(np.linalg.LinAlgError, match="singular.*column [01]"):
        bt.function([], sparse.linalg.spsolve(sparse.constant(structural), np.ones(3)))()
    stored = sp.csr_array(([1.0, 0.0, 2.0], [0, 1, 2], [0, 1, 2, 3]), shape=(3, 3))
    A = sparse.matrix("csr", "A", pattern=stored)
    f = bt.function([A], sparse.linalg.lu(A).logdet())
    with pytest.raises(np.linalg.LinAlgError, match="column 1"):
        f(stored)
    stored.data[1] = -1.0
    np.testing.assert_allclose(f(stored), np.log(2))
    numeric = sp.csr_array(np.array([[1.0, 2.0], [2.0, 4.0]]))
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        sparse.linalg.lu(sparse.constant(numeric)).logdet().eval()


def test_nan_gives_nan():
    value = convection(3)
    value.data[4] = np.nan
    factors = sparse.linalg.lu(sparse.constant(value))
    x, sign, logdet = bt.function([], [factors.solve(np.ones(9)), *factors.slogdet()])()
    assert np.isnan(x).any() and np.isnan(sign) and np.isnan(logdet)


def test_what_is_refused():
    A = sparse.constant(convection(3))
    with pytest.raises(ValueError, match="square"):
        sparse.linalg.lu(sparse.constant(sp.csr_array((3, 4))))
    with pytest.raises(TypeError, match="vector or a matrix"):
        sparse.linalg.spsolve(A, 1.0)
    b = pt.dvector("b")
    f = bt.function([b], sparse.linalg.spsolve(A, b))
    for length in (8, 10):
        with pytest.raises(ValueError, match="length 9"):
            sparse.linalg.spsolve(A, np.ones(length))
        with pytest.raises(ValueError):
            f(np.ones(length))


def test_inputs_of_ops_are_checked_in_calls():
    """What replaces a part of a graph may be anything, and is never read out of bounds."""
    A, b = sparse.constant(convection(3)), pt.dvector("b")
    factors = sparse.linalg.lu(A)
    x = factors.solve(b)
    inputs = x.owner.inputs
    values = [v.eval() for v in inputs[:8]]
    bad = {
        1: [values[1][:-1], values[1] + 1, values[1][::-1]],
        2: [values[2] + 5, values[2] - 5, values[2][1:]],
        3: [values[3][1:], values[3] + 1, 0 * values[3]],
        4: [values[4][1:]],
        5: [values[5][1:], values[5] + 1, values[5][::-1]],
        6: [values[6] + 1, values[6] * 0, -values[6]],
        7: [values[7] + 1, values[7] * 0],
    }
    given = [pt.vector(f"input{k}", dtype=v.dtype) for k, v in enumerate(values)]
    solve = x.owner.op(*given, b)
    determinant = factors.logdet().owner.op(*given)[1]
    inverse = pt.grad(determinant, given[0])
    functions = [
        bt.function([*given, b], output, on_unused_input="ignore")
        for output in (solve, determinant, inverse)
    ]
    for f in functions:
        assert np.isfinite(f(*values, np.ones(9))).all()
    for k, replacements in bad.items():
        for each in replacements:
            arguments = list(values)
            arguments[k] = each
            for f in functions:
                with pytest.raises(ValueError):
                    f(*arguments, np.ones(9))

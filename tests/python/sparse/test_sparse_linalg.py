"""Factors of sparse matrices against dense ones: values, derivatives, and matrices without a factor."""

import pickle
import re

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale import sparse

sp = pytest.importorskip("scipy.sparse")


def grid(n, tau=0.3):
    """The precision of a field on an n x n grid, which is not in the best order."""
    path = sp.diags_array([-np.ones(n - 1), np.full(n, 2.0), -np.ones(n - 1)], offsets=[-1, 0, 1])
    Q = sp.kron(path, sp.eye_array(n)) + sp.kron(sp.eye_array(n), path) + tau * sp.eye_array(n * n)
    order = np.random.default_rng(0).permutation(n * n)
    return sp.csr_array(sp.csr_array(Q)[order][:, order])


def arrow(n):
    """Of whose orders only those with the first row last keep the factor sparse."""
    dense = np.eye(n) * n
    dense[0] = dense[:, 0] = 1
    dense[0, 0] = n
    return sp.csr_array(dense)


MATRICES = {
    "grid": grid(6),
    "arrow": arrow(7),
    "diagonal": sp.csr_array(np.diag([1.0, 2.0, 3.0])),
    "one": sp.csr_array([[4.0]]),
    "dense": sp.csr_array(np.full((4, 4), 1.0) + 4 * np.eye(4)),
    "none": sp.csr_array((0, 0)),
    "parts": sp.csr_array(sp.block_diag([grid(3), arrow(4)])),
}


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("format", ["csr", "csc"])
def test_values(name, format):
    Q = MATRICES[name].asformat(format)
    n, dense = Q.shape[0], Q.toarray()
    rng = np.random.default_rng(1)
    b, B = rng.normal(size=n), rng.normal(size=(n, 3))
    A, vb, vB = sparse.matrix(format, "A", pattern=Q), pt.dvector("b"), pt.dmatrix("B")
    factor = sparse.linalg.cholesky(A)
    f = bt.function(
        [A, vb, vB],
        [
            factor.solve(vb),
            factor.solve(vB),
            factor.logdet(),
            factor.selected_inverse(),
            factor.L,
            factor.sample(vb),
            sparse.linalg.quadratic_form(A, vb),
        ],
    )
    x, X, logdet, inverse, L, sample, form = f(Q, b, B)
    order = factor.order
    np.testing.assert_allclose(x, np.linalg.solve(dense, b), rtol=1e-9)
    np.testing.assert_allclose(X, np.linalg.solve(dense, B), rtol=1e-9)
    np.testing.assert_allclose(logdet, np.linalg.slogdet(dense)[1], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        inverse.toarray(), np.linalg.inv(dense) * (dense != 0), rtol=1e-9, atol=1e-12
    )
    np.testing.assert_allclose(
        (L @ L.T).toarray(), dense[np.ix_(order, order)], rtol=1e-9, atol=1e-12
    )
    np.testing.assert_allclose(L.toarray().T @ sample[order], b[order], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(form, b @ dense @ b, rtol=1e-12, atol=1e-12)
    assert sorted(order) == list(range(n))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_dense_parts_of_large_factors(dtype):
    """Of a field with 25 neighbours a point, whose factor has dense parts that a library for dense matrices computes."""
    Q = grid(30)
    Q = sp.csr_array(Q @ Q).astype(dtype)
    dense, n = Q.toarray().astype("float64"), Q.shape[0]
    factor = sparse.linalg.cholesky(sparse.constant(Q))
    L, logdet, inverse = bt.function([], [factor.L, factor.logdet(), factor.selected_inverse()])()
    assert L.dtype == inverse.dtype == dtype
    tolerance = 1e-10 if dtype == "float64" else 1e-3
    np.testing.assert_allclose(
        (L @ L.T).toarray(), dense[np.ix_(factor.order, factor.order)], atol=tolerance * 50
    )
    np.testing.assert_allclose(logdet, np.linalg.slogdet(dense)[1], rtol=tolerance)
    np.testing.assert_allclose(
        inverse.toarray(), np.linalg.inv(dense) * (dense != 0), atol=tolerance * 10
    )
    # An element far along in a dense part is not positive.
    last = factor.order[n - 3]
    bad = Q.copy()
    bad[last, last] = 0.0
    with pytest.raises(np.linalg.LinAlgError, match=f"row {last}\n"):
        sparse.linalg.logdet(sparse.constant(bad)).eval()


def test_patterns_of_no_factor_are_refused_in_calls():
    """Columns 0 and 1 have rows that the column of the first of these lacks: nothing is read out of bounds."""
    factor = sparse.linalg.cholesky(sparse.constant(grid(2))).L
    inverse = (
        sparse.linalg.cholesky(sparse.constant(grid(2)))
        .selected_inverse()
        .data.owner.inputs[0]
        .owner
    )
    cholesky = factor.data.owner
    derivative = bt.pushforward(inverse.outputs[0], inverse.inputs[0], inverse.inputs[0]).owner
    for bounds, rows in (([0, 3, 4, 5], [0, 1, 2, 1, 2]), ([0, 3, 5, 6, 7], [0, 1, 3, 1, 2, 2, 3])):
        values, bounds, rows = np.ones(len(rows)), np.array(bounds), np.array(rows)
        with pytest.raises(ValueError, match="expected the pattern of a factor"):
            cholesky.op(values, bounds, rows, np.arange(len(bounds) - 1)).eval()
        with pytest.raises(ValueError, match="expected the pattern of a factor"):
            inverse.op(values, values, bounds, rows).eval()
        with pytest.raises(ValueError, match="expected the pattern of a factor"):
            derivative.op(values, values, values, bounds, rows).eval()


def test_the_order_keeps_factors_sparse():
    factor = sparse.linalg.cholesky(sparse.constant(arrow(50)))
    assert factor.L.static_shape == (50, 50) and len(factor.L.indices.data) == 99
    Q = grid(20)
    own = len(sparse.linalg.cholesky(sparse.constant(Q)).L.indices.data)
    from scipy.sparse.linalg import splu

    peer = splu(
        Q.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0, options={"SymmetricMode": True}
    )
    assert own <= 1.2 * peer.L.nnz


def test_gradients_by_a_parameter_and_by_the_data():
    Q, n = grid(4), 16
    dense = Q.toarray()
    rng = np.random.default_rng(2)
    b = rng.normal(size=n)
    theta, vb = pt.dscalar("theta"), pt.dvector("b")
    A = sparse.constant(Q) * pt.exp(theta) + sparse.constant(
        sp.eye_array(n, format="csr")
    ) * pt.sqr(theta)
    D = pt.constant(dense) * pt.exp(theta) + pt.eye(n) * pt.sqr(theta)
    factor = sparse.linalg.cholesky(A)
    own = (
        factor.logdet()
        + (factor.solve(vb) ** 2).sum()
        + (factor.sample(vb)[0] ** 2 + factor.L.data.sum()) * 0.1
    )
    f = bt.function([theta, vb], [own, *pt.grad(own, [theta, vb])])
    value, by_theta, by_b = f(0.4, b)
    step = 1e-6
    np.testing.assert_allclose(
        by_theta, (f(0.4 + step, b)[0] - f(0.4 - step, b)[0]) / (2 * step), rtol=1e-6
    )
    for k in range(3):
        shift = step * np.eye(n)[k]
        np.testing.assert_allclose(
            by_b[k],
            (f(0.4, b + shift)[0] - f(0.4, b - shift)[0]) / (2 * step),
            rtol=1e-5,
            atol=1e-8,
        )
    # Against dense matrices, and second derivatives.
    sparse_cost = (factor.solve(vb) * vb).sum()
    dense_cost = (pt.linalg.solve(D, vb, assume_a="pos") * vb).sum()
    for cost in (sparse_cost, dense_cost):
        first = pt.grad(cost, theta)
        g = bt.function([theta, vb], [cost, first, pt.grad(first, theta), bt.hessian(cost, vb)])
        results = g(0.4, b)
        if cost is sparse_cost:
            expected = results
    for one, other in zip(results, expected):
        np.testing.assert_allclose(one, other, rtol=1e-8)
    logdets = [factor.logdet(), pt.linalg.slogdet(D)[1]]
    one, other = (bt.function([theta], pt.grad(cost, theta))(0.4) for cost in logdets)
    np.testing.assert_allclose(one, other, rtol=1e-9)


def test_the_gradient_of_logdet_by_data_reads_the_lower_triangle():
    Q = grid(3)
    A = sparse.matrix("csr", "A", pattern=Q)
    g = bt.function([A], A.with_data(pt.grad(sparse.linalg.logdet(A), A.data)))(Q).toarray()
    inverse = np.linalg.inv(Q.toarray())
    expected = np.tril(2 * inverse, -1) + np.diag(np.diag(inverse))
    np.testing.assert_allclose(g, expected * (Q.toarray() != 0), rtol=1e-9, atol=1e-12)


def positions(matrix):
    """The rows and columns of the stored elements, in the order of a sorted csr matrix."""
    matrix = matrix.sorted_indices()
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)), matrix.indices


def random_precision(n, density, seed):
    """A positive definite matrix with a random pattern, with no zeros on its diagonal."""
    part = sp.random_array((n, n), density=density, rng=np.random.default_rng(seed), format="csr")
    return sp.csr_array(part @ part.T + sp.diags_array(np.full(n, 1.0)) + 0.1 * (part + part.T))


HESSIANS = {
    **MATRICES,
    **{f"random {k}": random_precision(9, 0.05 + 0.05 * k, k) for k in range(6)},
}


@pytest.mark.parametrize("name", HESSIANS)
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_forward_derivatives_of_factors_and_samples(name, dtype):
    """dL = L Phi(L^-1 dA L^-H), with Phi the lower triangle and half the diagonal; transposed, the gradient."""
    Q = HESSIANS[name].astype(dtype)
    n, random = Q.shape[0], np.random.default_rng(4)
    if dtype == "complex128":
        angle = np.exp(1j * random.normal(size=n))
        Q = sp.csr_array(sp.diags_array(angle) @ Q @ sp.diags_array(angle.conj())).sorted_indices()
    A, direction = (
        sparse.matrix("csr", "A", dtype, pattern=Q),
        pt.vector("direction", dtype=dtype, shape=(Q.nnz,)),
    )
    factor = sparse.linalg.cholesky(A)
    z = random.normal(size=n)
    L, sample = factor.L, factor.sample(z)
    tangents = bt.pushforward([L.data, sample], [A.data], [direction])
    given = random.normal(size=Q.nnz) + (
        1j * random.normal(size=Q.nnz) if dtype == "complex128" else 0
    )
    given, (lower, x, by_L, by_x) = (
        given.astype(dtype),
        bt.function([A, direction], [L, sample, *tangents])(Q, given.astype(dtype)),
    )
    rows, columns = positions(Q)
    D = np.zeros((n, n), dtype)
    for i, j, value in zip(rows, columns, given):
        if i >= j:
            D[i, j], D[j, i] = value, np.conj(value)
        if i == j:
            D[i, j] = value.real
    order, inverse = factor.order, np.linalg.inv(lower.toarray())
    middle = inverse @ D[np.ix_(order, order)] @ inverse.conj().T
    expected = lower.toarray() @ (np.tril(middle, -1) + np.diag(np.diag(middle)) / 2)
    np.testing.assert_allclose(
        sp.csc_array((by_L, lower.indices, lower.indptr), shape=(n, n)).toarray(),
        expected,
        rtol=1e-8,
        atol=1e-11,
    )
    np.testing.assert_allclose(
        by_x[order], -inverse.conj().T @ (expected.conj().T @ x[order]), rtol=1e-8, atol=1e-11
    )
    weights = random.normal(size=len(by_L))
    slope = bt.function([A], pt.grad((pt.real(L.data) * weights).sum(), A.data))(Q)
    np.testing.assert_allclose(
        np.vdot(slope, given).real, by_L.real @ weights, rtol=1e-8, atol=1e-10
    )


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_forward_derivatives_of_large_factors(dtype):
    """With dense parts, against the gradient."""
    Q = grid(20)
    Q = sp.csr_array(Q @ Q).astype(dtype)
    theta = pt.scalar("theta", dtype=dtype)
    L = sparse.linalg.cholesky(
        sparse.constant(Q) * pt.exp(theta)
        + sparse.constant(sp.eye_array(400, format="csr", dtype=dtype))
    ).L.data
    cost = (L * np.random.default_rng(0).normal(size=L.type.shape).astype(dtype)).sum()
    forward, backward = bt.function(
        [theta],
        [bt.pushforward(cost, theta, pt.constant(np.array(1, dtype))), pt.grad(cost, theta)],
    )(np.array(0.3, dtype))
    assert forward.dtype == dtype
    np.testing.assert_allclose(forward, backward, rtol=1e-9 if dtype == "float64" else 1e-3)


@pytest.mark.parametrize("name", HESSIANS)
@pytest.mark.parametrize("mode", ["reverse", "forward", "over"])
def test_second_derivatives_of_logdet(name, mode):
    """Of a dense inverse S: the product of the Hessian with D is -(S D S), where only lower triangles are read."""
    Q = HESSIANS[name]
    n = Q.shape[0]
    A, direction = sparse.matrix("csr", "A", pattern=Q), pt.dvector("direction", shape=(Q.nnz,))
    first = pt.grad(sparse.linalg.logdet(A), A.data)
    product = {
        "reverse": lambda: pt.grad((first * direction).sum(), A.data),
        "forward": lambda: bt.pushforward(first, A.data, direction),
        "over": lambda: bt.hessian_vector_product(sparse.linalg.logdet(A), A.data, direction),
    }[mode]()
    given = np.random.default_rng(1).normal(size=Q.nnz)
    found = bt.function([A, direction], product)(Q, given)
    rows, columns = positions(Q)
    D = np.zeros((n, n))
    for i, j, value in zip(rows, columns, given):
        if i >= j:
            D[i, j] = D[j, i] = value
    S = np.linalg.inv(Q.toarray())
    full = -S @ D @ S
    expected = full[rows, columns] * np.where(rows > columns, 2, rows == columns)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_second_derivatives_of_large_factors(dtype):
    """With dense parts that a library for dense matrices computes."""
    Q = grid(20)
    Q = sp.csr_array(Q @ Q).astype(dtype)
    theta = pt.scalar("theta", dtype=dtype)
    cost = sparse.linalg.logdet(
        sparse.constant(Q) * pt.exp(theta)
        + sparse.constant(sp.eye_array(400, format="csr", dtype=dtype))
    )
    second = bt.function([theta], pt.grad(pt.grad(cost, theta), theta))(np.array(0.3, dtype))
    assert second.dtype == dtype
    values = np.linalg.eigvalsh(Q.toarray().astype("float64")) * np.exp(0.3)
    np.testing.assert_allclose(
        second, (values / (1 + values) ** 2).sum(), rtol=1e-10 if dtype == "float64" else 1e-4
    )


def test_derivatives_of_a_selected_inverse_by_a_parameter():
    Q = grid(4)
    theta, weights = pt.dscalar("theta"), np.random.default_rng(0).normal(size=Q.nnz)
    A = sparse.constant(Q) * theta + sparse.constant(sp.eye_array(16, format="csr")) * pt.sqr(theta)
    # The sum of two patterns has that of Q.
    cost = (sparse.linalg.cholesky(A).selected_inverse().data * weights).sum()
    f = bt.function(
        [theta], [cost, pt.grad(cost, theta), bt.pushforward(cost, theta, pt.constant(1.0))]
    )
    _, backward, forward = f(0.7)
    D = lambda t: np.linalg.inv(Q.toarray() * t + np.eye(16) * t**2)  # noqa: E731
    S = D(0.7)
    rows, columns = positions(Q)
    expected = ((-S @ (Q.toarray() + 1.4 * np.eye(16)) @ S)[rows, columns] * weights).sum()
    np.testing.assert_allclose([backward, forward], expected, rtol=1e-9)


def test_second_derivatives_take_batches():
    Q = grid(3)
    theta, thetas = pt.dscalar("theta"), pt.dvector("thetas")
    cost = sparse.linalg.logdet(
        sparse.constant(Q) * pt.exp(theta) + sparse.constant(sp.eye_array(9, format="csr"))
    )
    second = bt.graph.replace.vectorize_graph(pt.grad(pt.grad(cost, theta), theta), {theta: thetas})
    found = bt.function([thetas], second)([0.0, 0.5])
    values = np.linalg.eigvalsh(Q.toarray())[:, None] * np.exp([0.0, 0.5])
    np.testing.assert_allclose(found, (values / (1 + values) ** 2).sum(0), rtol=1e-9)


def test_the_gradient_of_a_laplace_approximation():
    """Of the log determinant of a Hessian that depends on the mode, by a parameter, and again by it."""
    Q = grid(4)
    theta, b = pt.dscalar("theta"), np.linspace(-1, 1, 16)
    A = sparse.constant(Q) * pt.exp(theta)
    x = sparse.linalg.solve(A, pt.constant(b))
    weights = sparse.constant(sp.eye_array(16, format="csr")) * pt.exp(x)
    cost = sparse.linalg.logdet(A + weights)
    D = pt.constant(Q.toarray()) * pt.exp(theta)
    dense = pt.linalg.slogdet(
        D + pt.diag(pt.exp(pt.linalg.solve(D, pt.constant(b), assume_a="pos")))
    )[1]
    results = []
    for each in (cost, dense):
        first = pt.grad(each, theta)
        results.append(bt.function([theta], [each, first, pt.grad(first, theta)])(0.2))
    np.testing.assert_allclose(*results, rtol=1e-9)


def test_third_derivatives_of_logdet_are_named():
    theta = pt.dscalar("theta")
    second = pt.grad(pt.grad(sparse.linalg.logdet(sparse.constant(grid(3)) * theta), theta), theta)
    with pytest.raises(Exception, match="third derivatives of logdet"):
        pt.grad(second, theta)


def test_value_and_gradient_share_one_factorisation():
    theta, b = pt.dscalar("theta"), pt.dvector("b")
    factor = sparse.linalg.cholesky(sparse.constant(grid(3)) * theta)
    cost = factor.logdet() + (factor.solve(b) * b).sum()
    f = bt.function([theta, b], [cost, pt.grad(cost, theta)])
    names = [type(node.op).__name__ for node in f.fgraph.toposort()]
    assert names.count("SparseCholesky") == 1


def test_batches():
    Q = grid(3)
    theta, thetas, b, B = (
        pt.dscalar("theta"),
        pt.dvector("thetas"),
        pt.dvector("b"),
        pt.dmatrix("B"),
    )
    factor = sparse.linalg.cholesky(sparse.constant(Q) * theta)
    both = bt.graph.replace.vectorize_graph(
        [factor.solve(b), factor.logdet()], {theta: thetas, b: B}
    )
    x, logdet = bt.function([thetas, B], both)([1.0, 2.0], np.ones((2, 9)))
    for k, scale in enumerate((1.0, 2.0)):
        np.testing.assert_allclose(
            x[k], np.linalg.solve(scale * Q.toarray(), np.ones(9)), rtol=1e-9
        )
        np.testing.assert_allclose(logdet[k], np.linalg.slogdet(scale * Q.toarray())[1], rtol=1e-9)


def test_pickle():
    theta = pt.dscalar("theta")
    factor = sparse.linalg.cholesky(sparse.constant(grid(3)) * theta)
    cost = (
        factor.logdet()
        + factor.solve(np.ones(9)).sum()
        + factor.sample(np.ones(9)).sum()
        + factor.selected_inverse().sum()
    )
    stored = pickle.loads(pickle.dumps((theta, cost)))
    np.testing.assert_array_equal(stored[1].eval({stored[0]: 2.0}), cost.eval({theta: 2.0}))


def test_single_precision():
    Q = grid(4).astype("float32")
    A, b = sparse.matrix("csr", "A", "float32", pattern=Q), pt.fvector("b")
    x = bt.function([A, b], sparse.linalg.solve(A, b))(Q, np.ones(16, "float32"))
    assert x.dtype == np.float32
    np.testing.assert_allclose(x, np.linalg.solve(Q.toarray(), np.ones(16)), rtol=1e-4)


def test_matrices_without_a_factor():
    Q = grid(3)
    for bad, row in ((-1.0, 4), (np.nan, 4), (0.0, 4)):
        values = Q.copy()
        values[row, row] = bad
        A = sparse.matrix("csr", "A", pattern=values)
        with pytest.raises(
            np.linalg.LinAlgError, match="not positive definite: elimination fails at row"
        ):
            bt.function([A], sparse.linalg.logdet(A))(values)
    diagonal = sp.diags_array([1.0, 2.0, -3.0, 4.0]).tocsr()
    with pytest.raises(np.linalg.LinAlgError, match="row 2"):
        bt.function([], sparse.linalg.logdet(sparse.constant(diagonal)))()


def test_what_is_refused():
    Q = sparse.constant(grid(3))
    with pytest.raises(ValueError, match="square"):
        sparse.linalg.cholesky(sparse.constant(sp.csr_array((3, 4))))
    for length in (8, 10):
        with pytest.raises(ValueError, match="length 9"):
            sparse.linalg.solve(Q, np.ones(length))
        b = pt.dvector("b")
        with pytest.raises(ValueError):
            bt.function([b], sparse.linalg.solve(Q, b))(np.ones(length))
    with pytest.raises(TypeError, match="vector or a matrix"):
        sparse.linalg.solve(Q, 1.0)


# ---- triangles -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("format", ["csr", "csc"])
def test_triangular_systems(format, lower):
    rng = np.random.default_rng(8)
    value = sp.csr_array(
        np.where(rng.random((7, 7)) < 0.4, rng.normal(size=(7, 7)), 0)
        + np.diag(rng.uniform(1, 2, 7))
    ).asformat(format)
    dense = (np.tril if lower else np.triu)(value.toarray())
    b, B = rng.normal(size=7), rng.normal(size=(7, 3))
    vb, vB, M = pt.dvector("b"), pt.dmatrix("B"), pt.dmatrix("M")
    for A in (sparse.matrix(format, "A"), sparse.matrix(format, "A", pattern=value)):
        x, X = (
            sparse.linalg.solve_triangular(A, vb, lower=lower),
            sparse.linalg.solve_triangular(A, vB, lower=lower),
        )
        cost = pt.sin(x).sum() + (X**2).sum()
        f = bt.function(
            [A, vb, vB], [x, X, A.with_data(pt.grad(cost, A.data)), *pt.grad(cost, [vb, vB])]
        )
        plain = (
            pt.linalg.solve_triangular(M, vb, lower=lower),
            pt.linalg.solve_triangular(M, vB, lower=lower),
        )
        cost = pt.sin(plain[0]).sum() + (plain[1] ** 2).sum()
        g = bt.function([M, vb, vB], [*plain, *pt.grad(cost, [M, vb, vB])])
        for own, expected in zip(f(value, b, B), g(dense, b, B)):
            if sp.issparse(own):
                own, expected = own.toarray(), np.where(dense != 0, expected, 0)
            np.testing.assert_allclose(own, expected, rtol=1e-9, atol=1e-11)


def test_triangles():
    value = sp.csr_array(np.arange(1.0, 13.0).reshape(3, 4))
    for A in (sparse.matrix("csr", "A"), sparse.matrix("csr", "A", pattern=value)):
        ks = (-3, -1, 0, 2, 5)
        got = bt.function(
            [A],
            [sparse.tril(A, k) for k in ks] + [sparse.triu(A, k) for k in ks] + [sparse.tril(A.T)],
        )(value)
        for own, expected in zip(
            got,
            [sp.tril(value, k) for k in ks] + [sp.triu(value, k) for k in ks] + [sp.tril(value.T)],
        ):
            assert own.nnz == expected.nnz
            np.testing.assert_array_equal(own.toarray(), expected.toarray())


def test_triangular_systems_without_solution():
    A, b = sparse.matrix("csr", "A"), np.ones(3)
    f = bt.function([A], sparse.linalg.solve_triangular(A, b))
    for bad in (
        np.diag([1.0, 0.0, 2.0]),
        np.diag([1.0, 2.0, 0.0]),
        [[1, 0, 0], [0, 0, 0], [0, 1, 1]],
        np.zeros((3, 3)),
    ):
        with pytest.raises((np.linalg.LinAlgError, ValueError)):
            f(sp.csr_array(np.asarray(bad, "float64")))
    stored = sp.csr_array((np.array([1.0, 0.0, 2.0]), np.arange(3), np.arange(4)), shape=(3, 3))
    with pytest.raises(np.linalg.LinAlgError, match="diagonal"):
        f(stored)
    for bad in (np.ones((3, 4)), np.ones((4, 3)), np.ones((2, 2))):
        with pytest.raises(ValueError):
            f(sp.csr_array(bad))
    with pytest.raises(ValueError):
        sparse.linalg.solve_triangular(sparse.constant(sp.csr_array(np.ones((3, 4)))), b)
    empty = bt.function([A, v := pt.dvector("v")], sparse.linalg.solve_triangular(A, v))
    assert empty(sp.csr_array((0, 0)), []).shape == (0,)


@pytest.mark.parametrize(("density", "dense"), [(0.01, False), (0.1, True), (1.0, True)])
def test_a_factor_is_dense_where_much_of_it_is_stored(density, dense):
    """Values and derivatives are those of dense matrices, and dprint says that all columns are eliminated as one dense matrix."""
    n, random = 60, np.random.default_rng(3)
    part = sp.random_array((n, n), density=density, rng=random)
    Q = sp.csr_array(part + part.T + sp.eye_array(n) * n)
    A, b, w = sparse.matrix("csr", "A", pattern=Q), pt.dvector("b"), random.normal(size=n)
    factor, full = sparse.linalg.cholesky(A), A.todense()
    weights = random.normal(size=Q.nnz)
    own = [
        factor.logdet(),
        (factor.solve(b) * w).sum(),
        (factor.selected_inverse().data * weights).sum(),
    ]
    plain = [
        pt.linalg.slogdet(full)[1],
        (pt.linalg.solve(full, b) * w).sum(),
        (A.with_data(weights) * pt.linalg.inv(full)).sum(),
    ]
    f, g = (
        bt.function([A, b], [*costs, *(pt.grad(cost, A.data) for cost in costs)])
        for costs in (own, plain)
    )
    symmetric = lambda data: (
        (G := sp.csr_array((data, Q.indices, Q.indptr), shape=Q.shape).toarray()) + G.T
    )  # noqa: E731
    for k, (x, y) in enumerate(zip(f(Q, w), g(Q, w))):
        np.testing.assert_allclose(
            symmetric(x) if k > 2 else x, symmetric(y) if k > 2 else y, rtol=1e-8, atol=1e-12
        )
    L, order = bt.function([A], factor.L)(Q), factor.order
    np.testing.assert_allclose(
        (L @ L.T).toarray(), Q.toarray()[np.ix_(order, order)], rtol=1e-9, atol=1e-12
    )
    said = re.search(r"SparseCholesky\{dense=(\w+)\}", bt.dprint(factor.logdet(), file="str"))[1]
    assert said == str(dense) and (L.nnz == n * (n + 1) // 2) == dense

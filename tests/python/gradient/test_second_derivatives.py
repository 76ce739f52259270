"""Sparse Jacobians by coloring, and products with second derivatives that are never materialized."""

import numpy as np
import pytest
import scipy.sparse

import bitale as bt
import bitale.tensor as pt


def banded(n, below, above):
    return np.tril(np.triu(np.ones((n, n), bool), -below), above)


def arrow(n):
    pattern = np.eye(n, dtype=bool)
    pattern[0, :] = pattern[:, 0] = True
    return pattern


PATTERNS = {
    "diagonal": banded(9, 0, 0),
    "tridiagonal": banded(12, 1, 1),
    "band to one side": banded(12, 3, 0),
    "arrow": arrow(10),
    "dense row": np.eye(8, dtype=bool) | (np.arange(8) == 7)[:, None],
    "dense column": np.eye(8, dtype=bool) | (np.arange(8) == 2)[None],
    "tall": np.repeat(np.eye(4, dtype=bool), 3, axis=0),
    "wide": np.repeat(np.eye(4, dtype=bool), 3, axis=1),
    "dense": np.ones((3, 5), bool),
    "block diagonal": np.kron(np.eye(3, dtype=bool), np.ones((2, 2), bool)),
    "empty": np.zeros((3, 4), bool),
    "no rows": np.zeros((0, 4), bool),
}


@pytest.mark.parametrize("name", PATTERNS)
def test_patterns(name, mode):
    pattern = PATTERNS[name]
    rng = np.random.default_rng(1)
    x = pt.dvector("x")
    weights = pt.constant(np.where(pattern, rng.normal(size=pattern.shape), 0.0))
    y = (
        pt.sin(weights * x).sum(axis=1) + pt.cos(weights @ x)
        if pattern.size
        else pt.zeros(pattern.shape[0]) * x.sum()
    )
    by_coloring = bt.jacobian(y, x, sparsity=pattern)
    assert by_coloring.type.shape == pattern.shape
    at = rng.normal(size=pattern.shape[1])
    sparse, dense = bt.function([x], [by_coloring, bt.jacobian(y, x)], mode=mode)(at)
    np.testing.assert_allclose(sparse, dense, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("seed", range(12))
def test_random_patterns(seed):
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, 15, 2))
    pattern = rng.random(shape) < rng.choice([0.05, 0.2, 0.5])
    x = pt.dvector("x")
    weights = pt.constant(np.where(pattern, rng.normal(size=shape), 0.0))
    y = (pt.tanh(weights * x) * x).sum(axis=1)
    sparse, dense = bt.function([x], [bt.jacobian(y, x, sparsity=pattern), bt.jacobian(y, x)])(
        rng.normal(size=shape[1])
    )
    np.testing.assert_allclose(sparse, dense, rtol=1e-12, atol=1e-14)


def test_a_large_banded_jacobian_takes_few_products():
    n = 2000
    x = pt.dvector("x")
    y = pt.concatenate([x[:1] ** 2, x[1:] ** 2 * x[:-1]])
    pattern = scipy.sparse.diags([np.ones(n), np.ones(n - 1)], [0, -1])
    at = np.linspace(0.5, 1.5, n)
    jacobian = bt.function([x], bt.jacobian(y, x, sparsity=pattern))(at)
    expected = np.diag(2 * at * np.concatenate([[1], at[:-1]])) + np.diag(at[1:] ** 2, -1)
    np.testing.assert_allclose(jacobian, expected)


def test_sparse_hessian(mode):
    x = pt.dvector("x")
    # Rosenbrock's function, whose Hessian is tridiagonal
    cost = (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()
    at = np.array([0.3, -1.2, 0.8, 1.1, 0.5])
    sparse, dense = bt.function(
        [x], [bt.hessian(cost, x, sparsity=banded(5, 1, 1)), bt.hessian(cost, x)], mode=mode
    )(at)
    np.testing.assert_allclose(sparse, dense, rtol=1e-12, atol=1e-12)
    zero = bt.hessian(x.sum(), x, sparsity=np.eye(3, dtype=bool))
    assert (
        bt.function([x], zero, on_unused_input="ignore")([1.0, 2.0, 3.0]).tolist()
        == np.zeros((3, 3)).tolist()
    )


def test_nan_stays_in_its_element(mode):
    x = pt.dvector("x")
    jacobian = bt.function(
        [x], bt.jacobian(pt.sqrt(x), x, sparsity=np.eye(3, dtype=bool)), mode=mode
    )([-1.0, 4.0, 1.0])
    assert (
        np.isnan(jacobian[0, 0])
        and jacobian[1:].tolist() == [[0, 0.25, 0], [0, 0, 0.5]]
        and not jacobian[0, 1:].any()
    )


def test_derivatives_of_a_sparse_jacobian():
    x = pt.dvector("x")
    of_sum = bt.grad(bt.jacobian(x**3, x, sparsity=np.eye(2, dtype=bool)).sum(), x)
    assert bt.function([x], of_sum)([1.0, 2.0]).tolist() == [6, 12]


@pytest.mark.parametrize("linear", [False, True])
def test_another_length_is_an_error(linear, mode):
    x, fixed = pt.dvector("x"), pt.vector("fixed", shape=(4,))
    f = bt.function(
        [x], bt.jacobian(x * 2 if linear else x**2, x, sparsity=np.eye(3, dtype=bool)), mode=mode
    )
    f(np.ones(3))
    with pytest.raises(bt.ShapeError):
        f(np.ones(4))
    with pytest.raises(bt.ShapeError, match=r"\(3, 3\).*has length 4"):
        bt.jacobian(fixed**2, fixed, sparsity=np.eye(3, dtype=bool))


def test_invalid_arguments_with_sparsity():
    x, m, s = pt.dvector("x"), pt.dmatrix("m"), pt.dscalar("s")
    pattern = np.eye(3, dtype=bool)
    for refused in (
        lambda: bt.jacobian(m, x, sparsity=pattern),
        lambda: bt.jacobian(x * s, s, sparsity=pattern),
        lambda: bt.jacobian(x, [x], sparsity=pattern),
        lambda: bt.jacobian(x, x, sparsity=np.ones(3, bool)),
        lambda: bt.hessian(m.sum(), m, sparsity=pattern),
    ):
        with pytest.raises(TypeError):
            refused()
    with pytest.raises(bt.DisconnectedInputError):
        bt.jacobian(x, pt.dvector("z"), sparsity=pattern)


# ---- products --------------------------------------------------------------------------------------------------------


def test_hessian_vector_products(mode):
    x, v, m = pt.dvector("x"), pt.dvector("v"), pt.constant(np.arange(9.0).reshape(3, 3) / 9)
    cost = pt.exp(m @ x).sum() * x.prod()
    values = np.array([0.3, -0.6, 1.1]), np.array([1.0, 2.0, -1.0])
    product, hessian = bt.function(
        [x, v],
        [bt.hessian_vector_product(cost, x, v), bt.hessian(cost, x)],
        on_unused_input="ignore",
        mode=mode,
    )(*values)
    np.testing.assert_allclose(product, hessian @ values[1], rtol=1e-12)
    # Forward-over-reverse and reverse-over-reverse mode agree.
    other = bt.function([x, v], bt.grad((bt.grad(cost, x) * v).sum(), x), mode=mode)(*values)
    np.testing.assert_allclose(product, other, rtol=1e-12)


def test_products_of_a_running_product_of_a_concatenation(mode):
    """The second derivatives are sums over all pairs of elements, but the size of the graph is independent of their
    number."""
    x = pt.tensor("x", dtype="float64", shape=(None, 1, None))
    p = pt.tensor("p", dtype="float64", shape=(None, 1, None))
    cost = (0.7 * (pt.cumprod(pt.concatenate([x, x], axis=0), axis=None) * 1.3)).sum()
    product = bt.grad((bt.grad(cost, x) * p).sum(), x)
    f = bt.function([x, p], product, mode=mode)
    assert len(f.maker.fgraph.toposort()) < 300
    at, along = (
        np.array([0.5, -1.2, 0.8, 1.5]).reshape(2, 1, 2),
        np.array([1.0, 0.5, -0.25, 2.0]).reshape(2, 1, 2),
    )
    gradient = bt.function([x], bt.grad(cost, x), mode=mode)
    step = 1e-5
    differences = (gradient(at + step * along) - gradient(at - step * along)) / (2 * step)
    np.testing.assert_allclose(f(at, along), differences, rtol=1e-6)
    assert f(np.ones((0, 1, 3)), np.ones((0, 1, 3))).shape == (0, 1, 3)


def test_gauss_newton_products(mode):
    rng = np.random.default_rng(0)
    w, b, v, u = pt.dvector("w"), pt.dscalar("b"), pt.dvector("v"), pt.dscalar("u")
    inputs = pt.constant(rng.normal(size=(5, 3)))
    outputs = pt.tanh(inputs @ w + b)
    cost = (
        pt.logsumexp(outputs) + (outputs**4).sum() + (w**2).sum()
    )  # Gauss-Newton treats the last term as constant
    got = bt.gradient.gauss_newton_vector_product(cost, outputs, [w, b], [v, u])
    jacobians = bt.jacobian(outputs, [w, b])
    leaf = pt.dvector("leaf")
    hessian = bt.hessian(pt.logsumexp(leaf) + (leaf**4).sum(), leaf)
    values = rng.normal(size=3), 0.2, rng.normal(size=3), -0.7
    of_w, of_b, J, j, at = bt.function(
        [w, b, v, u], [*got, *jacobians, outputs], on_unused_input="ignore", mode=mode
    )(*values)
    full, H = np.column_stack([J, j]), bt.function([leaf], hessian)(at)
    expected = full.T @ H @ full @ np.append(values[2], values[3])
    np.testing.assert_allclose(np.append(of_w, of_b), expected, rtol=1e-10)


def test_gauss_newton_of_squares_and_of_outputs_that_depend_on_each_other():
    x, v = pt.dvector("x"), pt.dvector("v")
    r = pt.sin(x)
    f = bt.function([x, v], bt.gradient.gauss_newton_vector_product((r**2).sum() / 2, r, x, v))
    np.testing.assert_allclose(f([0.2, 1.0], [1.0, 2.0]), np.cos([0.2, 1.0]) ** 2 * [1, 2])
    a = x**2
    b = a * 3
    g = bt.function(
        [x, v],
        bt.gradient.gauss_newton_vector_product(((a**2).sum() + (b**2).sum()) / 2, [a, b], x, v),
    )
    np.testing.assert_allclose(g([1.0, 2.0], [1.0, 1.0]), (2 * np.array([1.0, 2.0])) ** 2 * (1 + 9))
    with pytest.raises(ValueError, match="expected 1 values, got 2"):
        bt.gradient.gauss_newton_vector_product((r**2).sum(), r, [x], [v, v])
    with pytest.raises(TypeError, match="outputs"):
        bt.gradient.gauss_newton_vector_product((r**2).sum(), pt.lvector("i"), x, v)


def test_lop_and_rop(mode):
    x, v, u = pt.dvectors("x", "v", "u")
    y = pt.cumsum(x**2) * x[0]
    rop, lop, J = bt.function(
        [x, v, u], [bt.Rop(y, x, v), bt.Lop(y, x, u), bt.jacobian(y, x)], mode=mode
    )([1.0, 2.0, 3.0], [1.0, -1.0, 0.5], [0.1, 0.2, 0.3])
    np.testing.assert_allclose(rop, J @ [1.0, -1.0, 0.5])
    np.testing.assert_allclose(lop, [0.1, 0.2, 0.3] @ J)

"""Jacobians and Hessians as sparse matrices, whose patterns are found from the graph."""

import subprocess
import sys

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale import sparse

sp = pytest.importorskip("scipy.sparse")

n = 6
band = lambda below, above: np.tril(np.triu(np.ones((n, n), bool), -below), above)
A = np.where(np.random.default_rng(0).random((n, n)) < 0.3, 1.5, 0.0)
S = sp.csr_array(A)
GROUPS = np.array([0, 2, 1, 1, 0, 2])


def incidence(groups):
    return np.eye(3, dtype=bool)[groups]


# An expression of x, and the pattern of its Jacobian: exactly what may be nonzero.
EXPRESSIONS = {
    "elementwise": (lambda x: pt.exp(x) * x + pt.sin(x) / 2, band(0, 0)),
    "constant part": (lambda x: pt.switch(np.arange(n) < 2, x, 3.0), np.diag(np.arange(n) < 2)),
    "switch of x": (lambda x: pt.switch(x > 0, x**2, -x), band(0, 0)),
    "differences": (lambda x: x[1:] - x[:-1], (band(0, 1) | band(0, 0))[:-1]),
    "reversed": (lambda x: x[::-1] ** 2, np.eye(n, dtype=bool)[::-1]),
    "gather": (lambda x: x[GROUPS] * 2, np.eye(n, dtype=bool)[GROUPS]),
    "scatter": (lambda x: pt.inc_subtensor(pt.zeros(3)[GROUPS], x**2), incidence(GROUPS).T),
    "update": (lambda x: pt.inc_subtensor(x[1:3], x[4:6] ** 2), np.eye(n, dtype=bool) | np.eye(n, k=3, dtype=bool) & np.isin(np.arange(n), [1, 2])[:, None]),
    "replacement": (lambda x: pt.set_subtensor(x[1:3], x[4] ** 2), np.array([[1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 1, 0], [0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1]], bool)),
    "row sums": (lambda x: x.reshape((3, 2)).sum(axis=1), np.kron(np.eye(3), np.ones((1, 2))).astype(bool)),
    "column sums": (lambda x: (x.reshape((3, 2)) ** 2).sum(axis=0), np.kron(np.ones((1, 3)), np.eye(2)).astype(bool)),
    "largest of rows": (lambda x: x.reshape((3, 2)).max(axis=1), np.kron(np.eye(3), np.ones((1, 2))).astype(bool)),
    "transposed": (lambda x: pt.exp(x.reshape((3, 2))).T.flatten(), np.eye(n, dtype=bool)[[0, 2, 4, 1, 3, 5]]),
    "joined": (lambda x: pt.concatenate([x[2:] ** 2, pt.ones(2), x[:1]]), np.vstack([np.eye(n)[2:], np.zeros((2, n)), np.eye(n)[:1]]).astype(bool)),
    "stacked": (lambda x: pt.stack([x[0] * x[3], x[1], 2.0]), np.array([[1, 0, 0, 1, 0, 0], [0, 1, 0, 0, 0, 0], [0] * n], bool)),
    "dense product": (lambda x: pt.constant(A) @ pt.exp(x), A != 0),
    "product from the left": (lambda x: pt.exp(x) @ pt.constant(A), A.T != 0),
    "sparse product": (lambda x: sparse.constant(S) @ pt.exp(x), A != 0),
    "transposed sparse product": (lambda x: sparse.constant(S).T @ pt.exp(x), A.T != 0),
    "sum added": (lambda x: x + x.sum(), np.ones((n, n), bool)),
    "outer": (lambda x: (x[:2, None] * x[None, 2:5]).flatten(), np.array([[i == k or j == k - 2 for k in range(n)] for i in range(2) for j in range(3)])),
    "softmax of rows": (lambda x: pt.special.softmax(x.reshape((3, 2)), axis=1).flatten(), np.kron(np.eye(3), np.ones((2, 2))).astype(bool)),
    "no dependence": (lambda x: pt.ones(4) * pt.cast(x > 0, "float64").sum(), np.zeros((4, n), bool)),
    "integers": (lambda x: pt.floor(x[:3]) * 0 + pt.cast(pt.cast(x[3:], "int64"), "float64"), None),
    "said nothing": (lambda x: pt.sort(x), np.ones((n, n), bool)),
    "cumulative sums": (lambda x: pt.cumsum(x), np.tril(np.ones((n, n), bool))),
    "cumulative sums of columns": (lambda x: pt.cumsum(x.reshape((3, 2)), axis=0).flatten(), np.kron(np.tril(np.ones((3, 3))), np.eye(2)).astype(bool)),
    "cumulative products of rows": (lambda x: pt.cumprod(x.reshape((2, 3)) + 2, axis=1).flatten(), np.kron(np.eye(2), np.tril(np.ones((3, 3)))).astype(bool)),
    "batch of products": (lambda x: (x.reshape((3, 1, 2)) @ pt.exp(x).reshape((3, 2, 1))).flatten(), np.kron(np.eye(3), np.ones((1, 2))).astype(bool)),
    "batch of products with zeros": (lambda x: (pt.constant(np.array([[[1.0, 0.0]], [[0.0, 2.0]], [[1.0, 3.0]]])) @ x.reshape((3, 2, 1))).flatten(), np.array([[1, 0, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 1]], bool)),
    "batch of products with one matrix": (lambda x: (x.reshape((3, 1, 2)) @ pt.constant(np.array([[[1.0, 2.0], [0.0, 1.0]]]))).flatten(), np.kron(np.eye(3), [[1, 0], [1, 1]]).astype(bool)),
    "product with a matrix of values that are not known": (lambda x: (x.reshape((3, 2)) @ (pt.ones((2, 2)) * pt.switch(x.sum() > 0, 1.0, 2.0))).flatten(), np.kron(np.eye(3), np.ones((2, 2))).astype(bool)),
    "transforms of rows": (lambda x: pt.fft.rfft(x.reshape((2, 3))).flatten(), np.kron(np.eye(2), np.ones((4, 3))).astype(bool)),
    "map": (lambda x: bt.scan(lambda v: pt.exp(v) * v, sequences=x, return_updates=False), band(0, 0)),
    "map of rows": (lambda x: bt.scan(lambda v: v[::-1] ** 2, sequences=x.reshape((3, 2)), return_updates=False).flatten(), np.kron(np.eye(3), [[0, 1], [1, 0]]).astype(bool)),
    "map of neighbours": (lambda x: bt.scan(lambda a, b: a * b, sequences={"input": x, "taps": [0, 1]}, return_updates=False), (band(0, 1) | band(0, 0))[:-1]),
    "map with a constant matrix": (lambda x: bt.scan(lambda v, m: m @ pt.stack([v, 1.0]), sequences=x, non_sequences=np.array([[0.0, 1.0], [1.0, 0.0]]), return_updates=False)[:, 1], band(0, 0)),
    "recurrence": (lambda x: bt.scan(lambda v, s: pt.tanh(v + s), sequences=x, outputs_info=0.0, return_updates=False), np.tril(np.ones((n, n), bool))),
    "recurrence from x": (lambda x: bt.scan(lambda s: s**2, outputs_info=x, n_steps=3, return_updates=False)[-1], band(0, 0)),
    "recurrence of two taps": (lambda x: bt.scan(lambda v, before: v * before, sequences=x[2:], outputs_info=dict(initial=x[:2], taps=[-2]), return_updates=False), np.array([[1, 0, 1, 0, 0, 0], [0, 1, 0, 1, 0, 0], [1, 0, 1, 0, 1, 0], [0, 1, 0, 1, 0, 1]], bool)),
    "inner graph": (lambda x: bt.compile.builders.OpFromGraph(*(lambda v: ([v], [pt.exp(v) * v]))(pt.vector("v", shape=(n,))))(x), band(0, 0)),
}  # fmt: skip


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_patterns_that_are_found(name):
    make, expected = EXPRESSIONS[name]
    x = pt.vector("x", shape=(n,))
    y = make(x)
    found = bt.jacobian(y, x, sparse=True, disconnected_inputs="ignore")
    at = np.random.default_rng(1).normal(size=n)
    f = bt.function(
        [x],
        [
            found,
            bt.jacobian(y, x, disconnected_inputs="ignore"),
            bt.jacobian(y, x, sparsity="auto", disconnected_inputs="ignore"),
        ],
        on_unused_input="ignore",
    )
    own, dense, by_pattern = f(at)
    np.testing.assert_allclose(own.toarray(), dense, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(by_pattern, dense, rtol=1e-12, atol=1e-14)
    if expected is not None:
        pattern = np.zeros(own.shape, bool)
        pattern[np.repeat(np.arange(own.shape[0]), np.diff(own.indptr)), own.indices] = True
        np.testing.assert_array_equal(pattern, expected)


def test_a_given_pattern_makes_a_sparse_matrix():
    x = pt.dvector("x")
    pattern = sp.csr_array(band(1, 0))
    own = bt.jacobian(pt.concatenate([x[:1], x[1:] * x[:-1]]), x, sparsity=pattern, sparse=True)
    value = bt.function([x], own)(np.arange(1.0, n + 1))
    assert value.format == "csr" and value.nnz == 2 * n - 1
    np.testing.assert_array_equal(
        value.toarray(), np.diag([1.0, 1, 2, 3, 4, 5]) + np.diag(np.arange(2.0, n + 1), -1)
    )


HESSIANS = {
    "separable": (lambda x: (pt.exp(x) + x**4).sum(), 1),
    "linear": (lambda x: (x * np.arange(40.0)).sum(), 0),
    "chain": (lambda x: (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum(), 3),
    "second differences": (lambda x: ((x[2:] - 2 * x[1:-1] + x[:-2]) ** 4).sum() + (x**2).sum(), 5),
    "blocks": (lambda x: pt.logsumexp(x.reshape((10, 4)), axis=1).sum(), 4),
    "quadratic form": (
        lambda x: (pt.exp(x) * (sparse.constant(sp.eye_array(40, k=2, format="csr")) @ x)).sum(),
        3,
    ),
    "log density": (
        lambda x: (
            (-((x - 1) ** 2) / 2 - pt.log(1 + x**2)).sum() + pt.log(pt.switch(x > 0, x, 1.0)).sum()
        ),
        1,
    ),
    "with a constant": (lambda x: (pt.dot(np.eye(40)[::2], x) ** 3).sum(), 1),
}


@pytest.mark.parametrize("name", HESSIANS)
def test_hessians(name):
    make, width = HESSIANS[name]
    x = pt.vector("x", shape=(40,))
    cost = make(x)
    at = np.random.default_rng(2).normal(size=40)
    own, dense = bt.function(
        [x], [bt.hessian(cost, x, sparse=True), bt.hessian(cost, x)], on_unused_input="ignore"
    )(at)
    np.testing.assert_allclose(own.toarray(), dense, rtol=1e-12, atol=1e-12)
    assert np.diff(own.indptr).max() <= width


def test_newton_step_of_a_separable_and_of_a_banded_objective():
    """One compiled function, whose matrix has no dense form."""
    size = 2000
    x = pt.vector("x", shape=(size,))
    target = np.linspace(-1, 1, size)
    for banded in (False, True):
        cost = (pt.exp(x) - target * x + x**2).sum()
        if banded:
            cost = cost + 5 * ((x[1:] - x[:-1]) ** 2).sum()
        H = bt.hessian(cost, x, sparse=True)
        step = bt.function([x], [x - sparse.linalg.solve(H, bt.grad(cost, x)), bt.grad(cost, x)])
        assert all(
            v.type.ndim < 2 or 1 in v.type.shape or v.type.shape[0] < 4
            for node in step.fgraph.toposort()
            for v in node.outputs
        )
        at = np.zeros(size)
        for _ in range(8):
            at, gradient = step(at)
        assert np.abs(step(at)[1]).max() < 1e-12


def test_second_derivatives_of_a_log_determinant_of_a_hessian():
    """The gradient of a Laplace approximation, through the sparse Hessian."""
    x, theta = pt.vector("x", shape=(8,)), pt.dscalar("theta")
    cost = (pt.exp(theta * x) + x**2).sum() + ((x[1:] - x[:-1]) ** 2).sum() * theta
    own = sparse.linalg.logdet(bt.hessian(cost, x, sparse=True))
    dense = pt.linalg.slogdet(bt.hessian(cost, x))[1]
    at = np.linspace(0, 1, 8)
    results = [
        bt.function([x, theta], [c, bt.grad(c, x), bt.grad(bt.grad(c, theta), theta)])(at, 0.7)
        for c in (own, dense)
    ]
    for one, other in zip(*results):
        np.testing.assert_allclose(one, other, rtol=1e-9)


def test_the_module_of_sparse_matrices_need_not_be_imported():
    code = "import bitale as bt; x = bt.tensor.vector('x', shape=(2,)); print(bt.function([x], bt.hessian((x**3).sum(), x, sparse=True))([1.0, 2.0]).nnz)"
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, check=True, text=True
        ).stdout
        == "2\n"
    )


def test_constants_are_constant():
    x = pt.vector("x", shape=(3,))
    total = x.sum()
    assert bt.jacobian(x * total, x, sparse=True, consider_constant=[total]).static_shape == (3, 3)
    own = bt.function([x], bt.jacobian(x * total, x, sparse=True, consider_constant=[total]))(
        [1.0, 2.0, 3.0]
    )
    assert own.nnz == 3 and own.toarray().tolist() == (6 * np.eye(3)).tolist()


def test_what_is_refused():
    x, unknown = pt.vector("x", shape=(3,)), pt.dvector("unknown")
    with pytest.raises(NotImplementedError, match="`unknown`.*not known statically"):
        bt.hessian((unknown**2).sum(), unknown, sparse=True)
    with pytest.raises(ValueError, match='expected "auto" or a matrix, got "found"'):
        bt.jacobian(x**2, x, sparsity="found")
    with pytest.raises(TypeError):
        bt.jacobian(x.sum(), x, sparse=True)
    with pytest.raises(TypeError):
        bt.hessian(x.sum(), [x], sparse=True)
    with pytest.raises(bt.ShapeError, match=r"\(4, 4\)"):
        bt.jacobian(x**2, x, sparsity=np.eye(4, dtype=bool), sparse=True)
    with pytest.raises(bt.DisconnectedInputError):
        bt.jacobian(pt.ones(3), x, sparse=True)

"""Derivatives against finite differences and known formulas."""

import warnings

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale.gradient import verify_grad

A = np.random.default_rng(0).uniform(0.5, 2.0, (3, 4))
B = np.random.default_rng(1).uniform(0.5, 2.0, (3, 4))
V = A[0]

FUNCTIONS = {
    "polynomial": (lambda x: x**3 - 2 * x + 1 / x, [A]),
    "elementary": (lambda x: pt.exp(pt.sin(x)) * pt.tanh(x) + pt.log1p(x) * pt.sqrt(x), [A]),
    "special": (lambda x: pt.gammaln(x) + pt.erf(x) + pt.sigmoid(x) + pt.softplus(x), [A]),
    "power": (lambda x, y: x**y + pt.arctan2(x, y), [A, B]),
    "choice": (
        lambda x, y: pt.maximum(x, y) + pt.where(x > y, x * y, y**2) + pt.clip(x, 0.8, 1.5),
        [A, B],
    ),
    "sums": (
        lambda x: x.sum(axis=0) * x.mean() + x.prod(axis=0) + x.max(axis=0) + x.var(axis=0),
        [A],
    ),
    "softmax": (
        lambda x: pt.special.log_softmax(x, axis=1) + pt.logsumexp(x, axis=0, keepdims=True),
        [A],
    ),
    "shapes": (lambda x: x.T.reshape((2, 6)).dimshuffle(1, "x", 0) * 2, [A]),
    "broadcasting": (lambda x, v: x * v + v, [A, V]),
    "indexing": (lambda x: x[1:, ::-1] * x[:-1, [0, 0, 3, 1]] + x[0, 1], [A]),
    "gather": (lambda x: x[[0, 2, 0], [1, 3, 1]], [A]),
    "set": (lambda x: x[0].set(x[1] * 2)[:, 1:].inc(x[:, 1:] ** 2), [A]),
    "matrix products": (lambda x, y: x @ y.T + pt.dot(x[0], y[1]), [A, B]),
    "joining": (lambda x, y: pt.concatenate([x, y * 2], axis=1) * pt.stack([x, y]).sum(), [A, B]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_against_differences(name, mode):
    function, point = FUNCTIONS[name]
    verify_grad(function, point, mode=bt.get_mode(mode))


def test_verify_grad_finds_errors():
    with pytest.raises(bt.GradientError):
        verify_grad(lambda x: x * bt.gradient.disconnected_grad(x) + x, [V])


def test_one_and_several():
    x, y = pt.dscalars("x", "y")
    g = bt.grad(x * y, x)
    assert isinstance(g, pt.TensorVariable)
    gx, gy = bt.grad(x * y, [x, y])
    f = bt.function([x, y], [gx, gy])
    assert [float(v) for v in f(2.0, 3.0)] == [3.0, 2.0]


def test_disconnected_and_integer_inputs():
    x, y, i = pt.dscalar("x"), pt.dscalar("y"), pt.lscalar("i")
    with pytest.raises(bt.DisconnectedInputError, match="y"):
        bt.grad(x**2, y)
    assert bt.grad(x**2, y, disconnected_inputs="ignore").eval() == 0
    assert bt.grad(x**2, [y], disconnected_inputs="ignore", return_disconnected="None") == [None]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        bt.grad(x**2, y, disconnected_inputs="warn")
    assert len(caught) == 1 and "y" in str(caught[0].message)
    with pytest.raises(bt.DisconnectedInputError, match="integer"):
        bt.grad(x * i, i)
    zero = bt.grad(x * i, i, disconnected_inputs="ignore")
    assert zero.dtype == bt.config.floatX and zero.eval() == 0
    assert isinstance(bt.DisconnectedInputError("x"), ValueError)
    assert isinstance(bt.NullTypeGradError("x"), TypeError)


def test_bad_costs():
    x = pt.dvector("x")
    with pytest.raises(TypeError, match="scalar"):
        bt.grad(x, x)
    with pytest.raises(TypeError):
        bt.grad(x.argmax(), x)
    with pytest.raises(TypeError):
        bt.grad(2.0, x)
    with pytest.raises(ValueError, match="known_grads"):
        bt.grad(None, x)
    with pytest.raises(ValueError, match="disconnected_inputs"):
        bt.grad(x.sum(), x, disconnected_inputs="rise")


def test_consider_constant_and_known_grads():
    x = pt.dscalar("x")
    y = x**2
    assert bt.grad(y * x, x, consider_constant=[y]).eval({x: 3.0}) == 9.0
    assert bt.grad(None, x, known_grads={y: 5.0}).eval({x: 3.0}) == 30.0


def test_jacobian_and_hessian(mode):
    x = pt.dvector("x")
    f = bt.function(
        [x], [bt.jacobian(x**2 * x[0], x), bt.hessian((x**3).sum() * x[0], x)], mode=mode
    )
    v = np.array([1.0, 2.0, 3.0])
    jacobian, hessian = f(v)
    expected = np.diag(2 * v * v[0])
    expected[:, 0] += v**2
    np.testing.assert_allclose(jacobian, expected)
    expected = np.diag(6 * v * v[0])
    expected[0] += 3 * v**2
    expected[:, 0] += 3 * v**2
    np.testing.assert_allclose(hessian, expected)


def test_products_with_jacobians(mode):
    x, v = pt.dvectors("x", "v")
    y = pt.exp(x) * x.sum()
    forward = bt.gradient.pushforward(y, x, v)
    backward = bt.gradient.pullback(y, x, v)
    jacobian = bt.jacobian(y, x)
    for lop, rop in [(bt.Lop(y, x, v), bt.Rop(y, x, v)), (backward, forward)]:
        a, b, J = bt.function([x, v], [lop, rop, jacobian], mode=mode)([0.1, 0.2], [1.0, -2.0])
        np.testing.assert_allclose(a, [1.0, -2.0] @ J)
        np.testing.assert_allclose(b, J @ [1.0, -2.0])
    hv = bt.hessian_vector_product((x**3).sum(), [x], [v])[0]
    np.testing.assert_allclose(
        bt.function([x, v], hv, mode=mode)([1.0, 2.0], [1.0, 1.0]), [6.0, 12.0]
    )


def test_zero_grad():
    x = pt.dscalar("x")
    assert bt.grad(x * bt.zero_grad(x), x).eval({x: 3.0}) == 3.0


def test_xlogy_at_zero():
    x, y = pt.dvectors("x", "y")
    for function, inner in ((pt.special.xlogy, np.log), (pt.special.xlog1py, np.log1p)):
        f = bt.function([x, y], bt.grad(function(x, y).sum(), [x, y]))
        at = np.array([0.0, 0.0, 2.0]), np.array([0.0, 3.0, 3.0])
        with np.errstate(divide="ignore"):
            np.testing.assert_array_equal(f(*at)[0], inner(at[1]))
        np.testing.assert_array_equal(f(*at)[1], [0.0, 0.0, 2.0 / np.exp(inner(3.0)).round()])
        g = bt.function([x], bt.grad(function(x, x).sum(), x))
        np.testing.assert_array_equal(g(np.array([0.0])), [-np.inf if inner is np.log else 0.0])


def test_log1mexp_at_both_zeros():
    x = pt.dvector("x")
    f = bt.function([x], bt.grad(pt.log1mexp(x).sum(), x))
    np.testing.assert_array_equal(f(np.array([0.0, -0.0])), [-np.inf, -np.inf])


PRODUCTS = {
    "prod": lambda x: pt.prod(x),
    "prod along one axis": lambda x: (pt.prod(x.reshape((2, 3)), axis=1) ** 2).sum(),
    "prod of all axes": lambda x: pt.prod(x.reshape((2, 1, 3))),
    "cumprod": lambda x: (pt.cumprod(x) * np.arange(1, 7)).sum(),
    "cumprod of rows": lambda x: (pt.cumprod(x.reshape((2, 3)), axis=1) * np.arange(1, 4)).sum(),
    "cumprod of columns": lambda x: (pt.cumprod(x.reshape((3, 2)), axis=0) ** 2).sum(),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_of_zeros_to_the_third_order(name, mode):
    """Products are polynomials, so that their derivatives at zeros are the limits of those at nearby points."""
    x, u, v = pt.dvectors("x", "u", "v")
    cost = PRODUCTS[name](x)
    second = bt.hessian_vector_product(cost, [x], [u])[0]
    derivatives = [
        bt.grad(cost, x),
        second,
        bt.pushforward(second, x, v),
        bt.pushforward(cost, x, u),
    ]
    f = bt.function([x, u, v], derivatives, mode=mode)
    rng = np.random.default_rng(3)
    u0, v0 = rng.uniform(-1, 1, (2, 6))
    for zeros in ([], [1], [0, 2], [3, 4, 5], [1, 2, 3]):
        at = rng.uniform(0.5, 2, 6)
        at[zeros] = 0
        beside = at + 1e-7 * (at == 0)
        for got, expected in zip(f(at, u0, v0), f(beside, u0, v0)):
            np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)
        h = 1e-4 * u0
        values = bt.function([x], [cost, bt.grad(cost, x)], mode=mode)
        above, below = values(at + h), values(at - h)
        np.testing.assert_allclose(
            f(at, u0, v0)[3], (above[0] - below[0]) / 2e-4, rtol=1e-6, atol=1e-6
        )
        np.testing.assert_allclose(
            f(at, u0, v0)[1], (above[1] - below[1]) / 2e-4, rtol=1e-6, atol=1e-6
        )


@pytest.mark.parametrize("function", [pt.prod, pt.cumprod])
def test_products_of_empty_arrays_have_empty_gradients(function, mode):
    x = pt.dvector("x")
    assert bt.function([x], bt.grad(function(x).sum(), x), mode=mode)(np.zeros(0)).shape == (0,)


def test_derivatives_of_a_logarithm_ignore_elements_that_are_not_selected():
    scale, x = pt.dvector("scale"), pt.dmatrix("x")
    cost = pt.log(pt.diagonal(pt.exp(scale)[:, None] * x)).sum()  # log(x) is -inf off the diagonal
    np.testing.assert_array_equal(
        bt.function([scale, x], bt.grad(cost, x))([1.0, 2.0], np.diag([2.0, 4.0])),
        np.diag([0.5, 0.25]),
    )


def test_a_copy_is_a_variable_of_its_own():
    x = pt.dvector("x")
    for copied in [x.copy(), pt.tensor_copy(x), pt.identity(x)]:
        assert copied is not x and copied.type == x.type
        by_copy, by_x = bt.grad((copied**2 - x**2).sum(), [copied, x], consider_constant=None)
        f = bt.function([x], [copied, by_copy, by_x])
        assert [each.tolist() for each in f([1.0, 2.0])] == [[1, 2], [2, 4], [0, 0]]
        assert len(bt.function([x], copied + 1).maker.fgraph.apply_nodes) == len(
            bt.function([x], x + 1).maker.fgraph.apply_nodes
        )

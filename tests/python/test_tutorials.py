"""Programs like those of PyTensor's introductions, with the import changed."""

import numpy as np

import bitale
from bitale import tensor as pt


def test_first_steps():
    a, b = pt.dscalar("a"), pt.dscalar("b")
    c = a + b
    assert bitale.function([a, b], c)(1.5, 2.5) == 4.0
    dc = bitale.grad(c, a)  # constant, but still a function of a and b
    assert bitale.function([a, b], dc)(1.5, 2.5) == 1.0


def test_logistic_function():
    x = pt.dmatrix("x")
    given = [[0, 1], [-1, -2]]
    one = bitale.function([x], 1 / (1 + pt.exp(-x)))(given)
    other = bitale.function([x], (1 + pt.tanh(x / 2)) / 2)(given)
    np.testing.assert_allclose(one, other)
    np.testing.assert_allclose(one, 1 / (1 + np.exp(-np.array(given))))


def test_several_results_at_once():
    a, b = pt.dmatrices("a", "b")
    f = bitale.function([a, b], [a - b, abs(a - b), (a - b) ** 2])
    difference, absolute, squared = f([[1, 1], [1, 1]], [[0, 1], [2, 3]])
    np.testing.assert_array_equal(difference, [[1, 0], [-1, -2]])
    np.testing.assert_array_equal(absolute, [[1, 0], [1, 2]])
    np.testing.assert_array_equal(squared, [[1, 0], [1, 4]])


def test_accumulator():
    state = bitale.shared(0)
    inc = pt.iscalar("inc")
    accumulator = bitale.function([inc], state, updates=[(state, state + inc)])
    assert accumulator(1) == 0 and accumulator(300) == 1 and state.get_value() == 301
    state.set_value(-1)
    assert accumulator(3) == -1 and state.get_value() == 2
    foo = pt.scalar(dtype=state.dtype)
    skip_shared = bitale.function([inc, foo], state * 2 + inc, givens=[(state, foo)])
    assert skip_shared(1, 3) == 7 and state.get_value() == 2


def test_gradient_of_a_square():
    x = pt.dscalar("x")
    f = bitale.function([x], pt.grad(x**2, x))
    assert f(4) == 8.0 and f(94.2) == 188.4


def test_logistic_regression(mode):
    rng = np.random.default_rng(0)
    N, feats = 400, 20
    D = rng.normal(size=(N, feats)), rng.integers(0, 2, N)
    x, y = pt.dmatrix("x"), pt.dvector("y")
    w, b = bitale.shared(rng.normal(size=feats), name="w"), bitale.shared(0.0, name="b")
    p_1 = 1 / (1 + pt.exp(-pt.dot(x, w) - b))
    prediction = p_1 > 0.5
    xent = -y * pt.log(p_1) - (1 - y) * pt.log(1 - p_1)
    cost = xent.mean() + 0.01 * (w**2).sum()
    gw, gb = pt.grad(cost, [w, b])
    train = bitale.function(
        inputs=[x, y],
        outputs=[prediction, xent],
        updates=((w, w - 0.1 * gw), (b, b - 0.1 * gb)),
        mode=mode,
    )
    predict = bitale.function(inputs=[x], outputs=prediction, mode=mode)
    first = np.mean(train(*D)[1])
    for _ in range(200):
        train(*D)
    assert np.mean(train(*D)[1]) < first
    assert predict(D[0]).dtype == bool and np.mean(predict(D[0]) == D[1]) > 0.5

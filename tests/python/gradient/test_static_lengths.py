"""Tangents and cotangents have the static lengths of their variables: those decide what is repeated."""

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt


def tensor(name, *shape):
    return pt.tensor(name, dtype="float64", shape=shape)


COLUMN, UNKNOWN = tensor("c", 3, 1), pt.dmatrix("A")
GIVEN = np.array([[1.0], [2.0], [3.0]])
SQUARE = np.arange(9.0).reshape(3, 3) + 1


def test_a_tangent_is_repeated_as_its_variable_is(mode):
    t = pt.dmatrix("t")
    for y, expected in (
        (COLUMN + UNKNOWN, np.tile(GIVEN, (1, 3))),
        (COLUMN * UNKNOWN, GIVEN * SQUARE),
    ):
        f = bt.function(
            [COLUMN, UNKNOWN, t], bt.pushforward(y, COLUMN, t), mode=mode, on_unused_input="ignore"
        )
        np.testing.assert_array_equal(f(GIVEN, SQUARE, GIVEN), expected)
        with pytest.raises(bt.ShapeError, match="length 1"):
            f(GIVEN, SQUARE, SQUARE)


def test_a_tangent_of_another_static_length_is_an_error():
    wide, one, x = tensor("w", 3, 2), tensor("one", 1), pt.dvector("x")
    for call in (
        lambda: bt.pushforward(COLUMN + UNKNOWN, COLUMN, wide),
        lambda: bt.pullback(2 * COLUMN, COLUMN, wide),
        lambda: bt.grad(None, COLUMN, known_grads={2 * COLUMN: wide}),
        lambda: bt.hessian_vector_product((COLUMN**3).sum(), COLUMN, wide),
    ):
        with pytest.raises(bt.ShapeError, match=r"`w`.*does not fit"):
            call()
    # A length that is statically 1 would be repeated, though that of the variable is not.
    for derivative in (bt.pushforward(x * x, x, one), bt.pullback(x * x, x, one)):
        f = bt.function([x, one], derivative)
        assert f([3.0], [2.0]) == 12
        with pytest.raises(bt.ShapeError, match="expected length 2"):
            f([3.0, 4.0], [2.0])


def shifted(x, y):
    return bt.scan(
        lambda q, s: pt.concatenate([s[1:], q[None]]),
        sequences=[x],
        outputs_info=[y],
        return_updates=False,
    )[-1]


def test_forward_mode_where_a_length_of_1_is_dropped(mode):
    A, v, x, y, w = pt.dmatrix("A"), pt.dmatrix("v"), *pt.dvectors("x", "y", "w")
    squeezed = pt.squeeze(A, 1)
    f = bt.function(
        [A, v],
        [
            bt.jacfwd(squeezed, A),
            bt.jacobian(squeezed, A),
            bt.pushforward(squeezed, A, v),
            bt.hessian_vector_product((squeezed**3).sum(), A, v),
        ],
        mode=mode,
    )
    forward, reverse, pushed, product = f(GIVEN, 2 * GIVEN)
    np.testing.assert_array_equal(forward, np.eye(3)[:, :, None])
    np.testing.assert_array_equal(reverse, forward)
    np.testing.assert_array_equal(pushed, 2 * GIVEN[:, 0])
    np.testing.assert_array_equal(product, 12 * GIVEN**2)

    cost = (shifted(x, y) ** 3).sum()
    f = bt.function(
        [x, y, w],
        [
            bt.hessian_vector_product(cost, y, w),
            bt.hessian_vector_product(cost, x, w[1:]),
            bt.jacfwd(shifted(x, y), x),
        ],
        mode=mode,
    )
    by_y, by_x, jacobian = f([4.0, 5.0], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(by_y, [0, 0, 54])
    np.testing.assert_array_equal(by_x, [48, 90])
    np.testing.assert_array_equal(jacobian, [[0, 0], [1, 0], [0, 1]])

"""Loops that carry small vectors and matrices, whose elements native code keeps in registers and on the stack: several
loops in a row and inside each other, against the same loops in NumPy."""

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt

modes = {
    "FAST_RUN": "FAST_RUN",
    "C": bt.Mode("c", "fast_run"),
    "native code of the graph as built": bt.Mode("jit", "None"),
}


def scan(*arguments, **options):
    return bt.scan(*arguments, return_updates=False, **options)


def check(inputs, outputs, values, expected):
    for name, mode in modes.items():
        got = bt.function(inputs, outputs, mode=mode)(*values)
        for result, right in zip(got, expected):
            np.testing.assert_allclose(result, right, rtol=1e-12, atol=1e-14, err_msg=name)


def normal(*shape):
    return np.random.default_rng(sum(shape)).normal(size=shape)


@pytest.mark.parametrize("n", [3, 4, 5, 7])
def test_a_product_beside_a_shift_along_the_other_axis(n):
    x, w, steps = pt.tensor("x", shape=(n, n)), pt.tensor("w", shape=(n, n)), pt.lscalar("steps")

    def step(s):
        return pt.tanh(pt.dot(s, w)), pt.concatenate([s[1:], s[:1] * 2])

    states, shifted = scan(step, outputs_info=[x, None], n_steps=steps)
    s, weights = normal(n, n), normal(n, n)
    once = np.tanh(s @ weights)
    check(
        [x, w, steps],
        [states, shifted],
        [s, weights, 2],
        [[once, np.tanh(once @ weights)], [np.concatenate([t[1:], t[:1] * 2]) for t in (s, once)]],
    )


@pytest.mark.parametrize("n", [3, 4])
def test_a_sum_over_two_axes_beside_a_product(n):
    x, w = pt.tensor("x", shape=(n, 3, n)), pt.tensor("w", shape=(n, n))

    def step(s):
        return pt.tanh(pt.dot(s, w) + pt.concatenate([s[1:], s[:1]])), s[:, 2].sum(), s.sum((0, 2))

    states, one, other = scan(step, outputs_info=[x, None, None], n_steps=2)
    s, weights = normal(n, 3, n), normal(n, n)
    once = np.tanh(s @ weights + np.concatenate([s[1:], s[:1]]))
    check(
        [x, w],
        [states[0], one, other],
        [s, weights],
        [once, [t[:, 2].sum() for t in (s, once)], [t.sum((0, 2)) for t in (s, once)]],
    )


@pytest.mark.parametrize("shape", [(3,), (None,)], ids=["known", "unknown"])
def test_a_loop_after_another_reads_its_last_state(shape):
    x, n = pt.tensor("x", shape=shape), pt.lscalar("n")
    first = scan(
        lambda s: pt.tanh(s) * 0.5 + x, outputs_info=[pt.zeros(3) if shape[0] else x * 0], n_steps=n
    )[-1]
    second = scan(lambda a: pt.tanh(a) + first, outputs_info=[x * 0], n_steps=3)[-1]
    third = scan(
        lambda a: pt.concatenate([a[1:], [0.0]]) + second * first, outputs_info=[x], n_steps=2
    )[-1]
    given = np.array([1.0, 2, 3])
    a, b, c = np.zeros(3), np.zeros(3), given
    for _ in range(2):
        a = np.tanh(a) * 0.5 + given
    for _ in range(3):
        b = np.tanh(b) + a
    for _ in range(2):
        c = np.concatenate([c[1:], [0.0]]) + b * a
    check([x, n], [second], [given, 2], [b])
    check([x, n], [third], [given, 2], [c])
    check([x, n], [first, second, third], [given, 2], [a, b, c])


@pytest.mark.parametrize("shape", [(3, 3), (None, None)], ids=["known", "unknown"])
@pytest.mark.parametrize("reduce", ["sum", "max", "min"])
@pytest.mark.parametrize("function", ["det", "solve", "inv"])
def test_a_matrix_is_read_again_after_a_call(function, reduce, shape):
    x = pt.tensor("x", shape=shape)

    def by(library, s):
        matrix = s + 4 * library.eye(3)
        return {
            "det": lambda: library.linalg.det(matrix) * s * 0.05,
            "inv": lambda: library.linalg.inv(matrix),
            "solve": lambda: library.linalg.solve(matrix, s),
        }[function]()

    def step(library, s):
        new = library.tanh(by(library, s))
        return new, new.sum(0)[1] * new + getattr(s, reduce)(0)

    states, others = scan(lambda s: step(pt, s), outputs_info=[x * 2, None], n_steps=2)
    given = normal(3, 3)
    once, other = step(np, given * 2)
    twice, second = step(np, once)
    check([x], [states[-1], others], [given], [twice, [other, second]])
    check([x], [others], [given], [[other, second]])


def test_a_shift_in_a_loop_in_a_loop():
    c = pt.dscalar("c")

    def outer(y):
        shifts = scan(
            lambda e, s: pt.concatenate([e[None], s[:-1]]),
            sequences=[pt.alloc(c, 3)],
            outputs_info=[pt.zeros(3)],
        )
        return y + shifts.sum(0)

    total = scan(outer, outputs_info=[pt.zeros(3)], n_steps=1)[-1].sum()
    check([c], [total, bt.grad(total, c)], [1.5], [9.0, 6.0])


indices = [[1, 1], [2, 2, 2], [[1, 1]], [-1, -1], [0, 0], [0, 2], [1]]


@pytest.mark.parametrize("at", indices, ids=str)
def test_equal_constant_indices_of_a_state(at):
    x, first = pt.tensor("x", shape=(None, 3)), pt.tensor("first", shape=(3,))
    rows, start = normal(2, 3), np.array([1.0, 2, 3])

    def put(s):
        out = s.copy()
        out[at] = s.mean()
        return out

    def add(s):
        out = s.copy()
        np.add.at(out, np.asarray(at), s.mean())
        return out

    for symbolic, plain in (
        (lambda s: pt.set_subtensor(s[at], pt.alloc(s.mean(), *np.shape(at))), put),
        (lambda s: pt.inc_subtensor(s[at], pt.alloc(s.mean(), *np.shape(at))), add),
        (lambda s: s[at].sum() * s * 0.1, lambda s: s[at].sum() * s * 0.1),
    ):
        s = start
        for row in rows:
            s = np.tanh(plain(s) + row)
        last = scan(
            lambda e, s, f=symbolic: pt.tanh(f(s) + e), sequences=[x], outputs_info=[first]
        )[-1]
        check([x, first], [last], [rows, start], [s])
        gradient = bt.grad(last.sum(), first)
        by_ops = bt.function([x, first], gradient, mode=bt.Mode("vm", "None"))(rows, start)
        check([x, first], [gradient], [rows, start], [by_ops])


def test_equal_constant_indices_of_a_vector_in_a_step():
    x, first = pt.dvector("x"), pt.dscalar("first")
    at = [1, 1]
    last = scan(
        lambda e, s: pt.tanh(s + pt.inc_subtensor(pt.alloc(s, 2)[at], pt.alloc(e, 2)).sum()),
        sequences=[x],
        outputs_info=[first],
    )[-1]
    s = 0.1
    for e in (0.2, -0.3):
        s = np.tanh(s + 2 * s + 2 * e)
    check([x, first], [last], [np.array([0.2, -0.3]), 0.1], [s])

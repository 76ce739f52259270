"""Values that a user names around loops, solvers and ops are what these are given: by givens, derivatives,
clone_replace, vectorize_graph and consider_constant."""

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from fuzz import named_values

VALUES = {
    "transpose": lambda A: A.T,
    "choice": lambda A: bt.ifelse(A.sum() < 9, A @ A, A),
    "choice of slices": lambda A: bt.ifelse(A.sum() < 90, A[::-1], A[:, [1, 0]]),
    "of a choice": lambda A: pt.exp(0.1 * bt.ifelse(A.sum() < 9, A @ A, A)),
    "constant for gradients": lambda A: bt.gradient.disconnected_grad(A),
    "loop": lambda A: bt.map(lambda row: 2 * row, sequences=[A], return_updates=False),
    "constant expression": lambda A: pt.ones((2, 2)) * 2,
}


@pytest.mark.parametrize("is_given", [True, False])
@pytest.mark.parametrize("kind", VALUES)
def test_values_that_loops_read(kind, is_given, mode):
    A, x = pt.dmatrix("A"), pt.dvector("x")
    V = VALUES[kind](A)
    B, T = V.type("B"), V.type("T")
    given = {"non_sequences": [V]} if is_given else {}
    s = bt.scan(
        (lambda s, v: v @ s) if is_given else (lambda s: V @ s),
        outputs_info=[x],
        n_steps=1,
        return_updates=False,
        **given,
    )[-1]
    matrix, vector = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, 10.0])
    options = {"mode": mode, "on_unused_input": "ignore"}

    def evaluated(result, **more):
        return bt.function([A, x, B, T], result, **options, **more)(
            matrix, vector, np.eye(2), np.array([[0.0, 1.0], [0.0, 0.0]])
        )

    value = evaluated(V)
    np.testing.assert_allclose(evaluated(s), value @ vector)
    np.testing.assert_array_equal(evaluated(s, givens={V: B}), vector)
    np.testing.assert_array_equal(evaluated(bt.clone_replace([s], {V: B})[0]), vector)
    batch = bt.graph.vectorize_graph(s, {V: pt.stack([B, 2 * B])})
    np.testing.assert_array_equal(evaluated(batch), [vector, 2 * vector])
    rows = np.tile(vector, (2, 1))
    np.testing.assert_array_equal(evaluated(bt.grad(s.sum(), V)), rows)
    np.testing.assert_array_equal(evaluated(bt.grad(s.sum() + V.sum(), V)), rows + 1)
    np.testing.assert_array_equal(evaluated(bt.pushforward(s, V, T)), [10, 0])
    considered = bt.grad(s.sum(), [A, x], consider_constant=[V], disconnected_inputs="ignore")
    np.testing.assert_array_equal(evaluated(considered[0]), np.zeros((2, 2)))
    np.testing.assert_allclose(evaluated(considered[1]), value.sum(axis=0))


@pytest.mark.parametrize("depth", [1, 2])
def test_values_behind_a_choice_computed_from_what_the_loop_is_given(depth, mode):
    x = pt.dvector("x")
    M = pt.ones((2, 2)) * 0.5
    v = M[0]  # may fail, so that it is computed behind the choice
    B = v.type("B")

    def last(step, start):
        return bt.scan(
            step, outputs_info=[start], non_sequences=[M], n_steps=2, return_updates=False
        )[-1]

    def step(row, s, W):
        return W @ bt.ifelse(s.sum() > 0.1, pt.linalg.inv(M.T @ M + pt.eye(2)) @ s, s - row)

    def program(row):
        inner = lambda s, W: step(row, s, W)
        return last(inner if depth == 1 else lambda s, W: last(inner, s), x)

    given, options = ([0.7, -0.4], [0.3, 0.2]), {"mode": mode, "on_unused_input": "ignore"}
    of_v = program(v)
    f = bt.function([x, B], of_v, givens={v: B}, **options)
    of_B = bt.function([x, B], program(B), **options)
    np.testing.assert_allclose(f(*given), of_B(*given))
    batch = bt.graph.vectorize_graph(of_v, {v: pt.stack([B, 2 * B])})
    np.testing.assert_allclose(
        bt.function([x, B], batch, **options)(*given),
        [of_B(given[0], np.array(given[1]) * k) for k in (1, 2)],
    )


def test_a_side_that_is_not_taken_may_fail_though_it_is_held(mode):
    A, x = pt.dmatrix("A"), pt.dvector("x")
    inverse = pt.linalg.inv(A)
    s = bt.scan(
        lambda s: bt.ifelse(s.sum() > 0, s, inverse @ s),
        outputs_info=[x],
        n_steps=2,
        return_updates=False,
    )[-1]
    f = bt.function([A, x], s, mode=mode)
    np.testing.assert_array_equal(f(np.zeros((2, 2)), [1.0, 2.0]), [1, 2])
    np.testing.assert_array_equal(f(2 * np.eye(2), [-1.0, -2.0]), [-0.25, -0.5])
    with pytest.raises(np.linalg.LinAlgError):
        f(np.zeros((2, 2)), [-1.0, -2.0])


SOLVERS = {
    "minimize": lambda v, x, V: pt.optimize.minimize(((V @ v - 1) ** 2).sum() + (v**2).sum(), v),
    "root": lambda v, x, V: pt.optimize.root(V.T @ (V @ v - 1) + v, v),
}


@pytest.mark.parametrize("solver", SOLVERS)
def test_values_that_solvers_read(solver, mode):
    A, B, v = pt.dmatrix("A"), pt.dmatrix("B"), pt.dvector("v")
    V = A * 1.0
    found = SOLVERS[solver](v, A, V)[0]
    options = {"mode": mode, "on_unused_input": "ignore"}
    f = bt.function([A, B, v], [found, bt.clone_replace([found], {V: B})[0]], **options)
    of_A = bt.function([A, B, v], found, givens={V: B}, **options)
    slope = bt.function([A, v], [bt.grad(found.sum(), V), bt.grad(found.sum(), A)], **options)
    matrix, start = np.array([[1.0, 2.0], [3.0, 4.0]]), np.zeros(2)
    np.testing.assert_allclose(f(matrix, np.eye(2), start)[1], [0.5, 0.5], atol=1e-6)
    np.testing.assert_allclose(of_A(matrix, np.eye(2), start), [0.5, 0.5], atol=1e-6)
    by_V, by_A = slope(matrix, start)
    assert np.abs(by_V).max() > 0.01
    np.testing.assert_allclose(by_V, by_A)


@pytest.mark.parametrize(
    "solve",
    [
        lambda s, k: pt.optimize.minimize_scalar((s - k) ** 2, s)[0],
        lambda s, k: pt.optimize.root_scalar(s - k, s)[0],
    ],
)
def test_values_that_solvers_of_one_number_read(solve, mode):
    a, b, s = pt.dscalar("a"), pt.dscalar("b"), pt.dscalar("s")
    k = 2 * a
    found = solve(s, k)
    f = bt.function(
        [a, b, s], [found, bt.grad(found, k)], givens={k: b}, mode=mode, on_unused_input="ignore"
    )
    np.testing.assert_allclose(f(1.0, 5.0, 0.0), [5, 1], rtol=1e-5)


@pytest.mark.parametrize("seed", range(40))
def test_random_programs(seed, mode):
    named_values.check(seed, mode)

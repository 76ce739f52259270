"""Sparse matrices as arguments of functions of graphs: derivatives, evaluation, replacement and loops."""

import pickle

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale import sparse

sp = pytest.importorskip("scipy.sparse")

value = sp.csr_array([[0.0, 2.0, -1.0], [0.5, 0.0, 0.0], [1.0, 0.0, 3.0]])
v = np.array([1.0, -2.0, 0.5])


def matrices():
    return (
        sparse.matrix("csr", "A", pattern=value),
        sparse.matrix("csr", "A"),
        sparse.matrix("csr", "A", shape=(3, 3)),
    )


@pytest.mark.parametrize("which", range(3))
def test_derivatives_by_matrices(which):
    A, x = matrices()[which], pt.dvector("x")
    cost = pt.sin(A @ x).sum()
    by_A, by_x = pt.grad(cost, [A, x])
    assert isinstance(by_A, sparse.SparseVariable) and isinstance(
        pt.grad(cost, A), sparse.SparseVariable
    )
    tangent = A.with_data(pt.cos(A.data))
    (pulled,) = bt.pullback([A @ x], [A], [x])
    outputs = [
        by_A,
        by_x,
        pt.grad(cost, A),
        bt.pushforward(cost, A, tangent),
        pulled,
        bt.hessian_vector_product(cost, A, tangent),
        bt.hessian(cost, A),
    ]
    by_A, by_x, alone, forward, pulled, product, hessian = bt.function([A, x], outputs)(value, v)
    slope = np.cos(value @ v)
    by_dense = np.outer(slope, v) * (value.toarray() != 0)
    np.testing.assert_allclose(by_A.toarray(), by_dense)
    np.testing.assert_allclose(alone.toarray(), by_dense)
    np.testing.assert_allclose(by_x, value.T @ slope)
    np.testing.assert_allclose(pulled.toarray(), np.outer(v, v) * (value.toarray() != 0))
    direction = sp.csr_array((np.cos(value.data), value.indices, value.indptr), shape=(3, 3))
    np.testing.assert_allclose(forward, slope @ (direction @ v))
    np.testing.assert_allclose(
        product.toarray(),
        np.outer(-np.sin(value @ v) * (direction @ v), v) * (value.toarray() != 0),
    )
    np.testing.assert_allclose(hessian @ direction.data, product.data)


def test_directions_have_the_positions_of_the_matrix():
    A, _, _ = matrices()
    cost = A.sum()
    for bad in (sparse.constant(sp.csr_array(np.eye(3))), sparse.matrix("csr", "B")):
        with pytest.raises((TypeError, ValueError), match="positions"):
            bt.pushforward(cost, A, bad)
    with pytest.raises(TypeError, match="scalar"):
        pt.grad(A, A)


@pytest.mark.parametrize("which", range(3))
def test_values_of_expressions(which):
    A, x = matrices()[which], pt.dvector("x")
    np.testing.assert_allclose((A @ x).eval({A: value, x: v}), value @ v)
    np.testing.assert_allclose((A * 2).eval({A: value}).toarray(), 2 * value.toarray())
    with pytest.raises(TypeError, match="SciPy"):
        (A @ x).eval({A: np.eye(3), x: v})


@pytest.mark.parametrize("replace", [bt.clone_replace, bt.graph.replace.graph_replace])
def test_replacements(replace):
    static, A, square = matrices()
    x = pt.dvector("x")
    for before in (A, square):
        B = sparse.matrix("csr", "B")
        for after, given, expected in (
            (B, [B], value),
            (B * 2, [B], 2 * value),
            (sparse.constant(value), [], value),
            (B @ B, [B], value @ value),
        ):
            y = replace(before @ x, {before: after})
            np.testing.assert_allclose(
                bt.function([*given, x], y)(*[value] * len(given), v), expected @ v
            )
    y = replace(static @ x, {static: static * 3})
    np.testing.assert_allclose(bt.function([static, x], y)(value, v), 3 * value @ v)
    wide = sparse.matrix("csr", "W")
    y = replace(A.sum(axis=0), {A: wide})
    np.testing.assert_allclose(
        bt.function([wide], y)(sp.csr_array(np.ones((2, 5)))), np.full(5, 2.0)
    )
    for before, after in (
        (static, A),
        (A, A.T),
        (static, sparse.constant(sp.csr_array(np.eye(3)))),
    ):
        with pytest.raises(ValueError, match="same"):
            replace(before @ x, {before: after})
    with pytest.raises(TypeError, match="sparse"):
        replace(A @ x, {A: x})


@pytest.mark.parametrize("which", range(3))
@pytest.mark.parametrize("strict", [False, True])
def test_loops_take_matrices(which, strict):
    A, x = matrices()[which], pt.dvector("x")
    scale = pt.dscalar("scale")
    trace, _ = bt.scan(
        lambda k, state, M, s: (M @ state) * k + s,
        sequences=[pt.arange(3)],
        outputs_info=[x],
        non_sequences=[A, scale],
        strict=strict,
    )
    last = trace[-1]
    own, by_A, by_x = bt.function(
        [A, x, scale], [last, pt.grad(last.sum(), A), pt.grad(last.sum(), x)]
    )(value, v, 0.5)

    def steps(M, state):
        for k in range(3):
            state = M @ state * k + 0.5
        return state

    np.testing.assert_allclose(own, steps(value, v))
    for k in range(value.nnz):
        shift = 1e-6 * np.eye(value.nnz)[k]
        up, down = (
            steps(
                sp.csr_array(
                    (value.data + sign * shift, value.indices, value.indptr), shape=(3, 3)
                ),
                v,
            ).sum()
            for sign in (1, -1)
        )
        np.testing.assert_allclose(by_A.data[k], (up - down) / 2e-6, rtol=1e-6, atol=1e-9)
    assert by_x.shape == (3,)
    np.testing.assert_allclose(
        bt.map(lambda t, M: (M * t).sum(), sequences=[pt.arange(3.0)], non_sequences=A)[0].eval(
            {A: value}
        ),
        value.sum() * np.arange(3),
    )


def test_inputs_have_options():
    A, x = sparse.matrix("csr", "A"), pt.dvector("x")
    f = bt.function([bt.In(A, borrow=True, value=value, name="M"), x], bt.Out(A @ x, borrow=True))
    np.testing.assert_allclose(f(x=v), value @ v)
    np.testing.assert_allclose(f(2 * value, v), 2 * value @ v)
    np.testing.assert_allclose(f["M"].toarray(), value.toarray())
    f["M"] = 3 * value
    np.testing.assert_allclose(f(x=v), 3 * value @ v)
    again = pickle.loads(pickle.dumps(f))
    np.testing.assert_allclose(again(x=v), 3 * value @ v)


def test_graphs_of_matrices_are_printed():
    static, A, _ = matrices()
    f = bt.function([A, static], [A + static, A.sum()])
    printed = bt.dprint(f, file="str")
    assert "input A: csr[float64, ? x ?]" in printed and "output csr[float64, ? x ?]" in printed
    assert printed.startswith("input") and f.dprint(file="str").splitlines()[0] in printed
    assert "A: csr[float64, 3 x 3]" in bt.dprint(
        [static, A @ v], file="str"
    ) and "A.indptr" in bt.dprint(A, file="str")


def test_choices_between_matrices():
    static, A, square = matrices()
    c = pt.bscalar("c")
    wide = sp.csr_array(np.ones((2, 4)))
    for then, other, inputs in (
        (static, static * 2, [static]),
        (A, A @ A, [A]),
        (A, sparse.constant(wide), [A]),
        (square, square + square, [square]),
    ):
        chosen = bt.ifelse(c, then, other)
        assert isinstance(chosen, sparse.SparseVariable)
        f, both = (
            bt.function([*inputs, c], [chosen, pt.grad(chosen.sum(), inputs[0])]),
            bt.function(inputs, [then, other], on_unused_input="ignore")(value),
        )
        for which in (1, 0):
            own, slope = f(value, which)
            assert own.shape == both[1 - which].shape
            np.testing.assert_allclose(own.toarray(), both[1 - which].toarray())
            assert slope.shape == (3, 3)
    chosen, number = bt.ifelse(c, [A, pt.constant(1.0)], [A * 2, pt.constant(2.0)])
    assert bt.function([A, c], [chosen.sum(), number])(value, 0) == [2 * value.sum(), 2.0]
    for bad in ((A, A.T), (A, pt.dmatrix("D")), ([A], [A, A])):
        with pytest.raises((TypeError, ValueError)):
            bt.ifelse(c, *bad)


def test_factors_are_stored():
    static, A, _ = matrices()
    for given in (static, A):
        for factor in (sparse.linalg.lu(given), sparse.linalg.cholesky(given)):
            again, x = pickle.loads(pickle.dumps((factor, factor.solve(v))))
            assert type(again) is type(factor) and again.A.format == factor.A.format
            pickle.dumps([again.solve(v), x])
    again, A = pickle.loads(pickle.dumps((sparse.linalg.lu(A), A)))
    np.testing.assert_allclose(
        bt.function([A], again.solve(v))(value), np.linalg.solve(value.toarray(), v)
    )


def test_shared_matrices_are_made_as_others_are():
    for kind in (sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_array):
        S = bt.shared(kind(value), name="S")
        assert (
            isinstance(S, sparse.SparseVariable)
            and S.name == "S"
            and S.format == ("csc" if kind is sp.csc_array else "csr")
        )
        f = bt.function([], S @ v, updates=[(S, S * 2)])
        np.testing.assert_allclose(f(), value @ v)
        np.testing.assert_allclose(S.get_value().toarray(), 2 * value.toarray())
        S.set_value(value)
        S.get_value(borrow=True).data[:] = 0
        np.testing.assert_allclose(f(), value @ v)
    np.testing.assert_array_equal(sparse.constant(value).get_value().toarray(), value.toarray())
    for other in matrices():
        with pytest.raises(TypeError, match="shared"):
            other.get_value()
        with pytest.raises(TypeError, match="shared"):
            other.set_value(value)
    step = lambda x: bt.shared(value) @ x  # noqa: E731
    np.testing.assert_allclose(
        bt.scan(step, outputs_info=[pt.constant(v)], n_steps=2)[0][-1].eval(), value @ (value @ v)
    )


def test_copies_take_other_shared_matrices():
    A, B = (
        sparse.shared(sp.csr_array([[0.0, x], [1.0, 3.0]]), name)
        for x, name in ((2.0, "A"), (7.0, "B"))
    )
    x = pt.dvector("x")
    f = bt.function([x], [A @ x, A * 2], updates=[(A, A + A)])
    g = f.copy(swap={A: B})
    product, twice = g([1.0, 1.0])
    np.testing.assert_array_equal(product, [7.0, 4.0])
    np.testing.assert_array_equal(twice.toarray(), [[0.0, 14.0], [2.0, 6.0]])
    assert A.get_value().data[0] == 2.0 and B.get_value().data[0] == 14.0
    with pytest.raises(ValueError, match="swap.*same positions"):
        f.copy(swap={A: sparse.shared(sp.csr_array([[1.0, 0.0], [1.0, 3.0]]))})


def test_long_diagonals_have_no_pattern_before_a_call():
    A = sparse.square_diagonal(pt.zeros(2**36))
    assert (
        A.static_shape == (2**36, 2**36)
        and not A.is_static
        and sparse.square_diagonal(pt.zeros(2**10)).is_static
    )
    with pytest.raises(MemoryError):
        bt.function([], A)()


def two_matrices():
    return (sp.random(4, 5, 0.4, format="csr", random_state=seed) for seed in (1, 2))


def test_inputs_may_be_computed():
    one, other = two_matrices()
    a, b = sparse.csr_matrix("a"), sparse.csr_matrix("b")
    total = a + b
    f = bt.function([total], [total * 2, total.sum()])
    doubled, number = f(one)
    assert np.allclose(doubled.toarray(), 2 * one.toarray()) and np.isclose(number, one.sum())
    f = bt.function([a, total], [total * 2, a.sum()])
    doubled, number = f(one, other)
    assert np.allclose(doubled.toarray(), 2 * other.toarray()) and np.isclose(number, one.sum())
    turned = a.T
    assert np.allclose(
        bt.function([turned], turned * 2)(one.T.tocsc()).toarray(), 2 * one.toarray().T
    )
    of_dense = sparse.csr_from_dense(pt.dmatrix("dense"))
    assert np.allclose(bt.function([of_dense], of_dense * 2)(one).toarray(), 2 * one.toarray())
    assert np.allclose(total.eval({total: other}).toarray(), other.toarray())
    with pytest.raises(bt.UnusedInputError):  # b is behind total
        bt.function([b, total], total * 2)
    with pytest.raises(TypeError, match="shared"):
        shared = bt.shared(one)
        bt.function([shared], shared * 2)


def test_computed_inputs_with_the_positions_of_others():
    one, other = two_matrices()
    a = sparse.csr_matrix("a")
    square = sparse.sqr(a)
    f = bt.function([a, square], [square * 2, a.sum()])
    assert np.allclose(f(one, one)[0].toarray(), 2 * one.toarray())
    with pytest.raises(ValueError, match="expected the values of .*, of the same variable"):
        f(one, other)
    for matrix in (sparse.sqr(bt.shared(one)), sparse.sqr(sparse.as_sparse_variable(one))):
        f = bt.function([matrix], matrix * 2)
        assert np.allclose(f(3 * one).toarray(), 6 * one.toarray())
        with pytest.raises(ValueError, match="other positions than"):
            f(other)


def test_givens_replace_computed_two_matrices():
    one, other = two_matrices()
    a, b = sparse.csr_matrix("a"), sparse.csr_matrix("b")
    total = a + b
    f = bt.function([a], total * 2, givens={total: sparse.sqr(a)})
    assert np.allclose(f(one).toarray(), 2 * one.toarray() ** 2)

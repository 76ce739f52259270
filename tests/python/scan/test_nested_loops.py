"""Loops within loops and choices within steps: numbers of steps that depend on the outer loop, sides that may fail, random programs."""

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale.compile.builders import OpFromGraph
from bitale.ifelse import ifelse
from bitale.scan import fori_loop, until

from loop_programs import Generator, Plain, Symbolic, has_guards, inputs, slopes, values

MODES = {
    "jit": lambda: None,
    "c": lambda: bt.Mode(linker="c"),
    "vm": lambda: bt.Mode(linker="vm"),
    "fast_compile": lambda: "FAST_COMPILE",
    "as built": lambda: bt.Mode(linker="jit", optimizer="None"),
    "interpreted": lambda: bt.Mode(linker="vm", optimizer="None"),
}


@pytest.fixture(params=MODES)
def mode(request):
    return MODES[request.param]()


def scan(*args, **options):
    return bt.scan(*args, return_updates=False, **options)


def check(mode, given, outputs, at, expected, rtol=1e-12):
    results = bt.function(given, outputs, mode=mode, on_unused_input="ignore")(*at)
    for result, value in zip(results, expected, strict=True):
        assert result.shape == np.shape(value)
        np.testing.assert_allclose(result, value, rtol=rtol, atol=1e-12)


# ---- numbers of steps from the outer loop ----------------------------------------------------------------------------


def powers(k, rows):
    """tanh applied k[i] times to row i, and the slope of its sum."""
    out, slope = np.array(rows), np.ones(np.shape(rows))
    for i, n in enumerate(k):
        for _ in range(n):
            out[i] = np.tanh(out[i])
            slope[i] *= 1 - out[i] ** 2
    return out, slope


def test_steps_from_a_sequence(mode):
    k, rows = pt.lvector("k"), pt.dmatrix("rows")
    at = [np.array([1, 3, 2]), np.array([[0.5, -1.0], [2.0, 0.1], [-0.3, 0.7]])]
    expected = powers(*at)
    last = scan(lambda n, a: scan(pt.tanh, outputs_info=[a], n_steps=n)[-1], [k, rows])
    check(mode, [k, rows], [last, bt.grad(last.sum(), rows)], at, expected)
    final = scan(lambda n, a: fori_loop(0, n, lambda _, s: pt.tanh(s), a), [k, rows])
    at[0][1] = 0
    check(mode, [k, rows], [final, bt.grad(final.sum(), rows)], at, powers(*at))


def test_slices_of_different_lengths(mode):
    k, x = pt.lvector("k"), pt.dvector("x")
    numbers, data = np.array([2, 0, 3, 1]), np.array([0.5, -1.0, 2.0])
    step = lambda n: scan(lambda e, s: pt.tanh(s + e), [x[:n]], [pt.zeros([])]).sum()  # noqa: E731
    sums = scan(step, [k])

    def loop(data):
        out = []
        for n in numbers:
            s, total = 0.0, 0.0
            for e in data[:n]:
                s = np.tanh(s + e)
                total += s
            out.append(total)
        return np.array(out)

    slope = [(loop(data + d).sum() - loop(data - d).sum()) / 2e-6 for d in 1e-6 * np.eye(3)]
    check(mode, [k, x], [sums], [numbers, data], [loop(data)])
    check(mode, [k, x], [bt.grad(sums.sum(), x)], [numbers, data], [slope], 1e-7)


def test_inner_loops_that_end_by_themselves(mode):
    bounds, x = pt.dvector("bounds"), pt.dvector("x")

    def count(bound):
        # The element behind the last is not read.
        step = lambda i, s: (
            [i + 1, s + x[i]],
            until(pt.or_(s + x[i] > bound, pt.ge(i + 1, x.shape[0]))),
        )  # noqa: E731
        return scan(step, outputs_info=[pt.constant(0, dtype="int64"), pt.zeros([])], n_steps=10)[
            1
        ][-1]

    sums = scan(count, [bounds])
    data = np.array([1.0, 2.0, 4.0])
    check(
        mode,
        [bounds, x],
        [sums, bt.grad(sums.sum(), x)],
        [[0.5, 2.0, 99.0], data],
        [[1, 3, 7], [3, 2, 1]],
    )


def test_three_levels(mode):
    k, x = pt.lvector("k"), pt.dscalar("x")
    inner = lambda n, s: fori_loop(0, n, lambda i, t: pt.tanh(t + i), s)  # noqa: E731
    middle = lambda n, s: scan(lambda m, t: inner(m, t), [pt.arange(n)], [s])  # noqa: E731
    sums = scan(lambda n: middle(n, x).sum(), [k])

    def loop(x):
        out = []
        for n in [0, 2, 4]:
            s, total = x, 0.0
            for m in range(n):
                for i in range(m):
                    s = np.tanh(s + i)
                total += s
            out.append(total)
        return np.array(out)

    slope = (loop(0.3 + 1e-6).sum() - loop(0.3 - 1e-6).sum()) / 2e-6
    check(mode, [k, x], [sums], [[0, 2, 4], 0.3], [loop(0.3)])
    check(mode, [k, x], [bt.grad(sums.sum(), x)], [[0, 2, 4], 0.3], [slope], 1e-7)


def test_batch_around_a_loop_without_steps(mode):
    x, n, rows = pt.dvector("x"), pt.lscalar("n"), pt.dmatrix("rows")
    y = scan(
        lambda s: s * 2 + scan(pt.tanh, outputs_info=[s], n_steps=n).sum(0),
        outputs_info=[x],
        n_steps=2,
    )[-1]
    batch = bt.vectorize_graph(y, {x: rows})
    at = np.arange(6.0).reshape(2, 3)
    check(
        mode,
        [rows, n],
        [batch, bt.grad(batch.sum(), rows)],
        [at, 0],
        [at * 4, np.full((2, 3), 4.0)],
    )


def test_batches_of_what_differs_in_length(mode):
    x, n, k = pt.dvector("x"), pt.lscalar("n"), pt.lvector("k")
    norm = scan(lambda e, s: pt.tanh(s + e), [x[:n]], [pt.zeros([])]).sum() + x[: n + 1].prod()
    batch = bt.vectorize_graph(norm, {n: k})
    data = np.array([0.5, -1.0, 2.0])
    one = bt.function([x, n], [norm, bt.grad(norm, x)], mode="FAST_COMPILE")
    each = [one(data, i) for i in (0, 2, 3)]
    expected = [np.array([value for value, _ in each]), sum(slope for _, slope in each)]
    check(mode, [x, k], [batch, bt.grad(batch.sum(), x)], [data, [0, 2, 3]], expected)


# ---- choices that guard ----------------------------------------------------------------------------------------------


def test_guards_of_an_index(mode):
    x = pt.dvector("x")
    at = [np.array([1.0, 2.0, 3.0])]
    read = lambda i: ifelse(pt.lt(i, x.shape[0]), x[i], pt.zeros([]))  # noqa: E731
    by_step = scan(read, [pt.arange(5)])
    check(mode, [x], [by_step], at, [[1, 2, 3, 0, 0]])
    zero = pt.constant(0, dtype="int64")
    by_state = scan(lambda s: (s + 1, read(s)), outputs_info=[zero, None], n_steps=5)[1]
    check(mode, [x], [by_state], at, [[1, 2, 3, 0, 0]])
    summed = scan(
        lambda i, s: ifelse(pt.lt(i, x.shape[0]), s + x[i], s), [pt.arange(5)], [pt.zeros([])]
    )
    check(mode, [x], [summed], at, [[1, 3, 6, 6, 6]])
    by_arrays = scan(
        lambda i: ifelse(pt.lt(i, x.shape[0]), x[pt.stack([i, i - 1])], pt.zeros(2)),
        [pt.arange(1, 5)],
    )
    check(mode, [x], [by_arrays], at, [[[2, 1], [3, 2], [0, 0], [0, 0]]])


def test_guards_of_matrices(mode):
    a, k = pt.dmatrix("a"), pt.lvector("k")
    step = lambda i: ifelse(pt.gt(i, 0), pt.linalg.cholesky(a).sum() * i, -pt.ones([]))  # noqa: E731
    roots = scan(step, [k])
    good, bad = np.array([[4.0, 0.0], [0.0, 9.0]]), np.array([[1.0, 2.0], [2.0, 1.0]])
    check(mode, [a, k], [roots], [good, [1, 0, 2]], [[5, -1, 10]])
    check(mode, [a, k], [roots], [bad, [0, -1]], [[-1, -1]])
    with pytest.raises(np.linalg.LinAlgError):
        bt.function([a, k], roots, mode=mode)(bad, [0, 1])


@pytest.mark.parametrize("inline", [True, False])
def test_guards_in_ops(mode, inline):
    x, i = pt.dvector("x"), pt.lscalar("i")
    op = OpFromGraph([x, i], [ifelse(pt.lt(i, x.shape[0]), x[i], pt.zeros([]))], inline=inline)
    check(mode, [x, i], [op(x, i)], [[1.0, 2.0], 7], [0.0])
    check(mode, [x], [scan(lambda i: op(x, i), [pt.arange(4)])], [[1.0, 2.0]], [[1, 2, 0, 0]])


def test_guards_in_batches(mode):
    x, i, many = pt.dvector("x"), pt.lscalar("i"), pt.lmatrix("many")
    y = ifelse(pt.lt(i, x.shape[0]), x[i], pt.zeros([]))
    check(
        mode,
        [x, many],
        [bt.vectorize_graph(y, {i: many})],
        [[1.0, 2.0], [[0, 5], [1, 2]]],
        [[[1, 0], [2, 0]]],
    )


def test_choices_of_known_and_unknown_lengths(mode):
    a, b, c = pt.tensor("a", shape=(2, 3), dtype="float64"), pt.dmatrix("b"), pt.dscalar("c")
    known, other = np.arange(6.0).reshape(2, 3), np.ones((4, 1))
    for y, sides in [(ifelse(c > 0, a, b), (known, other)), (ifelse(c > 0, b, a), (other, known))]:
        slopes = bt.grad((y**2).sum(), [a, b])
        for sign, side in zip((1.0, -1.0), sides):
            expected = [2 * known, 0 * other] if side is known else [0 * known, 2 * other]
            check(mode, [a, b, c], [y, *slopes], [known, other, sign], [side, *expected])


@pytest.mark.parametrize("same", [lambda s: -(-pt.tanh(s)) * 2, lambda s: pt.tanh(s) * 2 + 0.0])
def test_loops_that_become_equal_after_rewriting(mode, same):
    """They are merged before anything is made in place that both would read."""
    x, n = pt.dvector("x"), pt.lscalar("n")
    first = scan(lambda s: pt.tanh(s) * 2, outputs_info=[x], n_steps=n)
    second = scan(same, outputs_info=[x], n_steps=n)
    value = np.tanh([0.1, 0.2]) * 2
    check(
        mode,
        [x, n],
        [(first + 1) * second, pt.exp(second) - first],
        [[0.1, 0.2], 1],
        [[(value + 1) * value], [np.exp(value) - value]],
    )


# ---- gradients of loops that draw --------------------------------------------------------------------------------------

normal = lambda **options: pt.random.normal(0.0, 1.0, **options)  # noqa: E731


def decayed(s, n, x, e=0.0):
    return scan(lambda q: pt.tanh(q) * x + e, outputs_info=[s], n_steps=n)[-1]


def ended(s, x):
    """The inner loop draws, and the step in which it ends depends on that."""
    return scan(lambda q: (pt.tanh(q) * x + normal(), until(q > 0.5)), outputs_info=[s], n_steps=4)[
        -1
    ]


DRAWING_STEPS = {
    "a loop beside a draw": lambda s, x, n: decayed(s, n, x, normal()),
    "a loop that draws": lambda s, x, n: scan(
        lambda q: pt.tanh(q) * x + normal(), outputs_info=[s], n_steps=n
    )[-1],
    "a loop that draws and ends": lambda s, x, n: ended(s, x),
    "as many steps as drawn": lambda s, x, n: decayed(s, pt.random.poisson(2.0) + 1, x),
    "over draws": lambda s, x, n: scan(lambda e, q: pt.tanh(q + e * x), [normal(size=n)], [s])[-1],
    "as many of them as drawn": lambda s, x, n: decayed(
        s, n, x, normal(size=3)[: pt.random.integers(1, 3)].sum()
    ),
    "a choice by a draw": lambda s, x, n: (lambda e: ifelse(e > 0, pt.tanh(s) * e, s * x))(
        normal()
    ),
    "a draw in a choice": lambda s, x, n: ifelse(
        s > 0, (pt.tanh(s) * normal(size=n)).sum(), s * x * normal()
    ),
    "a choice in a loop": lambda s, x, n: decayed(
        ifelse(s > normal(), s * x, pt.tanh(s)), n, x, normal() * s
    ),
}


@pytest.mark.parametrize("name", DRAWING_STEPS)
def test_gradients_of_loops_that_draw(name):
    x, n = pt.dscalar("x"), pt.lscalar("n")
    cost = scan(lambda s: DRAWING_STEPS[name](s, x, n), outputs_info=[x], n_steps=3).sum()
    generators = [leaf for leaf in bt.graph.traversal.graph_inputs([cost]) if leaf not in (x, n)]
    for k, generator in enumerate(generators):
        generator.set_value(np.random.default_rng(k))
    for mode in ("jit", "interpreted"):
        f = bt.function(
            [x, n],
            [cost, bt.grad(cost, x)],
            mode=MODES[mode](),
            no_default_updates=True,
            on_unused_input="ignore",
        )
        expected = (f(0.3 + 1e-6, 2)[0] - f(0.3 - 1e-6, 2)[0]) / 2e-6
        np.testing.assert_allclose(f(0.3, 2)[1], expected, rtol=1e-5, atol=1e-7)


def test_draws_that_a_gradient_can_not_have_again():
    x = pt.dscalar("x")
    step = lambda s: (pt.tanh(s) * normal(size=pt.random.poisson(2.0)) * x).sum()  # noqa: E731
    cost = scan(step, outputs_info=[x], n_steps=3).sum()
    with pytest.raises(NotImplementedError, match="draws of a step again"):
        bt.grad(cost, x)


# ---- random programs -------------------------------------------------------------------------------------------------

SEEDS = range(24)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_programs(seed):
    program, at, given = Generator(seed).program(), values(seed), inputs()
    plain = Plain()
    expected = plain.run(program, at)
    outputs = [pt.as_tensor_variable(Symbolic().run(program, given))]
    wanted = [expected]
    if plain.margin > 1e-4 and not has_guards(program):
        wrt = [given[name] for name in ("a", "b", "x", "y")]
        outputs += bt.grad(outputs[0], wrt, disconnected_inputs="ignore")
        wanted += list(slopes(program, at).values())
    for name in ("jit", "interpreted", list(MODES)[seed % len(MODES)]):
        f = bt.function(list(given.values()), outputs, mode=MODES[name](), on_unused_input="ignore")
        results = f(*(at[each] for each in given))
        for k, (result, value) in enumerate(zip(results, wanted)):
            np.testing.assert_allclose(
                result, value, rtol=1e-9 if k == 0 else 1e-5, atol=1e-9 if k == 0 else 1e-6
            )

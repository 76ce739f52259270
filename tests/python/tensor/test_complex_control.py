"""Complex tensors in ifelse, OpFromGraph and scan: values and gradients with all linkers, against NumPy."""

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from complex_cases import check_gradient, close, cost_of, dtypes, modes, values


@pytest.fixture(params=modes)
def mode(request):
    return modes[request.param]


# ---- ifelse ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", dtypes)
def test_ifelse_selects_a_branch(mode, dtype):
    c, z = pt.scalar("c", dtype="bool"), pt.tensor("z", dtype=dtype, shape=(None,))
    x = pt.dvector("x")
    outputs = [bt.ifelse(c, pt.exp(z), z[:1]), *bt.ifelse(c, [z * 2, x], [z.conj(), x + 1])]
    f = bt.function([c, z, x], outputs, mode=mode)
    given, real = values(4, dtype), np.arange(3.0)
    for truth in (True, False):
        expected = [
            np.exp(given) if truth else given[:1],
            given * 2 if truth else given.conj(),
            real if truth else real + 1,
        ]
        for got, each in zip(f(truth, given, real), expected):
            close(got, each.astype(got.dtype), 10)


def test_gradients_of_ifelse():
    for truth in (0.0, 1.0):
        check_gradient(
            lambda z, w: cost_of(bt.ifelse(pt.constant(truth), z**2, w * 1j)),
            values(3),
            values(3, seed=1),
        )
        check_gradient(
            lambda z, w: cost_of(bt.ifelse(pt.abs(z[0]) < 9 * truth, pt.exp(z) * w, w * 1j)),
            values(3),
            values(3, seed=1),
        )


def test_conditions_must_be_real():
    z = pt.zscalar("z")
    with pytest.raises(TypeError, match="expected a real condition"):
        bt.ifelse(z, z, z)
    with pytest.raises(TypeError, match="complex128.*float64"):
        bt.ifelse(pt.bscalar(), z, pt.dscalar())


# ---- OpFromGraph -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("inline", [True, False])
@pytest.mark.parametrize("dtype", dtypes)
def test_op_from_graph(mode, inline, dtype):
    a, b = pt.tensor(dtype=dtype, shape=(None,)), pt.dvector()
    op = bt.compile.OpFromGraph([a, b], [a * b + 1j, pt.abs(a), a], inline=inline)
    z, x = pt.tensor("z", dtype=dtype, shape=(None,)), pt.dvector("x")
    outputs = op(pt.exp(z), x)
    f = bt.function([z, x], [pt.sin(outputs[0]), *outputs], mode=mode)
    given, real = values(3, dtype), np.arange(3.0)
    e = np.exp(given)
    scale = 10 if dtype == "complex128" else 1e7  # the result of exp is rounded to complex64
    for got, each in zip(f(given, real), [np.sin(e * real + 1j), e * real + 1j, np.abs(e), e]):
        close(got, each, 10 if got.dtype in ("complex64", "float32") else scale)


@pytest.mark.parametrize("inline", [True, False])
def test_gradients_of_op_from_graph(inline):
    a, b = pt.zvector(), pt.dvector()
    op = bt.compile.OpFromGraph([a, b], [a**2 * b, pt.abs(a) * b], inline=inline)

    def build(z, x):
        first, second = op(z, x)
        return cost_of(first) + pt.sqr(second).sum()

    check_gradient(build, values(3), np.arange(1.0, 4))


@pytest.mark.parametrize("inline", [True, False])
def test_user_defined_pullback(inline):
    a = pt.zvector()
    op = bt.compile.OpFromGraph(
        [a], [a * 2], inline=inline, pullback=lambda inputs, outputs, given: [given[0] * 1j]
    )
    z = pt.zvector("z")
    f = bt.function([z], bt.grad(op(z).real.sum(), z))
    close(f(values(3)), np.full(3, 1j))


def test_nested_op_from_graph(mode):
    a = pt.zvector()
    inner = bt.compile.OpFromGraph([a], [a * 1j], inline=False)
    outer = bt.compile.OpFromGraph([a], [inner(a) + inner(a * 2)], inline=False)
    x = pt.dvector("x")
    within = bt.compile.OpFromGraph(
        [x], [pt.abs(inner(pt.exp(x * 1j)) + 2)], inline=False
    )  # complex only inside
    z = pt.zvector("z")
    f = bt.function([z, x], [outer(z), within(x)], mode=mode)
    given, real = values(3), np.arange(3.0)
    for got, each in zip(f(given, real), [given * 3j, np.abs(1j * np.exp(1j * real) + 2)]):
        close(got, each)


# ---- scan ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", dtypes)
def test_loops_over_complex_sequences_states_and_constants(mode, dtype):
    zs, y0, w = (
        pt.tensor("zs", dtype=dtype, shape=(None,)),
        pt.tensor("y0", dtype=dtype, shape=()),
        pt.tensor("w", dtype=dtype, shape=()),
    )

    def step(z, y, w):
        following = y * w + z
        return following, pt.abs(following)

    (ys, sizes), _ = bt.scan(step, sequences=[zs], outputs_info=[y0, None], non_sequences=[w])
    f = bt.function([zs, y0, w], [ys, sizes, ys[-1]], mode=mode)
    for steps in (5, 1):
        given, start, factor = values(steps, dtype), values((), dtype, 1), values((), dtype, 2)
        expected, y = [], start
        for each in given:
            y = y * factor + each
            expected.append(y)
        for got, each in zip(
            f(given, start, factor), [np.array(expected), np.abs(expected), expected[-1]]
        ):
            close(got, np.asarray(each), 10)
    zero_steps = bt.function([zs, y0, w], [ys, sizes], mode=mode)(values(0, dtype), start, factor)
    close(zero_steps[0], np.zeros(0, dtype))


def test_matrices_taps_and_a_stop_condition(mode):
    m, v, n, limit = pt.zmatrix("m"), pt.zvector("v"), pt.lscalar("n"), pt.dscalar("limit")
    ys, _ = bt.scan(lambda y, m: m @ y, outputs_info=[v], non_sequences=[m], n_steps=n)
    taps, _ = bt.scan(
        lambda a, b: a * 1j + b, outputs_info=[dict(initial=v, taps=[-1, -2])], n_steps=3
    )
    ends, _ = bt.scan(
        lambda y: (y * 2, bt.until(pt.abs(y).sum() > limit)), outputs_info=[v], n_steps=5
    )
    backwards, _ = bt.scan(lambda row: row.sum() * 1j, sequences=[m], go_backwards=True)
    f = bt.function([m, v, n, limit], [ys, taps, ends, backwards], mode=mode)
    M, V = values((2, 2)), values(2, seed=1)
    expected, y = [], V
    for _ in range(4):
        y = M @ y
        expected.append(y)
    chain = list(V)
    for _ in range(3):
        chain.append(chain[-1] * 1j + chain[-2])
    for got, each in zip(
        f(M, V, 4, 3.9 * np.abs(V).sum()),
        [expected, chain[2:], [V * 2, V * 4, V * 8], M[::-1].sum(axis=1) * 1j],
    ):
        close(got, np.array(each), 100)


def test_a_real_initial_value_is_promoted_to_complex(mode):
    z = pt.zscalar("z")
    ys, _ = bt.scan(lambda y, z: y * z, outputs_info=[1.0], non_sequences=[z], n_steps=3)
    f = bt.function([z], ys, mode=mode)
    close(f(2j), np.array([2j, -4, -8j]))
    with pytest.raises(TypeError, match="complex128"):
        bt.scan(lambda y, z: y * z, outputs_info=[pt.dscalar()], non_sequences=[z], n_steps=3)


def test_loops_that_are_complex_only_inside(mode):
    x = pt.dvector("x")
    ys, _ = bt.scan(
        lambda x, y: pt.abs(pt.exp(pt.complex(x, y)) + y),
        sequences=[x],
        outputs_info=[pt.constant(1.0, dtype="float64")],
    )
    f = bt.function([x], ys, mode=mode)
    given, expected, y = np.array([0.1, 0.5, -1]), [], 1.0
    for each in given:
        y = np.abs(np.exp(complex(each, y)) + y)
        expected.append(y)
    close(f(given), np.array(expected))


def test_a_loop_is_native_and_keeps_complex_numbers_in_registers():
    zs, w = pt.zvector("zs"), pt.zscalar("w")
    ys, _ = bt.scan(
        lambda z, y, w: y * w + z, sequences=[zs], outputs_info=[pt.constant(0j)], non_sequences=[w]
    )
    text = bt.function([zs, w], ys[-1]).dprint("program", file="str")
    assert "callback" not in text and text.count("for ") == 1 and text.count("next ") == 2


@pytest.mark.parametrize("steps", [1, 4])
def test_gradients_of_loops(steps):
    def last(zs, y0, w):
        ys, _ = bt.scan(
            lambda z, y, w: y * w + pt.sin(z), sequences=[zs], outputs_info=[y0], non_sequences=[w]
        )
        return cost_of(ys) + cost_of(ys[-1] ** 2)

    check_gradient(last, values(steps) * 0.5, values((), seed=1), values((), seed=2) * 0.5)

    def real_among_complex(xs, y0, m):
        ys, _ = bt.scan(
            lambda x, y, m: m @ y * x, sequences=[xs], outputs_info=[y0], non_sequences=[m]
        )
        return cost_of(ys)

    check_gradient(
        real_among_complex,
        np.linspace(0.5, 1, steps),
        values(2, seed=1),
        values((2, 2), seed=2) * 0.5,
    )


def test_tangents_and_batches_of_loops():
    z0, t = pt.zscalar("z0"), pt.zscalar("t")

    def loop(z0):
        ys, _ = bt.scan(lambda y: y * y + 0.1j, outputs_info=[z0], n_steps=3)
        return ys

    tangent = bt.function([z0, t], bt.gradient.pushforward(loop(z0), z0, t))
    value = bt.function([z0], loop(z0))
    a, b = 0.3 + 0.2j, 0.7 - 0.4j
    np.testing.assert_allclose(
        tangent(a, b), (value(a + 1e-6 * b) - value(a - 1e-6 * b)) / 2e-6, rtol=1e-8
    )
    many = pt.zvector("many")
    batched = bt.graph.replace.vectorize_graph(loop(z0), {z0: many})
    given = values(4) * 0.5
    close(bt.function([many], batched)(given), np.stack([value(each) for each in given]))


def test_shared_states_of_loops(mode):
    total = bt.shared(np.complex128(1j), name="total")
    zs = pt.zvector("zs")
    ys, updates = bt.scan(lambda z: (z * total, {total: total + z}), sequences=[zs])
    f = bt.function([zs], ys, updates=updates, mode=mode)
    given = values(3)
    close(f(given), given * (1j + np.concatenate([[0], np.cumsum(given)[:-1]])), 10)
    close(total.get_value(), np.asarray(1j + given.sum()), 10)


def test_debug_mode_checks_loops():
    zs = pt.zvector("zs")
    ys, _ = bt.scan(lambda z, y: y * z, sequences=[zs], outputs_info=[pt.constant(1j)])
    given = values(3)
    got = bt.function([zs], [ys, bt.grad(pt.abs(ys).sum(), zs)], mode=bt.compile.DebugMode())(given)
    close(got[0], 1j * np.cumprod(given), 10)

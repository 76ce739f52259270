"""Derivatives that users define or change: by ops, OpFromGraph, and the functions that change gradients."""

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale.compile import OpFromGraph
from bitale.graph import Apply, Op


class Sine(Op):
    """The sine, without a derivative."""

    __props__ = ()

    def make_node(self, x):
        x = pt.as_tensor_variable(x)
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = np.sin(inputs[0])

    def infer_shape(self, fgraph, node, input_shapes):
        return input_shapes


class SignOfGradient(Sine):
    def grad(self, inputs, output_grads):
        return [pt.sign(output_grads[0])]


class SignOfCotangent(Sine):
    def pullback(self, inputs, outputs, cotangents):
        return [pt.sign(cotangents[0])]


class OfFormula(Op):
    """A formula with a clipped gradient."""

    __props__ = ()

    def make_node(self, x):
        x = pt.as_tensor_variable(x)
        return Apply(self, [x], [x.type()])

    def emit(self, node, x):
        return pt.sin(bt.gradient.grad_clip(x, -1, 1))


def from_graph(x, **options):
    s = pt.dvector("s")
    return OpFromGraph([s], [pt.sin(s)], **options)(x)


def by_sign(inputs, outputs, given):
    return [pt.sign(given[0])]


def clipped_within(x):
    s = pt.dvector("s")
    return OpFromGraph([s], [pt.sin(bt.gradient.grad_clip(s, -1, 1))])(x)


def in_loop(inner):
    return lambda x: bt.scan(lambda row: inner(row), sequences=[x[None]], return_updates=False)[0]


OVERRIDES = {
    "grad_clip": lambda x: bt.gradient.grad_clip(x, -1, 1),
    "grad_scale": lambda x: bt.gradient.grad_scale(x, 3.0),
    "zero_grad": lambda x: bt.gradient.zero_grad(x) + x,
    "disconnected_grad": lambda x: bt.gradient.disconnected_grad(x) * x,
    "grad of a Python op": lambda x: SignOfGradient()(x),
    "pullback of a Python op": lambda x: SignOfCotangent()(x),
    "formula of a Python op": lambda x: OfFormula()(x),
    "OpFromGraph": from_graph,
    "OpFromGraph with a pullback": lambda x: from_graph(x, pullback=by_sign),
    "OpFromGraph with a pullback, inline": lambda x: from_graph(x, pullback=by_sign, inline=True),
    "OpFromGraph with both": lambda x: from_graph(
        x, pullback=by_sign, pushforward=lambda inputs, outputs, given: [given[0] * 2]
    ),
    "OpFromGraph of a clip": clipped_within,
    "a loop of a clip": in_loop(lambda x: bt.gradient.grad_clip(x, -1, 1) * 1.0),
    "a loop of a Python op": in_loop(lambda x: SignOfGradient()(x) * 1.0),
    "a loop of an OpFromGraph": in_loop(lambda x: from_graph(x, pullback=by_sign) * 1.0),
}


@pytest.mark.parametrize("name", OVERRIDES)
def test_gradients_do_not_depend_on_who_holds_a_variable(name):
    op = OVERRIDES[name]
    x = pt.dvector("x")
    at = {x: [0.3, -1.2, 2.0]}
    nobody = bt.grad((0.8 * op(x)).sum() + (0.8 * op(x)).sum(), x).eval(at)
    first, second = op(x), op(x)
    held = bt.grad((0.8 * first).sum() + (0.8 * second).sum(), x).eval(at)
    one = bt.grad((0.8 * first).sum(), x).eval(at)
    np.testing.assert_allclose(nobody, held, rtol=1e-12)
    np.testing.assert_allclose(nobody, 2 * one, rtol=1e-12)


def test_equal_nodes_within_inner_graphs_keep_their_own_gradients():
    s, x = pt.dvector("s"), pt.dvector("x")

    def twice(v):
        return sum((0.8 * bt.gradient.grad_clip(v, -1, 1)).sum() for _ in range(2))

    inner = OpFromGraph([s], [twice(s)])(x)
    loop = bt.scan(lambda row: twice(row), sequences=[x[None]], return_updates=False)[0]
    # A second derivative passes through the steps that the first one adds traces to.
    second = bt.grad(
        bt.grad(
            bt.scan(
                lambda s, v: s * pt.exp(pt.sin(twice(v))),
                outputs_info=[pt.as_tensor(1.0)],
                non_sequences=[x],
                n_steps=1,
                return_updates=False,
            )[-1],
            x,
        ).sum(),
        x,
    )
    direct = bt.grad(bt.grad(pt.exp(pt.sin(twice(x))), x).sum(), x)
    at = {x: [0.3, -1.2, 2.0]}
    for cost in (inner, loop):
        np.testing.assert_allclose(bt.grad(cost, x).eval(at), 1.6)
    np.testing.assert_allclose(second.eval(at), direct.eval(at), rtol=1e-12)


class SoftClip(Op):
    """tanh(x / limit) * limit, as on the page about extending."""

    __props__ = ("limit",)

    def __init__(self, limit):
        self.limit = limit

    def make_node(self, x):
        x = pt.as_tensor_variable(x)
        return Apply(self, [x], [x.type()])

    def emit(self, node, x):
        return pt.tanh(x / self.limit) * self.limit


class SoftClipBy(SoftClip):
    """Its pullback is that of the formula, by the function that is named `way`."""

    __props__ = ("limit", "way")

    def __init__(self, limit, way):
        self.limit, self.way = limit, way

    def pullback(self, inputs, outputs, cotangents):
        return soft_clip_pullback(self.way)(inputs, outputs, cotangents)


def soft_clip_pullback(way):
    def pullback(inputs, outputs, cotangents):
        y = pt.tanh(inputs[0] / 2.0) * 2.0
        match way:
            case "pullback":
                return [bt.gradient.pullback(y, inputs[0], cotangents[0])]
            case "Lop":
                return [bt.Lop(y, inputs[0], cotangents[0])]
            case _:
                return [bt.grad(None, inputs[0], known_grads={y: cotangents[0]})]

    return pullback


WAYS = ("pullback", "Lop", "known_grads")
TRANSPOSED = {"formula": lambda x: SoftClip(2.0)(x)}
for way in WAYS:
    TRANSPOSED[f"Python op by {way}"] = lambda x, way=way: SoftClipBy(2.0, way)(x)
    TRANSPOSED[f"OpFromGraph by {way}"] = lambda x, way=way: from_graph(
        x, pullback=soft_clip_pullback(way)
    )


@pytest.mark.parametrize("length", [None, 3])
@pytest.mark.parametrize("name", TRANSPOSED)
def test_forward_mode_transposes_pullbacks(name, length):
    op = TRANSPOSED[name]
    x, t = pt.tensor("x", dtype="float64", shape=(length,)), pt.dvector("t")
    at = np.array([0.1, 0.5, 1.0])
    slope = 1 / np.cosh(at / 2) ** 2
    y = op(x)
    views = {
        "pushforward": bt.pushforward(y, x, t),
        "jacfwd": bt.jacfwd(y, x),
        "jacobian": bt.jacobian(y, x),
        "in a loop": bt.jacobian(
            bt.scan(lambda e: op(e), sequences=[pt.tile(x, (8, 1))], return_updates=False).reshape(
                (24,)
            ),
            x,
        ),
    }
    if length:
        views["sparse"] = bt.jacobian(y, x, sparsity="auto")
    found = dict(
        zip(
            views,
            bt.function([x, t], list(views.values()), on_unused_input="ignore")(at, np.ones(3)),
        )
    )
    for view, value in found.items():
        expected = slope if view == "pushforward" else np.diag(slope)
        if view == "in a loop":
            expected = np.tile(expected, (8, 1))
        np.testing.assert_allclose(value, expected, rtol=1e-12, err_msg=view)


def test_an_op_without_derivative_has_none_in_forward_mode():
    x, t = pt.dvector("x"), pt.dvector("t")
    for call in (
        lambda: bt.pushforward(Sine()(x), x, t),
        lambda: bt.jacfwd(Sine()(x), x),
        lambda: bt.grad(Sine()(x).sum(), x),
    ):
        with pytest.raises(bt.NullTypeGradError):
            call()


def loop_of(step, **options):
    return lambda x: bt.scan(step, outputs_info=[x], n_steps=4, return_updates=False, **options)


def with_own_pushforward(x):
    return from_graph(x, pushforward=lambda inputs, outputs, given: [given[0] * 0.0])


def around_clip(x):
    s = pt.dvector("s")
    inner = OpFromGraph([s], [bt.gradient.grad_clip(3 * s, -0.5, 0.5) * 4])
    return OpFromGraph([s], [inner(s)])(x)


# Expressions whose reverse mode is another derivative than their forward mode, and one whose modes agree.
CHANGED = {
    "truncated loop": lambda x: bt.scan(
        lambda s: s * 2 + x, outputs_info=[x], n_steps=4, truncate_gradient=2, return_updates=False
    ),
    "clip": lambda x: pt.stack([bt.gradient.grad_clip(3 * x, -0.5, 0.5) * 4] * 4),
    "clip in a loop": loop_of(lambda s: bt.gradient.grad_clip(s, -0.5, 0.5) * 2),
    "clip in graphs": lambda x: pt.stack([around_clip(x)] * 4),
    "clip in a graph in a loop": loop_of(around_clip),
    "own pushforward": lambda x: pt.stack([with_own_pushforward(x)] * 4),
    "own pushforward in a loop": loop_of(with_own_pushforward),
    "agreeing": loop_of(lambda s: pt.sin(s) * 2),
}


@pytest.mark.parametrize("name", CHANGED)
def test_jacobians_are_those_of_reverse_mode(name):
    at = np.array([0.3, -1.2])
    found = {}
    for length in (None, 2):
        x = pt.tensor("x", dtype="float64", shape=(length,))
        y = CHANGED[name](x).reshape((8,))
        views = {"dense": bt.jacobian(y, x)}
        views["rows"] = pt.stack([bt.grad(y[i], x) for i in range(8)])
        if length:
            views["sparse"] = bt.jacobian(y, x, sparsity="auto")
            dense_pattern = np.ones((8, 2), dtype=bool)
            views["sparse, of a given pattern"] = bt.jacobian(y, x, sparsity=dense_pattern)
        for view, value in zip(views, bt.function([x], list(views.values()))(at), strict=True):
            found[view, length] = value
    for view, value in found.items():
        np.testing.assert_allclose(value, found["rows", None], rtol=1e-12, err_msg=str(view))


def test_what_is_considered_constant_does_not_decide_how_a_jacobian_is_taken():
    x = pt.tensor("x", dtype="float64", shape=(2,))
    clipped = bt.gradient.grad_clip(x, -0.1, 0.1)
    y = pt.concatenate([x * clipped] * 4)
    found = bt.jacobian(y, x, consider_constant=[clipped]).eval({x: [2.0, 3.0]})
    np.testing.assert_allclose(found, np.tile(np.diag([2.0, 3.0]), (4, 1)))

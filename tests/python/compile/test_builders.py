"""OpFromGraph: ops defined by graphs of other ops."""

import pickle

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale.compile import OpFromGraph

LINKERS = ["jit", "vm", "c", "opwise", "dual"]


def thrice(inputs, outputs, cotangents):
    return [3 * cotangents[0]]


def nothing(inputs, outputs, cotangents):
    return None


@pytest.mark.parametrize("inline", [True, False])
@pytest.mark.parametrize("linker", LINKERS)
def test_values_and_gradients(linker, inline):
    x, y = pt.dvectors("x", "y")
    op = OpFromGraph([x, y], [x * y + 1, pt.exp(x).sum()], inline=inline, name="layer")
    product, total = op(y, x)
    f = bt.function(
        [x, y], [product, total, *bt.grad(product.sum() * total, [x, y])], mode=bt.Mode(linker)
    )
    u, v = np.array([0.5, -1.0]), np.array([2.0, 0.25])
    e = np.exp(v).sum()
    for got, expected in zip(f(u, v), [u * v + 1, e, v * e, u * e + (u * v + 1).sum() * np.exp(v)]):
        np.testing.assert_allclose(got, expected)


def test_op_from_graph_is_a_class():
    x = pt.dvector("x")
    op = OpFromGraph([x], [x * 2], name="twice")
    assert isinstance(op, OpFromGraph) and isinstance(op, bt.Op)
    assert isinstance(op(x).owner.op, OpFromGraph)
    assert str(op) == "twice{inline=True}"
    (inner,) = op.inner_inputs
    assert inner is not x and inner.name == "x" and inner.type == x.type
    assert bt.graph.traversal.graph_inputs(op.inner_outputs) == [inner]
    assert op == OpFromGraph([x], [x * 2], name="twice") and hash(op) == hash(
        OpFromGraph([x], [x * 2], name="twice")
    )
    assert op != OpFromGraph([x], [x * 3], name="twice") and op != OpFromGraph(
        [x], [x * 2], inline=False
    )


def test_equal_ops_merge():
    x, a = pt.dvectors("x", "a")
    one, two = (
        OpFromGraph([x], [pt.exp(x)], inline=False),
        OpFromGraph([a], [pt.exp(a)], inline=False),
    )
    f = bt.function([x], [one(x) + 1, two(x) + 2])
    assert sum(isinstance(node.op, OpFromGraph) for node in f.maker.fgraph.toposort()) == 1


@pytest.mark.parametrize("inline", [True, False])
def test_derivatives_in_other_forms(inline):
    x, y = pt.dvectors("x", "y")
    g = pt.dvector("g")
    u, v = [1.0, 2.0], [3.0, 4.0]

    def gradients(**options):
        op = OpFromGraph([x, y], [x * y], inline=inline, **options)
        return [
            each.tolist()
            for each in bt.function(
                [x, y], bt.grad(op(x, y).sum(), [x, y]), on_unused_input="ignore"
            )(u, v)
        ]

    assert gradients() == [v, u]
    assert gradients(
        pullback=lambda inputs, outputs, given: [given[0] * 5, given[0] * outputs[0]]
    ) == [[5, 5], [3, 8]]
    assert gradients(lop_overrides=[lambda inputs, outputs, given: given[0] * 5, None]) == [
        [5, 5],
        u,
    ]
    z = pt.dvector("z")
    by_op = OpFromGraph([x, y, z, g], [g + z, g - x])
    assert gradients(pullback=by_op) == [[4, 9], [0, -1]]
    assert gradients(pullback=[None, OpFromGraph([x, y, z, g], [g + x])]) == [v, [2, 3]]
    op = OpFromGraph(
        [x, y], [x * y], inline=inline, rop_overrides=lambda inputs, tangents: [tangents[0] * 7]
    )
    tangent = bt.pushforward(op(x, y), [x, y], [pt.ones_like(x), pt.ones_like(y)])
    assert bt.function([x, y], tangent, on_unused_input="ignore")(u, v).tolist() == [7, 7]
    # The same variable as both inputs: each input has a separate derivative.
    twice = OpFromGraph(
        [x, y],
        [x * y * y],
        inline=inline,
        pullback=[None, lambda inputs, outputs, given: given[0] * 0],
    )
    assert bt.function([x], bt.grad(twice(x, x).sum(), x))(u).tolist() == [1, 4]


def test_second_order_and_verify_grad():
    x = pt.dvector("x")
    for inline in True, False:
        op = OpFromGraph([x], [pt.sin(x) * x], inline=inline)
        bt.verify_grad(lambda a: op(a).sum(), [np.array([0.3, -0.8])])
        bt.verify_grad(lambda a: (bt.grad(op(a).sum(), a) ** 2).sum(), [np.array([0.3, -0.8])])
        hessian = bt.function([x], bt.hessian(op(x).sum(), x))([0.5, 2.0])
        np.testing.assert_allclose(
            hessian, np.diag([2 * np.cos(a) - a * np.sin(a) for a in (0.5, 2.0)])
        )


def test_vectorize():
    x, w, m = pt.dvector("x"), pt.dvector("w"), pt.dmatrix("m")
    for options in (
        {"inline": True},
        {"inline": False},
        {"pullback": lambda i, o, g: [g[0] * i[1], g[0] * i[0]]},
    ):
        op = OpFromGraph([x, w], [(x * w).sum()], **options)
        batch = bt.vectorize_graph(op(x, w), {x: m})
        f = bt.function([m, w], [batch, bt.grad(batch.sum(), w)])
        rows, weights = np.arange(6.0).reshape(2, 3), np.array([1.0, -1, 2])
        values, gradient = f(rows, weights)
        np.testing.assert_allclose(values, rows @ weights)
        np.testing.assert_allclose(gradient, rows.sum(0))


def test_pickle():
    x, y = pt.dvectors("x", "y")
    inner = OpFromGraph([x], [pt.tanh(x)], inline=False, name="inner")
    op = OpFromGraph([x, y], [inner(x * y), inner(y)], inline=False, pullback=None)
    step = OpFromGraph([x], [pt.cast(x > 0, "float64")], pullback=thrice)
    for each in inner, op, step:
        copy = pickle.loads(pickle.dumps(each))
        assert copy == each and hash(copy) == hash(each) and type(copy) is OpFromGraph
    outputs = [*op(x, y), bt.grad(step(x).sum(), x)]
    f = bt.function([x, y], outputs)
    again = pickle.loads(pickle.dumps(f))
    for a, b in zip(f([1.0, -2.0], [3.0, 4.0]), again([1.0, -2.0], [3.0, 4.0])):
        assert a.tolist() == b.tolist()
    # A long inner graph is pickled without recursion.
    chain = x
    for _ in range(20_000):
        chain = chain + 1
    long = OpFromGraph([x], [chain], inline=False)
    assert pickle.loads(pickle.dumps(long)) == long
    # The deepest permitted nesting.
    for _ in range(31):
        inner = OpFromGraph([x], [inner(x) + 1])
    assert pickle.loads(pickle.dumps(inner)) == inner
    with pytest.raises(Exception, match="lambda|pickle"):
        pickle.dumps(OpFromGraph([x], [x], pullback=lambda inputs, outputs, given: given))


def test_dprint_lists_inner_graphs():
    x, y = pt.dvectors("x", "y")
    inner = OpFromGraph([x], [pt.tanh(x)], name="inner")
    op = OpFromGraph([x, y], [inner(x) * y], name="outer")
    text = bt.dprint(op(y, x) + op(x, y), file="str")
    assert text == (
        "Add [id A]\n"
        " ├─ outer{inline=True} [id B]\n"
        " │  ├─ y [id C]\n"
        " │  └─ x [id D]\n"
        " └─ outer{inline=True} [id E]\n"
        "    ├─ x [id D]\n"
        "    └─ y [id C]\n"
        "\n"
        "Inner graphs:\n"
        "\n"
        "outer{inline=True} [id B, E]\n"
        " ← Mul [id F]\n"
        "    ├─ inner{inline=True} [id G]\n"
        "    │  └─ *0-x [id H]\n"
        "    └─ *1-y [id I]\n"
        "\n"
        "inner{inline=True} [id G]\n"
        " ← Tanh [id J]\n"
        "    └─ *0-x [id K]\n"
    )


def test_without_inlining_it_is_a_separate_function(tmp_path):
    x = pt.dvector("x")
    op = OpFromGraph([x], [pt.exp(x)], inline=False, name="own")
    f = bt.function([x], op(x) + op(x * 2))
    assert bt.dprint(f, file="str").count("(a function of its own)") == 2
    with pytest.raises(
        NotImplementedError,
        match=r"own\{inline=False\} is an op with an inner graph(.|\n)*option inline",
    ):
        f.export_c(tmp_path)
    assert bt.function([x], OpFromGraph([x], [pt.exp(x)])(x), name="g").export_c(tmp_path)


def test_shapes_are_inferred_without_computing_it():
    x, m = pt.dvector("x"), pt.dmatrix("m")
    op = OpFromGraph([x, m], [pt.outer(x, m[0]).T], inline=False)
    f = bt.function([x, m], op(x, m).shape)
    assert "OpFromGraph" not in bt.dprint(f, file="str")
    assert f(np.ones(3), np.ones((2, 5))).tolist() == [5, 3]


def test_debug_mode():
    x, y = pt.dvectors("x", "y")
    for inline in True, False:
        op = OpFromGraph([x, y], [pt.exp(x) * y], inline=inline)
        f = bt.function([x, y], bt.grad(op(x, y).sum(), x), mode="DebugMode")
        np.testing.assert_allclose(f([1.0, 2.0], [3.0, 4.0]), np.exp([1.0, 2.0]) * [3, 4])


def test_test_values():
    x, y = pt.dvectors("x", "y")
    x.tag.test_value, y.tag.test_value = np.ones(2), np.ones(2)
    with bt.config.change_flags(compute_test_value="raise"):
        op = OpFromGraph([x, y], [x * y])
        out = op(x, y)
        assert out.tag.test_value.tolist() == [1, 1]
        bt.grad(out.sum(), x)


def test_errors_name_the_op_and_the_line():
    x, y, m = pt.dvector("x"), pt.dvector("y"), pt.dmatrix("m")
    shared = bt.shared(np.ones(2), name="w")
    with pytest.raises(
        bt.MissingInputError,
        match=r"OpFromGraph `f`: the outputs depend on `y`(.|\n)*test_builders.py",
    ):
        OpFromGraph([x], [x + y], name="f")
    with pytest.raises(
        bt.MissingInputError, match="the shared variable `w`(.|\n)*add it to the inputs"
    ):
        OpFromGraph([x], [x + shared], strict=True)
    assert bt.function([x], OpFromGraph([x, shared], [x + shared])(x, shared))(
        [1.0, 2.0]
    ).tolist() == [2, 3]
    with pytest.raises(TypeError, match="expected a list of inputs, got x"):
        OpFromGraph(x, [x])
    with pytest.raises(TypeError, match="each of the outputs"):
        OpFromGraph([x], [3])
    with pytest.raises(ValueError, match="at least one output"):
        OpFromGraph([x], [])
    with pytest.raises(ValueError, match="twice"):
        OpFromGraph([x, x], [x])
    with pytest.raises(ValueError, match="or its older name"):
        OpFromGraph([x], [x], pullback=thrice, lop_overrides=thrice)
    with pytest.raises(ValueError, match="a list of 2, expected 1"):
        OpFromGraph([x], [x], pullback=[None, None])
    with pytest.raises(TypeError, match="functions, ops or None"):
        OpFromGraph([x], [x], pullback=[3])
    with pytest.raises(TypeError, match="expected a function, got 3"):
        OpFromGraph([x], [x], pullback=3)

    op = OpFromGraph([x, y], [x + y], name="add_up")
    with pytest.raises(TypeError, match="OpFromGraph `add_up`: expected 2 inputs, got 1"):
        op(x)
    with pytest.raises(TypeError, match="input 1, `m`, has another number of dimensions"):
        op(x, m)
    with pytest.raises(
        TypeError, match=r"input 1, `i`, has another dtype \(cast(.|\n)*test_builders.py"
    ):
        op(x, pt.lvector("i"))
    assert bt.function([x], op(x, np.array([1, 2])))([1.0, 1.0]).tolist() == [
        2,
        3,
    ]  # the constant is converted

    def fails(pullback, error, match):
        wrong = OpFromGraph([x], [pt.exp(x)], pullback=pullback, name="wrong")
        with pytest.raises(error, match=match):
            bt.grad(wrong(x).sum(), x)

    fails(
        lambda i, o, g: [g[0], g[0]],
        ValueError,
        "`wrong`: its pullback override gave 2 results, expected 1(.|\n)*test_builders",
    )
    fails(lambda i, o, g: [g[0].sum()], TypeError, "result 0 of its pullback override has the type")
    fails(lambda i, o, g: [pt.cast(g[0], "int64")], TypeError, "expected floats with 1 dimensions")
    fails(nothing, TypeError, "nothing: expected a list of derivatives, got None")
    fails(lambda i, o, g: "ab", TypeError, "expected a list of derivatives, got 'ab'")
    fails(lambda i, o, g: 1 / 0, ZeroDivisionError, "division")
    none = OpFromGraph([x], [pt.exp(x)], pullback=lambda inputs, outputs, given: [None])
    assert bt.function([x], bt.grad(none(x).sum(), x))([1.0, 2.0]).tolist() == [0, 0]


@pytest.mark.parametrize("linker", LINKERS)
def test_errors_of_a_call(linker):
    x, y = pt.dvectors("x", "y")
    f = bt.function(
        [x, y],
        OpFromGraph([x, y], [pt.exp(x) + y], inline=False, name="adds")(x, y),
        mode=bt.Mode(linker),
    )
    with pytest.raises(bt.ShapeError, match=r"Add(.|\n)*test_builders.py"):
        f([1.0, 2.0], [1.0, 2.0, 3.0])


def test_shared_variables_and_constants_among_the_inputs():
    x, y, s = pt.dscalar("x"), pt.dscalar("y"), bt.shared(3.0, name="s")
    op = bt.OpFromGraph([x, y], [x * s + y])
    f = bt.function([x, y], op(x, y))
    assert op.shared_inputs == [s] and f(2.0, 1.0) == 7
    s.set_value(10.0)
    assert f(2.0, 1.0) == 21 and bt.grad(op(x, y), s).eval({x: 2.0, y: 1.0}) == 2
    assert op(x, y).owner.clone_with_new_inputs([y, x, s]).outputs[0].eval({x: 2.0, y: 1.0}) == 12
    with pytest.raises(bt.graph.utils.MissingInputError, match="`s`"):
        bt.OpFromGraph([x, y], [x * s + y], strict=True)
    given = bt.OpFromGraph([x, s, pt.constant(2.0)], [x * s])
    assert given.shared_inputs == [] and given(x, y, 1.0).eval({x: 2.0, y: 5.0}) == 10


def test_connection_patterns():
    x, y = pt.dscalars("x", "y")
    op = bt.OpFromGraph([x, y], [x * y, x + y], connection_pattern=[[True, False], [False, False]])
    first, second = op(x, y)
    assert bt.function([x, y], [first, second])(2.0, 5.0) == [10, 7]
    assert bt.grad(first + second, x).eval({x: 2.0, y: 5.0}) == 5
    with pytest.raises(bt.DisconnectedInputError):
        bt.grad(first + second, y)
    for bad in ([[True, True]], [[True], [True]], []):
        with pytest.raises(ValueError, match="connection_pattern"):
            bt.OpFromGraph([x, y], [x * y, x + y], connection_pattern=bad)
    with pytest.raises(NotImplementedError, match="destroy_map"):
        bt.OpFromGraph([x], [x], destroy_map={0: [0]})
    with pytest.raises(ValueError, match="fgraph"):
        bt.OpFromGraph([x], [x], fgraph=bt.graph.FunctionGraph([x], [-x], clone=False))

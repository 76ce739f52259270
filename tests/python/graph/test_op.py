"""Ops written in Python: results, optional methods, equality, and invalid implementations."""

import copy
import gc
import pickle
import sys
import threading
import weakref

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale.gradient import DisconnectedType, disconnected_type, grad_undefined
from bitale.graph import Apply, Op, as_op, wrap_py
from bitale.tensor.type_other import NoneTypeT, none_type_t, slicetype

LINKERS = ["jit", "c", "vm", "opwise"]


@pytest.fixture(params=LINKERS)
def linker(request):
    return bt.Mode(request.param, "fast_run")


class Scale(Op):
    """x * factor, with all optional methods."""

    __props__ = ("factor",)

    def __init__(self, factor):
        self.factor = factor

    def make_node(self, x):
        x = pt.as_tensor_variable(x)
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0] * np.asarray(self.factor, inputs[0].dtype)

    def infer_shape(self, fgraph, node, input_shapes):
        return [input_shapes[0]]

    def pullback(self, inputs, outputs, cotangents):
        return [cotangents[0] * self.factor]

    def pushforward(self, inputs, outputs, tangents):
        return [tangents[0] * self.factor]


class Sorted2(Op):
    """Declares itypes and otypes, and has two outputs: the sorted vector and its range."""

    __props__ = ()
    itypes = [pt.dvector]
    otypes = [pt.dvector, pt.dscalar]

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = np.sort(inputs[0])
        output_storage[1][0] = np.asarray(np.ptp(inputs[0]))


class Plain(Op):
    """Without __props__, an op equals only itself. The function given by the test stores the result."""

    itypes = [pt.dvector]
    otypes = [pt.dvector]

    def __init__(self, function=np.copy, **attributes):
        self.function = function
        self.__dict__.update(attributes)

    def perform(self, node, inputs, output_storage):
        self.function(inputs, output_storage)


class Softplus2(Op):
    """Defined by a symbolic formula, which is compiled."""

    __props__ = ()

    def make_node(self, x):
        x = pt.as_tensor_variable(x)
        return Apply(self, [x], [x.type()])

    def emit(self, node, x):
        return 2 * pt.log1p(pt.exp(x))


@as_op(itypes=[pt.dmatrix, pt.dvector], otypes=[pt.dvector])
def times(a, b):
    """A product."""
    return a @ b


# ---- results ---------------------------------------------------------------------------------------------------------


def test_every_linker(linker):
    x = pt.dvector("x")
    f = bt.function([x], [pt.exp(Scale(2.0)(x) + 1).sum(), Scale(3.0)(x)], mode=linker)
    given = np.arange(5.0)
    total, scaled = f(given)
    np.testing.assert_allclose(total, np.exp(2 * given + 1).sum())
    np.testing.assert_array_equal(scaled, 3 * given)
    assert f(np.empty(0))[0] == 0
    np.testing.assert_array_equal(f(np.arange(10.0)[::-2])[1], 3 * np.arange(10.0)[::-2])


def test_several_outputs(linker):
    x = pt.dvector("x")
    ordered, width = Sorted2()(x)
    f = bt.function([x], [ordered, width * 2], mode=linker)
    got = f([3.0, -1.0, 2.0])
    assert got[0].tolist() == [-1, 2, 3] and got[1] == 8
    assert bt.function([x], Sorted2()(x, return_list=True)[1], mode=linker)([1.0, 5.0]) == 4


def test_scalars_and_python_numbers(linker):
    class Count(Op):
        __props__ = ()
        itypes, otypes = [pt.dvector], [pt.lscalar, pt.dscalar]

        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = len(inputs[0])
            output_storage[1][0] = inputs[0].sum()

    x = pt.dvector("x")
    assert [v.item() for v in bt.function([x], Count()(x), mode=linker)([1.5, 2.0])] == [2, 3.5]


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint16", "int32", "uint64", "float32", "float64"]
)
def test_dtypes(linker, dtype):
    class Flip(Op):
        __props__ = ()

        def make_node(self, x):
            return Apply(self, [x], [x.type()])

        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = np.flip(inputs[0]).copy()

    x = pt.matrix("x", dtype=dtype)
    given = np.array([[1, 0, 1], [0, 0, 1]]).astype(dtype)
    np.testing.assert_array_equal(bt.function([x], Flip()(x), mode=linker)(given), np.flip(given))


def test_nodes_keep_the_op_object():
    op, x = Scale(2.0), pt.dvector("x")
    y = op(x, name="y")
    assert y.owner.op is op and y.name == "y" and type(y.owner.op) is Scale
    assert y.owner.clone().op is op and y.owner.clone_with_new_inputs([pt.dvector()]).op is op
    assert [
        node.op for node in bt.function([x], y + 1).fgraph.toposort() if isinstance(node.op, Scale)
    ] == [op]


def test_equal_ops_are_computed_once():
    calls = []

    class Seen(Scale):
        def perform(self, node, inputs, output_storage):
            calls.append(self.factor)
            super().perform(node, inputs, output_storage)

    x = pt.dvector("x")
    bt.function([x], Seen(2.0)(x) + Seen(2.0)(x) + Seen(3.0)(x))([1.0])
    assert sorted(calls) == [2, 3]


def test_names_types_and_default_output():
    class Two(Sorted2):
        default_output = 1

    assert Two()(pt.dvector()).type == pt.dscalar

    class Named(Op):
        __props__ = ()

        def make_node(self, x, *, times=1):
            return Apply(self, [x], [pt.dvector("made") for _ in range(times)])

        def perform(self, node, inputs, output_storage):
            for cell in output_storage:
                cell[0] = inputs[0].copy()

    y, z = Named()(pt.dvector(), times=2)
    assert y.name == "made" and z.index == 1
    assert Plain()([1.0, 2.0]).owner.inputs[0].data.tolist() == [1, 2]


def test_folding():
    calls = []

    class Noted(Scale):
        fold = True

        def perform(self, node, inputs, output_storage):
            calls.append(1)
            super().perform(node, inputs, output_storage)

        def do_constant_folding(self, fgraph, node):
            return self.fold

    for fold, expected in ((True, 0), (False, 2)):
        Noted.fold = fold
        f = bt.function([], Noted(3.0)(pt.constant(np.ones(2))))
        del calls[:]
        assert f().tolist() == [3, 3] and f().tolist() == [3, 3] and len(calls) == expected


def test_lengths_are_inferred_without_computing():
    class Never(Scale):
        def perform(self, node, inputs, output_storage):
            raise AssertionError("not needed")

    x = pt.dmatrix("x")
    assert bt.function([x], Never(2.0)(x).shape)(np.ones((2, 3))).tolist() == [2, 3]

    class OlderWay(Never):
        def infer_shape(self, node, input_shapes):
            return [(input_shapes[0][0], 7)]

    assert bt.function([x], OlderWay(2.0)(x).shape)(np.ones((2, 3))).tolist() == [2, 7]


def test_views_and_destroyed_inputs(linker):
    class Row(Op):
        __props__ = ()
        itypes, otypes, view_map = [pt.dmatrix], [pt.dvector], {0: [0]}

        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = inputs[0][0]

    class Overwrite(Op):
        __props__ = ()
        itypes, otypes, destroy_map = [pt.dvector], [pt.dvector], {0: [0]}

        def perform(self, node, inputs, output_storage):
            inputs[0][:] = -1
            output_storage[0][0] = inputs[0]

    x, v = pt.dmatrix("x"), pt.dvector("v")
    given = np.arange(600.0).reshape(2, 300)
    np.testing.assert_array_equal(bt.function([x], Row()(x) * 2, mode=linker)(given), 2 * given[0])
    f = bt.function([v], [Overwrite()(v), v + 1, Overwrite()(pt.exp(v)), pt.exp(v)], mode=linker)
    for given in (np.zeros(3), np.zeros(500)):
        a, b, c, d = f(given)
        assert (
            not given.any()
            and (a == -1).all()
            and (b == 1).all()
            and (c == -1).all()
            and (d == 1).all()
        )


def test_as_op(linker):
    a, b = pt.dmatrix("a"), pt.dvector("b")
    f = bt.function([a, b], times(a, b) + 1, mode=linker)
    np.testing.assert_allclose(f([[1.0, 2.0]], [3.0, 4.0]), [12.0])
    assert (
        times.__doc__ == "A product."
        and str(times) == "FromFunctionOp{times}"
        and pickle.loads(pickle.dumps(times)) is times
    )

    @wrap_py(
        pt.dvector,
        (pt.dvector, pt.lscalar),
        infer_shape=lambda fgraph, node, shapes: [shapes[0], ()],
    )
    def parts(x):
        return x[::-1], np.int64(len(x))

    assert [v.tolist() for v in bt.function([b], parts(b), mode=linker)([1.0, 2.0])] == [[2, 1], 2]
    with pytest.raises(TypeError, match="decorate"):
        pickle.dumps(parts)
    with pytest.raises(TypeError, match="itypes must be types"):
        as_op([float], [pt.dvector])


def test_shared_variables_and_updates(linker):
    state = bt.shared(np.ones(3), "state")
    f = bt.function([], [], updates=[(state, Scale(2.0)(state))], mode=linker)
    f(), f()
    assert state.get_value().tolist() == [4, 4, 4]


# ---- derivatives -------------------------------------------------------------------------------------------------------


def test_gradient(linker):
    x = pt.dvector("x")
    g = bt.function([x], bt.grad((Scale(3.0)(x) ** 2).sum(), x), mode=linker)
    np.testing.assert_allclose(g([1.0, 2.0]), [18.0, 36.0])
    t = pt.dvector("t")
    j = bt.function([x, t], bt.pushforward(Scale(3.0)(x) ** 2, x, t), mode=linker)
    np.testing.assert_allclose(j([1.0, 2.0], [1.0, 0.5]), [18.0, 18.0])
    bt.verify_grad(Scale(3.0), [np.arange(3.0)])


@pytest.mark.parametrize("way", ["pullback", "L_op", "grad"])
def test_older_names(way):
    class Square(Op):
        __props__ = ()
        itypes, otypes = [pt.dvector], [pt.dvector]

        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = inputs[0] ** 2

        def R_op(self, inputs, eval_points):
            return [None if eval_points[0] is None else 2 * inputs[0] * eval_points[0]]

    methods = {
        "pullback": lambda self, inputs, outputs, cts: [2 * inputs[0] * cts[0]],
        "L_op": lambda self, inputs, outputs, grads: [2 * inputs[0] * grads[0]],
        "grad": lambda self, inputs, grads: [2 * inputs[0] * grads[0]],
    }
    setattr(Square, way, methods[way])
    x, t = pt.dvector("x"), pt.dvector("t")
    np.testing.assert_allclose(bt.function([x], bt.grad(Square()(x).sum(), x))([3.0]), [6.0])
    np.testing.assert_allclose(bt.function([x, t], bt.Rop(Square()(x), x, t))([3.0], [2.0]), [12.0])
    del Square.R_op  # Rop is then computed by two pullbacks
    np.testing.assert_allclose(bt.function([x, t], bt.Rop(Square()(x), x, t))([3.0], [2.0]), [12.0])


def test_disconnected_and_undefined():
    class Pick(Op):
        __props__ = ()
        itypes, otypes = [pt.dvector, pt.dvector], [pt.dvector]

        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = inputs[0] + 0

        def connection_pattern(self, node):
            return [[True], [False]]

        def pullback(self, inputs, outputs, cotangents):
            return [cotangents[0], disconnected_type()]

    class Steps(Pick):
        def connection_pattern(self, node):
            return [[True], [True]]

        def pullback(self, inputs, outputs, cotangents):
            return [cotangents[0], grad_undefined(self, 1, inputs[1], "It jumps.")]

    x, y = pt.dvectors("x", "y")
    assert bt.function([x, y], bt.grad(Pick()(x, y).sum(), x), on_unused_input="ignore")(
        [1.0], [1.0]
    ).tolist() == [1]
    with pytest.raises(bt.DisconnectedInputError):
        bt.grad(Pick()(x, y).sum(), y)
    with pytest.raises(bt.NullTypeGradError, match="It jumps"):
        bt.grad(Steps()(x, y).sum(), y)
    with pytest.raises(bt.NullTypeGradError, match="Plain"):
        bt.grad(Plain()(x).sum(), x)
    assert isinstance(disconnected_type().type, DisconnectedType)


def test_batches(linker):
    x = pt.dvector("x")
    ordered, width = Sorted2()(x)
    batch = pt.dmatrix("batch")
    out = bt.vectorize_graph([ordered * width], {x: batch})[0]
    given = np.array([[3.0, 1.0, 2.0], [0.0, -1.0, 5.0]])
    expected = np.sort(given, axis=1) * np.ptp(given, axis=1)[:, None]
    np.testing.assert_allclose(bt.function([batch], out, mode=linker)(given), expected)

    a, b = pt.dmatrix("a"), pt.dvector("b")
    both = bt.vectorize_graph([times(a, b)], {b: pt.dmatrix("bs")})[0]
    bs = bt.graph.explicit_graph_inputs([both])[1]
    f = bt.function([a, bs], both, mode=linker)
    np.testing.assert_allclose(
        f(np.ones((2, 3)), [[1.0, 2.0, 3.0], [0.0, 0.0, 1.0]]), [[6, 6], [1, 1]]
    )

    class Own(Scale):
        def vectorize(self, node, x):
            return self.make_node(x)

    y = Own(2.0)(x)
    (z,) = bt.vectorize_graph([y], {x: batch})
    assert z.owner.op is y.owner.op
    jacobian = bt.function([x], bt.jacobian(Scale(2.0)(x) ** 2, x), mode=linker)
    np.testing.assert_allclose(jacobian([1.0, 3.0]), np.diag([8.0, 24.0]))


def test_gradient_of_a_batch():
    class Affine(Op):
        __props__ = ()
        itypes, otypes = [pt.dvector, pt.dscalar], [pt.dvector]

        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = inputs[0] * inputs[1]

        def pullback(self, inputs, outputs, cts):
            return [cts[0] * inputs[1], (cts[0] * inputs[0]).sum()]

    x, s, batch = pt.dvector("x"), pt.dscalar("s"), pt.dmatrix("batch")
    (out,) = bt.vectorize_graph([Affine()(x, s)], {x: batch})
    f = bt.function([batch, s], bt.grad((out**2).sum(), [batch, s]))
    given = np.array([[1.0, 2.0], [3.0, 4.0]])
    dx, ds = f(given, 3.0)
    np.testing.assert_allclose(dx, 18 * given)
    np.testing.assert_allclose(ds, 6 * (given**2).sum())


# ---- formulas ----------------------------------------------------------------------------------------------------------


def test_a_formula_is_native():
    x = pt.dvector("x")
    f = bt.function([x], Softplus2()(x).sum())
    shown = f.dprint(file="str")
    assert "Softplus2" not in shown and "perform" not in shown
    assert not any(isinstance(node.op, Softplus2) for node in f.fgraph.toposort())
    assert len(f.fgraph.toposort()) == len(
        bt.function([x], (2 * pt.log1p(pt.exp(x))).sum()).fgraph.toposort()
    )
    np.testing.assert_allclose(f([0.5, -1.0]), (2 * np.log1p(np.exp([0.5, -1.0]))).sum())
    assert f.rewrite_report is not None
    callback = bt.function([x], Scale(2.0)(x))
    assert "perform" in callback.dprint(file="str")


def test_a_formula_without_rewriting(linker):
    x = pt.dvector("x")
    expected = 2 * np.log1p(np.exp([0.5, -1.0]))
    for mode in (linker, linker.excluding("expand"), bt.Mode("vm", "None")):
        np.testing.assert_allclose(
            bt.function([x], Softplus2()(x), mode=mode)([0.5, -1.0]), expected
        )
    g = bt.function([x], bt.grad(Softplus2()(x).sum(), x), mode=linker)
    np.testing.assert_allclose(g([0.5, -1.0]), 2 / (1 + np.exp([-0.5, 1.0])))
    np.testing.assert_allclose(
        bt.function([x], bt.grad(bt.grad(Softplus2()(x).sum(), x).sum(), x))([0.0]), [0.5]
    )


def test_formulas_within_formulas():
    class Outer(Softplus2):
        def emit(self, node, x):
            return Softplus2()(x) + Scale(2.0)(x)

    class Endless(Softplus2):
        def emit(self, node, x):
            return Endless()(x)

    x = pt.dvector("x")
    f = bt.function([x], Outer()(x))
    np.testing.assert_allclose(f([0.0]), [2 * np.log(2)])
    assert [
        type(n.op)
        for n in f.fgraph.toposort()
        if isinstance(n.op, Op) and type(n.op).__module__ == __name__
    ] == [Scale]
    with pytest.raises(RecursionError):
        Endless()(x)


def test_debug_mode_compares_formula_and_perform():
    class Wrong(Softplus2):
        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = inputs[0] * 7

    x = pt.dvector("x")
    with pytest.raises(Exception, match="expand"):
        bt.function([x], Wrong()(x), mode="DebugMode")([1.0])
    np.testing.assert_allclose(
        bt.function([x], Softplus2()(x), mode="DebugMode")([0.0]), [2 * np.log(2)]
    )


@pytest.mark.parametrize(
    "formula, message",
    [
        (lambda x: [x, x], "2 variables for 1 outputs"),
        (lambda x: x.sum(), "expected"),
        (lambda x: None, "expected a list of variables"),
        (lambda x: pt.cast(x, "float32"), "float32"),
    ],
)
def test_invalid_formulas(formula, message):
    class Bad(Softplus2):
        def emit(self, node, x):
            return formula(x)

    x = pt.dvector("x")
    with pytest.raises((TypeError, ValueError), match=message) as caught:
        Bad()(x)
    assert "Bad.emit" in str(caught.value)


# ---- invalid implementations: errors at run time ---------------------------------------------------------------------


def store(value):
    def perform(inputs, output_storage):
        output_storage[0][0] = value(inputs[0]) if callable(value) else value

    return perform


def write_into_input(inputs, output_storage):
    inputs[0][:] = 0


def replace_cell(inputs, output_storage):
    output_storage[0] = inputs[0].copy()


BAD = {
    "dtype": (store(lambda x: x.astype("float32")), TypeError, "float32"),
    "rank": (store(lambda x: x[None].copy()), TypeError, "expected"),
    "nothing": (lambda inputs, output_storage: None, TypeError, "was not stored"),
    "returned": (lambda inputs, output_storage: inputs[0], TypeError, "was not stored"),
    "text": (store("nonsense"), TypeError, "not an array"),
    "list": (store(lambda x: list(x)), TypeError, "not an array"),
    "object": (store(lambda x: x.astype(object)), TypeError, "dtype"),
    "masked": (store(lambda x: np.ma.masked_array(x, x > 1)), TypeError, "masked"),
    "view": (store(lambda x: x[:]), ValueError, "is a view of input 0"),
    "reversed view": (store(lambda x: x[::-1]), ValueError, "is a view of input 0"),
    "write": (write_into_input, ValueError, "read-only"),
    "cell": (replace_cell, TypeError, r"output_storage\[0\] was replaced"),
    "count": (
        lambda inputs, output_storage: output_storage.append([inputs[0]]),
        ValueError,
        "2 entries",
    ),
    "raises": (lambda inputs, output_storage: {}["missing"], KeyError, "missing"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_performs(linker, case):
    perform, exception, message = BAD[case]
    x = pt.dvector("x")
    y = Plain(perform)(x + 1)  # the user's line
    f = bt.function([x], pt.exp(y).sum(), mode=linker)
    for given in (np.arange(3.0), np.arange(1000.0)):
        before = given.copy()
        with pytest.raises(exception, match=message) as caught:
            f(given)
        np.testing.assert_array_equal(given, before)
        text = str(caught.value) + "".join(getattr(caught.value, "__notes__", ()))
        assert type(caught.value) is exception
        if sys.version_info >= (3, 11):
            assert "Plain" in text and "test_op.py" in text and "test_bad_performs" in text
        assert isinstance(caught.value.node.op, Plain)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="exceptions have no notes")
@pytest.mark.parametrize("of_state", [False, True])
@pytest.mark.parametrize(
    "case", ["dtype", "rank", "nothing", "text", "view", "write", "count", "raises"]
)
def test_bad_performs_in_scan_steps(linker, case, of_state):
    """A node that does not depend on the state is hoisted out of the loop, and errors still refer to the user's node
    and line."""
    perform, exception, message = BAD[case]
    x, total = pt.dmatrix("x"), bt.shared(np.ones(3))

    def step(row, state):
        return Plain(perform)(state + row if of_state else row) + state

    out = bt.scan(step, x, [pt.zeros(3)], return_updates=False)[-1]
    f = bt.function([x], out, updates=[(total, total + out)], mode=linker)
    given = np.arange(6.0).reshape(2, 3)
    with pytest.raises(exception, match=message) as caught:
        f(given)
    text = str(caught.value) + "".join(getattr(caught.value, "__notes__", ()))
    assert "Plain" in text and "test_op.py" in text and ".step`" in text
    if not of_state:
        assert "element (0,) of (2,)" in text
    else:
        assert "step     0 of 2" in text and "Scan" in text
    np.testing.assert_array_equal(given, np.arange(6.0).reshape(2, 3))
    np.testing.assert_array_equal(total.get_value(), np.ones(3))


def test_shapes_against_types_and_infer_shape(linker):
    class Fixed(Op):
        __props__ = ()
        itypes, otypes = [pt.dvector], [pt.TensorType("float64", (3,))]

        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = inputs[0] * 1

    class Promises(Scale):
        def infer_shape(self, fgraph, node, input_shapes):
            return [(input_shapes[0][0] + 1,)]

    x = pt.dvector("x")
    f = bt.function([x], Fixed()(x).sum(), mode=linker)
    assert f(np.ones(3)) == 3
    with pytest.raises(bt.ShapeError, match="wrong shape") as caught:
        f(np.ones(4))
    assert "Fixed" in str(caught.value) and "test_op.py" in str(caught.value)
    g = bt.function([x], Promises(2.0)(x).sum(), mode=linker)
    with pytest.raises(bt.ShapeError, match=r"infer_shape says \(5,\), got \(4,\)"):
        g(np.ones(4))


@pytest.mark.parametrize(
    "shapes, message",
    [
        (lambda s: [], "0 shapes for 1 outputs"),
        (lambda s: [()], "0 lengths"),
        (lambda s: 3, "list with a shape"),
        (lambda s: [(1.5,)], "integer scalar"),
    ],
)
def test_bad_infer_shape(shapes, message):
    class Bad(Scale):
        def infer_shape(self, fgraph, node, input_shapes):
            return shapes(input_shapes)

    x = pt.dvector("x")
    with pytest.raises((TypeError, ValueError), match=message) as caught:
        bt.function([x], Bad(2.0)(x).sum())(np.ones(2))
    assert "Bad.infer_shape" in str(caught.value)


def test_lengths_of_short_lived_nodes():
    """Clones of a node share its op, and a clone may have the address of a deleted one."""

    class Repeat(Op):
        __props__ = ()
        itypes, otypes = [pt.dvector, pt.lscalar], [pt.dvector]

        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = np.tile(inputs[0], inputs[1])

        def infer_shape(self, fgraph, node, input_shapes):
            return [(input_shapes[0][0] * node.inputs[1],)]

    x, n = pt.dvector("x"), pt.lscalar("n")
    y = Repeat()(x, n)
    for times in range(20):
        copied = bt.graph.clone(y, copy_leaves=True)
        assert len(bt._core.perform_node(copied.owner, [np.zeros(1), np.array(times)])[0]) == times
        del copied


def test_lengths_that_depend_on_the_output():
    class Own(Scale):
        def infer_shape(self, fgraph, node, input_shapes):
            return [(node.outputs[0].shape[0],)]

    x = pt.dvector("x")
    with pytest.raises(
        ValueError, match="Own.infer_shape: a length is computed from the node's own output"
    ):
        bt.function([x], Own(2.0)(x))([1.0])


@pytest.mark.skipif(sys.version_info < (3, 11), reason="exceptions have no notes")
@pytest.mark.parametrize("method", ["infer_shape", "connection_pattern"])
def test_exceptions_while_building_name_the_node(method):
    def fails(self, *arguments):
        raise LookupError("mine")

    x = pt.dvector("x")
    y = type("Bad", (Scale,), {method: fails})(2.0)(x)
    with pytest.raises(LookupError, match="mine") as caught:
        bt.function([x], bt.grad(y.sum(), x) + y)
    assert (
        "Bad{factor=2.0}" in caught.value.__notes__[0] and "test_op.py" in caught.value.__notes__[0]
    )


class Unusual(Op):
    itypes, otypes = [pt.dvector], [pt.dvector]

    def perform(self, node, inputs, output_storage):
        inputs.clear()
        output_storage[0][0] = np.arange(4.0)[::-2]
        output_storage[0].append("more than is looked at")


def test_unusual_results(linker):
    x = pt.dvector("x")

    def result(value):
        return bt.function([x], Plain(store(value))(x) * 1, mode=linker)([1.0])

    assert bt.function([x], Unusual()(x), mode=linker)([1.0]).tolist() == [3, 1]
    assert result(np.arange(3.0).astype(">f8")).tolist() == [0, 1, 2]
    assert result(np.broadcast_to(2.0, (3,))).tolist() == [2, 2, 2]
    assert result(np.arange(3.0).view(np.recarray)).tolist() == [0, 1, 2]
    assert result(np.empty(0)).tolist() == []
    for storage in (
        lambda inputs, outputs: outputs.clear(),
        lambda inputs, outputs: outputs[0].clear(),
    ):
        with pytest.raises((TypeError, ValueError), match="output_storage"):
            bt.function([x], Plain(storage)(x), mode=linker)([1.0])


def test_arrays_kept_by_perform(linker):
    """perform owns its inputs and outputs: the library never modifies them later."""
    kept, given_out = [], []

    class Keeps(Scale):
        def perform(self, node, inputs, output_storage):
            super().perform(node, inputs, output_storage)
            kept.append(inputs[0])
            given_out.append(output_storage[0][0])

    x = pt.dvector("x")
    f = bt.function([x], [Keeps(2.0)(pt.exp(x) - 1), x + 1], mode=linker)
    first = f(np.zeros(2000))[0]
    second = f(np.ones(2000))[0]
    assert (kept[0] == 0).all() and (given_out[0] == 0).all() and (first == 0).all()
    given_out[1][:] = 17
    assert (second != 17).all() and not kept[0].flags.writeable
    kept[0].flags.writeable = True  # the op owns the array
    kept[0][:] = 17
    assert (f(np.zeros(2000))[0] == 0).all()


def test_one_array_for_two_outputs(linker):
    class Twice(Sorted2):
        otypes = [pt.dvector, pt.dvector]

        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = output_storage[1][0] = np.sort(inputs[0])

    x = pt.dvector("x")
    a, b = bt.function([x], Twice()(x), mode=linker)([2.0, 1.0])
    a[:] = 7
    assert b.tolist() == [1, 2]


# ---- invalid implementations: errors when building a graph -----------------------------------------------------------


def test_bad_nodes():
    x = pt.dvector("x")

    def op_of(make_node, **members):
        return type("Bad", (Op,), {"__props__": (), "make_node": make_node, **members})()

    with pytest.raises(TypeError, match="Bad.make_node: expected an Apply node"):
        op_of(lambda self, x: x)(x)
    with pytest.raises(TypeError, match="Bad.make_node: expected an Apply node.*None"):
        op_of(lambda self, x: None)(x)
    with pytest.raises(TypeError, match="expected a variable"):
        op_of(lambda self, x: Apply(self, [1.0], [x.type()]))(x)
    with pytest.raises(TypeError, match="expected a list"):
        op_of(lambda self, x: Apply(self, x, [x.type()]))(x)
    with pytest.raises(ValueError, match="no output"):
        op_of(lambda self, x: Apply(self, [x], []))(x)
    with pytest.raises(ValueError, match="computed by another node"):
        op_of(lambda self, x: Apply(self, [x], [x + 1]))(x)
    with pytest.raises(TypeError, match="has no values"):
        op_of(lambda self, x: Apply(self, [x], [disconnected_type()]))(x)
    for members in ({"view_map": {1: [0]}}, {"view_map": {0: [3]}}, {"destroy_map": {0: [-1]}}):
        with pytest.raises(ValueError, match="does not have"):
            op_of(lambda self, x: Apply(self, [x], [x.type()]), **members)(x)
    for members in ({"view_map": [0]}, {"view_map": {0: 0}}, {"destroy_map": {"a": [0]}}):
        with pytest.raises(TypeError, match="expected a dict"):
            op_of(lambda self, x: Apply(self, [x], [x.type()]), **members)(x)
    with pytest.raises(TypeError, match="made by the op"):
        Apply(pt.exp(x).owner.op, [x], [x.type()])
    with pytest.raises(NotImplementedError, match="neither make_node nor itypes"):
        type("Empty", (Op,), {})()(x)
    with pytest.raises(NotImplementedError, match="neither perform nor emit"):
        bt.function(
            [x], type("Empty", (Op,), {"itypes": [pt.dvector], "otypes": [pt.dvector]})()(x)
        )([1.0])
    with pytest.raises(TypeError, match="expected types"):
        type("Types", (Op,), {"itypes": ["float64"], "otypes": [pt.dvector]})()(x)
    with pytest.raises(TypeError, match="dmatrix|shape=\\(None, None\\)"):
        Plain()(pt.dmatrix())
    with pytest.raises(ValueError, match="1 inputs expected, got 2"):
        Plain()(x, x)
    with pytest.raises(TypeError, match="subclass"):
        Op()
    with pytest.raises(TypeError):
        type(pt.exp(x).owner.op)()
    with pytest.raises(TypeError, match="no arguments"):
        Sorted2(3)


def test_bad_props():
    class Listed(Scale):
        pass

    x = pt.dvector("x")
    with pytest.raises(
        TypeError, match=r"Listed.__props__: the value of `factor` can't be hashed: \[1, 2\]"
    ):
        Listed([1, 2])(x)
    with pytest.raises(TypeError, match="names `missing`, which the object does not have"):
        type("Lacks", (Scale,), {"__props__": ("missing",)})(2.0)(x)
    with pytest.raises(TypeError, match="expected a tuple of names"):
        type("Text", (Scale,), {"__props__": "factor"})(2.0)(x)


@pytest.mark.parametrize(
    "answer, message",
    [
        (lambda ct: [ct, ct], "2 variables for 1 inputs"),
        (lambda ct: [], "0 variables for 1 inputs"),
        (lambda ct: [None], "got None"),
        (lambda ct: 3, "expected a list of variables"),
        (lambda ct: [ct.sum()], "for input 0 of type"),
    ],
)
def test_bad_pullbacks(answer, message):
    class Bad(Scale):
        def pullback(self, inputs, outputs, cotangents):
            return answer(cotangents[0])

        pushforward = pullback

    x = pt.dvector("x")
    y = Bad(2.0)(x)
    with pytest.raises((TypeError, ValueError), match=message) as caught:
        bt.grad(y.sum(), x)
    assert "Bad.pullback" in str(caught.value) and "test_bad_pullbacks" in str(caught.value)
    with pytest.raises((TypeError, ValueError)) as caught:
        bt.pushforward(y, x, pt.ones_like(x))
    assert "Bad.pushforward" in str(caught.value) and "test_bad_pullbacks" in str(caught.value)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="exceptions have no notes")
def test_exceptions_of_derivatives_name_the_node():
    class Bad(Scale):
        def pullback(self, inputs, outputs, cotangents):
            raise LookupError("mine")

    x = pt.dvector("x")
    with pytest.raises(LookupError, match="mine") as caught:
        bt.grad(Bad(2.0)(x).sum(), x)
    assert (
        "Bad{factor=2.0}" in caught.value.__notes__[0]
        and "test_exceptions_of_derivatives" in caught.value.__notes__[0]
    )


@pytest.mark.parametrize("pattern", [[], [[True]], [[True, False], [True, False]], 3])
def test_bad_connection_patterns(pattern):
    class Bad(Sorted2):
        def connection_pattern(self, node):
            return pattern

    x = pt.dvector("x")
    with pytest.raises(TypeError, match="Bad.connection_pattern: expected 1 lists of 2 bools"):
        bt.grad(Bad()(x)[1], x)


# ---- identity, copies, pickles -----------------------------------------------------------------------------------------


def test_equality_hash_and_text():
    assert Scale(2.0) == Scale(2.0) != Scale(3.0) and hash(Scale(2.0)) == hash(Scale(2.0))
    assert (
        Plain() != Plain()
        and Sorted2() == Sorted2()
        and Scale(2.0) != pt.exp(pt.dvector()).owner.op
    )
    assert (
        str(Scale(2.0)) == repr(Scale(2.0)) == Scale(2.0).name == "Scale{factor=2.0}"
        and str(Sorted2()) == "Sorted2"
    )
    x = pt.dvector("x")
    assert "Scale{factor=2.0}" in bt.dprint(Scale(2.0)(x), file="str")
    named = Scale(2.0)
    named.name = "doubling"
    assert named.name == "doubling"

    class Shown(Scale):
        def __str__(self):
            return "a name of its own"

    assert "a name of its own" in bt.dprint(Shown(2.0)(x), file="str")

    class Own(Op):
        itypes, otypes = [pt.dvector], [pt.dvector]

        def __init__(self, number):
            self.number = number

        def __eq__(self, other):
            return type(self) is type(other) and self.number % 10 == other.number % 10

        def __hash__(self):
            return self.number % 10

    assert bt._core.equal_computations(
        [Own(3)(x)], [Own(13)(x)]
    ) and not bt._core.equal_computations([Own(3)(x)], [Own(4)(x)])


def test_copies():
    op = Scale(2.0)
    for other in (copy.copy(op), copy.deepcopy(op)):
        assert other == op and other is not op
        other.factor = 5.0
        assert op.factor == 2.0
    x = pt.dvector("x")
    y = op(x)
    assert copy.deepcopy(y) is y and copy.copy(y.owner) is y.owner
    library = pt.exp(x).owner.op
    assert copy.copy(library) == library


def test_pickles():
    x = pt.dvector("x")
    assert pickle.loads(pickle.dumps(Scale(2.0))) == Scale(2.0)
    y = pt.exp(Scale(2.0)(x) + Scale(2.0)(x * 2)) + times(pt.dmatrix("m"), x).sum()
    y2, x2 = pickle.loads(pickle.dumps((y, x)))
    assert bt._core.equal_computations(
        [y2], [y], bt.graph.graph_inputs([y2]), bt.graph.graph_inputs([y])
    )
    assert len({id(node.op) for node in bt.graph.toposort([y2]) if isinstance(node.op, Scale)}) == 1

    class Local(Scale):
        pass

    with pytest.raises(TypeError, match="pickling the op Local.*can't be imported"):
        pickle.dumps(Local(2.0)(x))
    plain = Plain(np.copy)
    with pytest.raises(TypeError, match="stored by its class"):
        bt._core.stored_op(plain)
    held = Scale(2.0)
    held.lock = threading.Lock()
    y = held(x)
    for refused in (y, bt.function([x], y), bt.graph.FunctionGraph([x], [y])):
        with pytest.raises(
            TypeError, match="pickling the op Scale.*its `lock` can't be stored"
        ) as caught:
            pickle.dumps(refused)
        assert "node     Scale{factor=2.0}(x)" in str(caught.value) and "test_op.py" in str(
            caught.value
        )


def test_methods_of_library_ops():
    x = pt.dvector("x")
    y = pt.exp(x)
    op = y.owner.op
    storage = [[None]]
    op.perform(y.owner, [np.zeros(2)], storage)
    assert storage[0][0].tolist() == [1, 1]
    (g,) = op.pullback([x], [y], [pt.ones_like(y)])
    assert bt.function([x], g)([0.0]).tolist() == [1]
    assert len(op.infer_shape(None, y.owner, [(x.shape[0],)])[0]) == 1 and op.do_constant_folding(
        None, y.owner
    )
    assert op.vectorize(y.owner, pt.dmatrix()).outputs[0].ndim == 2 and op.connection_pattern(
        y.owner
    ) == [[True]]
    z = pt.sin(x)
    for wrong in (
        lambda: op.perform(z.owner, [np.zeros(2)], [[None]]),
        lambda: op.pullback([x], [z], [z]),
        lambda: op.pullback([x], [y], []),
        lambda: op.pullback([x], [y], [y.sum()]),
        lambda: op.infer_shape(None, y.owner, []),
        lambda: op.vectorize(y.owner),
        lambda: op.vectorize(y.owner, pt.dscalar()),
        lambda: op.connection_pattern(z.owner),
    ):
        with pytest.raises((TypeError, ValueError)):
            wrong()


def test_rules_for_a_class_and_for_an_op():
    x = pt.dvector("x")
    seen = []

    @bt.rewrite.node_rewriter([Scale], name="scales_of_this_test")
    def of_class(fgraph, node):
        seen.append(node.op.factor)
        return [node.inputs[0] * node.op.factor]

    mode = bt.get_mode("FAST_RUN").register((of_class, 0.5))
    assert bt.function([x], Scale(2.0)(x) + Sorted2()(x)[0], mode=mode)([1.0]).tolist() == [
        3
    ] and seen == [2.0]

    @bt.rewrite.node_rewriter([Scale(3.0)], name="one_scale_of_this_test")
    def of_op(fgraph, node):
        return [node.inputs[0] * 30]

    mode = bt.get_mode("FAST_RUN").register((of_op, 0.5))
    assert bt.function([x], Scale(2.0)(x) + Scale(3.0)(x), mode=mode)([1.0]).tolist() == [32]


def test_debug_mode_and_profiles():
    x = pt.dvector("x")
    f = bt.function([x], pt.exp(Scale(2.0)(x)).sum(), mode="DebugMode")
    np.testing.assert_allclose(f([0.0, 1.0]), 1 + np.exp(2))
    p = bt.function([x], Scale(2.0)(x) + 1, profile=True)
    p([1.0])
    assert "Scale" in str(p.profile)


def test_a_class_named_like_an_op_of_the_library():
    Dot = type("Dot", (Scale,), {})
    CAReduce = type("Sum", (Scale,), {})
    x = pt.dvector("x")
    f = bt.function([x], Dot(2.0)(x) + CAReduce(3.0)(x))
    assert f([1.0]).tolist() == [5]


# ---- threads and lifetimes ---------------------------------------------------------------------------------------------


def test_threads(linker):
    x = pt.dvector("x")
    f = bt.function([x], pt.exp(Scale(2.0)(x)).sum(), mode=linker)
    wrong = []

    def work(number):
        for i in range(50):
            given = np.full(100 + number, 0.01 * i)
            if not np.isclose(f(given), (np.exp(2 * given)).sum()):
                wrong.append((number, i))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_two_threads_run_perform_concurrently(linker):
    meeting = threading.Barrier(2, timeout=60)

    def meet(inputs, output_storage):
        meeting.wait()  # releases the interpreter lock, which the other thread needs to get here
        output_storage[0][0] = inputs[0] + 1

    x = pt.dvector("x")
    f = bt.function([x], pt.exp(Plain(meet)(x)), mode=linker)
    got = {}
    threads = [
        threading.Thread(target=lambda k=k: got.__setitem__(k, f([float(k)])[0])) for k in range(2)
    ]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    np.testing.assert_allclose([got[0], got[1]], np.exp([1, 2]))


def test_ops_with_scalar_outputs_run_perform_concurrently(linker):
    """Short calls hold the interpreter lock, which perform may release; updates of a shared variable are serialized."""
    meeting = threading.Barrier(2, timeout=60)
    total = bt.shared(0.0, "total")

    class Sum(bt.graph.Op):
        itypes, otypes = [pt.dvector], [pt.dscalar]

        def perform(self, node, inputs, output_storage):
            if inputs[0][0] >= 0:
                meeting.wait()
            output_storage[0][0] = np.asarray(inputs[0].sum())

    x = pt.dvector("x")
    f = bt.function([x], Sum()(x) * 2, mode=linker)
    g = bt.function([x], [], updates=[(total, total + Sum()(x))], mode=linker)
    got = {}

    def work(k):
        got[k] = f([float(k), 1.0])
        for _ in range(50):
            g([-1.0, 2.0])

    threads = [threading.Thread(target=work, args=(k,)) for k in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert got == {0: 2.0, 1: 4.0} and total.get_value() == 100.0


def test_exceptions_not_derived_from_exception(linker):
    for exception in (KeyboardInterrupt, SystemExit):

        def perform(inputs, output_storage):
            raise exception()

        x = pt.dvector("x")
        f = bt.function([x], Plain(perform)(x), mode=linker)
        with pytest.raises(exception):
            f([1.0])


def test_lazy_branches():
    calls = []

    def noted(inputs, output_storage):
        calls.append(1)
        output_storage[0][0] = inputs[0].copy()

    x, c = pt.dvector("x"), pt.bscalar("c")
    f = bt.function([c, x], bt.ifelse(c, Plain(noted)(x), x * 2), mode=bt.Mode("vm"))
    assert f(0, [1.0]).tolist() == [2] and not calls
    assert f(1, [1.0]).tolist() == [1] and len(calls) == 1


def test_test_values():
    x = pt.dvector("x")
    x.tag.test_value = np.ones(2)
    with bt.config.change_flags(compute_test_value="raise"):
        assert bt.graph.get_test_value(Scale(3.0)(x)).tolist() == [3, 3]
        with pytest.raises(TypeError, match="float32"):
            Plain(store(lambda v: v.astype("float32")))(x)


def test_export_is_rejected(tmp_path):
    x = pt.dvector("x")
    f = bt.function([x], Scale(2.0)(x))
    with pytest.raises(Exception, match="Scale"):
        f.export_c(str(tmp_path / "f"))


def test_a_function_within_an_op(linker):
    x = pt.dvector("x")
    inner = bt.function([x], pt.exp(x), mode=linker)
    op = Plain(lambda inputs, output_storage: output_storage[0].__setitem__(0, inner(inputs[0])))
    f = bt.function([x], op(x) + op(2 * x), mode=linker)
    np.testing.assert_allclose(f([1.0]), [np.exp(1) + np.exp(2)])


def test_ops_and_nodes_are_freed():
    class Light(Op):
        __props__ = ("number",)

        def __init__(self, number):
            self.number = number

        def make_node(self, x):
            return Apply(self, [x], [x.type()])

        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = inputs[0].copy()

    x = pt.dvector("x")
    first = Light(-1)
    watched = weakref.ref(first)
    y = first(x)
    del first
    assert watched() is not None and y.owner.op is watched()
    del y
    gc.collect()
    assert watched() is None
    count, before = 100_000, None
    refs = weakref.WeakSet()
    for i in range(count):
        op = Light(i)
        node = op.make_node(x)
        if i % 1000 == 0:
            refs.add(op)
        if i == count // 2:
            del op, node
            gc.collect()
            before = len(gc.get_objects())
            x_count = sys.getrefcount(x)
    del op, node
    gc.collect()
    assert (
        len(refs) == 0 and len(gc.get_objects()) - before < 1000 and sys.getrefcount(x) == x_count
    )


class Cut(Op):
    """The first elements of a vector, and the slice that has the others; the index is a slice or None."""

    __props__ = ()

    def make_node(self, x, index):
        return Apply(self, [x, index], [pt.dvector(), slicetype()])

    def perform(self, node, inputs, output_storage):
        x, index = inputs
        length = len(x) if index is None else index.stop
        output_storage[0][0] = x[:length].copy()
        output_storage[1][0] = slice(length, len(x))

    def infer_shape(self, fgraph, node, input_shapes):
        assert input_shapes[1] is None  # it is no tensor
        if isinstance(node.inputs[1].type, NoneTypeT):
            return [input_shapes[0], None]
        return [(2,), None]


@pytest.mark.parametrize("index", [None, slice(2)])
def test_lengths_beside_what_is_no_tensor(index, linker):
    x = pt.dvector("x")
    constant = (none_type_t if index is None else slicetype).make_constant(index)
    y, rest = Cut()(x, constant)
    f = bt.function([x], [y, y.shape[0], rest], mode=linker)
    got, length, others = f([1.0, 2.0, 3.0])
    assert length == len(got) == (3 if index is None else 2) and others == slice(len(got), 3)
    lengths = bt.function([x], y.shape, mode=linker)
    assert lengths([1.0, 2.0, 3.0]).tolist() == [length] and "Cut" not in lengths.dprint(file="str")


def test_functions_release_their_ops():
    class Local(Scale):
        pass

    x = pt.dvector("x")
    op = Local(2.0)
    watched = weakref.ref(op)
    f = bt.function([x], op(x))
    f([1.0])
    del op
    gc.collect()
    assert watched() is not None
    del f
    gc.collect()
    assert watched() is None


def test_a_long_chain_of_nodes():
    x = y = pt.dvector("x")  # noqa: F841
    op = Scale(1.0)
    for _ in range(20_000):
        y = op(y)
    del y
    gc.collect()
    assert sys.getrefcount(op) < 10


class Stack(Op):
    """A stack of matrices, whose lengths are only known when it was computed."""

    __props__ = ()

    def make_node(self, x):
        return Apply(self, [x], [pt.tensor(dtype="float64", shape=(None, None, None))])

    def perform(self, node, inputs, output_storage):
        (x,) = inputs
        output_storage[0][0] = x[:, None, None] * x[:, None] * x


@pytest.mark.parametrize("is_read", [False, True])
def test_lengths_that_an_op_returns_between_the_blocks_of_a_product(is_read, mode):
    """What is summed of the op's result has lengths that must be known before it begins."""
    a, b = pt.dmatrices("a", "b")
    product = pt.tanh(a @ b)
    sums = Stack()(product.sum(axis=0)).sum(axis=1)
    outputs = [sums @ sums if is_read else sums, product.max(axis=1) @ a]
    left, right = np.arange(20.0).reshape(4, 5) / 40, np.arange(30.0).reshape(5, 6) / 60
    found = bt.function([a, b], outputs, mode=mode)(left, right)
    known = np.tanh(left @ right)
    x = known.sum(axis=0)
    expected = np.multiply.outer(x, x) * x.sum()
    np.testing.assert_allclose(found[0], expected @ expected if is_read else expected, rtol=1e-12)
    np.testing.assert_allclose(found[1], known.max(axis=1) @ left, rtol=1e-12)

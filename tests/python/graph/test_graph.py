"""The graph interface in Python: nodes, traversal, replacement, FunctionGraphs, types."""

import gc
import pickle

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale.graph import (
    ancestors,
    clone,
    equal_computations,
    explicit_graph_inputs,
    graph_inputs,
    node_count,
    toposort,
)


def test_identity_of_nodes():
    x, y = pt.dvectors("x", "y")
    z = x + y
    assert z.owner.inputs[0] is x and z.owner is z.owner and z.owner.outputs[0] is z
    assert {x: 1}[z.owner.inputs[0]] == 1
    assert x in [x, y] and x not in [y]
    assert not x == y and x != y
    del z
    gc.collect()
    w = x + y
    assert w.owner.inputs[1] is y


def test_names():
    x = pt.dscalar()
    assert x.name is None and repr(x) == "<Scalar(float64, shape=())>"
    x.name = "speed"
    assert x.name == "speed" and str(x) == "speed"
    x.name = None
    assert x.name is None
    with pytest.raises(TypeError):
        x.name = 3
    assert x.clone("y").name == "y" and x.clone().type == x.type


def test_ops():
    x = pt.dmatrix("x")
    a, b = x.sum(axis=1), x.sum(axis=1)
    assert a.owner.op == b.owner.op and hash(a.owner.op) == hash(b.owner.op)
    assert a.owner.op != x.sum(axis=0).owner.op
    op = a.owner.op
    assert (
        type(op) is type(x.sum().owner.op)
        and type(op).__name__ == "CAReduce"
        and isinstance(op, bt.Op)
    )
    assert op.__props__["axis"] == (1,)
    assert repr(op) == op.name and repr(a.owner).startswith(op.name)
    assert equal_computations([op(x)], [a])
    assert isinstance(op.make_node(x), bt.Apply)
    with pytest.raises(AttributeError):
        op.nothing
    with pytest.raises(TypeError):
        bt.Apply(op, [x], [a])


def test_source_location():
    x = pt.dvector("x")
    z = pt.exp(x)
    assert "test_graph.py" in z.owner.where and "test_source_location" in z.owner.where
    assert (
        "test_graph.py" in pt.ptp(x).owner.where
    )  # although the node is built inside the package's Python code
    assert "test_graph.py" in x.where


def test_traversal():
    x, y = pt.dscalars("x", "y")
    s = bt.shared(1.0, "s")
    z = pt.exp(x * y) + s * 2
    assert graph_inputs([z]) == [x, y, s]
    assert explicit_graph_inputs(z) == [x, y]
    assert {x, y, s, z} <= set(ancestors([z]))
    order = toposort(z)
    assert len(order) == node_count(z) == 4
    seen = set()
    for node in order:
        assert all(v.owner is None or v.owner in seen for v in node.inputs)
        seen.add(node)


def test_clone_and_compare():
    x, y = pt.dscalars("x", "y")
    z = pt.exp(x) * 2
    copy = clone(z)
    assert copy is not z and equal_computations([z], [copy])
    assert not equal_computations([z], [pt.exp(y) * 2])
    assert equal_computations([z], [pt.exp(y) * 2], [x], [y])
    fresh = clone([z], copy_leaves=True)[0]
    assert graph_inputs(fresh) != [x]


def test_replace():
    x, y = pt.dscalars("x", "y")
    z = pt.exp(x) + x
    assert bt.graph_replace(z, {x: y * 2}).eval({y: 1.0}) == pytest.approx(np.exp(2) + 2)
    assert bt.clone_replace([z], [(x, y)])[0].eval({y: 0.0}) == 1.0
    with pytest.raises(ValueError):
        bt.graph_replace(z, {y: x})
    with pytest.raises(TypeError):
        bt.graph_replace(z, {x: pt.dvector()})


def test_vectorize():
    x, xs = pt.dvector("x"), pt.dmatrix("xs")
    out = bt.vectorize_graph(pt.exp(x).sum(), {x: xs})
    given = np.arange(6.0).reshape(2, 3)
    np.testing.assert_allclose(out.eval({xs: given}), np.exp(given).sum(1))


def test_function_graph():
    x, y = pt.dscalars("x", "y")
    z = pt.exp(x) + pt.exp(x) * y
    graph = bt.FunctionGraph([x, y], [z], clone=False)
    assert len(graph) == 3 and len(graph.apply_nodes) == 3  # equal nodes are merged
    exp = [node for node in graph.toposort() if node.nin == 1][0]
    assert len(graph.get_clients(exp.out)) == 2 and len(graph.clients[exp.out]) == 2
    assert exp in graph and exp.out in graph and pt.dscalar() not in graph
    graph.replace(exp.out, graph.inputs[0], reason="test")
    assert len(graph) == 2
    graph.check_integrity()
    with pytest.raises(TypeError):
        graph.replace(graph.inputs[0], pt.dvector())
    with pytest.raises(bt.MissingInputError):
        graph.replace(graph.inputs[0], pt.dscalar("new"))
    graph.check_integrity()
    assert len(graph.clone()) == 2 and repr(graph).startswith("FunctionGraph(")
    assert bt.FunctionGraph(outputs=[z]).inputs != []
    with pytest.raises(bt.MissingInputError):
        bt.FunctionGraph([x], [z])


def test_long_chains():
    x = pt.dscalar("x")
    y = x
    for _ in range(20_000):
        y = y + 1
    assert node_count(y) == 20_000
    assert isinstance(bt.dprint(y, depth=3, file="str"), str)
    copy = clone(y)
    assert equal_computations([y], [copy])


def test_types():
    t = pt.TensorType("float32", (None, 3))
    assert (t.dtype, t.ndim, t.shape, t.broadcastable) == ("float32", 2, (None, 3), (False, False))
    assert (
        t == pt.TensorType("float32", shape=(None, 3))
        and t != pt.fmatrix
        and hash(t) == hash(pt.TensorType("float32", (None, 3)))
    )
    assert pt.fmatrix.is_super(t) and not t.is_super(pt.fmatrix)
    assert (
        str(t) == "Matrix(float32, shape=(?, 3))"
        and repr(t) == "TensorType(float32, shape=(None, 3))"
    )
    assert t("x").type == t and t.clone(dtype="int8").dtype == "int8"
    assert t.filter([[1, 2, 3]]).dtype == np.float32
    with pytest.raises(TypeError):
        t.filter([[1, 2]])
    assert t.is_valid_value(np.ones((2, 3), "float32")) and not t.is_valid_value(np.ones((2, 3)))
    for bad in [
        dict(dtype="flaot"),
        dict(dtype="float65"),
        dict(dtype=None),
        dict(shape=(-1,)),
        dict(shape="a"),
        dict(shape=(1.5,)),
        dict(dtype=object),
    ]:
        with pytest.raises((TypeError, ValueError)):
            pt.TensorType(**{"dtype": "int8", "shape": (), **bad})


def test_named_types_are_singletons():
    for name in ("dscalar", "lvector", "fmatrix", "brow", "wcol", "dtensor3", "dtensor7"):
        named = getattr(pt, name)
        assert (
            named("x").type is named
            and (named() if name == "brow" else named() + named()).type == named
        )
    x = pt.dvector("x")
    assert (
        x.type is pt.dvector
        and x.sum().type is pt.dscalar
        and pt.vector(dtype="float64").type is pt.dvector
    )
    assert pickle.loads(pickle.dumps(x)).type is pt.dvector
    assert (
        pt.TensorType("float64", ()) == pt.dscalar
        and pt.TensorType("float64", ()) is not pt.dscalar
    )


def test_constructors():
    for prefix, dtype in dict(
        b="int8", w="int16", i="int32", l="int64", f="float32", d="float64"
    ).items():
        for kind, shape in dict(
            scalar=(),
            vector=(None,),
            matrix=(None,) * 2,
            row=(1, None),
            col=(None, 1),
            tensor3=(None,) * 3,
            tensor7=(None,) * 7,
        ).items():
            t = getattr(pt, prefix + kind)
            assert (t.dtype, t.shape) == (dtype, shape)
            assert t("x").name == "x" and t().name is None
    x, y = pt.dvectors("x", "y")
    assert [x.name, y.name] == ["x", "y"]
    assert len(pt.lscalars(3)) == 3 and pt.matrices("a", "b")[1].ndim == 2
    assert pt.vector("x").dtype == bt.config.floatX
    assert pt.vector("x", dtype="int32", shape=(4,)).type.shape == (4,)
    assert pt.tensor("x", dtype=np.float32, shape=(2,)).dtype == "float32"
    assert pt.tensor(shape=()).dtype == bt.config.floatX
    for given in [("xyz",), (["x", "y", "z"],), (("x", "y", "z"),), ("x", "y", "z")]:
        for several in (pt.vectors, pt.dvectors, pt.lvectors):
            assert [v.name for v in several(*given)] == ["x", "y", "z"]
    assert pt.dscalars("x").name == "x" and [v.name for v in pt.dscalars(["a", "b"])] == ["a", "b"]
    assert pt.dvector("x", shape=(3,)).type.shape == (3,) and pt.dmatrix(
        shape=(None, 2)
    ).type.shape == (None, 2)
    for name, dtype in dict(
        int="int64", float="float64", double="float64", single="float32", uint="uint64", i4="int32"
    ).items():
        assert (
            pt.vector("x", dtype=name).dtype
            == pt.cast(pt.dscalar(), name).dtype
            == pt.zeros(2, dtype=name).dtype
            == dtype
        )
    assert (
        pt.tensor(dtype="<f8", shape=()).dtype == "float64"
        and pt.dvector().astype("int").dtype == "int64"
    )
    for bad in [
        lambda: pt.vector("x", shape=(1, 2)),
        lambda: pt.row("x").type("y", shape=(3, 2)),
        lambda: pt.dvector("x", shape=(1, 2)),
        lambda: pt.vector("x", dtype="in"),
        lambda: pt.tensor("x"),
        lambda: pt.dvectors(1.5),
        lambda: pt.vector(3),
    ]:
        with pytest.raises((TypeError, ValueError)):
            bad()


def test_constants():
    data = np.arange(3.0)
    c = pt.constant(data, name="c")
    data[0] = 9
    assert c.data[0] == 0 and c.name == "c" and isinstance(c, pt.Constant)
    assert pt.constant(2, dtype="float32").dtype == "float32"
    assert pt.constant([1, 2], ndim=2).type.shape == (1, 2)
    assert pt.as_tensor(c) is c and pt.as_tensor_variable([[1.0]]).ndim == 2
    assert pt.as_tensor([]).dtype == bt.config.floatX
    for bad in ("a", object(), {}, [object()], 2**70):
        with pytest.raises((TypeError, ValueError)):
            pt.constant(bad)


@pytest.mark.parametrize(
    "use",
    [
        bool,
        len,
        float,
        int,
        complex,
        iter,
        range,
        lambda x: [0][x],
        lambda x: x + None,
        lambda x: x + "a",
        lambda x: None * x,
        lambda x: x.nothing,
    ],
)
def test_variables_cannot_be_used_as_values(use):
    with pytest.raises((TypeError, AttributeError)):
        use(pt.dvector("x"))


def test_iteration_over_known_lengths():
    a, b = pt.tensor("x", shape=(2,))
    assert a.ndim == b.ndim == 0
    n, m = pt.dmatrix("x").shape
    assert n.dtype == "int64"


def test_op_classes():
    from bitale.tensor.basic import ARange, Join, MakeVector
    from bitale.tensor.elemwise import CAReduce, DimShuffle, Elemwise
    from bitale.tensor.math import Argmax, Dot, Max, Min, Prod, Sum
    from bitale.tensor.shape import Reshape, Shape_i
    from bitale.tensor.subtensor import IncSubtensor, Subtensor

    x = pt.dmatrix("x")
    cases = [
        (Elemwise(pt.exp), pt.exp(x)),
        (Elemwise("exp"), pt.exp(x)),
        (Sum(axis=0), pt.sum(x, axis=0)),
        (Sum(), pt.sum(x)),
        (Prod(0), pt.prod(x, axis=0)),
        (Max(1), pt.max(x, axis=1)),
        (Min(), pt.min(x)),
        (Argmax(1), pt.argmax(x, axis=1)),
        (DimShuffle(input_ndim=2, new_order=(1, "x", 0)), x.dimshuffle(1, "x", 0)),
    ]
    for op, expected in cases:
        assert bt.graph.equal_computations([op(x)], [expected])
        assert isinstance(expected.owner.op, type(op)) and type(op(x).owner.op) is type(op)
        assert pickle.loads(pickle.dumps(op)) == op
    length = bt.function([x], x.shape[1]).maker.fgraph.outputs[0]
    assert isinstance(length.owner.op, Shape_i) and length.owner.op == Shape_i(1)
    total = x.sum(axis=0).owner.op
    assert (
        isinstance(total, Sum)
        and isinstance(total, CAReduce)
        and not isinstance(total, (Max, Elemwise))
    )
    assert isinstance(x[1:].owner.op, Subtensor) and isinstance(
        pt.set_subtensor(x[0], 1.0).owner.op, IncSubtensor
    )
    assert isinstance((x @ x).owner.op, Dot) and isinstance(pt.concatenate([x, x]).owner.op, Join)
    assert isinstance(pt.stack([x[0, 0], x[1, 1]]).owner.op, (MakeVector, Join)) and isinstance(
        x.reshape((-1,)).owner.op, Reshape
    )
    assert isinstance(pt.arange(x.shape[0]).owner.op, ARange)
    with pytest.raises(TypeError, match="made by functions"):
        pt.fft.RFFTOp()
    with pytest.raises(ValueError, match="counts axes from the front"):
        Sum(axis=-1)


def test_op_classes_accept_pytensors_arguments():
    from bitale.tensor.basic import Join
    from bitale.tensor.elemwise import CAReduce, DimShuffle
    from bitale.tensor.extra_ops import CumOp, SearchsortedOp
    from bitale.tensor.math import Argmax, Max, Sum
    from bitale.tensor.sort import ArgSortOp, SortOp

    x, v = pt.dmatrix("x"), pt.dvector("v")
    assert isinstance(CAReduce(pt.add, axis=0), Sum) and isinstance(
        CAReduce("maximum", (0, 1)), Max
    )
    assert bt.graph.equal_computations([CAReduce(bt.scalar.mul, axis=1)(x)], [pt.prod(x, axis=1)])
    with pytest.raises(NotImplementedError, match="reductions by"):
        CAReduce(pt.arctan2)
    assert Argmax((1,)) == Argmax(1) and bt.graph.equal_computations([Argmax()(x)], [pt.argmax(x)])
    with pytest.raises(NotImplementedError, match="expected one axis"):
        Argmax((0, 1))
    assert DimShuffle(input_ndim=2, new_order=(1, "x", 0)).new_order == (1, "x", 0)
    assert bt.graph.equal_computations([Join()(1, x, x)], [pt.join(1, x, x)]) and isinstance(
        Join(0), Join
    )
    assert isinstance(pt.sort(v).owner.op, SortOp) and isinstance(pt.argsort(v).owner.op, ArgSortOp)
    assert isinstance(pt.fft.rfft(x).owner.op, pt.fft.RFFTOp) and x.__dot__(v).eval(
        {x: [[1.0, 2.0]], v: [3.0, 4.0]}
    ).tolist() == [11.0]
    assert isinstance(pt.cumsum(v).owner.op, CumOp) and isinstance(
        pt.searchsorted(v, 1.0).owner.op, SearchsortedOp
    )


def test_op_classes_without_attributes():
    from bitale.tensor.blas import BatchedDot, Dot22Scalar, Gemm, Gemv
    from bitale.tensor.blockwise import Blockwise
    from bitale.tensor.op_classes import (
        CumOp,
        IfElse,
        Nonzero,
        SearchsortedOp,
        SortOp,
        SpecifyShape,
    )
    from bitale.tensor.special import LogSumExp, Softmax

    x, t, n = pt.dmatrix("x"), pt.dtensor3("t"), pt.lscalar("n")
    value = np.array([[3.0, 1.0, 2.0], [0.0, 5.0, 4.0]])
    same = bt.graph.equal_computations
    assert same([CumOp(1, "mul")(x)], [pt.cumprod(x, 1)]) and isinstance(
        CumOp(0).make_node(x).op, CumOp
    )
    assert same([SortOp("stable", 0)(x)], [pt.sort(x, 0)]) and same(Nonzero()(x), x.nonzero())
    assert same([SearchsortedOp("right")(x[0], 1.0)], [pt.searchsorted(x[0], 1.0, "right")])
    assert SpecifyShape()(x, 2, None).type.shape == (2, None)
    assert same([IfElse(1)(n, x, -x)], [bt.ifelse(n, x, -x)])
    with pytest.raises(ValueError, match="2 values for each side"):
        IfElse(2)(n, x, -x)
    with pytest.raises(ValueError, match="add"):
        CumOp(0, "max")
    assert same([BatchedDot()(t, t)], [pt.matmul(t, t)])
    np.testing.assert_allclose(Softmax(axis=0)(value).eval(), np.exp(value) / np.exp(value).sum(0))
    np.testing.assert_allclose(
        LogSumExp(axis=1, keepdims=True)(value).eval(), np.log(np.exp(value).sum(1, keepdims=True))
    )
    np.testing.assert_allclose(Dot22Scalar()(value, value.T, 2.0).eval(), 2 * value @ value.T)
    np.testing.assert_allclose(
        Gemm(True)(np.ones((2, 2)), 2.0, value, value.T, 0.5).eval(), 0.5 + 2 * value @ value.T
    )
    np.testing.assert_allclose(
        Gemv()(np.ones(2), 2.0, value, np.ones(3), 0.5).eval(), 0.5 + 2 * value.sum(1)
    )

    class Form(bt.graph.Op):
        itypes, otypes = [pt.dmatrix, pt.dvector], [pt.dscalar]

        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = np.asarray(inputs[1] @ inputs[0] @ inputs[1])

    matrices, vectors = np.arange(18.0).reshape(2, 3, 3), np.arange(6.0).reshape(2, 3)
    expected = np.einsum("bi,bij,bj->b", vectors, matrices, vectors)
    for op in (Blockwise(Form()), Blockwise(Form(), "(n,n),(n)->()")):
        np.testing.assert_allclose(op(t, x).eval({t: matrices, x: vectors}), expected)
        with pytest.raises(ValueError):
            op(t, n)
    assert isinstance(Blockwise(bt.tensor.linalg.cholesky, "(n,n)->(n,n)")(t).owner.op, Blockwise)
    Form.itypes = None
    del Form.itypes
    with pytest.raises(TypeError, match="gufunc_signature"):
        Blockwise(Form())


@pytest.mark.parametrize(
    "index",
    [
        np.s_[1],
        np.s_[1:, 2],
        np.s_[::-1],
        np.s_[-3:, ::2],
        np.s_[[0, 2]],
        np.s_[:, [1, 1]],
        np.s_[[0, 1], [2, 0]],
        np.s_[1:2],
    ],
)
def test_the_index_of_a_node_is_recovered(index):
    from bitale.tensor.op_classes import (
        AdvancedIncSubtensor,
        AdvancedSubtensor,
        IncSubtensor,
        Subtensor,
    )
    from bitale.tensor.subtensor import (
        flatten_index_variables,
        get_idx_list,
        indices_from_subtensor,
    )

    x, value = pt.dmatrix("x"), np.arange(12.0).reshape(3, 4)
    index = tuple(
        np.array(part) if isinstance(part, list) else part
        for part in (index if isinstance(index, tuple) else (index,))
    )
    is_advanced = any(isinstance(part, np.ndarray) for part in index)
    node = x[index].owner
    assert isinstance(node.op, AdvancedSubtensor if is_advanced else Subtensor)
    for found in (
        indices_from_subtensor(node.inputs[1:], node.op.idx_list),
        get_idx_list(node.inputs, node.op.idx_list),
    ):
        np.testing.assert_array_equal(x[found].eval({x: value}), value[index])
    changed = pt.set_subtensor(x[index], 7.0).owner
    assert isinstance(changed.op, AdvancedIncSubtensor if is_advanced else IncSubtensor)
    expected = value.copy()
    expected[index] = 7.0
    found = indices_from_subtensor(changed.inputs[2:], changed.op.idx_list)
    np.testing.assert_array_equal(pt.set_subtensor(x[found], 7.0).eval({x: value}), expected)
    listed, flat = flatten_index_variables(index)
    built = (AdvancedSubtensor if is_advanced else Subtensor)(listed)(x, *flat)
    assert bt.graph.equal_computations([built], [x[index]])
    setting = (AdvancedIncSubtensor if is_advanced else IncSubtensor)(
        listed, set_instead_of_inc=True
    )
    np.testing.assert_array_equal(setting(x, 7.0, *flat).eval({x: value}), expected)
    with pytest.raises(NotImplementedError, match="inplace"):
        IncSubtensor(listed, inplace=True)
    with pytest.raises(TypeError, match="new dimensions"):
        flatten_index_variables((None, *index))


def test_slices_in_canonical_form():
    from bitale.tensor.subtensor import get_canonical_form_slice, slice_len

    start, stop, length = pt.lscalars("start", "stop", "length")
    step = pt.lscalar("step")
    numbers = list(range(7))
    form, order = get_canonical_form_slice(slice(start, stop, step), length)
    by_variables = bt.function(
        [start, stop, step, length], [form.start, form.stop, form.step, order]
    )
    for s in (1, 3, -1, -2, -9):
        form, order = get_canonical_form_slice(slice(start, stop, s), length)
        bounds = bt.function(
            [start, stop, length], [form.start, form.stop, slice_len(slice(start, stop, s), length)]
        )
        for a in (-9, -7, -2, 0, 3, 7, 9):
            for b in (-9, -3, -1, 0, 4, 7, 8):
                expected = numbers[a:b:s]
                low, high, count = map(int, bounds(a, b, 7))
                assert numbers[low : high : form.step][::order] == expected and count == len(
                    expected
                )
                low, high, each, turned = map(int, by_variables(a, b, s, 7))
                assert numbers[low:high:each][::turned] == expected
                known, order_known = get_canonical_form_slice(slice(a, b, s), 7)
                assert numbers[known][::order_known] == expected and all(
                    type(part) is int for part in (known.start, known.stop, known.step)
                )
    at, _ = get_canonical_form_slice(start, length)
    assert at.eval({start: -2, length: 7}) == 5 and get_canonical_form_slice(-2, 7) == (5, 1)
    whole, order = get_canonical_form_slice(slice(None, None, -1), length)
    assert (
        int(whole.start.eval({length: 7})),
        int(whole.stop.eval({length: 7})),
        whole.step,
        order,
    ) == (0, 7, 1, -1)


def test_shared_variables_of_a_copied_graph_are_collected():
    from bitale.compile.rebuild import rebuild_collect_shared

    x, y = pt.dscalars("x", "y")
    s, counter = bt.shared(2.0, "s"), bt.shared(1.0, "counter")
    counter.default_update = counter + 1
    inputs, outputs, (copies, updates, _, shared) = rebuild_collect_shared(
        {"sum": x * s + counter, "input": bt.Out(x, borrow=True)},
        [bt.In(x)],
        replace={s: y},
        updates={counter: counter * x},
        copy_inputs_over=False,
    )
    assert (
        inputs[0] is not x
        and copies[x] is inputs[0]
        and outputs["input"].variable is inputs[0]
        and shared == [counter]
    )
    # both updates of the counter apply
    assert updates[counter].eval({inputs[0]: 3.0}) == 3 and counter.get_value() == 2
    assert outputs["sum"].eval({inputs[0]: 3.0, y: 5.0}) == 17
    inputs, outputs, (_, updates, _, shared) = rebuild_collect_shared(
        [x * s + counter], [x], updates=[(s, s + x)]
    )
    assert (
        inputs == [x]
        and shared == [s, counter]
        and set(updates) == {s, counter}
        and updates[counter].eval() == 4
    )
    assert set(rebuild_collect_shared(x * counter, [x], no_default_updates=True)[2][1]) == set()
    with pytest.raises(ValueError, match="twice"):
        rebuild_collect_shared(x, [x], updates=[(s, x), (s, x)])
    with pytest.raises(TypeError, match="shared variables"):
        rebuild_collect_shared(x, [x], updates=[(x, x)])
    with pytest.raises(TypeError):
        rebuild_collect_shared(x, [x], updates=[(s, pt.dvector("v"))])


def test_op_classes_of_composed_functions():
    from bitale.tensor import basic, extra_ops, formula_classes
    from bitale.tensor.reshape import JoinDims, SplitDims

    x, v, i = np.arange(6.0).reshape(2, 3), np.array([3.0, 1.0, 3.0]), np.array([2, 0])
    cases = [
        (basic.Eye("int64")(2, 3, 1), np.eye(2, 3, 1, "int64")),
        (basic.AllocDiag()(v), np.diag(v)),
        (basic.ExtractDiag(offset=1)(x), np.diagonal(x, 1)),
        (basic.Split(2)(v, 0, [1, 2])[1], v[1:]),
        (basic.AllocEmpty("float32")(2, 3), np.zeros((2, 3), "float32")),
        (basic.TensorFromScalar()(3), np.asarray(3, "int8")),
        (basic.ScalarFromTensor()(pt.constant(3)), np.asarray(3, "int8")),
        (
            basic.Choose("clip")(np.array([0, 9]), [[1, 2], [3, 4]]),
            np.choose([0, 9], [[1, 2], [3, 4]], mode="clip"),
        ),
        (basic.PermuteRowElements()(v, np.array([2, 0, 1])), v[[2, 0, 1]]),
        (extra_ops.Repeat(axis=1)(x, 2), np.repeat(x, 2, 1)),
        (extra_ops.Unique()(v), np.unique(v)),
        (extra_ops.Unique(return_counts=True)(v)[1], np.unique(v, return_counts=True)[1]),
        (extra_ops.FillDiagonal()(x, 9.0), np.array([[9, 1, 2], [3, 9, 5.0]])),
        (extra_ops.FillDiagonalOffset()(x, 9.0, 1), np.array([[0, 9, 2], [3, 4, 9.0]])),
        (extra_ops.Bartlett()(5), np.bartlett(5)),
        (extra_ops.RavelMultiIndex()(i, i, (3, 3)), np.ravel_multi_index((i, i), (3, 3))),
        (extra_ops.UnravelIndex()(i, (2, 3))[1], np.unravel_index(i, (2, 3))[1]),
        (JoinDims(0, 2)(x), x.ravel()),
        (SplitDims(axis=1)(x, (3, 1)), x.reshape(2, 3, 1)),
    ]
    for expression, expected in cases:
        value = expression.eval()
        assert value.dtype == expected.dtype and np.array_equal(value, expected)
    assert (
        isinstance(basic.Eye(), basic.Eye)
        and not isinstance(basic.Eye(), JoinDims)
        and {"Eye", "JoinDims"} <= set(formula_classes.__all__)
    )
    assert repr(basic.Eye("int64")) == "Eye(dtype='int64')" and not isinstance(pt.eye(3), basic.Eye)
    with pytest.raises(TypeError, match="expected as arguments dtype"):
        basic.Eye(shape=3)
    with pytest.raises(ValueError, match="expected 3 lengths"):
        basic.Split(3)(v, 0, [1, 2])


def test_an_op_equals_the_function_that_applies_it():
    x = pt.dvector("x")
    op = pt.exp(x).owner.op
    assert op == pt.exp and pt.exp == op and op != pt.log and op in (pt.log, pt.exp)
    assert (
        pt.isnan(x).owner.op == pt.isnan
        and (pt.ivector() & 1).owner.op == pt.and_
        and (x + x).owner.op == pt.add
    )
    assert op != len and op != None and op != "exp" and x.type != None  # noqa: E711

"""Programs of the kinds that PyTensor's pages on extensions have, in other words: graph structures, FunctionGraphs and their features, graph
rewriting, ops, types, views, the pipeline and linkers. What such pages have that does not run is in docs/differences_extending.md."""

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale.compile.mode import optdb
from bitale.gradient import DisconnectedType, verify_grad
from bitale.graph import FunctionGraph, rewrite_graph
from bitale.graph.basic import Apply, Constant
from bitale.graph.features import (
    AlreadyThere,
    Feature,
    FullHistory,
    History,
    NodeFinder,
    PrintListener,
    ReplaceValidate,
)
from bitale.graph.op import Op
from bitale.graph.rewriting.basic import (
    GraphRewriter,
    MergeOptimizer,
    NodeRewriter,
    PatternNodeRewriter,
    RemovalNodeRewriter,
    SubstitutionNodeRewriter,
    WalkingGraphRewriter,
)
from bitale.graph.rewriting.db import EquilibriumDB, RewriteDatabaseQuery, SequenceDB
from bitale.graph.type import Type
from bitale.link.basic import PerformLinker
from bitale.scalar import add, float64, mul, sqr, true_div
from bitale.tensor.type import TensorType

# ---- graph structures ------------------------------------------------------------------------------------------------


def test_a_graph_is_walked_by_owners():
    left, right = pt.dmatrices("left", "right")
    total = left + right
    node = total.owner
    assert isinstance(node, Apply) and node.inputs == [left, right] and node.outputs == [total]
    assert total.index == 0 and left.owner is None and total.type == pt.dmatrix
    twice = left * 2.0
    widened = twice.owner.inputs[1]
    assert isinstance(widened.owner, Apply) and isinstance(widened.owner.inputs[0], Constant)
    assert widened.owner.inputs[0].data == 2.0 and twice.owner.op.name == "Mul"
    row = pt.irow()
    assert row.type.shape == (1, None) and row.type.dtype == "int32" and row.name is None
    text = bt.dprint(twice, file="str")
    assert text.startswith("Mul [id A]") and "2.0" in text


# ---- rewriting -------------------------------------------------------------------------------------------------------


def simplified(x, y):
    """What a quotient of a product is, or None."""
    if x.owner is None or x.owner.op != mul:
        return None
    a, b = x.owner.inputs
    return b if y == a else a if y == b else None


class Simplify(GraphRewriter):
    def add_requirements(self, fgraph):
        fgraph.attach_feature(ReplaceValidate())

    def apply(self, fgraph):
        for node in fgraph.toposort():
            if node.op == true_div:
                found = simplified(*node.inputs)
                if found is not None:
                    fgraph.replace_validate(node.outputs[0], found, reason="simplify")


class LocalSimplify(NodeRewriter):
    def tracks(self):
        return [true_div]

    def transform(self, fgraph, node):
        found = simplified(*node.inputs)
        return False if found is None else [found]


a, b, c = (float64(name) for name in "abc")


@pytest.mark.parametrize(
    "rewriter",
    [
        Simplify(),
        WalkingGraphRewriter(LocalSimplify()),
        WalkingGraphRewriter(PatternNodeRewriter((true_div, (mul, "x", "y"), "x"), "y")),
    ],
)
def test_one_simplification_by_three_kinds_of_rewriters(rewriter):
    graph = FunctionGraph([a, b, c], [add(c, mul(true_div(mul(b, a), b), true_div(c, a)))])
    rewriter.rewrite(graph)
    assert bt.pprint(graph.outputs[0]) == "c + a * (c / a)"
    # Equal expressions are one node of a FunctionGraph.
    graph = FunctionGraph([a, b, c], [true_div(mul(add(b, c), a), add(b, c))])
    assert isinstance(MergeOptimizer().rewrite(graph), tuple)
    rewriter.rewrite(graph)
    assert graph.outputs == [graph.inputs[0]]


def test_ops_are_substituted_and_removed():
    graph = FunctionGraph([a, b], [sqr(add(a, sqr(b)))])
    WalkingGraphRewriter(RemovalNodeRewriter(sqr)).rewrite(graph)
    assert [node.op for node in graph.toposort()] == [add(a, b).owner.op]
    WalkingGraphRewriter(SubstitutionNodeRewriter(add, mul)).rewrite(graph)
    assert bt.pprint(graph.outputs[0]) == "a * b"


def test_databases_are_queried_and_extended():
    everything = RewriteDatabaseQuery(include=["fast_run"])
    kept = everything.excluding("inplace")
    assert "inplace" in kept.exclude and isinstance(optdb, SequenceDB)
    graph = FunctionGraph([x := pt.dvector("x")], [pt.log(1 + x)])
    optdb.query(kept).rewrite(graph)
    assert [node.op.name for node in graph.toposort()] == ["Log1p"]
    assert isinstance(optdb["canonicalize"], EquilibriumDB)
    optdb.register("page_simplify", Simplify(), "fast_run", "pages", position=0.5)
    try:
        f = bt.function([], pt.constant(1.0))
        assert f() == 1.0 and "page_simplify" in bt.rewrite.describe("+pages")
    finally:
        optdb.remove_tags("page_simplify", "fast_run")


# ---- features --------------------------------------------------------------------------------------------------------


def test_features_watch_and_undo(capsys):
    x = pt.dvector("x")
    graph = FunctionGraph([x], [pt.exp(x) * 2], clone=False)
    history, finder = History(), NodeFinder()
    for feature in (history, finder, PrintListener()):
        graph.attach_feature(feature)
    exp = pt.exp(x).owner.op
    assert [node.op for node in graph.get_nodes(exp)] == [exp] and graph.get_nodes(
        pt.sin(x).owner.op
    ) == []
    before = graph.checkpoint()
    graph.replace(graph.outputs[0], pt.sin(x), reason="page")
    assert graph.outputs[0].owner.op == pt.sin and "page" in capsys.readouterr().out
    graph.revert(before)
    assert graph.outputs[0].owner.op == pt.mul
    record = FullHistory()
    graph.attach_feature(record)
    graph.replace(graph.outputs[0], pt.cos(x))
    record.start()
    assert graph.outputs[0].owner.op == pt.mul
    record.end()
    assert graph.outputs[0].owner.op == pt.cos


def test_own_features():
    seen = []

    class Watch(Feature):
        def on_attach(self, fgraph):
            if any(isinstance(each, Watch) for each in fgraph.features):
                raise AlreadyThere
            seen.append("attached")

        def on_import(self, fgraph, node, reason):
            seen.append(str(node.op))

        def on_prune(self, fgraph, node, reason):
            seen.append(f"no {node.op}")

        def on_change_input(self, fgraph, node, i, r, new_r, reason=None):
            seen.append(f"{reason} {i}")

    x = pt.dvector("x")
    graph = FunctionGraph([x], [pt.exp(x) + 1], clone=False, features=[Watch()])
    graph.attach_feature(Watch())
    assert seen == ["attached"]
    graph.replace(graph.outputs[0].owner.inputs[0], pt.sin(x), reason="page")
    assert "page 0" in seen and "no Exp" in seen and "Sin" in seen


# ---- ops -------------------------------------------------------------------------------------------------------------


class Twice(Op):
    __props__ = ()

    def make_node(self, x):
        x = pt.as_tensor_variable(x)
        if x.type.ndim != 2 or x.type.dtype != "float64":
            raise TypeError("expected a matrix of float64")
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0] * 2

    def infer_shape(self, fgraph, node, input_shapes):
        return input_shapes

    def L_op(self, inputs, outputs, output_grads):
        return [output_grads[0] * 2]

    def R_op(self, inputs, eval_points):
        return [None if each is None else self(each) for each in eval_points]


def test_an_op_has_values_lengths_and_derivatives():
    twice, m, t = Twice(), pt.dmatrix("m"), pt.dmatrix("t")
    out = twice(m)
    value = np.random.default_rng(1).normal(size=(5, 4))
    assert out.type == m.type and np.allclose(bt.function([m], out)(value), 2 * value)
    lengths = bt.function([m], out.shape)
    assert tuple(lengths(value)) == (5, 4)
    assert not any(isinstance(node.op, Twice) for node in lengths.maker.fgraph.toposort())
    verify_grad(twice, [value], rng=np.random.default_rng(2))
    moved = bt.pushforward(out, m, t)
    assert np.allclose(bt.function([t], moved)(value), 2 * value)
    with pytest.raises(TypeError, match="matrix of float64"):
        twice(pt.dvector())
    with pytest.raises(TypeError, match="got 'text'"):
        twice("text")


def test_an_op_by_its_types():
    class ByTypes(Op):
        __props__ = ()
        itypes = [pt.dmatrix]
        otypes = [pt.dmatrix]

        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = inputs[0] * 2

    m = pt.dmatrix("m")
    assert np.allclose(ByTypes()(m).eval({m: np.ones((2, 2))}), 2)
    with pytest.raises(TypeError):
        ByTypes()(pt.dvector())
    with pytest.raises(bt.gradient.NullTypeGradError):
        bt.grad(ByTypes()(m).sum(), m)


class Line(Op):
    __props__ = ("slope", "offset")

    def __init__(self, slope, offset):
        self.slope, self.offset = slope, offset
        super().__init__()

    def make_node(self, x):
        x = pt.as_tensor_variable(x)
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = np.asarray(self.slope * inputs[0] + self.offset)


def test_ops_with_equal_props_are_one_node():
    assert Line(4, 5) == Line(4, 5) and Line(4, 5) != Line(2, 3)
    assert hash(Line(4, 5)) == hash(Line(4, 5)) and str(Line(4, 5)) == "Line{slope=4, offset=5}"
    x = pt.fmatrix("x")
    total = Line(4, 5)(x) + Line(4, 5)(x) + Line(2, 3)(x)
    nodes = FunctionGraph([x], [rewrite_graph(total)], clone=False).toposort()
    assert sorted(str(node.op)[:6] for node in nodes if isinstance(node.op, Line)) == ["Line{s"] * 2
    value = np.ones((2, 1), "float32")
    assert np.allclose(bt.function([x], total)(value), 9 + 9 + 5)


class TurnAndSum(Op):
    """Two outputs: of a matrix its transpose, of a vector its sum, both for batches."""

    __props__ = ()

    def make_node(self, x, y):
        x, y = pt.as_tensor_variable(x), pt.as_tensor_variable(y)
        *batch, rows, columns = x.type.shape
        turned = pt.tensor(dtype=x.type.dtype, shape=(*batch, columns, rows))
        return Apply(self, [x, y], [turned, pt.tensor(dtype="float64", shape=y.type.shape[:-1])])

    def perform(self, node, inputs, output_storage):
        x, y = inputs
        output_storage[0][0] = np.swapaxes(x, -1, -2).copy()  # not a view, or view_map says so
        output_storage[1][0] = np.asarray(y.sum(-1), "float64")

    def infer_shape(self, fgraph, node, input_shapes):
        (*batch, rows, columns), y = input_shapes
        return [(*batch, columns, rows), y[:-1]]

    def L_op(self, inputs, outputs, output_grads):
        of_turned, of_sum = output_grads
        none = DisconnectedType()
        dx = (
            none()
            if isinstance(of_turned.type, DisconnectedType)
            else pt.swapaxes(of_turned, -1, -2)
        )
        if isinstance(of_sum.type, DisconnectedType):
            return [dx, none()]
        return [dx, pt.broadcast_to(pt.expand_dims(of_sum, -1), inputs[1].shape)]


def test_an_op_of_two_outputs():
    op = TurnAndSum()
    x, y = pt.tensor("x", shape=(5, None, 3), dtype="float32"), pt.fmatrix("y")
    turned, total = op(x, y)
    assert turned.type.shape == (5, 3, None) and total.type.dtype == "float64"
    rng = np.random.default_rng(3)
    xv, yv = rng.random((5, 4, 3)).astype("float32"), rng.random((2, 1)).astype("float32")
    first, second = bt.function([x, y], [turned, total])(xv, yv)
    assert np.array_equal(first, xv.swapaxes(-1, -2)) and np.allclose(second, yv.sum(-1))
    lengths = bt.function([x, y], [turned.shape, total.shape])
    assert [tuple(each) for each in lengths(xv, yv)] == [(5, 3, 4), (2,)]
    assert not any(isinstance(node.op, TurnAndSum) for node in lengths.maker.fgraph.toposort())
    for used in ((0, 1), (0,), (1,)):
        verify_grad(lambda x, y: sum(op(x, y)[k].sum() for k in used), [xv, yv], rng=rng)  # noqa: B023


def test_a_function_as_an_op():
    wrapped = bt.compile.ops.wrap_py(
        [pt.dmatrix, pt.dmatrix],
        pt.dmatrix,
        infer_shape=lambda fgraph, node, shapes: [(shapes[0][0], shapes[1][1])],
    )(lambda x, y: np.dot(x, y))
    x, y = pt.dmatrices("x", "y")
    left, right = np.ones((2, 3)), np.ones((3, 4))
    assert np.allclose(bt.function([x, y], wrapped(x, y))(left, right), 3)
    assert tuple(bt.function([x, y], wrapped(x, y).shape)(left, right)) == (2, 4)


def test_views_and_changes_in_place_are_declared():
    class Same(Op):
        __props__ = ()
        view_map = {0: [0]}
        itypes = otypes = [pt.dvector]

        def perform(self, node, inputs, output_storage):
            output_storage[0][0] = inputs[0]

    class AddOne(Op):
        __props__ = ("inplace",)
        itypes = otypes = [pt.dvector]

        def __init__(self, inplace=False):
            self.inplace = inplace
            if inplace:
                self.destroy_map = {0: [0]}

        def perform(self, node, inputs, output_storage):
            [x] = inputs
            output_storage[0][0] = np.add(x, 1, out=x) if self.inplace else x + 1

    x = pt.dvector("x")
    value = np.zeros(2)
    f = bt.function([x], [Same()(x), AddOne()(x)])
    assert [each.tolist() for each in f(value)] == [[0, 0], [1, 1]]
    in_place = PatternNodeRewriter((AddOne(), "x"), (AddOne(inplace=True), "x"), name="in_place")
    graph = FunctionGraph([x], [AddOne()(pt.exp(x))])
    WalkingGraphRewriter(in_place).rewrite(graph)
    assert graph.outputs[0].owner.op.destroy_map == {0: [0]}
    run, [given], [result], *_ = PerformLinker().accept(graph).make_all()
    given.data = value
    run()
    assert result.data.tolist() == [2, 2] and value.tolist() == [0, 0]


# ---- types -----------------------------------------------------------------------------------------------------------


def test_types_of_tensors_include_others():
    wide, narrow = TensorType("float64", (2, None))("wide"), TensorType("float64", (2, 1))("narrow")
    assert not wide.type.in_same_class(narrow.type) and wide.type.is_super(narrow.type)
    assert not narrow.type.is_super(wide.type)
    assert wide.type.filter_variable(narrow) is narrow
    checked = narrow.type.filter_variable(wide)
    assert checked.type == narrow.type and checked.owner.op.name == "SpecifyShape"


class DoubleType(Type):
    """Floats of Python."""

    def filter(self, data, strict=False, allow_downcast=None):
        if strict and not isinstance(data, float):
            raise TypeError("expected a float")
        converted = float(data)
        if not allow_downcast and converted != data:
            raise TypeError(f"{data} can't be represented")
        return converted

    def values_eq_approx(self, a, b, tolerance=1e-4):
        return abs(a - b) / (abs(a) + abs(b)) < tolerance

    def __eq__(self, other):
        return type(other) is DoubleType

    def __hash__(self):
        return hash(DoubleType)

    def __str__(self):
        return "double"


class BinaryDoubleOp(Op):
    __props__ = ("name", "fn")

    def __init__(self, name, fn):
        self.name, self.fn = name, fn

    def make_node(self, x, y):
        x, y = (Constant(double, v) if isinstance(v, (int, float)) else v for v in (x, y))
        if x.type != double or y.type != double:
            raise TypeError(f"{self.name}: expected doubles")
        return Apply(self, [x, y], [double()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = self.fn(*inputs)

    def __str__(self):
        return self.name


double = DoubleType()


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE", "VM"])
def test_own_types_have_ops(mode):
    plus, times = (
        BinaryDoubleOp("plus", lambda x, y: x + y),
        BinaryDoubleOp("times", lambda x, y: x * y),
    )
    x, y = double("x"), double("y")
    f = bt.function([x, y], plus(x, times(y, 2)), mode=mode)
    assert f(1.0, 3.0) == 7.0 and f(1, 3) == 7.0
    with pytest.raises(TypeError, match="doubles"):
        plus(x, pt.dscalar())
    with pytest.raises(TypeError):
        double.filter(3, strict=True)
    assert double.is_valid_value(1.5) and not double.is_valid_value("x")
    same = PatternNodeRewriter((plus, (times, "x", 2), "x"), (times, "x", 3), name="same")
    graph = FunctionGraph([x], [plus(times(x, 2), x)])
    WalkingGraphRewriter(same).rewrite(graph)
    assert len(graph.apply_nodes) <= 2


# ---- the pipeline ----------------------------------------------------------------------------------------------------


def test_the_steps_of_compilation():
    x = pt.dvector("x")
    graph = FunctionGraph([x], [pt.log(1 + x).sum()], clone=True)
    bt.compile.get_mode("FAST_RUN").optimizer.rewrite(graph)
    assert "Log1p" in [node.op.name for node in graph.toposort()]
    thunk, [given], [result] = PerformLinker().accept(graph).make_thunk()
    given.storage[0] = np.zeros(2)
    thunk()
    assert result.storage[0] == 0

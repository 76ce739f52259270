"""Rewriters, under PyTensor's names: functions of nodes and of graphs, patterns, and what goes over the nodes of a graph."""

import inspect
import io

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale import scalar
from bitale.graph import Apply, FunctionGraph, Op
from bitale.graph.features import DestroyHandler, Feature, ReplacementDidNotRemoveError
from bitale.graph.rewriting.basic import (
    CheckStackTraceRewriter,
    DispatchingFeature,
    EquilibriumGraphRewriter,
    FromFunctionNodeRewriter,
    GraphRewriter,
    MergeOptimizer,
    NodeProcessingGraphRewriter,
    NodeRewriter,
    OpToRewriterTracker,
    PatternNodeRewriter,
    RemovalNodeRewriter,
    SequentialGraphRewriter,
    SequentialNodeRewriter,
    SubstitutionNodeRewriter,
    WalkingGraphRewriter,
    check_stack_trace,
    copy_stack_trace,
    dfs_rewriter,
    graph_rewriter,
    in2out,
    inplace_graph_rewriter,
    merge_dict,
    node_rewriter,
    out2in,
    pre_greedy_node_rewriter,
)
from bitale.graph.rewriting.unify import Asterisk, LiteralString, OpPattern
from bitale.tensor.elemwise import CAReduce, Elemwise
from bitale.tensor.math import Sum


def text(graph):
    return ", ".join(bt.pprint(each) for each in graph.outputs)


def graph_of(*outputs):
    return FunctionGraph(outputs=list(outputs))


x, y, z = pt.dscalars("x", "y", "z")


# ---- x * y / y, in three ways ------------------------------------------------------------------------------------------


class Cancel(GraphRewriter):
    """x * y / y is x."""

    def __init__(self):
        self.prepared = 0

    def add_requirements(self, fgraph):
        self.prepared += 1

    def apply(self, fgraph):
        for node in fgraph.toposort():
            if node.op == scalar.true_div:
                above, below = node.inputs
                if above.owner and above.owner.op == scalar.mul:
                    for this, other in (above.owner.inputs, above.owner.inputs[::-1]):
                        if other == below:
                            fgraph.replace_validate(node.outputs[0], this, "Cancel")
                            break


def test_a_graph_rewriter():
    a, b, c = scalar.float64("a"), scalar.float64("b"), scalar.float64("c")
    quotient = scalar.true_div(scalar.mul(b, a), b)
    graph = FunctionGraph([a, b, c], [c + quotient * scalar.true_div(c, a)])
    cancel = Cancel()
    cancel.rewrite(graph)
    assert text(graph) == "c + a * (c / a)" and cancel.prepared == 1
    cancel(graph)
    assert cancel.prepared == 2
    # Equal nodes are one node from the start.
    both = FunctionGraph([a, b, c], [scalar.true_div(scalar.mul(b + c, a), b + c)])
    assert MergeOptimizer().rewrite(both)[0] == 0
    cancel.rewrite(both)
    assert both.outputs == [both.inputs[0]]
    with pytest.raises(TypeError):
        GraphRewriter()


class CancelNode(NodeRewriter):
    def transform(self, fgraph, node):
        if node.op != pt.true_div:
            return False
        above, below = node.inputs
        if above.owner is None or above.owner.op != pt.mul:
            return False
        first, second = above.owner.inputs
        if below == first:
            return [second]
        return [first] if below == second else False

    def tracks(self):
        return [pt.true_div]


def test_a_node_rewriter():
    graph = FunctionGraph([x, y, z], [z + y * x / y * (z / x)])
    profile = WalkingGraphRewriter(CancelNode()).rewrite(graph)
    assert text(graph) == "z + x * (z / x)"
    rewriter, changes, before, after = profile[:4]
    assert isinstance(rewriter, WalkingGraphRewriter) and (changes, before, after) == (1, 5, 3)
    with pytest.raises(TypeError):
        NodeRewriter()


@pytest.mark.parametrize("rewriters", [
    [PatternNodeRewriter((pt.true_div, (pt.mul, "a", "b"), "b"), "a")],
    [SubstitutionNodeRewriter(pt.true_div, pt.floor_div), PatternNodeRewriter((pt.floor_div, (pt.mul, "a", "b"), "a"), "b")],
])  # fmt: skip
def test_patterns_match_in_any_order(rewriters):
    for product in (x * y, y * x):
        graph = graph_of(product / y)
        EquilibriumGraphRewriter(rewriters).rewrite(graph)
        assert text(graph) == "x"


# ---- the order of nodes -------------------------------------------------------------------------------------------------


def names_seen(make, **options):
    seen = []

    @node_rewriter(None)
    def look(fgraph, node):
        seen.append(node.op.name)
        return [pt.sinh(pt.cosh(node.inputs[0]))] if node.op == pt.tan else False

    graph = graph_of(pt.exp(pt.tan(pt.sin(x))) + pt.cos(pt.sin(x)))
    make(look, **options).rewrite(graph)
    assert text(graph) == "exp(sinh(cosh(sin(x)))) + cos(sin(x))"
    return " ".join(seen)


def test_orders():
    assert names_seen(in2out) == "Sin Tan Exp Cos Add Cosh Sinh"
    assert names_seen(in2out, ignore_newtrees=True) == "Sin Tan Exp Cos Add"
    assert names_seen(out2in) == "Add Cos Exp Tan Sinh Cosh Sin"
    assert names_seen(out2in, ignore_newtrees=True) == "Add Cos Exp Tan Sin"
    assert names_seen(dfs_rewriter, ignore_newtrees=True) == "Add Exp Tan Sin Cos"
    with pytest.raises(ValueError, match="sideways"):
        WalkingGraphRewriter(CancelNode(), order="sideways")
    named = in2out(CancelNode(), name="walk")
    assert named.__name__ == "walk" and in2out(
        in_name := node_rewriter(None)(cancel_nothing)
    ).__name__ == str(in_name)


def cancel_nothing(fgraph, node):
    return False


def test_a_walk_may_start_anywhere():
    seen = []
    look = FromFunctionNodeRewriter(lambda fgraph, node: seen.append(node.op.name))
    graph = graph_of(pt.exp(pt.sin(x)), pt.cos(x))
    in2out(look).apply(graph, start_from=graph.outputs[:1])
    assert seen == ["Sin", "Exp"]


# ---- what rewriters are tried on ----------------------------------------------------------------------------------------


class Base(Op):
    __props__ = ("n",)
    otypes = [pt.dscalar]
    itypes = [pt.dscalar]

    def __init__(self, n=0):
        self.n = n

    def perform(self, node, inputs, outputs):
        outputs[0][0] = inputs[0] + self.n


class Derived(Base):
    pass


def tried(tracks, *outputs):
    seen = []

    @node_rewriter(tracks)
    def look(fgraph, node):
        seen.append(node.op.name if isinstance(node.op, Base) else str(node.op))
        return False

    in2out(look).rewrite(graph_of(*outputs))
    return len(seen), seen


@pytest.mark.parametrize(
    "tracks, count",
    [([Base], 3), ([Derived], 1), ([Base(1)], 1), ([Base(2), Derived], 2), ([Derived(1)], 1), ([OpPattern(Base, n=1)], 2),
     ([OpPattern((Base, Sum), n=2)], 1), ([Op], 7), (None, 7), ([Elemwise], 2), ([pt.exp], 1), (["exp"], 1), ([scalar.Exp], 1),
     ([CAReduce], 2), ([Sum], 1), ([OpPattern(CAReduce, axis=None)], 1), ([OpPattern(Elemwise, scalar_op=OpPattern(scalar.Sin))], 1)],
)  # fmt: skip
def test_what_is_tracked(tracks, count):
    v = pt.dmatrix("v")
    outputs = Base(1)(x), Base(2)(x), Derived(1)(x), pt.exp(x), pt.sin(x), v.max(axis=0), v.sum()
    assert tried(tracks, *outputs)[0] == count


def test_a_class_that_was_defined_again():
    def define():
        class Again(Base):
            pass

        return Again

    old, new = define(), define()
    assert tried([new], old()(x), new()(x))[0] == tried([old], old()(x), new()(x))[0] == 1


def test_wrong_tracks():
    for wrong, error in (
        (Base, TypeError),
        ([], ValueError),
        ([3], TypeError),
        (["expp"], ValueError),
    ):
        with pytest.raises(error):
            node_rewriter(wrong)(cancel_nothing)


def test_a_tracker_finds_rewriters():
    of_base, of_derived, of_one, of_all, of_pattern, of_exp = (
        FromFunctionNodeRewriter(cancel_nothing, tracks)
        for tracks in ([Base], [Derived], [Base(1)], None, [OpPattern(Base, n=2)], [pt.exp])
    )
    tracker = OpToRewriterTracker()
    for each in (of_all, of_base, of_derived, of_one, of_pattern, of_exp):
        tracker.add_tracker(each)
    assert tracker.get_trackers(Base(1)) == [of_base, of_one, of_all]
    assert tracker.get_trackers(Derived(2)) == [of_derived, of_base, of_pattern, of_all]
    assert tracker.get_trackers(pt.exp(x).owner.op) == [of_exp, of_all]
    assert set(tracker.get_rewriters()) == {of_all, of_base, of_derived, of_one, of_pattern, of_exp}


# ---- what rewriters return ----------------------------------------------------------------------------------------------


def test_a_dict_replaces_any_variable():
    @node_rewriter([pt.sin])
    def below(fgraph, node):
        inner = node.inputs[0].owner
        return inner and {inner.outputs[0]: inner.inputs[0], "remove": [inner.outputs[0]]}

    graph = graph_of(pt.sin(pt.exp(x)) + pt.exp(x))
    in2out(below).rewrite(graph)
    assert text(graph) == "sin(x) + x"

    @node_rewriter([pt.sin])
    def keeps(fgraph, node):
        return {node.outputs[0]: pt.cos(node.outputs[0]), "remove": [node.outputs[0]]}

    with pytest.raises(ReplacementDidNotRemoveError, match="keeps"):
        in2out(keeps, failure_callback=None).rewrite(graph)
    assert text(graph) == "sin(x) + x"


def test_none_keeps_an_output():
    class Two(Op):
        __props__ = ()
        itypes, otypes = [pt.dscalar], [pt.dscalar, pt.dscalar]

        def perform(self, node, inputs, outputs):
            outputs[0][0], outputs[1][0] = inputs[0] + 1, inputs[0] + 2

    @node_rewriter([Two])
    def half(fgraph, node):
        return [None, node.inputs[0]]

    a, b = Two()(x)
    graph = graph_of(a + b)
    in2out(half, ignore_newtrees=True).rewrite(graph)
    assert [node.op.name.rsplit(".")[-1] for node in graph.toposort()] == ["Two", "Add"]
    assert graph.outputs[0].owner.inputs[1] == graph.inputs[0]


def test_nodes_that_are_made_have_the_line_of_what_they_replace():
    written = pt.sin(x) * 2

    @node_rewriter([pt.sin])
    def other(fgraph, node):
        return [copy_stack_trace(node.outputs[0], pt.tanh(node.inputs[0]))]

    graph = graph_of(written)
    in2out(other, name="walk").rewrite(graph)
    made = graph.outputs[0].owner.inputs[0]
    assert made.owner.op == pt.tanh and made.where == written.owner.inputs[0].where
    assert "{other; " in bt.dprint(graph.outputs[0], provenance=True, file="str")
    assert check_stack_trace(graph) and check_stack_trace(graph, "all")
    assert check_stack_trace(graph, pt.tanh) and check_stack_trace(graph, [Elemwise])
    assert check_stack_trace(graph, lambda node: node.op == pt.tanh)
    assert check_stack_trace(bt.function([x], written), "all")
    with pytest.raises(ValueError, match="no such nodes"):
        check_stack_trace(graph, Sum)
    with pytest.warns(UserWarning, match="no such nodes"):
        assert check_stack_trace(graph, Sum, bug_print="warn")
    for wrong in ("most", 3):
        with pytest.raises((ValueError, TypeError)):
            check_stack_trace(graph, wrong)
    with pytest.raises(ValueError, match="expected a function"):
        check_stack_trace(x)
    CheckStackTraceRewriter().rewrite(graph)
    assert [type(each).__name__ for each in graph.features] == ["CheckStackTraceFeature"]


# ---- failures ----------------------------------------------------------------------------------------------------------


@node_rewriter([pt.sin])
def fails(fgraph, node):
    raise RuntimeError("on purpose")


@node_rewriter([pt.sin])
def changes_dtype(fgraph, node):
    return [pt.cast(node.outputs[0], "float32")]


@pytest.mark.parametrize(
    "make", [in2out, lambda each, **options: EquilibriumGraphRewriter([each], **options)]
)
def test_failures(make):
    graph = graph_of(pt.sin(x))
    with pytest.raises(RuntimeError, match="on purpose"):
        make(fails, failure_callback=None).rewrite(graph)
    with pytest.raises(TypeError, match="change the type"):
        make(changes_dtype, failure_callback=None).rewrite(graph)
    seen = []
    make(fails, failure_callback=lambda *given: seen.append(given)).rewrite(graph)
    make(changes_dtype, failure_callback=lambda *given: seen.append(given)).rewrite(graph)
    (error, rewriter, pairs, own, node), (other, _, refused, _, _) = seen
    assert isinstance(error, RuntimeError) and isinstance(rewriter, NodeProcessingGraphRewriter)
    assert own is fails and node.op == pt.sin and pairs == [(node.outputs[0], None)]
    assert isinstance(other, TypeError) and refused[0][1].dtype == "float32"
    make(fails, failure_callback=NodeProcessingGraphRewriter.warn_ignore).rewrite(graph)
    assert text(graph) == "sin(x)" and not graph.features


def test_the_configuration_decides_on_failures(caplog):
    graph = graph_of(pt.sin(x))
    with bt.config.change_flags(on_opt_error="raise"), pytest.raises(RuntimeError):
        in2out(fails).rewrite(graph)
    assert not caplog.records
    with bt.config.change_flags(on_opt_error="warn"):
        in2out(fails).rewrite(graph)
        assert "rewriter fails failed" in caplog.text and "on purpose" in caplog.text
        SequentialGraphRewriter(
            [graph_rewriter(lambda fgraph: 1 / 0)], failure_callback=SequentialGraphRewriter.warn
        ).rewrite(graph)
        assert "ZeroDivisionError" in caplog.text
    caplog.clear()
    with bt.config.change_flags(on_opt_error="ignore"):
        in2out(fails).rewrite(graph)
    assert not caplog.records
    with pytest.raises(ZeroDivisionError):
        SequentialGraphRewriter(graph_rewriter(lambda fgraph: 1 / 0)).rewrite(graph)
    with bt.config.change_flags(on_opt_error="warn"), pytest.raises(AssertionError):
        in2out(FromFunctionNodeRewriter(lambda fgraph, node: check(False))).rewrite(graph)


def check(condition):
    assert condition


# ---- until nothing changes ----------------------------------------------------------------------------------------------


def test_an_equilibrium():
    halve = PatternNodeRewriter((pt.sin, (pt.sin, "a")), (pt.sin, "a"), name="halve")
    nested = x
    for _ in range(20):
        nested = pt.sin(nested)
    graph = graph_of(nested)
    rewriter = EquilibriumGraphRewriter([halve], max_use_ratio=10)
    _, [report] = profile = rewriter.rewrite(graph)
    assert text(graph) == "sin(x)" and report.uses == {"halve": 19}
    assert list(rewriter.get_node_rewriters()) == [halve]
    out = io.StringIO()
    EquilibriumGraphRewriter.print_profile(
        out, EquilibriumGraphRewriter.merge_profile(profile, profile)
    )
    assert out.getvalue().count("19 uses") == 2
    rewriter.print_summary(summary := io.StringIO())
    assert "PatternNodeRewriter halve" in summary.getvalue()


def test_a_rewriter_that_loops_is_stopped(capfd):
    @node_rewriter([pt.sin])
    def grows(fgraph, node):
        return [pt.sin(node.inputs[0] * 2)]

    graph = graph_of(pt.sin(x))
    with bt.config.change_flags(on_opt_error="warn"):
        EquilibriumGraphRewriter([grows], max_use_ratio=4).rewrite(graph)
    assert "`grows` was applied" in capfd.readouterr().err
    assert [node.op.name for node in graph.toposort()].count("Mul") == 5


def test_graph_rewriters_in_an_equilibrium():
    order = []

    def noting(name):
        def note(fgraph):
            order.append(name)

        return graph_rewriter(note)

    @node_rewriter([pt.tan])
    def tan_to_sin(fgraph, node):
        order.append("node")
        return [pt.sin(node.inputs[0])]

    graph = graph_of(pt.tan(x))
    EquilibriumGraphRewriter(
        [tan_to_sin, noting("first")],
        final_rewriters=[noting("final")],
        cleanup_rewriters=[noting("cleanup")],
    ).rewrite(graph)
    assert text(graph) == "sin(x)"
    assert order == ["first", "node", "final", "cleanup", "first", "final", "cleanup"]

    @graph_rewriter
    def cos_to_tan(fgraph):
        for node in fgraph.toposort():
            if node.op == pt.cos:
                fgraph.replace(node.outputs[0], pt.tan(node.inputs[0]))

    graph = graph_of(pt.cos(x) + pt.tan(pt.cos(y)))
    EquilibriumGraphRewriter([tan_to_sin], final_rewriters=[cos_to_tan]).rewrite(graph)
    assert text(graph) == "sin(x) + sin(sin(y))"


# ---- several rewriters ---------------------------------------------------------------------------------------------------


def test_several_node_rewriters():
    sin_to_cos = SubstitutionNodeRewriter(pt.sin, pt.cos)
    cos_to_tan = SubstitutionNodeRewriter(pt.cos, pt.tan)
    both = SequentialNodeRewriter(sin_to_cos, cos_to_tan)
    node = pt.sin(x).owner
    assert both.tracks() == [pt.sin, pt.cos]
    graph = FunctionGraph([x], [node.outputs[0]])
    assert both.transform(graph, graph.outputs[0].owner)[0].owner.op == pt.cos
    every = SequentialNodeRewriter(sin_to_cos, cos_to_tan, apply_all_rewrites=True, profile=True)
    assert every.transform(graph, graph.outputs[0].owner)[0].owner.op == pt.tan
    assert every.applied_true[sin_to_cos] == every.applied_true[cos_to_tan] == 1
    out = io.StringIO()
    prof = (every.time_rewrites, every.process_count, every.applied_true)
    SequentialNodeRewriter.print_profile(out, prof)
    assert "1 uses of 1 tries" in out.getvalue()
    in2out(sin_to_cos, cos_to_tan, ignore_newtrees=True).rewrite(graph)
    assert text(graph) == "cos(x)"
    graph = graph_of(pt.sin(x))
    in2out(every, ignore_newtrees=True).rewrite(graph)
    assert text(graph) == "tan(x)"
    assert SequentialNodeRewriter(both, node_rewriter(None)(cancel_nothing)).tracks() is None


def test_a_sequence_of_graph_rewriters():
    steps = [in2out(SubstitutionNodeRewriter(pt.sin, pt.cos), name="one"), Cancel()]
    sequence = SequentialGraphRewriter(*steps)
    assert list(sequence) == steps and SequentialGraphRewriter(steps)[1] is steps[1]
    graph = graph_of(pt.sin(x) * y / y)
    profile = sequence.rewrite(graph)
    assert text(graph) == "cos(x)" and profile[4:6] == (3, 1)
    out = io.StringIO()
    SequentialGraphRewriter.print_profile(
        out, SequentialGraphRewriter.merge_profile(profile, profile)
    )
    assert "6 -> 2 nodes" in out.getvalue() and "one" in out.getvalue()
    sequence.print_summary(summary := io.StringIO())
    assert "Cancel" in summary.getvalue()
    sequence.append(MergeOptimizer())
    assert len(sequence.rewrite(graph)[1]) == 3


# ---- substitution and patterns -------------------------------------------------------------------------------------------


def test_substitution_and_removal():
    named = pt.sin(x)
    named.name = "result"
    graph = graph_of(named + 1)
    in2out(SubstitutionNodeRewriter(pt.sin, pt.cos)).rewrite(graph)
    assert graph.outputs[0].owner.inputs[0].name == "result"
    in2out(RemovalNodeRewriter(pt.cos)).rewrite(graph)
    assert text(graph) == "x + 1"


def applied(pattern, result, *outputs, **options):
    graph = graph_of(*outputs)
    in2out(PatternNodeRewriter(pattern, result, **options), failure_callback=None).rewrite(graph)
    return text(graph)


def test_patterns():
    distribute = (pt.mul, "a", (pt.add, "b", "c")), (pt.add, (pt.mul, "a", "b"), (pt.mul, "a", "c"))
    assert applied(*distribute, (x + y) * z) == applied(*distribute, z * (x + y)) == "z * x + z * y"
    # A variable stands for the same thing wherever it occurs, whatever the order.
    cancel = (pt.sub, (pt.add, "a", "b"), (pt.mul, "b", "a")), "a"
    assert applied(*cancel, x + y - y * x) == applied(*cancel, x + y - x * y) == "x"
    assert applied(*cancel, x + y - x * z) == "x + y - x * z"
    # Numbers are constants.
    assert applied((pt.mul, 2, "a"), (pt.add, "a", "a"), 2 * x) == "x + x"
    assert applied((pt.mul, 2.0, "a"), (pt.add, "a", "a"), x * 2) == "x + x"
    assert applied((pt.mul, 2, "a"), (pt.add, "a", "a"), 3 * x) == "3 * x"
    # A variable of the graph is itself.
    graph = FunctionGraph([x, y], [pt.sin(x) + pt.sin(y)], clone=False)
    in2out(PatternNodeRewriter((pt.sin, x), (pt.cos, x))).rewrite(graph)
    assert text(graph) == "cos(x) + sin(y)"


def test_conditions_of_patterns():
    def is_constant(variable):
        return isinstance(variable, bt.graph.Constant)

    pattern = (pt.log, (pt.true_div, "a", {"pattern": "c", "constraint": is_constant}))
    result = (pt.sub, (pt.log, "a"), (pt.log, "c"))
    assert applied(pattern, result, pt.log(x / 2)) == "log(x) - log(2)"
    assert applied(pattern, result, pt.log(x / y)) == "log(x / y)"
    with pytest.raises(ValueError, match="two constraints"):
        PatternNodeRewriter(
            (
                pt.add,
                {"pattern": "a", "constraint": is_constant},
                {"pattern": "a", "constraint": check},
            ),
            "a",
        )


def test_nodes_inside_of_a_pattern_are_used_once():
    pattern = (pt.exp, (pt.sin, "a")), (pt.cos, "a")
    used_twice = pt.sin(x)
    assert applied(*pattern, pt.exp(used_twice) + used_twice) == "exp(sin(x)) + sin(x)"
    assert (
        applied(*pattern, pt.exp(used_twice) + used_twice, allow_multiple_clients=True)
        == "cos(x) + sin(x)"
    )
    shared = pt.tan(x)  # a variable of the pattern may be used elsewhere
    assert applied(*pattern, pt.exp(pt.sin(shared)) + shared) == "cos(tan(x)) + tan(x)"


def test_results_of_functions():
    def shorter(fgraph, node, found):
        assert set(found) == {"a", "b"} and node.op == pt.add
        return found["a"] if found["b"].name == "y" else False

    assert applied((pt.add, "a", "b"), shorter, x + y) == "x"
    assert applied((pt.add, "a", "b"), shorter, x + z) == "x + z"
    with pytest.raises(ValueError, match="expected a variable"):
        applied((pt.add, "a", "b"), lambda *given: 3, x + y)


def test_results_are_converted():
    i = pt.iscalar("i")
    pattern = (pt.add, "a", "b"), "a"
    assert applied(*pattern, i + x) == "float64(i)"
    assert applied(*pattern, i + x, allow_cast=False) == "i + x"


def test_patterns_of_ops():
    v = pt.dmatrix("v")
    full = OpPattern(CAReduce, scalar_op="f", axis=None), (OpPattern(CAReduce, scalar_op="f"), "a")
    total = applied(full, (OpPattern(Sum, axis=None), "a"), v.sum(axis=0).sum())
    assert total == "sum(v)"
    assert (
        applied(full, (OpPattern(Sum, axis=None), "a"), v.max(axis=0).sum())
        == "sum(max(v, axis=0))"
    )
    assert applied(full, (OpPattern(Sum, axis=None), "a"), v.sum(axis=0)) == "sum(v, axis=0)"
    of_mode = OpPattern(Base, n=LiteralString("gen"))
    assert of_mode.match_op(Base("gen")) is True and not OpPattern(Base, n="gen").match_op(Base(3))
    with pytest.raises(ValueError, match="not both"):
        OpPattern(Base, {"n": 1}, n=2)
    assert OpPattern(Base, n=1) == OpPattern(Base, {"n": 1}) and hash(OpPattern(Base)) == hash(
        OpPattern(Base)
    )


def test_the_rest_of_the_inputs():
    join = OpPattern(type(pt.concatenate([pt.dvector(), pt.dvector()]).owner.op))
    a, b, c = pt.dvectors("a", "b", "c")
    graph = graph_of(pt.concatenate([a, b, c]))
    seen = []
    PatternNodeRewriter(
        (join, "first", Asterisk("rest")), lambda fgraph, node, found: seen.append(found)
    ).transform(graph, graph.outputs[0].owner)
    assert [len(each["rest"]) for each in seen] == [len(graph.outputs[0].owner.inputs) - 1]
    with pytest.raises(TypeError, match="comes last"):
        PatternNodeRewriter((join, Asterisk("rest"), "last"), "last")


def test_patterns_of_other_nodes():
    def users(fgraph, node):
        return [user for user, _ in fgraph.get_clients(node.outputs[0]) if isinstance(user, Apply)]

    pattern = PatternNodeRewriter(
        (pt.add, (pt.sin, "a"), "b"), "b", tracks=[pt.sin], get_nodes=users
    )
    graph = graph_of(pt.exp(pt.sin(x) + y))
    in2out(pattern).rewrite(graph)
    assert text(graph) == "exp(y)"
    with pytest.raises(ValueError, match="get_nodes"):
        PatternNodeRewriter((pt.sin, "a"), "a", tracks=[pt.sin])


@pytest.mark.parametrize("wrong", ["a", ("a", "b"), (3, "a"), ()])
def test_wrong_patterns(wrong):
    with pytest.raises(TypeError):
        PatternNodeRewriter(wrong, "a")


def test_a_result_with_an_unknown_variable():
    with pytest.raises(ValueError, match="'b' occurs in the result only"):
        applied((pt.sin, "a"), "b", pt.sin(x))


def test_deep_patterns():
    pattern, deep = "a", x
    for _ in range(200):
        pattern, deep = (pt.sin, pattern), pt.sin(deep)
    assert applied(pattern, "a", deep) == "x"


# ---- requirements, and rewriters of one's own --------------------------------------------------------------------------


class Marker(Feature):
    attached = 0

    def on_attach(self, fgraph):
        Marker.attached += 1


def test_requirements():
    @node_rewriter([pt.sin], requirements=[Marker])
    def needs(fgraph, node):
        assert any(isinstance(each, Marker) for each in fgraph.features)

    before = Marker.attached
    for make in (in2out, lambda each: EquilibriumGraphRewriter([each])):
        make(needs).rewrite(graph_of(pt.sin(x)))
    assert Marker.attached > before

    @inplace_graph_rewriter
    def looks(fgraph):
        assert [type(each) for each in fgraph.features] == [DestroyHandler]

    looks.rewrite(graph_of(pt.sin(x)))

    @node_rewriter([pt.sin], inplace=True)
    def inplace(fgraph, node):
        assert [type(each) for each in fgraph.features][0] is DestroyHandler

    in2out(inplace, failure_callback=None).rewrite(graph_of(pt.sin(x)))


class Backwards(NodeProcessingGraphRewriter):
    """Goes over the nodes in an order of its own."""

    def apply(self, fgraph):
        imported = []
        updater = self.attach_updater(fgraph, imported.append, None, name="own")
        count = sum(self.process_node(fgraph, node) for node in reversed(fgraph.toposort()))
        self.detach_updater(fgraph, updater)
        return count, imported


def test_an_order_of_ones_own():
    graph = graph_of(pt.sin(pt.sin(x)))
    count, imported = Backwards(SubstitutionNodeRewriter(pt.sin, pt.cos), False).rewrite(graph)
    assert text(graph) == "cos(cos(x))" and count == len(imported) == 2 and not graph.features
    graph = graph_of(pt.sin(x))
    assert Backwards(SubstitutionNodeRewriter(pt.sin, pt.cos), "auto").rewrite(graph)[0] == 1
    assert Backwards(fails, False, lambda *given: None).rewrite(graph_of(pt.sin(x)))[0] == 0


def test_a_feature_of_functions():
    changes = []
    graph = graph_of(pt.sin(x))
    graph.attach_feature(
        DispatchingFeature(
            changes.append, changes.append, lambda *change: changes.append(change), "f"
        )
    )
    graph.replace(graph.outputs[0], pt.cos(graph.inputs[0]), reason="why")
    kinds = [each.op.name if isinstance(each, Apply) else each[4] for each in changes]
    assert sorted(kinds) == ["Cos", "Sin", "why"]


def test_expressions_that_hang_on_a_graph():
    graph = graph_of(pt.sin(x))
    inside = graph.outputs[0]
    hanging = pt.exp(pt.sin(inside) + pt.sin(inside))
    out = pre_greedy_node_rewriter(graph, [SubstitutionNodeRewriter(pt.sin, pt.cos)], hanging)
    assert bt.pprint(out) == "exp(cos(sin(x)) + cos(sin(x)))" and text(graph) == "sin(x)"


def test_sums_of_dicts():
    assert merge_dict({"a": 1, "b": 2}, {"b": 3, "c": 4}) == {"a": 1, "b": 5, "c": 4}


def test_a_long_chain():
    v = x
    for _ in range(20000):
        v = pt.sin(v)
    for make in (in2out, out2in, lambda each: EquilibriumGraphRewriter([each])):
        graph = graph_of(v)
        make(SubstitutionNodeRewriter(pt.sin, pt.cos)).rewrite(graph)
        assert {node.op.name for node in graph.toposort()} == {"Cos"}


def test_complex_nodes_are_rewritten_too():
    c = pt.zscalar("c")
    graph = graph_of(c * c)
    in2out(PatternNodeRewriter((pt.mul, "a", "a"), (pt.sqr, "a"))).rewrite(graph)
    assert graph.outputs[0].owner.op == pt.sqr


def test_ops_have_the_signature_of_their_calls():
    assert "inputs" in inspect.signature(pt.exp(x).owner.op).parameters
    assert "scalar_op" in inspect.signature(Elemwise).parameters


def test_values_stay():
    @node_rewriter([pt.true_div])
    def reciprocal(fgraph, node):
        return [node.inputs[0] * pt.reciprocal(node.inputs[1])]

    v = pt.dvector("v")
    graph = FunctionGraph([v], [v / v.sum()])
    in2out(reciprocal).rewrite(graph)
    f = bt.function(graph.inputs, graph.outputs[0])
    np.testing.assert_allclose(f([1.0, 3.0]), [0.25, 0.75])

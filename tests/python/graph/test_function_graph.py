"""FunctionGraph by PyTensor's names: outputs among the clients, changes of inputs and outputs, copies with features."""

import copy

import pytest

import bitale as bt
import bitale.tensor as pt
from bitale.graph import features as ft
from bitale.graph.basic import Apply, Variable, equal_computations
from bitale.graph.fg import FunctionGraph, Output
from bitale.graph.null_type import NullType
from bitale.graph.op import Op
from bitale.graph.type import Type


class MyType(Type):
    def __init__(self, number=0):
        self.number = number

    def filter(self, data, strict=False, allow_downcast=None):
        return data

    def __eq__(self, other):
        return isinstance(other, MyType) and other.number == self.number

    def __hash__(self):
        return hash((MyType, self.number))

    def __str__(self):
        return f"MyType({self.number})"


class MyOp(Op):
    __props__ = ("kind",)

    def __init__(self, kind):
        self.kind = kind

    def make_node(self, *inputs):
        return Apply(self, list(inputs), [MyType()()])

    def __str__(self):
        return self.kind

    def perform(self, node, inputs, output_storage):
        raise NotImplementedError


op1, op2, op3 = MyOp("Op1"), MyOp("Op2"), MyOp("Op3")


def chain():
    """Two inputs, and three variables, each computed from the one before."""
    a, b = Variable(MyType(), None, None, name="a"), Variable(MyType(), name="b")
    first = op1(b, a)
    second = op2(first, b)
    third = op3(second, b, b)
    return a, b, first, second, third


def test_leaves_of_any_type():
    a, b, *_ = chain()
    assert (
        type(a) is Variable
        and a.name == "a"
        and a.owner is None
        and a.type == MyType()
        and a is not b
    )
    x = Variable(pt.dvector, name="x")
    assert isinstance(x, pt.TensorVariable) and (x + 1).eval({x: [1.0]}).tolist() == [2.0]
    with pytest.raises(TypeError, match="makes its outputs itself"):
        Variable(MyType(), op1(a).owner, 0)
    with pytest.raises(TypeError, match="expected a type"):
        Variable(3)

    class MyVariable(Variable):
        pass

    mine = MyVariable(MyType(), name="mine")
    assert type(mine) is MyVariable and op1(mine).owner.inputs[0] is mine
    with pytest.raises(TypeError, match="is a .*TensorVariable"):
        MyVariable(pt.dvector)


def test_without_a_copy():
    a, b, first, second, third = chain()
    graph = FunctionGraph([a, b], [first, third], clone=False)
    assert graph.inputs == [a, b] and graph.outputs == [first, third]
    assert graph.apply_nodes == {first.owner, second.owner, third.owner}
    assert graph.variables == {a, b, first, second, third} and graph.update_mapping is None
    graph.replace(first, a, reason="test")
    assert graph.outputs == [a, third] and second.owner.inputs == [a, b]
    assert first.owner not in graph and second.owner in graph


def test_clients_of_outputs():
    a, b, first, second, third = chain()
    graph = FunctionGraph([a, b], [first, third, first], clone=False)
    uses = graph.get_clients(first)
    assert {(node.op, i) for node, i in uses} == {(Output(0), 0), (Output(2), 0), (op2, 0)}
    assert graph.clients[third][0][0].op == Output(1) and str(Output(1)) == "output[1]"
    node, i = graph.get_output_client(1)
    assert node.op.idx == 1 and node.inputs == [third] and node.outputs == [] and i == 0
    with pytest.raises(LookupError, match="no output 3"):
        graph.get_output_client(3)
    graph.change_node_input(node, 0, second)
    assert graph.outputs == [first, second, first] and third.owner not in graph
    with pytest.raises(TypeError, match="Apply node"):
        graph.change_node_input("output", 0, second)
    with pytest.raises(TypeError, match="not run"):
        Output(0).perform(node, [], [])


def test_arguments():
    a, b, first, *_ = chain()
    with pytest.raises(ValueError, match="No outputs specified"):
        FunctionGraph([a])
    with pytest.raises(ValueError, match="clone the graph"):
        FunctionGraph([first], [first], clone=False)
    with pytest.raises(TypeError):
        FunctionGraph(a, [first])
    memo = {}
    graph = FunctionGraph(outputs=[first], memo=memo)
    assert memo[a].name == "a" and memo[first] is graph.outputs[0] and set(memo) >= {a, b, first}
    same = FunctionGraph(outputs=[first], copy_inputs=False)
    assert set(same.inputs) == {a, b} and same.outputs[0] is not first
    assert FunctionGraph([a, b], [first], update_mapping={0: 1}).update_mapping == {0: 1}
    with pytest.raises(TypeError, match="no arguments called"):
        FunctionGraph(outputs=[first], deep=True)


def test_missing_inputs():
    a, b, first, second, third = chain()
    graph = FunctionGraph([a, b], [third], clone=False)
    c, d, e = (Variable(MyType(), name=name) for name in "cde")
    for change in (
        lambda: graph.replace(first, c),
        lambda: graph.replace_all([(first, op1(c))]),
        lambda: graph.add_output(op1(c)),
        lambda: graph.change_node_input(third.owner, 1, c),
    ):
        with pytest.raises(bt.MissingInputError):
            change()
    assert graph.inputs == [a, b]
    graph.replace(first, op1(c), import_missing=True)
    graph.add_output(op1(d), reason="test", import_missing=True)
    graph.change_node_input(third.owner, 1, e, import_missing=True)
    assert graph.inputs == [a, b, c, d, e]
    graph.check_integrity()
    graph.add_input(a)
    with pytest.raises(ValueError, match="is an input already"):
        graph.add_input(a, check=False)
    with pytest.raises(TypeError, match="no value"):
        graph.add_output(NullType()(), import_missing=True)


def test_removals():
    a, b, first, second, third = chain()
    graph = FunctionGraph([a, b], [first, second, third, b], clone=False)
    graph.remove_output(1)
    assert graph.outputs == [first, third, b] and graph.clients[b][-1][0].op == Output(2)
    graph.remove_node(second.owner)
    assert graph.outputs == [first, b] and graph.apply_nodes == {first.owner}
    graph.remove_node(second.owner)  # which is not there any more
    graph.remove_input(0)
    assert graph.inputs == [b] and graph.outputs == [b] and len(graph) == 0
    graph.check_integrity()
    for wrong in (lambda: graph.remove_output(1), lambda: graph.remove_input(1)):
        with pytest.raises(IndexError):
            wrong()


def test_replacements_of_other_types():
    x = pt.dvector("x")
    three = pt.TensorType("float64", (3,))("three")
    graph = FunctionGraph([three, x], [pt.exp(three), x], clone=False)
    graph.replace(three, x)
    assert graph.outputs[0].owner.inputs[0].owner.inputs[0] is x
    a, b, first, *_ = chain()
    other = FunctionGraph([a, b], [first], clone=False)
    with pytest.raises(TypeError):
        other.replace(first, Variable(MyType(1)), import_missing=True)


def test_circles_are_refused():
    a, b, first, second, third = chain()
    graph = FunctionGraph([a, b], [first, third], clone=False)
    with pytest.raises(bt.InconsistencyError, match="circular"):
        graph.change_node_input(first.owner, 0, third)
    with pytest.raises(bt.InconsistencyError, match="circular"):
        graph.replace(first, second)
    assert graph.outputs == [first, third] and second.owner.inputs == [first, b]
    new = op2(first, a)  # a use in the replacement itself is kept
    graph.replace(first, new)
    assert graph.outputs == [new, third] and new.owner.inputs == [first, a]


def test_reports(capsys):
    a, b, first, *_ = chain()
    graph = FunctionGraph([a, b], [first], clone=False)
    graph.replace(first, a, reason="test-reason", verbose=True)
    wanted = "rewriting: rewrite test-reason replaces Op1.0 of Op1(b, a) with a of None"
    assert capsys.readouterr().out.strip() == wanted
    with bt.config.change_flags(optimizer_verbose=True, optimizer_verbose_ignore="quiet,other"):
        graph.replace_validate(a, b, reason="quiet")
        assert capsys.readouterr().out == ""
        graph.replace_all_validate([(b, a)], reason="loud")
        assert "rewrite loud replaces b" in capsys.readouterr().out

    class Refusing(ft.Feature):
        def on_validate(self, fgraph):
            raise bt.InconsistencyError("not this")

    graph.attach_feature(Refusing())
    with pytest.raises(bt.InconsistencyError):
        graph.replace_validate(a, b, reason="refused", verbose=True)
    assert "validate failed on node a" in capsys.readouterr().out


def test_what_was_not_removed_is_warned_of():
    a, b, first, second, third = chain()
    graph = FunctionGraph([a, b], [first, third], clone=False)
    with pytest.warns(UserWarning, match="did not remove"):
        with pytest.raises(ft.ReplacementDidNotRemoveError):
            graph.replace_all_validate_remove([(third, b)], [first.owner], reason="test")
    graph.replace_all_validate_remove([(third, b)], [third.owner, second.owner], warn=False)


def test_copies():
    class Counting(ft.Feature):
        def __init__(self):
            self.imported = 0

        def on_import(self, fgraph, node, reason):
            self.imported += 1

        def clone(self):
            return type(self)()

    class Stateless(ft.Feature):
        def __init__(self):
            self.graphs = []

        def on_validate(self, fgraph):
            self.graphs.append(fgraph)

    counting, stateless = Counting(), Stateless()
    x = pt.dvector("x")
    graph = FunctionGraph([x], [pt.exp(x)], features=[counting, stateless, ft.NodeFinder()])
    graph.update_mapping = {0: 0}
    other, memo = graph.clone_get_equiv()
    assert memo[graph.inputs[0]] is other.inputs[0] and memo[graph.outputs[0]] is other.outputs[0]
    assert memo[graph.outputs[0].owner] is other.outputs[0].owner
    third = graph.clone()
    assert third.update_mapping == {0: 0} and equal_computations(
        third.outputs, graph.outputs, third.inputs, graph.inputs
    )
    assert len(third.features) == 3 and third.features[1] is stateless
    third.replace(third.outputs[0], pt.sin(third.inputs[0]))
    assert third.features[0].imported == 1 and counting.imported == 0
    assert stateless.graphs[-1] is third
    graph.replace(graph.outputs[0], pt.cos(graph.inputs[0]))
    assert stateless.graphs[-1] is graph
    assert len(third.get_nodes(pt.sin(x).owner.op)) == 1
    assert graph.clone_get_equiv(attach_feature=False)[0].features == []


def test_own_attributes_and_callbacks():
    class Asked(ft.Feature):
        @ft.register_feature_callback
        def on_question(self, fgraph, question):
            fgraph.answer = question + "!"

        @ft.register_feature_callback
        def size(self, factor):
            return factor * 2

    x = pt.dvector("x")
    asked = Asked()
    graph = FunctionGraph([x], [pt.exp(x)], features=[asked, ft.History()])
    graph.execute_callbacks("on_question", "why")
    assert graph.answer == "why!" and graph.collect_callbacks("size", 3) == {asked: 6}
    assert not hasattr(graph, "no_such_attribute")
    graph.mark = graph  # which the garbage collector finds


def test_orderings():
    class Order(ft.Feature):
        def orderings(self, fgraph):
            first, second = (variable.owner for variable in fgraph.outputs)
            return {first: [second]}

    x = pt.dvector("x")
    graph = FunctionGraph([x], [pt.exp(x), pt.sin(x)], features=[Order()])
    first, second = (variable.owner for variable in graph.outputs)
    assert graph.orderings() == {first: [second]} and graph.toposort() == [second, first]
    f = bt.function([x], pt.sqrt(pt.exp(x) + pt.sin(pt.exp(x))), mode=bt.Mode("vm", "fast_run"))
    assert set(f.fgraph.orderings()) <= f.fgraph.apply_nodes


def test_replace_validate_as_a_feature():
    a, b, first, second, third = chain()
    feature = ft.ReplaceValidate()
    graph = FunctionGraph([a, b], [third], clone=False, features=[feature])
    graph.attach_feature(ft.ReplaceValidate())
    assert sum(isinstance(each, ft.ReplaceValidate) for each in graph.features) == 1
    start = graph.checkpoint()
    feature.replace_validate(graph, second, b, reason="test")
    feature.replace_all_validate(graph, [(third, a)], reason="test")
    assert graph.outputs == [a] and feature.consistent(graph)
    feature.validate(graph)
    graph.revert(start)
    assert graph.outputs == [third] and third.owner.inputs == [second, b, b]
    feature.replace_all_validate_remove(graph, [(third, a)], [third.owner])
    graph.attach_feature(ft.PreserveVariableAttributes())


def test_older_helpers():
    a, b, first, *_ = chain()
    graph = FunctionGraph([a, b], [op2(first)], clone=False)
    node = graph.outputs[0].owner
    ft.LambdaExtract(graph, node, 0, a, "test")()
    assert node.inputs == [a]
    entry = ft.HistoryEntry(node, 0, a, "test")
    assert (entry.node, entry.i, entry.var, entry.reason) == (node, 0, a, "test")


def test_copies_of_outputs_and_graphs_of_functions():
    x, s = pt.dvector("x"), bt.shared(1.0, "s")
    f = bt.function([x], x * s, updates={s: s + 1})
    graph = f.fgraph
    assert isinstance(graph.get_output_client(0)[0].op, Output)
    with pytest.raises(TypeError, match="clone"):
        graph.remove_output(0)
    mine = graph.clone()
    mine.remove_output(1)
    assert len(mine.outputs) == 1 and len(graph.outputs) == 2
    assert copy.copy(Output(1)) == Output(1)

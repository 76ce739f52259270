"""Graphs that never change, and the classes of PyTensor that say what kinds of nodes have in common."""

import pickle

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale.graph.basic import AbstractApply, AtomicVariable, Node
from bitale.graph.fg import AbstractFunctionGraph, FrozenFunctionGraph
from bitale.graph.utils import AssocList, MetaObject, MetaType, MethodNotDefined

x, y = pt.dvectors("x", "y")


def graph():
    return bt.FunctionGraph([x, y], [pt.exp(x) * y, x + y])


def test_frozen_graphs_are_equal_by_what_they_compute():
    frozen = graph().freeze()
    a, b = pt.dvectors("a", "b")
    same = FrozenFunctionGraph.from_io([a, b], [pt.exp(a) * b, a + b])
    assert frozen == same and hash(frozen) == hash(same) and {frozen: 1}[same] == 1
    assert frozen != FrozenFunctionGraph.from_io([b, a], [pt.exp(a) * b, a + b])
    assert frozen != FrozenFunctionGraph.from_io([a], [a]) and frozen != 3
    assert pickle.loads(pickle.dumps(frozen)) == frozen and frozen.clone() is frozen
    assert [str(node.op) for node in frozen.toposort()] == ["Exp", "Mul", "Add"]
    assert len(frozen.apply_nodes) == 3 and len(frozen.variables) == 5
    assert frozen.inputs[0] in frozen and x not in frozen and repr(frozen).startswith("Frozen")


def test_a_frozen_graph_keeps_its_state():
    changing = graph()
    frozen = changing.freeze()
    changing.replace(changing.outputs[1], changing.inputs[0])
    assert len(frozen.toposort()) == 3
    thawed, memo = frozen.unfreeze(return_memo=True)
    thawed.replace(thawed.outputs[1], thawed.inputs[0])
    assert len(frozen.toposort()) == 3 and thawed.inputs[0] is memo[frozen.inputs[0]]
    assert [len(uses) for v, uses in frozen.clients.items() if v in frozen.inputs] == [2, 2]


def test_other_inputs_of_a_frozen_graph():
    a, b = pt.dvectors("a", "b")
    for given in ([a, b], dict(zip(graph().freeze().inputs, [a, b]))):
        frozen = graph().freeze()
        if isinstance(given, dict):
            given = dict(zip(frozen.inputs, [a, b]))
        outputs, memo = frozen.bind(given, return_memo=True)
        f = bt.function([a, b], outputs)
        np.testing.assert_allclose(f([0.0], [2.0]), [[2.0], [2.0]])
        assert memo[frozen.inputs[0]] is a


def test_what_kinds_have_in_common():
    node = pt.exp(x).owner
    assert isinstance(node, Node) and isinstance(x, Node) and not isinstance(node.op, Node)
    assert isinstance(node, AbstractApply) and isinstance(pt.constant(1.0), AtomicVariable)
    assert not isinstance(x, AtomicVariable)
    assert isinstance(graph(), AbstractFunctionGraph)
    assert isinstance(graph().freeze(), AbstractFunctionGraph)
    assert not isinstance(node, AbstractFunctionGraph)


def test_steps_of_a_graph_that_are_not_its_own():
    own = graph()
    [node] = [node for node in own.apply_nodes if str(node.op) == "Exp"]
    for step in (
        lambda: own.import_var(x),
        lambda: own.import_node(node),
        lambda: own.add_client(own.inputs[0], (node, 0)),
        lambda: own.remove_client(own.inputs[0], (node, 0)),
    ):
        with pytest.raises(NotImplementedError, match="use "):
            step()


def test_classes_with_props():
    class Point(MetaObject):
        __props__ = ("x", "y")

        def __init__(self, x, y):
            self.x, self.y = x, y

    class Other(MetaObject):
        __props__ = ()

    assert Point(1, 2) == Point(1, 2) and Point(1, 2) != Point(2, 1) and Point(1, 2) != 3
    assert {Point(1, 2): "a"}[Point(1, 2)] == "a" and Point(1, 2)._props() == (1, 2)
    assert Point(1, 2)._props_dict() == {"x": 1, "y": 2} and str(Other()) == "Other"
    with pytest.raises(TypeError, match="expected a tuple of names"):
        MetaType("Wrong", (), {"__props__": "x"})
    assert issubclass(MethodNotDefined, Exception)


def test_dicts_with_any_keys():
    known = AssocList()
    known["a"] = 1
    known[[1]] = 2
    known[[1]] = 3
    assert known["a"] == 1 and known[[1]] == 3 and known.get([2], 4) == 4 and known["b"] is None
    assert "AssocList" in repr(known)
    del known[[1]]
    assert known[[1]] is None and known.discard("a") and not known.discard("a")
    with pytest.raises(KeyError):
        del known[[1]]
    known[[1]] = 2
    known.clear()
    assert known[[1]] is None

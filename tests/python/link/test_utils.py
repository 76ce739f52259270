"""bitale.link.utils: cells, thunks in a row, graphs as texts of Python functions."""

import inspect
import sys

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale.graph.fg import FunctionGraph
from bitale.link.utils import (
    compile_function_src,
    fgraph_to_python,
    gc_helper,
    get_destroy_dependencies,
    get_name_for_object,
    map_storage,
    raise_with_op,
    register_thunk_trace_excepthook,
    streamline,
    unique_name_generator,
)


def graph_of_two():
    x = pt.dvector("x")
    graph = FunctionGraph([x], [pt.exp(x), pt.exp(x).sum(), pt.constant(2.0)])
    return graph, graph.toposort()


def test_map_storage():
    graph, order = graph_of_two()
    inputs, outputs, cells = map_storage(graph, order)
    assert inputs == [[None]] and outputs == [[None], [None], [2.0]]
    assert cells[graph.inputs[0]] is inputs[0] and cells[graph.outputs[1]] is outputs[1]
    given, results = [[1.0]], [[None], [None], [None]]
    inputs, outputs, cells = map_storage(graph, order, given, results, {})
    assert inputs[0] is given[0] and all(a is b for a, b in zip(outputs, results))
    known = {graph.inputs[0]: [5.0]}
    assert map_storage(graph, order, storage_map=known)[0][0] is known[graph.inputs[0]]
    with pytest.raises(ValueError, match="expected 1 cells for the inputs, got 2"):
        map_storage(graph, order, [[None], [None]])
    with pytest.raises(ValueError, match="two cells"):
        map_storage(graph, order, [[None]], storage_map={graph.inputs[0]: [None]})


def test_gc_helper():
    graph, (exp, total) = graph_of_two()
    computed, last_user = gc_helper([exp, total])
    assert computed == {exp.outputs[0], total.outputs[0]}
    assert last_user == {graph.inputs[0]: exp, exp.outputs[0]: total}


def test_streamline():
    graph, order = graph_of_two()
    _, outputs, cells = map_storage(graph, order, [[np.zeros(2)]])
    ran = []

    def thunk_of(node):
        def thunk():
            ran.append(node)
            cells[node.outputs[0]][0] = len(ran)

        return thunk

    thunks = [thunk_of(node) for node in order]
    emptied = [["old"]]
    run = streamline(graph, thunks, order, no_recycling=emptied, output_storage=outputs)
    assert run() == [1, 2, 2.0] and ran == order and emptied == [[None]]
    freed = [[], [cells[order[0].outputs[0]]]]
    run = streamline(graph, thunks, order, post_thunk_old_storage=freed, output_storage=outputs)
    assert run() == [None, 4, 2.0]
    with pytest.raises(ValueError, match="as many thunks"):
        streamline(graph, thunks[:1], order, output_storage=outputs)
    for nice in (True, False):
        fails = streamline(
            graph, [lambda: 1 / 0] * 2, order, nice_errors=nice, output_storage=outputs
        )
        with pytest.raises(ZeroDivisionError) as caught:
            fails()
        assert hasattr(caught.value, "__op_instance__") is nice


def test_raise_with_op():
    graph, order = graph_of_two()

    def thunk():
        raise KeyError("mine")

    thunk.inputs = [[np.zeros((2, 3))]]
    with pytest.raises(KeyError, match="mine") as caught:
        try:
            thunk()
        except KeyError:
            raise_with_op(graph, order[1], thunk)
    error = caught.value
    assert error.__op_instance__ is order[1] and error.__applynode_index__ == 1
    assert "test_utils.py" in error.__thunk_trace__
    if hasattr(error, "add_note"):
        for part in ("Sum{axes=None}", "(2, 3)", "TensorType(float64", "test_utils.py"):
            assert part in error.__notes__[0]


def test_excepthook(monkeypatch, capsys):
    monkeypatch.setattr(sys, "excepthook", lambda *_: None)
    register_thunk_trace_excepthook(sys.stdout)
    error = ValueError("mine")
    error.__thunk_trace__ = "model.py:3"
    sys.excepthook(ValueError, error, None)
    sys.excepthook(ValueError, ValueError("other"), None)
    assert capsys.readouterr().out == "The node was built at model.py:3\n"


def test_destroy_dependencies():
    x = pt.dvector("x")
    f = bt.function([x], pt.sqrt(pt.exp(x) + 1.0) * 2, mode=bt.Mode("vm", "fast_run"))
    assert set(get_destroy_dependencies(f.fgraph)) <= f.fgraph.apply_nodes


def test_compiled_sources_are_found():
    f = compile_function_src("def f(x):\n    return x / zero\n", "f", {"zero": 0})
    assert f.__source__ == inspect.getsource(f) and "x / zero" in f.__source__
    g = compile_function_src("def g():\n    return 3\n", "g", local_env={})
    assert g() == 3 and inspect.getsource(f) != inspect.getsource(g)


def test_names():
    class SomeOp:
        pass

    x = pt.dvector("1x")
    assert get_name_for_object(x) == "tensor_variable" == get_name_for_object(pt.dscalar("print"))
    assert get_name_for_object(SomeOp()) == "some_op" and get_name_for_object(SomeOp) == "some_op"
    assert get_name_for_object(lambda: 0) == "function"
    name = unique_name_generator(["blah"])
    first, second = pt.dscalar("blah"), pt.dscalar("blah_1")
    assert name(first) == "blah_1" and name(second) == "blah_1_1" and name(first) == "blah_1"
    assert name(pt.dscalar("blah")) == "blah_2"
    plain = unique_name_generator()
    q = pt.dvector()
    assert plain(q) == "tensor_variable"
    assert plain(q, force_unique=True) == "tensor_variable_1" == plain(q)


def numpy_op(op, **kwargs):
    return {"Exp": np.exp, "Add": np.add}.get(str(op)) or (lambda x: x.sum())


def test_fgraph_to_python():
    x, y = pt.dvector("x"), pt.dvector("y")
    called = []

    def convert(op, node, storage_map, unique_name, greeting):
        assert node.op == op and greeting == "hi" and unique_name(node.outputs[0])
        called.append(str(op))
        return numpy_op(op)

    graph = FunctionGraph([x, y], [pt.exp(x + y), x + y, x], clone=False)
    f = fgraph_to_python(graph, convert, greeting="hi", fgraph_name="mine")
    first, second, third = f(np.zeros(2), np.ones(2))
    assert (
        first.tolist() == [np.e] * 2 and second.tolist() == [1.0, 1.0] and third.tolist() == [0, 0]
    )
    assert called == ["Add", "Exp"]
    assert inspect.getsource(f).startswith("def mine(x, y):") and "# Add(x, y)" in f.__source__
    assert list(inspect.signature(f).parameters) == ["x", "y"]


def test_constants_and_known_values():
    x = pt.dvector("x")
    total = x + pt.constant([1.0])
    graph = FunctionGraph([x], [total], clone=False)
    assert fgraph_to_python(graph, numpy_op, squeeze_output=True)(np.ones(1)).tolist() == [2.0]
    constant = total.owner.inputs[1]
    cells = {constant: [np.array([5.0])]}
    given = []

    def convert(value, variable, storage, **kwargs):
        given.append((value.tolist(), variable, storage is cells[variable]))
        return value * 10

    f = fgraph_to_python(graph, numpy_op, storage_map=cells, type_conversion_fn=convert)
    assert f(np.ones(1))[0].tolist() == [51.0] and given == [([5.0], constant, True)]
    alone = FunctionGraph([], [constant], clone=False)
    assert fgraph_to_python(alone, numpy_op)()[0].tolist() == [1.0]


def test_several_outputs_of_a_node():
    x = pt.dmatrix("x")
    u, s, v = pt.linalg.svd(x)
    f = fgraph_to_python(FunctionGraph([x], [s, u]), lambda op, **_: np.linalg.svd)
    assert f(np.eye(2))[0].tolist() == [1.0, 1.0]

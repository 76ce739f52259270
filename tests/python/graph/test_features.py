"""Features of FunctionGraphs: those of the library, and those written in Python."""

import gc
import weakref

import pytest

import bitale as bt
import bitale.tensor as pt
from bitale.graph import features as ft
from bitale.graph.fg import Output


def graph_of(*features):
    x, y = pt.dvectors("x", "y")
    graph = bt.FunctionGraph([x, y], [pt.exp(x) + y, pt.sin(y)], features=list(features))
    return graph, *graph.inputs


class Recorder(ft.Bookkeeper):
    def __init__(self):
        super().__init__()
        self.calls = []

    def on_attach(self, fgraph):
        self.calls.append(("attach", fgraph))
        super().on_attach(fgraph)

    def on_detach(self, fgraph):
        self.calls.append(("detach", fgraph))

    def on_import(self, fgraph, node, reason):
        self.calls.append(("import", node, reason))

    def on_prune(self, fgraph, node, reason):
        self.calls.append(("prune", node, reason))

    def on_change_input(self, fgraph, node, i, var, new_var, reason):
        self.calls.append(("change", node, i, var, new_var, reason))

    def on_validate(self, fgraph):
        self.calls.append(("validate",))


def test_callbacks():
    recorder = Recorder()
    graph, x, y = graph_of(recorder)
    assert recorder.calls[0] == ("attach", graph)
    assert [call[0] for call in recorder.calls[1:]] == ["import"] * 3
    assert {call[1] for call in recorder.calls[1:]} == graph.apply_nodes
    recorder.calls.clear()
    old, new = graph.outputs[1], pt.cos(y)
    graph.replace(old, new, reason="why")
    _, node, *change = recorder.calls.pop(1)
    assert node.op == Output(1) and change == [0, old, new, "why"]
    assert recorder.calls == [
        ("import", new.owner, "why"),
        ("prune", old.owner, "why"),
        ("validate",),
    ]
    add = graph.outputs[0].owner
    recorder.calls.clear()
    graph.change_node_input(add, 1, x)
    assert recorder.calls[0] == ("change", add, 1, y, x, "user")
    recorder.calls.clear()
    assert graph.features == [recorder]
    graph.remove_feature(recorder)
    graph.remove_feature(recorder)
    assert recorder.calls == [("detach", graph)] and graph.features == []


class Refusing(ft.Feature):
    def __init__(self, callback, error):
        super().__init__()
        self.callback, self.error = callback, error

    def refuse(self, callback):
        if callback == self.callback:
            raise self.error

    def on_import(self, fgraph, node, reason):
        self.refuse("on_import")

    def on_prune(self, fgraph, node, reason):
        self.refuse("on_prune")

    def on_change_input(self, fgraph, node, i, var, new_var, reason):
        self.refuse("on_change_input")

    def on_validate(self, fgraph):
        self.refuse("on_validate")


@pytest.mark.parametrize("callback", ["on_import", "on_prune", "on_change_input", "on_validate"])
def test_exceptions_of_callbacks_undo_the_change(callback):
    graph, x, y = graph_of(Refusing(callback, KeyError("mine")))
    before = bt.pprint(graph.outputs[1])
    with pytest.raises(KeyError) as caught:
        graph.replace(graph.outputs[1], pt.cos(x), reason="rule")
    if hasattr(caught.value, "add_note"):
        assert "Refusing" in caught.value.__notes__[0] and callback in caught.value.__notes__[0]
    assert bt.pprint(graph.outputs[1]) == before and len(graph) == 3
    graph.check_integrity()


def test_rejections_name_feature_reason_and_location():
    graph, x, y = graph_of(Refusing("on_validate", bt.InconsistencyError("not this")))
    with pytest.raises(bt.InconsistencyError) as caught:
        graph.replace(graph.outputs[1], pt.cos(x), reason="my_rule")
    for part in ("not this", "Refusing", "my_rule", "test_features.py"):
        assert part in str(caught.value)
    assert not graph.consistent()
    with pytest.raises(bt.InconsistencyError, match="not this"):
        graph.validate()


def test_callbacks_may_not_change_the_graph():
    class GraphChanger(ft.Feature):
        def on_validate(self, fgraph):
            fgraph.replace(fgraph.outputs[0], fgraph.inputs[0])

    graph, x, y = graph_of(GraphChanger())
    with pytest.raises(bt.InternalError):
        graph.replace(graph.outputs[1], pt.cos(y))
    assert len(graph) == 3
    graph.check_integrity()


def test_orderings():
    class Order(ft.Feature):
        def orderings(self, fgraph):
            return {first: [second]}

    graph, x, y = graph_of()
    first, second = graph.outputs[0].owner, graph.outputs[1].owner
    assert graph.toposort()[-1] == second
    graph.attach_feature(Order())
    assert graph.toposort()[-1] == first

    class Wrong(ft.Feature):
        def orderings(self, fgraph):
            return [(1, [2])]

    graph.attach_feature(Wrong())
    with pytest.raises(TypeError, match="orderings"):
        graph.toposort()


def test_already_there():
    class Single(ft.Feature):
        def on_attach(self, fgraph):
            if any(isinstance(feature, Single) for feature in fgraph.features):
                raise ft.AlreadyThere("one is enough")

    graph, x, y = graph_of(Single(), Single(), ft.NodeFinder(), ft.NodeFinder())
    assert len(graph.features) == 2
    recorder = Recorder()
    graph.attach_feature(recorder)
    graph.attach_feature(recorder)
    graph.attach_feature(Recorder())  # another instance of the class is accepted
    assert len(graph.features) == 4
    with pytest.raises(TypeError):
        graph.attach_feature("no feature")


def test_provided_methods():
    class Counter(ft.Feature):
        provides = ("count",)

        def count(self, fgraph, factor):
            return factor * len(fgraph)

    graph, x, y = graph_of(Counter(), ft.History(), ft.NodeFinder())
    assert graph.count(2) == 6
    start = graph.checkpoint()
    exp = graph.outputs[0].owner.inputs[0].owner
    assert graph.get_nodes(exp.op) == [exp] and len(graph.get_nodes("Elemwise")) == 3
    graph.replace(graph.outputs[0], x)
    graph.replace(graph.outputs[1], x)
    assert len(graph) == 0 and graph.get_nodes(exp.op) == []
    graph.revert(start)
    assert len(graph) == 3 and graph.get_nodes(exp.op) == [exp]
    graph.check_integrity()
    with pytest.raises(ValueError, match="checkpoint"):
        graph.revert(10)
    with pytest.raises(AttributeError, match="no feature"):
        graph.no_such_thing


def test_full_history():
    steps = []
    film = ft.FullHistory(lambda: steps.append(1))
    with pytest.raises(ValueError):
        film.start()
    graph, x, y = graph_of(film)
    texts = [bt.pprint(graph.outputs[0])]
    for reason, expression in {"one": pt.cos(x) * y, "two": pt.cos(x), "three": x}.items():
        graph.replace(graph.outputs[0], expression, reason=reason)
        texts.append(bt.pprint(graph.outputs[0]))
    assert len(film) == 4 and film.position == 3 and film.reason(2) == "two"
    for state in (0, 3, 1, 2):
        film.goto(state)
        assert bt.pprint(graph.outputs[0]) == texts[state]
        graph.check_integrity()
    assert film.prev() is graph and film.position == 1
    assert film.next() is graph and film.position == 2
    film.end()
    assert film.next() is graph and film.position == 3
    film.start()
    film.prev()
    assert film.position == 0 and bt.pprint(graph.outputs[0]) == texts[0] and steps
    with pytest.raises(IndexError):
        film.goto(4)


def test_validator_and_watchers():
    validator, tracker, lines = ft.Validator(), ft.ChangeTracker(), []
    graph, x, y = graph_of(validator, tracker, ft.PrintListener(lines.append))

    def at_most_three(fgraph):
        if len(fgraph) > 3:
            raise bt.InconsistencyError("too large")

    validator.add("size", at_most_three)
    with pytest.raises(bt.InconsistencyError) as caught:
        graph.replace(graph.outputs[1], pt.cos(pt.cos(y)), reason="grow")
    for part in ("too large", "size", "validator", "grow"):
        assert part in str(caught.value)
    assert len(graph) == 3
    tracker.reset()
    graph.replace(graph.outputs[1], pt.cos(y))
    assert tracker.changed and tracker.nb_imported == 1
    assert any("importing: Cos" in line for line in lines)
    with pytest.raises(ValueError, match="size"):
        validator.add("size", at_most_three)
    with pytest.raises(TypeError):
        validator.add("other", 3)


def test_replace_validate():
    graph, x, y = graph_of()
    exp = graph.outputs[0].owner.inputs[0]
    graph.replace_validate(exp, pt.cos(x), reason="test")
    assert "cos(x)" in bt.pprint(graph.outputs[0])
    sin = graph.outputs[1].owner
    with pytest.raises(ft.ReplacementDidNotRemoveError, match="sin|Sin"):
        graph.replace_all_validate_remove([(graph.outputs[0], x)], [sin], reason="test")
    assert len(graph) == 3
    graph.replace_all_validate_remove([(sin.out, x)], [sin], reason="test")
    graph.replace_all_validate([(graph.outputs[0], y)], reason="test")
    assert len(graph) == 0
    with pytest.raises(TypeError):
        graph.replace_all_validate_remove([(x, y)], ["no node"], reason="test")


def test_dispatching_and_stack_traces():
    seen = []
    feature = ft.DispatchingFeature(on_import=lambda fgraph, node, reason: seen.append(reason))
    traces = ft.CheckStackTraceFeature()
    graph, x, y = graph_of(feature, traces)
    graph.replace(graph.outputs[1], pt.cos(y), reason="this")
    assert seen == ["this"] and traces.missing == 0
    with pytest.raises(ValueError):
        ft.CheckStackTraceFeature("maybe")


def test_destroy_handler_and_supervisor():
    x = pt.dvector("x")
    out = pt.sqrt(pt.exp(x) + 1.0)
    f = bt.function([x], out, mode=bt.Mode("vm", "fast_run"))
    handler = [feature for feature in f.fgraph.features if isinstance(feature, ft.DestroyHandler)][
        0
    ]
    assert handler.has_destroyers(f.fgraph)
    graph = bt.FunctionGraph([x], [out])
    graph.attach_feature(ft.DestroyHandler())
    graph.attach_feature(ft.Supervisor(graph.inputs))
    assert not graph.has_destroyers() and graph.destroyers(graph.inputs[0]) == []
    graph.attach_feature(ft.NoOutputFromInplace([0]))
    graph.attach_feature(ft.NoOutputInplaceOnInput([0]))
    with pytest.raises(IndexError):
        bt.FunctionGraph([x], [out]).attach_feature(ft.NoOutputFromInplace([7]))
    with pytest.raises(TypeError):
        ft.Supervisor([1, "x"])


def test_features_of_a_compiled_function_are_fixed():
    x = pt.dvector("x")
    f = bt.function([x], pt.exp(x) + 1)
    with pytest.raises(TypeError, match="clone"):
        f.fgraph.attach_feature(ft.History())


def test_a_feature_that_references_its_graph_does_not_leak():
    class Referencing(ft.Feature):
        def on_attach(self, fgraph):
            self.fgraph = fgraph

    graph, x, y = graph_of(Referencing())
    assert graph.features[0].fgraph is graph
    reference = weakref.ref(graph)
    del graph
    gc.collect()
    assert reference() is None


def test_shapes():
    x, y = pt.dmatrix("x"), pt.dvector("y")
    graph = bt.FunctionGraph([x, y], [pt.exp(x @ y), y[1:]], features=[ft.ShapeFeature()])
    first, second = graph.outputs
    (length,) = graph.shape_tuple(first)
    assert bt.pprint(length) == bt.pprint(graph.get_shape(first, -1))
    assert graph.same_shape(first, graph.inputs[0], 0, 0) and not graph.same_shape(
        second, graph.inputs[1]
    )
    assert graph.same_shape(graph.inputs[1], graph.inputs[1])
    graph.replace(first, graph.inputs[1])
    assert graph.same_shape(graph.outputs[0], graph.inputs[1])
    with pytest.raises(IndexError):
        graph.get_shape(second, 1)
    with pytest.raises(ValueError, match="not in the graph"):
        graph.shape_tuple(x)

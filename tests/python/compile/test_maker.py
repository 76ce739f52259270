"""The steps of function(), and modes that replace a step."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale.compile import Container, FunctionMaker, std_fgraph


class Doubles(FunctionMaker):
    """Doubles the first output, and records its calls."""

    seen: list = []

    def prepare_fgraph(self, fgraph):
        super().prepare_fgraph(fgraph)
        Doubles.seen.append(("prepared", len(fgraph.outputs)))
        fgraph.replace(fgraph.outputs[0], fgraph.outputs[0] * 2)

    def link(self, fgraph):
        Doubles.seen.append(("linked", len(fgraph.outputs)))
        super().link(fgraph)


class DoublingMode(bt.Mode):
    function_maker = Doubles


def test_std_fgraph():
    x, n, s = pt.dvector("x"), pt.dscalar("n"), bt.shared(1.0, "s")
    graph, updates = std_fgraph([x, bt.In(n, value=0.0, update=n + 1)], [x * s, x + n])
    assert (
        [v.name for v in graph.inputs[:2]] == ["x", "n"]
        and len(graph.inputs) == 4
        and len(graph.outputs) == 3
    )
    assert updates == {2: [v.name for v in graph.inputs].index("n", 2)}
    assert graph.inputs[0] is not x
    graph.replace(graph.outputs[0], graph.inputs[0])
    assert len(std_fgraph([x], [x])[0].apply_nodes) == 0
    for wrong, error in (
        (lambda: std_fgraph([], n), bt.MissingInputError),
        (lambda: std_fgraph([x, n], x), bt.UnusedInputError),
        (lambda: std_fgraph(x, x), TypeError),
        (lambda: std_fgraph([x], "abc"), TypeError),
        (lambda: std_fgraph([x], x, accept_inplace="yes"), TypeError),
    ):
        with pytest.raises(error):
            wrong()


def test_step_by_step(mode):
    x, s = pt.dvector("x"), bt.shared(2.0, "s")
    maker = FunctionMaker([x], {"y": pt.log(1 + x * s)}, mode, updates={s: s + 1}, name="f")
    assert [given.variable for given in maker.inputs] == [x] and len(maker.outputs) == 1
    assert maker.linker == bt.get_mode(mode).linker and maker.update_mapping == {1: 1}
    graph = maker.fgraph
    graph.replace(graph.outputs[0], graph.outputs[0] + 1)
    f = maker.create()
    assert f.name == "f" and f.maker is maker and f.maker.fgraph is graph
    np.testing.assert_allclose(f([0.0])["y"], [1.0])
    assert s.get_value() == 3
    with pytest.raises(TypeError, match="compiled function"):
        graph.replace(graph.outputs[0], graph.inputs[0])
    assert maker.create()([0.0])["y"].tolist() == [1.0]
    assert "FunctionMaker" in repr(maker)


def test_without_rewriting():
    x = pt.dvector("x")
    assert len(FunctionMaker([x], (x + 0) * 1, no_fgraph_prep=True).fgraph.apply_nodes) > 0
    maker = FunctionMaker([x], (x + 0) * 1)
    assert len(maker.fgraph.apply_nodes) == 0
    assert maker.create()([3.0]) == 3


def test_storage(mode):
    x, n = pt.dscalar("x"), pt.dscalar("n")
    s = bt.shared(100.0, "s")
    maker = FunctionMaker([bt.In(x, value=1.0), bt.In(n, value=0.0, update=n + x)], n, mode)
    f = maker.create()
    f(), f()
    assert f["n"] == 2 and maker.create()["n"] == 2
    g = maker.create([10.0, None])
    assert g["x"] == 10 and f["x"] == 1
    g()
    assert f["n"] == g["n"] == 12
    own = maker.create([None, 5.0])
    assert own() == 5 and own["n"] == 6 and f["n"] == 12
    for held in (s, Container(s)):
        shares = maker.create([2.0, held])
        before = s.get_value()
        assert shares() == before and s.get_value() == before + 2
    again = pickle.loads(pickle.dumps(own))
    assert again() == 6 and own["n"] == 6
    assert own.copy()["n"] == 6
    for wrong, error in (
        ([1.0], ValueError),
        ([1.0, 2.0, 3.0], ValueError),
        (["abc", None], TypeError),
        ([None, bt.shared(np.zeros(2))], TypeError),
    ):
        with pytest.raises(error):
            maker.create(wrong)
    assert f["n"] == 12 and f["x"] == 1


def test_implicit_storage(mode):
    x, held, other = (
        pt.dvector("x"),
        bt.shared(np.ones(2), "held"),
        bt.shared(np.full(2, 3.0), "other"),
    )
    n = pt.dvector("n")
    maker = FunctionMaker([x, bt.In(n, value=held, update=n + x)], n * x, mode)
    assert maker.create()([1.0, 2.0]).tolist() == [1, 2]
    assert maker.create([None, other])([1.0, 2.0]).tolist() == [3, 6]
    assert held.get_value().tolist() == [2, 3] and other.get_value().tolist() == [4, 5]


@pytest.mark.parametrize(
    "made",
    [
        lambda: DoublingMode("jit", "fast_run"),
        lambda: bt.get_mode("FAST_RUN").with_function_maker(Doubles),
        lambda: bt.Mode("vm", "None").with_function_maker(Doubles).including("stabilize"),
    ],
)
def test_a_mode_with_a_function_maker(made):
    x, s = pt.dvector("x"), bt.shared(1.0, "s")
    Doubles.seen.clear()
    mode = made()
    f = bt.function([x], pt.exp(x) * s, updates={s: s + 1}, mode=mode)
    assert Doubles.seen == [("prepared", 2), ("linked", 2)]
    assert f([0.0]).tolist() == [2] and f([0.0]).tolist() == [4] and s.get_value() == 3
    assert (
        isinstance(f.maker, Doubles) and f.mode is f.maker.mode and f.mode.function_maker is Doubles
    )
    assert f.copy()([0.0]).tolist() == [6]
    assert pickle.loads(pickle.dumps(f))([0.0]).tolist() == [8]
    assert (x + 1).eval({x: [1.0]}, mode=mode).tolist() == [4]


def test_a_user_defined_maker_with_debugmode():
    x = pt.dvector("x")
    mode = bt.compile.DebugMode(native_linkers=["jit"]).with_function_maker(Doubles)
    f = bt.function([x], pt.log(x), mode=mode)
    assert f([1.0]) == 0
    with pytest.raises(bt.compile.InvalidValueError):
        f([0.0])


def test_misuse_of_makers():
    with pytest.raises(TypeError, match="function_maker"):
        bt.get_mode("FAST_RUN").with_function_maker(3)

    class Fails(FunctionMaker):
        def prepare_fgraph(self, fgraph):
            raise RuntimeError("no")

    x = pt.dvector("x")
    with pytest.raises(RuntimeError, match="no"):
        bt.function([x], x, mode=bt.get_mode("FAST_RUN").with_function_maker(Fails))

    class Breaks(FunctionMaker):
        def prepare_fgraph(self, fgraph):
            fgraph.replace(fgraph.outputs[0], pt.dmatrix("z"))

    with pytest.raises((TypeError, bt.MissingInputError)):
        bt.function([x], x + 1, mode=bt.get_mode("FAST_RUN").with_function_maker(Breaks))


def test_makers_in_pickles():
    x, s = pt.dvector("x"), bt.shared(2.0, "s")
    maker = pickle.loads(pickle.dumps(FunctionMaker([x], x * s, name="g")))
    f = maker.create()
    assert f([1.0]).tolist() == [2] and f.name == "g"


def test_functions_in_pickles_may_be_omitted():
    x = pt.dvector("x")
    stored = pickle.dumps({"f": bt.function([x], x + 1), "x": x})
    with bt.config.change_flags(unpickle_function=False):
        found = pickle.loads(stored)
        assert found["f"] is None and found["x"].name == "x"
    assert pickle.loads(stored)["f"]([1.0]).tolist() == [2]


def test_function_runs_no_python_of_the_package():
    """One crossing into the library and one out of it; a draw has a default update. In a new process, since rewriters that
    other tests register run Python."""
    program = """
import sys
import bitale as bt, bitale.tensor as pt
x, s = pt.dvector("x"), bt.shared(1.0, "s")
draw = pt.random.normal(size=2)
outputs = {"y": pt.exp(x).sum() * s + draw}
arguments = [bt.In(x, value=[1.0])]
seen = []
def note(frame, event, argument):
    if event == "call" and "bitale" in frame.f_code.co_filename:
        seen.append(frame.f_code.co_name)
sys.setprofile(note)
f = bt.function(arguments, outputs, updates={s: s + 1}, name="f")
sys.setprofile(None)
print(seen, f()["y"].shape, s.get_value())
"""
    ran = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert ran.stdout.strip() == "[] (2,) 2.0", ran.stderr

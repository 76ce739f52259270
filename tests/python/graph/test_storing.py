"""Pickles of graphs and functions, in the same and in another process."""

import copy
import importlib
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale.graph import storing


def again(thing, protocol=pickle.HIGHEST_PROTOCOL):
    return pickle.loads(pickle.dumps(thing, protocol))


def same(a, b):
    return bt._core.equal_computations(
        [a], [b], bt.graph.graph_inputs([a]), bt.graph.graph_inputs([b])
    )


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_graphs(protocol):
    x, i = pt.dmatrix("x"), pt.lvector("i")
    y = pt.exp(x[1:, ::2]).sum(axis=0) + pt.arange(3)[i].prod()
    y.name = "y"
    g = bt.grad((pt.concatenate([y, y * 2]) ** 2).sum(), x)
    stored = again([g, y, x], protocol)
    assert (
        stored[1].name == "y"
        and stored[2].name == "x"
        and same(stored[0], g)
        and same(stored[1], y)
    )
    assert stored[2] in bt.graph.graph_inputs([stored[0]])


def test_leaves():
    x = pt.tensor("x", dtype="float32", shape=(2, None))
    assert again(x).type == x.type and again(x) is not x and again(x.type) == x.type
    c = pt.constant(np.array([1, 2], "int8"), name="c")
    assert (
        again(c).name == "c"
        and again(c).dtype == "int8"
        and again(c).data.tolist() == [1, 2]
        and again(c).type == c.type
    )
    s = bt.shared(np.ones(2), "s", shape=(2,))
    t = again(s)
    t.set_value([5.0, 6.0])
    assert s.get_value().tolist() == [1, 1] and t.type == s.type and t.name == "s"
    op = pt.exp(x).owner.op
    assert again(op) == op
    for anonymous in (pt.dscalar(), pt.constant(1.0)):
        assert again(anonymous).name is None


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]])
def test_identity_within_a_pickle(order):
    x = pt.dvector("x")
    y = x * 2
    z = y + 1
    things = [x, y, z, z.owner]
    stored = again([things[k] for k in order] + [y])
    x, y, z, node = (stored[order.index(k)] for k in range(4))
    assert z.owner is node and node.inputs[0] is y and y.owner.inputs[0] is x and stored[4] is y
    assert again({"first": y, "second": y})["first"].owner is not y.owner


def test_several_outputs_and_shared_variables():
    s = bt.shared(np.zeros(2), "s")
    a, b = s + 1, s * 2
    first, second, held = again((a, b, s))
    held.set_value([3.0, 4.0])
    assert (
        first.eval().tolist() == [4, 5]
        and second.eval().tolist() == [6, 8]
        and s.get_value().tolist() == [0, 0]
    )


def test_a_long_chain():
    x = pt.dscalar("x")
    y = x
    for _ in range(100_000):
        y = y + 1
    stored, leaf = again((y, x))
    assert bt._core.node_count(stored) == 100_000 and bt.graph.graph_inputs([stored]) == [leaf]


@pytest.mark.parametrize("step", [1, -1])
def test_many_variables_that_depend_on_each_other(step):
    """The work is proportional to the number of nodes, not to the sum of the sizes of all subgraphs."""
    chain = [pt.dscalar("x")]
    for _ in range(3_000):
        chain.append(pt.exp(chain[-1]))
    stored = again(chain[::step])[::step]
    assert all(after.owner.inputs[0] is before for before, after in zip(stored, stored[1:]))


def test_every_elementwise_function_and_reduction():
    x = pt.dmatrix("x")
    for y in (
        pt.sum(x, axis=1),
        pt.max(x),
        pt.argmax(x, axis=0),
        pt.cumsum(x, axis=1),
        x.T,
        x.reshape((-1,)),
        pt.dot(x, x),
    ):
        assert same(again(y), y)


def test_function_graphs(mode):
    x, s = pt.dvector("x"), bt.shared(np.ones(3), "s")
    graph = bt.function([x], [pt.exp(x) * 2 + s, x.sum()], mode=mode).fgraph
    stored = again(graph)
    stored.check_integrity()
    assert len(stored) == len(graph) and [v.name for v in stored.inputs] == [
        v.name for v in graph.inputs
    ]
    assert bt._core.equal_computations(stored.outputs, graph.outputs, stored.inputs, graph.inputs)
    stored.replace(stored.outputs[1], stored.outputs[1] + 1)


def test_modes():
    for mode in (
        bt.get_mode("FAST_RUN").excluding("fusion"),
        bt.Mode("vm", "fast_compile").including("stabilize"),
    ):
        assert repr(again(mode)) == repr(mode)
    with pytest.raises(NotImplementedError, match="own"):
        pickle.dumps(bt.get_mode("FAST_RUN").register((lambda graph: None, 1.0)))


def test_functions(mode):
    x, y, n = pt.dvector("x"), pt.dscalar("y"), pt.dscalar("n")
    s = bt.shared(np.ones(2), "s")
    f = bt.function(
        [x, bt.In(y, value=2.0), bt.In(n, name="count", value=0.0, update=n + 1, implicit=True)],
        {"a": x * y + n, "b": s.sum()},
        updates={s: s + x},
        mode=mode,
        name="step",
    )
    f([1.0, 2.0])
    g = again(f)
    assert (
        g.name == "step"
        and repr(g.mode) == repr(f.mode)
        and g["count"] == 1
        and g["s"].tolist() == [2, 3]
    )
    result = g([1.0, 1.0])
    assert result["a"].tolist() == [3, 3] and result["b"] == 5
    assert (
        f["count"] == 1
        and f["s"].tolist() == [2, 3]
        and g["count"] == 2
        and g["s"].tolist() == [3, 4]
    )
    both = again([f, s, f])
    both[0]([1.0, 1.0])
    assert both[1].get_value().tolist() == [3, 4] and both[0] is both[2]


def test_deep_copies_have_separate_state():
    s, n = bt.shared(0.0, "s"), pt.dscalar("n")
    f = bt.function([bt.In(n, value=0.0, update=n + 1)], n, updates={s: s + 1})
    g = copy.deepcopy(f)
    assert g() == 0 and g() == 1 and g["s"] == 2 and f["n"] == 0 and s.get_value() == 0


LOADS = """
import pickle, sys
f = pickle.load(open(sys.argv[1], "rb"))
print([float(v) for v in f([1.0, 2.0])], float(f["s"]), f.name)
"""


def test_a_function_in_a_fresh_process(tmp_path):
    x, s = pt.dvector("x"), bt.shared(10.0, "s")
    f = bt.function([x], (x * s).sum(keepdims=True), updates={s: s + 1}, name="scaled")
    (tmp_path / "f.pickle").write_bytes(pickle.dumps(f))
    (tmp_path / "load.py").write_text(LOADS)
    done = subprocess.run(
        [sys.executable, "load.py", "f.pickle"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(bt.__file__).parents[1])},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["[30.0]", "11.0", "scaled"] and s.get_value() == 10


def test_damaged_pickles():
    whole = pickle.dumps(pt.exp(pt.dvector("x")).sum())
    for end in range(0, len(whole), 7):
        with pytest.raises((EOFError, pickle.UnpicklingError)):
            pickle.loads(whole[:end])
    for wrong, error, message in (
        (b"Elemwise", KeyError, "no op called xxxxxxxx"),
        (b"CAReduce", KeyError, "no op called xxxxxxxx"),
        (b"float64", TypeError, 'unknown dtype "xxxxxxx"'),
    ):
        with pytest.raises(error, match=message):
            pickle.loads(whole.replace(wrong, b"x" * len(wrong)))


# y = (x + [1, 2]).sum(axis=0) as Bitale 0.1 stored it: no number of the format, and numbers for the kinds of attributes.
def table_of_0_1():
    x = pt.dvector("x")
    add = (x + 1.0).owner.op
    name, attributes = bt._core.stored_op(pt.sum(x, axis=0).owner.op)
    kinds = ["bool", "int", "float", "str", "dtype", "ints", "object"]
    total = bt._core.op_of_stored(
        name, [(attribute, kinds.index(kind), value) for attribute, kind, value in attributes]
    )
    leaves = [x, pt.constant(np.array([1.0, 2.0]))]
    return leaves, [add, total], [0, 1], [0, 1, None, (0, 0), None], {(1, 0): "y"}


def test_pickles_of_0_1_are_read():
    parts = table_of_0_1()
    [y] = storing._table(*parts).nodes[1].outputs
    assert y.name == "y" and bt.function([parts[0][0]], y)([10.0, 20.0]) == 33
    assert same(y, (parts[0][0] + parts[0][1]).sum(axis=0))


def test_kinds_of_attributes_are_stored_by_name():
    x = pt.dmatrix("x")
    name, attributes = bt._core.stored_op(pt.sum(x, axis=1).owner.op)
    assert ("axis", "ints", (1,)) in [tuple(each) for each in attributes]
    with pytest.raises(ValueError, match="of a kind that this version of Bitale does not have"):
        bt._core.op_of_stored(name, [("axis", "a kind of 2030", (1,))])


def test_a_later_format_is_refused():
    with pytest.raises(ValueError, match="this pickle has format 3, of a later version of Bitale"):
        storing._table(*table_of_0_1(), 3)


@pytest.mark.parametrize(
    "old, new",
    [
        ("scalar.own.ElemwiseOfOwn", "scalar.user_ops.ElemwiseOfUser"),
        ("tensor.unexported.SliceType", "tensor.pytensor_functions.SliceType"),
        ("tensor.unexported.NoneTypeT", "tensor.pytensor_functions.NoneTypeT"),
    ],
)
def test_classes_are_found_where_earlier_pickles_name_them(old, new):
    before, after = (path.rpartition(".") for path in (old, new))
    text = f"cbitale.{before[0]}\n{before[2]}\n."  # what pickle's first protocol stores of a class
    assert pickle.loads(text.encode()) is getattr(
        importlib.import_module(f"bitale.{after[0]}"), after[2]
    )

"""Traversal of graphs, copies and replacement, by the functions of PyTensor's graph modules."""

import pytest

import bitale as bt
import bitale.tensor as pt
from bitale.graph import basic, op, traversal


@pytest.fixture
def graph():
    x, y = pt.dscalars("x", "y")
    a = pt.exp(x)
    b = a * y
    return x, y, a, b, b + 2.0


def test_traversal(graph):
    x, y, a, b, z = graph
    up = lambda v: v.owner and v.owner.inputs  # noqa: E731
    assert list(traversal.walk([b], up)) == [b, a, y, x] and list(
        traversal.walk([b], up, bfs=False)
    ) == [b, y, a, x]
    assert dict(traversal.walk([b], up, return_children=True))[b] == [a, y]
    assert list(traversal.apply_ancestors([z])) == [z.owner, b.owner, a.owner]
    assert list(traversal.apply_ancestors([z], [b])) == [z.owner]
    assert traversal.apply_depends_on(z.owner, a.owner) and not traversal.apply_depends_on(
        a.owner, [z.owner, b.owner]
    )
    assert {x, y, a, b, z} <= set(traversal.vars_between([x, y], [z]))
    assert y in set(traversal.orphans_between([x], [z])) and y not in set(
        traversal.orphans_between([x, y], [z])
    )
    assert set(traversal.applys_between([a], [z])) == {b.owner, z.owner}
    assert traversal.io_toposort([a, y], [z]) == [b.owner, z.owner]
    clients = {}
    traversal.io_toposort([x, y], [z], clients=clients)
    assert clients[a] == [b] and clients[b] == [z]
    assert traversal.get_var_by_name([z], "y") == (y,)
    assert set(traversal.truncated_graph_inputs([z], [b])) >= {
        b
    } and x not in traversal.truncated_graph_inputs([z], [b])
    assert set(traversal.truncated_graph_inputs([b], [b, a])) == {b, a, y}
    assert traversal.truncated_graph_inputs([z]) == [z]


def test_traversal_of_deep_graphs():
    y = x = pt.dscalar("x")
    for _ in range(20_000):
        y = pt.exp(y)
    assert (
        len(traversal.io_toposort([x], [y]))
        == sum(1 for _ in traversal.apply_ancestors(y))
        == 20_000
    )
    assert len(basic.clone_get_equiv([x], [y])) == 40_001
    assert basic.as_string([x], [y])[0].count("Exp") == 20_000


def test_orders():
    deps = {"c": ["b"], "b": ["a"], "a": []}
    clients = {}
    assert traversal.general_toposort(["c"], deps.__getitem__, clients=clients) == ["a", "b", "c"]
    assert clients == {"b": ["c"], "a": ["b"]}
    assert list(traversal.walk_toposort(["c", "a"], deps.get)) == ["a", "b", "c"]
    with pytest.raises(ValueError, match="depends on itself"):
        list(traversal.walk_toposort(["c"], {**deps, "a": ["c"]}.get))
    with pytest.raises(ValueError, match="deps"):
        traversal.general_toposort(["c"], None)
    x = pt.dscalar("x")
    first, second = pt.exp(x), pt.sin(x)
    both = first + second
    order = traversal.toposort_with_orderings([both], orderings={first.owner: [second.owner]})
    assert order == [second.owner, first.owner, both.owner]
    with pytest.raises(ValueError, match="depends on itself"):
        traversal.io_toposort([x], [both], {first.owner: [both.owner]})


def test_copies(graph):
    x, y, a, b, z = graph
    inputs, outputs = bt.graph.clone([x, y], [z])
    assert inputs != [x, y] and basic.equal_computations(outputs, [z], inputs, [x, y])
    kept, again = bt.graph.clone([x, y], [z], copy_inputs=False)
    assert kept == [x, y] and again[0] is not z and basic.equal_computations(again, [z])
    memo = basic.clone_get_equiv([x, y], [z], memo={x: pt.dscalar("w")})
    assert (
        memo[x].name == "w"
        and memo[a].owner.inputs == [memo[x]]
        and memo[b.owner].outputs == [memo[b]]
    )
    s = bt.shared(1.0)
    assert basic.clone_get_equiv([x], [x * s], copy_orphans=False)[s] is s
    assert basic.as_string([x], [a + a]) == ["Add(*1 -> Exp(x), *1)"]
    with pytest.raises(TypeError):
        basic.clone_get_equiv([x], [z], colour="red")


def test_graphs_within_ops():
    x = pt.dscalar("x")
    inner = bt.compile.OpFromGraph([x], [pt.exp(x)])
    assert isinstance(inner, op.HasInnerGraph) and not isinstance(
        pt.exp(x).owner.op, op.HasInnerGraph
    )
    assert traversal.get_var_by_name([inner(pt.dscalar("other"))], "other")[0].name == "other"
    y = pt.dscalar("y")
    assert op.io_connection_pattern([x, y], [x * y, bt.gradient.disconnected_grad(x) + y]) == [
        [True, False],
        [True, True],
    ]

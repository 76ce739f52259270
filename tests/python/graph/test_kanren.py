"""Unification and relations of expressions, where the packages for them are installed."""

import importlib
import sys

import pytest

import bitale as bt
import bitale.tensor as pt
from bitale.graph import FunctionGraph, Op
from bitale.graph.rewriting.basic import EquilibriumGraphRewriter
from bitale.graph.rewriting.unify import ConstrainedVar, OpPattern, PatternVar
from bitale.graph.rewriting.utils import rewrite_graph

pytest.importorskip("kanren")
pytest.importorskip("etuples")

from cons import cons
from cons.core import ConsError
from etuples import etuple, etuplize
from etuples.core import ExpressionTuple
from kanren import conso, eq, run
from kanren.core import lall
from kanren.graph import mapo
from unification import reify, unify, var
from unification.variable import isvar

from bitale.graph.rewriting.kanren import KanrenRelationSub, eval_if_etuple

x, y, z = pt.dvectors("x", "y", "z")
A = pt.dmatrix("A")
add, mul = (x + y).owner.op, (x * y).owner.op
dot = pt.dot(A, x).owner.op


class Scaled(Op):
    __props__ = ("factor", "shift")
    itypes, otypes = [pt.dvector], [pt.dvector]

    def __init__(self, factor, shift=0):
        self.factor, self.shift = factor, shift

    def perform(self, node, inputs, outputs):
        outputs[0][0] = inputs[0] * self.factor + self.shift


def test_expressions_unify_with_expression_tuples():
    unknown = var()
    assert unify(x + y, etuple(add, x, unknown)) == {unknown: y}
    assert unify(etuple(pt.add, x, unknown), x + y) == {unknown: y}
    assert unify(x * y, etuple(add, x, unknown)) is False
    assert unify(x, etuple(add, x, unknown)) is False
    head, rest = var(), var()
    found = unify(cons(head, rest), x + y)
    assert found[head] == add and list(found[rest]) == [x, y]
    made = reify(cons(mul, rest), found)
    assert isinstance(made, ExpressionTuple) and bt.pprint(made.evaled_obj) == "x * y"
    assert bt.pprint(eval_if_etuple(reify(etuple(mul, unknown, unknown), {unknown: y}))) == "y * y"
    assert eval_if_etuple(x) is x


def test_variables_and_constants():
    unknown = var()
    assert unify(x, x) == {} and unify(x, y) is False
    assert unify(x + y, x + y) == {} and unify(x + y, x + z) is False
    assert unify(pt.constant(2.0), pt.constant(2.0)) == {}
    assert unify(pt.constant(2.0), pt.constant(3.0)) is False
    assert unify(unknown, x) == {unknown: x}
    # An expression that is a tuple keeps the variable that it stands for.
    assert etuplize(x + y, shallow=True).evaled_obj.owner.op == add


def test_ops_and_types():
    factor = var()
    assert unify(Scaled(3.0, 1), etuple(Scaled, factor, 1)) == {factor: 3.0}
    assert unify(Scaled(3.0, 1), etuple(Scaled, factor, 2)) is False
    of_class = PatternVar("f")
    assert unify(Scaled(3.0), OpPattern(Scaled, factor=of_class)) == {of_class: 3.0}
    assert unify(add, OpPattern(Scaled)) is False and isvar(of_class)
    with pytest.raises(ConsError):
        from cons import car

        car(x)


def test_constrained_variables():
    long = ConstrainedVar(lambda value: getattr(value, "ndim", 0) == 2)
    assert unify(long, A) == {long: A} == unify(A, long)
    assert unify(long, x) is False
    other = var()
    assert unify(etuple(dot, long, other), pt.dot(A, x)) == {long: A, other: x}


def distributes(inside, outside):
    """A.(a + b) is A.a + A.b: a goal that holds in both directions."""
    matrix, terms, products = var(), var(), var()
    return lall(
        eq(inside, etuple(dot, matrix, cons(add, terms))),
        conso(add, products, outside),
        mapo(lambda term, product: eq(product, etuple(dot, matrix, term)), terms, products),
    )


def test_relations_rewrite():
    rewriter = EquilibriumGraphRewriter([KanrenRelationSub(distributes)], max_use_ratio=10)
    result = rewrite_graph(pt.dot(A, x + y), include=[], custom_rewrite=rewriter)
    assert bt.pprint(result) == bt.pprint(pt.dot(A, x) + pt.dot(A, y))
    nested = rewrite_graph(pt.dot(A, x + (y + z)), include=[], custom_rewrite=rewriter)
    assert bt.pprint(nested) == bt.pprint(pt.dot(A, x) + (pt.dot(A, y) + pt.dot(A, z)))


def test_choices():
    def to_exp(before, after):
        inputs = var()
        return lall(
            conso(pt.log(x).owner.op, inputs, before), conso(pt.exp(x).owner.op, inputs, after)
        )

    graph = FunctionGraph([x], [pt.log(x)])
    node = graph.outputs[0].owner
    [made] = KanrenRelationSub(to_exp).transform(graph, node)
    assert made.owner.op == pt.exp and made.owner.inputs == [graph.inputs[0]]
    assert KanrenRelationSub(to_exp, node_filter=lambda node: False).transform(graph, node) is False
    assert (
        KanrenRelationSub(to_exp, results_filter=lambda results: None).transform(graph, node)
        is False
    )
    chosen = KanrenRelationSub(to_exp, results_filter=lambda results: [next(results)])
    assert chosen.transform(graph, node)[0].owner.op == pt.exp
    sin = FunctionGraph([x], [pt.sin(x)])
    assert KanrenRelationSub(to_exp).transform(sin, sin.outputs[0].owner) is False
    unknown = var()
    assert run(0, unknown, to_exp(pt.sin(x), unknown)) == ()


def test_the_packages_are_named_where_they_are_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "kanren", None)
    monkeypatch.delitem(sys.modules, "bitale.graph.rewriting.kanren")
    with pytest.raises(ImportError, match="logical-unification miniKanren etuples cons"):
        importlib.import_module("bitale.graph.rewriting.kanren")

"""Helpers for graphs of steps, by PyTensor's names."""

import copy

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale.scan.op import Scan
from bitale.scan.utils import (
    ScanArgs,
    FieldInfo,
    Validator,
    default_filter_scanargs,
    expand_empty,
    forced_replace,
    reconstruct_graph,
    safe_index,
    safe_new,
    until,
)

x, y = pt.dvectors("x", "y")


def test_variables_of_the_same_type():
    new = safe_new(x, "_new")
    assert new.name == "x_new" and new.type == x.type and new is not x and new.owner is None
    assert safe_new(pt.exp(x)).owner is None and safe_new(x, dtype="float32").dtype == "float32"
    constant = pt.constant(1.0)
    assert safe_new(constant) is constant and safe_new(2.0).data == 2.0
    [a], [out] = reconstruct_graph([x], [pt.exp(x) + y], "_2")
    assert a.name == "x_2" and bt.pprint(out) == "exp(x_2) + y"


def test_rows_that_are_appended():
    longer = expand_empty(x, 2)
    got = bt.function([x], longer)([1.0, 2.0])
    assert got.shape == (4,) and got[:2].tolist() == [1.0, 2.0] and expand_empty(x, 0) is x
    n, m = pt.lscalar("n"), pt.dmatrix("m")
    assert bt.function([m, n], expand_empty(m, n))(np.ones((2, 3)), 4).shape == (6, 3)


def test_replacing_equal_expressions():
    z = pt.dvector("z")
    assert bt.pprint(forced_replace(pt.exp(x) * (1 - pt.exp(x)), pt.exp(x), z)) == "z * (1 - z)"
    assert forced_replace(None, x, y) is None
    out = pt.exp(y)
    assert forced_replace(out, pt.sin(x), z) is out


def test_what_can_be_computed():
    exp = pt.exp(x)
    total = exp + y
    assert Validator(invalid=[y]).check(exp) == (exp, True)
    assert Validator(invalid=[y]).check(total) is None
    z = pt.dvector("z")
    found, same = Validator(invalid=[y], valid_equivalent={y: z}).check(total)
    assert not same and bt.pprint(found) == "exp(x) + z"
    assert Validator(valid=[exp], invalid=[x]).check(total) == (total, True)


def test_small_helpers():
    assert safe_index([1, x, 2], x) == 1 and safe_index([1], x) is None
    assert default_filter_scanargs("inner_in") and not default_filter_scanargs("name")
    assert FieldInfo("a", "b", 1, None, 2).agg_index == 2 and until(x.sum() > 1) is not None
    with pytest.raises(ImportError):
        from bitale.scan.utils import no_such_name  # noqa: F401


def test_parts_of_loops_by_their_roles():
    x, start, w = pt.dvector("x"), pt.dscalar("start"), pt.dscalar("w")
    (sums, _), _ = bt.scan(lambda e, s, w: (s * w + e, e * 2), [x], [start, None], [w])
    node = sums.owner
    args = ScanArgs.from_node(node)
    assert args.outer_inputs == node.inputs and args.outer_outputs == node.outputs
    assert args.inner_inputs == node.op.inner_inputs
    assert args.inner_outputs == node.op.inner_outputs
    assert args.info == node.op.info and args == copy.copy(args)
    assert args.outer_in_sit_sot == [start] and args.outer_in_non_seqs == [w] and not args.cond
    found = args.find_among_fields(args.inner_in_non_seqs[0])
    assert found[:3] == ("inner_in_non_seqs", "inner_inputs", 0) and found.agg_index == 2
    assert args.get_alt_field(found, "outer_in") == w
    assert args.get_alt_field(args.outer_in_sit_sot[0], "inner_out") == args.inner_out_sit_sot[0]
    assert args.find_among_fields(pt.dscalar()) is None
    with pytest.raises(ValueError, match="in none of the lists"):
        args.get_alt_field(pt.dscalar(), "outer_in")
    with pytest.raises(ValueError, match="outer_in: expected"):
        ScanArgs(node.inputs[:-1], node.outputs, args.inner_inputs, args.inner_outputs, args.info)
    with pytest.raises(TypeError, match="node of a loop"):
        ScanArgs.from_node((x + 1).owner)

    copied = ScanArgs.from_node(node, clone=True)
    assert copied != args and copied.info == args.info
    assert not set(copied.inner_inputs) & set(args.inner_inputs)

    merged = args.merge(copied)
    assert merged.info.n_seqs == 2 and args.info.n_seqs == 1
    only = copy.copy(args)
    only.remove_from_fields(args.outer_in_non_seqs[0], rm_dependents=False)
    assert only.outer_in_non_seqs == [] and only.inner_in_non_seqs == args.inner_in_non_seqs
    # The weight is read by the state, and the trace of what is read of x stays.
    removed = args.remove_from_fields(args.inner_in_non_seqs[0])
    assert {where.name for _, where in removed} >= {"outer_in_non_seqs", "inner_out_sit_sot"}
    assert args.inner_in_sit_sot == args.inner_in_non_seqs == [] and len(args.inner_in_seqs) == 1
    assert len(args.inner_out_nit_sot) == len(args.outer_out_nit_sot) == 1


def test_parts_of_loops_that_end_by_a_condition():
    start = pt.dscalar("start")
    last, _ = bt.scan(lambda s: (s * 2, until(s > 10)), outputs_info=[start], n_steps=9)
    node = last.owner
    while not isinstance(node.op, Scan):
        node = node.inputs[0].owner
    args = ScanArgs.from_node(node)
    assert len(args.cond) == 1 and args.info.as_while
    assert args.outer_outputs == node.outputs and args.inner_outputs == node.op.inner_outputs

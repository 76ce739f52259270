"""Helpers for graphs of steps, by PyTensor's names."""

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale.scan.utils import (
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

"""Lists of values of one type: values as of Python lists, in modes with and without compilation, and invalid
arguments."""

import pickle

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale import typed_list as tl

rows_type = tl.TypedListType(pt.dvector)
given = [np.array([1.0, 2.0]), np.array([3.0]), np.array([1.0, 2.0])]


def same(a, b):
    return len(a) == len(b) and all(np.array_equal(x, y) for x, y in zip(a, b))


@pytest.mark.parametrize("mode", ["FAST_RUN", "VM", "FAST_COMPILE"])
def test_values(mode):
    rows, x, i = rows_type("rows"), pt.dvector("x"), pt.lscalar("i")
    outputs = [
        tl.append(rows, x),
        tl.extend(rows, rows),
        tl.insert(rows, i, x),
        tl.remove(rows, x),
        tl.reverse(rows),
        tl.getitem(rows, slice(1, None)),
        tl.make_list([x, x * 2]),
    ]
    numbers = [tl.index_(rows, x), tl.count(rows, x), tl.length(rows), tl.getitem(rows, i).sum()]
    f = bt.function([rows, x, i], [*outputs, *numbers], mode=mode)
    value = np.array([1.0, 2.0])
    found = f(given, value, -1)
    expected = [
        [*given, value],
        given + given,
        [*given[:-1], value, given[-1]],
        given[1:],
        given[::-1],
        given[1:],
        [value, value * 2],
    ]
    assert all(same(a, b) for a, b in zip(found, expected))
    assert [int(each) for each in found[7:]] == [0, 2, 3, 3]
    assert same(given, [np.array([1.0, 2.0]), np.array([3.0]), np.array([1.0, 2.0])])


def test_lists_of_lists_and_shared_lists():
    from bitale.compile.sharedvalue import shared_of

    nested = tl.TypedListType(pt.dscalar, depth=1)
    assert nested.get_depth() == 1 and nested == tl.TypedListType(tl.TypedListType(pt.dscalar))
    lists, i = nested("lists"), pt.lscalar("i")
    f = bt.function([lists, i], tl.length(tl.getitem(lists, i)))
    assert f([[1.0], [2.0, 3.0]], 1) == 2
    seen, x = shared_of(rows_type, [], "seen"), pt.dvector("x")
    remember = bt.function([x], tl.length(seen), updates={seen: tl.append(seen, x)})
    assert [int(remember([1.0])) for _ in range(3)] == [0, 1, 2] and same(
        seen.get_value(), [np.array([1.0])] * 3
    )
    assert pickle.loads(pickle.dumps(rows_type)) == rows_type


def test_methods_are_the_functions():
    rows, x, i = rows_type("rows"), pt.dvector("x"), pt.lscalar("i")
    assert isinstance(rows, tl.TypedListVariable) and rows.ttype == pt.dvector
    outputs = [
        rows.append(x),
        rows.extend(rows),
        rows.insert(i, x),
        rows.remove(x),
        rows.reverse(),
        rows[1:],
        rows.append(x).reverse()[:1],
    ]
    numbers = [rows.ind(x), rows.count(x), rows.length(), rows[i].sum()]
    value = np.array([1.0, 2.0])
    found = bt.function([rows, x, i], [*outputs, *numbers])(given, value, -1)
    expected = [
        [*given, value],
        given + given,
        [*given[:-1], value, given[-1]],
        given[1:],
        given[::-1],
        given[1:],
        [value],
    ]
    assert all(same(a, b) for a, b in zip(found, expected))
    assert [int(each) for each in found[7:]] == [0, 2, 3, 3]
    made = tl.make_list([x, x])
    assert isinstance(made, tl.TypedListVariable) and made.owner.outputs[0] is made
    again = pickle.loads(pickle.dumps(rows.append(x)[0]))
    assert isinstance(again.owner.inputs[0], tl.TypedListVariable)


def test_constants_have_a_value():
    constant = rows_type.make_constant([[1.0, 2.0], [3.0]])
    assert isinstance(constant, tl.TypedListConstant) and same(
        constant.data, [np.array([1.0, 2.0]), np.array([3.0])]
    )
    assert constant.length().eval() == 2 and same(constant.value, constant.data)
    same_value, other = (
        rows_type.make_constant([[1.0, 2.0], [3.0]]),
        rows_type.make_constant([[1.0], [3.0]]),
    )
    assert constant.signature() == same_value.signature() != other.signature()


def test_invalid_arguments():
    rows, x = rows_type("rows"), pt.dvector("x")
    with pytest.raises(TypeError, match="expected a typed list"):
        tl.length(x)
    with pytest.raises(TypeError, match="x.length"):
        len(rows)
    with pytest.raises(TypeError, match="iterated"):
        list(rows)
    with pytest.raises(TypeError, match="type of its elements"):
        tl.TypedListType("float64")
    with pytest.raises(ValueError, match="depth"):
        tl.TypedListType(pt.dvector, depth=-1)
    with pytest.raises(TypeError, match="an element of type"):
        tl.append(rows, pt.dmatrix("m"))
    with pytest.raises(TypeError, match="lists of one type"):
        tl.extend(rows, tl.TypedListType(pt.lvector)("others"))
    with pytest.raises(TypeError, match="an integer as position"):
        tl.getitem(rows, 0.5)
    with pytest.raises(TypeError, match="elements of one type"):
        tl.make_list([x, pt.dscalar("s")])
    with pytest.raises(ValueError, match="at least one"):
        tl.make_list([])
    with pytest.raises(TypeError, match="expected a list"):
        bt.function([rows], tl.length(rows))(3)
    with pytest.raises(IndexError, match="position 5"):
        bt.function([rows], tl.getitem(rows, 5))(given)
    with pytest.raises(ValueError, match="not in the list"):
        bt.function([rows, x], tl.index_(rows, x))(given, [9.0])


def test_lists_are_not_changed_in_place():
    from bitale.typed_list import Append, Extend, Insert, Remove, Reverse

    for cls in (Append, Extend, Insert, Remove, Reverse):
        assert cls(inplace=False) == cls()
        with pytest.raises(NotImplementedError, match="inplace"):
            cls(inplace=True)

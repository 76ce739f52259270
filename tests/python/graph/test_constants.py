"""Types and constants by the names of PyTensor's graph modules."""

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale.compile.sharedvalue import generic
from bitale.graph.type import HasDataType, HasShape


def test_types():
    three = pt.TensorType("float64", (3,))
    x = pt.dvector("x")
    assert (
        pt.dvector.in_same_class(three)
        and not pt.dvector.in_same_class(pt.dmatrix)
        and not pt.dvector.in_same_class(pt.TensorType("float64", (1,)))
    )
    assert (
        pt.dvector.filter_variable(x) is x and pt.dvector.filter_variable(three("y")).type == three
    )
    checked = three.filter_variable(x)
    assert checked.type == three and checked.eval({x: [1.0, 2.0, 3.0]}).tolist() == [1, 2, 3]
    with pytest.raises(bt.ShapeError):
        checked.eval({x: [1.0]})
    assert three.filter_variable(np.ones(3)).data.tolist() == [1, 1, 1]
    for other in (pt.fvector(), pt.dmatrix(), pt.TensorType("float64", (4,))()):
        with pytest.raises(TypeError, match="filter_variable"):
            three.filter_variable(other)
    with pytest.raises(TypeError):
        three.filter_variable(x, allow_convert=False)
    with pytest.raises(TypeError):
        three.filter_variable(np.ones(4))
    assert three.convert_variable(pt.fvector()) is None
    assert (
        isinstance(three, HasDataType)
        and isinstance(three, HasShape)
        and not isinstance(generic, HasDataType)
    )
    state = (
        pt.random.random_generator_type if hasattr(pt.random, "random_generator_type") else generic
    )
    assert state.in_same_class(state) and not state.in_same_class(pt.dvector)


def test_constants():
    c = pt.constant([1.0, 2.0])
    assert c.data.tolist() == c.value.tolist() == [1, 2] and hash(c.signature()) == hash(
        pt.constant([1.0, 2.0]).signature()
    )


def test_slices():
    x, n = pt.dvector("x"), pt.lscalar("n")
    assert x[pt.make_slice(n)].eval({x: [1.0, 2.0], n: 1}).tolist() == [
        2
    ]  # make_slice(n) starts at n
    assert pt.make_slice(slice(1, 2)) == slice(1, 2) and pt.make_slice(1, None, 2) == slice(
        1, None, 2
    )
    assert x[pt.NoneConst].ndim == 2 and x[pt.NoneSliceConst].ndim == 1
    with pytest.raises(ValueError, match="make_slice"):
        pt.make_slice(slice(1), 2)

"""The code blocks of Aesara's page on graph structures, with the package name changed."""

import re

import numpy as np
import pytest

import bitale
import bitale.tensor as at


def test_apply_of_two_matrices():
    x = at.dmatrix("x")
    y = at.dmatrix("y")
    z = x + y
    assert x.owner is None and y.owner is None
    assert z.owner.inputs[0] is x and z.owner.inputs[1] is y
    assert z.owner.outputs[z.index] is z


@pytest.fixture
def y():
    x = bitale.tensor.dmatrix("x")
    return x * 2.0


def test_owner_is_an_apply(y):
    assert str(type(y.owner)) == "<class 'bitale.graph.basic.Apply'>"
    assert y.owner.op.name == "Mul"


def test_inputs_of_the_product(y):
    assert len(y.owner.inputs) == 2
    assert repr(y.owner.inputs[0]) == "x"
    assert repr(y.owner.inputs[1]) == "ExpandDims{axes=[0, 1]}.0"


def test_the_number_was_broadcast(y):
    broadcast = y.owner.inputs[1]
    assert str(type(broadcast)) == "<class 'bitale.tensor.variable.TensorVariable'>"
    assert str(type(broadcast.owner)) == "<class 'bitale.graph.basic.Apply'>"
    assert type(broadcast.owner.op).__name__ == "DimShuffle"
    assert repr(broadcast.owner.inputs) == "[TensorConstant{2.0}]"


def test_dprint(y, capsys):
    bitale.dprint(y)
    expected = """\
Mul [id A]
 ├─ x [id B]
 └─ ExpandDims{axes=[0, 1]} [id C]
    └─ 2.0 [id D]
"""
    assert capsys.readouterr().out == expected


def test_irow():
    from bitale.tensor import irow

    assert repr(irow()) == "<Matrix(int32, shape=(1, ?))>"
    assert repr(irow) == "TensorType(int32, shape=(1, None))"
    assert irow.dtype == "int32" and irow.shape == (1, None)


def test_minus():
    x = bitale.tensor.ivector()
    y = -x
    assert x.type == bitale.tensor.ivector and y.type == bitale.tensor.ivector
    assert y.owner.inputs == [x] and y.index == 0 and x.index is None
    assert isinstance(x, bitale.graph.basic.Variable)


def test_constant_data():
    c = at.constant(2.0)
    assert isinstance(c, bitale.graph.basic.Constant)
    assert c.data == 2.0
    with pytest.raises(ValueError):
        c.data[...] = 3.0


def test_example(capsys, tmp_path):
    a = bitale.tensor.vector("a")  # declare symbolic variable
    b = a + a**10  # build symbolic expression
    f = bitale.function([a], b)  # compile function
    print(f([0, 1, 2]))
    assert re.fullmatch(r"\[\s*0\.\s+2\.\s+1026\.\]\n", capsys.readouterr().out)

    for graph, name in ((b, "symbolic_graph_unopt"), (f, "symbolic_graph_opt")):
        for suffix, start in ((".png", b"\x89PNG"), (".dot", b"digraph {")):
            path = (tmp_path / "pics" / name).with_suffix(suffix)
            bitale.printing.pydotprint(graph, outfile=path, var_with_name_simple=True)
            assert capsys.readouterr().out == f"The output file is available at {path}\n"
            assert path.read_bytes().startswith(start)


def test_x_times_y_over_y_is_x():
    x, y = at.dvectors("x", "y")
    f = bitale.function([x, y], x * y / y, mode="FAST_RUN", on_unused_input="ignore")
    assert f.maker.fgraph.apply_nodes == set() or all(
        "Mul" not in str(n.op) for n in f.maker.fgraph.apply_nodes
    )
    np.testing.assert_array_equal(f([1.0, 2.0], [3.0, 4.0]), [1.0, 2.0])

"""Ops that give their input back, and ops that are formulas, by PyTensor's names."""

import pickle

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale.compile.builders import SymbolicOp
from bitale.compile.ops import TypeCastingOp, ViewOp, deep_copy_op, load_back, view_op
from bitale.tensor.symbolic import TensorSymbolicOp

MODES = ["FAST_RUN", "FAST_COMPILE", "C", "VM", "CVM", "DebugMode"]


class Power(TensorSymbolicOp):
    __props__ = ("n",)

    def build_inner_graph(self, x):
        return [x**self.n, x + self.n]


class Halved(SymbolicOp):
    """Its derivative is not that of the formula."""

    def build_inner_graph(self, x):
        return x / 2

    def pullback(self, inputs, outputs, cotangents):
        return [7 * cotangents[0]]


class Jumped(TypeCastingOp):
    __props__ = ()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("op", [view_op, deep_copy_op, Jumped()])
def test_ops_that_give_their_input_back(op, mode):
    x = pt.dvector("x")
    y = op(x)
    assert y is not x and y.type == x.type and isinstance(y.owner.op, TypeCastingOp)
    f = bt.function([x], [y, y.shape, bt.grad((y**2).sum(), x)], mode=mode)
    value = np.array([1.0, 2.0])
    got, shape, slope = f(value)
    np.testing.assert_array_equal(got, value)
    np.testing.assert_array_equal(slope, 2 * value)
    assert shape.tolist() == [2] and not np.shares_memory(got, value)
    np.testing.assert_allclose(bt.Rop(y, x, pt.ones_like(x)).eval({x: value}), [1.0, 1.0])


def test_compiled_functions_leave_them_out():
    x = pt.dvector("x")
    f = bt.function([x], pt.exp(view_op(deep_copy_op(x))))
    assert [str(node.op) for node in f.maker.fgraph.toposort()] == ["Exp"]
    assert ViewOp() == view_op and str(view_op) == "ViewOp" and view_op.view_map == {0: [0]}
    assert load_back("bitale.compile.ops", "view_op") is view_op


@pytest.mark.parametrize("mode", MODES)
def test_ops_that_are_formulas(mode):
    x = pt.dvector("x")
    a, b = Power(n=3)(x)
    f = bt.function([x], [a, b, bt.grad(a.sum(), x)], mode=mode)
    cubes, sums, slope = f([1.0, 2.0])
    np.testing.assert_allclose(cubes, [1.0, 8.0])
    np.testing.assert_allclose(sums, [4.0, 5.0])
    np.testing.assert_allclose(slope, [3.0, 12.0])
    y = Halved()(x)
    g = bt.function([x], [y, bt.grad(y.sum(), x)], mode=mode)
    np.testing.assert_allclose(g([4.0]), [[2.0], [7.0]])


def test_arguments_of_formulas():
    assert Power(n=2) == Power(n=2) and Power(n=2) != Power(n=3)
    np.testing.assert_allclose(Power(n=2)([1.0, 3.0])[0].eval(), [1.0, 9.0])
    with pytest.raises(TypeError, match="no argument called m"):
        Power(m=2)
    with pytest.raises(NotImplementedError, match="build_inner_graph"):
        SymbolicOp()(pt.dvector())
    x = pt.dvector("x")
    f = pickle.loads(pickle.dumps(bt.function([x], Power(n=2)(x))))
    np.testing.assert_allclose(f([3.0]), [[9.0], [5.0]])
    [batched] = bt.vectorize_graph([Halved()(x)], {x: pt.dmatrix("rows")})
    assert batched.ndim == 2

"""Gradients by the functions of PyTensor's gradient module."""


import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt


def test_views_of_gradients():
    x = pt.dvector("x")
    at = {x: [1.0, 2.0]}
    for view, expected in ((bt.gradient.zero_grad_, 0), (bt.gradient.GradScale(3.0), 3), (bt.gradient.GradClip(-0.5, 0.5), 0.5)):
        assert bt.grad(view(x).sum(), x).eval(at).tolist() == [expected] * 2
    assert isinstance(bt.zero_grad(x).owner.op, bt.gradient.ZeroGrad) and bt.gradient.grad_clip(x, -1, 1).owner.op == bt.gradient.GradClip(-1, 1)
    with pytest.raises(bt.DisconnectedInputError):
        bt.grad(bt.gradient.disconnected_grad_(x).sum(), x)
    with pytest.raises(bt.NullTypeGradError):
        bt.grad(bt.gradient.undefined_grad_(x).sum(), x)
    assert "why not" in str(bt.gradient.NullType("why not")) and isinstance(bt.gradient.null_type, bt.gradient.NullType)


def test_parts_of_gradients():
    x, w = pt.dvectors("x", "w")
    h = x * w
    by_w, by_h, of_start, of_cost = bt.subgraph_grad([w], [h], cost=(h**2).sum() + (w**3).sum(), details=True)
    assert of_start is None
    assert bt.function([x, w], [*by_w, *by_h, *of_cost], on_unused_input="ignore")([1.0], [2.0]) == [12, 4, 12]
    *_, of_start, of_cost = bt.subgraph_grad([w], [x], start={h: pt.ones_like(h)}, details=True)
    assert of_cost is None and of_start[0].eval({x: [5.0], w: [1.0]}) == 5


def test_numeric_gradients():
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    y = np.array(2.0)
    found = bt.gradient.numeric_grad(lambda a, b: (a**2).sum() * b, [x, y])
    np.testing.assert_allclose(found.gf[0], 4 * x, rtol=1e-5)
    np.testing.assert_allclose(found.gf[1], 30, rtol=1e-5)
    off = 4 * x
    off[1, 0] += 1
    which, where, absolute, relative = found.max_err([off, np.array(30.0)], 1e-3, 1e-3)
    assert (which, where) == (0, 2) and absolute == pytest.approx(1, rel=1e-3) and relative == pytest.approx(1 / 25, rel=1e-3)
    assert bt.gradient.numeric_grad(lambda a: a**2, y).gf == pytest.approx(4, rel=1e-5)
    with pytest.raises(TypeError, match="floats"):
        bt.gradient.numeric_grad(lambda a: a, np.array(1))
    assert not isinstance(bt.gradient.mode_not_slow("DebugMode"), bt.compile.DebugMode) and bt.gradient.mode_not_slow("VM").linker == "vm"

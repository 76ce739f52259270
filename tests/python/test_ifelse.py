"""ifelse: values, laziness, gradients, errors."""

import pickle

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale.ifelse import ifelse


@pytest.fixture
def abc():
    return pt.dscalar("c"), pt.dvector("a"), pt.dvector("b")


def test_values(mode, abc):
    c, a, b = abc
    f = bt.function([c, a, b], ifelse(c > 0, a + b, pt.exp(a)), mode=mode)
    assert f(1.0, [1.0], [2.0]).tolist() == [3.0]
    assert f(0.0, [0.0, 0.0], [2.0, 3.0, 4.0]).tolist() == [1.0, 1.0]
    with pytest.raises(bt.ShapeError):
        f(1.0, [0.0, 0.0], [2.0, 3.0, 4.0])


def test_lists_and_names(mode, abc):
    c, a, b = abc
    out = bt.ifelse(c, [a, c], (b, c + 1), name="choice")
    assert [v.name for v in out] == ["choice{0}", "choice{1}"]
    assert bt.ifelse(c, a, b, name="one").name == "one"
    f = bt.function([c, a, b], out, mode=mode)
    assert [v.tolist() for v in f(0.0, [1.0], [2.0, 3.0])] == [[2.0, 3.0], 1.0]
    assert bt.function([c], ifelse(c, 1.0, 2.0), mode=mode)(np.nan) == 1.0


def test_one_branch_runs(abc):
    c, a, b = abc
    seen = []
    linker = bt.link.VMLinker(callback=lambda node, **_: seen.append(node.op.name))
    f = bt.function([c, a, b], ifelse(c, pt.exp(a), pt.sin(b)), mode=bt.Mode(linker))
    f(1.0, [1.0], [1.0])
    assert seen == ["Exp", "IfElse"]
    assert "host callback" in bt.dprint(bt.function([c, a, b], ifelse(c, pt.exp(a), pt.sin(b))), file="str")


def test_gradient(mode, abc):
    c, a, b = abc
    gradients = bt.grad(ifelse(c > 0, (a * b).sum(), (a**2).sum()), [a, b])
    f = bt.function([c, a, b], gradients, mode=mode)
    assert [v.tolist() for v in f(1.0, [3.0], [5.0])] == [[5.0], [3.0]]
    assert [v.tolist() for v in f(0.0, [3.0], [5.0])] == [[6.0], [0.0]]


def test_errors(abc):
    c, a, b = abc
    with pytest.raises(TypeError, match="scalar condition"):
        ifelse(a, a, b)
    with pytest.raises(TypeError, match=r"output 1 have different dtypes: .*float64.* if true \(`a`\), .*int32"):
        ifelse(c, [a, a], [b, pt.ivector("i")])
    with pytest.raises(TypeError, match="numbers of dimensions"):
        ifelse(c, a, c)
    with pytest.raises(ValueError, match="1 if true and 2 if false"):
        ifelse(c, [a], [a, b])


def test_errors_name_variables(abc):
    c, a, b = abc
    f = bt.function([c, a, b], [ifelse(c, pt.exp(a) + b, b), pt.exp(a)])
    with pytest.raises(bt.ShapeError, match=r"Add\(Exp.0, b\)(.|\n)*IfElse\("):
        f(1.0, [1.0], [2.0, 3.0])


def test_storing_and_export(abc, tmp_path):
    c, a, b = abc
    f = bt.function([c, a, b], ifelse(c, pt.exp(a), b))
    assert pickle.loads(pickle.dumps(f))(0.0, [1.0], [2.0]).tolist() == [2.0]
    with pytest.raises(NotImplementedError, match="ifelse of more than a few operations"):
        f.export_c(tmp_path)
    assert bt.function([c], ifelse(c, c + 1, c * 2), name="g").export_c(tmp_path)


def test_constant_side(mode):
    c, x, side = pt.bscalar("c"), pt.dvector("x"), pt.constant(np.array([7.0]))
    f = bt.function([c, x], [pt.as_tensor(each) for each in bt.ifelse(c, [side, x], [x, side])], mode=mode)
    assert [each.tolist() for each in f(1, [1.0, 2.0])] == [[7.0], [1.0, 2.0]]
    assert [each.tolist() for each in f(0, [1.0, 2.0])] == [[1.0, 2.0], [7.0]]

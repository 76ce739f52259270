"""The package as a whole: what is exported, typed and documented; the program of the README's kind."""

import ast
import pathlib

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale import _core

FOLDER = pathlib.Path(bt.__file__).parent


def test_version():
    assert bt.__version__.count(".") == 2


def test_stubs():
    assert (FOLDER / "py.typed").exists()
    tree = ast.parse((FOLDER / "_core.pyi").read_text())
    declared = set()
    for node in tree.body:
        declared |= {node.name} if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else set()
        declared |= {node.target.id} if isinstance(node, ast.AnnAssign) else set()
        declared |= {t.id for t in node.targets} if isinstance(node, ast.Assign) else set()
    assert set(_core.__all__) <= declared


def test_everything_is_documented():
    for name in _core.__all__:
        assert getattr(pt, name).__doc__, name
    for name in vars(_core.TensorVariable):
        if not name.startswith("_") and callable(getattr(_core.TensorVariable, name)):
            assert getattr(_core.TensorVariable, name).__doc__, name


def test_places():
    assert bt.graph.basic.Variable is bt.Variable is pt.Variable
    assert bt.ShapeError.__module__ == "bitale" and issubclass(bt.ShapeError, ValueError)
    assert bt.Variable.__module__ == "bitale.graph.basic"
    assert bt.compile.shared is bt.shared and bt.compile.function is bt.function


def test_errors_have_python_classes():
    for name, base in dict(MissingInputError=Exception, UnusedInputError=Exception, DisconnectedInputError=ValueError,
                           NullTypeGradError=TypeError, InconsistencyError=Exception, InternalError=RuntimeError,
                           GradientError=Exception, NotScalarConstantError=Exception).items():
        assert issubclass(getattr(bt, name), base)


def test_errors_show_the_users_line():
    x, y = pt.dvectors("x", "y")
    f = bt.function([x, y], pt.exp(x) + y)
    with pytest.raises(bt.ShapeError, match="test_package.py:[0-9]+"):
        f(np.ones(2), np.ones(3))


def test_softmax_regression_learns(mode):
    rng = np.random.default_rng(0)
    images, labels = rng.normal(size=(200, 8)), rng.integers(0, 3, 200)
    images[np.arange(200), labels] += 3
    X, y = pt.dmatrix("X"), pt.lvector("y")
    W, c = bt.shared(np.zeros((8, 3)), "W"), bt.shared(np.zeros(3), "c")
    logits = X @ W + c
    loss = -(logits - pt.logsumexp(logits, axis=1, keepdims=True))[pt.arange(y.shape[0]), y].mean()
    gW, gc = bt.grad(loss, [W, c])
    step = bt.function([X, y], loss, updates=[(W, W - 0.5 * gW), (c, c - 0.5 * gc)], mode=mode)
    losses = [float(step(images, labels)) for _ in range(50)]
    assert losses[0] == pytest.approx(np.log(3)) and losses[-1] < 0.3
    classify = bt.function([X], pt.argmax(logits, axis=1), mode=mode)
    assert np.mean(classify(images) == labels) > 0.9

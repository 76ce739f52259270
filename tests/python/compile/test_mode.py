"""Modes and linkers by name, collected shared variables, and how functions are rebuilt."""

import pickle

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale.compile import get_mode, register_mode, shared_constructor
from bitale.compile.sharedvalue import collect_new_shareds, generic


def test_linkers_by_name():
    from bitale.compile import predefined_linkers, register_linker

    assert {"py", "c", "c|py", "c|py_nogc", "vm", "cvm", "vm_nogc", "cvm_nogc", "jit"} <= set(
        predefined_linkers
    )
    x = pt.dvector("x")
    for name in ("py", "c", "c|py", "c|py_nogc", "vm", "cvm", "vm_nogc", "cvm_nogc", "jit"):
        linker = predefined_linkers[name]
        for given in (name, linker):
            assert bt.function([x], pt.exp(x).sum(), mode=bt.Mode(given))([0.0, 0.0]) == 2, name
    seen = []
    register_linker(
        "TEST_TELLING", bt.link.VMLinker(callback=lambda node, **_: seen.append(node.op.name))
    )
    assert bt.function([x], pt.exp(x).sum(), mode=bt.Mode("TEST_TELLING", None))(
        [0.0]
    ) == 1 and seen == ["Exp", "Sum{axes=None}"]
    for name in ("TEST_TELLING", "vm", "cvm_nogc"):
        with pytest.raises(ValueError, match=name):
            register_linker(name, bt.link.VMLinker())
    with pytest.raises(TypeError, match="expected a Linker"):
        register_linker("TEST_NONE", "vm")
    with pytest.raises(ValueError, match="linker"):
        bt.Mode("TEST_NONE")
    with bt.config.change_flags(linker="vm"):
        assert bt.Mode(None).linker == "vm"
    assert (
        "fast_run" in bt.Mode("vm", "default").provided_optimizer.include
        and bt.Mode("vm", None).provided_optimizer.include == ()
    )


def test_scalar_elemwise():
    from bitale.tensor.elemwise import Elemwise, scalar_elemwise

    @scalar_elemwise
    def exp(a):
        "e to the power of a."

    @scalar_elemwise(symbolname="arctan2", nfunc="arctan2", nin=2, nout=1)
    def direction(a, b):
        "Of a point."

    x = pt.dvector("x")
    assert isinstance(exp, Elemwise) and exp(x).owner.op == pt.exp(x).owner.op
    assert direction(1.0, x).eval({x: [1.0]}) == pytest.approx(np.pi / 4)
    with pytest.raises(AttributeError, match="no_such"):
        scalar_elemwise(symbolname="no_such")(exp)
    with pytest.raises(ValueError, match="only rewriting makes ops in-place"):

        @scalar_elemwise
        def exp_inplace(a):
            pass


def test_modes():
    register_mode("TEST_ONE_BY_ONE", bt.Mode("vm"))
    x = pt.dscalar("x")
    assert (
        get_mode("TEST_ONE_BY_ONE").linker == "vm"
        and bt.function([x], x + 1, mode="TEST_ONE_BY_ONE")(1.0) == 2
    )
    for name in ("TEST_ONE_BY_ONE", "FAST_RUN"):
        with pytest.raises(ValueError, match="already"):
            register_mode(name, bt.Mode())
    with pytest.raises(TypeError):
        register_mode("TEST_NONE", "FAST_RUN")
    with pytest.raises(ValueError):
        get_mode("TEST_NONE")
    for name in ("FAST_RUN", "FAST_COMPILE", "C", "VM", "CVM"):
        assert isinstance(getattr(bt.compile, name), bt.Mode) and isinstance(
            getattr(bt.compile.mode, name), bt.Mode
        )
    with pytest.raises(AttributeError):
        bt.compile.no_such_name


def test_shared_variables():
    class Weights:
        def __init__(self, values):
            self.values = values

    @shared_constructor.register(Weights)
    def _(value, name=None, strict=False, allow_downcast=None, **kwargs):
        return shared_constructor(np.asarray(value.values), name, strict, allow_downcast)

    with collect_new_shareds() as found:
        w = bt.shared(Weights([1.0, 2.0]), "w")
        with collect_new_shareds() as inner:
            v = bt.shared(1)
    bt.shared(2)
    assert found == [w, v] and inner == [v] and w.get_value().tolist() == [1, 2] and w.name == "w"
    with pytest.raises(TypeError, match="colour"):
        bt.shared(1.0, colour="red")
    box = generic("box")
    assert bt.function([box], box)({"any": "thing"}) == {"any": "thing"}


def test_stored_arguments(tmp_path):
    x = pt.dvector("x")
    bt.compile.function_dump(str(tmp_path / "f.pkl"), [x], x * 2, name="twice")
    with open(tmp_path / "f.pkl", "rb") as file:
        assert bt.function(**pickle.load(file))([1.0]).tolist() == [2]

"""MonitorMode, detect_nan, NanGuardMode."""

import logging
import pickle

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale.compile import MonitorMode, NanGuardMode, detect_nan


def test_monitor():
    x, seen = pt.dvector("x"), []
    mode = MonitorMode(
        pre_func=lambda fgraph, i, node, fn: seen.append(("before", i, len(fn.outputs))),
        post_func=lambda fgraph, i, node, fn: seen.append(("after", i, fn.outputs[0][0].tolist())),
    )
    assert bt.function([x], pt.exp(x).sum(), mode=mode)([0.0]) == 1.0
    assert seen == [("before", 0, 0), ("after", 0, [1.0]), ("before", 1, 0), ("after", 1, 1.0)]


@pytest.mark.parametrize("linker", ["opwise", "vm", "jit"])
def test_detect_nan(linker, capsys):
    x = pt.dscalar("x")
    f = bt.function(
        [x], pt.log(x) * x, mode=MonitorMode(post_func=detect_nan, optimizer="None", linker=linker)
    )
    f(1.0)
    assert capsys.readouterr().out == ""
    assert np.isnan(f(0.0))
    out = capsys.readouterr().out
    assert (
        out.startswith("*** NaN detected ***\nMul") and "Inputs : [array(-inf), array(0.)]" in out
    )


def test_nan_guard():
    x, w = pt.dmatrix("x"), bt.shared(np.ones((2, 3)), "w")
    f = bt.function([x], pt.dot(x, w), mode=NanGuardMode())
    assert f([[1.0, 2.0]]).tolist() == [[3.0, 3.0, 3.0]]
    for bad, found in [(np.nan, "a nan"), (np.inf, "an infinity"), (-1e20, "a value beyond 1e10")]:
        with pytest.raises(AssertionError, match=f"found {found}.* in the input `x`"):
            f([[1.0, bad]])
    with pytest.raises(
        bt.compile.NanGuardError, match="found a value beyond 1e10 in output 0"
    ) as caught:
        f([[1e10, 1e10]])
    assert "test_monitor.py" in str(caught.value) and "input 0" in str(caught.value)
    # Also for integers and booleans.
    i = pt.lvector("i")
    with pytest.raises(AssertionError, match="beyond 1e10"):
        bt.function([i], i + 1, mode=NanGuardMode())([10**11])


def test_nan_guard_accepts_permitted_values():
    x = pt.dvector("x")
    f = bt.function([x], x * 2, mode=NanGuardMode(nan_is_error=False, big_is_error=False))
    assert f([1e30]).tolist() == [2e30]
    assert np.isnan(f([np.nan])).all()
    with pytest.raises(AssertionError):
        f([np.inf])
    with pytest.raises(ValueError, match="must be true"):
        NanGuardMode(False, False, False)
    with pytest.raises(ValueError, match="action must be raise, warn or pdb"):
        NanGuardMode(action="shout")


def test_nan_guard_actions(caplog, monkeypatch):
    x = pt.dvector("x")
    with caplog.at_level(logging.ERROR):
        assert np.isnan(bt.function([x], pt.log(x), mode=NanGuardMode(action="warn"))([-1.0])).all()
    assert "found a nan in output 0" in caplog.text
    stops = []
    monkeypatch.setattr("pdb.set_trace", lambda: stops.append(1))
    bt.function([x], pt.log(x), mode=NanGuardMode(action="pdb"))([-1.0])
    assert stops == [1]


def test_nan_guard_by_name():
    x = pt.dvector("x")
    with pytest.raises(AssertionError):
        bt.function([x], pt.log(x), mode="NanGuardMode")([-1.0])
    with bt.config.change_flags(NanGuardMode__nan_is_error=False, mode="NanGuardMode"):
        assert np.isnan(bt.function([x], pt.log(x))([-1.0])).all()


# ---- exceptions from the check ----


@pytest.mark.parametrize("optimizer", ["None", "fast_run"])
def test_a_tag_disables_the_guard(optimizer):
    x = pt.dvector("x")
    y = pt.log(x * 1.0)
    z = pt.where(x > 0, y, 0.0)
    mode = NanGuardMode(optimizer=optimizer)
    with pytest.raises(AssertionError):
        bt.function([x], z, mode=mode)([-1.0])
    y.tag.nan_guard_mode_check = False
    assert y.tag.nan_guard_mode_check is False and "nan_guard_mode_check" in dir(y.tag)
    if optimizer == "None":  # otherwise z is a single node
        assert bt.function([x], z, mode=mode)([-1.0]).tolist() == [0.0]
    assert np.isnan(bt.function([x], y, mode=mode)([-1.0])).all()
    with pytest.raises(AssertionError, match="input `x`"):
        bt.function([x], pt.isnan(x), mode=mode)([np.nan])
    x.tag.nan_guard_mode_check = False
    assert bt.function([x], pt.isnan(x), mode=mode)([np.nan]).all()
    for undo in (
        lambda tag: delattr(tag, "nan_guard_mode_check"),
        lambda tag: tag.clear(),
        lambda tag: setattr(tag, "nan_guard_mode_check", True),
    ):
        y.tag.nan_guard_mode_check = False
        undo(y.tag)
        with pytest.raises(AssertionError, match="in output"):
            bt.function([x], y, mode=mode)([-1.0])


def test_a_tag_disables_the_guard_for_shared_variables():
    x, s = pt.dvector("x"), bt.shared(np.array([np.inf]), "s")
    with pytest.raises(AssertionError, match="input `s`"):
        bt.function([x], pt.minimum(x, s), mode=NanGuardMode())([1.0])
    s.tag.nan_guard_mode_check = False
    assert bt.function([x], pt.minimum(x, s), mode=NanGuardMode())([1.0]).tolist() == [1.0]


# ---- pickles ----


def again(thing):
    return pickle.loads(pickle.dumps(thing))


def test_nan_guards_in_pickles(caplog):
    x = pt.dvector("x")
    for mode in (NanGuardMode(inf_is_error=False), bt.get_mode("NanGuardMode").excluding("fusion")):
        for f in (
            bt.function([x], pt.log(x), mode=again(mode)),
            again(bt.function([x], pt.log(x), mode=mode)),
        ):
            with pytest.raises(bt.compile.NanGuardError):
                f([-1.0])
    assert (
        again(
            bt.function([x], pt.log(x), mode=NanGuardMode(inf_is_error=False, big_is_error=False))
        )([0.0])
        == -np.inf
    )
    with caplog.at_level(logging.ERROR):
        again(bt.function([x], pt.log(x), mode=NanGuardMode(action="warn")))([-1.0])
    assert "found a nan in output 0" in caplog.text


_seen = []


def note_node(fgraph, i, node, fn):
    _seen.append(str(node.op))


def test_monitors_in_pickles():
    x = pt.dvector("x")
    f = again(bt.function([x], pt.exp(x), mode=MonitorMode(post_func=note_node)))
    _seen.clear()
    assert f([0.0]) == 1.0 and len(_seen) == 1
    with pytest.raises((AttributeError, pickle.PicklingError)):
        pickle.dumps(MonitorMode(post_func=lambda *ignored: None))

"""DebugMode: correct graphs pass, deliberate errors are found, and the exception describes them."""

import pickle
import sys

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale.breakpoint import PdbBreakpoint
from bitale.compile import (
    BadDestroyMap,
    BadOptimization,
    BadThunkOutput,
    BadViewMap,
    DebugMode,
    DebugModeError,
    InvalidValueError,
    StochasticOrder,
)


def quick(**options):
    """A DebugMode without the C linker, which starts a compiler process per node."""
    return DebugMode(**{"native_linkers": ["jit"], "stability_patience": 3, **options})


def test_a_training_step():
    random = np.random.default_rng(1)
    x, y = pt.dmatrix("x"), pt.lvector("y")

    def step(mode):
        w, b = bt.shared(random.normal(size=(4, 3)), "w"), bt.shared(np.zeros(3), "b")
        w.set_value(np.linspace(-1, 1, 12).reshape(4, 3))
        logits = pt.tanh(x @ w) + b
        loss = -(logits[pt.arange(y.shape[0]), y] - pt.logsumexp(logits, axis=1)).mean()
        updates = [(p, p - 0.1 * g) for p, g in zip([w, b], bt.grad(loss, [w, b]))]
        return bt.function([x, y], loss, updates=updates, mode=mode), w

    given = random.normal(size=(5, 4)), np.array([0, 1, 2, 0, 1])
    plain, expected = step("FAST_RUN")
    losses = [plain(*given) for _ in range(2)]
    for mode in (
        quick(),
        quick(check_preallocated_output="ALL"),
        quick(check_preallocated_output=["initial", "f_contiguous"]),
    ):
        checked, w = step(mode)
        np.testing.assert_allclose([checked(*given) for _ in range(2)], losses)
        np.testing.assert_allclose(w.get_value(), expected.get_value())


def test_by_name_and_by_flag():
    x = pt.dscalar("x")
    with bt.config.change_flags(DebugMode__check_c=False):
        for mode in ("DebugMode", "DEBUG_MODE"):
            f = bt.function([x], pt.exp(x), mode=mode)
            assert repr(f.mode).startswith("DebugMode(") and f(0.0) == 1
        with bt.config.change_flags(mode="DebugMode"):
            assert repr(bt.function([x], x + 1).mode).startswith("DebugMode(")
    assert {"DebugMode", "DEBUG_MODE"} <= set(bt.compile.mode_names())


def test_c_code(tmp_path):
    x = pt.dvector("x")
    f = bt.function([x], pt.exp(x) + 1, mode=DebugMode())
    assert f([0.0]).tolist() == [2.0]
    with bt.config.change_flags(cc="/nonexistent/cc"):
        assert bt.function([x], pt.exp(x) + 2, mode=DebugMode())([0.0]).tolist() == [3.0]


@pytest.fixture
def bad_cosh():
    """A wrong rewrite: cosh(x) becomes exp(x) / 2, which is accurate only for large x."""

    @bt.rewrite.node_rewriter(["cosh"])
    def cosh_is_exp(fgraph, node):
        return [pt.exp(node.inputs[0]) / 2]

    return cosh_is_exp


def test_a_rewrite_that_changes_values(bad_cosh):
    x = pt.dvector("x")
    f = bt.function([x], pt.cosh(2 * x) + 1, mode=quick().register((bad_cosh, 0.5)))
    f([20.0, 30.0])
    with pytest.raises(BadOptimization) as caught:
        f([20.0, 0.0])
    bad = caught.value
    assert isinstance(bad, DebugModeError) and bad.reason == "cosh_is_exp"
    assert bad.old_r.owner.op != bad.new_r.owner.op and bad.old_r.type == bad.new_r.type
    np.testing.assert_allclose(bad.old_r_val, np.cosh([40.0, 0.0]))
    np.testing.assert_allclose(bad.new_r_val, np.exp([40.0, 0.0]) / 2)
    assert "Cosh" in bad.old_graph and "Exp" in bad.new_graph
    text = str(bad)
    for part in (
        "cosh_is_exp",
        "1 of 2 elements differ, most at (1,): 1.0 and 0.5",
        "absolute: max 0.5",
        "test_debugmode.py",
        "excluding",
    ):
        assert part in text, part
    assert f([20.0, 30.0]).shape == (2,)


def test_a_wrong_rewrite_among_correct_ones(bad_cosh):
    """The first wrong value is reported, although all values computed from it are wrong as well."""
    x = pt.dvector("x")
    y = pt.log(1 + pt.cosh(x + 0)) * 1
    with pytest.raises(BadOptimization) as caught:
        bt.function([x], [y, pt.exp(y)], mode=quick().register((bad_cosh, 1.2)))([0.5])
    assert caught.value.reason == "cosh_is_exp"


def test_a_nondeterministic_rewrite():
    calls = []

    @bt.rewrite.node_rewriter(["cosh"])
    def alternating(fgraph, node):
        (x,) = node.inputs
        calls.append(x)
        return [(pt.exp(x) + pt.exp(-x)) * 0.5 if len(calls) % 2 else (pt.exp(-x) + pt.exp(x)) / 2]

    x = pt.dvector("x")
    with pytest.raises(StochasticOrder, match="went another way"):
        bt.function([x], pt.cosh(x), mode=quick().register((alternating, 0.5)))
    bt.function([x], pt.cosh(x), mode=quick(stability_patience=1).register((alternating, 0.5)))(
        [1.0]
    )


def test_values_that_are_not_finite():
    x, s = pt.dvector("x"), bt.shared(1.0, "s")
    f = bt.function([x], pt.log(x), updates={s: s + 1}, mode=quick())
    assert f([1.0]) == 0
    with pytest.raises(InvalidValueError) as caught:
        f([1.0, 0.0])
    assert (
        caught.value.v.tolist() == [0, -np.inf]
        and "Log" in str(caught.value.r.owner.op)
        and "Log" in caught.value.hint
    )
    with pytest.raises(InvalidValueError, match="the input is not a value") as caught:
        f([np.nan])
    assert caught.value.r.name == "x" and "check_isfinite" in caught.value.specific_hint
    assert s.get_value() == 2
    lenient = bt.function([x], pt.log(x), mode=quick(check_isfinite=False))
    assert lenient([0.0]) == -np.inf and np.isnan(lenient([np.nan]))
    with bt.config.change_flags(DebugMode__check_finite=False):
        assert bt.function([x], pt.log(x), mode=quick())([0.0]) == -np.inf
    # The expression as written may overflow where the rewritten one does not.
    assert bt.function([x], pt.log(pt.exp(x).sum()), mode=quick())([1000.0, 0.0]) == 1000


def test_a_nondeterministic_op(monkeypatch):
    """Python ops cannot violate other guarantees, since their inputs and outputs are copied."""
    values = iter(range(100))

    def change(*ignored):
        sys._getframe(1).f_locals["monitored"][0][:] = next(values)

    monkeypatch.setattr(sys, "breakpointhook", change)
    x = pt.dvector("x")
    z = PdbBreakpoint("large")((x > 1).any(), x)
    f = bt.function([x], z * 2, mode=quick())
    assert f([0.5]).tolist() == [1.0]
    with pytest.raises(BadThunkOutput) as caught:
        f([2.0])
    bad = caught.value
    assert (
        bad.r.owner.op.name.startswith("PdbBreakpoint")
        and bad.thunk1 == "perform"
        and bad.thunk2 == "perform, again"
    )
    assert (bad.val1.tolist(), bad.val2.tolist()) == ([0.0], [1.0])
    assert [value.tolist() for value in bad.inputs_val] == [True, [2.0]]


def test_errors_of_the_computation_are_unchanged():
    x, y = pt.dvectors("x", "y")
    f = bt.function([x, y], x + y, mode=quick())
    with pytest.raises(bt.ShapeError):
        f([1.0, 2.0], [1.0, 2.0, 3.0])
    with pytest.raises(TypeError):
        f("abc", [1.0])


def test_the_branch_that_is_not_taken_is_not_checked():
    x, y = pt.dvectors("x", "y")
    f = bt.function([x, y], bt.ifelse(x.sum() > 0, pt.log(x), x + y), mode=quick())
    assert f([1.0], [1.0, 2.0]).tolist() == [0.0]
    assert f([-1.0], [2.0]).tolist() == [1.0]
    with pytest.raises(InvalidValueError):
        f([2.0, 0.0], [1.0, 2.0])
    with pytest.raises(bt.ShapeError):
        f([-2.0, -1.0], [1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    "options, message",
    [
        ({"stability_patience": 0}, "patience"),
        ({"check_preallocated_output": "stride"}, "strided"),
        ({"check_preallocated_output": ["ALL", "nothing"]}, "nothing"),
        ({"native_linkers": ["jot"]}, "jit"),
        ({"linker": "jot"}, "jit"),
        ({"optimizer": "fastrun"}, "fast_run"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(ValueError, match=message):
        DebugMode(**options)
    with pytest.raises(TypeError):
        DebugMode(colour="red")


def test_derived_modes_and_pickles():
    mode = quick(check_isfinite=False)
    assert isinstance(mode, bt.Mode)
    x = pt.dvector("x")
    for other in (
        mode.excluding("fusion"),
        pickle.loads(pickle.dumps(mode)),
        pickle.loads(pickle.dumps(mode.including("stabilize"))),
    ):
        assert repr(other).startswith("DebugMode(")
        assert bt.function([x], pt.log(x), mode=other)([0.0]) == -np.inf
    f = pickle.loads(pickle.dumps(bt.function([x], pt.log(x), mode=quick())))
    with pytest.raises(InvalidValueError):
        f([0.0])


def test_names():
    for error in (
        BadDestroyMap,
        BadOptimization,
        BadThunkOutput,
        BadViewMap,
        InvalidValueError,
        StochasticOrder,
    ):
        assert issubclass(error, DebugModeError) and error.__module__ == "bitale.compile.debugmode"


def test_verbose_rewriting(capfd):
    x = pt.dvector("x")
    y = pt.log(1 + x) + 0
    with bt.config.change_flags(optimizer_verbose=True):
        bt.function([x], y)
        lines = capfd.readouterr().err.splitlines()
        named = [line for line in lines if line.startswith("rewrite ") and "log1p" in line]
        assert named and "test_debugmode.py" in named[0] and "->" in named[0]
        rules = {
            line.split()[1].rstrip(":").split("/")[1]
            for line in lines
            if line.startswith("rewrite ")
        }
        with bt.config.change_flags(optimizer_verbose_ignore=",".join(sorted(rules)[1:])):
            bt.function([x], y)
        left = capfd.readouterr().err
        assert sorted(rules)[0] in left and not any(
            rule + ":" in left for rule in sorted(rules)[1:]
        )
    bt.function([x], y)
    assert not capfd.readouterr().err

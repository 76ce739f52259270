"""Errors of running functions, checks, prints, breakpoints and test values."""

import copy
import pickle
import sys
import warnings

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale.breakpoint import PdbBreakpoint
from bitale.graph import get_test_value
from bitale.printing import Print
from bitale.raise_op import Assert, CheckAndRaise, assert_op


class Flood(Exception):
    pass


@pytest.fixture(params=["vm", "jit", "c"])
def linker(request):
    return bt.Mode(request.param)


# ---- errors ----------------------------------------------------------------------------------------------------------


def test_errors_refer_to_the_node(linker):
    x, y = pt.dvector("x"), pt.dvector("y")
    f = bt.function([x, y], pt.exp(x) + y, mode=linker, name="model")
    with pytest.raises(bt.ShapeError) as caught:
        f([1.0, 2.0, 3.0], [1.0, np.nan])
    error = caught.value
    assert error.node in f.maker.fgraph.apply_nodes
    assert "y: f64 (2,), strides (8,), from 1.0 to 1.0, 1 nan, [1.0, nan]" in str(error)
    assert "test_debugging.py" in str(error) and "function model" in str(error)


def test_errors_show_the_strides_of_the_argument(linker):
    x, y = pt.dvector("x"), pt.dvector("y")
    f = bt.function([x, y], x + y, mode=linker)
    with pytest.raises(bt.ShapeError, match=r"x: f64 \(3,\), strides \(-16,\)"):
        f(np.arange(6.0)[::-2], [1.0, 2.0])


def test_errors_keep_their_class(linker):
    x, i = pt.dvector("x"), pt.lvector("i")
    f = bt.function([x, i], x[i], mode=linker)
    with pytest.raises(IndexError, match="node ") as caught:
        f([1.0], [3])
    assert caught.value.node.op.name.startswith("AdvancedSubtensor")


def test_failing_calls_change_nothing(linker):
    x = pt.dvector("x")
    state = bt.shared(np.arange(3.0), "state")
    f = bt.function([x], state + x, updates={state: state * 2}, mode=linker)
    out = np.full(3, 7.0)
    with pytest.raises(bt.ShapeError, match=r"state: f64 \(3,\), strides \(8,\), from 0.0 to 2.0"):
        f(np.zeros(2), out=out)
    assert out.tolist() == [7.0] * 3 and state.get_value().tolist() == [0.0, 1.0, 2.0]


def test_python_exceptions_keep_their_class(linker):
    def burst(op, value):
        raise Flood("too much")

    x = pt.dvector("x")
    f = bt.function([x], Print(global_fn=burst)(x), mode=linker)
    with pytest.raises(Flood, match="^too much") as caught:
        f([1.0, 2.0])
    assert str(caught.value) == "too much"
    assert caught.value.node.op.name.startswith("Print")
    if sys.version_info >= (3, 11):
        assert "x: f64 (2,)" in caught.value.__notes__[0]


# ---- checks ----------------------------------------------------------------------------------------------------------


def test_only_the_beginning_of_a_large_array_is_inspected():
    x = pt.fmatrix("x")
    f = bt.function([x], pt.linalg.det(x))
    large = np.ones((2**22 // 64 + 1, 64), "float32")
    large[-1] = 7
    with pytest.raises(ValueError) as error:
        f(large)
    assert (
        "x: f32 (65537, 64), strides (256, 4), from 1.0 to 1.0 in the first 4194304 elements, [1.0"
        in str(error.value)
    )


@pytest.mark.parametrize("cls", [ValueError, AssertionError, ZeroDivisionError, MemoryError, Flood])
def test_check_and_raise(linker, cls):
    x = pt.dvector("x")
    f = bt.function(
        [x], CheckAndRaise(cls, "x is wrong")(x, (x > 0).all(), x.shape[0] < 3), mode=linker
    )
    assert f([1.0]).tolist() == [1.0]
    for wrong in ([-1.0], [1.0] * 3):
        with pytest.raises(cls, match="^x is wrong\n") as caught:
            f(wrong)
        assert type(caught.value) is cls and caught.value.node is not None


def test_local_exception_classes():
    class Local(Exception):
        pass

    x = pt.dscalar("x")
    f = bt.function([x], CheckAndRaise(Local, "no")(x, x > 0))
    with pytest.raises(Local):
        f(-1.0)
    assert CheckAndRaise(Local, "no") == CheckAndRaise(Local, "no")
    assert CheckAndRaise(Local, "no") != CheckAndRaise(Flood, "no")


def test_wrong_checks():
    x = pt.dvector("x")
    for wrong in (3, int, "ValueError"):
        with pytest.raises(TypeError):
            CheckAndRaise(wrong, "")
    with pytest.raises(TypeError, match="scalar condition"):
        assert_op(x, x > 0)


def test_asserts_differentiate_vectorize_and_pickle():
    x = pt.dvector("x")
    y = Assert("positive")(x, (x > 0).all())
    g = bt.function([x], bt.grad((y**2).sum(), x))
    assert g([1.0, 2.0]).tolist() == [2.0, 4.0]
    rows = pt.dmatrix("rows")
    f = bt.function([rows], bt.vectorize_graph(y * 2, {x: rows}))
    assert f(np.ones((2, 3))).tolist() == [[2.0] * 3] * 2
    with pytest.raises(AssertionError, match="positive"):
        f([[1.0], [-1.0]])
    loaded = pickle.loads(
        pickle.dumps(bt.function([x], CheckAndRaise(Flood, "high")(x, x.sum() < 1)))
    )
    with pytest.raises(Flood):
        loaded([3.0])


def test_a_check_of_a_constant_is_not_folded():
    """Rules that know the constant's value do not see it through the check."""
    x = pt.dvector("x")
    for value in (1.0, -1.0, 0.0):
        f = bt.function([x], x * Assert("positive")(pt.constant(value), (x > 0).all()))
        assert np.array_equal(f([1.0, 2.0]), [value, 2 * value])
        with pytest.raises(AssertionError, match="positive"):
            f([-1.0, 2.0])


def test_asserts_can_be_removed():
    x = pt.dvector("x")
    f = bt.function(
        [x],
        Assert()(x, (x > 0).all()),
        mode=bt.get_mode("FAST_RUN").including("local_remove_all_assert"),
    )
    assert f([-1.0]).tolist() == [-1.0]


# ---- prints ----------------------------------------------------------------------------------------------------------


def test_print(linker, capsys):
    x = pt.dvector("x")
    f = bt.function([x], [Print("x =", attrs=["__str__", "shape"])(x) * 2, x + 1], mode=linker)
    assert capsys.readouterr().out == ""
    assert f([1.0, 2.0])[0].tolist() == [2.0, 4.0]
    assert capsys.readouterr().out == "x = __str__ = [1. 2.]\nx = shape = (2,)\n"


def test_print_functions_get_a_copy(linker):
    seen = []
    x = pt.dvector("x")
    op = Print("message", global_fn=lambda op, value: seen.append((op.message, value)))
    f = bt.function([x], op(pt.exp(x)).sum(), mode=linker)
    for k in range(3):
        f(np.full(5, float(k)))
    assert [message for message, _ in seen] == ["message"] * 3
    for k in range(3):
        np.testing.assert_allclose(seen[k][1], np.exp(float(k)))


def shout(op, value):
    print(op.message.upper(), value)


def test_prints_pickle(capsys):
    x = pt.dscalar("x")
    f = pickle.loads(pickle.dumps(bt.function([x], Print("hey", global_fn=shout)(x))))
    f(1.5)
    assert capsys.readouterr().out == "HEY 1.5\n"


# ---- breakpoints -----------------------------------------------------------------------------------------------------


def test_breakpoint(linker, monkeypatch, capsys):
    stops = []

    def hook():
        monitored = sys._getframe(1).f_locals["monitored"]
        stops.append([np.array(value) for value in monitored])
        monitored[0] = np.zeros(2)

    monkeypatch.setattr(sys, "breakpointhook", hook)
    x, n = pt.dvector("x"), pt.lscalar("n")
    y, m = PdbBreakpoint("negative")((x < 0).any(), x, n)
    f = bt.function([x, n], [y + 1, m], mode=linker)
    assert f([1.0, 2.0], 3)[0].tolist() == [2.0, 3.0] and not stops
    out, same = f([1.0, -2.0], 3)
    assert out.tolist() == [1.0, 1.0] and same == 3
    assert len(stops) == 1 and stops[0][0].tolist() == [1.0, -2.0] and stops[0][1] == 3
    assert "breakpoint 'negative'" in capsys.readouterr().out
    g = bt.function([x, n], bt.grad((y**2).sum(), x) + n, mode=linker)
    assert g([1.0, 2.0], 0).tolist() == [2.0, 4.0]


# ---- test values and tags --------------------------------------------------------------------------------------------


def test_test_values():
    with bt.config.change_flags(compute_test_value="raise"):
        x, w = pt.dmatrix("x"), bt.shared(np.ones(3), "w")
        x.tag.test_value = np.arange(6.0).reshape(2, 3)
        y = pt.tanh(x @ w).sum()
        np.testing.assert_allclose(y.tag.test_value, np.tanh([3.0, 12.0]).sum())
        assert bt.grad(y, x).tag.test_value.shape == (2, 3)
        with pytest.raises(bt.ShapeError, match="test_debugging.py") as caught:
            x + pt.as_tensor(np.ones(4))
        assert caught.value.node is not None
        assert get_test_value(pt.as_tensor(2.0)) == 2.0
        with bt.config.change_flags(print_test_value=True):
            assert repr(y).endswith(repr(y.tag.test_value))
        assert "array" not in repr(y)
        bt.function([x], y)(np.ones((2, 3)))


def test_missing_test_values(monkeypatch):
    x = pt.dvector("x")
    with bt.config.change_flags(compute_test_value="raise"):
        with pytest.raises(AttributeError, match="`x` .*has no test value"):
            x + 1
    with bt.config.change_flags(compute_test_value="ignore"):
        assert not hasattr((x + 1).tag, "test_value")
    with (
        bt.config.change_flags(compute_test_value="warn"),
        pytest.warns(UserWarning, match="no test value"),
    ):
        x + 1
    with bt.config.change_flags(compute_test_value="warn"), warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning):
            x + 1
    stops = []
    monkeypatch.setattr(sys, "breakpointhook", lambda: stops.append(1))
    with bt.config.change_flags(compute_test_value="pdb"):
        x + 1
    assert stops == [1]
    assert not hasattr((x + 1).tag, "test_value")
    with pytest.raises(AttributeError):
        get_test_value(x)


def test_compiling_computes_no_test_values():
    with bt.config.change_flags(compute_test_value="raise"):
        x = pt.dvector("x")
        x.tag.test_value = [1.0, 2.0]
        y = pt.log(1 + pt.exp(x)) / 2
        for mode in ("FAST_RUN", "FAST_COMPILE"):
            bt.function([x], [y, bt.grad(y.sum(), x)], mode=mode)([1.0])
        bt.FunctionGraph([x], [y])


def test_tags():
    x = pt.dvector("x")
    x.tag.note = "mine"
    x.tag.test_value = [1, 2]
    again = (x + 1).owner.inputs[0]
    assert again.tag.note == "mine" and again.tag.test_value.tolist() == [1.0, 2.0]
    assert again.tag.test_value.dtype == np.float64
    with pytest.raises(AttributeError):
        x.tag.other
    for wrong in ([[1.0]], "text"):
        with pytest.raises((TypeError, ValueError)):
            x.tag.test_value = wrong
    del x.tag.note
    assert not hasattr(x.tag, "note") and "test_value" in dir(x.tag)
    x.tag.clear()
    assert not hasattr(x.tag, "test_value")
    assert copy.copy(x) is x


def test_tags_live_as_long_as_the_variable():
    y = pt.exp(pt.dvector("x"))
    y.owner.inputs[0].tag.note = [1]
    assert y.owner.inputs[0].tag.note == [1]


# ---- source locations of variables ----


def helper(x):
    return pt.exp(x)


def layer(x):
    return helper(x) + 1


def lines_of(variable):
    (trace,) = variable.tag.trace
    return [(frame.name, frame.line) for frame in trace]


def test_the_trace_of_a_variable():
    x = pt.dvector("x")
    y = layer(x)
    assert lines_of(y.owner.inputs[0])[-3:] == [
        ("test_the_trace_of_a_variable", "y = layer(x)"),
        ("layer", "return helper(x) + 1"),
        ("helper", "return pt.exp(x)"),
    ]
    assert lines_of(y)[-1] == ("layer", "return helper(x) + 1")
    assert lines_of(x)[-1] == ("test_the_trace_of_a_variable", 'x = pt.dvector("x")')
    assert len(x.tag.trace[0]) <= 8 and str(x.tag) == "<tag of x: nothing>"


@pytest.mark.parametrize("limit", [0, 1, 2, 3, -1])
def test_length_limit_of_traces(limit):
    def nested(depth):
        return layer(pt.dvector()) if depth == 0 else nested(depth - 1)

    with bt.config.change_flags(traceback__limit=limit):
        y = nested(20)
    if limit == 0:
        assert not hasattr(y.tag, "trace") and y.where == "" and y.owner.inputs[0].where == ""
    elif limit > 0:
        assert len(lines_of(y)) == limit
    else:
        assert lines_of(y)[0][0] == "test_length_limit_of_traces"
        assert [name for name, _ in lines_of(y)].count(
            "test_length_limit_of_traces.<locals>.nested"
        ) == 21


def test_one_line_called_from_several_places():
    x = pt.dvector("x")
    first = layer(x)
    second = layer(x)
    third = [layer(x) for _ in range(3)]
    assert (
        lines_of(first)[-2][1] == "first = layer(x)"
        and lines_of(second)[-2][1] == "second = layer(x)"
    )
    assert all(
        "third" in [line for _, line in lines_of(y)][-2]
        or "third" in [line for _, line in lines_of(y)][-3]
        for y in third
    )


def test_errors_name_the_callers(linker):
    x, y = pt.dvector("x"), pt.dvector("y")

    def add(a, b):
        return a + b

    total = add(x, y)
    with pytest.raises(bt.ShapeError) as caught:
        bt.function([x, y], total, mode=linker)([1.0, 2.0], [1.0])
    lines = str(caught.value).splitlines()
    (at,) = [i for i, line in enumerate(lines) if line.startswith("  built at ")]
    assert "in `test_errors_name_the_callers.<locals>.add`" in lines[at]
    assert lines[at + 1].startswith("           called at ") and lines[at + 1].endswith(
        "in `test_errors_name_the_callers`"
    )
    assert not any(
        line.strip().startswith("called at ") for line in lines[at + 2 :]
    )  # no frames of the test runner

    def undeclared_input():
        return pt.dvector("z")

    with pytest.raises(bt.MissingInputError, match="called at"):
        bt.function([x], add(x, undeclared_input()))


def test_lines_of_short_lived_code():
    """Source lines are cached by code object, and a code object may have been freed in the meantime."""
    x = pt.dvector("x")
    for i in range(3000):
        names = {"x": x}
        exec(compile("\n" * i + "y = x + 1", f"file{i % 7}.py", "exec"), names)
        assert names["y"].where == f"file{i % 7}.py:{i + 1}"

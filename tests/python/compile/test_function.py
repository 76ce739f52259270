"""function(): forms of outputs, inputs by name, updates, givens, shared variables, modes, threads."""

import gc
import pickle
import sys
import threading

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale.raise_op import Assert
from bitale.tensor.basic import all_dtypes


def test_forms_of_outputs(mode):
    x, y = pt.dscalars("x", "y")
    one = bt.function([x, y], x + y, mode=mode)(1.0, 2.0)
    assert isinstance(one, np.ndarray) and one.shape == () and one == 3.0
    assert bt.function([x, y], [x + y], mode=mode)(1.0, 2.0) == [3.0]
    assert bt.function([x, y], (x + y, x), mode=mode)(1.0, 2.0) == (3.0, 1.0)
    assert bt.function([x, y], {"sum": x + y, "x": x}, mode=mode)(1.0, 2.0) == {
        "sum": 3.0,
        "x": 1.0,
    }
    assert bt.function([x, y], [], mode=mode, on_unused_input="ignore")(1.0, 2.0) == []
    assert bt.function([x], bt.Out(x * 2, borrow=True), mode=mode)(1.0) == 2.0


def test_no_outputs(mode):
    s = bt.shared(0.0)
    x = pt.dscalar("x")
    f = bt.function([x], None, updates={s: s + x}, mode=mode)
    assert f(2.0) is None and f(3.0) is None
    assert s.get_value() == 5.0


def test_inputs_by_name(mode):
    x, y = pt.dscalars("x", "y")
    f = bt.function([x, y], x - y, mode=mode)
    assert f(5.0, y=2.0) == f(y=2.0, x=5.0) == 3.0
    g = bt.function([bt.In(x, name="a"), y], x - y, mode=mode)
    assert g(a=5.0, y=2.0) == 3.0


@pytest.mark.parametrize(
    "call",
    [
        lambda f: f(1.0),
        lambda f: f(),
        lambda f: f(1.0, 2.0, 3.0),
        lambda f: f(1.0, z=2.0),
        lambda f: f(1.0, x=2.0),
        lambda f: f(y=1.0),
        lambda f: f(1.0, "a"),
        lambda f: f(1.0, None),
        lambda f: f(1.0, pt.dscalar()),
        lambda f: f(1.0, [1.0]),
        lambda f: f(1.0, 1j),
        lambda f: f(1.0, {}),
        lambda f: f(1.0, object()),
        lambda f: f(np.ones(3), 1.0),
    ],
)
def test_bad_calls(call, mode):
    x, y = pt.dscalars("x", "y")
    f = bt.function([x, y], x - y, mode=mode)
    with pytest.raises((TypeError, NotImplementedError)):
        call(f)
    assert f(3.0, 1.0) == 2.0


def test_functions_are_created_by_function_only():
    x = pt.dvector("x")
    kind = type(bt.function([x], x))
    for make in (kind, lambda: kind.__new__(kind), lambda: type("Mine", (kind,), {})()):
        with pytest.raises(TypeError, match="bitale.function"):
            make()


def test_kinds_of_numbers(mode):
    """Python numbers are passed in registers directly, or after conversion: values and errors are the same."""
    x, n = pt.dscalar("x"), pt.lscalar("n")
    f = bt.function([x, n], [x, n], mode=mode)
    for one in (1, 1.0, True, np.float64(1), np.float32(1), np.int8(1), np.array(1.0), np.array(1)):
        assert f(one, 1) == [1.0, 1]
    for one in (1, True, np.int64(1), np.uint8(1), np.array(1), 1.0):
        assert f(1.0, one) == [1.0, 1]
    assert f(2**53, 2**63 - 1) == [2.0**53, 2**63 - 1]
    assert f(-(2**53), -(2**63)) == [-(2.0**53), -(2**63)]
    for bad in (2**1100, "1"):
        with pytest.raises((TypeError, OverflowError)):
            f(bad, 1)
    for bad in (2**63, 1.5, float("nan")):
        with pytest.raises((TypeError, OverflowError)):
            f(1.0, bad)


def test_long_calls_return_writable_results(mode):
    x = pt.dvector("x")
    f = bt.function([x], [pt.sum(pt.exp(x)), x * 2, pt.zeros((0,)), x[:3]], mode=mode)
    total, double, empty, few = f(np.zeros(1_000_000))
    assert (
        total == 1e6 and double.shape == (1_000_000,) and empty.shape == (0,) and few.shape == (3,)
    )
    for result in (total, double, few):
        result[...] = 1  # the result belongs to the caller


def test_errors_name_the_input():
    x = pt.dvector("velocity")
    f = bt.function([x], x * 2, name="double")
    for bad in (np.ones((2, 2)), np.array("a"), np.array([1j])):
        with pytest.raises((TypeError, NotImplementedError), match="velocity"):
            f(bad)
    with pytest.raises(TypeError, match="velocity"):
        f()


def test_updates_of_scalars_do_not_change_referenced_values():
    """Such calls reuse the memory of the value before the current one, unless it is still referenced."""
    count = bt.shared(np.float64(0.0))
    f = bt.function([], count * 2, updates={count: count + 1})
    held = []
    for step in range(6):
        held.append(count.get_value(borrow=True))
        assert f() == 2 * step
    assert [float(value) for value in held] == list(range(6)) and count.get_value() == 6
    count.set_value(np.float64(10.0))
    assert f() == 20 and f() == 22 and count.get_value() == 12


def test_a_failing_call_updates_none_of_several_scalars():
    a, b, x = bt.shared(np.int64(1)), bt.shared(np.int64(2)), pt.dscalar("x")
    checked = Assert("positive")(x, x > 0)
    f = bt.function([x], checked, updates={a: b, b: a + b})
    for _ in range(3):
        f(1.0)
    before = int(a.get_value()), int(b.get_value())
    assert before == (5, 8)
    with pytest.raises(AssertionError, match="positive"):
        f(-1.0)
    assert (int(a.get_value()), int(b.get_value())) == before
    f(1.0)
    assert (int(a.get_value()), int(b.get_value())) == (8, 13)


def test_updates_are_simultaneous(mode):
    a, b = bt.shared(1.0, "a"), bt.shared(2.0, "b")
    f = bt.function([], [a, b], updates=[(a, b), (b, a + b)], mode=mode)
    assert f() == [1.0, 2.0]
    assert (a.get_value(), b.get_value()) == (2.0, 3.0)
    assert f.get_shared() == [a, b]


def test_failed_calls_change_nothing(mode):
    s = bt.shared(np.zeros(3), "s")
    x = pt.dvector("x")
    f = bt.function([x], s.sum(), updates={s: s + x}, mode=mode)
    with pytest.raises(ValueError):
        f(np.ones(4))
    np.testing.assert_array_equal(s.get_value(), np.zeros(3))
    f(np.ones(3))
    np.testing.assert_array_equal(s.get_value(), np.ones(3))


def test_a_computed_variable_as_input_replaces_its_graph(mode):
    x, y, q = pt.dscalars("x", "y", "q")
    z = x + y
    w = 2 * z
    assert bt.function([z], w, mode=mode)(3.0) == 6.0
    assert bt.function([z], z, mode=mode)(3.0) == 3.0
    assert bt.function([x, z], w + x, mode=mode)(1.0, 3.0) == 7.0
    assert bt.function([z], q + x, givens={q: w, x: 1.0}, mode=mode)(3.0) == 7.0
    assert bt.function([y], w, givens={z: y + 1}, mode=mode)(1.0) == 4.0
    s = bt.shared(1.0, "s")
    f = bt.function([bt.In(z, name="z", value=5.0)], w, updates={s: s + z}, mode=mode)
    assert f() == 10.0 and f(3.0) == 6.0 and f(z=1.0) == 2.0 and s.get_value() == 10.0
    g = bt.function([x, bt.In(z, value=s, update=z + x)], w, mode=mode)  # an implicit input
    assert g(1.0) == 20.0 and s.get_value() == 11.0
    with pytest.raises(bt.UnusedInputError, match="`x`"):
        bt.function([x, z], w, mode=mode)
    with pytest.raises(bt.MissingInputError, match="`x`"):
        bt.function([z], w + x, mode=mode)
    copied = pickle.loads(pickle.dumps(bt.function([z], w, mode=mode)))
    assert copied(4.0) == 8.0


def test_eval_with_the_value_of_a_computed_variable():
    x, y = pt.dscalars("x", "y")
    z = x + y
    w = 2 * z
    assert w.eval({z: 3.0}) == 6.0 and z.eval({z: 3.0}) == 3.0
    z.name = "z"
    assert w.eval({"z": 3.0}) == 6.0
    with pytest.raises(KeyError, match="no variable is called u"):
        w.eval({"u": 3.0})
    y.name = "z"
    with pytest.raises(KeyError, match="several variables are called z"):
        w.eval({"z": 3.0})


def test_givens_for_an_input_are_rejected():
    x, y = pt.dscalars("x", "y")
    for givens in ({x: x + 1}, [(x, y)]):
        with pytest.raises(ValueError, match="`x` is an input"):
            bt.function([x, y], x + y, givens=givens)


def test_givens(mode):
    x, y = pt.dscalars("x", "y")
    assert bt.function([y], x + 1, givens={x: y * 10}, mode=mode)(2.0) == 21.0
    assert bt.function([], x + 1, givens=[(x, 3.0)], mode=mode)() == 4.0
    s = bt.shared(1.0)
    assert bt.function([y], s * 2, givens={s: y}, mode=mode)(5.0) == 10.0


@pytest.mark.parametrize(
    "build",
    [
        lambda x, y, s: bt.function([x], x + y),
        lambda x, y, s: bt.function([x, y], x * 2),
        lambda x, y, s: bt.function([x, x], x * 2),
        lambda x, y, s: bt.function(x, x * 2),
        lambda x, y, s: bt.function([1.0], x * 2),
        lambda x, y, s: bt.function([s], s * 2),
        lambda x, y, s: bt.function([x], x, updates={x: x + 1}),
        lambda x, y, s: bt.function([x], x, updates={s: pt.ones(3) * x}),
        lambda x, y, s: bt.function([x], x, updates=[(s, x), (s, x + 1)]),
        lambda x, y, s: bt.function([x], x, updates=[s]),
        lambda x, y, s: bt.function([x], x, mode="FAST"),
        lambda x, y, s: bt.function([x], x, mode=3),
        lambda x, y, s: bt.function([x], x, on_unused_input="whatever"),
        lambda x, y, s: bt.function([x], "x"),
        lambda x, y, s: bt.function([x], x, givens={1: x}),
        lambda x, y, s: bt.function([x], x, accept_inplace="yes"),
    ],
)
def test_invalid_functions(build):
    x, y, s = pt.dscalar("x"), pt.dscalar("y"), bt.shared(0.0, "s")
    with pytest.raises(
        (TypeError, ValueError, NotImplementedError, bt.MissingInputError, bt.UnusedInputError)
    ) as caught:
        build(x, y, s)
    assert str(caught.value)


def test_ops_in_place_are_accepted():
    x = pt.dvector("x")
    assert bt.function([x], x + 1, accept_inplace=True)([1.0]).tolist() == [2]
    assert bt.compile.FunctionMaker([x], [x + 1], accept_inplace=True).create()([1.0])[
        0
    ].tolist() == [2]


def test_missing_and_unused_inputs():
    x, y = pt.dscalars("x", "y")
    with pytest.raises(bt.MissingInputError, match="y"):
        bt.function([x], x + y)
    with pytest.raises(bt.UnusedInputError, match="y"):
        bt.function([x, y], x * 2)
    assert bt.function([x, y], x * 2, on_unused_input="ignore")(2.0, 3.0) == 4.0
    with pytest.warns(UserWarning, match="y"):
        assert bt.function([x, y], x * 2, on_unused_input="warn")(2.0, 3.0) == 4.0
    with pytest.raises(bt.UnusedInputError, match="twice"):
        bt.function([x, x], x * 2, on_unused_input="warn")


def test_results_belong_to_the_caller(mode):
    x = pt.dvector("x")
    s = bt.shared(np.zeros(100), "s")
    for given in (np.zeros(3), np.zeros(100)):
        f = bt.function(
            [x], [x, x.T, x[::-1], s, pt.constant(np.zeros(100)), pt.zeros(100)], mode=mode
        )
        results = f(given)
        for result in results:
            result[...] = 7.0
        assert not given.any() and not s.get_value().any()
        for result in f(given):
            assert not result.any()


def test_large_results_stay_alive(mode):
    x = pt.dvector("x")
    f = bt.function([x], x + 1, mode=mode)
    results = [f(np.full(10_000, float(i))) for i in range(20)]
    for i, result in enumerate(results):
        assert (result == i + 1).all() and result.flags.writeable


def test_shared_values():
    given = np.ones(3)
    s = bt.shared(given, "s")
    given[0] = 5
    assert s.get_value()[0] == 1.0 and s.name == "s" and repr(s) == "s"
    value = s.get_value()
    value[0] = 9
    assert s.get_value()[0] == 1.0
    s.set_value([1.0, 2.0])
    np.testing.assert_array_equal(s.get_value(borrow=True), [1.0, 2.0])
    for bad in (np.ones((2, 2)), 1.0, np.array([1j]), "a", pt.dvector()):
        with pytest.raises((TypeError, NotImplementedError)):
            s.set_value(bad)
    np.testing.assert_array_equal(s.get_value(), [1.0, 2.0])
    s.zero()
    assert not s.get_value().any()
    assert isinstance(s, bt.compile.SharedVariable) and isinstance(s, pt.TensorVariable)


def test_kinds_of_shared():
    assert (
        bt.shared(1).dtype == "int64"
        and bt.shared(1.0).dtype == "float64"
        and bt.shared(True).dtype == "bool"
    )
    assert bt.shared(np.float32(1)).dtype == "float32"
    s = bt.shared(np.ones((2, 3)), shape=(2, None))
    assert s.type.shape == (2, None)
    with pytest.raises(TypeError):
        s.set_value(np.ones((3, 3)))
    with pytest.raises((TypeError, ValueError)):
        bt.shared(np.ones(3), shape=(4,))
    with pytest.raises(TypeError):
        bt.shared(pt.dscalar())
    with pytest.raises(TypeError):
        bt.shared("a")


def test_eval(mode):
    x, y = pt.dscalar("x"), pt.dscalar("y")
    z = x * y
    assert z.eval({x: 2.0, y: 3.0}) == 6.0
    assert z.eval({"x": 2.0, y: 4.0}) == 8.0
    assert z.eval({x: 1.0, y: 1.0}, mode=mode) == 1.0
    assert pt.constant(3.0).eval() == 3.0
    with pytest.raises(bt.MissingInputError):
        z.eval({x: 2.0})
    with pytest.raises(KeyError):
        z.eval({"w": 2.0})
    with pytest.raises(TypeError):
        z.eval([1.0])


def test_modes():
    assert bt.get_mode("FAST_COMPILE").linker == "vm"
    mode = bt.Mode("vm", "fast_compile").excluding("fusion")
    x = pt.dscalar("x")
    assert bt.function([x], x + 1, mode=mode)(1.0) == 2.0
    with bt.config.change_flags(mode="FAST_COMPILE"):
        assert bt.function([x], x + 1).mode.linker == "vm"
    with pytest.raises(ValueError, match="FAST_RUN"):
        bt.get_mode("FAST_RUNN")
    with pytest.raises(ValueError):
        bt.Mode("numba", "fast_run")


def test_from_many_threads(mode):
    x = pt.dvector("x")
    s = bt.shared(np.ones(1000))
    f = bt.function([x], (pt.exp(x) * s).sum(), mode=mode)
    errors = []

    def work(seed):
        rng = np.random.default_rng(seed)
        try:
            for _ in range(200):
                given = rng.normal(size=1000)
                np.testing.assert_allclose(f(given), np.exp(given).sum())
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


def test_calls_keep_no_references(mode):
    x = pt.dvector("x")
    f = bt.function([x], [x * 2, x[::2], x], mode=mode)
    for given in (np.ones(3), np.ones(1000)):
        before = sys.getrefcount(given)
        for _ in range(10):
            results = f(given)
            with pytest.raises(TypeError):
                f(given, given)
        del results
        assert sys.getrefcount(given) == before
    before = sys.getrefcount(given)
    values = bt.shared(given, borrow=True)
    assert sys.getrefcount(given) > before
    values.set_value(np.zeros(2))
    assert sys.getrefcount(given) == before


def test_variables_are_freed():
    def count():
        gc.collect()
        return sum(isinstance(o, bt.Variable) for o in gc.get_objects())

    before = count()
    for _ in range(10):
        x = pt.dvector("x")
        y = (x * 2)[1:].set(3.0)
        y.eval({x: np.ones(3)})
        assert [v for node in bt.graph.toposort(y) for v in node.inputs]
    del x, y
    assert count() == before


def test_attributes_of_functions():
    x = pt.dscalar("x")
    f = bt.function([x], x + 1, name="next")
    assert f.name == "next" and f.inputs == [x]
    graph = f.maker.fgraph
    assert isinstance(graph, bt.FunctionGraph) and len(graph.toposort()) == 1
    with pytest.raises(TypeError, match="clone"):
        graph.replace(graph.outputs[0], graph.inputs[0])
    assert f.times["total"] > 0
    assert "next" in repr(f)
    assert bt.function([x], x).name is None


@pytest.mark.parametrize(
    "dtype", [dtype for dtype in all_dtypes if dtype != "float16" and "complex" not in dtype]
)
def test_numbers_of_numpy(dtype):
    x, y = pt.scalar("x", dtype=dtype), pt.scalar("y", dtype=dtype)
    f = bt.function([x, y], [x, pt.eq(x, y)])
    one, many = np.dtype(dtype).type(1), np.dtype(dtype).type(True if dtype == "bool" else 113)
    for a, b in ((one, many), (many, one), (many, many), (np.asarray(many), one)):
        value, same = f(a, b)
        assert value.dtype == dtype and value == a and same == (a == b)
    if dtype not in ("float64", "int64"):
        with pytest.raises(TypeError):
            f(np.float64(0.1), one)

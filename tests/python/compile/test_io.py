"""In, Out, containers, copies of functions."""

import copy
import threading

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale.compile import Container


def test_defaults(mode):
    x, y = pt.dscalars("x", "y")
    f = bt.function([x, bt.In(y, value=10)], x - y, mode=mode)
    assert f(1.0) == -9.0 and f(1.0, 2.0) == -1.0 and f(1.0) == -9.0
    assert f(1.0, y=3.0) == -2.0 and f(x=1.0) == -9.0 and f(y=1.0, x=2.0) == 1.0
    with pytest.raises(TypeError, match="x"):
        f()
    with pytest.raises(TypeError, match="3"):
        f(1.0, 2.0, 3.0)
    first = bt.function([bt.In(x, value=1.0), y], x - y, mode=mode)
    assert first(y=3.0) == -2.0
    with pytest.raises(TypeError, match="y"):
        first()
    out = np.zeros(())
    assert f(1.0, out=out) is out and out == -9.0


def test_large_defaults_are_copied(mode):
    x = pt.dvector("x")
    given = np.arange(1000.0)
    f = bt.function([bt.In(x, value=given)], x * 1, mode=mode)
    given[:] = 0
    result = f()
    np.testing.assert_array_equal(result, np.arange(1000.0))
    result[:] = 0
    np.testing.assert_array_equal(f(), np.arange(1000.0))


def test_names():
    x, y = pt.dscalar("x"), pt.dscalar()
    f = bt.function([bt.In(x, name="a"), bt.In(y, "b")], x - y)
    assert f(b=1.0, a=3.0) == 2.0
    with pytest.raises(TypeError, match="x"):
        f(x=1.0, b=1.0)


def test_strict_and_downcast_by_input(mode):
    x, y = pt.fvector("x"), pt.fvector("y")
    f = bt.function([bt.In(x, strict=True), bt.In(y, allow_downcast=True)], [x, y], mode=mode)
    single = np.ones(2, "float32")
    f(single, np.array([0.1, 2.0]))
    for wrong in ([1.0, 2.0], np.ones(2), np.ones(2, "int8"), np.ones((1, 2), "float32"), 1.0):
        with pytest.raises(TypeError, match="x"):
            f(wrong, single)
    with pytest.raises(TypeError, match="y"):
        f(single, np.ones((1, 2)))
    g = bt.function(
        [bt.In(x, allow_downcast=False), y], [x, y], allow_input_downcast=True, mode=mode
    )
    with pytest.raises(TypeError, match="x"):
        g(np.array([0.1, 2.0]), single)
    g(single, np.array([0.1, 2.0]))
    s = pt.dscalar("s")
    h = bt.function([bt.In(s, strict=True)], s * 2, mode=mode)
    assert h(np.array(1.0)) == 2.0
    for wrong in (1.0, 1, np.float64(1), [1.0]):
        with pytest.raises(TypeError, match="strict"):
            h(wrong)


def test_updates_of_inputs(mode):
    """The accumulator of Theano's tutorial."""
    inc, state = pt.iscalar("inc"), pt.iscalar("state")
    f = bt.function(
        [bt.In(inc, value=1), bt.In(state, value=0, update=state + inc)], state, mode=mode
    )
    assert [int(f()), int(f(10)), int(f())] == [0, 1, 11]
    assert f[state] == f["state"] == f.container["state"].value == 12
    f["state"] = 100
    assert f() == 100 and f[state] == 101
    assert f(state=7) == 7 and f["state"] == 8
    f[inc] = 5
    assert f() == 8 and f["state"] == 13


def test_implicit_inputs(mode):
    x, n = pt.dvector("x"), pt.dvector("n")
    held = bt.shared(np.zeros(3), "held")
    f = bt.function([x, bt.In(n, value=held, update=n + x)], n.sum(), mode=mode)
    assert f(np.ones(3)) == 0 and f(np.ones(3)) == 3
    np.testing.assert_array_equal(held.get_value(), [2.0, 2, 2])
    for call in (
        lambda: f(np.ones(3), np.ones(3)),
        lambda: f(np.ones(3), n=np.ones(3)),
        lambda: f(np.ones(4)),
    ):
        with pytest.raises((TypeError, ValueError)):
            call()
    np.testing.assert_array_equal(held.get_value(), [2.0, 2, 2])
    g = bt.function([x, bt.In(n, value=f.container["n"])], n + x, mode=mode)
    np.testing.assert_array_equal(g(np.ones(3)), [3.0, 3, 3])
    q = pt.dvector("q")
    own = bt.function(
        [x, bt.In(n, value=np.ones(3), update=n * 2, implicit=True)],
        q * n,
        givens={q: n + x},
        mode=mode,
    )
    np.testing.assert_array_equal(own(np.ones(3)), [2.0, 2, 2])
    np.testing.assert_array_equal(own["n"], [2.0, 2, 2])


def test_containers_filter_their_values():
    x, s = pt.lvector("x"), bt.shared(np.zeros(2), "s")
    f = bt.function([bt.In(x, value=[1, 2])], x.sum() + s.sum())
    assert set(f.container) == {"x", "s"} and len(f.container) == 2
    for key in ("x", x, 0):
        for wrong in ("abc", [1.5, 2.0], np.ones((2, 2), "int64"), np.ones(2), None):
            with pytest.raises((TypeError, ValueError)):
                f[key] = wrong
    assert f() == 3
    f["s"] = [1.0, 2.0]
    assert f() == 6 and s.get_value().tolist() == [1.0, 2.0]
    for unknown in ("y", pt.dscalar("x"), 7, None, 1.5):
        with pytest.raises(KeyError):
            f[unknown]
    y = pt.lvector("y")
    with pytest.raises(KeyError, match="no value"):
        bt.function([y], y)["y"]
    both = pt.lvector("x")
    with pytest.raises(KeyError, match="several"):
        bt.function([bt.In(x, value=[1]), bt.In(both, value=[2])], x + both)["x"]


@pytest.mark.parametrize(
    "make, error",
    [
        (lambda x, s: bt.In(1.0), TypeError),
        (lambda x, s: bt.In(x, colour="red"), TypeError),
        (lambda x, s: bt.In(x, value="abc"), TypeError),
        (lambda x, s: bt.In(x, value=np.ones((2, 2))), TypeError),
        (lambda x, s: bt.In(x, value=1, strict=True), TypeError),
        (lambda x, s: bt.In(x, value=bt.shared(np.zeros(2, "int64"))), TypeError),
        (lambda x, s: bt.In(x, value=Container(bt.shared(1.0))), TypeError),
        (lambda x, s: bt.In(x, update=x + 1), ValueError),
        (lambda x, s: bt.In(x, implicit=True), ValueError),
        (lambda x, s: bt.In(x, mutable=True, borrow=False), ValueError),
        (lambda x, s: bt.In(x, shared=True), TypeError),
        (lambda x, s: bt.Out(1.0), TypeError),
        (lambda x, s: bt.Out(x, colour="red"), TypeError),
        (lambda x, s: Container(x), TypeError),
        (lambda x, s: Container(1.0), TypeError),
        (lambda x, s: bt.In(x, value=[0.5], strict=True), TypeError),
        (lambda x, s: bt.function([], s, updates=[(s, s + 1), (s, s + 2)]), ValueError),
        (lambda x, s: bt.function([], s, updates={s: s.sum()}), TypeError),
        (lambda x, s: bt.function([x], s, updates={x: x + 1}), TypeError),
        (lambda x, s: bt.function([x], s, updates=s), TypeError),
        (lambda x, s: bt.function([x], x, givens={x: "abc"}), TypeError),
        (lambda x, s: bt.function([x], x + s, givens={s: x.sum()}), TypeError),
        (lambda x, s: bt.function([x], x, givens={x: x + 1}), ValueError),
        (lambda x, s: bt.function([x], x + s, givens=[(s, x), (s, 2 * x)]), ValueError),
        (
            lambda x, s: bt.function([bt.In(x, value=s, update=x + 1)], x, updates={s: s * 2}),
            ValueError,
        ),
        (lambda x, s: bt.function([bt.In(x, value=[1.0], update=x.sum())], x), TypeError),
        (lambda x, s: bt.function([bt.In(x, value=[1.0], update="abc")], x), TypeError),
        (lambda x, s: bt.function([x, bt.In(x, value=s)], x), bt.UnusedInputError),
        (lambda x, s: bt.function([bt.In(x, value=s), bt.In(x, value=s)], x), bt.UnusedInputError),
        (lambda x, s: bt.function([bt.In(x, value=[1.0])], s), bt.UnusedInputError),
    ],
)
def test_misuse(make, error):
    x, s = pt.dvector("x"), bt.shared(np.zeros(2), "s")
    with pytest.raises(error) as caught:
        make(x, s)
    assert str(caught.value)
    assert s.get_value().tolist() == [0.0, 0.0]


def test_options_without_effect_are_accepted(mode):
    x = pt.dvector("x")
    f = bt.function(
        [bt.In(x, mutable=True, borrow=True)],
        bt.Out(x[::-1], borrow=True),
        trust_input=True,
        mode=mode,
    )
    given = np.arange(3.0)
    result = f(given)
    result[:] = 7
    assert given.tolist() == [0, 1, 2] and f.trust_input
    with pytest.raises(TypeError):
        f("abc")
    f.trust_input = False
    assert not f.trust_input


def test_copy(mode):
    x, s = pt.dscalar("x"), bt.shared(1.0, "s")
    f = bt.function([bt.In(x, value=2.0)], [x * s], updates={s: s + 1}, name="f", mode=mode)
    g = f.copy(name="g")
    assert (
        g.name == "g"
        and f.copy().name == "f"
        and f() == [2.0]
        and g() == [4.0]
        and s.get_value() == 3
    )
    g["x"] = 10.0
    assert f["x"] == 2.0
    shares = f.copy(share_memory=True)
    shares["x"] = 4.0
    assert f["x"] == 4.0
    still = f.copy(delete_updates=True)
    still()
    assert s.get_value() == 3
    t = bt.shared(100.0, "t")
    swapped = f.copy(swap={s: t})
    assert swapped(1.0) == [100.0] and t.get_value() == 101 and s.get_value() == 3
    assert copy.copy(f)(1.0) == [3.0]
    for wrong, error in (
        ({t: s}, ValueError),
        ({s: bt.shared(np.zeros(2))}, TypeError),
        ({s: x}, TypeError),
        ({x: s}, TypeError),
        ({s: 1.0}, TypeError),
        (3, TypeError),
    ):
        with pytest.raises(error, match="swap"):
            f.copy(swap=wrong)
    assert s.get_value() == 4


def test_a_swap_that_causes_two_updates_of_one_variable():
    a, b, c = (bt.shared(k, name) for k, name in ((1.0, "a"), (2.0, "b"), (3.0, "c")))
    f = bt.function([], [a, b], updates={a: a + 1, b: b + 1})
    for swap in ({a: c, b: c}, {a: b}):
        with pytest.raises(ValueError, match="two updates"):
            f.copy(swap=swap)
    exchanged = f.copy(swap={a: b, b: a})
    assert [float(v) for v in exchanged()] == [2, 1]
    assert [v.get_value() for v in (a, b, c)] == [2, 3, 3]


def test_a_failed_call_changes_nothing(mode):
    x, n, s = pt.dvector("x"), pt.dvector("n"), bt.shared(np.zeros(2), "s")
    f = bt.function(
        [x, bt.In(n, value=[1.0, 2.0], update=n + x)], n * x, updates={s: s + x}, mode=mode
    )
    for wrong in (np.ones(3), "abc", np.ones((2, 2))):
        with pytest.raises((TypeError, ValueError)):
            f(wrong)
    assert f["n"].tolist() == [1, 2] and s.get_value().tolist() == [0, 0]


def test_copy_of_updates_that_are_inputs(mode):
    n = pt.dscalar("n")
    f = bt.function([bt.In(n, value=0.0, update=n + 1)], {"n": n}, mode=mode)
    f()
    g = f.copy()
    assert g["n"] == 1 and g() == {"n": 1.0} and f["n"] == 1
    held, other = bt.shared(0.0), bt.shared(50.0)
    k = bt.function([bt.In(n, value=held, update=n + 1)], n, mode=mode)
    assert k.copy(swap={held: other})() == 50 and other.get_value() == 51 and held.get_value() == 0
    assert k.copy(delete_updates=True)() == 0 and held.get_value() == 0


def test_eval_can_be_repeated():
    x = pt.dscalar("x")
    y = x * 2
    assert y.eval({x: 1.0}) == 2.0 and y.eval({x: 2.0}) == 4.0


def test_free(mode):
    x, s = pt.dmatrix("x"), bt.shared(np.ones(100), "s")
    f = bt.function([x], pt.dot(pt.exp(x), x) + s, updates={s: s + 1}, mode=mode)
    given = np.eye(100)
    first = f(given)
    f.free()
    np.testing.assert_array_equal(f(given), first + 1)
    f.free()
    f.free()
    threads = [threading.Thread(target=lambda: (f(given), f.free())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert f(given.T).shape == (100, 100)


def rewrites_of(build):
    """The number of graphs that are rewritten by calling `build`, which equals the number of compilations."""
    count = 0

    class Counting(bt.compile.FunctionMaker):
        def prepare_fgraph(self, fgraph):
            nonlocal count
            count += 1
            super().prepare_fgraph(fgraph)

    build(bt.get_mode("FAST_RUN").with_function_maker(Counting))
    return count


def test_copies_share_code():
    x, s = pt.dscalar("x"), bt.shared(1.0, "s")

    def build(mode):
        f = bt.function([bt.In(x, value=2.0)], x * s, updates={s: s + 1}, name="f", mode=mode)
        copies = [
            f.copy(),
            f.copy(share_memory=True),
            f.copy(name="g"),
            copy.copy(f),
            f.copy().copy(),
        ]
        assert [one.name for one in copies] == ["f", "f", "g", "f", "f"]
        assert all(one.maker.fgraph is f.maker.fgraph for one in copies)
        for i, one in enumerate(copies):
            one["x"] = 10.0 + i
        assert [one["x"] for one in copies] == [10.0, 11.0, 12.0, 13.0, 14.0] and f["x"] == 11.0
        assert [one() for one in copies] == [10.0, 22.0, 36.0, 52.0, 70.0] and s.get_value() == 6.0

    assert rewrites_of(build) == 1
    assert (
        rewrites_of(lambda mode: bt.function([x], x * s, mode=mode).copy(swap={s: bt.shared(2.0)}))
        == 2
    )
    assert (
        rewrites_of(
            lambda mode: bt.function([x], x, updates={s: x}, mode=mode).copy(delete_updates=True)
        )
        == 2
    )
    assert rewrites_of(lambda mode: bt.function([x], x, mode=mode).copy(profile=True)) == 2
    with pytest.raises(TypeError, match="profile"):
        bt.function([x], x).copy(profile=3)


def test_copies_of_copies_have_separate_containers(mode):
    n = pt.dscalar("n")
    f = bt.function([bt.In(n, value=0.0, update=n + 1)], n, mode=mode)
    first = f.copy()
    first(), first()
    second = first.copy()
    assert second() == 2.0 and second["n"] == 3.0 and first["n"] == 2.0 and f["n"] == 0.0
    third = second.copy(share_memory=True)
    assert third() == 3.0 and second["n"] == 4.0 and first["n"] == 2.0 and f() == 0.0
    fourth = second.maker.create()
    assert fourth() == 4.0 and second["n"] == 5.0 and f["n"] == 1.0
    assert second.maker.create([20.0])() == 20.0 and second["n"] == 5.0

"""Types written in Python: their values in functions, shared variables, DebugMode and pickles."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale.compile.sharedvalue import shared_of
from bitale.graph import Op

LINKERS = ["vm", "jit", "c"]


class Interval:
    def __init__(self, low, high):
        self.low, self.high = low, high

    def __eq__(self, other):
        return isinstance(other, Interval) and (self.low, self.high) == (other.low, other.high)

    __hash__ = None

    def __repr__(self):
        return f"Interval({self.low}, {self.high})"


class IntervalType(bt.graph.Type):
    __props__ = ("closed",)

    def __init__(self, closed=True):
        self.closed = closed

    def filter(self, data, strict=False, allow_downcast=None):
        if isinstance(data, Interval):
            return data
        if strict or not isinstance(data, tuple):
            raise TypeError(f"expected an Interval, got {data!r}")
        return Interval(*data)

    def values_eq_approx(self, a, b):
        return np.allclose((a.low, a.high), (b.low, b.high))


class Widen(Op):
    __props__ = ()
    itypes, otypes = [IntervalType(), pt.dscalar], [IntervalType()]

    def perform(self, node, inputs, output_storage):
        interval, by = inputs
        output_storage[0][0] = Interval(interval.low - by, interval.high + by)


class Contains(Op):
    __props__ = ()
    itypes, otypes = [IntervalType(), pt.dvector], [pt.bvector]

    def perform(self, node, inputs, output_storage):
        interval, x = inputs
        output_storage[0][0] = ((interval.low <= x) & (x <= interval.high)).astype("int8")


@pytest.mark.parametrize("linker", LINKERS)
def test_functions(linker):
    interval, by, x = IntervalType()("interval"), pt.dscalar("by"), pt.dvector("x")
    wider = Widen()(interval, pt.exp(by))
    f = bt.function(
        [interval, by, x], [wider, Contains()(wider, x) * 2, interval], mode=bt.Mode(linker)
    )
    for given in (Interval(0, 1), (0, 1)):  # filter converts the tuple to an Interval
        got = f(given, 0.0, [1.5, 3.0])
        assert got[0] == Interval(-1, 2) and got[1].tolist() == [2, 0] and got[2] == Interval(0, 1)
    with pytest.raises(TypeError, match="expected an Interval, got 3"):
        f(3, 0.0, [1.0])
    with pytest.raises(TypeError):
        interval + 1


@pytest.mark.parametrize("mode", [*LINKERS, "DebugMode"])
def test_shared_variables(mode):
    interval = shared_of(IntervalType(), Interval(0, 1), "interval")
    assert isinstance(interval, bt.compile.SharedVariable)
    f = bt.function(
        [],
        Contains()(interval, np.array([-0.5, 0.5])),
        updates={interval: Widen()(interval, 1.0)},
        mode=mode if mode == "DebugMode" else bt.Mode(mode),
    )
    assert f().tolist() == [0, 1] and f().tolist() == [1, 1]
    assert interval.get_value() == Interval(-2, 3)
    interval.set_value((5, 6))
    assert f().tolist() == [0, 0]
    with pytest.raises(TypeError):
        interval.set_value("all")
    with pytest.raises(TypeError):
        shared_of(IntervalType(), 3)


def test_constants_and_givens():
    interval, by = IntervalType()("interval"), pt.dscalar()
    assert IntervalType().make_constant((0, 1)).type == IntervalType()
    f = bt.function([by], Widen()(interval, by), givens={interval: (0, 1)})
    assert f(2.0) == Interval(-2, 3)
    same = bt.function([], IntervalType().make_constant((0, 1)))
    assert same() == Interval(0, 1)


def test_equality_hash_text():
    assert IntervalType() == IntervalType() != IntervalType(False)
    assert hash(IntervalType()) == hash(IntervalType())
    assert repr(IntervalType(False)) == "IntervalType{closed=False}"
    assert IntervalType().is_super(IntervalType()) and not IntervalType().is_super(
        IntervalType(False)
    )
    assert not IntervalType().is_super(pt.dvector) and not pt.dvector.is_super(IntervalType())
    assert (
        IntervalType()("x").type == IntervalType() and IntervalType().make_variable("x").name == "x"
    )
    kind = IntervalType()
    assert kind("x").type is kind
    with pytest.raises(TypeError):
        Widen()(IntervalType(False)(), 1.0)


class IntervalVariable(bt.graph.Variable):
    def widened(self, by):
        return WidenRich()(self, by)


class RichIntervalType(IntervalType):
    variable_type = IntervalVariable


class WidenRich(Widen):
    itypes, otypes = [RichIntervalType(), pt.dscalar], [RichIntervalType()]


def test_types_define_the_class_of_their_variables():
    x = RichIntervalType()("x")
    assert type(x) is IntervalVariable and type(IntervalType()("x")) is bt.graph.Variable
    wide = x.widened(pt.dscalar("by"))
    assert (
        type(wide) is IntervalVariable
        and wide.owner.inputs[0] is x
        and wide.owner.outputs[0] is wide
    )
    again = pickle.loads(pickle.dumps(wide))
    assert type(again) is IntervalVariable and type(again.owner.inputs[0]) is IntervalVariable
    assert (
        pt.TensorType.variable_type is pt.TensorVariable
        and pt.TensorType.constant_type is pt.TensorConstant
    )

    class WrongType(IntervalType):
        variable_type = int

    with pytest.raises(TypeError, match="subclass of Variable"):
        WrongType()("x")


def test_values():
    kind = IntervalType()
    assert (
        kind.is_valid_value(Interval(0, 1))
        and not kind.is_valid_value((0, 1))
        and not kind.is_valid_value(3)
    )
    assert kind.filter((0, 1)) == Interval(0, 1)
    assert kind.values_eq(Interval(0, 1), Interval(0, 1))
    assert kind.values_eq_approx(Interval(0, 1), Interval(0, 1 + 1e-12))
    assert pt.dvector.is_valid_value(np.zeros(2)) and not pt.dvector.is_valid_value([1.0, 2.0])
    assert pt.dvector.values_eq_approx(np.zeros(2), np.full(2, 1e-12)) and not pt.dvector.values_eq(
        np.zeros(2), np.ones(2)
    )

    class Nothing(bt.graph.Type):
        pass

    with pytest.raises(NotImplementedError, match="filter"):
        bt.function([Nothing()("x")], [], on_unused_input="ignore")(3)
    with pytest.raises(TypeError, match="subclass"):
        bt.graph.Type()
    assert Nothing() != Nothing()


def test_pickle_and_copy():
    interval, by = IntervalType()("interval"), pt.dscalar("by")
    out = Widen()(interval, by)
    f = pickle.loads(pickle.dumps(bt.function([interval, by], out)))
    assert f((0, 1), 1.0) == Interval(-1, 2)
    shared = shared_of(IntervalType(), Interval(0, 1), "s")
    again = pickle.loads(pickle.dumps(Widen()(shared, 1.0))).owner.inputs[0]
    assert again.get_value() == Interval(0, 1) and again.name == "s"
    assert pickle.loads(pickle.dumps(IntervalType(False))) == IntervalType(False)
    assert (
        copy.copy(IntervalType(False)) == IntervalType(False) == copy.deepcopy(IntervalType(False))
    )
    held = IntervalType()
    held.opened = open(__file__)
    with (
        held.opened,
        pytest.raises(TypeError, match="pickling the type .*its `opened` can't be stored"),
    ):
        pickle.dumps(held("interval"))


class Bad(Op):
    __props__ = ("gives",)
    itypes, otypes = [pt.dscalar], [IntervalType()]

    def __init__(self, gives):
        self.gives = gives

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = self.gives


@pytest.mark.parametrize("gives", [3, None, (0, 1)])
@pytest.mark.parametrize("linker", LINKERS)
def test_an_op_that_returns_a_value_of_another_type(gives, linker):
    x = pt.dscalar("x")
    with pytest.raises(TypeError, match="Interval|not stored"):
        bt.function([x], Bad(gives)(x), mode=bt.Mode(linker))(1.0)


def test_a_function_keeps_no_references_to_its_arguments():
    class Value:
        pass

    class Anything(bt.graph.Type):
        def filter(self, data, strict=False, allow_downcast=None):
            return data

    kind = Anything()
    x = kind("x")
    f = bt.function([x], x)
    value = Value()
    got = f(value)
    alive = weakref.ref(value)
    del value, got
    f.free()
    gc.collect()
    assert alive() is None

"""Linkers that are written in Python: thunks, containers, and linkers that translate a whole graph."""

import copy
import gc
import pickle
import threading
import weakref
from functools import singledispatch

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale.graph.basic import Apply
from bitale.graph.fg import FunctionGraph
from bitale.graph.op import Op
from bitale.link.basic import (
    Container,
    JITLinker,
    Linker,
    LocalLinker,
    OpWiseCLinker,
    PerformLinker,
    WrapLinker,
    WrapLinkerMany,
)
from bitale.link.utils import fgraph_to_python
from bitale.link.vm import VMLinker
from bitale.tensor.elemwise import CAReduce, DimShuffle, Elemwise

BUILT_IN = [
    PerformLinker(),
    VMLinker(),
    OpWiseCLinker(),
    Linker("jit"),
    Linker("vm"),
    PerformLinker(allow_gc=False),
    PerformLinker(schedule=lambda fgraph: fgraph.toposort()),
    WrapLinker(
        [PerformLinker(), VMLinker()], lambda fgraph, i, node, *thunks: [t() for t in thunks]
    ),
]


@singledispatch
def numpy_function(op, **kwargs):
    raise NotImplementedError(f"no function of NumPy for {op}")


@numpy_function.register(Elemwise)
def _(op, **kwargs):
    return {"Add": np.add, "Exp": np.exp, "Mul": np.multiply, "Log": np.log}[str(op)]


@numpy_function.register(CAReduce)
def _(op, **kwargs):
    return np.sum


@numpy_function.register(DimShuffle)
def _(op, **kwargs):
    return lambda x: x.transpose([i for i in op.new_order if i != "x"])[
        tuple(np.newaxis if i == "x" else slice(None) for i in op.new_order)
    ]


class NumPyLinker(JITLinker):
    """Writes the graph as a function of NumPy."""

    sources: list[str] = []

    def fgraph_convert(self, fgraph, order, input_storage, output_storage, storage_map, **kwargs):
        function = fgraph_to_python(
            fgraph, numpy_function, order=order, storage_map=storage_map, fgraph_name="numpy_code"
        )
        self.sources.append(function.__source__)
        return function

    def jit_compile(self, fn):
        return fn

    def create_thunk_inputs(self, storage_map):
        return [storage_map[variable] for variable in self.fgraph.inputs]


def numpy_mode(optimizer="fast_compile"):
    return bt.Mode(linker=NumPyLinker(), optimizer=optimizer)


@pytest.mark.parametrize("linker", BUILT_IN, ids=repr)
def test_thunks_of_built_in_linkers(linker):
    x = pt.dvector("x")
    graph = FunctionGraph([x], [pt.exp(x).sum(), x])
    run, (given,), (total, same) = copy.copy(linker).accept(graph).make_thunk()
    for values in ([0.0, 0.0], [0.0]):
        given.data = values
        run()
        assert total.data == len(values) and same.data.tolist() == values
    with pytest.raises(TypeError, match="can only be read"):
        total.data = 1.0
    with pytest.raises(TypeError):
        given.data = "text"


def test_a_linker_belongs_to_one_graph():
    x = pt.dscalar("x")
    first, second = FunctionGraph([x], [pt.exp(x)]), FunctionGraph([x], [x + 1])
    linker = PerformLinker()
    assert linker.accept(first) is linker and linker.accept(first) is linker
    other = linker.accept(second)
    assert other is not linker and (linker.fgraph, other.fgraph) == (first, second)
    with pytest.raises(ValueError, match="accept"):
        PerformLinker().make_thunk()


@pytest.mark.parametrize("optimizer", [None, "fast_compile", "fast_run"])
def test_a_backend_of_numpy(optimizer):
    x, y = pt.dvectors("x", "y")
    s = bt.shared(2.0, "s")
    expression = [pt.exp(x) + 3 * y * s, pt.log(y).sum(), x]
    f = bt.function([x, y], expression, updates={s: s + 1}, mode=numpy_mode(optimizer))
    reference = bt.function([x, y], expression, givens={s: pt.dscalar("t").type.make_constant(2.0)})
    given = np.array([0.0, 1.0]), np.array([1.0, 2.0])
    results = f(*given)
    for mine, theirs in zip(results, reference(*given)):
        np.testing.assert_allclose(mine, theirs)
    assert results[2] is not given[0] and not np.shares_memory(results[2], given[0])
    assert s.get_value() == 3.0
    assert (
        "def numpy_code(x, y, s)" in NumPyLinker.sources[-1] and "exp(x)" in NumPyLinker.sources[-1]
    )
    assert f.mode.linker == "NumPyLinker" and isinstance(f.mode.linker, NumPyLinker)
    f(*given, output_subset=[1])
    assert s.get_value() == 4.0


def test_a_backend_of_numba():
    numba = pytest.importorskip("numba")

    class NumbaLinker(NumPyLinker):
        def fgraph_convert(
            self, fgraph, order, input_storage, output_storage, storage_map, **kwargs
        ):
            def compiled(op, **kwargs):
                function = numpy_function(op, **kwargs)
                return numba.njit(lambda *xs: function(*xs))

            return fgraph_to_python(fgraph, compiled, order=order, storage_map=storage_map)

        def jit_compile(self, fn):
            return numba.njit(fn)

    x = pt.dvector("x")
    f = bt.function([x], pt.exp(x).sum(), mode=bt.Mode(NumbaLinker(), "fast_run"))
    assert f([0.0, 0.0]) == 2.0


def test_results_are_checked_and_own_their_memory():
    kept = np.zeros(3)
    x = pt.dvector("x")

    class Fixed(NumPyLinker):
        result = kept

        def jit_compile(self, fn):
            return lambda *_: (self.result,)

    linker = Fixed()
    f = bt.function([x], pt.exp(x), mode=bt.Mode(linker, None))
    first = f([1.0])
    first[0] = 7.0
    assert kept[0] == 0.0
    Fixed.result = [1, 2, 3]
    assert f([1.0]).dtype == "float64" and f([1.0]).tolist() == [1.0, 2.0, 3.0]
    for wrong, error in (
        (np.zeros((2, 2)), TypeError),
        (np.zeros(3, complex), TypeError),
        (None, Exception),
    ):
        Fixed.result = wrong
        with pytest.raises(error, match="output 0"):
            f([1.0])


def test_refused_ops_are_named():
    x = pt.dvector("x")
    with pytest.raises(NotImplementedError, match="no function of NumPy for .*Sort"):
        bt.function([x], pt.sort(x), mode=numpy_mode())


def test_errors_of_a_call_tell_the_node():
    class Failing(NumPyLinker):
        def jit_compile(self, fn):
            def fail(*_):
                raise ZeroDivisionError("mine")

            return fail

    x = pt.dvector("x")
    f = bt.function([x], pt.exp(x), mode=bt.Mode(Failing(), None))
    with pytest.raises(ZeroDivisionError, match="mine") as caught:
        f([1.0])
    assert str(caught.value.__op_instance__.op) == "Exp"
    if hasattr(caught.value, "add_note"):
        assert any("test_own_linkers.py" in note for note in caught.value.__notes__)


def test_calls_of_several_threads():
    x = pt.dvector("x")
    f = bt.function([x], pt.exp(x).sum(), mode=numpy_mode())
    wrong = []

    def call(n):
        for _ in range(50):
            if f(np.zeros(n)) != n:
                wrong.append(n)

    threads = [threading.Thread(target=call, args=(n,)) for n in (1, 10, 100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


class Doubling(LocalLinker):
    """Runs another linker's thunks, and adds what it has seen to a list."""

    def __init__(self, seen):
        super().__init__()
        self.seen = seen

    def make_all(self, input_storage=None, output_storage=None, storage_map=None):
        run, inputs, outputs, thunks, order = (
            PerformLinker().accept(self.fgraph).make_all(input_storage, output_storage, storage_map)
        )

        def told():
            self.seen.extend(str(node.op) for node in order)
            run()

        return told, inputs, outputs, thunks, order


def test_local_linkers():
    x, seen = pt.dvector("x"), []
    f = bt.function([x], pt.exp(x).sum(), mode=bt.Mode(Doubling(seen), None))
    assert f([0.0, 0.0]) == 2.0 and seen == ["Exp", "Sum{axes=None}"]
    with pytest.raises(NotImplementedError, match="LocalLinker has no make_all"):
        bt.function([x], x + 1, mode=bt.Mode(LocalLinker(), None))


def test_wrappers_of_own_linkers():
    x, seen = pt.dvector("x"), []

    def wrapper(fgraph, i, node, *thunks):
        for thunk in thunks:
            thunk()
        seen.append((i, str(node.op), [thunk.outputs[0][0].tolist() for thunk in thunks]))

    linkers = [Doubling([]), PerformLinker()]
    f = bt.function([x], pt.exp(x).sum(), mode=bt.Mode(WrapLinker(linkers, wrapper), None))
    assert f([0.0]) == 1.0
    assert seen == [(0, "Exp", [[1.0], [1.0]]), (1, "Sum{axes=None}", [1.0, 1.0])]
    calls = []
    many = WrapLinkerMany(linkers[:1], [wrapper, lambda *_: calls.append(1)])
    assert bt.function([x], pt.exp(x), mode=bt.Mode(many, None))([0.0]) == [1.0] and calls == [1]


def test_a_subclass_sees_the_call_begin():
    begun = []

    class Told(WrapLinker):
        def pre(self, f, inputs, order, thunk_groups):
            begun.append((inputs[0].tolist(), len(order), len(thunk_groups)))

    x = pt.dvector("x")
    linker = Told([PerformLinker()], lambda fgraph, i, node, thunk: thunk())
    assert bt.function([x], pt.exp(x).sum(), mode=bt.Mode(linker, None))([0.0]) == 1.0
    assert begun == [([0.0], 2, 2)]


def test_own_make_thunk():
    class Constant(Linker):
        required_rewrites = ("no_such_tag",)

        def make_thunk(self, input_storage=None, output_storage=None, storage_map=None):
            cell = [None]

            def run():
                cell[0] = input_storage[0][0] * 10

            return run, input_storage, [cell]

    x = pt.dvector("x")
    f = bt.function([x], pt.exp(x), mode=bt.Mode(Constant(), "fast_run"))
    assert f([1.0]).tolist() == [10.0]


def test_own_schedule():
    orders = []

    def reverse(fgraph):
        orders.append(len(fgraph))
        return fgraph.toposort()

    x = pt.dvector("x")
    for linker in (PerformLinker(schedule=reverse), VMLinker(schedule=reverse)):
        assert bt.function([x], pt.exp(x).sum(), mode=bt.Mode(linker, None))([0.0]) == 1.0
    assert orders == [2, 2]


def test_incompatible_rewrites_are_left_out():
    class Without(NumPyLinker):
        incompatible_rewrites = ("stabilize", "specialize", "canonicalize")

    x = pt.dvector("x")
    expression = pt.log(pt.exp(x))
    assert bt.function([x], expression, mode=bt.Mode(Without(), "fast_run"))([1.0]) == [1.0]
    assert "exp(" in NumPyLinker.sources[-1]
    bt.function([x], expression, mode=numpy_mode("fast_run"))
    assert "exp(" not in NumPyLinker.sources[-1]


def test_names_copies_and_pickles():
    linker = NumPyLinker()
    bt.compile.mode.register_linker("numpy of the tests", linker)
    x = pt.dvector("x")
    assert bt.function([x], pt.exp(x), mode=bt.Mode("numpy of the tests", None))([0.0]) == [1.0]
    assert bt.compile.mode.predefined_linkers["numpy of the tests"] is linker
    for other in (
        copy.copy(linker),
        pickle.loads(pickle.dumps(linker)),
        linker.clone(allow_gc=False),
    ):
        assert type(other) is NumPyLinker and other is not linker
    assert linker.clone(allow_gc=False).allow_gc is False
    f = bt.function([x], pt.exp(x), mode=numpy_mode())
    assert pickle.loads(pickle.dumps(f))([0.0]) == [1.0]
    assert repr(bt.Mode(linker, None)) == "Mode(linker=NumPyLinker, optimizer=None)"


def test_linkers_equal_their_names():
    assert bt.Mode("vm").linker == "vm" and bt.Mode("vm").linker == VMLinker() != "jit"
    assert isinstance(bt.Mode("c|py").linker, OpWiseCLinker)
    assert bt.Mode(VMLinker(allow_gc=False)).linker != VMLinker()
    assert NumPyLinker() != NumPyLinker() and len({VMLinker(), VMLinker()}) == 1


def test_a_linker_without_its_base():
    class Forgotten(Linker):
        def __init__(self):
            pass

    with pytest.raises(TypeError, match="super"):
        bt.Mode(Forgotten())


def test_functions_are_released():
    x = pt.dvector("x")
    linker = NumPyLinker()
    gone = weakref.ref(linker)
    f = bt.function([x], pt.exp(x), mode=bt.Mode(linker, None))
    f([1.0])
    del f, linker
    gc.collect()
    assert gone() is None


def test_containers():
    x = pt.dvector("x")
    cell = [None]
    container = Container(x, cell, name="mine")
    container.value = [1, 2]
    assert cell[0].dtype == "float64" and container.data is cell[0] and container.type == x.type
    assert str(container) == "<[1. 2.]>"
    deep = copy.deepcopy(container)
    assert deep.storage is not cell and deep.data.tolist() == [1.0, 2.0]
    container.data = None
    assert cell == [None]
    with pytest.raises(TypeError):
        Container(x, cell, strict=True).data = [1]
    with pytest.raises(TypeError, match="list of one value"):
        Container(x, None)
    f = bt.function([bt.In(x, value=[1.0])], x + 1)
    assert isinstance(f.container[x], Container)


# ---- thunks of ops ---------------------------------------------------------------------------------------------------


class Prepared(Op):
    """Doubles; what it needs is made once for each kind of node."""

    __props__ = ()

    def __init__(self):
        self.prepared = []

    def make_node(self, x):
        x = pt.as_tensor(x)
        return Apply(self, [x], [x.type()])

    def prepare_node(self, node, storage_map, compute_map, impl):
        assert impl == "py" and set(node.inputs) <= set(storage_map)
        self.prepared.append(node.inputs[0].type)

    def perform(self, node, inputs, output_storage):
        assert self.prepared
        output_storage[0][0] = inputs[0] * 2


class OwnThunk(Op):
    """Triples, without a perform."""

    itypes, otypes = [pt.dvector], [pt.dvector]
    made = 0

    def make_thunk(self, node, storage_map, compute_map, no_recycling, impl=None):
        self.made += 1
        (x,), (y,) = node.inputs, node.outputs

        def thunk():
            storage_map[y][0] = storage_map[x][0] * 3
            compute_map[y][0] = True

        return thunk


@pytest.mark.parametrize(
    "linker", ["jit", "vm", "c", "opwise", PerformLinker(), NumPyLinker()], ids=str
)
def test_ops_prepare_nodes_and_make_thunks(linker):
    if isinstance(linker, NumPyLinker):
        linker = PerformLinker(schedule=lambda fgraph: fgraph.toposort())
    x = pt.dvector("x")
    prepared, own = Prepared(), OwnThunk()
    f = bt.function([x], [prepared(x) + 1, own(pt.exp(x))], mode=bt.Mode(linker, "fast_run"))
    for _ in range(3):
        first, second = f([0.0, 0.0])
        assert first.tolist() == [1.0, 1.0] and second.tolist() == [3.0, 3.0]
    assert prepared.prepared == [x.type] and own.made == 1
    y = pt.fmatrix("y")
    assert bt.function([y], prepared(y), mode=bt.Mode(linker))([[1.0]]) == [[2.0]]
    assert prepared.prepared == [x.type, y.type]


def test_thunks_of_library_ops():
    x = pt.dvector("x")
    node = pt.exp(x).owner
    cells = {x: [np.zeros(2)], node.outputs[0]: [None]}
    known = {x: [True], node.outputs[0]: [False]}
    thunk = node.op.make_thunk(node, cells, known, [])
    assert thunk.inputs == [cells[x]] and thunk.lazy is False
    thunk()
    assert cells[node.outputs[0]][0].tolist() == [1.0, 1.0] and known[node.outputs[0]] == [True]


def test_failing_thunks_tell_the_op():
    class Failing(OwnThunk):
        def make_thunk(self, *args, **kwargs):
            raise ValueError("no thunk today")

    class Silent(OwnThunk):
        def make_thunk(self, *args, **kwargs):
            return lambda: None

    x = pt.dvector("x")
    with pytest.raises(ValueError, match="no thunk today"):
        bt.function([x], Failing()(x))([1.0])
    with pytest.raises(TypeError, match="was not stored"):
        bt.function([x], Silent()(x))([1.0])

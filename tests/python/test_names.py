"""Names of PyTensor's modules other than `tensor`: traversal, copies, modes, shared variables, scalars, flags and
strings."""

import pickle

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale import scalar
from bitale.compile import get_mode, register_mode, shared_constructor
from bitale.compile.sharedvalue import collect_new_shareds, generic
from bitale.configparser import BoolParam, ConfigAccessViolation, EnumStr, FloatParam, IntParam, StrParam
from bitale.graph import basic, op, traversal
from bitale.graph.type import HasDataType, HasShape
from bitale._class_factory import SCALAR_FUNCTIONS
from bitale.tensor.elemwise import Elemwise


@pytest.fixture
def graph():
    x, y = pt.dscalars("x", "y")
    a = pt.exp(x)
    b = a * y
    return x, y, a, b, b + 2.0


# ---- traversal -------------------------------------------------------------------------------------------------------


def test_traversal(graph):
    x, y, a, b, z = graph
    up = lambda v: v.owner and v.owner.inputs  # noqa: E731
    assert list(traversal.walk([b], up)) == [b, a, y, x] and list(traversal.walk([b], up, bfs=False)) == [b, y, a, x]
    assert dict(traversal.walk([b], up, return_children=True))[b] == [a, y]
    assert list(traversal.apply_ancestors([z])) == [z.owner, b.owner, a.owner]
    assert list(traversal.apply_ancestors([z], [b])) == [z.owner]
    assert traversal.apply_depends_on(z.owner, a.owner) and not traversal.apply_depends_on(a.owner, [z.owner, b.owner])
    assert {x, y, a, b, z} <= set(traversal.vars_between([x, y], [z]))
    assert y in set(traversal.orphans_between([x], [z])) and y not in set(traversal.orphans_between([x, y], [z]))
    assert set(traversal.applys_between([a], [z])) == {b.owner, z.owner}
    assert traversal.io_toposort([a, y], [z]) == [b.owner, z.owner]
    clients = {}
    traversal.io_toposort([x, y], [z], clients=clients)
    assert clients[a] == [b] and clients[b] == [z]
    assert traversal.get_var_by_name([z], "y") == (y,)
    assert set(traversal.truncated_graph_inputs([z], [b])) >= {b} and x not in traversal.truncated_graph_inputs([z], [b])
    assert set(traversal.truncated_graph_inputs([b], [b, a])) == {b, a, y}
    assert traversal.truncated_graph_inputs([z]) == [z]


def test_traversal_of_deep_graphs():
    y = x = pt.dscalar("x")
    for _ in range(20_000):
        y = pt.exp(y)
    assert len(traversal.io_toposort([x], [y])) == sum(1 for _ in traversal.apply_ancestors(y)) == 20_000
    assert len(basic.clone_get_equiv([x], [y])) == 40_001
    assert basic.as_string([x], [y])[0].count("Exp") == 20_000


def test_orders():
    deps = {"c": ["b"], "b": ["a"], "a": []}
    clients = {}
    assert traversal.general_toposort(["c"], deps.__getitem__, clients=clients) == ["a", "b", "c"]
    assert clients == {"b": ["c"], "a": ["b"]}
    assert list(traversal.walk_toposort(["c", "a"], deps.get)) == ["a", "b", "c"]
    with pytest.raises(ValueError, match="depends on itself"):
        list(traversal.walk_toposort(["c"], {**deps, "a": ["c"]}.get))
    with pytest.raises(ValueError, match="deps"):
        traversal.general_toposort(["c"], None)
    x = pt.dscalar("x")
    first, second = pt.exp(x), pt.sin(x)
    both = first + second
    order = traversal.toposort_with_orderings([both], orderings={first.owner: [second.owner]})
    assert order == [second.owner, first.owner, both.owner]
    with pytest.raises(ValueError, match="depends on itself"):
        traversal.io_toposort([x], [both], {first.owner: [both.owner]})


def test_copies(graph):
    x, y, a, b, z = graph
    inputs, outputs = bt.graph.clone([x, y], [z])
    assert inputs != [x, y] and basic.equal_computations(outputs, [z], inputs, [x, y])
    kept, again = bt.graph.clone([x, y], [z], copy_inputs=False)
    assert kept == [x, y] and again[0] is not z and basic.equal_computations(again, [z])
    memo = basic.clone_get_equiv([x, y], [z], memo={x: pt.dscalar("w")})
    assert memo[x].name == "w" and memo[a].owner.inputs == [memo[x]] and memo[b.owner].outputs == [memo[b]]
    s = bt.shared(1.0)
    assert basic.clone_get_equiv([x], [x * s], copy_orphans=False)[s] is s
    assert basic.as_string([x], [a + a]) == ["Add(*1 -> Exp(x), *1)"]
    with pytest.raises(TypeError):
        basic.clone_get_equiv([x], [z], colour="red")


def test_graphs_within_ops():
    x = pt.dscalar("x")
    inner = bt.compile.OpFromGraph([x], [pt.exp(x)])
    assert isinstance(inner, op.HasInnerGraph) and not isinstance(pt.exp(x).owner.op, op.HasInnerGraph)
    assert traversal.get_var_by_name([inner(pt.dscalar("other"))], "other")[0].name == "other"
    y = pt.dscalar("y")
    assert op.io_connection_pattern([x, y], [x * y, bt.gradient.disconnected_grad(x) + y]) == [[True, False], [True, True]]


# ---- types and constants ---------------------------------------------------------------------------------------------


def test_types():
    three = pt.TensorType("float64", (3,))
    x = pt.dvector("x")
    assert pt.dvector.in_same_class(three) and not pt.dvector.in_same_class(pt.dmatrix) and not pt.dvector.in_same_class(pt.TensorType("float64", (1,)))
    assert pt.dvector.filter_variable(x) is x and pt.dvector.filter_variable(three("y")).type == three
    checked = three.filter_variable(x)
    assert checked.type == three and checked.eval({x: [1.0, 2.0, 3.0]}).tolist() == [1, 2, 3]
    with pytest.raises(bt.ShapeError):
        checked.eval({x: [1.0]})
    assert three.filter_variable(np.ones(3)).data.tolist() == [1, 1, 1]
    for other in (pt.fvector(), pt.dmatrix(), pt.TensorType("float64", (4,))()):
        with pytest.raises(TypeError, match="filter_variable"):
            three.filter_variable(other)
    with pytest.raises(TypeError):
        three.filter_variable(x, allow_convert=False)
    with pytest.raises(TypeError):
        three.filter_variable(np.ones(4))
    assert three.convert_variable(pt.fvector()) is None
    assert isinstance(three, HasDataType) and isinstance(three, HasShape) and not isinstance(generic, HasDataType)
    state = pt.random.random_generator_type if hasattr(pt.random, "random_generator_type") else generic
    assert state.in_same_class(state) and not state.in_same_class(pt.dvector)


def test_constants():
    c = pt.constant([1.0, 2.0])
    assert c.data.tolist() == c.value.tolist() == [1, 2] and hash(c.signature()) == hash(pt.constant([1.0, 2.0]).signature())


def test_slices():
    x, n = pt.dvector("x"), pt.lscalar("n")
    assert x[pt.make_slice(n)].eval({x: [1.0, 2.0], n: 1}).tolist() == [2]  # make_slice(n) starts at n
    assert pt.make_slice(slice(1, 2)) == slice(1, 2) and pt.make_slice(1, None, 2) == slice(1, None, 2)
    assert x[pt.NoneConst].ndim == 2 and x[pt.NoneSliceConst].ndim == 1
    with pytest.raises(ValueError, match="make_slice"):
        pt.make_slice(slice(1), 2)


# ---- scalars ---------------------------------------------------------------------------------------------------------


def test_scalar_ops():
    x = pt.dvector("x")
    node = (x + 1).owner
    assert isinstance(node.op.scalar_op, scalar.Add) and node.op.scalar_op == scalar.add and not isinstance(node.op, scalar.Mul)
    assert scalar.Exp()(x).eval({x: [0.0]}) == 1 and Elemwise(scalar.Add()) == node.op
    assert isinstance(node.op, scalar.BinaryScalarOp) and isinstance(scalar.lt(x, x).owner.op, scalar.LogicalComparison)
    assert isinstance(scalar.invert(pt.lscalar()).owner.op, scalar.UnaryBitOp) and isinstance(scalar.xor(1, pt.lscalar()).owner.op, scalar.BinaryBitOp)
    assert isinstance(scalar.convert_to_int8(x).owner.op, scalar.Cast) and scalar.convert_to_int8(x).dtype == "int8"
    assert not isinstance(pt.sum(x).owner.op, scalar.Add) and not isinstance(x, scalar.ScalarOp)
    with pytest.raises(TypeError, match="LogicalComparison"):
        scalar.LogicalComparison()
    with pytest.raises(AttributeError):
        scalar.no_such_function
    assert {"add", "float64", "Exp", "int8"} <= set(dir(scalar))


def test_every_scalar_op_class_corresponds_to_a_function():
    made = {name: getattr(scalar, name) for name in SCALAR_FUNCTIONS if name in scalar.classes.__all__}
    assert len(made) > 60
    for name, cls in made.items():
        assert isinstance(cls(), cls) and cls.__name__ == name


def test_scalars():
    assert scalar.float64 == scalar.ScalarType("float64") == scalar.get_scalar_type("float64") and scalar.float64("x").ndim == 0
    assert [v.dtype for v in (*scalar.ints("a"), *scalar.floats("b", "c"))] == ["int64", bt.config.floatX, bt.config.floatX]
    assert scalar.as_scalar(2).dtype == "int8" and scalar.constant(2, dtype="float32").dtype == "float32"
    assert scalar.cast(2, "int64").dtype == "int64" and scalar.convert(3, "int16").dtype == "int16"
    assert scalar.upcast("bool", "bool") == "bool" and scalar.upcast("float16", "int64") == "float64" and scalar.upcast("int8") == "int8"
    for refused in (lambda: scalar.as_scalar(pt.dvector()), lambda: scalar.constant([1.0])):
        with pytest.raises(TypeError):
            refused()
    with pytest.raises(TypeError, match="dtype"):
        scalar.ScalarType("text")


def test_derivatives_with_respect_to_parameters():
    a, b, x = pt.dscalars("a", "b", "x")
    at = {a: 2.0, b: 3.0, x: 0.4}
    by_a, by_b = bt.grad(scalar.betainc(a, b, x), [a, b])
    assert scalar.betainc_grad(a, b, x, True).eval(at) == pytest.approx(by_a.eval(at))
    assert scalar.betainc_grad(a, b, x, False).eval(at) == pytest.approx(by_b.eval(at))
    at.pop(b)
    assert scalar.gammainc_grad(a, x).eval(at) == -scalar.gammaincc_grad(a, x).eval(at) == bt.grad(pt.gammainc(a, x), a).eval(at)
    assert scalar.betaln(a, x).eval(at) == pt.special.betaln(a, x).eval(at)


# ---- compiling -------------------------------------------------------------------------------------------------------


def test_linkers_by_name():
    from bitale.compile import predefined_linkers, register_linker

    assert {"py", "c", "c|py", "c|py_nogc", "vm", "cvm", "vm_nogc", "cvm_nogc", "jit"} <= set(predefined_linkers)
    x = pt.dvector("x")
    for name in ("py", "c", "c|py", "c|py_nogc", "vm", "cvm", "vm_nogc", "cvm_nogc", "jit"):
        linker = predefined_linkers[name]
        for given in (name, linker):
            assert bt.function([x], pt.exp(x).sum(), mode=bt.Mode(given))([0.0, 0.0]) == 2, name
    seen = []
    register_linker("TEST_TELLING", bt.link.VMLinker(callback=lambda node, **_: seen.append(node.op.name)))
    assert bt.function([x], pt.exp(x).sum(), mode=bt.Mode("TEST_TELLING", None))([0.0]) == 1 and seen == ["Exp", "Sum{axes=None}"]
    for name in ("TEST_TELLING", "vm", "cvm_nogc"):
        with pytest.raises(ValueError, match=name):
            register_linker(name, bt.link.VMLinker())
    with pytest.raises(TypeError, match="expected a Linker"):
        register_linker("TEST_NONE", "vm")
    with pytest.raises(ValueError, match="linker"):
        bt.Mode("TEST_NONE")
    with bt.config.change_flags(linker="vm"):
        assert bt.Mode(None).linker == "vm"
    assert bt.Mode("vm", "default").optimizer == bt.config.optimizer and bt.Mode("vm", None).optimizer == "None"


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
    assert get_mode("TEST_ONE_BY_ONE").linker == "vm" and bt.function([x], x + 1, mode="TEST_ONE_BY_ONE")(1.0) == 2
    for name in ("TEST_ONE_BY_ONE", "FAST_RUN"):
        with pytest.raises(ValueError, match="already"):
            register_mode(name, bt.Mode())
    with pytest.raises(TypeError):
        register_mode("TEST_NONE", "FAST_RUN")
    with pytest.raises(ValueError):
        get_mode("TEST_NONE")
    for name in ("FAST_RUN", "FAST_COMPILE", "C", "VM", "CVM"):
        assert isinstance(getattr(bt.compile, name), bt.Mode) and isinstance(getattr(bt.compile.mode, name), bt.Mode)
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


# ---- gradients -------------------------------------------------------------------------------------------------------


def test_views_of_gradients():
    x = pt.dvector("x")
    at = {x: [1.0, 2.0]}
    for view, expected in ((bt.gradient.zero_grad_, 0), (bt.gradient.GradScale(3.0), 3), (bt.gradient.GradClip(-0.5, 0.5), 0.5)):
        assert bt.grad(view(x).sum(), x).eval(at).tolist() == [expected] * 2
    assert isinstance(bt.zero_grad(x).owner.op, bt.gradient.ZeroGrad) and bt.gradient.grad_clip(x, -1, 1).owner.op == bt.gradient.GradClip(-1, 1)
    with pytest.raises(bt.DisconnectedInputError):
        bt.grad(bt.gradient.disconnected_grad_(x).sum(), x)
    with pytest.raises(bt.NullTypeGradError):
        bt.grad(bt.gradient.undefined_grad_(x).sum(), x)
    assert "why not" in str(bt.gradient.NullType("why not")) and isinstance(bt.gradient.null_type, bt.gradient.NullType)


def test_parts_of_gradients():
    x, w = pt.dvectors("x", "w")
    h = x * w
    by_w, by_h, of_start, of_cost = bt.subgraph_grad([w], [h], cost=(h**2).sum() + (w**3).sum(), details=True)
    assert of_start is None
    assert bt.function([x, w], [*by_w, *by_h, *of_cost], on_unused_input="ignore")([1.0], [2.0]) == [12, 4, 12]
    *_, of_start, of_cost = bt.subgraph_grad([w], [x], start={h: pt.ones_like(h)}, details=True)
    assert of_cost is None and of_start[0].eval({x: [5.0], w: [1.0]}) == 5


def test_numeric_gradients():
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    y = np.array(2.0)
    found = bt.gradient.numeric_grad(lambda a, b: (a**2).sum() * b, [x, y])
    np.testing.assert_allclose(found.gf[0], 4 * x, rtol=1e-5)
    np.testing.assert_allclose(found.gf[1], 30, rtol=1e-5)
    off = 4 * x
    off[1, 0] += 1
    which, where, absolute, relative = found.max_err([off, np.array(30.0)], 1e-3, 1e-3)
    assert (which, where) == (0, 2) and absolute == pytest.approx(1, rel=1e-3) and relative == pytest.approx(1 / 25, rel=1e-3)
    assert bt.gradient.numeric_grad(lambda a: a**2, y).gf == pytest.approx(4, rel=1e-5)
    with pytest.raises(TypeError, match="floats"):
        bt.gradient.numeric_grad(lambda a: a, np.array(1))
    assert not isinstance(bt.gradient.mode_not_slow("DebugMode"), bt.compile.DebugMode) and bt.gradient.mode_not_slow("VM").linker == "vm"


# ---- strings and flags -----------------------------------------------------------------------------------------------


def test_strings(graph):
    x, y, a, b, z = graph
    assert [bt.printing.char_from_number(n) for n in (0, 25, 26, 51, 52, 702)] == ["A", "Z", "BA", "BZ", "CA", "BBA"]
    text = bt.dprint(z, file="str")
    for name, node in (("A", z.owner), ("B", b.owner), ("D", x), ("E", y)):
        assert bt.printing.get_node_by_id(z, name) == node and f"[id {name}]" in text
    assert bt.printing.get_node_by_id(z, "Q") is None and bt.printing.get_node_by_id([a, z], "1", "int") is x
    assert bt.printing.get_node_by_id(bt.function([x], a), "A").op == a.owner.op
    with pytest.raises(ValueError):
        bt.printing.get_node_by_id(z, "A", "auto")
    with pytest.raises(TypeError):
        bt.printing.get_node_by_id(3, "A")
    assert bt.printing.min_informative_str(z).splitlines()[:4] == ["A. Add", " B. Mul", "  C. Exp", "   D. x"]


def test_user_defined_flags():
    config = bt.config
    config.add("test__steps", "How many.", IntParam(10, lambda n: n > 0))
    config.add("test__on", "Whether.", BoolParam(lambda: "1"))
    config.add("test__rate", "How fast.", FloatParam("0.5"))
    config.add("test__kind", "Which.", EnumStr("a", ["b"]))
    config.add("test__fixed", "Always this.", StrParam("x", mutable=False))
    assert (config.test__steps, config.test__on, config.test__rate, config.test__kind, config.test__fixed) == (10, True, 0.5, "a", "x")
    with config.change_flags(test__steps="3", test__on=False, test__kind="b"):
        assert (config.test__steps, config.test__on, config.test__kind) == (3, False, "b")
    assert config.test__steps == 10 and "test__steps" in str(config) and "test__rate" in dir(config)
    for name, value in (("test__steps", -1), ("test__on", "maybe"), ("test__kind", "c")):
        with pytest.raises(ValueError, match=name):
            setattr(config, name, value)
    with pytest.raises(ConfigAccessViolation):
        config.test__fixed = "y"
    with pytest.raises(AttributeError, match="already"):
        config.add("floatX", "", StrParam(""))
    with pytest.raises(TypeError):
        config.add("test__none", "", 3)
    with pytest.raises(KeyError):
        config.change_flags(test__none=1)


# ---- largest elements ------------------------------------------------------------------------------------------------


def test_largest_elements():
    x = pt.dmatrix("x")
    values = np.random.default_rng(3).normal(size=(4, 5))
    for axis in (0, 1, -1):
        for k in (1, 3, -2):
            top, indices = bt.function([x], pt.topk_and_argtopk(x, k, axis))(values)
            kept = slice(-k, None) if k > 0 else slice(-k)
            expected = np.moveaxis(np.moveaxis(np.sort(values, axis), axis, 0)[kept], 0, axis)
            np.testing.assert_array_equal(top, expected)
            np.testing.assert_array_equal(np.take_along_axis(values, indices, axis), top)
    assert pt.topk(x, 2, None).type.shape == (2,) and pt.argtopk(x, 2, idx_dtype="int32").dtype == "int32"
    np.testing.assert_array_equal(bt.grad(pt.topk(x, 5).sum(), x).eval({x: values}), np.ones((4, 5)))
    with pytest.raises(bt.ShapeError):
        pt.topk(x, 6).eval({x: values})
    with pytest.raises(ValueError, match="k is 0"):
        pt.topk(x, 0)
    with pytest.raises(TypeError, match="kth"):
        pt.topk(x, 1.5)
    with pytest.raises(NotImplementedError, match="kth"):
        pt.topk(x, pt.lscalar())


# ---- printers --------------------------------------------------------------------------------------------------------


def test_printers():
    from bitale.printing import FunctionPrinter, IgnorePrinter, OperatorPrinter, PatternPrinter, PPrinter, pprint

    x, y = pt.dscalars("x", "y")
    p = PPrinter()
    assert p(x + y * 2) == pprint(x + y * 2) == "x + y * 2" and p(x) == "x"
    p.assign(pt.sigmoid, FunctionPrinter("s"))
    p.assign(pt.log, "ln")
    assert p(2 * pt.sigmoid(x + pt.log(y))) == "2 * s(x + ln(y))" and pprint(pt.log(y)) == "log(y)"
    q = p.clone_assign(pt.abs, PatternPrinter("|%(0)s|"))
    assert q(pt.abs(x + y) ** 2) == "|x + y| ** 2" and "|" not in p(pt.abs(x))
    q.assign(pt.exp, IgnorePrinter())
    assert q(pt.exp(x) + y) == "x + y"
    r = PPrinter()
    r.assign(pt.add, OperatorPrinter("⊕", 1))
    r.assign(pt.mul, OperatorPrinter("⊗", 2))
    r.assign(pt.neg, OperatorPrinter("-", 3))
    assert r((x + y) * (x * y)) == "(x ⊕ y) ⊗ (x ⊗ y)" and r(x + y + x * y) == "x ⊕ y ⊕ x ⊗ y" and r(-(x + y)) == "-(x ⊕ y)"
    assert r(pt.sin(x + y)).startswith("sin(") and "x ⊕ y" in r(pt.sin(x + y))
    assert r(pt.sin(x) + (x - y)) == "sin(x) ⊕ (x - y)"

    class Greek(bt.printing.Printer):
        def process(self, var, pstate):
            return "ψ"

    r.assign(lambda pstate, v: v is y, Greek())
    assert r(x + y) == "x ⊕ ψ"
    with pytest.raises(ValueError, match="assoc"):
        OperatorPrinter("+", 1, "up")


def test_printers_of_user_defined_ops_and_graphs():
    from bitale.printing import FunctionPrinter, PPrinter, PrinterState, constant_printer, default_printer, leaf_printer, set_precedence

    class Twice(bt.Op):
        __props__ = ("factor",)
        itypes = otypes = [pt.dscalar]

        def __init__(self, factor):
            self.factor = factor

        def make_node(self, x):
            return bt.Apply(self, [x], [x.type()])

        def perform(self, node, inputs, outputs):
            outputs[0][0] = inputs[0] * self.factor

    x = pt.dscalar("x")
    p = PPrinter()
    p.assign(Twice, FunctionPrinter("twice", ["factor"]))
    s = bt.shared(1.0, "s")
    y = Twice(2)(x + 1)
    assert p(y) == "twice(x + 1, factor=2)" and p(pt.sqrt(y) * s) == "sqrt(twice(x + 1, factor=2)) * s"
    assert p.process_graph([x], [y], {s: s + 1}, display_inputs=True).splitlines() == ["inputs: x", "twice(x + 1, factor=2)", "s <- s + 1"]
    assert p([x], [y]) == p(y)
    state = PrinterState(pprinter=p)
    with set_precedence(state, 5):
        assert state.precedence == 5
    assert state.precedence < 0
    assert leaf_printer.process(x, state) == "x" and constant_printer.process(pt.constant(2), state) == "2"
    assert default_printer.process(pt.exp(x + 1), state) == "Exp(x + 1)" and default_printer.process(x, state) == "x"
    with pytest.raises(NotImplementedError):
        bt.printing.Printer().process(x, state)


def test_transfers_can_be_added():
    from bitale.tensor import transfers
    from bitale.tensor.basic import register_transfer

    x = pt.dvector("x")
    with pytest.raises(ValueError, match="expected the target"):
        x.transfer("twice")
    before = list(transfers._transfers)
    try:
        register_transfer(lambda v, target: v * 2 if target == "twice" else None)
        assert x.transfer("twice").eval({x: [1.5]}).tolist() == [3.0] and x.transfer("cpu") is x
        with pytest.raises(ValueError, match="expected the target"):
            pt.transfer(x, "thrice")
        with pytest.raises(TypeError, match="a function"):
            register_transfer("twice")
    finally:
        transfers._transfers[:] = before


def test_hash_of_the_configuration():
    before = bt.config.get_config_hash()
    with bt.config.change_flags(floatX="float32"):
        assert bt.config.get_config_hash() != before
    assert bt.config.get_config_hash() == before


def test_clones_of_leaves_with_values():
    s = bt.shared(np.array([1.0, 2.0]), "s")
    clone = s.clone(name="other")
    assert clone is not s and clone.name == "other" and type(clone) is type(s)
    clone.set_value([5.0])
    assert s.get_value().tolist() == [5.0]
    f = bt.function([], [s * 2, clone], updates={s: s + 1})
    assert [each.tolist() for each in f()] == [[10.0], [5.0]] and clone.get_value().tolist() == [6.0]
    generator = pt.random.shared_rng(seed=1)
    assert generator.clone().get_value().bit_generator.state == generator.get_value().bit_generator.state
    constant, x = pt.constant([1.0, 2.0]), pt.dvector("x")
    assert constant.clone() is constant and constant.clone("c").data.tolist() == [1.0, 2.0]
    assert x.clone() is not x and x.clone().owner is None and (x + 1).clone().owner is None
    narrow = bt.shared(np.ones((1, 3)), broadcastable=(True, False))
    assert narrow.type.shape == (1, None)
    with pytest.raises(TypeError):
        bt.shared(np.ones((2, 3)), broadcastable=(True, False))

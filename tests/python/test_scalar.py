"""Scalar ops, types and functions; scalar functions written in Python, and the rules for the types of their results."""

import pickle

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale import scalar
from bitale._class_factory import SCALAR_FUNCTIONS
from bitale.tensor.elemwise import Elemwise


class Softer(scalar.UnaryScalarOp):
    """log(1 + exp(x)), with its derivative."""

    def impl(self, x):
        return np.log1p(np.exp(x))

    def grad(self, inputs, output_gradients):
        return [output_gradients[0] * pt.sigmoid(inputs[0])]


class Hypotenuse(scalar.BinaryScalarOp):
    """A scalar op with a NumPy function of arrays."""

    nfunc_spec = ("numpy.hypot", 2, 1)

    def impl(self, x, y):
        raise AssertionError("nfunc_spec has a function")

    def L_op(self, inputs, outputs, cotangents):
        return [cotangents[0] * x / outputs[0] for x in inputs]


class SumAndProduct(scalar.ScalarOp):
    """A scalar op with any number of inputs and two results."""

    nout = 2

    def impl(self, *inputs):
        return sum(inputs), np.prod(inputs)

    def output_types(self, types):
        return scalar.upcast_out(*types) * 2


softer = Softer(scalar.upgrade_to_float, name="softer")
X, V = np.array([[0.0, 1.0, -2.0], [0.5, np.nan, 30.0]]), np.array([3.0, 4.0, 12.0])


def test_elementwise(mode):
    x = pt.dmatrix("x")
    y = Elemwise(softer)(x)
    expected = np.log1p(np.exp(X))
    np.testing.assert_allclose(bt.function([x], y * 2, mode=mode)(X), expected * 2)
    assert y.type == x.type and str(y.owner.op) == "Elemwise{softer}"
    small = X[:, :1]
    np.testing.assert_allclose(
        bt.function([x], bt.grad(y.sum(), x), mode=mode)(small), 1 / (1 + np.exp(-small))
    )
    assert Elemwise(softer)(pt.bvector("b")).dtype == "float32" and softer(
        1
    ).eval() == pytest.approx(np.log1p(np.e))
    assert bt.function([x], y, mode=mode)(np.zeros((0, 3))).shape == (0, 3)
    v = pt.dvector("v")
    np.testing.assert_array_equal(
        bt.graph.vectorize_graph(Elemwise(softer)(v), {v: x}).eval({x: small}), expected[:, :1]
    )


def test_several_inputs_are_broadcast(mode):
    x, v = pt.dmatrix("x"), pt.dvector("v")
    y = Elemwise(Hypotenuse(scalar.upgrade_to_float))(x, v)
    ones = np.ones((2, 3))
    np.testing.assert_allclose(bt.function([x, v], y, mode=mode)(ones, V), np.hypot(ones, V))
    np.testing.assert_allclose(
        bt.function([x, v], bt.grad(y.sum(), v), mode=mode)(ones, V), 2 * V / np.hypot(1, V)
    )
    total, product = Elemwise(SumAndProduct())(x, v, 2)
    found = bt.function([x, v], [total, product], mode=mode)(ones, V)
    np.testing.assert_array_equal(found, [1 + V + 2 + 0 * ones, ones * V * 2])
    batch = bt.graph.vectorize_graph(Elemwise(Hypotenuse(scalar.upgrade_to_float))(v, 4.0), {v: x})
    np.testing.assert_allclose(batch.eval({x: X}), np.hypot(X, 4.0))


def test_classes_and_equality():
    assert isinstance(softer, scalar.UnaryScalarOp) and isinstance(softer, scalar.ScalarOp)
    assert not isinstance(softer, scalar.BinaryScalarOp) and not isinstance(softer, scalar.Exp)
    assert isinstance(pt.exp(pt.dscalar()).owner.op.scalar_op, scalar.UnaryScalarOp)
    assert (
        softer == Softer(scalar.upgrade_to_float)
        and softer != Softer(scalar.same_out)
        and hash(softer) == hash(Softer(scalar.upgrade_to_float))
    )
    x = pt.dscalar("x")
    twice = bt.function([x], Elemwise(softer)(x) + Elemwise(Softer(scalar.upgrade_to_float))(x))
    assert (
        sum("softer" in str(node.op) for node in twice.maker.fgraph.toposort()) == 1
    )  # equal ops are merged
    assert pickle.loads(pickle.dumps(twice))(1.0) == twice(1.0)


@pytest.mark.parametrize(
    "bad, error, message",
    [
        (lambda x: Elemwise(softer)(x, x), TypeError, "expected 1 inputs, got 2"),
        (lambda x: Elemwise(Softer())(x), NotImplementedError, "output_types"),
        (lambda x: Softer(3), TypeError, "upgrade_to_float"),
        (lambda x: Elemwise(softer, {0: 0}), NotImplementedError, "inplace"),
        (lambda x: Elemwise(scalar.UnaryScalarOp(scalar.same_out)), TypeError, "functions such as"),
        (
            lambda x: bt.grad(Elemwise(SumAndProduct())(x)[0].sum(), x),
            NotImplementedError,
            "no derivative",
        ),
        (
            lambda x: Elemwise(
                Hypotenuse(scalar.same_out_nobool), nfunc_spec=("numpy.no_such", 2, 1)
            ),
            (ValueError, AttributeError),
            "no_such",
        ),
        (
            lambda x: Elemwise(Hypotenuse(scalar.upcast_out))(
                pt.vector(shape=(2,)), pt.vector(shape=(3,))
            ),
            bt.ShapeError,
            "2 and 3",
        ),
    ],
)
def test_invalid_ops(bad, error, message):
    with pytest.raises(error, match=message):
        bad(pt.dvector("x"))


def test_types_of_results():
    types = scalar
    cases = [
        (scalar.upcast_out, "int8 uint8", "int16"), (scalar.upcast_out, "bool", "bool"), (scalar.upcast_out_min8, "bool", "int8"),
        (scalar.upcast_out_nobool, "bool", None), (scalar.upcast_out_no_complex, "float64 complex64", None), (scalar.same_out, "int32", "int32"),
        (scalar.same_out_min8, "bool", "int8"), (scalar.same_out_nobool, "bool", None), (scalar.same_out_float_only, "int8", None),
        (scalar.same_out_float_only, "float32", "float32"), (scalar.same_out_nocomplex, "complex64", None), (scalar.upgrade_to_float, "int16", "float32"),
        (scalar.upgrade_to_float, "int32", "float64"), (scalar.upgrade_to_float, "uint16 float16", "float32"), (scalar.upgrade_to_float64, "float32", "float64"),
        (scalar.upgrade_to_float64, "complex64", None), (scalar.upgrade_to_float_no_complex, "complex128", None), (scalar.int_out, "float32", "int64"),
        (scalar.float_out, "int8", "float64"), (scalar.real_out, "complex64", "float32"), (scalar.specific_out(scalar.int8), "float64", "int8"),
    ]  # fmt: skip
    for rule, given, expected in cases:
        arguments = [types.get_scalar_type(dtype) for dtype in given.split()]
        if expected is None:
            with pytest.raises(TypeError, match=getattr(rule, "__name__", "")):
                rule(*arguments)
        else:
            assert [each.dtype for each in rule(*arguments)] == [expected], (rule, given)


def test_graphs_of_scalars(mode):
    x, y = scalar.floats("x", "y")
    both = scalar.Composite([x, y], [x * x + y, pt.exp(x)])
    m, v = pt.dmatrix("m"), pt.dvector("v")
    total, power = Elemwise(both)(m, v)
    f = bt.function([m, v], [total, power, bt.grad(total.sum(), v)], mode=mode)
    given = np.array([[1.0, 2.0, 3.0], [0.0, -1.0, 0.5]])
    for found, expected in zip(
        f(given, V), [given**2 + V, np.exp(given) + 0 * V, np.full(3, 2.0)], strict=True
    ):
        np.testing.assert_allclose(found, expected)
    assert [each.eval() for each in both(1.0, 2.0)] == [3, np.e] and both.impl(1.0, 2.0) == (
        3,
        np.e,
    )
    assert both == scalar.Composite([x, y], [x * x + y, pt.exp(x)]) and both != scalar.Composite(
        [y, x], [x * x + y, pt.exp(x)]
    )
    assert (
        hash(both) == hash(scalar.Composite([x, y], [x * x + y, pt.exp(x)]))
        and len(both.fgraph.toposort()) == 3
    )
    assert isinstance(both, scalar.ScalarInnerGraphOp) and not isinstance(
        softer, scalar.ScalarInnerGraphOp
    )
    assert Elemwise(both)(pt.ivector("i"), 1)[0].dtype == "float64"
    with pytest.raises(bt.MissingInputError, match="depend on y"):
        scalar.Composite([x], [x + y])
    for bad in (([x], []), ([x, x], [x])):
        with pytest.raises(ValueError, match="Composite"):
            scalar.Composite(*bad)
    for bad in (
        lambda: scalar.Composite([v], [v]),
        lambda: Elemwise(both)(v),
        lambda: Elemwise(both)(pt.zvector("z"), v),
    ):
        with pytest.raises(TypeError, match="Composite"):
            bad()


# ---- PyTensor's names ------------------------------------------------------------------------------------------------


def test_scalar_ops():
    x = pt.dvector("x")
    node = (x + 1).owner
    assert (
        isinstance(node.op.scalar_op, scalar.Add)
        and node.op.scalar_op == scalar.add
        and not isinstance(node.op, scalar.Mul)
    )
    assert scalar.Exp()(x).eval({x: [0.0]}) == 1 and Elemwise(scalar.Add()) == node.op
    assert isinstance(node.op, scalar.BinaryScalarOp) and isinstance(
        scalar.lt(x, x).owner.op, scalar.LogicalComparison
    )
    assert isinstance(scalar.invert(pt.lscalar()).owner.op, scalar.UnaryBitOp) and isinstance(
        scalar.xor(1, pt.lscalar()).owner.op, scalar.BinaryBitOp
    )
    assert (
        isinstance(scalar.convert_to_int8(x).owner.op, scalar.Cast)
        and scalar.convert_to_int8(x).dtype == "int8"
    )
    assert not isinstance(pt.sum(x).owner.op, scalar.Add) and not isinstance(x, scalar.ScalarOp)
    with pytest.raises(TypeError, match="LogicalComparison"):
        scalar.LogicalComparison()
    with pytest.raises(AttributeError):
        scalar.no_such_function
    assert {"add", "float64", "Exp", "int8"} <= set(dir(scalar))


def test_every_scalar_op_class_corresponds_to_a_function():
    made = {
        name: getattr(scalar, name) for name in SCALAR_FUNCTIONS if name in scalar.classes.__all__
    }
    assert len(made) > 60
    for name, cls in made.items():
        assert isinstance(cls(), cls) and cls.__name__ == name


def test_scalars():
    assert (
        scalar.float64 == scalar.ScalarType("float64") == scalar.get_scalar_type("float64")
        and scalar.float64("x").ndim == 0
    )
    assert [v.dtype for v in (*scalar.ints("a"), *scalar.floats("b", "c"))] == [
        "int64",
        bt.config.floatX,
        bt.config.floatX,
    ]
    assert (
        scalar.as_scalar(2).dtype == "int8"
        and scalar.constant(2, dtype="float32").dtype == "float32"
    )
    assert scalar.cast(2, "int64").dtype == "int64" and scalar.convert(3, "int16").dtype == "int16"
    assert (
        scalar.upcast("bool", "bool") == "bool"
        and scalar.upcast("float16", "int64") == "float64"
        and scalar.upcast("int8") == "int8"
    )
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
    assert (
        scalar.gammainc_grad(a, x).eval(at)
        == -scalar.gammaincc_grad(a, x).eval(at)
        == bt.grad(pt.gammainc(a, x), a).eval(at)
    )
    assert scalar.betaln(a, x).eval(at) == pt.special.betaln(a, x).eval(at)

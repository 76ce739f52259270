"""PyTensor's classes of ops, types and variables: made, applied, compared, asked for by isinstance, and read by attributes."""

import copy
import inspect
import pickle
import subprocess
import sys

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale.assumptions import (
    ALL_KEYS,
    DIAGONAL,
    LOWER_TRIANGULAR,
    ORTHOGONAL,
    AssumptionKey,
    FactState,
    SpecifyAssumptions,
    check_assumption,
)
from bitale.scan.op import Scan, ScanInfo, ScanMethodsMixin
from bitale.tensor import linalg_classes
from bitale.tensor.elemwise import Elemwise
from bitale.tensor.pad import Pad
from bitale.tensor.random import classes as random_classes
from bitale.tensor.random.basic import MvNormalRV, NormalRV

A = np.array([[4.0, 1.0], [1.0, 3.0]])
B = np.array([[1.0, 2.0], [3.0, 4.0]])


def _required(cls):
    """A value for each argument that has no default."""
    return {
        name: 2
        for name, each in inspect.signature(cls).parameters.items()
        if each.default is each.empty
    }


@pytest.mark.parametrize("name", linalg_classes.__all__ + random_classes.__all__)
def test_ops_of_equal_arguments_are_equal(name):
    cls = getattr(linalg_classes, name, None) or getattr(random_classes, name)
    op = cls(**_required(cls))
    assert (
        isinstance(op, cls) and op == cls(**op.arguments) and hash(op) == hash(cls(**op.arguments))
    )
    assert op.__props__ == op.arguments and copy.copy(op.arguments) == op.arguments
    assert op != linalg_classes.Cholesky(lower=False) or name == "Cholesky"
    with pytest.raises(TypeError, match="no_such_argument"):
        cls(no_such_argument=1)


@pytest.mark.parametrize(
    "make, inputs, function",
    [(lambda l: l.Cholesky(lower=False), (A,), lambda a: np.linalg.cholesky(a).T), (lambda l: l.Det(), (A,), np.linalg.det), (lambda l: l.MatrixInverse(), (A,), np.linalg.inv),
     (lambda l: l.Solve(assume_a="pos"), (A, B), np.linalg.solve), (lambda l: l.Solve(b_ndim=1), (A, B[0]), np.linalg.solve), (lambda l: l.MatrixPinv(hermitian=False), (B,), np.linalg.pinv),
     (lambda l: l.SolveTriangular(lower=True), (np.tril(A), B), np.linalg.solve), (lambda l: l.CholeskySolve(lower=True), (np.linalg.cholesky(A), B), lambda _, b: np.linalg.solve(A, b)),
     (lambda l: l.KroneckerProduct(), (A, B), np.kron), (lambda l: l.Eigvalsh(), (A,), np.linalg.eigvalsh), (lambda l: l.BlockDiagonal(2), (A[:1], B), lambda a, b: np.block([[a, np.zeros((1, 2))], [np.zeros((2, 2)), b]]))],
)  # fmt: skip
def test_ops_of_linear_algebra_compute(make, inputs, function):
    out = make(pt.linalg)(*inputs)
    np.testing.assert_allclose(out.eval(), function(*inputs), rtol=1e-12)


def test_ops_of_linear_algebra_are_of_their_classes():
    a = pt.dmatrix("a")
    for name, node in {
        "Cholesky": pt.linalg.cholesky(a).owner,
        "Det": pt.linalg.det(a).owner,
        "Solve": pt.linalg.solve(a, a).owner,
        "SVD": pt.linalg.svd(a)[0].owner,
        "QR": pt.linalg.qr(a)[0].owner,
        "Eigh": pt.linalg.eigh(a)[0].owner,
        "SolveTriangular": pt.linalg.solve_triangular(a, a).owner,
    }.items():
        assert isinstance(node.op, getattr(pt.linalg, name)) and not isinstance(
            node.op, pt.linalg.Schur
        ), name
        assert not isinstance(pt.exp(a).owner.op, getattr(pt.linalg, name))


def test_blockwise_has_its_core_op():
    batch = pt.dtensor3("batch")
    op = pt.linalg.cholesky(batch, lower=False).owner.op
    assert (
        isinstance(op, pt.blockwise.Blockwise)
        and isinstance(op.core_op, pt.linalg.Cholesky)
        and op.core_op.lower is False
    )
    assert op.core_op == pt.linalg.cholesky(pt.dmatrix(), lower=False).owner.op


def test_classes_of_random_variables():
    rng = pt.random.shared_rng(seed=1)
    x = pt.random.normal(0, 1, size=3, rng=rng)
    assert (
        isinstance(x.owner.op, NormalRV)
        and not isinstance(x.owner.op, MvNormalRV)
        and not isinstance(pt.exp(x).owner.op, NormalRV)
    )
    np.testing.assert_array_equal(NormalRV()(0, 1, size=3, rng=rng).eval(), x.eval())
    with pytest.raises(NotImplementedError, match="signature"):
        NormalRV(signature="()->()")(0, 1)


def test_random_variables_by_ranks_and_by_arguments():
    class Shifted(pt.random.RandomVariable):
        name = "shifted"
        ndim_supp = 0
        ndims_params = [0, 0]

        @classmethod
        def rng_fn(cls, rng, a, b, size):
            return a + b * rng.random(size)

    rng = pt.random.shared_rng(seed=1)
    drawn = Shifted()(1.0, 0.5, size=4, rng=rng).eval()
    assert drawn.shape == (4,) and (drawn >= 1).all() and (drawn <= 1.5).all()
    assert len(Shifted().signature.split("->")[0].split("),(")) == 2
    assert (
        Shifted(name="other", dtype="float32").name == "other"
        and Shifted(dtype="float32")(1.0, 0.5, rng=rng).dtype == "float32"
    )
    assert Shifted(name="other") != Shifted() and Shifted() == Shifted()
    assert Shifted(inplace=True).inplace and not Shifted().inplace


def test_loops_have_their_graphs():
    v = pt.dvector("v")
    out = bt.scan(
        lambda x, s: s * 2.0 + x, sequences=v, outputs_info=pt.dscalar("s"), return_updates=False
    )
    (op,) = [node.op for node in bt.graph.toposort([out]) if isinstance(node.op, Scan)]
    assert (
        op.info.n_seqs == 1
        and op.info.n_sit_sot == 1
        and op.info.n_mit_sot == op.info.n_mit_mot == 0
        and not op.info.as_while
    )
    assert (
        isinstance(op.info, ScanInfo)
        and op.info == op.info
        and len(op.inner_inputs) == 2
        and len(op.inner_outputs) == 2
    )
    assert len(op.fgraph.inputs) == 2 and issubclass(ScanMethodsMixin, object)
    with pytest.raises(TypeError, match="Scan"):
        Scan([], [], None)


def test_reductions_have_axes_and_a_function():
    a = pt.dmatrix("a")
    total, largest = a.sum(axis=(0,)).owner.op, pt.max(a).owner.op
    assert total.axis == (0,) and largest.axis is None and a.sum(axis=1).owner.op.axis == (1,)
    assert total.scalar_op == Elemwise("add") and largest.scalar_op == Elemwise("maximum")


def test_loops_have_attributes_without_an_import_of_their_class():
    code = """
import bitale as bt
op = bt.scan(lambda p: p * 2, outputs_info=[1.0], n_steps=3, return_updates=False).owner.op
assert op.info.n_sit_sot == 1 and len(op.inner_inputs) == 1 and len(op.fgraph.outputs) == 2
from bitale.scan.op import Scan
assert isinstance(op, Scan)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_keys_of_facts():
    a = pt.dmatrix("a")
    assert (
        str(DIAGONAL) == "diag"
        and DIAGONAL == AssumptionKey("diagonal", "diag")
        and len(set(ALL_KEYS)) == 11
    )
    assert check_assumption(None, pt.linalg.cholesky(a), LOWER_TRIANGULAR) and not check_assumption(
        None, a, ORTHOGONAL
    )
    stated = SpecifyAssumptions({DIAGONAL: True})(a)
    assert isinstance(stated.owner.op, SpecifyAssumptions) and check_assumption(
        None, stated, DIAGONAL
    )
    assert FactState("true") is FactState.TRUE
    with pytest.raises(TypeError, match="AssumptionKey"):
        check_assumption(None, a, "diagonal")


def test_constants_and_variables_of_a_type():
    c = pt.TensorConstant(pt.dvector, [1.0, 2.0], name="c")
    assert (
        c.name == "c"
        and c.data.tolist() == [1.0, 2.0]
        and isinstance(c, bt.graph.Constant)
        and (c * 2).eval().tolist() == [2.0, 4.0]
    )
    with pytest.raises(TypeError, match="dimensions"):
        pt.TensorConstant(pt.dvector, 1.0)
    x = pt.TensorVariable(pt.dscalar, None, name="x")
    assert x.name == "x" and x.owner is None and (x + 1).eval({x: 2.0}) == 3
    with pytest.raises(TypeError, match="node.outputs"):
        pt.TensorVariable(pt.dscalar, pt.exp(x).owner, 0)
    with pytest.raises(TypeError, match="TensorType"):
        pt.TensorVariable(pt.random.random_generator_type, None)
    assert pt.TensorType("float64", broadcastable=(True, False)) == pt.TensorType(
        "float64", shape=(1, None)
    )
    for bad in ({}, {"shape": (1,), "broadcastable": (True,)}):
        with pytest.raises(TypeError, match="shape"):
            pt.TensorType("float64", **bad)


def test_shared_variables_have_a_container():
    s = bt.shared(np.array([1.0, 2.0]), name="s")
    assert (
        s.container.value.tolist() == [1.0, 2.0]
        and s.container == s.container
        and s.container.name == "s"
    )
    s.container.storage[0] = np.array([3.0])
    assert (
        s.get_value().tolist() == [3.0]
        and s.container.storage[0].tolist() == [3.0]
        and len(s.container.storage) == 1
    )
    s.container.data = np.array([4.0, 5.0])
    assert (
        s.container.data.tolist() == s.get_value().tolist() == [4.0, 5.0]
        and not s.container.readonly
        and not s.container.strict
    )
    s.container.value = np.array([3.0])
    with pytest.raises(IndexError):
        s.container.storage[1]
    with pytest.raises(TypeError):
        s.container.value = "text"
    assert s.get_value().tolist() == [3.0]


def test_scalar_classes_take_pytensors_arguments():
    from bitale import scalar

    assert scalar.Cast(scalar.float64) == scalar.Cast("float64") and isinstance(
        scalar.Cast("int8"), scalar.Cast
    )
    assert scalar.Add(name="sum") == scalar.add and isinstance(scalar.Exp(), scalar.UnaryScalarOp)
    with pytest.raises(NotImplementedError, match="output_types_preference"):
        scalar.Add(scalar.upcast_out)


def test_ops_of_formulas_split():
    parts = pt.basic.Split(2, axis=0)(np.arange(5.0), [2, 3])
    assert [part.eval().tolist() for part in parts] == [[0, 1], [2, 3, 4]]
    assert [part.eval().tolist() for part in pt.basic.Split(2)(np.arange(5.0), 0, [2, 3])] == [
        [0, 1],
        [2, 3, 4],
    ]


def test_conditional_has_the_choice():
    from bitale.conditional.op import IfElse, ifelse

    c, x = pt.bscalar("c"), pt.dscalar("x")
    out = ifelse(c, x, -x)
    assert isinstance(out.owner.op, IfElse) and out.eval({c: 0, x: 2.0}) == -2


def test_ops_of_graphs_can_be_pickled():
    x = pt.dscalar("x")
    op = bt.OpFromGraph([x], [x * 2])
    assert pickle.loads(pickle.dumps(op)) == op


def test_names_of_modes_are_those_that_functions_take():
    from typing import get_args

    from bitale.tensor.interpolate import InterpolationMethod, valid_methods
    from bitale.tensor.pad import PadMode

    x = np.array([1.0, 2.0, 4.0])
    assert set(valid_methods) == set(get_args(InterpolationMethod))
    for mode in get_args(PadMode):
        np.testing.assert_allclose(
            pt.pad(x, (1, 2), mode=mode).eval(), np.pad(x, (1, 2), mode=mode)
        )
    for method in valid_methods:
        assert np.isfinite(pt.interpolate1d(x, x, method=method)(np.array([1.5])).eval()).all()


def test_all_draws_are_of_random_variables():
    rng = pt.random.shared_rng(seed=1)

    class Half(pt.random.RandomVariable):
        name, signature = "half", "()->()"

        def rng_fn(self, rng, a, size):
            return a / 2 + np.zeros(size)

    kinds = (pt.random.RandomVariable, pt.random.op.RandomVariable)
    for x in (
        pt.random.normal(0, 1, size=3, rng=rng),
        pt.random.gumbel(size=2, rng=rng),
        Half()(1.0, size=2, rng=rng),
    ):
        nodes = bt.graph.toposort([x])
        assert any(isinstance(node.op, kinds) for node in nodes) and not all(
            isinstance(node.op, kinds) for node in nodes + [pt.exp(x).owner]
        )
    assert (
        isinstance(Half(), kinds)
        and not isinstance(pt.exp(1.0).owner.op, kinds)
        and not isinstance(pt.random.normal(rng=rng).owner.op, Half)
    )


def test_types_have_numpys_dtype():
    assert pt.dvector.numpy_dtype == np.dtype("float64") and isinstance(
        pt.bscalar.numpy_dtype, np.dtype
    )


def test_norms_over_three_axes():
    x = np.arange(24.0).reshape(2, 3, 4)
    for axis, keepdims in (((0, 1, 2), False), ((0, -1, 1), True)):
        expected = np.sqrt((x**2).sum(axis=axis, keepdims=keepdims))
        np.testing.assert_allclose(
            pt.linalg.norm(x, axis=axis, keepdims=keepdims).eval(), expected, rtol=1e-14
        )
    with pytest.raises(ValueError, match="one or two axes"):
        pt.linalg.norm(x, ord=2, axis=(0, 1, 2))


@pytest.mark.parametrize(
    "make, other",
    [(lambda: pt.basic.Join(), lambda: pt.basic.Join(1)), (lambda: pt.extra_ops.CumOp(0), lambda: pt.extra_ops.CumOp(0, "mul")),
     (lambda: pt.subtensor.Subtensor((slice(None), 0)), lambda: pt.subtensor.Subtensor((0,))), (lambda: pt.subtensor.IncSubtensor((0,)), lambda: pt.subtensor.IncSubtensor((0,), set_instead_of_inc=True)),
     (lambda: pt.subtensor.AdvancedIncSubtensor((0,)), lambda: pt.subtensor.AdvancedIncSubtensor((0,), ignore_duplicates=True)), (lambda: pt.op_classes.SortOp("stable", 0), lambda: pt.op_classes.SortOp("stable", 1)),
     (lambda: pt.op_classes.ArgSortOp("stable", 0), lambda: pt.op_classes.SortOp("stable", 0)), (lambda: pt.op_classes.IfElse(1), lambda: pt.op_classes.IfElse(2)),
     (lambda: pt.elemwise.Elemwise(pt.exp), lambda: pt.elemwise.Elemwise(pt.log)), (lambda: pt.math.Sum(axis=0), lambda: pt.math.Sum(axis=1)), (lambda: pt.op_classes.Reshape(2), lambda: pt.op_classes.Reshape(1)),
     (lambda: pt.blockwise.Blockwise(pt.linalg.Cholesky(), "(m,m)->(m,m)"), lambda: pt.blockwise.Blockwise(pt.linalg.Det(), "(m,m)->()"))],
)  # fmt: skip
def test_ops_are_equal_by_arguments(make, other):
    assert (
        make() == make() and hash(make()) == hash(make()) and make() != other() and make() != "text"
    )


@pytest.mark.parametrize("mode", "constant edge linear_ramp mean symmetric reflect".split())
def test_paddings_have_an_op(mode):
    x, n, end = pt.dmatrix("x"), pt.lscalar("n"), pt.dscalar("end")
    value = np.arange(12.0).reshape(3, 4)
    padded = pt.pad(x, ((1, n), (2, 0)), mode)
    op = padded.owner.op
    assert isinstance(op, Pad) and op.pad_mode == mode and f"pad_mode='{mode}'" in str(op)
    assert np.allclose(padded.eval({x: value, n: 2}), np.pad(value, ((1, 2), (2, 0)), mode))
    assert pickle.loads(pickle.dumps(padded)).owner.op.pad_mode == mode
    assert pt.pad(x, 1, mode).owner.op != op and pt.pad(x, 0, mode) is x
    given = {"constant": (end,), "linear_ramp": (end,), "mean": (2,)}.get(mode, ())
    option = {"constant": "constant_values", "linear_ramp": "end_values", "mean": "stat_length"}
    made = Pad(pad_mode=mode, has_stat_length=mode == "mean")(x, 2, *given)
    same = {option[mode]: {"mean": 2}.get(mode, 7.0)} if given else {}
    values = {x: value} | ({end: 7.0} if mode in ("constant", "linear_ramp") else {})
    assert np.allclose(made.eval(values), np.pad(value, 2, mode, **same))
    with pytest.raises(TypeError, match="inputs"):
        Pad(pad_mode=mode)(x, 2, *given, *given, end)


def test_paddings_know_their_lengths_and_shared_widths():
    x = pt.dmatrix("x", shape=(3, None))
    padded = pt.pad(x, ((1, 2), (0, 4)))
    assert padded.type.shape == (6, None)
    width = bt.shared(2)
    assert pt.pad(x, width).eval({x: np.ones((3, 1))}).shape == (7, 5)
    both = bt.function([x], [pt.pad(x, 1) * 2, pt.pad(x, 1).sum()])
    assert len([n for n in both.maker.fgraph.toposort() if isinstance(n.op, Pad)]) == 0
    with bt.config.change_flags(compute_test_value="raise"):
        x.tag.test_value = np.ones((3, 2))
        assert pt.pad(x, 1).tag.test_value.shape == (5, 4)


def test_core_ops_state_signatures():
    m, t = pt.dmatrix("m"), pt.dtensor3("t")
    for make, signature in (
        (linalg_classes.SVD(full_matrices=False), "(m,n)->(m,k),(k),(k,n)"),
        (linalg_classes.SVD(compute_uv=False), "(m,n)->(k)"),
        (linalg_classes.QZ(), "(m,m),(m,m)->(m,m),(m,m),(m,m),(m,m),(m,c),(m)"),
        (linalg_classes.Solve(b_ndim=1), "(m,m),(m)->(m)"),
        (linalg_classes.Solve(), "(m,m),(m,k)->(m,k)"),
        (linalg_classes.Cholesky(), "(m,m)->(m,m)"),
        (linalg_classes.SLogDet(), "(m,m)->(),()"),
    ):
        assert make.gufunc_signature == signature
    with pytest.raises(AttributeError, match="gufunc_signature"):
        linalg_classes.MatrixInverse().gufunc_signature  # noqa: B018
    op = pt.linalg.svd(m)[0].owner.op
    assert op.core_op == op and op.gufunc_signature == "(m,n)->(m,m),(k),(n,n)"
    batched = pt.linalg.svd(t)[0].owner
    assert batched.op.core_op == op and batched.op.signature == op.gufunc_signature
    assert batched.op.inputs_sig == [("m", "n")] and batched.op.outputs_sig[1] == ("k",)
    assert batched.op.batch_ndim(batched) == 1
    with pytest.raises(AttributeError, match="core_op"):
        pt.exp(m).owner.op.core_op  # noqa: B018
    value = np.eye(2) * np.arange(1.0, 4.0).reshape(3, 1, 1)
    by_class = pt.blockwise.Blockwise(linalg_classes.Cholesky())(t)
    assert np.allclose(by_class.eval({t: value}), np.sqrt(value))

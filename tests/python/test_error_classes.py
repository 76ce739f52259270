"""Calls that can't be meant raise errors of the classes that PyTensor 3.3 raises for them, when the expression is built."""

import warnings

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale import sparse
from bitale.compile.builders import OpFromGraph
from bitale.compile.mode import Mode
from bitale.graph.rewriting.basic import (
    EquilibriumGraphRewriter,
    MergeOptimizer,
    graph_rewriter,
    in2out,
    node_rewriter,
)
from bitale.graph.rewriting.db import RewriteDatabase, SequenceDB
from bitale.tensor.basic import MakeVector
from bitale.tensor.elemwise import DimShuffle
from bitale.tensor.extra_ops import Repeat
from bitale.tensor.linalg import QR, Schur
from bitale.tensor.random.op import RandomVariable
from bitale.tensor.subtensor import IncSubtensor, Subtensor
from bitale.tensor.type import TensorType

s, i = pt.dscalar("s"), pt.lscalar("i")
v, iv, m, t3 = pt.dvector("v"), pt.lvector("iv"), pt.dmatrix("m"), pt.dtensor3("t3")
of_v, of_int8 = TensorType("float64", (None,)), TensorType("int8", (None,))

CALLS = {
    "bool of a variable": (lambda: bool(v), TypeError),
    "length": (lambda: len(v), TypeError),
    "iteration over a scalar": (lambda: list(s), TypeError),
    "float": (lambda: float(s), TypeError),
    "a float as index": (lambda: v[1.5], TypeError),
    "too many indices": (lambda: v[0, 0], IndexError),
    "two ellipses": (lambda: v[..., ...], IndexError),
    "item assignment": (lambda: v.__setitem__(0, 1), TypeError),
    "a dtype that is none": (lambda: v.astype("nope"), TypeError),
    "set of no index": (lambda: pt.set_subtensor(v, 1), TypeError),
    "set of a vector to an element": (lambda: pt.set_subtensor(v[0], v), TypeError),
    "an axis that is not there": (lambda: m.sum(axis=3), ValueError),
    "a repeated axis": (lambda: m.sum(axis=(0, 0)), ValueError),
    "squeeze of a repeated axis": (lambda: m.squeeze((0, 0)), ValueError),
    "lengths of a product": (lambda: pt.dot(pt.dmatrix(shape=(2, 3)), pt.dmatrix(shape=(2, 3))), ValueError),
    "join of nothing": (lambda: pt.join(0), ValueError),
    "join of ranks": (lambda: pt.join(0, v, m), TypeError),
    "diag of three dimensions": (lambda: pt.diag(t3), ValueError),
    "split of float lengths": (lambda: pt.split(v, [1.5], n_splits=1), TypeError),
    "roll by a float": (lambda: pt.roll(v, 1.5), TypeError),
    "bits of floats": (lambda: v & v, TypeError),
    "letters of einsum": (lambda: pt.einsum("ij->k", m), ValueError),
    "bincount of floats": (lambda: pt.bincount(v), TypeError),
    "a side of searchsorted": (lambda: pt.searchsorted(v, v, side="none"), ValueError),
    "a mode of pad": (lambda: pt.pad(v, 1, mode="none"), ValueError),
    "an argument of another pad": (lambda: pt.pad(v, 1, mode="edge", constant_values=1), ValueError),
    "a mode of qr": (lambda: pt.linalg.qr(m, mode="none"), ValueError),
    "a mode of QR": (lambda: QR(mode="none"), ValueError),
    "an output of Schur": (lambda: Schur(output="none"), ValueError),
    "an axis of Repeat": (lambda: Repeat(axis="a"), TypeError),
    "a repeated dimension": (lambda: DimShuffle(input_ndim=1, new_order=(0, 0)), ValueError),
    "entries of indices": (lambda: Subtensor("a"), ValueError),
    "entries of changed indices": (lambda: IncSubtensor([None]), ValueError),
    "floats in a vector of integers": (lambda: MakeVector("int64")(s), TypeError),
    "bounds of a slice": (lambda: pt.make_slice(object()), TypeError),
    "a vector as bound": (lambda: pt.make_slice(v), TypeError),
    "a dtype of a type": (lambda: TensorType("none", (None,)), TypeError),
    "a value of another rank": (lambda: of_v.filter(np.ones((2, 2))), TypeError),
    "a value of another dtype": (lambda: of_v.filter(np.ones(2, "int64"), strict=True), TypeError),
    "a value that does not fit": (lambda: of_int8.filter(np.array([300])), TypeError),
    "a variable of another rank": (lambda: of_v.filter_variable(m), TypeError),
    "ragged constants": (lambda: pt.constant([[1], [1, 2]]), ValueError),
    "a vector of variables of ranks": (lambda: pt.as_tensor_variable([v, s]), TypeError),
    "shared of a variable": (lambda: bt.shared(v), TypeError),
    "a shared value of another rank": (lambda: bt.shared(np.ones(2)).set_value(np.ones((2, 2))), TypeError),
    "an unknown mode": (lambda: bt.function([v], v, mode="none"), ValueError),
    "inputs that are no list": (lambda: bt.function(v, v), TypeError),
    "an input twice": (lambda: bt.function([v, v], v), bt.UnusedInputError),
    "a missing input": (lambda: bt.function([], v), bt.MissingInputError),
    "updates of a variable": (lambda: bt.function([v], v, updates=[(v, v)]), TypeError),
    "an op of a graph without an input": (lambda: OpFromGraph([v], [v + s]), bt.MissingInputError),
    "an op of a graph of another type": (lambda: OpFromGraph([v], [v * 2])(m), TypeError),
    "a derivative of a vector": (lambda: bt.grad(v, v), TypeError),
    "a derivative by what is not there": (lambda: bt.grad(s, v), bt.gradient.DisconnectedInputError),
    "an option of grad": (lambda: bt.grad(s * 2, v, disconnected_inputs="none"), ValueError),
    "taps that are later": (
        lambda: bt.scan(lambda x: x, outputs_info=[{"initial": v, "taps": [1]}], n_steps=3),
        ValueError,
    ),
    "equal taps": (
        lambda: bt.scan(lambda x, y: x, outputs_info=[{"initial": v, "taps": [-1, -1]}], n_steps=3),
        ValueError,
    ),
    "a loop without steps": (lambda: bt.scan(lambda x: x), ValueError),
    "tracks that are no ops": (lambda: node_rewriter([3])(lambda fgraph, node: False), TypeError),
    "a graph rewriter of no function": (lambda: graph_rewriter(3), TypeError),
    "an equilibrium of no rewriters": (lambda: EquilibriumGraphRewriter([3]), TypeError),
    "a walk without rewriters": (lambda: in2out(), ValueError),
    "what is no rewriter in a database": (lambda: RewriteDatabase().register("a", 3), TypeError),
    "an unknown name in a database": (lambda: RewriteDatabase()["a"], KeyError),
    "a position that is no number": (
        lambda: SequenceDB().register("a", MergeOptimizer(), position="none"),
        TypeError,
    ),
    "a format of sparse matrices": (lambda: sparse.matrix("none", "a"), ValueError),
    "a name of a sparse matrix": (lambda: sparse.csr_matrix([1]), TypeError),
    "a dense matrix as a sparse one": (lambda: sparse.dot(v, v), TypeError),
    "a flag's value": (lambda: setattr(bt.config, "floatX", "none"), ValueError),
    "a mode's linker": (lambda: Mode(linker=3), (AttributeError, TypeError)),
}  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
def test_classes_of_errors(call):
    make, expected = CALLS[call]
    with pytest.raises(expected):
        make()


WARNINGS = {
    "chi2sf": (lambda: pt.chi2sf(v, v), UserWarning),
    "ndim_supp": (lambda: RandomVariable("a", 0, dtype="float64"), FutureWarning),
    "ndims_params": (lambda: RandomVariable("a", ndims_params=[0], dtype="float64"), FutureWarning),
    "broadcastable": (lambda: TensorType("float64", broadcastable=(True,)), DeprecationWarning),
    "shared": (lambda: bt.shared(np.ones(1), broadcastable=(True,)), DeprecationWarning),
    "taps that are None": (
        lambda: bt.scan(lambda x: x * 2, outputs_info=[{"initial": s, "taps": None}], n_steps=2),
        UserWarning,
    ),
    "unused": (lambda: bt.function([v], i, givens={i: 1}, on_unused_input="warn"), UserWarning),
    "disconnected": (lambda: bt.grad(s * 2, v, disconnected_inputs="warn"), UserWarning),
}


@pytest.mark.parametrize("what", WARNINGS)
def test_classes_of_warnings(what):
    make, expected = WARNINGS[what]
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        make()
    assert [each.category for each in seen] == [expected]
    assert seen[0].filename == __file__

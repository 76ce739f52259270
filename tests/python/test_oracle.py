"""The oracle (tests/oracle) has a formula for every function and op of the library, and its functions and ops agree."""

import pathlib
import sys

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

import bitale as bt
import bitale.tensor as pt
from bitale.graph.type import Type
from oracle import functions, ops
from oracle.values import Val

# Functions that create leaves, types or other functions, and thus compute nothing.
makers = {
    "TensorType", "TensorVariable", "TensorConstant", "TensorSharedVariable", "Constant", "Variable", "Op", "ShapeError",
    "NotScalarConstantError", "grad", "hessian", "jacfwd", "jacobian", "tensor", "scalar", "scalars", "vector", "vectors", "matrix",
    "matrices", "row", "rows", "col", "cols", "AxisError", "vectorize", "empty", "empty_like", "transfer", "pack", "unpack",
    "slice_at_axis", "broadcast_shape", "specify_broadcastable", "is_flat", "concat_with_broadcast",
    "get_scalar_constant_value", "get_underlying_scalar_constant_value", "interpolate1d", "make_slice",
    "TensorLike", "asarray", "from_dlpack", "values_eq_approx_always_true", "apply_along_axis",
}  # fmt: skip


def computing_functions():
    for name in sorted(dir(pt)):
        value = getattr(pt, name)
        is_leaf = any(name == prefix + kind or name == prefix + kind + "s" or name == kind + "s"
                      for prefix in [*"bwilfdcz", ""]
                      for kind in ["scalar", "vector", "matrix", "row", "col", *(f"tensor{n}" for n in range(3, 8))])  # fmt: skip
        if (
            name[0] == "_"
            or name in makers
            or is_leaf
            or name.endswith("matrices")
            or isinstance(value, Type)
            or not callable(value)
        ):
            continue
        yield name


@pytest.mark.parametrize("name", list(computing_functions()))
def test_every_function_has_a_formula(name):
    assert callable(getattr(functions, name, None)), (
        f"tests/oracle has no formula for bitale.tensor.{name}"
    )


def test_every_op_has_a_formula():
    names = set(bt._core.op_names())
    assert set(ops.table) | set(ops.without_formula) == names
    for name, _ in bt._core.elementwise_functions():
        assert callable(ops.scalar_function(name.rstrip("_")))


def test_ops_and_functions_of_the_oracle_agree():
    x = pt.dmatrix("x")
    value = Val(np.arange(12.0).reshape(3, 4))
    by_ops = ops.evaluate([pt.softmax(x[::2].cumsum(axis=1), axis=-1)], {x: value})[0]
    by_functions = functions.softmax(functions.cumsum(value[::2], axis=1), axis=-1)
    np.testing.assert_allclose(by_ops.array, by_functions.array, rtol=1e-15)


def test_an_op_without_formula_is_named(monkeypatch):
    x = pt.dvector("x")
    monkeypatch.delitem(ops.table, "SortOp")
    with pytest.raises(KeyError, match="SortOp"):
        ops.evaluate([pt.sort(x)], {x: Val(np.ones(3))})

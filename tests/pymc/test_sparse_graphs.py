"""Graphs with PyTensor's sparse ops: values and gradients are those of PyTensor's Python linker, and nothing is called back."""

import numpy as np
import pymc as pm
import pytensor
import pytensor.sparse as ps
import pytensor.tensor as pt
import pytest
import scipy.sparse

import bitale.pytensor
from compare import ORACLE

rng = np.random.default_rng(3)
matrix = scipy.sparse.csr_matrix(np.array([[0, 2.0, 0], [1, 0, 0], [0, 0, 0], [0, 3, 4.0]]))
square = scipy.sparse.csc_matrix(np.array([[2.0, 0, 1], [0, 0, 0], [1, 0, 3]]))
x, y, v, w = pt.dmatrix("x"), pt.dmatrix("y"), pt.dvector("v"), pt.dvector("w")
VALUES = {
    x: rng.normal(size=(3, 2)),
    y: rng.normal(size=(4, 3)),
    v: rng.normal(size=5),
    w: rng.normal(size=3),
}


def constant(value, format):
    return ps.as_sparse_variable(value.asformat(format))


def with_data(value, format, data):
    """The matrix with other elements, which are computed."""
    own = value.asformat(format)
    return (ps.CSR if format == "csr" else ps.CSC)(data, own.indices, own.indptr, own.shape)


def graphs(format):
    A, S = constant(matrix, format), constant(square, format)
    M = with_data(matrix, format, pt.exp(v[:4]))
    N = with_data(square, format, v[:4] ** 2)
    return {
        "products": [ps.dot(A, pt.exp(x)), ps.structured_dot(A, x), ps.dot(M, x), ps.structured_dot(M, x), ps.dot(y, S), ps.dot(N, w[:, None])],
        "sums": [ps.sp_sum(M), ps.sp_sum(M, axis=0), ps.sp_sum(M, axis=1)],
        "dense": [ps.dense_from_sparse(M * y), ps.dense_from_sparse(ps.add(N, S)), M + y, ps.dense_from_sparse(ps.multiply(N, S)), ps.dense_from_sparse(M.T)],
        "parts": [ps.csm_data(M), ps.diag(N), N[0, 2], ps.dense_from_sparse(ps.structured_exp(M))],
        "vectors": [ps.dense_from_sparse(ps.col_scale(N, w)), ps.dense_from_sparse(ps.row_scale(N, w)), ps.dense_from_sparse(ps.structured_add_s_v(M, w))],
        "stacks": [ps.dense_from_sparse(ps.hstack([N, S], format=format, dtype="float64")), ps.dense_from_sparse(ps.vstack([S, N], format=format, dtype="float64"))],
        "sparse products": [ps.dense_from_sparse(ps.true_dot(M, N)), ps.dense_from_sparse(ps.sampling_dot(x[[0, 1, 2, 0]], x, M))],
    }  # fmt: skip


def assert_native_and_equal(outputs, tolerance=1e-12):
    inputs = [x, y, v, w]
    ours = pytensor.function(inputs, outputs, mode="BITALE", on_unused_input="ignore")
    report = ours.maker.linker.report()
    assert report.is_native, str(report)
    values = [VALUES[each] for each in inputs]
    for found, expected in zip(
        ours(*values),
        pytensor.function(inputs, outputs, mode=ORACLE, on_unused_input="ignore")(*values),
    ):
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=1e-14)


@pytest.mark.parametrize("name", list(graphs("csr")))
@pytest.mark.parametrize("format", ["csr", "csc"])
def test_values(name, format):
    assert_native_and_equal(graphs(format)[name])


@pytest.mark.parametrize("format", ["csr", "csc"])
def test_gradients(format):
    A, M = constant(matrix, format), with_data(matrix, format, pt.exp(v[:4]))
    costs = [
        (ps.dot(A, x) ** 2).sum(),
        (ps.structured_dot(M, x) ** 2).sum(),
        ps.sp_sum(M * y, sparse_grad=True),
        pt.sin(ps.sp_sum(M, axis=1, sparse_grad=True)).sum(),
    ]
    gradients = [
        pytensor.grad(
            cost, [each for each in (x, v) if each in pytensor.graph.traversal.ancestors([cost])]
        )
        for cost in costs
    ]
    assert_native_and_equal([*costs, *(g for each in gradients for g in each)])


def test_group_effects_of_a_model_are_native():
    Z = scipy.sparse.csr_matrix((np.ones(30), rng.integers(0, 5, 30), np.arange(31)), shape=(30, 5))
    with pm.Model() as model:
        sigma = pm.HalfNormal("sigma")
        u = pm.Normal("u", 0, sigma, shape=5)
        pm.Normal(
            "y",
            ps.dot(ps.as_sparse_variable(Z), u[:, None])[:, 0],
            1.0,
            observed=rng.normal(size=30),
        )
    point = model.initial_point()
    for graph in (model.logp(), model.dlogp()):
        ours = pytensor.function(model.value_vars, graph, mode="BITALE")
        assert ours.maker.linker.report().is_native, str(ours.maker.linker.report())
        expected = pytensor.function(model.value_vars, graph, mode=ORACLE)
        arguments = [point[each.name] + 0.3 for each in model.value_vars]
        np.testing.assert_allclose(ours(*arguments), expected(*arguments), rtol=1e-10)


def test_sparse_results_and_inputs_are_left_to_pytensor():
    M = ps.csr_matrix("M")
    f = pytensor.function([M], ps.sp_sum(M), mode="BITALE")
    assert f(matrix) == 10 and "no type" in f.maker.linker.report().interpreted
    g = pytensor.function([v], with_data(matrix, "csr", v[:4]), mode="BITALE")
    assert g(VALUES[v]).shape == (4, 3) and "no counterpart" in g.maker.linker.report().interpreted
    with pytest.raises(
        bitale.pytensor.ConversionError, match="no type for PyTensor's SparseTensorType"
    ):
        bitale.pytensor.from_pytensor(ps.sp_sum(M))

"""Matrix factorizations and linear systems, against NumPy and SciPy: values, derivatives, batches, errors."""

from __future__ import annotations

import pickle
import shutil
import subprocess

import numpy as np
import pytest
import scipy.linalg

import bitale as bt
import bitale.tensor as pt

LINKERS = ["jit", "c", "vm", "opwise"]


def positive(*shape, dtype="float64", seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=shape)
    return (x @ np.swapaxes(x, -1, -2) + shape[-1] * np.eye(shape[-1])).astype(dtype)


def regular(*shape, dtype="float64", seed=1):
    return (np.random.default_rng(seed).normal(size=shape) + 3 * np.eye(shape[-1])).astype(dtype)


def compiled(inputs, outputs, linker="jit"):
    return bt.function(inputs, outputs, mode=bt.compile.Mode(linker=linker))


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [0, 1, 2, 5, 24, 25, 33, 100])
def test_cholesky_agrees_with_numpy(n, dtype, linker):
    x = pt.tensor("x", dtype=dtype, shape=(None, None))
    value = positive(n, n, dtype=dtype)
    f = compiled([x], [pt.linalg.cholesky(x), pt.linalg.cholesky(x, lower=False)], linker)
    before = value.copy()
    lower, upper = f(value)
    expected = np.linalg.cholesky(value) if n else value
    tolerance = 1e-11 if dtype == "float64" else 1e-4
    np.testing.assert_allclose(lower, expected, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(upper, expected.T, rtol=tolerance, atol=tolerance)
    assert (
        lower.dtype == dtype and (np.triu(lower, 1) == 0).all() and (np.tril(upper, -1) == 0).all()
    )
    assert (value == before).all()


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize(
    "shape", [(3, 4, 4), (2, 3, 5, 5), (1, 2, 2), (0, 3, 3), (4, 0, 0), (2, 30, 30)]
)
def test_a_batch_is_factored_matrix_by_matrix(shape, linker):
    x = pt.tensor("x", shape=(None,) * len(shape))
    value = positive(*shape)
    np.testing.assert_allclose(
        compiled([x], pt.linalg.cholesky(2 * x) + 1, linker)(value),
        np.linalg.cholesky(2 * value) + 1,
        rtol=1e-11,
    )


SIZES = [(0, 2), (1, 1), (3, 0), (3, 2), (16, 3), (17, 3), (40, 40)]


@pytest.mark.parametrize(
    "linker, n, columns",
    [("jit", *size) for size in SIZES]
    + [(linker, n, 3) for linker in LINKERS[1:] for n in (3, 17)],
)
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("trans", [0, 1, "T"])
@pytest.mark.parametrize("unit", [True, False])
def test_solve_triangular_agrees_with_scipy(n, columns, lower, trans, unit, linker):
    a, b, v = pt.dmatrix("a"), pt.dmatrix("b"), pt.dvector("v")
    options = dict(lower=lower, trans=trans, unit_diagonal=unit)
    A = regular(n, n) / (10 if unit else 1)
    B = np.random.default_rng(5).normal(size=(n, columns))
    c = np.arange(n) + 1.0
    outputs = [
        pt.linalg.solve_triangular(a, b, **options),
        pt.linalg.solve_triangular(a, v, **options),
    ]
    got = compiled([a, b, v], outputs, linker)(A, B, c)
    for g, right in zip(got, (B, c)):
        assert g.shape == right.shape
        if g.size:
            np.testing.assert_allclose(
                g, scipy.linalg.solve_triangular(A, right, **options), rtol=1e-8, atol=1e-8
            )


@pytest.mark.parametrize("linker", LINKERS)
def test_batches_of_systems_broadcast(linker):
    a, b, v = pt.dtensor3("a"), pt.dtensor4("b"), pt.dmatrix("v")
    A, B = regular(3, 4, 4), np.random.default_rng(2).normal(size=(2, 3, 4, 2))
    got = compiled([a, b], pt.linalg.solve_triangular(a, b, lower=True), linker)(A, B)
    expected = [
        [scipy.linalg.solve_triangular(A[j], B[i, j], lower=True) for j in range(3)]
        for i in range(2)
    ]
    np.testing.assert_allclose(got, expected, rtol=1e-10)
    one = pt.dmatrix("one")
    got = compiled([one, v], pt.linalg.solve_triangular(one, v, b_ndim=1), linker)(
        A[0], B[0, :, :, 0]
    )
    np.testing.assert_allclose(
        got, [scipy.linalg.solve_triangular(A[0], B[0, j, :, 0]) for j in range(3)], rtol=1e-10
    )


def test_other_layouts_are_read_in_place():
    x, b = pt.dmatrix("x"), pt.dmatrix("b")
    f = bt.function([x, b], [pt.linalg.cholesky(x), pt.linalg.solve_triangular(x.T, b, lower=True)])
    big, right = positive(12, 12), np.arange(12.0).reshape(6, 2)
    for value in (big[::2, ::2], np.asfortranarray(big[:6, :6]), big[::-2, ::-2], big[6:, 6:]):
        factor, solved = f(value, right)
        np.testing.assert_allclose(factor, np.linalg.cholesky(value), rtol=1e-11)
        np.testing.assert_allclose(
            solved, scipy.linalg.solve_triangular(value.T, right, lower=True), rtol=1e-10
        )


@pytest.mark.parametrize("dtype", ["int64", "int8", "uint16", "bool"])
def test_integers_are_computed_in_float64(dtype):
    x = pt.tensor("x", dtype=dtype, shape=(None, None))
    value = (
        np.eye(3, dtype=dtype)
        if dtype == "bool"
        else np.array([[9, 3, 0], [3, 8, 2], [0, 2, 7]], dtype)
    )
    got = bt.function([x], pt.linalg.cholesky(x))(value)
    assert got.dtype == np.float64
    np.testing.assert_allclose(got, np.linalg.cholesky(value.astype(float)))


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("n", [3, 30])
def test_errors_name_the_matrix_that_is_not_positive_definite(n, linker):
    x = pt.dtensor3("x")
    y = pt.linalg.cholesky(x)
    f = compiled([x], y.sum(), linker)
    value = positive(4, n, n)
    value[2, 1, 1] = -1
    with pytest.raises(np.linalg.LinAlgError) as failed:
        f(value)
    text = str(failed.value)
    assert "leading minor of order 2" in text and "in matrix [2] of [4]" in text
    assert "Cholesky" in text and "test_linalg.py" in text
    value[2, 1, 1] = 1e3
    assert np.isfinite(f(value))
    x = pt.dmatrix("x")
    f = compiled([x], pt.linalg.cholesky(x), linker)
    for bad in (np.nan, -np.inf, 0.0):
        value = positive(n, n)
        value[n - 1, n - 1] = bad
        with pytest.raises(np.linalg.LinAlgError, match=f"order {n}"):
            f(value)


@pytest.mark.parametrize("linker", LINKERS)
def test_on_error_nan_affects_only_failing_matrices(linker):
    x = pt.dtensor3("x")
    f = compiled([x], pt.linalg.cholesky(x, on_error="nan"), linker)
    value = positive(3, 4, 4)
    value[1, 2, 2] = -5
    got = f(value)
    assert np.isnan(got[1]).all()
    np.testing.assert_allclose(got[[0, 2]], np.linalg.cholesky(value[[0, 2]]))


@pytest.mark.parametrize("linker", LINKERS)
def test_errors_name_the_singular_triangular_matrix(linker):
    a, b = pt.dtensor3("a"), pt.dtensor3("b")
    f = compiled([a, b], pt.linalg.solve_triangular(a, b), linker)
    A, B = regular(3, 4, 4), np.ones((3, 4, 2))
    A[1, 2, 2] = 0
    with pytest.raises(np.linalg.LinAlgError) as failed:
        f(A, B)
    assert "in row 2" in str(failed.value) and "in matrix [1] of [3]" in str(failed.value)


def test_mismatched_lengths():
    with pytest.raises(ValueError, match="square"):
        pt.linalg.cholesky(pt.tensor("x", shape=(3, 4)))
    with pytest.raises(ValueError, match="expected a matrix"):
        pt.linalg.cholesky(pt.dvector("x"))
    with pytest.raises(ValueError, match="differ"):
        pt.linalg.solve_triangular(pt.tensor("a", shape=(3, 3)), pt.tensor("b", shape=(4,)))
    with pytest.raises(ValueError, match="on_error"):
        pt.linalg.cholesky(pt.dmatrix("x"), on_error="ignore")
    with pytest.raises(ValueError, match="trans"):
        pt.linalg.solve_triangular(pt.dmatrix("a"), pt.dmatrix("b"), trans="X")
    x, b = pt.dmatrix("x"), pt.dmatrix("b")
    for linker in LINKERS:
        with pytest.raises(ValueError, match="square"):
            compiled([x], pt.linalg.cholesky(x), linker)(np.ones((3, 4)))
        with pytest.raises(ValueError):
            compiled([x, b], pt.linalg.solve_triangular(x, b), linker)(
                np.ones((3, 3)), np.ones((4, 2))
            )


def test_a_failure_changes_no_shared_variables_or_inputs():
    x, s = pt.dmatrix("x"), bt.shared(np.zeros((2, 2)), "s")
    f = bt.function([x], [], updates={s: pt.linalg.cholesky(x)})
    bad = -np.eye(2)
    with pytest.raises(np.linalg.LinAlgError):
        f(bad)
    assert (s.get_value() == 0).all() and (bad == -np.eye(2)).all()
    f(np.eye(2) * 4)
    assert (s.get_value() == 2 * np.eye(2)).all()


def numeric(f, x, step=1e-6):
    out = np.zeros_like(x)
    for at in np.ndindex(*x.shape):
        up, down = x.copy(), x.copy()
        up[at] += step
        down[at] -= step
        out[at] = (f(up) - f(down)) / (2 * step)
    return out


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("shape", [(4, 4), (2, 3, 3)])
def test_gradients_of_a_factor(shape, lower):
    x = pt.tensor("x", shape=(None,) * len(shape))
    weights = np.random.default_rng(3).normal(size=shape)
    cost = (pt.linalg.cholesky(x, lower=lower) * weights).sum()
    value = positive(*shape)
    f = bt.function([x], cost)
    got = bt.function([x], bt.grad(cost, x))(value)
    np.testing.assert_allclose(got, numeric(f, value), rtol=1e-6, atol=1e-7)
    keep = np.tril if lower else np.triu
    assert (got == keep(got)).all()
    direction = np.random.default_rng(4).normal(size=shape)
    tangent = bt.function([x], bt.gradient.pushforward(cost, x, pt.constant(direction)))(value)
    np.testing.assert_allclose(tangent, (got * direction).sum(), rtol=1e-9)


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("trans", [0, 1])
@pytest.mark.parametrize("unit", [True, False])
def test_gradients_of_triangular_systems(lower, trans, unit):
    a, b = pt.dtensor3("a"), pt.dmatrix("b")
    x = pt.linalg.solve_triangular(a, b, lower=lower, trans=trans, unit_diagonal=unit, b_ndim=1)
    cost = (x**2).sum()
    A, B = regular(2, 3, 3), np.random.default_rng(6).normal(size=(2, 3))
    f = bt.function([a, b], cost)
    for_a, for_b = bt.function([a, b], bt.grad(cost, [a, b]))(A, B)
    np.testing.assert_allclose(for_a, numeric(lambda v: f(v, B), A), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(for_b, numeric(lambda v: f(A, v), B), rtol=1e-5, atol=1e-6)


def test_second_derivatives_of_a_normal_log_density():
    scale, y = pt.dvector("scale"), pt.constant(np.array([0.3, -1.0, 2.0]))
    covariance = pt.outer(scale, scale) * 0.3 + pt.diag(scale**2 + 1)
    factor = pt.linalg.cholesky(covariance)
    z = pt.linalg.solve_triangular(factor, y, lower=True)
    logp = -0.5 * (z**2).sum() - pt.log(pt.diagonal(factor)).sum()
    at = np.array([0.7, 1.1, 1.6])
    gradient = bt.function([scale], bt.grad(logp, scale))
    hessian = bt.function([scale], bt.gradient.hessian(logp, scale))(at)
    np.testing.assert_allclose(
        gradient(at), numeric(bt.function([scale], logp), at), rtol=1e-6, atol=1e-8
    )
    for k in range(3):
        expected = numeric(lambda v: gradient(v)[k], at)
        np.testing.assert_allclose(hessian[k], expected, rtol=1e-6, atol=1e-7)


def test_cho_solve_solves():
    a, b = pt.dtensor3("a"), pt.dtensor3("b")
    A, B = positive(2, 5, 5), np.random.default_rng(8).normal(size=(2, 5, 3))
    for lower in (True, False):
        got = bt.function(
            [a, b], pt.linalg.cho_solve((pt.linalg.cholesky(a, lower=lower), lower), b)
        )(A, B)
        np.testing.assert_allclose(got, np.linalg.solve(A, B), rtol=1e-9)


def test_vectorize_over_batches():
    x, batch = pt.dmatrix("x"), pt.dtensor3("batch")
    y = pt.linalg.cholesky(x) @ x
    value = positive(3, 4, 4)
    [out] = bt.graph.replace.vectorize_graph([y], {x: batch})
    np.testing.assert_allclose(
        bt.function([batch], out)(value), np.linalg.cholesky(value) @ value, rtol=1e-10
    )


def test_linear_algebra_in_one_native_function_with_loops():
    x = pt.dtensor3("x")
    f = bt.function([x], pt.exp(pt.linalg.cholesky(x * 2)).sum())
    import io

    text = io.StringIO()
    f.dprint("program", file=text)
    assert "call bt_cholesky_each_f64" in text.getvalue() and "host" not in text.getvalue()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 8, 16, 17])
def test_batches_of_small_matrices(n, dtype):
    """Also batches that broadcast along some of their dimensions."""
    numbers = np.random.default_rng(n)
    a = (numbers.normal(size=(3, 1, 5, n, n)) + 3 * np.roll(np.eye(n), 1, axis=1)).astype(dtype)
    b = numbers.normal(size=(1, 4, 5, n, 2)).astype(dtype)
    s = (a @ np.swapaxes(a, -1, -2) + np.eye(n)).astype(dtype)
    x, y, z = (
        pt.TensorType(dtype, shape=[1 if length == 1 else None for length in v.shape])()
        for v in (a, b, s)
    )
    f = bt.function([x, y, z], [pt.linalg.solve(x, y), pt.linalg.inv(x), pt.linalg.det(x), pt.linalg.slogdet(x)[1],
                                pt.linalg.cholesky(z), pt.linalg.solve_triangular(pt.linalg.cholesky(z), y, lower=True)])  # fmt: skip
    factor = np.linalg.cholesky(s)
    expected = [
        np.linalg.solve(a, b),
        np.linalg.inv(a),
        np.linalg.det(a),
        np.linalg.slogdet(a)[1],
        factor,
        np.linalg.solve(factor, b),
    ]
    for got, value in zip(f(a, b, s), expected, strict=True):
        assert got.dtype == dtype
        np.testing.assert_allclose(
            got,
            value,
            rtol=1e-9 if dtype == "float64" else 2e-2,
            atol=1e-12 if dtype == "float64" else 1e-3,
        )


@pytest.mark.parametrize("n", [1, 5, 33, 70])
@pytest.mark.parametrize("lower", [True, False])
def test_the_gradient_of_cholesky_is_one_op(n, lower):
    x, g = pt.dmatrix("x"), pt.dmatrix("g")
    factor = pt.linalg.cholesky(x, lower=lower)
    f = bt.function([x, g], bt.grad((factor * g).sum(), x))
    names = [str(node.op) for node in f.maker.fgraph.toposort()]
    assert "CholeskyGradient" in names and not any(
        "SolveTriangular" in name or "Dot" in name for name in names
    )
    value, weights = positive(n, n), np.random.default_rng(n).normal(size=(n, n))
    L = np.linalg.cholesky(value)
    half = np.tril(L.T @ np.tril(weights if lower else weights.T))
    half -= np.diag(np.diag(half)) / 2
    s = np.linalg.solve(L.T, np.linalg.solve(L.T, half.T).T)
    expected = np.tril(s + s.T) - np.diag(np.diag(s))
    np.testing.assert_allclose(
        f(value, weights), expected if lower else expected.T, rtol=1e-9, atol=1e-10
    )


def test_a_failing_matrix_in_a_batch_of_small_matrices():
    value = positive(20, 4, 4)
    value[13, 2, 2] = -1
    x = pt.dtensor3("x")
    with pytest.raises(np.linalg.LinAlgError, match=r"in matrix \[13\] of \[20\]"):
        bt.function([x], pt.linalg.cholesky(x))(value)
    value[13] = 0
    with pytest.raises(np.linalg.LinAlgError, match=r"in matrix \[13\] of \[20\]"):
        bt.function([x], pt.linalg.inv(x))(value)


def test_graphs_with_factors_are_stored():
    x = pt.dtensor3("x")
    f = bt.function([x], pt.linalg.cholesky(x))
    value = positive(2, 3, 3)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(f))(value), f(value))


EXPORTED = """#include "logp.h"
#include <math.h>
int main(void) {
  const double good[] = {4, 2, 2, 5}, bad[] = {4, 2, 2, -5};
  double total = 0, memory[64];
  if (logp(good, 2, 2, &total, memory) != 0 || fabs(total - (log(2.0) + log(2.0) + 0.25)) > 1e-12) return 1;
  return logp(bad, 2, 2, &total, memory) == 0;
}
"""


@pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler")
def test_exported_c_has_cholesky_in_loops(tmp_path):
    x = pt.dmatrix("x")
    factor = pt.linalg.cholesky(x)
    z = pt.linalg.solve_triangular(factor, pt.constant(np.array([1.0, 0.5])), lower=True)
    logp = pt.log(pt.diagonal(factor)).sum() + (z**2).sum()
    f = bt.function([x], logp, name="logp")
    f.export_c(tmp_path)
    (tmp_path / "main.c").write_text(EXPORTED)
    built = subprocess.run(
        ["cc", "-std=c99", "-Wall", "-o", "main", "main.c", "logp.c", "-lm"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stderr
    assert subprocess.run([tmp_path / "main"]).returncode == 0
    with pytest.raises(NotImplementedError, match="bt_cholesky_f64"):
        f.export_object(tmp_path / "object")


# ---- general systems, determinants -----------------------------------------------------------------------------------


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [0, 1, 2, 5, 16, 17, 40])
def test_solve_inv_and_det_agree_with_numpy(n, dtype, linker):
    rng = np.random.default_rng(n)
    A, B = rng.normal(size=(n, n)).astype(dtype), rng.normal(size=(n, 3)).astype(dtype)
    a, b, v = (
        pt.tensor(name, dtype=dtype, shape=shape)
        for name, shape in (("a", (None,) * 2), ("b", (None,) * 2), ("v", (None,)))
    )
    sign, logarithm = pt.linalg.slogdet(a)
    outputs = [
        pt.linalg.solve(a, b),
        pt.linalg.solve(a, v),
        pt.linalg.solve(a, b, transposed=True),
        pt.linalg.inv(a),
        pt.linalg.det(a),
        sign,
        logarithm,
    ]
    got = compiled([a, b, v], outputs, linker)(A, B, B[:, 0].copy())
    wide = A.astype(float)
    expected = [
        np.linalg.solve(wide, B),
        np.linalg.solve(wide, B[:, 0]),
        np.linalg.solve(wide.T, B),
        np.linalg.inv(wide),
        np.linalg.det(wide),
        *np.linalg.slogdet(wide),
    ]
    tolerance = (1e-9 if dtype == "float64" else 3e-3) * max(
        1, np.linalg.cond(wide) / 100 if n else 1
    )
    for g, w in zip(got, expected):
        assert g.dtype == dtype and g.shape == np.shape(w)
        np.testing.assert_allclose(g, w, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("linker", LINKERS)
def test_batches_of_general_systems(linker):
    A, B = regular(3, 4, 4)[:, ::-1], np.random.default_rng(2).normal(size=(2, 1, 4, 2))
    a, b = pt.dtensor3("a"), pt.tensor("b", shape=(None, 1, None, None))
    sign, logarithm = pt.linalg.slogdet(a)
    got = compiled(
        [a, b], [pt.linalg.solve(a, b), pt.linalg.inv(a), pt.linalg.det(a), sign, logarithm], linker
    )(A, B)
    expected = [np.linalg.solve(A, B), np.linalg.inv(A), np.linalg.det(A), *np.linalg.slogdet(A)]
    for g, w in zip(got, expected):
        np.testing.assert_allclose(g, w, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("linker", LINKERS)
def test_errors_name_singular_matrices(linker):
    a, b = pt.dtensor3("a"), pt.dtensor3("b")
    A, B = regular(3, 3, 3), np.ones((3, 3, 1))
    A[1] = [[1, 2, 3], [2, 4, 6], [0, 0, 1]]
    with pytest.raises(np.linalg.LinAlgError) as failed:
        compiled([a, b], pt.linalg.solve(a, b), linker)(A, B)
    assert "singular" in str(failed.value) and "in matrix [1] of [3]" in str(failed.value)
    sign, logarithm = pt.linalg.slogdet(a)
    for got in compiled([a], [pt.linalg.det(a), sign], linker)(A):
        assert got[1] == 0 and (got[[0, 2]] != 0).all()
    assert compiled([a], logarithm, linker)(A)[1] == -np.inf
    with pytest.raises(ValueError, match="square"):
        pt.linalg.det(pt.tensor("x", shape=(2, 3)))


def test_kinds_of_matrices():
    a, b = pt.dmatrix("a"), pt.dmatrix("b")
    A, B = positive(4, 4), np.random.default_rng(3).normal(size=(4, 2))
    spoiled = np.tril(A) + np.triu(np.ones((4, 4)), 1)
    got = bt.function([a, b], pt.linalg.solve(a, b, assume_a="pos", lower=True))(spoiled, B)
    np.testing.assert_allclose(got, np.linalg.solve(A, B), rtol=1e-10)
    for lower in (True, False):
        kind = f"{'lower' if lower else 'upper'} triangular"
        for transposed in (True, False):
            got = bt.function([a, b], pt.linalg.solve(a, b, assume_a=kind, transposed=transposed))(
                A, B
            )
            expected = scipy.linalg.solve_triangular(A, B, lower=lower, trans=int(transposed))
            np.testing.assert_allclose(got, expected, rtol=1e-10)


def test_gradients_of_general_systems_and_determinants():
    a, b = pt.dtensor3("a"), pt.dmatrix("b")
    A, B = regular(2, 3, 3)[:, ::-1], np.random.default_rng(6).normal(size=(2, 3))
    for cost in (
        (pt.linalg.solve(a, b, b_ndim=1) ** 2).sum(),
        (pt.linalg.solve(a, b, b_ndim=1, transposed=True) ** 2).sum(),
        (pt.linalg.inv(a) ** 3).sum() + b.sum(),
        (pt.linalg.det(a) ** 2).sum() + b.sum(),
        (pt.linalg.slogdet(a)[1] ** 2).sum() + b.sum(),
    ):
        f = bt.function([a, b], cost)
        for_a, for_b = bt.function([a, b], bt.grad(cost, [a, b]))(A, B)
        np.testing.assert_allclose(
            for_a, numeric(lambda v: f(v, B), A.copy()), rtol=1e-5, atol=1e-6
        )
        np.testing.assert_allclose(for_b, numeric(lambda v: f(A, v), B), rtol=1e-5, atol=1e-6)
    x = pt.dvector("x")
    cost = pt.linalg.slogdet(pt.diag(x**2) + pt.outer(x, x) + pt.eye(3))[1]
    at = np.array([0.5, 1.0, -0.7])
    gradient = bt.function([x], bt.grad(cost, x))
    hessian = bt.function([x], bt.gradient.hessian(cost, x))(at)
    for k in range(3):
        np.testing.assert_allclose(
            hessian[k], numeric(lambda v: gradient(v)[k], at), rtol=1e-6, atol=1e-7
        )


# ---- parts of matrices -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [-3, -1, 0, 1, 2, 5])
@pytest.mark.parametrize("shape", [(3, 4), (4, 3), (2, 3, 3), (0, 2), (4,)])
def test_triangles_and_diagonals_agree_with_numpy(shape, k):
    value = np.arange(1.0, np.prod(shape) + 1).reshape(shape)
    x = pt.tensor("x", shape=(None,) * len(shape))
    pairs = [(pt.tril(x, k), np.tril(value, k)), (pt.triu(x, k), np.triu(value, k))]
    if len(shape) > 1:
        pairs += [(pt.diagonal(x, k), np.diagonal(value, k)), (pt.trace(x, k), np.trace(value, k))]
        pairs += [(pt.diagonal(x, k, -2, -1), np.diagonal(value, k, -2, -1))]
    if len(shape) < 3:
        pairs += [(pt.diag(x, k), np.diag(value, k))]
    for got, expected in zip(bt.function([x], [p[0] for p in pairs])(value), [p[1] for p in pairs]):
        assert got.shape == expected.shape
        np.testing.assert_array_equal(got, expected)


def test_eye():
    n, m = pt.lscalar("n"), pt.lscalar("m")
    f = bt.function([n, m], [pt.eye(n), pt.eye(n, m, 1, dtype="int32"), pt.eye(n, m, k=-2)])
    for a, b in ((3, 4), (0, 2), (4, 1)):
        got = f(a, b)
        for g, w in zip(got, (np.eye(a), np.eye(a, b, 1, dtype="int32"), np.eye(a, b, -2))):
            assert g.dtype == w.dtype
            np.testing.assert_array_equal(g, w)


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("n", [3, 20])
def test_infinite_elements_are_not_reported_as_singular(n, linker):
    x, batch = pt.dmatrix("x"), pt.dtensor3("batch")
    a = np.eye(n)
    a[1, 2] = np.inf
    mode = bt.compile.Mode(linker=linker)
    f = bt.function(
        [x],
        [pt.linalg.det(x), *pt.linalg.slogdet(x), pt.linalg.inv(x), pt.linalg.solve(x, x[:, 0])],
        mode=mode,
    )
    assert all(np.isnan(out).all() for out in f(a))
    det, sign, logabsdet, inverse = bt.function(
        [batch], [pt.linalg.det(batch), *pt.linalg.slogdet(batch), pt.linalg.inv(batch)], mode=mode
    )(np.stack([np.eye(n), a, np.eye(n), np.eye(n) * 2, np.zeros((n, n)) + np.inf])[:5])
    assert (np.isnan(det) == [False, True, False, False, True]).all() and (
        np.isnan(logabsdet) == np.isnan(det)
    ).all()
    assert (np.isnan(inverse).all((1, 2)) == np.isnan(det)).all() and (sign[[0, 2, 3]] == 1).all()
    assert bt.function([x], pt.linalg.det(x), mode=mode)(np.zeros((n, n))) == 0


@pytest.mark.parametrize("rows", [1, 3])
def test_right_sides_of_systems_that_share_factors_have_their_length(rows):
    """Factors that two systems share are applied to rows in another order, which may be fewer than there were."""
    a, b, c = pt.dmatrices("a", "b", "c")
    f = bt.function([a, b, c], [pt.linalg.solve(a, b), pt.linalg.solve(a, c)])
    assert [x.shape for x in f(np.eye(2), np.ones((2, 3)), np.ones((2, 1)))] == [(2, 3), (2, 1)]
    with pytest.raises(ValueError, match="as many rows as the matrix"):
        f(np.eye(2), np.ones((rows, 3)), np.ones((2, 1)))

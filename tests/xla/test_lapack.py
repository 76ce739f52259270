"""Linear algebra by LAPACK, which XLA calls on CPUs: batches, gradients, failures, modules for other platforms."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg
from jax.sharding import Mesh, PartitionSpec as P

import bitale as bt
import bitale.jax
import bitale.tensor as pt

rng = np.random.default_rng(0)
A = rng.normal(size=(2, 3, 4, 4)) + 3 * np.eye(4)
S = A @ A.swapaxes(-1, -2) + np.eye(4)
B = rng.normal(size=(2, 3, 4, 2))

FUNCTIONS = {
    "cholesky": (lambda a, b: pt.linalg.cholesky(a @ pt.matrix_transpose(a) + np.eye(4)), lambda a, b: np.linalg.cholesky(S)),
    "solve": (lambda a, b: pt.linalg.solve(a, b, b_ndim=2), np.linalg.solve),
    "solve of the transpose": (
        lambda a, b: pt.linalg.solve(a, b, b_ndim=2, transposed=True), lambda a, b: np.linalg.solve(a.swapaxes(-1, -2), b)
    ),
    "solve of a symmetric matrix": (
        lambda a, b: pt.linalg.solve(a + pt.matrix_transpose(a), b, b_ndim=2, assume_a="sym"),
        lambda a, b: np.linalg.solve(a + a.swapaxes(-1, -2), b),
    ),
    "inverse": (lambda a, b: pt.linalg.inv(a), lambda a, b: np.linalg.inv(a)),
    "det": (lambda a, b: pt.linalg.det(a), lambda a, b: np.linalg.det(a)),
    "slogdet": (lambda a, b: pt.linalg.slogdet(a)[1], lambda a, b: np.linalg.slogdet(a)[1]),
    "R of qr": (lambda a, b: pt.linalg.qr(b, mode="reduced")[1], lambda a, b: np.linalg.qr(b)[1]),
    "singular values": (lambda a, b: pt.linalg.svd(a, compute_uv=False), lambda a, b: np.linalg.svd(a, compute_uv=False)),
    "expm": (lambda a, b: pt.linalg.expm(a), lambda a, b: scipy.linalg.expm(a)),
    "expm of large matrices": (lambda a, b: pt.linalg.expm(10 * a), lambda a, b: scipy.linalg.expm(10 * a)),
    "sylvester": (
        lambda a, b: pt.linalg.solve_sylvester(a, a @ pt.matrix_transpose(a), a),
        lambda a, b: np.stack([[scipy.linalg.solve_sylvester(x, x @ x.T, x) for x in row] for row in a]),
    ),
    "pinv": (lambda a, b: pt.linalg.pinv(b), lambda a, b: np.linalg.pinv(b)),
    "eigenvalues": (lambda a, b: pt.linalg.eigvalsh(a), lambda a, b: np.linalg.eigvalsh(a)),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_batches_and_gradients(name):
    ours, theirs = FUNCTIONS[name]
    a, b = (
        pt.tensor("a", shape=(None,) * 4, dtype="float64"),
        pt.tensor("b", shape=(None,) * 4, dtype="float64"),
    )
    made = ours(a, b)
    weights = np.random.default_rng(1).normal(size=theirs(A, B).shape)
    outputs = [made, *bt.grad((made * weights).sum(), [a, b], disconnected_inputs="ignore")]
    expected = bt.function([a, b], outputs, on_unused_input="ignore")(A, B)
    got = bt.function([a, b], outputs, on_unused_input="ignore", mode="JAX")(A, B)
    np.testing.assert_allclose(
        got[0], theirs(A, B), rtol=1e-10, atol=1e-10 * max(1, np.abs(got[0]).max())
    )
    for x, y in zip(expected, got):
        np.testing.assert_allclose(y, x, rtol=1e-9, atol=1e-9 * max(1, np.abs(x).max()))


C = A + 1j * rng.normal(size=A.shape)
H = C @ C.conj().swapaxes(-1, -2) + np.eye(4)

COMPLEX = {
    "cholesky": (lambda a, b: pt.linalg.cholesky(a @ pt.matrix_transpose(a.conj()) + np.eye(4)), lambda a, b: np.linalg.cholesky(H)),
    "solve": (lambda a, b: pt.linalg.solve(a, b, b_ndim=2), np.linalg.solve),
    "solve of the transpose": (
        lambda a, b: pt.linalg.solve(a, b, b_ndim=2, transposed=True), lambda a, b: np.linalg.solve(a.swapaxes(-1, -2), b)
    ),
    "triangular": (lambda a, b: pt.linalg.solve_triangular(a, b, b_ndim=2), lambda a, b: np.linalg.solve(np.triu(a), b)),
    "triangular, adjoint": (
        lambda a, b: pt.linalg.solve_triangular(a, b, b_ndim=2, trans=2),
        lambda a, b: np.linalg.solve(np.triu(a).conj().swapaxes(-1, -2), b),
    ),
    "inverse": (lambda a, b: pt.linalg.inv(a), lambda a, b: np.linalg.inv(a)),
    "det": (lambda a, b: pt.linalg.det(a), lambda a, b: np.linalg.det(a)),
    "sign of the determinant": (lambda a, b: pt.linalg.slogdet(a)[0], lambda a, b: np.linalg.slogdet(a)[0]),
    "logarithm of the determinant": (lambda a, b: pt.linalg.slogdet(a)[1], lambda a, b: np.linalg.slogdet(a)[1]),
    "R of qr": (lambda a, b: pt.linalg.qr(b, mode="reduced")[1], lambda a, b: np.linalg.qr(b)[1]),
    "singular values": (lambda a, b: pt.linalg.svd(a, compute_uv=False), lambda a, b: np.linalg.svd(a, compute_uv=False)),
    "eigenvalues of Hermitian matrices": (lambda a, b: pt.linalg.eigvalsh(a), lambda a, b: np.linalg.eigvalsh(a)),
    "sum of eigenvalues": (lambda a, b: pt.sqr(pt.linalg.eigvals(a)).sum(-1), lambda a, b: (np.linalg.eigvals(a) ** 2).sum(-1)),
    "sylvester": (
        lambda a, b: pt.linalg.solve_sylvester(a, a @ pt.matrix_transpose(a.conj()), a),
        lambda a, b: np.stack([[scipy.linalg.solve_sylvester(x, x @ x.conj().T, x) for x in row] for row in a]),
    ),
    "lyapunov": (
        lambda a, b: pt.linalg.solve_continuous_lyapunov(a, a),
        lambda a, b: np.stack([[scipy.linalg.solve_continuous_lyapunov(x, x) for x in row] for row in a]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", COMPLEX)
def test_batches_and_gradients_of_complex_matrices(name):
    ours, theirs = COMPLEX[name]
    a, b = (pt.tensor(each, shape=(None,) * 4, dtype="complex128") for each in "ab")
    made = ours(a, b)
    loss = (pt.real(made) + 2 * pt.imag(made)).sum() if made.dtype == "complex128" else made.sum()
    outputs = [made, *bt.grad(loss, [a, b], disconnected_inputs="ignore")]
    right = B + 1j * B[::-1]
    expected = bt.function([a, b], outputs, on_unused_input="ignore")(C, right)
    got = bt.function([a, b], outputs, on_unused_input="ignore", mode="JAX")(C, right)
    np.testing.assert_allclose(
        got[0], theirs(C, right), rtol=1e-10, atol=1e-10 * max(1, np.abs(got[0]).max())
    )
    for x, y in zip(expected, got):
        np.testing.assert_allclose(y, x, rtol=1e-9, atol=1e-9 * max(1, np.abs(x).max()))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_eigenvectors_of_general_matrices(dtype):
    a = pt.tensor("a", shape=(None,) * 3, dtype=dtype)
    values = (C[0] if dtype[0] == "c" else A[0]).astype(dtype)
    values[1, 0, 0] = np.nan
    w, v = bt.function([a], pt.linalg.eig(a), mode="JAX")(values)
    tolerance = 1e-4 if dtype in ("float32", "complex64") else 1e-11
    for k in (0, 2):
        np.testing.assert_allclose(
            values[k] @ v[k], v[k] * w[k], rtol=tolerance, atol=tolerance * 10
        )
        np.testing.assert_allclose(np.linalg.norm(v[k], axis=0), np.ones(4), rtol=tolerance)
    assert np.isnan(w[1]).all() and np.isnan(v[1]).all()
    u, s, vt = pt.linalg.svd(a[:, :, :3], full_matrices=False)
    t, z = pt.linalg.schur(a)
    q, r = pt.linalg.qr(a, mode="complete")
    adjoint = lambda x: pt.matrix_transpose(x).conj() if dtype[0] == "c" else pt.matrix_transpose(x)  # noqa: E731
    values[1] = values[0]
    f = bt.function([a], [(u * s[:, None, :]) @ vt, z @ t @ adjoint(z), q @ r], mode="JAX")
    for got, expected in zip(f(values), (values[:, :, :3], values, values)):
        np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance * 10)


def test_lyapunov_equations():
    a, q = pt.dtensor3("a"), pt.dtensor3("q")
    small = A[0] / 20
    outputs = [pt.linalg.solve_continuous_lyapunov(a, q), pt.linalg.solve_discrete_lyapunov(a, q)]
    outputs += bt.grad((outputs[0] + outputs[1] * 2).sum(), [a, q])
    for got, expected in zip(
        bt.function([a, q], outputs, mode="JAX")(small, S[0]),
        bt.function([a, q], outputs)(small, S[0]),
    ):
        np.testing.assert_allclose(got, expected, rtol=1e-8, atol=1e-8)
    x = bt.function([a, q], outputs[1], mode="JAX")(small, S[0])
    np.testing.assert_allclose(
        small @ x @ small.swapaxes(1, 2) - x + S[0], np.zeros_like(x), atol=1e-10
    )


@pytest.mark.parametrize(
    "name, function",
    [
        ("QZ", lambda a: pt.linalg.qz(a, a)[0]),
        ("ComplexQZ", lambda a: pt.linalg.qz(a + 0j, a)[0]),
        ("SolveDiscreteARE", lambda a: pt.linalg.solve_discrete_are(a, a, a, a)),
        ("SolveContinuousARE", lambda a: pt.linalg.solve_continuous_are(a, a, a, a)),
        ("Schur", lambda a: pt.linalg.schur(a, sort="lhp")[0]),
        ("LUFactorTridiagonal", lambda a: pt.linalg.tridiagonal_lu_factor(a)[1]),
    ],
)
def test_functions_without_a_jaxlib_routine_are_rejected_by_name(name, function):
    a = pt.dmatrix("a")
    with pytest.raises(NotImplementedError, match=name):
        bt.function([a], function(a), mode="JAX")(S[0, 0])


def test_eigenvectors_reconstruct_the_matrix():
    a = pt.tensor("a", shape=(None,) * 3, dtype="float64")
    u, s, vt = pt.linalg.svd(a[:, :, :3], full_matrices=False)
    w, v = pt.linalg.eigh(a + pt.matrix_transpose(a))
    q, r = pt.linalg.qr(a, mode="complete")
    f = bt.function(
        [a],
        [(u * s[:, None, :]) @ vt, (v * w[:, None, :]) @ pt.matrix_transpose(v), q @ r],
        mode="JAX",
    )
    for got, expected in zip(f(A[0]), (A[0][:, :, :3], A[0] + A[0].swapaxes(1, 2), A[0])):
        np.testing.assert_allclose(got, expected, rtol=1e-11, atol=1e-11)


def test_failures_are_those_of_the_interpreter():
    x, b = pt.dmatrix("x"), pt.dvector("b")
    singular, indefinite = np.ones((3, 3)), np.diag([1.0, -1.0, 1.0])
    lower = bt.function([x, b], pt.linalg.solve_triangular(x, b, lower=True), mode="JAX")
    with pytest.raises(np.linalg.LinAlgError, match="row 1"):
        lower(np.diag([1.0, 0.0, 1.0]), np.ones(3))
    with pytest.raises(np.linalg.LinAlgError, match="order 2"):
        bt.function([x], pt.linalg.cholesky(x), mode="JAX")(indefinite)
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        bt.function([x, b], pt.linalg.solve(x, b), mode="JAX")(singular, np.ones(3))
    assert float(bt.function([x], pt.linalg.det(x), mode="JAX")(singular)) == 0
    z, c = pt.zmatrix("z"), pt.zvector("c")
    with pytest.raises(np.linalg.LinAlgError, match="order 2"):
        bt.function([z], pt.linalg.cholesky(z), mode="JAX")(indefinite + 0j)
    with pytest.raises(np.linalg.LinAlgError, match="row 1"):
        bt.function([z, c], pt.linalg.solve(z, c), mode="JAX")(singular * 1j, np.ones(3) + 0j)
    sylvester = bt.function([x], pt.linalg.solve_sylvester(x, -x, x), mode="JAX")
    with pytest.raises(np.linalg.LinAlgError, match="no unique solution"):
        sylvester(np.diag([1.0, 2.0]))
    with pytest.raises(NotImplementedError, match="trsyl"):
        sylvester(np.eye(70))
    both = pt.dtensor3("both")
    with pytest.raises(np.linalg.LinAlgError, match=r"matrix \[1\] of \[2\]"):
        bt.function([both], pt.linalg.cholesky(both), mode="JAX")(np.stack([np.eye(3), indefinite]))


def test_nan_on_error():
    both = pt.dtensor3("both")
    values = np.stack([4 * np.eye(3), np.diag([1.0, 0.0, -1.0])])
    factor = bt.function([both], pt.linalg.cholesky(both, on_error="nan"), mode="JAX")(values)
    np.testing.assert_array_equal(factor[0], 2 * np.eye(3))
    assert np.isnan(factor[1]).all()
    solved = pt.linalg.solve(both, np.ones(3), b_ndim=1, on_error="nan")
    x = bt.function([both], solved, mode="JAX")(values)
    np.testing.assert_array_equal(x[0], np.full(3, 0.25))
    assert np.isnan(x[1]).all()
    values[1, 0, 0] = np.nan
    for of in (
        pt.linalg.svd(both, compute_uv=False),
        pt.linalg.eigvalsh(both),
        pt.linalg.qr(both)[1],
    ):
        got = bt.function([both], of, mode="JAX")(values)
        assert np.isfinite(got[0]).all() and np.isnan(got[1]).all()


def test_under_transformations_of_jax():
    a, b = pt.dmatrix("a"), pt.dvector("b")
    f = bitale.jax.as_jax(
        bt.function([a, b], (pt.linalg.solve(a, b) ** 2).sum() + pt.linalg.slogdet(a)[1])
    )

    def reference(a, b):
        return (jnp.linalg.solve(a, b) ** 2).sum() + jnp.linalg.slogdet(a)[1]

    ours = jax.vmap(jax.grad(f, argnums=(0, 1)))(A[0], B[0, :, :, 0])
    expected = jax.vmap(jax.grad(reference, argnums=(0, 1)))(A[0], B[0, :, :, 0])
    for x, y in zip(ours, expected):
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-10)
    factor = bitale.jax.as_jax(bt.function([a], pt.linalg.cholesky(a, on_error="nan")))
    assert jnp.isnan(factor(-np.eye(2))).all()


def test_a_batch_over_devices():
    x = pt.dtensor3("x")
    mesh = Mesh(np.array(jax.devices("cpu")[:8]), ("matrix",))
    g = bitale.jax.shard(bt.function([x], pt.linalg.cholesky(x)), mesh, [P("matrix")], P("matrix"))
    values = np.concatenate([S.reshape(-1, 4, 4)] * 4)[:16]
    np.testing.assert_allclose(g(values), np.linalg.cholesky(values), rtol=1e-12)


def test_modules_call_the_libraries_of_their_platforms(tmp_path):
    x = pt.matrix("x", dtype="float64", shape=(3, 3))
    factor = bt.function([x], pt.linalg.cholesky(x), name="factor")
    assert "lapack_dpotrf_ffi" in factor.stablehlo(platform="cpu")[0]
    cuda = factor.stablehlo(platform="cuda")[0]
    assert '"cusolver_potrf_ffi"' in cuda and "lower = true" in cuda and "lapack" not in cuda
    for platform in (None, "tpu", "rocm"):
        text = factor.stablehlo(platform=platform)[0]
        assert "custom_call" not in text and "stablehlo.cholesky" in text
    determinant = bt.function([x], pt.linalg.det(x), name="determinant")
    with pytest.raises(NotImplementedError, match='Det.*LAPACK.*"cpu"'):
        determinant.stablehlo()
    with pytest.raises(NotImplementedError, match="LAPACK"):
        determinant.stablehlo(platform="cuda")
    with pytest.raises(ValueError, match="expected platform"):
        determinant.stablehlo(platform="processor")
    path = bt.export_stablehlo(determinant, tmp_path, platform="cpu")
    assert "lapack_dgetrf_ffi" in open(path).read()

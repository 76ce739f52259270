"""Properties of matrices: stated by `assume` or inferred through ops, and the rewrites that use them. Each rewrite is
checked by its values against NumPy, and by the ops that remain in the compiled graph."""

from __future__ import annotations

import io

import numpy as np
import pytest
import scipy.linalg
import scipy.stats

import bitale as bt
import bitale.tensor as pt
from bitale.assumptions import ConflictingAssumptionsError, assume, known_facts

N = 4


def square(seed=0, n=N):
    return np.random.default_rng(seed).normal(size=(n, n)) + n * np.eye(n)


def definite(seed=0, n=N):
    x = np.random.default_rng(seed).normal(size=(n, n))
    return x @ x.T + n * np.eye(n)


def vector(seed=5, n=N):
    return np.random.default_rng(seed).normal(size=n)


def op_names(f):
    """The ops of the compiled graph; a batched op is named by its core op."""
    names = []
    for node in f.maker.fgraph.toposort():
        core = getattr(node.op, "core_op", node.op)
        names.append(str(core).split("{")[0])
    return names


FACTORIZATIONS = {
    "Cholesky",
    "Solve",
    "LUFactor",
    "LU",
    "SVD",
    "SVDVals",
    "QR",
    "Eigh",
    "Eigvalsh",
    "Det",
    "SLogDet",
    "Schur",
    "Expm",
}


def factorizations(f):
    return sorted(name for name in op_names(f) if name in FACTORIZATIONS)


# ---- statements ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statement", "facts"),
    [
        ({"diagonal": True}, {"diag", "tril", "triu", "sym"}),
        ({"positive_definite": True}, {"pd", "sym", "posdiag"}),
        ({"permutation": True}, {"perm", "sel", "orth"}),
        ({"diagonal": True}, {"tridiag"}),
        ({"tridiagonal": True}, {"tridiag"}),
        ({"unit_magnitude": True}, {"unit"}),
        ({"symmetric": True, "diagonal": False}, {"sym", "!diag", "!tril", "!triu"}),
        ({"symmetric": False}, {"!sym", "!diag", "!pd"}),
        (
            {"lower_triangular": True, "upper_triangular": True, "orthogonal": True},
            {"diag", "tril", "triu", "sym"},
        ),
    ],
)
def test_implied_properties(statement, facts):
    assert known_facts(assume(pt.matrix("x"), **statement)) >= facts


def test_leaves_have_no_properties():
    assert known_facts(pt.matrix("x")) == frozenset()
    x = pt.matrix("x")
    assert assume(x) is x


def test_contradictions_are_errors():
    x = pt.matrix("x")
    with pytest.raises(ConflictingAssumptionsError, match="contradict.*symmetric"):
        assume(x, diagonal=True, symmetric=False)
    with pytest.raises(ConflictingAssumptionsError, match="diagonal"):
        assume(assume(x, symmetric=True, diagonal=False), lower_triangular=True)
    with pytest.raises(ConflictingAssumptionsError, match="lower_triangular"):
        assume(pt.linalg.cholesky(x), lower_triangular=False)
    assert issubclass(ConflictingAssumptionsError, ValueError)


def test_contradictions_of_separate_statements_are_found_when_compiling():
    x = pt.matrix("x")
    y = assume(x, symmetric=True) + assume(x, symmetric=False)
    with pytest.raises(ConflictingAssumptionsError, match="symmetric"):
        bt.function([x], y)


def test_statements_about_square_matrices():
    with pytest.raises(ValueError, match="2 rows and 3 columns"):
        assume(pt.tensor("x", shape=(2, 3)), symmetric=True)
    with pytest.raises(ValueError, match="0 dimensions"):
        assume(pt.scalar("x"), diagonal=True)
    assert known_facts(assume(pt.tensor("x", shape=(2, 3)), lower_triangular=True)) == {"tril"}


def test_matrices_that_are_zero_off_the_diagonal_need_not_be_square():
    a = pt.matrix("a")
    both = {"lower_triangular": True, "upper_triangular": True}
    assert known_facts(assume(a, **both)) == {"tril", "triu"}
    assert "diag" in known_facts(assume(pt.tensor("x", shape=(3, 3)), **both))
    for x in (
        pt.eye(2, 3),
        pt.eye(a.shape[0], a.shape[1]),
        pt.tril(pt.triu(a)),
        pt.constant(np.eye(2, 3)),
    ):
        assert not known_facts(x) & {"diag", "sym", "pd", "orth", "square"}
    column = assume(pt.tensor("x", shape=(3, 1)), lower_triangular=True)
    column = pt.exp(column) * pt.eye(3, 1)
    assert not known_facts(column @ column.T) & {"pd", "posdiag"}


def test_a_statement_is_the_identity_for_values_and_derivatives():
    x = pt.matrix("x")
    y = assume(x, symmetric=True)
    f = bt.function([x], [y, bt.grad((y**2).sum(), x)])
    value = square()
    np.testing.assert_array_equal(f(value)[0], value)
    np.testing.assert_array_equal(f(value)[1], 2 * value)
    assert "SpecifyAssumptions" not in op_names(f)


def test_a_statement_holds_wherever_the_variable_is_used():
    x, b = pt.matrix("x"), pt.vector("b")
    stated = assume(x, positive_definite=True)
    f = bt.function([x, b], [stated.sum(), pt.linalg.solve(x, b)])
    assert factorizations(f) == ["Cholesky"]
    value = definite()
    np.testing.assert_allclose(f(value, vector())[1], np.linalg.solve(value, vector()), rtol=1e-10)


def test_a_statement_is_inherited_by_a_replacement():
    x, b = pt.matrix("x"), pt.vector("b")
    stated = assume(pt.log(pt.exp(x + 0.0)) * 1.0, positive_definite=True)
    f = bt.function([x, b], pt.linalg.solve(stated, b))
    assert factorizations(f) == ["Cholesky"]


@pytest.mark.parametrize("optimizer", ["None", "fast_compile", "fast_run"])
@pytest.mark.parametrize("linker", ["jit", "c", "vm", "opwise"])
def test_statements_in_every_mode(linker, optimizer):
    x, b = pt.matrix("x"), pt.vector("b")
    f = bt.function(
        [x, b],
        pt.linalg.solve(assume(x, positive_definite=True), b),
        mode=bt.compile.Mode(linker=linker, optimizer=optimizer),
    )
    value = definite()
    np.testing.assert_allclose(f(value, vector()), np.linalg.solve(value, vector()), rtol=1e-10)


# ---- inference -------------------------------------------------------------------------------------------------------

A, B = pt.matrix("A"), pt.matrix("B")
V = pt.vector("v")
PD, SYM, ORTH = (
    assume(A, positive_definite=True),
    assume(A, symmetric=True),
    assume(A, orthogonal=True),
)
FACTOR = pt.linalg.cholesky(A)
LOWER, UPPER = assume(A, lower_triangular=True), assume(A, upper_triangular=True)


@pytest.mark.parametrize(
    ("name", "x", "facts"),
    [
        ("eye", pt.eye(3), {"diag", "pd", "orth", "unitdiag"}),
        ("eye_of_unknown_length", pt.eye(A.shape[0]), {"diag", "pd", "orth", "unitdiag"}),
        ("tril", pt.tril(A), {"tril"}),
        ("triu", pt.triu(A), {"triu"}),
        ("strictly_lower", pt.tril(A, -1), {"tril"}),
        ("diag", pt.diag(V), {"diag"}),
        ("positive_diag", pt.diag(pt.exp(V)), {"diag", "pd"}),
        ("cholesky", pt.linalg.cholesky(A), {"tril", "posdiag"}),
        ("upper_cholesky", pt.linalg.cholesky(A, lower=False), {"triu", "posdiag"}),
        ("transposed", LOWER.T, {"triu"}),
        ("gram", A @ A.T, {"psd", "sym", "square"}),
        ("jittered_gram", A.T @ A + 1e-6 * pt.eye(A.shape[1]), {"pd"}),
        ("sum_of_grams", A.T @ A + 2.0 * (B.T @ B), {"psd"}),
        ("elementwise_product", PD * assume(B, positive_definite=True), {"pd"}),
        ("other_gram", A.T @ A, {"sym"}),
        ("gram_of_factor", FACTOR @ FACTOR.T, {"pd"}),
        ("product_of_lower", LOWER @ pt.tril(B), {"tril"}),
        ("product_of_orthogonal", ORTH @ pt.linalg.qr(B)[0], {"orth"}),
        ("times_transposed", ORTH @ ORTH.T, {"diag", "unitdiag"}),
        ("sum_of_lower", LOWER + pt.tril(B), {"tril"}),
        ("scaled", 2.5 * PD, {"pd"}),
        ("scaled_negatively", -2.5 * PD, {"sym"}),
        ("sum_of_definite", PD + pt.diag(pt.exp(V)), {"pd"}),
        ("jitter", PD + 1e-6 * pt.eye(A.shape[0]), {"pd"}),
        ("elementwise_function", pt.exp(SYM), {"sym"}),
        ("lower_stays_under_sqr", pt.sqr(LOWER), {"tril"}),
        ("masked", A * pt.tril(pt.ones_like(A)), {"tril"}),
        ("inverse_of_definite", pt.linalg.inv(PD), {"pd"}),
        ("inverse_of_lower", pt.linalg.inv(LOWER), {"tril"}),
        ("q", pt.linalg.qr(A)[0], {"orth"}),
        ("r", pt.linalg.qr(A)[1], {"triu"}),
        ("eigenvectors", pt.linalg.eigh(A)[1], {"orth"}),
        ("expm_of_symmetric", pt.linalg.expm(SYM), {"pd"}),
        ("expm_of_lower", pt.linalg.expm(LOWER), {"tril", "posdiag"}),
        ("batch", pt.linalg.cholesky(pt.tensor3("C")), {"tril", "posdiag"}),
        ("constant", pt.constant(np.diag([1.0, 2.0])), {"diag", "pd"}),
        ("constant_symmetric", pt.constant(np.array([[1.0, 2.0], [2.0, 1.0]])), {"sym"}),
        ("outer", V[:, None] * V[None, :], {"sym"}),
    ],
    ids=lambda v: v if isinstance(v, str) else "-",
)
def test_inferred(name, x, facts):
    assert known_facts(x) >= facts


@pytest.mark.parametrize(
    ("name", "x", "absent"),
    [
        ("exp_of_lower", pt.exp(LOWER), {"tril"}),
        ("lower_plus_one", LOWER + 1.0, {"tril"}),
        ("wide_band", pt.tril(A, 1), {"tril"}),
        ("difference_of_definite", PD - 1.0 * assume(B, positive_definite=True), {"pd"}),
        ("product_of_symmetric", SYM @ assume(B, symmetric=True), {"sym"}),
        ("product_of_definite", PD @ assume(B, positive_definite=True), {"pd", "sym"}),
        ("lower_times_upper", LOWER @ pt.triu(B), {"tril", "triu"}),
        ("plus_vector", SYM + V, {"sym"}),
        ("diag_of_any_sign", pt.diag(V), {"pd"}),
        ("q_of_tall", pt.linalg.qr(A, mode="reduced")[0], {"orth"}),
        ("other_vector", V[:, None] * pt.exp(V)[None, :], {"sym"}),
        (
            "permuted_batch",
            assume(pt.tensor3("C"), lower_triangular=True).transpose(1, 0, 2),
            {"tril"},
        ),
        ("gram_of_singular", A @ A.T, {"pd"}),
        ("minus_gram", PD - A @ A.T, {"psd", "pd"}),
        ("definite_times_semidefinite", PD * (B @ B.T), {"pd"}),
        ("scaled_by_any", PD * pt.scalar("s"), {"psd", "pd"}),
        ("nan", pt.constant(np.array([[1.0, np.nan], [0.0, 1.0]])), {"triu"}),
    ],
    ids=lambda v: v if isinstance(v, str) else "-",
)
def test_not_inferred(name, x, absent):
    assert not known_facts(x) & absent


def test_inference_on_a_long_chain_does_not_recurse():
    x = assume(pt.matrix("x"), symmetric=True)
    for _ in range(1000):
        x = x + 1.0
    assert "sym" in known_facts(x)
    for _ in range(100_000):
        x = x + 1.0
    known_facts(x)  # properties at a greater distance are not inferred


# ---- rewrites --------------------------------------------------------------------------------------------------------

C = pt.tensor3("C")


def compare(inputs, output, values, expected, left, rtol=1e-9):
    """Checks the value, and which factorizations remain in the compiled graph."""
    f = bt.function(inputs, output)
    np.testing.assert_allclose(f(*values), expected, rtol=rtol, atol=1e-11)
    assert factorizations(f) == sorted(left)
    return f


def lower_value(seed=0):
    return np.tril(square(seed))


@pytest.mark.parametrize("with_matrix", [False, True])
def test_a_product_with_an_inverse_becomes_a_solve(with_matrix):
    b = B if with_matrix else V
    value = square(1) if with_matrix else vector()
    a = square()
    compare([A, b], pt.linalg.inv(A) @ b, [a, value], np.linalg.solve(a, value), ["Solve"])
    compare([A, b], b @ pt.linalg.inv(A), [a, value], value @ np.linalg.inv(a), ["Solve"])
    compare([A, b], pt.linalg.inv(A).T @ b, [a, value], np.linalg.solve(a.T, value), ["Solve"])


def test_inverses_cancel():
    a = square()
    compare([A], pt.linalg.inv(pt.linalg.inv(A)), [a], a, [])
    compare([A, V], pt.linalg.solve(pt.linalg.inv(A), V), [a, vector()], a @ vector(), [])
    compare([A, V], pt.linalg.solve(A, A @ V), [a, vector()], vector(), [])


@pytest.mark.parametrize(
    ("name", "matrix", "value", "left"),
    [
        ("lower", LOWER, lower_value(), []),
        ("upper", UPPER, lower_value().T, []),
        ("diagonal", assume(A, diagonal=True), np.diag(vector()), []),
        ("orthogonal", ORTH, np.linalg.qr(square())[0], []),
        ("definite", PD, definite(), ["Cholesky"]),
        ("tril", pt.tril(A), square(), []),
        ("factor", FACTOR, definite(), ["Cholesky"]),
        ("product_of_factors", FACTOR @ FACTOR.T, definite(), ["Cholesky"]),
        ("qr", pt.linalg.qr(A)[0] @ pt.linalg.qr(A)[1], square(), ["QR"]),
    ],
    ids=lambda v: v if isinstance(v, str) else "-",
)
def test_solves_use_the_structure(name, matrix, value, left):
    dense = bt.function([A], matrix, mode=bt.Mode("vm", "None"))(value)
    for right, b in ((V, vector()), (B, square(3))):
        compare(
            [A, right], pt.linalg.solve(matrix, right), [value, b], np.linalg.solve(dense, b), left
        )
        compare(
            [A, right],
            pt.linalg.solve(matrix, right, transposed=True),
            [value, b],
            np.linalg.solve(dense.T, b),
            left,
        )
    compare([A], pt.linalg.inv(matrix), [value], np.linalg.inv(dense), left)


def test_singular_and_indefinite_matrices_are_errors():
    diagonal = assume(A, diagonal=True)
    f = bt.function([A, V], pt.linalg.solve(diagonal, V))
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        f(np.diag([1.0, 0.0]), np.ones(2))
    f = bt.function([A, V], pt.linalg.solve(diagonal, V, on_error="nan"))
    assert np.isnan(f(np.diag([1.0, 0.0]), np.ones(2))).all()
    f = bt.function([A, V], pt.linalg.solve(PD, V))
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        f(np.diag([1.0, -1.0]), np.ones(2))
    assert np.isnan(f(np.diag([1.0, np.nan]), np.ones(2))).all()  # as for a general matrix
    f = bt.function([A, V], pt.linalg.solve(LOWER, V))
    with pytest.raises(np.linalg.LinAlgError):
        f(np.array([[1.0, 0.0], [1.0, 0.0]]), np.ones(2))


def test_cholesky_of_a_product_with_the_transpose():
    value = definite()
    factor = np.linalg.cholesky(value)
    compare([A], pt.linalg.cholesky(FACTOR @ FACTOR.T), [value], factor, ["Cholesky"])
    compare(
        [A], pt.linalg.cholesky(FACTOR @ FACTOR.T, lower=False), [value], factor.T, ["Cholesky"]
    )
    lower = pt.tril(pt.specify_shape(A, (N, N)))
    lower = pt.set_subtensor(lower[pt.arange(N), pt.arange(N)], pt.exp(V))
    known = np.tril(square(), -1) + np.diag(np.exp(vector()))
    compare([A, V], pt.linalg.cholesky(lower @ lower.T), [square(), vector()], known, [])
    # if the diagonal may be negative, L is not the Cholesky factor
    compare([A], pt.linalg.cholesky(LOWER @ LOWER.T), [-factor], factor, ["Cholesky"])


@pytest.mark.parametrize(
    ("name", "function", "expected"),
    [
        ("cholesky", pt.linalg.cholesky, np.linalg.cholesky),
        ("eigvalsh", pt.linalg.eigvalsh, np.linalg.eigvalsh),
        ("eigh", lambda x: pt.linalg.eigh(x)[0], np.linalg.eigvalsh),
        (
            "svdvals",
            lambda x: pt.linalg.svd(x, compute_uv=False),
            lambda x: np.linalg.svd(x, compute_uv=False),
        ),
        ("expm", pt.linalg.expm, scipy.linalg.expm),
        ("schur", lambda x: pt.linalg.schur(x)[0], lambda x: scipy.linalg.schur(x)[0]),
        ("qr", lambda x: pt.linalg.qr(x)[1], lambda x: np.linalg.qr(x)[1]),
        ("lu_factor", lambda x: pt.linalg.lu_factor(x)[0], lambda x: scipy.linalg.lu_factor(x)[0]),
        ("lu", lambda x: pt.linalg.lu(x)[2], lambda x: scipy.linalg.lu(x)[2]),
        ("det", pt.linalg.det, np.linalg.det),
        ("slogdet", lambda x: pt.linalg.slogdet(x)[1], lambda x: np.linalg.slogdet(x)[1]),
    ],
    ids=lambda v: v if isinstance(v, str) else "-",
)
def test_decompositions_of_diagonal_matrices_are_closed_forms(name, function, expected):
    d = np.exp(vector())
    compare([V], function(pt.diag(pt.exp(V))), [vector()], expected(np.diag(d)), [])


def test_values_only_decompositions_merge_with_full_ones():
    value = square()
    f = bt.function([A], [pt.linalg.svd(A, compute_uv=False), pt.linalg.svd(A)[0]])
    assert factorizations(f) == ["SVD"]
    np.testing.assert_allclose(f(value)[0], np.linalg.svd(value, compute_uv=False), rtol=1e-10)
    f = bt.function([A], [pt.linalg.eigvalsh(A), *pt.linalg.eigh(A)])
    assert factorizations(f) == ["Eigh"]


@pytest.mark.parametrize(
    ("name", "matrix", "value", "left"),
    [
        ("lower", LOWER, lower_value(), []),
        ("product", pt.specify_shape(LOWER, (N, N)) @ pt.triu(B), lower_value(), []),
        ("definite", PD, definite(), ["Cholesky"]),
        ("inverse", pt.linalg.inv(A), square(), ["LU"]),
        ("transposed", A.T, square(), ["LU"]),
        ("factors", FACTOR @ FACTOR.T, definite(), ["Cholesky"]),
    ],
    ids=lambda v: v if isinstance(v, str) else "-",
)
def test_determinants_by_structure(name, matrix, value, left):
    other = square(7)
    dense = bt.function([A, B], matrix, mode=bt.Mode("vm", "None"), on_unused_input="ignore")(
        value, other
    )
    sign, logarithm = np.linalg.slogdet(dense)
    for out, expected, op in (
        (pt.linalg.det(matrix), np.linalg.det(dense), "Det"),
        (pt.linalg.slogdet(matrix)[1], logarithm, "SLogDet"),
        (pt.linalg.slogdet(matrix)[0], sign, "SLogDet"),
        (pt.log(abs(pt.linalg.det(matrix))), logarithm, "SLogDet"),
    ):
        ops = [op if each == "LU" else each for each in left]
        f = bt.function([A, B], out, on_unused_input="ignore")
        np.testing.assert_allclose(f(value, other), expected, rtol=1e-9)
        if name != "inverse":  # det(inv(A)) becomes 1 / det(A) before the rewrite of its logarithm
            assert set(factorizations(f)) <= set(ops)


def test_the_logarithm_of_a_determinant_does_not_overflow():
    f = bt.function([A], pt.log(pt.linalg.det(A)))
    assert factorizations(f) == ["SLogDet"]
    np.testing.assert_allclose(f(1e30 * np.eye(40)), 40 * np.log(1e30))
    assert np.isnan(f(np.diag([1.0, -1.0])))


def test_a_quadratic_form_becomes_a_norm():
    value = definite()
    compare(
        [A, V],
        V @ pt.linalg.solve(PD, V),
        [value, vector()],
        vector() @ np.linalg.solve(value, vector()),
        ["Cholesky"],
    )
    f = compare(
        [A, V],
        V @ pt.linalg.inv(PD) @ V,
        [value, vector()],
        vector() @ np.linalg.solve(value, vector()),
        ["Cholesky"],
    )
    assert op_names(f).count("SolveTriangular") == 1


def gaussian_process(k, y):
    """The log density of y, whose gradients an optimizer computes."""
    n = y.shape[0]
    return -0.5 * (y @ pt.linalg.solve(k, y) + pt.linalg.slogdet(k)[1] + n * np.log(2 * np.pi))


def test_a_gaussian_process_factors_its_covariance_once():
    x, y, scale = pt.vector("x"), pt.vector("y"), pt.scalar("scale")
    distance = (x[:, None] - x[None, :]) ** 2
    k = assume(
        pt.exp(-0.5 * distance / scale**2) + 0.1 * pt.eye(x.shape[0]), positive_definite=True
    )
    density = gaussian_process(k, y)
    f = bt.function([x, y, scale], [density, bt.grad(density, scale)])
    assert factorizations(f) == ["Cholesky"]
    points, values = np.linspace(0, 3, 20), np.sin(np.linspace(0, 3, 20))

    def by_hand(s):
        cov = np.exp(-0.5 * (points[:, None] - points[None, :]) ** 2 / s**2) + 0.1 * np.eye(20)
        return scipy.stats.multivariate_normal.logpdf(values, np.zeros(20), cov)

    got, slope = f(points, values, 0.7)
    np.testing.assert_allclose(got, by_hand(0.7), rtol=1e-9)
    np.testing.assert_allclose(slope, (by_hand(0.7 + 1e-6) - by_hand(0.7 - 1e-6)) / 2e-6, rtol=1e-5)


@pytest.mark.parametrize(
    "facts, value",
    [
        ("symmetric", [[1.0, 2.0], [3.0, 4.0]]),
        ("positive_definite", [[1.0, 2.0], [2.0, 1.0]]),
        ("diagonal", [[1.0, 2.0], [0.0, 4.0]]),
        ("lower_triangular", [[1.0, 2.0], [0.0, 4.0]]),
        ("upper_triangular", [[1.0, 0.0], [1.0, 4.0]]),
        ("orthogonal", [[1.0, 1.0], [0.0, 1.0]]),
        ("permutation", [[0.0, 1.0], [0.0, 1.0]]),
        ("selection", [[0.5, 0.5], [0.0, 1.0]]),
    ],
)
def test_the_interpreter_checks_statements_of_a_graph_as_built(facts, value):
    x = pt.matrix("x")
    f = bt.function([x], assume(x, **{facts: True}) + 1.0, mode=bt.Mode("vm", "None"))
    np.testing.assert_array_equal(f(np.eye(2)), np.eye(2) + 1)
    np.testing.assert_array_equal(f(np.full((2, 2), np.nan)), np.full((2, 2), np.nan))
    with pytest.raises(ValueError, match="was stated to be .*, and its value is not"):
        f(value)


def test_kronecker_products_are_solved_by_their_factors():
    a, b, y = pt.tensor("a", shape=(2, 2)), pt.tensor("b", shape=(3, 3)), pt.vector("y")
    values = [square(1, 2) + 3 * np.eye(2), square(2, 3) - 3 * np.eye(3), vector(n=6)]
    whole = np.kron(*values[:2])
    for x, value in [(pt.linalg.kron(a, b), whole), (pt.linalg.block_diag(b, a), None)]:
        if value is None:
            value = np.zeros((5, 5))
            value[:3, :3], value[3:, 3:] = values[1], values[0]
        right = values[2][: len(value)]
        f = bt.function(
            [a, b, y],
            [pt.linalg.solve(x, y), pt.linalg.inv(x), pt.linalg.det(x), *pt.linalg.slogdet(x)],
            on_unused_input="ignore",
        )
        got = f(*values[:2], right)
        expected = [
            np.linalg.solve(value, right),
            np.linalg.inv(value),
            np.linalg.det(value),
            *np.linalg.slogdet(value),
        ]
        for ours, theirs in zip(got, expected):
            np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)
        assert "Reshape" not in op_names(bt.function([a, b], pt.linalg.det(x)))
        assert "Join" not in op_names(bt.function([a, b], pt.linalg.det(x)))


def test_lu_factorizations_are_shared():
    a, b, c = pt.matrix("a"), pt.vector("b"), pt.vector("c")
    cost = pt.linalg.solve(a, b) @ c + pt.linalg.slogdet(a)[1]
    f = bt.function([a, b, c], [cost, *bt.grad(cost, [a, b, c])])
    assert factorizations(f) == ["LUFactor"]
    value, inverse = square(3) + 4 * np.eye(N), np.linalg.inv(square(3) + 4 * np.eye(N))
    u, v = vector(1), vector(2)
    got = f(value, u, v)
    expected = [
        v @ inverse @ u + np.linalg.slogdet(value)[1],
        -np.outer(inverse.T @ v, inverse @ u) + inverse.T,
        inverse.T @ v,
        inverse @ u,
    ]
    for ours, theirs in zip(got, expected):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("form", ["cholesky", "eigh", "eigvalsh", "svd", "qr"])
def test_a_determinant_uses_an_existing_decomposition(form):
    a = pt.matrix("a")
    x = assume(a, symmetric=True)
    other = {
        "cholesky": lambda: pt.linalg.cholesky(x),
        "eigh": lambda: pt.linalg.eigh(x)[1],
        "eigvalsh": lambda: pt.linalg.eigvalsh(x),
        "svd": lambda: pt.linalg.svd(a)[0],
        "qr": lambda: pt.linalg.qr(a)[1],
    }[form]()
    f = bt.function([a], [other, pt.linalg.slogdet(a)[1]])
    assert not {"Det", "SLogDet", "LUFactor"} & set(op_names(f))
    np.testing.assert_allclose(f(definite())[1], np.linalg.slogdet(definite())[1], rtol=1e-12)
    if form in ("svd", "qr"):  # these do not determine the sign
        assert "SLogDet" in op_names(bt.function([a], [other, *pt.linalg.slogdet(a)]))


def test_tridiagonal_factorizations_are_shared():
    dl, d, du, b = (pt.vector(name) for name in ("dl", "d", "du", "b"))
    a = pt.diag(d) + pt.diag(dl, -1) + pt.diag(du, 1)
    x = pt.linalg.solve(a, b, assume_a="tridiagonal")
    cost = (x**2).sum()
    f = bt.function([dl, d, du, b], [cost, *bt.grad(cost, [dl, d, du, b])])
    names = op_names(f)
    assert names.count("LUFactorTridiagonal") == 1 and "SolveTridiagonal" not in names
    values = [vector(1, 3), vector(2, 4) + 5, vector(3, 3), vector(4, 4)]
    A = np.diag(values[1]) + np.diag(values[0], -1) + np.diag(values[2], 1)
    solution = np.linalg.solve(A, values[3])
    of_b = np.linalg.solve(A.T, 2 * solution)
    of_a = -np.outer(of_b, solution)
    expected = [solution @ solution, np.diag(of_a, -1), np.diag(of_a), np.diag(of_a, 1), of_b]
    for got, reference in zip(f(*values), expected, strict=True):
        np.testing.assert_allclose(got, reference, rtol=1e-10)


def test_one_factorization_for_a_batch_of_right_hand_sides():
    a, b = pt.matrix("a"), pt.tensor3("b")
    value, right = (
        square(3) + 4 * np.eye(N),
        np.stack([vector(k)[:, None] + square(k) for k in (1, 2)]),
    )
    for solve in (
        pt.linalg.solve,
        lambda x, y: pt.linalg.solve_triangular(
            pt.linalg.cholesky(assume(x @ x.T, positive_definite=True)), y, lower=True
        ),
    ):
        f = bt.function([a, b], solve(a, b))
        assert not any("Blockwise" in str(node.op) for node in f.maker.fgraph.toposort())
        left = value if solve is pt.linalg.solve else np.linalg.cholesky(value @ value.T)
        np.testing.assert_allclose(f(value, right), np.linalg.solve(left, right), rtol=1e-9)


def test_a_loop_invariant_matrix_is_factored_once():
    a, x = pt.matrix("a"), pt.vector("x")
    path = bt.scan(
        lambda y, a: pt.linalg.solve(a, pt.sin(y)),
        outputs_info=x,
        non_sequences=a,
        n_steps=5,
        return_updates=False,
    )
    f = bt.function([a, x], path)
    assert op_names(f).count("LUFactor") == 1
    text = io.StringIO()
    f.dprint(file=text)
    assert (
        "SolveTriangular{" in text.getvalue() and " Solve{" not in text.getvalue()
    )  # also in the step
    value, y = square(3) + 4 * np.eye(N), vector(1)
    expected = []
    for _ in range(5):
        y = np.linalg.solve(value, np.sin(y))
        expected.append(y)
    np.testing.assert_allclose(f(value, vector(1)), expected, rtol=1e-10)


def test_diagonals_and_pseudo_inverses_of_parts():
    a, b = pt.tensor("a", shape=(2, 2)), pt.tensor("b", shape=(3, 3))
    u, v = square(1, 2), square(2, 3)
    blocks, wide = scipy.linalg.block_diag(u, v), np.kron(u, v)
    cases = [
        (pt.diagonal(pt.linalg.kron(a, b)), np.diag(wide), "Reshape"),
        (pt.trace(pt.linalg.block_diag(a, b)), np.trace(blocks), "Join"),
        (pt.linalg.pinv(pt.linalg.kron(a, b)), np.linalg.pinv(wide), None),
        (pt.linalg.pinv(pt.linalg.block_diag(a, b)), np.linalg.pinv(blocks), None),
        (pt.linalg.kron(pt.diag(a[0]), pt.diag(b[0])), np.kron(np.diag(u[0]), np.diag(v[0])), None),
        (
            pt.linalg.block_diag(pt.linalg.block_diag(a, b), a),
            scipy.linalg.block_diag(u, v, u),
            None,
        ),
    ]
    for expression, expected, _ in cases:
        f = bt.function([a, b], expression, on_unused_input="ignore")
        np.testing.assert_allclose(f(u, v), expected, rtol=1e-9, atol=1e-12)
    f = bt.function([a, b], pt.linalg.pinv(pt.linalg.kron(a, b)))
    assert op_names(f).count("MatrixPinv") == 2
    nested = bt.function([a, b], pt.linalg.block_diag(pt.linalg.block_diag(a, b), a))
    assert (
        op_names(nested).count("Join") == 4
    )  # one for each of the three rows, and one for all of them


def test_permutations_and_selections():
    x, order = pt.matrix("x"), pt.lvector("order")
    permutation = assume(pt.eye(N)[order], permutation=True)
    given = np.random.default_rng(5).permutation(N)
    f = bt.function([order], [pt.linalg.det(permutation), *pt.linalg.slogdet(permutation)])
    assert not {"Det", "SLogDet"} & set(op_names(f))
    sign = np.linalg.det(np.eye(N)[given])
    np.testing.assert_allclose(f(given), [sign, sign, 0.0])
    f = bt.function([x, order], [pt.eye(N)[order] @ x, x @ pt.eye(N)[:, order]])
    assert "Dot" not in op_names(f)
    rows, columns = f(square(1), np.array([2, 0]))
    assert (rows == square(1)[[2, 0]]).all() and (columns == square(1)[:, [2, 0]]).all()
    q = pt.linalg.qr(x)[0]
    f = bt.function([x], pt.linalg.slogdet(q))
    assert "SLogDet" not in op_names(f)
    np.testing.assert_allclose(
        f(square(1)), np.linalg.slogdet(np.linalg.qr(square(1))[0]), atol=1e-12
    )


def test_a_generalized_schur_form_of_diagonal_matrices():
    u, v = pt.vector("u"), pt.vector("v")
    f = bt.function([u, v], pt.linalg.qz(pt.diag(u), pt.diag(v), return_eigenvalues=True))
    assert "QZ" not in op_names(f)
    a, b = np.array([1.0, -2.0, 3.0]), np.array([-1.0, 4.0, 0.5])
    s, p, alpha, beta, q, z = f(a, b)
    np.testing.assert_allclose(q @ s @ z.T, np.diag(a))
    np.testing.assert_allclose(q @ p @ z.T, np.diag(b))
    np.testing.assert_allclose(alpha.real / beta, a / b)
    assert (beta >= 0).all() and (alpha.imag == 0).all()


def test_sums_and_products_with_the_transpose_are_symmetric():
    x, batch = pt.matrix("x"), pt.tensor3("batch")
    for y in (
        x + x.T,
        x.T * x,
        0.5 * (x + x.T),
        batch + pt.matrix_transpose(batch),
        pt.maximum(x, x.T),
    ):
        assert "sym" in known_facts(y)
    for y in (x - x.T, x + x, batch + batch.transpose(1, 0, 2), x + pt.matrix("y").T):
        assert "sym" not in known_facts(y)


def test_eigenvalues_of_a_symmetric_matrix_are_real():
    x, a = pt.matrix("x"), square(4) + square(4).T
    s = assume(x, symmetric=True)
    results = [
        *pt.linalg.eig(s),
        pt.linalg.eigvals(s),
        bt.grad(pt.real(pt.linalg.eigvals(s) ** 2).sum(), x),
    ]
    # Opt-in, since the order of the eigenvalues changes.
    assert "Eig" in op_names(bt.function([x], results))
    f = bt.function([x], results, mode=bt.compile.get_default_mode().including("eig_to_eigh"))
    assert "Eig" not in op_names(f)
    w, v, w_alone, gradient = f(a)
    assert (
        w.dtype == v.dtype == "complex128" and (w.imag == 0).all() and (np.diff(w.real) > 0).all()
    )
    np.testing.assert_allclose((v * w) @ v.conj().T, a, atol=1e-12)
    np.testing.assert_allclose(w_alone, w, atol=1e-12)
    np.testing.assert_allclose(gradient, 2 * a, atol=1e-12)


def test_a_symmetric_solve_reads_one_triangle_despite_other_uses():
    x, b = pt.matrix("x"), pt.vector("b")
    upper, right = np.triu(square(n=20)) + 5 * np.eye(20), np.random.default_rng(5).normal(size=20)
    given, whole = upper + np.tril(np.ones((20, 20)), -1), upper + np.triu(upper, 1).T
    solution, determinant = pt.linalg.solve(x, b, assume_a="sym"), pt.linalg.det(x)
    for outputs in ([solution], [solution, determinant], [solution, pt.linalg.solve(x, b)]):
        f = bt.function([x, b], outputs)
        assert any(name.startswith("SolveStructured") for name in op_names(f))
        np.testing.assert_allclose(f(given, right)[0], np.linalg.solve(whole, right), rtol=1e-9)


def test_a_trace_of_a_product_is_computed_without_the_product():
    x, y = pt.matrix("x"), pt.matrix("y")
    left, right = np.arange(12.0).reshape(3, 4), np.arange(8.0).reshape(4, 2)
    f = bt.function([x, y], pt.trace(x @ y))
    assert "Dot" not in op_names(f)
    np.testing.assert_allclose(f(left, right), np.trace(left @ right), rtol=1e-14)


def test_products_with_known_matrices():
    x, d = pt.tensor("x", shape=(3, 3)), pt.vector("d")
    value, diagonal = square(4, 3), vector(n=3)
    q = pt.linalg.qr(x)[0]
    for expression, expected in [
        (pt.diag(d) @ x, np.diag(diagonal) @ value),
        (x @ pt.diag(d), value @ np.diag(diagonal)),
        (pt.diag(d) @ d, diagonal**2),
        (q @ q.T @ x, value),
        (assume(x + x.T, symmetric=True).T, value + value.T),
    ]:
        f = bt.function([x, d], expression, on_unused_input="ignore")
        np.testing.assert_allclose(f(value, diagonal), expected, rtol=1e-12)
        assert "Dot" not in op_names(f)


@pytest.mark.parametrize("form", ["stated", "by construction", "factor"])
def test_a_multivariate_normal_factors_its_covariance_once(form):
    x, mean, a = pt.matrix("x"), pt.vector("mean"), pt.matrix("a")
    if form == "stated":
        covariance, value = assume(a, positive_definite=True), definite()
    else:
        covariance, value = a @ a.T + pt.eye(a.shape[0]), square(1)
    whole = value if form == "stated" else value @ value.T + np.eye(N)
    if form == "factor":
        factor = pt.linalg.cholesky(covariance)
        white = pt.linalg.solve_triangular(factor, (x - mean).T, lower=True)
        logp = -0.5 * (white**2).sum() - x.shape[0] * pt.log(pt.diag(factor)).sum()
    else:
        away = x - mean
        logp = (
            -0.5 * (away * pt.linalg.solve(covariance, away.T).T).sum()
            - 0.5 * x.shape[0] * pt.linalg.slogdet(covariance)[1]
        )
    f = bt.function([x, mean, a], [logp, *bt.grad(logp, [x, mean])])
    assert factorizations(f) == ["Cholesky"]
    points = np.random.default_rng(3).normal(size=(7, N))
    away = points - vector()
    inverse = np.linalg.inv(whole)
    expected = (
        -0.5 * np.einsum("ni,ij,nj->", away, inverse, away) - 3.5 * np.linalg.slogdet(whole)[1]
    )
    got = f(points, vector(), value)
    np.testing.assert_allclose(got[0], expected, rtol=1e-10)
    np.testing.assert_allclose(got[1], -away @ inverse, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(got[2], (away @ inverse).sum(axis=0), rtol=1e-8, atol=1e-10)
    with_matrix = bt.function([x, mean, a], [logp, bt.grad(logp, a)])
    assert factorizations(with_matrix) == ["Cholesky"]


def test_negative_indices_of_a_non_square_diagonal_matrix():
    i = pt.lvector("i")
    for x, expected in [
        (pt.zeros((4, 3)), set()),
        (pt.zeros((3, 3)), {"tril", "triu", "diag"}),
        (pt.zeros((3, 4)), set()),
    ]:
        assert known_facts(x[i, i].set(1.0)) & {"tril", "triu", "diag"} == expected


def test_facts_of_complex_matrices_are_those_of_hermitian_and_unitary_ones():
    rng = np.random.default_rng(0)
    any_ = rng.normal(size=(2, 3, 3)) + 1j * rng.normal(size=(2, 3, 3))
    unitary = np.linalg.qr(any_)[0]
    hermitian = any_ + any_.conj().swapaxes(1, 2)
    definite = any_ @ any_.conj().swapaxes(1, 2) + np.eye(3)
    diagonal = any_ * np.eye(3)
    holding = {
        "symmetric": [hermitian, definite],
        "positive_definite": [definite],
        "orthogonal": [unitary],
        "diagonal": [diagonal],
        "lower_triangular": [np.tril(any_), diagonal],
        "upper_triangular": [np.triu(any_), diagonal],
        "permutation": [np.eye(3)[[1, 0, 2]][None] + 0j],
    }
    x = pt.tensor(dtype="complex128", shape=(None, None, None))
    for fact, matrices in holding.items():
        stated = assume(x, **{fact: True})
        checked = bt.function([x], stated, mode=bt.Mode("vm", "None"))
        solution = bt.function([x], [pt.linalg.inv(stated), bt.grad(pt.real(stated).sum(), x)])
        for matrix in matrices:
            assert np.array_equal(checked(matrix), matrix)
            inverse, gradient = solution(matrix)
            assert np.allclose(inverse @ matrix, np.eye(3), atol=1e-12)
            assert (gradient == 1).all()
        wrong = (
            any_ if fact != "symmetric" else any_ + any_.swapaxes(1, 2)
        )  # equal to its transpose, but not to its adjoint
        with pytest.raises(ValueError, match="was stated to be"):
            checked(wrong)


# ---- tridiagonal matrices, and elements of unit magnitude --------------------------------------------------------------


def tridiagonal(seed=0, n=6):
    x = square(seed, n)
    return np.triu(np.tril(x, 1), -1)


@pytest.mark.parametrize(
    ("expression", "holds"),
    [
        (lambda t, d: t + d, True),
        (lambda t, d: t * 3.0, True),
        (lambda t, d: t.mT, True),
        (lambda t, d: t / 2.0 - d, True),
        (lambda t, d: pt.exp(t) * d, True),
        (lambda t, d: t + 1.0, False),
        (lambda t, d: pt.exp(t), False),
    ],
)
def test_tridiagonal_through_operations(expression, holds):
    t, d = assume(pt.dmatrix("t"), tridiagonal=True), assume(pt.dmatrix("d"), diagonal=True)
    assert ("tridiag" in known_facts(expression(t, d))) == holds


@pytest.mark.parametrize("is_definite", [False, True])
def test_systems_of_tridiagonal_matrices(is_definite):
    a, b = pt.dmatrix("a"), pt.dvector("b")
    f = bt.function(
        [a, b],
        pt.linalg.solve(
            assume(a, tridiagonal=True, **({"positive_definite": True} if is_definite else {})), b
        ),
    )
    A = tridiagonal()
    A = A @ A.T * np.eye(6) + (A + A.T if is_definite else A)
    np.testing.assert_allclose(f(A, vector(n=6)), np.linalg.solve(A, vector(n=6)), rtol=1e-10)
    assert "SolveTridiagonal" in str([node.op for node in f.maker.fgraph.toposort()]), op_names(f)


def test_unit_magnitude():
    x, s = pt.dvector("x"), pt.dvector("s")
    u = assume(s, unit_magnitude=True)
    for known in (u, -u, u * u, pt.reciprocal(u), u[:, None], pt.sign(u)):
        assert "unit" in known_facts(known)
    for unknown in (u + u, u * x, pt.exp(u)):
        assert "unit" not in known_facts(unknown)
    signs = np.array([1.0, -1.0, -1.0, 1.0])
    f = bt.function([s, x], [abs(u), pt.sign(u), pt.sign(u * x), pt.sign(x * u)])
    values = np.array([2.0, -3.0, 0.0, np.nan])
    for got, right in zip(
        f(signs, values),
        [np.ones(4), signs, np.sign(signs * values), np.sign(signs * values)],
        strict=True,
    ):
        np.testing.assert_array_equal(got, right)
    assert "Abs" not in str(op_names(bt.function([s], abs(u)))), op_names(bt.function([s], abs(u)))


@pytest.mark.parametrize(
    ("statement", "value"),
    [({"tridiagonal": True}, np.ones((3, 3))), ({"unit_magnitude": True}, np.array([[1.0, 2.0]]))],
)
def test_what_is_stated_of_bands_and_magnitudes_is_checked(statement, value):
    x = pt.dmatrix("x")
    f = bt.function([x], assume(x, **statement), mode=bt.Mode("vm", "None"))
    with pytest.raises(ValueError, match="was stated to be .*, and its value is not"):
        f(value)
    assert f(np.eye(3) if "tridiagonal" in statement else np.sign(value)).shape == value.shape


# ---- symmetry that expressions show, and factors that several uses share --------------------------------------------


def kernels():
    """Kernel matrices as users write them, and whether they are symmetric."""
    x, z, X, s = pt.dvector("x"), pt.dvector("z"), pt.dmatrix("X"), pt.dscalar("s")
    w = pt.dvector("w")
    squares = (X**2).sum(1)
    between = x[:, None] - x[None, :]
    points = X[:, None, :] - X[None, :, :]
    return {
        "squared differences": (s**2 * pt.exp(-0.5 * (between / s) ** 2), True),
        "absolute differences": (pt.exp(-abs(between) / s), True),
        "periodic": (pt.exp(-2 * pt.sin(np.pi * between / s) ** 2), True),
        "of points": (pt.exp(-(points**2).sum(-1) / s), True),
        "distance of points": (1 + pt.sqrt((points**2).sum(-1) + 1e-12), True),
        "expanded squares": (squares[:, None] + squares[None, :] - 2 * X @ X.T, True),
        "scaled product": (s * X @ X.T, True),
        "weighted product": ((X * w) @ X.T, True),
        "smaller of both": (pt.minimum(x[:, None], x[None, :]), True),
        "cubes": (between**3, False),
        "differences": (between, False),
        "two vectors": ((x[:, None] - z[None, :]) ** 2, False),
        "one side scaled": ((x[:, None] - 2 * x[None, :]) ** 2, False),
        "rows weighted": ((X * w[:, None]) @ X.T, False),
        "one factor scaled twice": ((X * w) @ (X * pt.exp(w)[:, None]).T, False),
        "third axis in its place": (points.sum(0), False),
        "sum and difference": (between + abs(between), False),
        "comparison": (pt.lt(x[:, None], x[None, :]) * 1.0, False),
    }


@pytest.mark.parametrize("name", kernels())
def test_symmetry_of_kernels(name):
    matrix, symmetric = kernels()[name]
    assert ("sym" in known_facts(matrix)) == symmetric
    assert ("skew" in known_facts(matrix)) == (name in ("cubes", "differences"))
    if symmetric:
        rng = np.random.default_rng(3)
        values = {
            "x": rng.normal(size=4),
            "X": rng.normal(size=(4, 3)),
            "s": 1.3,
            "w": rng.normal(size=3),
        }
        inputs = bt.graph.traversal.explicit_graph_inputs([matrix])
        value = matrix.eval({v: values[v.name] for v in inputs})
        np.testing.assert_allclose(value, value.T, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("dtype", ["uint8", "uint64", "int8", "int64"])
def test_symmetry_of_differences_of_integers(dtype):
    """Unsigned differences wrap around, and have no sign."""
    x = pt.vector("x", dtype=dtype)
    between = x[:, None] - x[None, :]
    matrix = abs(between).astype("float64") + 3 * pt.eye(x.shape[0])
    assert ("sym" in known_facts(matrix)) == dtype.startswith("int")
    values = np.array([3, 5, 9], dtype)
    differences = values[:, None] - values[None, :]
    expected = np.linalg.inv(np.abs(differences).astype("float64") + 3 * np.eye(3))
    np.testing.assert_allclose(
        bt.function([x], pt.linalg.inv(matrix))(values), expected, rtol=1e-10
    )


def process_by(solve):
    x, y, s, noise = pt.dvector("x"), pt.dvector("y"), pt.dscalar("s"), pt.dscalar("noise")
    K = pt.exp(-0.5 * ((x[:, None] - x[None, :]) / s) ** 2) + noise * pt.eye(x.shape[0])
    value = -0.5 * (y @ solve(K, y) + pt.linalg.slogdet(K)[1])
    return [x, y, s, noise], value


def test_one_factor_of_a_kernel():
    """The system states that the matrix is definite; its determinant and all gradients use the same factor."""
    inputs, value = process_by(lambda K, y: pt.linalg.solve(K, y, assume_a="pos"))
    f = bt.function(inputs, [value, *bt.grad(value, inputs)])
    assert factorizations(f) == ["Cholesky"]
    rng = np.random.default_rng(2)
    given = [np.sort(rng.uniform(0, 5, 12)), rng.normal(size=12), 0.8, 0.3]
    expected_inputs, expected = process_by(pt.linalg.solve)
    expected = bt.function(
        expected_inputs, [expected, *bt.grad(expected, expected_inputs)], mode="FAST_COMPILE"
    )
    for got, right in zip(f(*given), expected(*given)):
        np.testing.assert_allclose(got, right, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("chosen", [0.0, 1.0])
def test_factor_of_another_choice(chosen):
    """A factor that only a branch needs says nothing of the matrix where the other one is chosen."""
    x, b, c = pt.dmatrix("x"), pt.dvector("b"), pt.dscalar("c")
    A = x + x.T
    by_factor = pt.linalg.solve(A, b, assume_a="pos")
    f = bt.function(
        [x, b, c],
        [bt.ifelse(pt.gt(c, 0), by_factor, -b), pt.linalg.slogdet(A)[1], pt.linalg.solve(A, b)],
    )
    indefinite = np.array([[0.5, 2.0], [2.0, 0.5]])
    vector_ = np.array([1.0, 2.0])
    if chosen:
        with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
            f(indefinite, vector_, chosen)
        return
    first, logarithm, solution = f(indefinite, vector_, chosen)
    np.testing.assert_array_equal(first, -vector_)
    np.testing.assert_allclose(logarithm, np.linalg.slogdet(2 * indefinite)[1])
    np.testing.assert_allclose(solution, np.linalg.solve(2 * indefinite, vector_))


def test_one_triangle_is_read():
    """Of a matrix that is not known to be symmetric, the other triangle counts elsewhere, and not in the system."""
    a, b = pt.dmatrix("a"), pt.dvector("b")
    whole = definite()
    given = np.tril(whole) + 7 * np.triu(np.ones((N, N)), 1)
    f = bt.function(
        [a, b], [pt.linalg.solve(a, b, assume_a="pos", lower=True), pt.linalg.slogdet(a)[1]]
    )
    solution, logarithm = f(given, vector())
    np.testing.assert_allclose(solution, np.linalg.solve(whole, vector()))
    np.testing.assert_allclose(logarithm, np.linalg.slogdet(given)[1])
    lower = bt.function([a, b], pt.linalg.solve(pt.tril(a), b, assume_a="pos", lower=True))
    np.testing.assert_allclose(lower(whole, vector()), np.linalg.solve(whole, vector()))


@pytest.mark.parametrize("b_shape", [(N,), (N, 2), (3, N, 2)])
@pytest.mark.parametrize("lower", [True, False])
def test_gradient_of_definite_system(b_shape, lower):
    """That of the triangle that is read, for single matrices and batches."""
    a, b = (
        pt.TensorType("float64", (None,) * 2)("a"),
        pt.TensorType("float64", (None,) * len(b_shape))("b"),
    )
    x = pt.linalg.solve(a, b, assume_a="pos", lower=lower)
    rng = np.random.default_rng(4)
    weights = rng.normal(size=b_shape)
    cost = (pt.sin(x) * weights).sum()
    f = bt.function([a, b], cost)
    g = bt.function([a, b], bt.grad(cost, [a, b]))
    values = [definite(), rng.normal(size=b_shape)]
    for k, derivative in enumerate(g(*values)):
        for index in np.ndindex(derivative.shape):
            around = []
            for step in (1e-6, -1e-6):
                moved = [v.copy() for v in values]
                moved[k][index] += step
                around.append(f(*moved))
            np.testing.assert_allclose(
                derivative[index], (around[0] - around[1]) / 2e-6, rtol=2e-5, atol=1e-7
            )


@pytest.mark.parametrize("shape", [(N, N), (2, N, N), (30, 30)])
def test_inverse_of_definite(shape):
    a = pt.TensorType("float64", (None,) * len(shape))("a")
    inverse = bt.function([a], pt.linalg.inv(assume(a, positive_definite=True)))
    assert factorizations(inverse) == ["Cholesky"]
    rng = np.random.default_rng(6)
    value = rng.normal(size=shape)
    value = value @ np.swapaxes(value, -1, -2) + shape[-1] * np.eye(shape[-1])
    found = inverse(value)
    np.testing.assert_allclose(found, np.linalg.inv(value), rtol=1e-10, atol=1e-13)
    if len(shape) == 2:
        np.testing.assert_array_equal(found, found.T)

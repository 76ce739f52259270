"""Random generators as values, and draws against NumPy."""

import copy
import inspect
import pickle

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale import _core
from bitale.compile.rebuild import rebuild_collect_shared

GENERATORS = [np.random.PCG64, np.random.Philox, np.random.SFC64, np.random.MT19937]
KINDS = [kind.__name__ for kind in GENERATORS]
LINKERS = ["vm", "jit", "c"]


def generator(kind, seed=5):
    """A generator that has already used half of a word."""
    out = np.random.Generator(kind(seed))
    out.integers(10)
    return out


def state(rng):
    return rng.bit_generator.state


def same_state(a, b):
    np.testing.assert_equal(state(a), state(b))


rows = np.random.default_rng(9)
N = 100_001
SMALL, LARGE = rows.uniform(0.05, 3, N), rows.uniform(0.05, 20, N)
PROBABILITY, COUNT = rows.uniform(0.01, 0.99, N), rows.integers(1, 2000, N)
NUMPY = [
    ("random",),
    ("standard_normal",),
    ("standard_exponential",),
    ("standard_cauchy",),
    ("uniform", -1.0, 3.0),
    ("uniform", -SMALL, LARGE),
    ("normal", 1.0, 2.0),
    ("normal", SMALL, LARGE),
    ("lognormal", 0.1, SMALL),
    ("exponential", 2.0),
    ("standard_gamma", SMALL),
    ("gamma", SMALL, LARGE),
    ("gamma", 2.5, 2.0),
    ("beta", SMALL, LARGE),
    ("beta", 0.5, 0.5),
    ("beta", 1e-3, 1e-3),
    ("beta", 1e-110, 2e-110),
    ("chisquare", SMALL),
    ("standard_t", LARGE),
    ("pareto", SMALL),
    ("weibull", SMALL),
    ("power", SMALL),
    ("laplace", SMALL, LARGE),
    ("gumbel", SMALL, LARGE),
    ("logistic", SMALL, LARGE),
    ("rayleigh", SMALL),
    ("wald", SMALL, LARGE),
    ("wald", 1e3, 1e-3),
    ("vonmises", SMALL, LARGE),
    ("vonmises", 0.5, 1e-6),
    ("vonmises", 0.5, 1e7),
    ("vonmises", 0.5, 1e-9),
    ("triangular", -SMALL, np.zeros(N), LARGE),
    ("poisson", LARGE),
    ("poisson", 1e5),
    ("geometric", PROBABILITY),
    ("geometric", 1e-3),
    ("binomial", COUNT, PROBABILITY),
    ("binomial", 10**6, 0.3),
    ("binomial", 10, 0.9),
    ("negative_binomial", LARGE, PROBABILITY),
    ("hypergeometric", COUNT, COUNT[::-1].copy(), np.minimum(COUNT, COUNT[::-1])),
    ("hypergeometric", 1000, 3000, 700),
    ("integers", -5, 100),
    ("integers", -COUNT, COUNT),
    ("integers", 0, 2**40),
    ("integers", -(2**63), 2**63 - 1),
]


def test_numpy_cases_cover_all_distributions():
    assert sorted({case[0] for case in NUMPY}) == _core.random_distributions()


@pytest.mark.parametrize("kind", KINDS)
def test_draws_agree_with_numpy(kind):
    """Draws and the state afterwards, bit for bit."""
    rng = pt.random.rng("rng", kind)
    outputs = []
    for name, *parameters in NUMPY:
        outputs += _core.random_draw(
            name, rng, [pt.as_tensor(one) for one in parameters], [pt.as_tensor(N)]
        )
    with bt.config.change_flags(random__shared_state="ignore"):
        got = bt.function([rng], outputs)(generator(getattr(np.random, kind)))
    for (name, *parameters), after, draw in zip(NUMPY, got[::2], got[1::2]):
        if name == "binomial" and np.lib.NumpyVersion(np.__version__) < "2.5.0":
            continue  # 2.5 corrected the sign of two terms in BTPE (numpy pull request 31238)
        reference = generator(getattr(np.random, kind))
        expected = getattr(reference, name)(*parameters, size=N)
        assert draw.dtype == expected.dtype and np.array_equal(draw, expected, equal_nan=True), name
        same_state(after, reference)


A = np.array([[0.5, 2.0, 3.0], [1.0, 1.0, 9.0]])
P = np.array([0.2, 0.5, 0.3])
WORDS = np.arange(10.0).reshape(5, 2)
ROWS = {
    "dirichlet": (("dirichlet", A[0]), {"size": (2, 2)}, lambda r: r.dirichlet(A[0], size=(2, 2))),
    "small": (("dirichlet", A[0] / 100), {"size": 5}, lambda r: r.dirichlet(A[0] / 100, size=5)),
    # NumPy's own dirichlet would not terminate for -0.0.
    "negative zero": (
        ("dirichlet", np.array([0.03, -0.0])),
        {"size": 3},
        lambda r: r.dirichlet(np.array([0.03, 0.0]), size=3),
    ),
    "several": (("dirichlet", A), {}, lambda r: np.array([r.dirichlet(a) for a in A])),
    "multinomial": (("multinomial", 50, P), {"size": 4}, lambda r: r.multinomial(50, P, size=4)),
    "counts": (
        ("multinomial", np.array([5, 500]), P),
        {},
        lambda r: np.array([r.multinomial(n, P) for n in (5, 500)]),
    ),
    "permutation": (("permutation", 20), {}, lambda r: r.permutation(20)),
    "vector": (("permutation", WORDS[:, 0]), {}, lambda r: r.permutation(WORDS[:, 0])),
    "matrix": (("permutation", WORDS), {}, lambda r: r.permutation(WORDS)),
    "choice": (
        ("choice", 20),
        {"size": 7, "replace": False},
        lambda r: r.choice(20, size=7, replace=False),
    ),
    "many": (
        ("choice", 20000),
        {"size": 700, "replace": False},
        lambda r: r.choice(20000, size=700, replace=False),
    ),
    "few": (
        ("choice", 20000),
        {"size": 70, "replace": False},
        lambda r: r.choice(20000, size=70, replace=False),
    ),
    "words": (
        ("choice", WORDS),
        {"size": (2, 2), "replace": False},
        lambda r: r.choice(WORDS, size=(2, 2), replace=False),
    ),
    "weighted": (
        ("choice", 3),
        {"size": 3, "replace": False, "p": P},
        lambda r: r.choice(3, size=3, replace=False, p=P),
    ),
    "replaced": (("choice", 9), {"size": 5}, lambda r: r.choice(9, size=5)),
    "weighted, replaced": (
        ("choice", 3),
        {"size": 50, "p": P},
        lambda r: r.choice(3, size=50, p=P),
    ),
    "one": (("choice", WORDS), {}, lambda r: r.choice(WORDS)),
    "categorical": (
        ("categorical", P),
        {"size": (4, 5)},
        lambda r: np.searchsorted(P.cumsum(), r.uniform(size=(4, 5))),
    ),
}


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("case", ROWS)
def test_rows_and_choices_agree_with_numpy(case, linker):
    (name, *parameters), options, expected = ROWS[case]
    rng = pt.random.rng()
    after, x = getattr(rng, name)(*parameters, **options)
    got = bt.function([rng], [after, x], mode=bt.Mode(linker))(np.random.default_rng(4))
    reference = np.random.default_rng(4)
    assert np.array_equal(got[1], expected(reference))
    same_state(got[0], reference)


@pytest.mark.parametrize(
    "name, parameters, options, message",
    [
        ("dirichlet", ([1.0, -1.0],), {}, "alpha < 0"),
        ("multinomial", (3, [0.9, 0.9, 0.1]), {}, "sum"),
        ("multinomial", (3, [-0.1, 0.9]), {}, "pvals < 0"),
        ("multinomial", (-3, [0.1, 0.9]), {}, "n < 0"),
        ("choice", (3,), {"size": 4, "replace": False}, "larger sample"),
        ("choice", (3,), {"size": 2, "replace": False, "p": [0.5, 0.2, 0.2]}, "sum to 1"),
        ("choice", (3,), {"size": 2, "replace": False, "p": [1.0, 0.0, 0.0]}, "Fewer non-zero"),
        ("choice", (3,), {"size": 2, "replace": False, "p": [0.5, 0.5]}, "lengths|shape"),
    ],
)
@pytest.mark.parametrize("linker", ["vm", "jit"])
def test_rows_with_bad_parameters(name, parameters, options, message, linker):
    rng = pt.random.shared_rng(seed=1)
    after, x = getattr(rng, name)(*parameters, **options)
    with pytest.raises(ValueError, match=message):
        bt.function([], x, updates={rng: after}, mode=bt.Mode(linker))()
    same_state(rng.get_value(), np.random.default_rng(1))


COMPOSITIONS_OF_THE_ORACLE = {
    "halfnormal": (0.5, 2.0), "pareto": (3.0, 2.0), "gumbel": (1.0, 2.0), "cauchy": (1.0, 2.0), "halfcauchy": (1.0, 2.0), "truncexpon": (3.0, 1.0, 2.0),
    "truncated_normal": (1.0, 2.0, -1.0, 4.0), "bernoulli": (0.3,), "invgamma": (3.0, 7.0), "t": (5.0, 1.0, 2.0), "gengamma": (1.0, 3.0, 1.5),
    "betabinom": (9, 2.0, 3.0),
}  # fmt: skip


def test_the_oracle_agrees():
    import pathlib
    import sys

    sys.path.insert(0, str(pathlib.Path(__file__).parents[3]))
    from oracle import ops

    rng = pt.random.rng()
    state, x = rng.normal(np.zeros((2, 3)), 2.0)
    for name, parameters, options in (
        ("dirichlet", (A,), {}),
        ("multinomial", (9, P), {"size": 2}),
        ("permutation", (5,), {"size": 2}),
        ("choice", (9,), {"size": 4, "replace": False}),
    ):
        state, y = getattr(state, name)(*parameters, **options)
        expected = ops.evaluate([y, x], {rng: np.random.default_rng(3)})
        got = bt.function([rng], [y, x])(np.random.default_rng(3))
        assert all(np.array_equal(a, b.array) for a, b in zip(got, expected))
    for kind in ("PCG64", "Threefry"):
        rng = pt.random.rng("rng", kind)
        for name, parameters in COMPOSITIONS_OF_THE_ORACLE.items():
            if kind == "Threefry" and name in (
                "bernoulli",
                "invgamma",
                "t",
                "gengamma",
                "betabinom",
            ):
                continue
            value = np.random.default_rng(3) if kind == "PCG64" else bt.random.stream(3)
            x = getattr(rng, name)(*parameters, size=(2, 3))[1]
            np.testing.assert_allclose(
                ops.evaluate([x], {rng: value})[0].array, bt.function([rng], x)(value), rtol=1e-12
            )


def test_multivariate_normal():
    cov, rng = np.array([[2.0, 0.5], [0.5, 1.0]]), pt.random.rng()
    x = rng.multivariate_normal([1.0, 2.0], cov, size=4)[1].eval({rng: np.random.default_rng(4)})
    expected = np.random.default_rng(4).normal(size=(4, 2)) @ np.linalg.cholesky(cov).T + [1, 2]
    np.testing.assert_allclose(x, expected, rtol=1e-12)
    many = np.stack([cov, 4 * cov])
    x = rng.multivariate_normal(np.zeros(2), many)[1].eval({rng: np.random.default_rng(4)})
    z = np.random.default_rng(4).normal(size=(2, 2))
    np.testing.assert_allclose(
        x, [np.linalg.cholesky(c) @ each for c, each in zip(many, z)], rtol=1e-12
    )
    with pytest.raises(np.linalg.LinAlgError):
        rng.multivariate_normal([0.0, 0.0], -cov)[1].eval({rng: np.random.default_rng(4)})


def as_scipy(name, *parameters):
    def draw(generator, count):
        distribution = getattr(pytest.importorskip("scipy.stats"), name)
        return distribution.rvs(*parameters, size=count, random_state=generator)

    return draw


COMPOSITIONS = {
    "bernoulli": ((0.3,), lambda r, n: r.binomial(1, 0.3, n)),
    "halfnormal": ((1.0, 2.0), lambda r, n: 1 + 2 * abs(r.standard_normal(n))),
    "pareto": ((3.0, 2.0), lambda r, n: 2 * (1 - r.uniform(size=n)) ** (-1 / 3)),
    "gumbel": ((1.0, 2.0), lambda r, n: 1 - 2 * np.log(-np.log(r.uniform(size=n)))),
    "cauchy": ((1.0, 2.0), lambda r, n: 1 + 2 * np.tan(np.pi * r.uniform(size=n) - np.pi / 2)),
    "halfcauchy": ((1.0, 2.0), lambda r, n: 1 + 2 * np.tan(np.pi / 2 * r.uniform(size=n))),
    "invgamma": ((3.0, 7.0), lambda r, n: 1 / r.gamma(3.0, 1 / 7, n)),
    "truncexpon": (
        (3.0, 1.0, 2.0),
        lambda r, n: 1 - 2 * np.log1p(r.uniform(size=n) * np.expm1(-3.0)),
    ),
    "t": ((5.0, 1.0, 2.0), lambda r, n: 1 + 2 * r.standard_t(5.0, n)),
    "gengamma": ((1.0, 3.0, 1.5), lambda r, n: 1.5 * r.standard_gamma(1 / 3, n) ** (1 / 3)),
    "betabinom": ((9, 2.0, 3.0), lambda r, n: r.binomial(9, r.beta(2.0, 3.0, n), n)),
    "nbinom": ((4, 0.3), lambda r, n: r.negative_binomial(4, 0.3, n)),
    "chisquare": ((4.0,), lambda r, n: r.chisquare(4.0, n)),
    "rayleigh": ((4.0,), lambda r, n: r.rayleigh(4.0, n)),
    # As SciPy draws them; it has no Kumaraswamy variables.
    "maxwell": ((4.0,), as_scipy("maxwell", 0.0, 4.0)),
    "gompertz": ((0.5, 4.0), as_scipy("gompertz", 0.5, 0.0, 4.0)),
    "loguniform": ((0.5, 4.0), as_scipy("loguniform", 0.5, 4.0)),
    "moyal": ((0.5, 4.0), as_scipy("moyal", 0.5, 4.0)),
    "kumaraswamy": ((2.0, 3.0), lambda r, n: np.sqrt(1 - (1 - r.uniform(size=n)) ** (1 / 3))),
}


@pytest.mark.parametrize("name", COMPOSITIONS)
def test_compositions(name):
    parameters, expected = COMPOSITIONS[name]
    rng = pt.random.rng()
    after, x = getattr(rng, name)(*parameters, size=1000)
    got = bt.function([rng], [after, x])(np.random.default_rng(4))
    reference = np.random.default_rng(4)
    np.testing.assert_allclose(got[1], expected(reference, 1000), rtol=1e-12)
    same_state(got[0], reference)
    # Without size, the shape is that of the parameters.
    vectors = [
        np.full((2, 1), one) if i == 0 else np.full(3, one) for i, one in enumerate(parameters)
    ]
    assert getattr(rng, name)(*vectors)[1].eval({rng: np.random.default_rng(4)}).shape == (
        (2, 3) if len(vectors) > 1 else (2, 1)
    )


def test_every_listed_distribution_exists():
    names = """bernoulli beta betabinom binomial categorical cauchy chisquare choice dirichlet exponential gamma gengamma
        geometric gumbel halfcauchy halfnormal hypergeometric integers invgamma laplace logistic lognormal multinomial
        multivariate_normal nbinom negative_binomial normal pareto permutation poisson rayleigh standard_normal t triangular
        truncated_normal truncexpon uniform vonmises wald weibull""".split()
    for name in names:
        assert callable(getattr(pt.random, name)) and callable(getattr(pt.random.rng(), name))


@pytest.mark.parametrize("method", ["svd", "eigh"])
def test_methods_of_multivariate_normal(method):
    rng, cov = pt.random.rng(), np.array([[2.0, 0.5], [0.5, 1.0]])
    x = rng.multivariate_normal([1.0, 2.0], cov, size=100_000, method=method)[1].eval(
        {rng: np.random.default_rng(4)}
    )
    np.testing.assert_allclose(x.mean(axis=0), [1.0, 2.0], atol=0.02)
    np.testing.assert_allclose(np.cov(x.T), cov, atol=0.04)
    if method == "svd":  # the signs of eigenvectors depend on the LAPACK routine
        np.testing.assert_allclose(
            x,
            np.random.default_rng(4).multivariate_normal([1.0, 2.0], cov, size=100_000),
            rtol=1e-8,
            atol=1e-8,
        )
    on_a_line = rng.multivariate_normal([0.0, 0.0], np.ones((2, 2)), size=9, method=method)[1].eval(
        {rng: np.random.default_rng(4)}
    )
    np.testing.assert_allclose(on_a_line[:, 0], on_a_line[:, 1], atol=1e-7)
    many = rng.multivariate_normal(np.zeros(2), np.stack([cov, 9 * cov]), method=method)[1].eval(
        {rng: np.random.default_rng(4)}
    )
    first = rng.multivariate_normal(np.zeros(2), np.stack([cov, cov]), method=method)[1].eval(
        {rng: np.random.default_rng(4)}
    )
    np.testing.assert_allclose(many, [first[0], 3 * first[1]], rtol=1e-10)
    with pytest.raises(np.linalg.LinAlgError, match="not positive semidefinite"):
        rng.multivariate_normal([0.0, 0.0], [[1.0, 2.0], [2.0, 1.0]], method=method)[1].eval(
            {rng: np.random.default_rng(4)}
        )
    with pytest.raises(ValueError, match="method must be cholesky, svd or eigh"):
        rng.multivariate_normal([0.0], [[1.0]], method="lu")


@pytest.mark.parametrize("kind", ["PCG64", "Threefry"])
@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize(
    "name, parameters, message",
    [
        ("bernoulli", (1.5,), "p < 0, p > 1 or p is NaN: bernoulli with p = 1.5"),
        ("bernoulli", ([0.5, np.nan],), r"bernoulli with p = nan at \(1,\)"),
        (
            "halfnormal",
            (0.0, -1.0),
            "scale < 0 or scale is NaN: halfnormal with loc = 0.0, scale = -1.0",
        ),
        ("halfnormal", (0.0, [1.0, -2.0]), r"halfnormal with loc = 0.0, scale = -2.0 at \(1,\)"),
        ("pareto", (-1.0, 1.0), "b <= 0 or b is NaN: pareto with b = -1.0, scale = 1.0"),
        ("pareto", (np.nan, 1.0), "b is NaN"),
        ("gumbel", (0.0, -1.0), "scale < 0"),
        ("cauchy", (0.0, -1.0), "scale < 0"),
        ("halfcauchy", (0.0, -1.0), "scale < 0"),
        ("invgamma", (-1.0, 1.0), "shape < 0: invgamma"),
        ("truncexpon", (0.0, 0.0, 1.0), "b <= 0"),
        ("t", (0.0, 0.0, 1.0), "df <= 0"),
        ("t", (3.0, 0.0, -1.0), "scale < 0"),
        ("gengamma", (1.0, 0.0, 1.0), "p <= 0"),
        ("betabinom", (-1, 1.0, 1.0), "n < 0: betabinom with n = -1"),
        ("betabinom", (3, 0.0, 1.0), "a <= 0"),
        ("truncated_normal", (0.0, 0.0, -1.0, 1.0), "scale <= 0"),
        ("truncated_normal", (0.0, 1.0, 2.0, 1.0), "not lower <= upper: truncated_normal"),
        (
            "categorical",
            ([0.9, 0.9],),
            r"probabilities do not sum to 1: categorical with p = \[0.9 0.9\]",
        ),
        ("categorical", ([[0.5, 0.5], [-0.1, 1.1]],), r"p < 0 .* at \(1,\)"),
        ("categorical", ([np.nan, 1.0],), "p contains NaNs"),
    ],
)
def test_compositions_with_parameters_outside_their_domain(name, parameters, message, linker, kind):
    """The error occurs for literals and arrays, which are known when the graph is built, and for arguments of the
    call."""
    value = np.random.default_rng(1) if kind == "PCG64" else bt.random.stream(1)
    rng = bt.shared(value)
    symbols = [pt.as_tensor(np.asarray(one)).type() for one in parameters]
    for given, inputs, arguments in (
        (parameters, [], []),
        (symbols, symbols, [np.asarray(one) for one in parameters]),
    ):
        after, x = getattr(rng, name)(*given)
        f = bt.function(inputs, x, updates={rng: after}, mode=bt.Mode(linker))
        with pytest.raises(ValueError, match=message):
            f(*arguments)
    assert (
        str(rng.get_value()) == str(value)
        if kind == "Threefry"
        else state(rng.get_value()) == state(value)
    )


def test_sizes_incompatible_with_parameters():
    rng, n, v = pt.random.rng("rng"), pt.lscalar("n"), pt.dvector("v")
    for name in ("normal", "halfnormal", "gumbel"):
        draw = getattr(rng, name)
        for shape, size in (((3,), 2), ((3,), 1), ((3, 1), 3), ((2, 3), (3, 2))):
            with pytest.raises(ValueError, match="length|dimensions"):
                draw(np.ones(shape), 1.0, size=size)
        f = bt.function([rng, n, v], draw(v, 1.0, size=(n,))[1])
        assert f(np.random.default_rng(1), 3, np.ones(3)).shape == (3,)
        for length in (1, 2):
            with pytest.raises(ValueError):
                f(np.random.default_rng(1), length, np.ones(3))
    with pytest.raises(ValueError, match="length"):
        rng.categorical([[0.5, 0.5], [0.1, 0.9]], size=3)
    for mean, cov in ((3, 2), (1, 2), (2, 1)):
        with pytest.raises(ValueError, match="lengths"):
            rng.multivariate_normal(np.zeros(mean), np.eye(cov))
    with pytest.raises(ValueError, match="lengths 5 and 2"):
        rng.choice(5, p=[0.5, 0.5])
    f = bt.function([rng, n], rng.choice(n, p=[0.5, 0.5])[1])
    assert f(np.random.default_rng(1), 2) in (0, 1)
    with pytest.raises(ValueError, match="same size"):
        f(np.random.default_rng(1), 3)


def test_integers_that_overflow_their_dtype():
    rng = pt.random.rng()
    drawn = lambda x: x.eval({rng: np.random.default_rng(1)})  # noqa: E731
    assert drawn(rng.poisson(3.0, size=5, dtype="uint8")[1]).dtype == np.uint8
    assert drawn(rng.integers(0, 128, size=500, dtype="int8")[1]).max() <= 127
    assert drawn(rng.bernoulli([0.0, 1.0], dtype="bool")[1]).tolist() == [False, True]
    for make, dtype in (
        (lambda dtype: rng.poisson(1000.0, dtype=dtype), "int8"),
        (lambda dtype: rng.integers(0, 300, size=50, dtype=dtype), "uint8"),
        (lambda dtype: rng.integers(-5, 3, size=50, dtype=dtype), "uint8"),
        (lambda dtype: rng.integers(-5, -1, dtype=dtype), "uint64"),
        (lambda dtype: rng.integers(2**40, 2**41, dtype=dtype), "int32"),
        (lambda dtype: rng.poisson(50.0, dtype=dtype), "bool"),
        (lambda dtype: rng.multinomial(1000, [0.5, 0.5], dtype=dtype), "int8"),
    ):
        with pytest.raises(ValueError, match=f"a number was drawn that {dtype} does not have"):
            drawn(make(dtype)[1])


def test_permutations_of_several_copies():
    rng = pt.random.rng()
    for x in (WORDS[:, 0], WORDS):
        drawn = rng.permutation(x, size=(2, 3))[1].eval({rng: np.random.default_rng(1)})
        reference = np.random.default_rng(1)
        assert np.array_equal(
            drawn.reshape(6, *x.shape), [reference.permutation(x) for _ in range(6)]
        )


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("size", [None, (), (1,), (4, 0), (2, 3), (3, 2, 3)])
def test_broadcasting_and_sizes(linker, size):
    loc, scale = np.array([1.0, 2.0, 3.0]), np.array([[0.5], [2.0]])
    rng = pt.random.rng()
    if size is None or size[-2:] == (2, 3):
        given = (loc, scale)
    else:
        given = (2.0, 3.0)
    after, x = rng.normal(*given, size=size)
    got = bt.function([rng], [after, x], mode=bt.Mode(linker))(np.random.default_rng(1))
    reference = np.random.default_rng(1)
    expected = reference.normal(*given, size=size)
    assert np.shape(got[1]) == np.shape(expected) and np.array_equal(got[1], expected)
    same_state(got[0], reference)


@pytest.mark.parametrize(
    "name, parameters",
    [
        ("normal", ()),
        ("halfnormal", ()),
        ("invgamma", (1.0, 1.0)),
        ("dirichlet", ([1.0, 2.0],)),
        ("multinomial", (3, P)),
    ],
)
def test_a_negative_length_is_rejected_when_the_draw_is_built(name, parameters):
    for length in (-1, -2):
        with pytest.raises(ValueError, match=f"{name}: negative length {length} of dimension 1"):
            getattr(pt.random.rng(), name)(*parameters, size=(2, length))


def test_symbolic_lengths_and_parameters():
    rng, n, loc = pt.random.rng(), pt.lscalar(), pt.dvector()
    f = bt.function([rng, n, loc], rng.normal(loc, 1.0, size=(n, loc.shape[0]))[1])
    expected = np.random.default_rng(2).normal([1.0, 5.0], 1.0, size=(3, 2))
    assert np.array_equal(f(np.random.default_rng(2), 3, [1.0, 5.0]), expected)
    with pytest.raises(ValueError, match="negative length"):
        f(np.random.default_rng(2), -3, [1.0, 5.0])
    size = pt.lvector(shape=(2,))
    g = bt.function([rng, size], rng.uniform(size=size)[1])
    assert np.array_equal(
        g(np.random.default_rng(2), [2, 3]), np.random.default_rng(2).uniform(size=(2, 3))
    )
    with pytest.raises(ValueError, match="known length"):
        rng.uniform(size=pt.lvector())


def test_a_function_does_not_change_the_given_generator():
    rng = pt.random.rng()
    f = bt.function([rng], rng.normal(size=3)[1])
    given = np.random.default_rng(3)
    before = state(copy.deepcopy(given))
    assert np.array_equal(f(given), f(given))
    assert state(given) == before


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("kind", KINDS)
def test_shared_generators(linker, kind):
    value = generator(getattr(np.random, kind))
    rng = bt.shared(value, name="rng")
    assert isinstance(rng, bt.compile.SharedVariable) and rng.name == "rng"
    assert rng.type == pt.random.RandomGeneratorType(kind)
    after, x = rng.normal(size=3)
    f = bt.function([], x, updates={rng: after}, mode=bt.Mode(linker))
    reference = generator(getattr(np.random, kind))
    for _ in range(3):
        assert np.array_equal(f(), reference.normal(size=3))
    same_state(rng.get_value(), reference)
    same_state(value, generator(getattr(np.random, kind)))  # the function draws from a copy
    rng.set_value(generator(getattr(np.random, kind), 7))
    assert np.array_equal(f(), generator(getattr(np.random, kind), 7).normal(size=3))


def test_shared_rng_forms():
    rng = pt.random.shared_rng(seed=4)
    same_state(rng.get_value(), np.random.default_rng(4))
    rng.set_value(seed=5)
    same_state(rng.get_value(), np.random.default_rng(5))
    with pytest.raises(ValueError, match="both"):
        pt.random.shared_rng(np.random.default_rng(1), seed=1)
    with pytest.raises(ValueError, match="none"):
        pt.random.shared_rng()
    with pytest.raises(TypeError, match="Generator"):
        pt.random.shared_rng(3)
    with pytest.raises(TypeError, match="RandomState"):
        bt.shared(np.random.RandomState(1))
    with pytest.raises(
        TypeError, match="expected a Generator of the bit generator PCG64, got one of Philox"
    ):
        rng.set_value(np.random.Generator(np.random.Philox(1)))
    with pytest.raises(TypeError, match="PCG64DXSM is not supported"):
        pt.random.shared_rng(np.random.Generator(np.random.PCG64DXSM(1)))
    with pytest.raises(TypeError):
        pt.random.shared_rng(seed="one")


def test_function_style_and_default_updates():
    rng = pt.random.shared_rng(seed=4)
    after, x = pt.random.normal(0, 1, size=2, rng=rng, return_next_rng=True)
    assert bt.function([], x)() is not None
    f = bt.function([], x)
    assert np.array_equal(f(), f())  # there is no update
    rng.default_update = after
    reference = np.random.default_rng(4)
    g = bt.function([], x)
    assert np.array_equal(g(), reference.normal(size=2)) and np.array_equal(
        g(), reference.normal(size=2)
    )
    for options in (
        {"no_default_updates": True},
        {"no_default_updates": [rng]},
        {"updates": {rng: rng}},
    ):
        h = bt.function([], x, **options)
        assert np.array_equal(h(), h())
    with pytest.raises(TypeError):
        rng.default_update = x
    own = pt.random.normal(size=3)  # a separate generator with a default update
    f = bt.function([], own)
    assert not np.array_equal(f(), f())
    fixed = pt.random.normal(size=3, rng=np.random.default_rng(6))
    assert np.array_equal(fixed.eval(), np.random.default_rng(6).normal(size=3))


def test_random_stream():
    stream = pt.random.RandomStream(8, rng_ctor=np.random.default_rng)
    x, y = stream.normal(0, 1, size=3), stream.integers(0, 10, size=2)
    f = bt.function([], [x, y])
    first, second = f(), f()
    children = [np.random.default_rng(child) for child in np.random.SeedSequence(8).spawn(2)]
    for got in (first, second):
        assert np.array_equal(got[0], children[0].normal(size=3))
        assert np.array_equal(got[1], children[1].integers(0, 10, size=2))
    stream.seed(8)
    again = f()
    assert all(np.array_equal(a, b) for a, b in zip(again, first))
    assert len(stream.updates()) == 2
    with pytest.raises(AttributeError):
        stream.abnormal
    with pytest.raises(ValueError):
        stream.normal(rng=pt.random.rng())


@pytest.mark.parametrize(
    "name, parameters, message",
    [
        ("normal", (0.0, -1.0), "scale < 0"),
        ("normal", (0.0, [1.0, -1.0]), r"scale < 0: normal with loc = 0.0, scale = -1.0 at \(1,\)"),
        ("beta", (0.0, 1.0), "a <= 0"),
        ("beta", (1.0, np.nan), "b <= 0"),
        ("poisson", (-1.0,), "lam < 0"),
        ("poisson", (np.nan,), "lam is NaN"),
        ("poisson", (1e30,), "too large"),
        ("binomial", (3, 1.5), "p < 0, p > 1"),
        ("binomial", (-3, 0.5), "n < 0"),
        ("integers", (3, 3), "low >= high"),
        ("uniform", (0.0, np.inf), "range exceeds"),
        ("geometric", (0.0,), "p <= 0"),
        ("triangular", (1.0, 0.0, 2.0), "left > mode"),
        ("hypergeometric", (3, 3, 9), "nsample"),
    ],
)
@pytest.mark.parametrize("linker", LINKERS)
def test_parameters_outside_their_domain(name, parameters, message, linker):
    rng = pt.random.shared_rng(seed=1)
    after, x = getattr(rng, name)(*[np.asarray(one) for one in parameters])
    f = bt.function([], x, updates={rng: after}, mode=bt.Mode(linker))
    with pytest.raises(ValueError, match=message):
        f()
    same_state(rng.get_value(), np.random.default_rng(1))  # nothing was drawn


def test_invalid_draws():
    rng = pt.random.rng()
    with pytest.raises(TypeError, match="expected a random generator"):
        pt.random.normal(rng=pt.dvector())
    with pytest.raises(TypeError, match="expected a random generator"):
        pt.random.normal(rng=3)
    with pytest.raises(TypeError, match="whole number"):
        rng.binomial(2.5, 0.5)
    with pytest.raises(ValueError, match="can't be"):
        rng.normal(dtype="int64")
    with pytest.raises(ValueError, match="dimensions"):
        rng.normal(np.zeros((2, 3)), 1.0, size=3)
    with pytest.raises(NotImplementedError, match="not implemented; did you mean normal"):
        _core.random_draw("nromal", rng, [], None)
    with pytest.raises(TypeError, match="unsupported operand"):
        rng + 1
    with pytest.raises(TypeError, match="tensor"):
        pt.exp(rng)
    f = bt.function([rng], rng.normal()[1])
    for wrong in (3, np.zeros(6, "uint64"), None, np.random.Generator(np.random.SFC64(1))):
        with pytest.raises(TypeError):
            f(wrong)


def test_dtypes_and_names():
    rng = pt.random.rng()
    _, x = rng.normal(dtype="float32", name="x", size=3)
    assert x.dtype == "float32" and x.name == "x"
    assert np.array_equal(
        x.eval({rng: np.random.default_rng(1)}),
        np.random.default_rng(1).normal(size=3).astype("float32"),
    )
    assert rng.poisson(3.0)[1].dtype == "int64"
    assert rng.bernoulli(0.5, dtype="bool")[1].dtype == "bool"


def test_equal_draws_are_merged():
    rng = pt.random.rng()
    a, b, c = rng.normal(size=2)[1], rng.normal(size=2)[1], rng.normal(size=2, scale=3.0)[1]
    with bt.config.change_flags(random__shared_state="ignore"):
        f = bt.function([rng], [a, b, c])
    assert sum("RandomVariable" in str(node.op) for node in f.maker.fgraph.toposort()) == 2
    got = f(np.random.default_rng(1))
    assert np.array_equal(got[0], got[1]) and np.array_equal(got[2], 3 * got[0])


def test_draws_have_no_derivative():
    rng, mu = pt.random.rng(), pt.dscalar("mu")
    _, x = rng.normal(mu, 1.0)
    with pytest.raises(Exception, match="no derivative"):
        bt.grad(x, mu)
    reparametrized = mu + rng.normal()[1]
    assert bt.grad(reparametrized, mu).eval({mu: 2.0, rng: np.random.default_rng(1)}) == 1


def test_vectorize_draws_for_each_element():
    from bitale.graph.replace import vectorize_graph

    rng, mu, batch = pt.random.rng(), pt.dscalar(), pt.dvector()
    _, x = rng.normal(mu, 1.0, size=2)
    y = vectorize_graph(x, {mu: batch})
    got = y.eval({rng: np.random.default_rng(1), batch: [1.0, 100.0, 1000.0]})
    assert np.array_equal(
        got, np.random.default_rng(1).normal(np.array([[1.0], [100.0], [1000.0]]), 1.0, size=(3, 2))
    )


ONE_OF_EACH = {
    "normal": (0.0, 1.0), "halfnormal": (0.0, 1.0), "pareto": (3.0, 1.0), "gumbel": (0.0, 1.0), "cauchy": (0.0, 1.0), "halfcauchy": (0.0, 1.0),
    "invgamma": (3.0, 1.0), "truncexpon": (1.0, 0.0, 1.0), "t": (3.0, 0.0, 1.0), "gengamma": (1.0, 1.0, 1.0), "betabinom": (10**6, 2.0, 2.0),
    "truncated_normal": (0.0, 1.0, -1.0, 1.0), "dirichlet": (np.ones(3),), "multinomial": (10**6, P), "categorical": (np.full(1000, 1e-3),),
    "multivariate_normal": (np.zeros(2), np.eye(2)), "maxwell": (1.0,), "kumaraswamy": (2.0, 3.0), "gompertz": (0.5, 1.0), "loguniform": (0.5, 2.0),
    "moyal": (0.0, 1.0),
}  # fmt: skip


@pytest.mark.parametrize("kind", ["PCG64", "Threefry"])
@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_vectorize_draws_independently_for_a_batch_of_any_parameter(name, kind):
    parameters = [np.asarray(one) for one in ONE_OF_EACH[name]]
    state = np.random.default_rng(1) if kind == "PCG64" else bt.random.stream(1)
    for k, parameter in enumerate(parameters):
        rng, symbols = pt.random.rng("rng", kind), [pt.as_tensor(one).type() for one in parameters]
        after, x = getattr(rng, name)(*symbols)
        batch = np.stack([parameter] * 5)
        symbol = pt.as_tensor(batch).type()
        drawn, end = bt.graph.vectorize_graph([x, after], {symbols[k]: symbol})
        given = [symbol if i == k else one for i, one in enumerate(symbols)]
        values = [batch if i == k else one for i, one in enumerate(parameters)]
        rows, last = bt.function([rng, *given], [drawn, end])(state, *values)
        assert len(np.unique(rows.reshape(5, -1), axis=0)) == 5
        if (
            kind == "PCG64" and name != "betabinom"
        ):  # sequential draws; betabinom first draws all of its probabilities
            f, now = bt.function([rng, *symbols], [x, after]), state
            for row in rows:
                one, now = f(now, *parameters)
                np.testing.assert_allclose(row, one, rtol=1e-12)
            same_state(last, now)


def test_vectorize_over_a_vector_of_unknown_length():
    rng, loc, many = pt.random.rng(), pt.dvector("loc"), pt.dmatrix("many")
    drawn = bt.graph.vectorize_graph(rng.normal(loc, 1.0)[1], {loc: many})
    got = drawn.eval({rng: np.random.default_rng(1), many: np.zeros((2, 3))})
    assert np.array_equal(got, np.random.default_rng(1).normal(size=(2, 3)))


def test_compositions_count_as_one_draw_of_a_state():
    rng = pt.random.rng("rng")
    x, y = rng.betabinom(9, 2.0, 3.0)[1], rng.halfnormal()[1]
    with pytest.raises(
        ValueError, match="two different draws begin from one state of the generator `rng`"
    ):
        bt.function([rng], [x, y])
    f = bt.function([rng], [x.shape, rng.gumbel(size=(3, 2))[1].shape[0]], on_unused_input="ignore")
    assert not any("Random" in str(node.op) for node in f.maker.fgraph.toposort())


def test_compositions_differentiate():
    rng, scale = pt.random.rng(), pt.dscalar("scale")
    x = rng.gumbel(1.0, scale, size=5)[1]
    value, slope = bt.function([rng, scale], [x, bt.grad(x.sum(), scale)])(
        np.random.default_rng(1), 2.0
    )
    assert np.isclose(slope, ((value - 1) / 2).sum())


def test_debug_mode_and_pickle():
    rng = pt.random.shared_rng(seed=2)
    after, x = rng.gamma([1.0, 0.5], scale=3.0)
    f = bt.function([], x, updates={rng: after}, mode="DebugMode")
    reference = np.random.default_rng(2)
    assert np.array_equal(f(), reference.gamma([1.0, 0.5], 3.0))
    g = pickle.loads(pickle.dumps(bt.function([], x, updates={rng: after})))
    assert np.array_equal(g(), reference.gamma([1.0, 0.5], 3.0))
    restored = pickle.loads(pickle.dumps((rng, x)))
    same_state(restored[0].get_value(), rng.get_value())
    kind = pickle.loads(pickle.dumps(pt.random.RandomGeneratorType("SFC64")))
    assert kind == pt.random.RandomGeneratorType("SFC64") != pt.random.random_generator_type


def test_threads_with_one_shared_generator_draw_different_numbers():
    import threading

    rng = pt.random.shared_rng(seed=3)
    after, x = rng.normal(size=1000)
    f = bt.function([], x, updates={rng: after})
    got = []
    threads = [
        threading.Thread(target=lambda: got.extend(f() for _ in range(20))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = np.random.default_rng(3).normal(size=(80, 1000))
    assert {row.tobytes() for row in got} == {row.tobytes() for row in expected}


@pytest.mark.parametrize(
    "generator",
    [lambda: bt.random.stream(1), lambda: pt.random.shared_rng(np.random.default_rng(1))],
)
@pytest.mark.parametrize("name", ["normal", "halfnormal"])
def test_errors_inside_a_draw_name_the_distribution(name, generator):
    x = pt.dvector("x")
    f = bt.function([x], getattr(pt.random, name)(x, 1.0, size=(2,), rng=generator()))
    with pytest.raises(ValueError) as error:
        f(np.zeros(3))
    assert str(error.value).startswith(f"{name}: ") or f", by `{name}`" in str(error.value), str(
        error.value
    )


# ---- copies of draws -------------------------------------------------------------------------------------------------


DRAWS = {
    "normal": lambda mu: pt.random.normal(mu, 1.0),
    "stream": lambda mu: pt.random.RandomStream(3).normal(mu, 1.0),
    "composed": lambda mu: pt.random.t(3, mu, 1.0),
    "two draws": lambda mu: (
        pt.random.RandomStream(3).multivariate_normal(pt.stack([mu, -mu]), np.eye(2)).sum()
    ),
    "in a loop": lambda mu: bt.scan(
        lambda s: s + pt.random.normal(mu, 1.0), outputs_info=[mu], n_steps=3
    )[0][-1],
}


@pytest.mark.parametrize("name", DRAWS)
def test_copies_of_draws_advance_their_generator(name):
    """The default update of a hidden generator is the state after the copy of the draw, where that is what is computed."""
    mu, at = pt.dscalar("mu"), pt.constant(0.5, dtype="float64")
    x = DRAWS[name](mu)
    nu = pt.dscalar("nu")
    copies = [
        bt.clone_replace(x, {mu: at}),
        bt.graph_replace(x, {mu: nu}),
        bt.clone_replace(pt.exp(x) + x, {mu: nu * 2}),
    ]
    for y in copies:
        f = bt.function([nu], y, on_unused_input="ignore")
        assert len({float(f(0.1)) for _ in range(4)}) == 4
    (rng,) = [leaf for leaf in bt.graph.traversal.graph_inputs([x]) if leaf is not mu]
    _, _, (_, updates, _, _) = rebuild_collect_shared(x, [nu], replace={mu: nu})
    assert list(updates) == [rng]


@pytest.mark.parametrize("name", [each for each in DRAWS if each != "in a loop"])
def test_batches_of_draws_advance_their_generator(name):
    mu, many = pt.dscalar("mu"), pt.dvector("many")
    f = bt.function([many], bt.vectorize_graph(DRAWS[name](mu), {mu: many}))
    draws = [f([0.1, 0.2]) for _ in range(3)]
    assert len({float(each) for draw in draws for each in draw}) == 6


def test_type_checkers_know_the_names_of_all_records():
    from bitale.tensor.random import basic

    declared = set(inspect.get_annotations(basic)) - {"METHODS"}
    by_hand = {"gamma", "integers", "multivariate_normal"}
    records = {record.name for record in _core.distributions()}
    assert declared == records - by_hand | {"nbinom"}
    assert set(pt.random.__all__) >= records

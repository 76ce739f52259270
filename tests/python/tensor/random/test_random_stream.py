"""The counter-based stream: its bits, their independence of the evaluation, and its distributions against SciPy."""

import copy
import pathlib
import pickle
import re
import sys

import numpy as np
import pytest

import bitale as bt
import bitale.tensor as pt
from bitale import _core

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3]))
from oracle import streams  # noqa: E402
from oracle.streams import block  # noqa: E402

stats = pytest.importorskip("scipy.stats")
special = pytest.importorskip("scipy.special")

LINKERS = ["vm", "jit", "c"]
N = 1_000_000


def draws(name, *parameters, size=N, seed=2026, mode=None):
    rng = bt.shared(bt.random.stream(seed))
    after, x = _core.random_draw(
        name,
        rng,
        [pt.as_tensor(one) for one in parameters],
        [pt.as_tensor(n) for n in np.atleast_1d(size)],
    )
    return bt.function([], x, updates={rng: after}, mode=mode)()


# ---- bits ------------------------------------------------------------------------------------------------------------


def test_the_block_function_is_threefry():
    """The test vectors of the paper's implementation (Random123, kat_vectors)."""
    vectors = [
        (0, 0, 0x6B20015999BA4EFE),
        (2**64 - 1, 2**64 - 1, 0x1CB996FCBB002BE7),
        (0x13198A2E03707344, 0x243F6A8885A308D3, 0xC4923A9C483DF7A0),
    ]
    for key, counter, expected in vectors:
        assert int(block(key, counter)) == expected


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("size", [(), (1,), (17,), (3, 5), (2, 3, 7), (0,), (4, 0)])
def test_elements_are_blocks_of_key_and_position(linker, size):
    rng = pt.random.rng("rng", "Threefry")
    after, x = rng.uniform(0, 1, size=size)
    later, y = after.uniform(0, 1, size=size)
    f = bt.function([rng], [x, y, later], mode=bt.Mode(linker))
    state = bt.random.Stream(0x0123456789ABCDEF, 7)
    first, second, end = f(state)
    for got, draw in ((first, 7), (second, 8)):
        assert np.array_equal(got, streams.unit(streams.words(state.key, draw, size)))
    assert end == bt.random.Stream(state.key, 9)


def test_bits_do_not_depend_on_sizes_slices_or_fusion():
    rng = pt.random.rng("rng", "Threefry")
    x = rng.normal(0, 1, size=1000)[1]
    state = bt.random.stream(3)
    with bt.config.change_flags(random__shared_state="ignore"):
        f = bt.function(
            [rng], [x, x[300:310], rng.normal(0, 1, size=(10, 100))[1].flatten(), 2 * x]
        )
    whole, part, flat, doubled = f(state)
    assert (
        np.array_equal(whole[300:310], part)
        and np.array_equal(whole, flat)
        and np.array_equal(2 * whole, doubled)
    )
    shorter = bt.function([rng], rng.normal(0, 1, size=10)[1])(state)
    assert np.array_equal(shorter, whole[:10])


@pytest.mark.parametrize(
    "name, parameters",
    [("normal", (1.0, 2.0)), ("gamma", (2.5, 1.0)), ("poisson", (30.0,)), ("poisson", (3.0,))],
)
def test_bits_do_not_depend_on_threads(name, parameters):
    rng = pt.random.rng("rng", "Threefry")
    x = getattr(rng, name)(
        *parameters[:1], **({"scale": parameters[1]} if len(parameters) > 1 else {}), size=200_001
    )[1]
    state = bt.random.stream(3)
    results = [bt.function([rng], [x, (x**2).sum()], threads=n)(state) for n in (1, 2, 3)]
    for values, total in results[1:]:
        assert np.array_equal(values, results[0][0]) and total == results[0][1]


def test_a_mean_of_draws_stores_no_array():
    rng = bt.shared(bt.random.stream(1))
    after, x = rng.normal(0, 1, size=N)
    f = bt.function([], (x**2).mean(), updates={rng: after})
    text = f.dprint("program", file="str")
    assert "f64[1000000]" not in text and "f64[?]" not in text
    assert abs(f() - 1) < 0.01


@pytest.mark.parametrize("linker", LINKERS)
def test_children(linker):
    rng = pt.random.rng("rng", "Threefry")
    after, children = rng.split(3)
    number = pt.lscalar("number")
    f = bt.function(
        [rng, number],
        [after, *children, rng.fold(number), children[1].uniform(size=5)[1]],
        mode=bt.Mode(linker),
    )
    state = bt.random.Stream(77, 4)
    got = f(state, 2)
    keys = [streams.child_key(77, 4, i) for i in range(3)]
    assert got[0] == bt.random.Stream(77, 5)
    assert got[1:4] == [bt.random.Stream(key) for key in keys] and got[4] == got[3]
    assert state.split(3) == (got[0], got[1:4]) and state.fold(2) == got[4]
    assert np.array_equal(got[5], streams.unit(streams.words(keys[1], 0, 5)))
    with pytest.raises(ValueError, match="negative number of a child"):
        f(state, -1)
    with pytest.raises(TypeError, match="expected a counter-based stream"):
        pt.random.rng("numpys").fold(1)


def test_values():
    state = bt.random.stream(5)
    assert state == bt.random.Stream(5, 0) and hash(state) == hash(bt.random.Stream(5))
    assert pickle.loads(pickle.dumps(state)) == state and copy.deepcopy(state) == state
    assert bt.random.stream() != bt.random.stream()
    assert bt.random.stream(np.random.SeedSequence(3)) == bt.random.stream(
        np.random.SeedSequence(3)
    )
    assert bt.random.stream([1, 2]) != bt.random.stream([1, 3])
    assert bt.random.stream(np.int64(5)) == state
    for bad in (1.5, "one"):
        with pytest.raises(TypeError, match="seed"):
            bt.random.stream(bad)
    for bad in (-1, 2**64):
        with pytest.raises(ValueError, match="from 0 up to"):
            bt.random.stream(bad)
    with pytest.raises(ValueError, match="drawn"):
        bt.random.Stream(1, 2**62)
    rng = bt.shared(state, name="rng")
    assert rng.type.bit_generator == "Threefry" and rng.get_value() == state
    rng.set_value(bt.random.stream(6))
    assert rng.get_value() == bt.random.stream(6)
    with pytest.raises(TypeError, match="bit generator Threefry, got one of PCG64"):
        rng.set_value(np.random.default_rng(1))


def test_random_stream_draws_from_streams():
    stream = pt.random.RandomStream(8)
    x, y = stream.normal(0, 1, size=3), stream.normal(0, 1, size=3)
    f = bt.function([], [x, y])
    first, second = f(), f()
    assert not np.array_equal(first[0], first[1]) and not np.array_equal(first[0], second[0])
    stream.seed(8)
    assert all(np.array_equal(a, b) for a, b in zip(f(), first))
    assert all(isinstance(rng.get_value(), bt.random.Stream) for rng, _ in stream.updates())


def test_checkpoints_and_pickles_continue():
    rng = bt.shared(bt.random.stream(1))
    after, x = rng.normal(0, 1, size=3)
    f = bt.function([], x, updates={rng: after})
    f()
    g = pickle.loads(pickle.dumps(f))
    assert np.array_equal(f(), g()) and np.array_equal(f(), g())


# ---- distributions ---------------------------------------------------------------------------------------------------

CONTINUOUS = {
    "random": ((), stats.uniform()),
    "standard_normal": ((), stats.norm()),
    "standard_exponential": ((), stats.expon()),
    "standard_cauchy": ((), stats.cauchy()),
    "uniform": ((-1.0, 3.0), stats.uniform(-1, 4)),
    "normal": ((1.0, 2.0), stats.norm(1, 2)),
    "lognormal": ((0.1, 0.5), stats.lognorm(0.5, scale=np.exp(0.1))),
    "exponential": ((2.0,), stats.expon(scale=2)),
    "standard_gamma": ((0.3,), stats.gamma(0.3)),
    "gamma": ((2.5, 3.0), stats.gamma(2.5, scale=3)),
    "gamma of one": ((1.0, 1.0), stats.gamma(1)),
    "gamma of many": ((400.0, 1.0), stats.gamma(400)),
    "beta": ((2.0, 3.0), stats.beta(2, 3)),
    "beta of small": ((0.2, 0.4), stats.beta(0.2, 0.4)),
    "chisquare": ((3.0,), stats.chi2(3)),
    "standard_t": ((9.0,), stats.t(9)),
    "pareto": ((9.0,), stats.lomax(9)),
    "weibull": ((1.7,), stats.weibull_min(1.7)),
    "power": ((2.5,), stats.powerlaw(2.5)),
    "laplace": ((1.0, 2.0), stats.laplace(1, 2)),
    "gumbel": ((1.0, 2.0), stats.gumbel_r(1, 2)),
    "logistic": ((1.0, 2.0), stats.logistic(1, 2)),
    "rayleigh": ((2.0,), stats.rayleigh(scale=2)),
    "wald": ((2.0, 3.0), stats.invgauss(2 / 3, scale=3)),
    "vonmises": ((0.5, 2.0), stats.vonmises(2)),
    "vonmises of little": ((0.5, 0.01), stats.vonmises(0.01)),
    "vonmises of much": ((0.5, 300.0), stats.vonmises(300)),
    "triangular": ((-1.0, 0.5, 2.0), stats.triang(0.5, -1, 3)),
}
DISCRETE = {
    "poisson": ((3.0,), stats.poisson(3)),
    "poisson below ten": ((9.99,), stats.poisson(9.99)),
    "poisson of many": ((30.0,), stats.poisson(30)),
    "poisson of a million": ((1e6,), stats.poisson(1e6)),
    "geometric": ((0.3,), stats.geom(0.3)),
    "geometric of few": ((1e-3,), stats.geom(1e-3)),
    "poisson just above ten": ((10.1,), stats.poisson(10.1)),
    "binomial": ((20, 0.3), stats.binom(20, 0.3)),
    "binomial of few successes": ((34, 0.3), stats.binom(34, 0.3)),
    "binomial of few failures": ((34, 0.7), stats.binom(34, 0.7)),
    "binomial of halves": ((21, 0.5), stats.binom(21, 0.5)),
    "binomial of a million": ((10**6, 0.02), stats.binom(10**6, 0.02)),
    "binomial of many": ((1000, 0.7), stats.binom(1000, 0.7)),
    "negative_binomial": ((2.5, 0.3), stats.nbinom(2.5, 0.3)),
    "hypergeometric": ((30, 50, 20), stats.hypergeom(80, 30, 20)),
    "integers": ((-5, 100), stats.randint(-5, 100)),
    "integers far apart": ((-3, 2**33), stats.randint(-3.0, 2.0**33)),
}


def test_every_distribution_is_tested():
    assert {name.split()[0] for name in (*CONTINUOUS, *DISCRETE)} == set(
        _core.random_distributions()
    )


def check_mean(sample, expected, moment):
    assert abs(sample.mean() - expected) < 5 * sample.std() / np.sqrt(len(sample)) + 1e-12, moment


def check_moments(x, law):
    """Compares the first four moments with a tolerance of five standard errors, which are estimated from the sample.
    The moments of angles are the means of the cosines and sines of their multiples."""
    if law.dist.name in ("cauchy", "halfcauchy"):  # they have no moments
        return
    if law.dist.name == "vonmises":
        (kappa,) = law.args
        for k in (1, 2, 3, 4):
            check_mean(np.cos(k * x), special.ive(k, kappa) / special.ive(0, kappa), ("cos", k))
            check_mean(np.sin(k * x), 0.0, ("sin", k))
        return
    mean, variance, skew, kurtosis = law.stats("mvsk")
    z = (np.asarray(x, dtype=float) - mean) / np.sqrt(variance)
    for power, expected in ((1, 0.0), (2, 1.0), (3, float(skew)), (4, float(kurtosis) + 3)):
        check_mean(z**power, expected, power)


def check_tails(x, law):
    for probability in (1e-2, 1e-4):
        for count, expected in (
            (np.count_nonzero(x < law.ppf(probability)), len(x) * law.cdf(law.ppf(probability))),
            (np.count_nonzero(x > law.isf(probability)), len(x) * law.sf(law.isf(probability))),
        ):
            if isinstance(law.dist, stats.rv_continuous):
                assert abs(count - expected) < 5 * np.sqrt(expected) + 1


@pytest.mark.parametrize("case", CONTINUOUS)
def test_continuous_distributions(case):
    parameters, law = CONTINUOUS[case]
    x = draws(case.split()[0], *parameters)
    assert x.dtype == np.float64 and np.isfinite(x).all()
    if case.startswith("vonmises"):  # compare on the circle, centered at 0
        assert np.abs(x).max() <= np.pi
        x = (x - 0.5 + np.pi) % (2 * np.pi) - np.pi
    assert stats.kstest(x, law.cdf).pvalue > 1e-3
    check_tails(x, law)
    check_moments(x, law)


@pytest.mark.parametrize("case", DISCRETE)
def test_discrete_distributions(case):
    parameters, law = DISCRETE[case]
    x = draws(case.split()[0], *parameters)
    assert x.dtype == np.int64
    check_moments(x, law)
    edges = np.unique(law.ppf(np.linspace(0, 1, 60)[1:-1]))
    bins = np.concatenate([[-np.inf], edges, [np.inf]])
    probabilities = np.diff(np.concatenate([[0.0], law.cdf(edges), [1.0]]))
    counts = np.histogram(x, np.concatenate([[-np.inf], edges + 0.5, [np.inf]]))[0]
    kept = probabilities > 0
    assert len(bins) == len(counts) + 1 and counts[~kept].sum() == 0
    assert (
        stats.chisquare(counts[kept], probabilities[kept] / probabilities.sum() * N).pvalue > 1e-3
    )


def test_integers_are_unbiased_under_frequent_rejection():
    """A quarter of the words is rejected; using them would favor small numbers."""
    for high in (2**62, np.full(N, 2**62)):
        x = draws("integers", np.int64(-(2**63)), high).view(np.uint64) ^ np.uint64(2**63)
        assert x.max() < 3 * 2**62
        assert (
            stats.chisquare(
                np.bincount((x // np.uint64(3 * 2**57)).astype(int), minlength=32)
            ).pvalue
            > 1e-3
        )


def test_short_rows_are_one_loop():
    rng = pt.random.rng("rng", "Threefry")
    mu = pt.dmatrix("mu")
    for x in (rng.normal(0, 1, size=(1000, 3))[1], rng.normal(mu, 1.0)[1]):
        f = bt.function([rng, mu], x, on_unused_input="ignore")
        assert f.dprint("program", file="str").count("for ") == 1
        values = np.zeros((1000, 3))
        assert np.array_equal(
            f(bt.random.stream(1), values).ravel(), draws("normal", 0.0, 1.0, size=3000, seed=1)
        )


def test_draws_without_logarithms_use_twice_as_many_lanes():
    """Words are computed in 32-bit halves, whereas logarithms have no instructions for two registers at once."""
    rng = pt.random.rng("rng", "Threefry")

    def lanes(x):
        return int(
            re.search(r"vector of (\d+)", bt.function([rng], x).dprint("program", file="str"))[1]
        )

    n = 100_000
    assert (
        lanes(rng.uniform(size=n)[1])
        == lanes(rng.integers(0, 9, size=n)[1])
        == 2 * lanes(rng.exponential(size=n)[1])
    )


def test_samplers_with_a_parameter_for_each_element():
    """The distribution function transforms all draws to uniform numbers."""
    rows = np.random.default_rng(5)
    shape, scale = rows.uniform(0.1, 5, N), rows.uniform(0.1, 3, N)
    assert (
        stats.kstest(
            stats.gamma.cdf(draws("gamma", shape, scale), shape, scale=scale), "uniform"
        ).pvalue
        > 1e-3
    )
    assert (
        stats.kstest(stats.norm.cdf(draws("normal", shape, scale), shape, scale), "uniform").pvalue
        > 1e-3
    )
    rate = rows.uniform(0, 25, N)
    x = draws("poisson", rate)
    between = stats.poisson.cdf(x - 1, rate) + rows.uniform(size=N) * stats.poisson.pmf(x, rate)
    assert stats.kstest(between, "uniform").pvalue > 1e-3
    n, p = rows.integers(0, 90, N), rows.uniform(0, 1, N)
    x = draws("binomial", n, p)
    between = stats.binom.cdf(x - 1, n, p) + rows.uniform(size=N) * stats.binom.pmf(x, n, p)
    assert stats.kstest(between, "uniform").pvalue > 1e-3


# Composed distributions: continuous ones are tested by their distribution function, integers by their frequencies.
COMPOSED = {
    "halfnormal": ((1.0, 2.0), stats.halfnorm(1, 2)),
    "pareto": ((9.0, 2.0), stats.pareto(9, scale=2)),
    "gumbel": ((1.0, 2.0), stats.gumbel_r(1, 2)),
    "cauchy": ((1.0, 2.0), stats.cauchy(1, 2)),
    "halfcauchy": ((1.0, 2.0), stats.halfcauchy(1, 2)),
    "invgamma": ((9.0, 2.0), stats.invgamma(9, scale=2)),
    "truncexpon": ((3.0, 1.0, 2.0), stats.truncexpon(3, 1, 2)),
    "truncated_normal": ((1.0, 2.0, 0.0, 6.0), stats.truncnorm(-0.5, 2.5, 1, 2)),
    "t": ((9.0, 1.0, 2.0), stats.t(9, 1, 2)),
    "gengamma": ((2.0, 3.0, 1.5), stats.gengamma(2 / 3, 3, scale=1.5)),
    "maxwell": ((2.0,), stats.maxwell(scale=2)),
    "gompertz": ((0.5, 2.0), stats.gompertz(0.5, scale=2)),
    "loguniform": ((0.5, 2.0), stats.loguniform(0.5, 2)),
    "moyal": ((1.0, 2.0), stats.moyal(1, 2)),
    "bernoulli": ((0.3,), stats.bernoulli(0.3)),
    "betabinom": ((20, 2.0, 3.0), stats.betabinom(20, 2, 3)),
}


def composed(name, *parameters, size=N, seed=2026):
    rng = bt.shared(bt.random.stream(seed))
    return bt.function([], getattr(rng, name)(*parameters, size=size)[1])()


@pytest.mark.parametrize("name", COMPOSED)
def test_composed_distributions(name):
    parameters, law = COMPOSED[name]
    x = composed(name, *parameters)
    check_moments(x, law)
    if isinstance(law.dist, stats.rv_continuous):
        assert np.isfinite(x).all() and stats.kstest(x, law.cdf).pvalue > 1e-3
        check_tails(x, law)
    else:
        values = np.arange(int(law.support()[0]), int(law.support()[1]) + 1)
        assert (
            stats.chisquare(np.bincount(x, minlength=len(values)), law.pmf(values) * N).pvalue
            > 1e-3
        )


def test_distributions_of_vectors():
    """A million draws each: dirichlet by its marginals, counts by their frequencies, normal vectors after whitening."""
    p = np.array([0.2, 0.5, 0.3])
    alpha = np.array([0.5, 2.0, 1.5])
    x = composed("dirichlet", alpha)
    assert np.allclose(x.sum(-1), 1)
    for k, a in enumerate(alpha):
        law = stats.beta(a, alpha.sum() - a)
        assert stats.kstest(x[:, k], law.cdf).pvalue > 1e-3
        check_moments(x[:, k], law)
    np.testing.assert_allclose(np.cov(x.T), stats.dirichlet(alpha).cov(), atol=5e-4)
    x = composed("multinomial", 3, p)
    seen, counts = np.unique(x, axis=0, return_counts=True)
    assert (
        len(seen) == 10
        and stats.chisquare(counts, stats.multinomial(3, p).pmf(seen) * N).pvalue > 1e-3
    )
    assert stats.chisquare(np.bincount(composed("categorical", p)), p * N).pvalue > 1e-3
    cov = np.array([[2.0, 0.5], [0.5, 1.0]])
    z = np.linalg.solve(
        np.linalg.cholesky(cov),
        composed("multivariate_normal", np.array([1.0, 2.0]), cov).T - [[1.0], [2.0]],
    )
    assert stats.kstest(z.ravel(), "norm").pvalue > 1e-3
    assert abs((z[0] * z[1]).mean()) < 5 / np.sqrt(N) and abs(
        (z[0] ** 2 * z[1] ** 2).mean() - 1
    ) < 5 * 3 / np.sqrt(N)


def test_permutations_and_choices_are_equally_likely():
    x = composed("permutation", 4, size=N)
    counts = np.unique(x, axis=0, return_counts=True)[1]
    assert len(counts) == 24 and stats.chisquare(counts).pvalue > 1e-3
    x = bt.function([], bt.shared(bt.random.stream(3)).choice(5, size=N)[1])()
    assert stats.chisquare(np.bincount(x)).pvalue > 1e-3
    rng, draws_of_two = pt.random.rng("rng", "Threefry"), []
    f = bt.function([rng], rng.choice(5, size=2, replace=False)[1])
    state = bt.random.stream(4)
    _, children = state.split(20_000)
    draws_of_two = np.array([f(child) for child in children])
    assert (draws_of_two[:, 0] != draws_of_two[:, 1]).all()
    assert stats.chisquare(np.unique(draws_of_two, axis=0, return_counts=True)[1]).pvalue > 1e-3


@pytest.mark.parametrize(
    "lower, upper",
    [(-np.inf, np.inf), (-1.0, 2.0), (3.0, np.inf), (-np.inf, -6.0), (8.0, 8.1), (-0.1, 30.0)],
)
def test_truncated_normal(lower, upper):
    rng = pt.random.rng("rng", "Threefry")
    x = bt.function(
        [rng], rng.truncated_normal(1.0, 2.0, lower=1 + 2 * lower, upper=1 + 2 * upper, size=N)[1]
    )(bt.random.stream(4))
    z = (x - 1) / 2
    assert x.min() >= 1 + 2 * lower and x.max() <= 1 + 2 * upper
    assert stats.kstest(z, stats.truncnorm(lower, upper).cdf).pvalue > 1e-3


def test_infinite_limits_of_truncated_normals():
    """No intermediate value is infinite; if both limits are the same infinity, the result is this infinity."""
    rng = pt.random.rng("rng", "Threefry")
    for given in (np.inf, -np.inf):
        x = rng.truncated_normal(1.0, 2.0, lower=given, upper=given)[1]
        assert bt.function([rng], x)(bt.random.stream(4)) == given
    for low, high in ((0.0, np.inf), (-np.inf, 2.0), (-np.inf, np.inf)):
        x = rng.truncated_normal(1.0, 2.0, lower=low, upper=high, size=50)[1]
        with bt.config.change_flags(DebugMode__check_finite=True):
            drawn = bt.function([rng], x, mode="DebugMode")(bt.random.stream(4))
        assert (low <= drawn).all() and (drawn <= high).all()


def test_words_draws_and_elements_are_independent():
    """Tests neighbors, draws from successive states, draws of related keys, and the bits of words for correlations."""
    x = draws("random", size=N)
    pairs = [(x[:-1], x[1:]), (x[:-64], x[64:])]
    rng = pt.random.rng("rng", "Threefry")
    after, first = rng.uniform(size=N)
    second = after.uniform(size=N)[1]
    child = rng.fold(0).uniform(size=N)[1]
    with bt.config.change_flags(random__shared_state="ignore"):
        f = bt.function([rng], [first, second, child])
    a, b, c = f(bt.random.stream(1))
    pairs += [
        (a, b),
        (a, c),
        (b, c),
        (a, f(bt.random.stream(2))[0]),
        (a, f(bt.random.Stream(1 << 32))[0]),
    ]
    for u, v in pairs:
        counts = np.histogram2d(u, v, bins=16, range=[[0, 1], [0, 1]])[0].ravel()
        assert stats.chisquare(counts).pvalue > 1e-4
    bits = draws("integers", -(2**63), 2**63 - 1).view(np.uint64)
    ones = np.array([np.count_nonzero(bits >> np.uint64(i) & np.uint64(1)) for i in range(64)])
    assert np.all(np.abs(ones - N / 2) < 5 * np.sqrt(N) / 2)


def test_derivatives_with_respect_to_parameters():
    """A draw computed by a formula without branches on its parameters is differentiated like the formula."""
    rng = bt.shared(bt.random.stream(1))
    mu, sigma = pt.dscalar("mu"), pt.dscalar("sigma")
    x = rng.normal(mu, sigma, size=5)[1]
    by_mu, by_sigma, z = bt.function(
        [mu, sigma], [*bt.grad(x.sum(), [mu, sigma]), (x - mu) / sigma]
    )(1.0, 2.0)
    assert by_mu == 5 and np.isclose(by_sigma, z.sum())
    shape = pt.dscalar("shape")
    with pytest.raises(bt.NullTypeGradError):
        bt.grad(rng.gamma(shape, scale=1.0, size=3)[1].sum(), shape)


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize(
    "name, parameters, message",
    [
        ("normal", (0.0, -1.0), "scale < 0: normal with loc = 0.0, scale = -1.0"),
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
        ("uniform", (0.0, -1.0), "high < low"),
        ("geometric", (0.0,), "p <= 0"),
        ("triangular", (1.0, 0.0, 2.0), "left > mode"),
        ("negative_binomial", (-1.0, 0.5), "n <= 0"),
        ("hypergeometric", (3, 3, 9), "nsample"),
        ("vonmises", (0.0, -1.0), "kappa < 0"),
        ("lognormal", (0.0, -1.0), "sigma < 0"),
    ],
)
def test_parameters_outside_their_domain(name, parameters, message, linker):
    rng = bt.shared(bt.random.stream(1))
    symbols = [pt.as_tensor(np.asarray(one)).type() for one in parameters]
    after, x = getattr(rng, name)(*symbols)
    f = bt.function(symbols, x, updates={rng: after}, mode=bt.Mode(linker))
    with pytest.raises(ValueError, match=message):
        f(*[np.asarray(one) for one in parameters])
    after, x = getattr(rng, name)(*parameters)  # known when the graph is built
    with pytest.raises(ValueError, match=message):
        bt.function([], x, updates={rng: after}, mode=bt.Mode(linker))()
    assert rng.get_value() == bt.random.stream(1)  # nothing was drawn


def test_domains_hold_for_nan_and_zero_as_in_numpy():
    assert (
        np.isnan(draws("normal", np.nan, 1.0, size=3)).all()
        and (draws("normal", 2.0, 0.0, size=3) == 2).all()
    )
    assert (draws("gamma", 0.0, 1.0, size=3) == 0).all() and np.isnan(
        draws("gamma", np.nan, 1.0, size=3)
    ).all()
    assert (draws("poisson", 0.0, size=3) == 0).all() and (
        draws("binomial", 0, 0.5, size=3) == 0
    ).all()
    assert (draws("geometric", 1.0, size=3) == 1).all() and (
        draws("weibull", 0.0, size=3) == 0
    ).all()


DOMAINS = {  # parameters: f for floats, i for integers
    "beta": "a:f b:f",
    "binomial": "n:i p:f",
    "chisquare": "df:f",
    "exponential": "scale:f",
    "gamma": "shape:f scale:f",
    "geometric": "p:f",
    "gumbel": "loc:f scale:f",
    "hypergeometric": "ngood:i nbad:i nsample:i",
    "integers": "low:i high:i",
    "laplace": "loc:f scale:f",
    "logistic": "loc:f scale:f",
    "lognormal": "mean:f sigma:f",
    "negative_binomial": "n:f p:f",
    "normal": "loc:f scale:f",
    "pareto": "a:f",
    "poisson": "lam:f",
    "power": "a:f",
    "random": "",
    "rayleigh": "scale:f",
    "standard_cauchy": "",
    "standard_exponential": "",
    "standard_gamma": "shape:f",
    "standard_normal": "",
    "standard_t": "df:f",
    "triangular": "left:f mode:f right:f",
    "uniform": "low:f high:f",
    "vonmises": "mu:f kappa:f",
    "wald": "mean:f scale:f",
    "weibull": "a:f",
}
ORDINARY = {"low": -1.0, "left": -1.0, "mode": 0.5, "p": 0.3}
UNUSUAL = {
    "f": [np.nan, -np.nan, np.inf, -np.inf, -1.0, 0.0, 5e-324, 1e-8, 1e300],
    "i": [-(2**63), -1, 0, 1, 2**63 - 1],
}


def outcome(f, values):
    try:
        return f(*values)
    except ValueError as error:
        return str(error).splitlines()[0].split(": ")[-2:]


@pytest.mark.parametrize("kind", ["PCG64", "Threefry"])
@pytest.mark.parametrize("name", _core.random_distributions())
def test_all_linkers_treat_unusual_parameters_alike(name, kind):
    """All linkers raise the same error or return the same values; they reject what NumPy rejects and otherwise at most
    nan."""
    signature = [each.split(":") for each in DOMAINS[name].split()]
    rng = pt.random.rng("rng", kind)
    symbols = [pt.dvector(p) if letter == "f" else pt.lvector(p) for p, letter in signature]
    x = _core.random_draw(name, rng, symbols, [pt.as_tensor(4)] if not symbols else None)[1]
    functions = [
        bt.function([rng, *symbols], x, mode=bt.Mode(linker))
        for linker in (LINKERS if kind == "Threefry" else LINKERS[:2])
    ]
    usual = [
        ORDINARY.get(p, 3.0 + k) if letter == "f" else 3 + k
        for k, (p, letter) in enumerate(signature)
    ]
    for index, (_, letter) in enumerate(signature):
        for value in UNUSUAL[letter]:
            values = [np.full(4, value if k == index else one) for k, one in enumerate(usual)]
            state = np.random.default_rng(5) if kind == "PCG64" else bt.random.stream(5)
            expected, *others = (outcome(f, [state, *values]) for f in functions)
            try:
                reference = getattr(np.random.default_rng(5), name)(*values)
            except (ValueError, OverflowError):
                reference = None
            if isinstance(expected, list):
                # NumPy returns nan for nan in some distributions
                assert reference is None or np.isnan(value), (index, value, expected)
            else:
                assert reference is not None, (index, value, expected)
            if reference is not None and not isinstance(expected, list) and kind == "PCG64":
                assert np.array_equal(expected, reference, equal_nan=True), (index, value)
            for other in others:
                if isinstance(expected, list):
                    assert other == expected, (index, value)
                else:
                    np.testing.assert_allclose(
                        other, expected, rtol=1e-9, err_msg=str((index, value))
                    )


# ---- uniqueness of draws per state -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["PCG64", "Threefry"])
def test_errors_of_two_draws_from_one_state_name_both_lines(kind):
    rng = pt.random.rng("rng", kind)
    after, x = rng.normal(size=3)
    y = rng.uniform(size=3)[1]
    with pytest.raises(
        ValueError, match="two different draws begin from one state of the generator `rng`"
    ) as raised:
        bt.function([rng], [x, y])
    lines = test_errors_of_two_draws_from_one_state_name_both_lines.__code__.co_firstlineno
    assert f"test_random_stream.py:{lines + 3}" in str(raised.value)
    assert f"test_random_stream.py:{lines + 4}" in str(raised.value)
    bt.function([rng], [x, after.uniform(size=3)[1]])  # the draws use different states
    bt.function([rng], [x, rng.normal(size=3)[1]])  # equal draws are merged
    bt.function([rng], y)  # the other draw is unused
    with bt.config.change_flags(random__shared_state="ignore"):
        bt.function([rng], [x, y])
    with (
        bt.config.change_flags(random__shared_state="warn"),
        pytest.warns(UserWarning, match="begin from one state"),
    ):
        bt.function([rng], [x, y])


def test_children_count_as_one_draw():
    rng = pt.random.rng("rng", "Threefry")
    after, children = rng.split(2)
    bt.function([rng], [after, *children, rng.fold(7)])
    with pytest.raises(ValueError, match="two different draws"):
        bt.function([rng], [children[0], rng.normal(size=2)[1]])


def test_draws_of_one_state_within_loops_and_graphs():
    rng = pt.random.rng("rng", "Threefry")
    inner = pt.random.rng("inner", "Threefry")
    both = bt.compile.builders.OpFromGraph(
        [inner], [inner.normal()[0], inner.normal()[1] + inner.uniform()[1]]
    )
    with pytest.raises(ValueError, match="two different draws"):
        bt.function([rng], both(rng))


def test_unused_draws_are_eliminated_without_changing_others():
    for kind, state in (("PCG64", np.random.default_rng(3)), ("Threefry", bt.random.stream(3))):
        rng = pt.random.rng("rng", kind)
        first, x = rng.normal(size=3)
        second, y = first.normal(size=4)
        z = second.normal(size=5)[1]
        f, g = bt.function([rng], z), bt.function([rng], [z, x, y])
        assert np.array_equal(f(state), g(state)[0])
        h = bt.function([rng], second)
        if kind == "Threefry":  # only the counter advances for unused draws
            assert "f64" not in h.dprint("program", file="str")
            assert "f64[4]" not in f.dprint("program", file="str")


# ---- user-defined distributions --------------------------------------------------------------------------------------


@pt.random.from_quantile
def gompertz(u, eta, b):
    """Gompertz distribution with shape eta and rate b."""
    return pt.log1p(-pt.log1p(-u) / eta) / b


@pt.random.distribution
def mixture(draws, p, far=5.0, size=None):
    return draws.normal(0, 1, size=size) + far * draws.bernoulli(p, size=size)


class Zipf(pt.random.RandomVariable):
    name, signature, dtype = "zipf", "()->()", "int64"

    def rng_fn(self, rng, a, size):
        return rng.zipf(a, size)


class Simplex(pt.random.RandomVariable):
    name, signature = "simplex", "(k)->(k)"

    def rng_fn(self, rng, alpha, size):
        return rng.dirichlet(alpha, size)


@pytest.mark.parametrize("kind", ["PCG64", "Threefry"])
def test_a_distribution_from_its_quantiles(kind):
    rng = pt.random.rng("rng", kind)
    eta = pt.dscalar("eta")
    after, x = gompertz(eta, 2.0, size=100_000, rng=rng, return_next_rng=True)
    f = bt.function([rng, eta], [x, after, bt.grad(x.sum(), eta)])
    state = np.random.default_rng(1) if kind == "PCG64" else bt.random.stream(1)
    drawn, end, slope = f(state, 0.5)
    assert stats.kstest(drawn, stats.gompertz(0.5, scale=0.5).cdf).pvalue > 1e-3
    assert np.isclose(
        slope, (f(state, 0.5 + 1e-6)[0].sum() - f(state, 0.5 - 1e-6)[0].sum()) / 2e-6, rtol=1e-5
    )
    assert gompertz([0.5, 1.0], 2.0, rng=rng).type.shape == (2,)
    for shape, size in (((3,), 2), ((3,), 1), ((3, 1), 3)):
        with pytest.raises(ValueError, match="length|dimensions"):
            gompertz(np.ones(shape), 2.0, size=size, rng=rng)
    if kind == "Threefry":
        assert "f64[100000]" not in bt.function(
            [rng], gompertz(0.5, 2.0, size=100_000, rng=rng).sum()
        ).dprint("program", file="str")


def test_a_composition():
    rng = bt.shared(bt.random.stream(1))
    after, x = mixture(0.25, size=(200, 500), rng=rng, return_next_rng=True, name="x")
    f = bt.function([], x, updates={rng: after})
    first, second = f(), f()
    assert x.name == "x" and first.shape == (200, 500) and not np.array_equal(first, second)
    assert abs(first.mean() - 1.25) < 0.05 and rng.get_value().drawn == 4
    alone = bt.function(
        [], mixture(0.5, far=3.0, size=4)
    )  # a separate generator with a default update
    assert not np.array_equal(alone(), alone())
    with pytest.raises(TypeError, match="size"):
        pt.random.distribution(lambda draws: draws.normal())


@pytest.mark.parametrize("kind", ["PCG64", "MT19937", "Threefry"])
def test_a_distribution_from_python(kind):
    rng = pt.random.rng("rng", kind)
    after, x = Zipf()(3.0, size=1000, rng=rng, return_next_rng=True)
    y = Simplex()(np.array([1.0, 2.0, 3.0]), size=(2, 3), rng=after)
    f = bt.function([rng], [x, y, after])
    state = (
        bt.random.stream(4)
        if kind == "Threefry"
        else np.random.Generator(getattr(np.random, kind)(4))
    )
    drawn, shares, end = f(state)
    assert drawn.dtype == np.int64 and drawn.shape == (1000,) and np.array_equal(f(state)[0], drawn)
    assert shares.shape == (2, 3, 3) and np.allclose(shares.sum(-1), 1)
    if kind == "Threefry":
        assert end == bt.random.Stream(4, 1)
    else:
        same = np.random.Generator(getattr(np.random, kind)(4))
        assert np.array_equal(same.zipf(3.0, 1000), drawn)
        np.testing.assert_equal(end.bit_generator.state, same.bit_generator.state)
    with pytest.raises(ValueError, match="batch dimensions"):
        Zipf()(np.ones((2, 3)), size=3, rng=rng)
    with pytest.raises(TypeError, match="expected 1 parameters, got 2"):
        Zipf()(1.0, 2.0, rng=rng)
    with pytest.raises(ValueError, match="two different draws"):
        bt.function([rng], [x, rng.normal(size=2)[1]])


# ---- loops -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("kind", ["PCG64", "Threefry"])
def test_a_loop_carries_a_state(kind, linker):
    rng = pt.random.rng("rng", kind)

    def step(x, state):
        state, jump = state.normal(0, 1, size=3)
        state, count = state.poisson(4.0)
        return [0.5 * x + jump * count, state]

    (path, last), _ = bt.scan(step, outputs_info=[pt.constant(np.zeros(3)), rng], n_steps=50)
    f = bt.function([rng], [path, last], mode=bt.Mode(linker))
    state = np.random.default_rng(1) if kind == "PCG64" else bt.random.stream(1)
    got, end = f(state)
    if kind == "PCG64":
        reference, x, expected = np.random.default_rng(1), np.zeros(3), []
        for _ in range(50):
            x = 0.5 * x + reference.normal(0, 1, 3) * reference.poisson(4.0)
            expected.append(x)
        np.testing.assert_allclose(got, expected, rtol=1e-12)
        np.testing.assert_equal(end.bit_generator.state, reference.bit_generator.state)
    else:
        unrolled, x, values = rng, pt.constant(np.zeros(3)), []
        for _ in range(50):
            x, unrolled = step(x, unrolled)
            values.append(x)
        np.testing.assert_allclose(got, bt.function([rng], pt.stack(values))(state), rtol=1e-12)
        assert end == bt.random.Stream(1, 100)
        if linker == "jit":
            assert "perform" not in f.dprint("program", file="str")


# ---- partial evaluation of draws -------------------------------------------------------------------------------------


def test_only_elements_that_are_read_are_drawn():
    """A slice, transpose, shape or element of a huge draw computes only the elements that it reads, with the same
    bits."""
    rng = pt.random.rng("rng", "Threefry")
    huge = rng.normal(0, 1, size=(10**6, 10**6))[1]
    state = bt.random.stream(3)
    parts = [huge[5:7, 10:13], huge.T[10:13, 5:7], huge[6, 11], huge.shape]
    part, transposed, one, shape = [
        bt.function([rng], each, on_unused_input="ignore")(state) for each in parts
    ]
    assert part.shape == (2, 3) and np.array_equal(transposed, part.T) and one == part[1, 1]
    assert list(shape) == [10**6, 10**6]
    counters = np.arange(5, 7, dtype=np.uint64)[:, None] * np.uint64(10**6) + np.arange(
        10, 13, dtype=np.uint64
    )
    u = streams.open_unit(block(block(3, 0), counters))
    np.testing.assert_allclose(part, stats.norm.ppf(u), rtol=1e-13)
    picked = bt.function([rng], huge[pt.constant([3, 999_999]), pt.constant([4, 999_999])])(state)
    last = streams.open_unit(
        block(block(3, 0), np.array([3 * 10**6 + 4, 10**12 - 1], dtype=np.uint64))
    )
    np.testing.assert_allclose(picked, stats.norm.ppf(last), rtol=1e-13)
    text = bt.function([rng], huge[5:7, 10:13].T).dprint("program", file="str")
    assert "1000000]" not in text


@pytest.mark.parametrize("kind", ["PCG64", "Threefry"])
def test_a_shape_draws_nothing(kind):
    rng = pt.random.rng("rng", kind)
    n = pt.lscalar("n")
    x = rng.gamma(2.0, scale=1.0, size=(n, 3))[1]
    f = bt.function([rng, n], [x.shape[0], x[1:].shape[0], x.T.shape[1]], on_unused_input="ignore")
    assert not any("Random" in str(node.op) for node in f.maker.fgraph.toposort())
    assert [
        int(each)
        for each in f(np.random.default_rng(1) if kind == "PCG64" else bt.random.stream(1), 7)
    ] == [7, 6, 7]


@pytest.mark.parametrize("kind", ["PCG64", "Threefry"])
def test_vectorize_draws_independently_for_each_element(kind):
    """Also if the parameters of the batch are equal; the state afterwards is that of one draw of the whole batch."""
    rng, mu = pt.random.rng("rng", kind), pt.dscalar("mu")
    after, x = rng.normal(mu, 1.0, size=50_000)
    batch = pt.dvector("batch")
    drawn, state_after = bt.graph.vectorize_graph([x, after], {mu: batch})
    state = np.random.default_rng(1) if kind == "PCG64" else bt.random.stream(1)
    rows, end = bt.function([rng, batch], [drawn, state_after])(state, np.array([1.0, 1.0, 5.0]))
    assert rows.shape == (3, 50_000) and not np.array_equal(rows[0], rows[1])
    assert abs(np.corrcoef(rows)[np.triu_indices(3, 1)]).max() < 0.02
    np.testing.assert_allclose(rows.mean(axis=1), [1, 1, 5], atol=0.03)
    if kind == "Threefry":
        assert end == bt.random.Stream(1, 1)
        assert np.array_equal(rows[0], bt.function([rng, mu], x)(state, 1.0))


def test_parameters_known_to_be_valid_are_not_checked():
    rng, sigma = pt.random.rng("rng", "Threefry"), pt.dscalar("sigma")
    for scale, is_checked in ((2.0, False), (sigma, True)):
        f = bt.function([rng, sigma], rng.normal(0, scale, size=3)[1], on_unused_input="ignore")
        assert (
            any("RandomDomain" in str(node.op) for node in f.maker.fgraph.toposort()) == is_checked
        ), scale


@pytest.mark.parametrize(
    "name, rest",
    [("normal", (2.0,)), ("gumbel", (2.0,)), ("exponential", ()), ("truncexpon", (0.0, 1.0))],
)
def test_tangents_of_draws(name, rest):
    rng, p, t = pt.random.rng("rng", "Threefry"), pt.dscalar("p"), pt.dscalar("t")
    cost = pt.sum(pt.sin(p * getattr(rng, name)(p, *rest, size=4)[1]))
    f = bt.function([rng, p, t], [bt.pushforward([cost], [p], [t])[0], t * bt.grad(cost, p)])
    forward, backward = f(bt.random.stream(1), 0.7, 3.0)
    assert np.isclose(forward, backward, rtol=1e-12) and forward != 0
    numpys = pt.random.rng("rng")
    with pytest.raises(Exception, match="no derivative"):
        bt.pushforward([numpys.normal(p, 1.0)[1]], [p], [t])


def test_parameters_are_checked_for_draws_of_length_0():
    # As NumPy does. The place of the parameter in the draw was computed by a division by its length.
    n, a = pt.lscalar("n"), pt.dscalar("a")
    rng = bt.shared(np.random.default_rng(0), "rng")
    f = bt.function([n, a], pt.random.gamma(a, 1.0, size=(n,), rng=rng))
    assert f(0, 2.0).shape == (0,)
    with pytest.raises(ValueError, match="gamma"):
        f(0, -1.0)


@pytest.mark.parametrize("kind", ["PCG64", "Threefry"])
@pytest.mark.parametrize(
    ("name", "values", "smooth"),
    [
        ("t", (5.0, 0.5, 2.0), (1, 2)),
        ("invgamma", (3.0, 7.0), (1,)),
        ("gengamma", (2.0, 3.0, 1.5), (2,)),
    ],
)
def test_parameters_on_which_no_inner_draw_depends_have_derivatives_beside_others_that_have_none(
    name, values, smooth, kind
):
    rng = pt.random.rng("rng", kind)
    state = bt.random.stream(1) if kind == "Threefry" else np.random.default_rng(1)
    parameters = pt.dscalars(*"abc"[: len(values)])
    total = getattr(pt.random, name)(*parameters, size=5, rng=rng).sum()
    f = bt.function([rng, *parameters], total)
    for k, parameter in enumerate(parameters):
        if k not in smooth:
            for derivative in (
                lambda p=parameter: bt.grad(total, p),
                lambda p=parameter: bt.pushforward([total], [p], [p]),
            ):
                with pytest.raises(bt.gradient.NullTypeGradError, match="no derivative"):
                    derivative()
            continue
        step = 1e-5 * np.eye(len(values))[k]
        expected = (f(state, *(values + step)) - f(state, *(values - step))) / 2e-5
        found = bt.function(
            [rng, *parameters],
            [bt.grad(total, parameter), *bt.pushforward([total], [parameter], [pt.constant(1.0)])],
        )
        assert np.allclose(found(state, *values), expected, rtol=1e-7)


def test_a_draw_that_chooses_by_its_parameters_has_no_derivative():
    """The derivative of the root that Michael, Schucany and Haas choose has another mean than that of the variable."""
    rng, mean, scale = pt.random.rng("rng", "Threefry"), pt.dscalar("mean"), pt.dscalar("scale")
    x = pt.random.wald(mean, scale, size=3, rng=rng)
    for parameter in (mean, scale):
        with pytest.raises(bt.gradient.NullTypeGradError):
            bt.grad(x.sum(), parameter)
    mu, kappa = pt.dscalar("mu"), pt.dscalar("kappa")
    angle = pt.random.vonmises(mu, kappa, size=3, rng=rng)
    assert (
        bt.function([rng, mu, kappa], bt.grad(angle.sum(), mu))(bt.random.stream(1), 0.5, 2.0) == 3
    )
    with pytest.raises(bt.gradient.NullTypeGradError, match="no derivative"):
        bt.grad(angle.sum(), kappa)

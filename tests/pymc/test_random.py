"""Random variables of PyTensor and PyMC run natively, with the draws of PyTensor's Python linker, and leave generators
in the same states."""

from __future__ import annotations

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from scipy import sparse

import bitale.pytensor  # noqa: F401
from compare import ORACLE

COVARIANCE = np.array([[1.0, 0.3, 0.1], [0.3, 2.0, 0.2], [0.1, 0.2, 0.5]])
loc, scale = np.array([0.3, -1.0, 2.0]), np.array([[0.5], [1.5]])

# Distributions of NumPy: the same bits.
NUMPY = {
    "uniform": lambda **k: pt.random.uniform(loc, loc + 2, **k),
    "triangular": lambda **k: pt.random.triangular(-1.0, loc / 4, 3.0, **k),
    "beta": lambda **k: pt.random.beta(2.0, scale, **k),
    "normal": lambda **k: pt.random.normal(loc, scale, **k),
    "normal of one element": lambda **k: pt.random.normal(loc[:1], 2.0, **k),
    "lognormal": lambda **k: pt.random.lognormal(loc, scale, **k),
    "gamma": lambda **k: pt.random.gamma(scale, scale=2.0, **k),
    "exponential": lambda **k: pt.random.exponential(scale, **k),
    "weibull": lambda **k: pt.random.weibull(scale, **k),
    "logistic": lambda **k: pt.random.logistic(loc, scale, **k),
    "vonmises": lambda **k: pt.random.vonmises(loc, scale, **k),
    "poisson": lambda **k: pt.random.poisson([0.3, 3.0, 300.0], **k),
    "geometric": lambda **k: pt.random.geometric([0.1, 0.5, 1.0], **k),
    "hypergeometric": lambda **k: pt.random.hypergeometric(20, [10, 30, 5], 7, **k),
    "wald": lambda **k: pt.random.wald(scale, 2.0, **k),
    "laplace": lambda **k: pt.random.laplace(loc, scale, **k),
    "binomial": lambda **k: pt.random.binomial([3, 200, 10], 0.4, **k),
    "negative binomial": lambda **k: pt.random.nbinom(scale, 0.3, **k),
    "bernoulli": lambda **k: pt.random.bernoulli([0.2, 0.7, 1.0], **k),
    "integers": lambda **k: pt.random.integers(0, [5, 100, 2**40], **k),
    "dirichlet": lambda **k: pt.random.dirichlet([0.5, 2.0, 7.0], **k),
    "batch of dirichlet": lambda **k: pt.random.dirichlet(
        np.array([[0.5, 2.0, 7.0], [1.0, 1.0, 1.0]]), **k
    ),
    "multinomial": lambda **k: pt.random.multinomial(20, [0.2, 0.5, 0.3], **k),
    "batch of multinomial": lambda **k: pt.random.multinomial([20, 5], [0.2, 0.5, 0.3], **k),
    "categorical": lambda **k: pt.random.categorical([0.2, 0.5, 0.3], **k),
    "betabinom": lambda **k: pt.random.betabinom(20, 2.0, 3.0, **k),
}
# Distributions composed of NumPy's: the last bits of functions may differ. (If PyTensor stores a literal as float32,
# SciPy computes in float32 but Bitale in float64; therefore the parameters of formulas are float64 here.)
COMPOSED = {
    "halfnormal": lambda **k: pt.random.halfnormal(loc, scale, **k),
    "pareto": lambda **k: pt.random.pareto(2.0, scale, **k),
    "gumbel": lambda **k: pt.random.gumbel(loc, scale, **k),
    "cauchy": lambda **k: pt.random.cauchy(loc, scale, **k),
    "halfcauchy": lambda **k: pt.random.halfcauchy(loc, scale, **k),
    "invgamma": lambda **k: pt.random.invgamma(3.0, scale, **k),
    "truncexpon": lambda **k: pt.random.truncexpon(np.float64(2), loc, scale, **k),
    "t": lambda **k: pt.random.t(4.0, loc, scale, **k),
    "gengamma": lambda **k: pt.random.gengamma(np.float64(2), np.float64(1.5), scale, **k),
    "multivariate normal": lambda **k: pt.random.multivariate_normal(loc, COVARIANCE, **k),
    "multivariate normal by svd": lambda **k: pt.random.multivariate_normal(
        loc, COVARIANCE, method="svd", **k
    ),
    "batch of multivariate normal": lambda **k: pt.random.multivariate_normal(
        np.stack([loc, -loc]), COVARIANCE, **k
    ),
}
SIZES = {
    "normal": (2, 3),
    "gamma": (2, 1),
    "poisson": (4, 3),
    "integers": (2, 3),
    "dirichlet": (2, 2),
    "multinomial": (4,),
    "categorical": (5,),
    "halfnormal": (3, 2, 3),
    "multivariate normal": (4,),
    "t": (2, 3),
}


def states_are_equal(a, b):
    assert str(a.bit_generator.state) == str(b.bit_generator.state)


def generator(name):
    if hasattr(pt.random, "rng"):
        return pt.random.rng(name)
    return pt.random.type.random_generator_type(name)  # PyTensor 2


def draws(make, **arguments):
    """The generator after the draw, and the draw."""
    if hasattr(pt.random, "rng"):
        return list(make(**arguments, return_next_rng=True))
    return list(make(**arguments).owner.outputs)  # PyTensor 2


def compare(make, size, rtol):
    rng = generator("rng")
    outputs = draws(make, rng=rng, size=size)
    ours = pytensor.function([rng], outputs, mode="BITALE")
    theirs = pytensor.function([rng], outputs, mode=ORACLE)
    assert ours.maker.linker.report().is_native, ours.maker.linker.report()
    given = np.random.default_rng(5)
    for _ in range(3):
        found, expected = ours(given), theirs(given)
        states_are_equal(given, given)
        states_are_equal(found[0], expected[0])
        assert found[1].dtype == expected[1].dtype
        np.testing.assert_allclose(found[1], expected[1], rtol=rtol, strict=True)
        given = expected[0]


@pytest.mark.parametrize("name", NUMPY)
def test_numpy_draws(name):
    for size in (None, SIZES.get(name)):
        compare(NUMPY[name], size, rtol=0)


@pytest.mark.parametrize("name", COMPOSED)
def test_composed_draws(name):
    for size in (None, SIZES.get(name)):
        compare(COMPOSED[name], size, rtol=1e-13)


def test_choices_and_permutations():
    for make in (
        lambda rng, **k: pt.random.permutation(7, rng=rng, **k),
        lambda rng, **k: pt.random.permutation(np.arange(12.0).reshape(4, 3), rng=rng, **k),
        lambda rng, **k: pt.random.choice(9, size=4, replace=False, rng=rng, **k),
        lambda rng, **k: pt.random.choice(9, size=(2, 2), replace=False, rng=rng, **k),
        lambda rng, **k: pt.random.choice(
            [5.0, 6.0, 7.0], size=2, replace=False, p=[0.2, 0.5, 0.3], rng=rng, **k
        ),
    ):
        compare(lambda size, **k: make(**k), None, rtol=0)


def test_an_input_is_not_changed():
    rng = generator("rng")
    following, draw = draws(pt.random.normal, size=3, rng=rng)
    f = pytensor.function([rng], [following, draw], mode="BITALE")
    given = np.random.default_rng(1)
    first, second = f(given), f(given)
    np.testing.assert_array_equal(first[1], second[1])
    states_are_equal(given, np.random.default_rng(1))
    assert first[0] is not given


@pytest.mark.parametrize(
    "bits", [np.random.PCG64, np.random.Philox, np.random.SFC64, np.random.MT19937]
)
def test_shared_generators_are_updated(bits):
    rng = pytensor.shared(np.random.Generator(bits(3)), name="rng")
    following, draw = draws(pt.random.normal, size=3, rng=rng)
    f = pytensor.function([], draw, updates={rng: following}, mode="BITALE")
    assert f.maker.linker.report().is_native
    reference = np.random.Generator(bits(3))
    for _ in range(3):
        np.testing.assert_array_equal(f(), reference.normal(size=3))
    states_are_equal(rng.get_value(), reference)
    rng.set_value(np.random.Generator(bits(11)))
    np.testing.assert_array_equal(f(), np.random.Generator(bits(11)).normal(size=3))


def test_a_generator_of_another_kind_is_an_error():
    rng = pytensor.shared(np.random.default_rng(3), name="rng")
    f = pytensor.function([], draws(pt.random.normal, rng=rng)[1], mode="BITALE")
    rng.set_value(np.random.Generator(np.random.Philox(3)))
    with pytest.raises(
        TypeError, match="expected a Generator of the bit generator PCG64, got one of Philox"
    ):
        f()
    rng.set_value(np.random.default_rng(3))
    assert f() == np.random.default_rng(3).normal()


@pytest.mark.skipif(
    not hasattr(pt.random, "rng"), reason="PyTensor 2 has no loops with a generator as their state"
)
def test_draws_in_a_loop():
    """A Scan that passes a generator from step to step."""
    rng = pytensor.shared(np.random.default_rng(8))
    start = pt.dscalar("start")

    def step(x, generator):
        following, z = pt.random.normal(x * 0.5, 1.0, rng=generator, return_next_rng=True)
        return z, following

    xs, last = pytensor.scan(step, outputs_info=[start, rng], n_steps=6, return_updates=False)
    ours = pytensor.function([start], [xs, last], mode="BITALE")
    assert ours.maker.linker.report().is_native
    xs, generator = ours(2.0)
    reference, x = np.random.default_rng(8), 2.0
    for found in xs:
        x = reference.normal(x * 0.5, 1.0)
        assert found == x
    states_are_equal(generator, reference)


@pytest.mark.parametrize(
    "make",
    [
        lambda s: pt.random.normal(0, s),
        lambda s: pt.random.halfnormal(0, s),
        lambda s: pt.random.t(3, 0, s),
    ],
)
def test_parameters_outside_their_domain(make):
    s = pt.dscalar("s")
    f = pytensor.function([s], make(s), mode="BITALE")
    for bad in (-1.0, np.nan):
        if np.isnan(bad) and make(s).owner.op.name == "normal":
            continue  # NumPy draws nan
        with pytest.raises(ValueError):
            f(bad)
    assert np.isfinite(f(1.0))


def test_a_sampler_in_python_is_called_back():
    from pytensor.tensor.random.basic import NormalRV

    class Shifted(NormalRV):
        @classmethod
        def rng_fn(cls, rng, *arguments):
            return rng.normal(*arguments) + 100

    rng = generator("rng")
    following, draw = draws(Shifted(), rng=rng, loc=0.0, scale=1.0, size=(3,))
    after, second = draws(pt.random.normal, rng=following, loc=draw, scale=1.0)
    with pytest.warns(UserWarning, match="draws in a way of its own|called back"):
        ours = pytensor.function([rng], [after, second], mode="BITALE")
    assert (
        list(ours.maker.linker.report().callbacks)
        and ours.maker.linker.report().interpreted is None
    )
    theirs = pytensor.function([rng], [after, second], mode=ORACLE)
    found, expected = ours(np.random.default_rng(1)), theirs(np.random.default_rng(1))
    np.testing.assert_array_equal(found[1], expected[1])
    states_are_equal(found[0], expected[0])


AREAS = np.zeros((9, 9))
for _i, _j in [(0, 4), (4, 8), (8, 1), (1, 2), (2, 0), (3, 7), (7, 5), (5, 6), (6, 4)]:
    AREAS[_i, _j] = AREAS[_j, _i] = 1
POINTS = np.linspace(-3, 5, 50)
OF_PYMC = {
    "TruncatedNormal": lambda: pm.TruncatedNormal.dist(
        [0.5, -1.0, 3.0], 2.0, lower=-1.0, upper=[[1.5], [np.inf]]
    ),
    "TruncatedNormal, below": lambda: pm.TruncatedNormal.dist([0.5, -3.0, -40.0], 2.0, lower=0.0),
    "TruncatedNormal, above": lambda: pm.TruncatedNormal.dist(
        [0.5, -3.0, 40.0], [[1.0], [2.0]], upper=0.1, shape=(2, 3)
    ),
    "TruncatedNormal, one": lambda: pm.TruncatedNormal.dist(0.5, 2.0, lower=3, upper=3.1),
    "Truncated": lambda: pm.Truncated.dist(pm.Normal.dist(0, 1), lower=-1, upper=2, shape=4),
    "SkewNormal": lambda: pm.SkewNormal.dist(mu=[0.0, 1.0], sigma=2.0, alpha=[[3.0], [-2.0]]),
    "SkewStudentT": lambda: pm.SkewStudentT.dist(a=2.0, b=[3.0, 4.0], mu=1.0, sigma=2.0),
    "Rice": lambda: pm.Rice.dist(nu=np.array([1.0, 2.0]), sigma=1.5, shape=(3, 2)),
    "Rice, one": lambda: pm.Rice.dist(nu=1.0, sigma=1.5),
    "Moyal": lambda: pm.Moyal.dist([1.0, 2.0], 0.5),
    "Interpolated": lambda: pm.Interpolated.dist(
        POINTS, np.exp(-(POINTS**2) / 2) + 0.3 * np.exp(-((POINTS - 2) ** 2)), shape=7
    ),
    "Interpolated, one": lambda: pm.Interpolated.dist(POINTS, np.exp(-(POINTS**2))),
    "StickBreakingWeights": lambda: pm.StickBreakingWeights.dist([1.0, 2.5], 4),
    "StickBreakingWeights, three": lambda: pm.StickBreakingWeights.dist(2.5, 4, shape=(3, 5)),
    "Beta": lambda: pm.Beta.dist(0.001, [0.002, 1.0], shape=(100, 2)),
    "CAR": lambda: pm.CAR.dist(np.linspace(-1, 1, 9), AREAS, 0.5, 2.0),
    "CAR, three": lambda: pm.CAR.dist(np.linspace(-1, 1, 9), AREAS, 0.95, 0.3, shape=(3, 9)),
    "CAR, batch": lambda: pm.CAR.dist(np.linspace(-1, 1, 18).reshape(2, 9), AREAS, -0.5, 2.0),
    "CAR, sparse": lambda: pm.CAR.dist(np.linspace(-1, 1, 9), sparse.csr_matrix(AREAS), 0.5, 2.0),
}


@pytest.mark.parametrize("name", OF_PYMC)
def test_draws_of_pymc_variables(name):
    variable = OF_PYMC[name]()
    ours = pm.compile([], variable, random_seed=3, mode="BITALE")
    assert ours.maker.linker.report().is_native, ours.maker.linker.report()
    found = [ours() for _ in range(3)]
    # this compilation shares the generators, and seeds them again
    theirs = pm.compile([], variable, random_seed=3, mode=ORACLE)
    for draw in found:
        np.testing.assert_allclose(draw, theirs(), rtol=1e-10, strict=True)


def test_parameters_that_pymc_rejects():
    """Invalid parameters are rejected with the same class of error as in PyMC."""
    a, tau, w = pt.dscalar("a"), pt.dscalar("tau"), pt.dmatrix("w")
    graphs = {
        "truncated": (
            [a],
            pm.TruncatedNormal.dist(0.0, 1.0, lower=a, upper=1.0),
            [[2.0], [np.nan]],
            ValueError,
        ),
        "alpha": (
            [a, tau],
            pm.CAR.dist(np.zeros(9), AREAS, a, tau),
            [[1.0, 1.0], [-1.5, 1.0]],
            ValueError,
        ),
        "tau": (
            [a, tau],
            pm.CAR.dist(np.zeros(9), AREAS, a, tau),
            [[0.5, 0.0], [0.5, -1.0]],
            np.linalg.LinAlgError,
        ),
        "areas": ([a], pm.CAR.dist(np.zeros(9), np.triu(AREAS), a, 1.0), [[0.5]], ValueError),
        "rice": ([a], pm.Rice.dist(b=a, sigma=1.0), [[-1.0]], ValueError),
        "moyal": ([a], pm.Moyal.dist(0.0, a), [[-1.0]], ValueError),
    }
    for name, (inputs, variable, bad, error) in graphs.items():
        for mode in ("BITALE", ORACLE):
            f = pytensor.function(inputs, variable, mode=mode, on_unused_input="ignore")
            for values in bad:
                with pytest.raises(error):
                    print(name, f(*values))
    with pytest.warns(UserWarning, match="its adjacency matrix is not a constant"):
        f = pm.compile([w], pm.CAR.dist(np.zeros(9), w, 0.5, 2.0), random_seed=3, mode="BITALE")
    found = f(AREAS)
    np.testing.assert_allclose(
        found,
        pm.draw(pm.CAR.dist(np.zeros(9), AREAS, 0.5, 2.0), random_seed=3, mode=ORACLE),
        rtol=1e-10,
    )


def test_distributions_of_pymc():
    variables = [
        pm.Wald.dist(1.0, 2.0, alpha=0.5, shape=3), pm.DiscreteUniform.dist(1, [5, 100, 7]), pm.MatrixNormal.dist(np.ones((3, 2)), colcov=np.eye(2), rowcov=COVARIANCE),
        pm.Kumaraswamy.dist(2, 3, shape=3), pm.AsymmetricLaplace.dist(b=1, kappa=2, mu=0, shape=3), pm.ExGaussian.dist(mu=0, sigma=1, nu=2, shape=3), pm.HalfStudentT.dist(3, 1, shape=3),
        pm.DirichletMultinomial.dist(10, [1.0, 2, 3]), pm.ZeroInflatedPoisson.dist(0.4, 3, shape=5), pm.LKJCorr.dist(3, 2.0), pm.Mixture.dist([0.3, 0.7], [pm.Normal.dist(-1), pm.Gamma.dist(2, 1)], shape=4),
        pm.GaussianRandomWalk.dist(0, 1, steps=5, init_dist=pm.Normal.dist(0, 1)), pm.AR.dist([0.3, 0.2], steps=5, init_dist=pm.Normal.dist(0, 1)), pm.ZeroSumNormal.dist(shape=4),
        pm.Censored.dist(pm.Normal.dist(), -0.5, 0.5, shape=4), pm.StickBreakingWeights.dist(2.0, 4), pm.SkewNormal.dist(0, 1, 2, shape=3),
    ]  # fmt: skip
    ours = pm.draw(variables, random_seed=4, mode="BITALE")
    for found, expected in zip(ours, pm.draw(variables, random_seed=4, mode=ORACLE)):
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-13)

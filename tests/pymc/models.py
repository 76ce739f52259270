"""Small versions of commonly published models, with data generated from a seed. Each is a function that builds and
returns a `pm.Model`."""

from __future__ import annotations

import functools
from typing import Any, Callable

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
from pytensor.compile.ops import wrap_py

MODELS: dict[str, Callable[[], pm.Model]] = {}


def model(build: Callable[[np.random.Generator], None]) -> Callable[[], pm.Model]:
    """Registers a function that adds variables to the current model."""

    @functools.wraps(build)
    def make() -> pm.Model:
        with pm.Model() as made:
            build(np.random.default_rng(20260101))
        return made

    MODELS[build.__name__] = make
    return make


# ---- regressions and hierarchies ------------------------------------------------------------------------------------------


@model
def eight_schools_centred(rng: Any) -> None:
    y, sigma = (
        np.array([28.0, 8, -3, 7, -1, 1, 18, 12]),
        np.array([15.0, 10, 16, 11, 9, 11, 10, 18]),
    )
    mu, tau = pm.Normal("mu", 0, 5), pm.HalfCauchy("tau", 5)
    theta = pm.Normal("theta", mu, tau, shape=8)
    pm.Normal("y", theta, sigma, observed=y)


@model
def eight_schools_not_centred(rng: Any) -> None:
    y, sigma = (
        np.array([28.0, 8, -3, 7, -1, 1, 18, 12]),
        np.array([15.0, 10, 16, 11, 9, 11, 10, 18]),
    )
    mu, tau, eta = pm.Normal("mu", 0, 5), pm.HalfCauchy("tau", 5), pm.Normal("eta", shape=8)
    theta = pm.Deterministic("theta", mu + tau * eta)
    pm.Normal("y", theta, sigma, observed=y)


def _groups(rng: Any, count: int, groups: int) -> tuple[Any, Any]:
    return np.sort(rng.integers(0, groups, count)), rng.normal(size=count)


@model
def radon(rng: Any) -> None:
    """Partially pooled intercepts of counties."""
    county, floor = _groups(rng, 120, 12)[0], rng.integers(0, 2, 120).astype(float)
    y = 1.2 + rng.normal(0, 0.4, 12)[county] - 0.7 * floor + rng.normal(0, 0.7, 120)
    mu, tau = pm.Normal("mu", 0, 10), pm.HalfNormal("tau", 1)
    alpha = pm.Normal("alpha", mu, tau, shape=12)
    beta, sigma = pm.Normal("beta", 0, 10), pm.HalfCauchy("sigma", 5)
    pm.Normal("y", alpha[county] + beta * floor, sigma, observed=y)


@model
def logistic_hierarchical(rng: Any) -> None:
    group, x = _groups(rng, 150, 10)
    sd = pm.HalfNormal("sd", 1)
    z, b = pm.Normal("z", shape=10), pm.Normal("b", shape=2)
    eta = b[0] + b[1] * x + sd * z[group]
    pm.Bernoulli("y", logit_p=eta, observed=rng.integers(0, 2, 150))


@model
def varying_slopes_lkj(rng: Any) -> None:
    group, x = _groups(rng, 100, 6)
    chol, _, _ = pm.LKJCholeskyCov("chol", n=2, eta=2.0, sd_dist=pm.Exponential.dist(1.0, shape=2))
    mean, z = pm.Normal("mean", 0, 5, shape=2), pm.Normal("z", shape=(6, 2))
    slopes = mean + pt.dot(z, chol.T)
    sigma = pm.HalfNormal("sigma", 1)
    pm.Normal("y", slopes[group, 0] + slopes[group, 1] * x, sigma, observed=rng.normal(size=100))


@model
def poisson_exposure(rng: Any) -> None:
    x, exposure = rng.normal(size=(80, 3)), rng.uniform(1, 5, 80)
    a, b = pm.Normal("a", 0, 2), pm.Normal("b", shape=3)
    pm.Poisson("y", exposure * pt.exp(a + x @ b), observed=rng.poisson(exposure))


@model
def negative_binomial_exposure(rng: Any) -> None:
    x, exposure = rng.normal(size=(80, 2)), rng.uniform(1, 5, 80)
    a, b, alpha = pm.Normal("a"), pm.Normal("b", shape=2), pm.Exponential("alpha", 1.0)
    pm.NegativeBinomial(
        "y", mu=exposure * pt.exp(a + x @ b), alpha=alpha, observed=rng.poisson(3, 80)
    )


@model
def zero_inflated_poisson(rng: Any) -> None:
    psi, mu = pm.Beta("psi", 2, 2), pm.Gamma("mu", 2, 1)
    pm.ZeroInflatedPoisson("y", psi, mu, observed=rng.poisson(2, 60) * rng.integers(0, 2, 60))


@model
def ordered_logistic(rng: Any) -> None:
    x = rng.normal(size=70)
    b = pm.Normal("b")
    cut = pm.Normal(
        "cut",
        [-4.0, 0, 4],
        0.5,
        shape=3,
        transform=pm.distributions.transforms.ordered,
        initval=[-1.0, 0, 1],
    )
    pm.OrderedLogistic(
        "y", eta=b * x, cutpoints=cut, observed=rng.integers(0, 4, 70), compute_p=False
    )


@model
def multinomial_softmax(rng: Any) -> None:
    x = rng.normal(size=(50, 3))
    w = pm.Normal("w", shape=(3, 4))
    pm.Categorical("y", p=pm.math.softmax(x @ w, axis=-1), observed=rng.integers(0, 4, 50))


@model
def multinomial_counts(rng: Any) -> None:
    p = pm.Dirichlet("p", np.ones(4), shape=(5, 4))
    pm.Multinomial("y", n=20, p=p, observed=rng.multinomial(20, [0.25] * 4, size=5))


@model
def linear_regression(rng: Any) -> None:
    x = rng.normal(size=(100, 3))
    a, b, sigma = pm.Normal("a", 0, 10), pm.Normal("b", 0, 10, shape=3), pm.HalfCauchy("sigma", 2.5)
    pm.Normal("y", a + x @ b, sigma, observed=x.sum(axis=1) + rng.normal(size=100))


@model
def zero_inflated_negative_binomial(rng: Any) -> None:
    x = rng.normal(size=80)
    a, b, alpha, psi = (
        pm.Normal("a"),
        pm.Normal("b"),
        pm.Exponential("alpha", 1.0),
        pm.Beta("psi", 2, 2),
    )
    y = rng.negative_binomial(3, 0.4, 80) * (rng.random(80) < 0.7)
    pm.ZeroInflatedNegativeBinomial("y", psi=psi, mu=pt.exp(a + b * x), alpha=alpha, observed=y)


@model
def hurdle_gamma(rng: Any) -> None:
    psi, mu, sigma = pm.Beta("psi", 2, 2), pm.Gamma("mu", 2, 1), pm.HalfNormal("sigma", 2)
    pm.HurdleGamma(
        "y", psi=psi, mu=mu, sigma=sigma, observed=rng.gamma(2.0, size=60) * (rng.random(60) < 0.6)
    )


@model
def beta_binomial(rng: Any) -> None:
    """Rates of groups, summed over."""
    mean, size = pm.Beta("mean", 2, 2), pm.Gamma("size", 2, 0.1)
    n = rng.integers(5, 30, 40)
    pm.BetaBinomial(
        "y",
        n=n,
        alpha=mean * size,
        beta=(1 - mean) * size,
        observed=rng.binomial(n, rng.beta(2, 5, 40)),
    )


@model
def dirichlet_multinomial(rng: Any) -> None:
    share, size = pm.Dirichlet("share", np.ones(4)), pm.LogNormal("size", 1, 1)
    pm.DirichletMultinomial(
        "y",
        n=50,
        a=share * size,
        observed=rng.multinomial(50, [0.4, 0.3, 0.2, 0.1], size=30),
        shape=(30, 4),
    )


@model
def multivariate_lkj(rng: Any) -> None:
    chol, _, _ = pm.LKJCholeskyCov("chol", n=3, eta=2.0, sd_dist=pm.Exponential.dist(1.0, shape=3))
    pm.MvNormal("y", pm.Normal("mean", 0, 5, shape=3), chol=chol, observed=rng.normal(size=(40, 3)))


# ---- mixtures, survival, robust ---------------------------------------------------------------------------------------------


@model
def normal_mixture(rng: Any) -> None:
    w = pm.Dirichlet("w", np.ones(3))
    mu = pm.Normal("mu", np.array([-2.0, 0, 2]), 2, shape=3)
    sigma = pm.HalfNormal("sigma", 1, shape=3)
    pm.NormalMixture("y", w, mu, sigma, observed=rng.normal(size=60))


@model
def survival_censored(rng: Any) -> None:
    x = rng.normal(size=60)
    a, b, alpha = pm.Normal("a"), pm.Normal("b"), pm.HalfNormal("alpha", 1)
    lifetime = pm.Weibull.dist(alpha=alpha, beta=pt.exp(a + b * x))
    y = np.minimum(rng.weibull(1.5, 60), 1.2)
    pm.Censored("y", lifetime, lower=None, upper=1.2, observed=y)


@model
def robust_regression(rng: Any) -> None:
    x = rng.normal(size=70)
    nu, sigma = pm.Gamma("nu", 2, 0.1), pm.HalfNormal("sigma", 1)
    a, b = pm.Normal("a"), pm.Normal("b")
    pm.StudentT("y", nu, mu=a + b * x, sigma=sigma, observed=rng.standard_t(3, 70))


@model
def horseshoe(rng: Any) -> None:
    x = rng.normal(size=(60, 12))
    tau, lam, z = (
        pm.HalfCauchy("tau", 0.1),
        pm.HalfStudentT("lam", 3, 1, shape=12),
        pm.Normal("z", shape=12),
    )
    c2 = pm.InverseGamma("c2", 2, 2)
    shrunk = lam * pt.sqrt(c2 / (c2 + tau**2 * lam**2))
    b = pm.Deterministic("b", z * tau * shrunk)
    pm.Normal("y", x @ b, pm.HalfNormal("sigma", 1), observed=rng.normal(size=60))


@model
def item_response(rng: Any) -> None:
    person, item = rng.integers(0, 15, 150), rng.integers(0, 8, 150)
    ability, difficulty = pm.Normal("ability", shape=15), pm.Normal("difficulty", shape=8)
    discrimination = pm.LogNormal("discrimination", 0, 0.5, shape=8)
    pm.Bernoulli(
        "y",
        logit_p=discrimination[item] * (ability[person] - difficulty[item]),
        observed=rng.integers(0, 2, 150),
    )


@model
def missing_values(rng: Any) -> None:
    x = rng.normal(size=(40, 2))
    x[rng.integers(0, 40, 6), rng.integers(0, 2, 6)] = np.nan
    mu = pm.Normal("mu", shape=2)
    full = pm.Normal("x", mu, 1.0, observed=np.ma.masked_invalid(x))
    b = pm.Normal("b", shape=2)
    pm.Normal("y", full @ b, 1.0, observed=rng.normal(size=40))


@model
def measurement_error(rng: Any) -> None:
    seen = rng.normal(size=40)
    true = pm.Normal("true", 0, 2, shape=40)
    pm.Normal("seen", true, 0.3, observed=seen)
    a, b = pm.Normal("a"), pm.Laplace("b", 0, 1)
    pm.Normal(
        "y", a + b * true, pm.Exponential("sigma", 1), observed=2 * seen + rng.normal(size=40)
    )


@model
def change_point(rng: Any) -> None:
    """Counts whose rate changes in one of the years, summed over the year."""
    y = np.concatenate([rng.poisson(3, 40), rng.poisson(1, 70)])
    early, late = pm.Exponential("early", 1), pm.Exponential("late", 1)
    before = pt.arange(110)[:, None] >= pt.arange(110)[None]
    density = pt.switch(
        before, pm.logp(pm.Poisson.dist(early), y), pm.logp(pm.Poisson.dist(late), y)
    ).sum(axis=1)
    pm.Potential("density", pt.logsumexp(density) - np.log(110))


# ---- series ---------------------------------------------------------------------------------------------------------------


@model
def autoregression(rng: Any) -> None:
    rho, sigma = pm.Normal("rho", 0, 0.5, shape=3), pm.HalfNormal("sigma", 1)
    pm.AR(
        "y",
        rho,
        sigma=sigma,
        constant=True,
        init_dist=pm.Normal.dist(0, 1),
        observed=rng.normal(size=60),
    )


@model
def random_walk(rng: Any) -> None:
    sigma = pm.Exponential("sigma", 5)
    level = pm.GaussianRandomWalk("level", sigma=sigma, init_dist=pm.Normal.dist(0, 1), steps=49)
    pm.Normal("y", level, 0.5, observed=rng.normal(size=50).cumsum() * 0.2)


@model
def stochastic_volatility(rng: Any) -> None:
    step, nu = pm.Exponential("step", 10), pm.Exponential("nu", 0.1)
    h = pm.GaussianRandomWalk("h", sigma=step, init_dist=pm.Normal.dist(0, 1), steps=59)
    pm.StudentT("r", nu=nu, lam=pt.exp(-2 * h), observed=rng.standard_t(4, 60))


@model
def state_space_scan(rng: Any) -> None:
    """A local level model with a Kalman filter; the log density of the data is a potential."""
    y = pt.as_tensor(rng.normal(size=30).cumsum())
    q, r = pm.HalfNormal("q", 1), pm.HalfNormal("r", 1)

    def step(seen: Any, mean: Any, variance: Any, q: Any, r: Any) -> Any:
        variance = variance + q**2
        total = variance + r**2
        gain, error = variance / total, seen - mean
        density = -0.5 * (pt.log(2 * np.pi * total) + error**2 / total)
        return mean + gain * error, (1 - gain) * variance, density

    start = [pt.as_tensor(np.float64(0.0)), pt.as_tensor(np.float64(1.0)), None]
    (_, _, density), _ = pytensor.scan(
        step, sequences=[y], outputs_info=start, non_sequences=[q, r]
    )
    pm.Potential("density", density.sum())


@model
def ode_scan(rng: Any) -> None:
    """Logistic growth by Euler's method."""
    rate, capacity = pm.LogNormal("rate", -1, 0.5), pm.LogNormal("capacity", 2, 0.5)
    start = pt.as_tensor(np.float64(0.5))
    size, _ = pytensor.scan(
        lambda n, rate, capacity: n + 0.2 * rate * n * (1 - n / capacity),
        outputs_info=[start],
        non_sequences=[rate, capacity],
        n_steps=40,
    )
    pm.Normal("y", size, 0.5, observed=np.linspace(0.5, 6, 40) + rng.normal(0, 0.3, 40))


@model
def garch(rng: Any) -> None:
    """GARCH(1, 1)."""
    y = pt.as_tensor(rng.normal(size=80))
    mu, a0, a1 = pm.Normal("mu", 0, 5), pm.HalfNormal("a0", 2), pm.Uniform("a1", 0, 1)
    b1 = pm.Uniform("b1", 0, 1 - a1)

    def step(seen: Any, variance: Any, mu: Any, a0: Any, a1: Any, b1: Any) -> Any:
        return a0 + a1 * (seen - mu) ** 2 + b1 * variance

    later, _ = pytensor.scan(
        step,
        sequences=[y[:-1]],
        outputs_info=[pt.as_tensor(np.float64(1.0))],
        non_sequences=[mu, a0, a1, b1],
    )
    variance = pt.concatenate([pt.ones(1), later])
    pm.Normal("y", mu, pt.sqrt(variance), observed=y.data)


@model
def hidden_markov(rng: Any) -> None:
    """Two states, summed over by the forward algorithm."""
    stay, mu = pm.Beta("stay", 5, 2, shape=2), pm.Normal("mu", [-1.0, 1.0], 1, shape=2)
    sigma = pm.HalfNormal("sigma", 1)
    y = pt.as_tensor(rng.normal(size=100) + np.repeat([-1.0, 1.0], 50))
    emission = -0.5 * ((y[:, None] - mu) / sigma) ** 2 - pt.log(sigma)
    change = pt.log(pt.stack([pt.stack([stay[0], 1 - stay[0]]), pt.stack([1 - stay[1], stay[1]])]))
    last, _ = pytensor.scan(
        lambda seen, state, change: pt.logsumexp(state[:, None] + change, axis=0) + seen,
        sequences=[emission[1:]],
        outputs_info=[emission[0] - np.log(2)],
        non_sequences=[change],
    )
    pm.Potential("density", pt.logsumexp(last[-1]))


@model
def vector_autoregression(rng: Any) -> None:
    y = rng.normal(size=(60, 2))
    a, b = pm.Normal("a", shape=2), pm.Normal("b", 0, 0.5, shape=(2, 2))
    chol, _, _ = pm.LKJCholeskyCov("chol", n=2, eta=2.0, sd_dist=pm.HalfNormal.dist(1.0, shape=2))
    pm.MvNormal("y", a + y[:-1] @ b.T, chol=chol, observed=y[1:])


# ---- Gaussian processes, space, curves ---------------------------------------------------------------------------------------


@model
def gp_marginal(rng: Any) -> None:
    x = np.linspace(0, 5, 25)[:, None]
    length, eta = pm.Gamma("length", 2, 1), pm.HalfNormal("eta", 2)
    gp = pm.gp.Marginal(cov_func=eta**2 * pm.gp.cov.Matern52(1, length))
    gp.marginal_likelihood(
        "y", X=x, y=np.sin(x[:, 0]) + rng.normal(0, 0.2, 25), sigma=pm.HalfNormal("sigma", 1)
    )


@model
def gp_latent(rng: Any) -> None:
    x = np.linspace(0, 5, 20)[:, None]
    gp = pm.gp.Latent(
        cov_func=pm.HalfNormal("eta", 2) ** 2 * pm.gp.cov.ExpQuad(1, pm.Gamma("length", 2, 1))
    )
    f = gp.prior("f", X=x)
    pm.Bernoulli("y", logit_p=f, observed=rng.integers(0, 2, 20))


@model
def gp_hsgp(rng: Any) -> None:
    x = np.linspace(0, 5, 40)[:, None]
    gp = pm.gp.HSGP(
        m=[12],
        c=1.5,
        cov_func=pm.HalfNormal("eta", 1) ** 2
        * pm.gp.cov.Matern52(1, pm.InverseGamma("length", 3, 2)),
    )
    pm.Normal(
        "y",
        gp.prior("f", X=x),
        pm.HalfNormal("sigma", 1),
        observed=np.sin(x[:, 0]) + rng.normal(0, 0.2, 40),
    )


@model
def matrix_factorisation(rng: Any) -> None:
    row, column = rng.integers(0, 9, 70), rng.integers(0, 7, 70)
    u, v = pm.Normal("u", shape=(9, 3)), pm.Normal("v", shape=(7, 3))
    pm.Normal(
        "y",
        (u[row] * v[column]).sum(axis=-1),
        pm.HalfNormal("sigma", 1),
        observed=rng.normal(size=70),
    )


@model
def spatial_car(rng: Any) -> None:
    n = 12
    w = np.zeros((n, n))
    for i in range(n):
        w[i, (i + 1) % n] = w[(i + 1) % n, i] = 1
    phi = pm.CAR(
        "phi", mu=np.zeros(n), W=w, alpha=pm.Beta("alpha", 2, 2), tau=pm.Gamma("tau", 2, 2)
    )
    pm.Poisson("y", pt.exp(pm.Normal("a") + phi), observed=rng.poisson(2, n))


@model
def spatial_bym2(rng: Any) -> None:
    """Areas on a ring: a part with structure and one without share the variance."""
    n = 16
    w = np.zeros((n, n), dtype=int)
    for i in range(n):
        w[i, (i + 1) % n] = w[(i + 1) % n, i] = 1
    phi, theta = pm.ICAR("phi", W=w), pm.Normal("theta", shape=n)
    sigma, rho = pm.HalfNormal("sigma", 1), pm.Beta("rho", 0.5, 0.5)
    pm.Poisson(
        "y",
        pt.exp(pm.Normal("a") + sigma * (pt.sqrt(rho) * phi + pt.sqrt(1 - rho) * theta)),
        observed=rng.poisson(2, n),
    )


@model
def splines(rng: Any) -> None:
    x = np.linspace(0, 1, 60)
    knots = np.linspace(0, 1, 6)
    basis = np.maximum(x[:, None] - knots[None], 0.0) ** 3
    tau = pm.HalfCauchy("tau", 1)
    w = pm.Normal("w", 0, tau, shape=6)
    pm.Normal(
        "y",
        pm.Normal("a", 0, 5) + pt.dot(basis, w),
        pm.HalfNormal("sigma", 1),
        observed=rng.normal(size=60),
    )


@model
def truncated(rng: Any) -> None:
    mu, sigma = pm.Normal("mu"), pm.HalfNormal("sigma", 1)
    pm.Truncated(
        "y", pm.Normal.dist(mu, sigma), lower=-1.0, upper=2.0, observed=rng.uniform(-0.9, 1.9, 50)
    )


@model
def onset(rng: Any) -> None:
    """Growth that begins at an unknown time; before it, the root has no value."""
    t = np.linspace(0, 10, 40)
    tau, slope = pm.Uniform("tau", 0, 10), pm.HalfNormal("slope", 2)
    pm.Normal(
        "y",
        pt.switch(t > tau, slope * pt.sqrt(t - tau), 0.0),
        pm.HalfNormal("sigma", 1),
        observed=rng.normal(size=40),
    )


@model
def weights_some_zero(rng: Any) -> None:
    """A mixture in which some rows exclude a component."""
    weights = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 1.0], [1.0, 1.0, 1.0], [0.0, 0.0, 1.0]])
    mu, share = pm.Normal("mu", 0, 3, shape=3), pm.Dirichlet("share", np.ones(3))
    data = rng.normal(size=4)
    pm.Potential(
        "density",
        pt.log((weights * share * pt.exp(-0.5 * (data[:, None] - mu) ** 2)).sum(axis=1)).sum(),
    )


@model
def missing_as_nan(rng: Any) -> None:
    """Data that are nan where they are masked, with a logarithm in the likelihood."""
    data = rng.gamma(2.0, size=(6, 5))
    seen = rng.random((6, 5)) < 0.7
    data[~seen] = np.nan
    mu, sigma = pm.Normal("mu", shape=6), pm.HalfNormal("sigma", 1)
    density = -0.5 * ((pt.log(data) - mu[:, None]) / sigma) ** 2 - pt.log(sigma)
    pm.Potential("density", pt.switch(seen, density, 0.0).sum())


@wrap_py(itypes=[pt.dscalar, pt.dvector], otypes=[pt.dscalar])
def _density_in_python(mu: Any, data: Any) -> Any:
    return np.asarray(-0.5 * ((data - mu) ** 2).sum())


@model
def black_box(rng: Any) -> None:
    """A likelihood written in Python, without a gradient."""
    mu = pm.Normal("mu", 0, 3)
    pm.Potential("density", _density_in_python(mu, pt.as_tensor(rng.normal(size=20))))

"""Every density, probability and tail of bitale.stats with its exact formula and arguments at which both are compared.
test_digits_of_densities.py checks every row.

The arguments are drawn over the whole range of a dtype: moderate ones, single extreme ones, and extreme ones only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jets import (
    atan,
    cos,
    erf,
    erfcx,
    exp,
    expm1,
    log,
    log1p,
    log_bessel_i0,
    log_erfc,
    log_half_erfc,
    log_rising,
    loggamma,
    mp,
    sqr,
    sqrt,
    value_of,
    xlogy,
)

import bitale as bt
import bitale.tensor as pt


class Draw:
    """Arguments of one point. `reach` is the probability of an extreme one."""

    def __init__(self, rng, dtype, reach):
        self.rng, self.dtype, self.reach = rng, np.dtype(dtype), reach
        self.exponent = 300 if dtype == "float64" else 37
        self.whole = 15 if dtype == "float64" else 7  # digits of whole numbers

    def _is_extreme(self):
        return self.rng.uniform() < self.reach

    def rounded(self, x):
        return float(self.dtype.type(x))

    def positive(self):
        if self._is_extreme():
            return self.rounded(10 ** self.rng.uniform(-self.exponent, self.exponent))
        return self.rounded(np.exp(self.rng.normal()))

    def real(self):
        if self.rng.uniform() < 0.05:
            return 0.0
        if self._is_extreme():
            return self.rounded(
                self.rng.choice([-1, 1]) * 10 ** self.rng.uniform(-self.exponent, self.exponent)
            )
        return self.rounded(2 * self.rng.normal())

    def share(self):
        """Between 0 and 1."""
        if not self._is_extreme():
            return self.rounded(self.rng.uniform(0.01, 0.99))
        if self.rng.uniform() < 0.5:
            return self.rounded(10 ** self.rng.uniform(-self.exponent, 0))
        return self.rounded(1 - 10 ** self.rng.uniform(-self.whole, 0))

    def count(self, most=None):
        digits = self.whole if self._is_extreme() else 1.3
        out = np.floor(10 ** self.rng.uniform(0, digits)) - 1
        return self.rounded(out if most is None else np.floor(most * self.share()))

    def logit(self):
        return self.rounded(self.real() if self.rng.uniform() < 0.5 else 800 * self.rng.normal())

    def located(self, z):
        """x, loc, scale with (x - loc) / scale near z."""
        loc, scale = self.real(), self.positive()
        with np.errstate(all="ignore"):
            x = self.rounded(loc + scale * z)
        return x, loc, scale


@dataclass
class Row:
    """`exact` takes jets, as many as `draw` gives numbers. `through` are quantities that must be numbers of the dtype, as
    the density is a function of them. There are no derivatives by the arguments in `whole`. `build` makes the
    expression where it is not the function of that name of the arguments alone. Of the value (0) and the derivatives
    by arguments (1, ...) in `cancels`, the digits are those of the terms of the formula, for the reason `why`."""

    draw: Callable[[Draw], tuple]
    exact: Callable[..., Any]
    through: Callable[..., list] = lambda *a: []
    whole: tuple[int, ...] = ()
    build: Callable[..., Any] | None = None
    cancels: tuple[int, ...] = ()
    why: str = ""


ROWS: dict[str, Row] = {}


def row(name, draw, exact, **more):
    ROWS[name] = Row(draw, exact, **more)


# Where gamma functions of large numbers make a small one, and for their derivatives, differences of digammas.
GAMMA = "gamma functions cancel"

# ---- location and scale ----------------------------------------------------------------------------------------------


def of_z(name, exact, z=Draw.real, **more):
    """A function of z = (x - loc) / scale; a density has 1 / scale as a factor."""
    density = name.endswith("pdf")
    row(
        name,
        lambda d: d.located(z(d)),
        lambda x, loc, scale: exact((x - loc) / scale) - (log(scale) if density else 0),
        through=lambda x, loc, scale: [(x - loc) / scale],
        **more,
    )


def half_log_2pi():
    return mp.log(2 * mp.pi) / 2


def log_normal_cdf(z):
    return log_half_erfc(-z / mp.sqrt(2))


def log_cauchy_cdf(z):
    if z > 1:
        return log1p(-atan(1 / z) / mp.pi)
    return log(0.5 + atan(z) / mp.pi) if z > -1 else log(-atan(1 / z) / mp.pi)


def log_logistic_cdf(z):
    return -log1p(exp(-z)) if z > 0 else z - log1p(exp(z))


def log_laplace_cdf(z):
    return z - mp.log(2) if z < 0 else log1p(-exp(-z) / 2)


def log_of_rest(y):
    """log(1 - exp(-y))"""
    return log1p(-exp(-y)) if y > 1 else log(-expm1(-y))


of_z("normal_logpdf", lambda z: -sqr(z) / 2 - half_log_2pi())
of_z("normal_logcdf", log_normal_cdf)
of_z("normal_logsf", lambda z: log_normal_cdf(-z))
of_z("halfnormal_logpdf", lambda z: -sqr(z) / 2 - half_log_2pi() + mp.log(2), Draw.positive)
of_z(
    "halfnormal_logcdf",
    lambda z: log1p(-exp(log_erfc(z / mp.sqrt(2)))) if z > 1 else log(erf(z / mp.sqrt(2))),
    Draw.positive,
)
of_z("halfnormal_logsf", lambda z: log_erfc(z / mp.sqrt(2)), Draw.positive)
of_z("cauchy_logpdf", lambda z: -mp.log(mp.pi) - log1p(sqr(z)))
of_z("cauchy_logcdf", log_cauchy_cdf)
of_z("cauchy_logsf", lambda z: log_cauchy_cdf(-z))
of_z("halfcauchy_logpdf", lambda z: -mp.log(mp.pi / 2) - log1p(sqr(z)), Draw.positive)
of_z("laplace_logpdf", lambda z: -abs(z) - mp.log(2))
of_z("laplace_logcdf", log_laplace_cdf)
of_z("laplace_logsf", lambda z: log_laplace_cdf(-z))
of_z(
    "logistic_logpdf",
    lambda z: -abs(z) - 2 * log1p(exp(-abs(z))),
    cancels=(1, 2),
    why="at the mode, the slope is a difference of two probabilities of 1/2",
)
of_z("logistic_logcdf", log_logistic_cdf)
of_z("logistic_logsf", lambda z: log_logistic_cdf(-z))
of_z(
    "gumbel_logpdf",
    lambda z: -z - exp(-z),
    Draw.logit,
    cancels=(1, 2),
    why="at the mode, the slope is a difference of 1 and exp(-z)",
)
of_z(
    "moyal_logpdf",
    lambda z: -(z + exp(-z)) / 2 - half_log_2pi(),
    Draw.logit,
    cancels=(1, 2),
    why="at the mode, the slope is a difference of 1 and exp(-z)",
)
of_z("gumbel_logcdf", lambda z: -exp(-z), Draw.logit)
of_z("gumbel_logsf", lambda z: log_of_rest(exp(-z)), Draw.logit)


def t_density(x, df, loc, scale):
    z = (x - loc) / scale
    constant = log_rising(df / 2, mp.mpf(0.5)) - log(df * mp.pi) / 2 - log(scale)
    return constant - (df + 1) / 2 * log1p(sqr(z) / df)


def draw_t(d):
    df = d.positive()
    x, loc, scale = d.located(d.real())
    return x, df, loc, scale


row(
    "t_logpdf",
    draw_t,
    t_density,
    through=lambda x, df, loc, scale: [
        (x - loc) / scale,
        scale * sqrt(df),
        (x - loc) / (scale * sqrt(df)),
    ],
    cancels=(2, 4),
    why=f"{GAMMA}; by scale, far out in a tail of small df, a difference of 1 + df and 1",
)


def draw_lognormal(d):
    return d.positive(), d.real(), d.positive()


def of_log(exact, density=False):
    def formula(x, mean, sigma):
        return exact((log(x) - mean) / sigma) - (log(x) + log(sigma) if density else 0)

    return dict(exact=formula, through=lambda x, mean, sigma: [(log(x) - mean) / sigma])


row(
    "lognormal_logpdf",
    draw_lognormal,
    **of_log(lambda z: -sqr(z) / 2 - half_log_2pi(), density=True),
    cancels=(0,),
    why="the logarithms of x and sigma may cancel",
)
row("lognormal_logcdf", draw_lognormal, **of_log(log_normal_cdf))
row("lognormal_logsf", draw_lognormal, **of_log(lambda z: log_normal_cdf(-z)))

row(
    "vonmises_logpdf",
    lambda d: (d.rounded(d.rng.uniform(-7, 7)), d.rounded(d.rng.uniform(-4, 4)), d.positive()),
    lambda x, mu, kappa: kappa * cos(x - mu) - mp.log(2 * mp.pi) - log_bessel_i0(kappa),
)


def truncated_normal(x, loc, scale, lower, upper):
    z, low, high = (x - loc) / scale, (lower - loc) / scale, (upper - loc) / scale
    near = lower
    if low < 0:
        z, low, high, near = -z, -high, -low, upper
    # Relative to the density at the end that is next to loc, or at loc.
    root, end, distance = mp.sqrt(2), 0 * low, z
    if low >= 0:
        end, distance = low, abs(x - near) / scale
        mass = erfcx(low / root) - erfcx(high / root) * exp((sqr(low) - sqr(high)) / 2)
    else:
        mass = erf(high / root) - erf(low / root)
    return -distance * (z + end) / 2 - log(scale) - half_log_2pi() - log(mass / 2)


def draw_truncated_normal(d):
    loc, scale = d.real(), d.positive()
    with np.errstate(all="ignore"):
        low = loc + scale * min(d.real(), 1e100 if d.exponent == 300 else 1e12)
        width = scale * (
            d.positive() if d.rng.uniform() < 0.5 else 10 ** d.rng.uniform(-d.whole, 1)
        )
        low, high = d.rounded(low), d.rounded(low + width)
        return d.rounded(low + (high - low) * d.share()), loc, scale, low, high


row(
    "truncated_normal_logpdf",
    draw_truncated_normal,
    truncated_normal,
    through=lambda x, loc, scale, a, b: [
        (a - loc) / scale,
        (b - loc) / scale,
        (x - a) / scale,
        (b - a) / scale,
    ],
    cancels=(4, 5),
    why="the slope by an end is known to as many digits as the distance of x from it",
)

# ---- intervals -------------------------------------------------------------------------------------------------------


def draw_interval(d):
    low = d.real()
    with np.errstate(all="ignore"):
        high = d.rounded(low + d.positive())
        return d.rounded(low + (high - low) * d.share()), low, high


row("uniform_logpdf", draw_interval, lambda x, low, high: -log(high - low) + 0 * x)
row("uniform_logcdf", draw_interval, lambda x, low, high: log((x - low) / (high - low)))
row("uniform_logsf", draw_interval, lambda x, low, high: log((high - x) / (high - low)))


def triangular(x, left, mode, right):
    height = (x - left) / (mode - left) if x < mode else (right - x) / (right - mode)
    return log(height) + mp.log(2) - log(right - left)


def draw_triangular(d):
    left = d.real()
    with np.errstate(all="ignore"):
        right = d.rounded(left + d.positive())
        mode, x = (d.rounded(left + (right - left) * d.share()) for _ in range(2))
        return x if x != mode else np.nan, left, mode, right  # there is no derivative at the mode


row("triangular_logpdf", draw_triangular, triangular)


def log_beta(a, b):
    return loggamma(b) - log_rising(a, b) if a > b else loggamma(a) - log_rising(b, a)


row(
    "beta_logpdf",
    lambda d: (d.share(), d.positive(), d.positive()),
    lambda x, a, b: (a - 1) * log(x) + (b - 1) * log1p(-x) - log_beta(a, b),
    cancels=(0, 2, 3),
    why=GAMMA,
)

row(
    "kumaraswamy_logpdf",
    lambda d: (d.share(), d.positive(), d.positive()),
    lambda x, a, b: log(a) + log(b) + (a - 1) * log(x) + (b - 1) * log(-expm1(a * log(x))),
    through=lambda x, a, b: [a * log(x), exp(a * log(x)), b / (a * log(x))],
    cancels=(0, 1, 2, 3),
    why="the powers of x and of what is left of 1 may cancel",
)

# ---- positive numbers ------------------------------------------------------------------------------------------------

ONE = dict(draw=lambda d: (d.positive(), d.positive()), through=lambda x, scale: [x / scale])
row("exponential_logpdf", exact=lambda x, s: -x / s - log(s), **ONE)
row("exponential_logcdf", exact=lambda x, s: log_of_rest(x / s), **ONE)
row("exponential_logsf", exact=lambda x, s: -x / s, **ONE)
row(
    "rayleigh_logpdf",
    exact=lambda x, s: log(x) - 2 * log(s) - sqr(x / s) / 2,
    cancels=(0,),
    why="the logarithms of x and scale may cancel",
    **ONE,
)
row("rayleigh_logcdf", exact=lambda x, s: log_of_rest(sqr(x / s) / 2), **ONE)
row("rayleigh_logsf", exact=lambda x, s: -sqr(x / s) / 2, **ONE)

row(
    "maxwell_logpdf",
    exact=lambda x, s: 2 * log(x) - 3 * log(s) - sqr(x / s) / 2 - (mp.log(mp.pi) - mp.log(2)) / 2,
    cancels=(0,),
    why="the logarithms of x and scale may cancel",
    **ONE,
)
row(
    "gompertz_logpdf",
    lambda d: (d.positive(), d.positive(), d.positive()),
    lambda x, c, s: log(c) - log(s) + x / s - c * expm1(x / s),
    through=lambda x, c, s: [x / s, c * expm1(x / s)],
    cancels=(0, 1, 2, 3),
    why="at the mode, the growth of the hazard and what is left of the population balance",
)


def draw_loguniform(d):
    low, length = d.positive(), d.positive()
    with np.errstate(all="ignore"):
        return d.rounded(low * (1 + d.share() * length)), low, d.rounded(low * (1 + length))


row(
    "loguniform_logpdf",
    draw_loguniform,
    lambda x, low, high: -log(x) - log(log(high / low)),
    through=lambda x, low, high: [x / low - 1, high / low - 1],
    cancels=(0,),
    why="the logarithms of x and of the length may cancel",
)

TWO = dict(
    draw=lambda d: (d.positive(), d.positive(), d.positive()),
    through=lambda x, shape, scale: [x / scale, shape / (x / scale)],
)


def power(x, shape, scale):
    return exp(shape * log(x / scale))


row(
    "weibull_logpdf",
    exact=lambda x, k, s: log(k) - log(s) + (k - 1) * log(x / s) - power(x, k, s),
    cancels=(3,),
    why="the slope by the scale is a difference from 1 / scale",
    **TWO,
)
row("weibull_logcdf", exact=lambda x, k, s: log_of_rest(power(x, k, s)), **TWO)
row("weibull_logsf", exact=lambda x, k, s: -power(x, k, s), **TWO)
row(
    "wald_logpdf",
    exact=lambda x, m, s: (log(s) - mp.log(2 * mp.pi) - 3 * log(x) - s * sqr(x / m - 1) / x) / 2,
    draw=TWO["draw"],
    through=lambda x, m, s: [x / m, s / m, s / x, s * (x / m)],
)


def near(d, shape, mean):
    """Near the mean, by a few standard deviations, or anywhere."""
    with np.errstate(all="ignore"):
        return (
            d.rounded(mean * np.exp(d.rng.normal() / np.sqrt(shape)))
            if d.rng.uniform() < 0.4
            else d.positive()
        )


def draw_gamma(d):
    shape, rate = d.positive(), d.positive()
    return near(d, shape, shape / rate), shape, rate


def draw_gamma_by_scale(d):
    shape, scale = d.positive(), d.positive()
    return near(d, shape, shape * scale), shape, scale


row(
    "invgamma_logpdf",
    exact=lambda x, a, s: a * log(s) - loggamma(a) - (a + 1) * log(x) - s / x,
    draw=draw_gamma,
    through=lambda x, a, s: [s / x],
    cancels=(0, 2),
    why=GAMMA,
)


def gamma(x, shape, rate):
    return shape * log(rate) - loggamma(shape) + (shape - 1) * log(x) - rate * x


row(
    "gamma_logpdf",
    exact=gamma,
    draw=draw_gamma,
    through=lambda x, a, rate: [x * rate],
    cancels=(0, 2),
    why=GAMMA,
)
row(
    "gamma_logpdf by scale",
    exact=lambda x, a, s: gamma(x, a, 1 / s),
    build=lambda x, a, s: bt.stats.gamma_logpdf(x, a, scale=s),
    draw=draw_gamma_by_scale,
    through=lambda x, a, s: [x / s, 1 / s],
    cancels=(0, 2),
    why=GAMMA,
)
row(
    "chisquare_logpdf",
    draw=lambda d: draw_gamma_by_scale(d)[:2],
    exact=lambda x, df: gamma(x, df / 2, mp.mpf(0.5)),
    cancels=(0, 2),
    why=GAMMA,
)
row(
    "gengamma_logpdf",
    draw=lambda d: (d.positive(), d.positive(), d.positive(), d.positive()),
    exact=lambda x, a, p, s: (
        log(p) - log(s) - loggamma(a / p) + (a - 1) * log(x / s) - power(x, p, s)
    ),
    through=lambda x, a, p, s: [x / s, a / p, a / (x / s), p / (x / s)],
    cancels=(0, 2, 3, 4),
    why=GAMMA,
)


def draw_pareto(d):
    scale, b = d.positive(), d.positive()
    with np.errstate(all="ignore"):
        return d.rounded(scale + scale * d.positive()), b, scale


PARETO = dict(draw=draw_pareto, through=lambda x, b, s: [x / s, b / (x / s)])
row(
    "pareto_logpdf",
    exact=lambda x, b, s: log(b) + b * log(s) - (b + 1) * log(x),
    cancels=(0, 2),
    why="a second logarithm for each x is left out: the logarithm of x / scale is a difference",
    **PARETO,
)
row("pareto_logcdf", exact=lambda x, b, s: log_of_rest(b * log(x / s)), **PARETO)
row("pareto_logsf", exact=lambda x, b, s: -b * log(x / s), **PARETO)


def draw_truncexpon(d):
    b = d.positive()
    loc, scale = d.real(), d.positive()
    with np.errstate(all="ignore"):
        x = d.rounded(loc + scale * b * d.share())
        return x if (x - loc) / scale <= b else np.nan, b, loc, scale


row(
    "truncexpon_logpdf",
    draw_truncexpon,
    lambda x, b, loc, scale: -(x - loc) / scale - log(scale) - log_of_rest(b),
    through=lambda x, b, loc, scale: [(x - loc) / scale],
)

# ---- counts ----------------------------------------------------------------------------------------------------------


def log_choose(n, k):
    return log_rising(n - k + 1, k) - loggamma(k + 1)


def log_choose_failures(n, k):
    return log_rising(n, k) - loggamma(k + 1)


def count_below(d):
    n = d.count()
    return min(d.count(n), n), n


def bernoulli_by_logit(x, logit):
    return log_logistic_cdf(logit if value_of(x) == 1 else -logit) + 0 * x


row(
    "bernoulli_logpmf",
    lambda d: (float(d.rng.integers(2)), d.share()),
    lambda x, p: (log(p) if value_of(x) == 1 else log1p(-p)) + 0 * x,
    whole=(0,),
)
row(
    "bernoulli_logit_logpmf",
    lambda d: (float(d.rng.integers(2)), d.logit()),
    bernoulli_by_logit,
    whole=(0,),
)


def binomial(x, n, p):
    return log_choose(n, x) + xlogy(x, p) + xlogy(n - x, 1 - p)


def draw_binomial(d):
    """At times with about the expected number."""
    n, p = d.count(), d.share()
    return min(near_count(d, n * p), n), n, p


def near_count(d, mean):
    return (
        d.rounded(np.floor(mean + np.sqrt(mean) * abs(d.rng.normal())))
        if d.rng.uniform() < 0.4
        else d.count()
    )


row("binomial_logpmf", draw_binomial, binomial, whole=(0, 1), cancels=(0,), why=GAMMA)
row(
    "binomial_logit_logpmf",
    lambda d: (*count_below(d), d.logit()),
    lambda x, n, l: log_choose(n, x) + x * log_logistic_cdf(l) + (n - x) * log_logistic_cdf(-l),
    whole=(0, 1),
    cancels=(0,),
    why=GAMMA,
)
row(
    "negative_binomial_logpmf",
    lambda d: (d.count(), d.positive(), d.share()),
    lambda x, n, p: log_choose_failures(n, x) + n * log(p) + xlogy(x, 1 - p),
    whole=(0,),
    cancels=(0, 2),
    why=GAMMA,
)


def negative_binomial_2(x, mu, phi):
    return log_choose_failures(phi, x) - x * log1p(phi / mu) - phi * log1p(mu / phi)


def softplus(x):
    """log(1 + exp(x)) of a logarithm, whose exponential has fewer digits the larger it is."""
    out = log1p(exp(x)) if x < 0 else x + log1p(exp(-x))
    out.sizes = [(1 + abs(x.value)) * size for size in out.sizes]
    return out


def negative_binomial_2_log(x, log_mu, phi):
    log_ratio = log_mu - log(phi)
    return log_choose_failures(phi, x) - x * softplus(-log_ratio) - phi * softplus(log_ratio)


row(
    "negative_binomial_2_logpmf",
    lambda d: (d.count(), d.positive(), d.positive()),
    negative_binomial_2,
    through=lambda x, mu, phi: [mu / phi, phi / (mu / phi)],
    whole=(0,),
    cancels=(0, 3),
    why=GAMMA,
)
row(
    "negative_binomial_2_log_logpmf",
    lambda d: (d.count(), d.logit(), d.positive()),
    negative_binomial_2_log,
    whole=(0,),
    cancels=(0, 2, 3),
    why=f"{GAMMA}; mu / phi is the exponential of its rounded logarithm",
)
row(
    "betabinom_logpmf",
    lambda d: (*count_below(d), d.positive(), d.positive()),
    lambda x, n, a, b: log_choose(n, x) + log_beta(x + a, n - x + b) - log_beta(a, b),
    whole=(0, 1),
    cancels=(0, 3, 4),
    why=GAMMA,
)


def poisson(x, lam):
    return xlogy(x, lam) - lam - loggamma(x + 1)


def draw_poisson(d):
    lam = d.positive()
    return near_count(d, min(lam, 10.0**d.whole)), lam


def draw_poisson_by_log(d):
    log_lam = d.logit()
    return near_count(d, np.exp(min(log_lam, 2.3 * d.whole))), log_lam


row("poisson_logpmf", draw_poisson, poisson, whole=(0,), cancels=(0,), why=GAMMA)
row(
    "poisson_log_logpmf",
    draw_poisson_by_log,
    lambda x, l: x * l - exp(l) - loggamma(x + 1),
    whole=(0,),
    cancels=(0, 2),
    why=f"{GAMMA}; the slope is the difference of the count and its mean",
)
row(
    "geometric_logpmf",
    lambda d: (d.count() + 1, d.share()),
    lambda x, p: log(p) + xlogy(x - 1, 1 - p),
    whole=(0,),
)


def draw_hypergeometric(d):
    good, bad = d.count(), d.count()
    x = min(d.count(good), good)
    rest = min(d.count(bad), bad)
    return x, good, bad, x + rest


row(
    "hypergeometric_logpmf",
    draw_hypergeometric,
    lambda x, good, bad, n: (
        log_choose(good, x) + log_choose(bad, n - x) - log_choose(good + bad, n)
    ),
    whole=(0, 1, 2, 3),
    cancels=(0,),
    why=GAMMA,
)


def draw_integers(d):
    low = d.rng.choice([-1, 1]) * d.count()
    x = low + d.count()
    return x, low, x + 1 + d.count()


row(
    "integers_logpmf", draw_integers, lambda x, low, high: -log(high - low) + 0 * x, whole=(0, 1, 2)
)

# ---- categories, vectors and matrices: of three, or of two ------------------------------------------------------------


def stacked(*numbers):
    return pt.stack(numbers, axis=-1)


def draw_shares(d, count):
    shares = np.array([d.positive() for _ in range(count)])
    with np.errstate(all="ignore"):
        return tuple(map(d.rounded, shares / shares.sum()))


def total(numbers):
    numbers = list(numbers)
    out = numbers[0]
    for each in numbers[1:]:
        out = out + each
    return out


def draw_category(d):
    return (float(d.rng.integers(3)),)


def chosen(x, values):
    return values[int(value_of(x))]


row(
    "categorical_logpmf",
    lambda d: (*draw_category(d), *draw_shares(d, 3)),
    lambda x, *p: log(chosen(x, p)) + 0 * x,
    build=lambda x, *p: bt.stats.categorical_logpmf(pt.cast(x, "int64"), stacked(*p)),
    whole=(0,),
)


def category_by_logits(x, *logits):
    largest = max(map(value_of, logits))
    return chosen(x, logits) - largest - log(total(exp(each - largest) for each in logits)) + 0 * x


row(
    "categorical_logit_logpmf",
    lambda d: (*draw_category(d), *(d.logit() for _ in range(3))),
    category_by_logits,
    build=lambda x, *l: bt.stats.categorical_logit_logpmf(pt.cast(x, "int64"), stacked(*l)),
    whole=(0,),
    cancels=(0, 2, 3, 4),
    why="a logit less the logarithm of a sum; the slope by the logit of the category is 1 less its probability",
)


def ordered_logistic(x, eta, *cuts):
    k = int(value_of(x))
    if k == 0:
        return log_logistic_cdf(cuts[0] - eta) + 0 * x
    if k == len(cuts):
        return log_logistic_cdf(eta - cuts[-1]) + 0 * x
    low, high = cuts[k - 1] - eta, cuts[k] - eta
    return log_logistic_cdf(-low) + log_logistic_cdf(high) + log_of_rest(high - low) + 0 * x


def draw_ordered(d):
    cuts = sorted(d.logit() for _ in range(3))
    eta = d.logit() if d.rng.uniform() < 0.5 else d.rounded(cuts[1] + d.rng.normal())
    return (float(d.rng.integers(4)), eta, *cuts)


row(
    "ordered_logistic_logpmf",
    draw_ordered,
    ordered_logistic,
    build=lambda x, eta, *c: bt.stats.ordered_logistic_logpmf(
        pt.cast(x, "int64"), eta, stacked(*c)
    ),
    whole=(0,),
    through=lambda x, eta, *c: [b - a for a, b in zip(c, c[1:])],
)


def draw_multinomial(d):
    x = [d.count() for _ in range(3)]
    return (*x, sum(x), *draw_shares(d, 3))


row(
    "multinomial_logpmf",
    draw_multinomial,
    lambda x, y, z, n, *p: (
        loggamma(n + 1) + total(xlogy(k, s) - loggamma(k + 1) for k, s in zip((x, y, z), p))
    ),
    build=lambda x, y, z, n, *p: bt.stats.multinomial_logpmf(stacked(x, y, z), n, stacked(*p)),
    whole=(0, 1, 2, 3),
    cancels=(0,),
    why=GAMMA,
)


def dirichlet(x, y, z, a, b, c):
    powers = total((e - 1) * log(s) for s, e in zip((x, y, z), (a, b, c)))
    return powers + loggamma(a + b + c) - total(map(loggamma, (a, b, c)))


row(
    "dirichlet_logpdf",
    lambda d: (*draw_shares(d, 3), *(d.positive() for _ in range(3))),
    dirichlet,
    build=lambda x, y, z, *a: bt.stats.dirichlet_logpdf(stacked(x, y, z), stacked(*a)),
    cancels=(0, 4, 5, 6),
    why=GAMMA,
)


def normal_vector(residual, factor):
    """By the lower factor of the covariance matrix."""
    (r, s), (a, b, c) = residual, factor
    z = r / a
    return -(sqr(z) + sqr((s - b * z) / c)) / 2 - log(a) - log(c) - 2 * half_log_2pi()


def factor_of(a, b, c):
    """The lower factor of [[a, b], [b, c]]."""
    root = sqrt(a)
    low = b / root
    return root, low, sqrt(c - sqr(low))


def symmetric(a, b, c):
    return pt.stack([stacked(a, b), stacked(b, c)], axis=-2)


def draw_factor(d):
    a, c = d.positive(), d.positive()
    return a, d.rounded(2 * d.rng.normal() * min(a, c)), c


def draw_covariance(d):
    """The entries of its inverse, and of products with it, are floats."""
    r, most = d.rng.uniform(-0.9, 0.9), d.exponent / 6
    a, c = (10 ** d.rng.uniform(-most, most) for _ in range(2))
    return d.rounded(a), d.rounded(r * np.sqrt(a) * np.sqrt(c)), d.rounded(c)


def draw_vectors(d, scales):
    """x and mean, apart by about the scales."""
    means = [d.real() for _ in scales]
    return (*(d.rounded(m + s * d.rng.normal()) for m, s in zip(means, scales)), *means)


def draw_by_covariance(d):
    a, b, c = draw_covariance(d)
    return (*draw_vectors(d, [np.sqrt(a), np.sqrt(c)]), a, b, c)


def draw_by_factor(d):
    a, b, c = draw_factor(d)
    return (*draw_vectors(d, [a, c]), a, b, c)


row(
    "multivariate_normal_logpdf",
    draw_by_covariance,
    lambda x, y, m, n, *cov: normal_vector((x - m, y - n), factor_of(*cov)),
    build=lambda x, y, m, n, *cov: bt.stats.multivariate_normal_logpdf(
        stacked(x, y), stacked(m, n), symmetric(*cov)
    ),
)
row(
    "multivariate_normal_cholesky_logpdf",
    draw_by_factor,
    lambda x, y, m, n, *factor: normal_vector((x - m, y - n), factor),
    build=lambda x, y, m, n, a, b, c: bt.stats.multivariate_normal_cholesky_logpdf(
        stacked(x, y),
        stacked(m, n),
        pt.stack([stacked(a, pt.zeros_like(a)), stacked(b, c)], axis=-2),
    ),
)


def by_precision(x, y, m, n, a, b, c):
    p, q, r = factor_of(a, b, c)
    s, t = x - m, y - n
    return -(sqr(p * s + q * t) + sqr(r * t)) / 2 + log(p) + log(r) - 2 * half_log_2pi()


def draw_by_precision(d):
    a, b, c = draw_covariance(d)
    return (*draw_vectors(d, [1 / np.sqrt(a), 1 / np.sqrt(c)]), a, b, c)


row(
    "multivariate_normal_precision_logpdf",
    draw_by_precision,
    by_precision,
    build=lambda x, y, m, n, *p: bt.stats.multivariate_normal_precision_logpdf(
        stacked(x, y), stacked(m, n), symmetric(*p)
    ),
)


def lkj(a, b, eta):
    """Of two rows: [[1, 0], [a, b]]; the density of a."""
    return (2 * eta - 2) * log(b) - (mp.log(mp.pi) / 2 - log_rising(eta, mp.mpf(0.5))) + 0 * a


def draw_lkj(d):
    b = d.share()
    return d.rounded(np.sqrt(1 - b * b)), b, d.positive()


row(
    "lkj_cholesky_logpdf",
    draw_lkj,
    lkj,
    build=lambda a, b, eta: bt.stats.lkj_cholesky_logpdf(
        pt.stack([stacked(pt.ones_like(a), pt.zeros_like(a)), stacked(a, b)], axis=-2), eta
    ),
    through=lambda a, b, eta: [loggamma(eta)],
    cancels=(3,),
    why=GAMMA,
)


def wishart(a, b, c, df, p, q, r):
    of_x, of_scale = factor_of(a, b, c), factor_of(p, q, r)
    u, v, w = of_scale
    z = of_x[0] / u, (of_x[1] - v * of_x[0] / u) / w, of_x[2] / w
    log_gamma = mp.log(mp.pi) / 2 + loggamma(df / 2) + loggamma((df - 1) / 2)
    value = (df - 3) * (log(of_x[0]) + log(of_x[2])) - total(map(sqr, z)) / 2
    return value - df * mp.log(2) - df * (log(u) + log(w)) - log_gamma


def draw_wishart(d):
    df = d.rounded(1 + d.positive())
    return (*draw_covariance(d), df if df > 1 else np.nan, *draw_covariance(d))


row(
    "wishart_logpdf",
    draw_wishart,
    wishart,
    build=lambda a, b, c, df, *scale: bt.stats.wishart_logpdf(
        symmetric(a, b, c), df, symmetric(*scale)
    ),
    through=lambda a, b, c, df, *scale: [df - 1],
    cancels=(0, 1, 2, 3, 4),
    why=f"{GAMMA}; the slopes by x pass through its factor, where those of the trace cancel",
)

"""Models of posteriordb: from data to a log density on the unconstrained space, in a few lines each. A model takes its parameters in the
order in which its Stan program declares them, and adds the densities of its statements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import bitale as bt
import bitale.tensor as pt
from parameters import Parameters, Target

Model = Callable[[dict[str, Any], Parameters, Target], None]
MODELS: dict[str, Model] = {}
# Around which points to evaluate, where the log density is no number around 0.
CENTRES: dict[str, list[float]] = {"sir": [-0.7, -2.0, 3.7, -1.2]}


def model(function: Model) -> Model:
    MODELS[function.__name__.lstrip("_")] = function
    return function


def log_density(name: str, data: dict[str, Any]) -> tuple[Any, Any, int]:
    """The unconstrained vector, the log density of it, and its length."""
    arrays = {
        key: np.asarray(value) if isinstance(value, list) else value for key, value in data.items()
    }
    p = Parameters()
    target = Target(p)
    MODELS[name](arrays, p, target)
    q = pt.dvector(
        "q", shape=(p.taken,)
    )  # a known length halves the time of compilations and of small calls
    return q, bt.clone_replace(target.total, {p.q: q}), p.taken


def centred(x: Any) -> Any:
    return x - x.mean()


def standardised(x: Any, deviations: float = 1.0) -> Any:
    return centred(x) / (deviations * x.std(ddof=1))


# ---- linear regressions ---------------------------------------------------------------------------------------------


def linear(y: Any, *columns: Any, scale: float | None = None) -> Model:
    """Normal residuals of a constant and columns of the data; `scale`: of the Cauchy prior of sigma."""

    def build(d: dict[str, Any], p: Parameters, target: Target) -> None:
        x = np.column_stack([np.ones(d["N"]), *(column(d) for column in columns)])
        beta, sigma = p.real(x.shape[1]), p.positive()
        if scale is not None:
            target.cauchy(sigma, 0.0, scale)
        target.normal(y(d), pt.dot(x, beta), sigma)

    return build


def column(name: str, function: Any = lambda x: x) -> Any:
    return lambda d: function(np.asarray(d[name], float))


def product(a: Any, b: Any) -> Any:
    return lambda d: a(d) * b(d)


def indicator(name: str, level: int) -> Any:
    return lambda d: (d[name] == level).astype(float)


_kid, _hs, _iq = column("kid_score"), column("mom_hs"), column("mom_iq")
_hs_c, _iq_c = column("mom_hs", centred), column("mom_iq", centred)
_hs_c2, _iq_c2 = column("mom_hs", lambda x: x - 0.5), column("mom_iq", lambda x: x - 100)
_hs_z, _iq_z = (
    column("mom_hs", lambda x: standardised(x, 2)),
    column("mom_iq", lambda x: standardised(x, 2)),
)
_earn, _height, _male = column("earn"), column("height"), column("male")
_log_earn, _log_height, _height_z = (
    column("earn", np.log),
    column("height", np.log),
    column("height", standardised),
)
_volume = lambda d: np.log(d["diam1"] * d["diam2"] * d["canopy_height"])  # noqa: E731
_area = lambda d: np.log(d["diam1"] * d["diam2"])  # noqa: E731
_shape = lambda d: np.log(d["diam1"] / d["diam2"])  # noqa: E731
_log_weight, _total, _group = (
    column("weight", np.log),
    column("total_height", np.log),
    column("group"),
)

MODELS.update(
    kidscore_momhs=linear(_kid, _hs, scale=2.5),
    kidscore_momiq=linear(_kid, _iq, scale=2.5),
    kidscore_momhsiq=linear(_kid, _hs, _iq, scale=2.5),
    kidscore_interaction=linear(_kid, _hs, _iq, product(_hs, _iq), scale=2.5),
    kidscore_interaction_c=linear(_kid, _hs_c, _iq_c, product(_hs_c, _iq_c)),
    kidscore_interaction_c2=linear(_kid, _hs_c2, _iq_c2, product(_hs_c2, _iq_c2)),
    kidscore_interaction_z=linear(_kid, _hs_z, _iq_z, product(_hs_z, _iq_z)),
    kidscore_mom_work=linear(_kid, *(indicator("mom_work", k) for k in (2, 3, 4))),
    earn_height=linear(_earn, _height),
    log10earn_height=linear(column("earn", np.log10), _height),
    logearn_height=linear(_log_earn, _height),
    logearn_height_male=linear(_log_earn, _height, _male),
    logearn_logheight_male=linear(_log_earn, _log_height, _male),
    logearn_interaction=linear(_log_earn, _height, _male, product(_height, _male)),
    logearn_interaction_z=linear(_log_earn, _height_z, _male, product(_height_z, _male)),
    mesquite=linear(column("weight"), *map(column, ("diam1", "diam2", "canopy_height", "total_height", "density", "group"))),
    logmesquite=linear(
        _log_weight, *(column(name, np.log) for name in ("diam1", "diam2", "canopy_height", "total_height", "density")), _group,
    ),
    logmesquite_logvolume=linear(_log_weight, _volume),
    logmesquite_logva=linear(_log_weight, _volume, _area, _group),
    logmesquite_logvas=linear(_log_weight, _volume, _area, _shape, _total, column("density", np.log), _group),
    logmesquite_logvash=linear(_log_weight, _volume, _area, _shape, _total, _group),
    nes=linear(
        column("partyid7"), column("real_ideo"), column("race_adj"), *(indicator("age_discrete", k) for k in (2, 3, 4)),
        *map(column, ("educ1", "gender", "income")),
    ),
    sesame_one_pred_a=linear(column("watched"), column("encouraged")),
)  # fmt: skip


@model
def blr(d: dict[str, Any], p: Parameters, target: Target) -> None:
    beta, sigma = p.real(d["D"]), p.positive()
    target.normal(beta, 0.0, 10.0)
    target.normal(sigma, 0.0, 10.0)
    target.normal(d["y"], pt.dot(d["X"], beta), sigma)


@model
def kilpisjarvi(d: dict[str, Any], p: Parameters, target: Target) -> None:
    alpha, beta, sigma = p.real(), p.real(), p.positive()
    target.normal(alpha, d["pmualpha"], d["psalpha"])
    target.normal(beta, d["pmubeta"], d["psbeta"])
    target.normal(d["y"], alpha + beta * d["x"], sigma)


@model
def diamonds(d: dict[str, Any], p: Parameters, target: Target) -> None:
    x = d["X"][:, 1:]
    b, intercept, sigma = p.real(d["K"] - 1), p.real(), p.positive()
    target.normal(b)
    target.t(intercept, 3.0, 8.0, 10.0)
    target.t(sigma, 3.0, 0.0, 10.0)
    target.normal(d["Y"], intercept + pt.dot(x - x.mean(axis=0), b), sigma)


# ---- logistic regressions -------------------------------------------------------------------------------------------


def logistic(y: str, *columns: Any) -> Model:
    def build(d: dict[str, Any], p: Parameters, target: Target) -> None:
        x = np.column_stack([np.ones(d["N"]), *(column(d) for column in columns)])
        target.bernoulli_logit(d[y], pt.dot(x, p.real(x.shape[1])))

    return build


_dist, _arsenic, _educ4 = (
    column("dist", lambda x: x / 100),
    column("arsenic"),
    column("educ", lambda x: x / 4),
)
_dist_c, _arsenic_c = column("dist", lambda x: centred(x) / 100), column("arsenic", centred)
_assoc, _educ4_c = column("assoc"), column("educ", lambda x: centred(x) / 4)

MODELS.update(
    wells_dist=logistic("switched", column("dist")),
    wells_dist100_model=logistic("switched", _dist),
    wells_dist100ars_model=logistic("switched", _dist, _arsenic),
    wells_interaction_model=logistic("switched", _dist, _arsenic, product(_dist, _arsenic)),
    wells_interaction_c_model=logistic(
        "switched", _dist_c, _arsenic_c, product(_dist_c, _arsenic_c)
    ),
    wells_daae_c_model=logistic(
        "switched", _dist_c, _arsenic_c, product(_dist_c, _arsenic_c), _assoc, _educ4
    ),
    wells_dae_model=logistic("switched", _dist, _arsenic, _educ4),
    wells_dae_c_model=logistic(
        "switched", _dist_c, _arsenic_c, product(_dist_c, _arsenic_c), _educ4
    ),
    wells_dae_inter_model=logistic(
        "switched",
        _dist_c,
        _arsenic_c,
        _educ4_c,
        product(_dist_c, _arsenic_c),
        product(_dist_c, _educ4_c),
        product(_arsenic_c, _educ4_c),
    ),
    nes_logit_model=logistic("vote", column("income")),
)


@model
def logistic_regression_rhs(d: dict[str, Any], p: Parameters, target: Target) -> None:
    beta0, z, tau = p.real(), p.real(d["d"]), p.positive()
    scales, caux = p.positive(d["d"]), p.positive()
    c2 = d["slab_scale"] ** 2 * caux
    shrunk = pt.sqrt(c2 * scales**2 / (c2 + tau**2 * scales**2))
    target.normal(z)
    target.t(scales, float(d["nu_local"]), 0.0, 1.0)
    target.t(tau, float(d["nu_global"]), 0.0, d["scale_global"] * 2.0)
    target.invgamma(caux, 0.5 * d["slab_df"], 0.5 * d["slab_df"])
    target.normal(beta0, 0.0, float(d["scale_icept"]))
    target.bernoulli_logit(d["y"], beta0 + pt.dot(d["x"], z * shrunk * tau))


@model
def dogs(d: dict[str, Any], p: Parameters, target: Target) -> None:
    shocks = np.cumsum(d["y"], axis=1) - d["y"]  # before each trial
    avoided = np.arange(d["n_trials"]) - shocks
    beta = p.real(3)
    target.normal(beta, 0.0, 100.0)
    target.bernoulli_logit(d["y"], beta[0] + beta[1] * avoided + beta[2] * shocks)


# ---- groups ---------------------------------------------------------------------------------------------------------


def radon(intercept: str, slope: str, sigmas_first: bool = False) -> Model:
    """Radon in houses by county: intercept and slope are "pooled", "county" (independent), "centered", "noncentered" or "none"."""

    def varying(p: Parameters, kind: str, count: int) -> Any:
        return p.real() if kind == "pooled" else None if kind == "none" else p.real(count)

    def build(d: dict[str, Any], p: Parameters, target: Target) -> None:
        j, county = d["J"] if "J" in d else 0, d["county_idx"] - 1
        kinds, varies = (intercept, slope), ("centered", "noncentered")
        if sigmas_first:
            sigma_y = p.positive()
            sigmas: list[Any] = [p.positive() if kind in varies else None for kind in kinds]
            raw = [varying(p, kind, j) for kind in kinds]
            means = [p.real() if kind in varies else None for kind in kinds]
        else:
            raw = [varying(p, kind, j) for kind in kinds]
            means, sigmas = [], []
            for kind in kinds:
                means.append(p.real() if kind in varies else None)
                sigmas.append(p.positive() if kind in varies else None)
            sigma_y = p.positive()
        mean: Any = 0.0
        for kind, values, mu, sigma, factor in zip(
            kinds, raw, means, sigmas, (1.0, d["floor_measure"])
        ):
            if kind == "none":
                continue
            if kind in varies:
                target.normal(mu, 0.0, 10.0)
                target.normal(sigma)
            if kind == "centered":
                target.normal(values, mu, sigma)
            elif kind == "noncentered":
                target.normal(values)
                values = mu + sigma * values
            else:
                target.normal(values, 0.0, 10.0)
            mean = mean + (values if kind == "pooled" else values[county]) * factor
        target.normal(sigma_y)
        target.normal(d["log_radon"], mean, sigma_y)

    return build


MODELS.update(
    radon_pooled=radon("pooled", "pooled"),
    radon_county_intercept=radon("county", "pooled"),
    radon_partially_pooled_centered=radon("centered", "none"),
    radon_partially_pooled_noncentered=radon("noncentered", "none"),
    radon_variable_intercept_centered=radon("centered", "pooled"),
    radon_variable_intercept_noncentered=radon("noncentered", "pooled"),
    radon_variable_slope_centered=radon("pooled", "centered"),
    radon_variable_slope_noncentered=radon("pooled", "noncentered"),
    radon_variable_intercept_slope_centered=radon("centered", "centered", sigmas_first=True),
    radon_variable_intercept_slope_noncentered=radon(
        "noncentered", "noncentered", sigmas_first=True
    ),
)


def radon_hierarchical(is_centered: bool) -> Model:
    def build(d: dict[str, Any], p: Parameters, target: Target) -> None:
        alpha, beta = p.real(d["J"]), p.real(2)
        mu_alpha, sigma_alpha, sigma_y = p.real(), p.positive(), p.positive()
        target.normal(sigma_alpha)
        target.normal(sigma_y)
        target.normal(mu_alpha, 0.0, 10.0)
        target.normal(beta, 0.0, 10.0)
        if is_centered:
            target.normal(alpha, mu_alpha, sigma_alpha)
        else:
            target.normal(alpha)
            alpha = mu_alpha + sigma_alpha * alpha
        target.normal(
            d["log_radon"],
            alpha[d["county_idx"] - 1] + d["log_uppm"] * beta[0] + d["floor_measure"] * beta[1],
            sigma_y,
        )

    return build


MODELS["radon_hierarchical_intercept_centered"] = radon_hierarchical(True)
MODELS["radon_hierarchical_intercept_noncentered"] = radon_hierarchical(False)


@model
def radon_county(d: dict[str, Any], p: Parameters, target: Target) -> None:
    a, mu_a = p.real(d["J"]), p.real()
    sigma_a, sigma_y = p.interval(0.0, 100.0), p.interval(0.0, 100.0)
    target.normal(mu_a)
    target.normal(a, mu_a, sigma_a)
    target.normal(d["y"], a[d["county"] - 1], sigma_y)


@model
def eight_schools_centered(d: dict[str, Any], p: Parameters, target: Target) -> None:
    theta, mu, tau = p.real(d["J"]), p.real(), p.positive()
    target.cauchy(tau, 0.0, 5.0)
    target.normal(theta, mu, tau)
    target.normal(d["y"], theta, d["sigma"])
    target.normal(mu, 0.0, 5.0)


@model
def eight_schools_noncentered(d: dict[str, Any], p: Parameters, target: Target) -> None:
    z, mu, tau = p.real(d["J"]), p.real(), p.positive()
    target.normal(z)
    target.normal(d["y"], z * tau + mu, d["sigma"])
    target.normal(mu, 0.0, 5.0)
    target.cauchy(tau, 0.0, 5.0)


@model
def pilots(d: dict[str, Any], p: Parameters, target: Target) -> None:
    a, b = p.real(d["n_groups"]), p.real(d["n_scenarios"])
    mu_a, mu_b = p.real(), p.real()
    sigma_a, sigma_b, sigma_y = (p.interval(0.0, 100.0) for _ in range(3))
    target.normal(mu_a)
    target.normal(a, 10 * mu_a, sigma_a)
    target.normal(mu_b)
    target.normal(b, 10 * mu_b, sigma_b)
    target.normal(d["y"], a[d["group_id"] - 1] + b[d["scenario_id"] - 1], sigma_y)


@model
def rats_model(d: dict[str, Any], p: Parameters, target: Target) -> None:
    alpha, beta = p.real(d["N"]), p.real(d["N"])
    mu_alpha, mu_beta = p.real(), p.real()
    sigma_y, sigma_alpha, sigma_beta = p.positive(), p.positive(), p.positive()
    rat = d["rat"] - 1
    target.normal(mu_alpha, 0.0, 100.0)
    target.normal(mu_beta, 0.0, 100.0)
    target.normal(alpha, mu_alpha, sigma_alpha)
    target.normal(beta, mu_beta, sigma_beta)
    target.normal(d["y"], alpha[rat] + beta[rat] * (d["x"] - d["xbar"]), sigma_y)


@model
def election88_full(d: dict[str, Any], p: Parameters, target: Target) -> None:
    groups = [
        ("age", "n_age"),
        ("edu", "n_edu"),
        ("age_edu", "n_age_edu"),
        ("state", "n_state"),
        ("region_full", "n_region_full"),
    ]
    effects = [p.real(d[count]) for _, count in groups]
    beta = p.real(5)
    mean = (
        beta[0]
        + beta[1] * d["black"]
        + beta[2] * d["female"]
        + beta[4] * (d["female"] * d["black"])
        + beta[3] * d["v_prev_full"]
    )
    for effect, (index, _) in zip(effects, groups):
        target.normal(effect, 0.0, p.interval(0.0, 100.0))
        mean = mean + effect[d[index] - 1]
    target.normal(beta, 0.0, 100.0)
    target.bernoulli_logit(d["y"], mean)


# ---- counts ---------------------------------------------------------------------------------------------------------


@model
def GLM_Poisson_model(d: dict[str, Any], p: Parameters, target: Target) -> None:
    alpha, *beta = p.interval(-20.0, 20.0), *(p.interval(-10.0, 10.0) for _ in range(3))
    target.poisson_log(d["C"], alpha + sum(b * d["year"] ** (k + 1) for k, b in enumerate(beta)))


@model
def GLMM_Poisson_model(d: dict[str, Any], p: Parameters, target: Target) -> None:
    alpha, *beta = p.interval(-20.0, 20.0), *(p.interval(-10.0, 10.0) for _ in range(3))
    eps, sigma = p.real(d["n"]), p.interval(0.0, 5.0)
    target.poisson_log(
        d["C"], alpha + sum(b * d["year"] ** (k + 1) for k, b in enumerate(beta)) + eps
    )
    target.normal(eps, 0.0, sigma)


@model
def GLM_Binomial_model(d: dict[str, Any], p: Parameters, target: Target) -> None:
    beta = p.real(3)
    target.normal(beta, 0.0, 100.0)
    target.binomial_logit(d["C"], d["N"], beta[0] + beta[1] * d["year"] + beta[2] * d["year"] ** 2)


@model
def GLMM1_model(d: dict[str, Any], p: Parameters, target: Target) -> None:
    alpha, mu, sd = p.real(d["nsite"]), p.real(), p.interval(0.0, 5.0)
    target.normal(alpha, mu, sd)
    target.normal(mu, 0.0, 10.0)
    target.poisson_log(d["obs"], alpha[d["obssite"] - 1])


@model
def M0_model(d: dict[str, Any], p: Parameters, target: Target) -> None:
    """Capture and recapture: who was never seen is either absent or was missed each time."""
    seen = d["y"].sum(axis=1)
    omega, detection = p.interval(0.0, 1.0), p.interval(0.0, 1.0)
    present = seen[seen > 0]
    target.binomial(present, d["T"], detection)
    target.add(len(present) * pt.log(omega))
    missed = pt.log(omega) + d["T"] * pt.log1p(-detection)
    target.add((len(seen) - len(present)) * pt.logaddexp(missed, pt.log1p(-omega)))


@model
def Rate_1_model(d: dict[str, Any], p: Parameters, target: Target) -> None:
    target.binomial(d["k"], d["n"], p.interval(0.0, 1.0))


@model
def Rate_3_model(d: dict[str, Any], p: Parameters, target: Target) -> None:
    theta = p.interval(0.0, 1.0)
    target.binomial(d["k1"], d["n1"], theta)
    target.binomial(d["k2"], d["n2"], theta)


MODELS["Rate_5_model"] = Rate_3_model


@model
def Rate_4_model(d: dict[str, Any], p: Parameters, target: Target) -> None:
    target.binomial(d["k"], d["n"], p.interval(0.0, 1.0))
    p.interval(0.0, 1.0)  # of the prior alone


@model
def Rate_2_model(d: dict[str, Any], p: Parameters, target: Target) -> None:
    for k in ("1", "2"):
        target.binomial(d[f"k{k}"], d[f"n{k}"], p.interval(0.0, 1.0))


def _seeds_mean(d: dict[str, Any], alphas: Any, b: Any) -> Any:
    return (
        alphas[0] + alphas[1] * d["x1"] + alphas[3] * d["x2"] + alphas[2] * (d["x1"] * d["x2"]) + b
    )


@model
def seeds_model(d: dict[str, Any], p: Parameters, target: Target) -> None:
    alphas, tau, b = p.real(4), p.positive(), p.real(d["I"])
    target.normal(alphas, 0.0, 1e3)
    target.gamma(tau, 1e-3, 1e-3)
    target.normal(b, 0.0, 1 / pt.sqrt(tau))
    target.binomial_logit(d["n"], d["N"], _seeds_mean(d, alphas, b))


@model
def seeds_stanified_model(d: dict[str, Any], p: Parameters, target: Target) -> None:
    alphas, b, sigma = p.real(4), p.real(d["I"]), p.positive()
    target.normal(alphas)
    target.cauchy(sigma)
    target.normal(b, 0.0, sigma)
    target.binomial_logit(d["n"], d["N"], _seeds_mean(d, alphas, b))


@model
def seeds_centered_model(d: dict[str, Any], p: Parameters, target: Target) -> None:
    alphas, c, sigma = p.real(4), p.real(d["I"]), p.positive()
    target.normal(alphas)
    target.cauchy(sigma)
    target.normal(c, 0.0, sigma)
    target.binomial_logit(d["n"], d["N"], _seeds_mean(d, alphas, c - c.mean()))


@model
def surgical_model(d: dict[str, Any], p: Parameters, target: Target) -> None:
    mu, variance, b = p.real(), p.positive(), p.real(d["N"])
    target.normal(mu, 0.0, 1000.0)
    target.invgamma(variance, 0.001, 0.001)
    target.normal(b, mu, pt.sqrt(variance))
    target.binomial_logit(d["r"], d["n"], b)


@model
def irt_2pl(d: dict[str, Any], p: Parameters, target: Target) -> None:
    sigma_theta, theta = p.positive(), p.real(d["J"])
    sigma_a, a = p.positive(), p.positive(d["I"])
    mu_b, sigma_b, b = p.real(), p.positive(), p.real(d["I"])
    for sigma in (sigma_theta, sigma_a, sigma_b):
        target.cauchy(sigma, 0.0, 2.0)
    target.normal(theta, 0.0, sigma_theta)
    target.lognormal(a, 0.0, sigma_a)
    target.normal(mu_b, 0.0, 5.0)
    target.normal(b, mu_b, sigma_b)
    target.bernoulli_logit(d["y"], a[:, None] * (theta[None, :] - b[:, None]))


@model
def lsat_model(d: dict[str, Any], p: Parameters, target: Target) -> None:
    alpha, theta, beta = p.real(d["T"]), p.real(d["N"]), p.positive()
    repeats = np.diff(d["culm"], prepend=0)
    target.normal(alpha, 0.0, 100.0)
    target.normal(theta)
    target.normal(beta, 0.0, 100.0)
    target.bernoulli_logit(
        np.repeat(d["response"], repeats, axis=0).T, beta * theta[None, :] - alpha[:, None]
    )


# ---- series and curves ----------------------------------------------------------------------------------------------


@model
def arK(d: dict[str, Any], p: Parameters, target: Target) -> None:
    k, y = d["K"], d["y"]
    alpha, beta, sigma = p.real(), p.real(k), p.positive()
    target.normal(alpha, 0.0, 10.0)
    target.normal(beta, 0.0, 10.0)
    target.cauchy(sigma, 0.0, 2.5)
    lagged = np.column_stack([y[k - lag : len(y) - lag] for lag in range(1, k + 1)])
    target.normal(y[k:], alpha + pt.dot(lagged, beta), sigma)


@model
def arma11(d: dict[str, Any], p: Parameters, target: Target) -> None:
    y = d["y"]
    mu, phi, theta, sigma = p.real(), p.real(), p.real(), p.positive()
    target.normal(mu, 0.0, 10.0)
    target.normal(phi, 0.0, 2.0)
    target.normal(theta, 0.0, 2.0)
    target.cauchy(sigma, 0.0, 2.5)
    first = y[0] - (mu + phi * mu)
    errors = bt.scan(
        lambda now, before, error: now - (mu + phi * before + theta * error),
        sequences=[pt.as_tensor_variable(y[1:]), pt.as_tensor_variable(y[:-1])],
        outputs_info=first,
        return_updates=False,
    )
    target.normal(first, 0.0, sigma)
    target.normal(errors, 0.0, sigma)


@model
def garch11(d: dict[str, Any], p: Parameters, target: Target) -> None:
    y = d["y"]
    mu, alpha0, alpha1 = p.real(), p.positive(), p.interval(0.0, 1.0)
    beta1 = p.interval(0.0, 1 - alpha1)
    variances = bt.scan(
        lambda before, variance: alpha0 + alpha1 * (before - mu) ** 2 + beta1 * variance,
        sequences=[pt.as_tensor_variable(y[:-1])],
        outputs_info=pt.as_tensor_variable(np.float64(d["sigma1"]) ** 2),
        return_updates=False,
    )
    target.normal(y[:1], mu, float(d["sigma1"]))
    target.normal(y[1:], mu, pt.sqrt(variances))


@model
def dugongs_model(d: dict[str, Any], p: Parameters, target: Target) -> None:
    alpha, beta, base, tau = p.real(), p.real(), p.interval(0.5, 1.0), p.positive()
    target.normal(d["Y"], alpha - beta * base ** d["x"], 1 / pt.sqrt(tau))
    target.normal(alpha, 0.0, 1000.0)
    target.normal(beta, 0.0, 1000.0)
    target.gamma(tau, 1e-4, 1e-4)


def _squared_exponential(x: Any, alpha: Any, rho: Any) -> Any:
    return alpha**2 * pt.exp(-0.5 * (x[:, None] - x[None, :]) ** 2 / rho**2)


@model
def gp_regr(d: dict[str, Any], p: Parameters, target: Target) -> None:
    rho, alpha, sigma = p.positive(), p.positive(), p.positive()
    n = d["N"]
    target.gamma(rho, 25.0, 4.0)
    target.normal(alpha, 0.0, 2.0)
    target.normal(sigma)
    target.multivariate_normal(
        d["y"], np.zeros(n), _squared_exponential(d["x"], alpha, rho) + sigma * np.eye(n)
    )


@model
def gp_pois_regr(d: dict[str, Any], p: Parameters, target: Target) -> None:
    rho, alpha, z = p.positive(), p.positive(), p.real(d["N"])
    target.gamma(rho, 25.0, 4.0)
    target.normal(alpha, 0.0, 2.0)
    target.normal(z)
    cov = _squared_exponential(d["x"], alpha, rho) + 1e-10 * np.eye(d["N"])
    target.poisson_log(d["k"], pt.dot(pt.linalg.cholesky(cov), z))


# ---- mixtures -------------------------------------------------------------------------------------------------------


def _mixture(target: Target, y: Any, shares: Any, mu: Any, sigma: Any) -> None:
    each = [
        pt.log(share) + bt.stats.normal_logpdf(y, m, s) for share, m, s in zip(shares, mu, sigma)
    ]
    target.add(pt.logsumexp(pt.stack(each), axis=0))


@model
def low_dim_gauss_mix(d: dict[str, Any], p: Parameters, target: Target) -> None:
    mu, sigma, theta = p.ordered(2), p.positive(2), p.interval(0.0, 1.0)
    target.normal(sigma, 0.0, 2.0)
    target.normal(mu, 0.0, 2.0)
    target.beta(theta, 5.0, 5.0)
    _mixture(target, d["y"], (theta, 1 - theta), (mu[0], mu[1]), (sigma[0], sigma[1]))


@model
def low_dim_gauss_mix_collapse(d: dict[str, Any], p: Parameters, target: Target) -> None:
    mu, sigma, theta = p.real(2), p.positive(2), p.interval(0.0, 1.0)
    target.normal(sigma, 0.0, 2.0)
    target.normal(mu, 0.0, 2.0)
    target.beta(theta, 5.0, 5.0)
    _mixture(target, d["y"], (theta, 1 - theta), (mu[0], mu[1]), (sigma[0], sigma[1]))


@model
def normal_mixture(d: dict[str, Any], p: Parameters, target: Target) -> None:
    theta, mu = p.interval(0.0, 1.0), p.real(2)
    target.normal(mu, 0.0, 10.0)
    _mixture(target, d["y"], (theta, 1 - theta), (mu[0], mu[1]), (1.0, 1.0))


@model
def normal_mixture_k(d: dict[str, Any], p: Parameters, target: Target) -> None:
    k = d["K"]
    theta, mu, sigma = p.simplex(k), p.real(k), p.interval(0.0, 10.0, k)
    target.normal(mu, 0.0, 10.0)
    each = pt.log(theta)[:, None] + bt.stats.normal_logpdf(d["y"], mu[:, None], sigma[:, None])
    target.add(pt.logsumexp(each, axis=0))


# ---- hidden Markov models -------------------------------------------------------------------------------------------


def _forward(log_transitions: Any, first: Any, others: Any) -> Any:
    """The log density of a series by the forward algorithm: of the first observation in each state, and of the others."""
    step = lambda now, before: pt.logsumexp(before[:, None] + log_transitions, axis=0) + now  # noqa: E731
    return pt.logsumexp(
        bt.scan(step, sequences=[others], outputs_info=first, return_updates=False)[-1]
    )


@model
def hmm_example(d: dict[str, Any], p: Parameters, target: Target) -> None:
    transitions = pt.stack([p.simplex(d["K"]) for _ in range(2)])
    mu = p.positive_ordered(d["K"])
    target.normal(mu[0], 3.0, 1.0)
    target.normal(mu[1], 10.0, 1.0)
    each = bt.stats.normal_logpdf(d["y"][:, None], mu)
    target.add(_forward(pt.log(transitions), each[0], each[1:]))


# ---- differential equations, with the tolerances of the Stan programs where nothing else is said --------------------


def _solution(f: Any, y0: Any, times: Any, tolerances: tuple[float, float]) -> Any:
    """The states at the times after 0, which is that of y0."""
    rtol, atol = tolerances
    return bt.integrate.odeint(
        f, y0, np.append(0.0, times), rtol=rtol, atol=atol, sensitivity="forward", on_error="nan"
    )[1:]


@model
def lotka_volterra(d: dict[str, Any], p: Parameters, target: Target) -> None:
    theta, z_init, sigma = p.positive(4), p.positive(2), p.positive(2)
    alpha, beta, gamma, delta = (theta[k] for k in range(4))
    # Stan's program has 1e-5 and 1e-3, by which its gradient, whose tangents count as well, is right to 5e-4; here to 3e-5.
    z = _solution(
        lambda z, t: [(alpha - beta * z[1]) * z[0], (delta * z[0] - gamma) * z[1]],
        z_init,
        d["ts"],
        (1e-6, 1e-5),
    )
    target.normal(theta[0::2], 1.0, 0.5)
    target.normal(theta[1::2], 0.05, 0.05)
    target.lognormal(sigma, -1.0, 1.0)
    target.lognormal(z_init, np.log(10.0), 1.0)
    target.lognormal(d["y_init"], pt.log(z_init), sigma)
    target.lognormal(d["y"], pt.log(z), sigma)


@model
def sir(d: dict[str, Any], p: Parameters, target: Target) -> None:
    beta, gamma, xi, delta = (p.positive() for _ in range(4))

    def slope(y: Any, t: Any) -> list[Any]:
        infected = beta * y[3] / (y[3] + 1e6) * y[0]
        return [-infected, infected - gamma * y[1], gamma * y[1], xi * y[1] - delta * y[3]]

    y0 = np.asarray(d["y0"], float)
    y = _solution(slope, y0, d["t"], (1e-6, 1e-6))
    target.cauchy(beta, 0.0, 2.5)
    target.cauchy(gamma, 0.0, 1.0)
    target.cauchy(xi, 0.0, 25.0)
    target.cauchy(delta, 0.0, 1.0)
    target.poisson(d["stoi_hat"], -pt.diff(pt.concatenate([y0[:1], y[:, 0]])))
    target.lognormal(d["B_hat"], pt.log(y[:, 3]), 0.15)


@model
def one_comp_mm_elim_abs(d: dict[str, Any], p: Parameters, target: Target) -> None:
    k_a, k_m, v_m, sigma = (p.positive() for _ in range(4))
    # Stan's program gives no dose at the time 0 itself, which changes no integral.
    dose = lambda t: pt.exp(-k_a * t) * d["D"] * k_a / d["V"]  # noqa: E731
    c = _solution(
        lambda c, t: dose(t) - v_m / d["V"] * c / (k_m + c), 0.0, d["times"], (1e-10, 1e-10)
    )
    for parameter in (k_a, k_m, v_m, sigma):
        target.cauchy(parameter, 0.0, 1.0)
    target.lognormal(d["C_hat"], pt.log(c), sigma)


@model
def soil_incubation(d: dict[str, Any], p: Parameters, target: Target) -> None:
    k1, k2, alpha21, alpha12 = (p.positive() for _ in range(4))
    gamma, sigma = p.interval(0.0, 1.0), p.positive()
    total = d["totalC_t0"]

    def slope(c: Any, t: Any) -> list[Any]:
        return [alpha12 * k2 * c[1] - k1 * c[0], alpha21 * k1 * c[0] - k2 * c[1]]

    c = _solution(slope, [gamma * total, (1 - gamma) * total], d["ts"], (1e-6, 1e-6))
    target.beta(gamma, 10.0, 1.0)
    for parameter in (k1, k2, alpha21, alpha12):
        target.normal(parameter, 0.0, 1.0)
    target.cauchy(sigma, 0.0, 1.0)
    target.normal(d["eCO2mean"], total - c.sum(axis=1), sigma)

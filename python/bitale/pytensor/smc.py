"""A kernel for PyMC's sequential Monte Carlo that moves all particles in lock step: one call of a Bitale function evaluates the whole population."""

from __future__ import annotations

from typing import Any

import numpy as np
import pymc
from pymc.smc.kernels import SMC_KERNEL

import bitale as bt
import bitale.tensor as pt
from bitale.pytensor.linker import BITALE, nothing_else_compiles
from bitale.pytensor.model_graph import prior_and_likelihood, require_continuous

_WANTED_RATE = 0.8  # of accepted trajectories


class HamiltonianKernel(SMC_KERNEL):
    """Moves of Hamiltonian Monte Carlo, for ``pm.sample_smc(kernel=HamiltonianKernel)``.

    In each stage every particle follows `trajectories` trajectories of `leapfrogs` steps each, in coordinates in which the population has unit
    covariance. The length of a step is adapted to a rate of acceptance of 0.8. Other options are those of PyMC's kernels. ValueError for models
    with discrete free variables.
    """

    stats_dtypes_shapes = {
        **SMC_KERNEL.stats_dtypes_shapes,
        "accept_rate": (float, []),
        "step_size": (float, []),
    }

    tempered_posterior: np.ndarray

    def __init__(
        self,
        *args: Any,
        leapfrogs: int = 8,
        trajectories: int = 3,
        compile_kwargs: dict[str, Any] | None = None,
        **options: Any,
    ):
        for name, count in (("leapfrogs", leapfrogs), ("trajectories", trajectories)):
            if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 1:
                raise ValueError(
                    f"HamiltonianKernel: {name} must be a positive number, got {count!r}"
                )
        model = pymc.modelcontext(options.get("model"))
        require_continuous(model, "smc")
        super().__init__(
            *args, compile_kwargs={"mode": BITALE, **(compile_kwargs or {})}, **options
        )
        self.leapfrogs, self.trajectories = int(leapfrogs), int(trajectories)
        self.step_size, self.accept_rate = 0.3, 0.0
        self.axes = np.empty((0, 0))
        self.evaluate = self._compiled(model)

    def _compiled(self, model: Any) -> bt.Function:
        """Of points, one in each row, and the inverse temperature: both terms of the log density, and the gradient of what is sampled."""
        with nothing_else_compiles():
            point, terms = prior_and_likelihood(
                model, [shape for shape, _ in self.var_info.values()]
            )
        points, beta = (
            pt.tensor("points", dtype="float64", shape=(self.draws, point.type.shape[0])),
            pt.dscalar("beta"),
        )
        prior, likelihood = (
            pt.broadcast_to(term, (self.draws,))
            for term in bt.vectorize_graph(terms, {point: points})
        )
        slope = bt.grad(
            (prior + beta * likelihood).sum(), points
        )  # of each, as no particle depends on another
        return bt.function(
            [points, beta], [prior, likelihood, slope], on_unused_input="ignore", threads=1
        )

    def setup_kernel(self) -> None:
        self.step_size = 0.3

    def tune(self) -> None:
        """Finds coordinates in which the population has unit covariance."""
        covariance = np.atleast_2d(np.cov(self.tempered_posterior, rowvar=False))
        if not np.isfinite(covariance).all():
            raise ValueError(
                "HamiltonianKernel: the particles have no finite covariance; more draws may help"
            )
        self.axes = np.linalg.cholesky(
            covariance + 1e-9 * (1 + covariance.diagonal().max()) * np.eye(len(covariance))
        )

    def mutate(self) -> None:
        points = np.asarray(self.tempered_posterior, dtype="float64")
        prior, likelihood, slope = self.evaluate(points, self.beta)
        rates = []
        for _ in range(self.trajectories):
            momentum = self.rng.normal(size=points.shape)
            position, velocity, *end = self._trajectory(points, momentum, slope)
            with np.errstate(invalid="ignore"):
                gain = (
                    (end[0] - prior)
                    + self.beta * (end[1] - likelihood)
                    - 0.5 * ((velocity**2).sum(1) - (momentum**2).sum(1))
                )
            probability = np.exp(np.minimum(np.nan_to_num(gain, nan=-np.inf), 0))
            taken = self.rng.random(self.draws) < probability
            points, slope = (
                np.where(taken[:, None], new, old)
                for new, old in ((position, points), (end[2], slope))
            )
            prior, likelihood = (
                np.where(taken, new, old) for new, old in zip(end, (prior, likelihood))
            )
            rates.append(probability.mean())
            self.step_size *= float(np.exp(0.5 * (rates[-1] - _WANTED_RATE)))
        self.accept_rate = float(np.mean(rates))
        self.tempered_posterior, self.prior_logp, self.likelihood_logp = points, prior, likelihood
        self.tempered_posterior_logp = prior + self.beta * likelihood

    def _trajectory(
        self, position: np.ndarray, velocity: np.ndarray, slope: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        """Where the particles arrive, with which velocity, and the values of `evaluate` there."""
        size = self.step_size * self.rng.uniform(0.7, 1.3, (self.draws, 1))
        for _ in range(self.leapfrogs):
            velocity = velocity + 0.5 * size * (slope @ self.axes)
            position = position + size * (velocity @ self.axes.T)
            prior, likelihood, slope = self.evaluate(position, self.beta)
            velocity = velocity + 0.5 * size * (slope @ self.axes)
        return position, velocity, prior, likelihood, slope

    def sample_stats(self) -> dict[str, Any]:
        return {
            "log_marginal_likelihood": self.log_marginal_likelihood if self.beta == 1 else np.nan,
            "beta": self.beta,
            "accept_rate": self.accept_rate,
            "step_size": self.step_size,
        }

    def sample_settings(self) -> dict[str, Any]:
        return {
            "_n_draws": self.draws,
            "threshold": self.threshold,
            "_n_tune": self.trajectories * self.leapfrogs,
        }

"""Log densities and gradients of a PyMC model at many points in one call, for samplers that move many chains together."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

import bitale as bt
import bitale.tensor as pt
from bitale.pytensor.linker import nothing_else_compiles
from bitale.pytensor.model_graph import ModelGraph, initial_values, model_graph, require_continuous


@dataclasses.dataclass(frozen=True)
class BatchedModel:
    """A model evaluated at many points at once. Each point is a row: the free variables on the unconstrained scale, one after another."""

    chains: int | None
    graph: ModelGraph
    function: (
        bt.Function
    )  # of points in columns, so that each vector of the processor holds several; so is `density`
    density: bt.Function
    expand: bt.Function

    @property
    def size(self) -> int:
        """Length of a point."""
        return self.graph.free.size

    def __call__(self, points: Any) -> tuple[np.ndarray, np.ndarray]:
        """The log density of each point, and its gradient. TypeError where `points` is not a matrix of numbers of shape (chains, size)."""
        values, gradients = self.function(self._arranged(points))
        return values, gradients.T

    def logp(self, points: Any) -> np.ndarray:
        """The log density of each point."""
        values: np.ndarray = self.density(self._arranged(points))
        return values

    def _arranged(self, points: Any) -> Any:
        points = np.asarray(points)
        if (
            points.ndim != 2
            or points.shape[1] != self.size
            or self.chains not in (None, len(points))
        ):
            raise TypeError(
                f"points: expected a matrix of shape ({self.chains or 'any'}, {self.size}), got one of shape {points.shape}"
            )
        return np.ascontiguousarray(points.T)

    def initial_points(self, seed: Any = None, chains: int | None = None) -> np.ndarray:
        """Start values, jittered as PyMC does, one row for each chain."""
        count = self.chains if chains is None else chains
        if count is None:
            raise TypeError(
                "initial_points: the model was compiled for any number of chains, so chains= is needed"
            )
        seeds = np.random.SeedSequence(seed).generate_state(count)
        return np.stack([self.graph.flat_start(int(one)) for one in seeds])

    def variables(self, points: Any) -> dict[str, np.ndarray]:
        """The model's variables at these points, those on the unconstrained scale among them, by name. The first dimension is that of the
        points, of which there may be any number."""
        points = np.asarray(points, dtype="float64")
        free = self.graph.free
        found = {
            name: points[:, at].reshape(-1, *shape)
            for name, at, shape in zip(free.names, free.slices, free.shapes)
        }
        return {**found, **dict(zip(self.graph.names, self.expand(points)))}


def batched(
    model: Any,
    chains: int | None = None,
    *,
    var_names: Any = None,
    initial_points: Any = None,
    jitter_rvs: Any = None,
) -> BatchedModel:
    """A PyMC model whose log density and gradient are evaluated at many points in one call, for samplers with many chains.

    chains: how many points; None: any number. The result is called with a matrix, whose rows are
    points on the unconstrained scale, and returns their log densities and gradients; `logp(points)`
    returns only the former, `initial_points(seed)` start values, and `variables(points)` the
    model's variables by name. Other options and errors are those of `nutpie.compile_model`. Shared
    data keep their current values.
    """
    var_names = None if var_names is None else list(var_names)
    require_continuous(model, "batched", var_names or ())
    if chains is not None and (
        isinstance(chains, bool) or not isinstance(chains, (int, np.integer)) or chains < 1
    ):
        raise ValueError(
            f"batched: chains must be a positive number, or None for any, got {chains!r}"
        )
    with nothing_else_compiles():
        graph = model_graph(model, initial_values(model, initial_points, jitter_rvs), var_names)
    count = None if chains is None else int(chains)
    points = pt.tensor("points", dtype="float64", shape=(graph.free.size, count))
    values = bt.vectorize_graph(graph.log_density, {graph.point: points}, batch_axis=-1)
    gradients = bt.grad(values.sum(), points)  # of each value, as no other depends on its point
    any_number = pt.tensor("points", dtype="float64", shape=(None, graph.free.size))
    expanded = bt.vectorize_graph(graph.expanded, {graph.point: any_number})
    options: dict[str, Any] = {"on_unused_input": "ignore"}
    # In lanes, sums take their terms in another order anyway, so that products with reciprocals change no more.
    mode = bt.get_mode(None).including("reciprocal_of_row").excluding("times_reciprocal")
    return BatchedModel(
        chains,
        graph,
        bt.function([points], [values, gradients], mode=mode, **options),
        bt.function([points], values, mode=mode, **options),
        bt.function([any_number], expanded, **options),
    )

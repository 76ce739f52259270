"""PyMC models for nutpie's sampler, with C functions made by Bitale in place of Numba's."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import Any, Iterable

import numpy as np
import pytensor
from nutpie import compile_pymc as _nutpie
from pymc.model.transform.optimization import freeze_dims_and_data

import bitale as bt
from bitale.pytensor.linker import BITALE
from bitale.pytensor.model_graph import Layout, ModelGraph, initial_values, model_graph, require_continuous


@dataclasses.dataclass(frozen=True)
class CompiledModel(_nutpie.CompiledPyMCModel):
    """What `nutpie.sample` takes: log density, gradient and the variables of the trace are C functions of Bitale, which any number of
    threads may call at once."""

    data_keys: dict[Any, str] = dataclasses.field(default_factory=dict, kw_only=True)  # the key in `shared_data` of each shared variable

    def with_data(self, **updates: Any) -> CompiledModel:
        """The same model with other data, which may have another length. KeyError for a name that is no shared variable, ValueError
        for another rank or values that don't fit its dtype. Both models can be used."""
        variables = dict(self.data_keys)
        data = dict(self.shared_data)
        for name, value in updates.items():
            found = [v for v in variables if v.name == name]
            if len(found) != 1:
                known = ", ".join(sorted(str(v.name) for v in variables)) or "none"
                raise KeyError(f"{len(found) or 'no'} shared variables are called {name!r}; there are: {known}")
            data[variables[found[0]]] = _fitting(value, data[variables[found[0]]], name)
        values = {v.name: data[key] for v, key in variables.items()}
        logp, expand = (_with_values(f, values) for f in (self.logp_func, self.expand_func))
        model: Any = self  # the fields are those of nutpie
        replaced: CompiledModel = dataclasses.replace(
            model, shared_data=data, logp_func=logp, expand_func=expand,
            compiled_logp_func=_address(logp, "finite_value_and_grad"), compiled_expand_func=_address(expand, "vector"),
        )
        return replaced


def _fitting(value: Any, old: np.ndarray, name: str) -> np.ndarray:
    new = np.asarray(value)
    if not np.can_cast(new.dtype, old.dtype, "same_kind"):
        raise ValueError(f"the shared variable {name} has values of {old.dtype}, not of {new.dtype}")
    if new.ndim != old.ndim:
        raise ValueError(f"the shared variable {name} must have rank {old.ndim}, got {new.ndim}")
    return np.array(new, dtype=old.dtype, order="C")


def _address(function: bt.Function, form: str) -> Any:
    return SimpleNamespace(address=function.address(form))


def _with_values(function: bt.Function, values: dict[str, np.ndarray]) -> bt.Function:
    swap = {}
    for shared in function.get_shared():
        if shared.name in values:
            swap[shared] = bt.shared(values[shared.name], name=shared.name, shape=shared.type.shape)
    return function.copy(swap=swap) if swap else function


def compile_model(
    model: Any,
    *,
    var_names: Iterable[str] | None = None,
    initial_points: Any = None,
    jitter_rvs: Any = None,
    default_initialization_strategy: str = "support_point",
    freeze_model: bool | None = None,
) -> CompiledModel:
    """See `bitale.pytensor.nutpie`."""
    var_names = None if var_names is None else list(var_names)
    require_continuous(model, "nutpie", var_names or ())
    # What PyMC evaluates on the way is not to be compiled by other backends.
    with pytensor.config.change_flags(mode=BITALE):
        model = freeze_dims_and_data(model) if freeze_model else model
        start = initial_values(model, initial_points, jitter_rvs, default_initialization_strategy)
        return _compiled(model, model_graph(model, start, var_names))


def _compiled(model: Any, graph: ModelGraph) -> CompiledModel:
    point, logp = graph.point, graph.log_density
    density = bt.function([point], [logp, bt.grad(logp, point)], on_unused_input="ignore", threads=1)
    trace = bt.tensor.concatenate([point, *(x.ravel().astype("float64") for x in graph.expanded)])
    expand = bt.function([point], trace, on_unused_input="ignore", threads=1)
    stored = graph.free + Layout(graph.names, graph.expanded_shapes())

    keys = {variable: f"shared{k}" for k, variable in enumerate(graph.shared)}
    shape_info = (stored.names, stored.slices, stored.shapes)
    reparameterized = [name for rv, name in zip(model.free_RVs, graph.free.names) if model.rvs_to_transforms.get(rv) is not None]
    known = {field.name for field in dataclasses.fields(_nutpie.CompiledPyMCModel)}
    newer = {"shared_var_keys": keys, "reparameterized_names": reparameterized}  # fields of newer versions of nutpie
    dims, coords = _nutpie._prepare_dims_and_coords(model, shape_info, *([reparameterized] if "reparameterized_names" in known else []))
    return CompiledModel(
        _n_dim=graph.free.size, dims=dims, _coords=coords, _shapes=dict(zip(stored.names, stored.shapes)),
        compiled_logp_func=_address(density, "finite_value_and_grad"), compiled_expand_func=_address(expand, "vector"),
        initial_point_func=graph.flat_start, shared_data={key: np.array(v.get_value()) for v, key in keys.items()},
        data_keys=keys, user_data=_nutpie.make_user_data({}, {}), n_expanded=stored.size, shape_info=shape_info, logp_func=density,
        expand_func=expand, **{name: value for name, value in newer.items() if name in known},
    )

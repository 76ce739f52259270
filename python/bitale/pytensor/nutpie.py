"""PyMC models for nutpie's sampler, with C functions made by Bitale in place of Numba's. It needs PyMC and nutpie, and imports both."""

from __future__ import annotations

import dataclasses
from typing import Any

from bitale.pytensor import versions

for _package in ("pymc", "nutpie"):
    versions.check(_package, "bitale.pytensor.nutpie")

from nutpie import compile_pymc as _nutpie
from pymc.model.transform.optimization import freeze_dims_and_data

from bitale.pytensor.c_functions import CModel, c_model
from bitale.pytensor.linker import nothing_else_compiles
from bitale.pytensor.model_graph import require_continuous


@dataclasses.dataclass(frozen=True)
class CompiledModel(_nutpie.CompiledPyMCModel):
    """What `nutpie.sample` takes: log density, gradient and the variables of the trace are C functions of Bitale, which any number of
    threads may call at once."""

    functions: CModel = dataclasses.field(kw_only=True)
    data_keys: dict[Any, str] = dataclasses.field(
        kw_only=True
    )  # the key in `shared_data` of each shared variable

    def with_data(self, **updates: Any) -> CompiledModel:
        """The same model with other data, which may have another length. KeyError for a name that is not a shared variable, ValueError
        for another rank or values that don't fit its dtype. Both models can be used."""
        model: Any = self  # the fields are those of nutpie
        replaced: CompiledModel = dataclasses.replace(
            model, **_fields(self.functions.with_data(**updates), self.data_keys)
        )
        return replaced


def _fields(functions: CModel, keys: dict[Any, str]) -> dict[str, Any]:
    """Those of nutpie that depend on the data."""
    return dict(
        functions=functions,
        shared_data={key: functions.data[variable] for variable, key in keys.items()},
        logp_func=functions.density,
        expand_func=functions.expand,
        compiled_logp_func=functions.compiled_logp_func,
        compiled_expand_func=functions.compiled_expand_func,
    )


def compile_model(model: Any, *, freeze_model: bool | None = None, **options: Any) -> CompiledModel:
    """A PyMC model, compiled by Bitale for ``nutpie.sample``; no Numba is needed.

    Shared data keep their current values; `with_data` of the result returns a model with others.
    var_names: which variables the trace has besides the free ones (default: all); initial_points,
    jitter_rvs, default_initialization_strategy, freeze_model: as nutpie's own
    ``compile_pymc_model``. ValueError for a model with discrete free variables, or none; KeyError
    for names of `var_names` that it does not have; ConversionError for random variables among those
    of the trace. If a call fails while nutpie samples, the first error is issued as a warning.
    """
    with nothing_else_compiles():
        if freeze_model:
            require_continuous(model, "nutpie")
            model = freeze_dims_and_data(model)
        functions = c_model(model, who="nutpie", **options)
        stored = functions.expanded
        shape_info = (stored.names, stored.slices, stored.shapes)
        reparameterized = [
            name
            for rv, name in zip(model.free_RVs, functions.graph.free.names)
            if model.rvs_to_transforms.get(rv) is not None
        ]
        known = {field.name for field in dataclasses.fields(_nutpie.CompiledPyMCModel)}
        dims, coords = _nutpie._prepare_dims_and_coords(
            model, shape_info, *([reparameterized] if "reparameterized_names" in known else [])
        )
    keys = {variable: f"shared{k}" for k, variable in enumerate(functions.data)}
    # Fields of newer versions of nutpie.
    newer = {"shared_var_keys": keys, "reparameterized_names": reparameterized}
    return CompiledModel(
        _n_dim=functions.n_dim,
        dims=dims,
        _coords=coords,
        _shapes=dict(zip(stored.names, stored.shapes)),
        n_expanded=functions.n_expanded,
        initial_point_func=functions.initial_point_func,
        data_keys=keys,
        user_data=_nutpie.make_user_data({}, {}),
        shape_info=shape_info,
        **_fields(functions, keys),
        **{name: value for name, value in newer.items() if name in known},  # type: ignore[arg-type]
    )

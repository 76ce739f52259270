"""PyMC models for nutpie's sampler, with C functions made by Bitale in place of Numba's."""

from __future__ import annotations

import dataclasses
import threading
from types import SimpleNamespace
from typing import Any, Callable, Iterable

import numpy as np
from nutpie import compile_pymc as _nutpie
from pymc import Model
from pymc.initial_point import make_initial_point_fn

import bitale as bt
from bitale.pytensor.conversion import Conversion
from bitale.pytensor.linker import prepare_inner_graph

@dataclasses.dataclass(frozen=True)
class CompiledModel(_nutpie.CompiledPyMCModel):
    """What `nutpie.sample` takes: log density, gradient and the variables of the trace are C functions of Bitale, which any number of
    threads may call at once."""

    data_keys: dict[Any, str] = dataclasses.field(default_factory=dict, kw_only=True)  # the key in `shared_data` of each shared variable

    def with_data(self, **updates: Any) -> CompiledModel:
        """The same model with other data, which may have another length. KeyError for a name that is no shared variable, ValueError
        for another rank or values that don't fit its dtype. Both models can be used."""
        variables = {variable: name for variable, name in self.data_keys.items()}
        data = dict(self.shared_data)
        for name, value in updates.items():
            found = [v for v in variables if v.name == name]
            if len(found) != 1:
                known = ", ".join(sorted(str(v.name) for v in variables)) or "none"
                raise KeyError(f"{len(found) or 'no'} shared variables are called {name!r}; there are: {known}")
            data[variables[found[0]]] = _fitting(value, data[variables[found[0]]], name)
        values = {v.name: data[key] for v, key in variables.items()}
        logp, expand = (_with_values(f, values) for f in (self.logp_func, self.expand_func))
        return dataclasses.replace(
            self, shared_data=data, logp_func=logp, expand_func=expand,
            compiled_logp_func=_address(logp, "finite_value_and_grad"), compiled_expand_func=_address(expand, "vector"),
        )


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


def _native(function: Any) -> bt.Function:
    """The Bitale function of a PyTensor function of one vector; shared variables are Bitale's own, with their values of this moment."""
    fgraph = function.maker.fgraph
    shared = {inner: given.variable for inner, given in zip(fgraph.inputs, function.maker.inputs) if given.shared}
    plain = [x for x in fgraph.inputs if x not in shared]
    conversion = Conversion(prepare=prepare_inner_graph)
    inputs = conversion.add_inputs(plain)
    for inner, outer in shared.items():
        conversion.variables[inner] = bt.shared(outer.get_value(), name=outer.name, shape=outer.type.shape)
    outputs = conversion(fgraph.outputs)
    return bt.function(inputs, outputs if len(outputs) > 1 else outputs[0], on_unused_input="ignore", threads=1)


def _one_at_a_time(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """PyTensor's functions are not re-entrant, and nutpie's threads ask for their initial points at the same time."""
    lock = threading.Lock()

    def locked(seed: Any) -> Any:
        with lock:
            return function(seed)

    return locked


def _require_samplable(model: Any, var_names: Iterable[str] | None) -> None:
    if not isinstance(model, Model):
        raise TypeError(f"bitale.pytensor.nutpie needs a PyMC model, got {type(model).__name__}")
    if not model.free_RVs:
        raise ValueError("the model has no free variables, so there is nothing to sample")
    discrete = [f"{v.name} ({v.dtype})" for v in model.free_RVs if not v.dtype.startswith("float")]
    if discrete:
        raise ValueError(f"nutpie samples continuous variables, and these are discrete: {', '.join(discrete)}; sum over them, or use pm.sample")
    known = {v.name for v in model.unobserved_value_vars}
    unknown = [name for name in var_names or () if name not in known]
    if unknown:
        raise KeyError(f"the model has no variables {', '.join(map(repr, unknown))}; there are: {', '.join(sorted(known))}")


def compile_model(
    model: Any, *, var_names: Iterable[str] | None = None, initial_points: Any = None, jitter_rvs: Any = None
) -> CompiledModel:
    """See `bitale.pytensor.nutpie`."""
    var_names = None if var_names is None else list(var_names)
    _require_samplable(model, var_names)
    start = make_initial_point_fn(
        model=model, overrides=initial_points, default_strategy="support_point",
        jitter_rvs=set(model.free_RVs) if jitter_rvs is None else jitter_rvs, return_transformed=True,
    )
    made = _nutpie._make_functions(
        model,
        mode="BITALE",  # type: ignore[arg-type]
        compute_grad=True,
        join_expanded=True,
        pymc_initial_point_fn=start,
        var_names=var_names,
    )
    n_dim, n_expanded, logp_fn, expand_fn, initial_point, shape_info, *reparameterized = made
    logp, expand = _native(logp_fn), _native(expand_fn)
    shared = list(dict.fromkeys([*logp_fn.get_shared(), *expand_fn.get_shared()]))
    keys = {variable: f"shared{k}" for k, variable in enumerate(shared)}
    dims, coords = _nutpie._prepare_dims_and_coords(model, shape_info, *reparameterized)
    known = {field.name for field in dataclasses.fields(_nutpie.CompiledPyMCModel)}
    newer = {"shared_var_keys": keys, "reparameterized_names": reparameterized[0] if reparameterized else None}  # newer versions of nutpie
    return CompiledModel(
        _n_dim=n_dim, dims=dims, _coords=coords, _shapes={name: tuple(shape) for name, _, shape in zip(*shape_info)},
        compiled_logp_func=_address(logp, "finite_value_and_grad"), compiled_expand_func=_address(expand, "vector"),
        initial_point_func=_one_at_a_time(initial_point), shared_data={key: np.array(v.get_value()) for v, key in keys.items()}, data_keys=keys,
        user_data=_nutpie.make_user_data({}, {}), n_expanded=n_expanded, shape_info=shape_info, logp_func=logp, expand_func=expand,
        **{name: value for name, value in newer.items() if name in known},
    )

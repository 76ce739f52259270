"""PyMC models for nutpie's sampler, with C functions made by Bitale in place of Numba's."""

from __future__ import annotations

import dataclasses
import itertools
import math
import threading
from types import SimpleNamespace
from typing import Any, Callable, Iterable, Sequence

import numpy as np
from nutpie import compile_pymc as _nutpie
from pymc import Model
from pymc.initial_point import convert_str_to_rv_dict, make_initial_point_expression
from pymc.pytensorf import compile as compile_pymc, find_rng_nodes, replace_rng_nodes, reseed_rngs
from pytensor.compile.mode import FAST_COMPILE, Mode
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.fg import FunctionGraph
from pytensor.tensor import as_tensor

import bitale as bt
import bitale.tensor as pt
from bitale.pytensor.conversion import Conversion
from bitale.pytensor.linker import QUERY, BitaleLinker, prepare_inner_graph


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


def _rewritten(model: Model, outputs: Sequence[Any]) -> list[Any]:
    """Copies of the model's graphs as PyMC's own rewrites leave them, and with those PyTensor canonicalizes and stabilizes. A parameter
    outside its domain gives -inf."""
    bounds = "local_check_parameter_to_ninf_switch" if model.check_bounds else "local_remove_check_parameter"
    fgraph = FunctionGraph(outputs=list(outputs), clone=True, copy_inputs=False)
    Mode(BitaleLinker(), QUERY.including(bounds)).optimizer.rewrite(fgraph)
    return list(fgraph.outputs)


def _initial_values(model: Model, overrides: Any, jitter_rvs: Any) -> Callable[[Any], list[np.ndarray]]:
    """A function of a seed: the start values of the free variables, by PyMC's expressions of them. PyTensor's own Python linker runs it,
    which compiles nothing. PyTensor's functions are not re-entrant, and nutpie's threads call it at the same time."""
    strategies = {**model.rvs_to_initial_values, **convert_str_to_rv_dict(model, overrides or {})}
    values = make_initial_point_expression(
        free_rvs=model.free_RVs, rvs_to_transforms=model.rvs_to_transforms, initval_strategies=strategies,
        jitter_rvs=set(model.free_RVs) if jitter_rvs is None else jitter_rvs, default_strategy="support_point", return_transformed=True,
    )
    function = compile_pymc([], replace_rng_nodes(values), mode=Mode("py", FAST_COMPILE.provided_optimizer))
    generators = find_rng_nodes(function.maker.fgraph.outputs)
    lock = threading.Lock()

    def evaluate(seed: Any) -> list[np.ndarray]:
        with lock:
            reseed_rngs(generators, seed)
            return [np.asarray(x) for x in function()]

    return evaluate


def _flat(start: Callable[[Any], list[np.ndarray]], names: Sequence[str], shapes: Sequence[tuple[int, ...]]) -> Callable[[Any], np.ndarray]:
    """The start values as one vector. ValueError where a shape is another than that of the first start."""

    def flat(seed: Any = None) -> np.ndarray:
        values = start(seed)
        for value, name, shape in zip(values, names, shapes):
            if value.shape != shape:
                raise ValueError(f"the initial value of {name} has shape {value.shape}; expected {shape}")
        return np.concatenate([np.ravel(x) for x in values]).astype("float64", copy=False)

    return flat


@dataclasses.dataclass(frozen=True)
class _Layout:
    """Where the variables of a trace lie in one vector."""

    names: list[str]
    shapes: list[tuple[int, ...]]

    @property
    def slices(self) -> list[slice]:
        ends = [0, *itertools.accumulate(map(math.prod, self.shapes))]
        return [slice(start, end) for start, end in zip(ends, ends[1:])]

    @property
    def size(self) -> int:
        return sum(map(math.prod, self.shapes))

    def __add__(self, other: _Layout) -> _Layout:
        return _Layout(self.names + other.names, self.shapes + other.shapes)


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
    start = _initial_values(model, initial_points, jitter_rvs)
    values = [model.rvs_to_values[v] for v in model.free_RVs]
    first = start(0)
    free = _Layout([v.name for v in values], [x.shape for x in first])
    others = [v for v in model.unobserved_value_vars if v.name not in free.names and (var_names is None or v.name in var_names)]

    # PyMC's variables become parts of one vector, and the gradient is computed by Bitale.
    point = bt.tensor.tensor("_unconstrained_point", dtype="float64", shape=(free.size,))
    conversion = Conversion(prepare=prepare_inner_graph)
    for value, where, shape in zip(values, free.slices, free.shapes):
        conversion.variables[value] = point[where].reshape(shape).astype(value.dtype)
    logp, *expanded = conversion(_rewritten(model, [model.logp(), *(as_tensor(v, allow_xtensor_conversion=True) for v in others)]))
    shared = {variable: made for variable, made in conversion.inputs.items() if isinstance(variable, SharedVariable)}
    if missing := [str(v) for v in conversion.inputs if v not in shared]:
        raise bt.MissingInputError(f"the model depends on variables without a value: {', '.join(missing)}")
    logp = logp.astype("float64")
    density = bt.function([point], [logp, bt.grad(logp, point)], on_unused_input="ignore", threads=1)
    expand = bt.function(
        [point], bt.tensor.concatenate([point, *(x.ravel().astype("float64") for x in expanded)]), on_unused_input="ignore", threads=1
    )
    stored = free + _Layout([v.name for v in others], _shapes(expanded, point, first))

    keys = {variable: f"shared{k}" for k, variable in enumerate(shared)}
    shape_info = (stored.names, stored.slices, stored.shapes)
    reparameterized = [value.name for rv, value in zip(model.free_RVs, values) if model.rvs_to_transforms.get(rv) is not None]
    known = {field.name for field in dataclasses.fields(_nutpie.CompiledPyMCModel)}
    newer = {"shared_var_keys": keys, "reparameterized_names": reparameterized}  # fields of newer versions of nutpie
    dims, coords = _nutpie._prepare_dims_and_coords(model, shape_info, *([reparameterized] if "reparameterized_names" in known else []))
    return CompiledModel(
        _n_dim=free.size, dims=dims, _coords=coords, _shapes=dict(zip(stored.names, stored.shapes)),
        compiled_logp_func=_address(density, "finite_value_and_grad"), compiled_expand_func=_address(expand, "vector"),
        initial_point_func=_flat(start, free.names, free.shapes), shared_data={key: np.array(v.get_value()) for v, key in keys.items()},
        data_keys=keys, user_data=_nutpie.make_user_data({}, {}), n_expanded=stored.size, shape_info=shape_info, logp_func=density,
        expand_func=expand, **{name: value for name, value in newer.items() if name in known},
    )


def _shapes(variables: Sequence[pt.TensorVariable], point: pt.TensorVariable, start: list[np.ndarray]) -> list[tuple[int, ...]]:
    """The shapes of functions of `point`, evaluated at the start where types don't know them."""
    shapes = {x: x.type.shape for x in variables}
    if unknown := [x for x in variables if None in x.type.shape]:
        evaluate = bt.function([point], [x.shape for x in unknown], mode="FAST_COMPILE", on_unused_input="ignore")
        found = evaluate(np.concatenate([np.ravel(x) for x in start]).astype("float64"))
        shapes.update((x, tuple(map(int, shape))) for x, shape in zip(unknown, found))
    return [shapes[x] for x in variables]
